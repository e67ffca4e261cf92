"""A text taken apart into what a reader would quote: sentences of prose, items of lists, rows of tables.

Code, diffs and logs are passed over. A sentence knows the heading and the list it stands under, because "3. Update the
docs" means one thing under "Done" and another under "Remaining". Nothing here knows what a sentence means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from memory_keeper import regex as re

LONGEST = 24_000  # characters of one text that are read
SENTENCE = 600  # characters of a sentence; a longer one is data
FENCE = re.compile(r"\s{0,8}(```|~~~)")
ITEM = re.compile(r"[ \t]*(?:[-*+•‣·▪◦–✓✔✗✘☐☑✅❌⚠➜→]\ufe0f?|\(?\d{1,3}[.)]|\[[ xX]\])(?:[ \t]+\[[ xX]\])?[ \t]+(?=\S)")
DONE_ITEM = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:\[[xX]\]|[✓✔☑✅])")
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S|\s{0,3}\*\*[^*\n]{2,80}\*\*:?\s*$|\s{0,3}__[^_\n]{2,80}__:?\s*$")
RULER = re.compile(r"\s*(?:[-=*_─═━]{3,}|[|+][-=+|: ]++)\s*$")
ROW = re.compile(r"\s*[|│].*[|│]\s*$")
RAW = re.compile(
    r"""\s*(?:(?:diff\ --git|index\ [0-9a-f]{6}|@@\ |\+\+\+\ |---\ \S+/|[<>]{3,}) | [+-](?=\S)(?!\d)
    | //\s | /\* | \d+[ \t]*[→│] | [$%>]\ ?[a-z./~]+\ | >>>\ | at\ \S+\ ?\( | raise\ \w+\( | File\ " | Traceback
    | [{}\[\])<\\├└│┌╭╰]
    | (?:import|from|def|class|const|let|var|function|return|export|public|private|static|elif|else|async|await
      |\#include|fn|impl|package|func|type)\b.*(?:[(){};=]\s*$|import\b) | [drwx-]{10}\  | total\ \d+\s*$)""",
    re.VERBOSE,
)
CODE_END = re.compile(r"(?:[{};=\[\\]|=>|->)\s*$")
END = re.compile(r"""(?:(?<![.!?…])[.!?…]+["'”’»)\]*`_]*(?=\s)|[。！？｡]+["'”’」』）)]*)\s*""")
SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|mr|mrs|dr|st|al|vol|p|pp|a\.m|p\.m)|\b[A-Z]|^\d+)\.$", re.I
)
BOLD = re.compile(r"\*\*|(?<!\w)__(?=\S)([^_\n]+ [^_\n]+)(?<=\S)__(?!\w)")  # __init__ is a name
CODE = re.compile(r"(`[^`]*`)")
GLUED = re.compile(r"(?<=[a-z)`][.:;])\d{1,2}\.$|(?<=[)`])\d{1,2}\.$")  # the number of the item that comes next
LINK = re.compile(r"\[([^\]\n]{1,200})\]\((?:https?://|/|\.|#)[^)\n]{0,500}\)")
# a line of a block that may hold commands: no comment, drawing, outline or assignment
COMMAND = re.compile(r"\s*(?:[$>] )?(?:[A-Z_]+=\S* )*[a-z.~/][\w.~/+-]*(?= (?![=:]|[+*-]=)|\s*$)[^→├└│═─]*$")
SHELLS = frozenset(("bash", "sh", "shell", "console", "zsh", ""))  # blocks that may hold commands to run
LIST_INTRO = re.compile(r"[:：]\s*$")
LABEL = re.compile(r"[^\W\d_][\w-]{2,30}[:：]$")  # of a list, in one word


class Sentence(NamedTuple):
    """Something a text says, as it stands there but for layout."""

    text: str
    kind: str  # prose | item | row | code
    under: str  # the heading or the line that introduces it
    place: int  # among the sentences of its text; what is passed over counts
    done: bool = False  # an item that is ticked


def sentences(text: str, titled: bool = False) -> Iterator[Sentence]:
    """What a text says, in its order; with the first of its headings where that is the title of it all."""
    place, heading, intro = 0, "", ""
    for kind, line, done in _blocks(text[:LONGEST]):
        if kind == "heading":
            if titled:
                yield Sentence(line, "prose", "", place)
            titled = False
            heading, intro = line, ""
            place += 1
            continue
        if kind in ("left out", "label"):
            intro = line if kind == "label" else intro
            place += 1
            continue
        if kind in ("row", "code"):
            yield Sentence(line, kind, intro or heading, place)
            place += 1
            continue
        under = (intro or heading) if kind == "item" else heading
        last = ""
        for last in (GLUED.sub("", one) for one in split(line)):
            if any(map(str.isalnum, last)) and len(last) <= SENTENCE:
                yield Sentence(last, kind, under, place, done)
            place += 1
        if kind == "prose":
            intro = last if LIST_INTRO.search(last) else ""


def _blocks(text: str) -> Iterator[tuple[str, str, bool]]:
    """Lines that belong together, with what they are: prose, item, row, heading, label, or left out."""
    block: list[str] = []
    kind, done, code, shell = "", False, "", False
    header = False  # the last line was the head of a table
    for line in [*text.splitlines(), ""]:
        fence = FENCE.match(line)
        if fence and (not code or code == fence[1]):
            code, shell = ("", False) if code else (fence[1], line.strip()[3:].strip().casefold() in SHELLS)
            here = ""
        elif code and shell and COMMAND.match(line):
            here = "code"
        else:
            here = "" if code else _kind(line)
        if here == "prose" and block and kind in ("prose", "item") and _goes_on(block[-1], line):
            block.append(_bare(line))
            continue
        if block:
            yield kind, " ".join(block), done
            block = []
        if not here and line.strip():
            yield "left out", "", False
        if here == "code":
            yield "code", " ".join(line.split()), False
            continue
        if here == "row":
            if not header:
                header = True
            else:
                cells = [cell for cell in (_bare(one) for one in line.strip().strip("|│").split("|")) if cell]
                if cells:
                    yield "row", " · ".join(cells), False
            continue
        header = header and bool(RULER.match(line))
        if here == "heading":
            yield "heading", _bare(line.strip().lstrip("#").strip().strip("*_").rstrip(":")), False
        elif here:
            item = ITEM.match(line)
            kind, done = here, bool(item and DONE_ITEM.match(line))
            block = [_bare(line[item.end() :] if item else line)]
    if block:
        yield kind, " ".join(block), done


def _kind(line: str) -> str:
    bare = line.strip()
    if not bare or RULER.match(line):
        return ""
    if HEADING.match(line):
        return "heading"
    if ROW.match(line):
        return "row"
    if LABEL.match(bare):
        return "label"
    item = ITEM.match(line)
    if item:
        bare = line[item.end() :].strip()
    if RAW.match(bare) or CODE_END.search(bare) or not is_prose(bare):
        return ""
    return "item" if item else "prose"


def is_prose(line: str) -> bool:
    """Whether a line reads like words: mostly letters and blanks, no word as long as a key."""
    head = line[:400]
    letters = sum(map(str.isalpha, head))
    wide = 0 if head.isascii() else sum("\u2e80" <= char <= "\ud7a3" for char in head)
    if not letters or any(len(word) > 80 and "/" not in word for word in line[:2000].split()):
        return False
    return letters + head.count(" ") >= 0.6 * len(head) and (" " in head.strip() or wide > 3)


def _goes_on(before: str, line: str) -> bool:
    """Whether a line is the rest of the one before it, which somebody wrapped."""
    start = line.lstrip()[:1]
    if before[-1:] in ".!?:。！？" or not start or start == ">" or line[:1].isspace() != before[:1].isspace():
        return False
    return len(before) >= 70 or (len(before) >= 40 and start.islower())


def _bare(line: str) -> str:
    """A line without what only lays it out."""
    line = line.strip().lstrip(">").strip()
    if "**" in line or "__" in line:
        line = "".join(part if part[:1] == "`" else BOLD.sub(r"\1", part) for part in CODE.split(line))
    if "](" in line:
        line = LINK.sub(r"\1", line)
    return " ".join(line.split())


def split(block: str) -> Iterator[str]:
    """The sentences of a block of prose."""
    begin, counted, ticks = 0, 0, 0
    for end in END.finditer(block):
        ticks += block.count("`", counted, end.end())
        counted = end.end()
        sentence = block[begin : end.end()].strip()
        after = block[end.end() : end.end() + 1]
        if ticks % 2 or after.islower() or (end[0][0] == "." and SHORT.search(sentence[-12:])):
            continue
        if sentence:
            yield sentence
        begin = end.end()
    if rest := block[begin:].strip():
        yield rest
