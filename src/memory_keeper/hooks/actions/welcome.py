"""What the user is shown at a start: a new one what is kept, where and how to switch it off; any, that it was told.

The first is shown until somebody has typed in a session that was kept. So it needs no mark of its own: who has just
installed us sees it once, in each window they open before they type, and again if that session never came to a prompt.
"""

from __future__ import annotations

from memory_keeper.errors import NotSetUp
from memory_keeper.store.spool import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Json, Note
    from memory_keeper.request import Call

ATTENDED = ("CLAUDE_CODE_ENTRYPOINT", "cli")  # what the host says where somebody sits before it; else nobody would see


def welcome(keeper: Keeper, call: Call, said: Json) -> Json:
    """The line for a new user, after what is said so far; nothing where it was read, or where nobody reads."""
    if not _is_read(call, keeper.environ) or _is_known(keeper):
        return {}
    return _after(said, line(keeper.home, keeper.environ))


def say_restored(call: Call, environ: dict[str, str], tokens: int, replaced: bool, said: Json) -> Json:
    """What a context that begins was given of the ones before it, what that took, and how to see it."""
    if not _is_read(call, environ, ("startup", "clear", "compact")):
        return {}
    what = "what went before"
    if call.source == "compact":
        what = "the handoff in place of a summary" if replaced else "what the summary left out"
    return _after(said, f"Memory Keeper restored {what} ({tokens:,} tokens). See it: memory-keeper why")


def say_begun_anew(call: Call, environ: dict[str, str], before: str, said: Json) -> Json:
    """That a session that was cleared was told nothing, as the user wanted it, and how to get it all the same."""
    if not _is_read(call, environ, ("clear",)):
        return {}
    show = f"memory-keeper handoff show {before[:8]}" if before else "memory-keeper handoff show"
    return _after(said, f"Memory Keeper brought nothing back, as you asked. What was there: {show}")


def say_adopted(call: Call, environ: dict[str, str], notes: Sequence[Note], said: Json) -> Json:
    """That a page of the project was edited, and sessions are told so from now on: it need not have been the user."""
    if not notes or not _is_read(call, environ):
        return {}
    from memory_keeper.notes.kept_note import page_of

    pages = ", ".join(sorted({page_of(note) for note in notes} - {""}))
    return _after(said, f"Memory Keeper tells from now on what was changed in .claude/memory ({pages})")


def say_broken(paths: Sequence[str]) -> Json:
    """That settings are not as somebody wrote them; nothing where all can be read."""
    names = _printable(", ".join(paths))  # a repository chooses its own path
    return {"systemMessage": f"Memory Keeper cannot read {names} and goes without"} if paths else {}


def _is_read(call: Call, environ: dict[str, str], sources: Sequence[str] = ("startup",)) -> bool:
    name, attended = ATTENDED
    return call.source in sources and environ.get(name) == attended


def _after(said: Json, shown: str) -> Json:
    return {"systemMessage": "\n".join([*([said["systemMessage"]] if "systemMessage" in said else []), shown])}


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


def _is_known(keeper: Keeper) -> bool:
    try:
        return keeper.store.has_typed(keeper.home + FOLDER)
    except NotSetUp:
        return False
