"""Who comes from another memory tool brings along what it had kept: all of it, once, and never as their own word."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.model import Filter
from memory_keeper.terminal import format_time
from tests.command import memory_keeper, typed
from tests.machine import Machine
from tests.old_memories import SECRET, claude_mem, continuous_claude, predecessor, section, summary

OF_SEEDS = [(".claude/memory", "memory"), (".crabshell/memory", "logbook")]


def bring(machine: Machine, *argv: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(memory_keeper(machine, "import", *argv, "--json"))
    return said


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("root", "rolling"), OF_SEEDS)
def test_the_predecessors_memory_comes_in_whole_and_once(machine: Machine, root: str, rolling: str) -> None:
    held = predecessor(machine.project, root, rolling)
    about = bring(machine, "memory-keeper")
    assert about["found"] == held
    assert (about["skipped"], about["notes_known"], about["events_known"]) == (0, 0, 3), "three lines were there twice"
    with machine.store() as store:
        project = about["project"]
        events = [kept.event for kept in store.find(Filter(kinds=("imported",)))]
        assert len(events) == about["events_added"] == held["session line"] - 3
        sections, outlines = store.notes(project, 1), store.notes(project, 2)
        assert (len(sections), len(outlines)) == (held["section"], held["archive"] + held["summary"])
        assert [len(store.children(note.id)) for note in outlines] == [2, 1], "each archive covers its sections"
        standing = [*store.notes(project, 0, "project"), *store.notes(project, 0, "conventions")]
        assert len(standing) == held["standing note"]
        everything = [*sections, *outlines, *standing]
        assert all(note.id.startswith("import-") and not note.who for note in everything)
        assert about["notes_added"] == len(everything)
    again = bring(machine, "memory-keeper")
    assert (again["events_added"], again["notes_added"], again["notes"]) == (0, 0, 0)


def test_a_dry_run_says_the_same_and_keeps_nothing(machine: Machine) -> None:
    predecessor(machine.project)
    before = contents(machine.project)
    dry = bring(machine, "memory-keeper", "--dry-run")
    assert not (machine.home / "store.db").exists()
    assert contents(machine.project) == before
    wet = bring(machine, "memory-keeper")
    figures = ("found", "files", "lines", "events_added", "events_known", "notes_added", "notes_known", "skipped")
    assert {name: dry[name] for name in figures} == {name: wet[name] for name in figures}
    said = memory_keeper(machine, "import", "memory-keeper", "--dry-run")
    assert "5 sections, 1 summary, 1 archive, 2 standing notes, 8 session lines; 0 would be added" in said


def test_nothing_is_overwritten_and_the_pages_are_ours_from_then_on(machine: Machine) -> None:
    predecessor(machine.project)
    folder = machine.project / ".claude/memory"
    before = contents(folder)
    bring(machine, "memory-keeper")
    after = contents(folder)
    for name, data in before.items():
        assert data in (after.get(name), after.get(f"{name}.before-memory-keeper")), name
    page = after["memory.md"].decode()
    assert page.startswith("<!-- memory-keeper ")
    assert "## 2026-02-02_0800" in page and "imported from memory-keeper" in page
    assert "flamingo" in page and "This period focused" not in page
    archive = after["memory_20260113_120000.md"].decode()
    assert "Chose JWT" in archive and "the session table" in archive
    outline = json.loads(after["memory_20260113_120000.summary.json"])
    assert outline["overallSummary"] == summary()["overallSummary"]
    assert outline["keyDecisions"][0]["reason"] == "argon2 is not packaged"
    assert "memory_20260120_080000.summary.json" in after, "an archive that nobody had summed up is now"


@pytest.mark.parametrize("theirs", ["{broken precious-summary", '{"precious-summary": 1}'])
def test_a_summary_that_cannot_be_read_is_never_lost(machine: Machine, theirs: str) -> None:
    folder = machine.project / ".claude/memory"
    folder.mkdir(parents=True)
    (folder / "memory_20251130_120000.md").write_text("## 2025-11-20_1000\nemu\n")
    (folder / "memory_20251130_120000.summary.json").write_text(theirs)
    for _ in range(3):
        done = typed(machine.project, "import", "memory-keeper")
        assert done.returncode == 5 and "it is no summary" in done.stderr
        assert theirs.encode() in contents(folder).values()
    session = machine.session()
    session.start()
    session.turn("Build the parser.", "It is built.")
    session.end()
    memory_keeper(machine, "save")
    assert theirs.encode() in contents(folder).values()


def test_a_purge_puts_the_memory_of_before_back(machine: Machine) -> None:
    predecessor(machine.project)
    folder = machine.project / ".claude/memory"
    before = contents(folder)
    bring(machine, "memory-keeper")
    aside = sorted(map(str, folder.rglob("*.before-memory-keeper")))
    assert f"{folder}/memory.md.before-memory-keeper" in aside
    asked = ("uninstall", "--purge", "--dry-run")
    dry = json.loads(memory_keeper(machine, *asked, "--json"))
    assert ([f"{path}.before-memory-keeper" for path in dry["pages_restored"]], dry["set_aside"]) == (aside, [])
    for said in (memory_keeper(machine, *asked), memory_keeper(machine, "uninstall", "--purge", "--yes")):
        assert f"{folder}/memory.md from before ours is back in its place." in said
    assert contents(folder) == before


@pytest.mark.git
def test_a_page_that_somebody_wrote_to_stays_and_is_told_of_and_hides_no_other(machine: Machine) -> None:
    predecessor(machine.project)
    folder = machine.project / ".claude/memory"
    bring(machine, "memory-keeper")
    (folder / "lessons.md").write_text("Of my own.\n")
    for name in ("memory.md", "architecture.md"):
        with (folder / name).open("a") as page:
            page.write("\n- A line of my own.\n")
    assert "git add --force" in (folder / ".gitignore").read_text()
    asked = ("uninstall", "--purge")
    dry = json.loads(memory_keeper(machine, *asked, "--dry-run", "--json"))
    gone = json.loads(memory_keeper(machine, *asked, "--yes", "--json"))
    assert {f"{folder}/memory.md", f"{folder}/architecture.md"} <= {*dry["pages_left"]}
    assert f"{folder}/memory.md.before-memory-keeper" in dry["set_aside"]
    for field in ("pages_left", "pages_restored", "set_aside"):
        assert dry[field] == gone[field]
    assert "A line of my own." in (folder / "memory.md").read_text()
    subprocess.run(["git", "init", "-q", machine.project], check=True)
    status = ("git", "-C", machine.project, "status", "--porcelain", "-uall")
    shown = subprocess.run(status, capture_output=True, text=True, check=True).stdout
    assert "memory/lessons.md" in shown and "memory/memory.md\n" not in shown


def test_a_note_that_came_in_and_was_changed_has_the_time_of_its_change(machine: Machine) -> None:
    predecessor(machine.project)
    os.utime(machine.project / ".claude/memory/project.md", (1_500_000_000, 1_500_000_000))
    bring(machine, "memory-keeper")
    assert "2017-07-14" in memory_keeper(machine, "search", "narwhals")
    machine.settle()
    memory_keeper(machine, "note", "set", "project", "A shop for narwhals and belugas.")
    machine.session().start()
    (note,) = (
        note for note in json.loads(memory_keeper(machine, "note", "list", "--json")) if "belugas" in note["text"]
    )
    for asked in (("show", note["id"]), ("search", "belugas"), ("why",)):
        shown = memory_keeper(machine, *asked)
        assert format_time(note["written"])[:10] in shown and "2017" not in shown, asked


def test_a_page_that_shows_an_import_can_be_edited(machine: Machine) -> None:
    """A person's words beside imported ones make neither the other's."""
    predecessor(machine.project)
    project = bring(machine, "memory-keeper")["project"]
    page = machine.project / ".claude/memory/memory.md"
    page.write_text(page.read_text().replace("Fixed the flamingo test on CI.", "Fixed the heron test on CI."))
    os.utime(page, (1_770_000_000, 1_770_000_000))
    machine.session().start()
    with machine.store() as store:
        mine = [note for note in store.notes(project, 1, open=True) if note.who]
        assert [note.text.strip("- ") for note in mine] == ["Fixed the heron test on CI."]


def test_no_secret_comes_in(machine: Machine) -> None:
    predecessor(machine.project)
    bring(machine, "memory-keeper")
    machine.settle()
    kept = b"".join(path.read_bytes() for path in machine.files())
    assert b"per tenant" in kept and SECRET.encode() not in kept
    assert SECRET not in (machine.project / ".claude/memory/memory.md").read_text()


def test_what_came_in_is_found_and_said_to_be_imported(machine: Machine) -> None:
    predecessor(machine.project)
    bring(machine, "memory-keeper")
    for words, kind in (
        ("zebrafish", "imported"),
        ("flamingo", "session"),
        ("argon2", "outline"),
        ("narwhals", "project"),
    ):
        (hit, *_) = json.loads(memory_keeper(machine, "search", words, "--json"))
        assert (hit["kind"], hit["by"]) == (kind, "import"), words
        shown = memory_keeper(machine, "show", hit["id"])
        assert words in shown
    assert "session (imported)" in memory_keeper(machine, "search", "flamingo")


def test_it_is_told_as_imported_and_never_as_the_users_word(machine: Machine) -> None:
    predecessor(machine.project)
    bring(machine, "memory-keeper")
    text = machine.session().start().text
    assert "in the words of memory-keeper, imported" in text
    assert "or imported from other tools" in text and ", imported from memory-keeper: Always say please" in text
    assert "by the user" not in text
    assert json.loads(memory_keeper(machine, "rule", "list", "--json")) == [] or "please" not in memory_keeper(
        machine, "rule", "list"
    )
    assert "linter" not in memory_keeper(machine, "observation", "list")
    assert "flamingo" in memory_keeper(machine, "brief", "memory")


def test_it_is_of_no_session(machine: Machine) -> None:
    """What was said in an old session is no work that could be gone on with."""
    predecessor(machine.project)
    bring(machine, "memory-keeper")
    with machine.store() as store:
        assert not store.sessions() and not store.open_sessions()
    assert "zebrafish" not in machine.session().start().text


def test_hostile_files_are_left_out_and_named(machine: Machine, tmp_path: Path) -> None:
    predecessor(machine.project)
    folder = machine.project / ".claude/memory"
    outside = tmp_path / "outside.md"
    outside.write_text(section("2026-01-01", "0000", "wolverine"))
    (folder / "memory_20250101_000000.md").symlink_to(outside)
    (folder / "memory_20250102_000000.md").write_bytes(b"## 2025-01-02_0000\n" + b"caf\xe9 badger\n")
    (folder / "memory_20250103_000000.md").write_bytes(b"x" * (5 << 20))
    (folder / "memory_20250104_000000.md").write_bytes(b"\0" * 99)
    (folder / "memory_20250105_000000.summary.json").write_text("[" * 99_999)
    (folder / "memory_20250106_000000.summary.json").write_text(json.dumps(summary(themes=[{}, None, {"name": 3}])))
    os.mkfifo(folder / "memory_20250107_000000.md")
    lines = [
        b'{"role":"user","ts":"9999-99-99","text":"an otter"}',
        b'{"role":"user","text":"' + b"y" * (3 << 20) + b'"}',
        b"[" * 70_000,
        b'{"role":"user","ts":true,"text":"a \\ud800 marten"}',
    ]
    (folder / "sessions/x.l1.jsonl").write_bytes(b"\n".join(lines))
    done = typed(machine.project, "import", "memory-keeper")
    assert done.returncode == 5
    for number in (1, 3, 4, 5, 7):
        assert f"memory_2025010{number}_000000" in done.stderr
    assert "Traceback" not in done.stderr
    for words, there in (("badger", 1), ("otter", 1), ("marten", 1), ("wolverine", 0)):
        assert bool(json.loads(memory_keeper(machine, "search", words, "--json"))) == bool(there), words


def test_where_there_is_none_it_says_where_it_looked(machine: Machine) -> None:
    done = typed(machine.project, "import", "memory-keeper")
    assert (done.returncode, done.stdout) == (1, "")
    assert "No memory of memory-keeper was found in .claude/memory and .crabshell of the project" in done.stderr


@pytest.mark.parametrize("tool", ["memory-keeper", "claude-mem", "continuous-claude", "markdown"])
def test_where_it_was_told_to_look_is_named(machine: Machine, tmp_path: Path, tool: str) -> None:
    (tmp_path / "nothing here").mkdir()
    done = typed(machine.project, "import", tool, str(tmp_path / "nothing here"), "--dry-run")
    assert (done.returncode, done.stdout) == (1, "")
    what = "Markdown" if tool == "markdown" else f"memory of {tool}"
    assert f"No {what} was found in {tmp_path}/nothing here\n" in done.stderr
    assert ("by default it is looked for in" in done.stderr) == (tool != "markdown")


def test_crabshell_is_the_predecessor_by_its_other_name(machine: Machine) -> None:
    predecessor(machine.project, ".crabshell/memory", "logbook")
    assert bring(machine, "crabshell")["notes_added"]


@pytest.mark.parametrize("tool", ["transcripts", "markdown"])
def test_an_empty_path_is_said_to_be_empty(machine: Machine, tool: str) -> None:
    done = typed(machine.project, "import", tool, "")
    assert (done.returncode, done.stdout) == (2, "") and "a PATH is empty" in done.stderr


def test_the_command_that_a_dry_run_names_brings_in_what_it_counted(machine: Machine, tmp_path: Path) -> None:
    """With the paths and options that were typed, as a shell reads them."""
    notes = tmp_path / "my notes"
    notes.mkdir()
    (notes / "one.md").write_text(section("2026-01-12", "1700", "The otter is fed at noon."))
    claude_mem(tmp_path / "other.db")
    predecessor(tmp_path / "old app")
    for argv, command in (
        (("markdown", str(notes), "--dry-run"), f"memory-keeper import markdown '{notes}'"),
        (
            ("memory-keeper", "--dry", str(tmp_path / "old app")),
            f"memory-keeper import memory-keeper '{tmp_path}/old app'",
        ),
        (
            ("claude-mem", str(tmp_path / "other.db"), "--dry-run", "--named", "other"),
            f"memory-keeper import claude-mem {tmp_path}/other.db --named other",
        ),
    ):
        assert f"Nothing was changed. `{command}` brings it in." in memory_keeper(machine, "import", *argv)
        dry, wet = bring(machine, *argv), bring(machine, *shlex.split(command)[2:])
        assert dry["found"] == wet["found"] and not wet["dry_run"]
        assert dry["notes_added"] + dry["events_added"] == wet["notes_added"] + wet["events_added"] > 0


def test_pages_of_our_own_are_no_old_memory(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.turn("Build the parser.", "It is built.")
    session.end()
    memory_keeper(machine, "save")
    memory_keeper(machine, "export")
    about = typed(machine.project, "import", "memory-keeper", "--json")
    assert about.returncode in (0, 1)
    if about.stdout:
        assert json.loads(about.stdout)["notes_added"] == json.loads(about.stdout)["events_added"] == 0


# --- other tools ------------------------------------------------------------------------------------------------------


def found(machine: Machine, words: str) -> list[str]:
    return [f"{hit['kind']} {hit['by']}" for hit in json.loads(memory_keeper(machine, "search", words, "--json"))]


def test_claude_mems_database_comes_in_as_far_as_it_is_of_this_project(machine: Machine) -> None:
    (machine.user / ".claude-mem").mkdir()
    claude_mem(machine.user / ".claude-mem/claude-mem.db")
    before = contents(machine.user / ".claude-mem")
    assert bring(machine, "claude-mem", "--dry-run")["events_added"] == 6
    about = bring(machine, "claude-mem")
    assert about["found"] == {"summary": 1, "observation": 5, "prompt": 1}
    assert (about["events_added"], about["notes_added"], about["skipped"]) == (6, 1, 0)
    assert contents(machine.user / ".claude-mem") == before, "it is only read"
    with machine.store() as store:
        assert store.count(Filter(kinds=("imported",))) == 6
        (note,) = store.notes(about["project"], 1)
        assert note.text.split("\n")[0] == "Asked: Add SMS login" and "Notes: Ask the pelican team" in note.text
    again = bring(machine, "claude-mem")
    assert (again["events_added"], again["notes_added"], again["events_known"]) == (0, 0, 6)
    assert found(machine, "walrus")[0] == "imported import"
    assert found(machine, "pelican") == ["session import"]
    assert "in the words of claude-mem, imported" in machine.session().start().text
    assert "pelican" in (machine.project / ".claude/memory/memory.md").read_text()


def test_another_project_of_claude_mem_is_named(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    claude_mem(path, "update sdk_sessions set project = 'shop' where project = 'app';"
               "update observations set project = 'shop' where project = 'app';"
               "update session_summaries set project = 'shop' where project = 'app';")  # fmt: skip
    done = typed(machine.project, "import", "claude-mem", str(path))
    assert done.returncode == 1
    assert "no project called app; it knows other, shop" in done.stderr
    assert bring(machine, "claude-mem", str(path), "--named", "shop")["found"]["observation"] == 5


def test_what_a_session_of_ours_has_is_not_brought_in_again(machine: Machine, tmp_path: Path) -> None:
    path, session = tmp_path / "claude-mem.db", machine.session()
    same = f"set content_session_id = '{session.transcript.session}' where id = 1;"
    claude_mem(path, f"update user_prompts {same} update sdk_sessions {same}")
    session.start()
    session.turn("Add SMS login, the auditors want it.", "It is added.")
    session.end()
    machine.catch_up()
    assert bring(machine, "claude-mem", str(path))["events_known"] == 1


@pytest.mark.parametrize("data", [b"", b"no database" * 999, b"SQLite format 3\0" + b"\xff" * 9999])
def test_what_is_no_database_of_claude_mem_is_refused(machine: Machine, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "claude-mem.db").write_bytes(data)
    done = typed(machine.project, "import", "claude-mem", str(tmp_path))
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "cannot be read as a database of claude-mem" in done.stderr


def test_odd_rows_of_claude_mem_cost_little(machine: Machine, tmp_path: Path) -> None:
    """Types are nobody's promise in SQLite, and a column may be of any length."""
    claude_mem(
        tmp_path / "claude-mem.db",
        "update observations set facts = '[[[', title = x'ff00', created_at_epoch = 'soon' where id = 1;"
        "update observations set narrative = replace(hex(zeroblob(2000000)), '0', 'z') where id = 2;"
        "update observations set files_modified = '{\"a\": 1}', created_at_epoch = 9e300 where id = 3;",
    )
    about = bring(machine, "claude-mem", str(tmp_path))
    assert (about["found"]["observation"], about["skipped"]) == (5, 0)
    with machine.store() as store:
        assert max(len(kept.event.text) for kept in store.find(Filter(kinds=("imported",)))) < 70_000


def test_continuous_claudes_ledgers_and_handoffs_come_in(machine: Machine, tmp_path: Path) -> None:
    continuous_claude(machine.project)
    (tmp_path / "secret.md").write_text("an axolotl")
    (machine.project / "thoughts/shared/handoffs/link.md").symlink_to(tmp_path / "secret.md")
    before = contents(machine.project)
    done = typed(machine.project, "import", "continuous-claude", "--json")
    assert done.returncode == 5 and "handoffs/link.md" in done.stderr, "a link is named and left out"
    about = json.loads(done.stdout)
    assert about["found"] == {"ledger": 1, "handoff": 2}
    assert (about["notes_added"], about["skipped"]) == (3, 1)
    after = contents(machine.project)
    assert {name: after[name] for name in before} == before
    (machine.project / "thoughts/shared/handoffs/link.md").unlink()
    assert bring(machine, "continuous-claude", "--dry-run")["notes_known"] == 3
    for words in ("puffin", "toucan", "gecko"):
        assert found(machine, words) == ["session import"], words
    page = (machine.project / ".claude/memory/memory.md").read_text()
    assert "## 2026-01-09_1000" in page and "Handoff task-01 of auth" in page and "Ledger auth" in page
    assert "## 2026-01-08_1630" in page, "the ledger says so in its second line, the name of a handoff in full"
    assert SECRET not in page and "axolotl" not in page
    assert not json.loads(memory_keeper(machine, "handoff", "list", "--json")), "none of them is a handoff of ours"


def test_markdown_comes_in_section_by_section(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "node_modules").mkdir(parents=True)
    (folder / "node_modules/readme.md").write_text("a tapir")
    (folder / "2025-03-04 retro.md").write_text(
        "# Retro\nWe kept the lemur.\n\n## Next\nBuy the ibex.\n\n```\n## no heading\n```\n"
    )
    (folder / "big.md").write_text("## Long\n" + "".join(f"Step {number} of the okapi.\n" for number in range(3000)))
    about = bring(machine, "markdown", str(folder))
    assert about["found"]["section"] == about["notes_added"] >= 5
    with machine.store() as store:
        notes = store.notes(about["project"], 1)
        assert max(len(note.text) for note in notes) <= 20_000
        assert sum(note.text.count("okapi") for note in notes) == 3000, "nothing of a long one is lost"
        assert any(note.at == 1_741_046_400 and "ibex" in note.text for note in notes)
    assert not found(machine, "tapir")
    assert bring(machine, "markdown", str(folder))["notes_added"] == 0
    assert typed(machine.project, "import", "markdown").returncode == 1


def test_a_section_of_markdown_is_of_the_day_that_its_heading_names(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "diary.md"
    path.write_text("# Diary\n\n## 2026-03-01\nThe okapi is blue.\n\n## On 2026-03-02, at noon\nThe yak is red.\n")
    about = bring(machine, "markdown", str(path))
    assert about["found"] == {"section": 2}, "a title alone says nothing"
    with machine.store() as store:
        days = [time.strftime("%m-%d", time.gmtime(note.at)) for note in store.notes(about["project"], 1)]
    assert days == ["03-01", "03-02"]


def test_standing_notes_that_came_in_are_listed_as_imported(machine: Machine) -> None:
    predecessor(machine.project)
    bring(machine, "memory-keeper")
    assert memory_keeper(machine, "note", "list").count("  by memory-keeper, imported\n") == 2


def test_status_says_what_was_not_brought_in_yet(machine: Machine) -> None:
    predecessor(machine.project)
    unset = typed(machine.project, "status")
    assert unset.returncode == 3 and "`memory-keeper import memory-keeper`: 5 sections, 1 summary" in unset.stderr
    continuous_claude(machine.project)
    bring(machine, "memory-keeper")
    assert json.loads(memory_keeper(machine, "status", "--json"))["older_memory"] == {
        "continuous-claude": "1 ledger, 2 handoffs"
    }
    said = memory_keeper(machine, "status")
    assert "not brought in 1 ledger, 2 handoffs:" in " ".join(said.split())


def test_status_names_neither_our_own_export_nor_what_cannot_be_read(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.turn("Build the parser.", "It is built.")
    session.end()
    memory_keeper(machine, "save")
    memory_keeper(machine, "export")
    folder = machine.project / ".claude/memory"
    assert list(folder.glob("sessions/*.l1.jsonl"))
    (folder / "memory_20250101_000000.md").write_bytes(b"\0\1\xff\xfe" * 40)
    (folder / "memory_20250102_000000.md").write_text("y" * (5 << 20))
    (folder / "sessions/2025-01-01_0000.l1.jsonl").write_bytes(bytes(range(256)))
    assert json.loads(memory_keeper(machine, "status", "--json"))["older_memory"] == {}
    assert "not brought in" not in memory_keeper(machine, "status")
    (folder / "sessions/2025-01-02_0000.l1.jsonl").write_text('{"role":"user","text":"a marten"}\n')
    assert json.loads(memory_keeper(machine, "status", "--json"))["older_memory"] == {"memory-keeper": "1 session log"}


def test_what_is_left_out_of_a_log_is_counted_and_named(machine: Machine) -> None:
    predecessor(machine.project)
    folder = machine.project / ".claude/memory/sessions"
    noise = folder / "2026-01-01_0000.l1.jsonl"
    noise.write_bytes(bytes(range(1, 256)) + b"\n" + bytes(range(45)))
    good = folder / "2026-01-02_0000.l1.jsonl"
    lines = ['{"role":"user","text":"a marten"}', "{broken", "", "null", "[]", '{"role":"user","text":"a newt"}']
    good.write_text("\n".join([*lines, "y" * (3 << 20)]))
    done = typed(machine.project, "import", "memory-keeper")
    assert done.returncode == 5 and "2 things could not be read" in done.stderr
    assert f"{good}: 4 of 7 lines left out, no entry of a session, the first is line 2" in done.stderr
    assert f"{noise}: " in done.stderr
    assert found(machine, "newt") and found(machine, "marten")
    assert bring_partly(machine)["found"]["session line"] == 10


def bring_partly(machine: Machine) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(typed(machine.project, "import", "memory-keeper", "--json").stdout)
    return said


@pytest.mark.parametrize("data", [b"\1\2\xff\xfe" * 9, b"text" * 2000 + b"\0", "é".encode("utf-16")])
def test_no_binary_becomes_a_standing_note(machine: Machine, data: bytes) -> None:
    folder = machine.project / ".claude/memory"
    folder.mkdir(parents=True)
    (folder / "memory.md").write_text(section("2026-01-01", "0900", "An emu."))
    (folder / "project.md").write_bytes(data)
    done = typed(machine.project, "import", "memory-keeper")
    assert done.returncode == 5 and f"{folder}/project.md: it is no text" in done.stderr
    session = machine.session()
    session.start()
    session.turn("Build the parser.", "It is built.")
    session.end()
    memory_keeper(machine, "save", "--adopt")
    assert not json.loads(memory_keeper(machine, "note", "list", "--json"))
    assert data in contents(folder).values()
