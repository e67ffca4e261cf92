"""What predecessors lost or spoiled, one provocation each: here nothing is lost, doubled or mixed up."""

from __future__ import annotations

import ctypes
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memory_keeper
from memory_keeper.model import EVERYWHERE, Phrase
from memory_keeper.store.events import session_events
from tests import transcripts
from tests.machine import START, Machine, Session
from tests.transcripts import dump

SRC = Path(memory_keeper.__file__).parents[1]


def said(machine: Machine, session: Session) -> list[str]:
    """What was typed and answered in a session, as kept."""
    with machine.store() as store:
        return [event.text for event in session_events(store, session.id) if event.kind in ("prompt", "reply")]


def archived(machine: Machine, session: Session) -> bytes:
    """A session's transcript as kept."""
    (path,) = (machine.home / "archive").glob(f"{session.id}.*.jsonl.gz")
    return gzip.decompress(path.read_bytes())


def at_once(machine: Machine, calls: list[tuple[str, dict[str, Any]]]) -> None:
    """Hooks that all run at the same moment."""
    running = []
    for event, payload in calls:
        one = subprocess.Popen(
            [sys.executable, "-I", "-S", str(START), "hook", event],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "CLAUDE_PROJECT_DIR": str(machine.project)},
        )
        running.append((event, one, json.dumps(payload).encode()))
    for _, one, given in running:  # they wait for their payload until all of them are there
        assert one.stdin
        one.stdin.write(given)
        one.stdin.close()
        one.stdin = None
    for event, one, _ in running:
        out, err = one.communicate(timeout=60)
        assert (one.returncode, err) == (0, b"")
        assert out == b"" or event == "PreCompact" or json.loads(out), "the host takes plain text for instructions"


# --- reading ----------------------------------------------------------------------------------------------------------


def test_r1_ordinary_growth(machine: Machine) -> None:
    """Every block of every line, with a look after each of them."""
    session = machine.session()
    transcript = transcripts.session(session.id, str(machine.project), turns=3)
    session.path.parent.mkdir(parents=True)
    session.happen("UserPromptSubmit", prompt="x")
    machine.catch_up()
    for start in range(0, len(transcript.lines), 7):
        with session.path.open("ab") as file:
            file.write(b"".join(map(dump, transcript.lines[start : start + 7])))
        session.happen("PostToolUse")
        machine.catch_up()
    with machine.store() as store:
        kept = Counter(event.id for event in session_events(store, session.id) if event.tool != "startup")
    wanted = transcripts.blocks(session.path)
    assert set(kept.values()) == {1}
    assert len(kept) == len(wanted)
    assert {f"{id}:{number}" for id, number, _ in wanted if len(id) == 36} <= set(kept)
    assert archived(machine, session) == session.path.read_bytes()


def test_r2_a_hook_while_the_last_line_is_half_written(machine: Machine) -> None:
    session = machine.session()
    session.turn("First.", "One.")
    session.transcript.prompt("Second, with a long story.")
    whole = session.transcript.raw(len(session.transcript.lines) - 1)
    for cut in (1, len(whole) // 2, len(whole) - 1):
        with session.path.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            before = file.tell()
            file.write(whole[:cut])
        session.happen("Stop")
        assert said(machine, session) == ["First.", "One."]
        os.truncate(session.path, before)
    session.write()
    session.happen("Stop")
    assert said(machine, session) == ["First.", "One.", "Second, with a long story."]


def test_r3_two_sessions_in_one_project(machine: Machine) -> None:
    one, two = machine.session(), machine.session()
    for number in range(3):
        one.turn(f"one {number}", f"one answer {number}")
        machine.catch_up()
        two.turn(f"two {number}", f"two answer {number}")
        machine.catch_up()
    assert said(machine, one) == [f"one {what}{n}" for n in range(3) for what in ("", "answer ")]
    assert said(machine, two) == [f"two {what}{n}" for n in range(3) for what in ("", "answer ")]
    assert archived(machine, one) == one.path.read_bytes()
    assert archived(machine, two) == two.path.read_bytes()


def test_r7_a_fork_deletes_nothing(machine: Machine) -> None:
    first = machine.session()
    first.turn("Shared.", "Yes.")
    fork = Session(machine, machine.project, first.transcript.fork("f0f0f0f0-0000-4000-8000-00000000000f"))
    fork.write()
    fork.turn("Only in the fork.", "Indeed.")
    first.turn("Only in the first.", "Indeed not.")
    assert said(machine, first) == ["Shared.", "Yes.", "Only in the first.", "Indeed not."]
    assert said(machine, fork) == ["Shared.", "Yes.", "Only in the fork.", "Indeed."]
    with machine.store() as store:
        assert store.counts()["kinds"]["prompt"] == 3
    assert archived(machine, first) == first.path.read_bytes()
    assert archived(machine, fork) == fork.path.read_bytes()


def test_r8_two_sessions_end_in_the_same_moment(machine: Machine) -> None:
    sessions = [machine.session() for _ in range(6)]
    for number, session in enumerate(sessions):
        session.turn(f"Question {number}.", f"Answer {number}.")
    payloads = [
        {"session_id": one.id, "transcript_path": str(one.path), "cwd": str(machine.project)} for one in sessions
    ]
    at_once(machine, [("SessionEnd", payload) for payload in payloads])
    machine.settle()
    for number, session in enumerate(sessions):
        assert said(machine, session) == [f"Question {number}.", f"Answer {number}."]
        with machine.store() as store:
            assert [event.kind for event in session_events(store, session.id)].count("end") == 1
        assert archived(machine, session) == session.path.read_bytes()


def test_r14_bytes_that_are_no_utf_8(machine: Machine) -> None:
    session = machine.session()
    session.turn("Before.", "Yes.")
    with session.path.open("ab") as file:
        file.write(b'{"type":"user","uuid":"odd","message":{"role":"user","content":"caf\xe9 \xff\xfe"}}\n')
    session.transcript.prompt("After.")
    session.write()
    session.happen("Stop")
    before, yes, odd, after = said(machine, session)
    assert (before, yes, after) == ("Before.", "Yes.", "After.")
    assert odd.startswith("caf")
    assert archived(machine, session) == session.path.read_bytes(), "as they were, not as question marks"


def test_r28_blocks_and_roles(machine: Machine) -> None:
    """Many blocks in a line, the host's own remarks, agents and summaries: each is what it is, and only that."""
    session = machine.session(version="2.0.14")
    t = session.transcript
    use = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    t.prompt("Typed.")
    t.multi_block("Two at once.", use, use, results=("a.py", "b.py"))
    t.meta("Not typed.")
    t.sidechain("Asked of an agent.", "Said by an agent.")
    t.compact("What was before.")
    t.task_notification()
    session.write()
    session.happen("Stop")
    with machine.store() as store:
        kinds: dict[str, list[str]] = {}
        for event in session_events(store, session.id):
            kinds.setdefault(event.kind, []).append(event.text)
        prompts = store.latest(store.project_of(session.id), "prompt", 10)
    assert kinds["prompt"] == ["Typed."]
    assert kinds["reply"] == ["Two at once.", "Said by an agent."]
    assert kinds["result"] == ["a.py", "b.py"]
    assert len(kinds["call"]) == 2
    assert kinds["meta"] == ["Not typed."]
    assert kinds["task"] == ["Asked of an agent."]
    assert [text[-16:] for text in kinds["summary"]] == ["What was before."]
    assert len(kinds["notice"]) == 1
    assert [event.text for event in prompts] == ["Typed."]


def test_r33_broken_null_array_and_empty_lines(machine: Machine) -> None:
    session = machine.session()
    session.turn("Before.", "Yes.")
    with session.path.open("ab") as file:
        file.write(b'{"type":"user","mess\nnull\n[]\n\n   \n"text"\n42\n{}\n')
    session.transcript.prompt("After.")
    session.write()
    session.happen("Stop")
    assert said(machine, session) == ["Before.", "Yes.", "After."]
    assert archived(machine, session) == session.path.read_bytes()


def test_a_transcript_that_shrank_moved_or_was_replaced(machine: Machine) -> None:
    session = machine.session()
    session.turn("First.", "One.")
    session.turn("Second.", "Two.")
    machine.catch_up()
    lines = session.path.read_bytes().splitlines(keepends=True)
    session.path.write_bytes(b"".join(lines[:2]))  # shrank
    session.happen("Stop")
    assert said(machine, session) == ["First.", "One.", "Second.", "Two."]
    session.path.write_bytes(b"".join(lines))
    session.path.rename(session.path.with_suffix(".old"))  # moved, and another one in its place
    other = transcripts.Transcript(session.id, str(machine.project), seed=9)
    other.prompt("Third, in a new file.")
    other.write(session.path)
    session.happen("Stop")
    assert said(machine, session) == ["First.", "One.", "Second.", "Two.", "Third, in a new file."]


# --- killed, crowded, full --------------------------------------------------------------------------------------------


def test_r11_killed_while_the_lock_is_held(machine: Machine) -> None:
    session = machine.session()
    session.turn("First.", "One.")
    code = f"""
import os, sys
sys.path.insert(0, {str(SRC)!r})
from memory_keeper.store.home import Lock
with Lock({str(machine.home)!r}, 5.0):
    os.kill(os.getpid(), {int(signal.SIGKILL)})
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == -signal.SIGKILL
    assert "First." in machine.session().start().text, "and nobody waits for the dead"
    assert said(machine, session) == ["First.", "One."]


def test_r12_fifty_tools_at_once(machine: Machine) -> None:
    payloads = [
        {"session_id": "s1", "cwd": str(machine.project), "tool_use_id": f"toolu_{number}", "tool_name": "Read"}
        for number in range(50)
    ]
    at_once(machine, [("PostToolUse", payload) for payload in payloads])
    from memory_keeper.store import spool

    records = list(spool.records((machine.home / "spool/s1.spool").read_bytes()))
    assert sorted(record["ref"] for record in records) == sorted(f"toolu_{number}" for number in range(50))


def test_r26_everything_at_once(machine: Machine) -> None:
    """Hooks of many sessions and writers that they start: the store stays whole and has each line once."""
    sessions = [machine.session() for _ in range(8)]
    calls: list[tuple[str, dict[str, Any]]] = []
    for number, session in enumerate(sessions):
        for turn in range(5):
            session.transcript.prompt(f"Question {turn} of {number}.")
            session.transcript.reply(f"Answer {turn} of {number}.")
        session.write()
        payload = {"session_id": session.id, "transcript_path": str(session.path), "cwd": str(machine.project)}
        calls += [(event, payload) for event in ("SessionStart", "PostToolUse", "Stop", "PreCompact", "SessionEnd")]
    at_once(machine, calls)
    machine.settle()
    for number, session in enumerate(sessions):
        assert said(machine, session) == [
            f"{what} {n} of {number}." for n in range(5) for what in ("Question", "Answer")
        ]
    with machine.store() as store:
        assert store.problems() == []
        assert store.counts()["kinds"]["end"] == 8
    assert not (machine.home / "problems.log").exists()


def without_rights() -> None:
    """Root may write anywhere; give that up, so that modes mean something."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def full_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def make_read_only(machine: Machine) -> None:
    for folder in (machine.home, machine.home / "spool", machine.home / "archive", machine.project):
        folder.chmod(0o500)
    for path in machine.files():
        path.chmod(0o400)


def make_writable(machine: Machine) -> None:
    for folder in (machine.home, machine.home / "spool", machine.home / "archive", machine.project):
        folder.chmod(0o700)
    for path in machine.files():
        path.chmod(0o600)


@pytest.mark.parametrize("limit", [without_rights, full_disk], ids=["read-only", "full disk"])
def test_r15_a_home_that_cannot_be_written(machine: Machine, limit: Callable[[], None]) -> None:
    """Every hook goes on, the user hears of it at a start, and nothing is lost once it can be written again."""
    first = machine.session()
    first.turn("Before.", "Yes.")
    machine.catch_up()
    if limit is without_rights:
        make_read_only(machine)
    second = machine.session()
    payload = {"session_id": second.id, "transcript_path": str(second.path), "cwd": str(machine.project)}
    second.transcript.prompt("Meanwhile.")
    second.transcript.reply("Indeed.")
    second.write()
    try:
        answers = {
            event: machine.hook(event, {**payload, "prompt": "x", "source": "startup"}, preexec_fn=limit)
            for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "SessionEnd")
        }
    finally:
        make_writable(machine)
    start = answers.pop("SessionStart")
    assert start.message.startswith("Memory Keeper is not keeping this session")
    assert "memory-keeper doctor" in start.message
    assert "\n" not in start.message
    assert {event: answer.out for event, answer in answers.items()} == dict.fromkeys(answers, b"")
    second.happen("Stop")
    assert said(machine, first) == ["Before.", "Yes."]
    assert said(machine, second) == ["Meanwhile.", "Indeed."]


@pytest.mark.parametrize("home", ["/dev/null/memory-keeper", "/dev/full"])
def test_r15_a_home_that_cannot_be_made(machine: Machine, home: str) -> None:
    payload = {"session_id": "s1", "cwd": str(machine.project), "source": "startup", "prompt": "x"}
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
        answer = machine.hook(event, payload, environ={"MEMORY_KEEPER_HOME": home})
        assert bool(answer.message) == (event == "SessionStart")


def test_r15_a_project_that_cannot_be_written(machine: Machine) -> None:
    first = machine.session()
    machine.project.chmod(0o500)
    try:
        for event in ("SessionStart", "PostToolUse", "Stop", "SessionEnd"):
            payload = {"session_id": first.id, "transcript_path": str(first.path), "cwd": str(machine.project)}
            assert machine.hook(event, payload, preexec_fn=without_rights).out == b""
    finally:
        machine.project.chmod(0o700)


# --- whose text it is -------------------------------------------------------------------------------------------------


def test_r17_a_session_id_that_goes_up(machine: Machine) -> None:
    """It can neither name a file to read nor one to write."""
    hidden = machine.folder("home/.claude/projects/-other") / "secret.jsonl"
    other = transcripts.Transcript("other", "/other")
    other.prompt("Somebody else's zebra.")
    other.write(hidden)
    before = {path for path in machine.root.rglob("*") if machine.home not in path.parents and path != machine.home}
    for name in ("/../../-other/secret", "../../../home/.claude/projects/-other/secret", "..", "a/b", "/etc/passwd"):
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
            machine.hook(event, {"session_id": name, "cwd": str(machine.project), "prompt": "x"})
    machine.settle()
    after = {path for path in machine.root.rglob("*") if machine.home not in path.parents and path != machine.home}
    ours = machine.project / ".claude"
    assert {path for path in after - before if path != ours and ours not in path.parents} == set()
    assert {path.name.partition("-x-")[0] for path in ours.glob("memory/handoffs/*.md")} <= {"HANDOFF"}
    with machine.store() as store:
        assert store.matching([[Phrase("zebra")]], EVERYWHERE, 10) == []


def test_r17b_without_a_transcript_none_is_guessed(machine: Machine) -> None:
    """Also when another project's folder looks just like ours to Claude Code."""
    theirs = machine.session(machine.folder("work-app"))
    theirs.transcript.prompt("Somebody else's zebra.")
    theirs.write()
    near = machine.session(machine.folder("work/app-two"))
    near.transcript.prompt("Another zebra.")
    near.write()
    ours = machine.session()
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact", "SessionEnd"):
        ours.happen(event, transcript_path=None, prompt="Ours.")
    machine.settle()
    text = machine.session().start().text
    assert "Ours." in text
    assert "zebra" not in text
    with machine.store() as store:
        assert store.matching([[Phrase("zebra")]], EVERYWHERE, 10) == []


@pytest.mark.parametrize("query", ["[", "(", "*", '"', "a OR", "NEAR(", "\\", "what's (x", "\ufffd", "--", "%"])
def test_r24_no_search_throws(machine: Machine, query: str) -> None:
    machine.session().turn("Where is the zebra?", "In the zoo.")
    machine.catch_up()
    for words in (query, f"{query} zebra"):
        command = [
            sys.executable,
            "-I",
            "-S",
            str(START),
            "search",
            "--json",
            "--project",
            str(machine.project),
            "--",
            words,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        hits = json.loads(done.stdout)
        assert ["zebra" in hit["snippet"] for hit in hits[:1]] == [True] * words.count("zebra")
