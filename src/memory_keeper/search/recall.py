"""What was kept about the things that a prompt names, before anybody asks for it.

A name has to be rare to tell anything, so each is looked up by itself, the newest rows first and never many. What was
said with the name in it is about it; so are the answers to a prompt that names it, and those of a turn that wrote the
file, as long as that turn was about little else. Only prompts, answers of the main thread, and notes count: what a tool
printed is nobody's word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory_keeper import regex as re
from memory_keeper.capture.named import NAMED, Name, names_in
from memory_keeper.model import WRITES, NamedTuple, Phrase, Row, Scope
from memory_keeper.store.calls import Turn, replies_in, turn_of, written_in
from memory_keeper.store.index import words_in
from memory_keeper.store.shared import accepted, author_of, is_accepted, item_of
from memory_keeper.store.store import Store

ROWS = 48  # newest rows with a name that are counted
LATEST, READ = 12, 12_000  # of them that are read, and characters of each
CALLS, TURNS, ANSWERS = 8, 4, 3  # newest calls that wrote a file, turns about a name, and the last answers of each
TYPED = 1_500  # characters: a longer prompt is about more than it names
FEW = 3  # files of a turn, or names of a prompt, up to which all that was said may be about each
OFTEN = 10  # sessions: what came up in more of them says little about any
DEEP = 4  # folders of a path that are held against others
# files that every project has, and every folder: who names one names none in particular
GENERAL = frozenset((
    "readme.md", "__init__.py", "package.json", "index.ts", "index.js", "index.tsx", "main.py", "main.go", "main.rs",
    "mod.rs", "lib.rs", "setup.py", "pyproject.toml", "cargo.toml", "go.mod", "tsconfig.json", "claude.md", "agents.md",
    "changelog.md", "license", ".gitignore", "makefile", "dockerfile", "conftest.py", "utils.py", "types.ts",
))  # fmt: skip
HAND = ("note", "project", "architecture", "conventions", "decision", "issue", "fact", "shared")
SPOKEN = ("prompt", "reply")
SAYS, ASKED, WROTE = "says", "asked", "wrote"


class About(NamedTuple):
    """A row that is about something a prompt names."""

    row: Row
    text: str
    name: Name
    how: str  # says: it has the name; asked: the prompt it answers has; wrote: its turn wrote the file
    common: bool  # the name comes up all the time
    author: str = ""  # of what another of the team shares


def about(
    store: Store, names: Sequence[Name], project: str, fresh: Callable[[Row], bool] = lambda row: True
) -> list[About]:
    """What is kept about some names in a project, of each the nearest first; `fresh` says which rows may be told."""
    if not store.indexed:
        return []
    found: dict[int, About] = {}
    for name in names:
        for mention in _Looking(store, name, project, fresh).all():
            found.setdefault(mention.row.key, mention)
    return list(found.values())


class _Looking:
    """The look for one name."""

    def __init__(self, store: Store, name: Name, project: str, fresh: Callable[[Row], bool]) -> None:
        self.store, self.name, self.project, self.fresh = store, name, project, fresh
        self.mention = pattern_of(name)

    def all(self) -> list[About]:
        """What is about the name: notes, what was said with it, what was said next to it."""
        noted, spoken = self.rows(HAND, notes=True), self.rows(SPOKEN)
        common = (
            self.name.base.lower() in GENERAL or len({row.session for row in spoken}) > OFTEN or len(spoken) >= ROWS
        )
        direct = [
            About(row, text, self.name, SAYS, common, self.author(row))
            for row, text in self.having([*noted, *spoken[:LATEST]])
            if row.kind != "shared" or self.author(row)
        ]
        if common or self.name.kind == "word":
            return direct
        turns = [turn_of(self.store, mention.row.session, mention.row.key) for mention in direct if _asks(mention)][
            :TURNS
        ]
        written = self.written() if self.name.kind == "file" else []
        near = [(turn, ASKED) for turn in turns] + [(turn, WROTE) for turn in written if turn not in turns]
        return [*direct, *self.answers(near)]

    def author(self, row: Row) -> str:
        """Who of an accepted team shares what a row says, unless that is a rule: those are told as rules."""
        note = self.store.note(row.id) if row.kind == "shared" else None
        item = item_of(note) if note and is_accepted(self.store, note, accepted(self.store, self.project)) else None
        return author_of(note) if item and item.kind != "rule" else ""

    def rows(self, kinds: Sequence[str], notes: bool = False) -> list[Row]:
        """The newest rows with the name that may be told, newest first; a tag may be another's too."""
        words = " ".join(words_in(self.name.base))
        if not words:
            return []
        keys = self.store.matching([[Phrase(words, "text")]], Scope(self.project), ROWS, notes, kinds)
        rows = {row.key: row for row in self.store.rows(keys)} if keys else {}
        read = (rows[key] for key in keys if key in rows)
        return [row for row in read if row.project == self.project and self.fresh(row)]

    def having(self, rows: Sequence[Row]) -> list[tuple[Row, str]]:
        """The rows that really have the name, with their texts. In a session that names another file of that name, and
        not this one, the name alone means the other."""
        texts = self.store.texts([row.key for row in rows], READ) if rows else {}
        found = {row.key: self.mention.search(texts.get(row.key, "")) for row in rows}
        others = {row.session for row in rows if row.key > 0 and not found[row.key]}
        others -= {row.session for row in rows if (had := found[row.key]) and "/" in had[0]}
        return [(row, texts[row.key]) for row in rows if found[row.key] and (row.key < 0 or row.session not in others)]

    def written(self) -> list[Turn]:
        """The newest turns that wrote a file of this name, and few others."""
        calls = [row for row in self.rows(("call",)) if row.tool in WRITES and self.mention.search(row.path)]
        found = dict.fromkeys(turn_of(self.store, row.session, row.key) for row in calls[:CALLS])
        wrote = [turn for turn in found if len(written_in(self.store, turn, sorted(WRITES))) <= FEW]
        return wrote[:TURNS]

    def answers(self, turns: Sequence[tuple[Turn, str]]) -> list[About]:
        """The last answers of turns that are about the name, newest first."""
        how = {key: how for turn, how in reversed(turns) for key in replies_in(self.store, turn, ANSWERS)}
        rows = [row for row in self.store.rows(list(how)) if self.fresh(row)] if how else []
        texts = self.store.texts([row.key for row in rows], READ) if rows else {}
        rows.sort(key=lambda row: -row.key)
        return [About(row, texts.get(row.key, ""), self.name, how[row.key], False) for row in rows]


def _asks(mention: About) -> bool:
    """Whether a row asks about its name and little else."""
    return mention.row.kind == "prompt" and len(mention.text) < TYPED and len(names_in(mention.text)) <= FEW


# --- whether a text has a name ----------------------------------------------------------------------------------------


def pattern_of(name: Name) -> re.Pattern[str]:
    """Finds a name in a text, and not a longer one that it is a part of. A file is found under its name alone, or with
    folders that agree with those that were given."""
    if name.kind == "word":
        return re.compile(f"`{re.escape(name.text)}`")
    if name.kind != "file":
        edge = r"(?![\w-])" if name.text[:2] == "--" else r"(?!\w)"
        return re.compile(rf"(?<![\w-]){re.escape(name.text)}{edge}")
    folders = [part for part in name.text.rstrip("/").split("/")[:-1] if part not in ("", ".", "~")][-DEEP:]
    base = name.base
    if "." not in base and base not in NAMED and folders:  # else it is a word
        base = f"{folders.pop()}/{base}"
    begin = rf"(?<![\w./~@-]){_folders(folders)}" if folders else r"(?<![\w.-])"
    return re.compile(rf"{begin}{re.escape(base)}(?![\w-]|\.\w)", re.I)


def _folders(folders: Sequence[str]) -> str:
    """Any number of the last folders of a path, or all of them with whatever stands before."""
    nested = ""
    for folder in folders:
        nested = rf"(?:{nested}{re.escape(folder)}/)?"
    return rf"(?:(?:[\w.~@-]*/)*{''.join(re.escape(folder) + '/' for folder in folders)}|{nested})"
