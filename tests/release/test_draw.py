"""The sampled law is the verified law."""

from collections import Counter

import numpy as np
import pytest

from alphalift import AlphaLift, Joint, design
from alphalift.paper import random_joints
from alphalift.release.draw import outputs_of_words


@pytest.mark.parametrize("epsilon", [0.05, 0.4])
def test_all_words_of_16_bits_give_the_integers_exactly(epsilon):
    mechanism = design(random_joints(1, 3, (3, 5))[0], AlphaLift(3, epsilon), bits=16).integers
    for x in [*range(5), None]:
        column = mechanism.unseen if x is None else [row[x] for row in mechanism.weights]
        drawn = Counter(outputs_of_words(mechanism, x, range(2**16)))
        assert [drawn[y] for y in range(len(column))] == column


def test_a_mechanism_of_many_bits_is_drawn_at_its_edges():
    joint = Joint(np.array([[3, 1, 2], [1, 3, 2]]), counts=True)
    mechanism = design(joint, AlphaLift(3, 0), bits=100).integers
    column = [row[0] for row in mechanism.weights]
    edges = [sum(column[: y + 1]) for y in range(len(column))]
    assert mechanism.bits > 52
    for y, edge in enumerate(edges[:-1]):
        assert outputs_of_words(mechanism, 0, [edge - 1, edge]) == [y, y + 1]
    assert outputs_of_words(mechanism, 0, [2**mechanism.bits - 1]) == [len(column) - 1]
