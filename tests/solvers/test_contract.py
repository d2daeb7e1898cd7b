"""What every solver owes on every problem: feasible, right marginal, at most |X| outputs, symmetric."""

import math

import numpy as np
import pytest

from alphalift import Algorithm1, AlphaLift, Joint, MaxLift, Optimal, Vertices, design
from alphalift.baselines import CompleteMerging, SubsetMerging
from strategies import random_joint

PROBLEMS = {
    "easy": random_joint(7, (3, 5)),
    "zero cells": Joint([[5, 0, 1, 0], [0, 3, 0, 2], [1, 1, 1, 1]], counts=True),
    "equal columns": Joint([[1, 1, 2], [3, 3, 1]], counts=True),
    "S is X": Joint(np.diag([1, 2, 3, 4]).tolist(), counts=True),
    "independent": Joint([[1, 2, 4], [1, 2, 4]], counts=True),
    "nearly independent": Joint([[1000, 1001, 999], [1001, 1000, 1000]], counts=True),
    "rare symbols": Joint([[1, 50000, 30000], [3, 20000, 90000]], counts=True),
    "one secret": Joint([[1, 2, 3]], counts=True),
    "one x": Joint([[1], [2]], counts=True),
}
REGIONS = [
    MaxLift(0.1),
    AlphaLift(2.5, 0.05),
    AlphaLift(1.01, 0.001),
    AlphaLift(200, 0.4),
    AlphaLift(3, 0),
    AlphaLift(3, 5),
]
SOLVERS = [Optimal(node_limit=5000), Algorithm1(), Vertices(), SubsetMerging(), CompleteMerging()]


def cells():
    for solver in SOLVERS:
        for name, joint in PROBLEMS.items():
            for region in REGIONS:
                if not isinstance(solver, Vertices) or region.largest_lift is not None:
                    yield pytest.param(solver, joint, region, id=f"{type(solver).__name__}-{name}-{region}")


@pytest.mark.parametrize(("solver", "joint", "region"), list(cells()))
def test_contract(solver, joint, region):
    solution = design(joint, region, solver=solver)
    mechanism = solution.mechanism
    assert mechanism.check(region)
    np.testing.assert_allclose(mechanism.p_y_given_x.sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(mechanism.p_x_given_y @ mechanism.p_y, joint.p_x, atol=1e-12)
    assert len(mechanism.p_y) <= len(joint.x_labels)
    assert 0 <= solution.normalized_utility <= 1 + 1e-12


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("region", [MaxLift(0.15), AlphaLift(3, 0.15)], ids=str)
class TestSymmetries:
    """Names, halves of a secret and symbols without mass carry no information."""

    def utility(self, table, region, solver):
        if isinstance(solver, Vertices) and region.largest_lift is None:
            region = MaxLift(region.epsilon)
        return design(Joint(table.tolist(), counts=True), region, solver=solver).normalized_utility

    def same(self, solver):
        """Solvers are exact to rounding, but for one that stops within a gap."""
        return 2 * solver.relative_gap if isinstance(solver, Optimal) else 1e-9

    def table(self):
        return np.random.default_rng(11).integers(1, 30, size=(4, 6))

    def test_relabelling(self, solver, region):
        table, generator = self.table(), np.random.default_rng(3)
        shuffled = table[generator.permutation(4)][:, generator.permutation(6)]
        assert self.utility(shuffled, region, solver) == pytest.approx(
            self.utility(table, region, solver), abs=self.same(solver)
        )

    def test_splitting_a_secret_in_equal_halves(self, solver, region):
        table = self.table()
        halves = np.vstack([2 * table[1:], table[:1], table[:1]])
        assert self.utility(halves, region, solver) == pytest.approx(
            self.utility(table, region, solver), abs=self.same(solver)
        )

    def test_a_symbol_without_mass(self, solver, region):
        table = self.table()
        wider = np.pad(table, ((0, 1), (0, 1)))
        assert self.utility(wider, region, solver) == self.utility(table, region, solver)


def test_publishing_x_where_it_is_allowed():
    for joint in (PROBLEMS["independent"], PROBLEMS["one secret"]):
        assert design(joint, AlphaLift(2, 0)).normalized_utility == pytest.approx(1)
    assert design(PROBLEMS["one x"], MaxLift(0)).normalized_utility == 1, "nothing to know, nothing lost"
    assert design(PROBLEMS["easy"], AlphaLift(3, 5)).mechanism.leakage(math.inf) > 0
