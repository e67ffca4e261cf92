"""What a thread asks of the memory: where it was, how full it may be, and its handoff. All of it waits for files.

Whatever is wrong with the memory, the bot goes on without it: `memory-keeper doctor` says what it was.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic, time
from typing import NamedTuple
from urllib.parse import quote

from claude_agent_sdk.types import McpStdioServerConfig

from memory_keeper.briefs.files import handoff_page
from memory_keeper.briefs.rules import OF_BOT, rules_of
from memory_keeper.capture.gauge import read_gauge
from memory_keeper.capture.payload import is_name
from memory_keeper.errors import Busy, KeeperError
from memory_keeper.hooks.actions.fullness import measure
from memory_keeper.hooks.actions.handoff import PATIENCE, keep_handoff
from memory_keeper.hooks.actions.turn_end import ask
from memory_keeper.hooks.problems import complain
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.rules import add_rule, change_rule
from memory_keeper.model import Filter
from memory_keeper.policy import BETWEEN, thresholds
from memory_keeper.sdk.hooks import Memory
from memory_keeper.store.context import read_context
from memory_keeper.store.events import events_of
from memory_keeper.store.home import THREADS, make_folder
from memory_keeper.text import digest_of

UNLIMITED = 1 << 40


class Marks(NamedTuple):
    """How many tokens a context may have."""

    due: int = UNLIMITED  # between two turns
    most: int = UNLIMITED  # in the middle of one


class Past(NamedTuple):
    """Where a thread was when it was last heard of."""

    session: str = ""
    there: bool = False  # the CLI has its transcript
    tokens: int = 0
    handoff: str = ""


def thread_folder(memory: Memory, key: str) -> str:
    """The folder that stands for a thread whose memory is its own; pages for people are written there."""
    folder = _folder(memory.home, key)
    make_folder(folder)
    return folder


def memory_server(key: str, *, home: str | Path) -> McpStdioServerConfig:
    """The tools with which the model of a thread looks up what was said in it, and in no other: an entry for the
    `mcp_servers` of its options."""
    home = os.path.abspath(home)
    begin = ["-P", "-c", "from memory_keeper.cli.main import main; main()", "mcp"]
    return {"command": sys.executable, "args": [*begin, "--home", home, "--project", _folder(home, key)]}


def _folder(home: str, key: str) -> str:
    name = quote(key, safe="").replace(".", "%2E" if not key.strip(".") else ".")  # no thread is the folder above
    return f"{home}/{THREADS}/{name if len(name) <= 100 else digest_of(key)}"


def find_past(memory: Memory, key: str, rules: tuple[str, ...]) -> Past:
    """Where a thread was, by the newest session that was its own; its bot's rules are brought up to date meanwhile."""
    try:
        return _find_past(memory, key, rules)
    except (KeeperError, OSError) as error:
        complain(memory.home, "thread", error)
        return Past()


def _find_past(memory: Memory, key: str, rules: tuple[str, ...]) -> Past:
    with Keeper(memory.home, memory.environ) as keeper:
        try:
            keeper.catch_up(patience=PATIENCE)
            with keeper.writing():
                project = keeper.project(memory.folder, change=True)
            _keep_rules(keeper, project, rules)
        except Busy as error:
            complain(memory.home, "thread", error)
        found = events_of(keeper.store, Filter(kinds=("thread",), tools=(key,), newest=True, by_time=True, limit=1))
        if not found:
            return Past()
        session = found[0].session
        path = read_context(memory.home, session).transcript or keeper.store.transcript(session)
        gauge, note = read_gauge(path) if path else None, keeper.store.handoff(session)
        return Past(session, os.path.exists(path), gauge.tokens if gauge else 0, note.text if note else "")


def _keep_rules(keeper: Keeper, project: str, rules: tuple[str, ...]) -> None:
    """Have a project the rules of its bot: new ones are added, those that it gives no more are taken away."""
    wanted = {OF_BOT + digest_of(text): text for text in rules}
    known = {rule.source: rule for rule in rules_of(keeper.store, project) if rule.note}
    for source in wanted.keys() - known.keys():
        add_rule(keeper, project, wanted[source], source=source)
    for source, rule in known.items():
        if source.startswith(OF_BOT) and source not in wanted:
            change_rule(keeper, rule, "")


def find_marks(memory: Memory, session: str, window: int, model: str, reset_at: int) -> Marks:
    """How many tokens a session's context may have, by the settings and what the CLI says of its window."""
    try:
        return _find_marks(memory, session, window, model, reset_at)
    except (KeeperError, OSError) as error:
        complain(memory.home, "thread", error)
        return Marks(reset_at, int(reset_at * BETWEEN)) if reset_at else Marks()


def _find_marks(memory: Memory, session: str, window: int, model: str, reset_at: int) -> Marks:
    context = read_context(memory.home, session)
    if window and window != context.window:
        memory.leave(session, "Window", window=window, model=model, by="sdk")
    fullness = measure(memory.home, session, context.transcript, memory.folder, memory.environ)
    marks = thresholds(fullness.limits, fullness.settings)
    critical = marks.get("critical", UNLIMITED)
    due = min(reset_at or marks.get("handoff", UNLIMITED), critical)
    return Marks(due, min(int(due * BETWEEN), critical))


def hand_over(memory: Memory, session: str, folder: str, clears: bool = False) -> tuple[str, str]:
    """Keep a session's handoff; its text, and the file that it was also written to. `clears`: the context is about to
    be cleared by us."""
    path = ""
    try:
        with Keeper(memory.home, memory.environ) as keeper:
            try:
                keeper.catch_up(patience=PATIENCE, deadline=monotonic() + PATIENCE)
            except Busy:
                pass  # somebody else is at it: hand over what there is
            keep_handoff(keeper, session, memory.folder)
            note = keeper.store.handoff(session)
        if note and folder:
            path = _write(folder, session, handoff_page(memory.key or memory.folder, note))
        if clears:
            ask(memory.home, session, time(), "due")
        return note.text if note else "", path
    except (KeeperError, OSError) as error:
        complain(memory.home, "thread", error)
        return "", path


def _write(folder: str, session: str, text: str) -> str:
    """The file for people, whole or not at all."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.abspath(f"{folder}/HANDOFF-{session if is_name(session) else digest_of(session)}.md")
    with open(path + ".new", "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    os.replace(path + ".new", path)
    return path
