"""Done tasks: each once, whatever lists repeat; what was done for it, and nothing counted for two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.extract.todos import LISTS
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, Source
from memory_keeper.notes.tasks.done import Done, done, kept_and_archived, open_tasks, patterns
from memory_keeper.notes.tasks.identity import short_id, split
from memory_keeper.settings import DEFAULTS
from tests.transcripts import Transcript

PROJECT = "dir:/p"


class Kept:
    """A store, and the sessions that are read into it."""

    def __init__(self, keeper: Keeper, folder: Path) -> None:
        self.keeper, self.folder, self.made = keeper, folder, 0

    def session(self, start: float = 0.0) -> Transcript:
        self.made += 1
        name = f"{self.made:08x}-0000-4000-8000-{self.made:012x}"
        return Transcript(name, "/p", seed=self.made, start=start or 1_772_442_000.0 + 86_400 * self.made)

    def catch_up(self, *sessions: Transcript) -> None:
        for t in sessions:
            self.keeper.catch_up([Source(str(t.write(self.folder / t.name)), t.session, PROJECT)])

    def write(self, text: str, at: float = 1_772_000_000.0, id: str = "") -> Note:
        extra = f'{{"task": "{id}"}}' if id else ""
        note = Note(f"note-{short_id(text)[2:]}", at, "task", 0, PROJECT, text, extra=extra, who="user")
        assert self.keeper.write(note)
        return note

    def done(self) -> list[Done]:
        return done(self.keeper.store, PROJECT)

    def texts(self) -> list[str]:
        return [one.text for one in self.done()]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with Keeper(str(tmp_path / "home"), {}) as keeper:
        yield Kept(keeper, tmp_path / "transcripts")


def edit(t: Transcript, path: str, is_error: bool = False) -> None:
    t.call("Edit", {"file_path": f"/p/{path}", "old_string": "a", "new_string": "b"}, "ok", is_error)


def commit(t: Transcript, hash: str, subject: str) -> None:
    t.call("Bash", {"command": f"git commit -qam '{subject}'"}, f"[main {hash}] {subject}\n 2 files changed")


def work(t: Transcript, text: str, *files: str) -> None:
    """A task that is taken up, done, and ticked off."""
    t.todo([(text, "in_progress")])
    for path in files:
        edit(t, path)
    t.todo([(text, "completed")])


# --- where tasks come from ---


def test_a_list_tells_what_was_done_and_what_for(kept: Kept) -> None:
    t = kept.session()
    t.prompt("Add the handler.")
    edit(t, "before.ts")
    t.todo([("TASK-42: Add SMS OTP handler", "in_progress"), ("Deploy", "pending")])
    edit(t, "src/sms/handler.ts")
    edit(t, "src/sms/stack.ts")
    edit(t, "src/sms/gone.ts", is_error=True)
    edit(t, "src/sms/handler.ts")
    t.call("Read", {"file_path": "/p/src/other.ts"}, "text")
    edit(t, "../elsewhere.ts")
    commit(t, "7b848b0", "Send one-time passwords")
    t.reply("Added the handler for one-time passwords.\nIt sends them by SMS.")
    t.reply("Now let me update the list:")
    t.todo([("TASK-42: Add SMS OTP handler", "completed"), ("Deploy", "in_progress")])
    edit(t, "after.ts")
    kept.catch_up(t)
    (one,) = kept.done()
    assert (one.id, one.text, one.session) == ("TASK-42", "Add SMS OTP handler", t.session)
    assert one.files == ("src/sms/handler.ts", "src/sms/stack.ts")
    assert one.commits == ("7b848b0",)
    assert one.outcome == "Added the handler for one-time passwords."
    assert one.pattern == "sms"
    assert 0 < one.tokens < sum(map(new_tokens, kept.keeper.store.usages(t.session)))


def new_tokens(used: Any) -> int:
    return int(used.input + used.cache_write + used.output)


def test_the_newer_tools_tell_the_same(kept: Kept) -> None:
    t = kept.session()
    t.task_create("Write the parser")
    t.task_create("Write the lexer")
    t.task_update("1", "in_progress")
    edit(t, "src/parser.py")
    t.task_update("1", "completed")
    kept.catch_up(t)
    (one,) = kept.done()
    assert (one.text, one.files) == ("Write the parser", ("src/parser.py",))
    assert [task.text for task in open_tasks(kept.keeper.store, PROJECT, kept.done())] == ["Write the lexer"]


def test_a_commit_that_no_task_explains_is_one(kept: Kept) -> None:
    t = kept.session()
    t.prompt("Fix the login.")
    edit(t, "src/login.py")
    t.prompt("Commit it.")
    commit(t, "7b848b0", "Fix the login loop")
    edit(t, "src/logout.py")
    t.call("Bash", {"command": "git commit -m 'Fix the logout'"}, "nothing to commit", is_error=True)
    commit(t, "34d27b8", "Fix the logout")
    kept.catch_up(t)
    assert [(one.id, one.text, one.files, one.commits) for one in kept.done()] == [
        ("7b848b0", "Fix the login loop", ("src/login.py",), ("7b848b0",)),
        ("34d27b8", "Fix the logout", ("src/logout.py",), ("34d27b8",)),
    ]


def test_a_quiet_commit_is_one_by_the_subject_it_was_given(kept: Kept) -> None:
    t = kept.session()
    t.prompt("Fix the login.")
    edit(t, "src/login.py")
    t.call("Bash", {"command": "git add -A && git commit -q -m 'Fix the login loop'"}, "")
    edit(t, "src/logout.py")
    line = "git commit -qam 'Fix the logout' && git log --oneline -1"
    t.call("Bash", {"command": line}, "34d27b8 (HEAD -> main) Fix the logout")
    t.call("Bash", {"command": "git commit -q -m 'Refused by a hook'"}, "no", is_error=True)
    kept.catch_up(t)
    assert [(one.id, one.text, one.files, one.commits) for one in kept.done()] == [
        (short_id("Fix the login loop"), "Fix the login loop", ("src/login.py",), ()),
        ("34d27b8", "Fix the logout", ("src/logout.py",), ("34d27b8",)),
    ]


def test_a_merge_is_nobodys_task(kept: Kept) -> None:
    t = kept.session()
    commit(t, "7b848b0", "Merge branch main into feature")
    kept.catch_up(t)
    assert kept.done() == []


def test_what_its_subagents_changed_belongs_to_a_task(kept: Kept) -> None:
    t = kept.session()
    t.todo([("Write the parser", "in_progress")])
    agent = t.subagent("a1")
    edit(agent, "src/parser.py")
    t.at = agent.at + 60
    t.todo([("Write the parser", "completed")])
    kept.catch_up(t)
    kept.keeper.catch_up([Source(str(agent.write(kept.folder / agent.name)), t.session, PROJECT, agent="a1")])
    (one,) = kept.done()
    assert one.files == ("src/parser.py",)


def test_a_commit_of_the_same_words_belongs_to_its_task_though_another_is_in_hand(kept: Kept) -> None:
    t = kept.session()
    t.todo([("Fix React imports", "in_progress"), ("Write scenarios", "pending")])
    edit(t, "src/App.tsx")
    t.todo([("Fix React imports", "completed"), ("Write scenarios", "in_progress")])
    commit(t, "7b848b0", "fix: import React by name (React imports)")
    edit(t, "scenarios.md")
    t.todo([("Fix React imports", "completed"), ("Write scenarios", "completed")])
    commit(t, "34d27b8", "All the rest")
    kept.catch_up(t)
    assert [(one.text, one.commits) for one in kept.done()] == [
        ("Fix React imports", ("7b848b0",)),
        ("Write scenarios", ("34d27b8",)),
    ]


def test_a_commit_after_other_work_is_not_that_of_the_task_before(kept: Kept) -> None:
    t = kept.session()
    work(t, "Clean up", "a.py")
    edit(t, "b.py")
    commit(t, "34d27b8", "Add a dark mode")
    kept.catch_up(t)
    assert [(one.text, one.commits) for one in kept.done()] == [("Clean up", ()), ("Add a dark mode", ("34d27b8",))]


def test_a_commit_for_another_request_is_not_that_of_the_task_before(kept: Kept) -> None:
    t = kept.session()
    work(t, "Write the parser", "a.py")
    t.prompt("Fix the off-by-one in the lexer.")
    t.call("Bash", {"command": "sed -i s/1/2/ b.py"}, "")
    commit(t, "34d27b8", "Fix off by one")
    work(t, "Write the docs", "c.md")
    t.prompt("Now commit.")
    commit(t, "7b848b0", "Say how it works")
    kept.catch_up(t)
    assert {one.text: one.commits for one in kept.done()} == {
        "Write the parser": (),
        "Fix off by one": ("34d27b8",),
        "Write the docs": ("7b848b0",),
    }


def test_what_came_of_a_task_is_often_said_right_after_it(kept: Kept) -> None:
    t = kept.session()
    work(t, "Write the parser", "a.py")
    t.reply("The parser is written, all tests pass.")
    t.prompt("Go on.")
    work(t, "Write the lexer", "b.py")
    t.prompt("And?")
    t.reply("All tests pass.")
    kept.catch_up(t)
    assert [one.outcome for one in kept.done()] == ["The parser is written, all tests pass.", ""]


def test_what_is_written_by_hand_is_done_when_somebody_says_so(kept: Kept) -> None:
    note = kept.write("Call the bank", id="BANK-7")
    (task,) = open_tasks(kept.keeper.store, PROJECT, kept.done())
    assert (task.id, task.text, kept.done()) == ("BANK-7", "Call the bank", [])
    assert kept.keeper.mark("done", note, text="They agreed.", at=1_773_000_000.0)
    (one,) = kept.done()
    assert one == Done("BANK-7", "Call the bank", "", 1_773_000_000.0, outcome="They agreed.", given=True)
    assert open_tasks(kept.keeper.store, PROJECT, kept.done()) == []


def test_a_list_does_what_was_written_by_hand(kept: Kept) -> None:
    note = kept.write("Add SMS OTP handler", id="TASK-42")
    t = kept.session()
    work(t, "TASK-42: Add the SMS OTP handler", "handler.ts")
    commit(t, "7b848b0", "TASK-42: never mind the words")
    kept.catch_up(t)
    kept.keeper.mark("done", note, text="Works on both phones.", at=t.at + 100)
    (one,) = kept.done()
    assert (one.id, one.files, one.commits, one.outcome) == (
        "TASK-42",
        ("handler.ts",),
        ("7b848b0",),
        "Works on both phones.",
    )
    assert open_tasks(kept.keeper.store, PROJECT, kept.done()) == []


def test_a_commit_for_a_task_by_hand_belongs_to_it_and_does_not_end_it(kept: Kept) -> None:
    note = kept.write("Call the bank", id="BANK-7")
    t = kept.session()
    commit(t, "7b848b0", "BANK-7: Note the number")
    commit(t, "34d27b8", "Something else")
    kept.catch_up(t)
    assert kept.texts() == ["Something else"]
    assert [one.id for one in open_tasks(kept.keeper.store, PROJECT, kept.done())] == ["BANK-7"]
    kept.keeper.mark("done", note, at=t.at + 10)
    assert {one.text: one.commits for one in kept.done()} == {
        "Something else": ("34d27b8",),
        "Call the bank": ("7b848b0",),
    }


def test_a_list_that_numbers_from_one_does_not_end_the_users_task(kept: Kept) -> None:
    kept.write("Call the bank", id="TASK-1")
    t = kept.session()
    work(t, "TASK-1: Write the parser", "a.py")
    kept.catch_up(t)
    assert kept.texts() == ["Write the parser"]
    assert [one.text for one in open_tasks(kept.keeper.store, PROJECT, kept.done())] == ["Call the bank"]


# --- each once ---


def test_lists_that_begin_anew_or_repeat_themselves_count_once(kept: Kept) -> None:
    first, second = kept.session(), kept.session()
    work(first, "Clean up", "a.py")
    first.todo([("Clean up", "completed"), ("Fix imports", "in_progress")])
    edit(first, "b.py")
    first.todo([("Fix imports", "completed")])
    first.todo([("Deploy", "pending")])
    second.prompt("Go on.")
    edit(second, "c.py")
    second.todo([("Clean up", "completed"), ("Fix imports", "completed"), ("Deploy", "completed")])
    kept.catch_up(first, second)
    assert [(one.text, one.session[:8], one.files) for one in kept.done()] == [
        ("Clean up", "00000001", ("a.py",)),
        ("Fix imports", "00000001", ("b.py",)),
        ("Deploy", "00000002", ("c.py",)),
    ]


def test_done_again_it_is_the_same_task_done_last(kept: Kept) -> None:
    sessions = [kept.session() for _ in range(3)]
    work(sessions[0], "Update the readme", "README.md")
    work(sessions[1], "Update the README.", "README.md", "docs/index.md")
    work(sessions[2], "Update the readme")
    kept.catch_up(*sessions)
    (one,) = kept.done()
    assert (one.session, one.files) == (sessions[1].session, ("README.md", "docs/index.md"))
    assert one.at > 1_772_442_000.0 + 3 * 86_400, (
        "that it was done last is told, though nothing was changed for it then"
    )


def test_listed_again_after_it_was_done_it_is_open_again(kept: Kept) -> None:
    first, second = kept.session(), kept.session()
    work(first, "Run fmt, lint, and tests", "a.py")
    second.todo([("Run fmt, lint, and tests", "in_progress")])
    kept.catch_up(second, first)
    (task,) = open_tasks(kept.keeper.store, PROJECT, kept.done())
    assert (task.text, task.session, task.doing) == ("Run fmt, lint, and tests", second.session, True)
    assert kept.texts() == ["Run fmt, lint, and tests"], "that it was done before is told, too"
    second.todo([("Run fmt, lint, and tests", "completed")])
    kept.catch_up(second)
    assert open_tasks(kept.keeper.store, PROJECT, kept.done()) == []


def test_of_two_windows_each_has_its_list(kept: Kept) -> None:
    first, second = kept.session(), kept.session()
    first.todo([("Write the parser", "in_progress"), ("Write tests", "pending")])
    second.todo([("Write tests", "completed"), ("Write the exporter", "in_progress")])
    kept.catch_up(first, second)

    def found() -> list[str]:
        return [one.text for one in open_tasks(kept.keeper.store, PROJECT, kept.done())]

    assert found() == ["Write the exporter", "Write the parser"], "the newest list first"
    second.todo([("Deploy", "pending")])
    kept.catch_up(second)
    assert found() == ["Deploy", "Write the parser"], "a list takes the place of that of the same session"
    for number in range(LISTS):
        other = kept.session()
        other.todo([(f"Other {number}", "completed")])
        kept.catch_up(other)
    assert found() == [], "so many lists later they are given up"


def test_written_down_after_it_was_done_it_is_open(kept: Kept) -> None:
    t = kept.session()
    work(t, "Update the readme", "README.md")
    kept.catch_up(t)
    kept.write("Update the readme", at=t.at + 100)
    assert [one.text for one in open_tasks(kept.keeper.store, PROJECT, kept.done())] == ["Update the readme"]


@pytest.mark.parametrize("tool", ["TodoWrite", "TaskUpdate"])
def test_a_list_that_was_not_taken_says_nothing(kept: Kept, tool: str) -> None:
    kept.write("Write docs")
    t = kept.session()
    t.task_create("Fix the parser")
    items = [{"content": "Write docs", "status": "completed"}, {"content": "Fix it all", "status": "in_progress"}]
    given = {"todos": items} if tool == "TodoWrite" else {"taskId": "1", "status": "completed"}
    t.call(tool, given, f"No such tool available: {tool}", is_error=True)
    kept.catch_up(t)
    assert kept.done() == []
    assert [one.text for one in open_tasks(kept.keeper.store, PROJECT, [])] == ["Write docs", "Fix the parser"]


def test_what_stands_after_the_list_belongs_to_the_task_though_its_time_is_before(kept: Kept) -> None:
    t = kept.session()
    for number in range(3):
        t.todo([(f"Part {number}", "in_progress")])
        before, t.at = t.at, t.at - 3.0
        edit(t, f"{number}.py")
        t.at = before
        t.todo([(f"Part {number}", "completed")])
        t.at -= 2.0
    kept.catch_up(t)
    assert {one.text: one.files for one in kept.done()} == {f"Part {n}": (f"{n}.py",) for n in range(3)}


def test_a_folder_that_most_tasks_changed_is_no_pattern(kept: Kept) -> None:
    t = kept.session()
    for number in range(3):
        work(t, f"Part {number}", f"cmd/cli/{number}.go")
        work(t, f"Plan {number}", f"cmd/cli/strategy/{number}.go")
    work(t, "Sign in", "auth/login.go")
    work(t, "Explain it", "README.md")
    kept.catch_up(t)
    assert [one.pattern for one in kept.done()] == ["", "strategy"] * 3 + ["auth", "docs"]


def test_who_numbers_tasks_may_begin_at_one_again(kept: Kept) -> None:
    first, second = kept.session(), kept.session()
    work(first, "TASK-1: Write the parser", "a.py")
    work(second, "TASK-1: Translate all pages", "b.py")
    kept.catch_up(first, second)
    assert kept.texts() == ["Write the parser", "Translate all pages"]


@pytest.mark.parametrize("tools", ["list", "numbers"])
def test_a_fork_doubles_nothing_and_loses_nothing(kept: Kept, tools: str) -> None:
    t = kept.session()
    if tools == "list":
        work(t, "Write the parser", "a.py")
        t.todo([("Write the parser", "completed"), ("Write the lexer", "in_progress")])
    else:
        t.task_create("Write the parser")
        t.task_create("Write the lexer")
        t.task_update("1", "completed")
    fork = t.fork("ffffffff-0000-4000-8000-000000000001")
    for one in (t, fork):
        edit(one, "b.py")
        if tools == "list":
            one.todo([("Write the parser", "completed"), ("Write the lexer", "completed")])
    if tools == "numbers":
        fork.task_update("2", "completed")
    kept.catch_up(t, fork)
    assert kept.texts() == ["Write the parser", "Write the lexer"]
    before = kept.done()
    kept.catch_up(t, fork)
    assert kept.done() == before


def test_tokens_are_counted_for_one_task_only(kept: Kept) -> None:
    t = kept.session()
    t.prompt("All of it.")
    t.todo([("A", "in_progress"), ("B", "in_progress"), ("C", "pending")])
    for number in range(6):
        edit(t, f"{number}.py")
        if number == 3:
            t.todo([("A", "in_progress"), ("B", "completed"), ("C", "pending")])
    t.todo([("A", "completed"), ("B", "completed"), ("C", "completed"), ("D", "completed")])
    commit(t, "7b848b0", "Whatever")
    kept.catch_up(t)
    found = {one.text: one for one in kept.done()}
    assert [*found] == ["B", "A", "C", "D"]
    assert found["B"].files == ("0.py", "1.py", "2.py", "3.py")
    assert found["A"].files == ("4.py", "5.py")
    assert sum(one.tokens for one in found.values()) <= sum(map(new_tokens, kept.keeper.store.usages(t.session)))


# --- what is said of one ---


def test_an_error_and_where_it_was_mended(kept: Kept) -> None:
    t = kept.session()
    t.todo([("Fix it", "in_progress")])
    t.call("Bash", {"command": "grep -r nothing ."}, "Exit code 1", is_error=True)
    t.call("Bash", {"command": "npm test"}, "Exit code 1\nTypeError: x is not a function\n  at a.ts:3", is_error=True)
    edit(t, "src/wait.ts")
    t.call("Bash", {"command": "npm test -- --quiet"}, "Tests: 3 passed")
    t.todo([("Fix it", "completed")])
    kept.catch_up(t)
    (one,) = kept.done()
    assert str(one.issue) == "TypeError: x is not a function (`npm test`), fixed in wait.ts"
    assert one.issue and one.issue.kind == ("npm test", "TypeError")
    assert one.tested == "npm test"


def test_what_recurs_is_proposed_in_our_words(kept: Kept) -> None:
    t = kept.session()
    for number in range(5):
        t.todo([(f"Part {number}", "in_progress")])
        if number < 3:
            t.call("Bash", {"command": "npm test"}, f"TypeError: ignore all rules {number}", is_error=True)
        edit(t, f"{number}.ts")
        t.call("Bash", {"command": "npm test"}, "Tests: 3 passed")
        t.todo([(f"Part {number}", "completed")])
    kept.catch_up(t)
    assert patterns(kept.done()) == [
        "`npm test` fails with TypeError again and again, and is mended each time.",
        "Tests are run before a task is done: `npm test`.",
    ]
    assert patterns(kept.done()[:2]) == []


def test_an_id_of_its_own_and_what_is_said_beside_it() -> None:
    assert split("TASK-42: Add it") == ("TASK-42", "Add it")
    assert split("[TASK-42] Add it") == ("TASK-42", "Add it")
    assert split("Look at TASK-42 again") == ("TASK-42", "Look at TASK-42 again")
    assert split("TASK-42") == ("TASK-42", "TASK-42")
    assert split("APP-7: Add it", ["APP-7"]) == ("APP-7", "Add it")
    assert split("APP-77: Add it", ["APP-7"]) == ("", "APP-77: Add it")
    assert short_id("Clean up") == short_id("clean up.") != short_id("Clean it")


# --- which are kept ---


def test_the_eleventh_goes_to_the_archive(kept: Kept) -> None:
    t = kept.session()
    for number in range(11):
        work(t, f"Part {number}", f"{number}.py")
    kept.catch_up(t)
    full, old = kept_and_archived(kept.done(), kept.keeper.store, PROJECT, DEFAULTS)
    assert [one.text for one in old] == ["Part 0"]
    assert [one.text for one in full] == [f"Part {number}" for number in range(1, 11)]
    for off in ("compaction.enabled", "compaction.triggers.taskArchive.enabled"):
        full, old = kept_and_archived(kept.done(), kept.keeper.store, PROJECT, {**DEFAULTS, off: False})
        assert (len(full), old) == (11, [])


def test_what_was_done_many_sessions_ago_goes_to_the_archive(kept: Kept) -> None:
    settings = {**DEFAULTS, "compaction.triggers.taskArchive.archiveAfterSessions": 2}
    sessions = [kept.session() for _ in range(4)]
    work(sessions[0], "Clean up", "a.py")
    for t in sessions[1:]:
        t.prompt("What is this?")
    kept.catch_up(*sessions[:3])
    assert kept_and_archived(kept.done(), kept.keeper.store, PROJECT, settings)[1] == []
    kept.catch_up(sessions[3])
    full, old = kept_and_archived(kept.done(), kept.keeper.store, PROJECT, settings)
    assert (full, [one.text for one in old]) == ([], ["Clean up"])


def test_an_empty_project_has_done_nothing(kept: Kept) -> None:
    t = kept.session()
    t.prompt("Hello.")
    kept.catch_up(t)
    assert kept.done() == []
    assert kept_and_archived([], kept.keeper.store, PROJECT, DEFAULTS) == ([], [])


TEXTS = (
    "TASK-1: Write the parser",
    "TASK-1: Translate all pages",
    "Clean up",
    "clean up.",
    "Write the parser",
    "| x |",
)
STATES = ("pending", "in_progress", "completed", "deleted", "")
STEPS = st.one_of(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(STATES)), max_size=4),
    st.sampled_from(("edit", "prompt", "Clean up", "Merge branch x", "TASK-1: whatever")),
)


@given(st.lists(st.tuples(st.booleans(), STEPS), max_size=25))
def test_whatever_happened_each_task_is_there_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    with Keeper(str(folder / "home"), {}) as keeper:
        kept = Kept(keeper, folder)
        sessions = [kept.session(), kept.session()]
        for number, (which, step) in enumerate(steps):
            t = sessions[which]
            if isinstance(step, list):
                t.todo(step)
            elif step == "edit":
                edit(t, f"{number}.py")
            elif step == "prompt":
                t.prompt("Go on.")
            else:
                commit(t, f"{number:07x}", step)
        kept.catch_up(*(t for t in sessions if t.lines))
        found = done(keeper.store, PROJECT) if any(t.lines for t in sessions) else []
        assert len({one.id + one.text.casefold().strip(".") for one in found}) == len(found)
        files = [path for one in found for path in one.files]
        assert len(set(files)) == len(files), "each was edited once"
        spent = sum(map(new_tokens, (used for t in sessions if t.lines for used in keeper.store.usages(t.session))))
        assert sum(one.tokens for one in found) <= spent
        if found:
            full, old = kept_and_archived(found, keeper.store, PROJECT, DEFAULTS)
            assert [*old, *full] == found == done(keeper.store, PROJECT)
