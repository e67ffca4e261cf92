"""The faults: every test below gets the marker, and the full sweep says how many points it tried."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.faultpoint import compile_shim
from tests.warm import Several

HERE = Path(__file__).parent
FIGURES = ("points", "lost", "doubled", "wrong", "exits")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full-faults", action="store_true", help="try every point (also: FAULTS=full)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("faults")


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether every point is to be tried."""
    asked = request.config.getoption("--full-faults", default=False)
    return bool(asked) or os.environ.get("FAULTS") == "full"


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes disks fail."""
    return compile_shim(tmp_path_factory.mktemp("faultpoint"))


@pytest.fixture(scope="session")
def warm(shim: Path) -> Iterator[Several]:
    """What forks for each call, on such a disk."""
    made = Several(str(shim))
    yield made
    made.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures of all sweeps, one line for each kind of fault."""
    table: dict[str, Counter[str]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            figures = dict(getattr(report, "user_properties", ()))
            if "fault" in figures and report.when == "call":
                row = table.setdefault(str(figures["fault"]), Counter())
                row.update({name: int(str(figures[name])) for name in FIGURES})
    if table:
        terminalreporter.section("faults")
    for name, row in sorted(table.items()):
        terminalreporter.line(f"{name:32} " + "  ".join(f"{figure}: {row[figure]}" for figure in FIGURES))
