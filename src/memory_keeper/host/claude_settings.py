"""Claude Code's own settings: a key changed in the text of a file, and the file given back to the very bytes that were.

The files are the user's. Only the text of one key is touched, so the layout, line endings, byte order mark and every
other byte stay. What was there before is written down in our home first, the keys and the whole file; so whoever is
killed in between leaves a whole file and a ledger that knows the way back. Claude Code's own commands lay a file out
anew when they register us: once they have taken us out again, it gets its bytes back too.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from memory_keeper import config
from memory_keeper.errors import Busy, KeeperError
from memory_keeper.host.files import decode, encode, read_text, replace_file, sweep, wait_for, write_file
from memory_keeper.host.json_text import find, is_set, put, read_members, same, text_of, value_of

LEDGER, LOCK = "changed-settings.json", "changed-settings.lock"
PATIENCE = 10.0  # seconds for somebody else's change
TRIES = 5  # somebody else writes the file at the same moment
SHELLS = ("enabledPlugins", "extraKnownMarketplaces")  # what Claude Code leaves empty when a plugin goes

Json = dict[str, Any]


class Outcome(NamedTuple):
    """What became of a key."""

    path: str
    key: str
    did: str  # changed | unchanged | restored | theirs: the user's own, left alone | failed
    was: Any = None  # its value before; None when it was not there
    now: Any = None  # and after
    problem: str = ""


class Returned(NamedTuple):
    """What became of the files that Claude Code edited for us."""

    restored: list[str]  # they have their own bytes again
    changed: list[str]  # the user has changed them since: only our traces went


class Entry(NamedTuple):
    """What the ledger knows of a key that we changed."""

    was: str | None  # the text of its value before; None when there was no such key
    ours: list[Any]  # the values we gave it, the newest last: a killed change may have left the one before


class Known(NamedTuple):
    """What the ledger knows of a file."""

    before: bytes | None  # all of it, before anything of ours was in it; None when there was no file
    link: str | None  # where it led, if it was a link
    keys: dict[str, Entry]  # in the order of the changes
    host: bool = False  # Claude Code's own commands edit it for us


Decision = tuple[str, str | None, Known | None]  # what is done, the text, and what is known, from then on


def change(home: str, path: str, key: str, value: Any, dry_run: bool = False) -> Outcome:
    """Give a key a value; what the user had there is known until it is restored."""

    def decide(text: str | None, known: Known | None) -> Decision:
        if is_set(text, key, [value]):
            return "unchanged", text, known
        known = known or _known(path, encode(text))
        entry = known.keys.get(key)
        if entry is None or not is_set(text, key, entry.ours):
            entry = Entry(text_of(text, key), [])
        ours = [*(one for one in entry.ours if not same(one, value)), value]
        return "changed", put(text, key, value), known._replace(keys={**known.keys, key: entry._replace(ours=ours)})

    return _edit(home, path, key, decide, dry_run)


def restore(home: str, path: str, key: str, dry_run: bool = False) -> Outcome:
    """Give a key back what it was before we changed it; what the user has changed since is left alone."""

    def decide(text: str | None, known: Known | None) -> Decision:
        entry = known.keys.get(key) if known else None
        if known is None or entry is None:
            return "unchanged", text, known
        rest = known._replace(keys={name: one for name, one in known.keys.items() if name != key})
        kept = rest if rest.keys or rest.host else None
        if not is_set(text, key, entry.ours):
            back = find(text, key) is None if entry.was is None else is_set(text, key, [json.loads(entry.was)])
            return "unchanged" if back else "theirs", text, kept
        after = _take_back(text, key, entry)
        alike = not kept and _bare(encode(after)) == _bare(rest.before)
        return "restored", decode(rest.before) if alike else after, kept

    nothing = not os.path.exists(os.path.join(home, LEDGER))  # then not even a lock is made
    return _edit(home, path, key, decide, dry_run or nothing)


def restore_all(home: str, dry_run: bool = False) -> list[Outcome]:
    """Give back every key we changed, the newest change first; what cannot be is told and stays in the ledger."""
    outcomes = []
    for path, known in reversed(_read_ledger(home).items()):
        for key in reversed(known.keys):
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


# --- what Claude Code edits for us -----------------------------------------------------------------------------------


def remember(home: str, path: str) -> None:
    """Know a file as it is before Claude Code edits it for us; only the first time."""
    with exclusive(home):
        known = _read_ledger(home).get(path) or _known(path, read_bytes(path))
        _note(home, path, known._replace(host=True))


def edited(home: str) -> list[str]:
    """The user's files that are not as they were before Claude Code edited them for us."""
    known = {path: one for path, one in _read_ledger(home).items() if one.host}
    return [path for path, one in known.items() if read_bytes(path) not in (None, _without_host(one))]


def put_back(home: str) -> Returned:
    """Give the user's files back their own bytes; where the user has changed more since, take only our traces."""
    back = Returned([], [])
    if not os.path.exists(os.path.join(home, LEDGER)):
        return back
    with exclusive(home):
        for path, known in _read_ledger(home).items():
            now, before = read_bytes(path), _without_host(known)
            if known.host and now is not None and now != before:
                alike = _bare(now) == _bare(before)
                rest = before if alike else _without_shells(now, before)
                if rest != now:
                    _give(path, known.link, rest)
                (back.restored if alike else back.changed).append(path)
            _note(home, path, known._replace(host=False) if known.keys else None)
    return back


def _known(path: str, data: bytes | None) -> Known:
    return Known(data, os.readlink(path) if os.path.islink(path) else None, {})


def _without_host(known: Known) -> bytes | None:
    """A file as it would be if Claude Code had not edited it for us: with the keys that are ours still."""
    text = decode(known.before)
    for key, entry in known.keys.items():
        text = put(text, key, entry.ours[-1])
    return encode(text)


def parse(data: bytes) -> Any:
    """The JSON in a file, as forgivingly as it can be read; None when it is none."""
    text = data.decode("utf-8-sig", "replace").strip()
    try:
        return json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return None


def _bare(data: bytes | None) -> Any:
    """Settings without the empty shells a removed plugin leaves; what cannot be read is only like itself."""
    value = parse(data or b"")
    return {key: one for key, one in value.items() if key not in SHELLS or one} if isinstance(value, dict) else data


def _without_shells(now: bytes, before: bytes | None) -> bytes:
    """The settings as they are now, less the empty shells that were not there before."""
    value, was = parse(now), parse(before or b"")
    if not isinstance(value, dict):
        return now
    known = was if isinstance(was, dict) else {}
    rest = {key: one for key, one in value.items() if key not in SHELLS or one or key in known}
    return now if rest == value else (json.dumps(rest, indent=2, ensure_ascii=False) + "\n").encode()


def read_bytes(path: str) -> bytes | None:
    """What a regular file has, also behind a link; never what a pipe or a device would keep us waiting for."""
    fd = config.open_plain(path, links=True)
    if fd is None:
        return None
    try:
        with open(fd, "rb") as file:
            return file.read()
    except OSError:
        return None


def _give(path: str, link: str | None, data: bytes | None) -> None:
    """Make a file have these bytes, or be away; where it was a link, the file behind it, and a link again."""
    if link is not None and not os.path.islink(path):  # whoever wrote last put a file in the link's place
        own = f"{path}.{os.getpid()}"
        os.symlink(link, own)
        os.replace(own, path)
    real = os.path.realpath(path)
    if data is not None:
        write_file(real, data)
    elif os.path.exists(real):
        os.unlink(real)


# --- one change, from the lock to the file ----------------------------------------------------------------------------


def _edit(
    home: str, path: str, key: str, decide: Callable[[str | None, Known | None], Decision], dry_run: bool
) -> Outcome:
    def outcome(did: str, text: str | None, after: str | None) -> Outcome:
        return Outcome(path, key, did, value_of(text, find(text, key)), value_of(after, find(after, key)))

    if dry_run:
        text = read_text(path)
        read_members(text, path)
        did, after, _ = decide(text, _read_ledger(home).get(path))
        return outcome(did, text, after)
    with exclusive(home):
        for _ in range(TRIES):
            text, known = read_text(path), _read_ledger(home).get(path)
            read_members(text, path)
            did, after, kept = decide(text, known)
            _check(text, after, key)
            if did == "changed":
                _note(home, path, kept)  # before the change: who is killed in between can still go back
            try:
                done = _replace(path, text, after)
            except KeeperError:
                _note(home, path, known)
                raise
            _note(home, path, kept if done else known)
            if done:
                return outcome(did, text, after)
    raise Busy(f"Somebody else is writing {path}", hint="try again in a moment; nothing was changed")


def _replace(path: str, text: str | None, after: str | None) -> bool:
    """Put a new text in a file's place, behind a link if it is one; False when it has changed under our eyes."""
    if after == text:
        return True
    try:
        sweep(os.path.realpath(path))
        if after is not None and not os.path.islink(path):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return replace_file(os.path.realpath(path), encode(after), lambda: read_text(path) == text)
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


def _read_ledger(home: str) -> dict[str, Known]:
    """What we changed, by file, in the order of the changes."""
    path = os.path.join(home, LEDGER)
    text = read_text(path)
    try:
        return {
            file: Known(
                None if known["before"] is None else base64.b64decode(known["before"]),
                known["link"],
                {key: Entry(**entry) for key, entry in known["keys"].items()},
                known["host"],
            )
            for file, known in (json.loads(text) if text is not None else {}).items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        hint = "it says what stood in Claude Code's settings before we changed them: look, then delete it"
        raise KeeperError(f"{path} is damaged", hint=hint) from None


def _note(home: str, path: str, known: Known | None) -> None:
    """Write down what is known of a file, or, with nothing, that it is as it was."""
    ledger, place = _read_ledger(home), os.path.join(home, LEDGER)
    if ledger.pop(path, None) == known:
        return
    if known:
        ledger[path] = known  # at the end: the newest change
    if not ledger:
        os.unlink(place)
        return
    plain = {
        file: {
            "before": None if one.before is None else base64.b64encode(one.before).decode("ascii"),
            "link": one.link,
            "keys": {key: entry._asdict() for key, entry in one.keys.items()},
            "host": one.host,
        }
        for file, one in ledger.items()
    }
    sweep(place)
    write_file(place, (json.dumps(plain, indent=2) + "\n").encode("ascii"))


# --- the way back -----------------------------------------------------------------------------------------------------


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
    return text[: text.index("{") + 1] + text[text.rindex("}") :]


def _check(text: str | None, after: str | None, key: str) -> None:
    """Whatever an edit did, it did it to this key alone."""
    if _others(text, key) != _others(after, key):
        raise KeeperError("The settings file cannot be changed safely", hint="nothing was changed")


def _others(text: str | None, key: str) -> list[tuple[str, str]]:
    return [(one.key, text[one.value : one.end]) for one in read_members(text) if one.key != key] if text else []
