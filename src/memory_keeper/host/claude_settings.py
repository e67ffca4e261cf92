"""Claude Code's own settings: a key changed in the user's file, and the file given back to the very bytes that were.

What was there before is written down in our home first, the keys and the whole file; so whoever is killed in between
leaves a whole file and a ledger that knows the way back. When nothing of ours is left and the file says what it said
before, it gets its own bytes again; where the user has changed more, only what is ours goes. Claude Code's own commands
edit such a file too when they register us, and it comes back in the same way.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

from memory_keeper.errors import Busy, KeeperError
from memory_keeper.host.files import replace_file, sweep, write_file
from memory_keeper.host.json_file import Json, lay_out, parse, read_file, same
from memory_keeper.store.home import Lock

LEDGER, LOCK = "changed-settings.json", "changed-settings.lock"
PATIENCE = 10.0  # seconds for somebody else's change
TRIES = 5  # somebody else writes the file at the same moment
SHELLS = ("enabledPlugins", "extraKnownMarketplaces")  # what Claude Code leaves empty when a plugin goes


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

    was: str | None  # its value before, as JSON; None when there was no such key
    ours: list[Any]  # the values we gave it, the newest last: a killed change may have left the one before


class Known(NamedTuple):
    """What the ledger knows of a file."""

    before: bytes | None  # all of it, before anything of ours was in it; None when there was no file
    link: str | None  # where it led, if it was a link
    keys: dict[str, Entry]  # in the order of the changes
    host: bool = False  # Claude Code's own commands edit it for us


Decision = tuple[str, Json, Known | None]  # what is done, the settings, and what is known, from then on


def change(home: str, path: str, key: str, value: Any, dry_run: bool = False) -> Outcome:
    """Give a key a value; what the user had there is known until it is restored."""

    def decide(data: bytes | None, given: Json, known: Known | None) -> Decision:
        if _is_one_of(given, key, [value]):
            return "unchanged", given, known
        known = known or _known(path, data)
        entry = known.keys.get(key)
        if entry is None or not _is_one_of(given, key, entry.ours):
            entry = Entry(json.dumps(given[key]) if key in given else None, [])
        ours = [*(one for one in entry.ours if not same(one, value)), value]
        return "changed", {**given, key: value}, known._replace(keys={**known.keys, key: entry._replace(ours=ours)})

    return _edit(home, path, key, decide, dry_run)


def restore(home: str, path: str, key: str, dry_run: bool = False) -> Outcome:
    """Give a key back what it was before we changed it; what the user has changed since is left alone."""

    def decide(data: bytes | None, given: Json, known: Known | None) -> Decision:
        entry = known.keys.get(key) if known else None
        if known is None or entry is None:
            return "unchanged", given, known
        others = known._replace(keys={name: entry for name, entry in known.keys.items() if name != key})
        kept = others if others.keys or others.host else None
        before = {} if entry.was is None else {key: json.loads(entry.was)}
        if _is_one_of(given, key, entry.ours):
            return (
                "restored",
                {name: before.get(name, one) for name, one in given.items() if name != key or before},
                kept,
            )
        back = _is_one_of(given, key, [*before.values()]) if before else key not in given
        return "unchanged" if back else "theirs", given, kept

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
    return parse(read_file(path), path).get(key)


def _is_one_of(given: Json, key: str, values: list[Any]) -> bool:
    return key in given and any(same(given[key], value) for value in values)


# --- what Claude Code edits for us -----------------------------------------------------------------------------------


def remember(home: str, path: str) -> None:
    """Know a file as it is before Claude Code edits it for us; only the first time."""
    with exclusive(home):
        known = _read_ledger(home).get(path) or _known(path, _read(path))
        _note(home, path, known._replace(host=True))


def edited(home: str) -> list[str]:
    """The user's files that are not as they were before Claude Code edited them for us."""
    known = {path: known for path, known in _read_ledger(home).items() if known.host}
    return [path for path, before in known.items() if _read(path) not in (None, _without_host(before))]


def put_back(home: str) -> Returned:
    """Give the user's files back their own bytes; where the user has changed more since, take only our traces."""
    back = Returned([], [])
    if not os.path.exists(os.path.join(home, LEDGER)):
        return back
    with exclusive(home):
        for path, known in _read_ledger(home).items():
            now, before = _read(path), _without_host(known)
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
    ours = {key: entry.ours[-1] for key, entry in known.keys.items()}
    return lay_out({**_object(known.before), **ours}, known.before) if ours else known.before


def _read(path: str) -> bytes | None:
    """What a file has; None where that cannot be read."""
    try:
        return read_file(path)
    except (KeeperError, OSError):
        return None


def _object(data: bytes | None) -> Json:
    """The settings in a file; none where it cannot be made out."""
    try:
        return parse(data, errors="replace")
    except KeeperError:
        return {}


def _bare(data: bytes | None) -> Any:
    """What settings say but for the empty shells a removed plugin leaves; what cannot be read is only like itself."""
    try:
        rest = {key: one for key, one in parse(data, errors="replace").items() if key not in SHELLS or one}
    except KeeperError:
        return data
    return json.dumps(rest, sort_keys=True)


def _without_shells(now: bytes, before: bytes | None) -> bytes:
    """The settings as they are now, less the empty shells that were not there before."""
    value, was = _object(now), _object(before)
    rest = {key: one for key, one in value.items() if key not in SHELLS or one or key in was}
    return now if rest == value else lay_out(rest, now)


def _give(path: str, link: str | None, data: bytes | None) -> None:
    """Make a file have these bytes, or be away; where it was a link, the file behind it, and a link again."""
    if link is not None and not os.path.islink(path):  # whoever wrote last put a file in the link's place
        own = f"{path}.{os.getpid()}"
        os.symlink(link, own)
        os.replace(own, path)
    replace_file(os.path.realpath(path), data, lambda: data is not None or os.path.exists(path))


# --- one change, from the lock to the file ----------------------------------------------------------------------------


def _edit(
    home: str, path: str, key: str, decide: Callable[[bytes | None, Json, Known | None], Decision], dry_run: bool
) -> Outcome:
    for _ in range(TRIES):
        with nullcontext() if dry_run else exclusive(home):
            data, known = read_file(path), _read_ledger(home).get(path)
            given = parse(data, path)
            did, now, kept = decide(data, given, known)
            outcome = Outcome(path, key, did, given.get(key), now.get(key))
            if dry_run:
                return outcome
            after = _written(path, data, given, now, known if kept is None else None)
            if did == "changed":
                _note(home, path, kept)  # before the change: who is killed in between can still go back
            try:
                done = after == data or _replace(path, data, after)
            except KeeperError:
                _note(home, path, known)
                raise
            _note(home, path, kept if done else known)
            if done:
                return outcome
    raise Busy(f"Somebody else is writing {path}", hint="try again in a moment; nothing was changed")


def _written(path: str, data: bytes | None, given: Json, now: Json, gone: Known | None) -> bytes | None:
    """The bytes of changed settings: those of before, where nothing of ours is in them any more."""
    if now is given:
        return data
    if gone and _bare(lay_out(now)) == _bare(gone.before):
        return gone.before
    after = lay_out(now, data)
    if not same(parse(after, path), now):
        raise KeeperError("The settings file cannot be changed safely", hint="nothing was changed")
    return after


def _replace(path: str, data: bytes | None, after: bytes | None) -> bool:
    """Put new bytes in a file's place, behind a link if it is one; False when it has changed under our eyes."""
    try:
        sweep(os.path.realpath(path))
        if after is not None and not os.path.islink(path):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return replace_file(os.path.realpath(path), after, lambda: read_file(path) == data)
    except OSError as error:
        raise KeeperError(f"{path} cannot be written: {error.strerror}", hint="nothing was changed") from None


def exclusive(home: str) -> Lock:
    """One change of settings at a time."""
    return Lock(home, PATIENCE, LOCK.removesuffix(".lock"))


# --- the ledger -------------------------------------------------------------------------------------------------------


def _read_ledger(home: str) -> dict[str, Known]:
    """What we changed, by file, in the order of the changes."""
    path = os.path.join(home, LEDGER)
    data = read_file(path)
    try:
        return {
            file: Known(
                None if known["before"] is None else base64.b64decode(known["before"]),
                known["link"],
                {key: Entry(**entry) for key, entry in known["keys"].items()},
                known["host"],
            )
            for file, known in (json.loads(data) if data is not None else {}).items()
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
            "before": None if known.before is None else base64.b64encode(known.before).decode("ascii"),
            "link": known.link,
            "keys": {key: entry._asdict() for key, entry in known.keys.items()},
            "host": known.host,
        }
        for file, known in ledger.items()
    }
    sweep(place)
    write_file(place, lay_out(plain))
