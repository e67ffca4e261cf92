"""What falls due by the calendar: observations every week, tasks and the report of a month every month.

How old a thing is and how often it was confirmed is asked for when a page is made, so nothing has to be moved on a
certain day. But a page says what was so when it was made. One from before this week, or this month, is made anew; when
that was last done, its own time says. Twice is once: who comes second finds nothing due.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from memory_keeper.briefs.files import FOLDER, REPORTS, Folder, is_there, write
from memory_keeper.briefs.report.markdown import report_of
from memory_keeper.dates import month_of
from memory_keeper.errors import Busy, KeeperError
from memory_keeper.jobs.due import (
    OBSERVATIONS,
    REPORT,
    TASKS,
    due,
    lacks_report,
    lately,
    made_at,
    our_pages,
    report_name,
)
from memory_keeper.jobs.learn import keep_patterns, learn
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json, NamedTuple, Note, origin
from memory_keeper.notes.tasks.done import done, kept_and_archived
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import left_alone, outdated, render
from memory_keeper.rules.observations import Observed, fold
from memory_keeper.rules.prompts import prompts_of, said
from memory_keeper.store.home import Lock

PATIENCE = 10.0  # seconds for whoever writes notes
STATES = {"rule": "promoted"}  # how people call it, where that is something else


class Upkept(NamedTuple):
    """What an upkeep came to."""

    project: str
    root: str
    counts: dict[str, dict[str, int]]  # of observations and tasks, by their state
    new: dict[str, int]  # observations that came into their state since the page before was made
    files: tuple[str, ...]  # that were written, or would be
    left: dict[str, str]  # that were not, and what is to be said of each


def keep_up(keeper: Keeper, now: float, complain: Callable[[Exception], None]) -> list[Upkept]:
    """Do what is due where sessions were lately; `complain` hears of what could not be done."""
    done: list[Upkept] = []
    for place in lately(keeper, now):
        try:
            with Lock(keeper.home, PATIENCE, "distil"):
                if what := due(place):
                    done.append(upkeep(Pages(keeper, place.project, place.root, now), what))
        except Busy:
            pass  # who is at it does the same
        except (KeeperError, OSError) as error:
            complain(error)
    return done


def upkeep(
    pages: Pages,
    what: Collection[str],
    *,
    dry: bool = False,
    foreign: bool = False,
    everything: bool = False,
    progress: Callable[[int], None] = lambda prompts: None,
) -> Upkept:
    """Find what new prompts say, or `everything` there was; bring the pages up to date, and write the report that is
    missing. `dry`: only say what would be written; `foreign`: also over what is not ours, which is kept beside it."""
    keeper, project, root = pages.keeper, pages.project, pages.root
    since = made_at(root, OBSERVATIONS)
    unsaid: list[Note] = []
    if dry:
        for prompt in prompts_of(keeper.store, project, everything):
            unsaid += said(prompt, project)
            progress(1)
        files = outdated(pages)
    else:
        learn(keeper, project, pages.now, everything, progress=progress)
        if TASKS in what:
            list(keep_patterns(keeper, project, pages.now))
        files = render(pages, foreign)
        _renew(root, what)
    if REPORT in what:
        files += _report(pages, dry)
    counts: dict[str, dict[str, int]] = {}
    new: dict[str, int] = {}
    if OBSERVATIONS in what:
        notes = {origin(note): note for note in (*unsaid, *keeper.store.notes(project, 0, "observation"))}
        found = fold(keeper.store, project, notes.values(), pages.settings, pages.now)
        counts[OBSERVATIONS] = _by_state(found)
        new = _by_state(observation for observation in found if since and observation.since > since)
    if TASKS in what:
        tasks = done(keeper.store, project)
        kept, archived = kept_and_archived(tasks, keeper.store, project, pages.settings)
        counts[TASKS] = {"done": len(tasks), "kept in full": len(kept), "archived": len(archived)}
    left = left_alone(pages)
    return Upkept(project, root, counts, new, tuple(path for path in files if foreign or path not in left), left)


def _by_state(found: Iterable[Observed]) -> dict[str, int]:
    states = [STATES.get(observation.state, observation.state) for observation in found]
    return {state: states.count(state) for state in dict.fromkeys(states)}


def _report(pages: Pages, dry: bool) -> Sequence[str]:
    """Write the report of the month that is over, unless somebody has; its path."""
    keeper, begin = pages.keeper, month_of(pages.now, 1)[0]
    path = (REPORTS, report_name(begin))
    if dry:
        return ["/".join((pages.root, *FOLDER, *path))]
    text = report_of(keeper.store, keeper.home, pages.project, begin, pages.settings, pages.now)
    with Lock(keeper.home, PATIENCE, "render"):
        return [write(pages.root, path, text)] if text and lacks_report(pages) else []


def _renew(root: str, what: Collection[str]) -> None:
    """Let the time of pages that were right as they are say that somebody has looked."""
    if is_there(root):
        with Folder(root) as folder:
            for name, found in [pair for layer in what for pair in our_pages(folder, layer)]:
                folder.keep(name, found)


def as_json(done: Upkept) -> Json:
    """What an upkeep came to, as a document says it."""
    about = {"project": done.project, "root": done.root, **done.counts}
    return {**about, "new": done.new, "files": done.files, "left": [*done.left]}
