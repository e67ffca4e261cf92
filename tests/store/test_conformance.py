"""The embedded engine keeps every promise of `keep.conformance`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

from memory_keeper.store import store
from memory_keeper.store.conformance import SUITE, asking, covering, recording, searching
from memory_keeper.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from memory_keeper.store.store import Store

    Check = Callable[[Callable[[], Store]], None]

MEMBERS = (recording, covering, searching, asking)


@pytest.mark.parametrize("check", SUITE, ids=lambda check: check.__name__)
def test_sqlite_store(check: Check, tmp_path: Path) -> None:
    check(lambda: SqliteStore(str(tmp_path / "store.db")))


def test_every_promise_is_checked() -> None:
    """What `Store` has and no check calls is no promise."""
    contract, *checks = (ast.parse(Path(module.__file__ or "").read_text()) for module in (store, *MEMBERS))
    (promises,) = [one for one in ast.walk(contract) if isinstance(one, ast.ClassDef) and one.name == "Store"]
    promised = {one.name for one in promises.body if isinstance(one, ast.FunctionDef)}
    called = {one.attr for check in checks for one in ast.walk(check) if isinstance(one, ast.Attribute)}
    assert promised <= called


def test_every_check_is_in_the_suite() -> None:
    public = {
        name
        for module in MEMBERS
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
    assert public == {check.__name__ for check in SUITE}
    assert len(SUITE) == len({*SUITE})
