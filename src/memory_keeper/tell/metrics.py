"""The metrics of one session, in the form that the predecessor had; every figure is one that somebody counted."""

from __future__ import annotations

import posix

from memory_keeper.keep.archive import archive_path
from memory_keeper.keep.telling import shares, told
from memory_keeper.model import NamedTuple
from memory_keeper.tell.context_archive import short_number
from memory_keeper.tell.effects import Record, compactions
from memory_keeper.tell.report import compaction_json, moment, percent, priced, prices_json, sum_json
from memory_keeper.text import clean, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Json
    from memory_keeper.tell.effects import Compaction
    from memory_keeper.tell.prices import Prices
    from memory_keeper.tell.sums import Sum

EVER = 1e12
BY = {"host": "Claude Code", "keeper": "Memory Keeper, without a model", "clear": "a clear", "hand": "hand"}
TRIGGERS = {
    "auto": "Token threshold exceeded (auto)",
    "manual": "Asked for (manual)",
    "clear": "Cleared",
    "hand": "Put into the archive by hand",
}


class Metrics(NamedTuple):
    """One session in figures."""

    session: str
    begun: int  # tokens of its first context, at the first response
    peak: int
    compactions: tuple[Compaction, ...]
    spent: Sum
    archived: bool  # its transcript is in our archive
    summary: int  # tokens of what the last compaction left; 0: nothing
    noted: bool  # notes tell of it, so it is on the page of the memory
    told: int  # tokens that we told it
    prices: Prices


def find_session(store: SqliteStore, home: str, prices: Prices, session: str, spent: Sum) -> Metrics:
    """What there is to say of a session."""
    project = store.project_of(session)
    sizes = [one.context for one in store.usages(session) if not one.agent]
    found = tuple(compactions(Record(store, project), prices, 0.0, EVER, session))
    path = store.transcript(session)
    source = store.source(path) if path else None
    ours = sum(size for one in told(store.db, project, session, reminders=True) for _, size in shares(one.said))
    return Metrics(
        session,
        sizes[0] if sizes else 0,
        max([*sizes, *(one.before or 0 for one in found)], default=0),
        found,
        spent,
        source is not None and posix.access(archive_path(home, source), posix.R_OK),
        _summary(store, project, session, found),
        any(note.session == session and note.text for note in store.notes(project, 1)),
        ours,
        prices,
    )


def _summary(store: SqliteStore, project: str, session: str, found: Sequence[Compaction]) -> int:
    """The tokens of what the last compaction left: the host's summary, or what we told in its place."""
    if not found:
        return 0
    if found[-1].by == "host":
        said = store.latest(project, "summary", 1, (session,))
        return tokens(said[0].text) if said else 0
    after = told(store.db, project, session, since=found[-1].at - 1)
    return next((sum(size for _, size in shares(one.said)) for one in after), 0)


def show_session(one: Metrics) -> str:
    """The metrics of a session, in the form that its predecessor had."""
    head = f"Session ID: {clean(one.session)}"
    return "\n".join([head, "─" * len(head), *_metrics(one), "", "Artifacts:", *_artifacts(one), *_each(one), ""])


def _metrics(one: Metrics) -> Iterator[str]:
    pairs = [(each.before, each.after) for each in one.compactions if each.before and each.after is not None]
    before, after = sum(size for size, _ in pairs), sum(size or 0 for _, size in pairs)
    at_end = any(each.before == one.peak for each in one.compactions)
    last = one.compactions[-1] if one.compactions else None
    freed = max(0, before - after)
    remains = f" (→ {short_number(pairs[-1][1] or 0)} remaining)" if pairs else ""
    seconds = f"{last.seconds:.1f}s" if last and last.seconds is not None else "not measured"
    yield f"Starting tokens:    {short_number(one.begun)}"
    yield f"Peak tokens:        {short_number(one.peak)}{' (at compaction)' * at_end}"
    yield f"Compaction trigger: {_trigger(last) if last else 'none'}"
    yield f"Tokens recovered:   {short_number(freed) if pairs else 'none measured'}{remains}"
    yield f"Compression ratio:  {f'{percent(freed, before)} reduction' if pairs else 'none measured'}"
    yield f"Time to compact:    {seconds if last else 'none'}"
    used, requests = f"{one.spent.tokens:,}", f"{one.spent.requests:,} requests"
    yield f"Tokens used:        {used} in {requests}, {percent(one.spent.cached)} of what was sent from the cache"
    yield f"Cost:               {priced(one.spent, one.prices)} ({one.prices.label})"
    yield f"Told by us:         {one.told:,} tokens"


def _trigger(last: Compaction) -> str:
    said = TRIGGERS.get(last.trigger or last.by, "Not said")
    return said + ", answered by Memory Keeper" * (last.by == "keeper")


def _artifacts(one: Metrics) -> Iterator[str]:
    smaller = any(each.by == "clear" or (each.before or 0) > (each.after or 0) > 0 for each in one.compactions)
    size = f" ({short_number(one.summary)})" if one.summary else ""
    yield f"  {'✓' if one.archived else '✗'} Original transcript archived"
    yield f"  {'✓' if one.summary else '✗'} Summary generated{size}"
    yield f"  {'✓' if one.noted else '✗'} MEMORY.md updated"
    yield f"  {'✓' if smaller else '✗'} Context cleaned"


def _each(one: Metrics) -> Iterator[str]:
    """Every compaction, where there were several."""
    if len(one.compactions) < 2:
        return
    yield "\nCompactions:"
    for each in one.compactions:
        sizes = " → ".join("unknown" if size is None else f"{size:,}" for size in (each.before, each.after))
        yield f"  {moment(each.at)}  {sizes} tokens, by {BY[each.by]}"


def session_json(one: Metrics) -> Json:
    """The metrics of a session as one document."""
    plain = one._asdict()
    return {
        **plain,
        "compactions": [compaction_json(each) for each in one.compactions],
        "spent": sum_json(one.spent),
        "prices": prices_json(one.prices),
    }
