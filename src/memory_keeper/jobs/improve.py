"""Better wordings: a model is asked about what a note covers, and its answer takes the place of the note's words.

Whatever a model does, the note that was made by rule is there and stays: an answer that is refused, names what the
records do not, or never comes, changes nothing. Each time a model is asked, one event says so before and one after it,
the second together with the wording; `allowance` counts them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from secrets import token_hex
from time import time
from typing import NamedTuple

from memory_keeper import config, wire
from memory_keeper.capture.redact import known_values, redact
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.extract.facts import facts_of, say
from memory_keeper.jobs.allowance import attempts, may_ask
from memory_keeper.jobs.summarize import write_note, write_outline
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Json, Note, origin
from memory_keeper.notes.checks.citations import Record, link
from memory_keeper.notes.kept_note import lines_of, measure
from memory_keeper.notes.summarizers import Summarizer, anthropic, claude_cli, openai, outline_answer
from memory_keeper.notes.summarizers.asking import Answer, Unfinished, prompt
from memory_keeper.notes.summarizers.outline_answer import take
from memory_keeper.notes.summarizers.verdict import judge
from memory_keeper.provenance import imported_from, whose
from memory_keeper.store.events import covered_events, model_calls
from memory_keeper.store.home import Lock
from memory_keeper.text import clean, clip_middle, digest_of, tokens

PATIENCE = 30.0  # seconds for the writer's lock
LATELY = 1000  # events that are looked at for notes that could not be worded
TRIES = 2  # answers about a note that are refused before it is left alone
NEWEST = 50  # notes of a project that are improved in the background
PROJECTS = 20  # sessions that say which projects are worked on
INPUT = 16_000  # tokens of a session that a model is given
ASIDE = 600  # tokens of what it is told beside the texts
CITED = 50  # events that one line cites
LEAST = 160  # tokens that any wording may take
FACTS = ("by", "model", "tokens_in", "tokens_out", "cost")  # what a wording says of itself
UNSAID = ("text", "project", "code", "hint")  # of an outcome: what the event of it has elsewhere
# what of an event a model is shown, the most needed first, and how much of each at most
SHOWN = (
    (("prompt", "queued"), 1500),
    (("reply",), 1000),
    (("summary",), 1500),
    (("todo", "task", "call", "command"), 150),
    (("failed",), 300),
    (("result",), 150),
    (("thinking",), 150),
)


class Job(NamedTuple):
    """Who is asked, and with what."""

    by: str  # extractive | claude-cli | anthropic | openai
    settings: Json
    environ: dict[str, str]
    root: str  # of the project
    background: bool = False


class Outcome(NamedTuple):
    """What came of asking for another wording of a note."""

    note: str  # the first wording
    level: int
    project: str
    by: str
    ok: bool = False
    answered: bool = False
    why: str = ""  # it was not taken
    id: str = ""  # the new wording
    text: str = ""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    code: int = 0  # of the error that it ended with
    hint: str = ""  # what to do about that


class Draft(NamedTuple):
    """Another wording of a note that is not kept yet."""

    first: Note  # in its first wording
    outcome: Outcome
    text: str = ""  # what was answered, taken or not
    note: Note | None = None  # only if it can be taken
    begun: str = ""  # of the events that say that a model was asked: how their ids begin


class Matter(NamedTuple):
    """What a note is about."""

    first: Note  # in its first wording
    sources: Sequence[Record]
    texts: Sequence[str]  # that a model is shown
    budget: int
    rests: Mapping[str, Sequence[str]] = {}  # the events that a source rests on; else it is one

    @property
    def said(self) -> list[str]:
        """All that the sources say."""
        return [text for source in self.sources for text in source.texts]


def improve(keeper: Keeper, notes: Sequence[Note], job: Job) -> Iterator[Outcome]:
    """Ask for another wording of each of these notes, one after the other."""
    for note in notes:
        first = keeper.store.note(origin(note))
        if first:
            yield keep(keeper, job, draft(keeper, read_matter(keeper, first, job.settings), job))


def wordable(notes: Sequence[Note]) -> list[Note]:
    """Those that may get another wording, the newest first: not what the user wrote or took away, nor what was
    imported."""
    return [
        note
        for note in reversed(notes)
        if note.level > 0 and note.text and note.who != "user" and not imported_from(note)
    ]


# --- asking ----------------------------------------------------------------------------------------------------------


def draft(keeper: Keeper, matter: Matter, job: Job) -> Draft:
    """Have a note worded. Nothing is kept but that a model was asked: whoever calls this has to `keep` or `drop` it."""
    return _recount(keeper, matter, job) if job.by == "extractive" else _ask(keeper, matter, job)


def _ask(keeper: Keeper, matter: Matter, job: Job) -> Draft:
    summarizers: dict[str, Summarizer] = {
        "claude-cli": claude_cli.summarize,
        "anthropic": anthropic.summarize,
        "openai": openai.summarize,
    }
    outcome = Outcome(matter.first.id, matter.first.level, matter.first.project, job.by)
    begun = "spent-" + token_hex(6)
    model = str(job.settings["summarize.model"])
    under_way = outcome._replace(tokens_in=estimate(matter), why="it never ended", model=model)
    _keep(keeper, _spent(begun + ":0", matter.first, under_way, job), None)
    try:
        form = prompt if matter.first.level == 1 else outline_answer.prompt
        answer = summarizers[job.by](matter.texts, matter.budget, job.settings, job.environ, job.root, form)
    except KeeperError as error:
        # whoever was asked may have read it all before failing; who was not there has not
        read = 0 if isinstance(error, NotSetUp) else under_way.tokens_in
        outcome = under_way._replace(why=str(error), code=error.code, hint=error.hint, tokens_in=read)
        if not isinstance(error, Unfinished):
            return Draft(matter.first, outcome, begun=begun)
        outcome = _answered(outcome, error.answer)  # it would not finish the next time either
        return Draft(matter.first, outcome, _without_secrets(keeper, job, error.answer.text), begun=begun)
    outcome = _answered(under_way._replace(why=""), answer)
    return draft_of(keeper, matter, job, outcome, answer.text, begun)


def _answered(outcome: Outcome, answer: Answer) -> Outcome:
    """An outcome with what an answer took; where nobody counted what was read, that stays as it was estimated."""
    read = answer.tokens_in or outcome.tokens_in
    return outcome._replace(
        answered=True, model=answer.model, tokens_in=read, tokens_out=answer.tokens_out, cost=answer.cost
    )


def estimate(matter: Matter) -> int:
    """About how many tokens a model would read."""
    return sum(map(tokens, matter.texts)) + ASIDE


def draft_of(keeper: Keeper, matter: Matter, job: Job, outcome: Outcome, answer: str, begun: str = "") -> Draft:
    """What an answer would make of a note; without a wording, and with the reason, if it cannot be one."""
    safe = _without_secrets(keeper, job, answer)
    text, extra, why = read_answer(matter, answer) if safe == answer else (safe, {}, "there is a secret in it")
    if why:
        return Draft(matter.first, outcome._replace(why=why, code=1), safe, begun=begun)
    return _worded(matter.first, outcome, text, {**extra, **{name: getattr(outcome, name) for name in FACTS}}, begun)


def _recount(keeper: Keeper, matter: Matter, job: Job) -> Draft:
    """Have a note made again by rule: by the rules of today, or in place of a model's words."""
    first = matter.first
    if first.level == 1:
        again = write_note(
            covered(keeper, first),
            job.settings["reduce.noteTokens"],
            job.root,
            wire.read_object(first.extra).get("midway") is True,
        )
    else:
        notes = keeper.store.notes(first.project, above=first.id)
        again = write_outline(keeper, notes, job.settings["reduce.outlineTokens"])
    return _worded(first, Outcome(first.id, first.level, first.project, job.by), again.text, wire.loads(again.extra))


def _worded(first: Note, outcome: Outcome, text: str, extra: Json, begun: str = "") -> Draft:
    id = "note-" + digest_of(first.id, text, token_hex(6))
    note = first._replace(id=id, text=text, extra=wire.dumps(extra), tokens=measure(text), replaces=first.id, who="")
    return Draft(first, outcome._replace(ok=True, id=id, text=text), text, note, begun)


# --- keeping ---------------------------------------------------------------------------------------------------------


def keep(keeper: Keeper, job: Job, draft: Draft) -> Outcome:
    """Keep a wording, if there is one, and with it what was spent on it."""
    outcome = draft.outcome
    event = _spent(draft.begun + ":1", draft.first, outcome, job) if draft.begun else None
    fault = _keep(keeper, event, draft.note)
    return outcome._replace(ok=False, id="", text="", why=fault, code=1) if fault else outcome


def drop(keeper: Keeper, job: Job, draft: Draft) -> Outcome:
    """Keep what was spent on a wording, and not the wording."""
    return keep(keeper, job, draft._replace(note=None, outcome=draft.outcome._replace(id="")))


def _spent(id: str, first: Note, outcome: Outcome, job: Job) -> Event:
    fields = {name: value for name, value in outcome._asdict().items() if name not in UNSAID}
    extra = wire.dumps({**fields, "background": job.background})
    return Event(id, time(), "spent", first.session, first.project, "", tool=job.by, ref=first.id, extra=extra)


def _keep(keeper: Keeper, spent: Event | None, note: Note | None) -> str:
    """Keep what was spent and the wording that came of it, in one; why the wording was not kept."""
    if not os.path.isdir(keeper.home):
        raise KeeperError(f"{keeper.home} is gone")  # it was deleted meanwhile: do not make it again
    if not spent and not note:
        return ""
    with keeper.writing(PATIENCE):
        now, fault = keeper.writer.wording(note.replaces) if note else None, ""
        if note and (not now or now.who == "user"):
            note, fault = None, "the user has worded it meanwhile" if now else "the note is gone"
        if spent and not keeper.writer.mark(spent, note):
            fault = fault or "the note is gone"
        elif note and not spent:
            keeper.writer.add(note)
    return fault


# --- what is asked about ---------------------------------------------------------------------------------------------


def read_matter(keeper: Keeper, first: Note, settings: Json) -> Matter:
    """What a note is about: the events of a session, or the notes beneath it in the wording in force; and what was
    found in them."""
    if first.level == 1:
        events = covered(keeper, first)
        found, rests = _stated(first)
        sources = [*(Record(event.id, (event.text, event.path, event.tool)) for event in events), *found]
        texts = [*shown(events), *(f"found: {record.texts[0]}" for record in found)]
        return Matter(first, sources, texts, min(settings["reduce.noteTokens"], max(LEAST, first.tokens)), rests)
    sources, texts, rests = [], [], {}
    for note in keeper.store.notes(first.project, above=first.id):
        lines, of = _stated(note) if not whose(note) else ([], {})
        for number, (line, cites) in enumerate(lines_of(note) if not lines and note.text else ()):
            lines.append(Record(f"{origin(note)} {number}", (line,)))
            of[lines[-1].id] = cites or (origin(note),)  # where it does not say, as when a person wrote it
        sources += lines
        texts += ["\n".join(record.texts[0] for record in lines)] if lines else []
        rests |= of
    return Matter(first, sources, texts, settings["reduce.outlineTokens"], rests)


def _stated(note: Note) -> tuple[list[Record], dict[str, Sequence[str]]]:
    """The facts that are kept with a note, each in words, and the events that state it."""
    facts = facts_of(note)
    found = [Record(f"{origin(note)} {number}", (clean(say(fact)),)) for number, fact in enumerate(facts)]
    return found, {record.id: fact.cites or (origin(note),) for record, fact in zip(found, facts, strict=True)}


def covered(keeper: Keeper, first: Note) -> list[Event]:
    """The events of a session that a note is about."""
    return [event for event in covered_events(keeper.store, first.id) if event.kind != "spent"]


def shown(events: Sequence[Event], budget: int = INPUT) -> list[str]:
    """What events say, in order, as much as fits; else what is needed less goes, and the old before the new."""
    asked = {" ".join(event.text.split()) for event in events if event.kind == "prompt"}
    chosen: dict[int, str] = {}
    for kinds, most in SHOWN:
        for place in reversed(range(len(events))):
            event = events[place]
            kind = "failed" if event.kind == "result" and event.failed else event.kind
            if kind not in kinds or not event.text.strip():
                continue
            if kind == "queued" and " ".join(event.text.split()) in asked:
                continue  # what was typed early is a prompt later
            head = f"{kind} of {event.tool}" if event.tool else kind
            text = f"{head}: {clip_middle(event.text, most)}"
            if tokens(text) <= budget:
                budget -= tokens(text)
                chosen[place] = text
    return [chosen[place] for place in sorted(chosen)]


# --- what is taken of an answer --------------------------------------------------------------------------------------


def read_answer(matter: Matter, answer: str) -> tuple[str, Json, str]:
    """What an answer would make of a note: its words, what is kept beside them, and why it is not taken."""
    extra = wire.read_object(matter.first.extra)
    body, outline = answer, extra.get("outline")
    if isinstance(outline, dict) and answer.lstrip()[:1] in ("{", "`"):
        outline, why = take(answer, matter.said, matter.budget, outline)
        if why:
            return answer, {}, why
        body = outline["overallSummary"]
    body, why = judge(body, matter.said, matter.budget)
    linked = [] if why else link(body, matter.sources)
    if not linked:
        return answer, {}, why or "none of it can be found in what it is about"
    text = "\n".join(claim.sentence for claim in linked)
    rests = [[cite for source in claim.cites for cite in matter.rests.get(source, (source,))] for claim in linked]
    extra["cites"] = [list(dict.fromkeys(cites))[:CITED] for cites in rests]
    if isinstance(outline, dict):
        extra["outline"] = {**outline, "overallSummary": text}
    return text, extra, ""


def _without_secrets(keeper: Keeper, job: Job, answer: str) -> str:
    known = known_values(job.environ, config.read_dotenv(job.root) if job.root else ())
    return redact(answer, keeper.salt, known)


# --- in the background -----------------------------------------------------------------------------------------------


def improve_due(keeper: Keeper) -> list[Outcome]:
    """Ask for better wordings of the newest notes that were made by rule, where the user's settings name a model.

    One process of a home does, the newest notes first, until all have one, the day's tokens are spent, or a model
    fails: then it is asked again after a minute, then two, four, and so on up to a day, and first about other notes.
    """
    jobs = list(_jobs(keeper))
    if not jobs:
        return []
    outcomes: list[Outcome] = []
    try:
        with Lock(keeper.home, 0.0, "improve"):
            while found := _next(keeper, jobs):  # there may be a newer one each time
                note, job = found
                matter = read_matter(keeper, note, job.settings)
                daily = job.settings["summarize.dailyTokens"]
                if not may_ask(keeper.store, estimate(matter) + matter.budget, daily, time()):
                    break
                outcomes += improve(keeper, [note], job)
                if not outcomes[-1].ok:
                    break
    except Busy:
        pass  # somebody else is at it
    return outcomes


def _jobs(keeper: Keeper) -> Iterator[tuple[str, dict[int, Job]]]:
    """The projects that are worked on, and who words the notes of each level there; those where a model does."""
    for project in dict.fromkeys(session.project for session in keeper.store.sessions(None, PROJECTS)):
        root = next(iter(keeper.store.roots(project)), "")
        job = job_for(keeper, root)
        jobs = {level: job._replace(by=summarizer(job.settings, level), background=True) for level in (1, 2)}
        if any(job.by != "extractive" for job in jobs.values()):
            yield project, jobs


def job_for(keeper: Keeper, root: str, by: str = "") -> Job:
    """A job in a project, with the user's own settings and environment."""
    environ = config.own_environ(keeper.environ, root)
    return Job(by, config.load(keeper.home, root, environ)[0], environ, root)


def summarizer(settings: Json, level: int) -> str:
    """Who words the notes of a level."""
    return str(settings[f"summarize.level{min(level, 2)}"])


def _next(keeper: Keeper, jobs: Sequence[tuple[str, dict[int, Job]]]) -> tuple[Note, Job] | None:
    """The newest of the notes that wait for a better wording, and first one that has not failed yet."""
    tried = attempts(model_calls(keeper.store, limit=LATELY))
    failed, refused = (
        [attempt.note for attempt in tried if not attempt.ok],
        [attempt.note for attempt in tried if attempt.refused],
    )
    waiting = [pair for pair in _waiting(keeper, jobs) if refused.count(pair[0].id) < TRIES]
    return max(waiting, key=lambda pair: (-failed.count(pair[0].id), pair[0].at), default=None)


def _waiting(keeper: Keeper, jobs: Sequence[tuple[str, dict[int, Job]]]) -> Iterator[tuple[Note, Job]]:
    """The newest notes that were made by rule and that a model is to word."""
    for project, by_level in jobs:
        notes = [note for level in (1, 2) for note in keeper.store.notes(project, level, limit=NEWEST)]
        for note in wordable(notes):
            job = by_level[min(note.level, 2)]
            if not note.replaces and job.by != "extractive":
                yield note, job
