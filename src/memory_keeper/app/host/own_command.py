"""The command in the user's own terminal: a small script in ~/.local/bin that runs the plugin in our home."""

from __future__ import annotations

import os
import shlex
import shutil

from memory_keeper.model import NamedTuple

NAME = "memory-keeper"
MARK = "# Written by `memory-keeper install`; `memory-keeper uninstall` takes it away."


class OwnCommand(NamedTuple):
    """What a shell runs as `memory-keeper`."""

    path: str
    on_path: bool  # a shell finds it
    problem: str = ""  # why it could not be put there


def place() -> str:
    """Where a user's own programs are by custom."""
    return os.path.join(os.path.expanduser("~"), ".local", "bin", NAME)


def put(home: str) -> OwnCommand:
    """Have a shell find us: by what it finds already, such as a package's command, else by a script of ours."""
    path, found = place(), shutil.which(NAME)
    if found and os.path.abspath(found) != path:
        return OwnCommand(found, True)
    if os.path.lexists(path) and not _is_ours(path):
        return OwnCommand(path, False, "something else has that name")
    try:
        _write(path, _script(home))
    except OSError as error:
        return OwnCommand(path, False, error.strerror or str(error))
    return OwnCommand(path, bool(shutil.which(NAME)))


def remove(home: str, dry_run: bool = False) -> str:
    """Take away the script that leads to this home; where it was, empty if there is none."""
    path = place()
    if _read(path) != _script(home):
        return ""
    if not dry_run:
        os.unlink(path)
    return path


def _script(home: str) -> str:
    program = os.path.join(os.path.realpath(home), "marketplace", "bin", NAME)
    return f'#!/bin/sh\n{MARK}\nexec {shlex.quote(program)} "$@"\n'


def _is_ours(path: str) -> bool:
    return MARK in _read(path)


def _read(path: str) -> str:
    if os.path.islink(path) or not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as script:
        return script.read(4096)


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    own = f"{path}.{os.getpid()}"
    try:
        with open(own, "w", encoding="utf-8") as script:
            script.write(text)
        os.chmod(own, 0o755)
        os.replace(own, path)
    finally:
        if os.path.lexists(own):
            os.unlink(own)
