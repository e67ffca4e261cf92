"""Who sees and writes what on a hub: by row-level security, on every way to a row."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from memory_keeper.errors import KeeperError
from memory_keeper.team.hub import members, schema
from memory_keeper.team.hub.connection import Address, Database, Refused
from memory_keeper.team.hub.schema import POLICIES, WRITTEN
from memory_keeper.team.hub.transport import Hub
from tests.hub.conftest import PROJECT, Team
from tests.hub.made import an_item
from tests.postgres import Cluster

pytestmark = pytest.mark.postgres
ELSEWHERE = "remote:host/secret"


def pulled(hub: Hub) -> set[str]:
    return {item.text for item in hub.pull("").items}


def texts(db: Database) -> list[str]:
    return [text for (text,) in db.rows("select text from memory_keeper.item order by id")]


def test_every_table_has_row_level_security(team: Team) -> None:
    """And nothing is open to everybody."""
    db = team.as_boss()
    rows = db.rows(
        "select relname, relrowsecurity from pg_class"
        " where relnamespace = 'memory_keeper'::regnamespace and relkind = 'r'"
    )
    assert {name for name, _ in rows} == {*POLICIES} and all(secure for _, secure in rows)
    everybody = db.rows(
        "select c.relname from pg_class c, aclexplode(c.relacl) a"
        " where c.relnamespace = 'memory_keeper'::regnamespace and a.grantee = 0"
        " union all select p.proname from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a"
        " where p.pronamespace = 'memory_keeper'::regnamespace and a.grantee = 0"
        " union all select n.nspname from pg_namespace n, aclexplode(n.nspacl) a"
        " where n.nspname = 'memory_keeper' and a.grantee = 0"
    )
    assert everybody == []


def test_who_is_nobody_sees_nothing(team: Team) -> None:
    """A login of the same server, with the rights of a member and in no team, has no rows, whatever it asks."""
    team.hub().push([an_item(1, "the plover sings")])
    team.cluster.ask(f"drop role if exists stranger_{team.database}")
    team.cluster.ask(f"create role stranger_{team.database} login")
    stranger = Address(f"{team.cluster.url(team.database, f'stranger_{team.database}')}#{PROJECT}")
    with pytest.raises(Refused, match="permission denied"):
        team.db(stranger).rows("select 1 from memory_keeper.item")
    schema.grant(team.as_boss(), f"stranger_{team.database}")
    db = team.db(stranger)
    for table in POLICIES:
        assert db.rows(f"select 1 from memory_keeper.{table}") == [], table
    assert db.rows("select * from memory_keeper.search('plover')") == []
    with pytest.raises(KeeperError, match="has no project"):
        team.hub(stranger)
    given = (PROJECT, "a" * 16, "fact-2", "fact", "x", 1, 1, 1, "", "", False, "", "")
    with pytest.raises(Refused, match="you are no member"):
        db.run(f"insert into memory_keeper.item ({WRITTEN}) values ({', '.join(['%s'] * len(given))})", *given)


def test_another_project_is_like_one_that_is_not_there(team: Team) -> None:
    """To whom it was not opened: not by reading, pulling, searching, ranking, counting or by what errors say."""
    boss = team.hub()
    boss.push([an_item(1, "common plover")])
    before = boss.search("common", everywhere=True)
    secret = team.hub(Address(team.boss.of("boss", "", ELSEWHERE)))
    secret.push([an_item(number, "common plover of the secret goose") for number in range(2, 60)])
    alice = team.invite("alice", PROJECT)
    hub = team.hub(alice)
    assert texts(hub.db) == ["common plover"] == [*pulled(hub)]
    assert [hit.text for hit in hub.search("goose", everywhere=True)] == []
    assert hub.search("common", everywhere=True) == before, "the rank tells nothing of others' rows"
    assert hub.db.rows("select id from memory_keeper.search('goose', %s)", ELSEWHERE) == []
    assert hub.db.rows("select name from memory_keeper.project") == [(PROJECT,)]
    assert [person.items for person in members.members(hub.db) if person.name == "boss"] == [1]

    def refusal(project: str) -> str:
        with pytest.raises(KeeperError) as caught:
            team.hub(Address(alice.of(alice.role, "", project)))
        return str(caught.value).replace(project, "X")

    assert refusal(ELSEWHERE) == refusal("remote:host/nothing")
    hub.project = ELSEWHERE
    assert hub.pull("").items == [] and hub.search("plover") == []
    (there,) = hub.push([an_item(70, "alice was here", writer="a" * 16)]).values()
    hub.project = "remote:host/nothing"
    (nowhere,) = hub.push([an_item(70, "alice was here", writer="a" * 16)]).values()
    assert there == nowhere and "row-level security" in there
    assert hub.push([an_item(2, "x", writer="a" * 16)]) == {"fact-2": nowhere}, "nor does it say which items there are"


def test_nobody_writes_as_another(team: Team) -> None:
    """A row is its member's, whatever it says of itself; what others shared cannot be changed or taken out."""
    alice, mallory = team.hub(team.invite("alice")), team.hub(team.invite("mallory"))
    members.introduce(alice.db, "Alice <a@host>")
    assert alice.push([an_item(1, "alice said", writer="a" * 16)]) == {}
    assert "writes as this home" in mallory.push([an_item(2, "as alice", writer="a" * 16)])["fact-2"]
    later = an_item(1, "alice never said", writer="a" * 16)._replace(rev=9)
    assert mallory.push([later]) == {"fact-1": mallory.push([later])["fact-1"]}
    assert mallory.push([an_item(3, "in her name", writer="b" * 16)._replace(author="Alice <a@host>")]) == {}
    assert {(item.author, item.text) for item in alice.pull("").items} == {
        ("Alice <a@host>", "alice said"),
        ("mallory", "in her name"),
    }
    assert members.introduce(mallory.db, "ALICE <a@host>") == "mallory", "a name is somebody's already"
    assert members.introduce(mallory.db, "Mallory <m@host>") == "Mallory <m@host>"
    assert members.introduce(mallory.db, "Bob <b@host>") == "Mallory <m@host>", "and is given once"
    for statement in (
        "update memory_keeper.item set member = 'alice'",
        "update memory_keeper.item set xact = 0",
        "update memory_keeper.member set author = 'x'",
        "insert into memory_keeper.access values ('mallory', '*')",
        "insert into memory_keeper.login values ('mallory', 'alice')",
        "insert into memory_keeper.push values (1)",
        "delete from memory_keeper.item",
        "truncate memory_keeper.item",
        "create table memory_keeper.mine (x int)",
        "alter table memory_keeper.item disable row level security",
        "select memory_keeper.renumber()",
        "set role boss",
        "set session authorization boss",
    ):
        with pytest.raises(Refused):
            mallory.db.run(statement)
    assert mallory.db.run("update memory_keeper.item set gone = true, text = '' where writer = %s", "a" * 16) == 0
    assert texts(alice.db) == ["alice said", "in her name"]
    with pytest.raises(KeeperError, match="Only whoever made the hub"):
        members.invite(mallory.db, team.boss, "eve")


def test_a_search_goes_by_the_text_index_and_compiles_nothing(team: Team) -> None:
    """Compiling a query takes many times as long as the search."""
    team.hub().push([an_item(number, f"the plover {number}") for number in range(500)])
    db = team.as_boss()
    db.run("load 'auto_explain'")
    plans: list[str] = []
    db.connection.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
    for setting in ("log_min_duration = 0", "log_nested_statements = on", "log_level = notice"):
        db.run(f"set auto_explain.{setting}")
    for _ in range(7):
        assert len(db.rows("select id from memory_keeper.search('plover')")) == 20
    searches = [plan for plan in plans if "ts_rank" in plan]
    assert searches and all("Bitmap Index Scan on item_words" in plan for plan in searches)
    assert not any("JIT" in plan for plan in plans)


def test_policies_cannot_be_watched_at_work(team: Team) -> None:
    """A function of one's own in a query sees no row that the policy hides."""
    team.hub().push([an_item(1, "common")])
    team.hub(Address(team.boss.of("boss", "", ELSEWHERE))).push([an_item(2, "the secret goose")])
    team.as_boss().run("grant create on schema public to public")
    alice = team.db(team.invite("alice", PROJECT))
    alice.connection.execute(
        "create function public.spy(text) returns boolean language plpgsql cost 0.0001 as"
        " $$ begin raise notice 'saw %', $1; return true; end $$"
    )
    heard: list[str] = []
    alice.connection.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
    assert alice.rows("select id from memory_keeper.item where public.spy(text)") == [("fact-1",)]
    assert heard == ["saw common"]
    # nor do functions of one's own get into those that run with the owner's rights
    alice.connection.execute(
        "create function public.plainto_tsquery(text, text) returns tsquery language plpgsql as"
        " $$ begin raise exception 'hijacked'; end $$"
    )
    alice.run("set search_path = public, pg_catalog")
    assert alice.rows("select id from memory_keeper.search('common')") == [("fact-1",)]


def test_who_is_removed_is_out_at_once(team: Team) -> None:
    """With the session that is open; what was shared stays, or goes where that is asked for."""
    address = team.invite("alice")
    hub, second = team.hub(address), team.invite("alice")
    hub.push([an_item(1, "alice said", writer="a" * 16), an_item(2, "and more", writer="a" * 16)])
    watched = team.hub()
    assert pulled(watched) == {"alice said", "and more"}
    assert members.remove(team.as_boss(), "alice", items=True) == 2
    with pytest.raises(KeeperError):
        hub.pull("")
    for machine in (address, second):
        with pytest.raises(KeeperError):
            team.db(machine)
    assert {(item.text, item.gone, item.rev) for item in team.hub().pull("").items} == {("", True, 2)}
    assert [person.name for person in members.members(team.as_boss())] == ["boss"]
    with pytest.raises(KeeperError, match="was removed"):
        team.invite("alice")
    with pytest.raises(KeeperError, match="no member"):
        members.remove(team.as_boss(), "nobody")


def test_owning_the_database_is_enough(cluster: Cluster) -> None:
    """No superuser is needed to make a hub, to let people in and out, and to take back what they shared."""
    name = cluster.database()
    cluster.ask(f"create role owner_{name} login createrole")
    cluster.ask(f"alter database {name} owner to owner_{name}")
    owner = Address(f"{cluster.url(name, f'owner_{name}')}#{PROJECT}")
    with closing(Database(owner)) as db:
        members.init(db, "Owner <o@host>")
        alice, bob = (Address(members.invite(db, owner, who)) for who in ("alice", "bob"))
        with closing(Hub(alice)) as hers, closing(Hub(bob)) as his:
            assert hers.push([an_item(1, "alice said", writer="a" * 16)]) == {}
            assert pulled(his) == {"alice said"} == {hit.text for hit in his.search("alice")}
            members.change_password(his.db, "another")
            assert members.remove(db, "alice", items=True) == 1
            with pytest.raises(KeeperError):
                hers.pull("")
            assert [item.gone for item in his.pull("").items] == [True]
        with pytest.raises(KeeperError):
            Hub(alice)


def test_an_invitation_holds_once(team: Team) -> None:
    """Who joins has another password; the words of neither travel or stand in the server's log."""
    alice = team.invite("alice")
    assert alice.password and alice.password not in alice.kept()
    ((before,),) = team.as_boss().rows("select rolpassword from pg_authid where rolname = %s", alice.role)
    members.change_password(team.db(alice), "another")
    ((after,),) = team.as_boss().rows("select rolpassword from pg_authid where rolname = %s", alice.role)
    assert before != after and before.startswith("SCRAM-SHA-256$") and after.startswith("SCRAM-SHA-256$")
    log = (team.cluster.folder / "log").read_text()
    assert alice.password not in log


def test_over_a_network_nothing_goes_in_the_clear() -> None:
    """Unless the address itself says so."""
    assert "sslmode=require" in Address("postgresql://a:b@db.example/keeper#p").target()
    assert "sslmode=verify-full" in Address("postgresql://a@db.example/keeper?sslmode=verify-full").target()
    assert "sslmode" not in Address("postgresql://a@/keeper?host=/run/postgresql").target()
    assert "sslmode" not in Address("postgresql://a@localhost/keeper").target()
    with pytest.raises(KeeperError, match="is no address"):
        Address("https://a:secret@host/x")


def test_a_hub_of_a_newer_version_is_left_alone(team: Team) -> None:
    """Opening it again changes nothing; one that we do not know is not touched."""
    db = team.as_boss()
    assert members.init(db, "Boss <boss@host>") == "boss"
    db.run("update memory_keeper.hub set version = 99")
    with pytest.raises(KeeperError, match="newer"):
        members.init(db, "Boss <boss@host>")
    with psycopg.connect(team.cluster.url(team.cluster.database())) as empty:
        assert empty.execute("select 1").fetchone()
    with pytest.raises(KeeperError, match="is no hub"):
        team.hub(Address(team.cluster.url(team.cluster.database())))
