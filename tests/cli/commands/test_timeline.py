"""`timeline` and `show`: from a line to what was around it, to the whole of it, to the transcript's own lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import termios
from itertools import pairwise
from typing import Any

import pytest

from memory_keeper.cli.main import main
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.store.home import Lock
from memory_keeper.text import clean
from memory_keeper.width import columns as cells
from tests.machine import START, Machine, Session


class Terminal:
    """Somebody who types commands in a project."""

    def __init__(self, machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
        self.machine, self.capsys = machine, capsys

    def run(self, *words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as left:
            main([*words, "--home", str(self.machine.home), "--project", str(self.machine.project)])
        heard = self.capsys.readouterr()
        assert left.value.code == code, heard.err
        return heard.out if code == 0 else heard.err

    def ask(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))


@pytest.fixture
def past(machine: Machine) -> Session:
    """Two sessions; the second one."""
    first = machine.session()
    first.start()
    first.turn("Build the lexer.", "The lexer is built.")
    first.end()
    made = machine.session()
    made.start()
    made.prompt("Build the parser.")
    made.call("Bash", {"command": "make", "description": "Build"}, "make: no rule", failed=True)
    made.call("Edit", {"file_path": f"{machine.project}/Makefile", "old_string": "a", "new_string": "b"})
    for number in range(12):
        made.transcript.call("Bash", {"command": f"make step-{number}"}, f"step {number} is done")
    made.reply("The parser is built.")
    made.end()
    machine.settle()
    machine.catch_up()
    return made


@pytest.fixture
def terminal(machine: Machine, past: Session, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(machine, capsys)


def test_a_compaction_is_said_in_words(terminal: Terminal, past: Session) -> None:
    past.transcript.compact("It was long.")
    past.write()
    past.start("compact")
    terminal.machine.catch_up()
    out = terminal.run("timeline", "--session", past.id)
    assert "compact_boundary" not in out and "the context was compacted" in out


def test_a_project_in_order_grouped_by_session(terminal: Terminal) -> None:
    out = terminal.run("timeline")
    assert out.index("session 00000001") < out.index("Build the lexer.") < out.index("session 00000002")
    assert out.index("session 00000002") < out.index("Build the parser.")
    assert "make step" not in out.partition(" session    ")[0], "its steps are told when it is asked for"
    assert "memory-keeper show ID" in out
    entries = terminal.ask("timeline")
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)
    assert {entry["kind"] for entry in entries} >= {"prompt", "session", "handoff"}
    assert entries[0].keys() == {
        *("id", "at", "kind", "level", "session", "project", "text", "path", "failed", "here"),
    }


def test_every_step_of_a_session(terminal: Terminal) -> None:
    entries = terminal.ask("timeline", "--session", "00000002")
    said = [entry["text"] for entry in entries if entry["level"] == 0 and entry["kind"] != "handoff"]
    assert said[:3] == ["Build the parser.", "Bash: make → failed: make: no rule", "Edit: Makefile → ok"]
    assert "Bash: make step-11 → ok: step 11 is done" in said and said[-1] == "The parser is built."
    assert [entry["failed"] for entry in entries][:3] == [False, True, False]
    newest = terminal.ask("timeline", "--session", "00000002", "--limit", "3")
    assert newest == entries[-3:]
    assert "No session is called zz" in terminal.run("timeline", "--session", "zz", code=1)


def test_around_an_event(terminal: Terminal) -> None:
    all_steps = [
        entry for entry in terminal.ask("timeline", "--session", "00000002") if not entry["id"].startswith("n")
    ]
    middle = all_steps[8]
    found = terminal.ask("timeline", "--around", middle["id"][:8], "--limit", "5")
    assert [entry["id"] for entry in found] == [entry["id"] for entry in all_steps[6:11]]
    assert [entry["here"] for entry in found] == [False, False, True, False, False]
    out = terminal.run("timeline", "--around", middle["id"][:8], "--limit", "5")
    assert [line[:1] for line in out.splitlines()[1:6]] == [" ", " ", ">", " ", " "]
    at_the_start = terminal.ask("timeline", "--around", all_steps[0]["id"], "--limit", "5")
    assert [entry["id"] for entry in at_the_start] == [entry["id"] for entry in all_steps[:5]]


def test_around_a_note(terminal: Terminal) -> None:
    note = next(entry for entry in terminal.ask("timeline") if entry["level"] == 1 and entry["session"][7] == "2")
    found = terminal.ask("timeline", "--around", note["id"][:10], "--limit", "4")
    assert [entry["id"] for entry in found if entry["here"]] == [note["id"]]
    assert {entry["session"] for entry in found} == {note["session"]} and len(found) == 4
    terminal.run("note", "add", "fact", "The parser is ours.")
    (fact,) = [entry for entry in terminal.ask("timeline") if entry["kind"] == "fact"]
    assert fact["text"] == "(by the user) The parser is ours."
    found = terminal.ask("timeline", "--around", fact["id"])
    assert {entry["kind"] for entry in found} == {"prompt", "fact"}, "it is of no session: the project's turns"


def test_since_and_until(terminal: Terminal) -> None:
    entries = terminal.ask("timeline")
    assert terminal.ask("timeline", "--since", "2d") == entries
    assert terminal.ask("timeline", "--until", "2d") == []
    assert "nothing is kept of that time" in terminal.run("timeline", "--until", "2001-01-01")
    assert "is not a time such as" in terminal.run("timeline", "--since", "soon", code=2)
    out = terminal.run("timeline", "--limit", "1")
    assert "--until 20" in out
    before = terminal.ask("timeline", "--until", out.rpartition("--until ")[2].split()[0])
    assert len(before) >= len(entries) - 1 - sum(int(entries[-1]["at"]) == int(one["at"]) for one in entries)


def test_an_id_that_nobody_has(terminal: Terminal) -> None:
    for words in (["timeline", "--around", "zz"], ["show", "zz"], ["show", "zz:1"]):
        assert f"Nothing is called {words[-1]}\n" in terminal.run(*words, code=1)
    assert "The id is empty\n" in terminal.run("show", "", code=1)


def test_a_beginning_that_several_have(terminal: Terminal) -> None:
    """They are named: the next try is the right one."""
    steps = terminal.ask("timeline", "--session", "00000002")
    events = sorted(id for id, colon, _ in (entry["id"].rpartition(":") for entry in steps) if colon)
    first, wanted = next((id[0], id) for id, after in pairwise(events) if id[0] == after[0])
    for beginning in (first, f"{first}:0"):
        said = terminal.run("show", beginning, code=1)
        assert f"More than one thing is called {beginning}: " in said and "give more of the id" in said
        assert wanted in said
    assert wanted in terminal.run("show", wanted)
    notes = [entry["id"] for entry in terminal.ask("timeline") if entry["id"].startswith("note-")]
    assert len(notes) > 1 and all(note in terminal.run("show", "note-", code=1) for note in notes)
    said = terminal.run("timeline", "--session", "0", code=1)
    assert "More than one session is called 0: 00000001-" in said and "00000002-" in said


def test_what_has_no_meaning_is_said(terminal: Terminal) -> None:
    event = next(entry["id"] for entry in terminal.ask("timeline") if entry["kind"] == "prompt")
    for more in (["--session", "00000001"], ["--since", "2d"], ["--until", "2d"]):
        assert "--around takes no --session" in terminal.run("timeline", "--around", event, *more, code=1)
    for more in (["--children"], ["--page", "2"]):
        assert f"{event[:8]} is an event: only a note covers others" in terminal.run("show", event, *more, code=1)
    for number in ("0", "-1", "9999999999999999999", "x"):
        assert "is not a number from 1 to 10000" in terminal.run("timeline", f"--limit={number}", code=2)


def test_a_note_at_the_moment_of_the_last_event_is_around_it(terminal: Terminal, past: Session) -> None:
    last = [entry for entry in terminal.ask("timeline", "--session", past.id) if entry["kind"] == "reply"][-1]
    note = Note("note-same-moment", last["at"], "fact", 0, last["project"], "It works.", past.id, 3, "{}")
    with Lock(str(terminal.machine.home), 5.0), Keeper(str(terminal.machine.home)) as keeper:
        keeper.writer.add(note)
    assert note.id in [entry["id"] for entry in terminal.ask("timeline", "--around", last["id"], "--limit", "5")]


def test_all_projects(machine: Machine, terminal: Terminal) -> None:
    other = machine.session(machine.folder("work/other"))
    other.start()
    other.turn("Build the printer.", "The printer is built.")
    other.end()
    machine.settle()
    machine.catch_up()
    assert "printer" not in terminal.run("timeline")
    out = terminal.run("timeline", "--all-projects")
    assert out.index("Build the lexer.") < out.index("Build the parser.") < out.index("Build the printer.")
    heading = next(line for line in out.splitlines() if "session 00000003" in line)
    assert heading.endswith("work/other")
    entries = terminal.ask("timeline", "--all-projects")
    assert len({entry["project"] for entry in entries}) == 2
    assert [entry["at"] for entry in entries] == sorted(entry["at"] for entry in entries)
    assert terminal.ask("timeline", "--all-projects", "--limit", "2") == entries[-2:]
    terminal.run("note", "add", "fact", "The parser is ours.")
    with pytest.raises(SystemExit):
        main(["note", "add", "fact", "So is the printer.", "--project", str(other.project)])
    terminal.capsys.readouterr()
    ours, theirs = terminal.run("timeline", "--all-projects", "--limit", "2").splitlines()[:3:2]
    assert ours.endswith("work/app") and theirs.endswith("work/other"), "a note of no session has its project's heading"
    assert "--all-projects looks in the others too" in terminal.run("timeline", "--until", "2001-01-01")


def test_from_a_note_to_its_events_to_their_lines(terminal: Terminal, past: Session) -> None:
    note = next(entry for entry in terminal.ask("timeline") if entry["level"] == 1 and entry["session"] == past.id)
    out = terminal.run("show", note["id"][:12])
    assert f"show {note['id']} --children" in out and f"timeline --around {note['id']}" in out
    children = terminal.ask("show", note["id"], "--children")["children"]
    event = next(id for id in children if id[8:9] == "-")  # not what a hook left
    out = terminal.run("show", event)
    assert f"note: {note['id']}" in out and f"timeline --around {event[:8]} | show {event[:8]} --raw" in out
    raw = terminal.ask("show", event, "--raw")["raw"]
    lines = terminal.ask("show", note["id"], "--raw")["raw"]
    assert raw in lines and len(lines) == len(set(lines))
    assert set(lines) <= set(past.transcript.raw().decode().splitlines())
    assert terminal.ask("show", event)["note"] == note["id"]


def test_the_pages_of_what_a_note_covers(machine: Machine, terminal: Terminal) -> None:
    session = machine.session()
    session.start()
    session.prompt("Take many steps.")
    for number in range(40):
        session.transcript.progress(seconds=number)
        session.transcript.call("Bash", {"command": f"step {number}"}, f"did {number}")
    session.reply("All steps are taken.")
    session.end()
    machine.settle()
    machine.catch_up()
    note = next(entry for entry in terminal.ask("timeline") if entry["level"] == 1)["id"]  # due every 25 calls
    every = terminal.ask("show", note, "--children")["children"]
    out = terminal.run("show", note, "--children")
    assert f"covers {len(every)}, " in out and "of them without words (--json lists all)" in out
    listed = [line for line in out.partition("\ncovers ")[2].splitlines()[1:] if line.startswith("    ")]
    assert len(listed) == 50 and all(line.strip() for line in listed)
    assert max(len(line.split()[0]) for line in out.splitlines() if "  call " in line) <= 10
    more = terminal.run("show", note, "--page", "2")
    assert "covers " in more and "--page 2" in out, "a page is one of the children"
    assert "There is no page 99\n  hint: it has 2 pages" in terminal.run(
        "show", note, "--children", "--page", "99", code=1
    )


def test_who_has_read_enough_hears_of_no_damage(machine: Machine, terminal: Terminal) -> None:
    """As `| head -1` does."""
    session = machine.session()
    session.start()
    session.prompt("Read a lot.")
    for number in range(20):
        session.transcript.call("Bash", {"command": f"cat {number}"}, "a long line of output\n" * 2_000)
    session.reply("Read.")
    session.end()
    machine.settle()
    machine.catch_up()
    note = next(entry for entry in terminal.ask("timeline") if entry["level"] == 1)["id"]  # due every 25 calls
    for words in (["show", note, "--raw"], ["show", note, "--raw", "--json"], ["timeline", "--limit", "2"]):
        command = [sys.executable, "-I", "-S", str(START), *words, "--project", str(machine.project)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout and process.stderr
            assert process.stdout.read(10) if "--raw" in words else True
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0


@pytest.mark.parametrize("columns", [60, 100])
def test_a_line_fits_the_terminal(machine: Machine, past: Session, columns: int) -> None:
    session = machine.session()
    session.start()
    session.turn("Say it at length, " * 20, "됐습니다 그리고 계속합니다 " * 20)
    machine.catch_up()
    main, other = os.openpty()
    termios.tcsetwinsize(other, (24, columns))
    command = [sys.executable, "-I", "-S", str(START), "timeline", "--session", session.id]
    subprocess.run([*command, "--project", str(machine.project)], stdout=other, check=True, timeout=60)
    out = clean(os.read(main, 1 << 16).decode())
    for end in (main, other):
        os.close(end)
    told = [line for line in out.splitlines() if "  prompt " in line or "  reply " in line]
    assert len(told) == 2 and all(columns - 20 < cells(line) <= columns for line in told), out


def test_nothing_hidden_reaches_the_terminal(machine: Machine, terminal: Terminal) -> None:
    session = machine.session()
    session.start()
    session.prompt("Clear \x1b[2Jthe screen\rand hide")
    session.call("Bash", {"command": "printf '\x1b]0;title\x07'"}, "\x1b[31mred")
    machine.catch_up()
    out = terminal.run("timeline", "--session", session.id)
    assert "Clear the screen and hide" in out and "\x1b" not in out and "\r" not in out
