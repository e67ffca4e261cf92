"""What we take of a context in tokens: the tools and commands it always has, and what it is told.

./dev bench cost [--prompts 100] [--json]

In a project with twenty sessions behind it, a new one is started and prompted through the server, with the settings and
the rules as shipped; its context grows with each prompt as much as fills a window of 200,000 with a hundred of them.
Warnings that it does are not counted. Tokens are those of Claude 4 to 4.6, as on the other pages, and those of the
newest models beside.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from compileall import compile_dir
from pathlib import Path

from bench.tools import measure
from bench.tools.figures import Figure, Figures
from bench.tools.measure import ROOT
from bench.tools.server import Server
from memory_keeper.cli.commands.import_ import source_of
from memory_keeper.host.registration import assemble
from memory_keeper.jobs.summarize import distil
from memory_keeper.keeper import Keeper
from memory_keeper.text import NEWEST, tokens
from tests.transcripts import Transcript, turn

FAMILY = "claude-4"
SESSIONS, HOUR = 20, 3600.0
BEGINS, GROWS = 40_000, 1_250  # tokens of a context at its first response, and with each prompt
PROMPT = "Now the same for number {} please, and say what you did."
PREDECESSOR = 778  # tokens of rules that it told with every prompt


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument("--prompts", type=int, default=100)


def run(args: argparse.Namespace) -> Figures:
    """The table."""
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        tools, start, prompts = told(Path(folder), args.prompts)
    texts = {
        "schema": ("the list of tools, in every request", tools, "<= 800"),
        "always": ("names and descriptions of what the model may call", always_on(), "<= 300"),
        "start": ("told when a session starts", start, ""),
        "first_prompt": ("told with the first prompt", prompts[0], ""),
        "prompt": ("told with each other, as the second", prompts[1], ""),
        "reminder": ("told when the context has grown", max(prompts[1:], key=len), ""),
        "prompts": (f"told with {args.prompts} prompts", "\n".join(filter(None, prompts)), "<= 7800"),
    }
    said, rows = Figures(), []
    for key, (label, text, target) in texts.items():
        usual, newest = tokens(text, FAMILY), tokens(text, NEWEST)
        said |= {key: Figure(usual, "tokens", target), f"{key}_newest": Figure(newest, "tokens")}
        rows.append((label, f"{usual:,}", f"{newest:,}"))
    measure.table(("tokens", FAMILY, NEWEST), rows)
    print(f"the predecessor's rules with as many prompts: {PREDECESSOR * args.prompts:,}")
    return {
        **said,
        "schema_bytes": Figure(len(tools.encode()), "bytes"),
        "disk": Figure(installed() / 1e6, "MB"),
        "predecessor": Figure(PREDECESSOR * args.prompts, "tokens"),
    }


def always_on() -> str:
    """What every request has of the plugin's commands, skills and agents: those that the model may use by itself."""
    heads = [path.read_text(encoding="utf-8").split("---")[1] for path in sorted((ROOT / "plugin").rglob("*.md"))]
    free = [head for head in heads if "disable-model-invocation: true" not in head]
    return "\n".join(line for head in free for line in re.findall(r"^(?:name|description): .+", head, re.M))


def installed() -> int:
    """What `du` finds after `memory-keeper install`: the plugin in our home, compiled by its first run, and the copy
    that Claude Code makes of it."""
    with tempfile.TemporaryDirectory(prefix="mk-bench-") as folder:
        plugin = Path(assemble(folder))
        copy = _on_disk(plugin)
        compile_dir(plugin, quiet=1)
        return copy + _on_disk(plugin)


def _on_disk(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in (folder, *folder.rglob("*")))


def told(folder: Path, prompts: int) -> tuple[str, str, list[str]]:
    """The list of tools, what a new session is told at its start, and with each prompt."""
    project = folder / "work/app"
    project.mkdir(parents=True)
    env = {"HOME": str(folder), "MEMORY_KEEPER_HOME": str(folder / "keep"), "CLAUDE_PROJECT_DIR": str(project)}
    began = time.time() - (SESSIONS + 1) * HOUR
    with Keeper(env["MEMORY_KEEPER_HOME"], env) as keeper:
        for number in range(SESSIONS):
            session = Transcript(name_of(number), str(project), seed=number, start=began + number * HOUR)
            for _ in range(4):
                turn(session)
            path = session.write(folder / ".claude/projects/app" / session.name)
            keeper.read(source_of(keeper, str(path), own=True))
        distil(keeper, time.time(), force=True)
    new = name_of(SESSIONS)
    payload = {
        "session_id": new,
        "transcript_path": str(folder / f".claude/projects/app/{new}.jsonl"),
        "cwd": str(project),
    }
    session, with_prompts = Transcript(new, str(project), start=time.time()), []
    with Server(env | {"MEMORY_KEEPER_CONTEXT_WARNINGS": "false"}) as server:
        listed, _ = server.ask("tools/list")
        start, _ = server.hook({**payload, "hook_event_name": "SessionStart", "source": "startup"})
        for number in range(prompts):
            prompt = PROMPT.format(number)
            with_prompts.append(server.hook({**payload, "hook_event_name": "UserPromptSubmit", "prompt": prompt})[0])
            session.prompt(prompt)
            session.reply("Done.", usage=BEGINS + GROWS * number)
            session.append_to(Path(str(payload["transcript_path"])))
    return json.dumps(listed["tools"], separators=(",", ":")), start, with_prompts


def name_of(number: int) -> str:
    """The id of a session."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"
