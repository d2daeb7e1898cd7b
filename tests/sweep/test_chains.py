"""Chains: where a solver's answers follow one another, and that they can be continued anywhere, bit for bit."""

import math

import numpy as np
import pytest

from alphalift import KL, LIP, AlphaLift, MaxLift, MutualInformation, Optimal, grid
from alphalift.solvers import Algorithm1, ChainedSolver
from alphalift.solvers.base import rising
from alphalift.sweep.cells import pack, solution_of, unpack
from strategies import random_joint

UTILITY = MutualInformation()


def test_chains_are_cut_where_a_parameter_falls_or_the_promise_changes():
    regions = grid(AlphaLift, alpha=[math.inf, 10], epsilon=[0.1, 0.2, 0.3])
    assert rising(regions) == [slice(0, 3), slice(3, 6)]
    assert rising([KL(0.1), KL(0.1), LIP(0.1), KL(0.2), KL(0.1)]) == [
        slice(0, 2),
        slice(2, 3),
        slice(3, 4),
        slice(4, 5),
    ]
    assert rising([MaxLift(0.1) & KL(0.1), MaxLift(0.1) & KL(0.2)]) == [slice(0, 2)]
    assert isinstance(Optimal(), ChainedSolver)
    assert not isinstance(Algorithm1(), ChainedSolver)


@pytest.mark.parametrize("shape", [(2, 5), (4, 6)])
def test_a_chain_continues_anywhere_with_the_same_bits(shape):
    joint, regions = random_joint(3, shape), [AlphaLift(3, epsilon) for epsilon in (0.0, 0.02, 0.05, 0.1, 5.0)]
    whole = Optimal().solve(joint, regions, UTILITY)
    for cut in range(len(regions)):
        rest = Optimal().solve(joint, regions[cut:], UTILITY, after=whole[:cut])
        for one, two in zip(whole[cut:], rest, strict=True):
            np.testing.assert_array_equal(one.mechanism.p_y_given_x, two.mechanism.p_y_given_x)
            assert one.upper_bound == two.upper_bound


def test_chains_of_one_list_do_not_know_each_other():
    joint, regions = random_joint(4, (4, 6)), grid(AlphaLift, alpha=[math.inf, 3], epsilon=[0.05, 0.1])
    together = Optimal().solve(joint, regions, UTILITY)
    apart = Optimal().solve(joint, regions[:2], UTILITY) + Optimal().solve(joint, regions[2:], UTILITY)
    for one, two in zip(together, apart, strict=True):
        np.testing.assert_array_equal(one.mechanism.p_y_given_x, two.mechanism.p_y_given_x)


def test_cells_keep_every_bit():
    solutions = Optimal().solve(random_joint(5, (3, 7)), [MaxLift(0.01), MaxLift(0.1), MaxLift(9)], UTILITY)
    cells = unpack(pack(solutions))
    for cell, solution in zip(cells, solutions, strict=True):
        again = solution_of(cell, solution.joint, solution.region, UTILITY).mechanism
        assert again.p_y_given_x.tobytes() == solution.mechanism.p_y_given_x.tobytes()
        assert cell.figures["utility"] == solution.utility
        assert cell.figures["upper_bound"] == solution.upper_bound
    assert pack(solutions) == pack(solutions)
