"""How a note writes things: quotes, short forms, files by their folder, and things of one kind in one sentence."""

from __future__ import annotations

from memory_keeper.reduce.sentences import Sentence
from memory_keeper.reduce.words.prose import unmarked
from memory_keeper.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINE = 280  # characters: a name further from its file than this is not read as its own


# --- small things ----------------------------------------------------------------------------------------------------


class Paths:
    """Files as they are written here: from the project's folder the first time, short once their folder is known."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip("/") + "/"
        self.folders: set[str] = set()
        self.files: set[str] = set()

    def shape(self, path: str) -> str:
        """How a file would be written now."""
        path = path.removeprefix(self.root)
        folder, _, base = path.rpartition("/")
        return f"{folder.rpartition('/')[2]}/{base}" if folder in self.folders else path

    def show(self, path: str) -> str:
        """How a file is written; from now on its folder is known."""
        shape = self.shape(path)
        self.files.add(path)
        self.folders.add(path.removeprefix(self.root).rpartition("/")[0])
        return whole(shape.removeprefix("/") if shape.count("/") == 1 else shape)

    def show_folder(self, folder: str) -> str:
        """How a folder is written; empty for the project's own."""
        inside = (folder + "/").removeprefix(self.root).rstrip("/")
        shape = inside.rpartition("/")[2] if inside in self.folders else inside
        self.folders.add(inside)
        return whole(shape + "/") if shape else ""

    def whole(self, path: str) -> str:
        """How a file is written that is to be opened."""
        return whole(path.removeprefix(self.root))

    def known(self, path: str) -> bool:
        """Whether it has been written."""
        return path in self.files


class Line:
    """Things of one kind, gathered into as few sentences as they fit in."""

    def __init__(self, head: str, between: str, cut: str = "", tag: str = "") -> None:
        self.head, self.between, self.cut, self.tag = head, between, cut or between, tag
        self.parts: list[tuple[str, tuple[str, ...]]] = []

    def add(self, text: str, cites: tuple[str, ...]) -> None:
        self.parts.append((text, cites))

    def add_all(self, head: str, things: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Things that belong to one: as parts no longer than a line, each beginning with what they belong to."""
        said, cited = "", list[str]()
        for thing, cites in things:
            if said and len(said) + len(thing) > LINE:
                self.add(said, tuple(cited))
                said, cited = "", []
            said += (" " if said else head) + thing
            cited += cites
        if said:
            self.add(said, tuple(cited))

    def sentences(self, longest: int) -> Iterator[Sentence]:
        parts: list[tuple[str, tuple[str, ...]]] = []
        for part in self.parts:
            if parts and sum(len(text) + 2 for text, _ in parts) + len(part[0]) > longest:
                yield self._sentence(parts)
                parts = []
            parts.append(part)
        if parts:
            yield self._sentence(parts)

    def _sentence(self, parts: list[tuple[str, tuple[str, ...]]]) -> Sentence:
        said = self.head + self.between.join(text for text, _ in parts)
        cites = tuple(dict.fromkeys(cite for _, cites in parts for cite in cites))
        each = tuple(cites[0] for _, cites in parts)
        return Sentence(said, cites, self.cut, len(self.head), self.tag, each)


def quote(text: str) -> str:
    """A text between quotation marks that it does not have itself, on one line and without marks of layout."""
    line = " ".join(unmarked(text).split())
    return f"“{line}”" if '"' in line else f'"{line}"'


def short_hash(digest: str) -> str:
    """Seven characters, or all when those look like a number."""
    return digest if digest[:7].isdecimal() else digest[:7]


def short(text: str, limit: int) -> str:
    """The beginning of a line, to the end of a word: half a name would be another."""
    line = one_line(text, 4 * limit)
    if len(line) <= limit:
        return line
    words = line[: limit - 1].rpartition(" ")[0].rstrip()
    return words + " …" if words else one_line(line, limit)


def whole(path: str) -> str:
    """A path that can be told from the words around it."""
    return quote(path) if " " in path else path
