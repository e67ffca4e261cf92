"""One hook call as a process of its own: payload on stdin, answer on stdout, and never a failure the user must see."""

from __future__ import annotations

import posix

from memory_keeper import config, wire
from memory_keeper.capture.payload import read_payload
from memory_keeper.hooks.answer import answer, despite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_keeper.model import Json

LARGEST = 32 << 20  # bytes of a payload


def main(argv: list[str]) -> None:
    """`hook EVENT`: whatever happens, exit 0 with one JSON object or nothing."""
    event, home = (argv[1] if len(argv) > 1 else ""), ""
    config.hurried = True
    try:
        try:
            environ = config.environment()
            if len(argv) > 2:
                event, home, environ = _read_options(argv[1:], environ)
            home = home or config.find_home(environ)
            payload = _read_input()
        except BaseException as error:
            wire.write_all(1, written(_excuse(event, home, error)))
        else:
            wire.write_all(1, respond(event, payload, home, environ, _catch_up))
    finally:
        posix._exit(0)


def respond(
    event: str, payload: bytes, home: str, environ: dict[str, str], catch_up: Callable[[str, str, str], object]
) -> bytes:
    """What the host reads, to the byte; `catch_up` has the writer come by."""
    if config.is_inside(environ):
        return b""  # a host that we started ourselves, to write a note
    try:
        call = read_payload(event, wire.loads(payload.decode("utf-8", "replace")), environ)
        return written(answer(call, home, environ, catch_up) if call else None)
    except BaseException as error:
        return written(_excuse(event, home, error))


def _excuse(event: str, home: str, error: BaseException) -> Json | None:
    """What is said when something went wrong, which is written down."""
    from memory_keeper.hooks.problems import complain

    complain(home, event, error)
    return despite(event, home, error)


def _read_options(words: list[str], environ: dict[str, str]) -> tuple[str, str, dict[str, str]]:
    """The event, the home that was named, and the environment with the project that was."""
    from memory_keeper.hooks.options import read_options

    given = read_options(words)
    project = {"CLAUDE_PROJECT_DIR": given.project} if given.project else {}
    return (*given.words, "")[0], given.home, {**environ, **project}


def _catch_up(home: str, what: str, session: str) -> None:
    """Few hooks start the writer."""
    from memory_keeper.hooks.detached import start_catch_up

    start_catch_up(home, what, session)


def written(reply: Json | str | None) -> bytes:
    """An answer as the host reads it."""
    if isinstance(reply, str):
        return reply.encode("utf-8", "replace")
    return wire.dumps(reply).encode("ascii") if reply else b""


def _read_input() -> bytes:
    parts, size = [], 0
    while size < LARGEST:
        part = posix.read(0, 1 << 16)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
