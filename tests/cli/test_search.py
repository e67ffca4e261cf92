"""`search` at its two doors: the quick one and the parser's understand the same words."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from memory_keeper.cli.main import build_parser
from memory_keeper.cli.search import OPTIONS, read_words
from tests.machine import START, Machine

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
    [], ["--json"], ["zebra", "--limit"], ["zebra", "--limit", "0"], ["zebra", "--kind", "nonsense"], ["-x", "zebra"],
    ["zebra", "--since", "someday"], ["zebra", "--limt", "3"], ["zebra", "--json=1"], ["zebra", "--lim", "3"],
    ["zebra", "--level", "-1"], ["--help"],
)  # fmt: skip


@pytest.mark.parametrize("words", SAID, ids=" ".join)
def test_both_doors_understand_the_same(words: list[str]) -> None:
    quick = read_words(words)
    assert quick is not None
    argv = ["search", *words]
    parsed = vars(build_parser(argv).parse_known_args(argv)[0])
    rest = build_parser(argv).parse_known_args(argv)[1]
    slow = {**parsed, "query": " ".join([*parsed["query"], *rest])}
    assert {name: slow[name] for name in quick} == quick


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_needs_explaining_goes_to_the_parser(words: list[str]) -> None:
    assert read_words(words) is None


def test_every_option_has_help_or_is_one_of_every_command() -> None:
    assert {name for name, option in OPTIONS.items() if not option.help} == {"--json", "--project", "--home"}


def search(machine: Machine, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", str(START), "search", "--project", str(machine.project), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


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
