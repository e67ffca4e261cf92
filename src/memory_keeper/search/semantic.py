"""Search by meaning, beside search by words: rows that say the same in other words come up, or come first.

Each prompt, reply and note has a vector in the store, made by a model that a package brings (`minilm`), only where that
is installed. Words still lead: a row's score is what its words earn, as a share of the best, with its similarity added.
Vectors are made from the texts, and made again when the model changes; nothing rests on them.
"""

from __future__ import annotations

from memory_keeper.keep import vectors
from memory_keeper.search import minilm
from memory_keeper.search.ranking import Ranked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from memory_keeper.keep.matches import Matches
    from memory_keeper.model import Row, Scope

ALIKE = 0.45  # what is less alike may be about anything: one question in ten finds such among texts of others
MORE = 100  # rows that meaning alone may add
BATCH = 32  # texts that are read at once


def available() -> bool:
    """Whether a package brings the model, and numpy is there."""
    return bool(minilm.folder())


def embed(texts: Sequence[str]) -> list[bytes]:
    """The vector of each text, a byte for each of its numbers: as good for ranking as four."""
    np = minilm.numpy()
    rows = minilm.vectors([text[: vectors.LONGEST] for text in texts])
    scale = 127 / np.abs(rows).max(1, keepdims=True, initial=1e-9)
    return [row.tobytes() for row in np.rint(rows * scale).astype(np.int8)]


def missing(store: Matches, limit: int = BATCH) -> list[tuple[int, bytes]]:
    """The vectors of the oldest texts that have none yet, by their keys: for `vectors.keep`, under the writer's lock.
    Making them takes long and changes nothing; who is killed in between, or is one of two, has lost or doubled none."""
    rows = vectors.lacking(store.db, limit)
    return list(zip((key for key, _ in rows), embed([text for _, text in rows]), strict=True))


def blend(
    store: Matches,
    ranked: Sequence[Ranked],
    text: str,
    scope: Scope,
    allowed: Callable[[Sequence[Row]], list[Row]],
    *,
    more: bool = True,
) -> list[Ranked]:
    """What words found, ranked by meaning too; with `more`, also what only means the same."""
    if not text.strip() or not vectors.any_kept(store.db, minilm.MODEL):
        return list(ranked)
    asked = minilm.vectors([text[: vectors.LONGEST]])[0]
    alike = dict(_compare(asked, vectors.read(store.db, minilm.MODEL, [one.row.key for one in ranked])))
    best = max((one.score for one in ranked), default=0.0) or 1.0
    found = [one._replace(score=one.score / best + max(alike.get(one.row.key, 0.0), 0.0)) for one in ranked]
    if more:
        near = {key: score for key, score in _nearest(store, asked, scope, MORE) if key not in alike}
        found += [Ranked(row, near[row.key], 0.0) for row in allowed(store.rows(list(near)))]
    halved = [one._replace(score=one.score / 2) for one in found]  # between 0 and 1, as it was
    return sorted(halved, key=lambda one: (-one.score, -one.row.at, -one.row.key))


def _nearest(store: Matches, asked: Any, scope: Scope, limit: int) -> list[tuple[int, float]]:
    """The keys of the rows that mean most nearly the same, and how nearly: 1 is the same, 0 has nothing to do with it.
    The caller looks at the rows again: a scope may say more than is asked here."""
    found = [one for one in _compare(asked, vectors.within(store.db, minilm.MODEL, scope)) if one[1] >= ALIKE]
    return sorted(found, key=lambda one: -one[1])[:limit]


def _compare(asked: Any, rows: Sequence[tuple[int, bytes]]) -> list[tuple[int, float]]:
    np = minilm.numpy()
    sound = [row for row in rows if len(row[1]) == len(asked)]
    found: list[tuple[int, float]] = []
    for start in range(0, len(sound), 4096):
        some = sound[start : start + 4096]
        matrix = np.frombuffer(b"".join(data for _, data in some), np.int8).reshape(len(some), -1).astype(np.float32)
        lengths = np.linalg.norm(matrix, axis=1) + np.float32(1e-9)
        found += zip((key for key, _ in some), (matrix @ asked / lengths).tolist(), strict=True)
    return found
