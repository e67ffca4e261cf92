"""The files and identifiers that the work is likely to need again, the most likely first.

They are told as a short list at the end of a handoff, within a fixed share of its tokens: a name says where to look,
not what is going on. What makes one likely is that the model wrote or searched for it, often and lately.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence

from memory_keeper.capture.calls import command_of, fields
from memory_keeper.extract.facts import Fact
from memory_keeper.extract.spoken import EACH
from memory_keeper.model import WRITES, Event

# camelCase, PascalCase of two words or more, snake_case, CAPITALS_WITH_LINES
NAME = re.compile(
    r"\b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[a-z][a-z0-9]*(?:_[a-z0-9]+)+"
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b"
)
PATH = re.compile(r"(?<![\w/.@+-])(?:~?/|\.{1,2}/)?(?:[\w.@+-]+/)+[\w@+-]+\.[A-Za-z]\w{0,4}\b")
URL = re.compile(r"https?://[^\s<>\"'`)\]}”’…\\]{4,200}(?<![.,;:*])")
NUMBER = re.compile(r"(?<![\w&])#\d{2,6}\b|\b[A-Z]{2,6}-\d{1,5}\b")
HOST = frozenset(("file_path", "old_string", "new_string", "replace_all", "output_mode", "head_limit", "activeForm"))
SHORTEST, LONGEST = 6, 60  # characters of a name
READ = 8_000  # characters of a text
HALF = 60  # events after which a mention counts half
EVER = 0.15  # what it counts however long ago
SOUGHT = 1.5  # in an edit or a search
FILE = 2.5  # a file against a name
LIBRARY = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|vendor|third_party|\.venv|venv|\.tox|\.cargo|go/pkg/mod"
    r"|__pycache__)/|^/usr/|^/tmp/"
)


def named(events: Sequence[Event], common: Container[str] = ()) -> list[Fact]:
    """Files and names, each name with the file it is used in; none that is `common` in other projects too."""
    scores: defaultdict[str, float] = defaultdict(float)
    files: defaultdict[str, float] = defaultdict(float)
    homes: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    cites: dict[str, tuple[str, int, float]] = {}
    end = len(events)
    for place, event in enumerate(events):
        weight = 0.5 ** ((end - place) / HALF) + EVER
        for text, path, factor in _mentions(event):
            for name in set(NAME.findall(text)) - HOST:
                if SHORTEST <= len(name) <= LONGEST and f"`{name.casefold()}" not in common:
                    scores[name] += weight * factor
                    cites[name] = event.id, place, event.at
                    if path:
                        homes[name][path] += weight
            for one in {path, *(PATH.findall(text) if event.tool == "Bash" else ())}:
                if one and not LIBRARY.search(one):
                    files[one] += weight * FILE * factor
                    cites[one] = event.id, place, event.at
    ranked = [
        *((score, name, "name") for name, score in scores.items()),
        *((score, path, "file") for path, score in files.items()),
    ]
    ranked.sort(key=lambda one: (-one[0], one[1]))
    return [
        Fact(
            kind,
            text,
            (id,),
            at,
            "tool",
            0,
            place * EACH,
            max(homes[text], key=lambda path: homes[text][path], default=""),
        )
        for _, text, kind in ranked
        for id, place, at in (cites[text],)
        if kind == "file" or homes[text]
    ]


def referred(events: Sequence[Event]) -> list[Fact]:
    """Links, and issue numbers of the user's, those first that came up often and lately."""
    scores: defaultdict[str, float] = defaultdict(float)
    cites: dict[str, tuple[str, int, float]] = {}
    end = len(events)
    for place, event in enumerate(events):
        if event.agent or event.kind not in ("prompt", "reply", "call"):
            continue
        text = command_of(event) if event.kind == "call" else event.text
        numbers = NUMBER.findall(text[:READ]) if event.kind == "prompt" else ()  # others are met on the way
        for found in {*URL.findall(text[:READ]), *numbers}:
            scores[found] += 0.5 ** ((end - place) / HALF) + EVER
            cites[found] = event.id, place, event.at
    ranked = sorted(scores, key=lambda one: (-scores[one], one))
    return [Fact("reference", one, (cites[one][0],), cites[one][2], "tool", 0, cites[one][1] * EACH) for one in ranked]


def _mentions(event: Event) -> Iterator[tuple[str, str, float]]:
    """The texts of an event that name things, the file each is about, and how much it counts."""
    if event.agent:
        return
    if event.kind in ("prompt", "reply", "thinking"):
        yield event.text[:READ], "", 1.0
    elif event.kind == "call":
        given = fields(event)
        if event.tool in WRITES:
            body = given.get("new_string") or given.get("content") or given.get("edits") or ""
            yield (given.get("old_string", "") + "\n" + body)[:READ], event.path, SOUGHT
        elif event.tool == "Grep":
            yield given.get("pattern", ""), event.path if "." in event.path.rpartition("/")[2] else "", SOUGHT
        elif event.tool == "Bash":
            yield command_of(event)[:READ], "", 1.0
        elif event.path and "." in event.path.rpartition("/")[2]:
            yield "", event.path, 1.0
