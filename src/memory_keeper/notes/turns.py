"""A request and what came of it as a line: the user's words, the conclusion, and what was done in brackets.

"fix the login test" → The cookie was never set because the domain had no dot. [changed src/login.py, tests/login.py;
`pytest -q` passed: 12 passed; committed 1a2b3c4 "Set the cookie's domain"; pushed]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from posixpath import commonpath

from memory_keeper.extract.facts import KINDS, UNDER, Fact, quote, run_on, say
from memory_keeper.text import clean, one_line

REQUESTS = ("request", "accepted")
WENT_ON = "Went on: "  # with what an earlier note begins with
TICKS = "✅✓✔☑🎉✨⚠🟢🟡🔴\ufe0f "
RAN, FAR = 4, 16  # commands of a turn that are told, the last; characters of a folder that is told once
FILES = 8  # that are named of those that were changed
BULLET = re.compile(r"^(?:[-*•] )+")
MARKS = re.compile(rf"(^|[;:.!?] )[{TICKS[:-1]}⏳🎯🔥📊]+ *")  # what stands before a sentence or an item
# headings that say nothing of what stands under them
EMPTY = re.compile(
    r"\W*(?:\d+[.)]\W*)?(?:(?:the|key|main|final|quick|brief|overall|all|full|current|executive)\W+)*"
    r"(?:summar(?:y|ies)|chang(?:es?|ed)(?: made)?|results?|details?|overview|updates?|notes?|answer"
    r"|what (?:was|i|changed|we|it|this|that|just|you)\b.*|fix(?:es|ed)?(?: applied)?|status|conclusions?|findings?"
    r"|actions taken|done|completed?|output|state|implementation|here\b.*|step \d+)\b(?:\W*\d*\W*)$",
    re.I,
)


def turns(facts: Iterable[Fact], went_on: str = WENT_ON) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A line for each request, with what came of it, and what it rests on; facts come in order."""
    by_turn: dict[int, list[Fact]] = {}
    for fact in facts:
        by_turn.setdefault(fact.turn, []).append(fact)
    found: list[list[Fact]] = []
    for those in by_turn.values():
        if found and not any(fact.kind in REQUESTS for fact in those):
            found[-1] += those  # nothing is told of what was asked there
        else:
            found.append(those)
    for those in found:
        text = one_line(clean(_turn(those, went_on)), 1 << 20)
        yield text, tuple(dict.fromkeys(cite for fact in those for cite in fact.cites))


def label(heading: str) -> str:
    """A heading that says something of what stands under it; empty for one that does not, or is a sentence."""
    heading = heading.strip(f" *#:{TICKS}")
    return "" if EMPTY.fullmatch(heading) or len(heading) > UNDER else heading


def _turn(facts: Sequence[Fact], went_on: str) -> str:
    nods = {fact.cites[:1]: fact for fact in facts if fact.kind == "accepted"}
    asked = whole([fact for fact in facts if fact.kind == "request" and fact.cites[:1] not in nods])
    rest = [fact for fact in facts if fact.kind not in REQUESTS]
    words = "; ".join([*([quote(run_on(asked))] if asked else []), *map(say, nods.values())])
    done = "; ".join(_done([fact for fact in rest if _is_work(fact)]))
    came = " ".join([*_came([fact for fact in rest if not _is_work(fact)]), *([f"[{done}]"] if done else [])])
    return f"{words} → {came}" if words and came else words or f"{went_on}{came}"


def whole(facts: Sequence[Fact]) -> list[Fact]:
    """Sentences of requests, without those that another one of the same event has in it."""
    return [
        fact
        for fact in facts
        if not any(fact.text != one.text and fact.cites == one.cites and fact.text in one.text for one in facts)
    ]


def _is_work(fact: Fact) -> bool:
    return fact.who == "tool" and KINDS[fact.kind].work


def _came(facts: Iterable[Fact]) -> Iterator[str]:
    """What was said of a request, in order: sentences, each with the heading it stands under."""
    under = ""
    for fact in facts:
        heading = fact.about.rstrip(":") if fact.kind != "answer" else ""
        text = BULLET.sub("", MARKS.sub(r"\1", say(fact)))
        text = text if text[-1:] in ".!?:;,…。！？)" else f"{text}."
        if fact.who == "tool":
            yield f"A subagent reported: {quote(text)}"
        else:
            yield f"{heading}: {text}" if heading and heading != under else text
        under = heading


def _done(facts: Sequence[Fact]) -> Iterator[str]:
    """What was done, each thing once: files by what became of them, commands by their last result, then commits."""
    files: dict[str, str] = {}
    for fact in (fact for fact in facts if fact.kind == "edit"):
        files[fact.text] = "created" if files.get(fact.text) == "created" else fact.status
    for status in dict.fromkeys(files.values()):
        names = [path for path, became in files.items() if became == status]
        folder = commonpath(names) if len({name[:1] == "/" for name in names}) == 1 and len(names) > 1 else ""
        where = f" in {folder}" if len(folder) >= FAR else ""
        names = [name[len(folder) :].strip("/") or name for name in names] if where else names
        more = ", …" * (len(names) > FILES)
        yield f"{status} {', '.join(names[:FILES])}{more}{where}"
    ran = {fact.text: fact for fact in facts if fact.kind in ("error", "check")}
    yield from map(say, sorted(ran.values(), key=lambda fact: fact.place)[-RAN:])
    others = {(fact.kind, fact.text): fact for fact in facts if fact.kind not in ("edit", "error", "check")}
    if len(others) > 1:
        others = {key: fact for key, fact in others.items() if not fact.text.startswith("Merge ")}
    yield from map(say, others.values())  # of a commit that was amended the last
