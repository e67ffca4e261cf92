"""What a context was told, kept as a record like every other: the words, whose they are, why, and the tokens they took.

`memory-keeper why` shows it. The words are in a field that no search looks into: what we said is nothing that happened.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.request import Brief
from memory_keeper.store import spool
from memory_keeper.text import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_keeper.model import Json


def heard(event: str, text: str) -> Json:
    """What the model is to hear on a call, as the host takes it; nothing for no text."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}} if text else {}


def record_told(
    home: str,
    session: str,
    folder: str,
    call: str,
    at: float,
    briefs: Sequence[Brief],
    *,
    on: str = "",
    keys: Sequence[str] = (),
    more: Json | None = None,
    remember: bool = False,
    agent: str = "",
) -> None:
    """Keep what a context was told by a call of the host, and `on` what kind of call.

    `keys` tell its lines from others; `more` are further fields; `remember`: the context is to know the words;
    `agent`: only a subagent was told.
    """
    text = "\n".join(brief.text for brief in briefs)
    extra = wire.dumps(_describe(briefs, text, on, keys) | {"call": call} | (more or {}))
    words = text if remember else ""
    record = spool.make("Told", call, at, folder, source=briefs[0].name, extra=extra, text=words, agent=agent)
    spool.append(home, session, record)


def _describe(briefs: Sequence[Brief], text: str, on: str, keys: Sequence[str]) -> Json:
    fields: Json = {
        "brief": briefs[0].name,
        "tokens": sum(brief.tokens for brief in briefs),
        "cites": [cite for brief in briefs for cite in brief.cites],
        "text": text,
    }
    optional = {
        "on": on,
        "lines": list(keys),
        "why": [reason for brief in briefs for reason in brief.why],
        "handed": next((brief.handed for brief in briefs if brief.handed), ""),
        "each": [[brief.name, brief.tokens] for brief in briefs] if len(briefs) > 1 else [],
    }
    return fields | {name: value for name, value in optional.items() if value}


def record_warning(home: str, session: str, folder: str, call: str, at: float, on: str, text: str) -> None:
    """Keep what the model was told of how full its context is."""
    record_told(home, session, folder, call, at, (Brief("warning", text, tokens(text)),), on=on)
