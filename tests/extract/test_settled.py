"""What a sentence settles, and what still holds: the last word on a matter, never the model's over the user's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.extract.concepts import concepts
from memory_keeper.extract.facts import Fact
from memory_keeper.extract.settled import holding, reason, states, superseded
from tests.rows import rows


def decided(text: str, at: float, who: str = "model") -> Fact:
    return Fact("decision", text, (f"e{at:.0f}",), at, who)


def held(*texts: str) -> list[str]:
    return [fact.text for fact in holding([decided(text, float(number)) for number, text in enumerate(texts)])]


@rows("older", "newer")
def test_a_later_word_on_the_same_matter_holds(older: str, newer: str) -> None:
    assert held(older, newer) == [newer]


@rows("older", "newer")
def test_other_matters_stand_beside_each_other(older: str, newer: str) -> None:
    assert held(older, newer) == [older, newer]


def test_the_order_they_are_given_in_does_not_matter() -> None:
    older, newer = decided("We cap all retries at 3 attempts.", 1.0), decided("We cap all retries at 5 attempts.", 2.0)
    assert holding([newer, older]) == [newer]


def test_the_model_cannot_take_back_what_the_user_said() -> None:
    users = decided("Use axios for requests.", 1.0, "user")
    models = decided("We go with fetch for requests instead of axios.", 2.0)
    assert holding([users, models]) == [users, models]
    later = decided("No, use axios for requests instead of fetch.", 3.0, "user")
    assert holding([models, later]) == [later]


def test_another_answer_to_the_same_question() -> None:
    question = "Which store should be used?"
    first = Fact("answer", "SQLite", ("e1",), 1.0, "user", about=question)
    second = Fact("answer", "PostgreSQL", ("e2",), 2.0, "user", about=question)
    other = Fact("answer", "8080", ("e3",), 3.0, "user", about="Which port?")
    assert holding([first, second, other]) == [second, other]


@given(
    st.lists(
        st.builds(
            Fact, st.sampled_from(("rule", "decision", "answer")), st.text(max_size=30), st.just(()), st.floats(0, 9)
        )
    )
)
def test_the_newest_holds_and_nothing_is_made_up(facts: list[Fact]) -> None:
    left = holding(facts)
    assert [fact for fact in facts if any(fact is one for one in left)] == left
    if facts:
        assert max(facts, key=lambda fact: fact.at).at in {fact.at for fact in left}


def test_many_statements_cost_little() -> None:
    facts = [decided(f"Always use tool{number} for part {number}.", float(number)) for number in range(20_000)]
    assert len(holding(facts)) == 20_000


@rows("text", "does")
def test_what_states_something(text: str, does: bool) -> None:
    assert states(text) is does


def test_what_the_user_begins_is_stated() -> None:
    assert states("Let's keep 3 attempts.", users=True) and not states("Let's keep 3 attempts.")


@rows("text", "why")
def test_the_reason_of_a_sentence(text: str, why: str) -> None:
    assert reason(text) == why


@rows("older", "newer")
def test_a_later_statement_of_the_same_matter_takes_the_place_of_an_older_one(older: str, newer: str) -> None:
    assert replaced(older, newer) == {0}
    assert not replaced(older, newer, who="user")


def test_statements_of_other_matters_and_of_one_text_stay() -> None:
    assert not replaced("The uploader retries each part 3 times.", "The cart sends its receipts by mail.")
    one = Fact("said", "Coverage: 6 of 7.", ("e1",), 1.0)
    assert not superseded([(one, concepts(one.text)), (one._replace(place=1), concepts(one.text))])


def test_what_was_left_to_do_gives_way_to_what_was_done() -> None:
    left = Fact("said", "The retry in upload.py still needs a limit, or it tries for ever.", ("e1",), 1.0)
    done = Fact("done", "Added a limit of five to the retry in upload.py.", ("e2",), 2.0)
    other = Fact("done", "Added a limit of five to the parser in lexer.py.", ("e2",), 2.0)
    assert superseded([(fact, concepts(fact.text)) for fact in (left, done)]) == {0}
    assert not superseded([(fact, concepts(fact.text)) for fact in (left, other)]), "of another file"
    assert not superseded([(fact, concepts(fact.text)) for fact in (left, done._replace(kind="said"))])


def replaced(*texts: str, who: str = "model") -> set[int]:
    facts = [decided(text, float(number), who) for number, text in enumerate(texts)]
    return superseded([(fact, concepts(fact.text)) for fact in facts])
