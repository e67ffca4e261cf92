"""When two wordings are one wish, when a later one reverses it, and when they have nothing to do with each other."""

from __future__ import annotations

from itertools import combinations

import pytest

from memory_keeper.model import Event
from memory_keeper.rules.instructions import hints, instructions
from memory_keeper.rules.wishes import REVERSES, SAME, Wish, compare, marks, pack, read, unpack


def wish(text: str, at: float = 1.0) -> Wish:
    """The only thing that a prompt wants for good, or hints at."""
    prompt = Event(f"e{at:g}", at, "prompt", f"s{at:g}", "p", text)
    (one,) = instructions(prompt) or hints(prompt)
    return one


def compared(older: str, newer: str) -> str:
    new, old = wish(newer, 2.0), wish(older, 1.0)
    how = compare(new, old)
    assert not how or {*marks(new)} & {*marks(old)}, "who looks for it by its marks finds it"
    return how


@pytest.mark.parametrize(
    "wordings",
    [
        (
            "use pnpm, never npm",
            "use pnpm, not npm",
            "always pnpm instead of npm",
            "please don't use npm, we use pnpm here",
            "we use pnpm here, not npm",
            "Please use pnpm rather than npm.",
            "Stop using npm, use pnpm.",
            "From now on use pnpm (not npm).",
            "always use pnpm and not npm",
            "pnpm, please",
        ),
        (
            "No, use fetch instead of axios.",
            "never use axios, use fetch",
            "use fetch, not axios",
            "always use fetch rather than axios",
        ),
        (
            "Always indent with tabs, not spaces.",
            "always indent with tabs instead of spaces",
            "Always indent with tabs.",
        ),
        ("Prefer composition over inheritance.", "always prefer composition rather than inheritance"),
        ("always ask before deleting files", "never delete files without asking", "don't delete files before asking"),
        ("always run the tests before you commit", "always run the test suite before each commit"),
        ("never add co-author lines to commits", "don't add a Co-Authored-By line to commits"),
        ("always write commit messages in English", "commit messages must always be in English"),
        ("use ruff, not flake8", "from now on use ruff for linting"),
        ("항상 pnpm을 사용하세요", "앞으로 npm 말고 pnpm을 쓰세요"),
        (
            "Use ruff, not flake8, for linting.",
            "We use ruff for linting.",
            "always use ruff instead of flake8 for linting",
        ),
        ("Never use npm.", "don't use npm", "Stop using npm.", "please never use npm again"),
        ("Never commit to main.", "Don't commit to main.", "never ever commit to main"),
        ("Always run make check before you commit.", "remember to always run `make check` before every commit"),
        ("End all variable names with '_v'.", "From now on, variable names should end with '_v'."),
        ("use double quotes, not single quotes", "Use double quotes instead of single quotes."),
        ("Use named exports, not default exports.", "Always use named exports, never default exports."),
    ],
)
def test_one_wish_in_other_words(wordings: tuple[str, ...]) -> None:
    for older, newer in combinations(wordings, 2):
        assert (older, newer, compared(older, newer)) == (older, newer, SAME)
        assert (newer, older, compared(newer, older)) == (newer, older, SAME)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("use pnpm, never npm", "use npm, not pnpm"),
        ("use pnpm, never npm", "always use npm"),
        ("please don't use npm, we use pnpm here", "use yarn, not npm"),
        ("use fetch, not axios", "always use axios"),
        ("use fetch, not axios", "use ky, not axios"),
        ("always use axios", "use fetch, not axios"),
        ("always use axios", "never use axios"),
        ("never use axios", "always use axios"),
        ("never use axios", "use axios, not fetch"),
        ("Always indent with tabs.", "always indent with spaces instead of tabs"),
        ("Always indent with tabs, not spaces.", "always indent with 4 spaces"),
        ("always write commit messages in English", "write all commit messages in Korean from now on"),
        ("We use Jira for ticket tracking.", "From now on we use Linear for ticket tracking."),
        ("End all variable names with '_v'.", "From now on, end all variable names with '_x'."),
        ("From now on, use double quotes.", "Always use single quotes."),
        ("We use single quotes here.", "use double quotes, not single quotes"),
        ("Use named exports, not default exports.", "From now on use default exports."),
        ("Please always use type hints.", "Type hints are not needed any more."),
        ("Always run the linter before a commit.", "Running the linter before a commit is no longer necessary."),
    ],
)
def test_what_reverses_a_wish(older: str, newer: str) -> None:
    assert compared(older, newer) == REVERSES


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("use pnpm, never npm", "use ruff, never flake8"),
        ("use pnpm, never npm", "Never use npm in the docs."),
        ("use pnpm, not npm", "Always run npm audit before every release."),
        ("Always run npm audit before every release.", "use pnpm, not npm"),
        ("use fetch, not axios", "Always use axios for the demo."),
        ("Never use print for logging.", "Always use print for progress bars."),
        ("Always use eslint.", "Always use prettier."),
        ("Never commit to main.", "Never push to main."),
        ("End all variable names with '_v'.", "Start all variable names with 'v_'."),
    ],
)
def test_what_has_nothing_to_do_with_a_wish(older: str, newer: str) -> None:
    assert compared(older, newer) == ""


@pytest.mark.parametrize(
    ("said", "mood", "topic", "wanted", "rejected"),
    [
        ("use pnpm, never npm", "ask", (), ("pnpm",), ("npm",)),
        ("don't use npm, we use pnpm here", "ask", (), ("pnpm",), ("npm",)),
        ("never use npm", "forbid", ("npm",), (), ("npm",)),
        ("indent with tabs, not spaces", "ask", ("indent", "tabs"), (), ("spaces",)),
        ("use ruff, not flake8, for linting", "ask", ("lint",), ("ruff",), ("flake8",)),
        ("do not commit", "forbid", ("commit",), (), ()),
        ("indent with 2 spaces", "ask", ("indent", "spac"), ("2",), ()),
    ],
)
def test_a_wording_taken_apart(
    said: str, mood: str, topic: tuple[str, ...], wanted: tuple[str, ...], rejected: tuple[str, ...]
) -> None:
    one = read(said, said)
    assert (one.mood, one.topic, one.wanted, one.rejected) == (mood, topic, wanted, rejected)
    assert unpack(one.text, [*pack(one)]) == one


@pytest.mark.parametrize("said", ["yes, please", "pnpm", "please fix the parser", "pnpm, please, for all of it", ""])
def test_what_hints_at_nothing(said: str) -> None:
    assert not hints(Event("e", 1.0, "prompt", "s", "p", said))
