"""The figures that pages quote: each was measured, says when and how, and can be measured again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from bench.__main__ import BENCHES, BY_NAME, module_of, write
from docs import figures

ROOT = Path(__file__).resolve().parents[2]
ROWS = [row for area in figures.AREAS for row in area.rows]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def bench(*args: str) -> subprocess.CompletedProcess[str]:
    """As `./dev bench` runs one."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    return subprocess.run([sys.executable, "-P", "-m", "bench", *args], capture_output=True, text=True, env=env)


# --- what is written down ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", figures.measured())
def test_a_benchmark_says_when_where_and_how(name: str) -> None:
    said = figures.measured()[name]
    assert name in BY_NAME
    assert date.fromisoformat(said["at"]) <= date.today()
    assert said["command"].startswith(f"./dev bench {name} ")
    assert "/" not in said["command"].removeprefix("./dev"), "nobody else has that folder"
    assert said["machine"]
    assert said["version"]


@pytest.mark.parametrize("name", figures.measured())
def test_figures_are_numbers_that_can_be_compared(name: str) -> None:
    for own, figure in figures.measured()[name]["figures"].items():
        assert re.fullmatch(r"[a-z0-9_]+", own)
        assert isinstance(figure["value"], int | float)
        assert figure.keys() <= {"value", "unit", "target"}
        assert re.fullmatch(r"0|[<>]= [\d.]+", figure.get("target", "0"))
        assert figures.value(f"{name}.{own}")
        assert figures.met(f"{name}.{own}") in (True, False, None)


def test_what_is_said_of_others_has_a_source() -> None:
    for group, said in figures.peers().items():
        assert re.fullmatch(r"measured \d{4}-\d\d|published", said["source"]), group
        assert {"what", "source"} < said.keys()


# --- what is quoted ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_every_quoted_figure_exists(row: figures.Row) -> None:
    for text in row:
        assert not re.search(r"\{|(?<!\w)@", figures.fill(text))


def test_pages_quote_what_exists() -> None:
    named = [name for page in PAGES for name in re.findall(r"(?:value|percent)\(['\"](.+?)['\"]\)", page.read_text())]
    assert all(figures.figure(name) for name in named)


def test_a_target_that_is_missed_is_said_to_be() -> None:
    page = figures.page()
    missed = [row for row in ROWS if figures.met(figures.NAMED.findall(row.ours)[0][0]) is False]
    assert page.count("**not met**") == len(missed)


# --- measuring again --------------------------------------------------------------------------------------------------


def test_every_benchmark_is_in_the_table() -> None:
    files = {path.stem for path in (ROOT / "bench").glob("*.py") if not path.stem.startswith("_")}
    assert files - {"train_ranker"} == {one.module or one.name for one in BENCHES}


@pytest.mark.parametrize("name", BY_NAME)
def test_every_benchmark_says_what_it_is_and_how_it_is_called(name: str) -> None:
    module = module_of(BY_NAME[name])
    first, second = (module.__doc__ or "").split("\n\n")[:2]
    assert "\n" not in first
    assert f"./dev bench {BY_NAME[name].module or name} " in second
    assert "[--json]" in second
    assert callable(module.arguments)
    assert callable(module.run)


@pytest.mark.parametrize(
    ("args", "some"),
    [(("cost", "--prompts", "3"), {"schema", "start", "prompts"}), (("secrets", "--each", "1"), {"tier_1", "planted"})],
)
def test_a_benchmark_gives_its_figures_as_json(args: tuple[str, ...], some: set[str]) -> None:
    done = bench(*args, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert some <= said.keys()
    assert said.keys() <= figures.measured()[args[0]]["figures"].keys(), "what was written down is of this benchmark"


def test_what_cannot_be_measured_here_is_left_out(tmp_path: Path) -> None:
    for name in ("rules", "usage", "recall_sets", "probes"):
        done = bench(name, "--data", str(tmp_path), "--json")
        assert (done.returncode, done.stdout) == (3, "")
        assert str(tmp_path) in done.stderr


def test_an_unknown_benchmark_is_said_to_be_unknown() -> None:
    done = bench("nothing")
    assert done.returncode == 2
    assert "there are: hooks, " in done.stderr


@pytest.mark.git
def test_figures_of_others_stay_when_one_is_written(tmp_path: Path) -> None:
    place = tmp_path / "figures.json"
    write(BY_NAME["rules"], ["--data", "/some/where"], "a machine", {"kept": {"value": 0.5}}, place)
    write(BY_NAME["hooks"], ["--runs", "3"], "a machine", {"flat": {"value": 1.0}}, place)
    write(BY_NAME["probes"], ["--data", "/some/where", "--probes", "/some/file"], "a machine", {}, place)
    said = json.loads(place.read_text())
    assert list(said) == ["hooks", "probes", "rules"], "in the order of the page"
    assert said["probes"]["command"] == "./dev bench probes --data DIR --probes FILE --write"
    assert said["rules"]["command"] == "./dev bench rules --data DIR --write"
    assert said["hooks"]["command"] == "./dev bench hooks --runs 3 --write"
    assert said["rules"]["figures"] == {"kept": {"value": 0.5}}
