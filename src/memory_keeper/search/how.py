"""How a command or a tool was run here: its forms, how often each worked, and which worked where another did not."""

from __future__ import annotations

import re

from memory_keeper.keep.passage import calls_with
from memory_keeper.model import NamedTuple
from memory_keeper.search.fixes import USAGE, Step, short_path, within
from memory_keeper.search.runs import FOLDER, Run, bare, exit_status, in_order, outcome, program, works
from memory_keeper.search.signature import REFUSED, places, signature
from memory_keeper.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Event, Scope

CALLS = 3_000  # the newest that are looked at
SHOWN = 160  # characters of a command
NEAR = 3  # runs of the same program after a failure among which a form that worked instead is looked for
INSTEAD, ERRORS = 5, 5
READ = 200  # of the newest failures whose errors are read
SEVERAL = re.compile(r"\d{3,}")
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


def how(store: SqliteStore, name: str, scope: Scope, limit: int = 10) -> How:
    """How something was run here; nothing where it never was."""
    asked = " ".join(name.split())
    calls = _calls(store, asked, scope)
    order = in_order([(seq, call) for seq, call, _ in calls])
    found = [Run(call, result, seq) for seq, call, result in sorted(calls, key=lambda one: order[one[0]])]
    found = [run for run in found if within(run.call, scope) and not run.result.text.startswith(REFUSED)]
    known = [_Known(step, run, outcome(run)[0]) for run in found if (step := _step(run, asked))]
    bad = [one for one in known if one.wrong]
    forms = _forms(known, store.roots(scope.project))
    return How(
        asked,
        len(known),
        len(known) - len(bad),
        len(bad),
        forms[:limit],
        _errors(bad)[:ERRORS],
        _instead(known)[:INSTEAD],
    )


def _calls(store: SqliteStore, asked: str, scope: Scope) -> list[tuple[int, Event, Event]]:
    tools = calls_with(store.db, scope.project, asked, "", CALLS) if " " not in asked else []
    return tools or calls_with(store.db, scope.project, "Bash", asked.split(" ")[0] if asked else "", CALLS)


def _step(run: Run, asked: str) -> str:
    """The command of a call that was asked for; of a tool that is no shell, what it was called with."""
    if not run.command:
        return one_line(run.call.text, SHOWN) if run.call.tool == asked else ""
    wanted = asked.split(" ")
    for step in (*works(run.command), bare(run.command)):
        words = [word for word in FOLDER.sub("", step).split()[:12] if not word.startswith("-")]
        if words and [words[0].rpartition("/")[2], *words[1:]][: len(wanted)] == wanted:
            return step
    return ""


def _forms(known: Sequence[_Known], roots: Sequence[str]) -> list[Form]:
    """The forms of some runs, oldest first, folded; the most used first, and of equals the newest."""
    found: dict[str, Form] = {}
    for step, run, wrong in known:
        line = one_line(clean(run.command or run.call.text), SHOWN)
        key = normal_form(step, roots) if run.command else run.call.tool
        form = found.get(key) or Form(key, 0, 0, 0, 0.0, "", "", ())
        status = exit_status(run.result)
        found[key] = Form(
            key,
            form.times + 1,
            form.ok + (not wrong),
            form.failed + wrong,
            max(form.last, run.call.at),
            run.call.id,
            form.worked if wrong else line,
            tuple(sorted({*form.exits, status} - {""})),
        )
    return sorted(found.values(), key=lambda form: (-form.times, -form.last))


def _errors(bad: Sequence[_Known]) -> list[Error]:
    """What went wrong, the most frequent first, and of equals the newest."""
    found: dict[str, Error] = {}
    for one in bad[-READ:]:
        if said := signature(one.run.result.text):
            found[said] = Error(
                said, (found[said].times if said in found else 0) + 1, one.run.call.at, one.run.result.id
            )
    return sorted(found.values(), key=lambda error: (-error.times, -error.last))


def normal_form(step: str, roots: Sequence[str] = ()) -> str:
    """A command without what differs from run to run: long strings, numbers, and all but the end of a path."""
    words = STRING.sub("…", clean(step)).split()[:30]
    short = [short_path(word, roots) if word.startswith("/") else word for word in words]
    return one_line(" ".join(SEVERAL.sub("#", word) for word in short), SHOWN)


def _instead(known: Sequence[_Known]) -> list[Instead]:
    """Which form worked where another had failed as it was wrong, soon after it in the same session."""
    found: dict[tuple[str, str], Instead] = {}
    for place, one in enumerate(known):
        said = signature(one.run.result.text) if one.wrong and one.run.command else ""
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
