"""What somebody changed on the pages of rules and observations, found by comparing them with what holds.

A change that was taken over is none any more, so finding and keeping can be broken off anywhere and begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from memory_keeper.briefs.files import ACTIVE_RULES, LISTED, OBSERVATIONS
from memory_keeper.briefs.memory import Page, Section, body_of, item
from memory_keeper.briefs.observations import OPEN, parted
from memory_keeper.briefs.rules import Rule
from memory_keeper.model import USER, NamedTuple, origin
from memory_keeper.rules.observations import Observed
from memory_keeper.store.store import Store


class Change(NamedTuple):
    """Something that a page says and nothing kept does, or the other way round."""

    what: str  # added | reworded | taken away | promoted
    kind: str  # of what it makes or takes away: rule | observation
    text: str = ""  # as the page has it
    rule: Rule | None = None  # that is changed
    observed: Observed | None = None  # that is changed, or becomes a rule

    def __str__(self) -> str:
        changed = self.rule or self.observed
        before = item(changed.text) if changed else ""
        said = {"reworded": f"{before} -> {self.text}", "taken away": before}.get(self.what, self.text)
        about = ["observation"] if self.kind != "rule" else []
        if (self.rule and self.rule.scope != "project") or (self.observed and self.observed.project == USER):
            about.append("in all projects")
        return f"{self.what}: {said}" + (f" ({', '.join(about)})" if about else "")


class Kept(NamedTuple):
    """What holds now."""

    store: Store
    rules: Sequence[Rule]
    observed: Sequence[Observed]

    def shown(self, section: Section, kind: str) -> str | None:
        """What stood in a section when it was written, on the page of such notes."""
        note = self.store.note(section.wording) if section.wording else None
        return body_of(note) if note and note.kind == kind else None


def changes(
    pages: Mapping[str, Page], untouched: Collection[str], kept: Kept, redacted: Callable[[str], str] = str
) -> Iterator[Change]:
    """What was changed on some pages, each of which we wrote; of the `untouched` ones only what the store has lost."""
    moved: set[str] = set()  # from the observations to the rules
    for name, find in ((ACTIVE_RULES, _rules_changed), (OBSERVATIONS, _observations_changed)):
        if page := pages.get(name):
            if name in untouched:
                lost = [one for one in page.sections if one.yours and kept.shown(one, LISTED[name]) is None]
                page = page._replace(sections=tuple(lost), shown=None)
            yield from find(page, kept, redacted, moved)


def _rules_changed(page: Page, kept: Kept, redacted: Callable[[str], str], moved: set[str]) -> Iterator[Change]:
    rules = {rule.id: rule for rule in kept.rules if item(rule.text)}  # one of blanks stands nowhere
    observed = {id: one for one in kept.observed for id in one.notes}
    held, stands = {item(rule.text) for rule in kept.rules}, set[str]()
    for section, text in _said(page, "rule", kept, redacted):
        rule, one = rules.get(section.origin), observed.get(section.origin)
        if rule and rule.id not in stands:
            stands.add(rule.id)
            if text and text != item(rule.text):
                yield Change("reworded", "rule", text, rule)
        elif text and text not in held:
            held.add(text)
            one = one if one and one.state != "rule" else None
            moved |= {one.id} if one else set()
            yield Change("promoted" if one else "added", "rule", text, observed=one)
    for first in _showed(page, kept):
        if first in rules and first not in stands:
            stands.add(first)
            yield Change("taken away", "rule", rule=rules[first])


def _observations_changed(page: Page, kept: Kept, redacted: Callable[[str], str], moved: set[str]) -> Iterator[Change]:
    observed = {id: one for one in kept.observed for id in one.notes if one.state in OPEN and item(one.text)}
    held = {item(one.text) for one in kept.observed if one.state in (*OPEN, "rule")}
    stands = set(moved)
    for section, text in _said(page, "observation", kept, redacted):
        one = observed.get(section.origin)
        if one and one.id not in stands:
            stands.add(one.id)
            if text and text != item(one.text):
                yield Change("reworded", "observation", text, observed=one)
        elif text and text not in held:
            held.add(text)
            yield Change("added", "observation", text)
    for first in _showed(page, kept):
        if first in observed and observed[first].id not in stands:
            stands.add(observed[first].id)
            yield Change("taken away", "observation", observed=observed[first])


def _said(page: Page, kind: str, kept: Kept, redacted: Callable[[str], str]) -> Iterator[tuple[Section, str]]:
    """The sections that say something, and what is new of it; empty when that stood there before."""
    for section in parted(page.sections):
        if section.body:
            yield section, "" if section.body == kept.shown(section, kind) else redacted(section.body)


def _showed(page: Page, kept: Kept) -> Iterator[str]:
    """All that the page showed, by the ids of the notes."""
    for id in page.shown or ():
        note = kept.store.note(id)
        yield origin(note) if note else id
