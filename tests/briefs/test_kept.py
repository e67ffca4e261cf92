"""The last messages that stay: whole where they must be, cut where they are large, and never half of a pair."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.briefs.kept import CLIPPED, keep
from memory_keeper.capture.messages import read
from memory_keeper.capture.repeated import HOSTS, OPENING
from memory_keeper.text import tokens

OLD, NEW = "claude-sonnet-4-5-20250929", "claude-opus-5-5"
Json = dict[str, Any]


def said(role: str, text: str) -> Json:
    return {"role": role, "text": text, "toolUses": []}


def used(id: str, given: Any = None, text: str = "") -> Json:
    use = {"tool_use_id": id, "tool": "Bash", "input": given if given is not None else {"command": f"echo {id}"}}
    return {"role": "assistant", "text": text, "toolUses": [use]}


def result(id: str, text: str = "ok", failed: bool = False) -> Json:
    answer = {"tool_use_id": id, "text": text, "isError": failed}
    return {"role": "user", "text": "", "toolUses": [], "toolResults": [answer]}


def kept(*messages: Json, budget: int = 1500, goes_on: bool = False, model: str = NEW) -> list[Json]:
    return keep(read(list(messages)), budget, goes_on, model)


def cost_of(messages: list[Json]) -> int:
    texts = [one["text"] for one in messages]
    texts += [answer["text"] for one in messages for answer in one.get("toolResults", ())]
    texts += [json.dumps(use["input"], ensure_ascii=False) for one in messages for use in one["toolUses"]]
    return sum(map(tokens, texts))


PAST = [said("user", "Build it."), used("a"), result("a"), said("assistant", "Built.")]


def test_what_fits_stays_as_it_was() -> None:
    assert kept(*PAST) == PAST


def test_the_newest_stay() -> None:
    old = [said("user", f"Request {number}: " + "go on with it. " * 20) for number in range(30)]
    found = kept(*old, said("assistant", "Done."), budget=300)
    assert found[-1]["text"] == "Done."
    assert found[:-1] == old[-len(found) + 1 :] and 1 < len(found) < 6


def test_a_large_result_is_cut_in_the_middle_and_its_call_stays() -> None:
    use, answer = kept(used("a"), result("a", "\n".join(map(str, range(9000))), failed=True))
    assert use == used("a")
    (cut,) = answer["toolResults"]
    assert cut["isError"] and CLIPPED in cut["text"] and cut["text"].startswith("0\n") and cut["text"].endswith("8999")
    assert tokens(cut["text"]) <= 1000


def test_what_a_tool_was_given_keeps_its_shape() -> None:
    given = {"file_path": "/p/a.py", "content": "line\n" * 9000, "edits": [{"old": "x" * 9000}], "all": True, "n": 3}
    use, _ = kept(used("a", given), result("a"))
    (call,) = use["toolUses"]
    assert call["input"].keys() == given.keys()
    assert (call["input"]["file_path"], call["input"]["all"], call["input"]["n"]) == ("/p/a.py", True, 3)
    assert CLIPPED in call["input"]["content"] and CLIPPED in call["input"]["edits"][0]["old"]


def test_calls_at_once_stay_together() -> None:
    together = [said("assistant", "Both."), used("a"), used("b"), result("b"), result("a")]
    assert kept(*together) == together


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        ([result("a"), said("assistant", "Built.")], [said("assistant", "Built.")]),
        ([used("a"), said("assistant", "Built.")], [said("assistant", "Built.")]),
        ([used("a"), used("b"), result("b")], [used("b"), result("b")]),
        ([used("a", text="I look."), said("user", "Stop.")], [said("assistant", "I look."), said("user", "Stop.")]),
        ([said("assistant", ""), said("assistant", "Built.")], [said("assistant", "Built.")]),
    ],
    ids=["result without call", "call without result", "one of two", "interrupted", "thinking"],
)
def test_half_of_a_pair_does_not_stay(messages: list[Json], left: list[Json]) -> None:
    assert kept(*messages) == left


def test_a_prompt_that_waits_for_an_answer_stays_as_it_is_whatever_its_size() -> None:
    waiting = [said("user", "First. " * 9000), said("user", "Second.")]
    assert kept(*PAST, *waiting, goes_on=True)[-2:] == [{"at": -2}, {"at": -1}]
    assert kept(said("user", ""), goes_on=True) == [{"at": -1}]  # a picture
    assert kept(*PAST, said("user", "Second."))[-1] == said("user", "Second."), "nobody waits between two turns"


def test_a_model_that_thinks_by_hand_gets_its_last_call_back_with_its_thoughts() -> None:
    messages = [*PAST, said("assistant", ""), used("b"), used("c"), result("b"), result("c", "x\n" * 9000)]
    *_, thought, b, c, first, second = kept(*messages, goes_on=True, model=OLD)
    assert [thought, b, c, first] == [{"at": -5}, {"at": -4}, {"at": -3}, result("b")]
    assert CLIPPED in second["toolResults"][0]["text"]
    for model, goes_on in ((NEW, True), ("", True), (OLD, False)):
        assert {"at": -4} not in kept(*messages, goes_on=goes_on, model=model)


@pytest.mark.parametrize("model", [OLD, NEW])
def test_many_calls_at_once_do_not_burst_the_budget(model: str) -> None:
    calls = [f"call{number}" for number in range(200)]
    large = "\n".join(map(str, range(900)))
    found = kept(*(used(id) for id in calls), *(result(id, large) for id in calls), goes_on=True, model=model)
    assert cost_of([one for one in found if "at" not in one]) <= 1500
    if model == NEW:
        assert found[-1]["toolResults"][0]["tool_use_id"] == "call199"
        assert len(found) > 10
    else:
        assert found == [], "it cannot do without one of them: the host is to compact"


def test_what_waits_for_an_answer_takes_the_place_of_what_came_before() -> None:
    waiting = said("user", "Go on with it. " * 200)
    assert 700 < tokens(waiting["text"]) < 1500
    old = [said("assistant", f"Part {number}: " + "it is done. " * 60) for number in range(9)]
    found = kept(*old, waiting, goes_on=True)
    assert cost_of([waiting, *found[:-1]]) <= 1500 and found[-1] == {"at": -1}


def test_what_the_host_and_we_wrote_does_not_stay() -> None:
    before = [said("user", "Long ago."), said("user", f"{OPENING} (9 tokens before)")]
    aside = [said("user", "<command-name>/cost</command-name>"), said("user", "<local-command-stdout>9</…>")]
    assert kept(*before, *PAST, *aside) == PAST


@pytest.mark.parametrize(
    "odd", [None, {}, "x", [], [None, 5, "x"], [{"role": "system", "text": "x"}], [{"role": "user"}]]
)
def test_odd_questions_leave_nothing(odd: Any) -> None:
    assert keep(read(odd), 1500, False) == []


@pytest.mark.parametrize(
    "odd", [{"text": 5}, {"toolUses": "x"}, {"toolUses": [None, {}], "toolResults": [{"text": "x"}]}]
)
def test_odd_messages_are_passed_over(odd: Json) -> None:
    assert kept({"role": "user", **odd}, said("assistant", "Built.")) == [said("assistant", "Built.")]


TEXTS = st.one_of(
    st.text(max_size=50), st.sampled_from(["word " * 4000, "\n".join(map(str, range(3000))), "字" * 3000])
)
MESSAGES = st.one_of(
    st.builds(said, st.sampled_from(["user", "assistant"]), TEXTS),
    st.builds(used, st.sampled_from("abc"), st.dictionaries(st.text(max_size=5), TEXTS, max_size=3), TEXTS),
    st.builds(result, st.sampled_from("abc"), TEXTS),
)


@given(st.lists(MESSAGES, max_size=12), st.integers(300, 3000), st.booleans(), st.sampled_from((OLD, NEW)))
def test_whatever_happened_pairs_are_whole_and_the_budget_holds(
    messages: list[Json], budget: int, goes_on: bool, model: str
) -> None:
    stays = kept(*messages, budget=budget, goes_on=goes_on, model=model)
    found = [messages[one["at"]] if "at" in one else one for one in stays]
    waiting = 0  # a prompt stays whatever it costs
    while (
        waiting < len(stays) and stays[-1 - waiting] == {"at": -1 - waiting} and found[-1 - waiting]["role"] == "user"
    ):
        waiting += 1
    calls = {use["tool_use_id"] for one in found for use in one["toolUses"]}
    answers = {answer["tool_use_id"] for one in found for answer in one.get("toolResults", ())}
    assert answers <= calls and (model == OLD or calls == answers)
    assert cost_of(found) <= max(budget, cost_of(found[len(found) - waiting :]))


SUMMARY = f"{HOSTS} that ran out of context.\n\nSummary:\nThe user wants it built. " + "And a detail. " * 400


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("opening", [OPENING, SUMMARY])
def test_what_stands_for_an_earlier_compaction_does_not_stay(opening: str, goes_on: bool) -> None:
    """The handoff has what it says; and nobody said it, so it is not handed back in the user's place."""
    new = [said("assistant", "On."), said("user", "Go on.")]
    assert [one.get("at", one.get("text")) for one in kept(said("user", opening), *new, goes_on=goes_on)] == [
        "On.",
        -1 if goes_on else "Go on.",
    ]
    assert kept(said("user", opening), said("user", "Go on."), goes_on=True) == [{"at": -1}], "right after it"
