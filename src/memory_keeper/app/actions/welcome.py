"""What a new user is told at the start of a session: what is kept, where, and how to switch it off.

It is told until somebody has typed in a session that was kept. So it needs no mark of its own: who has just installed
us sees it once, in each window they open before they type, and again if that session never came to a prompt.
"""

from __future__ import annotations

from memory_keeper.errors import NotSetUp
from memory_keeper.keep.typed import has_typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Call, Json

ATTENDED = ("CLAUDE_CODE_ENTRYPOINT", "cli")  # what the host says where somebody sits before it; else nobody would see


def welcome(keeper: Keeper, call: Call, said: Json) -> Json:
    """The line for the user, after what is said to them so far; nothing where it was read, or where nobody reads."""
    name, attended = ATTENDED
    if call.source != "startup" or keeper.environ.get(name) != attended or _is_known(keeper):
        return {}
    lines = [said["systemMessage"]] if "systemMessage" in said else []
    return {"systemMessage": "\n".join([*lines, line(keeper.home, keeper.environ)])}


def line(home: str, environ: dict[str, str]) -> str:
    """What is kept, where, and how to switch it off."""
    own = environ.get("HOME", "")
    where = "~" + home[len(own) :] if own and home.startswith(own + "/") else home
    if not where.isprintable():
        where = "".join(char if char.isprintable() else "?" for char in where)
    return (
        f"Memory Keeper keeps prompts, replies and tool calls in {where}, which only you can read."
        " To switch it off: /plugin disable memory-keeper"
    )


def _is_known(keeper: Keeper) -> bool:
    try:
        return has_typed(keeper.store.db, keeper.home)
    except NotSetUp:
        return False
