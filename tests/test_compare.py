"""compare: rows that say what the mechanisms do, and a picture and a table that say what the rows do."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from alphalift import AlphaLift, Joint, MaxLift, Mechanism, OnAverage, Optimal, Solution, SolverError, Status
from alphalift.baselines import UniformMixing
from alphalift.compare import Comparison, compare
from alphalift.regions import KL, LDP, PML, ChiSquare, TotalVariation
from alphalift.show import comparison_table, plot_comparison
from alphalift.show.style import save_figure
from strategies import random_joint

QUICK = Optimal(node_limit=2000)
JOINT = random_joint(0, (4, 8))
COMPARISON = compare(JOINT, AlphaLift(10, 0.1), solver=QUICK)
NAMES = {
    "optimum",
    "publish X as it is",
    "publish nothing",
    "uniform mixing",
    "complete merging",
    "subset merging",
    "X-invariant randomisation",
    "greedy merging",
    "randomised response",
    "binary mechanism",
    "staircase mechanism",
}


def named(comparison):
    return {row.name: row for row in comparison.rows}


def test_every_mechanism_has_a_row_and_they_are_sorted():
    # Two baselines are equal here, which floats may not say to the last digit; equals keep the order of the list.
    utilities = [round(row.normalized_utility, 12) for row in COMPARISON.rows]
    assert set(named(COMPARISON)) == NAMES
    assert len(COMPARISON.rows) == len(NAMES)
    assert utilities == sorted(utilities, reverse=True)


def test_publishing_x_is_listed_with_what_it_breaks():
    row = COMPARISON.rows[0]
    assert row.name == "publish X as it is"
    assert row.normalized_utility == 1
    assert row.kept is False
    assert row.worst_value == Mechanism.publishing_all(JOINT).worst_value(AlphaLift(10, 0.1)) > math.exp(0.1)
    assert row.note == "breaks the promise"


def test_figures_are_those_of_the_mechanisms():
    optimum = COMPARISON.optimum
    assert optimum.normalized_utility == COMPARISON.solution.normalized_utility
    assert optimum.share_of_optimum == 1
    assert optimum.note == "optimal"
    (mixed,) = UniformMixing().solve(JOINT, [AlphaLift(10, 0.1)], COMPARISON.solution.utility_function)
    row = named(COMPARISON)["uniform mixing"]
    assert row.normalized_utility == mixed.normalized_utility
    assert row.share_of_optimum == pytest.approx(mixed.utility / COMPARISON.solution.utility)
    assert row.worst_value == mixed.mechanism.worst_value(AlphaLift(10, 0.1))
    assert row.outputs == 8
    assert row.note.startswith("share = 0.")


def test_the_best_keeps_the_promise():
    assert COMPARISON.best is COMPARISON.optimum
    assert COMPARISON.best_baseline.name == "greedy merging"
    assert all(row.kept for row in COMPARISON.rows if row.name != "publish X as it is")
    assert all(row.normalized_utility <= COMPARISON.normalized_bound + 1e-9 for row in COMPARISON.rows if row.kept)


def test_the_bound_is_the_solutions():
    solution = COMPARISON.solution
    assert COMPARISON.normalized_bound == pytest.approx(solution.normalized_utility + solution.relative_gap, abs=1e-12)
    assert COMPARISON.normalized_bound > solution.normalized_utility


def test_where_x_may_be_published_nothing_is_lost():
    comparison = compare(JOINT, MaxLift(5))
    assert comparison.best.name == "optimum"
    assert named(comparison)["publish X as it is"].kept
    assert comparison.normalized_bound == 1


def test_what_does_not_apply_is_listed_last_with_its_reason():
    comparison = compare(random_joint(0, (2, 13)), MaxLift(0.2), solver=QUICK)
    row = comparison.rows[-1]
    assert (row.name, row.applies, row.kept, row.outputs) == ("staircase mechanism", False, None, 0)
    assert row.note.startswith("not applicable: ")
    assert math.isnan(row.normalized_utility)


@pytest.mark.parametrize("region", [LDP(0.3), TotalVariation(0.05), MaxLift(0.2) & LDP(0.3), PML(1.5)], ids=str)
def test_other_promises(region):
    comparison = compare(random_joint(1, (3, 4)), region, solver=QUICK)
    assert comparison.best.normalized_utility >= comparison.best_baseline.normalized_utility - 1e-6
    assert named(comparison)["publish X as it is"].kept is False
    assert comparison_table(comparison)
    assert plot_comparison(comparison)


def test_the_frame_has_the_rows():
    frame = COMPARISON.to_frame()
    assert list(frame.name) == [row.name for row in COMPARISON.rows]
    assert set(frame.columns) == {
        "name",
        "normalized_utility",
        "share_of_optimum",
        "worst_value",
        "kept",
        "outputs",
        "seconds",
        "note",
    }


@dataclass(frozen=True)
class Modest:
    """A solver that claims that nothing more useful than its answer exists."""

    def solve(self, joint, regions, utility):
        nothing = Mechanism(joint, np.ones((1, len(joint.x_labels))))
        return tuple(Solution(nothing, region, utility, Status.OPTIMAL, 1e-3) for region in regions)


def test_a_baseline_above_the_bound_is_an_error():
    with pytest.raises(SolverError, match=r"subset merging keeps the promise with utility .* above the bound 0\.001 "):
        compare(JOINT, AlphaLift(10, 0.1), solver=Modest())


@pytest.mark.parametrize("region", [KL(1e-18), KL(0), AlphaLift(3, 0), ChiSquare(0)], ids=str)
def test_the_slack_of_floats_refutes_no_bound(region):
    """Lifts within 1e-7 of 1: the slack, larger than these budgets, makes merging look better than the optimum."""
    joint = Joint([[1870000, 1100000, 880000], [2380001, 1400001, 1120000]], counts=True)
    comparison = compare(joint, region)
    assert all(row.kept for row in comparison.rows if row.name != "publish X as it is")


def test_a_search_that_ended_early_may_be_beaten_by_a_baseline():
    early = replace(COMPARISON.optimum, normalized_utility=0.1)
    rows = sorted([early, *(r for r in COMPARISON.rows if r.name != "optimum")], key=lambda r: -r.normalized_utility)
    assert Comparison(COMPARISON.solution, tuple(rows)).best.name == "greedy merging"


DRAWN = {
    "usual": COMPARISON,
    "nothing allowed": compare(Joint([[3, 1], [1, 3]], counts=True), MaxLift(0)),
    "everything allowed": compare(Joint([[3, 1], [1, 3]], counts=True), MaxLift(2)),
    "one x": compare(Joint([[1], [2]], counts=True), MaxLift(0.1)),
    "too many values": compare(random_joint(0, (2, 13)), MaxLift(0.2), solver=QUICK),
    "two promises": compare(random_joint(1, (3, 4)), MaxLift(0.2) & LDP(0.3) & TotalVariation(0.05), solver=QUICK),
}


@pytest.mark.parametrize("name", DRAWN)
def test_no_text_covers_another_or_leaves_the_figure(name, tmp_path):
    figure = plot_comparison(DRAWN[name], secret="marital status of the household's head", useful="education")
    save_figure(figure, tmp_path / "c.png")
    (axes,) = figure.axes
    ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    texts = [*axes.texts, *ticks, axes.xaxis.label, axes.title, axes._left_title]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    for (_, one), (_, other) in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    plot = axes.get_window_extent()
    assert plot.width > 300
    for text, box in boxes:
        assert box.x0 >= 0, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert box.y0 >= 0, text
    for text in axes.texts:
        assert not text.get_text() or not text.get_window_extent().overlaps(plot)


def test_bars_are_the_rows():
    (axes,) = plot_comparison(COMPARISON).axes
    bars = axes.patches
    np.testing.assert_allclose([bar.get_width() for bar in bars], [r.normalized_utility for r in COMPARISON.rows])
    assert [label.get_text() for label in axes.get_yticklabels()] == [row.name for row in COMPARISON.rows]
    assert axes.yaxis_inverted(), "the most useful is at the top"
    assert [bar.get_hatch() for bar in bars] == ["///"] + [None] * 10, "publishing X breaks the promise"
    place = COMPARISON.rows.index(COMPARISON.optimum)
    assert [bar.get_facecolor() == bars[place].get_facecolor() for bar in bars].count(True) == 1
    assert set(axes.lines[0].get_xdata()) == {COMPARISON.normalized_bound}
    shown = {text.get_text() for text in axes.texts}
    assert f"{COMPARISON.optimum.normalized_utility:.1%}" in shown
    assert any(text.startswith("breaks the promise: ") and text.endswith(" > 1.105") for text in shown)


@pytest.mark.parametrize("name", DRAWN)
def test_the_table_fits_a_terminal_and_cuts_no_name(name):
    comparison = DRAWN[name]
    lines = comparison_table(comparison).splitlines()
    assert max(map(len, lines)) <= 80
    for row, line in zip(comparison.rows, lines[2:], strict=False):
        assert line.startswith(row.name + " ")
        assert line.endswith({True: "yes", False: "NO", None: "-"}[row.kept])
        assert f"{row.normalized_utility:.1%}" in line or not row.applies


def test_the_tables_sentences():
    text = " ".join(comparison_table(COMPARISON).split())
    assert "Promise: alpha-lift is at most e^0.1 for alpha = 10." in text
    assert "To publish X as it is breaks the promise." in text
    assert f"The optimum (status: optimal) keeps {COMPARISON.optimum.normalized_utility:.2%}" in text
    bound = float(text.split("exceeds ")[1].split("%")[0]) / 100
    assert COMPARISON.normalized_bound <= bound <= COMPARISON.normalized_bound + 1.01e-4
    assert "The best of the others, greedy merging, keeps" in text
    assert "needs a linear program of 2^13 columns" in " ".join(comparison_table(DRAWN["too many values"]).split())


def test_words_about_means_and_what_does_not_apply():
    told = comparison_table(compare(JOINT, OnAverage(KL(0.01)), solver=QUICK))
    assert "The value is the mean over outputs; at most" in " ".join(told.split())
    assert told.count("high risk") == 1
    assert "worst output" not in told
    both = " ".join(comparison_table(compare(JOINT, OnAverage(KL(0.01)) & MaxLift(1), solver=QUICK)).split())
    assert "The value is the largest share of any, by its mean or its worst output; at most 1.000 is promised." in both
    assert "that of the worst output" in " ".join(comparison_table(COMPARISON).split())
