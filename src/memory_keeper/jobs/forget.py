"""What a person wants forgotten, taken out of everything that we keep, so that no byte of it is left.

What is to go is written down first (`forget.json`), and the file goes last: whoever is killed on the way, the next one
goes on. Every step is the same when it is done twice. Notes that tell of what goes, go with it; what else they told of
is open again and gets new ones. Only a keyed hash stays, so that reading the host's transcript again does not bring it
back; that transcript is the user's own, and nothing here touches it.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from time import time
from typing import Any

from memory_keeper import config, wire
from memory_keeper.briefs.files import removable, write_handoff
from memory_keeper.capture.claude_code import read_line
from memory_keeper.capture.forgotten import LEAST, MARK, Forgotten, mask_line, mask_text, mask_value
from memory_keeper.capture.redact import known_values, redact
from memory_keeper.errors import Damaged, KeeperError
from memory_keeper.host.files import write_file
from memory_keeper.jobs import backup
from memory_keeper.keeper import Keeper, by_hand
from memory_keeper.model import EVER, Event, Filter, Json, Member, Moved, NamedTuple, Source, origin
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import render
from memory_keeper.store import archive, open_mirror, spool
from memory_keeper.store.home import Lock
from memory_keeper.store.rules_cache import forget_rules
from memory_keeper.store.store import Store
from memory_keeper.team.outbox import share_again, shared_among, take_back
from memory_keeper.team.sync import remove_fetched

PLAN = by_hand.FORGETTING
MIRROR = "/sessions.db"
LOGS = ("crash.log", "problems.log", "problems.log.old")
PATIENCE = 60.0
EVERY = 1 << 30
SHINGLE = 6  # words in a row that a text is known by
SHORTEST = 12  # characters of a line that is known by itself
MOST = 400_000  # shingles that are looked for
QUOTES = 64  # texts at most that are looked for within others
WORD = re.compile(r"\w+")
STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')
SAID = ("prompt", "reply", "queued", "command", "task", "result", "thinking")
TOLD = ("told", "scored", "replaced")  # kinds of events that quote others
BINARY = (".db", ".db-wal", ".db-shm", ".gz", "/journal", "/journal.key")  # and what has a checksum


class What(NamedTuple):
    """What is to be forgotten; what is said together holds together."""

    project: str = ""
    session: str = ""
    ids: Sequence[str] = ()  # of events or notes
    file: str = ""
    text: str = ""
    secrets: bool = False  # what is known as a secret by now, in all projects
    since: float = 0.0
    until: float = 0.0
    everything: bool = False  # of the project, what the user wrote as well
    again: bool = False  # all that ever was: it came back with a backup
    at: float = 0.0  # when that was said
    roots: Sequence[str] = ()  # the folders whose pages tell of it
    shared: Sequence[Json] = ()  # what has to be known of the notes among it that were shared, to take them back

    @property
    def is_masked(self) -> bool:
        """Whether all lines stay, with a mark in the place of what goes."""
        return bool(self.text or self.secrets)


class Chosen(NamedTuple):
    """What that comes to in a store."""

    events: dict[int, Event]
    notes: list[str]
    sessions: tuple[str, ...]  # of which everything goes
    projects: tuple[str, ...]
    rows: int = 0  # in which a text is masked
    transcripts: tuple[str, ...] = ()  # of the host's, that still have it
    written: int = 0  # notes among them that the user wrote


# --- what goes --------------------------------------------------------------------------------------------------------


def choose(keeper: Keeper, store: Store, what: What, known: Forgotten | None = None) -> Chosen:
    """The events and notes that go; `known`: all that was forgotten before."""
    if what.is_masked:
        mask = _text_mask(what.text) if what.text else _secrets_mask(keeper, what)
        rows = store.mask(mask, dry=True) + _clean_mirror(
            keeper, lambda session, line: mask_value(line, mask), dry=True
        )
        return Chosen({}, [], (), tuple(store.projects()), rows)
    sessions: tuple[str, ...] = ()
    if what.everything:
        sessions = tuple(session.id for session in store.sessions(what.project, EVERY))
    elif what.session and not (what.since or what.until or what.file):
        sessions = (what.session,)
    if what.again and known:
        events = {kept.key: kept.event for kept in store.find(Filter()) if known.has(kept.event)}
    else:
        events = {kept.key: kept.event for kept in _events(store, what)}
    notes, written = _notes(store, what, events, sessions)
    gone = dict.fromkeys(notes)
    for kept in store.find(Filter(refs=[*gone])) if gone else ():
        if kept.event.ref in gone and not kept.event.tool:
            events[kept.key] = kept.event  # what became of a note
    for project in {event.project for event in events.values()}:
        events |= {kept.key: kept.event for kept in _told(store, project, events, gone)}
    projects = tuple(dict.fromkeys([what.project, *(event.project for event in events.values())]))
    said_in = {event.session for event in events.values() if event.kind not in TOLD}
    paths = dict.fromkeys(map(store.transcript, said_in))
    transcripts = tuple(sorted(path for path in paths if path and os.path.exists(path)))
    return Chosen(events, notes, sessions, tuple(filter(None, projects)), 0, transcripts, written)


def _events(store: Store, what: What) -> Iterator[Any]:
    given: Json = {"since": what.since or None, "until": what.until or None}
    if what.ids:
        bases = {id.partition(":")[0] for id in what.ids}
        found = [kept for base in bases if (event := store.event(base)) for kept in _line(store, event)]
        yield from found
        yield from _with_results(store, found)
        yield from _quoting(store, found)
        return
    given["project"] = None if what.session else what.project
    given["sessions"] = [what.session] if what.session else None
    if not what.file:
        if what.everything or what.session or what.since or what.until:
            yield from store.find(Filter(**given))
        return
    names = {what.file, os.path.abspath(what.file)}
    ending = "/" + what.file.lstrip("./")
    calls = [
        kept
        for kept in store.find(Filter(**given, kinds=["call", "memory", "imported"]))
        if kept.event.path in names or kept.event.path.endswith(ending)
    ]
    yield from calls
    yield from _with_results(store, calls)


def _line(store: Store, event: Event) -> list[Any]:
    """All that the line of an event says."""
    base = event.id.rpartition(":")[0]
    near = store.find(Filter(sessions=[event.session], since=event.at, until=event.at + 1e-3))
    same = [kept for kept in near if kept.event.id.rpartition(":")[0] == base]
    return same or list(store.find(Filter(ids=[event.id])))


def _with_results(store: Store, calls: Sequence[Any]) -> Iterator[Any]:
    keys = [kept.key for kept in calls if kept.event.kind != "result"]
    yield from store.results(keys).values()


def _quoting(store: Store, found: Sequence[Any]) -> Iterator[Any]:
    """Events of the same sessions that say the same once more."""
    texts = [kept.event.text for kept in found if len(kept.event.text) >= LEAST][:QUOTES]
    sessions = {kept.event.session for kept in found}
    for kept in store.find(Filter(sessions=[*sessions])) if texts else ():
        if any(text in kept.event.text or text in kept.event.extra for text in texts):
            yield kept


def _told(store: Store, project: str, events: dict[int, Event], notes: Collection[str]) -> list[Any]:
    """What contexts were told of it."""
    ids, echo = {event.id for event in events.values()}, _echo(events.values())
    quoting = store.find(Filter(project=project, kinds=TOLD))
    return [kept for kept in quoting if _says(kept.event.extra, ids, notes, echo)]


def _says(extra: str, ids: Collection[str], notes: Collection[str], echo: Echo) -> bool:
    cited = {*STRINGS.findall(extra)}
    return any(id in ids or id in notes for id in cited) or echo.is_in(extra)


def _echo(events: Iterable[Event]) -> Echo:
    return Echo(event.text for event in events if event.kind in SAID)


def _notes(store: Store, what: What, events: dict[int, Event], sessions: Collection[str]) -> tuple[list[str], int]:
    """The notes that tell of what goes: those above it, those that cite it, and those that say the same."""
    ids = {id for event in events.values() for id in (event.id, event.id.rpartition(":")[0])}
    gone = {store.cover(event.id) for event in events.values()} - {""} if len(events) < 500 else set()
    echo = _echo(events.values())
    rows: list[Json] = []
    for project in dict.fromkeys([what.project, *(event.project for event in events.values())]):
        for table, row in store.dump(project):
            if table == "event" and row["covered_by"] and row["id"] in ids:
                gone.add(row["covered_by"])
            elif table == "note":
                rows.append({**row, "said": {*STRINGS.findall(row["extra"])}})
    chosen = {id for id in what.ids if any(row["id"] == id for row in rows)}
    for row in rows:
        own = row["session"] in sessions and row["who"] != "user"
        if (
            (what.everything and row["project"] == what.project and row["kind"] != "team")
            or row["id"] in chosen
            or own
            or (row["who"] != "user" and row["text"] and echo.is_in(row["text"], row["extra"]))
        ):
            gone.add(row["id"])
    size = -1
    while size != len(gone):
        size = len(gone)
        for row in rows:
            if row["id"] in gone:
                gone |= {row["replaces"] or row["id"], row["covered_by"] or row["id"]}
            elif row["replaces"] in gone or row["said"] & gone or (row["who"] != "user" and row["said"] & ids):
                gone.add(row["id"])
    written = sum(row["id"] in gone and row["who"] == "user" for row in rows)
    return [row["id"] for row in rows if row["id"] in gone], written


class Echo:
    """Knows texts again where others quote them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.shingles: set[int] = set()
        self.lines: set[str] = set()
        for text in texts:
            if len(self.shingles) > MOST:
                break
            self.shingles |= _shingles(text)
            lines = (line.strip() for line in text.split("\n")[:200])
            self.lines |= {line for line in lines if len(line) >= SHORTEST and len(WORD.findall(line)) <= SHINGLE}

    def is_in(self, *texts: str) -> bool:
        """Whether one of them is quoted there."""
        for text in texts:
            if self.shingles and not self.shingles.isdisjoint(_shingles(text)):
                return True
            if len(self.lines) < 2000 and any(line in text for line in self.lines):
                return True
        return False


def _shingles(text: str) -> set[int]:
    words = WORD.findall(text)
    return {hash(tuple(words[at : at + SHINGLE])) for at in range(len(words) - SHINGLE + 1)}


def _mask_of(keeper: Keeper, what: What, known: Forgotten) -> Callable[[str], str] | None:
    if what.again:
        return lambda text: mask_text(text, known.mask)
    if what.secrets:
        return _secrets_mask(keeper, what)
    return _text_mask(what.text) if what.text else None


def _secrets_mask(keeper: Keeper, what: What) -> Callable[[str], str]:
    files = [text for root in what.roots for text in config.read_dotenv(root)]
    values = known_values(config.own_environ(keeper.environ, ""), files)
    return lambda text: redact(text, keeper.salt, values)


def _text_mask(text: str) -> Callable[[str], str]:
    return lambda whole: mask_text(whole, lambda part: part.replace(text, MARK))


# --- doing it ---------------------------------------------------------------------------------------------------------


def plan(keeper: Keeper, what: What) -> tuple[What, Chosen]:
    """What will be done, and nothing of it."""
    if what.secrets:
        what = what._replace(roots=keeper.store.roots())
    chosen = choose(keeper, keeper.store, what)
    roots = dict.fromkeys(root for project in chosen.projects for root in keeper.store.roots(project))
    return what._replace(at=what.at or time(), roots=[*roots], shared=shared_among(keeper, chosen.notes)), chosen


def forget(keeper: Keeper, what: What) -> Chosen:
    """Forget it, whatever happens on the way; what that came to."""
    write_file(keeper.home + PLAN, wire.dumps(what._asdict()).encode())
    return _carry_out(keeper, what)


def pending(home: str) -> What | None:
    """What somebody began to forget and did not end."""
    try:
        with open(home + PLAN, encoding="utf-8") as file:
            return What(**wire.loads(file.read()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def go_on(keeper: Keeper) -> bool:
    """Forget what somebody began to forget; whether there was anything."""
    what = pending(keeper.home)
    if what:
        _carry_out(keeper, what)
    return bool(what)


def _carry_out(keeper: Keeper, what: What) -> Chosen:
    with Lock(keeper.home, PATIENCE, "distil"):
        with suppress(OSError):  # a transcript that cannot be read; what is kept goes all the same
            keeper.catch_up(patience=PATIENCE)
        for root in what.roots:
            _pages(keeper, root)  # what somebody wrote there is a note from now on
        keeper.close()
        with keeper.writing(PATIENCE):
            store, known = keeper.writer, Forgotten(keeper.home, keeper.salt)
            chosen = choose(keeper, store, what, known)
            known.add(_stones(known, what, chosen, keeper))
            _clean_spools(keeper, what, chosen, known)
            mask = _mask_of(keeper, what, known)
            if mask:
                store.mask(mask)
            moved = _rewrite_archives(keeper, what, chosen, known)
            store.forget([*chosen.events], chosen.notes, moved)
            by_hand.forget(keeper, {*chosen.notes}, what.project if what.everything else "", mask)
            take_back(keeper, what.shared, what.at)
            if mask:
                share_again(keeper, what.at)
            store.compact()
            _drop_archives(keeper.home, store)
        forget_rules(keeper.home)
        _clean_mirror(keeper, _changing(keeper, what, chosen))
        _clean_home(keeper, what, chosen)
        for root in what.roots:
            _clean_pages(keeper, root)
    os.unlink(keeper.home + PLAN)
    config.sync(keeper.home)
    return chosen


def _stones(known: Forgotten, what: What, chosen: Chosen, keeper: Keeper) -> Iterator[Any]:
    """What stays of it: hashes."""
    if what.text:
        yield known.stone("words", what.text)
    if what.is_masked:
        return
    if what.everything:
        yield known.stone("project", what.project, until=what.at)
    for session in chosen.sessions:
        yield known.stone("session", session, until=what.at)
    if not chosen.sessions and (what.since or what.until) and not what.file:
        kind, value = ("session", what.session) if what.session else ("project", what.project)
        yield known.stone(kind, value, since=what.since, until=what.until or min(EVER, what.at))
    for id in () if what.again else chosen.notes:
        note = keeper.writer.note(id)
        if note and (note.who or note.kind == "shared"):
            yield known.stone("line", origin(note))
    for event in () if what.again else chosen.events.values():
        if event.session not in chosen.sessions:
            yield known.stone("line", event.id.rpartition(":")[0])
            if len(event.text) >= LEAST:
                yield known.stone("text", event.text)


# --- archives ---------------------------------------------------------------------------------------------------------


def _rewrite_archives(keeper: Keeper, what: What, chosen: Chosen, known: Forgotten) -> dict[int, Moved | None]:
    """Write the archives that have it once more without it, each under another number."""
    members: dict[int, list[Member]] = {}
    for source, member in keeper.writer.members():
        members.setdefault(source.seq, []).append(member)
    sources = keeper.writer.sources()
    moved: dict[int, Moved | None] = {source.seq: None for source in sources if _goes(source, what, chosen)}
    stale: dict[int, list[tuple[bytes, bytes | None]]] = {}
    for source in sources:
        if source.seq in members and source.seq not in moved:
            lines = list(_left(keeper, source, members[source.seq], what, chosen, known))
            if any(new is not old for old, new in lines):
                stale[source.seq] = lines
    paths = {source.path for source in sources if source.seq in stale}
    following = max([0, *(source.seq for source in sources)])
    for source in sources:  # the newest number of a path is the one that is read on: all of a path stay in their order
        if source.path in paths and source.seq not in moved:
            following += 1
            own = members.get(source.seq, [])
            moved[source.seq] = _write_archive(keeper, source, own, stale.get(source.seq), following)
    return moved


def _goes(source: Source, what: What, chosen: Chosen) -> bool:
    return source.session in chosen.sessions or (what.everything and source.project == what.project)


def _left(
    keeper: Keeper, source: Source, members: Sequence[Member], what: What, chosen: Chosen, known: Forgotten
) -> Iterator[tuple[bytes, bytes | None]]:
    """The lines of an archive, each with what is left of it: itself, another line, or nothing."""
    mask = _mask_of(keeper, what, known)
    ids = {event.id for event in chosen.events.values()}
    at = 0.0
    for member in members:
        try:
            data = archive.read(keeper.home, source, member)
        except (OSError, ValueError):
            continue
        place = member.offset
        for line in data.split(b"\n")[:-1]:
            new: bytes | None = line
            if mask:
                new = mask_line(line, mask)
                new = line if new == line else new
            if not what.is_masked:
                read = read_line(line, source, place, at)
                events = read.events if read else []
                at = events[-1].at if events else at
                if any(event.id in ids or known.has(event) for event in events):
                    new = None
            yield line, new
            place += len(line) + 1


def _write_archive(
    keeper: Keeper,
    source: Source,
    members: Sequence[Member],
    lines: Sequence[tuple[bytes, bytes | None]] | None,
    seq: int,
) -> Moved:
    """An archive under another number, with the lines that are left, or all of them."""
    new = source._replace(seq=seq)
    if lines is None:
        with suppress(FileNotFoundError):
            shutil.copyfile(archive.archive_path(keeper.home, source), archive.archive_path(keeper.home, new))
        return Moved(seq, members, {})
    before, after, offsets = 0, 0, {}
    kept: list[bytes] = []
    for old, line in lines:
        if line is not None:
            offsets[before] = after
            kept.append(line)
            after += len(line) + 1
        before += len(old) + 1
    path = archive.archive_path(keeper.home, new)
    if os.path.lexists(path):
        os.unlink(path)  # of one who was killed here
    if not kept:
        return Moved(seq, (), {})
    member = archive.append(keeper.home, new, None, after, archive.compress(b"\n".join([*kept, b""])))
    config.sync(path)
    config.sync(os.path.dirname(path))
    return Moved(seq, (member,), offsets)


def _drop_archives(home: str, store: Store) -> None:
    """Delete the archives that no file of the store has any more; those of lost stores stay, and are cleaned apart."""
    known = {os.path.basename(archive.archive_path(home, source)) for source, _ in store.members()}
    folder = home + "/archive"
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name not in known and not name.endswith(".orphan.jsonl.gz"):
            os.unlink(f"{folder}/{name}")
    if os.path.isdir(folder):
        config.sync(folder)


# --- the rest of the home, and the pages ------------------------------------------------------------------------------


def _clean_home(keeper: Keeper, what: What, chosen: Chosen) -> None:
    home = keeper.home
    for name in () if what.again else sorted(os.listdir(home)):
        path = f"{home}/{name}"
        if name.startswith(("damaged-", backup.BEFORE)) and os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
    folder = home + "/archive"
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".orphan.jsonl.gz"):
            _clean_orphan(keeper, f"{folder}/{name}", what, chosen)
    remove_fetched(home)
    if what.text:
        _mask_files(home, what.text)
    if what.secrets:
        _mask_logs(home, _secrets_mask(keeper, what))
    if (backups := backup.known(home)) and not what.again:
        for path in backups:
            os.unlink(path)
        backup.take(keeper, locked=True)


def _clean_mirror(keeper: Keeper, change: Callable[[str, Json], Json | None], dry: bool = False) -> int:
    """Change the lines of the transcripts that a bot keeps, in which nothing was left out; how many. A file that cannot
    be read goes as it is."""
    path = keeper.home + MIRROR
    try:
        return open_mirror(path).rewrite(change, dry) if os.path.exists(path) else 0
    except Damaged:
        for name in () if dry else (path, f"{path}-wal", f"{path}-shm"):
            with suppress(FileNotFoundError):
                os.unlink(name)
        return 1


def _changing(keeper: Keeper, what: What, chosen: Chosen) -> Callable[[str, Json], Json | None]:
    """What is left of a line of a session."""
    known, ids = Forgotten(keeper.home, keeper.salt), {event.id for event in chosen.events.values()}
    mask = _mask_of(keeper, what, known)

    def change(session: str, line: Json) -> Json | None:
        if session in chosen.sessions:
            return None
        new: Json = mask_value(line, mask) if mask else line
        if what.is_masked:
            return new
        read = read_line(wire.dumps(line).encode("utf-8", "surrogatepass"), Source("", session, what.project), 0, 0.0)
        gone = read and any(event.id in ids or known.has(event) for event in read.events)
        return None if gone else new

    return change


def _clean_spools(keeper: Keeper, what: What, chosen: Chosen, known: Forgotten) -> None:
    """Write spools again without what goes. Whoever appends to one finds that it is another file, and opens that."""
    ids, echo = {event.id for event in chosen.events.values()}, _echo(chosen.events.values())
    mask = _mask_of(keeper, what, known)

    def clean(session: str, record: Json) -> Json | None:
        if mask:
            record = mask_value(record, mask)
        if what.is_masked:
            return record
        texts = {"text", "extra"} & record.keys()
        gone = known.has(Event("", spool.time_of(record), "", session, what.project, str(record.get("text") or "")))
        return None if texts and (gone or _says(wire.dumps(record, ascii=False), ids, chosen.notes, echo)) else record

    for session in spool.names(keeper.home):
        spool.rewrite(keeper.home, session, lambda record, session=session: clean(session, record))  # type: ignore[misc]


def _clean_orphan(keeper: Keeper, path: str, what: What, chosen: Chosen) -> None:
    """An archive that a lost store left, without what goes; one that cannot be read goes as it is."""
    session = os.path.basename(path).partition(".")[0]
    if session in chosen.sessions:
        os.unlink(path)
        return
    try:
        with gzip.open(path) as file:
            data = file.read()
    except (OSError, EOFError):
        os.unlink(path)
        return
    source, known = Source(path, session, what.project), Forgotten(keeper.home, keeper.salt)
    mask, kept, place = _mask_of(keeper, what, known), [], 0
    for line in data.split(b"\n")[:-1]:
        read = None if what.is_masked else read_line(line, source, place, 0.0)
        place += len(line) + 1
        if not (read and any(known.has(event) for event in read.events)):
            kept.append(mask_line(line, mask) if mask else line)
    new = b"\n".join([*kept, b""])
    if new != data:
        with open(path + ".new", "wb") as out:
            out.write(archive.compress(new))
        os.rename(path + ".new", path)


def _mask_files(folder: str, text: str) -> None:
    """Mask a text in every other file below a folder of ours."""
    forms = {text.encode(), wire.dumps(text)[1:-1].encode(), wire.dumps(text, ascii=False)[1:-1].encode()}
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            if path.endswith((*BINARY, ".spool")) or path == folder + PLAN or not os.path.isfile(path):
                continue
            if os.path.islink(path) or os.path.getsize(path) > 1 << 28:
                continue
            with open(path, "rb") as file:
                data = new = file.read()
            for form in forms:
                new = new.replace(form, MARK.encode())
            if new != data:
                with open(path, "r+b") as file:
                    file.write(new)
                    file.truncate()


def _mask_logs(home: str, mask: Callable[[str], str]) -> None:
    """Mask what a failure may have written down."""
    for name in LOGS:
        with (
            suppress(FileNotFoundError),
            open(f"{home}/{name}", "r+", encoding="utf-8", errors="surrogateescape") as file,
        ):
            text = mask(file.read())
            file.seek(0)
            file.write(text)
            file.truncate()


def _pages(keeper: Keeper, root: str) -> None:
    with suppress(KeeperError, OSError):
        if os.path.isdir(root):
            render(Pages(keeper, keeper.project(root), root))


def _clean_pages(keeper: Keeper, root: str) -> None:
    """Take away what was rendered or exported and may tell of it, and render it again."""
    if not os.path.isdir(f"{root}/.claude/memory"):
        return
    for path in removable(root):
        name = os.path.basename(path)
        note = keeper.store.handoff(name[8:].removesuffix(".md")) if name.startswith("HANDOFF-") else None
        os.unlink(path)
        if note:
            write_handoff(root, note)
    _pages(keeper, root)


def left_in(root: str, text: str) -> list[str]:
    """The files in the place of our pages that still have a text: they are the user's own."""
    found = []
    for above, _, names in os.walk(f"{root}/.claude/memory"):
        for name in names:
            with open(os.path.join(above, name), "rb") as file:
                if text.encode() in file.read():
                    found.append(os.path.join(above, name))
    return found


def forget_again(keeper: Keeper) -> None:
    """Take out of a store that was put back what has been forgotten since."""
    if keeper.forgotten:
        forget(keeper, What(again=True, at=time(), roots=keeper.store.roots()))
