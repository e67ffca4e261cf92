"""What a brief has told already and would tell again: a sentence is told once, in the part that comes first.

Only what stands word for word above is left out, so what a budget has cut there is told here.
"""

from __future__ import annotations

from memory_keeper.reduce.sentences import apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LONG, BEGUN = 6, 4  # words of a quotation that is not told whole again, and those that are told of it
CLOSED = {'"': '"', "“": "”"}
QUOTING = ("Decided: ", "Last said: ", "UNCONFIRMED: ")  # how lines begin that say no more than they quote
NAMED = "Named: "


def shorten(text: str, above: str) -> str:
    """A text in which every quotation that stands above is only begun."""
    for said in sorted(_quotations(above), key=len, reverse=True):
        place = _find(said, text)
        if place >= 0:
            text = text[:place] + " ".join(said.split()[:BEGUN]) + "…" + text[place + len(said) :]
    return text


def leave_out(note: str, above: str) -> str:
    """A note without its lines that stand above; empty when only its head would be left."""
    head, *lines = note.split("\n")
    left = [line for line in lines if not _is_told(line, above)]
    return shorten("\n".join([head, *left]), above) if left else ""


def _is_told(line: str, above: str) -> bool:
    if line.startswith(NAMED):
        return all(_find(name, above) >= 0 for name in apart(line.removeprefix(NAMED), "; "))
    label = next((label for label in QUOTING if line.startswith(label)), "")
    said = line.removeprefix(label).strip('"“”') if label else line
    return _find(said, above) >= 0


def _quotations(text: str) -> Iterator[str]:
    """What stands between quotation marks on one line, and is long."""
    for line in text.split("\n"):
        while opened := [place for mark in CLOSED if (place := line.find(mark)) >= 0]:
            mark, line = line[min(opened)], line[min(opened) + 1 :]
            said, closed, rest = line.partition(CLOSED[mark])
            if closed:
                line = rest
                if len(said.split()) >= LONG:
                    yield said.strip("… ")


def _find(said: str, text: str) -> int:
    """Where some words stand in a text, whole; -1: nowhere."""
    place = text.find(said) if said else -1
    long = len(said)
    while place >= 0 and (text[place - 1 : place].isalnum() or text[place + long : place + long + 1].isalnum()):
        place = text.find(said, place + 1)
    return place
