"""Sums of tokens: each response once, whatever repeats it; days and months are the user's own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_keeper.keeper import Keeper
from memory_keeper.model import Source
from memory_keeper.store.usage import main_models, tool_calls
from tests.transcripts import START, Transcript, dump, thinking

FIELDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "someone's-model")
STEPS = ("reply", "call", "many", "side", "error", "compact", "later", "agent", "fork", "copy", "shrunk")
HOMES = count()
PROJECT = "dir:/p"


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Move the machine somewhere else."""

    def move(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


def read(home: Path, *files: tuple[Path, Source]) -> Keeper:
    """A keeper that has read some files, in that order."""
    keeper = Keeper(str(home), {})
    for path, source in files:
        keeper.read(source._replace(path=str(path)))
    return keeper


def kept(folder: Path, transcript: Transcript, project: str = PROJECT) -> tuple[Path, Source]:
    return transcript.write(folder / transcript.name), Source("", transcript.session, project, transcript.agent)


def session(number: int = 1, start: float = START) -> Transcript:
    return Transcript(f"{number:08x}-0000-4000-8000-{number:012x}", "/p", seed=number, start=start)


def naive(files: list[tuple[Path, Source]]) -> dict[str, dict[str, Any]]:
    """Every response by its message id, from the lines themselves: first come, and the largest output stays."""
    found: dict[str, dict[str, Any]] = {}
    for path, source in files:
        for line in path.read_bytes().splitlines():
            entry = json.loads(line)
            message = entry.get("message") if entry.get("type") == "assistant" else None
            if not message or message["model"] == "<synthetic>":
                continue
            counts = [message["usage"][field] for field in FIELDS]
            at = datetime.fromisoformat(entry["timestamp"]).timestamp()
            about = {"counts": counts, "model": message["model"], "session": source.session, "at": at}
            known = found.setdefault(message["id"], about)
            known["counts"][3] = max(known["counts"][3], counts[3])
    return found


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, int]]:
    return draw(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 2**16)), min_size=1, max_size=14))


def happen(steps: list[tuple[str, int]], folder: Path) -> list[tuple[Path, Source]]:
    """Sessions with split lines, subagents, forks and copies, as files."""
    main, numbers = session(), count(2)
    others: list[Transcript] = []
    files: list[tuple[Path, Source]] = []
    for step, seed in steps:
        random, model = Random(seed), MODELS[seed % len(MODELS)]
        if step == "reply":
            main.reply(*["a"] * random.randint(1, 4), thinking("b"), model=model, usage=random.randint(9, 300_000))
        elif step == "call":
            main.parallel(*[("Bash", {"command": "ls"}, "x" * random.randint(0, 900))] * random.randint(1, 3))
        elif step == "many":
            main.multi_block("one", "two")
        elif step == "side":
            main.sidechain("look", "found", "more")
        elif step == "error":
            main.api_error()
        elif step == "compact":
            main.compact("A summary.")
        elif step == "later":
            main.at += random.uniform(1, 40 * 86_400)
        elif step == "agent":
            others.append(main.subagent(f"a{next(numbers)}"))
            others[-1].reply("in an agent", "again", model=model)
        elif step == "fork":
            others.append(main.fork(session(next(numbers)).session))
            others[-1].reply("in the fork", usage=random.randint(9, 99_999))
        elif step in ("copy", "shrunk") and main.lines:
            rows = [json.loads(dump(row)) for row in main.lines]
            for row in rows if step == "shrunk" else ():
                if row.get("message", {}).get("usage"):
                    row["message"]["usage"]["output_tokens"] //= 3  # a stub, as some copies have
            path = folder / f"copy-{next(numbers)}.jsonl"
            path.write_bytes(b"".join(map(dump, rows)))
            files.append((path, Source("", path.stem, PROJECT)))
    return [*files, kept(folder, main), *(kept(folder, other) for other in others)]


@given(histories(), st.randoms(use_true_random=False))
def test_each_response_counts_once(tmp_path_factory: pytest.TempPathFactory, steps: Any, random: Any) -> None:
    folder = tmp_path_factory.mktemp(f"h{next(HOMES)}")
    files = happen(steps, folder)
    random.shuffle(files)
    with read(folder / "home", *files, *files) as keeper:
        wanted = naive(files)
        store = keeper.store
        for by, key in (
            ("", lambda one: ""),
            ("model", lambda one: one["model"]),
            ("session", lambda one: one["session"]),
            ("day", lambda one: time.strftime("%Y-%m-%d", time.localtime(one["at"]))),
        ):
            expected: dict[str, list[int]] = {}
            for one in wanted.values():
                sums = expected.setdefault(key(one), [0] * 5)
                expected[key(one)] = [sums[0] + 1, *(a + b for a, b in zip(sums[1:], one["counts"], strict=True))]
            found: dict[str, list[int]] = {}
            for row in store.spending(by, sizes=(1000, 100_000)):
                sums = found.setdefault(row.key, [0] * 5)
                found[row.key] = [a + b for a, b in zip(sums, row[3:], strict=True)]
            assert found == expected


def test_a_later_line_with_a_larger_output_wins_even_in_a_later_look(tmp_path: Path) -> None:
    made = session()
    first, second, third = made.reply("one", "two", "three")
    second["message"]["usage"]["output_tokens"], third["message"]["usage"]["output_tokens"] = 900, 40
    path, source = made.write(tmp_path / "t.jsonl"), Source(str(tmp_path / "t.jsonl"), made.session, PROJECT)
    lines = path.read_bytes().splitlines(keepends=True)
    with Keeper(str(tmp_path / "home"), {}) as keeper:
        for upto in range(1, 4):
            path.write_bytes(b"".join(lines[:upto]))
            keeper.read(keeper.writer.source(str(path)) or source)
        (row,) = keeper.store.spending()
    assert (row.requests, row.output) == (1, 900)
    assert first["message"]["usage"]["output_tokens"] < 900


def test_what_the_host_says_in_the_models_place_is_no_response(tmp_path: Path) -> None:
    made = session()
    made.api_error()
    with read(tmp_path / "home", kept(tmp_path, made)) as keeper:
        assert keeper.store.spending() == []


@pytest.mark.parametrize(
    ("where", "day"), [("UTC", "2026-03-31"), ("Asia/Seoul", "2026-04-01"), ("America/New_York", "2026-03-31")]
)
def test_a_day_is_the_users(tmp_path: Path, zone: Callable[[str], None], where: str, day: str) -> None:
    zone(where)
    made = session(start=datetime(2026, 3, 31, 23, 30, tzinfo=UTC).timestamp())
    made.reply("late")
    with read(tmp_path / "home", kept(tmp_path, made)) as keeper:
        assert [row.key for row in keeper.store.spending("day")] == [day]


def test_a_span_has_its_beginning_and_not_its_end(tmp_path: Path) -> None:
    made = session()
    made.reply("once")
    with read(tmp_path / "home", kept(tmp_path, made)) as keeper:
        (at,) = (used.first for used in keeper.store.used())
        assert len(keeper.store.spending(since=at)) == 1
        assert keeper.store.spending(until=at) == []


def test_sizes_divide_what_is_above_them(tmp_path: Path) -> None:
    made = session()
    for size in (50_000, 100_000, 100_001, 250_000):
        made.reply("on", usage=size)
    with read(tmp_path / "home", kept(tmp_path, made)) as keeper:
        rows = keeper.store.spending(sizes=(200_000, 100_000))
    assert [(row.above, row.requests) for row in rows] == [(0, 2), (100_000, 1), (200_000, 1)]


def test_the_context_of_a_session_is_its_main_threads(tmp_path: Path) -> None:
    made = session()
    made.reply("on", usage=30_000)
    made.reply("on", usage=90_000)
    agent = made.subagent("a1")
    agent.reply("in an agent", usage=400_000)
    small = session(2)
    small.reply("on", usage=1_000)
    with read(tmp_path / "home", kept(tmp_path, made), kept(tmp_path, agent), kept(tmp_path, small)) as keeper:
        found = keeper.store.used(PROJECT)
    assert [(one.session, one.requests, one.begun, one.peak) for one in found] == [
        (made.session, 3, 30_000, 90_000),
        (small.session, 1, 1_000, 1_000),
    ]


def test_projects_are_apart(tmp_path: Path) -> None:
    here, there = session(), session(2)
    here.reply("here")
    there.reply("there")
    with read(tmp_path / "home", kept(tmp_path, here), kept(tmp_path, there, "dir:/q")) as keeper:
        store = keeper.store
        assert store.projects() == ["dir:/p", "dir:/q"]
        assert [row.requests for row in store.spending(project="dir:/q")] == [1]
        assert main_models(store).keys() == {here.session, there.session}


def test_a_result_has_the_tool_of_its_call(tmp_path: Path) -> None:
    made = session()
    made.call("Grep", {"pattern": "x"}, "found")
    with read(tmp_path / "home", kept(tmp_path, made)) as keeper:
        found = [(tool, event.kind) for tool, event in tool_calls(keeper.store, PROJECT, 0.0, 0.0)]
    assert sorted(found) == [("Grep", "call"), ("Grep", "result")]
