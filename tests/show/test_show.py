"""Figures and words say what the numbers say."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from alphalift import (
    LIP,
    PML,
    AlphaLift,
    ChiSquare,
    Custom,
    Joint,
    MaxLift,
    columns_before,
    describe,
    design,
    grid,
    plot_mechanism,
    plot_tradeoff,
    read_joint,
    sweep,
)
from alphalift.show.style import save_figure
from alphalift.show.words import what_it_may_take
from alphalift.utilities import MutualInformation
from regions.every import FAMILIES
from regions.programs import largest_lift
from strategies import random_joint

JOINT = Joint([[30, 10, 5], [10, 30, 500]], ["rare", "common"], ["a", "b", "c"], counts=True)


def test_words_state_what_the_promise_allows_a_group_and_never_e_to_the_epsilon_alone():
    text = describe(design(JOINT, AlphaLift(10, 0.1)), secret="group", useful="letter")
    assert "the rarest and most affected group, rare (7.7%), becomes at most" in text
    assert f"{math.exp(0.1):.2f}" not in text
    assert "Not covered" in text


def test_words_round_bounds_up():
    text = describe(design(JOINT, MaxLift(0.3)))
    assert "the promise alone allows 1.35." in text
    assert math.exp(0.3) > 1.34


def test_words_say_where_a_float_bound_is_an_estimate():
    two, three = (describe(design(joint, MaxLift(0.1))) for joint in (JOINT, random_joint(0, (3, 4))))
    assert "(an estimate; the file is the proof)" in two
    assert "The gap is at most" in three
    assert "estimate" not in three
    local = describe(design(Joint([[5, 0, 0, 0], [0, 3, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]], counts=True), MaxLift(0.2)))
    assert "(an estimate; the file is the proof)" in local, "S = X"
    halves = describe(design(Joint([[1, 2, 4], [1, 2, 4], [3, 1, 2]], counts=True), MaxLift(0.05)))
    assert "(an estimate; the file is the proof)" in halves, "two of the three secrets have equal lifts"


def test_the_curve_has_a_line_for_each_alpha():
    tradeoff = sweep(random_joint(0, (3, 4)), grid(AlphaLift, alpha=[math.inf, 3], epsilon=[0.05, 0.1, 0.2]))
    axes, below = plot_tradeoff(tradeoff, mark=tradeoff.solutions[0][0]).axes
    assert below.get_xlabel()
    labels = [line.get_label() for line in axes.lines]
    assert "α = ∞" in labels
    assert "α = 3" in labels
    assert "the design, α = ∞" in labels
    curve = next(line for line in axes.lines if line.get_label() == "α = 3")
    np.testing.assert_allclose(curve.get_ydata(), [s.normalized_utility for s in tradeoff.solutions[0][3:]])


def test_the_mechanism_is_labelled_on_both_axes(tmp_path):
    mechanism = design(JOINT, MaxLift(0.2)).mechanism
    figure = plot_mechanism(mechanism, secret="group", useful="letter")
    left, right = figure.axes[:2]
    assert [text.get_text() for text in left.get_xticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in left.get_yticklabels()] == list(mechanism.y_labels)
    assert [text.get_text() for text in right.get_xticklabels()] == ["rare", "common"]
    assert save_figure(figure, tmp_path / "m.svg").stat().st_size > 1000


def test_equal_figures_are_equal_files(tmp_path):
    mechanism = design(JOINT, MaxLift(0.2)).mechanism
    one, other = (save_figure(plot_mechanism(mechanism), tmp_path / name).read_bytes() for name in ("a.pdf", "b.pdf"))
    assert one == other


@pytest.mark.parametrize("table", [[[1, 2, 4], [1, 2, 4]], [[1], [2]], [[1, 2]]])
def test_degenerate_joints_can_be_drawn(table, tmp_path):
    joint = Joint(table, counts=True)
    solution = design(joint, MaxLift(0.1))
    assert describe(solution)
    assert save_figure(plot_mechanism(solution.mechanism), tmp_path / "m.png").exists()
    assert save_figure(plot_tradeoff(sweep(joint, [MaxLift(0.1)])), tmp_path / "c.png").exists()


PROMISES = {name: family(0.3) for name, family in FAMILIES.items()} | {
    "PML & PML": PML(1) & PML(1.2),
    "Custom": Custom("spread", 0.3, lambda lifts, p_s: np.sqrt((lifts - 1) ** 2 @ p_s), ChiSquare(0.3).support),
}


@pytest.mark.parametrize("name", PROMISES)
def test_words_name_what_the_promise_is_about(name):
    """Compared with the joint whose secret the promise is about, and with who those groups are."""
    region = PROMISES[name]
    about_x = region.about(JOINT) != JOINT
    assert about_x == name.startswith("PML"), "only PML is about X"
    text = describe(design(JOINT, region), secret="group", useful="letter")
    secret, groups = ("letter", ["a", "b", "c"]) if about_x else ("group", ["rare", "common"])
    assert f"Promise about {secret}{' itself' if about_x else ''}: " in text
    assert f"knew only how common each value of {secret} is:" in text
    named = re.findall(r"group, (\w+) \(", text)
    assert named
    assert set(named) <= set(groups)
    assert "each the" not in describe(design(JOINT, region))


@pytest.mark.parametrize("name", PROMISES)
def test_words_state_the_most_that_the_promise_allows_a_group(name):
    """Found by a convex program over all lifts; of a user's own promise only a bound is known, and called one."""
    region = PROMISES[name]
    solution = design(JOINT, region)
    custom = isinstance(region, Custom)
    figure = rf"group, (\S+) .* at most (\S+) times .* alone allows {'at most ' if custom else ''}(\d+\.\d\d)\."
    told = re.findall(figure, describe(solution))
    assert len(told) == 2
    for label, mechanism, allowed in told:
        group = np.array(solution.joint.s_labels) == label
        most = largest_lift(ChiSquare(0.3) if custom else region, group, solution.joint.p_s)
        assert most - 1e-6 <= float(allowed) <= most + 0.01 + 1e-6
        assert float(mechanism) <= float(allowed)


def test_words_after_a_release_state_what_the_promise_allows_all_together():
    rows = [
        (s, x, z)
        for s in "ab"
        for x in "cd"
        for z in "ef"
        for _ in range(3 + 5 * (s == "a") * (x == "c") + 2 * (z == "e"))
    ]
    table = pd.DataFrame(rows, columns=["s", "x", "z"])
    first = design(read_joint(table, sensitive="s", useful="z"), MaxLift(0.1))
    joint = read_joint(table, sensitive="s", useful="x", beside=columns_before([first]))
    after, alone = (describe(design(joint, LIP(0.2), after=given)) for given in ([first], []))
    allowed = [re.findall(r"alone allows (\S+)\.", text) for text in (after, alone)]
    assert allowed[0]
    assert allowed[0] == allowed[1]


@pytest.mark.parametrize(
    ("shape", "region", "said"),
    [((5, 70), AlphaLift(10, 0.01), True), ((5, 70), AlphaLift(10, 9), False), ((5, 12), AlphaLift(10, 0.01), False)],
)
def test_what_a_long_search_may_take_is_said_before_it(shape, region, said):
    """And nothing of designs that take a second: few symbols, or a promise that the table keeps as it is."""
    joint = Joint(np.random.default_rng(0).integers(1, 99, shape), counts=True)
    text = what_it_may_take(joint, region, MutualInformation(), 7)
    assert bool(text) == said
    assert not said or ("70 values" in text and "7 s" in text)


def test_equal_symbols_count_once_in_it():
    columns = np.random.default_rng(1).integers(1, 99, (4, 80))
    joint = Joint(np.concatenate([columns, columns], axis=1), counts=True)
    assert what_it_may_take(joint, MaxLift(0.1), MutualInformation(), 60).startswith("80 values")
