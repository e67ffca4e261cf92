"""The user's own Claude Code as a summarizer: one headless answer that leaves no trace and sets nothing off.

The CLI is given no tools, no settings but the user's own (where the way to log in may stand), no hooks, plugins or MCP
servers, writes no transcript, and runs in an empty folder. What it reads comes on its standard input. There it would
open every file that is mentioned with an `@` and send it along, so that sign is written another way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from secrets import token_hex

from memory_keeper import wire
from memory_keeper.capture.gauge import COUNTS
from memory_keeper.config import INSIDE, is_inside
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.model import Json
from memory_keeper.notes.summarizers import program
from memory_keeper.notes.summarizers.asking import Answer, Ask, Unfinished, cost_of, prompt
from memory_keeper.text import clean, one_line

MODEL, TIMEOUT = "haiku", 120
AT = "＠"
# `--bare` would be shorter, but never reads the login of a subscription; `--setting-sources ""` would leave out an
# `apiKeyHelper` or `env` of the user's settings
FLAGS = (
    *("-p", "--output-format", "json", "--no-session-persistence", "--max-turns", "1", "--disable-slash-commands"),
    *("--setting-sources", "user", "--strict-mcp-config", "--tools", ""),
    *("--settings", '{"disableAllHooks":true,"autoMemoryEnabled":false,"alwaysThinkingEnabled":false}'),
)
# as variables, which a CLI that does not know them ignores; an unknown flag would stop it
QUIET = {
    INSIDE: "1",
    "CLAUDE_CODE_SAFE_MODE": "1",  # no plugins, hooks, MCP servers, skills, agents, CLAUDE.md; the login stays
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_THINKING": "1",
    "CLAUDE_CODE_EFFORT_LEVEL": "low",
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "MAX_THINKING_TOKENS": "0",
}
# of the session we may be called from, which the new one must not take for its own
FOREIGN = frozenset(
    (
        *("CLAUDECODE", "CLAUDE_PID", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT"),
        *("CLAUDE_PLUGIN_DATA", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ATTENDED"),
        *("CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SIMPLE"),
    )
)
HOMES = (".local/bin/claude", ".claude/local/claude")  # where its installers put it, should PATH not say


def summarize(
    texts: Sequence[str], budget: int, settings: Json, environ: dict[str, str], root: str = "", ask: Ask = prompt
) -> Answer:
    """What the texts say, in a model's words; `root` is the project, from which no program is run.

    Settings: `summarize.model`, `summarize.timeout` in seconds. The answer is not to be trusted: see `judge`.
    """
    if is_inside(environ):
        raise KeeperError("A summarizer does not start another one")
    found = program.find("claude", environ, root, HOMES)
    if not found:
        raise NotSetUp("Claude Code was not found", hint="install it, or choose another summarizer")
    told, asked = ask(texts, budget, token_hex(8))
    model = str(settings.get("summarize.model") or MODEL)
    if model.startswith("-"):
        raise KeeperError(f"summarize.model cannot be {model!r}")
    timeout = float(settings.get("summarize.timeout") or TIMEOUT)
    env = {name: value for name, value in environ.items() if name not in FOREIGN} | QUIET
    env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(2 * budget + 2000)
    env["API_TIMEOUT_MS"] = str(round(timeout * 1000))  # should we be killed, it does not wait much longer
    command = [found, *FLAGS, "--model", model, "--system-prompt", told]
    with tempfile.TemporaryDirectory(prefix="mk-") as empty:
        ended = program.run(command, asked.replace("@", AT), env, timeout, empty)
    return _read(ended, model)


def _read(ended: program.Ended, model: str) -> Answer:
    try:
        result = wire.loads(ended.out)
    except (ValueError, RecursionError):
        why = one_line(clean(ended.err)) or "it ended without an answer"
        raise KeeperError(f"Claude Code: {why}", hint="try `claude -p hello` by hand") from None
    if isinstance(result, list):  # some versions list all messages
        result = next((one for one in reversed(result) if isinstance(one, dict) and one.get("type") == "result"), {})
    result = result if isinstance(result, dict) else {}
    text, usage, used = result.get("result"), result.get("usage"), result.get("modelUsage")
    usage = usage if isinstance(usage, dict) else {}
    answer = Answer(
        text.replace(AT, "@") if isinstance(text, str) else "",
        one_line(clean(next(iter(used), model) if isinstance(used, dict) else model), 100),
        sum(wire.count(usage.get(name)) for name in COUNTS),
        wire.count(usage.get("output_tokens")),
        cost_of(result.get("total_cost_usd")),
    )
    if not isinstance(text, str) or result.get("is_error") or result.get("subtype") != "success":
        raise _failure(result, answer)
    return answer


def _failure(result: Json, answer: Answer) -> KeeperError:
    errors = result.get("errors")
    said = errors[0] if isinstance(errors, list) and errors else ""
    why = one_line(clean(str(answer.text or said or result.get("subtype") or "no answer")))
    status = result.get("api_error_status")
    if isinstance(status, int) and (status == 429 or status >= 500):
        return Busy(f"Claude Code: {why}")
    if "/login" in why or status in (401, 403):
        return NotSetUp(f"Claude Code: {why}", hint="log in: run `claude` once")
    why = f"Claude Code: {why}"
    return Unfinished(why, answer) if answer.tokens_out or answer.cost else KeeperError(why)  # a model has answered
