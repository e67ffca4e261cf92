"""The real Claude Code CLI: where it is, how it is fetched, and a home in which it runs against the scripted model."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer
from typing import Any, TypeVar

from tests.e2e.net import Net

VERSION = "2.1.325"
OLD = "2.1.197"  # the newest whose npm wrapper runs on Node 20: no hooks modules, smaller windows
SDK_VERSION = "0.2.182"  # the release of claude-agent-sdk whose wheel carries VERSION
API_KEY = "test-dummy"
# outside of any checkout, and known before a test is given a home of its own
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "memory-keeper-dev")
PATIENCE = 300.0  # seconds until a session counts as stuck
Json = dict[str, Any]
T = TypeVar("T")


# --- where it is ------------------------------------------------------------------------------------------------------


def cache(version: str) -> Path:
    """The folder in which a version is kept."""
    return CACHE / f"claude-code-{version}"


def find_cli(version: str = VERSION) -> Path | None:
    """A CLI under test: $CLAUDE_BIN for the current one, else the one in the cache."""
    given = os.environ.get("CLAUDE_BIN") if version == VERSION else None
    found = Path(given) if given else cache(version) / "claude"
    return found if os.access(found, os.X_OK) else None


def install_cli(version: str = VERSION) -> Path:
    """A CLI under test, fetched when it is not there: one file, moved to its place when it is complete."""
    found = find_cli(version)
    if found:
        return found
    home = cache(version)
    home.mkdir(parents=True, exist_ok=True)
    print(f"fetching Claude Code {version} into {home}", flush=True)
    with tempfile.TemporaryDirectory(dir=home) as folder:
        problems = []
        for fetch in (_by_npm, _from_wheel):
            try:
                binary = fetch(Path(folder), version)
            except (OSError, KeyError, subprocess.CalledProcessError) as error:
                problems.append(f"{fetch.__name__}: {error}")
                continue
            binary.chmod(0o755)
            return binary.replace(home / "claude")
    raise OSError("; ".join(problems))


def _by_npm(folder: Path, version: str) -> Path:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    package = f"@anthropic-ai/claude-code-{platform.system().lower()}-{machine}"
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(["npm", "install", *quiet, "--prefix", str(folder), f"{package}@{version}"], check=True)
    return folder / "node_modules" / package / "claude"


def _from_wheel(folder: Path, version: str) -> Path:
    """The wheel of Anthropic's SDK has the identical binary in it, for machines without npm."""
    if version != VERSION:
        raise OSError(f"no wheel is known to carry {version}")
    # a .venv need not have a pip of its own
    pythons = [sys.executable, getattr(sys, "_base_executable", sys.executable)]
    ask = ["-c", "import pip"]
    having = [python for python in pythons if not subprocess.run([python, *ask], stderr=subprocess.DEVNULL).returncode]
    pip = [having[0], "-m", "pip"] if having else ["pip"]
    wheel = ["download", "--quiet", "--no-deps", "--dest", str(folder), f"claude-agent-sdk=={SDK_VERSION}"]
    subprocess.run([*pip, *wheel], check=True)
    (found,) = folder.glob("claude_agent_sdk-*.whl")
    with zipfile.ZipFile(found) as archive:
        return Path(archive.extract("claude_agent_sdk/_bundled/claude", folder))


# --- a home to run it in ----------------------------------------------------------------------------------------------


class Sandbox:
    """A throw-away home and project; the CLI there knows no other model than ours."""

    def __init__(self, cli: Path, net: Net, url: str) -> None:
        # short and not pytest's: the path of tmux's socket may have 100 characters
        self.root = Path(tempfile.mkdtemp(prefix="mk-"))
        self.cli, self.net = str(cli), net
        self.home, self.project = self.root / "home", self.root / "project"
        temporary = self.root / "tmp"
        for folder in (self.home / ".claude", self.project, temporary):
            folder.mkdir(parents=True)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TMPDIR": str(temporary),
            "CLAUDE_CODE_TMPDIR": str(temporary),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": API_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        first_run = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "numStartups": 5,
            "projects": {str(self.project): known},
            "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
        }
        (self.home / ".claude.json").write_text(json.dumps(first_run))

    def claude(self, *args: str) -> subprocess.CompletedProcess[str]:
        """`claude ARGS`, to its end."""
        return self.net.run([self.cli, *args], env=self.env, cwd=self.project)

    def plugin(self, *args: str) -> str:
        """`claude plugin ARGS`, which must succeed."""
        done = self.claude("plugin", *args)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def begin_as(self, other: Sandbox) -> None:
        """Have in this home what another has in its own."""
        shutil.copytree(other.home, self.home, dirs_exist_ok=True)
        plugins = self.home / ".claude/plugins"
        for path in (self.home / ".claude.json", *plugins.glob("*.json")):
            path.write_text(path.read_text().replace(str(other.root), str(self.root)))

    def transcripts(self) -> list[Path]:
        """The transcripts of its sessions and their subagents, oldest first."""
        found = (self.home / ".claude/projects").rglob("*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def close(self) -> None:
        """Take it away, once the writer that outlives the CLI has left it."""
        wait_for(lambda: not self._processes(), "the end of the last process in the sandbox")
        shutil.rmtree(self.root)

    def _processes(self) -> list[str]:
        """Who still lives in this home."""
        mark = f"HOME={self.home}\0".encode()
        return [path.parent.name for path in Path("/proc").glob("[0-9]*/environ") if mark in read_quietly(path)]


class Session:
    """A session without a screen, of as many turns as one likes."""

    def __init__(self, sandbox: Sandbox, *args: str) -> None:
        words = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", *args]
        self._errors = sandbox.root / "stderr"
        with self._errors.open("w") as errors:
            self.process = sandbox.net.start(
                [sandbox.cli, *words],
                env=sandbox.env,
                cwd=sandbox.project,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._watchdog = Timer(PATIENCE, self.process.kill)
        self._watchdog.start()

    def ask(self, prompt: str) -> list[Json]:
        """Send a prompt or a slash command; what the CLI tells up to its result."""
        said, heard = self.process.stdin, self.process.stdout
        assert said and heard
        said.write(json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n")
        said.flush()
        told: list[Json] = []
        for line in heard:
            told.append(json.loads(line))
            if told[-1]["type"] == "result":
                return told
        raise EOFError(f"the CLI left: {self._errors.read_text()}")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *raised: object) -> None:
        self.process.communicate()  # nothing more to ask: it ends the session and leaves
        self._watchdog.cancel()


def read_quietly(path: Path) -> bytes:
    """A file of /proc, whose process may be gone or another's."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def wait_for(look: Callable[[], T], what: str, patience: float = 60) -> T:
    """The first true thing that `look` gives."""
    end = time.monotonic() + patience
    while not (seen := look()):
        if time.monotonic() > end:
            raise TimeoutError(f"never came: {what}")
        time.sleep(0.05)
    return seen


if __name__ == "__main__":
    with ThreadPoolExecutor() as pool:  # side by side: each is a download
        for path in pool.map(install_cli, (VERSION, OLD)):
            print(path)
