"""The certified optimum: against independent oracles, the heuristic, and its own bound."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from alphalift import (
    Algorithm1,
    AlphaLift,
    Joint,
    MaxLift,
    MutualInformation,
    Optimal,
    SettingError,
    Status,
    Utility,
    Vertices,
    design,
    grid,
    sweep,
)
from alphalift.baselines import CompleteMerging, SubsetMerging
from alphalift.geometry.concave import Search
from alphalift.geometry.mixture import MixtureProgram
from alphalift.measures import entropy, epsilon_max
from alphalift.solvers.search import concave_program
from strategies import random_joint

GAP = 1e-4


def assert_certified(solution, gap=GAP):
    assert solution.status in (Status.OPTIMAL, Status.TRIVIAL)
    assert solution.relative_gap <= gap
    assert solution.utility <= solution.upper_bound + 1e-12
    assert solution.mechanism.check(solution.region)
    np.testing.assert_allclose(solution.mechanism.p_x_given_y @ solution.mechanism.p_y, solution.joint.p_x, atol=1e-12)
    assert len(solution.mechanism.p_y) <= len(solution.joint.p_x)


# The intervals that a second, throw-away implementation certified for this joint (outer approximation).
KNOWN = {
    (100, 0.1): (0.61612, 0.61621),
    (100, 0.3): (0.80016, 0.80024),
    (10, 0.01): (0.47321, 0.47330),
    (10, 0.05): (0.60431, 0.60440),
    (10, 0.1): (0.68591, 0.68601),
    (10, 0.3): (0.87820, 0.87820),
    (3, 0.01): (0.56947, 0.56953),
    (3, 0.05): (0.72918, 0.72922),
    (3, 0.1): (0.82418, 0.82421),
    (3, 0.3): (0.98191, 0.98191),
    (1.5, 0.01): (0.70019, 0.70021),
    (1.5, 0.05): (0.88362, 0.88362),
    (1.5, 0.1): (0.97128, 0.97128),
}


@pytest.mark.parametrize(("alpha", "epsilon"), KNOWN)
def test_known_intervals(alpha, epsilon):
    solution = design(random_joint(0), AlphaLift(alpha, epsilon))
    assert_certified(solution)
    low, high = KNOWN[alpha, epsilon]
    everything = solution.utility_function.of_publishing_all(solution.joint.p_x)
    assert solution.normalized_utility <= high + 1e-5, "above what the other implementation proved"
    assert solution.upper_bound / everything >= low - 1e-5, "a bound below what the other implementation reached"


def grid_optimum(joint, region, steps):
    """The best mixture of all allowed posteriors on a grid of the simplex: brute force, from below."""
    size = len(joint.p_x)
    parts = [c for c in itertools.product(range(steps + 1), repeat=size - 1) if sum(c) <= steps]
    points = np.array([[*c, steps - sum(c)] for c in parts]) / steps
    points = np.vstack([points[region.allows(points @ joint.lift.T, joint.p_s)], joint.p_x])
    answer = linprog(entropy(points), A_eq=points.T, b_eq=joint.p_x, method="highs")
    return float(entropy(joint.p_x)) - answer.fun


@pytest.mark.parametrize("shape", [(2, 3), (3, 3)], ids=str)
@pytest.mark.parametrize("alpha", [1.3, 3, 30, math.inf])
@pytest.mark.parametrize("seed", range(3))
def test_brute_force_on_a_fine_grid(shape, alpha, seed):
    """Brute force never exceeds the certified bound, and comes close to the utility as the grid is refined."""
    joint = random_joint(seed, shape)
    region = AlphaLift(alpha, 0.4 * epsilon_max(joint, alpha))
    solution = design(joint, region)
    assert_certified(solution)
    brute = grid_optimum(joint, region, 250)
    assert brute <= solution.upper_bound + 1e-9
    assert brute >= solution.utility - 0.01 * solution.utility_function.of_publishing_all(joint.p_x)


@pytest.mark.parametrize("alpha", [1.2, 2, 9, math.inf])
def test_closed_form_for_binary_s_and_x(alpha):
    """Uniform P_X, P(S=1|X) = 1/2 +- d: posteriors 1/2 +- v with the lift 1 +- 4dv on the boundary."""
    d = 0.3
    joint = Joint([[8, 2], [2, 8]], counts=True)
    region = AlphaLift(alpha, 0.02)
    low, high = 0.0, 0.5
    for _ in range(100):
        v = (low + high) / 2
        lifts = np.array([1 + 4 * d * v, 1 - 4 * d * v])
        norm = lifts.max() if math.isinf(alpha) else np.mean(lifts**alpha) ** (1 / alpha)
        low, high = (v, high) if norm <= math.exp(0.02) else (low, v)
    posterior = np.array([0.5 + low, 0.5 - low])
    expected = math.log(2) - float(entropy(posterior))
    solution = design(joint, region, solver=Optimal(relative_gap=1e-9))
    assert solution.utility == pytest.approx(expected, abs=1e-9)
    assert_certified(solution, 1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.4])
def test_the_vertex_program_for_max_lift(seed, epsilon):
    joint = random_joint(seed, (4, 7))
    exact = design(joint, MaxLift(epsilon), solver=Vertices()).utility
    solution = design(joint, MaxLift(epsilon))
    assert_certified(solution)
    assert solution.utility <= exact + 1e-9
    assert exact <= solution.upper_bound + 1e-9


def test_scip_agrees_with_the_pricing_bound():
    """min over F of h(V) - u.V by a global solver, at prices that a vertex program gives: our bound is not above."""
    import pyscipopt as scip

    joint, region = random_joint(4, (3, 5)), MaxLift(0.2)
    vertices = design(joint, region, solver=Vertices()).mechanism.p_x_given_y.T
    prices = MixtureProgram(joint.p_x, float(entropy(joint.p_x))).solve(vertices, entropy(vertices)).prices + 0.05
    model = scip.Model()
    model.hideOutput()
    v = [model.addVar(lb=1e-9, ub=1.0) for _ in joint.p_x]
    value = model.addVar(lb=None)
    model.addCons(scip.quicksum(v) == 1)
    for row in joint.lift:
        model.addCons(scip.quicksum(float(a) * b for a, b in zip(row, v, strict=True)) <= region.budget)
    model.addCons(scip.quicksum(-b * scip.log(b) - float(u) * b for u, b in zip(prices, v, strict=True)) <= value)
    model.setObjective(value, "minimize")
    model.optimize()
    search = Search(concave_program(joint, region, MutualInformation()), prices, np.inf)
    for _ in range(200):
        search.grow(8)
    assert search.lower_bound == pytest.approx(model.getObjVal(), abs=2e-3)
    assert search.lower_bound <= model.getObjVal() + 1e-5


SHAPES = [(s, x) for s in (2, 3, 4, 6) for x in (2, 3, 5, 8, 12) if s <= x + 2]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_never_below_the_heuristic_never_above_the_bound(shape):
    """Random joints of every shape, some with zero cells."""
    generator = np.random.default_rng(shape)
    table = generator.integers(0, 40, size=shape) * (generator.random(shape) < 0.85)
    table[table.sum(axis=1) == 0, 0] = 1
    table[0, table.sum(axis=0) == 0] = 1
    joint = Joint(table.tolist(), counts=True)
    regions = grid(AlphaLift, alpha=[math.inf, 10, 2], epsilon=[0.01, 0.1, 0.5])
    heuristic = sweep(joint, regions, solver=Algorithm1())
    optimum = sweep(joint, regions)
    for region in regions:
        solution = optimum.at(region)
        assert_certified(solution)
        everything = solution.utility_function.of_publishing_all(joint.p_x)
        assert heuristic.at(region).utility <= solution.upper_bound + 1e-9
        assert heuristic.at(region).utility <= solution.utility + GAP * everything + 1e-12


def test_monotone_in_epsilon_and_alpha_to_within_the_gap():
    alphas, epsilons = [math.inf, 30, 5, 1.5], [0.0, 0.02, 0.1, 0.3]
    tradeoff = sweep(random_joint(8, (4, 6)), grid(AlphaLift, alpha=alphas, epsilon=epsilons))
    utility = tradeoff.to_frame()["normalized_utility"].to_numpy().reshape(len(alphas), len(epsilons))
    assert np.diff(utility, axis=0).min() > -2 * GAP
    assert np.diff(utility, axis=1).min() > -2 * GAP


DEGENERATE = {
    "equal columns": Joint([[1, 1, 2, 5], [3, 3, 1, 2], [1, 1, 1, 9]], counts=True),
    "zero cells": Joint([[5, 0, 1, 0, 2], [0, 3, 0, 2, 2], [1, 1, 1, 1, 0]], counts=True),
    "S is X": Joint(np.diag([1, 2, 3, 4]).tolist(), counts=True),
    "rare": Joint([[1, 50000, 30000, 7], [3, 20000, 90000, 2], [2, 3, 70000, 1]], counts=True),
    "nearly independent": Joint([[1000, 1001, 999], [1001, 1000, 1000], [1000, 1000, 1001]], counts=True),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("alpha", [1.001, 1.5, 5, 1e6, math.inf])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.999, 1.0])
def test_degenerate_instances(name, alpha, share):
    """From perfect privacy to just below and at eps_max: a kept promise and a valid bound, always.

    The gap closes too, but for two corners where the allowed lifts are a set that is flat to 1e-6 (alpha next
    to 1, S and X nearly independent): see docs/theory.md.
    """
    joint = DEGENERATE[name]
    region = AlphaLift(alpha, share * epsilon_max(joint, alpha))
    solution = design(joint, region, solver=Optimal(node_limit=20_000))
    flat = (alpha < 1.01 and share > 0) or name == "nearly independent"
    if not flat:
        assert_certified(solution)
    assert solution.mechanism.check(region)
    for other in (SubsetMerging(), CompleteMerging()):
        assert design(joint, region, solver=other).utility <= solution.upper_bound + 1e-9
    heuristic = design(joint, AlphaLift(math.inf, region.epsilon), solver=Vertices())
    assert heuristic.utility <= solution.upper_bound + 1e-9, "max-lift is the stronger promise"


def test_perfect_privacy_is_the_same_for_every_alpha():
    joint = random_joint(0)
    expected = design(joint, MaxLift(0), solver=Vertices()).utility
    for alpha in (1.5, 3, math.inf):
        solution = design(joint, AlphaLift(alpha, 0))
        assert_certified(solution)
        assert solution.utility == pytest.approx(expected, abs=2e-4)
        assert solution.mechanism.leakage(math.inf) < 1e-11


def test_a_looser_gap_is_cheaper_and_still_valid():
    loose = design(random_joint(0), AlphaLift(10, 0.01), solver=Optimal(relative_gap=0.05))
    tight = design(random_joint(0), AlphaLift(10, 0.01), solver=Optimal(relative_gap=1e-5))
    assert_certified(loose, 0.05)
    assert_certified(tight, 1e-5)
    assert loose.certificate.leaves < tight.certificate.leaves
    assert tight.utility <= loose.upper_bound


def test_a_limit_returns_the_best_so_far_with_a_valid_bound():
    best = design(random_joint(0), AlphaLift(10, 0.01)).utility
    for settings in ({"time_limit": 1e-6}, {"node_limit": 1}, {"node_limit": 60}):
        solution = design(random_joint(0), AlphaLift(10, 0.01), solver=Optimal(**settings))
        assert solution.status in (Status.TIME_LIMIT, Status.NODE_LIMIT)
        assert solution.relative_gap > GAP
        assert solution.upper_bound >= best
        assert solution.mechanism.check(solution.region)


def test_a_run_that_ends_at_its_node_limit_can_be_repeated_exactly():
    one, other = (design(random_joint(3), AlphaLift(4, 0.02), solver=Optimal(node_limit=200)) for _ in range(2))
    assert one.status is Status.NODE_LIMIT
    np.testing.assert_array_equal(one.mechanism.p_y_given_x, other.mechanism.p_y_given_x)
    assert one.upper_bound == other.upper_bound


def test_progress_is_reported_and_closes():
    seen = []
    design(random_joint(0), MaxLift(0.01), solver=Optimal(progress=seen.append))
    assert seen[-1].relative_gap <= GAP
    assert all(a.upper_bound >= b.upper_bound and a.utility <= b.utility + 1e-12 for a, b in itertools.pairwise(seen))


def test_interrupting_returns_the_best_so_far():
    def interrupt(progress):
        raise KeyboardInterrupt

    solution = design(random_joint(0), MaxLift(0.01), solver=Optimal(relative_gap=1e-9, progress=interrupt))
    assert solution.status is Status.INTERRUPTED
    assert solution.mechanism.check(MaxLift(0.01))


def test_the_certificate_is_a_tree_that_covers_the_root():
    solution = design(random_joint(0), AlphaLift(3, 0.05))
    tree = solution.certificate
    inner = np.flatnonzero(tree.child)
    children = np.concatenate([tree.child[inner], tree.child[inner] + 1])
    assert sorted(children) == list(range(1, len(tree.child))), "every node but the root has one parent"
    leaves = tree.child == 0
    assert tree.leaves == leaves.sum() == len(inner) + 1
    # What was trimmed is only known to lie above the threshold.
    bound = tree.prices @ solution.joint.p_x + min(tree.threshold, tree.bound[leaves].min())
    before = float(entropy(solution.joint.p_x))
    assert before - bound == pytest.approx(solution.upper_bound, abs=1e-9)
    for joint in (random_joint(0), random_joint(0, (2, 5))):
        assert design(joint, AlphaLift(3, 0.05)).certificate is not None
        assert design(joint, AlphaLift(3, 0.05), solver=Optimal(keep_certificate=False)).certificate is None


@pytest.mark.parametrize(
    ("seed", "shape", "region"), [(34, (4, 2), AlphaLift(100, 0.05)), (268, (4, 3), AlphaLift(10, 0.2))]
)
def test_no_mechanism_exceeds_the_bound_where_slabs_are_trimmed(seed, shape, region):
    generator = np.random.default_rng([20240, seed])
    for _ in range(20):
        weights = generator.random(shape) * (generator.random(shape) < 0.7) + 1e-9
        joint = Joint(weights / weights.sum())
        loose = design(joint, region, solver=Optimal(relative_gap=1e-2))
        tight = design(joint, region, solver=Optimal(relative_gap=1e-6))
        assert tight.utility <= loose.upper_bound + 1e-10


@pytest.mark.parametrize("seed", range(40))
def test_two_secrets_with_ties_zero_cells_and_symbols_on_the_end(seed):
    generator = np.random.default_rng(seed)
    counts = generator.integers(0, 4, (2, generator.integers(1, 12)))
    counts[:, 0] += 1
    region = AlphaLift(generator.choice([1.2, 3, math.inf]), generator.choice([0, 1e-9, 0.01, 0.2, 1]))
    assert_certified(design(Joint(counts, counts=True), region))


def test_two_secrets_with_two_symbols_where_no_lift_is_larger():
    # Their deviations are the region's end to the last bit; once the first mixture removed one from the wrong group.
    p_sx = [
        [0.0, 0.4192372132391141, 0.30884369412135626, 0.026998690153911882],
        [0.04820193025076559, 0.0, 0.1967184722348522, 0.0],
    ]
    assert_certified(design(Joint(p_sx), AlphaLift(1.5, 0.2)))


def test_threads_change_nothing():
    answers = [design(random_joint(1), AlphaLift(10, 0.02), solver=Optimal(threads=threads)) for threads in (1, 2, 3)]
    for other in answers[1:]:
        assert other.upper_bound == answers[0].upper_bound
        np.testing.assert_array_equal(other.mechanism.p_y_given_x, answers[0].mechanism.p_y_given_x)


def test_neighbours_in_a_sweep_get_the_same_answers_as_alone():
    joint, regions = random_joint(2, (4, 7)), grid(AlphaLift, alpha=[math.inf, 3], epsilon=[0.05, 0.1, 0.2])
    together = sweep(joint, regions)
    for region in regions:
        assert together.at(region).normalized_utility == pytest.approx(
            design(joint, region).normalized_utility, abs=GAP
        )


def test_large_alphabets():
    solution = design(random_joint(0, (6, 40)), AlphaLift(3, 0.3), solver=Optimal(relative_gap=1e-2))
    assert_certified(solution, 1e-2)


def test_two_secrets_are_solved_exactly():
    solution = design(random_joint(0, (2, 300)), AlphaLift(5, 0.1), solver=Optimal(relative_gap=1e-9))
    assert_certified(solution, 1e-9)


@pytest.mark.parametrize(
    "settings",
    [{"relative_gap": 0.0}, {"relative_gap": math.nan}, {"time_limit": 0.0}, {"node_limit": 0}],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingError):
        Optimal(**settings)


def test_what_cannot_be_compiled_is_refused():
    class Odd(Utility):
        def uncertainty(self, points):
            return entropy(points)

    for joint in (random_joint(0), random_joint(0, (2, 5))):
        with pytest.raises(SettingError, match="compiled curve"):
            design(joint, MaxLift(0.1), utility=Odd())
