"""The outline above some notes: what was asked in each session and came of it, what holds, and what is open.

It is made of the facts that were kept with the notes beneath it; of a note that a person wrote anew, or a model, and of
one that is older than facts are, each line is a fact. What the user wrote by hand comes first, all of it. Then every
session gets a line before any gets a second one, in order of time. The same facts make the lists of the JSON outline.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memory_keeper import wire
from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.facts import Fact, facts_of, quote, run_on, say, story
from memory_keeper.extract.settled import holding, reason, states
from memory_keeper.extract.spoken import kind_of
from memory_keeper.extract.work import CHECKS
from memory_keeper.model import LATEST, Note, origin
from memory_keeper.reduce.kept_note import begun, lines_of
from memory_keeper.reduce.notes.note import as_request, cut
from memory_keeper.reduce.notes.small_talk import is_passing
from memory_keeper.reduce.schema import MOST, Decision, Issue, Outline, Theme, read_body
from memory_keeper.text import clean, clip, many, one_line, tokens, utc_day

LINES, LINE, CITED = 400, 2000, 50  # lines of a note that are read, characters of each, events that one cites
QUOTED = 400  # characters of a fact
KEPT = 60  # facts that are kept for the outline above
CHARACTERS, LEAST = (
    4,
    35,
)  # characters of a token, roughly; tokens of a line of a session, however many sessions there are
ASKED = 0.4  # of such a line, for what was asked
SAID, COMMITS = 2, 2  # sentences and commits of such a line
NAME, THEME, SUMMARY = 80, 600, 20_000  # characters of a theme's name and summary, and of the summary of all
TELLING = 3  # concepts of a request that says what to do
NAMED = 6  # themes, commits and tasks that the summary of all names
# what a request is worth telling for: what came of it
WORTH = {
    "commit": 3.0,
    "pr": 3.0,
    "answer": 2.0,
    "decision": 2.0,
    "finding": 2.0,
    "done": 1.5,
    "rule": 1.5,
    "said": 1.0,
}
LEAST_WORTH = 2.0  # of a second line of a session
OPEN = ("todo", "next", "question")
STRONG = re.compile(
    r"\b(?:always|never|from now on|must|don['’]?t|do not|instead|rather|only|make sure|no longer|prefer|use)\b"
    r"|항상|절대|반드시|말고|대신|앞으로|지\s?마|必ず|しないで",
    re.I,
)
ASKS = re.compile(r"(?:can|could|would|should|shall|what|why|how|which|is|are|does?|did|i['’]m|i am)\b", re.I)
CHOSE = re.compile(  # "instead of" alone may tell how something works
    r"\b(?:decided|decision|chose|chosen|(?:going|went|go) with|opt(?:ed)? for|agreed|settled|out of scope|not worth"
    r"|intentional(?:ly)?|by design|(?:we(?:['’]ll| will| should)?|let['’]s|i['’]ll) (?:keep|use|drop|skip|stick))\b"
    r"|결정|하기로|決定|方針",
    re.I,
)
NOTHING = "…"  # the summary of nothing: an outline has to have one


class Draft(NamedTuple):
    """What a note above others says, what each of its lines rests on, its outline, and the facts kept with it."""

    text: str
    cites: tuple[tuple[str, ...], ...]
    outline: Outline
    facts: tuple[Fact, ...] = ()


class Child(NamedTuple):
    """A note, read. Each fact says of which session it is, and has a turn of its own among all children."""

    note: Note
    facts: list[Fact]
    written: list[Fact]  # its lines, where they are not told from facts
    outline: Outline | None


class Line(NamedTuple):
    """A line of the text, and the facts that it tells."""

    text: str
    cites: tuple[str, ...]
    facts: tuple[Fact, ...] = ()


def outline(notes: Sequence[Note], budget: int, titles: Mapping[str, str] = {}) -> Draft:
    """What some notes of one project say in fewer words, in order of time; never over budget."""
    children = [read(note, number) for number, note in enumerate(notes) if note.text.strip()]  # others were taken away
    by_hand, left = _by_hand(children, budget)
    closing = list(_fitting(_closing(children), left // 3))
    left -= sum(tokens(line.text + "\n") for line in closing)
    lines = [*by_hand, *_by_session(children, left, titles), *closing]
    kept = dict.fromkeys(fact for line in lines for fact in line.facts)
    kept.update(dict.fromkeys([*_settled(children), *_wrong(children), *_commits(children)]))
    return Draft(
        "\n".join(line.text for line in lines),
        tuple(line.cites for line in lines),
        _lists(children, len(notes), titles),
        _numbered([*kept][:KEPT]),
    )


def _numbered(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Facts whose turns are numbered from one, for the outline above."""
    numbers = {turn: number for number, turn in enumerate(sorted({fact.turn for fact in facts}), 1)}
    return tuple(fact._replace(turn=numbers[fact.turn]) for fact in facts)


# --- reading ----------------------------------------------------------------------------------------------------------


def read(note: Note, number: int) -> Child:
    """A note with what can be made of it; nothing it carries makes this fail."""
    carried = wire.read_object(note.extra)
    by_hand = note.who == "user"  # who wrote it anew may have taken a fact away
    facts = (
        [] if by_hand else [_sound(fact, note, number) for fact in facts_of(note) if fact.text or fact.kind == "push"]
    )
    ours = carried.get("by") in (None, "extractive") and bool(facts)
    made = None if by_hand else _outline_of(carried.get("outline"))
    return Child(note, facts, [] if ours else list(_written(note, number)), made)


def _sound(fact: Fact, note: Note, number: int) -> Fact:
    """A fact as it can be told, whoever wrote it."""
    text, about, why, status = (
        cut(one_line(clean(part[:LINE]), LINE), QUOTED) for part in (fact.text, fact.about, fact.why, fact.status)
    )
    at = fact.at if 0 <= fact.at <= LATEST else note.at
    cites = fact.cites[:CITED] or (origin(note),)
    of, turn = clean(fact.of)[:200] or _of(note), number * 10_000 + fact.turn % 10_000
    return Fact(fact.kind, text or "…", cites, at, fact.who, turn, fact.place, about, why, status, of)


def _of(note: Note) -> str:
    return note.session or origin(note)


def _written(note: Note, number: int) -> Iterator[Fact]:
    """The lines of a note as facts: what was written there counts as said."""
    for place, (line, cites) in enumerate(lines_of(note)[:LINES]):
        if text := one_line(clean(line), LINE):
            who, rests = "user" if note.who == "user" else "model", cites[:CITED] or (origin(note),)
            yield Fact(
                "written", text, rests, note.at, who, number * 10_000 + place, place, why=reason(text), of=_of(note)
            )


def _outline_of(value: object) -> Outline | None:
    try:
        return read_body(value)
    except (ValueError, RecursionError):
        return None


# --- the text ---------------------------------------------------------------------------------------------------------


def _by_hand(children: Sequence[Child], budget: int) -> tuple[list[Line], int]:
    """What the user wrote by hand, newest note first, and the tokens that are left."""
    lines: list[Line] = []
    found = (fact for child in reversed(children) for fact in (*child.written, *child.facts))
    for text, fact in {fact.text: fact for fact in found if _is_by_hand(fact)}.items():
        cost = tokens(text + "\n")
        if cost > budget:
            part = clip(text, budget - tokens("\n")).strip()
            return [*lines, *([Line(part, fact.cites, (fact,))] if part.strip("…") else [])], 0
        lines.append(Line(text, fact.cites, (fact,)))
        budget -= cost
    return lines, budget


def _is_by_hand(fact: Fact) -> bool:
    return fact.kind == "written" and fact.who == "user"


def _fitting(lines: Iterable[Line], budget: int) -> Iterator[Line]:
    for line in lines:
        cost = tokens(line.text + "\n")
        if cost <= budget:
            budget -= cost
            yield line


def _by_session(children: Sequence[Child], budget: int, titles: Mapping[str, str]) -> list[Line]:
    """Lines of sessions, in order of time: each session's best before any session's second, of the newer one first."""
    sessions: dict[str, list[list[Fact]]] = {}
    for child in children:
        turns: dict[tuple[str, int], list[Fact]] = {}
        for fact in (*child.written, *([] if child.written else child.facts)):
            if not _is_by_hand(fact) and (
                fact.kind in WORTH or fact.kind in ("request", "accepted", "written", "error")
            ):
                turns.setdefault((fact.of, fact.turn), []).append(fact)
        for (of, _), facts in turns.items():
            sessions.setdefault(of, []).append(facts)
    room = max(LEAST, budget * 3 // (4 * max(1, len(sessions)))) * CHARACTERS
    queues = {of: sorted(turns, key=_worth, reverse=True) for of, turns in sessions.items()}
    chosen: dict[str, list[Line]] = {}
    for of, facts in _by_rounds(queues):
        if of in chosen and _worth(facts) < LEAST_WORTH:
            continue
        heading = "" if of in chosen else _heading(of, facts, titles)
        for text, cites in story(_shortened(facts, room)):
            line = Line(one_line(heading + text, LINE), cites[:CITED], tuple(facts))
            cost = tokens(line.text + "\n")
            if cost <= budget and text not in ("→ ", ""):
                budget -= cost
                chosen.setdefault(of, []).append(line)
    return [line for of in sessions for line in sorted(chosen.get(of, ()), key=lambda line: line.facts[0].turn)]


def _worth(facts: Sequence[Fact]) -> float:
    return sum(sorted((WORTH.get(fact.kind, 0.0) for fact in facts), reverse=True)[:4]) + any(
        _is_told(fact) for fact in facts
    )


def _is_told(fact: Fact) -> bool:
    return fact.kind == "written" or (
        (fact.who == "user" or fact.kind == "request") and not is_passing(fact.text)
    )


def _by_rounds(queues: Mapping[str, Sequence[list[Fact]]]) -> Iterator[tuple[str, list[Fact]]]:
    for number in range(max(map(len, queues.values()), default=0)):
        yield from ((of, turns[number]) for of, turns in reversed(queues.items()) if number < len(turns))


def _heading(of: str, facts: Sequence[Fact], titles: Mapping[str, str]) -> str:
    title = one_line(clean(titles.get(of, "")), NAME)
    return f"{_day(facts[0].at)}{f', {title}' if title else ''}: " if facts[0].kind != "written" else ""


def _shortened(facts: Sequence[Fact], room: int) -> list[Fact]:
    """Of the facts of a turn those that come first, cut to some characters: the request, what came of it, commits."""
    asked = [as_request(fact) for fact in facts if fact.kind in ("request", "rule", "accepted")][:SAID]
    said = [fact for fact in facts if fact.who != "tool" and as_request(fact) not in asked][:SAID]
    made = [fact for fact in facts if fact.kind in ("commit", "pr")][:COMMITS]
    whole = any(fact.kind == "written" for fact in facts)
    each = int(room * ASKED), int(room * (1 - ASKED) / max(1, len(said)))
    short = [
        *(_cut(fact, each[0]) for fact in asked),
        *(_cut(fact, LINE if whole else each[1]) for fact in said),
        *made,
    ]
    return sorted(short, key=lambda fact: fact.place)


def _cut(fact: Fact, characters: int) -> Fact:
    return fact._replace(text=cut(fact.text, max(40, characters)), about=cut(fact.about, max(40, characters)))


def _closing(children: Sequence[Child]) -> Iterator[Line]:
    """What holds, what was committed, what is open: a line each."""
    settled = _settled(children)
    yield from _joined("The user wants", [fact for fact in settled if fact.who == "user"][:MOST])
    yield from _joined("Decided", [fact for fact in settled if fact.who != "user" and fact.why][:MOST])
    yield from _joined("Committed", _commits(children)[-NAMED:], lambda fact: say(fact).removeprefix("committed "))
    yield from _joined("Open", [fact for fact in _wrong(children) if fact.status != "fixed"][:NAMED])


def _joined(label: str, facts: Sequence[Fact], word: Callable[[Fact], str] = say) -> Iterator[Line]:
    if facts:
        text = "; ".join(dict.fromkeys(word(fact) for fact in facts))
        cites = tuple(dict.fromkeys(cite for fact in facts for cite in fact.cites))
        yield Line(one_line(clean(f"{label}: {text}"), LINE), cites[: 4 * CITED], tuple(facts))


# --- what is told of several notes ------------------------------------------------------------------------------------


def _commits(children: Sequence[Child]) -> list[Fact]:
    return [fact for child in children for fact in child.facts if fact.kind == "commit"]


def _settled(children: Sequence[Child]) -> list[Fact]:
    """What was settled and still holds: by the user first, then with a reason, newest first."""
    facts = [fact for child in children for fact in (*child.facts, *child.written) if _settles(fact)]
    order = sorted(holding(facts), key=lambda fact: (fact.who != "user", not fact.why, -fact.at))
    return list({fact.text.casefold(): fact for fact in reversed(order)}.values())[::-1]


def _settles(fact: Fact) -> bool:
    if fact.kind == "written":
        return kind_of(fact.text) == "decision" or (fact.who == "user" and bool(STRONG.search(fact.text)))
    if fact.kind == "rule":
        return bool(STRONG.search(fact.text)) and states(fact.text, users=True) and not ASKS.match(fact.text)
    return fact.kind == "answer" or (fact.kind == "decision" and states(fact.text) and bool(CHOSE.search(fact.text)))


def _wrong(children: Sequence[Child]) -> list[Fact]:
    """What was left to do when a session ended, and checks that failed then or in several sessions; newest first.

    A check that passes later has the status `fixed`. What failed in passing is no issue.
    """
    last = {fact.of: child.note for child in children for fact in child.facts}
    found: dict[str, Fact] = {}
    sessions: dict[str, set[str]] = {}
    for child in children:
        for fact in sorted(child.facts, key=lambda fact: fact.at):
            key = fact.text.casefold()
            if fact.kind == "check" and key in found:
                found[key] = found[key]._replace(status="fixed")
            elif fact.kind == "error":
                sessions.setdefault(key, set()).add(fact.of)
                if (CHECKS.search(fact.text) and fact.status == "open") or len(sessions[key]) > 1:
                    found[key] = fact
            elif fact.kind in OPEN and child.note is last[fact.of]:
                found[key] = fact
    return sorted(found.values(), key=lambda fact: -fact.at)


# --- the lists --------------------------------------------------------------------------------------------------------


def _lists(children: Sequence[Child], sections: int, titles: Mapping[str, str]) -> Outline:
    firsts = [day for child in children if (day := child.outline.first if child.outline else _day(begun(child.note)))]
    lasts = [day for child in children if (day := child.outline.last if child.outline else _day(child.note.at))]
    first, last = min(firsts, default=""), max(lasts, default="")
    themes = _themes(children, titles)
    decisions, issues = tuple(_decisions(children)), tuple(_issues(children))
    summary = _summary(children, first, last, themes, issues)
    return Outline(tuple(themes), decisions, issues, summary, first, last, sections)


def _summary(children: Sequence[Child], first: str, last: str, themes: Sequence[Theme], issues: Sequence[Issue]) -> str:
    """All of it in a sentence, after what the user wrote."""
    when = f"Between {first} and {last}" if first != last else f"On {first}" if first else "Then"
    sessions = {fact.of for child in children for fact in (*child.facts, *child.written)}
    commits = list(dict.fromkeys(quote(fact.text) for fact in _commits(children)))
    left = [issue.issue for issue in issues if issue.status == "open"]
    parts = [
        f"{many(len(sessions), 'session')}{f' ({_few([theme.name for theme in themes])})' if themes else ''}",
        f"committed {_few(commits)}" if commits else "",
        f"open: {_few(left)}" if left else "",
    ]
    by_hand = dict.fromkeys(
        fact.text for child in children for fact in (*child.written, *child.facts) if _is_by_hand(fact)
    )
    said = f"{when}: {'; '.join(filter(None, parts))}." if children else NOTHING
    return _bounded("\n".join([*by_hand, said]), SUMMARY) or NOTHING


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _themes(children: Sequence[Child], titles: Mapping[str, str]) -> list[Theme]:
    """What each session was about, those of one name together; of more than ten the ten of which most was said."""
    found: dict[str, Theme] = {}
    size: Counter[str] = Counter()
    for theme, weight in _all_themes(children, titles):
        key = theme.name.casefold()
        if known := found.get(key):
            summary = known.summary if theme.summary in known.summary else f"{known.summary} {theme.summary}"
            sessions = tuple(dict.fromkeys((*known.sessions, *theme.sessions)))[:1000]
            theme = Theme(known.name, _bounded(cut(summary, THEME), THEME), sessions)
        found[key] = theme
        size[key] += weight
    largest = {key for key, _ in size.most_common(MOST)}
    return [theme for key, theme in found.items() if key in largest]


def _all_themes(children: Sequence[Child], titles: Mapping[str, str]) -> Iterator[tuple[Theme, int]]:
    sessions: dict[str, list[Fact]] = {}
    for child in children:
        if child.outline and child.outline.themes:
            yield from ((theme, len(theme.sessions)) for theme in child.outline.themes)
        else:
            for fact in (*child.written, *child.facts):
                sessions.setdefault(fact.of, []).append(fact)
    known = {child.note.session for child in children} - {""}
    for of, facts in sessions.items():
        name = _bounded(cut(clean(titles.get(of, "")) or _name(facts), NAME), NAME) or NOTHING
        summary = _bounded(cut(" ".join(_about(facts)), THEME), THEME) or name
        yield Theme(name, summary, (_bounded(of, 200),) if of in known and of.strip() else ()), len(facts)


def _name(facts: Sequence[Fact]) -> str:
    """What a session without a title was about: its last commit, the folder that it worked in, what was asked first."""
    commits = [fact.text for fact in facts if fact.kind == "commit"]
    folders = Counter(folder for fact in facts if fact.kind == "edit" and (folder := fact.text.rpartition("/")[0]))
    first = run_on(_asked(facts))
    name = next(iter(commits[-1:]), "") or (f"Work in {folders.most_common(1)[0][0]}" if folders else "") or first
    return name or next((fact.text for fact in facts if fact.kind not in ("edit", "check", "error")), "")


def _asked(facts: Sequence[Fact]) -> list[Fact]:
    """The first request of a session that says what to do; else the first."""
    asked = [fact for fact in facts if fact.kind in ("request", "rule")]
    asked.sort(key=lambda fact: (len(concepts(fact.text)) < TELLING, fact.turn, fact.place))
    return [fact for fact in asked if fact.turn == asked[0].turn]


def _about(facts: Sequence[Fact]) -> Iterator[str]:
    """What came of a session, in few sentences: what was written of it, else what was found, decided and done."""
    written = [fact for fact in facts if fact.kind == "written"]
    said = [fact for fact in facts if fact.kind in ("decision", "finding", "done", "said")]
    told = (written or sorted(said, key=lambda fact: -WORTH[fact.kind]))[:3]
    asked = _asked(facts)
    if asked and not written:
        yield f"Asked: {quote(cut(run_on(asked), NAME * 2))}."
    for fact in sorted(told, key=lambda fact: (fact.turn, fact.place)):
        yield fact.text if fact.text[-1:] in '.!?…:;。！？"”' else f"{fact.text}."
    if commits := [quote(fact.text) for fact in facts if fact.kind == "commit"]:
        yield f"Committed {_few(list(dict.fromkeys(commits)))}."


def _decisions(children: Sequence[Child]) -> Iterator[Decision]:
    for fact in _settled([child for child in children if child.facts or child.written])[:MOST]:
        text = say(fact) if fact.kind == "answer" else fact.text
        yield Decision(_bounded(text, 1000) or NOTHING, _bounded(fact.why, 2000), _day(fact.at))
    for child in children:
        if not child.facts:
            yield from child.outline.decisions if child.outline else ()


def _issues(children: Sequence[Child]) -> list[Issue]:
    """Open ones first, newest first."""
    found = [
        Issue(
            _bounded(fact.text if fact.kind in OPEN else say(fact._replace(status="")), 1000) or NOTHING,
            status,
            _day(fact.at),
        )
        for fact in _wrong(children)
        for status in ("resolved" if fact.status == "fixed" else "open",)
    ]
    known = [issue for child in children if child.outline and not child.facts for issue in child.outline.issues]
    return sorted([*found, *known], key=lambda issue: issue.status != "open")[:MOST]


def _bounded(text: str, most: int) -> str:
    """Text that shows and is no longer than allowed."""
    text = clean(text).strip()
    return text if len(text) <= most else clean(text[:most].rpartition("\n")[0] or text[: most - 1] + "…").strip()


def _day(at: float) -> str:
    """The day of a moment, in UTC; empty for one that has none."""
    return utc_day(at) if 0 <= at <= LATEST else ""
