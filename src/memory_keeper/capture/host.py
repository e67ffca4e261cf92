"""The host's process: which one it is, when it was started, and the terminal it runs in."""

from __future__ import annotations

import posix

OURS = "MEMORY_KEEPER_RUN"  # set for the host by `memory-keeper run`, which owns its terminal
TERMINAL = ("TMUX", "TMUX_PANE", "STY", "WINDOW")


def find_pid(environ: dict[str, str]) -> int:
    """The process of the host that called us: it says so itself, and older ones are our parent."""
    said = environ.get("CLAUDE_PID", "")
    return int(said) if said.isdecimal() and len(said) < 10 else posix.getppid()


def born(pid: int) -> str:
    """When a process was started, as the system counts; with its number it is one process for ever. Empty: gone."""
    try:
        fd = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return _born_by_ps(pid) if not posix.access("/proc/self/stat", posix.F_OK) else ""
    try:
        # the name, in brackets, may have blanks and brackets in it
        return posix.read(fd, 4096).rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return ""
    finally:
        posix.close(fd)


def _born_by_ps(pid: int) -> str:
    """The same where there is no /proc."""
    import subprocess

    try:
        done = subprocess.run(["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def find_terminal(environ: dict[str, str]) -> list[str]:
    """Where keys for the host could be typed, in the words of tmux and GNU screen."""
    return [environ.get(name, "")[:300] for name in TERMINAL]
