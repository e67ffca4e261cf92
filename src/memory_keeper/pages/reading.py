"""The pages of a project as they are read: what stands in each, whether we wrote it, and what a person has changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from time import time

from memory_keeper.briefs.edits import Change, Kept, changes
from memory_keeper.briefs.files import INDEX, LISTED, ONE_EACH, SEALED, Folder, Found, Unwritable
from memory_keeper.briefs.memory import (
    Page,
    Section,
    decode,
    is_ours,
    is_sealed,
    is_text,
    owner,
    parse,
    parse_first,
    said,
)
from memory_keeper.briefs.pages import is_our_index, observed_in
from memory_keeper.briefs.rules import rules_of
from memory_keeper.model import NamedTuple
from memory_keeper.pages import Place
from memory_keeper.rules.observations import Observed

SETTLED = 2.0  # seconds after which a page without its end is not one that an editor is just writing


class Read(NamedTuple):
    """A file as it was read, for one project."""

    name: str
    path: str
    found: Found
    page: Page
    trusted: bool  # we wrote it for this project, whoever has changed it since
    waits: bool = False  # somebody may be writing it now, or has a word to say first


class Pages(Place):
    """The pages of a project, in one of its folders, at a moment."""

    @cached_property
    def observed(self) -> list[Observed]:
        """The observations that the pages tell of."""
        return self.observe()

    def observe(self) -> list[Observed]:
        """The same as they are now."""
        return observed_in(self.keeper.store, self.project, self.settings, self.now)

    def read(self, folder: Folder, name: str, whole: bool = False) -> Read | None:
        """What a file says, and whether we wrote it for this project: a signature counts, and where there can be none,
        that nobody has written to it since. One that is not ours is read only when the `whole` of it is wanted."""
        found = folder.read(name)
        if not found:
            return None
        salt, page, waits = self.keeper.salt, Page(()), False
        trusted = not found.data.strip()  # of a save that was cut short, or deleted: there is nothing to lose
        if name in SEALED:
            trusted = trusted or is_sealed(found.data, name, self.project, salt)
        elif name == INDEX:
            trusted = trusted or is_our_index(found.data, self.project, salt)
        elif not name.endswith(".md"):
            trusted = trusted or found.ours
        else:
            kind = kind_of(name)
            trusted = trusted or is_ours(parse_first(found.data), owner(self.project, kind), salt)
            if trusted or (whole and is_text(found.data)):
                page = parse(decode(found.data), headings=kind not in ONE_EACH)
            if kind in ONE_EACH:
                page = page._replace(sections=_joined(page.sections))
            fresh = min(abs(moment - found.at) for moment in (self.now, time())) < SETTLED  # we may have waited since
            waits = trusted and page.shown is None and fresh
        return Read(name, f"{folder.path}/{name}", found, page, trusted, waits)

    def read_listed(self) -> list[Read]:
        """The pages of rules and observations."""
        try:
            with Folder(self.root) as folder:
                return [reading for name in LISTED if (reading := self.read(folder, name))]
        except Unwritable:
            return []  # there is no such folder

    def changes(self, reads: Iterable[Read], redact: bool = False) -> Iterator[Change]:
        """What was changed on some pages of ours; `redact` its secrets, which needs the writer's lock."""
        reads = [reading for reading in reads if reading.trusted]
        kept = Kept(self.keeper.store, rules_of(self.keeper.store, self.project), self.observed)
        untouched = {reading.name for reading in reads if reading.found.ours}
        safe = (lambda text: self.keeper.redacted(text, self.project)) if redact else str
        return changes({reading.name: reading.page for reading in reads}, untouched, kept, safe)

    def is_edited(self, read: Read) -> bool:
        """Whether a page of rules or observations says what nothing kept does, or says no more what it did."""
        return read.name in LISTED and any(self.changes([read]))

    def waiting(self) -> list[str]:
        """The names of the pages of rules and observations that were changed, and wait for a person's word."""
        return [reading.name for reading in self.read_listed() if self.is_edited(reading)]


def kind_of(name: str) -> str:
    """The kind of the notes that somebody writes on a page."""
    stem = name.removesuffix(".md")
    return stem if stem in ONE_EACH else LISTED.get(name, "note")


def _joined(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """A page of one standing note is that note: what stands around it belongs to it."""
    known = [section for section in sections if section.origin] or [Section("")]
    if len(known) > 1 or not sections:
        return sections
    return (known[0]._replace(body="\n\n".join(filter(None, map(said, sections)))),)
