"""Many at once: hooks, writers, a transcript that grows meanwhile; everything is kept once and in order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from memory_keeper.keeper.by_hand import differences
from memory_keeper.store import open_store, spool
from memory_keeper.store.events import session_events
from memory_keeper.store.sqlite import SqliteStore
from tests.faults.scene import START, Scene, Verdict, script
from tests.faults.server import Server, eventually
from tests.warm import PYTHON, Several

EVENTS = ("UserPromptSubmit", "PostToolUse", "Stop")
CHECKED = ("store", "journal", "index", "archives", "permissions")  # by `doctor`: no host is installed here


def finish(*scenes: Scene) -> Verdict:
    """The sessions end all at once, and detached writers bring in what is left."""
    with ThreadPoolExecutor(len(scenes)) as pool:
        assert all(pool.map(lambda scene: scene.hook("SessionEnd").sure, scenes))
    return sum((scene.judge() for scene in scenes), Verdict())


@pytest.mark.parametrize("sessions", [1, 10])
def test_fifty_hooks_at_once(tmp_path: Path, shim: Path, sessions: int) -> None:
    scenes = [Scene(tmp_path, shim, f"session-{number}") for number in range(sessions)]
    for scene in scenes:
        scene.transcript.grow(6)
    calls = [(scenes[number % sessions], EVENTS[number % 3]) for number in range(50)]
    with ThreadPoolExecutor(50) as pool:
        together = threading.Barrier(50)

        def call(scene: Scene, event: str) -> bool:
            together.wait()
            return scene.hook(event).sure

        answered = list(pool.map(lambda one: call(*one), calls))
    assert all(answered)
    for scene in scenes:
        scene.transcript.grow(3, torn=False)
    assert not finish(*scenes)


def test_a_backup_while_fifty_hooks_run_passes_every_check(tmp_path: Path, shim: Path, warm: Several) -> None:
    """Rows, archives, spools and journal of one backup belong together; the session goes on afterwards."""
    scene = Scene(tmp_path, shim, warm=warm)
    scene.transcript.grow(9)
    scene.hook("SessionStart")
    scene.catch_up()
    assert scene.start(["note", "add", "fact", "Ask Ann."]).code == 0
    taken = [str(tmp_path / f"{number}.tar") for number in range(3)]
    with ThreadPoolExecutor(50) as pool:
        calls = [pool.submit(scene.hook, EVENTS[number % 3]) for number in range(50)]
        moved = [pool.submit(scene.catch_up) for _ in range(3)]
        backups = [scene.start(["backup", "--to", path]) for path in taken]
        assert all(call.result().sure for call in calls)
        assert all(move.result().code == 0 for move in moved)
    assert [ran.code for ran in backups] == [0, 0, 0], backups
    whole = scene.home.rename(tmp_path / "whole")
    for path in taken:
        shutil.rmtree(scene.home, ignore_errors=True)
        restored = scene.start(["restore", path, "--yes"])
        assert restored.code == 0, restored.err
        checked = json.loads(scene.start(["doctor", "--json"]).out)["checks"]
        assert {check["verdict"] for check in checked if check["check"] in CHECKED} == {"OK"}, checked
        store = open_store(str(scene.home / "store.db"), write=False)
        assert (store.problems(), differences(store)) == ([], ([], []))
        assert [note.text for note in store.written()] == ["Ask Ann."]
        store.close()
    shutil.rmtree(scene.home)
    whole.rename(scene.home)
    scene.transcript.grow(3, torn=False)
    assert not finish(scene)


def test_writers_at_once_over_a_growing_transcript(tmp_path: Path, shim: Path) -> None:
    """The transcript grows by pieces that end anywhere; each line is taken once it is whole."""
    scene = Scene(tmp_path, shim)
    scene.hook("SessionStart")
    scene.hook("UserPromptSubmit")
    lines = script(scene.session)[:120]
    random = Random(5)

    def write() -> None:
        due = b"".join(line.data for line in lines)
        with scene.transcript.path.open("ab", buffering=0) as file:
            while due:
                cut = random.choice([1, 7, 300, 5_000, 20_000])
                file.write(due[:cut])
                due = due[cut:]
                time.sleep(0.004)

    writing = threading.Thread(target=write)
    writing.start()
    with ThreadPoolExecutor(4) as pool:
        while writing.is_alive():
            done = [one.result() for one in [pool.submit(scene.catch_up) for _ in range(4)]]
            assert all(ran.code == 0 for ran in done)
    writing.join()
    scene.transcript.whole = len(lines)
    assert not scene.complaints()
    assert not finish(scene)


def test_nobody_takes_the_log_of_a_store_in_use_away(tmp_path: Path, shim: Path) -> None:
    """A process with two connections keeps the locks of both, so whoever closes the store is not the last to do so."""
    scene = Scene(tmp_path, shim)
    scene.transcript.grow(6)
    with Server(scene) as server:
        server.ask(server.hook("PostToolUse"))
        eventually(lambda: scene.count(), "nothing was kept")
        server.ask(server.hook("SessionEnd", reason="clear"))
        scene.transcript.grow(3)
        server.ask(server.hook("SessionStart", source="clear"))  # reads, and catches up
        assert scene.catch_up().code == 0
        assert (scene.home / "store.db-wal").exists()
        scene.transcript.grow(3, torn=False)
        server.ask(server.hook("PostToolUse"))
        eventually(
            lambda: scene.count() > sum(len(line.marks) for line in scene.transcript.lines), "others see nothing"
        )
    assert not finish(scene)


def test_a_reader_and_a_writer_in_one_process(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteStore(str(path)).close()
    reader = SqliteStore(str(path), write=False)
    writer = SqliteStore(str(path))
    code = f"from memory_keeper.store.sqlite import SqliteStore; SqliteStore({str(path)!r}).close()"
    subprocess.run([PYTHON, "-c", code], env={"PYTHONPATH": str(START.parents[2])}, check=True)
    assert path.with_name("store.db-wal").exists()
    reader.close()
    writer.close()


def test_a_spool_is_taken_away_while_others_write_to_it(tmp_path: Path) -> None:
    home, session, each, writers = str(tmp_path), "session", 150, 4
    moved: list[int] = []
    removed = 0
    done = threading.Event()

    def write(writer: int) -> None:
        for number in range(each):
            spool.append(home, session, {"number": writer * each + number})
            time.sleep(0.001 * (number % 4))

    def move() -> None:
        nonlocal removed
        path = tmp_path / f"spool/{session}.spool"
        while not done.is_set() or path.exists():
            if not path.exists():
                continue
            data = path.read_bytes()
            if spool.remove(home, session, len(data)):
                moved.extend(record["number"] for record in spool.records(data))
                removed += 1

    mover = threading.Thread(target=move)
    mover.start()
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    done.set()
    mover.join()
    assert removed > 5
    assert Counter(moved) == Counter(range(each * writers))


def test_old_spools_go_while_their_session_comes_back(tmp_path: Path, shim: Path) -> None:
    """The real writer takes away a spool that it takes for old, and hooks write to it at that moment."""
    scene = Scene(tmp_path, shim)
    path = scene.home / f"spool/{scene.session}.spool"
    done = threading.Event()
    seen = set()

    def age() -> None:
        """Whatever is written, the file looks old."""
        while not done.wait(0.002):
            try:
                os.utime(path, (0, 0))
                seen.add(path.stat().st_ino)
            except FileNotFoundError:
                seen.add(0)

    def look() -> None:
        while not done.is_set():
            assert scene.catch_up().code == 0

    threads = [threading.Thread(target=what) for what in (age, look, look)]
    for thread in threads:
        thread.start()
    other = Scene(tmp_path, shim)
    for number in range(8):
        with ThreadPoolExecutor(3) as pool:
            assert all(one.sure for one in pool.map(other.hook, ("SessionStart", "PostToolUse", "SessionEnd")))
        time.sleep(0.1 * (number % 3))
    done.set()
    for thread in threads:
        thread.join()
    assert 0 in seen, "no spool was ever taken away"
    scene.catch_up()
    store = SqliteStore(str(scene.home / "store.db"), write=False)
    kinds = Counter(event.kind for event in session_events(store, scene.session))
    store.close()
    assert kinds["start"] == kinds["end"] == 8
