"""What a thread asks of the memory, whatever is wrong with that."""

from __future__ import annotations

from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions

from memory_keeper.sdk.hooks import Memory
from memory_keeper.sdk.record import Marks, Past, find_marks, find_past, hand_over


def test_a_bot_goes_on_when_its_memory_is_broken(tmp_path: Path) -> None:
    home = tmp_path / "broken"
    home.mkdir()
    (home / "store.db").write_bytes(b"not a database " * 100)
    memory = Memory(ClaudeAgentOptions(cwd=tmp_path), home=home, key="chat")
    assert find_past(memory, "chat", ("Never promise a date.",)) == Past()
    assert find_marks(memory, "s1", 200_000, "claude-sonnet-4-5", 50_000) == Marks(50_000, 75_000)
    assert hand_over(memory, "s1", str(tmp_path / "handoffs")) == ("", "")
    said = memory.answer({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Hello."})
    assert isinstance(said, dict)
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
