"""The disk fails, or the program is killed, at any file operation while notes are written: each is whole or not there.

What a session did is read already; notes about it are due, and an outline above them. After the fault the disk is well
again: the next writer makes exactly the notes that an undisturbed one would have made. Normally a few points are tried,
with `--full-faults` or FAULTS=full all of them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest

from memory_keeper.notes.kept_note import measure
from memory_keeper.store.sqlite import SqliteStore
from tests import tree
from tests.faults.conftest import Record
from tests.faults.faultpoint import Fault
from tests.faults.scene import Scene, Verdict, damage
from tests.warm import Several

JOBS = 4  # scenes at once: a writer sleeps half of its time
POINTS = 5  # of each fault that are tried normally
SETTINGS = {"saveInterval": 1, "memoryTokens": 2000, "carryOverTokens": 100, "outlineTokens": 200}
HOWS = {
    "kill": Fault(0, "kill"),
    "torn write": Fault(0, "torn"),
    "EIO, reading too": Fault(0, "EIO", reads=True),
    "ENOSPC that lasts": Fault(0, "ENOSPC", lasts=True),
}
Tree = dict[str, tuple[str, ...]]  # every note, and what it covers


class Scenes:
    """Scenes in which notes are due, each used by one at a time."""

    def __init__(self, folder: Path, shim: Path, warm: Several) -> None:
        self.free: Queue[Scene] = Queue()
        self.wanted: dict[Scene, Tree] = {}
        with ThreadPoolExecutor(JOBS) as pool:
            for scene, wanted in pool.map(
                prepare, [Scene(folder / str(number), shim, warm=warm) for number in range(JOBS)]
            ):
                self.wanted[scene] = wanted
                self.free.put(scene)

    @contextmanager
    def one(self) -> Iterator[Scene]:
        scene = self.free.get()
        try:
            scene.restore()
            yield scene
        finally:
            self.free.put(scene)


def prepare(scene: Scene) -> tuple[Scene, Tree]:
    """A session with one note, which the user has worded at length, and turns that no note tells of; and the notes that
    there should be in the end."""
    scene.home.mkdir()
    (scene.home / "config.json").write_text(json.dumps({"reduce": SETTINGS}))
    scene.hook("SessionStart")
    scene.transcript.grow(7, torn=False)
    scene.hook("PostToolUse")
    scene.catch_up()
    store = SqliteStore(str(scene.home / "store.db"))
    (project, _), *_ = store.open_tokens()
    first = store.notes(project, 1)[0]
    words = "\n".join(f"What I know of part {number} by heart." for number in range(300))
    store.add(first._replace(id="mine", text=words, tokens=measure(words), extra="{}", who="user", replaces=first.id))
    store.close()
    (scene.home / "config.json").write_text("{}")  # nothing is due yet
    scene.transcript.grow(28, torn=False)
    scene.hook("PostToolUse")
    scene.catch_up()
    (scene.home / "config.json").write_text(json.dumps({"reduce": SETTINGS}))
    scene.save()
    for _ in range(2):  # once what hooks said just now is told of, the rest of the session is long ago
        scene.catch_up()
    return scene, tree_of(scene)


def tree_of(scene: Scene, home: Path | None = None) -> Tree:
    """The notes there are; whatever is wrong with them fails the test."""
    store = SqliteStore(str((home or scene.home) / "store.db"))
    try:
        assert not [*tree.problems(store), *damage(store)]
        found = {
            note.id: tuple(store.children(note.id)) for (key, _) in store.open_tokens() for note in store.notes(key)
        }
        return {id: children for id, children in found.items() if children}
    finally:
        store.close()


def try_point(scenes: Scenes, fault: Fault) -> tuple[bool, Verdict]:
    """Write notes with one fault: whether it happened, and what came of it."""
    with scenes.one() as scene:
        ran = scene.catch_up(fault)
        now = tree_of(scene, copied(scene))
        scene.catch_up()
        then, wanted = tree_of(scene), scenes.wanted[scene]
        if then != wanted:  # see `prepare`
            scene.catch_up()
            then = tree_of(scene)
        lost = sorted(now.items() - then.items()) + sorted(wanted.items() - then.items())
        verdict = Verdict(
            lost=tuple(f"note {id} of {len(children)}" for id, children in lost),
            doubled=tuple(f"note {id} of {len(children)}" for id, children in sorted(then.items() - wanted.items())),
        )
        verdict += scene.judge()
    where = next((one for one in ran.operations if one.startswith(f"{fault.at} ")), "")
    return len(ran.operations) >= fault.at, verdict + Verdict(wrong=(f"at {where}",) if verdict else ())


def copied(scene: Scene) -> Path:
    """The home as it is, for somebody who opens it and so mends it."""
    copy = scene.folder.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(scene.home, copy)
    return copy


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory, shim: Path, warm: Several) -> Scenes:
    """The places where notes are written."""
    return Scenes(tmp_path_factory.mktemp("scenes"), shim, warm)


def test_undisturbed(scenes: Scenes) -> None:
    """There is something to disturb: notes, and an outline above them."""
    for scene, wanted in scenes.wanted.items():
        store = SqliteStore(str(scene.home / "store.db"), write=False)
        levels = [note.level for (key, _) in store.open_tokens() for note in store.notes(key)]
        store.close()
        assert len(wanted) == len(levels) >= 6
        assert {1, 2} <= set(levels)


@pytest.mark.parametrize("how", HOWS)
def test_no_point_is_fatal(how: str, full: bool, scenes: Scenes, record: Record) -> None:
    fault = HOWS[how]
    with scenes.one() as scene:
        number = len(scene.catch_up(fault._replace(how="kill", lasts=False)).operations)
    every = range(1, number + 1)
    step = 1 if full else max(1, number // POINTS)
    points = every[7 * list(HOWS).index(how) % step :: step]  # others for other faults
    with ThreadPoolExecutor(JOBS) as pool:
        done = list(pool.map(lambda at: try_point(scenes, fault._replace(at=at)), points))
    record("the writer of notes", how, [verdict for met, verdict in done if met])
    bad = [f"{at}: {verdict}" for at, (_, verdict) in zip(points, done, strict=True) if verdict]
    assert not bad, "\n".join(bad)
