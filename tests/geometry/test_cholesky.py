"""The Cholesky factor in place, against numpy's."""

import numpy as np
import pytest

from alphalift.geometry import cholesky


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 41])
def test_factor_and_solution_are_numpys(size):
    generator = np.random.default_rng(size)
    for scale in (1e-6, 1.0, 1e6):
        root = generator.normal(size=(size, size + 2)) * scale
        matrix, side = root @ root.T, generator.normal(size=size)
        factor = np.tril(matrix) + np.triu(np.full((size, size), np.nan), 1)  # the upper triangle must not be read
        assert cholesky.factorise(factor)
        np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), rtol=1e-7, atol=1e-9 * scale)
        solution = side.copy()
        cholesky.solve(factor, solution)
        np.testing.assert_allclose(matrix @ solution, side, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("matrix", [[[0.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[np.nan]]])
def test_what_is_not_positive_definite_has_no_factor(matrix):
    assert not cholesky.factorise(np.array(matrix))
