"""Whose word something is: the one place that says it, and that everything asks.

It follows from how something came in: from the kind of an event and what its reader found out about who sent it, and
from how a note came to be. Only what a person typed here is the user's: that alone may become a rule, a goal, a
standing note by the user, or be told as what the user said.
"""

from __future__ import annotations

from memory_keeper import wire
from memory_keeper.model import APART, ELSEWHERE, IMPORTED, Event, Note

TYPED = "user"  # a person typed it here
MODEL = "model"  # a model said, thought, called or kept it
TOOL = "tool"  # a tool printed it
HOST = "host"  # the host, an editor, a hook or another agent put it there, in the user's place too
IMPORT = "import"  # it came from elsewhere, and the user has not accepted it as theirs
TEAM = "team"  # another of the team shares it
EDITED = "edited"  # it was found in a file of the project, which anything can write
PROGRAM = "program"  # asked in the user's place, and nobody is known to have typed it
KEEPER = "keeper"  # put together here by rule, or shipped

KINDS = {
    "prompt": TYPED,  # what the host put beside it is for `own_text` to take out
    "queued": TYPED,
    **dict.fromkeys(("reply", "thinking", "call", "todo", "task", "summary", "memory"), MODEL),
    "result": TOOL,
    "imported": IMPORT,
    **dict.fromkeys(
        ("confirmed", "contradicted", "done", "shared", "unshared", "told", "warned", "scored", "spent", "replaced"),
        KEEPER,
    ),
}
OWN = ("", "extractive", "rule", "seen", "shipped", "user")  # what a note that no person wrote says of who made it
WORDS = {
    MODEL: "by a model",
    PROGRAM: "by a program",
    IMPORT: "imported",
    TEAM: "by others of the team",
    EDITED: "edited in its file",
}


def of_event(event: Event) -> str:
    """Whose words an event has; `typed` finds what was typed in what the user sent and in what tools answer."""
    return of(event.kind, event.project, event.session, event.extra)


def of(kind: str, project: str, session: str, extra: str) -> str:
    """The same, by what it goes by."""
    if project.startswith(APART) or session.endswith(ELSEWHERE):
        return IMPORT
    whose = KINDS.get(kind, HOST)
    return PROGRAM if whose == TYPED and wire.read_object(extra).get("by") == PROGRAM else whose


def of_note(note: Note) -> str:
    """Whose words a note has."""
    about = wire.read_object(note.extra)
    by = about.get("by", "")
    if note.project.startswith(APART):
        return IMPORT
    if note.kind == "shared":
        return TEAM
    if note.who == TYPED:
        return EDITED if page_of(note) else TYPED
    if note.who or note.id.startswith(IMPORTED):
        return IMPORT
    return TYPED if by == "said" else KEEPER if by in OWN else MODEL


def is_users(note: Note) -> bool:
    """Whether a person typed it here."""
    return of_note(note) == TYPED


def page_of(note: Note) -> str:
    """The page of the project that a note was read from; empty for others."""
    page = wire.read_object(note.extra).get("page")
    return page if isinstance(page, str) else ""


def imported_from(note: Note) -> str:
    """The tool that had kept what a note says; empty for others, and for what a person has worded since."""
    tool = wire.read_object(note.extra).get("from") if note.id.startswith(IMPORTED) and not note.who else ""
    return tool if isinstance(tool, str) else "another tool"


def whose(note: Note) -> str:
    """Whose words a note has, where they are not ours, in words."""
    by = of_note(note)
    if by == TEAM:
        author = wire.read_object(note.extra).get("item") or {}
        return f"{author.get('author')}, shared" if isinstance(author, dict) else "another of the team"
    if by == EDITED:
        return f"whoever edited {page_of(note)}"
    if by == IMPORT:
        tool = imported_from(note)
        return f"{tool}, imported" if tool else ""
    return {TYPED: "the user", MODEL: "a model"}.get(by, "")


def beside(kind: str, by: str) -> str:
    """What is said beside the kind of a thing that was found, where that does not say whose it is."""
    return f" ({WORDS[by]})" if by in WORDS and (by != MODEL or kind not in KINDS) else ""
