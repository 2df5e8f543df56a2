"""`Guard`: what every request passes before anything looks at it.

Refuses a wrong Host (another site's name that was made to point here), a wrong Origin (another
site's script), a missing token and too large a body, and adds the headers that keep the page to
itself. Knows nothing of what is served. Refusals are JSON: {"code": ..., "reason": ...}.
"""

from __future__ import annotations

import ipaddress
import json
import secrets
import socket
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zermelo.web.settings import WebSettings, is_loopback

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-elem 'self'",
        "style-src-attr 'unsafe-inline'",  # the chart library sets attributes, no rules
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
DRAINED = 16 << 20  # bytes of a refused body
POLICY_VIOLATION = 1008  # a socket's closing code


class TooLargeError(Exception):
    """A body beyond the bound, found while it was read."""


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self._app = app
        self._settings = settings
        self._cookie = f"zermelo-{settings.port}"
        names = {socket.gethostname().lower(), settings.host.lower()} if not settings.local else ()
        self._names = {"localhost", *names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what may pass."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        if self._settings.token and _query_token(scope):
            await self._hand_over_cookie(scope, send)
            return
        begun = False

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        try:
            await self._app(scope, self._bounded(receive), with_headers)
        except TooLargeError:
            if not begun:
                await _refuse(scope, receive, send, *self._too_large())

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, "this address is not one that the page is served under"
        origin = headers.get("origin")
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if origin is not None and changes and _netloc(origin) != host.lower():
            return 403, "the request comes from another site"
        if origin is None and changes and headers.get("sec-fetch-site", "none") == "cross-site":
            return 403, "the request comes from another site"
        if self._settings.token and not self._has_token(scope, headers):
            return 401, "this page needs the token of the address that `zermelo web` printed"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._settings.bounds.body_bytes:
            return self._too_large()
        return None

    def _too_large(self) -> tuple[int, str]:
        return 413, f"a request has at most {self._settings.bounds.body_bytes:,} bytes"

    def _is_ours(self, host: str) -> bool:
        """An address cannot be made to point elsewhere, a name can; so only our own names."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name in self._names or is_loopback(name):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return not self._settings.local

    def _has_token(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            cookie = None
        brought = _query_token(scope) or (cookie.value if cookie else "")
        return secrets.compare_digest(brought.encode(), self._settings.token.encode())

    async def _hand_over_cookie(self, scope: Scope, send: Send) -> None:
        """The token moves from the address, which people copy, into a cookie."""
        cookie = f"{self._cookie}={self._settings.token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", scope["path"].encode()), (b"set-cookie", cookie.encode())]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _bounded(self, receive: Receive) -> Receive:
        """A body without a length is counted as it comes."""
        seen = 0

        async def bounded() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._settings.bounds.body_bytes:
                raise TooLargeError
            return message

        return bounded


def _netloc(origin: str) -> str | None:
    """Host and port of an Origin; None for one that is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _query_token(scope: Scope) -> str:
    try:
        found = parse_qs(scope.get("query_string", b"").decode("ascii"), max_num_fields=20)
    except ValueError:
        return ""
    return str(found.get("token", [""])[0])


async def _refuse(scope: Scope, receive: Receive, send: Send, code: int, reason: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason})
        return
    body = json.dumps({"code": code, "reason": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    headers.append((b"content-length", str(len(body)).encode()))
    await _drain(receive)
    headers += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _drain(receive: Receive) -> None:
    """Who still sends would not read the answer: a good part of the body is taken and dropped."""
    seen = 0
    while seen < DRAINED:
        message = await receive()
        seen += len(message.get("body", b""))
        if not message.get("more_body"):
            return
