"""Search by meaning where its package is missing, and the vectors in the store, which need no package."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memory_keeper.cli.commands import embed
from memory_keeper.errors import NotSetUp
from memory_keeper.model import Note, Scope
from memory_keeper.search import ask, semantic
from memory_keeper.search.query import read_query
from memory_keeper.search.scope import scoped
from memory_keeper.store.sqlite import SqliteStore

HERE, THERE = "dir:/here", "dir:/there"
SAID = (
    ("prompt", "the parser drops the last line"),
    ("call", "Bash: pytest tests/parser"),
    ("reply", "the reader closed before the last line was read"),
    ("prompt", "yes"),
    ("reply", "done: it reads to the end of the file now"),
)


@pytest.fixture
def store(told: Callable[[Sequence[tuple[str, str]]], SqliteStore]) -> SqliteStore:
    made = told(SAID)
    made.add(Note("n1", 300.0, "decision", 0, HERE, "we read files to their end", who="user"))
    return made


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the model."""
    monkeypatch.setattr(semantic, "find_spec", lambda name: None)
    semantic._model.cache_clear()


def keep_all(store: SqliteStore, model: str = semantic.MODEL) -> list[int]:
    rows = store.lacking(100)
    while rows:
        store.keep_vectors(model, [(key, bytes(4)) for key, _ in rows])
        rows = store.lacking(100)
    return [key for (key,) in store.db.execute("select key from vector order by key")]


def test_without_the_package_nothing_is_said_to_be_there(bare: None) -> None:
    assert not semantic.available()


def test_without_the_package_one_is_told_how_to_get_it(bare: None) -> None:
    with pytest.raises(NotSetUp) as error:
        semantic.check()
    assert "checkout[semantic]" in error.value.hint


def test_without_the_package_the_command_says_so_and_keeps_nothing(bare: None, tmp_path: Path) -> None:
    with pytest.raises(NotSetUp):
        embed.run(Namespace(home=str(tmp_path / "none"), limit=9, json=False))
    assert not (tmp_path / "none").exists()


def test_without_vectors_words_alone_rank(store: SqliteStore) -> None:
    scope = Scope(project=HERE)
    ranked = ask(store, read_query("last line"), "last line", scope)
    assert ranked
    assert semantic.blend(store, ranked, "last line", scope, scoped(scope)) == ranked


def test_a_store_from_before_the_vectors_has_none(store: SqliteStore) -> None:
    store.db.execute("drop table vector")
    assert not store.has_vectors(semantic.MODEL)


def test_prompts_replies_and_notes_get_one_the_oldest_first(store: SqliteStore) -> None:
    assert [key for key, _ in store.lacking(3)] == [1, 3, 5]  # no call, and nothing as short as `yes`
    assert store.count_lacking() == 7
    assert keep_all(store) == [-1, 1, 3, 5, 6, 8, 10]
    assert store.count_lacking() == 0


def test_keeping_twice_keeps_once(store: SqliteStore) -> None:
    store.keep_vectors("one", [(1, b"first")])
    store.keep_vectors("one", [(1, b"second"), (3, b"third")])
    assert store.vectors("one", [1, 3]) == [(1, b"first"), (3, b"third")]


def test_another_model_begins_anew(store: SqliteStore) -> None:
    keep_all(store, "old")
    assert store.has_vectors() and store.has_vectors() and store.has_vectors("old") and not store.has_vectors("new")
    store.keep_vectors("new", ())
    assert not store.has_vectors() and not store.has_vectors()
    assert store.count_lacking() == 7


@pytest.mark.parametrize(
    ("scope", "keys"),
    [
        (Scope(), [-1, 1, 3, 5, 6, 8, 10]),
        (Scope(project=HERE), [-1, 1, 3, 5]),
        (Scope(project=THERE), [6, 8, 10]),
        (Scope(project=HERE, role="user"), [1]),
        (Scope(project=HERE, kind="reply"), [3, 5]),
        (Scope(project=HERE, kind="decision"), [-1]),
        (Scope(project=HERE, since=2.0, until=300.0), [3, 5]),
        (Scope(session="s1"), [6, 8, 10]),
        (Scope(project=HERE, tool="Bash"), []),
        (Scope(project=HERE, file="parser.py"), []),
        (Scope(project=HERE, level=1), []),
    ],
)
def test_a_scope_gives_its_own_and_no_others(store: SqliteStore, scope: Scope, keys: list[int]) -> None:
    keep_all(store)
    found = {key for key, _ in store.vectors(semantic.MODEL, scope=scope)}
    allowed = {row.key for row in scoped(scope)(store.rows(list(found)))}
    assert sorted(allowed) == keys


def test_a_vector_goes_with_its_text(store: SqliteStore) -> None:
    keep_all(store)
    store.db.execute("delete from event where seq = 3")
    store.db.execute("delete from note")
    assert store.vectors(semantic.MODEL, [-1, 1, 3]) == [(1, bytes(4))]
