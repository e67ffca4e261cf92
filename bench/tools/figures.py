"""The numbers of a benchmark by name, so that pages can quote them: `--json` prints them instead of the tables."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple


class Figure(NamedTuple):
    """One number, and what it should be."""

    value: float
    unit: str = ""  # "" is a count or a share, "x" a ratio to a floor of the same run
    target: str = ""  # such as "<= 1.5"; "0" is a promise: a benchmark that breaks it fails

    def body(self) -> dict[str, float | str]:
        """As it is written down: four digits say enough, and let two runs be compared."""
        value = self.value if isinstance(self.value, int) else float(f"{self.value:.4g}")
        said: dict[str, float | str] = {"value": value, "unit": self.unit, "target": self.target}
        return {key: part for key, part in said.items() if part != ""}


Figures = dict[str, Figure]


class LeftOutError(Exception):
    """It cannot be measured here, and why."""


def main(
    about: str | None,
    arguments: Callable[[argparse.ArgumentParser], None],
    run: Callable[[argparse.Namespace], Figures],
    argv: Sequence[str] | None = None,
) -> int:
    """One benchmark: its tables for a person, or its figures for a program; 1 where a promise is broken, 3 left out."""
    name = f"./dev bench {Path(sys.argv[0]).stem}"
    parser = argparse.ArgumentParser(name, description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the figures alone, the tables on stderr")
    args = parser.parse_args(argv)
    try:
        if args.json:
            with redirect_stdout(sys.stderr):
                figures = run(args)
            print(json.dumps({name: figure.body() for name, figure in figures.items()}, indent=2))
        else:
            figures = run(args)
    except LeftOutError as why:
        print(why, file=sys.stderr)
        return 3
    broken = [name for name, figure in figures.items() if figure.target == "0" and figure.value]
    for name in broken:
        print(f"{name} is {figures[name].value:g}, and has to be 0", file=sys.stderr)
    return bool(broken)
