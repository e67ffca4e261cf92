"""A pane of tmux in which Claude Code runs.

Its process says which pane that is, and may be mistaken: a project's settings can give it any environment. So the pane
must be the terminal of that very process, which must get the keys that are typed there, and the server behind the
socket must be one of its ancestors. All of it is asked again before every key.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import struct

from memory_keeper.host.process import read_ancestors
from memory_keeper.watch.ask import Ask
from memory_keeper.watch.clear import BACK, CLEAR, ENTER, STASH, Refused
from memory_keeper.watch.process import check, find_program, is_device, run

KEYS = {CLEAR: ["-l", CLEAR.decode()], STASH: ["C-s"], BACK: ["BSpace"], ENTER: ["Enter"]}
ABOUT = "#{pane_tty} #{pane_dead} #{pane_in_mode} #{pane_synchronized} #{pane_input_off}"
# asked and sent in one go: a pane that has just gone into copy mode does not get them
READY = "#{?pane_dead,,#{?pane_in_mode,,#{?pane_synchronized,,1}}}"
WHY = ("it has ended", "it is in copy mode", "other panes get the same keys", "its input is switched off")


class Pane:
    """One pane of a server."""

    def __init__(self, ask: Ask) -> None:
        words = ask.tmux.rsplit(",", 2)
        if not re.fullmatch(r"%[0-9]{1,9}", ask.pane) or not re.fullmatch(r"/[^\0-\x1f\x7f]*", words[0]):
            raise Refused("it does not run in tmux")
        self._ask, self._pane, self._socket = ask, ask.pane, words[0]
        self._program = find_program("tmux")
        self.check()

    def check(self) -> None:
        """Raise unless keys that are typed here reach that process, and nobody else."""
        process = check(self._ask)
        _check_server(self._socket, self._ask.pid)
        about = self._tmux("display-message", "-p", "-t", self._pane, ABOUT).rstrip("\n").split(" ")
        if len(about) != 1 + len(WHY) or not is_device(about[0], process.terminal):
            raise Refused("it does not run in that pane")
        for why, flag in zip(WHY, about[1:], strict=True):
            if flag not in ("0", ""):
                raise Refused(f"the pane cannot be typed into: {why}")

    def screen(self) -> str:
        """What the pane shows."""
        self.check()
        return self._tmux("capture-pane", "-p", "-t", self._pane)

    def type(self, keys: bytes) -> None:
        """Type one of the constants."""
        send = " ".join(["send-keys", "-t", self._pane, *KEYS[keys]])
        self.check()
        self._tmux("if-shell", "-F", "-t", self._pane, READY, send)

    def _tmux(self, *args: str) -> str:
        return run(self._program, "-u", "-S", self._socket, *args)


def find(ask: Ask) -> Pane | None:
    """The pane in which that process runs; None when there is none that can be typed into."""
    try:
        return Pane(ask)
    except (Refused, OSError):
        return None


def _check_server(path: str, pid: int) -> None:
    """Raise unless a socket is ours and, where the system says who listens on it, that is an ancestor of a process."""
    try:
        about = os.stat(path)
        if not stat.S_ISSOCK(about.st_mode) or about.st_uid != os.getuid():
            raise Refused("its socket is not one of ours")
        option = getattr(socket, "SO_PEERCRED", None)
        if option is None:
            return
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1.0)
            probe.connect(path)
            server, owner, _ = struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, option, 12))
    except OSError:
        raise Refused("its tmux has ended") from None
    if owner != os.getuid() or server not in read_ancestors(pid):
        raise Refused("it does not run in that tmux")
