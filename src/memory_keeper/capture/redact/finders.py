"""Where the secrets of a text are: a finder for each lead that opened the gate.

A finder gets the bytes and their lower-case copy and yields spans; it is loaded only where the gate opened.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable, Iterable, Iterator

from memory_keeper.capture.redact.gate import Lead
from memory_keeper.capture.redact.names import (
    COMMANDS,
    FOREIGN,
    FOREIGN_KEYS,
    NAME,
    PARTICLES,
    STEMS,
    kind_of,
    named,
)
from memory_keeper.capture.redact.tokens import RIDERS, RUNS, STARTS, Row, random_runs
from memory_keeper.capture.redact.values import (
    fits,
    is_alive,
    is_code,
    is_password,
    is_passwordish,
    is_placeholder,
    is_stand_in,
    is_strong,
    is_worded,
    mess,
    regex,
)

Span = tuple[int, int, str]  # start, end, label
LONG = 400  # characters of a value that are looked at


def find(data: bytes, leads: Iterable[Lead]) -> Iterator[Span]:
    """Where the secrets are that these leads speak of."""
    low = data.lower()
    for lead in leads:
        if isinstance(lead, str):
            yield from FINDERS[lead](data, low)
        else:
            yield from _find_start(data, STARTS[lead])


def _each(data: bytes, literal: bytes) -> Iterator[int]:
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + 1)


def _fresh(data: bytes, at: int) -> bool:
    """Whether a token may begin here: no word before it, unless that is the end of an escape."""
    if at == 0 or data[at - 1] not in NAME:
        return True
    return (
        data[at - 2 : at] in (b"\\n", b"\\r", b"\\t")
        or data[at - 3 : at - 2] == b"%"
        or data[at - 6 : at - 4] == b"\\u"
    )


def _find_start(data: bytes, row: Row) -> Iterator[Span]:
    label, starts, body = row
    for start in starts:
        at = data.find(start)
        while at >= 0:
            begin, after = at, at + len(start)
            match = regex(body).match(data, after)
            if match is None:
                at = data.find(start, at + 1)
                continue
            if start[0] not in NAME:  # the token reaches back over its start: `123456789:AA...`
                left = data[max(0, at - 80) : at]
                begin -= len(left) - len(left.rstrip(NAME))
            elif start.endswith(b"=") or body.startswith(b"/"):
                begin = after  # a parameter's name or a host says nothing
            if (begin != at or _fresh(data, at)) and is_alive(data[begin : match.end()], label):
                yield begin, match.end(), label
            at = data.find(start, max(match.end(), at + 1))  # not from within: a long run would be read again and again


_PREFIX = rb"(?:[a-z]{2,12}|[A-Z]{2,12})\d{0,2}"
_IDS = tuple(b"toolu_ srvtoolu msg_ req_ call_ chatcmpl resp_ run_ sha md5 file img chunk index h1-".split())


def _find_random(data: bytes, low: bytes) -> Iterator[Span]:
    """Long random runs: of issuers without a separator, or behind a prefix of a word or three nobody told us of."""
    prefix = regex(rb"(?<![0-9A-Za-z_./+-])" + _PREFIX + rb"(?:[_-](?:" + _PREFIX + rb"|\d{1,4})){0,3}[_-]$")
    dotted = regex(
        rb"(?<![0-9A-Za-z_./+-])(?:pat[0-9A-Za-z]{14}\.|[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.|\d{12,18}\|)$"
    )
    for start, end in random_runs(data):
        if _fresh(data, start):
            for label, starts, body in RUNS:
                known = next((known for known in starts if data.startswith(known, start)), None)
                match = None if known is None else regex(body).match(data, start + len(known))
                if match and is_alive(data[start : match.end()], label):
                    yield start, match.end(), label
        if mess(data[start:end]) * 5 <= end - start or not is_alive(data[start:end], ""):
            continue
        left = dotted.search(data, max(0, start - 40), start)
        if left:
            yield left.start(), end, "token"
        left = prefix.search(data, max(0, start - 60), start)
        if left and data[end : end + 1] not in (b"+", b"/", b"=") and not low[left.start() : start].startswith(_IDS):
            before = low[max(0, left.start() - 6) : left.start()].rstrip(b"\"'`\\=: ")
            if not before.endswith(b"id"):
                yield left.start(), end, "token"


def _find_jwt(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = regex(rb"eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*){1,3}")
    for at in _each(data, b"eyJ"):
        match = pattern.match(data, at) if _fresh(data, at) else None
        if match:
            yield at, match.end(), "jwt"


def _find_private(data: bytes, low: bytes) -> Iterator[Span]:
    """What the user put between <private> and </private>; a tag left open hides the rest."""
    at = low.find(b"<private>")
    while at >= 0:
        end = low.find(b"</private>", at)
        end = end + len(b"</private>") if end >= 0 else len(data)
        yield at, end, "private"
        at = low.find(b"<private>", end)


def _find_pem(data: bytes, low: bytes) -> Iterator[Span]:
    """Private keys, the whole body, whether its lines end in newlines or in escapes, and behind line numbers."""
    stop = closing = 0
    for match in regex(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----").finditer(data):
        if match.start() < stop:
            continue
        if 0 <= closing < match.end():
            closing = data.find(b"-----END", match.end())
        if 0 <= closing <= match.end() + 40000:
            dashes = data.find(b"-----", closing + 8, closing + 80)
            stop = dashes + 5 if dashes >= 0 else closing + 8
        else:  # cut off: as far as it looks like base64, line numbers and escapes
            rest = regex(rb"(?:[0-9A-Za-z+/=\s\\\"',:|>.-]|\xe2\x86\x92){0,40000}").match(data, match.end())
            stop = rest.end() if rest else match.end()
        if regex(rb"[0-9A-Za-z+/]{20}").search(data, match.end(), stop):
            yield match.start(), stop, "private-key"
    putty = regex(rb"Private-Lines: \d{1,3}\s{1,4}((?:[0-9A-Za-z+/=]{1,80}\r?\n){1,80})")
    for match in putty.finditer(data):
        yield match.start(1), match.end(1), "private-key"


def _find_uri(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = regex(rb"://([^\s/?#@:\"'`<>\\\x00]{0,120})(?::([^\s/\"'`<>\\\x00]{1,256}))?@(?=[0-9A-Za-z\[._$%{-])")
    for at in _each(data, b"://"):
        match = pattern.match(data, at)
        if match and match[2] and _uri_password(match[2]):
            yield match.start(2), match.end(2), "uri-password"
        if match and is_strong(match[1]) and len(match[1]) >= 20:
            yield match.start(1), match.end(1), "uri-token"


def _uri_password(value: bytes) -> bool:
    if len(value) < 3 or value[:1] in b"${<*[" or b"," in value or is_stand_in(value):
        return False
    return not value.lower().startswith((b"pass", b"secret", b"token"))


def _find_sql(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = regex(
        rb"(?i)identified (?:with [0-9a-z_'\"]{1,40} )?(?:by|as) (?:password )?"
        rb"(?:'([^'\r\n]{4,100})'|\"([^\"\r\n]{4,100})\"|([0-9A-Za-z_@#!$]{6,100}))"
    )
    for at in _each(low, b"identified "):
        match = pattern.match(data, at)
        if match and match.lastindex and is_password(match[match.lastindex], match.lastindex < 3):
            yield match.start(match.lastindex), match.end(match.lastindex), "password"


def _find_auth(data: bytes, low: bytes) -> Iterator[Span]:
    header = regex(
        rb"(?i)authorization(?:\\{0,7}[\"'`])?\]?\s{0,4}[:=,]\s{0,4}(?:[bfru]?\\{0,7}[\"'`])?\s?"
        rb"(?:([A-Za-z][0-9A-Za-z_-]{1,20})\s{1,3})?([0-9A-Za-z._~+/=:|!-]{6,4000})"
    )
    for at in _each(low, b"authorization"):
        match = None if data[at - 1 : at].isalnum() else header.match(data, at)
        if match and _credential(match[1] or b"", match[2]):
            yield match.start(2), match.end(2), "authorization"
    bearer = regex(rb"(?i)bearer(?:\s|%20|\+){1,3}[\"']?([0-9A-Za-z._~+/=:|!-]{8,4000})")
    for at in _each(low, b"bearer"):
        match = bearer.match(data, at)
        if match and _credential(b"bearer", match[1]):
            yield match.start(1), match.end(1), "bearer"
    digest = regex(rb"(?i)digest\s[^\r\n]{0,800}?\bresponse=\\{0,7}\"?([0-9a-f]{32,128})\b")
    for at in _each(low, b"digest "):
        match = digest.match(data, at)
        if match:
            yield match.start(1), match.end(1), "authorization"
    field = regex(
        rb"(?i)auth(?:entication|orization)?(?:\\{0,7}[\"'])?\s{0,3}[:=]\s{0,3}(?:\\{0,7}[\"'])?"
        rb"([0-9A-Za-z+/]{12,400}={0,2})(?![0-9A-Za-z+/=._(\[-])"
    )
    for at in _each(low, b"auth"):
        match = None if data[at - 1 : at].isalnum() else field.match(data, at)
        if match and (_basic(match[1]) or is_strong(match[1])):
            yield match.start(1), match.end(1), "authorization"


def _credential(scheme: bytes, value: bytes) -> bool:
    if scheme.lower() == b"basic":
        return _basic(value)
    if is_worded(value) or is_placeholder(value) or is_code(value):
        return False
    return is_strong(value) or (bool(scheme) and len(value) >= 12 and mess(value) > 2)


def _basic(value: bytes) -> bool:
    """Whether this is base64 of user:password."""
    try:
        plain = a2b_base64(value + b"=" * (-len(value) % 4))
    except ValueError:
        return False
    return b":" in plain[1:] and len(plain) > 5 and plain.isascii() and plain.decode("ascii").isprintable()


def _find_cookie(data: bytes, low: bytes) -> Iterator[Span]:
    header = regex(rb"(?i)cookies?(?:\\{0,7}[\"'`])?\]?\s{0,3}[:=]\s{0,3}")
    pair = regex(rb"([0-9A-Za-z_.%-]{1,80})=([^;\s\"'\\,\x00]{8,4000})")
    stop = 0
    for at in _each(low, b"cookie"):
        match = header.match(data, at) if at >= stop else None
        if match is None:
            continue
        line = data.find(b"\n", match.end(), match.end() + 8000)
        stop = line if line >= 0 else min(len(data), match.end() + 8000)
        for one in pair.finditer(data, match.end(), stop):
            if one[1].lower() not in _ATTRIBUTES and not is_placeholder(one[2]) and mess(one[2]) > 2:
                yield one.start(2), one.end(2), "cookie"


_ATTRIBUTES = (b"path", b"domain", b"expires", b"max-age", b"samesite")


def _find_azure(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = regex(rb"(?<![0-9A-Za-z_~.-])[0-9A-Za-z_~.]{3}\dQ~[0-9A-Za-z_~.-]{31,34}(?![0-9A-Za-z_~-])")
    for at in _each(data, b"Q~"):
        match = pattern.match(data, at - 4) if at >= 4 else None
        if match:
            yield match.start(), match.end(), "azure"


def _find_hash(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = regex(
        rb"\$(?:2[abxy]\$\d\d\$[./0-9A-Za-z]{53}"
        rb"|(?:1|apr1)\$[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{22}"
        rb"|[56]\$(?:rounds=\d{1,9}\$)?[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{43,86}"
        rb"|y\$[./0-9A-Za-z]{1,20}\$[./0-9A-Za-z]{0,86}\$[./0-9A-Za-z]{43}"
        rb"|[PHS]\$[./0-9A-Za-z]{31,52}|[89]\$[./0-9A-Za-z]{14}\$[./0-9A-Za-z]{43}"
        rb"|argon2(?:id|i|d)\$(?:v=\d{1,3}\$)?[a-z0-9=,]{5,40}\$[0-9A-Za-z+/]{8,80}\$[0-9A-Za-z+/]{16,120}"
        rb"|scrypt\$[0-9a-z=,]{5,40}\$[0-9A-Za-z+/.]{8,100}\$[0-9A-Za-z+/.=]{16,120}"
        rb"|krb5(?:tgs|asrep|pa)\$\d{1,3}\$[0-9A-Za-z*$@.:/_-]{16,4000})"
        rb"|pbkdf2_sha\d{1,3}\$\d{1,8}\$[0-9A-Za-z+/]{4,40}\$[0-9A-Za-z+/=]{20,100}"
    )
    for match in pattern.finditer(data):
        yield match.start(), match.end(), "password-hash"


def _find_command(data: bytes, low: bytes) -> Iterator[Span]:
    for name, usage in COMMANDS:
        for at in _each(low, name):
            match = regex(usage).match(data, at + len(name))
            group = match.lastindex if match and match.lastindex else 1
            if match and match[group][:1] not in b"$<{*%" and not is_stand_in(match[group]):
                yield match.start(group), match.end(group), "password"


_PARTICLE = b"(?:" + b"|".join(PARTICLES) + b")"


def _find_foreign(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = regex(_PARTICLE + rb"?[ \t]{0,3}(?:[:=(]|\xef\xbc\x9a|->|=>)?[ \t]{0,4}[\"'`]?([!-~]{6,100})")
    for word in FOREIGN:
        for at in _each(data, word):
            match = pattern.match(data, at + len(word))
            value = match[1].rstrip(b"\"'`.,;:)]}>") if match else b""
            if match and is_password(value, False):
                yield match.start(1), match.start(1) + len(value), "password"
    for word in FOREIGN_KEYS:
        for at in _each(data, word):
            match = pattern.match(data, at + len(word))
            value = match[1].rstrip(b"\"'`.,;:)]}>") if match else b""
            if match and is_strong(value) and not is_placeholder(value):
                yield match.start(1), match.start(1) + len(value), "token"


def _find_table(data: bytes, low: bytes) -> Iterator[Span]:
    """Values below a name that says they are secret, in a table or in values separated by commas, semicolons, tabs."""
    heads = {data.rfind(b"\n", 0, found) + 1 for stem in STEMS for found in _each(low, stem)}
    at, size, columns, mark = 0, 0, dict[int, str](), b""
    for line in data.split(b"\n"):
        cells = line.split(mark) if mark else []
        if columns and len(cells) == size:
            place = at
            for number, cell in enumerate(cells):
                value = cell.strip(b" \t\r\"'`*")
                kind = columns.get(number, "")
                if kind and value and fits(kind, "assign" if kind != "password" else "cell", True, value):
                    begin = place + cell.find(value)
                    yield begin, begin + len(value), kind
                place += len(cell) + 1
        else:
            mark, columns = (b"", {}) if at not in heads else _columns(line)
            size = len(line.split(mark)) if mark else 0
        at += len(line) + 1


def _columns(line: bytes) -> tuple[bytes, dict[int, str]]:
    """What separates the names of a line, and which of them say that what stands below is secret."""
    for mark in (b"|", b"\t", b";", b","):
        names = [name.strip(b" \r\"'`*") for name in line.split(mark)]
        if len(names) > 1 and all(len(name) <= 40 and not name.strip(NAME + b" .") for name in names):
            kinds = {number: kind_of(name.replace(b" ", b"_")) for number, name in enumerate(names)}
            return mark, {number: kind for number, kind in kinds.items() if kind}
    return b"", {}


def _find_pgpass(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = regex(
        rb"(?:^|(?<=[\n\"'`]))[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w.*-]{1,60}:[\w.*@-]{1,60}:([^\s:\"'`]{4,100})(?=$|[\s\"'`])"
    )
    for match in pattern.finditer(data):
        if is_passwordish(match[1]):
            yield match.start(1), match.end(1), "password"


def _find_discord(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = regex(rb"(?<![\w.-])[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27,40}(?![\w-])")
    for match in pattern.finditer(data):
        if is_alive(match[0], "discord"):
            yield match.start(), match.end(), "discord"


_VALUE = (
    rb"(?:[bBrRuUfFNL@$]{0,2}\\{0,7}(?:\"(?P<d>(?:[^\"\\\r\n\x00]|\\[^\"\\nrtu]){1,400})"
    rb"|'(?P<s>(?:[^'\\\r\n\x00]|\\[^'\\nrtu]){1,400})|`(?P<b>[^`\\\r\n\x00]{1,400}))"
    rb"|(?P<u>[^\s\"'`,;<>(){}\[\]|\\\x00\x80-\xff]{3,400}))"
)
_QUOTED = rb"\\{0,7}(?:\"(?P<d>[^\"\\\r\n\x00]{1,400})|'(?P<s>[^'\\\r\n\x00]{1,400}))"
_OF = rb"(?:for|of|to|on|in|at)[ \t][0-9A-Za-z@._ -]{1,40}?"
# What may stand between a secret's name and its value. The first that matches decides, unless it was only prose.
FORMS: tuple[tuple[str, bytes], ...] = (
    (
        "assign",
        rb"(?:\\{0,7}[\"'`])?[\])]?[ \t]{0,20}(?:\*\*)?"
        rb"(?:(?::|[ \t])[ \t]{0,4}[A-Za-z_][0-9A-Za-z_.\[\]|<>?]{0,40}[ \t]{0,4}=|[!=:?|+]?={1,3}>?"
        rb"|:|->|\xe2\x86\x92|\|\||\?\?)"
        rb"(?:\*\*)?[ \t]{0,20}(?:!!?[A-Za-z]{2,12}[ \t]{1,4})?" + _VALUE,
    ),
    (  # YAML, folded or as it stands
        "assign",
        rb"(?:\\{0,7}[\"'])?:[ \t]{1,4}[>|][+-]?\d?[ \t]{0,4}(?:\r?\n|\\n)[ \t]{1,20}(?P<u>[^\s\\\x00]{6,400})",
    ),
    ("particle", _PARTICLE + rb"[ \t]{0,4}" + _VALUE),
    (
        "prose",
        rb"(?:\\{0,7}[\"'`*]{1,3})?[ \t]{1,4}(?:" + _OF + rb"[ \t])?(?:is|was|to|as|are)"
        rb"(?:[ \t]{1,3}(?:now|currently|still|set to|just|simply|actually))?[ \t]?:?[ \t]{1,4}" + _VALUE,
    ),
    ("colon", rb"[ \t]" + _OF + rb"[ \t]?:[ \t]{0,4}" + _VALUE),
    ("paren", rb"[ \t]?\(" + _VALUE + rb"[\"']?\)"),
    ("markup", rb"(?:\"?[ \t][^<>\r\n]{0,80})?>[ \t]{0,4}(?P<u>[^<>\r\n\x00]{4,300})</"),
    ("markup", rb"</key>(?:\s|\\n){0,40}<string>(?P<u>[^<>\r\n\x00]{4,300})</"),
    ("attribute", rb"\\{0,7}[\"'][ \t]{1,8}(?:value|content|default)[ \t]?=[ \t]?" + _QUOTED),
    (
        "entry",
        rb"\\{0,7}[\"']?,?(?:\s|\\n){1,40}\\{0,7}[\"']?[vV]alue\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}" + _VALUE,
    ),
    ("pair", rb"\\{0,7}[\"'](?:\]|\))?[ \t]{0,4}(?:,|=>)(?:\s|\\n){0,20}" + _QUOTED),
    ("space", rb"(?:\\{0,7}[\"'])?[ \t]{1,4}" + _VALUE),
    ("below", rb"[^:\r\n\x00]{0,80}:(?:\s|\\n){1,20}(?P<u>[0-9A-Za-z]{24,64})(?![^\s\\])"),
    ("cell", rb"[ \t*`]{0,20}\|[ \t`]{0,20}(?P<u>[^\s|`\x00]{6,200})[ \t`]{0,20}\|"),
)


def _find_named(data: bytes, low: bytes) -> Iterator[Span]:
    """Values of names that say they are secret: `DB_PASSWORD=...`, `"apiKey": "..."`, `the password is ...`."""
    for stem in STEMS:
        for at in _each(low, stem):
            kind, start, end = named(data, low, at, stem)
            if kind:
                yield from _find_value(data, kind, start, end)
    for row in RIDERS:
        yield from _find_start(data, row)


_TURNED = frozenset((b"as", b"is"))


def _find_value(data: bytes, kind: str, start: int, end: int) -> Iterator[Span]:
    name = data[start:end]
    for form, pattern in FORMS:
        match = regex(pattern).match(data, end)
        if match is None:
            continue
        group = match.lastgroup or "u"
        value = match[group]
        if group == "u":
            value = regex(rb"&[0-9A-Za-z_.%-]{1,40}=").split(value, 1)[0]  # the next parameter of a URL
            value = value.rstrip(b".:?!*" if form in ("prose", "colon", "space") else b":*")
        begin, stop = match.start(group), match.start(group) + len(value)
        call = group == "u" and data[stop : stop + 1] in (b"(", b"[", b"{")
        path = group == "u" and data[start - 1 : start] == b":" == data[end : end + 1]  # arn:...:secret:name
        if group == "u" and len(value) >= LONG:  # as long as a key in a file: all of it
            stop = regex(rb"[0-9A-Za-z+/=_-]{0,200000}").match(data, stop).end()  # type: ignore[union-attr]
        if not call and not path and fits(kind, form, group != "u", value, name):
            yield begin, stop, kind
        if form != "prose":  # `password to get in:` may have its value below
            break
    if kind == "password" and not _TURNED.isdisjoint(data[max(0, start - 12) : start].split()):
        # the other way round: `use ... as the password`
        match = regex(
            rb"([^\s\"'`\x00]{6,60})[\"'`]?[ \t]{1,3}(?:as|is)[ \t]{1,3}(?:(?:the|my|your|our|its|a)[ \t]{1,3})?$"
        ).search(data, max(0, start - 90), start)
        if match and is_passwordish(match[1]):
            yield match.start(1), match.end(1), kind


FINDERS: dict[str, Callable[[bytes, bytes], Iterator[Span]]] = {
    "jwt": _find_jwt,
    "random": _find_random,
    "private": _find_private,
    "pem": _find_pem,
    "uri": _find_uri,
    "sql": _find_sql,
    "auth": _find_auth,
    "cookie": _find_cookie,
    "azure": _find_azure,
    "hash": _find_hash,
    "table": _find_table,
    "pgpass": _find_pgpass,
    "discord": _find_discord,
    "named": _find_named,
    "command": _find_command,
    "foreign": _find_foreign,
}
