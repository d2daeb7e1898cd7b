"""Promises on average: against linear programs over grids of posteriors, exact lists, other measures, and each other."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from alphalift import (
    KL,
    LDP,
    LIP,
    AlphaLift,
    ChiSquare,
    Joint,
    MaxLift,
    Mechanism,
    MutualInformation,
    OnAverage,
    Optimal,
    Status,
    TotalVariation,
    compare,
    design,
)
from alphalift.document import to_document
from alphalift.measures import entropy
from alphalift.proof import checker
from alphalift.regions import averages_of
from strategies import joints, random_joint

GAP = 1e-4
UTILITY = MutualInformation()


def norm(lifts, p_s, alpha):
    return (lifts**alpha @ p_s) ** (1 / alpha)


def divergence(lifts, p_s):
    return np.where(lifts > 0, lifts * np.log(np.where(lifts > 0, lifts, 1.0)), 0.0) @ p_s


# Each promise beside psi and budget, written out once more.
KINDS = {
    "maximal leakage": (lambda e: OnAverage(MaxLift(e)), lambda lift, p: lift.max(axis=1), math.exp, 0.1),
    "Sibson": (lambda e: OnAverage(AlphaLift(3, e)), lambda lift, p: norm(lift, p, 3), math.exp, 0.06),
    "funnel": (lambda e: OnAverage(KL(e)), divergence, float, 0.03),
    "variation": (lambda e: OnAverage(TotalVariation(e)), lambda lift, p: abs(lift - 1) @ p / 2, float, 0.06),
    "chi-square": (lambda e: OnAverage(ChiSquare(e)), lambda lift, p: (lift - 1) ** 2 @ p, lambda e: e * e, 0.2),
}


def skewed(seed, shape):
    table = np.random.default_rng(seed).random(shape) ** 2
    return Joint(table / table.sum())


def grid(size, steps):
    points = [(*cell, steps - sum(cell)) for cell in itertools.product(range(steps + 1), repeat=size - 1)]
    return np.array([point for point in points if point[-1] >= 0]) / steps


def mixed(points, joint, values, budget):
    """The best mixture of these points with E_Y value <= budget: a bound on the optimum from below."""
    found = linprog(entropy(points), A_ub=values[None], b_ub=[budget], A_eq=points.T, b_eq=joint.p_x)
    return float(entropy(joint.p_x)) - found.fun


def solved(joint, region, **settings):
    (solution,) = Optimal(relative_gap=GAP, **settings).solve(joint, [region], UTILITY)
    return solution


def assert_certified(solution):
    assert solution.status in (Status.OPTIMAL, Status.TRIVIAL)
    assert solution.relative_gap <= GAP
    assert solution.mechanism.check(solution.region)
    size = len(solution.joint.p_x) + len(averages_of(solution.region))
    assert len(solution.mechanism.p_y) <= size


@pytest.mark.parametrize("shape", [(2, 3), (3, 3)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_against_a_linear_program_over_a_grid(kind, shape):
    make, psi, budget, epsilon = KINDS[kind]
    for seed in range(3):
        joint = skewed(seed, shape)
        points = np.vstack([grid(3, 120), joint.p_x])
        values = psi(points @ joint.lift.T, joint.p_s)
        below = mixed(points, joint, values, budget(epsilon))
        solution = solved(joint, make(epsilon))
        assert_certified(solution)
        everything = UTILITY.of_publishing_all(joint.p_x)
        assert solution.upper_bound >= below - 1e-9
        assert solution.utility >= below - GAP * everything
        # A grid misses little where psi is smooth, and kinks of the others by about a step.
        assert solution.utility <= below + (2e-3 if kind in ("Sibson", "funnel", "chi-square") else 3e-2) * everything


def cells(joint):
    """The vertices of all cells {V : s has the largest lift}: supports with as many ties of the largest."""
    secrets, size = joint.lift.shape
    found = []
    for count in range(1, secrets + 1):
        for support in itertools.combinations(range(size), count):
            for tied in itertools.combinations(range(secrets), count):
                own = joint.lift[np.ix_(tied, support)]
                system = np.vstack([own[:-1] - own[1:], np.ones(count)])
                if abs(np.linalg.det(system)) < 1e-12:
                    continue
                point = np.zeros(size)
                point[list(support)] = np.linalg.solve(system, np.eye(count)[-1])
                lifts = joint.lift @ point
                if point.min() > -1e-12 and lifts.max() <= lifts[list(tied)].max() + 1e-9:
                    found.append(np.maximum(point, 0) / np.maximum(point, 0).sum())
    return np.array(found)


@pytest.mark.parametrize("seed", range(4))
def test_maximal_leakage_against_its_exact_list_of_vertices(seed):
    """On a cell the largest lift is linear, so that its vertices suffice: docs/theory.md."""
    joint = random_joint(seed, (3, 4))
    points = np.vstack([cells(joint), joint.p_x])
    largest = (points @ joint.lift.T).max(axis=1)
    for epsilon in (0.02, 0.1, 0.3):
        best = mixed(points, joint, largest, math.exp(epsilon))
        solution = solved(joint, OnAverage(MaxLift(epsilon)))
        assert_certified(solution)
        assert solution.utility <= best + 1e-9
        assert solution.upper_bound >= best - 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_the_measures_say_what_was_promised(kind):
    make, _, _, epsilon = KINDS[kind]
    solution = design(random_joint(3, (4, 6)), make(epsilon))
    table = solution.mechanism.measures(alphas=[3.0]).xs("S")
    if kind == "maximal leakage":
        assert table.loc["maximal leakage", "overall"] <= epsilon + 1e-9
        assert table.loc["maximal leakage", "overall"] >= epsilon - 1e-6
    elif kind == "funnel":
        assert table.loc["mutual information", "overall"] == pytest.approx(epsilon, abs=1e-6)
    elif kind == "Sibson":
        sibson = next(row for name, row in table["overall"].items() if "Sibson" in name)
        assert sibson == pytest.approx(1.5 * epsilon, abs=1e-6)
    p_sy = solution.mechanism.p_s_given_y * solution.mechanism.p_y
    p_s = solution.joint.p_s
    direct = {
        "maximal leakage": math.log((p_sy / p_s[:, None]).max(axis=0).sum()),
        "Sibson": math.log(((p_sy**3 / p_s[:, None] ** 2).sum(axis=0) ** (1 / 3)).sum()),
        "funnel": entropy(p_s) + entropy(p_sy.sum(axis=0)) - entropy(p_sy.ravel()),
        "variation": np.abs(p_sy - np.outer(p_s, p_sy.sum(axis=0))).sum() / 2,
        "chi-square": math.sqrt((p_sy**2 / np.outer(p_s, p_sy.sum(axis=0))).sum() - 1),
    }
    assert direct[kind] == pytest.approx(epsilon, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_concave_in_the_budget_and_rises_to_everything(kind):
    make, psi, budget, _ = KINDS[kind]
    joint = random_joint(5, (3, 5))
    lifts = joint.lift.T
    nothing, most = psi(np.ones((1, 3)), joint.p_s)[0], float(joint.p_x @ psi(lifts, joint.p_s))
    inverse = {"maximal leakage": math.log, "Sibson": math.log, "chi-square": math.sqrt}.get(kind, float)
    shares = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    levels = nothing + shares * (most - nothing)
    found = [solved(joint, make(inverse(level))) for level in levels]
    assert [budget(inverse(level)) for level in levels] == pytest.approx(levels)
    lower, upper = (np.array([getattr(own, name) for own in found]) for name in ("utility", "upper_bound"))
    assert (np.diff(lower) > 0).all()
    assert (upper[1:-1] >= (lower[:-2] + lower[2:]) / 2 - 1e-9).all()
    above = solved(joint, make(inverse(most) + 1e-9))
    assert above.status is Status.TRIVIAL
    assert above.utility == pytest.approx(entropy(joint.p_x))
    assert solved(joint, make(0)).utility == pytest.approx(solved(joint, MaxLift(0)).utility, abs=1e-6)


@pytest.mark.parametrize(
    "region",
    [
        OnAverage(KL(0.02)) & MaxLift(0.3),
        OnAverage(MaxLift(0.05)) & LIP(0.5),
        OnAverage(ChiSquare(0.1)) & OnAverage(TotalVariation(0.03)) & LDP(1),
        OnAverage(AlphaLift(5, 0.05)) & AlphaLift(3, 0.1) & TotalVariation(0.2),
    ],
    ids=repr,
)
def test_several_promises_keep_all_and_are_no_better_than_any(region):
    joint = random_joint(7, (4, 6))
    solution = solved(joint, region)
    assert_certified(solution)
    for part in region.components:
        alone = solved(joint, part)
        assert solution.mechanism.check(part)
        assert solution.utility <= alone.upper_bound + 1e-9
    proven = to_document(design(joint, region))
    assert all(verdict.proven for verdict in checker.check(proven))


def test_a_promise_for_every_output_is_one_on_average():
    joint = random_joint(8, (4, 6))
    for of in (MaxLift(0.1), AlphaLift(3, 0.05), KL(0.02), TotalVariation(0.05), ChiSquare(0.2)):
        every, mean = solved(joint, of), solved(joint, OnAverage(of))
        assert every.mechanism.check(OnAverage(of))
        assert mean.upper_bound >= every.utility - 1e-9
        both = solved(joint, of & OnAverage(of))
        assert both.utility == pytest.approx(every.utility, abs=2 * GAP * entropy(joint.p_x))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "joint",
    [
        random_joint(0, (2, 7)),
        Joint(np.diag([5, 3, 2, 1]).tolist(), counts=True),
        Joint(np.random.default_rng(1).integers(1, 20, (3, 3))[:, [0, 1, 1, 2, 0]].tolist(), counts=True),
        Joint([[9, 0, 4, 1], [0, 5, 0, 2], [3, 3, 0, 0]], counts=True),
        Joint(np.outer([3, 1, 2], [4, 1, 5]).tolist(), counts=True),
        Joint([[4, 1, 5]], counts=True),
        Joint([[10**4, 10, 20], [10**4, 30, 10], [70, 10, 10]], counts=True),
    ],
    ids=["two secrets", "S = X", "equal columns", "zero cells", "independent", "one secret", "rare symbols"],
)
def test_joints_of_every_sort_are_designed_for_and_proven(kind, joint):
    make, _, _, epsilon = KINDS[kind]
    if joint.s_weights == joint.x_weights and kind == "funnel":
        pytest.skip("its bound closes slowly: see below")
    solution = design(joint, make(epsilon), solver=Optimal(time_limit=10))
    assert solution.mechanism.check(solution.region)
    assert solution.relative_gap <= 2 * GAP
    document = to_document(solution)
    assert all(verdict.proven for verdict in checker.check(document))
    everything = UTILITY.of_publishing_all(joint.p_x)
    claimed = {name: float(text) for name, text in document["claims"].items()}
    assert claimed["optimum_at_most"] - claimed["utility_at_least"] <= 2 * GAP * everything + 1e-12


def test_the_funnel_of_x_itself_keeps_its_budget_of_x():
    """I(S;Y) = I(X;Y). H(V) - u.V + KL is flat there, so that boxes have to be small everywhere: the bound is slow."""
    joint = Joint(np.diag([5, 3, 2, 1]).tolist(), counts=True)
    solution = design(joint, OnAverage(KL(0.3)), solver=Optimal(node_limit=3000))
    assert solution.utility == pytest.approx(0.3, abs=1e-6)
    assert 0.3 <= solution.upper_bound <= 0.35


@settings(max_examples=15)
@given(joints(secrets=(2, 4), useful=(2, 5)), st.sampled_from(sorted(KINDS)), st.floats(1e-4, 1.0))
def test_what_is_designed_keeps_the_promise_and_its_bound_is_proven(joint, kind, epsilon):
    make, psi, budget, _ = KINDS[kind]
    solution = design(joint, make(epsilon), solver=Optimal(relative_gap=1e-2, node_limit=200))
    mechanism = Mechanism(joint, solution.mechanism.p_y_given_x)
    value = mechanism.p_y @ psi(mechanism.lift.T, joint.p_s)
    assert value <= budget(round(epsilon, 12)) * (1 + 1e-9) + 1e-12
    assert all(verdict.proven for verdict in checker.check(to_document(solution)))


def test_no_baseline_is_above_the_bound():
    comparison = compare(random_joint(2, (4, 6)), OnAverage(KL(0.05)))
    kept = [row for row in comparison.rows if row.kept]
    assert len(kept) > 5
    assert comparison.best.name == comparison.optimum.name
    assert {row.name for row in comparison.rows if not row.applies} >= {"subset merging", "complete merging"}
