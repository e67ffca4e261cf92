"""How a command or a tool was run here: its forms, how often each worked, and which worked where another did not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice

from memory_keeper.capture.calls import command_of, steps
from memory_keeper.capture.project import short_path
from memory_keeper.capture.runs import (
    FOLDER,
    SERIAL,
    SHELL,
    Run,
    as_run,
    bare,
    exit_status,
    hearts,
    in_order,
    program,
    went_wrong,
    works,
)
from memory_keeper.capture.signature import REFUSED, places, signature
from memory_keeper.model import Event, NamedTuple, Scope
from memory_keeper.search.failures import lies_in
from memory_keeper.search.fixes import USAGE, Step
from memory_keeper.store.calls import calls_with, results_of, tool_called
from memory_keeper.store.store import Store
from memory_keeper.text import clean, one_line

CALLS, RUNS = 3_000, 1_000  # the newest in which it is looked for, and those that are looked at
SHOWN = 160  # characters of a command
NEAR = 3  # runs of the same program after a failure among which a form that worked instead is looked for
INSTEAD, ERRORS = 5, 5
READ = 50  # of the newest failures whose errors are read
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
    """A form that failed and the one that worked after it."""

    failed: Step
    error: str
    worked: Step


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
    bad = [one for one in known if one.wrong]
    forms = _forms(known, store.roots(scope.project))
    tool = next((one.run.call.tool for one in known[:1] if one.run.call.tool.lower() == asked.lower()), asked)
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
    """The newest runs of a tool in which there is what was asked for, oldest first; not those that the user refused."""
    calls = calls_with(store, scope.project, tool, word, CALLS)
    found = ((seq, call, step) for seq, call in calls if lies_in(call, scope) and (step := step_of(call)))
    meant = list(islice(found, RUNS))
    results = results_of(store, [seq for seq, _, _ in meant])
    order = in_order([(seq, call) for seq, call, _ in meant])
    meant.sort(key=lambda one: order[one[0]])
    ran = [(step, Run(call, results[seq], seq)) for seq, call, step in meant if seq in results]
    return [_Known(step, run, went_wrong(run)) for step, run in ran if not run.result.text.startswith(REFUSED)]


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
        said = [word for word in words if word[0] != "-"]
        here = said and [said[0].rpartition("/")[2], *said[1:]][: len(names)] == names
        if here and all(option in words for option in options):
            return step
    return ""


def _read(known: Sequence[_Known]) -> list[_Known]:
    """The same with what the newest that went wrong say."""
    newest = [place for place, one in enumerate(known) if one.wrong][-READ:]
    said = {place: signature(known[place].run.result.text) for place in newest}
    return [one._replace(said=said[place]) if place in said else one for place, one in enumerate(known)]


def _forms(known: Sequence[_Known], roots: Sequence[str]) -> list[Form]:
    """The forms of some runs, oldest first, folded; the most used first, and of equals the newest."""
    found: dict[str, list[_Known]] = {}
    for one in known:
        key = normal_form(one.step, roots) if one.run.command else one.run.call.tool
        found.setdefault(key, []).append(one)
    return sorted((_form(key, ran) for key, ran in found.items()), key=lambda form: (-form.times, -form.last))


def _form(key: str, ran: Sequence[_Known]) -> Form:
    worked = next((one.run for one in reversed(ran) if not one.wrong), None)
    return Form(
        key,
        len(ran),
        sum(not one.wrong for one in ran),
        sum(one.wrong for one in ran),
        max(one.run.call.at for one in ran),
        ran[-1].run.call.id,
        one_line(clean(worked.command or worked.call.text), SHOWN) if worked else "",
        tuple(sorted({exit_status(one.run.result) for one in ran} - {""})),
    )


def _errors(bad: Sequence[_Known]) -> list[Error]:
    """What went wrong, the most frequent first, and of equals the newest."""
    found: dict[str, Error] = {}
    for one in bad:
        if said := one.said:
            found[said] = Error(
                said, (found[said].times if said in found else 0) + 1, one.run.call.at, one.run.result.id
            )
    return sorted(found.values(), key=lambda error: (-error.times, -error.last))


def normal_form(step: str, roots: Sequence[str] = ()) -> str:
    """A command without what differs from run to run: long strings, numbers, and all but the end of a path."""
    words = STRING.sub("…", clean(step[:LONGEST])).split()[:30]
    short = [short_path(word, roots) if word.startswith("/") else word for word in words]
    return one_line(" ".join(SERIAL.sub("#", word) for word in short), SHOWN)


def _instead(known: Sequence[_Known]) -> list[Instead]:
    """Which form worked where another had failed as it was wrong, soon after it in the same session."""
    found: dict[tuple[str, str], Instead] = {}
    for place, one in enumerate(known):
        said = one.said if one.run.command else ""
        if not said or not USAGE.search(said) or places(one.run.result.text, said):
            continue  # else it is not the form that was wrong
        later = [other for other in known[place + 1 :] if other.run.call.session == one.run.call.session][:NEAR]
        for other in later:
            differs = normal_form(other.step) != normal_form(one.step)
            if not other.wrong and differs and program(one.step) == program(other.step):
                told = [Step(one_line(clean(each.step), SHOWN), each.run.call.id) for each in (one, other)]
                found[normal_form(one.step), said] = Instead(told[0], said, told[1])
                break
    return list(found.values())[::-1]
