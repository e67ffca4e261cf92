"""One key of Claude Code's own settings: changed in the text of the file, and taken back to the very bytes that were.

The file is the user's. Only the text of the one key is touched, so its layout, line endings, byte order mark and every
other byte stay. What was there before is written down in our home first; so whoever is killed in between leaves a whole
file and a ledger that knows the way back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from memory_keeper.errors import Busy, KeeperError
from memory_keeper.host.files import decode, encode, read_text, sweep, wait_for, write_file
from memory_keeper.host.json_text import find, is_set, put, read_members, same, text_of, value_of

LEDGER, LOCK = "changed-settings.json", "changed-settings.lock"
PATIENCE = 10.0  # seconds for somebody else's change
TRIES = 5  # somebody else writes the file at the same moment

Json = dict[str, Any]


class Outcome(NamedTuple):
    """What became of a key."""

    path: str
    key: str
    did: str  # changed | unchanged | restored | theirs: the user's own, left alone | failed
    was: Any = None  # its value before; None when it was not there
    now: Any = None  # and after
    problem: str = ""


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
        if is_set(text, key, [value]):
            return "unchanged", text, entry
        if entry is None or not is_set(text, key, entry.ours):
            alone = not read_members(text)
            entry = Entry(text_of(text, key), [], alone, text if alone else None)
        ours = [one for one in entry.ours if not same(one, value)]
        return "changed", put(text, key, value), entry._replace(ours=[*ours, value])

    return _edit(home, path, key, decide, dry_run)


def restore(home: str, path: str, key: str, dry_run: bool = False) -> Outcome:
    """Give a key back what it was before we changed it; what the user has changed since is left alone."""

    def decide(text: str | None, entry: Entry | None) -> tuple[str, str | None, Entry | None]:
        if entry is None:
            return "unchanged", text, None
        if is_set(text, key, entry.ours):
            return "restored", _take_back(text, key, entry), None
        return "unchanged" if _is_back(text, key, entry) else "theirs", text, None

    nothing = not os.path.exists(os.path.join(home, LEDGER))  # then not even a lock is made
    return _edit(home, path, key, decide, dry_run or nothing)


def restore_all(home: str, dry_run: bool = False) -> list[Outcome]:
    """Give back everything we changed, the newest change first; what cannot be is told and stays in the ledger."""
    outcomes = []
    for path, keys in reversed(_read_ledger(home).items()):
        for key in reversed(keys):
            try:
                outcomes.append(restore(home, path, key, dry_run))
            except KeeperError as error:
                outcomes.append(Outcome(path, key, "failed", problem=str(error)))
    return outcomes


def get(path: str, key: str) -> Any:
    """The value of a key; None when it is not there, or no file."""
    text = read_text(path)
    read_members(text, path)
    return value_of(text, find(text, key))


def without_ours(home: str, path: str, data: bytes | None) -> bytes | None:
    """A settings file as it would be without what we changed in it."""
    text = decode(data)
    try:
        for key, entry in reversed(_read_ledger(home).get(path, {}).items()):
            text = _take_back(text, key, entry) if is_set(text, key, entry.ours) else text
    except KeeperError:
        return data  # not to be read: it stays as it is
    return encode(text)


# --- one change, from the lock to the file ----------------------------------------------------------------------------


def _edit(home: str, path: str, key: str, decide: Decide, dry_run: bool) -> Outcome:
    if dry_run:
        text, ledger = read_text(path), _read_ledger(home)
        read_members(text, path)
        did, after, _ = decide(text, ledger.get(path, {}).get(key))
        return _outcome(path, key, did, text, after)
    with exclusive(home):
        for _ in range(TRIES):
            ledger, text = _read_ledger(home), read_text(path)
            read_members(text, path)
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
    return Outcome(path, key, did, value_of(text, find(text, key)), value_of(after, find(after, key)))


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
            return write_file(real, after.encode("utf-8", "surrogateescape"), only_if=lambda: read_text(path) == text)
        if read_text(path) != text:
            return False
        os.unlink(real)
        return True
    except OSError as error:
        raise KeeperError(f"{path} cannot be written: {error.strerror}", hint="nothing was changed") from None


@contextmanager
def exclusive(home: str) -> Iterator[None]:
    """One change of settings at a time; the kernel frees the lock when its holder dies."""
    os.makedirs(home, mode=0o700, exist_ok=True)
    fd = os.open(os.path.join(home, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        wait_for(fd, "Somebody else is changing settings", PATIENCE)
        yield
    finally:
        os.close(fd)


# --- the ledger -------------------------------------------------------------------------------------------------------


def _read_ledger(home: str) -> dict[str, dict[str, Entry]]:
    """What we changed: file, key, what was there; in the order of the changes."""
    path = os.path.join(home, LEDGER)
    text = read_text(path)
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


# --- the way back -----------------------------------------------------------------------------------------------------


def _is_back(text: str | None, key: str, entry: Entry) -> bool:
    """Whether a key is as it was before us."""
    return find(text, key) is None if entry.was is None else is_set(text, key, [json.loads(entry.was)])


def _take_back(text: str | None, key: str, entry: Entry) -> str | None:
    """The text with a key as it was before we changed it."""
    members, found = read_members(text), find(text, key)
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
    return [(one.key, text[one.value : one.end]) for one in read_members(text) if one.key != key] if text else []
