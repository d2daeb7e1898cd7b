"""The bound of a box is below every feasible point of it, whatever the dual; what is trimmed holds none below the threshold."""

import numpy as np
import pytest
from pricing_problems import KINDS, bound_at, objective, problem, random_box, random_dual, relaxed, trimmed


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_below_every_feasible_point(kind):
    generator = np.random.default_rng(1)
    finite = 0
    for seed in range(3):
        case = problem(kind, seed)
        for point in case.feasible(generator, 60):
            prices = generator.normal(size=len(point)) * 10 ** generator.uniform(-1, 1)
            box = random_box(point, generator)
            best = relaxed(case.program, prices, box)[2]
            duals = [best, best * generator.uniform(0.5, 2), random_dual(case, generator)]
            bounds = [bound_at(case.program, prices, box, dual)[0] for dual in duals]
            finite += np.isfinite(bounds).sum()
            assert max(bounds) <= objective(point, prices) + 1e-14 * (1 + np.abs(prices).max())
    assert finite > 400


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_duals_bound_nearly_reaches_a_point(kind):
    """On a box so small that phi is nearly its chord, around a point that the objective's own minimum is near to."""
    generator = np.random.default_rng(2)
    case = problem(kind)
    inside = 0.5 * case.joint.p_x + 0.5 * case.feasible(generator, 5)
    for point in inside:
        prices = generator.normal(size=len(point))
        box = np.maximum(point - 1e-4, 0.0), point + 1e-4
        bound = relaxed(case.program, prices, box)[0]
        slope = np.abs(-np.log(point) - 1 - prices).max()
        assert bound >= objective(point, prices) - 2e-4 * len(point) * slope - 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_trimming_loses_no_point_below_the_threshold(kind):
    generator = np.random.default_rng(3)
    lost = 0
    for seed in range(3):
        case = problem(kind, seed)
        points = case.feasible(generator, 400)
        for _ in range(8):
            prices = generator.normal(size=points.shape[1])
            box = np.zeros(len(prices)), points.max(axis=0) * generator.uniform(0.7, 1, len(prices))
            values = objective(points, prices)
            dual = relaxed(case.program, prices, box)[2] * generator.uniform(0.8, 1.2)
            bound, dual = bound_at(case.program, prices, box, dual)
            threshold = bound + generator.random() * (np.quantile(values, 0.6) - bound)
            low, high = trimmed(case.program, prices, box, dual, threshold)
            assert (low >= box[0]).all()
            assert (high <= box[1]).all()
            inside = (points <= box[1]).all(axis=1)
            kept = ((points >= low) & (points <= high)).all(axis=1)
            lost += (inside & ~kept).sum()
            assert (values[inside & ~kept] >= threshold - 1e-12).all()
            for x, (a, b) in enumerate(zip(low, high, strict=True)):
                for slab in ((box[0][x], a), (b, box[1][x])):
                    if slab[0] < slab[1]:
                        lower, upper = (
                            np.where(np.arange(6) == x, end, whole) for end, whole in zip(slab, box, strict=True)
                        )
                        assert bound_at(case.program, prices, (lower, upper), dual)[0] >= threshold - 1e-12
    assert lost > 0, "nothing was trimmed, so nothing was tested"


def test_a_box_without_distributions_has_an_infinite_bound():
    case = problem("half-spaces")
    prices, dual = np.zeros(6), np.ones(5)
    full, fifth = np.ones(6), np.full(6, 0.2)
    assert bound_at(case.program, prices, (fifth, full), dual)[0] == np.inf  # at least 1.2
    assert bound_at(case.program, prices, (0 * full, 0.8 * fifth), dual)[0] == np.inf  # at most 0.96
    assert bound_at(case.program, prices, (0.3 * full, 0.1 * full), dual)[0] == np.inf  # low above high
    assert np.isfinite(bound_at(case.program, prices, (0 * full, fifth), dual)[0])


def test_what_is_not_a_number_bounds_nothing():
    case = problem("half-spaces")
    box = np.zeros(6), np.ones(6)
    assert bound_at(case.program, np.full(6, np.nan), box, np.ones(5))[0] == -np.inf
    assert bound_at(case.program, np.zeros(6), box, np.full(5, np.inf))[0] == -np.inf


def test_a_called_function_bounds_at_w_0():
    """The differences at 0 have steps so small that their squares could vanish."""
    case = problem("called")
    assert np.isfinite(bound_at(case.program, np.zeros(6), (np.zeros(6), np.ones(6)), np.zeros(5))[0])
