"""f-information from outside: definitions, fine grids of posteriors, the spectrum of the joint, symmetries, proofs."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import rel_entr

from alphalift import (
    KL,
    AlphaLift,
    ChiSquare,
    FInformation,
    Joint,
    MaxLift,
    Mechanism,
    MutualInformation,
    Optimal,
    SettingError,
    Status,
    describe,
    design,
    sweep,
    to_document,
)
from alphalift.compare import compare
from alphalift.utilities.f_information import CURVES

REGIONS = [MaxLift(0.15), AlphaLift(3, 0.1), KL(0.03)]
named = pytest.mark.parametrize("name", CURVES)


def divergence(name, v, p):
    """D_f(V || P) from its definition in the literature, for every row of v."""
    middle = (v + p) / 2
    return {
        "kl": lambda: rel_entr(v, p),
        "chi_square": lambda: (v - p) ** 2 / p,
        "total_variation": lambda: np.abs(v - p) / 2,
        "hellinger": lambda: (np.sqrt(v) - np.sqrt(p)) ** 2,
        "jensen_shannon": lambda: (rel_entr(v, middle) + rel_entr(p, middle)) / 2,
        "le_cam": lambda: (v - p) ** 2 / (v + p) / 2,
    }[name]().sum(axis=-1)


def random_joint(seed, shape=(3, 4)):
    return Joint(np.random.default_rng(seed).integers(1, 30, shape).tolist(), counts=True)


@named
def test_a_mechanism_is_worth_its_mean_divergence(name):
    rng, utility = np.random.default_rng(0), FInformation(name)
    for seed in range(10):
        joint = random_joint(seed)
        law = rng.dirichlet(np.full(5, 0.3), size=4).T
        mechanism = Mechanism(joint, law)
        expected = mechanism.p_y @ divergence(name, mechanism.p_x_given_y.T, joint.p_x)
        assert mechanism.utility(utility) == pytest.approx(expected, rel=1e-12, abs=1e-14)
        all_of_it = joint.p_x @ divergence(name, np.eye(4), joint.p_x)
        assert utility.on(joint).of_publishing_all(joint.p_x) == pytest.approx(all_of_it, rel=1e-12)
        assert Mechanism.publishing_all(joint).normalized_utility(utility) == pytest.approx(1, abs=1e-12)
        assert Mechanism(joint, np.full((2, 4), 0.5)).utility(utility) == pytest.approx(0, abs=1e-14)


@cache
def grid(size, steps):
    """All posteriors of so many symbols whose entries are multiples of 1 / steps."""
    heads = (head for head in product(range(steps + 1), repeat=size - 1) if sum(head) <= steps)
    return np.array([[*head, steps - sum(head)] for head in heads]) / steps


def best_on_a_grid(joint, region, name, steps):
    """The most useful mixture of allowed posteriors of a grid, by a linear program that we did not write."""
    points = np.concatenate([grid(len(joint.p_x), steps), joint.p_x[None]])
    points = points[region.allows(points @ joint.lift.T, joint.p_s)]
    found = linprog(-divergence(name, points, joint.p_x), A_eq=points.T, b_eq=joint.p_x, method="highs")
    return -found.fun


@named
@pytest.mark.parametrize("region", REGIONS, ids=repr)
@pytest.mark.parametrize("shape", [(2, 3), (3, 3)])
def test_no_mixture_on_a_fine_grid_is_worth_more_and_a_grid_comes_near(name, region, shape):
    utility = FInformation(name)
    for seed in range(2):
        joint = random_joint(seed, shape)
        solution = design(joint, region, utility=utility)
        everything = utility.on(joint).of_publishing_all(joint.p_x)
        assert solution.status in (Status.OPTIMAL, Status.TRIVIAL)
        best = best_on_a_grid(joint, region, name, 60)
        assert best <= solution.upper_bound + 1e-9
        assert best >= solution.utility - 0.08 * everything
        assert solution.utility <= solution.upper_bound + 1e-12
        assert solution.mechanism.check(region)
        if shape == (2, 3):  # a finer one comes nearer
            assert best_on_a_grid(joint, region, name, 200) >= solution.utility - 0.03 * everything


@pytest.mark.parametrize("region", REGIONS, ids=repr)
def test_kl_is_mutual_information(region):
    for seed, shape in [(0, (3, 5)), (1, (2, 6)), (2, (5, 4))]:
        joint = random_joint(seed, shape)
        own, usual = (design(joint, region, utility=utility) for utility in (FInformation("kl"), MutualInformation()))
        assert own.utility == pytest.approx(usual.utility, abs=2e-4 * usual.utility)
        assert own.utility <= usual.upper_bound + 1e-9
        assert usual.utility <= own.upper_bound + 1e-9
        assert own.mechanism.utility() == pytest.approx(own.utility, rel=1e-12)


def test_chi_square_information_of_perfect_privacy_is_the_spectrum_left():
    """With X uniform and posteriors P_X + (a direction that tells nothing), U = |X| E ||V - P_X||^2: at |X| = 3 with one such
    direction, both ends of the segment of distributions along it."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        direction = rng.integers(-9, 9, 3).astype(float)
        direction -= direction.mean()
        if not direction.any():
            continue
        tells = np.cross(direction, np.ones(3)) / 100  # a change of P(s|x) along x that is orthogonal to the direction
        joint = Joint(np.stack([1 + tells, 1 - tells]) / 6)
        ends = [min(1 / 3 / -d for d in sign * direction if d < 0) for sign in (1, -1)]
        expected = 3 * ends[0] * ends[1] * (direction @ direction)  # the mean of two ends is P_X
        solution = design(joint, MaxLift(0), utility=FInformation("chi_square"))
        assert solution.utility == pytest.approx(expected, rel=1e-6)


def test_a_small_budget_of_chi_square_is_spent_along_the_singular_vectors():
    """chi-square information of X at a chi-square budget e about S = X (any P_X): U <= e^2 for every posterior, and it is met:
    the spectrum of the identity."""
    joint = Joint(np.diag([5, 3, 2, 2]), counts=True)
    for epsilon in (0.1, 0.3):
        solution = design(joint, ChiSquare(epsilon), utility=FInformation("chi_square"))
        assert solution.utility == pytest.approx(epsilon**2, rel=1e-3)
        assert solution.upper_bound >= epsilon**2 * (1 - 1e-9)


@named
def test_symmetries(name):
    joint, region, utility = random_joint(5, (3, 5)), AlphaLift(3, 0.08), FInformation(name)
    counts = np.array(joint.weights)
    first = design(joint, region, utility=utility)
    slack = 2e-4 * utility.on(joint).of_publishing_all(joint.p_x)
    for other in (counts[::-1], counts[:, [4, 2, 0, 1, 3]], 7 * counts, np.concatenate([counts, 2 * counts])):
        again = design(Joint(other.tolist(), counts=True), region, utility=utility)
        assert again.utility == pytest.approx(first.utility, abs=slack)


@named
def test_what_is_equal_about_the_secret_is_not_merged(name):
    """Symbols with equal columns are no types of this utility: the split problem is solved as it is, and proven."""
    joint = Joint([[8, 6, 12, 2], [2, 6, 3, 8]], counts=True)
    solution = design(joint, MaxLift(0.2), utility=FInformation(name))
    document = to_document(solution)
    assert document["certificate"]["kind"] == "tree"
    assert len(document["certificate"]["prices"]) == 4
    assert best_on_a_grid(joint, MaxLift(0.2), name, 20) <= solution.upper_bound + 1e-9


@named
def test_it_grows_with_the_budget_up_to_publishing_everything(name):
    joint, utility = random_joint(6, (3, 4)), FInformation(name)
    found = sweep(joint, [MaxLift(e) for e in (0, 0.02, 0.1, 0.3, 1, 4)], utility=utility)
    kept = [solution.normalized_utility for solution in found.solutions[0]]
    assert all(np.diff(kept) > -1e-4)
    assert kept[-1] == pytest.approx(1)
    assert found.solutions[0][-1].status is Status.TRIVIAL


@named
def test_no_baseline_exceeds_it(name):
    for seed, region in enumerate(REGIONS):
        compared = compare(random_joint(seed, (3, 5)), region, utility=FInformation(name))
        assert all(row.normalized_utility <= compared.normalized_bound + 1e-9 for row in compared.rows if row.kept)
        assert compared.optimum.normalized_utility >= compared.best.normalized_utility - 1e-4


def test_a_tree_of_total_variation_splits_symbols_at_their_shares():
    """Where chords are exact on either side. Other splits are of boxes with a better column, before it was mixed."""
    joint = random_joint(12, (4, 6))
    solution = Optimal().solve(joint, [MaxLift(0.1)], FInformation("total_variation"))[0]
    tree = solution.certificate
    split = tree.child > 0
    assert split.sum() > 5
    assert np.isclose(tree.split_at[split], joint.p_x[tree.symbol[split]], rtol=1e-15, atol=0).mean() > 0.5


# --- words ---


def test_words_speak_for_it():
    joint = random_joint(9)
    for name, words, unit in [
        ("chi_square", "chi-square information", ""),
        ("jensen_shannon", "Jensen-Shannon information", " nats"),
    ]:
        solution = design(joint, MaxLift(0.05), utility=FInformation(name))
        told = describe(solution, useful="education")
        everything = solution.utility_function.of_publishing_all(joint.p_x)
        kept = f"of the {words} in education ({solution.utility:.3f} of {everything:.3f}{unit})."
        assert kept in told
        assert f"of the {words} in education. Publishing" in told
        assert repr(solution.utility_function) == f"FInformation(f='{name}')"


# --- a user's own f ---


def jeffreys_like(t):
    return abs(t - 1) ** 1.5


calls = 0


def uncompilable(t):
    global calls
    calls += 1
    return (t - 1) ** 2


def test_a_users_f_is_designed_for_and_unproven():
    joint = random_joint(10)
    own = design(joint, AlphaLift(3, 0.05), utility=FInformation(jeffreys_like))
    assert own.status is Status.UNPROVEN_UTILITY
    assert own.relative_gap < 2e-4
    posteriors = own.mechanism.p_x_given_y.T
    expected = own.mechanism.p_y @ (joint.p_x * np.abs(posteriors / joint.p_x - 1) ** 1.5).sum(axis=1)
    assert own.utility == pytest.approx(expected, rel=1e-9)
    assert to_document(own)["claims"] == {}
    assert "f-information in X" in describe(own)


def test_a_function_that_cannot_be_compiled_is_called():
    joint = random_joint(11)
    called = design(joint, AlphaLift(3, 0.05), utility=FInformation(uncompilable), solver=Optimal(relative_gap=1e-3))
    known = design(joint, AlphaLift(3, 0.05), utility=FInformation("chi_square"))
    assert called.utility == pytest.approx(known.utility, rel=2e-3)
    assert calls > 1000
    assert called.status is Status.UNPROVEN_UTILITY


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda t: -((t - 1) ** 2), "must be convex, and is not near t = "),
        (lambda t: (t - 1) ** 2 + 0.1, r"f\(1\) must be 0, and is 0.1"),
        (lambda t: -math.log(t) if t > 0 else math.inf, r"f\(0\) must be finite"),
        (lambda t: -math.log(t), r"f must be defined for every t from 0 on, f\(0\) included: ValueError"),
        (lambda t: math.nan if t > 2 else (t - 1) ** 2, "f must be finite, and is not at t = 2"),
        (lambda t: (t - 1) ** 2 if t < 50 else 2401 + t - 50, "must be convex"),
        (lambda t: "many", "must be defined"),
        (3, "f is a name"),
        ("Hellinger", "perhaps 'hellinger'"),
    ],
)
def test_what_is_no_f_is_refused_with_the_reason(f, message):
    with pytest.raises(SettingError, match=message):
        FInformation(f)


def test_a_joint_with_rarer_symbols_is_looked_at_further():
    def bends_late(t):
        return t * t - 1 if t < 5000 else 5000.0 * t - 1

    utility = FInformation(bends_late)
    with pytest.raises(SettingError, match="must be convex"):
        design(Joint([[10**6, 1, 7], [10**6, 9, 3]], counts=True), MaxLift(0.1), utility=utility)


def test_it_must_be_resolved_and_a_sweep_of_a_function_is_not_resumed(tmp_path):
    with pytest.raises(SettingError, match="depends on P_X"):
        FInformation("kl").uncertainty(np.eye(3))
    with pytest.raises(SettingError, match="text does not tell"):
        sweep(random_joint(0), [MaxLift(0.1)], utility=FInformation(jeffreys_like), resume=tmp_path / "cells")
