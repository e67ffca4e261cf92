"""The deepest search: the transcripts' own lines, which have what no event has, such as a file before an edit."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator

from memory_keeper import wire
from memory_keeper.keeper import Keeper
from memory_keeper.model import Hit, Member, NamedTuple, Scope, Source
from memory_keeper.search.pattern import let_through, names_file, read_pattern, shown
from memory_keeper.search.snippet import snippet
from memory_keeper.store import archive
from memory_keeper.store.index import composed
from memory_keeper.terminal import Bar

Line = tuple[int, int, float]  # its offset, the key and the moment of its first event

NEAR = 5000  # characters on each side of a match from which its snippet is taken: a line may have millions
ESCAPED = re.compile(r'\\([nrt"\\/])')


class Wanted(NamedTuple):
    """What a line must have, and how it is shown."""

    matches: Callable[[str], bool]
    show: Callable[[str], str]
    anywhere: bool  # a text without it has no line with it


class Newest:
    """The newest lines that were found so far, each once."""

    def __init__(self, limit: int, known: Collection[str]) -> None:
        self.limit, self.known = limit, {line_of(id) for id in known}
        self.found: dict[str, Hit] = {}  # by their lines: a fork repeats those it came from
        self.least = 0.0  # what is no newer need not be looked at

    def add(self, hits: Iterable[Hit]) -> None:
        for hit in hits:
            if line_of(hit.id) not in self.known:
                self.found.setdefault(line_of(hit.id), hit)
        if len(self.found) >= self.limit:
            self.least = self.best()[-1].at

    def best(self) -> list[Hit]:
        return sorted(self.found.values(), key=lambda hit: -hit.at)[: self.limit]


def find_lines(
    keeper: Keeper, query: str, scope: Scope, limit: int, regex: bool = False, known: Collection[str] = ()
) -> list[Hit]:
    """The newest raw lines in this scope that have every word of a query, or match it, the newest first; not those
    whose events are known already."""
    wanted = _pattern(query) if regex else _words(query)
    newest = Newest(limit, known)
    archives = _archives(keeper, scope) if limit > 0 and not scope.level else {}
    unread = 0
    with Bar("reading the archives", sum(member.size for members in archives.values() for member in members)) as bar:
        for source, members in sorted(archives.items(), key=lambda pair: -pair[0].at):
            if source.at <= newest.least:
                break  # all that follows is older
            lines = keeper.store.lines(source.seq)
            for member in reversed(members):
                here = _between(lines, member.offset, member.offset + member.size)
                if max((at for _, _, at in here), default=0.0) > max(newest.least, scope.since - 1):
                    try:
                        newest.add(_read(keeper, source, member, here, scope, wanted))
                    except (OSError, ValueError):  # lost or damaged: the others are still worth reading
                        unread += 1
                bar.advance(member.size)
    if unread:
        print(f"{unread} stretches of the archives cannot be read; see `memory-keeper doctor`", file=sys.stderr)
    return newest.best()


def line_of(id: str) -> str:
    """What the events of one line share."""
    return id.rpartition(":")[0] or id


def _archives(keeper: Keeper, scope: Scope) -> dict[Source, list[Member]]:
    """What there is to read in a scope, each transcript's in order."""
    found: dict[Source, list[Member]] = {}
    for source, member in keeper.store.members():
        if scope.project in (None, source.project) and scope.session in ("", source.session):
            found.setdefault(source, []).append(member)
    return found


def _between(lines: list[Line], first: int, end: int) -> list[Line]:
    """The lines that begin in a stretch; all are in order."""
    return lines[bisect_left(lines, (first, 0, 0.0)) : bisect_left(lines, (end, 0, 0.0))]


def _read(
    keeper: Keeper, source: Source, member: Member, lines: list[Line], scope: Scope, wanted: Wanted
) -> Iterator[Hit]:
    """The lines of one stretch that match, each as the event that it became."""
    data = archive.read(keeper.home, source, member)
    if wanted.anywhere and not wanted.matches(data.decode("utf-8", "replace")):
        return
    texts: dict[int, str] = {}
    for offset, key, _ in lines:
        begin = offset - member.offset
        end = data.find(b"\n", begin)
        text = data[begin : end if end >= 0 else len(data)].decode("utf-8", "replace")
        if wanted.matches(text) and names_file(_plain(text) if scope.file else text, scope.file):
            texts[key] = text
    if not texts:
        return
    for row in let_through(keeper.store, scope, True)(keeper.store.rows(list(texts))):
        where = (row.kind, row.at, row.session, row.project)
        yield Hit(row.id, row.level, *where, 0.0, wanted.show(texts[row.key]), row.path)


def _plain(text: str) -> str:
    """A line as people read it: no letter of an escape clings to the word after it."""
    return ESCAPED.sub(lambda match: " " if match[1] in "nrt" else match[1], text) if "\\" in text else text


# --- what matches -----------------------------------------------------------------------------------------------------


def _words(query: str) -> Wanted:
    """Every word, and what stands in quotes, as it is written but for its case; a line may have escaped it."""
    words = [forms for word in _read_words(query) if (forms := dict.fromkeys((word, _escaped(word))))]

    def matches(text: str) -> bool:
        low = composed(text).casefold()
        return bool(words) and all(any(form in low for form in forms) for forms in words)

    def show(line: str) -> str:
        text = _plain(line)
        low = text.lower()
        places = [at for forms in words for form in forms if (at := low.find(form)) >= 0]
        first = min(places, default=0)
        start = max(0, first - NEAR)
        cut = snippet(text[start : first + NEAR], [tuple(forms) for forms in words])
        return "…" + cut if start and not cut.startswith("…") else cut

    return Wanted(matches, show, anywhere=True)


def _read_words(query: str) -> list[str]:
    """The words and phrases of a query, folded."""
    found: list[str] = []
    parts = composed(query.replace("“", '"').replace("”", '"')).casefold().split('"')
    for number, part in enumerate(parts):
        found += [part.strip()] if number % 2 and number < len(parts) - 1 else part.split()
    return [word for word in found if word]


def _escaped(word: str) -> str:
    return wire.dumps(word, ascii=False)[1:-1]


def _pattern(query: str) -> Wanted:
    pattern = read_pattern(query)

    def show(text: str) -> str:
        match = pattern.search(text)
        return shown(text, match) if match else ""

    return Wanted(lambda text: pattern.search(text) is not None, show, anywhere=False)
