"""What people see while something takes long: a bar where there is a terminal, else a line now and then."""

from __future__ import annotations

import pytest

from memory_keeper.terminal import Bar, format_time, say_problem, wrapped


def test_without_a_terminal_progress_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar("importing", 200, bytes=False) as bar:
        for _ in range(100):
            bar.advance(1)
        assert capsys.readouterr().err == "", "what is quick needs no words"
        bar.begun, bar.drawn = bar.begun - 60, bar.drawn - 60
        bar.advance(1)
        bar.advance(1)
    assert capsys.readouterr().err == "importing: 50%, 101 of 200\n"


def test_words_are_not_broken_where_they_are_to_stay_whole() -> None:
    path = "/a/path/that/is/longer/than/a/row"
    assert wrapped(f"It lies in {path} now", rest="  ", room=16, whole=True) == f"It lies in\n  {path}\n  now"
    assert path not in wrapped(f"It lies in {path} now", rest="  ", room=16)


def test_a_problem_is_one_line_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    say_problem("word " * 60, "do this " * 40)
    assert capsys.readouterr().err == f"memory-keeper: {'word ' * 60}\n  hint: {'do this ' * 40}\n"


@pytest.mark.parametrize("at", [1e15, -1e15, float("inf")])
def test_a_time_that_no_calendar_has_is_shown_as_one(at: float) -> None:
    assert len(format_time(at)) >= len("1970-01-01 00:00")
    assert format_time(0.0) == "never"
