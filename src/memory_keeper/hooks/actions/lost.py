"""After a compaction of Claude Code's: what its summary kept of the handoff, and bringing back only what it lost.

The handoff was kept before. The summary is heard of before the new context begins: the host has it written by a
subagent of its own, and a hook hears what that said. So the beginning of the context tells what is missing, once. Where
nobody heard the summary, the handoff is told as it is; where nobody told anything, the next prompt or tool call does.
"""

from __future__ import annotations

from collections.abc import Iterable

from memory_keeper import wire
from memory_keeper.briefs import COMPACTED, Before
from memory_keeper.extract.facts import Fact, facts_of, load
from memory_keeper.extract.fidelity import compare
from memory_keeper.hooks.actions import Request
from memory_keeper.hooks.actions.handoff import try_to_keep
from memory_keeper.hooks.actions.telling import heard, record_told
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Json, NamedTuple
from memory_keeper.policy import shares
from memory_keeper.request import Brief, Call, Context
from memory_keeper.store import spool
from memory_keeper.store.context import read_context
from memory_keeper.store.store import Store
from memory_keeper.text import tokens

NOTHING = Brief("handoff", "", 0)
LOST = ": what the summary leaves out"


class Score(NamedTuple):
    """What a compaction's summary kept, and what was brought back."""

    at: float
    session: str
    trigger: str
    kept: int  # facts of the handoff that the summary has
    lost: int  # and that it has not
    tokens: int  # of the summary
    brought: int  # facts of the lost ones that the context was told
    told: int  # and the tokens that took

    @property
    def percent(self) -> int:
        """How many of a hundred facts were kept."""
        return round(100 * self.kept / max(1, self.kept + self.lost))


# --- telling ---------------------------------------------------------------------------------------------------------


def begin(keeper: Keeper, call: Call, settings: Json, at: float) -> Brief:
    """What a context that begins after a compaction is told; one that the host did not summarize has only this."""
    session, folder = call.session, call.folder
    context = read_context(keeper.home, session)
    if context.replaced:
        return _whole(keeper, session, folder, settings, shares(settings)[0])
    brief, score = _find_lost(keeper, session, folder, settings, context, at)
    if score:
        _keep_score(keeper.home, call, score)
    return brief


def tell_lost(request: Request) -> Json:
    """Tell a context that was compacted what that lost, if nobody has: its beginning should have."""
    call = request.call
    with Keeper(request.home, request.environ) as keeper:
        text = lost_text(keeper, call, request.settings, request.at)
    return heard(call.event, text)


def lost_text(keeper: Keeper, call: Call, settings: Json, at: float) -> str:
    """What a compaction lost of a context that has begun and was told nothing; empty when it was, or nothing is lost.

    Of several calls at once one is answered, again if it asks again.
    """
    session, folder = call.session, call.folder
    context = read_context(keeper.home, session)
    if not context.untold and context.handed != call.id:
        return ""
    if context.replaced:
        brief, score = _whole(keeper, session, folder, settings, shares(settings)[0]), None
    else:
        brief, score = _find_lost(keeper, session, folder, settings, context, at)
    if brief.text:
        record_told(keeper.home, session, folder, call.id, at, (brief,), on=call.event, remember=True)
        if read_context(keeper.home, session).handed != call.id:
            return ""  # somebody else was faster
    if score and not context.scored:
        _keep_score(keeper.home, call, score)
    elif not brief.text and not score:  # there is nothing to be told: nobody has to look again
        spool.append(keeper.home, session, spool.make("Scored", call.id, at, folder))
    return brief.text


def score(request: Request) -> Json:
    """Measure a compaction's summary, where that was not done before its context began."""
    call = request.call
    if not call.text:
        return {}  # it was not the host that summarized
    context = read_context(request.home, call.session)
    if not context.handed or context.scored or context.replaced:
        return {}
    with Keeper(request.home, request.environ) as keeper:
        keep_score(keeper, call, request.settings, context, request.at)
    return {}


def keep_score(keeper: Keeper, call: Call, settings: Json, context: Context, at: float) -> None:
    """Measure a summary that was heard of only after the context had been told the handoff as it is."""
    _, score = _find_lost(keeper, call.session, call.folder, settings, context, at, blindly=True)
    if score:
        _keep_score(keeper.home, call, score)


def _find_lost(
    keeper: Keeper, session: str, folder: str, settings: Json, context: Context, at: float, blindly: bool = False
) -> tuple[Brief, Score | None]:
    """What a summary lost as a brief, and how it scored; the whole handoff and no score where there is no summary.

    `blindly` it was told before anybody knew the summary.
    """
    facts, summary = _handed(keeper, session, folder, context), find_summary(keeper.home, session, context)
    if not facts:
        return _whole(keeper, session, folder, settings, settings["tell.compactBudget"]), None

    own, others = _own(facts), [fact for fact in facts if fact.of]
    found = compare(own, summary, _beside(keeper.home, session, context))
    lost = facts if blindly else [*found.facts, *compare(others, summary).facts]
    brief = _brief(keeper, session, settings, tuple(lost), known=bool(summary) and not blindly)
    if not summary:
        return brief, None
    brought = compare(_own(load([*brief.facts])), summary).lost
    size = tokens(summary, keeper.family(session, keeper.store.project_of(session)))
    return brief, Score(at, session, context.trigger, found.kept, found.lost, size, brought, brief.tokens)


def _brief(keeper: Keeper, session: str, settings: Json, facts: tuple[Fact, ...], known: bool) -> Brief:
    if not facts:
        return NOTHING
    before = Before((session,), facts, COMPACTED + LOST if known else COMPACTED)
    view = keeper.view(session, "compact", before=before, notes=settings["tell.notesBudget"])
    return keeper.brief("handoff", view._replace(ruled=settings["rules.enabled"]), settings["tell.compactBudget"])


def _whole(keeper: Keeper, session: str, folder: str, settings: Json, budget: int) -> Brief:
    view = keeper.view(session, "compact", project=keeper.project(folder), notes=settings["tell.notesBudget"])
    if read_context(keeper.home, session).replaced:  # the last messages stay, and what they say need not be told
        stay = (spool.newest(keeper.home, session, "Replaced") or {}).get("repeated") or ()
        fresh = tuple(fact for fact in view.handed if fact.kind != "step" and [fact.kind, fact.place] not in stay)
        view = view._replace(handed=fresh or view.handed)
    return keeper.brief("handoff", view._replace(ruled=settings["rules.enabled"]), budget)


def _handed(keeper: Keeper, session: str, folder: str, context: Context) -> list[Fact]:
    """What may be handed over: as it was kept before the compaction, with what came to the transcript since.

    Of a context that has gone on, only what was kept then.
    """
    note = keeper.store.handoff(session)
    gone_on = max(context.prompted, context.stopped) > context.begun
    if note and gone_on and note.at >= context.compacted:
        return facts_of(note)
    return [*keeper.handed(session)] or _find(keeper, session, folder) or (facts_of(note) if note else [])


def _own(facts: Iterable[Fact]) -> list[Fact]:
    """Facts without those that were carried over to a session: a summary is scored by what happened in it."""
    return [fact for fact in facts if not fact.of]


def _find(keeper: Keeper, session: str, folder: str) -> list[Fact]:
    """Keep the handoff anew; none when that cannot be done now."""
    try_to_keep(keeper, session, folder)
    return list(keeper.handed(session))


def find_summary(home: str, session: str, context: Context) -> str:
    """The summary that a context begins with; empty when nobody has heard it."""
    record = spool.newest(home, session, "Summary") or {}
    at = record.get("at")
    return str(record.get("text") or "") if isinstance(at, float) and at >= context.compacted else ""


def _beside(home: str, session: str, context: Context) -> str:
    """What the host keeps as it is behind the summary: the last answer, and the prompt that waits for one. In the
    middle of a turn it keeps the last call only, which is not known here."""
    prompt, stop = (spool.newest(home, session, event) or {} for event in ("UserPromptSubmit", "Stop"))
    waits = bool(prompt) and spool.time_of(prompt) >= context.prompted
    if context.stopped < context.prompted and not waits:
        return ""
    kept = [stop, prompt] if waits else [stop]
    return "\n".join(str(record.get("text") or "") for record in kept)


# --- the score -------------------------------------------------------------------------------------------------------


def _keep_score(home: str, call: Call, score: Score) -> None:
    known = {name: value for name, value in score._asdict().items() if name not in ("session", "at")}
    spool.append(home, call.session, spool.make("Scored", call.id, score.at, call.folder, **known))


def scores(store: Store, project: str, limit: int) -> list[Score]:
    """The last compactions of a project that were measured, the newest first."""
    return _read_scores(store.latest(project, "scored", limit))


def _read_scores(events: Iterable[Event]) -> list[Score]:
    found = []
    for event in events:
        fields = wire.read_object(event.extra)
        counts = [fields.get(name) for name in ("kept", "lost", "tokens", "brought", "told")]
        if all(type(count) is int and count >= 0 for count in counts):
            kept, lost, size, brought, injected = map(int, counts)  # type: ignore[arg-type]
            trigger = str(fields.get("trigger") or "")
            found.append(Score(event.at, event.session, trigger, kept, lost, size, brought, injected))
    return found
