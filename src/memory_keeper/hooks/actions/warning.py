"""The warning that a context fills up: to the user and the model, once per level, when the handoff is written."""

from __future__ import annotations

from memory_keeper.hooks.actions import Request
from memory_keeper.hooks.actions.fullness import HELD, Fullness, can_answer, describe
from memory_keeper.hooks.actions.handoff import try_to_save
from memory_keeper.hooks.actions.telling import heard, record_warning
from memory_keeper.model import Json
from memory_keeper.policy import LATEST
from memory_keeper.store import spool
from memory_keeper.store.context import read_context

NOT_SAVED = "Where the work stands could not be saved"


def warn(request: Request) -> Json:
    """Write the handoff, and tell the user and the model how full the context is, as far as there is room."""
    call, home, at, fullness = request.call, request.home, request.at, request.fullness
    if not fullness:
        return {}
    held = fullness.is_compacted_now(call.id, call.event == "UserPromptSubmit")
    reached = (HELD,) if held else fullness.unsaid(call.id)
    level = " ".join(reached)
    record = spool.make("Warned", call.id, at, call.folder, level=level, tokens=fullness.tokens)
    spool.append(home, call.session, record)
    first = {level: by for level, _, by in read_context(home, call.session).warned}
    if first.get(reached[-1]) != call.id:
        return {}  # another hook was faster
    saved = try_to_save(home, call.session, call.folder, request.environ)
    clearer = can_answer(home, fullness.context)
    if held or not _is_wanted(fullness, reached[-1], clearer):
        return {}
    user, model = _word(fullness, reached[-1], saved, clearer)
    if len(model) >= request.room:
        return {"systemMessage": user}
    record_warning(home, call.session, call.folder, call.id, at, call.event, model)
    return {"systemMessage": user, **heard(call.event, model)}


def _is_wanted(fullness: Fullness, level: str, clearer: str) -> bool:
    """Whether anybody has to hear of it: not where all that is due is done without them."""
    alone = fullness.settings["compaction.mode"] == "clear" and not clearer  # then the user has to do it
    if level == "handoff" and not alone:
        return False
    return bool(fullness.settings["context.warnings"]) and not fullness.tended


def _word(fullness: Fullness, level: str, saved: str, clearer: str) -> tuple[str, str]:
    """What the user and the model are told at a level: what to do, and that the handoff is written.

    `saved` says where it can be read, empty when it could not be written; `clearer` clears the context by itself where
    the mode says so, empty when nobody can.
    """
    urgent, clears = level == "critical", fullness.settings["compaction.mode"] == "clear"
    handoff = "The handoff is written" if saved else "The handoff could not be written (memory-keeper doctor)"
    if clears and clearer:
        do = "the context is cleared when this turn is over, and goes on from there"
        advise = (
            "It is cleared by itself when this turn is over, and goes on from the handoff: finish the step at hand."
        )
    else:
        nobody = " (By itself only under `memory-keeper run -- claude` or with `memory-keeper watch`)" if clears else ""
        do = f"type /clear {'now' if urgent else 'at the next good moment'}, and it goes on from there.{nobody}"
        advise = (
            f"{'Tell the user now' if urgent else 'When the step at hand is done, tell the user'} that /clear (or"
            " /memory-keeper:soft-restart) goes on from the handoff in an empty context."
            " Do not summarize for it, and do not read large files again."
        )
    head, state = _reached(fullness, level)
    stands = f"Where the work stands is saved: {do}" if saved else f"{NOT_SAVED}: memory-keeper doctor says why"
    user = f"Memory Keeper: {head}. {stands}"
    where = f" ({saved})" if saved else ""
    model = f'<memory-keeper context="{level}">\n{state}. {handoff}{where}. {advise}\n</memory-keeper>'
    return user, model


def _reached(fullness: Fullness, level: str) -> tuple[str, str]:
    """What the user and the model hear first: how full it is, or how near its end, whichever the warning is for."""
    limits, settings, tokens = fullness.limits, fullness.settings, fullness.tokens
    end, share = limits.compacts_at or limits.refuses_at, settings.get(f"context.{level}Percent", 0)
    if level in LATEST and tokens >= end * LATEST[level] > 0 and tokens * 100 < share * limits.window:
        what = "Compaction" if limits.compacts_at else "The limit of this context"
        head = f" is {'due' if tokens >= end else 'near'}: {tokens:,} of {end:,} tokens"
        return what.lower() + head, what + head
    state = f"context is {describe(fullness)}"
    return f"the {state}", f"The {state}"
