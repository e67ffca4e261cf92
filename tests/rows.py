"""Rows of data: `tests/data/FOLDER/NAME.toml` has a list of examples for a test of `tests/FOLDER/test_NAME.py`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
Test = Callable[..., None]


def rows(*names: str) -> Callable[[Test], Test]:
    """Try a test on each row of the list that has its name."""

    def on_each(test: Test) -> Test:
        found = lists(test.__globals__["__file__"])[test.__name__]
        tried: Test = pytest.mark.parametrize(names if len(names) > 1 else names[0], found)(test)
        return tried

    return on_each


@cache
def lists(file: str) -> dict[str, list[Any]]:
    path = Path(file).relative_to(TESTS)
    data = TESTS / "data" / path.parent / f"{path.stem.removeprefix('test_')}.toml"
    return tomllib.loads(data.read_text(encoding="utf-8"))
