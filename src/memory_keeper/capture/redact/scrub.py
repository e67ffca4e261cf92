"""Taking out: what the finders found becomes a mark, in every string where it stands."""

from __future__ import annotations

from _blake2 import blake2b
from bisect import bisect_right
from collections.abc import Iterable, Mapping

from memory_keeper.capture.redact.finders import Span, find
from memory_keeper.capture.redact.gate import MARK, Lead, encode, find_leads, masked, plain
from memory_keeper.capture.redact.values import fits, mess

String = tuple[str, str]  # a text, and the kind of secret its key says it is, mostly none

PASSES = 8  # each hides what the last one laid bare; a text that needs more was made to


def spans_in(data: bytes, leads: list[Lead], exact: Mapping[bytes, str]) -> list[Span]:
    """Where the secrets are: in order, apart from each other, on whole characters."""
    if not leads and not exact:
        return []
    view = masked(data) if MARK in data else data
    spans: list[Span] = []
    if b"\x1b" in view:
        bare, view, origin = plain(view)
        spans += [_back(span, origin) for span in find(bare, leads)]  # a token with a colour inside
    spans += find(view, leads)
    for value, label in exact.items():
        at = view.find(value)
        while at >= 0:
            spans.append((at, at + len(value), label))
            at = view.find(value, at + len(value))
    merged: list[Span] = []
    for start, end, label in sorted(spans, key=lambda span: span[0]):
        while start > 0 and data[start] & 0xC0 == 0x80:
            start -= 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        if merged and start < merged[-1][1]:
            start, end, label = merged[-1][0], max(merged[-1][1], end), merged.pop()[2]
        merged.append((start, end, label))
    return merged


def _back(span: Span, origin: list[tuple[int, int]]) -> Span:
    """A span of the plain copy as one of the data."""
    start, end = (
        at + origin[number][1] - origin[number][0]
        for at in (span[0], span[1] - 1)
        for number in [bisect_right(origin, at, key=lambda pair: pair[0]) - 1]
    )
    return start, end + 1, span[2]


def scrub(strings: Iterable[String], salt: bytes, known: tuple[str, ...]) -> dict[String, str]:
    """The strings that change, and what becomes of them. What is found in one of them is hidden in all."""
    texts = {string: encode(string[0]) for string in strings}
    leads = {string: find_leads(data) for string, data in texts.items()}
    exact = {encode(value): "known" for value in known if value}
    changed: dict[String, str] = {}
    for _ in range(PASSES):
        found: dict[bytes, str] = {}
        moved = False
        for string, data in texts.items():
            spans = spans_in(data, leads[string], exact)
            if string[1] and MARK not in data and fits(string[1], "assign", True, data):
                spans = [(0, len(data), string[1])]
            if spans:
                moved = True
                found.update((data[start:end], label) for start, end, label in spans)
                texts[string] = data = _marked(data, spans, salt)
                leads[string] = find_leads(data)  # anew: what was taken out no longer hides its neighbours
                changed[string] = data.decode("utf-8", "surrogatepass")
        exact.update(
            (secret, label)
            for secret, label in found.items()
            if label != "private" and 8 <= len(secret) <= 200 and mess(secret) > 1
        )
        if not moved:
            break
    return changed


def _marked(data: bytes, spans: list[Span], salt: bytes) -> bytes:
    pieces, at = [], 0
    for start, end, label in spans:
        tag = ":" + blake2b(data[start:end], digest_size=2, key=salt[:64]).hexdigest() if label != "private" else ""
        pieces += [data[at:start], f"<REDACTED:{label}{tag}>".encode()]
        at = end
    return b"".join(pieces) + data[at:]


def is_touched(strings: list[String], leads: list[Lead], known: tuple[str, ...]) -> bool:
    """Whether any of these strings will change: one look at all of them together."""
    if any(fits(kind, "assign", True, encode(text)) for text, kind in strings if kind):
        return True
    joined = "\n".join([text for text, _ in strings])
    if any(value in joined for value in known if value):
        return True
    data = encode(joined)
    return bool(spans_in(data, leads or find_leads(data), {}))
