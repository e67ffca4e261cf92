"""Which address is which page: a view that finds, and a template that says it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from time import time
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from memory_keeper.dashboard import views, writes
from memory_keeper.dashboard.guard import Guard
from memory_keeper.errors import KeeperError, NotSetUp
from memory_keeper.keeper import Keeper
from memory_keeper.provenance import beside
from memory_keeper.store import spool
from memory_keeper.terminal import format_time, say_problem
from memory_keeper.text import ago, clean, many, one_line, short_number

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = {  # the address, the view, and what the navigation calls it
    "": (views.now, "Now"),
    "sessions": (views.empty, "Sessions"),
    "compactions": (views.empty, "Compactions"),
    "memory": (views.memory, "Memory"),
    "search": (views.search, "Search"),
    "handoffs": (views.handoffs, "Handoffs"),
    "rules": (views.rules, "Rules"),
    "tasks": (views.empty, "Tasks"),
    "usage": (views.usage, "Usage"),
    "report": (views.report, "Report"),
    "health": (views.empty, "Health"),
}
BENEATH = {  # what these lead to
    "session/{id}": (views.session, "sessions"),
    "compaction/{id}/{number:int}": (views.compaction, "compactions"),
    "show/{id}": (views.show, "memory"),
}
PARTS = {  # what a page asks for when it is there, as it takes longer or changes
    "part/live": views.live,
    "part/recent": views.recent,
    "part/sessions": views.sessions,
    "part/figures/{id}": views.figures,
    "part/said/{id}": views.said,
    "part/survival/{id}": views.survival,
    "part/eaten/{id}": views.eaten,
    "part/compactions": views.compactions,
    "part/kept": views.kept,
    "part/tasks": views.tasks,
    "part/usage": views.used,
    "part/month": views.month,
    "part/findings": views.findings,
}


def build(home: str, folder: str, guard: Guard) -> None:
    """Put the pages of a home behind a guard; `folder` is where it was started."""
    templates, endpoints = _environment(guard.base), []

    def serve(path: str, view: views.View, template: str, section: str) -> Route:
        def endpoint(request: Request) -> Response:
            given = {**request.query_params, **request.path_params}
            return _respond(home, folder, templates, template, section, view, guard, given)

        return Route(f"/{path}", endpoint, methods=["GET"])

    async def act(request: Request) -> Response:
        given = await guard.read_form(request)
        if given is None:
            raise HTTPException(403, "This form is not one of this dashboard, or is too old: load the page again.")
        await run_in_threadpool(writes.act, home, request.path_params["what"], given)
        project = {"project": given["project"]} if "project" in given else {}
        return RedirectResponse(f"{guard.base}/{given.get('back', '')}?{urlencode(project)}", 303)

    def refused(request: Request, error: Exception) -> Response:
        return _say_problem(templates, guard, error)

    endpoints += [serve(path, view, path or "now", path) for path, (view, _) in PAGES.items()]
    endpoints += [serve(path, view, path.partition("/")[0], of) for path, (view, of) in BENEATH.items()]
    endpoints += [serve(path, view, "_" + path.split("/")[1], "") for path, view in PARTS.items()]
    static = Mount("/static", StaticFiles(directory=os.path.join(HERE, "static")))
    routes = [Mount(guard.base, routes=[*endpoints, Route("/do/{what}", act, methods=["POST"]), static])]
    handlers: Mapping[Any, Any] = {KeeperError: refused, HTTPException: refused, Exception: refused}
    guard.app = Starlette(routes=routes, exception_handlers=handlers)


def _respond(
    home: str,
    folder: str,
    templates: Environment,
    template: str,
    section: str,
    view: views.View,
    guard: Guard,
    given: dict[str, Any],
) -> Response:
    with Keeper(home) as keeper:
        visit = views.Visit(keeper, folder, given)
        try:
            if not os.path.exists(keeper.store_path) and spool.names(home):
                keeper.catch_up()  # the very first session runs: what hooks left of it becomes a store
            about = view(visit)
            about |= {"project": visit.project, "projects": visit.projects}
            chosen = visit.chosen
        except NotSetUp:
            template, about, chosen = "nothing", {}, ""

        def to(path: str, **params: object) -> str:
            """The address of a page of this project."""
            words = {name: value for name, value in {"project": chosen, **params}.items() if value}
            return f"{guard.base}/{quote(path)}{'?' if words else ''}{urlencode(words)}"

        if "picture" in about:
            about["picture"] = Markup(about["picture"](lambda id: to(f"show/{id}")))
        about |= {"to": to, "given": given, "section": section, "pages": PAGES, "csrf": guard.csrf}
        return HTMLResponse(templates.get_template(f"{template}.html").render(about))


def _say_problem(templates: Environment, guard: Guard, error: Exception) -> Response:
    """What went wrong, and what to do about it; of what nobody expected only that it did."""
    code, hint = getattr(error, "status_code", 404), getattr(error, "hint", "")
    said = error.detail if isinstance(error, HTTPException) else str(error)
    if not isinstance(error, (KeeperError, HTTPException)):
        say_problem(f"a page failed: {type(error).__name__}: {one_line(clean(str(error)))}")
        code, said, hint = 500, "This page failed", "the terminal that serves it says why; please report it"
    about = {"said": said, "hint": hint, "to": lambda path: f"{guard.base}/{path}", "section": None, "pages": PAGES}
    return HTMLResponse(templates.get_template("problem.html").render(about), code)


# --- words ------------------------------------------------------------------------------------------------------------


def _environment(base: str) -> Environment:
    """Everything that is printed is cleaned of what a screen would obey, and escaped."""
    made = Environment(
        loader=FileSystemLoader(os.path.join(HERE, "templates")),
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words: dict[str, Callable[..., Any]] = {
        "moment": format_time,
        "month": lambda at: format_time(at)[:7],
        "ago": lambda at: ago(at, time()),
        "many": many,
        "number": "{:,}".format,
        "short": short_number,
        "line": lambda text, most=200: one_line(clean(text), most),
        "marked": _marked,
    }
    made.filters.update(words)
    made.globals["base"] = base
    made.globals["beside"] = beside
    return made


def _finalize(value: Any) -> Any:
    if value is None:
        return ""
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _marked(snippet: str) -> Markup:
    """A snippet with its matches marked."""
    parts = clean(snippet.replace("\x02", "\ue000").replace("\x03", "\ue001"))
    return Markup(str(escape(parts)).replace("\ue000", "<mark>").replace("\ue001", "</mark>"))
