"""The plugin's place in Claude Code: put together, registered through Claude Code's own commands, taken away again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from typing import Any

from memory_keeper import config
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.host import claude_settings
from memory_keeper.host.files import abandoned, remove_empty
from memory_keeper.host.hooks_module import have_loaded
from memory_keeper.host.json_file import parse, read_file
from memory_keeper.store.home import Lock

NAME = "memory-keeper"
PLUGIN = f"{NAME}@{NAME}"
PARTS = (".claude-plugin", "bin", "plugin")
PAGES = ("tutorial.md", "glossary.md", "how-to", "explanation", "reference")  # of the documentation, that come along
DATA = "data"  # the folder of a package that has them
SETTINGS = {"project": "settings.json", "local": "settings.local.json"}
CURRENT = "current"
LOCK = "install.lock"
LOCKS = {LOCK, claude_settings.LOCK}
PATIENCE = 60.0  # seconds for somebody else who installs: each of Claude Code's commands takes some
INSTALLERS = "`pipx uninstall memory-keeper` (or uv's, or pip's)"
# every name we give in the home: docs/reference/files.md
KEPT = (
    "store.db", "store.db-*", "archive", "spool", "writer.lock", "distil.lock", "render.lock", "improve.lock",
    "handoffs.lock",
    "watch.lock", LOCK, "salt", "salt.[0-9]*", "problems.log", "problems.log.old", "crash.log", "damaged-[0-9]*",
    "unsaved-note*.md", "changed-settings.*", "forgotten", "forget.json", "forget.json.*",
    "journal", "journal.*", "vanished",
    "backups", "restoring", "restoring.*", "before-restore-[0-9]*",
)  # fmt: skip
OURS = (
    *KEPT,
    "config.json",
    "prices.json",
    "sessions.db*",
    "threads",
    "rules",
    "rules.[0-9]*",
    "config.json.memory-keeper.[0-9]*",
    CURRENT,
    "current.[0-9]*",
    "marketplace",
    "marketplace.[0-9]*",
)


def claude_folder() -> str:
    """Where Claude Code keeps its own files."""
    return config.claude_folder(dict(os.environ))


def settings_path(scope: str, root: str) -> str:
    """The settings that a scope of Claude Code's stands for."""
    if scope == "user":
        return os.path.join(claude_folder(), "settings.json")
    return os.path.join(root, ".claude", SETTINGS[scope])


def check_usual(home: str) -> None:
    """Refuse a home that Claude Code's hooks would not use."""
    usual = config.find_home(dict(os.environ))
    if os.path.realpath(home) != os.path.realpath(usual):
        hint = f"set MEMORY_KEEPER_HOME={home} where Claude Code is started, and here, instead of --home"
        raise KeeperError(f"Claude Code's hooks would keep everything in {usual}, not in {home}", hint=hint)


def enter(project: str) -> None:
    """Claude Code's commands go by the working directory."""
    try:
        os.chdir(project or ".")
    except OSError as error:
        raise KeeperError(f"{project}: {error.strerror}", hint="--project takes a directory") from None


def installed_at(folder: str) -> str:
    """The folder the registered plugin lies in; empty when it is not registered."""
    known = read_json(os.path.join(folder, "plugins", "installed_plugins.json")) or {}
    plugins = known.get("plugins")
    for name, entries in plugins.items() if isinstance(plugins, dict) else ():
        if name.partition("@")[0] == NAME:
            for entry in entries if isinstance(entries, list) else [entries]:
                if isinstance(entry, dict) and isinstance(entry.get("installPath"), str):
                    return str(entry["installPath"])
    return ""


def load_module(home: str) -> bool:
    """Have Claude Code load the plugin's hooks module from the next session on; whether it has a plugin to load.

    It reads ours where `install` put it together, and those of others where it keeps its copy.
    """
    ours = have_loaded(os.path.join(home, "marketplace"))
    return have_loaded(installed_at(claude_folder())) or ours


def read_json(path: str) -> dict[str, Any] | None:
    """A JSON object in a file; None when there is none."""
    try:
        data = read_file(path)
        return None if data is None else parse(data, path)
    except (KeeperError, OSError):
        return None


def package() -> str:
    """The folder of the modules that run."""
    return os.path.dirname(os.path.abspath(config.__file__))


def is_package() -> bool:
    """Whether what runs was installed by pip or the like: such a package has the plugin's data within."""
    return os.path.isdir(os.path.join(package(), DATA, ".claude-plugin"))


def origin() -> str:
    """The folder with the parts of the plugin and its pages: of a checkout, an installed plugin or a package."""
    modules = package()
    return os.path.join(modules, DATA) if is_package() else os.path.dirname(os.path.dirname(modules))


def checkout() -> str:
    """The folder that we can be installed from: the one that runs, where it is a checkout."""
    root = origin()
    return root if os.path.exists(os.path.join(root, "pyproject.toml")) else "/path/to/the/checkout"


def assemble(home: str) -> str:
    """The plugin as Claude Code wants it, in our home: it works on when the checkout or the wheel has moved."""
    modules, parts = package(), origin()
    target = os.path.join(home, "marketplace")
    fresh, old = f"{target}.{os.getpid()}", f"{target}.0{os.getpid()}"
    sweep(home)
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        for part in PARTS:
            ignore = shutil.ignore_patterns(".python", ".python.*")
            shutil.copytree(os.path.join(parts, part), os.path.join(fresh, part), ignore=ignore)
        for page in PAGES:
            _copy_pages(os.path.join(parts, "docs", page), os.path.join(fresh, "docs", page))
        ignore = shutil.ignore_patterns("__pycache__", ".claude-plugin", "plugin")
        shutil.copytree(modules, os.path.join(fresh, "src", "memory_keeper"), ignore=ignore)
        os.chmod(os.path.join(fresh, "plugin", "launch"), 0o755)
        if os.path.lexists(target):
            os.rename(target, old)  # sessions run it: it is there but for a moment, and never in pieces
        os.rename(fresh, target)
    finally:
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)
    return target


def _copy_pages(path: str, to: str) -> None:
    """Pages of the documentation; a plugin that Claude Code fetched may have been packed without."""
    if os.path.isdir(path):
        shutil.copytree(path, to)
    elif os.path.exists(path):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(path, to)


def sweep(home: str) -> None:
    """Take away the plugin that somebody who was killed had half put together."""
    for left in abandoned(os.path.join(home, "marketplace.")):
        shutil.rmtree(left, ignore_errors=True)


def point_current(home: str) -> str:
    """Let `current` in our home lead to the plugin, wherever it lies: a path that outlives an update of it."""
    modules = package()
    root, link = os.path.dirname(os.path.dirname(modules)), os.path.join(home, CURRENT)
    if os.path.basename(os.path.dirname(modules)) != "src" or not os.path.exists(os.path.join(root, "plugin/launch")):
        root = os.path.join(home, "marketplace")  # what pip installed is no plugin
        if not os.path.exists(os.path.join(root, "src/memory_keeper/hooks/statusline.py")):
            with alone(home):
                assemble(home)
    own = f"{link}.{os.getpid()}"
    os.symlink(root, own)
    os.replace(own, link)
    return link


def drop_current(home: str) -> None:
    """Take `current` away again, when nothing runs what it leads to."""
    link = os.path.join(home, CURRENT)
    if os.path.islink(link):
        os.unlink(link)


def find_claude() -> str:
    """Claude Code's own program."""
    program = shutil.which("claude")
    if not program:
        raise NotSetUp("Claude Code's `claude` is not on the PATH", hint="install Claude Code first")
    return program


def claude(*args: str, needed: bool = True) -> str:
    """Run one of Claude Code's own commands."""
    asked = f"claude {' '.join(args)}"
    try:
        done = subprocess.run(
            [find_claude(), *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=180
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KeeperError(f"{asked} failed: {error}") from None
    if done.returncode and needed:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise KeeperError(f"{asked} failed: {lines[-1] if lines else done.returncode}")
    return done.stdout


# --- our home -----------------------------------------------------------------------------------------------------


@contextmanager
def alone(home: str) -> Iterator[None]:
    """One who installs or uninstalls at a time, and only who can write down in the home what is changed elsewhere."""
    lock = Lock(home, PATIENCE, LOCK.removesuffix(".lock"))
    with ExitStack() as held:
        try:
            held.enter_context(lock)
            while not os.fstat(lock.fd).st_nlink:  # who had it took the home away
                held.close()
                held.enter_context(lock)
        except Busy:
            hint = "try again in a moment; nothing was changed"
            raise Busy("Memory Keeper is being installed or uninstalled by another process", hint=hint) from None
        except OSError as error:
            raise KeeperError(f"{home} cannot be written: {error.strerror}", hint="nothing was changed") from None
        if not os.access(home, os.W_OK):
            raise KeeperError(f"{home} cannot be written", hint="nothing was changed")
        yield


def drop_unused(home: str) -> None:
    """Remove a home in which nothing is but locks."""
    if is_home(home) and {*os.listdir(home)} <= LOCKS:
        for name in os.listdir(home):
            os.unlink(os.path.join(home, name))
        remove_empty(home)


def names_of_ours(home: str, patterns: tuple[str, ...] = OURS) -> list[str]:
    """What in the home has a name that we give."""
    try:
        found = sorted(os.listdir(home))
    except OSError:
        return []
    return [name for name in found if any(fnmatchcase(name, pattern) for pattern in patterns)]


def is_home(home: str) -> bool:
    """Whether a folder has what only a home of ours has."""
    return bool({"store.db", "salt", "marketplace", claude_settings.LEDGER, *LOCKS} & {*names_of_ours(home)})


def check_home(home: str) -> None:
    """Refuse to delete in what is not plainly a home of ours."""
    real = os.path.realpath(home)
    above = os.path.join(real, "")
    hint = "nothing was changed; without --purge nothing is deleted"
    if os.path.islink(home):
        raise KeeperError(f"{home} is a link to {real}", hint=f"if that is the one, give --home {real}")
    if real == os.path.realpath(".") or os.path.join(os.path.realpath(os.path.expanduser("~")), "").startswith(above):
        raise KeeperError(f"{home} is no folder to purge", hint=hint)
    if not is_home(home):
        raise KeeperError(f"{home} is not a home of Memory Keeper", hint=hint)


def purge(home: str) -> list[str]:
    """Delete what is ours, and the home if nothing else is in it; what is left there."""
    for name in names_of_ours(home):
        path = os.path.join(home, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    left = sorted(os.listdir(home))
    if not left:
        remove_empty(home)
    return left
