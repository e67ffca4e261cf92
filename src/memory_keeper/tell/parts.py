"""The parts of briefs, and PLANS: which parts a brief has, in order of worth, each with its share of the budget."""

from __future__ import annotations

from time import gmtime, strftime

from memory_keeper.model import Event
from memory_keeper.reduce.facts import Touched, open_todos, touched
from memory_keeper.tell import Said
from memory_keeper.text import clip_middle, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memory_keeper.tell import View

    Part = Callable[["View"], tuple[str, Iterable["Said"]]]

PROMPTS, RECENT, CALLS, FAILURES = 60, 8, 150, 6  # how much is asked of the store; the budget decides what is told
PROMPT_TOKENS, REPLY_TOKENS = 150, 70
STRETCH, LEARNT = 1500, 2000  # events that are looked at, and tokens that may be said of them
TOLD_ELSEWHERE = ("Asked ", "Last said", "That request went on", "In progress", "Open:")
LAST_PROMPT, LAST_REPLY = 300, 450  # where a context ended is where the next one goes on
SUBSTANCE = 60  # characters: "You're welcome!" is not how a session ended


def prompts(view: View) -> tuple[str, Iterable[Said]]:
    """What the user asked last, in their own words, and what came of it."""
    most = PROMPTS if view.of else RECENT
    return "Asked last, newest first, and what came of it", (
        Said(f"{when(event)} {_asked(event, last)}{_came(view, event, last)}", event.id)
        for event, last in zip(_prompts(view)[:most], [bool(view.of)] + [False] * PROMPTS, strict=False)
    )


def todos(view: View) -> tuple[str, Iterable[Said]]:
    """What the model's own list says is not done, in the newest session that has one."""
    found = view.store.latest(view.project, "todo", CALLS, sessions=view.of)
    listed = [event for event in found if _counts(view, event)]
    newest = [event for event in listed if event.session == listed[0].session]
    return f"Open todos, of {when(newest[0])}" if newest else "", [
        Said(f"[{todo.status}] {one_line(todo.text)}", todo.cite) for todo in open_todos(reversed(newest))
    ]


def files(view: View) -> tuple[str, Iterable[Said]]:
    """The files that were changed or read last, by subagents too."""
    calls = [
        event
        for event in view.store.latest(view.project, "call", CALLS, view.of, agents=True, text=False)
        if _counts(view, event)
    ]
    roots = view.store.roots(view.project)
    return "Files touched", (
        Said(f"{one_line(within(roots, one.path), 300)} ({_times(one)})", one.cite, whole=True)
        for one in touched(calls)
    )


def sessions(view: View) -> tuple[str, Iterable[Said]]:
    """What the sessions before that were about and what came of them."""
    older: dict[str, list[Event]] = {}
    for event in _prompts(view)[RECENT:] if not view.of else ():
        older.setdefault(event.session, []).append(event)
    return "Sessions before that", (
        Said(f"{when(asked[-1])} {one_line(asked[-1].text, 160)}{_ended(view, asked)}", asked[-1].id)
        for asked in older.values()
    )


def goal(view: View) -> tuple[str, Iterable[Said]]:
    """What a session began with, unless that is among the last prompts anyway."""
    asked = _prompts(view)
    return "Asked first", [Said(f"{when(event)} {_asked(event)}", event.id) for event in asked[RECENT:][-1:]]


def learnt(view: View) -> tuple[str, Iterable[Said]]:
    """What was decided, done and found, by rule, most needed first; what was asked is said elsewhere."""
    return "Decided, done and found", _digested(view)


def _digested(view: View) -> Iterable[Said]:
    from memory_keeper.reduce.digest import digest

    for sentence in digest(view.store.stretch(view.of, STRETCH), LEARNT) if view.of else ():
        if not sentence.text.startswith(TOLD_ELSEWHERE):
            yield Said(one_line(sentence.text, 600), sentence.cites[0])


def failures(view: View) -> tuple[str, Iterable[Said]]:
    """What went wrong last, with the call it was."""
    found = view.store.failures(view.of, FAILURES) if view.of else []
    return "Failed last", (Said(f"{_done(call)}\n→ {_answer(event)}", event.id) for event, call in found)


# what one part leaves over of its share goes to the next
PLANS: dict[str, tuple[tuple[Part, float], ...]] = {
    "handoff": ((prompts, 0.45), (todos, 0.3), (goal, 0.2), (files, 0.3), (learnt, 0.8), (failures, 1.0)),
    "start": ((prompts, 0.55), (todos, 0.4), (files, 0.5), (sessions, 1.0)),
}


def _asked(event: Event, last: bool = False) -> str:
    """A prompt: what was pasted into it may be long, and what is wanted of it stands before or after that."""
    return clip_middle(dense(event.text), LAST_PROMPT if last else PROMPT_TOKENS)


def _done(call: Event) -> str:
    return f"{call.tool} {one_line(call.path or call.text, 160)}"


def _answer(result: Event) -> str:
    return clip_middle(dense(result.text), REPLY_TOKENS)


def _came(view: View, asked: Event, last: bool = False) -> str:
    """What the model said last about a prompt."""
    missing = [event for event in view.provisional if event.kind == "reply" and event.session == asked.session]
    if missing and asked.id == _answered(view, missing[0]):
        return _shown(missing[0], True, last)
    found = view.store.outcome(asked.id)
    return _shown(*found, last) if found else ""


def _answered(view: View, reply: Event) -> str:
    """The prompt that an answer came to: the last one before it."""
    before = (event.id for event in _prompts(view) if event.session == reply.session and event.at < reply.at)
    return next(before, "")


def _ended(view: View, asked: list[Event]) -> str:
    """How a session ended: what came of its last prompt that was more than a thank-you."""
    for event in asked[:3]:
        found = view.store.outcome(event.id)
        if found and len(found[0].text) >= SUBSTANCE:
            return _shown(*found)
    return ""


def _shown(reply: Event, done: bool, last: bool = False) -> str:
    """A reply: most begin with what was done and end with what is next."""
    said = clip_middle(dense(reply.text), LAST_REPLY) if last else clip_middle(one_line(reply.text, 4000), REPLY_TOKENS)
    return ("\n→ " if done else "\n→ (broke off after) ") + said


def _prompts(view: View) -> list[Event]:
    """The user's prompts that this context does not have yet, newest first."""
    missing = [event for event in view.provisional if event.kind == "prompt"]
    known = view.store.latest(view.project, "prompt", PROMPTS, sessions=view.of)
    return [event for event in missing + known if _counts(view, event) and event.text.strip()]


def _counts(view: View, event: Event) -> bool:
    """Whether the context being told lacks an event: what a compaction or a clear took out of it, else the others'."""
    if view.of:
        return event.session in view.of
    return event.session != view.session and (view.source != "resume" or event.at > _last(view))


def _last(view: View) -> float:
    """When the session being resumed last said something."""
    said = view.store.latest(view.project, "reply", 1, (view.session,))
    return said[0].at if said else 0.0


def when(event: Event) -> str:
    """The moment, for a person."""
    return strftime("%Y-%m-%d %H:%M", gmtime(max(0.0, min(event.at, 2e11)))) + "Z"


def within(roots: list[str], path: str) -> str:
    """A path as the project's people would say it."""
    return next((path[len(root) + 1 :] for root in roots if path.startswith(root + "/")), path)


def dense(text: str) -> str:
    """A text without its blank lines, runs of blanks, and lines that say the same again."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return "\n".join(line for line, before in zip(lines, ["", *lines], strict=False) if line != before)


def _times(one: Touched) -> str:
    """`changed 3x, read`."""
    counted = ((one.changes, "changed"), (one.reads, "read"))
    return ", ".join(f"{what} {number}x" if number > 1 else what for number, what in counted if number)
