"""A folder of Parquet files released file by file, in parallel; the new folder appears whole or not at all."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

from alphalift.errors import InputError, TableError
from alphalift.release.keyed import KEY_BYTES, rise_together
from alphalift.release.local import Seen, refuse_two_values, release_table
from alphalift.release.records import EmptyTableError, Plan
from alphalift.tables import Source
from alphalift.whole import require_new_folder, whole_folder
from alphalift.workers import Crew, Workers


def refuse_folder(out: Path, table: Path) -> None:
    """Raise unless `out` can be a new folder beside the table's."""
    require_new_folder(out)
    if table.resolve() in out.resolve().parents:
        raise InputError(f"{out} lies inside the table's own folder, where it would be read as a part of the table")


def release_folder(source: Source, plan: Plan, *, check: bool, out: Path, workers: Workers) -> Seen:
    """What was seen; `out` gets a file for every file of the folder that has rows, numbered in the order of their names.

    Numbered, because names of files and folders may be values of other columns. Workers read and write the files
    themselves: those of a cluster need both places on a disk that they share.
    """
    parts = source.parts
    with whole_folder(out) as folder, Crew[int](workers, most=len(parts), usual=len(parts)) as crew:
        for number, part in enumerate(parts):
            # Without ids a record's number in its file stands for one; then every file has a key of its own.
            own = plan if plan.record_id is not None else replace(plan, key=secrets.token_bytes(KEY_BYTES))
            crew.submit(number, _release_part, part, own, (folder / f"part-{number:05d}.parquet").absolute())
        seen: list[Seen] = [part for _, part in crew.results()]
        rows = sum(part.rows for part in seen)
        if not rows:
            raise EmptyTableError
        if check and not rise_together([part.order for part in seen]):  # before anybody can see the output
            refuse_two_values(source, plan)
    return Seen(rows, sum(part.unseen for part in seen))


def _release_part(source: Source, plan: Plan, out: Path) -> Seen:
    try:
        # Ids are compared later, with those of the other files.
        return release_table(source, plan, check=False, out=out)[0]
    except EmptyTableError:
        return Seen()
    except TableError as error:
        named = str(error).startswith(source.name)
        raise TableError(str(error) if named else f"{source.name}: {error}") from None
