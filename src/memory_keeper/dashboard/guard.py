"""Who is let in: the browser that was given the link, and no other page that it has open.

The link has a token that opens once, and is exchanged for a cookie that scripts cannot read and that no other site can
send along. Cookies know no ports, so all addresses lie beneath a path that nobody can guess: another program on this
machine, at another port, is not sent it. A page elsewhere that guesses the port is refused by Host and Origin, one that
makes the browser send a form by the form's own token; and what was captured can be no script where scripts of pages do
not run.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory_keeper.briefs.report.survival_svg import STYLE

COOKIE = "memory-keeper"
LARGEST = 64 * 1024  # bytes of a form
# of the picture, which has its own style so that it can be a file
_PICTURE = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{_PICTURE}'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # without any, the Origin of a form would be `null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
AGAIN = "Stop `memory-keeper serve` and start it again: it prints a new link."


class Guard:
    """Stands before the pages; what it refuses they never see."""

    def __init__(self, port: int) -> None:
        self.app: ASGIApp = PlainTextResponse("")
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.base = f"/{token_urlsafe(12)}"
        self.token, self._cookie, self.csrf = (token_urlsafe(24) for _ in range(3))

    @property
    def link(self) -> str:
        """What opens the dashboard, once."""
        return f"http://{self.hosts[0]}{self.base}/enter?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        answer = self._refused(request)
        if not answer and request.url.path == f"{self.base}/enter":
            answer = self._enter(request)
        if not answer and not self._is_known(request):
            answer = PlainTextResponse(f"Open the link that `memory-keeper serve` printed. {AGAIN}", 403)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await (answer or self.app)(scope, receive, guarded)

    def _refused(self, request: Request) -> Response | None:
        """The answer to what no page of ours asks; nothing where it may go on."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "none")
        if host not in self.hosts:
            return PlainTextResponse("This is no name of the dashboard.", 403)
        if request.method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("Nothing here answers that.", 405)
        if (origin or request.method == "POST") and origin != f"http://{host}":
            return PlainTextResponse("Only pages of the dashboard may ask that.", 403)
        if site not in ("none", "same-origin") and request.url.path != f"{self.base}/enter":
            return PlainTextResponse("Only pages of the dashboard may ask that.", 403)
        return None

    def _enter(self, request: Request) -> Response:
        """Exchange the token for a cookie. Our own page leads on: a browser does not send a strict cookie to where a
        page of others has led it."""
        if request.method != "GET" or not self.token or not _same(request.query_params.get("token", ""), self.token):
            if self._is_known(request):
                return Response(status_code=303, headers={"Location": f"{self.base}/"})
            return PlainTextResponse(f"This link was used, or is not the one that was printed. {AGAIN}", 403)
        self.token = ""
        onward = f'<meta http-equiv="refresh" content="0;url={self.base}/">'
        icon = f'<link rel="icon" href="{self.base}/static/icon.svg">'
        head = f'<head><meta charset="utf-8"><title>Memory Keeper</title>{icon}{onward}</head>'
        page = f'<!doctype html><html lang="en">{head}<body><a href="{self.base}/">Open the dashboard</a></body></html>'
        answer = HTMLResponse(page)
        answer.set_cookie(COOKIE, self._cookie, path=self.base, httponly=True, samesite="strict")
        return answer

    def _is_known(self, request: Request) -> bool:
        return _same(request.cookies.get(COOKIE, ""), self._cookie)

    async def read_form(self, request: Request) -> dict[str, str] | None:
        """What a form of ours says; None where it is not one."""
        data = b""
        async for part in request.stream():
            data += part
            if len(data) > LARGEST:
                return None
        fields = {name: values[0] for name, values in parse_qs(data.decode("utf-8", "replace")).items()}
        return fields if _same(fields.pop("csrf", ""), self.csrf) else None


def _same(given: str, known: str) -> bool:
    return compare_digest(given.encode("utf-8", "surrogateescape"), known.encode())
