"""Which sessions and prompts touched a file, what was said of it, and which of it was taken back."""

from __future__ import annotations

import re

from memory_keeper.capture.calls import COMMITTED, WRITES, command_of, steps, undone
from memory_keeper.keep.passage import before, calls_about, commits_after, decided, paths_called, shell_calls
from memory_keeper.model import Event, NamedTuple
from memory_keeper.search.fixes import Step, changed_part
from memory_keeper.search.runs import in_order
from memory_keeper.search.staleness import within
from memory_keeper.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.model import Scope

CALLS = 5_000  # about one file, the newest
NAMES = 5  # that a file had before
SAID = 240  # characters of a prompt, of a reason
MOVES = re.compile(r"^(?:git )?mv (?:-\S+ )*(\S+) (\S+)$")
DECIDED = ("Decided: ", "Dead end: ", "Taken back: ")


class Edit(NamedTuple):
    """One change of a file."""

    id: str
    at: float
    tool: str
    old: str  # what it took away and what it put there, as far as that fits a line
    new: str
    reverted: bool  # it was taken back later


class Touch(NamedTuple):
    """What one prompt of a session did to a file."""

    session: str
    at: float  # of the last of it
    prompt: Step | None  # what asked for it
    edits: tuple[Edit, ...]
    reads: int
    failed: int  # calls about it that failed
    why: tuple[Step, ...]  # what was said and decided around it
    commit: Step | None  # the commit that followed
    path: str  # the name it had then
    files: tuple[str, ...]  # the paths that calls gave
    last: str  # the last call about it


class Blame(NamedTuple):
    """What is known of a file."""

    path: str  # as seen from the project
    touches: list[Touch]  # the newest first
    project: str = ""
    others: tuple[str, ...] = ()  # files of that name, where it is not clear which is meant


def blame(store: SqliteStore, file: str, scope: Scope, limit: int = 10) -> Blame:
    """Which prompts touched a file, newest first; without touches and with `others` where several files are meant."""
    found = [
        (project, name, paths) for project, names in _find(store, file, scope).items() for name, paths in names.items()
    ]
    if len(found) != 1:
        several = len({project for project, _, _ in found}) > 1
        return Blame("", [], "", tuple(sorted(f"{name}  in {at}" if several else name for at, name, _ in found)))
    ((project, name, paths),) = found
    roots = store.roots(project)
    names = [(name, paths), *_earlier(store, project, name, roots)]
    calls = [one for _, paths in names for one in calls_about(store.db, project, sorted(paths), CALLS)]
    touches = list(_touches(store, calls, project, roots))
    kept = [one for one in touches if _asked_for(one, scope) and (one.edits or one.reads or one.failed)]
    return Blame(name, kept[::-1][:limit], project)


def _find(store: SqliteStore, file: str, scope: Scope) -> dict[str, dict[str, set[str]]]:
    """The files that may be meant: by project and by path as seen from it, the paths under which it was called."""
    asked = file.rstrip("/")
    found: dict[str, dict[str, set[str]]] = {}
    for path, project in paths_called(store.db, scope.project, asked.rpartition("/")[2]):
        inside = within(path, store.roots(project)) or path
        found.setdefault(project, {}).setdefault(inside, set()).add(path)
    for wanted in (_is, _ends):
        kept = {
            project: {name: paths for name, paths in names.items() if wanted(asked, name, paths)}
            for project, names in found.items()
        }
        kept = {project: names for project, names in kept.items() if names}
        if kept:
            return kept
    return {}


def _is(asked: str, name: str, paths: set[str]) -> bool:
    return asked in paths or asked.removeprefix("./") == name


def _ends(asked: str, name: str, paths: set[str]) -> bool:
    part = "/" + asked.removeprefix("./").lstrip("/")
    return any(("/" + path.lstrip("/")).endswith(part) for path in (name, *paths))


def _earlier(store: SqliteStore, project: str, name: str, roots: Sequence[str]) -> Iterator[tuple[str, set[str]]]:
    """The names that a file had before it was moved, and the paths under which it was called then."""
    for _ in range(NAMES):
        moved = next(_moves(store, project, name), "")
        if not moved:
            return
        called = paths_called(store.db, project, moved.rpartition("/")[2])
        paths = {path for path, _ in called if (within(path, roots) or path) == moved}
        name = moved
        if paths:
            yield moved, paths


def _moves(store: SqliteStore, project: str, name: str) -> Iterator[str]:
    """What a file was moved from, as seen from the project, the newest first."""
    folder, _, base = name.rpartition("/")
    for _, call in reversed(shell_calls(store.db, project, ("mv ", folder.rpartition("/")[2] or base), 200)):
        for step in steps(command_of(call)):
            if found := MOVES.match(step):
                old, new = (word.strip("\"'").removeprefix("./").rstrip("/") for word in found.groups())
                whole = new if new.rpartition("/")[2] == base else f"{new}/{old.rpartition('/')[2]}"
                if old != name and ("/" + name).endswith("/" + within(whole, store.roots(project))):
                    yield within(old, store.roots(project))


def _touches(
    store: SqliteStore, calls: Sequence[tuple[int, Event, bool]], project: str, roots: Sequence[str]
) -> Iterator[Touch]:
    """What each prompt did, in order."""
    gone = _reverted(store, calls, project)
    order = in_order([(seq, call) for seq, call, _ in calls])
    calls = sorted(calls, key=lambda one: order[one[0]])
    groups: dict[tuple[str, str], list[tuple[int, Event, bool]]] = {}
    asked: dict[tuple[str, str], tuple[int, Event] | None] = {}
    for one in calls:
        prompt = before(store.db, one[1].session, one[0], "prompt")
        key = one[1].session, prompt[1].id if prompt else ""
        groups.setdefault(key, []).append(one)
        asked[key] = prompt
    for key, group in sorted(groups.items(), key=lambda item: order[item[1][-1][0]]):
        edits = [(seq, call) for seq, call, failed in group if call.tool in WRITES and not failed]
        prompt = asked[key]
        last = group[-1][1]
        made = [Edit(call.id, call.at, call.tool, *changed_part(call), call.id in gone) for _, call in edits]
        yield Touch(
            key[0],
            last.at,
            Step(one_line(clean(prompt[1].text), SAID), prompt[1].id) if prompt else None,
            tuple(made),
            sum(call.tool == "Read" and not failed for _, call, failed in group),
            sum(failed for _, _, failed in group),
            tuple(_why(store, edits, prompt[0] if prompt else 0)),
            _commit(store, edits),
            within(last.path, roots) or last.path,
            tuple(dict.fromkeys(call.path for _, call, _ in group)),
            last.id,
        )


def _reverted(store: SqliteStore, calls: Sequence[tuple[int, Event, bool]], project: str) -> set[str]:
    """The edits that were taken back: by their opposite, or by git."""
    made = [(seq, call) for seq, call, failed in calls if call.tool in WRITES and not failed]
    sessions = {call.session for _, call in made}
    git = [one for one in shell_calls(store.db, project, ("git ",), CALLS) if one[1].session in sessions]
    told = [one for one in git if any(word in one[1].text for word in ("checkout", "restore", "commit", "reset"))]
    order = in_order([*made, *told])
    return undone([call for _, call in sorted([*made, *told], key=lambda one: order[one[0]])])


def _why(store: SqliteStore, edits: Sequence[tuple[int, Event]], since: int) -> Iterator[Step]:
    """What was said before the first edit, and what was decided about the file in that session."""
    if not edits:
        return
    seq, call = edits[0]
    said = before(store.db, call.session, seq, "reply", since)
    if said and said[1].text.strip():
        yield Step(one_line(clean(said[1].text), SAID), said[1].id)
    name = call.path.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    for id, text in decided(store.db, call.session):
        lines = [line for line in text.splitlines() if line.startswith(DECIDED) and (name in line or stem in line)]
        yield from (Step(one_line(clean(line), SAID), id) for line in lines[:2])


def _commit(store: SqliteStore, edits: Sequence[tuple[int, Event]]) -> Step | None:
    """The first commit after the last edit."""
    if not edits:
        return None
    seq, call = edits[-1]
    for result in commits_after(store.db, call.session, seq, 20):
        if found := COMMITTED.search(result.text[:4000]):
            return Step(f"{found[2][:12]} {one_line(clean(found[3]), 120)}", result.id)
    return None


def _asked_for(touch: Touch, scope: Scope) -> bool:
    """Whether a file was touched in the time and by the session that are asked for."""
    early = touch.at < scope.since or (bool(scope.until) and touch.at > scope.until)
    return not early and scope.session in ("", touch.session)
