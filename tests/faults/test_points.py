"""The disk fails, or the program is killed, at every single file operation: nothing is lost, doubled or damaged.

Each story has three rounds over a transcript that grows and ends in the middle of a line. The fault comes in the
first round or in the second; afterwards the disk is well again and the session goes on. Normally a few points of each
story are tried, with `--full-faults` or FAULTS=full all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import pytest

from tests.faults.conftest import Record
from tests.faults.faultpoint import Fault, Ran
from tests.faults.scene import Scene, Verdict
from tests.warm import Several

JOBS = 4  # stories told at once: a writer sleeps half of its time
SPARSE = 40  # normally every 40th point is tried, but one at least

HOWS = {
    "kill": Fault(0, "kill"),
    "torn write": Fault(0, "torn"),
    "short write": Fault(0, "short"),
    "EIO": Fault(0, "EIO"),
    "EIO, reading too": Fault(0, "EIO", reads=True),
    "ENOSPC": Fault(0, "ENOSPC"),
    "ENOSPC that lasts": Fault(0, "ENOSPC", lasts=True),
    "EROFS": Fault(0, "EROFS"),
    "EROFS that lasts": Fault(0, "EROFS", lasts=True),
}


class Story(NamedTuple):
    """What is running when the fault comes: a hook, or the writer."""

    what: str
    fresh: bool  # in the first round, when there is no home yet

    def __str__(self) -> str:
        return f"{self.what}-{'first' if self.fresh else 'later'}"


HOOKS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd")
NAMES = {"catch_up": "the writer"}
STORIES = {
    "hook": [Story(what, fresh) for what in HOOKS for fresh in (True, False)],
    "writer": [Story("catch_up", fresh) for fresh in (True, False)],
}


class Scenes:
    """Scenes ready to be used, each by one at a time."""

    def __init__(self, folder: Path, shim: Path, warm: Several) -> None:
        self.queues: dict[bool, Queue[Scene]] = {True: Queue(), False: Queue()}
        self.known: dict[tuple[Story, bool], tuple[str, ...]] = {}
        for number in range(JOBS):
            for fresh in (True, False):
                scene = Scene(folder / f"{number}-{fresh}", shim, warm=warm)
                if not fresh:
                    first_round(scene)
                scene.save()
                self.queues[fresh].put(scene)

    @contextmanager
    def one(self, fresh: bool) -> Iterator[Scene]:
        """A scene in which nothing, or only the first round, has happened yet."""
        scene = self.queues[fresh].get()
        try:
            scene.restore()
            yield scene
        finally:
            self.queues[fresh].put(scene)

    def operations(self, story: Story, reads: bool = False) -> tuple[str, ...]:
        """What there is to fail in a story."""
        if (story, reads) not in self.known:
            with self.one(story.fresh) as scene:
                ran, verdict = faulty_round(scene, story.what, Fault(0, "kill", reads=reads))
            assert ran.operations, "the shim saw nothing"
            assert not verdict, verdict
            self.known[story, reads] = ran.operations
        return self.known[story, reads]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory, shim: Path, warm: Several) -> Scenes:
    """The places where the stories are told."""
    return Scenes(tmp_path_factory.mktemp("scenes"), shim, warm)


def first_round(scene: Scene) -> None:
    scene.transcript.grow(9)
    scene.hook("SessionStart")
    scene.hook("UserPromptSubmit")
    scene.catch_up()


def faulty_round(scene: Scene, what: str, fault: Fault) -> tuple[Ran, Verdict]:
    scene.transcript.grow(6)
    if what == "catch_up":
        scene.hook("PostToolUse")
    before = scene.count()
    if what != "catch_up":
        ran = scene.hook(what, fault).ran
        return ran, scene.judge_now(before)
    ran = scene.catch_up(fault)
    verdict = scene.judge_now(before)
    scene.catch_up()  # the hooks have said where to look, nobody has to say it again
    return ran, verdict + scene.judge()


def last_round(scene: Scene) -> Verdict:
    """The disk is well again: the next hooks say nothing of what was, and what is missing comes in."""
    wrong = []
    scene.transcript.grow(5, torn=False)
    for event in ("SessionStart", "PostToolUse", "SessionEnd"):
        asked = scene.hook(event)
        if not asked.sure:
            wrong.append(f"{event} still complains: {asked.ran.out!r} {scene.complaints()}")
    return Verdict(wrong=tuple(wrong)) + scene.judge()


def try_point(scenes: Scenes, story: Story, fault: Fault) -> tuple[bool, Verdict]:
    """Tell a story with one fault: whether it happened, and what came of it."""
    with scenes.one(story.fresh) as scene:
        ran, verdict = faulty_round(scene, story.what, fault)
        verdict += last_round(scene)
    if verdict and ran.operations:
        where = next((one for one in ran.operations if one.startswith(f"{fault.at} ")), "")
        verdict += Verdict(wrong=(f"at {where}",))
    return len(ran.operations) >= fault.at, verdict


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("who", STORIES)
def test_no_point_is_fatal(who: str, how: str, full: bool, scenes: Scenes, record: Record) -> None:
    fault = HOWS[how]
    points: list[tuple[Story, int]] = []
    for story in STORIES[who]:
        every = range(1, len(scenes.operations(story, fault.reads)) + 1)
        step = 1 if full else min(SPARSE, len(every))
        points += [(story, at) for at in every[7 * list(HOWS).index(how) % step :: step]]  # others for other faults
    with ThreadPoolExecutor(JOBS) as pool:
        done = list(pool.map(lambda point: try_point(scenes, point[0], fault._replace(at=point[1])), points))
    for what in dict.fromkeys(story.what for story in STORIES[who]):
        own = [verdict for (story, _), (met, verdict) in zip(points, done, strict=True) if met and story.what == what]
        record(NAMES.get(what, what), how, own)
    bad = [f"{story} {at}: {verdict}" for (story, at), (_, verdict) in zip(points, done, strict=True) if verdict]
    assert not bad, "\n".join(bad)


def test_killed_while_the_store_is_made(scenes: Scenes) -> None:
    """Before it is in WAL mode it has a journal of another kind, which a reader cannot take back."""
    story = Story("catch_up", fresh=True)
    journal = [at for at, one in enumerate(scenes.operations(story), 1) if one.endswith("store.db-journal")]
    assert journal

    def kill(at: int) -> Verdict:
        with scenes.one(story.fresh) as scene:
            scene.transcript.grow(6)
            scene.hook("PostToolUse")
            assert scene.catch_up(Fault(at, "kill")).killed
            return last_round(scene)

    points = range(journal[0], journal[-1] + 2)
    with ThreadPoolExecutor(JOBS) as pool:
        bad = [f"{at}: {verdict}" for at, verdict in zip(points, pool.map(kill, points), strict=True) if verdict]
    assert not bad, "\n".join(bad)
