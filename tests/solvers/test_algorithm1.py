"""Algorithm 1 against the straightforward reference, which shares no code with it."""

import math

import numpy as np
import pytest

import reference
from alphalift import KL, Algorithm1, AlphaLift, MaxLift, SettingError, Status, design, grid, sweep
from alphalift.solvers.algorithm1 import PAPER_ALPHAS, PAPER_EPSILONS
from strategies import random_joint

COARSE = PAPER_EPSILONS[4::9][:20]


@pytest.mark.parametrize("seed", range(3))
def test_every_cell_agrees_with_the_reference(seed):
    tradeoff = sweep(random_joint(seed), grid(AlphaLift, alpha=PAPER_ALPHAS, epsilon=COARSE), solver=Algorithm1())
    ours = tradeoff.to_frame()["normalized_utility"].to_numpy().reshape(len(PAPER_ALPHAS), len(COARSE))
    theirs = reference.algorithm1(reference.random_joint(seed), PAPER_ALPHAS, COARSE)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_settings_reach_the_algorithm():
    settings = Algorithm1(n=(5,) * 4, delta=0.05, epsilon_end=0.9)
    epsilons = (0.1, 0.2, 0.4, 0.7)
    tradeoff = sweep(random_joint(5), grid(AlphaLift, alpha=[math.inf, 4.0], epsilon=epsilons), solver=settings)
    ours = tradeoff.to_frame()["normalized_utility"].to_numpy().reshape(2, 4)
    theirs = reference.algorithm1(
        reference.random_joint(5), (math.inf, 4.0), epsilons, n=5, delta=0.05, epsilon_end=0.9
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_a_single_cell_is_a_cell_of_the_papers_grid():
    """Asked alone, (3, .1) gets the value that the whole grid gives it: THEORY section 6 lists .81744."""
    assert design(random_joint(0), AlphaLift(3, 0.1), solver=Algorithm1()).normalized_utility == pytest.approx(
        0.81744, abs=5e-6
    )


def test_a_cell_off_the_grid_is_inserted():
    epsilons = tuple(sorted({*PAPER_EPSILONS[:60], 0.1234}))
    alone = design(random_joint(1), AlphaLift(7, 0.1234), solver=Algorithm1()).normalized_utility
    full = tuple(sorted({*PAPER_EPSILONS, 0.1234}))
    regions = grid(AlphaLift, alpha=[math.inf, 100, 10, 7], epsilon=full)
    inserted = sweep(random_joint(1), regions, solver=Algorithm1()).at(AlphaLift(7, 0.1234)).normalized_utility
    assert len(epsilons) == 61
    assert alone == pytest.approx(inserted, abs=1e-9)


def test_monotone_in_epsilon_and_alpha():
    """The carry-over sets of line 7 are there for this."""
    tradeoff = sweep(random_joint(2), grid(AlphaLift, alpha=PAPER_ALPHAS, epsilon=COARSE), solver=Algorithm1())
    utility = tradeoff.to_frame()["normalized_utility"].to_numpy().reshape(len(PAPER_ALPHAS), len(COARSE))
    assert np.diff(utility, axis=0).min() > -1e-9
    assert np.diff(utility, axis=1).min() > -1e-9


def test_at_infinity_it_is_the_optimum():
    tradeoff = sweep(random_joint(3), grid(AlphaLift, alpha=[math.inf, 3], epsilon=COARSE), solver=Algorithm1())
    for epsilon in COARSE:
        exact = design(random_joint(3), MaxLift(epsilon)).normalized_utility
        assert tradeoff.at(MaxLift(epsilon)).normalized_utility == pytest.approx(exact, abs=1e-9)
        assert tradeoff.at(AlphaLift(3, epsilon)).status is Status.FEASIBLE


def test_a_budget_beyond_the_last_epsilon_still_works():
    solution = design(random_joint(0), AlphaLift(20, 1.7), solver=Algorithm1())
    assert solution.mechanism.check(AlphaLift(20, 1.7))


@pytest.mark.parametrize(
    "settings",
    [
        {"n": 0},
        {"n": ()},
        {"n": (3, 0)},
        {"delta": -0.1},
        {"delta": 1.0},
        {"delta": math.nan},
        {"epsilon_end": 0.0},
        {"epsilon_end": math.inf},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingError):
        Algorithm1(**settings)


def test_one_n_for_each_epsilon():
    with pytest.raises(SettingError, match="2 entries for a grid of 3"):
        sweep(random_joint(0), grid(AlphaLift, alpha=[3], epsilon=[0.1, 0.2, 0.3]), solver=Algorithm1(n=(3, 3)))


def test_other_promises_are_refused():
    with pytest.raises(SettingError, match="Algorithm1 is defined for"):
        design(random_joint(0), KL(0.1), solver=Algorithm1())
