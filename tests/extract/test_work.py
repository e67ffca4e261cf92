"""What was done with tools: commands and how they ended, whether what failed was fixed, edits, commits and pushes."""

from __future__ import annotations

import pytest
from hypothesis import given

from memory_keeper.extract.facts import Fact
from memory_keeper.extract.spoken import spoken
from memory_keeper.extract.work import as_typed, worked
from memory_keeper.model import Event
from tests.notes.story import Story, sessions
from tests.rows import rows


def work(story: Story, *kinds: str) -> list[Fact]:
    found = worked(story.events, spoken(story.events)[1])
    return [fact for fact in found if not kinds or fact.kind in kinds]


# --- commands ---------------------------------------------------------------------------------------------------------


@rows("line", "heart")
def test_the_step_that_mattered(line: str, heart: str) -> None:
    assert as_typed(line) == heart


def test_settings_before_a_program_do_not_hide_it() -> None:
    line = as_typed("LOG_LEVEL=debug DB_HOST=127.0.0.1 ./bin/replay --from 2026-01-01 orders")
    assert line.endswith("./bin/replay --from 2026-01-01 orders")


def test_commands_that_worked_are_recipes() -> None:
    story = Story()
    story.run("cd sub && . ./env && make test", "41 passed")
    story.run("make deploy", "boom", failed=True)
    assert [fact.text for fact in work(story, "command")] == ["make test"]


@rows("said", "sum")
def test_a_check_says_how_it_ended(said: str, sum: str) -> None:
    story = Story()
    story.run("make test", said)
    (check,) = work(story, "check")
    assert (check.text, check.why, check.status) == ("make test", sum, "passed")


def test_an_error_names_what_failed() -> None:
    story = Story()
    story.run(
        "go test ./...", "--- FAIL: TestRetry (0.00s)\n    retry_test.go:41: want 5 tries, got 4\nFAIL", failed=True
    )
    (error,) = work(story, "error")
    assert error.text == "go test ./..." and "TestRetry" in error.why


# --- fixed or not -----------------------------------------------------------------------------------------------------

FAILED = "--- FAIL: TestRetry (0.00s)\n    retry_test.go:41: want 5 tries, got 4\nFAIL"
# what failed, what was run later and how that ended, and whether it is fixed then
LATER = [
    ("pytest tests/test_a.py", "pytest tests/test_a.py", False, True),
    ("pytest tests/test_a.py::test_five", "pytest -q", False, True),
    ("mise run test:ci", "mise run fmt && mise run lint && mise run test:ci", False, True),
    ("go test ./upload", "go test ./...", False, True),
    ("npm run lint", "npm run lint -- --fix", False, True),
    ("make test", "cd sub && make test", False, True),
    ("pytest tests/test_a.py", "pytest tests/test_a.py", True, False),
    ("pytest tests/test_a.py", "pytest tests/test_b.py", False, False),
    ("pytest -q", "pytest tests/test_b.py", False, False),
    ("make deploy", "make lint", False, False),
    ("make test", "ls -la", False, False),
]


@pytest.mark.parametrize(("failed", "later", "wrong", "fixed"), LATER)
def test_an_error_is_closed_by_a_broader_success(failed: str, later: str, wrong: bool, fixed: bool) -> None:
    story = Story()
    story.run(failed, FAILED, failed=True)
    story.edit("/p/a.py", "a", "b")
    story.run(later, FAILED if wrong else "ok\n31 passed", failed=wrong)
    assert [fact.status for fact in work(story, "error")][:1] == ["fixed" if fixed else "open"]


def test_an_error_with_nothing_after_it_is_open() -> None:
    story = Story()
    story.run("make test", "31 passed")
    story.run("make test", FAILED, failed=True)
    assert [fact.status for fact in work(story, "error")] == ["open"]


# --- commits, pushes, pull requests -----------------------------------------------------------------------------------


def test_what_was_published() -> None:
    story = Story()
    story.run("git commit -am 'Retry uploads'", "[fix/retry 1a2b3c4] Retry uploads\n 1 file changed")
    story.run("git push -u origin fix/retry", "To github.com:x/y.git\n * [new branch] fix/retry -> fix/retry")
    story.run("gh pr create --fill", "https://github.com/x/y/pull/41")
    commit, push, pull = work(story, "commit", "push", "pr")
    assert (commit.text, commit.about, commit.status) == ("Retry uploads", "1a2b3c4", "fix/retry")
    assert push.kind == "push" and pull.text == "https://github.com/x/y/pull/41"


@rows("command", "said", "failed")
def test_what_was_not_published(command: str, said: str, failed: bool) -> None:
    story = Story()
    story.run(command, said, failed=failed)
    assert work(story, "commit", "push", "pr") == []


# --- edits ------------------------------------------------------------------------------------------------------------


def test_a_file_that_was_changed_says_what_was_defined_in_it() -> None:
    story = Story()
    story.prompt("Write the helper.")
    story.call("Write", file_path="/p/retry.py", content="def with_retry():\n    pass\n\nclass Policy:\n    pass\n")
    story.edit("/p/up.py", "def old_one(): pass", "def old_one(): pass\ndef new_one(): pass")
    created, changed = work(story, "edit")
    assert (created.text, created.status, created.about) == ("/p/retry.py", "created", "with_retry, Policy")
    assert (changed.text, changed.status, changed.about) == ("/p/up.py", "changed", "new_one")
    assert created.turn == changed.turn == 1


def test_an_edit_that_was_refused_is_none() -> None:
    story = Story()
    story.edit("/p/a.py", "a", "b", failed=True)
    assert work(story, "edit") == []


def test_an_edit_that_was_taken_back_is_not_told_as_a_change() -> None:
    story = Story()
    story.edit("/p/b.py", "a", "b")
    story.edit("/p/b.py", "b", "a")
    assert all(fact.status not in ("created", "changed") for fact in work(story, "edit"))


# --- whatever comes ---------------------------------------------------------------------------------------------------


@given(sessions())
def test_all_of_it_in_order_and_cited(events: list[Event]) -> None:
    known = {event.id for event in events}
    found = worked(events, spoken(events)[1])
    assert [fact.place for fact in found] == sorted(fact.place for fact in found)
    for fact in found:
        assert fact.cites and set(fact.cites) <= known
        assert fact.who == "tool"


def test_of_several_sums_the_one_of_the_part_that_ran_most_is_told() -> None:
    story = Story()
    part = "test result: ok. {} passed; 0 failed; 0 ignored"
    story.run("cargo test", "\n".join(f"running\n{part.format(count)}" for count in (620, 20, 0)))
    (check,) = work(story, "check")
    assert (check.about, check.why) == ("640 passed in all", "test result: ok. 620 passed")


def test_no_package_speaks_for_all_of_them() -> None:
    story = Story()
    story.run("go test ./...", "ok  \tx.org/app/cart\t0.3s\nok  \tx.org/app/label\t(cached)")
    (check,) = work(story, "check")
    assert check.why == "2 packages ok"


def test_a_trailer_is_no_part_of_what_a_commit_is_called() -> None:
    story = Story()
    story.run("git log -1", "1a2b3c4d Retry uploads")
    story.run("git commit -qm x", "[fix 1a2b3c4] Retry uploads Co-Authored-By: A B <a@example.org>")
    (commit,) = work(story, "commit")
    assert commit.text == "Retry uploads"
