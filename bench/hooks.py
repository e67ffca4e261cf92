"""What a hook costs: as a command, through the resident server, and inside the real Claude Code CLI.

./dev bench hooks [--runs 200] [--sizes 1,10,100,1000] [--cli [--turns 40]]

Every transcript has been read before, as it has when a hook fires in a running session, and the store holds 20,000 more
events of the same project. `x python` is the ratio to a bare interpreter in the same run, `x node` that to a bare Node.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import measure
from bench.measure import PYTHON, ROOT, START, Case, median, quantile
from memory_keeper.keep import spool
from memory_keeper.keep.home import Lock
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Placed, Source
from tests.e2e.cli import Sandbox, Session, find_cli, wait_for
from tests.e2e.model import Model, Reply, Request
from tests.e2e.net import Net
from tests.transcripts import big, dump

QUICK = ("PostToolUse", "Stop", "UserPromptSubmit")
EVENTS = (*QUICK, "SessionStart", "SessionEnd")
PROMPT = "Please make the upload resume where it stopped, and add a test that pulls the plug in the middle."
ANSWER = "Done: the upload now keeps its offset beside the file and asks the server for it. All 41 tests pass."
STORED = 20_000  # events
CAUGHT_UP = 10_000_000  # bytes
PAUSE = 0.8  # seconds in which a person reads the answer and the server does what it does then


def main() -> None:
    """The tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sizes", default="1,10,100,1000", help="of transcripts, in MB")
    parser.add_argument("--cli", action="store_true", help="only inside the real CLI ($CLAUDE_BIN)")
    parser.add_argument("--turns", type=int, default=40, help="of each kind inside the CLI")
    args = parser.parse_args()
    print(measure.machine())
    if args.cli:
        inside_cli(args.turns)
        return
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        sizes = [float(size) for size in args.sizes.split(",")]
        homes = {size: Home(Path(folder, f"{size:g}"), size) for size in sizes}
        as_command(list(homes.values()), args.runs)
        long_lines(homes[sizes[0]], Home(Path(folder, "long"), sizes[0], long=5), args.runs)
        through_server(homes[sizes[0]], args.runs)


# --- homes ------------------------------------------------------------------------------------------------------------


class Home:
    """A user's home with one transcript, all of it kept, and payloads that name it."""

    def __init__(self, folder: Path, size: float, long: int = 0) -> None:
        self.size, self.folder, self.keep, self.long = size, folder, str(folder / "keep"), long
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        transcripts = folder / ".claude/projects/p"
        transcripts.mkdir(parents=True)
        self.sessions = {event: f"{number:08x}-0000-4000-8000-000000000000" for number, event in enumerate(EVENTS)}
        self.launch = launcher(folder)
        self.env = {
            "HOME": str(folder),
            "MEMORY_KEEPER_HOME": self.keep,
            "CLAUDE_PROJECT_DIR": str(self.project),
        }
        self.transcript = transcripts / "old.jsonl"
        big(self.transcript, int(size * 1e6))
        if long:
            with self.transcript.open("ab") as file:
                file.write(long * dump({"type": "user", "message": {"role": "user", "content": "x" * 1_000_000}}))
        self.keeper = Keeper(self.keep, self.env)
        with Lock(self.keep, 5):
            project = self.keeper.project(str(self.project), change=True)
            self._fill(project)
        self.keeper.read(Source(str(self.transcript), "old", project))
        for event in EVENTS:
            self.payload(event).write_text(json.dumps(self.said(event)))
        self.begin()

    def _fill(self, project: str) -> None:
        """Events of other sessions of the project: prompts, answers and calls with a file."""
        source = self.keeper.writer.begin(Source(f"{self.folder}/gone.jsonl", "gone", project))
        placed = []
        for number in range(STORED):
            kind = ("prompt", "reply", "call", "result")[number % 4]
            path = f"/src/part{number % 97}.py" if kind == "call" else ""
            text = f"{PROMPT if kind == 'prompt' else ANSWER} Step {number} of {kind}."
            session, at = f"gone-{number // 400}", 1.7e9 + number
            placed.append(Placed(Event(f"e{number}:0", at, kind, session, project, text, "Edit", path), number))
        self.keeper.writer.record(source, placed)

    def payload(self, event: str) -> Path:
        """What the host sends, as a file."""
        return self.folder / f"{event}.json"

    def said(self, event: str) -> dict[str, object]:
        """What the host sends."""
        more: dict[str, dict[str, object]] = {
            "UserPromptSubmit": {"prompt": PROMPT},
            "Stop": {"last_assistant_message": ANSWER, "stop_hook_active": False},
            "PostToolUse": {
                "tool_name": "Read",
                "tool_use_id": "toolu_01",
                "tool_input": {"file_path": "/src/upload.py"},
                "tool_response": {"file": {"content": "def upload(path):\n    ...\n" * 200}},
            },
            "SessionStart": {"source": "startup"},
            "SessionEnd": {"reason": "other"},
        }
        return {
            "session_id": self.sessions[event],
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
            **more[event],
        }

    def case(self, event: str, launch: bool) -> Case:
        """That hook, as Claude Code would run it."""
        command = (self.launch,) if launch else (PYTHON, "-I", "-S", START)
        lines = f" + {self.long} lines of 1 MB" if self.long else ""
        name = f"{event}, {self.size:g} MB{lines}{', plugin/launch' if launch else ''}"
        before = self.settle if event == "SessionStart" else None
        return Case(name, (*command, "hook", event), self.env, self.payload(event), before)

    def settle(self) -> None:
        """Move what hooks left, as the writer has when the next session starts, and begin with fresh spools."""
        self.keeper.look()
        shutil.rmtree(self.keep + "/spool", ignore_errors=True)
        self.begin()
        self.keeper.look()

    def begin(self) -> None:
        """Let the sessions be in the middle of a context that was told how full it is: that happens once in each."""
        for session in (self.sessions[event] for event in EVENTS if event != "SessionStart"):
            started = {"event": "SessionStart", "at": time.time(), "dir": str(self.project), "source": "startup"}
            spool.append(self.keep, session, {**started, "transcript": str(self.transcript)})
            spool.append(self.keep, session, {"event": "Warned", "at": time.time(), "level": "handoff warn critical"})


def launcher(folder: Path) -> Path:
    """The launcher, after it has found the Python that everything else here runs on."""
    (folder / "plugin").mkdir()
    (folder / "src").symlink_to(ROOT / "src")
    (folder / "plugin/.python").write_text(PYTHON + "\n")
    return Path(shutil.copy(ROOT / "plugin/launch", folder / "plugin"))


# --- as a command -----------------------------------------------------------------------------------------------------


def as_command(homes: list[Home], runs: int) -> None:
    """Every event both ways with the smallest transcript, then the sizes against each other."""
    print(f"\nAs a command, in a store of {STORED} more events; {runs} runs each, interleaved")
    first = [homes[0].case(event, launch) for event in EVENTS for launch in (False, True)]
    measure.report(measure.interleave([*measure.floors(), *first], runs))
    if len(homes) < 2:
        return
    print(f"\nBy size of the transcript; {runs} runs each, interleaved")
    cases = [home.case(event, False) for event in EVENTS for home in homes]
    times = measure.interleave([*measure.floors(), *cases], runs)
    measure.report(times)
    small, large = homes[0], homes[-1]
    for event in EVENTS:
        of = [times[home.case(event, False).name] for home in (large, small)]
        wall, cpu = ([median([took[field] for took in one]) for one in of] for field in (0, 1))
        ratios = f"{wall[0] / wall[1]:.3f} x (cpu {cpu[0] / cpu[1]:.3f} x)"
        print(f"{event}: {large.size:g} MB takes {ratios} what {small.size:g} MB takes")


def long_lines(usual: Home, long: Home, runs: int) -> None:
    """What the gauge costs when the last response lies behind lines of a megabyte."""
    print(f"\nBehind long lines; {runs} runs each, interleaved")
    events = ("UserPromptSubmit", "PostToolUse")
    cases = [home.case(event, False) for event in events for home in (usual, long)]
    times = measure.interleave([*measure.floors(), *cases], runs)
    measure.report(times)
    for event in events:
        of = [median([took[0] for took in times[home.case(event, False).name]]) for home in (long, usual)]
        print(f"{event}: behind {long.long} lines of 1 MB it takes {of[0] / of[1]:.3f} x what it usually takes")


# --- through the server -----------------------------------------------------------------------------------------------


def through_server(home: Home, runs: int) -> None:
    """The round trip of each hook over stdio, and what the two processes weigh once they have read a transcript."""
    print(f"\nThrough the server, {runs} calls each; weighed after it has read {CAUGHT_UP / 1e6:g} MB")
    fresh = home.transcript.parent.with_name("q") / "fresh.jsonl"  # beside the others a start would read it as missed
    fresh.parent.mkdir()
    big(fresh, CAUGHT_UP, session="fresh", seed=2)
    (bare, *_) = measure.floors()
    starts = [(measure.spawn(bare).wall, start_and_end(home.env)) for _ in range(20)]
    times = {bare.name: [one[0] for one in starts], "start to the answer of initialize": [one[1] for one in starts]}
    with Server(home.env) as server:
        for event in (*QUICK, "SessionStart"):
            times[event] = [server.hook(home.said(event)) for _ in range(runs)]
        server.hook({**home.said("Stop"), "transcript_path": str(fresh)})
        wait_for(
            lambda: (home.keeper.store.source(str(fresh)) or Source("", "", "")).offset == CAUGHT_UP, "the reading"
        )
        time.sleep(1)  # its second look
        weights: list[tuple[Any, ...]] = [(name, *weigh(pid)) for name, pid in server.processes()]
    quantiles = [(name, *(f"{quantile(all_of, share):.2f}" for share in (0.5, 0.95))) for name, all_of in times.items()]
    measure.table(("", "p50 ms", "p95 ms"), quantiles)
    weights.append(("together", *map(sum, zip(*(one[1:] for one in weights), strict=True))))
    measure.table(("MB", "RSS", "PSS", "peak"), [(name, *map("{:.1f}".format, numbers)) for name, *numbers in weights])


def start_and_end(env: dict[str, str]) -> float:
    """How long a server takes until it answers."""
    with Server(env) as server:
        return server.started


def weigh(pid: int) -> tuple[float, float, float]:
    """RSS, PSS and the highest RSS so far, in MB."""
    now = dict(line.split()[:2] for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    peak = Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]
    return int(now["Rss:"]) / 1024, int(now["Pss:"]) / 1024, int(peak) / 1024


class Server:
    """Our server, asked as the CLI asks it."""

    def __init__(self, env: dict[str, str]) -> None:
        begin = time.perf_counter()
        self.process = subprocess.Popen(
            [PYTHON, "-I", "-S", START, "mcp"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "b", "version": "1"})
        self.started = (time.perf_counter() - begin) * 1000

    def ask(self, method: str, **params: object) -> float:
        """Milliseconds from question to answer."""
        assert self.process.stdin and self.process.stdout
        self.number += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode() + b"\n"
        begin = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        said = json.loads(self.process.stdout.readline())
        took = (time.perf_counter() - begin) * 1000
        if "result" not in said:
            raise SystemExit(f"{method}: {said}")
        return took

    def hook(self, said: dict[str, object]) -> float:
        """One hook call."""
        given = {name: value for name, value in said.items() if not name.startswith("tool_")}
        return self.ask("tools/call", name="hook", arguments=given)

    def processes(self) -> Iterator[tuple[str, int]]:
        """The process the host knows, and its worker."""
        pid = self.process.pid
        yield "front", pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield "worker", int(child)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


# --- inside the real CLI ----------------------------------------------------------------------------------------------


def inside_cli(turns: int) -> None:
    """From the prompt to the model's request, in two sessions side by side: one with our plugin, one with no hook."""
    cli = find_cli()
    if not cli:
        raise SystemExit("no Claude Code CLI: set CLAUDE_BIN, or let `./dev test --all` fetch it")
    net = Net()
    model = Model(net.listen())
    boxes = {name: Sandbox(cli, net, model.url) for name in ("no hook", "plugin")}
    try:
        with Session(boxes["no hook"]) as bare, Session(boxes["plugin"], "--plugin-dir", str(ROOT)) as ours:
            times = ask_in_turn(model, {"no hook": bare, "plugin": ours}, turns)
    finally:
        for box in boxes.values():
            box.close()
        model.close()
        net.close()
    print(f"\nInside Claude Code, from the prompt to the model's request; {turns} turns each, interleaved")
    none = median(times["no hook"])
    rows = [(name, *(f"{quantile(all_of, share):.1f}" for share in (0.5, 0.95)), f"{median(all_of) / none:.3f}")
            for name, all_of in times.items()]  # fmt: skip
    measure.table(("", "p50 ms", "p95 ms", "x no hook"), rows)


def ask_in_turn(model: Model, sessions: dict[str, Session], turns: int, warm: int = 3) -> dict[str, list[float]]:
    """Milliseconds from each prompt to its request."""
    times: dict[str, list[float]] = {name: [] for name in sessions}
    for number in range(turns + warm):
        for name in random.sample(list(sessions), len(sessions)):
            received: list[float] = []

            def step(request: Request, received: list[float] = received) -> Reply:
                received.append(time.perf_counter())
                return Reply(({"type": "text", "text": ANSWER},))

            model.play(step)
            begin = time.perf_counter()
            sessions[name].ask(PROMPT)
            if number >= warm:
                times[name].append((received[0] - begin) * 1000)
            time.sleep(PAUSE)
    return times


if __name__ == "__main__":
    main()
