"""The memory of the earlier Memory Keeper, and of Crabshell, which it became: Markdown, summaries and session logs.

`memory.md` (or `logbook.md`) has a section for each interval; when it grew too long it was copied to an archive and
began anew with its own last lines, which are not read twice. A model summed each archive up in a `.summary.json`, which
nobody checked. `sessions/*.l1.jsonl` has a line for each thing that was said or done, often several times.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from memory_keeper import wire
from memory_keeper.briefs.files import BEFORE, ONE_EACH
from memory_keeper.imports import EVENT, LOG, OUTLINE, Entry, Where
from memory_keeper.imports.files import (
    is_ours,
    lines_of,
    modified,
    names_in,
    pieces,
    read_text,
    sections,
    stamped,
    time_of,
    words,
)
from memory_keeper.model import Json
from memory_keeper.notes.schema import BODY, MOST
from memory_keeper.text import many

ROOTS = ((".claude", "memory"), (".crabshell", "memory"), (".crabshell",), (".claude",))
ROLLING = ("memory", "logbook")
SUMMARY = ".summary.json"
ARCHIVE = re.compile(rf"(?:{'|'.join(ROLLING)})_(\d{{8}}_\d{{4,6}}).*")
TAIL = 12_000  # characters of an archive that the next memory may begin with
KEPT_OUTPUT = 4_000  # characters of what a tool said


def find(where: Where) -> list[str]:
    """The files of a memory: archives, then the memory itself, standing notes, and what was said in sessions."""
    found = [
        path
        for above in (where.paths or [where.root])
        for folder in _folders(os.path.abspath(above))
        for path in folder
    ]
    return sorted(dict.fromkeys(found), key=_order)


def _folders(above: str) -> Iterator[list[str]]:
    """The files of each folder that may have a memory: of a project, or of the memory itself."""
    name = os.path.basename(above)
    roots = [(above, path) for path in ROOTS]
    roots += [(os.path.dirname(above), (name,))] if name in ("memory", ".crabshell") else []
    for root, path in roots:
        base = "/".join((root, *path))
        # Claude Code's own folder has a `sessions` and a `project.md` of nobody's
        yield [f"{base}/{below}" for below in names_in(root, *path) if path[-1] != ".claude" and _kind(below)]
        yield [f"{base}/sessions/{below}" for below in names_in(root, *path, "sessions") if below.endswith(LOG)]


def _kind(name: str) -> str:
    """What a file of a memory is; empty: none of it."""
    stem = name.partition(BEFORE)[0]
    if stem.endswith(SUMMARY):
        return "summary"
    stem, dot, ending = stem.rpartition(".")
    if (dot, ending) != (".", "md"):
        return ""
    return "memory" if stem in ROLLING else "archive" if ARCHIVE.fullmatch(stem) else "note" if stem in ONE_EACH else ""


def _order(path: str) -> tuple[int, str]:
    name = os.path.basename(path)
    kinds = ("archive", "memory", "summary", "note", "")
    return kinds.index(_kind(name)), name


def read(
    where: Where, files: Sequence[str], complain: Callable[[str], None], progress: Callable[[int], None]
) -> Iterator[Entry]:
    """All that they say: of each archive its sections, then what sums them up."""
    summaries = {_stem(path): path for path in files if _kind(os.path.basename(path)) == "summary"}
    before = ""  # how the archive before ended
    for path in files:
        name = os.path.basename(path)
        kind = _kind(name)
        try:
            if kind in ("archive", "memory"):
                text = read_text(path)
                progress(len(text))
                if is_ours(text):
                    if BEFORE not in summaries.get(_stem(path), BEFORE):
                        list(_summed_up(summaries.pop(_stem(path)), [], complain))  # ours as well, if it is one
                    continue
                found = [entry for entry in _sections(text, path) if entry.text not in before]
                yield from found
                if kind == "archive":
                    before = text.replace("\r\n", "\n")[-TAIL:]
                    yield from _archived(path, found, summaries.pop(_stem(path), ""), complain)
            elif kind == "summary" and summaries.get(_stem(path)) == path:
                yield _summary(path, [])
            elif kind == "note":
                yield from _note(path, progress)
            elif not kind:
                yield from _log(path, complain, progress)
        except (OSError, ValueError) as error:
            complain(f"{path}: {error}")


def _stem(path: str) -> str:
    return os.path.basename(path).partition(BEFORE)[0].removesuffix(SUMMARY).removesuffix(".md")


def _sections(text: str, path: str) -> list[Entry]:
    return sections(text, "section", path, stamped(os.path.basename(path), modified(path)))


def _archived(path: str, found: Sequence[Entry], summary: str, complain: Callable[[str], None]) -> Iterator[Entry]:
    """What stands above the sections of an archive: the summary beside it, else one that is to be made."""
    entries = list(_summed_up(summary, found, complain)) if summary else []
    if found and not entries:
        entries = [Entry("archive", OUTLINE, _archived_at(path, found), "", path, covers=len(found))]
    yield from entries


def _summed_up(summary: str, found: Sequence[Entry], complain: Callable[[str], None]) -> Iterator[Entry]:
    try:
        yield _summary(summary, found)
    except (OSError, ValueError) as error:
        complain(f"{summary}: {error}")


def _archived_at(path: str, found: Sequence[Entry]) -> float:
    newest = max((entry.at for entry in found), default=0.0)
    return max(newest, stamped(os.path.basename(path), newest or modified(path)))


# --- summaries --------------------------------------------------------------------------------------------------------


def _summary(path: str, found: Sequence[Entry]) -> Entry:
    """A summary as far as it is one: a model wrote it, and no two have the same fields."""
    try:
        value = wire.loads(read_text(path))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it is no summary: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("it is no summary")
    outline = _outline(value)
    if not outline["overallSummary"]:
        raise ValueError("it is no summary: it says nothing")
    return Entry(
        "summary", OUTLINE, _archived_at(path, found), _told(outline), path, outline=outline, covers=len(found)
    )


def _outline(value: Json) -> Json:
    themes = [
        {"name": words(entry.get("name"), 200) or "unnamed", "summary": text, "sessions": []}
        for entry in _objects(value.get("themes"))
        if (text := words(entry.get("summary"), 4000) or words(entry.get("name"), 200))
    ]
    decisions = [
        {"decision": text, "reason": words(entry.get("reason"), 2000)}
        for entry in _objects(value.get("keyDecisions"))
        if (text := words(entry.get("decision"), 1000))
    ]
    issues = [
        {"issue": text, "status": "resolved" if entry.get("status") == "resolved" else "open"}
        for entry in _objects(value.get("issues"))
        if (text := words(entry.get("issue"), 1000))
    ]
    whole = words(value.get("overallSummary"), BODY["properties"]["overallSummary"]["maxLength"])
    whole = whole or "\n".join(str(theme["summary"]) for theme in themes)
    made = {"themes": themes, "keyDecisions": decisions, "issues": issues, "overallSummary": whole}
    return {"sectionCount": 0, **{name: part[:MOST] if isinstance(part, list) else part for name, part in made.items()}}


def _objects(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _told(outline: Json) -> str:
    """All that a summary says in lines, so that every part of it is found."""
    lines = [outline["overallSummary"]]
    lines += [f"{entry['name']}: {entry['summary']}" for entry in outline["themes"] if entry["summary"] not in lines[0]]
    for entry in outline["keyDecisions"]:
        lines.append(f"Decided: {entry['decision']}" + (f", because {entry['reason']}" if entry["reason"] else ""))
    lines += [f"Issue ({entry['status']}): {entry['issue']}" for entry in outline["issues"]]
    return "\n".join(" ".join(line.split()) for line in lines)


# --- standing notes ---------------------------------------------------------------------------------------------------


def _note(path: str, progress: Callable[[int], None]) -> Iterator[Entry]:
    text = read_text(path)
    progress(len(text))
    kind = os.path.basename(path).partition(".")[0]
    if not is_ours(text):
        yield from (Entry("standing note", kind, modified(path), piece, path) for piece in pieces(text))


# --- what was said in sessions ----------------------------------------------------------------------------------------


def _log(path: str, complain: Callable[[str], None], progress: Callable[[int], None]) -> Iterator[Entry]:
    at, session = stamped(os.path.basename(path), modified(path)), os.path.basename(path)[16:].partition(".")[0]
    tools: dict[str, str] = {}  # the calls whose results come later
    number, left = 0, list[int]()
    for number, line in enumerate(lines_of(path, progress), 1):
        if line.isspace():
            continue
        value = wire.read_object(line.decode("utf-8", "replace"))
        if not isinstance(role := value.get("role"), str):
            left.append(number)
            continue
        at = time_of(value.get("ts"), at)
        if entry := _event(value, role, at, path, tools):
            yield entry._replace(key=words(value.get("ts"), 40), session=session)
    if left:
        more = f", the first is line {left[0]}" if number > 1 else ""
        complain(f"{path}: {len(left)} of {many(number, 'line')} left out, no entry of a session{more}")


def _event(value: Json, role: str, at: float, path: str, tools: dict[str, str]) -> Entry | None:
    """A line of a session's log: who said what, or which tool did what to what."""

    def given(*names: str) -> str:
        return next((value[name] for name in names if isinstance(value.get(name), str) and value[name]), "")

    about = given("target", "path")
    if role in ("user", "assistant", "system"):
        text = given("text", "content")
    elif role == "tool":
        name = given("name")[:200]
        if call := given("tool_use_id"):
            tools[call] = name
        role, text = (
            name or "tool",
            "\n".join(filter(None, (about, given("cmd", "pattern", "diff", "text"), *_params(value)))),
        )
    elif role == "tool_result":
        text = given("output", "text")[:KEPT_OUTPUT]
        role = tools.pop(given("tool_use_id"), "") or "tool"
    else:
        return None
    return Entry("session line", EVENT, at, text, path, "", role, about) if text.strip() else None


def _params(value: Json) -> Iterable[str]:
    params = value.get("params")
    return [", ".join(str(name) for name in params[:20])] if isinstance(params, list) and params else ()
