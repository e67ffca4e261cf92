"""What a prompt wants for good, and what of it still holds: the last word on a matter, and all others beside it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.model import Event
from memory_keeper.rules.instructions import dense, instructions, told
from memory_keeper.rules.observations import _gather, _Said
from memory_keeper.rules.prompts import said
from memory_keeper.rules.wishes import Wish, compare, marks
from memory_keeper.text import tokens
from tests.rows import rows


def prompt(text: str, at: float = 1.0, session: str = "") -> Event:
    return Event(f"e{at:g}", at, "prompt", session or f"s{at:g}", "p", text)


def matters(*texts: str) -> list[_Said]:
    """What prompts of as many sessions speak of, as it is kept and put together."""
    notes = [note for number, text in enumerate(texts) for note in said(prompt(text, float(number)), "p")]
    return _gather(notes, 1e9).all


def in_force(*texts: str) -> list[str]:
    return [one.wish.text for one in matters(*texts) if one.wish and not one.after]


def test_what_is_said_of_two_kinds_is_kept_of_each() -> None:
    first = "From now on, start all method names and variable names with 'x_'."
    assert in_force(first, "Start method names with 'y_' from now on.") == [
        "start all variable names with 'x_'",
        "Start method names with 'y_'",
    ]


@rows("older", "newer")
def test_a_later_word_on_the_same_matter_takes_its_place(older: str, newer: str) -> None:
    old, *_, new = matters(older, newer)
    assert old.after is new and not new.after
    assert in_force(older, newer) == [instructions(prompt(newer))[0].text]


@rows("older", "newer")
def test_other_matters_stand_beside_each_other(older: str, newer: str) -> None:
    assert len(in_force(older, newer)) == 2


def test_who_says_it_again_confirms_it() -> None:
    (held,) = matters("Start all function names with 'a_'.", "Remember to start function names with 'a_'.")
    assert [note.session for note in held.notes] == ["s0", "s1"] and not held.after


def test_one_thing_in_many_words_is_one() -> None:
    (held,) = matters(
        "Always run make check before you commit.",
        "Please always run make check before committing!",
        "remember to always run `make check` before every commit",
        "always run make check before you commit, please",
    )
    assert [note.session for note in held.notes] == ["s0", "s1", "s2", "s3"]


def test_what_is_said_in_one_breath_holds_together() -> None:
    assert len(in_force("never use print for logging, use the logger")) == 2


def test_lines_are_grouped_by_what_they_are_about() -> None:
    texts = (
        "Start all function names with 'a_'.",
        "From now on, end all function names with '_b'.",
        "Always add the '@traced' decorator to all methods.",
        "Always add the '@timed' decorator to all methods.",
        "Never log phone numbers.",
    )
    found = [one for number, text in enumerate(texts) for one in instructions(prompt(text, float(number)))]
    assert told(found, 200) == [found[4].text, found[3].text, found[2].text, found[1].text, found[0].text]
    assert told(found, 50) == dense(found, 200)
    assert dense(found, 200) == [
        "Never log phone numbers",
        "method: add '@timed' '@traced' decorator",
        "function names: end with '_b'; Start with 'a_'",
    ]


@rows("said")
def test_no_word_is_lost_that_says_of_which_things_it_holds(said: str) -> None:
    (one,) = instructions(prompt(f"From now on, {said}"))
    assert one.text.casefold() == said.casefold()
    assert told([one], 200) == dense([one], 200) == [one.text]


def test_a_long_one_shows_where_it_is_cut() -> None:
    aim = (
        "When you write functions of the payment service that talk to the bank, the ledger, the mail queue or any other"
    )
    (one,) = instructions(prompt(f"From now on, {aim} outside system, use 'retry'."))
    assert one.text.startswith("When you write functions of the payment service") and "…" in one.text
    assert one.text.endswith("use 'retry'")


WORDS = st.lists(
    st.sampled_from((
        "from now on", "always", "never", "use", "start", "end", "all", "function names", "variables", "with", "'a_'",
        "'_b'", "and", "for", "instead of", ",", ".", "?", "\n", "@x", "them", "it", "snake_case", "2", "항상", "말고",
        "\0",
    ))
).map(" ".join)  # fmt: skip
TEXTS = WORDS | st.text(max_size=80)
FOUND = st.lists(TEXTS, max_size=12).map(
    lambda texts: [one for number, text in enumerate(texts) for one in instructions(prompt(text, float(number)))]
)


@given(TEXTS)
def test_any_text_gives_short_instructions(text: str) -> None:
    for one in instructions(prompt(text)):
        assert one.text.strip()
        assert tokens(one.text) <= 40


@given(st.lists(TEXTS, max_size=12), st.randoms(use_true_random=False))
def test_the_order_they_are_given_in_does_not_matter(texts: list[str], random) -> None:  # type: ignore[no-untyped-def]
    notes = [note for number, text in enumerate(texts) for note in said(prompt(text, float(number)), "p")]
    mixed = notes.copy()
    random.shuffle(mixed)
    ids = [[[note.id for note in one.notes] for one in _gather(some, 1e9).all] for some in (notes, mixed)]
    assert ids[0] == ids[1]


@given(st.lists(TEXTS, max_size=12))
def test_nothing_is_lost_and_the_last_word_holds(texts: list[str]) -> None:
    found = matters(*texts)
    kept = [note.id for one in found for note in one.notes]
    assert sorted(kept) == sorted(
        {note.id for number, text in enumerate(texts) for note in said(prompt(text, float(number)), "p")}
    )
    if found:
        newest = max(note.at for one in found for note in one.notes)
        assert any(note.at == newest for one in found if not one.after for note in one.notes)


@given(TEXTS, TEXTS)
def test_what_is_related_shares_a_mark(older: str, newer: str) -> None:
    for new in instructions(prompt(newer, 2.0)):
        for old in instructions(prompt(older, 1.0)):
            assert not compare(new, old) or {*marks(new)} & {*marks(old)}


@given(FOUND, st.integers(0, 120))
def test_lines_fit_their_budget(found: list[Wish], budget: int) -> None:
    lines = dense(found, budget)
    assert tokens("\n".join(lines) + "\n" if lines else "") <= budget


def test_many_instructions_cost_little() -> None:
    assert len(in_force(*(f"Always use tool{number} as the lamp {number}." for number in range(2_000)))) > 1_000
