"""The straightforward Algorithm 1: what anybody would write first, kept as an outside check and a yardstick.

Double description (pycddlib, GPL: never imported by the package) for every single epsilon', one
`scipy.optimize.linprog` over all candidate columns for every cell. It shares no code with alphalift; algorithm1.py
times it.
"""

from __future__ import annotations

import math

import cdd
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]

PAPER_ALPHAS = (math.inf, 100.0, 10.0, 3.0, 1.5)
PAPER_EPSILONS = tuple(k * 5 / 1000 for k in range(1, 191))


def random_joint(seed: int, sensitive: int = 6, useful: int = 10) -> Array:
    """Uniform entries, normalised: how we read the paper's "100 distributions" (it does not say)."""
    weights = np.random.default_rng(seed).random((sensitive, useful))
    return weights / weights.sum()


def max_lift_vertices(p_s_given_x: Array, p_s: Array, epsilon: float) -> Array:
    """Vertices of the polytope of eq. (polytope), by double description; rows are points."""
    size = p_s_given_x.shape[1]
    inequalities = np.vstack(
        [
            np.hstack([[-1.0], np.ones(size)]),
            np.hstack([np.zeros((size, 1)), np.eye(size)]),
            np.hstack([(math.exp(epsilon) * p_s)[:, None], -p_s_given_x]),
        ]
    )
    matrix = cdd.matrix_from_array(inequalities.tolist(), rep_type=cdd.RepType.INEQUALITY, lin_set={0})
    generators = np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)
    points = np.clip(generators[:, 1:], 0.0, None)
    return points / points.sum(axis=1, keepdims=True)


def alpha_lifts(points: Array, p_s_given_x: Array, p_s: Array, alpha: float) -> Array:
    """Definition 1 for every row of points."""
    lifts = points @ (p_s_given_x / p_s[:, None]).T
    largest = lifts.max(axis=1)
    if math.isinf(alpha):
        return largest
    return largest * ((lifts / largest[:, None]) ** alpha @ p_s) ** (1 / alpha)


def entropies(points: Array) -> Array:
    return -np.sum(points * np.log(np.where(points > 0, points, 1.0)), axis=1)


def mixture(points: Array, p_x: Array) -> tuple[float, Array]:
    """The paper's linear program over all candidates: smallest H(X|Y) and the posteriors used."""
    answer = linprog(
        entropies(points),
        A_eq=np.vstack([points.T, np.ones(len(points))]),
        b_eq=np.append(p_x, 1.0),
        method="highs",
    )
    if answer.status != 0:
        raise RuntimeError(answer.message)
    return float(answer.fun), points[answer.x > 1e-12]


def algorithm1(
    p_sx: Array,
    alphas: tuple[float, ...] = PAPER_ALPHAS,
    epsilons: tuple[float, ...] = PAPER_EPSILONS,
    *,
    n: int = 3,
    delta: float = 0.01,
    epsilon_end: float = 1.0,
) -> Array:
    """Normalised utility of every cell, (alphas, epsilons)."""
    p_s, p_x = p_sx.sum(axis=1), p_sx.sum(axis=0)
    p_s_given_x = p_sx / p_x
    ends = (*epsilons, epsilon_end)
    vertices = [
        [max_lift_vertices(p_s_given_x, p_s, ends[j] + k * (ends[j + 1] - ends[j]) / n) for k in range(n)]
        for j in range(len(epsilons))
    ]
    # A relative slack of 1e-12: without it half of the tight vertices drop out by rounding.
    slack = 1 + 1e-12
    start = [mixture(vertices[j][0], p_x)[1] for j in range(len(epsilons))]
    used: dict[tuple[int, int], Array] = {}
    nothing = np.empty((0, len(p_x)))
    entropy = float(entropies(p_x[None])[0])
    utility = np.empty((len(alphas), len(epsilons)))
    for i, alpha in enumerate(alphas):
        values = [[alpha_lifts(v, p_s_given_x, p_s, alpha) for v in row] for row in vertices]
        for j, epsilon in enumerate(epsilons):
            candidates = [start[j], used.get((i - 1, j), nothing), used.get((i, j - 1), nothing)]
            for k in range(j, len(epsilons)):
                for points, value in zip(vertices[k], values[k], strict=True):
                    high = value <= math.exp(epsilon) * slack
                    low = value >= (1 - delta) * math.exp(epsilon) / slack
                    candidates.append(points[high & low])
            smallest, used[i, j] = mixture(np.vstack(candidates), p_x)
            utility[i, j] = (entropy - smallest) / entropy
    return utility
