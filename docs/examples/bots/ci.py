"""An agent in CI: `python ci.py "Make the tests pass."` works in the checkout, and knows what was done there before.

The memory is the project's, so what sessions of people found out is told to it, and the other way round.
"""

import asyncio
import os
import sys

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, ResultMessage, ToolUseBlock

from memory_keeper.sdk import Thread


async def main(task: str) -> int:
    options = ClaudeAgentOptions(
        allowed_tools=["Read", "Edit", "Write", "Glob", "Grep", "Bash"],
        permission_mode="acceptEdits",
        max_turns=100,
    )
    branch = os.environ.get("CI_COMMIT_BRANCH") or os.environ.get("GITHUB_REF_NAME") or "local"
    failed = True
    async with Thread(
        f"ci/{branch}", options, memory="project", handoffs=".bot-logs/handoffs", on_reset=print
    ) as thread:
        async for message in thread.ask(task):
            if isinstance(message, AssistantMessage):
                for block in message.content:
                    if isinstance(block, ToolUseBlock):
                        print(f"- {block.name} {block.input.get('command') or block.input.get('file_path') or ''}")
            elif isinstance(message, ResultMessage):
                print(message.result or message.errors)
                failed = message.is_error
    return int(failed)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(" ".join(sys.argv[1:]) or "Make the tests pass.")))
