"""Vertices of every polytope of a sweep, against exact fractions."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphalift import Joint
from alphalift.geometry.parametric import count_systems, vertex_paths
from strategies import joints, random_joint


def solve_exactly(matrix, side):
    """Gauss-Jordan in fractions; None if singular."""
    rows = [[*row, value] for row, value in zip(matrix, side, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column] != 0), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for r in range(size):
            if r != column:
                rows[r] = [a - rows[r][column] * b for a, b in zip(rows[r], rows[column], strict=True)]
    return [row[-1] for row in rows]


def exact_vertices(joint, tau):
    """All vertices of {V in the simplex : l(V) <= 1 + tau}: every choice of |X| tight constraints, in fractions."""
    size = len(joint.x_weights)
    lift = [
        [Fraction(w * joint.total, ws * wx) for w, wx in zip(row, joint.x_weights, strict=True)]
        for row, ws in zip(joint.weights, joint.s_weights, strict=True)
    ]
    units = [[Fraction(int(i == x)) for i in range(size)] for x in range(size)]
    constraints = [(row, 1 + tau) for row in lift] + [(unit, Fraction(0)) for unit in units]
    found = set()
    for tight in itertools.combinations(constraints, size - 1):
        matrix = [[Fraction(1)] * size, *(row for row, _ in tight)]
        point = solve_exactly(matrix, [Fraction(1), *(side for _, side in tight)])
        if point is None or min(point) < 0:
            continue
        if all(sum(a * v for a, v in zip(row, point, strict=True)) <= 1 + tau for row in lift):
            found.add(tuple(point))
    return np.array([[float(v) for v in point] for point in sorted(found)])


def assert_same_points(ours, theirs):
    distances = np.abs(ours[:, None] - theirs[None]).max(axis=2)
    assert distances.min(axis=1).max() < 1e-9, "a point that is no vertex"
    assert distances.min(axis=0).max() < 1e-9, "a vertex is missing"


# Prime denominators: off the ends of paths, where a single point may be a vertex of no interval.
taus = st.fractions(min_value=Fraction(1, 97), max_value=3, max_denominator=97)


@given(joints(secrets=(2, 4), useful=(2, 4)), taus)
def test_vertices_against_exact_fractions(joint, tau):
    assert_same_points(vertex_paths(joint.lift_deviation).at(float(tau)), exact_vertices(joint, tau))


@pytest.mark.parametrize(
    "table",
    [
        [[1, 1, 2], [3, 3, 1]],  # equal columns
        [[1, 2, 4], [1, 2, 4]],  # independent
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],  # S = X
        [[5, 0, 1, 0], [0, 3, 0, 2], [1, 1, 1, 1]],  # zero cells
        [[1, 2, 3, 4]],  # one secret
        [[1], [2]],  # one x
        [[1, 1, 1, 1], [2, 2, 2, 2], [1, 2, 1, 2]],  # rank one
    ],
)
@pytest.mark.parametrize("tau", [Fraction(0), Fraction(1, 10), Fraction(5, 7), Fraction(2)])
def test_degenerate_instances_against_exact_fractions(table, tau):
    joint = Joint(table, counts=True)
    assert_same_points(vertex_paths(joint.lift_deviation).at(float(tau)), exact_vertices(joint, tau))


@settings(max_examples=20)
@given(joints(secrets=(2, 6), useful=(2, 9)), st.floats(0, 2))
def test_every_vertex_is_allowed_and_sparse(joint, epsilon):
    points = vertex_paths(joint.lift_deviation).at(math.expm1(epsilon))
    np.testing.assert_allclose(points.sum(axis=1), 1, atol=1e-12)
    assert points.min() >= 0
    assert (points @ joint.lift.T).max() <= math.exp(epsilon) * (1 + 1e-9)
    assert (points > 1e-9).sum(axis=1).max() <= len(joint.s_labels)


def test_the_counts_of_a_known_instance():
    """Counts of double description for the same joint (see benchmarks/reference.py)."""
    paths = vertex_paths(random_joint(0).lift_deviation)
    assert len(paths.low) == 2673
    assert [len(paths.at(math.expm1(e))) for e in (0.005, 0.1, 0.3, 0.5, 0.8)] == [158, 566, 246, 74, 10]


def test_the_cost_is_known_beforehand():
    assert count_systems(6, 10) == 11_320
