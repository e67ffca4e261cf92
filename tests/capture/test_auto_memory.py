"""Claude Code's own memory: kept as it changes, searchable, never touched, and in nobody's way."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memory_keeper.capture.auto_memory import FILES, LARGEST, find_folders, read_changed
from memory_keeper.keeper import RECENT, Keeper
from memory_keeper.model import Event, Source
from memory_keeper.search import find
from memory_keeper.store.events import newest_id
from tests.machine import Machine, Session


def remember(session: Session, text: str, name: str = "MEMORY.md") -> Path:
    """The model writes something down."""
    path = session.path.parent / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def kept(machine: Machine) -> list[Event]:
    machine.catch_up()
    with Keeper(str(machine.home)) as keeper:
        return keeper.store.latest(keeper.project(str(machine.project)), "memory", 100)


def texts(machine: Machine) -> set[str]:
    return {event.text for event in kept(machine)}


def test_what_it_remembers_is_kept_when_a_session_begins_and_when_it_ends(machine: Machine) -> None:
    session = machine.session()
    remember(session, "Tests need a running redis.")
    session.start()
    assert texts(machine) == {"Tests need a running redis."}
    remember(session, "Tests need redis 7.")
    session.end()
    machine.settle()
    assert texts(machine) == {"Tests need a running redis.", "Tests need redis 7."}
    with machine.store() as store:
        assert [hit.kind for hit in find(store, '"redis 7"')] == ["memory"]


def test_it_is_not_touched_and_not_told(machine: Machine) -> None:
    session = machine.session()
    path = remember(session, "Tests need a running redis.")
    before = path.stat().st_mtime_ns, path.read_bytes()
    session.start()
    session.turn("Build the parser.", "Built.")
    session.end()
    machine.settle()
    assert "redis" not in machine.session().start().text
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


def test_what_has_not_changed_is_not_read_again(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    session = machine.session()
    path = remember(session, "Tests need a running redis.")
    session.start()
    machine.catch_up()
    with Keeper(str(machine.home)) as keeper:
        assert list(read_changed(str(path.parent), keeper.store.source)) == []
        os.utime(path, (1, 1))
        assert [one.text for one in read_changed(str(path.parent), keeper.store.source)] == [path.read_text()]
    session.end()
    assert len(kept(machine)) == 1, "the same words are one event"


def test_it_disturbs_neither_sessions_nor_transcripts(machine: Machine) -> None:
    session = machine.session()
    path = remember(session, "Tests need a running redis.\n" * 40)
    session.start()
    session.turn("Build the parser.", "Built.")
    session.end()
    machine.settle()
    machine.catch_up()
    with Keeper(str(machine.home)) as keeper:
        project = keeper.project(str(machine.project))
        last = keeper.store.last_moment(session.id)
        assert [one.id for one in keeper.store.sessions(project, 10)] == [session.id]
        assert [one.path for one in keeper.store.recent_sources(project, RECENT)] == [str(session.path)]
        assert {one.session for one in keeper.store.open_sessions(project)} <= {session.id}
        path.write_text("Shorter.")
        path.with_name("new.md").write_text("And more of it.\n" * 100)
        assert keeper.behind(project) is None
        assert keeper.store.last_moment(session.id) == last
        assert newest_id(keeper.store, session.id)


def test_secrets_are_left_out(machine: Machine) -> None:
    session = machine.session()
    key = "sk-ant-" + "api03-" + "aZ9" * 20
    remember(session, f"The key is {key}.")
    session.start()
    (text,) = texts(machine)
    assert key not in text
    assert "<REDACTED:" in text


@pytest.mark.parametrize("room", [10, 25, 39])
def test_a_secret_where_the_text_is_cut_is_seen_whole(machine: Machine, room: int) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    words = "word " * LARGEST
    session = machine.session()
    for name, size in (("once.md", LARGEST), ("twice.md", 2 * LARGEST)):
        remember(session, f"{name} {words}"[: size - room - 1] + " " + token + " " + words, name)
    key = "RSA PRIVATE KEY-----\n"
    block = f"-----BEGIN {key}" + "MIIEpAIBAAKCAQEA0Z3VS5JJcds3\n" * 3000 + f"-----END {key}"
    remember(session, (block + words)[: 2 * LARGEST - room - 1] + " " + token + " " + words, "shrinks.md")
    session.start()
    found = texts(machine)
    assert len(found) == 3
    assert not [text for text in found if token[:8] in text]
    assert max(map(len, found)) <= LARGEST


def test_links_and_what_is_no_file_are_left_alone(machine: Machine) -> None:
    session = machine.session()
    path = remember(session, "Mine.")
    secret = machine.root / "elsewhere.md"
    secret.write_text("Not for you.")
    (path.parent / "link.md").symlink_to(secret)
    os.mkfifo(path.parent / "pipe.md")
    (path.parent / "folder.md").mkdir()
    (path.parent / "notes.txt").write_text("No Markdown.")
    session.start()
    assert texts(machine) == {"Mine."}


def test_a_folder_that_is_a_link_is_left_alone(machine: Machine) -> None:
    session = machine.session()
    elsewhere = machine.folder("elsewhere")
    (elsewhere / "MEMORY.md").write_text("Not for you.")
    session.path.parent.mkdir(parents=True)
    (session.path.parent / "memory").symlink_to(elsewhere)
    session.start()
    assert texts(machine) == set()


def test_it_reads_so_much_and_no_more(machine: Machine) -> None:
    session = machine.session()
    for number in range(FILES + 10):
        remember(session, f"Number {number}.", f"a{number:03}.md")
    remember(session, "한" * LARGEST)
    session.start()
    found = texts(machine)
    assert len(found) == FILES
    assert max(map(len, found)) <= LARGEST
    assert any(text.startswith("한") for text in found), "the one that every session is told is among them"


def test_the_folder_of_the_user_s_settings(machine: Machine) -> None:
    own = machine.user / "my-memory"
    own.mkdir()
    (own / "MEMORY.md").write_text("From my own folder.")
    (machine.user / ".claude").mkdir(exist_ok=True)
    (machine.user / ".claude/settings.json").write_text(json.dumps({"autoMemoryDirectory": "~/my-memory"}))
    session = machine.session()
    remember(session, "From the usual one.")
    session.start()
    assert texts(machine) == {"From my own folder."}


@pytest.mark.parametrize("said", ["{", "[]", '{"autoMemoryDirectory": 7}', '{"autoMemoryDirectory": "a/../b"}', '""'])
def test_odd_settings_mean_the_usual_folder(private_home: Path, said: str) -> None:
    (private_home / ".claude").mkdir()
    (private_home / ".claude/settings.json").write_text(said)
    found = find_folders("/h/projects/-p-src/s.jsonl", "/p", {"HOME": str(private_home)})
    assert found == ["/h/projects/-p-src/memory", "/h/projects/-p/memory"]


def test_a_project_cannot_choose_the_folder(machine: Machine) -> None:
    elsewhere = machine.folder("elsewhere")
    (elsewhere / "MEMORY.md").write_text("Not for you.")
    (machine.project / ".claude").mkdir()
    (machine.project / ".claude/settings.json").write_text(json.dumps({"autoMemoryDirectory": str(elsewhere)}))
    machine.session().start()
    assert texts(machine) == set()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for name in ("none", "a\0b"):
        assert list(read_changed(str(tmp_path / name), lambda path: Source(path, "", ""))) == []
