"""The note of a stretch of a session: what was asked, decided, done and found, most needed first.

Sentences come in rounds. Each round has room for a little of everything: requests, what is open, decisions, errors,
commands, files with the names used in them. Where the budget is known, the first round is that size, so that a file is
named once; where it is not, the first round is the size of a short note, and each later one as large as all before it:
wherever one stops then, the best of every kind is there. A short note leaves out what is hardly ever needed again, and
a longer one tells that last.
"""

from __future__ import annotations

from memory_keeper.model import Event
from memory_keeper.reduce.finding import weights
from memory_keeper.reduce.notes.desk import Desk
from memory_keeper.reduce.notes.sections import LATER, SECTIONS, TURNS
from memory_keeper.reduce.sentences import Sentence, beginning
from memory_keeper.text import NEWEST, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FIRST = 500  # tokens of the first round, and of the second
ROUNDS = 10
# where the budget is not known: what a brief of 500, of 1,000 and of 2,000 tokens has room for, fenced and cited
SIZES = (360, 470, 980)
REACH = 1.5  # so much sooner what is told may hold what is less likely needed
CRUMB, MISSED = 6, 12  # tokens that are too few to go on for, and sentences that did not fit, where a note ends


def digest(
    events: Sequence[Event],
    budget: int,
    model_family: str = NEWEST,
    folder: str = "",
    weighed: weights.Names | None = None,
    told: Sequence[Sentence] = (),
) -> list[Sentence]:
    """As many sentences about these events as fit into a budget, most needed first.

    Files are named relative to `folder`; where it is not given, to the one that most of them are in. `weighed` are the
    events' names, for who has weighed them already. `told` is what was asked and what came of it, for who has said
    that already.
    """
    chosen: list[Sentence] = []
    left, missed = budget, 0
    for sentence in ordered(events, model_family, folder, weighed, told, budget):
        fits = tokens(sentence.text + "\n", model_family) <= left
        for part in [sentence] if fits else beginning(sentence, left, model_family):
            chosen.append(part)
            left -= tokens(part.text + "\n", model_family)
        missed += not fits
        if left < CRUMB or missed == MISSED:
            break
    return chosen


def ordered(
    events: Sequence[Event],
    model_family: str = NEWEST,
    folder: str = "",
    weighed: weights.Names | None = None,
    told: Sequence[Sentence] = (),
    size: int = 0,
) -> Iterator[Sentence]:
    """All that a note of these events could say, most needed first; each sentence is made only when it is asked for.

    `size` is the budget where it is known: all that fits into it then comes in one round, so that nothing need be
    named twice.
    """
    return _ordered(Desk(events, model_family, folder, weighed or weights.weigh(events, folder)), told, size)


def _ordered(desk: Desk, told: Sequence[Sentence], size: int) -> Iterator[Sentence]:
    for sentence in told:
        desk.said(sentence.text)
    saved = [0.0] * len(SECTIONS)  # what a section left of its share, or took of its next one
    for number, room in enumerate(_rounds(size)):
        left = float(room)
        desk.reach = size or int(desk.reach + REACH * room)
        for place, (tag, share, section) in enumerate(SECTIONS):
            if told and tag in TURNS:
                continue
            saved[place] += room * LATER.get(tag, {}).get(number, share)
            for sentence in section(desk, min(left, saved[place]), number):
                cost = desk.cost(sentence.text) + 1
                left, saved[place] = left - cost, saved[place] - cost
                desk.said(sentence.text)
                yield sentence._replace(section=sentence.section or tag)


def _rounds(size: int) -> Iterator[int]:
    """How large each round is: all of a budget that is known, then ever larger ones."""
    sizes = [max(size, FIRST), max(size, FIRST)] if size else [*SIZES]
    yield from sizes
    for _ in range(ROUNDS - len(sizes)):
        sizes.append(2 * sizes[-1])
        yield sizes[-1]
