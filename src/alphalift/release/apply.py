"""release: apply a mechanism to every record of a table, in constant memory, and remember it."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from alphalift.errors import InputError
from alphalift.release.book import Book, counted
from alphalift.release.engines import Done, Engine, Files, Here, Spark
from alphalift.release.entry import Entry
from alphalift.release.history import Told
from alphalift.release.keys import derived
from alphalift.release.ledger import Ledger
from alphalift.release.likeness import is_unlike
from alphalift.release.plan import Plan
from alphalift.release.public import Facts, codebook, manifest, public_name
from alphalift.release.trace import Trace
from alphalift.release.work import Seen
from alphalift.tables import SparkFrame, is_writable, like, names_a_file, open_table, refuse_formulas
from alphalift.whole import (
    require_file_place,
    require_new_folder,
    require_not,
    require_outside,
    whole_file,
    whole_folder,
)
from alphalift.workers import Workers


@dataclass(frozen=True)
class Released:
    """What was done: numbers of records and of unseen values, the table if not a file, and what accompanies it.

    `codebook` and `manifest` are public; `together` (what several releases tell), `unseen` and `notices` are for the
    steward alone. The table is of the kind that was given; a Spark frame is lazy. What was not counted is None.
    """

    rows: int | None
    unseen: int | None
    table: Any
    codebook: dict[str, Any]
    manifest: dict[str, Any]
    together: Told | None = None
    notices: list[str] = field(default_factory=list)


def release(plan: Plan, table: Any, *, out: str | Path | None = None, workers: Workers = None) -> Released:
    """Draw the output of every record and write ids and outputs to a file (.csv, .tsv, .parquet), or return them.

    The draw depends on the key, the mechanism, the namespace, the columns, the record's id and its value, and on nothing
    else: run it again, in any order, in parts, and every record has the output that it had. Codebook and manifest are
    written beside the output. The ledger knows of the release before anybody can see the output.

    A folder of Parquet files goes to a new folder if `out` has no such ending, file by file, by as many `workers` as told (those
    of `sweep`). A Spark frame becomes a lazy one, or with `out` a new folder of files that Spark's workers write.
    """
    if not isinstance(plan, Plan):
        raise InputError(
            f"a release follows a Plan, not {type(plan).__name__}: Plan(mechanism=..., key=..., record_id=...)"
        )
    engine, folder = _engine(plan, table, out, workers)
    if out is not None:
        _require_place(plan, table, out, folder=folder)
    entry = counted(plan, table)
    book = Book(plan, entry)
    book.require()
    if out is None or folder is None:
        done, public = _handed_out(plan, entry, engine, book)
    else:
        done, public = _written(plan, entry, engine, book, Path(out), folder=folder)
    seen = done.seen
    notices = book.notices + _notices(plan, seen, book.told)
    rows, unseen = (None, None) if seen is None else (seen.rows, seen.unseen)
    return Released(rows, unseen, _like(plan, table, done.table), *public, book.told, notices)


def _engine(plan: Plan, table: Any, out: str | Path | None, workers: Workers) -> tuple[Engine, bool | None]:
    """Who draws, and whether the output is a folder; None if it is nothing that appears whole here."""
    source = open_table(table, columns=plan.work().columns)
    files = out is not None and not names_a_file(Path(out)) and _is_folder(table)
    if workers is not None and not files:
        raise InputError(
            "workers share the files of a folder that is released to a new folder; there is no such work here"
        )
    if isinstance(source, SparkFrame):
        if plan.one_shot:
            raise InputError("a Spark frame is drawn again at every use, so it needs ids and a key, not one_shot=True")
        uri = str(out) if isinstance(out, str) and "://" in out else None
        return Spark(source, uri), None if uri is not None else True
    spill = _spill(plan, out)
    return (Files(source, spill, workers) if files else Here(source, spill)), files


def _is_folder(table: Any) -> bool:
    return isinstance(table, str | os.PathLike) and Path(table).is_dir()


def _spill(plan: Plan, out: str | Path | None) -> Path:
    """Beside what private data that does not fit into memory may lie for a while."""
    if out is not None:
        return Path(out)
    if plan.key is not None and plan.key.path is not None:
        return plan.key.path
    return Path(tempfile.gettempdir()) / "alphalift"


def _require_place(plan: Plan, table: Any, out: str | Path, *, folder: bool | None) -> None:
    """Fail before the work, and never write over the table, a key or a ledger."""
    texts = [text for texts in plan.outputs.written.values() for text in texts or ()]
    if folder is None:
        return
    path = Path(out)
    keys = [key for key in (plan.key, *plan.also) if key is not None and key.path is not None]
    precious = [key.path for key in keys if key.path is not None] + [Ledger.beside(key).path for key in keys]
    own = [Path(table)] if isinstance(table, str | os.PathLike) else []
    if isinstance(plan.ledger, Ledger):
        precious.append(plan.ledger.path)
    for place in (path, *written_beside(path)):
        require_not(place, [*own, *precious])
    if not folder:
        require_file_place(path)
        if not is_writable(path.name):
            raise InputError(f"{path.name}: expected a name that ends in .csv, .tsv (also .gz) or .parquet")
        refuse_formulas(path.name, texts)
        return
    if path.suffix not in ("", ".parquet"):
        raise InputError(
            f"{out}: a folder of Parquet files is written; expected a name that ends in .parquet, or nothing"
        )
    require_new_folder(path)
    for place in own:
        require_outside(path, place)


def written_beside(out: Path) -> list[Path]:
    """Where the codebook and the manifest of an output go."""
    return [out.with_name(f"{out.name}.{what}.json") for what in ("codebook", "manifest")]


Public = tuple[dict[str, Any], dict[str, Any]]


def _handed_out(plan: Plan, entry: Entry, engine: Engine, book: Book) -> tuple[Done, Public]:
    """A table in memory, a lazy frame, or what Spark writes itself: the release counts before anybody gets it."""
    done = engine.release(plan.work(), None, check=plan.checks_ids)
    public = _public(plan, entry, done.seen)
    book.begin(None, _trace(plan, done.seen))
    if done.write is not None:
        done.write()
    return done, public


def _written(plan: Plan, entry: Entry, engine: Engine, book: Book, out: Path, *, folder: bool) -> tuple[Done, Public]:
    """Files that appear whole: all that can fail comes before, and the entry is final with them."""
    mark = None
    beside = written_beside(out)
    try:
        with (  # what is left last appears first: nothing about an output is there before it
            whole_file(beside[1]) as two,
            whole_file(beside[0]) as one,
            whole_folder(out) if folder else whole_file(out) as part,
        ):
            book.begin(part)
            done = engine.release(plan.work(), part, check=plan.checks_ids)
            book.note(_trace(plan, done.seen))
            public = _public(plan, entry, done.seen)
            for place, content in zip((one, two), public, strict=True):
                place.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            mark = part.stat()
    except BaseException:
        appeared = False
        with suppress(OSError):
            appeared = mark is not None and os.path.samestat(mark, out.stat())
        book.finish() if appeared else book.withdraw()
        raise
    book.finish()
    return done, public


def _public(plan: Plan, entry: Entry, seen: Seen | None) -> Public:
    """Codebook and manifest."""
    key = plan.key
    name = None if key is None else public_name(derived(key.secret, "name"), plan.integers.identity)
    counts = None if seen is None else seen.counts.tolist()
    book = codebook(plan.integers, plan.outputs, name=name, counts=counts, designed_from=plan.mechanism.joint.total)
    about = ", ".join(entry.secret.columns) or "the secret"
    before = "" if plan.mechanism.after is None else ", for this release together with those that it was designed after"
    facts = Facts(
        mechanism=name,
        promise=f"about {about}: {plan.promise}{before}",
        columns=plan.variable.columns,
        bins=plan.variable.bins,
        written_as=tuple(plan.outputs.columns()),
        rows=None if seen is None else seen.rows,
        ids=plan.shown_ids,
        id_column=plan.record_id,
        ids_checked=plan.ids == "check",
        namespace=plan.namespace,
        kept=tuple(plan.keep),
        key=None if key is None else key.fingerprint,
        table=_table(plan, seen),
        earlier=0 if plan.mechanism.after is None else len(plan.mechanism.after.integers),
    )
    return book, manifest(facts)


def _table(plan: Plan, seen: Seen | None) -> str | None:
    """Who has the key and the table gets the same text again, whatever the order of its rows."""
    if plan.key is None or seen is None:
        return None
    return derived(plan.key.secret, "table", seen.rows, *map(int, seen.total))[:16].hex()


def _trace(plan: Plan, seen: Seen | None) -> Trace | None:
    """Whom the release is about, where somebody looked."""
    table = _table(plan, seen)
    return None if seen is None or table is None else Trace(tuple(map(int, seen.least)), (table,))


def _notices(plan: Plan, seen: Seen | None, together: Told | None) -> list[str]:
    """Sentences for whoever releases, not for the public."""
    found = []
    if together is not None:
        found.append(str(together))
    if seen is not None and seen.unseen:
        found.append(
            f"{seen.unseen} of {seen.rows} records had a value that the mechanism does not know and were answered by its law for "
            "those, which tells nothing about them"
        )
    if seen is not None and is_unlike(seen.counts.tolist(), plan.integers, plan.mechanism.joint):
        found.append(
            "the released outputs do not look like the table that was designed for: the promise holds for people like "
            "those of that table"
        )
    published = [name for name in plan.publish if name in plan.entry.secret.columns]
    found += [f"{name} is published as it is: nothing is promised about it any more" for name in published]
    if plan.keep:
        found.append("the promise covers the released column alone; what is kept beside it may tell the secret")
    if plan.one_shot:
        found.append("drawn with fresh randomness: a second release of the same people would undo the promise")
    if plan.ledger == "none" and not plan.one_shot:
        found.append("no ledger remembers this release: another one about the same people would not be noticed")
    return found


def _like(plan: Plan, table: Any, released: Any) -> Any:
    """pandas for pandas, polars for polars; pseudonyms are text, whatever ids were."""
    new = [str(plan.record_id)] if plan.shown_ids == "pseudonym" else []
    return like(table, released, new=new) if isinstance(released, pa.Table) else released
