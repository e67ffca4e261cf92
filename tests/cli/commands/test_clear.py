"""`save`, `clear`, `load --memory`, `status` and `show`: the memory by hand, and nothing of it ever lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.keeper import Keeper
from memory_keeper.model import Event
from tests.command import run
from tests.machine import Machine, Session

Said = pytest.CaptureFixture[str]


@pytest.fixture
def session(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session that has done something, and goes on."""
    monkeypatch.chdir(machine.project)
    made = machine.session()
    made.start()
    made.prompt("Use SQLite for the invoice store, because one file is enough.")
    made.call("Edit", {"file_path": str(machine.project / "store.py"), "old_string": "a", "new_string": "b"})
    made.reply("The invoice store uses SQLite now.")
    machine.settle()
    machine.catch_up()
    return made


def memory(machine: Machine) -> Path:
    return machine.project / ".claude/memory/memory.md"


def test_saving_writes_notes_handoff_and_memory(machine: Machine, session: Session, asked: Any) -> None:
    saved = asked("save")
    assert saved["session"] == session.id
    assert Path(saved["path"]) == session.handoff
    assert len(saved["notes"]) == 1
    assert str(memory(machine)) in saved["files"]
    assert "SQLite" in memory(machine).read_text()
    assert asked("save")["notes"] == [], "there is nothing new"


def test_what_was_saved_says_so(session: Session, capsys: Said) -> None:
    assert run("save") == 0
    said = capsys.readouterr().out
    assert "1 note written" in said and "memory.md" in said and "Saved session" in said


def test_another_s_memory_is_taken_over_only_when_asked(machine: Machine, session: Session, asked: Any) -> None:
    memory(machine).parent.mkdir(parents=True, exist_ok=True)
    memory(machine).write_text("## 2025-01-02_0304 (local 01-02_0304)\nThe old memory: beware of the lexer.\n")
    os.utime(memory(machine), (1e9, 1e9))  # nobody is writing it just now
    assert asked("save")["left"] == [str(memory(machine))]
    assert memory(machine).read_text().startswith("## 2025-01-02_0304")
    assert asked("save", "--adopt")["left"] == []
    assert "beware of the lexer" in memory(machine).read_text()
    assert "SQLite" in memory(machine).read_text()
    assert "beware of the lexer" in asked("load", "--memory")["text"]


def test_loading_the_memory(session: Session, asked: Any) -> None:
    before = asked("load", "--memory")
    assert "## Not in a note yet" in before["text"], "it is told before there is any note"
    assert "because one file is enough" in before["text"]
    (note,) = asked("save")["notes"]
    after = asked("load", "--memory")
    assert note in after["cites"]
    assert "Not in a note yet" not in after["text"]
    assert after["tokens"] <= 23_750
    assert asked("brief", "memory")["cites"] == after["cites"]
    small = asked("load", "--memory", "--budget", "180")
    assert small["tokens"] <= 180
    assert asked("load")["name"] == "handoff"


def test_a_long_memory_is_not_cut_where_hooks_are(session: Session, asked: Any) -> None:
    for number in range(40):
        asked("note", "add", "fact", f"Fact {number}: " + "quite a long one " * 40)
    assert len(asked("load", "--memory")["text"]) > 10_000


def test_clearing_asks_first(session: Session, asked: Any, capsys: Said) -> None:
    asked("save")
    plan = asked("clear", "--dry-run")["would_archive"]
    assert (plan["notes"], plan["unnoted_sessions"]) == (1, 0)
    assert run("clear") == 1
    out, err = capsys.readouterr()
    assert "1 note (" in out and "Nothing is deleted" in out
    assert "--yes" in err


def test_clearing_archives_and_loses_nothing(machine: Machine, session: Session, asked: Any) -> None:
    asked("note", "set", "project", "An invoice parser.")
    (first,) = asked("save")["notes"]
    session.turn("Also export PDFs.", "PDF export is in.")
    machine.settle()
    cleared = asked("clear", "--yes")
    (outline,) = cleared["outlines"]
    shown = asked("show", outline, "--children")
    assert first in shown["children"]
    assert shown["covers"] == 2, "what had no note yet got one"
    sections = [line for line in memory(machine).read_text().splitlines() if line.startswith("## ")]
    assert sections == ["## Before that"], "only the outline is left of it there"
    archives = list(memory(machine).parent.glob("memory_*.md"))
    assert "SQLite" in "".join(path.read_text() for path in archives)
    assert "SQLite" in asked("show", first)["text"]
    assert asked("search", "SQLite"), "what was said is found"
    assert first in [hit["id"] for hit in asked("search", "SQLite", "--kind", "session")], "and the note itself"
    told = asked("load", "--memory")["text"]
    assert "An invoice parser." in told, "standing notes stay"
    assert "Before that, in outline" in told
    assert asked("clear", "--yes") == {"outlines": [], "files": []}, "clearing twice is clearing once"
    assert asked("clear", "--dry-run")["would_archive"]["notes"] == 0


def test_a_memory_that_is_empty_already_is_no_failure(session: Session, capsys: Said) -> None:
    assert run("clear", "--yes") == 0
    capsys.readouterr()
    for argv in (["--yes"], ["--dry-run"], []):
        assert run("clear", *argv) == 0, argv
        assert "empty already" in capsys.readouterr().out


def test_what_the_status_says(session: Session, asked: Any, capsys: Said, machine: Machine) -> None:
    before = asked("status")
    assert (before["pending_sessions"], before["notes"].get("1", 0)) == (1, 0)
    run("status")
    assert "without a note the end of 1 session (1 tool call), too short for one yet" in capsys.readouterr().out
    asked("note", "set", "project", "An invoice parser.")
    asked("note", "set", "project", "A parser of invoices.")
    (note,) = asked("save")["notes"]
    with Keeper(str(machine.home)) as keeper:
        project = keeper.project(str(machine.project))
        for number, said in enumerate(({"tokens_in": 999}, {"tokens_in": 1000, "tokens_out": 50, "cost": 0.5})):
            event = Event(f"spent-a:{number}", 1.0, "spent", "", project, "", ref=note, extra=json.dumps(said))
            assert keeper.writer.mark(event)
    after = asked("status")
    assert after["notes"]["1"] == 1
    assert after["standing_notes"] == 1
    assert after["pending_sessions"] == 0
    assert after["spent"] == {"asked": 1, "tokens": 1050, "cost": 0.5}
    run("status")
    said = capsys.readouterr().out
    assert "1 at level 1, 1 standing" in said
    assert "asked 1 time for better wordings: 1,050 tokens, $0.50" in said
    assert "without a note" not in said


def test_a_note_is_shown_with_its_wordings_and_what_it_rests_on(session: Session, asked: Any, capsys: Said) -> None:
    (note,) = asked("save")["notes"]
    mine = asked("note", "set", note, "In my own words.")["id"]
    shown = asked("show", note)
    assert [(one["by"], one["in_force"]) for one in shown["wordings"]] == [("extractive", False), ("the user", True)]
    assert "SQLite" in shown["text"]
    assert asked("show", mine)["text"] == "In my own words."
    capsys.readouterr()
    assert run("show", note, "--children") == 0
    said = capsys.readouterr().out
    for needle in ("wordings", "the user, in force  In my own words.", "covers ", "Use SQLite for"):
        assert needle in said, needle
    first = asked("show", note, "--children")["children"][1]
    assert first[:8] in said
    with Keeper(os.environ["MEMORY_KEEPER_HOME"]) as keeper:
        found = keeper.store.note(note)
        assert found
        extra = '{"by":"openai","model":"m","tokens_in":1200,"tokens_out":34,"cost":0.02}'
        keeper.writer.add(found._replace(id="note-m", text="By a model.", replaces=note, extra=extra))
    assert run("show", "note-m") == 0
    said = capsys.readouterr().out
    for needle in ("by: openai", "model: m", "tokens_in: 1200", "tokens_out: 34", "cost: 0.02"):
        assert needle in said, needle
    assert run("show", note, "--children", "--page", "9") == 1
    assert "no page 9" in capsys.readouterr().err


def test_without_anything_kept(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine.project)
    for argv in (["clear", "--dry-run"], ["clear", "--yes"], ["save"], ["load", "--memory"]):
        assert run(*argv) == 3, argv


# --- a purge ----------------------------------------------------------------------------------------------------------


def test_a_purge_takes_its_pages_and_leaves_a_person_s_own_words(
    machine: Machine, session: Session, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked("save")
    page = memory(machine)
    page.write_text(page.read_text() + "\n## Mine\n\nBeware of the lexer.\n")
    os.utime(page, (1e9, 1e9))  # nobody is writing it just now
    asked("save")
    assert "Beware of the lexer." in page.read_text() and session.handoff.exists()
    would = asked("uninstall", "--purge", "--dry-run")
    assert str(page) in would["pages_left"] and str(page) not in would["would_remove"]
    assert str(session.handoff) in would["would_remove"]
    assert asked("uninstall", "--purge", "--yes")["pages_left"] == would["pages_left"]
    assert "Beware of the lexer." in page.read_text() and not session.handoff.exists()


def test_a_purge_leaves_the_pages_of_another_home(
    machine: Machine, session: Session, asked: Any, tmp_path: Path
) -> None:
    asked("save")
    pages = {path: path.read_bytes() for path in memory(machine).parent.rglob("*.md")}
    other = str(tmp_path / "other")
    asked("note", "set", "project", "An invoice store.", "--home", other)
    asked("uninstall", "--purge", "--yes", "--home", other)
    assert {path: path.read_bytes() for path in pages} == pages
