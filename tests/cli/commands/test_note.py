"""`note`: what the user writes down to stay; nothing that was ever written is lost."""

from __future__ import annotations

import io
import json
import os
import pty
import stat
import subprocess
import sys
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.cli.commands.note import LONGEST
from memory_keeper.host.registration import OURS
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from tests.command import run as run_command

Said = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]


def run(*argv: str) -> int:
    return run_command("note", *argv)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def asked(asked: Any) -> Any:
    """What `note ARGS --json` answers."""
    return partial(asked, "note")


def test_the_first_one_needs_nothing_to_be_there(asked: Any) -> None:
    made = asked("set", "project", "A parser for invoices.")
    assert made["changed"] is True
    assert asked("get", "project")["text"] == "A parser for invoices."
    assert [note["kind"] for note in asked("list")] == ["project"]


def test_another_wording_takes_its_place_and_the_old_one_stays(asked: Any) -> None:
    first = asked("set", "conventions", "Two blanks.")
    second = asked("set", "conventions", "Four blanks.")
    assert second["replaces"] == first["id"]
    third = asked("set", "conventions", "Tabs.")
    assert third["replaces"] == first["id"], "always of the first"
    assert [note["text"] for note in asked("list")] == ["Tabs."]
    wordings = asked("get", "conventions", "--all")["wordings"]
    assert [one["text"] for one in wordings] == ["Two blanks.", "Four blanks.", "Tabs."]


def test_the_same_again_changes_nothing(asked: Any) -> None:
    first = asked("set", "project", "A parser.")
    again = asked("set", "project", "  A parser.\n")
    assert (again["id"], again["changed"]) == (first["id"], False)


def test_there_may_be_many_decisions(asked: Any, capsys: Said) -> None:
    one = asked("add", "decision", "SQLite, because one file is enough.")
    two = asked("add", "decision", "No daemon.")
    assert {note["id"] for note in asked("get", "decision")} == {one["id"], two["id"]}
    assert run("set", "decision", "Which?") == 1
    assert "may have many" in capsys.readouterr().err
    changed = asked("set", two["id"], "No daemon, ever.")
    assert changed["replaces"] == two["id"]
    assert sorted(note["text"] for note in asked("list", "--kind", "decision")) == [
        "No daemon, ever.",
        "SQLite, because one file is enough.",
    ]


def test_adding_to_one_that_there_is_once_adds_a_line(asked: Any) -> None:
    asked("set", "conventions", "Tests first.")
    asked("add", "conventions", "Short names.")
    assert asked("get", "conventions")["text"] == "Tests first.\nShort names."


def test_the_text_comes_from_a_file_or_from_stdin(asked: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "about.md").write_text("# About\n\nInvoices.\n")
    assert asked("set", "project", "--file", "about.md")["text"] == "# About\n\nInvoices."
    for data in (b"\x00\x01\xff\xfe", b"a\0b", "Käse".encode("latin-1"), "é".encode("utf-16")):
        (project / "b.md").write_bytes(data)
        assert run("set", "project", "--file", "b.md") == 1
    assert asked("get", "project")["text"] == "# About\n\nInvoices."
    monkeypatch.setattr("sys.stdin", io.StringIO("From a pipe.\n"))
    assert asked("set", "project")["text"] == "From a pipe."


@pytest.mark.parametrize("text", ["", "  \n\t ", "\x1b[2J\u200b"])
def test_an_empty_text_is_refused(asked: Any, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked("set", "project", "Stays.")
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert run("set", "project") == 1
    assert asked("get", "project")["text"] == "Stays."


def test_a_text_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    for size in (LONGEST + 1, LONGEST * 10):
        monkeypatch.setattr("sys.stdin", io.StringIO("x" * size))
        assert run("set", "project") == 1
        assert "at most 20,000 characters" in capsys.readouterr().err


def test_an_unknown_kind_names_the_kinds(capsys: Said) -> None:
    for verb in ("set", "get", "add", "rm"):
        assert run(verb, "rules", *(["x"] if verb in ("set", "add") else [])) == 1
        err = capsys.readouterr().err
        assert "rules" in err and "project, architecture, conventions, decision, issue, fact" in err


def test_wrong_usage(capsys: Said) -> None:
    for argv in (["set"], ["list", "project"], ["get", "project", "x"], ["set", "project", "x", "--file", "y"]):
        assert run(*argv) == 2, argv


def test_secrets_are_left_out_and_controls_too(asked: Any, project: Path) -> None:
    key = "sk-ant-" + "api03-" + "aZ9" * 20
    (project / ".env").write_text("DB_PASSWORD=hunter2hunter2\n")
    made = asked("set", "project", f"Key {key}, password hunter2hunter2,\x1b[31m red \ud800 \x00.")
    assert made["redacted"] is True
    for gone in (key, "hunter2", "\x1b", "\x00", "\ud800"):
        assert gone not in made["text"]


def test_taking_one_away_asks_and_keeps_what_it_said(asked: Any, capsys: Said) -> None:
    first = asked("set", "project", "A parser.")
    assert run("rm", "project") == 1, "nobody is there to say yes"
    assert asked("rm", "project", "--dry-run")["would_remove"]["id"] == first["id"]
    assert asked("get", "project")["text"] == "A parser."
    assert asked("rm", "project", "--yes") == {"id": first["id"], "kind": "project", "removed": True}
    assert asked("list") == []
    capsys.readouterr()
    assert run("get", "project") == 1
    assert "--all" in capsys.readouterr().err
    assert [one["text"] for one in asked("get", "project", "--all")["wordings"]] == ["A parser.", ""]
    back = asked("set", "project", "A parser again.")
    assert back["replaces"] == first["id"]
    assert asked("get", "project")["text"] == "A parser again."


def test_an_id_may_be_shortened(asked: Any) -> None:
    made = asked("add", "fact", "Port 7311.")
    assert asked("get", made["id"][5:11])["text"] == "Port 7311."


def test_projects_do_not_see_each_other(asked: Any, tmp_path: Path) -> None:
    asked("set", "project", "A parser.")
    other = tmp_path / "other"
    other.mkdir()
    assert asked("list", "--project", str(other)) == []


@pytest.mark.parametrize("argv", [["get"], ["set", "B"], ["add", "B"], ["rm", "--yes"]])
def test_a_note_of_another_project_is_not_found_by_its_id(
    asked: Any, tmp_path: Path, project: Path, argv: list[str], capsys: Said
) -> None:
    asked("set", "project", "A.")
    other = tmp_path / "other"
    other.mkdir()
    theirs = asked("set", "project", "Theirs.", "--project", str(other))["id"]
    page = project / ".claude/memory/project.md"
    before = page.read_text()
    verb, *rest = argv
    for id in (theirs, theirs[5:11]):
        assert run(verb, id, *rest) == 1
        assert "no note" in capsys.readouterr().err
    assert page.read_text() == before
    assert asked("get", "project", "--project", str(other))["text"] == "Theirs."


def test_what_is_added_to_markdown_stays_markdown(asked: Any, project: Path) -> None:
    asked("set", "project", "x")
    with Keeper(os.environ["MEMORY_KEEPER_HOME"]) as keeper:
        name = keeper.project(str(project))
        keeper.writer.add(Note("note-1", 1000.0, "session", 1, name, "By rule.", "s1", 3, '{"by":"extractive"}'))
    page = project / ".claude/memory/memory.md"
    asked("set", "project", "y")
    page.write_text(page.read_text().replace("- By rule.", "### Mine\nA paragraph."))
    os.utime(page, (1e9, 1e9))
    asked("set", "project", "z")
    asked("add", "note-1", "And more.")
    assert "\n### Mine\nA paragraph.\nAnd more.\n" in page.read_text()


def test_a_page_that_cannot_be_written_costs_only_the_page(project: Path, capsys: Said) -> None:
    (project / ".claude").write_text("a file")
    assert run("set", "project", "A parser.") == 0
    said = capsys.readouterr()
    assert "Kept: note-" in said.out
    assert f"{project}/.claude/memory cannot be opened" in said.err


def test_a_note_of_a_session_gets_the_user_s_words(asked: Any) -> None:
    asked("set", "project", "x")
    home = os.environ["MEMORY_KEEPER_HOME"]
    with Keeper(home) as keeper:
        project = keeper.project(str(Path.cwd()))
        extra = '{"by":"extractive","first":900.0,"cites":[["e1"]]}'
        keeper.writer.add(Note("note-1", 1000.0, "session", 1, project, "By rule.", "s1", 3, extra))
        made = asked("set", "note-1", "In my own words.")
        said = keeper.store.wording("note-1")
        assert said and (said.id, said.text, said.who, said.session) == (made["id"], "In my own words.", "user", "s1")
        assert json.loads(said.extra)["first"] == 900.0
        keeper.writer.add(Note("handoff-1", 1000.0, "handoff", 0, project, "x", "s1", 3))
    assert run("set", "handoff-1", "Mine.") == 1, "a handoff is nobody's to word"


def edit(project: Path, script: str, *argv: str) -> tuple[int, str]:
    """`note edit` at a terminal, with an editor that does this to the file."""
    editor = project.parent / "my editor.py"
    editor.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[-1])\n{script}\n")
    master, slave = pty.openpty()
    environ = {**os.environ, "VISUAL": f'"{sys.executable}" "{editor}"'}
    done = subprocess.Popen(
        [str(ROOT / "memory-keeper"), "note", "edit", *argv],
        **dict.fromkeys(("stdin", "stdout", "stderr"), slave),  # type: ignore[call-overload]
        env=environ,
        cwd=project,
    )
    os.close(slave)
    said = b""
    while True:
        try:
            said += os.read(master, 4096)
        except OSError:
            break
    os.close(master)
    return int(done.wait()), said.decode()


def test_editing_at_a_terminal(asked: Any, project: Path) -> None:
    code, _ = edit(project, "path.write_text('Begun here.')", "project")
    assert code == 0
    code, said = edit(project, "path.write_text(path.read_text() + 'And more.')", "project")
    assert code == 0, said
    assert asked("get", "project")["text"] == "Begun here.\nAnd more."


def test_what_was_edited_and_cannot_be_kept_is_not_lost(asked: Any, project: Path) -> None:
    asked("set", "project", "Stays.")
    code, said = edit(project, f"path.write_text('y' * {LONGEST + 1})", "project")
    assert code == 1
    (kept,) = Path(os.environ["MEMORY_KEEPER_HOME"]).glob("unsaved-note*.md")
    assert str(kept) in said.replace("\r\n", "") and kept.read_text() == "y" * (LONGEST + 1)
    code, said = edit(project, "path.write_text('')", "project")
    assert code == 1
    code, said = edit(project, "sys.exit(3)", "project")
    assert (code, "ended with 3" in said) == (1, True)
    assert asked("get", "project")["text"] == "Stays."


def test_what_could_not_be_kept_lies_in_the_home_like_all_the_rest(asked: Any, project: Path) -> None:
    """Private, without secrets, beside what was left there before, and known to `uninstall`."""
    asked("set", "project", "Stays.")
    home = Path(os.environ["MEMORY_KEEPER_HOME"])
    key = "sk-ant-" + "api03-" + "aZ9" * 20
    (project / ".env").write_text("DB_PASSWORD=hunter2hunter2\n")
    for word in ("one", "two"):
        code, said = edit(project, f"path.write_text('{word} {key} hunter2hunter2 ' + 'y' * {LONGEST})", "project")
        assert code == 1
    kept = sorted(home.glob("unsaved-note*.md"), key=lambda path: path.read_text())
    assert [path.read_text()[:3] for path in kept] == ["one", "two"]
    assert str(kept[1]) in said.replace("\r\n", "")
    for path in kept:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert key not in path.read_text() and "hunter2" not in path.read_text()
    assert not [path.name for path in home.iterdir() if not any(fnmatch(path.name, one) for one in OURS)]


def test_without_a_terminal_there_is_no_editing(capsys: Said) -> None:
    assert run("edit", "project") == 1
    assert "no terminal" in capsys.readouterr().err


def test_for_people(capsys: Said) -> None:
    assert run("list") == 0
    assert "No standing notes" in capsys.readouterr().out
    assert run("set", "project", "A", "parser", "for", "invoices.") == 0
    assert capsys.readouterr().out.startswith("Kept: note-")
    assert run() == 0
    assert "A parser for invoices." in capsys.readouterr().out
    assert run("get", "project") == 0
    assert capsys.readouterr().out == "A parser for invoices.\n"
