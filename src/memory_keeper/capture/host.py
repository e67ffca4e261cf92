"""The host's process: which one it is, when it was started, and the terminal it runs in."""

from __future__ import annotations

import posix

OURS = "MEMORY_KEEPER_RUN"  # set for the host by `memory-keeper run`, which answers for it
GENERATIONS = 6
OVER = (b"Z", b"X")  # states of a process that does nothing any more
TERMINAL = ("TMUX", "TMUX_PANE", "STY", "WINDOW")


def find_pid(environ: dict[str, str]) -> int:
    """The process of the host that called us: the one it names, if that is really above us, else our parent.

    A host that was started from another one's shell has inherited that one's number.
    """
    text, parent = environ.get("CLAUDE_PID", ""), posix.getppid()
    named = int(text) if text.isdecimal() and len(text) < 10 else 0
    above = parent
    for _ in range(GENERATIONS if named else 0):
        if above == named:
            return named
        above = _parent(above)
    return parent


def _parent(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def born(pid: int) -> str:
    """When a process was started, as the system counts; with its number it is one process for ever. Empty: gone,
    or over and only not yet asked for by its parent."""
    fields = _stat(pid)
    if not fields and not posix.access("/proc/self/stat", posix.F_OK):
        return _born_by_ps(pid)
    return fields[19].decode("ascii") if len(fields) > 19 and fields[0] not in OVER else ""


def _stat(pid: int) -> list[bytes]:
    """What the system says of a process, from its state on; empty when it is gone."""
    try:
        fd = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return []
    try:
        return posix.read(fd, 4096).rpartition(b")")[2].split()  # the name, in brackets, may have brackets in it
    except OSError:
        return []
    finally:
        posix.close(fd)


def _born_by_ps(pid: int) -> str:
    """The same where there is no /proc."""
    import subprocess

    try:
        done = subprocess.run(
            ["/bin/ps", "-o", "state=", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    state, _, started = done.stdout.strip().partition(" ")
    return "" if state[:1].encode() in OVER else started.strip()


def find_terminal(environ: dict[str, str]) -> list[str]:
    """Where keys for the host could be typed, in the words of tmux and GNU screen."""
    return [environ.get(name, "")[:300] for name in TERMINAL]
