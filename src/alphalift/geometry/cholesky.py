"""Small positive definite systems in compiled kernels: a Cholesky factor in place, and solving with it.

The interior point's Newton systems have a few dozen unknowns, where calling LAPACK costs more than the loops.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import math

from alphalift.compiled import kernel


@kernel
def factorise(matrix):
    """The Cholesky factor into the lower triangle, the only part that is read; false if there is none in floats."""
    for i in range(len(matrix)):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] = total / matrix[j, j]
            elif total > 0.0:
                matrix[i, i] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def solve(factor, side):
    """Solve with a Cholesky factor; the solution takes the place of the right-hand side."""
    size = len(side)
    for i in range(size):
        for k in range(i):
            side[i] -= factor[i, k] * side[k]
        side[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            side[i] -= factor[k, i] * side[k]
        side[i] /= factor[i, i]
