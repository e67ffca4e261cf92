"""The official MCP SDK's client: where it is, how it is fetched, and what it hears from our server.

It is no tool of ours and has two dozen packages behind it, so it lies in a folder of the cache, as the CLI does.
Run as a program it is that client: a command and calls as JSON in, what it heard as JSON out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

Json = dict[str, Any]
REQUIREMENTS = Path(__file__).with_name("sdk-requirements.txt")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "memory-keeper-dev")
LONG = 120.0  # seconds


def folder() -> Path:
    """Where the SDK is kept: one folder for each version of it and of Python."""
    (version,) = (line[5:] for line in REQUIREMENTS.read_text().splitlines() if line.startswith("mcp=="))
    return CACHE / f"mcp-{version}-py{sys.version_info[0]}.{sys.version_info[1]}"


def find_sdk() -> Path | None:
    """The SDK, if it is there."""
    return folder() if folder().is_dir() else None


def install_sdk() -> Path:
    """The SDK, fetched when it is not there; moved to its place when it is complete."""
    if find_sdk():
        return folder()
    CACHE.mkdir(parents=True, exist_ok=True)
    print(f"fetching the MCP SDK into {folder()}", flush=True)
    # a .venv need not have a pip of its own
    pythons = [sys.executable, getattr(sys, "_base_executable", sys.executable)]
    having = [
        one for one in pythons if not subprocess.run([one, "-c", "import pip"], stderr=subprocess.DEVNULL).returncode
    ]
    pip = [having[0], "-m", "pip"] if having else ["pip"]
    with tempfile.TemporaryDirectory(dir=CACHE) as made:
        quiet = ["--quiet", "--disable-pip-version-check", "--no-warn-script-location"]
        subprocess.run([*pip, "install", *quiet, "--target", f"{made}/sdk", "-r", str(REQUIREMENTS)], check=True)
        try:
            Path(made, "sdk").rename(folder())
        except OSError:
            assert find_sdk()  # somebody was faster
    return folder()


def ask(sdk: Path, command: list[str], where: Path, environ: dict[str, str], calls: list[tuple[str, Any]]) -> Json:
    """Start a server, list its tools and call some: `server`, `tools`, and an answer to each call."""
    given = json.dumps({"command": command, "where": str(where), "environ": environ, "calls": calls})
    done = subprocess.run(
        [sys.executable, str(Path(__file__)), given],
        env={**environ, "PYTHONPATH": str(sdk)},
        capture_output=True,
        text=True,
        timeout=LONG,
    )
    assert done.returncode == 0, done.stderr
    heard: Json = json.loads(done.stdout)
    return heard


async def listen(command: list[str], where: str, environ: dict[str, str], calls: list[tuple[str, Any]]) -> Json:
    """What the client hears."""
    from mcp import ClientSession, StdioServerParameters  # type: ignore[import-not-found]
    from mcp.client.stdio import stdio_client  # type: ignore[import-not-found]

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
