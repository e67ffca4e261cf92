"""Claude Code's own commands, for somebody who waits."""

from __future__ import annotations

from threading import Timer

from memory_keeper.host.registration import claude
from memory_keeper.terminal import remark


def ask_claude(*words: str, needed: bool = True) -> str:
    """Run one of Claude Code's own commands; where it takes more than a second, say what is waited for."""
    timer = Timer(1, remark, [f"waiting for `claude {' '.join(words)}`, which may ask the network …"])
    timer.start()
    try:
        return claude(*words, needed=needed)
    finally:
        timer.cancel()
