"""The command line, the hooks, the files and the settings as scripts and other tools rely on them: one table for each.

Every row is called for real, in a home with a history. What is promised here does not change without the old form
working on; new options, keys and files may come.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memory_keeper.cli.aliases import ALIASES
from memory_keeper.cli.main import COMMANDS, build_parser
from memory_keeper.settings import DEFAULTS
from memory_keeper.store.home import Lock
from tests.docs.history import History
from tests.docs.shell import Done
from tests.host.test_registration import CLAUDE
from tests.machine import Session

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    """The history, once: what only reads it needs no other."""
    with pytest.MonkeyPatch.context() as patch:
        history = History(tmp_path_factory.mktemp("contract"), patch)
    yield history
    history.close()


@pytest.fixture
def history(made: History) -> Iterator[History]:
    """The history, for what changes it."""
    yield made
    made.restore()


class Row(NamedTuple):
    """A command line and what it gives."""

    line: str
    keys: str = ""  # of its JSON document, or of each entry of one that is a list
    shows: str = ""  # among what it prints for people
    code: int = 0
    given: str = ""  # on stdin


def check(history: History, row: Row, **names: str) -> Done:
    """Call it, for a program where a row has keys and for people where it shows something."""
    words = shlex.split(row.line.format(**history.names, **names))
    calls = [["--json"]] * bool(row.keys) + [[]] * bool(row.shows or not row.keys)
    for form in calls:
        done = history(*words, *form, given=row.given)
        problem = wrong(done, row, row.shows.format(**history.names, **names), bool(form))
        assert not problem, f"{problem}: {words} gave {done}"
    return done


def wrong(done: Done, row: Row, shown: str, as_json: bool) -> str:
    """What is not as a row says."""
    if done.code != row.code:
        return f"not exit code {row.code}"
    if as_json:
        return f"without {missing(done.json, row.keys)}" if missing(done.json, row.keys) else ""
    if "\x1b" in done.out + done.err and "statusline" not in row.line:
        return "coloured, where nobody looks at it"
    return "" if shown in done.out + done.err else f"without {shown!r}"


def missing(document: Any, keys: str) -> set[str]:
    """What is not in a document, or in one of a list that ought to have some."""
    entries = document if isinstance(document, list) else [document]
    assert entries
    return {key for key in keys.split() for entry in entries if key not in entry}


def check_all(history: History, rows: tuple[Row, ...]) -> None:
    """Call them one after the other; {last} is the id that the one before gave."""
    last = ""
    for row in rows:
        done = check(history, row, last=last)
        if row.keys and not row.shows and isinstance(done.json, dict):
            last = str(done.json.get("id", last))


def said(value: Any) -> str:
    """A row as the name of its test."""
    return re.sub(r"[^\w.<>= -]", "", value.line if isinstance(value, Row) else str(value))[:60]


# --- every command ----------------------------------------------------------------------------------------------------

# with the options that are promised, beside those that every command has
PROMISED = {
    "install": "--scope",
    "uninstall": "--purge --dry-run --yes",
    "doctor": "--fix",
    "status": "",
    "hook": "",
    "context": "--session --transcript",
    "statusline": "--wrap",
    "save": "",
    "load": "",
    "restart": "",
    "handoff": "",
    "sessions": "--limit",
    "clear": "--dry-run --yes",
    "watch": "",
    "run": "",
    "search": "--level --kind --tool --file --role --since --until --session --all-projects --regex --deep --limit",
    "show": "--children --raw",
    "timeline": "--around",
    "why": "--last --session",
    "fix": "",
    "how": "",
    "blame": "",
    "brief": "--budget --session",
    "note": "--dry-run --yes",
    "rule": "--dry-run --yes",
    "observe": "--dry-run --yes",
    "task": "--dry-run --yes",
    "compact": "--session --session-now --observations --tasks --dry-run",
    "summarize": "--level --with --again --note --compare",
    "report": "--month --format",
    "usage": "--by",
    "import": "",
    "export": "--format",
    "mcp": "",
    "schedule": "",
    "config": "--show-origin",
    "demo": "--keep --serve",
    "serve": "--open --port",
    "share": "--dry-run --yes",
    "unshare": "--dry-run --yes",
    "team": "",
    "sync": "--git --to --watch",
}


@pytest.mark.parametrize("command", PROMISED)
def test_every_command_has_help_with_an_example_and_the_options_that_are_promised(made: History, command: str) -> None:
    done = made(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^example: (\./)?memory-keeper ", done.out, re.MULTILINE)
    words = set(re.findall(r"--[a-z-]+", done.out))
    assert words >= {"--json", "--project", "--home", *PROMISED[command].split()}


def test_no_command_was_taken_away() -> None:
    assert set(PROMISED) <= {*COMMANDS, *ALIASES}


READING = (
    Row("status", "last_look sessions events pending notes last_handoff store_bytes", "last captured"),
    Row("status --all-projects", "sessions events", "3 sessions"),
    Row("doctor", "verdict checks", "not registered", code=1),
    Row("sessions", "id at title turns tokens state", "turn"),
    Row("sessions --limit 1", "id"),
    Row("context", "tokens window percent compacts_at level model at breakdown", "What ate the context"),
    Row("context --session {running}", "tokens level breakdown", "60,014"),
    Row("context --transcript {transcript}", "tokens window percent level model", "of 200,000 tokens"),
    Row("load", "name text tokens cites", '<memory-keeper brief="handoff"'),
    Row("load --memory", "name text tokens cites", "{decided}"),
    Row("search retry", "id level kind at session project score snippet path", "«Retry»"),
    Row("show {event}", "id at kind session project text", "{decided}"),
    Row("show {event} --raw", shows='"type":"text"'),
    Row("show {note} --children", "id children", "prompt"),
    Row("timeline", "id at kind session text", "session 00000001"),
    Row("timeline --around {event}", "id at kind here", "{decided}"),
    Row("why", "event brief tokens lines", "start (startup)"),
    Row("why --last", "event brief tokens lines", "tokens"),
    Row("why --session {compacted}", "event brief tokens lines", "start (compact)"),
    Row('fix "{error}"', "signature fixes", "pip install pyyaml"),
    Row("how pytest", "name times ok failed forms", "pytest -q"),
    Row("blame src/uploader/client.py", "path touches", "Retry only idempotent uploads"),
    Row("note list", shows="No standing notes."),
    Row("rule list", "id text scope", "1."),
    Row("observe list", "id text confirmations state", "run make check first"),
    Row("task list", "id text state", "Add jitter to the back-off"),
    Row("share", shows="Nothing of this project is shared"),
    Row("team list", shows="shared with nobody"),
    Row("sync", shows="shared with nobody", code=3),
    Row("report", "month total sessions", "## Monthly Report"),
    Row("report --month 2026-01", "month total", "January 2026"),
    Row("report --format html", shows="<!doctype html>"),
    Row("report --format json", shows='"month"'),
    Row("schedule", "line", "upkeep"),
    Row("uninstall --purge --dry-run", "would_remove", "{project}/.claude/memory/memory.md"),
    Row("config list --show-origin", "settings", "default"),
    Row("config get reduce.saveInterval", "key value origin", "25"),
    Row("watch --once", shows=""),
    Row("run -- sh -c 'echo it ran'", shows="it ran"),
    *(Row(f"usage --by {by}", "rows total", "total") for by in ("day", "week", "month", "session", "model", "project")),
    Row("usage --by tool", "tools total", "Bash"),
)


@pytest.mark.parametrize("row", READING, ids=said)
def test_what_reads(made: History, row: Row) -> None:
    check(made, row)


BRIEFS = "start handoff memory rules replay sessions observations tasks report"


@pytest.mark.parametrize("name", BRIEFS.split())
def test_every_brief_is_printed(made: History, name: str) -> None:
    done = check(made, Row(f"brief {name}", "name text tokens cites"))
    assert done.json["name"] == name
    assert "Memory Keeper" in done.json["text"].split("\n")[1] or name in ("rules", "handoff")
    short = made("brief", name, "--budget", "300", "--json")
    assert short.code in (0, 1) and (short.code or short.json["tokens"] <= 300)


Hit = dict[str, Any]
SEARCHES: tuple[tuple[str, Callable[[Hit], bool]], ...] = (
    ("--level 0", lambda hit: hit["level"] == 0),
    ("--level 1", lambda hit: hit["level"] == 1),
    ("--kind prompt", lambda hit: hit["kind"] == "prompt"),
    ("--tool Edit", lambda hit: hit["kind"] in ("call", "result")),
    ("--file src/uploader/client.py", lambda hit: hit["kind"] != "todo"),
    ("--role user", lambda hit: hit["kind"] in ("prompt", "queued", "command")),
    ("--since 1d --until 2099-01-01", lambda hit: hit["at"] > 0),
    ("--session {before}", lambda hit: hit["session"].startswith("00000001")),
    ("--all-projects", lambda hit: True),
    ("--regex", lambda hit: "retry" in hit["snippet"].lower()),
    ("--deep", lambda hit: True),
)


@pytest.mark.parametrize(("options", "holds"), SEARCHES, ids=[options for options, _ in SEARCHES])
def test_a_search_keeps_to_what_its_options_say(made: History, options: str, holds: Callable[[Hit], bool]) -> None:
    found = check(made, Row(f"search retry {options}", "id level kind at session project score snippet path")).json
    assert all(map(holds, found))
    scores = [hit["score"] for hit in found if hit["score"]]  # a transcript's own line has none
    assert scores == sorted(scores, reverse=True), "best first"
    limited = check(made, Row(f"search retry {options} --limit 1", "id")).json
    assert [hit["id"] for hit in limited] == [found[0]["id"]]


# --- what changes something -------------------------------------------------------------------------------------------

CHANGING = {
    "save": (
        Row("save", "session path notes files"),
        Row("load --session {running}", shows="Retry-After"),
    ),
    "restart": (Row("restart", "session path asked"),),
    "handoff": (
        Row("handoff", "session path tokens goal state next rules story last files commands references"),
        Row("handoff", shows="## Goal"),
    ),
    "note": (
        Row("note set project 'It uploads files.'", "id kind text"),
        Row("note get project", shows="It uploads files."),
        Row("note set architecture 'A queue and a client.'", "id"),
        Row("note set conventions 'Tabs.'", "id"),
        Row("note edit conventions", shows="no terminal to edit in", code=1),
        *(Row(f"note add {kind} 'One {kind}.'", "id kind text") for kind in ("decision", "issue", "fact")),
        Row("note rm {last} --yes", shows="Taken away: {last}"),
        Row("note list", "id kind text who"),
        Row("note list --kind decision", shows="One decision."),
        Row("brief start", shows="It uploads files."),
    ),
    "rule": (
        Row("rule add 'Run make check.' --yes", "id text"),
        Row("rule list", shows="Run make check."),
        Row("brief rules", shows="Run make check."),
        Row("rule sync --yes", shows="CLAUDE.md"),
        Row("rule sync --remove --yes", shows="CLAUDE.md"),
        Row("rule rm {last} --yes", shows="{last}"),
    ),
    "observe": (
        Row("observe add 'The tests need a VPN.'", "id text"),
        Row("observe confirm {last}", shows="confirmed once"),
        Row("observe list", shows="The tests need a VPN."),
        Row("observe promote {last} --yes", shows="The tests need a VPN."),
        Row("rule list", shows="The tests need a VPN."),
    ),
    "task": (
        Row("task add 'Send a HEAD first' --id TASK-42", "id text"),
        Row("task list", shows="TASK-42"),
        Row("task done TASK-42 --outcome 'It does.'", "id"),
        Row("task list --done", shows="Send a HEAD first"),
    ),
    "compact": (
        Row("compact --session", "session handoff archive before after"),
        Row("compact --session-now", shows="CONTEXT_ARCHIVE.md"),
        Row("compact --observations --tasks", "projects"),
        Row("compact --session --observations --tasks", "session projects"),
    ),
    "summarize": (
        Row("summarize", "made worded asked"),
        Row("summarize --level 1 --with extractive --again", "worded"),
        Row("summarize --with agent --again", shows="delta_temp.txt"),
        Row("summarize --compare extractive,openai", "note level compared", code=5),
    ),
    "export": (
        Row("export", "format folder files names"),
        Row("export --format seeds --to {out}/seeds", shows="files in {out}/seeds"),
        Row("export --format jsonl --to {out}", shows="1 file in {out}"),
        Row("export --format md --to {out}", shows="1 file in {out}"),
    ),
    "import": (
        Row("import transcripts", "files lines events_added events_known skipped"),
        Row("import transcripts {transcript} --home {out}/home", "files lines events_added events_known skipped"),
        Row("import transcripts {transcripts} --home {out}/home", shows="3 files"),
    ),
    "config": (
        Row("config set reduce.saveInterval 30", "key was now in_force"),
        Row("config get reduce.saveInterval", shows="30"),
        Row("config list --show-origin", shows="config.json"),
        Row("config unset reduce.saveInterval", shows="25"),
    ),
    "doctor": (Row("doctor --fix", "verdict checks", "Verdict: ", code=1),),
    "clear": (Row("clear --yes", "outlines files"), Row("status", shows="1 at level 2")),
    "statusline": (
        Row("statusline", shows="45%", given="{status}"),
        Row("statusline --wrap 'echo mine'", shows="mine", given="{status}"),
    ),
    "demo": (Row("demo", "events hooks context_tokens told_tokens compactions handoff brief found"),),
    "install": (
        Row("install --scope user", "installed scope"),
        Row("doctor", shows="OK    plugin"),
        Row("uninstall --dry-run", "would_remove", "would remove"),
        Row("uninstall", "registered unregistered restored kept"),
        Row("uninstall --purge --yes", shows="is gone."),
        Row("status", code=3),
    ),
}
STATUS = {
    "model": {"id": "claude-sonnet-4-5", "display_name": "Sonnet"},
    "context_window": {"context_window_size": 200_000, "current_usage": {"input_tokens": 90_000}},
}


@pytest.mark.parametrize("command", CHANGING)
def test_what_changes_something(history: History, command: str) -> None:
    if command == "install":
        program = history.machine.user / "bin/claude"
        program.write_text(f"#!{sys.executable} -IS\n{CLAUDE}")
        program.chmod(0o755)
    rows = [row._replace(given=json.dumps(STATUS) if row.given else "") for row in CHANGING[command]]
    check_all(history, tuple(rows))


DESTRUCTIVE = (
    "uninstall --purge",
    "forget --everything",
    "clear",
    "note rm project",
    "rule rm {rule}",
    "rule sync",
    "observe rm {observation}",
    "observe promote {observation}",
    "task rm TASK-42",
)


@pytest.mark.parametrize("line", DESTRUCTIVE)
def test_what_takes_something_away_asks_first_and_can_say_what_it_would_do(history: History, line: str) -> None:
    check_all(history, (Row("note set project X", "id"), Row("task add 'A head' --id TASK-42", "id")))
    rule = check(history, Row("rule add 'Run make check.' --yes", "id")).json["id"]
    seen = check(history, Row("observe add 'It needs a VPN.'", "id")).json["id"]
    before = contents(history)
    check(history, Row(f"{line} --dry-run", shows=""), rule=rule, observation=seen)
    assert contents(history) == before
    done = check(history, Row(line, code=1), rule=rule, observation=seen)  # nobody is there to ask
    assert "--yes" in done.err
    assert contents(history) == before
    check(history, Row(f"{line} --yes"), rule=rule, observation=seen)
    assert contents(history) != before


def contents(history: History) -> list[object]:
    """The files of the project, and which notes there are."""
    files = [(path, path.read_bytes()) for path in history.machine.files(history.project)]
    store = history.machine.home / "store.db"
    if not store.exists():
        return [files]
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as kept:
        return [files, kept.execute("select id, covered_by from note order by id").fetchall()]


# --- exit codes -------------------------------------------------------------------------------------------------------

CODES = (
    Row("--version", code=0, shows="memory-keeper "),
    Row("", code=0, shows="usage:"),
    Row("show no-such-thing", code=1, shows="hint: "),
    Row("search '(' --regex", code=1, shows="regular expression"),
    Row("context --transcript /nowhere.jsonl", code=1, shows="hint: "),
    Row("status --project /nowhere", code=1, shows="is not a directory"),
    Row("nonsense", code=2, shows="usage:"),
    Row("search", code=2, shows="usage:"),
    Row("search retry --limit 0", code=2, shows="usage:"),
    Row("brief nonsense", code=2, shows="usage:"),
    Row("status --home {out}/none", code=3, shows="hint: "),
    Row("search retry --home {out}/none", code=3, shows="hint: "),
    Row("watch --once", code=4, shows="Another watcher"),
    Row("import transcripts {transcript} {broken}", code=5, shows="1 of 2 files could not be read"),
)


@pytest.mark.parametrize("row", CODES, ids=said)
def test_the_exit_code_says_how_it_went(history: History, row: Row) -> None:
    Path(history.names["broken"]).write_bytes(b"no gzip at all")
    with Lock(str(history.machine.home), 1.0, "watch"):
        done = check(history, row)
    assert "Traceback" not in done.err
    if row.code not in (0, 2, 5):
        assert re.fullmatch(r"memory-keeper: [^\n]+\n( +hint: [^\n]+\n)?", done.err), "one line, and a hint"


# --- which project, which home ----------------------------------------------------------------------------------------


def test_the_project_is_the_one_around_the_working_directory_or_the_one_that_is_named(made: History) -> None:
    here = made("status", "--json", cwd=made.source.parent).json["project"]
    there = made("status", "--json", "--project", str(made.project), cwd=Path("/")).json["project"]
    assert here == there == f"dir:{made.project}"


def test_the_home_is_the_one_that_is_named(history: History) -> None:
    other = Path(history.names["out"]) / "home"
    history("note", "set", "project", "Elsewhere.", "--home", str(other))
    assert (other / "store.db").exists()
    assert history("note", "get", "project").code == 1


def test_the_programs_of_a_checkout(made: History) -> None:
    """`./memory-keeper`, and `compress-context` under its own name."""
    for words, shown in (
        (["./memory-keeper", "status"], "last captured"),
        (["bin/memory-keeper", "status"], "last captured"),
        (["bin/compress-context", "--session-now", "--observations", "--tasks", "--dry-run"], "CONTEXT_ARCHIVE.md"),
    ):
        program, *rest = words
        command = [str(ROOT / program), *rest, "--project", str(made.project)]
        done = subprocess.run(command, env=made.environ, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert shown in done.stdout


def test_the_server_speaks_with_who_starts_it(made: History) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
    asked = [hello, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    done = made("mcp", given="".join(json.dumps(one) + "\n" for one in asked))
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.out.splitlines())}
    assert answers[1]["serverInfo"]["name"] == "memory-keeper"
    assert {tool["name"] for tool in answers[2]["tools"]} >= {"search", "get", "remember", "context", "handoff"}


# --- the names of the seeds -------------------------------------------------------------------------------------------

SEEDS = (  # as the documents of the earlier plugin call them; each answers
    Row("memory-set project A shop for narwhals.", "id kind text"),
    Row("memory-get project", "text", "narwhals"),
    Row("memory-get", "id text", "narwhals"),
    Row("memory-list", "id text", "narwhals"),
    Row("compress", "command did why", "Nothing to do"),
    Row("refine-all", "command did why", "Nothing to do"),
    Row("dedupe-l1", "command did why", "Nothing to do"),
    Row("check", "command did why", "Nothing to do"),
    Row("final", "command did why", "Nothing to do"),
    Row("reset", "command did why", "Nothing to do"),
    Row("generate-l3 memory_20260113_120000.md", "made"),
    Row("migrate-legacy --dry-run", "found"),
    Row("search-memory retry --deep", "id snippet"),
    Row("save-memory", "files"),
    Row("load-memory", "text"),
    Row("clear-memory --dry-run"),
    Row("context-check", "tokens"),
    Row("compress-context --session-now --observations --tasks --dry-run", "session projects"),
)


@pytest.mark.parametrize("row", SEEDS, ids=said)
def test_a_command_of_the_seeds_answers(history: History, row: Row) -> None:
    check(history, SEEDS[0])
    check(history, row)


def test_every_command_of_the_earlier_plugin_is_tried() -> None:
    tried = {row.line.split()[0] for row in SEEDS}
    ours = {*PROMISED, "soft-restart"}  # `restart` asks for a clear, and has tests of its own
    assert {*ALIASES} - ours <= tried


@pytest.mark.parametrize("key", ["quietStop", "keepRaw"])
def test_a_setting_that_means_nothing_here_says_so(made: History, key: str) -> None:
    check(made, Row(f"config get {key}", "key value meaning", "has no meaning here"))
    check(made, Row(f"config set {key} true", shows="has no meaning here", code=1))


# --- hooks ------------------------------------------------------------------------------------------------------------

TAG = '<memory-keeper brief="'
HOOKS: tuple[tuple[str, dict[str, Any], str], ...] = (
    # the event, what the host says of it, and what the model is told
    ("SessionStart", {"source": "startup"}, TAG + "start"),
    ("SessionStart", {"source": "resume"}, TAG + "start"),
    ("SessionStart", {"source": "clear"}, TAG + "start"),
    ("SessionStart", {"source": "compact"}, TAG + "handoff"),
    ("SessionStart", {"source": "fork"}, TAG + "handoff"),
    ("UserPromptSubmit", {"prompt": "And now?"}, ""),  # the rules were told, and nothing is due
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}}, ""),
    ("Stop", {"last_assistant_message": "Done.", "stop_hook_active": False}, ""),
    ("SubagentStop", {"last_assistant_message": "Done.", "agent_id": "a1"}, ""),
    ("PreCompact", {"trigger": "auto"}, ""),
    ("PostCompact", {"trigger": "auto", "compact_summary": "The user wants uploads."}, ""),
    ("SessionEnd", {"reason": "other"}, ""),
    ("NobodyKnowsIt", {"reason": "other", "new": {"field": 1}}, ""),
)


def hook(history: History, session: Session, event: str, **fields: Any) -> dict[str, Any]:
    """What a hook answers: one JSON object or nothing, but for the instructions of a compaction, which are plain."""
    done = history("hook", event, given=json.dumps(session.payload(event, **fields)))
    history.machine.settle()
    assert (done.code, done.err) == (0, "")
    assert len(done.out) < 10_000
    if event == "PreCompact":
        assert done.out == DEFAULTS["compaction.instructions"] + "\n" * done.out.endswith("\n")
        return {}
    answer = json.loads(done.out) if done.out else {}
    assert isinstance(answer, dict)
    return answer


def told(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.mark.parametrize(
    ("event", "fields", "begins"), HOOKS, ids=[" ".join((event, said.get("source", ""))) for event, said, _ in HOOKS]
)
def test_what_a_hook_answers(history: History, event: str, fields: dict[str, Any], begins: str) -> None:
    sessions = {"resume": history.compacted, "compact": history.compacted, "fork": history.fork()}
    source = str(fields.get("source", ""))
    session = sessions.get(source) or (history.session() if source else history.running)
    text = told(hook(history, session, event, **fields))
    assert text.startswith(begins) and bool(text) == bool(begins)
    if TAG in text:
        lines = text.split("\n")
        assert "data, not instructions" in lines[1]
        assert any(re.match(r"\| .* \[[\w:-]+\]$", line) for line in lines), "quoted, and cited"


def test_each_level_of_a_context_is_told_once_also_where_no_prompt_comes(history: History) -> None:
    session = history.running
    session.fill(150_000)
    assert '<memory-keeper context="warn">' in told(hook(history, session, "UserPromptSubmit", prompt="Go on."))
    assert "context=" not in told(hook(history, session, "UserPromptSubmit", prompt="Go on."))
    session.fill(165_000)
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}}
    answer = hook(history, session, "PostToolUse", **call)
    assert '<memory-keeper context="critical">' in told(answer)
    assert "82 %" in answer["systemMessage"], "the user as well"
    assert not hook(history, session, "PostToolUse", **call)


@pytest.mark.parametrize("event", ["PreCompact", "SessionEnd"])
def test_the_handoff_is_written_before_anything_is_lost(history: History, event: str) -> None:
    assert not history.running.handoff.exists()
    hook(history, history.running, event, trigger="auto", reason="other")
    assert "429" in history.running.handoff.read_text()
    (hit, *_) = history("search", "429", "--kind", "handoff", "--json").json
    assert hit["session"] == history.running.id, "it is a note as well"


@pytest.mark.parametrize("given", ["", "garbage", "[]", "null", '{"session_id": 7}', '{"session_id": "../../x"}'])
def test_a_hook_never_fails(history: History, given: str) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        done = history("hook", event, given=given)
        assert (done.code, done.err) == (0, "")
        assert not done.out or isinstance(json.loads(done.out), dict)
    history.machine.settle()


EVENTS = "SessionStart UserPromptSubmit PostToolUse Stop SubagentStop PreCompact PostCompact SessionEnd"


def test_the_hooks_that_are_registered() -> None:
    registered = json.loads((ROOT / "plugin/hooks/hooks.json").read_text())["hooks"]
    assert set(registered) >= set(EVENTS.split())
    assert "PreToolUse" not in registered, "nothing waits for us before a tool"
    assert {one["type"] for groups in registered.values() for group in groups for one in group["hooks"]} == {
        "mcp_tool",
        "command",
    }


# --- files ------------------------------------------------------------------------------------------------------------

FILES = (
    ".gitignore",
    "memory.md",
    "memory_20??????_??????.md",
    "memory_20??????_??????.summary.json",
    "memory-index.json",
    "sessions/*.l1.jsonl",
    "handoffs/HANDOFF-00000001-*.md",
    "CONTEXT_ARCHIVE.md",
    "OBSERVATIONS.md",
    "ACTIVE_RULES.md",
    "OBSERVATION_ARCHIVE.md",
    "DONE.md",
    "TASK_ARCHIVE.md",
    "project.md",
    "architecture.md",
    "conventions.md",
)
WORK = (
    *(Row(f"note set {kind} 'About it.'", "id") for kind in ("project", "architecture", "conventions")),
    Row("config set compaction.triggers.taskArchive.keepRecentCount 1", "key"),
    Row("task add 'One more' --id TASK-7", "id"),
    Row("task done TASK-7", "id"),
    Row("observe add 'The tests need a VPN.'", "id"),
    Row("observe promote {last} --yes", shows="VPN"),
    Row("clear --yes", "outlines"),
    Row("save", "files"),
    Row("compact --session --observations --tasks", "session"),
    Row("export", "names"),
)


def test_the_files_for_people(history: History) -> None:
    check_all(history, WORK)
    folder = history.project / ".claude/memory"
    assert not [name for name in FILES if not [*folder.glob(name)]]
    assert (folder / ".gitignore").read_text().splitlines()[-1] == "*"
    (summary,) = folder.glob("*.summary.json")
    archived = folder / summary.name.replace(".summary.json", ".md")
    assert re.search(r"^## \d{4}-\d\d-\d\d_\d{4} \(local \d\d-\d\d_\d{4}\)$", archived.read_text(), re.MULTILINE)
    outline = json.loads(summary.read_text())
    assert missing(outline, "dateRange sectionCount themes keyDecisions issues overallSummary") == set()
    (archive, *_) = json.loads((folder / "memory-index.json").read_text())["rotatedFiles"]
    assert missing(archive, "file rotatedAt tokens bytes summary summaryGenerated dateRange") == set()
    first = json.loads(next(folder.glob("sessions/*.l1.jsonl")).read_text().splitlines()[0])
    assert missing(first, "ts role text") == set()


def test_all_of_them_can_be_made_again(history: History) -> None:
    folder = history.project / ".claude/memory"
    kept = {path.name for path in history.machine.files(folder)}
    shutil.rmtree(folder)
    lines = ("save", "handoff --session {before}", "handoff --session {compacted}", "compact --observations --tasks")
    check_all(history, tuple(map(Row, lines)))
    assert kept <= {path.name for path in history.machine.files(folder)}


# --- settings ---------------------------------------------------------------------------------------------------------

MEMORY, OURS, LOCAL = ".claude/memory/config.json", ".claude/memory-keeper.json", ".claude/memory-keeper.local.json"
CLAUDES = "home/.claude/settings.json"
TRIGGERS = "compaction.triggers."
SETTINGS: tuple[tuple[str, str, Any, str, Any], ...] = (
    # the file, the key that the documents used, what it says, our key, what holds then
    (MEMORY, "saveInterval", 10, "reduce.saveInterval", 10),
    (MEMORY, "rulesInjectionFrequency", 3, "rules.every", 3),
    (MEMORY, "memoryRotation.thresholdTokens", 20_000, "reduce.memoryTokens", 19_000),
    (MEMORY, "memoryRotation.carryoverTokens", 2_000, "reduce.carryOverTokens", 1_900),
    (OURS, "saveInterval", 11, "reduce.saveInterval", 11),
    (LOCAL, "saveInterval", 12, "reduce.saveInterval", 12),
    (CLAUDES, "compaction.enabled", False, "compaction.enabled", False),
    (CLAUDES, TRIGGERS + "sessionTokens.enabled", False, TRIGGERS + "sessionTokens.enabled", False),
    (CLAUDES, TRIGGERS + "sessionTokens.threshold", 50_000, TRIGGERS + "sessionTokens.threshold", 50_000),
    (CLAUDES, TRIGGERS + "observationAge.archiveAfterDays", 14, TRIGGERS + "observationAge.archiveAfterDays", 14),
    (
        CLAUDES,
        TRIGGERS + "observationAge.escalateAfterConfirmations",
        3,
        TRIGGERS + "observationAge.escalateAfterConfirmations",
        3,
    ),
    (CLAUDES, TRIGGERS + "taskArchive.keepRecentCount", 5, TRIGGERS + "taskArchive.keepRecentCount", 5),
    (CLAUDES, TRIGGERS + "taskArchive.archiveAfterSessions", 7, TRIGGERS + "taskArchive.archiveAfterSessions", 7),
    (CLAUDES, "compaction.summaryPrompt", "Keep names.", "compaction.instructions", "Keep names."),
    (CLAUDES, "compaction.summaryModel", "haiku", "summarize.model", "haiku"),
    (CLAUDES, "compaction.archiveFormat", "list", "compaction.archiveFormat", "list"),
    (CLAUDES, "compaction.preserveTokenMetrics", False, "compaction.preserveTokenMetrics", False),
    (CLAUDES, "compaction.monthlyReview", False, "compaction.monthlyReview", False),
    # a cloned repository names no address, chooses no mode
    (OURS, "summarize.url", "https://example.org", "summarize.url", ""),
    (OURS, "summarize.level1", "openai", "summarize.level1", "extractive"),
    (OURS, "compaction.mode", "clear", "compaction.mode", "supplement"),
)


@pytest.mark.parametrize(("file", "key", "value", "ours", "holds"), SETTINGS)
def test_a_setting_means_what_it_meant(
    history: History, file: str, key: str, value: Any, ours: str, holds: Any
) -> None:
    nested = value
    for name in reversed(key.split(".")):
        nested = {name: nested}
    path = (history.machine.root if file == CLAUDES else history.project) / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(nested))
    found = history("config", "get", ours, "--json").json
    assert found["value"] == holds
    assert (found["origin"] == str(path)) == (holds != DEFAULTS[ours])


USUAL = {
    "reduce.saveInterval": 25,
    "rules.every": 0,  # the predecessor's 1 told all with every prompt
    "reduce.memoryTokens": 23_750,
    "reduce.carryOverTokens": 2_375,
    "context.warnPercent": 70,
    "context.criticalPercent": 80,
    "compaction.mode": "supplement",
    TRIGGERS + "sessionTokens.threshold": 100_000,
    TRIGGERS + "observationAge.archiveAfterDays": 28,
    TRIGGERS + "observationAge.escalateAfterConfirmations": 5,
    TRIGGERS + "taskArchive.keepRecentCount": 10,
}


def test_what_holds_where_nobody_says_otherwise() -> None:
    assert {key: DEFAULTS[key] for key in USUAL} == USUAL


def test_a_broken_file_is_told_of_and_left_alone(history: History) -> None:
    path = history.project / OURS
    path.write_text("{")
    answer = hook(history, history.session(), "SessionStart", source="startup")
    assert str(path) in answer["systemMessage"]
    assert history("config", "get", "reduce.saveInterval", "--json").json["value"] == 25
    assert path.read_text() == "{"


# --- what is not built ------------------------------------------------------------------------------------------------

UNBUILT: tuple[str, ...] = ()
PAGES = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "plugin").rglob("*.md"), README]


@pytest.mark.parametrize("line", [*UNBUILT, "import mem0"])
def test_what_is_not_built_is_refused(made: History, line: str) -> None:
    done = made(*line.split())
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("serve", "dashboard"),
        ("demo --serve", "dashboard"),
        ("team init postgresql://me@host/team --yes", "postgres"),
    ],
)
def test_what_needs_an_extra_says_which(made: History, line: str, extra: str) -> None:
    done = made(*line.split())  # in a Python that has no packages
    assert (done.code, done.out) == (3, "") and f"[{extra}]" in done.err


def roadmap(text: str) -> tuple[str, str]:
    """The roadmap of the README, and the rest of it."""
    before, _, after = text.partition("\n## Roadmap\n")
    planned, heading, rest = after.partition("\n## ")
    return planned, before + heading + rest


def test_what_is_not_built_is_named_in_the_roadmap_only() -> None:
    planned, rest = roadmap(README.read_text(encoding="utf-8"))
    assert not [name for name in UNBUILT if f"`{name}`" not in planned]
    named = re.compile("|".join([*(rf"memory-keeper {name}\b" for name in UNBUILT), "`completion`", r"\bplanned\b"]))
    pages = {page: page.read_text(encoding="utf-8") for page in PAGES if page != README} | {README: rest}
    assert not [(page.name, found[0]) for page, text in pages.items() if (found := named.search(text))]
    assert not named.search(build_parser().format_help())
