"""`run`: Claude Code in a terminal of our own, where a clear that was asked for is typed when it sits idle."""

from __future__ import annotations

import os
import resource
import signal
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Callable
from time import monotonic, time

from memory_keeper.app.terminal import say_problem
from memory_keeper.app.watch.pty import Ended, Pty
from memory_keeper.app.watch.pty import run as run_in_pty
from memory_keeper.capture.host import OURS

EXAMPLE = "memory-keeper run -- claude --model opus"
PAUSE = 10.0  # seconds between two tries


def configure(parser: ArgumentParser) -> None:
    """Everything after the options is the program's."""
    parser.add_argument("program", nargs=REMAINDER, metavar="-- PROGRAM ...", help="what to run, and its arguments")
    umask = os.umask(0o077)
    os.umask(umask)
    parser.set_defaults(umask=umask)  # asked now: our own files are made with another one


def run(args: Namespace) -> int:
    """Run the program; leave as it does."""
    argv = args.program[1:] if args.program[:1] == ["--"] else args.program
    if not argv:
        say_problem("nothing to run", EXAMPLE)
        return 2
    problems: dict[str, None] = {}  # each once, in order
    status = run_in_pty(argv, OURS, args.umask, answerer(args.home, problems))
    for problem in problems:
        say_problem(f"could not see whether a clear was asked for: {problem}")
    return leave(status)


def answerer(home: str, problems: dict[str, None]) -> Callable[[Pty], None]:
    """What types a clear that was asked for in a terminal; one try in a while, until it is answered or too late."""
    after = 0.0

    def answer(pty: Pty) -> None:
        nonlocal after
        if monotonic() < after:
            return
        try:
            from memory_keeper.app.watch.ask import open_asks
            from memory_keeper.app.watch.clear import send_clear

            if not any(pty.reaches(ask.pid) for ask in open_asks(home, time())):
                return
            send_clear(pty, pty.sleep)
        except Ended:
            raise
        except Exception as error:  # noqa: BLE001  whatever is wrong with us, the user's program goes on
            problems[f"{type(error).__name__}: {error}"] = None
        after = monotonic() + PAUSE

    return answer


def leave(status: int) -> int:
    """The program's exit code; what was killed by a signal leaves by the same signal."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # the core is not ours
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code
