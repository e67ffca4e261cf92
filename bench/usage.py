"""Whether token sums are right: what `usage` says of imported transcripts, against a count by message id.

./dev bench usage --data DIR [--keep HOME] [--json]

Every .jsonl and .jsonl.gz below DIR is imported into a store. The lines are also read as they are: of each message id
the largest output that any line says, and its other counts, are added up. Both have to be the same, to the token, in
all, by model, by month and by project. Naively summing lines is shown beside it, for what it would have said.
"""

from __future__ import annotations

import argparse
import collections
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.tools import transcripts
from bench.tools.figures import Figure, Figures
from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.briefs.report.sums import Sum, sums, total
from memory_keeper.cli.commands.import_ import source_of
from memory_keeper.dates import bounds
from memory_keeper.keeper import Keeper

FIELDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
COLUMNS = ("input", "cache_read", "cache_write", "output")


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    transcripts.argument(parser)
    parser.add_argument("--keep", default="", metavar="HOME", help="import into this home, and leave it")


def run(args: argparse.Namespace) -> Figures:
    """Compare, and say where they differ."""
    files = transcripts.paths(args.data)
    messages, lines, naive = count(files)
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder, Keeper(args.keep or folder, {}) as keeper:
        for path in files:
            keeper.read(source_of(keeper, str(path), own=True))
        wrong = compare(keeper, messages)
    really = sum(map(everything, messages.values()))
    print(f"{len(files)} transcripts, {lines} lines with a usage, {len(messages)} responses")
    print(f"summing lines would say {naive:,} tokens; the responses have {really:,}")
    print("all sums agree, to the token" if not wrong else "\n".join(wrong))
    return {
        "wrong": Figure(len(wrong), "sums", "0"),
        "responses": Figure(len(messages)),
        "naive": Figure(naive / really, "x"),
    }


def count(files: list[Path]) -> tuple[dict[str, dict[str, Any]], int, int]:
    """Every response by its message id, how many lines tell of one, and what their plain sum would be."""
    messages: dict[str, dict[str, Any]] = {}
    lines = naive = 0
    for entry in (entry for path in files for entry in transcripts.entries(path)):
        message = entry.get("message")
        if entry.get("type") != "assistant" or not isinstance(message, dict) or message.get("model") == "<synthetic>":
            continue
        used = message.get("usage")
        if not isinstance(used, dict) or not isinstance(message.get("id"), str):
            continue
        counts = [used.get(field) or 0 for field in FIELDS]
        lines, naive = lines + 1, naive + sum(counts)
        known = messages.setdefault(
            message["id"], {"counts": counts, "model": message["model"], "at": entry["timestamp"]}
        )
        known["counts"] = [*known["counts"][:3], max(known["counts"][3], counts[3])]
    return messages, lines, naive


def compare(keeper: Keeper, messages: dict[str, dict[str, Any]]) -> list[str]:
    """Where the store's sums are not those of the responses."""
    prices = read_prices(keeper.home)
    store = keeper.store
    wrong = differ("all", total(sums(store, prices)), messages.values())
    models = collections.defaultdict(list)
    months = collections.defaultdict(list)
    for message in messages.values():
        models[message["model"]].append(message)
        months[time.strftime("%Y-%m", time.localtime(moment(message["at"])))].append(message)
    by_model = {row.name: row for row in sums(store, prices, "model")}
    for model, some in models.items():
        wrong += differ(model, by_model.pop(model), some)
    wrong += [f"{name}: in no transcript" for name in by_model]
    for month, some in months.items():
        begin, end = bounds(*map(int, month.split("-")))
        wrong += differ(month, total(sums(store, prices, since=begin, until=end)), some)
    for by in ("day", "session", "project"):
        wrong += differ(f"all by {by}", total(sums(store, prices, by)), messages.values())
    return wrong


def differ(name: str, row: Sum, messages: Any) -> list[str]:
    """What a row says and what the responses do, where that is not the same."""
    wanted = [sum(message["counts"][place] for message in messages) for place in range(4)]
    found = [getattr(row, column) for column in COLUMNS]
    return (
        [f"{name}: the store says {found}, the lines say {wanted}"]
        if found != wanted or row.requests != len(messages)
        else []
    )


def everything(message: dict[str, Any]) -> int:
    """All tokens of a response."""
    return sum(message["counts"])


def moment(stamp: str) -> float:
    """Epoch seconds."""
    return datetime.fromisoformat(stamp).timestamp()
