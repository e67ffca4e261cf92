"""`config`: what holds and why, one setting changed and the rest left, and Claude Code's own switch with its price."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.cli.commands.config import SWITCH, add_setting, drop_setting
from memory_keeper.cli.main import main
from memory_keeper.errors import KeeperError
from memory_keeper.settings import DEFAULTS, SETTINGS, flatten
from tests.rows import rows

Said = pytest.CaptureFixture[str]


def run(*argv: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["config", *argv])
    return int(ended.value.code or 0)


def home() -> Path:
    return Path(os.environ["MEMORY_KEEPER_HOME"])


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    deep = made / "src"
    deep.mkdir()
    monkeypatch.chdir(deep)
    for name in ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT"):
        monkeypatch.delenv(name, raising=False)
    return made


@pytest.fixture
def user(private_home: Path) -> Path:
    """The user's settings of Claude Code, which are not there yet."""
    (private_home / ".claude").mkdir()
    return private_home / ".claude/settings.json"


def listed(said: Said) -> dict[str, dict[str, Any]]:
    said.readouterr()
    assert run("--json") == 0
    found = json.loads(said.readouterr().out)["settings"]
    assert isinstance(found, dict)
    return found


# --- what holds -------------------------------------------------------------------------------------------------------


def read_rows(said: str) -> dict[str, str]:
    """The settings of a list, each with what it is said to be."""
    return {key[2:]: value for key, equals, value in (row.partition(" = ") for row in said.splitlines()) if equals}


def test_plain_config_lists_everything(capsys: Said) -> None:
    assert run() == 0
    plain = capsys.readouterr().out
    assert run("list") == 0
    assert capsys.readouterr().out == plain
    rows = read_rows(plain)
    assert {*rows} == {*DEFAULTS, SWITCH}
    assert (rows["tell.startBudget"], rows["compaction.mode"], rows[SWITCH]) == ("1500", "supplement", "true")
    assert all(f"\n      {setting.meaning}\n" in plain for setting in SETTINGS.values())
    assert "\n* tell" not in plain, "nothing was changed"
    assert not home().exists()


def test_each_one_says_where_it_comes_from(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    run("set", "context.warnPercent", "60")
    run("set", "tell.handoffBudget", "750", "--project-file")
    run("set", "context.warnTokens", "90000", "--local")
    monkeypatch.setenv("MEMORY_KEEPER_CONTEXT_WARNINGS", "off")
    capsys.readouterr()
    assert run("list", "--show-origin") == 0
    said = capsys.readouterr().out
    rows = read_rows(said)
    assert rows["context.warnPercent"] == f"60  ({home() / 'config.json'}; default 70)"
    assert rows["tell.handoffBudget"] == f"750  ({project / '.claude/memory-keeper.json'}; default 2000)"
    assert rows["context.warnTokens"] == f"90000  ({home() / 'config.json'} for {project}; default 0)"
    assert rows["context.warnings"] == "false  (MEMORY_KEEPER_CONTEXT_WARNINGS; default true)"
    assert rows["tell.startBudget"] == "1500  (default)"
    assert said.count("\n* tell") == 1 and said.count("\n* context") == 3, "what was changed is marked"
    found = listed(capsys)
    assert found["context.warnings"] == {
        "value": False, "default": True, "origin": "MEMORY_KEEPER_CONTEXT_WARNINGS",
    }  # fmt: skip


def test_a_broken_file_is_told_of(project: Path, capsys: Said) -> None:
    (project / ".claude").mkdir()
    path = project / ".claude/memory-keeper.json"
    path.write_text("{")
    assert run() == 0
    assert f"{path} cannot be read" in capsys.readouterr().err
    assert run("--json") == 0
    assert json.loads(capsys.readouterr().out)["broken"] == [str(path)]


def test_one_of_them(capsys: Said) -> None:
    assert run("get", "compaction.mode") == 0
    assert capsys.readouterr().out == "supplement\n"
    assert run("get", "context.warnings", "--show-origin") == 0
    assert capsys.readouterr().out == "true  default\n"
    assert run("get", SWITCH, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found.items() >= {"key": SWITCH, "value": True, "origin": "default", "default": True}.items()
    assert found["users_only"] is True and "Claude Code" in found["meaning"]


@rows("argv", "code", "said")
def test_what_makes_no_sense_changes_nothing(argv: list[str], code: int, said: str, capsys: Said) -> None:
    assert run(*argv) == code
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert not home().exists()


# --- ours -------------------------------------------------------------------------------------------------------------


def test_set_and_unset(capsys: Said) -> None:
    path = home() / "config.json"
    assert run("set", "compaction.mode", "clear") == 0
    assert capsys.readouterr().out.startswith(
        f"compaction.mode = clear  (set in {path})\nFrom the next session on a context is cleared"
    )
    assert path.read_text() == '{\n  "compaction": {\n    "mode": "clear"\n  }\n}\n'
    assert path.stat().st_mode & 0o777 == 0o600
    assert run("set", "compaction.triggers.sessionTokens.threshold", "50000", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "key": "compaction.triggers.sessionTokens.threshold", "path": str(path), "was": None, "now": 50_000,
        "in_force": 50_000, "by": str(path),
    }  # fmt: skip
    assert json.loads(path.read_text()) == {
        "compaction": {"mode": "clear", "triggers": {"sessionTokens": {"threshold": 50_000}}}
    }
    assert run("unset", "compaction.triggers.sessionTokens.threshold") == 0
    assert "now, from default" in capsys.readouterr().out
    assert json.loads(path.read_text()) == {"compaction": {"mode": "clear"}}
    assert run("unset", "compaction.mode") == 0
    assert path.read_text() == "{}\n"
    assert run("unset", "compaction.mode") == 0
    assert "is not set in" in capsys.readouterr().out


def test_what_is_the_user_s_is_not_for_a_project_s_file(project: Path, capsys: Said) -> None:
    assert run("set", "compaction.mode", "clear", "--project-file") == 1
    assert "--local" in capsys.readouterr().err
    assert run("set", "compaction.mode", "clear", "--local") == 0
    assert json.loads((home() / "config.json").read_text()) == {
        "projects": {str(project): {"compaction": {"mode": "clear"}}}
    }
    assert not (project / ".claude").exists()
    assert run("unset", "compaction.mode", "--local") == 0
    assert json.loads((home() / "config.json").read_text()) == {}


def test_what_a_project_s_file_sets_in_vain_is_told(project: Path, capsys: Said) -> None:
    path = project / ".claude/memory/config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"compaction": {"summaryModel": "some-model"}}')
    assert run("get", "compaction.summaryModel") == 0
    out, err = capsys.readouterr()
    assert out == "\n" and f"{path} sets it, and that does not hold" in err


@pytest.mark.parametrize(("option", "name"), [("--project-file", "")])
def test_in_the_project_s_files(project: Path, option: str, name: str) -> None:
    path = project / f".claude/memory-keeper{name}.json"
    assert run("set", option, "tell.startBudget", "700") == 0  # options may stand anywhere
    assert json.loads(path.read_text()) == {"tell": {"startBudget": 700}}
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.parent.stat().st_mode & 0o777 == 0o755
    path.chmod(0o600)
    assert run("set", "tell.startBudget", option, "800") == 0
    assert json.loads(path.read_text()) == {"tell": {"startBudget": 800}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert not (home() / "config.json").exists()


def test_the_rest_of_the_file_stays(capsys: Said) -> None:
    home().mkdir()
    path = home() / "config.json"
    path.write_text('{"mine": [1, {"x": "é"}], "tell": {"other": null, "startBudget": 5}, "saveInterval": 25}')
    assert run("set", "tell.startBudget", "900") == 0
    assert "it was 5" in capsys.readouterr().out
    assert json.loads(path.read_text()) == {
        "mine": [1, {"x": "é"}], "tell": {"other": None, "startBudget": 900}, "saveInterval": 25,
    }  # fmt: skip
    assert "é" in path.read_text()
    assert [*json.loads(path.read_text())] == ["mine", "tell", "saveInterval"]


def test_what_would_happen(capsys: Said) -> None:
    assert run("set", "tell.startBudget", "900", "--dry-run") == 0
    assert "would be set" in capsys.readouterr().out
    assert run("unset", "tell.startBudget", "--dry-run") == 0
    assert not home().exists()


def test_what_wins_is_said(project: Path, capsys: Said) -> None:
    run("set", "tell.startBudget", "700", "--local")
    capsys.readouterr()
    assert run("set", "tell.startBudget", "900") == 0
    assert f"{home()}/config.json for {project} has 700, which wins" in capsys.readouterr().out


@pytest.mark.parametrize("broken", ["{", "[]", '{"a": NaN}', '{"tell": 5}', "[" * 100_000])
def test_a_broken_file_is_refused_untouched(broken: str, capsys: Said) -> None:
    home().mkdir()
    path = home() / "config.json"
    path.write_text(broken)
    assert run("set", "tell.startBudget", "900") == 1
    assert "no object" in (said := capsys.readouterr().err) or "not a JSON object" in said
    assert path.read_text() == broken


def test_bytes_that_are_no_text(capsys: Said) -> None:
    home().mkdir()
    path = home() / "config.json"
    path.write_bytes(b'{"a": "\xff"}')
    assert run("set", "tell.startBudget", "900") == 1
    assert path.read_bytes() == b'{"a": "\xff"}'
    path.write_bytes(b'{"a": "\\ud800"}')
    assert run("set", "tell.startBudget", "900") == 0
    assert json.loads(path.read_text()) == {"a": "\ud800", "tell": {"startBudget": 900}}


@pytest.mark.parametrize("link", [".claude", ".claude/memory-keeper.json"])
def test_no_link_is_followed_out_of_a_project(link: str, project: Path, tmp_path: Path, capsys: Said) -> None:
    elsewhere = tmp_path / "elsewhere/memory-keeper.json"
    elsewhere.parent.mkdir()
    elsewhere.write_text("{}")
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(elsewhere.parent if link == ".claude" else elsewhere)
    assert run("set", "tell.startBudget", "900", "--project-file") == 1
    assert f"{project / link} is a link" in capsys.readouterr().err
    assert elsewhere.read_text() == "{}"


keys = st.sampled_from([*DEFAULTS])
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
cuts = {".".join(key.split(".")[a:b]) for key in DEFAULTS for a in range(4) for b in range(a + 1, 5)}
parts = st.sampled_from(sorted(cuts))
trees = st.recursive(
    st.dictionaries(parts | st.text(max_size=3), leaves, max_size=3),
    lambda below: st.dictionaries(parts | st.text(max_size=3), leaves | below, max_size=3),
    max_leaves=6,
)


@given(given=trees, key=keys)
def test_however_a_file_is_written_it_says_what_was_set(given: dict[str, Any], key: str) -> None:
    others = {name: value for name, value in flatten(given).items() if name != key}
    try:
        add_setting(given, key, 12_345)
    except KeeperError:
        return  # something stands in the way, and the file is not written
    flat = flatten(given)
    assert flat[key] == 12_345
    assert {name: value for name, value in flat.items() if name != key} == others
    drop_setting(given, key)
    assert flatten(given) == others


# --- Claude Code's own switch -----------------------------------------------------------------------------------------


def test_it_is_the_hosts_to_change(user: Path, capsys: Said) -> None:
    assert run("set", SWITCH, "false") == 1
    assert "Claude Code's own" in capsys.readouterr().err
    assert not user.exists()


def test_who_decides_in_which_order(
    user: Path, project: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    (project / ".claude").mkdir()
    files = [
        private_home / ".claude.json", user, project / ".claude/settings.json", project / ".claude/settings.local.json",
    ]  # fmt: skip
    value = True
    for path in files:  # each one outdoes those before
        value = not value
        path.write_text(json.dumps({"autoCompactEnabled": value}))
        assert listed(capsys)[SWITCH] == {"value": value, "origin": str(path)}
    assert value
    user.write_text(json.dumps({"env": {"DISABLE_COMPACT": "1"}}))
    assert listed(capsys)[SWITCH] == {"value": False, "origin": f"DISABLE_COMPACT in {user}"}
    monkeypatch.setenv("DISABLE_AUTO_COMPACT", "1")
    assert listed(capsys)[SWITCH] == {"value": False, "origin": "DISABLE_AUTO_COMPACT"}
    user.write_text(json.dumps({"env": {"DISABLE_AUTO_COMPACT": "0"}}))  # the host's own win over the process's
    assert listed(capsys)[SWITCH] == {"value": True, "origin": str(files[-1])}
