"""How well the files that a prompt will lead to are foreseen, from what is kept of the sessions before it.

./dev bench prompt_files --data DIR [--json]

Every prompt_files*.jsonl.gz below DIR has sessions as lines: `repo`, `sid`, `ts`, `prompt` (the first), `users` (all
prompts), `text` (those, and what the model said), `edited` and `read` (path -> how often). They are recorded into a
real store in the order of time, and before each one the product is asked which files its first prompt will lead to.

What counts: the edited files that an earlier session of the repository edited too, as nobody can foresee the name of a
new file; sessions without such a file do not count. `seen before` also counts edited files that were only read before,
`read too` every file that is edited or read now and was either before, `all` every edited file, new ones as well.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench.tools import measure, sets
from bench.tools.figures import Figure, Figures
from memory_keeper.hooks.actions.recall import FORESEEN, SURE
from memory_keeper.model import Event, Placed, Source
from memory_keeper.search.files import likely
from memory_keeper.store.sqlite import SqliteStore

Row = dict[str, Any]
DEPTHS = (5, 10, 20)
DEEP = 100  # files that are asked for: the reciprocal rank looks further than recall
MESSAGE = 400  # characters: the set does not say where a message ends
HALF_LIFE = 10  # sessions, of frecency
# recall@5, @10, @20 and MRR as published with the set
PUBLISHED = {
    "named in the prompt, published": (0.25, 0.29, 0.30, 0.30),
    "FTS of sessions, published": (0.27, 0.39, 0.53, 0.36),
    "simple fusion, published": (0.38, 0.53, 0.65, 0.48),
}


class Asked(NamedTuple):
    """A prompt, what each method foresaw, and the files that count."""

    ranked: dict[str, list[str]]
    counts: dict[str, set[str]]
    took: float  # milliseconds
    told: list[str]  # what a context would be told with it


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    sets.argument(parser)


def run(args: argparse.Namespace) -> Figures:
    """One line for each way to foresee."""
    found = score(args.data)
    columns = list(dict.fromkeys(column for row in found.values() for column in row))
    rows = [(name, *(f"{row[column]:g}" if column in row else "" for column in columns)) for name, row in found.items()]
    measure.table(("", *columns), rows)
    ours = found["likely"]
    return {
        "recall5": Figure(ours["recall@5"]),
        "recall10": Figure(ours["recall@10"], target=">= 0.6"),
        "recall20": Figure(ours["recall@20"]),
        "mrr": Figure(ours["MRR"]),
        "recent_recall10": Figure(found["most recent"]["recall@10"]),
        "frecency_recall10": Figure(found["frecency"]["recall@10"]),
        "told_touched": Figure(found["told with a prompt"]["touched"]),
    }


def score(data: Path) -> dict[str, dict[str, float]]:
    """Recall at several depths and the reciprocal rank, for each method and each idea of what counts."""
    asked = list(ask(sorted(sets.read(data, "prompt_files*"), key=lambda row: (row["ts"], row["sid"]))))
    counted = [one for one in asked if one.counts["edited before"]]
    half = len(counted) // 2
    found = {
        "likely": judge(asked, "likely"),
        "likely, older half": judge(counted[:half], "likely"),
        "likely, newer half": judge(counted[half:], "likely"),
        **{f"likely, {what}": judge(asked, "likely", what) for what in ("seen before", "read too", "all")},
        "frecency": judge(asked, "frecency"),
        "most recent": judge(asked, "most recent"),
    }
    took = sorted(one.took for one in asked)
    found["likely"] |= {"ms p50": round(took[len(took) // 2], 1), "ms p95": round(took[len(took) * 95 // 100], 1)}
    told = [(path, one.counts["read too"]) for one in asked for path in one.told]
    found["told with a prompt"] = {
        "prompts": sum(bool(one.told) for one in asked),
        "files": len(told),
        "touched": round(sum(path in meant for path, meant in told) / max(1, len(told)), 3),
    }
    for name, figures in PUBLISHED.items():
        found[name] = dict(zip((*(f"recall@{depth}" for depth in DEPTHS), "MRR"), figures, strict=True))
    return found


def judge(asked: Sequence[Asked], method: str, what: str = "edited before") -> dict[str, float]:
    """The means over the prompts that have a file that counts."""
    pairs = [(one.ranked[method], one.counts[what]) for one in asked if one.counts[what]]
    number = max(1, len(pairs))
    found = {
        f"recall@{depth}": sum(len(meant.intersection(ranked[:depth])) / len(meant) for ranked, meant in pairs) / number
        for depth in DEPTHS
    }
    found["MRR"] = sum(next((1 / (n + 1) for n, path in enumerate(r) if path in m), 0.0) for r, m in pairs) / number
    return {name: round(value, 3) for name, value in found.items()} | {"prompts": len(pairs)}


def ask(rows: Sequence[Row]) -> Iterator[Asked]:
    """Each prompt before its session is known; every repository is a project of one store."""
    past: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(f"{folder}/store.db")
        for repo in {row["repo"] for row in rows}:
            store.name_project([f"dir:/bench/{repo}"], f"dir:/bench/{repo}")
        for row in rows:
            before = past.setdefault(row["repo"], [])
            begin = time.perf_counter()
            foreseen = likely(store, row["prompt"], f"dir:/bench/{row['repo']}", DEEP)
            took = (time.perf_counter() - begin) * 1000
            ranked = {
                "likely": [one.path for one in foreseen],
                "frecency": frecent(before),
                "most recent": newest(before),
            }
            told = [one.path for one in foreseen[:FORESEEN] if one.score >= SURE and one.path not in row["prompt"]]
            yield Asked(ranked, counting(row, before), took, told)
            keep(store, row)
            before.append(row)
        store.close()


def counting(row: Row, before: Sequence[Row]) -> dict[str, set[str]]:
    """The files of a session that count, by each idea of that."""
    edited, read = set(row["edited"]), set(row["read"])
    wrote = {path for one in before for path in one["edited"]}
    seen = wrote | {path for one in before for path in one["read"]}
    return {
        "edited before": edited & wrote,
        "seen before": edited & seen,
        "read too": (edited | read) & seen,
        "all": edited,
    }


def newest(before: Sequence[Row]) -> list[str]:
    """The files that were edited last, first."""
    return list(dict.fromkeys(path for row in reversed(before) for path in row["edited"]))


def frecent(before: Sequence[Row]) -> list[str]:
    """The files that were edited most, where an edit counts half after some sessions."""
    weights: Counter[str] = Counter()
    for age, row in enumerate(reversed(before)):
        for path in row["edited"]:
            weights[path] += 0.5 ** (age / HALF_LIFE)
    return [path for path, _ in weights.most_common()]


def keep(store: SqliteStore, row: Row) -> None:
    """Record a session as its transcript would have been."""
    project, session = f"dir:/bench/{row['repo']}", f"{row['repo']}-{row['sid']}"
    at = datetime.fromisoformat(row["ts"]).timestamp()
    source = store.begin(Source(f"/bench/{session}.jsonl", session, project))
    placed = [
        Placed(Event(f"{session}:{n}", at + n / 1000, kind, session, project, text, tool, path), n)
        for n, (kind, text, tool, path) in enumerate(happened(row))
    ]
    store.record(source._replace(at=placed[-1].event.at), placed)


def happened(row: Row) -> Iterator[tuple[str, str, str, str]]:
    """What a session said and called: kind, text, tool, path."""
    users, text = row["users"], row["text"]
    yield "prompt", row["prompt"], "", ""
    for said in messages(users[len(row["prompt"]) :]):
        yield "prompt", said, "", ""
    for tool, touched in (("Read", row["read"]), ("Edit", row["edited"])):
        for name, times in touched.items():
            path = f"/bench/{row['repo']}/{name}"
            yield from [("call", f"file_path: {path}", tool, path)] * times
    for said in messages(text[len(users) :]):
        yield "reply", said, "", ""


def messages(text: str) -> Iterator[str]:
    """Whole lines, about as many as make a message."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        if lines and sum(map(len, lines)) + len(line) > MESSAGE:
            yield "\n".join(lines)
            lines = []
        lines.append(line)
    if lines:
        yield "\n".join(lines)
