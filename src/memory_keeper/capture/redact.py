"""Take the secrets out of what we keep: a cheap gate for every line, the finders only where it opened.

Nearly every line is clean, so the gate decides the speed. It is byte searches and nothing else: separators split the
line, and what stands before each cut is looked up in a set, which asks for two hundred prefixes in one pass; a handful
of words (`pass`, `secret`, `key`, ...) are asked for one by one, and count only in a name something is assigned to.
What opened the gate (the leads) says which finders of `redact_rules` to run.

Nobody can promise that no secret is left. Known to stay: passwords in prose that no word announces, secrets split over
lines, bare hexadecimal, secrets inside base64.
"""

from __future__ import annotations

from _operator import itemgetter

from .redact_rules import COMMANDS, FOREIGN, STARTS, STEMS, find, fits, kind_of, mess, named, random_runs, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from re import Match, Pattern
    from typing import Any

    from .redact_rules import Lead, Span

    String = tuple[str, str]  # a text, and the kind of secret its key says it is, mostly none

MARK = b"<REDACTED:"
MOST = 500  # known values: each is searched for in every line
PASSES = 8  # each hides what the last one laid bare; a text that needs more was made to


def suspicious(text: str, known: tuple[str, ...] = ()) -> bool:
    """Whether `redact` has anything to look at; False promises that it would return the text as it is."""
    return bool(_leads(_encode(text))) or any(value in text for value in known if value)


def redact(text: str, salt: bytes, known: tuple[str, ...] = ()) -> str:
    """The text with each secret replaced by `<REDACTED:type:xxxx>`: equal secrets by equal marks, under one salt."""
    if not suspicious(text, known):
        return text
    return _scrub([(text, "")], salt, known).get((text, ""), text)


def redact_value(value: Any, salt: bytes, known: tuple[str, ...] = ()) -> Any:
    """The same for parsed JSON: its strings, its keys, and what a key says of its value."""
    return _rebuild(value, _scrub(_strings(value), salt, known))


def redact_line(line: bytes, salt: bytes, known: tuple[str, ...] = ()) -> bytes:
    """The same for one raw JSONL line: byte for byte as it was apart from the secrets, and still JSON if it was."""
    escaped = b"\\u" in line  # then the bytes do not show what the strings say
    leads = [] if escaped else _leads(line)
    if not (escaped or leads or any(probe in line for probe in _probes(known))):
        return line
    import json

    try:
        text = line.decode()
        strings = _strings(json.loads(text, object_pairs_hook=list))  # pairs: a repeated key hides nothing
        changes = _scrub(strings, salt, known) if _touched(strings, leads, known) else {}
        if not changes:
            return line
        patched = _patch(line, changes)
        wanted = json.dumps(_rebuild(json.loads(text), changes), ensure_ascii=False, separators=(",", ":"))
        if json.dumps(json.loads(patched)) == json.dumps(json.loads(wanted)):
            return patched
        return _encode(wanted) + line[len(line.rstrip()) :]
    except (json.JSONDecodeError, UnicodeDecodeError):
        pass  # not JSON, or not UTF-8
    except (ValueError, RecursionError):  # numbers too long or nesting too deep for Python: string by string
        try:
            strings = [(json.loads(literal.decode()), "") for literal in _pattern("literal").findall(line)]
            return _patch(line, _scrub(strings, salt, known))
        except ValueError:
            pass  # not JSON after all
    return redact(line.decode("utf-8", "surrogateescape"), salt, known).encode("utf-8", "surrogateescape")


# --- known values ----------------------------------------------------------------------------------------------------

_SECRET = words("KEY TOKEN SECRET PASSW PASSPHRASE PASS PWD CREDENTIAL DSN AUTH JWT COOKIE PAT")
_ENDS = words("KEY TOKEN SECRET PASSWORD PASS PWD")
_ABOUT = words("SOCK FILE PATH DIR HOST ID NAME TYPE PID LIFETIME EXPIRY TTL AGENT PORT USER COUNT")
_STORES = words("DATABASE POSTGRES MYSQL REDIS MONGO MONGODB AMQP RABBITMQ")
_PLAIN = words("disabled enabled required optional password changeme anonymous undefined")


def known_values(environ: Mapping[str, str], dotenv: Iterable[str] = ()) -> tuple[str, ...]:
    """Values to hide wherever they stand: what environment and .env texts hold under a secret's name; longest first."""
    pairs = list(environ.items())
    for text in dotenv:
        for line in text.splitlines():
            name, assigned, value = line.strip().removeprefix("export ").partition("=")
            if assigned and not name.startswith("#"):
                pairs.append((name.strip(), _unquoted(value.strip())))
    found = {value for name, value in pairs if _says_secret(name.upper()) and _worth_hiding(value)}
    return tuple(sorted(found, key=lambda value: (-len(value), value))[:MOST])


def _unquoted(value: str) -> str:
    closing = value.find(value[0], 1) if value[:1] in ("'", '"') else -1
    return value[1:closing] if closing > 0 else value.split(" #", 1)[0].rstrip()


def _says_secret(name: str) -> bool:
    parts = name.replace("-", "_").split("_")
    if parts[-1] == "URL":  # those that carry a password
        return parts[0] in _STORES
    return parts[-1] not in _ABOUT and any(part.startswith(_SECRET) or part.endswith(_ENDS) for part in parts)


def _worth_hiding(value: str) -> bool:
    if len(value) < 8 or len(set(value)) < 5 or value.isdigit() or value.lower() in _PLAIN:
        return False
    return value[0] not in "/~.$<" and value[1:3] not in (":\\", ":/")  # no paths, no references


def _probes(known: tuple[str, ...]) -> list[bytes]:
    """For each known value the longest piece of it that JSON writes as it is; kept for the next line."""
    if _probed[0] != known:
        pieces = [_encode(value).translate(_WRITTEN).split(b"\x00") for value in known if value]
        _probed[:] = [known, [max(found, key=len) for found in pieces]]
    probes: list[bytes] = _probed[1]
    return probes


_WRITTEN = bytes(byte if 32 <= byte < 127 and byte not in b'"\\/' else 0 for byte in range(256))
_probed: list[Any] = [(), []]


# --- the gate --------------------------------------------------------------------------------------------------------

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
_heads: dict[bytes, list[int | bytes]] = {}  # what stands after an A
_guarded: list[tuple[bytes, bytes, int]] = []
_end, _begin = itemgetter(slice(-3, None)), itemgetter(slice(3))  # with `map`, a third faster than a comprehension
_ends: frozenset[bytes] = frozenset()  # the keys of the dicts: asked faster
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
                for byte in [b"", *_BEFORE]:
                    _tails.setdefault(byte + folded[:2], []).append(row)
            elif start in _GUARDS:
                _guarded.append((_GUARDS[start], start, row))
            else:
                _heads.setdefault(start.split(b"A")[1][:3], []).append(row)
    for tail, command in _COMMANDS.items():
        _tails.setdefault(tail, []).append(command)
    for byte in [b"", *_BEFORE]:
        _tails.setdefault(byte + b"ey", []).append(b"eyJ")  # a JWT
    _ends, _begins = frozenset(_tails), frozenset(_heads)


def _leads(data: bytes) -> list[Lead]:
    """What to look for in these bytes. Nothing to look for: nothing to hide."""
    if b"\x1b" in data:
        data = _plain(data)[0]
    leads = _ask(data)
    return _ask(_masked(data)) if leads and MARK in data else leads


def _ask(data: bytes) -> list[Lead]:
    """One `in` costs 0.6 ns a byte, so there are few; rare single bytes, which cost 0.1, stand before what they can."""
    if not _ends:
        _index()
    leads: list[Lead] = []
    hints: list[int | bytes] = []
    for at in range(0, len(data), _WINDOW):  # nearly always once: the pieces of a huge line would fill the memory
        part = data[at and at - 4 : at + _WINDOW]
        pieces = part.translate(_SEPARATORS).split(b"_")
        if not _ends.isdisjoint(map(_end, pieces)):
            hints += [hint for end in _ends.intersection(map(_end, pieces)) for hint in _tails[end]]
        pieces = part.split(b"A")
        if not _begins.isdisjoint(map(_begin, pieces)):
            hints += [hint for begin in _begins.intersection(map(_begin, pieces)) for hint in _heads[begin]]
    for guard, start, row in _guarded:
        if guard in data and start in data:
            hints.append(row)
    command = b" -u " in data
    for hint in dict.fromkeys(hints):
        if isinstance(hint, int):
            if any(start in data for start in STARTS[hint][1]):
                leads.append(hint)
        elif hint in data:
            if hint == b"eyJ":
                leads.append("jwt")
            else:
                command = True
    if next(random_runs(data), None):
        leads.append("random")
    low = data.lower()
    for stem in STEMS:
        if stem in low:
            if stem == b"key" and b"private" in low:
                leads.append("pem")
            if "named" not in leads and _assigned(data, low, stem):
                leads.append("named")
    if b"<" in data and b"<private>" in low:
        leads.append("private")
    if b"@" in data and _has_userinfo(data):
        leads.append("uri")
    if b"IDENTIFIED" in data or (b"@" in data and b"identified" in low):
        leads.append("sql")
    if b"Bearer" in data or (b"auth" in low and any(word in low for word in _AUTH)):
        leads.append("auth")
    if b"cookie" in low:
        leads.append("cookie")
    if b"~" in data and b"Q~" in data:
        leads.append("azure")
    if b"$" in data and (b"pbkdf2_sha" in data or not _CRYPT.isdisjoint(data.split(b"$"))):
        leads.append("hash")
    if command and any(name in low for name, _ in COMMANDS):
        leads.append("command")
    if not data.isascii() and any(word[:1] in data and word in data for word in FOREIGN):
        leads.append("foreign")
    return leads


def _has_userinfo(data: bytes) -> bool:
    """Whether an @ follows a :// before the next slash."""
    at = data.find(b"://")
    while at >= 0:
        if b"@" in data[at + 3 : at + 400].split(b"/", 1)[0]:
            return True
        at = data.find(b"://", at + 3)
    return b":\\/\\/" in data  # slashes escaped, as some writers of JSON do


_AUTH = (b"authorization", b"_auth", b'auth"', b'auth\\"', b"auth:", b"auth=", b"oauth2-bearer")


def _assigned(data: bytes, low: bytes, stem: bytes) -> bool:
    size = len(stem)
    at = low.find(stem)
    while at >= 0:
        plural = low[at + size : at + size + 1] == b"s" and stem == b"token"  # `input_tokens` is in every line
        if not plural and named(data, low, at, stem)[0]:
            return True
        at = low.find(stem, at + size)
    return False


def _masked(data: bytes) -> bytes:
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


def _plain(data: bytes) -> tuple[bytes, bytes, list[tuple[int, int]]]:
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


# --- taking out ------------------------------------------------------------------------------------------------------


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _spans(data: bytes, leads: list[Lead], exact: Mapping[bytes, str]) -> list[Span]:
    """Where the secrets are: in order, apart from each other, on whole characters."""
    if not leads and not exact:
        return []
    view = _masked(data) if MARK in data else data
    spans: list[Span] = []
    if b"\x1b" in view:
        plain, view, origin = _plain(view)
        spans += [_back(span, origin) for span in find(plain, leads)]  # a token with a colour inside
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
    from bisect import bisect_right

    start, end = (
        at + origin[number][1] - origin[number][0]
        for at in (span[0], span[1] - 1)
        for number in [bisect_right(origin, at, key=lambda pair: pair[0]) - 1]
    )
    return start, end + 1, span[2]


def _scrub(strings: Iterable[String], salt: bytes, known: tuple[str, ...]) -> dict[String, str]:
    """The strings that change, and what becomes of them. What is found in one of them is hidden in all."""
    texts = {string: _encode(string[0]) for string in strings}
    leads = {string: _leads(data) for string, data in texts.items()}
    exact = {_encode(value): "known" for value in known if value}
    changed: dict[String, str] = {}
    for _ in range(PASSES):
        found: dict[bytes, str] = {}
        moved = False
        for string, data in texts.items():
            spans = _spans(data, leads[string], exact)
            if string[1] and MARK not in data and fits(string[1], "assign", True, data):
                spans = [(0, len(data), string[1])]
            if spans:
                moved = True
                found.update((data[start:end], label) for start, end, label in spans)
                texts[string] = data = _marked(data, spans, salt)
                leads[string] = _leads(data)  # anew: what was taken out no longer hides its neighbours
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
    from _blake2 import blake2b

    pieces, at = [], 0
    for start, end, label in spans:
        tag = ":" + blake2b(data[start:end], digest_size=2, key=salt[:64]).hexdigest() if label != "private" else ""
        pieces += [data[at:start], f"<REDACTED:{label}{tag}>".encode()]
        at = end
    return b"".join(pieces) + data[at:]


def _touched(strings: list[String], leads: list[Lead], known: tuple[str, ...]) -> bool:
    """Whether any of these strings will change: one look at all of them together."""
    if any(fits(kind, "assign", True, _encode(text)) for text, kind in strings if kind):
        return True
    joined = "\n".join([text for text, _ in strings])
    if any(value in joined for value in known if value):
        return True
    data = _encode(joined)
    return bool(_spans(data, leads or _leads(data), {}))


# --- JSON ------------------------------------------------------------------------------------------------------------


def _promised(key: str) -> str:
    """What a key says of its value; remembered, for transcripts repeat a few dozen keys in every line."""
    kind = _keys.get(key)
    if kind is None:
        if len(_keys) > 5000:
            _keys.clear()
        kind = _keys[key] = kind_of(_encode(key[:100]))
    return kind


_keys: dict[str, str] = {}
_LABELS, _CONTENTS = ("name", "key", "Name", "Key"), ("value", "Value")


def _pairs(items: list[tuple[str, Any]]) -> Iterator[tuple[str, Any, str]]:
    """An object's keys and values, and what the key, or a `name` beside a `value`, says the value is."""
    beside = ""
    for key, value in items:
        if key in _LABELS and isinstance(value, str):
            beside = beside or kind_of(_encode(value[:100]))
    for key, value in items:
        yield key, value, beside if beside and key in _CONTENTS else _promised(key)


def _strings(value: Any) -> list[String]:
    """Every string in a parsed value (objects as dicts or as lists of pairs), keys too."""
    found: list[String] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            found.append((item, ""))
        elif isinstance(item, dict) or (isinstance(item, list) and item and isinstance(item[0], tuple)):
            for key, inner, kind in _pairs(list(item.items()) if isinstance(item, dict) else item):
                found.append((key, ""))
                if isinstance(inner, str):
                    found.append((inner, kind))
                elif isinstance(inner, (dict, list)):
                    stack.append(inner)
        elif isinstance(item, list):
            stack += item
    return found


def _rebuild(value: Any, changes: Mapping[String, str]) -> Any:
    """The value with the changed strings in place; without recursion, for the nesting is the sender's choice."""
    top: list[Any] = [value]
    stack: list[tuple[Any, Any, Any, str]] = [(top, 0, value, "")] if changes else []
    while stack:
        holder, slot, item, kind = stack.pop()
        if isinstance(item, str):
            holder[slot] = changes.get((item, kind), item)
        elif isinstance(item, list):
            holder[slot] = items = list(item)
            stack += [(items, at, inner, "") for at, inner in enumerate(item)]
        elif isinstance(item, dict):
            holder[slot] = pairs = {}
            for key, inner, promised in _pairs(list(item.items())):
                name = changes.get((key, ""), key)
                pairs[name] = inner
                stack.append((pairs, name, inner, promised))
    return top[0]


_PATTERNS = {
    "literal": rb'"[^"\\]*(?:\\.[^"\\]*)*"',
    "unit": rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
    rb"|[\xc0-\xff][\x80-\xbf]*|.",
    "mark": rb"<REDACTED:[a-z0-9-]{2,23}(?::[0-9a-f]{4})?>",
}


def _pattern(name: str) -> Pattern[bytes]:
    import re

    return re.compile(_PATTERNS[name], re.DOTALL)


def _patch(line: bytes, changes: Mapping[String, str]) -> bytes:
    """The line with changed strings spliced into their own bytes."""
    import json

    news = {old: new for (old, _), new in changes.items()}

    def swap(match: Match[bytes]) -> bytes:
        new = news.get(json.loads(match[0].decode()))
        return match[0] if new is None else _splice(match[0], new)

    return _pattern("literal").sub(swap, line)


def _splice(literal: bytes, new: str) -> bytes:
    """A JSON string changed into another that differs by marks only; what stays keeps its bytes, escapes and all."""
    import json

    units = _pattern("unit").findall(literal[1:-1])
    old = "".join([json.loads(b'"%b"' % unit) if unit[:1] == b"\\" else unit.decode() for unit in units])
    data = _encode(new)
    kept = [piece.decode("utf-8", "surrogatepass") for piece in _pattern("mark").split(data)]
    marks = [b"", *_pattern("mark").findall(data)]
    pieces: list[bytes] = []
    at = 0
    for mark, piece in zip(marks, kept, strict=True):
        at = len(old) - len(piece) if at and len(pieces) // 2 == len(kept) - 1 else old.find(piece, at)
        pieces += [mark, b"".join(units[at : at + len(piece)])]
        at += len(piece)
    return b'"' + b"".join(pieces) + b'"'
