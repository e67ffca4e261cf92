"""All that is worth telling, the most needed first: grounded in its events, and the same every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.extract.extraction import extract
from memory_keeper.extract.facts import KINDS, Fact, dump, say
from memory_keeper.model import Event
from memory_keeper.text import clean, tokens
from tests.extract.hostile import PIECES, SECONDS, long, seconds, texts
from tests.extract.test_head import OPTIONS
from tests.notes.story import Story, sessions

ROOT = Path(__file__).parents[2]
REQUEST = "Uploads hang on large files since the last release. Find out why in src/pool.py, and mend it."
CAUSE = "The root cause is that open_pool keeps a connection for each part and never gives it back."
# kinds whose text is a quotation of an event they cite, and kinds whose text is of a call, or a path
QUOTES = ("request", "said", "finding", "decision", "done", "rule", "question", "answer", "goal", "accepted", "then")
CALLS = ("command", "check", "error", "edit", "file", "name", "reference")


def session(turns: int = 6) -> Story:
    """A session of some length."""
    story = Story()
    story.prompt(REQUEST)
    story.call("Read", "code", file_path="/srv/app/src/pool.py")
    story.reply("Now I understand the full picture.")
    story.run(
        "cd /srv/app && make test", "--- FAIL: TestUpload (0.00s)\n    up_test.go:41: timed out\nFAIL", failed=True
    )
    story.edit("/srv/app/src/pool.py", "pass", "def close_pool(): pass")
    story.run("cd /srv/app && make test", "ok\n31 passed in 2.0s")
    story.reply(f"{CAUSE} I fixed it by closing the connection in a finally block.\n\nDoes this work for you?")
    for number in range(turns):
        story.prompt(f"And now look at module_{number}.py, which reads the catalogue of shop {number}, please.")
        story.edit(f"/srv/app/src/module_{number}.py", "a", f"def read_{number}(): pass")
        story.run(f"pytest tests/test_{number}.py", f"{number + 3} passed in 1.0s")
        story.reply(f"Module {number} now skips rows without a price because shop {number} sends them by mistake.")
    return story


def letters(text: str) -> str:
    return "".join(char for char in clean(text) if char.isalnum())


def stands_in(text: str, sources: Iterable[str]) -> bool:
    """Whether the letters of a text stand in one of some others, in order; what is left out may be missing."""
    wanted = letters(text)
    for source in sources:
        rest = iter(letters(source))
        if all(char in rest for char in wanted):
            return True
    return False


# --- what is found ----------------------------------------------------------------------------------------------------


def test_the_cause_comes_before_what_announces_it() -> None:
    told = [fact.text for fact in extract(session().events)]
    cause = next(place for place, text in enumerate(told) if text.startswith("The root cause is"))
    empty = [place for place, text in enumerate(told) if text == "Now I understand the full picture."]
    assert not empty or cause < empty[0]


def test_paths_are_told_from_the_project_s_folder() -> None:
    told = [say(fact) for fact in extract(session().events, "/srv/app") if fact.about != "Folder"]
    assert any("src/pool.py" in text for text in told)
    assert not any("/srv/app" in text for text in told)


def test_nothing_is_said_of_no_events() -> None:
    assert extract([]) == []


def test_an_error_that_is_fixed_says_so() -> None:
    errors = [fact for fact in extract(session().events) if fact.kind == "error"]
    assert errors and all(fact.status == "fixed" for fact in errors)


@pytest.mark.parametrize("kind", ["goal", "state"])
def test_the_head_comes_first(kind: str) -> None:
    found = [fact.kind for fact in extract(session(30).events)]
    assert found.index(kind) < min(place for place, one in enumerate(found) if KINDS[one].part in ("story", "files"))


def test_a_short_session_has_its_commands_too() -> None:
    story = Story()
    story.prompt(REQUEST)
    story.run("python3 uploader.py --speed 3", "sent 12 parts")
    story.prompt("Now write docs/limits.md about it, please, as short as you can.")
    told = extract(story.events)
    assert "python3 uploader.py --speed 3" in [fact.text for fact in told if fact.kind == "command"]
    listed = sum(tokens(say(fact)) for fact in told if KINDS[fact.kind].part in ("files", "references"))
    assert listed <= 0.3 * sum(tokens(say(fact)) for fact in told)


def test_lists_do_not_crowd_out_what_is_understood() -> None:
    """Bare names and paths are a small part of what is told."""
    facts = extract(session(30).events)
    listed = sum(tokens(say(fact)) for fact in facts if KINDS[fact.kind].part in ("files", "references"))
    assert listed <= 0.25 * sum(tokens(say(fact)) for fact in facts)


NOISE = {
    "a remark": "PM ready.",
    "bare names": "- File: src/pool.py\n- File: src/up.py",
    "a tree": "├── DESIGN.md # Complete architecture of the pool",
    "a limit": "You've hit your limit · resets 5am (America/Los_Angeles)",
}


@pytest.mark.parametrize("name", NOISE)
def test_what_says_nothing_by_itself_is_not_told(name: str) -> None:
    story = session()
    story.prompt("And now the pool.")
    story.reply(NOISE[name])
    story.edit("/srv/app/src/pool.py", "a", "b")
    story.reply("The pool holds two connections since the lock is taken twice.")
    told = [say(fact) for fact in extract(story.events) if KINDS[fact.kind].part == "story"]
    assert any("The pool holds two" in text for text in told)
    assert not any(line.strip("- ")[:9] in text for line in NOISE[name].splitlines() for text in told)


def test_a_note_made_while_thinking_and_a_script_in_a_document_are_not_told() -> None:
    story = session()
    story.thinking("What I need to do:\n\n- Abort the rebase of the pool branch\n- Restore the lock file of it")
    story.call("Write", "", file_path="/srv/app/docs/pool.md", content="```bash\ngit add src/pool.py src/lock.py\n```")
    told = " ".join(say(fact) for fact in extract(story.events) if KINDS[fact.kind].part == "story")
    assert "Abort the rebase" not in told and "git add" not in told


def test_a_document_that_was_sent_along_does_not_crowd_out_what_came_of_it() -> None:
    story = Story()
    story.prompt(REQUEST)
    story.reply(CAUSE)
    rules = "\n".join(f"- Never use helper_{number} in module {number} of the shop." for number in range(60))
    story.prompt(f"Write the page of these.\n\n# Rules of the shop\n\n{rules}")
    story.reply("The page is docs/rules.md; rule 12 was left out because the module is gone.")
    told = extract(story.events)
    place = next(place for place, fact in enumerate(told) if fact.text.startswith("The page is docs/rules.md"))
    assert sum(fact.kind in ("request", "goal") for fact in told[:place]) < 20


# --- whatever comes ---------------------------------------------------------------------------------------------------


@given(sessions(), st.sampled_from(("", "/p", "/p/q/")))
@example(session().events, "/srv/app")
def test_extracting_twice_says_the_same(events: list[Event], folder: str) -> None:
    assert extract(events, folder) == extract(list(events), folder)


def test_another_process_says_the_same() -> None:
    """Sets have another order there."""
    code = (
        "import json; from tests.extract.test_extraction import session\n"
        "from memory_keeper.extract.extraction import extract\n"
        "from memory_keeper.extract.facts import dump\nprint(json.dumps(dump(extract(session(12).events))))"
    )
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    for seed in ("1", "2", "3"):
        environ = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == json.loads(json.dumps(dump(extract(session(12).events)))), seed


@given(sessions())
@example(session().events)
def test_every_fact_cites_events_that_are_there(events: list[Event]) -> None:
    known = {event.id for event in events}
    for fact in extract(events):
        assert fact.kind in KINDS
        assert fact.cites and set(fact.cites) <= known, fact


@given(sessions())
@example(session().events)
def test_every_quotation_stands_in_what_it_cites(events: list[Event]) -> None:
    known = {event.id: event for event in events}
    for fact in extract(events):
        cited = [known[cite] for cite in fact.cites]
        if fact.kind in QUOTES and fact.who != "host":
            assert stands_in(fact.text.replace("…", " "), (event.text for event in cited)), fact
        if fact.kind in CALLS:
            sources = [text for event in cited for text in (event.text, event.path)]
            assert stands_in(fact.text.replace("…", " "), sources), fact
        if fact.kind in ("check", "error"):
            why = fact.why.replace("…", " ").partition(" and ")[0]
            assert all(stands_in(word, (event.text for event in cited)) for word in why.split()), fact


@given(sessions())
def test_only_what_was_typed_is_the_user_s(events: list[Event]) -> None:
    typed = {event.id for event in events if event.kind in ("prompt", "queued", "result") and not event.agent}
    for fact in extract(events):
        if fact.who == "user":
            assert fact.cites[0] in typed


@given(sessions())
@example(session(12).events)
def test_nothing_is_told_twice(events: list[Event]) -> None:
    told = [(fact.kind, fact.text, fact.place) for fact in extract(events)]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("piece", PIECES)
def test_hostile_text_takes_no_longer_than_other_text(piece: str) -> None:
    """Wherever it stands: in what people and the model say, in commands and what they print, in files."""
    text, in_lines = long(piece, 16_000), texts(piece, 16_000)[-1]
    story = session(2)
    for said in (text, f"yes {in_lines}"):
        story.prompt(said)
        story.reply(said)
    story.thinking(text)
    for number, start in enumerate(("", "make test ", "git commit -m ", "git commit -F - <<A\n", "gh pr create ")):
        story.run(start + text, text, failed=number % 2 == 1)
    story.call("Write", file_path=f"/srv/app/{text[:200]}.md", content=text)
    story.edit("/srv/app/a.py", text, text)
    story.call("Grep", text, pattern="upload_part")
    story.call("Agent", text, prompt=text)
    for kind in ("title", "summary", "notice"):
        story.add(kind, text)
    story.reply(f"{OPTIONS}\n{text}\n1. {text}")
    story.prompt("the second one")
    story.reply(f"## Step 1: {text}\n{text}\n\nNext:\n- {text}\n{text}?")
    assert seconds(lambda: extract(story.events, "/srv/app")) < SECONDS


def test_a_long_session_is_read_while_somebody_waits() -> None:
    story = session(250)
    assert len(story.events) > 1500
    assert seconds(lambda: extract(story.events)) < 4 * SECONDS


def test_a_fact_is_a_value() -> None:
    for fact in extract(session().events):
        assert isinstance(fact, Fact) and isinstance(hash(fact), int)


def test_a_last_answer_of_one_sentence_is_told_once() -> None:
    story = Story()
    story.prompt("Please find out why the pool runs dry.")
    story.reply("The pool holds two connections since the lock is taken twice.")
    assert sum("The pool holds two" in say(fact) for fact in extract(story.events)) == 1


def test_what_was_left_by_an_earlier_answer_is_worth_less_than_what_is_left_now() -> None:
    step = "write the migration of the invoices in stock.py, because the ledger needs it"

    def place(heading: str) -> int:
        story = session(1)
        story.reply(f"Half of it is done.\n\n## {heading}\n- {step}\n- delete the legacy exporter of receipts")
        for what in ("The lexer reads tabs", "The warehouse counts pallets", "The courier prints labels"):
            story.prompt(f"Look at {what.split()[1]}.py please, it seems slow on machines of customers.")
            story.reply(f"{what} now because {what.split()[-1]} were skipped by mistake.")
        return [step in fact.text for fact in extract(story.events)].index(True)

    assert place("Next steps") > place("Invoices"), "it may be done by now"


def test_how_something_was_before_it_was_edited_is_worth_less() -> None:
    says = "Currently retry_upload in stock.py waits a second for the ledger of the invoices, because it needs it."

    def place(path: str) -> int:
        story = session(1)
        story.reply(f"{says}\n\nShall I look at the courier too?")
        for what in ("The lexer reads tabs", "The warehouse counts pallets", "The courier prints labels"):
            story.prompt(f"Look at {what.split()[1]}.py please, it seems slow on machines of customers.")
            story.edit(f"/srv/app/{path}", "wait(1)", "wait(2)")
            story.reply(f"{what} now because {what.split()[-1]} were skipped by mistake.")
        told = [fact.text for fact in extract(story.events)]
        return told.index(says) if says in told else len(told)

    assert place("stock.py") > place("lexer.py"), "it may be otherwise by now"


@pytest.mark.parametrize(
    "says",
    [
        "The reviewer of the ledger module is still idle.",
        "Standing by for the reviewer of the ledger module.",
        "Two reviewers of the ledger launched in parallel.",
    ],
)
def test_what_was_under_way_is_told_behind_what_came_of_it(says: str) -> None:
    story = session(1)
    story.prompt("Have the ledger of the warehouse reviewed, it is slow on machines of customers.")
    story.reply(f"{says} The ledger module sorts its invoices twice.")
    story.prompt("And look at the lexer of the catalogue, which reads the prices, please.")
    story.reply("The lexer reads tabs now because tabs were skipped by mistake.")
    told = [fact.text for fact in extract(story.events)]
    assert says not in told or told.index(says) > told.index("The ledger module sorts its invoices twice.")


def test_what_a_linter_found_on_the_way_is_worth_less_once_a_check_passes() -> None:
    says = "The linter complains because stock.py imports the ledger."

    def is_told(check: str, said: str) -> bool:
        story = session(1)
        story.prompt("Sort the receipts of the warehouse by their price, please.")
        story.thinking(f"The courier is complacent. {says}")
        story.edit("/srv/app/stock.py", "a", "b")
        story.run(check, said)
        story.reply("The warehouse sorts its receipts by price now. It looked at their dates before.")
        return says in [fact.text for fact in extract(story.events)]

    assert is_told("make clean", "removed out/") and not is_told("make lint", "0 issues"), "it is mended by now"
