"""A dashboard over a store that the hooks filled, and a browser that was let in; without its packages none of this."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.machine import Machine, Session

if TYPE_CHECKING:
    from starlette.testclient import TestClient

PORT = 4711
HERE = f"http://127.0.0.1:{PORT}"
SUMMARY = "The user wants the uploader to retry a failed chunk five times before it gives up."
PAGES = ["test_browser.py", "test_guard.py", "test_pages.py", "test_writes.py"]
collect_ignore = [] if find_spec("starlette") else PAGES
collect_ignore += [] if find_spec("playwright") else PAGES[:1]


class Browser:
    """Asks as a browser would that has the page open."""

    def __init__(self, machine: Machine) -> None:
        from starlette.testclient import TestClient

        from memory_keeper.dashboard.app import build
        from memory_keeper.dashboard.guard import Guard

        self.guard = Guard(PORT)
        build(str(machine.home), str(machine.project), self.guard)
        self.client: TestClient = TestClient(self.guard, base_url=HERE, follow_redirects=False)

    def enter(self) -> Browser:
        assert self.client.get(self.guard.link).status_code == 200
        return self

    def get(self, path: str = "", code: int = 200, **given: Any) -> str:
        answer = self.client.get(f"{self.guard.base}/{path}", **given)
        assert answer.status_code == code, answer.text
        return answer.text

    def post(self, what: str, fields: dict[str, str], **headers: str) -> Any:
        return self.client.post(f"{self.guard.base}/do/{what}", data=fields, headers={"Origin": HERE, **headers})

    def fields(self, page: str, words: str) -> dict[str, str]:
        """What the form says whose button has these words."""
        form = next(one for one in re.findall(r"<form.*?</form>", page, re.S) if f">{words}</button>" in one)
        return dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))


@pytest.fixture
def worked(machine: Machine) -> Session:
    """A session that was compacted and is over."""
    session = machine.session()
    session.start()
    session.turn("Make the uploader retry a failed chunk five times before it gives up.", "I will look at it.")
    session.call("Read", {"file_path": "src/uploader/client.py"}, "def upload_part(): ...")
    session.turn("Why not tenacity?", "Decision: no tenacity, because it would be a new dependency for one loop.")
    session.transcript.compact(SUMMARY)
    session.write()
    session.turn("Go on.", "Done: src/uploader/client.py retries now.")
    session.end()
    machine.settle()
    machine.catch_up()
    return session


@pytest.fixture
def browser(machine: Machine, worked: Session) -> Browser:
    return Browser(machine).enter()
