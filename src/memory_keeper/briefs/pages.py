"""Which files tell people of a project, and what stands in each: all of it is a query, and can be made again.

`memory.md` has the notes that nothing covers yet, each outline an archive with the notes that it covers, and the
standing notes a page by their kind; so do rules and observations. What became of those and of tasks stands on pages
that are only read. Names and forms are those of the predecessor, so its readers can read ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from json import dumps
from time import gmtime, strftime

from memory_keeper import wire
from memory_keeper.briefs.done import done_page, task_archive_page
from memory_keeper.briefs.files import (
    ACTIVE_RULES,
    DONE,
    INDEX,
    MEMORY,
    OBSERVATION_ARCHIVE,
    OBSERVATIONS,
    ONE_EACH,
    TASK_ARCHIVE,
)
from memory_keeper.briefs.memory import BEFORE, Section, compose, owner, section, sign
from memory_keeper.briefs.observations import active_rules_page, observation_archive_page, observations_page
from memory_keeper.briefs.rules import rules_of
from memory_keeper.model import USER, Json, NamedTuple, Note, origin
from memory_keeper.notes.kept_note import begun
from memory_keeper.notes.schema import check
from memory_keeper.notes.tasks.done import done, kept_and_archived
from memory_keeper.rules.observations import AGE, Observed, observed
from memory_keeper.store.store import Store
from memory_keeper.text import clean, showable, tokens


class Archive(NamedTuple):
    """An outline and the notes that it covers."""

    name: str  # of its page
    outline: Note
    notes: tuple[Note, ...]


def texts(store: Store, project: str, salt: bytes, settings: Json, observed: Sequence[Observed]) -> dict[str, str]:
    """Every file of a project that people may edit by its name, and what is to stand in it; and those that go with
    them."""
    made = _lists(store, project, salt, settings, observed)
    rotated: list[Json] = []
    for archive in archives(store, project):
        made[archive.name] = _page(archive.notes, project, salt)
        summary = _summary(store, archive)
        if summary:
            made[summary_name(archive.name)] = _json(summary)
        rotated.append(_entry(archive, made[archive.name], bool(summary)))
    for kind in ONE_EACH:
        if text := _page(store.notes(project, 0, kind), owner(project, kind), salt):
            made[f"{kind}.md"] = text
    if text := _page(store.notes(project, 1, open=True), project, salt, newest_outline(store, project)):
        made[MEMORY] = text
    if MEMORY in made or rotated:
        made[INDEX] = _json(_index(rotated, project, salt))
    return made


def sealed(store: Store, project: str, settings: Json, observed: Sequence[Observed]) -> dict[str, str]:
    """What is to stand on the pages about rules and tasks that are only read, by their names; not yet sealed."""
    made: dict[str, str] = {}
    if observed:
        rules = rules_of(store, project, settings["rules.shipped"])
        enough = settings[AGE + "escalateAfterConfirmations"]
        made[OBSERVATION_ARCHIVE] = observation_archive_page(observed, rules, enough)

    if tasks := done(store, project):
        kept, archived = kept_and_archived(tasks, store, project, settings)
        made[DONE] = done_page(kept, settings) if kept else ""
        made[TASK_ARCHIVE] = task_archive_page(archived, settings) if archived else ""
    return {name: text for name, text in made.items() if text}


def _lists(store: Store, project: str, salt: bytes, settings: Json, observed: Sequence[Observed]) -> dict[str, str]:
    """The pages of rules and observations; that of rules only when some are the user's."""

    rules = rules_of(store, project, settings["rules.shipped"])
    made: dict[str, str] = {}
    if any(rule.note for rule in rules):
        known = {id: one for one in observed for id in one.notes}
        made[ACTIVE_RULES] = active_rules_page(rules, known, project, salt)
    if observed:
        notes = {origin(note): note for place in (project, USER) for note in store.notes(place, 0, "observation")}
        made[OBSERVATIONS] = observations_page(observed, notes, project, salt)
    return {name: text for name, text in made.items() if text}


def observed_in(store: Store, project: str, settings: Json, now: float) -> list[Observed]:
    """The observations of a project, and those of the user in all projects."""
    places = [place for place in (project, USER) if store.notes(place, 0, "observation", limit=1)]
    if not places:
        return []  # and nothing need be loaded

    return [one for place in places for one in observed(store, place, settings, now)]


def archives(store: Store, project: str) -> Iterator[Archive]:
    """The archives of a project, oldest first; those of one second have numbers."""
    taken: set[str] = set()
    for outline in store.notes(project, 2):
        stem = strftime("memory_%Y%m%d_%H%M%S", gmtime(showable(outline.at)))
        names = (f"{stem}_{number}" if number > 1 else stem for number in range(1, len(taken) + 2))
        name = next(name for name in names if name not in taken)
        taken.add(name)
        notes = tuple(note for note in store.notes(project, 1, above=origin(outline)) if section(note).body)
        if notes:
            yield Archive(name + ".md", outline, notes)


def newest_outline(store: Store, project: str) -> Note | None:
    """What is told of the time before the open notes."""
    outlines = store.notes(project, kind="outline", open=True, limit=1)
    return outlines[0] if outlines and section(outlines[0]).body else None


def summary_name(page: str) -> str:
    """The file that has the outline of an archive."""
    return page.removesuffix(".md") + ".summary.json"


def is_our_index(data: bytes, project: str, salt: bytes) -> bool:
    """Whether an index is one that we wrote for this project."""
    try:
        value = wire.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("by") == _signed(project, salt)


def iso(at: float) -> str:
    """A moment in UTC as the predecessor wrote it."""
    at = showable(at)
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(at)) + f".{int(at % 1 * 1000):03}Z"


def _page(notes: Sequence[Note], project: str, salt: bytes, outline: Note | None = None) -> str:
    """A page of some notes, those that were taken away left out; empty when there are none."""
    sections: list[Section] = [section(outline, BEFORE)] if outline else []
    sections += [one for one in map(section, notes) if one.body]
    return compose(sections, project, salt) if sections else ""


def _summary(store: Store, archive: Archive) -> Json:
    """The outline of an archive in the predecessor's form; empty when a person has taken it away."""
    said = clean(archive.outline.text).strip()
    first = store.note(origin(archive.outline))
    outline = _outline(archive.outline) or (_outline(first) if first else {})
    named = {"sourceFile": archive.name, "generatedAt": iso(archive.outline.at)}
    if archive.outline.who == "user" or "overallSummary" not in outline:
        outline = {"themes": [], "keyDecisions": [], "issues": [], **outline, "overallSummary": said[:20_000]}
    value = {**named, **outline}
    return value if said and not check(value) else {}


def _outline(note: Note) -> Json:
    found = wire.read_object(note.extra).get("outline")
    return found if isinstance(found, dict) else {}


def _entry(archive: Archive, text: str, summary: bool) -> Json:
    first = min(begun(archive.outline), begun(archive.notes[0]))
    return {
        "file": archive.name,
        "rotatedAt": iso(archive.outline.at),
        "tokens": tokens(text),
        "bytes": len(text.encode()),
        "summary": summary_name(archive.name) if summary else None,
        "summaryGenerated": summary,
        "dateRange": {"first": iso(first), "last": iso(archive.outline.at)},
    }


def _index(rotated: list[Json], project: str, salt: bytes) -> Json:
    last = rotated[-1]["rotatedAt"] if rotated else None
    stats = {"totalRotations": len(rotated), "lastRotation": last}
    return {"version": 1, "by": _signed(project, salt), "current": MEMORY, "rotatedFiles": rotated, "stats": stats}


def _signed(project: str, salt: bytes) -> str:
    return f"memory-keeper {sign(project, INDEX, '', salt)}"


def _json(value: Json) -> str:
    return dumps(value, ensure_ascii=False, indent=2) + "\n"
