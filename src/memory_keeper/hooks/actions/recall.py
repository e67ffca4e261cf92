"""Recall before it is asked: what was kept about what a prompt names, and what helped against an error before.

Each is told once in a context. That it was told is a record like every other, so two who find the same at once know by
the records who was first.
"""

from __future__ import annotations

import posix
from collections.abc import Callable

from memory_keeper import config
from memory_keeper.briefs.recall import FILES, Line, fixed, recall
from memory_keeper.capture.named import is_command, names_in, says_error
from memory_keeper.errors import NotSetUp
from memory_keeper.hooks.actions import Request
from memory_keeper.hooks.actions.telling import heard, record_told
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json, Row, Scope
from memory_keeper.request import Brief
from memory_keeper.search.files import Likely, likely
from memory_keeper.search.fixes import Fix, hint
from memory_keeper.search.recall import FEW, about, pattern_of
from memory_keeper.search.staleness import changed, file_of, say
from memory_keeper.store.calls import files_left
from memory_keeper.store.context import read_context
from memory_keeper.store.events import newest_id
from memory_keeper.store.injected import told
from memory_keeper.text import letters
from memory_keeper.wire import units

Recalled = tuple[Brief, tuple[str, ...]]  # what is told, and the keys of its lines

NOTHING = Brief("", "", 0), ()
BUDGET = "tell.recallBudget"
FORESEEN = 4  # files that are told with a first prompt
MOST = 0.6  # of the letters of a line, in a line that was told
SURE = 8.0  # from there on four of five files that are told were read or written (bench/prompt_files.py)


def tell_recall(request: Request) -> Json:
    """Tell a context what was kept about what its prompt names."""
    return heard(request.call.event, recall_text(request))


def tell_fix(request: Request) -> Json:
    """Tell a context what helped before against what has just gone wrong."""
    return heard(request.call.event, fix_text(request))


def recall_text(request: Request) -> str:
    """What a prompt's context is told, as far as there is room; empty, and next to nothing done, for a prompt that
    names nothing."""
    prompt = request.call.text
    if request.call.agent or not names_something(prompt):
        return ""
    return _told(request, lambda finding: finding.recall(prompt))


def fix_text(request: Request) -> str:
    """What a context is told of an error that it has just met; empty where nothing is sure to have helped."""
    error = request.call.text
    if request.call.agent or not error:
        return ""
    return _told(request, lambda finding: finding.hint(error))


def preview(keeper: Keeper, prompt: str, project: str, root: str, budget: int, at: float) -> Brief:
    """What a new context would be told with a prompt; nothing is written down."""
    finding = Finding(keeper, project, root, "", budget, at)
    return finding.recall(prompt)[0] if names_something(prompt) else NOTHING[0]


def names_something(prompt: str) -> bool:
    """Whether there is anything in a prompt to go by."""
    return not is_command(prompt) and bool(names_in(prompt) or says_error(prompt))


def _told(request: Request, find: Callable[[Finding], Recalled]) -> str:
    call, home, at = request.call, request.home, request.at
    budget: int = request.settings[BUDGET]
    if budget <= 0:
        return ""
    root = config.find_root(call.folder)
    try:
        with Keeper(home, request.environ) as keeper:
            brief, keys = find(Finding(keeper, keeper.project(call.folder), root, call.session, budget, at, call.id))
    except NotSetUp:
        return ""  # the very first session
    if not brief.text:
        return ""

    if units(brief.text) >= request.room:
        return ""
    record_told(home, call.session, call.folder, call.id, at, (brief,), on=call.event, keys=keys)
    first = dict(read_context(home, call.session).recalled)
    return brief.text if all(first.get(key) == call.id for key in keys) else ""  # else another was faster


class Finding:
    """One search for what a context should know."""

    def __init__(
        self, keeper: Keeper, project: str, root: str, session: str, budget: int, at: float, call: str = ""
    ) -> None:
        self.keeper, self.project, self.root, self.session = keeper, project, root, session
        self.budget, self.at = budget, at
        self.context = read_context(keeper.home, session)
        # a call that asks again was not heard
        self.keys = {key for key, first in self.context.recalled if first != call}
        self.cites: set[str] = set()
        if self.context.source == "resume":
            self._ask_the_store()

    def recall(self, prompt: str) -> Recalled:
        """What is kept about what a prompt names, and what helped against an error in it."""
        names = names_in(prompt)
        found = about(self.keeper.store, names, self.project, self.fresh) if names else []
        fix = self.fix(prompt) if says_error(prompt) else None
        files = self.files(prompt) if names and not self.context.stopped else []
        if not found and not fix and not files:
            return NOTHING

        return recall(found, fix, files, self.at, posix.urandom(4).hex(), self.budget, len(names) <= FEW, self)

    def files(self, prompt: str) -> list[Likely]:
        """The files that a first prompt will very likely lead to, but those that it names by their whole path."""
        if FILES in self.keys:
            return []
        found = likely(self.keeper.store, prompt, self.project, FORESEEN)
        return [
            file
            for file in found
            if file.score >= SURE and file.path not in prompt and file.events and self._is_there(file.path)
        ]

    def _is_there(self, path: str) -> bool:
        return path[:1] != "/" and ".." not in path.split("/") and posix.access(f"{self.root}/{path}", posix.F_OK)

    def hint(self, error: str) -> Recalled:
        """What helped against an error."""
        fix = self.fix(error)
        if not fix:
            return NOTHING

        return fixed(fix, self.at, posix.urandom(4).hex(), self.budget)

    def fix(self, error: str) -> Fix | None:
        """What helped against an error in another session, of which this context was not told."""
        fix = hint(self.keeper.store, error, Scope(self.project), self.session)
        return fix if fix and fix.solved not in self.keys else None

    def fresh(self, row: Row) -> bool:
        """Whether something is not of the context itself, which has it; nor was told it before it was resumed."""
        own = row.session == self.session and row.at >= self.context.compacted
        return not own and row.id not in self.cites

    def knows(self, line: Line) -> bool:
        """Whether a context was told a line, or a brief that has it."""
        quote, injected = letters(line.quote), map(letters, self.context.told.split("\n"))
        return (
            line.key in self.keys
            or line.start in letters(self.context.told)
            or any(
                text in quote and len(text) >= MOST * len(quote) for text in injected
            )  # a rule without "from now on"
        )

    def stale(self, line: Line) -> str:
        """What became of the file that a line is about, since the session that said it."""
        if not line.file:
            return ""

        store, mention = self.keeper.store, pattern_of(line.file)
        left = files_left(store, line.session, newest_id(store, line.session))
        about = [event for event in left if mention.search(file_of(event)[0])]
        text = say(changed(self.root, about, store.roots(self.project)))
        return f"; {text}" if text else ""

    def _ask_the_store(self) -> None:
        """What a session was told that goes on: its records may be of an earlier start, or gone from the spool."""
        for telling in told(self.keeper.store, self.project, self.session, self.context.compacted):
            for name, known in (("cites", self.cites), ("lines", self.keys)):
                ids = telling.said.get(name)
                known.update(id for id in ids if isinstance(id, str)) if isinstance(ids, list) else None
