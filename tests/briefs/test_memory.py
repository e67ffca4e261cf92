"""A page says by itself what in it is ours: what was composed is read back as it was, and everything else is found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.briefs.memory import (
    BEFORE,
    NEVER,
    Section,
    body_of,
    compose,
    decode,
    is_ours,
    parse,
    plain,
    said,
    section,
    text_of,
)
from memory_keeper.model import Note
from tests.rows import rows

SALT, PROJECT = b"0123456789abcdef", "dir:/p"
AT = 1_768_305_600.0  # 2026-01-13 12:00 UTC


def note(id: str = "note-1", text: str = "One.\nTwo.", level: int = 1, **more: Any) -> Note:
    return Note(id, more.pop("at", AT), "session", level, PROJECT, text, **more)


def page(*notes: Note) -> str:
    return compose([section(one) for one in notes], PROJECT, SALT)


def test_notes_of_one_minute_stand_under_one_heading() -> None:
    text = page(note(), note("note-2", at=AT + 30), note("note-3", at=AT + 60))
    assert text.count("\n## 2026-01-13_1200 ") == 1 and text.count("\n## ") == 2
    assert [part.at for part in parse(text).sections] == [AT, AT, AT + 60]


def test_a_page_reads_as_its_predecessor_s_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_keeper.briefs.memory.localtime", __import__("time").gmtime)
    better = note("note-3", "Better.", replaces="note-2", who="user", at=AT + 3600)
    text = compose([section(note("note-0", "All."), BEFORE), section(note()), section(better)], PROJECT, SALT)
    first, rest = text.split("\n", 1)
    assert first.startswith("<!-- memory-keeper note-0..note-2 ")
    assert rest == (
        "\n## Before that\n<!-- memory-keeper note-0 -->\n- All.\n"
        "\n## 2026-01-13_1200 (local 01-13_1200)\n<!-- memory-keeper note-1 -->\n- One.\n- Two.\n"
        "\n## 2026-01-13_1300 (local 01-13_1300)\n<!-- memory-keeper note-2 as note-3, yours -->\n- Better.\n"
        "\n<!-- memory-keeper end note-0 note-1 note-3 -->\n"
    )


def test_only_this_home_and_project_can_sign() -> None:
    text = page(note())
    assert is_ours(parse(text), PROJECT, SALT)
    assert not is_ours(parse(text), "dir:/q", SALT)
    assert not is_ours(parse(text), PROJECT, b"another salt 123")
    assert not is_ours(parse(text.replace("note-1..", "note-0..")), PROJECT, SALT)
    assert not is_ours(parse("## 2026-01-13_1200\n- Theirs.\n"), PROJECT, SALT)
    assert not is_ours(parse("hello\n" + text), PROJECT, SALT), "it has to be the first line"
    assert is_ours(parse("\ufeff\r\n" + text.replace("\n", "\r\n")), PROJECT, SALT)


def test_what_somebody_writes_is_found() -> None:
    text = page(note(), note("note-2", "Three."))
    text = text.replace("- Two.", "- Two and a half.")
    text = text.replace("## 2026-01-13_1200", "Above all.\n\n## 2026-01-13_1200", 1)
    text = text.replace("- Three.", "- Three.\n\n## Deployed\nBy hand.\n\n## 2026-02-01_0900 and more\n- Later.")
    found = parse(text + "appended\n").sections
    assert [one.origin for one in found] == ["", "note-1", "note-2", "", "", ""]
    assert [said(one) for one in found] == [
        "Above all.",
        "- One.\n- Two and a half.",
        "- Three.",
        "### Deployed\nBy hand.",
        "### and more\n- Later.",
        "appended",
    ]
    assert found[4].at == 1_769_936_400.0
    assert found[3].at == NEVER


def test_what_a_formatter_does_changes_nothing() -> None:
    text = page(note(), note("note-2", "Three."))
    spaced = text.replace("-->\n", "-->\n\n").replace(")\n", ")\n\n").replace("\n", "\r\n")
    assert parse(spaced) == parse(text)


def test_a_heading_is_part_of_what_is_said() -> None:
    text = page(note()).replace("\n<!-- memory-keeper note-1", " Deployed it\n<!-- memory-keeper note-1")
    (one,) = parse(text).sections
    assert said(one) == "### Deployed it\n- One.\n- Two."


def test_code_is_no_heading() -> None:
    text = page(note()).replace("- Two.", "- Two.\n\n```sh\n## a comment\nls\n```\n## Real")
    found = parse(text).sections
    assert [said(one) for one in found] == ["- One.\n- Two.\n\n```sh\n## a comment\nls\n```", "### Real"]


def test_a_block_of_code_that_never_ends_swallows_no_note() -> None:
    text = page(note(), note("note-2", "Three.")).replace("- Two.", "```\n- Two.")
    assert [one.origin for one in parse(text).sections] == ["note-1", "note-2"]


def test_a_page_that_is_cut_off_takes_nothing_away() -> None:
    text = page(note(), note("note-2", "Three."))
    assert parse(text).shown == ("note-1", "note-2")
    assert parse(text[: text.rindex("<!--")]).shown is None


def test_a_standing_note_may_have_headings_of_its_own() -> None:
    standing = note(text="# App\n\n## Layout\n\n- src\n\n\n## Tests\n- tests", level=0)
    text = compose([section(standing)], PROJECT, SALT)
    (one,) = parse(text, headings=False).sections
    assert one == Section(standing.text, "note-1", "note-1")


def test_a_line_that_is_no_utf_8_is_kept() -> None:
    assert decode("é\n".encode() + "Käse\n".encode("latin-1")) == "é\nKäse\n"


@rows("body", "text")
def test_a_text_is_shown_as_it_was_written(body: str, text: str) -> None:
    said, form = text_of(body)
    assert said == text
    assert body_of(note(text=said, extra=json.dumps({"form": form}))) == body


LINES = st.one_of(
    st.sampled_from(
        (
            "", " ", "## Foo", "## 2026-01-13_1200 (local 01-13_1300)", "- a", "- ", "  - b", "```", "~~~", "text",
            "### x", "<!-- memory-keeper note-1 -->", "<!-- memory-keeper end note-1 -->", "<!-- memory-keeper end -->",
            "<!-- memory-keeper note-1 as note-2, yours -->", "<!-- mine -->", "\x1b[0m## Foo", "\r## Foo", "-->",
            "\ud800", "## \u200d", "\u2028## Foo", "    code", "## ", "##", "#",
        )
    ),
    st.text(max_size=20),
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=8).map("\n".join)
NOTES = st.builds(
    lambda number, text, form, level, at, replaces, who: Note(
        f"note-{number}", at, "session", level, PROJECT, text, "", 0, json.dumps({"form": form}), replaces, who
    ),
    st.integers(0, 10**6),
    TEXTS,
    st.sampled_from(("", "markdown")),
    st.integers(0, 2),
    st.one_of(st.floats(0, 4e9), st.sampled_from((-1e18, 0.0, float("inf")))),
    st.sampled_from(("", "note-x", "n.1:0")),
    st.sampled_from(("", "user")),
)


@given(st.lists(NOTES, min_size=1, max_size=5), st.booleans())
def test_what_is_composed_is_read_back(notes: list[Note], headings: bool) -> None:
    notes = [one for one in notes if (one.level > 0) == headings and body_of(one)]
    sections = [section(one, BEFORE if one.level == 2 else "") for one in notes]
    if sections:
        text = compose(sections, PROJECT, SALT)
        read = parse(text, headings)
        assert read.sections == tuple(sections)
        assert read.shown == tuple(one.id for one in notes)
        assert is_ours(read, PROJECT, SALT)
        assert compose(read.sections, PROJECT, SALT) == text


@given(TEXTS, st.booleans())
def test_reading_anything_finds_all_of_its_words(text: str, headings: bool) -> None:
    """What is no comment of ours is in a section, and reads the same once it was a note."""
    found = parse(text, headings).sections
    words = " ".join(said(one) for one in found if one.body or one.heading)
    for word in ("Foo", "mine", "code", "text", "-->"):
        ours = sum(line.count(word) for line in text.split("\n") if line.startswith("<!-- memory-keeper"))
        assert words.count(word) >= text.count(word) - ours
    for one in found:
        body = plain(said(one), headings)
        assert plain(body, headings) == body
        kept, form = text_of(body)
        assert body_of(note(text=kept, level=int(headings), extra=json.dumps({"form": form}))) == body or not headings
