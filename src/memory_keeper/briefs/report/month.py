"""A month in figures, each of them measured: what models were given and gave, what compactions did, what we added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from time import localtime, strftime

from memory_keeper.briefs.projects import project_name
from memory_keeper.briefs.report.prices import Prices
from memory_keeper.briefs.report.savings import Asking, Charge, Sessions, asking, find_compactions, tellings
from memory_keeper.briefs.report.sums import Sum, by_tool, largest, sums, total
from memory_keeper.model import USER, Json, NamedTuple, Used
from memory_keeper.notes.tasks.done import done, kept_and_archived
from memory_keeper.notes.usage.breakdown import Share
from memory_keeper.notes.usage.compactions import Compaction
from memory_keeper.rules.observations import escalated, observed
from memory_keeper.store.store import Store

ARCHIVES = "compaction.triggers.taskArchive."


class Month(NamedTuple):
    """All that a report tells."""

    name: str  # 2026-04; of another span, what it is
    begin: float
    end: float
    project: str  # empty: all of them
    names: dict[str, str]  # what the projects are called, for people
    prices: Prices
    total: Sum
    days: tuple[Sum, ...]
    models: tuple[Sum, ...]
    projects: tuple[Sum, ...]
    sessions: tuple[Used, ...]  # the largest context first
    tools: tuple[Share, ...]  # estimated, the largest first
    compactions: tuple[Compaction, ...]  # oldest first
    tellings: tuple[Charge, ...]  # the dearest first
    asking: Asking
    escalated: int = 0  # observations that became rules
    archived: int = 0  # observations
    finished: int = 0  # tasks that went to the archive

    @property
    def measured(self) -> list[Compaction]:
        """The compactions for which tokens were counted before and after."""
        found = [one for one in self.compactions if one.by in ("host", "keeper")]
        return [one for one in found if one.before is not None and one.after is not None]

    @property
    def saved(self) -> int:
        """Tokens that requests did not carry."""
        return sum(one.saved for one in self.compactions)

    @property
    def carried(self) -> int:
        """Tokens of ours that requests did carry."""
        return sum(one.carried for one in self.tellings)

    @property
    def net(self) -> int:
        """What is left of what we saved when all that we took is taken off."""
        return self.saved - self.carried - self.asking.tokens

    @property
    def spared(self) -> Decimal:
        """What those tokens would have cost."""
        return sum((one.spared for one in self.compactions if one.spared), Decimal(0))

    @property
    def charged(self) -> Decimal:
        """What ours did cost."""
        return sum((one.cost for one in self.tellings), self.asking.cost)


def find_month(
    store: Store,
    prices: Prices,
    project: str | None,
    span: tuple[float, float],
    settings: Json,
    now: float,
    advance: Callable[[int], None] = lambda done: None,
) -> Month:
    """A month of a project, or of all of them."""
    begin, end = span
    known = [project] if project is not None else store.projects()
    all = [Sessions(store, one) for one in known]
    marks = [one for sessions in all for one in find_compactions(sessions, prices, begin, end)]
    by = {name: sums(store, prices, name, project, begin, end) for name in ("", "day", "model", "project")}
    month = Month(
        name=strftime("%Y-%m", localtime(begin)),
        begin=begin,
        end=end,
        project=project or "",
        names={one: project_name(store, one) for one in known},
        prices=prices,
        total=total(by[""]),
        days=tuple(by["day"]),
        models=tuple(largest(by["model"])),
        projects=tuple(largest(by["project"])),
        sessions=tuple(store.used(project, begin, end)),
        tools=tuple(by_tool(store, known, begin, end, advance)),
        compactions=tuple(sorted(marks, key=lambda one: one.at)),
        tellings=tuple(tellings(all, prices, begin, end)),
        asking=asking(store, project, begin, end),
    )
    return _with_counts(month, store, known, settings, now)


def _with_counts(month: Month, store: Store, projects: Sequence[str], settings: Json, now: float) -> Month:
    """A month with what became of observations, also those of all projects, and tasks in it."""

    def in_it(moments: Iterable[float]) -> int:
        return sum(month.begin <= at < month.end for at in moments)

    places = (*projects, USER)
    seen = [one for place in places for one in observed(store, place, settings, now)]
    return month._replace(
        escalated=in_it(at for place in places for at, _ in escalated(store, place)),
        archived=in_it(one.since for one in seen if one.state == "archived"),
        finished=in_it(at for project in projects for at in _archivings(store, project, settings)),
    )


def _archivings(store: Store, project: str, settings: Json) -> Iterator[float]:
    """When each task of the archive came there: as enough others were done after it, or enough sessions were over."""
    tasks = done(store, project)
    _, archived = kept_and_archived(tasks, store, project, settings)
    keeps, most = settings[ARCHIVES + "keepRecentCount"], settings[ARCHIVES + "archiveAfterSessions"]
    ends = store.last_moments(project) if archived else {}
    for place, task in enumerate(archived):
        later = [one.at for one in tasks[place + keeps : place + keeps + 1]]
        over = sorted(at for session, at in ends.items() if at > task.at and session != task.session)
        yield min([*later, *over[most : most + 1]])
