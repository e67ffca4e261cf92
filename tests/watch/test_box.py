"""The screens of Claude Code, as they were recorded: which of them are an idle prompt, and what stands in its box."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.watch.box import Box, read_screen
from memory_keeper.watch.screen import decode
from tests.rows import rows

SCREENS = Path(__file__).parents[1] / "data/screens"
WIDE = "a rather long draft that does not fit on a single line\nof a narrow pane, so it wraps"
CLEAR = "/clear"

# what is not named here is no idle prompt
IDLE = {
    "idle": Box(""),
    "draft": Box("half a draft"),
    "draft of two lines": Box("first line\nsecond line"),
    "draft that wraps, 60 columns": Box(WIDE),
    "pasted": Box("look at [Pasted text #1 +29 lines]"),
    "suggestion": Box("run the tests now"),
    "stashed": Box("", stashed=True),
    "draft and stash": Box("draft B", stashed=True),
    "clear offered": Box(CLEAR, offered=True),
    "clear offered, 40 columns": Box(CLEAR, offered=True),
    "clear offered, status line": Box(CLEAR, offered=True),
    "clear shadowed": Box(CLEAR),
    "clear shadowed, 40 columns": Box(CLEAR),
    "vi, normal": Box("hello there"),
    "vi, insert": Box("hello there"),
    "plan mode": Box(""),
    "accept edits": Box(""),
    "bypass on": Box(""),
    "named": Box(""),
    "status line": Box(""),
    "status line and draft": Box("abc"),
    "tasks": Box(""),
    "after clear": Box("half a draft"),
    "after an error": Box(""),
}
HINTS = {"2.1.325": 'Try "how does <filepath> work?"', "2.1.197": 'Try "edit <filepath> to..."'}


def read(name: str) -> dict[str, str]:
    """The screens of a file, by what they show."""
    parts = (SCREENS / f"{name}.txt").read_text(encoding="utf-8").split("=== ")[1:]
    return {state: screen for state, _, screen in (part.partition("\n") for part in parts)}


RECORDED = {(version, state): screen for version in HINTS for state, screen in read(version).items()}
OTHERS = read("others")
REFUSED = [screen for (_, state), screen in RECORDED.items() if state not in IDLE and state != "hint"]


def expected(version: str, state: str) -> Box | None:
    return Box(HINTS[version]) if state == "hint" else IDLE.get(state)


@pytest.mark.parametrize(("version", "state"), RECORDED)
def test_a_recorded_screen_is_read_as_what_it_was(version: str, state: str) -> None:
    assert read_screen(RECORDED[version, state]) == expected(version, state)


@pytest.mark.parametrize(("version", "state"), RECORDED)
def test_so_it_is_when_only_the_last_byte_of_each_character_is_left(version: str, state: str) -> None:
    screen = RECORDED[version, state]
    dump = bytes(ord(char) & 0xFF for char in screen)
    assert read_screen(decode(dump, screen.count("\n"))) == expected(version, state)


def test_both_versions_were_recorded_in_every_idle_state() -> None:
    states = [{state for version, state in RECORDED if version == wanted} for wanted in HINTS]
    assert {*IDLE, "hint"} <= states[0] | {"tasks"}
    assert {*IDLE, "hint"} <= states[1]
    assert len(REFUSED) > 50


@pytest.mark.parametrize("program", OTHERS)
def test_another_program_is_no_prompt_even_when_it_shows_one(program: str) -> None:
    assert read_screen(OTHERS[program]) is None


# --- what a model or a tool can print ---------------------------------------------------------------------------------

WIDTH = 100
LOOKALIKES = ["─" * WIDTH, "❯\xa0", "❯\xa0/clear", "❯ /clear", "  ? for shortcuts", "/clear   Start a new session"]
printed = st.lists(st.one_of(st.sampled_from(LOOKALIKES), st.text(max_size=30).map(lambda text: text.split("\n")[0])))


@given(st.sampled_from(REFUSED), printed)
def test_nothing_that_is_printed_above_makes_a_prompt_of_another_screen(screen: str, lines: list[str]) -> None:
    assert read_screen("".join(f"{line}\n" for line in lines) + screen) is None


@given(st.sampled_from(sorted(OTHERS)), printed)
def test_nor_of_another_program(program: str, lines: list[str]) -> None:
    above = "".join(f"{line}\n" for line in lines)
    assert read_screen(above + OTHERS[program]) is None


@given(st.sampled_from(sorted(RECORDED)), printed)
def test_what_a_reply_prints_never_changes_what_stands_in_the_box(key: tuple[str, str], lines: list[str]) -> None:
    reply = "".join(f"  {line}\n" for line in lines)
    box = read_screen(f"● Look:\n{reply}\n" + RECORDED[key])
    right = expected(*key)  # it may keep us from pressing Enter, no more
    assert box in (None, right, right and right._replace(offered=False))


def test_a_question_of_the_model_that_draws_a_box_is_no_prompt() -> None:
    box = f"{'─' * WIDTH}\n❯\xa0\n{'─' * WIDTH}"
    below = "❯ 1. Red\n  2. Blue\n\nEnter to select · ↑/↓ to navigate · Esc to cancel\n"
    assert read_screen(f"{'─' * WIDTH}\n ☐ Colour\n\n{box}\n\n{below}") is None


@pytest.mark.parametrize("version", HINTS)
@pytest.mark.parametrize("more", ["/clear  another", "    /clear  another", "  ❯ /clear", "/clear"])
def test_a_second_command_of_that_name_is_seen_wherever_it_stands(version: str, more: str) -> None:
    screen = RECORDED[version, "clear offered"]
    for odd in (f"{more}\n{screen}", f"{screen}\n{more}", f"{screen}something odd\n{more}"):
        assert not (read_screen(odd) or Box("")).offered


@rows("footer")
def test_an_empty_box_with_such_a_footer_is_not_idle(footer: str) -> None:
    box = f"{'─' * WIDTH}\n❯\xa0\n{'─' * WIDTH}\n"
    assert read_screen(box) == Box("")
    assert read_screen(box + footer) is None


@given(st.text())
def test_any_text_can_be_looked_at(screen: str) -> None:
    assert read_screen(screen) is None or "─" * 20 in screen, "no box without its lines"


@given(st.binary(), st.integers(0, 50))
def test_any_dump_can_be_looked_at(dump: bytes, rows: int) -> None:
    shown = decode(dump, rows)
    assert read_screen(shown) is None or "─" * 20 in shown


def test_a_dump_with_more_lines_than_the_window_shows_nothing() -> None:
    """A character whose last byte ends a line could put anything anywhere."""
    dump = b"\0" * 80 + b"\no\xa0\n" + b"\0" * 80 + b"\n"
    assert read_screen(decode(dump, 24)) == Box("")
    assert read_screen(decode(dump, 2)) is None
