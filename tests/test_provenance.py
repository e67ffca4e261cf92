"""Whose words a note has is said as it is: the user's are never told as a model's."""

from __future__ import annotations

import json

from memory_keeper.model import Note
from memory_keeper.provenance import whose
from tests.rows import rows


@rows("who", "by", "said")
def test_whose_words_they_are(who: str, by: str, said: str) -> None:
    extra = json.dumps({"by": by} if by else {})
    assert whose(Note("note-1", 1.0, "observation", 0, "p", "Run make check.", extra=extra, who=who)) == said
