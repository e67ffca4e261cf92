"""What may be worth a rule, and what became of it: a fold over notes and marks, and nothing that is stored.

One wish is one observation, however often and in whatever words it was said. Sessions confirm it, not prompts: who says
a thing twice in a session has said it once. A later word of the user's that reverses it takes its place; a word of a
model's never does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from memory_keeper import wire
from memory_keeper.model import DAY, USER, Event, Json, NamedTuple, Note, origin
from memory_keeper.notes.kept_note import written
from memory_keeper.provenance import TYPED, is_users, of_note
from memory_keeper.rules.instructions import instructions
from memory_keeper.rules.wishes import DROP, REVERSES, SAME, Wish, compare, marks, says_less, unpack
from memory_keeper.store.events import marks_on
from memory_keeper.store.store import Store

AGE = "compaction.triggers.observationAge."
FOUND = ("said", "rule", "seen")  # how an observation is found
NEAR = 50  # wishes that name the same thing and are compared with a new one; older ones stay


class Observed(NamedTuple):
    """An observation as it stands now."""

    id: str  # of its first note
    text: str
    by: str  # see `by`
    project: str
    first: float
    last: float  # when it was last said or confirmed
    sessions: tuple[str, ...]  # that said or confirmed it, oldest first; after a contradiction those since
    confirmations: int  # sessions, and confirmations by hand
    state: str  # open | proposed | rule | contradicted | superseded | archived
    instead: str  # the id of what took its place, or of the rule that it became
    since: float  # when it came into that state
    notes: tuple[str, ...] = ()  # the ids of all notes that say it
    wish: Wish | None = None  # what it says, taken apart; None where that cannot be done

    @property
    def is_users(self) -> bool:
        """Whether the user typed it: then it may become a rule without a question, if the user wants that."""
        return self.by in (TYPED, "said")


class Clash(NamedTuple):
    """A rule in force, and what the user has said against it since."""

    rule: Note
    said: Observed


class _Said:
    """What was said of one wish, while it is put together."""

    def __init__(self, note: Note, wish: Wish | None) -> None:
        self.notes, self.note, self.wish = [note], note, wish  # all that say it, and the one that says it best
        self.after: _Said | None = None  # what took its place
        self.ended = 0.0

    @property
    def own(self) -> list[Note]:
        """The notes whose words it goes by: the user's, where there are any."""
        return [note for note in self.notes if is_users(note)] or self.notes

    @property
    def id(self) -> str:
        return origin(self.own[0])


def by(note: Note) -> str:
    """Whose an observation is, and of the user's and ours how it was found: `said` in a session, by `rule`, `seen`."""
    how = wire.read_object(note.extra).get("by")
    return str(how) if how in FOUND and not note.who else of_note(note)


def observed(store: Store, project: str, settings: Json, now: float) -> list[Observed]:
    """The observations of a project, or of the user in all projects; oldest first."""
    return fold(store, project, store.notes(project, 0, "observation"), settings, now)


def observed_here(store: Store, project: str, settings: Json, now: float) -> list[Observed]:
    """The observations of a project and of all projects, as they stand in this one: what is said here may be instead of
    what was said for all."""
    notes = [note for place in places(project) for note in store.notes(place, 0, "observation")]
    return fold(store, project, notes, settings, now)


def places(project: str) -> tuple[str, ...]:
    """Where that is kept which holds in a project."""
    return (project, USER) if project != USER else (USER,)


def fold(store: Store, project: str, notes: Iterable[Note], settings: Json, now: float) -> list[Observed]:
    """The same of these notes."""
    wishes = _gather([note for note in notes if note.text], now)
    denied, confirmed = (
        _by_note(mark for place in places(project) for mark in marks_on(store, place, kind))
        for kind in ("contradicted", "confirmed")
    )
    about = _Marks(_rules(store, project, wishes), denied, confirmed)
    found = [_stands(one, about, settings, now) for one in wishes.all]
    return sorted(found, key=lambda one: (one.first, one.id))


def clashes(store: Store, project: str, found: Sequence[Observed]) -> list[Clash]:
    """The rules that hold in a project and that a later word of the user's contradicts."""
    said = {one.id: one for one in found if one.is_users}
    gone = {id: one for one in said.values() if one.state == "superseded" for id in one.notes}
    clashing = []
    for rule in (rule for place in places(project) for rule in store.notes(place, 0, "rule") if rule.text):
        against = gone.get(str(wire.read_object(rule.extra).get("source")))
        while against and against.state == "superseded":
            against = said.get(against.instead)
        against = against or _against(rule, said.values())
        if against and (is_automatic(rule) or against.last > written(rule)):
            clashing.append(Clash(rule, against))
    return clashing


def _against(rule: Note, said: Iterable[Observed]) -> Observed | None:
    """The first thing that the user has said since, still holds, and reverses a rule."""
    wish, since = _only(rule), written(rule)
    for one in said:
        if one.wish and one.last > since and one.state != "superseded":
            later = one.wish._replace(changes=True)  # it was said knowing the rule
            if _compared(later, wish) == REVERSES:
                return one
    return None


def escalated(store: Store, project: str) -> list[tuple[float, str]]:
    """When observations became rules of a project, or of the user in all projects, and which; oldest first."""
    rules = [store.note(origin(rule)) or rule for rule in store.notes(project, 0, "rule")]
    return sorted((rule.at, rule.id) for rule in rules if wire.read_object(rule.extra).get("source"))


def is_automatic(rule: Note) -> bool:
    """Whether a rule came of itself, and is still as it came."""
    return wire.read_object(rule.extra).get("automatic") is True


# --- which notes say the same -----------------------------------------------------------------------------------------


def wish_of(note: Note) -> Wish | None:
    """What an observation wants; None when it wants nothing that can be compared."""
    about = wire.read_object(note.extra)
    if about.get("wish") and not note.replaces:
        wish = unpack(note.text, about["wish"])
        return wish._replace(cite=str(about.get("cite") or note.id), at=note.at, session=note.session)
    return _only(note)


def says_the_same(new: Note, old: Note) -> bool:
    """Whether an observation says what an earlier one says."""
    return _compared(wish_of(new), wish_of(old)) == SAME


def _compared(new: Wish | None, old: Wish | None) -> str:
    return compare(new, old) if new and old else ""


@lru_cache(4096)
def _only(note: Note) -> Wish | None:
    """The one wish of a text, which is meant to last: it need not say so."""
    for text in (note.text, f"Always {note.text[:1].lower()}{note.text[1:]}"):
        found = instructions(Event(note.id, written(note), "prompt", note.session, note.project, text))
        if found:
            return found[0] if len(found) == 1 else None
    return None


class _Index:
    """Wishes in the order in which they came up, and by what they name."""

    def __init__(self) -> None:
        self.all: list[_Said] = []
        self._named: dict[str, list[_Said]] = {}

    def add(self, said: _Said) -> None:
        self.all.append(said)
        for name in marks(said.wish) if said.wish else ():
            holding = [one for one in self._named.get(name, ()) if not one.after]
            self._named[name] = [*holding[-NEAR:], said]

    def near(self, wish: Wish | None) -> list[_Said]:
        """Those in force that may be about the same; of many that name the same thing, the newest."""
        found = dict.fromkeys(one for name in (marks(wish) if wish else ()) for one in self._named.get(name, ()))
        return [one for one in found if not one.after]


def _gather(notes: Sequence[Note], now: float) -> _Index:
    """Notes put together by what they say; a hint only adds to what was said otherwise."""
    # what a wrong clock put into the future was said before
    ordered = sorted(notes, key=lambda note: (note.at < now + DAY, note.at, note.id))
    found = _Index()
    for note in ordered:
        if is_users(note) and not is_hint(note):
            _say(found, note, wish_of(note))
    for note in ordered:
        if not is_users(note) or is_hint(note):
            _join(found, note, None if by(note) in ("rule", "seen") else wish_of(note))
    return found


def is_hint(note: Note) -> bool:
    """Whether a note says too little to be a wish of its own: "pnpm, please"."""
    return wire.read_object(note.extra).get("hint") is True


def _say(found: _Index, note: Note, wish: Wish | None) -> None:
    """What the user says: once more the same, or something that reverses what was said."""
    related = [(one, _compared(wish, one.wish)) for one in found.near(wish)]
    same = next((one for one, how in related if how == SAME and one.note.project == note.project), None)
    if same:
        same.notes.append(note)
        if wish and same.wish and not says_less(wish, same.wish):
            same.note, same.wish = note, wish
    else:
        same = _Said(note, wish)
        found.add(same)
    for one, how in related:
        if how == REVERSES and one is not same:
            one.after, one.ended = same, note.at


def _join(found: _Index, note: Note, wish: Wish | None) -> None:
    """What somebody else says: it adds nothing to what the user says, and takes the place of nothing."""
    new = _Said(note, wish)
    for one in found.near(wish):
        how = _compared(one.wish, wish) if is_users(one.notes[0]) else ""
        if how == SAME and one.note.project == note.project:
            one.notes.append(note)
            return
        if how == REVERSES and one.own[-1].at > note.at:
            new.after, new.ended = one, one.own[-1].at
    if not is_hint(note):
        found.add(new)


# --- what became of them ----------------------------------------------------------------------------------------------


def _rules(store: Store, project: str, wishes: _Index) -> dict[str, Note]:
    """The rules that came of observations, or say the same, by the ids of those; of several the one in force."""
    notes = [note for place in places(project) for note in store.notes(place, 0, "rule")]
    notes.sort(key=lambda note: (bool(note.text), written(note)))
    sources = {note: str(wire.read_object(note.extra).get("source") or "") for note in notes}
    found = {source: note for note, source in sources.items() if source}
    for rule in (note for note, source in sources.items() if note.text and not source):
        wish = _only(rule)
        for one in wishes.near(wish):
            if _compared(one.wish, wish) == SAME:
                found.setdefault(one.id, rule)
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


def _stands(one: _Said, about: _Marks, settings: Json, now: float) -> Observed:
    """What was said as an observation, with what became of it."""
    own, ids = one.own, tuple(dict.fromkeys(map(origin, one.notes)))
    rule = next((about.rules[id] for id in ids if id in about.rules), None)
    denial = _denial(rule, [mark.at for id in ids for mark in about.denied.get(id, ())])
    heard = [(note.at, note.session) for note in own if is_users(note) and note.session]
    heard += [(mark.at, mark.session) for id in ids for mark in about.confirmed.get(id, ())]
    counted = _once_a_session((at, session) for at, session in heard if at > denial)
    times = [note.at for note in own] + [at for at, _ in heard]
    if any(note.at > denial and by(note) == TYPED for note in own):
        denial = 0.0  # the user has written it down again
    state, instead, since = _state(one, rule, denial, [at for at, _ in counted], max(times), settings, now)
    sessions = tuple(session for _, session in counted if session)
    text, wish = one.note.text, one.wish and one.wish._replace(text=one.note.text)
    told = (one.id, text, by(own[0]), own[0].project, min(times), max(times), sessions, len(counted))
    return Observed(*told, state, instead, since or min(times), ids, wish)


def _denial(rule: Note | None, denied: Sequence[float]) -> float:
    """When a wish was last contradicted; who takes its rule away does not want it either. 0: never."""
    taken = [written(rule)] if rule and not rule.text else []
    return max([*denied, *taken], default=0.0)


def _once_a_session(heard: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """The first word of each session, and of each day by hand; oldest first."""
    found: dict[str | int, tuple[float, str]] = {}
    for at, session in sorted(heard):
        found.setdefault(session or int(at // DAY), (at, session))
    return [*found.values()]


def _state(
    one: _Said, rule: Note | None, denial: float, counted: Sequence[float], last: float, settings: Json, now: float
) -> tuple[str, str, float]:
    """The state of a wish, what took its place, and since when; 0: from the beginning."""
    enough, days = settings[AGE + "escalateAfterConfirmations"], settings[AGE + "archiveAfterDays"]
    acts = settings["compaction.enabled"] and settings[AGE + "enabled"]
    if one.after:
        return "superseded", one.after.id, one.ended
    if rule and rule.text:
        return "rule", origin(rule), written(rule)
    if denial and not counted:
        return "contradicted", "", denial
    if acts and len(counted) >= enough and not (one.wish and one.wish.mood == DROP):
        return "proposed", "", counted[enough - 1]
    if acts and now - last > days * DAY:
        return "archived", "", last + days * DAY
    return "open", "", 0.0
