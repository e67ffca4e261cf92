"""Sets of questions that come with the places of their answers, as projects in a real store.

Every conversation is a project, every meeting of it a session, every turn an event.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench.tools.figures import LeftOutError
from memory_keeper.model import Event, Placed, Source
from memory_keeper.store.sqlite import SqliteStore
from memory_keeper.store.store import Store

CATEGORIES = {1: "several turns", 2: "time", 3: "common sense", 4: "one turn", 5: "adversarial"}  # LoCoMo's numbers


class Turn(NamedTuple):
    """Something one side said."""

    id: str
    session: str
    role: str  # user | assistant
    at: float
    text: str
    date: str = ""  # as the set writes it


class Question(NamedTuple):
    """What is asked, and where its answer lies."""

    text: str
    gold: frozenset[str]  # ids of turns
    category: str


class Space(NamedTuple):
    """One conversation with its questions: a project."""

    name: str
    turns: list[Turn]
    questions: list[Question]

    def sessions(self) -> dict[str, list[Turn]]:
        """The turns of each session, in order."""
        found: dict[str, list[Turn]] = {}
        for turn in self.turns:
            found.setdefault(turn.session, []).append(turn)
        return found


# --- reading them -----------------------------------------------------------------------------------------------------


def argument(parser: argparse.ArgumentParser) -> None:
    """The folder."""
    parser.add_argument("--data", type=Path, required=True, help="a folder of sets, as .jsonl.gz")


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of all files of a set."""
    found = []
    for path in sorted(folder.rglob(f"{name}.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found += [json.loads(line) for line in lines]
    if not found:
        raise LeftOutError(f"no {name}.jsonl.gz below {folder}")
    return found


def locomo(folder: Path, captions: bool = True) -> list[Space]:
    """LoCoMo's conversations."""
    return [conversation(row, captions) for row in read(folder, "locomo*")]


def beam(folder: Path) -> list[Space]:
    """BEAM's conversations."""
    return list(messages(*(read(folder, f"beam*_{part}") for part in ("docs", "queries"))))


def conversation(row: dict[str, Any], captions: bool) -> Space:
    """LoCoMo's: two people, some weeks."""
    talk, name = row["conversation"], str(row["sample_id"])
    turns = []
    for key in sorted((key for key, value in talk.items() if isinstance(value, list)), key=lambda key: int(key[8:])):
        date = str(talk[f"{key}_date_time"])
        at = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
        for number, one in enumerate(talk[key]):
            seen = f" [{one['blip_caption']}]" if captions and one.get("blip_caption") else ""
            text = f"{one['speaker']}: {one['text']}{seen}"
            turns.append(
                Turn(f"{name}-{one['dia_id']}", f"{name}-{key}", "user", at + number, text, date)
            )  # both are people
    known = {turn.id for turn in turns}
    questions = []
    for asked in row["qa"]:
        # some are written `D8:6; D9:17`, or `D:11:26`
        places = re.findall(r"D:?(\d+):(\d+)", " ".join(map(str, asked.get("evidence") or ())))
        gold = frozenset(f"{name}-D{session}:{turn}" for session, turn in places) & known
        if gold:
            number = int(asked["category"])
            category = f"{number} {CATEGORIES.get(number, '')}".strip()
            questions.append(Question(str(asked["question"]), gold, category))
    return Space(name, turns, questions)


def messages(docs: list[dict[str, Any]], queries: list[dict[str, Any]]) -> Iterator[Space]:
    """BEAM's: a user and an assistant."""
    for name, rows in itertools.groupby(docs, key=lambda row: str(row["space"])):
        turns = []
        for row in rows:
            at = datetime.strptime(row["date"], "%B-%d-%Y").replace(tzinfo=UTC).timestamp() + row["id"]
            session = f"{name}-{row['session']}"
            turns.append(Turn(f"{name}-{row['id']}", session, row["role"], at, row["text"], row["date"]))
        yield Space(
            name,
            turns,
            [
                Question(row["text"], frozenset(f"{name}-{one}" for one in row["gold"]), row["cat"])
                for row in queries
                if row["space"] == name
            ],
        )


def lift(space: Space, asked: Question) -> Question:
    """The same question about sessions."""
    session = {turn.id: turn.session for turn in space.turns}
    return asked._replace(gold=frozenset(session[id] for id in asked.gold))


# --- keeping them -----------------------------------------------------------------------------------------------------


@contextmanager
def kept(spaces: Iterable[Space]) -> Iterator[SqliteStore]:
    """A real store that has these conversations."""
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        store = SqliteStore(str(Path(folder, "store.db")))
        try:
            for space in spaces:
                for session, turns in space.sessions().items():
                    record(store, f"dir:/{space.name}", session, turns)
            yield store
        finally:
            store.close()


def record(store: Store, project: str, session: str, turns: Sequence[Turn]) -> None:
    """One session, as if its transcript had been read."""
    source = store.begin(Source(f"/bench/{session}.jsonl", session, project))
    placed = [
        Placed(
            Event(turn.id + ":0", turn.at, "prompt" if turn.role == "user" else "reply", session, project, turn.text),
            offset,
        )
        for offset, turn in enumerate(turns)
    ]
    store.record(source._replace(offset=len(placed), at=turns[-1].at), placed)
