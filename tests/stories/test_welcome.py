"""A new user is told in one line what is kept, where, and how to switch it off; until they have typed something."""

from __future__ import annotations

from pathlib import Path

from memory_keeper.cli.main import parse_and_run
from memory_keeper.hooks.actions.welcome import line
from tests.machine import Machine, Session
from tests.old_memories import continuous_claude, predecessor

ATTENDED = {"CLAUDE_CODE_ENTRYPOINT": "cli"}
PROGRAM = {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}


def at_a_terminal(machine: Machine) -> Session:
    session = machine.session()
    session.environ = ATTENDED
    return session


def test_the_first_session_says_what_is_kept_and_where(machine: Machine) -> None:
    told = at_a_terminal(machine).start()
    assert told.message == (
        f"Memory Keeper keeps prompts, replies and tool calls in {machine.home}, which only you can read."
        " To switch it off: /plugin disable memory-keeper"
    )
    assert not told.text, "it is for the user, and no token of the model's"


def test_who_installs_it_within_a_session_is_told_with_the_next_prompt(machine: Machine) -> None:
    """`/plugin` and `/reload-plugins`: no start comes after that."""
    session = at_a_terminal(machine)
    assert "which only you can read" in session.happen("UserPromptSubmit", prompt="Build the parser.").message
    assert "which only you can read" not in session.happen("UserPromptSubmit", prompt="And now?").message


def test_in_the_usual_place_it_fits_two_lines_of_a_terminal() -> None:
    said = line("/home/me/.local/share/memory-keeper", {"HOME": "/home/me"})
    assert " in ~/.local/share/memory-keeper, " in said
    assert len(said) <= 160


def test_a_home_with_an_odd_name_cannot_write_on_the_terminal() -> None:
    assert "\033" not in line("/tmp/\033[2J", {})


def test_it_is_said_once(machine: Machine) -> None:
    first = at_a_terminal(machine)
    assert first.start().message
    first.turn("Build the parser.", "It is built.")
    assert not first.start("resume").message and not first.start("clear").message
    first.end()
    machine.settle()
    assert "which only you can read" not in at_a_terminal(machine).start().message


def test_a_session_shows_that_it_was_told_what_went_before(machine: Machine) -> None:
    first = at_a_terminal(machine)
    assert "went before" not in first.start().message
    first.turn("Build the parser.", "It is built.")
    first.end()
    machine.settle()
    told = at_a_terminal(machine).start()
    assert told.message.startswith("Memory Keeper restored what went before (")
    assert told.message.endswith(" tokens). See it: memory-keeper why") and len(told.message) < 100
    program = machine.session()
    program.environ = PROGRAM
    assert not program.start().message, "nobody would see it"


def test_the_first_clear_after_an_install_within_a_session_shows_it_too(machine: Machine) -> None:
    old = at_a_terminal(machine)
    old.turn("Build the parser.", "It is built.")  # nobody of us heard it begin
    old.end("clear")
    machine.settle()
    told = at_a_terminal(machine).start("clear")
    assert "Build the parser." in told.text
    assert told.message.startswith("Memory Keeper restored what went before (")


def test_it_is_said_again_where_nobody_typed_anything(machine: Machine) -> None:
    first = at_a_terminal(machine)
    first.start()
    first.end()
    machine.settle()
    assert at_a_terminal(machine).start().message


def test_two_first_sessions_at_once_both_say_it(machine: Machine) -> None:
    assert at_a_terminal(machine).start().message
    assert at_a_terminal(machine).start().message


def of_a_program(machine: Machine) -> Session:
    """A session that nobody types in, with its prompt."""
    program = machine.session()
    program.environ = PROGRAM
    program.happen("UserPromptSubmit", prompt="Build it.")
    (row,) = program.transcript.prompt("Build it.")
    row |= {"promptSource": "sdk", "turnOrigin": "sdk", "entrypoint": "sdk-cli"}
    program.write()
    return program


def test_a_program_is_not_told_and_does_not_count(machine: Machine) -> None:
    program = of_a_program(machine)
    assert not program.start().message
    program.end()
    machine.settle()
    assert at_a_terminal(machine).start().message


def test_who_has_typed_once_is_known_however_often_programs_ask(machine: Machine) -> None:
    first = at_a_terminal(machine)
    first.turn("Build the parser.", "It is built.")
    first.end()
    for _ in range(25):
        of_a_program(machine)
    machine.settle()
    machine.catch_up()
    assert "which only you can read" not in at_a_terminal(machine).start().message


def test_what_was_imported_does_not_count(machine: Machine) -> None:
    before = machine.session()
    before.transcript.prompt("Build the parser.")
    before.write()
    assert parse_and_run(["import", "transcripts", str(before.path)]) == 0
    assert at_a_terminal(machine).start().message


def test_settings_that_cannot_be_read_are_told_as_well(machine: Machine) -> None:
    (machine.folder("work/app/.claude") / "memory-keeper.json").write_text("{")
    first, second = at_a_terminal(machine).start().message.splitlines()
    assert "cannot read" in first and "keeps prompts" in second


def test_nothing_is_promised_where_nothing_can_be_kept(machine: Machine) -> None:
    Path(machine.home).write_text("in the way")
    said = at_a_terminal(machine).start().message
    assert "is not keeping this session" in said and "keeps prompts" not in said


def test_who_has_an_older_memory_here_is_told_of_it_until_it_was_brought_in(machine: Machine) -> None:
    """With the counts that the import itself gives, and only before they work here."""
    predecessor(machine.project)
    first, older = at_a_terminal(machine).start().message.splitlines()
    assert "keeps prompts" in first
    assert older == (
        "Memory Keeper found an older memory here: 5 sections, 1 summary, 1 archive, 2 standing notes, 2 session logs."
        " Bring it in: memory-keeper import memory-keeper"
    )
    assert parse_and_run(["import", "memory-keeper", "--project", str(machine.project)]) == 0
    assert "older memory" not in at_a_terminal(machine).start().message


def test_an_older_memory_of_another_tool_is_named_and_once_they_work_here_no_more(machine: Machine) -> None:
    continuous_claude(machine.project)
    session = at_a_terminal(machine)
    assert "a memory of continuous-claude here: 1 ledger, 2 handoffs. Bring it in:" in session.start().message
    session.turn("Build the parser.", "It is built.")
    session.end()
    machine.settle()
    assert "continuous-claude" not in at_a_terminal(machine).start().message
