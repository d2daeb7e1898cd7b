"""Boxed prices: within the box up to a constant, optimal there, and free ones where no slack is used."""

import numpy as np
import pytest
from scipy.optimize import linprog

from alphalift.geometry.boxed import Boxed, BoxedMixture


def random_columns(generator, count, size):
    points = generator.dirichlet(np.full(size, 0.5), count)
    points[points < 0.05] = 0
    points /= points.sum(axis=1, keepdims=True)
    return np.concatenate([points, np.eye(size)])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("width", [0.05, 0.5, 50.0])
def test_the_same_program_by_another_solver(seed, width):
    generator = np.random.default_rng(seed)
    size, mean = 6, generator.dirichlet(np.full(6, 2.0))
    points = random_columns(generator, 20, size)
    costs, center = generator.random(len(points)), generator.normal(size=size)
    program = BoxedMixture(mean, 10.0)
    program.add(points[:10], costs[:10])
    program.add(points[10:], costs[10:])
    points, costs = np.vstack([mean, points]), np.append(10.0, costs)
    found = program.solve(center, np.full(size, width), 10)
    eye = np.eye(size)
    rows = np.vstack([np.hstack([points.T, eye, -eye]), np.append(np.ones(len(points)), np.zeros(2 * size))])
    other = linprog(np.concatenate([costs, center + width, width - center]), A_eq=rows, b_eq=np.append(mean, 1))
    assert other.status == 0
    assert (costs - points @ found.prices).min() >= -1e-8
    # Strong duality: the constant that the row sum Q = 1 adds is as free as that row's dual.
    assert found.prices @ mean == pytest.approx(other.fun, abs=1e-7)
    apart = found.prices - center
    assert apart.max() - apart.min() <= 2 * width + 1e-9


def test_without_slack_the_prices_are_free():
    generator = np.random.default_rng(3)
    mean, points = generator.dirichlet(np.full(5, 2.0)), random_columns(generator, 30, 5)
    costs = generator.random(len(points))
    program = BoxedMixture(mean, 10.0)
    program.add(points, costs)
    found = program.solve(np.zeros(5), np.full(5, 100.0), 10)
    free = linprog(costs, A_eq=points.T, b_eq=mean)
    assert found.slack == pytest.approx(0, abs=1e-9)
    assert found.prices @ mean == pytest.approx(free.fun, abs=1e-8)
    assert found.weights @ program.costs == pytest.approx(free.fun, abs=1e-8)


def test_columns_that_are_too_dear_are_forgotten():
    generator = np.random.default_rng(4)
    mean, points = generator.dirichlet(np.full(4, 2.0)), random_columns(generator, 100, 4)
    costs = generator.random(len(points))
    program = BoxedMixture(mean, 10.0)
    program.add(points, costs)
    found = program.solve(np.zeros(4), np.full(4, 10.0), 10)
    assert len(program.costs) == 32
    assert program.points[[0]].toarray()[0] == pytest.approx(mean)  # however dear it is
    assert found.weights @ program.points == pytest.approx(mean, abs=1e-8)
    again = program.solve(np.zeros(4), np.full(4, 10.0), 10)
    assert again.prices @ mean == pytest.approx(found.prices @ mean, abs=1e-9)


def test_a_mixture_without_a_box_is_that_of_the_plain_program():
    generator = np.random.default_rng(5)
    mean, points = generator.dirichlet(np.full(6, 2.0)), random_columns(generator, 40, 6)
    costs = generator.random(len(points))
    program = BoxedMixture(mean, 10.0)
    program.add(points, costs)
    program.solve(np.zeros(6), np.full(6, 0.01), 10)
    mixture = program.mix(np.zeros(6), 10)
    free = linprog(costs, A_eq=points.T, b_eq=mean)
    assert mixture.value == pytest.approx(free.fun, abs=1e-8)
    assert mixture.weights @ mixture.points == pytest.approx(mean, abs=1e-8)
    assert (costs - points @ mixture.prices).min() >= -1e-8


def test_where_columns_do_not_reach_the_mean_the_mean_itself_does():
    mean = np.array([0.2, 0.3, 0.5])
    program = BoxedMixture(mean, 10.0)
    program.add(np.eye(3)[:2], np.zeros(2))
    mixture = program.mix(np.zeros(3), 10)
    assert mixture.weights == pytest.approx([1.0])
    assert mixture.points == pytest.approx(mean[None])


@pytest.mark.parametrize(("missing", "accepted"), [(0.0, True), (1e-5, False)])
def test_a_mixture_that_misses_a_rare_symbol_is_none(missing, accepted, monkeypatch):
    """A slack below HiGHS's tolerance may be all of a symbol's mass: columns of a mechanism would not sum to 1."""
    mean = np.array([1e-6, 0.4, 0.6 - 1e-6])
    program = BoxedMixture(mean, 10.0)
    program.add(np.eye(3), np.ones(3))
    weights = np.append(0.0, mean * np.array([1 - missing, 1, 1]))
    monkeypatch.setattr(program, "solve", lambda *_: Boxed(np.zeros(3), weights, missing * 1e-6))
    assert (program.mix(np.zeros(3), 1.0) is not None) == accepted
