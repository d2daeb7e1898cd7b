"""Facts of the literature, each with its source."""

import math

import numpy as np
import pytest

from alphalift import LDP, PML, AlphaLift, ChiSquare, Joint, MaxLift, Optimal, Renyi, design
from alphalift.baselines import BinaryMechanism, RandomisedResponse, Staircase
from alphalift.measures import entropy
from alphalift.utilities import MutualInformation
from strategies import random_joint

# A share of H(X); at high privacy there is little utility, and the default gap would say nothing.
GAP = 1e-7
EXACT = Optimal(relative_gap=GAP)


def only_x(p_x):
    """X as its own secret."""
    return Joint(np.diag(p_x))


def utility_of(baseline, joint, region):
    return baseline.solve(joint, [region], MutualInformation())[0].utility


class TestExtremalMechanisms:
    """P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", 2016, S = X."""

    @pytest.mark.parametrize("p_x", [[1 / 3] * 3, [0.5, 0.3, 0.2], [0.25] * 4, [0.4, 0.3, 0.2, 0.1]])
    def test_randomised_response_is_optimal_at_low_privacy(self, p_x):
        joint, region = only_x(p_x), LDP(6)
        optimum = design(joint, region, solver=EXACT)
        assert utility_of(RandomisedResponse(), joint, region) >= optimum.upper_bound - 2 * GAP
        assert utility_of(BinaryMechanism(), joint, region) < 0.95 * optimum.utility, "which the other is not"

    @pytest.mark.parametrize("p_x", [[0.5, 0.3, 0.2], [0.25] * 4, [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.15, 0.25]])
    def test_the_binary_mechanism_is_optimal_at_high_privacy(self, p_x):
        joint, region = only_x(p_x), LDP(0.1)
        optimum = design(joint, region, solver=EXACT)
        assert utility_of(BinaryMechanism(), joint, region) >= optimum.upper_bound - 2 * GAP
        assert utility_of(RandomisedResponse(), joint, region) < 0.95 * optimum.utility, "which the other is not"

    @pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 4.0])
    def test_staircase_mechanisms_suffice_everywhere(self, epsilon):
        joint, region = only_x([0.4, 0.3, 0.2, 0.1]), LDP(epsilon)
        optimum = design(joint, region)
        assert utility_of(Staircase(), joint, region) == pytest.approx(optimum.utility, abs=2e-4)


class TestPointwiseMaximalLeakage:
    """S. Saeidian et al., "Pointwise maximal leakage", 2023: max-lift with S = X."""

    @pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.2])
    def test_max_lift_of_x_about_x(self, epsilon):
        joint = random_joint(4, (3, 5))
        assert design(joint, PML(epsilon)).utility == design(joint.about_x, MaxLift(epsilon)).utility
        assert design(joint, PML(epsilon)).mechanism.check(PML(epsilon))

    @pytest.mark.parametrize("share", [0.5, 0.3, 0.05])
    @pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.2, 2.5])
    def test_binary_x(self, share, epsilon):
        """Two posteriors: as much of each symbol as t = e^epsilon allows."""
        t = math.exp(epsilon)
        high, low = min(1.0, t * share), max(0.0, 1 - t * (1 - share))
        weight = (share - low) / (high - low)
        expected = binary(share) - weight * binary(high) - (1 - weight) * binary(low)
        assert design(only_x([share, 1 - share]), PML(epsilon)).utility == pytest.approx(expected, abs=1e-7)

    @pytest.mark.parametrize("size", [3, 5, 6])
    @pytest.mark.parametrize("epsilon", [0.2, 0.7, 1.1])
    def test_a_uniform_prior(self, size, epsilon):
        """floor(k/t) symbols at the cap t/k and one with the rest, in every arrangement."""
        cap = math.exp(epsilon) / size
        full = math.floor(1 / cap)
        posterior = np.append(np.full(full, cap), 1 - full * cap)
        expected = math.log(size) - float(entropy(posterior))
        solution = design(only_x([1 / size] * size), PML(epsilon))
        assert solution.utility == pytest.approx(expected, abs=2e-4)
        assert solution.upper_bound >= expected - 1e-9


@pytest.mark.parametrize("order", [1.5, 2, 7, math.inf])
def test_renyi_is_alpha_lift_after_rescaling(order):
    """The paper's Remark 1."""
    joint, epsilon = random_joint(2, (4, 6)), 0.08
    scaled = epsilon if math.isinf(order) else epsilon * (order - 1) / order
    one, other = design(joint, Renyi(order, epsilon)), design(joint, AlphaLift(order, scaled))
    assert one.utility == pytest.approx(other.utility, abs=1e-6)
    assert one.mechanism.leakage(order) <= scaled


def test_chi_square_is_alpha_lift_at_two():
    joint, epsilon = random_joint(2, (4, 6)), 0.3
    same = AlphaLift(2, math.log1p(epsilon**2) / 2)
    one, other = design(joint, ChiSquare(epsilon)), design(joint, same)
    assert one.utility == pytest.approx(other.utility, abs=1e-6)
    lifts, p_s = one.mechanism.lift.T, joint.p_s
    np.testing.assert_allclose(1 + ChiSquare(epsilon).value(lifts, p_s) ** 2, same.value(lifts, p_s) ** 2, rtol=1e-12)


def binary(share):
    return float(entropy(np.array([share, 1 - share])))
