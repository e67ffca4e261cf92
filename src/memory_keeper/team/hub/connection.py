"""A connection to a hub, and what its errors mean to a user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import errors

from memory_keeper.errors import KeeperError
from memory_keeper.team.transport import Offline
from memory_keeper.text import one_line

SCHEMES = ("postgresql", "postgres")
SECONDS = 10  # to connect
LONGEST = "120s"  # that a statement may take
STRANGER = ("authentication failed", "no password supplied", "is not permitted to log in", '" does not exist')
LATER = "nothing is lost; the next sync tries again"


class Address:
    """A hub's address: `postgresql://ROLE@HOST/DATABASE#PROJECT`, which has no password once it is kept."""

    def __init__(self, url: str) -> None:
        self.url = urlsplit(url)
        if self.url.scheme not in SCHEMES:
            raise KeeperError(f"{shown(url)} is no address of a hub", hint="postgresql://ROLE@HOST/DATABASE#PROJECT")

    @property
    def project(self) -> str:
        """What the hub calls the project."""
        return unquote(self.url.fragment)

    @property
    def password(self) -> str:
        return unquote(self.url.password or "")

    @property
    def role(self) -> str:
        return unquote(self.url.username or "")

    def kept(self) -> str:
        """The address without its password."""
        netloc = re.sub(r":[^:@]*@", "@", self.url.netloc)
        return urlunsplit(self.url._replace(netloc=netloc))

    def of(self, role: str, password: str, project: str) -> str:
        """The same hub for another login and project."""
        host = self.url.netloc.rpartition("@")[2]
        who = quote(role, safe="") + (f":{quote(password, safe='')}" if password else "")
        return urlunsplit(self.url._replace(netloc=f"{who}@{host}", fragment=quote(project, safe="/:.")))

    def target(self) -> str:
        """What libpq is given. Over a network nothing goes in the clear, unless the address itself allows that."""
        given = dict(parse_qsl(self.url.query))
        host = self.url.hostname or given.get("host", "")
        if not (host in ("", "localhost", "127.0.0.1", "::1") or host.startswith("/")):
            given.setdefault("sslmode", "require")
        return urlunsplit(self.url._replace(fragment="", query=urlencode(given, safe="/")))


def shown(url: str) -> str:
    """An address as it may be shown: without a login, and the project."""
    return re.sub(r"(?<=://)[^/@]*@", "", one_line(url.partition("#")[0], 200))


class Database:
    """An open hub. Every failure is a KeeperError; `Offline` where trying again later may help."""

    def __init__(self, address: Address, password: str = "") -> None:
        self.shown = shown(address.kept())
        given: dict[str, Any] = {"password": password} if password else {}
        try:
            self.connection = psycopg.connect(
                address.target(), autocommit=True, connect_timeout=SECONDS, application_name="memory-keeper",
                client_encoding="utf-8", keepalives_idle=10, keepalives_interval=5, keepalives_count=3,
                tcp_user_timeout=30_000, options=f"-c statement_timeout={LONGEST} -c lock_timeout=30s", **given,
            )  # fmt: skip
            self.connection.prepare_threshold = None  # a pooler in between may not know what was prepared
        except psycopg.Error as error:
            raise explain(error, self.shown) from error

    def run(self, statement: str, *given: Any) -> int:
        """Do something; how many rows that changed."""
        try:
            return self.connection.execute(statement.encode(), given or None).rowcount
        except psycopg.Error as error:
            raise explain(error, self.shown) from error

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        """What is answered."""
        try:
            return self.connection.execute(statement.encode(), given or None).fetchall()
        except psycopg.Error as error:
            raise explain(error, self.shown) from error

    @contextmanager
    def change(self) -> Iterator[None]:
        """One change, whole or not at all."""
        try:
            with self.connection.transaction():
                yield
        except psycopg.Error as error:
            raise explain(error, self.shown) from error

    def close(self) -> None:
        self.connection.close()


class NotLetIn(KeeperError):  # noqa: N818
    """The hub does not know this login, or its password."""


class Refused(KeeperError):  # noqa: N818
    """The hub does not take this: not now, and not later either."""


def explain(error: psycopg.Error, where: str) -> KeeperError:
    """What an error of the hub means to a user."""
    words = one_line(str(error.diag.message_primary or error).strip(), 200)
    if not error.sqlstate and any(word in str(error) for word in STRANGER):  # libpq says no more of who was refused
        return NotLetIn(
            f"{where} lets this login in no more", hint="ask for an invitation: `memory-keeper team invite`"
        )
    if isinstance(error, errors.DiskFull):
        return Offline(f"{where}: its disk is full", hint=LATER)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return Offline(f"{where} cannot be reached: {words}", hint=LATER)
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
        return KeeperError(f"{where} is no hub", hint="`memory-keeper team init` makes one")
    return Refused(f"{where}: {words}")


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
