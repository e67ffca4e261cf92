"""Many sessions at once, and one that writes for long: each start tells what there is, and nobody is alarmed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fcntl import LOCK_UN, flock
from threading import Event, Timer
from time import monotonic, sleep

import pytest

from memory_keeper.hooks.actions import beginning, handoff, previous
from memory_keeper.keeper import Keeper
from memory_keeper.model import Filter, Source
from memory_keeper.server import catch_up
from memory_keeper.server.catch_up import CatchUp
from memory_keeper.store.home import Lock
from tests.machine import Machine

PATIENCE = 90.0
AT_ONCE = 8


@contextmanager
def written_to(machine: Machine) -> Iterator[Event]:
    """Somebody has the writer's lock, and lets go of it only where a test would wait for ever."""
    gave_up, lock = Event(), Lock(str(machine.home), 0.0)

    def release() -> None:
        gave_up.set()
        flock(lock.fd, LOCK_UN)

    with lock:
        timer = Timer(PATIENCE, release)
        timer.start()
        yield gave_up
    timer.cancel()


def killed(machine: Machine, number: int) -> None:
    """Sessions whose hosts are gone and that left no handoff."""
    for one in range(number):
        session = machine.session()
        session.environ["ANOTHER"] = "1"
        session.start()
        session.turn(f"Add the part {one} of the parser.", f"Part {one} is there.")
    machine.catch_up()


def test_a_start_waits_for_others_only_so_long(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much there is to be waited for: each of these would wait for an hour."""
    killed(machine, 3)
    behind = machine.session()
    behind.turn("Add the last part of the parser.", "It is there.")
    for module in (beginning, handoff, previous):
        monkeypatch.setattr(module, "CATCH_UP", 3600.0)
    monkeypatch.setattr(beginning, "WAITS", 0.2)
    with written_to(machine) as gave_up:
        told = machine.session().start()
        assert not gave_up.is_set()
    assert "Add the part 2 of the parser." in told.text
    assert "Add the last part of the parser." in machine.session().start().text, "what was left is told next time"


def test_many_starts_at_once_are_all_told_what_there_is(machine: Machine) -> None:
    killed(machine, 2)
    sessions = [machine.session() for _ in range(AT_ONCE)]
    with written_to(machine), ThreadPoolExecutor(AT_ONCE) as pool:
        told = list(pool.map(lambda session: session.start(), sessions))
    assert all("Add the part 1 of the parser." in answer.text for answer in told)
    assert not [answer.message for answer in told if "could not" in answer.message]
    machine.settle()


def test_what_a_deadline_leaves_is_kept_afterwards(machine: Machine) -> None:
    sessions = [machine.session() for _ in range(4)]
    for session in sessions:
        session.start()
        session.transcript.prompt("Add a part.")
        session.write()
    with Keeper(str(machine.home)) as keeper:
        project = keeper.project(str(machine.project))
        behind = [Source(str(session.path), session.id, project) for session in sessions]
        assert not keeper.catch_up(behind, deadline=monotonic() - 1.0).finished
        assert keeper.catch_up(behind).finished
        assert keeper.store.count(Filter(kinds=("prompt",))) == 4


@pytest.mark.parametrize("long", [False, True])
def test_who_has_to_wait_alarms_nobody(machine: Machine, monkeypatch: pytest.MonkeyPatch, long: bool) -> None:
    monkeypatch.setattr(catch_up, "PATIENCE", 0.05)
    monkeypatch.setattr(catch_up, "ALARMING", 3 if long else 1_000_000)
    session = machine.session()
    session.turn("Add a parser.", "It is there.")
    session.transcript.prompt("And a test for it.")
    session.write()
    looking, until = CatchUp(str(machine.home), linger=0.1), monotonic() + PATIENCE
    with written_to(machine):
        looking.poke(str(machine.home), session=session.id)
        if long:
            while not looking.problem and monotonic() < until:
                sleep(0.02)
            assert "could not keep the last lines" in str(looking.news())
        else:
            sleep(0.5)
        assert looking.news() is None
    looking.poke(str(machine.home), session=session.id)
    looking.wait()
    assert looking.news() is None
    with Keeper(str(machine.home)) as keeper:
        assert keeper.store.count(Filter(kinds=("prompt",), words=("And a test",))) == 1
