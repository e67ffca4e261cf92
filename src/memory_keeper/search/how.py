"""How a command or a tool was run here: its forms, how often each worked, and which worked where another did not.

A slip is a command that failed as it was typed, and the form that worked right after: `pytest`, then `uv run pytest`.
What failed for another reason, a test or a network, is none; nor is a form that worked at another time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from memory_keeper.capture.calls import SETTING, command_of, steps
from memory_keeper.capture.project import short_path
from memory_keeper.capture.runs import (
    FOLDER,
    SENT,
    SERIAL,
    SHELL,
    Run,
    as_run,
    bare,
    exit_status,
    hearts,
    in_order,
    match,
    outcome,
    program,
    went_wrong,
    works,
)
from memory_keeper.capture.signature import REFUSED, places, signature
from memory_keeper.model import Event, NamedTuple, Scope
from memory_keeper.search.fixes import USAGE, Step
from memory_keeper.store.calls import calls_with, results_of, tool_called
from memory_keeper.store.store import Store
from memory_keeper.text import clean, one_line

CALLS, RUNS = 3_000, 1_000  # the newest in which it is looked for, and those that are looked at
SHOWN = 160  # characters of a command
NEAR = 4  # runs after a failure among which the form that worked is looked for
LINE = 80  # characters of an error
INSTEAD, ERRORS = 5, 5
READ = 50  # of the newest failures whose errors are read
NAMED = re.compile(r"(?<!\w)--?\w[\w-]*")
LONGEST = 2000  # characters of a step: quotes that nobody closes cost the square of their number
STRING = re.compile(r"\"(?:\\.|[^\"\\]){12,}\"|'[^']{12,}'|\$\(.*")


class Form(NamedTuple):
    """One way in which a command was run."""

    form: str  # with what differs from run to run taken out
    times: int
    ok: int
    failed: int
    last: float  # when it was last run
    id: str  # and by which call
    worked: str  # as last run with success; empty: never
    exits: tuple[str, ...]  # the statuses that it failed with, where they are known


class Instead(NamedTuple):
    """A command that failed and the one that worked after it."""

    failed: Step
    error: str
    worked: Step


class Slip(NamedTuple):
    """A form of a command that failed, and the one that worked instead."""

    failed: str
    error: str
    worked: str
    session: str
    at: float
    whole: Instead


class Error(NamedTuple):
    """What a command failed with."""

    error: str
    times: int
    last: float
    id: str  # of the newest result that says so


class How(NamedTuple):
    """What is known of a command or a tool."""

    name: str
    times: int
    ok: int
    failed: int
    forms: list[Form]  # the most used first
    errors: list[Error]  # the most frequent first
    instead: list[Instead]  # the newest first


class _Known(NamedTuple):
    """A run of what was asked for, and whether it went wrong."""

    step: str
    run: Run
    wrong: bool
    said: str = ""  # what went wrong


def how(store: Store, name: str, scope: Scope, limit: int = 10) -> How:
    """How something was run here; nothing where it never was."""
    asked = " ".join(name.split())
    known = _read(_known(store, asked, scope)) if asked else []
    bad = [call for call in known if call.wrong]
    forms = _forms(known, store.roots(scope.project))
    tool = next((call.run.call.tool for call in known[:1] if call.run.call.tool.lower() == asked.lower()), asked)
    return How(
        tool,
        len(known),
        len(known) - len(bad),
        len(bad),
        forms[:limit],
        _errors(bad)[:ERRORS],
        _instead(known)[:INSTEAD],
    )


def _known(store: Store, asked: str, scope: Scope) -> list[_Known]:
    """The runs of a tool of this name; else of a command; else of a tool whose name is written otherwise."""
    word = next((word for word in asked.split(" ") if word[0] != "-"), "")
    if not word:
        return []
    found = _of_tool(store, asked, scope) if word == asked else []
    found = found or _runs(store, SHELL, word, scope, lambda call: _step(command_of(call), asked.split(" ")))
    tool = tool_called(store, scope.project, asked, CALLS) if word == asked and not found else ""  # `edit`
    return _of_tool(store, tool, scope) if tool else found


def _of_tool(store: Store, tool: str, scope: Scope) -> list[_Known]:
    """The runs of a tool, with what it was called with; of the shell, with the programs that it ran."""
    if tool == SHELL:
        return _runs(store, tool, "", scope, lambda call: _program(command_of(call)))
    return _runs(store, tool, "", scope, lambda call: one_line(call.text, SHOWN) or tool)


def _runs(store: Store, tool: str, word: str, scope: Scope, step_of: Callable[[Event], str]) -> list[_Known]:
    """The newest runs of a tool in which there is what was asked for, oldest first."""
    calls = calls_with(store, scope.project, tool, word, CALLS)
    found = ((seq, call, step) for seq, call in calls if scope.holds(call) and (step := step_of(call)))
    meant = {seq: (call, step) for seq, call, step in islice(found, RUNS)}
    ran = _answered(store, {seq: call for seq, (call, _) in meant.items()})
    return [_Known(meant[run.place][1], run, went_wrong(run)) for run in ran]


def _answered(store: Store, calls: dict[int, Event]) -> list[Run]:
    """Some calls with their results, oldest first; not those that the user refused."""
    results, order = results_of(store, [*calls]), in_order([*calls.items()])
    known = sorted(results, key=lambda seq: order[seq])
    return [Run(calls[seq], results[seq], seq) for seq in known if not results[seq].text.startswith(REFUSED)]


def _program(line: str) -> str:
    """What a command line is run for, in a word or two."""
    return program((hearts(line) or [bare(step) for step in steps(line)] or [""])[-1]) or SHELL


def _step(line: str, wanted: Sequence[str]) -> str:
    """The command of a line that begins with these words and has these options; empty when none does."""
    names, options = ([word for word in wanted if (word[0] == "-") == dashed] for dashed in (False, True))
    if not re.search(rf"(?<![\w-]){re.escape(names[0])}(?![\w-])", line):
        return ""  # cheaper to ask than what the commands of the line are
    modules = [as_run(line, step) for step in works(line)] if names[0].startswith("python") else []
    for step in (*works(line), *modules, bare(line)):
        words = FOLDER.sub("", step).split()[:12]
        plain = [word for word in words if word[0] != "-"]
        here = plain and [plain[0].rpartition("/")[2], *plain[1:]][: len(names)] == names
        if here and all(option in words for option in options):
            return step
    return ""


def _read(known: Sequence[_Known]) -> list[_Known]:
    """The same with what the newest that went wrong say."""
    newest = [place for place, call in enumerate(known) if call.wrong][-READ:]
    signatures = {place: signature(known[place].run.result.text) for place in newest}
    return [call._replace(said=signatures[place]) if place in signatures else call for place, call in enumerate(known)]


def _forms(known: Sequence[_Known], roots: Sequence[str]) -> list[Form]:
    """The forms of some runs, oldest first, folded; the most used first, and of equals the newest."""
    found: dict[str, list[_Known]] = {}
    for call in known:
        key = normal_form(call.step, roots) if call.run.command else call.run.call.tool
        found.setdefault(key, []).append(call)
    return sorted((_form(key, ran) for key, ran in found.items()), key=lambda form: (-form.times, -form.last))


def _form(key: str, ran: Sequence[_Known]) -> Form:
    worked = next((call.run for call in reversed(ran) if not call.wrong), None)
    return Form(
        key,
        len(ran),
        sum(not call.wrong for call in ran),
        sum(call.wrong for call in ran),
        max(call.run.call.at for call in ran),
        ran[-1].run.call.id,
        one_line(clean(worked.command or worked.call.text), SHOWN) if worked else "",
        tuple(sorted({exit_status(call.run.result) for call in ran} - {""})),
    )


def _errors(bad: Sequence[_Known]) -> list[Error]:
    """What went wrong, the most frequent first, and of equals the newest."""
    found: dict[str, list[Run]] = {}
    for call in bad:
        if call.said:
            found.setdefault(call.said, []).append(call.run)
    errors = (Error(text, len(ran), ran[-1].call.at, ran[-1].result.id) for text, ran in found.items())
    return sorted(errors, key=lambda error: (-error.times, -error.last))


def normal_form(step: str, roots: Sequence[str] = ()) -> str:
    """A command without what differs from run to run: long strings, numbers, and all but the end of a path."""
    words = STRING.sub("…", clean(step[:LONGEST])).split()[:30]
    short = [short_path(word, roots) if word.startswith("/") else word for word in words]
    return one_line(" ".join(SERIAL.sub("#", word) for word in short), SHOWN)


# --- which form worked -----------------------------------------------------------------------------------------------


def _instead(known: Sequence[_Known]) -> list[Instead]:
    """What worked where something had failed, each once, the newest first."""
    found = {(slip.whole.failed.text, slip.error): slip for slip in slips(call.run for call in known)}
    return [slip.whole for slip in sorted(found.values(), key=lambda slip: -slip.at)]


def slips(runs: Iterable[Run]) -> list[Slip]:
    """The slips in some runs, each thread's in order; of a line with several commands nobody knows which failed."""
    threads: dict[tuple[str, str], list[Run]] = {}
    for run in (run for run in runs if _typed(run)):
        threads.setdefault((run.call.session, run.call.agent), []).append(run)
    return [slip for thread in threads.values() for slip in _slips(thread)]


def slips_with(store: Store, project: str, words: Iterable[str]) -> list[Slip]:
    """Those of a project's newest commands that have one of some words; no form that ever worked is one."""
    found: list[Slip] = []
    for word in sorted(set(words)):
        known = _answered(store, dict(calls_with(store, project, SHELL, word, CALLS)))
        worked = {form for run in known if not outcome(run)[0] for form in _typed(run)}
        found += [slip for slip in slips(known) if slip.failed not in worked]
    return list(dict.fromkeys(found))


def word_of(slip: Slip) -> str:
    """What every command of a slip has in it."""
    words = (*slip.failed.split(), *slip.worked.split())
    return next((word for word in words if word in slip.failed and word in slip.worked), "")


def _slips(thread: Sequence[Run]) -> Iterator[Slip]:
    for place, run in enumerate(thread):
        wrong = signature(run.result.text) if outcome(run)[0] else ""
        if not wrong or not USAGE.search(wrong) or places(run.result.text, wrong):
            continue  # else it is not the form that was wrong
        for later in thread[place + 1 : place + 1 + NEAR]:
            differ = outcome(later) == (False, True) and match(run, later).like and _told_apart(run, later, wrong)
            if differ:
                error, (failed_as, other) = one_line(clean(wrong), LINE), (_typed(each)[1] for each in (run, later))
                whole = Instead(Step(failed_as, run.call.id), error, Step(other, later.call.id))
                yield Slip(differ[0], error, differ[1], run.call.session, run.call.at, whole)
                break


def _told_apart(failed: Run, worked: Run, text: str) -> tuple[str, str] | None:
    """The two forms: how the program was called, if that differs; else without and with the option that the error
    names; else all of it. None when they are the same."""
    (head, line), (other, working) = _typed(failed), _typed(worked)
    if head != other:
        return head, other
    options = (word.partition("=")[0] for word in line.split() if word.startswith("-"))
    wrong = next((option for option in options if option in NAMED.findall(text) and option not in working), "")
    if wrong:
        return f"{head} {wrong}", head
    return (line, working) if line != working else None


def _typed(run: Run) -> list[str]:
    """How a command was typed: up to the name of its program, and with all its words; nothing for several commands."""
    found = hearts(run.command)
    named = program(found[0]).split() if len(found) == 1 else []
    if not named:
        return []
    typed = (SETTING.sub("", step) for step in steps(SENT.sub("", run.command)))
    words = next((step for step in typed if bare(step) == found[0]), found[0]).split()
    last = next((place for place, word in enumerate(words) if word.rpartition("/")[2] == named[0]), 0)
    return [" ".join(words[: last + len(named)]), normal_form(" ".join(words))]
