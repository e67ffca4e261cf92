"""An answer says when its files have changed since; what nobody can tell it does not say."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.capture.claude_code import fingerprint, read_line
from memory_keeper.model import Event, Source
from memory_keeper.search.staleness import LARGEST, State, changed, commit_of, moved_on, say
from tests.machine import Machine
from tests.rows import rows
from tests.search.workshop import Work, Workshop
from tests.transcripts import dump

SOURCE = Source("/t/s.jsonl", "s", "p")


def left(kept: object, failed: bool = False) -> dict[str, str]:
    """What capture keeps of a tool's structured result."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": "Done.", "is_error": failed}
    row = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": [block]}, "toolUseResult": kept}
    read = read_line(dump(row), SOURCE, 0, 1.0)
    assert read
    return json.loads(read.events[0].extra or "{}")  # type: ignore[no-any-return]


def edited(before: str, old: str, new: str, everywhere: bool = False, **more: object) -> dict[str, object]:
    about = {"filePath": "/p/a.py", "originalFile": before, "oldString": old, "newString": new}
    return {**about, "replaceAll": everywhere, "userModified": False, "structuredPatch": [], **more}


# --- what is kept -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kept", "content"),
    [
        ({"type": "create", "filePath": "/p/a.py", "content": "x = 1\n", "structuredPatch": []}, "x = 1\n"),
        (edited("x = 1\ny = 1\n", "1", "2"), "x = 2\ny = 1\n"),
        (edited("x = 1\ny = 1\n", "1", "2", True), "x = 2\ny = 2\n"),
        (edited("x = 1\ny = 1\n", "x = 1", ""), "y = 1\n"),
        (edited("", "", "x = 1\n"), "x = 1\n"),
        (
            {
                "filePath": "/p/a.py",
                "originalFileContents": "a b c",
                "edits": [
                    {"old_string": "a", "new_string": "x", "replace_all": False},
                    {"old_string": "x b", "new_string": "y", "replace_all": False},
                ],
            },
            "y c",
        ),
        (
            {
                "type": "text",
                "file": {"filePath": "/p/a.py", "content": "a\nb", "startLine": 1, "numLines": 2, "totalLines": 2},
            },
            "a\nb\n",
        ),
    ],
)
def test_a_result_keeps_the_hash_of_the_whole_file(kept: object, content: str) -> None:
    assert left(kept) == {"file": "/p/a.py", "hash": fingerprint(content)}


@pytest.mark.parametrize(
    "kept",
    [
        "Error: File has not been read yet.",
        None,
        [],
        {"stdout": "x", "stderr": ""},
        edited("x = 1", "no such", "2"),
        edited("x = 1", "1", "2", userModified=True),
        edited("x = 1", "", "2"),
        {**edited("x = 1", "1", "2"), "originalFile": None},
        {"filePath": 7, "content": "x"},
        {"filePath": "/p/a.py", "content": 7},
        {"filePath": "/p/.env", "content": "KEY=<REDACTED:api-key:ab12>\n"},
        edited("a" * 1000, "a", "b" * 100_000_000 if os.environ.get("MUCH_MEMORY") else "b" * 40_000, True),
        {"file": {"filePath": "/p/a.py", "content": "b", "startLine": 2, "numLines": 1, "totalLines": 2}},
        {"file": {"filePath": "/p/a.py", "content": "b", "startLine": 1, "numLines": 1, "totalLines": 900}},
        {"filePath": "/p/a.py", "originalFileContents": "a", "edits": [{"old_string": 1}, "x"]},
    ],
)
def test_where_the_content_is_not_known_nothing_is_kept(kept: object) -> None:
    assert left(kept) == {}


def test_a_call_that_failed_left_nothing() -> None:
    assert left({"filePath": "/p/a.py", "content": "x"}, failed=True) == {}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda some: st.lists(some, max_size=3) | st.dictionaries(st.sampled_from(["file", "filePath", "content", "originalFile", "oldString", "newString", "edits", "old_string"]), some, max_size=5), max_leaves=12))  # fmt: skip  # noqa: E501
def test_any_structured_result_is_read(kept: object) -> None:
    found = left(kept)
    assert not found or {*found} == {"file", "hash"}


def test_ends_of_lines_and_of_the_file_are_not_told_apart() -> None:
    assert fingerprint("a\r\nb\r\n") == fingerprint("a\nb") == fingerprint("\ufeffa\nb\n")
    assert fingerprint("a\nb") != fingerprint("a\n\nb")


# --- what became of it ------------------------------------------------------------------------------------------------


def result(path: str, content: str, at: float = 1.0) -> Event:
    extra = json.dumps({"file": path, "hash": fingerprint(content)})
    return Event(f"{path}-{at}:0", at, "result", "s", "p", "", extra=extra)


def test_a_file_is_the_same_changed_or_deleted(tmp_path: Path) -> None:
    root = str(tmp_path)
    for name, now in (("same.py", "a\n"), ("changed.py", "b\n")):
        (tmp_path / name).write_text(now)
    events = [result(f"{root}/{name}", "a\n") for name in ("same.py", "changed.py", "gone.py")]
    found = changed(root, events)
    assert [(state.path, state.status) for state in found] == [
        ("same.py", "same"),
        ("changed.py", "changed"),
        ("gone.py", "deleted"),
    ]
    assert say(found) == "1 of 3 files have changed since, gone.py was deleted since"


def test_the_newest_content_counts(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("new")
    events = [result(f"{tmp_path}/a.py", "new", at=2.0), result(f"{tmp_path}/a.py", "old", at=1.0)]
    assert [state.status for state in changed(str(tmp_path), events)] == ["same"]


def test_a_checkout_that_moved_is_looked_at_where_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("new")
    (state,) = changed(str(tmp_path), [result("/old/place/a.py", "old")], ["/old/place"])
    assert (state.path, state.status) == ("a.py", "changed")


def test_without_a_hash_only_a_file_that_nobody_wrote_to_is_known(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x")
    os.utime(path, (100, 100))
    call = Event("e:0", 200.0, "call", "s", "p", "", tool="Edit", path=str(path))
    assert [state.status for state in changed(str(tmp_path), [call])] == ["same"]
    assert changed(str(tmp_path), [call._replace(at=50.0)]) == []


def test_nothing_outside_the_project_is_looked_at(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "a.py").write_text("x")
    (root / "link.py").symlink_to(outside / "a.py")
    (root / "folder").symlink_to(outside)
    os.mkfifo(root / "pipe")
    (root / "huge").write_bytes(b"x" * (LARGEST + 1))
    (root / "inner").mkdir()
    paths = ("link.py", "folder/a.py", "pipe", "huge", "inner", "../outside/a.py")
    assert changed(str(root), [result(f"{root}/{path}", "y") for path in paths]) == []
    assert changed(str(root), [result(str(outside / "a.py"), "y"), result("/etc/passwd", "y")]) == []


def test_of_a_project_that_is_not_here_nothing_is_said(tmp_path: Path) -> None:
    assert changed(str(tmp_path / "gone"), [result(f"{tmp_path}/gone/a.py", "x")]) == []


@rows("states", "said")
def test_what_is_said(states: list[str], said: str) -> None:
    assert say([State(f"a{number}", status, 1.0) for number, status in enumerate(states)]) == said


# --- in an answer -----------------------------------------------------------------------------------------------------


def mends(session: Work) -> Work:
    session.prompt("Build it.")
    session.bash("go build ./...", "src/cart.go:3:1: undefined: discount", failed=True)
    session.edit("src/cart.go", "discount(x)", "rebate(x)")
    session.bash("go build ./...", "")
    return session


def test_fix_and_blame_say_that_the_file_has_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = Workshop(tmp_path)
    file = shop.root / "src/cart.go"
    file.parent.mkdir()
    file.write_text("rebate(x)\n")
    shop.keep(mends(shop.session()))
    asked = (("fix", "undefined: discount"), ("blame", "src/cart.go"))
    assert [("since" in shop.told(capsys, *words)) for words in asked] == [False, False]
    file.write_text("something else\n")
    assert all("src/cart.go has changed since" in shop.told(capsys, *words) for words in asked)
    (state,) = shop.ask(capsys, "fix", "undefined: discount")["fixes"][0]["files"]
    assert (state["path"], state["status"]) == ("src/cart.go", "changed")
    file.unlink()
    assert all("src/cart.go was deleted since" in shop.told(capsys, *words) for words in asked)


@pytest.mark.git
def test_without_a_hash_an_answer_says_that_the_commit_is_another(machine: Machine) -> None:
    """What the end of a session notes is what a later answer is held against."""

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *who, *words], cwd=machine.project, check=True, capture_output=True, text=True, timeout=60
        )
        return done.stdout.strip()

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "one")
    then = git("rev-parse", "HEAD")
    session = machine.session()
    session.start()
    session.turn("Build it.", "Built.")
    session.end()
    with machine.store() as store:
        assert commit_of(store, session.id) == then
        assert moved_on(store, session.id, str(machine.project)) == ""
        git("commit", "-q", "--allow-empty", "-m", "two")
        now = git("rev-parse", "HEAD")
        assert moved_on(store, session.id, str(machine.project)) == f"then at {then[:9]}, now at {now[:9]}"
        assert moved_on(store, "unknown", str(machine.project)) == ""
