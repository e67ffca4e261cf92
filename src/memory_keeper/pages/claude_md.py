"""Our rules in a file of the user's, `CLAUDE.md`: put in, brought up to date, taken away; all or nothing.

A change is a new file that takes the place of the old one, so whoever is killed leaves one of the two, whole. What
cannot be done without risk to a byte of the user's is refused: where the file has a second name, as a new file would
part the two; where somebody has written into our block; where the markers do not make one block.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import unified_diff

from memory_keeper import config
from memory_keeper.briefs.claude_md import Malformed, block_text, find_block, with_block, without_block
from memory_keeper.briefs.rules import rules_of
from memory_keeper.errors import Busy, KeeperError
from memory_keeper.host.files import replace_file, sweep, write_file
from memory_keeper.keeper import Keeper
from memory_keeper.model import NamedTuple
from memory_keeper.store.home import try_lock
from memory_keeper.text import clean

NAME = "CLAUDE.md"
BACKUP = ".before-memory-keeper"  # a file whose block was edited by hand, before `force` put ours back
LARGEST = 5_000_000  # bytes: no model reads such a file
PATIENCE, TRIES = 10.0, 5  # where somebody else writes the file at the same moment: seconds for the lock
WIDE = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins
UNTOUCHED = "nothing was changed"

Edit = Callable[[bytes | None], bytes | None]


class OutOfReach(KeeperError):  # noqa: N818  (it reads as what it says)
    """A file that we do not write, so nothing of ours is in it."""


class Change(NamedTuple):
    """What became of a file, or would."""

    path: str
    changed: bool
    diff: str = ""
    created: bool = False
    removed: bool = False  # the file went: nothing but ours was ever in it
    backup: str = ""  # where the file lies as it was edited by hand


def sync_rules(
    keeper: Keeper,
    folder: str,
    *,
    user: bool = False,
    remove: bool = False,
    dry_run: bool = False,
    force: bool = False,
    anew: bool = True,
) -> Change:
    """Make the project's `CLAUDE.md` have the project's rules, or the user's own one all the others."""
    path, within = _place(keeper, folder, user)
    settings, project = config.load(keeper.home, config.find_root(folder), keeper.environ)[0], keeper.project(folder)
    if not user and not remove and not keeper.store.notes(project, 0, "rule"):
        # a block that is there all the same came with the repository, from somebody who has rules for it
        hint = f"{UNTOUCHED}; `memory-keeper rule add` adds one, and --user is about those of all your projects"
        raise OutOfReach("This project never had a rule", hint=hint)
    rules = rules_of(keeper.store, project, settings["rules.shipped"])
    text = "" if remove else block_text([rule.text for rule in rules if (rule.scope != "project") == user])
    return sync(path, text, within=within, dry_run=dry_run, force=force, anew=anew)


def sync_where_wanted(keeper: Keeper, folder: str) -> list[str]:
    """Bring the blocks that are there up to date, if the user has asked for that; what there is to say about it."""
    problems: list[str] = []
    if not config.load(keeper.home, config.find_root(folder), keeper.environ)[0]["rules.claudeMd"]:
        return problems
    for user in (True, False):
        try:
            change = sync_rules(keeper, folder, user=user, anew=False)
            problems += [f"{change.path} has the rules as they are now"] * change.changed
        except OutOfReach:
            pass
        except KeeperError as error:
            problems.append(str(error))
    return problems


def _place(keeper: Keeper, folder: str, user: bool) -> tuple[str, str]:
    """The file of a scope, and the folder that it may not lead out of."""
    root = config.find_root(folder)
    own = config.claude_folder(config.own_environ(keeper.environ, root))
    if user:
        return os.path.join(own, NAME), ""
    path = os.path.join(root, NAME)
    if os.path.realpath(root) == os.path.realpath(own):
        raise OutOfReach(f"{path} is for all of your projects", hint="--user writes to it")
    return path, root


def sync(
    path: str, text: str, *, within: str = "", dry_run: bool = False, force: bool = False, anew: bool = True
) -> Change:
    """Make a file have this text as our block, without a text none; `anew`: also one that has no block yet."""

    def edit(data: bytes | None) -> bytes | None:
        return with_block(data, text) if anew or find_block(data or b"") else data

    if not text.strip():
        return unsync(path, within=within, dry_run=dry_run, force=force)
    return _change(path, edit, within, dry_run, force)


def unsync(path: str, *, within: str = "", dry_run: bool = False, force: bool = False) -> Change:
    """Take our block out of a file; the file as well, if we made it and nothing else is in it."""
    return _change(path, lambda data: without_block(data) if data else data, within, dry_run, force)


# --- one change, from the lock to the file ----------------------------------------------------------------------------


def _change(path: str, edit: Edit, within: str, dry_run: bool, force: bool) -> Change:
    try:
        real = _target(path, within)
        if dry_run:
            before = _read(path, real)
            return _outcome(path, before, _plan(path, real, before, edit, force))
        with _alone(os.path.dirname(real)):
            return _carry_out(path, real, edit, force)
    except Malformed as error:
        raise KeeperError(f"{path}:{error.line}: {error.problem}", hint=error.hint) from None
    except OSError as error:
        raise KeeperError(f"{path} cannot be written: {error.strerror}", hint=UNTOUCHED) from None


def _plan(path: str, real: str, before: bytes | None, edit: Edit, force: bool) -> bytes | None:
    """The file as it is to be, unless that would take away what somebody wrote into our block."""
    after = edit(before)
    if after == before:
        return before
    _check_replaceable(path, real)
    block = find_block(before or b"")
    if block and block.edited and not force:
        hint = f"{UNTOUCHED}; make a rule of it and undo it there, or --force: the file is kept as {NAME}{BACKUP}"
        raise KeeperError(f"{path}:{block.line}: our rules were edited by hand", hint=hint)
    if after is None and os.path.islink(path):
        return b""  # the link is the user's, and is to lead somewhere
    return after


def _carry_out(path: str, real: str, edit: Edit, force: bool) -> Change:
    for own in (real, real + BACKUP):
        sweep(own)
    for _ in range(TRIES):
        before = _read(path, real)
        after = _plan(path, real, before, edit, force)
        if after == before:
            return Change(path, False)
        backup = _keep_edited(real, before)
        if replace_file(real, after, lambda: _read(real, real) == before, _usual_mode()):  # noqa: B023
            return _outcome(path, before, after, backup)
    raise Busy(f"Somebody else is writing {path}", hint=f"try again in a moment; {UNTOUCHED}")


def _target(path: str, within: str) -> str:
    """The file itself, behind links; of a project's never one outside of it."""
    real = os.path.realpath(path)
    if os.path.islink(path) and not os.path.exists(real):
        raise OutOfReach(f"{path} is a link to nowhere", hint=UNTOUCHED)
    if within and not real.startswith(os.path.join(os.path.realpath(within), "")):
        raise OutOfReach(f"{path} leads out of the project, to {real}", hint=UNTOUCHED)
    if within and real != os.path.join(os.path.realpath(within), NAME) and not real.endswith(".md"):
        raise OutOfReach(f"{path} leads to {real}, which is no Markdown", hint=UNTOUCHED)
    return real


def _read(path: str, real: str) -> bytes | None:
    """The whole file; None when there is none."""
    try:
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise KeeperError(f"{path} cannot be read: {error.strerror}", hint=UNTOUCHED) from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OutOfReach(f"{path} is no regular file", hint=UNTOUCHED)
        with open(fd, "rb", closefd=False) as file:
            data = file.read(LARGEST + 1)
    finally:
        os.close(fd)
    if len(data) > LARGEST:
        raise KeeperError(f"{path} has more than {LARGEST // 1_000_000} MB", hint=UNTOUCHED)
    if data.startswith(WIDE):
        raise OutOfReach(f"{path} is in UTF-16", hint=f"save it as UTF-8; {UNTOUCHED}")
    return data


def _check_replaceable(path: str, real: str) -> None:
    """Refuse where a new file in the old one's place would not be the same to the user."""
    try:
        about = os.stat(real)
    except FileNotFoundError:
        return
    if about.st_nlink > 1:
        hint = f"{UNTOUCHED}; make it a symbolic link, or a file of its own"
        raise KeeperError(f"{path} has another name (a hard link), which would keep the old text", hint=hint)
    if not about.st_mode & 0o222 or not os.access(real, os.W_OK):
        raise KeeperError(f"{path} is read-only", hint=UNTOUCHED)


def _keep_edited(real: str, before: bytes | None) -> str:
    """Put a file aside whose block was edited by hand; where."""
    block = find_block(before or b"")
    if not before or not block or not block.edited:
        return ""
    backup = real + BACKUP
    if os.path.lexists(backup):
        if _read(backup, backup) != before:
            raise KeeperError(f"{backup} is there already", hint=f"{UNTOUCHED}; look at it and move it away")
    else:
        write_file(backup, before, stat.S_IMODE(os.stat(real).st_mode))
    return backup


def _usual_mode() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """One change in a folder at a time; the lock is the folder itself, so that none lies about in a project."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield  # not there, or not ours to read: what follows will say so
        return
    try:
        with suppress(OSError):  # some network file systems lock no folders; the file is read again before it goes
            if not try_lock(fd, PATIENCE):
                raise Busy(f"Somebody else is changing {folder}/{NAME}", hint="try again in a moment")
        yield
    finally:
        os.close(fd)


def _outcome(path: str, before: bytes | None, after: bytes | None, backup: str = "") -> Change:
    if before == after:
        return Change(path, False)
    return Change(path, True, show_diff(path, before, after), before is None, after is None, backup)


def show_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    """What a change does to a file, for eyes: nothing in it moves the cursor. `None` is no file."""
    old, new = (path if data is not None else "/dev/null" for data in (before, after))
    return "\n".join(unified_diff(_lines(before), _lines(after), old, new, lineterm="")) + "\n"


def _lines(data: bytes | None) -> list[str]:
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    return [clean(line.rstrip(b"\r").decode("utf-8", "replace")).replace("\n", " ") for line in lines]
