"""The keeper: one home, its store, and the one writer that moves spools and transcripts into it.

Everybody who keeps or asks anything comes through `Keeper`. Reading waits for nobody; writing happens under the
writer's lock, which every method that writes takes for itself. `moving` is what the writer does, `provisional` what
hooks know before it, `handoffs` what it keeps of a session for the next, and `rules` what it keeps for a user;
`by_hand` holds what was written by hand against the journal.
"""

from __future__ import annotations

import posix
from time import monotonic, time

from memory_keeper import config, wire
from memory_keeper.briefs import CHARACTERS, View, compose
from memory_keeper.capture.project import YOURS, choose, claimed, find_place, first_commit, has_commit, holds
from memory_keeper.extract.facts import facts_of
from memory_keeper.keeper.provisional import PREFIX, find_all, find_one, unmoved
from memory_keeper.model import APART, Event, Note, Placed, Source, origin
from memory_keeper.notes.kept_note import measure
from memory_keeper.settings import DEFAULTS
from memory_keeper.store import archive, open_store, spool
from memory_keeper.store.context import find_chain, read_context
from memory_keeper.store.events import newest_id, outcome
from memory_keeper.store.home import Lock, about, read_salt
from memory_keeper.store.rules_cache import forget_rules
from memory_keeper.text import digest_of, family, storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memory_keeper.briefs import Before, View
    from memory_keeper.capture.forgotten import Forgotten
    from memory_keeper.capture.project import Place
    from memory_keeper.extract.facts import Fact
    from memory_keeper.keeper.moving import Added, Mover
    from memory_keeper.model import Json
    from memory_keeper.request import Brief
    from memory_keeper.store.store import Store

PATIENCE = 120.0  # seconds for whoever makes the search index anew
LITTLE = 500  # kilobytes of the store at hand where hooks are answered: a server stays, and seldom needs the same again
RECENT = 8  # transcripts that are checked for lines nobody reported
NOWHERE = -1  # the place of what no line of a transcript says


class Keeper:
    """Owns the store of one home; close it."""

    def __init__(self, home: str, environ: dict[str, str] | None = None) -> None:
        self.home = home
        self.cache = LITTLE if config.hurried else 0
        self.environ = config.environment() if environ is None else environ
        self._reader: Store | None = None
        self._writer: Store | None = None
        self._inode = 0  # of the store that is open
        self._known: dict[tuple[object, ...], tuple[str, ...]] = {}  # values that are secret
        self._found: dict[str, str] = {}  # the projects of directories, as they were found without writing them down
        self._salt = b""
        self._forgotten: tuple[int, Forgotten | None] = (0, None)
        self._moves: Mover | None = None
        self.went_on = False  # what another process had begun to keep is kept
        self.until = 0.0  # (monotonic) when it waits for nobody any more; 0: it waits as long as it is told to

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
    def store(self) -> Store:
        """The store, to read; NotSetUp when nothing was ever kept."""
        if not self._reader:
            self._reader = open_store(self.store_path, write=False, cache=self.cache)
        return self._reader

    @property
    def writer(self) -> Store:
        """The store, to write; only under the writer's lock."""
        if not self._writer:
            left = about(self.home + "/archive").st_ino or about(self.home + "/journal").st_size
            vanished = bool(left) and not about(self.store_path).st_size
            self._writer = open_store(self.store_path, migrate=not config.hurried, cache=self.cache)
            self._inode = posix.stat(self.store_path).st_ino
            if vanished or not (config.hurried or self._writer.journal.is_there):
                from memory_keeper.keeper.by_hand import begin

                begin(self, vanished)
        return self._writer

    @property
    def searchable(self) -> Store:
        """The store, to search: after an update the first who wants to waits until its index is made anew."""
        if not self.store.indexed:
            with Lock(self.home, PATIENCE):
                self.writer.newest_key()  # any question: whoever opens it to write makes the index
            self.close()
        return self.store

    def patience(self, seconds: float) -> float:
        """How long one may wait for others who would wait so long: all waits together end at `until`."""
        return max(0.0, min(seconds, self.until - monotonic())) if self.until else seconds

    def writing(self, patience: float = 5.0) -> _Writing:
        """The writer's lock, to hold while writing; Busy when another has it for longer than so many seconds."""
        return _Writing(self, patience)

    # --- catching up -----------------------------------------------------------------------------------------------

    def catch_up(self, extra: Iterable[Source] = (), patience: float = 5.0, deadline: float = 0.0) -> Added:
        """Move everything new into the store: spools, the transcripts they named lately, and those given.

        Waits up to `patience` seconds for the lock; after `deadline` (monotonic) it stops between two stretches.
        """
        with self.writing(patience):
            return self._mover.move(extra, deadline)

    def read(self, source: Source, deadline: float = 0.0, progress: Callable[[int], None] | None = None) -> Added:
        """Read one transcript to its end, giving the lock away between two stretches."""
        from memory_keeper.capture.tail import open_regular
        from memory_keeper.keeper.moving import Added

        total = Added()
        opened = open_regular(source.path)  # a compressed one is unpacked once, however long it is
        try:
            while True:
                with self.writing(60.0):
                    added = self._mover.read(source, deadline, once=True, progress=progress, opened=opened)
                total += added._replace(finished=True)
                if added.finished:
                    return total
        finally:
            if opened is not None:
                posix.close(opened)

    @property
    def _mover(self) -> Mover:
        if not self._moves:
            from memory_keeper.keeper.moving import Mover

            self._moves = Mover(self)
        return self._moves

    def behind(self, project: str, session: str = "") -> list[Source] | None:
        """The project's transcripts that have grown since they were read; None when nothing has to be moved.

        What the session that asks has just put in its own spool does not count.
        """
        sources = self.store.recent_sources(project, RECENT)
        grown = [source for source in sources if about(source.path).st_size > source.offset]
        waiting = [name for name in spool.names(self.home) if name != session and self._waits(name)]
        return grown if grown or waiting else None

    def _waits(self, session: str) -> bool:
        path = spool.path_of(self.home, session)
        source = self.store.source(path)
        return about(path).st_size != (source.offset if source else 0)

    # --- writing ---------------------------------------------------------------------------------------------------

    @property
    def salt(self) -> bytes:
        """Keys the marks that redaction leaves, so that they cannot be guessed from outside."""
        if not self._salt:
            self._salt = read_salt(self.home)
        return self._salt

    def secrets_of(self, project: str) -> tuple[str, ...]:
        """Values that are secret because the environment or the project's .env says so; only under the lock."""
        from memory_keeper.capture.redact import known_values

        roots = self.writer.roots(project.removeprefix(APART))
        now = (project, *[about(root + name).st_mtime for root in roots for name in config.DOTENV])
        if now not in self._known:  # a key may be put there while a session runs
            files = [text for root in roots for text in config.read_dotenv(root)]
            mine = config.own_environ(self.environ, "")
            theirs = "\n".join(f"{name}={value}" for name, value in self.environ.items() if name not in mine)
            self._known = {now: known_values(mine, [*files, theirs])}
        return self._known[now]

    def redacted(self, text: str, project: str) -> str:
        """A text of a project as it may be kept; only under the lock."""
        from memory_keeper.capture.redact import redact

        text = redact(storable(text), self.salt, self.secrets_of(project))
        return self.forgotten.mask(text) if self.forgotten else text

    @property
    def forgotten(self) -> Forgotten | None:
        """What was forgotten on request and is not to come back; None where nothing was."""
        now = about(self.home + "/forgotten")
        if not now.st_size:
            return None
        if self._forgotten[0] != now.st_size:
            from memory_keeper.capture.forgotten import Forgotten

            self._forgotten = now.st_size, Forgotten(self.home, self.salt)
        return self._forgotten[1]

    def write(self, note: Note, patience: float = 5.0) -> bool:
        """Keep a note that covers nothing, without its secrets; False when it was there."""
        with self.writing(patience):
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
        with self.writing(patience):
            said = self.redacted(text, note.project)
            return self.writer.mark(Event(id, at, kind, session, note.project, said, ref=first))

    def archive_by_hand(self, session: str) -> None:
        """Keep that a session, as it is now, was put into the context archive; once, however often it is done."""
        with self.writing(5.0):
            store = self.writer
            path = store.transcript(session) or spool.path_of(self.home, session)
            source, newest = store.source(path), newest_id(store, session)
            if source:
                id, at = f"archived-{digest_of(session, newest)}:0", store.last_moment(session) or time()
                note = store.handoff(session)
                event = Event(id, at, "archived", session, store.project_of(session), "", ref=note.id if note else "")
                store.record(source, [Placed(event, NOWHERE)], now=time())

    # --- projects --------------------------------------------------------------------------------------------------

    def project(self, directory: str, change: bool = False) -> str:
        """The project a directory belongs to; `change` also writes down what was found."""
        if change:
            return self._name_project(directory)
        if directory not in self._found:
            self._found[directory] = self._find_project(directory)
        return self._found[directory]

    def _find_project(self, directory: str) -> str:
        root = config.find_root(directory)
        known = self.store.project("dir:" + root)
        return known if known and holds(root, known, self.store) else choose(find_place(directory), self.store)

    def _name_project(self, directory: str) -> str:
        place = find_place(directory)
        project = choose(place, self.writer)
        told = place.keys[1:] if claimed(place, project, self.writer) else place.keys
        keys = (*told, *self._first_commit(project, place))
        if any(self.writer.project(key) != project for key in keys):
            self.writer.name_project(keys, project)
            self._found.clear()
        return project

    def _first_commit(self, project: str, place: Place) -> tuple[str, ...]:
        """The key by which a project is known again when its remote has another name, if nobody has it; one for each
        history that its folders have: a shallow clone begins later."""
        known = self.writer.first_commits(project)
        if not place.keys[0].startswith("remote:") or any(has_commit(place.root, commit) for commit in known):
            return ()
        key = first_commit(place.root)
        return (key,) if key and not self.writer.project(key) else ()

    def join(self, directory: str) -> str:
        """Have a folder be of the project that it says it is of, as its user says so too; empty where that is no
        other than it is."""
        with self.writing(5.0):
            place = find_place(directory)
            project = claimed(place, choose(place, self.writer), self.writer)
            if project:
                keys = YOURS + place.root, "dir:" + place.root
                self.writer.journal.keep({"alias": [key, project]} for key in keys)
                self.writer.name_project(keys, project)
                self._found.clear()
        return project

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
        notes: int = DEFAULTS["tell.notesBudget"],
        where: str | None = None,
    ) -> View:
        """What a brief may know, for a session that begins or goes on: all that happened in a project, or `of` one
        session and those it took over from. `before` says more of the session it goes on from; `notes` are the tokens
        that standing notes may take. `where` says what the session is on, when that is known better than by its
        lines."""
        of = of or (session if source == "compact" else "")
        chain = find_chain(self.home, of) if of else ()
        project = (self.store.project_of(of) or project) if of else project
        handed = self.handed(of)
        if where is None:
            where = self._where(of) if of and not handed else ""
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
        return compose(name, view, budget, posix.urandom(4).hex(), room or CHARACTERS)

    def handed(self, session: str) -> tuple[Fact, ...]:
        """What was found when the handoff of a session was kept; nothing when more has happened since."""
        note = self.store.handoff(session) if session else None
        if not note or note.id != self.handoff_id(session):
            return ()
        return tuple(facts_of(note))

    def save(self, session: str, budget: int, now: float = 0.0, folder: str = "", patience: float = 5.0) -> Note | None:
        """A session's handoff, kept as a note; the one there is when nothing happened since. None: nothing to say.

        The caller has caught up before. `folder` is where the session runs, when it still does; `patience` are the
        seconds that it may wait for the lock.
        """
        id = self.handoff_id(session)
        known = self.store.note(id) if id else None
        if known or not id:
            return known
        from memory_keeper.keeper.handoffs import make_handoff

        note = make_handoff(self, id, session, budget, now, folder)
        if note:
            with self.writing(patience):
                self.writer.add(note)
        return note

    def handoff_id(self, session: str) -> str:
        """The id of a handoff that knows all that has happened; empty when nothing has."""
        newest, rest = newest_id(self.store, session), unmoved(self.home, session, self.store)
        return "handoff-" + digest_of(session, newest, *[event.id for event in rest]) if newest or rest else ""

    def family(self, session: str, project: str) -> str:
        """Whose tokens the budgets of a session count: its model's, else that of the project's last session."""
        sessions = [session, *(source.session for source in self.store.recent_sources(project, 1, agents=False))]
        used = (self.store.last_usage(session) for session in sessions if session)
        return family(next((usage.model for usage in used if usage), ""))

    def _where(self, session: str) -> str:
        from memory_keeper.keeper.handoffs import find_where, say_where

        return say_where(**find_where(self, session, ""))

    # --- asking ----------------------------------------------------------------------------------------------------

    def last_answer(self, session: str) -> Event | None:
        """What the model said last to a prompt of a session: not to a command of ours."""
        missing = [event for event in unmoved(self.home, session, self.store) if event.kind == "reply"]
        asked = self.store.latest(self.store.project_of(session), "prompt", 1, (session,))
        found = outcome(self.store, asked[0].id) if asked else None
        return next(iter(missing), found[0] if found else None)

    def provisional(self, project: str) -> list[Event]:
        """What hooks were told and no transcript has yet, newest first: the end of a session that was killed."""
        return find_all(self.home, project, self.store)

    def event(self, id: str) -> Event | None:
        """An event of the store, or one that is still only in a spool."""
        return find_one(self.home, id, self.store) if id.startswith(PREFIX) else self.store.event(id)

    def raw_lines(self, ids: Iterable[str]) -> Iterator[bytes]:
        """The transcript's own lines of some events, out of the archive, each once; none for what came from a hook.
        ValueError: the archive is damaged."""
        return archive.lines(self.home, map(self.store.line, ids))


class _Writing(Lock):
    """The writer's lock; a store that was put aside for a new one, while we had it open, is let go."""

    def __init__(self, keeper: Keeper, patience: float) -> None:
        super().__init__(keeper.home, keeper.patience(patience))
        self.keeper = keeper

    def __enter__(self) -> None:
        super().__enter__()
        keeper = self.keeper
        if keeper._writer and about(keeper.store_path).st_ino != keeper._inode:
            keeper.close()
        if not (config.hurried or keeper.went_on) and about(self.home + "/journal").st_size:
            from memory_keeper.keeper.by_hand import go_on

            keeper.went_on = True
            try:
                go_on(keeper)
            except BaseException:
                self.__exit__()
                raise
