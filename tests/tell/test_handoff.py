"""What is told of a session: chosen most needed first, arranged as it is read, each line cited, within any budget."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from memory_keeper.reduce.notes.digest import ordered
from memory_keeper.reduce.sentences import WENT_ON, Sentence
from memory_keeper.tell.lines import dump, load

from memory_keeper import wire
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Note, Source
from memory_keeper.tell import short
from memory_keeper.tell.handoff import (
    BEHIND,
    LISTED,
    PARTS,
    SKELETON,
    arrange,
    by_part,
    choose,
    gather,
    told,
)
from memory_keeper.text import tokens
from memory_keeper.wire import units
from tests.reduce.story import Story, sessions
from tests.transcripts import Transcript

NONCE = "0badf00d"
ROOM = 1_000_000
WORDS = st.sampled_from(("parser", "lexer", "it's", "“so”", "src/a.py", "한글", "keep_it", "12", "e.g.", "→"))
PHRASES = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
IDS = st.integers(0, 30).map("e{}:0".format)


def quote(text: str) -> str:
    return f"“{text}”" if '"' in text else f'"{text}"'


@st.composite
def lines(draw: st.DrawFn) -> list[Sentence]:
    """Lines as a digest makes them: requests with what came of them, lists, files with names, and plain ones."""
    made: list[Sentence] = []
    for number in range(draw(st.integers(1, 14))):
        kind, cite, text = draw(st.sampled_from(KINDS)), draw(IDS), f"{draw(PHRASES)} {number}"
        if kind == "request":
            things = [f"{draw(PHRASES)} {number}.{place}" for place in range(draw(st.integers(1, 3)))]
            ids = tuple(draw(IDS) for _ in things)
            made.append(Sentence("Asked before: " + "; ".join(map(quote, things)), ids, "; ", 14, "request", ids))
        elif kind == "name":
            made.append(Sentence(f"Changed: src/{number % 3}.py: name_{number}", (cite,), "; ", 9, "name", (cite,)))
        elif kind == "ref":
            made.append(Sentence(f"References: #{number} #{number}{number}", (cite,), " ", 12, "ref"))
        elif kind == "came":
            made.append(Sentence(f"→ {quote(text)}", (cite, "e99:0"), section="came"))
        elif kind == "more":
            made.append(Sentence(WENT_ON + quote(text), (cite,), section="request"))
        else:
            made.append(Sentence(f"{kind.title()}: {quote(text)}", (cite,), section=kind))
    return made


KINDS = ("goal", "asked", "last", "rule", "request", "request", "name", "name", "ref", "came", "more", "error", "odd")


def shown(chosen: Sequence[Sentence], nonce: str = NONCE) -> list[str]:
    return "".join(arrange(chosen, nonce)).splitlines()


# --- budgets ----------------------------------------------------------------------------------------------------------


@given(lines(), st.integers(0, 600), st.integers(0, 600))
def test_a_smaller_choice_is_the_beginning_of_a_larger_one(found: list[Sentence], one: int, two: int) -> None:
    small, large = sorted((one, two))
    few, many = choose(found, small, ROOM, NONCE), choose(found, large, ROOM, NONCE)
    same = next((place for place, line in enumerate(few) if line != found[place]), len(few))
    assert few[:same] == many[:same] == found[:same]
    behind = found[
        same + 1 : same + 1 + BEHIND
    ]  # of the first that does not fit, a list may be begun; and a few behind it
    assert all(line in behind or found[same].text.startswith(line.text) for line in few[same:])


@given(lines(), st.integers(0, 600), st.integers(0, 3000), st.sampled_from((NONCE, "")))
def test_what_is_chosen_fits(found: list[Sentence], budget: int, room: int, nonce: str) -> None:
    text = "".join(arrange(choose(found, budget, room, nonce), nonce))
    assert tokens(text) <= budget and units(text) <= room


@given(sessions(), st.integers(0, 1500), st.sampled_from((NONCE, "")))
def test_what_is_chosen_of_any_events_fits(events: list[Event], budget: int, nonce: str) -> None:
    text = "".join(arrange(choose(list(ordered(events)), budget, ROOM, nonce), nonce))
    assert tokens(text) <= budget


# --- lines ------------------------------------------------------------------------------------------------------------


@given(lines())
def test_no_line_is_told_twice_and_each_has_a_cite_that_is_there(found: list[Sentence]) -> None:
    said = shown(found)
    assert len(said) == len(set(said))
    known = {short(cite) for line in found for cite in line.cites}
    for line in said:
        assert line.startswith("| ")
        (cite,) = re.findall(r" \[(\w+)\]$", line)
        assert cite in known


@given(lines())
def test_no_word_is_cut_and_every_quote_ends(found: list[Sentence]) -> None:
    words = {word.strip('"“”;') for line in found for word in line.text.split()}
    for line in shown(found):
        text = re.sub(r" \[\w+\]$", "", line[2:])
        assert text.count('"') % 2 == 0 and text.count("“") == text.count("”")
        assert {word.strip('"“”;:') for word in text.split()} <= words | {word.strip(":") for word in words} | {""}


@given(sessions())
@example(Story().events)
def test_of_any_events_no_line_is_told_twice_and_each_cites_one_of_them(events: list[Event]) -> None:
    said = shown(list(ordered(events)))
    assert len(said) == len(set(said))
    known = {short(event.id) for event in events}
    for line in said:
        assert line.startswith("| ")
        found = re.findall(r" \[(\w+)\]$", line)
        assert found and found[0] in known


@given(lines())
def test_nothing_that_was_found_is_lost(found: list[Sentence]) -> None:
    """But for what came of a request that is not told."""
    text = "\n".join(shown(found))
    for line in found:
        if line.section not in ("came", "name") and not line.text.startswith(WENT_ON):
            for word in line.text[line.least :].split():
                assert word.strip('"“”;') in text


@given(lines())
def test_lines_come_in_the_order_of_reading(found: list[Sentence]) -> None:
    places = [[name for name, _, tags in PARTS if line.section in tags] or ["references"] for line in told(found)]
    order = [name for name, _, _ in PARTS]
    numbers = [order.index(place[0]) for place in places]
    assert numbers == sorted(numbers)


# --- lines that say more of the same ----------------------------------------------------------------------------------


def test_a_request_that_went_on_is_one() -> None:
    goal = Sentence('Goal: "Make the parser strict and…"', ("e1:0",), section="goal")
    more = Sentence(f'{WENT_ON}"then the lexer, too."', ("e1:0",), section="request")
    (one,) = gather([goal, more])
    assert one.text == 'Goal: "Make the parser strict and then the lexer, too."'


def test_a_request_among_others_that_went_on_is_one() -> None:
    asked = Sentence('Asked before: "One."; "Two and…"; "Three."', ("e1:0", "e2:0", "e3:0"), "; ", 14, "request")
    asked = asked._replace(each=asked.cites)
    more = Sentence(f'{WENT_ON}"a “half” more."', ("e2:0",), section="request")
    (one,) = gather([asked, more])
    assert one.text == 'Asked before: "One."; "Two and a “half” more."; "Three."'


def test_a_request_with_quotes_that_went_on_has_marks_that_differ() -> None:
    goal = Sentence('Goal: “Say "hi" and…”', ("e1:0",), section="goal")
    (one,) = gather([goal, Sentence(f'{WENT_ON}"go."', ("e1:0",), section="request")])
    assert one.text == 'Goal: “Say "hi" and go.”'


def test_what_went_on_of_a_request_that_is_not_told_stands_alone() -> None:
    more = Sentence(f'{WENT_ON}"then the lexer."', ("e1:0",), section="request")
    assert gather([more]) == [more]


def test_what_came_of_a_request_stands_behind_it() -> None:
    asked = Sentence('Asked before: "One."; "Two."', ("e1:0", "e2:0"), "; ", 14, "request", ("e1:0", "e2:0"))
    came = [Sentence(f'→ "Did {name}."', (f"e{name}:0", "e9:0"), section="came") for name in (2, 1, 7)]
    (one,) = gather([*came, asked])
    assert one.text == 'Asked before: "One." → "Did 1."; "Two." → "Did 2."'


def test_the_names_of_one_file_stand_together() -> None:
    names = [
        Sentence(
            "Changed: src/parser.py: parse; src/lexer.py: lex", ("e1:0", "e2:0"), "; ", 9, "name", ("e1:0", "e2:0")
        ),
        Sentence("Changed: parser.py: Token", ("e3:0",), "; ", 9, "name", ("e3:0",)),
        Sentence("Read: docs/a.md", ("e4:0",), "; ", 6, "name", ("e4:0",)),
    ]
    one, two = gather(names)
    assert one.text == "Changed: src/parser.py: parse Token; src/lexer.py: lex"
    assert one.each == ("e1:0", "e2:0")
    assert two.text == "Read: docs/a.md"


def test_a_long_list_is_several_lines_with_its_head() -> None:
    files = [f"src/module_{number}.py: made_{number}" for number in range(120)]
    ids = tuple(f"e{number}:0" for number in range(120))
    parts = gather([Sentence("Changed: " + "; ".join(files), ids, "; ", 9, "name", ids)])
    assert len(parts) > 1
    assert [thing for part in parts for thing in part.text[9:].split("; ")] == files
    for part in parts:
        assert part.text.startswith("Changed: ") and len(part.text) <= LISTED + 100
        assert len(part.each) == part.text.count("; ") + 1


# --- as it is kept ----------------------------------------------------------------------------------------------------


def note(extra: str) -> Note:
    return Note("handoff-1", 1.0, "handoff", 0, "p", "text", "s", 1, extra)


@given(lines())
def test_what_was_kept_is_read_as_it_was(found: list[Sentence]) -> None:
    assert load(note(wire.dumps({"lines": dump(found)}))) == found


GOOD = ["goal", 'Goal: "x"', ["e1:0"], "", 0, []]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
@example([[*GOOD[:5]]])
@example([[*GOOD, 1]])
@example([["came", "→ x", [], "", 0, []], GOOD])
@example([["request", WENT_ON + '"x"', [], "", 0, []], GOOD])
@example([["goal", "x", [None], "", 0, []]])
@example([["goal", "x", [["e"]], "", "9", [3]]])
@example([["name", "x; y", [], "; ", -5, []]])
@example([["name", "x; y", [], "; ", 10**9, ["", ""]]])
@example([["came", None, ["e1:0"], None, True, []], GOOD, GOOD])
def test_damage_is_no_error(kept: object) -> None:
    for extra in (json.dumps({"lines": kept}), json.dumps(kept), json.dumps({"lines": kept})[:-3]):
        found = load(note(extra))
        for nonce in (NONCE, ""):
            text = "".join(arrange(choose(found, 500, 3000, nonce), nonce))
            assert all(line.startswith(("| ", "- ", "## ", "  ")) for line in text.splitlines())


def test_lines_of_which_one_cannot_be_read_are_none() -> None:
    assert load(note(json.dumps({"lines": [GOOD]})))
    damaged: tuple[object, ...] = (
        GOOD[:5], [*GOOD, 1], {}, None, "x", ["goal", 1, ["e1:0"], "", 0, []], ["goal", "x", [1], "", 0, []],
        ["goal", "x", ["e1:0"], "", True, []],
    )  # fmt: skip
    for bad in damaged:
        assert load(note(json.dumps({"lines": [GOOD, bad]}))) == []


# --- for people, and as JSON ------------------------------------------------------------------------------------------


@given(lines())
def test_people_read_headings_and_each_item_has_its_own_cite(found: list[Sentence]) -> None:
    said = shown(found, "")
    headings = [line[3:] for line in said if line.startswith("## ")]
    assert len(headings) == len(set(headings))
    assert headings == [heading for _, heading, _ in PARTS if heading in headings]
    if said:
        assert said[0].startswith("## ")
    for line, after in zip(said, [*said[1:], "## end"], strict=False):
        if line.startswith("## "):
            assert after.startswith("- "), "no heading stands over nothing"
        else:
            assert line.startswith("- ") and len(re.findall(r" \[\w+\](?=$)", line)) == 1


@given(lines())
def test_as_json_every_line_is_in_one_part_and_answers_one_question(found: list[Sentence]) -> None:
    said = by_part(dump(found))
    parts = [name for name, _, _ in PARTS]
    assert [*said] == [*parts, *SKELETON]
    assert [line["text"] for name in parts for line in said[name]] == [line.text for line in told(found)]
    assert sorted(parts) == sorted(name for names in SKELETON.values() for name in names)
    assert sorted(text for question in SKELETON for text in said[question]) == sorted(line.text for line in told(found))


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
    assert {name for name, _, _ in PARTS} | set(SKELETON) <= set(said)
    one = {name: " ".join(line["text"] for line in said[name]) for name, _, _ in PARTS}
    assert "make the parser strict" in one["goal"]
    assert "Test the parser" in one["now"] and "Write the docs" in one["next"] and "Fix mode." in one["next"]
    assert "Shall I push it?" in one["unconfirmed"] and "never touch the vendored files" in one["rules"]
    assert "raise early" in one["decided"] and "parser.py" in one["files"] + one["where"]
    assert "no such mode" in one["errors"]
    for name, _, _ in PARTS:
        assert all(line["cites"] for line in said[name])
    assert any("make the parser strict" in line for line in said["WHY"])
    assert any("no such mode" in line for line in said["HOW"])
    assert any("Fix mode." in line for line in said["CONTINUE_BY"])
    assert said["WHAT"]


def test_what_people_read_is_what_the_file_says(project: Path) -> None:
    printed = run(project, "handoff")
    (page,) = (project / ".claude/memory/handoffs").glob("HANDOFF-*.md")
    text = page.read_text()
    assert text.startswith("---\nsession: 5e551011-")
    assert printed.partition("\n\nKept as ")[0] in text
    assert "\n## Goal\n- " in text and "\n## Nobody has answered yet\n- " in text
    assert "Goal: " not in text, "its heading says it"
