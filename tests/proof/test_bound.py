"""The certificate's bound: no allowed posterior lies below what it proves."""

import itertools
import math

import examples
import numpy as np
import pytest

from alphalift import AlphaLift, Optimal, design
from alphalift.document import to_document
from alphalift.proof import checker

GAP = 1e-3
CASES = [
    (examples.uniform(0, 3, 3), AlphaLift(2, 0.1)),
    (examples.uniform(1, 3, 3), AlphaLift(math.inf, 0.1)),
    (examples.uniform(2, 4, 4), AlphaLift(10, 0.2)),
    (examples.uniform(3, 2, 4), AlphaLift(3, 0.02)),
]


def simplex_grid(size, steps):
    """Every distribution of `size` symbols in multiples of 1 / steps."""
    bars = np.array(list(itertools.combinations(range(steps + size - 1), size - 1)))
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), steps + size - 1)
    return (np.diff(np.column_stack([ends[0], bars, ends[1]])) - 1) / steps


def sample(joint, region, rng):
    """Allowed posteriors: of a grid, and of random directions from P_X as far as the promise allows."""
    size = len(joint.p_x)
    grid = simplex_grid(size, 120 if size == 3 else 40)
    sparse = rng.dirichlet(np.full(size, 0.2), 4000)
    for _ in range(200):  # toward P_X in small steps until allowed, so that they end near the boundary
        outside = ~region.allows(sparse @ joint.lift.T, joint.p_s)
        sparse[outside] += 0.02 * (joint.p_x - sparse[outside])
    points = np.concatenate([grid, sparse])
    return points[region.allows(points @ joint.lift.T, joint.p_s)]


def entropies(points):
    return -(points * np.log(np.where(points > 0, points, 1))).sum(axis=1)


@pytest.mark.parametrize(("joint", "region"), CASES)
def test_no_allowed_posterior_is_below_the_bound(joint, region):
    document = to_document(design(joint, region, solver=Optimal(relative_gap=GAP, threads=1)))
    counts, certificate = document["joint"]["counts"], document["certificate"]
    prices = np.array(certificate["prices"]) / 2 ** certificate["bits"]
    bound = float(checker.optimum_bound([counts], checker.promise_of(document["promise"]), certificate).mid())
    least = float(entropies(joint.p_x[None])[0] - prices @ joint.p_x - bound)
    points = sample(joint, region, np.random.default_rng(0))
    values = entropies(points) - points @ prices
    assert len(points) > 300
    assert values.min() >= least - 1e-12
    # The bound is not below all of them by far, or the test would see nothing.
    assert values.min() <= least + 0.02


@pytest.mark.parametrize(("joint", "region"), CASES)
def test_a_tree_that_claims_more_is_refused(joint, region):
    document = to_document(design(joint, region, solver=Optimal(relative_gap=GAP, threads=1)))
    worth = float(document["claims"]["utility_at_least"])
    document["claims"]["optimum_at_most"] = f"{worth - 1e-9:.15f}"
    verdicts = {verdict.claim: verdict.proven for verdict in checker.check(document)}
    assert verdicts.pop("optimum") is False
    assert all(verdicts.values())
