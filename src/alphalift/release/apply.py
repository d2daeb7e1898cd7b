"""release: apply a mechanism to every record of a table, in constant memory, the same for ever."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from alphalift.errors import InputError
from alphalift.joint import Joint
from alphalift.proof import Integers
from alphalift.release.folder import refuse_folder, release_folder
from alphalift.release.keyed import KEY_BYTES
from alphalift.release.ledger import Composition, Ledger
from alphalift.release.local import release_table
from alphalift.release.records import Plan
from alphalift.release.spark import refuse_place, release_frame
from alphalift.tables import Columns, SparkFrame, names_a_file, open_table, refuse_formulas
from alphalift.workers import Workers

ONE_NAMESPACE = "default"


class Proven(Protocol):
    """A proven mechanism and its joint: a `Solution` of `design`, or a file that `load` has proven again."""

    @property
    def integers(self) -> Integers | None: ...

    @property
    def joint(self) -> Joint: ...


@dataclass(frozen=True)
class Released:
    """What was done: the number of records, of those with an unseen value, what composes, and the table if not a file.

    The table of a Spark frame is one, too, and lazy; what was not counted before it is None.
    """

    rows: int | None
    unseen: int | None
    table: Any
    composition: Composition | None


def release(
    mechanism: Proven,
    table: Any,
    *,
    useful: Columns,
    record_id: str | None,
    key: bytes | None,
    namespace: str = ONE_NAMESPACE,
    ids: Literal["check", "unique"] = "check",
    unseen: Literal["refuse", "answer"] = "refuse",
    bins: Mapping[str, Sequence[float]] | None = None,
    keep: Sequence[str] = (),
    with_ids: bool = True,
    ledger: Ledger | None = None,
    new_release: bool = False,
    one_shot: bool = False,
    out: str | Path | None = None,
    workers: Workers = None,
) -> Released:
    """Draw the output of every record and write ids and outputs to a file (.csv, .tsv, .parquet), or return them.

    The draw depends on the key, the mechanism, the namespace, the record's id and its value, and on nothing else: run it
    again, in any order, in parts, and every record has the output that it had. An id that occurs with two values would be
    answered twice, so that is checked before the output appears (`ids="unique"` trusts the caller): ids in rising order
    cannot repeat, others are compared in a second pass, out of core. `one_shot` needs neither ids nor key and
    draws fresh randomness: never do it twice for the same people. Values that the mechanism does not know are refused,
    or with `unseen="answer"` answered by its proven law for them. `keep` copies other columns, which no promise covers.

    A folder of Parquet files goes to a new folder if `out` has no such ending, file by file, by as many `workers` as told (those
    of `sweep`). A Spark frame becomes a lazy one, or with `out` a new folder of files that Spark's workers write.
    """
    integers = _releasable(mechanism, unseen)
    if {record_id is None, key is None} != {one_shot}:
        raise InputError(
            "a release needs the column that identifies a record and a key, so that a record is never answered twice "
            "with fresh randomness; without ids it can be done once and never again: one_shot"
        )
    plan = Plan(
        secrets.token_bytes(KEY_BYTES) if key is None else key,
        integers,
        namespace,
        [useful] if isinstance(useful, str) else list(useful),
        bins,
        record_id,
        list(keep),
        with_ids and record_id is not None,
        unseen == "answer",
    )
    if plan.output_name in plan.columns:
        raise InputError(f"the released column is called {plan.output_name!r}, and so is one that is read; rename it")
    source = open_table(table, columns=plan.columns)
    check = ids == "check" and not one_shot
    folder = _folder_for_folder(table, out)
    if workers is not None and folder is None:
        raise InputError(
            "workers share the files of a folder that is released to a new folder; there is no such work here"
        )
    if isinstance(source, SparkFrame) and one_shot:
        raise InputError("a Spark frame is drawn again at every use, so it needs ids and a key; one_shot is not for it")
    if out is not None:
        if isinstance(source, SparkFrame):
            refuse_place(out)
        elif folder is not None:
            refuse_folder(Path(out), folder)
        else:
            refuse_formulas(Path(out).name, integers.labels["y"])
    composition = None
    if ledger is not None and not one_shot:
        # Before any output exists: what is not written down is not released.
        composition = ledger.admit(namespace, integers, mechanism.joint, new_release=new_release)
    if isinstance(source, SparkFrame):
        return Released(*release_frame(source, plan, check=check, out=out), composition)
    if out is not None and folder is not None:
        seen, released = release_folder(source, plan, check=check, out=Path(out), workers=workers), None
    else:
        seen, released = release_table(source, plan, check=check, out=None if out is None else Path(out))
    return Released(seen.rows, seen.unseen, released, composition)


def _folder_for_folder(table: Any, out: str | Path | None) -> Path | None:
    """The table's folder, if its files go to a new folder and not to one file."""
    if out is None or names_a_file(Path(out)) or not isinstance(table, str | os.PathLike):
        return None
    return Path(table) if Path(table).is_dir() else None


def _releasable(mechanism: Proven, unseen: str) -> Integers:
    """The integers that were proven, if there are any and they can do what is asked."""
    integers = mechanism.integers
    if integers is None:
        raise InputError("only a proven mechanism is released; this one has no integers (see design and prove)")
    if unseen == "answer" and integers.unseen is None:
        raise InputError("this mechanism has no law for unseen values; they can only be refused")
    return integers
