"""What a query asks for: terms that the index understands, whatever was typed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.model import EVERYWHERE, Phrase
from memory_keeper.search.query import LONGEST, MOST, STOP, Term, is_question, nearly, read_query
from memory_keeper.store.index import TABLE, words_in
from memory_keeper.store.sqlite.expression import expression

ANY = st.text(st.characters(exclude_categories=()), max_size=80)


@pytest.fixture(scope="module")
def table() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.execute(TABLE.format("words"))
    yield db
    db.close()


def shows(text: str) -> list[tuple[str, ...]]:
    """The words of each whole term."""
    return [term.marks for term in read_query(text) if not term.of]


@given(ANY)
def test_every_term_is_an_expression(table: sqlite3.Connection, text: str) -> None:
    terms = read_query(text)
    assert len(terms) <= MOST
    assert len({term.match for term in terms}) == len(terms), "each once"
    for term in terms:
        assert 0 < term.weight <= 1
        assert term.marks and all(mark == mark.lower() for mark in term.marks)
        match = expression([term.match], EVERYWHERE, (), notes=False, deep=False)
        table.execute("select rowid from words where words match ?", (match,))


@given(ANY)
def test_only_letters_and_digits_are_words(text: str) -> None:
    assert all(word.isalnum() for word in words_in(text))
    assert "".join(words_in(text)) == "".join(char for char in text if char.isalnum())


def test_words_that_say_nothing_count_only_where_there_is_nothing_else() -> None:
    assert shows("why did we drop the parser") == [("drop",), ("parser",)]
    assert [marks[0] for marks in shows("why did we")] == ["why", "did", "we"]
    assert {"the", "we", "why"} <= STOP


def test_what_is_quoted_must_be_there() -> None:
    (phrase, word) = read_query('"deploy plan" parser')
    assert phrase.must and phrase.marks == ("deploy", "plan")
    assert not word.must
    assert all(not term.must for term in read_query('"unterminated words')), "a quote alone is none"
    assert read_query("“deploy plan”")[0].must, "as some keyboards write them"
    assert [term.must for term in read_query('"배포 계획"') if term.weight == 1] == [True, True]


def test_a_name_is_looked_for_whole_and_more_weakly_by_its_pieces() -> None:
    terms = read_query("retryPolicy")
    weights = {part: term.weight for term in terms for part in [one.words for one in term.match]}
    assert weights["retryPolicy"] >= weights["retry Policy"] > weights["retry"] == weights["policy"]
    assert {term.marks for term in terms if term.of} == {("retry",), ("policy",)}


def test_the_folders_of_a_path_say_little() -> None:
    terms = read_query("src/uploader/retry_policy.py")
    assert terms[0].match == (Phrase("src uploader retry policy py", "text"),)
    assert [term.marks for term in terms if term.of] == [("retry", "policy", "py")], "without the file"


def test_forms_are_found_by_each_other() -> None:
    assert set(shows("bought")[0]) == {"buy", "bought"}
    assert "database" in shows("db")[0] and "db" in shows("database")[0]


def test_a_star_asks_for_a_beginning() -> None:
    assert read_query("uplo*") == [Term((Phrase("uplo", begins=True),), 1.0, ("uplo",))]


def test_long_queries_are_cut() -> None:
    assert len(read_query(" ".join(f"w{n}" for n in range(2 * MOST)))) == MOST
    assert read_query("x" * LONGEST + " late") == read_query("x" * LONGEST)


def test_what_ends_a_name_is_no_part_of_it() -> None:
    assert shows("the parser's") == [("parser",)]
    assert shows("we’ll deploy") == [("deploy",)]


def test_a_question_is_more_than_a_few_words() -> None:
    def asks(text: str) -> bool:
        return is_question(text, read_query(text))

    assert asks("which port does the server listen on")
    assert asks("upload failed retry backoff jitter limit")
    assert not asks("retry policy")
    assert not asks("port")


@given(st.text("abcdefghij", min_size=1, max_size=8))
def test_nearly_is_one_typing_error_away(word: str) -> None:
    found = nearly(word)
    assert len(found) == len(set(found))
    assert word not in found and "" not in found
    assert all(abs(len(one) - len(word)) <= 1 for one in found)


def test_each_kind_of_typing_error() -> None:
    assert {"dokcer", "doker", "dockerr", "dicker"} <= set(nearly("docker"))
    assert "k9s" in nearly("k8s")
