"""Two secrets: partners, prices and couplings against all pairs, written down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from alphalift import MutualInformation
from alphalift.measures import entropy
from alphalift.solvers.pairs import BinaryPosteriors


def problem(seed, size, equal):
    """A list of posteriors, P_X with mean deviation 0, and prices."""
    rng = np.random.default_rng(seed)
    deviation, p_x = rng.normal(size=size) * 10 ** rng.uniform(-3, 0, size), rng.dirichlet(np.ones(size))
    if equal:
        deviation = np.round(deviation, 1)
    deviation -= deviation @ p_x
    ends = -rng.uniform(0.01, 0.5), rng.uniform(0.01, 0.5)
    return BinaryPosteriors(deviation, ends, MutualInformation()), p_x, rng.normal(size=size)


def everything(posteriors):
    """All points of the list, (count, |X|)."""
    d, eye = posteriors.deviation, np.eye(posteriors.size)
    points = list(eye[(d >= posteriors.ends[0]) & (d <= posteriors.ends[1])])
    for end in posteriors.ends:
        for x in np.flatnonzero(d < end):
            for y in np.flatnonzero(d > end):
                share = (end - d[x]) / (d[y] - d[x])
                points.append((1 - share) * eye[x] + share * eye[y])
    return np.array(points)


problems = st.builds(problem, st.integers(0, 2**32), st.integers(3, 25), st.booleans())


@given(problems)
def test_a_column_is_found_if_there_is_any(case):
    posteriors, _, prices = case
    points = everything(posteriors)
    least = float((entropy(points) - points @ prices).min())
    lowest, found, costs = posteriors.cheapest(prices)
    assert lowest >= least - 1e-12
    assert (lowest < -1e-12) == (least < -1e-12)
    np.testing.assert_allclose(costs, entropy(found.toarray()), atol=1e-13)
    assert np.all(costs - found @ prices < 0)
    # Per unit of moment the least of every symbol is found: no other pair of it is cheaper.
    assert np.all(found @ posteriors.deviation <= posteriors.ends[1] + 1e-12)


@given(problems)
def test_feasible_prices_are_feasible_and_cannot_rise(case):
    posteriors, p_x, prices = case
    points = everything(posteriors)
    feasible = posteriors.feasible(prices, p_x)
    reduced = entropy(points) - points @ feasible
    assert reduced.min() >= -1e-12 * (1 + np.abs(feasible).max())
    for x in np.flatnonzero(posteriors.side == 0):
        assert reduced[points[:, x] > 0].min() <= 1e-12 * (1 + np.abs(feasible).max())


@given(problems)
def test_the_first_mixture_mixes_to_the_mean(case):
    posteriors, p_x, _ = case
    points = posteriors.first_mixture(p_x).toarray()
    assert linprog(np.zeros(len(points)), A_eq=points.T, b_eq=p_x).status == 0


def test_the_first_mixture_where_the_interval_is_a_point():
    p_x = np.array([0.3125, 0.375, 0.3125])
    points = BinaryPosteriors(np.array([0.6, 0.0, -0.6]), (-0.0, 0.0), MutualInformation()).first_mixture(p_x)
    np.testing.assert_allclose(points.toarray(), [[0.5, 0, 0.5], [0, 1, 0]])


@pytest.mark.parametrize("seed", range(20))
def test_roles_are_coupled_as_cheaply_as_possible(seed):
    """Of a random mixture: its roles stay, and no mixture of all pairs with these roles costs less."""
    posteriors, p_x, prices = problem(seed, 12, seed % 2)
    points = posteriors.first_mixture(p_x)
    weights = linprog(points @ prices, A_eq=points.T.toarray(), b_eq=p_x).x
    roles = posteriors.roles(points, weights)
    np.testing.assert_allclose(roles.sum(axis=1), p_x, atol=1e-12)
    coupled, masses = posteriors.coupled(roles)
    np.testing.assert_allclose(posteriors.roles(coupled, masses), roles, atol=1e-12)
    every = everything(posteriors)
    alone, at_low = np.sum(every > 0, axis=1) == 1, np.isclose(every @ posteriors.deviation, posteriors.ends[0])
    rows = np.concatenate([(every * (at_low & ~alone)[:, None]).T, (every * (~at_low & ~alone)[:, None]).T])
    best = linprog(entropy(every) + alone, A_eq=rows, b_eq=np.concatenate([roles[:, 0], roles[:, 1]]))
    assert masses @ posteriors.costs(coupled) == pytest.approx(best.fun, abs=1e-7)
