"""`embed`: make what search by meaning needs of what is kept."""

from __future__ import annotations

from argparse import Namespace

from memory_keeper.cli.arguments import MOST, argument, positive
from memory_keeper.cli.output import respond
from memory_keeper.cli.work import PATIENCE
from memory_keeper.keeper import Keeper
from memory_keeper.search import semantic
from memory_keeper.terminal import Bar
from memory_keeper.text import many

ARGUMENTS = (argument("--limit", type=positive, default=MOST, metavar="N", help="at most so many texts"),)


def run(args: Namespace) -> int:
    """Make vectors until none is missing. The lock is held only while they are kept, so hooks do not wait."""
    semantic.check()
    done = 0
    with Keeper(args.home) as keeper:
        total = min(args.limit, _begin(keeper))
        with Bar("embedding", total, bytes=False) as bar:
            while done < total and (made := semantic.missing(keeper.writer, min(semantic.BATCH, total - done))):
                _keep(keeper, made)
                done += len(made)
                bar.advance(len(made))
        left = keeper.writer.count_lacking()
    words = f"{many(done, 'text')} embedded, {f'{left} to go' if left else 'nothing is missing'}"
    return respond(args, {"embedded": done, "missing": left, "model": semantic.MODEL}, words)


def _begin(keeper: Keeper) -> int:
    """How many are missing, now that those of another model are gone."""
    if not keeper.store.newest_key():  # a reader: where nothing was ever kept it says so, and makes no store
        return 0
    with keeper.writing(PATIENCE):
        keeper.writer.keep_vectors(semantic.MODEL, ())
        return keeper.writer.count_lacking()


def _keep(keeper: Keeper, made: list[tuple[int, bytes]]) -> None:
    """Keep some, unless another store was put in the place of the one whose texts they are of."""
    store = keeper.writer
    with keeper.writing(PATIENCE):
        if keeper.writer is store:
            store.keep_vectors(semantic.MODEL, made)
