"""What a session leaves is handed to the context that comes after it: once, the right one's, and within its budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from memory_keeper.text import family, tokens
from tests.e2e.cli import Sandbox, Session, wait_for
from tests.e2e.model import Model, Reply, Request, call, text

pytestmark = pytest.mark.e2e

TOOLS = ("--allowedTools", "Bash")
ASKED = "Build the parser in parser.py, and keep the old one working."
BRIEF = re.compile(r"<memory-keeper brief=\"(\w+)\".*?</memory-keeper>", re.DOTALL)
OF = re.compile(r"andoff of session (\w{8})")


@pytest.fixture(params=["sandbox", "old"])
def home(request: pytest.FixtureRequest) -> Sandbox:
    """A home of the current CLI, and one of an older one."""
    made = request.getfixturevalue(request.param)
    assert isinstance(made, Sandbox)
    return made


def newest(sandbox: Sandbox) -> str:
    """The session whose transcript was written last."""
    written = lambda: [path for path in sandbox.transcripts() if "subagents" not in str(path)]  # noqa: E731
    return wait_for(written, "a transcript, which the host writes a moment later")[-1].stem


def work(sandbox: Sandbox, api: Model, *more: Reply) -> str:
    """A session with one request; its id."""
    api.play(call("Bash", command="echo ok > parser.py", description="build"), text("The parser is built."), *more)
    with Session(sandbox, *TOOLS) as session:
        session.ask(ASKED)
    return newest(sandbox)


@contextmanager
def killed(sandbox: Sandbox, api: Model) -> Iterator[str]:
    """A session that is killed in the middle of a turn, after its tool has run; its id."""
    asked, over = Event(), Event()

    def never(request: Request) -> Reply:
        asked.set()
        over.wait(60)
        return text("Too late.")

    api.play(call("Bash", command="echo ok > parser.py", description="build"), never)
    with Session(sandbox, *TOOLS) as session:
        assert session.process.stdin
        prompt = {"type": "user", "message": {"role": "user", "content": ASKED}}
        session.process.stdin.write(json.dumps(prompt) + "\n")
        session.process.stdin.flush()
        assert asked.wait(60)
        id = newest(sandbox)
        wait_for(lambda: b"tool_result" in sandbox.transcripts()[-1].read_bytes(), "the tool's result")
        session.process.kill()
        session.process.wait()
        over.set()
    yield id


def briefs(request: Request) -> list[tuple[str, str]]:
    """The briefs that a request carries: their names and their texts."""
    parts = [*request.parts()]
    return [(found[1], found[0]) for part in parts for found in BRIEF.finditer(part)]


def assert_handed(request: Request, session: str, name: str, budget: int) -> str:
    """A request has the handoff of this session once, in a brief of that name, and no other one's; the brief."""
    handed = [(kind, brief) for kind, brief in briefs(request) if OF.search(brief)]
    assert [kind for kind, _ in handed] == [name], briefs(request)
    brief = handed[0][1]
    assert OF.findall(brief) == [session[:8]]
    assert ASKED in brief
    assert tokens(brief, family(request.body["model"])) <= budget
    assert brief.count(ASKED) == 1
    return brief


def assert_written(sandbox: Sandbox, session: str) -> None:
    """The handoff is there for people too."""
    path = sandbox.project / f".claude/memory/handoffs/HANDOFF-{session}.md"
    wait_for(path.exists, "the file of a handoff")
    page = path.read_text()
    assert re.match(rf"---\nsession: {session}\nnote: handoff-\w+\nat: [-0-9T:]+Z\ntokens: \d+\n---\n# ", page)
    assert ASKED in page


def test_after_a_clear_and_the_next_day(home: Sandbox, api: Model) -> None:
    api.play(call("Bash", command="true", description="b"), text("The parser is built."), text("On."), text("Hello."))
    with Session(home, *TOOLS) as session:
        session.ask(ASKED)
        first = newest(home)
        session.ask("/clear")
        session.ask("Go on with the parser.")
    assert_handed(api.of("main")[-1], first, "handoff", 2000)
    assert_written(home, first)
    second = newest(home)
    assert second != first
    wait_for(lambda: (home.project / f".claude/memory/handoffs/HANDOFF-{second}.md").exists(), "its handoff")
    with Session(home) as session:
        session.ask("Good morning.")
    assert_handed(api.of("main")[-1], second, "start", 1500)
    lines = [line for part in api.of("main")[-1].parts() for line in part.splitlines()]
    listed = [line.split(": ")[0] for line in lines if line.startswith("- memory-keeper:")]
    assert sorted(listed) == ["- memory-keeper:delta-summarizer", "- memory-keeper:recall"], "one agent and one skill"


def test_a_resume_is_told_once_and_a_fork_not_again(home: Sandbox, api: Model) -> None:
    first = work(home, api, text("Here I am."), text("Again."), text("Forked."))
    assert_written(home, first)
    for prompt in ("What now?", "And now?"):
        with Session(home, "--resume", first) as session:
            session.ask(prompt)
        assert_handed(api.of("main")[-1], first, "handoff", 300)
    with Session(home, "--resume", first, "--fork-session") as session:
        session.ask("And in another way?")
    assert newest(home) != first
    assert_handed(api.of("main")[-1], first, "handoff", 300)


def test_one_that_was_killed_is_handed_to_the_next(sandbox: Sandbox, api: Model) -> None:
    with killed(sandbox, api) as first:
        api.play(text("I see."))
        with Session(sandbox) as session:
            session.ask("Where were we?")
    brief = assert_handed(api.of("main")[-1], first, "start", 1500)
    assert "parser.py" in brief
    assert_written(sandbox, first)


def test_one_that_was_killed_goes_on(sandbox: Sandbox, api: Model) -> None:
    with killed(sandbox, api) as first:
        api.play(text("I see."))
        with Session(sandbox, "-c") as session:
            session.ask("Where were we?")
    assert newest(sandbox) == first
    assert_handed(api.of("main")[-1], first, "handoff", 300)
    assert_written(sandbox, first)
