"""The benchmark of rules reads dialogues as they are, speakers or not."""

from __future__ import annotations

import gzip
import json
from argparse import Namespace
from pathlib import Path

from bench.rules import run


def session(text: str, topic: str = "") -> dict[str, object]:
    checks = {"type": ["instruction-add"], "topic": [topic], "session_regex": [["function", "x"]]}
    return {"text": text, **(checks if topic else {"type": [], "topic": [], "session_regex": []})}


def test_a_session_without_speakers_is_the_mentor_s(tmp_path: Path) -> None:
    topic = "start function names with 'a_'"
    said = (f"Always {topic}.", f"Ann: Always {topic}.\n\nBob: I will.", "")
    rows = [
        {
            "id": number,
            "context": {"mentor": "Ann", "mentee": "Bob"},
            "sessions": [session(text, topic if text else "")],
            "instructions": [[[0, 0]] if text else [-1]],
        }
        for number, text in enumerate(said)
    ]
    with gzip.open(tmp_path / "memorycode.jsonl.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, rows)))
    figures = run(Namespace(data=tmp_path, missed=0))
    assert (figures["rules"].value, figures["kept"].value) == (2, 1.0)
