"""A change of the user's CLAUDE.md that is killed or refused at every single point: the file is the old or the new one.

The predecessors truncated the file and then wrote it: killed in between, or on a full disk, the user's text was gone.
"""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from memory_keeper.briefs.claude_md import block_text, find_block, with_block
from tests.faults.faultpoint import Fault, Ran, call, run
from tests.faults.test_homes import own_mounts, without_privileges
from tests.warm import PYTHON, Several

ROOT = Path(__file__).parents[2]
PROGRAM = f"""
import sys
sys.path[:0] = {[str(ROOT / "src"), str(ROOT)]!r}
from tests.faults.changing import change
change(sys.argv[1:])
"""
OLD, RULES = block_text(["An old rule."]), block_text(["Say what was verified.", "Never push to main."])
MINE = "".join(f"{number}. A line of my own, number {number}.\n" for number in range(1, 201)).encode()
EDITED = with_block(MINE, OLD).replace(b"An old rule.", b"An old rule, as I see it.")


class Story(NamedTuple):
    """A change, and the file before and after it."""

    what: str
    before: bytes | None
    after: bytes | None


STORIES = {
    "first": Story("sync", MINE, with_block(MINE, RULES)),
    "created": Story("sync", None, with_block(None, RULES)),
    "replaced": Story("sync", with_block(MINE, OLD), with_block(MINE, RULES)),
    "forced": Story("force", EDITED, with_block(MINE, RULES)),
    "taken out": Story("unsync", with_block(MINE, RULES), MINE),
    "taken away": Story("unsync", with_block(None, RULES), None),
}


class Place:
    """A project with the user's file in it."""

    def __init__(self, folder: Path, shim: Path, story: Story, warm: Several | None = None) -> None:
        self.warm = warm  # what forks for each change; else each is a process that is started
        self.folder, self.shim, self.story = folder / "project", shim, story
        self.file, self.backup = self.folder / "CLAUDE.md", self.folder / "CLAUDE.md.before-memory-keeper"
        self.trace = folder / "trace"
        self.restore()

    def restore(self) -> None:
        """As it was before."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if self.story.before is not None:
            self.file.write_bytes(self.story.before)
            self.file.chmod(0o640)

    def change(self, fault: Fault | None = None, prefix: list[str] | None = None) -> Ran:
        """Make the change, with a fault if there is one."""
        self.trace.unlink(missing_ok=True)
        faulty = fault.environ(self.shim, self.folder, self.trace) if fault else {}
        environ = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", **faulty}
        words = [self.story.what, str(self.file), RULES]
        if self.warm:
            return call(self.warm, ("tests.faults.changing", "change"), words, b"", environ)
        return run([*(prefix or []), PYTHON, "-I", "-c", PROGRAM, *words], b"", environ)

    def now(self) -> bytes | None:
        return self.file.read_bytes() if self.file.exists() else None

    def judge(self) -> None:
        """Whole, whichever it is; what was edited by hand is somewhere; and the next change leaves no trace of this."""
        assert self.now() in (self.story.before, self.story.after)
        if self.now() is not None and self.story.before is not None:
            assert self.file.stat().st_mode & 0o777 == 0o640
        if self.story.what == "force":
            assert self.story.before in (self.now(), self.backup.exists() and self.backup.read_bytes())
        assert self.change().code == 0
        assert self.now() == self.story.after
        known = {self.file, self.backup} if self.story.what == "force" else {self.file}
        assert set(self.folder.iterdir()) <= known


@pytest.fixture(params=STORIES)
def place(request: pytest.FixtureRequest, tmp_path: Path, shim: Path, warm: Several) -> Place:
    """One of the changes, about to be made."""
    return Place(tmp_path, shim, STORIES[request.param], warm)


@pytest.mark.parametrize(("how", "reads"), [("kill", True), ("torn", False), ("short", False)])
def test_killed_at_every_point(place: Place, how: str, reads: bool) -> None:
    points = len(place.change(Fault(0, how, reads=reads)).operations)
    assert points >= (1 if place.story.after is None else 5)
    for at in range(1, points + 1):
        place.restore()
        ran = place.change(Fault(at, how, reads=reads))
        assert ran.killed or how != "kill"
        place.judge()


@pytest.mark.parametrize("lasts", [False, True])
@pytest.mark.parametrize("how", ["ENOSPC", "EIO", "EROFS"])
def test_refused_at_every_point(place: Place, how: str, lasts: bool) -> None:
    """It says so in one line and nothing has changed, or it has worked all the same."""
    points = len(place.change(Fault(0, how)).operations)
    for at in range(1, points + 1):
        place.restore()
        ran = place.change(Fault(at, how, lasts=lasts))
        if ran.code:
            assert place.now() == place.story.before
            assert ran.err.startswith(f"memory-keeper: {place.file} cannot be written: ".encode())
            assert ran.err.count(b"\n") == 1
        else:
            assert place.now() == place.story.after
        place.judge()


# --- what only the system can refuse ----------------------------------------------------------------------------------


def test_a_full_disk_costs_none_of_two_hundred_lines(tmp_path: Path, shim: Path) -> None:
    """R16: a real file system without room for a second copy."""
    place = Place(tmp_path, shim, STORIES["first"])
    folder = place.folder
    fill = f'cp "{place.file}" "{tmp_path}/mine" && mount -t tmpfs -o size=64k none "{folder}"'
    fill += f' && cp "{tmp_path}/mine" "{place.file}"; dd if=/dev/zero of="{folder}/ballast" bs=1k 2>/dev/null; true'
    with own_mounts(fill) as inside:
        ran = place.change(prefix=inside)
        assert ran.code == 1 and b"No space left on device" in ran.err
        there = subprocess.run([*inside, "cat", place.file], capture_output=True, check=True)
        assert there.stdout == MINE
        names = subprocess.run([*inside, "ls", "-A", folder], capture_output=True, check=True)
        assert names.stdout.split() == [b"CLAUDE.md", b"ballast"]
        subprocess.run([*inside, "rm", folder / "ballast"], check=True)
        assert place.change(prefix=inside).code == 0
        there = subprocess.run([*inside, "cat", place.file], capture_output=True, check=True)
        assert there.stdout == place.story.after


@pytest.mark.parametrize(("what", "mode"), [("file", 0o440), ("folder", 0o500)])
def test_what_may_not_be_written(tmp_path: Path, shim: Path, what: str, mode: int) -> None:
    place = Place(tmp_path, shim, STORIES["first"])
    guarded = place.file if what == "file" else place.folder
    usual = guarded.stat().st_mode
    guarded.chmod(mode)
    try:
        ran = place.change(prefix=without_privileges())
    finally:
        guarded.chmod(usual)
    assert ran.code == 1
    assert ran.err.decode().rstrip("\n") == (
        f"memory-keeper: {place.file} is read-only"
        if what == "file"
        else f"memory-keeper: {place.file} cannot be written: Permission denied"
    )
    assert place.now() == MINE
    assert [*place.folder.iterdir()] == [place.file]


def test_a_disk_that_is_read_only(tmp_path: Path, shim: Path) -> None:
    place = Place(tmp_path, shim, STORIES["first"])
    command = f'mount --bind "{place.folder}" "{place.folder}" && mount -o remount,ro,bind "{place.folder}"'
    with own_mounts(command) as inside:
        ran = place.change(prefix=inside)
    assert ran.code == 1 and b"CLAUDE.md is read-only" in ran.err
    assert place.now() == MINE


# --- many at once -----------------------------------------------------------------------------------------------------


def test_many_at_once_leave_one_block(tmp_path: Path, shim: Path) -> None:
    place = Place(tmp_path, shim, STORIES["first"])
    texts = [block_text([f"Rule {number}.", "word " * 2000]) for number in range(6)]

    def change(text: str) -> int:
        return run([PYTHON, "-I", "-c", PROGRAM, "sync", str(place.file), text], b"", {}).code

    with ThreadPoolExecutor(6) as pool:
        assert not any(pool.map(change, texts * 3))
    found = find_block(place.file.read_bytes())
    assert found and found.text in texts and not found.edited
    assert place.file.read_bytes() == with_block(MINE, found.text)
    assert [*place.folder.iterdir()] == [place.file]


def test_one_that_hangs_does_not_keep_the_others_waiting_for_good(tmp_path: Path, shim: Path) -> None:
    """The kernel frees the lock of whoever is killed with it."""
    place = Place(tmp_path, shim, STORIES["first"])
    hold = f"import fcntl, os, time; fcntl.flock(os.open({str(place.folder)!r}, os.O_RDONLY), 2); print(1, flush=True)"
    with subprocess.Popen([PYTHON, "-I", "-c", f"{hold}; time.sleep(600)"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout and holder.stdout.readline()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(place.change)
            holder.kill()
            assert waiting.result().code == 0
    assert place.now() == place.story.after
