"""What may be worth a rule, and what became of it: a fold over notes and marks, and nothing that is stored.

One matter is one observation, however often it was said. Sessions confirm it, not prompts: who says a thing twice in a
session has said it once. A later word of the user's on the same matter takes its place; a word of a model's never does.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memory_keeper import wire
from memory_keeper.model import USER, Event, NamedTuple, Note, origin
from memory_keeper.reduce.holds import RULES
from memory_keeper.reduce.instructions import Instruction, instructions, standing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Json

NAME = re.compile(r"\w[\w.+#/@-]*\w|\w")
AGE = "compaction.triggers.observationAge."
DAY = 86_400.0
# of each of these a project has one
RIVALS = tuple(
    frozenset(names.split())
    for names in (
        "npm yarn pnpm bun",
        "pip uv poetry pipenv conda pdm",
        "tabs spaces",
        "jest vitest mocha ava",
        "pytest unittest nose",
        "black ruff yapf prettier biome eslint",
        "merge rebase squash",
        "sqlite postgres postgresql mysql mariadb mongodb",
        "gradle maven bazel",
        "english german french spanish korean japanese chinese portuguese italian",
    )
)
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


class Clash(NamedTuple):
    """A rule in force, and what the user has said against it since."""

    rule: Note
    said: Observed


class _Matter:
    """What was said about one thing, while it is put together."""

    def __init__(self, note: Note, instruction: Instruction | None) -> None:
        self.notes, self.instruction = [note], instruction
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


def fold(store: SqliteStore, project: str, notes: Iterable[Note], settings: Json, now: float) -> list[Observed]:
    """The same of these notes."""
    matters = _matters([note for note in notes if note.text])
    rules = _rules(store, project, matters)
    marks = {kind: _by_note(store.marks_on(project, kind)) for kind in ("confirmed", "contradicted")}
    found = [_stands(matter, rules, marks, settings, now) for matter in matters]
    return sorted(found, key=lambda one: (one.first, one.id))


def clashes(store: SqliteStore, project: str, found: Sequence[Observed]) -> list[Clash]:
    """The rules of a project that a later word of the user's contradicts."""
    said = {one.id: one for one in found if one.by in USERS}
    gone = {id: one for one in said.values() if one.state == "superseded" for id in one.notes}
    clashing = []
    for rule in store.notes(project, 0, "rule"):
        against = gone.get(str(wire.read_object(rule.extra).get("source")))
        while against and against.state == "superseded":
            against = said.get(against.instead)
        against = against or next((one for one in said.values() if _takes_place(one, rule)), None)
        if rule.text and against and (is_automatic(rule) or against.last > written(rule)):
            clashing.append(Clash(rule, against))
    return clashing


def is_automatic(rule: Note) -> bool:
    """Whether a rule came of itself, and is still as it came."""
    return not rule.replaces and wire.read_object(rule.extra).get("automatic") is True


def _takes_place(one: Observed, rule: Note) -> bool:
    """Whether an observation in force wants something instead of what a rule wants."""
    holds = one.state != "superseded" and one.last > written(rule)
    return holds and _relation(_later(one), _only(rule)) == "instead"


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


def _only(note: Note) -> Instruction | None:
    """The one instruction of a text, which is meant to last: it need not say so."""
    for text in (note.text, f"Always {note.text[:1].lower()}{note.text[1:]}"):
        found = instructions(Event(note.id, written(note), "prompt", note.session, note.project, text))
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _later(one: Observed) -> Instruction | None:
    """What an observation wants of what was there before."""
    said = _only(Note(one.id, one.last, "observation", 0, one.project, one.text))
    return said._replace(changes=True) if said else None


class _Matters:
    """The matters so far, in the order in which they came up, and by what they name."""

    def __init__(self) -> None:
        self.all: list[_Matter] = []
        self._named: dict[str, list[int]] = {}

    def add(self, matter: _Matter) -> None:
        for name in _marks(matter.instruction):
            self._named.setdefault(name, []).append(len(self.all))
        self.all.append(matter)

    def near(self, said: Instruction | None) -> list[_Matter]:
        """Those in force that may be about the same."""
        places = {place for name in _marks(said) for place in self._named.get(name, ())}
        return [self.all[place] for place in sorted(places) if not self.all[place].after]


def _marks(said: Instruction | None) -> set[str]:
    """What two instructions share that have anything to do with each other."""
    if not said:
        return set()
    names = _named(said) | _rejected(said)
    kinds = {f"family {number}" for number, family in enumerate(RIVALS) if names & family}
    return {said.text.casefold(), " ".join(said.subject[:2]).strip(), *names, *kinds} - {""}


def _matters(notes: Sequence[Note]) -> list[_Matter]:
    """Notes put together by what they are about."""
    ordered = sorted(notes, key=lambda note: (note.at, note.id))
    found = _Matters()
    for note in ordered:
        if by(note) in USERS:
            _say(found, note, instruction_of(note))
    for note in ordered:
        if by(note) not in USERS:
            _join(found, note, instruction_of(note) if by(note) == "model" else None)
    return found.all


def _say(found: _Matters, note: Note, said: Instruction | None) -> None:
    """What the user says: once more the same, or something instead."""
    related = [(one, _relation(said, one.instruction)) for one in found.near(said)]
    same = next((one for one, how in related if how == "same"), None)
    if same:
        same.notes.append(note)
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
        if how == "same":
            one.notes.append(note)
            return
        if how == "instead" and one.own[-1].at > note.at:
            new.after, new.ended = one, one.own[-1].at
    found.add(new)


def _relation(new: Instruction | None, old: Instruction | None) -> str:
    """What a later instruction is to an earlier one: the same, something instead, or nothing to do with it."""
    if not new or not old:
        return ""
    if (new.subject, new.values) == (old.subject, old.values) or new.text.casefold() == old.text.casefold():
        return "same"
    if _rejected(new) & (_named(old) - _rejected(old)) or _rivals(new, old):
        return "instead"
    held = standing((old, new) if old.at < new.at else (old._replace(at=0.0), new._replace(at=1.0)))
    return "" if len(held) > 1 else "instead" if held[0].superseded else "same"


@lru_cache(4096)
def _named(one: Instruction) -> frozenset[str]:
    """The words of an instruction that are no rule's own."""
    return frozenset(map(str.casefold, NAME.findall(one.text))) - RULES


@lru_cache(4096)
def _rejected(one: Instruction) -> frozenset[str]:
    return frozenset(value[1:].casefold() for value in one.values[1:] if value[:1] == "-")


def _rivals(new: Instruction, old: Instruction) -> bool:
    """Whether both want something, and of things of which one has only one they want two."""
    mine, theirs = _named(new) - _rejected(new), _named(old) - _rejected(old)
    if new.values[0] != "do" or old.values[0] != "do":
        return False
    for family in RIVALS:
        apart = mine & family and theirs & family and not mine & theirs & family
        if apart and (mine - family == theirs - family or (new.changes and not mine - family)):
            return True
    return False


# --- what became of them ----------------------------------------------------------------------------------------------


def _rules(store: SqliteStore, project: str, matters: Iterable[_Matter]) -> dict[str, Note]:
    """The rules that came of observations, or say the same, by the ids of those."""
    notes = [*store.notes(USER, 0, "rule"), *(store.notes(project, 0, "rule") if project != USER else ())]
    sources = {note: str(wire.read_object(note.extra).get("source") or "") for note in notes}
    found = {source: note for note, source in sources.items() if source}
    wanted = [(note, _only(note)) for note, source in sources.items() if note.text and not source]
    for matter in matters:
        same = next((note for note, want in wanted if _relation(matter.instruction, want) == "same"), None)
        if same:
            found.setdefault(matter.id, same)
    return found


def _by_note(marks: Iterable[Event]) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for mark in marks:
        found.setdefault(mark.ref, []).append(mark)
    return found


def _stands(
    matter: _Matter,
    rules: dict[str, Note],
    marks: dict[str, dict[str, list[Event]]],
    settings: Json,
    now: float,
) -> Observed:
    ids = tuple(dict.fromkeys(map(origin, matter.notes)))
    rule = next((rules[id] for id in ids if id in rules), None)
    denied = [mark.at for id in ids for mark in marks["contradicted"].get(id, ())]
    if rule and not rule.text:  # who takes the rule away does not want it
        denied.append(written(rule))
    denial = max(denied, default=0.0)
    heard = [(note.at, note.session) for note in matter.own if by(note) in USERS and note.session]
    heard += [(mark.at, mark.session) for id in ids for mark in marks["confirmed"].get(id, ())]
    counted = _once_a_session(one for one in heard if one[0] > denial)
    said = [note.at for note in matter.own] + [at for at, _ in heard]
    if any(note.at > denial and by(note) == "user" for note in matter.own):
        denial = 0.0  # the user has written it down again
    state, instead, since = _state(matter, rule, denial, [at for at, _ in counted], max(said), settings, now)
    return Observed(
        matter.id,
        matter.own[-1].text,
        by(matter.own[0]),
        matter.own[0].project,
        min(said),
        max(said),
        tuple(session for _, session in counted if session),
        len(counted),
        state,
        instead,
        since or min(said),
        ids,
    )


def _once_a_session(heard: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """The first word of each session, and all that were by hand; oldest first."""
    found: list[tuple[float, str]] = []
    known: set[str] = set()
    for at, session in sorted(heard):
        if not session or session not in known:
            found.append((at, session))
            known.add(session)
    return found


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
    if acts and len(counted) >= enough:
        return "proposed", "", counted[enough - 1]
    if acts and now - last > days * DAY:
        return "archived", "", last + days * DAY
    return "open", "", 0.0
