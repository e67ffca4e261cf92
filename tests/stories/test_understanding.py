"""What whoever takes over has to understand, and what handoffs once lost: one story for each loss, by its number.

Loss 12 has more of its stories in `test_once` and `test_rules`, loss 13, one wish in several wordings, all of them in
`test_observations`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

import pytest

from memory_keeper.jobs.summarize import distil, outline_project
from memory_keeper.keeper import Keeper
from memory_keeper.model import Source
from memory_keeper.project_settings import Settings
from memory_keeper.store.home import Lock
from memory_keeper.text import tokens
from tests.machine import Machine
from tests.rows import rows
from tests.transcripts import Transcript

SESSION = "5e551011-0000-4000-8000-000000000001"
REQUEST = "Add retry with back-off to the uploader in src/upload.py, at most five tries, and log each try."
OPTIONS = (
    "I see three ways:\n\n1. Keep the lock in Redis.\n2. Use an advisory lock of Postgres.\n"
    "3. Add a lease column to the jobs table.\n\nWhich of them should I take?"
)
GOAL = re.compile(r"^\| (?:Goal|First asked|Asked last)[^:]*: (.*)$", re.M)


class Desk:
    """A session in a project, and what is handed over of it."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "work"
        self.folder.mkdir()
        self.t = Transcript(SESSION, str(self.folder))

    def edit(self, path: str, new: str = "b") -> None:
        given = {"file_path": f"{self.folder}/{path}", "old_string": "a", "new_string": new}
        self.t.call("Edit", given, "ok")

    def run(self, command: str, said: str = "", failed: bool = False) -> None:
        self.t.call("Bash", {"command": command}, said, failed)

    def other_work(self, turns: int = 3) -> None:
        """Something else, so that what came before it is not told as the last steps."""
        for number, thing in enumerate(("label printer", "cash drawer", "bar code reader", "scale", "display")[:turns]):
            self.t.prompt(f"Now make the {thing} print its own serial number at start, as the others do.")
            self.edit(f"src/device_{number}.py", f"def serial_{number}(): pass")
            for step in range(8):
                self.t.call("Read", {"file_path": f"{self.folder}/src/part_{step}.py"}, "code")
            self.t.reply(f"The {thing} prints its serial number at start.")

    def handoff(self, budget: int = 1000) -> str:
        path = self.t.write(self.root / f"{SESSION}.jsonl")
        with Keeper(str(self.root / "keeper"), {}) as keeper:
            keeper.catch_up([Source(str(path), SESSION, keeper.project(str(self.folder), change=True))])
            return keeper.brief("handoff", keeper.view("", "", of=SESSION), budget).text

    def outline(self) -> tuple[str, dict[str, Any]]:
        """What the notes of it say, and the outline above them."""
        path = self.t.write(self.root / f"{SESSION}.jsonl")
        with Keeper(str(self.root / "keeper"), {}) as keeper:
            project = keeper.project(str(self.folder), change=True)
            keeper.catch_up([Source(str(path), SESSION, project)])
            distil(keeper, time())
            with Lock(keeper.home, 5.0, "distil"):
                (made,) = outline_project(keeper, project, Settings(keeper).of(project), everything=True)
            notes = "\n".join(note.text for note in keeper.store.notes(project, 1))
            return f"{notes}\n{made.text}", json.loads(made.extra)["outline"]


@pytest.fixture
def desk(tmp_path: Path, private_home: Path) -> Desk:
    return Desk(tmp_path)


def goals(text: str) -> str:
    """What is told as the goal, first or last."""
    return " ".join(GOAL.findall(text))


# --- 1: the goal ------------------------------------------------------------------------------------------------------

NO_GOALS = {
    "a nod": "yes",
    "an answer": "the second one sounds fine",
    "an answer with a reason": "go with option 2 please, we already have it in the cart service",
    "a remark": "oh whoops, accidentally switched branches",
    "JSON": '{"type":"idle_notification","from":"worker-2","timestamp":"2026-03-02T09:00:00Z"}',
    "a log": "2026-03-02 09:00:01 ERROR upload failed for part 12\n2026-03-02 09:00:02 ERROR upload failed for part 13",
}


@pytest.mark.parametrize("name", NO_GOALS)
def test_loss_1_the_goal_is_no_answer_nod_paste_or_json(desk: Desk, name: str) -> None:
    desk.t.prompt(REQUEST)
    desk.t.reply(OPTIONS)
    desk.t.prompt(NO_GOALS[name])
    desk.edit("src/upload.py")
    desk.t.reply("It is in place.")
    told = goals(desk.handoff())
    assert REQUEST in told
    assert NO_GOALS[name][:12] not in told and "…" not in told


def test_loss_1_the_first_request_and_the_title_are_told(desk: Desk) -> None:
    desk.t._bare("custom-title", customTitle="Retry for uploads", sessionId=SESSION)
    desk.t.prompt(REQUEST)
    desk.t.reply("It is in place.")
    desk.other_work(5)
    text = desk.handoff()
    assert REQUEST in goals(text) and "display" in goals(text)
    assert "Retry for uploads" in text


# --- 2: causes and conclusions ----------------------------------------------------------------------------------------

CAUSE = "open_pool keeps a connection for each part and never gives it back"


def test_loss_2_cause_and_conclusion_are_told_not_what_announces_them(desk: Desk) -> None:
    desk.t.prompt("Uploads hang on large files since the last release, find out why and mend it.")
    desk.t.call("Grep", {"pattern": "upload_part", "path": str(desk.folder)}, "src/upload.py")
    desk.t.reply("Now I understand the full picture.")
    desk.edit("src/pool.py")
    desk.t.reply(
        f"The root cause is that {CAUSE}, so after ten parts every upload waits.\n\n| Issue | Status |\n|---|---|\n"
        "| pool leak | fixed |\n| hang on large files | fixed |\n\nDoes this approach work for you?"
    )
    desk.other_work()
    text = desk.handoff()
    assert CAUSE in text
    assert re.search(r"pool leak.{0,5}fixed", text) and re.search(r"hang on large files.{0,5}fixed", text)
    assert "Now I understand the full picture" not in text


# --- 3: plans ---------------------------------------------------------------------------------------------------------

STEPS = (
    "Write tests for quoted fields",
    "Wire the importer into the command line",
    "Document the option in the README",
)


@pytest.mark.parametrize("heading", ["## Next steps", "Remaining:", "**Still to do:**"])
def test_loss_3_all_items_of_a_plan_are_told_after_a_question_about_something_else(desk: Desk, heading: str) -> None:
    desk.t.prompt("Build the importer for the catalogue and tell me what is left when you are through.")
    desk.edit("src/importer.py")
    items = "\n".join(f"{number}. {step}." for number, step in enumerate(STEPS, 1))
    desk.t.reply(f"The importer reads all rows.\n\n{heading}\n{items}\n")
    desk.t.prompt("Which encoding does it read?")
    desk.t.reply("UTF-8, with a fallback to Latin-1.")
    text = desk.handoff()
    assert all(step in text for step in STEPS)


def test_loss_3_what_is_done_in_progress_and_open_is_told_for_each_task(desk: Desk) -> None:
    desk.t.prompt("Build the importer for the catalogue, and keep a list of what is to be done.")
    tasks = [("Write the reader", "completed"), ("Write the tests", "in_progress"), ("Write the page", "pending")]
    desk.t.todo(tasks)
    desk.t.reply("I go on with the tests.")
    text = desk.handoff()
    assert "1 of 3" in text and "Write the tests (in progress)" in text and "Write the page (open)" in text


# --- 4: decisions -----------------------------------------------------------------------------------------------------


@rows("answer", "proposals")
def test_loss_4_an_answer_is_told_with_the_proposal_it_accepts(desk: Desk, answer: str, proposals: list[str]) -> None:
    desk.t.prompt(REQUEST)
    desk.t.reply(OPTIONS)
    desk.t.prompt(answer)
    desk.edit("src/lock.py")
    desk.t.reply("It is in place.")
    desk.other_work(1)
    (line,) = [line for line in desk.handoff().splitlines() if f'"{answer}"' in line]
    assert all(proposal in line for proposal in proposals)


def test_loss_4_what_the_next_prompt_overturned_is_not_told_as_decided(desk: Desk) -> None:
    desk.t.prompt(REQUEST)
    desk.t.reply("I decided to use tenacity because it has back-off built in.")
    desk.t.prompt("no, drop tenacity again, we take no new dependencies. Write the loop by hand.")
    desk.edit("src/upload.py")
    desk.t.reply("The loop is in src/upload.py now.")
    text = desk.handoff()
    assert "no, drop tenacity again" in text
    for line in text.splitlines():
        if "decided to use tenacity" in line:
            assert re.search(r"decided to use tenacity[^|]*\([^)]*took back\)", line), line


# --- 5: errors --------------------------------------------------------------------------------------------------------


@rows("failed", "broader")
def test_loss_5_an_error_is_closed_by_a_broader_success(desk: Desk, failed: str, broader: str) -> None:
    desk.t.prompt(REQUEST)
    desk.run(failed, "--- FAIL: TestRetry (0.00s)\n    retry_test.go:41: want 5 tries, got 4\nFAIL", failed=True)
    desk.edit("src/upload.go")
    desk.run(broader, "ok  example.org/app/upload 0.41s\n214 passed in 3.2s")
    desk.t.reply("All of it passes.")
    desk.other_work(1)
    for line in desk.handoff().splitlines():
        if failed in line and "fail" in line.casefold():
            assert "fixed" in line, line


def test_loss_5_an_error_that_nothing_closes_is_told_as_open(desk: Desk) -> None:
    desk.t.prompt(REQUEST)
    desk.run("make package", "cp: cannot stat 'dist/app.whl': No such file or directory", failed=True)
    desk.t.reply("The package is not built yet.")
    text = desk.handoff()
    assert "make package" in text and "dist/app.whl" in text and "fixed" not in text


# --- 6: the user's words that are no prompt ---------------------------------------------------------------------------


def test_loss_6_what_was_typed_while_the_model_worked_is_told(desk: Desk) -> None:
    desk.t.prompt(REQUEST)
    desk.t.call("Read", {"file_path": f"{desk.folder}/src/upload.py"}, "code")
    desk.t.queue("the uploader in production runs on host ingest-3 behind nginx, not in the cluster")
    desk.edit("src/upload.py")
    desk.t.reply("It is in place.")
    desk.other_work()
    assert "in production runs on host ingest-3 behind nginx" in desk.handoff()


def test_loss_6_a_long_answer_to_a_question_is_told_with_the_question(desk: Desk) -> None:
    question = "Where should the retries be logged?"
    answer = (
        "To the audit table of the ledger database, because support searches there first; "
        + "the console is not kept, " * 12
    )
    desk.t.prompt(REQUEST)
    asked: list[dict[str, Any]] = [{"question": question, "header": "Log", "options": [], "multiSelect": False}]
    result = f'User has answered your questions: "{question}"="{answer}". You can now continue with these in mind.'
    desk.t.call("AskUserQuestion", {"questions": asked}, result)
    desk.edit("src/upload.py")
    desk.t.reply("It is in place.")
    desk.other_work(1)
    (line,) = [line for line in desk.handoff().splitlines() if "audit table of the ledger database" in line]
    assert question in line


# --- 7: commands ------------------------------------------------------------------------------------------------------


def test_loss_7_the_step_that_mattered_is_told(desk: Desk) -> None:
    desk.t.prompt(REQUEST)
    desk.run("cd services/ingest && . ./env.sh && make test-integration", "41 passed")
    desk.edit("src/upload.py")
    desk.t.reply("It is in place.")
    desk.other_work()
    text = desk.handoff()
    assert "make test-integration" in text
    assert not re.search(r"(?:worked|here)[^:]*:.*(?<!&& )\. \./env\.sh", text), (
        "as a command of its own it says nothing"
    )


def test_loss_7_settings_do_not_take_the_place_of_the_program(desk: Desk) -> None:
    desk.t.prompt(REQUEST)
    desk.run("LOG_LEVEL=debug DB_HOST=127.0.0.1 ./bin/replay --from 2026-01-01 orders", "replayed 12 orders")
    desk.t.reply("It is replayed.")
    assert "./bin/replay --from 2026-01-01 orders" in desk.handoff()


# --- 8: surroundings --------------------------------------------------------------------------------------------------


@rows("fact")
def test_loss_8_what_was_learnt_of_the_surroundings_is_told(desk: Desk, fact: str) -> None:
    desk.t.prompt("Get the integration tests of the ingest service to run on this machine.")
    desk.run("make integration", "docker: command not found\nmake: *** [integration] Error 127", failed=True)
    desk.t.reply("Docker is not installed on this machine, so the containers cannot be used here.")
    refused = 'psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused'
    desk.run("psql -h localhost -p 5432 -c 'select 1'", refused, failed=True)
    desk.t.reply("Postgres listens on port 5433 here, not on 5432.")
    desk.t.reply("The staging cluster is behind the office VPN and cannot be reached from here.")
    desk.run("PGPORT=5433 make integration-local", "ok\n18 passed in 9.1s")
    desk.t.reply("The integration tests run now.")
    desk.other_work()
    assert re.search(fact, desk.handoff())


# --- 9: verified, committed, pushed, where ----------------------------------------------------------------------------


def test_loss_9_the_state_says_branch_commit_push_pull_request_and_check(desk: Desk) -> None:
    desk.t.branch = "fix/retry"
    desk.t.prompt(REQUEST)
    desk.edit("src/upload.py")
    desk.run("pytest -q", "31 passed in 2.0s")
    desk.run("git add -A && git commit -m 'Retry uploads'", "[fix/retry 1a2b3c4] Retry uploads\n 1 file changed")
    desk.run("git push -u origin fix/retry", "To github.com:x/y.git\n * [new branch] fix/retry -> fix/retry")
    desk.run("gh pr create --fill", "https://github.com/x/y/pull/41")
    desk.edit("src/cart.py")
    desk.t.reply("The cart has to be changed as well.")
    (line,) = [line for line in desk.handoff().splitlines() if line.startswith("| State: ")]
    for said in (
        "fix/retry",
        "1a2b3c4",
        "pushed",
        "https://github.com/x/y/pull/41",
        "pytest -q",
        "31 passed",
        "cart.py",
    ):
        assert said in line
    assert "not pushed" not in line and "not run again" in line


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda desk: desk.edit("src/upload.py"), "no test or build was run"),
        (
            lambda desk: desk.run("git commit -am 'Retry uploads'", "[main 1a2b3c4] Retry uploads\n 1 file changed"),
            "not pushed",
        ),
        (lambda desk: desk.run("make test", "--- FAIL: TestRetry (0.00s)\nFAIL", failed=True), "failed"),
    ],
)
def test_loss_9_what_was_not_done_is_said_too(desk: Desk, work: Callable[[Desk], None], said: str) -> None:
    desk.t.prompt(REQUEST)
    work(desk)
    desk.t.reply("That is how it stands.")
    (line,) = [line for line in desk.handoff().splitlines() if line.startswith("| State: ")]
    assert said in line


# --- 10: notes and outlines -------------------------------------------------------------------------------------------


def test_loss_10_an_outline_has_titles_of_its_own_and_issues_that_are_open(desk: Desk) -> None:
    desk.t.lines.append({"type": "summary", "summary": "Vienna opera tickets", "leafUuid": "of-another-session"})
    desk.t.prompt("hi")
    desk.t.reply("Hello! What shall we do today?")
    desk.t.prompt(REQUEST)
    desk.run("ls src/uplaod", "ls: cannot access 'src/uplaod': No such file or directory", failed=True)
    desk.edit("src/upload.py", "def retry(): pass")
    desk.run("make license-check", "license-check failed after 1m1s", failed=True)
    desk.run("make license-check", "license-check pass 1m1s")
    desk.run("pytest -q tests/test_upload.py", "FAILED tests/test_upload.py::test_tries - assert 4 == 5", failed=True)
    desk.t.todo([("Add the retry", "completed"), ("Log each try", "in_progress")])
    desk.t.reply("The retry is in place; the log of each try is missing, and one test fails.")
    _, body = desk.outline()
    assert [theme["name"][:40] for theme in body["themes"]] == [REQUEST[:40]]
    issues = {one["issue"] for one in body["issues"] if one["status"] == "open"}
    assert any(issue.startswith("Log each try") for issue in issues)
    assert any("assert 4 == 5" in issue for issue in issues)
    assert len(issues) == 2
    assert "Vienna" not in json.dumps(body)


def test_loss_10_notes_and_outlines_are_sentences_and_not_lists_of_names(desk: Desk) -> None:
    desk.t.prompt(REQUEST)
    for number in range(30):
        desk.t.call(
            "Grep", {"pattern": f"backoffHandler{number}", "path": f"src/part_{number}"}, f"src/p_{number}.py:1:x"
        )
        desk.t.call("Read", {"file_path": f"{desk.folder}/src/part_{number}/handler_{number}.py"}, "code")
    desk.edit("src/upload.py", "def retry(): pass")
    desk.t.reply("Uploads are retried at most five times, because the server answers 503 while it restarts.")
    text, body = desk.outline()
    assert "because the server answers 503 while it restarts" in text
    assert text.count("src/upload.py") >= 1 and text.count("handler_") + text.count("backoffHandler") <= 2
    assert "because the server answers 503" in body["themes"][0]["summary"]
    assert body["overallSummary"].startswith("On 20")


# --- 11: age ----------------------------------------------------------------------------------------------------------


def test_loss_11_a_session_is_as_old_as_what_was_said_last_in_it(machine: Machine) -> None:
    session = machine.session()
    session.transcript = Transcript(session.id, str(session.project), start=time() - 20 * 86400)
    session.transcript.prompt(REQUEST)
    session.transcript.reply("It is in place.")
    session.write()
    with Keeper(str(machine.home)) as keeper:
        keeper.catch_up([Source(str(session.path), session.id, keeper.project(str(session.project), change=True))])
        keeper.save(session.id, 2000)  # only now
    text = machine.session().start().text
    assert re.search(rf"andoff of session {session.id[:8]}, (?:19|20) days old", text)


# --- 12: spending -----------------------------------------------------------------------------------------------------


def test_loss_12_a_short_session_does_not_fill_its_budget(desk: Desk) -> None:
    desk.t.prompt("What does the retry helper do when the server says 503?")
    desk.t.call("Read", {"file_path": f"{desk.folder}/src/upload.py"}, "code")
    desk.t.reply("It waits for a second and tries again, five times at most.")
    assert tokens(desk.handoff(4000)) <= 250


def test_loss_12_a_question_for_which_much_was_read_does_not_fill_its_budget(desk: Desk) -> None:
    """What was read to answer it is in the answer, or of no use to anybody."""
    desk.t.prompt("Which of our services still call the old billing endpoint, and since when?")
    for number in range(60):
        given = {"file_path": f"{desk.folder}/services/billing_{number}/src/client_{number}.py"}
        desk.t.call("Read", given, f"def call_billing_{number}(): return oldBilling{number}")
        given = {"pattern": f"old_billing_{number}", "path": f"{desk.folder}/services"}
        desk.t.call("Grep", given, f"services/billing_{number}/src/client_{number}.py")
    desk.t.reply("Only the cart calls it, since the release of March. All the others were moved in January.")
    text = desk.handoff(2000)
    assert "Only the cart calls it" in text
    assert tokens(text) <= 700


def test_loss_12_a_folder_is_said_once_for_its_files(desk: Desk) -> None:
    desk.t.prompt("Rename the clerk to cashier in all services of the billing department.")
    for name in ("invoice", "refund", "ledger", "dunning"):
        desk.edit(f"services/billing_department/internal/{name}.py")
    desk.t.reply("Renamed it in four services.")
    text = desk.handoff(2000)
    (state,) = [line for line in text.splitlines() if line.startswith("| State: ")]
    assert state.count("services/billing_department/internal") == 1
    assert all(f"{name}.py" in state for name in ("invoice", "refund", "ledger", "dunning"))
