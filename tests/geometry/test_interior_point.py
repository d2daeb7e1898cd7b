"""Relaxations of random boxes, against Clarabel: the chords' linear function over the box and the set."""

import cvxpy
import numpy as np
import pytest
from pricing_problems import KINDS, objective, problem, random_dual, relaxed

from alphalift import AlphaLift, Joint, MaxLift, MutualInformation, TotalVariation
from alphalift.measures import entropy
from alphalift.regions import Margin
from alphalift.regions.after import After
from alphalift.solvers.search import concave_program

# What a relaxation may leave of its optimum: its accuracy is 1e-7, in products that weigh up to a few dozen.
TOLERANCE = 1e-5


def constraints_on(case, v):
    """The promise in cvxpy, from its definition: on the lifts of S alone, or on each block's share of them."""
    region, joint = case.region, case.joint
    rules = []
    if not isinstance(region, After):
        for part in region.components:
            rules += RULES[type(part).__name__](part, joint.lift @ v, joint.p_s, 1.0)
        return rules
    for block in region.counts:
        p_sb_given_x = np.array(block) / np.array(joint.x_weights)
        mass, lifts = p_sb_given_x.sum(axis=0) @ v, cvxpy.multiply(1 / region.p_s, p_sb_given_x @ v)
        for part in region.region.components:
            rules += RULES[type(part).__name__](part, lifts, region.p_s, mass)
    return rules


RULES = {
    "AlphaLift": lambda r, lifts, p, m: [
        cvxpy.pnorm(cvxpy.multiply(p ** (1 / r.alpha), lifts), r.alpha, approx=False) <= r.budget * m
    ],
    "MaxLift": lambda r, lifts, p, m: [lifts <= r.budget * m],
    "LDP": lambda r, lifts, p, m: [cvxpy.max(lifts) <= r.budget * cvxpy.min(lifts)],
    "TotalVariation": lambda r, lifts, p, m: [p @ cvxpy.abs(lifts - m * np.ones(len(p))) <= 2 * r.epsilon * m],
    "Called": lambda r, lifts, p, m: [cvxpy.norm(cvxpy.multiply(p**0.5, lifts - m * np.ones(len(p)))) <= r.epsilon * m],
    "KL": lambda r, lifts, p, m: [p @ cvxpy.rel_entr(lifts, m * np.ones(len(p))) <= r.epsilon * m],
}


class Chords:
    """The objective of a relaxation: phi replaced by its chord on every side of the box."""

    def __init__(self, prices, box):
        low, high = box
        at_low, at_high = (entropy(end[:, None], axis=-1) for end in box)
        self.box, self.rates = box, (at_high - at_low) / (high - low) - prices
        self.constant = float(at_low.sum() - prices @ low)

    def __call__(self, v):
        return self.constant + self.rates @ (v - self.box[0])

    def least(self, case):
        """Clarabel's optimum."""
        v = cvxpy.Variable(len(self.rates))
        rules = [v >= self.box[0], v <= self.box[1], cvxpy.sum(v) == 1, *constraints_on(case, v)]
        task = cvxpy.Problem(cvxpy.Minimize(self(v)), rules)
        task.solve(solver=cvxpy.CLARABEL)
        assert task.status == "optimal"
        return task.value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "count"), [((4, 6), 6), ((4, 130), 3)], ids=["few", "many"])
def test_relaxations_are_solved(kind, shape, count):
    """Whole boxes, where constraints bind, and smaller ones around feasible points; many symbols by a few at a time."""
    generator = np.random.default_rng(4)
    case = problem(kind, 1, shape)
    more = shape[1] / 6  # both solvers' errors grow with the symbols
    for point in case.feasible(generator, count):
        prices = generator.normal(size=len(point))
        share = generator.choice([0.02, 0.3, 1.0])
        box = point * (1 - share), point + (1 - point) * share
        # From a dual that is far off, where the cheapest symbols are other ones.
        bound, found, _ = relaxed(case.program, prices, box, dual=random_dual(case, generator))
        chords = Chords(prices, box)
        best = chords.least(case)
        assert bound == pytest.approx(best, abs=TOLERANCE)
        assert bound <= best + 1e-7 * more
        assert chords(found) == pytest.approx(best, abs=TOLERANCE * more)
        assert found.sum() == pytest.approx(1, abs=1e-6)
        inside = 0.9999 * found + 0.0001 * case.joint.p_x
        assert case.region.allows(inside[None] @ case.joint.lift.T, case.joint.p_s)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_thin_boxes_are_widened_and_still_solved(kind):
    """Sides of 1e-7, and boxes whose lower ends leave no mass: an interior there is all but none."""
    generator = np.random.default_rng(5)
    case = problem(kind, 2)
    for i, point in enumerate(case.feasible(generator, 4)):
        prices = generator.normal(size=len(point))
        side = np.where(generator.random(len(point)) < 0.5, 1e-7, 0.2)
        box = (point * (1 - side), point + side) if i % 2 else (point * (1 - 1e-8), np.minimum(point + side, 1.0))
        best = Chords(prices, box).least(case)
        bound = relaxed(case.program, prices, box)[0]
        assert bound == pytest.approx(best, abs=TOLERANCE)
        assert bound <= best + 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_boxes_with_a_single_distribution(kind):
    """Its lower or its upper ends sum to 1: the relaxation has no interior but for what the box is widened by."""
    generator = np.random.default_rng(9)
    case = problem(kind, 3)
    for i, point in enumerate(case.feasible(generator, 8)):
        prices = generator.normal(size=len(point))
        box = (point, point + 0.2) if i % 2 else (0.5 * point, point)
        assert relaxed(case.program, prices, box)[0] == pytest.approx(objective(point, prices), abs=1e-4)


def test_enough_is_enough():
    """A relaxation ends as soon as its bound is above the threshold, and not before."""
    case = problem("norm")
    generator = np.random.default_rng(6)
    prices, box = generator.normal(size=6), (np.zeros(6), np.ones(6))
    best = relaxed(case.program, prices, box)[0]
    for short in (1.0, 0.1, 1e-3):
        bound = relaxed(case.program, prices, box, best - short)[0]
        assert best - short <= bound <= best + 1e-7


@pytest.mark.parametrize("promise", [AlphaLift(3, 0.3), MaxLift(0.3), TotalVariation(0.2)], ids=str)
def test_rows_of_a_lid_are_eliminated_and_nothing_else_changes(promise):
    """With the rows V / P_X <= tau left in the system, the optimum is the same; sides of no width have no V to hold down."""
    generator = np.random.default_rng(7)
    joint = Joint(generator.integers(20, 90, (4, 6)), counts=True)
    region = Margin(promise, joint, 2.0)
    reduced, full = (concave_program(region.about(joint), region, MutualInformation()) for _ in range(2))
    full.__dict__["lid"] = 0
    assert reduced.lid == len(reduced.moments.T) - 6
    for _ in range(20):
        point, prices = generator.dirichlet(60 * joint.p_x), 0.3 * generator.normal(size=6)
        share = generator.choice([0.0, 0.02, 0.3, 1.0], size=6)
        box = point * (1 - share), point + (1 - point) * share
        bound, found, _ = relaxed(reduced, prices, box)
        assert bound == pytest.approx(relaxed(full, prices, box)[0], abs=TOLERANCE)
        if bound < np.inf and share.min() > 0:
            assert found == pytest.approx(relaxed(full, prices, box)[1], abs=1e-3)
