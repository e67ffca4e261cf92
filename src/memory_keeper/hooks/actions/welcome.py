"""What the user is shown at a start: a new one what is kept, where and how to switch it off; any, that it was told.

The first is shown until somebody has typed in a session that was kept. So it needs no mark of its own: who has just
installed us sees it once, in each window they open before they type, and again if that session never came to a prompt.
"""

from __future__ import annotations

import posix

from memory_keeper import config
from memory_keeper.capture.project import claimed, find_place
from memory_keeper.errors import NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.provenance import page_of
from memory_keeper.store.spool import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_keeper.hooks.actions import Request
    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Json, Note
    from memory_keeper.request import Call

VANISHED = "/vanished"  # a file of the home, until `doctor --fix` has read back what can be
OLDER = ("/.claude/memory", "/.crabshell", "/thoughts")  # where other tools keep their memory of a project
OF_ALL = "/.claude-mem"  # and one, below the user's own folder, that of all
ATTENDED = ("CLAUDE_CODE_ENTRYPOINT", "cli")  # what the host says where somebody sits before it; else nobody would see


def welcome(keeper: Keeper, call: Call, reply: Json) -> Json:
    """The line for a new user, after what is said so far; nothing where it was read, or where nobody reads."""
    if not _is_read(call, keeper.environ):
        return {}
    if not _is_known(keeper):
        reply = _after(reply, line(keeper.home, keeper.environ))
    return reply | _say_claimed(keeper, call, reply) | _say_older(keeper, call, reply)


def _say_claimed(keeper: Keeper, call: Call, reply: Json) -> Json:
    """That a folder nobody has worked in with us names the remote of a project that it shares no commit with."""
    root = config.find_root(call.folder) if call.folder else ""
    if not root or not _is_there(root + "/.git") or _is_known(keeper, root):
        return {}
    try:
        project = claimed(find_place(root), keeper.project(root), keeper.store)
    except NotSetUp:
        return {}
    if not project:
        return {}
    name = _printable(project.partition(":")[2])
    what = f"This folder says that it is of {name} and shares no commit with it, so neither hears of the other"
    return _after(reply, f"{what}. If it is: memory-keeper import accept {_printable(root)}")


def welcome_late(request: Request, reply: Json) -> Json:
    """The same with the first prompt of a session that began before we were installed in it."""
    name, attended = ATTENDED
    if request.environ.get(name) != attended:
        return reply
    with Keeper(request.home, request.environ) as keeper:
        if _is_known(keeper):
            return reply
    lines = [line(request.home, request.environ), *([reply["systemMessage"]] if "systemMessage" in reply else [])]
    return reply | {"systemMessage": "\n".join(lines)}


def _say_older(keeper: Keeper, call: Call, reply: Json) -> Json:
    """What other tools have kept of a project that nobody has worked in with us, and how to bring it in."""
    root = config.find_root(call.folder) if call.folder else ""
    places = [root + below for below in OLDER if root] + [keeper.environ.get("HOME", "") + OF_ALL]
    if not any(map(_is_there, places)) or _is_known(keeper, root):
        return {}
    from memory_keeper.imports import called, glance

    try:
        found = glance(root, keeper.environ, keeper.store, keeper.project(root))
    except NotSetUp:
        found = glance(root, keeper.environ)
    for tool, counted in found.items():
        line = f"Memory Keeper found {called(tool)} here: {counted}. Bring it in: memory-keeper import {tool}"
        reply = _after(reply, line)
    return reply


def say_restored(call: Call, environ: dict[str, str], tokens: int, replaced: bool, reply: Json) -> Json:
    """What a context that begins was given of the ones before it, what that took, and how to see it."""
    if not _is_read(call, environ, ("startup", "clear", "compact")):
        return {}
    what = "what went before"
    if call.source == "compact":
        what = "the handoff in place of a summary" if replaced else "what the summary left out"
    return _after(reply, f"Memory Keeper restored {what} ({tokens:,} tokens). See it: memory-keeper why")


def say_begun_anew(call: Call, environ: dict[str, str], before: str, reply: Json) -> Json:
    """That a session that was cleared was told nothing, as the user wanted it, and how to get it all the same."""
    if not _is_read(call, environ, ("clear",)):
        return {}
    show = f"memory-keeper handoff show {before[:8]}" if before else "memory-keeper handoff show"
    return _after(reply, f"Memory Keeper brought nothing back, as you asked. What was there: {show}")


def say_adopted(call: Call, environ: dict[str, str], notes: Sequence[Note], reply: Json) -> Json:
    """That a page of the project was edited, and sessions are told so from now on: it need not have been the user."""
    if not notes or not _is_read(call, environ):
        return {}
    pages = ", ".join(sorted({page_of(note) for note in notes} - {""}))
    return _after(reply, f"Memory Keeper tells from now on what was changed in .claude/memory ({pages})")


def say_vanished(call: Call, environ: dict[str, str], home: str, reply: Json) -> Json:
    """That the store had vanished and another one was begun."""
    if not _is_read(call, environ) or not _is_there(home + VANISHED):
        return {}
    text = "Memory Keeper's store had vanished. What you wrote by hand is back; the rest: memory-keeper doctor --fix"
    return _after(reply, text)


def say_broken(paths: Sequence[str]) -> Json:
    """That settings are not as somebody wrote them; nothing where all can be read."""
    names = _printable(", ".join(paths))  # a repository chooses its own path
    return {"systemMessage": f"Memory Keeper cannot read {names} and goes without"} if paths else {}


def _is_read(call: Call, environ: dict[str, str], sources: Sequence[str] = ("startup",)) -> bool:
    name, attended = ATTENDED
    return call.source in sources and environ.get(name) == attended


def _after(reply: Json, shown: str) -> Json:
    return {"systemMessage": "\n".join([*([reply["systemMessage"]] if "systemMessage" in reply else []), shown])}


def line(home: str, environ: dict[str, str]) -> str:
    """What is kept, where, and how to switch it off."""
    own = environ.get("HOME", "")
    where = "~" + home[len(own) :] if own and home.startswith(own + "/") else home
    return (
        f"Memory Keeper keeps prompts, replies and tool calls in {_printable(where)}, which only you can read."
        " To switch it off: /plugin disable memory-keeper"
    )


def _printable(path: str) -> str:
    return path if path.isprintable() else "".join(char if char.isprintable() else "?" for char in path)


def _is_known(keeper: Keeper, root: str = "") -> bool:
    """Whether somebody has typed in a session that was kept, of a project if one is named."""
    try:
        return keeper.store.has_typed(keeper.home + FOLDER, keeper.project(root) if root else "")
    except NotSetUp:
        return False


def _is_there(path: str) -> bool:
    try:
        return bool(posix.stat(path))
    except (OSError, ValueError):
        return False
