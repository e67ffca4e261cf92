"""The version is said once, and the launcher can say that Python is too old."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

import memory_keeper

ROOT = Path(__file__).parents[1]


def test_version_is_three_numbers() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", memory_keeper.__version__)


def test_version_is_said_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/memory_keeper/__init__.py"


def test_plugin_has_the_same_version() -> None:
    assert json.loads((ROOT / ".claude-plugin/plugin.json").read_text())["version"] == memory_keeper.__version__


def test_launcher_parses_on_old_pythons() -> None:
    ast.parse((ROOT / "memory-keeper").read_text(), feature_version=(3, 6))
