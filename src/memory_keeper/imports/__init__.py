"""What other memory tools have kept, as entries: a tool is a row in `IMPORTERS` and a module that finds and reads.

`memory_keeper_files` reads the memory of the earlier plugin of our name; `claude_mem`, `continuous_claude`, `markdown`
read what theirs say; `files` is what all readers share. Nothing in here writes, runs or follows a link. What is read
may be anybody's: every file is bounded, what cannot be read is named and left out, and no entry claims to be the user's
own word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from time import monotonic
from typing import Protocol

from memory_keeper import wire
from memory_keeper.errors import KeeperError
from memory_keeper.model import Filter, Json, NamedTuple
from memory_keeper.provenance import imported_from
from memory_keeper.store.store import Store
from memory_keeper.text import many

LOG = ".l1.jsonl"  # how the files end that say what was done in a session, line by line
GLANCE = 0.3  # seconds
EVENT, OUTLINE = "imported", "outline"  # kinds of entries; others are kinds of notes, all but standing ones `session`


class Entry(NamedTuple):
    """Something that another tool had kept."""

    label: str  # what it is counted as
    kind: str  # see EVENT
    at: float
    text: str
    file: str = ""  # where it was found
    key: str = ""  # what tells it from another that says the same: its time as it was written
    role: str = ""  # whose words an event has: user, assistant, or the name of a tool
    path: str = ""  # the file that an event is about
    session: str = ""  # how the id begins of the session it was in, where that is known
    outline: Json | None = None  # what an outline says, in the form of `notes.schema`
    covers: int = 0  # so many of the notes before it


class Where(NamedTuple):
    """Where a tool's memory is looked for."""

    root: str  # of the project
    environ: dict[str, str]
    paths: Sequence[str] = ()  # that were given; none: where the tool puts it
    name: str = ""  # what the tool calls the project


class Reader(Protocol):
    """A module that reads one tool's memory."""

    def find(self, where: Where) -> list[str]:
        """The files of a memory, in the order in which they are to be read."""

    def read(
        self, where: Where, files: Sequence[str], complain: Callable[[str], None], progress: Callable[[int], None]
    ) -> Iterator[Entry]:
        """What they say, the oldest first; `complain` hears of what is left out, `progress` of the bytes read."""


class Importer(NamedTuple):
    """A tool whose memory can be read in."""

    help: str
    module: str
    finds: str  # where, for people; empty: nowhere by itself


IMPORTERS = {
    "memory-keeper": Importer(
        "the memory of the earlier plugin of this name, and of Crabshell, which it became",
        "memory_keeper_files",
        ".claude/memory and .crabshell of the project",
    ),
    "claude-mem": Importer(
        "its database, of this project",
        "claude_mem",
        "~/.claude-mem",
    ),
    "continuous-claude": Importer(
        "its ledgers and handoffs",
        "continuous_claude",
        "thoughts/ledgers and thoughts/shared/handoffs of the project",
    ),
    "markdown": Importer("files of notes, a note for each section", "markdown", ""),
}


def counted(found: Mapping[str, int]) -> str:
    """`2 sections, 1 archive`: what was found of each kind."""
    plurals = {label: f"{label[:-1]}ie" if label.endswith("y") else label for label in found}
    return ", ".join(many(n, label if n == 1 else plurals[label]) for label, n in found.items() if n) or "nothing"


def glance(root: str, environ: Mapping[str, str], store: Store | None = None, project: str = "") -> dict[str, str]:
    """By the name of the tool what there is that was not brought in, in words. Of a session log only the beginning is
    read, and what takes long is counted as far as it was read."""
    where, found = Where(root, dict(environ)), {}
    brought = _tools_of(store, project) if store and project else set()
    for name in IMPORTERS:
        try:
            there = "" if name in brought else _glance(reader(name), where, store)
        except KeeperError:
            continue  # it has nothing of this project
        if there:
            found[name] = there
    return found


def called(tool: str) -> str:
    """What a tool's memory is called; ours and that of the plugin before us have one name."""
    return "an older memory" if tool == "memory-keeper" else f"a memory of {tool}"


def _glance(module: Reader, where: Where, store: Store | None) -> str:
    files = module.find(where)
    logs = [file for file in files if file.endswith(LOG)]
    here: Counter[str] = Counter()
    until = monotonic() + GLANCE

    def stop_in_time(_: int) -> None:
        if monotonic() > until:
            raise TimeoutError  # of one file, which a reader leaves out then

    for entry in module.read(where, [file for file in files if file not in logs], _ignore, _ignore):
        here[entry.label] += 1
        if monotonic() > until:
            return f"at least {counted(here)}"
    until = monotonic() + GLANCE
    for log in logs:
        first = next(module.read(where, [log], _ignore, stop_in_time), None)
        known = first and first.session and store and store.sessions_called(first.session)
        here["session log"] += bool(first and not known)
    return counted(here) if here.total() else ""


def _tools_of(store: Store, project: str) -> set[str]:
    """The tools whose memory of a project was brought in."""
    notes = [note for level in (0, 1, 2) for note in store.notes(project, level)]
    events = store.find(Filter(project, kinds=(EVENT,)))
    named = {str(wire.read_object(kept.event.extra).get("from")) for kept in events}
    return named | {imported_from(note) for note in notes}


def _ignore(said: object) -> None:
    """For a reader that tells what nobody wants to know."""


def reader(name: str) -> Reader:
    """The module of a tool."""
    module: Reader = import_module(f"{__name__}.{IMPORTERS[name].module}")
    return module
