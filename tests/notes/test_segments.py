"""Which events one note covers and how long it may be, and which notes an outline takes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.model import Event, Note
from memory_keeper.notes.segments import (
    CALLS,
    LIMIT,
    SAID,
    SENTENCE,
    TURN,
    note_budget,
    rotated,
    segments,
)
from tests.notes.story import Story, sessions

INTERVAL, CHARACTERS = 3, 400


def cut(events: list[Event], over: bool = False, interval: int = INTERVAL) -> list[list[Event]]:
    return [one.events for one in segments(events, interval, CHARACTERS, over)]


def kinds(segment: list[Event]) -> str:
    """A segment by the first letters of its kinds."""
    return "".join(event.kind[0] for event in segment)


def turns(number: int, calls: int = 3) -> Story:
    story = Story()
    for turn in range(number):
        story.prompt(f"Request {turn}.")
        for call in range(calls):
            story.run(f"make part{turn}{call}", "fine")
        story.reply(f"Answer {turn}.")
    return story


# --- where a note ends ------------------------------------------------------------------------------------------------


def test_a_note_ends_with_a_turn() -> None:
    assert [kinds(one) for one in cut(turns(3).events)] == ["pcrcrcrr"] * 3


def test_a_turn_that_goes_on_is_left_open() -> None:
    events = turns(2).events
    assert [kinds(one) for one in cut(events[:-1])] == ["pcrcrcrr"]
    assert [kinds(one) for one in cut(events[:-1], over=True)] == ["pcrcrcrr", "pcrcrcr"], "nothing follows"


def test_short_turns_share_a_note() -> None:
    assert [kinds(one) for one in cut(turns(6, calls=1).events)] == ["pcrr" * 3] * 2


def test_a_long_turn_is_cut_where_nothing_is_under_way() -> None:
    story = turns(1, calls=7)
    assert [kinds(one) for one in cut(story.events, over=True)] == ["pcrcrcr", "crcrcr", "crr"]


def test_so_many_calls_are_noted_as_soon_as_another_begins() -> None:
    events = turns(1, calls=4).events
    assert [kinds(one) for one in cut(events[:7])] == [], "the turn may be about to end"
    assert [kinds(one) for one in cut(events[:8])] == ["pcrcrcr"]


def test_calls_at_once_stay_with_their_answers() -> None:
    story = Story()
    story.prompt("All at once.")
    calls = [story.call("Read", None, file_path=f"/p/{number}.py") for number in range(7)]
    for call in reversed(calls):
        story.add("result", "text", ref=call.ref)
    story.reply("Read.")
    assert [kinds(one) for one in cut(story.events, over=True)] == ["p" + "c" * 7 + "r" * 8]


def test_a_call_that_is_never_answered_holds_nothing_up_for_good() -> None:
    story = Story()
    story.prompt("Begin.")
    story.call("Bash", None, command="sleep 1000")
    for number in range(40):
        story.run(f"make part{number}", "fine")
    first, *others = [sum(event.kind == "call" for event in one) for one in cut(story.events, over=True)]
    assert first == LIMIT * INTERVAL
    assert max(others) == INTERVAL


def test_talk_counts_like_work() -> None:
    story = Story()
    for number in range(4):
        story.prompt(f"{number} " + "word " * 50)
        story.reply("word " * 50)
    assert [kinds(one) for one in cut(story.events)] == ["pr"] * 4


def test_a_compaction_ends_a_note_and_its_summary_goes_with_it() -> None:
    story = Story()
    story.prompt("Before.")
    story.add("compact", "")
    story.add("summary", "What was before.")
    story.prompt("After.")
    assert [kinds(one) for one in cut(story.events)] == ["pcs"]
    del story.events[2]
    assert [kinds(one) for one in cut(story.events)] == ["pc"], "also where it left none"


SIZES = st.tuples(st.integers(1, 6), st.sampled_from((1, 40, 400, 10_000)))


def fullness(events: list[Event], interval: int, characters: int) -> float:
    said = sum(len(event.text) for event in events if event.kind in SAID)
    return max(sum(event.kind in CALLS for event in events) / interval, said / characters)


@given(sessions(), SIZES, st.booleans())
def test_segments_are_the_beginning_of_what_happened(events: list[Event], size: tuple[int, int], over: bool) -> None:
    cuts = [one.events for one in segments(events, *size, over)]
    taken = [event for one in cuts for event in one]
    assert all(cuts)
    assert taken == events[: len(taken)]
    assert taken == events or not over
    assert fullness(events[len(taken) :], *size) < LIMIT, "what is left open never grows without end"
    assert cuts == [one.events for one in segments(list(events), *size, over)]


@given(sessions(), SIZES, st.booleans())
def test_a_call_and_its_answer_stay_together(events: list[Event], size: tuple[int, int], over: bool) -> None:
    cuts = [one.events for one in segments(events, *size, over)]
    end = 0
    for one in cuts:
        end += len(one)
        following = events[end : end + 1]
        asked = [event.ref for event in one if event.kind in CALLS and event.ref]
        waiting = [ref for ref in asked if not any(event.kind == "result" and event.ref == ref for event in one)]
        if waiting and following:
            broken = following[0].kind == "prompt" or one[-1].kind in ("compact", "summary")
            assert broken or fullness(one, *size) >= LIMIT


# --- how long it may be -----------------------------------------------------------------------------------------------


@given(sessions(), st.integers(100, 2000), st.integers(0, 25))
def test_a_budget_grows_with_what_was_said_and_done(events: list[Event], most: int, part: int) -> None:
    assert 0 < note_budget(events[:part], most) <= note_budget(events, most) <= most


def test_about_a_sentence_for_every_two_hundred_words() -> None:
    story = Story()
    story.prompt("word " * 2000)
    assert note_budget(story.events, 10_000) == 10 * SENTENCE + TURN
    story.add("result", "word " * 100_000)
    assert note_budget(story.events, 10_000) == 10 * SENTENCE + TURN, "what a tool printed was not said"


# --- which notes an outline takes -------------------------------------------------------------------------------------


def of(*sizes: int) -> list[Note]:
    return [Note(f"n{number}", float(number), "session", 1, "p", "", tokens=size) for number, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "taken"),
    [
        ((), 0),
        ((50, 50), 0),  # they fit
        ((50, 51), 1),
        ((500,), 0),  # the newest stays, however large it is
        ((10, 500), 1),
        ((40, 40, 10, 10, 10), 3),  # as many of the newest stay as the carry-over holds
        ((90, 90, 90, 10), 1),  # an outline speaks of as much as fits, and then there is another
    ],
)
def test_the_oldest_go_up_and_the_newest_stay(sizes: tuple[int, ...], taken: int) -> None:
    notes = of(*sizes)
    assert rotated(notes, 100, 20) == notes[:taken]


@given(st.lists(st.integers(0, 300), max_size=30), st.integers(2, 300), st.integers(0, 300))
def test_rotating_ends_with_what_fits(sizes: list[int], most: int, carry: int) -> None:
    notes = of(*sizes)
    while taken := rotated(notes, most, min(carry, most // 2)):
        assert taken == notes[: len(taken)]
        assert sum(note.tokens for note in taken) <= most or len(taken) == 1
        assert len(taken) < len(notes)
        notes = notes[len(taken) :]
    assert sum(note.tokens for note in notes) <= most or len(notes) == 1
    assert notes[-1:] == of(*sizes)[-1:]


def test_the_newest_that_stay_fill_the_carry_over() -> None:
    random = Random(1)
    notes = of(*[random.randint(20, 90) for _ in range(450)])
    taken = rotated(notes, 23_750, 2375)
    kept = sum(note.tokens for note in notes[len(taken) :])
    assert 2375 - 90 < kept <= 2375
