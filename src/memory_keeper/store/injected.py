"""What contexts were told, asked of the events that say so: what it was, and what it cost."""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import Filter, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memory_keeper.model import Json
    from memory_keeper.store.store import Store

BEGINS = ("start", "compact", "replaced")  # kinds of events with which a context begins
TOOLS = 977  # tokens of the list of our tools, which every context has and every request carries
REMINDER = "reminder"  # the brief that repeats the rules in a line: only who counts looks at those


class Told(NamedTuple):
    """What a context was told at once."""

    id: str
    at: float
    session: str
    said: Json  # brief, tokens, cites, text, …; see app.actions.telling


def told(
    store: Store, project: str, session: str = "", since: float = 0.0, until: float = 0.0, reminders: bool = False
) -> list[Told]:
    """What was told in a project or in one of its sessions, the oldest first; `until` 0 is now."""
    which = Filter(project, (session,) if session else None)
    began = [(kept.event.at, kept.event.session) for kept in store.find(which._replace(kinds=BEGINS, bare=True))]
    kept = store.find(which._replace(kinds=("told",), since=since, until=until or None, by_time=True, text=0))
    events = [one.event for one in kept if reminders or one.event.tool != REMINDER]
    tellings = [Told(event.id, event.at, event.session, wire.read_object(event.extra)) for event in events]
    return _heard(tellings, began)


def taken_over(store: Store, project: str) -> dict[str, str]:
    """The sessions that began with a clear, each with the one that was cleared."""
    starts = store.find(Filter(project, kinds=("start",), by_time=True, text=0))
    after = {one.event.session: wire.read_object(one.event.extra).get("after") for one in starts}
    return {session: cleared for session, cleared in after.items() if isinstance(cleared, str) and cleared != session}


def equipped(store: Store, project: str, session: str = "") -> list[tuple[float, str]]:
    """When contexts of a project, or of one of its sessions, began that had our tools, and whose they are, the oldest
    first: what is resumed is the context that it was, unless nobody saw that begin."""
    starts = store.find(Filter(project, (session,) if session else None, kinds=("start",), by_time=True, bare=True))
    known: set[str] = set()
    found = []
    for _, start in starts:
        if start.tool != "resume" or start.session not in known:
            found.append((start.at, start.session))
        known.add(start.session)
    return found


def _heard(tellings: Iterable[Told], begun: Iterable[tuple[float, str]]) -> list[Told]:
    """What contexts really heard. Of several who find the same at once each leaves a record, and then sees by the
    records whether it was the first: only that one is listened to."""
    known: dict[str, dict[str, str]] = {}
    found = []
    moments = [(at, session, None) for at, session in begun] + [
        (telling.at, telling.session, telling) for telling in tellings
    ]
    for _, session, telling in sorted(moments, key=lambda moment: moment[0]):  # a context begins before it is told
        if telling is None:
            known.pop(session, None)
            continue
        claims, before = _claims(telling.said), known.setdefault(session, {})
        if not any(before.get(name) == value for name, value in claims.items()):
            found.append(telling)
        before |= claims
    return found


def _claims(fields: Json) -> dict[str, str]:
    """What a context is told only once: lines that are recalled, one handoff, and the rules until they change."""
    brief, lines, rules = fields.get("brief"), fields.get("lines"), fields.get("hash")
    claims = {line: "" for line in lines if isinstance(line, str)} if isinstance(lines, list) else {}
    if brief == "handoff" or (brief == "rules" and isinstance(rules, str)):
        claims[str(brief)] = str(rules)
    return claims


def tally(tellings: Iterable[Told]) -> dict[str, tuple[int, int]]:
    """How often each brief was told, and the tokens that took."""
    found: dict[str, tuple[int, int]] = {}
    for telling in tellings:
        for name, tokens in shares(telling.said):
            times, all = found.get(name, (0, 0))
            found[name] = times + 1, all + tokens
    return found


def shares(fields: Json) -> Iterator[tuple[str, int]]:
    """The briefs that were told at once, and the tokens of each."""
    each, name, total = fields.get("each"), fields.get("brief"), fields.get("tokens")
    if isinstance(each, list) and each and all(_is_share(one) for one in each):
        yield from ((str(one[0]), int(one[1])) for one in each)
    elif isinstance(name, str) and type(total) is int:
        yield name, total


def _is_share(one: object) -> bool:
    return isinstance(one, list) and [type(part) for part in one] == [str, int]
