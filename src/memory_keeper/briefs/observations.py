"""The pages of rules and observations, and what a person wrote on them.

A rule and an observation is a line in a section of its own, and under it stands what is known of it. A line that we
added under a text ends in its checksum: as long as that holds nobody has touched it, and it says nothing new.
What a person writes beside those is a note a line; under a heading, with its words before it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from memory_keeper import wire
from memory_keeper.briefs.memory import Section, compose, item, owner, section
from memory_keeper.briefs.rules import Rule
from memory_keeper.model import DAY, USER, Note
from memory_keeper.provenance import EDITED, IMPORT
from memory_keeper.rules.observations import Observed
from memory_keeper.text import many, utc_day

RULES_TITLE, OBSERVATIONS_TITLE = "# Active Rules", "# Observations"
ARCHIVE_TITLE = "# Observation Archive - Escalated Patterns"
ARCHIVE_ABOUT = "Observations confirmed 5+ times and moved to ACTIVE_RULES."
ABOUT = "edit freely, then run `memory-keeper rule adopt`: before that nothing here changes what holds"
LONGEST = 2_000  # characters of a rule or an observation
ESCALATED, LEGACY = "## Escalated → ACTIVE_RULES", "## Legacy Observations (archived, not escalated)"
OPEN = ("proposed", "open")  # the states of what stands on the page, in that order
REASONS = {"archived": "Low confidence", "contradicted": "Contradicted", "superseded": "Superseded"}
FROM = {
    "user": "you wrote it",
    "said": "you said it",
    "model": "a model noted it",
    "rule": "repeated corrections or failures",
    "seen": "run before nearly every commit",
    IMPORT: "imported",
    EDITED: "edited in its file",
}
_ADDED = re.compile(r"(.+) <!-- ([0-9a-f]{8}) -->")
_NUMBERED = re.compile(r"(?:Rule|Observation) #\d+[\s:.,–-]*")
_HEADING, _LISTED = re.compile(r"#{1,6} (.*)"), re.compile(r"(?:[-*+]|\d{1,3}[.)]) (.*)")


# --- the pages -------------------------------------------------------------------------------------------------------


def active_rules_page(rules: Sequence[Rule], observed: Mapping[str, Observed], project: str, salt: bytes) -> str:
    """The rules in force, each with why it is one where that is known."""
    sections = [_rule_section(number, rule, observed) for number, rule in enumerate(rules, 1)]
    return compose(sections, owner(project, "rule"), salt, RULES_TITLE, ABOUT) if sections else ""


def observations_page(observed: Sequence[Observed], notes: Mapping[str, Note], project: str, salt: bytes) -> str:
    """The observations that may become rules, those that are proposed first; `notes` are the wordings in force of all
    notes that say them."""
    shown = [one for state in OPEN for one in observed if one.state == state]
    sections = [
        _with_facts(section(_said(one, notes), f"Observation #{number}")._replace(origin=one.id), [facts(one)])
        for number, one in enumerate(shown, 1)
    ]
    return compose(sections, owner(project, "observation"), salt, OBSERVATIONS_TITLE, ABOUT) if sections else ""


def observation_archive_page(observed: Sequence[Observed], rules: Sequence[Rule], enough: int) -> str:
    """What became a rule, and what was given up; the newest first. Empty when there is neither. What has fewer
    confirmations than `enough` became one by hand."""
    numbers = {rule.id: number for number, rule in enumerate(rules, 1)}
    newest = sorted(observed, key=lambda one: one.since, reverse=True)
    escalated = [_escalated(one, numbers, enough) for one in newest if one.state == "rule"]
    legacy = [_given_up(one) for one in newest if one.state in REASONS]
    if not escalated and not legacy:
        return ""
    parts = [f"{ESCALATED}\n" + "\n".join(escalated)] if escalated else []
    parts += [f"{LEGACY}\n" + "\n".join(legacy)] if legacy else []
    return "\n".join([f"{ARCHIVE_TITLE}\n\n{ARCHIVE_ABOUT}\n", *parts])


def facts(one: Observed) -> str:
    """What is known of an observation, on a line."""
    hands = one.confirmations - len(one.sessions)
    ways = [f"across {many(len(one.sessions), 'session')}"] if one.sessions else []
    ways += [f"{hands} by hand"] if hands else []
    known = [
        f"Confirmations: {one.confirmations}" + (f" ({', '.join(ways)})" if ways else ""),
        f"First seen: {utc_day(one.first)}",
        f"Last seen: {utc_day(one.last)}",
        f"From: {FROM.get(one.by, one.by)}",
    ]
    known += ["Seen in: all projects"] if one.project == USER else []
    known += [f"Proposed as a rule: `memory-keeper observation promote {one.id}`"] if one.state == "proposed" else []
    return _row(known)


def why(rule: Rule, observed: Mapping[str, Observed]) -> str:
    """Why there is a rule; empty when nothing is known but that somebody wrote it."""
    source = wire.read_object(rule.note.extra).get("source") if rule.note else None
    one = observed.get(source) if isinstance(source, str) else None
    if not one:
        return ""
    said = "" if item(one.text) == item(rule.text) else f"“{item(one.text)}”, "
    times = many(one.confirmations, "confirmation")
    return f"Why: {said}{times}, {utc_day(one.first)} to {utc_day(one.last)} ({FROM.get(one.by, one.by)}, {one.id})"


def _rule_section(number: int, rule: Rule, observed: Mapping[str, Observed]) -> Section:
    shown = Section(item(rule.text), rule.id, rule.id, heading=f"Rule #{number}")
    shown = section(rule.note, shown.heading) if rule.note else shown
    known = [f"Holds in: {'this project' if rule.scope == 'project' else 'all projects'}"]
    if rule.scope == "shipped":
        known.append("Comes with Memory Keeper" + (", changed by you" if rule.note else ""))
    elif rule.note:
        known.append(f"Since: {utc_day(rule.note.at)}")
    return _with_facts(shown, [why(rule, observed), _row(known)])


def _said(one: Observed, notes: Mapping[str, Note]) -> Note:
    """The note in whose words an observation is told: the last of those that say it."""
    said = [notes[id] for id in one.notes if notes[id].text == one.text]
    return said[-1] if said else notes[one.id]


def _with_facts(section: Section, lines: Iterable[str]) -> Section:
    added = "\n".join(f"{line} <!-- {_checksum(line)} -->" for line in lines if line)
    return section._replace(body=f"{section.body}\n\n{added}")


def _escalated(one: Observed, numbers: Mapping[str, int], enough: int) -> str:
    number, day = numbers.get(one.instead), utc_day(one.since)
    became = f"Added as Rule #{number} on {day}" if number else f"Added as a rule on {day}, which was taken away since"
    often = many(one.confirmations, "confirmation") + ", promoted by hand" * (one.confirmations < enough)
    return f"- Pattern: {item(one.text)} ({often})\n  → {became}\n"


def _given_up(one: Observed) -> str:
    days = round((one.since - one.last) / DAY) if one.state == "archived" else 0
    reason = REASONS[one.state] + (f", {many(days, 'day')} unconfirmed" if days else "")
    known = (f"Confirmations: {one.confirmations}", f"Archived: {utc_day(one.since)}", f"Reason: {reason}")
    return f"- Observation: {item(one.text)}\n  {_row(known)}\n"


def _row(known: Iterable[str]) -> str:
    return f"| {' | '.join(known)} |"


# --- reading back ----------------------------------------------------------------------------------------------------


def parted(sections: Iterable[Section]) -> Iterator[Section]:
    """What stands on such a page: a section for each note, in the words that it has there, and one for each line that
    somebody wrote beside them."""
    for one in sections:
        text, after = _without_facts(one.body)
        lines = chain(_items(text, _NUMBERED.sub("", one.heading)[: LONGEST + 1]), _items(after))
        if one.origin:
            yield one._replace(body=next(lines, "") if text else "", heading="", at=-1.0)
        yield from (Section(line, at=one.at) for line in lines)


def _without_facts(body: str) -> tuple[str, str]:
    """What stands before the lines that we added, and what somebody wrote between and after them."""
    before: list[str] = []
    after: list[str] = []
    added = False
    for line in body.split("\n"):
        found = _ADDED.fullmatch(line.strip())
        if found and found[2] == _checksum(found[1]):
            added = True
        else:
            (after if added else before).append(line)
    return "\n".join(before).strip(), "\n".join(after).strip()


def _items(text: str, above: str = "") -> Iterator[str]:
    """The items of a list and the paragraphs of a text, each on a line, with the words of the heading above them."""
    own: list[str] = []
    unsaid = above  # a heading that nothing stands under is an item itself
    for line in [*text.split("\n"), ""]:
        heading, listed = _HEADING.fullmatch(line.strip()), _LISTED.match(line)
        if heading or listed or not line.strip():
            if own:
                yield item(f"{above}: {' '.join(own)}" if above else " ".join(own))
            own, unsaid = [], "" if own else unsaid
        if heading and line.strip() not in (RULES_TITLE, OBSERVATIONS_TITLE):
            if unsaid:
                yield item(unsaid)
            above = unsaid = _NUMBERED.sub("", heading[1]).strip()[: LONGEST + 1]  # it stands before each item
        elif listed:
            own.append(listed[1])
        elif not heading and line.strip():
            own.append(line.strip())
    if unsaid:
        yield item(unsaid)


def _checksum(line: str) -> str:
    return f"{zlib.crc32(line.encode('utf-8', 'surrogatepass')):08x}"
