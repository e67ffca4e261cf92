"""No test can reach what the person who runs it has kept."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from memory_keeper import config


def test_every_test_has_a_home_of_its_own(tmp_path: Path) -> None:
    for name in ("HOME", "MEMORY_KEEPER_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        assert Path(os.environ[name]).is_relative_to(tmp_path)
    assert config.find_home(config.environment()) == str(tmp_path / "keeper")


def test_the_real_home_raises() -> None:
    from tests.conftest import REAL

    for folder in REAL:
        path = Path(folder, "store.db")
        with pytest.raises(RuntimeError, match="the real home"):
            path.open()
        with pytest.raises(RuntimeError, match="the real home"):
            sqlite3.connect(f"file:{path}?mode=ro", uri=True)
