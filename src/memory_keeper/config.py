"""Settings and places: the environment wins over the project's files, those over the user's, those over defaults."""

from __future__ import annotations

import posix

from memory_keeper import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_keeper.model import Json

INSTRUCTIONS = (
    "Keep as they are written: file paths with what was done to them, commands as typed with their results,"
    " identifiers, numbers, error messages, decisions with their reasons, dead ends, open questions, and the user's own"
    " words. Do not generalise."
)
# Every setting, by its dotted name: in a file `{"tell": {"startBudget": 800}}`, in the environment
# MEMORY_KEEPER_TELL_STARTBUDGET=800.
DEFAULTS: Json = {
    "tell.startBudget": 1500,  # tokens of the brief at a session's start
    "tell.handoffBudget": 2000,  # tokens of a handoff
    "tell.resumeBudget": 300,  # tokens of where a session stood that is resumed or forked; 0: nothing
    "tell.compactBudget": 1000,  # tokens of what a context is told again that a compaction's summary lost
    "tell.replayBudget": 0,  # tokens of original messages that a context is told after a handoff; 0: none
    "tell.recallBudget": 300,  # tokens of what was kept about the things that a prompt names; 0: nothing
    "tell.files": True,  # render handoffs and the memory for people, in .claude/memory of the project
    "tell.notesBudget": 500,  # tokens of the standing notes in that brief
    "reduce.saveInterval": 25,  # tool calls of a session after which it gets a note
    "reduce.saveTokens": 8000,  # tokens of talk after which it does
    "reduce.noteTokens": 700,  # the longest such note
    "reduce.memoryTokens": 23_750,  # open notes of a project; when they pass this, the oldest get an outline
    "reduce.carryOverTokens": 2375,  # of the newest notes, which stay open then
    "reduce.outlineTokens": 1500,  # the longest outline
    "summarize.level1": "extractive",  # who words the notes of sessions: extractive | claude-cli | anthropic | openai
    "summarize.level2": "extractive",  # and the outlines above them
    "summarize.model": "",  # the model that is asked; empty: the summarizer's own
    "summarize.url": "",  # where it is asked; empty: the usual address
    "summarize.keyVariable": "",  # the variable that holds the key for that address; empty: the usual one, or a keyring
    "summarize.timeout": 120,  # seconds
    "summarize.dailyTokens": 200_000,  # read and written, that may be spent in the background in a day
    "context.warnings": True,  # say when the context fills up
    "context.warnPercent": 70,  # of the window; never later than 90 % of the way to the compaction
    "context.criticalPercent": 80,  # of the window; never later than 95 % of the way to the compaction
    "context.warnTokens": 0,  # a fixed number as well, whatever the window; 0: none
    "context.criticalTokens": 0,
    "rules.enabled": True,  # tell every context the rules in force
    "rules.shipped": True,  # among them those that come with Memory Keeper
    "rules.every": 1,  # prompts after which a short line reminds of them
    "rules.budget": 1000,  # tokens of the rules in full, once per context
    "rules.subagents": False,  # tell subagents too, in short
    "rules.claudeMd": False,  # keep the block in CLAUDE.md up to date that `rule sync` writes
    "observations.promote": "ask",  # ask | said: what the user said often enough becomes a rule without a question
    "compaction.enabled": True,  # false: contexts, observations and tasks are all left as they are
    "compaction.mode": "supplement",  # supplement | replace | clear | block
    "compaction.keepTokens": 1500,  # of the last messages that stay in mode replace, beside the handoff
    "compaction.instructions": INSTRUCTIONS,  # for Claude Code's own summarizer, in mode supplement; empty: none
    "compaction.triggers.sessionTokens.enabled": True,
    "compaction.triggers.sessionTokens.threshold": 100_000,  # write the handoff; in modes replace and clear: act
    "compaction.triggers.observationAge.enabled": True,
    "compaction.triggers.observationAge.archiveAfterDays": 28,  # without a confirmation
    "compaction.triggers.observationAge.escalateAfterConfirmations": 5,  # sessions; then it is proposed as a rule
    "compaction.triggers.taskArchive.enabled": True,
    "compaction.triggers.taskArchive.keepRecentCount": 10,  # tasks in full in DONE.md
    "compaction.triggers.taskArchive.archiveAfterSessions": 20,  # since it was done; then a task leaves DONE.md too
    "compaction.archiveFormat": "markdown-table",  # of TASK_ARCHIVE.md: markdown-table | list | json
    "compaction.preserveTokenMetrics": True,  # tokens of each task in the archive
    "compaction.monthlyReview": True,  # write the report of a month that is over
}
SUMMARIZERS = ("extractive", "claude-cli", "anthropic", "openai")
CHOICES = {
    "compaction.mode": ("supplement", "replace", "clear", "block"),
    "compaction.archiveFormat": ("markdown-table", "list", "json"),
    "observations.promote": ("ask", "said"),
    "summarize.level1": SUMMARIZERS,
    "summarize.level2": SUMMARIZERS,
}
INSIDE = "MEMORY_KEEPER_INSIDE"  # in the environment of a host that we started ourselves: nothing of it is kept
LEAST_TOKENS = "compaction.triggers.sessionTokens.threshold"
LARGEST_NUMBER = 100_000_000
MOST = {
    "context.warnPercent": 100,
    "context.criticalPercent": 100,
    "reduce.saveInterval": 1000,
    "reduce.saveTokens": 100_000,
    "reduce.noteTokens": 4000,
    "reduce.memoryTokens": 200_000,
    "reduce.outlineTokens": 8000,
    "compaction.keepTokens": 3000,
    "compaction.triggers.observationAge.archiveAfterDays": 36_500,
    "compaction.triggers.taskArchive.keepRecentCount": 1000,
    "rules.budget": 2000,
    "rules.every": 1000,
    "summarize.timeout": 3600,
}
LEAST = {
    "compaction.triggers.sessionTokens.threshold": 20_000,  # no context begins with less
    "context.warnPercent": 10,
    "context.criticalPercent": 20,
    "reduce.saveInterval": 1,
    "reduce.saveTokens": 500,
    "reduce.noteTokens": 100,
    "reduce.memoryTokens": 2000,
    "reduce.outlineTokens": 200,
    "compaction.triggers.observationAge.archiveAfterDays": 1,
    "compaction.triggers.observationAge.escalateAfterConfirmations": 1,
    "compaction.triggers.taskArchive.archiveAfterSessions": 1,
    "rules.budget": 100,
    "rules.every": 1,
    "summarize.timeout": 5,
}
# What the predecessor called the same, and by how much its number is taken
ALIASES = {
    "rulesInjectionFrequency": ("rules.every", 1.0),
    "saveInterval": ("reduce.saveInterval", 1.0),
    "memoryRotation.thresholdTokens": ("reduce.memoryTokens", 0.95),
    "memoryRotation.carryoverTokens": ("reduce.carryOverTokens", 0.95),
    "compaction.summaryPrompt": ("compaction.instructions", 1.0),
    "autoCompact.customInstructions": ("compaction.instructions", 1.0),
}
# What the user alone decides: a cloned repository must not have contexts cleared, keep a warning or a rule from
# anybody, or say where texts and keys are sent.
USERS_ONLY = frozenset(
    key
    for key in DEFAULTS
    if key.startswith(("compaction.", "summarize.", "rules.", "observations.")) or "critical" in key
) - {"rules.every"} | {"context.warnings"}
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
INSIDE_HOST = ("CLAUDE_PROJECT_DIR", "CLAUDECODE")  # variables that Claude Code gives to what it starts
UNREAL = ("/proc/", "/dev/fd/")  # where a path means something else to everybody who follows it
_switches: dict[str, tuple[tuple[float, int], bool | None]] = {}


# in a process that somebody waits for, what may take minutes is left to another one
hurried = False


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
        data = _user_home(environ) + "/.local/share"
    return data.rstrip("/") + "/memory-keeper"


def _in_project(path: str, environ: dict[str, str]) -> bool:
    """Whether a path leads into the project that may have set it, through its settings: then it is not the user's."""
    if path.startswith(UNREAL):
        return True
    # who works in their home keeps it there
    return _leads_into(path, environ) and not _leads_into(_user_home(environ), environ)


def _leads_into(path: str, environ: dict[str, str]) -> bool:
    """Whether a path leads into the folder that the session began in, by whatever way."""
    project = environ.get("CLAUDE_PROJECT_DIR", "").rstrip("/")
    return bool(project) and f"{_real(path.rstrip('/') or '/')}/".startswith(_real(project) + "/")


def _user_home(environ: dict[str, str]) -> str:
    home = environ.get("HOME", "")
    moved = not home.startswith("/") or home.startswith(UNREAL)
    if moved or (_leads_into(home, environ) and {"HOME", ANYTHING} & _set_by(environ["CLAUDE_PROJECT_DIR"])):
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


def find_root(directory: str) -> str:
    """The root of the repository or worktree around a directory; outside git, the directory."""
    start = _real(directory)
    here = start
    while not _is_there(here + "/.git"):
        above = here.rpartition("/")[0] or "/"
        if above == here:
            return start
        here = above
    return here


def _real(path: str) -> str:
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


def claude_folder(environ: dict[str, str]) -> str:
    """Where Claude Code keeps its own files."""
    return environ.get("CLAUDE_CONFIG_DIR", "") or _user_home(environ) + "/.claude"


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
        said = read_small(path, 64 * LARGEST, links=True) or ""
        value = (_parse(said) or {}).get(SWITCH) if f'"{SWITCH}"' in said else None
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
    for path, given in hosts:
        blocks = {name: given[name] for name in HOSTS_BLOCKS if isinstance(given.get(name), dict)}
        if blocks and path.rpartition("/")[0] == users:
            yield path, valid(flatten(blocks))
    own = home + "/config.json"
    for path in (own, *([root + name for name in PROJECT_FILES] if root else [])):
        if (said := read_small(path, links=path == own)) is None:
            continue
        parsed = _parse(said)
        if parsed is None:
            yield path, None
        elif path == own:
            yield path, valid(flatten(parsed))
            projects = parsed.get("projects")
            here = projects.get(root) if isinstance(projects, dict) and root else None
            if isinstance(here, dict):
                yield f"{path} for {root}", valid(flatten(here))
        else:
            yield path, {key: value for key, value in valid(flatten(parsed)).items() if key not in USERS_ONLY}
    for key, usual in DEFAULTS.items():
        name = variable(key)
        # what is sent where is never for a variable to say that a project may have set in Claude Code
        if key.startswith("summarize.") and any(one in environ for one in INSIDE_HOST):
            continue
        if name in (mine if key in USERS_ONLY else environ):
            yield name, valid({key: read_value(environ[name], usual)})


def own_environ(environ: dict[str, str], root: str) -> dict[str, str]:
    """The environment without what the project's settings of Claude Code put there: where texts are sent, which
    programs are run and what only the user decides, whoever cloned it has not chosen."""
    folders = {folder for folder in (root, environ.get("CLAUDE_PROJECT_DIR", "")) if folder} if environ else ()
    theirs = {folder: names for folder in folders if (names := _set_by(folder))}
    if theirs and not any("HOME" in names for names in theirs.values()):
        home = _real(_user_home(environ))  # who works there has settings of their own there
        theirs = {folder: names for folder, names in theirs.items() if _real(folder) != home}
    forced = {name for names in theirs.values() for name in names}
    if not forced:
        return environ
    anything = ANYTHING in forced
    usual = {"PATH": USUAL_PATH, "HOME": _user_home(environ if anything else {})}
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
        said = read_small(path, 4 * LARGEST, links=True)
        given = _parse(said.removeprefix("\ufeff")) if said is not None else None
        if given is None:
            return {ANYTHING}
        block = given.get("env")
        found |= {str(name) for name in block} if isinstance(block, dict) else set()
    return found


def flatten(given: Json, above: str = "") -> Json:
    """Nested settings by their dotted names; what is written dotted already is taken as it is."""
    flat: Json = {}
    for key, value in given.items():
        if isinstance(value, dict) and above.count(".") < 5:
            flat.update(flatten(value, f"{above}{key}."))
        else:
            flat[above + key] = value
    return flat


def valid(given: Json) -> Json:
    """The known settings of the right type and size, by our names; a cloned repository can say nothing else."""
    named: Json = {}
    for key, value in given.items():
        name, share = ALIASES.get(key, (key, 1.0))
        if name != key and name in given:
            continue
        named[name] = round(value * share) if share != 1.0 and type(value) is int else value
    return {key: value for key, value in named.items() if not problem(key, value)}


def problem(key: str, value: object) -> str:
    """Why a setting cannot have this value; empty when it can."""
    usual = DEFAULTS.get(key)
    if usual is None:
        return f"there is no setting {key}"
    if type(value) is not type(usual):
        return f"{key} takes {'true or false' if isinstance(usual, bool) else f'a value like {usual}'}"
    if key in CHOICES and value not in CHOICES[key]:
        return f"{key} is one of {', '.join(CHOICES[key])}"
    if isinstance(value, int) and not isinstance(value, bool) and value < LEAST.get(key, 0):
        return f"{key} is at least {LEAST.get(key, 0)}"
    if isinstance(value, int) and value > MOST.get(key, LARGEST_NUMBER):
        return f"{key} is at most {MOST.get(key, LARGEST_NUMBER)}"
    if key.startswith("context.") and key.endswith("Tokens") and 0 < int(str(value)) < LEAST[LEAST_TOKENS]:
        return f"{key} is 0 or at least {LEAST[LEAST_TOKENS]}"
    return ""


def read_value(said: str, usual: object) -> object:
    """What somebody typed, as the type that the setting has; itself when it is none."""
    if isinstance(usual, bool):
        return {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}.get(said.lower(), said)
    if isinstance(usual, int) and said.isdecimal() and len(said) < 12:
        return int(said)
    return said


def variable(key: str) -> str:
    """The variable that overrides a setting."""
    return "MEMORY_KEEPER_" + key.upper().replace(".", "_")


def _read(path: str, links: bool = False) -> Json | None:
    said = read_small(path, links=links)
    return None if said is None else _parse(said)


def _parse(said: str) -> Json | None:
    try:
        given = wire.loads(said)
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
    except OSError:
        return None
    if posix.fstat(fd).st_mode & 0o170000 == 0o100000:
        return fd
    posix.close(fd)
    return None
