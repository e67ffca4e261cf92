"""Writes the transcript that `memory-keeper demo` replays: `python tests/data/make_demo.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.transcripts import Row, Transcript, thinking  # noqa: E402

DEMO = ROOT / "src" / "memory_keeper" / "data" / "demo.jsonl"
SESSION = "de300000-0000-4000-8000-000000000001"
HOME = "/home/dev/uploader"
CLIENT, CONFIG, RETRY = (f"{HOME}/src/uploader/{name}.py" for name in ("client", "config", "retry"))
TESTS = f"{HOME}/tests/test_retry.py"

CLIENT_OLD = '''"""The upload client: one file, in parts, over one connection pool."""

import httpx

from uploader.config import UploaderConfig


class UploadError(Exception):
    """A part could not be sent."""


class UploadClient:
    def __init__(self, config: UploaderConfig, http: httpx.Client | None = None) -> None:
        self.config = config
        self.http = http or httpx.Client(base_url=config.base_url, timeout=config.timeout)

    def upload_part(self, session_id: str, number: int, data: bytes) -> str:
        """Send one part and return its ETag."""
        answer = self.http.put(f"/sessions/{session_id}/parts/{number}", content=data)
        if answer.status_code >= 400:
            raise UploadError(f"part {number}: HTTP {answer.status_code}")
        return answer.headers["ETag"]
'''
CONFIG_OLD = '''"""Where to upload to, and how patiently."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class UploaderConfig:
    base_url: str
    timeout: float = 30.0
    part_size: int = 8 * 1024 * 1024

    @classmethod
    def from_env(cls) -> "UploaderConfig":
        return cls(base_url=os.environ["UPLOADER_URL"])
'''
IMPORT_OLD = "import httpx\n\nfrom uploader.config import UploaderConfig\n"
IMPORT_NEW = f"import logging\n\n{IMPORT_OLD}from uploader.retry import with_retry\n"
PUT_OLD = 'self.http.put(f"/sessions/{session_id}/parts/{number}", content=data)'
PUT_NEW = f"with_retry(lambda: {PUT_OLD})"
RETRY_NEW = '''"""Try again, but politely: exponential back-off with full jitter."""

import random
import time
from collections.abc import Callable

import httpx

TRIES = 5
BASE = 0.5
CAP = 20.0
RETRIED = {500, 502, 503, 504}


def next_delay(attempt: int) -> float:
    """Seconds to wait before attempt number `attempt`."""
    return min(CAP, random.uniform(0, BASE * 2**attempt))


def with_retry(send: Callable[[], httpx.Response], sleep: Callable[[float], None] = time.sleep) -> httpx.Response:
    for attempt in range(1, TRIES + 1):
        try:
            answer = send()
        except httpx.TransportError:
            if attempt == TRIES:
                raise
            answer = None
        else:
            if answer.status_code not in RETRIED or attempt == TRIES:
                return answer
        sleep(next_delay(attempt))
    raise AssertionError("unreachable")
'''
TESTS_NEW = '''"""Back-off: how long, how often, and when not at all."""

import httpx
import pytest

from uploader import retry


@pytest.mark.parametrize("attempt", range(5))
def test_first_delay_is_at_most_half_a_second_then_it_doubles(attempt):
    assert all(retry.next_delay(attempt) <= min(20.0, 0.5 * 2**attempt) for _ in range(1000))


def test_a_503_is_tried_again_and_a_404_is_not():
    for status, calls in ((503, 5), (404, 1)):
        sent = []
        retry.with_retry(lambda: sent.append(1) or httpx.Response(status), sleep=lambda _: None)
        assert len(sent) == calls


def test_five_tries_wait_four_times():
    slept = []
    retry.with_retry(lambda: httpx.Response(503), sleep=slept.append)
    assert len(slept) == 4
    assert slept[0] <= 0.5
'''
FAILED = """....................F
=================================== FAILURES ===================================
_________________________ test_five_tries_wait_four_times ______________________
    def test_five_tries_wait_four_times():
        slept = []
        retry.with_retry(lambda: httpx.Response(503), sleep=slept.append)
        assert len(slept) == 4
>       assert slept[0] <= 0.5
E       assert 0.8713 <= 0.5
tests/test_retry.py:28: AssertionError
=========================== short test summary info ============================
FAILED tests/test_retry.py::test_five_tries_wait_four_times - assert 0.8713 <= 0.5
1 failed, 20 passed in 1.42s"""
WAIT_OLD = "        sleep(next_delay(attempt - 1))"
WAIT_NEW = '''        wait = wait_for(answer, attempt - 1)
        log.warning("try %d of %d failed, waiting %.1f s", attempt, TRIES, wait)
        sleep(wait)


def wait_for(answer, attempt: int) -> float:
    """What the server asks for, else our own back-off."""
    asked = answer.headers.get("Retry-After") if answer is not None else None
    return float(asked) if asked else next_delay(attempt)'''
CHECK_FAILED = """ruff check src tests
src/uploader/client.py:3:8: F401 [*] `logging` imported but unused
mypy --strict src
src/uploader/retry.py:41: error: Function is missing a type annotation for one or more arguments  [no-untyped-def]
Found 1 error in 1 file (checked 6 source files)
make: *** [Makefile:7: check] Error 1"""
SUMMARY = """Summary:
1. Primary request: add retry with back-off to the upload client of /home/dev/uploader and describe it in the README.
   At most five tries. Never retry a 4xx, except 429, whose Retry-After is respected. Log every retry at WARNING.
2. Done and committed (8c1f2ab): src/uploader/retry.py (next_delay, wait_for, with_retry), used by
   UploadClient.upload_part in src/uploader/client.py; tests/test_retry.py.
3. Errors and fixes: the first delay was twice too long because attempts were counted from 1. `make check` failed once
   (unused import, missing annotation); both fixed.
4. The user wants `make check` to be run before anything is called done.
5. In progress: UploaderConfig has max_tries and max_wait (UPLOADER_MAX_TRIES, UPLOADER_MAX_WAIT); with_retry does not
   use them yet. Fewer than one try must be refused when the config is made.
6. Pending: the README section about retries."""


def story() -> Transcript:
    """A day's work on a small project, from the request to the question next morning."""
    t = Transcript(SESSION, HOME, seed=7)
    t.model = "claude-sonnet-4-6"  # a window of 200,000 tokens, compacted at 167,000
    t.branch = "retry-uploads"

    def say(context: int, *blocks: str | Row) -> None:
        t.reply(*blocks, usage=context)

    def call(context: int, tool: str, given: Row, result: str, **more: Any) -> None:
        t.context = context
        t.call(tool, given, result, **more)

    def edit(context: int, path: str, old: str, new: str, **more: Any) -> None:
        given = {"file_path": path, "old_string": old, "new_string": new}
        call(context, "Edit", given, f"The file {path} has been updated successfully.", **more)

    def bash(context: int, command: str, about: str, output: str, **more: Any) -> None:
        call(context, "Bash", {"command": command, "description": about}, output, **more)

    def ask(minutes: int, text: str) -> None:
        t.at += minutes * 60
        t.prompt(text)

    t.snapshot()
    ask(
        0,
        "Uploads fail for good as soon as the server answers 503 once. Add retry with back-off to the upload client: "
        "at most five tries, and never retry a 4xx. Describe it in the README when it works.",
    )
    starting = "I'll start with the client and see where a part is sent."
    call(19_400, "Read", {"file_path": CLIENT}, CLIENT_OLD, say=starting)
    t.context = 27_300
    t.parallel(
        ("Read", {"file_path": CONFIG}, CONFIG_OLD),
        ("Grep", {"pattern": "upload_part\\(", "path": "src"}, "src/uploader/client.py:18\nsrc/uploader/resume.py:44"),
    )
    t.context = 33_100
    t.task_create("Write retry.py and use it in upload_part", "Exponential, full jitter, five tries, no 4xx")
    t.task_create("Describe retries in the README")
    bash(46_900, "pytest -q", "Run the tests as they are", "..............\n14 passed in 1.07s")
    say(
        52_700,
        thinking("tenacity would do this, but httpx is the only dependency those build machines allow."),
        "I decided against tenacity and write the loop ourselves, because httpx is the only runtime dependency that "
        "the locked-down build machines allow, and Retry-After would have to be wrapped anyway. It is about thirty "
        "lines in src/uploader/retry.py.",
    )
    call(58_800, "Write", {"file_path": RETRY, "content": RETRY_NEW}, f"File created successfully at: {RETRY}")
    edit(64_200, CLIENT, IMPORT_OLD, IMPORT_NEW)
    edit(66_100, CLIENT, PUT_OLD, PUT_NEW)
    call(70_500, "Write", {"file_path": TESTS, "content": TESTS_NEW}, f"File created successfully at: {TESTS}")
    bash(76_100, "pytest -q", "Run all tests", f"Exit code 1\n{FAILED}", is_error=True)
    edit(
        83_600,
        RETRY,
        "        sleep(next_delay(attempt))",
        WAIT_OLD,
        think="Attempts count from 1, so the first delay is drawn from 0..1.0 instead of 0..0.5: off by one.",
        say="The first delay is twice too long: with_retry counts attempts from 1, next_delay expects 0.",
    )
    bash(89_000, "pytest -q", "Run all tests again", ".....................\n21 passed in 1.38s")
    t.context = 92_400
    t.task_update("1", "completed")
    say(95_800, "Retry is in: five tries, 0.5 s doubling up to 20 s with full jitter, no 4xx. 21 tests pass.")
    t.stop(412.6)

    ask(
        9,
        "Good. The server also answers 429 with Retry-After when it is busy: respect that one. And log every retry at "
        "WARNING.",
    )
    found = "docs/server.md:112:429 and 503 carry Retry-After in whole seconds, never a date."
    call(101_200, "Grep", {"pattern": "Retry-After", "path": ".", "output_mode": "content"}, found)
    edit(
        107_900,
        RETRY,
        "RETRIED = {500, 502, 503, 504}",
        "RETRIED = {429, 500, 502, 503, 504}",
        say="429 becomes the one 4xx that is retried. docs/server.md says whole seconds only, so I do not parse dates.",
    )
    edit(114_600, RETRY, WAIT_OLD, WAIT_NEW)
    bash(121_300, "pytest -q", "Run all tests", "........................\n24 passed in 1.40s")
    say(125_700, "429 is retried after the seconds the server asks for, and every retry is logged at WARNING.")

    ask(4, "Please always run `make check` before you tell me something is done. Then commit.")
    bash(131_900, "make check", "Lint, types and tests", f"Exit code 2\n{CHECK_FAILED}", is_error=True)
    edit(137_200, CLIENT, "import logging\n\nimport httpx", "import httpx")
    edit(141_800, RETRY, "def wait_for(answer, attempt", "def wait_for(answer: httpx.Response | None, attempt")
    bash(
        144_500,
        "make check",
        "Lint, types and tests",
        "All checks passed!\nSuccess: no issues found\n24 passed in 1.41s",
    )
    bash(147_300, "git commit -qam 'Retry uploads with back-off'", "Commit", "[retry-uploads 8c1f2ab] Retry uploads")
    say(
        149_000,
        "`make check` is clean and it is committed as 8c1f2ab. From now on I run it before I call anything done.",
    )

    ask(
        31,
        "Next: operators want to change the number of tries and the longest wait without a release. Put both into "
        "UploaderConfig and read them from the environment.",
    )
    call(153_400, "Read", {"file_path": CONFIG}, CONFIG_OLD)
    edit(
        158_900,
        CONFIG,
        "    part_size: int = 8 * 1024 * 1024\n",
        "    part_size: int = 8 * 1024 * 1024\n    max_tries: int = 5  # UPLOADER_MAX_TRIES\n"
        "    max_wait: float = 20.0  # UPLOADER_MAX_WAIT, seconds\n",
        say="UPLOADER_MAX_TRIES and UPLOADER_MAX_WAIT, with today's values as defaults.",
    )
    t.context = 162_300
    t.task_create("Let with_retry take max_tries and max_wait from UploaderConfig")
    ask(2, "While you are at it: fewer than one try makes no sense, refuse it when the config is made.")
    bash(
        165_700,
        "grep -rn 'TRIES\\|CAP' src | head",
        "Find what still uses the constants",
        "src/uploader/retry.py:9:TRIES = 5\nsrc/uploader/retry.py:11:CAP = 20.0\nsrc/uploader/retry.py:21:TRIES + 1):",
    )

    t.compact(SUMMARY, "auto", pre=168_112, post=11_840)
    call(
        13_900, "Read", {"file_path": RETRY}, RETRY_NEW, say="I go on with with_retry, which still uses the constants."
    )
    edit(18_600, RETRY, "in range(1, TRIES + 1):", "in range(1, config.max_tries + 1):")
    edit(
        22_800,
        CONFIG,
        "    @classmethod\n",
        "    def __post_init__(self) -> None:\n        if self.max_tries < 1:\n"
        '            raise ValueError("max_tries must be at least 1")\n\n    @classmethod\n',
    )
    bash(
        26_100,
        "make check",
        "Lint, types and tests",
        "All checks passed!\nSuccess: no issues found\n27 passed in 1.44s",
    )
    t.task_update("3", "completed")
    say(
        29_700,
        "Both can be set (UPLOADER_MAX_TRIES, UPLOADER_MAX_WAIT), fewer than one try is refused, and `make check` "
        "passes with 27 tests. Still open: the README section about retries.",
    )
    t.stop(655.1)
    ask(15 * 60, "What was the reason again that we did not take tenacity?")
    say(31_200, "httpx is the only runtime dependency that the build machines allow. The README section is next.")
    return t


if __name__ == "__main__":
    print(story().write(DEMO), len(story().lines), "lines")
