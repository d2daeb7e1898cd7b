"""The server's addresses: each checks what it is asked, and hands on."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from alphalift.data import adult
from alphalift.errors import AlphaliftError, InputError
from alphalift.regions import AlphaLift
from alphalift.web import same
from alphalift.web.choice import Choice, Columns, digits_of, text_of
from alphalift.web.lane import Job
from alphalift.web.live import kept_words
from alphalift.web.page import ALPHAS, Page, UnknownError
from alphalift.web.place import MOST_UPLOADED_BYTES, Place, TooLargeError, shown_name, table_ending

_MOST_JSON_BYTES, _WAIT = 64 << 10, 10.0
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
# The browser's side, by name; no name of a request ever becomes a path.
STATIC = {
    own.name: own for own in files("alphalift.web").joinpath("static").iterdir() if Path(own.name).suffix in _TYPES
}
# What may be downloaded of a design. Whether it is private is said in the page.
FILES = (
    same.MECHANISM,
    same.REPORT,
    same.PUBLIC,
    same.RELEASED,
    f"{same.RELEASED}.codebook.json",
    f"{same.RELEASED}.manifest.json",
)
KEYS = (same.KEY, f"{same.KEY}.ledger")


def page_app(place: Place, table: Path | None, typed: str | None) -> Starlette:
    """The application with its private folder; a table is opened at once."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.page = Page(place)
        try:
            if table is None:
                app.state.page.warm()
            else:
                app.state.page.open(table, shown_name(table.name), typed=typed)
            yield
        finally:
            app.state.page.close()

    routes = [Route(f"/{'' if own == 'page.html' else own}", _static(own)) for own in STATIC]
    routes += [Route(f"/api/{own}", act, methods=["POST"]) for own, act in _ASKED.items()]
    routes += [
        Route("/api/table", _upload, methods=["POST"]),
        Route("/api/state", _state),
        Route("/api/jobs/{number:int}", _job),
        Route("/api/files/{number:int}/{name}", _file),
        Route("/api/same/{number:int}", _same),
    ]
    handlers: dict[Any, Callable[..., Any]] = {AlphaliftError: _wrong, HTTPException: _refused, OSError: _wrong}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


def _page(request: Request) -> Page:
    page: Page = request.app.state.page
    return page


# --- what is read ---


def _static(name: str) -> Callable[[Request], Any]:
    content, kind = STATIC[name].read_bytes(), _TYPES[Path(name).suffix]

    async def act(_: Request) -> Response:
        return Response(content, media_type=kind)

    return act


async def _state(request: Request) -> Response:
    page = _page(request)
    table = page.table
    look = next(iter(page.latest("look")), None)
    return JSONResponse(
        {
            "table": None if table is None else {"number": table.number, "name": table.name},
            "look": None if look is None else look.number,
            "alphas": ALPHAS,
            "most": MOST_UPLOADED_BYTES,
            "key": (page.place.folder / same.KEY).exists(),
        }
    )


async def _job(request: Request) -> Response:
    """What has become of a job; with `seen` it waits for more than so many changes."""
    job = _page(request).job(request.path_params["number"])
    seen = request.query_params.get("seen", "")
    if seen.isascii() and seen.isdecimal() and len(seen) < 10:
        await job.changed(int(seen), _WAIT)
    return JSONResponse(_told(job))


def _told(job: Job) -> dict[str, Any]:
    """Of a curve what is drawn; its stairs stay here."""
    told = job.told
    if job.kind == "curve":
        for part in ("progress", "result"):
            known = told[part] or {}
            told[part] = {own: known[own] for own in known if own not in ("epsilons", "lower", "upper")} or told[part]
    return told


async def _file(request: Request) -> Response:
    page, name = _page(request), request.path_params["name"]
    job = page.design(request.path_params["number"])
    if name in ("design.sh", "design.py"):
        content = _shell(page, job) if name == "design.sh" else same.script(_choice(job), _table_name(page))
        return Response(content, media_type="text/plain", headers=_attached(name))
    if name in FILES:
        path = page.folder(job.number) / name
    elif name in KEYS:
        path = page.place.folder / name
    else:
        raise UnknownError("there is no such file")
    if not path.is_file():
        raise UnknownError("that file is not made yet")
    return FileResponse(path, media_type="application/octet-stream", headers=_attached(name))


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


async def _same(request: Request) -> Response:
    page = _page(request)
    job = page.design(request.path_params["number"])
    lines = same.commands(_choice(job), _table_name(page), released=_released(page, job))
    return JSONResponse({"commands": lines, "script": same.script(_choice(job), _table_name(page))})


def _shell(page: Page, job: Job) -> str:
    return same.shell(_choice(job), _table_name(page), released=_released(page, job))


def _released(page: Page, job: Job) -> dict[str, str] | None:
    """With which id column the design's table was released, if it was."""
    for own in page.latest("apply"):
        if own.state == "done" and own.task["with"]["design"] == job.number:
            return {"id": own.task["with"]["id"]}
    return None


def _choice(job: Job) -> Choice:
    return Choice.of(job.task["with"])


def _table_name(page: Page) -> str:
    return "" if page.table is None else page.table.typed


# --- what is asked for ---


async def _upload(request: Request) -> Response:
    """The body is the file; its name is told, and only its ending is used."""
    page, told = _page(request), request.query_params.get("name", "")
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdecimal() and int(length) > MOST_UPLOADED_BYTES:
        raise TooLargeError
    if request.headers.get("content-type") != "application/octet-stream":
        raise InputError("a table is sent as application/octet-stream")
    ending = table_ending(told)
    page.forget_table()
    begun = page.openings
    path = await page.place.take_in(ending, request.stream())
    if page.openings != begun:
        page.place.remove(path)
        raise UnknownError("another table was opened while this one was sent; open it again")
    return JSONResponse({"job": page.open(path, shown_name(told), guarded=True).number})


async def _census(page: Page, _: dict[str, Any]) -> dict[str, Any]:
    return {"job": page.open(adult(), "adult.csv.gz", typed=str(adult())).number}


async def _tells(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    look = page.job(asked.get("look"), "look").result
    if look is None:
        raise UnknownError("the table is not read yet")
    secret = asked.get("sensitive")
    if not isinstance(secret, list) or not secret or not all(own in look["columns"] for own in secret):
        raise InputError("choose a secret column of the table")
    others = asked.get("of")
    if not isinstance(others, list) or not all(own in look["columns"] for own in others):
        raise InputError("of must be columns of the table")
    return {"job": page.add("tells", {"sensitive": secret, "columns": others}).number}


async def _count(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    return {"job": page.add("count", _columns(page, asked) | {"alphas": list(ALPHAS)}).number}


async def _curve(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    alpha = digits_of(asked, "alpha")
    AlphaLift(alpha, "0")  # type: ignore[arg-type]
    return {"job": page.add("curve", _columns(page, asked) | {"alpha": alpha}).number}


async def _live(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    """What the slider says, at once: nothing is computed for it but a few factors."""
    region = AlphaLift(digits_of(asked, "alpha"), digits_of(asked, "epsilon"))  # type: ignore[arg-type]
    groups = page.groups(asked.get("count"))
    counted = page.job(asked.get("count"), "count").result or {}
    told: dict[str, Any] = {"risk": groups.risk(region), "gain": groups.gain(region, groups.rarest)}
    stairs = page.stairs(asked["curve"]) if asked.get("curve") is not None else None
    if stairs is not None and _is_of_these(page, asked):
        lower, upper = stairs.at(region.epsilon)
        told |= {"lower": lower, "upper": upper, "kept": kept_words(lower, upper, counted["useful"])}
    return told


def _is_of_these(page: Page, asked: dict[str, Any]) -> bool:
    """Whether the curve is about the columns that were counted and this alpha; a browser may still have another one."""
    counted, drawn = (page.job(asked.get(own), own).task["with"] for own in ("count", "curve"))
    same = all(counted[own] == drawn[own] for own in ("sensitive", "useful", "bins", "drop_missing"))
    return same and drawn["alpha"] == asked["alpha"]


async def _keep(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    """The least epsilon of the curve that keeps a share, rounded up, and what is known of smaller ones."""
    share, stairs = asked.get("share"), page.stairs(asked.get("curve"))
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share <= 1:
        raise InputError("the share to keep is a number above 0 and at most 1")
    if stairs is None:
        raise UnknownError("the curve is not known yet")
    found = stairs.least_epsilon(float(share))
    if found is None:
        return {"epsilon": None}
    return {
        "epsilon": f"{math.ceil(found * 1e4 - 1e-9) / 1e4:.4f}".rstrip("0").rstrip("."),
        "fails": stairs.not_below(float(share)),
    }


async def _design(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    choice = Choice.of(asked)
    more = {"alpha": choice.alpha, "epsilon": choice.epsilon, "everybody": choice.everybody}
    return {"job": page.add("design", _columns(page, asked) | more).number}


async def _apply(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    job, own = page.design(asked.get("design")), asked.get("id")
    record_id = "" if own == "" else text_of(asked, "id")
    if not isinstance(asked.get("new_release"), bool):
        raise InputError("new_release must be true or false")
    page.require_first(keyed=bool(record_id), again=asked["new_release"])
    task = {"design": job.number, "id": record_id, "new_release": asked["new_release"] and bool(record_id)}
    places = {"folder": str(page.folder(job.number)), "key": str(page.place.folder / same.KEY)}
    return {"job": page.add("apply", task | places).number}


async def _report(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    job = page.design(asked.get("design"))
    return {"job": page.add("report", {"folder": str(page.folder(job.number))}).number}


async def _stop(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    job = page.job(asked.get("job"))
    page.stop(job)
    return {"state": job.state}


def _columns(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    """What is asked about, by a browser that knows which table is open: another tab may have opened another one."""
    own = Columns.of(asked)
    page.job(asked.get("look"), "look")
    lists = {name: list(getattr(own, name)) for name in ("sensitive", "useful", "bins")}
    return lists | {"drop_missing": own.drop_missing}


def _posted(act: Callable[[Page, dict[str, Any]], Any]) -> Callable[[Request], Any]:
    """An address that takes one object of JSON and gives one."""

    async def answer(request: Request) -> Response:
        return JSONResponse(await act(_page(request), await _json(request)))

    return answer


async def _json(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type") != "application/json":
        raise InputError("expected application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_JSON_BYTES:
            raise HTTPException(413)
    try:
        asked = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InputError("that is not JSON") from None
    if not isinstance(asked, dict):
        raise InputError("expected an object")
    return asked


def _no_number(name: str) -> None:
    raise ValueError(name)


# --- what goes wrong ---


async def _wrong(_: Request, error: Exception) -> Response:
    from alphalift.terminal import in_words

    code = 413 if isinstance(error, TooLargeError) else 404 if isinstance(error, UnknownError) else 400
    # What is still being sent of too much is not read.
    return JSONResponse({"error": in_words(error)}, code, {"connection": "close"} if code == 413 else None)


async def _refused(_: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    close = {"connection": "close"} if code == 413 else None
    return JSONResponse(
        {"error": {404: "there is nothing here", 413: "too much"}.get(code, "not allowed")}, code, close
    )


_ASKED = {
    "census": _posted(_census),
    "tells": _posted(_tells),
    "count": _posted(_count),
    "curve": _posted(_curve),
    "live": _posted(_live),
    "keep": _posted(_keep),
    "design": _posted(_design),
    "apply": _posted(_apply),
    "report": _posted(_report),
    "stop": _posted(_stop),
}
