"""How soon each page of the dashboard begins in a large store, against a store with one session; its size and memory.

./dev bench dashboard [--events 1000000] [--rounds 15] [--keep DIR] [--json]

The sessions are made up, and imported before. Two servers run side by side and are asked in turn as a browser
would ask; the first byte of a page is there when its header is. Then all pages are asked again and again: the memory of
the server is looked at half-way and at the end.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import memory_keeper.dashboard
from bench.month import ENVIRON, PROJECTS
from bench.tools import measure
from bench.tools.figures import Figure, Figures
from bench.tools.measure import ROOT, median
from memory_keeper.cli.commands.import_ import source_of
from memory_keeper.dashboard.app import BENEATH, PAGES, PARTS
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.model import Event, Filter, Placed, Source
from tests.transcripts import START, Transcript, turn

YEAR = 365 * 86_400.0
SESSION = 1_000  # events, in the mean
IMPORTED = 20_000  # events; the others are copies
STATIC = Path(memory_keeper.dashboard.__file__).parent / "static"
SERVE = ("-P", "-c", "from memory_keeper.cli.main import main; main()", "serve")
SOAK = 40  # times that all pages are asked


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--keep", default="", metavar="DIR", help="make the stores there, or use those of before")


def run(args: argparse.Namespace) -> Figures:
    """The tables."""
    print(measure.machine())
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        where = Path(args.keep or folder)
        stores = {"small": make(where / "small", 1), "large": make(where / "large", args.events)}
        with Server(where / "small") as small, Server(where / "large") as large:
            servers = {"small": small, "large": large}
            figures = compare(servers, stores, args.rounds)
            return {"events": Figure(stores["large"][1])} | figures | soak(large, stores["large"][0])


# --- stores -----------------------------------------------------------------------------------------------------------


def make(home: Path, events: int) -> tuple[str, int]:
    """A home with so many events, in long and short sessions; its newest session, and how many they are.

    A part of them is imported and summarized, the rest are copies of these sessions in the years before.
    """
    with Keeper(str(home), ENVIRON) as keeper:
        if not home.exists():
            write(keeper, home.parent / f"lines-{home.name}", min(events, IMPORTED))
            distil(keeper, START + YEAR)
            with keeper.writing():
                multiply(keeper.writer, events)
        project = keeper.store.sessions(None, 1)[0].project
        return keeper.store.sessions(project, 1)[0].id, keeper.store.counts()["events"]


def write(keeper: Keeper, folder: Path, events: int) -> None:
    """Import so many events of a year."""
    chance, kept, number = random.Random(7), 0, 0
    while kept < events:
        name = f"{number:08x}-0000-4000-8000-{number:012x}"
        project = PROJECTS[min(int(chance.expovariate(1.0)), len(PROJECTS) - 1)] if number else PROJECTS[0]
        started = START + number * YEAR * SESSION / max(events, SESSION)
        transcript = Transcript(name, f"/home/dev/{project}", seed=number, start=started)
        for _ in range(min(250, 1 + int(chance.lognormvariate(3.2, 1.0))) if events > 1 else 1):
            turn(transcript)
        path = transcript.write(folder / project / transcript.name)
        kept, number = kept + keeper.read(source_of(keeper, str(path), own=True)).events, number + 1


def multiply(store: Any, events: int) -> None:
    """Copies of all sessions, a year earlier each time, until there are so many events."""
    kept, sources = (has := store.counts()["events"]), store.sources()
    for years in range(1, 1 + -(-events // has)):
        for source in sources:
            if kept >= events:
                return
            session = f"{source.session[:-4]}{years:04}"
            found = store.find(Filter(sessions=(source.session,)))
            placed = [Placed(_copy(one.event, session, years), number) for number, one in enumerate(found)]
            used = [_copy(one, session, years) for one in store.usages(source.session)]
            at = source.at - years * YEAR
            begun = store.begin(Source(f"/bench/{session}.jsonl", session, source.project))
            store.record(begun._replace(offset=len(placed), at=at), placed, used)
            kept += len(placed)


def _copy(one: Any, session: str, years: int) -> Any:
    """The same in another session, some years ago."""
    name = "id" if isinstance(one, Event) else "message"
    return one._replace(**{name: f"{years}-{getattr(one, name)}"}, session=session, at=one.at - years * YEAR)


# --- pages ------------------------------------------------------------------------------------------------------------


class Server:
    """`memory-keeper serve` over a home, and a browser that was let in."""

    def __init__(self, home: Path) -> None:
        env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src"), "HOME": "/nonexistent", "LANG": "C.UTF-8"}
        command = [sys.executable, *SERVE, "--home", str(home), "--project", "/"]
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        link = re.search(r"http://\S+", self.process.stdout.readline())
        assert link, "no link"
        address = urlsplit(link[0])
        self.connection = http.client.HTTPConnection(address.netloc)
        self.base, self.cookie = "/" + address.path.split("/")[1], ""
        self.cookie = self.get(f"enter?{address.query}")[2].partition(";")[0]

    def get(self, path: str) -> tuple[float, int, str]:
        """The seconds to the first byte of a page, how long it is, and the cookie it sets."""
        begin = time.perf_counter()
        self.connection.request("GET", f"{self.base}/{path}", headers={"Cookie": self.cookie})
        answer = self.connection.getresponse()
        took = time.perf_counter() - begin
        size = len(answer.read())
        assert answer.status == 200, (path, answer.status)
        return took, size, answer.headers.get("Set-Cookie", "")

    @property
    def memory(self) -> float:
        """What it has now, in MB."""
        return int(Path(f"/proc/{self.process.pid}/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()


def pages(session: str) -> dict[str, str]:
    """The addresses of all pages and of their parts, by what they are called here."""
    paths = [*PAGES, *(path for path in (*BENEATH, *PARTS) if "{number" not in path and not path.startswith("show"))]
    found = {path.partition("/{")[0] or "now": path.replace("{id}", quote(session)) for path in paths}
    return found | {"search for words": "search?q=retry+upload"}


def compare(servers: dict[str, Server], stores: dict[str, tuple[str, int]], rounds: int) -> Figures:
    """Every page of both, in turn."""
    asked = {name: pages(session) for name, (session, _) in stores.items()}
    times: dict[tuple[str, str], list[float]] = {}
    sizes: dict[str, int] = {}
    for number in range(rounds + 1):
        for page in random.sample(list(asked["large"]), len(asked["large"])):
            for name in random.sample(list(servers), 2):
                took, size, _ = servers[name].get(asked[name][page])
                sizes[page] = max(size, sizes.get(page, 0))
                if number:
                    times.setdefault((name, page), []).append(took)
    found = {page: (median(times["small", page]), median(times["large", page])) for page in asked["large"]}
    sizes_of = " and ".join(f"{kept:,}" for _, kept in stores.values())
    print(f"\nTo the first byte of a page, with {sizes_of} events; {rounds} times each\n")
    rows = [(page, f"{small * 1000:.1f}", f"{large * 1000:.1f}", f"{large / small:.1f}", f"{sizes[page] / 1000:.1f}")
            for page, (small, large) in sorted(found.items())]  # fmt: skip
    measure.table(("", "small ms", "large ms", "x small", "KB"), rows)
    whole = {page: large / small for page, (small, large) in found.items() if not page.startswith("part/")}
    scripts = sum(len(gzip.compress(path.read_bytes())) for path in STATIC.glob("*.js"))
    print(f"\nscript: {scripts / 1000:.1f} KB gzipped")
    return {
        "first_byte": Figure(max(whole.values()), "x", "<= 5"),
        "first_byte_part": Figure(max(large / small for small, large in found.values()), "x"),
        "page": Figure(max(sizes.values()) / 1000, "KB", "<= 200"),
        "script": Figure(scripts / 1000, "KB", "<= 60"),
    }


def soak(server: Server, session: str) -> Figures:
    """What the server's memory does while it is asked for everything many times."""
    seen = []
    for number in range(SOAK):
        for path in pages(session).values():
            server.get(path)
        if number in (SOAK // 2 - 1, SOAK - 1):
            seen.append(server.memory)
    print(f"memory after {SOAK // 2} and {SOAK} times all pages: {seen[0]:.1f} and {seen[1]:.1f} MB")
    return {"memory": Figure(seen[1], "MB"), "growth": Figure(seen[1] / seen[0], "x", "<= 1.1")}
