"""What another tool had kept, brought into the store: as events and notes that say whose they are, each once.

An import is nobody's word here: its ids begin with `import-`, no rule and no wish is made of it, and what is told of it
names the tool. An entry is known by what it says and the time that its tool gave it, wherever its file lies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import time

from memory_keeper import wire
from memory_keeper.briefs.memory import text_of
from memory_keeper.errors import NotSetUp
from memory_keeper.imports import EVENT, OUTLINE, Entry
from memory_keeper.jobs.summarize import write_outline
from memory_keeper.keeper import Keeper
from memory_keeper.model import IMPORTED, Event, NamedTuple, Note, Placed, Source, origin
from memory_keeper.notes.kept_note import measure
from memory_keeper.store.store import Store
from memory_keeper.text import clean, digest_of

AT_ONCE, LARGE = 500, 1 << 20  # entries, and characters of them, that are kept while others wait
PATIENCE = 60.0


class Brought(NamedTuple):
    """What an import found, by what each tool calls it, and what of it was new."""

    found: Counter[str]
    events: int = 0
    events_known: int = 0
    notes: int = 0
    notes_known: int = 0


class Importing:
    """One import of a tool's memory into a project."""

    def __init__(self, keeper: Keeper, tool: str, project: str, outline_tokens: int, dry: bool) -> None:
        self.keeper, self.tool, self.project, self.dry = keeper, tool, project, dry
        self.outline_tokens = outline_tokens
        self.found: Counter[str] = Counter()
        self.added: Counter[bool] = Counter()  # whether of an event
        self.known: Counter[bool] = Counter()
        self.seen: set[str] = set()  # in a dry run
        self.notes: list[str] = []  # the notes of the file at hand, by their ids
        self.sessions: dict[str, bool] = {}  # those that are known by their transcripts
        self.bodies: dict[tuple[int, str], str] = {}

    def bring(self, entries: Iterable[Entry]) -> Brought:
        """Keep them all; of a dry run, only say what would be."""
        self.bodies = {(int(note.at), digest_of(note.text)): origin(note) for note in self._notes_there()}
        for batch in _batches(entries):
            if self.dry:
                self._count(batch)
            else:
                with self.keeper.writing(PATIENCE):
                    self._keep(batch)
        return Brought(self.found, self.added[True], self.known[True], self.added[False], self.known[False])

    def _notes_there(self) -> list[Note]:
        """The notes that a person may have made of the same pages before."""
        try:
            return [note for note in self.keeper.store.notes(self.project, 1) if note.who]
        except NotSetUp:
            return []

    def _count(self, batch: Sequence[Entry]) -> None:
        try:
            store: Store | None = self.keeper.store
        except NotSetUp:
            store = None
        for entry in batch:
            id = self._id(entry)
            there = id in self.seen or (store is not None and self._is_there(store, entry, id))
            if entry.kind != EVENT:
                same = self.bodies.get((int(entry.at), digest_of(clean(entry.text)))) if entry.kind != OUTLINE else None
                self.notes += [same or id] if entry.kind != OUTLINE else []
                there = there or bool(same)
            self.seen.add(id)
            self._tell(entry, not there)

    def _tell(self, entry: Entry, new: bool) -> None:
        self.found[entry.label] += 1
        (self.added if new else self.known)[entry.kind == EVENT] += 1

    def _keep(self, batch: Sequence[Entry]) -> None:
        store = self.keeper.writer
        new: dict[str, dict[str, Event]] = {}  # by their files
        ids: set[str] = set()
        for entry in batch:
            if entry.kind != EVENT:
                self._tell(entry, self._keep_note(store, entry))
                continue
            id = self._id(entry)
            is_new = id not in ids and not self._is_there(store, entry, id)
            ids.add(id)
            self._tell(entry, is_new)
            if is_new:
                new.setdefault(entry.file, {})[id] = self._event(entry, id)
        for file, events in new.items():
            source = store.source(file) or store.begin(Source(file, "", ""))
            store.record(source, [Placed(event, 0) for event in events.values()], now=time())

    def _is_there(self, store: Store, entry: Entry, id: str) -> bool:
        """Whether an entry is kept, or the session that it was in, with more than its tool had of it."""
        if entry.kind != EVENT:
            return store.note(id) is not None
        if entry.session not in self.sessions:
            self.sessions[entry.session] = bool(entry.session and store.sessions_called(entry.session))
        return self.sessions[entry.session] or store.event(f"{id}:0") is not None

    def _event(self, entry: Entry, id: str) -> Event:
        fields = {"from": self.tool, "role": entry.role, "file": entry.file}
        text = self.keeper.redacted(clean(entry.text), self.project)
        path = self.keeper.redacted(entry.path, self.project)
        return Event(f"{id}:0", entry.at, EVENT, "", self.project, text, entry.role, path, extra=wire.dumps(fields))

    def _keep_note(self, store: Store, entry: Entry) -> bool:
        """Keep a note, or what covers those before it; whether it is new."""
        id = self._id(entry)
        if entry.kind == OUTLINE:
            covers = [event for event in self._covered(entry) if not store.cover(event)] if entry.covers else []
            lacks = not store.note(id) and bool(covers or not entry.covers)
            return lacks and self._keep_outline(store, entry, id, covers)
        text, form = self._text(entry)
        same = self.bodies.get((int(entry.at), digest_of(text)))
        self.notes.append(same or id)
        if same or store.note(id):
            return False
        extra = {"by": "import", "from": self.tool, "file": entry.file, "written": entry.at}
        extra |= {"form": form} if form else {}
        level = 1 if entry.kind == "session" else 0
        note = Note(id, entry.at, entry.kind, level, self.project, text, "", measure(text), wire.dumps(extra))
        store.add(note)
        return store.note(id) is not None

    def _text(self, entry: Entry) -> tuple[str, str]:
        text = self.keeper.redacted(clean(entry.text), self.project)
        return text_of(text) if entry.kind == "session" else (text, "")

    def _covered(self, entry: Entry) -> list[str]:
        return list(dict.fromkeys(self.notes[-entry.covers :]))

    def _keep_outline(self, store: Store, entry: Entry, id: str, covers: Sequence[str]) -> bool:
        """A summary as the tool has it; one of ours where it had none."""
        fields = {"by": "import", "from": self.tool, "file": entry.file, "written": entry.at}
        if entry.outline is None:
            notes = [note for cover in covers if (note := store.note(cover))]
            note = write_outline(self.keeper, notes, self.outline_tokens)
            note = note._replace(extra=wire.dumps({**wire.read_object(note.extra), "from": self.tool}))
        else:
            text = self.keeper.redacted(entry.text, self.project)
            outline = _redacted(entry.outline, lambda part: self.keeper.redacted(part, self.project))
            extra = wire.dumps({**fields, "outline": outline})
            note = Note(id, entry.at, OUTLINE, 2, self.project, text, "", measure(text), extra)
        store.add(note._replace(id=id, at=entry.at), covers)
        return store.note(id) is not None

    def _id(self, entry: Entry) -> str:
        """By what an entry says; that of a summary by what it sums up."""
        parts = self._covered(entry) if entry.covers else (entry.key, entry.role, entry.path, entry.text)
        return IMPORTED + digest_of(self.tool, self.project, entry.kind, *parts)


def _redacted(value: object, safe: Callable[[str], str]) -> object:
    if isinstance(value, dict):
        return {name: _redacted(part, safe) for name, part in value.items()}
    if isinstance(value, list):
        return [_redacted(part, safe) for part in value]
    return safe(value) if isinstance(value, str) else value


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Some at a time: neither too many nor too much of them."""
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += len(entry.text)
        if len(batch) >= AT_ONCE or size >= LARGE:
            yield batch
            batch, size = [], 0
    yield batch
