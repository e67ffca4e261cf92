"""The state of the work: the branch, the last commits, what is not committed, the pull request, the last check."""

from __future__ import annotations

import pytest

from memory_keeper.extract.extraction import extract
from memory_keeper.extract.state import tree
from tests.notes.story import Story
from tests.rows import rows

REQUEST = "Add retry with back-off to the uploader in src/upload.py, at most five tries, and log each try."
FILE = "/srv/app/src/upload.py"


def asked() -> Story:
    story = Story()
    story.prompt(REQUEST)
    return story


def state(story: Story) -> str:
    return "; ".join(fact.text for fact in extract(story.events) if fact.kind == "state")


def test_nothing_was_committed_and_nothing_was_run() -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    assert "upload.py" in state(story) and "committed" in state(story)
    assert "no test or build was run" in state(story)


def test_files_are_told_from_the_folder() -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    story.edit("/srv/app/pool.py", "a", "b")
    facts = extract(story.events, "/srv/app")
    assert any("uncommitted edits: pool.py, src/upload.py" in fact.text for fact in facts if fact.kind == "state")


def test_committed_but_not_pushed() -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    story.run("git commit -am 'Retry uploads'", "[fix/retry 1a2b3c4] Retry uploads\n 1 file changed")
    said = state(story)
    assert "1a2b3c4" in said and "Retry uploads" in said and "fix/retry" in said and "not pushed" in said


def test_a_pull_request_that_commands_were_about() -> None:
    story = asked()
    story.run("gh pr view 40", "title: Retry")
    story.run("gh pr edit 41 --base soph/retries", "https://github.com/x/y/pull/41")
    assert "pull request #41 onto soph/retries" in state(story) and "#40" not in state(story)
    story.run("gh pr create --fill", "https://github.com/x/y/pull/42")
    assert "https://github.com/x/y/pull/42" in state(story) and "#41" not in state(story)


def test_pushed_with_a_pull_request_and_edited_since() -> None:
    story = asked()
    story.run("pytest -q", "31 passed in 2.0s")
    story.run("git commit -am 'Retry uploads'", "[fix/retry 1a2b3c4] Retry uploads\n 1 file changed")
    story.run("git push", "To github.com:x/y.git")
    story.run("gh pr create --fill", "https://github.com/x/y/pull/41")
    story.edit("/srv/app/src/cart.py", "a", "b")
    said = state(story)
    assert "pushed" in said and "not pushed" not in said and "https://github.com/x/y/pull/41" in said
    assert "cart.py" in said and "pytest -q" in said and "31 passed" in said and "not run again" in said


def test_verified_after_the_last_edit() -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    story.run("cd sub && . ./env && make test", "41 passed")
    assert "`make test` passed" in state(story) and "not run again" not in state(story)


def test_the_last_check_failed() -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    story.run("make test", "--- FAIL: TestRetry (0.00s)\nFAIL", failed=True)
    assert "make test" in state(story) and "failed" in state(story) and "TestRetry" in state(story)


@rows("command", "said")
def test_what_checked_nothing_is_no_check(command: str, said: str) -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    story.run(command, said)
    assert "last check" not in state(story)


@rows("command")
def test_a_file_that_is_gone_or_put_back_is_not_uncommitted(command: str) -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    story.edit("/srv/app/docs/page.md", "a", "b")
    story.run(command)
    assert "upload.py" not in state(story)
    assert ("page.md" in state(story)) is (command != "git reset --hard")


@pytest.mark.parametrize(
    "path", ["/root/.claude/plans/plan.md", "/root/.claude/projects/x/memory/MEMORY.md", "/tmp/x.py"]
)
def test_plans_of_the_host_and_scratch_files_are_nobody_s_edits(path: str) -> None:
    story = asked()
    story.edit(path, "a", "b")
    assert "uncommitted" not in state(story)


def test_the_branch_is_where_git_was_last_seen() -> None:
    story = asked()
    story.run("git commit -am 'Retry uploads'", "[fix/retry 1a2b3c4] Retry uploads\n 1 file changed")
    story.run("git checkout feature/cart", "Switched to branch 'feature/cart'")
    assert "on feature/cart" in state(story)


def test_a_merge_that_is_not_ended_is_told() -> None:
    story = asked()
    story.run("git merge origin/main", "CONFLICT (content): Merge conflict in src/upload.py", failed=True)
    assert "a merge or rebase is in progress" in state(story)
    story.run("git merge --abort")
    assert "in progress" not in state(story)


def test_each_repository_has_its_last_commit() -> None:
    story = asked()
    story.run("cd ~/lore && git commit -am 'Rename'", "[main 1111111] Rename\n 1 file changed")
    story.run("cd ~/neo && git commit -am 'Promote'", "[main 2222222] Promote\n 1 file changed")
    story.run("cd ~/neo && git push", "To github.com:x/neo.git")
    said = state(story)
    assert 'in ~/lore 1111111 "Rename" on main, not pushed yet' in said
    assert 'in ~/neo 2222222 "Promote" on main, pushed' in said


def test_commits_by_jj_and_a_pull_request_that_was_merged() -> None:
    story = asked()
    story.run('jj commit -m "Retry uploads"', "Working copy now at: abc")
    story.run("jj git push", "Changes to push to origin")
    story.run("gh pr merge 41 --squash", "Merged")
    assert "Retry uploads" in state(story) and "pushed" in state(story) and "pull request #41 merged" in state(story)


def test_a_failed_check_says_why_and_not_only_which() -> None:
    story = asked()
    said = "--- FAIL: TestRetry (0.00s)\n    upload_test.go:41: got 3 tries, want 5\nFAIL"
    story.run("go test ./...", said, failed=True)
    assert "TestRetry" in state(story) and "want 5" in state(story)


def test_paths_are_told_as_one_tree() -> None:
    assert tree(["src/a.py", "src/b.py", "c.md", "docs/d.md"]) == "src/{a.py, b.py}, c.md, docs/d.md"
    assert tree(["x/src/a.py", "x/src/in/b.py", "x/src/in/c.py"]) == "x/src/{a.py, in/{b.py, c.py}}"
    assert tree(["/srv/a.py", "~/b.py", "~/b.py/c"]) == "/srv/a.py, ~/{b.py, b.py/c}"


def test_nobody_misses_a_build_of_pages() -> None:
    story = asked()
    story.edit("/srv/app/docs/retry.md", "a", "b")
    assert "retry.md" in state(story) and "no test" not in state(story)


def test_commits_that_others_made_are_seen_where_git_shows_them() -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    story.run("git log --oneline -3", "1a2b3c4 Retry uploads\n0000000 Begin")
    assert 'newest commit in the log 1a2b3c4 "Retry uploads"' in state(story)
    story.run("git status", "On branch main\nnothing to commit, working tree clean")
    assert "nothing uncommitted" in state(story) and "upload.py" not in state(story)
    story.edit("/srv/app/pool.py", "a", "b")
    assert "uncommitted edits: /srv/app/pool.py" in state(story) and "upload.py" not in state(story)


def test_the_log_of_before_the_work_tells_of_no_commit() -> None:
    story = asked()
    story.run("git log --oneline -3", "1a2b3c4 Retry uploads")
    story.edit(FILE, "a", "b")
    assert "1a2b3c4" not in state(story)


def test_that_only_documents_were_edited() -> None:
    story = asked()
    story.edit("/srv/app/docs/design.md", "a", "b")
    assert "no code" in state(story)
    story.call("Task", "It is large.", prompt="Look around.", subagent_type="Explore")
    assert "no code" in state(story)
    story.call("Task", "Done.", prompt="Write the uploader.", subagent_type="general-purpose")
    assert "no code" not in state(story), "nobody saw what the subagent edited"
    story.edit(FILE, "a", "b")
    assert "no code" not in state(story)


@pytest.mark.parametrize(
    ("command", "said", "failed", "told"),
    [
        (
            "go test ./x -run TestRetry",
            "--- FAIL: TestRetry (0.00s)\nFAIL",
            True,
            "`go test ./x -run TestRetry` failed",
        ),
        ("go test ./x", "ok  \tx.org/app/cart\t0.3s", False, "`go test ./x` passed"),
        ("pytest -q", "31 passed in 2.0s", False, "`pytest -q` passed: 31 passed"),
    ],
)
def test_a_check_is_told_without_what_says_nothing(command: str, said: str, failed: bool, told: str) -> None:
    story = asked()
    story.run(command, said, failed=failed)
    assert state(story).endswith(told)


def test_an_edit_whose_end_nobody_saw_was_being_written() -> None:
    story = asked()
    story.edit(FILE, "a", "b")
    story.run("git commit -am 'Retry uploads'", "[fix/retry 1a2b3c4] Retry uploads\n 1 file changed")
    assert "no edits since" in state(story)
    story.call("Write", None, file_path="/srv/app/docs/plan.md", content="# Plan")
    assert "/srv/app/docs/plan.md was being written" in state(story) and "no edits since" not in state(story)
    story.prompt("Stop, leave the plan.")
    assert "being written" not in state(story)
