"""What readers and graders of a kit get, and what their answers were worth; a kit is KIT/<boundary>/<method>.txt.

A reader gets a pack: the texts of one method, each with its questions. It writes a line {"id": …, "answer": …} for
each. A grader gets a sheet: each question with its reference and the answers of all readers, in an order that differs
from question to question and is kept in SHEET.key. It writes a line {"id": …, "A": 1, "B": 0.5, …} for each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import NamedTuple

from bench.tools import transcripts

SEED = 7  # the same sheet from the same answers
TO_READERS = """Each case is all that is known of a session that you take over: answer its questions from it alone.
One line of JSON for each: {"id": "<case>#<number>", "answer": "..."}; UNKNOWN where the text does not say.
"""
TO_GRADERS = """Compare each answer with the reference.
1 is right and enough to act on, 0.5 partly right, 0 wrong or UNKNOWN, -0.5 misleading.
One line of JSON for each question: {"id": "<case>#<number>", "A": 1, "B": 0.5, ...}
"""

Graded = tuple[str, float]  # the kind of a question, and what its answer was worth


class Probe(NamedTuple):
    """A question that somebody who takes over has to answer."""

    boundary: str  # `0276a600-214`: a cut, with a dash
    n: int
    kind: str  # goal | state | next | cause | decision | constraint | artifact | history
    question: str
    answer: str
    keys: list[list[str]]  # a right answer has one of each group

    @property
    def id(self) -> str:
        """By which readers and graders name it."""
        return f"{self.boundary}#{self.n}"

    def answerable(self, text: str) -> bool:
        """Whether a text has one of each group: a ceiling of what a reader can find in it."""
        low = text.lower()
        return all(any(key.lower() in low for key in group) for group in self.keys)


def read_probes(files: Iterable[Path]) -> list[Probe]:
    """All that are in some files."""
    return [Probe(*(entry[field] for field in Probe._fields)) for file in files for entry in transcripts.entries(file)]


def write_pack(kit: Path, method: str, place: Path, probes: list[Probe]) -> None:
    """The texts of one method with their questions, for one reader."""
    parts = [TO_READERS]
    for boundary in dict.fromkeys(probe.boundary for probe in probes):
        text = (kit / boundary / f"{method}.txt").read_text(encoding="utf-8")
        questions = "\n".join(f"{probe.id}: {probe.question}" for probe in probes if probe.boundary == boundary)
        parts.append(
            f"######## CASE {boundary} ########\n--- all you know ---\n{text}\n--- questions ---\n{questions}\n"
        )
    place.write_text("\n".join(parts), encoding="utf-8")


def write_sheet(place: Path, answers: Sequence[Path], probes: list[Probe]) -> None:
    """All answers to each question for one grader, and beside it the key that says whose they are."""
    readers = [{entry["id"]: entry["answer"] for entry in transcripts.entries(file)} for file in answers]
    random, key, parts = Random(SEED), {}, [TO_GRADERS]
    for probe in probes:
        order = key[probe.id] = random.sample(range(len(readers)), len(readers))
        parts.append(f"### {probe.id} ({probe.kind})\nQ: {probe.question}\nREFERENCE: {probe.answer}")
        answered = [readers[reader].get(probe.id, "UNKNOWN") for reader in order]
        parts += [f"{letter}: {answer}" for letter, answer in zip(ascii_uppercase, answered, strict=False)]
    place.write_text("\n".join(parts) + "\n", encoding="utf-8")
    key_of(place).write_text(json.dumps(key), encoding="utf-8")


def key_of(sheet: Path) -> Path:
    """Where the key of a sheet is."""
    return sheet.with_name(sheet.name + ".key")


def read_grades(key: Path, grades: Path, names: Sequence[str], probes: list[Probe]) -> dict[str, list[Graded]]:
    """What each reader got, by the readers' names in the order in which their answers went onto the sheet."""
    orders: dict[str, list[int]] = json.loads(key.read_text(encoding="utf-8"))
    kinds = {probe.id: probe.kind for probe in probes}
    got: dict[str, list[Graded]] = {name: [] for name in names}
    for entry in transcripts.entries(grades):
        for letter, reader in zip(ascii_uppercase, orders[entry["id"]], strict=False):
            got[names[reader]].append((kinds[entry["id"]], float(entry[letter])))
    return got
