"""The experiment of section V on two joints, and claims that can fail."""

from dataclasses import replace

import numpy as np
import pytest

from alphalift import AlphaLift, SettingError, design
from alphalift.baselines import SubsetMerging
from alphalift.paper.claims import as_markdown, judge
from alphalift.paper.experiment import OPTIMUM, PAPER_ALPHAS, PAPER_EPSILONS, random_joints, run_experiment
from alphalift.paper.figure import figure1
from strategies import random_joint


@pytest.fixture(scope="module")
def experiment():
    return run_experiment(2, seed=3, optimum_epsilons=(0.01, 0.1, 0.4), workers=1)


def test_joints_are_repeatable_and_start_with_the_plain_draw():
    assert random_joints(3, 0) == random_joints(3, 0)
    assert random_joints(1, 0)[0] == random_joint(0)


def test_shapes_and_promises(experiment):
    assert experiment.algorithm1.epsilons == experiment.subset_merging.epsilons == PAPER_EPSILONS
    for curves in (experiment.algorithm1, experiment.subset_merging, experiment.optimum):
        assert curves.utility.shape == (2, len(PAPER_ALPHAS), len(curves.epsilons))
        assert np.all(curves.alpha_leakage <= np.array(curves.epsilons) + 1e-12)
        assert np.all(curves.alpha_leakage <= curves.max_lift_leakage + 1e-12)


def test_cells_are_where_they_belong(experiment):
    """alpha-leakage was computed for the alpha of its row: spot-check one cell from scratch."""
    solution = design(random_joints(2, 3)[1], AlphaLift(10, 0.1), solver=SubsetMerging())
    assert experiment.subset_merging.utility[1, 2, 19] == solution.normalized_utility
    assert experiment.subset_merging.alpha_leakage[1, 2, 19] == pytest.approx(solution.mechanism.leakage(10))
    assert experiment.subset_merging.at((0.4, 0.1)).utility[1, 2, 1] == solution.normalized_utility


def test_the_optimum_is_certified_and_above_every_other_method(experiment):
    optimum = experiment.optimum
    assert 0 <= experiment.gap <= OPTIMUM.relative_gap + 1e-12
    for other in (experiment.algorithm1, experiment.subset_merging):
        assert np.all(other.at(optimum.epsilons).utility <= optimum.upper_bound + 1e-12)
    alone = design(random_joints(2, 3)[1], AlphaLift(10, 0.1))
    assert optimum.utility[1, 2, 1] == pytest.approx(alone.normalized_utility, abs=OPTIMUM.relative_gap)


def test_algorithm1_is_the_optimum_at_infinity_and_below_it_elsewhere(experiment):
    assert np.all(np.abs(experiment.distance[:, 0]) <= experiment.gap)
    assert np.all(experiment.distance[:, 1:] >= -experiment.gap)
    assert np.all(experiment.distance[:, 1:, 0] > 10 * experiment.gap)


def test_the_figure_shows_the_distances(experiment):
    mean, largest = figure1(experiment).axes[-2:]
    for panel, distances in ((mean, experiment.distance.mean(axis=0)), (largest, experiment.distance.max(axis=0))):
        curves = [line for line in panel.lines if line.get_label().startswith("α")]
        np.testing.assert_array_equal([line.get_ydata() for line in curves], distances)
        assert panel.get_ylim()[1] > distances.max()


def test_a_false_claim_is_called_false(experiment):
    verdicts = {claim.claim: claim.verdict for claim in judge(experiment)}
    worse = replace(experiment, algorithm1=replace(experiment.algorithm1, utility=1 - experiment.algorithm1.utility))
    flipped = {claim.claim: claim.verdict for claim in judge(worse)}
    monotone = next(claim for claim in verdicts if claim.startswith("Utility decreases"))
    gain = next(claim for claim in verdicts if "over subset merging" in claim)
    assert verdicts[monotone] == verdicts[gain] == "holds"
    assert "not" in flipped[monotone]
    assert "not" in flipped[gain]


@pytest.mark.parametrize(
    ("distance", "gap", "verdict", "words"),
    [
        (0.0, 1e-4, "holds", "alpha = 3: none beyond the gap"),
        (0.002, 1e-4, "holds", "alpha = 3: mean up to 0.0020 (at epsilon = "),
        (0.02, 1e-4, "**does not hold**", "that is not so at the largest epsilon"),
        (0.0095, 1e-3, "**not shown**", "that is not so at the largest epsilon"),
    ],
)
def test_near_optimal_is_judged_by_distance_and_gap(experiment, distance, gap, verdict, words):
    reached = experiment.algorithm1.at(experiment.optimum.epsilons).utility + distance
    optimum = replace(experiment.optimum, utility=reached, upper_bound=reached + gap)
    claim = next(claim for claim in judge(replace(experiment, optimum=optimum)) if "near optimal" in claim.claim)
    assert claim.verdict == verdict
    assert words in claim.measured


def test_near_optimal_says_from_which_epsilon_on(experiment):
    reached = experiment.algorithm1.at(experiment.optimum.epsilons).utility + np.array([0.02, 0.001, 0.0])
    optimum = replace(experiment.optimum, utility=reached, upper_bound=reached)
    claim = next(claim for claim in judge(replace(experiment, optimum=optimum)) if "near optimal" in claim.claim)
    assert claim.verdict == "**does not hold**"
    assert "mean up to 0.0200 (at epsilon = 0.01), single joints up to 0.0200 (at 0.01)" in claim.measured
    assert claim.measured.endswith("that is so for every alpha from epsilon = 0.1 on")


def test_the_page_is_a_table_with_every_claim(experiment):
    rows = [line for line in as_markdown(experiment).splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(judge(experiment))
    assert all(row.count("|") == 4 for row in rows)


@pytest.mark.parametrize(("count", "seed"), [(0, 0), (1, -1)])
def test_bad_counts_and_seeds_are_refused(count, seed):
    with pytest.raises(SettingError):
        random_joints(count, seed)


@pytest.mark.parametrize("epsilons", [(), (0.1, 0.1234)])
def test_the_optimum_is_computed_at_the_papers_epsilons_only(epsilons):
    with pytest.raises(SettingError, match="some of the paper's epsilons"):
        run_experiment(1, optimum_epsilons=epsilons)
