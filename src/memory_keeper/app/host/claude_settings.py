"""One key of Claude Code's own settings: changed in the text of the file, and taken back to the very bytes that were.

The file is the user's. Only the text of the one key is touched, so its layout, line endings, byte order mark and every
other byte stay. What was there before is written down in our home first; so whoever is killed in between leaves a whole
file and a ledger that knows the way back.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from glob import escape, glob
from time import monotonic, sleep
from typing import Any, NamedTuple

from memory_keeper.errors import Busy, KeeperError

LEDGER, LOCK = "changed-settings.json", "changed-settings.lock"
PATIENCE = 10.0  # seconds for somebody else's change
TRIES = 5  # somebody else writes the file at the same moment
BOM = "\ufeff"
OWN = ".memory-keeper."  # and our process: the new file until it takes the place of the old one

Json = dict[str, Any]


class Outcome(NamedTuple):
    """What became of a key."""

    path: str
    key: str
    did: str  # changed | unchanged | restored | theirs: the user's own, left alone | failed
    was: Any = None  # its value before; None when it was not there
    now: Any = None  # and after
    problem: str = ""


class Member(NamedTuple):
    """Where a key and its value stand in the text of an object."""

    key: str
    start: int
    value: int
    end: int


class Entry(NamedTuple):
    """What the ledger knows of a key that we changed."""

    was: str | None  # the text of its value before; None when there was no such key
    ours: list[Any]  # the values we gave it, the newest last: a killed change may have left the one before
    alone: bool = False  # nothing was in the file before
    empty: str | None = None  # then that was all of it; None when there was no file


Decide = Callable[[str | None, Entry | None], tuple[str, str | None, Entry | None]]  # text, entry -> did, text, entry


def change(home: str, path: str, key: str, value: Any, dry_run: bool = False) -> Outcome:
    """Give a key a value; what the user had there is known until it is restored."""

    def decide(text: str | None, entry: Entry | None) -> tuple[str, str | None, Entry | None]:
        if _is_set(text, key, [value]):
            return "unchanged", text, entry
        if entry is None or not _is_set(text, key, entry.ours):
            alone = not _members(text)
            entry = Entry(_text_of(text, key), [], alone, text if alone else None)
        ours = [one for one in entry.ours if not _same(one, value)]
        return "changed", _put(text, key, value), entry._replace(ours=[*ours, value])

    return _edit(home, path, key, decide, dry_run)


def restore(home: str, path: str, key: str, dry_run: bool = False) -> Outcome:
    """Give a key back what it was before we changed it; what the user has changed since is left alone."""

    def decide(text: str | None, entry: Entry | None) -> tuple[str, str | None, Entry | None]:
        if entry is None:
            return "unchanged", text, None
        if _is_set(text, key, entry.ours):
            return "restored", _take_back(text, key, entry), None
        return "unchanged" if _is_back(text, key, entry) else "theirs", text, None

    nothing = not os.path.exists(os.path.join(home, LEDGER))  # then not even a lock is made
    return _edit(home, path, key, decide, dry_run or nothing)


def restore_all(home: str) -> list[Outcome]:
    """Give back everything we changed, the newest change first; what cannot be is told and stays in the ledger."""
    outcomes = []
    for path, keys in reversed(_read_ledger(home).items()):
        for key in reversed(keys):
            try:
                outcomes.append(restore(home, path, key))
            except KeeperError as error:
                outcomes.append(Outcome(path, key, "failed", problem=str(error)))
    return outcomes


def get(path: str, key: str) -> Any:
    """The value of a key; None when it is not there, or no file."""
    text = _read(path)
    _members(text, path)
    return _value(text, _find(text, key))


def without_ours(home: str, path: str, data: bytes | None) -> bytes | None:
    """A settings file as it would be without what we changed in it."""
    text = _decode(data)
    try:
        for key, entry in reversed(_read_ledger(home).get(path, {}).items()):
            text = _take_back(text, key, entry) if _is_set(text, key, entry.ours) else text
    except KeeperError:
        return data  # not to be read: it stays as it is
    return _encode(text)


# --- one change, from the lock to the file ----------------------------------------------------------------------------


def _edit(home: str, path: str, key: str, decide: Decide, dry_run: bool) -> Outcome:
    if dry_run:
        text, ledger = _read(path), _read_ledger(home)
        _members(text, path)
        did, after, _ = decide(text, ledger.get(path, {}).get(key))
        return _outcome(path, key, did, text, after)
    with exclusive(home):
        for _ in range(TRIES):
            ledger, text = _read_ledger(home), _read(path)
            _members(text, path)
            entry = ledger.get(path, {}).get(key)
            did, after, kept = decide(text, entry)
            _check(text, after, key)
            if kept and kept != entry:
                _note(home, path, key, kept)  # before the change: who is killed in between can still go back
            try:
                done = _replace(path, text, after)
            except KeeperError:
                _note(home, path, key, entry)
                raise
            _note(home, path, key, kept if done else entry)
            if done:
                return _outcome(path, key, did, text, after)
    raise Busy(f"Somebody else is writing {path}", hint="try again in a moment; nothing was changed")


def _outcome(path: str, key: str, did: str, text: str | None, after: str | None) -> Outcome:
    return Outcome(path, key, did, _value(text, _find(text, key)), _value(after, _find(after, key)))


def _replace(path: str, text: str | None, after: str | None) -> bool:
    """Put a new text in a file's place, behind a link if it is one; False when it has changed under our eyes."""
    if after == text:
        return True
    real = os.path.realpath(path)
    try:
        sweep(real)
        if after is not None:
            if not os.path.islink(path):
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            return write_file(real, after.encode("utf-8", "surrogateescape"), only_if=lambda: _read(path) == text)
        if _read(path) != text:
            return False
        os.unlink(real)
        return True
    except OSError as error:
        raise KeeperError(f"{path} cannot be written: {error.strerror}", hint="nothing was changed") from None


def write_file(path: str, data: bytes, mode: int = 0o600, only_if: Callable[[], bool] = lambda: True) -> bool:
    """Replace a file whole and lastingly, with the mode and the owner that it had; False when it was not to be."""
    own = f"{path}{OWN}{os.getpid()}"
    try:
        with open(own, "wb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o600)) as file:
            file.write(data)
            file.flush()
            _take_after(file.fileno(), path, mode)
            os.fsync(file.fileno())
        if not only_if():
            return False
        os.replace(own, path)
    finally:
        if os.path.lexists(own):
            os.unlink(own)
    _sync_folder(path)
    return True


def _take_after(fd: int, path: str, mode: int) -> None:
    try:
        about = os.stat(path)
    except FileNotFoundError:
        os.fchmod(fd, mode)
        return
    try:
        os.fchown(fd, about.st_uid, about.st_gid)
    except PermissionError:
        pass  # somebody else's file: from now on it is ours, as it is after any editor
    _copy_attributes(path, fd)
    os.fchmod(fd, stat.S_IMODE(about.st_mode))


def _copy_attributes(path: str, fd: int) -> None:
    """What is said of a file beside its mode, access lists among it, where the system has that and allows it."""
    try:
        names = os.listxattr(path)
    except (AttributeError, OSError):
        return
    for name in names:
        try:
            os.setxattr(fd, name, os.getxattr(path, name))
        except OSError:
            pass


def _sync_folder(path: str) -> None:
    """The file is in its place already: that a file system cannot do this, or fails now, changes nothing."""
    try:
        fd = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError:
        pass


def sweep(path: str) -> None:
    """Take away what somebody who was killed while writing this file has left beside it."""
    for left in glob(f"{escape(path)}{OWN}[0-9]*"):
        pid = left.rpartition(".")[2]
        if pid.isdecimal() and not _runs(int(pid)):
            os.unlink(left)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


@contextmanager
def exclusive(home: str) -> Iterator[None]:
    """One change of settings at a time; the kernel frees the lock when its holder dies."""
    os.makedirs(home, mode=0o700, exist_ok=True)
    fd = os.open(os.path.join(home, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        wait_for(fd, "Somebody else is changing settings")
        yield
    finally:
        os.close(fd)


def wait_for(fd: int, busy: str) -> None:
    """Lock an open file or folder, once whoever else has it is done."""
    until = monotonic() + PATIENCE
    while not _locked(fd):
        if monotonic() >= until:
            raise Busy(busy, hint="try again in a moment")
        sleep(0.01)


def _locked(fd: int) -> bool:
    try:
        flock(fd, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(path: str) -> str | None:
    """A file's text, every byte of it; None when there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KeeperError(f"{path} cannot be read: {error.strerror}", hint="nothing was changed") from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise KeeperError(f"{path} is no regular file", hint="nothing was changed")
        with open(fd, "rb", closefd=False) as file:
            return _decode(file.read())
    finally:
        os.close(fd)


def _decode(data: bytes | None) -> str | None:
    # a byte that is no UTF-8 comes back as it was: the file is not ours to repair
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


# --- the ledger -------------------------------------------------------------------------------------------------------


def _read_ledger(home: str) -> dict[str, dict[str, Entry]]:
    """What we changed: file, key, what was there; in the order of the changes."""
    path = os.path.join(home, LEDGER)
    text = _read(path)
    try:
        known = json.loads(text) if text is not None else {}
        return {
            file: {key: Entry(one["was"], one["ours"], "empty" in one, one.get("empty")) for key, one in keys.items()}
            for file, keys in known.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        hint = "it says what stood in Claude Code's settings before we changed them: look, then delete it"
        raise KeeperError(f"{path} is damaged", hint=hint) from None


def _note(home: str, path: str, key: str, entry: Entry | None) -> None:
    """Write down what we change, or, without an entry, that it is as it was."""
    ledger = _read_ledger(home)
    keys = ledger.pop(path, {})
    gone = keys.get(key)
    if gone == entry:
        return
    keys = {name: one for name, one in keys.items() if name != key}
    if entry:
        keys[key] = entry
    elif gone and gone.alone and keys:  # whoever goes last leaves the file as the first one found it
        first = next(iter(keys))
        keys[first] = keys[first]._replace(alone=True, empty=gone.empty)
    if keys:
        ledger[path] = keys  # at the end: the newest change
    _write_ledger(os.path.join(home, LEDGER), ledger)


def _write_ledger(path: str, ledger: dict[str, dict[str, Entry]]) -> None:
    if not ledger:
        if os.path.exists(path):
            os.unlink(path)
        return
    plain = {file: {key: _plain(entry) for key, entry in keys.items()} for file, keys in ledger.items()}
    sweep(path)
    write_file(path, (json.dumps(plain, indent=2) + "\n").encode("ascii"))


def _plain(entry: Entry) -> Json:
    return {"was": entry.was, "ours": entry.ours, **({"empty": entry.empty} if entry.alone else {})}


# --- the text ---------------------------------------------------------------------------------------------------------


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


# numbers are left as they are written: only where a value ends is asked for
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)
_SPACE = " \t\r\n"


def _members(text: str | None, path: str = "the file") -> list[Member]:
    """The keys of the one object that a text is, in order; a text with nothing in it has none."""
    if text is None or not text.strip(BOM + _SPACE):
        return []
    try:
        return list(_scan(text))
    except (ValueError, IndexError, RecursionError):
        hint = "nothing was changed; make it valid JSON first"
        raise KeeperError(f"{path} is not a JSON object", hint=hint) from None


def _scan(text: str) -> Iterator[Member]:
    at = _skip(text, _expect(text, _skip(text, len(BOM) * text.startswith(BOM)), "{"))
    first = True
    while text[at] != "}":
        if not first:
            at = _skip(text, _expect(text, at, ","))
        start, first = at, False
        _expect(text, start, '"')
        key, at = _DECODER.raw_decode(text, start)
        value = _skip(text, _expect(text, _skip(text, at), ":"))
        _, end = _DECODER.raw_decode(text, value)
        yield Member(key, start, value, end)
        at = _skip(text, end)
    if _skip(text, at + 1) != len(text):
        raise ValueError("more after the object")


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


def _expect(text: str, at: int, char: str) -> int:
    if text[at] != char:
        raise ValueError(f"no {char} at {at}")
    return at + 1


def _find(text: str | None, key: str) -> Member | None:
    """Where a key stands; of two with one name the last one counts, as everywhere."""
    return next((member for member in reversed(_members(text)) if member.key == key), None)


def _text_of(text: str | None, key: str) -> str | None:
    found = _find(text, key)
    return text[found.value : found.end] if text and found else None


def _value(text: str | None, member: Member | None) -> Any:
    try:
        return json.loads(text[member.value : member.end]) if text and member else None
    except ValueError as error:  # a number of thousands of digits
        raise KeeperError(f"The settings cannot be read: {error}", hint="nothing was changed") from None


def _is_set(text: str | None, key: str, values: list[Any]) -> bool:
    """Whether a key has one of these values."""
    found = _find(text, key)
    return found is not None and any(_same(_value(text, found), one) for one in values)


def _is_back(text: str | None, key: str, entry: Entry) -> bool:
    """Whether a key is as it was before us."""
    return _find(text, key) is None if entry.was is None else _is_set(text, key, [json.loads(entry.was)])


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one in JSON, where true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _put(text: str | None, key: str, value: Any) -> str:
    """The text with a key set, laid out as its neighbours are."""
    if text is None or not text.strip(BOM + _SPACE):
        return (text or "")[:1].strip(_SPACE) + _lay_out({key: value}, "  ", "\n") + "\n"
    end = "\r\n" if "\r\n" in text else "\n"
    members, found = _members(text), _find(text, key)
    if not members:
        return text[: text.index("{")] + _lay_out({key: value}, "  ", end) + text[text.rindex("}") + 1 :]
    near = found or members[-1]
    # what stands between a key and the comma or brace before it is how this file begins a member
    before = text[len(text[: near.start].rstrip(_SPACE)) : near.start]
    indent = before.rpartition("\n")[2] if "\n" in before else ""
    laid = _lay_out(value, indent, end, indent)
    if found:
        return text[: found.value] + laid + text[found.end :]
    roomy = ": " in text[near.start : near.value]
    if "\n" in before:
        before = end + indent  # without the empty lines
    elif roomy and len(members) == 1:
        before = " "  # no comma has shown it yet
    return f"{text[: near.end]},{before}{json.dumps(key)}{': ' if roomy else ':'}{laid}{text[near.end :]}"


def _lay_out(value: Any, indent: str, end: str, margin: str = "") -> str:
    if not indent:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", end + margin)


def _take_back(text: str | None, key: str, entry: Entry) -> str | None:
    """The text with a key as it was before we changed it."""
    members, found = _members(text), _find(text, key)
    if text is None or found is None:
        return text
    if entry.was is not None:
        return text[: found.value] + entry.was + text[found.end :]
    place = members.index(found)
    if place:
        return text[: members[place - 1].end] + text[found.end :]
    if len(members) > 1:
        return text[: found.start] + text[members[1].start :]
    if entry.alone:
        return entry.empty
    return text[: text.index("{") + 1] + text[text.rindex("}") :]


def _check(text: str | None, after: str | None, key: str) -> None:
    """Whatever an edit did, it did it to this key alone."""
    if _others(text, key) != _others(after, key):
        raise KeeperError("The settings file cannot be changed safely", hint="nothing was changed")


def _others(text: str | None, key: str) -> list[tuple[str, str]]:
    return [(one.key, text[one.value : one.end]) for one in _members(text) if one.key != key] if text else []
