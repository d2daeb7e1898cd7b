"""Similar values first: nearer where that costs what was said at most, proven, and as near as a linear program over a grid allows."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from alphalift import (
    KL,
    PML,
    AlphaLift,
    InputError,
    Joint,
    MaxLift,
    OnAverage,
    Robust,
    SettingError,
    design,
    load,
    nearby,
    save,
    to_document,
)
from alphalift.distance import Distance, Hierarchy, Places, hierarchy_of, own_order
from alphalift.joint import Origin
from alphalift.nearby import mean_distance
from alphalift.show.similar import similar_words
from strategies import random_joint


def on_a_line(size):
    return Distance(np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float))


def by_hand(mechanism, distance):
    """The mean distance of two records that share an output, pair by pair."""
    law, p_x = mechanism.p_y_given_x, mechanism.joint.p_x
    total = 0.0
    for row in law:
        joint = row * p_x
        for x, z in itertools.product(range(len(p_x)), repeat=2):
            total += joint[x] * joint[z] / joint.sum() * distance.matrix[x, z]
    return total


@pytest.mark.parametrize(
    ("region", "utility"),
    [
        (MaxLift(0.3), None),
        (AlphaLift(3, 0.1), None),
        (KL(0.02) & MaxLift(0.5), None),
        (OnAverage(KL(0.02)), None),
        (PML(1.2), None),
        (MaxLift(0.3), "FInformation('hellinger')"),
        (MaxLift(0.3), "GuessingAccuracy()"),
    ],
    ids=str,
)
def test_what_is_said_of_distance_and_cost_is_so(region, utility):
    solution = design(random_joint(5, (3, 6)), region, utility=utility)
    distance, shares = on_a_line(6), (1e-4, 0.02)
    found = [nearby(solution, distance, share=share) for share in shares]
    for own, share in zip(found, shares, strict=True):
        made = own.solution
        assert own.before == pytest.approx(by_hand(solution.mechanism, distance), abs=1e-9)
        assert own.after == pytest.approx(by_hand(made.mechanism, distance), abs=1e-9)
        lost = solution.normalized_utility - made.normalized_utility
        assert lost <= own.given_up + 1e-12
        assert own.given_up <= share * 1.001
        assert made.mechanism.check(region).kept
        assert made.integers is not None
        assert made.upper_bound == solution.upper_bound
        assert own.changed == (own.after < own.before) == (made is not solution)
    if utility != "GuessingAccuracy()":  # whose columns are the design's alone
        assert found[1].after < found[0].before
    assert found[1].after <= found[0].after + 1e-9


@pytest.mark.parametrize(("seed", "utility"), [(0, None), (3, None), (5, None), (5, "GuessingAccuracy()")])
def test_it_is_as_near_as_a_grid_of_posteriors_allows(seed, utility):
    """Over all posteriors on a fine grid, those allowed: the least mean distance that keeps as much."""
    joint, region, share = random_joint(seed, (3, 4)), MaxLift(0.3), 0.03
    solution = design(joint, region, utility=utility)
    distance = on_a_line(4)
    found = nearby(solution, distance, share=share)
    steps = 24
    grid = np.array([own for own in itertools.product(range(steps + 1), repeat=4) if sum(own) == steps]) / steps
    points = np.concatenate([grid[region.allows(grid @ joint.lift.T, joint.p_s)], solution.mechanism.posteriors])
    utility = solution.utility_function
    most = utility.uncertainty(joint.p_x[None])[0] - solution.utility + share * utility.of_publishing_all(joint.p_x)
    least = linprog(
        distance.within(points),
        A_ub=utility.uncertainty(points)[None],
        b_ub=[most],
        A_eq=points.T,
        b_eq=joint.p_x,
        method="highs",
    )
    assert least.status == 0
    assert found.after <= least.fun + 1e-9
    assert found.changed == (seed != 3)  # of which the grid knows no nearer one either


def test_symbols_that_say_the_same_are_put_where_they_are_near():
    """Two symbols of each type: which of one type shares an output with which of the other is free, and the order decides."""
    types = np.array([[6, 1], [1, 6]])
    joint = Joint(np.hstack([types * 2, types * 3])[:, [0, 1, 2, 3]], counts=True)  # types a, b, a, b
    solution = design(joint, MaxLift(0.2))
    for places in ([0, 1, 10, 11], [0, 11, 10, 1]):
        distance = Distance(np.abs(np.subtract.outer(places, places)).astype(float))
        found = nearby(solution, distance, share=1e-6)
        law = found.solution.mechanism.p_y_given_x
        together = (law[:, :, None] * law[:, None, :]).sum(axis=0)
        near = [(0, 1), (2, 3)] if places[1] == 1 else [(0, 3), (2, 1)]
        far = [(0, 3), (2, 1)] if places[1] == 1 else [(0, 1), (2, 3)]
        assert sum(together[pair] for pair in near) > 3 * sum(together[pair] for pair in far)


def test_a_design_for_the_population_still_keeps_its_promise_there(tmp_path):
    joint = Joint(np.random.default_rng(1).integers(20, 400, (3, 6)), counts=True)
    solution = design(joint, Robust(MaxLift(0.4)))
    found = nearby(solution, on_a_line(6), share=0.03)
    assert found.changed
    assert found.solution.population.kept
    assert found.solution.population.errors == solution.population.errors
    told = found.told("order of X")
    assert "similar values mixed first (order of X)" in told.settings
    save(to_document(told), tmp_path / "m.json")
    assert load(tmp_path / "m.json").region == MaxLift(0.4)


def test_where_it_is_not_known_it_is_left_alone():
    joint = random_joint(1, (3, 4))
    first = design(joint, MaxLift(0.3))
    floats = design(joint, MaxLift(0.3)).__class__(first.mechanism, first.region, first.utility_function, first.status)
    left = nearby(floats, on_a_line(4))
    assert (left.solution is floats, left.looked, left.changed) == (True, False, False)
    trivial = design(joint, MaxLift(20))
    assert nearby(trivial, on_a_line(4)).before == 0
    with pytest.raises(SettingError, match="of 3 values, and X has 4"):
        nearby(first, on_a_line(3))
    with pytest.raises(SettingError, match="share of X"):
        nearby(first, on_a_line(4), share=1.0)


def test_the_words_round_to_the_side_of_less():
    solution = design(random_joint(5, (3, 6)), MaxLift(0.3))
    found = nearby(solution, on_a_line(6), share=0.01)
    words = similar_words(found, useful="age", utility=solution.utility_function)
    said = [float(part) for part in words.replace(",", "").split() if part.replace(".", "").isdigit()]
    assert len(said) == 2
    assert said[0] >= by_hand(found.solution.mechanism, found.distance) - 1e-9
    assert said[0] < said[1]
    cost = float(words.partition("gave up at most ")[2].partition("%")[0])
    assert cost >= 100 * (solution.normalized_utility - found.solution.normalized_utility) - 1e-9


# --- distances ---


def test_levels_of_a_hierarchy_are_steps_to_the_common_ancestor():
    rows = [["a", "ab", "top"], ["b", "ab", "top"], ["c", "cd", "top"], ["d", "other", "else"], ["e"], ["", ""]]
    found = hierarchy_of(rows).between(["a", "b", "c", "d", "e"])
    expected = [[0, 1, 2, 3, 3], [1, 0, 2, 3, 3], [2, 2, 0, 3, 3], [3, 3, 3, 0, 3], [3, 3, 3, 3, 0]]
    assert found.tolist() == expected
    for wrong in ([["a", "", "top"]], [["a", "x"], ["a", "y"]], []):
        with pytest.raises(InputError, match="hierarchy"):
            hierarchy_of(wrong)
    with pytest.raises(InputError, match="1 of the 2 values: not in the hierarchy"):
        Hierarchy({"a": ()}).between(["a", "z"])


def counted(labels, **origin):
    return Joint(
        np.arange(1, 2 * len(labels) + 1).reshape(2, -1),
        ["s", "t"],
        labels,
        counts=True,
        origin=Origin(("s",), **origin),
    )


def test_the_own_order_of_a_column_is_that_of_bins_declared_values_or_numbers():
    bins = counted(["<18", "18 to <30", ">=30"], useful=("age",), bins=(("age", (18.0, 30.0)),))
    assert own_order(bins, "age").of == {"<18": 0, "18 to <30": 1, ">=30": 2}
    declared = counted(["low", "mid", "high"], useful=("x",), declared=("x",))
    assert Distance.of(declared, {"x": own_order(declared, "x")}).matrix[0].tolist() == [0, 1, 2]
    numbers = counted(["1", "2.5", "10", "(missing)"], useful=("x",))
    found = Distance.of(numbers, {"x": own_order(numbers, "x")})
    assert found.matrix[0].tolist() == [0, 1.5, 9, 9]  # a missing value is as far as any
    with pytest.raises(InputError, match="has no order of its own"):
        own_order(counted(["u", "v"], useful=("x",)), "x")


def test_several_columns_add_up_each_in_its_own_scale():
    joint = counted(["1, u", "1, v", "3, u", "3, v"], useful=("n", "w"))
    found = Distance.of(joint, {"n": Places({"1": 1.0, "3": 3.0})})
    assert found.matrix.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]]
    with pytest.raises(InputError, match="expected a useful column"):
        Distance.of(joint, {"other": Places({})})


@pytest.mark.parametrize(
    "matrix", [[[0, 1]], [[0, -1], [-1, 0]], [[1, 0], [0, 0]], [[0, 1], [2, 0]], [[0, np.inf], [np.inf, 0]]]
)
def test_what_is_no_distance_is_refused(matrix):
    with pytest.raises(InputError, match="distances"):
        Distance(np.array(matrix, dtype=float))


def test_the_mean_is_that_of_pairs():
    mechanism = design(random_joint(2, (3, 5)), MaxLift(0.4)).mechanism
    assert mean_distance(mechanism, on_a_line(5)) == pytest.approx(by_hand(mechanism, on_a_line(5)), rel=1e-12)
