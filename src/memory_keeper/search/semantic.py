"""Search by meaning, beside search by words: rows that say the same in other words come up, or come first.

Each prompt, reply and note has a vector in the store, made by `wordllama`, only where that is installed. Words still
lead: a row's score is what its words earn, as a share of the best, with its similarity added. Vectors are made from the
texts, and made again when the model changes; nothing rests on them.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from memory_keeper.errors import NotSetUp
from memory_keeper.model import Row, Scope
from memory_keeper.search.ranking import Ranked
from memory_keeper.store.store import Store

MODEL = "wordllama l2_supercat 256"
INSTALL = "pipx install --force '/path/to/the/checkout[semantic]'"
WEIGHT = 0.5  # of a similarity, beside the best score that words earn
ALIKE = 0.45  # what is less alike may be about anything: one question in ten finds such among texts of others
MORE = 100  # rows that meaning alone may add
LONGEST = 6000  # characters of a text that are read
BATCH = 256  # texts that are read at once


def available() -> bool:
    """Whether the model is installed."""
    return find_spec("wordllama") is not None


def check() -> None:
    """Refuse where it is not."""
    if not available():
        raise NotSetUp("No model for search by meaning is installed", hint=INSTALL)


def embed(texts: Sequence[str]) -> list[bytes]:
    """The vector of each text, a byte for each of its numbers: as good for ranking as four."""
    np = _numpy()
    rows = _read(texts)
    scale = 127 / np.abs(rows).max(1, keepdims=True, initial=1e-9)
    return [row.tobytes() for row in np.rint(rows * scale).astype(np.int8)]


def missing(store: Store, limit: int = BATCH) -> list[tuple[int, bytes]]:
    """The vectors of the oldest texts that have none yet, by their keys: for `keep_vectors`, under the writer's lock.
    Making them changes nothing; who is killed in between, or is one of two, has lost or doubled none."""
    rows = store.lacking(limit)
    return list(zip((key for key, _ in rows), embed([text for _, text in rows]), strict=True))


def blend(
    store: Store,
    ranked: Sequence[Ranked],
    text: str,
    scope: Scope,
    allowed: Callable[[Sequence[Row]], list[Row]],
    *,
    more: bool = True,
) -> list[Ranked]:
    """What words found, ranked by meaning too; with `more`, also what only means the same."""
    if not text.strip() or not store.has_vectors(MODEL):
        return list(ranked)
    query = _read([text])[0]
    alike = dict(_compare(query, store.vectors(MODEL, [each.row.key for each in ranked])))
    best = max((each.score for each in ranked), default=0.0) or 1.0
    found = [
        each._replace(score=each.score / best + WEIGHT * max(alike.get(each.row.key, 0.0), 0.0)) for each in ranked
    ]
    if more:
        # the caller looks at the rows again: a scope may say more than is asked here
        others = (pair for pair in _compare(query, store.vectors(MODEL, scope=scope)) if pair[1] >= ALIKE)
        near = dict(sorted(others, key=lambda pair: -pair[1])[:MORE])
        added = allowed(store.rows([key for key in near if key not in alike]))
        found += [Ranked(row, WEIGHT * near[row.key], 0.0) for row in added]
    halved = [each._replace(score=each.score / (1 + WEIGHT)) for each in found]  # between 0 and 1, as it was
    return sorted(halved, key=lambda each: (-each.score, -each.row.at, -each.row.key))


def _compare(query: Any, rows: Sequence[tuple[int, bytes]]) -> Iterable[tuple[int, float]]:
    """How alike each is by its key: 1 is the same, 0 has nothing to do with it."""
    np = _numpy()
    sound = [row for row in rows if len(row[1]) == len(query)]
    for start in range(0, len(sound), 4096):
        some = sound[start : start + 4096]
        matrix = np.frombuffer(b"".join(data for _, data in some), np.int8).reshape(len(some), -1).astype(np.float32)
        lengths = np.linalg.norm(matrix, axis=1) + np.float32(1e-9)
        yield from zip((key for key, _ in some), (matrix @ query / lengths).tolist(), strict=True)


def _read(texts: Sequence[str]) -> Any:
    """One row of length 1 for each text."""
    np = _numpy()
    rows = _model().embed([text[:LONGEST] for text in texts])
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@cache
def _model() -> Any:
    """The model, from the files that came with the package: without them it would ask the network."""
    check()
    package = importlib.import_module("wordllama")
    return package.WordLlama.load(cache_dir=os.path.dirname(str(package.__file__)), disable_download=True)


def _numpy() -> Any:
    return importlib.import_module("numpy")
