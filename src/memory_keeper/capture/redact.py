"""Take secrets out of what we keep: a cheap gate on every line, and the patterns only where the gate opened.

The gate decides the speed, for nearly every line is clean. It is made of byte searches: a rare byte splits the line, and the
neighbours of each cut are looked up in a set, which asks for a hundred token prefixes in one pass; a handful of words (`passw`,
`secret`, `key`, ...) are asked for one by one. What opened says which patterns to run.
Everything is matched as UTF-8 bytes: one alphabet, no case folding surprises, and the same positions in every copy.
"""

from __future__ import annotations

from .redact_rules import ABOUT, COMMANDS, HARMLESS, OPENING, PLACEHOLDERS, RIDERS, STARTS, STEMS, TRADE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from re import Match, Pattern
    from typing import Any

    Span = tuple[int, int, str]  # start, end, label
    Lead = int | str  # a row of STARTS, or a name in FINDERS

MARK = b"<REDACTED:"
PASSES = 8  # each pass hides more; text that still changes after this many was made to

_WORD = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
_NAME = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-."
_compiled: dict[bytes, Pattern[bytes]] = {}
_kinds: dict[bytes, str] = {}


def suspicious(text: str, known: tuple[str, ...] = ()) -> bool:
    """Whether `redact` has anything to look at; False promises that it would return the text as it is."""
    data = _encode(text)
    return bool(_leads(data)) or any(value and value in text for value in known)


def redact(text: str, salt: bytes, known: tuple[str, ...] = ()) -> str:
    """The text with every secret replaced by `<REDACTED:type:xxxx>`, equal secrets by equal marks."""
    if not suspicious(text, known):
        return text
    return _scrub([(text, "")], salt, known).get((text, ""), text)


def redact_value(value: Any, salt: bytes, known: tuple[str, ...] = ()) -> Any:
    """The same for a parsed JSON value: strings and keys, and what a key's name says about its value."""
    return _rebuild(value, _scrub(_strings(value), salt, known))


def redact_line(line: bytes, salt: bytes, known: tuple[str, ...] = ()) -> bytes:
    """The same for one raw JSONL line, byte for byte apart from the secrets, and still JSON if it was."""
    escaped = b"\\u" in line or b"\\/" in line  # then the bytes do not show what the strings say
    if not escaped and not _leads(line) and not any(probe in line for probe in _probes(known)):
        return line
    import json

    try:
        text = line.decode()
        strings = _strings(json.loads(text, object_pairs_hook=list))  # pairs: a repeated key hides nothing
        changes = _scrub(strings, salt, known) if _touched(strings, known) else {}
        if not changes:
            return line
        wanted = json.dumps(_rebuild(json.loads(text), changes), ensure_ascii=False, separators=(",", ":"))
        patched = _patch(line, {old: new for (old, _), new in changes.items()})
        if json.loads(patched) == json.loads(wanted):
            return patched
        return wanted.encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):  # not JSON, not UTF-8, or JSON that Python will not read: text then
        return redact(line.decode("utf-8", "surrogateescape"), salt, known).encode("utf-8", "surrogateescape")


def known_values(environ: Mapping[str, str], dotenv: Iterable[str] = ()) -> tuple[str, ...]:
    """Values to hide wherever they stand: what the environment and .env files hold under a secret's name; longest first."""
    pairs = list(environ.items())
    for text in dotenv:
        for line in text.splitlines():
            name, is_pair, value = line.strip().removeprefix("export ").partition("=")
            if is_pair and not name.lstrip().startswith("#"):
                pairs.append((name.strip(), _unquoted(value.strip())))
    found = {value for name, value in pairs if _says_secret(name) and _worth_hiding(value)}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def _unquoted(value: str) -> str:
    if value[:1] in ("'", '"') and value.find(value[0], 1) > 0:
        return value[1 : value.find(value[0], 1)]
    return value.split(" #", 1)[0].rstrip()


def _says_secret(name: str) -> bool:
    words = name.upper().replace("-", "_").split("_")
    if words[-1] in ("SOCK", "FILE", "PATH", "DIR", "URL", "HOST", "ID", "NAME", "TYPE", "PID", "LIFETIME", "EXPIRY", "TTL", "AGENT"):
        return name.upper() in ("DATABASE_URL", "REDIS_URL", "MONGO_URL", "AMQP_URL")
    stems = ("KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "PWD", "CREDENTIAL", "DSN", "APIKEY", "AUTH", "PASS", "JWT", "COOKIE", "PAT")
    return any(word.startswith(stems) or word.endswith(("KEY", "TOKEN", "SECRET", "PASSWORD", "PASS", "PWD")) for word in words)


def _worth_hiding(value: str) -> bool:
    if len(value) < 8 or len(set(value)) < 5 or value[0] in "/~.$<" or value[1:3] in (":\\", ":/") or "\n" in value[:8]:
        return False
    return not value.isdigit() and value.lower() not in ("disabled", "enabled", "required", "optional", "password", "changeme", "anonymous")


# The gate


def _table() -> tuple[list[tuple[bytes, dict[bytes, list[int]], dict[bytes, list[int]]]], dict[bytes, dict[bytes, list[int]]], list[tuple[bytes, bytes, int]]]:
    """Where each start shows itself: before a separator, after a rare capital, or, for the odd ones, only as a whole."""
    tails: dict[bytes, tuple[dict[bytes, list[int]], dict[bytes, list[int]]]] = {pivot: ({}, {}) for pivot in (b"_", b"-", b".", b"J")}
    heads: dict[bytes, dict[bytes, list[int]]] = {pivot: {} for pivot in (b"A", b"G", b"L")}
    odd: list[tuple[bytes, bytes, int]] = []
    guards = {b"sig=": b"&", b"00D": b"!", b"sha256~": b"~", b"$ANSIBLE_VAULT;": b"$"}
    for row, (_, starts, _) in enumerate(STARTS):
        for start in starts:
            for pivot, (threes, twos) in tails.items():
                at = start.find(pivot, 2)
                if at >= 0:
                    (threes if at > 2 else twos).setdefault(start[max(0, at - 3) : at], []).append(row)
                    break
            else:
                for pivot, after in heads.items():
                    at = start.find(pivot)
                    if at >= 0 and (pivot in start[at + 1 : at + 4] or len(start) - at > 3):
                        after.setdefault(start[at + 1 :].split(pivot)[0][:3], []).append(row)
                        break
                else:
                    odd.append((guards.get(start, b""), start, row))
    return [(pivot, *pair) for pivot, pair in tails.items()], heads, odd


_gate: list[Any] = []


def _leads(data: bytes) -> list[Lead]:
    """What to look for in these bytes, asked with byte searches only; nothing to look for means nothing to hide."""
    if MARK in data:
        data = _masked(data)
    if b"\x1b" in data:
        data = _plain(data)[0]
    if not _gate:
        _gate.extend(_table())
    tails, heads, odd = _gate
    rows: set[int] = set()
    leads: list[Lead] = []
    for pivot, threes, twos in tails:
        pieces = data.split(pivot)
        ends = {piece[-3:] for piece in pieces}
        for end in threes.keys() & ends:
            rows.update(threes[end])
        for end in twos.keys() & {end[-2:] for end in ends}:
            rows.update(twos[end])
        if pivot == b"J":
            if b"ey" in {end[-2:] for end in ends} and b"eyJ" in data:
                leads.append("jwt")
        elif "random" not in leads and [1 for piece in pieces if len(piece) > 26 and piece[:27].isalnum() and not piece[:27].isalpha()]:
            leads.append("random")
    for pivot, after in heads.items():
        for head in after.keys() & {piece[:3] for piece in data.split(pivot)}:
            rows.update(after[head])
    for guard, start, row in odd:
        if guard in data and start in data:
            rows.add(row)
    found: list[Lead] = [row for row in sorted(rows) if any(start in data for start in STARTS[row][1])]
    low = data.lower()
    if b"private" in low:
        leads.append("private")
    if b"@" in data and (b"://" in data or b"identified by" in low):
        leads.append("uri")
    if b"bearer" in low or b"auth" in low and low.count(b"auth") > low.count(b"author") - low.count(b"authoriz"):
        leads.append("auth")
    if b"cookie" in low:
        leads.append("cookie")
    if b"~" in data and b"Q~" in data:
        leads.append("azure")
    if b"$" in data and [1 for piece in data.split(b"$") if piece[:1] in _HASHES]:
        leads.append("hash")
    stems = [stem for stem in STEMS if stem in low]
    if low.count(b"token") > low.count(b"tokens"):
        stems.append(b"token")
    if stems:
        leads.append("named")
    if b" -" in data and [1 for piece in data.split(b" -")[1:] if piece[:1] in _FLAGS] and [1 for name, _ in COMMANDS if name in low]:
        leads.append("command")
    if not data.isascii() and [1 for word in _PASSWORD_WORDS if word in data]:
        leads.append("foreign")
    return found + leads


_HASHES = frozenset((b"1", b"2", b"5", b"6", b"7", b"8", b"9", b"y", b"a", b"P", b"H", b"k", b"p", b"s"))
_FLAGS = frozenset((b"p", b"u", b"a", b"w", b"U", b"P", b"k", b"b", b"c", b"B", b"n", b"s"))
_PASSWORD_WORDS = tuple(word.encode() for word in ("비밀번호", "암호", "패스워드", "비번", "パスワード", "密码", "密碼", "口令", "пароль", "contraseña"))


def _masked(data: bytes) -> bytes:
    """Our own marks blanked, same length, so that a second look does not read them."""
    pieces = data.split(MARK)
    for at, piece in enumerate(pieces[1:], 1):
        inner, closed, rest = piece.partition(b">")
        if closed and len(inner) < 40 and inner.replace(b"-", b"").replace(b":", b"").isalnum():
            pieces[at] = bytes(len(MARK) + len(inner) + 1) + rest
        else:
            pieces[at] = MARK + piece
    return b"".join(pieces)


def _plain(data: bytes) -> tuple[bytes, bytes, list[tuple[int, int]]]:
    """Without terminal sequences (a colour's `m` glues itself to a token): taken out, blanked, and where the pieces came from."""
    plain, blank, origin, at, size = [], [], [], 0, 0
    for piece in data.split(b"\x1b"):
        skip = 0
        if at:  # what follows an ESC
            if piece[:1] == b"[":
                body = piece[1:66]
                skip = min(len(piece), 2 + len(body) - len(body.lstrip(b"0123456789:;<=>? !\"#$%&'()*+,-./")))
            elif piece[:1] in (b"(", b")"):
                skip = 2
            elif piece[:1] in (b"]", b"\\"):
                skip = 1
            blank.append(b" " * (skip + 1))
        origin.append((size, at + skip))
        rest = piece[skip:]
        plain.append(rest)
        blank.append(rest)
        size += len(rest)
        at += len(piece) + 1
    return b"".join(plain), b"".join(blank), origin
