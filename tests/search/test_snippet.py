"""The part of a text that shows why it was found: marked, whole words, never too long, whatever the text is."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.search.snippet import LARGEST, OFF, ON, WIDTH, snippet

ANY = st.text(st.characters(exclude_categories=()), max_size=2000)
WORDS = st.lists(st.text(st.characters(categories=("Ll", "Nd")), min_size=1, max_size=8), min_size=1, max_size=3)
FILLER = "lorem ipsum dolor sit amet consectetur " * 50


def marked(shown: str) -> list[str]:
    return re.findall(f"{ON}([^{ON}{OFF}]*){OFF}", shown)


def plain(shown: str) -> str:
    return shown.replace(ON, "").replace(OFF, "").strip("…")


def test_matches_are_marked() -> None:
    assert marked(snippet("the deploy plan of the parser", [("deploy",), ("parser",)])) == ["deploy", "parser"]
    assert marked(snippet("Docker and DOCKER", [("docker",)])) == ["Docker", "DOCKER"]
    assert marked(snippet("한국어 배포 계획", [("배포",)])) == ["배포"]


def test_forms_of_a_word_are_marked_and_other_words_are_not() -> None:
    assert marked(snippet("deploys deploying deployed", [("deploy",)])) == ["deploys", "deploying", "deployed"]
    assert marked(snippet("the report has a port", [("port",)])) == ["port"]
    assert marked(snippet("a got goes and go", [("go",)])) == ["go"]


def test_a_name_is_marked_as_one() -> None:
    assert marked(snippet("see src/retry_policy.py for it", [("retry", "policy", "py")])) == ["retry_policy.py"]


def test_without_a_match_it_is_the_beginning() -> None:
    assert snippet("a short text", [("zebra",)]) == "a short text"
    assert snippet(FILLER, []).startswith("lorem ipsum")
    assert snippet("", [("zebra",)]) == ""


def test_it_is_where_most_of_the_words_stand() -> None:
    text = "deploy " + FILLER + "the deploy plan of the parser " + FILLER
    shown = snippet(text, [("deploy",), ("plan",), ("parser",)])
    assert marked(shown) == ["deploy", "plan", "parser"]
    assert shown.startswith("…") and shown.endswith("…")


def test_words_are_not_cut_in_half() -> None:
    shown = snippet(FILLER + "needle " + FILLER, [("needle",)])
    assert set(plain(shown).split()) <= {*FILLER.split(), "needle"}


def test_marks_in_the_text_are_none_of_ours() -> None:
    assert marked(snippet(f"a {ON}fake{OFF} deploy", [("deploy",)])) == ["deploy"]


def test_only_so_much_of_a_text_is_looked_at() -> None:
    assert marked(snippet("x " * LARGEST + "needle", [("needle",)])) == []


@given(ANY, st.lists(WORDS.map(tuple), max_size=4), st.integers(20, 400))
@example("İ" * 300, [("i",)], 40)
@example("x" * 1000, [("x",)], 40)
@example("a " * 500, [("a",), ("a", "a")], 40)
def test_it_is_never_longer_than_its_width(text: str, marks: list[tuple[str, ...]], width: int) -> None:
    shown = snippet(text, marks, width)
    assert len(plain(shown)) <= width
    assert shown.count(ON) == shown.count(OFF) == len(marked(shown)), "none inside another"
    assert "\n" not in shown


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=600), st.lists(WORDS.map(tuple), max_size=4))
def test_it_is_a_part_of_the_text(text: str, marks: list[tuple[str, ...]]) -> None:
    shown = plain(snippet(text, marks))
    assert " ".join(shown.split()) in " ".join(text.split()) or "…" in text


@given(WORDS, st.data())
def test_a_word_of_the_text_is_marked_there(words: list[str], data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(words))
    text = " ".join([*["filler"] * 20, *words, *["filler"] * 20])
    if word.isascii():
        assert any(one.startswith(word[:3]) for one in marked(snippet(text, [(word,)])))


@pytest.mark.parametrize("width", [20, 100, WIDTH, 1000])
def test_a_long_text_fills_its_width(width: int) -> None:
    assert len(plain(snippet(FILLER, [("dolor",)], width))) >= width - 40
