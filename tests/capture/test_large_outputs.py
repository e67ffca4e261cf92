"""An output that the host moved out of the transcript is kept whole: redacted, found, and archived with its line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from memory_keeper.briefs.report.sums import by_tool
from memory_keeper.keeper import Keeper
from memory_keeper.model import EVERYWHERE, Phrase, Source
from memory_keeper.search import find
from memory_keeper.search.snippet import OFF, ON
from memory_keeper.store.events import session_events
from tests.transcripts import Transcript

PREVIEW = """<persisted-output>
Output too large ({:.1f}KB). Full output saved to: {}

Preview (first 2KB):
{}
...
</persisted-output>"""
SECRET = "ghp_" + "Ab3dEf9hIj2lMn8pQr4tUv6xYz1BcD5eFg7H"
LONG = "".join(f"line {number}: nothing of note\n" for number in range(6_000)) + "the zeppelin has landed"


def moved(folder: Path, output: str, tool: str = "Bash", name: str = "b1x2y3.txt", agent: str = "") -> Transcript:
    """A transcript whose output lies beside it."""
    t = Transcript("s1", "/p", agent=agent)
    place = folder / "s1" / "tool-results" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(output)
    t.prompt("Run it.")
    preview = PREVIEW.format(len(output) / 1000, f"/elsewhere/s1/tool-results/{name}", output[:2000])
    t.call(tool, {"command": "make"}, preview)
    (folder / t.name).parent.mkdir(parents=True, exist_ok=True)
    t.append_to(folder / t.name)
    return t


def results(home: Path, t: Transcript, folder: Path, environ: dict[str, str] | None = None) -> list[str]:
    with Keeper(str(home), {"HOME": str(home), **(environ or {})}) as keeper:
        keeper.read(Source(str(folder / t.name), "s1", "dir:/p", t.agent))
        return [event.text for event in session_events(keeper.store, "s1") if event.kind == "result"]


@pytest.mark.parametrize("agent", ["", "a1b2c3d4"])
@pytest.mark.parametrize("tool", ["Bash", "mcp__db__query"])
def test_it_is_kept_whole_and_found_and_archived(tmp_path: Path, tool: str, agent: str) -> None:
    t = moved(tmp_path, f"{LONG}\n{SECRET}\n", tool, agent=agent)
    home = tmp_path / "home"
    (text,) = results(home, t, tmp_path)
    assert text.startswith(f"{LONG}\n<REDACTED:")
    assert SECRET not in text
    with Keeper(str(home), {"HOME": str(home)}) as keeper:
        assert len(keeper.store.matching([[Phrase("zeppelin")]], EVERYWHERE, 9)) == 1
        (hit,) = find(keeper.store, "zeppelin", EVERYWHERE)
        assert f"the {ON}zeppelin{OFF} has landed" in hit.snippet, "where it stands, however far that is"
    packed = b"".join(gzip.decompress(path.read_bytes()) for path in (home / "archive").iterdir())
    assert b"the zeppelin has landed" in packed
    assert SECRET.encode() not in packed
    assert results(home, t, tmp_path) == [text], "read twice is read once"


def test_a_huge_one_is_kept_up_to_the_setting(tmp_path: Path) -> None:
    t = moved(tmp_path, LONG)
    (text,) = results(tmp_path / "home", t, tmp_path, {"MEMORY_KEEPER_CAPTURE_OUTPUTS": "9"})
    assert text.startswith("line 0: ")
    assert text.endswith("the zeppelin has landed")
    assert f"[… {len(LONG) - 9 * 1024:,} bytes left out …]" in text
    assert len(text) < 9 * 1024 + 100
    (preview,) = results(tmp_path / "other", t, tmp_path, {"MEMORY_KEEPER_CAPTURE_OUTPUTS": "0"})
    assert preview.startswith("<persisted-output>")


def test_it_is_counted_as_the_preview_that_the_context_got(tmp_path: Path) -> None:
    t = moved(tmp_path, LONG)
    counted = []
    for name, limit in (("whole", "900"), ("preview", "0")):
        environ = {"MEMORY_KEEPER_CAPTURE_OUTPUTS": limit}
        results(home := tmp_path / name, t, tmp_path, environ)
        with Keeper(str(home), {"HOME": str(home), **environ}) as keeper:
            ((_, tokens, _),) = by_tool(keeper.store, ["dir:/p"], 0.0, 0.0)
            counted.append(tokens)
    whole, preview = counted
    assert 0.8 < whole / preview < 1.25


@pytest.mark.parametrize("name", ["../../outside.txt", "..", "gone.txt", "a b.txt", "link.txt"])
def test_no_other_file_is_read(tmp_path: Path, name: str) -> None:
    """A transcript may name any path: only a plain file of that name in its session's own folder is meant."""
    outside = tmp_path / "outside.txt"
    outside.write_text("a stranger's file")
    t = moved(tmp_path, "its own")
    (tmp_path / "s1" / "tool-results" / "link.txt").symlink_to(outside)
    (tmp_path / "s1" / "tool-results" / "a b.txt").write_text("a stranger's file")
    change(t, tmp_path, name)
    (text,) = results(tmp_path / "home", t, tmp_path)
    assert "stranger" not in text
    assert text.startswith("<persisted-output>")


def change(t: Transcript, folder: Path, name: str) -> None:
    path = folder / t.name
    path.write_text(path.read_text().replace("b1x2y3.txt", name))


@pytest.mark.parametrize("message", [None, 7, {"content": None}, {"content": [7, None, {"type": "tool_result"}]}])
def test_a_line_that_only_has_the_mark_stays_as_it_is(tmp_path: Path, message: Any) -> None:
    t = moved(tmp_path, "its own")
    t.lines[-1]["message"] = message
    t.lines[-1]["note"] = "<persisted-output>"
    t.write(tmp_path / t.name)
    assert len(results(tmp_path / "home", t, tmp_path)) <= 1
