"""The metrics of one session, in the form that the predecessor had; every figure is one that somebody counted."""

from __future__ import annotations

import posix
from collections.abc import Iterator, Sequence

from memory_keeper.briefs.files import CONTEXT_ARCHIVE, MEMORY, Folder
from memory_keeper.briefs.projects import project_name
from memory_keeper.briefs.report.markdown import (
    compaction_json,
    percent,
    priced,
    prices_json,
    short_name,
    sum_json,
)
from memory_keeper.briefs.report.prices import Prices
from memory_keeper.briefs.report.savings import BY, Sessions, find_compactions
from memory_keeper.briefs.report.sums import Sum
from memory_keeper.briefs.report.survival import LOST, Survival, find_survival, summed_up, survival_json
from memory_keeper.errors import KeeperError
from memory_keeper.model import EVER, Json, NamedTuple, Note
from memory_keeper.notes.usage.compactions import Compaction
from memory_keeper.store.archive import archive_path
from memory_keeper.store.events import began_at
from memory_keeper.store.injected import TOOLS, equipped, shares, told
from memory_keeper.store.store import Store
from memory_keeper.text import clean, local_moment, many, one_line, short_number, tokens

SHOWN = 5  # lost facts that are named
TRIGGERS = {
    "auto": "Token threshold exceeded (auto)",
    "manual": "Asked for (manual)",
    "clear": "Cleared",
    "hand": "Put into the archive by hand",
}


class Metrics(NamedTuple):
    """One session in figures."""

    session: str
    project: str  # its key
    where: str  # the same for people
    title: str  # what the host calls it
    at: float  # when it began
    begun: int  # tokens of its first context, at the first response
    peak: int
    compactions: tuple[Compaction, ...]
    spent: Sum
    archived: bool  # its transcript is in our archive
    summary: int  # tokens of what the last compaction left, else of our note of it; 0: nothing
    summarized: str  # by whom; empty: nobody
    noted: bool  # the pages of its project tell of it
    told: int  # tokens that we told it
    equipped: int  # requests that carried the list of our tools
    prices: Prices
    survival: Survival  # what became of the facts that mattered


def find_session(store: Store, home: str, prices: Prices, session: str, spent: Sum) -> Metrics:
    """What there is to say of a session."""
    project = store.project_of(session)
    sizes = [one.context for one in store.usages(session) if not one.agent]
    sessions = Sessions(store, project)
    found = tuple(find_compactions(sessions, prices, 0.0, EVER, session))
    starts = equipped(store, project, session)
    path = store.transcript(session)
    source = store.source(path) if path else None
    ours = sum(size for one in told(store, project, session, reminders=True) for _, size in shares(one.said))
    notes = [note for note in store.notes(project, 1) if note.session == session and note.text]
    return Metrics(
        session,
        project,
        project_name(store, project),
        store.title(session),
        began_at(store, session),
        sizes[0] if sizes else 0,
        max([*sizes, *(one.before or 0 for one in found)], default=0),
        found,
        spent,
        source is not None and posix.access(archive_path(home, source), posix.R_OK),
        *_summary(store, project, session, found, notes),
        any(_is_told(root, session, notes) for root in store.roots(project)),
        ours,
        len(sessions.responses(session, starts[0][0], EVER)) if starts else 0,
        prices,
        find_survival(store, prices, session),
    )


def _summary(
    store: Store, project: str, session: str, found: Sequence[Compaction], notes: Sequence[Note]
) -> tuple[int, str]:
    """The tokens of what the last compaction left, and by whom: the host's summary, what we told in its place, or the
    note that we made of the session."""
    said = store.latest(project, "summary", 1, (session,)) if found and found[-1].by == "host" else []
    if said:
        return tokens(said[0].text), BY["host"]
    after = told(store, project, session, since=found[-1].at - 1) if found and found[-1].by == "keeper" else []
    size = next((sum(size for _, size in shares(one.said)) for one in after), 0)
    size = size or (tokens(notes[-1].text) if notes else 0)
    return size, BY["keeper"] if size else ""


def _is_told(root: str, session: str, notes: Sequence[Note]) -> bool:
    """Whether a page in a project's folder tells of a session: the index of archived ones, or the memory since then."""
    try:
        with Folder(root) as folder:
            listed, page = folder.read(CONTEXT_ARCHIVE), folder.read(MEMORY)
    except KeeperError:  # there is no such folder, or not any more
        return False
    is_listed = listed is not None and session.encode() in listed.data
    return is_listed or (page is not None and any(note.at <= page.at for note in notes))


def show_session(one: Metrics) -> str:
    """The metrics of a session, in the form that its predecessor had."""
    head = f"Session ID: {clean(one.session)}"
    top = [head, "─" * len(head), *_metrics(one), *_survived(one)]
    return "\n".join([*top, "", "Artifacts:", *_artifacts(one), *_each(one), ""])


def _metrics(one: Metrics) -> Iterator[str]:
    pairs = [(each.before, each.after) for each in one.compactions if each.before and each.after is not None]
    before, after = sum(size for size, _ in pairs), sum(size or 0 for _, size in pairs)
    at_end = any(each.before == one.peak for each in one.compactions)
    by_size = [each for each in one.compactions if each.by in ("host", "keeper")]  # no clear, nothing by hand
    last = (by_size or one.compactions)[-1] if one.compactions else None
    freed = max(0, before - after)
    remains = f" (→ {short_number(pairs[-1][1] or 0)} remaining)" if pairs else ""
    seconds = f"{last.seconds:.1f}s" if last and last.seconds is not None else "not measured"
    yield f"Starting tokens:    {short_number(one.begun)}"
    yield f"Peak tokens:        {short_number(one.peak)}{' (at compaction)' * at_end}"
    yield f"Compaction trigger: {_trigger(last) if last else 'none'}"
    yield f"Tokens recovered:   {short_number(freed) if pairs else 'none measured'}{remains}"
    yield f"Compression ratio:  {f'{percent(freed, before)} reduction' if pairs else 'none measured'}"
    yield f"Time to compact:    {seconds if last else 'none'}"
    used, requests = f"{one.spent.tokens:,}", many(one.spent.requests, "request")
    yield f"Tokens used:        {used} in {requests}, {percent(one.spent.cached)} of what was sent from the cache"
    yield f"Cost:               {priced(one.spent, one.prices)} ({one.prices.label})"
    yield f"Told by us:         {one.told:,} tokens"
    if one.equipped:
        carried = f"{TOOLS:,} tokens in each of {many(one.equipped, 'request')}"
        yield f"Our list of tools:  {carried}, {TOOLS * one.equipped:,} in all"
    yield f"Began:              {local_moment(one.at)}, in {short_name(one.where)}"
    if one.title:
        yield f"Title:              {short_name(one.title)}"


def _trigger(last: Compaction) -> str:
    said = TRIGGERS.get(last.trigger or last.by, "Not said")
    return said + ", answered by Memory Keeper" * (last.by == "keeper")


def _artifacts(one: Metrics) -> Iterator[str]:
    """What is there of it, as found and not as expected."""
    size = f" ({short_number(one.summary)} tokens, by {one.summarized})" if one.summary else ""
    cleaned = [each.by for each in one.compactions if each.by == "clear" or each.freed > 0]
    yield f"  {'✓' if one.archived else '✗'} Original transcript archived"
    yield f"  {'✓' if one.summary else '✗'} Summary generated{size}"
    yield f"  {'✓' if one.noted else '✗'} {MEMORY} updated"
    yield f"  {'✓' if cleaned else '✗'} Context cleaned{f' (by {BY[cleaned[-1]]})' if cleaned else ''}"


def _each(one: Metrics) -> Iterator[str]:
    """Every compaction, where there were several."""
    if len(one.compactions) < 2:
        return
    yield "\nCompactions:"
    for each in one.compactions:
        sizes = " → ".join("unknown" if size is None else f"{size:,}" for size in (each.before, each.after))
        yield f"  {local_moment(each.at)}  {sizes} tokens: {_trigger(each)}"


def _survived(one: Metrics) -> Iterator[str]:
    """What became of the facts that mattered at each compaction or clear, and the first that are gone."""
    boundaries = one.survival.boundaries
    if not boundaries or not one.survival.threads:
        return
    yield "\nWhat survived:"
    for number, boundary in enumerate(boundaries):
        yield f"  {summed_up(number, boundary, one.survival.tally(number))}"
    gone = [thread for thread in one.survival.threads if thread.fates and thread.fates[-1][1] == LOST]
    for thread in gone[:SHOWN]:
        yield f"  ✗ {thread.group}: {one_line(clean(thread.text), 100)}"
    if len(gone) > SHOWN:
        yield f"  … and {len(gone) - SHOWN} more; `--format svg` draws all of them"


def session_json(one: Metrics) -> Json:
    """The metrics of a session as one document."""
    plain = one._asdict()
    return {
        **plain,
        "compactions": [compaction_json(each) for each in one.compactions],
        "spent": sum_json(one.spent),
        "prices": prices_json(one.prices),
        "survival": survival_json(one.survival),
    }
