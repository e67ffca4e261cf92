"""What a person typed in a session, wherever the host wrote it down.

Not all of it is a prompt. What is typed while the model works waits in a queue, and some versions of the host write
nothing else of it; the answers to a question that the host asked, and what the user says instead of allowing a call,
are results of tools. And not all that stands in the user's place was typed: the host puts its own blocks there.
"""

from __future__ import annotations

from memory_keeper import regex as re
from memory_keeper import wire
from memory_keeper.capture.payload import OWN_COMMAND, own_text
from memory_keeper.model import Event, NamedTuple
from memory_keeper.provenance import PROGRAM, TYPED, of_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# those the host answers itself, whatever words they are given
OWN_COMMANDS = frozenset(
    "/" + name
    for name in (
        *("add-dir", "agents", "clear", "color", "compact", "config", "context", "cost", "effort", "export", "fast"),
        *("hooks", "mcp", "memory", "model", "output-style", "permissions", "plugin", "rename", "resume", "rewind"),
        *("statusline", "theme"),
    )
)
ASKS = "AskUserQuestion"
BARE = re.compile(r"/[\w:.-]+$")  # a command and nothing else: the host's own, or a prompt once it is run
SHELL = re.compile(r"<bash-input>(.*)</bash-input>", re.S)
SENT = ("prompt", "queued", "command", "notice", "meta")
AT_ONCE = 2.0  # seconds: a delivered text may be dated before the line that says it was queued
REFUSED = "The user doesn't want to proceed with this tool use."
SAYS = "the user said:\n"
REMARK = "\n\nNote: The user's next message may contain a correction"  # the host's, behind what the user said
ASIDE = ("The user wants to clarify these questions", "The user has indicated")  # the host in the user's name
ANSWERED = re.compile(r'^- "([^\n]+)"\n  Answer: (.+?)(?=\n- "|\n\nNote: |\Z)', re.M | re.S)
PAIR = re.compile(r'"([^"\n]+)"="')
GOES_ON = ". You can now continue with "
BESIDE = re.compile(r'" selected \w+:\n|" user notes: ')
NOTES = " user notes: "


class Typed(NamedTuple):
    """Something that a person typed or chose."""

    text: str
    at: float
    id: str  # of the event that has it
    how: str  # prompt | queued | answer | refusal
    about: str = ""  # of an answer: the question
    by: str = TYPED  # or PROGRAM: it stands in the user's place, and is not known to be typed by anybody


def typed_words(events: Sequence[Event], calls: Mapping[str, Event] | None = None) -> list[Typed]:
    """What a person typed in the main thread, in the order of its events, each thing once.

    Of a text that waited and was then sent, the prompt counts, and of one that was taken back to be edited, what was
    sent in the end. `calls`, by their ref, are looked for where a result's own call is not among the events.
    """
    known = dict(calls or ())
    main = [event for event in events if event.kind in READERS and not event.agent]
    known.update((event.ref, event) for event in main if event.kind == "call")
    elsewhere = _counted_elsewhere(main)
    return [typed for event in main if event.id not in elsewhere for typed in READERS[event.kind](event, known)]


# --- what was queued --------------------------------------------------------------------------------------------------


def _counted_elsewhere(events: Sequence[Event]) -> set[str]:
    """The queued texts that another line delivers, that were typed again while they waited, or that were taken back.

    That a text left the queue does not say how: `remove` is how it is handed to a model that is at work. Nor does the
    queue say who put a text there: where the line that delivers it is a machine's, so was the text.
    """
    gone: set[str] = set()
    queues: dict[str, dict[str, str]] = {}
    sent: dict[tuple[str, str], float] = {}
    for event in events:
        if event.kind not in SENT:
            continue
        waiting, text = queues.setdefault(event.session, {}), _sent(event)
        if event.kind != "queued":
            delivered = _delivered(event.kind, text, waiting) if waiting else []
            gone.update(waiting.pop(one) for one in delivered)
            if sent.get((event.session, text)) == event.at:
                gone.add(event.id)  # written again when the session was resumed
            sent[event.session, text] = event.at
            if text and not delivered and event.kind == "prompt":
                waiting.clear()  # only who has nothing in the queue can send at once: all of it was heard
        elif event.tool == "popAll":
            gone.update([waiting.pop(text)] if text in waiting else ())
        elif event.tool == "enqueue" and text:
            if text in waiting or abs(event.at - sent.get((event.session, text), 0.0)) < AT_ONCE:
                gone.add(event.id)
            else:
                waiting[text] = event.id
    return gone


def _sent(event: Event) -> str:
    """What was sent to the model or to the shell; empty where it is the host's."""
    shell = SHELL.match(event.text) if event.kind == "command" else None
    return shell[1].strip() if shell else own_text(event.text)


def _delivered(kind: str, text: str, waiting: Mapping[str, str]) -> list[str]:
    """What of a queue a text has: it alone, or some lines of a prompt where several were sent as one."""
    if kind != "prompt":
        return [text] if text in waiting else []
    return [one for one in waiting if f"\n{one}\n" in f"\n{text}\n"]


# --- the kinds of events that have what somebody typed ----------------------------------------------------------------


def _read_prompt(event: Event, calls: Mapping[str, Event]) -> Iterator[Typed]:
    if text := own_text(event.text):
        yield Typed(text, event.at, event.id, "prompt", by=of_event(event))


def _read_queued(event: Event, calls: Mapping[str, Event]) -> Iterator[Typed]:
    text = own_text(event.text) if event.tool == "enqueue" else ""
    command = text.split(maxsplit=1)[0] if text else ""
    if text and not BARE.match(text) and command not in OWN_COMMANDS and not command.startswith(OWN_COMMAND):
        yield Typed(text, event.at, event.id, "queued")


def _read_result(event: Event, calls: Mapping[str, Event]) -> Iterator[Typed]:
    call = calls.get(event.ref)
    if event.failed and event.text.startswith(REFUSED):
        yield from _read_refusal(event, call)
    elif call and call.tool == ASKS and not event.failed:
        for question, answer in _answers(event.text, _questions(call)):
            yield Typed(answer, event.at, event.id, "answer", question)


def _read_refusal(event: Event, call: Event | None) -> Iterator[Typed]:
    words = event.text.partition(SAYS)[2].partition(REMARK)[0].strip()
    if call and call.tool == ASKS and words.startswith(ASIDE):
        for question, answer in ANSWERED.findall(words):
            yield Typed(answer.strip(), event.at, event.id, "answer", question)
    elif words and not (call and call.tool == "Bash" and event.extra):  # then a program may have printed them
        # a server that failed could have written the same
        by = PROGRAM if not call or call.tool.startswith("mcp__") else TYPED
        yield Typed(words, event.at, event.id, "refusal", by=by)


def _nothing(event: Event, calls: Mapping[str, Event]) -> Iterator[Typed]:
    return iter(())


READERS = {
    "prompt": _read_prompt,
    "queued": _read_queued,
    "result": _read_result,
    "call": _nothing,  # has the questions that a result answers
    **dict.fromkeys(("command", "notice", "meta"), _nothing),  # may be what was queued
}


# --- answers ----------------------------------------------------------------------------------------------------------


def _questions(call: Event) -> list[str]:
    """What the host was to ask, by the call's own text."""
    given = ("\n" + call.text).partition("\nquestions: ")[2].partition("\n")[0]
    try:
        asked = wire.loads(given)
    except (ValueError, RecursionError):
        return []
    texts = [entry.get("question") for entry in asked if isinstance(entry, dict)] if isinstance(asked, list) else []
    return [text for text in texts if isinstance(text, str) and text]


def _answers(text: str, questions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The questions that were answered and what was said to each, which may be of any length and have quotes in it."""
    text = text.rpartition(GOES_ON)[0] or text
    marks = sorted({(text.find(f'"{question}"="'), question) for question in questions})
    marks = [mark for mark in marks if mark[0] >= 0] or [(found.start(), found[1]) for found in PAIR.finditer(text)]
    ends = [*(start for start, _ in marks), len(text)][1:]
    for (start, question), end in zip(marks, ends, strict=True):
        said = text[start + len(question) + len('""="') : end].removesuffix(", ")
        beside = BESIDE.search(said)
        answer = said[: beside.start()] if beside else said.removesuffix('"')
        notes = said[beside.start() :].rpartition(NOTES)[2] if beside and NOTES in said[beside.start() :] else ""
        for one in (answer.strip(), notes.strip() if notes.strip() not in answer else ""):
            if one:
                yield question, one
