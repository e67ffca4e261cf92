"""What falls due by the calendar: observations every week, tasks and the report of a month every month.

How old a thing is and how often it was confirmed is asked for when a page is made, so nothing has to be moved on a
certain day. But a page says what was so when it was made. One from before this week, or this month, is made anew; when
that was last done, its own time says. Twice is once: who comes second finds nothing due.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from time import localtime, strftime

from memory_keeper import config
from memory_keeper.briefs.files import (
    DONE,
    FOLDER,
    OBSERVATION_ARCHIVE,
    REPORTS,
    SEALED,
    TASK_ARCHIVE,
    Folder,
    Found,
    Unwritable,
    is_there,
    write,
)
from memory_keeper.briefs.files import OBSERVATIONS as OBSERVATIONS_PAGE
from memory_keeper.briefs.pages import observed_in, sealed, texts
from memory_keeper.briefs.report.markdown import report_of
from memory_keeper.briefs.spans import month_began, week_began
from memory_keeper.errors import Busy, KeeperError
from memory_keeper.jobs.learn import keep_patterns, learn
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json, NamedTuple, Note, origin
from memory_keeper.notes.tasks.done import done, kept_and_archived
from memory_keeper.pages import render
from memory_keeper.pages.adopt import is_wanted
from memory_keeper.pages.render import sealed_text
from memory_keeper.rules.observations import Observed, fold
from memory_keeper.rules.prompts import prompts_of, said
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.home import Lock

PATIENCE = 10.0  # seconds for whoever writes notes
OBSERVATIONS, TASKS, REPORT = "observations", "tasks", "report"
PAGES = {
    OBSERVATIONS: (OBSERVATIONS_PAGE, OBSERVATION_ARCHIVE),
    TASKS: (DONE, TASK_ARCHIVE),
}
SWITCHES = {
    OBSERVATIONS: "compaction.triggers.observationAge.enabled",
    TASKS: "compaction.triggers.taskArchive.enabled",
    REPORT: "compaction.monthlyReview",
}
STATES = {"rule": "promoted"}  # how people call it, where that is something else


class Place(NamedTuple):
    """A project, and a folder in which it has pages."""

    project: str
    root: str


class Upkept(NamedTuple):
    """What an upkeep came to."""

    place: Place
    counts: dict[str, dict[str, int]]  # of observations and tasks, by their state
    new: dict[str, int]  # observations that came into their state since the page before was made
    files: tuple[str, ...]  # that were written, or would be
    left: dict[str, str]  # that were not, and what is to be said of each


# --- when ------------------------------------------------------------------------------------------------------------


def due(keeper: Keeper, place: Place, now: float) -> tuple[str, ...]:
    """What a project's pages are too old for, as far as the user wants it done."""
    settings = config.load(keeper.home, place.root, keeper.environ)[0]
    if not settings["compaction.enabled"] or not is_wanted(keeper, place.root):
        return ()
    began = {OBSERVATIONS: week_began(now), TASKS: month_began(now)}
    found = [what for what in PAGES if settings[SWITCHES[what]] and 0 < _made(place.root, what) < began[what]]
    if settings[SWITCHES[REPORT]] and _lacks_report(keeper, place, now):
        found.append(REPORT)
    return tuple(found)


def _made(root: str, what: str) -> float:
    """When the pages of something were last made; 0 when there are none that nobody has written to since."""
    try:
        with Folder(root) as folder:
            return max((found.at for name in PAGES[what] if (found := folder.read(name)) and found.ours), default=0.0)
    except Unwritable:
        return 0.0


def _lacks_report(keeper: Keeper, place: Place, now: float) -> bool:
    """Whether a model was asked something in the month that is over, and nobody has written its report."""
    begin, end = month_began(now, 1), month_began(now)
    try:
        with Folder(place.root, (*FOLDER, REPORTS)) as folder:
            if folder.is_there(report_name(begin)):
                return False
    except Unwritable:
        pass  # there is no such folder yet; one that leads elsewhere is not written to
    return bool(keeper.store.spending(project=place.project, since=begin, until=end))


def report_name(begin: float) -> str:
    """The file of a month's report."""
    return strftime("%Y-%m.md", localtime(begin))


# --- where -----------------------------------------------------------------------------------------------------------


def lately(keeper: Keeper) -> list[Place]:
    """The projects that sessions were in lately and that have pages of ours."""
    folders = {read_context(keeper.home, name).folder for name in spool.names(keeper.home)} - {""}
    return _places(keeper, (config.find_root(folder) for folder in folders))


def everywhere(keeper: Keeper) -> list[Place]:
    """All projects that have pages of ours."""
    return _places(keeper, keeper.store.roots())


def _places(keeper: Keeper, roots: Iterable[str]) -> list[Place]:
    return [Place(keeper.project(root), root) for root in sorted(set(roots)) if is_there(root)]


# --- doing it --------------------------------------------------------------------------------------------------------


def keep_up(keeper: Keeper, now: float, complain: Callable[[Exception], None]) -> list[Upkept]:
    """Do what is due where sessions were lately; `complain` hears of what could not be done."""
    done: list[Upkept] = []
    for place in lately(keeper):
        try:
            with Lock(keeper.home, PATIENCE, "distil"):
                if what := due(keeper, place, now):
                    done.append(upkeep(keeper, place, what, now))
        except Busy:
            pass  # who is at it does the same
        except (KeeperError, OSError) as error:
            complain(error)
    return done


def is_due(keeper: Keeper, sessions: Iterable[str], now: float) -> bool:
    """Whether something is due where these sessions are."""
    folders = {read_context(keeper.home, session).folder for session in sessions} - {""}
    return any(due(keeper, place, now) for place in _places(keeper, map(config.find_root, folders)))


def upkeep(
    keeper: Keeper,
    place: Place,
    what: Collection[str],
    now: float,
    *,
    dry: bool = False,
    foreign: bool = False,
    everything: bool = False,
    progress: Callable[[int], None] = lambda prompts: None,
) -> Upkept:
    """Find what new prompts say, or `everything` there was; bring the pages up to date, and write the report that is
    missing. `dry`: only say what would be written; `foreign`: also over what is not ours, which is kept beside it."""

    since = _made(place.root, OBSERVATIONS)
    unsaid: list[Note] = []
    if dry:
        unsaid = _find_said(keeper, place, everything, progress)
        files = _outdated(keeper, place, now)
    else:
        learn(keeper, place.project, now, everything, progress=progress)
        if TASKS in what:
            list(keep_patterns(keeper, place.project, now))
        files = render.render(keeper, place.project, place.root, now, foreign)
        _renew(place.root, what)
    if REPORT in what:
        files += _report(keeper, place, now, dry)
    counts, new = _count(keeper, place, what, now, unsaid, since)
    left = render.left_alone(keeper, place.project, place.root)
    return Upkept(place, counts, new, tuple(path for path in files if foreign or path not in left), left)


def _find_said(keeper: Keeper, place: Place, everything: bool, progress: Callable[[int], None]) -> list[Note]:
    """What prompts say that would be kept."""

    found: list[Note] = []
    for prompt in prompts_of(keeper.store, place.project, everything):
        found += said(prompt, place.project)
        progress(1)
    return found


def _count(
    keeper: Keeper, place: Place, what: Collection[str], now: float, unsaid: Sequence[Note], since: float
) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Observations and tasks by their state, and the observations that came into theirs `since` then."""
    settings = config.load(keeper.home, place.root, keeper.environ)[0]
    counts: dict[str, dict[str, int]] = {}
    new: dict[str, int] = {}
    if OBSERVATIONS in what:
        notes = {origin(note): note for note in (*unsaid, *keeper.store.notes(place.project, 0, "observation"))}
        found = fold(keeper.store, place.project, notes.values(), settings, now)
        counts[OBSERVATIONS] = _by_state(found)
        new = _by_state(one for one in found if since and one.since > since)
    if TASKS in what:
        counts[TASKS] = _count_tasks(keeper, place.project, settings)
    return counts, new


def _by_state(found: Iterable[Observed]) -> dict[str, int]:
    states = [STATES.get(one.state, one.state) for one in found]
    return {state: states.count(state) for state in dict.fromkeys(states)}


def _count_tasks(keeper: Keeper, project: str, settings: Json) -> dict[str, int]:
    tasks = done(keeper.store, project)
    kept, archived = kept_and_archived(tasks, keeper.store, project, settings)
    return {"done": len(tasks), "kept in full": len(kept), "archived": len(archived)}


def _outdated(keeper: Keeper, place: Place, now: float) -> list[str]:
    """The pages that are not as they should be."""

    settings = config.load(keeper.home, place.root, keeper.environ)[0]
    observed = observed_in(keeper.store, place.project, settings, now)
    bodies = sealed(keeper.store, place.project, settings, observed)
    try:
        with Folder(place.root) as folder:
            found = {name: folder.read(name) for name in folder.names()}
    except Unwritable:
        found = {}
    wanted = texts(keeper.store, place.project, keeper.salt, settings, observed)
    wanted |= {name: sealed_text(keeper, place.project, name, bodies, found.get(name)) for name in SEALED}
    path = "/".join((place.root, *FOLDER))
    return [f"{path}/{name}" for name, text in wanted.items() if _said(found.get(name)) != text.encode()]


def _said(found: Found | None) -> bytes:
    return found.data if found else b""


def _report(keeper: Keeper, place: Place, now: float, dry: bool) -> list[str]:
    """Write the report of the month that is over, unless somebody has; its path."""

    begin = month_began(now, 1)
    if dry:
        return ["/".join((place.root, *FOLDER, REPORTS, report_name(begin)))]
    settings = config.load(keeper.home, place.root, keeper.environ)[0]
    text = report_of(keeper.store, keeper.home, place.project, begin, settings, now)
    with Lock(keeper.home, PATIENCE, "render"):
        if not text or not _lacks_report(keeper, place, now):
            return []
        return [write(place.root, (REPORTS, report_name(begin)), text)]


def _renew(root: str, what: Collection[str]) -> None:
    """Let the time of pages that were right as they are say that somebody has looked."""
    if not is_there(root):
        return
    with Folder(root) as folder:
        for name in (name for one in what for name in PAGES.get(one, ())):
            found = folder.read(name)
            if found and found.ours:
                folder.keep(name, found)


def as_json(done: Upkept) -> Json:
    """What an upkeep came to, as a document says it."""
    return {**done.place._asdict(), **done.counts, "new": done.new, "files": done.files, "left": [*done.left]}
