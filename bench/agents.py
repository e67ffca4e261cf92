"""What a thread of a bot costs: memory and processor time while it is live, while it is idle, and when it is reset.

./dev bench agents [--threads 5] [--turns 10] [--idle 20] [--json]

The Agent SDK with its CLI ($CLAUDE_BIN, or the one that `./dev test --all` fetched) and a script on loopback that plays
the model. Each thread has a client of the SDK in this process and a process of the CLI; one that gave its process back
has only what is in the store. Beside it the same turns are taken by a client of the SDK without us.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.tools import measure
from bench.tools.figures import Figure, Figures, LeftOutError
from bench.tools.measure import median
from tests.e2e.cli import Sandbox, find_cli
from tests.e2e.model import Model
from tests.e2e.net import Net

if TYPE_CHECKING:
    from tests.e2e.bots import Bot

PROMPT = "What is the state of order number {}?"
TICKS = os.sysconf("SC_CLK_TCK")
CATCHES_UP = 2.0  # seconds until nobody writes any more


class Used(NamedTuple):
    """What turns took, in milliseconds each."""

    wall: list[float]
    ours: float  # of this process's processor
    cli: float


class Cost(NamedTuple):
    """What threads took beside their turns."""

    begin: float  # milliseconds to the first answer
    reset: float
    back: float  # of one that had given its process back
    cli: list[float]  # megabytes of each process
    cli_idle: list[float]  # its processor's milliseconds in each second
    live: float  # bytes of this process for each live thread
    live_idle: float
    idle: float  # and for each that is not


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--threads", type=int, default=5)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--idle", type=float, default=20.0, help="seconds in which nobody asks")


def run(args: argparse.Namespace) -> Figures:
    """The tables."""
    try:
        from tests.e2e.bots import Bot, growing
    except ImportError as error:
        raise LeftOutError(f"the Agent SDK is not installed: {error}") from None
    cli = find_cli()
    if not cli:
        raise LeftOutError("no Claude Code CLI: set CLAUDE_BIN, or let `./dev test --all` fetch it")
    print(measure.machine())
    net = Net()
    model = Model(net.listen())
    model.play(*[growing(100)] * (20 + 3 * args.turns + 3 * args.threads))
    box = Sandbox(cli, net, model.url)
    try:
        with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
            bot = Bot(box, Path(folder))
            without = bot.run(lambda: alone(bot, args.turns))
            with_us, cost = bot.run(lambda: measured(bot, model, args), patience=1200)
            bot.close()
    finally:
        box.close()
        model.close()
        net.close()
    return show(args, without, with_us, cost)


async def alone(bot: Bot, number: int) -> Used:
    """Turns of a client of the SDK."""
    from claude_agent_sdk import ClaudeSDKClient

    client = ClaudeSDKClient(bot.options())

    async def ask(prompt: str) -> None:
        await client.query(prompt)
        async for _ in client.receive_response():
            pass

    await client.connect()
    try:
        return await turns(bot, ask, number)
    finally:
        await client.disconnect()


async def measured(bot: Bot, model: Model, args: argparse.Namespace) -> tuple[Used, Cost]:
    """Turns of a thread, and what it and others take beside."""
    from memory_keeper.sdk import Threads
    from tests.e2e.bots import children

    async def kept() -> float:
        await asyncio.sleep(CATCHES_UP)
        model.requests.clear()  # which are in this process too
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    threads = Threads(bot.options(), live=args.threads, home=bot.home)
    try:
        begin = await timed(threads.answer("0", "Hello."))
        used = await turns(bot, lambda prompt: threads.answer("0", prompt), args.turns)
        reset = await timed(threads["0"].reset())
        tracemalloc.start()
        one = await kept()
        for number in range(1, args.threads):
            await threads.answer(str(number), "Hello.")
        full, pids = await kept(), children(bot.sandbox)
        cli, before = [resident(pid) for pid in pids], [spent(pid) for pid in pids]
        ours = time.process_time()
        await asyncio.sleep(args.idle)
        ours = time.process_time() - ours
        after = [spent(pid) for pid in pids]
        for number in range(args.threads, 2 * args.threads):  # the first ones give their processes back
            await threads.answer(str(number), "Hello.")
        gone = await kept() - full
        tracemalloc.stop()
        back = await timed(threads.answer("0", "Hello again."))
    finally:
        await threads.close()
    idle = [1000 * (later - sooner) / args.idle for sooner, later in zip(before, after, strict=True)]
    live = (full - one) / max(1, args.threads - 1)
    ours_idle = 1000 * ours / args.idle / args.threads
    return used, Cost(begin, reset, back, cli, idle, live, ours_idle, max(0.0, gone / args.threads))


def show(args: argparse.Namespace, without: Used, with_us: Used, cost: Cost) -> Figures:
    """The tables, and their figures."""
    print(f"\nA thread, of {args.threads} that are live\n")
    rows = [
        ("live: the CLI's process", f"{median(cost.cli):.0f} MB", f"{median(cost.cli_idle):.1f} ms a second"),
        ("live: in the bot's own", f"{cost.live / 1000:.0f} KB", f"{cost.live_idle:.2f} ms a second"),
        ("idle, with no process", f"{cost.idle / 1000:.1f} KB", "none"),
    ]
    measure.table(("", "memory", "processor while nobody asks"), rows)
    turn, plain = median(with_us.wall), median(without.wall)
    print(f"\nA turn in ms, {args.turns} each\n")
    named = (("the SDK alone", without), ("a thread", with_us))
    taken = [(name, f"{median(used.wall):.0f}", f"{used.cli:.0f}", f"{used.ours:.1f}") for name, used in named]
    measure.table(("", "wall", "processor of the CLI", "of the bot's process"), taken)
    times = {"to begin": cost.begin, "to be reset": cost.reset, "to go on in another process": cost.back}
    print("\nIn turns: " + ", ".join(f"{what} {took / turn:.1f}" for what, took in times.items()))
    return {
        "live": Figure(median(cost.cli), "MB"),
        "live_idle": Figure(median(cost.cli_idle), "ms/s"),
        "live_ours": Figure(cost.live / 1000, "KB"),
        "idle": Figure(cost.idle / 1000, "KB"),
        "turn": Figure(turn / plain, "x"),
        "reset": Figure(cost.reset / turn, "x"),
        "back": Figure(cost.back / turn, "x"),
    }


async def turns(bot: Bot, ask: Callable[[str], Awaitable[object]], number: int) -> Used:
    """So many, after one that is not counted."""
    from tests.e2e.bots import children

    await ask(PROMPT.format(0))
    (pid,) = children(bot.sandbox)
    ours, cli = time.process_time(), spent(pid)
    wall = [await timed(ask(PROMPT.format(count))) for count in range(1, number + 1)]
    return Used(wall, 1000 * (time.process_time() - ours) / number, 1000 * (spent(pid) - cli) / number)


async def timed(doing: Awaitable[object]) -> float:
    """Milliseconds."""
    begin = time.perf_counter()
    await doing
    return (time.perf_counter() - begin) * 1000


def resident(pid: int) -> float:
    """The megabytes of a process, those that it shares with others in part."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return int(dict(line.split()[:2] for line in lines)["Pss:"]) / 1024


def spent(pid: int) -> float:
    """The processor's seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
