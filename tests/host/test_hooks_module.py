"""The hooks module is loaded where something needs it, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

from memory_keeper.host.hooks_module import FILE, have_loaded
from tests.command import memory_keeper
from tests.machine import Machine, Session

ROOT = Path(__file__).resolve().parents[2]


def plugin(folder: Path) -> Path:
    """The part of a plugin that a start looks at."""
    (folder / "plugin/hooks").mkdir(parents=True)
    (folder / "plugin/hooks/module.js").write_text("export const register = () => {}")
    return folder


def start(machine: Machine, root: Path) -> Session:
    session = machine.session()
    payload = {"session_id": session.id, "cwd": str(machine.project), "source": "startup"}
    machine.hook("SessionStart", payload, environ={"CLAUDE_PLUGIN_ROOT": str(root)})
    session.turn("Build the parser.", "It is built.")
    machine.catch_up()
    return session


def test_a_start_has_it_loaded_once_compactions_are_ours(machine: Machine) -> None:
    root = plugin(machine.folder("checked out"))
    for _ in range(2):
        start(machine, root)
        assert not (root / FILE).exists()
    memory_keeper(machine, "config", "set", "compaction.mode", "replace")
    start(machine, root)
    (name,) = json.loads((root / FILE).read_text())["modules"]
    assert (root / "hooks" / name).resolve() == (root / "plugin/hooks/module.js").resolve()


def test_a_start_has_it_loaded_once_somebody_wanted_a_clear(machine: Machine) -> None:
    root = plugin(machine.folder("checked out"))
    memory_keeper(machine, "restart", "--session", start(machine, root).id)
    assert not (root / FILE).exists()
    start(machine, root)
    assert (root / FILE).exists()


def test_who_chooses_a_mode_has_it_loaded_by_the_next_session(machine: Machine) -> None:
    root = plugin(machine.home / "marketplace")
    memory_keeper(machine, "config", "set", "compaction.mode", "supplement")
    assert not (root / FILE).exists()
    memory_keeper(machine, "config", "set", "compaction.mode", "clear")
    assert (root / FILE).exists()


def test_nothing_is_written_into_a_folder_that_is_no_plugin(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert not have_loaded("") and not have_loaded(str(empty)) and not [*empty.iterdir()]
    root = plugin(empty)
    assert have_loaded(str(root)) and have_loaded(str(root))
    assert [path.name for path in (root / "hooks").iterdir()] == ["hooks.json"]


def test_what_is_shipped_loads_none() -> None:
    assert "modules" not in json.loads((ROOT / "plugin/hooks/hooks.json").read_text())
