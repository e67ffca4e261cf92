"""The parts of briefs, and PLANS: which parts a brief has, in order of worth, each with its share of the budget."""

from __future__ import annotations

from time import gmtime, strftime

from memory_keeper.model import Event
from memory_keeper.reduce.facts import open_todos, touched
from memory_keeper.tell import Said
from memory_keeper.text import clip, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.tell import View

    Part = Callable[["View"], tuple[str, list["Said"]]]

SESSIONS, PROMPTS, CALLS, FILES = 4, 40, 200, 15
PROMPT_TOKENS, REPLY_TOKENS = 150, 90


def prompts(view: View) -> tuple[str, list[Said]]:
    """What the user asked last, in their own words."""
    return "Asked last, newest first", [
        Said(f"{when(event)} {clip(event.text.strip(), PROMPT_TOKENS)}", event.id) for event in _prompts(view)[:6]
    ]


def todos(view: View) -> tuple[str, list[Said]]:
    """What the model's own list says is not done, in the newest session that has one."""
    listed = [event for event in view.store.latest(view.project, "todo", CALLS) if _counts(view, event)]
    newest = [event for event in listed if event.session == listed[0].session]
    return "Open todos", [
        Said(f"[{todo.status}] {one_line(todo.text)}", todo.cite) for todo in open_todos(reversed(newest))
    ]


def sessions(view: View) -> tuple[str, list[Said]]:
    """What the last sessions were about and how they ended."""
    lines = []
    seen: dict[str, list[Event]] = {}
    for event in _prompts(view):
        seen.setdefault(event.session, []).append(event)
    for session, asked in list(seen.items())[:SESSIONS]:
        last = view.store.latest(view.project, "reply", 1, session=session)
        last = [one for one in view.provisional if one.session == session and one.kind == "reply"][:1] or last
        about = f"{when(asked[-1])} session {session[:8]}: {one_line(asked[-1].text, 160)}"
        said = f" → {clip(one_line(last[0].text, 600), REPLY_TOKENS)}" if last else ""
        lines.append(Said(about + said, (last or asked)[0].id))
    return "The last sessions and how they ended", lines


def files(view: View) -> tuple[str, list[Said]]:
    """The files that were changed or read last."""
    calls = [event for event in view.store.latest(view.project, "call", CALLS) if _counts(view, event)]
    roots = view.store.roots(view.project)
    return "Files touched", [
        Said(
            f"{one_line(within(roots, one.path), 300)} ({_times(one.changes, 'changed', one.reads, 'read')})", one.cite
        )
        for one in touched(calls)[:FILES]
    ]


# what one part leaves over of its share goes to the next
PLANS: dict[str, tuple[tuple[Part, float], ...]] = {
    "start": ((prompts, 0.4), (todos, 0.35), (sessions, 0.6), (files, 1.0)),
}


def _prompts(view: View) -> list[Event]:
    """The user's prompts that this context does not have yet, newest first."""
    missing = [event for event in view.provisional if event.kind == "prompt"]
    known = view.store.latest(view.project, "prompt", PROMPTS, session=view.session if view.source == "compact" else "")
    return [event for event in missing + known if _counts(view, event) and event.text.strip()]


def _counts(view: View, event: Event) -> bool:
    """Whether the context being told lacks an event: after a compaction it lost its own, else it lacks the others'."""
    own = event.session == view.session
    if view.source == "compact":
        return own
    return not own and (view.source != "resume" or event.at > _last(view))


def _last(view: View) -> float:
    """When the session being resumed last said something."""
    said = view.store.latest(view.project, "reply", 1, session=view.session)
    return said[0].at if said else 0.0


def when(event: Event) -> str:
    """The moment, for a person."""
    return strftime("%Y-%m-%d %H:%M", gmtime(max(0.0, min(event.at, 2e11)))) + "Z"


def within(roots: list[str], path: str) -> str:
    """A path as the project's people would say it."""
    return next((path[len(root) + 1 :] for root in roots if path.startswith(root + "/")), path)


def _times(*counted: int | str) -> str:
    """`changed 3x, read`."""
    pairs = zip(counted[::2], counted[1::2], strict=True)
    return ", ".join(f"{what} {number}x" if number != 1 else str(what) for number, what in pairs if number)
