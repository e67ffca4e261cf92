"""How much a sentence is worth: the weights fit what is looked at, and any session has finite figures."""

from __future__ import annotations

from math import isfinite

from hypothesis import given

from memory_keeper.extract.ranker import CONCEPT, CUES, SENTENCE, Session, rank, weights
from memory_keeper.extract.spoken import spoken
from memory_keeper.model import Event
from tests.notes.story import Story, sessions
from tests.rows import rows


def test_there_is_a_weight_for_all_that_is_looked_at_and_no_other() -> None:
    learnt = weights()
    bias, *sentence = learnt["sentence"]
    assert sentence == [*SENTENCE] and bias not in SENTENCE
    bias, *concept = learnt["concept"]
    assert concept == [*CONCEPT] and bias not in CONCEPT
    assert learnt["rarity"] and learnt["other"]["unseen"] > 0


@given(sessions())
def test_any_session_has_finite_figures(events: list[Event]) -> None:
    said, _ = spoken(events)
    session, worth, value = rank(said, events)
    assert len(worth) == len(said)
    assert all(isfinite(one) and one > 0 for one in (*worth, *value.values()))
    for one, found in zip(said, session.concepts, strict=True):
        assert len(session.sentence(one, found)) == len(SENTENCE)
        assert found <= set(value)


def test_a_session_of_nothing() -> None:
    session, worth, value = rank([], [])
    assert isinstance(session, Session) and worth == [] and value == {}


def worth_of(story: Story) -> dict[str, float]:
    said, _ = spoken(story.events)
    return {one.fact.text: score for one, score in zip(said, rank(said, story.events)[1], strict=True)}


@rows("more", "less")
def test_a_conclusion_is_worth_more_than_an_announcement(more: str, less: str) -> None:
    story = Story()
    story.prompt("Uploads hang on large files since the last release; find out why in src/pool.py.")
    story.reply(less)
    story.call("Read", "code", file_path="/p/src/pool.py")
    story.reply(more)
    worth = worth_of(story)
    assert worth[more] > worth[less]


@rows("cue", "text")
def test_cues(cue: str, text: str) -> None:
    assert CUES[cue].search(text)
    assert not CUES[cue].search("A plain table of parts.")
