"""Where things are, and which settings hold: variables win over the project's files, those over the user's.

A cloned repository may bring settings of its own, for us and for the host, and through those set variables. Nothing
here believes it more than it may say: `own_environ` is what is left of the environment when that is taken off.
"""

from __future__ import annotations

import posix

from memory_keeper import wire
from memory_keeper.settings import DEFAULTS, USERS_ONLY, bounded, flatten, read_value, valid, variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_keeper.model import Json

INSIDE = "MEMORY_KEEPER_INSIDE"  # in the environment of a host that we started ourselves: nothing of it is kept
DOTENV = ("/.env", "/.env.local")
DEPTH = 6  # folders between a session's and the root of its repository
LARGEST = 1 << 20
PROJECT_FILES = ("/.claude/memory/config.json", "/.claude/memory-keeper.json", "/.claude/memory-keeper.local.json")
HOSTS_BLOCKS = ("autoCompact", "compaction")  # of Claude Code's own settings, the user's, that count as ours
CLAUDE_FILES = ("/.claude/settings.json", "/.claude/settings.local.json")  # a `compaction` block there counts too
SWITCH = "autoCompactEnabled"
USUAL_PATH = "/bin:/usr/bin"
ANYTHING = "*"
HARMLESS = frozenset(("CLAUDE_PROJECT_DIR", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "TERM", "TZ", "USER"))
AGAINST = ("MEMORY_KEEPER_", "XDG_DATA_HOME", "HOME", "PATH", "CLAUDE_CONFIG_DIR", "PYTHON", "LD_", "GIT_", "TMPDIR")
INSIDE_HOST = ("CLAUDE_PROJECT_DIR", "CLAUDECODE")  # variables that Claude Code gives to what it starts
UNREAL = ("/proc/", "/dev/fd/")  # where a path means something else to everybody who follows it
_switches: dict[str, tuple[tuple[float, int], bool | None]] = {}


# in a process that somebody waits for, what may take minutes is left to another one
hurried = False


# --- places ----------------------------------------------------------------------------------------------------------


def find_home(environ: dict[str, str]) -> str:
    """Where everything is kept; outside every repository."""
    given, data = _absolute(environ.get("MEMORY_KEEPER_HOME", ""), environ), environ.get("XDG_DATA_HOME", "")
    if given or data:
        forced = _set_by(project) if (project := environ.get("CLAUDE_PROJECT_DIR", "")) else set()
        given = "" if {"MEMORY_KEEPER_HOME", ANYTHING} & forced else given
        data = "" if {"XDG_DATA_HOME", ANYTHING} & forced else data
    if given.startswith("/") and not _in_project(given, environ):
        return given
    if not data.startswith("/") or _in_project(data, environ):
        data = user_home(environ) + "/.local/share"
    return data.rstrip("/") + "/memory-keeper"


def _in_project(path: str, environ: dict[str, str]) -> bool:
    """Whether a path leads into the project that may have set it, through its settings: then it is not the user's."""
    if path.startswith(UNREAL):
        return True
    # who works in their home keeps it there
    return _leads_into(path, environ) and not _leads_into(user_home(environ), environ)


def _leads_into(path: str, environ: dict[str, str]) -> bool:
    """Whether a path leads into the folder that the session began in, by whatever way."""
    project = environ.get("CLAUDE_PROJECT_DIR", "").rstrip("/")
    return bool(project) and f"{real_path(path.rstrip('/') or '/')}/".startswith(real_path(project) + "/")


def user_home(environ: dict[str, str]) -> str:
    """The user's own folder; by the system's word where the environment has none, or a project moved it."""
    home = environ.get("HOME", "")
    moved = not home.startswith("/") or home.startswith(UNREAL)
    if moved or (_leads_into(home, environ) and {"HOME", ANYTHING} & _set_by(environ["CLAUDE_PROJECT_DIR"])):
        import pwd

        home = pwd.getpwuid(posix.getuid()).pw_dir
    return home.rstrip("/")


def _absolute(path: str, environ: dict[str, str]) -> str:
    if path.startswith("~/"):
        path = user_home(environ) + path[1:]
    return path.rstrip("/")


def environment() -> dict[str, str]:
    """The environment as text, without importing `os`."""
    return {
        name.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
        for name, value in posix.environ.items()
    }


def find_root(directory: str) -> str:
    """The root of the repository or worktree around a directory; outside git, the directory."""
    start = real_path(directory)
    here = start
    while not _is_there(here + "/.git"):
        above = here.rpartition("/")[0] or "/"
        if above == here:
            return start
        here = above
    return here


def real_path(path: str) -> str:
    """`os.path.realpath`; a start asks for it every time and `os` is slow to load, so only where it has work to do."""
    here = ""
    for name in path.split("/")[1:]:
        here += "/" + name
        if name in ("", ".", "..") or _is_link(here):
            break
    else:
        if path.startswith("/"):
            return path
    import os

    return os.path.realpath(path)


def _is_link(path: str) -> bool:
    try:
        posix.readlink(path)
    except (OSError, ValueError):
        return False
    return True


def _is_there(path: str) -> bool:
    try:
        posix.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def sync(path: str) -> None:
    """Let a file, or what was put into a folder or taken out, survive a power cut."""
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        posix.fsync(fd)
    finally:
        posix.close(fd)


# --- settings --------------------------------------------------------------------------------------------------------


def claude_folder(environ: dict[str, str]) -> str:
    """Where Claude Code keeps its own files."""
    return environ.get("CLAUDE_CONFIG_DIR", "") or user_home(environ) + "/.claude"


def claude_settings(folder: str, environ: dict[str, str]) -> list[tuple[str, Json]]:
    """Claude Code's own settings of the user and of the folder it was started in, the weakest first: those there are.

    It does not look for a repository around that folder.
    """
    found: list[tuple[str, Json | None]] = []
    if environ:
        own = claude_folder(environ)
        given = environ.get("CLAUDE_CONFIG_DIR")
        state = given + "/.claude.json" if given else own + ".json"
        switch = _switch(state)
        found += [(state, {SWITCH: switch})] if switch is not None else []
        found.append((own + "/settings.json", _read(own + "/settings.json", links=True)))
    found += [(folder + name, _read(folder + name)) for name in CLAUDE_FILES] if folder else []
    return [(path, given) for path, given in found if given]


def _switch(path: str) -> bool | None:
    """Whether the host's own notes have automatic compaction on: a file that is not for people and can be large, so it
    is read again only when it has changed."""
    try:
        about = posix.stat(path)
    except OSError:
        return None
    mark = about.st_mtime, about.st_size
    if _switches.get(path, (None, None))[0] != mark:
        text = read_small(path, 64 * LARGEST, links=True) or ""
        value = (_parse(text) or {}).get(SWITCH) if f'"{SWITCH}"' in text else None
        _switches[path] = mark, value if isinstance(value, bool) else None
    return _switches[path][1]


def load(
    home: str, root: str = "", environ: dict[str, str] | None = None, hosts: list[tuple[str, Json]] | None = None
) -> tuple[Json, list[str]]:
    """The settings in force, and the files that could not be read: those are left alone and the defaults hold.

    `hosts` are Claude Code's own, when the caller has read them.
    """
    settings, broken = dict(DEFAULTS), []
    for origin, given in layers(home, root, environ or {}, hosts):
        if given is None:
            broken.append(origin)
        else:
            settings.update(given)
    if not settings["compaction.enabled"]:
        settings["compaction.mode"] = "supplement"  # the host compacts by itself, and we only add to that
    return settings, broken


def layers(
    home: str, root: str, environ: dict[str, str], hosts: list[tuple[str, Json]] | None = None
) -> Iterator[tuple[str, Json | None]]:
    """Where settings are set, the weakest first: the file's path or the variable's name, and what it sets.

    None stands for a file that cannot be read.
    """
    mine = own_environ(environ, root)
    users = claude_folder(mine) if environ else "\0"
    if hosts is None or (environ and users != claude_folder(environ)):
        hosts = claude_settings(root, mine)
    own: Json = {}
    for origin, given in (*_set_in_claude_code(hosts, users), *_set_by_user(home + "/config.json", root)):
        own |= given or {}
        yield origin, given
    for name in PROJECT_FILES if root else ():
        for origin, given in _set_by_project(root, name):
            yield origin, bounded(given, own) if given else given
    yield from _set_by_variables(environ, mine, own)


def _set_in_claude_code(hosts: list[tuple[str, Json]], users: str) -> Iterator[tuple[str, Json]]:
    for path, given in hosts:
        blocks = {name: given[name] for name in HOSTS_BLOCKS if isinstance(given.get(name), dict)}
        if blocks and path.rpartition("/")[0] == users:
            yield path, valid(flatten(blocks))


def _set_by_user(path: str, root: str) -> Iterator[tuple[str, Json | None]]:
    """For every project, and for the one here."""
    if (text := read_small(path, links=True)) is None:
        return
    if (given := _parse(text)) is None:
        yield path, None
        return
    yield path, valid(flatten(given))
    projects = given.get("projects")
    here = projects.get(root) if isinstance(projects, dict) and root else None
    if isinstance(here, dict):
        yield f"{path} for {root}", valid(flatten(here))


def _set_by_project(root: str, name: str) -> Iterator[tuple[str, Json | None]]:
    if link_beneath(root, name) or (text := read_small(root + name)) is None:
        return
    given = _parse(text)
    allowed = {key: value for key, value in valid(flatten(given)).items() if key not in USERS_ONLY} if given else given
    yield root + name, allowed


def refused(home: str, root: str) -> Iterator[tuple[str, str]]:
    """What a project's files set and may not: each file, and what of it does not hold, or not so."""
    own: Json = {}
    for _, given in _set_by_user(home + "/config.json", root):
        own |= given or {}
    for name in PROJECT_FILES:
        text = None if link_beneath(root, name) else read_small(root + name)
        wanted = valid(flatten(_parse(text) or {})) if text else {}
        kept = bounded({key: value for key, value in wanted.items() if key not in USERS_ONLY}, own)
        for key in wanted:
            if kept.get(key) != wanted[key]:
                yield root + name, key


def _set_by_variables(environ: dict[str, str], mine: dict[str, str], own: Json) -> Iterator[tuple[str, Json]]:
    for key, usual in DEFAULTS.items():
        name = variable(key)
        # what is sent where is never for a variable to say that a project may have set in Claude Code
        if key.startswith("summarize.") and any(one in environ for one in INSIDE_HOST):
            continue
        if name in environ and (name in mine or key not in USERS_ONLY):
            given = valid({key: read_value(environ[name], usual)})
            yield name, given if name in mine else bounded(given, own)


# --- whose word a variable is ----------------------------------------------------------------------------------------


def is_inside(environ: dict[str, str]) -> bool:
    """Whether a host runs that we started ourselves, to write a note; no project can say so."""
    return INSIDE in environ and INSIDE in own_environ(environ, "")


def own_environ(environ: dict[str, str], root: str) -> dict[str, str]:
    """The environment without what the project's settings of Claude Code put there: where texts are sent, which
    programs are run and what only the user decides, whoever cloned it has not chosen."""
    folders = {folder for folder in (root, environ.get("CLAUDE_PROJECT_DIR", "")) if folder} if environ else ()
    theirs = {folder: names for folder in folders if (names := _set_by(folder))}
    if theirs and not any("HOME" in names for names in theirs.values()):
        home = real_path(user_home(environ))  # who works there has settings of their own there
        theirs = {folder: names for folder, names in theirs.items() if real_path(folder) != home}
    forced = {name for names in theirs.values() for name in names}
    if not forced:
        return environ
    anything = ANYTHING in forced
    usual = {"PATH": USUAL_PATH, "HOME": user_home(environ if anything else {})}
    kept = {name: value for name, value in environ.items() if name not in (usual if anything else forced)}
    kept = {name: value for name, value in kept.items() if name in HARMLESS} if anything else kept
    return {**kept, **{name: value for name, value in usual.items() if anything or name in forced}}


def _set_by(folder: str) -> set[str]:
    """The variables that a folder's settings of Claude Code set: read as the host does, which follows links; where we
    cannot make out what they say, they may set anything."""
    found: set[str] = set()
    for path in (folder + name for name in CLAUDE_FILES):
        if not _is_there(path):
            continue
        text = read_small(path, 4 * LARGEST, links=True)
        given = _parse(text.removeprefix("\ufeff")) if text is not None else None
        if given is None:
            return {ANYTHING}
        block = given.get("env")
        found |= {str(name) for name in block} if isinstance(block, dict) else set()
    return found


# --- files -----------------------------------------------------------------------------------------------------------


def _read(path: str, links: bool = False) -> Json | None:
    text = read_small(path, links=links)
    return None if text is None else _parse(text)


def _parse(text: str) -> Json | None:
    try:
        given = wire.loads(text)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def read_dotenv(root: str) -> list[str]:
    """What the files say in which a project's secrets stand, up to the root of its repository."""
    found: list[str] = []
    for _ in range(DEPTH):
        found += [text for text in (read_small(root + name) for name in DOTENV) if text]
        if posix.access(root + "/.git", posix.F_OK) or not root.startswith("/"):
            break
        root = root.rpartition("/")[0]
    return found


def link_beneath(folder: str, path: str) -> str:
    """The first part of a path beneath a folder that is a link, and may lead out of it; empty when none is."""
    here = folder
    for name in path.split("/")[1:]:
        here += "/" + name
        if _is_link(here):
            return here
    return ""


def read_small(path: str, most: int = LARGEST, links: bool = False) -> str | None:
    """A small regular file; None when there is none. Never a link out of the project; the user's own files may be."""
    fd = open_plain(path, links)
    if fd is None:
        return None
    try:
        return posix.read(fd, most).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        posix.close(fd)


def open_plain(path: str, links: bool = False) -> int | None:
    """A descriptor of a regular file, never of a pipe, a device or a link to elsewhere; None when it is none."""
    flags = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC | (0 if links else posix.O_NOFOLLOW)
    try:
        fd = posix.open(path, flags)
    except (OSError, ValueError):
        return None
    if posix.fstat(fd).st_mode & 0o170000 == 0o100000:
        return fd
    posix.close(fd)
    return None
