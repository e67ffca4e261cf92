"""The thread of a process that answers hooks: it moves what is new into the store, and the host waits for nothing."""

from __future__ import annotations

import posix
from threading import Condition, Lock, Thread
from time import monotonic, sleep, time

from memory_keeper.capture.tail import LAG
from memory_keeper.errors import Busy, Outdated
from memory_keeper.hooks.actions import follow
from memory_keeper.hooks.detached import start_catch_up
from memory_keeper.hooks.problems import complain, describe
from memory_keeper.jobs.due import note_may_be_due, upkeep_is_due
from memory_keeper.keeper import Keeper
from memory_keeper.model import Json

PAUSE = 30.0  # seconds between two processes that write notes of a session
HOUR = 3600.0  # and between two checks of what falls due by the calendar
PATIENCE, ALARMING = 30.0, 10  # seconds for who writes, and how often in a row until the user hears of it
UPKEEP = "upkeep"  # in the place of a session


class CatchUp:
    """The thread that moves what is new into the store, while the host waits for nothing."""

    def __init__(self, home: str, linger: float = 0.0) -> None:
        self.home = home
        self.linger = linger  # seconds without anything to do after which the thread ends; 0: it stays
        self.thread: Thread | None = None
        self.wanted = Condition()
        self.answering = Lock()  # held while a hook is answered
        self.due = 0
        self.after: list[tuple[str, str]] = []
        self.sessions: set[str] = set()  # that something happened in
        self.writing = 0  # the process that writes notes
        self.tried: dict[str, float] = {}  # when one was last started for a session
        self.problem = ""

    def poke(self, home: str, what: str = "", session: str = "") -> None:
        """Something happened: catch up, and once more a moment later; then what is to follow."""
        with self.wanted:
            self.due = 2
            self.sessions.add(session)
            if what:
                self.after.append((what, session))
            self.wanted.notify()
            if not self.thread:
                self.thread = Thread(target=self._run, daemon=not self.linger)
                self.thread.start()

    def wait(self) -> None:
        """Until there is nothing more to do, of a thread that ends."""
        if thread := self.thread:
            thread.join()

    def news(self) -> Json | None:
        """What the user should hear of a failure, once."""
        problem, self.problem = self.problem, ""
        if not problem:
            return None
        return {"systemMessage": f"Memory Keeper could not keep the last lines ({problem}). Try: memory-keeper doctor"}

    def _run(self) -> None:
        reported, waited = False, 0
        with Keeper(self.home) as keeper:
            while True:
                with self.wanted:
                    if not self.wanted.wait_for(lambda: self.due, self.linger or None):
                        self.thread = None
                        return
                    self.due -= 1
                    again = self.due
                    after, self.after = ([], self.after) if again else (self.after, [])
                    sessions = {*self.sessions}
                    self.sessions = {*sessions} if again else set()
                with self.answering:
                    pass  # who asked for this is being answered: that comes first
                try:
                    keeper.catch_up(patience=PATIENCE)
                    for what, session in after:
                        follow(keeper, what, session)
                    self._write_notes(keeper, sessions)
                    waited = 0
                except Outdated:
                    self._renew()
                except Busy as error:  # whoever writes keeps what is there, and what comes later is kept here
                    waited = (waited + 1) % ALARMING
                    if waited:
                        self._put_back(after, sessions)
                    else:
                        complain(self.home, "catch_up", error)
                        self.problem = describe(error)
                except Exception as error:
                    complain(self.home, "catch_up", error)
                    keeper.close()
                    self.problem, reported = ("" if reported else describe(error)), True
                if again:
                    sleep(LAG)

    def _put_back(self, after: list[tuple[str, str]], sessions: set[str]) -> None:
        """What could not be done is still to be done."""
        with self.wanted:
            self.due = max(self.due, 1)
            self.after = after + self.after
            self.sessions |= sessions

    def _renew(self) -> None:
        """Have the store of an earlier version brought up to date, in a process that outlives this session."""
        if monotonic() - self.tried.get("", -PAUSE) >= PAUSE:
            self.tried[""] = monotonic()
            start_catch_up(self.home)

    def _write_notes(self, keeper: Keeper, sessions: set[str]) -> None:
        """Have the notes that are due written, in a process of its own: here a hook may be waiting."""
        if self.writing and posix.waitpid(self.writing, posix.WNOHANG)[0] == 0:
            return
        self.writing, now = 0, monotonic()
        for session in sessions:
            if now - self.tried.get(session, -PAUSE) >= PAUSE and note_may_be_due(keeper, session, time()):
                self.tried[session] = now
                self.writing = self.writing or start_catch_up(self.home)
        if not self.writing and now - self.tried.get(UPKEEP, -HOUR) >= HOUR:
            self.tried[UPKEEP] = now
            self._keep_up(keeper, sessions)

    def _keep_up(self, keeper: Keeper, sessions: set[str]) -> None:
        """Have done what falls due by the calendar, in such a process too."""
        if upkeep_is_due(keeper, sessions, time()):
            self.writing = start_catch_up(self.home)
