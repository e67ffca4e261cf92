"""Take secrets out of what we keep: a cheap gate on every line, and the patterns only where the gate opened.

The gate decides the speed, for nearly every line is clean. It is made of byte searches: a rare byte splits the line, and the
neighbours of each cut are looked up in a set, which asks for a hundred token prefixes in one pass; a handful of words (`passw`,
`secret`, `key`, ...) are asked for one by one. What opened says which patterns to run.
Everything is matched as UTF-8 bytes: one alphabet, no case folding surprises, and the same positions in every copy.
"""

from __future__ import annotations

from .redact_rules import ABOUT, COMMANDS, HARMLESS, OPENING, PLACEHOLDERS, RIDERS, RUNS, STARTS, STEMS, TRADE

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
_NAME = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
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
    escaped = b"\\u" in line  # then the bytes do not show what the strings say
    leads = [] if escaped else _leads(line)
    if not escaped and not leads and not any(probe in line for probe in _probes(known)):
        return line
    import json

    try:
        text = line.decode()
        strings = _strings(json.loads(text, object_pairs_hook=list))  # pairs: a repeated key hides nothing
        changes = _scrub(strings, salt, known) if _touched(strings, leads, known) else {}
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

_SEPARATORS = bytes.maketrans(b"-.J", b"___")
_RUNS = bytes(97 if byte < 128 and chr(byte).isalnum() else 32 for byte in range(256))
_BEFORE = [bytes([byte]) for byte in b"\"' =:(,[{`>/@|;+\n\tnrt"]  # what may stand before a short start; n, r, t: of \n, \r, \t
_CRYPT = frozenset(b"1 5 6 7 8 9 y 2a 2b 2x 2y P H S apr1 argon2id argon2i argon2d scrypt krb5tgs krb5asrep krb5pa".split())
_FOREIGN = tuple(word.encode() for word in ("비밀번호", "암호", "패스워드", "비번", "パスワード", "密码", "密碼", "口令", "пароль", "contraseña"))
_tails: dict[bytes, list[Lead]] = {}  # what stands before a separator, and the rows of STARTS that may mean
_heads: dict[bytes, list[Lead]] = {}  # what stands after a capital A
_ends: frozenset[bytes] = frozenset()  # the keys of both: asked far faster than a dict
_begins: frozenset[bytes] = frozenset()
_odd: list[tuple[bytes, bytes, int]] = []  # starts with neither: a byte that must be there, the start, the row


def _index() -> None:
    """Fill the gate's tables from STARTS, once."""
    global _ends, _begins
    guards = {b"sig=": b"&", b"00D": b"!", b"sha256~": b"~", b"$ANSIBLE_VAULT;": b"$"}
    for row, (_, starts, _) in enumerate(STARTS):
        for start in starts:
            folded = start.translate(_SEPARATORS)
            at = folded.find(b"_", 2)
            if at > 2:
                _tails.setdefault(folded[at - 3 : at], []).append(row)
            elif at == 2:
                for byte in [*_BEFORE, b""]:
                    _tails.setdefault(byte + folded[:2], []).append(row)
            elif b"A" in start and start not in guards:
                _heads.setdefault(start.split(b"A")[1][:3], []).append(row)
            else:
                _odd.append((guards[start], start, row))
    _tails.setdefault(b"dis", []).append("command")  # redis-cli
    _tails.setdefault(b"tTo", []).append("command")  # ConvertTo-SecureString
    _ends, _begins = frozenset(_tails), frozenset(_heads)


def _leads(data: bytes) -> list[Lead]:
    """What to look for in these bytes, asked with byte searches only; nothing to look for means nothing to hide."""
    if b"\x1b" in data:
        data = _plain(data)[0]
    leads = _hints(data)
    return _hints(_masked(data)) if leads and MARK in data else leads


def _hints(data: bytes) -> list[Lead]:
    if not _ends:
        _index()
    rows: list[Lead] = []
    ends = [piece[-3:] for piece in data.translate(_SEPARATORS).split(b"_")]
    if not _ends.isdisjoint(ends):
        rows += [row for end in _ends.intersection(ends) for row in _tails[end]]
    begins = [piece[:3] for piece in data.split(b"A")]
    if not _begins.isdisjoint(begins):
        rows += [row for begin in _begins.intersection(begins) for row in _heads[begin]]
    for guard, start, row in _odd:
        if guard in data and start in data:
            rows.append(row)
    leads: list[Lead] = []
    for row in dict.fromkeys(rows):
        if any(start in data for start in STARTS[row][1]) if isinstance(row, int) else row not in leads:
            leads.append(row)
    if b"J" in data and b"eyJ" in data:
        leads.append("jwt")
    if any(_random_run(data, start, end) for start, end in _runs(data)):
        leads.append("random")
    low = data.lower()
    if b"key" in low:
        if b"private" in low:
            leads.append("pem")
        if _assigned(data, low, b"key"):
            leads.append("named")
    if "named" not in leads and (
        b"pass" in low and _assigned(data, low, b"pass")
        or b"secret" in low and _assigned(data, low, b"secret")
        or b"token" in low and _assigned(data, low, b"token")
        or b"pw" in low and _assigned(data, low, b"pw")
    ):
        leads.append("named")
    if b"<" in data and b"<private>" in low:
        leads.append("private")
    if b"identified" in low or b"@" in data and (b"://" in data or b":\\/\\/" in data):
        leads.append("uri")
    if b"auth" in low and (b"authorization" in low or b"_auth" in low or b'auth"' in low or b'auth\\"' in low) or b"bearer" in low:
        leads.append("auth")
    if b"cookie" in low:
        leads.append("cookie")
    if b"~" in data and b"Q~" in data:
        leads.append("azure")
    if b"$" in data and (b"pbkdf2_sha" in data or not _CRYPT.isdisjoint(data.split(b"$"))):
        leads.append("hash")
    if (b" -p" in low or b" -u" in low or "command" in leads) and any(name in low for name, _ in COMMANDS):
        leads.append("command")
    if not data.isascii() and any(word in data for word in _FOREIGN):
        leads.append("foreign")
    return leads


def _runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Where 28 or more letters and digits stand together: longer than any id of the host's."""
    folded = data.translate(_RUNS)
    start = folded.find(_LONG)
    while start >= 0:
        end = folded.find(b" ", start + 28)
        end = end if end >= 0 else len(data)
        yield start, end
        start = folded.find(_LONG, end)


def _random_run(data: bytes, start: int, end: int) -> bool:
    """Whether a long run is the body of a token: a separator before it and a mixed body, or a start we know."""
    head = data[start : start + 28]
    if head.startswith(_RUN_STARTS) or data[end : end + 3] == b"-us" or data[end : end + 1] == data[end + 9 : end + 10] == b"-":
        return True
    if end - start > 75 and b"JQQJ9" in data[start:end]:
        return True
    if data[start - 1 : start] not in (b"_", b"-", b".", b"|"):
        return False
    return not (head.isalpha() or head.islower() or head.isupper() or head.isdigit()) or data[start - 18 : start - 15] == b"pat"


_LONG = b"a" * 28
_RUN_STARTS = tuple(start for _, starts, _ in RUNS for start in starts if start)


def _assigned(data: bytes, low: bytes, stem: bytes) -> bool:
    """Whether a name with this stem, one that says it holds a secret, has something like an assignment after it."""
    at = low.find(stem)
    while at >= 0:
        if _named(data, low, at, stem)[0]:
            return True
        at = low.find(stem, at + 2)
    return False


def _named(data: bytes, low: bytes, at: int, stem: bytes) -> tuple[str, int, int]:
    """What the name around this stem promises, and where it starts and ends; nothing without an assignment."""
    after = low[at + len(stem) : at + len(stem) + 60]
    if after[:1] == b"s" and stem == b"token":  # `input_tokens` is in every line
        return "", at, at
    gap = after.lstrip(_NAME)
    sign = gap.lstrip(b"\"'`\\])* \t")
    closed = gap[:1] in _QUOTES
    first = sign[:1]
    if not (
        first in (b"=", b":")
        or first == b"," and closed
        or first in (b">", b"|", b"?", b"<")
        or first == b"(" and stem[:1] == b"p"
        or sign[:3] in _PARTICLES
        or b"value" in gap[:30]
        or stem == b"pass" and (b" as " in low[max(0, at - 10) : at] or b" is " in low[max(0, at - 10) : at])
        or gap[:1] in (b" ", b"\t") and (sign[:3] in _VERBS or gap[1:2] in _QUOTES or data[at - 1 : at] in (b"-", b"/", b"_") or stem == b"pass")
        or closed and gap[1:2] == b" "
    ):
        return "", at, at
    start = at - len(data[max(0, at - 48) : at]) + len(data[max(0, at - 48) : at].rstrip(_NAME + b"."))
    if data[start - 1 : start] == b"\\" and data[start : start + 1] in (b"n", b"r", b"t"):
        start += 1  # of an escape, not of the name
    end = at + len(stem) + len(after) - len(gap)
    kind = _kind(data[start:end])
    if low[start:end] == b"pass" and (first not in (b"=", b":") or data[start:end] == b"PASS"):
        return "", at, at  # a verb, or a test that did
    if not kind and data[start - 1 : start] == b" ":  # `api key`, `client secret`
        kind = _kind(data[max(0, start - 16) : start - 1].rpartition(b" ")[2] + b"_" + data[start:end])
    return kind, start, end


_QUOTES = frozenset((b'"', b"'", b"`", b"\\"))
_PARTICLES = frozenset(word.encode() for word in "는은가이를을は是为為")
_VERBS = frozenset((b"is ", b"was", b"are", b"to ", b"as ", b"for", b"of ", b"on ", b"in ", b"at "))


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


# The finders: each yields the spans of one kind of secret


def _regex(pattern: bytes, flags: int = 0) -> Pattern[bytes]:
    """Compiled on first need: most processes meet few kinds of secrets."""
    found = _compiled.get(pattern)
    if found is None:
        import re

        found = _compiled[pattern] = re.compile(pattern, flags)
    return found


def _each(data: bytes, literal: bytes) -> Iterator[int]:
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + 1)


def _fresh(data: bytes, at: int) -> bool:
    """Whether a token may begin here: no word before it, unless that is the end of an escape."""
    if at == 0 or data[at - 1] not in _WORD:
        return True
    return data[at - 2 : at] in (b"\\n", b"\\r", b"\\t") or data[at - 3 : at - 2] == b"%" or data[at - 6 : at - 4] == b"\\u"


def _find_start(data: bytes, row: tuple[str, tuple[bytes, ...], bytes]) -> Iterator[Span]:
    label, starts, body = row
    pattern = _regex(body)
    for start in starts:
        for at in _each(data, start):
            match = pattern.match(data, at + len(start))
            if match is None:
                continue
            begin = at
            if start[0] not in _WORD:  # the token reaches back over the start: `123456789:AA...`
                left = data[max(0, at - 80) : at]
                begin -= len(left) - len(left.rstrip(_NAME))
            elif start.endswith(b"=") or body.startswith(b"/"):
                begin += len(start)  # a parameter's name or a host says nothing
            elif not _fresh(data, at):
                continue
            if _alive(data[begin : match.end()], label):
                yield begin, match.end(), label


def _alive(token: bytes, label: str) -> bool:
    """Whether a token of a known shape is one, not the picture of one in a manual."""
    low = token.lower()
    if len(set(token)) < 8 or any(word in low for word in (b"xxxx", b"example", b"your", b"redact", b"****")):
        return False
    return label in ("aws", "private-key") or _mess(token) > 2


_CLASSES = bytes(
    48 if 48 <= byte < 58 else 65 if 65 <= byte < 91 else 97 if 97 <= byte < 123 else 120 for byte in range(256)
)


def _mess(value: bytes) -> int:
    """How often the kind of character changes, capitals of words aside: words score low, random text high."""
    shape = value.translate(_CLASSES, b"-_./: ")
    return sum(shape.count(pair) for pair in (b"a0", b"0a", b"A0", b"0A", b"aA", b"ax", b"xa", b"Ax", b"xA", b"0x", b"x0"))


def _find_jwt(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(rb"eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*){1,3}")
    for at in _each(data, b"eyJ"):
        match = _fresh(data, at) and pattern.match(data, at)
        if match:
            yield at, match.end(), "jwt"


def _find_random(data: bytes, low: bytes) -> Iterator[Span]:
    """Long random runs: of issuers without a separator, or behind a prefix nobody told us of (a short word or three)."""
    rows = [(label, starts, _regex(body)) for label, starts, body in RUNS]
    prefix = _regex(rb"(?<![0-9A-Za-z_./+-])" + _PREFIX + rb"(?:[_-](?:" + _PREFIX + rb"|\d{1,4})){0,3}[_-]$")
    dotted = _regex(rb"(?<![0-9A-Za-z_./+=-])(?:pat[0-9A-Za-z]{14}\.|[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.|\d{12,18}\|)$")
    for start, end in _runs(data):
        if not _random_run(data, start, end):
            continue
        if _fresh(data, start):
            for label, starts, body in rows:
                known = next((known for known in starts if data.startswith(known, start)), None)
                match = None if known is None else body.match(data, start + len(known))
                if match and _alive(data[start : match.end()], label):
                    yield start, match.end(), label
        if _mess(data[start:end]) * 5 > end - start:
            left = prefix.search(data, max(0, start - 60), start)
            if left and data[end : end + 1] not in (b"+", b"/", b"=") and not low[left.start() : start].startswith(_IDS):
                if _alive(data[start:end], "") and not low[max(0, left.start() - 6) : left.start()].rstrip(b"\"'`\\=: ").endswith(b"id"):
                    yield left.start(), end, "token"
            left = dotted.search(data, max(0, start - 40), start)
            if left:
                yield left.start(), end, "token"


_PREFIX = rb"(?:[a-z]{2,12}|[A-Z]{2,12})\d{0,2}"
_IDS = (b"toolu_", b"msg_", b"req_", b"call_", b"chatcmpl", b"sha", b"md5", b"srvtoolu", b"resp_", b"run_", b"file", b"img", b"chunk", b"index", b"h1-")


def _find_pem(data: bytes, low: bytes) -> Iterator[Span]:
    head = _regex(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
    body = _regex(rb"[0-9A-Za-z+/]{20}")
    end = 0
    for match in head.finditer(data):
        if match.start() < end:
            continue
        end = data.find(b"-----END", match.end(), match.end() + 40000)
        if end >= 0:
            closing = data.find(b"-----", end + 8, end + 80)
            end = closing + 5 if closing > 0 else end + 8
        else:  # cut off: as far as it looks like base64, line numbers and escapes
            rest = _regex(rb"(?:[0-9A-Za-z+/=\s\\\"',:|>.-]|\xe2\x86\x92){0,40000}").match(data, match.end())
            end = rest.end() if rest else match.end()
        if body.search(data, match.end(), end):
            yield match.start(), end, "private-key"
    for match in _regex(rb"Private-Lines: \d{1,3}\s{1,4}((?:[0-9A-Za-z+/=]{1,80}\r?\n){1,80})").finditer(data):
        yield match.start(1), match.end(1), "private-key"


def _find_private(data: bytes, low: bytes) -> Iterator[Span]:
    """What the user put between <private> and </private>; a tag left open hides the rest."""
    at = low.find(b"<private>")
    while at >= 0:
        end = low.find(b"</private>", at)
        end = end + len(b"</private>") if end >= 0 else len(data)
        yield at, end, "private"
        at = low.find(b"<private>", end)


def _find_uri(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(rb"://([^\s/?#@:\"'`<>\\\x00]{0,120})(:([^\s/\"'`<>\\\x00]{1,256}))?@(?=[0-9A-Za-z\[._$%{-])")
    for at in _each(data, b"://"):
        match = pattern.match(data, at)
        if not match:
            continue
        if match[2]:
            if _secret_in_uri(match[3]):
                yield match.start(3), match.end(3), "uri-password"
        if len(match[1]) >= 20 and _strong(match[1]):
            yield match.start(1), match.end(1), "uri-token"
    for match in _regex(rb"(?i)identified (?:with [0-9a-z_'\"]{1,40} )?(?:by|as) (?:password )?(?:'([^'\r\n]{4,100})'|\"([^\"\r\n]{4,100})\"|([0-9A-Za-z_@#!$]{6,100}))").finditer(data):
        group = match.lastindex or 1
        if _password(match[group], group < 3):
            yield match.start(group), match.end(group), "password"


def _secret_in_uri(value: bytes) -> bool:
    low = value.lower()
    if len(value) < 3 or b"\x00" in value or value[:1] in (b"$", b"{", b"<", b"%", b"*", b"[") and not value[:1] == b"%" or len(set(value)) < 3:
        return False
    return low not in TRADE and not any(word in low for word in (b"${", b"{{", b"xxx", b"pass", b"your", b"example", b"redact", b"secret", b"****", b"token"))


def _find_auth(data: bytes, low: bytes) -> Iterator[Span]:
    header = _regex(
        rb"(?i)authorization(?:\\{0,7}[\"'`])?\]?\s{0,4}[:=,]\s{0,4}(?:[bfru]?\\{0,7}[\"'`])?\s?(?:([A-Za-z][0-9A-Za-z_-]{1,20})\s{1,3})?([0-9A-Za-z._~+/=:|!-]{6,4000})"
    )
    for at in _each(low, b"authorization"):
        match = header.match(data, at)
        if match and not data[at - 1 : at].isalnum() and _credential(match[1] or b"", match[2]):
            yield match.start(2), match.end(2), "authorization"
    bearer = _regex(rb"(?i)bearer(?:\s|%20|\+){1,3}[\"']?([0-9A-Za-z._~+/=:|!-]{8,4000})")
    for at in _each(low, b"bearer"):
        match = bearer.match(data, at)
        if match and _credential(b"bearer", match[1]):
            yield match.start(1), match.end(1), "bearer"
    for match in _regex(rb"(?i)(?<![0-9A-Za-z])_?auth(?:entication|orization)?(?:\\{0,7}[\"'])?\s{0,3}[:=]\s{0,3}(?:\\{0,7}[\"'])?([0-9A-Za-z+/]{12,400}={0,2})(?![0-9A-Za-z+/=._(\[-])").finditer(data):
        if _basic(match[1]) or _strong(match[1]):
            yield match.start(1), match.end(1), "authorization"


def _credential(scheme: bytes, value: bytes) -> bool:
    if scheme.lower() == b"basic":
        return _basic(value)
    if _worded(value) or _placeholder(value) or _looks_coded(value):
        return False
    return _strong(value) or bool(scheme) and len(value) >= 12 and _mess(value) > 2


def _basic(value: bytes) -> bool:
    """Whether this is base64 of user:password."""
    import binascii

    try:
        plain = binascii.a2b_base64(value + b"=" * (-len(value) % 4))
    except ValueError:
        return False
    return b":" in plain[1:] and len(plain) > 5 and plain.isascii() and plain.decode("ascii").isprintable()


def _find_cookie(data: bytes, low: bytes) -> Iterator[Span]:
    header = _regex(rb"(?i)cookies?(?:\\{0,7}[\"'`])?\]?\s{0,3}[:=]\s{0,3}(?:\\{0,7}[\"'`])?((?:[!#-:<-\[\]-~]{1,4000}(?:; ?|$)){1,60}|[!#-:<-\[\]-~]{1,4000})")
    pair = _regex(rb"([0-9A-Za-z_.%-]{1,80})=([^;\s\"'\\,\x00]{8,4000})")
    for at in _each(low, b"cookie"):
        match = header.match(data, at)
        if match:
            for one in pair.finditer(data, match.start(1), match.end(1)):
                if one[1].lower() not in (b"path", b"domain", b"expires", b"max-age", b"samesite") and not _placeholder(one[2]) and _mess(one[2]) > 2:
                    yield one.start(2), one.end(2), "cookie"


def _find_azure(data: bytes, low: bytes) -> Iterator[Span]:
    for match in _regex(rb"(?<![0-9A-Za-z_~.-])[0-9A-Za-z_~.]{3}\dQ~[0-9A-Za-z_~.-]{31,34}(?![0-9A-Za-z_~-])").finditer(data):
        yield match.start(), match.end(), "azure"


def _find_hash(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(
        rb"\$(?:2[abxy]\$\d\d\$[./0-9A-Za-z]{53}|(?:1|apr1)\$[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{22}|[56]\$(?:rounds=\d{1,9}\$)?[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{43,86}"
        rb"|y\$[./0-9A-Za-z]{1,20}\$[./0-9A-Za-z]{0,86}\$[./0-9A-Za-z]{43}|[PHS]\$[./0-9A-Za-z]{31,52}|[89]\$[./0-9A-Za-z]{14}\$[./0-9A-Za-z]{43}"
        rb"|argon2(?:id|i|d)\$(?:v=\d{1,3}\$)?[a-z0-9=,]{5,40}\$[0-9A-Za-z+/]{8,80}\$[0-9A-Za-z+/]{16,120}|scrypt\$[0-9a-z=,]{5,40}\$[0-9A-Za-z+/.]{8,100}\$[0-9A-Za-z+/.=]{16,120}"
        rb"|krb5(?:tgs|asrep|pa)\$\d{1,3}\$[0-9A-Za-z*$@.:/_-]{16,4000})|pbkdf2_sha\d{1,3}\$\d{1,8}\$[0-9A-Za-z+/]{4,40}\$[0-9A-Za-z+/=]{20,100}"
    )
    for match in pattern.finditer(data):
        yield match.start(), match.end(), "password-hash"


def _find_command(data: bytes, low: bytes) -> Iterator[Span]:
    for name, usage in COMMANDS:
        pattern = _regex(usage)
        for at in _each(low, name):
            match = pattern.match(data, at + len(name))
            if match and not _placeholder(match[1]) and match[1][:1] not in b"$<{*%":
                yield match.start(1), match.end(1), "password"


def _find_foreign(data: bytes, low: bytes) -> Iterator[Span]:
    """`비밀번호는 ...`: the word for password in other tongues, a particle or a colon, and a value."""
    pattern = _regex(
        rb"(?:\xeb\x8a\x94|\xec\x9d\x80|\xea\xb0\x80|\xec\x9d\xb4|\xeb\xa5\xbc|\xec\x9d\x84|\xe3\x81\xaf|\xe6\x98\xaf|\xe4\xb8\xba|\xe7\x82\xba)?"
        rb"[ \t]{0,3}(?:[:=(]|\xef\xbc\x9a|->|=>)?[ \t]{0,4}[\"'`]?([!-~]{6,100})"
    )
    for word in _FOREIGN:
        for at in _each(data, word):
            match = pattern.match(data, at + len(word))
            if match:
                value = match[1].rstrip(b"\"'`.,;:)]}>")
                if _password(value, False):
                    yield match.start(1), match.start(1) + len(value), "password"


_VALUE = (
    rb"(?:[bBrRuUfFNL@$]{0,2}\\{0,7}(?:\"(?P<d>(?:[^\"\\\r\n\x00]|\\[^\"\\nrtu]){1,400})|'(?P<s>(?:[^'\\\r\n\x00]|\\[^'\\nrtu]){1,400})|`(?P<b>[^`\\\r\n\x00]{1,400}))"
    rb"|(?P<u>(?:[^\s\"'`,;<>(){}\[\]|\\&\x00\x80-\xff]|&(?![0-9A-Za-z_.%-]{1,40}=)){3,400}))"
)
_QUOTED = rb"\\{0,7}(?:\"(?P<d>[^\"\\\r\n\x00]{1,400})\"?|'(?P<s>[^'\\\r\n\x00]{1,400})'?)"
# What may stand between a secret's name and its value: the name of the form, the pattern.
_FORMS: tuple[tuple[str, bytes], ...] = (
    ("assign", rb"(?:\\{0,7}[\"'`])?[\])]?[ \t]{0,20}(?:\*\*|string |str |String )?(?:(?::|[ \t])[ \t]{0,4}[A-Za-z_][0-9A-Za-z_.\[\]|<>?]{0,40}[ \t]{0,4}=|[!=:?|+]?={1,3}>?|:|->|\|\||\?\?)(?:\*\*)?[ \t]{0,20}" + _VALUE),
    ("particle", rb"(?:\xeb\x8a\x94|\xec\x9d\x80|\xea\xb0\x80|\xec\x9d\xb4|\xeb\xa5\xbc|\xec\x9d\x84|\xe3\x81\xaf|\xe6\x98\xaf|\xe4\xb8\xba|\xe7\x82\xba)[ \t]{0,4}" + _VALUE),
    ("prose", rb"(?:\\{0,7}[\"'`*]{1,3})?[ \t]{1,4}(?:(?:for|of|to|on|in|at)[ \t][0-9A-Za-z@._ -]{1,40}?[ \t])?(?:is|was|to|as|are)(?:[ \t]{1,3}(?:now|currently|still|set to|just|simply|actually))?[ \t]?:?[ \t]{1,4}" + _VALUE),
    ("colon", rb"[ \t](?:for|of|to|on|in|at)[ \t][0-9A-Za-z@._ -]{1,40}?[ \t]?:[ \t]{1,4}" + _VALUE),
    ("paren", rb"[ \t]?\(" + _VALUE + rb"[\"']?\)"),
    ("markup", rb"(?:\"?[ \t][^<>\r\n]{0,80})?>[ \t]{0,4}(?P<u>[^<>\r\n\x00]{4,300})</"),
    ("plist", rb"</key>(?:\s|\\n){0,40}<string>(?P<u>[^<>\r\n\x00]{4,300})</"),
    ("attribute", rb"\\{0,7}[\"'][ \t]{1,8}(?:value|content|default)[ \t]?=[ \t]?" + _QUOTED),
    ("entry", rb"\\{0,7}[\"']?,?(?:\s|\\n){1,40}\\{0,7}[\"']?[vV]alue\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}" + _VALUE),
    ("pair", rb"\\{0,7}[\"'](?:\]|\))?[ \t]{0,4}(?:,|=>)(?:\s|\\n){0,20}" + _QUOTED),
    ("space", rb"(?:\\{0,7}[\"'])?[ \t]{1,4}" + _VALUE),
    ("below", rb"[^:\r\n\x00]{0,80}:(?:\s|\\n){1,20}(?P<u>[0-9A-Za-z]{24,64})(?![^\s\\])"),
    ("cell", rb"[ \t*`]{0,20}\|[ \t`]{0,20}(?P<u>[^\s|`\x00]{6,200})[ \t`]{0,20}\|"),
)


def _find_named(data: bytes, low: bytes) -> Iterator[Span]:
    """Values of names that say they are secret: `DB_PASSWORD=...`, `"apiKey": "..."`, `the password is ...`."""
    for stem in STEMS:
        for at in _each(low, stem):
            kind, start, end = _named(data, low, at, stem)
            if not kind:
                continue
            for form, pattern in _FORMS:
                match = _regex(pattern).match(data, end)
                if match:
                    group = match.lastgroup or "u"
                    value = match[group]
                    if group == "u":
                        value = value.rstrip(b".:?!*") if form in ("prose", "colon", "space") else value.rstrip(b":*")
                    stop = match.start(group) + len(value)
                    code = group == "u" and data[stop : stop + 1] in (b"(", b"[", b"{")
                    if data[start - 1 : start] == b":" and data[end : end + 1] == b":" and group == "u":
                        code = True  # a path of names: arn:...:secret:name
                    if not code and _fits(kind, form, group != "u", value, data[start:end]):
                        yield match.start(group), stop, kind
                    break
            if kind == "password":
                match = _regex(rb"([^\s\"'`\x00]{6,60})[\"'`]?[ \t]{1,3}(?:as|is)[ \t]{1,3}(?:(?:the|my|your|our|its|a)[ \t]{1,3})?$").search(data, max(0, start - 90), start)
                if match and _passwordish(match[1]):
                    yield match.start(1), match.end(1), kind


def _kind(name: bytes) -> str:
    """What a name says its value is: password, secret, token, key (weakly), or nothing secret."""
    kind = _kinds.get(name)
    if kind is None:
        if len(_kinds) > 5000:
            _kinds.clear()
        kind = _kinds[name] = _read_name(name)
    return kind


def _read_name(name: bytes) -> str:
    words = _words(name.decode("ascii", "replace"))
    while words and words[-1].isdigit():
        words.pop()
    joined = "".join(words)
    stems = [at for at, word in enumerate(words) if word.startswith(("pass", "secret", "token", "key", "pwd"))]
    if not words or "public" in words or not ABOUT.isdisjoint(words[stems[0] + 1 :] if stems else words[-1:]):
        return ""
    if not _PASSWORDS.isdisjoint(words) or words[-1] in ("pass", "pwd", "pw") or joined.endswith(("password", "passwd", "pwd", "passphrase")):
        return "password"
    if joined.endswith(_PASS):
        return "password"
    if "secret" in words or joined.endswith("secret") or "secretkey" in joined:
        return "secret"
    before = words[words.index("key") - 1] if "key" in words[1:] else ""
    if before in OPENING or joined.endswith(_KEYS):
        return "secret"
    if "token" in words or joined.endswith("token"):
        at = words.index("token") if "token" in words else 0
        return "" if at and words[at - 1] in HARMLESS else "token"
    if words[-1] in ("credential", "credentials", "auth", "jwt", "psk"):
        return "token"
    return "key" if before and before not in HARMLESS and words[-1] == "key" else ""


_PASSWORDS = frozenset(("password", "passwd", "passwort", "passphrase", "passcode"))
_PASS = tuple(user + "pass" for user in ("user", "db", "root", "admin", "mysql", "ssh", "require", "key", "store", "ldap", "ftp", "smtp", "mail", "proxy", "my"))
_KEYS = ("apikey", "accesskey", "privatekey", "authkey", "accountkey", "masterkey", "sharedkey", "signingkey", "encryptionkey")


def _words(name: str) -> list[str]:
    """`dbPassword2` and `DB_PASSWORD_2` both as db, password, 2."""
    words = [""]
    kind = ""
    for char in name:
        now = "0" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else ""
        if now != kind and not (kind == "A" and now == "a"):
            words.append("")
        elif kind == "A" and now == "a" and len(words[-1]) > 1:  # the last capital begins the next word
            words[-1], char = words[-1][:-1], words[-1][-1] + char
            words.append("")
        words[-1] += char.lower() if now else ""
        kind = now
    return [word for word in words if word]


def _fits(kind: str, form: str, quoted: bool, value: bytes, name: bytes = b"") -> bool:
    """Whether a value can be the secret its name promises."""
    if kind == "password":
        if form in ("pair", "cell") or form == "paren" and not quoted or form == "space" and name[:1] != b"-" and not (quoted and b"pass" != name[-4:].lower()):
            return _passwordish(value)
        return _password(value, quoted) or form == "assign" and _plain_password(value, quoted, name)
    if kind == "key":
        return form in ("assign", "entry", "attribute", "markup") and _random(value, kind)
    if form in ("prose", "colon", "cell", "pair", "below", "paren", "particle") or form == "space" and name[:1] != b"-":
        return _strong(value) and not _placeholder(value) and (form != "space" or b"_" in name)
    return _random(value, kind)


def _placeholder(value: bytes) -> bool:
    low = value.lower()
    return any(word in low for word in PLACEHOLDERS) or low in TRADE or len(set(low)) < 5


def _password(value: bytes, quoted: bool) -> bool:
    if not 6 <= len(value) <= 200 or b" " in value or not value.isascii() or _placeholder(value) or _looks_coded(value):
        return False
    if value[:1] in b"$<{%[*(|/~." or value[:2] in (b"--", b"->", b"!=") or _regex(rb"\d{4}-\d\d-\d\d").match(value):
        return False
    letters = any(65 <= byte < 91 or 97 <= byte < 123 for byte in value)
    digits = sum(48 <= byte < 58 for byte in value)
    marks = sum(byte in b"!@#$%^&*+?~=;,\\|:" for byte in value)
    if quoted:
        return letters and bool(digits or marks) or digits >= 8
    return letters and digits > 0 and (marks > 0 or _mess(value) > 1)


def _plain_password(value: bytes, quoted: bool, name: bytes) -> bool:
    """Letters only: where a string is assigned, or in the manner of an environment file."""
    if not (value.isalpha() and 8 <= len(value) <= 40) or _placeholder(value) or value.istitle():
        return False
    return quoted and bool(name) or name.isupper()


def _passwordish(value: bytes) -> bool:
    """A password even where little says so: three kinds of characters, well mixed."""
    kinds = [value.lower() != value, value.upper() != value, any(48 <= byte < 58 for byte in value), not value.replace(b"_", b"").replace(b"-", b"").isalnum()]
    return len(value) >= 8 and sum(kinds) >= 3 and _mess(value) > 1 and not _worded(value) and _password(value, False)


def _looks_coded(value: bytes) -> bool:
    """Paths, members, calls, types: code rather than a value."""
    return bool(
        _regex(
            rb"^(?:[A-Za-z_][0-9A-Za-z_]*(?:(?:\.|::|->|\[)[A-Za-z_][0-9A-Za-z_]*)+|[./~][/.].*|.*\(.*|[A-Za-z]:\\.*|[a-z-]+/[a-z-]+(?:/.*)?|[a-z]+://.*|arn:.*)$"
        ).match(value)
    )


def _worded(value: bytes) -> bool:
    """Mostly words, as names in code are, whatever digits they have."""
    words = _regex(rb"[A-Z]?[a-z]{3,}").findall(value)
    return value.lower() != value and sum(map(len, words)) * 2 > len(value)


def _random(value: bytes, kind: str) -> bool:
    """Whether a value looks drawn at random, as tokens and keys are."""
    if not 8 <= len(value) <= 4000 or b" " in value or not value.isascii() or value[:1] in b"$<{%[*(|~.":
        return False
    if _strong(value) and kind != "key":
        return not any(word in value.lower() for word in (b"xxxx", b"example", b"your", b"redact", b"${", b"{{", b"\x00", b"://", b"..."))
    if _placeholder(value) or _looks_coded(value) or _worded(value):
        return False
    mess = _mess(value)
    if kind == "key":
        return len(value) >= 20 and mess * 4 > len(value) and (len(value) == 32 or not _regex(rb"^[0-9a-fA-F-]+$").match(value))
    if value.isalpha() and value.islower():
        return len(value) >= 16 and bool(_regex(rb"[b-df-hj-np-tv-z]{5}").search(value))
    return len(value) >= (8 if kind == "secret" else 12) and mess >= 3 and mess * 5 >= len(value)


def _strong(value: bytes) -> bool:
    """Random beyond doubt."""
    return len(value) >= 16 and _mess(value) * 5 >= len(value) and len(set(value)) >= 8 and not _looks_coded(value) and not _worded(value)


FINDERS: dict[str, Callable[[bytes, bytes], Iterator[Span]]] = {
    "jwt": _find_jwt,
    "random": _find_random,
    "pem": _find_pem,
    "private": _find_private,
    "uri": _find_uri,
    "auth": _find_auth,
    "cookie": _find_cookie,
    "azure": _find_azure,
    "hash": _find_hash,
    "named": _find_named,
    "command": _find_command,
    "foreign": _find_foreign,
}


def _find(data: bytes, leads: list[Lead]) -> Iterator[Span]:
    low = data.lower()
    for lead in leads:
        if isinstance(lead, int):
            yield from _find_start(data, STARTS[lead])
        else:
            yield from FINDERS[lead](data, low)
    if "named" in leads:
        for row in RIDERS:
            yield from _find_start(data, row)


# Putting it together


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _spans(data: bytes, leads: list[Lead], exact: Mapping[bytes, str]) -> list[Span]:
    """Where the secrets are: in order, apart from each other, and on whole characters."""
    view = _masked(data) if MARK in data else data
    spans = []
    if b"\x1b" in view:
        plain, view, origin = _plain(view)
        spans = [_mapped(span, origin) for span in _find(plain, leads)]
    spans += _find(view, leads)
    for value, label in exact.items():
        at = view.find(value)
        while at >= 0:
            spans.append((at, at + len(value), label))
            at = view.find(value, at + len(value))
    spans.sort(key=lambda span: span[0])
    merged: list[Span] = []
    for start, end, label in spans:
        while start > 0 and data[start] & 0xC0 == 0x80:
            start -= 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        if merged and start < merged[-1][1]:
            last = merged.pop()
            start, end, label = last[0], max(last[1], end), last[2]
        merged.append((start, end, label))
    return merged


def _mapped(span: Span, origin: list[tuple[int, int]]) -> Span:
    from bisect import bisect_right

    places = []
    for at in (span[0], span[1] - 1):
        plain, data = origin[bisect_right(origin, at, key=lambda pair: pair[0]) - 1]
        places.append(at - plain + data)
    return places[0], places[1] + 1, span[2]


def _scrub(strings: list[tuple[str, str]], salt: bytes, known: tuple[str, ...]) -> dict[tuple[str, str], str]:
    """The strings that change, and what becomes of them. What is found in one is hidden in all of them."""
    texts = {string: _encode(string[0]) for string in strings}
    exact = {_encode(value): "known" for value in known if value}
    leads = _leads(b"\n".join(texts.values()))
    changed = set()
    for _ in range(PASSES):
        fresh: dict[bytes, str] = {}
        moved = False
        for string, data in texts.items():
            kind = string[1]
            spans = _spans(data, leads, exact)
            if kind and not (MARK in data) and _fits(kind, "assign", True, data):
                spans = [(0, len(data), kind)]
            if spans:
                pieces, at = [], 0
                for start, end, label in spans:
                    secret = data[start:end]
                    if label not in ("private", "known") and 8 <= len(secret) <= 200 and _mess(secret) > 1:
                        fresh[secret] = label
                    pieces += [data[at:start], _mark(secret, label, salt)]
                    at = end
                texts[string] = b"".join(pieces) + data[at:]
                moved = True
                changed.add(string)
        exact |= fresh
        if not moved:
            break
    return {string: texts[string].decode("utf-8", "surrogatepass") for string in changed}


def _mark(secret: bytes, label: str, salt: bytes) -> bytes:
    if label == "private":
        return b"<REDACTED:private>"
    from _blake2 import blake2b

    return f"<REDACTED:{label}:{blake2b(secret, digest_size=2, key=salt[:64]).hexdigest()}>".encode()


def _touched(strings: list[tuple[str, str]], leads: list[Lead], known: tuple[str, ...]) -> bool:
    """Whether any of these strings will change: one look at all of them together."""
    joined = "\n".join([text for text, _ in strings])
    if any(value in joined for value in known if value):
        return True
    if any(_fits(kind, "assign", True, _encode(text)) for text, kind in strings if kind):
        return True
    data = _encode(joined)
    return bool(_spans(data, leads or _leads(data), {}))


def _pairs(items: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any, str]]:
    """An object's keys and values, and what the key, or a `name` beside a `value`, says the value is."""
    items = list(items)
    named = next((_kind(_encode(value)) for key, value in items if key in ("name", "key", "Name", "Key") and type(value) is str), "")
    for key, value in items:
        yield key, value, named if key in ("value", "Value") else _kind(_encode(key))


def _strings(value: Any) -> list[tuple[str, str]]:
    """Every string in a parsed value, keys too, each with what its key says it is."""
    found, stack = [], [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            found.append((item, ""))
            continue
        if isinstance(item, dict):
            item = list(item.items())
        if not isinstance(item, list) or not item:
            continue
        if not isinstance(item[0], tuple):
            stack += item
            continue
        for key, inner, kind in _pairs(item):
            found.append((key, ""))
            if isinstance(inner, str):
                found.append((inner, kind))
            else:
                stack.append(inner)
    return found


def _rebuild(value: Any, changes: Mapping[tuple[str, str], str]) -> Any:
    """The value with the changed strings in place, without recursion: nesting is the sender's to choose."""
    top: list[Any] = [value]
    stack: list[tuple[Any, Any, Any, str]] = [(top, 0, value, "")]
    while stack:
        holder, slot, item, kind = stack.pop()
        if isinstance(item, str):
            holder[slot] = changes.get((item, kind), item)
        elif isinstance(item, list):
            holder[slot] = copy = list(item)
            stack += [(copy, at, inner, "") for at, inner in enumerate(item)]
        elif isinstance(item, dict):
            holder[slot] = new = {}
            for key, inner, kind in _pairs(item.items()):
                name = changes.get((key, ""), key)
                new[name] = inner
                stack.append((new, name, inner, kind))
    return top[0]


def _patch(line: bytes, changes: Mapping[str, str]) -> bytes:
    """The line with the changed strings put into their own bytes, their other escapes as they were written."""
    import json

    def swap(match: Match[bytes]) -> bytes:
        raw = match[0]
        old = json.loads(raw)
        return _splice(raw, changes[old]) if old in changes else raw

    return _regex(rb'"[^"\\]*(?:\\.[^"\\]*)*"').sub(swap, line)


def _splice(raw: bytes, new: str) -> bytes:
    """A string literal changed into another: what stays keeps its bytes."""
    import json

    units = _regex(rb'\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[\xc0-\xff][\x80-\xbf]*|[^"\\]').findall(raw[1:-1])
    old = "".join([unit.decode() if unit[:1] != b"\\" else json.loads(b'"%b"' % unit) for unit in units])
    marks = _regex(rb"<REDACTED:[a-z0-9-]{2,32}(?::[0-9a-f]{4})?>").split(_encode(new))
    keep = [piece.decode("utf-8", "surrogatepass") for piece in marks]
    inserted = _regex(rb"<REDACTED:[a-z0-9-]{2,32}(?::[0-9a-f]{4})?>").findall(_encode(new))
    out, at = [], 0
    for number, piece in enumerate(keep):
        if number == 0:
            start = 0
        elif number == len(keep) - 1:
            start = len(old) - len(piece)
        else:
            start = old.find(piece, at)
        if number:
            out.append(inserted[number - 1])
        out += units[start : start + len(piece)]
        at = start + len(piece)
    return b'"' + b"".join(out) + b'"'


def _probes(known: tuple[str, ...]) -> list[bytes]:
    """For each known value the longest piece of it that JSON writes as it is; kept for the next line."""
    if _probed[0] != known:
        _probed[:] = known, [max(_encode(value).translate(_WRITTEN).split(b"\x00"), key=len) for value in known if value]
    return _probed[1]  # type: ignore[no-any-return]


_WRITTEN = bytes(byte if 32 <= byte < 127 and byte not in b'"\\/' else 0 for byte in range(256))
_probed: list[Any] = [(), []]
