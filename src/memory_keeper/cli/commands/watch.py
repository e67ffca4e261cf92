"""`watch`: answers requests to clear, by typing into tmux or GNU screen, or by a signal for a script on Windows."""

from __future__ import annotations

import json
from argparse import Namespace
from time import localtime, sleep, strftime, time

from memory_keeper.cli.arguments import argument
from memory_keeper.terminal import paint, print_json
from memory_keeper.text import clean
from memory_keeper.watch.ask import open_asks
from memory_keeper.watch.watcher import PLACES, TICK, Attempt, Watcher, alone

ARGUMENTS = (
    argument("--once", action="store_true", help="answer what is asked for now, and leave"),
    argument("--via", choices=[*PLACES, "signal"], help="default: tmux or screen, whichever the session runs in"),
)


def run(args: Namespace) -> int:
    """Answer until interrupted; a second watcher of the same home is told to leave."""
    watcher = Watcher(args.home, args.via)
    with alone(args.home) as lock:
        try:
            if args.once:
                attempts = watcher.answer(open_asks(args.home, time()), time(), lock)
                print_json([each._asdict() for each in attempts]) if args.json else _print(attempts)
                return 5 if any(not each.done for each in attempts) else 0
            if not args.json:
                print(f"watching {args.home} (Ctrl-C ends it)", flush=True)
            while True:
                attempts = watcher.news(open_asks(args.home, time()), time(), lock)
                _print_json(attempts) if args.json else _print(attempts)
                sleep(TICK)
        except KeyboardInterrupt:
            return 0
        finally:
            if not args.once:  # then the script has still to see it
                watcher.close()


def _print(attempts: list[Attempt]) -> None:
    for each in attempts:
        done = paint("cleared", "green") if each.done else paint("not yet", "yellow")
        done = paint("signalled", "green") if each.done and each.via == "signal" else done
        why = f": {clean(each.why)}" if each.why else f" through {each.via}"
        print(f"{strftime('%H:%M:%S', localtime(each.at))}  {done} {clean(each.session[:8])}{why}", flush=True)


def _print_json(attempts: list[Attempt]) -> None:
    for each in attempts:
        print(json.dumps(each._asdict()), flush=True)
