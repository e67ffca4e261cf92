"""The model of search by meaning, on one small enough to make here: two layers, a dozen words."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import sys
from argparse import Namespace
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.app.commands import embed
from memory_keeper.errors import KeeperError
from memory_keeper.keep import vectors
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.model import Scope
from memory_keeper.search import ask, minilm, semantic
from memory_keeper.search.query import read_query
from memory_keeper.search.scope import scoped

WORDS = [
    "the",
    "car",
    "automobile",
    "broke",
    "down",
    "again",
    "we",
    "ate",
    "soup",
    "in",
    "rain",
    "##s",
    "un",
    "##known",
]
WIDTH, LAYERS, FIRST_WORD = 24, 2, 103
SAID = ("the automobile broke down again", "we ate soup in the rain", "the soup ate the rain again")
HERE, THERE = "dir:/here", "dir:/there"


@pytest.fixture(scope="module", autouse=True)
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A package that brings a small model. Who imports it is told off: only its files are wanted."""
    root = tmp_path_factory.mktemp("site")
    name, place = minilm.PACKAGES[0]
    folder = root / name / place
    folder.mkdir(parents=True)
    (root / name / "__init__.py").write_text("raise RuntimeError('nobody runs this')")
    vocabulary = {f"[{n}]": n for n in range(FIRST_WORD)} | {word: FIRST_WORD + n for n, word in enumerate(WORDS)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}}))
    (folder / "model.safetensors").write_bytes(weights(len(vocabulary)))
    sys.path.insert(0, str(root))
    forget()
    yield folder
    sys.path.remove(str(root))
    forget()


def forget() -> None:
    importlib.invalidate_caches()
    for kept in (minilm._needed, minilm._weights, minilm._vocabulary):
        kept.cache_clear()


def weights(words: int) -> bytes:
    """Tensors as the real file has them, of random numbers; `automobile` is what `car` is."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (words, WIDTH),
        "embeddings.position_embeddings.weight": (512, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        parts: dict[str, tuple[int, ...]] = {
            f"attention.self.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")
        }
        parts |= {"attention.output.dense": (WIDTH, WIDTH), "attention.output.LayerNorm": (WIDTH,)}
        parts |= {"intermediate.dense": (48, WIDTH), "output.dense": (WIDTH, 48), "output.LayerNorm": (WIDTH,)}
        for name, shape in parts.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{name}.bias"] = shape[:1]
    random, header, data = Random(7), {}, b""
    for name, shape in shapes.items():
        around = 1.0 if "LayerNorm.weight" in name else 0.0
        values = array("f", (random.gauss(around, 0.3) for _ in range(math.prod(shape))))
        if "word" in name:
            car, automobile = (WIDTH * (FIRST_WORD + WORDS.index(word)) for word in ("car", "automobile"))
            values[automobile : automobile + WIDTH] = values[car : car + WIDTH]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * len(values)]}
        data += values.tobytes()
    said = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    said += b" " * (-len(said) % 8)
    return len(said).to_bytes(8, "little") + said + data


@pytest.fixture
def store(told: Callable[[Sequence[tuple[str, str]]], SqliteStore]) -> SqliteStore:
    return told([("prompt", text) for text in SAID])


def embed_all(store: SqliteStore, limit: int = 32) -> None:
    while made := semantic.missing(store, limit):
        vectors.keep(store, minilm.MODEL, made)


def test_the_package_is_found_and_not_run(small: Path) -> None:
    assert semantic.available()
    assert minilm.folder() == str(small)
    assert minilm.PACKAGES[0][0] not in sys.modules


def test_weights_that_are_not_those_we_know_are_refused() -> None:
    with pytest.raises(KeeperError, match="not all-MiniLM-L6-v2 as it was published"):
        minilm.check()


def test_words_are_cut_into_the_longest_pieces() -> None:
    number = {word: FIRST_WORD + n for n, word in enumerate(WORDS)}
    assert minilm.pieces("Cars unknown!") == [
        minilm.FIRST,
        *(number[piece] for piece in ("car", "##s", "un", "##known")),
        minilm.UNKNOWN,
        minilm.LAST,
    ]
    assert minilm.pieces("x" * 101) == [minilm.FIRST, minilm.UNKNOWN, minilm.LAST]
    assert len(minilm.pieces("car " * 1000)) == minilm.LONGEST + 2


def test_a_text_has_one_vector_whatever_stands_beside_it() -> None:
    texts = ["the car", *SAID, "soup " * 300]
    together = minilm.vectors(texts)
    for text, row in zip(texts, together, strict=True):
        assert abs(row - minilm.vectors([text])[0]).max() < 1e-5


def test_what_means_the_same_has_the_same_vector() -> None:
    one, other, third = minilm.vectors(["the car broke down again", SAID[0], SAID[1]])
    assert one @ other == pytest.approx(1, abs=1e-5)
    assert one @ third < 0.99


@given(st.text(max_size=300))
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    (row,) = minilm.vectors([text])
    assert row @ row == pytest.approx(1, abs=1e-4)
    assert len(semantic.embed([text])[0]) == WIDTH


def test_no_texts_have_no_vectors() -> None:
    assert semantic.embed([]) == []


def test_killed_in_between_the_next_run_goes_on(store: SqliteStore) -> None:
    vectors.keep(store, minilm.MODEL, semantic.missing(store, 2))
    semantic.missing(store, 2)  # made, and killed before they were kept
    embed_all(store, 2)
    assert [key for (key,) in store.db.execute("select key from vector order by key")] == [1, 2, 3, 4, 5, 6]


def test_another_word_for_it_finds_it_in_its_own_project(store: SqliteStore) -> None:
    embed_all(store)
    text = "the car broke down again"

    def nearest(scope: Scope) -> list[int]:
        return [one.row.key for one in semantic.blend(store, [], text, scope, scoped(scope))]

    assert nearest(Scope(project=HERE))[0] == 1
    assert set(nearest(Scope())[:2]) == {1, 4}


def test_what_only_means_the_same_is_added(store: SqliteStore) -> None:
    embed_all(store)
    scope = Scope(project=HERE)
    ranked = ask(store, read_query("car"), "car", scope)
    assert not ranked
    found = semantic.blend(store, ranked, "the car broke down again", scope, scoped(scope))
    assert found[0].row.key == 1
    assert {one.row.project for one in found} == {HERE}
    assert semantic.blend(store, ranked, "the car broke down again", scope, scoped(scope), more=False) == []


def test_words_still_lead(store: SqliteStore) -> None:
    embed_all(store)
    scope = Scope(project=HERE)
    ranked = ask(store, read_query("soup rain"), "soup rain", scope)
    found = semantic.blend(store, ranked, "soup rain", scope, scoped(scope))
    assert {one.row.key for one in ranked} <= {one.row.key for one in found}
    assert all(0 <= one.score <= 1 for one in found)
    assert found[0].row.key in (2, 3)


@given(st.text(max_size=60))
def test_no_query_reaches_another_project(store: SqliteStore, text: str) -> None:
    embed_all(store)
    scope = Scope(project=HERE)
    ranked = ask(store, read_query(text), text, scope)
    for one in semantic.blend(store, ranked, text, scope, scoped(scope)):
        assert one.row.project == HERE


def test_the_command_makes_what_is_missing(
    store: SqliteStore,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    digest = hashlib.sha256((small / "model.safetensors").read_bytes()).hexdigest()
    monkeypatch.setattr(minilm, "SHA256", digest)
    vectors.keep(store, "another", [(1, b"x"), (6, b"y")])
    for limit, said in ((4, "4 texts embedded, 2 to go"), (9, "2 texts embedded, nothing is missing"), (9, "0 texts")):
        assert embed.run(Namespace(home=str(tmp_path), limit=limit, json=False)) == 0
        assert capsys.readouterr().out.startswith(said)
    assert {model for (model,) in store.db.execute("select model from vector")} == {minilm.MODEL}


if minilm.folder():  # where the real one is installed: what its makers say of it comes out

    def test_the_published_similarities_come_out(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "path", [place for place in sys.path if not str(small).startswith(place + "/")])
        forget()
        texts = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]
        try:
            minilm.check()
            rows = minilm.vectors(texts)
        finally:
            forget()
        assert (rows[1:] @ rows[0]).tolist() == pytest.approx([0.695, 0.943, 0.257], abs=1e-3)
