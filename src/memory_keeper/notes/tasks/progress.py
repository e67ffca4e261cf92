"""What happened while a task was in hand: what of it went wrong and was mended, what was tested, what kind it was."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple, TypeVar

from memory_keeper.capture.calls import core, steps
from memory_keeper.capture.signature import wrong_line
from memory_keeper.extract.prose import sentences
from memory_keeper.extract.settled import states
from memory_keeper.extract.spoken import kind_of
from memory_keeper.model import WRITES
from memory_keeper.store.worklog import Step
from memory_keeper.text import clean, one_line

Thing = TypeVar("Thing")

LAST = 1 << 62  # after all that happened
ERROR, SAID, SHOWN = 120, 160, 40  # characters of an error, of what was said, of a command
NAMED = 3  # files in which an error was mended that are named
TESTS = re.compile(r"\b(?:py)?tests?\b|\bspecs?\b|\bjest\b|\bvitest\b|\btox\b|\bnox\b|\bcheck\b|\bphpunit\b|\bmocha\b")
FAILS = re.compile(  # the sentence, not what it mends
    r"\b(?:is|are|still|but|keeps?|[1-9]\d*|one|two|three|four|five|some|most|several|tests?)\s+(?:\w+\s+)?"
    r"(?:fail(?:s|ed|ing|ures?)?|broken)\b|\b(?:do|does|did|is|are)(?:n['’]t| not) (?:\w+ )?(?:work|pass|compil|run)"
    r"|실패",
    re.I,
)
PASSES = re.compile(
    r"\b(?:tests?|checks?|lint\w*)\b.{0,40}\b(?:pass(?:es|ed|ing)?|clean|green)\b|테스트.{0,20}통과", re.I
)
MARKS = "✓✔✅ "
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
    begin: int  # the place in its session after which it was in hand
    end: int
    at: float  # of its end
    commits: tuple[str, ...] = ()
    outcome: str = ""  # as somebody gave it
    is_commit: bool = False  # nothing but a commit says so


class Order:
    """The order of a session's main thread, which is that of its file: the times in there may be out of order."""

    def __init__(self, steps: Iterable[tuple[int, float]] = ()) -> None:
        ordered = sorted(steps)
        self.places = [place for place, _ in ordered]
        self.times = list(accumulate((at for _, at in ordered), max))

    def place(self, at: float) -> int:
        """Where something belongs of which only the time is known: before the first that happened then or later."""
        next = bisect_left(self.times, at)
        return self.places[next] - 1 if next < len(self.places) else LAST

    def after(self, place: int) -> int:
        """The place of what happened next."""
        next = bisect_right(self.places, place)
        return self.places[next] if next < len(self.places) else LAST


def shares(ends: Sequence[End], things: Iterable[Thing], place: Callable[[Thing], int]) -> list[list[Thing]]:
    """What belongs to each of some tasks, which are in the order of their ends: what several had in hand belongs to the
    one that was done first."""
    found: list[list[Thing]] = [[] for _ in ends]
    places = [end.end for end in ends]
    for thing in things:
        at = place(thing)
        for number in range(bisect_left(places, at), len(ends)):
            if ends[number].begin < at:
                found[number].append(thing)
                break
    return found


class Issue(NamedTuple):
    """An error that was fixed."""

    error: str  # the line that says it
    command: str  # that failed
    files: tuple[str, ...]  # that were changed before it worked

    @property
    def kind(self) -> tuple[str, str]:
        """The command and the class of the error; empty where it does not say them."""
        thrown = THROWN.search(self.error)
        return (self.command, thrown[0]) if thrown and PLAIN.fullmatch(self.command) else ("", "")

    def __str__(self) -> str:
        where = f" in {', '.join(self.files)}" if self.files else ""
        return f"{self.error} (`{self.command}`), fixed{where}"


def fixed(done: Sequence[Step]) -> Issue | None:
    """The last error of some steps that went away; None when there is none."""
    broken: dict[str, tuple[str, list[str]]] = {}
    last = None
    for step in done:
        if step.tool in WRITES:
            for _, files in broken.values() if not step.wrong else ():
                files.append(step.path.rpartition("/")[2])
        elif heart := core(command(step)):
            if step.wrong:
                broken[heart] = step.wrong, []
            elif heart in broken:
                output, files = broken.pop(heart)
                said = one_line(clean(wrong_line(output)), ERROR)
                issue = Issue(said, one_line(clean(heart), SHOWN), tuple(dict.fromkeys(files[-NAMED:])))
                last = issue if said else last
    return last


def tested(done: Sequence[Step]) -> str:
    """The tests that were run last, and did not fail; empty when none were."""
    for step in reversed(done):
        if step.tool not in WRITES and not step.wrong and TESTS.search(step.text):
            hearts = [core(one) for one in steps(command(step))]
            if found := next((heart for heart in hearts if TESTS.search(heart) and PLAIN.fullmatch(heart)), ""):
                return found[:SHOWN]
    return ""


def outcome(said: Iterable[str]) -> str:
    """What some answers, the newest first, say came of something: that it is done, or passes, and nothing that fails;
    empty: no such thing."""
    told = (one.text.strip(MARKS) for text in said for one in sentences(clean(text)))
    done = (one for one in told if one and (kind_of(one) == "done" or PASSES.search(one)))
    return one_line(next((one for one in done if states(one) and not FAILS.search(one)), ""), SAID)


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
