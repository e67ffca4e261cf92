"""`search QUERY`: find something again."""

from __future__ import annotations

from argparse import Namespace

from memory_keeper import wire
from memory_keeper.briefs import short
from memory_keeper.capture.project import short_path
from memory_keeper.cli.arguments import ALL_PROJECTS, SINCE, UNTIL, argument, limit, number, one_of
from memory_keeper.cli.scope import project_of
from memory_keeper.errors import Busy
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.lines import find_lines, line_of
from memory_keeper.lookup.sessions import session_of
from memory_keeper.model import KINDS, NOTES, ROLES, Hit, Scope
from memory_keeper.notes.kept_note import shown_at
from memory_keeper.provenance import beside
from memory_keeper.search import find
from memory_keeper.store.store import Store
from memory_keeper.terminal import as_called, fitting, format_time, hint, paint, say, width, wrapped
from memory_keeper.text import clean

KIND = (  # that are listed; every other kind is taken as well
    "prompt", "reply", "thinking", "call", "result", "command", "summary", "session", "handoff", "decision", "rule",
    "observation", "task",
)  # fmt: skip
ROWS = 3  # of a snippet
FURTHER = (
    "--deep also reads what hooks noted and the transcripts' own lines; `memory-keeper timeline` tells what is kept"
)
ARGUMENTS = (
    argument("query", nargs="+", metavar="QUERY", help='words, names, "a phrase", begin*; nothing in it needs care'),
    argument(
        "--level", type=number(0, 99), metavar="N", help="0: what happened; 1, 2, …: notes of that level (1 to 99)"
    ),
    argument(
        "--kind", type=one_of(KIND, (*KINDS, *NOTES)), default="", metavar="KIND", help=f"one of {', '.join(KIND)}"
    ),
    argument("--tool", default="", metavar="TOOL", help="only calls of this tool and what it answered"),
    argument("--file", default="", metavar="PATH", help="only what names this file, or is a call on it"),
    argument("--role", type=one_of(ROLES), default="", metavar="ROLE", help="whose words: user, assistant or tool"),
    SINCE,
    UNTIL,
    argument("--session", default="", metavar="ID", help="only this session"),
    ALL_PROJECTS,
    argument("--regex", action="store_true", help="the query is a regular expression; every text is read"),
    argument("--deep", action="store_true", help="also what hosts and hooks noted, and the transcripts' own lines"),
    limit(10, most=1000),
)
ANY_WORDS = True


def run(args: Namespace) -> int:
    """The best matches first."""
    if not "".join(args.query).strip():
        args.fail("the QUERY is empty")
    with Keeper(args.home) as keeper:
        query, scope = " ".join(args.query), _scope(keeper, args)
        hits = _find(keeper, query, scope, args) or _find_once_more(keeper, query, scope, args)
        roots = {project: keeper.store.roots(project) for project in {hit.project for hit in hits if hit.path}}
        hits = [hit._replace(path=short_path(hit.path, roots[hit.project])) if hit.path else hit for hit in hits]
        if args.json:
            _print_json(hits)
        elif hits:
            _print(keeper, hits, args)
        else:
            _say_nothing(keeper, query, scope, args)
    return 0


def _scope(keeper: Keeper, args: Namespace) -> Scope:
    session = session_of(keeper, args.session)
    project = None if args.all_projects else project_of(keeper, args)
    return Scope(project, args.level, args.kind, args.tool, args.file, args.role, args.since, args.until, session)


def _find(keeper: Keeper, query: str, scope: Scope, args: Namespace) -> list[Hit]:
    store: Store = keeper.searchable
    hits = find(store, query, scope, args.limit, regex=args.regex, deep=args.deep, meaning=True)
    if not args.deep:
        return hits
    kept = hits[: args.limit - args.limit // 2]  # half is for lines: events that share a word would fill all of it
    lines = find_lines(keeper, query, scope, args.limit - len(kept), args.regex, {hit.id for hit in kept})
    found = {line_of(hit.id) for hit in lines}
    kept += [hit for hit in hits[len(kept) :] if line_of(hit.id) not in found][: args.limit - len(kept) - len(lines)]
    mixed = [hit for pair in zip(kept, lines, strict=False) for hit in pair]
    return mixed + kept[len(lines) :] + lines[len(kept) :]


def _find_once_more(keeper: Keeper, query: str, scope: Scope, args: Namespace) -> list[Hit]:
    """What is found when all that is new was read: a session that has just ended may still be on its way."""
    grown = keeper.behind(scope.project) if scope.project else None
    if grown is None:
        return []
    try:
        keeper.catch_up(grown)
    except (Busy, OSError):
        return []  # another process reads it, or nothing can be written here: what there is will do
    return _find(keeper, query, scope, args)


# --- showing it ------------------------------------------------------------------------------------------------------


def _print_json(hits: list[Hit]) -> None:
    found = [{**hit._asdict(), "snippet": marked(hit.snippet, "", "")} for hit in hits]
    lines = [wire.dumps(hit, ascii=False) for hit in found]
    # as people write it, unless a terminal would take something in it for an order
    plain = [line if line.isprintable() else wire.dumps(hit) for line, hit in zip(lines, found, strict=True)]
    print("[" + ",\n ".join(plain) + "]")


def _print(keeper: Keeper, hits: list[Hit], args: Namespace) -> None:
    on, off = paint("\x02", "bold").split("\x02") if paint("\x02", "bold") != "\x02" else ("«", "»")
    for hit in hits:
        where = next(iter(keeper.store.roots(hit.project)), hit.project) if args.all_projects else ""
        kind = f"{hit.kind}{beside(hit.kind, hit.by)}".ljust(8)
        note = keeper.store.wording(hit.id)
        about = [format_time(shown_at(note) if note else hit.at), kind, clean(where), clean(hit.path)]
        head = fitting("  ".join(part for part in about if part.strip()), max(20, width() - len(short(hit.id)) - 2))
        print(f"{paint(short(hit.id), 'cyan')}  {paint(head, 'dim')}")
        for line in _wrapped(clean(marked(hit.snippet, "\ue000", "\ue001")), max(40, width() - 4)):
            print("    " + marked(line, on, off))
    say(as_called(f"memory-keeper show {short(hits[0].id)}, or timeline --around it, says more"), style="dim")


def _say_nothing(keeper: Keeper, query: str, scope: Scope, args: Namespace) -> None:
    """That nothing was found, with a word about other projects for who may not know that only one was searched."""
    asked = not args.all_projects and not args.regex
    if asked and find(keeper.searchable, query, scope._replace(project=None), 3):
        print("nothing found in this project; --all-projects finds something")
        return
    print("nothing found")
    if not args.deep:
        hint(FURTHER)


def _wrapped(text: str, columns: int) -> list[str]:
    """A snippet in lines that fit, three at most; a match is not torn apart."""
    lines = wrapped(text, room=columns).split("\n")
    if len(lines) > ROWS:
        lines = [*lines[: ROWS - 1], fitting(" ".join(lines[ROWS - 1 :]), columns)]
    return [line + "\ue001" * (line.count("\ue000") > line.count("\ue001")) for line in lines]


def marked(snippet: str, on: str, off: str) -> str:
    """A snippet with its matches between these."""
    for mine, theirs in (("\x02", on), ("\x03", off), ("\ue000", on), ("\ue001", off)):
        snippet = snippet.replace(mine, theirs)
    return snippet
