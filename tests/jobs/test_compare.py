"""A note by several summarizers: each is scored against the same facts, and only what was spent is kept."""

from __future__ import annotations

import json
from time import time

from memory_keeper.jobs.allowance import attempts
from memory_keeper.jobs.compare import Score, compare
from memory_keeper.jobs.improve import job_for
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.store.events import model_calls
from tests.jobs.test_improve import GOOD, OUTLINE, cut_short, in_force, keeper, newest, outline, service
from tests.notes.summarizers.service import Service, answering, said_by_openai

__all__ = ["keeper", "outline", "service"]  # fixtures


def compared(keeper: Keeper, note: Note) -> list[Score]:
    job = job_for(keeper, keeper.environ["CLAUDE_PROJECT_DIR"])
    return list(compare(keeper, note, job, ("extractive", "openai")))


def test_both_are_held_against_the_same_facts_and_only_the_question_is_kept(keeper: Keeper) -> None:
    first = newest(keeper)
    rule, model = compared(keeper, first)
    assert (rule.text, model.text) == (first.text, GOOD.replace(". ", ".\n"))
    assert None not in (rule.kept, rule.lost, model.kept, model.lost)
    assert (rule.kept or 0) + (rule.lost or 0) == (model.kept or 0) + (model.lost or 0) > 0
    assert (rule.ungrounded, model.ungrounded) == ([], [])
    assert rule.citations and model.citations
    assert rule.outcome.ok and model.outcome.ok and model.outcome.id == ""
    assert keeper.store.wordings(first.id) == [first]
    (attempt,) = attempts(model_calls(keeper.store))
    assert (attempt.ok, attempt.tokens, attempt.background) == (True, 120, False)
    assert '"id":""' in model_calls(keeper.store)[0].extra.replace(" ", "")


def test_a_second_comparison_is_not_of_the_first_one_s_question(keeper: Keeper) -> None:
    scores = [compared(keeper, newest(keeper)) for _ in range(2)]
    assert scores[0][0]._replace(outcome=scores[1][0].outcome) == scores[1][0]


def test_an_answer_that_did_not_finish_is_shown_as_far_as_it_came(keeper: Keeper, service: Service) -> None:
    body = cut_short(prompt_tokens=900, completion_tokens=1600)
    body["choices"][0]["message"]["content"] = "The retry in src/retry.py now"
    service.act = answering(body)
    _, model = compared(keeper, newest(keeper))
    assert not model.outcome.ok and "did not finish" in model.outcome.why
    assert model.text == "The retry in src/retry.py now" and model.outcome.tokens_out == 1600


def test_an_outline_is_held_against_the_facts_of_the_notes_beneath_it(
    keeper: Keeper, service: Service, outline: Note
) -> None:
    service.act = answering(said_by_openai(json.dumps(OUTLINE)))
    rule, model = compared(keeper, outline)
    assert (rule.text, rule.ungrounded) == (outline.text, [])
    assert model.outcome.ok and model.text == OUTLINE["overallSummary"].replace(". ", ".\n")
    assert rule.kept and model.kept and rule.kept > model.kept
    assert in_force(keeper, outline.id) == outline
    assert distil(keeper, time(), force=True) == []
