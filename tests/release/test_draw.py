"""The sampled law is the verified law."""

from collections import Counter

import numpy as np
import pytest
from outputs_of_words import outputs_of_words

from alphalift import AlphaLift, InputError, Joint, design
from alphalift.paper import random_joints


@pytest.mark.parametrize("epsilon", [0.05, 0.4])
def test_all_words_of_16_bits_give_the_integers_exactly(epsilon):
    mechanism = design(random_joints(1, 3, (3, 5))[0], AlphaLift(3, epsilon), bits=16).integers
    for x in [*range(5), None]:
        column = mechanism.unseen if x is None else [row.get(x, 0) for row in mechanism.weights]
        drawn = Counter(outputs_of_words(mechanism, x, range(2**16)))
        assert [drawn[y] for y in range(len(column))] == column


def test_a_mechanism_of_many_bits_is_drawn_at_its_edges():
    joint = Joint(np.array([[3, 1, 2], [1, 3, 2]]), counts=True)
    mechanism = design(joint, AlphaLift(3, 0), bits=100).integers
    column = [row.get(0, 0) for row in mechanism.weights]
    assert mechanism.bits == 100
    first = 0
    for y, weight in enumerate(column):
        if weight:
            assert outputs_of_words(mechanism, 0, [first, first + weight - 1]) == [y, y]
        first += weight
    assert first == 2**100


def test_words_and_symbols_that_do_not_exist_are_refused():
    mechanism = design(Joint([[3, 1], [1, 3]], counts=True), AlphaLift(3, 0.1), bits=16).integers
    for x, word in [(2, 0), (-1, 0), (0, -1), (0, 2**16), (None, 2**16)]:
        with pytest.raises(InputError):
            outputs_of_words(mechanism, x, [word])
