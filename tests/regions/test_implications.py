"""Every implication on random mechanisms; every missing one with a counterexample."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphalift import KL, LDP, LIP, PML, AlphaLift, ChiSquare, MaxLift, Renyi, TotalVariation, implications
from alphalift.regions.implications import renyi_implies
from strategies import mechanisms

KINDS = [
    LDP,
    LIP,
    lambda e: LIP(lower=2 * e, upper=e),
    MaxLift,
    lambda e: AlphaLift(3, e),
    lambda e: AlphaLift(1.2, e),
    lambda e: Renyi(1.7, e),
    lambda e: Renyi(4, e),
    ChiSquare,
    KL,
    TotalVariation,
    lambda e: LIP(e) & KL(e / 2),
]


@given(mechanisms(), st.sampled_from(KINDS), st.floats(1e-4, 2.0), st.floats(0.0, 1.0))
def test_what_keeps_a_promise_keeps_those_that_it_implies(mechanism, kind, epsilon, share):
    """On the mechanism's lifts, moved towards 1 until they just keep it."""
    region, p_s = kind(epsilon), mechanism.joint.p_s
    lifts = 1 + share * (mechanism.lift.T - 1)
    inside, outside = np.zeros(len(lifts)), np.ones(len(lifts))
    for _ in range(50):
        middle = (inside + outside) / 2
        kept = region.allows(1 + middle[:, None] * (lifts - 1), p_s)
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    at_limit = 1 + inside[:, None] * (lifts - 1)
    for implied in implications(region):
        assert implied.region.allows(at_limit, p_s).all(), implied
        assert implied.reason


@given(mechanisms(), st.floats(1.05, 50), st.floats(1.05, 50))
def test_a_smaller_order_of_renyi_follows(mechanism, order, other):
    lifts, p_s = mechanism.lift.T, mechanism.joint.p_s
    region = Renyi(order, math.log(float(Renyi(order, 0).value(lifts, p_s).max())) + 1e-9)
    assert renyi_implies(region, other).allows(lifts, p_s).all()


def test_the_chain_of_the_paper():
    """LDP => LIP => max-lift => Renyi of any order => alpha-lift => KL => total variation."""

    def implied(region, kind):
        return next(found.region for found in implications(region) if type(found.region) is kind)

    lip = implied(LDP(0.5), LIP)
    max_lift = implied(lip, MaxLift)
    renyi = implied(max_lift, Renyi)
    assert (lip, max_lift, renyi) == (LIP(0.5), MaxLift(0.5), Renyi(math.inf, 0.5))
    alpha_lift = implied(renyi_implies(renyi, 3), AlphaLift)
    assert alpha_lift.epsilon == pytest.approx(1 / 3), "a max-lift of e^.5 bounds alpha-lift at 3 by less than e^.5"
    assert implied(renyi, KL) == KL(0.5)
    assert implied(KL(0.5), TotalVariation).epsilon == pytest.approx(0.5)
    assert implications(PML(0.5)) == implications(MaxLift(0.5))


@pytest.mark.parametrize(
    ("kept", "broken"),
    [
        # A rare secret that is ruled out, or made sure, costs an average little and a worst case everything.
        (MaxLift(0.1), LIP(5)),
        (LIP(0.1), LDP(0.1)),
        (AlphaLift(3, 0.1), MaxLift(1)),
        (Renyi(2, 0.1), Renyi(20, 1)),
        (ChiSquare(0.1), MaxLift(1)),
        (ChiSquare(0.1), Renyi(4, 1)),
        (KL(0.1), ChiSquare(0.5)),
        (TotalVariation(0.1), KL(0.2)),
        (KL(0.1), MaxLift(1)),
        (TotalVariation(0.1), LIP(1)),
    ],
    ids=str,
)
def test_what_does_not_follow(kept, broken):
    """A counterexample with two secrets: one lift, and the other that E l = 1 leaves."""
    shares = np.concatenate([np.geomspace(1e-12, 0.5, 200), 1 - np.geomspace(1e-12, 0.5, 200)])
    first = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 400)])
    p, lift = (grid.ravel() for grid in np.meshgrid(shares, first))
    p, lift = p[p * lift <= 1], lift[p * lift <= 1]
    found = False
    for share in np.unique(p):
        lifts = np.column_stack([lift[p == share], (1 - share * lift[p == share]) / (1 - share)])
        p_s = np.array([share, 1 - share])
        found |= bool((kept.allows(lifts, p_s) & ~broken.allows(lifts, p_s)).any())
    assert found
