"""Run a command and say in one line what went wrong; without a parser, which the quick doors have no time for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TextIO

from memory_keeper import __version__, config, terminal
from memory_keeper.errors import KeeperError
from memory_keeper.text import clean, one_line

LONGEST = 600  # characters of a message


def guarded(given: str, run: Callable[[str], int]) -> int:
    """Run something in a home, the one given or the usual one, and say what went wrong in one line."""
    open_streams()
    code = _caught(given, run)
    refused = _flush(sys.stdout)  # at exit it would be too late to say why, or nothing of who has read enough
    if refused and not isinstance(refused, BrokenPipeError):
        code = _say(f"stdout: {refused.strerror}", "", code or 1)
    _flush(sys.stderr)
    return code


def open_streams() -> None:
    """Give those that were closed a place (cron may start us so): in this order each gets its own number again."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open("/dev/null", mode))  # noqa: SIM115 - it stays open


def _caught(given: str, run: Callable[[str], int]) -> int:
    home = ""
    try:
        os.umask(0o077)
        if refused := _flush(sys.stdout):  # a help that was printed: changing the stream would lose why
            return _say(f"stdout: {refused.strerror}", "", 1)
        # a terminal that cannot show a character still shows the rest
        getattr(sys.stdout, "reconfigure", lambda **_: None)(errors="replace")
        home = os.path.abspath(os.path.expanduser(given)) if given else config.find_home(config.environment())
        if os.path.exists(home) and not os.path.isdir(home):
            hint = "move it away, or name another home with --home or MEMORY_KEEPER_HOME"
            raise KeeperError(f"{home} is a file, and nothing can be kept in it", hint=hint)
        return run(home)
    except KeeperError as error:
        return _say(error, error.hint, error.code)
    except BrokenPipeError:
        _silence(1)
        return 0
    except KeyboardInterrupt:
        return _say("interrupted", "", 130)
    except OSError as error:
        if not error.filename and (refused := _flush(sys.stdout)):
            return _say(f"stdout: {refused.strerror}", "", 1)
        if not error.filename and (lost := _lost_folder()):
            return _say(f"{lost} is not there any more", "change to another folder, or name one with --project", 1)
        return _say(f"{error.filename or 'a file'}: {error.strerror or error}", _way_out(error.filename, home), 1)
    except UnicodeEncodeError as error:  # a folder's name, as everything else is text by now
        name = error.object.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        return _say(f"{name}: nothing can be kept of a folder whose name is not UTF-8", "give it another name", 1)
    except Exception as error:
        return _say(f"{type(error).__name__}: {error}", _log(home), 1)


def _flush(stream: TextIO) -> OSError | None:
    """Write what was printed; why that cannot be done, and then nothing more is written."""
    try:
        stream.flush()
    except OSError as error:
        _silence(stream.fileno())
        return error
    return None


def _way_out(path: object, home: str) -> str:
    """What to do about a file that cannot be used: one of the home is for `doctor`, any other was named by somebody."""
    ours = not path or f"{path}/".startswith(f"{home}/")
    return "run `memory-keeper doctor`" if ours else "check the path, and whether you may use it"


def _lost_folder() -> str:
    """The folder that we were started in, where it was deleted; empty where it was not."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD") or "the folder you are in"
    return ""


def _silence(number: int) -> None:
    os.dup2(os.open("/dev/null", os.O_WRONLY), number)


def _say(message: object, hint: str, code: int) -> int:
    terminal.say_problem(one_line(clean(str(message)), LONGEST), one_line(clean(hint), LONGEST))
    return code


def _log(home: str) -> str:
    """Something nobody expected: leave a trace that can be pasted into an issue."""
    import traceback  # which loads a tokenizer, and is seldom needed

    try:
        path = os.path.join(home, "crash.log")
        os.makedirs(home, mode=0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"memory-keeper {__version__}, Python {sys.version}\n{traceback.format_exc()}")
    except OSError:
        return ""
    return f"this is a bug; please report it with {path}"
