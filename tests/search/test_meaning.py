"""Search by meaning with the model that the extra brings."""

from __future__ import annotations

import socket
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.cli.commands import embed
from memory_keeper.model import Scope
from memory_keeper.search import ask, semantic
from memory_keeper.search.query import read_query
from memory_keeper.search.scope import scoped
from memory_keeper.store.sqlite import SqliteStore

HERE = "dir:/here"
SAID = ("the automobile broke down again", "soup is on the stove", "it will rain tomorrow")


@pytest.fixture
def store(told: Callable[[Sequence[tuple[str, str]]], SqliteStore]) -> SqliteStore:
    return told([("prompt", text) for text in SAID])


def embed_all(store: SqliteStore, limit: int = 32) -> None:
    while made := semantic.missing(store, limit):
        store.keep_vectors(semantic.MODEL, made)


def test_it_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    semantic._model.cache_clear()
    monkeypatch.setattr(socket, "socket", None)
    assert len(semantic.embed(["a text"])) == 1


@given(st.text(max_size=300))
def test_any_text_has_a_vector_of_one_size(text: str) -> None:
    assert len(semantic.embed([text])[0]) == 256


def test_a_text_has_one_vector_whatever_stands_beside_it() -> None:
    texts = ["the car", *SAID, "soup " * 3000]
    assert semantic.embed(texts) == [semantic.embed([text])[0] for text in texts]
    assert semantic.embed([]) == []


def test_killed_in_between_the_next_run_goes_on(store: SqliteStore) -> None:
    store.keep_vectors(semantic.MODEL, semantic.missing(store, 2))
    semantic.missing(store, 2)  # made, and killed before they were kept
    embed_all(store, 2)
    assert [key for (key,) in store.db.execute("select key from vector order by key")] == [1, 2, 3, 4, 5, 6]


def test_another_word_for_it_finds_it_in_its_own_project(store: SqliteStore) -> None:
    embed_all(store)
    text, scope = "my car had a breakdown", Scope(project=HERE)
    assert not ask(store, read_query("car breakdown"), "car breakdown", scope)
    assert next(each.row.key for each in semantic.blend(store, [], text, scope, scoped(scope))) == 1
    assert {each.row.key for each in semantic.blend(store, [], text, Scope(), scoped(Scope()))[:2]} == {1, 4}
    assert semantic.blend(store, [], text, scope, scoped(scope), more=False) == []


def test_words_still_lead(store: SqliteStore) -> None:
    embed_all(store)
    scope = Scope(project=HERE)
    ranked = ask(store, read_query("soup rain"), "soup rain", scope)
    found = semantic.blend(store, ranked, "soup rain", scope, scoped(scope))
    assert {each.row.key for each in ranked} <= {each.row.key for each in found}
    assert all(0 <= each.score <= 1 for each in found)
    assert found[0].row.key in (2, 3)


@given(st.text(max_size=60))
def test_no_query_reaches_another_project(store: SqliteStore, text: str) -> None:
    embed_all(store)
    scope = Scope(project=HERE)
    ranked = ask(store, read_query(text), text, scope)
    assert {each.row.project for each in semantic.blend(store, ranked, text, scope, scoped(scope))} <= {HERE}


def test_the_command_makes_what_is_missing(
    store: SqliteStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.keep_vectors("another", [(1, b"x"), (6, b"y")])
    for limit, shown in ((4, "4 texts embedded, 2 to go"), (9, "2 texts embedded, nothing is missing"), (9, "0 texts")):
        assert embed.run(Namespace(home=str(tmp_path), limit=limit, json=False)) == 0
        assert capsys.readouterr().out.startswith(shown)
    assert {model for (model,) in store.db.execute("select model from vector")} == {semantic.MODEL}
