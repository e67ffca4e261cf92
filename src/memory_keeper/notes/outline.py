"""The outline above some notes: what was asked in each session and what came of it, what holds, and what is open.

It is made of the facts that were kept with the notes beneath it. Of a note that a person wrote anew, or a model, and of
one that is older than facts are, each line is a fact and is told as it stands. What the user wrote by hand comes first,
all of it. Then every session has a line before any has a second one, in order of time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memory_keeper.extract.facts import KINDS, REQUESTS, Fact, facts_of, say, story_lines, whole
from memory_keeper.extract.settled import reason
from memory_keeper.model import LATEST, Note, origin
from memory_keeper.notes.kept_note import lines_of
from memory_keeper.notes.lists import NAMED, commits, lists, settled, telling, wrong
from memory_keeper.notes.note import as_request, cut
from memory_keeper.notes.schema import MOST, Outline
from memory_keeper.provenance import is_users, whose
from memory_keeper.text import clean, clip, one_line, tokens, utc_day

LINES, LINE, CITED = 400, 2000, 50  # lines of a note that are read, characters of each, events that one cites
QUOTED = 400  # characters of a fact
KEPT, TURNS = 60, 1000  # facts that are kept for the outline above; turns that one note may have
CHARACTERS, LEAST = 4, 35  # of a token, roughly; tokens of a session's line, however many sessions there are
SHARE, ASKED = 0.75, 0.4  # of the room of a session for one line, and of that line for what was asked
CLOSING = 3  # part of the room that what holds, was committed and is open may have
SAID, COMMITS = 2, 2  # sentences and commits of a line
SECOND = 2.0  # what a turn has to be worth for a second line of its session


class Draft(NamedTuple):
    """What a note above others says, what each of its lines rests on, its outline, and the facts kept with it."""

    text: str
    cites: tuple[tuple[str, ...], ...]
    outline: Outline
    facts: tuple[Fact, ...] = ()


class Line(NamedTuple):
    """A line of the text, and the facts that it tells."""

    text: str
    cites: tuple[str, ...]
    facts: tuple[Fact, ...]


def outline(notes: Sequence[Note], budget: int, titles: Mapping[str, str] = {}) -> Draft:
    """What some notes of one project say in fewer words, in order of time; never over budget."""
    there = [note for note in notes if note.text.strip()]  # others were taken away
    facts = {note: list(read(note, number)) for number, note in enumerate(there)}
    by_hand = list(_by_hand([fact for note in reversed(there) for fact in facts[note] if is_by_hand(fact)], budget))
    left = budget - _cost(by_hand)
    closing = min(left // CLOSING, _cost(_closing(facts, ())))
    sessions = _by_session([*facts.values()], left - closing, titles) if left > 0 else {}
    lines = [*by_hand, *(line for chosen in sessions.values() for line in _headed(chosen, titles))]
    told = dict.fromkeys(fact for line in lines for fact in line.facts)
    lines += _fitting(_closing(facts, told), budget - _cost(lines))
    kept = dict.fromkeys([*told, *settled(facts), *wrong(facts), *commits(facts)])
    text, cites = "\n".join(line.text for line in lines), tuple(line.cites for line in lines)
    came = {of: " ".join(line.text for line in chosen) for of, chosen in sessions.items()}
    return Draft(text, cites, lists(facts, notes, titles, came), tuple(kept)[:KEPT])


# --- reading ----------------------------------------------------------------------------------------------------------


def read(note: Note, number: int) -> Iterator[Fact]:
    """The facts of a note, each with its session and a turn no other note has; nothing it carries makes this fail."""
    found = [] if is_users(note) else [fact for fact in facts_of(note) if fact.kind != "written" or note.level > 1]
    if not found or whose(note):
        for place, (line, cites) in enumerate(lines_of(note)[:LINES]):
            if text := one_line(clean(line), LINE):
                who, rests = "user" if is_users(note) else "model", cites[:CITED] or (origin(note),)
                yield Fact(
                    "written", text, rests, note.at, who, number * TURNS + place, place, "", reason(text), "", _of(note)
                )
    turns = {turn: place for place, turn in enumerate(sorted({fact.turn for fact in found}))}
    for fact in found[: 2 * KEPT]:
        text, about, why, status = (
            cut(one_line(clean(part[:LINE]), LINE), QUOTED) for part in (fact.text, *fact[7:10])
        )
        cites, at = fact.cites[:CITED] or (origin(note),), fact.at if 0 <= fact.at <= LATEST else note.at
        turn, of = number * TURNS + turns[fact.turn] % TURNS, clean(fact.of)[:200].strip() or _of(note)
        yield Fact(fact.kind, text or "…", cites, at, fact.who, turn, fact.place, about, why, status, of)


def _of(note: Note) -> str:
    return note.session or origin(note)


def is_by_hand(fact: Fact) -> bool:
    """Whether the user wrote it into a note."""
    return fact.kind == "written" and fact.who == "user"


# --- the text ---------------------------------------------------------------------------------------------------------


def _cost(lines: Iterable[Line]) -> int:
    return sum(tokens(line.text + "\n") for line in lines)


def _fitting(lines: Iterable[Line], budget: int) -> Iterator[Line]:
    for line in lines:
        cost = _cost([line])
        if cost <= budget:
            budget -= cost
            yield line


def _by_hand(facts: Iterable[Fact], budget: int) -> Iterator[Line]:
    """What the user wrote, as much as fits: of the last line its beginning."""
    for text, fact in {fact.text: fact for fact in facts}.items():
        cost = tokens(text + "\n")
        part = text if cost <= budget else clip(text, budget - tokens("\n")).strip()
        if part.strip("…"):
            yield Line(part, fact.cites, (fact,))
        budget -= cost
        if budget <= 0:
            return


def _by_session(found: Sequence[list[Fact]], budget: int, titles: Mapping[str, str]) -> dict[str, list[Line]]:
    """Lines by session, in order of time: each session's best before any session's second, of the newer one first."""
    sessions: dict[str, dict[int, list[Fact]]] = {}
    for facts in found:
        others = [fact for fact in facts if fact.kind == "written" and not is_by_hand(fact)]
        for fact in others or [fact for fact in facts if KINDS[fact.kind].outline]:
            sessions.setdefault(fact.of, {}).setdefault(fact.turn, []).append(fact)
    queues = {of: sorted(turns.values(), key=_worth, reverse=True) for of, turns in sessions.items()}
    room = max(LEAST, int(budget * SHARE) // max(1, len(queues))) * CHARACTERS
    chosen: dict[str, list[Line]] = {}
    for number in range(max(map(len, queues.values()), default=0)):
        for of, turns in reversed(queues.items()):
            if number < len(turns) and (_worth(turns[number]) >= SECOND or not number):
                heading = 0 if of in chosen else tokens(_heading(turns[number][0], titles)) + 1
                for line in _fitting(_told(turns[number], room), budget - heading):
                    budget -= _cost([line]) + heading
                    heading = 0
                    chosen.setdefault(of, []).append(line)
    return {of: sorted(chosen[of], key=lambda line: line.facts[0].turn) for of in queues if of in chosen}


def _headed(lines: Sequence[Line], titles: Mapping[str, str]) -> Iterator[Line]:
    """The lines of a session, the first under its day and title."""
    first, *others = lines
    yield first._replace(text=_heading(first.facts[0], titles) + first.text)
    yield from others


def _worth(facts: Sequence[Fact]) -> float:
    return sum(sorted((KINDS[fact.kind].outline for fact in facts), reverse=True)[:4])


def _heading(fact: Fact, titles: Mapping[str, str]) -> str:
    title = one_line(clean(titles.get(fact.of, "")), 80)
    return "" if fact.kind == "written" else f"{utc_day(fact.at)}{f', {title}' if title else ''}: "


def _told(facts: Sequence[Fact], room: int) -> Iterator[Line]:
    """A turn as a line: of its facts those that come first, cut to some characters; what others wrote as it stands."""
    if facts[0].kind == "written":
        yield from (Line(fact.text, fact.cites, (fact,)) for fact in facts)
        return
    asked = whole([as_request(fact) for fact in facts if fact.kind in ("request", "rule", "accepted")])
    said = [fact for fact in facts if fact.kind == "answer" or (fact.who == "model" and fact.kind not in REQUESTS)]
    said = telling(said, facts, SAID)
    made = [fact for fact in facts if fact.kind in ("commit", "pr")][:COMMITS]
    each = int(room * (1 - ASKED) / max(1, len(said)))
    short = [*(_cut(fact, int(room * ASKED)) for fact in asked[:SAID]), *(_cut(fact, each) for fact in said), *made]
    for text, cites in story_lines(sorted(short, key=lambda fact: fact.place), went_on=""):
        yield Line(cut(text, LINE), cites[:CITED], tuple(facts))


def _cut(fact: Fact, characters: int) -> Fact:
    return fact._replace(text=cut(fact.text, max(40, characters)), about=cut(fact.about, max(40, characters)))


def _closing(facts: Mapping[Note, list[Fact]], told: Iterable[Fact]) -> Iterator[Line]:
    """What holds and was not told yet, what was committed and what is open: a line each."""
    held = [fact for fact in settled(facts) if fact not in told]
    yield from _joined("The user wants", [fact for fact in held if fact.who == "user"][:MOST])
    yield from _joined("Decided", [fact for fact in held if fact.who != "user" and fact.why][:MOST])
    made = [fact for fact in commits(facts) if fact not in told]
    yield from _joined("Committed", made[-NAMED:], lambda fact: say(fact).removeprefix("committed "))
    yield from _joined("Open", [fact for fact in wrong(facts) if fact.status != "fixed"][:NAMED])


def _joined(label: str, facts: Sequence[Fact], word: Callable[[Fact], str] = say) -> Iterator[Line]:
    if facts:
        text = "; ".join(dict.fromkeys(word(fact).rstrip(".") for fact in facts))
        cites = tuple(dict.fromkeys(cite for fact in facts for cite in fact.cites))
        yield Line(cut(clean(f"{label}: {text}"), LINE), cites[: 4 * CITED], tuple(facts))
