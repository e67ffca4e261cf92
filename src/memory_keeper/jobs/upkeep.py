"""What falls due by the calendar: observations every week, tasks and the report of a month every month.

How old a thing is and how often it was confirmed is asked for when a page is made, so nothing has to be moved on a
certain day. But a page says what was so when it was made. One from before this week, or this month, is made anew; when
that was last done, its own time says. Twice is once: who comes second finds nothing due.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from time import localtime, strftime

from memory_keeper import config
from memory_keeper.briefs.files import (
    DONE,
    FOLDER,
    OBSERVATION_ARCHIVE,
    REPORTS,
    TASK_ARCHIVE,
    Folder,
    Found,
    Unwritable,
    is_there,
    write,
)
from memory_keeper.briefs.files import OBSERVATIONS as OBSERVATIONS_PAGE
from memory_keeper.briefs.report.markdown import report_of
from memory_keeper.dates import month_of, week_began
from memory_keeper.errors import Busy, KeeperError
from memory_keeper.jobs.learn import keep_patterns, learn
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json, NamedTuple, Note, origin
from memory_keeper.notes.tasks.done import done, kept_and_archived
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import left_alone, outdated, render
from memory_keeper.rules.observations import Observed, fold
from memory_keeper.rules.prompts import prompts_of, said
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.home import Lock

PATIENCE = 10.0  # seconds for whoever writes notes
OBSERVATIONS, TASKS, REPORT = "observations", "tasks", "report"
STATES = {"rule": "promoted"}  # how people call it, where that is something else


class Layer(NamedTuple):
    """What is brought up to date by the calendar."""

    switch: str  # the setting
    began: Callable[[float], float]  # the span whose pages are new enough
    pages: tuple[str, ...]


LAYERS = {
    OBSERVATIONS: Layer(
        "compaction.triggers.observationAge.enabled", week_began, (OBSERVATIONS_PAGE, OBSERVATION_ARCHIVE)
    ),
    TASKS: Layer("compaction.triggers.taskArchive.enabled", lambda now: month_of(now)[0], (DONE, TASK_ARCHIVE)),
}
MONTHLY = "compaction.monthlyReview"


class Upkept(NamedTuple):
    """What an upkeep came to."""

    project: str
    root: str
    counts: dict[str, dict[str, int]]  # of observations and tasks, by their state
    new: dict[str, int]  # observations that came into their state since the page before was made
    files: tuple[str, ...]  # that were written, or would be
    left: dict[str, str]  # that were not, and what is to be said of each


# --- when and where --------------------------------------------------------------------------------------------------


def due(pages: Pages) -> tuple[str, ...]:
    """What a project's pages are too old for, as far as the user wants it done."""
    settings = pages.settings
    if not settings["compaction.enabled"] or not pages.are_wanted:
        return ()
    found = [
        what
        for what, layer in LAYERS.items()
        if settings[layer.switch] and 0 < _made(pages.root, what) < layer.began(pages.now)
    ]
    return (*found, REPORT) if settings[MONTHLY] and _lacks_report(pages) else tuple(found)


def _ours(folder: Folder, what: str) -> Iterator[tuple[str, Found]]:
    """The pages of a layer that nobody has written to since we did."""
    for name in LAYERS[what].pages if what in LAYERS else ():
        if (found := folder.read(name)) and found.ours:
            yield name, found


def _made(root: str, what: str) -> float:
    """When the pages of a layer were last made; 0 when there are none of ours."""
    try:
        with Folder(root) as folder:
            return max((found.at for _, found in _ours(folder, what)), default=0.0)
    except Unwritable:
        return 0.0


def _lacks_report(pages: Pages) -> bool:
    """Whether a model was asked something in the month that is over, and nobody has written its report."""
    begin, end = month_of(pages.now, 1)
    try:
        with Folder(pages.root, (*FOLDER, REPORTS)) as folder:
            if folder.is_there(report_name(begin)):
                return False
    except Unwritable:
        pass  # there is no such folder yet; one that leads elsewhere is not written to
    return bool(pages.keeper.store.spending(project=pages.project, since=begin, until=end))


def report_name(begin: float) -> str:
    """The file of a month's report."""
    return strftime("%Y-%m.md", localtime(begin))


def lately(keeper: Keeper, now: float, sessions: Iterable[str] = ()) -> list[Pages]:
    """The pages of the projects that sessions were in lately, or that these are in."""
    folders = {read_context(keeper.home, session).folder for session in sessions or spool.names(keeper.home)} - {""}
    return everywhere(keeper, now, map(config.find_root, folders))


def everywhere(keeper: Keeper, now: float, roots: Iterable[str] | None = None) -> list[Pages]:
    """The pages of all projects, or of those in some folders."""
    found = sorted({*(keeper.store.roots() if roots is None else roots)})
    return [Pages(keeper, keeper.project(root), root, now) for root in found if is_there(root)]


def is_due(keeper: Keeper, sessions: Collection[str], now: float) -> bool:
    """Whether something is due where these sessions are."""
    return bool(sessions) and any(map(due, lately(keeper, now, sessions)))


# --- doing it --------------------------------------------------------------------------------------------------------


def keep_up(keeper: Keeper, now: float, complain: Callable[[Exception], None]) -> list[Upkept]:
    """Do what is due where sessions were lately; `complain` hears of what could not be done."""
    done: list[Upkept] = []
    for pages in lately(keeper, now):
        try:
            with Lock(keeper.home, PATIENCE, "distil"):
                if what := due(pages):
                    done.append(upkeep(pages, what))
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
    since = _made(root, OBSERVATIONS)
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
        new = _by_state(one for one in found if since and one.since > since)
    if TASKS in what:
        tasks = done(keeper.store, project)
        kept, archived = kept_and_archived(tasks, keeper.store, project, pages.settings)
        counts[TASKS] = {"done": len(tasks), "kept in full": len(kept), "archived": len(archived)}
    left = left_alone(pages)
    return Upkept(project, root, counts, new, tuple(path for path in files if foreign or path not in left), left)


def _by_state(found: Iterable[Observed]) -> dict[str, int]:
    states = [STATES.get(one.state, one.state) for one in found]
    return {state: states.count(state) for state in dict.fromkeys(states)}


def _report(pages: Pages, dry: bool) -> Sequence[str]:
    """Write the report of the month that is over, unless somebody has; its path."""
    keeper, begin = pages.keeper, month_of(pages.now, 1)[0]
    path = (REPORTS, report_name(begin))
    if dry:
        return ["/".join((pages.root, *FOLDER, *path))]
    text = report_of(keeper.store, keeper.home, pages.project, begin, pages.settings, pages.now)
    with Lock(keeper.home, PATIENCE, "render"):
        return [write(pages.root, path, text)] if text and _lacks_report(pages) else []


def _renew(root: str, what: Collection[str]) -> None:
    """Let the time of pages that were right as they are say that somebody has looked."""
    if is_there(root):
        with Folder(root) as folder:
            for name, found in [pair for one in what for pair in _ours(folder, one)]:
                folder.keep(name, found)


def as_json(done: Upkept) -> Json:
    """What an upkeep came to, as a document says it."""
    about = {"project": done.project, "root": done.root, **done.counts}
    return {**about, "new": done.new, "files": done.files, "left": [*done.left]}
