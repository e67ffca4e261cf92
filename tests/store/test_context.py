"""A context is the sum of what hooks left since it began, wherever that is kept by now."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.keeper import Keeper
from memory_keeper.keeper.moving import mark_id
from memory_keeper.request import Context
from memory_keeper.store import context as context_module
from memory_keeper.store import spool
from memory_keeper.store.context import FURTHEST, JUST, RECORDS, find_cleared, fold, read_context

TERMINAL = ["/tmp/tmux-0/default,1,0", "%3", "", ""]
START = {"event": "SessionStart", "source": "startup", "dir": "/p", "transcript": "/t/s1.jsonl", "pid": 7, "born": "99"}


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "keeper")


def leave(home: str, *records: dict[str, Any], session: str = "s1", at: float = 1000.0) -> None:
    """Let hooks leave records, one a second."""
    for number, record in enumerate(records):
        spool.append(home, session, {"event": record["event"], "at": at + number, **record})


def event(name: str, **fields: Any) -> dict[str, Any]:
    return {"event": name, **fields}


def warned(context: Context) -> list[str]:
    return [level for level, *_ in context.warned]


def test_nothing_is_known_of_a_session_without_hooks(home: str) -> None:
    assert read_context(home, "s1") == Context()


def test_everything_since_the_start(home: str) -> None:
    window = event("Window", window=200_000, model="claude-x[1m]", by="module")
    leave(home, {**START, "terminal": TERMINAL, "model": "claude-x"}, window, event("UserPromptSubmit", text="Go."))
    leave(home, event("Warned", level="handoff warn"), event("Stop", busy=2), event("AskClear", why="due"), at=1003.0)
    leave(home, event("Blocked"), event("Warned", level="warn critical"), at=1006.0)
    assert read_context(home, "s1") == Context(
        begun=1000.0,
        source="startup",
        folder="/p",
        transcript="/t/s1.jsonl",
        pid=7,
        born="99",
        model="claude-x[1m]",
        window=200_000,
        module=True,
        warned=(("handoff", 1003.0, "1003000"), ("warn", 1003.0, "1003000"), ("critical", 1007.0, "1007000")),
        asked=1005.0,
        why="due",
        blocked=1006.0,
        prompted=1002.0,
        prompts=1,
        stopped=1004.0,
        busy=2,
        terminal=("/tmp/tmux-0/default,1,0", "%3", "", ""),
    )


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork", ""])
def test_a_start_begins_anew(home: str, source: str) -> None:
    leave(home, START, event("Warned", level="warn"), event("AskClear"), event("Blocked"), event("SessionEnd"))
    leave(home, {**START, "source": source}, at=2000.0)
    found = read_context(home, "s1")
    assert (found.begun, found.source, found.warned, found.asked, found.blocked) == (2000.0, source, (), 0.0, 0.0)
    assert not found.ended


def test_a_compaction_comes_in_the_middle_of_a_turn(home: str) -> None:
    """However many there are in one turn: it goes on, in the same window."""
    leave(home, START, event("Stop"), event("UserPromptSubmit"), event("Window", window=200_000))
    for number in range(3):
        leave(home, event("PreCompact"), {**START, "source": "compact"}, at=2000.0 + 10 * number)
        found = read_context(home, "s1")
        assert (found.prompted, found.stopped, found.window) == (1002.0, 1001.0, 200_000)
    leave(home, event("Stop"), at=3000.0)
    assert read_context(home, "s1").stopped == 3000.0


def test_a_compaction_after_a_turn(home: str) -> None:
    leave(home, START, event("UserPromptSubmit"), event("Stop"), {**START, "source": "compact"})
    found = read_context(home, "s1")
    assert (found.prompted, found.stopped) == (1001.0, 1002.0)


def test_what_was_before_a_resume_does_not_come_back_with_a_compaction(home: str) -> None:
    leave(home, START, event("UserPromptSubmit"), event("Window", window=5))
    leave(home, {**START, "source": "resume", "pid": 8}, {**START, "source": "compact", "pid": 8}, at=2000.0)
    found = read_context(home, "s1")
    assert (found.prompted, found.window, found.pid) == (0.0, 0, 8)


def test_a_turn_that_goes_on_after_its_end(home: str) -> None:
    """Somebody else's Stop hook can want more; a subagent in the background is no turn."""
    leave(home, START, event("UserPromptSubmit"), event("PostToolUse"), event("Stop"))
    assert read_context(home, "s1").prompted < read_context(home, "s1").stopped
    leave(home, event("PostToolUse", agent="a1"), at=1010.0)
    assert read_context(home, "s1").prompted < read_context(home, "s1").stopped
    leave(home, event("PostToolUse"), at=1020.0)
    assert read_context(home, "s1").prompted == 1020.0


def test_a_resumed_session_sits_idle(home: str) -> None:
    leave(home, START, event("UserPromptSubmit"), event("PostToolUse"), event("Stop"), event("SessionEnd"))
    leave(home, {**START, "source": "resume"}, at=2000.0)
    found = read_context(home, "s1")
    assert (found.prompted, found.stopped) == (0.0, 0.0)


def test_a_clear_nobody_answered_is_over_with_the_next_turn(home: str) -> None:
    leave(home, START, event("UserPromptSubmit"), event("AskClear"), event("Stop"))
    assert read_context(home, "s1").asked == 1002.0
    leave(home, event("UserPromptSubmit"), at=1010.0)
    assert read_context(home, "s1").asked == 0.0


def test_a_clear_asked_for_before_a_turn_comes_after_it(home: str) -> None:
    leave(home, START, event("Stop"), event("AskClear"), event("UserPromptSubmit"), event("Stop"))
    assert read_context(home, "s1").asked == 1002.0


def test_an_end_says_why(home: str) -> None:
    leave(home, START, event("SessionEnd", source="clear"))
    assert read_context(home, "s1").ended == "clear"
    leave(home, {**START, "source": "resume"}, event("SessionEnd"), at=2000.0)
    assert read_context(home, "s1").ended == "other"


def test_a_prompt_that_looks_like_a_record_is_none(home: str) -> None:
    fake = 'x\n00000000 00000000 {"event":"SessionStart","at":5.0,"source":"clear"}\n {"event":"Warned","level":"warn"}'
    leave(home, START, event("UserPromptSubmit", text=fake), event("Stop", text=fake))
    found = read_context(home, "s1")
    assert (found.source, found.warned) == ("startup", ())


def test_a_record_that_was_cut_short_costs_only_itself(home: str) -> None:
    leave(home, START, event("Warned", level="warn"))
    path = Path(home, "spool/s1.spool")
    os.truncate(path, path.stat().st_size - 5)
    leave(home, event("UserPromptSubmit"), at=2000.0)
    found = read_context(home, "s1")
    assert (found.begun, found.warned, found.prompted) == (1000.0, (), 2000.0)


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, garbage: bytes) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "spool").mkdir()
    (home / "spool/s1.spool").write_bytes(b'0 0 {"event":"SessionStart","source":"compact"' + garbage)
    leave(str(home), event("Warned", level="warn"))
    assert warned(read_context(str(home), "s1")) == ["warn"]


STARTS = [{**START, "source": source} for source in ("startup", "resume", "compact", "compact")]
HAPPENED = st.sampled_from(
    [
        *STARTS,
        event("UserPromptSubmit"),
        event("Stop"),
        event("PostToolUse"),
        event("PostToolUse", agent="a1"),
        event("Warned", level="warn"),
        event("Warned", level="critical"),
        event("Window", window=5, by="module"),
        event("AskClear"),
        event("Blocked"),
        event("SessionEnd", source="clear"),
    ]
)


@given(st.lists(st.tuples(HAPPENED, st.booleans()), max_size=14))
def test_who_asks_again_and_again_hears_what_one_hears_who_asks_once(
    tmp_path_factory: pytest.TempPathFactory, happened: list[tuple[dict[str, Any], bool]]
) -> None:
    home = str(tmp_path_factory.mktemp("home"))
    for number, (record, asks) in enumerate(happened):
        leave(home, record, at=1000.0 + number)
        if asks:
            read_context(home, "s1")
    found = read_context(home, "s1")
    context_module._known.clear()
    assert found == read_context(home, "s1")


def test_a_spool_that_was_put_in_the_place_of_another(home: str, tmp_path: Path) -> None:
    leave(home, {**START, "dir": str(tmp_path)}, event("Warned", level="warn"))
    assert warned(read_context(home, "s1")) == ["warn"]
    move(home, tmp_path)
    leave(home, event("UserPromptSubmit"), at=9000.0)
    found = read_context(home, "s1")
    assert (warned(found), found.prompted) == (["warn"], 9000.0)


ODD = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.just([1, None])
FIELDS = ("at", "source", "dir", "transcript", "pid", "born", "model", "window", "terminal", "level", "busy", "by")


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ODD), max_size=9), st.data())
def test_any_record_is_survived(records: list[dict[str, Any]], data: st.DataObject) -> None:
    context = Context()
    names = st.sampled_from(["SessionStart", "SessionEnd", "Stop", "Window", "Warned", "AskClear", "Blocked", "Else"])
    for record in records:
        context = fold(context, {"event": data.draw(names), **record})
    assert isinstance(context.pid, int) and isinstance(context.window, int) and len(context.terminal) == 4


# --- where a spool has gone -------------------------------------------------------------------------------------------


def move(home: str, tmp_path: Path) -> None:
    """What the writer does with a spool once it is quiet."""
    with Keeper(home, {}) as keeper:
        keeper.catch_up(patience=30.0)
    Path(home, "spool/s1.spool").unlink()


def test_a_spool_that_was_taken_away_is_in_the_store(home: str, tmp_path: Path) -> None:
    start = {**START, "dir": str(tmp_path), "transcript": str(tmp_path / "s1.jsonl")}
    window = event("Window", window=200_000, dir=str(tmp_path))
    leave(home, start, window, event("Warned", level="handoff warn"), event("Blocked"))
    before = read_context(home, "s1")
    move(home, tmp_path)
    assert read_context(home, "s1") == before


def test_what_came_after_it_was_taken_away_is_added(home: str, tmp_path: Path) -> None:
    leave(home, {**START, "dir": str(tmp_path)}, event("Warned", level="warn"))
    move(home, tmp_path)
    leave(home, event("UserPromptSubmit"), event("Warned", level="critical"), at=9000.0)
    found = read_context(home, "s1")
    assert (found.begun, warned(found), found.prompted) == (1000.0, ["warn", "critical"], 9000.0)


def test_a_new_start_does_not_need_the_store(home: str, tmp_path: Path) -> None:
    leave(home, {**START, "dir": str(tmp_path)}, event("Warned", level="warn"))
    move(home, tmp_path)
    leave(home, {**START, "source": "resume"}, at=9000.0)
    assert read_context(home, "s1").warned == ()


def test_a_store_that_cannot_be_read_is_none(home: str) -> None:
    leave(home, event("Warned", level="warn"))
    Path(home, "store.db").write_bytes(b"not a database, " * 100)
    assert warned(read_context(home, "s1")) == ["warn"]


def test_a_very_large_spool_is_read_from_its_end(home: str, tmp_path: Path) -> None:
    leave(home, {**START, "dir": str(tmp_path)}, event("Warned", level="warn"))
    with Keeper(home, {}) as keeper:
        keeper.catch_up(patience=30.0)
    with Path(home, "spool/s1.spool").open("ab") as file:
        file.write(b"\n" + b"x" * (FURTHEST + 10) + b"\n")
    leave(home, event("Warned", level="critical"), at=5000.0)
    assert warned(read_context(home, "s1")) == ["warn", "critical"]


def test_a_spool_that_is_a_link_is_not_read(home: str, tmp_path: Path) -> None:
    leave(home, START, session="other")
    Path(home, "spool/s1.spool").symlink_to(Path(home, "spool/other.spool"))
    assert read_context(home, "s1") == Context()


# --- which session was cleared ----------------------------------------------------------------------------------------


def cleared(home: str, session: str, reason: str = "clear", touched: float = 5000.0, **fields: Any) -> None:
    leave(home, {**START, **fields}, event("SessionEnd", source=reason), session=session)
    os.utime(Path(home, f"spool/{session}.spool"), (touched, touched))


def test_the_session_that_this_process_has_just_cleared(home: str) -> None:
    cleared(home, "old", touched=4990.0)
    cleared(home, "newer", touched=4999.0)
    cleared(home, "other", pid=8)
    assert find_cleared(home, "new", 7, 5000.0, "99", "/p") == "newer"


@pytest.mark.parametrize(
    "fields",
    [{"pid": 8}, {"born": "98"}, {"dir": "/q"}, {"reason": "logout"}, {"reason": "other"}, {"touched": 4999.0 - JUST}],
    ids=str,
)
def test_any_other_session_is_not_it(home: str, fields: dict[str, Any]) -> None:
    cleared(home, "old", **fields)
    assert find_cleared(home, "new", 7, 5000.0, "99", "/p") == ""


def test_one_that_goes_on_was_not_cleared(home: str) -> None:
    cleared(home, "old")
    leave(home, {**START, "source": "resume"}, session="old", at=3000.0)
    assert find_cleared(home, "new", 7, 5000.0) == ""
    cleared(home, "new")
    assert find_cleared(home, "new", 7, 5000.0) == "", "nor is it the new one itself"


# --- what it was told -------------------------------------------------------------------------------------------------


def told(*lines: str, text: str = "", brief: str = "recall") -> dict[str, Any]:
    return event("Told", extra=json.dumps({"brief": brief, "lines": lines}), **({"text": text} if text else {}))


def test_what_a_context_was_told_and_when_first(home: str) -> None:
    leave(home, START, told(text="all of it", brief="start"), told("a.1", "b.2"), told("b.2", "c.3"))
    context = read_context(home, "s1")
    assert context.told == "\nall of it"
    assert context.recalled == (("a.1", "1002000"), ("b.2", "1002000"), ("c.3", "1003000")), (
        "an old record is known by its time"
    )
    assert not context.handed


@pytest.mark.parametrize("source", ["compact", "clear", "startup"])
def test_a_new_context_was_told_nothing(home: str, source: str) -> None:
    leave(home, START, told("a.1", text="all of it"), event("SessionStart", source=source))
    assert (read_context(home, "s1").told, read_context(home, "s1").recalled) == ("", ())


@pytest.mark.parametrize("extra", ["", "x", "[]", '{"lines": 7}', '{"lines": [7, null, []]}', "{" * 9999])
def test_a_record_that_nobody_can_read_tells_nothing(home: str, extra: str) -> None:
    leave(home, START, event("Told", extra=extra))
    assert read_context(home, "s1").recalled == ()


# --- the table of records ---------------------------------------------------------------------------------------------


def test_all_that_we_leave_is_in_the_table() -> None:
    """What is left by hand anywhere in the source is a kind that is known, with fields that are known."""
    made = 0
    for path in Path(spool.__file__).parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "spool.make":
                made += 1
                if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                    fields = {word.arg for word in node.keywords if word.arg}
                    assert fields <= {*RECORDS[node.args[0].value].fields}, f"{path.name}: {ast.unparse(node)}"
    assert made > 8


def test_a_record_says_what_and_when_and_by_which_call() -> None:
    record = spool.make("Warned", "c1", 7.0, "/p", level="warn", tokens=0, text="")
    assert record == {"event": "Warned", "at": 7.0, "call": "c1", "dir": "/p", "level": "warn", "tokens": 0}
    assert spool.call_of(record) == "c1"
    assert mark_id("warned", "s1", record) == "warned-s1-c1:0"
    assert mark_id("told", "s1", {**record, "source": "rules"}) == "told-s1-c1-rules:0", "one call tells several"
    old = {"event": "Told", "at": 7.5}
    assert mark_id("told", "s1", old) == "told-s1-7500:0", "as it was called when its version moved it"
    assert mark_id("told", "s1", {**old, "agent": "a1"}) == "told-s1-7500-a1:0"
