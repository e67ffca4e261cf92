"""`forget`: take something out of everything that is kept, for good."""

from __future__ import annotations

import sys
from argparse import Namespace

from memory_keeper.capture.payload import safe_name
from memory_keeper.cli.arguments import DRY_RUN, SINCE, UNTIL, YES, argument
from memory_keeper.cli.output import confirm, respond
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.cli.work import make_notes, render_memory
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import by_a_person
from memory_keeper.jobs.forget import Chosen, What, forget, go_on, left_in, pending, plan
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import Json
from memory_keeper.terminal import say
from memory_keeper.text import many

SHORTEST = 4  # characters of a text: fewer are in everything
ARGUMENTS = (
    argument("ids", nargs="*", metavar="ID", help="events or notes, by their ids"),
    argument("--session", default="", metavar="ID", help="a session"),
    argument("--file", default="", metavar="PATH", help="what tools did to a file, and what they answered"),
    argument(
        "--text", default="", metavar="TEXT", help="these words, wherever they stand, in all projects; -: from stdin"
    ),
    argument("--secrets", action="store_true", help="what is known as a secret by now, in all projects"),
    SINCE,
    UNTIL,
    argument("--everything", action="store_true", help="all of this project, what you wrote as well"),
    DRY_RUN,
    YES,
)  # fmt: skip


def run(args: Namespace) -> int:
    """Say what goes and what stays where, ask, and forget it."""
    with Keeper(args.home) as keeper:
        unfinished = pending(args.home)
        if unfinished and not args.dry_run:
            by_a_person(args, "have something forgotten")
            go_on(keeper)
        given = _given(args, keeper)
        if not given:
            if not unfinished:
                args.fail("say what: an ID, --session, --file, --text, --secrets, --since, --until or --everything")
            return respond(args, {"finished": True}, "Forgotten what was begun to be forgotten.")
        keeper.catch_up(patience=30.0)
        what, chosen = plan(keeper, given)
        if not (chosen.events or chosen.notes or chosen.rows or chosen.sessions):
            return respond(args, _as_json(chosen), "Nothing of that is kept.")
        if args.dry_run:
            return respond(args, {"would_forget": _as_json(chosen)}, f"would go: {_said(chosen)}\n{_stays(chosen)}")
        by_a_person(args, "have something forgotten")
        if not args.json:
            say(f"Goes for good: {_said(chosen)}.\n{_stays(chosen)}")
        confirm(args, "Nothing brings it back. Go on?", "--yes forgets without a question")
        chosen = forget(keeper, what)
        for project in chosen.projects if not what.is_masked else ():
            make_notes(keeper, project, force=False)
        if given.project:
            render_memory(keeper, given.project, folder_of(args))
        left = [path for root in what.roots for path in left_in(root, what.text)] if what.text else []
    also = "".join(f"\nStill there, as the file is not ours: {path}" for path in left)
    also += "\nSome of it was shared: `memory-keeper sync` takes it back from the others." * bool(what.shared)
    shared = [one["id"] for one in what.shared]
    document = {"forgotten": _as_json(chosen), "left": left, "shared": shared}
    return respond(args, document, f"Forgotten: {_said(chosen)}.{also}")


def _given(args: Namespace, keeper: Keeper) -> What | None:
    text = sys.stdin.read().strip("\n") if args.text == "-" else args.text
    chosen = bool(args.ids) + bool(text) + args.everything + args.secrets
    if chosen > 1 or (chosen and (args.session or args.file or args.since or args.until)):
        args.fail("IDs, --text, --secrets and --everything go alone; --session, --file, --since and --until together")
    if args.text and len(text.strip()) < SHORTEST:
        raise KeeperError(f"That text has fewer than {SHORTEST} characters", hint="it would be found everywhere")
    session = session_of(keeper, safe_name(args.session)) if args.session else ""
    if not (chosen or session or args.file or args.since or args.until):
        return None
    ids = [_known(keeper, id) for id in args.ids]
    project = project_of(keeper, args)
    if session:
        project = keeper.store.project_of(session) or project
    return What(project, session, ids, args.file, text, args.secrets, args.since, args.until, args.everything)


def _known(keeper: Keeper, id: str) -> str:
    event = keeper.store.event(id)
    note = None if event else keeper.store.note(id)
    if not event and not note:
        raise KeeperError(f"Nothing is called {id}", hint="`memory-keeper search` gives ids")
    return event.id if event else id


def _as_json(chosen: Chosen) -> Json:
    about = {"events": len(chosen.events), "notes": len(chosen.notes), "by_hand": chosen.written}
    return {**about, "sessions": [*chosen.sessions], "masked": chosen.rows, "transcripts": [*chosen.transcripts]}


def _said(chosen: Chosen) -> str:
    if chosen.rows:
        return f"that text in {many(chosen.rows, 'row')}, and in every other file of ours"
    parts = [many(len(chosen.events), "event")]
    if chosen.sessions:
        parts.append(f"all else of {many(len(chosen.sessions), 'session')}")
    if chosen.notes:
        written = f", {chosen.written} of them written by you" if chosen.written else ""
        parts.append(f"{many(len(chosen.notes), 'note')} that tell of it{written}")
    return ", ".join(parts)


def _stays(chosen: Chosen) -> str:
    lines = ["What else those notes told of gets new ones. Backups are made anew without it."]
    lines += [f"Claude Code's own transcript still has it: {path}" for path in chosen.transcripts[:5]]
    if len(chosen.transcripts) > 5:
        lines.append(f"and {len(chosen.transcripts) - 5} more")
    return "\n".join(lines)
