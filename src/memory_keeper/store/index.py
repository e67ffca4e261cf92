"""What the search index has of a row: its words, the pieces of its names, and tags that say where it belongs.

SQLite splits text at everything that is no letter or digit, folds case and takes endings off. What it cannot do is done
here: `retryPolicy` is also `retry Policy`, and a run of Chinese, Japanese or Korean is also its pairs of characters, as
its words have no blanks between them. The tags let a search stay inside a project, a session, a kind or a month without
reading a row. The table keeps none of this, so the same row must always give the same words: what changes here needs
a migration.
"""

from __future__ import annotations

from time import gmtime

from memory_keeper.model import DAY

try:
    from _blake2 import blake2s
except ImportError:
    from hashlib import blake2s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COLUMNS = "text, parts, tags"
TABLE = f"create virtual table {{}} using fts5({COLUMNS}, content='', tokenize='porter unicode61')"
# scripts that set no blanks between words, or set them loosely: kana, han, hangul, and their rarer blocks
RUN = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
LONGEST, MOST = 48, 7  # characters and pieces of a name: what has more is no name but encoded bytes
NAMES = 2000  # of one text
FILE = 4  # words of a path that are looked for
LONG = 2000  # days and months that a span of time may be said in
# names that have no word in them but a letter, and the words that the index has for them
SYMBOLS = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}
# how begins what says again what is kept already: what we told, and what our commands were asked
OURS = ("<memory-keeper ", "<command-message>memory-keeper:", "<command-name>/memory-keeper:", "/memory-keeper:")
# and what tools say of nearly every call, where they say no more
ROUTINE = ("The file ", "File created successfully", "File written successfully", "Todos have been modified")
TERSE = 300  # characters
PIECE = 200  # characters that are composed at once
KNOWN = 5000  # names that are remembered: a session says the same ones again and again

# letters of names by their case, where a digit is no capital; what no name has is a blank
_SHAPE = b" " * 48 + b"a" * 10 + b" " * 7 + b"A" * 26 + b" " * 6 + b"a" * 26 + b" " * 133
_pieces: dict[str, list[str]] = {}
_tags: dict[str, str] = {}
_NO_RUNS = bytes({*range(256)} - {*range(0xE3, 0xEE), 0xEF, 0xF0})  # with which no character of a run begins in UTF-8


def words_in(text: str) -> list[str]:
    """The runs of letters and digits."""
    return "".join(char if char.isalnum() else " " for char in text).split()


def file_words(path: str) -> list[str]:
    """The last words of a path, which a text that names the file has in a row."""
    return words_in(path)[-FILE:]


def pieces(name: str) -> list[str]:
    """`parseHTTPResponse2` in pieces: parse, HTTP, Response2; one piece where there is nothing to split."""
    found = _pieces.get(name)
    if found is None:
        if len(_pieces) > KNOWN:
            _pieces.clear()
        found = _pieces[name] = _split(name)
    return found


def _split(name: str) -> list[str]:
    if len(name) > LONGEST or name.islower() or name.isupper() or name[1:].islower():
        return [name]
    found: list[str] = []
    start = 0
    for at in range(1, len(name)):
        if name[at].isupper() and not name[at - 1].isupper():
            cut = at
        elif name[at].islower() and name[at - 1].isupper() and at - start > 1:
            cut = at - 1  # the last of several capitals begins the next word
        else:
            continue
        found.append(name[start:cut])
        start = cut
    found.append(name[start:])
    return found if len(found) <= MOST else [name]


def runs(text: str) -> list[str]:
    """The runs of characters that stand without blanks between words."""
    if text.isascii():
        return []
    import re

    return re.findall(RUN, text)


def pairs(run: str) -> list[str]:
    """Each character with the next one, and the last alone: every substring of a run is a run of these."""
    return [run[at : at + 2] for at in range(len(run))]


def parts(text: str) -> str:
    """What the index has beside a text's own words."""
    data = text.encode("utf-8", "surrogatepass")
    found = [" ".join(split) for name in _names(data) if len(split := pieces(name)) > 1]
    if len(data) != len(text) and data.translate(None, _NO_RUNS):
        found += [" ".join(pairs(run)) for run in runs(text)]
    found += _symbols(text, data)
    return " . ".join(found)


def _names(data: bytes) -> list[str]:
    """The words with a capital inside, each once. Every word of every output passes here, so the capitals are looked
    for and not the words."""
    shape = data.translate(_SHAPE) + b" "
    find, found = shape.find, dict[bytes, int]()
    for hump in (b"aA", b"AAa"):
        at = find(hump)
        while at >= 0:
            begin, end = shape.rfind(b" ", 0, at) + 1, find(b" ", at)
            found.setdefault(data[begin:end], begin)
            at = find(hump, end)
    return [word.decode() for word in sorted(found, key=found.__getitem__) if not word.isupper()][:NAMES]


def _symbols(text: str, data: bytes) -> list[str]:
    if b"++" not in data and b"#" not in data and b".NET" not in data:
        return []
    low = data.lower()
    if b"c++" not in low and b".net" not in low and not any(piece.endswith((b"c", b"f")) for piece in low.split(b"#")):
        return []
    folded = text.lower()
    return [word for sign, word in SYMBOLS.items() if any(_alone(folded, sign))]


def _alone(low: str, sign: str) -> Iterable[bool]:
    """Whether a sign stands at no word's end, for the first places where it stands."""
    at = low.find(sign)
    for _ in range(20):
        if at < 0:
            return
        yield not at or not low[at - 1].isalnum()
        at = low.find(sign, at + 1)


def composed(text: str) -> str:
    """The text with each letter and its accent in one character, as nearly everybody writes it."""
    if text.isascii():
        return text
    from unicodedata import is_normalized, normalize

    # piece by piece: marks in the wrong order cost the square of their number
    parts = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    return "".join([part if part.isascii() or is_normalized("NFC", part) else normalize("NFC", part) for part in parts])


def words_of(text: str) -> tuple[str, str]:
    """What the index has of a text: the text, and its parts. Of what only says again what is kept: nothing."""
    if text.startswith(OURS) or (len(text) < TERSE and text.startswith(ROUTINE)):
        return "", ""
    text = composed(text)
    return text, parts(text)


# --- tags ------------------------------------------------------------------------------------------------------------


# what says again what other rows say, or only that something happened; not looked for unless it is asked for
REPEATS = frozenset(
    (
        *("told", "start", "end", "warned", "window", "ask", "blocked", "scored", "ask-compact", "replaced"),
        *("archived", "spent", "handoff", "meta"),
    )
)
AGAIN = "again"  # the tag of these
NEVER = (0, 0)


def tags(project: str, session: str, kind: str, at: float, level: int = 0, tool: str = "") -> str:
    """Where a row belongs."""
    named = (f" {tag('t', tool.lower())}" if tool else "") + (f" {AGAIN}" if kind in REPEATS else "")
    return f"{tag('p', project)} {tag('s', session)} {tag('k', kind)} l{level} {year(at)} {month(at)} {day(at)}{named}"


def tag(what: str, name: str) -> str:
    """One word for a name, whatever is in it. Two names may share it: who finds rows by it looks at them again."""
    word = _tags.get(what + name)
    if word is None:
        if len(_tags) > KNOWN:
            _tags.clear()
        word = _tags[what + name] = what + blake2s(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return word


def year(at: float) -> str:
    """The year of a moment."""
    return f"y{_calendar(at)[0]}"


def month(at: float) -> str:
    """The month of a moment."""
    number, name = _calendar(at)
    return f"m{number * 12 + name}"


def day(at: float) -> str:
    """The day of a moment."""
    return f"d{int(at // DAY)}" if _calendar(at) != NEVER else "d0"


def _calendar(at: float) -> tuple[int, int]:
    """The year and the month of a moment; of one that no calendar has, none."""
    try:
        return gmtime(at)[:2]
    except (OverflowError, ValueError, OSError):
        return NEVER


def span(since: float, until: float) -> list[str]:
    """Every day, month or year between two moments, that of both included: the longest that lie wholly between."""
    found: list[str] = []
    at = since
    while at <= until:
        number, name, today = gmtime(at)[:3]
        ends = ((timegm(number + 1, 1), name == today == 1, year), (timegm(number, name + 1), today == 1, month))
        for end, begins, called in ends:
            if begins and end <= until and at % DAY == 0:
                found.append(called(at))
                at = end
                break
        else:
            found.append(day(at))
            at = (at // DAY + 1) * DAY
    return found[-LONG:]


def timegm(of: int, number: int) -> float:
    """When a month begins; the thirteenth is the next January."""
    of, number = of + (number - 1) // 12, (number - 1) % 12 + 1
    before = of - (number < 3)
    days = before * 365 + before // 4 - before // 100 + before // 400 + (153 * ((number + 9) % 12) + 2) // 5 - 719468
    return days * DAY
