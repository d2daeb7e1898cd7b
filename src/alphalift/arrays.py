"""Arrays of floats: dense, or sparse where they are large and mostly 0; and how they are kept from changing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]
Rows: TypeAlias = "Array | csr_array"  # a matrix of which rows are read

# A matrix with fewer entries is small whatever it holds; a larger one is sparse if at most this share of it is not 0.
_SMALL, _SPARSE = 1 << 16, 0.25


def is_sparse(rows: object) -> TypeGuard[Any]:
    """Whether this is one of scipy's sparse arrays."""
    sparse = sys.modules.get("scipy.sparse")  # what nobody has loaded, nothing is made of
    return sparse is not None and bool(sparse.issparse(rows))


def row_means(rows: Array, p: Array) -> Array:
    """The mean of every row, (count, n), under one distribution for all, (n,), or one for each, (count, n)."""
    return np.asarray(rows @ p if p.ndim == 1 else np.einsum("...s,...s->...", rows, p))


def read_only(array: Array) -> Array:
    """The same array, locked: what exists stays valid."""
    array.setflags(write=False)
    return array


def locked(rows: Rows) -> Rows:
    """The same for rows of either kind."""
    if not is_sparse(rows):
        return read_only(np.asarray(rows))
    for part in (rows.data, rows.indices, rows.indptr):
        part.setflags(write=False)
    return rows


def compact(matrix: Rows) -> Rows:
    """The matrix in the form that suits its size and content; zeros are not stored in a sparse one."""
    count, size = matrix.shape
    filled = matrix.nnz if is_sparse(matrix) else np.count_nonzero(matrix)
    if count * size <= _SMALL or filled > _SPARSE * count * size:
        return matrix.toarray() if is_sparse(matrix) else matrix
    from scipy.sparse import csr_array

    sparse = csr_array(matrix, dtype=np.float64, copy=is_sparse(matrix))
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    return sparse


def dense(rows: Rows) -> Array:
    """As an array, which cannot be changed."""
    return read_only(rows.toarray()) if is_sparse(rows) else np.asarray(rows)


def entries(rows: Rows) -> Array:
    """All numbers, but for zeros that are not stored."""
    return np.asarray(rows.data if is_sparse(rows) else rows)


def scaled(rows: Rows, factors: Array | float, divisors: Array) -> Rows:
    """factors[y] rows[y, x] / divisors[x]."""
    if not is_sparse(rows):
        return np.asarray(np.reshape(factors, (-1, 1)) * rows / divisors)
    by_row = np.repeat(np.broadcast_to(factors, rows.shape[0]), np.diff(rows.indptr))
    from scipy.sparse import csr_array

    return csr_array((by_row * rows.data / divisors[rows.indices], rows.indices, rows.indptr), shape=rows.shape)


def supports(rows: Rows) -> Iterator[tuple[NDArray[np.int64], Array]]:
    """Where every row is not 0, rising, and what it is there."""
    if is_sparse(rows):
        for first, last in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            yield rows.indices[first:last], rows.data[first:last]
    else:
        for row in rows:
            support = np.flatnonzero(row)
            yield support, row[support]
