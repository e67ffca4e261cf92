"""The names in a text that nobody had to mark: files, identifiers, references, commands; and how much each matters.

A name that came up in many ways (said, edited, searched, printed) is needed again sooner than one that came up often
in one way, and a recent one sooner than an old one. So its weight is a sum of logarithms, one per way, and of its
recency. No weight knows a language, a project or a tool's output format.
"""

from __future__ import annotations

import re
from math import log1p
from typing import Generic, TypeVar

from memory_keeper.capture.calls import DROPS as DROPS
from memory_keeper.capture.calls import command_of as command_of
from memory_keeper.capture.calls import core as core
from memory_keeper.capture.calls import ends_with, undone
from memory_keeper.capture.calls import fields as fields
from memory_keeper.capture.calls import first_step as first_step
from memory_keeper.capture.calls import steps as steps
from memory_keeper.capture.calls import typed as typed
from memory_keeper.model import Event, NamedTuple
from memory_keeper.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Seen = tuple[Event, str, Event | None, str, set[str], set[str], set[str]]

Key = TypeVar("Key", str, tuple[str, str])

HEAD, TAIL = 20_000, 4_000  # of a text, in characters: what is looked at
MARK = re.compile(r"<REDACTED:[^>\s]{1,40}>")
WORD = re.compile(r"(?<!\w)[A-Za-z_]\w*")
# camelCase, PascalCase of two words or more, snake_case, CAPITALS_WITH_LINES
NAME = re.compile(
    r"_*(?:[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"
)
PRODUCTS = frozenset(
    (
        "DevOps",
        "GitHub",
        "GitLab",
        "JavaScript",
        "LinkedIn",
        "MacOS",
        "OpenAI",
        "PostgreSQL",
        "TypeScript",
        "WebSocket",
        "YouTube",
    )
)
LONGEST = 60
BLANK = "\ue000"  # stands for a blank that belongs to a path
PIECE = re.compile(rf"[\w./@+~{BLANK}-]+")
QUOTED = re.compile(r"""(["'])(~?/[^"'\n]{1,200}/[^"'\n]{1,200})\1""")
# the end of a line, in a string: no part of the word after it; of a path with such strokes, all
ESCAPED = re.compile(r"[A-Za-z]:\\[^\s\"']*|\\[nrt](?=[\w~./-])")
KEY = re.compile(r'^[A-Za-z_][\w-]{0,40}: |"[A-Za-z_]\w{0,40}": ', re.M)  # what a call's text names its parts
SIDE = re.compile(r"^(?:\./|[ab]/(?=.*/))")  # this folder; the sides of a diff
ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,8}$")
ENDINGS = frozenset((
    "bash", "c", "cc", "cfg", "cjs", "conf", "cpp", "cs", "css", "csv", "cxx", "dart", "env", "ex", "exs", "go",
    "gradle", "graphql", "h", "hpp", "hs", "html", "ini", "ipynb", "java", "js", "json", "jsonl", "jsx", "kt",
    "kts", "less", "lock", "lua", "m", "md", "mdx", "mjs", "mod", "mm", "php", "pl", "prisma", "properties",
    "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "sql", "svelte", "swift",
    "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig",
))  # fmt: skip
URL = re.compile(r"https?://[^\s<>\"'`)\]}”’…\\]{1,300}")
# of a longer id in parts its beginning only
HASH = re.compile(r"(?<![\w-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")
MADE_UP = re.compile(
    r"(?:[a-f]\d){3}|(?:\d[a-f]){3}|abc(?:def|123)|dead(?:bee|c0d)|(.)\1{4}"
)  # to show what one is like
EXAMPLE = re.compile(r"https?://(?:[\w-]+\.)*example\.(?:com|org|net)\b")
# numbers are looked for by the mark before them, which is quick, and what stands before the mark then tells what it is
ISSUE = re.compile(r"#\d{1,6}\b")
CITED = re.compile(  # a small number alone counts tasks, options, steps
    r"(?:\b(?i:prs?|mrs?|issues?|pull|requests?|fix(?:es|ed)?|closed?|closes|resolved?|resolves|refs?|see)[ :]+|\()$"
)
TICKET = re.compile(r"-\d{1,5}\b")
PROJECT = re.compile(r"\b(?!(?:SHA|UTF|ISO|RFC|AES|RSA|MD|CP|GPT|TLS|HTTP|IEEE|UTC|GMT|ES|PEP|ANSI|BASE)$)[A-Z]{2,6}$")
NUMBER = re.compile(r"(?<![\w.#:/-])(?:\d{1,3}(?:,\d{3})+|\d{3,9})(?![\w:/-]|[.,]\w)")

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


def looked_at(event: Event) -> str:
    """As much of a text as names are looked for in: no keys of a call, no redaction marks."""
    given = fields(event) if event.kind == "call" else {}
    text = bounded("\n".join(given.values()) if given else event.text)
    if event.kind in ("call", "todo") and not given:
        text = KEY.sub(" ", text)
    text = unescaped(text)
    return MARK.sub(" ", text) if "<REDACTED:" in text else text


def unescaped(text: str) -> str:
    """A text whose strings have blanks for the ends of their lines."""
    return ESCAPED.sub(lambda found: found[0] if found[0][0] != "\\" else " ", text) if "\\" in text else text


def bounded(text: str) -> str:
    """The beginning and the end of a long text, without colours, which would run into names."""
    if len(text) > HEAD + TAIL:  # half a name would be another: the words that are cut go
        text = text[:HEAD].rsplit(None, 1)[0] + "\n" + text[-TAIL:].split(None, 1)[-1]
    return clean(text) if "\x1b" in text else text


def names(text: str) -> set[str]:
    """The identifiers of a text that are more than one plain word."""
    words = {word for word in WORD.findall(text) if 5 < len(word) <= LONGEST}
    return {word for word in words if NAME.fullmatch(word)} - PRODUCTS


def paths(text: str) -> set[str]:
    """The files of a text, as written there."""
    found = set()
    text = unescaped(text)
    for piece in set(PIECE.findall(text)):
        if 3 < len(piece) <= 200 and "." in piece:
            path = SIDE.sub("", piece.rstrip("/.:,;-" + BLANK).replace(BLANK, " "))
            base = path.rpartition("/")[2]
            ending = ENDING.search(base)
            if ending and not path.startswith(("/dev/", "//", "-", "@")) and not base.startswith(("*", "+")):
                known = ending[0][1:].lower() in ENDINGS and (ending[0].islower() or ending[0].isupper())
                if known and (len(base) > len(ending[0]) or base.startswith(".env")):
                    found.add(path)
    return found


def refs(text: str) -> set[str]:
    """Addresses, commit hashes, numbers of issues."""
    found = {url.rstrip(".,;:*") for url in URL.findall(text) if not EXAMPLE.match(url)}
    hashes = {one[:7] for one in HASH.findall(text)}
    return found | {one for one in hashes if not one.isdecimal()} | {*_issues(text)} | {*_tickets(text)}


def _issues(text: str) -> Iterator[str]:
    """Numbers of issues: large ones, and small ones that somebody calls that."""
    for one in ISSUE.finditer(text):
        before = text[max(0, one.start() - 12) : one.start()]
        if CITED.search(before) if len(one[0]) < 4 else not (before[-1:].isalnum() or before[-1:] in ("_", "&")):
            yield one[0]


def _tickets(text: str) -> Iterator[str]:
    for one in TICKET.finditer(text):
        if project := PROJECT.search(text[max(0, one.start() - 8) : one.start()]):
            yield project[0] + one[0]


def weigh(events: Sequence[Event]) -> Names:
    """Every name of a session's events with its weight."""
    calls = {event.ref: event for event in events if event.kind in ("call", "todo") and event.ref}
    whole = _Paths()  # each file by the longest path it was ever given
    seen = []
    spaced = _spaced(events)
    own = {event.session[:7] for event in events}  # which nobody has to be told
    for event in events:
        way = _way(event, calls)
        if way:
            text = looked_at(event)
            call = event if event.kind == "call" else calls.get(event.ref)
            path = call.path if call and ENDING.search(call.path) else ""
            named = paths(_joined(text, spaced)) | ({path} if path and event.kind == "call" else set())
            for one in named:
                whole.add(one)
            listing = event.kind == "todo" or (call is not None and call.kind == "todo")  # numbers of tasks
            seen.append((event, way, call, path, named, names(text), set() if listing else refs(text) - own))
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


def _weighed(seen: list[Seen], whole: _Paths, total: int, undone: set[str]) -> Names:
    files: Scale[str] = Scale()
    words: Scale[str] = Scale()
    marks: Scale[str] = Scale()
    links: Scale[tuple[str, str]] = Scale()
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
    by_name: dict[str, list[Linked]] = {}
    for tally in links.ranked(0.3):
        name, path = tally.key
        by_name.setdefault(name, []).append(Linked(name, path, tally.weight(0.3), tally.last))
    return Names(
        [
            Named("file", one.key, one.weight(0.3), one.cites(), bool(one.last_own), not RESULTS.isdisjoint(one.ways))
            for one in files.ranked(0.3)
            if one.last_own or not one.ways.keys() <= ASIDE
        ],
        [Named("name", one.key, one.weight(0.3), one.cites()) for one in words.ranked(0.3) if one.stays()],
        [Named("ref", one.key, one.weight(0.15), one.cites(), one.stays()) for one in marks.ranked(0.15)],
        by_name,
        whole.root(),
    )


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
