"""The memory tool of Anthropic's API, `memory_20250818`: its files are notes of the store, in its project.

What a model keeps there is found by `memory-keeper search`, has no secrets in it, and every wording of it stays. Blocks
of a compaction by the API's server are signed: this stands beside them and changes none.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import time
from typing import Any

from memory_keeper import config, wire
from memory_keeper.keeper import Keeper
from memory_keeper.model import Note
from memory_keeper.notes.kept_note import measure
from memory_keeper.text import digest_of

ROOT = "/memories"
KIND = "file"
LONGEST = 200_000  # characters of a file
AROUND = 4  # lines shown about an edit
Found = dict[str, Note]  # by path


class RefusedError(ValueError):
    """What the model is told instead of an answer."""


class MemoryTool:
    """The six commands. `call` takes what the model said, `to_dict` is what the API is told."""

    name = "memory"

    def __init__(self, folder: str | Path = "", home: str | Path = "") -> None:
        self.environ = config.environment()
        self.home = os.path.abspath(home or config.find_home(self.environ))
        self.folder = os.path.abspath(folder or os.getcwd())

    def to_dict(self) -> dict[str, str]:
        """The tool as the API wants it."""
        return {"type": "memory_20250818", "name": self.name}

    def call(self, input: object) -> str:
        """Do what the model asks for; what it is told."""
        given = input if isinstance(input, Mapping) else vars(input)
        command = COMMANDS.get(str(given.get("command")))
        if not command:
            return f"Error: unknown command {given.get('command')!r}"
        try:
            with Keeper(self.home, self.environ) as keeper:
                with keeper.writing():
                    project = keeper.project(self.folder, change=True)
                return command(Files(keeper, project), given)
        except RefusedError as error:
            return str(error)
        except (KeyError, TypeError, ValueError) as error:
            return f"Error: {error}"

    execute = call


class Files:
    """The files of a project."""

    def __init__(self, keeper: Keeper, project: str) -> None:
        self.keeper, self.project = keeper, project
        notes = keeper.writer.notes(project, 0, KIND)
        self.found: Found = {_path_of(note): note for note in notes if note.text}

    def read(self, path: str) -> str:
        """What a file holds."""
        if path not in self.found:
            raise RefusedError(f"The path {path} does not exist. Please provide a valid path.")
        return self.found[path].text

    def beneath(self, path: str) -> list[str]:
        """A file, or the files of a folder."""
        return [one for one in sorted(self.found) if one == path or one.startswith(path.rstrip("/") + "/")]

    def write(self, path: str, text: str, moved: str = "") -> None:
        """Have a file hold this; `moved`: under this path from now on. Nothing: it is taken away."""
        if len(text) > LONGEST:
            raise RefusedError(f"Error: {path} would be longer than {LONGEST} characters")
        now, note = time(), self.found.get(path)
        if note:
            self.keeper.reword(note, text, {"file": moved or path, "by": "model"}, now=now, who="")
            return
        extra = wire.dumps({"by": "model", "file": path, "written": now})
        id = f"file-{digest_of(self.project, path, repr(now))}"
        self.keeper.write(Note(id, now, KIND, 0, self.project, text, "", measure(text), extra))


def view(files: Files, given: Mapping[str, Any]) -> str:
    """A folder two levels deep, or the lines of a file."""
    path = _checked(given["path"])
    if path not in files.found:
        return _list(files, path)
    lines = files.read(path).split("\n")
    first, last = given.get("view_range") or (1, len(lines))
    last = len(lines) if last in (-1, None) else min(int(last), len(lines))
    shown = _numbered(lines, max(int(first), 1), last)
    return f"Here's the content of {path} with line numbers:\n{shown}"


def create(files: Files, given: Mapping[str, Any]) -> str:
    """A new file."""
    path = _checked(given["path"], file=True)
    if path in files.found:
        return f"Error: File {path} already exists"
    files.write(path, str(given["file_text"]) or "\n")
    return f"File created successfully at: {path}"


def str_replace(files: Files, given: Mapping[str, Any]) -> str:
    """One place of a file with other words."""
    path, old, new = _checked(given["path"]), str(given["old_str"]), str(given.get("new_str") or "")
    text = files.read(path)
    if not old or old not in text:
        return f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
    if text.count(old) > 1:
        lines = [str(text.count("\n", 0, place) + 1) for place in _places(text, old)]
        said = f"Multiple occurrences of old_str `{old}` in lines: {', '.join(lines)}."
        return f"No replacement was performed. {said} Please ensure it is unique"
    changed = text.replace(old, new)
    files.write(path, changed or "\n")
    line = text.count("\n", 0, text.index(old)) + 1
    shown = _numbered(changed.split("\n"), max(1, line - AROUND), line + new.count("\n") + AROUND)
    return f"The memory file has been edited.\n{shown}"


def insert(files: Files, given: Mapping[str, Any]) -> str:
    """More lines, after one of a file."""
    path, after = _checked(given["path"]), int(given["insert_line"])
    lines = files.read(path).split("\n")
    if not 0 <= after <= len(lines):
        wrong = f"Error: Invalid `insert_line` parameter: {after}."
        return f"{wrong} It should be within the range of lines of the file: [0, {len(lines)}]"
    more = str(given["insert_text"]).removesuffix("\n").split("\n")
    files.write(path, "\n".join([*lines[:after], *more, *lines[after:]]) or "\n")
    return f"The file {path} has been edited."


def delete(files: Files, given: Mapping[str, Any]) -> str:
    """A file, or a folder with all that is in it, taken away; the store still has what it held."""
    path = _checked(given["path"])
    beneath = files.beneath(path)
    if path == ROOT or not beneath:
        return f"Error: The path {path} does not exist" if path != ROOT else f"Error: {ROOT} itself cannot be deleted"
    for one in beneath:
        files.write(one, "")
    return f"Successfully deleted {path}"


def rename(files: Files, given: Mapping[str, Any]) -> str:
    """A file or a folder under another path."""
    old, new = _checked(given["old_path"]), _checked(given["new_path"], file=True)
    beneath = files.beneath(old)
    if old == ROOT or not beneath:
        return f"Error: The path {old} does not exist"
    if files.beneath(new):
        return f"Error: The destination {new} already exists"
    for one in beneath:
        files.write(one, files.read(one), moved=new + one.removeprefix(old))
    return f"Successfully renamed {old} to {new}"


COMMANDS: dict[str, Callable[[Files, Mapping[str, Any]], str]] = {
    "view": view,
    "create": create,
    "str_replace": str_replace,
    "insert": insert,
    "delete": delete,
    "rename": rename,
}


def memory_tool(folder: str | Path = "", home: str | Path = "") -> Any:
    """The tool, for `client.beta.messages.tool_runner(tools=[memory_tool()])`, or by hand with `to_dict` and `call`."""
    if importlib.util.find_spec("anthropic") is None:
        return MemoryTool(folder, home)
    base = importlib.import_module("anthropic.lib.tools").BetaAbstractMemoryTool  # its runner asks for this very class
    steps = {name: (lambda self, command: self.call(command)) for name in COMMANDS}
    made = type("MemoryTool", (MemoryTool, base), steps)
    return made(folder, home)


def _checked(path: object, file: bool = False) -> str:
    """A path of ours; one that leads elsewhere is refused."""
    said = str(path).rstrip("/") or "/"
    parts = said.split("/")
    inside = said == ROOT or said.startswith(ROOT + "/")
    if not inside or "%" in said or "\\" in said or not said.isprintable() or {"", ".", ".."} & set(parts[1:]):
        raise RefusedError(f"Error: {said!r} is not a path below {ROOT}")
    if file and said == ROOT:
        raise RefusedError(f"Error: {ROOT} is a folder")
    return said


def _path_of(note: Note) -> str:
    return str(wire.read_object(note.extra).get("file") or "")


def _list(files: Files, path: str) -> str:
    beneath = files.beneath(path)
    if not beneath and path != ROOT:
        raise RefusedError(f"The path {path} does not exist. Please provide a valid path.")
    sizes: dict[str, int] = {path: 0}
    for one in beneath:
        size = len(files.read(one).encode())
        parts = one.removeprefix(path + "/").split("/")
        for depth in range(min(len(parts), 2) + 1):
            shown = "/".join([path, *parts[:depth]])
            sizes[shown] = sizes.get(shown, 0) + size
    heading = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    lines = [f"{_human(size)}\t{one}" for one, size in sizes.items() if "/." not in one]
    return "\n".join([heading, *lines])


def _human(size: int) -> str:
    return f"{size / 1024:.1f}K"


def _numbered(lines: list[str], first: int, last: int) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1) if first <= number <= last)


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + len(part))
