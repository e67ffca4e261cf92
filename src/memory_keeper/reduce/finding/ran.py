"""The facts in what was run: commands and how they last ended, what tests said, errors and what mended them, commits.

What a tool printed is data. It can be a test's result, an error or a commit, and nothing else.
"""

from __future__ import annotations

import re

from memory_keeper.capture.calls import COMMITTED, DROPS, command_of, core, first_step, steps
from memory_keeper.capture.calls import typed as as_typed
from memory_keeper.model import Event, NamedTuple
from memory_keeper.reduce.facts import WRITES, Fact
from memory_keeper.reduce.words import names
from memory_keeper.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHOWN = 60  # characters of a command
RUNS = 10  # events of a command's newest runs: two each
EDITS = 20  # that are kept since an error
KEPT = 200  # errors; the oldest go

# --- what tools print ------------------------------------------------------------------------------------------------

EXIT = re.compile(r"\bexit(?:ed with)?(?: code| status)?:? (\d{1,3})\b", re.I)
TESTED = re.compile(
    r"^.*(?:\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?)\b|\btest result:|^Tests?:? +\d"
    r"|^Ran \d+ tests?.*(?:\n\s*\n(?:OK|FAILED))?|^(?:ok|FAIL)\s+\S+\s+[\d.]+s|^DONE \d+ tests).*$",
    re.M,
)
OF_ONE = re.compile(r"^ok\s")  # one package of several: no word about the run
TESTS = re.compile(
    r"test|spec\b|\bcheck|\btox\b|\bnox\b|jest|mocha|ava\b|phpunit|\bci\b|verify|validate|cypress|karma", re.I
)
FAILS = re.compile(r"\b(?:[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)|FAIL(?:ED)?)\b")
WRONG = re.compile(
    r"error|exception|fatal|panic|traceback|undefined|cannot|can't|not found|no such|denied|invalid|unexpected|failed"
    r"|FAIL\b|assert|오류|에러|실패",
    re.I,
)
THROWN = re.compile(
    r"^(?:E\s{2,}|[ \t>●✗✕×-]*)((?:(?:\w+\.)*[A-Z]\w{2,}(?:Error|Exception)|panic): .+|(?<=  )assert .+)$", re.M
)
# what says that all is well, or nothing
FINE = re.compile(
    r"^(?:-+ |[✓✔√] )?(?:PASS|PASSED|ok)\b|\bpass(?:ed)?\W*$|^(?:finished|done|completed|took"
    r"|duration)\b.{0,30}\b[\d.]+ ?m?s\b"
    r"|\b0 (?:errors?|failures?|issues|failed)\b",
    re.I,
)
LETTERS, FEW = re.compile(r"[^\W\d_]{3,}"), 5  # words; lines of an output that is short
FRAME = re.compile(r"^Traceback|^\s|^at |^Exit code|^Error:?$|^=+|^-+$|^%|^<|^\+|^#|^ok\s|^\?\s|^\[")
VARIES = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\d+|\"[^\"]*\"|'[^']*'|(?:/[\w.@+-]+)+")
ASSERTS = re.compile(r"\bassert|[!=]=|\bexpected\b", re.I)
LOGGED = re.compile(r"^([0-9a-f]{7,40}) (?:\([^)\n]{1,100}\) )?(.{1,300})$", re.M)
SERIAL = re.compile(r"\d{3,}")  # what tells one run from the next of the same command: of an issue, of a comment
REFUSED = ("The user doesn't want to", "[Request interrupted", "Permission to use")


class Run(NamedTuple):
    """A shell command, folded over all its runs."""

    heart: str
    text: str  # as last run in its plainest form
    failed: bool  # of that form
    exit: str
    cites: tuple[str, ...]
    at: float


def ran(events: Sequence[Event], calls: dict[str, Event]) -> Iterator[Fact]:
    """Commands, the tests, errors and commits among them, and what came before an error went away; calls by ref."""
    runs: dict[str, Run] = {}
    tests: dict[str, Fact] = {}
    errors = _Errors()
    for event in events:
        if event.kind == "call" and (changed := _changes(event)):
            errors.edited(changed)
        call = calls.get(event.ref) if event.kind == "result" else None
        if call is None or call.tool in WRITES or call.tool == "Read" or event.text.startswith(REFUSED):
            continue
        line, output = command_of(call), names.bounded(event.text)
        heart, typed = core(line), _shown(line) or call.tool
        if heart:
            _count(runs, heart, typed, output, call, event)
            tests |= _tests(line, output, call, event)
        key = heart or first_step(line)[:80] or call.tool
        if event.failed:
            errors.add(key, typed, output, call, event)
        else:
            errors.mend(key, call, event)
    for run in runs.values():
        status = "ok" if not run.failed else f"failed, exit {run.exit}" if run.exit else "failed"
        yield Fact("command", run.text, run.cites, run.at, about=run.heart, status=status)
    yield from tests.values()
    yield from [*errors.found.values()][-KEPT:]
    yield from _commits(events, calls)


def _shown(line: str) -> str:
    return as_typed(line, SHOWN).lstrip("… ")


def _count(runs: dict[str, Run], heart: str, typed: str, output: str, call: Event, event: Event) -> None:
    """Count a run: the command is told as it was last run, but in its plainest form."""
    before = runs.pop(kin := SERIAL.sub("#", heart), None)
    code = EXIT.search(output[:200]) if event.failed else None
    cites = ((before.cites if before else ()) + (call.id, event.id))[-RUNS:]
    runs[kin] = Run(heart, typed, event.failed, code[1] if code else "", cites, event.at)
    if before and before.heart in before.text and heart not in typed:
        runs[kin] = before._replace(cites=(*before.cites[:2], *cites[-RUNS + 2 :]), at=event.at)


def _tests(line: str, output: str, call: Event, event: Event) -> dict[str, Fact]:
    """What the tests of a command said, by the step of it that ran them."""
    step = next((step for step in steps(line) if TESTS.search(step)), "")
    return {(core(step) or step): fact for fact in _tested(output, _shown(step), call, event)} if step else {}


class _Errors:
    """What went wrong, and what came before it went away."""

    def __init__(self) -> None:
        self.found: dict[str, Fact] = {}  # by signature
        self.since: dict[str, dict[str, list[Event]]] = {}  # by command: its errors, and the edits since each

    def edited(self, change: Event) -> None:
        for edits in (edits for errors in self.since.values() for edits in errors.values()):
            if len(edits) < EDITS:
                edits.append(change)

    def add(self, key: str, typed: str, output: str, call: Event, event: Event) -> None:
        """A command failed: what its output says went wrong, if it says."""
        if said := wrong_line(output):
            known = self.found.pop(signature := _signature(said), None)
            cites = ((known.cites if known else ()) + (call.id, event.id))[-6:]
            self.found[signature] = Fact("error", said, cites, event.at, typed, "open")
            self.since.setdefault(key, {})[signature] = []

    def mend(self, key: str, call: Event, event: Event) -> None:
        """A command went well: the errors it had are fixed, by the newest edits since."""
        for signature, edits in self.since.pop(key, {}).items():
            if (error := self.found.get(signature)) and error.status == "open":
                mended = ", ".join(dict.fromkeys(edit.path for edit in edits[-8:]))
                cites = (*error.cites, *(edit.id for edit in edits[-8:]), call.id, event.id)
                self.found[signature] = error._replace(cites=cites, status="fixed", because=mended)


def _changes(call: Event) -> Event | None:
    """A call that changes a file, with its path: an edit, or git putting back what was."""
    if call.tool in WRITES:
        return call if call.path else None
    put_back = DROPS.match(first_step(command_of(call)))
    return call._replace(path=put_back[1]) if put_back else None


def _tested(output: str, ran: str, call: Event, event: Event) -> Iterator[Fact]:
    """What a run of tests said: the line that sums it up, sooner than one of its parts."""
    results = [one_line(found[0], 200) for found in TESTED.finditer(output)]
    if not results:
        return
    failing = [one for one in results if FAILS.search(one)]
    sums = [one for one in results if not OF_ONE.match(one) and not one.startswith("FAIL")]
    said = (sums or failing or results)[-1]
    bad = event.failed or bool(failing)
    part = OF_ONE.match(said) and (len(results) > 1 or "|" in command_of(call))
    status = "failed" if bad else "unfailed" if part else "passed"
    if bad and OF_ONE.match(said):
        return  # one part passed: what failed is told as an error
    yield Fact("test", said, (call.id, event.id), event.at, ran, status, _thrown(output) if bad else "")


def wrong_line(output: str) -> str:
    """The line of an output that says what went wrong."""
    if thrown := _thrown(output):
        return thrown
    lines = [line.strip() for line in output[: names.HEAD].splitlines() if _has_words(line) and not FRAME.match(line)]
    lines = [line for line in lines if not FINE.search(line[:300])]
    wrong = [line for line in lines if WRONG.search(line[:300])]
    said = next((line for line in wrong if not TESTED.match(line)), "") or next(iter(wrong), "")
    return one_line(said or (lines[0] if 0 < len(lines) <= FEW else ""), 200)


def _signature(error: str) -> str:
    """What tells an error from others, however its numbers and names change; of an assertion they are all it says."""
    return error if ASSERTS.search(error) else VARIES.sub("#", error.lower())


def _has_words(line: str) -> bool:
    """Whether a line is more than a frame, a bar or a row of numbers."""
    return any(map(str.isalpha, LETTERS.findall(line[:300]))) and 2 * sum(map(str.isalnum, line[:300])) > len(
        line[:300].replace(" ", "")
    )


def _thrown(output: str) -> str:
    """The exception or the assertion that an output names; empty when it names none."""
    found = THROWN.search(output[: names.HEAD])
    return one_line(found[1], 200) if found else ""


def _commits(events: Sequence[Event], calls: dict[str, Event]) -> Iterator[Fact]:
    for event in events:
        call = calls.get(event.ref) if event.kind == "result" and not event.failed else None
        if (
            call
            and "git" in (line := command_of(call)[:20_000])
            and ("commit" in line or "merge" in line or "cherry" in line)
        ):
            for branch, digest, message in COMMITTED.findall(event.text[: names.HEAD])[-5:]:
                yield Fact(
                    "commit", one_line(message, 200), (call.id, event.id), event.at, about=digest[:12], status=branch
                )
            if "git log" in line and not COMMITTED.search(event.text[: names.HEAD]):
                for digest, message in LOGGED.findall(event.text[: names.HEAD])[:1]:
                    if message in line:  # what was committed quietly, and then looked at
                        yield Fact("commit", one_line(message, 200), (call.id, event.id), event.at, about=digest[:12])
