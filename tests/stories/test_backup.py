"""A backup is whole however much goes on meanwhile, and puts back what it has or changes nothing."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from time import time
from typing import Any

import pytest

from memory_keeper.cli.commands import doctor
from memory_keeper.errors import KeeperError
from memory_keeper.jobs import backup
from memory_keeper.keeper import Keeper
from memory_keeper.model import Filter
from memory_keeper.store import open_mirror
from tests.command import memory_keeper, typed
from tests.machine import Machine

Asked = Callable[..., Any]


@pytest.fixture
def used(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with a session, a note and a rule."""
    monkeypatch.chdir(machine.project)
    one = machine.session()
    one.start()
    one.turn("Make the parser strict.", "It refuses commas now.")
    memory_keeper(machine, "save")
    memory_keeper(machine, "note", "add", "fact", "Ask Ann about the broker.")
    memory_keeper(machine, "rule", "add", "Run make check.", "--yes")
    return machine


def texts(machine: Machine) -> set[str]:
    with machine.store() as store:
        assert store.problems() == []
        said = {kept.event.text for kept in store.find(Filter())}
        return said | {note.text for note in store.notes(store.projects()[0])}


def test_there_and_back(used: Machine, asked: Asked) -> None:
    """What is lost comes back, what came since too, and what was there is kept beside it."""
    taken = asked("backup")
    before = texts(used)
    assert asked("backup", "--list") == [taken]
    later = used.session()
    later.start()
    later.turn("Now make it fast.", "It takes 3 ms.")
    memory_keeper(used, "note", "add", "fact", "Nobody asks Ann.")
    assert typed(used.project, "restore").returncode == 1
    assert asked("restore", "--dry-run")["would_restore"]["events"] == taken["events"]
    done = asked("restore", "--yes")
    assert Path(done["aside"], "store.db").exists()
    assert before <= texts(used)
    assert "It takes 3 ms." in texts(used)
    assert asked("search", "commas")
    assert asked("note", "list")[0]["text"] == "Ask Ann about the broker."
    for path in [*used.home.glob("store.db*"), *(used.home / "archive").iterdir()]:
        path.unlink()
    memory_keeper(used, "restore", "--yes")
    assert before <= texts(used)
    with Keeper(str(used.home)) as keeper:
        assert [one.verdict for one in doctor._archives(keeper)] == ["OK"]


def test_a_full_one_has_the_transcripts_of_a_bot(used: Machine, asked: Asked) -> None:
    """They come back where there are none; newer ones stay."""
    path = used.home / "sessions.db"
    open_mirror(str(path)).append("-app", "s1", "", [{"uuid": "u1", "text": "Hello."}], None)
    small, full = used.root / "small.tar", used.root / "full.tar"
    asked("backup", "--small", "--to", str(small))
    asked("backup", "--to", str(full))
    for old in used.home.glob("sessions.db*"):
        old.unlink()
    memory_keeper(used, "restore", str(small), "--yes")
    assert not path.exists()  # it has raw lines, as only a full one does
    memory_keeper(used, "restore", str(full), "--yes")
    kept = open_mirror(str(path))
    assert kept.load("-app", "s1", "") == [{"uuid": "u1", "text": "Hello."}]
    kept.append("-app", "s1", "", [{"uuid": "u2", "text": "And now?"}], None)
    memory_keeper(used, "restore", str(full), "--yes")
    assert len(kept.load("-app", "s1", "")) == 2


def test_taken_while_much_goes_on(used: Machine) -> None:
    """The store's rows, the archives and the spools of one backup belong together, whoever writes meanwhile."""
    sessions = [used.session() for _ in range(3)]
    ended: list[int] = []

    def work() -> None:
        for number in range(30):
            for one in sessions:
                one.transcript.prompt(f"Change number {number} of {one.id}.")
                one.transcript.reply("Done. " * 50)
                one.write()
            with Keeper(str(used.home)) as keeper:
                keeper.catch_up([keeper_source(one) for one in sessions], patience=30.0)
        ended.append(1)

    def keeper_source(one: Any) -> Any:
        from memory_keeper.model import Source

        return Source(str(one.path), one.id, f"dir:{used.project}")

    worker = Thread(target=work)
    worker.start()
    with Keeper(str(used.home)) as keeper:
        taken: list[backup.Backup] = []
        while not ended or len(taken) < 3:
            taken.append(backup.take(keeper, f"{used.root}/{len(taken)}.tar", full=True))
    worker.join()
    for one in (taken[0], taken[len(taken) // 2], taken[-1]):
        home = used.root / f"from-{one.bytes}-{Path(one.path).stem}"
        with Keeper(str(home)) as keeper:
            backup.restore(keeper, one.path)
            assert keeper.store.problems() == []
            assert keeper.store.counts()["events"] == one.events
            assert [found.verdict for found in doctor._archives(keeper)] == ["OK"]


def test_a_damaged_one_changes_nothing(used: Machine) -> None:
    with Keeper(str(used.home)) as keeper:
        taken = backup.take(keeper, full=True)
    data, before = Path(taken.path).read_bytes(), texts(used)
    with tarfile.open(taken.path) as tar:
        places = [member.offset_data + member.size // 2 for member in tar if member.size > 100]
    for place in (*places, -1):
        flipped = data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]
        Path(taken.path).write_bytes(flipped if place > 0 else data[: len(data) // 2])
        done = typed(used.project, "restore", taken.path, "--yes")
        assert (done.returncode, "no whole backup" in done.stderr) == (1, True), place
    assert texts(used) == before
    assert not list(used.home.glob("before-restore*"))


@pytest.mark.parametrize("where", ["_spare_archives", "_fill_in", "_free"])
def test_killed_on_the_way_the_next_goes_on(where: str, used: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with Keeper(str(used.home)) as keeper:
        taken = backup.take(keeper, full=True)
    before, real = texts(used), getattr(backup, where)

    def die(*given: Any) -> Any:
        real(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(backup, where, die)
        assert typed(used.project, "restore", taken.path, "--yes").returncode
    memory_keeper(used, "restore", taken.path, "--yes")
    assert texts(used) >= before
    assert not (used.home / "restoring").exists()


def test_what_was_forgotten_since_stays_forgotten(used: Machine, asked: Asked) -> None:
    taken = asked("backup", "--to", str(used.root))
    memory_keeper(used, "forget", "--text", "commas", "--yes")
    memory_keeper(used, "restore", taken["path"], "--yes")
    assert not [path for path in used.files() if b"commas" in path.read_bytes()]
    assert any("[forgotten]" in text for text in texts(used))
    assert asked("rule", "list")


def test_one_a_day(used: Machine) -> None:
    """Only where something was kept since, and the oldest go."""
    now = time()
    with Keeper(str(used.home)) as keeper:
        assert not backup.keep_backed_up(keeper, now)
        taken = backup.keep_backed_up(keeper, now + 90_000)
        assert taken
        assert not taken.full
        assert not backup.keep_backed_up(keeper, now + 180_000)
        with pytest.raises(KeeperError):
            backup.take(keeper, f"{used.home}/store.db/none.tar")
