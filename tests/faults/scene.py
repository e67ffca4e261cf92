"""A session in a folder of its own: a transcript that grows, hooks that announce it, and what must hold afterwards."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import os
import re
import shutil
import string
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

from memory_keeper.capture.redact import redact_line
from memory_keeper.errors import NotSetUp
from memory_keeper.hooks import ENTRY_POINTS
from memory_keeper.model import EVERYWHERE, Event, Phrase
from memory_keeper.store import archive, spool
from memory_keeper.store.context import MARKS
from memory_keeper.store.events import session_events
from memory_keeper.store.home import read_salt
from memory_keeper.store.sqlite import SqliteStore
from tests.faults.faultpoint import Fault, Ran, call, run
from tests.transcripts import Row, Transcript, dump, thinking
from tests.warm import PYTHON, Several

START = Path(__file__).parents[2] / "src/memory_keeper/hooks/start.py"
MARK = re.compile(r"mark[a-z0-9]+")
TURNS = 60  # of a script; more than any test needs
CLI = ("tests.faults.changing", "command")
FROM_HOOKS = {"start": "SessionStart", "end": "SessionEnd"}


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


# --- what the host writes ---------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of a transcript and its blocks: each has a mark that no other has; empty where no text is kept."""

    data: bytes
    marks: tuple[str, ...]


def secret(number: int) -> str:
    """A made-up token, put together here so that no scanner takes this file for a leak."""
    letters = (string.ascii_letters + string.digits).replace("x", "").replace("X", "")  # xxx would look made up
    return "gh" + "p_" + "".join(Random(number).choices(letters, k=36))


@functools.cache
def script(session: str) -> list[Line]:
    """All that will happen in a session: lines with one block and with two, long ones, one without id, one broken."""
    host = Transcript(session, "/home/dev/uploader")
    numbers = itertools.count()

    def mark() -> str:
        return f"mark{''.join(filter(str.isalnum, session))}x{next(numbers)}"

    lines: list[Line] = []
    for turn in range(TURNS):
        rows = host.prompt(f"{mark()} please; 日本語 too")
        rows += host.multi_block(thinking(mark()), mark())
        output = f"token {secret(turn)}\n" + "a line of output\n" * 400
        rows += host.call("Bash", {"command": mark()}, f"{mark()} {output}")
        rows += host.snapshot("a.py")
        lines += [Line(dump(row), _marks(row)) for row in rows]
        lines.append(Line(b'{"type":"user","uuid":"cut %d\n' % turn, ("",)))
    return lines


def _marks(row: Row) -> tuple[str, ...]:
    content = row["message"]["content"] if "message" in row else ""
    blocks = content if isinstance(content, list) else [content]
    return tuple("".join(MARK.findall(json.dumps(block))[:1]) for block in blocks)


class Growing:
    """A transcript that the host is writing: it may end in the middle of a line."""

    def __init__(self, path: Path, session: str) -> None:
        self.path, self.script = path, script(session)
        self.whole = 0  # lines that are there to their end
        self.size = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    @property
    def lines(self) -> list[Line]:
        """Those that are there to their end."""
        return self.script[: self.whole]

    def grow(self, number: int, *, torn: bool = True) -> None:
        """Write so many lines more; `torn`: and half of the next one."""
        self.whole += number
        due = b"".join(line.data for line in self.lines)
        half = self.script[self.whole].data if torn else b""
        due += half[: len(half) // 2]
        with self.path.open("ab") as file:
            file.write(due[self.size :])
        self.size = len(due)


# --- the scene --------------------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """A hook that was called, and how it ended."""

    event: str
    text: str  # what the user or the model said, as far as it tells one call from another
    ran: Ran
    sure: bool  # no fault met it, and it said in no way that something went wrong


class Scene:
    """A home, a project and one session in it, below a folder of their own."""

    def __init__(self, folder: Path, shim: Path, session: str = "session-1", warm: Several | None = None) -> None:
        self.folder, self.shim, self.session = folder / "scene", shim, session
        self.warm = warm  # what forks for each call; else each is a process that is started
        self.home, self.work, self.claude = self.folder / "home", self.folder / "work", self.folder / "claude"
        self.work.mkdir(parents=True, exist_ok=True)
        self.transcript = Growing(self.claude / f"projects/work/{session}.jsonl", session)
        self.asked: list[Asked] = []
        self.typed = 0
        self.prefix: list[str] = []  # of every command: the place to run it in
        self.cut = False  # the power went: a spool may have lost what the store has
        self.well = True  # False: what goes wrong cannot even be written down

    @property
    def environ(self) -> dict[str, str]:
        """What the host would give; nothing of the machine the test runs on but its PATH."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "MEMORY_KEEPER_HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.claude),
            "CLAUDE_PROJECT_DIR": str(self.work),
        }

    def payload(self, event: str) -> dict[str, str]:
        """What the host tells a hook."""
        self.typed += 1
        text = f"typed{self.typed}. The token is {secret(TURNS + self.typed)}"
        more = {
            "SessionStart": {"source": "startup"},
            "SessionEnd": {"reason": "other"},
            "UserPromptSubmit": {"prompt": text},
            "Stop": {"last_assistant_message": text},
            "PostToolUse": {"tool_name": "Bash", "tool_use_id": f"toolu_{self.typed}"},
        }
        return {
            "session_id": self.session,
            "transcript_path": str(self.transcript.path),
            "cwd": str(self.work),
            "hook_event_name": event,
            **more.get(event, {}),
        }

    def hook(self, event: str, fault: Fault | None = None) -> Asked:
        """Call a command hook and wait for it and all it starts."""
        payload = self.payload(event)
        before = self.complaints()
        ran = self.start(["hook", event], json.dumps(payload).encode(), fault)
        sound = ran.code == 0 and not complains(ran.out) and self.complaints() == before
        met = fault is not None and len(ran.operations) >= fault.at > 0
        self.asked.append(Asked(event, said_in(payload), ran, sound and self.well and not met))
        return self.asked[-1]

    def catch_up(self, fault: Fault | None = None) -> Ran:
        """Run the writer that a hook would start."""
        return self.start(["catch-up", str(self.home)], b"", fault)

    def start(self, args: list[str], given: bytes = b"", fault: Fault | None = None) -> Ran:
        """Run the product as its launcher does."""
        trace = self.folder.parent / "trace"
        trace.unlink(missing_ok=True)
        faulty = fault.environ(self.shim, self.folder, trace) if fault else {}
        if self.warm and not self.prefix:
            environ, point = {**self.environ, **faulty}, ENTRY_POINTS.get(args[0])
            if not point:  # a command, which a person types outside of any session
                del environ["CLAUDE_PROJECT_DIR"]
            return call(self.warm, point or CLI, args, given, environ, str(self.work))
        return run([*self.prefix, PYTHON, "-I", "-S", str(START), *args], given, {**self.environ, **faulty})

    def complaints(self) -> str:
        """What was written down for `doctor`."""
        log = self.home / "problems.log"
        return log.read_text() if log.is_file() else ""

    def save(self) -> None:
        """Remember everything as it is now."""
        self._saved = (self.transcript.whole, self.transcript.size, list(self.asked), self.typed)
        shutil.copytree(self.folder, self.folder.parent / "saved")

    def restore(self) -> None:
        """Make everything as it was when it was saved."""
        self.transcript.whole, self.transcript.size, asked, self.typed = self._saved
        self.asked = list(asked)
        shutil.rmtree(self.folder)
        shutil.copytree(self.folder.parent / "saved", self.folder)

    # --- what must hold -----------------------------------------------------------------------------------------------

    def judge(self) -> Verdict:
        """Everything that must hold once the writer has come by without a fault."""
        try:
            store = SqliteStore(str(self.home / "store.db"))
        except Exception as error:  # noqa: BLE001  (whatever it is, it is the finding)
            return Verdict(wrong=(f"the store does not open: {error}",))
        try:
            verdict = (
                self._judge_exits()
                + self._judge_blocks(store)
                + self._judge_records(store)
                + self._judge_archive(store)
                + Verdict(wrong=tuple(damage(store)))
            )
        finally:
            store.close()
        return verdict + Verdict(wrong=tuple(self._leaks()))  # only now: closing a file would free the store's locks

    def judge_now(self, before: int) -> Verdict:
        """What must hold right after a fault, looked at in a copy: no damage, and the events from before are there."""
        copy = self.folder.parent / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.home, copy) if self.home.is_dir() else copy.mkdir()
        kept, problems = 0, []
        try:
            store = SqliteStore(str(copy / "store.db"))
        except Exception as error:  # noqa: BLE001
            problems.append(f"the store does not open after the fault: {error}")
        else:
            kept, problems = len(session_events(store, self.session)), damage(store)
            store.close()
        return Verdict(lost=(f"{before - kept} of {before} events",) if kept < before else (), wrong=tuple(problems))

    def count(self) -> int:
        """How many events of the session are kept."""
        try:
            store = SqliteStore(str(self.home / "store.db"), write=False)
        except NotSetUp:
            return 0
        kept = len(session_events(store, self.session))
        store.close()
        return kept

    def _judge_exits(self) -> Verdict:
        return Verdict(
            exits=tuple(
                f"{one.event}: exit {one.ran.code}, out {one.ran.out!r}, err {one.ran.err[-500:]!r}"
                for one in self.asked
                if not one.ran.killed and not well_behaved(one.event, one.ran)
            )
        )

    def _judge_blocks(self, store: SqliteStore) -> Verdict:
        """Every block of the transcript is kept once and in order; it is found, and its line lies where it should."""
        expected = [mark for line in self.transcript.lines for mark in line.marks]
        events = [event for event in session_events(store, self.session) if event.kind not in MARKS]
        verdict = compare(expected, [mark_of(event) for event in events])
        if any(verdict):
            return verdict
        found = {mark: store.matching([[Phrase(mark)]], EVERYWHERE, 9, deep=True) for mark in expected if mark}
        wrong = [f"{mark} is not found once" for mark, keys in found.items() if len(keys) != 1]
        for event, mark in zip(events, expected, strict=True):
            where = store.line(event.id)
            if not where:
                wrong.append(f"{mark or event.id} has no line")
                continue
            source, member, offset = where
            line = archive.read(str(self.home), source, member)[offset:].partition(b"\n")[0]
            if mark.encode() not in line:
                wrong.append(f"{mark} is not in its line")
        return Verdict(wrong=tuple(wrong))

    def _judge_records(self, store: SqliteStore) -> Verdict:
        """What a hook was told is kept once: for certain if all went well, else at most once."""
        path = self.home / f"spool/{self.session}.spool"
        records = spool.records(path.read_bytes()) if path.is_file() else ()
        # a worker that dies may leave a record that the next one repeats: it is the same if it has the same time
        distinct = {(str(one["event"]), one["at"], str(one.get("text") or "").partition(".")[0]) for one in records}
        kept = Counter((event, text) for event, _, text in distinct)
        sure = Counter((one.event, one.text) for one in self.asked if one.sure)
        called = Counter((one.event, one.text) for one in self.asked)
        told = Counter({one: number for one, number in kept.items() if one[0] == "Told"})
        lost = [f"record of {one}" for one in (sure - kept).elements()]
        doubled = [f"record of {one}" for one in (kept - called - told).elements()]
        kinds = Counter(event.kind for event in session_events(store, self.session))
        for kind, event in FROM_HOOKS.items():
            number = kept[event, ""]
            lost += [f"{kind} event"] * (number - kinds[kind])
            doubled += [f"{kind} event"] * (kinds[kind] - (called[event, ""] if self.cut else number))
        return Verdict(tuple(lost), tuple(doubled))

    def _judge_archive(self, store: SqliteStore) -> Verdict:
        """`zcat` gives back the transcript, redacted, and so do the members one by one."""
        salt = read_salt(str(self.home))
        expected = b"".join(redact_line(line.data[:-1], salt, ()) + b"\n" for line in self.transcript.lines)
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
        secrets = [secret(number).encode() for number in range(TURNS + self.typed + 1)]
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return [f"a secret is in {path.name}" for path in files if any(one in path.read_bytes() for one in secrets)]


def said_in(payload: dict[str, str]) -> str:
    """What tells one payload's text from another's, and survives redaction."""
    return (payload.get("prompt") or payload.get("last_assistant_message") or "").partition(".")[0]


def mark_of(event: Event) -> str:
    """The mark of a block's event."""
    return "".join(MARK.findall(event.text)[:1])


def compare(expected: list[str], found: list[str]) -> Verdict:
    """Whether all the blocks are there, once each and in order."""
    lost, doubled = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    order = expected == found or lost or doubled
    return Verdict(
        tuple(one or "a block without text" for one in lost.elements()),
        tuple(one or "a block without text" for one in doubled.elements()),
        () if order else ("the blocks are out of order",),
    )


def damage(store: SqliteStore) -> list[str]:
    """What is wrong with a store that nobody else uses."""
    problem = store.index_problem()
    return [*store.problems(), *([problem] if problem else [])]


def complains(out: bytes) -> bool:
    """Whether the user is told that something is wrong; that the rules were told is no complaint."""
    return b'"systemMessage":"' in out.replace(b'"systemMessage":"Memory Keeper gave this context', b"")


def well_behaved(event: str, ran: Ran) -> bool:
    """Exit 0, nothing on stderr, and on stdout nothing or one JSON object that the host understands."""
    if ran.code or ran.err:
        return False
    try:
        said = json.loads(ran.out or b"{}")
    except ValueError:
        return False
    more = said.get("hookSpecificOutput", {"hookEventName": event})
    return bool(said.keys() <= {"hookSpecificOutput", "systemMessage"} and more["hookEventName"] == event)
