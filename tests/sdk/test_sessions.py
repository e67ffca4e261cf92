"""The SDK's transcripts in a home of ours, by the SDK's own contracts."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any, cast

from claude_agent_sdk import SessionKey, SessionStoreEntry
from claude_agent_sdk.testing import run_session_store_conformance

from memory_keeper.sdk import SessionStore

KEY: SessionKey = {"project_key": "bot", "session_id": "s1"}


def lines(*said: dict[str, Any]) -> list[SessionStoreEntry]:
    return cast("list[SessionStoreEntry]", [{"type": "user", **one} for one in said])


def test_it_keeps_the_contracts_of_the_sdk(tmp_path: Path) -> None:
    homes = (tmp_path / str(number) for number in itertools.count())
    asyncio.run(run_session_store_conformance(lambda: SessionStore(next(homes))))


def test_what_comes_again_is_kept_once(tmp_path: Path) -> None:
    async def main() -> list[SessionStoreEntry] | None:
        stores = [SessionStore(tmp_path) for _ in range(4)]
        batches = [lines({"uuid": f"u{number}", "n": number}) for number in range(20)]
        await asyncio.gather(*(store.append(KEY, batch) for store in stores for batch in batches))
        return await stores[0].load(KEY)

    found = asyncio.run(main()) or []
    assert sorted(json.dumps(line) for line in found) == sorted(
        json.dumps({"type": "user", "uuid": f"u{number}", "n": number}) for number in range(20)
    )


def test_nobody_else_can_read_it_and_old_sessions_go_on_request(tmp_path: Path) -> None:
    async def main() -> tuple[int, object, int, object]:
        store = SessionStore(tmp_path / "memory")
        await store.append(KEY, lines({"text": "a secret"}))
        kept, found = await store.drop_before(1_000_000_000), await store.load(KEY)
        return kept, found, await store.drop_before(4_000_000_000), await store.load(KEY)

    assert asyncio.run(main()) == (0, lines({"text": "a secret"}), 1, None)
    for path in (tmp_path / "memory").iterdir():
        assert path.stat().st_mode & 0o077 == 0
