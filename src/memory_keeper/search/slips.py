"""Commands that failed as they were typed, and the form that worked right after: `pytest`, then `uv run pytest`.

What failed for another reason, a test or a network, is none; nor is a form that worked at another time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from memory_keeper.capture.calls import SETTING, steps
from memory_keeper.capture.runs import SENT, SHELL, Run, bare, hearts, in_order, match, outcome, program
from memory_keeper.capture.signature import REFUSED, places, signature
from memory_keeper.model import NamedTuple
from memory_keeper.search.fixes import USAGE
from memory_keeper.search.how import normal_form
from memory_keeper.store.calls import calls_with, results_of
from memory_keeper.store.store import Store
from memory_keeper.text import clean, one_line

CALLS = 3_000  # the newest that are looked at
NEAR = 4  # runs after a failure among which the form that worked is looked for
ERROR = 80  # characters
NAMED = re.compile(r"(?<!\w)--?\w[\w-]*")


class Slip(NamedTuple):
    """A form of a command that failed, and the one that worked instead."""

    failed: str
    error: str
    worked: str
    session: str
    at: float


def slips(runs: Iterable[Run]) -> list[Slip]:
    """The slips in some runs, each thread's in order; of a line with several commands nobody knows which failed."""
    threads: dict[tuple[str, str], list[Run]] = {}
    for run in (run for run in runs if _forms(run)):
        threads.setdefault((run.call.session, run.call.agent), []).append(run)
    return [slip for thread in threads.values() for slip in _slips(thread)]


def slips_with(store: Store, project: str, words: Iterable[str]) -> list[Slip]:
    """Those of a project's newest commands that have one of some words; no form that ever worked is one."""
    found: list[Slip] = []
    for word in sorted(set(words)):
        known = _runs(store, project, word)
        worked = {form for run in known if not outcome(run)[0] for form in _forms(run)}
        found += [slip for slip in slips(known) if slip.failed not in worked]
    return list(dict.fromkeys(found))


def word_of(slip: Slip) -> str:
    """What every command of a slip has in it."""
    words = (*slip.failed.split(), *slip.worked.split())
    return next((word for word in words if word in slip.failed and word in slip.worked), "")


def _runs(store: Store, project: str, word: str) -> list[Run]:
    calls = dict(calls_with(store, project, SHELL, word, CALLS))
    results, order = results_of(store, [*calls]), in_order([*calls.items()])
    known = sorted(results, key=lambda seq: order[seq])
    return [Run(calls[seq], results[seq], seq) for seq in known if not results[seq].text.startswith(REFUSED)]


def _slips(thread: Sequence[Run]) -> Iterator[Slip]:
    for place, run in enumerate(thread):
        said = signature(run.result.text) if outcome(run)[0] else ""
        if not said or not USAGE.search(said) or places(run.result.text, said):
            continue  # else it is not the form that was wrong
        later = (one for one in islice(thread, place + 1, place + 1 + NEAR) if outcome(one) == (False, True))
        forms = (_told_apart(run, one, said) for one in later if match(run, one).like)
        for failed, worked in islice(filter(None, forms), 1):
            yield Slip(failed, one_line(clean(said), ERROR), worked, run.call.session, run.call.at)


def _told_apart(failed: Run, worked: Run, said: str) -> tuple[str, str] | None:
    """The two forms: how the program was called, if that differs; else without and with the option that the error
    names; else all of it. None when they are the same."""
    (head, line), (other, working) = _forms(failed), _forms(worked)
    if head != other:
        return head, other
    options = (word.partition("=")[0] for word in line.split() if word.startswith("-"))
    wrong = next((option for option in options if option in NAMED.findall(said) and option not in working), "")
    if wrong:
        return f"{head} {wrong}", head
    return (line, working) if line != working else None


def _forms(run: Run) -> list[str]:
    """How a command was typed: up to the name of its program, and with all its words; nothing for several commands."""
    found = hearts(run.command)
    named = program(found[0]).split() if len(found) == 1 else []
    if not named:
        return []
    typed = (SETTING.sub("", step) for step in steps(SENT.sub("", run.command)))
    words = next((step for step in typed if bare(step) == found[0]), found[0]).split()
    last = next((place for place, word in enumerate(words) if word.rpartition("/")[2] == named[0]), 0)
    return [" ".join(words[: last + len(named)]), normal_form(" ".join(words))]
