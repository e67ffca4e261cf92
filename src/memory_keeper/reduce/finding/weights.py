"""How much each name of a session matters: the files, identifiers and references that its events bring up.

A name that came up in many ways (said, edited, searched, printed) is needed again sooner than one that came up often
in one way, and a recent one sooner than an old one. So its weight is a sum of logarithms, one per way, and of its
recency. No weight knows a language, a project or a tool's output format.
"""

from __future__ import annotations

import re
from math import log1p
from typing import Generic, TypeVar

from memory_keeper.capture.calls import command_of, ends_with, undone
from memory_keeper.model import Event, NamedTuple
from memory_keeper.reduce.words.names import BLANK, ENDING, looked_at, names, paths, refs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Seen = tuple[Event, str, Event | None, str, set[str], set[str], set[str]]

Key = TypeVar("Key", str, tuple[str, str])
WHOLE = re.compile(rf"(?<![\w.~/-])(?:/[\w.@+~{BLANK}-]+)+")  # a path from the root on
QUOTED = re.compile(r"""(["'])(~?/[^"'\n]{1,200}/[^"'\n]{1,200})\1""")
WAYS = {
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Bash": "shell",
    "Grep": "search",
    "Glob": "search",
}
SHOWN = {"Read": "read", "Grep": "found", "Glob": "found", "Bash": "printed"}
RESULTS = frozenset({"read", "found", "printed", "answered"})
ASIDE = frozenset({"read"})  # a file that is named in another and nowhere else is used once in a thousand times
PASSING = frozenset({"thinking", "shell"})  # a name that came up in no other own way is used once in a hundred times
HALF, LONG_HALF = 30, 150  # calls after which recency is half
SPACED = 50  # parts of paths with blanks that are known
DEEP = 1_000  # characters of a path that are looked at for the folders it is in
MOST = 50  # files of one base name that are told apart


class Named(NamedTuple):
    """Something with a name, and what it weighs."""

    kind: str  # file | name | ref
    text: str
    weight: float
    cites: tuple[str, ...]  # the newest event that has it, and the newest of the model's or the user's own
    own: bool = True  # the model or the user brought it up, not only a tool
    shown: bool = True  # a tool printed it


class Linked(NamedTuple):
    """A name in a file."""

    name: str
    path: str
    weight: float
    cites: tuple[str, ...]


class Names(NamedTuple):
    """All names of some events, each kind heaviest first."""

    files: list[Named]
    names: list[Named]
    refs: list[Named]
    links: dict[str, list[Linked]]  # by name, heaviest first
    root: str  # the folder that short paths are short for; empty when nothing tells


def weigh(events: Sequence[Event], folder: str = "") -> Names:
    """Every name of a session's events with its weight; `folder` is the project's."""
    calls = {event.ref: event for event in events if event.kind in ("call", "todo") and event.ref}
    whole = _Paths()  # each file by the longest path it was ever given
    seen = []
    spaced = _spaced(events)
    folders = _folders([f"{folder}/", *(event.path for event in events if event.kind == "call")], spaced)
    own = {event.session[:7] for event in events}  # which nobody has to be told
    for event in events:
        way = _way(event, calls)
        if way:
            text = looked_at(event)
            joined = _joined(text, spaced)
            call = event if event.kind == "call" else calls.get(event.ref)
            path = call.path if call and ENDING.search(call.path) else ""
            named = paths(joined) | ({path} if path and event.kind == "call" else set())
            for one in sorted(named):  # of two that end alike the first counts: not as a set happens to lie
                whole.add(one)
            listing = event.kind == "todo" or (call is not None and call.kind == "todo")  # numbers of tasks
            said = names(_inside(joined, folders))
            seen.append((event, way, call, path, named, said, set() if listing else refs(text) - own))
    return _weighed(seen, whole, sum(event.kind == "call" for event in events), undone(events))


def _spaced(events: Sequence[Event]) -> list[str]:
    """The parts of known paths that have blanks in them, longest first: elsewhere they would fall apart."""
    known = {event.path for event in events if event.kind == "call" and " " in event.path}
    for event in events:
        if (command := command_of(event)[:2000]) and " " in command:
            known.update(path for _, path in QUOTED.findall(command) if " " in path)
    parts = {part for path in known for part in path.split("/") if " " in part and 3 < len(part) <= 100}
    return sorted(parts, key=lambda part: (-len(part), part))[:SPACED]


def _joined(text: str, spaced: Sequence[str]) -> str:
    for part in spaced:
        text = text.replace(part, part.replace(" ", BLANK))
    return text


def _folders(paths: Sequence[str], spaced: Sequence[str]) -> set[str]:
    """The folders that some files lie in, and those above."""
    found: set[str] = set()
    for path in paths:
        folder = _joined(path[:DEEP], spaced).rpartition("/")[0]
        while folder[:1] == "/" and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _inside(text: str, folders: set[str]) -> str:
    """A text whose paths begin below folders that are known: those are where a name is, and none."""

    def below(path: re.Match[str]) -> str:
        folder = path[0][:DEEP]
        while folder and folder not in folders:
            folder = folder.rpartition("/")[0]
        return path[0][len(folder) :]

    return WHOLE.sub(below, text) if folders and "/" in text else text


def _weighed(seen: list[Seen], whole: _Paths, total: int, undone: set[str]) -> Names:
    """All names by the events that bring them up, of which so many are calls; what was undone links nothing."""
    files, words, marks = Scale[str](), Scale[str](), Scale[str]()
    links = Scale[tuple[str, str]]()
    done = 0
    for event, way, call, path, named, said, marked in seen:
        done += event.kind == "call"
        mention = Mention(way, total - done, way not in RESULTS, (event.id,))
        path = whole.find(path) if path else ""
        for one in sorted({(whole.find(one), one) for one in named}):
            touches = one[0] == path and event.kind == "call"
            files.add(one[0], mention._replace(own=mention.own or touches), 1.0 if touches else 0.0, one[0] == one[1])
        for name in said:
            words.add(name, mention, 1.0 if event.kind == "todo" else 0.0)
        for ref in marked:
            marks.add(ref, mention)
        if path and call and way != "found" and call.id not in undone:
            pair = mention if call is event else mention._replace(cites=(call.id, event.id))
            for name in said:
                links.add((name, path), pair)
    return Names(
        _files(files),
        [Named("name", one.key, one.weight(0.3), one.cites()) for one in words.ranked(0.3) if one.stays()],
        [Named("ref", one.key, one.weight(0.15), one.cites(), one.stays()) for one in marks.ranked(0.15)],
        _by_name(links),
        whole.root(),
    )


def _files(files: Scale[str]) -> list[Named]:
    return [
        Named("file", one.key, one.weight(0.3), one.cites(), bool(one.last_own), not RESULTS.isdisjoint(one.ways))
        for one in files.ranked(0.3)
        if one.last_own or not one.ways.keys() <= ASIDE
    ]


def _by_name(links: Scale[tuple[str, str]]) -> dict[str, list[Linked]]:
    found: dict[str, list[Linked]] = {}
    for tally in links.ranked(0.3):
        name, path = tally.key
        found.setdefault(name, []).append(Linked(name, path, tally.weight(0.3), tally.last))
    return found


def _way(event: Event, calls: dict[str, Event]) -> str:
    """How an event brings up names; empty when it does not."""
    if event.kind in ("reply", "prompt", "thinking"):
        return event.kind if not event.agent else "task"
    if event.kind in ("todo", "task"):
        return "task"
    if event.kind == "call":
        return WAYS.get(event.tool, "read" if event.tool == "Read" else "task")
    if event.kind == "result":
        call = calls.get(event.ref)
        return SHOWN.get(call.tool if call else "", "answered")
    return ""


class Mention(NamedTuple):
    """One event that brings up a name."""

    way: str
    age: int  # calls since
    own: bool  # the model's or the user's words, not a tool's
    cites: tuple[str, ...]


class Tally(Generic[Key]):
    """How often something came up in each way, how recently, and where last."""

    def __init__(self, key: Key) -> None:
        self.key: Key = key
        self.ways: dict[str, int] = {}
        self.youngest = self.youngest_own = 1 << 30
        self.last: tuple[str, ...] = ()
        self.last_own: tuple[str, ...] = ()
        self.last_whole: tuple[str, ...] = ()
        self.extra = 0.0

    def weight(self, printed: float) -> float:
        """A mention in a result counts `printed`, one of the model's or the user's 0.4."""
        ways = sum((printed if way in RESULTS else 0.4) * log1p(count) for way, count in self.ways.items())
        recent = 0.5 ** (self.youngest / HALF) + 0.5 ** (min(self.youngest_own, 10_000) / HALF)
        return float(ways + self.extra + 2 * recent + 2 * 0.5 ** (self.youngest / LONG_HALF))

    def stays(self) -> bool:
        """Whether the model or the user did more with it than think of it or type it into a shell once."""
        return not self.ways.keys() <= RESULTS | PASSING

    def cites(self) -> tuple[str, ...]:
        """Where it last came up: in full, in the model's or the user's words, in anyone's."""
        return tuple(dict.fromkeys((*self.last_whole, *self.last_own, *self.last)))


class Scale(Generic[Key]):
    """Tallies by key."""

    def __init__(self) -> None:
        self.tallies: dict[Key, Tally[Key]] = {}

    def add(self, key: Key, mention: Mention, extra: float = 0.0, whole: bool = True) -> None:
        """Count one mention; `whole`: it has the key as it stands, not a part of it."""
        tally = self.tallies.get(key) or self.tallies.setdefault(key, Tally(key))
        tally.ways[mention.way] = tally.ways.get(mention.way, 0) + 1
        tally.youngest, tally.last = mention.age, mention.cites  # events come oldest first
        tally.extra = max(tally.extra, extra)
        if whole:
            tally.last_whole = mention.cites
        if mention.own:
            tally.youngest_own, tally.last_own = mention.age, mention.cites

    def ranked(self, printed: float) -> list[Tally[Key]]:
        """Heaviest first; equals by name, so that the order never depends on how a set happens to lie."""
        return sorted(self.tallies.values(), key=lambda one: (-one.weight(printed), one.key))


class _Paths:
    """One name per file, however much of its path was written: the longest."""

    def __init__(self) -> None:
        self.by_base: dict[str, list[str]] = {}
        self.roots: dict[str, int] = {}

    def add(self, path: str) -> None:
        same = self.by_base.setdefault(path.rpartition("/")[2], [])
        for number, known in enumerate(same[:MOST]):
            if known == path:
                return
            if ends_with(known, path):
                return self._vote(known, path)
            if ends_with(path, known):
                same[number] = path
                return self._vote(path, known)
        same.append(path)

    def _vote(self, path: str, short: str) -> None:
        if path.startswith("/") and "/" in short and short[0] not in "/~.":
            root = path[: -len(short) - 1]
            self.roots[root] = self.roots.get(root, 0) + 1

    def find(self, path: str) -> str:
        same = self.by_base.get(path.rpartition("/")[2], [])
        return next((known for known in same[:MOST] if known == path or ends_with(known, path)), path)

    def root(self) -> str:
        """What was left off most often: of whole paths, else of the folders that short ones are in."""
        roots = self.roots or self._by_folder()
        return max(sorted(roots), key=lambda root: roots[root], default="")

    def _by_folder(self) -> dict[str, int]:
        folders = sorted({path.rpartition("/")[0] for same in self.by_base.values() for path in same})
        whole: dict[str, list[str]] = {}
        for folder in folders:
            if folder.startswith("/"):
                whole.setdefault(folder.rpartition("/")[2], []).append(folder)
        roots: dict[str, int] = {}
        for folder in folders:
            for known in (
                whole.get(folder.rpartition("/")[2], [])[:MOST] if folder[:1] not in ("", "/", "~", ".") else ()
            ):
                if known.endswith("/" + folder):
                    root = known[: -len(folder) - 1]
                    roots[root] = roots.get(root, 0) + 1
        return roots
