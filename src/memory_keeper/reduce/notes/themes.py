"""An outline as lists: themes, decisions with their reason, issues and whether they are still open."""

from __future__ import annotations

from datetime import UTC, datetime
from time import gmtime, strftime

from memory_keeper.capture.calls import core
from memory_keeper.capture.signature import normal
from memory_keeper.model import origin
from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.finding.found import is_trifle
from memory_keeper.reduce.finding.latest import holding
from memory_keeper.reduce.notes.phrasing import quote, short
from memory_keeper.reduce.schema import MOST, Decision, Issue, Outline, Theme
from memory_keeper.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memory_keeper.reduce.notes.children import Child, Line

NAME, THEME, SUMMARY = 80, 600, 20_000  # characters of a theme's name and summary, and of the summary of all
# the facts that say what a session was about, each with its own words before it: quotes alone would run together
TOLD = {"request": "Asked:", "decision": "Decided:", "done": "Done:", "commit": "Committed:"}
TOLD_EACH = 140  # characters
ENDS = '.!?…:;。！？"”'  # of a sentence that needs no full stop
NOTHING = "…"  # the summary of nothing: an outline has to have one


def outlined(children: Sequence[Child], text: str, sections: int, titles: Mapping[str, str]) -> Outline:
    firsts = [day for child in children if (day := child.outline.first if child.outline else _day(child.first))]
    lasts = [day for child in children if (day := child.outline.last if child.outline else _day(child.note.at))]
    summary = text or next((line.text for child in children for line in child.lines), NOTHING)
    return Outline(
        tuple(_themes(children, titles)),
        tuple(_decisions(children)),
        tuple(_issues(children)),
        _bounded(summary, SUMMARY) or NOTHING,
        min(firsts, default=""),
        max(lasts, default=""),
        sections,
    )


def _bounded(text: str, most: int) -> str:
    """Text that shows and is no longer than allowed."""
    text = clean(text).strip()
    return text if len(text) <= most else clean(text[:most].rpartition("\n")[0] or text[: most - 1] + "…").strip()


def _themes(children: Sequence[Child], titles: Mapping[str, str]) -> list[Theme]:
    """What each session was about, those of one name together; of more than ten the ten of which most was said."""
    found: dict[str, Theme] = {}
    size: dict[str, int] = {}
    for theme, weight in _all_themes(children, titles):
        key = theme.name.casefold()
        known = found.get(key)
        if known:
            summary = known.summary if theme.summary in known.summary else f"{known.summary} {theme.summary}"
            sessions = tuple(dict.fromkeys((*known.sessions, *theme.sessions)))[:1000]
            theme = Theme(known.name, _bounded(short(summary, THEME), THEME), sessions)
        found[key] = theme
        size[key] = size.get(key, 0) + weight
    largest = sorted(found, key=lambda key: -size[key])[:MOST]
    return [theme for key, theme in found.items() if key in largest]


def _all_themes(children: Sequence[Child], titles: Mapping[str, str]) -> Iterator[tuple[Theme, int]]:
    sessions: dict[str, list[Child]] = {}
    for child in children:
        if child.outline and child.outline.themes:
            for theme in child.outline.themes:
                yield theme, sum(map(len, theme[:2])) * max(1, len(theme.sessions))
        else:
            sessions.setdefault(child.note.session or origin(child.note), []).append(child)
    for session, those in sessions.items():
        lines = [line for child in those for line in child.lines]
        requests = [fact.text for child in those for fact in sorted(child.facts, key=_when) if fact.kind == "request"]
        title = titles.get(session, "") or next(iter(requests), "") or lines[0].text
        name = _bounded(short(clean(title), NAME), NAME) or NOTHING
        id = _bounded(one_line(clean(session), 200), 200) if those[0].note.session else ""
        summary = _bounded(_about(lines, [fact for child in those for fact in child.facts]), THEME) or name
        yield Theme(name, summary, (id,) if id else ()), _size(lines)


def _when(fact: Fact) -> float:
    return fact.at


def _size(lines: Sequence[Line]) -> int:
    return sum(len(line.text) for line in lines)


def _about(lines: Sequence[Line], facts: Sequence[Fact]) -> str:
    """What came of a session, in few sentences: the user's, the model's, else what was asked, decided and done."""
    written = [line.text for line in lines if line.users] or [line.text for line in lines if line.kind == "prose"]
    kept = {id(fact) for fact in holding([fact for fact in facts if fact.kind in ("correction", "decision")])}
    told = [one if one[-1] in ENDS else one + "." for one in dict.fromkeys(written)]
    for kind, head in TOLD.items():
        those = [fact.text for fact in facts if fact.kind == kind and (kind != "decision" or id(fact) in kept)]
        told += [f"{head} {quote(short(those[0], TOLD_EACH))}"] if those and len(told) < 4 else []
    return short(" ".join(told or [line.text for line in lines[:3]]), THEME).strip()


def _decisions(children: Sequence[Child]) -> Iterator[Decision]:
    """What was settled and still holds: by the user first, then with a reason, newest first."""
    facts = [fact for child in children for fact in _settled(child)]
    seen: set[str] = set()
    for fact in sorted(holding(facts), key=lambda fact: (_doubt(fact), -fact.at)):
        if fact.text.casefold() not in seen and len(seen) < MOST:
            seen.add(fact.text.casefold())
            chose = f"Asked {quote(fact.about)}, the user answered {quote(fact.text)}"
            said = chose if fact.kind == "answer" and fact.about else fact.text
            yield Decision(_bounded(said, 1000), _bounded(fact.because, 2000), _day(fact.at))


def _settled(child: Child) -> Iterator[Fact]:
    if not child.outline:
        yield from (fact for fact in child.facts if fact.kind in ("correction", "answer", "decision"))
        return
    rules = "\n".join(line.text for line in child.lines if line.kind in ("rule", "answer"))
    for one in child.outline.decisions:
        who = "user" if one.decision in rules else ""
        at = _at(one.date, child.note.at)
        yield Fact("decision", one.decision, (origin(child.note),), at, status=who, because=one.reason)


def _doubt(fact: Fact) -> int:
    if fact.kind in ("correction", "answer") or fact.status == "user":
        return 0
    return 1 + (not fact.because)


def _issues(children: Sequence[Child]) -> list[Issue]:
    """What went wrong, and what was left to do: open ones first, newest first."""
    newest = sorted(_found(children).values(), key=lambda one: (one[1].status != "open", -one[0]))
    return [issue for _, issue in newest[:MOST]]


def mended(children: Sequence[Child]) -> set[str]:
    """The errors that went away later, as they were told."""
    return {issue.issue for _, issue in _found(children).values() if issue.status == "resolved"}


def _found(children: Sequence[Child]) -> dict[str, tuple[float, Issue]]:
    """Everything that went wrong or was left to do, by what does not vary of it: when, and what became of it."""
    found: dict[str, tuple[float, Issue]] = {}
    last = {child.note.session: child.note.at for child in children}
    broken: dict[str, list[str]] = {}  # by command: the errors it had
    for child in children:
        for fact in sorted(child.facts, key=_when):
            key = normal(fact.text).casefold()
            if fact.kind == "error" and not is_trifle(fact):
                found[key] = fact.at, _issue(fact.text, fact.status == "fixed", _day(fact.at))
                broken.setdefault(_heart(fact), []).append(key)
            elif fact.kind in ("command", "test") and fact.status in ("ok", "passed"):
                for one in broken.pop(_heart(fact), ()):
                    found[one] = found[one][0], found[one][1]._replace(status="resolved")
            elif fact.kind == "todo" and fact.status in ("open", "doing") and child.note.at >= last[child.note.session]:
                found[key] = fact.at, _issue(fact.text, False, _day(fact.at))
        for known in child.outline.issues if child.outline else ():
            found[normal(known.issue).casefold()] = _at(known.date, child.note.at), known
    return found


def _heart(fact: Fact) -> str:
    """The command that a fact is about, whatever its options."""
    return core(fact.about) or fact.about


def _issue(text: str, resolved: bool, date: str) -> Issue:
    return Issue(_bounded(text, 1000), "resolved" if resolved else "open", date)


def _day(at: float) -> str:
    """The day of a moment, in UTC; empty for one that has none."""
    return strftime("%Y-%m-%d", gmtime(at)) if 0 <= at < 2.5e11 else ""


def _at(date: str, otherwise: float) -> float:
    """A moment of a day, to put days in order."""
    try:
        return datetime.strptime(date[:10], "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return otherwise
