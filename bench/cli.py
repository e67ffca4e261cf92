"""What the plugin costs inside the real Claude Code CLI: from the prompt to the model's request, beside no hook at all.

./dev bench cli [--turns 20] [--json]

The CLI is $CLAUDE_BIN, or the one that `./dev test --all` fetched; a script on loopback plays the model. Two sessions
run side by side, one with our plugin and one without, and are asked in turn.
"""

from __future__ import annotations

import argparse
import random
import time

from bench.tools import measure
from bench.tools.figures import Figure, Figures, LeftOutError
from bench.tools.measure import ROOT, median, quantile
from tests.e2e.cli import Sandbox, Session, find_cli
from tests.e2e.model import Model, Reply, Request
from tests.e2e.net import Net

PROMPT = "Please make the upload resume where it stopped, and add a test that pulls the plug in the middle."
ANSWER = "Done: the upload now keeps its offset beside the file and asks the server for it. All 41 tests pass."
PAUSE = 0.8  # seconds in which a person reads the answer and the server does what it does then


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--turns", type=int, default=20, help="of each kind")


def run(args: argparse.Namespace) -> Figures:
    """The table."""
    cli = find_cli()
    if not cli:
        raise LeftOutError("no Claude Code CLI: set CLAUDE_BIN, or let `./dev test --all` fetch it")
    net = Net()
    model = Model(net.listen())
    boxes = {name: Sandbox(cli, net, model.url) for name in ("no hook", "plugin")}
    try:
        with Session(boxes["no hook"]) as bare, Session(boxes["plugin"], "--plugin-dir", str(ROOT)) as ours:
            times = ask_in_turn(model, {"no hook": bare, "plugin": ours}, args.turns)
    finally:
        for box in boxes.values():
            box.close()
        model.close()
        net.close()
    print(f"\nInside Claude Code, from the prompt to the model's request; {args.turns} turns each, interleaved")
    none = median(times["no hook"])
    rows = [(name, *(f"{quantile(all_of, share):.1f}" for share in (0.5, 0.95)), f"{median(all_of) / none:.3f}")
            for name, all_of in times.items()]  # fmt: skip
    measure.table(("", "p50 ms", "p95 ms", "x no hook"), rows)
    took = median(times["plugin"])
    return {
        "prompt": Figure(took / none, "x", "<= 1.15"),
        "prompt_ms": Figure(took, "ms"),
        "none_ms": Figure(none, "ms"),
    }


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
