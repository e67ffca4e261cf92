"""What a user typed, taken apart: its prose and items into sentences, and these into the words that say what is meant.

Code, tables, diffs, logs and dumps are passed over. Nothing here knows what a sentence means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

FAR = 2000  # characters of a line that tell what it is


class Unit(NamedTuple):
    """Lines that belong together."""

    kind: str  # prose | item
    said: str


def unmarked(said: str) -> str:
    """A text without the stars that only make it bold and the marks of headings."""
    if "**" in said:
        said = _LONE.sub("", _BOLD.sub(r"\1", said))
    return _MARKS.sub("", said) if "##" in said else said


# --- taking a text apart ---------------------------------------------------------------------------------------------

_FENCE = re.compile(r" {0,8}(```|~~~)")
_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•‣·▪◦–✓✔✗✘☐☑✅❌⚠]\ufe0f?|\d{1,3}[.)]|\[[ xX]\]|- \[[ xX]\])[ \t]+)+(?=\S)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]|(?:=|-){3,}[ \t]*$|\s*\*\*[^*]+\*\*:?\s*$")
_RAW = re.compile(
    r"""\s*(?:
      [|+][-=+|\ ] | \|.*\|\s*$                                    # tables
    | (?:diff\ --git|index\ [0-9a-f]{6}|@@\ |\+\+\+\ |---\ \S+/|[<>]{3,}) # diffs
    | [+-](?=\S)(?!\d)                                               # their lines
    | //\s | /\*                                                     # remarks in code
    | \d+[ \t]*[→:|│]                                                # numbered lines
    | [$%#>]\ ?[a-z./~] | >>>\ | In\ \[\d                            # what was typed
    | at\ \S+\ ?\(|File\ "|Traceback                                 # stack traces
    | [{}\[\])<>\\] | [/~]\S*\s*$                                    # JSON, markup, closing brackets, a path
    | (?:import|from|def|class|const|let|var|function|return|export|public|private|static|elif|else|try|except|async
      |await|\#include|use|fn|impl|package|SELECT|INSERT|UPDATE|CREATE)\b.*(?:[(){};:=]|import\b)
    | [drwx-]{10}\ | total\ \d+\s*$                                  # listings
    )""",
    re.VERBOSE,
)
_CODE_END = re.compile(r"(?:[{};=(\[,\\]|=>|->|\|)\s*$")
_LOG = re.compile(
    r"""\s*(?:
      \[?\d{4}-\d\d-\d\d[T\ ,]\d\d:\d\d\S*\]? | \[?\d\d:\d\d:\d\d\S*\]? | [A-Z][a-z]{2}\ +\d+\ \d\d:\d\d:\d\d
    | \[?(?:ERROR|ERR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|CRITICAL|error|warn(?:ing)?|info|debug)\]?(?=[\s:\[])
    | (?:FAILED|PASSED|PASS|FAIL|ok|not\ ok)\s
    )""",
    re.VERBOSE,
)
# bold, and one end of it that was left alone; no glob (src/**/*.py) and no power (2**3)
_BOLD = re.compile(r"(?<![\w/*])\*\*(?=[^\s*/])([^*\n]{1,400}?)(?<=[^\s*/])\*\*(?![*/])")
_LONE = re.compile(r"(?<![\w/*])\*\*(?=[^\s*/])|(?<=[^\s*/])\*\*(?![\w*/])")
_MARKS = re.compile(r"(?<!\S)#{2,6} +")


def units(text: str) -> Iterator[Unit]:
    """Prose and items with the lines they go on in; all else is passed over."""
    lines = text.splitlines()
    fences = {number for number, line in enumerate(lines) if _FENCE.match(line)}
    last = max(fences, default=-1)
    opened = False
    unit: list[str] = []
    kind = ""
    for number, line in enumerate(lines):
        if number in fences:
            opened = not opened and number != last  # a fence that is never closed hides nothing
        here = "" if opened or number in fences else _kind(line)
        goes_on = here == "prose" and bool(unit) and _goes_on(unit[-1], line)
        if not goes_on and unit:
            yield Unit(kind, " ".join(unit))
            unit = []
        if here:
            unit.append(_bare(line))
            kind = kind if goes_on else here
    if unit:
        yield Unit(kind, " ".join(unit))


def _kind(line: str) -> str:
    """What a line is: prose or an item; empty: neither."""
    said = line.strip()
    if not said or _HEADING.match(line):
        return ""
    item = _ITEM.match(line)
    said = line[item.end() :].strip() if item else said
    said = said.lstrip("> ") if said.startswith("> ") else said
    if not item and _LOG.match(said):
        return ""
    opening = said.lstrip("`\"'([")  # what is quoted may begin a sentence
    if not _is_prose(opening) or (_RAW.match(said) and opening == said):
        return ""
    return "item" if item else "prose"


def _is_prose(said: str) -> bool:
    """Whether a line reads like words: mostly letters and blanks, no word as long as a key, no end of code."""
    if _CODE_END.search(said[-20:]) or any(len(word) > 60 and "/" not in word for word in said[:FAR].split()):
        return False
    head = said[:400]
    letters = sum(char.isalpha() or char == " " for char in head)
    if not any(map(str.isalpha, head)):
        return False
    wide = sum("\u2e80" <= char <= "\ud7a3" for char in head)
    return letters >= 0.72 * len(head) and (" " in head.strip() or wide > 3)


def _goes_on(before: str, line: str) -> bool:
    """Whether a line is the rest of the one before it, which somebody wrapped."""
    start = line.lstrip()[:1]
    if before[-1:] in ".!?:。！？" or not start or start == ">":
        return False
    return len(before) >= 70 or (len(before) >= 40 and start.islower())


def _bare(line: str) -> str:
    """A line without what only lays it out."""
    item = _ITEM.match(line)
    line = line[item.end() if item else 0 :].strip()
    while line.startswith(">"):
        line = line[1:].lstrip()
    return " ".join(line.split())


_END = re.compile(
    r"""(?:[.!?…]+["'”’»)\]*`_]*(?=\ ) | [。！？｡]+["'”’」』）)]* )\ *""",
    re.VERBOSE,
)
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|mr|mrs|dr|prof|st|ca|al|ver|vol|p|pp|a\.m|p\.m|u\.s)|\b[A-Z]|^\d+)\.$",
    re.I,
)


def split(said: str) -> Iterator[str]:
    """The sentences of a unit."""
    begin, counted, ticks = 0, 0, 0
    for end in _END.finditer(said):
        ticks += said.count("`", counted, end.end())
        counted = end.end()
        after = said[end.end() : end.end() + 1]
        sentence = said[begin : end.end()].strip()
        if ticks % 2 or after.islower() or (end[0][0] == "." and _SHORT.search(sentence[-12:])):
            continue
        if sentence:
            yield sentence
        begin = end.end()
    rest = said[begin:].strip()
    if rest:
        yield rest


# --- the words of a sentence -----------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_][\w]*")
_WIDE = re.compile("[\u2e80-\u9fff]{2,}")
_COMMON = """
the a an and or but if then else of to in on at by for with from as is are was were be been being it its this
that these those there here i we you he she they me my our your their not no so do does did done can could will
would should may might must have has had just also very now all any some into out up than too only about over
after before when where which who what how why let us them his her one more most other such
"""
_STOP = frozenset(_COMMON.split())


def words(said: str) -> Iterator[str]:
    """What a sentence speaks of: its words but the commonest; of scripts without blanks, pairs of characters."""
    for word in _WORD.findall(said.casefold()):
        if "\uac00" <= word[-1] <= "\ud7a3" and len(word) > 2:
            word = word[:-1]  # a particle, more often than not
        if word not in _STOP and (len(word) > 1 or word.isdecimal()):
            yield word
    for run in _WIDE.findall(said):
        yield from (run[at : at + 2] for at in range(len(run) - 1))
