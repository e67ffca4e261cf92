"""What still holds of what was said: the last word on a matter, and never the model's over the user's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.reduce.facts import Fact
from memory_keeper.reduce.finding.latest import holding


def rule(text: str, at: float) -> Fact:
    return Fact("correction", text, (f"e{at:.0f}",), at)


def held(*texts: str) -> list[str]:
    return [fact.text for fact in holding([rule(text, float(number)) for number, text in enumerate(texts)])]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Use axios for requests.", "No, use fetch instead of axios."),
        ("Always use tabs for indentation.", "From now on use spaces for indentation."),
        ("Always use tabs for indentation.", "Always use tabs for indentation!"),
        ("Always end variable names with _x.", "From now on end variable names with _y."),
        ("Never commit to the main branch.", "Actually, always commit to the main branch."),
        ("요청에는 axios를 쓰세요.", "axios 말고 fetch를 쓰세요."),
        ("커밋 메시지는 항상 영어로 써 주세요.", "이제부터 커밋 메시지는 한국어로 써 주세요."),
    ],
)
def test_a_later_word_on_the_same_matter_wins(older: str, newer: str) -> None:
    assert held(older, newer) == [newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Never touch a.py.", "Never touch b.py."),
        ("Never touch a.py.", "From now on never touch b.py."),
        ("Always run the linter before you commit.", "From now on answer in Korean."),
        ("Always run the linter before you commit.", "Never log phone numbers."),
        ("Use fetch instead of axios.", "Stop using axios in the tests too."),
        ("항상 테스트를 돌려 주세요.", "절대 main 브랜치에 푸시하지 마세요."),
    ],
)
def test_other_matters_stand_beside_each_other(older: str, newer: str) -> None:
    assert held(older, newer) == [older, newer]


def test_the_order_they_are_given_in_does_not_matter() -> None:
    older, newer = rule("Use axios for requests.", 1.0), rule("No, use fetch instead of axios.", 2.0)
    assert holding([newer, older]) == [newer]


def test_the_model_cannot_take_back_what_the_user_said() -> None:
    users = rule("Always use axios for requests.", 1.0)
    models = Fact("decision", "We go with fetch instead of axios for requests.", ("e2",), 2.0, status="reply")
    assert holding([users, models]) == [users, models]
    later = Fact("decision", "No, use axios instead of fetch.", ("e3",), 3.0, status="user")
    assert holding([users, models, later]) == [users, later]


def test_another_answer_to_the_same_question() -> None:
    first = Fact("answer", "SQLite", ("e1",), 1.0, about="Which store should be used?")
    second = Fact("answer", "PostgreSQL", ("e2",), 2.0, about="Which store should be used?")
    other = Fact("answer", "8080", ("e3",), 3.0, about="Which port?")
    assert holding([first, second, other]) == [second, other]


WORDS = st.lists(st.sampled_from(("use", "not", "tabs", "from now on", "instead of", "a.py", "말고", "\0", "because")))
FACTS = st.lists(
    st.builds(
        Fact,
        st.sampled_from(("correction", "decision", "answer")),
        WORDS.map(" ".join) | st.text(max_size=30),
        st.just(("e1",)),
        st.floats(0, 100),
        st.text(max_size=5),
        st.sampled_from(("", "user", "reply")),
    ),
    max_size=30,
)


@given(FACTS)
def test_the_newest_always_holds_and_nothing_is_made_up(made: list[Fact]) -> None:
    facts = [fact._replace(cites=(f"e{number}",)) for number, fact in enumerate(made)]
    left = holding(facts)
    assert left == [fact for fact in facts if fact in left]
    if facts:
        assert max(reversed(facts), key=lambda fact: fact.at) in left
    users = [fact for fact in facts if fact.kind != "decision" or fact.status == "user"]
    assert [fact for fact in left if fact in users] == [fact for fact in holding(users) if fact in users]


def test_many_statements_cost_little() -> None:
    facts = [rule(f"Always use tool{number} for part {number}.", float(number)) for number in range(20_000)]
    assert len(holding(facts)) == 20_000
