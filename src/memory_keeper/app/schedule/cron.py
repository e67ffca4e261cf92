"""Lines of our own in the user's crontab; every other byte of it stays as it is.

Ours come first: a `SHELL=` or `PATH=` of the user's is for the lines below it, and a last line without an end is none
of our business.
"""

from __future__ import annotations

import re
import shlex

from memory_keeper.app.schedule import MARK, Job, Machine, When
from memory_keeper.errors import KeeperError

BEGIN, END = f"# memory-keeper begin: {MARK}", "# memory-keeper end"
PLACE = "crontab"
NONE = (b"no crontab for", b"no such file")  # the second is what busybox says
MARKS = tuple(re.escape(mark.encode()) for mark in (BEGIN, END))
BLOCK = re.compile(rb"^%s\n(?:(?!%s|%s).*\n)*%s\n" % (MARKS[0], *MARKS, MARKS[1]), re.MULTILINE)
FIELDS = re.compile(r"^(\d+) (\d+) \* \* ([0-6*]) ", re.MULTILINE)


def problem(machine: Machine) -> str:
    """It may be there and not be allowed."""
    if not machine.has("crontab"):
        return "there is no crontab"
    try:
        _read(machine)
    except KeeperError as error:
        return str(error)
    return ""


def texts(machine: Machine, job: Job) -> dict[str, str]:
    """Our lines; what is printed would be mailed, what goes wrong is."""
    day = job.when.day if job.when.day >= 0 else "*"
    command = " ".join(map(escaped, job.command))
    line = f"{job.when.minute} {job.when.hour} * * {day} {command} >/dev/null"
    return {PLACE: f"{BEGIN}\n{line}\n{END}\n"}


def escaped(word: str) -> str:
    """As the shell reads it, after cron has.

    To most crons `%` ends the command unless there is a backslash before it, and some take away one of two backslashes.
    So `%` stands outside the quotes, where a backslash that cron leaves does no harm, and no two backslashes meet.
    """
    quoted = shlex.quote(word)
    if not quoted.startswith("'"):
        return quoted.replace("%", "\\%")
    return quoted.replace("\\", "\\''").replace("%", "'\\%'")


def found(machine: Machine) -> dict[str, str]:
    """Our lines, as they are there."""
    try:
        block = BLOCK.search(_read(machine))
    except KeeperError:
        return {}  # then there are none of ours either
    return {PLACE: block[0].decode("utf-8", "replace")} if block else {}


def when(texts: dict[str, str]) -> When | None:
    """From the first fields of our line."""
    said = FIELDS.search("".join(texts.values()))
    return When(int(said[3]) if said[3] != "*" else -1, int(said[2]), int(said[1])) if said else None


def install(machine: Machine, job: Job) -> None:
    """Put our lines before the user's, in place of those that were there."""
    before = _read(machine)
    rest = BLOCK.sub(b"", before)
    if BEGIN.encode() in rest or END.encode() in rest:
        raise KeeperError("Our lines in the crontab are damaged", hint="take them away with `crontab -e`")
    now = texts(machine, job)[PLACE].encode() + rest
    if now != before:
        machine.check("crontab", "-", said=now)


def remove(machine: Machine) -> None:
    """Take our lines away; a crontab that has nothing else goes with them."""
    before = b"" if problem(machine) else _read(machine)
    rest = BLOCK.sub(b"", before)
    if rest == before:
        return
    if rest:
        machine.check("crontab", "-", said=rest)
    else:
        machine.check("crontab", "-r")


def _read(machine: Machine) -> bytes:
    """The user's crontab; a failure to read it must not look like an empty one."""
    done = machine.run("crontab", "-l")
    if done.returncode == 0:
        return done.stdout
    if any(none in done.stderr.lower() for none in NONE):
        return b""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    raise KeeperError(f"crontab -l failed: {said[-1] if said else done.returncode}")
