"""The passwords by which this home knows hubs: a private file of the home has them, and no address that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from secrets import token_urlsafe

from memory_keeper import config, wire
from memory_keeper.errors import KeeperError
from memory_keeper.host.files import write_file
from memory_keeper.store.home import make_folder
from memory_keeper.team.hub import members
from memory_keeper.team.hub.connection import Address, Database
from memory_keeper.team.hub.transport import Hub

FILE = "/team/logins.json"


def passwords(home: str, address: Address) -> list[str]:
    """Those that may hold, the newest first: of two, a machine died while one took the place of the other."""
    known = wire.read_object(config.read_small(home + FILE, 1 << 20) or "").get(_name(address))
    found = [word for word in known if isinstance(word, str)] if isinstance(known, list) else []
    return [*filter(None, [address.password]), *found]


def keep(home: str, address: Address, words: Sequence[str]) -> None:
    """Have these from now on."""
    known = wire.read_object(config.read_small(home + FILE, 1 << 20) or "")
    known[_name(address)] = [*words]
    make_folder(home + "/team")
    write_file(home + FILE, wire.dumps(known).encode())


def _name(address: Address) -> str:
    return address.kept().partition("#")[0]


def open_database(home: str, address: Address) -> Database:
    """A hub, as whom this home joined it."""
    known = passwords(home, address)
    for word in known[:-1]:
        with suppress(KeeperError):  # one of them holds
            return Database(address, word)
    return Database(address, known[-1] if known else "")


def open_hub(home: str, address: str) -> Hub:
    """One project of a hub."""
    where = Address(address)
    if not where.project:
        raise KeeperError(f"{address} names no project", hint="postgresql://ROLE@HOST/DATABASE#PROJECT")
    db = open_database(home, where)
    return Hub(where, db)


def make_hub(home: str, address: Address, author: str) -> str:
    """Make a hub of a database, and this home's user its first member; twice is once. As whom the others see them."""
    with closing(open_database(home, address)) as db:
        members.init(db, author)
        if address.password:
            keep(home, address, [address.password])
        Hub(address, db)
        return members.introduce(db, author)


def join(home: str, address: Address, author: str) -> str:
    """Be a member from now on, with a password that whoever invited us does not know. As whom the others see us: under
    this name, unless it is somebody's."""
    new = token_urlsafe(24)
    with closing(open_database(home, address)) as db:
        Hub(address, db)
        if address.password:
            keep(home, address, [new, address.password])  # in both places at once it cannot change
            members.change_password(db, new)
            keep(home, address, [new])
        return members.introduce(db, author)
