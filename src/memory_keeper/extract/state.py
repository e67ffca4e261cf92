"""Where the work stands: the branch, the last commits, what is not committed, the pull request, the last check."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_keeper.capture.calls import ends_with, steps
from memory_keeper.capture.runs import Run, arguments, outcome, program, runs, works
from memory_keeper.extract.facts import Fact, quote
from memory_keeper.extract.spoken import AGENTS, DOCUMENTS, EACH, Spoken
from memory_keeper.extract.work import ELSEWHERE, FAILED_TEST, LOGGED, SUBJECT, TAKEN_BACK, is_check
from memory_keeper.model import WRITES, Event
from memory_keeper.text import one_line

UNCOMMITTED = 12  # files that are named
REPOSITORIES = 3  # whose last commits are told
MAIN = ("main", "master", "trunk", "develop", "detached", "")
PULL = re.compile(r"\b(?:PR|MR|pull request)s? ?#?\d|/pull/\d|\bthe PR\b", re.I)
# a command about one: `gh pr edit 41`, `gh api repos/x/y/pulls/41/comments`
WORKED_ON = re.compile(r"\bgh pr [a-z-]+ +#?(\d{1,7})\b|\bgh api\b.{0,80}/pulls/(\d{1,7})\b")
BASE = re.compile(r"--base[ =]([\w./@+-]{1,100})")
ON_BRANCH = re.compile(r"^(?:On branch|Switched to (?:a new )?branch|Already on) '?([\w./@+-]{1,100})'?$", re.M)
# what nobody commits to the project: the host's own plans and memory, and scratch files
NOT_OURS = re.compile(r"/\.claude/(?:plans|projects|todos)/|^(?:/private)?/(?:tmp|var/folders)/")
DROPS_ALL = re.compile(r"^git (?:reset --hard|(?:checkout|restore) (?:HEAD )?(?:-- )?\.(?:\s|$)|clean -)")
DROPS = re.compile(r"^(?:rm|git rm|mv|git mv|git restore|git checkout (?:\S+ )?--)\b")
STARTS = re.compile(
    r"^CONFLICT \(|You have unmerged paths|All conflicts fixed but you are still merging|rebase in progress", re.M
)
ENDS = re.compile(r"\bgit (?:-C \S+ )?(?:merge|rebase|cherry-pick) --(?:abort|quit)|\bgit (?:-C \S+ )?reset --hard\b")


# of what a check said: how long it took, and the package that it was run in
NOTHING = re.compile(r" in [\d.]+ ?s(?:ec\w*)?\b(?: \([\d:]+\))?|^ok\s+\S+\s+(?:[\d.]+s|\(cached\))$")
ONLY_READS = re.compile(r"^subagent_type: (?:Explore|Plan\b)", re.M)
CLEAN = re.compile(r"^nothing to commit, working (?:tree|directory) clean", re.M)
LOGS = re.compile(r"^git log(?: --oneline| --no-decorate| --decorate| --no-color| -n ?\d+| -\d+)+(?: 2>&1)?$")


def state(work: Sequence[Fact], said: Sequence[Spoken], events: Sequence[Event], folder: str = "") -> Iterator[Fact]:
    """What a colleague asks first, as far as commands and edits tell."""
    ran = [run for run in runs(events) if run.command]
    commit = next((fact for fact in reversed(work) if fact.kind == "commit"), None)
    branch = _branch(ran, commit)
    yield from _committed(work, branch)
    yield from _unfinished(ran, commit)
    changed = [fact for fact in work if fact.kind == "edit" and fact.status != TAKEN_BACK]
    inside = f"{folder.rstrip('/')}/" if folder else "\0"
    edits = [fact for fact in changed if fact.text.startswith(inside) or not NOT_OURS.search(fact.text)]
    gone = _gone(ran)
    if edits:
        yield from _made_elsewhere(ran, commit, edits[0].place)
    status = next((run for run in reversed(ran) if "git status" in run.command and CLEAN.search(run.result.text)), None)
    clean = status.place * EACH if status else -1
    since = max(clean, commit.place if commit else -1)
    left = [fact for fact in edits if fact.place > since and not _was_dropped(fact, gone)]
    files = list(dict.fromkeys(fact.text.removeprefix(inside) for fact in reversed(left)))
    begun = _unanswered(events)
    if files:
        more = f" and {len(files) - UNCOMMITTED} more" if len(files) > UNCOMMITTED else ""
        what = "uncommitted edits" if commit or clean >= 0 else "no commit seen in this session, uncommitted edits"
        yield _state(left[-1], f"{what}: {tree(files[:UNCOMMITTED])}{more}")
    elif commit and not begun:
        yield _state(commit, "no edits since that commit")
    elif status and not begun:
        yield Fact("state", "nothing uncommitted", (status.result.id,), status.result.at, "tool", place=clean)
    sent = (event for event in events if event.kind == "call" and event.tool in AGENTS)
    delegated = not all(ONLY_READS.search(event.text) for event in sent)  # what it edited may not be seen
    for event in begun:
        if (path := event.path.removeprefix(inside)) not in files:
            yield Fact("state", f"{path} was being written", (event.id,), event.at, "tool", place=len(events) * EACH)
    if edits and not delegated and all(fact.text.endswith(DOCUMENTS) for fact in edits):
        yield _state(edits[-1], "only documents were edited, no code")
    yield from _pull(work, said, commit, branch, ran)
    yield from _checked(work, edits)


def _unanswered(events: Sequence[Event]) -> list[Event]:
    """The last edit, where nobody saw its result: it may have been made or not."""
    answered = {event.ref for event in events if event.kind == "result"}
    last = next((event for event in reversed(events) if event.kind in ("call", "prompt") and not event.agent), None)
    waits = last and last.kind == "call" and last.tool in WRITES and last.path and last.ref not in answered
    return [last] if last and waits else []


def tree(paths: Sequence[str]) -> str:
    """Paths as one tree: `src/{a.py, lib/{b.py, c.py}}, docs/d.md`."""
    below: dict[str, list[str]] = {}
    for path in paths:
        first, slash, rest = path.partition("/")
        below.setdefault(first + slash, []).append(rest)
    told = []
    for first, those in below.items():
        while len({rest.partition("/")[0] for rest in those}) == 1 and all("/" in rest for rest in those):
            first, those = f"{first}{those[0].partition('/')[0]}/", [rest.partition("/")[2] for rest in those]
        told.append(f"{first}{{{tree(those)}}}" if those[1:] else first + those[0])
    return ", ".join(told)


def _committed(work: Sequence[Fact], branch: str) -> Iterator[Fact]:
    """The last commit of each repository that was worked in, and whether it was pushed."""
    newest: dict[str, Fact] = {}
    for fact in work:
        if fact.kind == "commit":
            newest.pop(fact.why, None)
            newest[fact.why] = fact
    for where, commit in [*newest.items()][-REPOSITORIES:]:
        pushed = any(fact.kind == "push" and fact.why == where and fact.place >= commit.place for fact in work)
        on = branch if len(newest) == 1 else commit.status
        named = f"{commit.about} " if commit.about else ""
        yield _state(
            commit,
            f"last commit {f'in {where} ' if where and len(newest) > 1 else ''}{named}{quote(commit.text)}"
            f"{f' on {on}' if on and on != 'detached' else ''}, {'pushed' if pushed else 'not pushed yet'}",
        )


def _made_elsewhere(ran: Sequence[Run], commit: Fact | None, begun: int) -> Iterator[Fact]:
    """The newest commit, where git showed one after work was `begun` that nobody was seen to make: a subagent did, or
    the user."""
    for run in reversed(ran):
        if run.place * EACH <= max(begun, commit.place if commit else -1):
            return
        logs = not ELSEWHERE.search(run.command) and any(map(LOGS.match, steps(run.command)))
        if logs and (found := LOGGED.match(run.result.text.lstrip())):
            if not commit or not found[1].startswith(commit.about[:7]):
                text = f"newest commit in the log {found[1][:8]} {quote(one_line(found[2], SUBJECT))}"
                cites = (run.call.id, run.result.id)
                yield Fact("state", text, cites, run.result.at, "tool", place=run.place * EACH)
            return


def _branch(ran: Sequence[Run], commit: Fact | None) -> str:
    """The branch that was worked on last, as git said it."""
    branch, place = (commit.status, commit.place) if commit else ("", -1)
    for run in ran:
        found = ON_BRANCH.findall(run.result.text[:2000]) if "git" in run.command else []
        if found and run.place * EACH >= place:
            branch, place = found[-1], run.place * EACH
    return branch


def _unfinished(ran: Sequence[Run], commit: Fact | None) -> Iterator[Fact]:
    """A merge or a rebase that was begun and is not ended."""
    begun: Run | None = None
    for run in ran:
        if "git" not in run.command:
            continue
        ended = ENDS.search(run.command) or (commit and run.place * EACH == commit.place)
        begun = run if STARTS.search(run.result.text[:6000]) else None if ended else begun
    if begun and not (commit and commit.place > begun.place * EACH):
        cites = (begun.call.id, begun.result.id)
        yield Fact(
            "state", "a merge or rebase is in progress", cites, begun.result.at, "tool", place=begun.place * EACH
        )


def _gone(ran: Sequence[Run]) -> list[tuple[int, set[str]]]:
    """What commands removed, moved or put back, and where in the session; nothing named: all of it."""
    found = []
    for run in ran:
        wrong, _ = outcome(run)
        for step in () if wrong else works(run.command):
            if DROPS_ALL.match(step):
                found.append((run.place * EACH, set[str]()))
            elif DROPS.match(step):
                moved = program(step).endswith("mv")
                named = [word for word in step.split()[1:] if word in arguments(step)]
                found.append((run.place * EACH, set(named[:-1] if moved else named)))
    return found


def _was_dropped(edit: Fact, gone: Sequence[tuple[int, set[str]]]) -> bool:
    for place, named in gone:
        if place < edit.place:
            continue
        if not named or any(edit.text == name or ends_with(edit.text, name) for name in named):
            return True
        if any(f"/{name.strip('/')}/" in edit.text for name in named if len(name.strip("./")) > 2):
            return True
    return False


def _pull(
    work: Sequence[Fact], said: Sequence[Spoken], commit: Fact | None, branch: str, ran: Sequence[Run]
) -> Iterator[Fact]:
    pull = next((fact for fact in reversed(work) if fact.kind == "pr"), None)
    named = next(((run, found) for run in reversed(ran) if (found := WORKED_ON.search(run.command))), None)
    if named and not (pull and named[0].place * EACH <= pull.place):
        run, number = named[0], named[1][1] or named[1][2]
        if not (pull and pull.text.rpartition("/")[2].lstrip("#") == number):
            cites = (run.call.id, run.result.id)
            onto = f" onto {base[1]}" if (base := BASE.search(run.command)) else ""
            yield Fact("state", f"pull request #{number}{onto}", cites, run.result.at, "tool", place=run.place * EACH)
            return
    if pull:
        yield _state(pull, f"pull request {pull.text}{' merged' if pull.status == 'merged' else ''}")
    elif commit and branch not in MAIN and not any(PULL.search(one.fact.text) for one in said):
        yield _state(commit, "no pull request yet")


def _checked(work: Sequence[Fact], edits: Sequence[Fact]) -> Iterator[Fact]:
    """The last check, and whether anything was edited since."""
    checks = (fact for fact in reversed(work) if fact.kind == "check" or (fact.kind == "error" and is_check(fact.text)))
    if check := next(checks, None):
        how = "passed" if check.kind == "check" else "failed"
        later = "" if not edits or check.place > edits[-1].place else " (edited since, not run again)"
        told = NOTHING.sub("", check.about or check.why)
        failed = FAILED_TEST.match(told)
        told = "" if failed and any(name and name in check.text for name in failed.groups()) else told
        last = _state(check, f"last check `{check.text}` {how}{f': {told}' if told else ''}{later}")
        yield last._replace(about=check.text, status=how)
    elif any(not fact.text.endswith(DOCUMENTS) for fact in edits):
        yield _state(edits[-1], "no test or build was run")


def _state(fact: Fact, text: str) -> Fact:
    return Fact("state", text, fact.cites, fact.at, "tool", fact.turn, fact.place)
