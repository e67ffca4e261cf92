"""The power goes at any moment: what was said to be kept is there, nothing is damaged, and the rest is read again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from memory_keeper.store import open_store
from tests.faults import powercut
from tests.faults.conftest import Record
from tests.faults.faultpoint import Fault
from tests.faults.scene import Scene, Verdict
from tests.faults.test_points import first_round, last_round
from tests.warm import Several

JOBS = 3
SPARSE = 24  # states of which normally one is tried
KEPT = "Tabs are used in makefiles."


class Told(NamedTuple):
    """What was done, and after how many operations somebody heard that it is kept."""

    done: list[powercut.Done]
    sure: int


def tell(scene: Scene) -> Told:
    """A turn, what moves it into the store, a note by hand, the end of the session; all that is done in the home."""
    log = scene.folder.parent / "log"
    log.unlink(missing_ok=True)
    fault = Fault(0, "kill", under=str(scene.home), log=str(log))
    scene.transcript.grow(6)
    for event in ("UserPromptSubmit", "PostToolUse"):
        scene.hook(event, fault)
    scene.catch_up(fault)
    told = scene.start(["note", "add", "fact", KEPT], b"", fault)
    assert told.code == 0 and b"Kept" in told.out, told
    sure = len(powercut.read_log(log))
    scene.transcript.grow(4)
    scene.hook("SessionEnd", fault)
    scene.start(["catch-up", str(scene.home), "save", scene.session], b"", fault)
    return Told(powercut.read_log(log), sure)


def after(scene: Scene, files: dict[str, bytes], noted: bool) -> Verdict:
    """What is wrong once the machine is up again and the session goes on."""
    powercut.lay_out(scene.home, files)
    # hooks leave what the transcript has as well, and wait for no disk
    scene.cut = True
    scene.asked = [one._replace(sure=False) for one in scene.asked]
    verdict = last_round(scene)
    if noted:
        store = open_store(str(scene.home / "store.db"), write=False)
        notes = [note.text for note in store.written()]
        store.close()
        verdict += Verdict(lost=() if notes.count(KEPT) == 1 else (f"the note is there {notes.count(KEPT)} times",))
    return verdict


@pytest.mark.parametrize("how", powercut.HOWS)
def test_the_power_may_go_at_any_moment(
    how: str, full: bool, tmp_path: Path, shim: Path, warm: Several, record: Record
) -> None:
    scenes = [Scene(tmp_path / str(number), shim, warm=warm) for number in range(JOBS)]
    told: dict[str, Told] = {}
    before: dict[str, dict[str, bytes]] = {}
    for scene in scenes:
        first_round(scene)
        before[str(scene.folder)] = powercut.files_below(scene.home)
        told[str(scene.folder)] = tell(scene)
        scene.save()
    states = range(min(len(one.done) for one in told.values()) + 1)
    start = 5 * powercut.HOWS.index(how) % SPARSE

    def bad_at(number: int) -> tuple[str, Verdict]:
        scene = scenes.pop()
        try:
            scene.restore()
            done, sure = told[str(scene.folder)]
            files = powercut.disk(before[str(scene.folder)], done[:number], how, Random(number))
            where = f"after {number} of {len(done)}, {done[number - 1][:3] if number else ''}"
            return where, after(scene, files, number >= sure)
        finally:
            scenes.append(scene)

    with ThreadPoolExecutor(JOBS) as pool:
        tried = list(pool.map(bad_at, states if full else states[start::SPARSE]))
    record("hooks, the writer and `note add` together", f"power cut, {how} kept of the rest", (one for _, one in tried))
    assert not any(verdict for _, verdict in tried), "\n".join(f"{at}: {verdict}" for at, verdict in tried if verdict)


def test_the_disks_above_are_no_better_than_real_ones(tmp_path: Path, shim: Path, warm: Several) -> None:
    """If nothing were synced the note would be gone."""
    scene = Scene(tmp_path, shim, warm=warm)
    first_round(scene)
    before = powercut.files_below(scene.home)
    done, sure = tell(scene)
    unsynced = [one for one in done[:sure] if one.what != "s"]
    assert after(scene, powercut.disk(before, unsynced, "nothing", Random(0)), noted=True).lost
