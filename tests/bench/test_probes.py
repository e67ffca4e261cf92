"""Questions at a compaction: which texts answer them, what is a bare name, and how readers are graded blindly."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from bench import probes
from bench.tools import transcripts
from bench.tools.bare import bare_names, bare_share
from bench.tools.cuts import sessions
from bench.tools.figures import Figures, LeftOutError
from tests.rows import rows
from tests.transcripts import SESSION, Transcript

SUMMARY = "The upload retries, because the proxy cuts it after 30 s; `part_size` is next."


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A session with one compaction that far too little follows for NLFR, and three questions about it."""
    t = Transcript(SESSION, "/srv/shop")
    t.prompt("Why do uploads of 2 GB fail?")
    t.call(
        "Bash", {"command": "pytest -q tests/test_upload.py"}, "E   TimeoutError: proxy cut the upload", is_error=True
    )
    t.reply("The proxy cuts the upload after 30 s.")
    t.compact(SUMMARY)
    t.reply("I go on.")
    t.write(tmp_path / "some+shop" / f"{SESSION}.jsonl")
    place = next(number for number, step in enumerate(steps(tmp_path)) if step == "boundary")
    boundary = f"{SESSION[:8]}-{place}"
    asked = [
        ("goal", "What is asked?", [["uploads"], ["2 GB"]]),
        ("cause", "Why?", [["proxy", "gateway"], ["30 s"]]),
        ("next", "What is next?", [["PART_SIZE"]]),
    ]
    rows = [
        {"boundary": boundary, "n": n, "kind": kind, "question": question, "answer": "…", "keys": keys, "more": 1}
        for n, (kind, question, keys) in enumerate(asked, 1)
    ]
    (tmp_path / "probes_some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def steps(folder: Path) -> list[str]:
    (session,) = sessions(transcripts.paths(folder))
    return [step.kind for step in session.steps]


def bench(*args: str | Path) -> Figures:
    parser = argparse.ArgumentParser()
    probes.arguments(parser)
    return probes.run(parser.parse_args([str(arg) for arg in args]))


def test_a_compaction_that_is_asked_about_is_found_and_its_texts_are_kept(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = bench("--data", data, "--budgets", "1000", "--kit", data / "kit", "--each")
    (case,) = (data / "kit").iterdir()
    names = {"claude", "tail", "ours1000", "notes", "outline"}
    assert {file.stem for file in case.iterdir()} == names
    assert (said["boundaries"].value, said["questions"].value) == (1, 3)
    assert said["summary"].value == pytest.approx(2 / 3), "keys are found whatever their case"
    assert said["handoff_1000"].value == pytest.approx(2 / 3)
    printed = capsys.readouterr().out
    assert f"claude {case.name} 0.667 lacks: 1 goal" in printed
    assert "some/shop" in printed


def test_without_questions_or_their_sessions_it_is_left_out(data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LeftOutError, match="no questions"):
        bench("--data", tmp_path / "empty")
    with pytest.raises(LeftOutError, match="no questions"):
        bench()
    with pytest.raises(LeftOutError):
        bench("--data", tmp_path / "empty", "--probes", data / "probes_some.jsonl")


def test_grades_come_back_to_the_reader_who_gave_the_answer(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--probes", data / "probes_some.jsonl")
    bench("--data", data, "--budgets", "1000", "--kit", data / "kit")
    bench(*asked, "--kit", data / "kit", "--pack", "claude", data / "pack")
    pack = (data / "pack").read_text()
    assert SUMMARY in pack
    ids = [line.partition(": ")[0] for line in pack.splitlines() if "#" in line and line.endswith("?")]
    assert len(ids) == 3
    for name in ("right", "wrong"):
        (data / name).write_text("".join(json.dumps({"id": id, "answer": name}) + "\n" for id in ids))
    bench(*asked, "--sheet", data / "sheet", data / "right", data / "wrong")
    grades: dict[str, dict[str, str | float]] = {}
    id = ""
    for line in (data / "sheet").read_text().splitlines():
        id = line.split()[1] if line.startswith("### ") else id
        if line.endswith((": right", ": wrong")):
            grades.setdefault(id, {"id": id})[line[0]] = 1 if line.endswith("right") else -0.5
    (data / "grades").write_text("".join(json.dumps(row) + "\n" for row in grades.values()))
    capsys.readouterr()
    bench(*asked, "--tally", data / "sheet.key", data / "grades", "first", "second")
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.split() == ["first", "3", *["1.000"] * 2, "-", *["1.000"] * 2, *["-"] * 4, "0"]
    assert second.split() == ["second", "3", *["-0.500"] * 2, "-", *["-0.500"] * 2, *["-"] * 4, "3"]


@rows("line", "bare")
def test_a_name_is_bare_where_no_words_are_about_it(line: str, bare: str) -> None:
    assert bare_names(line).strip() == bare


def test_the_share_of_bare_names_is_one_of_tokens() -> None:
    assert bare_share("src/a.go\nsrc/b.go\n", "claude-4") == 1
    assert bare_share("", "claude-4") == 0
    assert 0.2 < bare_share("The cause is the proxy.\nsrc/a.go\n", "claude-4") < 0.8
