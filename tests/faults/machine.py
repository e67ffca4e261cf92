"""A user's machine in a folder: a transcript that grows, the hooks that announce it, and what must hold afterwards."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import string
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from memory_keeper.capture.redact import redact_line
from memory_keeper.errors import NotSetUp
from memory_keeper.keep import archive, spool
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.keeper import read_salt
from memory_keeper.model import Source

from .faultpoint import Fault, Ran, run

START = Path(__file__).parents[2] / "src/memory_keeper/app/start.py"
PYTHON = os.path.realpath(sys.executable)
MARK = re.compile(r"mark\d+b\d+")
TRACKED = ("start", "end", "told")  # events that come from hooks, not from transcripts


class Verdict(NamedTuple):
    """What is wrong after a story; all empty when nothing is."""

    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()  # anything else
    exits: tuple[str, ...] = ()  # a hook that did not end as a hook must

    def __bool__(self) -> bool:
        return any(self)

    def __add__(self, other: Verdict) -> Verdict:  # type: ignore[override]
        return Verdict(*(one + two for one, two in zip(self, other, strict=True)))


# --- the transcript ----------------------------------------------------------------------------------------------------


def secret(number: int) -> str:
    """A made-up token, put together here so that no scanner takes this file for a leak."""
    letters = string.ascii_letters + string.digits
    return "gh" + "p_" + "".join(letters[(number * 7 + i * i * 13 + i) % len(letters)] for i in range(36))


class Line(NamedTuple):
    """One line of a transcript and the blocks it must become: their kinds, and a mark each that no other has."""

    data: bytes
    blocks: tuple[tuple[str, str], ...]


def make_line(number: int) -> Line:
    """The lines come in turn: prompt, answer of two blocks, call, long result, a title without an id, a broken one."""
    marks = [f"mark{number}b{block}" for block in range(2)]
    entry: dict[str, Any] = {
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "timestamp": f"2026-03-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
    }
    match number % 6:
        case 0:
            blocks = [("prompt", marks[0])]
            entry |= {"type": "user", "message": {"role": "user", "content": f"{marks[0]} please, 日本語 too"}}
        case 1:
            blocks = [("thinking", marks[0]), ("reply", marks[1])]
            content = [{"type": "thinking", "thinking": marks[0]}, {"type": "text", "text": marks[1]}]
            used = {"input_tokens": number, "output_tokens": 7}
            message = {"id": f"msg_{number}", "role": "assistant", "model": "m", "content": content, "usage": used}
            entry |= {"type": "assistant", "message": message}
        case 2:
            blocks = [("call", marks[0])]
            call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": marks[0]}}
            entry |= {"type": "assistant", "message": {"role": "assistant", "content": [call]}}
        case 3:
            blocks = [("result", marks[0])]
            text = f"{marks[0]} the token is {secret(number)}\n" + "a line of output\n" * 700
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number - 1}", "content": text}
            entry |= {"type": "user", "message": {"role": "user", "content": [result]}}
        case 4:
            blocks = [("title", marks[0])]
            entry = {"type": "summary", "summary": marks[0]}
        case _:
            return Line(f'{{"type":"user","uuid":"{number:08x}'.encode(), (("other", ""),))
    return Line(json.dumps(entry, ensure_ascii=False).encode(), tuple(blocks))


class Transcript:
    """A transcript that the host is writing: it may end in the middle of a line."""

    def __init__(self, path: Path, first: int = 0) -> None:
        self.path = path
        self.first = self.number = first
        self.torn = b""  # what is still to come of the last line
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    @property
    def lines(self) -> list[Line]:
        """Those that are there to their end."""
        return [make_line(number) for number in range(self.first, self.number)]

    def grow(self, number: int, torn: bool = True) -> None:
        """Finish the line that was begun, write more, and begin another."""
        with self.path.open("ab") as file:
            if self.torn:
                file.write(self.torn)
                self.number += 1
            for _ in range(number):
                file.write(make_line(self.number).data + b"\n")
                self.number += 1
            whole = make_line(self.number).data + b"\n"
            half = len(whole) // 2 if torn else 0
            file.write(whole[:half])
            self.torn = whole[half:] if torn else b""


# --- the machine -------------------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """A hook that was called, and how it ended."""

    event: str
    text: str
    ran: Ran
    answered: bool  # it said in no way that something went wrong


class Machine:
    """A home, a project and one session of it, below a folder of their own."""

    def __init__(self, folder: Path, shim: Path, session: str = "session-1", first: int = 0) -> None:
        self.folder = folder / "machine"
        self.shim = shim
        self.session = session
        self.home = self.folder / "home"
        self.work = self.folder / "work"
        self.trace = folder / "trace"
        self.work.mkdir(parents=True, exist_ok=True)
        self.transcript = Transcript(self.folder / f"claude/projects/work/{session}.jsonl", first)
        self.asked: list[Asked] = []
        self.typed = 0

    @property
    def environ(self) -> dict[str, str]:
        """What the host would give: nothing of the machine the test runs on but its PATH."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "MEMORY_KEEPER_HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
            "CLAUDE_PROJECT_DIR": str(self.work),
        }

    def payload(self, event: str) -> dict[str, str]:
        """What the host tells a hook."""
        self.typed += 1
        text = f"typed{self.typed}. token {secret(100 + self.typed)}"
        return {
            "session_id": self.session,
            "transcript_path": str(self.transcript.path),
            "cwd": str(self.work),
            "hook_event_name": event,
            **{
                "SessionStart": {"source": "startup"},
                "SessionEnd": {"reason": "other"},
                "UserPromptSubmit": {"prompt": text},
                "Stop": {"last_assistant_message": text},
                "PostToolUse": {"tool_name": "Bash", "tool_use_id": f"toolu_{self.typed}"},
            }.get(event, {}),
        }

    def hook(self, event: str, fault: Fault | None = None) -> Asked:
        """Call a command hook and wait for all it starts."""
        payload = self.payload(event)
        text = (payload.get("prompt") or payload.get("last_assistant_message") or "").partition(".")[0]
        before = self.complaints()
        ran = self._run(["hook", event], json.dumps(payload).encode(), fault)
        answered = ran.code == 0 and b"systemMessage" not in ran.out and self.complaints() == before
        self.asked.append(Asked(event, text, ran, answered))
        return self.asked[-1]

    def look(self, fault: Fault | None = None) -> Ran:
        """Run the writer that a hook would start."""
        return self._run(["look", str(self.home)], b"", fault)

    def _run(self, args: list[str], given: bytes, fault: Fault | None) -> Ran:
        self.trace.unlink(missing_ok=True)
        faulty = fault.environ(self.shim, self.folder, self.trace) if fault else {}
        return run([PYTHON, "-I", "-S", str(START), *args], given, {**self.environ, **faulty})

    def complaints(self) -> str:
        """What was written down for `doctor`."""
        log = self.home / "problems.log"
        return log.read_text() if log.is_file() else ""

    # --- what must hold ------------------------------------------------------------------------------------------------

    def judge(self) -> Verdict:
        """Everything that must hold once the writer has come by without a fault."""
        try:
            store = SqliteStore(str(self.home / "store.db"))
        except Exception as error:  # noqa: BLE001  (whatever it is, it is the finding)
            return Verdict(wrong=(f"the store does not open: {error}",))
        try:
            return (
                self._judge_hooks()
                + self._judge_blocks(store)
                + self._judge_tracked(store)
                + self._judge_archive(store)
                + Verdict(wrong=(*damage(store), *self._leaks()))
            )
        finally:
            store.close()

    def _judge_hooks(self) -> Verdict:
        """A hook that was not killed ends with 0, and says one JSON object or nothing."""
        return Verdict(
            exits=tuple(
                f"{one.event}: exit {one.ran.code}, {one.ran.out!r}, {one.ran.err[-300:]!r}"
                for one in self.asked
                if not one.ran.killed and not well_behaved(one.event, one.ran)
            )
        )

    def _judge_blocks(self, store: SqliteStore) -> Verdict:
        """Every block of the transcript once, in its order, where it stands, and to be found."""
        expected = [block for line in self.transcript.lines for block in line.blocks]
        events = [event for event in store.events(self.session) if event.kind not in TRACKED]
        found = [(event.kind, "".join(MARK.findall(event.text)[:1])) for event in events]
        verdict = compare(expected, found)
        if verdict:
            return verdict
        wrong = [f"{mark} is not found once" for _, mark in expected if mark and len(store.find(mark)) != 1]
        for event, (_, mark) in zip(events, expected, strict=True):
            where = store.line(event.id)
            if not where:
                wrong.append(f"{event.id} has no line")
                continue
            source, member, offset = where
            line = archive.read(str(self.home), source, member)[offset:].partition(b"\n")[0]
            if mark.encode() not in line:
                wrong.append(f"{event.id} stands elsewhere than at {offset}")
        return Verdict(wrong=tuple(wrong))

    def _judge_tracked(self, store: SqliteStore) -> Verdict:
        """What hooks were told is kept once: if they answered for certain, else perhaps."""
        records = [
            (str(record["event"]), str(record.get("text") or "").partition(".")[0])
            for record in spool.records((self.home / f"spool/{self.session}.spool").read_bytes())
        ]
        sure = Counter((one.event, one.text) for one in self.asked if one.answered)
        called = Counter((one.event, one.text) for one in self.asked)
        kept = Counter(record for record in records if record[0] != "Told")
        kinds = Counter(event.kind for event in store.events(self.session))
        events = Counter(event for event, _ in records)
        return Verdict(
            lost=tuple(f"record of {one}" for one in (sure - kept).elements())
            + tuple(
                f"{kind} event"
                for kind, event in (("start", "SessionStart"), ("end", "SessionEnd"))
                if kinds[kind] < events[event]
            ),
            doubled=tuple(f"record of {one}" for one in (kept - called).elements())
            + tuple(
                f"{kind} event"
                for kind, event in (("start", "SessionStart"), ("end", "SessionEnd"))
                if kinds[kind] > events[event]
            ),
        )

    def _judge_archive(self, store: SqliteStore) -> Verdict:
        """`zcat` gives back the transcript, redacted, and so do the members."""
        salt = read_salt(str(self.home))
        expected = b"".join(redact_line(line.data, salt, ()) + b"\n" for line in self.transcript.lines)
        source = store.source(str(self.transcript.path))
        if not source:
            return Verdict(wrong=("the transcript is unknown",) if expected else ())
        packed = Path(archive.archive_path(str(self.home), source)).read_bytes()
        members = [archive.read(str(self.home), one, member) for one, member in store.members() if one == source]
        wrong = []
        if gzip.decompress(packed) != expected:
            wrong.append("the archive is not the transcript")
        if b"".join(members) != expected:
            wrong.append("the archive's members are not the transcript")
        return Verdict(wrong=tuple(wrong))

    def _leaks(self) -> list[str]:
        """No secret is anywhere on the disk, whatever was cut short."""
        secrets = [secret(line) for line in range(self.transcript.first, self.transcript.number + 1)]
        secrets += [secret(100 + typed) for typed in range(self.typed + 1)]
        return [
            f"a secret is in {path.name}"
            for path in self.home.rglob("*")
            if path.is_file() and any(one.encode() in path.read_bytes() for one in secrets)
        ]

    def judge_now(self, before: int) -> Verdict:
        """What must hold right after a fault, looked at in a copy: no damage, and `before` events still there."""
        if not self.home.is_dir():
            return Verdict()
        copy = self.folder.parent / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.home, copy)
        try:
            store = SqliteStore(str(copy / "store.db"), write=False)
        except NotSetUp:
            return Verdict(lost=("the store is gone",) if before else ())
        try:
            kept = len(store.events(self.session))
            lost = (f"only {kept} of {before} events",) if kept < before else ()
            return Verdict(lost=lost, wrong=tuple(store.problems()))
        finally:
            store.close()

    def count(self) -> int:
        """How many events of the session are kept."""
        try:
            store = SqliteStore(str(self.home / "store.db"), write=False)
        except NotSetUp:
            return 0
        try:
            return len(store.events(self.session))
        finally:
            store.close()


def compare(expected: list[tuple[str, str]], found: list[tuple[str, str]]) -> Verdict:
    """Whether the blocks are all there, once each and in order."""
    lost, doubled = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    if lost or doubled:
        return Verdict(tuple(map(str, lost.elements())), tuple(map(str, doubled.elements())))
    return Verdict(wrong=() if expected == found else ("the blocks are out of order",))


def damage(store: SqliteStore) -> list[str]:
    """What is wrong with a store that nobody else uses."""
    problem = store.index_problem()
    return [*store.problems(), *([problem] if problem else [])]


def well_behaved(event: str, ran: Ran) -> bool:
    """Exit 0, nothing on stderr, and on stdout nothing or one JSON object that the host understands."""
    if ran.code or ran.err:
        return False
    if not ran.out:
        return True
    try:
        said = json.loads(ran.out)
    except ValueError:
        return False
    more = said.get("hookSpecificOutput", {"hookEventName": event})
    return said.keys() <= {"hookSpecificOutput", "systemMessage"} and more["hookEventName"] == event


def source_of(machine: Machine) -> Source:
    """The machine's transcript as the keeper names it."""
    return Source(str(machine.transcript.path), machine.session, "")
