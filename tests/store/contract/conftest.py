"""The engines that have to keep the contract; each is opened again as another process would open it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_keeper.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from memory_keeper.store.store import Store

ENGINES: dict[str, Callable[[Path], Store]] = {"sqlite": lambda folder: SqliteStore(str(folder / "store.db"))}


@pytest.fixture(params=ENGINES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Opens the store of the test, which is empty at first."""
    return lambda: ENGINES[request.param](tmp_path)
