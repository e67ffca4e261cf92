"""What has happened to a session's context since it began: folded from what hooks left in the session's spool.

Nothing here is stored: what was told, warned or asked is a record like every other, and a context is the sum of its
records since the last start. A spool that was moved and taken away after a quiet hour does not have its start any more;
then the store has the same records.
"""

from __future__ import annotations

import posix

from memory_keeper import wire
from memory_keeper.config import open_plain
from memory_keeper.errors import KeeperError
from memory_keeper.named import NamedTuple
from memory_keeper.request import Context
from memory_keeper.store import open_store, spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.model import Json

START, TOOL = b'{"event":"SessionStart"', b'{"event":"PostToolUse"'
COMPACTED, RESUMED = b'"source":"compact"', b'"source":"resume"'
FURTHEST = 8 << 20  # bytes of a spool that are read
SESSIONS, LINKS = 64, 8
TOLD = 20_000  # characters of what a context was told that are remembered
_known: dict[str, tuple[int, int, Context]] = {}  # spools, how far they were read, and what came of it
JUST = 60.0  # seconds between the end that a clear is and the start that it is


def read_context(home: str, session: str) -> Context:
    """The context that a session has now. Who asks again, as a server does at each hook, pays for what is new."""
    path = spool.path_of(home, session)
    fd = open_plain(path)
    if fd is None:
        return _stored(home, session)
    try:
        about = posix.fstat(fd)
        inode, offset, context = _known.get(path, (0, 0, Context()))
        fresh = inode != about.st_ino or offset > about.st_size
        if fresh:
            inode, offset, context = about.st_ino, max(0, about.st_size - FURTHEST), Context()
        data = posix.pread(fd, about.st_size - offset, offset)
    finally:
        posix.close(fd)
    data = data[: data.rfind(b"\n") + 1]
    offset, begin = offset + len(data), _first_start(data)
    if begin >= 0:
        data, context = data[begin:], Context()
    elif fresh:
        context = _stored(home, session)
    for record in spool.records(data, *CHANGING):
        context = fold(context, record)
    context = _went_on(context, data[max(0, data.rfind(RESUMED)) :])
    if len(_known) >= SESSIONS:
        _known.clear()
    _known[path] = inode, offset, context
    return context


def _first_start(data: bytes) -> int:
    """Where the last context began that has nothing of one before: a compaction comes in the middle of a turn, and what
    is resumed has all that it had. -1: not here."""
    begin = data.rfind(START)
    while begin >= 0 and any(source in data[begin : data.find(b"\n", begin)] for source in (COMPACTED, RESUMED)):
        begin = data.rfind(START, 0, begin)
    return data.rfind(b"\n", 0, begin) + 1 if begin >= 0 else -1


def _went_on(context: Context, data: bytes) -> Context:
    """A turn may go on after its end: a hook of somebody else's can want that. Only the last tool call of the main
    thread is looked at: there are many."""
    begin = data.rfind(TOOL)
    while begin >= 0:
        line = data[data.rfind(b"\n", 0, begin) + 1 : data.find(b"\n", begin)]
        if b'"agent":' not in line:
            for record in spool.records(line):
                return context._replace(prompted=max(context.prompted, spool.time_of(record)))
        begin = data.rfind(TOOL, 0, begin)
    return context


def find_cleared(home: str, session: str, pid: int, now: float, born: str = "", folder: str = "") -> str:
    """The session that this process of the host has just cleared: the new one is not told which it was."""

    def is_it(name: str, context: Context) -> bool:
        same = name != session and (context.pid, context.born) == (pid, born) and folder in ("", context.folder)
        return same and context.ended == "clear"

    return _latest(home, is_it, now - JUST) if born else ""


def find_running(home: str, pid: int, born: str) -> str:
    """The session that runs in a process of the host: the one that something happened in last; empty for none."""

    def is_it(_: str, context: Context) -> bool:
        return (context.pid, context.born) == (pid, born) and not context.ended

    return _latest(home, is_it) if born else ""


def _latest(home: str, is_it: Callable[[str, Context], bool], since: float = 0.0) -> str:
    """Of the sessions that are meant, the one whose spool was written to last.

    A process is known by its number and when it was born: containers that share a home have the same numbers.
    """
    found, latest = "", since
    for name in spool.names(home):
        try:
            touched = posix.stat(spool.path_of(home, name)).st_mtime
        except OSError:
            continue
        if touched >= latest and is_it(name, read_context(home, name)):
            found, latest = name, touched
    return found


def find_chain(home: str, session: str) -> tuple[str, ...]:
    """A session and those it took over from, each of them cleared; the newest first."""
    chain = [session]
    while len(chain) < LINKS and (before := read_context(home, chain[-1]).after) and before not in chain:
        chain.append(before)
    return tuple(chain)


def fold(context: Context, record: Json) -> Context:
    """A context after one more record."""
    known = RECORDS.get(str(record.get("event")))
    return known.change(context, record, spool.time_of(record)) if known else context


def _began(context: Context, record: Json, at: float) -> Context:
    """A start begins a new context; the process and its terminal stay what they were where it does not say."""
    resumed = record.get("source") == "resume"  # in another process, but what it was told of the rules stands in it
    heard = context if resumed else Context()
    context = Context() if resumed else context
    terminal = record.get("terminal")
    known = [str(word) for word in terminal][:4] if isinstance(terminal, list) else []
    compacted = record.get("source") == "compact"
    before = context if compacted else Context()  # what a compaction leaves as it was
    return Context(
        begun=at,
        source=str(record.get("source") or ""),
        folder=str(record.get("dir") or context.folder),
        transcript=str(record.get("transcript") or context.transcript),
        pid=_number(record, "pid") or context.pid,
        born=str(record.get("born") or context.born),
        model=str(record.get("model") or context.model),
        window=before.window,
        compacts_at=before.compacts_at,
        run=record.get("run") is True,
        after=str(record.get("after") or context.after),
        ours=record.get("ours") is True,
        module=context.module,
        terminal=(known[0], known[1], known[2], known[3]) if len(known) == 4 else context.terminal,
        prompted=before.prompted,
        stopped=before.stopped,
        replaced=before.replaced,
        ruled=heard.ruled,
        ruled_by=heard.ruled_by,
        ruled_tokens=heard.ruled_tokens,
        **(_compacted(context, at) if compacted else {}),
    )


def _compacted(context: Context, at: float) -> Json:
    """What is known of the compaction that a context comes of, and that all of it is still to be told."""
    began = context.summarizing
    return {"compacted": began or at, "trigger": context.trigger if began else "", "untold": True}


def _compacting(context: Context, record: Json, at: float) -> Context:
    """The host begins to compact; from when a subagent is compacted, no summary is known to be the main thread's."""
    if record.get("agent"):
        return context._replace(summarizing=0.0)
    trigger, tokens = str(record.get("source") or ""), _number(record, "tokens") or context.compacts_at
    return context._replace(
        summarizing=at,
        trigger=trigger,
        compacts_at=tokens,
        replaced=0.0,  # the host compacts itself, whatever we answered
        untold=False,  # until it has
    )


def _summarized(context: Context, record: Json, at: float) -> Context:
    """A compaction is over. As a rule its context has begun before; else nobody heard of that."""
    if record.get("by") != "PostCompact" or not context.summarizing:
        return context
    return context._replace(
        summarizing=0.0, handed="", scored=0.0, told="", recalled=(), prompts=0, ruled="", **_compacted(context, at)
    )


def _scored(context: Context, record: Json, at: float) -> Context:
    """It was measured what a summary lost; where that is told, its own record says so."""
    return context._replace(untold=context.untold and _number(record, "told") > 0, scored=context.scored or at)


def _told(context: Context, record: Json, at: float) -> Context:
    """What a context was told; only a handoff says what a compaction lost."""
    fields, text = wire.read_object(str(record.get("extra") or "")), str(record.get("text") or "")
    known, lines, call = dict(context.recalled), fields.get("lines"), spool.call_of(record)
    new = [line for line in lines if isinstance(line, str) and line not in known] if isinstance(lines, list) else []
    recalled = (*context.recalled, *((one, call) for one in dict.fromkeys(new)))
    context = context._replace(recalled=recalled, told=f"{context.told}\n{text}"[-TOLD:] if text else context.told)
    if fields.get("brief") == "reminder":
        return context._replace(ruled_tokens=_number(fields, "context"))
    if fields.get("brief") == "rules":
        rules = str(fields.get("hash") or "")
        return (
            context
            if rules == context.ruled
            else context._replace(ruled=rules, ruled_by=call, ruled_tokens=_number(fields, "context"))
        )
    if fields.get("brief") != "handoff":
        return context
    return context._replace(untold=False, handed=context.handed or call)


def _prompted(context: Context, record: Json, at: float) -> Context:
    """A turn begins; a clear that was asked for in one that is over, and nobody answered, is not wanted any more."""
    asked = 0.0 if context.stopped > context.asked else context.asked
    context = context._replace(prompts=context.prompts + 1)
    return context._replace(prompted=at, asked=asked, summarizing=0.0)  # a compaction that did not end has failed


def _window(context: Context, record: Json, at: float) -> Context:
    module = context.module or record.get("by") == "module"
    model = str(record.get("model") or context.model)
    return context._replace(window=_number(record, "window"), model=model, module=module)


def _warned(context: Context, record: Json, at: float) -> Context:
    known, call = {level for level, *_ in context.warned}, spool.call_of(record)
    new = [(level, at, call) for level in str(record.get("level") or "").split() if level not in known]
    return context._replace(warned=(*context.warned, *new))


def _passed(context: Context, record: Json, at: float) -> Context:
    return context


class Record(NamedTuple):
    """A kind of record."""

    fields: tuple[str, ...] = ()  # beside those that all have: event, at, call and dir
    change: Callable[[Context, Json, float], Context] = _passed  # what it makes of the context that it is left in
    kind: str = ""  # of the event that it becomes in the store; empty: it only says where to look


# what every call of the host has to say for itself
CALL = ("transcript", "agent", "source", "ref", "text", "model", "busy")
# the kinds of records that a spool may have: the calls of the host, and what we did on our own
RECORDS: dict[str, Record] = {
    "SessionStart": Record((*CALL, "pid", "born", "terminal", "run", "after", "ours"), _began, "start"),
    "SessionEnd": Record(
        (*CALL, "place"),
        lambda context, record, at: context._replace(ended=str(record.get("source") or "other"), place=_place(record)),
        "end",
    ),
    "UserPromptSubmit": Record(CALL, _prompted),
    "PostToolUse": Record(CALL),
    "PostToolUseFailure": Record(CALL),
    "Stop": Record(CALL, lambda context, record, at: context._replace(stopped=at, busy=_number(record, "busy"))),
    "SubagentStart": Record(CALL),
    "SubagentStop": Record(CALL),
    "PreCompact": Record((*CALL, "tokens"), _compacting),
    "PostCompact": Record(CALL),
    "Summary": Record(("by", "text", "transcript"), _summarized),
    "Window": Record(("window", "model", "by"), _window, "window"),
    "Thread": Record(("source",), kind="thread"),
    "Told": Record(("source", "extra", "text", "agent"), _told, "told"),
    "Warned": Record(("level", "tokens"), _warned, "warned"),
    "Scored": Record(("trigger", "kept", "lost", "tokens", "brought", "told"), _scored, "scored"),
    "AskClear": Record(
        ("why",), lambda context, record, at: context._replace(asked=at, why=str(record.get("why") or "")), "ask"
    ),
    "AskCompact": Record(("tokens",), lambda context, record, at: context._replace(compacting=at), "ask-compact"),
    "Blocked": Record((), lambda context, record, at: context._replace(blocked=at), "blocked"),
    "Replaced": Record(
        ("source", "tokens", "repeated", "heard"),
        lambda context, record, at: context._replace(replaced=at, untold=True, handed="", scored=0.0),
        "replaced",
    ),
}
CHANGING = tuple(name for name, record in RECORDS.items() if record.change is not _passed)
MARKS = tuple(record.kind for record in RECORDS.values() if record.kind)  # kinds of events that no transcript has


def _stored(home: str, session: str) -> Context:
    """The context as the store knows it: for a session whose spool was taken away."""
    if not posix.access(home + "/store.db", posix.F_OK):
        return Context()
    from memory_keeper.store.events import marks

    try:
        store = open_store(home + "/store.db", write=False)
    except KeeperError:
        return Context()
    try:
        context = Context()
        for extra in marks(store, session):
            try:
                context = fold(context, wire.loads(extra))
            except (ValueError, AttributeError):
                continue
        return context._replace(untold=False)  # what it was told is not in these records
    finally:
        store.close()


def _place(record: Json) -> tuple[str, str]:
    """The branch and the commit that a session ended on."""
    said = record.get("place")
    known = [str(word) for word in said][:2] if isinstance(said, list) else []
    return (known[0], known[1]) if len(known) == 2 else ("", "")


def _number(record: Json, field: str) -> int:
    value = record.get(field)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
