"""What a new user missed in the first briefs: what came of a prompt, subagents' files, their own commands."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import time

import pytest

from memory_keeper.capture import redact
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, Scope, Source
from memory_keeper.search import find
from memory_keeper.text import tokens
from tests.transcripts import Transcript

ROOT = Path(__file__).parents[2]
PROJECT = "dir:/p"


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    with Keeper(str(tmp_path / "home"), {}) as made:
        yield made


def told(keeper: Keeper, tmp_path: Path, t: Transcript, budget: int = 1500) -> str:
    keeper.catch_up([Source(str(t.write(tmp_path / f"{t.session}.jsonl")), t.session, PROJECT)])
    return keeper.brief("start", keeper.view("next", "startup", project=PROJECT), budget).text


def test_a_prompt_is_told_with_the_last_thing_said_about_it(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    t.prompt("Make the parser strict.")
    t.reply("I look at the parser first.")
    t.call("Bash", {"command": "pytest"}, "ok")
    t.reply("The parser is strict now and all tests pass.")
    t.prompt("Thanks!")
    t.reply("You're welcome!")
    text = told(keeper, tmp_path, t)
    assert "Make the parser strict.\n| → The parser is strict now and all tests pass." in text
    assert "I look at the parser first." not in text


def test_a_turn_that_broke_off_says_so(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    t.prompt("Make the parser strict.")
    t.reply("Now I run the tests.")
    t.call("Bash", {"command": "pytest"}, "2 failed", is_error=True)
    assert "→ (broke off after) Now I run the tests." in told(keeper, tmp_path, t)


def test_a_command_of_the_users_is_told_as_they_typed_it(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    t.command("ship", "the invoice export")
    t.reply("Shipped.")
    assert "/ship the invoice export\n| → Shipped." in told(keeper, tmp_path, t)


def test_what_a_subagent_changed_is_among_the_files(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    t.prompt("Have it written.")
    agent = t.subagent("a1")
    agent.call("Write", {"file_path": "/p/by_agent.py", "content": "x"}, "ok")
    agent.write(tmp_path / "s1" / "subagents" / "agent-a1.jsonl")
    told(keeper, tmp_path, t)
    assert (
        "uncommitted edits: /p/by_agent.py" in keeper.brief("handoff", keeper.view("next", "clear", of="s1"), 1500).text
    )


def test_even_a_small_budget_has_the_last_prompt(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    t.call("Read", {"file_path": "/p/a.py"}, "x")
    t.prompt("Make the parser strict.")
    assert "Make the parser strict." in told(keeper, tmp_path, t, 200)


def test_what_no_other_part_needs_goes_to_the_last_that_says_something(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    for number in range(8):
        t.prompt(f"Request {number}: " + "make the parser strict in yet another way, " * 12)
        t.reply("Done.")
    text = told(keeper, tmp_path, t)
    assert "Request 0" in text, "half of the budget would not do"
    assert tokens(text) <= 1500


def test_a_note_of_many_lines_is_cut_to_what_is_left(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    t.prompt("Make the parser strict.")
    t.reply("It is.")
    told(keeper, tmp_path, t)
    lines = "\n".join(f"{number}." for number in range(2000))
    keeper.writer.add(Note("note-1", 1e9, "session", 1, PROJECT, lines, "s0", 5000))
    for budget in (300, 800, 1500):
        text = keeper.brief("start", keeper.view("next", "startup", project=PROJECT), budget).text
        assert "| 0.\n| 1.\n" in text
        assert tokens(text) <= budget


def test_what_a_prompt_says_is_not_said_again_by_its_note(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    t.prompt("Make the parser strict, because the auditors want it.")
    t.call("Bash", {"command": "make check"}, "ok")
    t.reply("The parser is strict now.")
    told(keeper, tmp_path, t)
    (note,) = distil(keeper, time(), force=True)
    assert "Make the parser strict" in note.text
    text = keeper.brief("start", keeper.view("next", "startup", project=PROJECT), 1500).text
    assert text.count("Make the parser strict") == 1
    assert "make check" in text, "what only the note says is told"


def test_a_note_is_not_cut_while_there_is_room(keeper: Keeper, tmp_path: Path) -> None:
    """The third note is told in its first lines where others need the room, and whole where nobody does."""
    t = Transcript("s1", "/p")
    t.prompt("Look at README.md.")
    t.reply("It is fine.")
    told(keeper, tmp_path, t)
    long = "\n".join(f"Decided: number {number} stays as it is, since nobody uses it." for number in range(20))
    for number, said in enumerate([long, long, '"Look at src/a.py."', '"Look at src/b.py."']):
        note = Note(f"note-{number}", 1e9 + number, "session", 1, PROJECT, said, f"old{number}", 300)
        keeper.writer.add(note)
    view = keeper.view("next", "startup", project=PROJECT)
    free, tight = (keeper.brief("start", view, budget).text for budget in (1500, 700))
    assert free.count("number 19 stays") == 2 and free.count("Look at README.md.") == 1
    assert tight.count("number 0 stays") == 2 and tokens(tight) <= 700


def test_a_word_is_found_by_its_beginning(keeper: Keeper, tmp_path: Path) -> None:
    t = Transcript("s1", "/p")
    t.prompt("합계를 계산하는 함수를 고쳐 줘. ModuleNotFoundError came up.")
    told(keeper, tmp_path, t)
    for query in ("함수", "계산", "modulenotfound", "함수 합계"):
        assert find(keeper.store, query, Scope(PROJECT)), query


def test_a_secret_put_into_dotenv_while_a_keeper_lives_is_scrubbed(tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    value = "zq" + os.urandom(12).hex()
    with Keeper(str(tmp_path / "home"), {}) as keeper:
        for number, text in enumerate(("Nothing yet.", f"It says {value} there.")):
            t = Transcript(f"s{number}", str(project), seed=number)
            t.prompt(text)
            keeper.writer.name_project((f"dir:{project}",), f"dir:{project}")
            keeper.catch_up([Source(str(t.write(tmp_path / f"s{number}.jsonl")), t.session, f"dir:{project}")])
            (project / ".env").write_text(f"API_TOKEN={value}\n")
        assert [event.text for event in keeper.store.latest(f"dir:{project}", "prompt", 2) if value in event.text] == []
        assert redact.known_values({}, [f"API_TOKEN={value}"]) == (value,)


def test_the_model_has_a_command_to_look_things_up_with(tmp_path: Path) -> None:
    done = subprocess.run([ROOT / "bin" / "memory-keeper", "--version"], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.startswith(b"memory-keeper ")
