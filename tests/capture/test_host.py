"""Which process the host is: the one it names, if that is above us; never one that it inherited the number of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import memory_keeper
from memory_keeper.capture.host import _born_by_ps, born, find_pid, find_terminal


@pytest.mark.parametrize("said", ["", "0", "-1", "99999999", "x", "9" * 30])
def test_without_a_name_that_is_above_us_it_is_our_parent(said: str) -> None:
    assert find_pid({"CLAUDE_PID": said} if said else {}) == os.getppid()


def test_the_one_that_is_named_and_above_us() -> None:
    source = str(Path(memory_keeper.__file__).parents[1])
    code = (
        f"import os, sys; sys.path.insert(0, {source!r});"
        "from memory_keeper.capture.host import find_pid; print(find_pid(dict(os.environ)))"
    )
    environ = {**os.environ, "CLAUDE_PID": str(os.getpid())}
    through = ["/bin/sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", code]
    done = subprocess.run(through, env=environ, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == str(os.getpid())


def test_a_process_is_born_once() -> None:
    assert born(os.getpid()) == born(os.getpid()) != ""
    assert born(99999999) == ""


def test_one_that_was_killed_is_gone_before_its_parent_asks_for_it() -> None:
    child = subprocess.Popen(["sleep", "60"])
    assert born(child.pid)
    assert _born_by_ps(child.pid) or not Path("/bin/ps").exists()
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert (born(child.pid), _born_by_ps(child.pid)) == ("", "")
    child.wait()


def test_the_terminal_in_the_words_of_tmux_and_screen() -> None:
    assert find_terminal({"TMUX": "/tmp/s,1,0", "TMUX_PANE": "%3"}) == ["/tmp/s,1,0", "%3", "", ""]
