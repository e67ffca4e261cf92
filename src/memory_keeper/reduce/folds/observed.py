"""What may be worth a rule, and what became of it: a fold over notes and marks, and nothing that is stored.

One matter is one observation, however often it was said. Sessions confirm it, not prompts: who says a thing twice in a
session has said it once. A later word of the user's on the same matter takes its place; a word of a model's never does.
"""

from __future__ import annotations

from functools import lru_cache

from memory_keeper import wire
from memory_keeper.model import DAY, USER, Event, NamedTuple, Note, origin
from memory_keeper.reduce.folds.instructions import Instruction, drops, instructions, relation
from memory_keeper.reduce.folds.instructions import marks as marks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Json

AGE = "compaction.triggers.observationAge."
NEAR = 50  # matters that name the same thing and are held against a new one; older ones stay
USERS = ("user", "said")  # whose words may become a rule without a question, if the user wants that


class Observed(NamedTuple):
    """An observation as it stands now."""

    id: str  # of its first note
    text: str
    by: str  # user | said | model | rule
    project: str
    first: float
    last: float  # when it was last said or confirmed
    sessions: tuple[str, ...]  # that said or confirmed it, oldest first; after a contradiction those since
    confirmations: int  # sessions, and confirmations by hand
    state: str  # open | proposed | rule | contradicted | superseded | archived
    instead: str  # the id of what took its place, or of the rule that it became
    since: float  # when it came into that state
    notes: tuple[str, ...] = ()  # the ids of all notes that say it
    wants: Instruction | None = None  # what it says, taken apart; None where that cannot be done


class Clash(NamedTuple):
    """A rule in force, and what the user has said against it since."""

    rule: Note
    said: Observed


class _Matter:
    """What was said about one thing, while it is put together."""

    def __init__(self, note: Note, instruction: Instruction | None) -> None:
        self.notes, self.instruction = [note], instruction
        self.newest = instruction  # of its own notes
        self.after: _Matter | None = None  # what took its place
        self.ended = 0.0

    @property
    def own(self) -> list[Note]:
        """The notes whose words it goes by: the user's, where there are any."""
        return [note for note in self.notes if by(note) in USERS] or self.notes

    @property
    def id(self) -> str:
        return origin(self.own[0])


def by(note: Note) -> str:
    """Whose an observation is: user, said, model or rule."""
    return "user" if note.who == "user" else str(wire.read_object(note.extra).get("by") or "model")


def written(note: Note) -> float:
    """When a wording was written."""
    at = wire.read_object(note.extra).get("written")
    return float(at) if isinstance(at, (int, float)) else note.at


def observed(store: SqliteStore, project: str, settings: Json, now: float) -> list[Observed]:
    """The observations of a project, or of the user in all projects; oldest first."""
    return fold(store, project, store.notes(project, 0, "observation"), settings, now)


def observed_here(store: SqliteStore, project: str, settings: Json, now: float) -> list[Observed]:
    """The observations of a project and of all projects, as they stand in this one: what is said here may be instead of
    what was said for all."""
    notes = [note for place in places(project) for note in store.notes(place, 0, "observation")]
    return fold(store, project, notes, settings, now)


def places(project: str) -> tuple[str, ...]:
    """Where that is kept which holds in a project."""
    return (project, USER) if project != USER else (USER,)


def fold(store: SqliteStore, project: str, notes: Iterable[Note], settings: Json, now: float) -> list[Observed]:
    """The same of these notes."""
    matters = _matters([note for note in notes if note.text], now)
    denied, confirmed = (
        _by_note(mark for place in places(project) for mark in store.marks_on(place, kind))
        for kind in ("contradicted", "confirmed")
    )
    marks = _Marks(_rules(store, project, matters), denied, confirmed)
    found = [_stands(matter, marks, settings, now) for matter in matters.all]
    return sorted(found, key=lambda one: (one.first, one.id))


def clashes(store: SqliteStore, project: str, found: Sequence[Observed]) -> list[Clash]:
    """The rules that hold in a project and that a later word of the user's contradicts."""
    said = {one.id: one for one in found if one.by in USERS}
    gone = {id: one for one in said.values() if one.state == "superseded" for id in one.notes}
    named = _by_name(said.values())
    clashing = []
    for rule in (rule for place in places(project) for rule in store.notes(place, 0, "rule") if rule.text):
        against = gone.get(str(wire.read_object(rule.extra).get("source")))
        while against and against.state == "superseded":
            against = said.get(against.instead)
        against = against or _against(rule, named)
        if against and (is_automatic(rule) or against.last > written(rule)):
            clashing.append(Clash(rule, against))
    return clashing


def escalated(store: SqliteStore, project: str) -> list[tuple[float, str]]:
    """When observations became rules of a project, or of the user in all projects, and which; oldest first."""
    rules = [store.note(origin(rule)) or rule for rule in store.notes(project, 0, "rule")]
    return sorted((rule.at, rule.id) for rule in rules if wire.read_object(rule.extra).get("source"))


def is_automatic(rule: Note) -> bool:
    """Whether a rule came of itself, and is still as it came."""
    return wire.read_object(rule.extra).get("automatic") is True


def _by_name(said: Iterable[Observed]) -> dict[str, list[tuple[int, Observed, Instruction]]]:
    """What still holds of some observations, by what it names, each with its place and what it wants of a rule."""
    found: dict[str, list[tuple[int, Observed, Instruction]]] = {}
    for place, one in enumerate(said):
        if one.wants and one.state != "superseded":
            later = one.wants._replace(changes=True)  # it was said knowing the rule
            for name in dict.fromkeys(_names(later)):
                found.setdefault(name, []).append((place, one, later))
    return found


def _against(rule: Note, named: dict[str, list[tuple[int, Observed, Instruction]]]) -> Observed | None:
    """What the user has said since, still holds, and wants something instead of what a rule wants; the first of it."""
    wanted, since = _only(rule), written(rule)
    near = {place: (one, later) for name in _names(wanted) for place, one, later in named.get(name, ())}
    for _, (one, later) in sorted(near.items()):
        if one.last > since and _relation(later, wanted) == "instead":
            return one
    return None


# --- which notes speak of the same ------------------------------------------------------------------------------------


def instruction_of(note: Note) -> Instruction | None:
    """What an observation wants; None when it wants nothing that can be compared."""
    about = wire.read_object(note.extra)
    if about.get("subject") and not note.replaces:
        given = tuple(map(str, about["subject"])), tuple(map(str, about["values"])), about.get("changes") is True
        return Instruction(note.text, *given, str(about.get("cite") or note.id), note.at, note.session)
    return _only(note)


def says_the_same(new: Note, old: Note) -> bool:
    """Whether an observation says what an earlier one says."""
    return _relation(instruction_of(new), instruction_of(old)) == "same"


@lru_cache(4096)
def _only(note: Note) -> Instruction | None:
    """The one instruction of a text, which is meant to last: it need not say so."""
    for text in (note.text, f"Always {note.text[:1].lower()}{note.text[1:]}"):
        found = instructions(Event(note.id, written(note), "prompt", note.session, note.project, text))
        if found:
            return found[0] if len(found) == 1 else None
    return None


class _Matters:
    """The matters so far, in the order in which they came up, and by what they name."""

    def __init__(self) -> None:
        self.all: list[_Matter] = []
        self._named: dict[str, list[_Matter]] = {}

    def add(self, matter: _Matter) -> None:
        self.all.append(matter)
        for name in _names(matter.instruction):
            holding = [one for one in self._named.get(name, ()) if not one.after]
            self._named[name] = [*holding[-NEAR:], matter]

    def near(self, said: Instruction | None) -> Iterator[_Matter]:
        """Those in force that may be about the same; of many that name the same thing, the newest."""
        found = dict.fromkeys(one for name in _names(said) for one in self._named.get(name, ()))
        return (one for one in found if not one.after)


def _names(said: Instruction | None) -> Iterator[str]:
    """Under which an instruction is found: what it is about, and all it says."""
    if said:
        yield from marks_of(said)
        yield from (repr((said.subject, said.values)), "= " + said.text.casefold())


def _matters(notes: Sequence[Note], now: float) -> _Matters:
    """Notes put together by what they are about."""
    # what a wrong clock put into the future was said before
    ordered = sorted(notes, key=lambda note: (note.at < now + DAY, note.at, note.id))
    found = _Matters()
    for note in ordered:
        if by(note) in USERS:
            _say(found, note, instruction_of(note))
    for note in ordered:
        if by(note) not in USERS:
            _join(found, note, instruction_of(note) if by(note) == "model" else None)
    return found


def _say(found: _Matters, note: Note, said: Instruction | None) -> None:
    """What the user says: once more the same, or something instead."""
    related = [(one, _relation(said, one.instruction)) for one in found.near(said)]
    same = next((one for one, how in related if how == "same" and one.notes[0].project == note.project), None)
    if same:
        same.notes.append(note)
        same.newest = said
    else:
        same = _Matter(note, said)
        found.add(same)
    for one, how in related:
        if how == "instead" and one is not same:
            one.after, one.ended = same, note.at


def _join(found: _Matters, note: Note, said: Instruction | None) -> None:
    """What somebody else says: it adds nothing to what the user says, and takes the place of nothing."""
    new = _Matter(note, said)
    for one in found.near(said):
        how = _relation(one.instruction, said) if by(one.notes[0]) in USERS else ""
        if how == "same" and one.notes[0].project == note.project:
            one.notes.append(note)
            return
        if how == "instead" and one.own[-1].at > note.at:
            new.after, new.ended = one, one.own[-1].at
    found.add(new)


def _relation(new: Instruction | None, old: Instruction | None) -> str:
    return relation(new, old) if new and old else ""


# --- what became of them ----------------------------------------------------------------------------------------------


def _rules(store: SqliteStore, project: str, matters: _Matters) -> dict[str, Note]:
    """The rules that came of observations, or say the same, by the ids of those; of several the one in force."""
    notes = [note for place in places(project) for note in store.notes(place, 0, "rule")]
    notes.sort(key=lambda note: (bool(note.text), written(note)))
    sources = {note: str(wire.read_object(note.extra).get("source") or "") for note in notes}
    found = {source: note for note, source in sources.items() if source}
    for rule in (note for note, source in sources.items() if note.text and not source):
        wanted = _only(rule)
        for matter in matters.near(wanted):
            if _relation(matter.instruction, wanted) == "same":
                found.setdefault(matter.id, rule)
    return found


def _by_note(marks: Iterable[Event]) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for mark in marks:
        found.setdefault(mark.ref, []).append(mark)
    return found


class _Marks(NamedTuple):
    """What was said and done about observations, by the ids of their notes."""

    rules: dict[str, Note]
    denied: dict[str, list[Event]]
    confirmed: dict[str, list[Event]]


def _stands(matter: _Matter, marks: _Marks, settings: Json, now: float) -> Observed:
    """A matter as an observation, with what became of it."""
    own, ids = matter.own, tuple(dict.fromkeys(map(origin, matter.notes)))
    rule = next((marks.rules[id] for id in ids if id in marks.rules), None)
    denial = _denial(rule, [mark.at for id in ids for mark in marks.denied.get(id, ())])
    heard = [(note.at, note.session) for note in own if by(note) in USERS and note.session]
    heard += [(mark.at, mark.session) for id in ids for mark in marks.confirmed.get(id, ())]
    counted = _once_a_session(one for one in heard if one[0] > denial)
    said = [note.at for note in own] + [at for at, _ in heard]
    if any(note.at > denial and by(note) == "user" for note in own):
        denial = 0.0  # the user has written it down again
    state, instead, since = _state(matter, rule, denial, [at for at, _ in counted], max(said), settings, now)
    sessions = tuple(session for _, session in counted if session)
    told = (matter.id, own[-1].text, by(own[0]), own[0].project, min(said), max(said), sessions, len(counted))
    wants = matter.newest and matter.newest._replace(text=own[-1].text)
    return Observed(*told, state, instead, since or min(said), ids, wants)


def _denial(rule: Note | None, denied: Sequence[float]) -> float:
    """When a matter was last contradicted; who takes its rule away does not want it either. 0: never."""
    taken = [written(rule)] if rule and not rule.text else []
    return max([*denied, *taken], default=0.0)


def _once_a_session(heard: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """The first word of each session, and of each day by hand; oldest first."""
    found: dict[str | int, tuple[float, str]] = {}
    for at, session in sorted(heard):
        found.setdefault(session or int(at // DAY), (at, session))
    return [*found.values()]


def _state(
    matter: _Matter, rule: Note | None, denial: float, counted: Sequence[float], last: float, settings: Json, now: float
) -> tuple[str, str, float]:
    """The state of a matter, what took its place, and since when; 0: from the beginning."""
    enough, days = settings[AGE + "escalateAfterConfirmations"], settings[AGE + "archiveAfterDays"]
    acts = settings["compaction.enabled"] and settings[AGE + "enabled"]
    if matter.after:
        return "superseded", matter.after.id, matter.ended
    if rule and rule.text:
        return "rule", origin(rule), written(rule)
    if denial and not counted:
        return "contradicted", "", denial
    if acts and len(counted) >= enough and not drops(matter.newest):
        return "proposed", "", counted[enough - 1]
    if acts and now - last > days * DAY:
        return "archived", "", last + days * DAY
    return "open", "", 0.0
