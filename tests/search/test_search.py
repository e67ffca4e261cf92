"""A query is words: never a syntax error, never another project's rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.model import Event, Note, Placed, Source
from memory_keeper.search import find, terms

TEXTS = (
    "docker compose deploy plan",
    "the deploy plan for the parser",
    "what's wrong with C++ templates?",
    "한국어 배포 계획",
    "naïve café",
    "src/uploader/retry_policy.py",
    "NEAR AND OR NOT",
    "word " * 500,
)
HOSTILE = (
    "what's the deploy plan?", "docker-compose", "plan (draft)", '"unterminated', "NOT deploy", "AND", "a OR",
    "NEAR(docker plan, 2)", "^deploy", "*", "wor*", "col:x", "-deploy", "deploy AND (", "\0", "'; DROP TABLE event;--",
    'a"b', "{title body}: deploy", 'deploy""', "word" * 2000, " ".join(f"w{n}" for n in range(3000)), "C++",
    "\ud800", "deploy\udcff", "title:x", "파이썬 배포",
    '" OR 1=1 --', "what's (x", "a*" * 100_000, "", " ", "\n", "\u2028", "+", "a+b", "text:deploy", "rank:x", "{", "}",
    ")", "((((",
    '""""', "\x02\x03", "deploy\0plan", "%", "_", "\\", "?1", ":x", "𝕏", "e\u0301",
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    made = SqliteStore(str(tmp_path_factory.mktemp("search") / "store.db"))
    for project, session in (("dir:/here", "s1"), ("dir:/elsewhere", "s2")):
        source = made.begin(Source(f"/t/{session}.jsonl", session, project))
        made.record(
            source,
            [
                Placed(Event(f"{session}-{n}:0", float(n), "reply", session, project, text), n)
                for n, text in enumerate(TEXTS)
            ],
        )
    yield made
    made.close()


def ids(store: SqliteStore, query: str, limit: int = 10) -> list[str]:
    return [hit.id for hit in find(store, query, "dir:/here", limit)]


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:24]))
def test_no_query_is_a_syntax_error(store: SqliteStore, query: str) -> None:
    for hit in find(store, query, "dir:/here", 10):
        assert hit.project == "dir:/here"


@given(st.text(st.characters(exclude_categories=()), max_size=60))
@example('"' * 33)
def test_any_text_is_a_query(store: SqliteStore, query: str) -> None:
    find(store, query, "dir:/here", 5)
    assert all(term.startswith('"') and term.endswith('"') and '"' not in term[1:-1] for term in terms(query))


@given(st.sampled_from(TEXTS), st.data())
def test_every_word_of_a_text_finds_it(store: SqliteStore, text: str, data: st.DataObject) -> None:
    words = data.draw(st.lists(st.sampled_from(text.split()), min_size=1, max_size=4))
    assert f"s1-{TEXTS.index(text)}:0" in ids(store, " ".join(words))


def test_all_words_count_before_any(store: SqliteStore) -> None:
    assert set(ids(store, "deploy plan")) == {"s1-0:0", "s1-1:0"}
    assert ids(store, "deploy plan parser") == ["s1-1:0"]
    assert ids(store, "parser zebra") == ["s1-1:0"], "no text has both, so either will do"
    assert ids(store, "zebra") == []


def test_case_and_accents_do_not_matter(store: SqliteStore) -> None:
    assert ids(store, "DOCKER") == ["s1-0:0"]
    assert ids(store, "naive cafe") == ["s1-4:0"]


def test_a_path_is_found_by_its_parts_and_whole(store: SqliteStore) -> None:
    assert ids(store, "src/uploader/retry_policy.py") == ["s1-5:0"]
    assert ids(store, "uploader") == ["s1-5:0"]


def test_operators_are_words(store: SqliteStore) -> None:
    assert ids(store, "NOT") == ["s1-6:0"]
    assert ids(store, "NEAR OR") == ["s1-6:0"]


def test_the_limit_holds(store: SqliteStore) -> None:
    assert len(find(store, "deploy", None, 3)) == 3
    assert len(find(store, "deploy", None, 100)) == 4


def test_without_a_project_all_are_searched(store: SqliteStore) -> None:
    assert {hit.project for hit in find(store, "docker")} == {"dir:/here", "dir:/elsewhere"}
    assert find(store, "docker", "dir:/unknown") == []
    assert find(store, "docker", "*") == []


def test_the_hit_shows_where(store: SqliteStore) -> None:
    (hit,) = find(store, "parser", "dir:/here")
    assert "\x02parser\x03" in hit.snippet
    assert hit.score > 0


def test_nothing_but_signs_finds_nothing(store: SqliteStore) -> None:
    assert terms("*** --- ((( ''' :::") == []
    assert find(store, "*** ---") == []


def test_only_so_many_words_count() -> None:
    assert len(terms("w " * 1000)) == 32
    assert len("".join(terms("x" * 100_000))) < 5000


def test_an_empty_store_has_nothing(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    assert find(store, "anything") == []
    store.close()


def test_what_a_person_wrote_is_found_and_what_a_note_quotes_is_found_where_it_was_said(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    first = Note("n1", 1.0, "session", 1, "p", "Asked: about zebras", "s", 5)
    store.add(first)
    assert find(store, "zebras", "p") == []
    assert [hit.id for hit in find(store, "zebras", "p", kind="session")] == ["n1"]
    store.add(first._replace(id="n2", text="Never zebras again.", replaces="n1", who="user"))
    store.add(Note("f1", 2.0, "fact", 0, "p", "The zebras run on port 7311.", who="user"))
    store.add(Note("f2", 2.0, "fact", 0, "p", "No port at all.", replaces="f1", who="user"))
    assert [(hit.id, hit.level, hit.kind) for hit in find(store, "zebras", "p")] == [("n2", 1, "session")]
    assert [hit.id for hit in find(store, "port", "p")] == ["f2"]
    assert find(store, "port", "elsewhere") == []
    store.close()
