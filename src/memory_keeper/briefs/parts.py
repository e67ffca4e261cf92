"""The parts of briefs: each says one thing from the store, under a heading, the most useful lines first."""

from __future__ import annotations

from time import time

from memory_keeper.briefs import CHARACTERS, Said, handoff
from memory_keeper.briefs.files import ONE_EACH
from memory_keeper.capture.payload import own_text
from memory_keeper.extract.touched import touched
from memory_keeper.model import DAY, HIGHEST, Event, Note
from memory_keeper.notes.kept_note import begun, written
from memory_keeper.provenance import EDITED, TYPED, beside, imported_from, of_event, of_note, whose
from memory_keeper.store.events import not_covered, outcome
from memory_keeper.text import ago, clip, clip_middle, one_line, tokens, utc_day, utc_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memory_keeper.briefs import View
    from memory_keeper.model import Item


PROMPTS, CALLS = 60, 150  # how much is asked of the store; the budget decides what is told
PROMPT_TOKENS, REPLY_TOKENS = 150, 70
HANDED = 0.55  # of a start may be what the last session hands over
STANDING = (*ONE_EACH, "decision", "issue", "fact")  # kinds of notes that the user wrote down to stay
NOTE_LINE, STANDING_TOKENS = 20, 90  # tokens around a note that is quoted, and of a decision, an issue or a fact
NOTES, DETAILED, FIRST_LINES = 30, 2, 85  # notes that are asked for, told whole first, and tokens of the others then
BRIEFLY, HANDOFF, NAMED = ("handoff", "session"), 300, 4  # what is shared for a week; tokens; characters of a file
FRESH = 7 * DAY  # after which what a model kept is found, and told at no start any more
ALL = 1000  # notes that are asked for where the budget is large


def standing(view: View) -> tuple[str, Iterable[Said]]:
    """What the user wrote down to stay: the project, its architecture and conventions, then decisions, issues and
    facts, the newest first. A handoff for people has no need of it."""
    return "Standing notes, by the user", _standing(view, pages=False)


def edited(view: View) -> tuple[str, Iterable[Said]]:
    """The same as it was changed in a page of the project: by the user, or a script, or a model."""
    return "Standing notes, in the words of whoever edited their files", _standing(view, pages=True)


def _standing(view: View, pages: bool) -> Iterator[Said]:
    notes = (note for kind in STANDING for note in view.store.notes(view.project, 0, kind))
    found = [note for note in notes if of_note(note) == (EDITED if pages else TYPED) and _stands(view, note)]
    each = [note for note in found if note.kind in ONE_EACH]
    many = sorted((note for note in found if note.kind not in ONE_EACH), key=lambda note: note.at, reverse=True)
    return _within(view.notes_budget, each, many)


def remembered(view: View) -> tuple[str, Iterable[Said]]:
    """What models wanted remembered, the newest first: their words, never told as the user's, nor at every start."""
    found = [note for kind in STANDING for note in view.store.notes(view.project, 0, kind, limit=NOTES)]
    theirs = [note for note in found if of_note(note) not in (TYPED, EDITED)]
    theirs.sort(key=lambda note: note.at, reverse=True)
    whom = " or imported from other tools" if any(map(imported_from, theirs)) else ""
    since = (view.now or time()) - FRESH if view.source else 0.0
    return f"Kept by models in earlier sessions{whom}", (
        Said(f"{note.kind} of {utc_day(note.at)}{_from(note)}: {clip(dense(note.text), STANDING_TOKENS)}", note.id)
        for note in theirs
        if _stands(view, note) and (imported_from(note) or note.at >= since)
    )


def _from(note: Note) -> str:
    tool = imported_from(note)
    return f", imported from {tool}" if tool else ""


def _stands(view: View, note: Note) -> bool:
    """Whether a standing note is to be told: it has words, and a session that goes on has not heard them yet."""
    told = (view.of and not view.source) or (view.source == "resume" and written(note) < _last(view))
    return bool(note.text) and not told


def _within(budget: int, each: list[Note], many: list[Note]) -> Iterator[Said]:
    """Whole notes where they fit; else those that are too long are cut to the same length."""
    texts = {note.id: f"{note.kind}: {dense(note.text)}" for note in each}
    costs = {id: tokens(text) + NOTE_LINE for id, text in texts.items()}
    left = budget
    for place, id in enumerate(sorted(costs, key=lambda id: costs[id])):
        fair = left // (len(costs) - place)
        if costs[id] > fair:
            texts[id] = clip(texts[id], max(0, fair - NOTE_LINE))
        left -= min(costs[id], fair)
    yield from (Said(text, id) for id, text in texts.items() if text)
    for note in many:
        said = f"{note.kind} of {utc_day(note.at)}: {clip(dense(note.text), STANDING_TOKENS)}"
        left -= tokens(said) + NOTE_LINE
        if left < 0:
            return
        yield Said(said, note.id)


def team(view: View) -> tuple[str, Iterable[Said]]:
    """What others of an accepted team share: handoffs that are for somebody, then what is about the files that were
    touched last, then the newest."""
    if (view.of and not view.source) or not view.store.notes(view.project, 0, "team"):
        return "", ()
    from memory_keeper.store.shared import accepted_notes, author_of

    found = [(note, item) for note, item in accepted_notes(view.store, view.project) if item.kind != "rule"]
    now = view.now or time()
    latest = view.store.latest(view.project, "call", CALLS, agents=True, text=False)
    names = {name for one in touched(latest) if len(name := one.path.rpartition("/")[2]) >= NAMED}
    found = [pair for pair in found if pair[1].kind not in BRIEFLY or pair[1].at > now - FRESH]
    ranked = sorted(found, key=lambda pair: (bool(pair[1].to), any(name in pair[0].text for name in names), pair[1].at))
    return "Shared by others of the team: their words, not the user's", (
        Said(
            f"{one_line(author_of(note), 40)}, {ago(item.at, now)}, {_what(item)}:"
            f" {clip(dense(note.text), HANDOFF if item.to else STANDING_TOKENS)}",
            note.id,
        )
        for note, item in reversed(ranked)
    )


def _what(item: Item) -> str:
    return f"{item.kind} for {one_line(item.to, 40)}" if item.to else item.kind


def handed(view: View) -> tuple[str, Iterable[Said]]:
    """What the session hands over that this one goes on from."""
    return f"Handoff of {view.before.title}" if view.before else "", _handed(view, carried=False)


def carried_over(view: View) -> tuple[str, Iterable[Said]]:
    """What that session was handed itself, and carries over."""
    sessions = [fact.of for fact in (view.before.facts if view.before else ()) if fact.of]
    of = max(dict.fromkeys(sessions), key=sessions.count) if sessions else ""
    return handoff.carried(of) if of else "", _handed(view, carried=True, of=of) if of else ()


def _handed(view: View, carried: bool, of: str = "") -> Iterable[Said]:
    """The lines of a handoff, or those that it carries over: most are `of` one session, the others say of which."""
    if not view.before:
        return ()
    limit = min(view.before.limit or view.budget, int(view.budget * HANDED))
    chosen = handoff.choose(handoff.facts_for(view), limit, CHARACTERS, "fenced")
    return (
        Said(
            ("" if line.of == of else f"{handoff.carried(line.of)}: ") + handoff.labelled(line),
            line.cites[0] if line.cites else "",
            whole=True,
        )
        for line in handoff.arrange(chosen)
        if bool(line.of) is carried
    )


def todos(view: View) -> tuple[str, Iterable[Said]]:
    """What the model's own lists say is not done."""
    if view.before or not view.store.latest(view.project, "todo", 1, view.of, text=False):
        return "", ()
    from memory_keeper.extract import todos as lists

    newest = [event for event in lists.newest(view.store, view.project, view.of) if _counts(view, event)]
    return f"Open todos, of {when(newest[-1])}" if newest else "", [
        Said(f"[{todo.status}] {one_line(todo.text)}", todo.cite) for todo in lists.left_open(newest)
    ]


def unnoted(view: View) -> tuple[str, Iterable[Said]]:
    """Everything that was asked and that no note tells of, and what came of it."""
    asked = _prompts(view)
    open = not_covered(view.store, [event.id for event in asked]) | {event.id for event in view.provisional}
    return "Not in a note yet, newest first", (
        Said(f"{when(event)}{beside(event.kind, of_event(event))} {_asked(event)}{_came(view, event)}", event.id)
        for event in asked
        if event.id in open
    )


def noted(view: View) -> tuple[str, Iterable[Said]]:
    """What the notes of sessions say, newest first: the newest in detail, of the others how they begin."""
    return "Notes of sessions, newest first", (
        Said(_headed(note, note.text), note.id, first=FIRST_LINES if place >= DETAILED else 0)
        for place, note in enumerate(_session_notes(view, NOTES))
    )


def detailed(view: View) -> tuple[str, Iterable[Said]]:
    """What the notes of sessions say that no outline covers, newest first, whole."""
    return "Notes of sessions, newest first", (
        Said(_headed(note, note.text), note.id) for note in _session_notes(view, ALL)
    )


def outlined(view: View) -> tuple[str, Iterable[Said]]:
    """What was before that, by the outlines above the notes; the newest first."""
    return "Before that, in outline", (
        Said(f"{utc_day(begun(note))} to {utc_day(note.at)}\n{note.text}", note.id) for note in _outlines(view)
    )


def observations(view: View) -> tuple[str, Iterable[Said]]:
    """What may become a rule, what is proposed first."""
    from memory_keeper.briefs.observations import OPEN, facts
    from memory_keeper.briefs.pages import observed_in

    found = observed_in(view.store, view.project, view.settings, view.now)
    shown = (one for state in OPEN for one in reversed(found) if one.state == state)
    return "Observations, those proposed as rules first", (Said(f"{one.text}\n{facts(one)}", one.id) for one in shown)


def open_tasks(view: View) -> tuple[str, Iterable[Said]]:
    """What is not done yet."""
    from memory_keeper.notes.tasks.done import done, open_tasks

    found = open_tasks(view.store, view.project, done(view.store, view.project))
    return "Open tasks", (Said(f"{one.text}{' (in hand)' * one.doing}", one.note or one.id) for one in found)


def done_tasks(view: View) -> tuple[str, Iterable[Said]]:
    """What was done, the newest first."""
    from memory_keeper.notes.tasks.done import done

    return "Done, newest first", (
        Said(f"{utc_day(one.at)} {one.text}{f' → {one_line(one.outcome)}' if one.outcome else ''}", one.id)
        for one in reversed(done(view.store, view.project))
    )


def compacted(view: View) -> tuple[str, Iterable[Said]]:
    """The sessions whose context was compacted or cleared, the newest first."""
    from memory_keeper.briefs.archived import compacted, find_entry, put_on_shelf
    from memory_keeper.briefs.context_archive import show

    found = compacted(view.store, view.project)
    shelf = put_on_shelf(view.store, view.home, view.project) if found else None
    return "Sessions whose context was compacted or cleared, newest first", (
        Said(show(find_entry(shelf, session, marks)).strip(), session) for session, marks in found if shelf
    )


def _session_notes(view: View, most: int) -> Iterator[Note]:
    """The notes of level 1 that this context lacks and that have words, newest first."""
    since = _last(view) if view.source == "resume" and not view.of else 0.0
    for note in reversed(view.store.notes(view.project, 1, open=None if view.of else True, limit=most)):
        if view.of:
            lacks = note.session in view.of
        else:
            told = (view.session, *(view.before.chain if view.before else ()))
            by_hand = bool(note.who) or not note.session  # what the user wrote or imported is told too
            lacks = note.at > since and (note.session not in told or by_hand)
        if lacks and note.text:
            yield note


def _outlines(view: View) -> Iterator[Note]:
    for level in range(2, HIGHEST + 1) if not view.of and view.source != "resume" else ():
        found = view.store.notes(view.project, level, open=True, limit=NOTES)
        if not found:
            return  # the newest of each level stays open
        yield from (note for note in reversed(found) if note.text)


def _headed(note: Note, text: str) -> str:
    """A note with its moment, its session if it is of one and, where that is not us, who wrote it."""
    of = f" session {note.session[:8]}" if note.session else ""
    by = whose(note)
    return f"{when(note)}{of}{f', in the words of {by}' if by else ''}\n{text}"


def _asked(event: Event) -> str:
    """A prompt: what was pasted into it may be long, and what is wanted of it stands before or after that."""
    return clip_middle(dense(event.text), PROMPT_TOKENS)


def _came(view: View, asked: Event) -> str:
    """What the model said last about a prompt."""
    missing = [event for event in view.provisional if event.kind == "reply" and event.session == asked.session]
    if missing and asked.id == _answered(view, missing[0]):
        return _shown(missing[0], True)
    found = outcome(view.store, asked.id)
    return _shown(*found) if found else ""


def _answered(view: View, reply: Event) -> str:
    """The prompt that an answer came to: the last one before it."""
    before = (event.id for event in _prompts(view) if event.session == reply.session and event.at < reply.at)
    return next(before, "")


def _shown(reply: Event, done: bool) -> str:
    """A reply: most begin with what was done and end with what is next."""
    return ("\n→ " if done else "\n→ (broke off after) ") + clip_middle(one_line(reply.text, 4000), REPLY_TOKENS)


def _prompts(view: View) -> list[Event]:
    """The user's prompts that this context does not have yet, newest first."""
    missing = [event for event in view.provisional if event.kind == "prompt"]
    known = view.store.latest(view.project, "prompt", PROMPTS, sessions=view.of)
    typed = (event._replace(text=own_text(event.text)) for event in missing + known if _counts(view, event))
    return [event for event in typed if event.text]


def _counts(view: View, event: Event) -> bool:
    """Whether the context being told lacks an event: what a compaction or a clear took out of it, else the others'."""
    if view.of:
        return event.session in view.of
    if view.before and event.session in view.before.chain:
        return False  # what it hands over is told
    return event.session != view.session and (view.source != "resume" or event.at > _last(view))


def _last(view: View) -> float:
    """When the session being resumed last said something."""
    said = view.store.latest(view.project, "reply", 1, (view.session,))
    return said[0].at if said else 0.0


def when(event: Event | Note) -> str:
    """The moment, for a person."""
    return utc_moment(event.at) + "Z"


def dense(text: str) -> str:
    """A text without its blank lines, runs of blanks, and lines that say the same again."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return "\n".join(line for line, before in zip(lines, ["", *lines], strict=False) if line != before)
