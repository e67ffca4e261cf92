"""What a prompt names, and what only looks like a name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.named import LONGEST, MOST, is_command, names_in, says_error
from tests.rows import rows


@rows("prompt", "names")
def test_names(prompt: str, names: list[str]) -> None:
    assert [name.text for name in names_in(prompt)] == names


@rows("prompt")
def test_words_are_no_names(prompt: str) -> None:
    assert names_in(prompt) == []


def test_a_long_prompt_is_looked_at_as_far_as_it_goes() -> None:
    assert len(names_in(" ".join(f"name_{number}" for number in range(99)))) == MOST
    assert names_in("a " * LONGEST + "some_name") == []


@rows("prompt", "command")
def test_what_is_for_the_host(prompt: str, command: bool) -> None:
    assert is_command(prompt) == command


def test_an_error_is_known_by_how_programs_write_it() -> None:
    assert says_error("I get ValueError: boom") and says_error("bash: foo: command not found")
    assert not says_error("There is an error in the login, and it failed twice.")


@given(st.text())
def test_whatever_a_prompt_is_its_names_are_in_it(prompt: str) -> None:
    assert all(name.text in prompt and name.base for name in names_in(prompt))
