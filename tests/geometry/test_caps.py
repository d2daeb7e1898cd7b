"""Caps: no feasible V has more of a symbol, the duals prove it, and a search below them is as sound as any."""

import numpy as np
import pytest
from pricing_problems import KINDS, objective, problem

from alphalift.geometry.caps import Caps
from alphalift.geometry.concave import Search


@pytest.mark.parametrize("kind", KINDS)
def test_no_feasible_point_lies_above_a_cap_and_one_comes_near(kind):
    case = problem(kind, 5)
    caps = Caps.of(case.program.feasible)
    points = case.feasible(np.random.default_rng(1), 400)
    assert (points <= caps.high + 1e-9).all()
    np.testing.assert_allclose(caps.points.sum(axis=1), 1, atol=1e-9)
    assert (np.diag(caps.points) >= caps.high / 1.02).all(), "a cap lies a hundredth above what was found"


@pytest.mark.parametrize("kind", KINDS)
def test_caps_are_proven_at_any_prices(kind):
    generator = np.random.default_rng(2)
    case = problem(kind, 6)
    caps, points = Caps.of(case.program.feasible), case.feasible(generator, 400)
    below = 0
    for _ in range(5):
        prices = generator.normal(size=6)
        search = Search(case.program, prices, -1e-3, caps=caps)
        high, duals = caps.proven(case.program.at(prices), -1e-3, np.zeros(caps.duals.shape[1]))
        below += (high < 1).sum()
        assert duals.shape == caps.duals.shape
        for _ in range(20):
            if not search.finished:
                search.grow(16)
        assert search.lower_bound <= objective(points, prices).min() + 1e-12
        certificate = search.certificate()
        assert all(certificate.high[0, x] < 1 for x, _ in certificate.caps)
    assert below > 0
