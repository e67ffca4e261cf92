"""Sends `/clear` where it can: into a tmux pane or a window of GNU screen. Verb: send_clear.

Typing into somebody's terminal is dangerous, so nothing is typed but constants, only into the terminal of the very
process that the clear was asked for, and only while its screen shows an idle prompt.

`ask` finds what was asked for, `process` the process that is meant, `clear` types, and `box` reads the screen before
each key. `tmux` and `screen` are the terminals; where nobody can type, `signal` tells a script. `watcher` does it all.
"""

from __future__ import annotations

from typing import Protocol


class Terminal(Protocol):
    """A place where Claude Code runs and keys can be typed."""

    def screen(self) -> str:
        """What the user sees now: plain text, line by line."""
        ...

    def type(self, keys: bytes) -> None:
        """Type keys, as the bytes that a keyboard sends."""
        ...
