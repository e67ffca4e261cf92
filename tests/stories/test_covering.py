"""Whatever happens in whatever order, and whoever is killed: every event and every note is told of once, or open."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from threading import Barrier, Thread

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memory_keeper.jobs.summarize import distil, outline_project
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.settings import DEFAULTS
from memory_keeper.text import NEWEST, family, tokens
from tests import transcripts, tree
from tests.dying import Dying
from tests.transcripts import MODEL, dump
from tests.workplace import LATER, Worked, Workplace

PROJECTS = ("app", "other")
SESSIONS = 6
WORDS = st.sampled_from(
    (
        "Build part1.py.",
        "We decided to keep tokens in memory instead of a file because of load.",
        "Never retry a 4xx. Use next_delay() instead.",
        "항상 테스트를 먼저 돌려 주세요.",
        "Why does it fail with ValueError: no delay 17?",
        "",
    )
)
WHICH = st.integers(0, SESSIONS - 1)
LATENESS = st.sampled_from((0.0, 0.0, LATER))
SMALL = {**DEFAULTS, "reduce.memoryTokens": 200, "reduce.carryOverTokens": 60, "reduce.outlineTokens": 200}


class Covering(RuleBasedStateMachine):
    """Sessions in two projects, and everybody who may write notes about them."""

    dying: Dying

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.place = Workplace(self.folder, saveInterval=2, saveTokens=500, memoryTokens=2000, carryOverTokens=300)
        self.answers: list[tuple[Worked, bytes]] = []  # of calls that still run

    @initialize()
    def begin(self) -> None:
        self.place.session("app")
        self.place.session("other")
        self.place.catch_up()

    def teardown(self) -> None:
        with self.place.store() as store:
            wrong = [*tree.problems(store, grounded=True), *store.problems()]
        shutil.rmtree(self.folder)
        assert not wrong

    def session(self, which: int) -> Worked:
        return self.place.sessions[which % len(self.place.sessions)]

    # --- what happens ---------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.place.sessions) < SESSIONS)
    @rule(project=st.sampled_from(PROJECTS))
    def start(self, project: str) -> None:
        self.place.session(project)

    @rule(which=WHICH, asked=WORDS, said=WORDS, calls=st.integers(0, 5))
    def turn(self, which: int, asked: str, said: str, calls: int) -> None:
        self.session(which).turn(asked, said, *[f"make part{number}" for number in range(calls)])

    @rule(which=WHICH, seed=st.integers(1, 3))
    def busy(self, which: int, seed: int) -> None:
        """A few ordinary turns, with everything that they may hold."""
        session = self.session(which)
        for _ in range(seed):
            transcripts.turn(session.transcript)
        session.write()

    @rule(which=WHICH)
    def call(self, which: int) -> None:
        """A call whose answer comes later, or never."""
        session = self.session(which)
        answer = session.transcript.call("Bash", {"command": "sleep 9"}, "slept")[-1]
        session.transcript.lines.remove(answer)
        session.write()
        self.answers.append((session, dump(answer)))

    @precondition(lambda self: self.answers)
    @rule(number=st.integers(0, 9))
    def answer(self, number: int) -> None:
        session, line = self.answers.pop(number % len(self.answers))
        with session.path.open("ab") as file:
            file.write(line)
        session.mark("PostToolUse")

    @rule(which=WHICH, name=st.sampled_from(("a1", "a2")), said=WORDS)
    def agent(self, which: int, name: str, said: str) -> None:
        self.session(which).agent(name, said)

    @rule(which=WHICH)
    def compact(self, which: int) -> None:
        self.session(which).compact()

    @precondition(lambda self: len(self.place.sessions) < SESSIONS)
    @rule(which=WHICH)
    def fork(self, which: int) -> None:
        self.session(which).fork()

    @rule(which=WHICH)
    def end(self, which: int) -> None:
        self.session(which).end()

    @rule(which=WHICH, source=st.sampled_from(("resume", "clear")))
    def resume(self, which: int, source: str) -> None:
        self.session(which).mark("SessionStart", source=source)

    @rule(seconds=st.sampled_from((600.0, LATER)))
    def wait(self, seconds: float) -> None:
        self.place.now += seconds

    # --- what is made of it ---------------------------------------------------------------------------------------

    @rule()
    def catch_up(self) -> None:
        self.place.catch_up()

    @rule(later=LATENESS, force=st.booleans(), project=st.sampled_from((None, *PROJECTS)))
    def distil(self, later: float, force: bool, project: str | None) -> None:
        """Twice is once."""
        key = self.place.project(project) if project else None
        with self.place.keeper() as keeper:
            keeper.catch_up()
            distil(keeper, self.place.now + later, key, force)
            assert distil(keeper, self.place.now + later, key, force) == []
            if force:
                assert keeper.store.open_sessions(key) == []

    @rule(project=st.sampled_from(PROJECTS))
    def rotate(self, project: str) -> None:
        with self.place.keeper() as keeper:
            key = self.place.project(project)
            list(outline_project(keeper, key, SMALL))
            assert list(outline_project(keeper, key, SMALL)) == []
            for level in (1, 2):
                open = keeper.store.notes(key, level, open=True)
                assert len(open) <= 1 or sum(note.tokens for note in open) <= 200

    @rule(later=LATENESS, forces=st.tuples(st.booleans(), st.booleans()))
    def at_once(self, later: float, forces: tuple[bool, bool]) -> None:
        """Two who know nothing of each other, one of whom looks as well."""
        together = Barrier(2)
        failed: list[BaseException] = []

        def work(force: bool) -> None:
            try:
                with self.place.keeper() as keeper:
                    together.wait(30)
                    if force:
                        keeper.catch_up(patience=30.0)
                    distil(keeper, self.place.now + later, force=force)
            except BaseException as error:  # noqa: BLE001  (told below, in the thread that can fail the test)
                failed.append(error)

        self.place.catch_up()
        threads = [Thread(target=work, args=(force,)) for force in forces]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, failed

    @rule(later=LATENESS, after=st.integers(1, 250), force=st.booleans())
    def killed(self, later: float, after: int, force: bool) -> None:
        self.dying.run(self.place.home, self.place.now + later, after, force)

    # --- who words it better --------------------------------------------------------------------------------------

    @rule(number=st.integers(0, 50), who=st.sampled_from(("user", "")), said=WORDS, times=st.sampled_from((1, 1, 60)))
    def reword(self, number: int, who: str, said: str, times: int) -> None:
        with self.place.keeper() as keeper:
            notes = [note for name in PROJECTS for note in keeper.store.notes(self.place.project(name))]
            if not notes:
                return
            first = keeper.store.wordings(notes[number % len(notes)].id)[0]
            before = keeper.store.wording(first.id)
            text = "\n".join([said] * times)
            better = _wording(keeper, first, text, who)
            keeper.writer.add(better)
            wrong = better._replace(id=better.id + "x", replaces=better.id)
            elsewhere = better._replace(id=better.id + "y", project="dir:/elsewhere")
            assert [keeper.writer.add(one) for one in (wrong, elsewhere)] == [0, 0]
            assert keeper.store.note(wrong.id) is keeper.store.note(elsewhere.id) is None
            stays = bool(before and before.who == "user" and not who)
            assert keeper.store.wording(first.id) == (before if stays else better)

    @rule(name=st.sampled_from(("start", "handoff")), which=WHICH, budget=st.integers(0, 800))
    def tell(self, name: str, which: int, budget: int) -> None:
        session = self.session(which)
        with self.place.keeper() as keeper:
            of = session.id if name == "handoff" else ""
            view = keeper.view("new", "startup", project=self.place.project(session.project), of=of)
            brief = keeper.brief(name, view, budget)
        assert brief.tokens <= budget
        assert tokens(brief.text, family(MODEL) if name == "handoff" else NEWEST) <= budget, "as its model counts"

    # --- what must hold -------------------------------------------------------------------------------------------

    @invariant()
    def every_event_and_every_note_is_told_of_once_or_open(self) -> None:
        with self.place.store() as store:
            assert not tree.problems(store)


def _wording(keeper: Keeper, first: Note, text: str, who: str) -> Note:
    number = len(keeper.store.wordings(first.id))
    extra = '{"by":"user"}' if who else '{"by":"openai"}'
    return first._replace(
        id=f"{first.id}-{number}", text=text, tokens=measure(text), who=who, replaces=first.id, extra=extra
    )


def test_every_event_is_covered_once_or_open() -> None:
    with Dying() as dying:
        Covering.dying = dying
        run_state_machine_as_test(Covering, settings=settings(max_examples=10, stateful_step_count=25))
