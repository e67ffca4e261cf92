"""What a summary kept of the facts that a handoff lists, and what it lost.

A fact is the smallest thing that a line lists: a file, a name in it, a command, a reference, a commit, or a sentence
somebody said. Names, files, references and commits are kept where they are written out; a command where its words stand
in order; a sentence where most of what it speaks of stands close together. What is lost comes back as the same lines,
in the same order, cut to the things that were lost.
"""

from __future__ import annotations

import re
from math import ceil

from memory_keeper.model import NamedTuple
from memory_keeper.reduce.sentences import Sentence, apart
from memory_keeper.reduce.words.prose import stems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ENOUGH = 0.6  # of what a sentence speaks of
CLOSE = 60  # words of a summary, or twice as many as the sentence has: within these it must stand
COMMON = 64  # times that a word stands in a summary; one that stands there more often tells nothing apart
LONE = 5  # characters of a file's name that can stand for it without its folder
ASKED = ("goal", "asked", "request")
COMMIT = re.compile(r"Committed ([0-9a-f]{7,40})\b")
_MARKS = str.maketrans("", "", "`*\"'“”‘’")
_BLANKS = re.compile(r"\s+")
_TOKEN = re.compile(r"[^\W_]\w*")
_NAME = re.compile(r"\w+", re.ASCII)  # in a script without blanks a name stands right beside other letters
_QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”")


class Fidelity(NamedTuple):
    """How true a summary is to a handoff."""

    kept: int  # facts
    lost: int
    lines: list[Sentence]  # only what was lost, most needed first


def compare(lines: Sequence[Sentence], summary: str, beside: str = "") -> Fidelity:
    """Which facts of a handoff's lines a summary keeps, and lines of those that it lost.

    `beside` is what else the new context holds: it is not told again, and is no merit of the summary's.
    """
    said = Summary(summary, lines)
    kept = lost = 0
    missing: list[Sentence] = []
    for line in lines:
        held, gone, rest = _judged(line, said)
        kept, lost = kept + held, lost + gone
        missing += rest
    if beside:
        missing = compare(missing, beside).lines
    return Fidelity(kept, lost, list(_at_home(missing)))


def _at_home(lines: Sequence[Sentence]) -> Iterator[Sentence]:
    """Lines without what came of requests that are none of them: alone it says nothing."""
    asked = {cite for line in lines if line.section in ASKED for cite in (*line.cites[:1], *line.each)}
    return (line for line in lines if line.section != "came" or line.cites[0] in asked)


def _judged(line: Sentence, said: Summary) -> tuple[int, int, list[Sentence]]:
    """How many facts of a line are kept and lost, and the line cut to what was lost."""
    kind = KINDS.get(line.section, "sentence")
    if not line.cut:
        has = HELD[kind](said, line.text)
        return int(has), int(not has), [] if has else [line]
    grouped = kind == "file" and _is_grouped(line)
    between = "; " if grouped else line.cut
    things = apart(line.text[line.least :], between)
    each = line.each if len(line.each) == len(things) else ()
    held = gone = 0
    left: list[tuple[str, str]] = []
    for place, thing in enumerate(things):
        kept, lost, rest = _judged_file(thing, said) if grouped else _judged_thing(thing, said, kind)
        held, gone = held + kept, gone + lost
        left += [(rest, each[place] if each else "")] if rest else []
    return held, gone, [_cut(line, between, left, bool(each))] if left else []


def _cut(line: Sentence, between: str, left: Sequence[tuple[str, str]], cited: bool) -> Sentence:
    """A line with only these things, and what they were taken from."""
    text = line.text[: line.least] + between.join(thing for thing, _ in left)
    if not cited or text == line.text:
        return line._replace(text=text)
    each = tuple(cite for _, cite in left)
    return line._replace(text=text, cites=tuple(dict.fromkeys(each)), each=each)


def _is_grouped(line: Sentence) -> bool:
    """Whether a line lists files with the names used in them; else things that stand alone."""
    rest = line.text[line.least :]
    return ": " in rest or "; " in rest or len(line.each) == 1


def _judged_thing(thing: str, said: Summary, kind: str) -> tuple[int, int, str]:
    return (1, 0, "") if HELD[kind](said, thing) else (0, 1, thing)


def _judged_file(part: str, said: Summary) -> tuple[int, int, str]:
    """The same of a file and the names used in it: a name that was lost comes with its file."""
    path, colon, names = part.partition(": ")
    if not colon:
        return _judged_thing(part, said, "file")
    listed = apart(names, " ")
    left = [name for name in listed if not said.names(name)]
    folder = path.strip('"“”').endswith("/")  # said for what is in it, and no fact of its own
    known = folder or said.files(path)
    rest = f"{path}: {' '.join(left)}" if left else "" if known else path
    return len(listed) - len(left) + int(known and not folder), len(left) + int(not known), rest


class Summary:
    """A summary, made easy to look something up in."""

    def __init__(self, summary: str, lines: Sequence[Sentence] = ()) -> None:
        self.plain = plain(summary)
        self.all = frozenset(_NAME.findall(self.plain))
        self.bases = _bases(lines)
        self.places: dict[str, list[int]] = {}
        known: dict[str, tuple[str, ...]] = {}
        for place, found in enumerate(_TOKEN.finditer(self.plain)):
            if found[0] not in known:
                known[found[0]] = tuple(dict.fromkeys(stems(found[0])))
            for stem in known[found[0]]:
                self.places.setdefault(stem, []).append(place)

    def names(self, thing: str) -> bool:
        """Whether it has a name, a number, a reference: as a whole."""
        thing = plain(thing)
        if _NAME.fullmatch(thing):
            return thing in self.all
        return bool(thing) and self._has(thing)

    def _has(self, thing: str, end: str = r"(?!\w)") -> bool:
        return thing in self.plain and bool(re.search(r"(?<!\w)" + re.escape(thing) + end, self.plain, re.ASCII))

    def files(self, path: str) -> bool:
        """Whether it has a file: by its path, by its last folder, or by a base name that only this file has."""
        path = plain(path).strip("/")
        if "/" not in path and "." not in path:
            return self.names(path)
        folder, _, base = path.rpartition("/")
        forms = [path, f"{folder.rpartition('/')[2]}/{base}" if folder else base]
        if len(base) >= LONE and self.bases.get(base, 0) <= 1:
            forms.append(base)
        return any(self._has(form) for form in forms if form)

    def commands(self, command: str) -> bool:
        """Whether it has a command: its words in order."""
        return bool(plain(command)) and self._has(plain(command).strip())

    def commits(self, text: str) -> bool:
        """Whether it has a commit, however many digits of it."""
        found = COMMIT.match(text)
        return self._has(found[1][:7], "[0-9a-f]*") if found else self.sentences(text)

    def sentences(self, text: str) -> bool:
        """Whether most of what a sentence speaks of stands somewhere close together."""
        quoted = " ".join(one or other for one, other in _QUOTED.findall(text)).strip("… ")
        quoted = quoted or text.partition(": ")[2] or text
        wanted = list(dict.fromkeys(stems(quoted)))
        if not wanted:
            return bool(plain(quoted).strip()) and plain(quoted).strip() in self.plain
        found = {stem: self.places[stem] for stem in wanted if stem in self.places}
        rare = sorted((place, stem) for stem, places in found.items() if len(places) <= COMMON for place in places)
        least = ceil(ENOUGH * len(wanted)) - sum(len(places) > COMMON for places in found.values())
        return least <= 0 or _stand_close(rare, least, max(CLOSE, 2 * len(quoted.split())))


def _stand_close(places: list[tuple[int, str]], least: int, within: int) -> bool:
    """Whether so many different words stand within so many words of each other."""
    begin, here = 0, dict[str, int]()
    for place, word in places:
        here[word] = here.get(word, 0) + 1
        while places[begin][0] < place - within:
            gone = places[begin][1]
            here[gone] -= 1
            if not here[gone]:
                del here[gone]
            begin += 1
        if len(here) >= least:
            return True
    return False


def plain(text: str) -> str:
    """Text without marks of layout and quotation, in small letters, with single blanks."""
    return _BLANKS.sub(" ", text.translate(_MARKS).casefold())


def _bases(lines: Sequence[Sentence]) -> dict[str, int]:
    """How many files of a handoff have the same name, in different folders."""
    found: dict[str, set[str]] = {}
    for line in lines:
        if KINDS.get(line.section) == "file":
            for word in plain(line.text).replace(";", " ").replace(": ", " ").split():
                path = word.strip(":").strip("/")
                if "/" in path:
                    found.setdefault(path.rpartition("/")[2], set()).add(path.rpartition("/")[0].rpartition("/")[2])
    return {base: len(folders) for base, folders in found.items()}


# what the lines of a section list; all others are sentences
KINDS = {
    "name": "file",
    "again": "file",
    "command": "command",
    "ref": "name",
    "number": "number",
    "commit": "commit",
}
HELD: dict[str, Callable[[Summary, str], bool]] = {
    "file": Summary.files,
    "command": Summary.commands,
    "name": Summary.names,
    "number": lambda said, text: said.names(text.rpartition(": ")[2]),
    "commit": Summary.commits,
    "sentence": Summary.sentences,
}
