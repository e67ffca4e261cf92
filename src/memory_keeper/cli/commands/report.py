"""`report`: a month in figures, or one session; for people, for programs, or as one page."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentTypeError, Namespace
from time import localtime, time
from typing import Any

from memory_keeper import config
from memory_keeper.briefs.report.html import page
from memory_keeper.briefs.report.markdown import as_json, show, title
from memory_keeper.briefs.report.month import Month, find_month
from memory_keeper.briefs.report.prices import read_prices
from memory_keeper.briefs.report.session import find_session, session_json, show_session
from memory_keeper.briefs.report.sums import sums, total
from memory_keeper.briefs.report.survival_svg import draw
from memory_keeper.cli.arguments import ALL_PROJECTS, argument
from memory_keeper.cli.commands.usage import caught_up, nothing_kept, weighing
from memory_keeper.cli.scope import running_session
from memory_keeper.config import find_root
from memory_keeper.dates import bounds, month_of
from memory_keeper.errors import KeeperError
from memory_keeper.keeper import Keeper
from memory_keeper.lookup.sessions import session_of
from memory_keeper.terminal import say, wrapped

FORMATS = ("md", "html", "svg", "json")


def run(args: Namespace) -> int:
    """Measure, and tell."""
    form = "json" if args.json else args.format or "md"
    of_one = args.session is not None
    if of_one and (args.month or form == "html"):
        raise KeeperError("--session takes no --month, and no page", hint="give --format md, svg or json")
    if form == "svg" and not of_one:
        raise KeeperError("the picture is of one session", hint="say which one: --session ID")
    with Keeper(args.home) as keeper:
        if of_one:
            text = _of_session(keeper, args, form)
        else:
            month = gather(keeper, args)
            if not month.total.requests and form != "json":
                print(nothing_kept(title(month), keeper, month.project or None))
                return 0
            text = _told(month, form)
    if not args.out:
        sys.stdout.write(wrapped(text) if of_one and form == "md" else text)
        return 0
    try:
        with open(args.out, "w" if args.force else "x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError:
        raise KeeperError(f"{args.out} is there already", hint="--force writes over it") from None
    say(f"written to {os.path.abspath(args.out)}")
    return 0


def gather(keeper: Keeper, args: Namespace) -> Month:
    """The month that was asked for."""
    span, prices = args.month or month_of(time()), read_prices(args.home)
    known = caught_up(keeper, args)
    project = None if args.all_projects else known[0]
    settings = config.load(args.home, find_root(args.project or os.getcwd()), config.environment())[0]
    with weighing(keeper, known, *span) as bar:
        return find_month(keeper.store, prices, project, span, settings, time(), bar.advance)


def _told(month: Month, form: str) -> str:
    if form == "html":
        return page(month)
    return show(month) if form == "md" else _document(as_json(month))


def _of_session(keeper: Keeper, args: Namespace, form: str) -> str:
    session, prices = session_of(keeper, args.session or running_session(keeper, args)[0]), read_prices(args.home)
    spent = total(sums(keeper.store, prices, session=session))
    metrics = find_session(keeper.store, args.home, prices, session, spent)
    if form == "svg":
        name = metrics.title or f"session {session[:8]}"
        return draw(metrics.survival, f"What survived: {name}, in {os.path.basename(metrics.where)}")
    return _document(session_json(metrics)) if form == "json" else show_session(metrics)


def _document(about: dict[str, Any]) -> str:
    return json.dumps(about, ensure_ascii=False, indent=2) + "\n"


def _month(given: str) -> tuple[float, float]:
    year, _, month = given.partition("-")
    if len(given) == 7 and (year + month).isdecimal() and 1 <= int(month) <= 12 and 1970 < int(year) < 2100:
        return bounds(int(year), int(month))
    raise ArgumentTypeError(f"{given!r} is not a month such as {localtime().tm_year}-01")


ARGUMENTS = (
    argument("--month", type=_month, default=None, metavar="YYYY-MM", help="default: this month"),
    argument(
        "--session", nargs="?", const="", metavar="ID",
        help="the metrics of one session instead; without ID the one that runs this, else the newest",
    ),
    argument(
        "--format", choices=FORMATS, default="",
        help="default: md; html is one page; svg draws what survived in a session",
    ),
    argument("--out", default="", metavar="FILE", help="write it there; default: print it"),
    argument("--force", action="store_true", help="--out: also over a file that is there"),
    ALL_PROJECTS,
)  # fmt: skip
