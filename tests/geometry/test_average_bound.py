"""Promises on average in the pricing problem: the bound with costs of slacks, below random points and below its exact value."""

import math
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from pricing_problems import random_box

from alphalift import KL, AlphaLift, ChiSquare, Joint, MaxLift, MutualInformation, OnAverage, TotalVariation
from alphalift.geometry.concave import Search
from alphalift.geometry.tree import Tree, compiled_bound_nodes, compiled_replay
from alphalift.measures import entropy
from alphalift.regions import averages_of
from alphalift.solvers.search import concave_program

AVERAGES = [
    OnAverage(MaxLift(0.1)),
    OnAverage(AlphaLift(3, 0.1)),
    OnAverage(AlphaLift(1.05, 0.1)),
    OnAverage(KL(0.05)),
    OnAverage(TotalVariation(0.05)),
    OnAverage(ChiSquare(0.2)),
]
TOGETHER = [OnAverage(KL(0.05)) & OnAverage(TotalVariation(0.05)), MaxLift(0.4) & OnAverage(ChiSquare(0.2))]


def random_joint(rng):
    return Joint(rng.integers(1, 10 ** int(rng.integers(1, 6)), (int(rng.integers(2, 5)), 5)), counts=True)


def root(box, dual):
    tree = Tree.unit_box(1, len(box[0]), len(dual))
    tree.low[0], tree.high[0] = box
    tree.dual[0] = dual
    return tree


def bound_at(problem, box, dual):
    tree = root(box, dual)
    compiled_replay()(*problem, np.inf, 0, 1, tree, np.ones(1, np.bool_), np.zeros(1, np.bool_))
    return float(tree.bound[0]), tree.dual[0]


def relaxed(problem, box, size):
    tree = root(box, np.ones(size + 1))
    compiled_bound_nodes()(*problem, np.array([0]), np.inf, tree)
    return float(tree.bound[0]), tree.dual[0]


def objective(points, prices, region, joint, average_prices):
    used = [own.above_least(points @ joint.lift.T, joint.p_s) for own in averages_of(region)]
    return entropy(points, axis=-1) - points @ prices + average_prices @ np.array(used)


@pytest.mark.parametrize("region", AVERAGES + TOGETHER, ids=repr)
def test_the_bound_with_costs_is_below_every_point(region):
    rng, finite = np.random.default_rng(1), 0
    for _ in range(40):
        joint = random_joint(rng)
        program = concave_program(joint, region, MutualInformation())
        size = program.moments.shape[1]
        points = rng.dirichlet(np.full(5, 0.4), size=40)
        points = np.concatenate([points, np.eye(5), joint.p_x[None]])
        points = points[region.allows(points @ joint.lift.T, joint.p_s)]
        prices = rng.normal(size=5)
        average_prices = rng.exponential(size=len(averages_of(region))) * 10 ** rng.uniform(-2, 2)
        problem = program.at(prices, average_prices @ program.body.used)
        values = objective(points, prices, region, joint, average_prices)
        for point in points[:3]:
            box = random_box(point, rng)
            best = relaxed(problem, box, size)[1]
            inside = ((points >= box[0]) & (points <= box[1])).all(axis=1)
            for dual in (best, best * rng.uniform(0.5, 2), rng.exponential(size=size + 1)):
                bound = bound_at(problem, box, dual)[0]
                finite += np.isfinite(bound)
                assert bound <= values[inside].min() + 1e-12 * (1 + average_prices.sum())
    assert finite > 200


@pytest.mark.parametrize("region", AVERAGES + TOGETHER, ids=repr)
def test_a_search_and_descents_meet(region):
    """The bound that branching reaches is the least objective that descents find, nearly; and not above it."""
    rng = np.random.default_rng(2)
    joint = Joint(rng.integers(1, 30, (3, 5)), counts=True)
    program = concave_program(joint, region, MutualInformation())
    prices, average_prices = rng.random(5), np.full(len(averages_of(region)), 2.0)
    costs = average_prices @ program.body.used
    starts = np.concatenate([rng.dirichlet(np.ones(5), size=200), np.eye(5)])
    points, values = program.local_minima(prices, starts, costs=costs)
    kept = np.isfinite(values) & region.allows(points @ joint.lift.T, joint.p_s)
    assert kept.sum() > 100
    np.testing.assert_allclose(objective(points[kept], prices, region, joint, average_prices), values[kept], atol=1e-7)
    least = values[kept].min()
    search = Search(program, np.zeros(5), min(least, 0.0) - 1e-4)  # other prices and costs at first
    search.change_prices(prices, min(least, -1e-3) - 1e-4, costs)
    while not search.finished and search.nodes < 4000:
        search.grow(16)
    assert search.finished
    assert search.lower_bound <= least + 1e-12


def ball(value):
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def exact_form(of, p):
    """Of the constraint: exact directions by secret, slacks (coefficients, capacity, width), and sigma(w)."""
    size, one, zero, least = len(p), arb(1), arb(0), min(p, key=float)
    unit = [[arb(int(i == s)) for s in range(size)] for i in range(size)]
    if isinstance(of, TotalVariation) or (isinstance(of, AlphaLift) and math.isinf(of.alpha)):
        if isinstance(of, TotalVariation):
            slacks = [([-own for own in unit[s]], zero, 1 - p[s]) for s in range(size)]
        else:
            slacks = [([-own for own in p], zero, 1 / least - 1)]
        return unit, slacks, lambda w: sum(map(mul, p, w), zero)
    if isinstance(of, AlphaLift):
        alpha = arb(str(of.alpha))
        power = alpha / (alpha - 1)
        slack = ([zero] * size, one, least ** (1 / alpha - 1) - 1)
        return unit, [slack], lambda w: sum((q * own**power for q, own in zip(p, w, strict=True)), zero) ** (1 / power)
    if isinstance(of, KL):

        def sigma(w):
            *w, b = w
            mean = sum((q * (16 * (own / b - 1)).exp() for q, own in zip(p, w, strict=True)), zero)
            return b * (1 + (mean - 1) / 16)

        return [*unit, [zero] * size], [([zero] * size + [-one / 16], zero, -least.log())], sigma
    rows = [[2 * (own - p[i]) for own in unit[i]] for i in range(size)]
    scale = (1 / least - 1).max(one) ** arb("0.25")
    slack = ([zero] * size + [-1 / scale], scale**-2, 1 / least - 1)
    weights = [*p, one]
    return (
        [*rows, [scale] * size],
        [slack],
        lambda w: scale * sum((q * own**2 for q, own in zip(weights, w, strict=True)), zero).sqrt(),
    )


@pytest.mark.parametrize("region", AVERAGES, ids=repr)
def test_the_bound_with_costs_in_floats_is_at_most_its_exact_value(region):
    rng, compared, loosest = np.random.default_rng(3), 0, 0.0
    for _ in range(40):
        joint = random_joint(rng)
        program = concave_program(joint, region, MutualInformation())
        prices, price = rng.normal(size=5) * 10.0 ** rng.integers(0, 4), float(rng.exponential())
        w = 10.0 ** rng.integers(-3, 6) * rng.random(program.moments.shape[1]) ** rng.integers(1, 4)
        if isinstance(region.of, KL):
            w[-1] = w[:-1].max() / rng.uniform(0.1, 19.0)
        box = random_box(joint.p_x, rng)
        bound, dual = bound_at(program.at(prices, price * program.body.used[0]), box, np.append(w, 0.0))
        if not np.isfinite(bound):
            continue
        with ctx.workprec(300):
            value = exact_bound(region.of, joint, box, prices, price, dual)
            assert ball(bound) <= value
            size = arb(abs(bound)) + ball(float(np.abs(dual).sum())) * (1 + 1 / ball(float(joint.p_s.min())))
            loosest = max(loosest, float((value - ball(bound)) / size))
        compared += 1
    assert compared > 25
    assert loosest < 1e-10  # what it leaves is rounding


def exact_bound(of, joint, box, prices, price, dual):
    p = [ball(Fraction(own, joint.total)) for own in joint.s_weights]
    rows, slacks, support = exact_form(of, p)
    *w, nu = map(ball, map(float, dual))
    sigma = support(w)
    total = nu - sigma
    for x, (u, *ends) in enumerate(zip(prices, *box, strict=True)):
        given = [ball(Fraction(row[x], joint.x_weights[x])) for row in joint.weights]
        c = ball(float(u)) + nu
        for row, own in zip(rows, w, strict=True):
            c -= own * sum(map(mul, row, given), arb(0))
        places = [ball(float(v)) for v in ends]
        values = [(-v * v.log() if v > 0 else arb(0)) - c * v for v in places]
        total += values[0].min(values[1])
    for coefficients, capacity, width in slacks:
        rate = ball(price) + sum(map(mul, coefficients, w), arb(0)) - capacity * sigma
        total += (width * rate).min(arb(0))
    return total
