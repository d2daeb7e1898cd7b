"""What every utility owes under every promise: designs that keep it, with a proof, between what others do and the bound."""

import itertools

import numpy as np
import pytest

from alphalift import Joint, Mechanism, Optimal, Status, to_document
from alphalift.compare import compare
from alphalift.proof import checker
from alphalift.utilities import Decision, FInformation, GuessingAccuracy, MutualInformation, SquaredError
from alphalift.utilities.f_information import CURVES
from regions.every import AVERAGES, FAMILIES

# A function of the labels of X for every utility: what a value gains, or is as a number, is its own wherever it stands.
UTILITIES = {
    "MutualInformation": lambda labels: MutualInformation(),
    **{name: lambda labels, name=name: FInformation(name) for name in CURVES},
    "GuessingAccuracy": lambda labels: GuessingAccuracy(),
    "Decision": lambda labels: Decision(
        [[(7 * x + 3 * a) % 5 for x in range(len(labels))] for a in range(3)], values=labels
    ),
    "SquaredError": lambda labels: SquaredError({label: x * x + x - 3 for x, label in enumerate(labels)}),
    "SquaredError in a plane": lambda labels: SquaredError({label: [x, x * x % 3] for x, label in enumerate(labels)}),
}
SOLVER = Optimal(relative_gap=1e-3, threads=1)
PROMISES = FAMILIES | AVERAGES
BUDGET, RISING = 0.1, (0, 0.03, 0.2, 1, 100)
SMALL = np.random.default_rng(7).integers(1, 20, (3, 4))
JOINTS = {
    "3 x 4": Joint(SMALL.tolist(), counts=True),
    "2 x 4, a zero cell": Joint([[4, 0, 3, 2], [1, 5, 2, 2]], counts=True),
    "S is X": Joint(np.diag([5, 3, 2]).tolist(), counts=True),
}
# Every promise with every utility. Joints, and changes of one, take turns: every promise and every utility meets all of them.
PAIRS = [
    pytest.param(promise, utility, i + j, id=f"{of}-{under}")
    for i, (under, promise) in enumerate(PROMISES.items())
    for j, (of, utility) in enumerate(UTILITIES.items())
]
of_every_pair = pytest.mark.parametrize(("promise", "utility", "turn"), PAIRS)


def joint_of(turn):
    return list(JOINTS.values())[turn % len(JOINTS)]


@of_every_pair
def test_kept_proven_certified_and_above_every_baseline(promise, utility, turn):
    joint, region = joint_of(turn), promise(BUDGET)
    utility = utility(joint.x_labels)
    comparison = compare(joint, region, utility=utility, solver=SOLVER)  # raises if a baseline exceeds the bound
    solution = comparison.solution
    mechanism, everything = solution.mechanism, utility.on(joint).of_publishing_all(joint.p_x)
    assert solution.status in (Status.OPTIMAL, Status.TRIVIAL)
    assert mechanism.check(region)
    np.testing.assert_allclose(mechanism.p_x_given_y @ mechanism.p_y, joint.p_x, atol=1e-12)
    assert 0 <= solution.utility <= solution.upper_bound <= everything * (1 + 1e-12)
    assert solution.relative_gap <= SOLVER.relative_gap
    feasible = [row.normalized_utility for row in comparison.rows if row.kept]
    assert len(feasible) >= 4
    assert comparison.optimum.normalized_utility >= max(feasible) - SOLVER.relative_gap
    document = to_document(solution)
    assert document["certificate"] is not None or solution.upper_bound == everything, "nothing else needs no proof"
    verdicts = checker.check(document)
    assert all(verdict.proven for verdict in verdicts), verdicts
    worth, most = (float(document["claims"][name]) for name in ("utility_at_least", "optimum_at_most"))
    assert worth == pytest.approx(solution.utility, abs=1e-9 * everything)
    assert worth <= most <= solution.upper_bound + 1e-5 * everything, "the file proves what the solver found"


@of_every_pair
def test_more_budget_is_worth_more_up_to_publishing_x(promise, utility, turn):
    regions = [promise(budget) for budget in RISING]
    about = regions[0].about(joint_of(turn))
    utility, everything = utility(about.x_labels).on(about), Mechanism.publishing_all(about)
    found = SOLVER.solve(about, regions, utility)
    for region, solution in zip(regions, found, strict=True):
        assert solution.utility <= solution.upper_bound + 1e-12
        published = everything.check(region).kept
        assert (solution.status is Status.TRIVIAL) == published
        if published:
            assert solution.utility == utility.of_publishing_all(about.p_x)
    for smaller, larger in itertools.pairwise(found):
        assert smaller.utility <= larger.upper_bound + 1e-9
    assert (
        found[-1].status is Status.TRIVIAL or (about.p_sx == 0).any()
    )  # where lifts of 0 are forbidden whatever the budget


@of_every_pair
def test_names_halves_and_symbols_without_mass_change_nothing(promise, utility, turn):
    """The same optimum, so that each design is below the other's bound."""
    generator, labels = np.random.default_rng(3), list("abcd")
    s, x = generator.permutation(3), generator.permutation(4)
    changed = [
        (SMALL[s][:, x], [labels[own] for own in x]),
        (np.vstack([2 * SMALL[1:], SMALL[:1], SMALL[:1]]), labels),
        (np.pad(SMALL, ((0, 1), (0, 1))), [*labels, "e"]),
    ][turn % 3]
    usual, other = (
        solved(Joint(table.tolist(), counts=True, x_labels=names), promise(BUDGET), utility(labels))
        for table, names in ((SMALL, labels), changed)
    )
    for one, same in ((usual, other), (other, usual)):
        assert one.relative_gap <= SOLVER.relative_gap
        assert one.utility <= same.upper_bound + 1e-9


def solved(joint, region, utility):
    about = region.about(joint)
    return SOLVER.solve(about, [region], utility.on(about))[0]
