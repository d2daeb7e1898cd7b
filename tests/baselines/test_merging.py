"""Watchdog merging by hand and as a law."""

import numpy as np
import pytest
from hypothesis import given

from alphalift import AlphaLift, Joint, MaxLift, MutualInformation, design
from alphalift.baselines import CompleteMerging, GreedyMerging, SubsetMerging, XInvariant
from alphalift.measures import mutual_information
from strategies import alphas, epsilons, joints, random_joint

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


@given(joints(), alphas, epsilons)
def test_x_invariant_randomisation_is_worth_what_complete_merging_is(joint, alpha, epsilon):
    """Same posteriors, more names; and the released column has the marginal of X."""
    region = AlphaLift(alpha, epsilon)
    (merged,), (drawn,) = (b.solve(joint, [region], MutualInformation()) for b in (CompleteMerging(), XInvariant()))
    assert drawn.utility == pytest.approx(merged.utility, abs=1e-12)
    assert drawn.mechanism.worst_value(region) == pytest.approx(merged.mechanism.worst_value(region), rel=1e-12)
    np.testing.assert_allclose(drawn.mechanism.p_y, joint.p_x, atol=1e-14)


def test_greedy_merging_by_hand():
    """Opposites tell most when apart, so they are merged first; x4 keeps the promise, so it is left alone."""
    assert partition(design(TABLE, MaxLift(0.2), solver=GreedyMerging())) == [(0, 1), (2, 3), (4,)]
    assert partition(design(TABLE, MaxLift(0.5), solver=GreedyMerging())) == [(0, 1), (2,), (3,), (4,)]


def greedily_merged(joint, region):
    """The same rule, slowly: every pair's mutual informations from scratch."""
    parts = [(x,) for x in range(len(joint.x_labels))]

    def columns(parts, table):
        return np.stack([table[:, list(part)].sum(axis=1) for part in parts], axis=1)

    def keeps(part):
        return region.allows(
            (joint.lift[:, list(part)] @ joint.p_x[list(part)] / joint.p_x[list(part)].sum())[None], joint.p_s
        )[0]

    def merged(parts, one, other):
        return [part for part in parts if part not in (one, other)] + [tuple(sorted(one + other))]

    while not all(map(keeps, parts)):
        now = [mutual_information(columns(parts, table)) for table in (joint.p_sx, np.diag(joint.p_x))]

        def score(pair, parts=parts, now=now):
            then = [mutual_information(columns(merged(parts, *pair), t)) for t in (joint.p_sx, np.diag(joint.p_x))]
            return (now[0] - then[0]) / (now[1] - then[1])

        pairs = [(a, b) for a in parts for b in parts if a < b and not (keeps(a) and keeps(b))]
        parts = merged(parts, *max(pairs, key=score))
    return sorted(parts)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("epsilon", [0.1, 0.3])
def test_greedy_merging_follows_its_rule(seed, epsilon):
    joint = random_joint(seed, (4, 9))
    (solution,) = GreedyMerging().solve(joint, [MaxLift(epsilon)], MutualInformation())
    assert partition(solution) == greedily_merged(joint, MaxLift(epsilon))


def test_greedy_merging_of_two_hundred_values():
    joint, region = random_joint(0, (5, 200)), AlphaLift(10, 0.3)
    (solution,) = GreedyMerging().solve(joint, [region], MutualInformation())
    assert solution.mechanism.check(region)
    assert 0.8 < solution.normalized_utility < 1
