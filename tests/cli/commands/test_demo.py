"""`demo`: what somebody sees who has only just heard of this."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from random import Random
from time import gmtime, sleep, strftime, time

ROOT = Path(__file__).parents[3]
DECIDED = "I decided against tenacity"


def run(folder: Path, *more: str) -> str:
    """As it is called in a checkout, with nothing of the person's own."""
    folder.mkdir()
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}
    done = subprocess.run(
        [ROOT / "memory-keeper", "demo", *more], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [*folder.iterdir()] == [], "it leaves nothing behind"
    return done.stdout


def test_it_shows_a_session_from_its_first_prompt_to_the_one_that_goes_on(tmp_path: Path) -> None:
    said = run(tmp_path / "demo")
    compacted, _, began = said.partition("2. The session is over")
    for shown in ("compaction is near", "Keep as they are written:", "Its summary keeps", "are brought back in"):
        assert shown in compacted, shown
    assert DECIDED in compacted, "the summary lost it"
    for shown in (
        "HANDOFF-",
        "## Handoff of session 11111111",
        "on branch `retry-uploads`",
        "0 model requests",
        " docs tutorial: ",
    ):
        assert shown in began, shown


def test_its_dates_are_of_the_last_days(tmp_path: Path) -> None:
    said = run(tmp_path / "demo", "--json")
    days = {*re.findall(r"20\d\d-\d\d-\d\d", said)}
    recent = {strftime("%Y-%m-%d", gmtime(time() - ago * 86_400)) for ago in range(-1, 4)}
    assert days and days <= recent


def test_it_says_the_same_as_json(tmp_path: Path) -> None:
    said = json.loads(run(tmp_path / "demo", "--json"))
    (score,) = said["compactions"]
    assert 0 < score["kept_percent"] < 100
    assert 0 < score["brought"] <= score["lost"]
    assert said["handoff"].startswith("---\n")
    assert said["brief"].startswith('<memory-keeper brief="start"')
    assert DECIDED in said["raw"]
    for known in (DECIDED, "httpx is the only runtime dependency"):
        assert known in said["brief"], "the next session knows what was decided, and why"


def test_who_ends_it_finds_nothing_left(tmp_path: Path) -> None:
    """At any moment, and with more than one Ctrl-C; what it started hears of that too, or does not."""
    folder, moments = tmp_path / "demo", Random(5)
    folder.mkdir()
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}
    for turn in range(8):
        demo = subprocess.Popen(
            [ROOT / "memory-keeper", "demo"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        while not [*folder.iterdir()]:
            assert demo.poll() is None
        sleep(moments.uniform(0, 1.2))
        for _ in range(3):
            with suppress(ProcessLookupError):
                (os.killpg if turn % 2 else os.kill)(demo.pid, signal.SIGINT)
        said = demo.communicate(timeout=60)[1]
        assert [*folder.rglob("*")] == [], said
