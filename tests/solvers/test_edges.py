"""Mixtures of two symbols: against a fine grid of every segment, and the cheapest of them against all."""

import numpy as np
import pytest

from alphalift import KL, LDP, AlphaLift, MaxLift, MutualInformation, TotalVariation
from alphalift.clock import Clock
from alphalift.solvers import edges
from alphalift.solvers.edges import Edges
from strategies import random_joint

REGIONS = [AlphaLift(10, 0.2), AlphaLift(1.5, 0.02), MaxLift(0.2), LDP(0.3), TotalVariation(0.1), KL(0.02)]
GRID = np.linspace(0, 1, 4001)


def edges_of(joint, region):
    return Edges.of(joint, region, MutualInformation(), 2, Clock())


def ends_by_grid(joint, region, x, z):
    """The first and the last share of x that is allowed on a grid, where these are no symbols by themselves."""
    lifts = GRID[:, None] * joint.lift[:, x] + (1 - GRID[:, None]) * joint.lift[:, z]
    allowed = GRID[region.value(lifts, joint.p_s) <= region.budget]
    return [share for share in (allowed.min(), allowed.max()) if 0 < share < 1] if len(allowed) else []


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_every_segment_has_its_ends(region):
    joint = random_joint(2, (4, 9))
    found = edges_of(joint, region)
    compared = 0
    for x in range(9):
        for z in range(x + 1, 9):
            own = (found.first == x) & (found.second == z) | (found.first == z) & (found.second == x)
            shares = np.sort(np.where(found.first == x, found.share, 1 - found.share)[own])
            expected = ends_by_grid(joint, region, x, z)
            if len(shares) != len(expected):  # what is shorter than the grid's step is not seen there
                assert np.ptp(shares) < 1e-3
                continue
            assert shares == pytest.approx(expected, abs=3e-4)
            compared += len(expected)
    assert compared > 5
    points = found.cheapest(np.full(9, 1e3), 0.0)
    assert region.allows(points @ joint.lift.T, joint.p_s).all()


def test_the_cheapest_are_found_for_every_symbol():
    joint, utility = random_joint(3, (4, 12)), MutualInformation()
    found = edges_of(joint, MaxLift(0.3))
    prices = np.random.default_rng(0).normal(2.0, 0.5, 12)
    points = found.cheapest(prices, -0.1)
    everything = found._points(np.arange(len(found.costs)))
    reduced = utility.uncertainty(everything) - everything @ prices
    assert found.costs == pytest.approx(utility.uncertainty(everything))
    chosen = utility.uncertainty(points) - points @ prices
    assert chosen.max() < -0.1
    assert chosen.min() == pytest.approx(reduced.min())
    for x in set(found.first):
        best = reduced[found.first == x].min()
        if best < -0.1:
            assert chosen[points[:, x] > 0].min() <= best + 1e-12


def test_there_are_none_where_nothing_is_outside_or_privacy_is_perfect():
    joint = random_joint(4, (3, 6))
    for region in (MaxLift(50), AlphaLift(2, 0)):
        found = edges_of(joint, region)
        assert len(found.costs) == 0
        assert found.cheapest(np.ones(6), 0.0).shape == (0, 6)


def test_of_too_many_pairs_some_of_every_symbol_are_taken(monkeypatch):
    joint, region = random_joint(5, (3, 40)), MaxLift(0.1)
    everything = edges_of(joint, region)
    monkeypatch.setattr(edges, "_MOST_PAIRS", 200)
    some = edges_of(joint, region)
    assert 0 < len(some.costs) < len(everything.costs)
    assert (some.first != some.second).all()
    assert region.allows(some._points(np.arange(len(some.costs))) @ joint.lift.T, joint.p_s).all()


def test_no_time_leaves_none():
    found = Edges.of(random_joint(2, (4, 9)), MaxLift(0.2), MutualInformation(), 1, Clock(0))
    assert len(found.costs) == 0
