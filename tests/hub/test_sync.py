"""What is shared reaches every member once, whatever dies, comes late or is restored; and nothing else does."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random

import psycopg
import pytest

from memory_keeper.errors import KeeperError
from memory_keeper.model import Item
from memory_keeper.team.hub import members, transport
from memory_keeper.team.hub.connection import Address
from memory_keeper.team.hub.transport import Hub
from memory_keeper.team.item import version
from memory_keeper.team.transport import Offline
from tests.hub.conftest import Team
from tests.hub.made import an_item
from tests.postgres import Cluster, program

pytestmark = pytest.mark.postgres


CLOCK = count(1001)


class Home:
    """A machine of a member: what it shares, what it got, and how far it has read."""

    def __init__(self, address: Address, writer: str) -> None:
        self.address, self.writer = address, writer
        self.outbox: dict[str, Item] = {}
        self.inbox: dict[tuple[str, str], Item] = {}
        self.cursor = ""
        self.backup = self.state()
        self.restored = False  # what it shared since the backup is only known to others

    def state(self) -> tuple[dict[str, Item], dict[tuple[str, str], Item], str]:
        return dict(self.outbox), dict(self.inbox), self.cursor

    def restore(self) -> None:
        (outbox, inbox, self.cursor), self.restored = self.backup, True
        self.outbox, self.inbox = dict(outbox), dict(inbox)

    def share(self, id: str, text: str) -> None:
        before = self.outbox.get(id)
        self.outbox[id] = an_item(id, text, self.writer, rev=before.rev + 1 if before else 1, at=float(next(CLOCK)))

    def sync(self, most: int = 1000, twice: bool = False) -> None:
        """Fetch and send, as far as `most` batches."""
        with closing(Hub(self.address)) as hub:
            self.pull(hub, most)
            for _ in range(1 + twice):
                assert hub.push([*self.outbox.values()]) == {}

    def pull(self, hub: Hub, most: int = 1000) -> None:
        more = True
        while more and most:
            items, cursor, more = hub.pull(self.cursor)
            for item in items:
                known = self.inbox.get((item.writer, item.id))
                if not known or version(item) > version(known):
                    self.inbox[item.writer, item.id] = item
            self.cursor, most = cursor, most - 1

    def fetched(self) -> list[str]:
        """What comes when it syncs once more."""
        with closing(Hub(self.address)) as hub:
            return [item.text for item in hub.pull(self.cursor).items]

    def texts(self) -> set[str]:
        return {item.text for item in self.inbox.values() if not item.gone}


def home(team: Team, name: str, number: int = 0) -> Home:
    return Home(team.invite(name), f"{number or ord(name[0]):016x}")


def test_what_is_shared_reaches_the_others(team: Team) -> None:
    """Its later version, and that it was taken back; twice is once, and nothing comes again."""
    alice, bob = home(team, "alice"), home(team, "bob")
    alice.share("a", "the plover sings")
    alice.share("b", "the goose sleeps")
    alice.sync(twice=True)
    bob.sync()
    assert bob.texts() == {"the plover sings", "the goose sleeps"}
    assert bob.fetched() == []
    alice.share("a", "the plover eats")
    alice.share("b", "")
    alice.sync()
    bob.sync()
    assert bob.texts() == {"the plover eats"}
    rows = team.as_boss().rows("select text from memory_keeper.item order by 1")
    assert rows == [("",), ("the plover eats",)], "what was reworded or taken back is nowhere"
    alice.sync()
    assert bob.fetched() == [], "what is known already is not sent again"


def test_a_late_commit_is_not_missed(team: Team) -> None:
    """A transaction that began first and commits last: others were read by then, and its rows have lower numbers."""
    bob, late, early = home(team, "bob"), team.hub(team.invite("late")), home(team, "early")
    late.db.run("begin")
    late.push([an_item(1, "late", writer="f" * 16)])
    early.share("e", "early")
    early.sync()
    bob.sync()
    assert bob.texts() == {"early"}, "nobody waits for it"
    early.share("x", "between")
    early.sync()
    bob.sync()
    assert bob.texts() == {"early", "between"}
    late.db.run("commit")
    bob.sync()
    assert bob.texts() == {"early", "between", "late"}
    assert bob.fetched() == []


def test_more_than_one_batch_while_others_write(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost between two batches, of which one was read before something older was committed."""
    monkeypatch.setattr(transport, "AT_ONCE", 3)
    bob, late, early = home(team, "bob"), team.hub(team.invite("late")), home(team, "early")
    for number in range(4):
        early.share(f"a{number}", f"first {number}")
    early.sync()
    late.db.run("begin")
    late.push([an_item(1, "late", writer="f" * 16)])
    for number in range(7):
        early.share(f"b{number}", f"second {number}")
    early.sync()
    hub = team.hub(bob.address)
    bob.pull(hub, 3)
    late.db.run("commit")
    bob.pull(hub)
    bob.sync()
    assert bob.texts() == {*(f"first {n}" for n in range(4)), *(f"second {n}" for n in range(7)), "late"}
    assert bob.fetched() == []


def test_a_hub_without_end_is_read_in_parts(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sync fetches so many items, and says so; the next one goes on."""
    monkeypatch.setattr(transport, "AT_ONCE", 10)
    monkeypatch.setattr(transport, "MOST", 20)
    alice, bob = home(team, "alice"), home(team, "bob")
    for number in range(35):
        alice.share(f"{number}", f"item {number}")
    alice.sync()
    hub = team.hub(bob.address)
    bob.pull(hub)
    assert len(bob.texts()) == 20 and "the next sync" in hub.problems[0]
    bob.sync()
    assert len(bob.texts()) == 35


def test_a_hub_that_was_restored_gets_back_what_it_lacks(team: Team) -> None:
    """Its members send it again, and nobody misses what came between, though cursors are ahead of it."""
    alice, bob = home(team, "alice"), home(team, "bob")
    alice.share("a", "before")
    for one in (alice, bob):
        one.sync()
    team.close()
    backup = team.cluster.database(team.database)
    alice.share("b", "after")
    for one in (alice, bob, alice):
        one.sync()
    assert bob.texts() == {"before", "after"}
    team.cluster.ask(f"drop database {team.database} with (force)")
    team.cluster.ask(f"alter database {backup} rename to {team.database}")
    carol = home(team, "carol")
    carol.share("c", "between")
    for one in (carol, bob, alice, bob):
        one.sync()
    assert bob.texts() == {"before", "after", "between"} == alice.texts() | {"between"}
    new = home(team, "dave")
    new.sync()
    assert new.texts() == {"before", "after", "between"}


def test_a_hub_goes_on_in_another_cluster(team: Team, tmp_path: Path) -> None:
    """Where transactions have numbers of their own, which have nothing to do with those of before."""
    alice, bob = home(team, "alice"), home(team, "bob")
    alice.share("a", "before")
    for one in (alice, bob):
        one.sync()
    team.close()
    command = [program("pg_dumpall"), "-h", str(team.cluster.folder), "-U", "boss", "--clean", "--if-exists"]
    dump = subprocess.run(command, capture_output=True, check=True).stdout
    other = Cluster().start()
    try:
        psql = [program("psql"), "-q", "-h", str(other.folder), "-U", "boss", "postgres"]
        subprocess.run(psql, input=dump, capture_output=True, check=True)
        for one in (alice, bob):
            one.address = Address(one.address.url.geturl().replace(str(team.cluster.folder), str(other.folder)))
        alice.share("b", "after")
        for one in (alice, bob):
            one.sync()
        assert bob.texts() == {"before", "after"}
        assert bob.fetched() == []
    finally:
        other.close()


def test_a_machine_that_was_restored_goes_on(team: Team) -> None:
    """It has an older cursor, and says less than it did: what it says now is the later version."""
    alice, bob = home(team, "alice"), home(team, "bob")
    alice.share("a", "first")
    alice.sync()
    alice.backup = alice.state()
    for text in ("second", "third"):
        alice.share("a", text)
        alice.sync()
    bob.sync()
    alice.restore()
    alice.share("a", "fourth")
    alice.sync()
    bob.sync()
    assert bob.texts() == {"fourth"}


def test_a_bad_item_stops_no_other(team: Team) -> None:
    """Each that the hub refuses is refused by itself, and says why."""
    alice, bob = home(team, "alice"), home(team, "bob")
    hub = team.hub(alice.address)
    good = [an_item(number, f"good {number}", alice.writer) for number in range(1200)]
    bad = [an_item("nul", "a\0b", alice.writer), an_item("long", "x" * 1_000_001, alice.writer)]
    bad.append(an_item("empty", "text", alice.writer)._replace(gone=True))
    refused = hub.push([*good[:300], bad[0], *good[300:301], bad[1], *good[301:], bad[2]])
    assert {*refused} == {"fact-nul", "fact-long", "fact-empty"} and all(refused.values())
    bob.sync()
    assert bob.texts() == {item.text for item in good}
    boss = team.as_boss()
    boss.run("alter table memory_keeper.item disable trigger user")
    boss.run("update memory_keeper.item set kind = 'nonsense' where id = 'fact-7'")
    carol = home(team, "carol")
    hub = team.hub(carol.address)
    carol.pull(hub)
    assert len(carol.texts()) == 1199 and len(hub.problems) == 1 and "fact-7" in hub.problems[0]


def test_clocks_do_not_count(team: Team) -> None:
    """Neither for the order in which items are read, nor for whether they are."""
    alice, bob = home(team, "alice"), home(team, "bob")
    now = time.time()
    for number, at in enumerate((now - 3e7, now + 80_000, now - 60)):
        alice.outbox[f"{number}"] = an_item(number, f"at {number}", alice.writer, at=at)
        alice.sync()
        bob.sync()
    assert bob.texts() == {"at 0", "at 1", "at 2"}


# --- what dies -------------------------------------------------------------------------------------------------------

PUSHES = """
import sys
from memory_keeper.team.hub import transport
from memory_keeper.team.hub.connection import Address
from tests.hub.made import an_item
transport.AT_ONCE = 20
hub = transport.Hub(Address(sys.argv[1]))
hub.push([an_item(number, f"item {number} " + "word " * 200, sys.argv[2]) for number in range(int(sys.argv[3]))])
print("done", flush=True)
"""


def pushing(address: Address, writer: str, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PUSHES, address.url.geturl(), writer, str(count)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def some_arrived(cluster: Cluster, database: str, more_than: int) -> int:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        ((count,),) = cluster.ask("select count(*) from memory_keeper.item", database=database)
        if count > more_than:
            return int(count)
    raise AssertionError("nothing arrives")


def test_a_client_that_is_killed_goes_on(team: Team) -> None:
    """The next time; and meanwhile every item that is there is whole."""
    alice, bob = home(team, "alice"), home(team, "bob")
    process = pushing(alice.address, alice.writer, 1000)
    some_arrived(team.cluster, team.database, 50)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    bob.sync()
    there = len(bob.texts())
    assert 0 < there < 1000 and there % 20 == 0
    assert pushing(alice.address, alice.writer, 1000).communicate()[0] == b"done\n"
    bob.sync()
    assert len(bob.texts()) == 1000 == len(bob.inbox)


def test_a_server_that_is_killed_goes_on(template: str) -> None:
    """What it had taken is there again; the client says that it is away, and sends the rest the next time."""
    cluster = Cluster(fsync="on", synchronous_commit="on", full_page_writes="on").start()
    try:
        database = cluster.database()
        team = Team(cluster, database)
        with closing(team.as_boss()) as db:
            members.init(db, "Boss <boss@host>")
        alice, bob = home(team, "alice"), home(team, "bob")
        team.close()
        process = pushing(alice.address, alice.writer, 1000)
        there = some_arrived(cluster, database, 50)
        cluster.kill()
        said = process.communicate()[1]
        assert process.returncode and b"Offline" in said
        with pytest.raises(Offline):
            bob.sync()
        cluster.start()
        bob.sync()
        assert len(bob.texts()) >= there
        assert pushing(alice.address, alice.writer, 1000).communicate()[0] == b"done\n"
        bob.sync()
        assert len(bob.texts()) == 1000
    finally:
        cluster.close()


def test_a_page_that_the_disk_lost_stops_no_other_item() -> None:
    """Where the server cannot read an item any more, the others are read one by one, and it is named."""
    cluster = Cluster().start()
    try:
        team = Team(cluster, cluster.database())
        with closing(team.as_boss()) as db:
            members.init(db, "Boss <boss@host>")
        alice, bob = home(team, "alice"), home(team, "bob")
        random = Random(1)
        long = " ".join(f"{random.getrandbits(64):x}" for _ in range(600))  # which is kept apart from its row
        for id, text in (("a", "short"), ("b", long), ("c", "short too")):
            alice.share(id, text)
        alice.sync()
        query = "select pg_relation_filepath(reltoastrelid) from pg_class where oid = 'memory_keeper.item'::regclass"
        ((path,),) = cluster.ask(query, database=team.database)
        team.close()
        cluster.ask("checkpoint")
        cluster.kill()
        lost = cluster.data / path
        lost.write_bytes(bytes(lost.stat().st_size))
        cluster.start()
        hub = team.hub(bob.address)
        bob.pull(hub)
        assert bob.texts() == {"short", "short too"}
        assert any("fact-b" in problem for problem in hub.problems)
        alice.share("c", "short again")
        alice.sync()
        bob.pull(hub)
        assert bob.texts() == {"short", "short again"}
        team.close()
    finally:
        cluster.close()


@contextmanager
def dropping(cluster: Cluster, folder: Path, random: Random) -> Iterator[Path]:
    """A way to the server that ends each connection after some bytes, often in the middle of something."""
    path = folder / ".s.PGSQL.5432"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(16)

    def carry(client: socket.socket, room: int) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(str(cluster.folder / ".s.PGSQL.5432"))
            while room > 0:
                for one in select.select((client, server), (), ())[0]:
                    data = one.recv(min(4096, max(room, 1)))
                    if not data:
                        return
                    (server if one is client else client).sendall(data)
                    room -= len(data)

    def accept() -> None:
        with suppress(OSError):
            while True:
                room = random.choice([600, 2_000, 8_000, 40_000, 1 << 30])
                threading.Thread(target=carry, args=(listener.accept()[0], room), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield folder
    finally:
        listener.close()


def test_a_proxy_that_drops_loses_and_doubles_nothing(team: Team) -> None:
    """However often a connection ends in the middle, what is shared arrives."""
    alice, bob = home(team, "alice"), home(team, "bob")
    for number in range(200):
        alice.share(f"{number}", f"item {number} " + "word " * 20)
    folder = team.cluster.folder / "proxy"
    folder.mkdir()
    dropped = 0
    with dropping(team.cluster, folder, Random(1)):
        for one in (alice, bob):
            one.address = Address(one.address.url.geturl().replace(str(team.cluster.folder), str(folder)))
            for _ in range(60):
                try:
                    one.sync()
                    break
                except KeeperError as error:
                    assert isinstance(error, Offline), error
                    dropped += 1
            else:
                raise AssertionError("it never came through")
    shutil.rmtree(folder)
    assert dropped and len(bob.texts()) == 200


# --- all of it at once -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_ten_members_converge(team: Team, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is offline, killed in the middle, restored from a backup or sends twice: in the end all know the same,
    each item once, and the hub has nothing else."""
    random = Random(seed)
    monkeypatch.setattr(transport, "AT_ONCE", 4)
    homes = [home(team, f"m{number}", number + 1) for number in range(10)]
    team.close()

    def killed(one: Home) -> None:
        """A sync whose connection ends after some statements."""
        left = random.randrange(1, 12)
        execute = psycopg.Connection.execute

        def dying(self, *args, **more):  # type: ignore[no-untyped-def]
            nonlocal left
            left -= 1
            if left < 0:
                self.close()
            return execute(self, *args, **more)

        with monkeypatch.context() as patch, suppress(Offline):
            patch.setattr(psycopg.Connection, "execute", dying)
            one.sync()

    for _ in range(250):
        one = random.choice(homes)
        what = random.random()
        id = f"i{random.randrange(4)}"
        if what < 0.4:
            one.share(id, f"{one.writer} {id} {random.random()}")
        elif what < 0.5 and id in one.outbox:
            one.share(id, "")
        elif what < 0.6:
            killed(one)
        elif what < 0.65:
            one.backup = one.state()
        elif what < 0.68:
            one.restore()
        else:
            one.sync(most=random.choice([1, 2, 1000]), twice=random.random() < 0.2)
    for _ in range(2):
        for one in homes:
            one.sync()
    first = homes[0].inbox
    assert all(one.inbox == first for one in homes)
    for one in homes:
        own = {item.id.removeprefix("fact-"): item for item in first.values() if item.writer == one.writer}
        assert own.keys() >= one.outbox.keys() and (one.restored or own.keys() == one.outbox.keys())
        for id, item in one.outbox.items():
            assert one.restored or own[id]._replace(author="") == item._replace(author="")
    ((rows, distinct),) = team.cluster.ask(
        "select count(*), count(distinct (writer, id)) from memory_keeper.item", database=team.database
    )
    assert rows == distinct == len(first)
    shared = {item.text for item in first.values()}
    texts = team.cluster.ask("select text from memory_keeper.item", database=team.database)
    assert {text for (text,) in texts} == shared, "of what was taken back or reworded nothing is left"


def test_names_what_is_there(team: Team) -> None:
    """Where it is offline, or no hub, that is said in a line, without a password."""
    alice = team.invite("alice")
    away = Address(alice.url.geturl().replace(str(team.cluster.folder), "/nowhere"))
    with pytest.raises(Offline) as caught:
        Hub(away)
    assert alice.password not in str(caught.value) and "\n" not in str(caught.value)
