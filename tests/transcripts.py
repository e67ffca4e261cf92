"""Transcripts as Claude Code writes them, made up: the same seed gives the same bytes.

A `Transcript` grows line by line, each method one thing that happens in a session, in the shape its CLI version gives
it. `big` writes a file of any size fast; `blocks` is the plainest possible reading of a file, to check ours against.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import zlib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, cast

Row = dict[str, Any]
Block = str | Row  # a bare string is a text block
Call = tuple[str, Row, "str | list[Row]"] | tuple[str, Row, "str | list[Row]", bool]  # tool, input, result, is_error

SESSION = "5e551011-0000-4000-8000-000000000001"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC).timestamp()
MODEL = "claude-sonnet-4-5-20250929"
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
_SERVICE = {  # beside the counts, in the usage of newer CLIs
    "output_tokens_details": {"thinking_tokens": 0},
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": "standard",
    "inference_geo": "not_available",
    "iterations": [],
    "speed": "standard",
}


def thinking(text: str) -> Row:
    return {"type": "thinking", "thinking": text, "signature": base64.b64encode(text.encode()[:240]).decode()}


def dump(row: Row) -> bytes:
    """A line as the CLI writes it: UTF-8, half surrogate pairs escaped."""
    try:
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"


class Transcript:
    """One file of one session (or of one of its agents), and what a next line needs to know."""

    def __init__(
        self, session: str, cwd: str, seed: int = 1, version: str = "2.1.325", *, agent: str = "", start: float = START
    ) -> None:
        self.session, self.cwd, self.version, self.agent, self.seed = session, cwd, version, agent, seed
        self.lines: list[Row] = []
        self.model, self.branch = MODEL, "main"
        self.context = 16_000  # what the next response will say it was given, in tokens
        self.at = start
        self.random = Random(f"{session} {agent} {seed}")
        self.stem = ""  # when set, every id begins with these eight hexadecimal digits
        self._new = tuple(map(int, version.split("."))) >= (2, 1, 100)
        self._side = bool(agent)
        self._parent: str | None = None
        self._prompt = self._uuid()
        self._tasks: dict[str, str] = {}
        self._todos: list[Row] = []
        self._written = 0

    # --- the file

    @property
    def name(self) -> str:
        """Its path under the project's folder."""
        return f"{self.session}/subagents/agent-{self.agent}.jsonl" if self.agent else f"{self.session}.jsonl"

    def raw(self, since: int = 0) -> bytes:
        return b"".join(map(dump, self.lines[since:]))

    def write(self, path: str | Path) -> Path:
        """The whole file."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.raw())
        self._written = len(self.lines)
        return path

    def append_to(self, path: str | Path) -> Path:
        """What is new since it was last written."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(self.raw(self._written))
        self._written = len(self.lines)
        return path

    def fork(self, new_session: str) -> Transcript:
        """The same lines with the same uuids in a session of its own, as `--fork-session` copies them."""
        copy = Transcript(new_session, self.cwd, self.seed, self.version, agent=self.agent, start=self.at)
        copy.lines = [{**row, "sessionId": new_session} if "sessionId" in row else dict(row) for row in self.lines]
        copy.model, copy.branch, copy.context, copy._parent = self.model, self.branch, self.context, self._parent
        copy._tasks, copy._todos = dict(self._tasks), list(self._todos)
        return copy

    def subagent(self, agent_id: str, prompt: str = "Look around and report what you find.") -> Transcript:
        """The file of an agent that this session started."""
        inner = Transcript(self.session, self.cwd, self.seed, self.version, agent=agent_id, start=self.at)
        inner.model, inner.branch, inner.context = self.model, self.branch, 9_000
        inner._user(prompt)
        return inner

    # --- what people and the host say

    def prompt(self, text: str) -> list[Row]:
        self._prompt = self._uuid()
        extra: Row = {"permissionMode": "default"}
        if self._new:
            extra |= {"origin": {"kind": "human"}, "promptSource": "typed", "turnOrigin": "human"}
        else:
            extra = {"thinkingMetadata": {"level": "none", "disabled": False, "triggers": []}, "todos": []}
        return [self._user(text, **extra)]

    def image(self, text: str = "The retry banner overlaps the progress bar, see here.", size: int = 0) -> list[Row]:
        source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(_png(size)).decode()}
        return [self._user([{"type": "text", "text": text}, {"type": "image", "source": source}])]

    def meta(self, text: str) -> list[Row]:
        return [self._user(text, isMeta=True)]

    def command(self, name: str, arguments: str = "", output: str = "") -> list[Row]:
        """A slash command that the CLI itself answers."""
        tags = f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>\n"
        called = self._user(f"{tags}<command-args>{arguments}</command-args>")
        return [called, self._user(f"<local-command-stdout>{output}</local-command-stdout>")]

    def queue(self, text: str) -> list[Row]:
        """Typed while the model was at work."""
        return [
            self._bare(
                "queue-operation", operation="enqueue", timestamp=self._stamp(), sessionId=self.session, content=text
            ),
            self._bare("queue-operation", operation="dequeue", timestamp=self._stamp(), sessionId=self.session),
        ]

    def task_notification(self, task: str = "a1b2c3d", result: str = "Nothing else calls upload_part.") -> list[Row]:
        """An agent in the background has finished: it comes as if the user had typed it."""
        text = (
            f"<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>{self._id('toolu_01')}</tool-use-id>\n"
            f'<status>completed</status>\n<summary>Agent "look for callers" finished</summary>\n'
            f"<result>{result}</result>\n</task-notification>"
        )
        queued = self.queue(text)
        self._prompt = self._uuid()
        origin = {"kind": "task-notification", "producer": "session-task"}
        return [*queued, self._user(text, origin=origin, promptSource="system", turnOrigin="task_notification")]

    def attachment(self, kind: str, **fields: Any) -> list[Row]:
        return [self._row("attachment", {"attachment": {"type": kind, **fields}}, {})]

    def progress(self, output: str = "", seconds: int = 2) -> list[Row]:
        """A command still running; CLIs before 2.1.100 wrote one every second."""
        lines = output.count("\n")
        data = {
            "type": "bash_progress",
            "output": output,
            "fullOutput": output,
            "elapsedTimeSeconds": seconds,
            "totalLines": lines,
        }
        ids = {"toolUseID": f"bash-progress-{seconds}", "parentToolUseID": self._id("toolu_01")}
        return [self._row("progress", {"data": data, **ids}, {})]

    def snapshot(self, *files: str) -> list[Row]:
        kept = {name: {"backupFileName": f"{self._uuid()[:8]}@v1", "version": 1} for name in files}
        inner = {"messageId": self._uuid(), "trackedFileBackups": kept, "timestamp": self._stamp()}
        return [
            self._bare("file-history-snapshot", messageId=inner["messageId"], snapshot=inner, isSnapshotUpdate=False)
        ]

    def summary(self, text: str) -> list[Row]:
        """The title that old CLIs put at the start of a file: no uuid, no time."""
        return [self._bare("summary", summary=text, leafUuid=self._parent or self._uuid())]

    def request(self) -> list[Row]:
        """What new CLIs note about a request: rows without uuid, one with a `message` that is no message."""
        given, digest = self._uuid(), hashlib.sha256(self._uuid().encode()).hexdigest()
        message = {
            "role": "user",
            "content": [
                {"type": "text", "text": f"<system-reminder>\n{paragraph(self.random, 4)}\n</system-reminder>"}
            ],
        }
        params = {"model": self.model, "max_tokens": 32_000, "thinking": {"type": "enabled", "budget_tokens": 31_999}}
        about = {
            "timestamp": self._stamp(),
            "version": self.version,
            "querySource": "user",
            "params": params,
            "keep": 0,
        }
        return [
            self._bare("api-request-blob", sessionId=self.session, hash=digest, message=message),
            self._bare("api-request", sessionId=self.session, id=given, **about, tail=[digest]),
        ]

    def stop(self, seconds: float = 41.5) -> list[Row]:
        """What stands at the end of a turn when a Stop hook has run."""
        hooks = {"hookCount": 1, "hookInfos": [{"command": "notify-done", "durationMs": 12}], "hookErrors": []}
        level = {"preventedContinuation": False, "stopReason": "", "hasOutput": False, "level": "suggestion"}
        return [
            self._row("system", {"subtype": "stop_hook_summary", **hooks, **level}, {"toolUseID": self._uuid()}),
            self._row("system", {"subtype": "turn_duration", "durationMs": int(seconds * 1000)}, {"isMeta": False}),
        ]

    def api_error(self, status: int = 529, text: str = "Overloaded") -> list[Row]:
        """A request that failed for good: what was tried, and the line the CLI shows in the model's place."""
        tried = {"retryInMs": 617.7, "retryAttempt": 1, "maxRetries": 10}
        error = {"status": status, "error": {"type": "error", "error": {"type": "overloaded_error", "message": text}}}
        failed = self._row("system", {"subtype": "api_error", "level": "error", "error": error, **tried}, {})
        usage = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        said = [{"type": "text", "text": f"API Error: {status} {text}"}]
        message: Row = {
            "id": self._uuid(),
            "model": "<synthetic>",
            "role": "assistant",
            "stop_reason": "stop_sequence",
            "type": "message",
        }
        message |= {"usage": usage, "content": said}
        return [failed, self._row("assistant", {"message": message}, {"isApiErrorMessage": True})]

    def compact(
        self, summary: str, trigger: str = "auto", pre: int | None = None, post: int | None = None
    ) -> list[Row]:
        """The old lines stay; the model goes on with the summary."""
        pre, post = pre or self.context, post or 8_000 + _tokens(summary)
        about: Row = {"trigger": trigger, "preTokens": pre}
        if self._new:
            about |= {"durationMs": 41_870, "postTokens": post, "cumulativeDroppedTokens": max(0, pre - post)}
        before, self._parent = self._parent, None
        content = {"subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": False, "level": "info"}
        boundary = self._row("system", {"logicalParentUuid": before, **content}, {"compactMetadata": about})
        opening = "This session is being continued from a previous conversation that ran out of context. "
        opening += "The summary below covers the earlier portion of the conversation.\n\n"
        told = self._user(opening + summary, isVisibleInTranscriptOnly=True, isCompactSummary=True)
        self.context = post
        return [boundary, told]

    # --- what the model says and does

    def reply(self, *blocks: Block, model: str = "", usage: int | Row | None = None) -> list[Row]:
        """One response: a line for each block, all with the same id and the same usage but for the growing output."""
        message, used = self._message(model), self._usage(usage)
        read = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        message["stop_reason"] = self._stop_reason(read)
        rows = []
        for number, block in enumerate(read):
            used = {**used, "output_tokens": used["output_tokens"] + _tokens(json.dumps(block))}
            last = {"apiBlockIndex": number, "requestedModel": message["model"], "madeBy": "model"} if self._new else {}
            rows.append(self._row("assistant", {"message": {**message, "content": [block], "usage": used}, **last}, {}))
        self.context += used["output_tokens"]
        return rows

    def call(
        self, tool: str, input: Row, result: str | list[Row], is_error: bool = False, *, say: str = "", think: str = ""
    ) -> list[Row]:
        """A tool call and its result; with `think` and `say` the blocks before it in the same response."""
        return self._calls([(tool, input, result, is_error)], [thinking(think)] * bool(think) + [say] * bool(say))

    def parallel(self, *calls: Call) -> list[Row]:
        """Several calls of one response, then their results as they come in."""
        return self._calls([*calls], [])

    def multi_block(self, *blocks: Block, results: tuple[str, ...] = ()) -> list[Row]:
        """As old CLIs and some importers write it: all blocks of a response in one line, all results in the next."""
        read = [{"type": "text", "text": block} if isinstance(block, str) else dict(block) for block in blocks]
        for block in read:
            if block["type"] == "tool_use":
                block.setdefault("id", self._id("toolu_01"))
        message = {
            **self._message(""),
            "content": read,
            "stop_reason": self._stop_reason(read),
            "usage": self._usage(None),
        }
        rows = [self._row("assistant", {"message": message}, {})]
        ids = [block["id"] for block in read if block["type"] == "tool_use"]
        if results:
            found = [
                {"type": "tool_result", "tool_use_id": id, "content": text}
                for id, text in zip(ids, results, strict=True)
            ]
            rows.append(self._user(cast("list[Row]", found)))
        return rows

    def sidechain(self, prompt: str, *blocks: Block) -> list[Row]:
        """An agent at work in the main file, as CLIs before 2.1 wrote it: a thread of its own between the lines."""
        before, self._parent, self._side = self._parent, None, True
        rows = [self._user(prompt), *self.reply(*blocks, usage=6_000)]
        self._parent, self._side = before, bool(self.agent)
        return rows

    def todo(self, items: list[tuple[str, str]]) -> list[Row]:
        """The whole list again, as (content, status): the tool of CLIs before 2.1.200 or so."""
        todos = [{"content": text, "status": status, "activeForm": f"Working on: {text}"} for text, status in items]
        return self.call("TodoWrite", {"todos": todos}, "Todos have been modified successfully.")

    def task_create(self, subject: str, description: str = "") -> list[Row]:
        """One task of the newer tools; they are numbered from 1."""
        number = str(len(self._tasks) + 1)
        given = {"subject": subject, "description": description or subject, "activeForm": f"Working on: {subject}"}
        rows = self.call("TaskCreate", given, f"Task #{number} created successfully: {subject}")
        self._tasks[number] = "pending"
        return rows

    def task_update(self, task: str, status: str) -> list[Row]:
        rows = self.call("TaskUpdate", {"taskId": task, "status": status}, f"Updated task #{task} status")
        self._tasks[task] = status
        return rows

    # --- how it is written

    def _calls(self, calls: list[Any], before: list[Block]) -> list[Row]:
        uses = [{"type": "tool_use", "id": self._id("toolu_01"), "name": call[0], "input": call[1]} for call in calls]
        rows = self.reply(*before, *uses)
        results = list(zip(rows[len(before) :], uses, calls, strict=True))
        self.random.shuffle(results)  # they come in as they finish
        for row, use, (tool, given, result, *error) in results:
            rows.append(self._result(row, use["id"], tool, given, result, bool(error and error[0])))
        return rows

    def _result(self, row: Row, id: str, tool: str, given: Row, result: str | list[Row], failed: bool) -> Row:
        self._parent = row["uuid"]
        shown = self._shown(tool, result) if not failed else result
        block: Row = {"tool_use_id": id, "type": "tool_result", "content": shown}
        if failed or tool == "Bash":
            block["is_error"] = failed
        kept = f"Error: {result}" if failed else self._structured(tool, given, result)
        self.context += _tokens(json.dumps(shown))
        allowed = {"decision": "accept", "source": "config", "reasonType": "rule", "ruleSource": "userSettings"}
        more = {"permissionDecision": allowed} if self._new else {}
        return self._user([block], toolUseResult=kept, sourceToolAssistantUUID=row["uuid"], **more)

    def _shown(self, tool: str, result: str | list[Row]) -> str | list[Row]:
        """What the model is given, where that is not the bare result."""
        if not isinstance(result, str):
            return result
        if tool == "Read":
            mark = "{}\t{}" if self._new else "{:>6}→{}"
            return "\n".join(mark.format(number, line) for number, line in enumerate(result.split("\n"), 1))
        if tool in ("Task", "Agent") or tool.startswith("mcp__"):
            return [{"type": "text", "text": result}]
        return result

    def _structured(self, tool: str, given: Row, result: str | list[Row]) -> Any:
        """What stands in `toolUseResult`, for the CLI's own display."""
        if not isinstance(result, str) or tool.startswith("mcp__"):
            return self._shown(tool, result)
        lines, path = result.count("\n") + 1, given.get("file_path", "")
        if tool == "Bash":
            return {"stdout": result, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
        if tool == "Read":
            whole = {"filePath": path, "content": result, "numLines": lines, "startLine": 1, "totalLines": lines}
            return {"type": "text", "file": whole}
        if tool == "Write":
            made: Row = {"structuredPatch": [], "originalFile": None, "userModified": False}
            return {"type": "create", "filePath": path, "content": given["content"], **made}
        if tool == "Edit":
            old, new = given["old_string"], given["new_string"]
            change = [f"-{line}" for line in old.split("\n")] + [f"+{line}" for line in new.split("\n")]
            hunk = {"oldStart": 1, "oldLines": old.count("\n") + 1, "newStart": 1, "newLines": new.count("\n") + 1}
            about = {"originalFile": old, "structuredPatch": [{**hunk, "lines": change}], "userModified": False}
            return {"filePath": path, "oldString": old, "newString": new, **about, "replaceAll": False}
        if tool == "Grep":
            return {"mode": "content", "numFiles": 0, "filenames": [], "content": result, "numLines": lines}
        if tool == "Glob":
            return {"filenames": result.split("\n"), "durationMs": 9, "numFiles": lines, "truncated": False}
        if tool == "TodoWrite":
            before, self._todos = self._todos, given["todos"]
            return {"oldTodos": before, "newTodos": given["todos"]}
        if tool == "TaskCreate":
            number = str(len(self._tasks) + 1)
            return {"task": {"id": number, "subject": given["subject"], "description": given["description"]}}
        if tool == "TaskUpdate":
            moved = {"from": self._tasks.get(given["taskId"], "pending"), "to": given["status"]}
            return {"success": True, "taskId": given["taskId"], "updatedFields": ["status"], "statusChange": moved}
        if tool in ("Task", "Agent"):
            cost = {"totalDurationMs": 21_194, "totalTokens": 13_751, "totalToolUseCount": 3}
            return {"status": "completed", "content": [{"type": "text", "text": result}], **cost}
        return {"result": result}

    def _message(self, model: str) -> Row:
        about = {"model": model or self.model, "id": self._id("msg_01"), "type": "message", "role": "assistant"}
        return {**about, "content": [], "stop_reason": None, "stop_sequence": None}

    def _stop_reason(self, blocks: list[Row]) -> str | None:
        if not self._new:
            return None
        return "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"

    def _usage(self, usage: int | Row | None) -> Row:
        if isinstance(usage, dict):
            return {"output_tokens": 0, **usage}
        if usage is not None:
            self.context = usage
        fresh = min(self.context - 8, self.random.randint(400, 4_000))
        kept = {"ephemeral_5m_input_tokens": fresh, "ephemeral_1h_input_tokens": 0}
        counts = {
            "input_tokens": 8,
            "cache_creation_input_tokens": fresh,
            "cache_read_input_tokens": self.context - 8 - fresh,
        }
        return {**counts, "cache_creation": kept, "output_tokens": 1, **(_SERVICE if self._new else {})}

    def _user(self, content: str | list[Row], **extra: Any) -> Row:
        if isinstance(content, str):
            self.context += _tokens(content)
        return self._row("user", {"message": {"role": "user", "content": content}}, extra)

    def _row(self, kind: str, first: Row, last: Row) -> Row:
        """A line with a uuid. Newer CLIs write where it comes from at the end, older ones at the beginning."""
        uuid = self._uuid()
        where = {"userType": "external", "cwd": self.cwd, "sessionId": self.session, "version": self.version}
        where["gitBranch"] = self.branch
        row: Row = {"parentUuid": self._parent, "isSidechain": self._side}
        if self._new and kind == "user":
            row["promptId"] = self._prompt
        if self.agent:
            row["agentId"] = self.agent
        if not self._new:
            row |= where
        if kind == "assistant":
            row |= {**first, "requestId": self._id("req_011C"), "type": kind}
        else:
            row |= {"type": kind, **first}
        row |= {"uuid": uuid, "timestamp": self._stamp(), **last}
        if self._new:
            row |= {**where, "entrypoint": "cli"}
        self._parent = uuid
        self.lines.append(row)
        return row

    def _bare(self, kind: str, **fields: Any) -> Row:
        """A line without a uuid: about one in twelve."""
        row = {"type": kind, **fields}
        self.lines.append(row)
        return row

    def _stamp(self) -> str:
        """Now: of real lines one in five has the time of the one before, and one in seven an earlier one."""
        chance = self.random.random()
        if chance > 0.35:
            self.at += self.random.uniform(0.05, 6.0)
        at = datetime.fromtimestamp(self.at - (0.025 if chance < 0.15 else 0), UTC)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _uuid(self) -> str:
        text = f"{self.random.getrandbits(128):032x}"
        text = self.stem + text[len(self.stem) :]
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"

    def _id(self, kind: str) -> str:
        text = "".join(self.random.choices(_LETTERS, k=22))
        return kind + self.stem + text[len(self.stem) :]


def _tokens(text: str) -> int:
    return len(text) // 3 + 1


def _png(size: int) -> bytes:
    """A grey dot; what is missing to `size` is appended, as decoders allow."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    dot = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")
    return dot.ljust(size, b"\0")


# --- words


def _each(text: str) -> list[str]:
    return text.split("|")


FILES = [
    f"{folder}/{name}.py"
    for folder in ("src/uploader", "src/uploader/http", "src/catalog", "tests", "tools")
    for name in ("client", "session", "retry", "config", "chunks", "manifest", "resume", "progress", "errors")
]
NOUNS = _each(
    "retry loop|chunk size|upload session|manifest|progress bar|connection pool|checksum|part number|timeout|lock file|"
    "rate limit|cancel token|queue|cache key|schema|cursor|fixture|feature flag|log line|back-off|worker|batch|index"
)
NAMES = _each(
    "upload_part|resume_session|next_delay|read_manifest|write_manifest|open_pool|close_pool|verify_checksum|"
    "merge_parts|with_retry|load_config|parse_header|drain_queue|cancel_all|RetryPolicy|UploadError|PartStore|SessionState"
)
VERBS = _each("drops|keeps|doubles|ignores|rebuilds|blocks on|forgets|leaks|reorders|swallows|re-reads|flushes")
WHENS = _each(
    "the server answers late|two workers finish at once|the file is empty|the token has expired|the disk is full|"
    "a part is sent twice|the user cancels|the clock is set back|the list has one entry|nothing is configured"
)
SENTENCES = (
    "The {noun} in {file} {verb} the {noun} when {when}.",
    "I read {file}: {name} is the only caller of {name}, so the change stays local.",
    "{name} {verb} the {noun}, which explains the failing test in {file}.",
    "Let me check whether {name} still {verb} the {noun} when {when}.",
    "We keep the {noun} out of {name} because it must not wait when {when}.",
    "That would work, but then {file} has to know about the {noun}, and I would rather not.",
    "The test now covers the case that {when}; before, nothing did.",
    "I left {name} alone: its {noun} is part of what other people call.",
    "Next I will move the {noun} from {file} to {file} and run the tests again.",
    "One thing to decide: should {name} raise, or return nothing, when {when}?",
    "It passes here {count} times in a row, so I do not think it depends on the order.",
    "Two of the {count} failures come from the {noun}, the rest from {name}.",
    "{name}은(는) {when} 때 {noun}을 다시 읽습니다.",
    "{file}의 {noun} 처리를 고쳤고, 테스트 {count}개가 모두 통과했습니다.",
    "이 부분은 {name} 안에 두지 않기로 했습니다. {noun}이 여기서 기다리면 안 되기 때문입니다.",
    "먼저 {file}을 읽고 나서 {name}을 바꾸겠습니다.",
)


def sentence(random: Random) -> str:
    words = random.choice(SENTENCES)
    for slot, choices in (
        ("{noun}", NOUNS),
        ("{name}", NAMES),
        ("{file}", FILES),
        ("{verb}", VERBS),
        ("{when}", WHENS),
    ):
        while slot in words:
            words = words.replace(slot, random.choice(choices), 1)
    return words.replace("{count}", str(random.randint(2, 40)))


def paragraph(random: Random, sentences: int) -> str:
    return " ".join(sentence(random) for _ in range(sentences))


def code(random: Random, lines: int) -> str:
    shapes = (
        "def {a}({b}, *, limit={n}):",
        '    """{s}"""',
        "    if {b} is None or len({b}) > {n}:",
        '        raise {c}(f"{b} has {n} entries")',
        "    for number, part in enumerate({b}, {n}):",
        "        {b}_{n} = {a}(part, timeout={n})",
        '        log.warning("%s: %d of %d", {b}_{n}, number, {n})',
        "    return {a}({b})[:{n}]",
        "",
    )
    functions = [name for name in NAMES if name.islower()]
    classes = [name for name in NAMES if not name.islower()]
    out = []
    for number in range(lines):
        shape = (
            shapes[number % len(shapes)].replace("{a}", random.choice(functions)).replace("{c}", random.choice(classes))
        )
        shape = shape.replace("{b}", random.choice(NOUNS).replace(" ", "_").replace("-", "_"))
        out.append(
            shape.replace("{n}", str(random.randint(1, 999))).replace("{s}", random.choice(NOUNS).capitalize() + ".")
        )
    return "\n".join(out)


# --- a whole session, and files of any size

POOL = 6 << 20  # bytes of turns made word by word; a bigger file repeats them under other ids on other days
STEM = "5eed5eed"
DAY = "2020-01-01"


def turn(transcript: Transcript) -> None:
    """One request and everything done about it, in the shares that real files have."""
    t, random = transcript, transcript.random
    t.snapshot(*random.sample(FILES, 3))
    if random.random() < 0.1:
        t.queue(sentence(random))
    t.prompt(paragraph(random, random.randint(1, 4)))
    for _ in range(random.randint(3, 14)):
        if random.random() < 0.2:
            t.attachment(
                "total_tokens_reminder", text=f"<total_tokens>{15_000_000 - t.context} tokens left</total_tokens>"
            )
        if random.random() < 0.15:
            t.request()
        if random.random() < 0.3:
            t.progress("\n".join(sentence(random) for _ in range(6)), random.randint(1, 60))
        _step(t, random)
        if t.context > 167_000:
            t.compact("Summary:\n" + "\n\n".join(paragraph(random, 6) for _ in range(8)))
    t.reply(paragraph(random, random.randint(2, 6)))
    t.stop()


def _step(t: Transcript, random: Random) -> None:
    think = paragraph(random, random.randint(2, 6)) if random.random() < 0.35 else ""
    say = paragraph(random, random.randint(1, 3)) if random.random() < 0.55 else ""
    lines = min(700, int(random.lognormvariate(3.4, 1.3)) + 1)
    path = f"{t.cwd}/{random.choice(FILES)}"
    tool = random.choices(("Bash", "Read", "Edit", "Grep", "Write", "TodoWrite", "Glob"), (30, 24, 18, 13, 6, 6, 3))[0]
    if tool == "Bash":
        output = "\n".join(sentence(random) for _ in range(lines // 2 + 1))
        given = {"command": f"pytest -q {path} && git diff --stat", "description": "Run the tests of one file"}
        t.call(tool, given, output, is_error=random.random() < 0.1, think=think, say=say)
    elif tool == "Read" and random.random() < 0.15:
        t.parallel(
            ("Read", {"file_path": path}, code(random, lines)), ("Glob", {"pattern": "**/*.py"}, "\n".join(FILES[:9]))
        )
    elif tool == "Read":
        t.call(tool, {"file_path": path}, code(random, lines * 2), think=think, say=say)
    elif tool == "Edit":
        given = {
            "file_path": path,
            "old_string": code(random, lines // 6 + 1),
            "new_string": code(random, lines // 5 + 1),
        }
        t.call(tool, given, f"The file {path} has been updated successfully.", think=think, say=say)
    elif tool == "Grep":
        found = "\n".join(f"{random.choice(FILES)}:{n}:{random.choice(NAMES)}" for n in range(1, lines))
        t.call(
            tool,
            {"pattern": random.choice(NAMES), "path": "src", "output_mode": "content"},
            found or "No matches found",
        )
    elif tool == "Write":
        t.call(
            tool, {"file_path": path, "content": code(random, lines)}, f"File created successfully at: {path}", say=say
        )
    elif tool == "TodoWrite":
        t.todo([(sentence(random), status) for status in ("completed", "in_progress", "pending")])
    else:
        t.call(tool, {"pattern": "**/*.py"}, "\n".join(random.sample(FILES, 9)))


def session(session: str = SESSION, cwd: str = "/home/dev/uploader", seed: int = 1, turns: int = 5) -> Transcript:
    """An ordinary session of so many turns."""
    transcript = Transcript(session, cwd, seed)
    for _ in range(turns):
        turn(transcript)
    return transcript


def big(path: str | Path, size: int, session: str = SESSION, seed: int = 1, long_line_every: int = 0) -> int:
    """A transcript of exactly `size` bytes, 4,096 at least; says how many lines it has.

    Every line is whole and has ids of its own, the last is a reply. After `long_line_every` lines, and again after as
    many more, one has a megabyte.
    """
    if size < 4096:
        raise ValueError("a transcript of less than 4,096 bytes is better written by hand")
    pool, parent = _pool(session, seed, long_line_every, min(size, POOL))
    written = lines = 0
    with Path(path).open("wb") as file:
        for number in range(1 << 32):
            again = date.fromisoformat(DAY) + timedelta(days=number)
            turns = pool.replace(STEM.encode(), b"%08x" % number).replace(DAY.encode() + b"T", f"{again}T".encode())
            if number:
                last = parent.replace(STEM, f"{number - 1:08x}").encode()
                turns = turns.replace(b'"parentUuid":null', b'"parentUuid":"%b"' % last, 1)
            if len(turns) > size - written - 4096:
                turns = turns[: turns.rfind(b"\n", 0, size - written - 4096) + 1]
                size_left = size - written - len(turns)
                end = _ending(session, seed, number, size_left)
                file.write(turns + end)
                return lines + turns.count(b"\n") + end.count(b"\n")
            file.write(turns)
            written += len(turns)
            lines += turns.count(b"\n")
    raise AssertionError("unreachable")


def _pool(session: str, seed: int, long_line_every: int, size: int) -> tuple[bytes, str]:
    """Turns under ids that are easy to replace, and the last of their uuids."""
    t = Transcript(
        session, "/home/dev/uploader", seed, start=datetime.fromisoformat(DAY).replace(tzinfo=UTC).timestamp()
    )
    t.stem = STEM
    parts: list[bytes] = []
    done = length = 0
    due = long_line_every
    while length < size or (due and length < 64 << 20):
        turn(t)
        if due and len(t.lines) >= due:
            output = "\n".join(f"{n:07d} {NAMES[n % len(NAMES)]} ok" for n in range(41_000))
            t.call("Bash", {"command": "pytest -vv", "description": "Run everything"}, output[: 1 << 19])
            t.context = 20_000
            due = (
                due + long_line_every if length < size else 0
            )  # what is repeated ends with one: so they stay as far apart
        parts.append(t.raw(done))
        done, length = len(t.lines), length + len(parts[-1])
    t.compact("Summary:\n" + paragraph(t.random, 20))
    parts.append(t.raw(done))
    return b"".join(parts), str(t.lines[-1]["uuid"])


def _ending(session: str, seed: int, number: int, size: int) -> bytes:
    """Replies that fill up exactly what is left: few if it is little, none of them long."""
    start = datetime.fromisoformat(DAY).replace(tzinfo=UTC) + timedelta(days=number + 1)
    t = Transcript(session, "/home/dev/uploader", seed + 1, start=start.timestamp())
    out = b""
    while size - len(out) > 8192:
        t.reply(paragraph(t.random, 20))
        out += dump(t.lines[-1])
    (row,) = t.reply("")
    block = row["message"]["content"][0]
    block["text"] = "All of it is done. ".ljust(size - len(out) - len(dump(row)), ".")
    return out + dump(row)


# --- the plainest reading


def blocks(path: str | Path) -> list[tuple[str, int, str]]:
    """Every content block of a file: the line's uuid (else the hash of the line), the block's number, its type.

    A line that is no message counts as one block of its own type.
    """
    out = []
    for line in Path(path).read_bytes().split(b"\n"):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            out.append((hashlib.sha256(line).hexdigest(), 0, "unreadable"))
            continue
        id = row.get("uuid") or hashlib.sha256(line).hexdigest()
        kind = row.get("type")
        content = row["message"]["content"] if kind in ("user", "assistant") else [{"type": kind}]
        if isinstance(content, str):
            content = [{"type": "text"}]
        out += [(id, number, block["type"]) for number, block in enumerate(content)]
    return out
