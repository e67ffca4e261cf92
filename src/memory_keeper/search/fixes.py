"""What fixed an error before: the same failure in an earlier stretch, the command's next success, and what lay between.

Nothing here guesses. A fix is a later success of the same command in the same session; what is told is what was edited
or run between the last time the error was seen and the next time that command ran. The more of that has to do with the
error, and the less there is of it, the surer it is. Without a success, or where too much lay between, there is no fix.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_keeper import regex as re
from memory_keeper.capture.calls import undone
from memory_keeper.capture.runs import Match, Run, as_run, hearts, match, outcome, program, runs, went_wrong, works
from memory_keeper.capture.signature import (
    HARDLY,
    HOST,
    find_wrong,
    holds,
    likeness,
    line_of,
    normal,
    places,
    says,
    signatures,
    words,
)
from memory_keeper.model import WRITES, Event, NamedTuple, Phrase, Row, Scope
from memory_keeper.search.edits import describe
from memory_keeper.store.calls import SHOWN as LOOKED_AT
from memory_keeper.store.calls import call_of, events_of, find_after
from memory_keeper.store.index import words_in
from memory_keeper.store.store import Store
from memory_keeper.text import clean, one_line

HITS = 5_000  # results that have all the words, the newest
FAILED, UNSAID = 100, 40  # of them that failed, and of the newest, that are read
TELLING = 6  # words of an error that are searched for
LOOKED = 24  # of the results with them that are looked at
ALL = 40  # errors of one output in which one is looked for
ALIKE = 0.8  # two signatures that share so much may be of the same error
SESSIONS, TRIED = 6, 4  # of those that had the error that are looked at, when asked and unasked
REACH = 600  # events after an error in which it is solved, or not
EDITS = 12  # between an error and a success: more are another piece of work
STEPS = 5  # that are told of one fix
SHOWN = 100  # characters of a command
LINE = 240  # characters of the line that was asked about
CONFIDENT, WORTH = 0.7, 0.5  # from which on it may be told unasked, when asked
MENDS = re.compile(
    r"\b(?:install|add|get|tidy|sync|restore|init|migrate|generate|start|up|kill|prune|clean|rm|chmod|export|update"
    r"|upgrade|login|fetch|pull|stash|rebase|create|mkdir|set|config|link|reset|build|restart|apply|fix|fmt|format)\b"
    r"|--(?:fix|write|force|no-\w+)\b|-w\b"
)
UNRELATED = re.compile(r"^git (?:add|commit|push|merge|checkout -b)\b")
CHECKS = re.compile(r"\b(?:tests?|spec|jest|pytest|vitest|check|lint|tsc|vet|mypy|build)\b")
# what may go away by itself
PASSING = re.compile(
    r"time-? ?(?:d )?out|timeout|temporar|connect|network|unreachable|reset by|rate limit|\b(?:429|502|503|504)\b|busy"
    r"|locked|\.lock\b|resolve host|again later|deadlock",
    re.I,
)
# what another form of a command may mend: not a test that fails
USAGE = re.compile(
    r"^(?!(?-i:FAIL)|assert|E )(?=.*(?:recogni|unknown|invalid|usage|not found|no such|permission|denied|exist|option"
    r"|argument|flag|required|missing|cannot|unable|reject|parse|syntax|HTTP|already|not an?\b|must be|support"
    r"|ambiguous|no task|no rule|could not|forbidden|unauthor|not a function))",
    re.I,
)
REASONS = re.compile(
    r"\b(?:because|since|issue|problem|cause|reason|due to|fix|missing|need|should|wrong|instead)|원인|문제|때문|해결",
    re.I,
)
NAMED = re.compile(r"[A-Za-z_]\w{3,}")


class Step(NamedTuple):
    """One thing that was done between a failure and the success, and the event that says so."""

    text: str
    id: str


class Seen(NamedTuple):
    """An earlier failure with the error that is asked for."""

    result: Event
    signature: str
    like: float


class Fix(NamedTuple):
    """How an error went away once."""

    signature: str
    at: float
    session: str
    failed: str  # the event in which it was last seen
    solved: str  # the event in which the same command succeeded
    how: tuple[Step, ...]
    files: tuple[str, ...]  # that were changed
    confidence: float
    command: str = ""  # that failed, and later did not
    project: str = ""


class Answer(NamedTuple):
    """What is known of an error."""

    signature: str
    fixes: list[Fix]
    seen: int  # how often it was seen
    last: float  # when it was last
    error: str = ""  # the line that was asked about, as it is


def hint(store: Store, error: str, scope: Scope, session: str = "") -> Fix | None:
    """What solved exactly this error in another session, where that is sure enough to be told unasked."""
    wrongs = find_wrong(error, 1) if not error.startswith(HOST) else []  # the host explains its own errors itself
    asked = [wrong.signature for wrong in wrongs if wrong.rank > HARDLY]
    if asked and asked[0].startswith("CONFLICT "):  # each has its own way out
        return None
    seen = find_seen(store, asked, scope, nearly=False) if asked else []
    tried = (_fixed(store, group) for group in _by_session(seen, session)[:TRIED])
    return next((fix for fix in tried if fix and fix.confidence >= CONFIDENT), None)


def answer(store: Store, error: str, scope: Scope, limit: int = 3) -> Answer:
    """What is known of this error: how it was solved, the surest and newest first, and how often it was seen."""
    asked = signatures(error, 2) or [text for text in (normal(one_line(error, 400)),) if text.count(" ") > 1]
    seen = find_seen(store, asked, scope) if asked else []
    tried = (_fixed(store, group) for group in _by_session(seen)[:SESSIONS])
    found = [fix for fix in tried if fix and fix.confidence >= WORTH]
    found.sort(key=lambda fix: (-round(fix.confidence, 1), -fix.at))
    last = max((failure.result.at for failure in seen), default=0.0)
    signature = asked[0] if asked else ""
    return Answer(signature, found[:limit], len(seen), last, one_line(line_of(error, signature), LINE))


def _by_session(seen: Sequence[Seen], without: str = "") -> list[list[Seen]]:
    """Failures by the thread that they happened in, the newest first; those of one session left out."""
    groups: dict[tuple[str, str], list[Seen]] = {}
    for failure in seen:
        if failure.result.session != without:
            groups.setdefault((failure.result.session, failure.result.agent), []).append(failure)
    return list(groups.values())


def _fixed(store: Store, seen: Sequence[Seen]) -> Fix | None:
    """How a session got rid of an error: what came after it was last seen there, else after an earlier time."""
    inorder = sorted(seen, key=lambda seen: seen.result.at, reverse=True)
    back = 0.0
    for failure in inorder[:4]:
        if fix := _resolve(store, failure):
            return fix._replace(confidence=round(fix.confidence - back, 2))
        back = 0.3  # it came back, and nobody got rid of it then
    return None


def _resolve(store: Store, seen: Seen) -> Fix | None:
    """What lay between a failure and the next success of its command: the surer, the plainer it went, and the more
    alike the errors are."""
    call = call_of(store, seen.result)
    if not call:
        return None
    events = find_after(store, call.session, call.agent, call.id, REACH)
    ran = list(runs(events))
    first = next((run._replace(result=seen.result) for run in ran if run.result.id == seen.result.id), None)
    way = _way(store, first, ran, seen.signature) if first and _counts(first) else None
    if not way:
        return None
    gone = undone(events)  # what was taken back later has fixed nothing
    between = [run for run in ran if way.failed.place < run.place < way.after.place and not run.result.failed]
    between = [run for run in between if run.call.id not in gone]
    done = _find_done(way, between, seen.signature, store.roots(call.project))
    if not done:
        return None
    explained = _explained(events[way.failed.place : way.after.place], seen.signature)
    failed, solved = way.failed, way.solved
    plain = 0.1 * (way.pair.like == 2) + 0.1 * (way.after is solved) - 0.1 * (not outcome(solved)[1])
    weight = (done.weight + (plain + 0.05 * bool(explained))) * (1.0 if seen.like == 1.0 else 0.8)
    where = (seen.signature, solved.result.at, call.session, failed.result.id, solved.result.id)
    command = _told(failed.command, way.pair.one) if failed.command else way.pair.one
    sure = round(min(weight, 1.0), 2)
    return Fix(*where, (*done.how, *explained)[: STEPS + 1], done.files, sure, command, call.project)


def _counts(failed: Run) -> bool:
    """Whether a failure is one of work: not of looking around, and not one that the host explains itself."""
    if failed.result.text.startswith(HOST) or not went_wrong(failed):
        return False
    return bool(works(failed.command)) if failed.command else failed.call.tool.startswith("mcp__")


class _Way(NamedTuple):
    """From an error to a success of its command."""

    failed: Run  # the last that had the error
    after: Run  # the next of the same command, which had not
    solved: Run  # the first that succeeded
    pair: Match  # of which command


def _way(store: Store, first: Run, ran: Sequence[Run], signature: str) -> _Way | None:
    """How the same command went on after it failed; None when it never succeeded."""
    last, gone = first, None
    for run in ran:
        pair = match(first, run) if run.place > first.place else Match()
        if not pair.like:
            continue
        run = run._replace(result=events_of(store, [run.result.id])[0])  # with all that it printed
        if went_wrong(run):
            still = says(run.result.text, signature)
            last, gone = (run, None) if still else (last, gone or run)
        else:
            return _Way(last, gone or run, run, pair)
    return None


class _Done(NamedTuple):
    """What was done about a failure, as far as it has to do with it, the files that changed, and how sure that is."""

    how: tuple[Step, ...]
    files: tuple[str, ...]
    weight: float


def _find_done(way: _Way, between: Sequence[Run], signature: str, roots: Sequence[str]) -> _Done | None:
    """What was done between; None where too much was done, or nothing that could have mended it."""
    failed = way.failed
    edits = [run for run in between if run.call.tool in WRITES and run.call.path]
    commands = [run for run in between if hearts(run.command) and not match(failed, run).like]
    if len(edits) > EDITS:
        return None
    near = [run for run in edits if _concerns(run.call, failed, signature)]
    mended = [run for run in commands if _mends(run.command, signature)]
    changed = _changed_form(way)
    relevant = near or (edits if len(edits) <= 3 else [])
    if relevant or mended:
        weight = 0.5 + 0.2 * bool(near) + 0.1 * (len(edits) + len(mended) <= 3) - 0.05 * max(0, len(edits) - 4)
        # who says where it is wrong is seldom mended elsewhere
        weight -= (0.3 if places(failed.result.text, signature) else 0.1) * (not near)
    elif edits:
        return None  # many edits, and none that has to do with it
    elif changed and USAGE.search(signature):
        before, other = ([word for word in step.split() if word[0] != "-"] for step in (way.pair.one, way.pair.other))
        weight = 0.7 if before == other or program(way.pair.one) != program(way.pair.other) else 0.5
    elif PASSING.search(signature):
        return _Done((Step("ran it again, and it went away", way.after.call.id),), (), 0.4)
    else:
        return None
    how: list[Step] = []
    for run in sorted([*relevant[-STEPS + 1 :], *mended[-2:]], key=lambda run: run.place):
        verb = {"Write": "wrote"}.get(run.call.tool, "edited") if run.call.tool in WRITES else "ran"
        what = f"`{_told(run.command)}`" if verb == "ran" else describe(run.call, roots)
        how.append(Step(f"{verb} {what}", run.call.id))
    if changed and not near:
        how.append(Step(changed, way.solved.call.id))
    return _Done(tuple(how), tuple(dict.fromkeys(run.call.path for run in relevant)), weight)


def _mends(command: str, signature: str) -> bool:
    """Whether a command may have mended something: by what it does, or as it names what the error names."""
    steps = [step for step in hearts(command) if not UNRELATED.match(step)]
    return any(MENDS.search(step) or (_shares(step, signature) and not CHECKS.search(step)) for step in steps)


def _changed_form(way: _Way) -> str:
    """Which other form of the command worked; empty where it was the same, or only its pipes were others."""
    if not way.failed.command:
        mine, theirs = (one_line(clean(run.call.text), SHOWN) for run in (way.failed, way.solved))
        return f"called it with `{theirs}` instead of `{mine}`" if mine != theirs else ""
    mine, theirs = way.pair.one, way.pair.other
    if mine.split() == theirs.split():
        return ""
    return f"ran `{_told(way.solved.command, theirs)}` instead of `{_told(way.failed.command, mine)}`"


def _concerns(call: Event, failed: Run, signature: str) -> bool:
    """Whether an edit has to do with an error: its file is named where the error is, or it changes what the error
    names."""
    name = call.path.rpartition("/")[2]
    text = places(failed.result.text, signature) or failed.result.text
    return (len(name) > 2 and name in text) or _shares(call.text, signature)


def _shares(text: str, signature: str) -> bool:
    """Whether a text has a name of a signature: one that no other error would have."""
    named = {word for word in words(signature) for word in NAMED.findall(word)}
    telling = [word for word in named if not word.islower() or "_" in word or f"'{word}" in signature]
    return any(word in text for word in telling if not word.endswith(("Error", "Exception")))


def _told(line: str, step: str = "") -> str:
    """A command as it is told: one step of a line, or that which does something."""
    return one_line(clean(as_run(line, step or (hearts(line) or [line])[-1])), SHOWN)


def _explained(events: Sequence[Event], signature: str) -> tuple[Step, ...]:
    """What the model said of it on the way, where that gives a reason."""
    replies = [event for event in events if event.kind == "reply" and REASONS.search(event.text[:2000])]
    named = [event for event in replies if any(word in event.text for word in words(signature) if not word.islower())]
    best = next(iter(named or replies), None)
    return (Step(f'said: "{one_line(clean(best.text), 200)}"', best.id),) if best else ()


# --- earlier failures ------------------------------------------------------------------------------------------------


def find_seen(store: Store, asked: Sequence[str], scope: Scope, nearly: bool = True) -> list[Seen]:
    """Earlier failures with this error, the likest and newest first. Only what has its words is looked at."""
    telling = words(asked[0], TELLING)
    rows = _having(store, telling, scope) if telling else []
    if not rows and len(telling) > 3 and nearly:  # nobody had all of them: the most telling half
        rows = _having(
            store, sorted(telling, key=lambda word: (word.islower(), -len(word)))[: len(telling) // 2 + 1], scope
        )
    texts = store.texts([row.key for row in rows], LOOKED_AT)
    kept = [row.id for row in rows if _has(texts.get(row.key, ""), telling)][:LOOKED]
    found = [seen for event in events_of(store, kept) if (seen := _read_failure(event, asked, nearly))]
    found = [seen for seen in found if seen.result.failed or _failed(store, seen.result)]
    return sorted(found, key=lambda seen: (-seen.like, -seen.result.at))


def _having(store: Store, telling: Sequence[str], scope: Scope) -> list[Row]:
    """The newest results with all of some words: those that failed, then some of which that is not said."""
    phrases = [Phrase(" ".join(words_in(word)), "text") for word in telling]
    wanted = [(phrase,) for phrase in phrases if phrase.words]
    if not wanted or not store.indexed:
        return []
    keys = store.matching(wanted, Scope(scope.project), HITS, kinds=("result",))
    failed = {row.key for row in store.rows(keys) if row.failed}
    rows = store.rows([*[key for key in keys if key in failed][:FAILED], *keys[:UNSAID]])
    rows.sort(key=lambda row: (not row.failed, -row.at))
    return [row for row in rows if row.kind == "result" and scope.holds(row)]


def _failed(store: Store, result: Event) -> bool:
    """Whether a command failed behind a pipe: others only print what went wrong elsewhere."""
    call = call_of(store, result)
    return call is not None and call.tool == "Bash" and went_wrong(Run(call, result, 0))


def _has(text: str, telling: Sequence[str]) -> bool:
    """Whether a text has most of some words: cheaper to ask than what it says went wrong."""
    low = text.lower()
    return sum(word.lower() in low for word in telling) >= len(telling) * ALIKE


def _read_failure(event: Event, asked: Sequence[str], nearly: bool) -> Seen | None:
    """A result as a failure with this error; None when it has another one, or none."""
    for signature in asked:
        if says(event.text, signature):
            return Seen(event, signature, 1.0)
    best = None
    for text in signatures(event.text, ALL) if nearly else ():
        like = max(0.9 if holds(text, signature) else likeness(signature, text) for signature in asked)
        if like >= ALIKE and (best is None or like > best.like):
            best = Seen(event, text, like)
    return best
