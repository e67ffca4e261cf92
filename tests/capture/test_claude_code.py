"""Every kind of line of every version of the CLI becomes the events it tells of, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_keeper.capture.claude_code import READERS, first_moment, read_line
from memory_keeper.extract.todos import left_open
from memory_keeper.model import KINDS, Event, Source, Usage
from tests import transcripts
from tests.rows import rows
from tests.transcripts import Row, Transcript, dump

VERSIONS = ("1.0.60", "2.0.14", "2.1.49", "2.1.197", "2.1.325")
SOURCE = Source("/t/s1.jsonl", "s1", "dir:/p")
AT = 1000.0


def read(*rows: Row, source: Source = SOURCE) -> list[Event]:
    """The events of some lines."""
    return [event for number, row in enumerate(rows) for event in line(row, number, source).events]


def line(row: Row, offset: int = 0, source: Source = SOURCE) -> Any:
    found = read_line(dump(row).rstrip(b"\n"), source, offset, AT)
    assert found is not None
    for event in found.events:
        assert event.kind in KINDS
        assert event.id.rpartition(":")[2].isdigit()
        assert (event.session, event.project) == (source.session, source.project)
    return found


def kinds(*rows: Row, source: Source = SOURCE) -> list[str]:
    return [event.kind for event in read(*rows, source=source)]


@pytest.fixture(params=VERSIONS)
def t(request: pytest.FixtureRequest) -> Transcript:
    """A transcript of each version."""
    return Transcript("s1", "/srv/app", version=request.param)


# --- what was said ----------------------------------------------------------------------------------------------------


def test_a_prompt(t: Transcript) -> None:
    (row,) = t.prompt("Add a retry.\n재시도를 넣어 주세요.")
    (event,) = read(row)
    assert event.id == f"{row['uuid']}:0"
    assert (event.kind, event.text, event.agent) == ("prompt", "Add a retry.\n재시도를 넣어 주세요.", "")
    assert event.at == datetime.fromisoformat(row["timestamp"]).timestamp()


def test_a_response_is_one_line_per_block(t: Transcript) -> None:
    events = read(*t.reply(transcripts.thinking("Hm."), "I look.", "Done."))
    assert [(event.kind, event.text) for event in events] == [
        ("thinking", "Hm."),
        ("reply", "I look."),
        ("reply", "Done."),
    ]
    assert len({event.id for event in events}) == 3


def test_many_blocks_in_one_line_are_many_events(t: Transcript) -> None:
    """R28: the second block and the second result are as good as the first."""
    use = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    first, second = t.multi_block("Two at once.", use, use, results=("a.py", "b.py"))
    events = read(first, second)
    assert [event.kind for event in events] == ["reply", "call", "call", "result", "result"]
    assert [event.id for event in events[:3]] == [f"{first['uuid']}:{n}" for n in range(3)]
    assert [event.text for event in events[3:]] == ["a.py", "b.py"]
    assert [event.ref for event in events[3:]] == [event.ref for event in events[1:3]]


def test_redacted_thinking(t: Transcript) -> None:
    assert kinds(*t.reply({"type": "redacted_thinking", "data": "xyz"})) == ["thinking"]


def test_a_picture_is_a_placeholder(t: Transcript) -> None:
    text, picture = read(*t.image("See here.", size=3000))
    assert (text.kind, text.text) == ("prompt", "See here.")
    assert (picture.kind, picture.text) == ("image", "[image image/png 3000 bytes]")


def test_a_document_is_a_placeholder(t: Transcript) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}
    (row,) = t.prompt("x")
    row["message"]["content"] = [{"type": "document", "source": source}]
    (event,) = read(row)
    assert (event.kind, event.text) == ("image", "[document application/pdf 3 bytes]")


# --- what was done ----------------------------------------------------------------------------------------------------


def test_a_call_and_its_result(t: Transcript) -> None:
    call, result = read(*t.call("Edit", {"file_path": "/p/a.py", "old_string": "x", "new_string": "y\nz"}, "updated"))
    assert (call.kind, call.tool, call.path) == ("call", "Edit", "/p/a.py")
    assert call.text == "file_path: /p/a.py\nold_string: x\nnew_string: y\nz"
    assert (result.kind, result.text, result.failed) == ("result", "updated", False)
    assert call.ref == result.ref != ""


@pytest.mark.parametrize("field", ["file_path", "notebook_path", "path"])
def test_the_file_a_call_is_about(field: str) -> None:
    call, _ = read(*Transcript("s1", "/p").call("X", {"pattern": "*", field: "/p/a.py"}, ""))
    assert call.path == "/p/a.py"


def test_a_failed_call(t: Transcript) -> None:
    _, result = read(*t.call("Bash", {"command": "false"}, "Exit code 1", is_error=True))
    assert (result.failed, result.text) == (True, "Exit code 1")


def test_calls_side_by_side(t: Transcript) -> None:
    events = read(*t.parallel(("Glob", {"pattern": "*"}, "a.py"), ("Read", {"file_path": "b"}, "No such file", True)))
    refs = {event.ref: event.tool for event in events if event.kind == "call"}
    results = {refs[event.ref]: event for event in events if event.kind == "result"}
    assert results["Glob"].text == "a.py"
    assert results["Read"].failed


def test_a_result_of_several_parts() -> None:
    parts: list[Row] = [
        {"type": "text", "text": "one"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "text", "text": "two"},
    ]
    _, result = read(*Transcript("s1", "/p").call("mcp__x__y", {}, parts))
    assert result.text == "one\n[image image/png 3 bytes]\ntwo"


def test_input_that_is_no_text_is_kept_as_json() -> None:
    call, _ = read(*Transcript("s1", "/p").call("X", {"limit": 5, "deep": {"a": [None, True]}}, ""))
    assert call.text == 'limit: 5\ndeep: {"a": [null, true]}'


def test_tools_of_servers() -> None:
    rows = Transcript("s1", "/p").reply(
        {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {"query": "x"}},
        {"type": "mcp_tool_use", "id": "mcp1", "name": "y", "input": "odd"},
    )
    first, second = read(*rows)
    assert (first.kind, first.tool, first.ref) == ("call", "web_search", "srv1")
    assert (second.kind, second.text) == ("call", "input: odd")


# --- lists of tasks ---------------------------------------------------------------------------------------------------


def test_the_old_list_of_tasks(t: Transcript) -> None:
    rows = t.todo([("Write it", "completed"), ("Test it", "in_progress"), ("Ship it", "pending")])
    todo, result = read(*rows)
    assert (todo.kind, todo.tool, result.kind) == ("todo", "TodoWrite", "result")
    assert [(one.text, one.status) for one in left_open([todo])] == [
        ("Test it", "in_progress"),
        ("Ship it", "pending"),
    ]


def test_the_new_list_of_tasks(t: Transcript) -> None:
    rows = [*t.task_create("Write it"), *t.task_create("Test it"), *t.task_update("1", "completed")]
    todos = [event for event in read(*rows) if event.kind == "todo"]
    assert [event.tool for event in todos] == ["TaskCreate", "TaskCreate", "TaskUpdate"]
    assert [(one.text, one.status) for one in left_open(todos)] == [("Test it", "pending")]


# --- what is not the user's -------------------------------------------------------------------------------------------


def test_what_the_host_adds_is_no_prompt(t: Transcript) -> None:
    """R28: nobody typed it."""
    assert kinds(*t.meta("Caveat: the messages below come from the host.")) == ["meta"]


def test_a_finished_task_is_no_prompt(t: Transcript) -> None:
    *queued, notice = read(*t.task_notification())
    assert [event.kind for event in queued] == ["other", "queued"]
    assert notice.kind == "notice"


SDK = {"promptSource": "sdk", "turnOrigin": "sdk"}


@pytest.mark.parametrize(
    "said",
    [
        {"origin": {"kind": "human"}, "promptSource": "typed", "turnOrigin": "human", "entrypoint": "cli"},
        {"origin": {"kind": "human"}, "promptSource": "queued", "entrypoint": "cli"},
        {**SDK, "entrypoint": "claude-vscode"},
        {"entrypoint": "cli"},
        {},
    ],
)
def test_what_a_person_typed(said: Row) -> None:
    (event,) = read({**transcripts.Transcript("s1", "/p").prompt("Use tabs.")[0], **UNSAID, **said})
    assert (event.kind, event.extra) == ("prompt", "")


UNSAID: Row = {"origin": None, "promptSource": None, "turnOrigin": None, "entrypoint": "cli"}


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"promptSource": "system", "turnOrigin": "system"}, "notice"),
        ({"origin": {"kind": "channel", "server": "chat"}}, "notice"),
        (
            {"origin": {"kind": "task-notification", "subkind": "scheduled-trigger"}, "turnOrigin": "scheduled"},
            "notice",
        ),
        ({"origin": {"kind": "auto-continuation"}}, "notice"),
        ({"origin": {"kind": "peer"}, "turnOrigin": "peer"}, "notice"),
        ({"turnOrigin": "host_synthetic"}, "notice"),
        ({"isVisibleInTranscriptOnly": True}, "meta"),
        ({**SDK, "entrypoint": "sdk-cli"}, "prompt"),
        ({**SDK, "entrypoint": "cli"}, "prompt"),  # a model's shell hands its own on
        ({"promptSource": "suggestion_accepted"}, "prompt"),
        ({"textNotTyped": True, "promptSource": "typed"}, "prompt"),
        ({"promptSource": "something new"}, "prompt"),
    ],
)
def test_what_nobody_typed(said: Row, kind: str) -> None:
    """It is a prompt, if at all, of which it is known that nobody may have typed it."""
    (event,) = read({**transcripts.Transcript("s1", "/p").prompt("Use tabs.")[0], **UNSAID, **said})
    assert (event.kind, bool(event.extra)) == (kind, kind == "prompt")


@rows("about", "kind")
def test_who_was_queued(about: Row, kind: str) -> None:
    (row,) = Transcript("s1", "/p").attachment("queued_command", prompt="Use tabs.", **about)
    assert kinds(row) == [kind]


@rows("text")
def test_what_a_text_shows_to_be_nobody_s(t: Transcript, text: str) -> None:
    assert kinds(*t.prompt(text)) == ["notice"]


def test_what_was_typed_during_a_call_stands_beside_its_result() -> None:
    (row,) = Transcript("s1", "/p").prompt("")
    row["message"]["content"] = [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"},
        {"type": "text", "text": "And always use tabs."},
    ]
    result, typed = read({**row, **UNSAID})
    assert (result.kind, typed.kind, typed.extra) == ("result", "prompt", "")


def test_an_interruption_is_no_prompt(t: Transcript) -> None:
    assert kinds(*t.prompt("[Request interrupted by user for tool use]")) == ["notice"]


def test_slash_commands_are_no_prompts(t: Transcript) -> None:
    assert kinds(*t.command("compact", "keep the names", "Compacted")) == ["command", "command"]
    assert kinds(*t.command("cost")) == ["command", "command"]
    assert kinds(*t.prompt("<bash-input>ls</bash-input>")) == ["command"]
    (row,) = t.attachment("x")
    local = {**row, "type": "system", "subtype": "local_command", "content": "<command-name>/cost</command-name>"}
    assert kinds(local) == ["command"]


def test_a_command_of_the_users_that_was_given_words_is_a_prompt(t: Transcript) -> None:
    asked, _ = read(*t.command("ship", "the invoice export, by Friday"))
    assert (asked.kind, asked.text) == ("prompt", "/ship the invoice export, by Friday")


def test_what_was_typed_meanwhile(t: Transcript) -> None:
    first, second = read(*t.queue("Also the README."))
    assert (first.kind, first.text, first.tool) == ("queued", "Also the README.", "enqueue")
    assert (second.kind, second.text, second.tool) == ("queued", "", "dequeue")


def test_what_was_typed_meanwhile_and_taken_up(t: Transcript) -> None:
    (event,) = read(*t.attachment("queued_command", prompt="Also the README.", commandMode="prompt"))
    assert (event.kind, event.text) == ("prompt", "Also the README.")
    (notice,) = read(*t.attachment("queued_command", prompt="<task-notification>\nx</task-notification>"))
    assert notice.kind == "notice"


# --- agents -----------------------------------------------------------------------------------------------------------


def test_an_agent_s_own_file(t: Transcript) -> None:
    inner = t.subagent("a1b2", "Find callers.")
    inner.call("Grep", {"pattern": "x"}, "two")
    inner.reply("There are two.")
    events = read(*inner.lines, source=SOURCE._replace(agent="a1b2"))
    assert [event.kind for event in events] == ["task", "call", "result", "reply"]
    assert {event.agent for event in events} == {"a1b2"}


def test_an_agent_in_the_main_file(t: Transcript) -> None:
    rows = [*t.prompt("Go."), *t.sidechain("Find callers.", "There are two."), *t.reply("Two.")]
    assert [(event.kind, event.agent) for event in read(*rows)] == [
        ("prompt", ""),
        ("task", "sidechain"),
        ("reply", "sidechain"),
        ("reply", ""),
    ]


# --- the host's own lines ---------------------------------------------------------------------------------------------


def test_a_compaction(t: Transcript) -> None:
    boundary, summary = read(*t.compact("Summary: a retry.", "manual", pre=167_000))
    assert (boundary.kind, boundary.tool) == ("compact", "compact_boundary")
    assert json.loads(boundary.extra)["preTokens"] == 167_000
    assert summary.kind == "summary"
    assert summary.text.endswith("Summary: a retry.")


def test_titles() -> None:
    rows = (
        {"type": "summary", "summary": "Retrying", "leafUuid": "x"},
        {"type": "ai-title", "aiTitle": "Uploads", "sessionId": "s1"},
        {"type": "custom-title", "customTitle": "Mine", "sessionId": "s1"},
    )
    assert [(event.kind, event.text, event.ref) for event in read(*rows)] == [
        ("title", "Retrying", "x"),  # names the session with that line
        ("title", "Uploads", ""),
        ("title", "Mine", ""),
    ]


@rows("row", "called")
def test_everything_else_is_other(row: Row, called: str) -> None:
    (event,) = read(row)
    assert (event.kind, event.tool, event.text, event.failed) == ("other", called, "", False)


def test_an_unknown_block_is_other() -> None:
    rows = Transcript("s1", "/p").reply("said", {"type": "hologram", "data": "x"})
    assert [(event.kind, event.tool) for event in read(*rows)] == [("reply", ""), ("other", "hologram")]


def test_no_line_of_an_ordinary_session_is_left_out() -> None:
    t = transcripts.session(turns=4)
    plain = [(id, number) for row in t.lines if "uuid" in row for id, number, _ in _blocks(row)]
    found = [event.id for event in read(*t.lines)]
    assert len(found) == len(set(found))
    assert {f"{id}:{number}" for id, number in plain} <= set(found)
    assert len(found) >= len(t.lines)


def _blocks(row: Row) -> list[tuple[str, int, str]]:
    content = row["message"]["content"] if row["type"] in ("user", "assistant") else ""
    return [(row["uuid"], n, "") for n in range(len(content) if isinstance(content, list) else 1)]


def test_every_reader_is_for_a_kind_that_is_written() -> None:
    assert set(READERS) >= {"user", "assistant", "system", "attachment", "queue-operation", "summary"}


# --- ids and times ----------------------------------------------------------------------------------------------------


def test_the_same_line_has_the_same_id_in_every_file() -> None:
    """R7: a fork repeats the lines it came from under their own ids."""
    t = transcripts.session(turns=2)
    fork = t.fork("s2")
    mine = [event.id for event in read(*[row for row in t.lines if "uuid" in row])]
    theirs = [
        event.id for event in read(*[row for row in fork.lines if "uuid" in row], source=SOURCE._replace(session="s2"))
    ]
    assert mine == theirs


def test_a_line_without_id_is_known_by_its_place() -> None:
    row = {"type": "mode", "mode": "plan"}
    ids = {
        line(row, 0).events[0].id,
        line(row, 10).events[0].id,
        line(row, 0, SOURCE._replace(session="s2")).events[0].id,
        line(row, 0, SOURCE._replace(agent="a1")).events[0].id,
    }
    assert len(ids) == 4
    assert line(row, 0).events[0].id in ids


@pytest.mark.parametrize("uuid", ["", None, 7, [], "../../../etc/passwd", "a\0b", "half \ud83d"])
def test_odd_ids(uuid: object) -> None:
    (event,) = read({"type": "user", "uuid": uuid, "message": {"content": "x"}})
    assert event.id.endswith(":0")
    assert "\0" not in event.id
    event.id.encode()


@pytest.mark.parametrize("stamp", [None, "", "yesterday", 1_700_000_000, [], "2026-99-99T00:00:00Z", "\ud83d"])
def test_a_line_without_time_has_that_of_its_neighbour(stamp: object) -> None:
    (event,) = read({"type": "user", "timestamp": stamp, "message": {"content": "x"}})
    assert event.at == AT


def test_a_line_from_the_far_future_is_not_the_newest_for_ever() -> None:
    (event,) = read({"type": "user", "timestamp": "9999-12-31T23:59:59.999Z", "message": {"content": "x"}})
    assert event.at == AT


def test_lines_at_the_start_have_the_first_time_there_is() -> None:
    lines = [b'{"type":"summary"}', b"", b'{"timestamp":"garbage"}', b'{"timestamp":"2026-03-02T09:00:00.000Z"}']
    assert first_moment(lines) == datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()
    assert first_moment(lines[:3]) == 0.0
    assert first_moment([]) == 0.0


# --- usage ------------------------------------------------------------------------------------------------------------


def test_usage_of_a_response_is_said_on_each_of_its_lines(t: Transcript) -> None:
    rows = t.reply("one", "two", "three", usage=50_000)
    usages = [line(row).usage for row in rows]
    assert len({usage.message for usage in usages}) == 1, "the same id, so that it counts once"
    assert {usage.input + usage.cache_read + usage.cache_write for usage in usages} == {50_000}
    assert [usage.output for usage in usages] == sorted({usage.output for usage in usages}), "and it grows"
    assert {(usage.session, usage.model, usage.agent) for usage in usages} == {("s1", transcripts.MODEL, "")}


def test_what_the_cli_says_in_the_model_s_place_used_nothing(t: Transcript) -> None:
    assert [line(row).usage for row in t.api_error()] == [None, None]


def test_nobody_but_the_model_uses_tokens() -> None:
    t = Transcript("s1", "/p")
    usage = '{"type":"assistant","message":{"usage":{"input_tokens":199999}}}'
    rows = [*t.prompt(usage), *t.call("Bash", {"command": "cat"}, usage)]
    assert Counter(line(row).usage is None for row in rows) == {True: 2, False: 1}


@pytest.mark.parametrize("count", [-5, "many", None, True, 1 << 60, 3.5, []])
def test_odd_counts_are_none(count: object) -> None:
    message = {"id": "m", "model": "x", "content": [], "usage": {"input_tokens": count, "output_tokens": 9}}
    usage = line({"type": "assistant", "message": message}).usage
    assert usage == Usage("m", AT, "s1", "dir:/p", "", "x", 0, 0, 0, 9)


@pytest.mark.parametrize("message", ["hi", None, [], {"usage": 7}, {"usage": {}}, {"id": 7, "usage": {}}])
def test_odd_messages_have_no_usage(message: object) -> None:
    assert line({"type": "assistant", "message": message}).usage is None


# --- any line at all --------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)
WORDS = st.sampled_from(
    [*READERS, "text", "tool_use", "tool_result", "thinking", "image", "document", "compact_boundary", "local_command"]
)
BLOCKS = st.fixed_dictionaries(
    {"type": WORDS | VALUES},
    optional=dict.fromkeys(
        ("text", "input", "name", "id", "content", "thinking", "source", "tool_use_id", "is_error"), VALUES
    ),
)
MESSAGES = st.fixed_dictionaries(
    {"content": VALUES | st.lists(BLOCKS | VALUES, max_size=4)},
    optional=dict.fromkeys(("usage", "id", "model"), VALUES),
)
FIELDS = ("uuid", "timestamp", "isMeta", "isSidechain", "agentId", "isCompactSummary", "subtype", "attachment")
ROWS = st.fixed_dictionaries(
    {"type": WORDS | VALUES},
    optional={
        **dict.fromkeys((*FIELDS, "operation", "content", "summary", "compactMetadata", "aiTitle"), VALUES),
        "message": VALUES | MESSAGES,
    },
)


@settings(max_examples=50)
@given(ROWS)
def test_any_row_becomes_events_that_can_be_kept(row: dict[str, Any]) -> None:
    found = read_line(json.dumps(row).encode(), SOURCE, 0, AT)
    assert found is not None
    assert found.events
    for event in found.events:
        assert event.kind in KINDS
        for value in event:
            if isinstance(value, str):
                assert "\0" not in value
                value.encode()
        assert isinstance(event.failed, bool)
        json.loads(event.extra or "{}")
    assert len({event.id for event in found.events}) == len(found.events)


@given(st.binary(max_size=200).filter(lambda data: b"\n" not in data))
def test_any_bytes_become_one_event_or_none(data: bytes) -> None:
    found = read_line(data, SOURCE, 0, AT)
    assert (found is None) == (not data.strip())
    assert found is None or len(found.events) >= 1


def test_a_file_of_a_real_shape(tmp_path: Path) -> None:
    transcripts.big(tmp_path / "big.jsonl", 200_000)
    lines = (tmp_path / "big.jsonl").read_bytes().split(b"\n")[:-1]
    events = [event for n, data in enumerate(lines) for event in (read_line(data, SOURCE, n, AT) or []).events]  # type: ignore[union-attr]
    assert len(events) == len(transcripts.blocks(tmp_path / "big.jsonl"))


def told_as_progress(message: Row, uuid: str) -> Row:
    """As 2.1.38 writes a subagent's message into its session."""
    inner = {"uuid": f"inner-{uuid}", "timestamp": "2026-02-11T00:26:09.713Z", **message}
    data = {"type": "agent_progress", "agentId": "a410351", "prompt": "Look.", "message": inner}
    return {"type": "progress", "isSidechain": False, "uuid": uuid, "parentUuid": "p", "data": data}


def test_what_a_subagent_did_is_kept_where_it_stands_as_progress_of_its_session() -> None:
    content = [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/app/state.go"}}]
    usage = {"input_tokens": 3, "output_tokens": 5}
    asked = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Look at state.go."}]}}
    did = {"type": "assistant", "message": {"id": "msg_1", "model": "m", "content": content, "usage": usage}}
    heard = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "package session"}
    result = {"type": "user", "message": {"role": "user", "content": [heard]}}
    rows = [told_as_progress(row, str(number)) for number, row in enumerate((asked, did, result))]
    found = read(*rows)
    assert [(event.kind, event.agent, event.path or event.text) for event in found] == [
        ("task", "a410351", "Look at state.go."),
        ("call", "a410351", "/app/state.go"),
        ("result", "a410351", "package session"),
    ]
    assert [event.id for event in found] == ["inner-0:0", "inner-1:0", "inner-2:0"], "as in a transcript of its own"
    assert line(rows[1]).usage.agent == "a410351"
    assert kinds({"type": "progress", "uuid": "x", "data": {"type": "agent_progress", "message": "odd"}}) == ["other"]
