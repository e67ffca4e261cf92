"""Answers requests to clear: through the terminal that each session runs in, or by a signal for a script on Windows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from signal import SIG_BLOCK, SIG_SETMASK, SIGHUP, SIGINT, SIGTERM, pthread_sigmask
from time import time
from typing import NamedTuple

from memory_keeper.errors import Busy
from memory_keeper.hooks.actions.fullness import WATCHING
from memory_keeper.store.home import make_folder, try_lock
from memory_keeper.watch import Terminal, signal
from memory_keeper.watch.ask import Ask
from memory_keeper.watch.clear import Refused, send_clear
from memory_keeper.watch.screen import Window
from memory_keeper.watch.tmux import Pane

PLACES: dict[str, Callable[[Ask], Terminal]] = {"tmux": Pane, "screen": Window}
TICK = 1.0
PAUSE = 600.0  # seconds between two clears of one session
AGAIN = 30.0  # seconds after keys that were taken back
PATIENCE = 1.0  # somebody who only asks whether a watcher is there holds its lock for a moment


class Attempt(NamedTuple):
    """What was done about a request, or why nothing was."""

    at: float
    session: str
    via: str
    done: bool
    why: str = ""


@contextmanager
def alone(home: str, patience: float = PATIENCE) -> Iterator[int]:
    """The lock that only one watcher of a home can have; the file also says what it has cleared lately."""
    make_folder(home)
    fd = os.open(f"{home}/{WATCHING}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not try_lock(fd, patience):
            raise Busy("Another watcher answers for this home", hint="one is enough")
        yield fd
    finally:
        os.close(fd)


class Watcher:
    """What one watcher knows: what it has said, and where it must not try again yet."""

    def __init__(self, home: str, via: str | None = None) -> None:
        self._home, self._via = home, via
        self._after: dict[str, float] = {}
        self._reported: dict[str, str] = {}
        self._signal = signal.find_path()

    def news(self, asks: Sequence[Ask], now: float, lock: int) -> list[Attempt]:
        """The same as `answer`, without what was reported before."""
        attempts = self.answer(asks, now, lock)
        new = [each for each in attempts if each.done or self._reported.get(each.session) != each.why]
        self._reported |= {each.session: each.why for each in attempts}
        return new

    def answer(self, asks: Sequence[Ask], now: float, lock: int) -> list[Attempt]:
        """Answer what is asked for, as the holder of the lock."""
        if self._via == "signal":
            self._tidy({ask.session for ask in asks}, now, lock)
        return [self._answer(ask, now, lock) for ask in asks if now >= self._after.get(ask.session, 0.0)]

    def close(self) -> None:
        """Leave no signal behind that nobody would take away."""
        if self._via == "signal":
            signal.take_away(self._signal)

    def _answer(self, ask: Ask, now: float, lock: int) -> Attempt:
        if 0 <= now - _read_cleared(lock).get(ask.session, 0.0) < PAUSE:
            return Attempt(now, ask.session, "", False, "it was cleared less than ten minutes ago")
        via, why, typed = self._give_signal(ask, now) if self._via == "signal" else _type(ask, self._via)
        if not why:
            _note_cleared(lock, ask.session, now)
        if typed:
            self._after[ask.session] = now + AGAIN  # taken back, or the new session is about to begin
        return Attempt(now, ask.session, via, not why, why)

    def _give_signal(self, ask: Ask, now: float) -> tuple[str, str, bool]:
        try:
            signal.give(self._signal, ask, now)
        except Refused as refused:
            return "signal", str(refused), False
        return "signal", "", True

    def _tidy(self, asking: set[str], now: float, lock: int) -> None:
        """Take away a signal that nobody acted on; who still wants it may give it again."""
        given = signal.read(self._signal)
        if given and (given.session not in asking or not 0 <= now - given.at < signal.FRESH):
            signal.take_away(self._signal)
            _note_cleared(lock, given.session, 0.0)


class _Counter:
    """A terminal that knows whether something was typed into it."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal, self.typed = terminal, False
        self.screen = terminal.screen

    def type(self, keys: bytes) -> None:
        self.typed = True
        self._terminal.type(keys)


def _type(ask: Ask, via: str | None) -> tuple[str, str, bool]:
    """Type a clear where it was asked for: through what, why not, and whether anything was typed."""
    ways = [via] if via else [name for name, named in (("tmux", ask.pane), ("screen", ask.sty)) if named]
    whys = []
    for way in ways:
        try:
            terminal = _Counter(PLACES[way](ask))
        except (Refused, OSError) as error:
            whys.append(f"{way}: {error}")
            continue
        with _uninterrupted():
            try:
                return way, send_clear(terminal), terminal.typed
            except OSError as error:  # its terminal went away
                return way, str(error), terminal.typed
    return "", "; ".join(whys) or "it runs neither in tmux nor in GNU screen", False


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Half a command would stay in the user's input box: who wants us to end waits until it is sent or taken back."""
    before = pthread_sigmask(SIG_BLOCK, (SIGINT, SIGTERM, SIGHUP))
    try:
        yield
    finally:
        pthread_sigmask(SIG_SETMASK, before)


def _read_cleared(lock: int) -> dict[str, float]:
    try:
        times = json.loads(os.pread(lock, 1 << 20, 0))
        return {str(session): float(at) for session, at in times.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _note_cleared(lock: int, session: str, at: float) -> None:
    """Remember a clear, for the next watcher too."""
    cleared = {name: when for name, when in _read_cleared(lock).items() if abs(time() - when) < PAUSE}
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps({**cleared, session: at}).encode(), 0)
