"""Type `/clear` into a terminal, so that nothing of the user's is lost whatever happens meanwhile.

Nothing is typed but four constants, and Enter only when the box reads `/clear` and the program has offered its own
command for it: a project may have a command of the same name, which would run in its place. A draft is stashed first;
the host gives it back by itself after the clear. In doubt, what was typed is taken back, and nothing is sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from memory_keeper.watch import Terminal
from memory_keeper.watch.box import COMMAND, Box, read_screen

CLEAR, STASH, BACK, ENTER = COMMAND.encode(), b"\x13", b"\x7f", b"\r"
KEYS = (CLEAR, STASH, BACK, ENTER)
BEAT = 0.3  # seconds: an Enter that follows its text at once is taken for a part of it
LOOKS = 10  # at the screen, a beat apart, until it shows what was typed
BUSY = "it is busy, or something else is open"


class Refused(Exception):  # noqa: N818  (it reads as what it says)
    """Nothing may be typed, and why."""


def send_clear(terminal: Terminal, sleep: Callable[[float], object] = time.sleep) -> str:
    """Type `/clear` and Enter. Empty when that was done, else why not."""
    try:
        _send(_Typist(terminal, sleep))
    except Refused as refused:
        return str(refused)
    return ""


class _Typist:
    """Who looks at a terminal and types into it."""

    def __init__(self, terminal: Terminal, sleep: Callable[[float], object]) -> None:
        self.type, self._screen, self._sleep = terminal.type, terminal.screen, sleep

    def box(self) -> Box | None:
        return read_screen(self._screen())

    def wait(self, wanted: Callable[[Box | None], bool], looks: int = LOOKS) -> Box | None:
        """The box when it is as it should be, or as it is after a while; never at once."""
        box = None
        for _ in range(looks):
            self._sleep(BEAT)
            box = self.box()
            if wanted(box):
                break
        return box


def _send(typist: _Typist) -> None:
    before = typist.box()
    if before is None:
        raise Refused(BUSY)
    if typist.wait(lambda box: True) != before or before.text == COMMAND:
        raise Refused("somebody is typing")
    rest = _stash(typist, before) if before.text else before
    typist.type(CLEAR)
    why = _doubt(typist.wait(lambda box: not _doubt(box)))
    if not why:
        typist.type(ENTER)
        box = typist.wait(lambda box: box is None or box.text != COMMAND)
        why = "Enter was not taken" if box and box.text == COMMAND else ""
    if why:
        _take_back(typist, rest, stashed=rest != before)
        raise Refused(why)


def _doubt(box: Box | None) -> str:
    if box is None:
        return BUSY
    if box.text != COMMAND:
        return "the input box did not take it"
    return "" if box.offered else "/clear is not offered, or a command of this project or user has the same name"


def _stash(typist: _Typist, before: Box) -> Box:
    """Put a draft away; the box without it. What stays, whatever is pressed, is a hint and no draft."""
    if before.stashed:
        raise Refused("there is a draft, and another one is stashed")  # which would be lost
    typist.type(STASH)
    after = typist.wait(lambda box: box != before, looks=3)
    if after is None:
        raise Refused(BUSY)
    if not after.stashed and after.text not in ("", before.text):
        raise Refused("somebody is typing")
    return after


def _take_back(typist: _Typist, rest: Box, stashed: bool) -> None:
    """Erase what we have typed, if that can be told from what somebody else has; then give the draft back."""
    box = typist.box()
    for _ in range(_count(rest.text, box.text) if box else 0):
        typist.type(BACK)
    if stashed and typist.wait(lambda box: box == rest) == rest:
        typist.type(STASH)


def _count(before: str, now: str) -> int:
    """How many of the last characters that were typed are ours, in a box that read something else before.

    It read nothing, a hint, or a draft that was not stashed, in which the cursor may stand anywhere. Where keys are
    commands at first, as in vi, only the end of ours may have become text.
    """
    before, now = "".join(before.split()), "".join(now.split())  # lines may be broken at other places
    if now == COMMAND or any(before[:at] + COMMAND + before[at:] == now for at in range(len(before) + 1)):
        return len(COMMAND)
    return len(now) if now and now != before and COMMAND.endswith(now) else 0
