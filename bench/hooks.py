"""What a hook costs: as a command and through the resident server; `cli` measures it inside Claude Code.

./dev bench hooks [--runs 30] [--sizes 1,100] [--json]

Every transcript has been read before, as it has when a hook fires in a running session, and the store holds 20,000 more
events of the same project. `x python` is the ratio to a bare interpreter in the same run, `x node` that to a bare Node.
The first prompt of a context is told the rules in full and what the user said before: it has a case of its own.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.tools import measure
from bench.tools.alone import peak
from bench.tools.figures import Figure, Figures
from bench.tools.measure import BARE, NODE, PYTHON, ROOT, START, Case, Took, median, quantile
from bench.tools.server import Server
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Placed, Source
from memory_keeper.store import spool
from memory_keeper.store.home import Lock
from tests.e2e.cli import wait_for
from tests.transcripts import big, dump

FIRST = "UserPromptSubmit, the first"
QUICK = ("PostToolUse", "Stop", "UserPromptSubmit")
ONGOING, FRESH = (*QUICK, "SessionEnd"), (FIRST, "SessionStart")  # in a context that goes on, and at the begin of one
EVENTS = (*ONGOING, *FRESH)
# what they are called in figures
KEYS = dict(zip(EVENTS, ("tool", "stop", "prompt", "end", "first_prompt", "start"), strict=True))
PROMPT = "Please make the upload resume where it stopped, and add a test that pulls the plug in the middle."
ANSWER = "Done: the upload now keeps its offset beside the file and asks the server for it. All 41 tests pass."
STORED = 20_000  # events
CAUGHT_UP = 10_000_000  # bytes


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--sizes", default="1,100", help="of transcripts, in MB")


def run(args: argparse.Namespace) -> Figures:
    """The tables."""
    print(measure.machine())
    with tempfile.TemporaryDirectory(prefix="mk-bench-", ignore_cleanup_errors=True) as folder:
        sizes = [float(size) for size in args.sizes.split(",")]
        homes = {size: Home(Path(folder, f"{size:g}"), size) for size in sizes}
        said = as_command(list(homes.values()), args.runs)
        long_lines(homes[sizes[0]], Home(Path(folder, "long"), sizes[0], long=5), args.runs)
        return said | through_server(homes[sizes[0]], 4 * args.runs)  # which are short


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
        named = event.partition(",")[0]
        return {
            "session_id": self.sessions[event],
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": named,
            **more[named],
        }

    def case(self, event: str, launch: bool) -> Case:
        """That hook, as Claude Code would run it."""
        command = (self.launch,) if launch else (PYTHON, "-I", "-S", START)
        lines = f" + {self.long} lines of 1 MB" if self.long else ""
        name = f"{event}, {self.size:g} MB{lines}{', plugin/launch' if launch else ''}"
        before = self.settle if event in FRESH else None
        return Case(name, (*command, "hook", event.partition(",")[0]), self.env, self.payload(event), before)

    def settle(self) -> None:
        """Move what hooks left, as the writer has when the next session starts, and begin with fresh spools."""
        self.keeper.catch_up()
        shutil.rmtree(self.keep + "/spool", ignore_errors=True)
        self.begin()
        self.keeper.catch_up()

    def begin(self) -> None:
        """Let the sessions be in a context that was told how full it is: that happens once in each."""
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


def as_command(homes: list[Home], runs: int) -> Figures:
    """Every event both ways with the smallest transcript, then the sizes against each other."""
    print(f"\nAs a command, in a store of {STORED} more events; {runs} runs each, interleaved")
    said: Figures = {}
    for events in (ONGOING, FRESH):
        cases = [homes[0].case(event, launch) for event in events for launch in (False, True)]
        times = measure.interleave([*measure.floors(), *cases], runs)
        measure.report(times)
        for event in events:
            said |= quoted(KEYS[event], times[homes[0].case(event, True).name], times)
    return said | by_size(homes, runs)


def quoted(key: str, took: list[Took], times: dict[str, list[Took]]) -> Figures:
    """A command's median, and its ratios to the floors; the targets are those of a hook that a user waits for often."""
    often = key in ("tool", "stop", "prompt", "end")
    said = {
        f"{key}_command": Figure(measure.ratio(took, times[BARE]).wall, "x", "<= 1.5" if often else ""),
        f"{key}_command_cpu": Figure(measure.ratio(took, times[BARE]).cpu, "x"),
        f"{key}_command_ms": Figure(median([one.wall for one in took]), "ms"),
    }
    if NODE in times:
        node = measure.ratio(took, times[NODE]).wall
        said[f"{key}_command_node"] = Figure(node, "x", "<= 0.6" if often else "")
    return said


def by_size(homes: list[Home], runs: int) -> Figures:
    """Whether a larger transcript costs more."""
    if len(homes) < 2:
        return {}
    print(f"\nBy size of the transcript; {runs} runs each, interleaved")
    small, large = homes[0], homes[-1]
    ratios: dict[str, Took] = {}
    for events in (ONGOING, FRESH):
        cases = [home.case(event, False) for event in events for home in homes]
        times = measure.interleave([*measure.floors(), *cases], runs)
        measure.report(times)
        for event in events:
            ratios[event] = measure.ratio(*(times[home.case(event, False).name] for home in (large, small)))
    for event, one in ratios.items():
        print(f"{event}: {large.size:g} MB takes {one.wall:.3f} x (cpu {one.cpu:.3f} x) what {small.size:g} MB takes")
    # of the processor's time: on a busy machine the clock says more about others
    flat = max(ratios[event].cpu for event in QUICK)
    return {"flat": Figure(flat, "x", "<= 1.1"), "flat_to": Figure(round(large.size / small.size))}


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


def through_server(home: Home, runs: int) -> Figures:
    """The round trip of each hook over stdio, and what the two processes weigh once they have read a transcript."""
    print(f"\nThrough the server, {runs} calls each; weighed after it has read {CAUGHT_UP / 1e6:g} MB")
    fresh = home.transcript.parent.with_name("q") / "fresh.jsonl"  # beside the others a start would read it as missed
    fresh.parent.mkdir()
    big(fresh, CAUGHT_UP, session="fresh", seed=2)
    (bare, *_) = measure.floors()
    starts = [(measure.spawn(bare).wall, start_and_end(home.env)) for _ in range(20)]
    times = {bare.name: [one[0] for one in starts], "start to the answer of initialize": [one[1] for one in starts]}
    with Server(home.env) as server:
        spent = {}
        for event in (*QUICK, "SessionStart"):
            server.hook(home.said(event))
            before = server.spent()
            times[event] = [server.hook(home.said(event))[1] for _ in range(runs)]
            spent[event] = (server.spent() - before) / runs
        server.hook({**home.said("Stop"), "transcript_path": str(fresh)})
        wait_for(
            lambda: (home.keeper.store.source(str(fresh)) or Source("", "", "")).offset == CAUGHT_UP, "the reading"
        )
        time.sleep(1)  # its second look
        weights: list[tuple[Any, ...]] = [(name, *weigh(pid)) for name, pid in server.processes()]
    quantiles = [
        (name, *(f"{quantile(all_of, share):.2f}" for share in (0.5, 0.95)), f"{spent.get(name, 0):.2f}")
        for name, all_of in times.items()
    ]
    measure.table(("", "p50 ms", "p95 ms", "cpu ms"), quantiles)
    weights.append(("together", *map(sum, zip(*(one[1:] for one in weights), strict=True))))
    measure.table(("MB", "RSS", "PSS", "peak"), [(name, *map("{:.1f}".format, numbers)) for name, *numbers in weights])
    said: Figures = {}
    for event in (*QUICK, "SessionStart"):
        took = median(times[event])
        said[f"{KEYS[event]}_server"] = Figure(took / median(times[bare.name]), "x")
        said[f"{KEYS[event]}_server_ms"] = Figure(took, "ms")
        said[f"{KEYS[event]}_server_cpu"] = Figure(spent[event], "ms")
    _, resident, shared, _ = weights[-1]
    return {**said, "memory": Figure(shared, "MB", "<= 20"), "memory_rss": Figure(resident, "MB")}


def start_and_end(env: dict[str, str]) -> float:
    """How long a server takes until it answers."""
    with Server(env) as server:
        return server.started


def weigh(pid: int) -> tuple[float, float, float]:
    """RSS, PSS and the highest RSS so far, in MB."""
    now = dict(line.split()[:2] for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return int(now["Rss:"]) / 1024, int(now["Pss:"]) / 1024, peak(pid)
