"""The gate: whether there may be a secret in some bytes, and what to look for.

Nearly every line is clean, so the gate decides the speed. It is byte searches and nothing else: separators split the
line, and what stands before each cut is looked up in a set, which asks for two hundred prefixes in one pass; a handful
of words (`pass`, `secret`, `key`, ...) are asked for one by one, and count only in a name something is assigned to.
"""

from __future__ import annotations

from _operator import itemgetter
from collections.abc import Callable

from memory_keeper.capture.redact.names import COMMANDS, FOREIGN, FOREIGN_KEYS, STEMS, heads_column, named
from memory_keeper.capture.redact.tokens import STARTS, random_runs

Lead = int | str  # what to look for: a row of STARTS, or a name in FINDERS
MARK = b"<REDACTED:"
_WINDOW = 1 << 20
_SEPARATORS = bytes.maketrans(b"-.J", b"___")  # J: of eyJ and its kin
_BEFORE = [bytes([byte]) for byte in b"\"' =:(,[{`>/@|;+\n\tnrtD0"]  # before a two-letter start; nrtD0: of \n, %3D...
_CRYPT = frozenset(
    b"1 5 6 7 8 9 y 2a 2b 2x 2y P H S apr1 argon2id argon2i argon2d scrypt krb5tgs krb5asrep krb5pa".split()
)
_GUARDS = {b"sig=": b"&", b"00D": b"!", b"sha256~": b"~"}  # starts with neither: a byte that must be there too
_COMMANDS = {  # what stands before a hyphen, and the command line that may mean
    b"rl ": b"curl -",
    b"ql ": b"mysql -",
    b"mp ": b"dump -",
    b"ss ": b"sshpass -",
    b"go ": b"mongo -",
    b"ip ": b"zip -",
    b"wd ": b"passwd -",
    b"ch ": b"search -",
    b"db ": b"mariadb -",
    b"dis": b"redis-",
    b"tTo": b"ConvertTo-",
}
_tails: dict[bytes, list[int | bytes]] = {}  # what stands before a separator, and what that may mean
_short: dict[bytes, list[int | bytes]] = {b"ey": [b"eyJ"]}  # two letters at the begin of a word; these are of a JWT
_heads: dict[bytes, list[int | bytes]] = {}  # what stands after an A
_guarded: list[tuple[bytes, bytes, int]] = []
_end, _begin = itemgetter(slice(-3, None)), itemgetter(slice(3))  # with `map`, a third faster than a comprehension
_ends: frozenset[bytes] = frozenset()  # what to look for in one go: asked faster
_begins: frozenset[bytes] = frozenset()


def _index() -> None:
    """Fill the gate's tables from STARTS, on first use."""
    global _ends, _begins
    for row, (_, starts, _) in enumerate(STARTS):
        for start in starts:
            folded = start.translate(_SEPARATORS)
            at = folded.find(b"_", 2)
            if at > 2:
                _tails.setdefault(folded[at - 3 : at], []).append(row)
            elif at == 2:
                _short.setdefault(folded[:2], []).append(row)
            elif start in _GUARDS:
                _guarded.append((_GUARDS[start], start, row))
            else:
                _heads.setdefault(start.split(b"A")[1][:3], []).append(row)
    for tail, command in _COMMANDS.items():
        _tails.setdefault(tail, []).append(command)
    _ends = frozenset([*_tails, *[byte + two for two in _short for byte in [b"", *_BEFORE]]])
    _begins = frozenset(_heads)


def encode(text: str) -> bytes:
    """A text as the bytes that are looked at."""
    return text.encode("utf-8", "surrogatepass")


def find_leads(data: bytes) -> list[Lead]:
    """What to look for in these bytes. Nothing to look for: nothing to hide."""
    if b"\x1b" in data:
        data = plain(data)[0]
    leads = _ask(data)
    return _ask(masked(data)) if leads and MARK in data else leads


def _ask(data: bytes) -> list[Lead]:
    """One `in` costs 0.6 ns a byte, so there are few; rare single bytes, which cost 0.1, stand before what they can."""
    leads, command = _read_hints(data)
    if next(random_runs(data), None):
        leads.append("random")
    low = data.lower()
    for stem in STEMS:
        if stem in low:
            if stem == b"key" and b"private" in low:
                leads.append("pem")
            if "named" not in leads and _assigned(data, low, stem):
                leads.append("named")
            if "table" not in leads and (b"|" in data or heads_column(data, low, stem)) and _has_lines(data):
                leads.append("table")
    leads += [lead for lead, asks in _WORDS if asks(data, low)]
    if command and any(name in low for name, _ in COMMANDS):
        leads.append("command")
    if not data.isascii() and any(word[:1] in data and word in data for word in (*FOREIGN, *FOREIGN_KEYS)):
        leads.append("foreign")
    return leads


def _read_hints(data: bytes) -> tuple[list[Lead], bool]:
    """The tokens that may begin in these bytes, and whether a command line may be there that takes a password."""
    leads: list[Lead] = []
    command = b" -u " in data
    for hint in dict.fromkeys(_hints(data)):
        if isinstance(hint, int):
            if any(start in data for start in STARTS[hint][1]):
                leads.append(hint)
        elif hint in data:
            if hint == b"eyJ":
                leads.append("jwt")
            else:
                command = True
    return leads, command


def _hints(data: bytes) -> list[int | bytes]:
    """What the pieces between separators may mean, looked up in one pass."""
    if not _ends:
        _index()
    hints: list[int | bytes] = []
    for at in range(0, len(data), _WINDOW):  # nearly always once: the pieces of a huge line would fill the memory
        part = data[at and at - 4 : at + _WINDOW]
        pieces = part.translate(_SEPARATORS).split(b"_")
        if not _ends.isdisjoint(map(_end, pieces)):
            ends = _ends.intersection(map(_end, pieces))
            hints += [hint for end in ends for hint in (*_tails.get(end, ()), *_short.get(end[-2:], ()))]
        pieces = part.split(b"A")
        if not _begins.isdisjoint(map(_begin, pieces)):
            hints += [hint for begin in _begins.intersection(map(_begin, pieces)) for hint in _heads[begin]]
    return hints + [row for guard, start, row in _guarded if guard in data and start in data]


def _has_userinfo(data: bytes) -> bool:
    """Whether an @ follows a :// before the next slash."""
    at = data.find(b"://")
    while at >= 0:
        if b"@" in data[at + 3 : at + 400].split(b"/", 1)[0]:
            return True
        at = data.find(b"://", at + 3)
    return b":\\/\\/" in data  # slashes escaped, as some writers of JSON do


_AUTH = (b"authorization", b"_auth", b'auth"', b'auth\\"', b"auth:", b"auth=", b"oauth2-bearer")
# leads that a word gives: it is in the bytes, or in their lower-case copy
_WORDS: tuple[tuple[str, Callable[[bytes, bytes], bool]], ...] = (
    ("private", lambda data, low: b"<" in data and b"<private>" in low),
    ("uri", lambda data, low: b"@" in data and _has_userinfo(data)),
    ("sql", lambda data, low: b"IDENTIFIED" in data or (b"@" in data and b"identified" in low)),
    ("auth", lambda data, low: b"Bearer" in data or (b"auth" in low and any(word in low for word in _AUTH))),
    ("cookie", lambda data, low: b"cookie" in low),
    ("pgpass", lambda data, low: b":*:" in data or b":5432:" in data or b"pgpass" in low),
    ("discord", lambda data, low: b"Bot " in data or b"discord" in low),
    ("azure", lambda data, low: b"~" in data and b"Q~" in data),
    ("hash", lambda data, low: b"$" in data and (b"pbkdf2_sha" in data or not _CRYPT.isdisjoint(data.split(b"$")))),
)


def _has_lines(data: bytes) -> bool:
    return b"\n" in data or b"\\n" in data


def _assigned(data: bytes, low: bytes, stem: bytes) -> bool:
    size = len(stem)
    at = low.find(stem)
    while at >= 0:
        plural = low[at + size : at + size + 1] == b"s" and stem == b"token"  # `input_tokens` is in every line
        if not plural and named(data, low, at, stem)[0]:
            return True
        at = low.find(stem, at + size)
    return False


def masked(data: bytes) -> bytes:
    """Our own marks blanked, same length, so that a second look does not read them."""
    pieces = data.split(MARK)
    for at, piece in enumerate(pieces[1:], 1):
        inner, closed, rest = piece.partition(b">")
        label, _, tag = inner.partition(b":")
        ours = closed and label == label.lower() and label.replace(b"-", b"").isalnum() and len(label) < 24
        if ours and len(tag) in (0, 4):
            pieces[at] = bytes(len(MARK) + len(inner) + 1) + rest
        else:
            pieces[at] = MARK + piece
    return b"".join(pieces)


def plain(data: bytes) -> tuple[bytes, bytes, list[tuple[int, int]]]:
    """Without terminal sequences, whose last letter would glue itself to a token: taken out, blanked, and the way back.

    The way back is, for each piece, where it begins in the first copy and where in the data.
    """
    if data.count(b"\x1b") > 100_000:  # made to hurt: the marks are read as they are
        data = data.replace(b"\x1b", b" ")
    plain, blank, origin, at, size = [], [], [], 0, 0
    for number, piece in enumerate(data.split(b"\x1b")):
        skip = 0
        if number and piece[:1] == b"[":
            body = piece[1:65]
            skip = min(len(piece), 2 + len(body) - len(body.lstrip(b"0123456789:;<=>? !\"#$%&'()*+,-./")))
        elif number and piece[:1] in (b"(", b")", b"]", b"\\"):
            skip = min(len(piece), 2 if piece[:1] in (b"(", b")") else 1)
        rest = piece[skip:]
        plain.append(rest)
        blank += [b" " * (skip + 1 if number else 0), rest]
        origin.append((size, at + skip))
        size += len(rest)
        at += len(piece) + 1
    return b"".join(plain), b"".join(blank), origin
