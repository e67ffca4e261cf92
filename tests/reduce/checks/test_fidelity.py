"""What a summary kept of a handoff, and what it lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.reduce.checks.fidelity import Fidelity, compare
from memory_keeper.reduce.sentences import Sentence, apart

REQUEST, COMMAND, NAME = "Asked before: ", "Commands that worked: ", "Changed "


def listed(section: str, head: str, between: str, *things: str, cut: str = "") -> Sentence:
    each = tuple(f"e{number}" for number in range(len(things)))
    return Sentence(head + between.join(things), each, cut or between, len(head), section, each)


def files(*things: str) -> Sentence:
    return listed("name", NAME, "; ", *things, cut=" ")


def single(section: str, text: str) -> Sentence:
    return Sentence(text, ("e0",), section=section)


def has(line: Sentence, summary: str) -> bool:
    """Whether a line of one fact is kept."""
    found = compare([line], summary)
    assert found.kept + found.lost == 1
    return found.kept == 1


# --- one kind after the other -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "summary", "kept"),
    [
        ("src/app/up.py", "I changed `src/app/up.py`.", True),
        ("src/app/up.py", "see /home/me/src/app/up.py:12", True),
        ("/home/me/src/app/up.py", "see src/app/up.py", True),
        ("/home/me/src/app/up.py", "see app/up.py", True),
        ("src/app/uploader.py", "uploader.py is done", True),
        ("src/app/up.py", "up.py is done", True),
        ("src/a.c", "a.c is done", False),  # too short to be told from other words
        ("src/app/up.py", "startup.py is done", False),
        ("src/app/up.py", "up.pyc", False),
        ("src/app/up.py", "up_py", False),
        ('"my notes/a b.md"', "in “my notes/a b.md” it says", True),
        ("src/app/uploader.py", "我改了uploader.py。", True),
    ],
)
def test_a_file(path: str, summary: str, kept: bool) -> None:
    assert has(files(path), summary) == kept


def test_a_base_name_that_several_files_have_says_nothing() -> None:
    line = files("src/a/__init__.py", "src/b/__init__.py")
    assert compare([line], "I changed __init__.py").lost == 2
    assert compare([line], "I changed a/__init__.py").lines == [
        Sentence("Changed src/b/__init__.py", ("e1",), " ", len(NAME), "name", ("e1",))
    ]


def test_a_name_that_was_lost_comes_with_its_file() -> None:
    line = files("src/app/up.py: upload_part MAX_TRIES", "src/app/down.py: fetch_part")
    found = compare([line], "up.py has upload_part; down.py has fetch_part")
    assert (found.kept, found.lost) == (4, 1)
    assert [(one.text, one.each) for one in found.lines] == [("Changed src/app/up.py: MAX_TRIES", ("e0",))]
    assert compare([line], "MAX_TRIES upload_part fetch_part").lines[0].text == "Changed src/app/up.py; src/app/down.py"


def test_a_folder_is_no_fact_of_its_own() -> None:
    found = compare([files("src/tell/: one.py two.py")], "I read two.py")
    assert (found.kept, found.lost) == (1, 1)
    assert found.lines[0].text == "Changed src/tell/: one.py"


@pytest.mark.parametrize(
    ("command", "summary", "kept"),
    [
        ("pytest -q tests/x.py", "Run `pytest -q  tests/x.py` again", True),
        ("pytest -q tests/x.py", "Run pytest tests/x.py -q", False),
        ('git commit -m "a b"', "git commit -m 'a b'", True),
        ("make", "we made it, and remake", False),
        ("./dev test", "then ./dev test.", True),
    ],
)
def test_a_command(command: str, summary: str, kept: bool) -> None:
    assert has(listed("command", COMMAND, "; ", command), summary) == kept


@pytest.mark.parametrize(
    ("ref", "summary", "kept"),
    [("#123", "fixes #123", True), ("#123", "#1234", False), ("https://x.io/A?b=1", "at https://x.io/a?b=1.", True)],
)
def test_a_reference(ref: str, summary: str, kept: bool) -> None:
    assert has(listed("ref", "References: ", " ", ref), summary) == kept


@pytest.mark.parametrize(
    ("summary", "kept"),
    [("abc1234", True), ("commit `abc1234def5`", True), ("Add a retry", False), ("xabc1234", False)],
)
def test_a_commit_is_its_hash(summary: str, kept: bool) -> None:
    assert has(single("commit", 'Committed abc1234 "Add a retry"'), summary) == kept


def test_a_number() -> None:
    line = single("number", 'A number that came up again: "8500"')
    assert has(line, "port 8500")
    assert not has(line, "port 85000")


SAID = 'Decided: "We retry three times because the gateway drops one request in ten"'


@pytest.mark.parametrize(
    ("summary", "kept"),
    [
        ("- **Retrying three times**, as the gateway drops a tenth of requests", True),
        ("WE RETRY THREE TIMES BECAUSE THE GATEWAY DROPS ONE REQUEST IN TEN", True),
        ("We retry.", False),
        ("retry three " + "other words " * 100 + "gateway drops", False),  # not in one place
    ],
)
def test_a_sentence_is_most_of_what_it_speaks_of(summary: str, kept: bool) -> None:
    assert has(single("decision", SAID), summary) == kept


def test_words_that_stand_everywhere_tell_nothing_apart() -> None:
    assert has(single("decision", 'Decided: "retry the gateway"'), "retry gateway " * 5_000)


def test_what_else_the_context_holds_is_not_told_and_no_merit() -> None:
    lines = [single("decision", SAID), files("src/app/up.py")]
    found = compare(lines, "up.py", beside="We retry three times because the gateway drops one request in ten")
    assert found == Fidelity(1, 1, [])


def test_what_came_of_a_request_is_nothing_without_it() -> None:
    asked = listed("request", REQUEST, "; ", '"Make the parser faster please"')
    came = Sentence('(it took caching tokens)', ("e0",), section="came")  # fmt: skip
    assert compare([asked, came], "").lines == [asked, came]
    assert compare([asked, came], "make the parser faster please").lines == []


# --- whatever comes ---------------------------------------------------------------------------------------------------

words = st.from_regex(r"[a-zA-Z][a-z]{2,9}", fullmatch=True)
names = st.from_regex(r"[a-z]{3,6}_[a-z]{3,6}", fullmatch=True)
paths = st.builds("src/{}/{}.py".format, words, words)
quotes = st.lists(words, min_size=1, max_size=30).map(lambda found: '"' + " ".join(found) + '"')
groups = st.builds(lambda path, inside: f"{path}: {' '.join(inside)}", paths, st.lists(names, min_size=1, max_size=5))
commands = st.lists(words, min_size=1, max_size=6).map(" ".join)


def several(thing: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(thing, min_size=1, max_size=6)


lines = st.lists(
    st.one_of(
        quotes.map(lambda text: single("goal", f"Goal: {text}")),
        several(quotes).map(lambda things: listed("request", REQUEST, "; ", *things)),
        several(commands).map(lambda things: listed("command", COMMAND, "; ", *things)),
        several(st.one_of(groups, paths)).map(lambda things: files(*things)),
        several(names).map(lambda things: listed("name", "Also named: ", " ", *things)),
        several(st.from_regex(r"#[0-9]{1,5}", fullmatch=True)).map(
            lambda things: listed("ref", "References: ", " ", *things)
        ),
        st.from_regex(r"[0-9a-f]{7,12}", fullmatch=True).map(lambda found: single("commit", f'Committed {found} "x"')),
    ),
    max_size=8,
)
garbage = st.text(max_size=300)


@given(lines, garbage)
def test_a_summary_that_holds_everything_lost_nothing(lines: list[Sentence], more: str) -> None:
    text = "\n".join(line.text for line in lines)
    assert compare(lines, f"{text}\n{more}").lines == []
    assert compare(lines, f"{text}\n{more}").lost == 0


@given(lines)
def test_no_summary_lost_everything(lines: list[Sentence]) -> None:
    found = compare(lines, "")
    assert found.lines == lines
    assert found.kept == 0


def is_part(small: Sentence, large: Sentence) -> bool:
    """Whether a line says some of what another says, in its order, and cites what that cites."""
    said = iter(re.split(r"[; :]+", large.text))
    same = small._replace(text="", cites=(), each=()) == large._replace(text="", cites=(), each=())
    return same and {*small.cites} <= {*large.cites} and all(word in said for word in re.split(r"[; :]+", small.text))


@given(lines, lines, garbage)
def test_what_is_lost_is_part_of_what_there_was_in_its_order(
    lines: list[Sentence], other: list[Sentence], more: str
) -> None:
    summary = more + "\n".join(line.text for line in (*lines[::2], *other))
    found = compare(lines, summary)
    rest = iter(lines)
    assert all(any(is_part(one, line) for line in rest) for one in found.lines)
    assert found.kept + found.lost == compare(lines, "").lost
    for one in found.lines:
        assert all(apart(one.text[one.least :], one.cut or "; "))


@given(lines, garbage)
def test_what_is_lost_is_lost_once_more(lines: list[Sentence], summary: str) -> None:
    found = compare(lines, summary)
    assert compare(found.lines, summary).lines == found.lines
