"""`uninstall`: take the plugin away again, and with `--purge` everything that was kept."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from itertools import groupby
from typing import NamedTuple

from memory_keeper import store
from memory_keeper.briefs.files import BEFORE, changed_pages, put_back, removable, remove_all, set_aside
from memory_keeper.cli.arguments import DRY_RUN, YES, argument
from memory_keeper.cli.claude import ask_claude
from memory_keeper.cli.output import confirm, respond
from memory_keeper.errors import KeeperError, NotSetUp, PartlyDone
from memory_keeper.host import claude_settings, own_command, registration
from memory_keeper.host.claude_settings import Outcome, Returned
from memory_keeper.host.own_command import OwnCommand
from memory_keeper.host.registration import NAME, PLUGIN, installed_at
from memory_keeper.keeper import Keeper
from memory_keeper.pages import claude_md
from memory_keeper.pages.reading import Pages
from memory_keeper.pages.render import not_ours_alone
from memory_keeper.terminal import as_called, say, say_problem
from memory_keeper.text import many

GOING = ("marketplace", registration.CURRENT, claude_settings.LEDGER)
ARGUMENTS = (
    argument("--purge", action="store_true", help="also delete everything that was kept, and its pages in projects"),
    argument("--scope", choices=("user", "project", "local"), default="user", help="as it was installed"),
    DRY_RUN,
    YES,
)


def run(args: Namespace) -> int:
    """Unregister, give the user's settings back their bytes, and leave the store alone unless told otherwise."""
    registration.enter(args.project)
    store.load_engine()  # what is uninstalled may be our own folder
    if args.purge:
        registration.check_home(args.home)
    known = bool(installed_at(registration.claude_folder()))
    if args.dry_run:
        return _say_what_would_go(args, known)
    if args.purge:
        confirm(args, _question(args.home), "--yes deletes without a question")
    with registration.alone(args.home) if registration.is_home(args.home) else nullcontext():
        gone = _remove(args)
        registration.drop_unused(args.home)
    about = {
        "registered": known,
        "unregistered": known and not gone.problem,
        "problem": gone.problem or gone.stuck,
        **gone.back._asdict(),
        "settings": [outcome._asdict() for outcome in gone.settings],
        "rules": gone.cleared,
        "rules_left": gone.uncleared,
        "command": gone.command._asdict(),
        "kept": "" if args.purge else args.home,
        "left": [*gone.left],
        "rendered": gone.rendered,
        "pages_left": [*gone.pages_left],
        "pages_restored": [*gone.pages_restored],
        "set_aside": [*gone.set_aside],
    }
    respond(args, about, lambda: _say(args, known, gone))
    return PartlyDone.code if gone.problem or gone.stuck or gone.uncleared or gone.command.problem else 0


def _question(home: str) -> str:
    going, staying, _ = _pages(home)
    rendered = f", and {many(len(going), 'page')} in your projects" if going else ""
    stays = f" {many(len(staying), 'page')} with your own words, or of another home, stay." if staying else ""
    return f"Delete everything that was kept in {home}{rendered}?{stays}"


class Gone(NamedTuple):
    """What was taken away, and what could not be."""

    settings: list[Outcome]
    stuck: str  # why some of those are still ours
    problem: str  # why Claude Code still has the plugin
    back: Returned
    command: OwnCommand  # of the user's terminal
    cleared: list[str]
    uncleared: list[str]
    rendered: int = 0
    pages_left: Sequence[str] = ()  # those with a person's own words, and another home's
    pages_restored: Sequence[str] = ()  # that had made room for our pages
    set_aside: Sequence[str] = ()  # in the projects: what made room for our pages
    left: Sequence[str] = ()  # in the home, after a purge


def _remove(args: Namespace) -> Gone:
    # before Claude Code lays the file out anew, and before its bytes are compared
    settings, stuck = _restore_line(args.home)
    if stuck and args.purge:
        raise PartlyDone(stuck, hint="nothing was deleted, as it says what was there before: mend it and try again")
    problem = _unregister(args.scope)
    back = Returned([], []) if problem or stuck else claude_settings.put_back(args.home)
    command = _remove_program(args.home)
    gone = Gone(settings, stuck, problem, back, command, *_remove_rules(args.home))
    if not args.purge:
        return gone
    going, staying, roots = _pages(args.home)
    restored: list[str] = []
    for root in roots:
        remove_all(root, keep=staying)
        restored += put_back(root)
    gone = gone._replace(
        rendered=len(going), pages_left=staying, left=registration.purge(args.home), pages_restored=restored
    )
    return gone._replace(set_aside=[path for root in roots for path in set_aside(root)])


def _restore_line(home: str, dry_run: bool = False) -> tuple[list[Outcome], str]:
    """Give the user's own status line back, where ours is shown; why not, when that failed."""
    path, known = registration.settings_path("user", ""), True
    try:
        known = claude_settings.knows(home, path)
        outcome = claude_settings.restore_line(home, path, dry_run)
    except KeeperError as error:
        return [], f"{error}: what is ours in it is still there" if known else ""
    return [outcome] if outcome.did == "restored" else [], ""


def _remove_rules(home: str, dry_run: bool = False) -> tuple[list[str], list[str]]:
    """Take our rules out of the user's CLAUDE.md and the projects': those that had them, and why some keep theirs."""
    gone, left = [], []
    for folder, within in [(registration.claude_folder(), ""), *((root, root) for root in _pages(home)[2])]:
        path = os.path.join(folder, claude_md.NAME)
        try:
            with suppress(claude_md.OutOfReach):
                gone += [path] * claude_md.unsync(path, within=within, dry_run=dry_run).changed
        except KeeperError as error:
            left.append(str(error))
    return gone, left


def _pages(home: str) -> tuple[list[str], list[str], list[str]]:
    """The pages in the projects that the store knows: those that a purge takes away, those that it leaves, and the
    folders of the projects."""
    going: list[str] = []
    staying: list[str] = []
    roots: list[str] = []
    with suppress(KeeperError), Keeper(home) as keeper:  # of no store, or a damaged one, nobody knows where they are
        roots = keeper.store.roots()
        for root in roots:
            paths = removable(root)
            staying += changed_pages(root)
            staying += (kept := not_ours_alone(Pages(keeper, keeper.project(root), root), paths))
            going += [path for path in paths if path not in kept]
    return going, staying, roots


def _remove_program(home: str) -> OwnCommand:
    """Take away what runs us, and the command of the user's terminal."""
    command = own_command.remove_all(home)
    registration.sweep(home)
    shutil.rmtree(os.path.join(home, "marketplace"), ignore_errors=True)
    registration.drop_current(home)
    return command


def _unregister(scope: str) -> str:
    """Let Claude Code forget the plugin; why not, when it could not."""
    try:
        ask_claude("plugin", "uninstall", PLUGIN, "--scope", scope, needed=False)
        ask_claude("plugin", "marketplace", "remove", NAME, needed=False)
    except NotSetUp as error:
        if not installed_at(registration.claude_folder()):
            return ""
        return f"{error}: its registration of the plugin could not be touched"
    if installed_at(registration.claude_folder()):
        return "Claude Code still has the plugin registered: was it installed with another --scope?"
    return ""


def _say_what_would_go(args: Namespace, known: bool) -> int:
    names = registration.names_of_ours(args.home)
    gone = [name for name in names if args.purge or name in GOING]
    settings, stuck = _restore_line(args.home, dry_run=True)
    going = [f"plugin {NAME}"] * known + [f"our entries in {path}" for path in claude_settings.edited(args.home)]
    going += [f"our {outcome.key} in {outcome.path}" for outcome in settings]
    going += [os.path.join(args.home, name) for name in gone]
    commands = [own_command.remove(args.home, True, name).path for name in (NAME, *own_command.OTHERS)]
    going += filter(None, commands)
    cleared, uncleared = _remove_rules(args.home, dry_run=True)
    going += [f"our rules in {path}" for path in cleared]
    pages, staying, roots = _pages(args.home) if args.purge else ([], [], [])
    restored = [path for root in roots for path in put_back(root, dry_run=True, going=pages)]
    aside = [path for root in roots for path in set_aside(root) if path.removesuffix(BEFORE) not in restored]
    going += pages

    def show() -> None:
        say("\n".join(["would remove:", *(f"  {what}" for what in going or ["nothing"])]))
        _say_pages(staying)
        _say_restored(restored)
        _say_set_aside(aside)
        _say_settings([], stuck)
        _say_rules([], uncleared)

    left = {"rules_left": uncleared, "pages_left": staying, "pages_restored": restored, "set_aside": aside}
    about = {"would_remove": going, **left, "problem": stuck}
    return respond(args, about, show)


def _say(args: Namespace, known: bool, gone: Gone) -> None:
    if gone.problem:
        say_problem(gone.problem, f"run `claude plugin uninstall {PLUGIN}`")
    else:
        say("Unregistered." if known else "The plugin was not registered with Claude Code.")
    for path in gone.back.restored:
        say(f"{path} is as it was before.")
    for path in gone.back.changed:
        say(f"{path} was changed since: it keeps your changes and lost only our entries.")
    _say_settings([outcome for outcome in gone.settings if outcome.path not in gone.back.restored], gone.stuck)
    if gone.command.problem:
        say_problem(f"{gone.command.path} stays: {gone.command.problem}", "delete it by hand")
    elif gone.command.path:
        say(f"{gone.command.path} is gone.")
    elif gone.command.left:
        say(f"{gone.command.left} stays, as somebody has changed it; what it runs is gone.")
    _say_rules(gone.cleared, gone.uncleared)
    if gone.rendered:
        say(f"{many(gone.rendered, 'file')} rendered into projects went as well.")
    _say_pages(gone.pages_left)
    _say_restored(gone.pages_restored)
    _say_set_aside(gone.set_aside)
    _say_home(args, gone)


def _say_pages(staying: Sequence[str]) -> None:
    for path in staying:
        say(f"{path} stays: it has words of your own, or another home wrote it.")


def _say_restored(paths: Sequence[str]) -> None:
    for path in paths:
        say(f"{path} from before ours is back in its place.")


def _say_set_aside(paths: Sequence[str]) -> None:
    for folder, found in groupby(paths, os.path.dirname):
        files = many(len([*found]), "file")
        say(f"{folder} still has {files} from before ours, named *{BEFORE}: take that ending off to have them back.")


def _say_home(args: Namespace, gone: Gone) -> None:
    """What stays, last; and how it goes where our command is gone already."""
    if not args.purge and registration.names_of_ours(args.home):
        say(
            f"What was kept is still in {args.home}, and its pages in .claude/memory of your projects."
            f" {_purging()} deletes both (with `--dry-run` it lists the files); or delete that folder."
            " Claude Code deletes its own copy of the plugin later."
        )
    elif gone.left:
        say(f"{args.home} stays, with what is not ours: {', '.join(gone.left)}")
    elif args.purge:
        say(f"{args.home} is gone.")
    if registration.is_package():
        say(f"This program stays until {registration.INSTALLERS} takes it away.")


def _purging() -> str:
    """The command that deletes what was kept, as far as it is still there."""
    purge = "memory-keeper uninstall --purge"
    gone = not os.path.exists(os.path.dirname(registration.package()))  # it ran from our home
    return f"In a checkout, `./{purge}`" if gone else as_called(f"`{purge}`")


def _say_settings(outcomes: list[Outcome], stuck: str) -> None:
    for outcome in outcomes:
        say(f"{outcome.path}: {outcome.key} is as it was before.")
    if stuck:
        say_problem(stuck, "mend the file and run `memory-keeper uninstall` again")


def _say_rules(cleared: list[str], uncleared: list[str]) -> None:
    for path in cleared:
        say(f"{path} is without our rules.")
    for why in uncleared:
        say_problem(why, "it stays as it is: take our rules out by hand")
