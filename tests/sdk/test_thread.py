"""What a thread is given, and what comes of its messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

from memory_keeper.briefs.rules import AFTER, OPENING, OPERATOR, Rule, full
from memory_keeper.model import Note
from memory_keeper.sdk import AnswerError, Thread, Threads
from memory_keeper.sdk.hooks import Memory
from memory_keeper.sdk.record import thread_folder
from memory_keeper.sdk.thread import in_words


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"memory": "threads"}, ValueError),
        ({"rules": [1]}, TypeError),
        ({"rule": ["Never promise a date."]}, TypeError),
        ({"settings": {"no.such": 1}}, ValueError),
        ({"settings": {"rules.shipped": "maybe"}}, ValueError),
        ({"reset_at": 0}, ValueError),
        ({"reset_at": 10}, ValueError),
        ({"reset_at": True}, ValueError),
        ({"live": 0}, ValueError),
        ({"idle": 0}, ValueError),
    ],
)
def test_what_is_wrong_is_said_at_once(tmp_path: Path, wrong: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Threads(home=tmp_path, **wrong)
    if not wrong.keys() & {"live", "idle"}:
        with pytest.raises(kind):
            Thread("chat", home=tmp_path, **wrong)


def test_a_key_is_a_text_and_no_way_out_of_the_home(tmp_path: Path) -> None:
    async def ask(key: Any) -> None:
        await Threads(home=tmp_path).answer(key, "Hello.")

    with pytest.raises(TypeError, match="4711"):
        asyncio.run(ask(4711))
    with pytest.raises(ValueError, match="empty"):
        Thread("", home=tmp_path)
    memory = Memory(ClaudeAgentOptions(), home=tmp_path)
    folders = [Path(thread_folder(memory, key)) for key in (".", "..", "...", "a.b", "../a", "/")]
    assert {folder.resolve().parent for folder in folders} == {tmp_path / "threads"}
    assert len(set(folders)) == len(folders)


def test_one_rule_may_be_one_text(tmp_path: Path) -> None:
    assert Thread("chat", home=tmp_path, rules="Never promise a date.").rules == ("Never promise a date.",)


def test_a_failure_is_no_answer() -> None:
    def result(**more: Any) -> ResultMessage:
        usual = {"subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1}
        return ResultMessage(**{**usual, "session_id": "s1", **more})

    async def words(message: ResultMessage) -> str:
        async def messages() -> AsyncIterator[ResultMessage]:
            yield message

        return await in_words(messages())

    assert asyncio.run(words(result(result="Yes."))) == "Yes."
    failed = result(is_error=True, result="API Error: 529 Overloaded")
    with pytest.raises(AnswerError, match="529") as caught:
        asyncio.run(words(failed))
    assert caught.value.result is failed
    with pytest.raises(AnswerError, match="stopped"):
        asyncio.run(words(result(subtype="error_during_execution", errors=["stopped"])))


def test_rules_of_a_bot_hold_whatever_its_user_says() -> None:
    def rule(id: str, text: str, extra: str = "") -> Rule:
        return Rule(id, text, "project", Note(id, 0.0, "rule", 0, "p", text, "", 5, extra))

    of_bot = rule("rule-1", "Never promise a refund.", '{"source": "bot:1"}')
    of_user = rule("rule-2", "Always promise a refund.")
    lines = full([of_user, of_bot], (), 1000, "").text.splitlines()
    assert lines == [OPERATOR, "1. Never promise a refund.", AFTER, "2. Always promise a refund."]
    assert full([of_bot], (), 1000, "").text.splitlines()[:1] == [OPERATOR]
    assert full([of_user], (), 1000, "").text.splitlines()[:1] == [OPENING]
