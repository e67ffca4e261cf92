"""The door of the plugin's hooks module: `turn SESSION WINDOW TOKENS [MODEL]` at the end of each turn.

Says `{"run": "clear"}` when the session is to be cleared, and nothing otherwise.
"""

from __future__ import annotations

import posix


def main(argv: list[str]) -> None:
    """Whatever happens, exit 0."""
    from memory_keeper import config
    from memory_keeper.app.hook import complain, write_all
    from memory_keeper.app.settle import settle
    from memory_keeper.capture.payload import safe_name

    home = ""
    try:
        environ = config.environment()
        home = config.find_home(environ)
        session, window, tokens, model = (*argv[1:5], "", "", "", "")[:4]
        if session and settle(home, environ, safe_name(session), _number(window), _number(tokens), model[:100]):
            write_all(1, b'{"run": "clear"}')
    except BaseException as error:
        complain(home, "turn", error)
    finally:
        posix._exit(0)


def _number(said: str) -> int:
    return int(said) if said.isdecimal() and len(said) < 10 else 0
