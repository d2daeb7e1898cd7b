"""What leaves the page: the released table with what accompanies it, and reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from alphalift.document import load
from alphalift.given import write_text
from alphalift.release import Plan, read_key, release, written_beside
from alphalift.release.ledger import new_key
from alphalift.report import Filed, ReleasedRows, Shared, internal_report, public_report
from alphalift.terminal import in_options
from alphalift.web.same import MECHANISM, PUBLIC, RELEASED, REPORT


def apply(given: dict[str, Any], tell: Callable[..., None], hurried: Callable[[], bool]) -> dict[str, Any]:
    """The table released with a design, under the page's own key; without ids once, with fresh randomness."""
    folder, record_id = Path(given["folder"]), given["id"]
    tell({"notice": "Proving the mechanism again"})
    stored = load(folder / MECHANISM)
    key = None
    if record_id:
        place = Path(given["key"])
        key = read_key(place) if place.exists() else new_key(place)
    plan = Plan(
        mechanism=stored,
        key=key,
        record_id=record_id or None,
        one_shot=not record_id,
        new_release=given["new_release"],
    )
    tell({"notice": "Drawing every record's output"})
    out = folder / RELEASED
    done = release(plan, given["table"]["path"], out=out)
    return {
        "rows": done.rows,
        "promise": done.manifest["promise"],
        "ids": done.manifest["ids"] if record_id else "",
        "notices": [in_options(notice) for notice in done.notices],
        "files": [place.name for place in (out, *written_beside(out))],
    }


def report(given: dict[str, Any], tell: Callable[..., None], hurried: Callable[[], bool]) -> dict[str, Any]:
    """Both reports, about the released table as well if there is one."""
    folder = Path(given["folder"])
    tell({"notice": "Proving the mechanism again"})
    filed = Filed.read(folder / MECHANISM)
    rows = ReleasedRows.read(folder / RELEASED, filed) if (folder / RELEASED).exists() else None
    tell({"notice": "Writing the reports"})
    internal = internal_report(filed, file=MECHANISM, released=rows, curve_seconds=0.0)
    write_text(folder / REPORT, internal, private=True)
    write_text(folder / PUBLIC, public_report(Shared.of(filed, rows), released=rows), private=True)
    return {"files": [REPORT, PUBLIC]}


ACTS = {"apply": apply, "report": report}
