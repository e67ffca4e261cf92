"""The table of features is true as far as a test can tell: every test it names is there, and no defect is left out."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from docs import features

ROOT = Path(__file__).parents[2]
FEATURES, DEFECTS = features.read()
ROWS = [*FEATURES, *DEFECTS]
PLACES = features.places()
NUMBER = re.compile(r"\bR\d+[a-z]?\b|(?<=def test_)r\d+[a-z]?(?=_)")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.get("id") or row["feature"])[:50])
def test_every_row_says_what_how_and_by_which_tests(row: features.Row) -> None:
    assert all(isinstance(value, str) and value and "\n" not in value for key, value in row.items() if key != "tests")
    assert set(row) in ({"area", "feature", "from", "here", "tests"}, {"id", "defect", "here", "tests"})
    assert 1 <= len(row["tests"]) <= 3
    for id in row["tests"]:
        file, _, name = id.partition("::")
        assert file in PLACES.get(name, []), f"{id} is not there; `python docs/features.py` follows what was moved"


def test_nothing_is_there_twice() -> None:
    for names in ([row["feature"] for row in FEATURES], [row["id"] for row in DEFECTS]):
        assert [name for name, times in Counter(names).items() if times > 1] == []


def test_every_defect_that_a_test_is_about_has_a_row() -> None:
    named = {found.upper()[:1] + found[1:] for path in sources() for found in NUMBER.findall(docstrings(path))}
    assert {"R1", "R13b", "R18c"} <= named
    assert named - {row["id"] for row in DEFECTS} == set()


def sources() -> list[Path]:
    return [path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__)]


def docstrings(path: Path) -> str:
    """What a file says of its tests: their names and their first words."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return "\n".join(f"def {test.name}_ {ast.get_docstring(test) or ''}" for test in tests)


def test_a_test_that_was_moved_is_followed_where_that_is_clear() -> None:
    found = {"test_one": ["tests/new/test_a.py"], "test_two": ["tests/test_b.py", "tests/test_c.py"]}
    before = '["tests/test_a.py::test_one", "tests/test_a.py::test_two", "tests/test_a.py::test_gone"]'
    assert features.follow(before, found) == before.replace("test_a.py::test_one", "new/test_a.py::test_one")


def test_every_promise_names_tests_that_are_there() -> None:
    page = (ROOT / "docs/explanation/promises.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", page)
    assert len(named) > 15
    for file, name in named:
        assert file in PLACES.get(name, []) if name else (ROOT / file).exists(), (file, name)
