"""What needs the model is tested where the extra `semantic` is installed."""

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from memory_keeper.model import Event, Placed, Source
from memory_keeper.store.sqlite import SqliteStore

collect_ignore = [] if find_spec("wordllama") else ["test_meaning.py"]
PROJECTS = ("dir:/here", "dir:/there")


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Callable[[Sequence[tuple[str, str]]], SqliteStore]]:
    """A store in which the same was said in two projects, by its kinds and texts."""
    made = SqliteStore(str(tmp_path / "store.db"))

    def tell(said: Sequence[tuple[str, str]]) -> SqliteStore:
        for number, project in enumerate(PROJECTS):
            session = f"s{number}"
            source = made.begin(Source(f"/t/{number}.jsonl", session, project))
            events = [
                Event(f"e{number}-{n}:0", 100.0 * number + n, kind, session, project, text)
                for n, (kind, text) in enumerate(said)
            ]
            made.record(source, [Placed(event, n) for n, event in enumerate(events)])
        return made

    yield tell
    made.close()
