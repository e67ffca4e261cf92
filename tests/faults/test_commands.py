"""A command is killed at every file operation, or the disk refuses one: run again it does its work, and once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_keeper.keeper.by_hand import differences
from memory_keeper.store import open_store
from tests.faults.conftest import Record
from tests.faults.faultpoint import Fault
from tests.faults.scene import Scene, Verdict
from tests.faults.test_points import first_round, last_round
from tests.warm import Several

JOBS = 4
FEW = 6  # points of each that normally are tried
TEXT = "Tabs are used in makefiles."
COMMANDS = {
    "note add": ("note", "add", "fact", TEXT),
    "rule add": ("rule", "add", TEXT, "--yes"),
    "observation add": ("observation", "add", TEXT),
    "task add": ("task", "add", TEXT),
    "save": ("save",),
    "summarize": ("summarize",),
    "backup": ("backup",),
    "doctor --fix": ("doctor", "--fix"),
    "config set": ("config", "set", "rules.every", "7"),
    "export": ("export", "--format", "jsonl"),
    "forget --text": ("forget", "--text", "nothing says this", "--yes"),
}
HOWS = {"kill": Fault(0, "kill"), "torn write": Fault(0, "torn"), "EIO": Fault(0, "EIO"), "ENOSPC": Fault(0, "ENOSPC")}


def judge(scene: Scene, by_hand: bool) -> Verdict:
    """What is wrong with what people wrote, and with all else."""
    verdict = last_round(scene)
    store = open_store(str(scene.home / "store.db"), write=False)
    lacking, strange = differences(store)
    kept = sum(note.text == TEXT for note in store.written())
    store.close()
    wrong = [f"the store lacks {lacking}"] * bool(lacking) + [f"the journal lacks {strange}"] * bool(strange)
    wrong += [f"it is kept {kept} times"] * (by_hand and not 1 <= kept <= 2)  # whose answer was lost adds it again
    return verdict + Verdict(wrong=tuple(wrong))


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_cut_short_can_be_run_again(
    name: str, how: str, full: bool, tmp_path: Path, shim: Path, warm: Several, record: Record
) -> None:
    words, fault = [*COMMANDS[name]], HOWS[how]
    scenes = [Scene(tmp_path / str(number), shim, warm=warm) for number in range(JOBS)]
    for scene in scenes:
        first_round(scene)
        scene.save()
    whole = scenes[0].start(words, b"", Fault(0, "kill"))
    assert whole.code in (0, 1 if name == "doctor --fix" else 0), whole
    number, again = len(whole.operations), whole.code
    points = range(1, number + 1)
    chosen = points if full else points[3 * list(HOWS).index(how) :: max(1, number // FEW)]

    def bad_at(at: int) -> tuple[bool, Verdict]:
        scene = scenes.pop()
        try:
            scene.restore()
            met = len(scene.start(words, b"", fault._replace(at=at)).operations) >= at
            ran = scene.start(words)
            verdict = Verdict(exits=(f"{ran.code}: {ran.err[-300:]!r}",) if ran.code != again else ())
            verdict += judge(scene, by_hand=name.endswith(" add"))
            return met, verdict + Verdict(wrong=(f"at {whole.operations[at - 1]}",) if verdict else ())
        finally:
            scenes.append(scene)

    with ThreadPoolExecutor(JOBS) as pool:
        tried = list(pool.map(bad_at, chosen))
    record(f"`{name}`", how, (verdict for met, verdict in tried if met))
    bad = [f"{at}: {verdict}" for at, (_, verdict) in zip(chosen, tried, strict=True) if verdict]
    assert not bad, "\n".join(bad)
