"""A context fills up: the handoff is written and both are told, each level once, and nothing is told that is not so."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import time
from typing import Any

import pytest

from memory_keeper.capture.payload import read_payload
from memory_keeper.hooks.answer import answer
from memory_keeper.settings import INSTRUCTIONS
from memory_keeper.store import spool
from memory_keeper.store.events import session_events
from tests.machine import Answer, Machine, Session, without_rights
from tests.rows import rows

WARN, CRITICAL = 145_000, 165_000  # of the 200,000 that the model has


@pytest.fixture
def session(machine: Machine) -> Session:
    """A session at work."""
    made = machine.session()
    made.start()
    made.turn("Please build the parser.", "The parser is built.")
    return made


def configure(session: Session, **settings: Any) -> None:
    path = session.machine.home / "config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({name.replace("_", "."): value for name, value in settings.items()}))


def tool(session: Session, **fields: Any) -> Answer:
    return session.happen("PostToolUse", tool_name="Bash", tool_use_id="toolu_1", **fields)


def prompt(session: Session) -> Answer:
    return session.happen("UserPromptSubmit", prompt="Go on.")


BOTH = pytest.mark.parametrize("hear", [prompt, tool], ids=["prompt", "tool"])


@BOTH
def test_both_are_told_what_to_do_and_where_the_handoff_is(session: Session, hear: Any) -> None:
    session.fill(WARN)
    answer = hear(session)
    where = str(session.handoff.relative_to(session.project))
    for said in (answer.message, answer.text):
        assert "72 % full (145,000 of 200,000 tokens)" in said and "/clear" in said
    assert "The handoff is written" in answer.text
    assert f"({where})" in answer.text
    assert answer.message == (
        "Memory Keeper: the context is 72 % full (145,000 of 200,000 tokens). Where the work stands is saved:"
        " type /clear at the next good moment, and it goes on from there."
    )
    assert "\n" not in answer.message
    assert answer.text.startswith('<memory-keeper context="warn">\n')
    assert "Please build the parser." in session.handoff.read_text()


@BOTH
def test_each_level_is_told_once(session: Session, hear: Any) -> None:
    told = []
    for tokens in (50_000, 99_999, 139_999, 140_000, 145_000, 159_999, 160_000, 165_000, 190_000):
        session.fill(tokens)
        told += [(tokens, hear(session).message.partition("type /clear ")[2][:3]) for _ in range(2)]
    assert [one for one in told if one[1]] == [(140_000, "at "), (160_000, "now")]


def test_who_passes_two_levels_at_once_is_told_of_the_higher(session: Session) -> None:
    session.fill(CRITICAL)
    answer = tool(session)
    assert answer.message.startswith("Memory Keeper: the context is 82 % full") and "/clear now" in answer.message
    assert "Tell the user now" in answer.text
    assert prompt(session).out == b""


def test_at_the_threshold_the_handoff_is_written_and_nothing_said(session: Session) -> None:
    session.fill(99_000)
    assert prompt(session).out == b""
    assert not session.handoff.exists()
    session.fill(101_000)
    assert prompt(session).out == b""
    assert session.handoff.exists()


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_context_that_begins_is_told_again(session: Session, source: str) -> None:
    session.fill(WARN)
    assert prompt(session).message
    session.end()
    session.start(source)
    assert prompt(session).message
    assert prompt(session).out == b""


def test_after_a_compaction_it_is_told_again_when_it_is_full_again(session: Session) -> None:
    session.fill(WARN)
    assert prompt(session).message
    session.start("compact")
    assert tool(session).out == b"", "the newest response is from before it, and its line is not on the disk yet"
    session.transcript.compact("The parser is built.", post=9_000)
    session.write()
    assert tool(session).out == b""
    session.fill(WARN)
    assert tool(session).message
    assert tool(session).out == b""


def test_after_a_clear_it_is_another_session(machine: Machine, session: Session) -> None:
    session.fill(WARN)
    assert prompt(session).message
    session.end("clear")
    fresh = machine.session()
    fresh.start("clear")
    fresh.fill(20_000)
    assert prompt(fresh).out == b""
    fresh.fill(WARN)
    assert prompt(fresh).message


def test_of_many_hooks_at_once_one_tells(session: Session) -> None:
    session.fill(WARN)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: tool(session), range(20)))
    assert len([answer for answer in answers if answer.out]) == 1
    with session.machine.store() as store:
        assert store.db.execute("select count(*) from note where kind = 'handoff'").fetchone() == (1,)


def test_who_asks_again_because_the_answer_was_lost_is_told(session: Session) -> None:
    """The server's worker died between its record and its answer; the front asks the next one, for the same call."""
    session.fill(WARN)
    call = read_payload("UserPromptSubmit", session.payload("UserPromptSubmit", prompt="Go on."), {})
    home, environ, at = str(session.machine.home), dict(os.environ), time()
    assert call
    call = call._replace(id="c1")
    first, again = [answer(call, home, environ, lambda *_: None, resident=True, at=at) for _ in range(2)]
    assert first and first == again
    assert prompt(session).out == b""


def test_a_subagent_s_tool_tells_nothing(session: Session) -> None:
    session.fill(CRITICAL)
    assert tool(session, agent_id="a1b2c3").out == b""
    assert not session.handoff.exists()
    assert tool(session).message


def test_a_spool_that_was_taken_away_does_not_make_it_tell_twice(session: Session) -> None:
    session.fill(WARN)
    assert prompt(session).message
    session.machine.settle()
    session.machine.catch_up()
    (session.machine.home / f"spool/{session.id}.spool").unlink()
    assert prompt(session).out == b""
    session.fill(CRITICAL)
    assert prompt(session).message


def test_told_is_written_down(session: Session) -> None:
    session.fill(WARN)
    prompt(session)
    with session.machine.store() as store:
        (warned,) = [event for event in session_events(store, session.id) if event.kind == "warned"]
        assert json.loads(warned.extra) | {"level": "handoff warn", "tokens": WARN} == json.loads(warned.extra)
        note = store.handoff(session.id)
        assert note and "Please build the parser." in note.text


# --- the handoff cannot be written ------------------------------------------------------------------------------------


def test_in_a_read_only_project_the_note_is_named(session: Session) -> None:
    session.fill(WARN)
    session.project.chmod(0o500)
    try:
        payload = session.payload("UserPromptSubmit", prompt="Go on.")
        answer = session.machine.hook("UserPromptSubmit", payload, preexec_fn=without_rights)
    finally:
        session.project.chmod(0o700)
    assert not (session.project / ".claude").exists()
    with session.machine.store() as store:
        note = store.handoff(session.id)
    assert note and f"The handoff is written ({note.id})" in answer.text


@pytest.mark.parametrize("link", [".claude", ".claude/memory", ".claude/memory/handoffs"])
@pytest.mark.parametrize("to", ["folder", "nowhere"])
def test_nothing_is_written_where_a_link_of_the_project_leads(session: Session, link: str, to: str) -> None:
    elsewhere = session.machine.root / "elsewhere"
    if to == "folder":
        elsewhere.mkdir()
    (session.project / link).parent.mkdir(parents=True, exist_ok=True)
    (session.project / link).symlink_to(elsewhere)
    session.fill(WARN)
    assert "The handoff is written (handoff-" in prompt(session).text
    assert not elsewhere.exists() or not list(elsewhere.iterdir())


def test_a_file_that_is_a_link_is_replaced_and_not_followed(session: Session) -> None:
    victim = session.machine.root / "victim"
    victim.write_text("mine")
    session.handoff.parent.mkdir(parents=True)
    session.handoff.symlink_to(victim)
    (session.project / ".claude/memory/.gitignore").symlink_to(victim)
    session.fill(WARN)
    prompt(session)
    assert victim.read_text() == "mine"
    assert not session.handoff.is_symlink() and session.handoff.exists()


def test_without_a_store_they_are_told_all_the_same(session: Session) -> None:
    session.fill(WARN)
    session.machine.settle()
    for path in session.machine.home.glob("store.db*"):
        path.unlink()
    (session.machine.home / "store.db").write_bytes(b"not a database " * 100)
    answer = prompt(session)
    assert "Where the work stands could not be saved" in answer.message
    assert "72 % full" in answer.text
    assert '"save"' in (session.machine.home / "problems.log").read_text()


def test_the_host_s_own_folder_is_not_written_in(machine: Machine) -> None:
    """A session in the home itself: `.claude` there is not a project's."""
    session = machine.session(machine.user)
    session.start()
    session.turn("Tidy up my dotfiles.", "Tidy.")
    session.fill(WARN)
    assert "The handoff is written (handoff-" in prompt(session).text
    assert not (machine.user / ".claude/memory").exists()


# --- what settings change ---------------------------------------------------------------------------------------------


def test_warnings_can_be_switched_off_and_the_handoff_comes_all_the_same(session: Session) -> None:
    configure(session, context_warnings=False)
    session.fill(CRITICAL)
    assert prompt(session).out == tool(session).out == b""
    assert session.handoff.exists()


def test_files_can_be_switched_off(session: Session) -> None:
    configure(session, tell_files=False)
    session.fill(WARN)
    assert "The handoff is written (handoff-" in prompt(session).text
    assert not (session.project / ".claude/memory").exists()


def test_fixed_numbers_of_tokens(session: Session) -> None:
    configure(session, context_warnTokens=60_000, context_criticalTokens=80_000)
    for tokens, said in ((59_000, ""), (60_000, "at "), (80_000, "now")):
        session.fill(tokens)
        assert prompt(session).message.partition("type /clear ")[2][:3] == said


def test_of_an_unknown_window_no_percentage_is_said(machine: Machine) -> None:
    session = machine.session(version="2.1.250")
    session.transcript.model = "claude-opus-5-5"
    session.start()
    session.prompt("Please build the parser.")
    session.fill(500_000)
    assert prompt(session).out == b""
    assert session.handoff.exists(), "its threshold is a number"
    configure(session, context_warnTokens=120_000)
    answer = prompt(session)
    assert "the context is 500,000 tokens. Where the work stands is saved" in answer.message
    assert "%" not in answer.message + answer.text


def test_in_mode_clear_it_says_that_it_happens_by_itself(session: Session) -> None:
    configure(session, compaction_mode="clear")
    module = {"event": "Window", "at": time(), "window": 200_000, "by": "module"}
    spool.append(str(session.machine.home), session.id, module)
    session.fill(110_000)
    assert not prompt(session).message  # it is cleared now: nothing to do
    session.fill(WARN)
    answer = prompt(session)
    assert "the context is cleared when this turn is over, and goes on from there" in answer.message
    assert "/clear" not in answer.message


def test_in_mode_clear_where_nobody_can_the_user_is_told_at_once(session: Session) -> None:
    configure(session, compaction_mode="clear")
    session.fill(110_000)
    answer = prompt(session)
    assert "cleared from 100,000 on" in answer.message
    assert "/clear" in answer.message and "memory-keeper run -- claude" in answer.message
    assert not prompt(session).message


@rows("model", "settings", "tokens", "said")
def test_models_and_the_host_s_settings(
    machine: Machine, model: str, settings: dict[str, Any], tokens: int, said: str
) -> None:
    session = machine.session()
    session.transcript.model = model
    path = session.project / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps(settings))
    session.start()
    session.fill(tokens)
    answer = prompt(session)
    assert said in answer.message if said else not answer.message


LARGE = 190_000  # more than the 167,000 at which the host compacts a context of 200,000


@pytest.fixture
def full(machine: Machine) -> Session:
    """A session that the host is about to compact."""
    (machine.project / ".claude").mkdir()
    (machine.project / ".claude/settings.json").write_text(json.dumps({"autoCompactWindow": 200_000}))
    made = machine.session()
    made.transcript.model = "claude-opus-5-5"
    made.start()
    made.turn("Please build the parser.", "The parser is built.")
    made.fill(LARGE)
    return made


@BOTH
def test_who_is_about_to_be_compacted_is_not_told_what_is_wrong_after_that(full: Session, hear: Any) -> None:
    assert hear(full).out == b""
    assert tool(full).out == b"", "nobody has answered since"
    assert "Please build the parser." in full.handoff.read_text()
    full.start("compact")
    full.transcript.compact("The parser is built.", post=9_000)
    full.write()
    assert tool(full).message == ""


@BOTH
def test_it_is_told_when_that_did_not_happen(full: Session, hear: Any) -> None:
    assert prompt(full).out == b""
    full.fill(LARGE)
    said = "Memory Keeper: compaction is due: 190,000 of 167,000 tokens. Where the work stands is saved: type /clear"
    assert hear(full).message.startswith(said)
    assert hear(full).out == b""


def test_another_prompt_is_told_without_an_answer_in_between(full: Session) -> None:
    assert prompt(full).out == b""
    assert prompt(full).message


@pytest.mark.parametrize("mode", ["clear", "block"])
def test_where_the_context_is_cleared_nothing_is_held_back(full: Session, mode: str) -> None:
    configure(full, compaction_mode=mode)
    assert prompt(full).message


def test_the_window_that_the_host_told_the_start_of(machine: Machine) -> None:
    """`[1m]` stands in a start, and in no response."""
    session = machine.session()
    session.happen("SessionStart", source="startup", model="claude-sonnet-4-5-20250929[1m]")
    session.fill(190_000)
    assert prompt(session).out == b""
    session.fill(700_000)
    assert "70 % full (700,000 of 1,000,000" in prompt(session).message


def test_without_a_transcript_nothing_is_said(session: Session) -> None:
    session.path.unlink()
    assert prompt(session).out == tool(session).out == b""
    session.path.mkdir()
    assert prompt(session).out == tool(session).out == b""


# --- compactions and ends ---------------------------------------------------------------------------------------------


def compact(session: Session, trigger: str = "auto") -> Answer:
    return session.happen("PreCompact", trigger=trigger)


def may_compact(session: Session, trigger: str = "auto") -> bool:
    """Whether the host is let through, and told no more than how to sum up."""
    return compact(session, trigger).out.decode() in ("", INSTRUCTIONS)


@pytest.mark.parametrize("trigger", ["auto", "manual"])
def test_before_a_compaction_the_handoff_is_written(session: Session, trigger: str) -> None:
    session.fill(30_000)
    told = INSTRUCTIONS if trigger == "auto" else ""  # its model reads all that is said: not the handoff
    assert compact(session, trigger).out.decode() == told
    assert "Please build the parser." in session.handoff.read_text()
    with session.machine.store() as store:
        note = store.handoff(session.id)
    assert note and note.kind == "handoff"


def test_in_mode_block_a_compaction_is_refused_once_in_a_context(session: Session) -> None:
    configure(session, compaction_mode="block")
    session.fill(CRITICAL)
    assert may_compact(session, "manual"), "who asks for it gets it"
    refused = compact(session).said
    assert refused["decision"] == "block"
    assert "type /clear" in refused["reason"]
    assert session.handoff.exists()
    assert may_compact(session), "if nobody can clear, it may compact"
    session.start("compact")
    assert compact(session).said["decision"] == "block"


@pytest.mark.parametrize("mode", ["supplement", "clear"])
def test_in_other_modes_no_compaction_is_refused(session: Session, mode: str) -> None:
    configure(session, compaction_mode=mode)
    assert may_compact(session)


def test_an_end_leaves_a_handoff(session: Session) -> None:
    assert session.end().out == b""
    session.machine.settle()
    assert "The parser is built." in session.handoff.read_text()


def test_an_end_of_a_session_in_which_nothing_happened_leaves_none(machine: Machine) -> None:
    session = machine.session()
    session.start()
    session.end()
    machine.settle()
    assert not (machine.project / ".claude").exists()


def test_the_same_handoff_is_kept_once(session: Session) -> None:
    session.fill(WARN)
    prompt(session)
    session.write()
    before = session.handoff.stat()
    for _ in range(3):
        compact(session)
    after = session.handoff.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_handoff_is_the_newest(session: Session) -> None:
    compact(session)
    session.turn("Now the lexer.", "The lexer is built.")
    compact(session)
    assert "The lexer is built." in session.handoff.read_text()
    assert list(session.handoff.parent.glob("*.md")) == [session.handoff]


def test_no_secret_is_handed_on(session: Session) -> None:
    value = "zq" + "4f1d" * 6
    (session.project / ".env").write_text(f"API_TOKEN={value}\n")
    session.turn(f"Use {value} for it.", f"I used {value}.")
    compact(session)
    assert value not in session.handoff.read_text()
    assert "Use " in session.handoff.read_text()


def test_rendered_files_are_private_and_ignored(session: Session) -> None:
    compact(session)
    folder = session.project / ".claude/memory"
    assert (folder / ".gitignore").read_text().splitlines()[-1] == "*"
    assert {oct(path.stat().st_mode & 0o777) for path in folder.rglob("*") if path.is_file()} == {"0o600"}


def test_what_the_user_put_there_is_kept(session: Session) -> None:
    ignore: Path = session.project / ".claude/memory/.gitignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text("# I do want them\n")
    compact(session)
    assert ignore.read_text() == "# I do want them\n"


def test_where_the_host_was_seen_to_compact_counts_for_a_model_nobody_knows(machine: Machine) -> None:
    """No window, no percentage; but it compacted once, and will again."""
    session = machine.session(version="2.1.250")
    session.transcript.model = "somebody-elses-model"
    session.start()
    session.fill(90_000)
    assert not prompt(session).message
    session.happen("PreCompact", trigger="auto")
    session.start("compact")
    session.transcript.compact("auto")
    session.write()
    session.fill(70_000)
    assert not prompt(session).message
    session.fill(82_000)
    said = prompt(session).message
    assert "82,000 tokens, compaction at 90,000" in said
    assert "%" not in said


def test_the_host_s_settings_are_those_of_the_folder_it_was_started_in(machine: Machine) -> None:
    """It does not look for a repository around that folder."""
    (machine.project / ".git").mkdir()
    package = machine.folder("work/app/pkg")
    for folder, window in ((machine.project, 100_000), (package, 150_000)):
        (folder / ".claude").mkdir()
        (folder / ".claude/settings.json").write_text(json.dumps({"autoCompactWindow": window}))
    session = machine.session(package)
    session.transcript.model = "claude-sonnet-4-6"
    session.start()
    session.fill(106_000)
    assert "compaction is near: 106,000 of 117,000 tokens." in prompt(session).message
