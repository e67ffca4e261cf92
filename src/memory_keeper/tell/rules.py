"""The rules in force: in full once per context, as one short line with every other prompt.

A rule is a note that the user decided on; what the user merely said in earlier sessions is told after the rules, as
what was said. The rules that come with Memory Keeper are part of it, so that they are told whatever happens to the
store; changed or taken away by the user, they are notes like the others.
"""

from __future__ import annotations

from memory_keeper.model import USER, Brief, NamedTuple, Note, origin
from memory_keeper.text import NEWEST, clean, clip, one_line, tagless, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memory_keeper.keep.sqlite import SqliteStore

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
OPENING = (
    "Rules of this user, kept by Memory Keeper. They hold for all of this session; the user's word in it comes first."
)
SAID = "The user said in earlier sessions, and has not taken back; quoted after `| `, the newest first:"
REMINDER = "Memory Keeper: the user's rules hold: {}."
SHORT, NAME = 40, 8  # tokens of the short line, and of what calls a rule in it
LEAST = 12  # tokens: no rule is told in fewer


class Rule(NamedTuple):
    """A rule in force."""

    id: str
    text: str
    scope: str  # user | project | shipped
    note: Note | None = None  # its wording in force; None for one that came with us, as it came

    @property
    def short(self) -> str:
        """What a reminder calls it."""
        known = SHIPPED[int(self.id[len(PREFIX) :]) - 1][0] if self.id.startswith(PREFIX) and not self.note else ""
        return known or clip(one_line(clean(self.text), 200).rstrip("."), NAME)


def rules_of(store: SqliteStore | None, project: str, shipped: bool = True) -> list[Rule]:
    """The rules in force, those of the user first, then the project's, then those that came with us."""
    notes = [*store.notes(USER, 0, "rule"), *(store.notes(project, 0, "rule") if project else ())] if store else []
    own = [
        Rule(origin(note), note.text, "user" if note.project == USER else "project", note)
        for note in notes
        if not origin(note).startswith(PREFIX) and note.text
    ]
    changed = {origin(note): note for note in notes if origin(note).startswith(PREFIX)}
    ours = [
        Rule(id, changed[id].text if id in changed else text, "shipped", changed.get(id))
        for number, (_, text) in enumerate(SHIPPED, 1)
        for id in (f"{PREFIX}{number}",)
    ]
    return own + [rule for rule in ours if rule.text and shipped]


def full(
    rules: Sequence[Rule], said: Iterable[tuple[str, str]], budget: int, nonce: str, family: str = NEWEST
) -> Brief:
    """The rules in full, and of what the user said (text and id) as much as there is room for. Without a nonce it is
    for people."""
    begin, end = (f'<memory-keeper brief="rules" fence="{nonce}">\n', "</memory-keeper>") if nonce else ("", "")
    left = budget - tokens(begin + end + OPENING, family) - 2
    lines, cites = [OPENING] if rules else [], [rule.id for rule in rules]
    for number, rule in enumerate(rules, 1):
        # each gets its share of what is left, so that none falls out
        share = max(LEAST, left // (len(rules) - number + 1))
        line = clip(f"{number}. {tagless(one_line(clean(rule.text), 2000))}", share)
        lines.append(line)
        left -= tokens(line, family) + 1
    heard = list(_fitting(said, left - tokens(SAID, family) - 1, nonce, family))
    if heard:
        lines += [SAID, *(line for line, _ in heard)]
        cites += [cite for _, cite in heard]
    if not lines:
        return Brief("rules", "", 0)
    text = begin + "\n".join(lines) + "\n" + end
    return Brief("rules", text.rstrip("\n"), tokens(text, family), tuple(cites))


def _fitting(said: Iterable[tuple[str, str]], left: int, nonce: str, family: str) -> Iterable[tuple[str, str]]:
    from memory_keeper.tell import quoted

    for text, cite in said:
        line = f"{quoted(one_line(clean(text), 600), nonce)} [{cite}]"
        left -= tokens(line, family) + 1
        if left < 0:
            return
        yield line, cite


def reminder(rules: Sequence[Rule]) -> str:
    """One short line; empty when there are no rules."""
    if not rules:
        return ""
    names: list[str] = []
    for number, rule in enumerate(rules):
        more = len(rules) - number - 1
        name = tagless(rule.short)
        if names and tokens(REMINDER.format("; ".join([*names, name, "and 99 more"[: 11 * bool(more)]]))) > SHORT:
            names.append(f"and {more + 1} more")
            break
        names.append(name)
    return REMINDER.format("; ".join(names))
