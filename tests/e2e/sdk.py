"""The official MCP SDK's client, and what it hears from our server.

Run as a program it is that client: a command and calls as JSON in, what it heard as JSON out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]
LONG = 120.0  # seconds


def ask(command: list[str], where: Path, environ: dict[str, str], calls: list[tuple[str, Any]]) -> Json:
    """Start a server, list its tools and call some: `server`, `tools`, and an answer to each call."""
    given = json.dumps({"command": command, "where": str(where), "environ": environ, "calls": calls})
    done = subprocess.run(
        [sys.executable, str(Path(__file__)), given],
        env=environ,
        capture_output=True,
        text=True,
        timeout=LONG,
    )
    assert done.returncode == 0, done.stderr
    heard: Json = json.loads(done.stdout)
    return heard


async def listen(command: list[str], where: str, environ: dict[str, str], calls: list[tuple[str, Any]]) -> Json:
    """What the client hears."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=command[0], args=command[1:], cwd=where, env=environ)
    async with stdio_client(server) as pipes, ClientSession(*pipes) as session:
        begun = await session.initialize()
        listed = await session.list_tools()
        answers = []
        for name, given in calls:
            try:
                answer = await session.call_tool(name, given)
            except Exception as error:  # noqa: BLE001  whatever it is, it is what the client heard
                answers.append({"raised": str(error)})
            else:
                answers.append(answer.model_dump(mode="json", by_alias=True, exclude_none=True))
        tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]
        return {
            "server": begun.model_dump(mode="json", by_alias=True)["serverInfo"],
            "tools": tools,
            "answers": answers,
        }


if __name__ == "__main__":
    import asyncio

    print(json.dumps(asyncio.run(listen(**json.loads(sys.argv[1])))))
