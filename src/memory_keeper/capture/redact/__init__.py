"""Take the secrets out of what we keep: a cheap gate for every line, the finders only where it opened.

What opened the `gate` (the leads) says which `finders` to run. They read the tables of `tokens`, ask `names` what is
announced and `values` whether it is one; `scrub` puts a mark in its place, and `lines` does that within JSON.

Nobody can promise that no secret is left. Known to stay: passwords in prose that no word announces, secrets split over
lines, bare hexadecimal, secrets inside base64.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memory_keeper.capture.redact.gate import encode, find_leads
from memory_keeper.capture.redact.lines import scrub_line
from memory_keeper.capture.redact.names import words
from memory_keeper.capture.redact.scrub import scrub
from memory_keeper.capture.redact.values import mess

MOST, FEW = 500, 100  # known values of the user's, and of one file of a project: each is searched for in every line


def suspicious(text: str, known: tuple[str, ...] = ()) -> bool:
    """Whether `redact` has anything to look at; False promises that it would return the text as it is."""
    return bool(find_leads(encode(text))) or any(value in text for value in known if value)


def redact(text: str, salt: bytes, known: tuple[str, ...] = ()) -> str:
    """The text with each secret replaced by `<REDACTED:type:xxxx>`: equal secrets by equal marks, under one salt."""
    if not suspicious(text, known):
        return text

    return scrub([(text, "")], salt, known).get((text, ""), text)


def redact_line(line: bytes, salt: bytes, known: tuple[str, ...] = ()) -> bytes:
    """The same for one raw JSONL line: byte for byte as it was apart from the secrets, and still JSON if it was."""
    escaped = b"\\u" in line  # then the bytes do not show what the strings say
    leads = [] if escaped else find_leads(line)
    if not (escaped or leads or any(probe in line for probe in _probes(known))):
        return line

    done = scrub_line(line, leads, salt, known)
    if done is not None:
        return done
    return redact(line.decode("utf-8", "surrogateescape"), salt, known).encode("utf-8", "surrogateescape")


# --- known values ----------------------------------------------------------------------------------------------------

_SECRET = words("KEY TOKEN SECRET PASSW PASSPHRASE PASS PWD CREDENTIAL DSN AUTH JWT COOKIE PAT")
_PASSWORDS = words("PASSW PASSPHRASE PWD")
_ENDS = words("KEY TOKEN SECRET PASSWORD PASS PWD")
_ABOUT = words("SOCK FILE PATH DIR HOST ID NAME TYPE PID LIFETIME EXPIRY TTL AGENT PORT USER COUNT")
_STORES = words("DATABASE POSTGRES MYSQL REDIS MONGO MONGODB AMQP RABBITMQ")
_PLAIN = words("disabled enabled required optional password changeme anonymous undefined")


def known_values(environ: Mapping[str, str], dotenv: Iterable[str] = ()) -> tuple[str, ...]:
    """Values to hide wherever they stand: what environment and .env texts hold under a secret's name; longest first.

    A repository brings such texts too: theirs crowd out no value of the user's, and hide neither words nor names; only
    what is called a password may be made of words, joined to one.
    """
    found = set(_hidden(environ.items(), MOST))
    for text in dotenv:
        pairs = (line.strip().removeprefix("export ").partition("=") for line in text.splitlines())
        given = ((name.strip(), _unquoted(value.strip())) for name, assigned, value in pairs if assigned)
        found.update(_hidden(((name, value) for name, value in given if _no_words(name, value)), FEW))
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def _hidden(pairs: Iterable[tuple[str, str]], most: int) -> list[str]:
    found = {value for name, value in pairs if _says_secret(name.upper()) and _worth_hiding(value)}
    return sorted(found, key=lambda value: (-len(value), value))[:most]


def _no_words(name: str, value: str) -> bool:
    """Whether hiding a value of a project's file blanks no text that means something else."""
    if any(map(str.isspace, value)):
        return False
    joined = "/" not in value and not value.isalnum() and any(word in name.upper() for word in _PASSWORDS)
    return joined or mess(encode(value)) > 1


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
        pieces = [encode(value).translate(_WRITTEN).split(b"\x00") for value in known if value]
        _probed[:] = [known, [max(found, key=len) for found in pieces]]
    probes: list[bytes] = _probed[1]
    return probes


_WRITTEN = (bytes(32) + bytes(range(32, 127)) + bytes(129)).translate(bytes.maketrans(b'"\\/', bytes(3)))
_probed: list[Any] = [(), []]
