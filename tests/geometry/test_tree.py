"""A tree bounded again: the same at the same prices, valid at others, and no feasible point falls through."""

import numpy as np
import pytest
from pricing_problems import KINDS, objective, problem

from alphalift.geometry.concave import Search
from alphalift.geometry.parametric import vertex_paths


def grown(case, prices, threshold, rounds=6):
    search = Search(case.program, prices, threshold)
    for _ in range(rounds):
        if not search.finished:
            search.grow(16)
    return search


def assert_sound(certificate, points, prices):
    """Walk every feasible point down: it ends in a leaf that bounds it, or in a slab that is above the threshold."""
    values = objective(points, prices)
    trimmed = 0
    for point, value in zip(points, values, strict=True):
        node = 0
        while True:
            inside = ((certificate.low[node] <= point) & (point <= certificate.high[node])).all()
            if not inside:
                trimmed += 1
                assert value >= certificate.threshold - 1e-12
                break
            if not certificate.child[node]:
                assert certificate.bound[node] <= value + 1e-12
                break
            below = point[certificate.symbol[node]] <= certificate.split_at[node]
            node = certificate.child[node] + (0 if below else 1)
    return trimmed


@pytest.mark.parametrize("kind", KINDS)
def test_every_feasible_point_is_in_a_leaf_that_bounds_it(kind):
    generator = np.random.default_rng(7)
    case = problem(kind, 3)
    points = case.feasible(generator, 400)
    prices = generator.normal(size=6)
    search = grown(case, prices, float(np.quantile(objective(points, prices), 0.3)))
    trimmed = assert_sound(search.certificate(), points, prices)
    for change in (0.1, 0.3, 1.0, 1.0):
        prices = prices + change * generator.normal(size=6)
        search.change_prices(prices)
        assert search.lower_bound <= objective(points, prices).min() + 1e-12
        trimmed += assert_sound(search.certificate(), points, prices)
        if not search.finished:
            search.grow(16)
    assert trimmed > 0


@pytest.mark.parametrize("kind", KINDS)
def test_at_the_same_prices_nothing_changes(kind):
    """Boxes are split and trimmed by the same duals, so they are the same bits, and so are the open leaves.

    A bound may be another in its last digits: an inherited dual replaces a node's own where that is as good up to rounding.
    """
    generator = np.random.default_rng(8)
    case = problem(kind, 4)
    prices = generator.normal(size=6)
    threshold = float(np.quantile(objective(case.feasible(generator, 100), prices), 0.3))
    search = grown(case, prices, threshold)
    before, lower = search.certificate(), search.lower_bound
    search.change_prices(prices)
    after = search.certificate()
    assert len(before.bound) > 10
    for name in ("low", "high", "child"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
    np.testing.assert_allclose(after.bound, before.bound, rtol=1e-13)
    assert search.lower_bound == pytest.approx(lower, rel=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_a_replayed_bound_is_below_the_least_vertex(seed):
    """Max-lift: the feasible set is a polytope, and a concave function is least at one of its vertices."""
    generator = np.random.default_rng(seed)
    case = problem("half-spaces", seed)
    tau = case.region.budget - 1
    vertices = vertex_paths(case.joint.lift - 1).at(tau)
    prices = generator.normal(size=6)
    least = objective(vertices, prices).min()
    search = grown(case, prices, least - 1e-3, rounds=200)
    assert search.finished
    assert least - 1e-3 <= search.lower_bound <= least
    for size in (1e-3, 0.05, 0.5):
        prices = prices + size * generator.normal(size=6)
        search.change_prices(prices)
        assert search.lower_bound <= objective(vertices, prices).min() + 1e-12
    least = objective(vertices, prices).min()
    if not search.finished:
        assert search.lower_bound < least
