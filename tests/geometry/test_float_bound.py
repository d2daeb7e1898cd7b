"""The bound that kernels compute in floats never exceeds the formula's exact value (docs/theory.md, "Floats")."""

import math
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from pricing_problems import bound_at

from alphalift import (
    KL,
    LDP,
    LIP,
    AlphaLift,
    ChiSquare,
    FInformation,
    Joint,
    MaxLift,
    MutualInformation,
    Renyi,
    TotalVariation,
)
from alphalift.exact import exact
from alphalift.regions import After
from alphalift.solvers.search import concave_program

REGIONS = [
    MaxLift(0.1),
    MaxLift(2.5),
    AlphaLift(10, 0.2),
    AlphaLift(1.01, 0.003),
    AlphaLift(2, 3),
    Renyi(3, 0.1),
    ChiSquare(0.3),
    LIP(0.3),
    LIP(lower=1e-9, upper=2),
    LDP(0.7),
    TotalVariation(0.1),
    KL(0.1),
    KL(1e-4),
]
# These are solved in deviations from the prior.
TINY = [MaxLift(1e-6), LIP(1e-7), LDP(1e-6), TotalVariation(1e-7), AlphaLift(3, 1e-9), ChiSquare(1e-6), KL(1e-9)]


def ball(value):
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def prior(joint):
    return [ball(Fraction(own, joint.total)) for own in joint.s_weights]


def exact_sides(region, joint):
    """g of half-spaces, exactly: what `Region.constraint` computes in floats."""
    p = prior(joint)
    if isinstance(region, AlphaLift):
        return [(ball(exact(region.epsilon)).exp() * own).min(arb(1)) for own in p]
    if isinstance(region, LIP):
        up, least = ball(exact(region.upper)).exp(), (-ball(exact(region.lower))).exp()
        return [(up * own).min(1 - least * (1 - own)) for own in p] + [-least * own for own in p]
    if isinstance(region, TotalVariation):
        return [*p, ball(exact(region.epsilon))]
    return [arb(0)] * (2 * len(p))


def exact_support(region, joint, w):
    """sigma(w), exactly, for w >= 0."""
    p = prior(joint)
    if isinstance(region, KL):
        *w, b = map(ball, w)
        mean = sum((own * (16 * (entry / b - 1)).exp() for own, entry in zip(p, w, strict=True)), arb(0))
        return b * (1 + (ball(exact(region.epsilon)) - 1 + mean) / 16)
    order = 2 if isinstance(region, ChiSquare) else getattr(region, "alpha", getattr(region, "order", math.inf))
    if math.isinf(order):
        return sum((g * ball(own) for g, own in zip(exact_sides(region, joint), w, strict=True)), arb(0))
    alpha = ball(exact(order))
    if isinstance(region, ChiSquare):
        t = (1 + ball(exact(region.epsilon)) ** 2).sqrt()
    else:
        t = (ball(exact(region.epsilon)) * ((alpha - 1) / alpha if isinstance(region, Renyi) else 1)).exp()
    t = t.min(min(p, key=float) ** (1 / alpha - 1))
    power = alpha / (alpha - 1)
    mean = sum((own * ball(entry) ** power for own, entry in zip(p, w, strict=True) if entry), arb(0))
    return t * mean ** (1 / power) if any(w) else arb(0)


def exact_directions(region, joint):
    """The constraint's directions, rows of coefficients of the secrets, and its slacks with their widths."""
    size = len(joint.s_weights)
    unit = [[arb(int(i == s)) for s in range(size)] for i in range(size)]
    none = [arb(0)] * size
    if isinstance(region, LIP | LDP):
        rows = unit + [[-own for own in row] for row in unit]
        if isinstance(region, LIP):
            return rows, []
        p, t = prior(joint), ball(exact(region.epsilon)).exp()
        return rows, [([-own for own in p] + [own / t for own in p], t.min(1 / min(p, key=float)))]
    if isinstance(region, TotalVariation):
        width = ball(exact(region.epsilon))
        return [*unit, none], [([arb(-int(i == s)) for i in range(size)] + [arb(1)], width) for s in range(size)]
    return [*unit, none] if isinstance(region, KL) else unit, []


def entropys(p, v):
    return -v * v.log()


# phi_x(v) at v > 0, with p = P(x), in balls.
CURVES = {
    "kl": lambda p, v: -v * (v / p).log(),
    "chi_square": lambda p, v: -v * v / p,
    "total_variation": lambda p, v: v.min(p),
    "hellinger": lambda p, v: 2 * (p * v).sqrt(),
    "jensen_shannon": lambda p, v: (v * (1 + p / v).log() + p * (1 + v / p).log()) / 2,
    "le_cam": lambda p, v: 2 * p * v / (p + v),
}


def exact_value(region, joint, box, prices, dual, phi=entropys):
    """The bound's formula with exact probabilities: docs/theory.md, "The bound", and 7a for cones."""
    *w, nu = dual
    after = region if isinstance(region, After) else None
    component, base, blocks = (region.region, region.base, range(len(region.counts))) if after else (region, joint, [0])
    directions, slacks = exact_directions(component, base)
    own = [list(map(ball, w[b * len(directions) : (b + 1) * len(directions)])) for b in blocks]
    sigma = [exact_support(component, base, w[b * len(directions) : (b + 1) * len(directions)]) for b in blocks]
    total = ball(nu) - (arb(0) if after else sigma[0])
    for x, (price, *ends) in enumerate(zip(prices, *box, strict=True)):
        c = ball(price) + ball(nu)
        for b in blocks:
            given = given_x(after.counts[b] if after else joint.weights, after.known if after else joint, x)
            moments = [sum(map(mul, row, given)) for row in directions]
            c -= sum(map(mul, moments, own[b]), arb(0)) - (sum(given) * sigma[b] if after else 0)
        share = ball(Fraction(joint.x_weights[x], joint.total))
        values = [(phi(share, ball(v)) if v else arb(0)) - c * ball(v) for v in ends]
        total += values[0].min(values[1])
    for coefficients, width in slacks:
        for w_of_block in own:
            total += (width * sum(map(mul, coefficients, w_of_block), arb(0))).min(arb(0))
    return total


def given_x(block, joint, x):
    return [ball(Fraction(row[x], joint.x_weights[x])) for row in block]


def random_joint(rng):
    shape = int(rng.integers(2, 5)), int(rng.integers(2, 7))
    return Joint(rng.integers(1, 10 ** int(rng.integers(1, 9)), shape), counts=True)


def after_another(rng, region):
    """The promise after a release with three outputs that tell nothing by themselves."""
    shares = rng.integers(1, 60, 3)
    base = rng.integers(1, 10 ** int(rng.integers(1, 6)), (3, 4))
    blocks = tuple(tuple(tuple(map(int, share * row)) for row in base) for share in shares)
    return After(region, Joint(base, counts=True), blocks)


def random_box(rng, count):
    ends = np.sort(rng.random((2, count)) ** rng.integers(1, 12), axis=0)
    low, high = ends * (rng.random((2, count)) > 0.2)
    high = np.maximum(high, low) if rng.random() < 0.3 else np.maximum(high, 1.0 / count)
    return np.minimum(low, 1.0 / count), high


def random_dual(rng, region, joint):
    """w >= 0 of any size for every constraint; w / b of an entropy stays below what exp can hold. nu comes with the bound."""
    w = []
    for component in region.components:
        own = 10.0 ** rng.integers(-3, 9) * rng.random(len(component.constraint(joint.p_s).directions)) ** rng.integers(
            1, 4
        )
        if isinstance(component, KL) or isinstance(getattr(component, "region", None), KL):
            own[-1] = own[:-1].max() / rng.uniform(0.1, 19.0)
        w.append(own)
    return np.concatenate([*w, [0.0]])


@pytest.mark.parametrize("together", [False, True], ids=["alone", "after"])
@pytest.mark.parametrize("promise", REGIONS, ids=repr)
def test_the_bound_in_floats_is_at_most_the_exact_one(promise, together):
    rng, compared, loosest = np.random.default_rng(7), 0, 0.0
    for _ in range(20):
        region = after_another(rng, promise) if together else promise
        joint = region.known if together else random_joint(rng)
        program = concave_program(joint, region, MutualInformation())
        box, dual = random_box(rng, len(joint.p_x)), random_dual(rng, region, joint)
        prices = rng.normal(size=len(joint.p_x)) * 10.0 ** rng.integers(0, 4)
        bound, dual = bound_at(program, prices, box, dual)
        if np.isfinite(bound):
            with ctx.workprec(300):
                value = exact_value(region, joint, box, prices, dual)
                assert ball(bound) <= value
                loosest = max(loosest, float((value - ball(bound)) / ball(abs(bound) + np.abs(dual).sum())))
            compared += 1
    assert compared > 8
    assert loosest < 1e-10  # what it leaves is rounding


@pytest.mark.parametrize("promise", TINY, ids=repr)
def test_the_bound_of_a_tiny_budget_is_at_most_the_promises_own(promise):
    """Of which the dual is known exactly, as files have it; E[w l] is at most sigma(w) by the promise itself."""
    rng, compared = np.random.default_rng(8), 0
    for _ in range(30):
        joint = Joint(rng.integers(1, 1000, (int(rng.integers(2, 5)), int(rng.integers(2, 7)))), counts=True)
        (constraint,) = promise.constraints(joint)
        if not constraint.centred:  # a rare secret makes a ball too wide
            continue
        u = 10.0 ** rng.integers(-3, 6) * rng.random(len(constraint.directions)) ** rng.integers(1, 4)
        prices, box = rng.normal(size=len(joint.p_x)), random_box(rng, len(joint.p_x))
        program = concave_program(joint, promise, MutualInformation())
        bound, dual = bound_at(program, prices, box, np.append(u, 0.0))
        if np.isfinite(bound):
            own = constraint.invert(dual[:-1])
            with ctx.workprec(300):
                value = value_of_promise(promise, joint, box, prices, own, ball(dual[-1]) - ball(own.shift))
                assert ball(bound) <= value + ball(1e-15 * np.abs(own.w).max())  # v + C is rounded
            compared += 1
    assert compared > 8


def value_of_promise(region, joint, box, prices, dual, nu):
    total = nu - own_support(region, prior(joint), list(map(ball, dual.w)), dual.extra)
    for x, (price, *ends) in enumerate(zip(prices, *box, strict=True)):
        c = ball(price) + nu - sum(map(mul, map(ball, dual.w), given_x(joint.weights, joint, x)), arb(0))
        values = [(-ball(v) * ball(v).log() if v else arb(0)) - c * ball(v) for v in ends]
        total += values[0].min(values[1])
    return total


def own_support(region, p, w, extra):
    """The largest E[w l] that a promise allows, in balls."""
    mean = sum(map(mul, w, p), arb(0))
    if isinstance(region, KL):
        b, epsilon = ball(extra[0]), ball(exact(region.epsilon))
        return b * (epsilon + sum((own * (entry / b).exp() for own, entry in zip(p, w, strict=True)), arb(0)).log())
    if isinstance(region, TotalVariation):
        largest, least = (pick(w, key=float) for pick in (max, min))
        return mean + ball(exact(region.epsilon)) * (largest - least)
    if isinstance(region, LIP):
        high, low = ball(exact(region.upper)).exp(), (-ball(exact(region.lower))).exp()
        return sum((own * entry * (high if entry > 0 else low) for own, entry in zip(p, w, strict=True)), arb(0))
    if isinstance(region, LDP):
        t, found = ball(exact(region.epsilon)).exp(), [mean]
        order = sorted(range(len(w)), key=lambda s: float(w[s]), reverse=True)
        for size in range(1, len(w) + 1):
            chosen = order[:size]
            above, share = sum((p[s] * w[s] for s in chosen), arb(0)), sum((p[s] for s in chosen), arb(0))
            found.append((mean + (t - 1) * above) / (1 + (t - 1) * share))
        return max(found, key=float)
    if isinstance(region, ChiSquare):
        variance = sum((own * (entry - mean) ** 2 for own, entry in zip(p, w, strict=True)), arb(0))
        return mean + ball(exact(region.epsilon)) * variance.sqrt()
    t, alpha = ball(exact(region.epsilon)).exp(), region.alpha
    if math.isinf(alpha):
        return t * sum((own * entry.max(arb(0)) for own, entry in zip(p, w, strict=True)), arb(0))
    a = ball(exact(alpha)) / (ball(exact(alpha)) - 1)
    return t * sum((own * entry**a for own, entry in zip(p, w, strict=True)), arb(0)) ** (1 / a)


def test_the_bound_leaves_the_error_of_a_side_near_one():
    """An earlier output with one secret alone, which nearly everybody has: its coefficient 1 - P(s) is almost all rounding."""
    n = 3334567900
    counts = (((n - 2, n + 1, n // 3), (0, 0, 0)), ((2 * n - 3, 2 * n + 6, n - n // 3), (1, 1, 2)))
    region = After(TotalVariation(1e-8), Joint(np.sum(counts, axis=0), counts=True), counts)
    program = concave_program(region.known, region, MutualInformation())
    rng, compared = np.random.default_rng(0), 0
    for size in 10.0 ** np.arange(5, 12):
        box, prices = random_box(rng, 3), rng.normal(size=3)
        bound, dual = bound_at(program, prices, box, np.array([size, 0.0, size, 0.0, 0.0, 0.0, 0.0]))
        if np.isfinite(bound):
            compared += 1
            with ctx.workprec(300):
                assert ball(bound) <= exact_value(region, region.known, box, prices, dual)
    assert compared > 3


@pytest.mark.parametrize("promise", [MaxLift(0.1), AlphaLift(3, 0.2), KL(0.1)], ids=repr)
@pytest.mark.parametrize("name", CURVES)
def test_the_bound_of_f_information_in_floats_is_at_most_the_exact_one(name, promise):
    rng, compared, loosest = np.random.default_rng(9), 0, 0.0
    for _ in range(60):
        joint = random_joint(rng)
        program = concave_program(joint, promise, FInformation(name).on(joint))
        (low, high), dual = random_box(rng, len(joint.p_x)), random_dual(rng, promise, joint)
        for x in range(len(low)):  # where curves have a kink, or lose their digits
            near = joint.p_x[x] * rng.choice([1e-9, 0.5, 1 - 1e-15, 1, 1 + 1e-15, 2])
            if rng.random() < 0.3 and low[x] <= near <= 1:
                high[x] = near
        dual *= rng.choice([0.0, 1e-3, 1.0])
        if isinstance(promise, KL) and not dual.any():
            continue
        prices = rng.normal(size=len(joint.p_x)) * rng.choice([0.0, 1.0, 1e3])
        bound, dual = bound_at(program, prices, (low, high), dual)
        if np.isfinite(bound):
            with ctx.workprec(300):
                value = exact_value(promise, joint, (low, high), prices, dual, CURVES[name])
                assert ball(bound) <= value
                size = ball(abs(bound) + np.abs(dual).sum() + np.abs(prices).sum() + 1)
                loosest = max(loosest, float((value - ball(bound)) / size))
            compared += 1
    assert compared > 20
    assert loosest < 1e-9


@pytest.mark.parametrize("name", CURVES)
def test_curves_and_ratios_are_as_accurate_as_the_lemma_says(name):
    """phi_x within 13 |phi_x| + 2 v roundings, of shares and places of every size; and |t g'(t)| <= 2 |g(t)| + t."""
    rng, e = np.random.default_rng(10), Fraction(1, 2**53)
    for _ in range(300):
        joint = Joint([[int(rng.integers(1, 10 ** int(rng.integers(1, 12)))) for _ in range(3)]], counts=True)
        t = rng.choice([1.0, 2.0, 1 + 1e-13, 1 - 1e-13, 10.0 ** rng.uniform(-12, 12)])
        places = np.minimum(joint.p_x * t, 1.0)
        found = FInformation(name).on(joint).terms(places[None], joint.p_x)[0]
        for x, v in enumerate(places):
            with ctx.workprec(300):
                value = CURVES[name](ball(Fraction(joint.x_weights[x], joint.total)), ball(v))
                assert abs(ball(found[x]) - value) <= (13 * abs(value) + 2 * ball(v)) * ball(e)
        g = FInformation(name).compiled_curve()
        assert t * abs(g(t, 1)) <= (2 * abs(g(t, 0)) + t) * (1 + 1e-12)
        step = 1e-6 * t
        if name != "total_variation" or abs(t - 1) > 2 * step:
            assert g(t, 1) == pytest.approx((g(t + step, 0) - g(t - step, 0)) / (2 * step), rel=1e-3, abs=1e-6)


def test_the_bound_leaves_the_error_of_a_ratio_near_one():
    """Where kl's curve is nearly 0, all that there is comes from what P(x), and so v / P(x), is off by."""
    rng, compared = np.random.default_rng(11), 0
    for _ in range(300):
        joint = random_joint(rng)
        program = concave_program(joint, MaxLift(0.1), FInformation("kl").on(joint))
        size = len(joint.p_x)
        high = np.minimum(joint.p_x * (1 + rng.integers(-3, 4, size) * 2.0**-52), 1.0)
        box = (high * rng.choice([0, 1 - 2.0**-52], size), high)
        bound, dual = bound_at(program, np.zeros(size), box, np.zeros(len(joint.p_s) + 1))
        if np.isfinite(bound):
            compared += 1
            with ctx.workprec(300):
                assert ball(bound) <= exact_value(MaxLift(0.1), joint, box, np.zeros(size), dual, CURVES["kl"])
    assert compared > 100
