"""What an answer says is left: steps to come, and questions that nobody has answered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.reduce.words.loose_ends import QUESTIONS, STEPS, in_context, is_answered, next_steps, questions
from tests.reduce.story import TEXTS

# --- next steps -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        ("Done.\n\n## Next steps\n- Add the tests.\n- Run the linter.", ["Add the tests.", "Run the linter."]),
        ("**Next steps:**\n1. Add the tests\n2. Run `make lint`\n", ["Add the tests", "Run `make lint`"]),
        ("### What's left\n* [ ] migrate `users`\n* [ ] drop the old table", ["migrate `users`", "drop the old table"]),
        ("Remaining work:\n\n- the parser\n- the lexer\n\nAll else is in.", ["the parser", "the lexer"]),
        ("TODO:\n1) one thing\n2) another thing", ["one thing", "another thing"]),
        ("다음 단계:\n- 테스트를 추가합니다.\n- 배포합니다.", ["테스트를 추가합니다.", "배포합니다."]),
        ("The parser is strict. Next, I'll run the slow tests.", ["Next, I'll run the slow tests."]),
        ("It builds. Still need to update the docs.", ["Still need to update the docs."]),
        ("I still need to move the fixtures.", ["I still need to move the fixtures."]),
        ("The remaining step is to release it.", ["The remaining step is to release it."]),
        ("The next thing would be the cache.", ["The next thing would be the cache."]),
        ("Retries are in. Open: the upload timeout is still 30 s.", ["Open: the upload timeout is still 30 s."]),
        ("빌드됩니다. 다음으로 문서를 고치겠습니다.", ["다음으로 문서를 고치겠습니다."]),
    ],
)
def test_what_is_to_come_is_found(said: str, steps: list[str]) -> None:
    assert next_steps(said) == steps


@pytest.mark.parametrize(
    "said",
    [
        "",
        "All of it is done.",
        "- Added the tests.\n- Ran the linter.",
        "## What I did\n- Added the tests.\n- Ran the linter.",
        "The next line of the file is empty.",
        "Nextcloud is installed.",
        "What remains to be seen?",
        "Should I do the next step?",
        "Next steps:",
        "It runs. Open: http://localhost:3000 in a browser.",
        "이제는 됩니까?",
        "The remaining tests pass.",
    ],
)
def test_what_was_done_or_only_described_is_no_step(said: str) -> None:
    assert next_steps(said) == []


def test_a_list_ends_where_something_else_begins() -> None:
    assert next_steps("Next steps:\n- one thing\n\nI also did this:\n- another thing") == ["one thing"]


def test_a_step_is_said_once() -> None:
    said = "## Next steps\n- Next, I'll run the tests.\n\nNext, I'll run the tests."
    assert next_steps(said) == ["Next, I'll run the tests."]


def test_of_many_the_first_are_told() -> None:
    """Who lists steps lists them in their order."""
    steps = [f"step {number}" for number in range(STEPS + 3)]
    assert next_steps("Next steps:\n" + "\n".join(f"- {step}" for step in steps)) == steps[:STEPS]


def test_what_stands_in_code_is_no_step() -> None:
    assert next_steps("It says:\n\n```\n## Next steps\n- rm -rf build\n```\n\nThat is all.") == []


# --- questions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I found two ways. Which one do you want?", ["Which one do you want?"]),
        ("Should I delete `old.py`? It is not used.", ["Should I delete `old.py`?"]),
        ("**Shall I push it?**", ["Shall I push it?"]),
        ("1. Keep the flag?\n2. Rename it?", ["Keep the flag?", "Rename it?"]),
        ("두 가지 방법이 있습니다. 어느 쪽으로 할까요?", ["어느 쪽으로 할까요?"]),
        ("二つあります。どちらにしますか？", ["どちらにしますか？"]),
    ],
)
def test_a_question_at_the_end_is_one_to_the_user(said: str, asked: list[str]) -> None:
    assert questions(said) == asked


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Done.",
        "Why did it fail? The port was taken. I took another. It runs now. All tests pass. The docs are new.",
        "All of it is done. Anything else?",
        "It is renamed. Does that look right to you?",
        "The query `select ?` is fixed.",
        "See https://example.org/?q=1",
        "```\nshall we?\n```",
    ],
)
def test_what_asks_for_nothing_is_no_question(said: str) -> None:
    assert questions(said) == []


def test_the_last_are_told() -> None:
    said = " ".join(f"Is it number {number}?" for number in range(QUESTIONS + 3))
    assert questions(said) == [f"Is it number {number}?" for number in range(3, QUESTIONS + 3)]


@given(st.one_of(TEXTS, st.lists(TEXTS).map("\n- ".join)))
def test_they_are_words_of_the_answer_and_few(said: str) -> None:
    words = " ".join(said.split())
    for found, most in ((next_steps(said), STEPS), (questions(said), QUESTIONS)):
        assert len(found) <= most and len(set(found)) == len(found)
        for one in found:
            assert one and one == one.strip()
            assert set(one.split()) <= {*words.split(), *words.replace("**", " ").replace("##", " ").split()}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Should shipping be taxed too?", "Should shipping be taxed too?"),
        ("Want me to fix that?", "The sum of the cart is rounded twice on its way. Want me to fix that?"),
        ("Shall I?", "The sum of the cart is rounded twice on its way. Shall I?"),
    ],
)
def test_a_question_is_told_with_what_it_cannot_be_understood_without(question: str, told: str) -> None:
    answer = f"We decided to keep VAT in the cart. The sum of the cart is rounded twice on its way. {question}"
    assert in_context(question, answer) == told


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Should old prices be rounded up or down?", "Round down. Go on with the migration of the old orders then."),
        ("Shall I port the parser now?", "Not now. First write the docs for what we have, and then release it."),
        ("Shall I port the parser now?", "Later."),
        ("Shall I push it?", "Yes"),
        ("Which one do you want?", "the second"),
        ("Which store do you want?", "SQLite please."),
        ("Shall I delete the old table?", "Keep it until all the customers have moved over to the new one."),
        ("Which names may a field have?", "Whatever Python takes, since we generate classes from them in `schema.py`."),
        ("どちらにしますか？", "二つ目で。"),
    ],
)
def test_what_is_said_next_is_the_answer(question: str, said: str) -> None:
    assert is_answered(question, [said])
    assert is_answered(question, ["How long would that take?", "Yes then."])


@pytest.mark.parametrize(
    "said",
    [
        "",
        "/compact",
        "Why? And what does it cost us?",
        "How long would that take?",
        "By the way, the logo is too small.",
        "Fix the typo in README.md.",
        "Write a page about the settings and all of their defaults.",
    ],
)
def test_who_asks_back_or_speaks_of_something_else_has_not_answered(said: str) -> None:
    assert not is_answered("Shall I port the parser now?", [said])


@pytest.mark.parametrize(
    "said",
    [
        "I'll ask them. Meanwhile the export fails.",
        "Let me think about the parser first.",
        "Not sure.",
        "I don't know yet.",
        "We'll have to ask accounting.",
    ],
)
def test_who_puts_it_off_has_not_answered(said: str) -> None:
    assert not is_answered("Which of the two does accounting want, the parser first or the lexer?", [said])
    assert is_answered("Which of the two comes first, the parser or the lexer?", [said, "The lexer."])
