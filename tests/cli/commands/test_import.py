"""`import transcripts`: what came in, and of which projects."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from memory_keeper.cli.commands.import_ import _size
from memory_keeper.cli.main import main
from tests.transcripts import Transcript

Said = pytest.CaptureFixture[str]


def written(folder: Path, project: str, number: int) -> Path:
    """The transcript of a session on some other machine."""
    session = Transcript(f"{number:08}-0000-4000-8000-000000000000", project, number)
    session.prompt("Add SMS login.")
    session.reply("It is added.")
    path = folder / session.name
    session.append_to(path)
    return path


def run(*argv: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["import", "transcripts", *argv])
    assert not ended.value.code


def test_it_says_which_projects_came_in(tmp_path: Path, capsys: Said) -> None:
    for number in range(7):
        written(tmp_path, f"/elsewhere/p{number}", number)
    run(str(tmp_path))
    assert "Projects: /elsewhere/p0, /elsewhere/p1, /elsewhere/p2, /elsewhere/p3, /elsewhere/p4, and 2 more" in (
        capsys.readouterr().out
    )
    run(str(tmp_path), "--json")
    assert json.loads(capsys.readouterr().out)["projects"] == [], "nothing is new"


def test_progress_counts_what_is_in_a_packed_file(tmp_path: Path) -> None:
    path = written(tmp_path, "/elsewhere", 1)
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert _size(str(packed)) == _size(str(path)) == path.stat().st_size


def test_what_is_no_transcript_is_refused(tmp_path: Path, capsys: Said) -> None:
    """A file of another kind brings no events; beside transcripts it is named, and they come in."""
    binary, listed = tmp_path / "ls", tmp_path / "numbers.jsonl"
    binary.write_bytes(b"\x7fELF\n\x00{}\n" * 99)
    listed.write_text('{"n": 1}\n[2]\n{"type": 3}\n')
    for path in (binary, listed):
        with pytest.raises(SystemExit) as ended:
            main(["import", "transcripts", str(path)])
        said = capsys.readouterr()
        assert (ended.value.code, said.out) == (1, "")
        assert f"{path} is no transcript" in said.err
        assert "Traceback" not in said.err
    written(tmp_path, "/elsewhere", 1)
    with pytest.raises(SystemExit) as ended:
        main(["import", "transcripts", str(tmp_path), "--json"])
    assert ended.value.code == 5
    about = json.loads(capsys.readouterr().out)
    assert (about["files"], about["skipped"]) == (2, 1)
    assert about["events_added"]
