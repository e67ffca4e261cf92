"""What falls due by the calendar is done by the next session, once, and only where the user wants it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import localtime, mktime, monotonic, sleep, strftime, time
from typing import Any

import pytest

from memory_keeper.briefs.files import _checksum, remove_all
from memory_keeper.dates import month_of, week_began
from memory_keeper.jobs import upkeep
from memory_keeper.jobs.due import OBSERVATIONS, REPORT, TASKS, due, lately, report_name, upkeep_is_due
from memory_keeper.keeper import Keeper
from memory_keeper.pages.reading import Pages
from memory_keeper.server.catch_up import CatchUp
from tests.machine import START as LAUNCHED
from tests.machine import Machine, Session
from tests.workplace import Workplace

DAY = 86_400.0
SAID = "From now on always use pnpm instead of npm in this project."


def age(path: Path, days: float) -> None:
    """Let a page be as old as if we had left it so many days ago."""
    about = path.stat()
    second = int(about.st_mtime - days * DAY)
    at = second * 1_000_000_000 + _checksum(about.st_ino, about.st_size, second)
    os.utime(path, ns=(at, at))


def worked(machine: Machine) -> Session:
    """A session in which something was said and done, and which is over."""
    session = machine.session()
    session.start()
    session.prompt(SAID)
    session.transcript.todo([("TASK-1: Invoice store", "completed")])
    session.reply("I will use pnpm.")
    session.end()
    machine.settle()
    return session


def pages(machine: Machine) -> Path:
    return machine.project / ".claude/memory"


def times(machine: Machine) -> dict[str, float]:
    return {path.name: path.stat().st_mtime for path in pages(machine).glob("*.md")}


def set_to(machine: Machine, **settings: Any) -> None:
    (machine.home / "config.json").write_text(json.dumps(settings))


# --- the calendar -----------------------------------------------------------------------------------------------------


def test_a_week_begins_on_sunday_at_midnight() -> None:
    for day in range(0, 400, 5):
        now = mktime((2026, 1, 1 + day, 13, 5, 0, 0, 0, -1))
        began = localtime(week_began(now))
        assert (began.tm_wday, began.tm_hour, began.tm_min) == (6, 0, 0)
        assert 0 <= now - week_began(now) < 7 * DAY + 3600  # one of them may be an hour longer


def test_a_month_begins_on_the_first_and_follows_the_one_before() -> None:
    january = mktime((2026, 1, 15, 12, 0, 0, 0, 0, -1))
    assert strftime("%Y-%m-%d %H", localtime(month_of(january)[0])) == "2026-01-01 00"
    assert strftime("%Y-%m-%d %H", localtime(month_of(january, 1)[0])) == "2025-12-01 00"
    assert report_name(month_of(january, 1)[0]) == "2025-12.md"


# --- by itself --------------------------------------------------------------------------------------------------------


def test_a_page_of_last_week_is_made_anew_when_a_session_ends(machine: Machine) -> None:
    worked(machine)
    page = pages(machine) / "OBSERVATIONS.md"
    text = page.read_text()
    age(page, 8)
    second = machine.session()
    second.start()
    second.turn("What is left?", "Nothing.")
    second.end()
    machine.settle()
    assert page.stat().st_mtime > time() - DAY
    assert page.read_text() == text


def test_once_a_week_is_enough(machine: Machine) -> None:
    worked(machine)
    began = week_began(time())
    for name in ("OBSERVATIONS.md", "DONE.md"):
        age(pages(machine) / name, (time() - began) / DAY / 2)  # this week's
    before = {name: at for name, at in times(machine).items() if name in ("OBSERVATIONS.md", "DONE.md")}
    with Keeper(str(machine.home)) as keeper:
        if month_of(time())[0] < min(before.values()):
            assert upkeep.keep_up(keeper, time(), complain=raising) == []
            assert {name: times(machine)[name] for name in before} == before


def raising(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({}, {OBSERVATIONS, TASKS}),
        ({"enabled": False}, set()),
        ({"triggers": {"observationAge": {"enabled": False}}}, {TASKS}),
        ({"triggers": {"taskArchive": {"enabled": False}}}, {OBSERVATIONS}),
    ],
)
def test_only_what_the_user_wants(machine: Machine, settings: dict[str, Any], what: set[str]) -> None:
    worked(machine)
    for page in pages(machine).glob("*.md"):
        age(page, 40)
    set_to(machine, compaction=settings)
    with Keeper(str(machine.home)) as keeper:
        (place,) = lately(keeper, time())
        assert {*due(place)} == what


def test_a_repository_switches_nothing_off(machine: Machine) -> None:
    worked(machine)
    age(pages(machine) / "OBSERVATIONS.md", 40)
    (machine.project / ".claude/memory-keeper.json").write_text('{"compaction": {"enabled": false}}')
    with Keeper(str(machine.home)) as keeper:
        (place,) = lately(keeper, time())
        assert OBSERVATIONS in due(place)


def test_without_files_nothing_is_due(machine: Machine) -> None:
    worked(machine)
    age(pages(machine) / "OBSERVATIONS.md", 40)
    set_to(machine, tell={"files": False})
    with Keeper(str(machine.home)) as keeper:
        (place,) = lately(keeper, time())
        assert due(place) == ()


def test_a_session_that_begins_hears_that_something_is_due(machine: Machine) -> None:
    session = worked(machine)
    with Keeper(str(machine.home)) as keeper:
        assert not upkeep_is_due(keeper, {session.id, ""}, time())
        age(pages(machine) / "OBSERVATIONS.md", 8)
        assert upkeep_is_due(keeper, {session.id, ""}, time())


def test_a_server_has_it_done_while_its_session_goes_on(machine: Machine) -> None:
    session = worked(machine)
    page = pages(machine) / "OBSERVATIONS.md"
    age(page, 8)
    looking, until = CatchUp(str(machine.home)), monotonic() + 60
    while page.stat().st_mtime < time() - DAY or looking.writing:
        looking.poke(str(machine.home), session=session.id)
        sleep(0.1)
        assert monotonic() < until


def test_two_at_once_are_one(machine: Machine) -> None:
    worked(machine)
    before = {path.name: path.read_text() for path in pages(machine).glob("*.md")}
    for page in pages(machine).glob("*.md"):
        age(page, 40)
    command = [sys.executable, "-I", "-S", str(LAUNCHED), "catch-up", str(machine.home)]
    for process in [subprocess.Popen(command) for _ in range(3)]:
        assert process.wait(60) == 0
    assert {path.name: path.read_text() for path in pages(machine).glob("*.md")} == before
    assert pages(machine).joinpath("OBSERVATIONS.md").stat().st_mtime > time() - DAY
    assert not (machine.home / "problems.log").exists()


def test_an_edit_is_never_passed_off_as_ours(machine: Machine) -> None:
    """A page that somebody wrote to stays as it is, until the user says what is to become of it."""
    worked(machine)
    page = pages(machine) / "OBSERVATIONS.md"
    page.write_text(page.read_text().replace("instead of npm", "instead of npm and yarn"))
    with Keeper(str(machine.home)) as keeper:
        (place,) = lately(keeper, time())
        done = upkeep.upkeep(Pages(keeper, place.project, place.root, time() + 10), (OBSERVATIONS,))
        notes = keeper.store.notes(place.project, 0, "observation")
    assert not any("npm and yarn" in note.text for note in notes)
    assert "npm and yarn" in page.read_text()
    assert str(page) in done.left


# --- over weeks and months --------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """Work of the second of March, and nothing since."""
    made = Workplace(tmp_path)
    session = made.session()
    session.turn(SAID, "I will use pnpm.", "pnpm install")
    session.end()
    made.distil(3 * 3600.0)
    return made


def at_home(keeper: Keeper, place: Workplace, now: float) -> Pages:
    return Pages(keeper, place.project(), str(place.folder("app")), now)


def test_what_nobody_confirmed_for_four_weeks_is_archived(place: Workplace) -> None:
    folder = place.folder("app") / ".claude/memory"
    with place.keeper() as keeper:
        first = upkeep.upkeep(at_home(keeper, place, place.now + DAY), (OBSERVATIONS,))
        assert first.counts == {OBSERVATIONS: {"open": 1}}
        assert "use pnpm instead of npm" in (folder / "OBSERVATIONS.md").read_text()
        later = upkeep.upkeep(at_home(keeper, place, place.now + 29 * DAY), (OBSERVATIONS,))
    assert later.counts == {OBSERVATIONS: {"archived": 1}}
    assert not (folder / "OBSERVATIONS.md").exists()
    assert "use pnpm instead of npm" in (folder / "OBSERVATION_ARCHIVE.md").read_text()


def april(day: int) -> float:
    return mktime((2026, 4, day, 12, 0, 0, 0, 0, -1))


def test_the_report_of_a_month_that_is_over_is_written_once(place: Workplace) -> None:
    report = place.folder("app") / ".claude/memory/reports/2026-03.md"
    with place.keeper() as keeper:
        upkeep.upkeep(at_home(keeper, place, place.now), (OBSERVATIONS,))
        assert REPORT not in due(at_home(keeper, place, place.now))  # March goes on
        assert REPORT in due(at_home(keeper, place, april(1)))
        done = upkeep.upkeep(at_home(keeper, place, april(1)), (REPORT,))
        assert str(report) in done.files
        assert "March 2026" in report.read_text()
        assert REPORT not in due(at_home(keeper, place, april(2)))
        assert REPORT not in due(at_home(keeper, place, april(40)))  # nothing happened in April
    assert remove_all(str(place.folder("app"))) >= 2
    assert not report.parent.exists()


def test_no_report_where_none_is_wanted(place: Workplace) -> None:
    (place.home / "config.json").write_text('{"compaction": {"monthlyReview": false}}')
    with place.keeper() as keeper:
        assert REPORT not in due(at_home(keeper, place, april(1)))


def test_a_report_follows_no_link_out_of_the_project(place: Workplace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with place.keeper() as keeper:
        upkeep.upkeep(at_home(keeper, place, place.now), (OBSERVATIONS,))
        (place.folder("app") / ".claude/memory/reports").symlink_to(outside)
        problems: list[Exception] = []
        upkeep.keep_up(keeper, april(1), complain=problems.append)
    assert [*outside.iterdir()] == []
    assert len(problems) == 1
