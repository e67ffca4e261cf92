"""Runs the dashboard on this machine, until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from memory_keeper.dashboard.app import build
from memory_keeper.dashboard.guard import Guard

HOST = "127.0.0.1"  # and no other: nobody else is to reach it


def serve(home: str, folder: str, port: int, ready: Callable[[str], None]) -> None:
    """Answer until Ctrl-C; `ready` is told the link once somebody listens. OSError: the port is taken."""
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(64)
        guard = Guard(listening.getsockname()[1])
        build(home, folder, guard)
        ready(guard.link)
        settings = uvicorn.Config(guard, log_level="error", access_log=False, lifespan="off", server_header=False)
        uvicorn.Server(settings).run(sockets=[listening])
