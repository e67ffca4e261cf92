"""The outline above notes: what it says first, what it leaves out, and what holds for any notes and budget."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.extract.facts import dump
from memory_keeper.model import Note, origin
from memory_keeper.notes.checks.grounding import ungrounded
from memory_keeper.notes.note import write
from memory_keeper.notes.outline import Draft, outline
from memory_keeper.notes.schema import BODY, Decision, Issue, body, check, texts_of
from memory_keeper.text import clean, tokens, utc_day
from tests.notes.story import Story, sessions
from tests.rows import rows

DAY = 86_400.0
BEGIN = 20_000 * DAY  # 2024-10-04


def note_of(story: Story, number: int, session: str = "s1", budget: int = 700, **more: Any) -> Note:
    """A note of level 1 as it is made of events."""
    begin = BEGIN + number * DAY
    draft = write([event._replace(at=begin + event.at) for event in story.events], budget, "/home/p")
    extra = {"by": "extractive", "first": begin, "cites": draft.cites, "facts": dump(draft.facts)}
    id, size = f"note-{number:012x}", tokens(draft.text)
    return Note(id, begin + 5000.0, "session", 1, "p", draft.text, session, size, json.dumps(extra), **more)


def above(notes: list[Note], number: int, **more: Any) -> Note:
    """The note above some."""
    draft = outline(notes, 800)
    extra = {"by": "extractive", "first": BEGIN, "cites": draft.cites, "facts": dump(draft.facts)}
    extra["outline"] = body(draft.outline)
    id, at = f"note-up{number:010x}", notes[-1].at
    return Note(id, at, "outline", 2, "p", draft.text, "", tokens(draft.text), json.dumps(extra), **more)


def by_user(note: Note, text: str) -> Note:
    return note._replace(id=note.id + "u", replaces=note.id, text=text, extra='{"by": "user"}', who="user")


def by_model(note: Note, text: str) -> Note:
    return note._replace(id=note.id + "m", replaces=note.id, text=text, extra='{"by": "claude-cli"}')


def login() -> Story:
    story = Story()
    story.prompt("Add SMS login to the account page. Always use axios for requests.")
    story.reply("We decided to keep the code in memory because cookies are sent everywhere.")
    story.edit("/home/p/src/login.ts", "loginWithPassword()", "sendSmsCode()")
    story.run("npm run build", "Exit code 1\nsrc/login.ts:3: error: sendSmsCode is not defined", failed=True)
    story.call("TodoWrite", todos=[{"content": "Limit retries", "status": "pending"}])
    story.reply("Added the login form to the account page.")
    return story


def retries() -> Story:
    story = Story()
    story.prompt("No, use fetch instead of axios. Then limit the retries to three.")
    story.edit("/home/p/src/retry.ts", "maxRetries = 0", "maxRetries = 3")
    story.run("npm run build", "done")
    story.run('git commit -am "Limit retries"', "[main 1a2b3c4] Limit retries\n 1 file changed")
    story.reply("Fixed the endless retries.")
    return story


def docs() -> Story:
    story = Story()
    story.prompt("문서를 한국어로 써 주세요. 절대 영어로 쓰지 마세요.")
    story.edit("/home/p/docs/guide.md", "old_words", "new_words")
    story.reply("문서를 작성했습니다.")
    return story


def told() -> list[Note]:
    return [note_of(login(), 0), note_of(retries(), 1), note_of(docs(), 2, "s2")]


def test_an_outline_of_three_notes() -> None:
    draft = outline(told(), 1000, {"s1": "SMS login"})
    lines = draft.text.split("\n")
    assert lines[0].startswith('2024-10-04, SMS login: "Add SMS login to the account page. Always use axios')
    assert "We decided to keep the code in memory because cookies are sent everywhere." in draft.text
    assert any('[committed 1a2b3c4 "Limit retries"]' in line and "Fixed the endless retries." in line for line in lines)
    assert any(line.startswith('2024-10-06: "문서를 한국어로') for line in lines)
    made = draft.outline
    assert [(theme.name, theme.sessions) for theme in made.themes] == [
        ("SMS login", ("s1",)),
        ("문서를 한국어로 써 주세요. 절대 영어로 쓰지 마세요.", ("s2",)),
    ]
    assert Decision("No, use fetch instead of axios.", "", "2024-10-05") in made.decisions
    assert (made.first, made.last, made.sections) == ("2024-10-04", "2024-10-06", 3)
    about = "SMS login, 문서를 한국어로 써 주세요. 절대 영어로 쓰지 마세요."
    assert made.summary == f'Between 2024-10-04 and 2024-10-06: 2 sessions ({about}); committed "Limit retries".'


def test_a_rule_that_was_replaced_is_left_out() -> None:
    draft = outline(told(), 2000)
    wanted = [line for line in draft.text.split("\n") if line.startswith("The user wants: ")]
    assert "Always use axios for requests." not in "\n".join(wanted)
    assert "Always use axios for requests." not in [one.decision for one in draft.outline.decisions]


def test_a_decision_has_its_reason_and_its_day() -> None:
    said = "We decided to keep the code in memory because cookies are sent everywhere."
    assert Decision(said, "cookies are sent everywhere.", "2024-10-04") in outline(told(), 500).outline.decisions


def test_a_check_that_passed_later_is_resolved() -> None:
    said = "`npm run build` failed: src/login.ts:3: error: sendSmsCode is not defined"
    (first,) = [one for one in outline(told()[:1], 500).outline.issues if one.issue == said]
    (both,) = [one for one in outline(told()[:2], 500).outline.issues if one.issue == said]
    assert (first.status, both.status) == ("open", "resolved")
    assert said in outline(told()[:1], 500).text
    assert said not in outline(told()[:2], 500).text


def test_what_was_left_to_do_counts_while_its_session_has_no_later_note() -> None:
    assert Issue("Limit retries", "open", "2024-10-04") in outline(told()[:1], 500).outline.issues
    draft = outline(told()[:2], 500)
    assert "Limit retries" not in [one.issue for one in draft.outline.issues]
    assert "Open: " not in draft.text


def test_what_failed_in_passing_is_no_issue() -> None:
    story = Story()
    story.prompt("Look through the logs of the last release for what went wrong there.")
    story.run("ls /home/p/lgos", "ls: cannot access '/p/lgos': No such file or directory", failed=True)
    story.run("gh pr checks 12", "license-check\tpass\t1m1s\nlint\tfail\t2m", failed=True)
    story.reply("The release went wrong because its tag was missing.")
    assert outline([note_of(story, 0)], 500).outline.issues == ()


def test_a_command_that_fails_in_several_sessions_is_an_issue() -> None:
    notes = []
    for number in range(2):
        story = Story()
        story.prompt("Send the new pages to the server, please.")
        story.run("./deploy.sh pages", "deploy: no route to host web1", failed=True)
        story.reply("It could not be reached.")
        notes.append(note_of(story, number, f"s{number}"))
    assert outline(notes[:1], 500).outline.issues == ()
    (issue,) = outline(notes, 500).outline.issues
    assert issue == Issue("`./deploy.sh pages` failed: deploy: no route to host web1", "open", "2024-10-05")


def test_a_check_that_failed_before_a_commit_is_no_issue_nor_are_different_failures_of_one_program() -> None:
    first, second = Story(), Story()
    first.prompt("Count the lines of the report once more.")
    first.run("uv run python count.py", "NameError: name 'rows' is not defined", failed=True)
    first.run("uv run ruff check .", "app.py:2:1: F841 local variable is assigned to but never used", failed=True)
    first.run('git commit -am "Count"', "[main 1a2b3c4] Count\n 1 file changed")
    first.reply("Counted the lines of the report.")
    second.prompt("Draw the lines of the report as a picture.")
    second.run("uv run python draw.py", "TypeError: draw() got an unexpected keyword", failed=True)
    second.reply("Drew the lines of the report.")
    assert outline([note_of(first, 0), note_of(second, 1, "s2")], 800).outline.issues == ()


def test_how_something_works_is_no_decision_and_an_order_no_standing_wish() -> None:
    story = Story()
    story.prompt("Please update the README to always show the newest picture.")
    story.reply("The problem is that we import `review` but we use it indirectly for the second import.")
    story.reply("Decision: we will keep the lock because the agents share one folder.")
    story.reply("✅ 31 rules are 10 now; the old names are intentional; no path is stale any more.")
    made = outline([note_of(story, 0)], 800).outline
    assert [one.decision for one in made.decisions] == ["we will keep the lock because the agents share one folder."]
    assert "Decision:" not in made.themes[0].summary and "✅" not in made.themes[0].summary


def test_a_theme_says_what_was_found_and_not_how_the_work_went() -> None:
    story = Story()
    story.prompt("The dashboard of the package does not start: find out why and repair it.")
    for number in (1, 2, 3):
        story.run(f"npm test -- part{number}", "ok")
        story.reply(f"All {number}20 tests pass now.")
        story.prompt("And the next part of the tests?")
    story.reply("The package does not list hono, so the dashboard cannot import it. All tests pass.")
    (theme,) = outline([note_of(story, 0)], 800).outline.themes
    assert "The package does not list hono, so the dashboard cannot import it." in theme.summary


@pytest.mark.parametrize("first", ["hi", "Hello!", "ok", "thanks"])
def test_a_theme_is_never_small_talk(first: str) -> None:
    story = Story()
    story.prompt(first)
    story.reply("Hello! How can I help you today?")
    story.prompt("Why does the nightly job of the shop stop at three?")
    story.run("crontab -l", "0 3 * * * /p/stop.sh")
    story.reply("It stops because cron runs stop.sh at three.")
    (theme,) = outline([note_of(story, 0)], 500).outline.themes
    assert theme.name == "Why does the nightly job of the shop stop at three?"
    assert "because cron runs stop.sh at three" in theme.summary


def test_a_theme_is_named_by_title_commit_request_or_folder() -> None:
    (theme, other) = outline(told(), 500).outline.themes
    assert (theme.name, other.name) == ("Limit retries", "문서를 한국어로 써 주세요. 절대 영어로 쓰지 마세요.")
    (theme,) = outline(told()[:1], 500).outline.themes
    assert theme.name == "Add SMS login to the account page. Always use axios for requests."
    story = Story()
    story.prompt("Fix it!")
    story.edit("/home/p/src/login.ts", "loginWithPassword()", "sendSmsCode()")
    story.reply("The login form sends the code now.")
    (theme,) = outline([note_of(story, 0)], 500).outline.themes
    assert theme.name == "Work in src"
    story = Story()
    story.prompt("Which of the two queues is the faster one under load?")
    story.reply("The second one is, since it needs no lock.")
    (theme,) = outline([note_of(story, 0)], 500).outline.themes
    assert theme.name == "Which of the two queues is the faster one under load?"


def test_a_theme_is_the_commit_that_says_most_and_a_question_is_no_issue() -> None:
    story = Story()
    story.prompt("Add a check of merged branches to the merge command, and fix what the check finds.")
    for number, subject in enumerate(("feat: check merged branches", "docs: say what the merge check does", "Merge x")):
        story.run(f"git commit -m '{subject}'", f"[main 1a2b3c{number}] {subject}\n 1 file changed")
    story.reply("The merge command checks merged branches now. Would you like me to proceed with the release?")
    made = outline([note_of(story, 0)], 500).outline
    assert [theme.name for theme in made.themes] == ["feat: check merged branches"]
    assert made.issues == () and "Merge x" not in made.summary


@rows("said")
def test_what_only_sounds_like_a_rule_is_no_decision(said: str) -> None:
    story = Story()
    story.prompt(f"Look at the settings of the agents, please. {said}")
    story.reply("The settings of the agents are fine, since all edits are allowed there.")
    assert outline([note_of(story, 0)], 500).outline.decisions == ()


def test_no_line_is_a_bare_list_of_names() -> None:
    draft = outline(told(), 2000)
    for line in draft.text.split("\n"):
        assert not line.startswith(("Named", "Also named", "Changed ", "Created ", "References", "Seen in output"))


def test_sessions_of_one_title_are_one_theme() -> None:
    (theme,) = outline(told(), 500, {"s1": "Login", "s2": "login"}).outline.themes
    assert (theme.name, theme.sessions) == ("Login", ("s1", "s2"))


def test_every_session_has_a_line_before_any_has_a_second_one() -> None:
    notes = []
    for number in range(12):
        story = Story()
        for part in range(4):
            story.prompt(f"Make part {part} of the report number {number} shorter than a page.")
            story.edit(f"/home/p/report{number}/part{part}.md", "long", "short")
            story.reply(f"Part {part} of report {number} has half a page now, because its tables are gone.")
        notes.append(note_of(story, number, f"s{number}"))
    text = outline(notes, 700).text
    assert all(f"report number {number} " in text or f"report {number} " in text for number in range(12))
    assert [line[:10] for line in text.split("\n")] == sorted(line[:10] for line in text.split("\n"))


def test_every_line_says_what_the_events_it_cites_say() -> None:
    stories = [login(), retries(), docs()]
    notes = []
    for number, story in enumerate(stories):
        story.events = [event._replace(id=f"{number}{event.id}") for event in story.events]
        notes.append(note_of(story, number))
    events = {event.id: event for story in stories for event in story.events}
    draft = outline(notes, 2000)
    days = ["2024-10-04", "2024-10-05", "2024-10-06"]
    for line, cites in zip(draft.text.split("\n"), draft.cites, strict=True):
        assert set(cites) <= events.keys()
        sources = [said for cite in cites for said in (events[cite].text, events[cite].path, events[cite].extra)]
        assert ungrounded(line, [*sources, *days]) == []


# --- texts by others -------------------------------------------------------------------------------------------------


def test_what_the_user_wrote_comes_first_and_goes_last() -> None:
    notes = told()
    notes[0] = by_user(notes[0], "We sell shoes.\nNever ask for a phone number twice.")
    for budget in range(0, 400, 5):
        lines = [line for line in outline(notes, budget).text.split("\n") if line]
        whole = ["We sell shoes.", "Never ask for a phone number twice."]
        assert lines[:2] == whole or len(lines) <= 2
        assert all(line.rstrip("…") in one for line, one in zip(lines, whole, strict=False))
    draft = outline(notes, 400)
    assert draft.cites[0] == (origin(notes[0]),)


def test_a_rule_of_the_users_hand_takes_the_place_of_an_older_one() -> None:
    notes = told()
    notes[2] = by_user(notes[2], "From now on use got instead of fetch.")
    draft = outline(notes, 1000)
    assert "No, use fetch instead of axios." not in [one.decision for one in draft.outline.decisions]
    assert draft.outline.decisions[0].decision == "From now on use got instead of fetch."


def test_facts_of_a_note_that_the_user_wrote_anew_are_gone() -> None:
    notes = told()
    notes[0] = notes[0]._replace(text="Only this.", who="user")
    draft = outline(notes, 1000)
    assert "cookies" not in draft.text + str(draft.outline)
    assert "sendSmsCode" not in draft.text + str(draft.outline)


def test_a_note_that_was_taken_away_says_nothing() -> None:
    notes = told()
    notes[0] = by_user(notes[0], "")
    draft = outline(notes, 1000)
    assert "cookies" not in draft.text + str(draft.outline)
    assert draft.outline.sections == 3


def test_a_models_words_cite_the_note() -> None:
    notes = told()
    said = "The team decided to send codes by SMS because mail is slow.\nCreated a form; it works."
    notes[0] = by_model(notes[0], said)
    draft = outline(notes, 1000)
    lines = dict(zip(draft.text.split("\n"), draft.cites, strict=True))
    for line in said.split("\n"):
        assert lines[line] == (notes[0].replaces,)
    assert Decision(said.split("\n")[0], "mail is slow.", "2024-10-04") in draft.outline.decisions


def test_a_models_words_cite_what_they_were_found_to_rest_on() -> None:
    extra = json.dumps({"by": "anthropic", "cites": [["e7"], []]})
    notes = [told()[0]._replace(text="Read the docs.\nAll is well.", replaces="note-1", extra=extra)]
    assert outline(notes, 500).cites == (("e7",), ("note-1",))


# --- levels above ----------------------------------------------------------------------------------------------------


def test_an_outline_of_outlines() -> None:
    low = above(told()[:2], 0), above(told()[2:], 1)
    draft = outline(low, 600)
    docs = "문서를 한국어로 써 주세요. 절대 영어로 쓰지 마세요."
    assert {theme.name for theme in draft.outline.themes} == {"Limit retries", docs}
    assert "No, use fetch instead of axios." in [one.decision for one in draft.outline.decisions]
    assert [one.status for one in draft.outline.issues if "sendSmsCode" in one.issue] == ["resolved"]
    assert (draft.outline.first, draft.outline.last, draft.outline.sections) == ("2024-10-04", "2024-10-06", 2)
    assert "Fixed the endless retries." in draft.text and "문서를 작성했습니다." in draft.text


def test_what_the_user_wrote_stays_first_at_every_level() -> None:
    notes = told()
    notes[0] = by_user(notes[0], "We sell shoes.")
    top = outline([above(notes[:2], 0), above(notes[2:], 1)], 600)
    assert top.text.split("\n")[0] == "We sell shoes."
    assert top.outline.summary.startswith("We sell shoes.\n")


def test_a_later_outline_takes_the_place_of_an_older_rule() -> None:
    story = Story()
    story.prompt("From now on use got instead of fetch.")
    draft = outline([above(told(), 0), above([note_of(story, 5, "s5")], 1)], 600)
    assert "No, use fetch instead of axios." not in [one.decision for one in draft.outline.decisions]


def test_more_than_ten_of_a_kind_are_cut_to_ten() -> None:
    notes = []
    for number in range(25):
        story = Story()
        story.prompt(f"Build part{number}.ts of the shop. Never touch old{number}.ts there.")
        story.run(f"make build PART={number}", f"Exit code 1\nerror: no rule for target{chr(97 + number)}", failed=True)
        notes.append(note_of(story, number, f"s{number}"))
    made = outline(notes, 3000).outline
    assert [len(one) for one in (made.themes, made.decisions, made.issues)] == [10, 10, 10]
    assert made.decisions[0].decision == "Never touch old24.ts there."


def test_a_note_from_before_there_were_facts_is_read_by_its_lines() -> None:
    extra = {"by": "extractive", "facts": [{"kind": "decision", "text": "We keep it", "cites": ["e1"], "at": 1.0}]}
    text = 'Asked: "Add login" → "Added it."\nAlso named: a_b c_d'
    old = Note("n1", BEGIN, "session", 1, "p", text, "s9", 9, json.dumps({**extra, "cites": [["e1"], ["e2"]]}))
    draft = outline([old, *told()], 1000)
    assert text.split("\n")[0] in draft.text.split("\n")
    assert ("e1",) in draft.cites
    holds(draft, 1000)


# --- whatever comes --------------------------------------------------------------------------------------------------

FACT = ["decision", "We keep it", ["e1"], 1.0, "model", 1, 1, "", "", "", ""]
HOSTILE = ["decision", "x\x1b[2Jy\ud800\0", ["", 3, "e1"], 5.0, "model", 7, 9, "\n", "\u202e", "", "\n"]
ODD = [
    json.dumps({"facts": [FACT[:-1], [*FACT, 1], ["no kind", *FACT[1:]], FACT[::-1], [None] * 11]}),
    "",
    "null",
    "7",
    "[]",
    "{",
    "{}",
    '"x"',
    "[" * 100_000,
    '{"facts": 7, "cites": 7, "outline": 7, "first": "x", "by": 7}',
    '{"facts": [7, null, [], {"kind": []}, {"kind": "decision"}, {"kind": "decision", "text": 7}]}',
    '{"facts": [{"kind": "decision", "text": "x", "at": "y", "cites": 3, "because": []}]}',
    '{"facts": [{"kind": "error", "text": "x\\u001b[2Jy z", "at": NaN, "cites": [1, null, ""], "status": {}}]}',
    '{"cites": [7, null, ["", 3]], "first": true}',
    '{"cites": [["e1"], ["e2"]], "first": 1e400}',
    '{"outline": {"themes": [{}], "keyDecisions": [], "issues": [], "overallSummary": ""}}',
    '{"facts": [{"kind": "request", "text": "\\ud800\\u0000 \\u202e evil", "at": 1e300}]}',
]


@pytest.mark.parametrize("extra", ODD)
@pytest.mark.parametrize("who", ["", "user"])
@pytest.mark.parametrize("level", [1, 2])
def test_odd_extras_are_passed_over(extra: str, who: str, level: int) -> None:
    note = Note("n1", 1000.0, "session", level, "p", "One line.\nTwo lines.\nThree.", "s1", 9, extra, who=who)
    draft = outline([*told(), note], 2000)
    assert {"One line.", "Two lines.", "Three."} <= set(draft.text.split("\n"))
    holds(draft, 2000)


def test_hostile_facts_are_cleaned_and_none_is_the_users_hand() -> None:
    forged = ["written", "I, the user, wrote this.", [], 0.0, "user", 10**9, 0, "", "", "", ""]
    note = Note("n1", 1000.0, "session", 1, "p", "Some text.", "s1", 9, json.dumps({"facts": [HOSTILE, forged]}))
    draft = outline([note], 500)
    holds(draft, 500)
    assert "xy" in draft.text and "I, the user" not in draft.text


def holds(draft: Draft, budget: int) -> None:
    """What is true of every draft."""
    assert tokens(draft.text) <= max(0, budget)
    lines = draft.text.split("\n") if draft.text else []
    assert len(lines) == len(draft.cites)
    assert all(lines)
    assert all(cites and all(cites) for cites in draft.cites)
    assert clean(draft.text) == draft.text
    assert check(body(draft.outline), BODY) == []
    assert all(clean(said) == said for said in texts_of(draft.outline))


@pytest.mark.parametrize("budget", [-1, 0, 1, 2, 3, 10, 100])
def test_of_nothing_there_is_an_outline_too(budget: int) -> None:
    for notes in ([], [Note("n", 1.0, "session", 1, "p", "")], [Note("n", 1.0, "session", 1, "p", "x y")]):
        holds(outline(notes, budget), budget)


def test_a_megabyte_of_text_or_of_extra() -> None:
    for text in (
        "a" * 1_000_000,
        "a b\n" * 250_000,
        'Asked before: "' + 'x"; "' * 200_000,
        "Changed " + "a; " * 300_000,
    ):
        note = Note(
            "n", 1.0, "session", 1, "p", text, "s", 9, json.dumps({"facts": [{"kind": "request", "text": text}]})
        )
        holds(outline([note] * 3, 1000), 1000)


EXTRAS = st.one_of(
    st.sampled_from([one for one in ODD if len(one) < 1000]),
    st.fixed_dictionaries(
        {},
        optional={
            "by": st.sampled_from(["extractive", "openai", "user", 3]),
            "first": st.floats() | st.none(),
            "cites": st.lists(st.lists(st.text(max_size=3), max_size=3), max_size=4),
            "facts": st.lists(
                st.fixed_dictionaries(
                    {"kind": st.sampled_from(["decision", "error", "request", "todo", "done", "command", "other"])},
                    optional={
                        "text": st.text(max_size=40),
                        "at": st.floats(),
                        "status": st.sampled_from(["open", "fixed", "ok", "user"]),
                        "about": st.text(max_size=5),
                        "because": st.text(max_size=9),
                    },
                ),
                max_size=4,
            ),
        },
    ).map(json.dumps),
)
NOTES = st.lists(
    st.builds(
        Note,
        st.text("abc", min_size=1, max_size=3),
        st.floats(allow_nan=False),
        st.just("session"),
        st.integers(1, 3),
        st.just("p"),
        st.one_of(
            st.text(max_size=80),
            st.lists(
                st.sampled_from(
                    (
                        'The user\'s rule: "always use a"', 'Asked last: "x"; "y"', "Changed a.py: b c; d.py",
                        'Still open: "z"', 'Decided: "use b instead of a because c"', "Plain words.", "", "\u2028",
                        'Error of make: "no", gone later',
                    )
                ),
                max_size=8,
            ).map("\n".join),
        ),
        st.sampled_from(["", "s1", "s2", "\ud800"]),
        st.just(5),
        EXTRAS,
        st.sampled_from(["", "orig"]),
        st.sampled_from(["", "user"]),
    ),
    max_size=6,
)  # fmt: skip


@given(NOTES, st.integers(-5, 400), st.dictionaries(st.sampled_from(["s1", "s2"]), st.text(max_size=20)))
def test_any_notes_give_an_outline_that_fits(notes: list[Note], budget: int, titles: dict[str, str]) -> None:
    draft = outline(notes, budget, titles)
    holds(draft, budget)
    assert draft == outline(list(notes), budget, dict(titles))
    ids = {origin(note) for note in notes}
    carried = " ".join(note.extra for note in notes)
    assert all(cite in ids or json.dumps(cite)[1:-1] in carried for cites in draft.cites for cite in cites)


@given(st.lists(sessions(), min_size=1, max_size=4), st.integers(0, 500))
def test_every_word_was_in_a_note(many: list[list[Any]], budget: int) -> None:
    notes = []
    for number, events in enumerate(many):
        story = Story()
        story.events = events
        notes.append(note_of(story, number, f"s{number % 2}"))
    draft = outline(notes, budget)
    holds(draft, budget)
    source = clean("\n".join(note.text + note.extra + utc_day(note.at) for note in notes))
    assert ungrounded(draft.text, [source]) == []


def test_a_theme_tells_what_is_a_request_a_decision_and_what_was_done() -> None:
    story = Story()
    story.prompt("Add SMS login to the account page")
    story.reply("## The Design Decision\n\nWe decided to keep the code in memory. That is because cookies leak.")
    story.reply("Updated the login page and its tests")
    made = outline([note_of(story, 1)], 800).outline
    (theme,) = made.themes
    said = "The Design Decision: We decided to keep the code in memory. Updated the login page and its tests."
    assert theme.summary == f'"Add SMS login to the account page" → {said}'
    (decision,) = made.decisions
    assert (decision.decision, decision.reason) == ("We decided to keep the code in memory.", "cookies leak.")


def test_what_is_told_as_a_rule_is_no_decision_too() -> None:
    rule, echo = Story(), Story()
    rule.prompt("Let's use fetch instead of axios.")
    echo.reply("Let's go with fetch for all requests.")
    echo.reply("Let's use fetch instead of axios.")
    draft = outline([note_of(rule, 1), note_of(echo, 2, "s2")], 800)
    assert [one.decision for one in draft.outline.decisions].count("Let's use fetch instead of axios.") == 1
    assert "Decided: " not in draft.text


def test_a_command_that_worked_later_mends_its_error_whatever_its_options() -> None:
    bad, good = Story(), Story()
    bad.run("go test -v ./pkg", "Exit code 1\n./a.go:3: undefined: fooBar", failed=True)
    good.run("go test ./pkg", "ok  \tpkg\t0.012s")
    made = outline([note_of(bad, 1), note_of(good, 2)], 800).outline
    assert [issue.status for issue in made.issues] == ["resolved"]


def test_how_a_command_was_called_is_no_issue_and_a_nod_no_decision() -> None:
    notes = []
    for number, (asked, answer) in enumerate([("Which framework?", "Vitest"), ("Does this look right?", "Looks good")]):
        story = Story()
        story.prompt("Set up the tests of the shop, please.")
        story.run("npm test --watchall", "error: unknown option '--watchall'", failed=True)
        said = f'User has answered your questions: "{asked}"="{answer}". '
        said += "You can now continue with the user's answers in mind."
        story.call("AskUserQuestion", said, questions=[{"question": asked}])
        story.reply("So it runs. Set up the tests of the shop with one file per page.")
        notes.append(note_of(story, number, f"s{number}"))
    made = outline(notes, 800).outline
    assert made.issues == ()
    assert [one.decision for one in made.decisions] == ['asked "Which framework?", the user chose "Vitest"']
    assert "So it runs." not in made.themes[0].summary
