"""`summarize`: make every note that can be made now, and have notes worded better."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, Namespace
from contextlib import suppress
from secrets import token_hex
from typing import Any

from memory_keeper import config
from memory_keeper.briefs.files import HANDED_OUT, Folder, is_hosts, write
from memory_keeper.cli.arguments import argument, limit, positive
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of, project_of
from memory_keeper.cli.work import catch_up, make_notes, render_memory
from memory_keeper.errors import Busy, KeeperError, NotSetUp, PartlyDone
from memory_keeper.jobs.compare import Score, compare
from memory_keeper.jobs.improve import (
    Job,
    Outcome,
    draft_of,
    improve,
    job_for,
    keep,
    read_matter,
    summarizer,
    wordable,
)
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note, origin
from memory_keeper.notes.summarizers.asking import prompt
from memory_keeper.settings import SUMMARIZERS
from memory_keeper.terminal import Bar, near, say, say_problem
from memory_keeper.text import many

AGENT = "agent"
FILE = (HANDED_OUT,)
LARGEST = 1 << 20  # characters of an answer
ERRORS = {3: NotSetUp, 4: Busy}
LABEL = 18  # columns


def _two(text: str) -> tuple[str, ...]:
    """Two summarizers, for a parser."""
    names = tuple(filter(None, (name.strip() for name in text.split(","))))
    every = ", ".join(SUMMARIZERS)
    for name in names:
        if name not in SUMMARIZERS:
            hint = near(name, SUMMARIZERS, f"there are {every}")
            raise ArgumentTypeError(f"there is no summarizer {name}; {hint}")
    if len(names) != 2 or len({*names}) != 2:
        raise ArgumentTypeError(f"it takes two different ones of {every}, with a comma between them")
    return names


def run(args: Namespace) -> int:
    """Make what can be made, then ask for wordings, and say what that took."""
    if args.compare:
        return _compare(args)
    with Keeper(args.home) as keeper:
        project, root = project_of(keeper, args), config.find_root(folder_of(args))
        text = _read_answer() if args.by == AGENT and args.note else None
        made = [] if args.note else _make(keeper, project)
        if args.by == AGENT and text is None:
            return _hand_out(keeper, args, project, root)
        if text is not None:
            worded = [_take(keeper, args, project, root, text)]
        else:
            worded = _word(keeper, _chosen(keeper, args, project, made), args.by, root)
        if made or any(outcome.ok for outcome in worded):
            render_memory(keeper, project, root)
    _report(args, made, worded)
    _complain(made, worded)
    return 0


def _make(keeper: Keeper, project: str) -> list[Note]:
    """Every note that can be made of this project now, whether it is due or not."""
    catch_up(keeper, [project])
    return make_notes(keeper, project)


def _chosen(keeper: Keeper, args: Namespace, project: str, made: list[Note]) -> list[Note]:
    """The notes that are to get another wording."""
    if args.note:
        return [_named(keeper, args.note, project)]
    level = args.level or None
    if not args.again:
        return [note for note in wordable(made) if level in (None, note.level)]
    return wordable(keeper.store.notes(project, level))[: args.limit]


def _named(keeper: Keeper, id: str, project: str) -> Note:
    note = keeper.store.wording(id)
    if not note or note.project != project or note.level < 1:
        raise KeeperError(f"No note of this project is called {id}", hint="`memory-keeper search` gives ids")
    if note.who == "user":
        raise KeeperError(f"You have worded {id} yourself", hint="that stays as it is")
    return note


def _word(keeper: Keeper, notes: list[Note], by: str, root: str) -> list[Outcome]:
    """Ask for wordings, one after the other; a summarizer that is not there is not asked again."""
    job = job_for(keeper, root)
    fresh = [note for note in notes if by or summarizer(job.settings, note.level) != "extractive" or note.replaces]
    outcomes: list[Outcome] = []
    with Bar("asking", len(fresh), bytes=False) as bar:
        for note in fresh:
            bar.advance(0)
            outcomes += improve(keeper, [note], job._replace(by=by or summarizer(job.settings, note.level)))
            bar.advance(1)
            if outcomes[-1].code in ERRORS:
                break
    return outcomes


# --- by two ----------------------------------------------------------------------------------------------------------


def _compare(args: Namespace) -> int:
    """Show a note by two summarizers, and keep neither."""
    if args.by or args.again:
        args.fail("--compare keeps nothing: it does not go with --with or --again")
    with Keeper(args.home) as keeper:
        project, root = project_of(keeper, args), config.find_root(folder_of(args))
        note = _first(keeper, _compared(keeper, args, project))
        scores: list[Score] = []
        with Bar("asking", len(args.compare), bytes=False) as bar:
            for score in compare(keeper, note, job_for(keeper, root), args.compare):
                scores.append(score)
                bar.advance(1)

    def show() -> None:
        say(f"Note {note.id}, level {note.level}. Neither of these is kept.")
        for score in scores:
            _show(score)

    respond(args, {"note": note.id, "level": note.level, "compared": [*map(_scored, scores)]}, show)
    _complain_of(scores)
    return 0


def _compared(keeper: Keeper, args: Namespace, project: str) -> Note:
    """The note that is named, else the newest that can be worded."""
    if args.note:
        return _named(keeper, args.note, project)
    notes = wordable(keeper.store.notes(project, args.level or None))
    if not notes:
        raise NotSetUp("This project has no such note yet", hint="`memory-keeper summarize` makes what can be made")
    return notes[0]


def _scored(score: Score) -> dict[str, Any]:
    names = ("text", "tokens", "kept", "lost", "ungrounded", "citations")
    asked = {name: getattr(score.outcome, name) for name in ("why", "tokens_in", "tokens_out", "cost")}
    measured = {name: getattr(score, name) for name in names}
    return {"by": score.outcome.by, **measured, "taken": score.outcome.ok, **asked}


def _show(score: Score) -> None:
    """A wording, then its scores."""
    outcome = score.outcome
    say()
    say(outcome.by + (f" ({outcome.model})" if outcome.model else ""), style="bold")
    if score.kept is None or score.lost is None:
        return say(f"no answer: {outcome.why}", "  ", "  ")
    say(score.text, "  ", "  ")
    say()
    facts = score.kept + score.lost
    names = f"{len(score.ungrounded)}: {', '.join(score.ungrounded)}" if score.ungrounded else "0"
    rows = {
        "tokens": f"{score.tokens:,}",
        "facts kept": f"{score.kept} of {facts}" + (f" ({score.kept / facts:.0%})" if facts else ""),
        "ungrounded names": names,
        "citations": many(score.citations, "event"),
        "would be taken": "yes" if outcome.ok else f"no: {outcome.why}",
        "asked": "no model" if outcome.by == "extractive" else _took(outcome._asdict()),
    }
    for label, value in rows.items():
        say(f"{label:<{LABEL}}{value}", "  ", " " * (LABEL + 2))


def _complain_of(scores: list[Score]) -> None:
    """Say who gave no answer; the exit code is that of the failure when nobody did."""
    failed = [score.outcome for score in scores if score.kept is None]
    if not failed:
        return
    error = PartlyDone if len(failed) < len(scores) else ERRORS.get(failed[0].code, KeeperError)
    for outcome in failed[:-1]:
        say_problem(f"{outcome.by} gave no answer: {outcome.why}", outcome.hint)
    raise error(f"{failed[-1].by} gave no answer: {failed[-1].why}", hint=failed[-1].hint)


# --- by an agent -----------------------------------------------------------------------------------------------------


def _read_answer() -> str | None:
    """What was piped in; None when nobody could."""
    try:
        return None if sys.stdin.isatty() else sys.stdin.read(LARGEST).strip()
    except UnicodeDecodeError:
        raise KeeperError("The answer is not text", hint="pipe it in as UTF-8") from None


def _hand_out(keeper: Keeper, args: Namespace, project: str, root: str) -> int:
    """Write what a note is about to a file for an agent, and say which note that is."""
    if args.note:
        note = _named(keeper, args.note, project)
    else:
        notes = wordable(keeper.store.notes(project, args.level or None))
        waiting = [note for note in notes if args.again or not note.replaces]
        if not waiting:
            raise NotSetUp("No note of this project waits for a wording", hint="--again takes the newest all the same")
        note = waiting[0]
    if is_hosts(root, keeper.environ):
        raise KeeperError(f"{root}/.claude is Claude Code's own folder", hint="run it in a project")
    matter = read_matter(keeper, _first(keeper, note), job_for(keeper, root).settings)
    instructions, asked = prompt(matter.texts, matter.budget, token_hex(8))
    path = write(root, FILE, f"{instructions}\n\n{asked}")
    about = {"note": origin(note), "path": path, "level": note.level, "texts": len(matter.texts)}
    further = f"Hand its summary to: memory-keeper summarize --with agent --note {origin(note)}"
    return respond(args, about, f"Note {origin(note)} is about what stands in {path}\n{further}")


def _take(keeper: Keeper, args: Namespace, project: str, root: str, text: str) -> Outcome:
    """Keep what an agent answered as the wording of a note, if it can be one."""
    first = _first(keeper, _named(keeper, args.note, project))
    job: Job = job_for(keeper, root, AGENT)
    outcome = Outcome(first.id, first.level, first.project, AGENT)
    outcome = keep(keeper, job, draft_of(keeper, read_matter(keeper, first, job.settings), job, outcome, text))
    # the file has done its work
    with suppress(KeeperError), Folder(root) as folder:
        found = folder.read(FILE[0])
        if found and folder.is_ours(FILE[0]):
            folder.remove(FILE[0], found)
    return outcome


def _first(keeper: Keeper, note: Note) -> Note:
    return keeper.store.note(origin(note)) or note


# --- what it came to -------------------------------------------------------------------------------------------------


def _report(args: Namespace, made: list[Note], worded: list[Outcome]) -> None:
    asked = [outcome for outcome in worded if outcome.by not in ("extractive", AGENT)]
    costs = [outcome.cost for outcome in asked if outcome.cost is not None]
    total: dict[str, Any] = {
        "asked": len(asked),
        "tokens_in": sum(outcome.tokens_in for outcome in asked),
        "tokens_out": sum(outcome.tokens_out for outcome in asked),
        "cost": sum(costs) if costs else None,
    }
    taken, sessions = [outcome for outcome in worded if outcome.ok], sum(note.level == 1 for note in made)
    outlines, lines = len(made) - sessions, []
    if made or not taken:
        lines += [f"{many(sessions, 'note')} made" + (f", and {many(outlines, 'outline')}" if outlines else "") + "."]
    lines += [
        f"{outcome.note} is worded by {outcome.by}" + (f" ({outcome.model})" if outcome.model else "") + "."
        for outcome in taken
    ]
    if asked:
        lines.append(f"A model was asked {many(len(asked), 'time')}: {_took(total)}.")
    elif not any(outcome.by == AGENT for outcome in worded):
        lines.append("Nothing was asked of a model.")
    notes = [{"id": note.id, "level": note.level, "session": note.session, "tokens": note.tokens} for note in made]
    respond(args, {"made": notes, "worded": [outcome._asdict() for outcome in worded], **total}, "\n".join(lines))


def _took(total: dict[str, Any]) -> str:
    dollars = "" if not total["cost"] else f", ${max(total['cost'], 0.0001):.4f}"
    return f"{total['tokens_in']:,} tokens in, {total['tokens_out']:,} out{dollars}"


def _complain(made: list[Note], worded: list[Outcome]) -> None:
    """Say what failed, one line each; the exit code is that of the failure when nothing else was done."""
    failed = [outcome for outcome in worded if not outcome.ok]
    if not failed:
        return
    partly = made or len(failed) < len(worded)
    error = PartlyDone if partly else ERRORS.get(failed[0].code, KeeperError)
    if len(failed) == 1:
        raise error(f"{failed[0].note} stays as it was: {failed[0].why}", hint=failed[0].hint)
    for outcome in failed:
        say_problem(f"{outcome.note} stays as it was: {outcome.why}")
    raise error(f"{len(failed)} of {many(len(worded), 'note')} could not be worded anew", hint=failed[-1].hint)


ARGUMENTS = (
    argument("--level", type=positive, default=0, metavar="N", help="only notes of this level"),
    argument(
        "--with", dest="by", default="", choices=[*SUMMARIZERS, AGENT], metavar="WHO",
        help=f"who words them: {', '.join(SUMMARIZERS)}; default: as the settings say. Or {AGENT}: write what there is"
        " to sum up to a file, and take the answer on stdin with --note ID",
    ),
    argument("--again", action="store_true", help="also notes that exist, the newest first"),
    limit(10, "how many of those"),
    argument("--note", default="", metavar="ID", help="only this one"),
    argument(
        "--compare", type=_two, default=(), metavar="A,B",
        help="show the same note by two summarizers, with their scores, and keep neither: the one that --note names,"
        " else the newest",
    ),
)  # fmt: skip
