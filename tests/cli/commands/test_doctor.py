"""`doctor`: what is wrong is said, what can be repaired is repaired, and nothing is lost or doubled by it."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

import pytest

from memory_keeper.host.registration import assemble
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import render
from memory_keeper.store import spool
from memory_keeper.store.home import Lock
from memory_keeper.store.sqlite import SqliteStore
from tests.command import run
from tests.transcripts import SESSION, session

PAGE = 4096


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    return tmp_path / "keeper"


def checks(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, list[dict[str, Any]]]:
    """What the doctor says, by check."""
    capsys.readouterr()
    run("doctor", "--json", *argv)
    said: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(capsys.readouterr().out)["checks"]:
        said.setdefault(one["check"], []).append(one)
    return said


def test_a_failure_of_a_hook_that_named_none_is_told_as_that(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.mkdir()
    (home / "problems.log").write_text(json.dumps({"at": time(), "in": "", "problem": "ValueError"}) + "\n")
    (told,) = checks(capsys, "--home", str(home))["hooks"]
    assert "in a hook without a name: ValueError" in json.dumps(told)


# --- a store that is damaged ---


@pytest.fixture
def transcripts(private_home: Path) -> Path:
    """A session with a subagent and a fork, and lines that have no id of their own."""
    folder = private_home / ".claude/projects/-home-dev-uploader"
    main = session(turns=4)
    main.summary("What came before.")
    main.request()
    main.request()
    agent = main.subagent("a1b2c3")
    agent.reply("Nothing else calls it.")
    agent.request()
    fork = main.fork("f0000000-0000-4000-8000-000000000002")
    fork.prompt("And now the other way.")
    for one in (main, agent, fork):
        one.write(folder / one.name)
    for number, one in enumerate((main, agent, fork)):
        os.utime(folder / one.name, (1e9 + number, 1e9 + number))
    return folder


def kept(home: Path) -> dict[str, Any]:
    """All that a store has of transcripts, in words that do not depend on how it got there."""
    store = SqliteStore(str(home / "store.db"), write=False)
    try:
        ask = store.db.execute
        return {
            "events": ask("select id, at, kind, session, project, agent, text from event order by id").fetchall(),
            "sessions": sorted(one[:5] for one in store.sessions(limit=100)),
            "usage": ask("select * from usage order by message").fetchall(),
            "problems": store.problems(),
        }
    finally:
        store.close()


def garbage(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"no database at all " * 10)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // PAGE // 2 * PAGE + 100)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def overwrite(tenth: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        pages = path.stat().st_size // PAGE
        with path.open("r+b") as file:
            file.seek(pages * tenth // 10 * PAGE)
            file.write(bytes((n * 37 + 11) % 251 for n in range(PAGE)))

    return damage


@pytest.mark.parametrize(
    "damage",
    [garbage, cut, empty, Path.unlink, *map(overwrite, range(10))],
    ids=["header", "cut", "empty", "gone", *(f"page{n}" for n in range(10))],
)
def test_a_damaged_store_is_made_anew(
    home: Path, transcripts: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("import", "transcripts", str(transcripts)) == 0
    before = kept(home)
    assert len(before["events"]) > 50
    assert len(before["sessions"]) == 2
    damage(home / "store.db")
    assert checks(capsys)["store"][0]["verdict"] == "FAIL"
    said = checks(capsys, "--fix")
    assert said["store"][0]["verdict"] == "OK", said
    assert kept(home) == before
    assert len(list(home.glob("damaged-*/archive/*.gz"))) == 3  # aside, never away
    assert checks(capsys, "--fix")["store"][0]["verdict"] == "OK", "once more changes nothing"
    assert run("import", "transcripts", "--json", str(transcripts)) == 0
    assert '"events_added": 0' in capsys.readouterr().out
    assert kept(home) == before


def test_the_archives_are_read_back_as_far_as_they_go(
    home: Path, transcripts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("import", "transcripts", str(transcripts))
    path = transcripts / f"{SESSION}.jsonl"
    more = session(turns=6).raw()[len(session(turns=4).raw()) :]
    with path.open("ab") as file:
        file.write(more)
    run("import", "transcripts", str(transcripts))
    (archive,) = home.glob(f"archive/{SESSION}.[0-9]*.gz")
    whole = kept(home)["events"]
    with archive.open("r+b") as file:
        file.seek(40)
        file.write(b"\xff" * 40)  # in the first of its two members
    with archive.open("ab") as file:
        file.write(gzip.compress(b'{"cut": "short"}\n' * 9)[:15])  # whoever wrote it died
    garbage(home / "store.db")
    run("doctor", "--fix")
    known = {one[0]: one[4] for one in whole}
    after = {one[0]: one[4] for one in kept(home)["events"]}
    assert after.items() < known.items()  # the first member is lost, but what the fork has of it
    assert json.loads(more.splitlines()[-1])["uuid"] + ":0" in after  # from the second member
    run("import", "transcripts", str(transcripts))
    assert [one[0] for one in kept(home)["events"]] == [one[0] for one in whole]


@pytest.mark.git
def test_what_no_transcript_has_is_carried_over(machine: Any, capsys: pytest.CaptureFixture[str]) -> None:
    one = machine.session()
    one.start()
    one.turn("Keep this.", "Kept.")
    one.end()
    machine.settle()
    machine.catch_up()
    shutil.rmtree(machine.home / "spool")
    before = kept(machine.home)
    assert {"start", "end"} <= {row[2] for row in before["events"]}
    garble(machine.home)
    assert checks(capsys)["store"][0]["verdict"] == "FAIL"
    run("doctor", "--fix")
    assert kept(machine.home)["events"] == before["events"]


def test_notes_survive_a_store_that_is_made_again(home: Path, transcripts: Path) -> None:
    """What was covered, by what, in whose words: no transcript says it. A note that lost an event is written anew, and
    what a person said of it stays."""
    run("import", "transcripts", str(transcripts))
    store = SqliteStore(str(home / "store.db"))
    (project,) = {project for project, _ in store.open_tokens()}
    first, *_ = store.notes(project, 1)
    mine = first._replace(id="mine", text="My own words.", replaces=first.id, who="user")
    standing = first._replace(id="standing", kind="conventions", level=0, text="Tabs.", who="user")
    for note in (mine, standing):
        store.add(note)
    before = {note.id: (note, store.children(note.id)) for note in store.notes(project)}
    store.close()
    garble(home)
    run("doctor", "--fix")
    store = SqliteStore(str(home / "store.db"))
    assert {note.id: (note, store.children(note.id)) for note in store.notes(project)} == before
    store.db.execute("update note set text = 'rotten' where id = ?", (first.id,))
    store.close()
    for aside in home.glob("damaged-*"):
        shutil.rmtree(aside)  # else it is found there
    run("doctor", "--fix")
    store = SqliteStore(str(home / "store.db"))
    assert {note.text for note in store.notes(project) if note.who} == {"My own words.", "Tabs."}
    assert store.note(first.id) is None
    store.close()


@pytest.mark.parametrize("pages", [0, 1], ids=["all of it", "but its first page"])
def test_what_was_written_by_hand_comes_back(
    installed: Path, home: Path, transcripts: Path, pages: int, capsys: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    """From the damaged file, where only its first page is gone; else from the pages of the project. What stood on none
    is lost, and that is said."""
    put_claude(monkeypatch, tmp_path)
    run("import", "transcripts", str(transcripts))
    run("note", "add", "conventions", "Tabs, not spaces.")
    run("note", "add", "decision", "We stay with SQLite.")
    run("task", "add", "Write the parser.")
    with Keeper(str(home)) as keeper:
        project = keeper.project(str(Path.cwd()))
        add_rule(keeper, project, "Never push on Fridays.")
        before = {note.text for note in keeper.store.notes(project, 0)}
        render(Pages(keeper, project, str(Path.cwd())))
    damaged = bytes(PAGE) if pages else bytes((home / "store.db").stat().st_size)
    with (home / "store.db").open("r+b") as file:
        file.write(damaged)
    capsys.readouterr()
    assert run("doctor", "--fix") == 5
    said = " ".join(capsys.readouterr().out.split())
    assert "Not restored: notes, rules and tasks that could not be read there and stand on no page" in said
    (aside,) = home.glob("damaged-*/store.db")
    assert aside.read_bytes().startswith(damaged)
    with Keeper(str(home)) as keeper:
        after = {note.text for note in keeper.store.notes(project, 0)}
    assert before >= after >= ({"Tabs, not spaces.", "Never push on Fridays."} if not pages else before)
    assert run("doctor", "--fix") == 0, "once more changes nothing"


def garble(home: Path) -> None:
    """A bit flips in a text."""
    db = sqlite3.connect(home / "store.db")
    db.execute("update event set text = 'something else' where kind = 'reply'")
    db.commit()
    db.close()


def test_a_broken_search_index_is_made_again(home: Path, transcripts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("import", "transcripts", str(transcripts))
    before = kept(home)
    db = sqlite3.connect(home / "store.db")
    db.execute("insert into event_words (event_words) values ('delete-all')")
    db.commit()
    db.close()
    assert checks(capsys)["search index"][0]["verdict"] == "FAIL"
    assert checks(capsys, "--fix")["search index"][0]["verdict"] == "OK"
    assert not list(home.glob("damaged-*"))
    assert kept(home) == before


# --- the home ---


def test_a_lock_that_is_a_folder(home: Path, transcripts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("import", "transcripts", str(transcripts))
    (home / "writer.lock").unlink()
    (home / "writer.lock").mkdir()
    (said,) = checks(capsys)["store"]
    assert said["verdict"] == "FAIL"
    assert "writer.lock is not a file" in said["said"]
    assert run("doctor", "--fix") == 1
    assert "writer.lock is not a file" in capsys.readouterr().err


def test_somebody_else_who_writes_is_no_failure(
    installed: Path, home: Path, transcripts: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_claude(monkeypatch, tmp_path)
    monkeypatch.setattr("memory_keeper.cli.commands.doctor.PATIENCE", 0.1)
    run("import", "transcripts", str(transcripts))
    with Lock(str(home), 1.0):
        said = checks(capsys)
        assert run("doctor") == 0
    assert said["search index"][0]["verdict"] == "WARN"
    assert said["search index"][0]["said"].startswith("busy")


def test_permissions(home: Path, transcripts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("import", "transcripts", str(transcripts))
    for name in ("config.json", "notes-of-mine.txt"):
        (home / name).write_text("{}")
        (home / name).chmod(0o644)
    (home / "spool").symlink_to(tmp_path)
    assert checks(capsys)["permissions"][0]["verdict"] == "OK"
    (home / "salt").chmod(0o644)
    (home / "archive").chmod(0o755)
    (said,) = checks(capsys)["permissions"]
    assert said["verdict"] == "FAIL"
    assert said["said"] == f"others may get at {home / 'archive'} and 1 more"
    assert checks(capsys, "--fix")["permissions"][0]["verdict"] == "OK"
    assert (home / "config.json").stat().st_mode & 0o777 == 0o644
    home.chmod(0o755)
    assert str(home) in checks(capsys)["permissions"][0]["said"]


# --- whether anything is captured ---


@pytest.fixture
def installed(home: Path, private_home: Path) -> Path:
    """The plugin, registered; the folder it is in."""
    home.mkdir()
    where = Path(assemble(str(home)))
    known = private_home / ".claude/plugins/installed_plugins.json"
    known.parent.mkdir(parents=True)
    known.write_text(json.dumps({"plugins": {"memory-keeper@memory-keeper": [{"installPath": str(where)}]}}))
    return where


def put_claude(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A `claude` on the PATH, whatever it does."""
    program = tmp_path / "bin/claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def test_without_claude_code_or_the_plugin_it_does_not_work(
    request: pytest.FixtureRequest, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_claude(monkeypatch, tmp_path)
    assert run("doctor") == 1 and "not registered" in capsys.readouterr().out
    request.getfixturevalue("installed")
    assert run("doctor") == 0
    monkeypatch.setenv("PATH", "/nowhere")
    capsys.readouterr()
    assert run("doctor") == 1 and "`claude` is not on the PATH" in capsys.readouterr().out


@pytest.mark.git
def test_a_home_of_a_bot_needs_no_plugin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    bots, call = str(tmp_path / "bots"), spool.new_call()
    spool.append(bots, "s1", spool.make("Thread", call, time(), str(tmp_path), source="anna"))
    with Keeper(bots) as keeper:
        keeper.catch_up()
    found = checks(capsys, "--home", bots)
    assert [one["verdict"] for one in found["plugin"]] == ["OK"] and "Claude Code" not in found
    assert {one["verdict"] for one in checks(capsys)["plugin"]} == {"FAIL"}


def test_the_launcher_is_tried(installed: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = checks(capsys)
    assert said["plugin"][0]["verdict"] == "OK"
    assert said["launcher"][0]["verdict"] == "OK", said
    assert said["settings"][0]["verdict"] == "OK"
    assert not (home / "spool").exists()


@pytest.mark.parametrize("script", ["exit 0", "exit 3", None])
def test_a_launcher_that_does_not_work(installed: Path, script: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    launch = installed / "plugin/launch"
    launch.unlink()
    if script:
        launch.write_text(f"#!/bin/sh\n{script}\n")
        launch.chmod(0o755)
    assert checks(capsys)["launcher"][0]["verdict"] == "FAIL"


OFF = {"enabledPlugins": {"memory-keeper@memory-keeper": False}}
ON = {"enabledPlugins": {"memory-keeper@memory-keeper": True}}


@pytest.mark.parametrize(
    ("user", "project", "local", "verdict"),
    [
        (ON, {}, {}, "OK"),
        (OFF, {}, {}, "WARN"),
        (ON, OFF, {}, "WARN"),
        (ON, {}, OFF, "WARN"),
        (OFF, {}, ON, "OK"),
        ({"disableAllHooks": True}, ON, {}, "WARN"),
        ({}, {"disableAllHooks": True}, {}, "WARN"),
        ({}, {}, {"disableAllHooks": True}, "WARN"),
        ({"enabledPlugins": 3}, [], "x", "OK"),
    ],
)
def test_what_is_turned_off(
    installed: Path, private_home: Path, user: Any, project: Any, local: Any, verdict: str, capsys: Any
) -> None:
    Path(".git").mkdir()
    Path(".claude").mkdir()
    (private_home / ".claude/settings.json").write_text(json.dumps(user))
    Path(".claude/settings.json").write_text(json.dumps(project))
    Path(".claude/settings.local.json").write_text(json.dumps(local))
    assert [one["verdict"] for one in checks(capsys)["settings"]] == [verdict]


def test_settings_of_ours_that_cannot_be_read(installed: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".claude").mkdir()
    (home / "config.json").write_text("{oops")
    Path(".claude/memory-keeper.json").write_text("[")
    said = checks(capsys)["settings"]
    assert [one["verdict"] for one in said] == ["WARN", "WARN"]
    assert str(home / "config.json") in said[0]["said"]


def test_settings_that_are_a_pipe_keep_nobody_waiting(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "claude"
    folder.mkdir()
    os.mkfifo(folder / "settings.json")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    assert "settings" in checks(capsys, "--home", str(home))
