"""Start the server: on this machine alone, behind a link that works once."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import webbrowser
from pathlib import Path

import uvicorn

from alphalift.errors import InputError
from alphalift.web.app import page_app
from alphalift.web.guard import Guard
from alphalift.web.place import Place

ADDRESS = "127.0.0.1"
# What a request's head may have, how many may be open, and what of them an end waits for.
_HEAD_BYTES, _OPEN_REQUESTS, _LAST_SECONDS = 16 << 10, 64, 1


def serve(table: Path | None, *, port: int, browser: bool) -> None:
    """Until Ctrl-C."""
    try:
        listening = socket.create_server((ADDRESS, port))
    except OSError:
        raise InputError(f"port {port} is taken, or not yours; choose another one, or leave --port out") from None
    with listening, contextlib.closing(Place()) as place:
        port = listening.getsockname()[1]
        app = page_app(place, *((None, None) if table is None else (table.absolute(), str(table))))
        guard = Guard(app, port)
        link = f"http://{ADDRESS}:{port}/?token={guard.token}"
        print(
            f"The page is at {link}\nIt is for this machine alone, and the link works once. Ctrl-C ends it.", flush=True
        )
        if browser:
            webbrowser.open(place.leading_to(link).as_uri())
        config = uvicorn.Config(
            guard,
            http="h11",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=_HEAD_BYTES,
            limit_concurrency=_OPEN_REQUESTS,
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
        logging.getLogger("uvicorn.error").disabled = True  # a traceback may have what was sent
        _end_as_by_ctrl_c()
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def _end_as_by_ctrl_c() -> None:
    """A request to end and a closed terminal end the page as Ctrl-C does: with everything put away.

    The server takes SIGTERM for itself while it runs, and sends it once more to whoever had it before when it has ended.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
