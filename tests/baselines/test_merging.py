"""Watchdog merging by hand and as a law."""

import numpy as np
import pytest
from hypothesis import given

from alphalift import AlphaLift, Joint, MaxLift, design
from alphalift.baselines import CompleteMerging, SubsetMerging
from strategies import alphas, epsilons, joints

# x0 and x1 tell opposite stories, x2 and x3 as well but milder, x4 tells nothing.
TABLE = Joint([[9, 1, 7, 3, 10], [1, 9, 3, 7, 10]], counts=True)


def partition(solution):
    return sorted(tuple(map(int, np.flatnonzero(row))) for row in solution.mechanism.p_y_given_x)


def test_complete_merging_by_hand():
    assert partition(design(TABLE, MaxLift(0.2), solver=CompleteMerging())) == [(0, 1, 2, 3), (4,)]


def test_subset_merging_by_hand():
    """The worst symbol meets its opposite; the two mild ones meet each other."""
    assert partition(design(TABLE, MaxLift(0.2), solver=SubsetMerging())) == [(0, 1), (2, 3), (4,)]


def test_harmless_symbols_are_left_alone():
    assert partition(design(TABLE, MaxLift(5.0), solver=SubsetMerging())) == [(0,), (1,), (2,), (3,), (4,)]


def test_a_merged_set_that_still_breaks_the_promise_pulls_in_low_risk_symbols():
    """Only x0 is above the budget, so merging the high-risk set changes nothing; x2 lowers its value most."""
    joint = Joint([[30, 40, 130], [10, 50, 140]], counts=True)
    for solver in (CompleteMerging(), SubsetMerging()):
        assert partition(design(joint, MaxLift(0.2), solver=solver)) == [(0, 2), (1,)]


@given(joints(), alphas, epsilons)
def test_both_keep_every_promise(joint, alpha, epsilon):
    region = AlphaLift(alpha, epsilon)
    for solver in (CompleteMerging(), SubsetMerging()):
        assert design(joint, region, solver=solver).mechanism.check(region)


@pytest.mark.parametrize("solver", [CompleteMerging(), SubsetMerging()])
def test_zero_budget_merges_what_tells_anything(solver):
    assert design(TABLE, MaxLift(0), solver=solver).mechanism.check(MaxLift(0))
