"""`config`: the settings in force and where they come from; what they are changed to."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, NamedTuple

from memory_keeper import config
from memory_keeper.capture.gauge import OFF
from memory_keeper.cli.arguments import DRY_RUN, Verb, argument
from memory_keeper.cli.output import respond
from memory_keeper.cli.scope import folder_of
from memory_keeper.config import find_root
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.host import claude_settings, files, registration
from memory_keeper.host.consent import outside_a_session
from memory_keeper.host.json_file import lay_out, parse, read_file, same
from memory_keeper.keeper import Keeper
from memory_keeper.keeper.by_hand import keep_settings
from memory_keeper.settings import ALIASES, DEFAULTS, MEANINGLESS, SETTINGS, USERS_ONLY, flatten, problem, read_value
from memory_keeper.terminal import as_called, paint, say, say_problem

PATIENCE = 5.0  # seconds for who writes to the store
SWITCH = f"claude.{config.SWITCH}"  # Claude Code's own; the rest is ours
_, PROJECT, _ = config.PROJECT_FILES  # the predecessor's is only read
GROUPS = {  # the settings by the first part of their names
    "capture": "what is kept",
    "backup": "copies of it",
    "tell": "what a context is told",
    "reduce": "how notes are made",
    "summarize": "who words them, and what that may take",
    "context": "warnings of a full context",
    "rules": "what every context is to go by",
    "observations": "what may become a rule",
    "compaction": "compactions, and upkeep",
    "claude": "Claude Code's own",
}
PROJECTS = f"you can set it, and so can a project, in {PROJECT[1:]}"
HOSTS = "Whether Claude Code compacts by itself when a context is full."
MODES = {  # what a mode does, said when it is chosen
    "supplement": "Claude Code compacts; what its summary lost is told again at once.",
    "clear": "From the next session on a context is cleared after the turn in which it passes"
    " compaction.triggers.sessionTokens.threshold.",
    "replace": "From the next session on Memory Keeper answers compactions, where Claude Code has hooks modules"
    " (2.1.286).",
    "block": "A compaction is refused once; the context is cleared and restored when the turn is over.",
}


class Setting(NamedTuple):
    """A setting as it holds here."""

    key: str
    value: Any
    origin: str  # default, a file, or a variable


def _list(args: Namespace) -> int:
    settings, broken = _in_force(args.home, find_root(folder_of(args)))
    about: dict[str, Any] = {setting.key: {"value": setting.value, "origin": setting.origin} for setting in settings}
    for key, usual in DEFAULTS.items():
        about[key]["default"] = usual
    return respond(args, {"settings": about, "broken": broken}, lambda: _print_all(args, settings, broken))


def _print_all(args: Namespace, settings: list[Setting], broken: list[str]) -> None:
    for group, named in GROUPS.items():
        print(f"{paint(group, 'bold')}  {paint(named, 'dim')}")
        for setting in settings:
            if setting.key.partition(".")[0] == group:
                _print(setting, args.show_origin)
        print()
    say(as_called("* was changed. `memory-keeper config set KEY VALUE` changes one, `config get KEY` tells all of it."))
    for path in broken:
        say_problem(f"{path} cannot be read: the defaults hold", "make it valid JSON")


def _get(args: Namespace) -> int:
    if why := MEANINGLESS.get(args.key):
        about = {"key": args.key, "value": None, "origin": "", "meaning": why}
        return respond(args, about, f"{args.key} has no meaning here: {why}.")
    _rename(args)
    root = find_root(folder_of(args))
    setting = _holds(args, root)
    for path, key in config.refused(args.home, root):
        if key != args.key:
            continue
        way = f"if you want it, set it yourself: memory-keeper config set {key} VALUE --local"
        say_problem(f"{path} sets it, and that does not hold", way)
    about = {
        "default": _usual(setting.key),
        "meaning": _meaning(setting.key),
        "users_only": setting.key in (SWITCH, *USERS_ONLY),
    }

    def show() -> None:
        print(_said(setting.value) + (f"  {setting.origin}" if args.show_origin else ""))
        if sys.stdout.isatty():  # a script takes the value as it is
            say(about["meaning"], "  ", "  ")
            say(f"default: {_said(about['default']) or '(none)'}; now from: {setting.origin}", "  ", "  ", "dim")
            say("only you can set it, no project's file" * about["users_only"] or PROJECTS, "  ", "  ", "dim")

    return respond(args, {**setting._asdict(), **about}, show)


def _set(args: Namespace) -> int:
    if args.project_file and args.local:
        args.fail("argument --local: not allowed with argument --project-file")
    _rename(args)
    if args.key == SWITCH:
        raise KeeperError(f"{SWITCH} is Claude Code's own", hint="its command /config changes it; nothing was changed")
    return _change(args, find_root(folder_of(args)))


def _unset(args: Namespace) -> int:
    args.value = None
    return _set(args)


def _near(key: str) -> str:
    """The settings whose names, or the last parts of them, are like one that there is not."""
    names = {name: name for name in (SWITCH, *DEFAULTS)} | {
        setting.rpartition(".")[2].lower(): setting for setting in DEFAULTS
    }
    found = get_close_matches(key, names, 1, 0.8) or get_close_matches(key.rpartition(".")[2].lower(), names, 3)
    known = dict.fromkeys(names[setting] for setting in found or get_close_matches(key, names, 3))
    return f"did you mean {' or '.join(known)}?" if known else "`memory-keeper config list` names them all"


def _rename(args: Namespace) -> None:
    """Give a setting that was named as the predecessor does our name, and its number as we count."""
    if why := MEANINGLESS.get(args.key):
        raise KeeperError(f"{args.key} has no meaning here: {why}", hint="nothing was changed")
    name, share = ALIASES.get(args.key, (args.key, 1.0))
    if share != 1.0 and (getattr(args, "value", None) or "").isdecimal():
        args.value = str(round(int(args.value) * share))
    args.key = name
    if name not in (SWITCH, *DEFAULTS):
        raise KeeperError(f"there is no setting {name}", hint=_near(name))


# --- what holds -------------------------------------------------------------------------------------------------------


def _in_force(home: str, root: str) -> tuple[list[Setting], list[str]]:
    """Every setting with where it comes from, and the files that cannot be read."""
    environ, broken = dict(os.environ), []
    found = {key: Setting(key, value, "default") for key, value in DEFAULTS.items()}
    for origin, given in config.layers(home, root, environ):
        if given is None:
            broken.append(origin)
        found |= {key: Setting(key, value, origin) for key, value in (given or {}).items()}
    return [*found.values(), _find_switch(root, environ)], broken


def _find_switch(root: str, environ: dict[str, str]) -> Setting:
    """Whether Claude Code compacts by itself here: variables win, also those that its own settings set."""
    hosts = config.claude_settings(root, environ)
    variables = {name: (environ.get(name, ""), name) for name in OFF}
    for path, given in hosts:
        env = given.get("env")
        named = {name: str(env[name]) for name in OFF if name in env} if isinstance(env, dict) else {}
        variables |= {name: (value, f"{name} in {path}") for name, value in named.items()}
    for value, origin in variables.values():
        if value.lower() in ("1", "true", "yes", "on"):
            return Setting(SWITCH, False, origin)
    for path, given in reversed(hosts):
        if isinstance(given.get(config.SWITCH), bool):
            return Setting(SWITCH, given[config.SWITCH], path)
    return Setting(SWITCH, True, "default")


def _print(setting: Setting, origin: bool) -> None:
    """A setting, what it means, and where it comes from if that is not where they all do."""
    changed = setting.origin != "default"
    where = (
        f"  ({setting.origin}{f'; default {_said(_usual(setting.key))}' if changed else ''})"
        if changed or origin
        else ""
    )
    say(
        f"{setting.key} = {_said(setting.value) or '(none)'}{where}",
        "* " if changed else "  ",
        " " * 6,
        "yellow" * changed,
    )
    say(_meaning(setting.key), " " * 6, " " * 6, "dim")


def _usual(key: str) -> Any:
    return DEFAULTS.get(key, True)


def _meaning(key: str) -> str:
    return SETTINGS[key].meaning if key in SETTINGS else HOSTS


def _holds(args: Namespace, root: str) -> Setting:
    return next(setting for setting in _in_force(args.home, root)[0] if setting.key == args.key)


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


# --- ours -------------------------------------------------------------------------------------------------------------


def _change(args: Namespace, root: str) -> int:
    """Set or unset one of our own in one of our own files; the rest of the file stays."""
    key = args.key
    place = (root, PROJECT) if args.project_file else (args.home.rstrip("/"), "/config.json")
    path = "".join(place)
    if args.project_file and key in USERS_ONLY:
        raise KeeperError(f"{key} is yours: a project's file cannot set it", hint="--local sets it for this project")
    if key in USERS_ONLY and not args.dry_run:
        outside_a_session(args.home, f"change {key}")
    part = ["projects", root] if args.local else []
    value = None
    if args.value is not None:
        value = read_value(args.value, DEFAULTS[key])
        if wrong := problem(key, value):
            raise KeeperError(wrong, hint="nothing was changed")
    if args.dry_run:
        was = flatten(_part(_read(*place), part)).get(key)
    else:
        was = put(args.home, place, part, key, value)
        if key == "compaction.mode" and value not in (None, "supplement"):
            registration.load_module(args.home)
    where, holds = f"{path} for {root}" if args.local else path, _holds(args, root)
    about = {"key": key, "path": where, "was": was, "now": value, "in_force": holds.value, "by": holds.origin}
    return respond(args, about, "\n".join(_describe_change(args, where, was, value, holds)))


def put(home: str, place: tuple[str, str], part: list[str], key: str, value: Any) -> Any:
    """Write a setting into a file of ours, at a place in it, or take it out for None; what it said before."""
    with claude_settings.exclusive(home):
        given = _read(*place)
        mine = _part(given, part)
        was = flatten(mine).get(key)
        if value is None and was is not None:
            drop_setting(given, ".".join((*part, key)))
        elif not same(was, value):
            add_setting(mine, key, value)
        if not same(was, value):
            _write("".join(place), given, home)
    _write_down(home)
    return was


def _part(given: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What a file says at a place in it, which it has from now on."""
    for name in names:
        given = given.setdefault(name, {})
        if not isinstance(given, dict):
            raise KeeperError(f'"{name}" in this file is no object', hint="nothing was changed; take it out first")
    return given


def add_setting(given: dict[str, Any], key: str, value: Any) -> None:
    """Have settings say one, nested as its name says."""
    *above, last = key.split(".")
    below = _part(given, above)
    if isinstance(below.get(last), dict):
        raise KeeperError(f'"{last}" in this file is an object', hint="nothing was changed; take it out first")
    below[last] = value
    if flatten(given).get(key) != value:  # written dotted as well, further down
        drop_setting(given, key)
        add_setting(given, key, value)


def drop_setting(given: dict[str, Any], key: str) -> None:
    """Take a setting out, nested or dotted, and what is empty without it."""
    for name, value in [*given.items()]:
        if isinstance(value, dict):
            if value and key.startswith(name + "."):
                drop_setting(value, key.removeprefix(name + "."))
                if not value:
                    del given[name]
        elif name == key:
            del given[name]


def _describe_change(args: Namespace, path: str, was: Any, value: Any, holds: Setting) -> Iterator[str]:
    key, would = args.key, "would be " if args.dry_run else ""
    if value is not None:
        yield f"{key} = {_said(value)}  ({would}set in {path}{f'; it was {_said(was)}' if was is not None else ''})"
    elif was is not None:
        yield f"{key}  ({would}taken out of {path}; it was {_said(was)})"
    else:
        yield f"{key} is not set in {path}"
    if args.dry_run:
        return
    if value is None:
        yield f"{key} = {_said(holds.value)} now, from {holds.origin}."
    elif holds.origin != path:
        yield f"Here {holds.origin} has {_said(holds.value)}, which wins."
    elif key == "compaction.mode" and value in MODES:
        yield MODES[value]


def _read(folder: str, name: str) -> dict[str, Any]:
    if link := config.link_beneath(folder, name):
        hint = "nothing was changed"
        raise KeeperError(f"{link} is a link, and settings are not written through links", hint=hint)
    return parse(read_file(folder + name), folder + name)


def _write_down(home: str) -> None:
    """Have the user's settings in the journal, where there is anything kept."""
    with suppress(NotSetUp), Keeper(home) as keeper:
        keeper.store.counts()
        with keeper.writing(PATIENCE):
            keep_settings(keeper)


def _write(path: str, given: dict[str, Any], home: str) -> None:
    folder, shared = os.path.dirname(path), not path.startswith(os.path.join(home, ""))
    if not os.path.isdir(folder):
        os.makedirs(folder)
        os.chmod(folder, 0o755 if shared else 0o700)
    files.write_file(path, lay_out(given), mode=0o644 if shared else 0o600)


KEY = argument("key", metavar="KEY", help="the setting")
VALUE = argument("value", metavar="VALUE", help="what it is to be")
ORIGIN = argument("--show-origin", action="store_true", help="say which file or variable each one comes from")
SHARED = argument("--project-file", action="store_true", help=f"in {PROJECT[1:]} of the project, for everybody")
LOCAL = argument("--local", action="store_true", help="for this project, in your own settings")
VERBS = {
    "list": Verb(_list, "every setting, its value and meaning", "memory-keeper config list", (ORIGIN,)),
    "get": Verb(_get, "one setting", "memory-keeper config get compaction.mode", (KEY, ORIGIN), aliases=("show",)),
    "set": Verb(_set, "change a setting", "memory-keeper config set context.warnPercent 60",
            (KEY, VALUE, SHARED, LOCAL, DRY_RUN), aliases=("edit",)),
    "unset": Verb(_unset, "let the default hold again", "memory-keeper config unset context.warnPercent",
            (KEY, SHARED, LOCAL, DRY_RUN), aliases=("rm", "restore")),
}  # fmt: skip
