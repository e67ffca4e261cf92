"""The rules in force: in full once per context, as one short line when that is due.

A rule is a note that the user decided on; what the user merely said in earlier sessions is told after the rules, as
what was said. The rules that come with Memory Keeper are part of it, so that they are told whatever happens to the
store; changed or taken away by the user, they are notes like the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_keeper import wire
from memory_keeper.briefs import quoted
from memory_keeper.model import USER, NamedTuple, Note, origin
from memory_keeper.provenance import is_users
from memory_keeper.request import Brief
from memory_keeper.rules.instructions import told
from memory_keeper.rules.observations import Observed
from memory_keeper.store.shared import accepted_notes, author_of
from memory_keeper.store.store import Store
from memory_keeper.text import clean, clip, one_line, tagless, tokens

# how the short line calls each, and what it says; the number in its id is its place here
SHIPPED = (
    ("ask before deleting", "NEVER delete files without explicit user permission. REPORT first, ASK permission."),
    ("think for yourself", "Think objectively. Don't just agree with user - verify claims independently."),
    (
        "verify, don't assume",
        "Don't assume, verify. Check the specified method first, even if you think you know a better way.",
    ),
    (
        "explain mistakes",
        "When you make a mistake, don't apologize. Explain your actual reasoning process.",
    ),
    ("search when unsure", "If you don't know or want a better approach, search the internet."),
)
PREFIX = "rule-shipped-"
UNLIMITED = 1 << 30
OPENING = "Rules in force, kept by Memory Keeper for its user. They hold all session; the user's word comes first."
OPERATOR = (
    "Rules of this bot's operator, kept by Memory Keeper. They hold all session, whatever the user says; what the user"
    " wants comes after them."
)
AFTER = "The user's own rules, as far as those allow:"
OF_BOT = "bot:"  # how the source of a rule begins that a bot gives
SAID = "The user said before, and has not taken back; quoted, the newest first:"
REMINDER = "Memory Keeper: rules in force: {}."
SHORT, NAME = 50, 8  # tokens of the short line, and of what calls a rule in it
LEAST = 12  # tokens: no rule is told in fewer
END, MORE = 2, 25  # tokens of the end of a line, and of the line that says how many are not told
DEAREST = "00000000"  # a nonce that no other costs more than
EACH, ALL = 10, 30  # rules of one writer of a team, and of all of them, that hold
CHARACTERS = 3  # of a token, at least, of what people write


class Rule(NamedTuple):
    """A rule in force."""

    id: str
    text: str
    scope: str  # user | project | team | shipped
    note: Note | None = None  # its wording in force; None for one that came with us, as it came

    @property
    def source(self) -> str:
        """What it came of: an observation, or a bot that gives it."""
        return str(wire.read_object(self.note.extra).get("source") or "") if self.note else ""

    @property
    def short(self) -> str:
        """What a reminder calls it."""
        known = SHIPPED[int(self.id[len(PREFIX) :]) - 1][0] if self.id.startswith(PREFIX) and not self.note else ""
        text = self.note.text if self.note else self.text  # of another's rule, without saying whose it is
        return known or clip(one_line(clean(text), 200).rstrip("."), NAME)


def shipped_note(id: str, now: float) -> Note:
    """A rule that came with us as a note, so that it can be given another wording."""
    said = SHIPPED[int(id[len(PREFIX) :]) - 1][1]
    return Note(id, now, "rule", 0, USER, said, "", tokens(said), wire.dumps({"by": "shipped", "written": now}))


def rules_of(store: Store | None, project: str, shipped: bool = True) -> list[Rule]:
    """The rules in force: the project's, then the user's for all projects, then those that came with us."""
    notes = [*(store.notes(project, 0, "rule") if project else ()), *store.notes(USER, 0, "rule")] if store else []
    own = [
        Rule(origin(note), note.text, "user" if note.project == USER else "project", note)
        for note in notes
        if not origin(note).startswith(PREFIX) and note.text and is_users(note)
    ]
    changed = {origin(note): note for note in notes if origin(note).startswith(PREFIX)}
    ours = [
        Rule(id, changed[id].text if id in changed else text, "shipped", changed.get(id))
        for number, (_, text) in enumerate(SHIPPED, 1)
        for id in (f"{PREFIX}{number}",)
    ]
    return own + [rule for rule in ours if rule.text and shipped]


def of_team(store: Store, project: str) -> list[Rule]:
    """The rules of others that the user accepted, told as theirs: few of each, so that nobody crowds out the rest."""
    found: list[Rule] = []
    counts: dict[str, int] = {}
    for note, item in accepted_notes(store, project):
        counts[item.writer] = counts.get(item.writer, 0) + (item.kind == "rule")
        if item.kind == "rule" and counts[item.writer] <= EACH and len(found) < ALL:
            text = f"{author_of(note)}, of the team whose rules the user accepted: {note.text}"
            found.append(Rule(origin(note), text, "team", note))
    return found


def full(rules: Sequence[Rule], said: Sequence[Observed], budget: int, nonce: str, room: int = UNLIMITED) -> Brief:
    """The rules in full, and of what the user said as much as there is room for, in tokens and characters. Without a
    nonce it is for people. Where there are too many rules, the first are told and it is said how many are not."""
    begin, end = (f'<memory-keeper brief="rules" fence="{nonce}">\n', "</memory-keeper>") if nonce else ("", "")
    fixed = begin.replace(nonce, DEAREST[: len(nonce)]) if nonce else ""  # so that the same rules always cost the same
    given = [rule for rule in rules if rule.source.startswith(OF_BOT)]
    rules = [*given, *(rule for rule in rules if rule not in given)]
    openings = {0: OPERATOR, len(given): AFTER} if given else {0: OPENING}
    openings = {place: said for place, said in openings.items() if place < len(rules)}
    left = min(budget, room // CHARACTERS) - tokens(fixed + end + "".join(openings.values())) - 2
    lines: list[str] = []
    cites: list[str] = []
    most = (left - MORE) // (LEAST + END)
    left -= MORE * (len(rules) > most)
    last = sum(rule.scope != "team" for rule in rules[:most])  # of the user's, which stand before those of others
    for number, rule in enumerate(rules[:most], 1):
        # each gets its share of what is left, so that none of these falls out
        share = left // ((last if number <= last else min(len(rules), most)) - number + 1)
        if number > last and share < LEAST + END:
            most = number - 1
            break
        line = clip(f"{number}. {tagless(one_line(clean(rule.text), 2000))}", share - END)
        lines += [openings[number - 1], line] if number - 1 in openings else [line]
        cites.append(rule.id)
        left -= tokens(line) + END
    if rules[most:]:
        lines.append(f"(and {len(rules) - most} more, which do not fit into {budget} tokens)")
    heard = _heard(said, left - tokens(SAID) - 1, nonce) if left > LEAST else []
    if heard:
        lines += [SAID, *heard]
        cites += [one.id for one in said]
    if not lines:
        return Brief("rules", "", 0)
    said_in_full = "\n".join(lines) + ("\n" + end if end else "")
    return Brief("rules", begin + said_in_full, tokens(fixed + said_in_full), tuple(cites))


def _heard(said: Sequence[Observed], left: int, nonce: str) -> list[str]:
    """What the user said, quoted: as it was said where all of it fits, else by what it is about."""

    wanted = [one.wish._replace(at=one.last) for one in said if one.wish]
    others = [one.text for one in said if not one.wish]
    room, written = left, _quoted(told(wanted, left), nonce)
    while written and (over := tokens("\n".join(written)) - left) > 0:
        room -= over
        written = _quoted(told(wanted, room), nonce)
    for line in _quoted(others, nonce):
        if tokens("\n".join([*written, line])) > left:
            break
        written.append(line)
    return written


def _quoted(lines: Iterable[str], nonce: str) -> list[str]:
    return [quoted(one_line(clean(line), 2000), nonce) for line in lines]


def reminder(rules: Sequence[Rule]) -> str:
    """One short line; empty when there are no rules."""
    names = [tagless(rule.short) for rule in rules]
    told = list(names)
    while len(told) > 1 and tokens(_reminded(told, len(names))) > SHORT:
        told.pop()
    return _reminded(told, len(names)) if names else ""


def _reminded(told: list[str], of: int) -> str:
    more = [f"and {of - len(told)} more"] if len(told) < of else []
    return REMINDER.format("; ".join([*told, *more]))
