"""Compaction of our own, mode `replace`: what the hooks module is answered.

The host hands its plugins a conversation that is about to be compacted. Where the user wants that, the module puts a
line and the last messages in its place, and the handoff comes with the start of the context that follows: no model is
asked. Whatever is in doubt is answered with nothing, and the host compacts itself.
"""

from __future__ import annotations

from memory_keeper.briefs.kept import keep, repeated, words
from memory_keeper.capture.host import born
from memory_keeper.capture.messages import read
from memory_keeper.capture.repeated import OPENING
from memory_keeper.hooks.actions import Request
from memory_keeper.hooks.actions.fullness import settings_of
from memory_keeper.hooks.actions.handoff import save
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json
from memory_keeper.policy import shares
from memory_keeper.rules.prompts import in_force
from memory_keeper.settings import INSTRUCTIONS
from memory_keeper.store import spool
from memory_keeper.store.context import find_running, read_context
from memory_keeper.text import clean, letters, one_line

LONGEST = 4_000  # characters of instructions
PATIENCE = 1.5  # seconds for what is new and nobody has read
ASKED = 300  # characters of what the user wants the compaction to keep
BY_HAND = ("manual", "plugin")  # what sets a compaction off between two turns
LARGEST = 4_000  # tokens of a handoff that a model asks for


def replace(home: str, environ: dict[str, str], question: Json, session: str, call: str, at: float) -> Json:
    """What takes the place of a conversation that is about to be compacted; else the host is to do it itself, and what
    its summarizer is told besides."""
    settings, trigger = settings_of(home, environ, session), str(question.get("trigger") or "")
    if settings["compaction.mode"] != "replace":
        instructions = _instructions(settings)
        return {"instructions": instructions} if instructions else {}
    if trigger == "precompute":  # a summary that nobody would read
        return {"skip": "Memory Keeper compacts this session without a model"}
    messages, model = read(question.get("messages")), str(question.get("model") or "")[:100]
    kept = keep(messages, shares(settings)[1], trigger not in BY_HAND, model)
    folder = read_context(home, session).folder
    if not kept or not save(home, session, folder, environ, PATIENCE):
        return {}
    tokens = question.get("tokens")
    size = tokens if isinstance(tokens, int) and 0 < tokens < 100_000_000 else 0
    with Keeper(home, environ) as keeper:
        stays = repeated(kept, messages, keeper.handed(session))
        typed, project = words(kept, messages, "user"), keeper.store.project_of(session)
        heard = [one.id for one in in_force(keeper.store, project, settings, at) if letters(one.text) in typed]
    record = spool.make("Replaced", call, at, folder, source=trigger[:20], tokens=size, repeated=stays, heard=heard)
    spool.append(home, session, record)
    return {"compact": {"text": describe(size, str(question.get("instructions") or "")), "keep": kept}}


def instruct(request: Request) -> str:
    """What the host's summarizer is told besides, where the hooks module has not said it already.

    The host takes plain text. After a `/compact` that was typed it shows the same to the user, and the model reads it
    again; so there it is only told what the user worded, and what its summary loses is brought back as ever.
    """
    call, instructions = request.call, _instructions(request.settings)
    is_shown = call.source == "manual" and instructions == INSTRUCTIONS
    return "" if is_shown or instructions in call.text else instructions


def _instructions(settings: Json) -> str:
    text: str = settings["compaction.instructions"]
    return text.strip()[:LONGEST]


def refuse(request: Request) -> Json:
    """Refuse a compaction: the context is cleared instead, as soon as its turn is over."""
    call = request.call
    spool.append(request.home, call.session, spool.make("Blocked", call.id, request.at, call.folder))
    return {
        "decision": "block",
        "reason": "Memory Keeper wrote the handoff; this context is cleared and restored when the turn is over"
        " (setting compaction.mode). If nothing happens, type /clear.",
    }


def describe(tokens: int, instructions: str) -> str:
    """The line that the user and the model read at the head of a context that was compacted."""
    size = f" ({tokens:,} tokens before)" if tokens else ""
    asked = one_line(clean(instructions), ASKED)
    wanted = f' The user wants kept: "{asked}".' if asked else ""
    return f"{OPENING}{size}: its handoff and these messages remain, `memory-keeper search` finds the rest.{wanted}"


def tell(home: str, environ: dict[str, str], session: str, budget: int) -> str:
    """The handoff of a session, up to now, for the model that runs in it."""
    folder = read_context(home, session).folder
    if not save(home, session, folder, environ, PATIENCE):
        return ""
    budget = min(max(budget, 0) or settings_of(home, environ, session)["tell.handoffBudget"], LARGEST)
    with Keeper(home, environ) as keeper:
        return keeper.brief("handoff", keeper.view(session, "", of=session), budget).text


def find_own(home: str, environ: dict[str, str]) -> str:
    """The session whose host has started us; empty when it has told us nothing of itself."""
    text = environ.get("CLAUDE_PID", "")
    pid = int(text) if text.isdecimal() else 0
    return find_running(home, pid, born(pid)) if pid else ""
