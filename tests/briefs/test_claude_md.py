"""Our block in a CLAUDE.md: put in, replaced and taken away, and every byte around it stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.briefs.claude_md import HEADING, Malformed, block_text, find_block, with_block, without_block

RULES = block_text(["Say what was verified.", "Never push to main."])
BEGIN = b"<!-- memory-keeper:rules:begin 3f2a9c1b22aa +1 -->"
END = b"<!-- memory-keeper:rules:end -->"


def block(eol: bytes = b"\n", brought: str = "+1", text: str = RULES) -> bytes:
    """A well-formed block as it stands in a file, without its last line end."""
    made = with_block(None, text).replace(b" new -->", f" {brought} -->".encode()).removesuffix(b"\n")
    return made.replace(b"\n", eol)


def test_what_the_block_says() -> None:
    lines = RULES.split("\n")
    assert lines[:4] == [HEADING, "", "1. Say what was verified.", "2. Never push to main."]
    assert lines[-1].startswith("<!-- Change them with `memory-keeper rule`")
    assert block_text([]) == block_text(["", " \n"]) == ""


def test_a_rule_is_one_line_and_opens_nothing() -> None:
    hostile = "Be\x1b[2J nice\n<!-- memory-keeper:rules:end -->\n```\n## Heading"
    told = block_text([hostile, "Second."])
    assert "\n1. Be nice <! -- memory-keeper:rules:end --> ``` ## Heading\n2. Second.\n" in told
    found = find_block(with_block(b"# Mine\n", told))
    assert found and found.text == told and not found.edited


def test_the_predecessors_markers_are_the_users_text() -> None:
    """R18: the user's own section survives, whatever it is called."""
    mine = (
        b"# Project\n\n## CRITICAL RULES (Core Principles Alignment)\n- mine\n\n## CRITICAL RULES\n- also mine\n"
        b"---Add your project-specific rules below this line---\n## Memory Keeper Plugin Rules\n- and this\n"
    )
    after = with_block(mine, RULES)
    assert after.startswith(mine)
    assert not find_block(mine)
    assert "CRITICAL RULES" not in RULES and "---Add" not in RULES
    assert without_block(after) == mine


# --- where it goes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", block(brought="+0") + b"\n"),
        (b"\n", b"\n" + block(brought="+0") + b"\n"),
        (b"a\n", b"a\n\n" + block() + b"\n"),
        (b"a\n\n", b"a\n\n" + block(brought="+0") + b"\n"),
        (b"a", b"a\n\n" + block(brought="+2")),  # it had no last line end, and has none
        (b"a\r\n", b"a\r\n\r\n" + block(b"\r\n") + b"\r\n"),
        (b"a\r\nb", b"a\r\nb\r\n\r\n" + block(b"\r\n", "+2")),
        (b"a\nb\r\n", b"a\nb\r\n\r\n" + block(b"\r\n") + b"\r\n"),  # mixed: as the line before
        (b"a\r\nb\n", b"a\r\nb\n\n" + block() + b"\n"),
        (b"\xef\xbb\xbf", b"\xef\xbb\xbf" + block(brought="+0") + b"\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\n\n" + block() + b"\n"),
        (b"caf\xe9 \xff\x00\n", b"caf\xe9 \xff\x00\n\n" + block() + b"\n"),
    ],
)
def test_it_is_appended_in_the_files_own_manner_and_taken_away_again(before: bytes, after: bytes) -> None:
    assert with_block(before, RULES) == after
    assert without_block(after) == before


def test_a_file_that_it_brought_goes_with_it() -> None:
    made = with_block(None, RULES)
    assert made == block(brought="new") + b"\n"
    assert without_block(made) is None
    assert without_block(b"# Mine\n\n" + made) == b"# Mine\n\n"


def test_replacing_leaves_everything_around() -> None:
    around = (b"# Mine\r\n\ncaf\xe9\n", b" \t glued to it\r\n\n\n## More\n```\n" + BEGIN + b"\n```\nno last line end")
    before = around[0] + block(b"\r\n") + around[1]
    after = with_block(before, block_text(["Another."]))
    assert after.startswith(around[0]) and after.endswith(around[1])
    inside = after[len(around[0]) : -len(around[1])]
    assert b"1. Another.\r\n" in inside and b"\n" not in inside.replace(b"\r\n", b"")
    assert without_block(after) == around[0] + around[1]


@pytest.mark.parametrize("more", [b"more\n", b"\nmore", b"\r\n\r\n## More\r\n"])
def test_what_stands_behind_it_is_not_joined_to_what_stands_before(more: bytes) -> None:
    """Somebody appended to the file since: our line ends stay, as they keep two paragraphs apart."""
    for mine in (b"mine", b"mine\n", b"mine\n\n"):
        gone = without_block(with_block(mine, RULES) + more)
        assert gone and gone.startswith(mine) and gone.endswith(more)
        assert gone[len(mine) : -len(more)] in (b"", b"\n", b"\n\n")
        assert b"mine\n\n" in gone


@pytest.mark.parametrize("before", [b"", b"a\n", b"a\nmore\n\nlast\n"])
def test_only_line_ends_that_are_ours_go(before: bytes) -> None:
    """The user has moved it, or written right before it: what is there was not put there by us."""
    assert without_block(before + block() + b"\n") == before
    assert without_block(before + block(brought="+2")) == before
    assert without_block(b"a\r\n\n" + block() + b"\n") == b"a\r\n\n"


def test_a_last_line_end_that_an_editor_adds_is_the_users() -> None:
    assert without_block(with_block(b"mine", RULES) + b"\n") == b"mine\n"
    assert without_block(with_block(b"mine\n", RULES) + b"\n") == b"mine\n\n"


def test_line_ends_that_a_checkout_changed_are_no_edit() -> None:
    before = with_block(b"# Mine\n", RULES)
    windows = before.replace(b"\n", b"\r\n")
    found = find_block(windows)
    assert found and not found.edited
    assert with_block(windows, RULES) == windows
    assert without_block(windows) == b"# Mine\r\n"


def test_an_edit_by_hand_is_noticed() -> None:
    before = with_block(b"# Mine\n", RULES)
    found = find_block(before.replace(b"Never push", b"Always push"))
    assert found and found.edited and "Always push" in found.text and found.line == 3
    found = find_block(before.replace(b"main.\n", b"main.\n3. Mine, caf\xe9\n"))
    assert found and found.edited


# --- markers that make no block ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line", "says"),
    [
        (block() + b"\n\n" + block() + b"\n", 12, "second time; the first is in line 1"),
        (b"a\n" + BEGIN + b"\n" + block() + b"\n" + END + b"\n", 3, "those of line 2 have no end"),
        (b"a\n\n" + END + b"\nb\n" + BEGIN + b"\n", 3, "begin nowhere"),
        (b"a\n" + END, 2, "begin nowhere"),
        (block() + b"\n" + END + b"\n", 11, "begin nowhere"),
        (b"a\n" + BEGIN + b"\nb\n", 2, "end nowhere"),
        (b"a\n" + BEGIN, 2, "cannot be read"),
        (BEGIN.replace(b" +1", b"") + b"\n" + END, 1, "cannot be read"),
        (BEGIN.replace(b"3f2a9c1b22aa", b"HASH") + b"\n" + END, 1, "cannot be read"),
        (b"  " + BEGIN + b"\n  " + END, 1, "cannot be read"),
        (BEGIN.replace(b"<!-- ", b"<!--") + b"\n" + END, 1, "cannot be read"),
        (b"\xef\xbb\xbf" + END + b"\n", 1, "begin nowhere"),
        (b"```sh\nls\n\n" + block() + b"\n", 4, "in the code block of line 1"),
    ],
)
def test_it_is_refused_with_its_line(data: bytes, line: int, says: str) -> None:
    for change in (find_block, without_block, lambda data: with_block(data, RULES)):
        with pytest.raises(Malformed, match=re.escape(says)) as raised:
            change(data)
        assert raised.value.line == line


def test_no_block_is_put_into_a_code_block_that_nothing_closes() -> None:
    data = b"# Mine\n\n````\n```\nls\n"
    with pytest.raises(Malformed, match="never closed") as raised:
        with_block(data, RULES)
    assert raised.value.line == 3
    assert without_block(data) == data


@pytest.mark.parametrize(
    "quoted",
    [
        b"```\n%s\n```\n",
        b"~~~ text\n%s\n```\n~~~~ \n",
        b"  ```html\n%s\n  ```\n",
        b"````md\n```\n%s\n```\n````\n",
        b"- ```\n%s\n  ```\n",
        b"1. ```\r\n%s\r\n   ```\r\n",
        b"> ```\n%s\n> ```\n",
        b"    %s\n",
        b"`%s`\n",
        b"see %s\n",
    ],
)
@pytest.mark.parametrize("text", [BEGIN, END, END + b"\n" + BEGIN, block()])
def test_what_is_written_about_markers_is_no_marker(quoted: bytes, text: bytes) -> None:
    """In a code block, or anywhere but at the beginning of a line."""
    if b"\n" in text and not re.search(rb"^\W*(```|~~~)", quoted):
        text = text.replace(b"\n", b" ")
    data = quoted % text
    assert find_block(data) is None
    after = with_block(data, RULES)
    assert after.startswith(data) and without_block(after) == data


def test_ticks_in_a_line_of_text_open_no_code_block() -> None:
    data = b"``` `x` ```\n" + block(brought="+0") + b"\n"
    assert without_block(data) == b"``` `x` ```\n"


def test_our_own_rules_open_no_code_block() -> None:
    text = "```\n1. unclosed"
    after = with_block(b"# Mine\n", text)
    assert with_block(after, text) == after
    assert without_block(after + b"\n```\nls\n```\n") == b"# Mine\n\n\n```\nls\n```\n"


# --- for any file -----------------------------------------------------------------------------------------------------

MARKS = (BEGIN, END, BEGIN + b"\n", END + b"\n", block(), block(b"\r\n", "+2"), block(brought="new"))
BYTES = (b"\n", b"\r\n", b"\r", b" ", b"a", b"\xff", b"\x00", b"\xef\xbb\xbf", b"```", b"~~~", b"# A\n", b"- ", b"\n\n")
PIECES = st.sampled_from((*MARKS, *BYTES))
FILES = st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=12).map(b"".join))
TEXTS = st.one_of(
    st.text(max_size=80), st.lists(st.text(max_size=20), max_size=3).map(block_text), st.just(END.decode())
)


@given(FILES, TEXTS, TEXTS)
@example(b"a\r", "x", "y")
@example(b"a\r\nb\r", "x\r", "\r\n")
def test_nothing_around_it_is_ever_changed(data: bytes, text: str, other: str) -> None:
    try:
        found = find_block(data)
        once = with_block(data, text)
    except Malformed:
        return
    assert with_block(once, text) == once
    again = with_block(once, other)
    ours = find_block(again)
    assert ours and not ours.edited
    if found:
        assert (again[: ours.start], again[ours.end :]) == (data[: found.start], data[found.end :])
    else:
        assert again.startswith(data)
        assert without_block(again) == without_block(once) == data
