"""Everything that is kept can be had as files: in the predecessor's forms, row by row, or to read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.briefs.files import Folder
from memory_keeper.briefs.parts import STANDING
from memory_keeper.briefs.refined import name_of, refine
from memory_keeper.cli.main import main
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Note, Placed, Source, Usage
from memory_keeper.store.events import session_events
from memory_keeper.store.home import Lock
from tests.command import memory_keeper, typed
from tests.machine import Machine
from tests.notes.story import Story

AT = 1_768_305_600.0  # 2026-01-13 12:00 UTC


class Store:
    """A home with one project in it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "keeper", folder / "project"
        self.root.mkdir()
        self.project = f"dir:{self.root}"
        self.keeper = Keeper(str(self.home), {"HOME": str(folder / "home")})
        with Lock(str(self.home), 5.0):
            self.keeper.writer.name_project([self.project], self.project)

    def session(self, name: str, events: list[Event], at: float = AT) -> list[Event]:
        """Keep events as those of a session."""
        events = [
            event._replace(id=f"{name[:4]}-{event.id}", session=name, project=self.project, at=at + number)
            for number, event in enumerate(events)
        ]
        with Lock(str(self.home), 5.0):
            writer = self.keeper.writer
            source = writer.begin(Source(f"/t/{name}.jsonl", name, self.project))
            placed = [Placed(event, 10 * number) for number, event in enumerate(events)]
            usage = Usage(f"m-{name}", at, name, self.project, "", "claude", 1, 2, 3, 4)
            writer.record(source._replace(offset=10 * len(events), at=at), placed, [usage], now=at)
        return events

    def add(self, note: Note, covers: tuple[str, ...] = ()) -> None:
        with Lock(str(self.home), 5.0):
            self.keeper.writer.add(note, covers)

    def export(self, *args: str, code: int = 0) -> Any:
        """What `export --json` says, or what it complains of."""
        done = typed(self.root, "export", "--json", *args, MEMORY_KEEPER_HOME=str(self.home))
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if code == 0 else done.stderr


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path)
    yield made
    made.keeper.close()


def story() -> Story:
    told = Story()
    told.prompt("Fix the login.")
    told.call("Read", "x" * 500, file_path="/p/a.py", offset=10, limit=20)
    told.edit("/p/a.py", "one\ntwo\nthree\nfour", "1" * 300)
    told.call("Write", "", file_path="/p/b.py", content="line\nline\n")
    told.run("make test\nmake lint", "error: no", failed=True)
    told.call("Grep", "", pattern="foo: bar", path="/p")
    told.call("Glob", "", pattern="**/*.py")
    told.call("mcp__x__y", "", alpha="1", beta="2")
    told.thinking("Hm.")
    told.reply("Done. " * 100)
    told.add("summary", "What was before.")
    told.add("other", "")
    told.events.append(told.events[0]._replace(id="sub:0", kind="task", agent="a1", text="Look it up."))
    return told


def test_a_session_in_the_predecessor_s_form() -> None:
    lines = [json.loads(line) for line in refine(story().events)]
    assert lines[0] == {"ts": "1970-01-01T00:16:40.000Z", "role": "user", "text": "Fix the login."}
    said = [{key: value for key, value in line.items() if key not in ("ts", "tool_use_id")} for line in lines]
    calls = [line for line in said if line["role"] == "tool"]
    assert calls == [
        {"role": "tool", "name": "Read", "target": "/p/a.py", "lines": "10-20"},
        {"role": "tool", "name": "Edit", "target": "/p/a.py", "diff": "-one\n-two\n-three\n+" + "1" * 100},
        {"role": "tool", "name": "Write", "target": "/p/b.py", "size": 10},
        {"role": "tool", "name": "Bash", "cmd": "make test\nmake lint"},
        {"role": "tool", "name": "Grep", "pattern": "foo: bar", "path": "/p"},
        {"role": "tool", "name": "Glob", "pattern": "**/*.py"},
        {"role": "tool", "name": "mcp__x__y", "params": ["alpha", "beta"], "text": "alpha: 1\nbeta: 2"},
    ]
    results = [line for line in said if line["role"] == "tool_result"]
    assert results[0] == {"role": "tool_result", "result": "ok", "output": "x" * 500}, (
        "nothing is cut at 200 characters"
    )
    assert [line["result"] for line in results].count("error") == 1
    assert [line for line in said if line["role"] == "assistant"] == [{"role": "assistant", "text": "Done. " * 100}]
    assert {"role": "system", "kind": "summary", "text": "What was before."} in said, "it is not the user's words"
    assert said[-1] == {"role": "user", "text": "Look it up.", "kind": "task", "agent": "a1"}


def test_no_two_sessions_share_a_file() -> None:
    """Seeds' R8 and R17: two in one minute, and an id that leads elsewhere."""
    names = [name_of(session, AT) for session in ("s1", "s2", "/../../x", "../x", "S" * 300, "")]
    assert len(set(names)) == len(names)
    assert all("/" not in name and name.startswith("2026-01-13_1200_") for name in names)


def test_the_predecessor_s_files(store: Store) -> None:
    events = store.session("s1", story().events)
    store.session("s2", story().events[:3])
    note = Note("note-1", AT, "session", 1, store.project, "It was fixed.", "s1", 4, '{"by":"extractive"}')
    store.add(note, tuple(event.id for event in events))
    store.add(Note("note-2", AT, "outline", 2, store.project, "All about the login.", "", 5, "{}"), ("note-1",))
    store.add(Note("note-3", AT + 60, "session", 1, store.project, "Went on.", "s2", 4, "{}"))
    said = store.export()
    folder = store.root / ".claude/memory"
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    archive = "memory_20260113_120000"
    assert names == sorted(
        [
            ".gitignore",
            "memory-index.json",
            "memory.md",
            f"{archive}.md",
            f"{archive}.summary.json",
            "sessions/.gitignore",
        ]
        + [f"sessions/2026-01-13_1200_{name}.l1.jsonl" for name in ("s1", "s2")]
    )
    assert said["files"] == 6
    lines = (folder / "sessions/2026-01-13_1200_s1.l1.jsonl").read_text().splitlines()
    assert len(lines) == len(list(refine(events)))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    store.export()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before, "only what changed is written"


def test_the_context_archive_is_one_of_them(store: Store, tmp_path: Path) -> None:
    told = Story()
    told.prompt("Fix the login.")
    told.add("compact", "", tool="compact_boundary", extra='{"trigger":"auto","preTokens":155000,"postTokens":9800}')
    store.session("s1", told.events)
    name = "CONTEXT_ARCHIVE.md"
    for place, args in ((store.root / ".claude/memory", ()), (tmp_path / "out", ("--to", str(tmp_path / "out")))):
        assert name in store.export(*args)["names"]
        before = (place / name).read_text()
        assert "155,000 tokens before, 9,800 after" in before
        (place / name).write_text(before + "Mine.\n")
        assert f"{name} is not ours" in store.export(*args, code=1)
        store.export(*args, "--force")
        assert (place / name).read_text() == before
    kept = store.root / f".claude/memory/{name}.before-memory-keeper"
    assert kept.read_text().endswith("Mine.\n")


def test_edits_are_adopted_before_an_export(store: Store) -> None:
    store.add(Note("note-1", AT, "session", 1, store.project, "One.", "s1", 4, "{}"))
    store.export()
    page = store.root / ".claude/memory/memory.md"
    page.write_text(page.read_text().replace("One.", "One by hand."))
    store.export()
    word = store.keeper.store.wording("note-1")
    assert word and word.text == "One by hand."


def test_a_file_that_is_not_ours_is_refused(store: Store, tmp_path: Path) -> None:
    store.session("s1", story().events)
    store.add(Note("note-1", AT, "session", 1, store.project, "One.", "s1", 4, "{}"))
    elsewhere = tmp_path / "out"
    (elsewhere / "sessions").mkdir(parents=True)
    for name in ("memory.md", "sessions/2026-01-13_1200_s1.l1.jsonl", "memory-keeper.jsonl", "memory-keeper.md"):
        (elsewhere / name).write_text("mine\n")
    for form in ("seeds", "jsonl", "md"):
        said = store.export("--format", form, "--to", str(elsewhere), code=1)
        assert "not ours" in said
        assert "--force" in said
    assert {path.read_text() for path in elsewhere.rglob("*") if path.is_file()} == {"mine\n"}
    for form in ("seeds", "jsonl", "md"):
        store.export("--format", form, "--to", str(elsewhere), "--force")
        store.export("--format", form, "--to", str(elsewhere))
    assert not [path for path in elsewhere.rglob("*") if path.is_file() and path.read_text() == "mine\n"]


def test_what_is_forced_away_in_the_project_is_kept_beside(store: Store) -> None:
    store.session("s1", story().events)
    store.add(Note("note-1", AT, "session", 1, store.project, "One.", "s1", 4, "{}"))
    folder = store.root / ".claude/memory"
    (folder / "sessions").mkdir(parents=True)
    names = ("memory.md", "memory-index.json", "sessions/2026-01-13_1200_s1.l1.jsonl", "memory-keeper.jsonl")
    for name in names:
        (folder / name).write_text("mine\n")
    for form in ("seeds", "jsonl"):
        store.export("--format", form, "--force")
    for name in names:
        assert (folder / name).read_text() != "mine\n"
        assert (folder / f"{name}.before-memory-keeper").read_text() == "mine\n"


def test_a_predecessor_s_memory_is_adopted_when_forced(store: Store) -> None:
    folder = store.root / ".claude/memory"
    folder.mkdir(parents=True)
    (folder / "memory.md").write_text("## 2026-01-01_0900\nTheirs.\n")
    store.add(Note("note-1", AT, "session", 1, store.project, "One.", "s1", 4, "{}"))
    store.export(code=1)
    assert (folder / "memory.md").read_text() == "## 2026-01-01_0900\nTheirs.\n"
    store.export("--force")
    assert "Theirs." in (folder / "memory.md").read_text()
    assert "- One." in (folder / "memory.md").read_text()


def test_a_link_in_the_project_is_not_followed(store: Store, tmp_path: Path) -> None:
    store.add(Note("note-1", AT, "session", 1, store.project, "One.", "s1", 4, "{}"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (store.root / "out").symlink_to(elsewhere)
    (tmp_path / "road").symlink_to(store.root)
    for form in ("seeds", "jsonl", "md"):
        store.export("--format", form, "--to", "out", code=1)
        store.export("--format", form, "--to", "out/deeper", code=1)
        store.export("--format", form, "--to", str(tmp_path / "road/out"), code=1)
    assert list(elsewhere.iterdir()) == []
    (store.root / ".claude").symlink_to(elsewhere)
    store.export(code=1)
    assert list(elsewhere.iterdir()) == []


def test_the_host_s_own_folder_is_not_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(store.root))
    assert "--to" in store.export(code=1)


def test_row_by_row_is_lossless(store: Store, tmp_path: Path) -> None:
    """What can be asked of the store can be asked of the lines."""
    events = store.session("s1", story().events)
    odd = Story()
    odd.prompt('한국어 "quoted" \\ \u2028 \U0001f600\n\ttab')
    store.session("s2", odd.events)
    note = Note("note-1", AT, "session", 1, store.project, "It was fixed.", "s1", 4, '{"by":"extractive"}')
    store.add(note, tuple(event.id for event in events))
    store.add(note._replace(id="note-2", text="Better.", replaces="note-1", who="user"))
    said = store.export("--format", "jsonl", "--to", str(tmp_path / "out"))
    header, *lines = map(json.loads, (tmp_path / "out/memory-keeper.jsonl").read_text().splitlines())
    assert header["format"] == "memory-keeper"
    assert header["project"] == store.project
    assert sum(header["rows"].values()) == len(lines)
    assert said["names"] == ["memory-keeper.jsonl"]
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        ((table, row),) = line.items()
        rows.setdefault(table, []).append(row)
    assert {table: len(found) for table, found in rows.items()} == {k: v for k, v in header["rows"].items() if v}
    kept = [Event(**{**row, "failed": bool(row["failed"])}) for row in _without(rows["event"], "covered_by")]
    reader = store.keeper.store
    assert kept == [*session_events(reader, "s1"), *session_events(reader, "s2")]
    assert [Note(**row) for row in _without(rows["note"], "covered_by")] == [
        reader.note("note-1"),
        reader.note("note-2"),
    ]
    assert {row["id"] for row in rows["event"] if row["covered_by"] == "note-1"} == set(reader.children("note-1"))
    assert [Usage(**row).session for row in rows["usage"]] == ["s1", "s2"]
    assert [Source(**row) for row in _without(rows["source"], "looked")] == [
        reader.source("/t/s1.jsonl"),
        reader.source("/t/s2.jsonl"),
    ]
    assert len(rows["place"]) == len(rows["event"])


def _without(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def test_one_document(store: Store, tmp_path: Path) -> None:
    store.add(Note("note-1", AT, "session", 1, store.project, "It was fixed.", "s1", 4, "{}"))
    store.add(Note("note-2", AT, "outline", 2, store.project, "All about the login.", "", 5, "{}"), ("note-1",))
    store.add(Note("note-3", AT + 60, "session", 1, store.project, "Went on.", "s2", 4, "{}"))
    store.add(Note("note-4", AT, "project", 0, store.project, "# App\nA thing.", who="user"))
    store.add(Note("handoff-1", AT, "handoff", 0, store.project, "## Asked last\n- old", "s1"))
    store.add(Note("handoff-2", AT + 1, "handoff", 0, store.project, "## Asked last\n- new", "s1"))
    store.export("--format", "md", "--to", str(tmp_path / "out"))
    text = (tmp_path / "out/memory-keeper.md").read_text()
    said = ["A thing.", "All about the login.", "It was fixed.", "Went on.", "#### Asked last", "- new"]
    assert [text.index(part) for part in said] == sorted(text.index(part) for part in said)
    assert "- old" not in text


def test_one_document_has_every_kind_of_note(store: Store, tmp_path: Path) -> None:
    for number, kind in enumerate(STANDING):
        store.add(Note(f"note-{number}", AT, kind, 0, store.project, f"The {kind} of it.", who="user"))
    store.add(Note("note-a", AT, "fact", 0, store.project, "Another fact.", who="user"))
    store.add(Note("note-b", AT, "issue", 0, store.project, "Taken away.", who="user"))
    store.add(Note("note-c", AT, "issue", 0, store.project, "", replaces="note-b", who="user"))
    beneath: tuple[str, ...] = ()
    for level in range(1, 5):
        id, kind = f"note-l{level}", "session" if level == 1 else "outline"
        store.add(Note(id, AT + level, kind, level, store.project, f"Of level {level}.", extra="{}"), beneath)
        beneath = (id,)
    store.export("--format", "md", "--to", str(tmp_path / "out"))
    text = (tmp_path / "out/memory-keeper.md").read_text()
    said = [f"The {kind} of it." for kind in STANDING] + [f"Of level {level}." for level in (4, 3, 2, 1)]
    places = [text.index(part) for part in said]
    assert places == sorted(places)
    assert "Another fact." in text
    assert "Taken away." not in text


def test_an_export_lists_its_folder_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each session it would be a minute's work for some thousands of them."""
    for number in range(20):
        store.session(f"s{number}", story().events[:1])
    listed: list[str] = []
    real = Folder.names

    def names(self: Folder) -> list[str]:
        listed.append(self.path)
        return real(self)

    monkeypatch.setattr(Folder, "names", names)
    monkeypatch.setenv("MEMORY_KEEPER_HOME", str(store.home))
    with pytest.raises(SystemExit) as ended:
        main(["export", "--project", str(store.root)])
    assert not ended.value.code
    assert len([path for path in listed if path.endswith("/sessions")]) == 1


def test_a_session_that_began_earlier_than_was_known_has_one_file(store: Store) -> None:
    store.session("s1", story().events[:3])
    store.export()
    store.session("s1", [event._replace(id="early-" + event.id) for event in story().events[:1]], at=AT - 7200)
    store.export()
    (path,) = (store.root / ".claude/memory/sessions").glob("*.l1.jsonl")
    assert path.name == "2026-01-13_1000_s1.l1.jsonl"


def test_from_a_session_to_its_files(machine: Machine) -> None:
    """What hooks captured, in a file that anybody can read."""
    session = machine.session()
    session.start()
    session.prompt("Add SMS login.")
    machine.catch_up()
    memory_keeper(machine, "export")
    (path,) = (machine.project / ".claude/memory/sessions").glob("*.l1.jsonl")
    assert session.id in path.name
    assert "Add SMS login." in path.read_text()
