"""The linear program by pricing, against scipy's solver on all columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from alphalift.geometry.mixture import MixtureProgram
from alphalift.measures import entropy


def random_candidates(seed, count, size):
    generator = np.random.default_rng(seed)
    points = np.vstack([generator.dirichlet(np.full(size, 0.3), size=count)])
    mean = generator.dirichlet(np.ones(count)) @ points
    return points, mean


@given(st.integers(0, 2**32), st.integers(8, 300), st.integers(2, 8))
def test_value_and_bound_against_a_second_solver(seed, count, size):
    points, mean = random_candidates(seed, count, size)
    costs = entropy(points)
    mixture = MixtureProgram(mean, float(entropy(mean))).solve(points, costs)
    other = linprog(costs, A_eq=points.T, b_eq=mean, method="highs-ds")
    assert mixture.value == pytest.approx(other.fun, abs=1e-8)
    np.testing.assert_allclose(mixture.weights @ mixture.points, mean, atol=1e-12)
    assert len(mixture.weights) <= size
    bound = mixture.prices @ mean + min(0.0, float((costs - points @ mixture.prices).min()))
    assert bound == pytest.approx(mixture.value, abs=1e-8)


def test_the_previous_answer_stays_a_candidate():
    points, mean = random_candidates(1, 200, 6)
    program = MixtureProgram(mean, float(entropy(mean)))
    first = program.solve(points, entropy(points))
    again = program.solve(points[:0], np.empty(0))
    assert again.value == pytest.approx(first.value, abs=1e-12)


def test_rare_symbols_keep_their_marginal():
    mean = np.array([1e-7, 1e-5, 0.5, 0.49998990])
    mean /= mean.sum()
    points = np.vstack([np.eye(4), np.full((1, 4), 0.25)])
    mixture = MixtureProgram(mean, float(entropy(mean))).solve(points, entropy(points))
    np.testing.assert_allclose(mixture.weights @ mixture.points, mean, rtol=1e-12)
    assert mixture.value == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 2**32), st.integers(8, 200), st.integers(2, 7), st.integers(1, 2))
def test_budgets_for_all_points_together_against_a_second_solver(seed, count, size, budgets):
    points, mean = random_candidates(seed, count, size)
    generator = np.random.default_rng(seed + 1)
    costs, shares = entropy(points), generator.exponential(size=(count, budgets)) * 3
    mixture = MixtureProgram(mean, float(entropy(mean)), budgets).solve(points, costs, shares)
    every, used = np.vstack([points, mean]), np.vstack([shares, np.zeros(budgets)])
    other = linprog(
        np.append(costs, entropy(mean)), A_ub=used.T, b_ub=np.ones(budgets), A_eq=every.T, b_eq=mean, method="highs-ds"
    )
    assert mixture.value == pytest.approx(other.fun, abs=1e-8)
    assert len(mixture.weights) <= size + budgets
    weights = mixture.exact_weights(mean)
    np.testing.assert_allclose(weights @ mixture.points, mean, atol=1e-12)
    assert (weights @ mixture.levels.shares).max() <= 1 + 1e-8
    assert (mixture.budget_prices >= 0).all()
    reduced = costs - points @ mixture.prices + shares @ mixture.budget_prices
    bound = mixture.prices @ mean - mixture.budget_prices.sum() + min(0.0, float(reduced.min()))
    assert bound == pytest.approx(mixture.value, abs=1e-8)
