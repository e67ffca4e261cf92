"""After an update: no hook waits for the store to be brought up to date, and nothing is lost meanwhile."""

from __future__ import annotations

import sqlite3

from memory_keeper import config
from memory_keeper.keeper import Keeper
from memory_keeper.model import Scope
from memory_keeper.search import find
from memory_keeper.store.events import session_events
from memory_keeper.store.sqlite.migrations import VERSION
from tests.machine import Machine


def age(machine: Machine) -> None:
    """Make the store one of the version before."""
    db = sqlite3.connect(machine.home / "store.db")
    for table in ("event_words", "note_words", "vector"):
        db.execute(f"drop table {table}")
    db.execute(f"pragma user_version = {VERSION - 1}")
    db.commit()
    db.close()


def version(machine: Machine) -> int:
    db = sqlite3.connect(machine.home / "store.db")
    (found,) = db.execute("pragma user_version").fetchone()
    db.close()
    return int(found)


def test_a_start_tells_what_there_is_and_leaves_the_rest_to_another_process(machine: Machine) -> None:
    first = machine.session()
    first.start()
    first.turn("Where is the zebra?", "In the zoo.")
    first.end()
    machine.settle()
    age(machine)
    left = machine.session()
    left.turn("Where is the quagga?", "Gone.")  # which the next start finds unread
    said = machine.session().start().text
    assert "zebra" in said
    machine.settle()
    assert version(machine) == VERSION
    machine.catch_up()
    with Keeper(str(machine.home)) as keeper:
        for word in ("zebra", "quagga"):
            assert find(keeper.store, word, Scope()), word


def test_who_is_in_a_hurry_does_not_migrate(machine: Machine) -> None:
    machine.session().turn("Where is the zebra?", "In the zoo.")
    machine.catch_up()
    age(machine)
    config.hurried = True
    try:
        with Keeper(str(machine.home)) as keeper:
            assert not keeper.store.indexed
            assert session_events(keeper.store, keeper.store.sessions(None, 1)[0].id), "what is kept can be read"
    finally:
        config.hurried = False
    assert version(machine) == VERSION - 1
    with Keeper(str(machine.home)) as keeper:
        assert find(keeper.searchable, "zebra", Scope())
    assert version(machine) == VERSION
