"""`gc`: what was put aside goes when it is old and its owner says so; the memory stays."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_keeper.cli.main import main
from tests.workplace import Workplace

Ask = Callable[..., str]
OLD = time.time() - 40 * 86_400
ASIDE = ("damaged-20260101-101010", "before-restore-20260101-101010")


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A home with a session, and what was put aside beside it."""
    made = Workplace(tmp_path)
    made.session().turn("Please build the parser.", "The parser is built.")
    made.catch_up()
    for name in ASIDE:
        (made.home / name / "archive").mkdir(parents=True)
        (made.home / name / "archive/one.jsonl.gz").write_bytes(b"x" * 1000)
        os.utime(made.home / name, (OLD, OLD))
    (made.home / "crash.log").write_text("new")
    (made.home / "mine.txt").write_text("nobody's name for a file of ours")
    os.utime(made.home / "mine.txt", (OLD, OLD))
    return made


@pytest.fixture
def ask(place: Workplace, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run the command, and give what it prints."""

    def run(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as left:
            main(["gc", *words, "--home", str(place.home)])
        said = capsys.readouterr()
        assert left.value.code == code, said.err
        return said.out if not code else said.err

    return run


def names(place: Workplace) -> set[str]:
    return {path.name for path in place.home.iterdir()}


def test_a_plan_is_shown_and_nothing_goes(place: Workplace, ask: Ask) -> None:
    before = names(place)
    said = ask("--dry-run")
    assert all(name in said for name in ASIDE) and said.endswith("would free 2.0 KB\n")
    assert "crash.log" not in said and names(place) == before


def test_without_an_answer_nothing_goes(place: Workplace, ask: Ask) -> None:
    before = names(place)
    assert "add --yes" in ask(code=1)
    assert names(place) == before


def test_what_is_old_goes_and_the_memory_stays(place: Workplace, ask: Ask) -> None:
    before = names(place)
    said = json.loads(ask("--yes", "--json"))
    assert (said["deleted"], said["bytes"], len(said["files"])) == (True, 2000, 2)
    assert before - names(place) == {*ASIDE}
    with place.store() as store:
        assert store.counts()["events"] > 1
    assert ask("--yes").startswith("Nothing was put aside that is old enough")
    assert "crash.log" in ask("--older-than", "2099-01-01", "--yes")
    assert before - names(place) == {*ASIDE, "crash.log"}


def test_a_link_is_taken_away_and_not_followed(place: Workplace, ask: Ask, tmp_path: Path) -> None:
    there = tmp_path / "precious"
    there.mkdir()
    (there / "file").write_text("kept")
    (place.home / "damaged-20250101-101010").symlink_to(there)
    ask("--older-than", "2099-01-01", "--yes")
    assert (there / "file").read_text() == "kept"
    assert "damaged-20250101-101010" not in names(place)


def test_inside_a_session_the_model_deletes_nothing(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "Only you can delete files" in ask("--yes", code=1)
