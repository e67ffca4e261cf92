"""The plugin: its commands, skills and agents by their front matter, what they may use and what they cost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from docs.figures import value
from docs.render import table
from memory_keeper.text import NEWEST, tokens

FOLDER = Path(__file__).resolve().parents[2] / "plugin"
PREFIX = "memory-keeper"
FAMILIES = ("claude-4", NEWEST)
TOOLS = {
    r'Bash\("\$\{CLAUDE_PLUGIN_ROOT\}/bin/memory-keeper" (.+?):\*\)': r"`memory-keeper \1`",
    r"mcp__plugin_memory-keeper_keeper__(\w+)": r"the tool [`\1`](mcp.md#\1)",
    r"(?:Agent|Task)\(memory-keeper:(\S+)\)": r"the agent `\1`",
}


class Piece(NamedTuple):
    """A command, a skill or an agent of the plugin."""

    kind: str
    name: str
    about: dict[str, str]  # its front matter
    body: str

    @property
    def is_yours(self) -> bool:
        """Whether only the user can start it: the model is not told of it."""
        return self.about.get("disable-model-invocation") == "true"


def pieces() -> list[Piece]:
    """All of them, in the order of their kinds and names."""
    found = [("command", path.stem, path) for path in sorted(FOLDER.glob("commands/*.md"))]
    found += [("skill", path.parent.name, path) for path in sorted(FOLDER.glob("skills/*/SKILL.md"))]
    found += [("agent", path.stem, path) for path in sorted(FOLDER.glob("agents/*.md"))]
    return [_read(kind, name, path) for kind, name, path in found]


def commands() -> str:
    """What a user can type."""
    rows = ["| type | it does | it may use, unasked |", "|---|---|---|"]
    typed = [piece for piece in pieces() if piece.kind != "agent" and piece.about.get("user-invocable") != "false"]
    for piece in typed:
        hint = f" {piece.about['argument-hint'].upper()}" if "argument-hint" in piece.about else ""
        rows.append(f"| `/{PREFIX}:{piece.name}{hint}` | {piece.about['description']} | {uses(piece)} |")
    return "\n".join(rows)


def seen() -> str:
    """What the model is told of, in every session."""
    rows = ["| what | as the model reads it |", "|---|---|"]
    for piece in pieces():
        if not piece.is_yours:
            rows.append(f"| {piece.kind} `{PREFIX}:{piece.name}` | {piece.about['description']} |")
    return "\n".join(rows)


def costs() -> str:
    """What stands in every session, in tokens as the tokenizers of older and of newer models count, about."""
    listed = "\n".join(line(piece) for piece in pieces() if piece.kind != "agent")
    rows = (
        ("all commands and skills, as `claude plugin details` counts", *(str(tokens(listed, one)) for one in FAMILIES)),
        ("what the model is told of: the skill and the agent", value("cost.always"), value("cost.always_newest")),
        ("the tools of the server", value("cost.schema"), value("cost.schema_newest")),
    )
    return "\n".join(table(("tokens in every session", "models up to 4.6", "newer ones"), rows))


def line(piece: Piece) -> str:
    """What a list of commands, skills and agents says of one."""
    return f"{PREFIX}:{piece.name} {piece.about['description']}"


def uses(piece: Piece) -> str:
    """What a piece may use without a question."""
    said = piece.about.get("allowed-tools", "")
    for form, words in TOOLS.items():
        said = re.sub(form, words, said)
    return ", ".join(dict.fromkeys(said.split(", ")))


def _read(kind: str, name: str, path: Path) -> Piece:
    head, body = path.read_text(encoding="utf-8").removeprefix("---\n").split("\n---\n", 1)
    return Piece(kind, name, dict(line.split(": ", 1) for line in head.splitlines()), body)
