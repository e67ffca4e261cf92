"""The SDK's SessionStore in a home of ours: a session goes on where its transcript is not, or is no more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import claude_agent_sdk
from claude_agent_sdk import SessionKey, SessionStoreEntry, fold_session_summary
from claude_agent_sdk.types import SessionListSubkeysKey, SessionStoreListEntry, SessionSummaryEntry

from memory_keeper import config
from memory_keeper.store import open_mirror


class SessionStore(claude_agent_sdk.SessionStore):
    """Whole transcripts, to resume sessions from: `ClaudeAgentOptions(session_store=SessionStore())`.

    They are kept as they are, with the secrets that may be in them, in `sessions.db` of the home, which only its user
    can read. `drop_before` takes old ones away; nothing else does.
    """

    def __init__(self, home: str | Path = "") -> None:
        self._mirror = open_mirror(str(Path(home or config.find_home(config.environment())).absolute() / "sessions.db"))

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Keep more lines."""
        part = key.get("subpath", "")
        fold = None if part else partial(_fold, key, entries)
        where = key["project_key"], key["session_id"], part
        await asyncio.to_thread(self._mirror.append, *where, cast("Sequence[dict[str, Any]]", entries), fold)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """All lines, or None for what was never kept."""
        where = key["project_key"], key["session_id"], key.get("subpath", "")
        found = await asyncio.to_thread(self._mirror.load, *where)
        return cast("list[SessionStoreEntry]", found) or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """The sessions, and when each was last added to."""
        found = await asyncio.to_thread(self._mirror.sessions, project_key)
        return [{"session_id": session, "mtime": at} for session, at in found]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """What the SDK made of each session."""
        return cast("list[SessionSummaryEntry]", await asyncio.to_thread(self._mirror.summaries, project_key))

    async def delete(self, key: SessionKey) -> None:
        """Take a session away, and its subagents' with it; or one of these."""
        await asyncio.to_thread(self._mirror.delete, key["project_key"], key["session_id"], key.get("subpath", ""))

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """The subagents' transcripts of a session."""
        return await asyncio.to_thread(self._mirror.parts, key["project_key"], key["session_id"])

    async def drop_before(self, at: float) -> int:
        """Take away the sessions that nothing was added to since then, in seconds since 1970; how many."""
        return await asyncio.to_thread(self._mirror.drop_before, at)


def _fold(key: SessionKey, entries: list[SessionStoreEntry], before: dict[str, Any] | None) -> dict[str, Any]:
    return dict(fold_session_summary(cast("SessionSummaryEntry | None", before), key, entries))
