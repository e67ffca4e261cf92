"""The rules by which facts are found: one walk over a session's events, and a few words to look for per language.

What a tool printed is data. It can be a test's result, an error or a commit, and nothing else: requests, corrections,
decisions and dead ends are taken from what the user and the model said, and from nothing a tool or a subagent did.
Every text is a quote. A language without words here still has its requests, files, commands, errors and names.
"""

from __future__ import annotations

import re

from memory_keeper.capture.calls import COMMITTED, UNDOES
from memory_keeper.model import Event, NamedTuple
from memory_keeper.reduce.facts import FACTS, WRITES, Fact, given, todos
from memory_keeper.reduce.finding import turns
from memory_keeper.reduce.finding.latest import holding
from memory_keeper.reduce.words import claims, names
from memory_keeper.reduce.words.own_words import own_words, spoken
from memory_keeper.reduce.words.prose import statements, unmarked
from memory_keeper.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

QUOTE, ASKED = 400, 4000  # characters of a quote; of a request, which may be all there is to go by
TYPED = 1_500  # characters: a longer prompt was written elsewhere
SAID = 12_000  # characters of one text in which sentences are looked for
LEAST, MOST = 12, 400  # bytes and characters of a sentence that is worth a quote: hangul says more with fewer
SHOWN = 60  # characters of a command
RUNS = 10  # events of a command's newest runs: two each
EDITS = 20  # that are kept since an error
KEPT = 200  # facts of one kind; the oldest go


WEAK = re.compile(
    r"^(?:ok(?:ay)?|yes|yeah|yep|sure|thanks?(?: you)?|go|continue|do it|please|네|예|응|좋아|계속|그래)[\s.!]*$", re.I
)
INTERRUPTED = "[Request interrupted by user"

BREAK = re.compile(r"(?<=[.!?。！？])\s+")  # who types may begin sentences small
GLUED = re.compile(r"(?<=[.!?:\w)`])\d{1,2}\.$")  # the number of the list item that comes next

# --- what tools print ------------------------------------------------------------------------------------------------

EXIT = re.compile(r"\bexit(?:ed with)?(?: code| status)?:? (\d{1,3})\b", re.I)
TESTED = re.compile(
    r"^.*(?:\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?)\b|\btest result:|^Tests?:? +\d"
    r"|^Ran \d+ tests?.*(?:\n\s*\n(?:OK|FAILED))?|^(?:ok|FAIL)\s+\S+\s+[\d.]+s|^DONE \d+ tests).*$",
    re.M,
)
OF_ONE = re.compile(r"^ok\s")  # one package of several: no word about the run
TESTS = re.compile(
    r"test|spec\b|\bcheck|\btox\b|\bnox\b|jest|mocha|ava\b|phpunit|\bci\b|verify|validate|cypress|karma", re.I
)
FAILS = re.compile(r"\b(?:[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)|FAIL(?:ED)?)\b")
WRONG = re.compile(
    r"error|exception|fatal|panic|traceback|undefined|cannot|can't|not found|no such|denied|invalid|unexpected|failed"
    r"|FAIL\b|assert|오류|에러|실패",
    re.I,
)
THROWN = re.compile(
    r"^(?:E\s{2,}|[ \t>●✗✕×-]*)((?:(?:\w+\.)*[A-Z]\w{2,}(?:Error|Exception)|panic): .+|(?<=  )assert .+)$", re.M
)
# what says that all is well, or nothing
FINE = re.compile(
    r"^(?:-+ |[✓✔√] )?(?:PASS|PASSED|ok)\b|\bpass(?:ed)?\W*$|^(?:finished|done|completed|took"
    r"|duration)\b.{0,30}\b[\d.]+ ?m?s\b"
    r"|\b0 (?:errors?|failures?|issues|failed)\b",
    re.I,
)
LETTERS, FEW = re.compile(r"[^\W\d_]{3,}"), 5  # words; lines of an output that is short
FRAME = re.compile(r"^Traceback|^\s|^at |^Exit code|^Error:?$|^=+|^-+$|^%|^<|^\+|^#|^ok\s|^\?\s|^\[")
VARIES = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\d+|\"[^\"]*\"|'[^']*'|(?:/[\w.@+-]+)+")
ASSERTS = re.compile(r"\bassert|[!=]=|\bexpected\b", re.I)
LOGGED = re.compile(r"^([0-9a-f]{7,40}) (?:\([^)\n]{1,100}\) )?(.{1,300})$", re.M)
SERIAL = re.compile(r"\d{3,}")  # what tells one run from the next of the same command: of an issue, of a comment
REFUSED = ("The user doesn't want to", "[Request interrupted", "Permission to use")
UNANSWERED = 4  # turns back to which a question may still be open


class Run(NamedTuple):
    """A shell command, folded over all its runs."""

    heart: str
    text: str  # as last run in its plainest form
    failed: bool  # of that form
    exit: str
    cites: tuple[str, ...]
    at: float


def find_with(events: Sequence[Event], weighed: names.Names) -> list[Fact]:
    """All facts of one session's events, whose names are weighed: by kind in the order of FACTS, then by when they last
    held."""
    calls = {event.ref: event for event in events if event.kind in ("call", "todo") and event.ref}
    facts = [
        *_said(events),
        *_answers(events, calls),
        *_left(events),
        *_reverted(events),
        *_listed(events),
        *_files(events, calls, weighed),
        *_commands(events, calls),
        *_commits(events, calls),
        *_used(events, weighed),
    ]
    order = {kind: number for number, kind in enumerate(FACTS)}
    places = {event.id: place for place, event in enumerate(events)}  # clocks are set back, and lines share a moment
    last = {id(fact): max(places.get(cite, 0) for cite in fact.cites) for fact in facts}
    return sorted(facts, key=lambda fact: (order[fact.kind], last[id(fact)]))


# what a note carries along for the one above it: one of each kind at a time, in this order; some come twice
TELLING = (
    "correction", "request", "decision", "error", "answer", "done", "dead end", "todo", "request", "decision", "commit",
    "done", "test", "command",
)  # fmt: skip


def facts_of(events: Sequence[Event], limit: int = 20, weighed: names.Names | None = None) -> list[Fact]:
    """The facts that tell most about some events, most telling first: the best of every kind, then the next best."""
    left: dict[str, list[Fact]] = {}
    for fact in find_with(events, weighed or names.weigh(events)):
        left.setdefault(fact.kind, []).append(fact)  # the last is taken first
    left["request"] = _best_requests(left.get("request", []))
    for kind in ("correction", "decision", "answer"):
        left[kind] = holding(left.get(kind, []))
    left["decision"] = _last_best(left["decision"], doubt)
    left["error"] = _last_best(left.get("error", []), worry)
    for kind in ("todo", "command"):
        left[kind] = _last_best(left.get(kind, []), lambda fact: fact.status not in ("open", "doing", "ok"))
    told: list[Fact] = []
    while len(told) < limit and any(left.get(kind) for kind in TELLING):
        told += [left[kind].pop() for kind in TELLING if left.get(kind)]
    return told[:limit]


def doubt(fact: Fact) -> int:
    """How far a sentence is from a decision: the user's own words are nearest, then what is said with its reason."""
    if fact.status == "user":
        return 0
    return 1 + (not claims.SETTLED.search(fact.text)) + (not fact.because) + (fact.status != "reply")


def worry(fact: Fact) -> int:
    """How little an error matters: one that is open matters most, one of looking around least."""
    return 2 * is_trifle(fact) + (fact.status != "open")


def is_trifle(fact: Fact) -> bool:
    """Whether an error is one of a command that only looks around, or says nothing."""
    return " " not in fact.text or not (names.core(fact.about) or fact.about[:1].isupper())


def _last_best(facts: list[Fact], key: Callable[[Fact], int]) -> list[Fact]:
    """The best last, of equals the newest."""
    return sorted(facts, key=key, reverse=True)


def _best_requests(requests: list[Fact]) -> list[Fact]:
    """The newest last, and before it the first: what it began with, and where it went."""
    asked = [fact for fact in requests if fact.status != "short"] or requests
    return [*asked[1:-1], *asked[:1], *asked[-1:]] if len(asked) > 1 else asked


# --- what was said ---------------------------------------------------------------------------------------------------


def sentences(text: str) -> Iterator[str]:
    """The sentences and list items of a text, without code, diffs, logs, headings and marks of layout."""
    for one in statements(text[:SAID]):
        part = GLUED.sub("", unmarked(one)).strip()
        if len(part) <= MOST and len(part.encode("utf-8", "surrogatepass")) >= LEAST:
            yield part


def _said(events: Sequence[Event]) -> Iterator[Fact]:
    stopped: tuple[str, ...] = ()
    answer: Event | None = None
    for event in events:
        if event.agent:
            continue
        if event.kind == "notice" and event.text.startswith(INTERRUPTED):
            stopped = (event.id,)
        elif event.kind == "prompt" and event.text.strip():
            asked = one_line(event.text, ASKED)
            status = "interrupted" if stopped else "short" if WEAK.match(asked) else ""
            yield Fact("request", asked, (event.id, *stopped), event.at, status=status)
            stopped = ()
            yield from _wanted(event)
            yield from _chosen(event, answer)
        elif event.kind in ("reply", "thinking"):
            answer = event if event.kind == "reply" else answer
            yield from _told(event)


def _chosen(event: Event, answer: Event | None) -> Iterator[Fact]:
    """Which of the choices that an answer gave the user took."""
    mark = claims.chosen(one_line(event.text, 100)) if answer else ""
    if answer and mark and (taken := claims.choice(answer.text[-SAID:], mark)):
        yield Fact("decision", one_line(taken, QUOTE), (event.id, answer.id), event.at, status="user")


def _wanted(event: Event) -> Iterator[Fact]:
    """What the user wants always, never or otherwise, and what the user settled."""
    if len(event.text) >= SAID:  # a long paste is rarely the user's own words
        return
    typed = len(event.text) < TYPED
    for one in (part for said in sentences(spoken(event.text)) for part in BREAK.split(said)):
        if len(one) < 6:
            continue
        if claims.is_rule(one, typed):
            yield Fact("correction", one, (event.id,), event.at)
        elif typed and claims.is_users_decision(one):
            yield Fact("decision", one, (event.id,), event.at, status="user", because=claims.reason_of(one))


def _told(event: Event) -> Iterator[Fact]:
    """What the model says it settled, finished, or had been wrong about."""
    said = list(sentences(own_words(event.text)))
    for one, after in zip(said, [*said, ""][1:], strict=True):
        if claims.is_dead_end(one):
            yield Fact("dead end", one, (event.id,), event.at)
        elif claims.is_decision(one, event.kind == "reply"):
            because = claims.reason_of(one, after)
            yield Fact("decision", one, (event.id,), event.at, status=event.kind, because=because)
        elif event.kind == "reply" and claims.is_done(one):
            yield Fact("done", one, (event.id,), event.at)


def _answers(events: Sequence[Event], calls: dict[str, Event]) -> Iterator[Fact]:
    """What the user chose when the host asked in the model's name: the one result that is the user's."""
    for event in events:
        call = calls.get(event.ref) if event.kind == "result" and not event.agent else None
        if call and call.tool == "AskUserQuestion" and not event.failed:
            for question, answer in re.findall(r'"([^"\n]{1,300})"="([^"\n]{1,300})"', event.text[:SAID]):
                if answer[-1] not in "?？":  # who asks back has chosen nothing
                    yield Fact("answer", answer, (event.id,), event.at, about=question)


def _left(events: Sequence[Event]) -> Iterator[Fact]:
    """What the last answer leaves to do, and what the last few asked and nobody took up."""
    said = [event for event in events if event.kind in ("prompt", "reply") and not event.agent and event.text.strip()]
    if said and said[-1].kind == "reply":
        if begun := turns.announced(events):
            yield Fact("next", begun[0], (begun[1].id,), begun[1].at)
        for one in claims.next_steps(own_words(said[-1].text[-SAID:])):
            if not begun or not one.startswith(begun[0]):
                yield Fact("next", one, (said[-1].id,), said[-1].at)
    back = 0
    for place in range(len(said) - 1, -1, -1):
        if said[place].kind == "prompt":
            back += 1
            if back > UNANSWERED:
                return
        elif place + 1 == len(said) or said[place + 1].kind == "prompt":  # a turn's last answer
            taken = said[place + 1].text if place + 1 < len(said) else ""
            for one in claims.questions(own_words(said[place].text[-SAID:])):
                if not claims.is_taken_up(one, taken):
                    asked = claims.in_context(one, said[place].text[-SAID:])
                    yield Fact("question", asked, (said[place].id,), said[place].at, status="open")


def _reverted(events: Sequence[Event]) -> Iterator[Fact]:
    """Edits that put back what an edit before had taken away, and changes that git was told to drop."""
    made: dict[tuple[str, str, str], Event] = {}
    refused = {event.ref for event in events if event.kind == "result" and event.failed}
    for event in events:
        if event.kind != "call" or event.ref in refused:
            continue
        if event.tool == "Edit":
            given = names.fields(event)
            old, new = given.get("old_string", ""), given.get("new_string", "")
            first = made.pop((event.path, new, old), None)
            if first is not None and old.strip() != new.strip():
                yield Fact("dead end", event.path, (first.id, event.id), event.at, status="reverted")
            else:
                made[event.path, old, new] = event
        elif UNDOES.match(step := names.first_step(names.command_of(event))):
            yield Fact("dead end", one_line(step, 200), (event.id,), event.at, status="reverted")


def _listed(events: Sequence[Event]) -> Iterator[Fact]:
    lists = [event for event in events if event.kind == "todo" and not event.agent]
    calls = {event.ref for event in lists}
    answers = [event for event in events if event.kind == "result" and event.ref in calls]
    when = {event.id: event.at for event in lists}
    named = {str(given(event).get("subject")): event.id for event in lists}  # a later change need not name it again
    for todo in todos([*lists, *answers]):
        if todo.status != "deleted":
            status = {"completed": "done", "in_progress": "doing"}.get(todo.status, "open")
            cites = tuple(dict.fromkeys((named.get(todo.text, todo.cite), todo.cite, todo.numbered or todo.cite)))
            yield Fact("todo", one_line(todo.text, QUOTE), cites, when[todo.cite], about=todo.number, status=status)


# --- what was done ---------------------------------------------------------------------------------------------------


def _files(events: Sequence[Event], calls: dict[str, Event], weighed: names.Names) -> Iterator[Fact]:
    linked: dict[str, list[str]] = {}
    cites: dict[str, tuple[str, ...]] = {}
    for one in weighed.names:
        for link in weighed.links.get(one.text, ())[:2]:
            if len(linked.setdefault(link.path, [])) < 8:
                linked[link.path].append(one.text)
                cites[link.path] = cites.get(link.path, ()) + link.cites
    refused = {event.ref for event in events if event.kind == "result" and event.failed}
    done: dict[str, tuple[int, int, int, Event]] = {}
    for event in events:
        if event.kind == "call" and event.path and names.ENDING.search(event.path) and event.ref not in refused:
            created, changed, read, _ = done.get(event.path, (0, 0, 0, event))
            if event.tool in WRITES:
                created, changed = created + (event.tool == "Write" and not (changed or read)), changed + 1
            elif event.tool == "Read":
                read += 1
            if created or changed or read:
                done[event.path] = (created, changed, read, event)
    for path, (created, changed, read, event) in done.items():
        what = "created" if created else "changed" if changed else "read"
        times = changed if changed else read
        yield Fact(
            "file",
            path,
            tuple(dict.fromkeys((event.id, *cites.get(path, ())))),
            event.at,
            about=", ".join(linked.get(path, ())),
            status=what if times == 1 else f"{what} {times} times",
        )


def _commands(events: Sequence[Event], calls: dict[str, Event]) -> Iterator[Fact]:
    """Commands, the tests and errors among them, and what came before an error went away."""
    ran: dict[str, Run] = {}
    tests: dict[str, Fact] = {}
    broken: dict[str, dict[str, list[Event]]] = {}  # by command: its errors, by signature, and the edits since each
    errors: dict[str, Fact] = {}  # by signature
    for event in events:
        if event.kind == "call" and (changed := _changes(event)):
            for edits in (edits for since in broken.values() for edits in since.values()):
                if len(edits) < EDITS:
                    edits.append(changed)
        call = calls.get(event.ref) if event.kind == "result" else None
        if call is None or call.tool in WRITES or call.tool == "Read" or event.text.startswith(REFUSED):
            continue
        line = names.command_of(call)
        heart = names.core(line)
        key = heart or names.first_step(line)[:80] or call.tool
        typed = names.typed(line, SHOWN).lstrip("… ") or call.tool
        output = names.bounded(event.text)
        if heart:
            before = ran.pop(kin := SERIAL.sub("#", heart), None)
            code = EXIT.search(output[:200]) if event.failed else None
            cites = ((before.cites if before else ()) + (call.id, event.id))[-RUNS:]
            ran[kin] = Run(heart, typed, event.failed, code[1] if code else "", cites, event.at)
            if before and before.heart in before.text and heart not in typed:
                ran[kin] = before._replace(cites=(*before.cites[:2], *cites[-RUNS + 2 :]), at=event.at)
            if tested := next((step for step in names.steps(line) if TESTS.search(step)), ""):
                ran_by = names.typed(tested, SHOWN).lstrip("… ")
                tests |= {(names.core(tested) or tested): fact for fact in _tested(output, ran_by, call, event)}
        if event.failed:
            said = wrong_line(output)
            if said:
                signature = _signature(said)
                known = errors.pop(signature, None)
                cites = ((known.cites if known else ()) + (call.id, event.id))[-6:]
                errors[signature] = Fact("error", said, cites, event.at, typed, "open")
                broken.setdefault(key, {})[signature] = []
        for signature, edits in broken.pop(key, {}).items() if not event.failed else ():
            if (error := errors.get(signature)) and error.status == "open":
                mended = ", ".join(dict.fromkeys(edit.path for edit in edits[-8:]))
                cites = (*error.cites, *(edit.id for edit in edits[-8:]), call.id, event.id)
                errors[signature] = error._replace(cites=cites, status="fixed", because=mended)
    for run in ran.values():
        status = "ok" if not run.failed else f"failed, exit {run.exit}" if run.exit else "failed"
        yield Fact("command", run.text, run.cites, run.at, about=run.heart, status=status)
    yield from tests.values()
    yield from list(errors.values())[-KEPT:]


def _changes(call: Event) -> Event | None:
    """A call that changes a file, with its path: an edit, or git putting back what was."""
    if call.tool in WRITES:
        return call if call.path else None
    put_back = names.DROPS.match(names.first_step(names.command_of(call)))
    return call._replace(path=put_back[1]) if put_back else None


def _tested(output: str, ran: str, call: Event, event: Event) -> Iterator[Fact]:
    """What a run of tests said: the line that sums it up, sooner than one of its parts."""
    results = [one_line(found[0], 200) for found in TESTED.finditer(output)]
    if not results:
        return
    failing = [one for one in results if FAILS.search(one)]
    sums = [one for one in results if not OF_ONE.match(one) and not one.startswith("FAIL")]
    said = (sums or failing or results)[-1]
    bad = event.failed or bool(failing)
    part = OF_ONE.match(said) and (len(results) > 1 or "|" in names.command_of(call))
    status = "failed" if bad else "unfailed" if part else "passed"
    if bad and OF_ONE.match(said):
        return  # one part passed: what failed is told as an error
    yield Fact("test", said, (call.id, event.id), event.at, ran, status, _thrown(output) if bad else "")


def wrong_line(output: str) -> str:
    """The line of an output that says what went wrong."""
    if thrown := _thrown(output):
        return thrown
    lines = [line.strip() for line in output[: names.HEAD].splitlines() if _has_words(line) and not FRAME.match(line)]
    lines = [line for line in lines if not FINE.search(line[:300])]
    wrong = [line for line in lines if WRONG.search(line[:300])]
    said = next((line for line in wrong if not TESTED.match(line)), "") or next(iter(wrong), "")
    return one_line(said or (lines[0] if 0 < len(lines) <= FEW else ""), 200)


def _signature(error: str) -> str:
    """What tells an error from others, however its numbers and names change; of an assertion they are all it says."""
    return error if ASSERTS.search(error) else VARIES.sub("#", error.lower())


def _has_words(line: str) -> bool:
    """Whether a line is more than a frame, a bar or a row of numbers."""
    return any(map(str.isalpha, LETTERS.findall(line[:300]))) and 2 * sum(map(str.isalnum, line[:300])) > len(
        line[:300].replace(" ", "")
    )


def _thrown(output: str) -> str:
    """The exception or the assertion that an output names; empty when it names none."""
    found = THROWN.search(output[: names.HEAD])
    return one_line(found[1], 200) if found else ""


def _commits(events: Sequence[Event], calls: dict[str, Event]) -> Iterator[Fact]:
    for event in events:
        call = calls.get(event.ref) if event.kind == "result" and not event.failed else None
        if (
            call
            and "git" in (line := names.command_of(call)[:20_000])
            and ("commit" in line or "merge" in line or "cherry" in line)
        ):
            for branch, digest, message in COMMITTED.findall(event.text[: names.HEAD])[-5:]:
                yield Fact(
                    "commit", one_line(message, 200), (call.id, event.id), event.at, about=digest[:12], status=branch
                )
            if "git log" in line and not COMMITTED.search(event.text[: names.HEAD]):
                for digest, message in LOGGED.findall(event.text[: names.HEAD])[:1]:
                    if message in line:  # what was committed quietly, and then looked at
                        yield Fact("commit", one_line(message, 200), (call.id, event.id), event.at, about=digest[:12])


def _used(events: Sequence[Event], weighed: names.Names) -> Iterator[Fact]:
    """Addresses, names and numbers that keep being used."""
    when = {event.id: event.at for event in events}
    for ref in weighed.refs[:60]:
        kind = "url" if ref.text.startswith("http") else "name"
        yield Fact(kind, ref.text, ref.cites, when[ref.cites[-1]])
    for name in weighed.names[:KEPT]:
        links = weighed.links.get(name.text, ())[:1]
        cites = tuple(dict.fromkeys((*name.cites, *(cite for link in links for cite in link.cites))))
        yield Fact("name", name.text, cites, when[name.cites[-1]], about=links[0].path if links else "")
    counts: dict[str, list[Event]] = {}
    for event in events:
        if event.kind in ("prompt", "reply") and not event.agent:
            for number in set(names.NUMBER.findall(names.looked_at(event))):
                counts.setdefault(number, []).append(event)
    for number, said in counts.items():
        if len(said) >= 3:
            yield Fact(
                "number", number, tuple(event.id for event in said[-3:]), said[-1].at, about=_around(number, said[-1])
            )


def _around(number: str, event: Event) -> str:
    """The words a number stands among."""
    at = event.text.find(number)
    begin = max(event.text.rfind(mark, 0, at) for mark in ("\n", ". ", "! ", "? ")) + 1
    return one_line(event.text[max(begin, at - 80) : at + len(number) + 60].partition("\n")[0], 140)
