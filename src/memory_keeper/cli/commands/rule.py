"""`rule`: what every context is to go by, as the user decided."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from time import time
from typing import Any

from memory_keeper import config, wire
from memory_keeper.briefs.rules import Rule, reminder, rules_of
from memory_keeper.cli.commands import confirm, folder_of, render_memory
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.hooks.actions.rules import full_brief
from memory_keeper.host.consent import by_a_person
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule, change_rule
from memory_keeper.model import USER
from memory_keeper.pages.adopt import adopt_rules
from memory_keeper.pages.claude_md import sync_rules, sync_where_wanted
from memory_keeper.policy import FADES
from memory_keeper.terminal import as_called, paint, print_json, say, say_problem
from memory_keeper.text import clean, one_line, tokens

EXAMPLES = {
    "list": "memory-keeper rule list",
    "add": 'memory-keeper rule add "Run the tests before you commit."',
    "edit": 'memory-keeper rule edit 3 "Check the given method first."',
    "rm": "memory-keeper rule rm 3",
    "sync": "memory-keeper rule sync --dry-run",
    "adopt": "memory-keeper rule adopt",
}
EXAMPLE = EXAMPLES["add"]
LONGEST = 2_000  # characters
WHERE = {"project": "in this project", "user": "in all of your projects", "shipped": "in all of your projects"}
PATIENCE = 30.0


def configure(parser: ArgumentParser) -> None:
    """One of six verbs, and what it is about."""
    parser.add_argument("what", nargs="?", choices=EXAMPLES, default="list", help="by default: list")
    parser.add_argument(
        "rest", nargs="*", metavar="TEXT", help="add: the rule; edit: its ID, then the rule; rm: its ID"
    )
    parser.set_defaults(words="rest", fail=parser.error)
    parser.add_argument("--user", action="store_true", help="add, sync: in all of your projects, not only in this one")
    parser.add_argument("--remove", action="store_true", help="sync: take our block out of CLAUDE.md again")
    parser.add_argument("--force", action="store_true", help="sync: also over what was changed in our block by hand")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="rm, sync: only say what would change")


def run(args: Namespace) -> int:
    """Look at them, or change one."""
    if (args.what in ("list", "sync", "adopt")) == bool(args.rest):
        args.fail(f"{args.what} takes {'no TEXT' if args.rest else 'a TEXT' if args.what == 'add' else 'an ID'}")
    with Keeper(args.home) as keeper:
        return {"list": _list, "add": _add, "edit": _edit, "rm": _remove, "sync": _sync, "adopt": _adopt}[args.what](
            args, keeper
        )


# --- looking ----------------------------------------------------------------------------------------------------------


def _in_force(args: Namespace, keeper: Keeper) -> list[Rule]:
    shipped = _settings(args, keeper)["rules.shipped"]
    try:
        return rules_of(keeper.store, keeper.project(folder_of(args)), shipped)
    except NotSetUp:
        return rules_of(None, "", shipped)


def _settings(args: Namespace, keeper: Keeper) -> dict[str, Any]:
    return config.load(keeper.home, config.find_root(folder_of(args)), keeper.environ)[0]


def _list(args: Namespace, keeper: Keeper) -> int:
    rules, settings = _in_force(args, keeper), _settings(args, keeper)
    if args.json:
        print_json([_about(rule) for rule in rules])
        return 0
    for number, rule in enumerate(rules, 1):
        say(one_line(clean(rule.text), 2000), f"{number:2}. ", "    ")
        print(f"    {paint(f'{rule.id}  {rule.scope}', 'dim')}")
    cost = full_brief(keeper.home, folder_of(args), keeper.environ, settings).tokens if rules else 0
    every = settings["rules.every"]
    when = f"when it has grown by {FADES:,}" if not every else f"every {every} prompts" if every > 1 else "each prompt"
    line = f"{cost} tokens in full once per context, {tokens(reminder(rules))} {when}"
    say(line if rules else as_called("No rules. memory-keeper rule add TEXT writes the first one."), style="dim")
    if not settings["rules.enabled"]:
        say("None of them is told: setting rules.enabled is false.")
    return 0


def _about(rule: Rule) -> dict[str, Any]:
    about = wire.read_object(rule.note.extra) if rule.note else {}
    return {
        "id": rule.id,
        "text": rule.text,
        "scope": rule.scope,
        "written": about.get("written"),
        "source": about.get("source", ""),
        "automatic": about.get("automatic", False),
    }


# --- changing ---------------------------------------------------------------------------------------------------------


def _add(args: Namespace, keeper: Keeper) -> int:
    text = _checked(" ".join(args.rest))
    by_a_person(args, "add a rule")
    project = USER if args.user else _project(args, keeper)
    known = next((rule for rule in _in_force(args, keeper) if rule.text == text and _is_of(rule, project)), None)
    note = known.note if known and known.note else add_rule(keeper, project, text)
    _changed(args, keeper)
    if args.json:
        print_json({"id": note.id, "text": note.text, "added": not known, "redacted": note.text != text})
        return 0
    say(f"{'Known' if known else 'In force'}: {note.id} ({'all projects' if args.user else 'this project'})")
    if note.text != text:
        say("What looked like a secret was left out.")
    return 0


def _is_of(rule: Rule, project: str) -> bool:
    return bool(rule.note) and rule.note is not None and rule.note.project == project


def _edit(args: Namespace, keeper: Keeper) -> int:
    target, *words = args.rest
    rule = _find(args, keeper, target)
    text = _checked(" ".join(words))
    by_a_person(args, "change a rule")
    kept = change_rule(keeper, rule, text)
    _changed(args, keeper)
    if args.json:
        print_json({"id": rule.id, "text": kept.text, "before": rule.text})
    else:
        say(f"Was: {one_line(clean(rule.text), 160)}\nNow: {one_line(clean(kept.text), 160)}", rest="")
        say(f"{rule.id}, {WHERE[rule.scope]}")
    return 0


def _remove(args: Namespace, keeper: Keeper) -> int:
    """Take a rule away: what it said stays in the store."""
    if len(args.rest) > 1:
        args.fail("rm takes one ID")
    rule = _find(args, keeper, args.rest[0])
    shown = one_line(clean(rule.text), 120)
    if args.dry_run:
        print_json({"would_remove": _about(rule)}) if args.json else print(f"would take away {rule.id}: {shown}")
        return 0
    by_a_person(args, "take a rule away")
    confirm(args, f"Take away: {shown}\n", "--yes takes it away without a question")
    change_rule(keeper, rule, "")
    _changed(args, keeper)
    if args.json:
        print_json({"id": rule.id, "removed": True})
    else:
        said = as_called(f"`memory-keeper show {rule.id}` gives what it said.")
        say(f"Taken away: {rule.id}, {WHERE[rule.scope]}. {said}")
    return 0


def _project(args: Namespace, keeper: Keeper) -> str:
    """The key of this project, which is given one if it has none yet."""
    with keeper.writing(PATIENCE):
        return keeper.project(folder_of(args), change=True)


def _checked(text: str) -> str:
    text = " ".join(text.split())
    if not text:
        raise KeeperError("A rule needs words", hint=EXAMPLE)
    if len(text) > LONGEST:
        raise KeeperError(f"A rule has at most {LONGEST:,} characters", hint="`memory-keeper note` takes long texts")
    return text


def _find(args: Namespace, keeper: Keeper, target: str) -> Rule:
    """A rule by its id, the beginning of it, or its number in the list."""
    rules = _in_force(args, keeper)
    numbered = (
        [rules[int(target) - 1]] if target.isdecimal() and len(target) < 4 and 0 < int(target) <= len(rules) else []
    )
    found = numbered or [rule for rule in rules if rule.id.startswith((target, "rule-" + target)) and target]
    if len(found) == 1:
        return found[0]
    what = "More than one rule is" if found else "No rule in force is"
    raise KeeperError(f"{what} called {clean(target)}", hint="`memory-keeper rule list` gives ids and numbers")


def _changed(args: Namespace, keeper: Keeper) -> None:
    """Bring the pages and, where the user wants that, the block in CLAUDE.md up to date."""

    render_memory(keeper, keeper.project(folder_of(args)), folder_of(args))
    for said in sync_where_wanted(keeper, folder_of(args)):
        say_problem(said)


def _adopt(args: Namespace, keeper: Keeper) -> int:
    """Take over what somebody changed in ACTIVE_RULES.md and OBSERVATIONS.md, after showing it."""

    folder, now = folder_of(args), time()
    project, root = keeper.project(folder), config.find_root(folder)
    changes = adopt_rules(keeper, project, root, now, dry=True)
    if not args.json:
        print("\n".join(map(clean, changes)) or "Nothing was changed in ACTIVE_RULES.md or OBSERVATIONS.md.")
    if changes and not args.dry_run:
        by_a_person(args, "make rules of what stands in a page")
        confirm(args, "Take this over?", "--yes takes it over without a question")
        changes = adopt_rules(keeper, project, root, now, dry=False, shown=changes)
        _changed(args, keeper)
    if args.json:
        print_json({"changes": changes, "adopted": bool(changes) and not args.dry_run})
    return 0


# --- CLAUDE.md --------------------------------------------------------------------------------------------------------


def _sync(args: Namespace, keeper: Keeper) -> int:
    """Write the rules into CLAUDE.md, between our markers, or take them out."""

    if not args.dry_run:
        by_a_person(args, "write to CLAUDE.md")
    change = sync_rules(
        keeper, folder_of(args), user=args.user, remove=args.remove, dry_run=args.dry_run, force=args.force
    )
    if args.json:
        print_json(change._asdict())
        return 0
    if args.dry_run and change.diff:
        print(clean(change.diff).rstrip("\n"))
    what = ("would be " if args.dry_run else "") + ("taken out" if args.remove else "written")
    say(f"{change.path}: our block {what}" if change.changed else f"{change.path}: as it should be")
    if change.backup:
        say(f"What was there is in {change.backup}")
    return 0
