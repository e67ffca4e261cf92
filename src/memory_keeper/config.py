"""Settings and places: the environment wins over the project's files, those over the user's, those over defaults."""

from __future__ import annotations

import posix

from memory_keeper import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_keeper.model import Json

DEFAULTS: Json = {
    "tell": {"startBudget": 1500},  # tokens of the brief at a session's start
}
DOTENV = ("/.env", "/.env.local")
DEPTH = 6  # folders between a session's and the root of its repository
LARGEST = 1 << 20
PROJECT_FILES = ("/.claude/memory-keeper.json", "/.claude/memory-keeper.local.json")


def find_home(environ: dict[str, str]) -> str:
    """Where everything is kept; outside every repository."""
    given = environ.get("MEMORY_KEEPER_HOME", "")
    if given.startswith(("/", "~/")):  # a relative one would lie in whatever project sets it
        return _absolute(given, environ)
    data = environ.get("XDG_DATA_HOME", "")
    if not data.startswith("/"):
        data = _user_home(environ) + "/.local/share"
    return data.rstrip("/") + "/memory-keeper"


def _user_home(environ: dict[str, str]) -> str:
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        import pwd

        home = pwd.getpwuid(posix.getuid()).pw_dir
    return home.rstrip("/")


def _absolute(path: str, environ: dict[str, str]) -> str:
    if path.startswith("~/"):
        path = _user_home(environ) + path[1:]
    return path.rstrip("/")


def environment() -> dict[str, str]:
    """The environment as text, without importing `os`."""
    return {
        name.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
        for name, value in posix.environ.items()
    }


def load(home: str, root: str = "") -> tuple[Json, list[str]]:
    """The settings in force, and the files that could not be read: those are left alone and the defaults hold."""
    settings: Json = {section: dict(values) for section, values in DEFAULTS.items()}
    broken = []
    for path in (home + "/config.json", *([root + name for name in PROJECT_FILES] if root else [])):
        said = read_small(path)
        if said is None:
            continue
        try:
            _merge(settings, wire.loads(said))
        except (ValueError, TypeError, AttributeError, RecursionError):
            broken.append(path)
    return settings, broken


def _merge(settings: Json, given: Json) -> None:
    """Take over the known settings of the right type; a cloned repository can say nothing else."""
    for section, values in given.items():
        for key, value in values.items() if isinstance(values, dict) else ():
            known = settings.get(section, {}).get(key)
            if known is not None and type(value) is type(known):
                settings[section][key] = value


def read_dotenv(root: str) -> list[str]:
    """What the files say in which a project's secrets stand, up to the root of its repository."""
    found: list[str] = []
    for _ in range(DEPTH):
        found += [text for text in (read_small(root + name) for name in DOTENV) if text]
        if posix.access(root + "/.git", posix.F_OK) or not root.startswith("/"):
            break
        root = root.rpartition("/")[0]
    return found


def read_small(path: str) -> str | None:
    """A small regular file; None when there is none. Never a link out of the project."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC)
    except OSError:
        return None
    try:
        regular = posix.fstat(fd).st_mode & 0o170000 == 0o100000
        return posix.read(fd, LARGEST).decode("utf-8", "replace") if regular else None
    except OSError:
        return None
    finally:
        posix.close(fd)
