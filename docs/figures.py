"""The figures that pages quote: docs/figures.json as `./dev bench` wrote it, docs/peers.toml for what others do.

In a page: `import cog; from figures import fill, value, percent`.
"""

from __future__ import annotations

import functools
import json
import operator
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
COMPARE = {"<=": operator.le, ">=": operator.ge}
NAMED = re.compile(r"\{([a-z_]+\.[a-z0-9_]+)(%?)\}")
PEERS = re.compile(r"(?<!\w)@(\w+)")


# --- single figures ---------------------------------------------------------------------------------------------------


@functools.cache
def measured() -> dict[str, Any]:
    """What every benchmark said last."""
    return dict(json.loads((HERE / "figures.json").read_text(encoding="utf-8")))


@functools.cache
def peers() -> dict[str, dict[str, str]]:
    """What others do, by what was measured."""
    return tomllib.loads((HERE / "peers.toml").read_text(encoding="utf-8"))


def figure(name: str) -> dict[str, Any]:
    """A figure by the names of its benchmark and its own: `retention.handoff_2000`."""
    bench, _, own = name.partition(".")
    try:
        return dict(measured()[bench]["figures"][own])
    except KeyError:
        raise SystemExit(f"no figure {name} in docs/figures.json: is it `./dev bench {bench} --write`?") from None


def at(name: str) -> str:
    """The day on which it was measured."""
    return str(measured()[name.partition(".")[0]]["at"])


def value(name: str) -> str:
    """A figure as a page shows it, with its unit where that is a time or a size."""
    said = figure(name)
    number, unit = said["value"], said.get("unit", "")
    shown = f"{number:,}" if isinstance(number, int) else rounded(number, unit)
    return f"{shown} {unit}" if unit in ("ms", "MB", "MB/s") else shown


def rounded(number: float, unit: str) -> str:
    """Shares to a thousandth, everything else to what is worth saying."""
    if not unit:
        return f"{number:.3f}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def percent(name: str) -> str:
    """A share in hundredths."""
    return f"{100 * figure(name)['value']:.0f} %"


def met(name: str) -> bool | None:
    """Whether a figure is what it should be; None where nothing was said about that."""
    said = figure(name)
    target = said.get("target", "")
    if not target:
        return None
    sign, _, number = target.rpartition(" ")
    return bool(COMPARE.get(sign, operator.eq)(said["value"], float(number)))


def fill(text: str) -> str:
    """A text with its figures: `{retention.handoff_2000%}` is a share in hundredths, `@hook` what others do."""
    text = NAMED.sub(lambda found: percent(found[1]) if found[2] else value(found[1]), text)
    return PEERS.sub(lambda found: others(found[1]), text)


def others(group: str) -> str:
    """What others do: `claude-mem 13.15: 4 of 4; deja-vu: 0 of 4 (measured 2026-11)`."""
    said = peers()[group]
    shown = [f"{name}: {figure}" for name, figure in said.items() if name not in ("what", "source")]
    return f"{'; '.join(shown)} ({said['source']})"


# --- the page ---------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """One line of a table: its first figure is the one that has a target."""

    what: str
    ours: str
    beside: str = ""


class Area(NamedTuple):
    """What is measured, in a sentence or two, and the figures."""

    title: str
    about: str
    rows: tuple[Row, ...]


PYTHON = "× a bare `python3 -I -S`"
AREAS = (
    Area(
        "Hooks",
        "What a user waits for while working.\n"
        "While a session runs, its server answers; where there is none, a process is started for each hook.\n"
        "Times are medians; a ratio is to a program that does nothing, in the same run.",
        (
            Row(
                "a prompt inside Claude Code, until the model is asked",
                "{cli.prompt} × no hook at all",
                "{cli.prompt_ms} beside {cli.none_ms}",
            ),
            Row("a tool call, by the server", "{hooks.tool_server_ms}", f"{{hooks.tool_server}} {PYTHON}"),
            Row("the end of a turn, by the server", "{hooks.stop_server_ms}", f"{{hooks.stop_server}} {PYTHON}"),
            Row("a prompt, by the server", "{hooks.prompt_server_ms}", f"{{hooks.prompt_server}} {PYTHON}"),
            Row("the same, processor time", "{hooks.prompt_server_cpu}", "@hook"),
            Row(
                "a tool call, as a command",
                f"{{hooks.tool_command}} {PYTHON}",
                "{hooks.tool_command_node} × `node -e 0`",
            ),
            Row(
                "the end of a turn, as a command",
                f"{{hooks.stop_command}} {PYTHON}",
                "{hooks.stop_command_node} × `node -e 0`",
            ),
            Row(
                "a prompt, as a command",
                f"{{hooks.prompt_command}} {PYTHON}",
                "{hooks.prompt_command_node} × `node -e 0`",
            ),
            Row(
                "the first prompt of a context, as a command",
                f"{{hooks.first_prompt_command}} {PYTHON}",
                "{hooks.first_prompt_command_node} × `node -e 0`",
            ),
            Row(
                "the start of a session, as a command",
                f"{{hooks.start_command}} {PYTHON}",
                "{hooks.start_command_node} × `node -e 0`",
            ),
            Row(
                "the end of a session, as a command",
                f"{{hooks.end_command}} {PYTHON}",
                "{hooks.end_command_node} × `node -e 0`",
            ),
            Row("a transcript {hooks.flat_to} times as large, processor time", "{hooks.flat} × as long"),
            Row("memory of a session's server, its own share (PSS)", "{hooks.memory}"),
            Row("… with what it shares with other programs (RSS)", "{hooks.memory_rss}", "@memory"),
        ),
    ),
    Area(
        "What survives a compaction",
        "Of {retention.facts} files, commands, names and references that agents really used after"
        " {retention.boundaries} compactions and had met before, the share that a text still has"
        " ([NLFR](what-notes-keep.md)).\n"
        "It tests that names are there, not that they are understood; the rules were made while looking at some of"
        " these transcripts.",
        (
            Row(
                "a handoff of at most 500 tokens",
                "{retention.handoff_500}",
                "Claude Code's own summary {retention.summary} in {retention.summary_tokens} tokens",
            ),
            Row("… 1,000 tokens", "{retention.handoff_1000} in {retention.handoff_1000_tokens}", "@facts"),
            Row(
                "… 2,000 tokens",
                "{retention.handoff_2000} in {retention.handoff_2000_tokens}",
                "the last 2,000 tokens as they stand {retention.tail}",
            ),
            Row("… 4,000 tokens", "{retention.handoff_4000} in {retention.handoff_4000_tokens}"),
            Row(
                "the summary, and what it lost in 1,000 tokens",
                "{retention.completed} in {retention.completed_tokens}",
                "the summary alone {retention.summary}",
            ),
            Row("notes, as they are made while you work", "{retention.notes} in {retention.notes_tokens}"),
            Row("the outline above them", "{retention.outline} in {retention.outline_tokens}"),
            Row(
                "tokens of files read again after a compaction",
                "{retention.reread_after}",
                "{retention.reread_between} where nothing was compacted",
            ),
        ),
    ),
    Area(
        "Recall",
        "Whether search finds what it should, and how fast; [Recall](recall.md) has all of it.\n"
        "LoCoMo here is three conversations of ten, with 495 questions; BEAM is its part of 100,000 tokens, with 355.\n"
        "FTS5 is the best that SQLite's own full-text search does on the same texts in the same run.",
        (
            Row(
                "LoCoMo, the right session first",
                "{recall_sets.locomo_hit1}",
                "FTS5 {recall_sets.locomo_hit1_fts5}; @locomo_hit1",
            ),
            Row(
                "… among the first five",
                "{recall_sets.locomo_hit5}",
                "FTS5 {recall_sets.locomo_hit5_fts5}; @locomo_hit5",
            ),
            Row(
                "… mean reciprocal rank", "{recall_sets.locomo_mrr}", "FTS5 {recall_sets.locomo_mrr_fts5}; @locomo_mrr"
            ),
            Row(
                "… recall@10 of sessions",
                "{recall_sets.locomo_recall10}",
                "FTS5 {recall_sets.locomo_recall10_fts5}; @locomo_recall10",
            ),
            Row(
                "… recall@10 of turns",
                "{recall_sets.locomo_turns_recall10}",
                "FTS5 {recall_sets.locomo_turns_recall10_fts5}",
            ),
            Row("BEAM, recall@10 of messages", "{recall_sets.beam_recall10}", "FTS5 {recall_sets.beam_recall10_fts5}"),
            Row(
                "the files that a prompt leads to, recall@10",
                "{prompt_files.recall10}",
                "most recent {prompt_files.recent_recall10}, frecency {prompt_files.frecency_recall10}",
            ),
            Row(
                "a search over 10,000 rows",
                "{recall_speed.p50_10000} (p95 {recall_speed.p95_10000})",
                "ripgrep takes {recall_speed.rg_10000} times as long, a scan in Python {recall_speed.scan_10000}",
            ),
            Row(
                "… 100,000 rows",
                "{recall_speed.p50_100000} (p95 {recall_speed.p95_100000})",
                "ripgrep takes {recall_speed.rg_100000} times as long, a scan in Python {recall_speed.scan_100000}",
            ),
            Row("… 1,000,000 rows, p95", "{recall_million.p95_1000000} (p50 {recall_million.p50_1000000})"),
            Row("… ripgrep at 1,000,000 rows, times as long", "{recall_million.rg_1000000}"),
            Row(
                "`memory-keeper search` over 100,000 rows, the whole process, processor time",
                "{recall_speed.command_100000_ms}",
                f"{{recall_speed.command_100000}} {PYTHON}; @search",
            ),
        ),
    ),
    Area(
        "Rules",
        "MemoryCode: a mentor teaches coding rules over up to 100 sessions and takes some back; which are told to a new"
        " context in at most 1,000 tokens?\n"
        "Of a quarter of the dialogues nobody looked at the failures.",
        (
            Row("rules in force that are told", "{rules.kept}", "in the quarter nobody looked at {rules.unseen_kept}"),
            Row(
                "rules taken back that are still told",
                "{rules.stale}",
                "in the quarter nobody looked at {rules.unseen_stale}",
            ),
            Row("tokens, on average", "{rules.tokens}"),
        ),
    ),
    Area(
        "Tokens",
        "What we take of a context, as Claude 4 to 4.6 counts, and beside it as the newest models do; estimated by our"
        " own rule, since no tokenizer is public.",
        (
            Row("the list of tools, in every request", "{cost.schema}", "{cost.schema_newest}"),
            Row("the same in bytes", "{cost.schema_bytes}", "@schema"),
            Row("names of skills and agents, in every request", "{cost.always}", "{cost.always_newest}"),
            Row("told when a session starts, in a project with 20 behind it", "{cost.start}", "{cost.start_newest}"),
            Row("told with the first prompt", "{cost.first_prompt}", "{cost.first_prompt_newest}"),
            Row("told with each other prompt", "{cost.prompt}", "{cost.prompt_newest}"),
            Row(
                "told in place of that when the context has grown by 30,000 tokens",
                "{cost.reminder}",
                "{cost.reminder_newest}",
            ),
            Row(
                "told with a hundred prompts",
                "{cost.prompts}",
                "{cost.prompts_newest}; [the predecessor](../glossary.md)'s rules {cost.predecessor}",
            ),
            Row("sums of `usage` that differ from the transcripts", "{usage.wrong}", "of {usage.responses} responses"),
            Row(
                "what summing the lines would say",
                "{usage.naive} times as much",
            ),
        ),
    ),
    Area(
        "Secrets",
        "Four secrets said in a session that is then kept: which are in any file?\n"
        "And which of a made corpus are caught, by how they are written; the corpus is ours, so it shows what we meant"
        " to find.",
        (
            Row("planted in a session and found on disk", "{secrets.planted} of 4", "@planted"),
            Row("an issuer's prefix", "{secrets.tier_1}"),
            Row("keys, URIs, headers", "{secrets.tier_2}"),
            Row("a name and its value", "{secrets.tier_3}"),
            Row("prose and command lines", "{secrets.tier_4}"),
            Row("look-alikes that were touched", "{secrets.lookalikes}"),
            Row("false alarms in public transcripts, whose secrets were taken out before, per MB", "{secrets.hits}"),
            Row("speed on real transcripts", "{secrets.speed}", "{secrets.cost} × parsing the JSON"),
        ),
    ),
    Area(
        "Keeping and distilling",
        "What is done beside the session: reading transcripts, and making notes of them.",
        (
            Row(
                "a transcript into store, index and archive",
                "{ingest.cost} × parsing its JSON, processor time",
                "{ingest.speed}",
            ),
            Row("the most memory for 10 MB and for 100 MB", "{ingest.memory_10} and {ingest.memory_100}"),
            Row(
                "all notes of {month.sessions} sessions in one go",
                "{month.cost} × parsing their JSON, processor time",
                "{month.events} events in {month.memory}",
            ),
            Row("sentences of notes without a source", "{grounding.uncited}", "of {grounding.sentences}"),
            Row(
                "names in notes that their events lack",
                "{grounding.faults}",
                "against the wrong events {grounding.noticed%} would be noticed",
            ),
            Row("installed", "{cost.disk}, no dependencies", "@disk"),
        ),
    ),
)
MET = {True: "met", False: "**not met**"}


def page() -> str:
    """All areas."""
    return "\n".join(line for area in AREAS for line in section(area)).rstrip()


def section(area: Area) -> Iterator[str]:
    """One area as Markdown."""
    yield from (f"## {area.title}", "", fill(area.about), "")
    yield from ("| | Memory Keeper | target | beside |", "|---|---|---|---|")
    for row in area.rows:
        name = NAMED.findall(row.ours)[0][0]
        cells = (fill(row.what), fill(row.ours), wanted(name), fill(row.beside))
        yield f"| {' | '.join(cells)} |"
    yield ""


def wanted(name: str) -> str:
    """What a figure should be, and whether it is; empty where nothing was said about that."""
    is_met, (sign, _, number) = met(name), figure(name).get("target", "").rpartition(" ")
    if is_met is None:
        return ""
    return f"{sign} {float(number):,g}: {MET[is_met]}".strip().replace("<=", "≤").replace(">=", "≥")


def runs() -> str:
    """When and where each benchmark was run, and how to run it again."""
    head = ["| measured | with | on | again |", "|---|---|---|---|"]
    rows = [
        f"| {said['at']} | {said['version']} | {said['machine'].rpartition(', ')[0]} | `{said['command']}` |"
        for said in measured().values()
    ]
    return "\n".join([*head, *rows])


# --- other pages ------------------------------------------------------------------------------------------------------

METHODS = {
    "summary": "Claude Code's own summary",
    "tail": "the last 2,000 tokens, word by word",
    "notes": "**the notes of level 1, as they are made while you work**",
    "outline": "the outline of level 2 above those",
    "handoff_500": "handoff of 500 tokens",
    "handoff_1000": "handoff of 1,000 tokens",
    "handoff_2000": "handoff of 2,000 tokens",
    "handoff_4000": "handoff of 4,000 tokens",
    "completed": "Claude Code's own summary, and what it lost in 1,000 tokens",
}


def retention_table(head: str, methods: tuple[str, ...], columns: tuple[str, ...]) -> str:
    """What some texts keep of what was needed after a compaction."""
    lines = [f"| {head} | tokens | NLFR | {' | '.join(columns)} |", "|---" * (3 + len(columns)) + "|"]
    for method in methods:
        shares = ["", *(f"_{column}" for column in columns)]
        cells = [f"{figure(f'retention.{method}{share}')['value']:.2f}" for share in shares]
        lines.append(f"| {METHODS[method]} | {value(f'retention.{method}_tokens')} | {' | '.join(cells)} |")
    return "\n".join(lines)
