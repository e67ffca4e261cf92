"""The door of the plugin's hooks module: `turn SESSION WINDOW TOKENS [MODEL]` at the end of each turn.

Says `{"run": "clear"}` or `{"run": "compact"}` when the session is to be cleared or compacted, in mode `replace` also
`"replaces": true`, and nothing otherwise.
"""

from __future__ import annotations

import posix

from memory_keeper import config, wire
from memory_keeper.capture.payload import safe_name
from memory_keeper.hooks.actions.fullness import replaces
from memory_keeper.hooks.actions.turn_end import settle
from memory_keeper.hooks.problems import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json


def main(argv: list[str]) -> None:
    """Whatever happens, exit 0."""
    home = ""
    try:
        environ = config.environment()
        home = config.find_home(environ)
        session, window, tokens, model = (*argv[1:5], "", "", "", "")[:4]
        session = safe_name(session) if session and not config.is_inside(environ) else ""
        run = settle(home, environ, session, _number(window), _number(tokens), model[:100]) if session else ""
        reply: Json = {"run": run} if run else {}
        if session and replaces(home, environ, session):
            reply["replaces"] = True
        wire.write_all(1, wire.dumps(reply).encode("ascii") if reply else b"")
    except BaseException as error:
        complain(home, "turn", error)
    finally:
        posix._exit(0)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
