"""Claude Code's own settings: what of ours stands in them, and the user's files given back to the very bytes.

Two things of ours do: the plugin, which Claude Code's own commands enter there, and the status line. A whole file is
written down in our home before the first of them; so whoever is killed in between leaves a whole file and a ledger that
knows the way back. When nothing of ours is left and the file says what it said before, it gets its own bytes again;
where the user has changed more, only what is ours goes.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
from itertools import pairwise
from typing import Any, NamedTuple

from memory_keeper.errors import Busy, KeeperError
from memory_keeper.host.files import replace_file, sweep, write_file
from memory_keeper.host.json_file import Json, lay_out, parse, read_file, same
from memory_keeper.store.home import Lock

LEDGER, LOCK = "changed-settings.json", "changed-settings.lock"
PATIENCE = 10.0  # seconds for somebody else's change
TRIES = 5  # somebody else writes the file at the same moment
SHELLS = ("enabledPlugins", "extraKnownMarketplaces")  # what Claude Code leaves empty when a plugin goes
LINE, PROGRAM, WRAP = "statusLine", "memory-keeper", "--wrap"


class Outcome(NamedTuple):
    """What became of the status line."""

    path: str
    key: str
    did: str  # changed | unchanged | restored
    was: Any = None  # its value before; None when it was not there
    now: Any = None  # and after


class Returned(NamedTuple):
    """What became of the files that Claude Code edited for us."""

    restored: list[str]  # they have their own bytes again
    changed: list[str]  # the user has changed them since: only our traces went


class Known(NamedTuple):
    """What the ledger knows of a file."""

    before: bytes | None  # all of it, before anything of ours was in it; None when there was no file
    link: str | None  # where it led, if it was a link


# --- the status line --------------------------------------------------------------------------------------------------


def set_line(home: str, path: str, launch: str) -> Outcome:
    """Have Claude Code show our line; what it showed before is run as well, and comes back with `restore_line`."""
    was = parse(read_file(path), path).get(LINE)
    before = command_of(was).strip()
    if is_ours(before):
        return Outcome(path, LINE, "unchanged", was, was)
    command = f"{shlex.quote(launch)} statusline" + (f" {WRAP} {shlex.quote(before)}" if before else "")
    kept = was if isinstance(was, dict) else {}  # its padding and the like
    return _change(home, path, {**kept, "type": "command", "command": command}, "changed")


def restore_line(home: str, path: str, dry_run: bool = False) -> Outcome:
    """Give the user's line back, where ours is shown: as it stood in the file before, or as ours runs it."""
    was = parse(read_file(path), path).get(LINE)
    command = command_of(was)
    if not is_ours(command):
        return Outcome(path, LINE, "unchanged", was, was)
    words = shlex.split(command)
    wrapped = words[words.index(WRAP) + 1] if WRAP in words[:-1] else ""
    known = _read_ledger(home).get(path)
    now = _object(known.before).get(LINE) if known else None
    if command_of(now).strip() != wrapped:  # the user had another one since
        now = {**dict(was or {}), "command": wrapped} if wrapped else None
    there = known is not None and LINE in _object(known.before)
    return Outcome(path, LINE, "restored", was, now) if dry_run else _change(home, path, now, "restored", there)


def command_of(line: Any) -> str:
    """What a status line runs."""
    command = line.get("command") if isinstance(line, dict) else ""
    return command if isinstance(command, str) else ""


def is_ours(command: str) -> bool:
    """Whether a status line is this one, however it is called."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    calls = [before for before, word in pairwise(words) if word == "statusline"]
    return any(call.endswith("/plugin/launch") or os.path.basename(call) == PROGRAM for call in calls)


def _change(home: str, path: str, line: Any, did: str, there: bool = False) -> Outcome:
    """Give the file this line, or none, also where it was `there` as null; the rest of it stays."""
    for _ in range(TRIES):
        with exclusive(home):
            data, before = read_file(path), _read_ledger(home).get(path)
            given, known = parse(data, path), before or _known(path, data)
            rest = {key: value for key, value in given.items() if key != LINE}
            now = {**given, LINE: line} if line is not None or (there and LINE in given) else rest
            back = _bare(lay_out(now)) == _bare(known.before)
            after = known.before if back else lay_out(now, data)
            if not back and not same(parse(after, path), now):
                raise KeeperError("The settings file cannot be changed safely", hint="nothing was changed")
            _note(home, path, known)  # before the change: who is killed in between can still go back
            kept = before
            try:
                if after == data or _replace(path, data, after):
                    kept = None if back else known
                    return Outcome(path, LINE, did, given.get(LINE), line)
            finally:
                _note(home, path, kept)
    raise Busy(f"Somebody else is writing {path}", hint="try again in a moment; nothing was changed")


def _replace(path: str, data: bytes | None, after: bytes | None) -> bool:
    """Put new bytes in a file's place, behind a link if it is one; False when it has changed under our eyes."""
    try:
        sweep(os.path.realpath(path))
        if after is not None and not os.path.islink(path):
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return replace_file(os.path.realpath(path), after, lambda: read_file(path) == data)
    except OSError as error:
        raise KeeperError(f"{path} cannot be written: {error.strerror}", hint="nothing was changed") from None


# --- what Claude Code edits for us ------------------------------------------------------------------------------------


def remember(home: str, path: str) -> None:
    """Know a file as it is before Claude Code edits it for us; only the first time."""
    with exclusive(home):
        _note(home, path, _read_ledger(home).get(path) or _known(path, _read(path)))


def knows(home: str, path: str) -> bool:
    """Whether something of ours was put into a file."""
    return path in _read_ledger(home)


def edited(home: str) -> list[str]:
    """The user's files that are not as they were before, but for our status line."""
    known = ((path, _read(path), before) for path, before in _read_ledger(home).items())
    return [path for path, now, before in known if now not in (None, _with_line(before, now))]


def put_back(home: str) -> Returned:
    """Give the user's files back their own bytes; where the user has changed more since, take only our traces."""
    back = Returned([], [])
    if not os.path.exists(os.path.join(home, LEDGER)):
        return back
    with exclusive(home):
        for path, known in _read_ledger(home).items():
            now = _read(path)
            before = _with_line(known, now)
            if now is not None and now != before:
                alike = _bare(now) == _bare(before)
                rest = before if alike else _without_shells(now, before)
                if rest != now:
                    _give(path, known.link, rest)
                (back.restored if alike else back.changed).append(path)
            _note(home, path, known if _has_line(now) else None)
    return back


def _known(path: str, data: bytes | None) -> Known:
    return Known(data, os.readlink(path) if os.path.islink(path) else None)


def _has_line(data: bytes | None) -> bool:
    return is_ours(command_of(_object(data).get(LINE)))


def _with_line(known: Known, now: bytes | None) -> bytes | None:
    """A file as it would be if Claude Code had not edited it for us: with our status line, where that is shown."""
    line = {LINE: _object(now)[LINE]} if _has_line(now) else {}
    return lay_out({**_object(known.before), **line}, known.before) if line else known.before


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
        rest = {key: value for key, value in parse(data, errors="replace").items() if key not in SHELLS or value}
    except KeeperError:
        return data
    return json.dumps(rest, sort_keys=True)


def _without_shells(now: bytes, before: bytes | None) -> bytes:
    """The settings as they are now, less the empty shells that were not there before."""
    value, was = _object(now), _object(before)
    rest = {key: entry for key, entry in value.items() if key not in SHELLS or entry or key in was}
    return now if rest == value else lay_out(rest, now)


def _give(path: str, link: str | None, data: bytes | None) -> None:
    """Make a file have these bytes, or be away; where it was a link, the file behind it, and a link again."""
    if link is not None and not os.path.islink(path):  # whoever wrote last put a file in the link's place
        own = f"{path}.{os.getpid()}"
        os.symlink(link, own)
        os.replace(own, path)
    replace_file(os.path.realpath(path), data, lambda: data is not None or os.path.exists(path))


def exclusive(home: str) -> Lock:
    """One change of settings at a time."""
    return Lock(home, PATIENCE, LOCK.removesuffix(".lock"))


# --- the ledger -------------------------------------------------------------------------------------------------------


def _read_ledger(home: str) -> dict[str, Known]:
    """The files that have, or had, something of ours in them."""
    path = os.path.join(home, LEDGER)
    data = read_file(path)
    try:
        return {
            file: Known(None if known["before"] is None else base64.b64decode(known["before"]), known["link"])
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
        ledger[path] = known
    if not ledger:
        os.unlink(place)
        return
    plain = {
        file: {"before": None if data is None else base64.b64encode(data).decode("ascii"), "link": link}
        for file, (data, link) in ledger.items()
    }
    sweep(place)
    write_file(place, lay_out(plain))
