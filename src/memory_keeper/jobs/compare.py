"""The same note by several summarizers, each with its scores. None of the wordings is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_keeper.extract import fidelity
from memory_keeper.extract.extraction import extract
from memory_keeper.extract.facts import Fact, say
from memory_keeper.jobs.improve import Job, Matter, Outcome, covered, draft, drop, read_matter
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.checks.grounding import ungrounded
from memory_keeper.notes.kept_note import lines_of, measure
from memory_keeper.notes.outline import read
from memory_keeper.notes.own_commands import others
from memory_keeper.text import clean, utc_day


class Score(NamedTuple):
    """What a summarizer makes of a note, and how good that is."""

    outcome: Outcome
    text: str = ""  # taken or not
    tokens: int = 0
    kept: int | None = None  # facts; None: there was no answer
    lost: int | None = None
    ungrounded: Sequence[str] = ()  # names that nothing has which the note is about
    citations: int = 0  # events that its lines rest on; none are looked up for an answer that is not taken


class Material(NamedTuple):
    """What the wordings of a note are held against."""

    facts: Sequence[Fact]
    sources: Sequence[str]
    days: Sequence[str] = ()  # that an outline names beside what its notes say


def compare(keeper: Keeper, first: Note, job: Job, summarizers: Sequence[str]) -> Iterator[Score]:
    """Have each of these summarizers word a note, and score it; what a model was asked is kept, and nothing else."""
    matter = read_matter(keeper, first, job.settings)
    material = _material(keeper, matter)
    for by in summarizers:
        yield _score(keeper, matter, job._replace(by=by), material)


def _score(keeper: Keeper, matter: Matter, job: Job, material: Material) -> Score:
    wording = draft(keeper, matter, job)
    outcome = drop(keeper, job, wording)
    if not (outcome.ok or outcome.answered):
        return Score(outcome)
    text = clean(wording.text).strip()
    found = fidelity.compare(material.facts, text)
    cites = {cite for _, ids in lines_of(wording.note) for cite in ids} if wording.note else ()
    missing = ungrounded(text, material.sources, material.days)
    return Score(outcome, text, measure(text), found.kept, found.lost, missing, len(cites))


def _material(keeper: Keeper, matter: Matter) -> Material:
    """The facts of the events that a note covers; of an outline, those that are kept with the notes beneath it."""
    first = matter.first
    if first.level == 1:
        return Material(extract(list(others(covered(keeper, first)))), matter.said)
    notes = [note for note in keeper.store.notes(first.project, above=first.id) if note.text]
    facts = [fact for number, note in enumerate(notes) for fact in read(note, number)]
    titles = [keeper.store.title(session) for session in {note.session for note in notes} - {""}]
    days = [utc_day(at) for at in {fact.at for fact in facts}]
    return Material(facts, [*matter.said, *map(say, facts), *titles], days)
