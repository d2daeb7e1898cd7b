"""Random joints, distributions and mechanisms for property tests."""

import math

import numpy as np
from hypothesis import strategies as st

from alphalift import Joint, Mechanism

alphas = st.one_of(st.floats(1.01, 60.0), st.just(math.inf))
epsilons = st.floats(0.001, 1.5)


@st.composite
def joints(draw, secrets=(2, 5), useful=(2, 6), largest=20):
    """Joints of small integer counts, zero cells included, every symbol with mass."""
    rows = draw(st.integers(*secrets))
    columns = draw(st.integers(*useful))
    cells = draw(st.lists(st.integers(0, largest), min_size=rows * columns, max_size=rows * columns))
    table = np.array(cells).reshape(rows, columns)
    table[table.sum(axis=1) == 0, 0] += 1
    table[0, table.sum(axis=0) == 0] += 1
    return Joint(table.tolist(), counts=True)


@st.composite
def channels(draw, columns, outputs=(1, 5)):
    """Random P_{Y|X} with the given number of columns, zeros included."""
    rows = draw(st.integers(*outputs))
    cells = draw(st.lists(st.integers(0, 9), min_size=rows * columns, max_size=rows * columns))
    matrix = np.array(cells, dtype=float).reshape(rows, columns)
    matrix[0, matrix.sum(axis=0) == 0] = 1.0
    return matrix / matrix.sum(axis=0)


@st.composite
def mechanisms(draw, **shape):
    joint = draw(joints(**shape))
    return Mechanism(joint, draw(channels(len(joint.x_labels))))


def random_joint(seed, shape=(6, 10)):
    weights = np.random.default_rng(seed).random(shape)
    return Joint(weights / weights.sum())
