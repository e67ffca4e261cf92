"""`search`: what its words are, and what it prints."""

from __future__ import annotations

import json

import pytest

from memory_keeper.cli.main import _parse
from tests.command import Done, typed
from tests.machine import Machine

SAID = (
    ["zebra"],
    ["zebra", "stripes", "--limit", "3"],
    ["--limit=3", "zebra"],
    ["zebra", "--kind", "prompt", "--json", "--all-projects"],
    ["--level", "1", "zebra", "--role", "user", "--tool", "Bash", "--file", "a.py"],
    ["zebra", "--since", "2026-01-31", "--until", "2026-02-01"],
    ["--", "--zebra", "-x"],
    ["git", "commit", "--no-verify"],
    ["zebra", "--regex", "--deep", "--home", "/h", "--project", "/p", "--session", "s"],
)
REFUSED: tuple[list[str], ...] = (
    [], ["--json"], ["zebra", "--limit"], ["zebra", "--limit", "0"], ["zebra", "--kind", "nonsense"],
    ["zebra", "--since", "someday"], ["zebra", "--limt", "3"], ["zebra", "--json=1"], ["zebra", "--lim", "3"],
    ["zebra", "--level", "-1"], ["zebra", "--limit", "1001"], ["zebra", "--role", "nobody"],
)  # fmt: skip


@pytest.mark.parametrize("words", SAID, ids=" ".join)
def test_options_stand_wherever_they_are_typed_and_all_else_are_words(words: list[str]) -> None:
    args = _parse(["search", *words])
    options = {"--kind": "kind", "--level": "level", "--tool": "tool", "--file": "file", "--role": "role"}
    for option, name in options.items():
        given = words[words.index(option) + 1] if option in words else None
        assert str(getattr(args, name) or "") == (given or "")
    assert args.limit == (3 if "3" in words or "--limit=3" in words else 10)
    assert (args.json, args.regex, args.deep) == tuple(one in words for one in ("--json", "--regex", "--deep"))
    assert (args.home, args.project) == (("/h", "/p") if "/h" in words else ("", ""))
    expected = {"git": "git commit --no-verify", "--": "--zebra -x"}
    stripes = "zebra stripes" if "stripes" in words else "zebra"
    assert " ".join(args.query) == expected.get(words[0], stripes)


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_may_be_a_mistake_is_explained(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        _parse(["search", *words])
    assert left.value.code == 2
    assert "memory-keeper search: error: " in capsys.readouterr().err


def test_a_dash_that_is_like_no_option_is_a_word() -> None:
    assert _parse(["search", "grep", "-r", "--include", "zebra"]).query == ["grep", "-r", "--include", "zebra"]


def search(machine: Machine, *words: str) -> Done:
    return typed(machine.root, "search", "--project", str(machine.project), *words)


def test_what_it_prints(machine: Machine) -> None:
    machine.session().turn("Where is the zebra? 얼룩말", "In the zoo.")
    machine.catch_up()
    (hit,) = json.loads(search(machine, "zebra", "--json").stdout)
    assert set(hit) == {"id", "level", "kind", "at", "session", "project", "score", "snippet", "path", "by"}
    assert "얼룩말" in search(machine, "zebra", "--json").stdout, "as people write it"
    said = search(machine, "zebra").stdout
    assert "«zebra»" in said
    assert "timeline" in said, "where to go on"
    assert search(machine, "giraffe").stdout == "nothing found\n"
    other = machine.folder("other")
    assert "--all-projects" in search(machine, "zebra", "--project", str(other)).stdout
    assert str(machine.project) in search(machine, "zebra", "--project", str(other), "--all-projects").stdout
    assert json.loads(search(machine, "giraffe", "--json").stdout) == []


def test_mistakes_are_explained(machine: Machine) -> None:
    machine.session().turn("Where is the zebra?", "In the zoo.")
    machine.catch_up()
    done = search(machine, "zebra", "--limit", "0")
    assert (done.returncode, "1 to 1000" in done.stderr) == (2, True)
    done = search(machine, "(", "--regex")
    assert (done.returncode, "regular expression" in done.stderr) == (1, True)
    done = search(machine, "zebra", "--session", "nobody")
    assert (done.returncode, "nobody" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr


def test_the_deepest_search_reads_the_transcripts_lines(machine: Machine) -> None:
    session = machine.session()
    session.turn("Where is the zebra?", "In the zoo.")
    session.transcript.attachment("file", content="a quagga in a file")
    session.turn("And now?", "Still there.")
    machine.catch_up()
    assert search(machine, "quagga").stdout == "nothing found\n"
    assert "«quagga»" in search(machine, "quagga", "--deep").stdout
    assert "quagga" in search(machine, "qua[g]+a", "--deep", "--regex").stdout


def test_what_nobody_has_read_yet_is_found(machine: Machine) -> None:
    session = machine.session()
    session.turn("Where is the zebra?", "In the zoo.")
    machine.catch_up()
    session.turn("Where is the giraffe?", "Behind the aviary.")
    assert "nothing found" in search(machine, "okapi").stdout
    session.turn("Where is the okapi?", "In its house.")
    assert "In its «house»." in search(machine, "okapi", "house").stdout
