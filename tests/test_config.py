"""Where things are, and which settings hold: a broken or hostile file changes nothing but what it may."""

from __future__ import annotations

import json
import os
import pwd
import shutil
from pathlib import Path
from typing import Any

import pytest

from memory_keeper import config
from memory_keeper.settings import DEFAULTS, variable
from tests.rows import rows

HOME = {"HOME": "/home/me"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "keeper"
    made.mkdir()
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / ".claude").mkdir(parents=True)
    return made


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home that the machine itself knows of."""
    made = tmp_path / "account"
    (made / ".claude").mkdir(parents=True)
    entry = pwd.struct_passwd(("me", "x", os.getuid(), os.getgid(), "", str(made), "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: entry)
    return made


def write(path: Path, value: Any) -> None:
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def budget(home: Path, root: Path | None = None) -> int:
    settings, broken = config.load(str(home), str(root) if root else "")
    assert not broken
    return int(settings["tell.startBudget"])


# --- places -----------------------------------------------------------------------------------------------------------


@rows("environ", "place")
def test_where_everything_is_kept(environ: dict[str, str], place: str) -> None:
    assert config.find_home(environ) == place


def test_a_relative_home_would_lie_in_whatever_project_sets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert config.find_home({**HOME, "MEMORY_KEEPER_HOME": "mine"}) == "/home/me/.local/share/memory-keeper"


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_the_user_s_entry_says_it(environ: dict[str, str]) -> None:
    place = config.find_home(environ)
    assert place.startswith("/")
    assert place.endswith("/.local/share/memory-keeper")


def test_the_environment_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD", os.fsdecode(b"\xff"))
    environ = config.environment()
    assert environ == dict(os.environ)


# --- settings ---------------------------------------------------------------------------------------------------------


def test_defaults_hold(home: Path, root: Path) -> None:
    assert budget(home, root) == DEFAULTS["tell.startBudget"]


def test_the_nearest_file_wins(home: Path, root: Path) -> None:
    write(home / "config.json", {"tell": {"startBudget": 1}})
    assert budget(home, root) == 1
    write(root / ".claude/memory-keeper.json", {"tell": {"startBudget": 2}})
    assert budget(home, root) == 2
    write(root / ".claude/memory-keeper.local.json", {"tell": {"startBudget": 3}})
    assert budget(home, root) == 3
    assert budget(home) == 1


def test_defaults_are_not_changed(home: Path) -> None:
    before = json.dumps(DEFAULTS)
    write(home / "config.json", {"tell": {"startBudget": 1}})
    config.load(str(home))
    assert json.dumps(DEFAULTS) == before


@pytest.mark.parametrize(("enabled", "mode"), [(True, "clear"), (False, "supplement")])
def test_compaction_switched_off_leaves_contexts_to_the_host(home: Path, enabled: bool, mode: str) -> None:
    write(home / "config.json", {"compaction": {"mode": "clear", "enabled": enabled}})
    assert config.load(str(home))[0]["compaction.mode"] == mode


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "7", '"x"', "{" * 100_000, '{"tell":' + "9" * 5000 + "}", "\0"]
)
def test_a_broken_file_is_named_left_alone_and_costs_nothing(home: Path, text: str) -> None:
    write(home / "config.json", text)
    settings, broken = config.load(str(home))
    assert broken == [str(home / "config.json")]
    assert settings == DEFAULTS
    assert (home / "config.json").read_text() == text


@pytest.mark.parametrize("value", ["1500", 1.5, True, None, [], {}, {"startBudget": 1}])
def test_a_value_of_the_wrong_type_is_ignored(home: Path, value: Any) -> None:
    write(home / "config.json", {"tell": {"startBudget": value}})
    assert budget(home) == DEFAULTS["tell.startBudget"]


def test_what_is_unknown_is_ignored(home: Path, root: Path) -> None:
    """A cloned repository can name no program, address or path: there is no such setting to set."""
    hostile = {"tell": {"command": "x", "startBudget": 700}, "run": {"program": "/bin/sh"}, "url": "http://x", "a": [1]}
    write(root / ".claude/memory-keeper.json", hostile)
    settings, broken = config.load(str(home), str(root))
    assert not broken
    assert settings == {**DEFAULTS, "tell.startBudget": 700}


def test_only_regular_files_are_read(home: Path, root: Path, tmp_path: Path) -> None:
    """RT24: not through a link, and not from anything that would keep us waiting."""
    write(tmp_path / "secret.json", {"tell": {"startBudget": 9}})
    (root / ".claude/memory-keeper.json").symlink_to(tmp_path / "secret.json")
    os.mkfifo(root / ".claude/memory-keeper.local.json")
    (home / "config.json").mkdir()
    settings, _ = config.load(str(home), str(root))
    assert settings == DEFAULTS
    assert config.read_small("/dev/zero") is None
    assert config.read_small(str(tmp_path / "none")) is None
    assert config.read_small(str(root / ".claude/memory-keeper.local.json")) is None


@pytest.mark.parametrize("link", [".claude", ".claude/memory"])
def test_no_part_of_the_way_is_a_link(home: Path, root: Path, tmp_path: Path, link: str) -> None:
    """What a link leads to is no file of the project's."""
    name = "memory-keeper.json" if link == ".claude" else "config.json"
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "elsewhere" / name, {"tell": {"startBudget": 900}})
    shutil.rmtree(root / link, ignore_errors=True)
    (root / link).symlink_to(tmp_path / "elsewhere")
    assert config.load(str(home), str(root))[0] == DEFAULTS
    (root / link).unlink()
    (tmp_path / "elsewhere").rename(root / link)
    assert config.load(str(home), str(root))[0]["tell.startBudget"] == 900


def test_a_huge_file_is_not_read_whole(home: Path) -> None:
    write(home / "config.json", '{"tell":{"startBudget":5}}' + " " * (4 << 20))
    settings, broken = config.load(str(home))
    assert (settings == DEFAULTS) == bool(broken)


# --- every setting ----------------------------------------------------------------------------------------------------

MODE, THRESHOLD = "compaction.mode", "compaction.triggers.sessionTokens.threshold"


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    """Claude Code's own folder."""
    made = tmp_path / "home/.claude"
    made.mkdir(parents=True)
    return made


def origins(home: Path, root: Path, environ: dict[str, str]) -> list[str]:
    return [origin for origin, given in config.layers(str(home), str(root), environ) if given]


def test_nested_and_dotted_names_are_the_same(home: Path) -> None:
    for given in ({"compaction": {"triggers": {"sessionTokens": {"threshold": 30_000}}}}, {THRESHOLD: 30_000}):
        write(home / "config.json", given)
        assert config.load(str(home))[0] == {**DEFAULTS, THRESHOLD: 30_000}


def test_names_nested_for_ever_end(home: Path) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = {"a": deep}
    write(home / "config.json", {"compaction": deep, "tell": {"startBudget": 7}})
    assert config.load(str(home))[0] == {**DEFAULTS, "tell.startBudget": 7}


def test_the_order_of_all_layers(home: Path, root: Path, claude: Path) -> None:
    """The user's own, the project's, the environment: each wins over those before it."""
    environ = {"HOME": str(claude.parent)}
    places = [home / "config.json", root / ".claude/memory-keeper.json", root / ".claude/memory-keeper.local.json"]
    for number, place in enumerate(places, 1):
        write(place, {"tell": {"startBudget": 900 + number}})
        assert config.load(str(home), str(root), environ)[0]["tell.startBudget"] == 900 + number
    environ[variable("tell.startBudget")] = "950"
    assert config.load(str(home), str(root), environ)[0]["tell.startBudget"] == 950
    assert origins(home, root, environ) == [*map(str, places), variable("tell.startBudget")]


def test_the_predecessor_s_names_mean_the_same(home: Path, root: Path) -> None:
    """Its rotation happened at 95 % of the number; our own name says the number plainly, and wins."""
    old = {
        "saveInterval": 10,
        "memoryRotation": {"thresholdTokens": 25_000, "carryoverTokens": 2_500},
        "quietStop": True,
    }
    (root / ".claude/memory").mkdir()
    write(root / ".claude/memory/config.json", old)
    found = config.load(str(home), str(root))[0]
    assert [found[f"reduce.{name}"] for name in ("saveInterval", "memoryTokens", "carryOverTokens")] == [
        10,
        23750,
        2375,
    ]
    write(root / ".claude/memory-keeper.json", {**old, "reduce": {"saveInterval": 7}, "memoryRotation": "much"})
    found = config.load(str(home), str(root))[0]
    assert (found["reduce.saveInterval"], found["reduce.memoryTokens"]) == (7, 23750)


def test_what_is_the_user_s_comes_from_the_user_alone(home: Path, root: Path, claude: Path) -> None:
    """A cloned repository clears nobody's context and silences nobody's warning, by no file of ours or the host's."""
    hostile = {"compaction": {"mode": "clear"}, "context": {"warnings": False, "criticalTokens": 20_000}}
    variables = {variable(key): "clear" for key in (MODE,)} | {variable("context.warnings"): "off"}
    for name in ("settings.json", "settings.local.json"):
        write(root / ".claude" / name, {**hostile, "env": variables})
    for name in ("memory-keeper.json", "memory-keeper.local.json"):
        write(root / ".claude" / name, hostile)
    environ = {"HOME": str(claude.parent), **variables}
    assert config.load(str(home), str(root), environ)[0] == DEFAULTS
    write(claude / "settings.json", {"compaction": {"mode": "block"}})
    assert config.load(str(home), str(root), environ)[0][MODE] == "block"
    write(home / "config.json", {"compaction": {"mode": "clear"}})
    assert config.load(str(home), str(root), environ)[0][MODE] == "clear"
    write(home / "config.json", {"compaction": {"mode": "clear"}, "projects": {str(root): {MODE: "supplement"}}})
    assert config.load(str(home), str(root), environ)[0][MODE] == "supplement"
    assert config.load(str(home), "/elsewhere", environ)[0][MODE] == "clear"


def test_a_folder_of_the_project_sets_no_more_than_its_root(home: Path, root: Path, claude: Path) -> None:
    """A session may begin in a folder that brings settings of its own, and say that those are the user's."""
    folder = root / "part"
    (folder / ".claude").mkdir(parents=True)
    for given in ({variable(MODE): "clear"}, {"CLAUDE_CONFIG_DIR": str(folder / ".claude")}):
        write(folder / ".claude/settings.json", {"env": given, "compaction": {"mode": "clear"}})
        environ = {"HOME": str(claude.parent), "CLAUDE_PROJECT_DIR": str(folder), **given}
        assert config.load(str(home), str(root), environ)[0] == DEFAULTS
    write(root / ".claude/settings.json", {"env": given, "compaction": {"mode": "clear"}})
    environ = {"HOME": str(claude.parent), "CLAUDE_CONFIG_DIR": str(root / ".claude")}
    write(root / ".claude/settings.json", {"env": {"CLAUDE_CONFIG_DIR": "x"}, "compaction": {"mode": "clear"}})
    assert config.load(str(home), str(root), environ)[0] == DEFAULTS


def test_no_project_says_where_the_user_s_home_is(home: Path, root: Path, claude: Path, account: Path) -> None:
    """Then its own settings would be those of somebody who works in their home."""
    given = {"HOME": str(root), variable(MODE): "clear", "PATH": str(root)}
    write(root / ".claude/settings.json", {"env": given, "compaction": {"mode": "clear"}})
    folder = root / "part"
    (folder / ".claude").mkdir(parents=True)
    write(folder / ".claude/settings.json", {"env": given, "compaction": {"mode": "clear"}})
    for project in (root, folder):
        for place in (root, claude.parent, folder):
            environ = {**given, "HOME": str(place), "CLAUDE_PROJECT_DIR": str(project)}
            assert config.load(str(home), str(root), environ)[0] == DEFAULTS
            left = config.own_environ(environ, str(root))
            assert set(left) == {"HOME", "PATH", "CLAUDE_PROJECT_DIR"}
            assert (left["HOME"], left["PATH"]) == (str(account), "/bin:/usr/bin")


def test_who_works_in_their_home_has_settings_of_their_own_there(home: Path, claude: Path, tmp_path: Path) -> None:
    """By whatever name the home goes."""
    given = {variable(MODE): "clear", "ANTHROPIC_API_KEY": "k"}
    write(claude / "settings.json", {"env": given})
    (tmp_path / "link").symlink_to(claude.parent)
    for place in (claude.parent, tmp_path / "link"):
        environ = {"HOME": str(place), **given}
        for root in (claude.parent, place):
            assert config.load(str(home), str(root), environ)[0][MODE] == "clear"
            assert config.own_environ(environ, str(root)) == environ
    elsewhere = {**given, "HOME": "/elsewhere"}
    assert config.load(str(home), str(claude.parent), elsewhere)[0][MODE] == "supplement"
    assert config.own_environ(elsewhere, str(claude.parent)) == {"HOME": "/elsewhere"}


def test_a_project_beneath_the_host_s_folder_is_a_project(home: Path, claude: Path) -> None:
    root = claude / "plugins/app"
    (root / ".claude").mkdir(parents=True)
    write(root / ".claude/settings.json", {"compaction": {"mode": "clear"}})
    assert config.load(str(home), str(root), {"HOME": str(claude.parent)})[0] == DEFAULTS


def test_the_user_s_own_file_of_the_host_is_read_whatever_a_project_says(home: Path, root: Path, account: Path) -> None:
    write(account / ".claude/settings.json", {"compaction": {"mode": "block"}})
    for given in ({"HOME": str(root)}, {"HOME": str(root), "CLAUDE_CONFIG_DIR": str(root / ".claude")}):
        write(root / ".claude/settings.json", {"env": given, "compaction": {"mode": "clear"}})
        assert config.load(str(home), str(root), given)[0][MODE] == "block"
        assert config.load(str(home), str(root), given, config.claude_settings(str(root), given))[0][MODE] == "block"


@pytest.mark.parametrize("way", ["link", "mark", "size", "comment"])
def test_settings_that_we_could_not_read_but_the_host_does_set_nothing_either(
    home: Path, root: Path, claude: Path, tmp_path: Path, way: str
) -> None:
    """The host follows links and takes a byte order mark; a file that we cannot make out may set anything."""
    given = {variable(MODE): "clear", "MEMORY_KEEPER_HOME": str(tmp_path / "elsewhere")}
    settings, text = root / ".claude/settings.json", json.dumps({"env": given})
    if way == "link":
        (root / "real.json").write_text(text)
        settings.symlink_to(root / "real.json")
    else:
        before, after = {"mark": ("\ufeff", ""), "size": ("", " " * (5 << 20)), "comment": ("// x\n", "")}[way]
        settings.write_text(before + text + after)
    environ = {"HOME": str(claude.parent), "CLAUDE_PROJECT_DIR": str(root), **given}
    assert config.load(str(home), str(root), environ)[0] == DEFAULTS
    assert config.find_home(environ) == f"{claude.parent}/.local/share/memory-keeper"


@pytest.mark.parametrize("place", ["/./proc/self/cwd/.mk", "//proc/self/cwd/.mk", "{}/../{}/.mk", "~/project/.mk"])
def test_a_home_inside_the_project_by_whatever_way_is_none(
    root: Path, claude: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    inside = claude.parent / "project"
    inside.mkdir()
    monkeypatch.chdir(inside)
    given = place.format(inside, inside.name)
    environ = {"HOME": str(claude.parent), "CLAUDE_PROJECT_DIR": str(inside), "MEMORY_KEEPER_HOME": given}
    assert config.find_home(environ) == f"{claude.parent}/.local/share/memory-keeper"


@pytest.mark.parametrize("inside", ["CLAUDE_PROJECT_DIR", "CLAUDECODE"])
def test_no_variable_says_in_claude_code_what_is_sent_where(home: Path, root: Path, inside: str) -> None:
    environ = {"HOME": "/none", variable("summarize.url"): "https://elsewhere.example"}
    assert config.load(str(home), str(root), environ)[0]["summarize.url"]
    assert not config.load(str(home), str(root), {**environ, inside: str(root)})[0]["summarize.url"]


def test_a_variable_of_the_user_s_own_counts(home: Path, root: Path) -> None:
    environ = {"HOME": "/none", variable(MODE): "clear"}
    assert config.load(str(home), str(root), environ)[0][MODE] == "clear"


@pytest.mark.parametrize("value", [10**12, -1, int("9" * 4000)])
def test_a_number_beyond_all_measure_is_ignored(home: Path, root: Path, value: int) -> None:
    for place in (home / "config.json", root / ".claude/memory-keeper.json"):
        write(place, {"tell": {"startBudget": value, "handoffBudget": value}})
    environ = {"HOME": "/none", variable("tell.startBudget"): "9" * 5000}
    assert config.load(str(home), str(root), environ)[0] == DEFAULTS


@pytest.mark.parametrize("name", ["MEMORY_KEEPER_HOME", "XDG_DATA_HOME"])
@rows("path")
def test_no_project_moves_the_home_into_itself(name: str, path: str) -> None:
    environ = {**HOME, "CLAUDE_PROJECT_DIR": "/code/app", name: path}
    assert config.find_home(environ) == "/home/me/.local/share/memory-keeper"


def test_no_project_moves_the_user_s_home_into_itself(root: Path, tmp_path: Path, account: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    for place in (root, root / "part", f"{root}/../{root.name}", f"/{root}", tmp_path / "link"):
        write(root / ".claude/settings.json", {"env": {"HOME": str(place)}})
        environ = {"HOME": str(place), "CLAUDE_PROJECT_DIR": str(root)}
        assert config.find_home(environ) == f"{account}/.local/share/memory-keeper"
        write(root / ".claude/settings.json", {"env": {}})
        assert config.find_home(environ) == f"{place}/.local/share/memory-keeper"


def test_what_is_in_the_user_s_home_is_there_from_wherever_it_is_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    environ = {**HOME, "CLAUDE_PROJECT_DIR": str(root), "MEMORY_KEEPER_HOME": "~/mine"}
    assert config.find_home(environ) == "/home/me/mine"
    assert config.find_home({"HOME": "/", "CLAUDE_PROJECT_DIR": str(root)}) == "/.local/share/memory-keeper"


def test_who_works_in_their_home_keeps_it_there() -> None:
    environ = {**HOME, "CLAUDE_PROJECT_DIR": "/home/me", "MEMORY_KEEPER_HOME": "/home/me/kept"}
    assert config.find_home(environ) == "/home/me/kept"


def test_only_the_compaction_block_of_claude_code_s_settings_is_read(home: Path, root: Path, claude: Path) -> None:
    write(claude / "settings.json", {"tell": {"startBudget": 9}, "compaction": {"mode": "block"}, "env": {}})
    environ = {"HOME": str(claude.parent)}
    assert config.load(str(home), str(root), environ)[0] == {**DEFAULTS, MODE: "block"}


@pytest.mark.parametrize("text", ["{", "[]", '{"compaction": 5}', '{"compaction": {"mode": 5}}'])
def test_a_broken_file_of_claude_code_s_is_its_own_to_complain_about(home: Path, root: Path, text: str) -> None:
    write(root / ".claude/settings.json", text)
    assert config.load(str(home), str(root), {"HOME": "/none"}) == (DEFAULTS, [])


@rows("key", "said", "value")
def test_the_environment_is_read_as_the_setting_s_type(home: Path, key: str, said: str, value: object) -> None:
    settings, broken = config.load(str(home), environ={"HOME": "/none", variable(key): said})
    assert (settings[key], broken) == (value, [])


def test_what_the_host_says_of_its_own_switch(claude: Path, root: Path) -> None:
    environ = {"HOME": str(claude.parent)}
    assert config.claude_settings(str(root), environ) == []
    write(claude.parent / ".claude.json", {"autoCompactEnabled": False, "history": ["x"]})
    write(root / ".claude/settings.json", {"autoCompactWindow": 200_000})
    assert [given for _, given in config.claude_settings(str(root), environ)] == [
        {"autoCompactEnabled": False},
        {"autoCompactWindow": 200_000},
    ]


def test_the_host_s_folder_may_be_elsewhere(tmp_path: Path) -> None:
    environ = {"HOME": "/none", "CLAUDE_CONFIG_DIR": str(tmp_path)}
    write(tmp_path / ".claude.json", {"autoCompactEnabled": True})
    write(tmp_path / "settings.json", {"autoCompactWindow": 200_000})
    assert [path for path, _ in config.claude_settings("", environ)] == [
        str(tmp_path / ".claude.json"),
        str(tmp_path / "settings.json"),
    ]


@pytest.mark.parametrize("text", ["{", '{"autoCompactEnabled": "no"}', '"autoCompactEnabled"', ""])
def test_a_switch_that_says_nothing(claude: Path, text: str) -> None:
    write(claude.parent / ".claude.json", text)
    assert config.claude_settings("", {"HOME": str(claude.parent)}) == []
