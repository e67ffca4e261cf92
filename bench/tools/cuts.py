"""A transcript cut where it was compacted, and the texts that are made of what came before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.tools import transcripts
from bench.tools.needed import Step, read_steps
from bench.tools.notes import level_one
from memory_keeper.briefs import View, handoff
from memory_keeper.extract.facts import Fact
from memory_keeper.model import Event, Note
from memory_keeper.notes.outline import outline
from memory_keeper.settings import DEFAULTS
from memory_keeper.text import tokens

NONCE = "84c7a90e"
TAIL, SHOWN, CALLED = 2000, 2000, 400  # tokens of the end as it stands; characters of what was said, and of a call
OUTLINE = DEFAULTS["reduce.outlineTokens"]


class Cut(NamedTuple):
    """What came before a place of a session."""

    name: str  # the beginning of the session's name, and the place among its steps: `0276a600:214`
    before: list[Step]
    events: list[Event]
    folder: str
    summary: str = ""  # Claude's own, where the place is a compaction


class Compaction(NamedTuple):
    """Where a session was compacted, and the compactions next to it, or the ends of the session."""

    name: str
    last: int
    place: int
    next: int
    summary: str
    uuid: str


class Session(NamedTuple):
    """A transcript, read in both ways."""

    path: Path
    lines: list[dict[str, Any]]
    folder: str
    steps: list[Step]
    places: list[int]  # of its compactions

    def compactions(self) -> Iterator[Compaction]:
        """Those that left a summary."""
        around = [0, *self.places, len(self.steps)]
        for last, place, following in zip(around, around[1:], around[2:], strict=False):
            summary = next((step for step in self.steps[place : place + 12] if step.kind == "summary"), None)
            if summary is not None:
                name = f"{self.path.name[:8]}:{place}"
                yield Compaction(name, last, place, following, summary.text, self.steps[place].uuid)

    def before(self, place: int) -> list[Step]:
        """What was said and done."""
        return [step for step in self.steps[:place] if step.kind not in ("summary", "boundary")]

    def cut(self, name: str, place: int, summary: str = "") -> Cut:
        """All that came before a place."""
        lines = (json.dumps(entry).encode() for entry in self.lines[: self.steps[place].line])
        events = list(transcripts.events(lines, self.path.name))
        return Cut(name, self.before(place), events, self.folder, summary)


def sessions(files: list[Path]) -> Iterator[Session]:
    """Transcripts, each read when it is asked for."""
    for path in files:
        lines = [entry for entry in transcripts.entries(path) if not entry.get("isSidechain")]
        folder = next((entry["cwd"] for entry in lines if entry.get("cwd")), "")
        steps = list(read_steps(lines))
        places = [number for number, step in enumerate(steps) if step.kind == "boundary"]
        yield Session(path, lines, folder, steps, places)


# --- texts ------------------------------------------------------------------------------------------------------------


made: dict[str, list[Note]] = {}
chosen: dict[str, list[Fact]] = {}


def told(cut: Cut, budget: int, family: str) -> str:
    """The handoff as a model is told it: opened, fenced, cited and closed."""
    return handed(handed_over(cut, family), budget, family)


def handed_over(cut: Cut, family: str) -> list[Fact]:
    """What is handed over of all that came before, found once for all budgets."""
    if cut.name not in chosen:
        chosen[cut.name] = handoff.find_in(cut.events, family, cut.folder)
    return chosen[cut.name]


def handed(lines: list[Fact], budget: int, family: str) -> str:
    """Some of its lines, told in the same way."""
    nobody: Any = None  # no store is asked: all that is told is given
    view = View(nobody, "", "", "compact", handed=tuple(lines), family=family)
    return handoff.compose(view, budget, NONCE, "this session, before it was compacted", characters=1 << 30).text


def noted(cut: Cut) -> str:
    """All notes of what came before."""
    return "\n".join(note.text for note in notes_of(cut) if note.text)


def outlined(cut: Cut) -> str:
    """The outline above these notes."""
    return outline(notes_of(cut), OUTLINE).text


def notes_of(cut: Cut) -> list[Note]:
    """Made once."""
    if cut.name not in made:
        made[cut.name] = [each.note for each in level_one(cut.events, cut.folder)]
    return made[cut.name]


def tail(before: list[Step], budget: int, family: str) -> str:
    """The newest of what was said and done, as it stands: calls and results clipped, the oldest cut at its start."""
    kept: list[str] = []
    for step in reversed(before):
        spoken = step.kind in ("user", "say")
        text = f"{step.kind} {step.tool}: {step.text[: SHOWN if spoken else CALLED]}"
        cost = tokens(text + "\n", family)
        if cost > budget:
            kept.append(text[-max(0, len(text) * budget // cost) :] if budget > 0 else "")
            break
        kept.append(text)
        budget -= cost
    return "\n".join(reversed(kept))
