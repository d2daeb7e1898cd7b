"""What every baseline owes on every problem and promise: feasible, right marginal, below the bound, symmetric."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from alphalift import AlphaLift, Joint, MaxLift, Mechanism, MutualInformation, Optimal, design
from alphalift.baselines import (
    BinaryMechanism,
    CompleteMerging,
    GreedyMerging,
    PublishAll,
    PublishNothing,
    RandomisedResponse,
    Staircase,
    SubsetMerging,
    UniformMixing,
    XInvariant,
)
from alphalift.regions import KL, LDP, LIP, TotalVariation
from strategies import random_joint

spec = importlib.util.spec_from_file_location("contract", Path(__file__).parents[1] / "solvers" / "test_contract.py")
contract = importlib.util.module_from_spec(spec)
spec.loader.exec_module(contract)
PROBLEMS = contract.PROBLEMS

BASELINES = [
    PublishNothing(),
    PublishAll(),
    UniformMixing(),
    CompleteMerging(),
    SubsetMerging(),
    XInvariant(),
    GreedyMerging(),
    RandomisedResponse(),
    BinaryMechanism(),
    Staircase(),
]
NOISY = [UniformMixing(), RandomisedResponse(), BinaryMechanism()]
REGIONS = [
    MaxLift(0.1),
    AlphaLift(2.5, 0.05),
    AlphaLift(3, 0),
    AlphaLift(3, 5),
    LIP(0.2),
    LDP(0.4),
    TotalVariation(0.05),
    KL(0.01),
    MaxLift(0.3) & KL(0.01),
]


def solve(baseline, joint, region):
    return baseline.solve(joint, [region], MutualInformation())[0]


@pytest.mark.parametrize("region", REGIONS, ids=str)
@pytest.mark.parametrize("name", PROBLEMS)
def test_contract(name, region):
    joint = PROBLEMS[name]
    (optimum,) = Optimal(node_limit=2000).solve(joint, [region], MutualInformation())
    for baseline in BASELINES:
        solution = solve(baseline, joint, region)
        mechanism = solution.mechanism
        assert mechanism.check(region), baseline
        np.testing.assert_allclose(mechanism.p_y_given_x.sum(axis=0), 1, atol=1e-12)
        np.testing.assert_allclose(mechanism.p_x_given_y @ mechanism.p_y, joint.p_x, atol=1e-12)
        assert len(mechanism.p_y) <= len(joint.x_labels)
        assert 0 <= solution.utility <= optimum.upper_bound + 1e-9 * MutualInformation().of_publishing_all(joint.p_x)


@pytest.mark.parametrize("baseline", BASELINES, ids=repr)
@pytest.mark.parametrize("region", [AlphaLift(3, 0), MaxLift(0.1), AlphaLift(2.5, 0.05)], ids=str)
def test_every_baseline_can_be_proven(baseline, region):
    for joint in (PROBLEMS["easy"], PROBLEMS["zero cells"], PROBLEMS["one x"]):
        found, proven = solve(baseline, joint, region), design(joint, region, solver=baseline)
        assert proven.mechanism.check(region)
        assert proven.integers is not None
        assert proven.utility == pytest.approx(found.utility, abs=1e-7)


@pytest.mark.parametrize("baseline", BASELINES, ids=repr)
def test_many_regions_are_answered_in_order(baseline):
    joint = PROBLEMS["easy"]
    regions = [MaxLift(0.4), MaxLift(0.05), AlphaLift(3, 5)]
    together = baseline.solve(joint, regions, MutualInformation())
    assert [solution.region for solution in together] == regions
    for solution in together:
        alone = solve(baseline, joint, solution.region)
        np.testing.assert_array_equal(solution.mechanism.p_y_given_x, alone.mechanism.p_y_given_x)


@pytest.mark.parametrize("baseline", [b for b in BASELINES if b != PublishNothing()], ids=repr)
def test_a_promise_that_allows_everything_gets_everything(baseline):
    """Two values of X: even one bit is then all of X."""
    joint = Joint([[3, 1], [1, 2]], counts=True)
    assert solve(baseline, joint, MaxLift(2)).normalized_utility == pytest.approx(1)


@pytest.mark.parametrize("baseline", BASELINES, ids=repr)
@pytest.mark.parametrize("region", [MaxLift(0.15), LDP(0.4), TotalVariation(0.06)], ids=str)
class TestSymmetries:
    """Names, halves of a secret and symbols without mass carry no information."""

    table = np.random.default_rng(11).integers(1, 30, size=(4, 6))

    def utility(self, table, region, baseline):
        return solve(baseline, Joint(table.tolist(), counts=True), region).normalized_utility

    def test_relabelling(self, baseline, region):
        generator = np.random.default_rng(3)
        shuffled = self.table[generator.permutation(4)][:, generator.permutation(6)]
        expected = self.utility(self.table, region, baseline)
        assert self.utility(shuffled, region, baseline) == pytest.approx(expected, abs=1e-7)

    def test_splitting_a_secret_in_equal_halves(self, baseline, region):
        halves = np.vstack([2 * self.table[1:], self.table[:1], self.table[:1]])
        expected = self.utility(self.table, region, baseline)
        assert self.utility(halves, region, baseline) == pytest.approx(expected, abs=1e-7)

    def test_a_symbol_without_mass(self, baseline, region):
        wider = np.pad(self.table, ((0, 1), (0, 1)))
        assert self.utility(wider, region, baseline) == self.utility(self.table, region, baseline)


def one_step_further(mechanism):
    """The same truth-or-noise mechanism with a slightly larger probability of the truth."""
    matrix = mechanism.p_y_given_x
    noise = np.sort(matrix, axis=1)[:, :1]
    return Mechanism(
        mechanism.joint, matrix + 1e-6 * (matrix - noise) - 1e-6 * (matrix - noise).sum(axis=0) * noise / noise.sum()
    )


@pytest.mark.parametrize("region", [MaxLift(0.05), AlphaLift(2.5, 0.002), LDP(0.1), KL(0.001)], ids=str)
@pytest.mark.parametrize("baseline", NOISY, ids=repr)
def test_a_slightly_larger_setting_breaks_the_promise(baseline, region):
    joint = random_joint(7, (3, 5))
    mechanism = solve(baseline, joint, region).mechanism
    assert 0 < mechanism.p_y_given_x.min() < mechanism.p_y_given_x.max()
    assert mechanism.check(region)
    assert not one_step_further(mechanism).check(region)


def test_publishing_all_or_nothing():
    joint = Joint([[3, 1], [1, 3]], counts=True)
    assert solve(PublishAll(), joint, MaxLift(0.41)).normalized_utility == 1, "the largest lift is 1.5 = e^0.405"
    assert solve(PublishAll(), joint, MaxLift(0.40)).normalized_utility == 0
    assert len(solve(PublishNothing(), joint, MaxLift(2)).mechanism.p_y) == 1


@pytest.mark.parametrize("region", [KL(0), AlphaLift(3, 0)], ids=str)
@pytest.mark.parametrize("baseline", [b for b in BASELINES if b != PublishNothing()], ids=repr)
def test_perfect_privacy_is_perfect_whatever_its_formula(baseline, region):
    """Lifts within 1e-8 of 1: their divergence is below the rounding of floats, yet they are not 1."""
    joint = Joint([[5 * 10**7 + 1, 3 * 10**7], [5 * 10**7, 3 * 10**7 + 2]], counts=True)
    assert region.allows(joint.lift.T, joint.p_s).all()
    assert solve(baseline, joint, region).normalized_utility < 1e-3
