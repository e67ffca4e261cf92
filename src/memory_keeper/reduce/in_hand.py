"""What happened while a task was in hand: what of it went wrong and was mended, what was tested, what kind it was."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

from memory_keeper.capture.calls import WRITES, core, steps
from memory_keeper.model import NamedTuple
from memory_keeper.text import clean, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    from memory_keeper.keep.doing import Step

    Thing = TypeVar("Thing")
    Moment = tuple[float, int]  # when, and the number of the event: of one moment there may be many; 0: it has none

ERROR, SAID, SHOWN = 120, 160, 40  # characters of an error, of what was said, of a command
NAMED = 3  # files in which an error was mended that are named
TESTS = re.compile(r"\b(?:py)?tests?\b|\bspecs?\b|\bjest\b|\bvitest\b|\btox\b|\bnox\b|\bcheck\b|\bphpunit\b|\bmocha\b")
MARKS = "*->•✓✅ \t_"
PLAIN = re.compile(r"[\w./:@=+ -]+")  # a command that is quoted in a sentence of ours
THROWN = re.compile(r"\b[A-Z]\w{1,60}(?:Error|Exception|Warning)\b")
# kinds of files, by the first that fits; code has none
KINDS = (
    ("testing", re.compile(r"(?:^|/)(?:tests?|__tests__|specs?|e2e)/|(?:^|/)test_|[._-](?:test|spec|tests)\.", re.I)),
    ("docs", re.compile(r"\.(?:md|mdx|rst|adoc)$|(?:^|/)docs?/", re.I)),
    (
        "build",
        re.compile(r"(?:^|/)(?:\.github|\.circleci|docker|deploy)/|(?:^|/)(?:Dockerfile|Makefile)$|\.(?:lock|tf)$"),
    ),
    ("frontend", re.compile(r"\.(?:tsx|jsx|css|scss|html|vue|svelte)$")),
)
NAMES = ((re.compile(r"\btest(?:s|ing)?\b", re.I), "testing"), (re.compile(r"\b(?:docs?|readme)\b", re.I), "docs"))
# folders that say nothing of what lies in them
DULL = frozenset(
    ("src", "lib", "app", "apps", "pkg", "packages", "internal", "main", "cmd", "java", "python", "source")
)


class End(NamedTuple):
    """That a task was completed."""

    id: str  # its own; empty: it has none
    text: str
    session: str
    begin: Moment  # since when it was in hand
    end: Moment
    commits: tuple[str, ...] = ()
    outcome: str = ""  # as somebody gave it
    is_commit: bool = False  # nothing but a commit says so


def shares(ends: Sequence[End], things: Iterable[Thing], at: Callable[[Thing], Moment]) -> list[list[Thing]]:
    """What belongs to each of some tasks, which are in the order of their ends: what several had in hand belongs to the
    one that was done first."""
    found: list[list[Thing]] = [[] for _ in ends]
    moments = [end.end for end in ends]
    for thing in things:
        when = at(thing)
        for place in range(bisect_left(moments, when), len(ends)):
            if ends[place].begin < when:
                found[place].append(thing)
                break
    return found


def mended(done: Sequence[Step]) -> str:
    """The last error of some steps that went away, and where it was mended; empty when there is none."""
    broken: dict[str, tuple[str, list[str]]] = {}
    last: tuple[str, str, list[str]] | None = None
    for step in done:
        if step.tool in WRITES:
            for _, files in broken.values() if not step.wrong else ():
                files.append(stem(step.path))
        elif heart := core(command(step)):
            if step.wrong:
                broken[heart] = step.wrong, []
            elif heart in broken:
                last = heart, *broken.pop(heart)
    return _mended(*last) if last else ""


def _mended(heart: str, output: str, files: Sequence[str]) -> str:
    from memory_keeper.reduce.finding import wrong_line

    said = one_line(clean(wrong_line(output)), ERROR) or "failed"
    where = ", ".join(dict.fromkeys(files[-NAMED:]))
    return f"{said} (`{one_line(clean(heart), SHOWN)}`), fixed" + (f" in {where}" if where else "")


def kind_of(issue: str) -> tuple[str, str]:
    """The command and the class of an error that `mended` tells of; empty where it does not say them."""
    said, mark, rest = issue.rpartition(" (`")
    heart = rest.partition("`)")[0]
    thrown = THROWN.search(said)
    return (heart, thrown[0]) if mark and thrown and PLAIN.fullmatch(heart) else ("", "")


def tested(done: Sequence[Step]) -> str:
    """The tests that were run last, and did not fail; empty when none were."""
    for step in reversed(done):
        if step.tool not in WRITES and not step.wrong and TESTS.search(step.text):
            hearts = [core(one) for one in steps(command(step))]
            if found := next((heart for heart in hearts if TESTS.search(heart) and PLAIN.fullmatch(heart)), ""):
                return found[:SHOWN]
    return ""


def outcome(said: Iterable[str]) -> str:
    """What some answers, the newest first, say came of something: that it is done, or passes; empty: no such thing."""
    from memory_keeper.reduce.claims import PASSES, is_done
    from memory_keeper.reduce.finding import sentences

    told = (one.strip(MARKS) for text in said for one in sentences(clean(text)))
    return one_line(next((one for one in told if one and (is_done(one) or PASSES.search(one))), ""), SAID)


def pattern(files: Sequence[str], text: str) -> str:
    """What kind of task it was, in a word: by the files it changed, else by its own words; empty where that is not
    clear."""
    if not files:
        return next((name for words, name in NAMES if words.search(text)), "")
    kinds = [_kind(path) for path in files]
    if "" not in kinds and len({*kinds}) == 1:
        return kinds[0]
    code = [path for path, kind in zip(files, kinds, strict=True) if kind not in ("testing", "docs")] or [*files]
    folders = [next((part for part in reversed(path.split("/")[:-1]) if part.lower() not in DULL), "") for path in code]
    best = max(dict.fromkeys(folders), key=folders.count)
    if best and 2 * folders.count(best) > len(folders):
        return best[:SHOWN]
    return max(dict.fromkeys(kinds), key=kinds.count)


@lru_cache(4096)
def _kind(path: str) -> str:
    return next((name for name, those in KINDS if those.search(path)), "")


def command(step: Step) -> str:
    """The command line of a shell call, as far as it was read."""
    return ("\n" + step.text).partition("\ncommand: ")[2].partition("\ndescription: ")[0]


def stem(path: str) -> str:
    """A file's name without its ending: `handler` of `src/handler.ts`."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
