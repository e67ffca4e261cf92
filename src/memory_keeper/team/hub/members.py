"""Who is in a team: invited by name, each machine with a login of its own, until they are removed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from secrets import token_hex, token_urlsafe
from typing import NamedTuple

from memory_keeper.errors import KeeperError
from memory_keeper.team.hub import schema
from memory_keeper.team.hub.connection import Address, Database, Refused, quoted

MEMBER = re.compile(r"[a-z][a-z0-9-]{0,30}")
IDLE = "60s"  # that a transaction of a member may wait for its client: others read only what is before it


class Person(NamedTuple):
    """A member as the others see them."""

    name: str
    author: str
    since: float
    items: int
    projects: Sequence[str] = ()  # that they may see; known to who invites
    seen: float = 0.0


def init(db: Database, author: str) -> str:
    """Make a hub of a database, and whoever does so its first member; twice is once."""
    schema.migrate(db)
    with db.change():
        ((role,),) = db.rows("select session_user")
        name = re.sub(r"[^a-z0-9-]+", "-", role.lower()).strip("-")[:31] or "owner"
        db.run("insert into memory_keeper.member (name) values (%s) on conflict do nothing", name)
        db.run("insert into memory_keeper.login (role, member) values (%s, %s) on conflict do nothing", role, name)
        db.run("insert into memory_keeper.access values (%s, %s) on conflict do nothing", name, schema.ALL)
        db.rows("select memory_keeper.introduce(%s)", author)
    return name


def invite(db: Database, address: Address, name: str, projects: Sequence[str] = ()) -> str:
    """The address, with a password, by which somebody can join from one machine; `projects`: only these."""
    if not MEMBER.fullmatch(name):
        raise KeeperError(f"{name!r} is no name of a member", hint="letters, digits and dashes: alice")
    _check_owner(db)
    with db.change():
        ((base, removed),) = db.rows(
            "select current_database(), exists"
            " (select from memory_keeper.member where name = %s and removed is not null)",
            name,
        )
        if removed:
            raise KeeperError(
                f"{name} was removed; what they shared is still theirs", hint="invite them by another name"
            )
        role, password = f"{base[:20]}_{name}_{token_hex(4)}", token_urlsafe(24)
        db.run(f"create role {quoted(role)} login password '{_scrambled(db, role, password)}'")
        db.run(f"alter role {quoted(role)} set idle_in_transaction_session_timeout = '{IDLE}'")
        schema.grant(db, quoted(role))
        db.run("insert into memory_keeper.member (name) values (%s) on conflict do nothing", name)
        db.run("insert into memory_keeper.login (role, member) values (%s, %s)", role, name)
        for project in projects or [schema.ALL]:
            if project != schema.ALL:
                db.run("insert into memory_keeper.project values (%s) on conflict do nothing", project)
            db.run("insert into memory_keeper.access values (%s, %s) on conflict do nothing", name, project)
    return address.of(role, password, projects[0] if projects else address.project)


def introduce(db: Database, author: str) -> str:
    """The name under which this member's words are shown: the one that they give first."""
    ((name,),) = db.rows("select memory_keeper.introduce(%s)", author)
    return str(name or "")


def change_password(db: Database, password: str) -> None:
    """Have another password for this login: whoever has seen the invitation has nothing."""
    ((role,),) = db.rows("select session_user")
    db.run(f"alter role {quoted(role)} password '{_scrambled(db, role, password)}'")


def _scrambled(db: Database, role: str, password: str) -> str:
    """The password as the server keeps it: the words themselves never travel, nor stand in its log."""
    made = db.connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
    return made.decode()


def members(db: Database) -> list[Person]:
    """Who is in the team, and how much each shares of the projects that we see."""
    rows = db.rows(
        "select m.name, m.author, extract(epoch from m.since)::float8,"
        " (select count(*) from memory_keeper.item i where i.member = m.name and not i.gone),"
        " array(select project from memory_keeper.access a where a.member = m.name order by 1),"
        " coalesce((select extract(epoch from max(l.seen))::float8 from memory_keeper.login l"
        "  where l.member = m.name), 0) from memory_keeper.member m where m.removed is null order by m.since, m.name"
    )
    return [Person._make(row) for row in rows]


def remove(db: Database, name: str, items: bool = False) -> int:
    """Let a member in no more, from this moment on; `items`: and take out what they shared. How many items that is."""
    _check_owner(db)
    known = db.run("update memory_keeper.member set removed = now() where name = %s and removed is null", name)
    roles = [role for (role,) in db.rows("select role from memory_keeper.login where member = %s", name)]
    if not known and not roles:
        raise KeeperError(f"There is no member {name!r}", hint="`memory-keeper team members` lists them")
    with db.change():
        db.run("delete from memory_keeper.access where member = %s", name)
        for role in roles:
            _drop(db, role)
        gone = 0
        if items:
            gone = db.run(
                "update memory_keeper.item set gone = true, text = '', rev = rev + 1, digest = ''"
                " where member = %s and not gone", name,
            )  # fmt: skip
    return gone


def _drop(db: Database, role: str) -> None:
    """End the sessions of a login, and the login."""
    name = quoted(role)
    try:
        with db.change():
            db.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = %s", role)
    except Refused:
        pass  # not ours to end; they see nothing any more
    for what in ("all tables in schema memory_keeper", "all functions in schema memory_keeper", "schema memory_keeper"):
        db.run(f"revoke all on {what} from {name}")
    db.run("delete from memory_keeper.login where role = %s", role)
    db.run(f"drop role {name}")


def _check_owner(db: Database) -> None:
    """What only the hub's owner may do: others are told so."""
    ((owner,),) = db.rows(
        "select coalesce((select pg_has_role(session_user, nspowner, 'usage') from pg_namespace"
        " where nspname = 'memory_keeper'), false)"
    )
    if not owner:
        raise KeeperError(
            "Only whoever made the hub lets people in and out", hint="ask them: memory-keeper team members"
        )
