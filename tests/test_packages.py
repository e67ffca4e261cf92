"""A package says what is in it: its first words name every module that a reader finds beside them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import memory_keeper

SRC = Path(memory_keeper.__file__).parent
LISTED = ("", "cli/commands")  # the stages, which docs/how-to/develop.md names; a file for each command, as `cli` lists
PACKAGES = [path.parent.relative_to(SRC).as_posix() for path in sorted(SRC.rglob("__init__.py"))]


@pytest.mark.parametrize("package", [name for name in PACKAGES if name.removeprefix(".") not in LISTED])
def test_its_first_words_name_every_member(package: str) -> None:
    folder = SRC / package
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    members = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    named = {word for code in re.findall(r"`([^`]+)`", said) for word in re.findall(r"\w+", code)}
    assert not members - named - {"__init__"}
