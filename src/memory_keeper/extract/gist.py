"""The gist of one message: those of its sentences that are worth most, in their order."""

from __future__ import annotations

from memory_keeper.extract.facts import Fact
from memory_keeper.extract.ranker import rank
from memory_keeper.extract.spoken import spoken
from memory_keeper.model import Event
from memory_keeper.text import clean, clip, one_line, tokens

SHARES = {"item": 0.5, "done": 0.5, "row": 0.1, "code": 0.1}  # an item says little without its list


def gist(event: Event, budget: int) -> list[Fact]:
    """As many sentences of a message as fit, none twice; its beginning where none does."""
    said, _ = spoken([event])
    _, worth, _ = rank(said, [event], concepts=False, weigh=lambda one, *_: SHARES.get(one.form, 1.0))
    chosen: dict[str, Fact] = {}
    for _, one in sorted(zip(worth, said, strict=True), key=lambda pair: -pair[0]):
        cost = tokens(one.fact.text) + 1
        if cost <= budget and one.fact.text not in chosen:
            budget -= cost
            chosen[one.fact.text] = one.fact
    if not chosen and event.text.strip():
        text = clip(one_line(clean(event.text[: 8 * budget])), budget)
        return [Fact("said", text, (event.id,), event.at)]
    return sorted(chosen.values(), key=lambda fact: fact.place)
