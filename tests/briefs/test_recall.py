"""Which sentences are worth an interruption, and that no budget is ever passed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.briefs.recall import HINT, LINES, Line, fixed, recall
from memory_keeper.capture.named import Name
from memory_keeper.model import Row
from memory_keeper.search.fixes import Fix, Step
from memory_keeper.search.recall import About
from memory_keeper.text import tokens
from tests.rows import rows

NOW = 2_000_000_000.0
DAY = 86_400.0
FILE = Name("src/net/retry.py", "file")


class Anybody:
    """A context that knows nothing yet."""

    def knows(self, line: Line) -> bool:
        return False

    def stale(self, line: Line) -> str:
        return ""


def one(
    text: str, kind: str = "reply", how: str = "says", name: Name = FILE, days: float = 7.0, common: bool = False
) -> About:
    level, who = (0, "user") if kind == "fact" else (0, "")
    id = f"{abs(hash((text, days)))}:0"
    row = Row(1, id, level, kind, NOW - days * DAY, "s1", "dir:/p", len(text.split()), "", "", "", False, who)
    return About(row, text, name, how, common)


def told(*found: About, budget: int = 300, few: bool = True) -> list[str]:
    brief, keys = recall(found, None, (), NOW, "0123abcd", budget, few, Anybody())
    lines = [line for line in brief.text.split("\n") if line.startswith("| ")]
    assert len(brief.cites) == len(keys) and brief.tokens == tokens(brief.text) <= budget
    return lines


@rows("said")
def test_what_is_settled_or_explained_is_told(said: str) -> None:
    (line,) = told(one(said))
    assert said in line and line.startswith("| 7 days ago, ")


@rows("said")
def test_what_only_happens_or_is_quoted_is_not(said: str) -> None:
    assert told(one(said)) == []


@rows("said", "is_told")
def test_the_users_own_words(said: str, is_told: bool) -> None:
    lines = told(one(said, "prompt"))
    assert [("the user said: " + said in line) for line in lines] == [True] * is_told


def test_what_does_not_say_the_name_must_be_of_no_other_file() -> None:
    assert told(one("We decided to use one lock, because two block each other.", how="wrote"))
    assert told(one("We decided to use one lock in pool.py, because two block.", how="asked")) == []
    assert told(one("The limit is low because the gateway bans clients after 5.", how="wrote")) == []


def test_a_common_name_needs_more() -> None:
    assert told(one("I used a timer in retry.py instead of a thread.", common=True)) == []
    assert told(one("In retry.py the limit is 3 since the gateway bans clients.", common=True)) == []
    assert told(one("Never use threads in retry.py.", "prompt", common=True))


def test_what_explains_comes_alone_and_only_to_who_names_little() -> None:
    explains, settles = one("retry.py is slow because it sleeps."), one("We decided to cap retry.py at 3.")
    assert len(told(explains)) == 1 and told(explains, few=False) == []
    assert len(told(settles, few=False)) == 1
    (line,) = told(explains, settles)
    assert "We decided" in line


def test_what_was_decided_later_holds() -> None:
    (line,) = told(
        one("We decided to use threads in retry.py.", days=20),
        one("We decided to use asyncio in retry.py instead of threads.", days=2),
    )
    assert "asyncio" in line


def test_age_counts() -> None:
    assert told(one("retry.py is slow because it sleeps.", days=400)) == []
    assert told(one("We decided to cap retry.py at 3, because the gateway bans clients.", days=400))


def test_few_lines_and_few_of_one_name() -> None:
    every = [one(f"We agreed to keep part {number} of retry.py, colour {number * 7}.") for number in range(9)]
    other = [
        one(f"We decided on door {number} for a{number}b.py.", name=Name(f"a{number}b.py", "file"))
        for number in range(9)
    ]
    assert len(told(*every, budget=3000)) == 2
    assert len(told(*every, *other, budget=3000)) == LINES


@given(st.lists(st.text(max_size=300), max_size=6), st.integers(1, 400), st.sampled_from(["reply", "prompt", "fact"]))
def test_no_budget_is_passed(texts: list[str], budget: int, kind: str) -> None:
    told(*[one(f"We decided to keep retry.py because {text}", kind) for text in texts], budget=budget)


@given(st.text(max_size=3000), st.text(max_size=3000), st.integers(1, 400))
def test_a_hint_is_short(error: str, step: str, budget: int) -> None:
    fix = Fix(error, NOW - DAY, "s1", "a:0", "b:0", (Step(step, "c:0"),), (), 0.9, step)
    brief, keys = fixed(fix, NOW, "0123abcd", budget)
    assert brief.tokens == tokens(brief.text) <= min(budget, HINT)
    assert keys == (("b:0",) if brief.text else ())
    lines = brief.text.split("\n")
    assert all(line.startswith("| ") for line in lines[2:-1])
