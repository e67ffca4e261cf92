"""Facts are values: kept as such, read again as they were, whatever else stands there, and worded by one table."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.extract.facts import KINDS, PARTS, Fact, carried_whole, dump, facts_of, load, quote, say, story
from memory_keeper.model import Note
from tests.rows import rows

TEXTS = st.text(max_size=30)
NUMBERS = st.integers(0, 10**9)
FACTS = st.builds(
    Fact,
    st.sampled_from([*KINDS]),
    TEXTS,
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=3).map(tuple),
    st.floats(0, 4e9),
    st.sampled_from(("user", "model", "tool", "host")),
    NUMBERS,
    NUMBERS,
    TEXTS,
    TEXTS,
    st.sampled_from(("", "open", "done", "failed", "fixed", "passed", "created", "changed")),
    st.sampled_from(("", "5e551011-0000-4000-8000-000000000001")),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from([*KINDS]),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=20,
)
GOOD = ["goal", "x", ["e1:0"], 1.0, "user", 1, 0, "", "", "", ""]


def note(extra: str) -> Note:
    return Note("handoff-1", 1.0, "handoff", 0, "p", "text", "s", 1, extra)


@given(st.lists(FACTS, max_size=6))
def test_what_was_kept_is_read_as_it_was(facts: list[Fact]) -> None:
    assert load(json.loads(json.dumps(dump(facts)))) == facts
    assert facts_of(note(json.dumps({"facts": dump(facts)}))) == facts


@given(JSON)
@example([GOOD[:5]])
@example([[*GOOD, 1]])
@example([["goal", None, *GOOD[2:]]])
@example([[["goal"], *GOOD[1:]]])
@example([[{}, *GOOD[1:]]])
@example([["nothing of ours", *GOOD[1:]]])
@example([["goal", "x", [None, 3, "", "e1"], *GOOD[3:]]])
@example([["goal", "x", "e1", *GOOD[3:]]])
@example([["goal", "x", ["e1"], True, *GOOD[4:]]])
@example([["goal", "x", ["e1"], 10**400, *GOOD[4:]]])
@example([["goal", "x", ["e1"], 1.0, "user", 1.5, *GOOD[6:]]])
@example({"facts": [GOOD]})
def test_whatever_stands_there_is_no_error(kept: object) -> None:
    for extra in (json.dumps({"facts": kept}), json.dumps(kept), json.dumps({"facts": kept})[:-3]):
        facts_of(note(extra))
    for fact in load(kept):
        assert isinstance(say(fact), str)
        assert load(dump([fact])) == [fact]


def test_one_that_cannot_be_read_does_not_take_the_others_with_it() -> None:
    assert load([GOOD[:5], GOOD, None]) == load([GOOD]) != []


@given(FACTS)
def test_every_kind_can_be_said_and_stands_in_a_part(fact: Fact) -> None:
    assert KINDS[fact.kind].part in PARTS
    said = say(fact)
    if fact.kind != "push":
        assert fact.text in said


@given(st.text(max_size=400))
def test_a_quotation_can_be_told_from_what_stands_around_it(text: str) -> None:
    said = quote(text)
    assert said[1:-1] == text
    assert said[0] + said[-1] in ('""', "“”")
    assert said[0] == "“" or '"' not in text


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.outlives])
def test_of_whom_all_is_carried_over(kind: str) -> None:
    outlives = Fact("decision", "x", (), 0.0, of="s1")
    assert carried_whole([outlives, Fact(kind, "y", (), 0.0)]) == ()
    assert carried_whole([outlives, Fact(kind, "y", (), 0.0, of="s2"), Fact(kind, "z", (), 0.0, of="s2")]) == ("s2",)


# --- the story --------------------------------------------------------------------------------------------------------


def stated(text: str, id: str, place: int, **more: str) -> Fact:
    return Fact("said", text, (id,), 1.0, more.pop("who", "model"), 1, place, **more)


def test_each_thought_stands_on_a_line_of_its_own() -> None:
    """What one text says under one heading is one; what comes from another text, or stands elsewhere in it, is not."""
    asked = Fact("request", "Drain the pool.", ("e1",), 1.0, "user", 1, 1)
    facts = [
        asked,
        stated("It waits for open parts.", "e2", 20),
        stated("It closes them then.", "e2", 21),
        stated("src/pool.py", "e2", 22, about="Files:"),
        stated("The queue is empty.", "e3", 30),
    ]
    ((text, cites),) = story(facts)
    assert text.split("\n") == [
        '"Drain the pool."',
        "- It waits for open parts. It closes them then.",
        "- Files: src/pool.py",
        "- The queue is empty.",
    ]
    assert cites == ("e1", "e2", "e3")


@rows("status", "begins")
def test_what_is_no_answer_is_told_as_what_it_is(status: str, begins: str) -> None:
    """What is planned was not done by saying so, and what a document states is not how things are."""
    facts = [
        stated("Drain the pool.", "e2", 20, status=status),
        stated("Split the queue.", "e2", 22, status=status, about="Later"),
        stated("The pool drains.", "e3", 30),
    ]
    ((text, _),) = story(facts)
    assert text.split("\n") == [f"- {begins}Drain the pool.", "  - Later: Split the queue.", "- The pool drains."]


def test_a_subagent_is_quoted() -> None:
    ((text, _),) = story([stated("The pool leaks.", "e2", 20, who="tool")])
    assert text == '- A subagent reported: "The pool leaks."'


def test_where_sentences_of_a_report_are_left_out_that_shows() -> None:
    those = [
        stated(said, "e2", place, who="tool", about="Pool")
        for place, said in ((20, "It leaks."), (21, "It hangs."), (25, "Close it."))
    ]
    ((text, _),) = story(those)
    assert text == '- A subagent reported: Pool: "It leaks. It hangs. … Close it."'
