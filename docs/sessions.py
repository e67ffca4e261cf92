"""Records the handoffs of the pages, from sessions of the real Claude Code (`./dev docs --handoffs`).

A scripted model plays; its tools do real work in a small repository. What our hooks write when a session ends stands in
docs/examples as it was written, but for what differs from one recording to the next: ids, times, and where it was.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from docs.record import home
from docs.stories import STORIES, TOLD, Story, Work
from tests.e2e.cli import Sandbox, Session, wait_for
from tests.e2e.conftest import ship
from tests.e2e.model import Model, text

EXAMPLES = Path(__file__).resolve().parent / "examples"
MODEL = ("--model", "claude-opus-5-5", "--permission-mode", "acceptEdits", "--allowedTools", "Bash")
SHORT = 500  # tokens of the handoff as a small budget tells it
MOMENT = "2026-03-02T14:15:00"
ALWAYS = {  # so that a commit has the same name in every recording
    "GIT_AUTHOR_NAME": "Kim", "GIT_AUTHOR_EMAIL": "kim@example.com", "GIT_AUTHOR_DATE": f"{MOMENT}Z",
    "GIT_COMMITTER_NAME": "Kim", "GIT_COMMITTER_EMAIL": "kim@example.com", "GIT_COMMITTER_DATE": f"{MOMENT}Z",
    "PYTHONDONTWRITEBYTECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "claude-vscode",  # prompts come as from an editor: a person has typed them
}  # fmt: skip
BRIEF = re.compile(r'<memory-keeper brief="handoff".*?</memory-keeper>', re.DOTALL)
SIGNS = re.compile(r"\[([0-9a-f]{8})(?=[:\]])|\b(?:note|handoff)-([0-9a-f]{12})\b|fence=\"([0-9a-f]+)\"")
STEADY = (  # what differs from one recording to the next, and is no id
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", f"{MOMENT}Z"),
    (r"(?<=in )\d\.\d{3}s", "0.002s"),
)


def write_project(folder: Path, story: Story, environ: dict[str, str]) -> None:
    """The repository that a session works on, with one commit."""
    for name, content in story.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
        if content.startswith("#!"):
            (folder / name).chmod(0o755)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "As it was"]):
        subprocess.run(["git", *words], cwd=folder, env=environ, check=True)


@contextmanager
def stage(checkout: Path, story: Story) -> Iterator[tuple[Sandbox, Model]]:
    """Where a session is played."""
    with home(checkout, story.folder) as (sandbox, api):
        sandbox.env |= ALWAYS
        write_project(sandbox.project, story, {**os.environ, **sandbox.env})
        yield sandbox, api


def play(sandbox: Sandbox, api: Model, story: Story) -> str:
    """A session from its beginning to its end; the handoff that was written then."""
    with Session(sandbox, *MODEL, "--session-id", story.session) as session:
        for turn in story.turns(Work(sandbox.project)):
            api.play(*turn.replies)
            session.ask(turn.prompt)
            if left := api.left("main"):
                raise AssertionError(f"{left} replies were never asked for after {turn.prompt!r}")
    written = sandbox.project / f".claude/memory/handoffs/HANDOFF-{story.session}.md"
    return wait_for(lambda: written.read_text(encoding="utf-8") if written.exists() else "", str(written))


def tell(sandbox: Sandbox, api: Model, story: Story, budget: int) -> str:
    """What a context is told that begins when that session is cleared, within so many tokens."""
    sandbox.net.run(
        ["memory-keeper", "config", "set", "tell.handoffBudget", str(budget)], env=sandbox.env, cwd=sandbox.project
    )
    api.play(text("I go on from there."))
    with Session(sandbox, *MODEL, "--resume", story.session) as session:
        session.ask("/clear")
        session.ask("Go on.")
    (told,) = {found for part in api.of("main")[-1].parts() for found in BRIEF.findall(part)}
    return str(told) + "\n"


class Steady:
    """Text as anybody would have recorded it: without the paths of this machine, the times, or ids by chance."""

    def __init__(self, root: Path, name: str) -> None:
        self._root, self._name = root, name
        self._ids: dict[str, str] = {}

    def __call__(self, recorded: str) -> str:
        """The same in what differs as every other text of this session."""
        for pattern, words in ((re.escape(str(self._root)), "~"), *STEADY):
            recorded = re.sub(pattern, words, recorded)
        return SIGNS.sub(self._replace, recorded)

    def _replace(self, found: re.Match[str]) -> str:
        id = next(group for group in found.groups() if group)
        if id not in self._ids:
            self._ids[id] = sha256(f"{self._name} {len(self._ids)}".encode()).hexdigest()[: len(id)]
        return found[0].replace(id, self._ids[id])


def main(names: list[str]) -> int:
    """Play sessions, all of them unless some are named, and keep what was handed over."""
    EXAMPLES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        checkout = ship(Path(folder))
        for name in names or STORIES:
            story = STORIES[name]
            with stage(checkout, story) as (sandbox, api):
                steady = Steady(sandbox.home, name)
                found = {f"{name}.md": steady(play(sandbox, api, story))}
                if name == TOLD:
                    found[f"{name}-{SHORT}.txt"] = steady(tell(sandbox, api, story, SHORT))
            for file, said in found.items():
                (EXAMPLES / file).write_text(said, encoding="utf-8")
                print((EXAMPLES / file).relative_to(EXAMPLES.parent.parent), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
