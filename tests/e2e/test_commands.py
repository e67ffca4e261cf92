"""Every slash command and skill of the plugin, walked in the real CLIs: what its command lines print reaches the model,
nobody is asked for a permission, and what is typed after it is never run."""

from __future__ import annotations

import pytest

from tests.e2e.cli import Sandbox, Session
from tests.e2e.conftest import ROOT
from tests.e2e.model import Model, Request, call, flat, text
from tests.e2e.tui import Tui

pytestmark = pytest.mark.e2e

ASKED = "Use SQLite for the invoice store, because one file is enough."
SERVER = "mcp__plugin_memory-keeper_keeper__"
# what the model is shown of each, once something was said; the last one may end the session
SHOWN = {
    "save-memory": "Saved session",
    "load-memory": '<memory-keeper brief="memory"',
    "handoff": "HANDOFF-",
    "status": "  kept           ",
    "context-check": " tokens",
    "why": "was told",
    "search": "Look this up in Memory Keeper: invoice store",
    "search-memory": "Look this up in Memory Keeper: invoice store",
    "clear-memory": "Nothing is deleted",
    "memory-delta": "Hand its summary to: memory-keeper summarize --with agent --note note-",
    "compress-context": "CONTEXT_ARCHIVE.md",
    "soft-restart": "handoff",
    "fresh-start": "begins with nothing",
}
# and of each that has a command line, when nothing was said yet; the first one begins the session
NOTHING_YET = {
    "context-check": "There is no transcript of session",
    "save-memory": "has said nothing yet",
    "load-memory": "Nothing is saved of this project yet",
    "handoff": "has said nothing yet",
    "status": "kept",
    "why": "was told",
    "clear-memory": "begins anew",
    "memory-delta": "No note of this project waits",
    "compress-context": "has said nothing yet",
    "soft-restart": "has said nothing yet",
    "fresh-start": "has said nothing yet",
}
HOSTILE = '"it\'s" $(touch one) `touch two`; touch three && !`touch four` | tee five'


@pytest.fixture(params=["sandbox", "old"])
def box(request: pytest.FixtureRequest) -> Sandbox:
    """A home of either CLI with our plugin installed, and a project whose path is at its worst."""
    made: Sandbox = request.getfixturevalue(request.param)
    made.project = made.project.rename(made.root / "my prôject ü")
    return made


def typed(name: str) -> str:
    """A command as a user types it."""
    return f"/memory-keeper:{name}" + (" invoice store" if name.startswith("search") else "")


def asked_last(request: Request) -> str:
    """What the model was last asked."""
    users = [message for message in request.body["messages"] if message["role"] == "user"]
    return flat(users[-1]["content"])


def run(session: Session, api: Model, name: str) -> str:
    """What the model is shown of a command; its own tools it may use, and nobody is asked."""
    steps = [call(f"{SERVER}search", query="invoice")] if name.startswith("search") else []
    api.play(*steps, text("I see."))
    told = session.ask(typed(name))
    assert told[-1]["result"] == "I see.", told[-1]
    assert told[-1]["permission_denials"] == []
    return asked_last(api.of("main")[-1 - len(steps)])


def test_the_table_names_them_all() -> None:
    commands = {path.stem for path in (ROOT / "plugin/commands").glob("*.md")}
    skills = {path.parent.name for path in (ROOT / "plugin/skills").glob("*/SKILL.md")}
    assert commands | skills - {"recall"} == set(SHOWN)  # that one is the model's: below
    assert {name for name in SHOWN if not name.startswith("search")} == set(NOTHING_YET)


def test_each_shows_the_model_what_it_did(box: Sandbox, api: Model) -> None:
    api.play(text("The store uses SQLite."))
    with Session(box) as session:
        session.ask(ASKED)
        for name, shown in SHOWN.items():
            seen = run(session, api, name)
            assert shown in seen, (name, seen)
            assert "memory-keeper: " not in seen.replace("hint: ", ""), (name, seen)
            assert "!`" not in seen and "PLUGIN_ROOT" not in seen, (name, seen)


def test_each_says_when_there_is_nothing_yet(sandbox: Sandbox, api: Model) -> None:
    with Session(sandbox) as session:
        for name, shown in NOTHING_YET.items():
            seen = run(session, api, name)
            assert shown in seen, (name, seen)
            assert "Traceback" not in seen


def test_in_a_terminal_nobody_is_asked_for_a_permission(sandbox: Sandbox, api: Model) -> None:
    clearing = ("soft-restart", "fresh-start")  # what is answered may be gone from the screen at once
    commands = {name: shown for name, shown in SHOWN.items() if name not in clearing}
    api.play(text("The store uses SQLite."), *(text(f"Seen {name}.") for name in (*commands, "fresh-start")))
    with Tui(sandbox, "--permission-mode", "default") as tui:
        tui.type(ASKED)
        tui.wait("The store uses SQLite.")
        for name, shown in commands.items():
            tui.type(typed(name))
            tui.wait(f"Seen {name}.")
            assert shown in asked_last(api.of("main")[-1]), name
        tui.type(typed("fresh-start"))
        tui.wait("Memory Keeper brought nothing back")
        assert SHOWN["fresh-start"] in asked_last(api.of("main")[-1])


def test_what_is_typed_after_one_is_never_run(box: Sandbox, api: Model) -> None:
    with Session(box) as session:
        for name in ("search", "why", "handoff"):
            api.play(text("I see."))
            session.ask(f"/memory-keeper:{name} {HOSTILE}")
            assert "touch three" in asked_last(api.of("main")[-1])
    assert {path.name for path in box.project.iterdir()} <= {".claude"}


def test_the_model_is_told_how_to_look_things_up(box: Sandbox, api: Model) -> None:
    """The host asks once whether the model may use the skill; its tools are then allowed."""
    api.play(call("Skill", skill="memory-keeper:recall"), call(f"{SERVER}search", query="invoice"), text("Nothing."))
    with Session(box, "--allowedTools", "Skill(memory-keeper:recall)") as session:
        told = session.ask("What did we decide about invoices?")
    assert told[-1]["permission_denials"] == []
    assert api.of("main")[-1].saw("Its tools give little first")
