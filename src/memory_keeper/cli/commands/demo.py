"""`demo`: a shipped session goes through the real hooks, in a temporary home, and the next one is told about it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from argparse import Namespace
from contextlib import suppress
from select import select
from statistics import median
from time import monotonic, time
from typing import Any

from memory_keeper.briefs import short
from memory_keeper.cli.arguments import argument
from memory_keeper.cli.commands.serve import check, serve
from memory_keeper.cli.commands.show import raw_line
from memory_keeper.errors import KeeperError
from memory_keeper.hooks.actions.lost import scores
from memory_keeper.keeper import Keeper
from memory_keeper.search import find
from memory_keeper.store import spool
from memory_keeper.terminal import as_called, bar, fitting, paint, print_json, size, width, wrapped
from memory_keeper.text import clean, tokens, utc_day

WINDOW = 200_000
LINES = 4  # rows of a terminal that one line of a brief may take
SESSION, NEXT = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
START = os.path.join(HERE, "hooks", "start.py")
TRANSCRIPT = os.path.join(HERE, "data", "demo.jsonl")
DAY = 86_400
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE = 10.0  # seconds for whoever was started to end
RECORDED_IN = b"/home/dev/uploader"  # the project of the shipped transcript
RECORDED_ON = (b"2026-03-03T", b"2026-03-02T")  # and its days, the last first: it is played as if it ended yesterday
QUERY = "decided against tenacity"  # a decision that the compaction's summary lost
ARGUMENTS = (
    argument("--keep", action="store_true", help="leave the temporary home behind and say where it is"),
    argument("--serve", action="store_true", help="show the dashboard of it, until Ctrl-C"),
)


def run(args: Namespace) -> int:
    """Play the session, then begin the next one."""
    if args.serve:
        check()
    say = _Say(quiet=args.json)
    before = {number: signal.getsignal(number) for number in ENDING}
    held = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    root = os.path.realpath(tempfile.mkdtemp(prefix="memory-keeper-demo-"))
    host = _Host(root)
    try:
        _on_end(_interrupt)
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        about = _play(host, say)
        if args.keep:
            about["kept"] = root
            say(f"Everything is still in {root}")
        if args.serve:
            serve(os.path.join(root, "home"), os.path.join(root, "uploader"))
    finally:
        _on_end(signal.SIG_IGN)
        if not args.keep:
            host.end()
            shutil.rmtree(root, ignore_errors=True)
        for number, handler in before.items():
            signal.signal(number, handler)
    if args.json:
        print_json(about)
    if not about["brief"] or not about["handoff"]:
        missing = "The new session was told nothing" if about["handoff"] else "The session left no handoff"
        raise KeeperError(missing, hint="run `memory-keeper demo --keep` and look into its home")
    return 0


def _on_end(handler: Any) -> None:
    """What is done when somebody ends us; who had us started so that it is ignored keeps that."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    _on_end(signal.SIG_IGN)  # once: the next one would only keep us from tidying up
    raise KeyboardInterrupt


class _Say:
    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet

    def __call__(self, text: str = "", style: str = "", first: str = "", rest: str = "") -> None:
        if not self.quiet:
            shown = wrapped(text, first, rest)
            print(paint(shown, style) if style else shown, flush=True)


class _Host:
    """Claude Code's side: command hooks as processes, and the server it starts with a session."""

    def __init__(self, root: str) -> None:
        self.project = os.path.join(root, "uploader")
        self.folder = os.path.join(root, ".claude", "projects", "uploader")
        self.home = os.path.join(root, "home")
        own = {"HOME": root, "MEMORY_KEEPER_HOME": self.home, "CLAUDE_PROJECT_DIR": self.project}
        self.env = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", **own}
        self.command = [sys.executable, "-I", "-S", START]
        self.took: list[float] = []  # seconds, one for each answer of the server
        self.over, running = os.pipe()
        self.running = [running]  # whoever is started, by us or by a hook, holds this end as long as it runs
        self.server: subprocess.Popen[bytes] | None = None

    def payload(self, event: str, session: str, **more: str) -> dict[str, str]:
        path = os.path.join(self.folder, session + ".jsonl")
        return {"session_id": session, "transcript_path": path, "cwd": self.project, "hook_event_name": event, **more}

    def start_process(self, event: str, session: str, **more: str) -> Any:
        """A command hook, as Claude Code runs it at a session's start and end."""
        done = subprocess.run(
            [*self.command, "hook", event],
            input=json.dumps(self.payload(event, session, **more)).encode(),
            env=self.env, cwd=self.project, pass_fds=self.running, capture_output=True, check=True,
        )  # fmt: skip
        return json.loads(done.stdout or b"{}")

    def hear(self, event: str, session: str, **more: str) -> str:
        """What the server answers a hook."""
        assert self.server and self.server.stdin and self.server.stdout
        given = {"name": "hook", "arguments": self.payload(event, session, **more)}
        question = {"jsonrpc": "2.0", "id": len(self.took), "method": "tools/call", "params": given}
        begun = monotonic()
        self.server.stdin.write(json.dumps(question).encode() + b"\n")
        self.server.stdin.flush()
        answer = json.loads(self.server.stdout.readline())
        self.took.append(monotonic() - begun)
        content = answer["result"]["content"]
        return content[0]["text"] if content else ""

    def ask(self, event: str, session: str, **more: str) -> Any:
        """The same, where the answer is an object."""
        return json.loads(self.hear(event, session, **more) or "{}")

    def __enter__(self) -> None:
        os.makedirs(self.project)
        os.makedirs(self.folder)
        self.server = subprocess.Popen(
            [*self.command, "mcp"],
            env=self.env, cwd=self.project, pass_fds=self.running, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Let all end that runs in there; again, where that was interrupted."""
        if self.server and self.server.stdin and self.server.stdout:
            with suppress(BrokenPipeError):  # who is ended with Ctrl-C is so with all that runs
                self.server.stdin.close()
            self.server.wait(PATIENCE)
            self.server.stdout.close()
        while self.running:
            os.close(self.running.pop())
        if self.over >= 0:
            select([self.over], [], [], PATIENCE)  # the end of a session starts a writer that outlives it
            over, self.over = self.over, -1
            os.close(over)


def _play(host: _Host, say: _Say) -> dict[str, Any]:
    """All acts, one after another; what came of them."""
    say("1. A session runs; every hook is answered by a server that Claude Code itself starts and ends.\n", "bold")
    with host:
        host.start_process("SessionStart", SESSION, source="startup")
        spent = _session(host, say)
        host.start_process("SessionEnd", SESSION, reason="prompt_input_exit")
    handoff = _hand_over(host, say)
    say("   A new one begins, and before its first prompt the model is given this:\n", "bold")
    text = _heard(host.start_process("SessionStart", NEXT, source="startup"))
    _say_brief(text, say)
    found = _find_again(host, say)
    with Keeper(host.home) as keeper:
        events = keeper.store.counts()["events"]
        measured = scores(keeper.store, keeper.project(host.project), 1)
    cost, took = tokens(text), 1000 * median(host.took)
    say("\n4. What it cost\n", "bold")
    say(f"  {len(host.took)} hooks answered by the server, half of them within {took:.1f} ms")
    say(f"  {events} events kept of {size(os.path.getsize(TRANSCRIPT))} of transcript")
    say(f"  {cost:,} tokens told to the new session; the old one had held up to {spent:,}")
    say("  0 model requests, 0 packages installed")
    say("\n5. What next\n", "bold")
    say(as_called("  memory-keeper install") + ": it is with Claude Code from the next session on")
    say(as_called("  memory-keeper docs tutorial") + ": the first ten minutes, step by step")
    return {
        "events": events,
        "hooks": len(host.took),
        "hook_ms": round(took, 2),
        "told_tokens": cost,
        "context_tokens": spent,
        "compactions": [{**score._asdict(), "kept_percent": score.percent} for score in measured],
        **found,
        "brief": text,
        "handoff": handoff,
    }


def _hand_over(host: _Host, say: _Say) -> str:
    """What the session left for the next one, as a page in the project."""
    handoff, written = "", f".claude/memory/handoffs/HANDOFF-{SESSION}.md"
    with suppress(FileNotFoundError), open(os.path.join(host.project, written), encoding="utf-8") as page:
        handoff = page.read()
    say(f"\n2. The session is over; its handoff, {tokens(handoff):,} tokens, can be read in the project:", "bold")
    say(written, first="   ")
    return handoff


def _find_again(host: _Host, say: _Say) -> dict[str, Any]:
    """A search, and what lies behind the first match."""
    say("\n3. Nothing is gone: a search, and the line of the transcript behind the first match.\n", "bold")
    with Keeper(host.home) as keeper:
        hits = find(keeper.store, QUERY, limit=3)
        raw = raw_line(keeper, hits[0].id).decode("utf-8", "replace") if hits else ""
    room = max(40, width() - 4)
    say(as_called(f"  $ memory-keeper search {QUERY}"), "cyan")
    for hit in hits:
        say(f"  {short(hit.id)}  {hit.kind:8} " + fitting(_unmarked(hit.snippet), room - 17))
    if hits:
        say(as_called(f"  $ memory-keeper show {short(hits[0].id)} --raw"), "cyan")
        say("  " + _around(raw, QUERY.split()[-1], room))
    return {"query": QUERY, "found": [hit.id for hit in hits], "raw": raw}


def _unmarked(snippet: str) -> str:
    return clean(snippet.replace("\x02", "").replace("\x03", ""))


def _around(line: str, word: str, width: int) -> str:
    """As much of a line as a terminal has room for, with the word in it."""
    line = clean(line)
    start = max(0, min(line.find(word) - width // 2, len(line) - width))
    before, after = "…" * (start > 0), "…" * (start + width < len(line))
    return before + line[start + len(before) : start + width - len(after)] + after


def _session(host: _Host, say: _Say) -> int:
    """Let the transcript grow line by line, with the hooks that Claude Code would have called; the most it held."""
    most = last = 0
    here = json.dumps(host.project)[1:-1].encode()
    with open(TRANSCRIPT, "rb") as recorded:
        text = recorded.read().replace(RECORDED_IN, here)
    for ago, day in enumerate(RECORDED_ON, 1):
        text = text.replace(day, utc_day(time() - ago * DAY).encode() + b"T")
    lines = text.splitlines(keepends=True)
    with open(os.path.join(host.folder, SESSION + ".jsonl"), "wb") as transcript:
        for number, line in enumerate(lines):
            entry = json.loads(line)
            if entry.get("subtype") == "compact_boundary":  # its hooks come before the host writes it down
                _compact(host, say, json.loads(lines[number + 1])["message"]["content"])
            transcript.write(line)
            transcript.flush()
            message = entry.get("message") or {}
            content = message.get("content")
            if entry.get("type") == "user" and isinstance(content, str) and not entry.get("isCompactSummary"):
                answer = host.ask("UserPromptSubmit", SESSION, prompt=content)
                say("  > " + fitting(content, min(90, width() - 4)), "cyan")
                _warn(answer, say)
            elif entry.get("type") == "user" and isinstance(content, list):
                _warn(host.ask("PostToolUse", SESSION, tool_name="Bash", tool_use_id="toolu_demo"), say)
            used = message.get("usage") or {}
            held = sum(used.get(f"{kind}input_tokens", 0) for kind in ("", "cache_read_", "cache_creation_"))
            most = max(most, held)
            if message.get("stop_reason") == "end_turn":
                host.ask("Stop", SESSION, last_assistant_message="")
                if held != last:  # a response of several blocks says it on each line
                    say("  " + _gauge(held))
                last = held
    return most


def _compact(host: _Host, say: _Say, summary: str) -> None:
    """The hooks of a compaction, in the order of the host: a subagent of its own writes the summary."""
    asked = host.hear("PreCompact", SESSION, trigger="auto")
    say("Claude Code compacts. Its summarizer is asked for more than it would keep by itself:", "yellow", "  ", "  ")
    say(asked, first="    ", rest="    ")
    raw = f"<analysis></analysis>\n<summary>\n{summary}\n</summary>"
    host.hear("SubagentStop", SESSION, agent_id="a5", agent_type="", last_assistant_message=raw)
    back = _heard(host.ask("SessionStart", SESSION, source="compact"))
    host.hear("PostCompact", SESSION, trigger="auto", compact_summary=raw)
    score = spool.newest(host.home, SESSION, "Scored")
    if score:
        say(_scored(score), "yellow", "  ", "  ")
    _say_brief(back, say, "    ")


def _scored(score: dict[str, Any]) -> str:
    """What the summary kept of a handoff's facts, and what is brought back of the others."""
    lost, brought = score["lost"], score["brought"]
    rest = f"; the other {lost - brought} can be searched for" if lost > brought else ""
    return (
        f"Its summary keeps {score['kept']} of the {score['kept'] + lost} facts of the handoff in {score['tokens']}"
        f" tokens; {brought} of the {lost} lost ones are brought back in {score['told']} tokens, at once{rest}:"
    )


def _say_brief(text: str, say: _Say, margin: str = "") -> None:
    """What a model is given, in the columns of the terminal; what would be a wall of text is cut there."""
    room = LINES * max(40, width() - len(margin))
    for line in text.split("\n"):
        say(fitting(line, room) if len(line) > room else line, first=margin, rest=margin)


def _heard(answer: Any) -> str:
    """What the model is told by an answer."""
    text: str = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
    return text


def _warn(answer: Any, say: _Say) -> None:
    """What the user is shown, and the model is told as well, once per level."""
    if answer.get("systemMessage"):
        say(answer["systemMessage"], "yellow", "  ! ", "    ")


def _gauge(held: int) -> str:
    style = "green" if held < 0.7 * WINDOW else "yellow" if held < 0.8 * WINDOW else "red"
    return paint(bar(held / WINDOW, 30), style) + f" {held:,} of {WINDOW:,} tokens"
