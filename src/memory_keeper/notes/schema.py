"""The outline of a project's past as JSON: themes, decisions with their reason, issues, and one summary of it all.

The form is that of the predecessor's `*.summary.json`, so what it wrote can be read and what we write it can read. Its
files were whatever a model wrote, and one theme without a name broke every search: here nothing is written or read that
`check` finds fault with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memory_keeper import wire
from memory_keeper.model import Json, NamedTuple
from memory_keeper.text import clean

MOST = 10  # of each list


class Theme(NamedTuple):
    """What part of the work was about."""

    name: str
    summary: str
    sessions: tuple[str, ...] = ()


class Decision(NamedTuple):
    """What was decided, and why."""

    decision: str
    reason: str = ""
    date: str = ""  # 2026-01-31; empty: not known


class Issue(NamedTuple):
    """What was wrong, and whether it still is."""

    issue: str
    status: str = "open"  # open | resolved
    date: str = ""


class Outline(NamedTuple):
    """All that an outline says."""

    themes: tuple[Theme, ...]
    decisions: tuple[Decision, ...]
    issues: tuple[Issue, ...]
    summary: str
    first: str = ""  # the dates it covers; empty: not known
    last: str = ""
    sections: int = 0
    source: str = ""  # the file it is an outline of
    generated: str = ""  # when, in UTC: 2026-01-31T12:00:00.000Z


# --- the form --------------------------------------------------------------------------------------------------------

_DATE = r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?$"


def _string(most: int, least: int = 1, **more: Any) -> Json:
    return {"type": "string", "minLength": least, "maxLength": most, **more}


def _object(required: Sequence[str], **properties: Json) -> Json:
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


def _list(items: Json, most: int = MOST) -> Json:
    return {"type": "array", "maxItems": most, "items": items}


# what the predecessor's own description calls for is required; what only its newer files have may be missing
BODY: Json = _object(
    ("themes", "keyDecisions", "issues", "overallSummary"),
    dateRange=_object(("first", "last"), first=_string(40, pattern=_DATE), last=_string(40, pattern=_DATE)),
    sectionCount={"type": "integer", "minimum": 0},
    themes=_list(
        _object(
            ("name", "summary"),
            name=_string(200),
            summary=_string(4000),
            sessions=_list(_string(200), most=1000),
        )
    ),
    keyDecisions=_list(
        _object(
            ("decision", "reason"),
            decision=_string(1000),
            reason=_string(2000, least=0),
            date=_string(40, pattern=_DATE),
        )
    ),
    issues=_list(
        _object(
            ("issue", "status"),
            issue=_string(1000),
            status={"type": "string", "enum": ["resolved", "open"]},
            date=_string(40, pattern=_DATE),
        )
    ),
    overallSummary=_string(20_000),
)
SCHEMA: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Outline of a project's past",
    **BODY,
    "required": ["sourceFile", "generatedAt", *BODY["required"]],
    "properties": {
        "sourceFile": _string(255, pattern=r"^[^/\\]+$"),
        "generatedAt": _string(40, pattern=_DATE),
        **BODY["properties"],
    },
}
_TYPES: dict[str, type] = {"object": dict, "array": list, "string": str, "integer": int}


def check(value: object, schema: Json = SCHEMA) -> list[str]:
    """What is wrong with an outline, each with its place; nothing when it is as it should be."""
    return list(_problems(value, schema, "the outline"))


def _problems(value: object, schema: Json, where: str) -> Iterator[str]:
    kind = schema["type"]
    if not isinstance(value, _TYPES[kind]) or isinstance(value, bool):
        yield f"{where} is not of type {kind}"
    elif isinstance(value, dict):
        known = schema["properties"]
        yield from (f"{where} has no {name}" for name in schema["required"] if name not in value)
        yield from (f"{where} has an unknown {name!r}" for name in value if name not in known)
        for name, part in known.items():
            if name in value:
                yield from _problems(value[name], part, name if where == "the outline" else f"{where}.{name}")
    elif isinstance(value, list):
        if len(value) > schema["maxItems"]:
            yield f"{where} has {len(value)} items, more than {schema['maxItems']}"
        for number, item in enumerate(value[: schema["maxItems"]]):
            yield from _problems(item, schema["items"], f"{where}[{number}]")
    elif isinstance(value, str):
        yield from _string_problems(value, schema, where)
    elif isinstance(value, int) and value < schema["minimum"]:
        yield f"{where} is less than {schema['minimum']}"


def _string_problems(value: str, schema: Json, where: str) -> Iterator[str]:
    if "enum" in schema:
        if value not in schema["enum"]:
            yield f"{where} is none of {', '.join(schema['enum'])}"
        return
    if len(value) > schema["maxLength"]:
        yield f"{where} is longer than {schema['maxLength']} characters"
    elif len(value.strip()) < schema["minLength"]:
        yield f"{where} is empty"
    elif "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where} is not as it should be: {value[:40]!r}"
    elif clean(value) != value:
        yield f"{where} has characters that do not show"


# --- to and fro ------------------------------------------------------------------------------------------------------


def body(outline: Outline) -> Json:
    """The JSON of what an outline says, without the file it is of: what a note of ours carries.

    Of more than ten things of a kind, the first ten. ValueError: it cannot be one.
    """
    value: Json = {
        **({"dateRange": {"first": outline.first, "last": outline.last}} if outline.first and outline.last else {}),
        "sectionCount": outline.sections,
        "themes": [{**one._asdict(), "sessions": list(one.sessions)} for one in outline.themes[:MOST]],
        "keyDecisions": [_dated(one) for one in outline.decisions[:MOST]],
        "issues": [_dated(one) for one in outline.issues[:MOST]],
        "overallSummary": outline.summary,
    }
    _demand(check(value, BODY))
    return value


def _dated(one: Decision | Issue) -> Json:
    return {name: value for name, value in one._asdict().items() if value or name != "date"}


def read(value: object) -> Outline:
    """An outline from its JSON, ours or the predecessor's. ValueError says what is wrong with it."""
    _demand(check(value, SCHEMA))
    assert isinstance(value, dict)
    return _read(value)


def read_body(value: object) -> Outline:
    """What `body` made, read again. ValueError says what is wrong with it."""
    _demand(check(value, BODY))
    assert isinstance(value, dict)
    return _read(value)


def _read(value: Json) -> Outline:
    covers = value.get("dateRange", {})
    return Outline(
        tuple(Theme(one["name"], one["summary"], tuple(one.get("sessions", ()))) for one in value["themes"]),
        tuple(Decision(one["decision"], one["reason"], one.get("date", "")) for one in value["keyDecisions"]),
        tuple(Issue(one["issue"], one["status"], one.get("date", "")) for one in value["issues"]),
        value["overallSummary"],
        covers.get("first", ""),
        covers.get("last", ""),
        value.get("sectionCount", 0),
        value.get("sourceFile", ""),
        value.get("generatedAt", ""),
    )


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.S)


def from_text(text: str, source: str, generated: str) -> Outline:
    """The outline a model answered with: JSON and nothing else, in a fence or not. ValueError says what is wrong.

    What it is an outline of and when it was made is ours to say, whatever the model says.
    """
    text = text.strip()
    fenced = _FENCED.fullmatch(text)
    try:
        value = wire.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        raise ValueError("the answer is not JSON") from None
    if isinstance(value, dict):
        value = {**value, "sourceFile": source, "generatedAt": generated}
    return read(value)


def texts_of(outline: Outline) -> list[str]:
    """Everything an outline says in words, to be held against its sources."""
    said = [outline.summary]
    said += [part for one in outline.themes for part in (one.name, one.summary)]
    said += [part for one in outline.decisions for part in (one.decision, one.reason)]
    return [*said, *(one.issue for one in outline.issues)]


def _demand(problems: list[str]) -> None:
    if problems:
        raise ValueError("; ".join(problems[:5]))
