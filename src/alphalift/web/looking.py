"""What a table looks like: its columns, what each tells about a secret, and the joint of a choice."""

from __future__ import annotations

import gzip
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from alphalift.errors import IdentifierError, InputError, TableError
from alphalift.joint import Joint
from alphalift.measures import entropy, epsilon_max, mutual_information
from alphalift.show.caution import cautions
from alphalift.show.text import printable
from alphalift.tables import open_table, read_joint
from alphalift.tables.endings import ending_of
from alphalift.tables.workbook import ENDINGS as WORKBOOKS
from alphalift.web.choice import Columns

# Of a file that was handed over: what it may unpack to, and how many columns and rows it may have.
MOST_UNPACKED_BYTES, MOST_COLUMNS, MOST_ROWS = 1 << 31, 2000, 100_000_000
_MOST_WORKBOOK_BYTES, _MOST_PARTS, _READ_BYTES = 1 << 28, 10_000, 1 << 20
# So many columns are looked at for what they tell.
_MOST_LOOKED_AT = 200
# Others wait so long for that at least.
_LEAST_SECONDS = 5.0
# More secrets or values than this are too many for a page.
MOST_SYMBOLS = 400


def look(given: dict[str, Any], tell: Callable[..., None], hurried: Callable[[], bool]) -> dict[str, Any]:
    """The columns' names."""
    path = Path(given["table"]["path"])
    if given["guarded"]:
        _require_no_bomb(path)
    names = _names(path)
    if len(names) > MOST_COLUMNS:
        raise TableError(
            f"{path} has {len(names):,} columns, of which a page shows {MOST_COLUMNS:,} at most; leave some out"
        )
    if len(set(names)) < len(names):
        raise TableError(f"{path} has columns of the same name; rename them")
    return {"columns": names}


def tells(given: dict[str, Any], tell: Callable[..., None], hurried: Callable[[], bool]) -> dict[str, Any]:
    """What every other column tells about the secret, in these records; as many as there are before somebody else waits."""
    secret, found, begun = list(given["sensitive"]), list[dict[str, Any]](), time.monotonic()
    others = [name for name in given["columns"] if name not in secret][:_MOST_LOOKED_AT]
    for number, name in enumerate(others):
        if hurried() and time.monotonic() - begun > _LEAST_SECONDS:
            break
        found.append({"column": name} | _told(given["table"]["path"], secret, name))
        tell({"found": found, "done": number + 1, "of": len(others)})
    return {"found": found, "left_out": len(others) - len(found)}


def count(given: dict[str, Any], tell: Callable[..., None], hurried: Callable[[], bool]) -> dict[str, Any]:
    """What is to be known of a choice of columns before anything is designed."""
    columns = Columns.of(given)
    joint = joint_of(given)
    names = {"secret": columns.secret_name, "useful": columns.useful_name}
    return {
        "records": joint.n,
        "secret": columns.secret_name,
        "useful": columns.useful_name,
        "secrets": [printable(label) for label in joint.s_labels],
        "shares": joint.p_s.tolist(),
        "values": len(joint.x_labels),
        "largest": {alpha: epsilon_max(joint, float(alpha)) for alpha in given["alphas"]},
        "cautions": [*columns.declared.said, *cautions(joint, **names)],
    }


_last: list[tuple[object, Joint]] = []


def joint_of(given: dict[str, Any]) -> Joint:
    """The joint of the columns; the last one is kept."""
    columns = Columns.of(given)
    asked = (given["table"]["path"], given["table"]["number"], columns)
    if not _last or _last[0][0] != asked:
        joint = columns.read(given["table"]["path"])
        if max(len(joint.s_labels), len(joint.x_labels)) > MOST_SYMBOLS:
            raise InputError(
                f"{len(joint.s_labels)} values of the secret and {len(joint.x_labels)} useful ones are too many for this page, which takes "
                f"{MOST_SYMBOLS}: declare bins, or use the command line"
            )
        _last[:] = [(asked, joint)]
    return _last[0][1]


def _told(table: str, secret: list[str], name: str) -> dict[str, Any]:
    try:
        joint = read_joint(table, sensitive=secret, useful=name)
    except IdentifierError:
        return {"identifier": True}
    except TableError:
        return {"unreadable": True}
    before = float(entropy(joint.p_s))
    share = min(mutual_information(joint.p_sx) / before, 1.0) if before > 0 else 0.0
    return {"values": len(joint.x_labels), "share": share, "largest_lift": float(joint.lift.max())}


def _names(path: Path) -> list[str]:
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        from pyarrow import parquet

        open_table(path, columns=[])  # refuses what is none, in our words
        files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        return list(parquet.read_schema(files[0]).names)
    source = open_table(path, columns=[])
    return list(source.header())  # type: ignore[union-attr]  # text and workbooks, which have one


def _require_no_bomb(path: Path) -> None:
    """Raise if the file would unpack to more than a page reads: it is looked at before anything is made of it."""
    ending, packed = ending_of(path)
    if packed:
        with gzip.open(path) as file:
            _require_size(path, file, MOST_UNPACKED_BYTES)
    elif ending in WORKBOOKS and zipfile.is_zipfile(path):
        _require_small_archive(path)
    elif ending in (".parquet", ".pq"):
        _require_few_rows(path)


def _require_size(path: Path, file: Any, most: int) -> int:
    size = 0
    try:
        while part := file.read(_READ_BYTES):
            size += len(part)
            if size > most:
                raise TableError(f"{path} unpacks to more than {most >> 20:,} MB, which is more than the page takes")
    except TableError:
        raise
    except Exception:  # of zlib, lzma, bz2, zipfile or the file
        raise TableError(f"{path} cannot be unpacked; is it whole?") from None
    return size


def _require_small_archive(path: Path) -> None:
    """Every part is unpacked and counted, since an archive's own list may lie."""
    left = _MOST_WORKBOOK_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if len(parts) > _MOST_PARTS or sum(own.file_size for own in parts) > left:
                raise TableError(f"{path} unpacks to more than {left >> 20:,} MB, which is more than the page takes")
            for own in parts:
                with archive.open(own) as file:
                    left -= _require_size(path, file, left)
    except TableError:
        raise
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile):
        raise TableError(f"{path} cannot be unpacked; is it whole, and without a password?") from None


def _require_few_rows(path: Path) -> None:
    from pyarrow import ArrowException, parquet

    try:
        about = parquet.read_metadata(path)
        cells = about.num_rows
    except (ArrowException, OSError):
        raise TableError(f"{path} cannot be read; is it whole, and really a Parquet file?") from None
    if cells > MOST_ROWS:
        raise TableError(f"{path} has {cells:,} rows, which is more than the page takes; the command line reads it")


ACTS = {"look": look, "tells": tells, "count": count}
