"""What was done with tools: commands and how they ended, errors and whether they are fixed, edits, commits, pushes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_keeper.capture.calls import COMMITTED, commits, fields, quiet_commit, steps, undone
from memory_keeper.capture.runs import PREPARING, Run, arguments, bare, hearts, match, outcome, program, runs, works
from memory_keeper.capture.signature import edges, find_wrong
from memory_keeper.extract.facts import Fact
from memory_keeper.extract.spoken import EACH
from memory_keeper.model import WRITES, Event
from memory_keeper.text import clean, one_line

COMMAND, STEP, LINE, SUBJECT = 120, 72, 170, 120  # characters of a command, a step of it, what it said, a subject
END = 6_000  # characters at the end of an output in which its sum stands
FAILING = 3  # tests that are named
SUMS = re.compile(  # the line of an output that sums it up
    r"^.*?(?:\b\d+ (?:tests? )?(?:passed|failed|passing|failing)\b|^(?:ok|FAIL|PASS)\s+\S+|\b\d+ (?:issues?|errors?"
    r"|warnings?|problems?)\b|Tests?:\s+\d|test result: |BUILD \w+|Ran \d+ tests?|OK \(|FAILED \().*$",
    re.M | re.I,
)
CHECKS = re.compile(
    r"^(?!git |gh ).*?(?:\b(?:tests?|check|lint|build|vet|clippy|tsc|mypy|pytest|jest|vitest|compile|fmt|ci|verify|spec"
    r"|typecheck)\b|test:)",
    re.I,
)
QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|https?://\S+")  # words of a command that do not say what it does
CHECKING = 5  # words of a command in which it says so
PIPED_AWAY = re.compile(
    r"\bcommand not found: (?:grep|rg|head|tail|jq|awk|sed|timeout)\b"
    r"|\b(?:grep|rg|head|tail|jq|awk|sed|timeout): command not found"
)
EMPTY = re.compile(  # of a check that checked nothing
    r"\b(?:no test files found|no tests? (?:were )?(?:ran|run|found|collected)|collected 0 items|ran 0 tests"
    r"|0 tests? ran|no test suite found)\b",
    re.I,
)
FAILED_TEST = re.compile(
    r"^[ \t]*(?:--- FAIL: (\S+)|FAILED (\S+)|✕ (.{3,80})$|× (.{3,80})$|test (\S+) \.\.\. FAILED)", re.M
)
ASSERTS = re.compile(r"^.*\w\.\w{1,4}:\d+:.*\b(?:want|expected|got|assert\w*|error|cannot|fail\w*)\b.*$", re.M | re.I)
OF_FILES = re.compile(r"^[ \t]*Test (?:Files|Suites):?[ \t].*$", re.M)  # a sum of files, not of tests
OF_PACKAGE = re.compile(r"ok\s+\S+[/.]")  # of many no single one sums up the run
NOTHING_ELSE = re.compile(r"[;,] (?:0 \w+(?: out)?|finished in [\d.]+ ?s)\b")  # of a sum: `0 failed; 0 ignored`
PASSED = re.compile(r"\b(\d+) passed\b")
PUBLISHES = re.compile(r"\bgit\b|\bjj\b")
ELSEWHERE = re.compile(r"^\s*cd ([~/][^\s;&|]+)\s*(?:&&|;)|\bgit -C ([~/]\S+)")  # the repository, where it is said
PUSHES = re.compile(r"git (?:-C \S+ )?push\b|jj git push\b")
JJ_COMMITS = re.compile(r"^jj (?:commit|ci|describe|desc)\b[^\n]*?(?:-m|--message)[ =]?(?:\"([^\"\n]+)|'([^'\n]+))")
MERGES = re.compile(r"\bgh pr merge\b(?:[ \t]+(\d{1,7})\b)?")
EVERYTHING = frozenset(("./...", "...", ".", "./"))  # what a broad command is about
PULL = re.compile(r"https?://[^\s\"']{1,200}/(?:pull|merge_requests)/\d+")
TRAILS = re.compile(r"\s+(?:[A-Z][a-z]+-)+[A-Za-z]+: \S.*$")  # of a message that was printed on one line
LOGGED = re.compile(r"^([0-9a-f]{7,40}) (?:\([^)\n]*\) )?(\S.{3,200})$", re.M)
DEFINES = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:pub(?:\([^)\n]{0,40}\))?[ \t]+)?"
    r"(?:(?:public|private|static|async|abstract|final)[ \t]+)*"
    r"(?:func(?:[ \t]*\([^)\n]{0,200}\))?|def|class|type|interface|struct|enum|trait|fn|function|protocol)"
    r"[ \t]+([A-Za-z_]\w{2,60})",
    re.M,
)
TAKEN_BACK = "took back changes of"  # the status of an edit that was undone
DEFINED = 8  # names that are told of a file


def worked(events: Sequence[Event], turns: Sequence[int]) -> list[Fact]:
    """All of it in order; `turns` has the number of each event's turn."""
    return sorted([*_ran(events, turns), *_edited(events, turns)], key=lambda fact: fact.place)


def _ran(events: Sequence[Event], turns: Sequence[int]) -> Iterator[Fact]:
    ended = [(run, *outcome(run)) for run in runs(events) if run.command]
    for number, (run, wrong, _) in enumerate(ended):
        said, turn, place = clean(edges(run.result.text)), turns[run.place], run.place * EACH
        cites, at = (run.call.id, run.result.id), run.result.at
        if (not wrong and PUBLISHES.search(run.command)) or "gh " in run.command:
            yield from _published(run, said, turn)
        if run.call.agent:
            continue  # its commits are in the project; how it got there is its own affair
        if not wrong:
            for step in steps(run.command):
                if bare(step) in works(run.command):
                    yield Fact("command", one_line(step, STEP), cites, at, "tool", turn, place)
        line = as_typed(run.command)
        if not line:
            continue
        if wrong and PIPED_AWAY.search(said[-END:]):
            continue  # what printed the end of it is missing: nobody knows how it ended
        if wrong:
            status = "fixed" if _is_fixed(run, ended[number + 1 :]) else "open"
            yield Fact("error", line, cites, at, "tool", turn, place, why=_reason(said), status=status)
        elif (is_check(run.command) or PASSED.search(said[-END:])) and not EMPTY.search(said[-END:]):
            passed, why = _sum(said)
            yield Fact("check", line, cites, at, "tool", turn, place, passed, why, "passed")


def is_check(line: str) -> bool:
    """Whether a command line verifies something: one of its steps is a test, a lint or a build."""
    found = (" ".join(QUOTED.sub("", step).split()[:CHECKING]) for step in hearts(line) if not PREPARING.match(step))
    return any(map(CHECKS.search, found))


def _sum(said: str) -> tuple[str, str]:
    """How many tests passed in all, where an output has several parts, and the line that sums up the last of them."""
    passed = [int(found[1]) for found in PASSED.finditer(OF_FILES.sub("", said[-20_000:]))]
    total = f"{sum(passed)} passed in all" if len(passed) > 1 else ""
    sums = [*filter(SUMS.search, reversed(said[-END:].splitlines()))]
    if len(packages := [line for line in sums if OF_PACKAGE.match(line)]) > 1:
        return total, f"{len(packages)} packages ok"
    summed = max(sums, key=lambda line: sum(map(int, PASSED.findall(line))), default="")  # of equals the last
    return total, one_line(NOTHING_ELSE.sub("", summed.strip("=─ ")), LINE)


def as_typed(command: str) -> str:
    """The steps of a command line that mattered, as they were typed: no change of folder, no settings, no pipes."""
    hearty = set(hearts(command))
    typed = [one for one in steps(command) if bare(one) in hearty and not PREPARING.match(one)]
    typed = typed or [one for one in steps(command) if bare(one) in hearty]
    line = " && ".join(dict.fromkeys(typed))
    # where something between them is left out, that shows
    return one_line(line if line in " ".join(command.split()) else line.replace(" && ", " … "), COMMAND)


def _reason(said: str) -> str:
    """What an output says went wrong: the tests that failed, and the most telling line."""
    tests = dict.fromkeys(next(filter(None, found.groups())) for found in FAILED_TEST.finditer(said))
    named = ", ".join([*tests][:FAILING]) + (f" and {len(tests) - FAILING} more" if len(tests) > FAILING else "")
    line = next((one_line(one.line, LINE) for one in find_wrong(said, 1)), "")
    if FAILED_TEST.match(line) or not line:  # that says which, and not why
        line = next((one_line(found[0].strip(), LINE) for found in ASSERTS.finditer(said[-END:])), line)
    return f"{named}: {line}" if named and line and not any(test in line for test in tests) else line or named


def _is_fixed(failed: Run, later: Sequence[tuple[Run, bool, bool]]) -> bool:
    """Whether a later run shows that what failed works: the same command, or a broader one, that went well."""
    tried = [(program(step), arguments(step), bool(CHECKS.search(step))) for step in hearts(failed.command)]
    for run, wrong, sure in later:
        if wrong:
            continue
        if sure and match(failed, run).like:
            return True
        for step in works(run.command):
            name, about = program(step), arguments(step) - EVERYTHING
            for mine, of, check in tried:
                same = name == mine or step.startswith(f"{mine}:")
                family = check and CHECKS.search(step) and not about and name.split()[:1] == mine.split()[:1]
                if (same and about <= of) or (sure and family):
                    return True
    return False


def _subject(text: str) -> str:
    """What a commit is called, without what is set behind it."""
    return one_line(TRAILS.sub("", text), SUBJECT)


def _published(run: Run, said: str, turn: int) -> Iterator[Fact]:
    """Commits, pushes and pull requests."""
    line, at, place, cites = run.command, run.result.at, run.place * EACH, (run.call.id, run.result.id)
    elsewhere = ELSEWHERE.search(line)
    where = next(filter(None, elsewhere.groups())) if elsewhere else ""
    if commits(line):
        made = COMMITTED.findall(said)
        for branch, digest, subject in made:
            yield Fact("commit", _subject(subject), cites, at, "tool", turn, place, digest[:8], where, branch)
        if not made and (subject := quiet_commit(line)):
            digest = next((found[1] for found in LOGGED.finditer(said) if found[2].startswith(subject[:20])), "")
            yield Fact("commit", _subject(subject), cites, at, "tool", turn, place, digest[:8], where)
    for found in filter(None, map(JJ_COMMITS.match, works(line))):
        yield Fact("commit", one_line(found[1] or found[2], SUBJECT), cites, at, "tool", turn, place, why=where)
    if any(map(PUSHES.match, works(line))) and "rejected" not in said:
        yield Fact("push", "", cites, at, "tool", turn, place + 1, why=where)
    linked = PULL.search(said)
    if "pr create" in line and linked:
        yield Fact("pr", linked[0], cites, at, "tool", turn, place + 2)
    if (merged := MERGES.search(line)) and not run.result.failed and "ERROR" not in said:
        pull = f"#{merged[1]}" if merged[1] else linked[0] if linked else ""
        yield Fact("pr", pull, cites, at, "tool", turn, place + 2, status="merged")


def _taken_back(events: Sequence[Event], turns: Sequence[int], gone: set[str]) -> Iterator[Fact]:
    """The files of which changes were taken back: what was tried there did not do."""
    last = {event.path: (place, event) for place, event in enumerate(events) if event.id in gone}
    for path, (place, event) in last.items():
        yield Fact("edit", path, (event.id,), event.at, "tool", turns[place], place * EACH, status=TAKEN_BACK)


def _edited(events: Sequence[Event], turns: Sequence[int]) -> Iterator[Fact]:
    """The files that were changed in each turn, with what was defined in them; not what was refused or taken back."""
    answered = {event.ref for event in events if event.kind == "result"}
    refused = {event.ref for event in events if event.kind == "result" and event.failed}
    refused |= {event.ref for event in events if event.kind == "call"} - answered  # it waits for leave, or was cut off
    gone = undone(events)
    known: set[str] = set()
    edits: dict[tuple[int, str], list[tuple[int, Event, list[str], bool]]] = {}
    for place, event in enumerate(events):
        if event.kind != "call" or not event.path:
            continue
        if event.tool in WRITES and event.ref not in refused and event.id not in gone:
            given = fields(event)
            new = given.get("new_string") or given.get("content") or given.get("edits") or ""
            before = set(DEFINES.findall(given.get("old_string", "")))
            names = [name for name in DEFINES.findall(new[: 4 * END]) if name not in before]
            created = event.tool == "Write" and event.path not in known
            edits.setdefault((turns[place], event.path), []).append((place, event, names, created))
        known.add(event.path)
    yield from _taken_back(events, turns, gone)
    for (turn, path), those in edits.items():
        place, last, _, _ = those[-1]
        defined = dict.fromkeys(name for _, _, found, _ in those for name in found)
        status = "created" if those[0][3] else "changed"
        cites = tuple(event.id for _, event, _, _ in those[-4:])
        yield Fact(
            "edit", path, cites, last.at, "tool", turn, place * EACH, ", ".join([*defined][:DEFINED]), status=status
        )
