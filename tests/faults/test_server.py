"""The server's worker dies, hangs or cannot start: the host gets every answer, once, and never an error."""

from __future__ import annotations

import resource
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Record
from tests.faults.faultpoint import Fault
from tests.faults.scene import START, Scene, Verdict
from tests.faults.server import Answer, Server
from tests.warm import Several

EMPTY = {"content": [{"type": "text", "text": "{}"}]}
EVENTS = ("UserPromptSubmit", "PostToolUse", "Stop")
JOBS = 4
FEW = 5  # points that are tried normally
HOWS = {
    "kill": Fault(0, "kill"),
    "torn write": Fault(0, "torn"),
    "EIO": Fault(0, "EIO"),
    "EIO, reading too": Fault(0, "EIO", reads=True),
    "ENOSPC that lasts": Fault(0, "ENOSPC", lasts=True),
    "EROFS that lasts": Fault(0, "EROFS", lasts=True),
}


@pytest.fixture
def scene(tmp_path: Path, shim: Path, warm: Several) -> Scene:
    """A session about which nothing is known yet."""
    made = Scene(tmp_path, shim, warm=warm)
    made.transcript.grow(9)
    return made


def assert_answered(server: Server) -> None:
    """Every request once, none with an error, and everything in the shape that the host expects."""
    ids = Counter(answer["id"] for answer in server.answers)
    assert ids == Counter(range(1, server.number + 1))
    for answer in server.answers:
        assert "error" not in answer
        assert "result" in answer


def finish(scene: Scene) -> Verdict:
    """The session ends, and the detached writer brings in what the server did not get to."""
    scene.transcript.grow(3, torn=False)
    scene.hook("SessionEnd")
    return scene.judge()


def handshake(server: Server) -> list[dict[str, Any]]:
    """What the host asks first."""
    return [server.request("initialize", protocolVersion="2025-06-18"), server.request("tools/list")]


def assert_connected(answers: list[Answer]) -> None:
    """The host would go on with this server."""
    hello, tools = (answer["result"] for answer in answers)
    assert hello["protocolVersion"] and "tools" in hello["capabilities"] and hello["serverInfo"]["name"]
    assert isinstance(tools["tools"], list)


# --- a worker that dies -----------------------------------------------------------------------------------------------


def test_a_worker_killed_again_and_again_is_not_noticed(scene: Scene) -> None:
    killed = set()
    with Server(scene) as server:
        assert_connected(server.ask(*handshake(server)))
        for number in range(30):
            scene.transcript.grow(1)
            asked = [server.hook(EVENTS[(number + more) % 3]) for more in range(3)]
            server.send(*asked)
            time.sleep(number % 6 * 0.01)  # it is starting, answering, looking, or has nothing to do
            killed.add(server.kill_worker())
            server.wait(*asked)
        assert_answered(server)
    assert len(killed) > 20
    assert not finish(scene)


@pytest.mark.parametrize("how", HOWS)
def test_no_point_of_the_worker_is_fatal(
    how: str, full: bool, shim: Path, warm: Several, tmp_path: Path, record: Record
) -> None:
    """The disk fails under a worker, or it dies and the next one is asked again what it may have done already."""

    def story(at: int) -> tuple[int, Verdict]:
        scene = Scene(tmp_path / str(at), shim, warm=warm)
        scene.transcript.grow(9)
        fault = HOWS[how]._replace(at=at)
        if fault.how in ("kill", "torn"):
            fault = fault._replace(fuse=str(tmp_path / f"{at}/fuse"))
            Path(fault.fuse).touch()
        with Server(scene, fault) as server:
            assert_connected(server.ask(*handshake(server)))
            server.ask(server.hook("SessionStart", source="clear"))
            server.ask(*[server.hook(event) for event in EVENTS])
            time.sleep(0.3)  # it looks meanwhile
            assert_answered(server)
        number = len((tmp_path / f"{at}/trace").read_text().splitlines())
        return number, finish(scene)

    number, verdict = story(0)
    assert not verdict
    points = range(1, number + 1)
    if not full:
        points = points[7 * list(HOWS).index(how) % 20 :: max(1, number // FEW)]
    with ThreadPoolExecutor(JOBS) as pool:
        done = list(pool.map(story, points))
    record("the server", how, [one for at, (number, one) in zip(points, done, strict=True) if number >= at])
    bad = [f"{at}: {verdict}" for at, (_, verdict) in zip(points, done, strict=True) if verdict]
    assert not bad, "\n".join(bad)


def test_a_line_that_kills_every_worker_is_answered_mutely(scene: Scene) -> None:
    with Server(scene, Fault(1, "kill")) as server:  # dies of the first thing it writes
        assert_connected(server.ask(*handshake(server)))
        answers = server.ask(*[server.hook(event) for event in EVENTS])
        assert [answer["result"] for answer in answers] == [EMPTY] * 3
        assert_answered(server)
    assert not finish(scene)


def test_other_lines_do_not_suffer_from_the_one_that_kills(scene: Scene) -> None:
    """A worker answers in order, so it died of the first line that it left unanswered."""
    with Server(scene, Fault(1, "kill")) as server:
        bad = [server.hook("PostToolUse") for _ in range(3)]
        good = [server.request("ping"), *handshake(server)]
        answers = server.ask(*bad, *good)
        assert [answer["result"] for answer in answers[:4]] == [EMPTY] * 3 + [{}]
        assert_connected(answers[4:])
        assert_answered(server)


def test_a_worker_that_cannot_even_start_leaves_a_mute_server(scene: Scene, tmp_path: Path) -> None:
    scene.home.mkdir()
    package = tmp_path / "damaged/memory_keeper"
    shutil.copytree(START.parents[1], package, ignore=shutil.ignore_patterns("__pycache__", "worker.py"))
    with Server(scene, start=package / "hooks/start.py") as server:
        assert_connected(server.ask(*handshake(server)))
        (answer,) = server.ask(server.hook("UserPromptSubmit"))
        assert answer["result"] == EMPTY
        (answer,) = server.ask(server.hook("PreCompact"))  # the host would show it anything else
        assert answer["result"] == {"content": []}
        assert_answered(server)
    assert '"in":"worker"' in scene.complaints()


def test_no_process_and_no_pipe_to_be_had_leaves_a_mute_server(scene: Scene) -> None:
    with Server(scene) as server:
        _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (5, limit))
        assert_connected(server.ask(*handshake(server)))
        (answer,) = server.ask(server.hook("UserPromptSubmit"))
        assert answer["result"] == EMPTY
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
        server.ask(server.hook("Stop"))
        assert_answered(server)
        assert server.worker
    assert not finish(scene)


def test_a_host_that_ignores_its_children_does_not_confuse_the_server(scene: Scene) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    with Server(scene, preexec_fn=ignore) as server:
        for _ in range(3):
            server.ask(server.hook("PostToolUse"))
            server.kill_worker()
        server.ask(server.hook("Stop"))
        assert_answered(server)
    assert not finish(scene)


# --- a worker that hangs ----------------------------------------------------------------------------------------------


def test_a_worker_that_hangs_is_replaced(scene: Scene) -> None:
    with Server(scene) as server:
        server.ask(*handshake(server))
        server.await_worker()
        hung = server.kill_worker(signal.SIGSTOP)
        server.ask(server.hook("UserPromptSubmit"), server.hook("Stop"))
        assert server.worker != hung
        assert_answered(server)
    assert not finish(scene)


def test_a_worker_with_much_to_do_is_left_alone(scene: Scene) -> None:
    """Long lines, and more of them at once than any pipe holds."""
    with Server(scene) as server:
        server.ask(*handshake(server))
        first = server.await_worker()
        asked = [server.hook("PostToolUse") for _ in range(300)]
        asked += [server.hook("UserPromptSubmit", prompt="long. " + "x" * (5 << 20))]
        server.ask(*asked)
        assert server.worker == first
        assert_answered(server)
    assert not finish(scene)


# --- the end ----------------------------------------------------------------------------------------------------------


def close_input(server: Server) -> None:
    server.close_input()


@pytest.mark.parametrize(
    "end",
    [
        close_input,
        lambda server: server.process.send_signal(signal.SIGINT),
        lambda server: server.process.send_signal(signal.SIGTERM),
        lambda server: server.process.send_signal(signal.SIGKILL),
    ],
    ids=["EOF", "SIGINT", "SIGTERM", "SIGKILL"],
)
@pytest.mark.parametrize("busy", [False, True])
def test_the_end_of_the_front_is_the_end_of_the_worker(scene: Scene, end: Callable[[Server], None], busy: bool) -> None:
    server = Server(scene)
    server.ask(*handshake(server))
    if busy:
        server.send(*[server.hook("PostToolUse") for _ in range(100)])
    end(server)
    server.wait_for_the_end()  # of all processes
    server.close_input()
    assert not finish(scene)


def test_rubbish_is_not_answered_and_does_no_harm(scene: Scene) -> None:
    with Server(scene) as server:
        assert server.process.stdin
        for rubbish in (b"", b"{", b"[[", b"\xff\xfe", b"[" * 100_000, b"7", b'{"method":"notifications/initialized"}'):
            server.process.stdin.write(rubbish + b"\n")
        server.ask(server.request("ping"))
        assert len(server.answers) == 1
