"""The deepest search: the transcripts' own lines, which have what no event has, such as a file before an edit."""

from __future__ import annotations

from memory_keeper.app.terminal import Bar
from memory_keeper.errors import KeeperError
from memory_keeper.keep import archive
from memory_keeper.model import Hit, Scope
from memory_keeper.search.snippet import snippet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memory_keeper.keeper import Keeper


def find_lines(keeper: Keeper, query: str, scope: Scope, limit: int, regex: bool = False) -> list[Hit]:
    """The newest raw lines that have every word of a query, or match it, in this scope; filters that only events know
    leave nothing to find here."""
    if scope.level or scope.tool or scope.role or (scope.kind and scope.kind != "other"):
        return []
    matches = _pattern(query) if regex else _words(query)
    marks = [(word.lower(),) for word in query.split()]
    found: list[Hit] = []
    members = [
        (source, member)
        for source, member in keeper.store.members()
        if scope.project in (None, source.project) and scope.session in ("", source.session)
    ]
    with Bar("reading the archives", sum(member.size for _, member in members)) as bar:
        for source, member in reversed(members):
            for offset, line in _lines(archive.read(keeper.home, source, member)):
                event = matches(line) and keeper.store.event_at(source.seq, member.offset + offset)
                if not event or not (scope.since <= event.at and (not scope.until or event.at < scope.until)):
                    continue
                text = line.decode("utf-8", "replace")
                shown = snippet(text, [] if regex else marks)
                where = (event.kind, event.at, event.session, event.project)
                found.append(Hit(event.id, 0, *where, 0.0, shown, event.path))
                if len(found) >= limit:
                    return found
            bar.advance(member.size)
    return found


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    for line in data.split(b"\n"):
        yield at, line
        at += len(line) + 1


def _words(query: str) -> Callable[[bytes], bool]:
    words = [word.lower().encode("utf-8", "replace") for word in query.replace('"', " ").split()]
    return lambda line: all(word in low for low in (line.lower(),) for word in words)


def _pattern(query: str) -> Callable[[bytes], bool]:
    import re

    try:
        pattern = re.compile(query.encode("utf-8", "replace"), re.I)
    except (re.error, RecursionError, OverflowError) as error:
        raise KeeperError(f"Not a regular expression: {error}") from None
    return lambda line: pattern.search(line) is not None
