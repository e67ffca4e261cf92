"""What a thread asks of the memory, whatever is wrong with that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions

from memory_keeper import config
from memory_keeper.sdk.hooks import Memory
from memory_keeper.sdk.record import Marks, Past, find_marks, find_past, hand_over, memory_server


def test_a_bot_goes_on_when_its_memory_is_broken(tmp_path: Path) -> None:
    home = tmp_path / "broken"
    home.mkdir()
    (home / "store.db").write_bytes(b"not a database " * 100)
    memory = Memory(ClaudeAgentOptions(cwd=tmp_path), home=home, key="chat")
    assert find_past(memory, "chat", ("Never promise a date.",)) == Past()
    assert find_marks(memory, "s1", 200_000, "claude-sonnet-4-5", 50_000) == Marks(50_000, 75_000)
    assert hand_over(memory, "s1", str(tmp_path / "handoffs")) == ("", "")
    said = memory.answer({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Hello."})
    assert isinstance(said, dict) and "NEVER delete" not in str(said)  # a rule for coding
    assert "thread" in (home / "problems.log").read_text()
    memory.catch_up.wait()


def test_a_context_may_have_what_the_settings_say(tmp_path: Path) -> None:
    memory = Memory(ClaudeAgentOptions(cwd=tmp_path), home=tmp_path / "home", key="chat")
    assert find_marks(memory, "", 0, "", 0) == Marks(100_000, 150_000)
    assert find_marks(memory, "", 0, "", 60_000) == Marks(60_000, 90_000)
    small = Memory(
        ClaudeAgentOptions(cwd=tmp_path), home=tmp_path / "home", settings={"context.criticalTokens": 40_000}
    )
    assert find_marks(small, "", 0, "", 60_000) == Marks(40_000, 40_000)


def test_a_thread_s_model_looks_up_its_own_memory(tmp_path: Path) -> None:
    def call(key: str, tool: str, **given: Any) -> str:
        server = memory_server(key, home=tmp_path / "home")
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": given}}
        words = [str(server["command"]), *server["args"]]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), config.INSIDE: "1"}  # as the CLI of a bot is
        done = subprocess.run(words, input=json.dumps(asked) + "\n", capture_output=True, text=True, env=environ)
        return str(json.loads(done.stdout)["result"]["content"][0]["text"])

    assert call("anna", "remember", text="Anna likes the teal lamp.").startswith("Kept")
    assert "teal lamp" in call("anna", "search", query="lamp")
    for other in ("ben", "..", "../anna"):
        assert call(other, "search", query="lamp") == "Nothing was found. Try fewer or other words."
        assert "own memory" in call(other, "search", query="lamp", all_projects=True)
