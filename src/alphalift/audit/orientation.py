"""Which way round a matrix with labels is: what its rows are is told, or seen from labels and sums; a guess is never made."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Literal

from alphalift.audit.channel import SUM_TOLERANCE, Channel
from alphalift.audit.matrices import Labelled, read_labelled
from alphalift.errors import InputError
from alphalift.joint import Joint

Rows = Literal["y", "x"]


def read_channel(path: str | Path, values: Collection[str], *, rows: Rows | None = None) -> tuple[Channel, Rows]:
    """P(Y|X) from a CSV file, and what its rows are: outputs (y) or values of X (x).

    Unless it is told, rows are what makes the columns of X have all `values` and sum to one; if both ways do, and differ, it has to be.
    """
    matrix = read_labelled(path)
    ways: dict[Rows, Labelled] = {"y": matrix, "x": matrix.transposed}
    if rows is None:
        fits = [way for way, own in ways.items() if set(values) <= set(own.columns)]
        if not fits:
            raise InputError(
                f"{path}: neither its columns nor its rows have all {len(values)} values of X as labels; are they written alike?"
            )
        good = [way for way in fits if _sums_to_one(ways[way])] or fits
        if len(good) > 1 and ways["x"] != ways["y"]:
            raise InputError(
                f"{path}: its rows may be outputs or values of X; say which they are, y or x, with rows (--rows)"
            )
        rows = good[0]
    return Channel.of_labelled(ways[rows]), rows


def _sums_to_one(matrix: Labelled) -> bool:
    return all(abs(sum(column) - 1) <= SUM_TOLERANCE for column in zip(*matrix.entries, strict=True))


def read_joint_matrix(path: str | Path, values: Collection[str] | None = None) -> Joint:
    """P_SX from a CSV file, whole numbers as counts: a row for each secret and a column for each value of X.

    The other way round is seen if the labels of X, `values`, are known and are those of its rows alone.
    """
    matrix = read_labelled(path)
    if values is not None and not set(matrix.columns) <= set(values) and set(matrix.rows) <= set(values):
        matrix = matrix.transposed
    return Joint(matrix.entries, matrix.rows, matrix.columns, counts=matrix.whole)
