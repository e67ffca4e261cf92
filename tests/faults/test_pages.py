"""Whoever writes a handoff or a page is killed at every operation: what the user wrote stays, nothing half-made."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import time

import pytest

from memory_keeper.briefs.files import removable, remove_all
from tests.faults.conftest import Record
from tests.faults.faultpoint import Fault
from tests.faults.scene import Scene
from tests.warm import Several

MINE = "My own words, which nobody else has."
LONG_AGO = 3600
JOBS = 4
STORIES = {"a handoff": "PreCompact", "the pages": "catch_up"}


def written(scene: Scene, what: str, fault: Fault | None = None) -> tuple[str, ...]:
    """Something new happens, and is written down in the project; the operations that this took there."""
    scene.transcript.grow(6)
    if what == "catch_up":
        scene.hook("SessionEnd")
        return scene.start(["catch-up", str(scene.home), "save", scene.session], b"", fault).operations
    return scene.hook(what, fault).ran.operations


def edit(scene: Scene) -> list[Path]:
    """The user writes into all that is there."""
    pages = [path for path in scene.work.rglob("*.md") if path.is_file()]
    for page in pages:
        page.write_text(f"{page.read_text()}\n{MINE}\n")
    return pages


def left(scene: Scene) -> list[str]:
    """What nobody has given its name to."""
    places = (scene.work, scene.home)
    found = [str(path.relative_to(scene.folder)) for place in places for path in place.rglob("*") if path.is_file()]
    hidden = [name for name in found if Path(name).name.startswith(".") and not name.endswith("/.gitignore")]
    ours = ("salt", "rules", "current", "journal.new")
    return hidden + [name for name in found if any(f"home/{one}." in name for one in ours)]


def age(scene: Scene) -> None:
    """Time goes by."""
    for place in (scene.work, scene.home):
        for path in place.rglob(".*"):
            if path.is_file() and path.name != ".gitignore":
                os.utime(path, (time() - LONG_AGO,) * 2)


@pytest.mark.parametrize("story", STORIES)
def test_killed_while_a_file_of_the_project_is_written(
    story: str,
    full: bool,
    tmp_path: Path,
    shim: Path,
    warm: Several,
    record: Record,
) -> None:
    what = STORIES[story]
    scenes = [Scene(tmp_path / str(number), shim, warm=warm) for number in range(JOBS)]
    for scene in scenes:
        scene.transcript.grow(9)
        scene.hook("SessionStart")
        scene.hook("UserPromptSubmit")
        written(scene, what)
        scene.save()
    counted = scenes[0]
    under = str(counted.work)
    edit(counted)
    points = range(1, len(written(counted, what, Fault(0, "kill", under=under))) + 1)
    assert points, "nothing was written there"
    step = 1 if full else max(1, len(points) // 8)

    def bad_at(at: int) -> str:
        scene = scenes.pop()
        try:
            scene.restore()
            pages = edit(scene)
            written(scene, what, Fault(at, "kill", under=str(scene.work)))
            age(scene)
            written(scene, what)
            texts = {path: path.read_text() for path in scene.work.rglob("*") if path.is_file()}
            kept = sum(MINE in text for text in texts.values())
            verdict = scene.judge()._replace(exits=())  # what a compaction is told is plain text
            wrong = [f"only {kept} of {len(pages)} edits are there"] * (kept < len(pages)) + left(scene)
            wrong += [str(verdict)] * bool(verdict)
            # what was written into a page is a note by now, and the page is ours again
            mine = [path for path in texts if MINE in texts[path] and path.parent.name == "handoffs"]
            remove_all(str(scene.work))
            wrong += [f"{path.name} went with a purge" for path in mine if not path.is_file()]
            wrong += removable(str(scene.work))
            return f"{at}: {wrong}" if wrong else ""
        finally:
            scenes.append(scene)

    with ThreadPoolExecutor(JOBS) as pool:
        tried = list(pool.map(bad_at, points[::step]))
    record(f"who writes {story}", "kill", tried)
    assert not any(tried), "\n".join(filter(None, tried))
