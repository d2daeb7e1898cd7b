"""Figures and words say what the numbers say."""

import math
import re

import numpy as np
import pytest

from alphalift import (
    PML,
    AlphaLift,
    ChiSquare,
    Custom,
    Joint,
    MaxLift,
    describe,
    design,
    grid,
    plot_mechanism,
    plot_tradeoff,
    sweep,
)
from alphalift.show.style import save
from regions.every import FAMILIES
from strategies import random_joint

JOINT = Joint([[30, 10, 5], [10, 30, 500]], ["rare", "common"], ["a", "b", "c"], counts=True)


def test_words_state_the_group_bound_and_never_e_to_the_epsilon_alone():
    text = describe(design(JOINT, AlphaLift(10, 0.1)), secret="group", useful="letter")
    bound = math.exp(0.1) * (45 / 585) ** (-1 / 10)
    assert "the rarest and most affected group, rare (7.7%), becomes at most" in text
    assert f"the promise alone allows {math.ceil(bound * 100) / 100:.2f}." in text
    assert f"{math.exp(0.1):.2f}" not in text
    assert "Not covered" in text


def test_words_round_bounds_up():
    text = describe(design(JOINT, MaxLift(0.3)))
    assert "the promise alone allows 1.35." in text
    assert math.exp(0.3) > 1.34


def test_the_curve_has_a_line_for_each_alpha():
    tradeoff = sweep(random_joint(0, (3, 4)), grid(AlphaLift, alpha=[math.inf, 3], epsilon=[0.05, 0.1, 0.2]))
    (axes,) = plot_tradeoff(tradeoff, mark=tradeoff.solutions[0][0]).axes
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
    assert save(figure, tmp_path / "m.svg").stat().st_size > 1000


def test_equal_figures_are_equal_files(tmp_path):
    mechanism = design(JOINT, MaxLift(0.2)).mechanism
    one, other = (save(plot_mechanism(mechanism), tmp_path / name).read_bytes() for name in ("a.pdf", "b.pdf"))
    assert one == other


@pytest.mark.parametrize("table", [[[1, 2, 4], [1, 2, 4]], [[1], [2]], [[1, 2]]])
def test_degenerate_joints_can_be_drawn(table, tmp_path):
    joint = Joint(table, counts=True)
    solution = design(joint, MaxLift(0.1))
    assert describe(solution)
    assert save(plot_mechanism(solution.mechanism), tmp_path / "m.png").exists()
    assert save(plot_tradeoff(sweep(joint, [MaxLift(0.1)])), tmp_path / "c.png").exists()


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
