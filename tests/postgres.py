"""A PostgreSQL of the tests' own: a cluster in a temporary folder, which only its own socket leads to."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

NOBODY = 65534  # PostgreSQL refuses to run as root
DEBIAN = Path("/usr/lib/postgresql")  # where Debian has the programs, outside of everybody's PATH
DATABASES = count(1)
PATIENCE = 60.0
# nothing here outlives the test run, so nothing has to reach the disk, but for who says otherwise
QUICK: Mapping[str, object] = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "max_connections": 60,
    "shared_buffers": "64MB",
    "autovacuum": "off",
}


def program(name: str) -> str:
    """Where one of PostgreSQL's programs is: the newest that Debian has, or that of the PATH."""
    found = sorted(DEBIAN.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    where = str(found[-1]) if found else shutil.which(name)
    assert where, f"no {name}: install PostgreSQL"
    return where


def _with_us() -> None:
    """The server ends when we do, however that comes."""
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG


class Cluster:
    """A server that can be started, asked, killed and started again."""

    def __init__(self, passwords: bool = False, **settings: Any) -> None:
        self.user = NOBODY if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="mkpg"))
        self.data = self.folder / "data"
        if self.user:
            os.chown(self.folder, self.user, -1)
        self.settings = {**QUICK, "unix_socket_directories": self.folder, **settings}
        self.server: subprocess.Popen[bytes] | None = None
        made = self._run("initdb", "-D", self.data, "-A", "trust", "-U", "boss", "-E", "UTF8", "--no-locale", "-N")
        assert made.returncode == 0, made.stdout
        if passwords:
            self.data.joinpath("pg_hba.conf").write_text("local all boss trust\nlocal all all scram-sha-256\n")

    def _run(self, name: str, *args: object) -> subprocess.CompletedProcess[str]:
        command = [program(name), *map(str, args)]
        return subprocess.run(
            command, user=self.user, cwd="/", text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def start(self) -> Cluster:
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.server = subprocess.Popen(
                [program("postgres"), "-D", str(self.data), *options],
                user=self.user,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_with_us,
            )
        until = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
                return self
            except psycopg.OperationalError as error:
                if self.server.poll() is not None or time.monotonic() > until:
                    raise AssertionError((self.folder / "log").read_text()[-2000:]) from error
                time.sleep(0.02)

    def kill(self) -> None:
        """The server and all that it started are gone from one moment to the next."""
        assert self.server
        children = Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children").read_text().split()
        for pid in [self.server.pid, *map(int, children)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.server.wait()

    def stop(self) -> None:
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGQUIT)
            self.server.wait()

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=sys.exc_info()[0] is None)

    def url(self, database: str = "postgres", user: str = "boss") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def ask(self, statement: str, *given: Any, database: str = "postgres", user: str = "boss") -> list[tuple[Any, ...]]:
        """What the server answers to one statement."""
        with psycopg.connect(self.url(database, user), autocommit=True) as db:
            answer = db.execute(statement, given or None)
            return answer.fetchall() if answer.description else []

    def database(self, template: str = "") -> str:
        """A new database, empty or a copy of another."""
        name = f"test{next(DATABASES)}"
        self.ask(f"create database {name}" + (f" template {template}" if template else ""))
        return name
