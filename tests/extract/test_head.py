"""The head of a handoff: the goal, the state, what is next, what the user insists on, and the last steps."""

from __future__ import annotations

import pytest

from memory_keeper.extract.extraction import extract
from memory_keeper.extract.facts import Fact, say
from tests.notes.story import Story
from tests.rows import rows

REQUEST = "Add retry with back-off to the uploader in src/upload.py, at most five tries, and log each try."
OPTIONS = (
    "I see three ways:\n\n1. Keep the lock in Redis.\n2. Use an advisory lock of Postgres.\n"
    "3. Add a lease column to the jobs table.\n\nWhich of them should I take?"
)


def facts(story: Story, *kinds: str, folder: str = "") -> list[Fact]:
    return [fact for fact in extract(story.events, folder) if fact.kind in kinds]


def goal(story: Story) -> str:
    """What the session is said to be about: what was asked first and last."""
    return " ".join(fact.text for fact in facts(story, "goal"))


def pairs(story: Story) -> dict[str, str]:
    """The user's answers, with what each answers."""
    return {fact.text: fact.about for fact in facts(story, "accepted", "then", "answer")}


def asked(*later: str, reply: str = OPTIONS) -> Story:
    story = Story()
    story.prompt(REQUEST)
    story.reply(reply)
    for text in later:
        story.prompt(text)
        story.reply("It is done.")
    return story


# --- the goal ---------------------------------------------------------------------------------------------------------

NO_GOALS = {
    "a nod": "yes",
    "a letter": "A",
    "two numbers": "1 and 3",
    "an answer": "the second one sounds fine",
    "an answer with a reason": "go with option 2 please, we already have it in the cart service",
    "thanks": "great, thanks a lot",
    "a remark": "oh whoops, accidentally switched branches",
    "JSON": '{"type":"idle_notification","from":"worker-2","timestamp":"2026-03-02T09:00:00Z"}',
    "a log": "2026-03-02 09:00:01 ERROR upload failed for part 12\n2026-03-02 09:00:02 ERROR upload failed for part 13",
    "a trace": (
        'Traceback (most recent call last):\n  File "/srv/app/run.py", line 40, in run\n'
        "    raise ValueError('bad chunk size in upload session')\nValueError: bad chunk size in upload session"
    ),
    "Korean": "네, 그렇게 해 주세요",
}


@pytest.mark.parametrize("name", NO_GOALS)
def test_an_answer_a_nod_or_a_paste_is_never_the_goal(name: str) -> None:
    story = asked(NO_GOALS[name])
    assert goal(story) == REQUEST


def test_a_new_request_is_the_goal_and_the_first_one_stays_told() -> None:
    story = asked("yes", "Now write the page about retries, with an example for each kind of error.")
    assert "write the page about retries" in goal(story) and REQUEST in goal(story)


@pytest.mark.parametrize(
    "order",
    [
        "fix all gaps",
        "yes, start phase 2 in a new branch",
        "ok let's do P0-2 (#2)",
        "lets do P0-2 (#2)",
        "run the tests",
        "Can we prefill the prompt with the old prompt?",
    ],
)
def test_a_few_words_that_say_what_to_do_are_the_goal_with_the_request_before_them(order: str) -> None:
    asked_before = "Write the page about retries, with an example for each kind of error."
    found = {fact.about: fact.text for fact in facts(asked(asked_before, order), "goal")}
    assert found == {"First asked": REQUEST, "Before that": asked_before, "Asked last": order}


def test_what_was_asked_first_is_no_answer() -> None:
    story = Story()
    story.prompt("yeah stay close to upstream to receive its updates, 2. automatic if possible, 3. a new repository")
    story.reply("Noted.")
    story.prompt(REQUEST)
    story.reply("It is done.")
    story.prompt("Write the page about retries, with an example for each kind of error.")
    found = {fact.about: fact.text for fact in facts(story, "goal")}
    assert found["First asked"] == REQUEST


def test_what_a_subagent_was_given_is_told_by_its_name() -> None:
    story = asked()
    story.call("Task", None, description="Find the callers", prompt="Look at all files. " * 20, subagent_type="Explore")
    assert "gave to a subagent: Find the callers" in [fact.text for fact in facts(story, "step")]


def test_a_search_is_told_as_one_and_a_thought_from_a_sentence_of_its_own() -> None:
    story = asked()
    story.call("Grep", None, pattern="open_pool", path="/srv/app", output_mode="content")
    story.thinking("It may be the lock of the pool that is held. " * 9 + "The pool is never closed.")
    steps = [fact.text for fact in facts(story, "step")]
    assert "searched for open_pool" in steps
    assert any(text.startswith("…It may be") and text.endswith("never closed.") for text in steps)


def test_a_question_with_a_wish_for_once_is_no_rule() -> None:
    story = asked("Can you check that it works? don't fix anything, just look at it and say what you see")
    assert not facts(story, "rule")


def test_what_the_last_answer_names_as_next_is_next() -> None:
    story = asked()
    story.reply("The tries are logged. Next technical piece: the back-off of failed parts (issue #10).")
    assert [fact.text for fact in facts(story, "next")] == [
        "Next technical piece: the back-off of failed parts (issue #10)."
    ]


def test_a_plan_is_told_with_its_title() -> None:
    story = Story()
    story.prompt(
        f"Implement the following plan:\n\n# Retries of uploads\n\n## Context\n{REQUEST} " + "It fails at noon. " * 20
    )
    assert goal(story).startswith("Implement the following plan: Retries of uploads")


def test_what_was_announced_and_begun_is_not_told_as_yet_to_come() -> None:
    story = asked()
    story.reply("Let me add the log of each try.")
    (coming,) = facts(story, "next")
    assert say(coming) == "Let me add the log of each try."
    story.edit("/srv/app/src/upload.py", "a", "b")
    (coming,) = facts(story, "next")
    assert say(coming) == "was doing: Let me add the log of each try."


def test_answers_to_several_questions_are_no_goal() -> None:
    story = asked(reply="Q1. Stay close to upstream? Q2. Update by hand or by itself? Q3. A new repository?")
    story.prompt("yeah close to upstream to receive its updates, 2. automatic if possible. 3. New")
    story.reply("Noted.")
    assert goal(story) == REQUEST


def test_the_host_s_own_commands_are_not_told() -> None:
    assert not facts(asked("/compact", "/clear"), "then")


def test_where_nothing_else_was_said_a_nod_is_told() -> None:
    story = Story()
    story.prompt("go on")
    story.reply("With what?")
    assert goal(story) == "go on"


def test_the_session_s_title_and_folder_are_told() -> None:
    story = asked()
    story.add("title", "Retry for uploads")
    found = {fact.about: fact.text for fact in facts(story, "goal", folder="/srv/app")}
    assert found["Session"] == "Retry for uploads" and found["Folder"] == "/srv/app"


def test_a_title_that_names_a_line_of_another_session_is_that_one_s() -> None:
    story = asked()
    story.add("title", "Something else entirely", ref="0badf00d-0000-4000-8000-000000000000")
    assert "Something else" not in goal(story)


# --- decisions of the user's ------------------------------------------------------------------------------------------


@rows("answer", "proposals")
def test_an_answer_is_paired_with_what_it_accepts(answer: str, proposals: list[str]) -> None:
    accepted = pairs(asked(answer))[answer]
    assert all(proposal in accepted for proposal in proposals)
    others = [text for text in ("Redis", "advisory", "lease") if not any(text in proposal for proposal in proposals)]
    assert not any(text in accepted for text in others)


@rows("text")
def test_a_number_that_names_no_option_is_paired_with_none(text: str) -> None:
    for accepted in pairs(asked(text)).values():
        assert not any(word in accepted for word in ("Redis", "advisory", "lease"))


@pytest.mark.parametrize(("answer", "proposal"), [("A", "Keep the lock"), ("b", "advisory lock"), ("B.", "advisory")])
def test_letters_name_options_too(answer: str, proposal: str) -> None:
    reply = "Two ways:\n\nA) Keep the lock in Redis.\nB) Use an advisory lock of Postgres.\n\nWhich one?"
    assert proposal in pairs(asked(answer, reply=reply))[answer]


def test_a_yes_is_paired_with_the_question() -> None:
    story = asked("yes please", reply="The log is long. Shall I also drop the old table?")
    assert "Shall I also drop the old table?" in pairs(story)["yes please"]


def test_a_short_question_is_paired_with_what_stands_before_it() -> None:
    story = asked(reply="The lock can live in Redis, where the queue is. Lock as above?")
    story.prompt("go ahead")
    assert "live in Redis" in pairs(story)["go ahead"]


def test_who_takes_what_is_recommended_took_that() -> None:
    story = asked(reply="A lease column is what I recommend. Redis would do too. There is no hurry with it. Which?")
    story.prompt("go for recommended")
    assert "A lease column is what I recommend" in pairs(story)["go for recommended"]


def test_an_answer_rests_on_what_it_answers_too() -> None:
    story = asked("1")
    (fact,) = facts(story, "accepted", "then")
    assert {story.events[1].id, story.events[2].id} <= set(fact.cites)


@pytest.mark.parametrize("no", ["no, drop tenacity again, we take no new dependencies", "don't use tenacity please"])
def test_a_decision_that_the_next_prompt_overturns_is_not_told_as_decided(no: str) -> None:
    story = Story()
    story.prompt(REQUEST)
    story.reply("I decided to use tenacity because it has back-off built in.")
    story.prompt(f"{no}. Write the loop by hand.")
    story.reply("The loop is in src/upload.py now.")
    for fact in facts(story, "decision"):
        assert "tenacity" not in fact.text or fact.status == "dropped"
        assert "I decided to use tenacity" not in say(fact) or say(fact) != fact.text


# --- what is next -----------------------------------------------------------------------------------------------------

STEPS = ["Write tests for quoted fields.", "Wire the importer into the command line.", "Document the option."]


@pytest.mark.parametrize(
    "heading", ["## Next steps", "**Next steps:**", "Remaining:", "Next:", "What is left:", "TODO:", "Still to do:"]
)
@pytest.mark.parametrize("mark", ["- {}", "{}. ", "- [ ] {}"])
def test_all_steps_of_a_list_are_next(heading: str, mark: str) -> None:
    items = "\n".join(
        f"{mark.format('') if '[' in mark or '-' in mark else f'{number}. '}{step}"
        for number, step in enumerate(STEPS, 1)
    )
    story = asked(reply=f"The importer reads all rows.\n\n{heading}\n{items}\n")
    told = " ".join(fact.text for fact in facts(story, "next"))
    assert all(step.rstrip(".") in told for step in STEPS)


def test_what_is_ticked_is_not_next() -> None:
    story = asked(reply="Remaining:\n- [x] Write the parser well.\n- [ ] Write the docs of it.")
    told = " ".join(fact.text for fact in facts(story, "next"))
    assert "Write the docs" in told and "Write the parser" not in told


def test_a_plan_outlives_a_question_about_something_else() -> None:
    story = asked(reply="All rows are read.\n\n## Next steps\n" + "\n".join(f"- {step}" for step in STEPS))
    story.prompt("Which encoding does it read?")
    story.reply("UTF-8, with a fallback.")
    told = " ".join(map(say, extract(story.events)))
    assert all(step.rstrip(".") in told for step in STEPS)


def test_open_tasks_are_next_and_done_ones_are_counted() -> None:
    story = asked()
    items = [("Write it", "completed"), ("Test it", "in_progress"), ("Ship it", "pending")]
    story.call("TodoWrite", todos=[{"content": text, "status": status} for text, status in items])
    assert [(fact.text, fact.status) for fact in facts(story, "todo")] == [
        ("Test it", "in progress"),
        ("Ship it", "open"),
    ]
    assert "1 of 3" in " ".join(fact.text for fact in facts(story, "next"))


def test_what_was_announced_last_is_next() -> None:
    story = asked()
    story.prompt("Fix all gaps in the uploader, one after the other.")
    story.reply("Gap 1 is closed.")
    story.reply("Now let me write the tests for gap 2.")
    assert [fact.text for fact in facts(story, "next")] == ["Now let me write the tests for gap 2."]
    story.reply("All gaps are closed.")
    assert not facts(story, "next")


def test_a_question_is_open_until_somebody_types() -> None:
    story = asked(reply="The log is long. Shall I also drop the old table?")
    assert [fact.text for fact in facts(story, "question")] == ["Shall I also drop the old table?"]
    story.prompt("Later. First write the page about retries, please.")
    story.reply("It is written.")
    assert facts(story, "question") == []


def test_a_question_is_told_beside_many_tasks() -> None:
    story = asked(reply="It is begun.")
    items = [(f"Write part {number} of it", "pending") for number in range(12)]
    story.call("TodoWrite", todos=[{"content": text, "status": status} for text, status in items])
    story.reply("The list stands. Shall I push what there is?")
    assert [fact.text for fact in facts(story, "question")] == ["Shall I push what there is?"]
    assert "0 of 12 tasks" in " ".join(fact.text for fact in facts(story, "next")), "that none is done counts too"


# --- what the user insists on -----------------------------------------------------------------------------------------


@rows("rule")
def test_what_is_wanted_always_or_never(rule: str) -> None:
    story = Story()
    story.prompt(f"{REQUEST} {rule}")
    story.reply("Understood.")
    assert [fact.text for fact in facts(story, "rule")] == [rule]


@rows("first", "later", "holds")
def test_what_was_asked_otherwise_later_or_of_one_thing_only_is_no_rule(first: str, later: str, holds: bool) -> None:
    story = asked(first, later, "Name the page after the uploader.", "Add it to the index of pages.")
    assert bool(facts(story, "rule")) is holds


@rows("text")
def test_a_paste_or_a_question_is_no_rule(text: str) -> None:
    story = Story()
    story.prompt(text)
    story.reply("From now on always do as I say.")
    story.run("cat x", "Never mention this.")
    assert facts(story, "rule") == []


# --- the last steps ---------------------------------------------------------------------------------------------------


def test_the_last_steps_are_those_since_the_last_request() -> None:
    story = Story()
    story.prompt(REQUEST)
    story.run("make before", "ok")
    story.prompt("And now the lexer, please, all of it.")
    story.run("make lexer", "built 12 files")
    story.edit("/p/lexer.py", "a", "def lex(): pass")
    story.reply("The lexer is there. It reads the whole of a file at once.")
    told = [fact.text for fact in sorted(facts(story, "step"), key=lambda fact: fact.place)]
    assert [
        any(word in text for text in told) for word in ("make lexer", "lexer.py", "The lexer is there", "make before")
    ] == [
        True,
        True,
        True,
        False,
    ]
