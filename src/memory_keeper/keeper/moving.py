"""What is moved into the store to catch up: hooks' records in spools, and new lines of the transcripts they named.

Rows and offsets are kept in one transaction each. Killed anywhere, the next one goes on from there; catching up twice
is catching up once. All of it happens under the writer's lock, which the keeper holds.
"""

from __future__ import annotations

import posix
from time import monotonic, time

from memory_keeper import config, wire
from memory_keeper.capture.payload import is_name, safe_name
from memory_keeper.capture.tail import CHUNK, read_new
from memory_keeper.errors import KeeperError
from memory_keeper.keeper.provisional import unmoved
from memory_keeper.model import Event, NamedTuple, Placed, Source, Usage
from memory_keeper.store import archive, spool
from memory_keeper.store.context import RECORDS, read_context
from memory_keeper.store.home import about
from memory_keeper.text import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memory_keeper.capture.tail import Tail
    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Json
    from memory_keeper.store.store import Store

OLD_SPOOL, OPEN_SPOOL = 3600.0, 7 * 86400.0  # seconds after which the moved spool of an ended, an open session may go
TICK = 0.05  # seconds by which a file's time may lag behind ours
WATCHED = 16  # transcripts that are looked at again the next time
MOVED_OUT = b"<persisted-output>"  # what a transcript has in the place of a large output
BULK = 4 << 20  # bytes that are read at once where there is much to read and memory matters less than in a server


class Added(NamedTuple):
    """What catching up brought."""

    lines: int = 0
    events: int = 0
    known: int = 0
    finished: bool = True

    def __add__(self, other: Added) -> Added:  # type: ignore[override]
        return Added(
            self.lines + other.lines,
            self.events + other.events,
            self.known + other.known,
            self.finished and other.finished,
        )


class Moved(NamedTuple):
    """What was read of a spool, to be kept when the transcripts it names have been read."""

    source: Source
    events: list[Event]
    begin: int


class Stretch(NamedTuple):
    """What some lines of a transcript say."""

    lines: int  # that are not blank
    placed: list[Placed]
    usages: list[Usage]
    end: int  # of the transcript as kept
    at: float  # of the newest event


class _Apart:
    """Notes what goes wrong with one file: it must not keep out the others. The store's own trouble is everybody's."""

    def __init__(self, failed: dict[str, Exception], name: str) -> None:
        self.failed, self.name = failed, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, KeeperError):
            return False
        self.failed[self.name] = error
        return True


class Mover:
    """Moves what is new into a keeper's store, and remembers which files to look at next time."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self.watched: dict[str, Source] = {}  # the transcripts that spools named lately
        self._projects: dict[str, str] = {}  # what a directory's project is can change, but not within one session
        self._remembering: dict[str, tuple[str, str]] = {}  # folders of the host's memory to look at, and whose it is

    @property
    def store(self) -> Store:
        """Where to."""
        return self.keeper.writer

    def move(self, extra: Iterable[Source], deadline: float) -> Added:
        """Move everything new: spools, the transcripts they named lately, and those given."""
        added = Added()
        moved: list[Moved] = []
        failed: dict[str, Exception] = {}
        wanted = {**self.watched, **{source.path: source for source in extra}}
        for session in spool.names(self.keeper.home):
            with _Apart(failed, session):
                moved += self._read_spool(session, wanted)
        self.watched = dict([*wanted.items()][-WATCHED:])
        for source in wanted.values():
            with _Apart(failed, source.session):
                for transcript in with_agents(source):
                    if deadline and monotonic() > deadline:
                        added = added._replace(finished=False)
                        break
                    added += self.read(transcript, deadline)
        with _Apart(failed, ""):
            self._read_memory()
        if added.finished:  # else the spools still say where to go on
            for spooled in moved:
                if spooled.source.session not in failed:
                    self._keep_spool(spooled)
            self._drop_spools()
        if failed:
            raise next(iter(failed.values()))
        return added

    # --- spools ----------------------------------------------------------------------------------------------------

    def _read_spool(self, session: str, wanted: dict[str, Source]) -> list[Moved]:
        """The new records of a spool: the events among them, and the transcripts they name."""
        path = spool.path_of(self.keeper.home, session)
        source = self.store.source(path) or self.store.begin(Source(path, session, ""))
        found = []
        while tail := read_new(source):
            if tail.replaced:
                source = self.store.begin(source)
                continue
            events: list[Event] = []
            for record in spool.records(tail.data):
                events += self._read_record(record, session, wanted)
            source = tail.source
            found.append(Moved(source, events, tail.begin))
        return found

    def _read_record(self, record: Json, session: str, wanted: dict[str, Source]) -> Iterator[Event]:
        event, at, where = str(record.get("event")), spool.time_of(record), str(record.get("dir") or "")
        if where and where not in self._projects:
            self._projects[where] = self.keeper.project(where, change=True)
        project = self._projects.get(where, "")
        transcript = record.get("transcript")
        if transcript and isinstance(transcript, str):
            wanted[transcript] = Source(transcript, session, project)
            if event == "SessionStart":
                wanted |= {source.path: source for source in self._missed(transcript, project)}
            if event in ("SessionStart", "SessionEnd"):
                self._remembering[transcript] = project, where
        kind = RECORDS[event].kind if event in RECORDS else ""
        if kind:
            yield Event(
                id=mark_id(kind, session, record),
                at=at,
                kind=kind,
                session=session,
                project=project,
                text="",
                tool=str(record.get("source") or ""),
                extra=str(record.get("extra") or wire.dumps(record)),
            )

    def _missed(self, transcript: str, project: str) -> Iterator[Source]:
        """Transcripts of the project, beside this one, that no hook ever named, written since we began to keep: the
        hooks were off. Two projects may share a folder there, so each has to say itself where it was."""
        from memory_keeper.capture.claude_code import first_folder

        folder, since = transcript.rpartition("/")[0], self.store.began()
        for name in _listed(folder) if since else ():
            path, stem = f"{folder}/{name}", name.removesuffix(".jsonl")
            if stem == name or not is_name(stem) or stem.startswith("agent-") or self.store.source(path):
                continue
            if about(path).st_mtime > since - TICK and (tail := read_new(Source(path, stem, ""), 1 << 16)):
                where = first_folder(tail.data.split(b"\n"))
                if where and self.keeper.project(where, change=True) == project:
                    yield Source(path, stem, project)

    def _keep_spool(self, moved: Moved) -> None:
        project = next((event.project for event in moved.events if event.project), moved.source.project)
        forgotten = self.keeper.forgotten
        placed = [Placed(event, moved.begin) for event in moved.events if not (forgotten and forgotten.has(event))]
        self.store.record(moved.source._replace(project=project), placed, now=time())

    def _drop_spools(self) -> None:
        """Take away the spools of sessions that have been quiet for long and whose transcripts have everything."""
        home = self.keeper.home
        for session in spool.names(home):
            source = self.store.source(spool.path_of(home, session))
            now = about(spool.path_of(home, session))
            moved = source and source.offset == now.st_size
            age = time() - now.st_mtime
            if not moved or age < OLD_SPOOL or (age < OPEN_SPOOL and not read_context(home, session).ended):
                continue  # a session that goes on is asked at each hook what its context was told
            if not unmoved(home, session, self.store):
                spool.remove(home, session, now.st_size)

    # --- transcripts -----------------------------------------------------------------------------------------------

    def read(
        self,
        source: Source,
        deadline: float,
        once: bool = False,
        progress: Callable[[int], None] | None = None,
        opened: int | None = None,
    ) -> Added:
        """The new lines of one transcript; after `deadline` (monotonic), or `once`, no more than a stretch of them."""
        added = Added()
        known = self.store.source(source.path)
        known = (
            known if known and (not known.session or known.session == source.session) else None
        )  # whose it is by now
        # begun even when there is nothing to read yet: its lines may come after the last hook that tells of it
        source = known._replace(project=source.project or known.project) if known else self.store.begin(source)
        while tail := read_new(source, BULK if once else CHUNK, opened):
            if tail.replaced:
                source = self.store.begin(source)
                continue
            added += self._keep_stretch(tail)
            source = tail.source
            if progress:
                progress(len(tail.data))
            if tail.more and (once or (deadline and monotonic() > deadline)):
                return added._replace(finished=False)
        return added

    def _keep_stretch(self, tail: Tail) -> Added:
        """Redact, archive and keep one stretch of whole lines."""
        from threading import Thread

        from memory_keeper.capture.claude_code import first_moment
        from memory_keeper.capture.redact import redact_line

        source, salt, known = tail.source, self.keeper.salt, self.keeper.secrets_of(tail.source.project)
        lines = tail.data.split(b"\n")[:-1]
        if MOVED_OUT in tail.data:
            from memory_keeper.capture.large_outputs import with_outputs

            limit = config.load(self.keeper.home, "", self.keeper.environ)[0]["capture.outputs"] << 10
            lines = [with_outputs(line, source, limit) if limit and MOVED_OUT in line else line for line in lines]
        kept = [redact_line(line, salt, known) for line in lines]
        last = self.store.last_member(source)
        begin, at = last.offset + last.size if last else 0, source.at or first_moment(lines) or time()
        if forgotten := self.keeper.forgotten:
            kept = [*forgotten.leave(kept, source, begin, at)]
        packed: list[bytes] = []
        packer = Thread(target=lambda: packed.append(archive.compress(b"\n".join([*kept, b""]))))
        packer.start()  # zlib lets go of the interpreter: on a second core it costs nothing
        said = self._read_lines(kept, source, begin, at)
        packer.join()
        size = said.end - begin
        member = archive.append(self.keeper.home, source, last, size, packed[0]) if size else None
        new = self.store.record(source._replace(at=said.at), said.placed, said.usages, member, now=time())
        return Added(said.lines, new, len(said.placed) - new)

    def _read_lines(self, kept: list[bytes], source: Source, place: int, at: float) -> Stretch:
        """What redacted lines say, the first of which stands at this place; without what the host only says again."""
        from memory_keeper.capture.claude_code import read_line
        from memory_keeper.capture.repeated import REACH, find_behind, without_repeated

        count, behind = 0, find_behind(self.store.last_of(source, REACH))
        placed: list[Placed] = []
        usages: list[Usage] = []
        for line in kept:
            read = read_line(line, source, place, at)
            if read:
                read, behind = without_repeated(read, behind)
                count += 1
                placed += [Placed(event, place) for event in read.events]
                at = read.events[-1].at if read.events else at
                if read.usage:
                    usages.append(read.usage)
            place += len(line) + 1
        return Stretch(count, placed, usages, place, at)

    # --- the host's own memory -------------------------------------------------------------------------------------

    def _read_memory(self) -> None:
        """Keep what the host itself remembers, where a session began or ended and it has changed. It is the project's,
        not a session's, and its files are no transcripts: neither the rows nor the events name a session."""
        if not self._remembering:
            return
        from memory_keeper.capture.auto_memory import LARGEST, find_folders, read_changed

        remembering, self._remembering = self._remembering, {}
        for transcript, (project, where) in remembering.items():
            for folder in find_folders(transcript, config.find_root(where) if where else "", self.keeper.environ):
                for source, said, at in read_changed(folder, self.store.source):
                    text = self.keeper.redacted(said, project)[:LARGEST]
                    id = f"memory-{digest_of(source.path, text)}:0"
                    event = Event(id, min(at, time()), "memory", "", project, text, path=source.path)
                    source = source if source.seq else source._replace(seq=self.store.begin(source).seq)
                    self.store.record(source, [Placed(event, 0)], now=time())


def with_agents(source: Source) -> list[Source]:
    """A session's transcript and those of its subagents, which lie in a folder of its name."""
    folder = source.path.removesuffix(".jsonl") + "/subagents"
    names = [name for name in _listed(folder) if name.endswith(".jsonl")]
    if not names:
        return [source]
    agents = [
        source._replace(path=f"{folder}/{name}", agent=safe_name(name.removeprefix("agent-").removesuffix(".jsonl")))
        for name in names
    ]
    return [source, *agents]


def mark_id(kind: str, session: str, record: Json) -> str:
    """What a hook's record is called as an event: by the call that left it, which may tell several things."""
    told = f"-{record.get('source') if 'call' in record else record.get('agent')}" if kind == "told" else ""
    return f"{kind}-{session}-{spool.call_of(record)}{told.removesuffix('-None')}:0"


def _listed(folder: str) -> list[str]:
    try:
        return sorted(posix.listdir(folder))
    except OSError:
        return []
