"""What a call was given, read back from its text, and what the command line of a shell call is at heart.

Capture wrote the text; whoever asks later what was run, edited or read need not know how.
"""

from __future__ import annotations

from memory_keeper import regex as re
from memory_keeper.model import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# what may stand before a command: other folders, remarks
CD = re.compile(r"""^(?:\s*cd\s+(?:"[^"\n]*"|'[^'\n]*'|\S+)\s*(?:&&|;)\s*|\s*#[^\n]*\n\s*)+""")
# what is skipped on the way to a step's end, and the end
STEP = re.compile(
    r"""<REDACTED:[^>\s]{1,60}>|"(?:\\.|[^"\\])*"|'[^']*'|\\.|(\s*(?:\||&&|;|\n|(?<!\S)[12&]?>|>))""", re.S
)
GOES_ON = re.compile(r"(?<!\s)\s*\\\n\s*")
BROKEN = re.compile(r"\n|; |<<")  # what cannot be told in one line, or in a list
ASSIGNS = re.compile(r"[A-Za-z_]\w*=")  # of use for what follows only
SETTING = re.compile(r"^(?:[A-Z_][A-Z0-9_]*=\S*\s+)+")
BETWEEN = str.maketrans(";&|()", "\n\n\n\n\n")  # what parts the commands of a line
WITH_WORD = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env")  # options of git
QUIET = re.compile(r"--quiet$|-[aensv]*q")
# what was given as a commit's message: its first line
MESSAGE = re.compile(
    r"""\bcommit\b[^\n;|"']{0,200}?\s(?:-[a-z]*m\s*|--message[=\s]\s*)"""
    r"""(?:"\$\(cat <<-?\s*['"]?\w+['"]?\n\s*([^\n]+)|"((?:\\.|[^"\\\n])+)|'([^'\n]+)|([^\s"'$;&|]+))"""
)
COMMITTED = re.compile(r"^\[(\S{1,100})(?: \([^)\n]{1,40}\))? ([0-9a-f]{7,40})\] (.{1,300})$", re.M)
DROPS = re.compile(r"git (?:checkout (?:HEAD )?-- |restore )([\w./@+-]*[\w.]\.\w+)$")
# commands that say nothing about a project
COMMON = frozenset((
    "ls", "cat", "cd", "pwd", "echo", "head", "tail", "grep", "rg", "find", "sed", "awk", "wc", "sleep", "which",
    "mkdir", "rm", "cp", "mv", "true", "sort", "xargs", "touch", "chmod", "export", "test", "for", "if", "while",
    "printf", "kill", "ps", "git status", "git diff", "git log", "git add", "git commit", "git show",
    "git branch",
))  # fmt: skip

# what a call is given, where its text has to be taken apart again
FIELDS = {
    "Bash": ("command", "description", "timeout", "run_in_background", "dangerouslyDisableSandbox"),
    "Edit": ("file_path", "old_string", "new_string", "replace_all"),
    "MultiEdit": ("file_path", "edits"),
    "Write": ("file_path", "content"),
    "NotebookEdit": ("notebook_path", "cell_id", "new_source", "cell_type", "edit_mode"),
    "Grep": (
        "pattern",
        "path",
        "output_mode",
        "glob",
        "type",
        "head_limit",
        "multiline",
        "offset",
        "-n",
        "-i",
        "-A",
        "-B",
        "-C",
    ),
    "Glob": ("pattern", "path"),
    "Read": ("file_path", "offset", "limit", "pages"),
}


def fields(event: Event) -> dict[str, str]:
    """What a call was given, for the tools whose fields are known; else nothing."""
    known = FIELDS.get(event.tool)
    if known is None:
        return {}
    text = "\n" + event.text
    starts = sorted((at, key) for key in known if (at := text.find(f"\n{key}: ")) >= 0)
    ends = [*(at for at, _ in starts), len(text)][1:]
    return {key: text[at + len(key) + 3 : end] for (at, key), end in zip(starts, ends, strict=True)}


def core(command: str) -> str:
    """What a shell command is at heart: program and first words, without folder, settings, options and pipes."""
    words = first_step(command).split()
    if not words or ASSIGNS.match(words[0]) or words[0] in COMMON or " ".join(words[:2]) in COMMON:
        return ""
    return " ".join([word for word in words if not word.startswith("-")][:3])


def first_step(command: str) -> str:
    """The first command of a line that does more than change folder, without what is set for it."""
    return SETTING.sub("", _step(command))


def typed(command: str, limit: int) -> str:
    """The same as it was typed, with what is set for it; where its end is cut off, at the end of a word, that shows."""
    step = _step(command)
    line = BROKEN.split(step, maxsplit=1)[0].rstrip()
    if len(line) > limit:
        line = line[:limit].rpartition(" ")[0] or line[:limit]
    end = _unclosed(line)
    line = line if end == len(line) else line[:end].rpartition(" ")[0].rstrip()
    return line if line == step else f"{line} …".strip()


def _step(command: str) -> str:
    line = CD.sub("", GOES_ON.sub(" ", command.strip()[:2000]))
    return next((line[: found.start(1)] for found in STEP.finditer(line) if found[1]), line).strip()


def steps(command: str) -> list[str]:
    """All commands of a line, one after the other."""
    line, found, begin = GOES_ON.sub(" ", command.strip()[:2000]), list[str](), 0
    for end in STEP.finditer(line):
        if end[1]:
            found.append(line[begin : end.start(1)].strip())
            begin = end.end()
    return [step for step in (*found, line[begin:].strip()) if step]


def _unclosed(line: str) -> int:
    """Where a quotation begins that does not end; else the end of the line."""
    mark, begin, skip = "", len(line), False
    for place, char in enumerate(line):
        if skip or (char == "\\" and mark != "'"):
            skip = not skip
        elif char == mark:
            mark = ""
        elif not mark and char in "\"'`":
            mark, begin = char, place
    return begin if mark else len(line)


def command_of(event: Event) -> str:
    """The command line of a shell call; empty for any other event."""
    return fields(event).get("command", "") if event.kind == "call" and event.tool == "Bash" else ""


def commits(command: str) -> bool:
    """Whether one of the commands of a line for the shell is `git commit`."""
    return bool(_commit(command))


def quiet_commit(command: str) -> str:
    """The subject of a commit that says nothing of itself; empty: there is none, or the line does not have it."""
    found = MESSAGE.search(command) if any(map(QUIET.match, _commit(command))) else None
    return next(filter(None, found.groups())) if found else ""


def _commit(command: str) -> list[str]:
    """The words of a line's first `git commit` that means it, its options and what follows; none: there is none."""
    for part in GOES_ON.sub(" ", command).translate(BETWEEN).splitlines():
        words = part.split()
        while words and "=" in words[0]:  # a variable is set for it
            words = words[1:]
        if words[:1] == ["git"] and _subcommand(words[1:]) == "commit" and "--dry-run" not in words:
            return words[1:]
    return []


def _subcommand(words: Sequence[str]) -> str:
    """What git is to do: behind its options, of which some have a word of their own."""
    skip = False
    for word in words:
        if not skip and word[:1] != "-":
            return word
        skip = not skip and word in WITH_WORD
    return ""


def undone(events: Sequence[Event]) -> set[str]:
    """The edits that were taken back: by their opposite, or by git, which drops all of a file since a commit."""
    made: dict[tuple[str, str, str], str] = {}
    since: dict[str, list[str]] = {}
    gone: set[str] = set()
    for event in events:
        if event.kind == "call" and event.tool == "Edit":
            given = fields(event)
            old, new = given.get("old_string", ""), given.get("new_string", "")
            if first := made.pop((event.path, new, old), ""):
                gone |= {first, event.id}
            else:
                made[event.path, old, new] = event.id
                since.setdefault(event.path, []).append(event.id)
        elif (line := command_of(event)) and "git" in line:
            if commits(line):
                since.clear()
            elif dropped := DROPS.match(first_step(line)):
                gone.update(id for path in since if ends_with("/" + path, dropped[1]) for id in since[path])
    return gone


def ends_with(path: str, short: str) -> bool:
    """Whether a path is a longer form of another."""
    return path.endswith("/" + short.lstrip("/")) and len(path) > len(short)
