"""A model words the notes: the user's own Claude Code without a screen, or an agent of the session. Whatever it does
instead, the note that was made by rule stays."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.cli import OLD, VERSION, Json, Sandbox, Session, read_quietly, wait_for
from tests.e2e.conftest import have
from tests.e2e.kept import rows
from tests.e2e.model import Model, Reply, Request, Step, call, fail, flat, text
from tests.e2e.net import Net
from tests.e2e.tui import Tui

pytestmark = pytest.mark.e2e

SECRET = "the-old-port-was-4242"
ASKED = "Give server.py the option --port, 7311 by default because 8080 is taken; @old-ports.txt says which were used."
DID = "server.py has the option --port now, and 7311 is its default. delta_temp.txt is as it was."
GOOD = "The user asked for the option --port in server.py, with 7311 as the default because 8080 is taken."
BETTER = "server.py has the option --port, and 7311 is the default since 8080 is taken."
VERSIONS = (VERSION, OLD)
TOLD = "It was worded anew."
COMMAND = "/memory-keeper:memory-delta"
MARK = "MEMORY_KEEPER_INSIDE"  # what only the Claude Code that we start ourselves has in its environment


class Desk(NamedTuple):
    """A home in which a session was recorded and has its note."""

    sandbox: Sandbox
    api: Model
    checkout: Path


def furnish(sandbox: Sandbox, installed: Sandbox) -> None:
    """Have the plugin, and put the CLI where it is found."""
    (sandbox.root / "bin").mkdir()
    (sandbox.root / "bin/claude").symlink_to(sandbox.cli)
    sandbox.env["PATH"] = f"{sandbox.root / 'bin'}:{sandbox.env['PATH']}"
    sandbox.begin_as(installed)
    (sandbox.project / "old-ports.txt").write_text(SECRET)


@pytest.fixture(scope="module")
def desk(cli: Path, net: Net, checkout: Path, installed: Sandbox) -> Iterator[Desk]:
    """One for all stories that leave it as they found it: with a note, and nobody at work."""
    api = Model(net.listen())
    sandbox = Sandbox(cli, net, api.url)
    furnish(sandbox, installed)
    work(sandbox, api)
    wait_for(lambda: first_note(sandbox), "the note of the session")
    yield Desk(sandbox, api, checkout)
    sandbox.close()
    api.close()


@pytest.fixture
def fresh(request: pytest.FixtureRequest, net: Net, api: Model, checkout: Path) -> Iterator[Desk]:
    """One for a story of its own, with any version; nothing has happened there yet."""
    version = getattr(request, "param", VERSION)
    sandbox = Sandbox(have(version), net, api.url)
    furnish(sandbox, request.getfixturevalue("installed" if version == VERSION else "old_installed"))
    yield Desk(sandbox, api, checkout)
    sandbox.close()


def work(sandbox: Sandbox, api: Model) -> None:
    """A session that does something and ends."""
    server = sandbox.project / "server.py"
    server.unlink(missing_ok=True)
    api.play(call("Write", file_path=str(server), content="PORT = 7311\n"), text(DID))
    with Session(sandbox, "--allowedTools", "Write") as session:
        session.ask(ASKED)


def settings(sandbox: Sandbox, **given: object) -> None:
    """The user's settings for summarizers."""
    folder = sandbox.home / ".local/share/memory-keeper"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"summarize": given}))


def summarize(desk: Desk, *args: str) -> subprocess.CompletedProcess[str]:
    """`memory-keeper summarize ARGS`, patient for as short as one may be."""
    command = [str(desk.checkout / "memory-keeper"), "summarize", *args]
    env = {**desk.sandbox.env, "MEMORY_KEEPER_SUMMARIZE_TIMEOUT": "5"}
    return desk.sandbox.net.run(command, env=env, cwd=desk.sandbox.project)


def first_note(sandbox: Sandbox) -> str:
    """The note of the oldest session."""
    found = rows(sandbox, "select id from note where level = 1 and replaces = '' order by seq limit 1")
    return found[0][0] if found else ""


def wordings(sandbox: Sandbox, note: str) -> list[tuple[str, Json]]:
    """What a note said at first, and what it says since; the last is in force."""
    found = rows(sandbox, "select text, extra from note where id = ?1 or replaces = ?1 order by seq", note)
    return [(said, json.loads(extra)) for said, extra in found]


def traces(sandbox: Sandbox) -> tuple[list[Path], list[str], list[tuple[str, ...]]]:
    """What a session leaves: a transcript, a spool, events."""
    spools = sorted(path.name for path in (sandbox.home / ".local/share/memory-keeper/spool").iterdir())
    return sandbox.transcripts(), spools, rows(sandbox, "select distinct session from event order by 1")


def inside(sandbox: Sandbox) -> list[int]:
    """The processes of the Claude Code that we started ourselves."""
    return [
        int(pid) for pid in sandbox._processes() if f"{MARK}=".encode() in read_quietly(Path(f"/proc/{pid}/environ"))
    ]


def nothing_is_left(sandbox: Sandbox) -> None:
    """No process, and no folder that one worked in."""
    wait_for(lambda: not sandbox._processes(), "the end of the last process")
    assert not list((sandbox.root / "tmp").glob("mk-*"))


# --- claude-cli ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fresh", VERSIONS, indirect=True)
def test_claude_code_words_a_note_and_nothing_is_set_off(fresh: Desk) -> None:
    sandbox, api, _ = fresh
    work(sandbox, api)
    ran = sandbox.root / "a-hook-ran"
    hook = {"hooks": [{"type": "command", "command": f"touch {ran}"}]}
    user = sandbox.home / ".claude/settings.json"
    hooks = {event: [hook] for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")}
    user.write_text(json.dumps({**json.loads(user.read_text()), "hooks": hooks}))
    (sandbox.home / ".claude/CLAUDE.md").write_text("Speak like a pirate.")
    nothing_is_left(sandbox)
    left, asked = traces(sandbox), len(api.requests)
    api.play(notes=[text(GOOD)])

    done = summarize(fresh, "--with", "claude-cli", "--again")

    assert done.returncode == 0, done.stderr
    assert "claude-cli" in done.stdout and "$0.0" in done.stdout
    (request,) = api.requests[asked:]
    assert request.kind == "note" and not request.body.get("tools")
    assert "haiku" in request.body["model"]
    assert request.saw(f"| prompt: {ASKED.replace('@', '＠')}")  # fenced, and nobody is sent the file
    assert not any(request.saw(needle) for needle in (SECRET, "pirate", "memory-keeper", "Memory Keeper"))
    assert traces(sandbox) == left and not ran.exists()
    nothing_is_left(sandbox)

    note = first_note(sandbox)
    said, extra = wordings(sandbox, note)[-1]
    assert said == GOOD
    assert (extra["by"], extra["tokens_in"], extra["tokens_out"]) == ("claude-cli", 100, 20)
    assert extra["cost"] > 0
    known = {id for (id,) in rows(sandbox, "select id from event where covered_by = ?", note)}
    assert len(extra["cites"]) == 1 and extra["cites"][0] and known.issuperset(extra["cites"][0])


def kill_it(sandbox: Sandbox) -> Step:
    """Claude Code is killed while it waits for the model."""

    def answer(request: Request) -> Reply:
        for pid in inside(sandbox):
            os.kill(pid, signal.SIGKILL)
        return text(GOOD)

    return answer


# of every kind; `notes/summarizers/test_verdict.py` has the answers that are read and not taken
BAD: dict[str, tuple[list[Step], int, str]] = {
    "refuses": ([text("I'm sorry, but I can't help with that.")], 1, "refusal"),
    "a tool call": ([call("Bash", command="touch it")], 1, "turns"),
    "no words": ([text("")] * 2, 1, "nothing"),  # Claude Code itself asks once more
    "overloaded": ([fail(529), fail(500), fail(529)], 4, "529"),  # it tries that often itself
}


@pytest.mark.parametrize("how", [*BAD, "killed"])
def test_a_bad_answer_leaves_the_note_as_it_is(desk: Desk, how: str) -> None:
    sandbox, api, _ = desk
    steps, code, why = BAD.get(how) or ([kill_it(sandbox)], 1, "without an answer")
    note = first_note(sandbox)
    before, left = wordings(sandbox, note), traces(sandbox)
    api.play(notes=steps)

    done = summarize(desk, "--with", "claude-cli", "--note", note)

    assert api.left("note") == 0
    assert done.returncode == code, done.stdout + done.stderr
    line, *_hint = done.stderr.splitlines()
    assert why in line and "stays as it was" in line
    assert wordings(sandbox, note) == before
    assert traces(sandbox) == left and not (sandbox.project / "it").exists()
    nothing_is_left(sandbox)
    if code == 4 or how == "killed":  # which says nothing about the next time
        api.play(notes=[text(BETTER)])
        assert summarize(desk, "--with", "claude-cli", "--note", note).returncode == 0
        assert wordings(sandbox, note)[-1][0] == BETTER


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_summarize_itself_is_ended(desk: Desk, how: signal.Signals) -> None:
    sandbox, api, checkout = desk
    note, go_on = first_note(sandbox), threading.Event()
    before, asked = wordings(sandbox, note), len(api.of("note"))
    api.play(notes=[later(text(GOOD), go_on)])
    command = [str(checkout / "memory-keeper"), "summarize", "--with", "claude-cli", "--note", note]
    with sandbox.net.start(command, env=sandbox.env, cwd=sandbox.project, stderr=subprocess.PIPE) as process:
        wait_for(lambda: len(api.of("note")) > asked, "the question")
        process.send_signal(how)
    go_on.set()  # what is killed cannot end what it started: that ends when it has its answer
    wait_for(lambda: not sandbox._processes(), "the end of the last process")
    assert wordings(sandbox, note) == before
    if how == signal.SIGKILL:
        for folder in (sandbox.root / "tmp").glob("mk-*"):
            folder.rmdir()  # it is empty
    nothing_is_left(sandbox)


def later(reply: Reply, go_on: threading.Event) -> Step:
    """A reply that the test lets go."""

    def answer(request: Request) -> Reply:
        go_on.wait(60)
        return reply

    return answer


# --- in the background -----------------------------------------------------------------------------------------------


def test_after_a_session_its_note_is_worded_and_nobody_waits(fresh: Desk) -> None:
    sandbox, api, _ = fresh
    settings(sandbox, level1="claude-cli")
    go_on = threading.Event()
    api.play(notes=[later(text(GOOD), go_on)])
    work(sandbox, api)  # and it has ended, so no hook waits for the model
    note = wait_for(lambda: first_note(sandbox), "the note of the session")
    wait_for(lambda: api.of("note"), "the question for a better one")
    at_it = set(sandbox._processes())

    api.play(text("Morning."))
    with Session(sandbox) as session:
        session.ask("Good morning.")
    wait_for(lambda: at_it.issuperset(sandbox._processes()), "the end of the second writer")
    assert len(api.of("note")) == 1  # who is at it has the lease
    assert [extra["by"] for _, extra in wordings(sandbox, note)] == ["extractive"]

    go_on.set()
    wait_for(lambda: len(wordings(sandbox, note)) == 2, "the better wording")
    said, extra = wordings(sandbox, note)[-1]
    assert (said, extra["by"]) == (GOOD, "claude-cli")
    nothing_is_left(sandbox)
    assert len([request for request in api.of("note") if request.saw("--port")]) == 1


def test_the_daily_budget_is_the_users_and_a_failure_is_not_repeated_at_once(fresh: Desk) -> None:
    sandbox, api, _ = fresh
    project = sandbox.project / ".claude/memory-keeper.json"
    project.parent.mkdir()
    project.write_text(json.dumps({"summarize": {"dailyTokens": 1_000_000}}))
    settings(sandbox, level1="claude-cli", dailyTokens=300)
    work(sandbox, api)
    nothing_is_left(sandbox)
    assert first_note(sandbox) and not api.of("note")
    settings(sandbox, level1="claude-cli")
    api.play(notes=[fail(529)] * 3)
    for _ in range(2):
        work(sandbox, api)
        nothing_is_left(sandbox)
        assert len(api.of("note")) == 3
    assert {json.loads(extra)["by"] for (extra,) in rows(sandbox, "select extra from note where level = 1")} == {
        "extractive"
    }


# --- agent -----------------------------------------------------------------------------------------------------------


class Skill(NamedTuple):
    """What a model reads when the command is typed."""

    note: str
    file: str
    agent: str
    command: str  # that hands something over


def read_skill(request: Request) -> Skill:
    """Understand it as a model would."""
    said = "\n".join(part for part in request.parts() if "Base directory for this skill" in part)
    said = said[said.rindex("Base directory for this skill") :]
    found = re.search(r"(note-[0-9a-f]{12}) is about what stands in (/.*)", said)
    agent, command = re.search(r"Call the agent `(.*?)`", said), re.search(r"```bash\n(.*?)\n```", said, re.S)
    assert found and agent and command, said
    return Skill(found[1], found[2], agent[1], command[1])


def delegate(request: Request) -> Reply:
    """The model has the agent read the file."""
    skill = read_skill(request)
    given = {"description": "sum up", "prompt": f"Read {skill.file}", "run_in_background": False}
    return call("Agent", subagent_type=skill.agent, **given)


def hand_over(request: Request) -> Reply:
    """The model hands the agent's answer to us, or waits for it."""
    last = flat(request.body["messages"][-1]["content"])
    if "Async agent launched" in last:
        return text("Waiting for the agent.")
    found = re.search(r"<result>(.*)</result>", last, re.S)
    report = last.rpartition("The report follows:\n")[2].partition("\nagentId:")[0]  # how it is framed, if at all
    return hand(found[1] if found else report)(request)


def hand(said: str) -> Callable[[Request], Reply]:
    """The model hands something to us."""

    def answer(request: Request) -> Reply:
        skill = read_skill(request)
        command = skill.command.replace("<id>", skill.note).replace("<the answer>", said)
        return call("Bash", command=command, description="hand it over")

    return answer


def read_file(request: Request) -> Reply:
    """The agent reads the file it is told of."""
    found = re.search(r"Read (/.*delta_temp\.txt)", "\n".join(request.parts()))
    assert found
    return call("Read", file_path=found[1])


def begin(desk: Desk, session: Session) -> None:
    """A turn that does something worth a note."""
    desk.api.play(call("Bash", command="echo PORT = 7311", description="try it"), text(DID))
    session.ask(ASKED)


def delta(desk: Desk, session: Session, *main: Step, agents: Iterable[Step] = ()) -> Skill:
    """Type the command; what the model was told of it."""
    api = desk.api
    before = len(api.of("main"))
    api.play(*main, agents=agents)
    told = session.ask(COMMAND)
    assert (api.left("main"), api.left("agent")) == (0, 0), told
    return read_skill(api.of("main")[before])


def assert_worded_by_agent(desk: Desk, note: str) -> None:
    """The note says what the agent said, and where that is from."""
    (_, rule), (said, extra) = wordings(desk.sandbox, note)
    assert (rule["by"], extra["by"], said) == ("extractive", "agent", GOOD)
    known = {id for (id,) in rows(desk.sandbox, "select id from event where covered_by = ?", note)}
    assert len(extra["cites"]) == 1 and extra["cites"][0] and known.issuperset(extra["cites"][0])
    assert not (desk.sandbox.project / ".claude/memory/delta_temp.txt").exists()


@pytest.mark.parametrize("fresh", VERSIONS, indirect=True)
def test_an_agent_words_a_note_and_the_model_never_reads_the_record(fresh: Desk) -> None:
    sandbox, api, _ = fresh
    with Session(sandbox) as session:
        begin(fresh, session)
        skill = delta(fresh, session, delegate, hand_over, text(TOLD), agents=[read_file, text(GOOD)])
    assert_worded_by_agent(fresh, skill.note)
    first, last = api.of("agent")
    assert [tool["name"] for tool in first.body["tools"]] == ["Read"] and "haiku" in first.body["model"]
    assert last.saw(f"| prompt: {ASKED}") and not last.saw(SECRET)
    assert not any(request.saw("| prompt:") for request in api.of("main"))

    # what it costs a session that does not use it: one short line among the agents, none among the skills
    read = "\n".join(api.of("main")[0].parts())
    (line,) = [line for line in read.splitlines() if "delta" in line and "memory-keeper" in line]
    assert line.startswith("- memory-keeper:delta-summarizer") and len(line) < 100


def hand_over_or_tell(request: Request) -> Reply:
    """The model goes on: with the answer of an agent that ran in the background, or to the end."""
    reports = "<result>" in flat(request.body["messages"][-1]["content"])
    return hand_over(request) if reports else text(TOLD)


def test_an_agent_words_a_note_on_the_screen(desk: Desk) -> None:
    sandbox, api, _ = desk
    api.play(text(DID), delegate, hand_over, hand_over_or_tell, text(TOLD), agents=[read_file, text(GOOD)])
    with Tui(sandbox, "--permission-mode", "default") as tui:
        tui.type(ASKED)
        tui.finish(1)
        tui.type(COMMAND)
        tui.wait("delta-summarizer(sum up)")
        wait_for(lambda: TOLD in approve(tui), TOLD)
        assert_worded_by_agent(desk, read_skill(api.of("main")[-1]).note)
        tui.leave()
    api.left("main")


def approve(tui: Tui) -> str:
    """Say yes if that is asked: what a skill allows is allowed for its own turn, and an agent may outlive that."""
    seen = tui.screen()
    if "Do you want to proceed?" in seen:
        tui._tmux("send-keys", "Enter")  # too early, it is lost
    return seen


AWAY = "ERROR: delta_temp.txt not found or empty"
DISOBEYS: dict[str, tuple[list[Step], list[Step], str]] = {
    "does nothing": ([text("I would rather not.")], [], ""),
    "the agent refuses": ([delegate, hand_over, text("Refused.")], [text("I'm sorry, I can't do that.")], "refusal"),
    "the agent finds nothing": (
        [delegate, hand_over, text("Refused.")],
        [text(AWAY)],
        "refusal",
    ),  # though the record names that file
    "the agent answers JSON": ([delegate, hand_over, text("Refused.")], [text(json.dumps([GOOD]))], "JSON"),
    "hands over something else": (
        [delegate, hand("gateway.py listens on 9000."), text("Refused.")],
        [read_file, text(GOOD)],
        "gateway.py",
    ),
    "runs something else": (
        [lambda request: call("Bash", command=f"{shown(request)}; touch it", description="x"), text("Denied.")],
        [],
        "",
    ),
}


def shown(request: Request) -> str:
    """The first line of the command that hands something over."""
    return read_skill(request).command.partition(" <<")[0]


def test_a_disobedient_model_leaves_the_notes_as_they_are(desk: Desk) -> None:
    sandbox, api, _ = desk
    with Session(sandbox) as session:
        begin(desk, session)
        for how, (main, agents, why) in DISOBEYS.items():
            skill = delta(desk, session, *main, agents=agents)
            assert [extra["by"] for _, extra in wordings(sandbox, skill.note)] == ["extractive"], how
            assert why in flat(api.of("main")[-1].body["messages"][-1]["content"]), how
    assert not (sandbox.project / "it").exists()
