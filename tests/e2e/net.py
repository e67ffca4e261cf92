"""A network with nothing in it but loopback, where the system lets us make one.

On Linux the network is a property of the thread: what a thread listens on or starts belongs to the thread's network.
So one thread leaves for a network of its own, and sockets and programs that must not reach the world are made by it.
That takes root; elsewhere the same things are made in the ordinary network, and only loopback addresses are named.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

CLONE_NEWNET, SIOCSIFFLAGS, IFF_UP = 0x40000000, 0x8914, 1
T = TypeVar("T")


class Net:
    """The thread in the other network."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self.isolated = self.call(_leave)

    def call(self, do: Callable[[], T]) -> T:
        """Call a function there."""
        return self._thread.submit(do).result()

    def listen(self) -> socket.socket:
        """A listener on a free port of its loopback."""
        return self.call(lambda: socket.create_server(("127.0.0.1", 0)))

    def start(self, command: list[str], **how: Any) -> subprocess.Popen[str]:
        """Start a program there."""
        return self.call(lambda: subprocess.Popen(command, text=True, **how))

    def run(self, command: list[str], *, timeout: float = 180, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run a program there to its end, which is not given anything to read."""
        pipe = subprocess.PIPE
        process = self.start(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, **how)
        with process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def close(self) -> None:
        """Give the thread back."""
        self._thread.shutdown()


def _leave() -> bool:
    """Go into a new network and switch its loopback on; False where that is not allowed."""
    unshare = getattr(ctypes.CDLL(None), "unshare", None)
    if unshare is None or unshare(CLONE_NEWNET) != 0:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    return True
