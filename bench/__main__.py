"""Run the benchmarks: all of them, or one by its name.

./dev bench [--data DIR] [--full]            all, one after the other; their figures go into docs/figures.json
./dev bench NAME [ARGS] [--write]            one: its tables; with --write its figures go there too
./dev bench --list                           what there is, and what each needs

DIR has what the benchmarks need, anywhere below it: public sets of questions and any transcripts. A benchmark that
cannot be run keeps the figures it had, with their date. docs/explanation/figures.md is made of the figures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.tools import figures, measure
from memory_keeper import __version__

WRITTEN = measure.ROOT / "docs/figures.json"
TRANSCRIPTS, CONVERSATIONS, DIALOGUES, PROMPTS = "transcripts", "LoCoMo, BEAM", "MemoryCode", "prompt_files"
PROBES = "transcripts and questions about them"


class Bench(NamedTuple):
    """A benchmark as it is run with all others."""

    name: str  # of its module, unless that is given
    needs: str = ""  # what has to be below --data
    args: tuple[str, ...] = ()
    module: str = ""
    full: bool = False  # only with --full
    takes: bool = False  # --data, where it is given


BENCHES = (
    Bench("hooks"),
    Bench("cli"),
    Bench("agents"),
    Bench("cost"),
    Bench("retention", TRANSCRIPTS),
    Bench("probes", PROBES),
    Bench("grounding", TRANSCRIPTS),
    Bench("recall_sets", CONVERSATIONS),
    Bench("recall_speed"),
    Bench("recall_million", args=("--rows", "1000000"), module="recall_speed", full=True),
    Bench("prompt_files", PROMPTS),
    Bench("meaning", CONVERSATIONS),
    Bench("rules", DIALOGUES),
    Bench("usage", TRANSCRIPTS),
    Bench("secrets", takes=True),
    Bench("ingest", takes=True),
    Bench("month"),
    Bench("dashboard", full=True),
    Bench("team", args=("--rows", "100000")),
    Bench("team_million", args=("--rows", "1000000"), module="team", full=True),
)
BY_NAME = {one.name: one for one in BENCHES}


def main(argv: Sequence[str]) -> int:
    """What was asked for."""
    if argv and not argv[0].startswith("-"):
        return run_one(argv[0], list(argv[1:]))
    parser = argparse.ArgumentParser(
        "dev bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="DIR")
    parser.add_argument("--full", action="store_true", help="also what takes long: a million rows")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args(argv)
    if args.list:
        for one in BENCHES:
            print(f"{one.name:14} {(module_of(one).__doc__ or '').partition(chr(10))[0]}")
        return 0
    return run_all(args.data, args.full)


def run_all(data: Path | None, full: bool) -> int:
    """Every benchmark that can be run, with a line each; 1 where one failed."""
    failed = []
    for one in BENCHES:
        begin = time.monotonic()
        code, said = (3, without(one, full)) if (one.full and not full) or (one.needs and not data) else run(one, data)
        spent = f"{time.monotonic() - begin:6.1f} s"
        if code == 3:
            print(f"{one.name:14} left out: {said}", flush=True)
        else:
            print(f"{one.name:14} {spent}{f'  FAILED: {said}' if code else ''}", flush=True)
            failed += [one.name] if code else []
    print(f"failed: {', '.join(failed)}" if failed else f"written: {WRITTEN.relative_to(measure.ROOT)}")
    return bool(failed)


def without(one: Bench, full: bool) -> str:
    """Why a benchmark is not even begun."""
    return "only with --full" if one.full and not full else f"no --data with {one.needs}"


def run(one: Bench, data: Path | None) -> tuple[int, str]:
    """One in a process of its own, its figures written down; its exit code, and what it said last."""
    given = [*one.args, *(["--data", str(data)] if data and (one.needs or one.takes) else [])]
    command = [sys.executable, "-P", "-m", "bench", one.name, *given, "--json"]
    machine = measure.machine()
    with tempfile.TemporaryFile("w+") as heard:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=heard, text=True)
        heard.seek(0)
        last = (heard.read().strip().splitlines() or [""])[-1]
    if done.stdout.strip():
        write(one, given, machine, json.loads(done.stdout))
    return done.returncode, last


def run_one(name: str, args: list[str]) -> int:
    """One as it was asked for."""
    one = BY_NAME.get(name)
    if one is None:
        print(f"No benchmark {name!r}; there are: {', '.join(BY_NAME)}", file=sys.stderr)
        return 2
    module = module_of(one)
    given = [*one.args, *(arg for arg in args if arg != "--write")]
    machine, said = measure.machine(), figures.Figures()

    def measured(args: argparse.Namespace) -> figures.Figures:
        said.update(module.run(args))
        return said

    code = figures.main(module.__doc__, module.arguments, measured, given)
    if "--write" in args and said:
        write(one, given, machine, {key: figure.body() for key, figure in said.items()})
    return code


def module_of(one: Bench) -> Any:
    """What measures it: `arguments(parser)` and `run(args) -> Figures`."""
    return importlib.import_module(f"bench.{one.module or one.name}")


def write(one: Bench, args: Sequence[str], machine: str, said: dict[str, Any], place: Path = WRITTEN) -> None:
    """Keep the figures of a benchmark, beside those of the others; nobody has to know where our data lie."""
    known = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    more = args[len(one.args) :]
    shown = ["DIR" if number and more[number - 1] == "--data" else arg for number, arg in enumerate(more)]
    shown = ["FILE" if "/" in arg else arg for arg in shown]
    known[one.name] = {
        "at": time.strftime("%Y-%m-%d"),
        "command": " ".join(["./dev bench", one.name, *(arg for arg in shown if arg != "--json"), "--write"]),
        "machine": machine,
        "version": version(),
        "figures": said,
    }
    known = {name: known[name] for name in BY_NAME if name in known}
    place.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def version() -> str:
    """Ours, with the commit where there is one, and whether what was measured is that."""
    commit = git("rev-parse", "--short", "HEAD")
    changed = git("status", "--porcelain", "--", "src", "bench", "plugin")
    return f"{__version__} ({commit}{', changed' if changed else ''})" if commit else __version__


def git(*args: str) -> str:
    """What git says of the checkout; nothing where there is no git."""
    try:
        return subprocess.run(["git", "-C", str(measure.ROOT), *args], capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
