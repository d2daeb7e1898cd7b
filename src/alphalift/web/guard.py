"""Who may ask, and what every answer carries: this machine alone, one browser, the page itself (docs/page.md).

A page of another site can make a browser send requests to this server, and a name that it controls resolve to it. So a request
needs the server's own Host, the cookie that the one-time link was exchanged for, and to change anything the page's own Origin.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect")),
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_METHODS = ("GET", "HEAD", "POST")
# Letters that a request's address and head may have.
_LONGEST_PATH, _LONGEST_QUERY, _LONGEST_HEAD = 200, 4000, 16 << 10
# A page that goes on by itself: the browser then asks from here, so that a strict cookie is sent.
_ONWARD = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><link rel="icon" href="/icon.svg"><title>alphalift</title></head><body><p><a href="/">Open the page</a></p></body></html>'
_NOT_KNOWN = "This page is for whoever started it: open the link that `alphalift serve` printed. It works once; start it again for another one."


class Guard:
    """Lets requests through that may be answered, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app, self._cookie_name = app, f"alphalift-{port}"
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.token: str | None = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                kept = [(name, value) for name, value in message["headers"] if name.decode("latin-1") not in HEADERS]
                message = {**message, "headers": [*kept, *own]}
            await send(message)

        answer = self._answer(scope)
        try:
            await (answer or self._app)(scope, receive, with_headers)
        except Exception as error:  # whose text may have what was sent; so it is not logged either
            if not started:
                told = PlainTextResponse(f"that failed unexpectedly ({type(error).__name__})", 500)
                await told(scope, receive, with_headers)

    def _answer(self, scope: Scope) -> Response | None:
        """A refusal, or what the link is exchanged for; nothing for a request that goes through."""
        headers = _Headers(scope)
        host = headers.one("host")
        if host not in self._hosts:
            return PlainTextResponse("This server answers to its own address alone.", 421)
        if scope["method"] not in _METHODS:
            return PlainTextResponse("Not allowed.", 405, {"allow": ", ".join(_METHODS)})
        if len(scope["query_string"]) > _LONGEST_QUERY or len(scope["path"]) > _LONGEST_PATH:
            return PlainTextResponse("Too long.", 414)
        if headers.size > _LONGEST_HEAD:
            return PlainTextResponse("Too long.", 431)
        if scope["path"] == "/" and scope["method"] == "GET" and b"token=" in scope["query_string"]:
            return self._exchanged(scope, headers)
        if headers.one("sec-fetch-site") not in (None, "same-origin", "none"):
            return PlainTextResponse("Not from another site.", 403)
        if not self._is_known(headers):
            return PlainTextResponse(_NOT_KNOWN, 401)
        if scope["method"] == "POST" and headers.one("origin") != f"http://{host}":
            return PlainTextResponse("Not from another site.", 403)
        return None

    def _exchanged(self, scope: Scope, headers: _Headers) -> Response:
        """The link works once; who has the cookie already goes on."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self._is_known(headers):
            return HTMLResponse(_ONWARD)
        if self.token is None or not secrets.compare_digest(given.encode(), self.token.encode()):
            return PlainTextResponse(_NOT_KNOWN, 401)
        self.token = None
        answer = HTMLResponse(_ONWARD)
        answer.set_cookie(self._cookie_name, self._cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _is_known(self, headers: _Headers) -> bool:
        try:
            found = SimpleCookie(headers.one("cookie") or "").get(self._cookie_name)
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self._cookie.encode())


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._all = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]

    @property
    def size(self) -> int:
        return sum(len(name) + len(value) for name, value in self._all)

    def one(self, name: str) -> str | None:
        """The header, if there is one of it: of several none is believed."""
        found = [value for own, value in self._all if own == name]
        return found[0] if len(found) == 1 else None if not found else ""
