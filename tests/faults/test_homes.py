"""A home that cannot be used: the user's work goes on, hears of it once, and what was missed comes in later."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from memory_keeper.briefs.rules import SHIPPED
from tests.faults.faultpoint import Fault, run
from tests.faults.scene import START, Growing, Scene, Verdict, complains, well_behaved
from tests.faults.server import Server
from tests.warm import PYTHON, Several

HOOKS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd")
QUESTIONS = ("status --all-projects", "search --all-projects mark", "doctor")
READ = ("brief start", "load", "usage")  # of one project


@pytest.fixture
def scene(tmp_path: Path, shim: Path, warm: Several) -> Scene:
    """A session about which nothing is known yet."""
    made = Scene(tmp_path, shim, warm=warm)
    made.transcript.grow(9)
    return made


def suffer(scene: Scene) -> None:
    """A whole session on a machine that is not well: every hook ends well, the start says what is wrong, and a prompt
    brings the rules that come with us."""
    scene.well = False
    for event in HOOKS:
        ran = scene.hook(event).ran
        assert well_behaved(event, ran), ran
        if event == "SessionStart":
            assert "Memory Keeper is not keeping this session" in json.loads(ran.out)["systemMessage"]
            assert "Recursion" not in ran.out.decode()
        elif event == "UserPromptSubmit":
            assert SHIPPED[0][1] in json.loads(ran.out)["hookSpecificOutput"]["additionalContext"]
        else:
            assert not ran.out
    with_server(scene)
    scene.well = True


def with_server(scene: Scene) -> None:
    """The same through the server."""
    if scene.prefix:
        return
    with Server(scene) as server:
        for event in ("UserPromptSubmit", "PostToolUse", "Stop", "PreCompact"):
            (answer,) = server.ask(server.hook(event))
            assert "error" not in answer and not answer["result"].get("isError")


def recover(scene: Scene) -> Verdict:
    """All is well again, and the session goes on."""
    scene.transcript.grow(4, torn=False)
    for event in HOOKS:
        assert scene.hook(event).sure
    return scene.judge()


def test_a_home_that_is_a_file(scene: Scene) -> None:
    scene.home.write_text("mine")
    suffer(scene)
    assert scene.home.read_text() == "mine"
    scene.home.unlink()
    assert not recover(scene)


def test_a_home_that_is_a_link_to_nowhere(scene: Scene) -> None:
    scene.home.symlink_to(scene.folder / "elsewhere")
    suffer(scene)
    (scene.folder / "elsewhere").mkdir()  # the disk is mounted again
    assert not recover(scene)


@pytest.mark.parametrize(
    ("name", "rubbish"),
    [("spool", 0), ("archive", 0), ("store.db", 0), ("store.db", 9000), ("salt", 0), ("writer.lock", 0)],
)
def test_something_else_in_the_place_of_a_file(scene: Scene, name: str, rubbish: int) -> None:
    """A folder where a file should be, a file where a folder should be, or something that is no file of ours."""
    first = [scene.hook(event) for event in HOOKS]
    assert all(one.sure for one in first)
    kept = scene.home / f"{name}.kept"
    (scene.home / name).rename(kept)
    if rubbish or kept.is_dir():
        (scene.home / name).write_text("?" * rubbish)
    else:
        (scene.home / name).mkdir()
    scene.transcript.grow(4)
    scene.well = False
    for event in HOOKS:
        ran = scene.hook(event).ran
        assert well_behaved(event, ran), ran
    with_server(scene)
    scene.well = True
    (scene.home / name).unlink() if (scene.home / name).is_file() else (scene.home / name).rmdir()
    kept.rename(scene.home / name)
    assert not recover(scene)


def test_what_is_kept_is_told_even_when_nothing_more_can_be(scene: Scene, tmp_path: Path) -> None:
    assert not recover(scene)
    scene.transcript.grow(4)
    (scene.home / "archive").rename(scene.home / "aside")
    (scene.home / "archive").touch()
    said = json.loads(Scene(tmp_path, scene.shim, "session-2").hook("SessionStart").ran.out)
    assert "mark" in said["hookSpecificOutput"]["additionalContext"]
    assert "not keeping this session (Not a directory)" in said["systemMessage"]


def test_a_transcript_that_cannot_be_read_does_not_keep_out_the_others(scene: Scene, tmp_path: Path) -> None:
    other = Scene(tmp_path, scene.shim, "session-2")
    bad = other.claude / "projects/bad"
    other.transcript = Growing(bad / "session-2.jsonl", "session-2")
    for one in (other, scene):
        one.hook("SessionStart")
    for one in (other, scene):
        one.transcript.grow(3, torn=False)
        one.hook("PostToolUse")
    scene.catch_up(Fault(2, "EIO", lasts=True, reads=True, under=str(bad)))  # it opens, and then nothing can be read
    assert "OSError Input/output error" in scene.complaints()
    assert not scene.judge()
    scene.catch_up()
    assert not other.judge()


def test_a_salt_that_was_cut_short(scene: Scene) -> None:
    scene.home.mkdir()
    (scene.home / "salt").write_bytes(b"1234567")
    assert not recover(scene)


def test_no_HOME_in_the_environment(scene: Scene) -> None:  # noqa: N802
    """The user's own home is the account's then; only what may be said is looked at, nothing is kept there."""
    environ = {key: value for key, value in scene.environ.items() if key not in ("HOME", "CLAUDE_CONFIG_DIR")}
    for event in HOOKS:
        payload = json.dumps(scene.payload(event)).encode()
        ran = run([PYTHON, "-I", "-S", str(START), "hook", event], payload, environ)
        assert well_behaved(event, ran)
        assert not ran.out or "additionalContext" in ran.out.decode()
    assert scene.home.is_dir()


def test_a_folder_that_was_removed_under_the_hook(scene: Scene, tmp_path: Path) -> None:
    """A relative home in a working directory that is gone."""
    gone = tmp_path / "gone"
    gone.mkdir()
    environ = {**scene.environ, "MEMORY_KEEPER_HOME": "here"}
    for event in HOOKS:
        payload = json.dumps(scene.payload(event))
        command = f'cd "{gone}" && rmdir "{gone}" && exec "$@"'
        gone.mkdir(exist_ok=True)
        done = run(["sh", "-c", command, "-", PYTHON, "-I", "-S", str(START), "hook", event], payload.encode(), environ)
        assert well_behaved(event, done), done


# --- what only the system can refuse ----------------------------------------------------------------------------------


def without_privileges() -> list[str]:
    """What to put before a command so that file modes hold even for root."""
    powers = "-dac_override,-dac_read_search,-fowner"
    prefix = ["setpriv", "--bounding-set", powers, "--inh-caps", powers, "--"]
    return prefix if _works([*prefix, "true"]) else []


@pytest.mark.parametrize("used", [False, True])
def test_a_home_that_may_not_be_written(scene: Scene, used: bool) -> None:
    if used:
        assert not recover(scene)
    scene.home.mkdir(exist_ok=True)
    folders = [scene.home, *(path for path in scene.home.rglob("*") if path.is_dir())]
    files = [path for path in scene.home.rglob("*") if path.is_file()]
    for path in files:
        path.chmod(0o400)
    for path in folders:
        path.chmod(0o500)
    scene.transcript.grow(4)
    scene.prefix = without_privileges()
    suffer(scene)
    scene.prefix = []
    for path in folders:
        path.chmod(0o700)
    for path in files:
        path.chmod(0o600)
    assert not recover(scene)


def test_a_home_on_a_disk_that_is_read_only(scene: Scene) -> None:
    assert not recover(scene)
    scene.transcript.grow(4)
    with read_only(scene.home) as inside:
        scene.prefix = inside
        suffer(scene)
    scene.prefix = []
    assert not recover(scene)


@pytest.mark.parametrize("journal", ["", "-wal"])
def test_what_lies_on_a_disk_that_is_read_only_is_told_of(scene: Scene, journal: str) -> None:
    assert not recover(scene)
    if journal:  # its writer was killed: nobody can read it in now
        (scene.home / "store.db-wal").write_bytes(b"x" * 4096)
    scene.transcript.grow(4)
    with read_only(scene.home) as inside:
        scene.prefix = inside
        status, found, doctor = (scene.start(words.split()) for words in QUESTIONS)
        read = [scene.start([*words.split(), "--project", str(scene.work)]) for words in READ]
    home = f"{scene.home} cannot be written: Read-only file system"
    assert doctor.code == 1 and f"FAIL  home: {home}" in doctor.out.decode()
    assert b"nothing is kept yet" not in doctor.out
    if journal:
        for ran in (status, found, *read):
            assert ran.code == 1 and b"store.db cannot be opened: Read-only file system" in ran.err
    else:
        assert status.code == 0 and b" events of 1 session" in status.out
        assert found.code == 0 and b"mark" in found.out
        assert all(ran.code == 0 and ran.out for ran in read), read


@pytest.mark.parametrize("size", ["64k", "320k", "400k"])
def test_a_disk_that_is_full_and_then_is_not(scene: Scene, size: str) -> None:
    scene.home.mkdir()
    ballast = f'dd if=/dev/zero of="{scene.home}/ballast" bs=1k count=$((16384 - {size[:-1]})) 2>/dev/null'
    with own_mounts(f'mount -t tmpfs -o size=16m,mode=700 none "{scene.home}" && {ballast}') as inside:
        scene.prefix = inside
        scene.well = False
        for _ in range(5):
            scene.transcript.grow(8)
            for event in HOOKS:
                asked = scene.hook(event)
                assert well_behaved(event, asked.ran), asked
        # there may have been no room for a word in it
        subprocess.run([*inside, "test", "-f", f"{scene.home}/problems.log"], check=True)
        subprocess.run([*inside, "rm", f"{scene.home}/ballast"], check=True)
        scene.well = True
        for event in HOOKS:
            ran = scene.hook(event).ran
            assert well_behaved(event, ran) and not complains(ran.out)
        subprocess.run([*inside, "cp", "-a", f"{scene.home}/.", str(scene.folder / "copied")], check=True)
    scene.prefix = []
    scene.home.rmdir()
    (scene.folder / "copied").rename(scene.home)
    assert not recover(scene)


def read_only(folder: Path) -> AbstractContextManager[list[str]]:
    """What to put before a command so that it sees a folder on a disk that is read-only."""
    return own_mounts(f'mount --bind "{folder}" "{folder}" && mount -o remount,ro,bind "{folder}"')


@contextmanager
def own_mounts(command: str) -> Iterator[list[str]]:
    """What to put before a command so that it sees mounts that nobody else sees."""
    for unshare in (["unshare", "-m"], ["unshare", "-r", "-m"]):
        if shutil.which("unshare") and _works([*unshare, "sh", "-c", command]):
            break
    else:
        pytest.skip("this system lets nobody mount anything")
    holder = subprocess.Popen(
        [*unshare, "sh", "-c", f"{command} && echo ready && exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout and holder.stdin
        assert holder.stdout.readline() == b"ready\n"
        user = ["-U", "--preserve-credentials"] if "-r" in unshare else []
        yield ["nsenter", "-t", str(holder.pid), "-m", *user, "--"]
        holder.stdin.close()


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False
