"""What predecessors lost between a session and its summary, one provocation each: here every session gets its notes,
each event is told of once, and what is not told of yet is still there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_keeper.jobs.run import distil_all
from memory_keeper.jobs.summarize import distil, outline_project, reduce_session
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.events import open_events, session_events
from memory_keeper.store.sqlite import SqliteStore
from tests import transcripts, tree
from tests.dying import Dying
from tests.machine import START, Machine, Session
from tests.workplace import LATER, Workplace

DAY = 86400.0
RULE = "We decided to keep the token in memory instead of a cookie because cookies are sent everywhere."


def write_notes(machine: Machine) -> None:
    """What a hook starts: everything is read, and notes are written where they are due."""
    machine.settle()
    done = subprocess.run([sys.executable, "-I", "-S", str(START), "catch-up", str(machine.home)], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (machine.home / "problems.log").exists()


def write_notes_here(machine: Machine) -> None:
    """The same without a process of its own."""
    with Keeper(str(machine.home)) as keeper:
        keeper.catch_up()
        distil_all(keeper)


def notes_of(machine: Machine, session: Session) -> list[Note]:
    """The notes of a session, with words or without."""
    with machine.store() as store:
        assert not tree.problems(store, grounded=True)
        found = store.notes(store.project_of(session.id), 1)
    return [note for note in found if note.session == session.id]


def told(machine: Machine, session: Session) -> str:
    return "\n".join(note.text for note in notes_of(machine, session))


def waiting(machine: Machine, session: Session) -> list[str]:
    """What nothing tells of yet."""
    with machine.store() as store:
        return [event.text for event in open_events(store, session.id, store.project_of(session.id))]


def test_blanks_before_what_is_said_keep_nobody_from_his_note(machine: Machine) -> None:
    """More of them than is looked at, in a prompt, an output and an answer."""
    blank, session = "\n" * 30_000, machine.session()
    session.start()
    session.prompt(f"{blank}Please read wide.txt and say how wide its table is.")
    session.call("Bash", {"command": "cat wide.txt"}, f"{blank}x{blank}")
    session.reply(f"{blank}{RULE}")
    session.end()
    write_notes(machine)
    assert "how wide its table is" in told(machine, session) and "cookies are sent everywhere" in told(machine, session)
    assert "how wide its table is" in session.handoff.read_text()


# --- every session gets its note --------------------------------------------------------------------------------------


def test_r4_a_slower_session_gets_its_note(machine: Machine) -> None:
    slow, fast = machine.session(), machine.session()
    slow.start()
    slow.turn("Add slow.py to the build.", "I begin.")
    fast.start()
    fast.turn("Add fast.py to the build.", "It is in.")
    fast.end()
    write_notes(machine)
    assert "fast.py" in told(machine, fast)
    assert notes_of(machine, slow) == []
    slow.call("Bash", {"command": "make slow"}, "done")
    slow.reply("slow.py is in the build.")
    slow.end()
    write_notes(machine)
    (note,) = notes_of(machine, slow)
    assert "Add slow.py to the build." in note.text
    assert "fast.py" not in note.text
    assert waiting(machine, slow) == waiting(machine, fast) == []


def test_r5_nobody_does_anything_for_eight_intervals(machine: Machine) -> None:
    """No instruction has to be obeyed: each interval gets its note, once, and nothing grows beside."""
    session = machine.session()
    sizes = []
    for interval in range(8):
        session.transcript.prompt(f"Go on with part{interval}.py.")
        for step in range(25):
            session.transcript.call("Bash", {"command": f"make part{interval}-{step}"}, f"made {interval}-{step}")
        session.transcript.reply(f"part{interval}.py is made.")
        session.write()
        session.happen("PostToolUse")
        write_notes_here(machine)
        sizes.append(len(notes_of(machine, session)))
    write_notes(machine)
    assert sizes == list(range(1, 9))
    notes = notes_of(machine, session)
    for interval, note in enumerate(notes):
        assert f"part{interval}.py" in note.text
        assert not any(f"part{other}.py" in note.text for other in range(8) if other != interval)
        assert note.tokens <= DEFAULTS["reduce.noteTokens"] + 1
    with machine.store() as store:
        covered = Counter(child for note in notes for child in store.children(note.id))
        events = session_events(store, session.id)
        assert set(covered.values()) == {1}
        assert {event.id for event in events if event.kind in ("prompt", "call", "result")} <= covered.keys()


def test_r6_a_first_run_over_a_long_session(machine: Machine) -> None:
    """Its beginning was there before we were: all of it is told of, not the last fifty entries."""
    session = machine.session()
    session.transcript.prompt(f"{RULE} Begin with src/first.py.")
    while len(session.transcript.lines) < 300:
        number = len(session.transcript.lines)
        session.transcript.call("Read", {"file_path": f"{machine.project}/src/part{number}.py"}, "x = 1")
        if number % 40 < 3:
            session.transcript.reply(f"I have read part{number}.py.")
            session.transcript.prompt(f"Then step {number}.")
    session.transcript.reply("All is read.")
    session.write()
    assert len(session.transcript.lines) >= 301
    session.happen("Stop")
    session.end()
    write_notes(machine)
    assert waiting(machine, session) == []
    first, *others = notes_of(machine, session)
    assert len(others) >= 3
    assert "keep the token in memory instead of a cookie" in first.text
    assert "src/first.py" in first.text
    with machine.store() as store:
        told_of = {child for note in (first, *others) for child in store.children(note.id)}
        assert told_of == {event.id for event in session_events(store, session.id)}


def test_r23_nothing_is_deleted_before_it_is_told_of_however_old(machine: Machine) -> None:
    machine.began -= 400 * DAY
    old = machine.session()
    old.turn(f"{RULE} That was long ago.", "It was.")
    machine.catch_up()
    old.path.unlink()  # as Claude Code does after thirty days
    machine.began += 400 * DAY
    before = said(machine, old)
    assert before == [f"{RULE} That was long ago.", "It was."]
    for _ in range(2):
        session = machine.session()
        session.start()
        session.turn("Something else.", "Yes.")
        session.end()
        write_notes(machine)
    assert said(machine, old) == before
    (note,) = notes_of(machine, old)
    assert "keep the token in memory" in note.text
    assert note.at < machine.began - 300 * DAY


def said(machine: Machine, session: Session) -> list[str]:
    with machine.store() as store:
        return [event.text for event in session_events(store, session.id) if event.kind in ("prompt", "reply")]


def test_a_session_whose_host_was_killed_gets_its_note_from_the_next(machine: Machine) -> None:
    """No end was said: an hour later it is over."""
    machine.began -= 3 * 3600
    killed = machine.session()
    killed.start()
    killed.turn("Half of half.py.", "I am at it.")
    machine.began += 3 * 3600
    after = machine.session()
    after.start()
    after.turn("Hello.", "Hello.")
    machine.settle()
    write_notes(machine)
    with machine.store() as store:  # hooks have real times, so its start is not old
        (open,) = [one for one in store.open_sessions() if one.session == killed.id]
    with Keeper(str(machine.home)) as keeper:
        distil(keeper, open.last + LATER)
    assert "half.py" in told(machine, killed)


# --- killed -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dying() -> Iterator[Dying]:
    with Dying() as made:
        yield made


def story(root: Path) -> Workplace:
    """A session that was told of, at length, and one of which nothing is read yet: notes are due, and an outline."""
    place = Workplace(root, saveInterval=2, memoryTokens=2000, carryOverTokens=300, outlineTokens=200)
    for number in range(2):
        session = place.session()
        for turn in range(3):
            asked = f"{RULE} Build part{number}{turn}.py."
            session.turn(asked, f"Built part{number}{turn}.py.", f"make {number} {turn}", "make install")
        session.end()
        if number == 0:
            place.distil()
            reword(place, place.notes()[0])
    return place


def reword(place: Workplace, note: Note, name: str = "mine") -> Note:
    """The user writes a note anew, in many words."""
    words = "\n".join(f"What I know of part {number} by heart." for number in range(400))
    with place.keeper() as keeper:
        mine = note._replace(id=name, text=words, tokens=measure(words), extra="{}", replaces=note.id, who="user")
        keeper.writer.add(mine)
    return mine


def tree_of(place: Workplace) -> dict[str, tuple[str, ...]]:
    """Every note of a project, and what it covers."""
    with place.store() as store:
        assert not tree.problems(store)
        return {note.id: tuple(store.children(note.id)) for note in store.notes(place.project())}


def test_r9_killed_anywhere_while_it_reads_and_archives(tmp_path: Path, dying: Dying) -> None:
    """The next look goes on, and every session gets the notes that it would have had."""
    undisturbed = story(tmp_path / "well")
    calls = dying.run(undisturbed.home, undisturbed.now).calls
    (tmp_path / "well").rename(tmp_path / "aside")
    reading = range(1, calls, max(1, calls // 14))
    wanted = None
    for after in reading:
        place = story(tmp_path / "well")  # of the same name: paths are part of what is kept
        assert dying.run(place.home, place.now, after).killed
        dying.run(place.home, place.now)
        found = tree_of(place)
        wanted = wanted or found
        assert found == wanted
        (tmp_path / "well").rename(tmp_path / f"killed-{after}")
    assert wanted
    assert dying.run(tmp_path / f"killed-{reading[-1]}/keeper", undisturbed.now).calls < calls


def test_r10_killed_anywhere_between_a_note_and_what_it_covers(tmp_path: Path, dying: Dying) -> None:
    """A note is there with all it covers, or not at all; then what it would have covered is open."""
    place = story(tmp_path / "well")
    place.catch_up()
    saved = place.home.rename(tmp_path / "saved")
    wanted = None
    after, killed = 0, True
    while killed:
        after += 11
        shutil.rmtree(place.home, ignore_errors=True)
        shutil.copytree(saved, place.home)
        killed = dying.run(place.home, place.now, after, look=False).killed
        found = tree_of(place)
        dying.run(place.home, place.now, look=False)
        done = tree_of(place)
        wanted = wanted or done
        assert done == wanted
        assert found.items() <= wanted.items()
    assert after > 80
    assert place.notes(level=2)


# --- huge, and at the same time ---------------------------------------------------------------------------------------


def test_r13_a_line_of_a_megabyte(machine: Machine) -> None:
    """The note has what was decided before it and what was said after; nothing is empty."""
    session = machine.session()
    session.start()
    session.turn(f"{RULE} Look at big.log.", "I will.")
    session.transcript.call("Bash", {"command": "cat big.log"}, "0123456789abcdef" * 65_536)
    session.transcript.reply("A megabyte of nothing.")
    session.write()
    session.happen("Stop")
    session.end()
    write_notes(machine)
    (note,) = [note for note in notes_of(machine, session) if note.text]
    assert "keep the token in memory instead of a cookie" in note.text
    assert "A megabyte of nothing." in note.text
    assert "0123456789abcdef0123" not in note.text
    assert note.tokens <= DEFAULTS["reduce.noteTokens"] + 1
    assert waiting(machine, session) == []


def test_r13b_the_newest_note_stays_open_at_rotation_however_large(tmp_path: Path) -> None:
    place = story(tmp_path)
    place.distil()
    mine = reword(place, place.notes(open=True)[-1], "newer")
    assert len(mine.text) > 13_000
    assert {note.level for note in place.distil()} == {2}
    assert place.distil(LATER) == []
    assert place.notes(open=True) == [mine]
    with place.store() as store:
        assert not tree.problems(store)


def test_r31_rotation_between_what_happens_and_its_note(tmp_path: Path) -> None:
    place = story(tmp_path)
    place.set(saveInterval=2, memoryTokens=100_000)
    place.distil()
    session = place.session()
    session.turn(f"{RULE} Keep new.py too.", "I do.")
    place.catch_up()
    with place.keeper() as keeper:
        (open,) = keeper.store.open_sessions()
        before = open_events(keeper.store, session.id, place.project())
        small = {**DEFAULTS, "reduce.memoryTokens": 300, "reduce.carryOverTokens": 0}
        assert any(outline_project(keeper, place.project(), small))
        assert open_events(keeper.store, session.id, place.project()) == before
        assert open.session == session.id
    (note,) = place.distil(LATER)
    assert "new.py" in note.text
    with place.store() as store:
        assert [event.id for event in before] == store.children(note.id)
        assert store.notes(place.project(), 1, open=True)[-1] == note
        assert not tree.problems(store)


def test_r32_work_goes_on_while_a_note_is_written(tmp_path: Path) -> None:
    """What happens meanwhile is in no note yet, and then in the next one."""
    place = Workplace(tmp_path, saveInterval=2)
    session = place.session()
    for number in range(3):
        session.turn(f"Build part{number}.py.", "Built.", "make one", "make two")
    place.catch_up()
    with place.keeper() as writing, place.keeper() as looking:
        (open,) = writing.store.open_sessions()
        made = reduce_session(writing, open, {**DEFAULTS, "reduce.saveInterval": 2}, place.now)
        first = next(made)
        session.turn("Build late.py.", "Built late.", "make late")
        looking.catch_up()
        rest = list(made)
    told_of = "\n".join(note.text for note in (first, *rest))
    assert all(f"part{number}.py" in told_of for number in range(3))
    assert "late.py" not in told_of
    with place.store() as store:
        assert "Build late.py." in [event.text for event in open_events(store, session.id, place.project())]
    session.end()
    (last,) = place.distil()
    assert "late.py" in last.text
    with place.store() as store:
        assert open_events(store, session.id, place.project()) == []
        assert not tree.problems(store, grounded=True)


# --- what is told is true ---------------------------------------------------------------------------------------------


def test_every_line_of_every_note_of_ordinary_sessions_is_grounded(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    for seed in range(3):
        session = place.session("app" if seed else "other")
        session.transcript = transcripts.session(session.id, str(place.folder(session.project)), seed=seed, turns=8)
        session.write()
        session.agent("a1", "I found upload_part in src/uploader/client.py, called 3 times.")
        session.end()
    made = place.distil(LATER * 24 * 365)
    assert sum(bool(note.text) for note in made) > 6
    with place.store() as store:
        assert not tree.problems(store, grounded=True)
        assert not pending(store)


def pending(store: SqliteStore) -> list[str]:
    return [event.id for one in store.open_sessions() for event in open_events(store, one.session, one.project)]
