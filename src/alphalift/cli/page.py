"""`alphalift serve`: the local page."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from alphalift.errors import InputError
from alphalift.terminal import require_table


def serve_command(
    table: Annotated[
        Path | None,
        typer.Argument(help="The table to begin with, as for `design`; it stays where it is, and nothing is copied."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of this machine to listen on; 0 for any that is free.")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")] = False,
) -> None:
    """Open a page in the browser: choose columns, move alpha and epsilon, see what is kept and told, release, download.

    It is served to this machine alone, and nothing leaves the machine. Ctrl-C ends it.
    """
    if table is not None:
        require_table(table)
    if any(find_spec(need) is None for need in ("starlette", "uvicorn")):
        raise InputError("the page needs the extra: pip install 'alphalift[web]'; all else works without it")
    from alphalift.web.serve import serve

    serve(table, port=port, browser=not no_browser)
