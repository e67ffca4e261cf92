"""`timeline` and `show`: from a line to what was around it, to the whole of it, to the transcript's own lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory_keeper.app.cli import main
from tests.machine import Machine, Session


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
    machine.look()
    return made


@pytest.fixture
def terminal(machine: Machine, past: Session, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(machine, capsys)


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
    for words in (["timeline", "--around", "zz"], ["show", "zz"]):
        assert "Nothing, or more than one thing, is called zz" in terminal.run(*words, code=1)


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


def test_nothing_hidden_reaches_the_terminal(machine: Machine, terminal: Terminal) -> None:
    session = machine.session()
    session.start()
    session.prompt("Clear \x1b[2Jthe screen\rand hide")
    session.call("Bash", {"command": "printf '\x1b]0;title\x07'"}, "\x1b[31mred")
    machine.look()
    out = terminal.run("timeline", "--session", session.id)
    assert "Clear the screen and hide" in out and "\x1b" not in out and "\r" not in out
