"""The note of a segment: what it says, what each line rests on, and what is kept beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memory_keeper
from memory_keeper.capture.claude_code import read_line
from memory_keeper.extract.facts import load
from memory_keeper.model import Event, Source
from memory_keeper.notes.checks.grounding import ungrounded
from memory_keeper.notes.note import KEPT, Draft, about, write
from memory_keeper.notes.segments import note_budget, segments
from memory_keeper.text import tokens
from tests import transcripts
from tests.notes.story import Story, sessions
from tests.rows import rows
from tests.tree import sources


def check(events: list[Event], most: int) -> Draft:
    """Everything that holds for any note by rule."""
    draft = write(events, most)
    known = {event.id: event for event in events}
    lines = draft.text.split("\n") if draft.text else []
    assert tokens(draft.text) <= note_budget(events, most) <= most
    assert len(lines) == len(draft.cites)
    assert draft == write(list(events), most)
    for line, cites in zip(lines, draft.cites, strict=True):
        assert line.strip()
        assert cites and set(cites) <= known.keys()
        missing = ungrounded(line, [said for cite in cites for said in sources(known[cite])])
        assert not missing, line
    assert len(draft.facts) <= KEPT
    assert {cite for fact in draft.facts for cite in fact.cites} <= known.keys()
    if events:
        said = json.loads(json.dumps(about(draft, events)))
        assert said["first"] == events[0].at
        assert load(said["facts"]) == list(draft.facts)
    return draft


def plain(events: list[Event]) -> list[Event]:
    """As capture leaves them: nothing that is no JSON beside the text."""
    return [event._replace(extra="" if event.extra == "{" else event.extra) for event in events]


@given(sessions(), st.sampled_from((100, 160, 300, 700)))
def test_a_note_fits_cites_and_invents_nothing(events: list[Event], most: int) -> None:
    check(plain(events), most)


def test_nothing_to_tell() -> None:
    assert write([], 700) == Draft("")
    story = Story()
    story.add("start", "")
    story.add("window", "")
    assert write(story.events, 700) == Draft("")


def read(lines: list[bytes], session: str = "s") -> list[Event]:
    """The events of a transcript."""
    source, found, at, place = Source("/t.jsonl", session, "p"), [], 0.0, 0
    for line in lines:
        read = read_line(line.rstrip(b"\n"), source, place, at)
        place += len(line)
        if read and read.events:
            found += read.events
            at = read.events[-1].at
    return found


def demo() -> list[Event]:
    """The recorded session that the product ships."""
    path = Path(memory_keeper.__file__).parent / "data/demo.jsonl"
    return read(path.read_bytes().splitlines(keepends=True))


def mixed() -> list[Event]:
    """A session with everything that a transcript may hold."""
    t = transcripts.Transcript("s", "/home/dev/uploader")
    t.prompt("Never retry a 4xx. Use next_delay() from src/uploader/retry.py instead of a fixed 30 s.")
    t.call("Bash", {"command": "pytest -q tests/retry.py"}, "E   ValueError: no delay 17\n1 failed in 0.3s", True)
    t.reply("Turns out `next_delay` was called with None, so I decided to raise `UploadError` because it is louder.")
    t.image()
    t.todo([("Describe the back-off in README.md", "pending"), ("Add RetryPolicy", "completed")])
    t.sidechain("Who calls upload_part?", "Only src/uploader/client.py does.")
    t.queue("And keep the log line, please.")
    t.task_notification()
    t.api_error()
    t.command("compact")
    t.compact("The user wants retries.")
    t.prompt("커밋해 주세요. 앞으로 항상 테스트를 먼저 돌려 주세요.")
    t.call("Bash", {"command": "git commit -am 'Retry'"}, "[main 1a2b3c4] Retry\n 2 files changed, 31 insertions(+)")
    t.multi_block(transcripts.thinking("Maybe 12 tries would do."), "Committed as 1a2b3c4.")
    return read([transcripts.dump(row) for row in t.lines])


def made(seed: int) -> list[Event]:
    transcript = transcripts.session(seed=seed, turns=8)
    return read([transcripts.dump(row) for row in transcript.lines])


RECORDED: dict[str, Callable[[], list[Event]]] = {
    "demo": demo,
    "mixed": mixed,
    **{f"made {seed}": partial(made, seed) for seed in (1, 2, 3)},
}


@pytest.mark.parametrize("name", RECORDED)
def test_every_line_of_a_recorded_session_is_grounded(name: str) -> None:
    events = RECORDED[name]()
    notes = [check(one.events, 700) for one in segments(events, 25, 32_000, over=True)]
    assert any(draft.text for draft in notes)
    for interval in (3, 10):
        for one, _ in segments(events, interval, 4000, over=True):
            check(one, 700)


def test_small_talk_is_not_told_as_a_request_and_what_came_of_it_is() -> None:
    story = Story()
    story.prompt("Why does the nightly export stop at three?")
    story.reply("The cron job kills `export.sh` at three.")
    story.prompt("Hi, are you still there?")
    story.edit("/p/cron.txt", "0 3 * * * kill", "")
    story.reply("Removed the cron job that killed `export.sh`.")
    lines = check(story.events, 700).text.splitlines()
    assert [line.startswith('"Why does the nightly export stop at three?"') for line in lines] == [True]
    assert "Removed the cron job that killed `export.sh`." in lines[0]


def test_what_the_model_says_it_does_meanwhile_came_of_nothing() -> None:
    story = Story()
    story.prompt("Make the acceptance tests green on the runners.")
    story.reply("The scheme App has no test action. Wait - let me re-read the fixture first.")
    story.reply("Both use the folder of the scheme, so the paths should be equal... Wait - one is a link.")
    story.run("mise run ci", "queued")
    story.reply("In the meantime, let me check the Linux job. ✅ The scheme App has a test action since the rename.")
    told = check(story.events, 700).text
    assert "re-read" not in told and "meantime" not in told and "should be equal" not in told
    assert "The scheme App has a test action since the rename." in told and "✅" not in told


def test_a_check_that_failed_before_the_commit_is_not_open() -> None:
    story = Story()
    story.prompt("Remove the dead settings and open a pull request.")
    story.run("mypy app/", "app/flow.py:2: error: Incompatible return value type", failed=True)
    story.edit("/p/app/settings.py", "DEAD = 1", "")
    assert "Open then: `mypy app/` failed" in check(story.events, 700).text
    story.run('git commit -am "Remove dead settings"', "[main 1a2b3c4] Remove dead settings\n 1 file changed")
    story.reply("Removed the dead settings.")
    assert "Open then" not in check(story.events, 700).text


def test_a_decision_with_its_reason_comes_before_files() -> None:
    (first, _), *_ = segments(demo(), 25, 32_000, over=True)
    told = check(first, 700).text
    assert "I decided against tenacity" in told
    assert told.index("I decided against tenacity") < told.index("created ")


def test_what_the_model_was_about_to_do_is_no_result() -> None:
    story = Story()
    story.prompt("Why does the login test fail on the build server only?")
    story.thinking("Maybe we decided to keep the clock in local time because of the old server.")
    story.reply("Let me look at the test first. Now I have a good understanding of the file structure.")
    story.reply(
        "Now read the rest:\n\n- Line 478: Gets entity, resets the state\n- Line 578: Gets entity, calls service"
    )
    story.reply("The login test fails because the build server runs in another time zone than we do.")
    story.run("pytest tests/login.py", "3 passed in 0.1s")
    story.run("pytest tests/login.py", "3 passed in 0.2s")
    story.edit("/p/src/login.py", "a", "b")
    story.reply("## Summary\n\nAll three tests of the login pass now.")
    asked = '"Why does the login test fail on the build server only?"'
    came = "The login test fails because the build server runs in another time zone than we do."
    done = "[changed /p/src/login.py; `pytest tests/login.py` passed: 3 passed in 0.2s]"
    assert check(story.events, 700).text == f"{asked} → {came} All three tests of the login pass now. {done}"


def test_what_goes_on_from_an_earlier_note_says_so() -> None:
    story = Story()
    story.run("git commit -m 'Retry uploads'", "[main 1a2b3c4] Retry uploads\n 1 file changed")
    story.reply("The uploads are tried five times now.")
    assert check(story.events, 700).text == (
        'Went on: The uploads are tried five times now. [committed 1a2b3c4 "Retry uploads"]'
    )


def test_a_note_tells_of_when_a_task_was_open() -> None:
    story = Story()
    story.prompt("Put the parser into a module of its own and use it in all of the three commands.")
    tasks = [{"content": "Write it", "status": "in_progress"}, {"content": "Use it", "status": "pending"}]
    story.call("TodoWrite", "Todos were changed", todos=tasks)
    told = check(story.events, 700).text.splitlines()
    assert told[-1] == "Open then: Write it (in progress); Use it (open)"


def test_a_megabyte_does_not_hide_what_was_decided_before_it() -> None:
    story = Story()
    story.prompt("We decided to keep tokens in memory instead of cookies because cookies are sent everywhere.")
    story.run("cat big.log", "x" * 1_000_000)
    story.reply("y" * 1_000_000)
    draft = check(story.events, 700)
    assert "keep tokens in memory instead of cookies" in draft.text
    assert any("keep tokens in memory" in fact.text for fact in draft.facts)


@rows("asked", "answer")
def test_small_talk_alone_is_no_note(asked: str, answer: str) -> None:
    story = Story()
    for kind, text in (("prompt", asked), ("reply", answer)):
        story.add(kind, text) if text else None
    assert write(story.events, 700) == Draft("")
    story.run("make check", "ok")
    assert write(story.events, 700).text


@rows("asked", "answer")
def test_what_says_something_is_one(asked: str, answer: str) -> None:
    story = Story()
    for kind, text in (("prompt", asked), ("reply", answer)):
        story.add(kind, text) if text else None
    assert write(story.events, 700).text


@pytest.mark.parametrize("kind", ["reply", "queued"])
def test_something_said_in_between_is_not_lost(kind: str) -> None:
    story = Story()
    story.prompt("hello")
    story.add(kind, "The release is frozen until Monday.")
    story.reply("OK.")
    assert write(story.events, 700).text


def test_the_request_that_it_began_with_is_told_before_small_talk() -> None:
    story = Story()
    story.prompt("Uploads fail for good when the server answers 503 once. Add retry with back-off, at most five tries.")
    story.edit("/p/src/retry.py", "a", "def with_retry(call, tries=5)")
    story.reply("I decided against tenacity, as it is one more dependency. The uploader tries five times now.")
    for number in range(4):
        story.prompt(f"Please look through module number {number} of the project for other calls that want retries.")
        story.run(f"grep -n upload module{number}.py", "12: upload()")
        story.reply(f"Module {number} has one call of that kind, in its function upload, which is covered already.")
    for asked, answer in (("Still there?", "Here."), ("Is that all?", "Yes."), ("Thanks, bye", "Bye!")):
        story.prompt(asked)
        story.reply(answer)
    draft = check(story.events, 700)
    assert "Uploads fail for good" in draft.text and "against tenacity" in draft.text
    assert "Module 3 has one call" in draft.text
    short = check(story.events, 250)
    assert "Uploads fail for good" in short.text and "Still there?" not in short.text


def test_a_note_cut_midway_leaves_to_the_next_what_fails_and_waits() -> None:
    story = Story()
    story.prompt("Rename the table of users to accounts, with its migration.")
    steps = ("Write the migration", "Rename it in the code", "Describe it")
    todos = [{"content": step, "status": "in_progress" if step == steps[1] else "pending"} for step in steps]
    story.call("TodoWrite", todos=todos)
    story.run("npm test", "FAIL src/users.test.ts\nError: relation users does not exist", failed=True)
    whole, midway = write(story.events, 700), write(story.events, 700, midway=True)
    assert "Open then: `npm test` failed" in whole.text and steps[2] in whole.text
    assert midway.text.endswith(f"Open then: {steps[1]} (in progress)") and "[`npm test` failed" in midway.text
    assert {fact.text for fact in midway.facts if fact.kind == "todo"} == {*steps}


@pytest.mark.parametrize("said", ["現在の実装を確認します。", "修正していきます。", "먼저 설정을 확인하겠습니다."])
def test_what_the_model_is_about_to_do_is_no_result_in_other_languages(said: str) -> None:
    story = Story()
    story.prompt("ログイン画面のテストを直してください")
    story.reply(f"{said}\n\nクッキーのドメインが欠けていました。")
    text = write(story.events, 700).text
    assert "クッキーのドメインが欠けていました" in text and said not in text
