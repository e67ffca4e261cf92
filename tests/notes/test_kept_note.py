"""Whose words a note has is said as it is: the user's are never told as a model's."""

from __future__ import annotations

import json

import pytest

from memory_keeper.model import Note
from memory_keeper.notes.kept_note import whose


@pytest.mark.parametrize(
    ("who", "by", "said"),
    [
        ("user", "user", "the user"),
        ("", "said", "the user"),  # an observation: found in what they typed
        ("", "rule", ""),  # found in what failed
        ("", "seen", ""),  # found in what was run
        ("", "extractive", ""),
        ("", "", ""),
        ("", "model", "a model"),
        ("", "claude-cli", "a model"),
    ],
)
def test_whose_words_they_are(who: str, by: str, said: str) -> None:
    extra = json.dumps({"by": by} if by else {})
    assert whose(Note("note-1", 1.0, "observation", 0, "p", "Run make check.", extra=extra, who=who)) == said
