"""A server for all tests of a run, and a hub for each test: a copy of one that was made once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TypeVar

import pytest

from memory_keeper.team.hub import members
from memory_keeper.team.hub.connection import Address, Database
from memory_keeper.team.hub.transport import Hub
from tests.postgres import Cluster

PROJECT = "remote:host/app"
Kind = TypeVar("Kind", Hub, Database)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    made = Cluster().start()
    yield made
    made.close()


class Team:
    """A hub of one database, made by `boss`, and the logins of those who were invited."""

    def __init__(self, cluster: Cluster, database: str) -> None:
        self.cluster, self.database = cluster, database
        self.boss = Address(f"{cluster.url(database)}#{PROJECT}")
        self.open: list[Hub | Database] = []

    def as_boss(self) -> Database:
        return self._keep(Database(self.boss))

    def invite(self, name: str, *projects: str) -> Address:
        return Address(members.invite(self.as_boss(), self.boss, name, projects))

    def db(self, address: Address) -> Database:
        return self._keep(Database(address))

    def hub(self, address: Address | None = None) -> Hub:
        return self._keep(Hub(address or self.boss))

    def close(self) -> None:
        for one in self.open:
            one.close()

    def _keep(self, made: Kind) -> Kind:
        self.open.append(made)
        return made


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> str:
    """A database that is a hub."""
    name = cluster.database()
    with closing(Database(Address(cluster.url(name)))) as db:
        members.init(db, "Boss <boss@host>")
    return name


@pytest.fixture
def team(cluster: Cluster, template: str) -> Iterator[Team]:
    made = Team(cluster, cluster.database(template))
    yield made
    made.close()
