"""Something is forgotten while two servers run, and who does it is killed at any operation: then it is in no byte."""

from __future__ import annotations

import gzip
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from memory_keeper.store import open_store
from tests.faults.conftest import Record
from tests.faults.faultpoint import Fault
from tests.faults.scene import Scene
from tests.faults.server import Server
from tests.faults.test_points import first_round
from tests.faults.test_server import EVENTS, assert_answered, assert_connected, handshake
from tests.warm import Several

JOBS = 2
FEW = 8  # points that normally are tried
HOWS = {"kill": Fault(0, "kill"), "torn write": Fault(0, "torn")}


def traces(scene: Scene, word: bytes) -> list[str]:
    """The files of ours that have it, unpacked or not."""
    found = []
    for path in (path for place in (scene.home, scene.work) for path in place.rglob("*") if path.is_file()):
        data = path.read_bytes()
        try:
            data += gzip.decompress(data)
        except (OSError, EOFError):
            pass
        found += [str(path.relative_to(scene.folder))] * (word in data)
    return found


@pytest.mark.parametrize("how", HOWS)
def test_what_is_forgotten_is_in_no_byte(
    how: str, full: bool, tmp_path: Path, shim: Path, warm: Several, record: Record
) -> None:
    scenes = [Scene(tmp_path / str(number), shim, warm=warm) for number in range(JOBS)]
    for scene in scenes:
        first_round(scene)
        word = scene.transcript.lines[0].marks[0]
        scene.start(["note", "add", "fact", f"Ask {word} about it."])
        scene.start(["catch-up", str(scene.home), "save", scene.session])
        scene.start(["backup"])
        assert len(traces(scene, word.encode())) > 3
        # a copy of a page, which is what is restored below, is somebody else's file: this one is made again
        shutil.rmtree(scene.work / ".claude")
        scene.save()
    words = ["forget", "--text", word, "--yes"]
    whole = scenes[0].start(words, b"", Fault(0, "kill"))
    assert whole.code == 0, whole
    assert traces(scenes[0], word.encode()) == []
    points = range(1, len(whole.operations) + 1)
    chosen = points if full else points[:: max(1, len(points) // FEW)]

    def bad_at(at: int) -> tuple[bool, list[str]]:
        scene = scenes.pop()
        try:
            scene.restore()
            with ExitStack() as running:
                servers = [running.enter_context(Server(scene)) for _ in range(2)]
                for server in servers:
                    assert_connected(server.ask(*handshake(server)))
                    server.ask(*[server.hook(event) for event in EVENTS])
                met = len(scene.start(words, b"", HOWS[how]._replace(at=at)).operations) >= at
                for server in servers:
                    server.ask(*[server.hook(event) for event in EVENTS])
                    assert_answered(server)
                again = scene.start(words)
            scene.start(["catch-up", str(scene.home), "save", scene.session])
            wrong = [f"it is in {name}" for name in traces(scene, word.encode())]
            wrong += [f"exit {again.code}: {again.err[-200:]!r}"] * (again.code not in (0, 1))
            store = open_store(str(scene.home / "store.db"), write=False)
            wrong += store.problems()
            store.close()
            return met, [*wrong, f"at {whole.operations[at - 1]}"] if wrong else []
        finally:
            scenes.append(scene)

    with ThreadPoolExecutor(JOBS) as pool:
        tried = list(pool.map(bad_at, chosen))
    record("`forget --text` beside two servers", how, (wrong for met, wrong in tried if met))
    assert not any(wrong for _, wrong in tried), "\n".join(str(wrong) for _, wrong in tried if wrong)
