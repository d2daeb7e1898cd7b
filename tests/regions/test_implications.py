"""Every implication on random mechanisms and where it is tight, in exact numbers; every missing one with a counterexample."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from alphalift import KL, LDP, LIP, PML, AlphaLift, ChiSquare, MaxLift, Renyi, TotalVariation, implications
from alphalift.exact import decimal, exact
from alphalift.proof.checker import promise_of
from alphalift.proof.statement import checkable, statement
from alphalift.regions.base import LARGEST_BUDGET
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


# Enough to tell 1 - e^-1000 from 1, and 1 - e^-1e-300 from 1e-300.
BITS = 3200


def fraction(number):
    """A number of mpmath, exactly."""
    sign, mantissa, exponent, _ = number._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** exponent


def real(budget):
    """The decimal that a float means, for mpmath."""
    return mp.mpf(exact(budget).numerator) / exact(budget).denominator


def alpha_over(alpha):
    return 1 if math.isinf(alpha) else exact(alpha) / (exact(alpha) - 1)


def spread(high, low, kind):
    """What lifts with two values and the mean 1 have: their standard deviation, or their total variation."""
    share = (1 - low) / (high - low)
    if kind is TotalVariation:
        return fraction(share * (high - 1))
    return fraction(mp.sqrt(share * (high - 1) ** 2 + (1 - share) * (1 - low) ** 2))


def least_budget(region, kind):
    """The least budget of the other kind that follows: from the worst lifts, or the definition; Pinsker's for KL."""
    match region, kind:
        case LDP(), _ if kind is TotalVariation:
            root = mp.exp(real(region.epsilon) / 2)
            return spread(root, 1 / root, kind)
        case LIP(), _ if kind is LDP:
            return exact(region.lower) + exact(region.upper)
        case LIP(), _ if kind in (ChiSquare, TotalVariation):
            return spread(mp.exp(real(region.upper)), mp.exp(-real(region.lower)), kind)
        case LIP(), _:
            return exact(region.upper)
        case AlphaLift(), _ if kind is TotalVariation:
            return spread(mp.exp(real(region.epsilon)), mp.mpf(0), kind)
        case AlphaLift(), _:
            return exact(region.epsilon) * alpha_over(region.alpha)
        case Renyi(), _ if kind is AlphaLift:
            return exact(region.epsilon) / alpha_over(region.order)
        case Renyi(), _ if kind is ChiSquare:
            return spread(mp.exp(real(region.epsilon)), mp.mpf(0), kind)
        case ChiSquare(), _ if kind is Renyi:
            return fraction(mp.log(1 + real(region.epsilon) ** 2))
        case ChiSquare(), _:
            return exact(region.epsilon) / 2
        case KL(), _:
            return fraction(mp.sqrt(real(region.epsilon) / 2))
        case _:
            return exact(region.epsilon)


IMPLIED = {LDP: [LIP, TotalVariation], LIP: [MaxLift, LDP, ChiSquare, TotalVariation], MaxLift: [Renyi, TotalVariation],
    AlphaLift: [Renyi], Renyi: [KL, AlphaLift, ChiSquare], ChiSquare: [Renyi, TotalVariation], KL: [TotalVariation]}  # fmt: skip
EXTREME = [1e-300, 1e-16, 1e-6, 0.005, 0.02, 0.1, 1 / 3, 0.5, 1, 20.001, 500, 704, 800, 1000]
ORDERS = [1.0000001, 1.001, 1.5, 2, 3, 10, 1e9, math.inf]


def regions(kind, count):
    """Promises of one kind with extreme and with random budgets and orders."""
    generator = random.Random(count)

    def budget():
        return generator.choice(
            [generator.uniform(0, 5), 10 ** generator.uniform(-300, 3), 10 ** generator.uniform(-6, 0)]
        )

    drawn = [(budget(), budget()) for _ in range(count)]
    if kind is LIP:
        pairs = [(a, b) for a in EXTREME for b in EXTREME] + drawn
        return [LIP(lower=lower, upper=upper) for lower, upper in pairs]
    if kind in (AlphaLift, Renyi):
        pairs = [(order, e) for order in ORDERS for e in EXTREME]
        return [kind(order, e) for order, e in pairs + [(1 + 10 ** generator.uniform(-7, 8), e) for e, _ in drawn]]
    return [kind(e) for e in EXTREME] + [kind(e) for e, _ in drawn]


@pytest.mark.parametrize("kind", IMPLIED, ids=lambda kind: kind.__name__)
def test_implied_budgets_are_rounded_up_and_by_no_more_than_rounding(kind):
    """Against other formulas in other arithmetic: no slack hides an implied budget that is too small by its last digit."""
    with mp.workprec(BITS):
        for region in regions(kind, 1000):
            found = {type(implied.region): implied.region for implied in implications(region)}
            for other in IMPLIED[kind]:
                if kind is Renyi and other is ChiSquare and region.order < 2:
                    continue
                least = least_budget(region, other)
                if other not in found:
                    assert least > LARGEST_BUDGET, (region, other)
                    continue
                stated = found[other].upper if other is LIP else found[other].epsilon
                assert exact(stated) >= least, (region, found[other])
                assert stated < 1e-300 or exact(stated) <= least * (1 + Fraction(1, 10**14)), (region, found[other])
                if least in [exact(own) for own in region.parameters.values() if math.isfinite(own)]:
                    assert exact(stated) == least
            orders = {getattr(region, "alpha", None), getattr(region, "order", None), None}
            for implied in found.values():
                order = getattr(implied, "alpha", getattr(implied, "order", None))
                assert order in orders | {math.inf if isinstance(implied, MaxLift) else 2.0}, (region, implied)


# Where total variation is smaller than the inequality says, whatever the lifts are.
LOOSE = {KL: 1e-14, ChiSquare: 1}


def two_lifts(high, low):
    """Lifts with two values and the mean 1, and shares in integers."""
    high, low = fmpq(high.numerator, high.denominator), fmpq(low.numerator, low.denominator)
    rise, fall = high - 1, 1 - low
    return [high, low], [int(fall.p * rise.q), int(rise.p * fall.q)]


def inside(exponent):
    """A bit nearer to 1 than e^exponent, exactly."""
    return fraction(mp.exp(exponent * (1 - mp.mpf(10) ** -20)))


def worst_lifts(region, other):
    """Two-valued lifts at the limit of the promise, or within 1e-20 of it, whose value in the other is the largest."""
    match region, other:
        case LDP(), _:
            gain = inside(real(region.epsilon)) - 1
            shares = [Fraction(1, 10**30) / (1 + gain)]
            shares = [*shares, 1 - shares[0]]
            if isinstance(other, TotalVariation):
                shares = [fraction(1 / (1 + mp.exp(real(region.epsilon) / 2)))]
            return [two_lifts((1 + gain) / (1 + p * gain), 1 / (1 + p * gain)) for p in shares]
        case LIP(), _:
            return [two_lifts(inside(real(region.upper)), inside(-real(region.lower)))]
        case ChiSquare(), TotalVariation() if region.epsilon <= 1:
            return [two_lifts(1 + exact(region.epsilon), 1 - exact(region.epsilon))]
        case ChiSquare(), _:
            return [two_lifts(1 + exact(region.epsilon) ** 2, Fraction(0))]
        case KL(), _:
            kept, broken = (min(mp.mpf(1), mp.sqrt(times * real(region.epsilon))) for times in (1, 2))
            for _ in range(80):
                with mp.workprec(BITS // 3):
                    middle = (kept + broken) / 2
                    value = ((1 + middle) * mp.log1p(middle) + (1 - middle) * mp.log1p(-middle)) / 2
                    kept, broken = (middle, broken) if value < real(region.epsilon) else (kept, middle)
            return [two_lifts(1 + fraction(kept), 1 - fraction(kept))]
        case _:
            scale = alpha_over(region.alpha) if isinstance(region, AlphaLift) else 1
            return [two_lifts(inside(real(region.epsilon) * scale.numerator / scale.denominator), Fraction(0))]


@pytest.mark.parametrize("kind", IMPLIED, ids=lambda kind: kind.__name__)
def test_the_worst_lifts_keep_what_is_implied_and_nothing_smaller(kind):
    """Proven by the checker, for the decimals that a file would state."""
    with mp.workprec(BITS):
        for region in regions(kind, 30):
            for implied in implications(region):
                other = implied.region
                if min(other.parameters.values()) < 1e-290:  # so small that floats have few digits
                    continue
                budgets = {"lower", "upper", "epsilon"} & {*other.parameters}
                less = {name: decimal(getattr(other, name) * (1 - 1e-12)) for name in budgets}
                smaller = promise_of(statement(other) | less)
                for lifts, shares in worst_lifts(region, other):
                    assert checkable(region).keeps(lifts, shares), region
                    assert checkable(other).keeps(lifts, shares), (region, other)
                    loose = isinstance(other, TotalVariation) and region.parameters.get("epsilon", 0) > LOOSE.get(
                        kind, 1e9
                    )
                    assert loose or smaller.excludes_beyond(lifts, shares), (region, other)
