"""What the search index has of a row: its words, the pieces of its names, and tags that say where it belongs.

SQLite splits text at everything that is no letter or digit, folds case and takes endings off. What it cannot do is done
here: `retryPolicy` is also `retry Policy`, and a run of Chinese, Japanese or Korean is also its pairs of characters, as
its words have no blanks between them. The tags let a search stay inside a project, a session, a kind or a month without
reading a row. The table keeps none of this, so the same row must always give the same words: what changes here needs
a migration.
"""

from __future__ import annotations

from time import gmtime

try:
    from _blake2 import blake2s
except ImportError:
    from hashlib import blake2s

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from re import Pattern

COLUMNS = "text, parts, tags"
TABLE = f"create virtual table {{}} using fts5({COLUMNS}, content='', tokenize='porter unicode61')"
# scripts that set no blanks between words, or set them loosely: kana, han, hangul, and their rarer blocks
RUN = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]+"
LONGEST, MOST = 48, 7  # characters and pieces of a name: what has more is no name but encoded bytes
NAMES = 2000  # of one text
OURS = "<memory-keeper "  # how what we told begins: it says again what is kept already

_BLANKS = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))
_patterns: list[Pattern[str]] = []


def pieces(name: str) -> list[str]:
    """`parseHTTPResponse2` in pieces: parse, HTTP, Response2; one piece where there is nothing to split."""
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
    if not _patterns:
        import re

        _patterns.append(re.compile(RUN))
    return _patterns[0].findall(text)


def pairs(run: str) -> list[str]:
    """Each character with the next one, and the last alone: every substring of a run is a run of these."""
    return [run[at : at + 2] for at in range(len(run))]


def parts(text: str) -> str:
    """What the index has beside a text's own words."""
    found = [" ".join(split) for name in _names(text) if len(split := pieces(name)) > 1]
    found += [" ".join(pairs(run)) for run in runs(text)]
    return " . ".join(found)


def _names(text: str) -> list[str]:
    """The words with a capital inside, each once."""
    words = dict.fromkeys(text.encode("utf-8", "surrogatepass").translate(_BLANKS).split())
    names = [word.decode() for word in words if not (word.islower() or word.isupper() or word[1:].islower())]
    return [name for name in names if not name.isdecimal()][:NAMES]


def composed(text: str) -> str:
    """The text with each letter and its accent in one character, as nearly everybody writes it."""
    if text.isascii():
        return text
    from unicodedata import is_normalized, normalize

    return text if is_normalized("NFC", text) else normalize("NFC", text)


def words_of(text: str) -> tuple[str, str]:
    """What the index has of a text: the text, and its parts. Of what we told ourselves: nothing."""
    if text.startswith(OURS):
        return "", ""
    text = composed(text)
    return text, parts(text)


# --- tags ------------------------------------------------------------------------------------------------------------


def tags(project: str, session: str, kind: str, at: float, level: int = 0) -> str:
    """Where a row belongs."""
    return f"{tag('p', project)} {tag('s', session)} {tag('k', kind)} l{level} {month(at)}"


def tag(what: str, name: str) -> str:
    """One word for a name, whatever is in it. Two names may share it: who finds rows by it looks at them again."""
    return what + blake2s(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def month(at: float) -> str:
    """The month of a moment."""
    try:
        year, number = gmtime(at)[:2]
    except (OverflowError, ValueError, OSError):
        return "m0"
    return f"m{year * 12 + number}"


def months(since: float, until: float) -> Iterable[str]:
    """Every month between two moments, both included."""
    first, last = int(month(since)[1:]), int(month(until)[1:])
    return (f"m{number}" for number in range(first, last + 1))
