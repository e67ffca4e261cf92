"""There is one way to what is kept: the contract, all of which is checked, and no other module knows an engine."""

from __future__ import annotations

import ast
from pathlib import Path

from memory_keeper.store import store

HERE = Path(__file__).parent
SOURCES = Path(store.__file__).parents[1]
OPENS = "store/__init__.py"  # the one module that names the engine
OTHERS = ("imports/claude_mem.py", "team/hub/")  # read the database of another tool, and that of a team


def test_every_promise_is_checked() -> None:
    """What `Store` has and no test calls is no promise."""
    contract, *checks = (ast.parse(path.read_text()) for path in (Path(store.__file__), *HERE.glob("test_*.py")))
    (promises,) = [one for one in ast.walk(contract) if isinstance(one, ast.ClassDef) and one.name == "Store"]
    promised = {one.name for one in promises.body if isinstance(one, ast.FunctionDef)}
    called = {one.attr for check in checks for one in ast.walk(check) if isinstance(one, ast.Attribute)}
    assert promised <= called


def test_only_the_engine_speaks_sql() -> None:
    """Nothing else names it, asks a connection, or has a statement in a string."""
    for path in SOURCES.rglob("*.py"):
        name = path.relative_to(SOURCES).as_posix()
        if name.startswith(("store/sqlite/", *OTHERS)):
            continue
        tree = ast.parse(path.read_text())
        attributes = {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
        assert not attributes & {"execute", "executemany", "executescript", "cursor", "db"}, name
        imports = [one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom)]
        modules = {getattr(one, "module", None) or alias.name for one in imports for alias in one.names}
        assert not modules & {"sqlite3", "_sqlite3"}, name
        assert name == OPENS or not any(str(one).startswith("memory_keeper.store.sqlite") for one in modules), name
        texts = [one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        statements = ("select ", "insert into ", "update ", "delete from ", "pragma ")
        sql = [text for text in texts if text.startswith(statements) and (" where " in text or " from " in text)]
        assert not sql, (name, sql)
