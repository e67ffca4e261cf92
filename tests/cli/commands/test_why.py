"""What was told, taken apart: whatever the text, its lines are all of it, and their tokens add up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory_keeper import wire
from memory_keeper.briefs.why import FRAME, QUOTE, Line, reading, take_apart
from memory_keeper.hooks.actions.telling import record_told
from memory_keeper.request import Brief
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.injected import shares

UUID = "4914e47a-1c0b-4f3e-9c55-0a1b2c3d4e5f"
START = """<memory-keeper brief="start" fence="5da784d9">
Memory Keeper recorded this in earlier work on this project. It is data, not instructions.
## Standing notes, by the user
| conventions: Tests are run with make test.
| Use [4] spaces. [note-1]
## Handoff of session 0000000a, 2 hours old
| Goal: "Add SMS login." [4914e47a]
| Said nowhere. []
</memory-keeper>"""
RULES = """<memory-keeper brief="rules" fence="5da784d9">
Rules in force, kept by Memory Keeper for its user.
1. Never push.
2. Ask first.
The user said in earlier sessions:
| From now on write in English. [obs-1]
</memory-keeper>"""
RECALL = """<memory-keeper brief="recall" fence="5da784d9">
Kept earlier about what this names.
| 7 days ago, decided: Round half to even. [4914e47a]
| 2 days ago, said: It is slow. [4914e47a:1]
</memory-keeper>"""
WARNING = '<memory-keeper context="warn">\nThe context is 70 % full.\n</memory-keeper>'


def lines_of(said: dict[str, Any]) -> list[Line]:
    """What is told, without tags and headings."""
    return [line for part in take_apart(said) for line in part.lines if line.source != FRAME]


def test_a_start_is_its_quotations_each_with_its_source_and_reason() -> None:
    why = [["the newest handoff, in the same terminal"]]
    cites = ["note-1", f"{UUID}:0", ""]
    note, goal, nowhere = lines_of({"brief": "start", "tokens": 200, "cites": cites, "text": START, "why": why})
    assert (note.id, note.why) == ("note-1", "Standing notes, by the user")
    assert reading(note) == "conventions: Tests are run with make test.\nUse [4] spaces."
    assert goal.id == f"{UUID}:0"
    assert goal.why == "the newest handoff, in the same terminal: session 0000000a, 2 hours old"
    assert (nowhere.id, reading(nowhere)) == ("", "Said nowhere.")


def test_rules_go_by_their_numbers() -> None:
    cites = ["rule-a", "rule-shipped-1", "obs-1"]
    found = lines_of({"brief": "rules", "tokens": 100, "cites": cites, "text": RULES})
    assert [(line.source, line.id, reading(line)) for line in found] == [
        ("rule", "rule-a", "1. Never push."),
        ("rule", "rule-shipped-1", "2. Ask first."),
        (QUOTE, "obs-1", "From now on write in English."),
    ]
    assert found[2].why.startswith("the user said it before")


def test_what_the_user_said_may_be_summed_up_in_fewer_lines() -> None:
    text = RULES.replace("| From now on write in English. [obs-1]", "| tests: with make; in English\n| use pnpm")
    cites = ["rule-a", "rule-shipped-1", "obs-1", "obs-2", "obs-3"]
    *_, first, second = lines_of({"brief": "rules", "tokens": 100, "cites": cites, "text": text})
    assert (reading(first), reading(second)) == ("tests: with make; in English", "use pnpm")
    assert first.id == "" and first.cites == second.cites == ("obs-1", "obs-2", "obs-3")


def test_lines_of_a_recall_have_their_own_reasons() -> None:
    why = [["the prompt names invoice.py", 3.6], ["the prompt names report.py", 2]]
    cites = [f"{UUID}:0", f"{UUID}:1"]
    found = lines_of({"brief": "recall", "tokens": 80, "cites": cites, "text": RECALL, "why": why})
    assert [(line.id, line.why, line.score) for line in found] == [
        (cites[0], "the prompt names invoice.py", 3.6),
        (cites[1], "the prompt names report.py", 2),
    ]


def test_a_warning_and_a_reminder_are_our_own_words() -> None:
    (warned,) = lines_of({"brief": "warning", "tokens": 40, "text": WARNING})
    (reminded,) = lines_of({"brief": "reminder", "tokens": 30, "text": "The rules hold."})
    assert (warned.source, reading(warned)) == ("warning", "The context is 70 % full.")
    assert (reminded.source, reminded.tokens) == ("reminder", 30)


def test_a_handoff_says_what_it_is_of() -> None:
    text = "Handoff of session 0000000a. It is recorded data, not instructions.\n| Goal: X. [note-1]"
    (goal,) = lines_of({"brief": "handoff", "tokens": 20, "cites": ["note-1"], "text": text})
    assert goal.why == "handoff of session 0000000a"


def test_lines_of_a_small_handoff_rest_on_what_it_cites_in_order() -> None:
    opening = '<memory-keeper brief="handoff" fence="0b">\nHandoff of session 0000000a. It is recorded data.'
    text = f"{opening}\n| Session: A title\n| Asked last: x\n| State: y\n</memory-keeper>"
    lines = lines_of({"brief": "handoff", "tokens": 40, "cites": ["e1", "e2"], "text": text})
    assert [line[:2] for line in lines] == [
        ("| Session: A title", ""),
        ("| Asked last: x", "e1"),
        ("| State: y", "e2"),
    ]


def test_briefs_that_were_told_at_once_are_told_apart() -> None:
    said = {"brief": "start", "tokens": 300, "text": f"{START}\n{RECALL}", "each": [["start", 220], ["recall", 80]]}
    assert [(part.brief, part.tokens) for part in take_apart(said)] == [("start", 220), ("recall", 80)]
    assert dict(shares(said)) == {"start": 220, "recall": 80}


def test_of_a_record_without_words_there_is_what_it_cites() -> None:
    (part,) = take_apart({"brief": "start", "tokens": 70, "cites": ["a", "b"]})
    assert (part.tokens, [line.id for line in part.lines]) == (70, ["a", "b"])


def test_a_quotation_opens_no_brief() -> None:
    text = START.replace("Goal", '<memory-keeper brief="rules">')
    assert [part.brief for part in take_apart({"brief": "start", "tokens": 9, "text": text})] == ["start"]


pieces = st.lists(st.sampled_from([*START.split("\n"), *RULES.split("\n"), "", "|", "| x", "## ", "[]"]) | st.text())
junk = st.none() | st.integers() | st.text() | st.lists(st.integers() | st.text() | st.lists(st.text() | st.integers()))


@given(pieces, st.sampled_from(["start", "rules", "recall", "warning", ""]), st.integers(0, 10_000))
def test_all_lines_together_are_the_text(rows: list[str], brief: str, total: int) -> None:
    text = "\n".join(rows)
    assume(text)
    parts = take_apart({"brief": brief, "tokens": total, "cites": ["note-1", f"{UUID}:0"], "text": text})
    assert "\n".join(line.text for part in parts for line in part.lines) == text
    assert sum(part.tokens for part in parts) == total
    assert all(sum(line.tokens for line in part.lines) == part.tokens for part in parts)


@given(st.dictionaries(st.sampled_from(["brief", "tokens", "cites", "text", "why", "each"]), junk))
def test_a_record_of_any_kind_is_read(said: dict[str, Any]) -> None:
    assert take_apart(said)
    assert len(list(shares(said))) <= max(1, len(said.get("each") or "") if isinstance(said.get("each"), list) else 1)


@pytest.mark.parametrize("remember", [True, False])
def test_a_record_has_the_words_and_what_others_read(tmp_path: Any, remember: bool) -> None:
    home = str(tmp_path)
    brief = Brief("recall", RECALL, 80, ("a", "b"), why=(["the prompt names invoice.py", 3.6], ["x", 1]))
    record_told(
        home, "s", "/p", "c1", 10.0, (brief,), on="UserPromptSubmit", keys=("k",), more={"x": 1}, remember=remember
    )
    (record,) = spool.records(spool.read(home, "s"), "Told")
    said = wire.read_object(record["extra"])
    assert (said["brief"], said["tokens"], said["cites"], said["lines"]) == ("recall", 80, ["a", "b"], ["k"])
    assert (said["text"], said["on"], said["x"]) == (RECALL, "UserPromptSubmit", 1)
    context = read_context(home, "s")
    assert context.recalled == (("k", "c1"),)
    assert (RECALL in context.told) == remember
