"""What compactions of our own saved, as later requests measured it."""

from __future__ import annotations

from memory_keeper.model import NamedTuple
from memory_keeper.reduce.folds.compactions import measure, ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Event

MOST = 400  # compactions of a project that are looked at, the newest


class Saving(NamedTuple):
    """A compaction of ours, as later requests measured it."""

    session: str
    at: float
    before: int  # tokens of the context
    after: int  # of the first request that followed
    requests: int  # since then, until the context was compacted again

    @property
    def tokens(self) -> int:
        """What those requests did not have to carry."""
        return max(0, self.before - self.after) * self.requests


def saved(store: SqliteStore, project: str) -> list[Saving]:
    """The compactions of ours in a project that a request has followed, oldest first."""
    replaced: dict[str, list[float]] = {}
    for event in store.latest(project, "replaced", MOST):
        replaced.setdefault(event.session, []).append(event.at)
    marks, summed = store.compacted(project), store.latest(project, "summary", MOST, text=False)
    found: list[Saving] = []
    for session, answered in replaced.items():
        hosts = [event.at for event in summed if event.session == session]
        found += _savings(store, session, [mark for mark in marks if mark.session == session], answered, hosts)
    return sorted(found, key=lambda one: one.at)


def _savings(
    store: SqliteStore, session: str, marks: Sequence[Event], answered: Sequence[float], hosts: Sequence[float]
) -> Iterator[Saving]:
    """Of a session's compactions those that we answered, and that no summary of the host's came with."""
    for mine, one in zip(ours(marks, answered, hosts), measure(marks, store.usages(session)), strict=True):
        if mine and one.requests and one.before and one.after:
            yield Saving(session, one.at, one.before, one.after, one.requests)
