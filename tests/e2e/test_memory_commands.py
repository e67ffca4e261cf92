"""`/memory-keeper:save-memory`, `:load-memory` and `:clear-memory` in the real CLI, and standing notes at its start."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from tests.e2e.cli import Sandbox, Session, wait_for
from tests.e2e.kept import keeper, store
from tests.e2e.model import Model, Request, call, flat, text

pytestmark = pytest.mark.e2e

ASKED = "Use SQLite for the invoice store, because one file is enough."


def asked_last(request: Request) -> str:
    """What the model was last asked."""
    users = [message for message in request.body["messages"] if message["role"] == "user"]
    return flat(users[-1]["content"])


def test_saving_loading_and_clearing(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    api.play(text("The store uses SQLite."), text("It is saved."))
    with Session(sandbox) as session:
        session.ask(ASKED)
        session.ask("/memory-keeper:save-memory")
    told = asked_last(api.of("main")[-1])
    assert "Saved session" in told and "memory.md" in told
    memory = sandbox.project / ".claude/memory/memory.md"
    assert "SQLite" in memory.read_text()
    api.play(text("SQLite was chosen."))
    with Session(sandbox) as session:
        session.ask("/memory-keeper:load-memory")
    told = asked_last(api.of("main")[-1])
    assert '<memory-keeper brief="memory"' in told
    assert "one file is enough" in told
    (note,) = keeper(sandbox, checkout, "show", keeper(sandbox, checkout, "brief", "memory")["cites"][0])["wordings"]
    assert note["in_force"]
    assert_clearing_asks(sandbox, api, checkout)


def test_a_large_memory_is_loaded_whole(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    keeper(sandbox, checkout, "note", "set", "project", "Invoices.")
    with Keeper(str(store(sandbox).parent), {}) as kept:
        project = kept.project(str(sandbox.project))
        for number in range(60):
            said = "\n".join(f"Step {number}.{line} was taken, and this is what came of it." for line in range(20))
            kept.writer.add(Note(f"note-{number:012x}", 1e9 + number, "session", 1, project, said, "s1", 400))
    api.play(text("A lot."))
    with Session(sandbox) as session:
        session.ask("/memory-keeper:load-memory")
    told = asked_last(api.of("main")[-1])
    loaded = told[told.index("<memory-keeper brief=") : told.index("</memory-keeper>")]
    assert len(loaded) > 14_000, "no hook tells it, so no hook's limit holds"
    assert "Step 59.0" in loaded


def assert_clearing_asks(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    """It shows what it would do, and does that once somebody says yes."""
    api.play(text("Go on?"))
    with Session(sandbox) as session:
        session.ask("/memory-keeper:clear-memory")
    told = asked_last(api.of("main")[-1])
    assert "begins anew" in told and "Nothing is deleted" in told
    assert '/bin/memory-keeper" clear --yes' in told and "PLUGIN_ROOT" not in told
    assert keeper(sandbox, checkout, "status")["notes"].get("2", 0) == 0, "it only asked"
    command = next(line.strip() for line in told.splitlines() if line.endswith("clear --yes"))
    api.play(call("Bash", command=command, description="archive"), text("Archived."))
    with Session(sandbox, "--allowedTools", "Bash") as session:
        session.ask("Yes, clear it.")
    assert keeper(sandbox, checkout, "status")["notes"]["2"] == 1


def test_the_model_alone_can_run_none_of_them(sandbox: Sandbox, api: Model) -> None:
    api.play(call("Skill", skill="memory-keeper:clear-memory"), text("I could not."))
    with Session(sandbox) as session:
        session.ask("Tidy up.")
    main = api.of("main")
    assert not any("begins anew" in part for part in main[-1].parts())
    for name in ("save-memory", "load-memory", "clear-memory"):
        assert not main[0].saw(f"memory-keeper:{name}")


def test_the_host_s_own_memory_is_kept(sandbox: Sandbox, api: Model, checkout: Path) -> None:
    api.play(text("One."), text("Two."))
    with Session(sandbox) as session:
        session.ask("Say one.")
    (transcript,) = sandbox.transcripts()
    own = transcript.parent / "memory" / "MEMORY.md"
    own.parent.mkdir(exist_ok=True)
    own.write_text("# Memory\n- Tests need a running redis.\n")
    with Session(sandbox) as session:
        session.ask("Say two.")
    assert api.of("main")[-1].saw("Tests need a running redis."), "this is where the host looks for it"
    found = wait_for(lambda: keeper(sandbox, checkout, "search", "redis", "--kind", "memory"), "what it remembers")
    assert [hit["path"] for hit in found] == [str(own)]
    assert own.read_text() == "# Memory\n- Tests need a running redis.\n"
