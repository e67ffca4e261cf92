"""A sentence is told once: what stands word for word above is only begun, or left out; nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.tell.echoes import leave_out, shorten

DECIDED = "We chose re.split instead of csv, because the lines have two separators."
ABOVE = f'| Decided: "{DECIDED}" [63bc13a3]\n| Seen in output: src/parser.py [309bc64c]\n'
WORDS = st.lists(st.sampled_from(["run", "the", "tests", '"', "“", "”", "…", ": ", "; ", "\n", "a.py"]), max_size=40)


def test_a_quotation_that_stands_above_is_only_begun() -> None:
    assert shorten(f"It is written. {DECIDED} All pass.", ABOVE) == (
        "It is written. We chose re.split instead… All pass."
    )
    goal = '| Goal: “Write greet(name) that returns "Hello, NAME" on all the Pythons.” [1]\n'
    assert shorten('12:00Z Write greet(name) that returns "Hello, NAME" on all the Pythons.', goal) == (
        "12:00Z Write greet(name) that returns…"
    )


@pytest.mark.parametrize(
    "text",
    [
        "We chose re.split instead of csv.",
        f"Somebody said: {DECIDED.lower()}",
        f"{DECIDED[:-1]}_in_each_line",
        "src/parser.py",
    ],
)
def test_what_only_sounds_like_it_stays(text: str) -> None:
    assert shorten(text, ABOVE) == text


def test_a_note_has_only_lines_that_do_not_stand_above() -> None:
    note = f'12:00Z session s1\nDecided: "{DECIDED}"\nNamed: src/parser.py\nChanged src/parser.py'
    assert leave_out(note, ABOVE) == "12:00Z session s1\nChanged src/parser.py"
    assert leave_out("12:00Z session s1\nNamed: src/parser.py", ABOVE) == ""
    for other in ("Named: parser.pyi", "Named: src/parser.py; README.md", 'Error of make: "csv, because"'):
        assert leave_out(f"12:00Z session s1\n{other}", ABOVE).endswith(other)


def test_an_error_of_another_command_is_another_error() -> None:
    above = '| Error of make test: "make: *** No rule to make such a target. Stop." [1]\n'
    assert "Error of make lint: " in leave_out(above[2:].replace("make test", "x\nError of make lint"), above)


@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_nothing_is_left_out_that_does_not_stand_above(text: str, above: str) -> None:
    """Any two texts: what of one is shortened or gone stands in the other."""
    left = leave_out("head\n" + text, above).split("\n")[1:]
    gone = [line for line in text.split("\n") if line not in left and "…" not in "".join(left)]
    for line in gone:
        said = line.removeprefix("Named: ").strip('"“”')
        assert not said.strip() or said in above
    assert len(shorten(text, above)) <= len(text)
