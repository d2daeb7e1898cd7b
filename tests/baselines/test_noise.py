"""Uniform mixing, randomised response, the binary and the staircase mechanisms by hand and by their theorems."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from alphalift import AlphaLift, Joint, MaxLift, MutualInformation, Optimal, SettingError
from alphalift.baselines import (
    BinaryMechanism,
    GreedyMerging,
    RandomisedResponse,
    Staircase,
    SubsetMerging,
    UniformMixing,
)
from alphalift.measures import entropy
from alphalift.regions import LDP
from strategies import random_joint

UTILITY = MutualInformation()


def solve(baseline, joint, region):
    return baseline.solve(joint, [region], UTILITY)[0]


def own_secret(weights):
    return Joint(np.diag(weights).tolist(), counts=True)


@pytest.mark.parametrize("baseline", [UniformMixing(), RandomisedResponse(), BinaryMechanism(), Staircase()], ids=repr)
def test_a_fair_coin_by_hand(baseline):
    """S = X on two equal values: P(x|y) / P(x) <= e^0.3 allows a posterior of e^0.3 / 2, and no more is possible."""
    solution = solve(baseline, own_secret([1, 1]), MaxLift(0.3))
    likely = math.exp(0.3) / 2
    assert solution.mechanism.p_y_given_x.max() == pytest.approx(likely, abs=1e-11)
    assert solution.utility == pytest.approx(math.log(2) - entropy([likely, 1 - likely]), abs=1e-11)
    (optimum,) = Optimal().solve(solution.joint, [MaxLift(0.3)], UTILITY)
    assert solution.utility == pytest.approx(optimum.utility, abs=1e-4)


def test_four_equal_values_by_hand():
    """S = X, max-lift 2. Merging pairs gives log 2, the most that any mechanism can: I(X;Y) <= log of the largest lift.

    Randomised response has the posterior 4 P(x|x) / 4 = 1/2 at most, so e = log 3 and H(X|Y) = log(12) / 2.
    """
    joint, region = own_secret([1, 1, 1, 1]), MaxLift(math.log(2))
    for merging in (SubsetMerging(), GreedyMerging()):
        assert solve(merging, joint, region).utility == pytest.approx(math.log(2))
    response = solve(RandomisedResponse(), joint, region)
    assert response.settings == "e = 1.099"
    assert response.utility == pytest.approx(math.log(4) - math.log(12) / 2)


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.5])
def test_the_share_of_uniform_mixing_under_max_lift(epsilon):
    """(1 - share) l + share <= e^epsilon at the largest l."""
    joint = random_joint(3, (3, 5))
    largest = joint.lift.max()
    mechanism = solve(UniformMixing(), joint, MaxLift(epsilon)).mechanism
    share = (largest - math.exp(epsilon)) / (largest - 1)
    np.testing.assert_allclose(mechanism.p_y_given_x, (1 - share) * np.eye(5) + share * joint.p_x[:, None], atol=1e-11)


class TestLocalDifferentialPrivacy:
    """S = X under LDP(e): the setting of the cited theorems."""

    joint = own_secret([1, 2, 3, 5, 8])

    @pytest.mark.parametrize("e", [0.1, 1.0, 3.0])
    def test_settings_are_the_level_itself(self, e):
        for baseline in (RandomisedResponse(), BinaryMechanism(), Staircase()):
            matrix = solve(baseline, self.joint, LDP(e)).mechanism.p_y_given_x
            ratios = np.log(matrix.max(axis=1) / matrix.min(axis=1))
            assert ratios.max() == pytest.approx(e, abs=1e-9), baseline

    def test_uniform_mixing(self):
        """P(y|y) / P(y|x) = 1 + (1 - share) / (share P(y)): the rarest y decides."""
        share = 1 / (1 + math.expm1(1.0) / 19)
        matrix = solve(UniformMixing(), self.joint, LDP(1)).mechanism.p_y_given_x
        assert matrix[4, 0] == pytest.approx(share * 8 / 19, abs=1e-11)

    @pytest.mark.parametrize(("e", "simpler"), [(0.1, BinaryMechanism()), (6.0, RandomisedResponse())])
    def test_the_staircase_is_binary_for_small_and_randomised_response_for_large_levels(self, e, simpler):
        expected = solve(simpler, self.joint, LDP(e)).utility
        assert solve(Staircase(), self.joint, LDP(e)).utility == pytest.approx(expected, rel=1e-7)

    @pytest.mark.parametrize("e", [0.5, 1.5, 2.5])
    def test_the_staircase_is_the_optimum(self, e):
        solution = solve(Staircase(), self.joint, LDP(e))
        (optimum,) = Optimal().solve(self.joint, [LDP(e)], UTILITY)
        assert solution.utility == pytest.approx(optimum.utility, abs=2e-4 * entropy(self.joint.p_x))
        for other in (RandomisedResponse(), BinaryMechanism(), UniformMixing()):
            assert solution.utility >= solve(other, self.joint, LDP(e)).utility - 1e-9


class TestBinaryMechanism:
    @pytest.mark.parametrize("seed", range(4))
    def test_the_set_is_nearest_to_one_half(self, seed):
        joint = random_joint(seed, (2, 7))
        matrix = solve(BinaryMechanism(), joint, MaxLift(0.05)).mechanism.p_y_given_x
        sums = [sum(part) for size in range(8) for part in itertools.combinations(joint.p_x, size)]
        assert abs(joint.p_x[matrix[0] > 0.5].sum() - 0.5) == pytest.approx(min(abs(s - 0.5) for s in sums))

    def test_equally_near_sets_are_told_apart_by_their_utility(self):
        """All values are equally likely; {x0, x2} and {x0, x3} tell nothing about S, the third pairing much."""
        joint = Joint([[3, 3, 1, 1], [1, 1, 3, 3]], counts=True)
        assert solve(BinaryMechanism(), joint, MaxLift(0.01)).utility == pytest.approx(math.log(2))

    def test_large_alphabets_are_halved_greedily(self):
        joint = random_joint(1, (3, 40))
        matrix = solve(BinaryMechanism(), joint, AlphaLift(10, 0.01)).mechanism.p_y_given_x
        assert abs(joint.p_x[matrix[0] > 0.5].sum() - 0.5) < joint.p_x.max() / 2


class TestStaircase:
    joint, region = random_joint(5, (3, 6)), MaxLift(0.1)

    def program(self, e):
        """The linear program of Kairouz et al. in its own variables: P(y|x) = theta_y or e^e theta_y."""
        patterns = np.where(list(itertools.product([False, True], repeat=6)), math.exp(e), 1.0)
        joint = patterns * self.joint.p_x
        masses = joint.sum(axis=1)
        worth = masses * entropy(joint / masses[:, None])
        found = linprog(worth, A_eq=patterns.T, b_eq=np.ones(6), method="highs")
        return entropy(self.joint.p_x) - found.fun, found.x[:, None] * patterns

    def test_it_is_the_programs_optimum_and_no_larger_level_keeps_the_promise(self):
        solution = solve(Staircase(), self.joint, self.region)
        matrix = solution.mechanism.p_y_given_x
        used = np.log(matrix.max(axis=1) / matrix.min(axis=1))
        e = used.max()
        np.testing.assert_allclose(used[used > 1e-9], e, rtol=1e-9)
        assert solution.utility == pytest.approx(self.program(e)[0], abs=1e-9)
        for larger in (1.0001, 1.01, 1.1, 1.5, 3.0):
            _, channel = self.program(e * larger)
            channel = channel[channel.sum(axis=1) > 1e-9]
            posteriors = channel * self.joint.p_x
            lifts = posteriors / posteriors.sum(axis=1, keepdims=True) @ self.joint.lift.T
            assert not self.region.allows(lifts, self.joint.p_s).all(), larger

    def test_too_many_values_are_refused(self):
        joint = random_joint(0, (2, 13))
        with pytest.raises(SettingError, match=r"2\^13 columns for 13 values of X, and most_values is 12"):
            solve(Staircase(), joint, MaxLift(0.1))
        assert solve(Staircase(most_values=13), joint, MaxLift(0.1)).mechanism.check(MaxLift(0.1))

    @pytest.mark.parametrize("most", [0, 21])
    def test_settings_out_of_range(self, most):
        with pytest.raises(SettingError, match="most_values"):
            Staircase(most_values=most)
