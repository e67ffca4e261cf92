"""What is due: notes of sessions, and what the calendar asks for.

A server asks this while its session goes on, and `run` is started when something is. So nothing is loaded here of what
does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
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
)
from memory_keeper.briefs.files import OBSERVATIONS as OBSERVATIONS_PAGE
from memory_keeper.dates import month_of, week_began
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json, NamedTuple, Open
from memory_keeper.notes.segments import Segment, segments
from memory_keeper.pages import Place
from memory_keeper.policy import CHARACTERS, is_over, note_is_due
from memory_keeper.project_settings import Settings
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.events import open_events

OBSERVATIONS, TASKS, REPORT = "observations", "tasks", "report"

# --- notes ------------------------------------------------------------------------------------------------------------


def note_may_be_due(keeper: Keeper, session: str, now: float) -> bool:
    """Whether a session is to get a note, as far as can be told without reading what was said."""
    settings = Settings(keeper)
    return any(
        note_is_due(open, settings.of(open.project), now) and _may_end(keeper, open, settings.of(open.project), now)
        for open in keeper.store.open_sessions(session=session)
    )


def _may_end(keeper: Keeper, open: Open, settings: Json, now: float) -> bool:
    """Whether a note may end where a session is now: not within a turn that has only just become long enough."""
    talk = settings["reduce.saveTokens"] * CHARACTERS
    return open.characters >= talk or any(segments_of(keeper, open, settings, now, text=False))


def segments_of(
    keeper: Keeper, open: Open, settings: Json, now: float, force: bool = False, text: bool = True
) -> Iterator[Segment]:
    """The segments of what is open of a session, as far as notes may end there."""
    events = open_events(keeper.store, open.session, open.project, text)
    size = settings["reduce.saveInterval"], settings["reduce.saveTokens"] * CHARACTERS
    return segments(events, *size, over=force or is_over(open, now))


# --- by the calendar --------------------------------------------------------------------------------------------------


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


def due(place: Place) -> tuple[str, ...]:
    """What a project's pages are too old for, as far as the user wants it done."""
    settings = place.settings
    if not settings["compaction.enabled"] or not place.are_wanted:
        return ()
    found = [
        what
        for what, layer in LAYERS.items()
        if settings[layer.switch] and 0 < made_at(place.root, what) < layer.began(place.now)
    ]
    return (*found, REPORT) if settings[MONTHLY] and lacks_report(place) else tuple(found)


def our_pages(folder: Folder, what: str) -> Iterator[tuple[str, Found]]:
    """The pages of a layer that nobody has written to since we did."""
    for name in LAYERS[what].pages if what in LAYERS else ():
        if (found := folder.read(name)) and found.ours:
            yield name, found


def made_at(root: str, what: str) -> float:
    """When the pages of a layer were last made; 0 when there are none of ours."""
    try:
        with Folder(root) as folder:
            return max((found.at for _, found in our_pages(folder, what)), default=0.0)
    except Unwritable:
        return 0.0


def lacks_report(place: Place) -> bool:
    """Whether a model was asked something in the month that is over, and nobody has written its report."""
    begin, end = month_of(place.now, 1)
    try:
        with Folder(place.root, (*FOLDER, REPORTS)) as folder:
            if folder.is_there(report_name(begin)):
                return False
    except Unwritable:
        pass  # there is no such folder yet; one that leads elsewhere is not written to
    return bool(place.keeper.store.spending(project=place.project, since=begin, until=end))


def report_name(begin: float) -> str:
    """The file of a month's report."""
    return strftime("%Y-%m.md", localtime(begin))


def lately(keeper: Keeper, now: float, sessions: Iterable[str] = ()) -> list[Place]:
    """The pages of the projects that sessions were in lately, or that these are in."""
    folders = {read_context(keeper.home, session).folder for session in sessions or spool.names(keeper.home)} - {""}
    return everywhere(keeper, now, map(config.find_root, folders))


def everywhere(keeper: Keeper, now: float, roots: Iterable[str] | None = None) -> list[Place]:
    """The pages of all projects, or of those in some folders."""
    found = sorted({*(keeper.store.roots() if roots is None else roots)})
    return [Place(keeper, keeper.project(root), root, now) for root in found if is_there(root)]


def upkeep_is_due(keeper: Keeper, sessions: Collection[str], now: float) -> bool:
    """Whether something is due where these sessions are."""
    return bool(sessions) and any(map(due, lately(keeper, now, sessions)))
