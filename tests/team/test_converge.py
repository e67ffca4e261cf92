"""Ten members who are offline, killed and out of step: in the end all have what is shared, once, and nothing else."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import pytest

from memory_keeper.errors import KeeperError
from memory_keeper.model import Note
from memory_keeper.store.shared import shared_notes
from tests.team.members import Member, remote
from tests.team.test_git import everything

pytestmark = pytest.mark.git
NAMES = ("ann", "ben", "cem", "dee", "eva", "fay", "gil", "hao", "ida", "jon")
STEPS = 50
HUNT = int(os.environ.get("HUNT") or 0)  # so many other stories
PROGRAM = [sys.executable, str(Path(__file__).parents[2] / "memory-keeper"), "sync"]


def start(member: Member) -> subprocess.Popen[bytes]:
    """A sync in a process of its own, and of a group of its own with the git that it runs."""
    member.keeper.close()
    environ = {**os.environ, "MEMORY_KEEPER_HOME": str(member.home)}
    return subprocess.Popen(
        PROGRAM, cwd=member.folder, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


def killed(member: Member, after: float) -> None:
    """A sync that is killed on the way, with all that it has started."""
    process = start(member)
    sleep(after)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Story:
    """What each member has done; what the others are to have in the end."""

    def __init__(self, members: list[Member], chance: random.Random) -> None:
        self.members, self.chance, self.count = members, chance, 0
        self.shared: dict[str, tuple[Member, Note, str]] = {}  # by the id of the first wording
        self.private: list[str] = []

    def words(self) -> str:
        self.count += 1
        return f"Decision number {self.count} about module_{self.chance.randrange(1000)}."

    def step(self) -> None:
        member, act = self.chance.choice(self.members), self.chance.random()
        own = [(note, text) for who, note, text in self.shared.values() if who is member]
        if act < 0.3:
            note = member.note(self.words())
            member.share(note)
            self.shared[note.id] = member, note, note.text
        elif act < 0.4:
            self.private.append(f"Private {self.words()}")
            member.note(self.private[-1])
        elif act < 0.5 and own:
            note, _ = self.chance.choice(own)
            text = self.words()
            member.keeper.reword(note, text)
            self.shared[note.id] = member, note, text
        elif act < 0.58 and own:
            note, text = self.chance.choice(own)
            member.unshare(note)
            del self.shared[note.id]
            self.private.append(text)
        elif act < 0.68:
            killed(member, self.chance.random() * 0.6)
        elif act < 0.74:  # read again from the beginning
            for cursor in (member.home / "team").glob("*.cursor"):
                cursor.unlink()
        elif act < 0.8:
            one, other = start(member), start(self.chance.choice(self.members))
            assert (one.wait(), other.wait()) == (0, 0)
        else:
            with suppress(KeeperError):
                member.sync()


@pytest.mark.parametrize("seed", range(1, 2 + HUNT))
def test_all_have_the_same_in_the_end(tmp_path: Path, seed: int) -> None:
    bare = remote(tmp_path)
    story = Story([Member(tmp_path, bare, name) for name in NAMES], random.Random(seed))
    for _ in range(STEPS):
        story.step()
    for _ in range(2):
        for member in story.members:
            member.sync()
    assert len(story.shared) > 5
    for member in story.members:
        theirs = sorted(text for who, _, text in story.shared.values() if who is not member)
        assert sorted(item.text for _, item in shared_notes(member.keeper.store, member.project)) == theirs
    there = everything(bare)
    assert not [text for text in story.private if text in there]
    assert all(member.sync().received[:3] == (0, 0, 0) for member in story.members)


def test_a_sync_that_is_killed_anywhere_is_gone_on_with(tmp_path: Path) -> None:
    bare = remote(tmp_path)
    ann, ben = Member(tmp_path, bare, "ann"), Member(tmp_path, bare, "ben")
    notes = [ann.note(f"Decision number {number}.") for number in range(20)]
    began = monotonic()
    ann.share(notes[0])
    assert start(ann).wait() == 0
    whole = monotonic() - began
    for number in range(1, 20):
        ann.share(notes[number])
        killed(ann, whole * number / 20)
        killed(ben, whole * number / 20)
    ann.sync()
    ben.sync()
    assert sorted(text for _, text in ben.has()) == sorted(note.text for note in notes)
    for member in (ann, ben):
        assert not [*(member.home / "team").glob("*.git")]
