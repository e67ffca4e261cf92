"""Find what was kept, at any level. Verb: find.

A query is words; whatever it contains, it is never a syntax error.
"""

from __future__ import annotations

from memory_keeper.text import storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Hit

LONGEST = 4096


def find(
    store: SqliteStore, query: str, project: str | None = None, limit: int = 10, kind: str = "", session: str = ""
) -> list[Hit]:
    """What has all the words, or words that begin so, or any of them; the best first."""
    words = terms(query)
    begun = [word + "*" for word in words]  # 함수 finds 함수를
    for match in (" ".join(words), " ".join(begun), " OR ".join(words), " OR ".join(begun)) if words else ():
        hits = store.find(match, project, limit, kind, session)
        if hits:
            return hits
    return []


def terms(query: str) -> list[str]:
    """Each word quoted, so that FTS5 sees no operators; words without a letter or digit match nothing and go."""
    words = storable(query[:LONGEST].replace('"', " ").replace("\0", " ")).split()
    return [f'"{word}"' for word in words[:32] if any(char.isalnum() for char in word)]
