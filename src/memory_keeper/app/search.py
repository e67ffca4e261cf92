"""The door of `search`, which answers before a parser would be loaded: most searches are words and a few options.

One table of options serves both: what it cannot make sense of goes to the parser, which explains.
"""

from __future__ import annotations

from memory_keeper.model import KINDS, NOTES, ROLES, NamedTuple, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memory_keeper.keep.sqlite import SqliteStore
    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Hit


class Option(NamedTuple):
    """What may be said beside the words."""

    help: str
    metavar: str = ""  # empty: it takes no value
    read: Callable[[str], Any] = str  # ValueError says what is allowed
    default: Any = ""


def one_of(names: tuple[str, ...]) -> Callable[[str], str]:
    """A reader of one of some names."""

    def read(said: str) -> str:
        if said not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return said

    return read


def number(least: int, most: int) -> Callable[[str], int]:
    """A reader of a number between two."""

    def read(said: str) -> int:
        if not said.isdecimal() or len(said) > 9 or not least <= int(said) <= most:
            raise ValueError(f"a number from {least} to {most}")
        return int(said)

    return read


def moment(said: str) -> float:
    """A time."""
    from time import time

    from memory_keeper.app.when import ALLOWED, read_when

    try:
        return read_when(said, time())
    except ValueError:
        raise ValueError(ALLOWED) from None


KIND = (*KINDS, *NOTES)
OPTIONS = {
    "--level": Option("0: what happened; 1, 2, …: notes of that level", "N", number(0, 99), None),
    "--kind": Option(f"one of {', '.join(KIND)}", "KIND", one_of(KIND)),
    "--tool": Option("only calls of this tool and what it answered", "TOOL"),
    "--file": Option("only what names this file, or is a call on it", "PATH"),
    "--role": Option("whose words: user, assistant or tool", "ROLE", one_of(tuple(ROLES))),
    "--since": Option("from then on: 7d, yesterday, 2026-01-31", "WHEN", moment, 0.0),
    "--until": Option("before that", "WHEN", moment, 0.0),
    "--session": Option("only this session", "ID"),
    "--all-projects": Option("not only this project"),
    "--regex": Option("the query is a regular expression; every text is read"),
    "--deep": Option("also what hosts and hooks noted, and the transcripts' own lines"),
    "--limit": Option("at most so many (1 to 1000; default 10)", "N", number(1, 1000), 10),
    # those of every command
    "--json": Option(""),
    "--project": Option("", "DIR"),
    "--home": Option("", "DIR"),
}


def main(argv: list[str]) -> None:
    """`search WORDS [OPTIONS]`, here or where a parser explains what is wrong with it."""
    import sys

    asked = read_words(argv[1:])
    if asked is None:
        from memory_keeper.app.cli import parse_and_run

        sys.exit(parse_and_run(argv))
    from memory_keeper.app.cli import guarded

    sys.exit(guarded(asked["home"], lambda home: run({**asked, "home": home})))


def read_words(words: list[str]) -> dict[str, Any] | None:
    """What was asked; None for what a parser has to look at: an abbreviation, a mistake, a plea for help."""
    asked: dict[str, Any] = {_key(name): one.default if one.metavar else False for name, one in OPTIONS.items()}
    query: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            query += rest
            break
        name, equals, value = word.partition("=")
        option = OPTIONS.get(name) if word.startswith("--") else None
        if option is None:
            if word.startswith("-"):
                return None
            query.append(word)
            continue
        if bool(equals) > bool(option.metavar):
            return None
        try:
            said = value if equals else next(rest, "") if option.metavar else ""
            if option.metavar and (not said or said.startswith("-")):
                return None
            asked[_key(name)] = option.read(said) if option.metavar else True
        except ValueError:
            return None
    return {**asked, "query": " ".join(query)} if query else None


def _key(name: str) -> str:
    return name[2:].replace("-", "_")


def run(asked: dict[str, Any]) -> int:
    """Search, and print the best matches first."""
    from memory_keeper.keeper import Keeper

    with Keeper(asked["home"]) as keeper:
        scope = _scope(keeper, asked)
        store = searchable(keeper)
        hits = _find(keeper, store, asked, scope)
    if asked["json"]:
        _print_json(hits)
    else:
        _print(hits, asked["all_projects"])
    return 0


def _find(keeper: Keeper, store: SqliteStore, asked: dict[str, Any], scope: Scope) -> list[Hit]:
    from memory_keeper.search import find

    hits = find(store, asked["query"], scope, asked["limit"], regex=asked["regex"], deep=asked["deep"], meaning=True)
    if asked["deep"] and len(hits) < asked["limit"]:
        from memory_keeper.app.deep import find_lines

        known = {hit.id for hit in hits}
        more = find_lines(keeper, asked["query"], scope, asked["limit"], asked["regex"])
        hits += [hit for hit in more if hit.id not in known]
    return hits[: asked["limit"]]


def searchable(keeper: Keeper) -> SqliteStore:
    """The store with its index as we write it now: after an update the first who asks may have to make it."""
    return keeper.store if keeper.store.indexed else keeper.writer


def _scope(keeper: Keeper, asked: dict[str, Any]) -> Scope:
    session = asked["session"]
    if session:
        from memory_keeper.app.zoom import session_of

        session = session_of(keeper, session)
    return Scope(
        None if asked["all_projects"] else keeper.project(find_folder(asked["project"])),
        asked["level"],
        asked["kind"],
        asked["tool"],
        asked["file"],
        asked["role"],
        asked["since"],
        asked["until"],
        session,
    )


def find_folder(given: str) -> str:
    """The directory a command is about."""
    import posix

    from memory_keeper.errors import KeeperError

    try:
        folder = given or posix.getcwd()
        if not posix.stat(folder).st_mode & 0o170000 == 0o040000:
            raise NotADirectoryError
    except OSError:
        raise KeeperError(f"{given} is not a directory", hint="--project takes a directory") from None
    if folder.startswith("/"):
        return folder
    import os

    return os.path.abspath(folder)


def _print_json(hits: list[Hit]) -> None:
    import sys

    from memory_keeper import wire

    lines = [wire.dumps({**hit._asdict(), "snippet": marked(hit.snippet, "", "")}, ascii=False) for hit in hits]
    sys.stdout.write("[" + ",\n ".join(lines) + "]\n")


def _print(hits: list[Hit], all_projects: bool) -> None:
    from memory_keeper.app.terminal import moment as say_moment
    from memory_keeper.app.terminal import paint
    from memory_keeper.tell import short
    from memory_keeper.text import clean, one_line

    if not hits:
        print("nothing found")
    on, off = paint("\x02", "bold").split("\x02") if paint("\x02", "bold") != "\x02" else ("«", "»")
    for hit in hits:
        about = [say_moment(hit.at), hit.kind, hit.project if all_projects else "", clean(hit.path)]
        print(f"{paint(short(hit.id), 'cyan')}  {paint('  '.join(part for part in about if part), 'dim')}")
        print("    " + marked(one_line(clean(marked(hit.snippet, "\ue000", "\ue001")), 300), on, off))
    if hits:
        print(paint(f"memory-keeper show {short(hits[0].id)}, or timeline --around it, says more", "dim"))


def marked(snippet: str, on: str, off: str) -> str:
    """A snippet with its matches between these."""
    for mine, theirs in (("\x02", on), ("\x03", off), ("\ue000", on), ("\ue001", off)):
        snippet = snippet.replace(mine, theirs)
    return snippet
