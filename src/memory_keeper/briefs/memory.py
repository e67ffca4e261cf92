"""The memory as pages for people: composed of notes, and read back to find what a person changed.

Each section says in a comment which note it shows, and in which wording; the last line says which notes were shown at
all. So a page tells by itself what in it is ours, whatever became of the notes since: a section that is not as that
wording reads was edited, one without a comment was written by hand, and one that the last line names and that is not
there was taken away. A page without its last line is cut off, and takes nothing away. The first line is signed with the
home's salt: a page that a repository brings along cannot pass for the user's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from time import gmtime, localtime, strftime

from memory_keeper import wire
from memory_keeper.briefs.files import LISTED
from memory_keeper.model import NamedTuple, Note, origin
from memory_keeper.provenance import imported_from
from memory_keeper.text import clean, showable

try:
    from _blake2 import blake2s  # hashlib would load OpenSSL: 3 ms and a megabyte
except ImportError:
    from hashlib import blake2s


NEVER = -1.0  # no time in the heading
BEFORE = "Before that"  # the heading of the newest outline
IMPORTED = "imported from "  # and how that of an imported note begins
MARKDOWN = "markdown"  # the form of a text that is shown as it is, and not a sentence an item
OPENING = "<!-- memory-keeper "  # of every comment of ours
FREELY = "edit freely: what you change, add or take away is kept"
SIGNS = bytes(
    {*b"\t\n\v\f\r\x1b", *range(32, 256)} - {*b"\x7f\x81\x8d\x8f\x90\x9d"}
)  # that Latin-1, or Windows' own, has
HEAD = 4096  # bytes that the first line is looked for in
_ID = r"[\w.:-]{1,200}"
_FIRST = re.compile(rf"<!-- memory-keeper ({_ID}?)\.\.({_ID}) ([0-9a-f]{{16}})(?: .*)?-->")
_SECTION = re.compile(rf"<!-- memory-keeper (?!end )({_ID})(?: as ({_ID}))?(, yours)?(, same minute)? -->")
_LAST = re.compile(rf"<!-- memory-keeper end((?: {_ID})*) -->")
_MARKUP = re.compile(r"^(?:(?:#+|[-*+>|]|\d{1,3}[.)]) )+")  # what begins a heading, a list or a quotation
_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)_(\d\d)(\d\d)(?: \(local \d\d-\d\d_\d{4}\))?(?: +(.*))?")


class Section(NamedTuple):
    """A part of a page: a note as it is shown, or what somebody wrote."""

    body: str  # Markdown
    origin: str = ""  # the note that it shows; empty: written by hand
    wording: str = ""  # of that note, its id
    at: float = NEVER  # in its heading, to the minute
    heading: str = ""  # the words there
    yours: bool = False  # a person wrote it: there may be no other copy when the store is lost


class Page(NamedTuple):
    """What stands in a file."""

    sections: tuple[Section, ...]
    first: str = ""  # what its first line says; empty: it has none of ours
    last: str = ""
    mac: str = ""
    shown: tuple[str, ...] | None = None  # the wordings that it was composed of; None: its end is missing


# --- notes and their Markdown ----------------------------------------------------------------------------------------


def section(note: Note, heading: str = "") -> Section:
    """A note as it is shown: a standing one bare, any other under its time, or under a heading."""
    at = NEVER if heading or note.level == 0 else showable(note.at) // 60 * 60
    tool = imported_from(note) if at != NEVER else ""
    heading = f"{IMPORTED}{tool}" if tool else heading
    return Section(body_of(note), origin(note), note.id, at, heading, note.who == "user")


def body_of(note: Note) -> str:
    """A note's Markdown: a line an item, but what is Markdown already as it is."""
    text = clean(note.text)
    if note.kind in LISTED.values():
        return item(text)
    if note.level == 0 or _form(note) == MARKDOWN:
        return plain(text, headings=note.level > 0)
    return "\n".join(f"- {line.strip()}" for line in text.split("\n") if line.strip())


def item(text: str) -> str:
    """A text on one line that begins neither a heading nor a list, and hides nothing in a comment."""
    return _MARKUP.sub("", " ".join(clean(text).split())).replace("<!--", "‹!--")


def text_of(body: str) -> tuple[str, str]:
    """The text of a note that is shown so, and its form: empty for one that is a list of lines."""
    items = [line[2:] for line in body.split("\n") if line.startswith("- ")]
    if body.count("\n") + 1 == len(items) and all(item and item == item.strip() for item in items):
        return "\n".join(items), ""
    return body, MARKDOWN


def said(section: Section) -> str:
    """All that a section says in Markdown: the words of a heading that is not ours become a lesser one."""
    words = "" if section.origin and section.heading.startswith((BEFORE, IMPORTED)) else section.heading
    return "\n".join(part for part in (words and f"### {words}", section.body) if part)


def plain(text: str, headings: bool = True) -> str:
    """Markdown that can stand in a section: without comments of ours, and with no heading that would begin another."""
    lines = [line for line in text.split("\n") if not _is_mark(line)]
    if headings:
        lines = ["#" + line if begins else line for line, begins in _beginnings(lines)]
    return _trimmed(lines)


def _form(note: Note) -> str:
    return str(wire.read_object(note.extra).get("form", ""))


# --- to pages and back -----------------------------------------------------------------------------------------------


def compose(sections: Sequence[Section], project: str, salt: bytes, opening: str = "", about: str = FREELY) -> str:
    """The page of some sections, behind an opening if it has one; its first line says what it is about."""
    first, last = sections[0].origin, sections[-1].origin
    mac = sign(project, first, last, salt)
    parts = [f"{OPENING}{first}..{last} {mac} {about} -->\n"]
    parts += [f"{opening}\n"] if opening else []
    headings = ["", *map(_heading, sections)]  # those of one minute stand under one
    parts += [_shown(section, above) for section, above in zip(sections, headings, strict=False)]
    parts.append(f"{OPENING}end {' '.join(section.wording for section in sections)} -->\n")
    return "\n".join(parts)


def parse(text: str, headings: bool = True) -> Page:
    """What stands on a page, whoever wrote it; `headings`: one of the second degree begins a section."""
    text = clean(text.removeprefix("\ufeff"))
    lines = text.split("\n")
    found = next((_FIRST.fullmatch(line.strip()) for line in lines if line.strip()), None)
    ends = [match for match in map(_LAST.fullmatch, map(str.strip, lines)) if match]
    shown = tuple(id for match in ends for id in match[1].split()) if ends else None
    first, last, mac = (found[1], found[2], found[3]) if found else ("", "", "")
    return Page(tuple(_sections(lines, headings)), first, last, mac, shown)


def owner(project: str, kind: str) -> str:
    """For whom a page is signed: what stands in the memory does not become a standing note, nor a rule, by being copied
    there."""
    return f"{project}\0{kind}" if kind != "note" else project


def parse_first(data: bytes) -> Page:
    """Who wrote a page, by its first line, without reading the rest."""
    return parse(decode(data[:HEAD].strip().partition(b"\n")[0]))


def is_ours(page: Page, project: str, salt: bytes) -> bool:
    """Whether we composed a page for this project, whatever a person has made of it since."""
    return bool(page.mac) and page.mac == sign(project, page.first, page.last, salt)


def sign(project: str, first: str, last: str, salt: bytes) -> str:
    """What only this home can put on a page."""
    given = "\0".join((project, first, last)).encode("utf-8", "surrogatepass")
    return blake2s(given, key=salt, digest_size=8).hexdigest()


def seal(body: str, name: str, project: str, salt: bytes) -> str:
    """A page that nobody is to edit; its last line is signed over all the others."""
    mac = sign(project, name, body, salt)
    return f"{body}{_opening(name)}{mac} made of what is kept; if you change this page, it is left alone -->\n"


def is_sealed(data: bytes, name: str, project: str, salt: bytes) -> bool:
    """Whether a file is such a page that we made for this project, and nobody has changed it since."""
    text = data.decode("utf-8", "replace")
    end = text.rfind(_opening(name))
    return end > 0 and text == seal(text[:end], name, project, salt)


def _opening(name: str) -> str:
    return f"{OPENING}{name.removesuffix('.md').lower().replace('_', '-')} "


def decode(data: bytes) -> str:
    """A file's text; a line that is not UTF-8 is taken for Latin-1, which loses nothing."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "\n".join(_decode_line(line) for line in data.split(b"\n"))


def is_text(data: bytes) -> bool:
    """Whether somebody wrote this: in UTF-8 without a NUL, or else in bytes that Latin-1 has signs for."""
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return not data.translate(None, SIGNS)


def _decode_line(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _heading(section: Section) -> str:
    return " ".join(part for part in (_stamp(section.at) if section.at != NEVER else "", section.heading) if part)


def _shown(section: Section, above: str) -> str:
    words = _heading(section)
    again = words == above != ""
    heading = f"## {words}\n" if words and not again else ""
    wording = f" as {section.wording}" if section.wording != section.origin else ""
    yours = ", yours" if section.yours else ""
    same = ", same minute" if again else ""
    return f"{heading}{OPENING}{section.origin}{wording}{yours}{same} -->\n{section.body}\n"


def _stamp(at: float) -> str:
    return strftime("%Y-%m-%d_%H%M", gmtime(at)) + strftime(" (local %m-%d_%H%M)", localtime(at))


def _sections(lines: Iterable[str], headings: bool) -> Iterator[Section]:
    """The comments part the page; what stands above one as its heading belongs to it."""
    own: list[str] = []
    mark: re.Match[str] | None = None
    above = ""  # the heading of the part we are in
    for line in lines:
        if not _is_mark(line):
            own.append(line)
            continue
        found = _SECTION.fullmatch(line.strip())
        heading = _pop_heading(own) if found and headings else ""
        heading = heading or (above if found and found[4] else "")
        yield from _split(own, mark, above, headings)
        own, mark, above = [], found, heading
    yield from _split(own, mark, above, headings)


def _pop_heading(lines: list[str]) -> str:
    """Take the heading off that these lines end with, blank ones apart."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    if not end or not lines[end - 1].startswith("## "):
        return ""
    heading = lines[end - 1]
    del lines[end - 1 :]
    return heading


def _split(lines: list[str], mark: re.Match[str] | None, heading: str, headings: bool) -> Iterator[Section]:
    """A part between two comments: the note's own section, then those that somebody began by a heading."""
    pieces: list[tuple[str, list[str]]] = [(heading, [])]
    for line, begins in _beginnings(lines):
        if begins and headings:
            pieces.append((line, []))
        else:
            pieces[-1][1].append(line)
    for number, (above, own) in enumerate(pieces):
        known = mark if number == 0 else None
        at, words = _read_heading(above)
        body = _trimmed(own)
        if known:
            yield Section(body, known[1], known[2] or known[1], at, words, bool(known[3]))
        elif body or words:
            yield Section(body, "", "", at, words)


def _read_heading(line: str) -> tuple[float, str]:
    words = line.removeprefix("## ").strip()
    match = _STAMP.fullmatch(words)
    try:
        numbers = [int(number) for number in match.groups()[:5]] if match else []
        at = datetime(*numbers, tzinfo=UTC).timestamp() if match else NEVER  # type: ignore[arg-type,misc]
    except (ValueError, OverflowError):
        return NEVER, words
    return (at, (match[6] or "").strip()) if match and at >= 0 else (NEVER, words)


def _beginnings(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it begins a section: not in a block of code, where a # is a comment."""
    fenced = ""
    for line in lines:
        fence = line.lstrip(" ")[:3]
        if fence in ("```", "~~~") and (not fenced or fence == fenced):
            fenced = "" if fenced else fence
        yield line, not fenced and line.startswith("## ")


def _is_mark(line: str) -> bool:
    line = line.strip()
    return line.startswith(OPENING) and any(mark.fullmatch(line) for mark in (_SECTION, _LAST, _FIRST))


def _trimmed(lines: Sequence[str]) -> str:
    """Lines without the blank ones at either end."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[start:end])
