"""The experiment of section V on two joints, and claims that can fail."""

from dataclasses import replace

import numpy as np
import pytest

from alphalift import AlphaLift, SettingError
from alphalift.paper.claims import as_markdown, judge
from alphalift.paper.experiment import PAPER_ALPHAS, PAPER_EPSILONS, random_joints, run_experiment
from strategies import random_joint


@pytest.fixture(scope="module")
def experiment():
    return run_experiment(2, seed=3, workers=1)


def test_joints_are_repeatable_and_start_with_the_plain_draw():
    assert random_joints(3, 0) == random_joints(3, 0)
    assert random_joints(1, 0)[0] == random_joint(0)


def test_shapes_and_promises(experiment):
    shape = (2, len(PAPER_ALPHAS), len(PAPER_EPSILONS))
    for curves in (experiment.algorithm1, experiment.subset_merging):
        assert curves.utility.shape == shape
        assert np.all(curves.alpha_leakage <= np.array(PAPER_EPSILONS) + 1e-12)
        assert np.all(curves.alpha_leakage <= curves.max_lift_leakage + 1e-12)


def test_cells_are_where_they_belong(experiment):
    """alpha-leakage was computed for the alpha of its row: spot-check one cell from scratch."""
    from alphalift import design
    from alphalift.baselines import SubsetMerging

    solution = design(random_joints(2, 3)[1], AlphaLift(10, 0.1), solver=SubsetMerging())
    assert experiment.subset_merging.utility[1, 2, 19] == solution.normalized_utility
    assert experiment.subset_merging.alpha_leakage[1, 2, 19] == pytest.approx(solution.mechanism.leakage(10))


def test_a_false_claim_is_called_false(experiment):
    verdicts = {claim.claim: claim.verdict for claim in judge(experiment)}
    worse = replace(experiment, algorithm1=replace(experiment.algorithm1, utility=1 - experiment.algorithm1.utility))
    flipped = {claim.claim: claim.verdict for claim in judge(worse)}
    monotone = next(claim for claim in verdicts if claim.startswith("Utility decreases"))
    gain = next(claim for claim in verdicts if "over subset merging" in claim)
    assert verdicts[monotone] == verdicts[gain] == "holds"
    assert "not" in flipped[monotone]
    assert "not" in flipped[gain]


def test_the_page_is_a_table_with_every_claim(experiment):
    rows = [line for line in as_markdown(experiment).splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(judge(experiment))
    assert all(row.count("|") == 4 for row in rows)


@pytest.mark.parametrize(("count", "seed"), [(0, 0), (1, -1)])
def test_bad_counts_and_seeds_are_refused(count, seed):
    with pytest.raises(SettingError):
        random_joints(count, seed)
