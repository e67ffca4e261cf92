"""`unshare`: take back what was shared; those who have it lose it with their next sync."""

from __future__ import annotations

from argparse import Namespace

from memory_keeper.cli.arguments import DRY_RUN, YES, argument
from memory_keeper.cli.commands.share import as_json
from memory_keeper.cli.output import Entry, confirm, print_entries, respond
from memory_keeper.cli.scope import project_of
from memory_keeper.errors import KeeperError
from memory_keeper.host.consent import by_a_person
from memory_keeper.keeper import Keeper
from memory_keeper.model import Item
from memory_keeper.team.outbox import outbox, unshare
from memory_keeper.text import clean, many

REACH = (
    "The next `memory-keeper sync` takes it out of the remote, and the others lose it with theirs. A copy that somebody"
    " made, and what a host keeps of old pushes, is out of reach."
)
ARGUMENTS = (
    argument("what", nargs="*", metavar="WHAT", help="ids, or the beginnings of them; or a kind"),
    argument("--all", action="store_true", help="all that is shared of this project"),
    YES,
    DRY_RUN,
)


def run(args: Namespace) -> int:
    """Take some back, once a person has said so."""
    with Keeper(args.home) as keeper:
        items = [item for item in outbox(keeper, project_of(keeper, args)) if not item.gone]
        items = items if args.all else [item for word in args.what for item in _named(items, word)]
        items = [*dict.fromkeys(items)]
        if not items:
            raise KeeperError("Nothing was named that is shared", hint="`memory-keeper share` lists what is")
        if args.dry_run:
            entries = [Entry(item.id, item.text, item.kind) for item in items]
            return respond(args, {"would_unshare": [*map(as_json, items)]}, lambda: print_entries(entries))
        by_a_person(args, "take back what was shared")
        confirm(args, f"Take back {many(len(items), 'item')}?", "--yes takes it back without a question")
        notes = [note for item in items if (note := keeper.store.wording(item.id))]
        done = unshare(keeper, notes)
    return respond(args, {"unshared": [*map(as_json, items)], "count": len(done)}, f"Taken back. {REACH}")


def _named(items: list[Item], word: str) -> list[Item]:
    begin = (word, *(f"{kind}-{word}" for kind in ("rule", "note", "handoff")))
    found = [item for item in items if word and (item.id.startswith(begin) or item.kind == word.removesuffix("s"))]
    if not found:
        raise KeeperError(f"Nothing that is shared is called {clean(word)}", hint="`memory-keeper share` lists it")
    return found
