"""A chat in the terminal: one thread, that goes on tomorrow. `python chat.py`, and Ctrl-D to leave."""

import asyncio
from contextlib import suppress

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, TextBlock

from memory_keeper.sdk import Thread


async def main() -> None:
    options = ClaudeAgentOptions(
        system_prompt="You are a friendly assistant. Answer in a few sentences.",
        tools=["WebSearch"],
        allowed_tools=["WebSearch"],
    )
    async with Thread("terminal", options, human=True, on_reset=print) as thread:
        with suppress(EOFError):
            while True:
                prompt = await asyncio.to_thread(input, "> ")
                async for message in thread.ask(prompt):
                    if isinstance(message, AssistantMessage):
                        print("".join(block.text for block in message.content if isinstance(block, TextBlock)))


if __name__ == "__main__":
    asyncio.run(main())
