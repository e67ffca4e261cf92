"""Observations found by rule: in what the user says, in commands that fail here again and again, and in those that are
run before every commit.

What tools printed is quoted in an observation and stays one, whatever happens to it, until the user makes it a rule.
Everything has an id that comes of what it was found in, so finding it twice is finding it once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from memory_keeper import wire
from memory_keeper.capture.calls import command_of
from memory_keeper.capture.runs import runs
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule
from memory_keeper.model import APART, USER, Event, Json, Note, origin
from memory_keeper.notes.kept_note import measure
from memory_keeper.notes.tasks.done import done, patterns
from memory_keeper.pages.claude_md import sync_where_wanted
from memory_keeper.project_settings import Settings
from memory_keeper.rules.habits import habits, is_commit, last_commit, wording
from memory_keeper.rules.observations import clashes, is_automatic, observed_here, places, says_the_same
from memory_keeper.rules.prompts import heard, prompts_of, said
from memory_keeper.search.how import Slip, slips, slips_with, word_of
from memory_keeper.text import digest_of

TWICE = 2  # sessions in which a command has to fail the same way
PATIENCE = 30.0  # seconds for the writer's lock: nobody waits for an observation


def learn(
    keeper: Keeper,
    project: str,
    now: float,
    everything: bool = False,
    segment: Sequence[Event] = (),
    progress: Callable[[int], None] = lambda prompts: None,
    settings: Json | None = None,
) -> list[Note]:
    """Keep what is new: of a segment of a session, else of what no note covers yet, or of `everything` in a project.

    `settings` are those of the project, for who has read them.
    """
    if project.startswith(APART):
        return []  # anybody may have written that
    settings = settings or Settings(keeper).of(project)
    prompts = heard(segment) if segment else prompts_of(keeper.store, project, everything)
    made = [*_keep_said(keeper, project, prompts, progress)]
    for find in (_keep_slips, _keep_habits):
        made += find(keeper, project, segment, everything)
    _decide(keeper, project, settings, now)
    return made


# --- what the user said -----------------------------------------------------------------------------------------------


def _keep_said(
    keeper: Keeper, project: str, prompts: Iterable[Event], progress: Callable[[int], None]
) -> Iterator[Note]:
    known: set[str] | None = None
    for prompt in prompts:
        progress(1)
        for note in said(prompt, project):
            if known is None:
                known = {origin(note) for note in keeper.store.notes(project, 0, "observation")}
            if note.id not in known:
                _confirm(keeper, note)  # first: whoever comes after a crash knows the note
                if keeper.write(note, PATIENCE):
                    yield note


def _confirm(keeper: Keeper, confirmed: Note) -> None:
    """What is said in a project confirms what the user observed for all of them."""
    for note in keeper.store.notes(USER, 0, "observation"):
        if note.text and says_the_same(confirmed, note):
            keeper.mark("confirmed", note, session=confirmed.session, at=confirmed.at, patience=PATIENCE)


# --- what fails again and again ---------------------------------------------------------------------------------------


def _keep_slips(keeper: Keeper, project: str, segment: Sequence[Event], everything: bool) -> Iterator[Note]:
    new = [] if everything else slips(runs(segment))
    if not new and not everything:
        return
    found: dict[tuple[str, str], dict[str, Slip]] = {}
    for slip in (*slips_with(keeper.store, project, map(word_of, new) if new else [""]), *new):
        sessions = found.setdefault((slip.failed, slip.worked), {})
        sessions.setdefault(slip.session, slip)
    wanted = {(slip.failed, slip.worked) for slip in new} or found.keys()
    for key in wanted:
        if len(found[key]) >= TWICE:
            yield from _keep_slip(keeper, project, [*found[key].values()])


def _keep_slip(keeper: Keeper, project: str, seen: Sequence[Slip]) -> Iterator[Note]:
    """One observation of what happened in several sessions, each of which confirms it."""
    first = min(seen, key=lambda slip: slip.at)
    text = f"`{_plain(first.failed)}` fails here ({_plain(first.error)}); `{_plain(first.worked)}` works"
    id = "note-" + digest_of(project, "slip", first.failed, first.worked)
    yield from _keep_found(keeper, project, id, text, "rule", [(slip.session, slip.at) for slip in seen])


def _keep_found(
    keeper: Keeper, project: str, id: str, text: str, by: str, sessions: Sequence[tuple[str, float]]
) -> Iterator[Note]:
    """One observation of what happened in several sessions, each of which confirms it."""
    first = min(at for _, at in sessions)
    extra = wire.dumps({"by": by, "written": first})
    note = Note(id, first, "observation", 0, project, text, "", measure(text), extra)
    if keeper.write(note, PATIENCE):
        yield note
    for session, at in sessions:
        keeper.mark("confirmed", note, session=session, at=at, patience=PATIENCE)


def _keep_habits(keeper: Keeper, project: str, segment: Sequence[Event], everything: bool) -> Iterator[Note]:
    """What is run before nearly every commit, looked for when the newest one is in a segment."""
    made = any(is_commit(command_of(event)) for event in segment if event.kind == "call")
    if everything or (made and last_commit(keeper.store, project) in {event.id for event in segment}):
        for habit in habits(keeper.store, project):
            id = "note-" + digest_of(project, "habit", habit.command)
            yield from _keep_found(keeper, project, id, wording(habit), "seen", habit.sessions)


def keep_patterns(keeper: Keeper, project: str, now: float) -> Iterator[Note]:
    """Observations of what recurs in the tasks that were done."""
    for text in patterns(done(keeper.store, project)):
        id, extra = "note-" + digest_of(project, "pattern", text), wire.dumps({"by": "rule", "written": now})
        note = Note(id, now, "observation", 0, project, text, "", measure(text), extra)
        if keeper.write(note, PATIENCE):
            yield note


def _plain(text: str) -> str:
    """Others' words, so that they cannot end the quotation they stand in."""
    return text.replace("`", "'")


# --- what follows -----------------------------------------------------------------------------------------------------


def _decide(keeper: Keeper, project: str, settings: Json, now: float) -> None:
    """Retire the rules that came of themselves and that the user has contradicted; and where the user wants that, make
    rules of what the user said often enough."""
    store, promotes = keeper.store, settings["observations.promote"] == "said"
    if not promotes and not any(
        is_automatic(rule) for place in places(project) for rule in store.notes(place, 0, "rule")
    ):
        return
    found = observed_here(store, project, settings, now)
    gone = [clash for clash in clashes(store, project, found) if is_automatic(clash.rule)]
    for clash in gone:
        keeper.reword(clash.rule, "", {"by": "rule", "instead": clash.said.id}, now=now, patience=PATIENCE)
    come = [
        observation for observation in found if promotes and observation.state == "proposed" and observation.is_users
    ]
    for observation in come:
        add_rule(keeper, observation.project, observation.text, source=observation.id, automatic=True)
    if (gone or come) and (root := keeper.root_of(project)):
        sync_where_wanted(keeper, root)
