"""How far a plan has come: its steps, and which of their files were edited since."""

from __future__ import annotations

import pytest
from hypothesis import given

from memory_keeper.extract.plans import plan, steps
from memory_keeper.model import Event
from tests.notes.story import Story, sessions

PLAN = """Implement the following plan:

# Retries

## Step 1: Add the loop
Change `src/upload.py` and `src/retry.py`.

## Step 2: Log each try
Change `src/log.py`.

## Step 3: Write the page
In `docs/retry.md`, for users.

## Step 4: Verify
Run `pytest -q tests/upload` and look.
"""
HEADINGS = ["## Step 1: Add the loop", "### 1. Add the loop", "1. **Add the loop**", "**Task 1: Add the loop**"]


def told(story: Story) -> str:
    return "".join(fact.text for fact in plan(story.events))


def test_each_step_says_whether_its_files_were_edited() -> None:
    story = Story()
    story.prompt(PLAN)
    assert told(story) == ""
    story.edit("/srv/app/src/upload.py", "a", "b")
    story.edit("/srv/app/src/log.py", "a", "b")
    story.run("pytest -q tests/upload", "3 passed")
    said = told(story)
    assert "1 Add the loop (partly edited); 2 Log each try (edited)" in said
    assert "3 Write the page (not edited); 4 Verify (run)" in said
    story.reply("Step 3 is done.")
    assert "3 Write the page (said to be done)" in told(story)


def test_a_plan_is_old_when_other_things_were_asked() -> None:
    story = Story()
    story.call("ExitPlanMode", "approved", plan=PLAN)
    story.edit("/srv/app/src/upload.py", "a", "b")
    assert told(story)
    for thing in ("the cart", "the label printer", "the scale", "the display"):
        story.prompt(f"Now look at {thing}, and say what is wrong there.")
    assert not told(story)


@pytest.mark.parametrize("heading", HEADINGS)
def test_steps_are_numbered_in_several_ways(heading: str) -> None:
    text = f"# Plan\n\n{heading}\nIn a.py.\n\n{heading.replace('1', '2').replace('Add the loop', 'Log')}\nIn b.py.\n"
    assert [(step.number, step.title, [*step.files]) for step in steps(text)] == [
        ("1", "Add the loop", ["a.py"]),
        ("2", "Log", ["b.py"]),
    ]


def test_a_command_of_several_steps_tells_of_none() -> None:
    run = "\nRun `pytest -q tests/upload`."
    story = Story()
    story.prompt(
        PLAN.replace("Change `src/log.py`.", "Look at it." + run).replace("In `docs/retry.md`", "In `docs/a.md`")
    )
    story.edit("/srv/app/src/upload.py", "a", "b")
    story.edit("/srv/app/docs/a.md", "a", "b")
    story.run("pytest -q tests/upload", "3 passed")
    assert "(run)" not in told(story)


@given(sessions())
def test_any_events_have_at_most_one_plan(events: list[Event]) -> None:
    assert len(list(plan(events))) <= 1
