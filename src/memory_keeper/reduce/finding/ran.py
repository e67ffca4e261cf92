"""The facts in what was run: commands and how they last ended, what tests said, errors and what mended them, commits.

What a tool printed is data. It can be a test's result, an error or a commit, and nothing else.
"""

from __future__ import annotations

import re

from memory_keeper.capture.calls import COMMITTED, DROPS, command_of, core, first_step, steps
from memory_keeper.capture.calls import typed as as_typed
from memory_keeper.capture.runs import FAILS, SERIAL, Run, exit_status, hides, went_wrong
from memory_keeper.capture.signature import HOST, OF_TESTS, REFUSED, find_wrong
from memory_keeper.model import WRITES, Event, NamedTuple
from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.words import names
from memory_keeper.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHOWN, LINE = 60, 200  # characters of a command; of what it printed
RUNS = 10  # events of a command's newest runs: two each
EDITS = 20  # that are kept since an error
KEPT = 200  # errors; the oldest go

# --- what tools print ------------------------------------------------------------------------------------------------

TESTED = re.compile(
    r"^.*(?:\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?)\b|\btest result:|^Tests?:? +\d"
    r"|^Ran \d+ tests?.*(?:\n\s*\n(?:OK|FAILED))?|^(?:ok|FAIL)\s+\S+\s+[\d.]+s|^DONE \d+ tests).*$",
    re.M,
)
OF_ONE = re.compile(r"^ok\s")  # one package of several: no word about the run
TESTS = re.compile(
    r"test|spec\b|\bcheck|\btox\b|\bnox\b|jest|mocha|ava\b|phpunit|\bci\b|verify|validate|cypress|karma", re.I
)
LOGGED = re.compile(r"^([0-9a-f]{7,40}) (?:\([^)\n]{1,100}\) )?(.{1,300})$", re.M)


class Command(NamedTuple):
    """A shell command, folded over all its runs."""

    heart: str
    text: str  # as last run in its plainest form
    failed: bool  # of that form
    exit: str
    cites: tuple[str, ...]
    at: float


def ran(events: Sequence[Event], calls: dict[str, Event]) -> Iterator[Fact]:
    """Commands, the tests, errors and commits among them, and what came before an error went away; calls by ref."""
    commands: dict[str, Command] = {}
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
        wrong = went_wrong(Run(call, event, 0))
        if heart:
            said = _tests(line, output, call, event)
            wrong = wrong or any(fact.status == "failed" for fact in said.values())
            _count(commands, heart, typed, wrong, call, event)
            tests |= said
        key = heart or first_step(line)[:80] or call.tool
        if wrong:
            errors.add(key, typed, output, call, event)
        elif key in errors.since:
            errors.mend(key, call, event)
    for one in commands.values():
        status = "ok" if not one.failed else f"failed, exit {one.exit}" if one.exit else "failed"
        yield Fact("command", one.text, one.cites, one.at, about=one.heart, status=status)
    yield from tests.values()
    yield from [*errors.found.values()][-KEPT:]
    yield from _commits(events, calls)


def _shown(line: str) -> str:
    return as_typed(line, SHOWN).lstrip("… ")


def _count(commands: dict[str, Command], heart: str, typed: str, wrong: bool, call: Event, event: Event) -> None:
    """Count a run: the command is told as it was last run, but in its plainest form."""
    before = commands.pop(kin := SERIAL.sub("#", heart), None)
    cites = ((before.cites if before else ()) + (call.id, event.id))[-RUNS:]
    commands[kin] = Command(heart, typed, wrong, exit_status(event), cites, event.at)
    if before and before.heart in before.text and heart not in typed:
        commands[kin] = before._replace(cites=(*before.cites[:2], *cites[-RUNS + 2 :]), at=event.at)


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
        for wrong in find_wrong(output, 1) if not output.startswith(HOST) else ():
            if not event.failed and wrong.rank < OF_TESTS:
                continue  # it failed behind a pipe, and no line surely says why
            known = self.found.pop(wrong.signature, None)
            cites = ((known.cites if known else ()) + (call.id, event.id))[-6:]
            self.found[wrong.signature] = Fact("error", one_line(wrong.line, LINE), cites, event.at, typed, "open")
            self.since.setdefault(key, {})[wrong.signature] = []

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
    results = [one_line(found[0], LINE) for found in TESTED.finditer(output)]
    if not results:
        return
    failing = [one for one in results if FAILS.search(one)]
    sums = [one for one in results if not OF_ONE.match(one) and not one.startswith("FAIL")]
    said = (sums or failing or results)[-1]
    bad = event.failed or bool(failing if hides(command_of(call)) else FAILS.search(said))
    part = OF_ONE.match(said) and (len(results) > 1 or "|" in command_of(call))
    status = "failed" if bad else "unfailed" if part else "passed"
    if bad and OF_ONE.match(said):
        return  # one part passed: what failed is told as an error
    yield Fact("test", said, (call.id, event.id), event.at, ran, status, _reason(output) if bad else "")


def _reason(output: str) -> str:
    """What an output of tests surely names as wrong: an exception, an assertion, a test; empty when it names none."""
    return next((one_line(one.line, LINE) for one in find_wrong(output, 1) if one.rank >= OF_TESTS), "")


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
