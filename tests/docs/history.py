"""A machine with a history: a project with three sessions that went through our hooks, one of them still running."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.docs.shell import Done, Shell
from tests.machine import Machine, Session

ERROR = "ModuleNotFoundError: No module named 'yaml'"
DECIDED = "I decided to keep the attempts in the request, because the queue is shared."
SUMMARY = "The user wants uploads to be retried."


class History:
    """What there is to call commands on; `restore` brings back what a call has changed."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.machine = Machine(root / "now")
        self.saved = root / "saved"
        self.project = self.machine.project
        (self.project / ".git").mkdir()
        (self.project / ".git/HEAD").write_text("ref: refs/heads/main\n")
        self.source = self.project / "src/uploader/client.py"
        self.source.parent.mkdir(parents=True)
        self.source.write_text("retries = 3\n")
        self.environ = environment(self.machine)
        for name, value in self.environ.items():
            patch.setenv(name, value)
        self.before = self._first()
        self.compacted = self._second()
        self.running = self._third()
        self.machine.settle()
        self.machine.catch_up()
        self.shell = Shell(self.environ)
        self.names = self._names()
        self.save()

    def __call__(self, *argv: str, given: str = "", cwd: Path | None = None) -> Done:
        return self.shell.run(*argv, given=given, cwd=cwd or self.project)

    def session(self) -> Session:
        made = self.machine.session()
        made.environ = self.environ
        return made

    def fork(self) -> Session:
        """A session that begins with all that was said in the first."""
        forked = self.session()
        forked.transcript = self.before.transcript.fork(forked.id)
        forked.write()
        return forked

    def close(self) -> None:
        self.shell.close()

    def save(self) -> None:
        shutil.copytree(self.machine.root, self.saved, symlinks=True)

    def restore(self) -> None:
        shutil.rmtree(self.machine.root)
        shutil.copytree(self.saved, self.machine.root, symlinks=True)

    def _names(self) -> dict[str, str]:
        """What command lines may name."""
        reply, note = (
            self("search", "decided", "--kind", kind, "--json").json[0]["id"] for kind in ("reply", "session")
        )
        paths = {
            "project": self.project,
            "transcript": self.before.path,
            "transcripts": self.machine.transcripts,
            "out": self.machine.root / "out",
        }
        broken = self.machine.transcripts / "broken.jsonl.gz"
        sessions = {"before": self.before.id, "compacted": self.compacted.id, "running": self.running.id}
        said = {"decided": DECIDED, "error": ERROR, "event": reply, "note": note, "broken": str(broken)}
        return {**sessions, **said, **{name: str(path) for name, path in paths.items()}}

    def _first(self) -> Session:
        """An error and its fix, a decision, a task; the session ended."""
        session = self.session()
        session.start()
        session.prompt(
            "Uploads fail for good when the server answers 503 once. Retry them. Always run make check first."
        )
        session.call("Bash", {"command": "pytest -q"}, f"Exit code 1\n{ERROR}", failed=True)
        session.transcript.call("Bash", {"command": "pip install pyyaml"}, "Successfully installed pyyaml-6.0")
        session.transcript.call("Bash", {"command": "pytest -q"}, "3 passed in 0.1s")
        session.transcript.task_create("Add jitter to the back-off")
        session.transcript.task_create("Write the retry loop")
        session.transcript.task_update("2", "completed")
        given = {"file_path": str(self.source), "old_string": "retries = 3", "new_string": "retries = 5"}
        session.call("Edit", given, "The file has been updated.")
        session.reply(f"{DECIDED} All tests pass.")
        session.end()
        return session

    def _second(self) -> Session:
        """A context that the host compacted."""
        session = self.session()
        session.start()
        session.prompt("Retry only idempotent uploads in src/uploader/client.py, the others must fail at once.")
        session.call("Read", {"file_path": str(self.source)}, "retries = 5")
        session.reply("Only PUT is retried now, see src/uploader/client.py:1.")
        session.happen("PreCompact", trigger="auto")
        session.transcript.compact(SUMMARY)
        session.write()
        session.happen("PostCompact", trigger="auto", compact_summary=SUMMARY)
        session.start("compact")
        session.turn("Go on.", "Done.")
        session.end()
        return session

    def _third(self) -> Session:
        """A context that fills up, and goes on."""
        session = self.session()
        session.start()
        session.prompt("Now the 429: wait as long as Retry-After says.")
        session.fill(60_000)
        session.reply("A 429 waits as long as its Retry-After says.")
        return session


def environment(machine: Machine) -> dict[str, str]:
    """Of a person who has nothing but this machine."""
    programs = machine.user / "bin"
    programs.mkdir(parents=True)
    places = {name: str(machine.user / folder) for name, folder in XDG.items()}
    own = {"HOME": str(machine.user), "MEMORY_KEEPER_HOME": str(machine.home), "LANG": "C.UTF-8"}
    return {**places, **own, "PATH": f"{programs}:{os.environ['PATH']}"}


XDG = {
    "XDG_DATA_HOME": ".local/share",
    "XDG_CONFIG_HOME": ".config",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}
