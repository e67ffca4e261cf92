"""The embedded engine keeps every promise of `keep.conformance`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_keeper.keep.conformance import SUITE
from memory_keeper.keep.sqlite import SqliteStore

if TYPE_CHECKING:
    from memory_keeper.keep import Store

    Check = Callable[[Callable[[], Store]], None]


@pytest.mark.parametrize("check", SUITE, ids=lambda check: check.__name__)
def test_sqlite_store(check: Check, tmp_path: Path) -> None:
    check(lambda: SqliteStore(str(tmp_path / "store.db")))


def test_every_check_is_in_the_suite() -> None:
    import memory_keeper.keep.conformance as module

    public = {
        name
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and value.__module__ == module.__name__
    }
    assert public == {check.__name__ for check in SUITE}
