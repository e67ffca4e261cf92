"""What a secret itself looks like: random or mixed, and no word, path or placeholder."""

from __future__ import annotations

import re
from re import Pattern

_compiled: dict[bytes, Pattern[bytes]] = {}


def regex(pattern: bytes) -> Pattern[bytes]:
    """Compiled on first need: most processes meet few kinds of secrets, and hooks none."""
    found = _compiled.get(pattern)
    if found is None:
        found = _compiled[pattern] = re.compile(pattern)
    return found


# Parts of what people write where a secret would stand.
PLACEHOLDERS = tuple(
    rb"""
    example sample your changeme change_me change-me placeholder dummy fake redact xxx todo ... **** mock foobar insert
    replace -here _here goeshere undefined process.env os.environ getenv import.meta env. config. settings. self. this.
    args. opts. options. req. request. params. props. state. secrets. vars. var. data. ${ {{ $( %( <% #{ :// 123456
    abcdef qwerty hidden masked deadbeef 00000000 11111111 aaaaaa notreal not-a not_a bogus
    """.split()
)
# Words that are no secret by themselves: what is left without them must be one.
_FILLERS = tuple(
    b"""
    supersecret password passwort database username invalid correct account apikey string secret server strong passwd
    default access admin value valid wrong login local token right null none test user pass enter super some user prod
    root temp good word new old the key api bad dev foo bar baz abc xyz my db pw 12345 1234 123
    """.split()
)

# Whole values that are words of the trade.
TRADE = frozenset(
    b"""
    sha1 sha256 sha384 sha512 md5 base64 base32 oauth2 oauth1 utf8 utf-8 pbkdf2 argon2 argon2id bcrypt hs256
    rs256 es256 aes256 aes128 aes-256-gcm aes-256-cbc ed25519 x25519 rsa2048 rsa4096 secp256k1 p256 http2 ipv4
    ipv6 log4j ec2 s3 k8s i18n l10n int32 int64 uint8 uint32 uint64 float32 float64 u8 u16 u32 u64 i32 i64 f32
    f64 latin1 iso8859 plain text postgres postgresql mysql admin root user guest secret pass pw localhost
    default anonymous nobody test public master
    """.split()
)

_CLASSES = bytes(
    48 if 48 <= byte < 58 else 65 if 65 <= byte < 91 else 97 if 97 <= byte < 123 else 120 for byte in range(256)
)
_TURNS = (b"a0", b"0a", b"A0", b"0A", b"aA", b"ax", b"xa", b"Ax", b"xA", b"0x", b"x0")


def mess(value: bytes) -> int:
    """How often the kind of character changes, the capitals of words aside: low for words, high for random text."""
    shape = value.translate(_CLASSES, b"-_./: ")
    return sum(shape.count(turn) for turn in _TURNS)


def fits(kind: str, form: str, quoted: bool, value: bytes, name: bytes = b"") -> bool:
    """Whether a value, written after its name in this form, can be the secret the name promises."""
    flag = name[:1] == b"-"
    if kind == "password":
        loose = form == "space" and not flag and (not quoted or name[-4:].lower() == b"pass")
        if loose or form in ("pair", "cell") or (form == "paren" and not quoted):
            return is_passwordish(value)
        return is_password(value, quoted) or (form == "assign" and _plain_password(value, quoted, name))
    if kind == "key":
        return form in ("assign", "entry", "attribute", "markup") and _random(value, kind)
    if form == "space" and not flag:
        hexadecimal = len(value) >= 32 and regex(rb"(?:0x)?[0-9a-fA-F]+$").match(value)
        return is_strong(value) and not is_placeholder(value) and (not name.isalnum() or bool(hexadecimal))
    if form in ("prose", "colon", "cell", "pair", "below", "paren", "particle"):
        return is_strong(value) and not is_placeholder(value)
    return _random(value, kind)


def is_stand_in(value: bytes) -> bool:
    """Something written where a secret would stand."""
    low = value.lower()
    return low in TRADE or len(set(low)) < 4 or b"\x00" in low or any(word in low for word in PLACEHOLDERS)


def is_placeholder(value: bytes) -> bool:
    """That, or a word or two that everybody uses: `test-password-1`."""
    if is_stand_in(value) or len(set(value)) < 5:
        return True
    low = value.lower()
    for word in _FILLERS:
        low = low.replace(word, b"")
    return len(low.translate(None, b"-_. !0123456789" if len(low) < 6 else b"-_. ")) < 4


def is_password(value: bytes, quoted: bool) -> bool:
    if not 5 <= len(value) <= 200 or not value.isascii() or b" " in value or is_placeholder(value) or is_code(value):
        return False
    if value[:1] in b"$<{%[*(|/~." or value[:2] in (b"--", b"->", b"!=") or regex(rb"\d{4}-\d\d-\d\d").match(value):
        return False
    letters = any(65 <= byte < 91 or 97 <= byte < 123 for byte in value)
    digits = sum(48 <= byte < 58 for byte in value)
    marks = sum(byte in b"!@#$%^&*+?~=;,\\|:" for byte in value)
    if quoted:
        return (letters and bool(digits or marks)) or digits >= 8
    return letters and digits > 0 and (marks > 0 or mess(value) > 0)


def _plain_password(value: bytes, quoted: bool, name: bytes) -> bool:
    """Letters only: where a string is assigned, or in the manner of an environment file."""
    if not value.isalpha() or not 8 <= len(value) <= 40 or value.istitle() or is_placeholder(value):
        return False
    return (quoted and bool(name)) or name.isupper()


def is_passwordish(value: bytes) -> bool:
    """A password even where little says so: three kinds of characters, mixed."""
    kinds = (
        value.lower() != value,
        value.upper() != value,
        any(48 <= byte < 58 for byte in value),
        not value.translate(None, b"_-").isalnum(),
    )
    mixed = len(value) >= 8 and sum(kinds) >= 3 and mess(value) > 1
    return mixed and not is_worded(value) and is_password(value, False)


def _random(value: bytes, kind: str) -> bool:
    """Whether a value looks drawn at random, as tokens and keys are."""
    if not 8 <= len(value) <= 4000 or not value.isascii() or b" " in value or value[:1] in b"$<{%[*(|~.":
        return False
    if kind != "key" and is_strong(value):
        return not any(
            word in value.lower() for word in (b"xxxx", b"example", b"your", b"redact", b"${", b"{{", b"...")
        )
    if is_placeholder(value) or is_code(value) or is_worded(value):
        return False
    turns = mess(value)
    if kind == "key":  # a weak word: not for hashes
        hexadecimal = regex(rb"[0-9a-fA-F-]+$").match(value)
        return len(value) >= 20 and turns * 4 > len(value) and (len(value) == 32 or not hexadecimal)
    if value.isalpha() and value.islower():
        return len(value) >= 16 and bool(regex(rb"[b-df-hj-np-tv-z]{5}").search(value))
    return len(value) >= (8 if kind == "secret" else 12) and turns >= 3 and turns * 5 >= len(value)


def is_strong(value: bytes) -> bool:
    """Random beyond doubt."""
    if len(value) < 16 or len(set(value)) < 8 or b"\x00" in value:
        return False
    return mess(value) * 5 >= len(value) and not is_code(value) and not is_worded(value)


def is_code(value: bytes) -> bool:
    """Paths, calls, members: code rather than a value."""
    if regex(rb"[./~][/.]|[A-Za-z]:\\|[a-z-]+/[a-z-]+(?:/|$)|[a-z]+://|arn:|[^(]*\(").match(value):
        return True
    members = regex(rb"[A-Za-z_][0-9A-Za-z_]*(?:(?:\.|::|->|\[)[A-Za-z_][0-9A-Za-z_]*)+$").match(value)
    return bool(members) and mess(value) * 4 < len(value)


def is_worded(value: bytes) -> bool:
    """Mostly words, as names in code are, whatever digits they carry."""
    if value.lower() == value:
        return False
    runs = regex(rb"[A-Z]?[a-z]{3,}").findall(value)
    spoken = [word for word in runs if not regex(rb"(?i)[^aeiouy]{4}|^[^aeiouy]+$").search(word)]
    return sum(map(len, spoken)) * 2 > len(value)


def is_alive(token: bytes, label: str) -> bool:
    """Whether a token of a known shape is one, not the picture of one in a manual."""
    low = token.lower()
    if len(set(token)) < 7 or any(word in low for word in (b"xxxx", b"example", b"your", b"redact", b"****")):
        return False
    return label in ("aws", "private-key", "google-client") or mess(token) > 2
