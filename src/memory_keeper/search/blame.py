"""Which sessions and prompts touched a file, what was said of it, and which of it was taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_keeper.capture.calls import COMMITTED, command_of, steps, undone
from memory_keeper.capture.project import from_root, short_path
from memory_keeper.capture.runs import in_order
from memory_keeper.extract.facts import facts_of, say
from memory_keeper.model import WRITES, Event, NamedTuple, Scope
from memory_keeper.search.edits import changed_part
from memory_keeper.search.fixes import Step
from memory_keeper.store.calls import calls_about, commits_after, last_before, paths_called, shell_calls
from memory_keeper.store.store import Store
from memory_keeper.text import clean, one_line

LOOKED_AT = 50_000  # newest calls of a project among which a file is looked for
CALLS, EDITS = 5_000, 1_000  # about one file, the newest; and those that are held against each other
MOST = 200  # newest commands that may have moved or deleted it
NAMES, MOVED = 5, 8  # that a file had before; files of one name of which it is asked whether they are one
SAID = 240  # characters of a prompt, of a reason
MOVES = re.compile(r"^(?:git )?mv (?:-\S+ )*(\S+) (\S+)$")
TAKES = re.compile(r"^(?:git )?(?:mv|rm) ")
DECIDED = {"decision": "Decided", "accepted": "Decided", "answer": "Decided", "finding": "Found out"}
REASONS = 3  # facts about the file that are told


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


class _File(NamedTuple):
    """A file of a project."""

    project: str
    name: str  # as seen from the project
    paths: frozenset[str]  # under which it was called


class _Call(NamedTuple):
    """A call about a file."""

    seq: int
    call: Event
    failed: bool
    name: str  # of the file, then
    ran: str = ""  # the command that moved or deleted it

    @property
    def edits(self) -> bool:
        """Whether it changed the file."""
        return not self.failed and (bool(self.ran) or self.call.tool in WRITES)


def blame(store: Store, file: str, scope: Scope, limit: int = 10) -> Blame:
    """Which prompts touched a file, newest first; without touches and with `others` where several files are meant."""
    found = _find(store, file, scope)
    several = len({candidate.project for candidate in found}) > 1
    if not several and 1 < len(found) <= MOVED:  # those that were moved to be another of them are not meant
        past = {before.name for candidate in found for before in _earlier(store, candidate)}
        found = [candidate for candidate in found if candidate.name not in past] or found
    if len(found) != 1:
        others = (
            f"{candidate.name}  in {candidate.project.removeprefix('dir:')}" if several else candidate.name
            for candidate in found
        )
        return Blame("", [], "", tuple(sorted(others)))
    (meant,) = found
    calls = {
        mention.seq: mention for known in reversed([meant, *_earlier(store, meant)]) for mention in _calls(store, known)
    }
    groups = _by_prompt(store, [mention for mention in calls.values() if scope.holds(mention.call)], limit)
    edited = any(mention.edits for group in groups for mention in group.calls)
    gone = _taken_back(store, meant.project, [*calls.values()]) if edited else set()
    return Blame(meant.name, [_touch(store, group, gone) for group in groups], meant.project)


def _find(store: Store, file: str, scope: Scope) -> list[_File]:
    """The files that may be meant: those with just this path, else those whose path ends so."""
    asked = file.rstrip("/")
    name, known = asked.removeprefix("./"), dict[tuple[str, str], set[str]]()
    for path, project in paths_called(store, scope.project, asked.rpartition("/")[2], LOOKED_AT):
        known.setdefault((project, short_path(path, store.roots(project))), set()).add(path)
    files = [_File(project, name, frozenset(paths)) for (project, name), paths in known.items()]
    return [candidate for candidate in files if asked in candidate.paths or name == candidate.name] or [
        candidate
        for candidate in files
        if any(("/" + path.lstrip("/")).endswith("/" + name.lstrip("/")) for path in (candidate.name, *candidate.paths))
    ]


# --- what became of a file -------------------------------------------------------------------------------------------


def _earlier(store: Store, file: _File) -> Iterator[_File]:
    """The names that a file had before it was moved, and the paths under which it was called then."""
    roots, known, name = store.roots(file.project), {file.name}, file.name
    for _ in range(NAMES):
        name = next((old for old in _moves(store, file.project, name, roots) if old not in known), "")
        if not name:
            return
        known.add(name)
        called = paths_called(store, file.project, name.rpartition("/")[2], LOOKED_AT)
        if paths := frozenset(path for path, _ in called if short_path(path, roots) == name):
            yield _File(file.project, name, paths)


def _moves(store: Store, project: str, name: str, roots: Sequence[str]) -> Iterator[str]:
    """What a file was moved from, as seen from the project, the newest first."""
    folder, _, base = name.rpartition("/")
    for _, call, failed in reversed(shell_calls(store, project, ("mv ", folder.rpartition("/")[2] or base), MOST)):
        for step in steps(command_of(call)) if not failed else ():
            if found := MOVES.match(step):
                old, new = (_plain(word) for word in found.groups())
                whole = new if new.rpartition("/")[2] == base else f"{new}/{old.rpartition('/')[2]}"
                if old != name and ("/" + name).endswith("/" + from_root(whole, roots)):
                    yield from_root(old, roots)


def _plain(word: str) -> str:
    return word.strip("\"'").removeprefix("./").rstrip("/")


def _calls(store: Store, file: _File) -> Iterator[_Call]:
    """The calls that changed a file, read it, or failed to, and the commands that moved or deleted it."""
    for seq, call, failed in calls_about(store, file.project, sorted(file.paths), CALLS):
        if failed or call.tool in WRITES or call.tool == "Read":
            yield _Call(seq, call, failed, file.name)
    roots, base = store.roots(file.project), file.name.rpartition("/")[2]
    for verb in ("rm ", "mv "):
        for seq, call, failed in shell_calls(store, file.project, (verb, base), MOST):
            if not failed and (ran := _takes(call, file.name, roots)):
                yield _Call(seq, call, False, file.name, ran)


def _takes(call: Event, name: str, roots: Sequence[str]) -> str:
    """The step of a command line that moves or deletes a file; empty when none does."""
    line = command_of(call)
    for step in steps(line):
        words = [_plain(word) for word in step.split()[:40]] if TAKES.match(step) else []
        for word in words[:-1] if "mv" in words[:2] else words:  # the last is where it goes
            short = line.lstrip().startswith("cd ") and ("/" + name).endswith("/" + word)
            if word and (from_root(word, roots) == name or short):
                return step
    return ""


# --- what each prompt did --------------------------------------------------------------------------------------------


class _Group(NamedTuple):
    """The calls that one prompt led to."""

    prompt: tuple[int, Event] | None
    calls: list[_Call]


def _by_prompt(store: Store, calls: Sequence[_Call], limit: int) -> list[_Group]:
    """The calls of the last prompts, the newest prompt first. Of each session they come from the last to the first,
    so that a prompt is looked for only once: whatever comes after it belongs to it."""
    order = in_order([(mention.seq, mention.call) for mention in calls])
    found: list[_Group] = []
    latest: dict[str, tuple[int, _Group | None]] = {}  # of each session the number of the prompt that it has come to
    for mention in sorted(calls, key=lambda mention: order[mention.seq], reverse=True):
        begun, group = latest.get(mention.call.session, (mention.seq + 1, None))
        if mention.seq < begun:
            if len(found) == limit:
                continue
            prompt = last_before(store, mention.call.session, mention.seq, "prompt")
            group = _Group(prompt, [])
            found.append(group)
            latest[mention.call.session] = (prompt[0] if prompt else 0), group
        if group:
            group.calls.insert(0, mention)
    return found


def _touch(store: Store, group: _Group, gone: set[str]) -> Touch:
    prompt, calls = group
    edits = [mention for mention in calls if mention.edits]
    last = calls[-1].call
    return Touch(
        last.session,
        last.at,
        _step(prompt[1]) if prompt else None,
        tuple(
            Edit(
                mention.call.id,
                mention.call.at,
                mention.call.tool,
                *(("", one_line(clean(mention.ran), SAID)) if mention.ran else changed_part(mention.call)),
                mention.call.id in gone,
            )
            for mention in edits
        ),
        sum(mention.call.tool == "Read" and not mention.failed for mention in calls),
        sum(mention.failed for mention in calls),
        tuple(_why(store, edits[0], prompt[0] if prompt else 0)) if edits else (),
        _commit(store, edits[-1]) if edits else None,
        calls[-1].name,
        tuple(dict.fromkeys(mention.call.path for mention in calls if mention.call.path)),
        last.id,
    )


def _step(event: Event) -> Step:
    return Step(one_line(clean(event.text), SAID), event.id)


def _taken_back(store: Store, project: str, calls: Sequence[_Call]) -> set[str]:
    """Which edits were taken back: by their opposite, or by git."""
    made = [(mention.seq, mention.call) for mention in calls if mention.edits and not mention.ran]
    order = in_order(made)
    made = sorted(made, key=lambda pair: order[pair[0]])[-EDITS:]
    sessions = {call.session for _, call in made}
    git = [(seq, call) for seq, call, _ in shell_calls(store, project, ("git ",), CALLS) if call.session in sessions]
    made += [run for run in git if any(word in run[1].text for word in ("checkout", "restore", "commit", "reset"))]
    order = in_order(made)
    return undone([call for _, call in sorted(made, key=lambda pair: order[pair[0]])])


def _why(store: Store, edit: _Call, since: int) -> Iterator[Step]:
    """What was said before an edit, and what was decided about its file in that session."""
    session, name = edit.call.session, edit.call.path.rpartition("/")[2]
    reply = last_before(store, session, edit.seq, "reply", since)
    if reply and reply[1].text.strip():
        yield _step(reply[1])
    stem = name.rpartition(".")[0] or name
    facts = [fact for note in store.notes_of(session) for fact in facts_of(note) if fact.cites]
    worded = {f"{DECIDED[fact.kind]}: {say(fact)}": fact.cites[0] for fact in facts if fact.kind in DECIDED}
    about = [Step(one_line(clean(text), SAID), id) for text, id in worded.items() if stem in text]
    yield from about[:REASONS]


def _commit(store: Store, edit: _Call) -> Step | None:
    """The first commit after an edit."""
    for result in commits_after(store, edit.call.session, edit.seq, 20):
        if found := COMMITTED.search(result.text[:4000]):
            return Step(f"{found[2][:12]} {one_line(clean(found[3]), 120)}", result.id)
    return None
