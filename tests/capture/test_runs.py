"""Commands and what became of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.runs import Run, as_run, exit_status, hearts, in_order, match, outcome, program, runs, works
from tests.notes.story import Story
from tests.rows import rows


@rows("line", "steps")
def test_the_steps_of_a_line_that_do_something(line: str, steps: list[str]) -> None:
    assert works(line) == steps


def test_what_only_prepares_is_not_what_a_line_is_run_for() -> None:
    assert hearts("git add . && git commit -m x && git push") == ["git commit -m x", "git push"]
    assert hearts("git add .") == ["git add ."]


@rows("step", "name")
def test_the_name_of_a_command(step: str, name: str) -> None:
    assert program(step) == name


def run_of(command: str, answer: str = "", failed: bool = False) -> Run:
    story = Story()
    story.run(command, answer, failed)
    (run,) = runs(story.events)
    return run


@rows("command", "answer", "failed", "found")
def test_the_exit_status_is_believed_unless_a_pipe_hides_it(
    command: str, answer: str, failed: bool, found: list[bool]
) -> None:
    assert [*outcome(run_of(command, answer, failed))] == found


@rows("command", "answer")
def test_an_output_tells_that_a_command_failed_behind_a_pipe(command: str, answer: str) -> None:
    assert outcome(run_of(command, answer)) == (True, True)
    assert not outcome(run_of(command.partition("|")[0].partition(";")[0], answer))[0]


@rows("command", "answer")
def test_an_output_that_tells_of_no_failure_is_no_failure(command: str, answer: str) -> None:
    assert not outcome(run_of(command, answer))[0]


@rows("one", "other", "like")
def test_how_alike_two_commands_are(one: str, other: str, like: int) -> None:
    assert match(run_of(one), run_of(other)).like == like


def test_the_exit_status_is_read_where_it_is_said() -> None:
    assert exit_status(run_of("make", "Exit code 2\nno rule", failed=True).result) == "2"
    assert exit_status(run_of("make", "no rule", failed=True).result) == ""
    assert exit_status(run_of("make", "Exit code 2").result) == ""


def test_what_the_user_refused_is_no_run() -> None:
    story = Story()
    story.run("make", "The user doesn't want to proceed with this tool use.", failed=True)
    assert list(runs(story.events)) == []


def test_calls_of_a_session_stay_in_their_order_though_the_clock_jumps() -> None:
    story = Story()
    calls = [story.run("make"), story.run("make")._replace(at=5.0), story.run("make")._replace(session="t", at=1500.0)]
    order = in_order(list(enumerate(calls)))
    assert sorted(range(3), key=order.__getitem__) == [0, 1, 2]


@given(st.text(max_size=300))
def test_any_line_is_a_command(line: str) -> None:
    assert all(step.strip() for step in works(line))
    assert match(run_of(line), run_of(line)).like == (2 if works(line) else 0)


@rows("line", "step", "told")
def test_a_module_is_told_with_the_program_that_ran_it(line: str, step: str, told: str) -> None:
    assert as_run(line, step) == told
    assert not line or step in works(line)
