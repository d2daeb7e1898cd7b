"""Mechanisms in few bits: proven, and nearly as useful."""

from dataclasses import replace

import pytest

from alphalift import LDP, AlphaLift, InputError, Joint, MaxLift, SettingError, design, to_document, withhold_joint
from alphalift.proof import checker
from alphalift.regions import KL, LIP, TotalVariation
from alphalift.sharing import bits_for_sharing, for_sharing
from strategies import random_joint

JOINT = Joint([[140, 90, 30, 10], [40, 100, 200, 9], [5, 60, 70, 80]], counts=True)
REGIONS = [
    MaxLift(0.2),
    AlphaLift(3, 0.1),
    LDP(0.4),
    LIP(0.3),
    KL(0.02),
    TotalVariation(0.05),
    AlphaLift(3, 0.1) & LDP(0.5),
]


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_few_bits_are_proven_and_cost_little(region):
    solution = design(JOINT, region)
    shared = for_sharing(solution)
    assert shared.integers.bits == bits_for_sharing(JOINT.total, 12) == 5
    assert shared.integers.unseen is None
    document, opening = withhold_joint(to_document(shared), "salt")
    assert all(verdict.proven for verdict in checker.check(document, opening))
    assert 0.9 * solution.utility <= shared.utility <= solution.utility + 1e-9


@pytest.mark.parametrize("bits", [1, 2, 3, 5, 8, 20])
def test_any_bits_are_proven(bits):
    for seed in range(5):
        shared = for_sharing(design(random_joint(seed, (3, 4)), MaxLift(0.1)), bits)
        document, opening = withhold_joint(to_document(shared), "salt")
        assert shared.integers.bits == bits
        assert all(verdict.proven for verdict in checker.check(document, opening))


def test_perfect_privacy_keeps_the_bits_that_it_needs():
    solution = design(JOINT, MaxLift(0))
    shared = for_sharing(solution)
    assert shared.integers.weights == solution.integers.weights
    assert shared.integers.unseen is None


def test_what_cannot_be_shared_is_refused():
    solution = design(JOINT, MaxLift(0.2))
    for bits in (0, 53):
        with pytest.raises(SettingError, match="expected 1 to 52"):
            for_sharing(solution, bits)
    with pytest.raises(InputError, match="only a proven mechanism"):
        for_sharing(replace(solution, integers=None))
