"""The user's settings: only our status line changes in them, and they are given back to the byte, however they look."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_keeper.errors import Busy, KeeperError
from memory_keeper.host import claude_settings
from memory_keeper.host.claude_settings import LINE, Outcome, is_ours, restore_line, set_line

LAUNCH = "/a b/current/plugin/launch"


class Place:
    """A settings file and a home, in a folder of their own."""

    def __init__(self, folder: Path, data: bytes | None = None) -> None:
        self.home, self.path = str(folder / "keeper"), folder / "claude/settings.json"
        self.path.parent.mkdir()
        if data is not None:
            self.path.write_bytes(data)

    def change(self) -> Outcome:
        return set_line(self.home, str(self.path), LAUNCH)

    def restore(self) -> Outcome:
        return restore_line(self.home, str(self.path))

    @property
    def data(self) -> bytes | None:
        return self.path.read_bytes() if self.path.exists() else None

    @property
    def files(self) -> list[str]:
        folder = self.path.parent
        return sorted(path.name for one in (folder, Path(self.home)) if one.exists() for path in one.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "one"
    made.mkdir()
    return made


# --- any object, laid out in any way ----------------------------------------------------------------------------------

blanks = st.text(" \t\r\n", max_size=3)
# no half of a surrogate pair: no file of UTF-8 has one
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(words, below, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from([LINE, "autoCompactEnabled", 'a"\\é']) | words


@st.composite
def layouts(draw: st.DrawFn) -> bytes:
    """An object as somebody may have typed it: blanks anywhere, a key twice, escapes or none, CRLF, a BOM."""
    members = draw(st.lists(st.tuples(keys, values), max_size=4))
    style = draw(st.sampled_from(["typed", "tidy", "dense"]))
    ascii_, indent = draw(st.booleans()), draw(st.sampled_from(["  ", "    ", "\t"]))
    if style == "typed":
        parts = [
            draw(blanks) + json.dumps(key, ensure_ascii=ascii_) + draw(blanks) + ":" + draw(blanks)
            + json.dumps(value, ensure_ascii=ascii_, indent=indent if draw(st.booleans()) else None) + draw(blanks)
            for key, value in members
        ]  # fmt: skip
        text = "{" + (",".join(parts) or draw(blanks)) + "}"
    else:
        layout: dict[str, Any] = {"indent": indent} if style == "tidy" else {"separators": (",", ":")}
        text = json.dumps(dict(members), ensure_ascii=ascii_, **layout)
    text = draw(blanks) + text + draw(blanks)
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return b"\xef\xbb\xbf" * draw(st.booleans()) + text.encode()


def members(data: bytes | None) -> list[tuple[str, Any]]:
    """What is in a file, in order; of two keys with one name the last counts, as everywhere."""
    text = (data or b"").decode("utf-8-sig").strip()
    return [*json.loads(text or "{}").items()]


lines = values | st.fixed_dictionaries({"type": st.just("command"), "command": words, "padding": values})


@given(data=layouts() | st.sampled_from([None, b"", b"\r\n", b"\xef\xbb\xbf", b"{}"]), line=st.none() | lines)
@example(data=b'{\n\t"a": 1\n}', line=None)
@example(data=b'{"a":1,"statusLine":1,"statusLine":{}}', line=None)
@example(data=b'{"a": "\\ud800"}', line={"command": " echo 'it' "})
def test_only_the_line_changes_and_every_byte_comes_back(data: bytes | None, line: Any) -> None:
    if line is not None:
        data = json.dumps({**dict(members(data)), LINE: line}).encode()
    with TemporaryDirectory() as folder:
        place = Place(Path(folder), data)
        outcome = place.change()
        after = place.data
        assert [one for one in members(after) if one[0] != LINE] == [one for one in members(data) if one[0] != LINE]
        assert outcome.did == "changed" and is_ours(dict(members(after))[LINE]["command"])
        assert place.change().did == "unchanged"
        back = place.restore()
        assert place.data == data
        assert (back.did, back.now) == ("restored", outcome.was)
        assert place.files == ["changed-settings.lock"] + ["settings.json"] * (data is not None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, '{\n  "statusLine": LINE\n}\n'),
        ("", '{\n  "statusLine": LINE\n}\n'),
        ('{"a": 1}', '{\n  "a": 1,\n  "statusLine": LINE\n}\n'),  # as Claude Code itself would write it
        ('{\n    "statusLine": 0,\n    "a": "é"\n}\n', '{\n    "statusLine": LINE,\n    "a": "é"\n}\n'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"statusLine": LINE\r\n}\r\n'),
    ],
)
def test_the_layout_stays(folder: Path, before: str | None, after: str) -> None:
    place = Place(folder, None if before is None else before.encode())
    place.change()
    indent = after.partition('"')[0].rpartition("\n")[2]
    inner = json.dumps(json.loads(place.data or b"")[LINE], indent=indent).replace("\n", "\n" + indent)
    inner = inner.replace("\n", "\r\n") if "\r" in after else inner
    assert (place.data or b"").decode() == after.replace("LINE", inner)


# --- the file itself --------------------------------------------------------------------------------------------------


def test_the_mode_stays(folder: Path) -> None:
    place = Place(folder, b"{}")
    for mode in (0o644, 0o600, 0o440):
        place.path.chmod(mode)
        place.change()
        assert place.path.stat().st_mode & 0o777 == mode
        place.restore()
        assert place.path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(folder: Path, exists: bool) -> None:
    place = Place(folder)
    behind = folder / "dotfiles.json"
    if exists:
        behind.write_bytes(b'{"a":1}')
    place.path.symlink_to("../dotfiles.json")
    place.change()
    assert place.path.is_symlink()
    assert LINE in json.loads(behind.read_bytes())
    place.restore()
    assert str(place.path.readlink()) == "../dotfiles.json"
    assert (behind.read_bytes() if behind.exists() else None) == (b'{"a":1}' if exists else None)


@pytest.mark.parametrize(
    "data",
    [b"[]", b"null", b'"x"', b"{", b'{"a": 1,}', b'{"a": NaN}', b"{} {}", b'{"a" 1}', b"// no\n{}", b'{"a": "\n"}',
     b'{"a": "\xff"}',
     b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "{}".encode("utf-16"), b"\0"],
)  # fmt: skip
def test_what_is_no_object_is_refused_and_left_alone(folder: Path, data: bytes) -> None:
    place = Place(folder, data)
    calls: list[Callable[[], object]] = [place.change, place.restore]
    for call in calls:
        with pytest.raises(KeeperError, match="is not a JSON object") as refused:
            call()
        assert "nothing was changed" in refused.value.hint
    assert place.data == data


def test_what_is_no_file_is_refused(folder: Path) -> None:
    place = Place(folder)
    os.mkfifo(place.path)
    with pytest.raises(KeeperError, match="no regular file"):
        place.change()
    place.path.unlink()
    place.path.mkdir()
    with pytest.raises(KeeperError):
        place.change()


def test_what_cannot_be_written_leaves_no_trace(folder: Path) -> None:
    place = Place(folder)
    place.path.symlink_to(folder / "nowhere/settings.json")
    with pytest.raises(KeeperError, match="cannot be written"):
        place.change()
    assert place.files == ["changed-settings.lock", "settings.json"]
    assert not (folder / "nowhere").exists()


def test_nothing_is_made_where_there_is_nothing_to_do(folder: Path) -> None:
    place = Place(folder)
    assert place.restore().did == "unchanged"
    assert place.files == []
    assert not Path(place.home).exists()


# --- the user goes on living ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("since", [b'{"statusLine": {"type": "command", "command": "newer"}}', b"{}"])
def test_what_the_user_changed_since_stays(folder: Path, since: bytes) -> None:
    place = Place(folder, b'{"statusLine": {"type": "command", "command": "mine"}}')
    place.change()
    place.path.write_bytes(since)
    assert place.restore().did == "unchanged"
    assert place.data == since


def test_a_line_that_the_user_had_since_comes_back(folder: Path) -> None:
    place = Place(folder, b'{"statusLine": {"type": "command", "command": "mine"}}')
    place.change()
    place.path.write_bytes(b'{"statusLine": {"type": "command", "command": "newer"}}')
    place.change()
    assert place.restore().now == {"type": "command", "command": "newer"}


def test_the_host_may_lay_it_out_anew(folder: Path) -> None:
    place = Place(folder, b'{"model":"opus","statusLine":{"command":"mine"}}')
    place.change()
    now = {**json.loads(place.data or b""), "theme": "dark"}
    place.path.write_text(json.dumps(now, indent=2))
    assert place.restore().did == "restored"
    assert json.loads(place.data or b"") == {"model": "opus", "statusLine": {"command": "mine"}, "theme": "dark"}


def test_a_damaged_ledger_stops_everything(folder: Path) -> None:
    place = Place(folder, b"{}")
    place.change()
    after, ledger = place.data, Path(place.home, "changed-settings.json")
    for damage in (b"{", b"[1]", b'{"x": {"k": {}}}', b""):
        ledger.write_bytes(damage)
        for call in (place.restore, lambda: claude_settings.put_back(place.home)):
            with pytest.raises(KeeperError, match="is damaged"):
                call()
        assert (place.data, ledger.read_bytes()) == (after, damage)


# --- two at once, and killed ------------------------------------------------------------------------------------------


def fork(work: Callable[[], object]) -> int:
    """A process of its own; it ends without a word."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # a thread of another test's may live
        pid = os.fork()
    if not pid:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001  (nothing of a test's may run twice)
            os._exit(1)
    return pid


def test_many_at_once_lose_nothing(folder: Path) -> None:
    place = Place(folder, b'{ "a": 1 }')

    def work() -> None:
        for _ in range(5):
            place.change()
            place.restore()

    pids = [fork(work) for _ in range(4)]
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * 4
    assert place.data == b'{ "a": 1 }'


def test_a_lock_that_somebody_holds_is_waited_for_and_no_longer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(folder, b"{}")
    monkeypatch.setattr(claude_settings, "PATIENCE", 0.0)
    with claude_settings.exclusive(place.home), pytest.raises(Busy):
        place.change()
    assert place.data == b"{}"


STEPS = ("open", "os.rename", "os.remove", "os.chmod", "os.chown", "fcntl.flock", "os.scandir")


def killed_at(number: int, work: Callable[[], object]) -> bool:
    """Do some work in a process that is killed at its n-th step outside; False when it was done before that."""

    def armed() -> None:
        steps = count(1)

        def hook(event: str, _: object) -> None:
            if event in STEPS and next(steps) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        work()

    _, status = os.waitpid(fork(armed), 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("before", [b'{ "a": 1 }', b'{"statusLine": {"command": "mine"}}', None])
def test_killed_anywhere_the_file_is_whole_and_there_is_a_way_back(tmp_path: Path, before: bytes | None) -> None:
    for number in count(1):
        folder = tmp_path / str(number)
        folder.mkdir()
        place, whole = Place(folder, before), {before}
        place.change()
        whole.add(place.data)
        place.restore()

        first = killed_at(number, place.change)
        assert place.data in whole
        place.change()
        second = killed_at(number, place.restore)
        assert place.data in whole
        place.restore()
        assert place.data == before
        place.change()  # whoever comes next sweeps up
        place.restore()
        assert place.files == ["changed-settings.lock"] + ["settings.json"] * (before is not None)
        if not (first or second):
            assert number > 5
            break
