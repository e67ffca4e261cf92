"""A change of a file as people read it."""

from __future__ import annotations

import pytest

from memory_keeper.pages.claude_md import show_diff

TEN = b"".join(b"l%d\n" % number for number in range(1, 11))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (None, b"a\nb\n", ["--- /dev/null", "+++ f", "@@ -0,0 +1,2 @@", "+a", "+b"]),
        (b"a\n", None, ["--- f", "+++ /dev/null", "@@ -1 +0,0 @@", "-a"]),
        (b"", b"a\n", ["--- f", "+++ f", "@@ -0,0 +1 @@", "+a"]),
        (b"a\r\nb", b"a\r\nc\r\nb", ["--- f", "+++ f", "@@ -1,2 +1,3 @@", " a", "+c", " b"]),
        (
            TEN,
            TEN.replace(b"l5\n", b"new\n"),
            ["--- f", "+++ f", "@@ -2,7 +2,7 @@", " l2", " l3", " l4", "-l5", "+new", " l6", " l7", " l8"],
        ),
        (b"a\na\n", b"a\na\na\n", ["--- f", "+++ f", "@@ -1,2 +1,3 @@", " a", " a", "+a"]),
    ],
)
def test_what_is_shown(before: bytes | None, after: bytes | None, shown: list[str]) -> None:
    assert show_diff("f", before, after).splitlines() == shown


def test_nothing_in_it_moves_the_cursor() -> None:
    shown = show_diff("f", b"\x1b[2Jmine\x07 caf\xe9 \rnot\n", b"\x1b]0;title\x07\xe2\x80\xaenew\n")
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert len(shown.splitlines()) == 5
