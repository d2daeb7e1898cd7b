"""Utilities in pieces beside convex programs, linear programs over grids, qif, and what must be true of every optimum."""

import math

import numpy as np
import pandas as pd
import pieces
import pytest
import qif

from alphalift import (
    KL,
    LDP,
    LIP,
    AlphaLift,
    ChiSquare,
    Concave,
    Decision,
    GuessingAccuracy,
    InputError,
    Joint,
    MaxLift,
    MutualInformation,
    Optimal,
    SquaredError,
    Status,
    design,
)
from alphalift.baselines import SubsetMerging, XInvariant
from alphalift.document import to_document
from alphalift.proof import checker
from alphalift.regions import perfect_privacy

FINE = Optimal(relative_gap=1e-7, keep_certificate=False)
REGIONS = [AlphaLift(3, 0.1), MaxLift(0.1), KL(0.02)]


def solved(joint, region, utility, solver=None):
    solver = solver or Optimal(keep_certificate=False)
    return solver.solve(joint, [region], utility)[0]


def proven(found):
    """The file is proven, and its claims are the solver's figures."""
    document = to_document(found)
    verdicts = checker.check(document)
    assert all(verdict.proven for verdict in verdicts)
    assert len(verdicts) >= 4
    everything = found.utility_function.of_publishing_all(found.joint.p_x)
    claims = {name: float(claim) for name, claim in document["claims"].items()}
    assert claims["utility_at_least"] == pytest.approx(found.utility, abs=1e-9 * everything + 2e-15)
    assert claims["utility_at_least"] <= claims["optimum_at_most"] + 2e-15
    assert claims["optimum_at_most"] == pytest.approx(found.upper_bound, abs=1e-4 * everything + 2e-15)


def utilities(size, seed=0):
    rng = np.random.default_rng((seed, size))
    return [
        GuessingAccuracy(),
        Decision(rng.integers(0, 20, (3, size)).tolist()),
        SquaredError(rng.integers(0, 20, size).tolist()),
        SquaredError(rng.integers(0, 9, (size, 2)).tolist()),
    ]


@pytest.mark.parametrize("region", REGIONS, ids=repr)
@pytest.mark.parametrize("shape", [(2, 4), (3, 5), (4, 7)])
def test_decisions_are_a_convex_program(region, shape):
    joint = pieces.uniform(1, *shape)
    gains = np.random.default_rng(2).integers(-9, 10, (3, shape[1])) / 4
    for utility, table in ((Decision(gains.tolist()), gains), (GuessingAccuracy(), np.eye(shape[1]))):
        found, theirs = solved(joint, region, utility, FINE), pieces.best_decisions(joint, region, table)
        assert found.utility == pytest.approx(theirs, abs=3e-7)
        assert found.utility <= theirs + 1e-7
        assert found.upper_bound >= theirs - 1e-7


@pytest.mark.parametrize("region", [*REGIONS, ChiSquare(0.1)], ids=repr)
@pytest.mark.parametrize("secrets", [2, 3])
def test_squared_error_is_a_linear_program_over_posteriors(region, secrets):
    joint = pieces.uniform(3, secrets, 3)
    utility = SquaredError([[0, 1], [2, 0.5], [7, 3]]).on(joint)
    found = solved(joint, region, utility, Optimal(relative_gap=1e-5, keep_certificate=False))
    grid = pieces.best_on_grid(joint, region, utility.uncertainty)
    everything = utility.of_publishing_all(joint.p_x)
    assert grid <= found.upper_bound + 1e-9
    # A corner between two rays is missed by a share of the angle between them.
    assert found.utility - 3e-3 * everything <= grid <= found.utility + 1e-5 * everything


@pytest.mark.parametrize("region", [AlphaLift(3, 0.1), MaxLift(0.2), LIP(0.2)], ids=repr)
@pytest.mark.parametrize("size", [3, 4])
def test_entropy_as_a_black_box_is_mutual_information(region, size):
    def entropy(points):
        return -(points * np.log(np.where(points > 0, points, 1.0))).sum(axis=1)

    joint = pieces.uniform(4, 3, size)
    solver = Optimal(relative_gap=1e-3, keep_certificate=False)
    found, known = (solved(joint, region, own, solver) for own in (Concave("entropy", entropy), MutualInformation()))
    assert found.status is Status.OPTIMAL
    assert found.utility <= known.upper_bound
    assert known.utility <= found.upper_bound
    assert found.upper_bound == pytest.approx(known.upper_bound, rel=2e-3)


def test_what_is_not_concave_is_refused():
    joint = pieces.uniform(4, 3, 3)
    with pytest.raises(InputError, match=r"is not concave: between two posteriors it is .* perhaps its sign is wrong"):
        design(joint, MaxLift(0.1), utility=Concave("minus entropy", lambda v: (v**2).sum(axis=1)))
    with pytest.raises(InputError, match="must return one finite number for every row"):
        design(joint, MaxLift(0.1), utility=Concave("none", lambda v: v))


def test_a_users_own_utility_is_said_to_be_unproven():
    own = Concave("variance", lambda v: v @ [0.0, 1, 4] - (v @ [0.0, 1, 2]) ** 2)
    joint = pieces.uniform(4, 3, 3)
    found = design(joint, MaxLift(0.2), utility=own, solver=Optimal(relative_gap=1e-3))
    assert found.status is Status.UNPROVEN_UTILITY
    known = solved(joint, MaxLift(0.2), SquaredError([0, 1, 2]))
    assert found.utility == pytest.approx(known.utility, rel=2e-3)


@pytest.mark.parametrize("seed", range(5))
def test_the_gain_that_y_adds_is_what_qif_measures(seed):
    joint = pieces.uniform(seed, 3, 5)
    gains = np.random.default_rng(seed).integers(0, 9, (4, 5)).astype(float)
    mechanism = solved(joint, MaxLift(0.1), Decision(gains.tolist())).mechanism
    channel = np.ascontiguousarray(np.asarray(mechanism.law).T)
    vulnerability = qif.measure.g_vuln
    added = vulnerability.posterior(gains, joint.p_x, channel) - vulnerability.prior(gains, joint.p_x)
    assert mechanism.utility(Decision(gains.tolist())) == pytest.approx(added, abs=1e-9)
    guesses = qif.measure.bayes_vuln
    added = guesses.posterior(joint.p_x, channel) - guesses.prior(joint.p_x)
    assert mechanism.utility(GuessingAccuracy()) == pytest.approx(added, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_under_local_privacy_of_x_the_best_decision_is_qifs_channel_of_the_least_loss(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    joint, epsilon = Joint(np.diag(rng.dirichlet(np.full(size, 2.0)))), float(rng.uniform(0.2, 2))
    losses = rng.integers(0, 30, (size, size)) / 10
    channel = qif.mechanism.d_privacy.min_loss_given_d(
        joint.p_x, size, lambda a, b: epsilon * (a != b), lambda x, y: losses[int(x), int(y)]
    )
    theirs = (losses.T @ joint.p_x).min() - float((joint.p_x[:, None] * channel * losses).sum())
    found = solved(joint, LDP(epsilon), Decision((-losses.T).tolist()), FINE)
    assert found.utility == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("region", [AlphaLift(3, 0.1), MaxLift(0.1)], ids=repr)
def test_order_names_shifts_and_units_change_nothing(region):
    joint, order = pieces.uniform(5, 3, 5), [3, 0, 4, 1, 2]
    gains = np.random.default_rng(6).integers(0, 9, (3, 5))
    moved = Joint(joint.p_sx[:, order], x_labels=[joint.x_labels[x] for x in order])
    values = [1.0, 2, 4, 7, 3]
    by_label = dict(zip(joint.x_labels, values, strict=True))
    for first, second in [
        (Decision(gains.tolist()), Decision((1000 * gains[::-1] + [[5, -7, 0, 3, 1]])[:, order].tolist())),
        (Decision(gains.tolist()), Decision(gains.tolist(), values=joint.x_labels)),
        (SquaredError(values), SquaredError([1e6 + 10 * values[x] for x in order])),
        (SquaredError(values), SquaredError(by_label)),
        (GuessingAccuracy(), Decision(np.eye(5).tolist())),
    ]:
        one, other = solved(joint, region, first), solved(moved, region, second)
        assert one.normalized_utility == pytest.approx(other.normalized_utility, abs=1e-4)


@pytest.mark.parametrize("shape", [(2, 3), (3, 4), (4, 6)])
def test_more_budget_is_worth_more_up_to_everything_and_no_baseline_more(shape):
    joint = pieces.uniform(7, *shape)
    for utility in utilities(shape[1]):
        before = 0.0
        for region in (
            perfect_privacy(),
            MaxLift(0.05),
            MaxLift(0.2),
            AlphaLift(3, 0.2),
            MaxLift(math.log(joint.lift.max())),
        ):
            found = solved(joint, region, utility)
            assert before - 1e-9 <= found.upper_bound
            assert found.relative_gap <= 1e-4
            assert region.allows(found.mechanism.lift.T, joint.p_s).all()
            np.testing.assert_allclose(found.mechanism.p_y @ found.mechanism.posteriors, joint.p_x, atol=1e-9)
            for baseline in (SubsetMerging(), XInvariant()):
                if not region.perfect:
                    assert baseline.solve(joint, [region], utility.on(joint))[0].utility <= found.upper_bound + 1e-9
            before = found.utility
        assert found.status is Status.TRIVIAL
        assert found.normalized_utility == 1


@pytest.mark.parametrize("region", [AlphaLift(3, 0.1), KL(0.02) & LIP(0.3), perfect_privacy()], ids=repr)
def test_files_prove_what_solvers_say(region):
    joint = pieces.uniform(11, 3, 5)
    for utility in utilities(5):
        found = design(joint, region, utility=utility)
        assert found.status is Status.OPTIMAL
        proven(found)
        if isinstance(utility, Decision):
            assert len(found.mechanism.p_y) <= 3


def test_equal_columns_one_symbol_and_the_secret_itself():
    columns = Joint(np.random.default_rng(8).integers(1, 20, (3, 3))[:, [0, 1, 1, 2, 0]].tolist(), counts=True)
    itself = Joint(np.diag([5, 3, 2, 1]).tolist(), counts=True)
    for joint, region in ((columns, AlphaLift(2, 0.05)), (itself, AlphaLift(4, 0.2)), (itself, LDP(0.4))):
        for utility in utilities(len(joint.x_labels)):
            found = design(joint, region, utility=utility)
            assert found.relative_gap <= 1e-4
            proven(found)


@pytest.mark.parametrize("utility", [SquaredError([3, 3, 3]), Decision([[1, 2, 3], [0, 1, 3]]), Decision([[1, 0, 1]])])
def test_where_x_is_worth_nothing_one_output_is_released(utility):
    joint = pieces.uniform(9, 3, 3)
    found = design(joint, MaxLift(0.01), utility=utility)
    assert (found.utility, found.upper_bound, found.relative_gap, found.normalized_utility) == (0, 0, 0, 1)
    assert len(found.mechanism.p_y) == 1
    proven(found)


def test_tiny_and_huge_numbers_are_as_good_as_others():
    joint = pieces.uniform(10, 3, 4)
    shares = [
        solved(joint, AlphaLift(3, 0.1), SquaredError([offset + scale * x for x in (0, 1, 5, 2)])).normalized_utility
        for scale, offset in ((1, 0), (2**-30, 0), (2**30, 0), (1, 2**20))
    ]
    assert shares == pytest.approx([shares[0]] * 4, abs=1e-4)


def test_numbers_of_labels_and_tables_of_gains(tmp_path):
    joint = Joint([[3, 1, 2], [1, 4, 2]], counts=True, x_labels=["1.5", "2", "-7"])
    by_label, given = (solved(joint, LIP(0.2), own) for own in (SquaredError(), SquaredError([1.5, 2, -7])))
    assert by_label.utility == given.utility
    path = tmp_path / "gains.csv"
    path.write_text("action,2,-7,1.5,other\nstay,1,0,0.5,9\ngo,0,1,0.5,9\n")
    assert Decision(path).on(joint).parameters == {
        "gains": [["0.5", "1", "0"], ["0.5", "0", "1"]],
        "actions": ["stay", "go"],
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SquaredError(), "not every value of X is a decimal number: give SquaredError"),
        (lambda: SquaredError([1, 2]), "SquaredError has numbers for 2 values of X, and X has 3"),
        (lambda: SquaredError([1, "two", 3]), "value 2 of SquaredError is not a finite decimal number"),
        (lambda: SquaredError([1, float("nan"), 3]), "value 2 of SquaredError is not a finite decimal number"),
        (lambda: SquaredError([1, "1/3", 3]), "value 2 of SquaredError is not a finite decimal number"),
        (lambda: SquaredError([[1], [1, 2], [3]]), "must all have the same number of coordinates"),
        (lambda: SquaredError({"x0": 1, "x1": 2}), "SquaredError has no number for 1 of the 3 values of X"),
        (lambda: Decision([[1, 2]]), "a row of gains has 2 values, and X has 3 values"),
        (lambda: Decision([[1, 2, 3], [1, 2]]), "gains must be a table"),
        (lambda: Decision([]), "gains must be a table"),
        (lambda: Decision([[1, 2, math.inf]]), "the gain of action 1 for value 3 is not a finite decimal number"),
        (lambda: Decision([[1, 2, 3]], actions=["a", "b"]), "actions must be 1 different names"),
        (lambda: Decision([[1, 2, 3]], values=["x0", "x1", "y"]), "has no column for 1 of the 3 values of X"),
        (lambda: Decision("nowhere.csv"), "nowhere.csv: the table of gains cannot be read: no such file"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(make, message):
    joint = Joint([[3, 1, 2], [1, 4, 2]], counts=True, x_labels=["x0", "x1", "x2"])
    with pytest.raises(InputError, match=message) as error:
        design(joint, MaxLift(0.1), utility=make())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("utility", [GuessingAccuracy(), SquaredError(list(range(70)))], ids=["guessing", "squares"])
def test_many_symbols_are_solved_as_few_are(utility):
    """Prices in a box, and a mixture that is exact although slacks have supplied a little of it."""
    joint, region = pieces.uniform(12, 3, 70), MaxLift(0.1)
    found = solved(joint, region, utility, Optimal(relative_gap=1e-3, keep_certificate=False))
    assert found.status is Status.OPTIMAL
    assert found.relative_gap <= 1e-3
    assert region.allows(found.mechanism.lift.T, joint.p_s).all()
    np.testing.assert_allclose(found.mechanism.p_y @ found.mechanism.posteriors, joint.p_x, rtol=1e-9)


def test_a_table_of_gains_that_is_none_is_named(tmp_path):
    joint = Joint([[3, 1, 2], [1, 4, 2]], counts=True)
    (tmp_path / "semicolons.csv").write_text("action;x0;x1\nbuy;1;0\n")
    for name, words in (
        ("none.csv", "no such file"),
        ("", "is a directory"),
        ("semicolons.csv", "commas between them"),
    ):
        with pytest.raises(InputError, match=words) as error:
            Decision(str(tmp_path / name))
        assert str(tmp_path / name) in str(error.value)
    for gains in (5, None):
        with pytest.raises(InputError, match="gains must be a table"):
            Decision(gains)
    with pytest.raises(InputError, match="a number, or a list of them, for each value"):
        SquaredError(5)
    with pytest.raises(InputError, match="a row of gains has 1 value, and X has 3 values"):
        Decision([1, 2, 3]).on(joint)


def test_gains_may_be_a_data_frame():
    frame = pd.DataFrame([[1, 2.5], [0, 3]], index=["buy", "sell"], columns=["a", "b"])
    assert Decision(frame) == Decision([[1, 2.5], [0, 3]], actions=["buy", "sell"], values=["a", "b"])
