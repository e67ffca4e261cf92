"""What a compaction of ours has the host write again is kept once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory_keeper.capture.repeated import KEPT, OPENING
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Source
from memory_keeper.store.events import session_events
from tests.transcripts import Transcript

PROJECT = "dir:/p"


def work() -> Transcript:
    t = Transcript("s1", "/p")
    t.prompt("Build the parser.")
    t.call("Bash", {"command": "make"}, "made")
    t.reply("The parser is built.")
    return t


def compact(t: Transcript, *stays: dict[str, Any]) -> None:
    """The host compacts, and writes our line and what stays behind its own."""
    boundary, _ = t.compact("")
    t.lines.pop()
    t._parent = boundary["uuid"]
    lines = [t._user(f"{OPENING} (9 tokens before)")]
    for row in stays:
        lines.append(t._row(row["type"], {"message": row["message"]}, {}))
    for line in lines:
        line["timestamp"] = boundary["timestamp"]


def events(t: Transcript, folder: Path, pieces: int = 1) -> list[Event]:
    """What is kept of a transcript that was read in so many pieces, each by another process, with others between."""
    path, other, beside = folder / t.name, folder / "s2.jsonl", Transcript("s2", "/p")
    lines = t.raw().splitlines(keepends=True)
    size = -(-len(lines) // pieces)
    for number, begin in enumerate(range(0, len(lines), size)):
        with path.open("ab") as file:
            file.writelines(lines[begin : begin + size])
        beside.prompt(f"And {number}.")
        beside.append_to(other)
        with Keeper(str(folder / "home"), {}) as keeper:
            keeper.catch_up([Source(str(path), t.session, PROJECT), Source(str(other), "s2", PROJECT)])
    with Keeper(str(folder / "home"), {}) as keeper:
        return [
            event for event in session_events(keeper.store, t.session) if event.kind != "other" or event.tool == KEPT
        ]


@pytest.mark.parametrize("pieces", [1, 2, 3, 5, 100])
def test_what_stays_is_kept_once(tmp_path: Path, pieces: int) -> None:
    t = work()
    compact(t, *t.lines[:4])
    t.at += 60
    t.prompt("Now the lexer.")
    t.reply("The lexer is built.")
    found = events(t, tmp_path, pieces)
    assert [event.text for event in found if event.kind == "prompt"] == ["Build the parser.", "Now the lexer."]
    assert [event.text for event in found if event.kind == "reply"] == ["The parser is built.", "The lexer is built."]
    assert [event.kind for event in found].count("call") == 1 == [event.kind for event in found].count("result")
    assert [(event.tool, event.text) for event in found if event.kind == "other"] == [(KEPT, "")] * 5


def test_a_compaction_of_the_hosts_own_is_as_it_was(tmp_path: Path) -> None:
    t = work()
    t.compact("What happened.")
    t.prompt("Now the lexer.")
    found = events(t, tmp_path)
    assert [event.kind for event in found][-3:] == ["compact", "summary", "prompt"]


def test_who_types_the_same_words_is_heard(tmp_path: Path) -> None:
    t = work()
    t.prompt(f"{OPENING}, it says. Why?")
    assert events(t, tmp_path)[-1].kind == "prompt"


def test_what_comes_after_it_is_heard_though_it_follows_without_a_gap(tmp_path: Path) -> None:
    t = work()
    compact(t)
    t.at += 60
    t.prompt("Build the parser.")
    found = events(t, tmp_path)
    assert [event.text for event in found if event.kind == "prompt"] == ["Build the parser."] * 2
