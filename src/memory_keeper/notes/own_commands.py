"""Our own slash commands: they are about the context and not about the work, and what comes of them is our own report.

Told again it would be an echo of what was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory_keeper.capture.payload import OWN_COMMAND
from memory_keeper.model import Event


def others(events: Iterable[Event]) -> Iterator[Event]:
    """What happened but for our own commands and what came of them."""
    ours = False
    for event in events:
        if event.kind == "prompt" and not event.agent:
            ours = event.text.startswith(OWN_COMMAND)
        elif event.kind == "command" and event.text.startswith("<command-") and not event.agent:
            ours = f"<command-name>{OWN_COMMAND}" in event.text[:400]
        elif event.kind == "notice":
            ours = False  # such as that of work in the background, with which the model goes on
        if not ours:
            yield event
