"""The door of `search`, which answers before a parser would be loaded: most searches are words and a few options.

One table of options serves both: what it cannot make sense of goes to the parser, which explains.
"""

from __future__ import annotations

from memory_keeper.model import KINDS, NOTES, ROLES, NamedTuple, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memory_keeper.keeper import Keeper
    from memory_keeper.model import Hit
    from memory_keeper.store.store import Store


class Option(NamedTuple):
    """What may be said beside the words."""

    help: str
    metavar: str = ""  # empty: it takes no value
    read: Callable[[str], Any] = str  # ValueError says what is allowed
    default: Any = ""


def one_of(names: tuple[str, ...], others: tuple[str, ...] = ()) -> Callable[[str], str]:
    """A reader of one of some names, or of others that are not listed."""

    def read(given: str) -> str:
        if given not in names and given not in others:
            from memory_keeper.terminal import near

            hint = near(given, (*names, *others), "")
            raise ValueError(f"one of {', '.join(names)}{f'; {hint}' if hint else ''}")
        return given

    return read


def number(least: int, most: int) -> Callable[[str], int]:
    """A reader of a number between two."""

    def read(said: str) -> int:
        if not said.isdecimal() or len(said) > 9 or not least <= int(said) <= most:
            raise ValueError(f"a number from {least} to {most}")
        return int(said)

    return read


def moment(said: str, end: bool = False) -> float:
    """A time; as the end of one, a day with all of it."""
    from time import time

    from memory_keeper.dates import ALLOWED, read_when

    try:
        return read_when(said, time(), end)
    except ValueError:
        raise ValueError(ALLOWED) from None


KIND = (  # that are listed; every other kind is taken as well
    "prompt", "reply", "thinking", "call", "result", "command", "summary", "session", "handoff", "decision", "rule",
    "observation", "task",
)  # fmt: skip
OPTIONS = {
    "--level": Option("0: what happened; 1, 2, …: notes of that level", "N", number(0, 99), None),
    "--kind": Option(f"one of {', '.join(KIND)}", "KIND", one_of(KIND, (*KINDS, *NOTES))),
    "--tool": Option("only calls of this tool and what it answered", "TOOL"),
    "--file": Option("only what names this file, or is a call on it", "PATH"),
    "--role": Option("whose words: user, assistant or tool", "ROLE", one_of(tuple(ROLES))),
    "--since": Option("from then on: 7d, yesterday, 2026-01-31", "WHEN", moment, 0.0),
    "--until": Option("before then; a day counts in full", "WHEN", lambda said: moment(said, end=True), 0.0),
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


ROWS = 3  # of a snippet
FURTHER = (
    "--deep also reads what hooks noted and the transcripts' own lines; `memory-keeper timeline` tells what is kept"
)


def main(argv: list[str]) -> None:
    """`search WORDS [OPTIONS]`, here or where a parser explains what is wrong with it."""
    import sys

    sys.exit(_answer(argv))


def hurry(argv: list[str]) -> None:
    """The same in a process of its own, which is over with the answer: nothing has to be tidied up before."""
    import gc
    import posix
    import sys

    gc.disable()
    code = _answer(argv)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        posix._exit(code)


def _answer(argv: list[str]) -> int:
    from memory_keeper.cli.guard import guarded

    asked = read_words(argv[1:])
    if asked is None:
        from memory_keeper.cli.main import parse_and_run

        return parse_and_run(argv)
    return guarded(asked["home"], lambda home: run({**asked, "home": home}))


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
            if word.startswith("-") and _is_like_an_option(name):
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


def _is_like_an_option(word: str) -> bool:
    """Whether somebody may have meant an option: the beginning of one, or one with a typing error. `--no-verify` is
    just something to look for."""
    from memory_keeper.search.query import nearly

    known = {*OPTIONS, "--help", "-h"}
    return len(word) < 3 or any(name.startswith(word) for name in known) or not known.isdisjoint(nearly(word))


def _key(name: str) -> str:
    return name[2:].replace("-", "_")


def run(asked: dict[str, Any]) -> int:
    """Search, and print the best matches first."""
    from memory_keeper.keeper import Keeper

    with Keeper(asked["home"]) as keeper:
        scope = _scope(keeper, asked)
        hits = _find(keeper, keeper.searchable, asked, scope) or _find_once_more(keeper, asked, scope)
        hits = _from_roots(keeper, hits)
        if asked["json"]:
            _print_json(hits)
        else:
            _print(keeper, hits, asked, scope)
    return 0


def _find_once_more(keeper: Keeper, asked: dict[str, Any], scope: Scope) -> list[Hit]:
    """What is found when all that is new was read: a session that has just ended may still be on its way."""
    grown = keeper.behind(scope.project) if scope.project else None
    if grown is None:
        return []
    from memory_keeper.errors import Busy

    try:
        keeper.catch_up(grown)
    except (Busy, OSError):
        return []  # another process reads it, or nothing can be written here: what there is will do
    return _find(keeper, keeper.searchable, asked, scope)


def _find(keeper: Keeper, store: Store, asked: dict[str, Any], scope: Scope) -> list[Hit]:
    from memory_keeper.search import find

    query, limit, regex = asked["query"], asked["limit"], asked["regex"]
    hits = find(store, query, scope, limit, regex=regex, deep=asked["deep"], meaning=True)
    if not asked["deep"]:
        return hits
    from memory_keeper.lookup.lines import find_lines, line_of

    kept = hits[: limit - limit // 2]  # half the room is for lines: events that share a word would fill all of it
    lines = find_lines(keeper, query, scope, limit - len(kept), regex, {hit.id for hit in kept})
    said = {line_of(hit.id) for hit in lines}
    kept += [hit for hit in hits[len(kept) :] if line_of(hit.id) not in said][: limit - len(kept) - len(lines)]
    mixed = [hit for pair in zip(kept, lines, strict=False) for hit in pair]
    return mixed + kept[len(lines) :] + lines[len(kept) :]


def _from_roots(keeper: Keeper, hits: list[Hit]) -> list[Hit]:
    """Hits whose files are named as their project names them."""
    from memory_keeper.capture.project import short_path

    roots = {project: keeper.store.roots(project) for project in {hit.project for hit in hits if hit.path}}
    return [hit._replace(path=short_path(hit.path, roots[hit.project])) if hit.path else hit for hit in hits]


def _scope(keeper: Keeper, asked: dict[str, Any]) -> Scope:
    session = asked["session"]
    if session:
        from memory_keeper.lookup.by_id import session_of

        session = session_of(keeper, session)
    return Scope(
        None if asked["all_projects"] else _project(keeper, asked["project"]),
        asked["level"],
        asked["kind"],
        asked["tool"],
        asked["file"],
        asked["role"],
        asked["since"],
        asked["until"],
        session,
    )


def _project(keeper: Keeper, given: str) -> str:
    """The project that a search is about; a directory that is gone, or another machine's, may be known all the same."""
    from memory_keeper.errors import KeeperError

    try:
        return keeper.project(find_folder(given))
    except KeeperError:
        if known := keeper.store.project("dir:" + given.rstrip("/")):
            return known
        raise


def find_folder(given: str) -> str:
    """The directory a command is about."""
    import posix

    from memory_keeper.errors import KeeperError

    try:
        folder = given or posix.getcwd()
        if not posix.stat(folder).st_mode & 0o170000 == 0o040000:
            raise NotADirectoryError
    except OSError:
        if not given:
            raise  # the folder we are in was deleted
        raise KeeperError(f"{given} is not a directory", hint="--project takes a directory") from None
    if folder.startswith("/"):
        return folder
    import os

    return os.path.abspath(folder)


def _print_json(hits: list[Hit]) -> None:
    import sys

    from memory_keeper import wire

    found = [{**hit._asdict(), "snippet": marked(hit.snippet, "", "")} for hit in hits]
    lines = [wire.dumps(one, ascii=False) for one in found]
    # as people write it, unless a terminal would take something in it for an order
    plain = [said if said.isprintable() else wire.dumps(one) for said, one in zip(lines, found, strict=True)]
    sys.stdout.write("[" + ",\n ".join(plain) + "]\n")


def _print(keeper: Keeper, hits: list[Hit], asked: dict[str, Any], scope: Scope) -> None:
    from memory_keeper.briefs import short
    from memory_keeper.terminal import as_called, fitting, hint, paint, say, width
    from memory_keeper.terminal import moment as say_moment
    from memory_keeper.text import clean

    if not hits:
        others = _elsewhere(keeper, asked, scope)
        print("nothing found" + others)
        if not others and not asked["deep"]:
            hint(FURTHER)
        return
    on, off = paint("\x02", "bold").split("\x02") if paint("\x02", "bold") != "\x02" else ("«", "»")
    for hit in hits:
        where = _folder(keeper, hit.project) if asked["all_projects"] else ""
        kind = f"{hit.kind} (by a model)" if hit.by == "model" else f"{hit.kind:8}"
        about = [say_moment(hit.at), kind, clean(where), clean(hit.path)]
        head = fitting("  ".join(part for part in about if part.strip()), max(20, width() - len(short(hit.id)) - 2))
        print(f"{paint(short(hit.id), 'cyan')}  {paint(head, 'dim')}")
        for line in _wrapped(clean(marked(hit.snippet, "\ue000", "\ue001")), max(40, width() - 4)):
            print("    " + marked(line, on, off))
    say(as_called(f"memory-keeper show {short(hits[0].id)}, or timeline --around it, says more"), style="dim")


def _wrapped(text: str, columns: int) -> list[str]:
    """A snippet in lines that fit, three at most; a match is not torn apart."""
    from memory_keeper.terminal import fitting, wrapped

    lines = wrapped(text, room=columns).split("\n")
    if len(lines) > ROWS:
        lines = [*lines[: ROWS - 1], fitting(" ".join(lines[ROWS - 1 :]), columns)]
    return [line + "\ue001" * (line.count("\ue000") > line.count("\ue001")) for line in lines]


def _elsewhere(keeper: Keeper, asked: dict[str, Any], scope: Scope) -> str:
    """A word about what other projects have, for who may not know that only one was searched."""
    if asked["all_projects"] or asked["regex"]:
        return ""
    from memory_keeper.search import find

    found = find(keeper.searchable, asked["query"], scope._replace(project=None), 3)
    return " in this project; --all-projects finds something" if found else ""


def _folder(keeper: Keeper, project: str) -> str:
    """A project as people know it: the directory it was last seen in, else its key."""
    roots = keeper.store.roots(project)
    return roots[0] if roots else project


def marked(snippet: str, on: str, off: str) -> str:
    """A snippet with its matches between these."""
    for mine, theirs in (("\x02", on), ("\x03", off), ("\ue000", on), ("\ue001", off)):
        snippet = snippet.replace(mine, theirs)
    return snippet
