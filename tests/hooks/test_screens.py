"""What people see in a terminal: every line fits, however wide it is, and where nobody looks nothing is cut."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_keeper.cli.main import main
from memory_keeper.width import columns as cells
from tests.machine import Machine

LISTS = (
    *("status", "status --all-projects", "rule list", "observe list --all", "task list --all", "note list"),
    *("config list", "config list --show-origin", "config get compaction.mode", "usage", "usage --by session"),
    *("usage --by project", "usage --by tool", "timeline", "timeline --all-projects", "search lexer", "search 토큰"),
    *("search nowhere-at-all", "blame src/lexer/tokens.py", "how make", "fix undefined", "brief start", "brief rules"),
    *("brief memory", "brief handoff", "why", "doctor", "show 00000001", "report --session", "load", "load --memory"),
    *("context", "config get claude.autoCompactEnabled"),
    *(
        "save",
        "handoff",
        "summarize",
        "compact --session",
        "uninstall --dry-run",
        "search",
        "load --budget 1",
        "nowhere",
    ),
)
LONG = "The lexer is to read numbers such as 1_000 and strings with escapes, one token after the other, " * 4


class Screen(io.StringIO):
    """A terminal that keeps what is written on it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def story(machine: Machine) -> Machine:
    """Two sessions with long lines, a failure, a rule of the user's, and letters that take two columns."""
    for number in range(2):
        session = machine.session()
        session.start()
        session.prompt(f"{LONG} Always run make check before you say that the lexer is done.")
        session.call("Bash", {"command": f"make check VERBOSE=1 LEXER={'x' * 150}"}, "undefined: Token", failed=True)
        path = f"{machine.project}/src/lexer/tokens.py"
        session.call("Edit", {"file_path": path, "old_string": "a" * 200, "new_string": "b" * 200})
        session.reply(f"렉서는 다음 토큰을 읽고 계속합니다 {number} " * 12)
        session.end()
    machine.settle()
    machine.catch_up()
    return machine


def shown(machine: Machine, command: str, screen: io.StringIO) -> str:
    """What a command writes there."""
    with redirect_stdout(screen), pytest.raises(SystemExit):
        main([*command.split(), "--home", str(machine.home), "--project", str(machine.project)])
    return screen.getvalue()


@settings(max_examples=4)  # each prints all of the lists
@given(wide=st.integers(60, 200))
def test_no_line_is_wider_than_the_terminal(story: Machine, wide: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(wide))
        for command in LISTS:
            for line in re.sub(r"\x1b\[[0-9;]*m", "", shown(story, command, Screen())).splitlines():
                assert cells(line) <= wide, (command, line)


def test_a_hint_fits_and_a_path_in_it_stays_whole(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    screen = Screen()
    path = f"{machine.project}/{'deeply/' * 9}lost.jsonl"
    with redirect_stderr(screen):
        shown(machine, "load", screen)
        shown(machine, f"import transcripts {path}", screen)
    assert [line for line in screen.getvalue().splitlines() if cells(line) > 60] == [f"  {path}"]
    assert "\n    or `memory" in screen.getvalue()


def test_no_share_of_a_context_is_more_than_all_of_it(machine: Machine) -> None:
    session = machine.session()
    session.start()
    for size in (20_000, 141_000, 20_000, 160_000, 20_000):
        session.prompt("Go on.")
        session.fill(size)
    said = shown(machine, "context", io.StringIO())
    shares = [int(share) for share in re.findall(r" (\d+) %  [a-z]", said)]
    assert shares and sum(shares) <= 101, said


def test_where_nobody_looks_nothing_is_wrapped(story: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    said = shown(story, "brief start", io.StringIO())
    assert max(map(len, said.splitlines())) > 200
    assert "\n      Tokens of what a context is told again that a compaction's summary lost.\n" in shown(
        story, "config list", io.StringIO()
    )
