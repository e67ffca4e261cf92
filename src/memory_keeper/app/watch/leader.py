"""The leader of the inner terminal: it starts the program there, waits for it, and says what becomes of it."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import struct
import subprocess
import termios
from typing import NoReturn

from memory_keeper.errors import KeeperError

NUMBER = struct.Struct("i")
PASSED_ON = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


def start(argv: list[str], mark: str, umask: int, slave: int, ours: tuple[int, ...]) -> tuple[int, int, int]:
    """Start the leader, and through it the program: their numbers, and a pipe that tells what becomes of it."""
    report, told = os.pipe()
    leader = os.fork()
    if not leader:
        try:
            for fd in (*ours, report):  # while somebody has it, a terminal does not hang up
                os.close(fd)
            _lead(argv, mark, umask, slave, told)
        finally:
            os._exit(1)
    os.close(told)
    if not os.isatty(0):
        _close_stdin()
    first = os.read(report, NUMBER.size)
    (number,) = NUMBER.unpack(first or NUMBER.pack(-errno.EAGAIN))
    if number < 0:
        os.waitpid(leader, 0)
        raise _not_started(argv, -number)
    return leader, number, report


def _lead(argv: list[str], mark: str, umask: int, slave: int, report: int) -> NoReturn:
    """Start the program in the inner terminal, wait for it, and say what becomes of it."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    try:
        program = _start_program(argv, mark, umask, slave)
    except OSError as error:
        os.write(report, NUMBER.pack(-(error.errno or errno.EIO)))
        os._exit(1)
    # first, and never ignored in between: until here a hang-up ends us, and the system tells the program
    signal.signal(signal.SIGHUP, lambda *_: _hang_up(program.pid))
    for number in {*PASSED_ON, signal.SIGTSTP} - {signal.SIGHUP}:
        signal.signal(number, signal.SIG_IGN)
    for fd in range(3):
        os.dup2(slave, fd)  # who writes into a pipe must see when the program does not read it any more
    os.write(report, NUMBER.pack(program.pid))
    while True:
        _, status = os.waitpid(program.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            _take_keys(slave)  # when a leader goes, the foreground is told to hang up: spare what is left there
        os.write(report, NUMBER.pack(status))
        if not os.WIFSTOPPED(status):
            os._exit(0)


def _start_program(argv: list[str], mark: str, umask: int, slave: int) -> subprocess.Popen[bytes]:
    def step_forward() -> None:
        os.setpgid(0, 0)
        _take_keys(slave)

    given = [slave if os.isatty(fd) else None for fd in range(3)]  # a pipe or a file stays what it is
    return subprocess.Popen(
        argv,
        stdin=given[0],
        stdout=given[1],
        stderr=given[2],
        env={**_environment(), mark: str(os.getpid())},
        umask=umask,
        close_fds=False,  # ours close themselves; others are for the program
        preexec_fn=step_forward,
    )


def _hang_up(group: int) -> None:
    """Tell a group of processes that its terminal is gone: the system tells the leader alone."""
    kill(-group, signal.SIGHUP)
    kill(-group, signal.SIGCONT)  # or it would not hear it while it is stopped


def _take_keys(slave: int) -> None:
    """Bring our group of processes to the foreground."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})  # what one gets for it in the background
    try:
        os.tcsetpgrp(slave, os.getpgrp())
    except OSError:
        pass  # it was hung up
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def become(argv: list[str], umask: int) -> NoReturn:
    """Be the program, from now on."""
    os.umask(umask)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, _environment())
    except OSError as error:
        raise _not_started(argv, error.errno or errno.EIO) from None


def _not_started(argv: list[str], number: int) -> KeeperError:
    missing = number == errno.ENOENT
    error = KeeperError(f"{argv[0]}: {'not found' if missing else os.strerror(number)}")
    error.code = 127 if missing else 126  # as shells say it
    return error


def _environment() -> dict[str, str]:
    """The environment that we were given: where nothing is said about characters, Python says something."""
    try:
        with open("/proc/self/environ", "rb") as file:
            told = b"\0" + file.read()
    except OSError:
        return dict(os.environ)
    return {name: value for name, value in os.environ.items() if name != "LC_CTYPE" or b"\0LC_CTYPE=" in told}


def _close_stdin() -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def kill(pid: int, number: int) -> None:
    """Send a signal to a process, if it is there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
