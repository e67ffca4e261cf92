"""What a summary kept of the facts of a handoff, and what it lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.extract.facts import Fact, say
from memory_keeper.extract.fidelity import Fidelity, compare


def fact(kind: str, text: str, **more: str) -> Fact:
    return Fact(kind, text, ("e0:0",), 1.0, **more)  # type: ignore[arg-type]


def is_kept(one: Fact, summary: str) -> bool:
    found = compare([one], summary)
    assert found.kept + found.lost == 1
    return found.kept == 1


SAID = "We retry three times because the gateway drops one request in ten"


@pytest.mark.parametrize(
    ("one", "summary", "kept"),
    [
        (fact("file", "src/app/up.py"), "I changed `src/app/up.py`.", True),
        (fact("file", "/home/me/src/app/uploader.py"), "see app/uploader.py", True),
        (fact("file", "src/app/uploader.py"), "uploader.py is done", True),
        (fact("file", "src/app/up.py"), "startup.py is done", False),
        (fact("file", "src/app/up.py"), "up.pyc", False),
        (fact("command", "pytest -q tests/x.py"), "Run `pytest -q  tests/x.py` again", True),
        (fact("command", "pytest -q tests/x.py"), "Run the tests again", False),
        (fact("reference", "#123"), "fixes #123", True),
        (fact("reference", "#123"), "fixes #1234", False),
        (fact("decision", SAID), "- **Retrying three times**, as the gateway drops a tenth of requests", True),
        (fact("decision", SAID), SAID.lower(), True),
        (fact("goal", "Write docs/limits.md.", about="Asked last"), "Now write docs/limits.md about it.", True),
        (fact("decision", SAID), "We retry.", False),
        (fact("decision", SAID), "retry three times. " + "Other words here. " * 40 + "The gateway drops.", False),
        (fact("commit", "Add a retry", about="abc1234"), 'Committed abc1234 "Add a retry".', True),
        (fact("commit", "Add a retry", about="abc1234"), "A retry was added.", False),
        (fact("next", "run `make deploy` on ingest-3"), "Then somebody has to run make deploy on ingest-3.", True),
        (fact("next", "run `make deploy` on ingest-3"), "Then somebody has to deploy.", False),
        (fact("step", "I go on with the limiter.", about="said"), "I go on with the limiter.", True),
    ],
)
def test_whether_a_fact_is_kept(one: Fact, summary: str, kept: bool) -> None:
    assert is_kept(one, summary) == kept


def test_what_else_the_context_holds_is_not_told_and_no_merit() -> None:
    facts = [fact("decision", SAID), fact("file", "src/app/up.py")]
    assert compare(facts, "See up.py there.", beside=f"{SAID}.") == Fidelity(1, 1, [])


WORDS = st.sampled_from(
    ("parser", "strict", "upload_part", "src/a.py", "한글", "12", "#412", "because", "gateway", "drops")
)
FACTS = st.builds(
    fact,
    st.sampled_from(("goal", "decision", "file", "command", "reference", "said", "next")),
    st.lists(WORDS, min_size=1, max_size=12).map(" ".join),
)


@given(st.lists(FACTS, max_size=8), st.text(max_size=200))
def test_a_summary_that_holds_everything_lost_nothing(facts: list[Fact], more: str) -> None:
    text = "\n".join(f"{say(one)}." for one in facts)
    found = compare(facts, f"It says this.\n\n{text}\n\n{more}" if facts else more)
    assert (found.lost, found.facts) == (0, [])


@given(st.lists(FACTS, max_size=8))
def test_no_summary_lost_everything(facts: list[Fact]) -> None:
    assert compare(facts, "") == Fidelity(0, len(facts), facts)


@given(st.lists(FACTS, max_size=8), st.lists(FACTS, max_size=4), st.text(max_size=200))
def test_what_is_lost_is_of_what_there_was_in_its_order(facts: list[Fact], others: list[Fact], more: str) -> None:
    summary = more + "\n".join(say(one) for one in (*facts[::2], *others))
    found = compare(facts, summary)
    rest = iter(facts)
    assert all(one in rest for one in found.facts)
    assert found.kept + found.lost == len(facts)
    assert compare(found.facts, summary).facts == found.facts or not summary


@given(st.lists(FACTS, max_size=6), st.text(max_size=100), st.text(max_size=100))
def test_what_stands_beside_brings_nothing_back(facts: list[Fact], summary: str, beside: str) -> None:
    alone, both = compare(facts, summary), compare(facts, summary, beside)
    assert (alone.kept, alone.lost) == (both.kept, both.lost)
    assert all(one in alone.facts for one in both.facts)
