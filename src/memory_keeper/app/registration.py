"""The plugin's place in Claude Code: put together, registered through Claude Code's own commands, taken away again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

from memory_keeper.errors import KeeperError, NotSetUp

NAME = "memory-keeper"
PARTS = (".claude-plugin", "plugin")


def claude_folder() -> str:
    """Where Claude Code keeps its own files."""
    return os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")


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


def read_json(path: str) -> dict[str, Any] | None:
    """A JSON object in a file; None when there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def assemble(home: str) -> str:
    """The plugin as Claude Code wants it, in our home: it works on when the checkout or the wheel has moved."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    beside = os.path.dirname(os.path.dirname(package))  # a checkout's root
    origin = beside if os.path.isdir(os.path.join(beside, ".claude-plugin")) else os.path.join(package, "data")
    target = os.path.join(home, "marketplace")
    fresh = f"{target}.{os.getpid()}"
    shutil.rmtree(fresh, ignore_errors=True)
    for part in PARTS:
        shutil.copytree(os.path.join(origin, part), os.path.join(fresh, part), ignore=shutil.ignore_patterns(".python"))
    ignore = shutil.ignore_patterns("__pycache__", ".claude-plugin", "plugin")
    shutil.copytree(package, os.path.join(fresh, "src", "memory_keeper"), ignore=ignore)
    os.chmod(os.path.join(fresh, "plugin", "launch"), 0o755)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(fresh, target)
    return target


def claude(*args: str, needed: bool = True) -> str:
    """Run one of Claude Code's own commands."""
    program = shutil.which("claude")
    if not program:
        raise NotSetUp("Claude Code's `claude` is not on the PATH", hint="install Claude Code first")
    done = subprocess.run([program, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=180)
    if done.returncode and needed:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise KeeperError(f"claude {' '.join(args)} failed: {said[-1] if said else done.returncode}")
    return done.stdout


def remember(home: str, path: str) -> None:
    """Keep a file of the user's as it is before Claude Code edits it for us; only the first time."""
    kept = os.path.join(home, "before-install.json")
    known = read_json(kept) or {}
    if path not in known:
        known[path] = _text(path)
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(known, file)


def put_back(home: str) -> list[str]:
    """Give the user's files back their own bytes, where nothing but our registration had changed in them."""
    kept = os.path.join(home, "before-install.json")
    restored = []
    for path, before in (read_json(kept) or {}).items():
        now = _text(path)
        if now is None or now == before:
            continue
        if before is None and _bare(now) == {}:
            os.unlink(path)
        elif before is not None and _bare(now) == _bare(before):
            _replace(path, before)
        else:
            continue  # the user changed more since: what Claude Code left is right
        restored.append(path)
    if os.path.exists(kept):
        os.unlink(kept)
    return restored


def _bare(text: str) -> Any:
    """Settings without the empty shells a removed plugin leaves."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict):
        return value
    return {key: one for key, one in value.items() if key not in ("enabledPlugins", "extraKnownMarketplaces") or one}


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError:
        return None


def _replace(path: str, text: str) -> None:
    mode = os.stat(path).st_mode & 0o777
    own = f"{path}.{os.getpid()}"
    with open(own, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(own, mode)
    os.replace(own, path)
