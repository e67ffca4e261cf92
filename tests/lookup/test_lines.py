"""The transcripts' own lines: what no event says is found in them, the newest first, and beside what events say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.lines import _read_words, find_lines, line_of
from memory_keeper.model import Hit, Scope
from memory_keeper.store import archive
from tests.machine import START, Machine, Session


def edit(session: Session, old: str, new: str, path: str = "src/a.py") -> None:
    """An edit, whose line keeps the whole file as it was before, which no event does."""
    given = {"file_path": f"{session.project}/{path}", "old_string": old, "new_string": new}
    session.transcript.call("Edit", given, "Done.")
    line = session.transcript.lines[-1]
    line["toolUseResult"] = {"filePath": given["file_path"], "originalFile": f"# before\n{old}\nwalrus {new}\n"}


def lines(machine: Machine, query: str, scope: Scope | None = None, limit: int = 10, **how: Any) -> list[Hit]:
    with Keeper(str(machine.home)) as keeper:
        where = scope if scope is not None else Scope(keeper.project(str(machine.project)))
        return find_lines(keeper, query, where, limit, **how)


def search(machine: Machine, *words: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-I", "-S", str(START), "search", "--project", str(machine.project), "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


@pytest.fixture
def worked(machine: Machine) -> Machine:
    """Two sessions with three edits each, kept in several stretches."""
    for number in range(2):
        session = machine.session()
        for step in range(3):
            session.transcript.prompt(f"Change the parser, please, for the {3 * number + step}. time.")
            edit(session, f"old{number}{step}", f"new{number}{step}")
            session.write()
            session.happen("Stop", last_assistant_message="ok", stop_hook_active=False)
            machine.catch_up()
    return machine


def test_what_only_a_line_has_is_found(worked: Machine) -> None:
    found = lines(worked, "walrus")
    assert len(found) == 6
    assert {hit.kind for hit in found} == {"result"}
    assert all("\x02walrus\x03" in hit.snippet for hit in found)
    assert lines(worked, "walrus giraffe") == []
    assert len(lines(worked, "walrus old01")) == 1


def test_the_newest_come_first(worked: Machine) -> None:
    moments = [hit.at for hit in lines(worked, "walrus")]
    assert moments == sorted(moments, reverse=True)
    assert [hit.at for hit in lines(worked, "walrus", limit=2)] == moments[:2]
    assert [hit.at for hit in lines(worked, "walrus", limit=4)] == moments[:4]


def test_the_newest_counts_by_its_moment_and_not_by_when_it_was_read(machine: Machine) -> None:
    """An old session may be read after a new one."""
    old, new = machine.session(), machine.session()
    for session in (new, old):
        session.transcript.prompt("Change the parser.")
        edit(session, "x", "y")
        session.write()
        session.happen("Stop", last_assistant_message="ok", stop_hook_active=False)
        machine.catch_up()
    (hit,) = lines(machine, "walrus", limit=1)
    assert hit.session == new.id


def test_what_is_known_is_not_found_again(worked: Machine) -> None:
    first, second, *_ = lines(worked, "walrus")
    assert lines(worked, "walrus", limit=1, known=[first.id]) == [second]
    other_block = line_of(first.id) + ":7"
    assert lines(worked, "walrus", limit=1, known=[other_block]) == [second]


def test_case_is_folded_in_every_script(machine: Machine) -> None:
    session = machine.session()
    session.transcript.prompt("Say it.")
    edit(session, "ÄRGER IN DER STRASSE", "ΣΊΣΥΦΟΣ")
    session.write()
    session.happen("Stop", last_assistant_message="ok", stop_hook_active=False)
    machine.catch_up()
    for query in ("ärger", "Ärger", "straße", "σίσυφος", "a\u0308rger"):
        assert lines(machine, f"{query} walrus"), query
    assert lines(machine, "Ä.GER", regex=True)


def test_quotes_keep_words_together_and_escapes_do_not_hide_them(machine: Machine) -> None:
    session = machine.session()
    session.transcript.prompt("Say it.")
    edit(session, 'print("C:\\temp")', "one two three")
    session.write()
    session.happen("Stop", last_assistant_message="ok", stop_hook_active=False)
    machine.catch_up()
    assert lines(machine, '"one two" walrus')
    assert not lines(machine, '"two one" walrus')
    assert lines(machine, "C:\\temp walrus"), "a line writes two for one"


def test_each_filter_holds(worked: Machine) -> None:
    found = lines(worked, "walrus")
    with Keeper(str(worked.home)) as keeper:
        here = Scope(keeper.project(str(worked.project)))
    middle = found[3].at
    assert {hit.at for hit in lines(worked, "walrus", here._replace(since=middle))} == {hit.at for hit in found[:4]}
    assert {hit.at for hit in lines(worked, "walrus", here._replace(until=middle))} == {hit.at for hit in found[4:]}
    assert {hit.session for hit in lines(worked, "walrus", here._replace(session=found[0].session))} == {
        found[0].session
    }
    assert len(lines(worked, "walrus", here._replace(file="src/a.py"))) == 6
    assert len(lines(worked, "walrus", here._replace(file="a.py"))) == 6
    assert lines(worked, "walrus", here._replace(file="src/b.py")) == []
    assert len(lines(worked, "walrus", here._replace(tool="edit"))) == 6
    assert lines(worked, "walrus", here._replace(tool="Bash")) == []
    assert len(lines(worked, "walrus", here._replace(role="tool"))) == 6
    assert lines(worked, "walrus", here._replace(role="user")) == []
    assert lines(worked, "walrus", here._replace(level=1)) == []
    assert lines(worked, "walrus", Scope("dir:/elsewhere")) == []
    assert len(lines(worked, "walrus", Scope())) == 6


def test_a_regular_expression_is_one(worked: Machine) -> None:
    assert len(lines(worked, r"old0[01]\\n", regex=True)) == 2
    assert "\x02WALRUS\x03".lower() in lines(worked, "WAL.US", regex=True)[0].snippet
    with pytest.raises(KeeperError, match="regular expression"):
        lines(worked, "(", regex=True)


def test_a_fork_says_nothing_twice(machine: Machine) -> None:
    session = machine.session()
    session.transcript.prompt("Say it.")
    edit(session, "x", "y")
    session.write()
    session.happen("Stop", last_assistant_message="ok", stop_hook_active=False)
    fork = machine.session()
    fork.transcript = session.transcript.fork(fork.id)
    fork.write()
    fork.happen("Stop", last_assistant_message="ok", stop_hook_active=False)
    machine.catch_up()
    assert len(lines(machine, "walrus")) == 1


def test_a_line_of_any_length_is_shown_where_it_matches(machine: Machine) -> None:
    session = machine.session()
    session.transcript.prompt("Say it.")
    edit(session, "noise " * 60_000 + "needle here", "y")
    session.write()
    session.happen("Stop", last_assistant_message="ok", stop_hook_active=False)
    machine.catch_up()
    for hit in lines(machine, "needle"):
        assert "\x02needle\x03" in hit.snippet
        assert len(hit.snippet) < 300


def test_what_is_lost_or_damaged_hides_nothing_else(worked: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    with Keeper(str(worked.home)) as keeper:
        (source, _), *_ = keeper.store.members()
        Path(archive.archive_path(str(worked.home), source)).unlink()
    assert len(lines(worked, "walrus")) == 3
    assert "doctor" in capsys.readouterr().err


# --- beside what events say -------------------------------------------------------------------------------------------


def test_half_the_room_is_for_lines(machine: Machine) -> None:
    """Many prompts share a piece of a name; the few lines that have the name are seen all the same."""
    session = machine.session()
    for number in range(20):
        session.transcript.prompt(f"Think about metadata, part {number}.")
    edit(session, "thinkingMetadata", "y")
    session.write()
    session.happen("Stop", last_assistant_message="ok", stop_hook_active=False)
    machine.catch_up()
    found = search(machine, "thinkingMetadata walrus", "--deep", "--limit", "6")
    assert len(found) == 6
    assert any("walrus" in hit["snippet"] for hit in found), found
    ids = [line_of(hit["id"]) for hit in found]
    assert len(set(ids)) == len(ids)


def test_the_limit_holds_and_is_filled(worked: Machine) -> None:
    for limit in (1, 2, 3, 5, 50):
        found = search(worked, "parser", "--deep", "--limit", str(limit))
        assert 0 < len(found) <= limit
        assert len({hit["id"] for hit in found}) == len(found)
    assert len(search(worked, "parser", "--deep", "--limit", "5")) == 5
    assert len(search(worked, "walrus", "--deep", "--limit", "4")) == 4, "no event says it: all the room is for lines"
    assert search(worked, "walrus") == []


@given(st.text(max_size=60))
def test_any_text_is_a_query(query: str) -> None:
    for word in _read_words(query):
        assert word and word == word.strip()
