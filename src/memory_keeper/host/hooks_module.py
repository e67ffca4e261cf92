"""The hooks module is loaded where something needs it: with it every session starts a fifth later, and every prompt
waits some milliseconds for the host's own thread.

Claude Code reads `hooks/hooks.json` in a plugin's folder beside what its manifest names. So that file, which is not
shipped, has the module loaded from the next session on. An update of the plugin comes without it; the start of a
session makes it again (`beginning`).
"""

from __future__ import annotations

import posix

FILE = "hooks/hooks.json"
NAMES = b'{"hooks": {}, "modules": ["../plugin/hooks/module.js"]}\n'


def have_loaded(root: str) -> bool:
    """Have Claude Code load the module of the plugin in this folder; whether it does. Twice is once."""
    path = f"{root}/{FILE}"
    if not root or not posix.access(f"{root}/plugin/hooks/module.js", posix.R_OK):
        return False
    if posix.access(path, posix.F_OK):
        return True
    own = f"{path}.{posix.getpid()}"
    try:
        try:
            posix.mkdir(f"{root}/hooks", 0o755)
        except FileExistsError:
            pass
        fd = posix.open(own, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NOFOLLOW | posix.O_CLOEXEC, 0o644)
        try:
            posix.write(fd, NAMES)
        finally:
            posix.close(fd)
        posix.rename(own, path)
    except OSError:
        return False  # a folder that is somebody else's
    return True
