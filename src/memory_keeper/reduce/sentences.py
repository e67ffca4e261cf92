"""A sentence of ours: what it says, the events it was taken from, and where it may be cut."""

from __future__ import annotations

from memory_keeper.model import NamedTuple
from memory_keeper.text import NEWEST, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# how sentences begin that tell requests: who reads them again knows them by that
GOAL, ASKED_LAST, ASKED_BEFORE, WENT_ON = "Goal: ", "Asked last: ", "Asked before: ", "That request went on: "


class Sentence(NamedTuple):
    """A statement and the events it was taken from."""

    text: str
    cites: tuple[str, ...]
    cut: str = ""  # what stands between the things it lists, where it may be cut; empty: nowhere
    least: int = 0  # characters that say nothing yet: how its list begins
    section: str = ""  # the tag of the section that said it: "rule", "request", "name" and so on
    each: tuple[str, ...] = ()  # of each thing it lists, the first event it was taken from
    of: str = ""  # the session whose handoff said it, where another one hands it on


def beginning(sentence: Sentence, budget: int, family: str = NEWEST) -> Iterator[Sentence]:
    """As many of the things a sentence lists as fit."""
    head, *parts = apart(sentence.text, sentence.cut) if sentence.cut else [sentence.text]
    while parts and (parts[-1].endswith(":") or tokens(sentence.cut.join([head, *parts]) + "\n", family) > budget):
        parts.pop()
    text = sentence.cut.join([head, *parts]).rstrip(";")
    if parts and len(text) > sentence.least:
        yield sentence._replace(text=text)


def apart(text: str, between: str) -> list[str]:
    """What a sentence lists; what stands between quotation marks stays whole."""
    parts: list[str] = []
    for part in text.split(between):
        if parts and (parts[-1].count('"') % 2 or parts[-1].count("“") > parts[-1].count("”")):
            parts[-1] += between + part
        else:
            parts.append(part)
    return parts
