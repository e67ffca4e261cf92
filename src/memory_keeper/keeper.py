"""The keeper: one home, its store, and the one writer that moves spools and transcripts into it.

Whoever holds the writer's lock looks: it reads what hooks left in the spools, then the new lines of the transcripts
they named, and keeps rows and offsets in one transaction each. Killed anywhere, the next look goes on from there;
looking twice is looking once.
"""

from __future__ import annotations

import posix
from time import monotonic, time

from memory_keeper import config, wire
from memory_keeper.errors import KeeperError
from memory_keeper.keep import archive, spool
from memory_keeper.keep.context import find_chain, read_context
from memory_keeper.keep.home import Lock, read_salt
from memory_keeper.keep.ready import forget_rules
from memory_keeper.keep.sqlite import SqliteStore
from memory_keeper.model import Brief, Event, Member, NamedTuple, Note, Placed, Source, Usage, origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memory_keeper.capture.project import Place
    from memory_keeper.capture.tail import Tail
    from memory_keeper.model import Json
    from memory_keeper.reduce.sentences import Sentence
    from memory_keeper.tell import Before, View

# the records of hooks that are events of their own; the others only say where to look
MARKS = {
    "SessionStart": "start",
    "SessionEnd": "end",
    "Told": "told",
    "Warned": "warned",
    "Window": "window",
    "AskClear": "ask",
    "Blocked": "blocked",
    "Scored": "scored",
    "Compacted": "scored",  # as it was called once
    "AskCompact": "ask-compact",
    "Replaced": "replaced",
}
OWN_COMMAND = "/memory-keeper:"
RANK = {"dir": 0, "root": 1, "remote": 2}
OLD_SPOOL, OPEN_SPOOL = 3600.0, 7 * 86400.0  # seconds after which the moved spool of an ended, an open session may go
PATIENCE = 120.0  # seconds for whoever makes the search index anew
TICK = 0.05  # seconds by which a file's time may lag behind ours
WATCHED = 16  # transcripts a keeper goes on looking at
RECENT = 8  # transcripts that are checked for lines nobody reported
BULK = 4 << 20  # bytes that are read at once where there is much to read and memory matters less than in a server
NOWHERE = -1  # the place of what no line of a transcript says
LINES = 50  # of a session in which its branch is looked for, the newest
DETACHED = "HEAD"  # what the host calls the branch when none is checked out
UNMOVED = 4 << 20  # bytes of a spool that are searched for what no transcript has yet


class Added(NamedTuple):
    """What a look brought."""

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


class Keeper:
    """Owns the store of one home; close it."""

    def __init__(self, home: str, environ: dict[str, str] | None = None) -> None:
        self.home = home
        self.environ = config.environment() if environ is None else environ
        self._reader: SqliteStore | None = None
        self._writer: SqliteStore | None = None
        self._inode = 0  # of the store that is open
        self._known: dict[tuple[object, ...], tuple[str, ...]] = {}
        self._projects: dict[str, str] = {}  # what a directory's project is can change, but not within one session
        self._found: dict[str, str] = {}  # the same, as it was found without writing it down
        self._salt = b""
        self.watched: dict[str, Source] = {}  # the transcripts that spools named lately
        self._remembering: dict[str, tuple[str, str]] = {}  # folders of the host's memory to look at, and whose it is

    def close(self) -> None:
        """Give the files back."""
        for store in (self._reader, self._writer):
            if store:
                store.close()
        self._reader = self._writer = None

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def store_path(self) -> str:
        """Where the store lies."""
        return self.home + "/store.db"

    @property
    def store(self) -> SqliteStore:
        """The store, to read; NotSetUp when nothing was ever kept."""
        if not self._reader:
            self._reader = SqliteStore(self.store_path, write=False)
        return self._reader

    @property
    def writer(self) -> SqliteStore:
        """The store, to write; only under the writer's lock."""
        if not self._writer:
            self._writer = SqliteStore(self.store_path, migrate=not config.hurried)
            self._inode = posix.stat(self.store_path).st_ino
        return self._writer

    @property
    def searchable(self) -> SqliteStore:
        """The store, to search: after an update the first who wants to waits until its index is made anew."""
        if not self.store.indexed:
            with Lock(self.home, PATIENCE):
                self.writer.newest_key()
            self.close()
        return self.store

    def forget_old_store(self) -> None:
        """Let go of a store that was put aside for a new one while we had it open."""
        if self._writer and _inode(self.store_path) != self._inode:
            self.close()

    # --- looking ---------------------------------------------------------------------------------------------------

    def look(self, extra: Iterable[Source] = (), patience: float = 5.0, deadline: float = 0.0) -> Added:
        """Move everything new into the store: spools, the transcripts they named lately, and those given.

        Waits up to `patience` seconds for the lock; after `deadline` (monotonic) it stops between two stretches.
        """
        with Lock(self.home, patience):
            self.forget_old_store()
            added = Added()
            moved: list[tuple[Source, list[Event], Tail]] = []
            wanted = {**self.watched, **{source.path: source for source in extra}}
            failed: dict[str, Exception] = {}
            for session in spool.names(self.home):
                try:
                    moved += self._read_spool(session, wanted)
                except KeeperError:
                    raise
                except Exception as error:  # noqa: BLE001
                    failed[session] = error  # nor may one spool
            self.watched = dict([*wanted.items()][-WATCHED:])
            for source in wanted.values():
                try:
                    for one in with_agents(source):
                        added += self._read_transcript(one, deadline)
                except KeeperError:
                    raise  # the store's own trouble is everybody's
                except Exception as error:  # noqa: BLE001
                    failed[source.session] = error  # one transcript that cannot be read must not keep out the others
            try:
                self._read_memory()
            except KeeperError:
                raise
            except Exception as error:  # noqa: BLE001
                failed[""] = error  # nor may what the host remembers
            if added.finished:  # else the spools still say where to go on
                for source, events, tail in moved:
                    if source.session not in failed:
                        self._keep_spool(source, events, tail)
                self._drop_spools()
            if failed:
                raise next(iter(failed.values()))
            return added

    def read(self, source: Source, deadline: float = 0.0, progress: Callable[[int], None] | None = None) -> Added:
        """Read one transcript to its end, giving the lock away between two stretches."""
        total = Added()
        while True:
            with Lock(self.home, 60.0):
                added = self._read_transcript(source, deadline, once=True, progress=progress)
            total += added._replace(finished=True)
            if added.finished:
                return total

    def _read_spool(self, session: str, wanted: dict[str, Source]) -> list[tuple[Source, list[Event], Tail]]:
        """The new records of a spool: the events among them, and the transcripts they name."""
        from memory_keeper.capture.tail import read_new

        path = f"{self.home}/spool/{session}.spool"
        source = self.writer.source(path) or self.writer.begin(Source(path, session, ""))
        found = []
        while tail := read_new(source):
            if tail.replaced:
                source = self.writer.begin(source)
                continue
            events: list[Event] = []
            for record in spool.records(tail.data):
                events += self._read_record(record, session, wanted)
            source = tail.source
            found.append((source, events, tail))
        return found

    def _read_record(self, record: Json, session: str, wanted: dict[str, Source]) -> Iterator[Event]:
        event, at, where = str(record.get("event")), _number(record.get("at")), str(record.get("dir") or "")
        if where and where not in self._projects:
            self._projects[where] = self.project(where, change=True)
        project = self._projects.get(where, "")
        transcript = record.get("transcript")
        if transcript and isinstance(transcript, str):
            wanted[transcript] = Source(transcript, session, project)
            if event == "SessionStart":
                wanted |= {source.path: source for source in self._missed(transcript, project)}
            if event in ("SessionStart", "SessionEnd"):
                self._remembering[transcript] = project, where
        kind = MARKS.get(event)
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
        from memory_keeper.capture.payload import is_name
        from memory_keeper.capture.tail import read_new

        folder, since = transcript.rpartition("/")[0], self.writer.began()
        for name in _listed(folder) if since else ():
            path, stem = f"{folder}/{name}", name.removesuffix(".jsonl")
            if stem == name or not is_name(stem) or stem.startswith("agent-") or self.writer.source(path):
                continue
            if _changed(path) > since - TICK and (tail := read_new(Source(path, stem, ""), 1 << 16)):
                where = first_folder(tail.data.split(b"\n"))
                if where and self.project(where, change=True) == project:
                    yield Source(path, stem, project)

    def _read_memory(self) -> None:
        """Keep what the host itself remembers, where a session began or ended and it has changed. It is the project's,
        not a session's, and its files are no transcripts: neither the rows nor the events name a session."""
        if not self._remembering:
            return
        from memory_keeper.capture.auto_memory import LARGEST, find_folders, read_changed

        remembering, self._remembering = self._remembering, {}
        for transcript, (project, where) in remembering.items():
            for folder in find_folders(transcript, config.find_root(where) if where else "", self.environ):
                for source, said, at in read_changed(folder, self.writer.source):
                    text = self.redacted(said, project)[:LARGEST]
                    id = f"memory-{digest_of(source.path, text)}:0"
                    event = Event(id, min(at, time()), "memory", "", project, text, path=source.path)
                    source = source if source.seq else source._replace(seq=self.writer.begin(source).seq)
                    self.writer.record(source, [Placed(event, 0)], now=time())

    def redacted(self, text: str, project: str) -> str:
        """A text of a project as it may be kept; only under the writer's lock."""
        from memory_keeper.capture.redact import redact
        from memory_keeper.text import storable

        return redact(storable(text), self.salt, self._secrets(Source("", "", project)))

    def write(self, note: Note, patience: float = 5.0) -> bool:
        """Keep a note that covers nothing, without its secrets; False when it was there."""
        with Lock(self.home, patience):
            self.forget_old_store()
            if self.writer.note(note.id):
                return False
            self.writer.add(note._replace(text=self.redacted(note.text, note.project)))
        if note.kind == "rule":
            forget_rules(self.home)
        return True

    def reword(
        self,
        note: Note,
        text: str,
        about: Json | None = None,
        *,
        now: float = 0.0,
        who: str = "user",
        patience: float = 5.0,
    ) -> Note:
        """Give a note another wording, in force from now on; without a text it is taken away, and stays in the store.

        What is said `about` it is said beside what was."""
        from memory_keeper.reduce.note import measure

        now = now or time()
        extra = wire.dumps({**wire.read_object(note.extra), "by": who or "rule", "written": now, **(about or {})})
        id = f"{note.kind}-{digest_of(origin(note), note.id, text, repr(now))}"
        said = note._replace(id=id, text=text, tokens=measure(text), extra=extra, replaces=origin(note), who=who)
        self.write(said, patience)
        return self.writer.note(id) or said

    def mark(
        self, kind: str, note: Note, *, session: str = "", text: str = "", at: float = 0.0, patience: float = 5.0
    ) -> bool:
        """Keep what became of a note: once in a session; by hand, once in a moment. False when that was kept."""
        at, first = at or time(), origin(note)
        id = f"{kind}-{digest_of(first, session or repr(at))}:0"
        with Lock(self.home, patience):
            self.forget_old_store()
            said = self.redacted(text, note.project)
            return self.writer.mark(Event(id, at, kind, session, note.project, said, ref=first))

    def _keep_spool(self, source: Source, events: list[Event], tail: Tail) -> None:
        project = next((event.project for event in events if event.project), source.project)
        placed = [Placed(event, tail.begin) for event in events]
        self.writer.record(source._replace(project=project), placed, now=time())

    def _drop_spools(self) -> None:
        """Take away the spools of sessions that have been quiet for long and whose transcripts have everything."""
        for session in spool.names(self.home):
            source = self.writer.source(f"{self.home}/spool/{session}.spool")
            try:
                about = posix.stat(f"{self.home}/spool/{session}.spool")
            except OSError:
                continue
            moved = source and source.offset == about.st_size
            age = time() - about.st_mtime
            if not moved or age < OLD_SPOOL or (age < OPEN_SPOOL and not read_context(self.home, session).ended):
                continue  # a session that goes on is asked at each hook what its context was told
            if not self._unmoved(session, self.writer):
                spool.remove(self.home, session, about.st_size)

    def _read_transcript(
        self, source: Source, deadline: float, once: bool = False, progress: Callable[[int], None] | None = None
    ) -> Added:
        from memory_keeper.capture.tail import CHUNK, read_new

        added = Added()
        known = self.writer.source(source.path)
        # begun even when there is nothing to read yet: its lines may come after the last hook that tells of it
        source = known._replace(project=source.project or known.project) if known else self.writer.begin(source)
        while tail := read_new(source, BULK if once else CHUNK):
            if tail.replaced:
                source = self.writer.begin(source)
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

        from memory_keeper.capture.claude_code import first_moment, read_line
        from memory_keeper.capture.redact import redact_line
        from memory_keeper.capture.repeated import REACH, find_behind, without_repeated

        source, salt, known = tail.source, self.salt, self._secrets(tail.source)
        lines = tail.data.split(b"\n")[:-1]
        kept = [redact_line(line, salt, known) for line in lines]
        packed: list[bytes] = []
        packer = Thread(target=lambda: packed.append(archive.compress(b"\n".join([*kept, b""]))))
        packer.start()  # zlib lets go of the interpreter: on a second core it costs nothing
        last = self.writer.last_member(source)
        placed: list[Placed] = []
        usages: list[Usage] = []
        place, at = last.offset + last.size if last else 0, source.at or first_moment(lines) or time()
        count, begin, behind = 0, place, find_behind(self.writer.last_of(source, REACH))
        for redacted in kept:
            read = read_line(redacted, source, place, at)
            if read:
                read, behind = without_repeated(read, behind)
                count += 1
                placed += [Placed(event, place) for event in read.events]
                at = read.events[-1].at if read.events else at
                if read.usage:
                    usages.append(read.usage)
            place += len(redacted) + 1
        packer.join()
        member = self._archive(source, last, place - begin, packed[0])
        new = self.writer.record(source._replace(at=at), placed, usages, member, now=time())
        return Added(count, new, len(placed) - new)

    def _archive(self, source: Source, last: Member | None, size: int, packed: bytes) -> Member:
        return archive.append(self.home, source, last, size, packed)

    def _secrets(self, source: Source) -> tuple[str, ...]:
        """Values that are secret because the environment or the project's .env says so."""
        from memory_keeper.capture.redact import known_values

        roots = self.writer.roots(source.project)
        now = (source.project, *[_changed(root + name) for root in roots for name in config.DOTENV])
        if now not in self._known:  # a key may be put there while a session runs
            files = [text for root in roots for text in config.read_dotenv(root)]
            self._known = {now: known_values(self.environ, files)}
        return self._known[now]

    @property
    def salt(self) -> bytes:
        """Keys the marks that redaction leaves, so that they cannot be guessed from outside."""
        if not self._salt:
            self._salt = read_salt(self.home)
        return self._salt

    # --- projects --------------------------------------------------------------------------------------------------

    def project(self, directory: str, change: bool = False) -> str:
        """The project a directory belongs to; `change` also writes down what was found."""
        if change:
            return self._name_project(directory)
        if directory not in self._found:
            self._found[directory] = self._find_project(directory)
        return self._found[directory]

    def _find_project(self, directory: str) -> str:
        from memory_keeper.capture.project import find_place, holds

        root = config.find_root(directory)
        known = self.store.project("dir:" + root)
        return known if known and holds(root, known) else _choose(find_place(directory), self.store)

    def _name_project(self, directory: str) -> str:
        from memory_keeper.capture.project import find_place

        place = find_place(directory)
        project = _choose(place, self.writer)
        keys = (*place.keys, *self._first_commit(project, place.root))
        if any(self.writer.project(key) != project for key in keys):
            self.writer.name_project(keys, project)
            self._found.clear()
        return project

    def _first_commit(self, project: str, root: str) -> tuple[str, ...]:
        """The key by which a project is known again when its remote has another name; once, if nobody has it."""
        if not project.startswith("remote:") or self.writer.first_commits(project):
            return ()
        from memory_keeper.capture.project import first_commit

        key = first_commit(root)
        return (key,) if key and not self.writer.project(key) else ()

    def root_of(self, project: str) -> str:
        """The folder that a project was last worked on in; empty when it is not known."""
        for session in self.store.sessions(project, RECENT):
            if folder := read_context(self.home, session.id).folder:
                return config.find_root(folder)
        return ""

    # --- telling ---------------------------------------------------------------------------------------------------

    def view(
        self,
        session: str,
        source: str,
        *,
        project: str = "",
        of: str = "",
        before: Before | None = None,
        notes: int = config.DEFAULTS["tell.notesBudget"],
        where: str | None = None,
    ) -> View:
        """What a brief may know, for a session that begins or goes on: all that happened in a project, or `of` one
        session and those it took over from. `before` says more of the session it goes on from; `notes` are the tokens
        that standing notes may take. `where` says what the session is on, when that is known better than by its
        lines."""
        from memory_keeper.tell import View

        of = of or (session if source == "compact" else "")
        chain = find_chain(self.home, of) if of else ()
        project = (self.store.project_of(of) or project) if of else project
        handed = self.handed(of)
        if where is None:
            where = _said(**self._where(of, "")) if of and not handed else ""
        return View(
            self.store,
            project,
            session,
            source,
            tuple(self.provisional(project)),
            chain,
            notes,
            handed,
            where=where,
            family=self.family(of or session, project),
            before=before,
        )

    def brief(self, name: str, view: View, budget: int, room: int = 0) -> Brief:
        """What a model is told of a view: within so many tokens, and characters where fewer are left than a hook may
        say."""
        from memory_keeper.tell import CHARACTERS, compose

        return compose(name, view, budget, posix.urandom(4).hex(), room or CHARACTERS)

    def archive_by_hand(self, session: str) -> None:
        """Keep that a session, as it is now, was put into the context archive; once, however often it is done."""
        with Lock(self.home, 5.0):
            self.forget_old_store()
            store = self.writer
            path = store.transcript(session) or f"{self.home}/spool/{session}.spool"
            source, newest = store.source(path), store.newest(session)
            if source:
                id, at = f"archived-{digest_of(session, newest)}:0", store.last_moment(session) or time()
                note = store.handoff(session)
                event = Event(id, at, "archived", session, store.project_of(session), "", ref=note.id if note else "")
                store.record(source, [Placed(event, NOWHERE)], now=time())

    def handed(self, session: str) -> tuple[Sentence, ...]:
        """What was found when the handoff of a session was kept; nothing when more has happened since."""
        note = self.store.handoff(session) if session else None
        if not note or note.id != self.handoff_id(session):
            return ()
        from memory_keeper.tell.lines import load

        return tuple(load(note))

    def save(self, session: str, budget: int, now: float = 0.0, folder: str = "", patience: float = 5.0) -> Note | None:
        """A session's handoff, kept as a note; the one there is when nothing happened since. None: nothing to say.

        The caller has looked before. `folder` is where the session runs, when it still does; `patience` are the seconds
        that it may wait for the lock.
        """
        id = self.handoff_id(session)
        known = self.store.note(id) if id else None
        if known or not id:
            return known
        from memory_keeper.tell import UNLIMITED, handoff
        from memory_keeper.tell.lines import dump

        where = self._where(session, folder)
        view = self.view(session, "", of=session, where=_said(**where))
        lines = handoff.find(view)
        brief = handoff.compose(view._replace(handed=tuple(lines)), budget, "", "", characters=UNLIMITED)
        if not brief.text:
            return None
        extra = wire.dumps({"cites": list(brief.cites), "lines": dump(lines), **where})
        note = Note(id, now or time(), "handoff", 0, view.project, brief.text, session, brief.tokens, extra)
        with Lock(self.home, patience):
            self.forget_old_store()
            self.writer.add(note)
        return note

    def handoff_id(self, session: str) -> str:
        """The id of a handoff that knows all that has happened; empty when nothing has."""
        newest, unmoved = self.store.newest(session), self._unmoved(session, self.store)
        return "handoff-" + digest_of(session, newest, *[event.id for event in unmoved]) if newest or unmoved else ""

    def family(self, session: str, project: str) -> str:
        """Whose tokens the budgets of a session count: its model's, else that of the project's last session."""
        from memory_keeper.text import family

        sessions = [session, *(one.session for one in self.store.recent_sources(project, 1, agents=False))]
        used = (self.store.last_usage(one) for one in sessions if one)
        return family(next((usage.model for usage in used if usage), ""))

    def _where(self, session: str, folder: str) -> dict[str, str]:
        """The branch and the commit that a session is on; of one that is over, those that its end noted, else the
        branch that its last lines name: another may be checked out by now."""
        from memory_keeper.capture.project import head

        context = read_context(self.home, session)
        if context.ended and any(context.place):
            return {"branch": context.place[0], "commit": context.place[1]}
        branch, commit = head(config.find_root(folder)) if folder else ("", "")
        if branch and not context.ended and context.born:
            return {"branch": branch, "commit": commit}  # it runs: the host's lines may lag behind
        recorded = self._recorded_branch(session)
        if not recorded or recorded == (branch or DETACHED):
            return {"branch": branch, "commit": commit}
        return {"branch": recorded if recorded != DETACHED else "", "commit": ""}

    def _recorded_branch(self, session: str) -> str:
        """The branch that the host wrote into the last line of a session that names one; empty when none does."""
        known: tuple[Member | None, bytes] = None, b""
        try:
            for event in reversed(self.store.stretch((session,), LINES)):
                found = self.store.line(event.id) if not event.agent else None
                if found:
                    source, member, offset = found
                    known = known if known[0] == member else (member, archive.read(self.home, source, member))
                    line = known[1][offset : known[1].index(b"\n", offset)]
                    branch = wire.read_object(line.decode("utf-8", "replace")).get("gitBranch")
                    if branch and isinstance(branch, str) and branch.isprintable():
                        return branch
        except (OSError, ValueError):
            pass  # an archive that is damaged, or gone
        return ""

    def last_answer(self, session: str) -> Event | None:
        """What the model said last to a prompt of a session: not to a command of ours."""
        missing = [event for event in self._unmoved(session, self.store) if event.kind == "reply"]
        asked = self.store.latest(self.store.project_of(session), "prompt", 1, (session,))
        found = self.store.outcome(asked[0].id) if asked else None
        return next(iter(missing), found[0] if found else None)

    def provisional(self, project: str) -> list[Event]:
        """What hooks were told and no transcript has yet, newest first: the end of a session that was killed."""
        found = []
        for session in spool.names(self.home):
            if self.store.project_of(session) == project:
                found += self._unmoved(session, self.store)
        return sorted(found, key=lambda event: event.at, reverse=True)

    def event(self, id: str) -> Event | None:
        """An event of the store, or one that is still only in a spool."""
        session = id.removeprefix("spool-").rpartition("-")[0]
        if id.startswith("spool-") and session in spool.names(self.home):
            found = self._unmoved(session, self.store)
            return next((event for event in found if event.id in (id, f"{id}:0")), None)
        return self.store.event(id)

    def raw_line(self, id: str) -> bytes:
        """An event's line, out of the archive; empty when it came from a hook. ValueError: the archive is damaged."""
        found = self.store.line(id)
        if not found:
            return b""
        source, member, offset = found
        data = archive.read(self.home, source, member)
        return data[offset : data.index(b"\n", offset)]

    def _unmoved(self, session: str, store: SqliteStore) -> list[Event]:
        """The last prompt and answer in a spool, unless the transcript has gone past them."""
        from memory_keeper.capture.tail import open_regular

        fd = open_regular(f"{self.home}/spool/{session}.spool")
        if fd is None:
            return []
        try:
            data = posix.pread(fd, UNMOVED, max(0, posix.fstat(fd).st_size - UNMOVED))
        finally:
            posix.close(fd)
        found = []
        seen = store.last_moment(session)
        for event, kind in (("UserPromptSubmit", "prompt"), ("Stop", "reply")):
            record = spool.last(data, event) or {}
            text, at = str(record.get("text") or ""), _number(record.get("at"))
            if text.startswith(OWN_COMMAND):
                return []  # what came before it is in the transcript, and what came of it is not worth telling
            if text and at > seen and not store.said(session, text):
                found.append(Event(f"spool-{session}-{int(at * 1000)}:0", at, kind, session, "", text))
        return sorted(found, key=lambda event: event.at, reverse=True)

    def behind(self, project: str, session: str = "") -> list[Source] | None:
        """The project's transcripts that have grown since they were read; None when nothing has to be moved.

        What the session that asks has just put in its own spool does not count.
        """
        grown = [source for source in self.store.recent_sources(project, RECENT) if _size(source.path) > source.offset]
        waiting = [name for name in spool.names(self.home) if name != session and self._waits(name)]
        return grown if grown or waiting else None

    def _waits(self, session: str) -> bool:
        path = f"{self.home}/spool/{session}.spool"
        source = self.store.source(path)
        return _size(path) != (source.offset if source else 0)


def _choose(place: Place, store: SqliteStore) -> str:
    """The project of a place: by its best key, else as this directory was known when it had only a lesser one."""
    best = place.keys[0]
    known = store.project(best)
    if known:
        return known
    before = store.project(place.keys[-1])
    from memory_keeper.capture.project import has_commit, holds

    lesser = before and RANK[before.partition(":")[0]] < RANK[best.partition(":")[0]]
    if lesser and holds(place.root, before):
        return before
    renamed = before.startswith("remote:") and best.startswith("remote:")
    if renamed and any(has_commit(place.root, commit) for commit in store.first_commits(before)):
        return before
    return best


def with_agents(source: Source) -> list[Source]:
    """A session's transcript and those of its subagents, which lie in a folder of its name."""
    folder = source.path.removesuffix(".jsonl") + "/subagents"
    try:
        names = sorted(name for name in posix.listdir(folder) if name.endswith(".jsonl"))
    except OSError:
        return [source]
    from memory_keeper.capture.payload import safe_name

    agents = [
        source._replace(path=f"{folder}/{name}", agent=safe_name(name.removeprefix("agent-").removesuffix(".jsonl")))
        for name in names
    ]
    return [source, *agents]


def _said(branch: str, commit: str) -> str:
    """A line about where a session is."""
    return f"On branch {branch}{f' at {commit[:9]}' if commit else ''}" if branch else ""


def mark_id(kind: str, session: str, record: Json) -> str:
    """What a hook's record is called as an event: by its time; what was told to a subagent, by that one as well."""
    agent = f"-{record['agent']}" if kind == "told" and record.get("agent") else ""
    return f"{kind}-{session}-{int(_number(record.get('at')) * 1000)}{agent}:0"


def digest_of(*parts: str) -> str:
    try:
        from _blake2 import blake2s  # `hashlib` would load OpenSSL as well: 2.5 ms of every start
    except ImportError:
        from hashlib import blake2s

    return blake2s("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _number(value: object) -> float:
    return value if isinstance(value, float) and 0 <= value < 1e11 else 0.0


def _listed(folder: str) -> list[str]:
    try:
        return sorted(posix.listdir(folder))
    except OSError:
        return []


def _changed(path: str) -> float:
    try:
        return posix.stat(path).st_mtime
    except OSError:
        return 0.0


def _inode(path: str) -> int:
    try:
        return posix.stat(path).st_ino
    except OSError:
        return 0


def _size(path: str) -> int:
    try:
        return posix.stat(path).st_size
    except OSError:
        return 0
