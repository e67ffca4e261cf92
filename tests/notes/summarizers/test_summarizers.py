"""Summarizers with a model: the real CLI against a scripted model, and the two protocols over a loopback connection."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.notes.summarizers import anthropic, claude_cli, openai
from memory_keeper.notes.summarizers import program as programs
from memory_keeper.notes.summarizers.api import find_key
from memory_keeper.notes.summarizers.asking import Answer, Unfinished
from memory_keeper.notes.summarizers.verdict import judge
from tests.e2e.cli import OLD, VERSION, Sandbox, find_cli, install_cli, read_quietly, wait_for
from tests.e2e.model import Model, Reply, Request, Step, call, message, text
from tests.e2e.net import Net
from tests.notes.summarizers.service import Act, Service, answering, said_by_openai

ROOT = Path(__file__).resolve().parents[3]
TEXTS = ["The loop in src/retry.py was fixed: it slept 200 ms too long.", "Mail dana@example.org about it."]
GOOD = "The loop in src/retry.py was fixed because it slept 200 ms too long."
Json = dict[str, Any]


# --- the real CLI ----------------------------------------------------------------------------------------------------


CHILD = """
import json, os, sys
from memory_keeper.errors import KeeperError
from memory_keeper.notes.summarizers import claude_cli
given = json.load(sys.stdin)
try:
    answer = claude_cli.summarize(given["texts"], given["budget"], given["settings"], dict(os.environ), given["root"])
except KeeperError as error:
    took = getattr(error, "answer", None)
    print(json.dumps({"error": type(error).__name__, "said": str(error), **({"took": took[2:4]} if took else {})}))
else:
    print(json.dumps(answer))
"""


class Home:
    """A home of somebody who has hooks, a plugin, an MCP server, instructions and skills, and what they noticed."""

    def __init__(self, sandbox: Sandbox, api: Model) -> None:
        self.sandbox, self.api = sandbox, api
        self.log = sandbox.home / "noticed.log"
        claude = sandbox.home / ".claude"
        server = sandbox.root / "server"
        server.write_text(f"#!/bin/sh\necho server >> {self.log}\nexec cat > /dev/null\n")
        server.chmod(0o755)
        events = ("SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd", "InstructionsLoaded")

        def hooks(who: str) -> Json:
            said = {"type": "command", "command": f"echo {who} >> {self.log}"}
            return {event: [{"hooks": [said]}] for event in events}

        (claude / "settings.json").write_text(json.dumps({"hooks": hooks("user"), "env": {"OF_THE_USER": "1"}}))
        (claude / "CLAUDE.md").write_text("INSTRUCTIONS of the user")
        market = sandbox.root / "market"
        for path, content in {
            ".claude-plugin/marketplace.json": {
                "name": "m",
                "owner": {"name": "o"},
                "plugins": [{"name": "p", "source": "./p", "description": "d"}],
            },
            "p/.claude-plugin/plugin.json": {
                "name": "p",
                "version": "1.0.0",
                "description": "d",
                "mcpServers": {"s": {"command": str(server)}},
            },
            "p/hooks/hooks.json": {"hooks": hooks("plugin")},
        }.items():
            (market / path).parent.mkdir(parents=True, exist_ok=True)
            (market / path).write_text(json.dumps(content))
        sandbox.plugin("marketplace", "add", str(market))
        sandbox.plugin("install", "p@m")
        state = sandbox.home / ".claude.json"
        state.write_text(json.dumps({**json.loads(state.read_text()), "mcpServers": {"u": {"command": str(server)}}}))
        self.bin = sandbox.root / "bin"
        self.bin.mkdir()
        (self.bin / "claude").symlink_to(sandbox.cli)
        self.environ = dict(sandbox.env)
        self.files = {path: path.read_bytes() for path in (claude / "settings.json", state)}

    def begin(self) -> None:
        """As if nothing had been asked here yet."""
        wait_for(lambda: not self.sandbox._processes(), "the end of the last process")
        self.sandbox.env = dict(self.environ)
        for path, data in self.files.items():
            path.write_bytes(data)
        self.log.unlink(missing_ok=True)  # `claude plugin` calls hooks too
        shutil.rmtree(self.sandbox.home / ".claude/projects", ignore_errors=True)
        self.api.left("note")
        self.api.requests.clear()

    def start(self, texts: list[str] = TEXTS, settings: Json | None = None, **env: str) -> subprocess.Popen[str]:
        """A process that asks for a summary."""
        known = {"PATH": f"{self.bin}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"), "CLAUDECODE": "1"}
        process = self.sandbox.net.start(
            [sys.executable, "-c", CHILD],
            env={**self.sandbox.env, **known, **env},
            cwd=self.sandbox.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        given = {"texts": texts, "budget": 200, "settings": settings or {}, "root": str(self.sandbox.project)}
        assert process.stdin
        process.stdin.write(json.dumps(given))
        process.stdin.close()
        process.stdin = None
        return process

    def ask(self, *steps: Step, texts: list[str] = TEXTS, settings: Json | None = None, **env: str) -> Any:
        """An answer, or the error by its name."""
        self.api.play(notes=steps)
        process = self.start(texts, settings, **env)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        said = json.loads(out)
        return Answer(*said) if isinstance(said, list) else said

    def traces(self) -> list[str]:
        """What a summary must not leave: hooks and servers that ran, transcripts, and folders it is remembered by."""
        noticed = self.log.read_text().split() if self.log.exists() else []
        projects = json.loads((self.sandbox.home / ".claude.json").read_text())["projects"]
        folders = [path for path in projects if path != str(self.sandbox.project)]
        ours = Path(self.sandbox.env["TMPDIR"]).glob("mk-*")  # the CLI keeps sockets of its own there
        return [*noticed, *map(str, self.sandbox.transcripts()), *folders, *map(str, ours)]

    def hosts(self) -> list[int]:
        """The CLIs that run here."""
        mark = f"HOME={self.sandbox.home}\0".encode()
        found = (path for path in Path("/proc").glob("[0-9]*/environ") if mark in read_quietly(path))
        names = {int(path.parent.name): read_quietly(path.parent / "cmdline").split(b"\0")[0] for path in found}
        return [pid for pid, name in names.items() if name.endswith(b"/claude")]


@pytest.fixture(scope="module")
def net() -> Iterator[Net]:
    """A network without the world in it."""
    made = Net()
    yield made
    made.close()


@pytest.fixture
def home(furnished: Home) -> Home:
    """A home that is as it was made."""
    furnished.begin()
    return furnished


@pytest.fixture(scope="module", params=[VERSION, OLD])
def furnished(request: pytest.FixtureRequest, net: Net) -> Iterator[Home]:
    """A home of the CLI, current and old."""
    cli = install_cli(request.param) if os.environ.get("MEMORY_KEEPER_TEST_ALL") else find_cli(request.param)
    if cli is None:
        pytest.skip(f"no Claude Code CLI {request.param}: `./dev test --all` fetches it")
    api = Model(net.listen())
    sandbox = Sandbox(cli, net, api.url)
    yield Home(sandbox, api)
    api.close()
    sandbox.close()


@pytest.mark.e2e
def test_the_users_own_cli_answers_and_leaves_no_trace(home: Home) -> None:
    answer = home.ask(text(GOOD, 1234))
    assert (answer.text, answer.tokens_in, answer.tokens_out) == (GOOD, 1234, 20)
    assert "haiku" in answer.model and answer.cost > 0
    assert judge(answer.text, TEXTS, 200) == (GOOD, "")
    assert home.traces() == []
    (request,) = home.api.requests
    assert request.body["tools"] == [] and "haiku" in request.body["model"]
    assert request.body.get("thinking", {"type": "disabled"}) == {"type": "disabled"}
    assert not request.saw("INSTRUCTIONS of the user")
    assert request.saw("never instructions") and request.saw("| The loop in src/retry.py")


@pytest.mark.e2e
def test_files_that_texts_mention_are_not_sent_along(home: Home) -> None:
    secret = home.sandbox.root / "secret.txt"
    secret.write_text("THE SECRET")
    answer = home.ask(
        text("Mail dana＠example.org about it."),
        texts=[f'see @{secret} and @"{secret}"', "@secret.txt /compact", f"@{secret}#L1-2", "Mail dana@example.org."],
    )
    assert answer.text == "Mail dana@example.org about it."
    assert not any(request.saw("THE SECRET") for request in home.api.requests)


@pytest.mark.e2e
def test_a_model_that_calls_tools_runs_nothing(home: Home) -> None:
    said = home.ask(call("Bash", command=f"touch {home.log}", description="x"), text("done"))
    assert (said["error"], said["took"]) == ("Unfinished", [100, 20])
    assert home.traces() == [] and not home.log.exists()
    assert len(home.api.requests) == 1


@pytest.mark.e2e
def test_an_answer_that_is_cut_short_took_tokens_and_is_none(home: Home) -> None:
    said = home.ask(*[text(GOOD)._replace(stop="max_tokens")] * 5)
    assert said["error"] == "Unfinished" and said["took"][1] >= 20, said
    assert home.traces() == []


@pytest.mark.e2e
def test_json_comes_back_as_it_is_and_is_not_taken(home: Home) -> None:
    bad = json.dumps({"summary": GOOD})
    answer = home.ask(text(bad))
    assert answer.text.strip() == bad
    assert judge(answer.text, TEXTS, 200)[1]
    assert home.traces() == []


@pytest.mark.e2e
def test_a_model_that_never_answers_is_given_up_on_and_nothing_stays(home: Home) -> None:
    over = threading.Event()

    def never(request: Request) -> Reply:
        over.wait(60)
        return text("too late")

    said = home.ask(never, settings={"summarize.timeout": 3})
    over.set()
    assert said == {"error": "Busy", "said": "claude did not answer within 3 seconds"}
    wait_for(lambda: not home.hosts(), "the end of the CLI")
    assert home.traces() == []


@pytest.mark.e2e
def test_a_cli_that_is_killed_is_an_error(home: Home) -> None:
    def kill(request: Request) -> Reply:
        for pid in home.hosts():
            os.kill(pid, signal.SIGKILL)
        return text("too late")

    said = home.ask(kill)
    assert said["error"] == "KeeperError"
    assert home.traces() == []


@pytest.mark.e2e
def test_the_way_to_log_in_may_stand_in_the_users_settings(home: Home) -> None:
    path = home.sandbox.home / ".claude/settings.json"
    given = json.loads(path.read_text())
    given["env"]["ANTHROPIC_BASE_URL"] = home.sandbox.env.pop("ANTHROPIC_BASE_URL")
    given["apiKeyHelper"] = "echo key-of-the-helper"
    path.write_text(json.dumps(given))
    del home.sandbox.env["ANTHROPIC_API_KEY"]
    assert home.ask(text(GOOD)).text == GOOD
    del given["apiKeyHelper"]
    path.write_text(json.dumps(given))
    said = home.ask(text(GOOD))
    assert said["error"] == "NotSetUp" and "/login" in said["said"]
    assert home.traces() == []


@pytest.mark.e2e
def test_a_summarizer_inside_a_summarizer_does_not_start(home: Home) -> None:
    assert home.ask(MEMORY_KEEPER_INSIDE="1")["error"] == "KeeperError"
    assert home.api.requests == []


@pytest.mark.e2e
def test_the_same_question_by_hand_would_leave_them_all(home: Home) -> None:
    home.api.play(text(GOOD))
    assert home.sandbox.claude("-p", "Sum up.", "--output-format", "json").returncode == 0
    traces = home.traces()
    assert {"user", "plugin", "server"} < set(traces)
    assert any(trace.endswith(".jsonl") for trace in traces)


def program(path: Path, script: str = "exit 0") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def find(environ: dict[str, str], root: str = "") -> str:
    return programs.find("claude", environ, root, claude_cli.HOMES)


def test_the_cli_is_never_one_of_the_projects(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    planted = program(project / "node_modules/.bin/claude")
    linked = tmp_path / "linked"
    linked.symlink_to(Path(planted).parent)
    (tmp_path / "pointing").mkdir()
    (tmp_path / "pointing/claude").symlink_to(planted)
    environ = {"HOME": str(home), "PATH": f"{Path(planted).parent}:{linked}:{tmp_path}/pointing:.:bin::"}
    assert find(environ, str(project)) == find({**environ, "CLAUDE_PROJECT_DIR": str(project)}) == ""
    with pytest.raises(NotSetUp, match="not found"):
        claude_cli.summarize(TEXTS, 100, {}, environ, str(project))
    own = program(home / ".local/bin/claude")
    assert find(environ, str(project)) == own
    real = program(tmp_path / "bin/claude")
    assert find({**environ, "PATH": f"{environ['PATH']}{tmp_path}/bin"}, str(project)) == real
    assert find({"HOME": str(home), "PATH": str(home / ".local/bin")}, str(home)) == own  # a home in git


@pytest.mark.parametrize(
    ("script", "error", "said"),
    [
        ("echo \"error: unknown option '--tools'\" >&2; exit 1", KeeperError, "unknown option '--tools'"),
        ("exit 3", KeeperError, "ended without an answer"),
        ("echo garbage", KeeperError, "ended without an answer"),
        ('echo \'[1, {"type": "result"}]\'', KeeperError, "no answer"),
        ('echo \'{"subtype":"success","result":"x","is_error":true,"api_error_status":529}\'', Busy, "x"),
        (
            'echo \'{"subtype":"success","result":"Bad key","is_error":true,"api_error_status":401}\'',
            NotSetUp,
            "Bad key",
        ),
        (
            'echo \'{"subtype":"error_max_turns","is_error":true,"usage":{"output_tokens":7}}\'',
            Unfinished,
            "error_max_turns",
        ),
        ("sleep 60 & sleep 60", Busy, "did not answer within 0.5 seconds"),
        ("sleep 60 & exit 0", Busy, "did not answer within 0.5 seconds"),
        ("setsid sleep 2 & exit 0", Busy, "did not answer within 0.5 seconds"),
    ],
)
def test_a_cli_that_does_anything_else_is_an_error(
    tmp_path: Path, script: str, error: type[KeeperError], said: str
) -> None:
    program(tmp_path / "bin/claude", script)
    environ = {"HOME": str(tmp_path), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    with pytest.raises(error, match=said) as raised:
        claude_cli.summarize(TEXTS, 100, {"summarize.timeout": 0.5 if "sleep" in script else 30}, environ)
    assert type(raised.value) is error


def test_an_answer_among_other_messages_is_found(tmp_path: Path) -> None:
    program(
        tmp_path / "bin/claude",
        'cat >/dev/null; echo \'[{"type":"system"},{"type":"result","subtype":"success","result":"x"}]\'',
    )
    answer = claude_cli.summarize(
        TEXTS, 100, {}, {"HOME": str(tmp_path), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    )
    assert answer == Answer("x", "haiku", 0, 0, None)


def test_a_program_that_is_ended_is_reaped_last_and_takes_what_it_started_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number that was reaped may be somebody else's: no signal is sent to that."""
    deaf = program(tmp_path / "deaf", f"trap '' TERM; echo $$ > {tmp_path}/deaf.pid; exec sleep 60")
    mother = program(tmp_path / "mother", f"{deaf} & while ! [ -s {tmp_path}/deaf.pid ]; do :; done; sleep 60")
    sent: list[tuple[int, bool]] = []
    really = os.killpg

    def killpg(group: int, sign: int) -> None:
        sent.append((sign, Path(f"/proc/{group}").exists()))
        really(group, sign)

    monkeypatch.setattr(os, "killpg", killpg)
    with pytest.raises(Busy):
        programs.run([mother], "", dict(os.environ), 2, str(tmp_path))
    assert sent == [(signal.SIGTERM, True), (signal.SIGKILL, True)]
    child = Path("/proc") / (tmp_path / "deaf.pid").read_text().strip()
    wait_for(lambda: b"sleep" not in read_quietly(child / "cmdline"), "the end of what it started")


def test_what_a_program_prints_is_bounded_and_all_that_it_is_given_arrives(tmp_path: Path) -> None:
    said = "x" * (3 << 20)
    endless = program(
        tmp_path / "endless", "cat > given; head -c 9000000 /dev/zero; head -c 9000000 /dev/zero >&2; exit 7"
    )
    ended = programs.run([endless], said, dict(os.environ), 60, str(tmp_path))
    assert (tmp_path / "given").read_text() == said
    assert len(ended.out) < programs.LARGEST + programs.PIECE and len(ended.err) < programs.LARGEST + programs.PIECE
    assert ended.code == 7
    deaf = program(tmp_path / "deaf", "exec 0<&-; echo heard nothing")
    assert programs.run([deaf], said, dict(os.environ), 60, str(tmp_path)).out == "heard nothing\n"
    with pytest.raises(KeeperError, match="No such file"):
        programs.run([str(tmp_path / "none")], "", {}, 60, str(tmp_path))


# --- the two protocols -----------------------------------------------------------------------------------------------


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


def said_by_anthropic(said: str) -> Json:
    return message(1, Request("main", {"model": "claude-x"}), text(said))


WAYS = [(anthropic, said_by_anthropic), (openai, said_by_openai)]
both = pytest.mark.parametrize(("way", "saying"), WAYS, ids=["anthropic", "openai"])


def settings(service: Service, **more: Any) -> Json:
    return {"summarize.url": service.url, "summarize.model": "claude-x", "summarize.timeout": 30, **more}


@both
def test_an_answer(way: Any, saying: Callable[[str], Json], service: Service) -> None:
    service.act = answering(saying(GOOD))
    given = settings(service, **{"summarize.keyVariable": "MY_KEY"})
    answer = way.summarize(TEXTS, 200, given, {"MY_KEY": "k-1"})
    assert answer == Answer(GOOD, "claude-x", 100, 20, None)
    assert judge(answer.text, TEXTS, 200) == (GOOD, "")
    ((path, body, headers),) = service.asked
    assert body["model"] == "claude-x" and body["max_tokens"] > 200
    if way is anthropic:
        assert (path, headers["x-api-key"], headers["anthropic-version"]) == ("/v1/messages", "k-1", "2023-06-01")
        assert "never instructions" in body["system"] and "dana@example.org" in body["messages"][0]["content"]
    else:
        assert (path, headers["authorization"]) == ("/chat/completions", "Bearer k-1")
        assert [one["role"] for one in body["messages"]] == ["system", "user"]


@both
def test_keys_of_the_usual_address_go_nowhere_else(way: Any, saying: Callable[[str], Json], service: Service) -> None:
    service.act = answering(saying(GOOD))
    way.summarize(TEXTS, 200, settings(service), {way.KEY: "k-of-the-usual"})
    assert "k-of-the-usual" not in str(service.asked)
    with pytest.raises(NotSetUp, match="in the clear"):
        far = {"summarize.url": "http://192.0.2.1", "summarize.model": "m", "summarize.keyVariable": "MY_KEY"}
        way.summarize(TEXTS, 200, far, {"MY_KEY": "k"})


@both
def test_without_a_key_or_an_address_it_is_not_set_up(way: Any, saying: Callable[[str], Json]) -> None:
    usual = {"summarize.model": "m"}
    with pytest.raises(NotSetUp, match="No key"):
        way.summarize(TEXTS, 200, usual, {})
    with pytest.raises(NotSetUp, match="MY_KEY is not set"):
        way.summarize(TEXTS, 200, {**usual, "summarize.keyVariable": "MY_KEY"}, {way.KEY: "k"})
    with pytest.raises(NotSetUp, match="no key has"):
        way.summarize(TEXTS, 200, usual, {way.KEY: "k\r\nx-evil: 1"})
    for url in ("file:///etc/passwd", "ftp://x", "http://", "https://user:pass@x", "//x", "http://x:y", "http://é"):
        with pytest.raises(NotSetUp, match=r"summarize\.url"):
            way.summarize(TEXTS, 200, {**usual, "summarize.url": url}, {})


def test_openai_needs_a_model() -> None:
    with pytest.raises(NotSetUp, match=r"summarize\.model"):
        openai.summarize(TEXTS, 200, {}, {"OPENAI_API_KEY": "k"})


PROBLEM = {"error": {"type": "x", "message": "the key k-1 is no good"}}


@both
@pytest.mark.parametrize(
    ("act", "error", "said"),
    [
        (answering(PROBLEM, 429), Busy, "answered 429: the key … is no good"),
        (answering(PROBLEM, 500), Busy, "answered 500"),
        (answering(b"<html>bad gateway</html>", 502), Busy, "answered 502"),
        (answering(b"", 529), Busy, "answered 529"),
        (answering({"error": "no"}, 401), NotSetUp, "answered 401: no"),
        (answering(b"\xff\xfe" * 9999, 404), KeeperError, "answered 404"),
        (answering(b"garbage"), KeeperError, "JSON object"),
        (answering([1, 2]), KeeperError, "JSON object"),
        (answering({}), KeeperError, "did not finish"),
        (answering(b"[" * 200_000), KeeperError, "JSON object"),
        (answering({"content": 7, "choices": 7, "usage": 7}), KeeperError, "did not finish"),
        (answering({"choices": [{"message": {"content": None}}], "content": [None]}), KeeperError, "did not finish"),
        (answering(b"{" + b" " * (2 << 20) + b"}"), KeeperError, "more than 1 MB"),
        (answering(b"", 302, location="http://127.0.0.2:9/"), KeeperError, "sends us on"),
        (answering(b"", 307, location="https://evil.example/"), KeeperError, "sends us on"),
        (answering(b"", 303, location="/other"), KeeperError, "sends us on"),
        (answering(b"", 308, location="file:///etc/passwd"), KeeperError, "."),
        (lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), Busy, "127.0.0.1"),
        (lambda handler: handler.connection.close(), Busy, "127.0.0.1"),
    ],
)
def test_whatever_else_is_answered_is_an_error(
    way: Any, saying: Callable[[str], Json], service: Service, act: Act, error: type[KeeperError], said: str
) -> None:
    service.act = act
    given = settings(service, **{"summarize.keyVariable": "MY_KEY"})
    with pytest.raises(error, match=said) as raised:
        way.summarize(TEXTS, 200, given, {"MY_KEY": "k-1"})
    assert type(raised.value) is error
    assert "k-1" not in str(raised.value)
    assert len(service.asked) == 1


@both
def test_it_is_followed_on_the_same_host(way: Any, saying: Callable[[str], Json], service: Service) -> None:
    def act(handler: BaseHTTPRequestHandler) -> None:
        moved = handler.path.startswith("/moved")
        (answering(saying(GOOD)) if moved else answering(b"", 308, location="/moved"))(handler)

    service.act = act
    assert way.summarize(TEXTS, 200, settings(service), {}).text == GOOD
    first, second = service.asked
    assert first[1] == second[1]


@both
@pytest.mark.parametrize("status", [307, 308])
def test_who_is_sent_around_in_a_circle_gives_up(
    way: Any, saying: Callable[[str], Json], service: Service, status: int
) -> None:
    """A few times and no more, and it is said which address does that."""
    service.act = lambda handler: answering(b"", status, location=handler.path)(handler)
    with pytest.raises(KeeperError, match="sends us in a circle") as raised:
        way.summarize(TEXTS, 200, settings(service), {})
    assert raised.value.hint == "set summarize.url to where it moved"
    assert 1 < len(service.asked) <= 5


@both
def test_an_answer_cut_short_is_none(way: Any, saying: Callable[[str], Json], service: Service) -> None:
    said = saying(GOOD)
    said["stop_reason"] = "max_tokens"
    for choice in said.get("choices", ()):
        choice["finish_reason"] = "length"
    service.act = answering(said)
    with pytest.raises(Unfinished, match=r"did not finish: (max_tokens|length)") as raised:
        way.summarize(TEXTS, 200, settings(service), {})
    assert raised.value.answer == Answer(GOOD, "claude-x", 100, 20, None)


@both
@pytest.mark.parametrize("part", ["nothing", "header", "body"])
def test_one_limit_holds_over_all_however_slowly_it_drips(
    way: Any, saying: Callable[[str], Json], service: Service, part: str
) -> None:
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        if part == "body":
            handler.send_response(200)
            handler.send_header("content-length", "100000")
            handler.end_headers()
        elif part == "header":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
        while not over.wait(0.05):
            if part != "nothing":
                handler.wfile.write(b" ")

    service.act = drip
    with pytest.raises(Busy, match=r"did not answer within 0\.5 seconds"):
        way.summarize(TEXTS, 200, settings(service, **{"summarize.timeout": 0.5}), {})
    over.set()


class Endless:
    """A server that answers with one byte after the other, until the other side hangs up or it was much too long."""

    def __init__(self, begins: bytes = b"") -> None:
        self.hung_up = threading.Event()
        self.begins = begins
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.drip)
        self.thread.start()

    def drip(self) -> None:
        peer, _ = self.listener.accept()
        with peer:
            try:
                for part in (self.begins, *[b" "] * 200):
                    peer.sendall(part)
                    threading.Event().wait(0.05)
            except OSError:
                self.hung_up.set()

    def close(self) -> None:
        with suppress(OSError), socket.create_connection(self.listener.getsockname(), 1):
            pass  # should nobody have come
        self.thread.join()
        self.listener.close()


@pytest.fixture
def endless() -> Iterator[Endless]:
    made = Endless(b"HTTP/1.1 200 OK\r\nx-slow: ")
    yield made
    made.close()


@both
def test_the_limit_holds_while_a_proxy_connects(way: Any, saying: Callable[[str], Json], endless: Endless) -> None:
    far = {"summarize.url": "https://far.example", "summarize.model": "m", "summarize.timeout": 0.5}
    with pytest.raises(Busy, match=r"did not answer within 0\.5 seconds"):
        way.summarize(TEXTS, 200, far, {"https_proxy": endless.url})
    endless.thread.join()
    assert endless.hung_up.is_set()


@both
def test_the_limit_holds_when_it_is_over_before_anybody_is_connected(
    way: Any, saying: Callable[[str], Json], endless: Endless, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = socket.getaddrinfo

    def slowly(*args: Any, **more: Any) -> Any:
        threading.Event().wait(0.6)
        return really(*args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    given = {"summarize.url": endless.url, "summarize.model": "m", "summarize.timeout": 0.3}
    with pytest.raises(Busy, match=r"did not answer within 0\.3 seconds"):
        way.summarize(TEXTS, 200, given, {})
    endless.thread.join()
    assert endless.hung_up.is_set()


@both
def test_nobody_listens(way: Any, saying: Callable[[str], Json], service: Service) -> None:
    gone = Service()
    gone.close()
    with pytest.raises(Busy):
        way.summarize(TEXTS, 200, settings(gone), {})


@pytest.mark.parametrize("name", ["keyring", "secret-tool"])
@both
def test_a_keyring_is_asked_where_there_is_one(
    way: Any, saying: Callable[[str], Json], tmp_path: Path, name: str
) -> None:
    project = tmp_path / "project"
    program(tmp_path / f"bin/{name}", 'echo "$*"')
    program(project / "bin/keyring", "echo of the project")
    environ = {"HOME": str(tmp_path), "PATH": f"{project}/bin:{tmp_path}/bin"}
    key = find_key(way.NAME, way.KEY, {}, environ, str(project), usual=True)
    assert key.endswith(f"{'memory-keeper' if name == 'keyring' else 'username'} {way.NAME}")
    assert find_key(way.NAME, way.KEY, {}, {**environ, way.KEY: "k"}, str(project), usual=True) == "k"
    assert find_key(way.NAME, way.KEY, {}, environ, str(project), usual=False) == ""
    program(tmp_path / f"bin/{name}", "echo locked >&2; echo half; exit 1")
    assert find_key(way.NAME, way.KEY, {}, environ, str(project), usual=True) == ""
