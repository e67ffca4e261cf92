"""What is told of a session: chosen most needed first, arranged as it is read, each line cited, within any budget."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.extract.extraction import extract
from memory_keeper.extract.facts import PARTS, Fact, dump
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Source
from memory_keeper.tell.handoff import BEHIND, QUESTIONS, arrange, by_part, choose, show
from memory_keeper.text import tokens
from memory_keeper.wire import units
from tests.extract.test_facts import FACTS
from tests.reduce.story import Story, sessions
from tests.transcripts import Transcript

NONCE = "0badf00d"
ROOM = 1_000_000
FOUND = st.lists(FACTS, max_size=14)


def lines(story: Story) -> list[str]:
    return [line.text for line in arrange(extract(story.events))]


# --- budgets ----------------------------------------------------------------------------------------------------------


@given(FOUND, st.integers(0, 600), st.integers(0, 3000), st.sampled_from(["", NONCE]))
def test_what_is_chosen_fits(found: list[Fact], budget: int, room: int, nonce: str) -> None:
    text = show(choose(found, budget, room, nonce), nonce)
    assert tokens(text) <= budget and units(text) <= room


@given(FOUND, st.integers(0, 600), st.integers(0, 600))
def test_a_smaller_choice_is_the_beginning_of_a_larger_one(found: list[Fact], one: int, two: int) -> None:
    small, large = (choose(found, budget, ROOM, NONCE) for budget in sorted((one, two)))
    behind = [fact for fact in small if fact not in large]
    assert len(behind) <= BEHIND, "only a short fact may be told in the place of a longer one that comes before it"


@given(sessions(), st.integers(0, 900))
def test_what_is_chosen_of_any_events_fits(events: list[Event], budget: int) -> None:
    text = show(choose(extract(events), budget, ROOM, NONCE), NONCE)
    assert tokens(text) <= budget


# --- lines ------------------------------------------------------------------------------------------------------------


@given(sessions())
def test_lines_come_in_the_order_of_reading_none_twice_and_cite_what_is_there(events: list[Event]) -> None:
    said = list(arrange(extract(events)))
    order = [list(PARTS).index(line.part) for line in said]
    assert order == sorted(order)
    texts = [line.text for line in said if line.part != "story"]
    assert len(texts) == len(set(texts))
    ids = {event.id for event in events}
    assert all(set(line.cites) <= ids for line in said)


def test_what_came_of_a_request_stands_behind_it() -> None:
    story = Story()
    story.prompt("Make the parser in src/parse.py strict about trailing commas.")
    story.reply("The parser refuses trailing commas now, because the grammar has no rule for them.")
    story.prompt("Now write down in docs/parser.md what the parser refuses, with an example of each.")
    story.reply("docs/parser.md has a table with every construct that the parser refuses.")
    (line,) = [line for line in lines(story) if "→" in line and "grammar" in line]
    assert line.endswith("because the grammar has no rule for them.")


def test_the_names_of_one_file_stand_together() -> None:
    found = [
        Fact("file", "src/parse.py", ("e1:0",), 1.0),
        Fact("name", "strict_mode", ("e2:0",), 1.0, about="src/parse.py"),
        Fact("name", "Lexer", ("e3:0",), 1.0, about="src/lex.py"),
    ]
    assert [line.text for line in arrange(found)] == ["src/ parse.py: strict_mode; lex.py: Lexer"]


def test_a_question_that_nobody_has_answered_is_marked() -> None:
    story = Story()
    story.prompt("Make the parser in src/parse.py strict about trailing commas.")
    story.reply("It is strict now. Shall I release it as a new major version?")
    assert any("UNCONFIRMED: Shall I release it" in line for line in lines(story))
    story.prompt("Yes, as 2.0.")
    story.reply("It is released.")
    assert not any("UNCONFIRMED" in line for line in lines(story))


def test_what_was_tried_in_vain_is_told() -> None:
    story = Story()
    story.prompt("The totals of orders with a discount are off by a cent. Find out why, and fix it.")
    story.edit("/p/shop/money.py", "ROUND_HALF_EVEN", "ROUND_HALF_UP")
    story.run("pytest -q", "E   AssertionError: 107.07 != 107.06\n1 failed", failed=True)
    story.run("git checkout -- /p/shop/money.py")
    story.reply("The rounding mode turned out not to be the cause: the total is 107.07 with ROUND_HALF_UP.")
    story.edit("/p/shop/orders.py", "round each line", "round once")
    story.reply("Fixed: `total` rounded every line; it rounds once now.")
    text = "\n".join(lines(story))
    assert "took back changes of /p/shop/money.py" in text
    assert "The rounding mode turned out not to be the cause" in text


# --- for people, and as JSON ------------------------------------------------------------------------------------------


@given(sessions())
def test_people_read_headings_and_what_was_said_is_cited(events: list[Event]) -> None:
    said = show(extract(events), "").splitlines()
    headings = [line[3:] for line in said if line.startswith("## ")]
    assert headings == [heading for heading in PARTS.values() if heading in headings]
    assert not re.search(r"^## .*\n(?:## |$)", "\n".join([*said, ""]), re.M), "no heading stands over nothing"
    cited = [line for line in said if '"' in line and not line.startswith("## ")]
    assert all(re.search(r" \[[\w:-]+\]$", line) for line in cited)


@given(FOUND)
def test_as_json_every_line_is_in_one_part_and_answers_one_question(found: list[Fact]) -> None:
    said = by_part(dump(found))
    assert [*said] == [*PARTS, *QUESTIONS]
    texts = sorted(line.text for line in arrange(found))
    assert sorted(line["text"] for name in PARTS for line in said[name]) == texts
    assert sorted(text for question in QUESTIONS for text in said[question]) == texts
    assert sorted(PARTS) == sorted(name for names in QUESTIONS.values() for name in names)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in which somebody worked."""
    folder = tmp_path / "work"
    folder.mkdir()
    t = Transcript("5e551011-0000-4000-8000-000000000001", str(folder))
    t.prompt("Please make the parser strict. From now on never touch the vendored files.")
    t.call("Edit", {"file_path": f"{folder}/parser.py", "old_string": "a", "new_string": "def strict_mode"}, "ok")
    t.call("Bash", {"command": "pytest -q"}, "E   ValueError: no such mode\n1 failed", True)
    t.todo([("Write the parser", "completed"), ("Test the parser", "in_progress"), ("Write the docs", "pending")])
    t.reply("I decided to raise early because callers swallow errors.\n\nNext steps:\n- Fix mode.\n\nShall I push it?")
    path = t.write(tmp_path / f"{t.session}.jsonl")
    with Keeper(str(tmp_path / "keeper"), {}) as keeper:
        keeper.look([Source(str(path), t.session, keeper.project(str(folder), change=True))])
    return folder


def run(project: Path, *words: str) -> str:
    command = [str(Path(__file__).parents[2] / "memory-keeper"), *words]
    return subprocess.run(command, capture_output=True, cwd=project, check=True, text=True).stdout


@pytest.mark.parametrize("words", [["handoff"], ["brief", "handoff"]])
def test_the_json_form_has_all_parts_and_the_four_questions(project: Path, words: list[str]) -> None:
    said = json.loads(run(project, *words, "--json"))
    assert {*PARTS, *QUESTIONS} <= set(said)
    part = {name: " ".join(line["text"] for line in said[name]) for name in PARTS}
    assert "make the parser strict" in part["goal"] and "never touch the vendored files" in part["rules"]
    assert "Test the parser (in progress)" in part["next"] and "Write the docs (open)" in part["next"]
    assert "Fix mode." in part["next"] and "UNCONFIRMED: Shall I push it?" in part["next"]
    assert "no such mode" in part["state"] and "uncommitted edits: parser.py" in part["state"]
    assert "raise early" in part["story"] + part["last"]
    assert any("make the parser strict" in line for line in said["WHY"])
    assert any("Fix mode." in line for line in said["CONTINUE_BY"])


def test_what_people_read_is_what_the_file_says(project: Path) -> None:
    printed = run(project, "handoff")
    (page,) = (project / ".claude/memory/handoffs").glob("HANDOFF-*.md")
    text = page.read_text()
    assert text.startswith("---\nsession: 5e551011-")
    assert printed.partition("\n\nKept as ")[0] in text
    assert "\n## Goal\n- " in text and "\n## Next\n- " in text
