"""What a session is about, what was said last, and what was typed rather than pasted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from memory_keeper.model import Event
from memory_keeper.reduce.finding.goal import as_typed, goal, has_goal, turns
from memory_keeper.reduce.notes.digest import digest
from tests.reduce.story import Story, sessions

WORK = "Prices are formatted in four places of the shop. Put that into one module and use it everywhere."


def about(story: Story) -> str:
    found = goal(turns(story.events))
    return next((event.text for event in story.events if event.id == found), "")


@pytest.mark.parametrize(
    "errand",
    [
        "Let me ask the backend people first. Commit what you have on a branch money-format.",
        "그건 내일 이어서 하자. 일단 지금까지 한 것만 커밋해줘.",
        "yes",
        "1",
        "now run all of the tests again please",
        "Why is the second column of that table so much wider than the first one is?",
        "/review",
    ],
)
def test_an_errand_is_no_goal(errand: str) -> None:
    story = Story()
    story.prompt(WORK)
    story.edit("/p/money.ts", "a", "b")
    story.reply("The module is there.")
    story.prompt(errand)
    story.run("git status", "")
    story.reply("Done.")
    assert about(story) == WORK
    lines = [one.text for one in digest(story.events, 500) if one.section in ("goal", "asked")]
    assert [line.partition(": ")[0] for line in lines] == ["Goal", "Asked last"]


def test_what_a_nod_sets_going_belongs_to_the_request_before() -> None:
    story = Story()
    story.prompt(WORK)
    story.reply("Shall I begin with the cart?")
    story.prompt("ok, do it")
    story.edit("/p/cart.ts", "a", "b")
    assert about(story) == WORK


def test_a_rule_alone_is_no_goal() -> None:
    story = Story()
    story.prompt(WORK)
    story.edit("/p/money.ts", "a", "b")
    story.prompt("Never use export default in this code base, we want named exports and nothing else.")
    story.edit("/p/money.ts", "b", "c")
    assert about(story) == WORK


def test_an_exception_for_once_is_no_goal() -> None:
    story = Story()
    story.prompt(WORK)
    story.edit("/p/money.ts", "a", "b")
    story.prompt("Could you always be so kind? For this commit only, skip make check and commit what is there.")
    story.edit("/p/money.ts", "b", "c")
    assert about(story) == WORK


def test_a_plan_with_tasks_is_the_goal_however_short_it_is() -> None:
    story = Story()
    story.prompt(WORK)
    story.edit("/p/money.ts", "a", "b")
    story.reply("It is done.")
    story.prompt("Plan: port the parser.")
    story.call("TodoWrite", "Todos were changed", todos=[{"content": "Port the lexer", "status": "pending"}])
    story.reply("The plan is made.")
    assert about(story) == "Plan: port the parser."


def test_work_is_the_goal_though_a_rule_comes_in_the_same_breath() -> None:
    asked = f"{WORK[:-1]}, and from now on always run make check before you commit."
    story = Story()
    story.prompt("The shop needs a page for invoices. Write it after the one for orders, with the same header.")
    story.edit("/p/invoices.ts", "a", "b")
    story.prompt(asked)
    story.edit("/p/money.ts", "b", "c")
    assert about(story) == asked


@pytest.mark.parametrize(
    ("asked", "own"),
    [
        ("Fix the typo in cart.py, and from now on always run make check before you commit.", True),
        ("Looks good, but use httpx instead of requests from now on.", False),
        ("Fine, thanks. Never push to main.", False),
    ],
)
def test_a_rule_makes_no_goal_and_hides_none(asked: str, own: bool) -> None:
    story = Story()
    story.prompt(asked)
    story.run("sed -i s/a/b/ cart.py")
    assert has_goal(turns(story.events)) is own


def test_what_is_being_worked_on_is_the_goal() -> None:
    story = Story()
    story.prompt(WORK)
    story.edit("/p/money.ts", "a", "b")
    story.reply("It is done.")
    asked = "The order table takes four seconds for two thousand rows. Find out what is so slow and mend it."
    story.prompt(asked)
    story.call("Read", "x", file_path="/p/table.ts")
    assert about(story) == asked


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        (
            "It fails like this:\n```\nTypeError: x\n  at y\n```\nPlease mend it.",
            "It fails like this: … Please mend it.",
        ),
        ("See this:\n> quoted words of a page\n> and more", "See this: …"),
        ("erm... ```", "erm... …"),
        ('It says {"time": "2026-02-15T20:46:19", "level": "DEBUG", "msg": "hook invoked"}', "It says …"),
        ("one line is as it was", "one line is as it was"),
        ("## Plan\nStore the code.", "Plan Store the code."),
    ],
)
def test_what_was_pasted_is_left_out(typed: str, own: str) -> None:
    assert as_typed(typed) == own


def test_a_choice_is_told_as_what_was_chosen() -> None:
    story = Story()
    story.reply("There are two ways.\nA) Keep the table and add a column\nB) Make a second table\nWhich one?")
    story.prompt("yes, let's go with A")
    lines = [one.text for one in digest(story.events, 500)]
    assert 'Decided: "Keep the table and add a column"' in lines


@given(sessions())
@settings(max_examples=50)
def test_any_session_has_a_goal_where_something_was_asked(events: list[Event]) -> None:
    found = turns(events)
    assert bool(goal(found)) == bool(found)
    assert goal(found) in {"", *(turn.asked.id for turn in found)}


@pytest.mark.parametrize(
    "more",
    [
        "While you are at it: fewer than one try makes no sense, so let with_retry raise a ValueError for that.",
        "Also, the table of the invoices should have its numbers at the right and its names at the left, as before.",
        "One more thing: the module should say in its first line which currencies it knows, and which it does not.",
        "And by the way, please write the sum in bold letters, in the invoice and in the cart and on the label too.",
    ],
)
def test_what_adds_to_a_request_is_no_new_goal(more: str) -> None:
    story = Story()
    story.prompt(WORK)
    story.edit("/p/money.ts", "a", "b")
    story.reply("The module is there.")
    story.add("compact", "")
    story.prompt(more)
    story.edit("/p/money.ts", "b", "c")
    story.reply("Done.")
    assert about(story) == WORK
    alone = Story()
    alone.prompt(more)
    alone.edit("/p/money.ts", "b", "c")
    assert about(alone) == more, "it is all there is"


@pytest.mark.parametrize(
    ("asked", "own"),
    [
        ("hello", False),
        ("Hi there, good to see you again!", False),
        ("What did we do last time? See src/retry.py", False),
        ("Go on with the invoices", False),
        ("Yes, downloads as well.", False),
        ("Add SMS login to src/login.py.", True),
        ("History needs an index.", True),
    ],
)
def test_whether_a_session_has_a_goal_of_its_own(asked: str, own: bool) -> None:
    story = Story()
    story.prompt(asked)
    story.reply("Good.")
    assert has_goal(turns(story.events)) is own


def test_what_was_asked_again_is_what_was_asked_last() -> None:
    """It was worked on before, and in between on something else."""
    story = Story()
    for asked in (WORK, "Go on with the invoices", "Check the label printer on port 9100", "Go on with the invoices"):
        story.prompt(asked)
        story.reply("That is done.")
    said = [line.text for line in digest(story.events, 500)]
    assert 'Asked last: "Go on with the invoices"' in said
