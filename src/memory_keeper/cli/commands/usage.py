"""`usage`: the tokens that responses were given and gave, each response once, and an estimate of what they cost."""

from __future__ import annotations

from argparse import Namespace

from memory_keeper.briefs.projects import project_name
from memory_keeper.briefs.report.markdown import HEADS, percent, priced, prices_json, short_name, sum_json
from memory_keeper.briefs.report.prices import Prices, read_prices
from memory_keeper.briefs.report.sums import SPANS, Sum, by_tool, largest, sums, total
from memory_keeper.cli.arguments import SINCE, UNTIL, argument
from memory_keeper.cli.output import print_table, respond
from memory_keeper.cli.scope import project_of
from memory_keeper.cli.work import catch_up
from memory_keeper.keeper import Keeper
from memory_keeper.notes.usage.breakdown import Share
from memory_keeper.store.usage import count_calls, months_of
from memory_keeper.terminal import Bar, say, say_problem, width

BY = ("day", "week", "month", "session", "model", "project", "tool")
NAME = 60  # characters
MONTHS = 12  # that are named
CELLS = (8, 12, 14, 12, 11, 6, 9)  # columns of each, where there is room
GONE = ("cache write", "cached", "input", "requests")  # what a narrow terminal goes without, in this order
SHORTEST = 10  # characters of a name
ARGUMENTS = (
    argument("--by", choices=BY, default="day", help="what a row is of (default day); of a tool, estimated"),
    SINCE,
    UNTIL,
    argument("--all-projects", action="store_true", help="not only this one; so does --by project"),
)


def run(args: Namespace) -> int:
    """A row for each, and one for all."""
    prices = read_prices(args.home)
    args.all_projects |= args.by == "project"
    with Keeper(args.home) as keeper:
        known, span = caught_up(keeper, args), (args.since, args.until)
        project = None if args.all_projects else known[0]
        rows = sums(keeper.store, prices, "" if args.by == "tool" else args.by, project, *span)
        tools: list[Share] = []
        if args.by == "tool":
            with weighing(keeper, known, *span) as bar:
                tools = by_tool(keeper.store, known, *span, bar.advance)
        missing = nothing_kept("that time", keeper, project)
        names = {id: project_name(keeper.store, id) for id in known}
    if args.by not in ("day", *SPANS):
        rows = largest(rows)
    if args.json:
        what = {"estimated": True, "tools": [share._asdict() for share in tools]}
        what = what if args.by == "tool" else {"rows": [sum_json(row) for row in rows]}
        about = {"project": project, "since": args.since or None, "until": args.until or None, "by": args.by}
        return respond(args, {**about, **what, "total": sum_json(total(rows)), "prices": prices_json(prices)})
    if not rows:
        return respond(args, {}, missing)
    if args.by == "tool":
        _show_tools(tools)
    _show(args.by, [row._replace(name=names.get(row.name, row.name)) for row in rows], prices)
    return 0


def nothing_kept(what: str, keeper: Keeper, project: str | None) -> str:
    """That nothing is known of a time, and where there is something."""
    months = months_of(keeper.store, project)
    if not months:
        what = "this project" if project is not None else "any project"
    text = f"nothing is kept of {what}"
    text += f"; there is something of {', '.join(months[-MONTHS:])}" if months else ""
    others = project is not None and any(id != project for id in keeper.store.projects())
    return text + "; --all-projects looks in the others too" * others


def caught_up(keeper: Keeper, args: Namespace) -> list[str]:
    """The projects that are asked about, once what is new of them has been read."""
    projects = keeper.store.projects() if args.all_projects else [project_of(keeper, args)]
    catch_up(keeper, projects)
    return projects


def weighing(keeper: Keeper, projects: list[str], since: float, until: float) -> Bar:
    """A bar for as long as it takes to weigh what tools said."""
    return Bar("weighing", sum(count_calls(keeper.store, project, since, until) for project in projects), bytes=False)


def _show(by: str, rows: list[Sum], prices: Prices) -> None:
    everything, shown = total(rows), rows if by != "tool" else []
    table = [HEADS, *(_numbers(row, prices) for row in (*shown, everything))]
    left, sizes = _fit(table, max([len(_named(by, row.name)) for row in shown] + [SHORTEST]))
    room = width() - sum(sizes) - len(sizes)
    names = [by if shown else "", *(_named(by, row.name, room) for row in shown), "total"]
    print_table(
        [
            (name, *(cells[number].rjust(size) for number, size in zip(left, sizes, strict=True)))
            for name, cells in zip(names, table, strict=True)
        ],
        bold=(0, -1),
    )
    if gone := [head for place, head in enumerate(HEADS) if place not in left]:
        say(f"not shown, as the terminal is narrow: {', '.join(gone)}", style="dim")
    say(f"cost: {prices.label}", style="dim")
    if everything.unpriced:
        say(f"{everything.unpriced:,} tokens are of models without a price, and are not in it", style="yellow")
    if prices.problem:
        say_problem(prices.problem)


def _fit(table: list[tuple[str, ...]], name: int) -> tuple[list[int], list[int]]:
    """Which columns of numbers a terminal has room for beside the names, and how wide each is."""
    needed = [max(len(row[place]) for row in table) for place in range(len(HEADS))]
    left = [*range(len(HEADS))]
    wide = [max(pair) for pair in zip(CELLS, needed, strict=True)]
    if name + sum(wide) + len(wide) <= width():
        return left, wide
    for head in GONE:
        if min(name, 2 * SHORTEST) + sum(needed[column] + 1 for column in left) + len(left) <= width():
            break
        left.remove(HEADS.index(head))
    return left, [needed[column] + 1 for column in left]


def _named(by: str, name: str, room: int = NAME) -> str:
    return short_name(name[:8] if by == "session" else name, max(SHORTEST, min(NAME, room))) or "unknown"


def _numbers(row: Sum, prices: Prices) -> tuple[str, ...]:
    counts = (row.requests, row.input, row.cache_read, row.cache_write, row.output)
    return (*(f"{number:,}" for number in counts), percent(row.cached), priced(row, prices))


def _show_tools(tools: list[Share]) -> None:
    """What calls and their results weigh; the host says no tokens for them."""
    rows = [("tool", "   calls", "  tokens (estimated)")]
    rows += [(_named("tool", share.what, width() - 30), f"{share.times:,}", f"{share.tokens:,}") for share in tools]
    print_table(rows)
    print()
