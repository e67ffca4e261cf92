"""Notes where they are due: when, of what, of how much, and what becomes of many."""

from __future__ import annotations

import json
import sqlite3
from fnmatch import fnmatch
from pathlib import Path
from time import monotonic, sleep

import pytest

from memory_keeper.errors import NotSetUp
from memory_keeper.extract.facts import facts_of
from memory_keeper.host.registration import OURS
from memory_keeper.jobs.due import note_may_be_due
from memory_keeper.jobs.run import distil_all
from memory_keeper.jobs.summarize import distil, outline_project, reduce_session
from memory_keeper.model import origin
from memory_keeper.server.catch_up import CatchUp
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.events import covered_events, open_events, session_events
from tests import tree
from tests.workplace import LATER, Worked, Workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """Where a note is due after three calls or 500 tokens of talk."""
    return Workplace(tmp_path, saveInterval=3, saveTokens=500)


def work(session: Worked, number: int = 0, calls: int = 3) -> None:
    session.turn(f"Build part{number}.py.", f"part{number}.py is built.", *[f"make {n}" for n in range(calls)])


def covered(place: Workplace, session: Worked) -> list[bool]:
    """Whether each event of a session is covered, in order."""
    with place.store() as store:
        open = {event.id for event in open_events(store, session.id, place.project(session.project))}
        return [event.id not in open for event in session_events(store, session.id)]


# --- when -------------------------------------------------------------------------------------------------------------


def test_nothing_is_due_while_little_has_happened(place: Workplace) -> None:
    session = place.session()
    work(session, calls=2)
    assert place.distil() == []
    assert not any(covered(place, session))


def test_after_so_many_calls(place: Workplace) -> None:
    session = place.session()
    work(session)
    (note,) = place.distil()
    assert note.text == '"Build part0.py." → part0.py is built.'
    assert all(covered(place, session))


def test_after_so_many_calls_within_one_turn(place: Workplace) -> None:
    session = place.session()
    work(session, calls=8)
    place.distil()
    with place.store() as store:
        notes = sorted(store.notes(place.project(), 1), key=lambda note: note.at)
        children = [covered_events(store, note.id) for note in notes]
    calls = [sum(event.kind == "call" for event in each) for each in children]
    assert calls[:2] == [3, 3], "the last two calls wait for a third, or for the end of the session"


def test_after_so_much_talk(place: Workplace) -> None:
    session = place.session()
    session.turn("Tell me all about the parts. " + "More and more of it. " * 100, "There is nothing to tell.")
    assert len(place.distil()) == 1


def test_at_the_end(place: Workplace) -> None:
    session = place.session()
    work(session, calls=1)
    session.end()
    (note,) = place.distil()
    assert all(covered(place, session))
    assert note.session == session.id


def test_when_a_session_goes_on_it_has_not_ended(place: Workplace) -> None:
    session = place.session()
    work(session, calls=1)
    session.end()
    session.mark("SessionStart", source="resume")
    assert place.distil() == []
    session.end()
    assert len(place.distil()) == 1


def test_when_nothing_happens_for_long(place: Workplace) -> None:
    session = place.session()
    work(session, calls=1)
    assert place.distil() == []
    assert len(place.distil(LATER)) == 1
    assert all(covered(place, session))


def test_at_a_compaction(place: Workplace) -> None:
    session = place.session()
    work(session, calls=1)
    session.compact()
    (note,) = place.distil()
    assert "Build part0.py." in note.text
    work(session, 1, calls=1)
    assert place.distil() == [], "what comes after it waits for its own"


def test_when_somebody_asks(place: Workplace) -> None:
    session = place.session()
    work(session, calls=1)
    assert len(place.distil(force=True)) == 1
    assert all(covered(place, session))


def test_due_is_what_distilling_would_do(place: Workplace) -> None:
    session = place.session()

    def due(later: float = 0.0) -> bool:
        with place.keeper() as keeper:
            keeper.catch_up()
            return note_may_be_due(keeper, session.id, place.now + later)

    assert not due()
    work(session)
    assert due()
    place.distil()
    assert not due()
    work(session, 1, calls=1)
    assert not due()
    assert due(LATER)
    session.compact()
    assert due()
    place.distil()
    assert not due()


def test_a_home_where_nothing_was_kept(place: Workplace) -> None:
    """Who asks hears of it; who was started in the background has nothing to complain of."""
    with place.keeper() as keeper:
        keeper.catch_up()
        with pytest.raises(NotSetUp):
            distil(keeper, place.now)
        distil_all(keeper)


def test_uninstalling_knows_all_that_it_leaves_in_the_home(place: Workplace) -> None:
    session = place.session()
    work(session)
    session.end()
    with place.keeper() as keeper:
        keeper.catch_up()
        distil_all(keeper)
    left = {path.name for path in place.home.iterdir()}
    assert "distil.lock" in left
    assert {name for name in left if not any(fnmatch(name, pattern) for pattern in OURS)} == set()


# --- of what ----------------------------------------------------------------------------------------------------------


def test_what_a_note_says_of_itself(place: Workplace) -> None:
    session = place.session()
    session.turn("Never retry a 4xx. Add RetryPolicy to retry.py.", "I added RetryPolicy.", "pytest -q")
    (note,) = place.distil(LATER)
    with place.store() as store:
        events = covered_events(store, note.id)
        assert store.children(note.id) == [event.id for event in events]
        assert store.note(note.id) == note
        assert not tree.problems(store, grounded=True)
    about = tree.said_about(note)
    assert (note.kind, note.level, note.project, note.session) == ("session", 1, place.project(), session.id)
    assert (note.who, note.replaces) == ("", "")
    assert note.at == max(event.at for event in events)
    assert about["by"] == "extractive"
    assert about["first"] == events[0].at
    assert ("rule", "Never retry a 4xx.") in [(fact.kind, fact.text) for fact in facts_of(note)]


def test_a_session_in_which_nothing_was_said_gets_a_note_without_words(place: Workplace) -> None:
    session = place.session()
    session.end()
    (note,) = place.distil()
    assert (note.text, note.tokens) == ("", 0)
    assert all(covered(place, session))
    assert place.distil(LATER) == []


def test_sessions_and_projects_are_never_mixed(place: Workplace) -> None:
    sessions = [place.session(project) for project in ("app", "app", "other")]
    for number in range(3):
        for which, session in enumerate(sessions):
            work(session, 10 * which + number)
            place.catch_up()
    made = place.distil()
    assert {note.session for note in made} == {session.id for session in sessions}
    with place.store() as store:
        assert not tree.problems(store, grounded=True)
    for which, session in enumerate(sessions):
        told = "\n".join(note.text for note in made if note.session == session.id)
        for other in range(3):
            assert (f"part{10 * other}.py" in told) == (other == which)


def test_one_project_alone(place: Workplace) -> None:
    here, there = place.session("app"), place.session("other")
    work(here)
    work(there)
    assert {note.session for note in place.distil(project=place.project("other"))} == {there.id}
    assert {note.session for note in place.distil()} == {here.id}


def test_what_a_fork_took_over_is_told_once(place: Workplace) -> None:
    first = place.session()
    work(first)
    place.distil()
    fork = first.fork()
    work(fork, 1)
    (note,) = place.distil()
    assert "part1.py" in note.text
    assert "part0.py" not in note.text


def test_what_an_agent_did_is_covered_with_its_session(place: Workplace) -> None:
    session = place.session()
    session.turn("Look around.", "I sent somebody.", "ls")
    session.agent("a1", "I found three things.")
    session.agent("a2", "I found nothing.")
    place.distil(LATER)
    assert len(covered(place, session)) > 8
    assert all(covered(place, session))


def test_a_project_may_say_how_often(place: Workplace) -> None:
    (place.folder("app") / ".claude").mkdir()
    (place.folder("app") / ".claude/memory-keeper.json").write_text(json.dumps({"saveInterval": 1}))
    here, there = place.session("app"), place.session("other")
    work(here, calls=1)
    work(there, calls=1)
    assert {note.session for note in place.distil()} == {here.id}


def test_distilling_twice_is_distilling_once(place: Workplace) -> None:
    session = place.session()
    for number in range(4):
        work(session, number)
    assert len(place.distil()) == 4
    assert place.distil() == []
    assert len(place.distil(LATER)) <= 1
    assert place.distil(LATER) == []
    assert place.distil(LATER, force=True) == []


def test_progress_counts_events(place: Workplace) -> None:
    session = place.session()
    for number in range(4):
        work(session, number)
    session.end()
    heard: list[int] = []
    made = place.distil(progress=heard.append)
    assert len(heard) == len(made)
    assert sum(heard) == len(covered(place, session))


def test_who_comes_too_late_leaves_it(place: Workplace) -> None:
    """Somebody else wrote of a part of what this one has read: it writes of nothing, and the rest stays open."""
    session = place.session()
    for number in range(3):
        work(session, number)
    place.catch_up()
    settings = {**DEFAULTS, "reduce.saveInterval": 3}
    with place.keeper() as late, place.keeper() as quick:
        (open,) = late.store.open_sessions()
        writing = reduce_session(late, open, settings, place.now)
        first = next(writing)
        coarse = {**settings, "reduce.saveInterval": 100}
        (other,) = reduce_session(quick, quick.store.open_sessions()[0], coarse, place.now, force=True)
        assert list(writing) == []
    with place.store() as store:
        assert not tree.problems(store)
        assert {first.id, other.id} == {note.id for note in store.notes(place.project(), 1)}


def test_who_comes_too_late_does_not_write_of_what_comes_after(place: Workplace) -> None:
    """Else what lies between would be told after it."""
    session = place.session()
    for number in range(4):
        work(session, number)
    place.catch_up()
    late, early = ({**DEFAULTS, "reduce.saveInterval": number} for number in (3, 1))
    with place.keeper() as one, place.keeper() as other:
        (open,) = one.store.open_sessions()
        writing = reduce_session(one, open, late, place.now)
        next(writing)
        next(reduce_session(other, open, early, place.now))
        assert list(writing) == []
    with place.store() as store:
        assert not tree.problems(store)
    place.distil(LATER)
    assert all(covered(place, session))


# --- and up -----------------------------------------------------------------------------------------------------------


def fill(place: Workplace, sessions: int, project: str = "app") -> None:
    """Sessions with much to tell."""
    for number in range(sessions):
        session = place.session(project)
        for turn in range(3):
            said = f"We decided to keep part{number}{turn} in memory instead of a file because of load{turn}."
            session.turn(f"{said} Change src/part{number}/step{turn}.py.", "It is done. " * 20, f"make part{number}")
        session.end()


def test_many_notes_get_an_outline_and_the_newest_stay_open(place: Workplace) -> None:
    place.set(saveInterval=1, memoryTokens=2000, carryOverTokens=400, outlineTokens=300)
    fill(place, 10)
    made = place.distil()
    outlines = [note for note in made if note.level == 2]
    assert outlines
    with place.store() as store:
        open, covered = (store.notes(place.project(), 1, open=which) for which in (True, False))
        assert not tree.problems(store, grounded=True)
        assert sum(note.tokens for note in open) <= 2000
        assert max(note.at for note in covered) <= min(note.at for note in open)
        assert [store.children(note.id) for note in outlines] != []
    assert place.distil(LATER) == []
    for note in outlines:
        assert (note.kind, note.session) == ("outline", "")
        assert 0 < note.tokens <= 301


def test_an_outline_that_was_not_written_is_written_next_time(place: Workplace) -> None:
    """Killed after the notes and before the outline above them, or the limit was lowered: nothing new has to happen."""
    place.set(saveInterval=1)
    fill(place, 10)
    assert {note.level for note in place.distil()} == {1}
    place.set(saveInterval=1, memoryTokens=2000, carryOverTokens=400, outlineTokens=300)
    assert {note.level for note in place.distil()} == {2}
    assert place.distil() == []


def test_outlines_get_outlines(place: Workplace) -> None:
    place.set(saveInterval=1, memoryTokens=2000, carryOverTokens=400, outlineTokens=800)
    fill(place, 40)
    assert {note.level for note in place.distil()} >= {1, 2, 3}
    with place.store() as store:
        assert not tree.problems(store)
    assert place.distil(LATER) == []


def test_the_newest_stays_open_however_large(place: Workplace) -> None:
    place.set(saveInterval=1, memoryTokens=2000, carryOverTokens=400)
    fill(place, 2)
    place.distil()
    newest = place.notes()[-1]
    with place.keeper() as keeper:
        words = "\n".join(f"What I wrote by hand, line {number}." for number in range(500))
        mine = newest._replace(id="note-mine", text=words, tokens=9000, who="user", replaces=newest.id, extra="")
        keeper.writer.add(mine)
    made = place.distil()
    assert {note.level for note in made} == {2}
    (left,) = place.notes(open=True)
    assert left == mine


def test_an_outline_covers_first_wordings(place: Workplace) -> None:
    place.set(saveInterval=1, memoryTokens=100_000)
    fill(place, 3)
    place.distil()
    notes = place.notes()
    with place.keeper() as keeper:
        for number, note in enumerate(notes[:2]):
            better = note._replace(id=f"better-{number}", text=f"Better words {number}.", tokens=6, replaces=note.id)
            keeper.writer.add(better._replace(extra=json.dumps({"by": "openai"})))
        settings = {**DEFAULTS, "reduce.memoryTokens": 100, "reduce.carryOverTokens": 0}
        made = list(outline_project(keeper, place.project(), settings))
    assert made
    with place.store() as store:
        assert not tree.problems(store)
        told = [
            note for outline in made if outline.level == 2 for note in store.notes(place.project(), above=outline.id)
        ]
    assert [origin(note) for note in told] == [note.id for note in notes[: len(told)]]
    assert [note.text for note in told[:2]] == ["Better words 0.", "Better words 1."]


def test_projects_have_outlines_of_their_own(place: Workplace) -> None:
    place.set(saveInterval=1, memoryTokens=2000, carryOverTokens=400, outlineTokens=300)
    fill(place, 10, "app")
    fill(place, 2, "other")
    made = place.distil()
    assert {note.project for note in made if note.level == 2} == {place.project("app")}
    with place.store() as store:
        assert not tree.problems(store)


def test_all_at_once_tells_the_same_sessions_as_one_by_one(place: Workplace, tmp_path: Path) -> None:
    """Whoever imports a month gets the notes that the month itself would have brought."""
    other = Workplace(tmp_path / "slow", saveInterval=3, saveTokens=500)
    for one, each in ((place, False), (other, True)):
        for _ in range(3):
            session = one.session()
            for number in range(3):
                work(session, number)
                if each:
                    one.distil()
            session.end()
            if each:
                one.distil()
    place.distil()
    once, by_and_by = ([note.text for note in one.notes() if note.text] for one in (place, other))
    assert once == by_and_by


# --- in a server ------------------------------------------------------------------------------------------------------


def children() -> list[str]:
    """The processes that this one has started and not taken leave of."""
    return [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


def test_a_server_has_notes_written_by_one_process_at_a_time_and_leaves_none_behind(place: Workplace) -> None:
    before = len(children())
    session = place.session()
    work(session)
    place.catch_up()
    looking, until = CatchUp(str(place.home)), monotonic() + 60
    while not place.notes() or len(children()) > before:
        looking.poke(str(place.home), session=session.id)
        sleep(0.1)
        assert len(children()) <= before + 1
        assert monotonic() < until


def test_what_cannot_be_put_into_a_note_keeps_out_nothing_else(place: Workplace, tmp_path: Path) -> None:
    """Nothing that is known does that; so a session is given a text that no program can read."""
    bad, good = place.session(), place.session()
    for one in (bad, good):
        work(one)
    place.catch_up()
    with sqlite3.connect(place.home / "store.db") as db:
        db.execute("update event set text = cast(x'ff' as text) where session = ? and kind = 'reply'", (bad.id,))
    failed: list[Exception] = []
    with place.keeper() as keeper:
        made = distil(keeper, place.now, complain=failed.append)
    assert {note.session for note in made} == {good.id}
    assert len(failed) == 1
