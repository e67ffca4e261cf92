"""The faults: every test below gets the marker, and the full sweep says how many points it tried."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.faults.faultpoint import compile_shim
from tests.warm import Several

HERE = Path(__file__).parent
Record = Callable[[str, str, Iterable[object]], None]


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


@pytest.fixture
def record(record_property: Callable[[str, object], None]) -> Record:
    """`record(what, how, verdicts)`: what each point that was tried came to; a verdict that is true is a violation."""

    def keep(what: str, how: str, verdicts: Iterable[object]) -> None:
        found = [bool(verdict) for verdict in verdicts]
        record_property("faults", (what, how, len(found), sum(found)))

    return keep


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures of all sweeps: of each hook and command, then of each kind of fault."""
    rows = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "faults" and report.when == "call"
    ]
    for place, heading in enumerate(("what was disturbed", "how")):
        tried, bad = Counter[str](), Counter[str]()
        for row in rows:
            tried[row[place]] += row[2]
            bad[row[place]] += row[3]
        if tried:
            terminalreporter.section("faults" if not place else "", "=" if not place else " ")
            terminalreporter.line(f"{heading:44} {'points':>7} {'survived':>9} {'violations':>11}")
        for name in tried:
            terminalreporter.line(f"{name:44} {tried[name]:7} {tried[name] - bad[name]:9} {bad[name]:11}")
        if tried:
            total, violations = tried.total(), bad.total()
            terminalreporter.line(f"{'all':44} {total:7} {total - violations:9} {violations:11}")
