"""The outline as JSON: what we write is always valid, what is not valid is refused with a reason, nothing is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.notes.schema import (
    SCHEMA,
    Decision,
    Issue,
    Outline,
    Theme,
    body,
    check,
    from_text,
    read,
    read_body,
    texts_of,
)
from memory_keeper.text import clean

AT = "2026-01-13T12:05:00.000Z"
# as the predecessor's description has it
OLD = {
    "sourceFile": "memory_20260113_120000.md",
    "generatedAt": AT,
    "themes": [{"name": "Authentication", "summary": "Implemented JWT-based auth..."}],
    "keyDecisions": [{"decision": "Use bcrypt for passwords", "reason": "Industry standard"}],
    "issues": [{"issue": "Login timeout bug", "status": "resolved"}],
    "overallSummary": "This period focused on authentication system...",
}
# as its model was asked for it
ASKED = {
    "dateRange": {"first": "2026-01-10", "last": "2026-01-13"},
    "sectionCount": 3,
    "themes": [{"name": "Authentication", "summary": "Done.", "sessions": ["2026-01-13"]}],
    "keyDecisions": [{"decision": "Use bcrypt", "reason": "", "date": "2026-01-12"}],
    "issues": [{"issue": "Login timeout", "status": "open", "date": "2026-01-13"}],
    "overallSummary": "Authentication.",
}


def but(**changed: Any) -> dict[str, Any]:
    """A valid outline with something else in it; None takes it away."""
    return {key: value for key, value in {**OLD, **changed}.items() if value is not None}


def test_the_predecessors_own_are_valid() -> None:
    assert check(OLD) == []
    assert check({**ASKED, "sourceFile": "a.md", "generatedAt": AT}) == []
    assert read(OLD).themes == (Theme("Authentication", "Implemented JWT-based auth..."),)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "the outline is not of type object"),
        ([], "the outline is not of type object"),
        (but(themes=None), "the outline has no themes"),
        (but(overallSummary=None), "the outline has no overallSummary"),
        (but(overallSummary=" "), "overallSummary is empty"),
        (but(overallSummary=7), "overallSummary is not of type string"),
        (but(extra=1), "the outline has an unknown 'extra'"),
        (but(themes={}), "themes is not of type array"),
        (but(themes=[{"summary": "x"}]), "themes[0] has no name"),
        (but(themes=["x"]), "themes[0] is not of type object"),
        (but(themes=[OLD["themes"][0]] * 11), "themes has 11 items, more than 10"),
        (but(issues=[{"issue": "x", "status": "closed"}]), "issues[0].status is none of resolved, open"),
        (
            but(issues=[{"issue": "x", "status": "open", "date": "yesterday"}]),
            "issues[0].date is not as it should be: 'yesterday'",
        ),
        (but(keyDecisions=[{"decision": "x"}]), "keyDecisions[0] has no reason"),
        (but(sectionCount=True), "sectionCount is not of type integer"),
        (but(sectionCount=-1), "sectionCount is less than 0"),
        (but(dateRange={"first": "2026-01-01"}), "dateRange has no last"),
        (but(sourceFile="../../etc/passwd"), "sourceFile is not as it should be: '../../etc/passwd'"),
        (but(generatedAt="2026-13-01"), "generatedAt is not as it should be: '2026-13-01'"),
        (but(overallSummary="a\x1b[2Jb"), "overallSummary has characters that do not show"),
        (but(overallSummary="x" * 20_001), "overallSummary is longer than 20000 characters"),
    ],
)
def test_what_is_wrong_is_said(value: object, problem: str) -> None:
    assert check(value) == [problem]
    with pytest.raises(ValueError, match=r"."):
        read(value)


def test_of_more_than_ten_the_first_ten_are_written() -> None:
    outline = Outline((), tuple(Decision(f"decision {n}") for n in range(15)), (), "All.")
    assert [one["decision"] for one in body(outline)["keyDecisions"]] == [f"decision {n}" for n in range(10)]


def test_nothing_invalid_can_be_built() -> None:
    with pytest.raises(ValueError, match="overallSummary is empty"):
        body(Outline((), (), (), ""))


WORDS = st.text(min_size=1, max_size=60).map(clean).filter(str.strip)
DATES = st.dates().filter(lambda day: day.year >= 1000).map(str)
OUTLINES = st.builds(
    Outline,
    st.lists(st.builds(Theme, WORDS, WORDS, st.lists(WORDS, max_size=3).map(tuple)), max_size=10).map(tuple),
    st.lists(st.builds(Decision, WORDS, st.just("") | WORDS, st.just("") | DATES), max_size=10).map(tuple),
    st.lists(st.builds(Issue, WORDS, st.sampled_from(["open", "resolved"]), st.just("") | DATES), max_size=10).map(
        tuple
    ),
    WORDS,
    DATES,
    DATES,
    st.integers(0, 1000),
    st.just("memory_20260113_120000.md"),
    st.just(AT),
)


@given(OUTLINES)
def test_there_and_back(outline: Outline) -> None:
    value = {"sourceFile": outline.source, "generatedAt": outline.generated, **body(outline)}
    assert check(value) == []
    assert read(json.loads(json.dumps(value))) == outline
    assert all(text in json.dumps(value, ensure_ascii=False) or "\\" in json.dumps(text) for text in texts_of(outline))


@given(OUTLINES)
def test_what_a_note_carries_is_read_again(outline: Outline) -> None:
    assert read_body(json.loads(json.dumps(body(outline)))) == outline._replace(source="", generated="")


def test_what_a_note_carries_names_no_file() -> None:
    with pytest.raises(ValueError, match="unknown 'sourceFile'"):
        read_body(OLD)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SCHEMA["properties"], "name"]), inner)
    ),
    max_leaves=10,
)


@given(JSON)
def test_any_json_is_judged(value: object) -> None:
    if not check(value):
        read(value)


@pytest.mark.parametrize("form", ["{}", " {}\n", "```json\n{}\n```", "```\n{}\n```"])
def test_a_models_answer_is_json_in_a_fence_or_not(form: str) -> None:
    outline = from_text(form.replace("{}", json.dumps(ASKED, indent=1)), "memory_x.md", AT)
    assert (outline.source, outline.generated, outline.sections) == ("memory_x.md", AT, 3)


def test_a_model_cannot_say_what_file_it_is_about() -> None:
    outline = from_text(json.dumps({**ASKED, "sourceFile": "../x", "generatedAt": "never"}), "memory_x.md", AT)
    assert (outline.source, outline.generated) == ("memory_x.md", AT)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot do that.",
        "Here it is:\n```json\n" + json.dumps(ASKED) + "\n```",
        "```json\n" + json.dumps(ASKED) + "\n```\nAnything else?",
        json.dumps([ASKED]),
        json.dumps(ASKED)[:-1],
        json.dumps(ASKED) * 2,
        json.dumps({**ASKED, "themes": [{"summary": "no name"}]}),
        json.dumps({**ASKED, "sectionCount": float("nan")}),
        "[" * 100_000,
    ],
)
def test_any_other_answer_is_refused(answer: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_text(answer, "memory_x.md", AT)
