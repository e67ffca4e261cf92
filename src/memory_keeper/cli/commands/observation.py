"""`observation`: what may be worth a rule, who says so, how often it was confirmed, and what became of it."""

from __future__ import annotations

from argparse import Namespace
from time import time
from typing import Any

from memory_keeper.cli.arguments import DRY_RUN, ID, USERS, YES, Verb, argument
from memory_keeper.cli.output import REDACTED, Entry, checked, confirm, print_entries, respond, the_one
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.cli.work import PATIENCE, changed, remove, write_down
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.host.consent import by_a_person, in_a_session, outside_a_session
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import USER, Note, origin
from memory_keeper.project_settings import Settings
from memory_keeper.provenance import EDITED, IMPORT, KEEPER
from memory_keeper.rules.habits import habits, wording
from memory_keeper.rules.observations import Clash, Observed, clashes, fold, places
from memory_keeper.rules.prompts import unlearnt
from memory_keeper.terminal import as_called, format_time, paint, say
from memory_keeper.text import clean, one_line

# the states, and what each means
STATES = {
    "proposed": "confirmed often enough to be a rule: that is for you to decide",
    "open": "seen, and not often enough yet",
    "rule": "a rule came of it",
    "superseded": "you have said something else since",
    "contradicted": "found to be wrong",
    "archived": "not confirmed for long",
}
SHOWN = ("proposed", "open")  # of those, what is listed unasked
BY = {
    "user": "by you",
    "said": "you said so",
    "model": "by a model",
    "rule": "found in what failed",
    "seen": "seen before {} commits",
    IMPORT: "imported",
    EDITED: "edited in its file",
    KEEPER: "found",
}
EXAMPLE = 'memory-keeper observation add "The integration tests need the VPN."'
LONGEST = 2_000  # characters
NONE = (
    "No observations. They are found by themselves in what you tell a session to do always or never, in what fails"
    " again and again, and in what is run before every commit; `memory-keeper observation add TEXT` writes one down."
)
SHORTEST = len("note-1234")  # what calls an observation


# --- reading ----------------------------------------------------------------------------------------------------------


def _known(args: Namespace, keeper: Keeper, unwritten: bool = False) -> list[Observed]:
    """The observations of this project and of all projects, as they stand in this one; also those that are told
    already, and will be written with the next note."""
    try:
        project = project_of(keeper, args)
        notes = [note for place in places(project) for note in keeper.store.notes(place, 0, "observation")]
        new = unlearnt(keeper.store, project) if unwritten else ()
        known = {origin(note): note for note in (*new, *notes)}
        return fold(keeper.store, project, known.values(), Settings(keeper).of(project), time())
    except NotSetUp:
        return []  # nothing was ever kept: there are none


def _list(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        known = _known(args, keeper, unwritten=True)
        wanted = (args.state,) if args.state else tuple(STATES) if args.all else SHOWN
        shown = sorted(
            (observation for observation in known if observation.state in wanted),
            key=lambda observation: wanted.index(observation.state),
        )
        clashing = clashes(keeper.store, project_of(keeper, args), known) if known else []
        entries = [] if args.json else [_entry(keeper, observation) for observation in shown]
    hidden = len(known) - len(shown)
    others = f"None of these; {hidden} other{'s' * (hidden > 1)}: memory-keeper observation list --all"

    def show() -> None:
        print_entries(entries, others if hidden else NONE)
        if any(observation.state == "proposed" for observation in shown):
            say(as_called("`memory-keeper observation promote ID` makes one a rule."))
        for clash in clashing:
            _print_clash(clash)

    against = {clash.said.id: origin(clash.rule) for clash in clashing}  # the rules that were contradicted
    return respond(args, [_as_json(observation, against.get(observation.id, "")) for observation in shown], show)


def _show(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        observation = _find(args, keeper)
        entry = _entry(keeper, observation)
    return respond(args, _as_json(observation), lambda: print_entries([entry]))


def _as_json(observation: Observed, against: str = "") -> dict[str, Any]:
    """An observation, and the rule that it contradicts, for programs."""
    return {**{name: value for name, value in observation._asdict().items() if name != "wish"}, "against": against}


def _by(keeper: Keeper, observation: Observed) -> str:
    """Whose an observation is; of what was seen, how often as of now."""
    if observation.by != "seen":
        return BY[observation.by]
    seen = {
        wording(habit): f"{habit.seen} of {habit.commits}"
        for habit in habits(keeper.store, observation.project, share=0.0)
    }
    return BY["seen"].format(seen.get(observation.text, "few"))


def _entry(keeper: Keeper, observation: Observed) -> Entry:
    where = ", in all projects" if observation.project == USER else ""
    about = (
        f"{observation.state} since {format_time(observation.since)}, {_by(keeper, observation)}, {_often(observation)}"
    )
    about += where + (f", now {observation.instead}" if observation.instead else "")
    return Entry(observation.id, observation.text, about, style="yellow" if observation.state == "proposed" else "dim")


def _often(observation: Observed) -> str:
    times = {0: "not confirmed", 1: "confirmed once", 2: "confirmed twice"}
    return times.get(observation.confirmations, f"confirmed {observation.confirmations} times")


def _print_clash(clash: Clash) -> None:
    rule = origin(clash.rule)
    say(f"The rule {paint(rule, 'cyan')} says: {one_line(clean(clash.rule.text), 160)}", rest="    ")
    say(f"but you said since: {one_line(clean(clash.said.text), 160)}", "    ", "    ")
    say(as_called(f"`memory-keeper rule rm {rule}` takes it out of force."), "    ", "    ")


def _find(args: Namespace, keeper: Keeper) -> Observed:
    """An observation by the id of one of its notes, or the beginning of it."""
    begins = "note-" + args.id.strip().removeprefix("note-")
    if len(begins) < SHORTEST:
        raise KeeperError("Which one?", hint="the beginning of an id is enough, from four letters on")
    found = [
        observation for observation in _known(args, keeper) if any(id.startswith(begins) for id in observation.notes)
    ]
    if not found and any(
        id.startswith(begins) for observation in _known(args, keeper, unwritten=True) for id in observation.notes
    ):
        raise KeeperError(f"{begins} was said just now, and is not written yet", hint="`memory-keeper save` writes it")
    observation: Observed = the_one(found, "observation", args.id, HINT)
    return observation


# --- changing ---------------------------------------------------------------------------------------------------------


def _add(args: Namespace) -> int:
    """Keep an observation: the user's, or where a session's model may have written it, a model's."""
    text = checked(" ".join(args.text), "An observation", LONGEST, EXAMPLE)
    with Keeper(args.home) as keeper:
        with keeper.writing(PATIENCE):
            project = (
                USER if args.user and not in_a_session(args.home) else keeper.project(folder_of(args), change=True)
            )
            kept = keeper.redacted(text, project)
            known = [note for note in keeper.writer.notes(project, 0, "observation") if note.text == kept]
            note = known[0] if known else write_down(keeper, "observation", project, kept)
        words = f"{'Known' if known else 'Kept'}: {origin(note)}" + REDACTED * (kept != text)
        return changed(args, keeper, words, id=origin(note), text=note.text, added=not known)


def _confirm(args: Namespace) -> int:
    """Seen to be right once more: in a session, or by hand."""
    outside_a_session(args.home, "say that an observation is right")
    with Keeper(args.home) as keeper:
        return _mark(args, keeper, "confirmed", session_of(keeper, args.session) if args.session else "")


def _contradict(args: Namespace) -> int:
    """Seen to be wrong: it counts anew from here."""
    outside_a_session(args.home, "say that an observation is wrong")
    with Keeper(args.home) as keeper:
        return _mark(args, keeper, "contradicted", "")


def _mark(args: Namespace, keeper: Keeper, kind: str, session: str) -> int:
    observation = _find(args, keeper)
    keeper.mark(kind, _note(keeper, observation), session=session)
    after = next((known for known in _known(args, keeper) if known.id == observation.id), observation)
    new = (after.state, after.confirmations) != (observation.state, observation.confirmations)
    words = f"{observation.id} is {after.state}, {_often(after)}"
    words = words if new else f"Nothing new, a {'session' if session else 'day'} counts once: {words}"
    return changed(
        args, keeper, words, id=observation.id, state=after.state, confirmations=after.confirmations, new=new
    )


def _promote(args: Namespace) -> int:
    """Make a rule of an observation, as the user decides."""
    with Keeper(args.home) as keeper:
        observation = _find(args, keeper)
        if observation.state == "rule":
            raise KeeperError(
                f"A rule came of it already: {observation.instead}", hint="`memory-keeper rule list` shows it"
            )
        if observation.state == "superseded" and not args.wording:
            hint = "promote that, or say --as what the rule is"
            raise KeeperError(f"You have said something else since: {observation.instead}", hint=hint)
        text = checked(args.wording or observation.text, "A rule", LONGEST, EXAMPLE)
        if args.dry_run:
            return respond(args, {"would_promote": observation.id, "text": text}, f"would make a rule: {text}")
        by_a_person(args, "make an observation a rule")
        confirm(
            args,
            f"{_whose(keeper, observation)}\nA rule from now on: {text}\n",
            "--yes makes it a rule without a question",
        )
        rule = add_rule(keeper, USER if args.user else observation.project, text, source=observation.id)
        words = f"In force: {origin(rule)}  {rule.text}"
        return changed(args, keeper, words, id=observation.id, rule=origin(rule), text=rule.text)


def _whose(keeper: Keeper, observation: Observed) -> str:
    return f"{_by(keeper, observation).capitalize()}, {_often(observation)} since {format_time(observation.first)}."


def _remove(args: Namespace) -> int:
    """Take an observation away: what it said stays in the store, and counts no more."""
    with Keeper(args.home) as keeper:
        observation = _find(args, keeper)

        def act() -> None:
            for note in filter(None, map(keeper.store.wording, observation.notes)):
                keeper.reword(note, "", patience=PATIENCE)

        return remove(args, keeper, observation.id, observation.text, "an observation", act)


def _note(keeper: Keeper, observation: Observed) -> Note:
    note = keeper.store.note(observation.id)
    if not note:
        raise KeeperError(f"{observation.id} is gone", hint="`memory-keeper observation list --all` gives ids")
    return note


HINT = "`memory-keeper observation list --all` gives ids"
TEXT = argument("text", nargs="+", metavar="TEXT", help="the observation")
STATE = argument("--state", choices=STATES, metavar="STATE", help=f"only these: {', '.join(STATES)}")
ALL = argument("--all", action="store_true", help="all, whatever became of them")
SESSION = argument("--session", default="", metavar="ID", help="seen in this session")
AS = argument("--as", default="", dest="wording", metavar="TEXT", help="the rule in your own words")
VERBS = {
    "list": Verb(_list, "what is open, or confirmed often enough", "memory-keeper observation list --all",
            (STATE, ALL)),
    "show": Verb(_show, "an observation, whole", "memory-keeper observation show note-1b19", (ID,)),
    "add": Verb(_add, "write one down", EXAMPLE, (TEXT, USERS)),
    "confirm": Verb(_confirm, "it was right once more", "memory-keeper observation confirm note-1b19",
            (ID, SESSION)),
    "contradict": Verb(_contradict, "it was wrong", "memory-keeper observation contradict note-1b19", (ID,)),
    "promote": Verb(_promote, "make it a rule",
            'memory-keeper observation promote note-1b19 --as "Use pnpm, never npm."',
            (ID, USERS, AS, YES, DRY_RUN)),
    "rm": Verb(_remove, "take one away", "memory-keeper observation rm note-1b19", (ID, YES, DRY_RUN)),
}  # fmt: skip
