"""The part of a text that shows best why it was found, with the matches marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Span = tuple[int, int, int]  # start, end, which of the terms

ON, OFF = "\x02", "\x03"
WIDTH = 240  # characters
LARGEST = 1_200_000  # characters of a text that are looked at
MATCHES = 100  # of one word that are looked at
NEXT = 60  # matches that a stretch may have
TAIL = 40  # characters that a word may go on for
SHORT = 5  # letters of a word that is marked only whole
GAP = 3  # characters between the words of a name
ENDINGS = ("ization", "ations", "ation", "ings", "ing", "edly", "ment", "ied", "ies", "ed", "es", "ers", "er", "ly")


def snippet(text: str, marks: Sequence[tuple[str, ...]], width: int = WIDTH) -> str:
    """A stretch of about `width` characters; where nothing is found in it, its beginning."""
    text = text[:LARGEST].replace(ON, " ").replace(OFF, " ")
    found = _find(text, marks)
    start = max(0, (_best(found, width) if found else 0) - width // 6)
    end = min(len(text), start + width)
    start, end = _at_word(text, max(0, end - width), end)
    shown: list[str] = []
    at = start
    for first, last, _ in found:
        if first >= at and last <= end:
            shown += [text[at:first], ON, text[first:last], OFF]
            at = last
    body = "".join([*shown, text[at:end]])
    return ("…" if start else "") + " ".join(body.split()) + ("…" if end < len(text) else "")


def _find(text: str, marks: Sequence[tuple[str, ...]]) -> list[Span]:
    """Where the terms stand, in order, none inside another."""
    low = text.lower()
    if len(low) != len(text):  # a letter that has two in lower case
        low = text
    spans = [(first, last, number) for number, words in enumerate(marks) for first, last in _spans(low, words)]
    spans.sort(key=lambda span: (span[0], -span[1]))
    found: list[Span] = []
    for span in spans:
        if not found or span[0] >= found[-1][1]:
            found.append(span)
    return found


def _spans(low: str, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where a term stands: its words in a row, and each of them alone."""
    for word in words:
        stem = _stem(word)
        at = low.find(stem)
        for _ in range(MATCHES):
            if at < 0:
                break
            end = at + len(stem)
            if not word.isascii():
                yield at, end
            elif not at or not low[at - 1].isalnum():
                last = _end(low, end)
                if last == end or len(word) >= SHORT:
                    yield at, _row(low, last, words) if word == words[0] else last
                end = last
            at = low.find(stem, end)


def _stem(word: str) -> str:
    """What the forms of a word begin with."""
    if len(word) < SHORT or not word.isascii():
        return word
    ending = next((ending for ending in ENDINGS if word.endswith(ending)), "")
    stem = word.removesuffix(ending) if ending else word.rstrip("sye")
    return stem if len(stem) > 2 else word


def _end(low: str, at: int) -> int:
    """Where a word ends that goes on from here."""
    for end in range(at, min(at + TAIL, len(low))):
        if not low[end].isalnum():
            return end
    return min(at + TAIL, len(low))


def _row(low: str, end: int, words: tuple[str, ...]) -> int:
    """Where the words of a name end that began before; where the first did, if the others do not follow."""
    last = end
    for word in words[1:]:
        at = next((at for at in range(last, last + GAP + 1) if low.startswith(word, at)), -1)
        if at < 0:
            return end
        last = at + len(word)
    return last


def _best(found: Sequence[Span], width: int) -> int:
    """Where the stretch begins that has most of the terms."""
    best, where = (0, 0), 0
    for place, (first, _, _) in enumerate(found):
        near = [mark for mark in found[place : place + NEXT] if mark[1] <= first + width * 5 // 6]
        value = (len({term for _, _, term in near}), len(near))
        if value > best:
            best, where = value, first
    return where


def _at_word(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without half words at its ends, unless a word is longer than that is worth."""
    if start:
        blank = text.find(" ", start, start + 20)
        start = blank + 1 if blank >= 0 else start
    if end < len(text):
        blank = text.rfind(" ", max(start, end - 20), end)
        end = blank if blank > start else end
    return start, end
