"""What the APIs share: where the key is, one bounded POST, and how an answer has to end."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from memory_keeper import wire
from memory_keeper.errors import Busy, KeeperError, NotSetUp
from memory_keeper.model import Json
from memory_keeper.notes.summarizers import program
from memory_keeper.notes.summarizers.asking import Answer, Unfinished
from memory_keeper.text import clean, one_line

LARGEST = 1 << 20  # bytes of an answer
LOOPBACK = ("localhost", "127.0.0.1", "::1")
KEYRINGS = (
    ("keyring", "get", "memory-keeper", "{service}"),
    ("secret-tool", "lookup", "service", "memory-keeper", "username", "{service}"),  # where keyring keeps it too
)
PATIENCE = 20  # seconds for a keyring, which may ask the user to open it


# --- keys ------------------------------------------------------------------------------------------------------------


def find_key(service: str, variable: str, settings: Json, environ: dict[str, str], root: str, usual: bool) -> str:
    """The key: in the variable that the user's settings name; for the usual address also in the usual variable, or in
    the keyring. Those were not given to us for any other address."""
    named = str(settings.get("summarize.keyVariable") or "")
    if named:
        key = environ.get(named, "").strip()
        if not key:
            raise NotSetUp(f"{named} is not set", hint="summarize.keyVariable names the variable that the key is in")
    else:
        key = (environ.get(variable, "").strip() or _from_keyring(service, environ, root)) if usual else ""
    if not key.isascii() or not key.isprintable():
        raise NotSetUp("The key has characters that no key has", hint="set it again")
    return key


def _from_keyring(service: str, environ: dict[str, str], root: str) -> str:
    """The key that `keyring set memory-keeper SERVICE` left, or `secret-tool store`; nothing where neither is there."""
    for name, *words in KEYRINGS:
        found = program.find(name, environ, root)
        if not found:
            continue
        command = [found, *(word.format(service=service) for word in words)]
        try:
            ended = program.run(command, "", environ, PATIENCE, "/")
        except KeeperError:
            continue
        if not ended.code and ended.out.strip():
            return ended.out.strip()
    return ""


# --- the wire --------------------------------------------------------------------------------------------------------


def post(
    url: str, headers: dict[str, str], body: Json, timeout: float, environ: dict[str, str], secret: str = ""
) -> Json:
    """The JSON object that answers a POST.

    Over all of it there is one time limit, however slowly bytes drip; the answer is bounded; nothing is followed to
    another host; a key goes in the clear to this machine only. Busy: it may work later.
    """
    host = _checked(url, bool(secret))
    given = {"content-type": "application/json", "user-agent": "memory-keeper", **headers}
    request = urllib.request.Request(url, wire.dumps(body).encode(), given, method="POST")
    return _object(_fetch(request, timeout, host, environ, secret), host)


def _fetch(request: urllib.request.Request, timeout: float, host: str, environ: dict[str, str], secret: str) -> bytes:
    """What answers a request, within one time limit."""
    line = _Line()
    limit = threading.Timer(timeout, line.hang_up)
    limit.daemon = True
    limit.start()
    try:
        with _opener(line, host, environ).open(request, timeout=timeout) as answer:
            raw: bytes = answer.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        with error:
            raise _refused(error, host, secret) from None
    except (OSError, http.client.HTTPException) as error:
        if line.over.is_set() or isinstance(error, TimeoutError):
            raise Busy(f"{host} did not answer within {timeout:g} seconds") from None
        why = one_line(clean(str(getattr(error, "reason", "") or error or type(error).__name__)))
        raise Busy(f"{host}: {why}") from None
    finally:
        limit.cancel()
        line.close()
    if line.over.is_set():
        raise Busy(f"{host} did not answer within {timeout:g} seconds")
    return raw


def _object(raw: bytes, host: str) -> Json:
    """The JSON object that was answered, of a size that is one of an answer."""
    if len(raw) > LARGEST:
        raise KeeperError(f"{host} answered with more than {LARGEST >> 20} MB")
    try:
        said = wire.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise KeeperError(f"{host} did not answer with a JSON object", hint="is summarize.url right?")
    return said


def _checked(url: str, keyed: bool) -> str:
    """The host of an address that may be asked."""
    parts = urllib.parse.urlsplit(url)
    try:
        host = parts.hostname or ""
        parts.port  # noqa: B018  (raises when it is none)
    except ValueError:
        host = ""
    if parts.scheme not in ("http", "https") or not host or parts.username is not None or not url.isascii():
        raise NotSetUp(f"summarize.url cannot be {one_line(url, 80)!r}", hint="it begins with https://")
    if parts.scheme == "http" and keyed and host not in LOOPBACK:
        raise NotSetUp(f"A key is not sent to {host} in the clear", hint="use https://, or leave the key out")
    return host


class _Line:
    """The connections of one question, which can be hung up at any moment, also while a proxy or TLS is under way.

    It holds second descriptors of them: TLS takes the first away, and one that was closed may be somebody else's.
    """

    def __init__(self) -> None:
        self.over = threading.Event()
        self.opened: list[socket.socket] = []
        self.lock = threading.Lock()

    def connect(self, *args: Any) -> socket.socket:
        """`socket.create_connection`; finding the host has no limit, so the time may be over when it is there."""
        made = socket.create_connection(*args)
        with self.lock:
            if not self.over.is_set():
                self.opened.append(made.dup())
                return made
        made.close()
        raise TimeoutError

    def hang_up(self) -> None:
        with self.lock:
            self.over.set()
            for one in self.opened:
                with suppress(OSError):  # the other side has
                    one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self.lock:
            while self.opened:
                self.opened.pop().close()


def _opener(line: _Line, host: str, environ: dict[str, str]) -> urllib.request.OpenerDirector:
    """What opens addresses: with the user's proxies, without redirects elsewhere, on this line."""

    class Plain(http.client.HTTPConnection):
        def __init__(self, *args: Any, **given: Any) -> None:
            super().__init__(*args, **given)
            self._create_connection = line.connect

    class Secure(http.client.HTTPSConnection):
        def __init__(self, *args: Any, **given: Any) -> None:
            super().__init__(*args, **given)
            self._create_connection = line.connect

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Plain, req)

    class SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(Secure, req, context=ssl.create_default_context())

    proxies = urllib.request.ProxyHandler(_proxies(host, environ))
    director = urllib.request.OpenerDirector()
    for handler in (proxies, PlainHandler(), SecureHandler(), _SameOrigin(), urllib.request.HTTPErrorProcessor()):
        director.add_handler(handler)
    director.add_handler(urllib.request.HTTPDefaultErrorHandler())
    return director


def _proxies(host: str, environ: dict[str, str]) -> dict[str, str]:
    if host in LOOPBACK:
        return {}
    found = {
        scheme: environ.get(f"{scheme}_proxy") or environ.get(f"{scheme}_proxy".upper()) or ""
        for scheme in ("http", "https")
    }
    without = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    if urllib.request.proxy_bypass_environment(host, {"no": without}):  # type: ignore[attr-defined]
        return {}
    return {scheme: address for scheme, address in found.items() if address}


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows to the same scheme, host and port only, and asks there again as it was asked here."""

    max_redirections = 3

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request:
        old, new = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if code not in (307, 308) or (old.scheme, old.netloc) != (new.scheme, new.netloc):
            fp.close()
            raise KeeperError(
                f"{old.hostname} sends us on to {one_line(clean(newurl), 80)}",
                hint="set summarize.url to where it moved",
            )
        return urllib.request.Request(newurl, req.data, dict(req.header_items()), method="POST")

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302


def _refused(error: urllib.error.HTTPError, host: str, secret: str) -> KeeperError:
    """What an error of the host means; what it says about it is shown, without the key."""
    if error.code in (301, 302, 303, 307, 308):  # to other hosts nobody follows
        return KeeperError(f"{host} sends us in a circle", hint="set summarize.url to where it moved")
    try:
        said = error.read(4096).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        said = ""
    try:
        inner = wire.loads(said)["error"]
        said = str(inner["message"] if isinstance(inner, dict) else inner)
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    said = said.replace(secret, "…") if secret else said
    message = f"{host} answered {error.code}: {one_line(clean(said), 160) or error.reason}"
    if error.code in (408, 409, 425, 429) or error.code >= 500:
        return Busy(message)
    if error.code in (401, 403):
        return NotSetUp(message, hint="is the key right?")
    return KeeperError(message)


# --- what answers say -------------------------------------------------------------------------------------------------


def finished(answer: Answer, reason: object, good: Sequence[object]) -> Answer:
    """An answer that ended for a good reason; Unfinished: for another, such as that there was no room for more."""
    if reason in good:
        return answer
    why = f"The model did not finish: {one_line(clean(str(reason)), 40)}"
    raise Unfinished(why, answer) if isinstance(reason, str) else KeeperError(why)


def name_of(said: Json, model: object) -> str:
    """The model that answered, by its own word."""
    name = said.get("model")
    return one_line(clean(name if isinstance(name, str) and name else str(model)), 100)
