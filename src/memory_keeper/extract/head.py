"""The head of a handoff: the goal, the state, what is next, what the user insists on, and the last steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from memory_keeper import regex as re
from memory_keeper.capture.calls import command_of, fields
from memory_keeper.capture.signature import find_wrong
from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.facts import Fact
from memory_keeper.extract.own_words import PASTED, own_words
from memory_keeper.extract.own_words import spoken as before_any_paste
from memory_keeper.extract.prose import sentences, split
from memory_keeper.extract.ranker import CUES
from memory_keeper.extract.spoken import AGENTS, EACH, Spoken
from memory_keeper.extract.todos import of_sessions
from memory_keeper.model import WRITES, Event
from memory_keeper.text import clean, one_line

RIDER, FEW_WORDS = 90, 2  # characters of a request that may only add to the one before; concepts of an order
SUBSTANCE, SOME = 5, 3  # concepts of a request that can be a goal, and of one that is told for want of a better one
NOD, ANSWER = 60, 160  # characters of an answer that only accepts, and of one that says more
FIRST, PROPOSED = 220, 260  # characters of the first request, and of a proposal
ASKED = 400  # characters at the end of an answer that may ask
THEN = 4  # answers and additions after the goal that are told
RULES, RULE = 6, 200  # rules of the user's that are told, and characters of each
STEPS, STEP, WROTE = 12, 300, 220  # last steps, characters of each, of what was written into a file
SOUGHT = re.compile(r"^pattern: (.+)$", re.M)
TASK = re.compile(r"^description: (.+)$", re.M)
SAYS = {"reply": "said", "thinking": "thought"}  # how a last step is introduced that is words
FEW_TASKS = 4  # that are told one by one
NEXT = 6  # steps that the last answer leaves
NODS = re.compile(
    r"^\W*(?:y|yes|yeah|yep|ok(?:ay)?|sure|go(?: ahead| for it)?|do (?:it|that|this|both|all)|please(?: do)?|continue"
    r"|proceed|sounds? good|looks? good|lgtm|perfect|great|nice|good|thanks?|thank you|correct|right|both|all"
    r"|option|(?:go with |take )?the (?:first|second|third|fourth|last|former|latter|other)|[a-e1-9]"
    r"|네|응|좋아|진행|はい|進めて)(?!\w)",
    re.I,
)
NODDING = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|ok(?:ay)?|sure|great|good|perfect|nice|thanks?|cool|agreed|no|hmm+|actually)\b[\s,.:!-]*)+",
    re.I,
)
OF_HOST = re.compile(r"/(?:compact|clear|context|cost|model|login|config|resume|exit)\b")  # commands of the host's own
CONTINUES = re.compile(r"^(?:and|also|now|next|then)(?: now)?,? (?:for |with |on )?(?:the|a|an|its?|his|our|my) ", re.I)
ORDERS = re.compile(
    r"^(?:(?:please|now|then|and|so|ok(?:ay)?|also|next|(?:can|could|would) you|let['’]?s"
    r"|i (?:want|need|would like) (?:you )?to)[,:]?\s+)*(?:add|analy[sz]e"
    r"|build|change|check|clean|compare|convert|create|debug|delete|deploy|design|document|explain|extract|find|fix"
    r"|implement|improve|install|investigate|make|merge|migrate|move|optimi[sz]e|port|push|commit|rebase|refactor|release|remove"
    r"|rename|replace|resolve|restore|review|do|start|finish|address|handle|pick|rewrite|run|set|simplify|split|test|update|upgrade|verify|write)\b",
    re.I,
)
POLITE = re.compile(r"^(?:(?:also|so|and|then|now),? )?(?:can|could|would|will) (?:you|we)\b", re.I)
ANSWERS = re.compile(
    r"^\W*(?:no|nope|nah|not|yes|yeah|yep|ok(?:ay)?|sure|actually|hmm+|i (?:think|like|prefer|would|don['’]?t)"
    r"|let['’]?s"
    r"|why not|instead|rather|remove|drop|that|this|it|아니|네|いや)\b",
    re.I,
)
INSISTS = re.compile(
    r"^(?:(?:and|also|but|please|ok(?:ay)?|no|so|just|then|yes|actually|hmm)[,.!]?\s+)*(?:don['’]?t|do not|never"
    r"|always|only (?:use|do|run|touch|change|write|ever)"
    r"|make sure|ensure|remember|stop|avoid|no need|(?:we|you) (?:don['’]?t|never|always|should"
    r"|must|can['’]?t)"
    r"|i (?:don['’]?t|do not|never|prefer|would rather|said)|it (?:should|must)|there should)\b"
    r"|\b(?:from now on|instead of|must(?: not)?|should ?n[o'’]t|don['’]t|do not|never|always|strictly"
    r"|at all times|rather than|without \w+ing|before (?:you|considering|commit\w*|push\w*)|no \w+s? (?:at all"
    r"|please))\b"
    r"|지\s?마|하지 마|반드시|항상|말고|しないで|必ず",
    re.I,
)
ONE_TIME = re.compile(
    r"\b(?:instead of|rather than|without \w+ing|before (?:you|considering|commit\w*|push\w*))\b", re.I
)
STANDING = re.compile(
    r"\b(?:from now on|at all times|always|never|strictly|every time|whenever|must|do not|don['’]?t|prefer|i want)\b",
    re.I,
)
FORBIDS = re.compile(r"\b(?:don['’]?t|do not|never|no need to|stop|avoid)\s+(\w+)", re.I)
LEFT = re.compile(
    r"^\W*(?:(?:immediate |suggested |recommended |possible )?next\b|remaining|to-?do\b|to do\b|pending|left\b"
    r"|what(?:'s| is) (?:left|next)|follow-?ups?|not (?:yet )?(?:done|started)|still (?:to|needed|open|left)"
    r"|open (?:items|points|issues|questions)|남은|다음|次|残り)",
    re.I,
)
NEXT_IS = re.compile(r"(?:the )?(?:next|remaining|left|still (?:open|to do))\b[^.?!:]{0,40}(?::| is | are )\S?", re.I)
# the mark of an option; `a` may be a word
MARK = r"(?:[A-Eb-e1-9](?!\w)|a(?=\W*(?:$|and\b|[,&+]))|(?:first|second|third|fourth)\b)"
TAKES = re.compile(
    r"\W*(?:(?i:option|approach|number|yes|yeah|ok(?:ay)?|the|both|go with|take|use|do|let['’]?s"
    r"|i (?:like|prefer))\W+)*"
    rf"({MARK}(?:(?:\W|and|plus){{1,9}}{MARK})*)"
)
ORDINALS = {"first": "1a", "second": "2b", "third": "3c", "fourth": "4d"}  # the marks that each may mean
OFFERS = 3  # answers in which an option may have been offered
BARE = 60  # characters of a question that says little without what stands before it
RECOMMENDED = re.compile(r"\brecomm?end", re.I)
ENDING = 4  # sentences at the end of an answer, where it asks or proposes


def goal(said: Sequence[Spoken], events: Sequence[Event], folder: str) -> Iterator[Fact]:
    """What the session is about: its title, what was asked first, and the newest request that says what to do; a nod
    that came after it, with the proposal that it accepts."""
    last = events[-1]
    lines = {event.id.rpartition(":")[0] for event in events}
    titles = [event for event in events if event.kind == "title" and (not event.ref or event.ref in lines)]
    if titles:  # one that names a line of another session is that one's
        yield Fact(
            "goal", one_line(clean(titles[-1].text), FIRST), (titles[-1].id,), titles[-1].at, "host", about="Session"
        )
    if folder:
        yield Fact("goal", folder, (last.id,), last.at, "host", place=1, about="Folder")
    requests = _requests(said)
    if not requests:
        return
    sent = [events[one[0].fact.place // EACH].kind != "queued" for one in requests]  # the others add to what is asked
    asking = [
        number
        for number, one in enumerate(requests)
        if sent[number]
        and (_orders(one) or (_has_substance(one) and not _answers(one, events)))
        and not _takes(one, events)
    ]
    newest = asking[-1] if asking else len(requests) - 1
    earlier = [one for one in requests[:newest] if not _nods(one)] or requests[:newest]
    if first := next((one for least in (SUBSTANCE, SOME) for one in earlier if _has_substance(one, least)), None):
        text = one_line(" ".join(one.fact.text for one in first), FIRST)
        yield first[0].fact._replace(kind="goal", text=text, about="First asked", place=2)
    before = requests[asking[-2]] if len(asking) > 1 else []
    asked = " ".join(one.fact.text for one in requests[newest])
    if before and before is not first and len(asked) < RIDER and not any("/" in one for one in concepts(asked)):
        text = one_line(" ".join(one.fact.text for one in before), FIRST)
        yield before[0].fact._replace(kind="goal", text=text, about="Before that", place=3)
    for one in requests[newest]:
        yield one.fact._replace(kind="goal", about="Asked last")
    for later in [one for one in requests[newest + 1 :] if not OF_HOST.match(one[0].fact.text)][-THEN:]:
        text = one_line(" ".join(one.fact.text for one in later), FIRST)
        proposal, cites = _accepted(text, later[0].fact, events)
        yield later[0].fact._replace(kind="then", text=text, about=proposal, cites=(*later[0].fact.cites, *cites))


def accepted(said: Sequence[Spoken], events: Sequence[Event]) -> Iterator[Fact]:
    """The user's short answers, each with what it answers: together they are a decision."""
    for request in _requests(said):
        text = " ".join(one.fact.text for one in request)
        proposal, cites = _accepted(text, request[0].fact, events)
        if proposal:
            yield request[0].fact._replace(
                kind="accepted", text=text, about=proposal, cites=(*request[0].fact.cites, *cites)
            )


def _accepted(text: str, fact: Fact, events: Sequence[Event]) -> tuple[str, tuple[str, ...]]:
    """What a short answer answers, and the event that says it: the option it names, else the question before it; empty
    for others."""
    for reply in _replies_before(fact, events):
        if options := _options(text, reply):
            return one_line(" … ".join(options), PROPOSED), (reply.id,)
    replies, short = _replies_before(fact, events), len(text) < NOD and NODS.match(text)
    if not replies or not (short or (len(text) < ANSWER and ANSWERS.match(text))):
        return "", ()
    return one_line(_proposed(text, replies[0].text[-4000:]), PROPOSED), (replies[0].id,)


def _proposed(answer: str, reply: str) -> str:
    """What the end of a reply asks or proposes; a short question with what stands before it, and what it recommends
    where the answer takes that."""
    found = [one.text for one in sentences(reply) if one.kind == "prose"]
    told = found[-ENDING:]
    place = next(
        (number for number in range(len(told) - 1, -1, -1) if told[number].endswith(("?", "？"))), len(told) - 1
    )
    proposal = told[place] if told else ""
    while place > 0 and len(proposal) < BARE and len(told[place - 1]) + len(proposal) < PROPOSED:
        place -= 1
        proposal = f"{told[place]} {proposal}"
    if RECOMMENDED.search(answer) and (advice := next((one for one in reversed(found) if RECOMMENDED.search(one)), "")):
        proposal = advice if advice in proposal else f"{advice} … {proposal}"
    return proposal


def _takes(request: Sequence[Spoken], events: Sequence[Event]) -> bool:
    """Whether a request only takes an option that was offered."""
    text = " ".join(one.fact.text for one in request)
    return any(_options(text, reply) for reply in _replies_before(request[0].fact, events))


def _replies_before(fact: Fact, events: Sequence[Event]) -> list[Event]:
    """The answers in which something may have been offered, the newest first."""
    before = reversed(events[: fact.place // EACH])
    return list(islice((event for event in before if event.kind == "reply" and not event.agent), OFFERS))


def _options(text: str, reply: Event) -> list[str]:
    """What was offered under the marks that a short answer names."""
    taken = TAKES.match(text) if len(text) < ANSWER else None
    marks = re.findall(MARK, taken[1]) if taken else []
    offered = (_option(reply.text, mark) for found in marks for mark in ORDINALS.get(found, found))
    return list(dict.fromkeys(filter(None, offered)))


def _option(text: str, mark: str) -> str:
    """What a text offers under a mark: `B) …`, `Option 2: …`, `**B — …**`; the last time it does."""
    named = r"(?:(?:option|approach|choice|plan|solution|variant)[ \t]*)?"
    pattern = rf"^[ \t>*#_|-]*+{named}[(\[]?{re.escape(mark)}[)\]]?[ \t]*[.:)—–|*-][ \t*_:.)|–—-]*+(.{{5,}})$"
    offered = re.findall(pattern, text, re.I | re.M)
    return str(offered[-1]).replace("**", "").strip() if offered else ""


def _requests(said: Sequence[Spoken]) -> list[list[Spoken]]:
    """What was asked, each request by its sentences; a program may have asked it."""
    found: dict[tuple[int, str], list[Spoken]] = {}
    for one in said:
        if one.source == "request":
            found.setdefault((one.fact.turn, one.fact.cites[0]), []).append(one)
    return [*found.values()]


def _orders(request: Sequence[Spoken]) -> bool:
    """Whether a request says what to do in a few words: `fix all gaps`."""
    own = (one.fact.text for one in request if one.form != "raw" or len(one.fact.text) < NOD)
    text = NODDING.sub("", " ".join(own))
    found = concepts(text)
    if text.endswith(("?", "？")):
        return bool(POLITE.match(text) and len(found) >= SOME)
    return bool(found and CONTINUES.match(text)) or bool(ORDERS.match(text) and len(found) >= FEW_WORDS)


def _nods(request: Sequence[Spoken]) -> bool:
    """Whether a request begins as an answer does, and is as short."""
    text = " ".join(one.fact.text for one in request)
    return len(text) < ANSWER and bool(NODS.match(text))


def _answers(request: Sequence[Spoken], events: Sequence[Event]) -> bool:
    """Whether a request only answers what was asked before it."""
    text = " ".join(one.fact.text for one in request)
    if len(text) >= ANSWER or not (NODS.match(text) or ANSWERS.match(text)):
        return False
    before = _replies_before(request[0].fact, events)
    return bool(before) and any(mark in before[0].text[-ASKED:] for mark in "?？")


def _has_substance(request: Sequence[Spoken], least: int = SUBSTANCE) -> bool:
    """Whether somebody says in words of their own what to do: more than a nod, and not in what they pasted."""
    own = (one.fact.text for one in request if one.form != "raw" and not PASTED.match(one.fact.text))
    text = " ".join(own)
    return len(concepts(text)) >= least and not (least == SUBSTANCE and len(text) < NOD and NODS.match(text))


def coming(said: Sequence[Spoken], events: Sequence[Event]) -> Iterator[Fact]:
    """What is next: open tasks, the steps that the last answers leave, and questions that nobody answered."""
    todos = of_sessions([event for event in events if event.kind in ("todo", "result") and not event.agent])
    done = sum(todo.status == "completed" for todo in todos)
    left = [todo for todo in todos if todo.status not in ("completed", "deleted")]
    when = {event.id: event.at for event in events}
    if left and (done or len(left) > FEW_TASKS):
        text = f"{done} of {done + len(left)} tasks of the list done"
        yield Fact("next", text, (left[0].cite,), when.get(left[0].cite, 0.0), place=len(events) * EACH)
    for number, todo in enumerate(left):
        status = "in progress" if todo.status == "in_progress" else "open"
        place = len(events) * EACH + 1 + number
        cites = (todo.cite, todo.made) if todo.made else (todo.cite,)
        yield Fact("todo", one_line(todo.text, RULE), cites, when.get(todo.cite, 0.0), place=place, status=status)
    turn = max((one.fact.turn for one in said), default=0)
    replies = [one for one in said if one.source == "reply" and one.fact.turn >= turn - 1]
    final = replies[-1].fact.place // EACH if replies else -1
    replies = [one for one in replies if one.fact.place // EACH == final]
    typed = max((one.fact.place for one in said if one.source in ("request", "answer")), default=-1)
    own = " ".join(own_words(events[final].text).split()) if replies else ""  # what it reads out is no step of its own
    steps = [
        one
        for one in replies
        if (one.form in ("item", "row") and LEFT.search(one.fact.about))
        or (NEXT_IS.match(one.fact.text) and one.fact.text[-1] not in ":：" and one.fact.text in own)
    ]
    for one in steps[-NEXT:]:
        yield one.fact._replace(kind="next")
    if not steps and not left and (announced := _announced(said)):
        begun = any(event.kind == "call" and not event.agent for event in events[announced.place // EACH + 1 :])
        yield announced._replace(kind="next", status="begun" if begun else "")
    for one in replies[-ENDING:]:
        if one.fact.text.endswith(("?", "？")) and one.fact.place > typed:
            yield one.fact._replace(kind="question", status="open")


def _announced(said: Sequence[Spoken]) -> Fact | None:
    """What the model said it would do, where that is the last that was said."""
    last = next(
        (one.fact.cites for one in reversed(said) if one.source in ("request", "answer", "reply", "thinking")), ()
    )
    own = [one for one in said if one.fact.cites == last and one.source in ("reply", "thinking")]
    return next((one.fact for one in reversed(own) if CUES["announces"].search(one.fact.text)), None)


def insisted(said: Sequence[Spoken], events: Sequence[Event]) -> Iterator[Fact]:
    """What the user wants always, never or otherwise, in their own words: not what they pasted, nor what they asked
    for otherwise later, nor how one thing was to be done."""
    texts = {event.id: event.text for event in events if event.kind in ("prompt", "queued", "result")}
    last = max((one.fact.turn for one in said), default=0)
    typed = [one.fact for one in said if one.source == "request" and one.fact.who == "user"]
    own: dict[str, str] = {}
    found = []
    for fact in typed:
        for number, text in enumerate(split(fact.text)):
            if (
                text.endswith(("?", "？", ":"))
                or (POLITE.match(text) and "? " in text)
                or not INSISTS.search(text)
                or len(text) > RULE
            ):
                continue
            if ONE_TIME.search(text) and not STANDING.search(text) and fact.turn < last - 1:
                continue
            id = fact.cites[0]
            if id not in own:
                own[id] = " ".join(before_any_paste(texts.get(id, "")).split())
            if text in own[id] and not _revoked(text, fact, typed):
                found.append(fact._replace(kind="rule", text=text, place=fact.place + number))
    yield from found[-RULES:]


def _revoked(text: str, fact: Fact, typed: Sequence[Fact]) -> bool:
    """Whether what a sentence forbids was asked for later."""
    forbidden = frozenset[str]().union(*map(concepts, FORBIDS.findall(text)))
    if not forbidden:
        return False
    later = (FORBIDS.sub(" ", other.text) for other in typed if other.place > fact.place and other.cites != fact.cites)
    return any(ORDERS.match(one) and forbidden <= concepts(one) for one in later)


def last_steps(events: Sequence[Event]) -> Iterator[Fact]:
    """What was said and done last, since the user's last word, newest first: where the next context goes on."""
    calls = {event.ref: event for event in events if event.kind == "call"}
    left = STEPS
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        if event.agent:
            continue
        if event.kind in ("prompt", "compact", "summary") or not left:
            return
        text = _step(event, calls)
        if text:
            left -= 1
            yield Fact("step", text, (event.id,), event.at, "model", place=place * EACH, about=SAYS.get(event.kind, ""))


def _step(event: Event, calls: dict[str, Event]) -> str:
    if event.kind == "reply":
        return one_line(clean(event.text), STEP)
    if event.kind == "thinking":
        end = event.text[-STEP:]
        if len(event.text) > STEP:  # it begins with a sentence, else with a word
            end = f"…{end.partition('. ')[2] or end.partition(' ')[2] or end}"
        return one_line(clean(end), STEP)
    if event.kind == "call":
        return _call(event)
    if (
        event.kind == "result"
        and (call := calls.get(event.ref))
        and (event.failed or call.tool in ("Bash", "Grep", "Glob"))
    ):
        wrong = [one.line for one in find_wrong(event.text, 2)]
        said = (
            " / ".join(wrong) if wrong else event.text.strip()[-WROTE:] if call.tool == "Bash" else event.text.strip()
        )
        # no output may pose as a step of its own: see how steps are joined
        return f"→ {one_line(clean(said), WROTE).replace('|', '¦')}" if said else ""
    return ""


def _call(event: Event) -> str:
    given = fields(event)
    if event.tool in WRITES:
        old, new = (
            given.get("old_string", "").splitlines(),
            (given.get("new_string") or given.get("edits") or "").splitlines(),
        )
        added, gone = ([line for line in mine if line not in theirs] for mine, theirs in ((new, old), (old, new)))
        change = f": {one_line(' '.join(gone), WROTE // 2)} ⇒ {one_line(' '.join(added), WROTE)}" if new else ""
        return f"{'wrote' if event.tool == 'Write' else 'edited'} {event.path}{change}"
    if event.tool == "Bash":
        return f"ran {one_line(command_of(event), WROTE)}"
    if event.tool in ("Grep", "Glob") and (pattern := SOUGHT.search(event.text)):
        return f"searched for {one_line(clean(pattern[1]), WROTE // 2)}"
    if event.tool in AGENTS and (task := TASK.search(event.text)):
        return f"gave to a subagent: {one_line(clean(task[1]), WROTE // 2)}"
    return f"{event.tool} {one_line(event.path or event.text, WROTE // 2)}"
