"""The commands in the user's own terminal: small scripts in ~/.local/bin that run the plugin in our home."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import NamedTuple

from memory_keeper import config
from memory_keeper.host.files import remove_empty, sweep, write_file

NAME = "memory-keeper"
OTHERS = ("compress-context",)  # put beside it, and taken away with it
MARK = "# Written by `memory-keeper install`; `memory-keeper uninstall` takes it away."


class OwnCommand(NamedTuple):
    """What a shell runs as `memory-keeper`, if there is anything."""

    path: str
    on_path: bool  # a shell finds it
    problem: str = ""  # why it could not be put there, or taken away
    left: str = ""  # what somebody has changed, which leads to what was taken away


def place(name: str = NAME) -> str:
    """Where a user's own programs are by custom."""
    return os.path.join(config.user_home(dict(os.environ)), ".local", "bin", name)


def put_all(home: str) -> OwnCommand:
    """Put every command there; what became of the main one."""
    for name in OTHERS:
        put(home, name)
    return put(home)


def remove_all(home: str) -> OwnCommand:
    """Take every command away; what became of the main one."""
    for name in OTHERS:
        remove(home, name=name)
    return remove(home)


def put(home: str, name: str = NAME) -> OwnCommand:
    """Have a shell find us: by what it finds already, such as a package's command, else by a script of ours."""
    path, found = place(name), shutil.which(name)
    ours = _is_ours(path)
    if found and _lasts(found, home) and (os.path.abspath(found) != path or not ours):
        return OwnCommand(found, True)
    if os.path.lexists(path) and not ours:
        if MARK not in _read(path):
            return OwnCommand(path, False, "something else is there")
        return OwnCommand(path, found == path and _leads_to(path, home, name), "somebody has changed it")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        sweep(path)
        write_file(path, _script(home, name).encode(), 0o755)
    except OSError as error:
        return OwnCommand(path, False, error.strerror or str(error))
    return OwnCommand(path, shutil.which(name) == path)


def remove(home: str, dry_run: bool = False, name: str = NAME) -> OwnCommand:
    """Take away the script that leads to this home, and the folder if it was the last in it; without a path there is
    none."""
    path = place(name)
    try:
        if _read(path) != _script(home, name):
            return OwnCommand("", False, left=path if _leads_to(path, home, name) else "")
        if not dry_run:
            sweep(path)
            os.unlink(path)
            remove_empty(os.path.dirname(path))
    except OSError as error:
        return OwnCommand(path, False, error.strerror or str(error))
    return OwnCommand(path, False)


def _lasts(found: str, home: str) -> bool:
    """Whether a command that a shell finds runs us tomorrow as well: not one that a session or this folder lends."""
    lent = (os.path.join(config.claude_folder(dict(os.environ)), "plugins"), home)
    real = os.path.realpath(found)
    runs = any(os.path.exists(os.path.join(os.path.dirname(real), part)) for part in ("src/memory_keeper", "../plugin"))
    ours = runs or "memory_keeper" in _read(real)  # a checkout's or a plugin's, or what a package installed
    return (
        os.path.isabs(found)
        and ours
        and not any(f"{real}/".startswith(f"{os.path.realpath(folder)}/") for folder in lent)
    )


def _leads_to(path: str, home: str, name: str) -> bool:
    """Whether a script that somebody may have changed still runs the plugin in this home."""
    text = _read(path)
    return MARK in text and _script(home, name).rpartition("\n" + MARK + "\n")[2].strip() in text


def _script(home: str, name: str) -> str:
    return _running(os.path.join(os.path.realpath(home), "marketplace", "bin", name))


def _running(program: str) -> str:
    return f'#!/bin/sh\n{MARK}\nexec {shlex.quote(program)} "$@"\n'


def _is_ours(path: str) -> bool:
    """Whether a script is as we wrote it, for whichever home."""
    text = _read(path)
    if MARK not in text or os.path.islink(path):
        return False
    try:
        program = shlex.split(text.partition("\nexec ")[2])[0]
    except (ValueError, IndexError):
        return False
    return text == _running(program)


def _read(path: str) -> str:
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as script:
        return script.read(4096)
