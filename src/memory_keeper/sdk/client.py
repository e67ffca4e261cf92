"""The memory for a client that a bot keeps itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions

from memory_keeper.sdk.hooks import Memory, with_hooks
from memory_keeper.sdk.record import hand_over


def keeper_hooks(
    options: ClaudeAgentOptions,
    *,
    home: str | Path = "",
    folder: str | Path = "",
    settings: Mapping[str, object] | None = None,
    handoffs: str | Path = "",
) -> ClaudeAgentOptions:
    """Options with which a client of your own is captured, warned, handed over, told its rules and reminded of what it
    knew: `ClaudeSDKClient(keeper_hooks(options))`. One call for each client.

    `home` is where the memory lies (default: where the plugin's does), `folder` whose memory it is (default: the
    client's `cwd`), `settings` what is set for this bot, such as `{"rules.shipped": True}`: the rules that come with
    Memory Keeper, which are for coding, are told to no bot else. `handoffs` is a folder for HANDOFF-<session id>.md,
    written when a context is compacted or cleared.
    """
    memory = Memory(options, home=home, folder=folder, settings=settings)
    if handoffs:
        memory.ended = partial(hand_over, memory, folder=str(handoffs))
    return with_hooks(options, memory.hooks())
