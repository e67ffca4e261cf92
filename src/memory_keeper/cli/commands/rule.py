"""`rule`: what every context is to go by, as the user decided."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from memory_keeper import config, wire
from memory_keeper.briefs.rules import PREFIX, SHIPPED, Rule, of_team, reminder, rules_of
from memory_keeper.cli.arguments import DRY_RUN, USERS, YES, Verb, argument
from memory_keeper.cli.output import (
    REDACTED,
    Entry,
    checked,
    confirm,
    print_entries,
    respond,
    the_one,
)
from memory_keeper.cli.scope import folder_of, known_project, settings_of
from memory_keeper.cli.work import PATIENCE, changed, remove
from memory_keeper.errors import KeeperError
from memory_keeper.hooks.actions.rules import full_brief
from memory_keeper.host.consent import by_a_person
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule, change_rule
from memory_keeper.model import USER, origin
from memory_keeper.pages.adopt import adopt_rules
from memory_keeper.pages.claude_md import sync_rules
from memory_keeper.pages.reading import Pages
from memory_keeper.policy import FADES
from memory_keeper.store.shared import shared_notes
from memory_keeper.terminal import as_called, paint, say
from memory_keeper.text import clean, many, one_line, tokens

EXAMPLE = 'memory-keeper rule add "Run the tests before you commit."'
LONGEST = 2_000  # characters
WHERE = {
    "project": "in this project", "user": "in all of your projects", "shipped": "in all of your projects",
    "team": "in this project, as you accepted the rules of its team",
}  # fmt: skip
HINT = "`memory-keeper rule list` gives ids and numbers"


# --- reading ----------------------------------------------------------------------------------------------------------


def _list(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        rules, settings, numbers = _in_force(args, keeper), settings_of(args), _numbers(args, keeper)
        proposed = _proposed(keeper, args)
        place = keeper.home, folder_of(args), keeper.environ, settings
        cost, both = (full_brief(*place, said=said).tokens if rules else 0 for said in (False, True))

    def show() -> None:
        entries = (Entry(rule.id, rule.text, rule.scope, f"{numbers[rule.id]:2}. ") for rule in rules)
        print_entries(entries, "No rules. memory-keeper rule add TEXT writes the first one.")
        if rules:
            every = settings["rules.every"]
            each = f"every {every} prompts" if every > 1 else "each prompt"
            when = each if every else f"when it has grown by {FADES:,}"
            besides = f", up to {both - cost} more for what you said before" if both > cost else ""
            say(f"{cost} tokens in full once per context{besides}, {tokens(reminder(rules))} {when}", style="dim")
        if proposed:
            say(as_called(f"{many(proposed, 'rule')} of others proposed: memory-keeper team accept"), style="dim")
        if not settings["rules.enabled"]:
            say("None of them is told: setting rules.enabled is false.")

    return respond(args, [{**_as_json(rule), "number": numbers[rule.id]} for rule in rules], show)


def _show(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        rule = _find(args, keeper)

    def show() -> None:
        say(paint(f"{rule.id}  {WHERE[rule.scope]}", "dim"))
        say(clean(rule.text))

    return respond(args, _as_json(rule), show)


def _in_force(args: Namespace, keeper: Keeper) -> list[Rule]:
    shipped, project = settings_of(args)["rules.shipped"], known_project(keeper, args)
    rules = rules_of(keeper.store if project else None, project, shipped)
    return [*rules, *(of_team(keeper.store, project) if project else ())]


def _proposed(keeper: Keeper, args: Namespace) -> int:
    """How many rules others propose that do not hold here."""
    project = known_project(keeper, args)
    if not project or not keeper.store.notes(project, 0, "team"):
        return 0
    return sum(item.kind == "rule" for _, item in shared_notes(keeper.store, project)) - len(
        of_team(keeper.store, project)
    )


def _as_json(rule: Rule) -> dict[str, Any]:
    about = wire.read_object(rule.note.extra) if rule.note else {}
    more = {"written": about.get("written"), "source": about.get("source", "")}
    return {
        "id": rule.id, "text": rule.text, "scope": rule.scope, **more, "automatic": about.get("automatic", False)
    }  # fmt: skip


def _numbers(args: Namespace, keeper: Keeper) -> dict[str, int]:
    """The number of each rule by its id: by when it was first written, so that it stays when another one is taken away.
    Those that came with us are the first."""
    project = known_project(keeper, args)
    places = (project, USER) if project else ()
    notes = sorted(
        (note for place in places for note in keeper.store.notes(place, 0, "rule")), key=lambda note: note.at
    )
    own = [origin(note) for note in notes if not origin(note).startswith(PREFIX)]
    theirs = (rule.id for rule in (of_team(keeper.store, project) if project else ()))
    ids = [*(f"{PREFIX}{number}" for number in range(1, len(SHIPPED) + 1)), *dict.fromkeys((*own, *theirs))]
    return {id: number for number, id in enumerate(ids, 1)}


def _find(args: Namespace, keeper: Keeper) -> Rule:
    """A rule by its id, the beginning of it, or its number."""
    rules, target = _in_force(args, keeper), args.id
    numbers = {str(number): id for id, number in _numbers(args, keeper).items()}
    by_number = [rule for rule in rules if rule.id == numbers.get(target)]
    by_id = [rule for rule in rules if rule.id.startswith((target, "rule-" + target)) and target]
    rule: Rule = the_one(by_number or by_id, "rule in force" if not by_id else "rule", target, HINT)
    return rule


# --- changing ---------------------------------------------------------------------------------------------------------


def _add(args: Namespace) -> int:
    text = checked(" ".join(args.text), "A rule", LONGEST, EXAMPLE)
    by_a_person(args, "add a rule")
    with Keeper(args.home) as keeper:
        with keeper.writing(PATIENCE):
            here = keeper.project(folder_of(args), change=True)
        project = USER if args.user else here
        same = (rule.note for rule in _in_force(args, keeper) if rule.text == text and rule.note)
        known = next((note for note in same if note.project == project), None)
        note = known or add_rule(keeper, project, text)
        words = f"{'Known' if known else 'In force'}: {note.id} ({'all projects' if args.user else 'this project'})"
        words += REDACTED * (note.text != text)
        about = {"id": note.id, "text": note.text, "added": not known, "redacted": note.text != text}
        return changed(args, keeper, words, **about)


def _edit(args: Namespace) -> int:
    text = checked(" ".join(args.text), "A rule", LONGEST, EXAMPLE)
    with Keeper(args.home) as keeper:
        rule = _find(args, keeper)
        if rule.scope == "team":
            hint = f"`memory-keeper rule rm {rule.id}` takes it away here, and `rule add` adds one of yours"
            raise KeeperError("That rule is another's, and stays in their words", hint=hint)
        by_a_person(args, "change a rule")
        kept = change_rule(keeper, rule, text)
        words = f"Was: {one_line(clean(rule.text), 160)}\nNow: {one_line(clean(kept.text), 160)}"
        words += f"\n{rule.id}, {WHERE[rule.scope]}"
        return changed(args, keeper, words, id=rule.id, text=kept.text, before=rule.text)


def _remove(args: Namespace) -> int:
    with Keeper(args.home) as keeper:
        rule = _find(args, keeper)
        return remove(args, keeper, rule.id, rule.text, "a rule", lambda: change_rule(keeper, rule, ""))


def _adopt(args: Namespace) -> int:
    """Take over what somebody changed in ACTIVE_RULES.md and OBSERVATIONS.md, after showing it."""
    with Keeper(args.home) as keeper:
        folder = folder_of(args)
        pages = Pages(keeper, keeper.project(folder), config.find_root(folder))
        changes = adopt_rules(pages, dry=True)
        if not args.json:
            print("\n".join(map(clean, changes)) or "Nothing was changed in ACTIVE_RULES.md or OBSERVATIONS.md.")
        if changes and not args.dry_run:
            by_a_person(args, "make rules of what stands in a page")
            confirm(args, "Take this over?", "--yes takes it over without a question")
            changes = adopt_rules(pages, shown=changes)
            return changed(args, keeper, "", changes=changes, adopted=bool(changes))
    return respond(args, {"changes": changes, "adopted": False})


def _sync(args: Namespace) -> int:
    """Write the rules into CLAUDE.md, between our markers, or take them out."""
    if not args.dry_run:
        by_a_person(args, "write to CLAUDE.md")
    with Keeper(args.home) as keeper:
        change = sync_rules(
            keeper, folder_of(args), user=args.user, remove=args.remove, dry_run=args.dry_run, force=args.force
        )
    if args.dry_run and change.diff and not args.json:
        print(clean(change.diff).rstrip("\n"))
    what = ("would be " if args.dry_run else "") + ("taken out" if args.remove else "written")
    words = f"{change.path}: our block {what}" if change.changed else f"{change.path}: as it should be"
    return respond(args, change._asdict(), words + f"\nWhat was there is in {change.backup}" * bool(change.backup))


TEXT = argument("text", nargs="+", metavar="TEXT", help="the rule")
ANY = argument("id", metavar="ID", help="its id, the beginning of it, or its number")
TAKE_OUT = argument("--remove", action="store_true", help="take our block out of CLAUDE.md again")
FORCE = argument("--force", action="store_true", help="also over what was changed in our block by hand")
VERBS = {
    "list": Verb(_list, "the rules in force, and what they cost", "memory-keeper rule list"),
    "show": Verb(_show, "a rule, whole", "memory-keeper rule show 3", (ANY,)),
    "add": Verb(_add, "a rule from now on", EXAMPLE, (TEXT, USERS, YES)),
    "edit": Verb(_edit, "give a rule another wording", 'memory-keeper rule edit 3 "Check the given method first."',
            (ANY, TEXT, YES)),
    "rm": Verb(_remove, "take a rule out of force", "memory-keeper rule rm 3", (ANY, YES, DRY_RUN)),
    "sync": Verb(_sync, "write the rules into CLAUDE.md, between our markers", "memory-keeper rule sync --dry-run",
            (USERS, TAKE_OUT, FORCE, YES, DRY_RUN)),
    "adopt": Verb(_adopt, "take over what you changed in ACTIVE_RULES.md", "memory-keeper rule adopt",
            (YES, DRY_RUN)),
}  # fmt: skip
