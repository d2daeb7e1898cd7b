"""From floats to integers: what the file says is what was designed."""

import math
from fractions import Fraction

import examples
import pytest

from alphalift import AlphaLift
from alphalift.design import design
from alphalift.document import to_document
from alphalift.proof.prove import prove
from alphalift.utilities import MutualInformation

PERFECT = [name for name in examples.PROBLEMS if "perfect" in name]


def exact_lifts(document):
    """l(s, y) for every y, as fractions."""
    counts, weights = document["joint"]["counts"], examples.all_weights(document)
    total = sum(map(sum, counts))
    for row in weights:
        joint = [Fraction(sum(n * w for n, w in zip(cells, row, strict=True))) for cells in counts]
        yield [own * total / (sum(joint) * sum(cells)) for own, cells in zip(joint, counts, strict=True)]


@pytest.mark.parametrize("name", examples.PROBLEMS)
def test_columns_sum_to_a_power_of_two(name):
    document = examples.document(name)
    whole = 2 ** document["bits"]
    columns = zip(*examples.all_weights(document), strict=True)
    assert [sum(column) for column in columns] == [whole] * len(document["labels"]["x"])
    assert document["unseen"] is None or sum(document["unseen"]) == whole
    asked = examples.PROBLEMS[name][2]
    assert document["bits"] >= asked if name in PERFECT else document["bits"] == asked


@pytest.mark.parametrize("name", examples.PROBLEMS)
def test_the_file_says_what_was_solved(name):
    solution, claims = examples.solved(name), examples.document(name)["claims"]
    assert abs(float(claims["utility_at_least"]) - solution.utility) < 1e-9
    assert float(claims["optimum_at_most"]) <= solution.upper_bound + 1e-6
    assert float(claims["optimum_at_most"]) >= float(claims["utility_at_least"])


@pytest.mark.parametrize("alpha", [1.5, 3, 10, 100, math.inf])
def test_rounding_to_52_bits_costs_less_than_a_billionth(alpha):
    for seed, epsilon in enumerate([0.005, 0.03, 0.1, 0.6]):
        joint, region = examples.uniform(seed, 6, 10), AlphaLift(alpha, epsilon)
        found = examples.QUICK.solve(joint, [region], MutualInformation())[0]
        worth = float(to_document(prove(found))["claims"]["utility_at_least"])
        assert abs(found.utility - worth) < 1e-9
        assert found.utility > 0.1


@pytest.mark.parametrize("name", PERFECT)
def test_perfect_privacy_is_exact(name):
    assert {lift for lifts in exact_lifts(examples.document(name)) for lift in lifts} == {1}


def test_perfect_privacy_keeps_what_is_independent():
    """Equal columns and more symbols than secrets leave something to tell; S = X does not."""
    worth = {name: float(examples.document(name)["claims"]["utility_at_least"]) for name in PERFECT}
    assert worth["equal columns, perfect"] > 0.3
    assert worth["perfect"] > 0.1
    assert worth["S = X, perfect"] == 0


def test_perfect_privacy_with_few_bits_and_small_counts():
    document = to_document(design(examples.counted([[1, 2, 3], [3, 2, 1]]), AlphaLift(2, 0), bits=16))
    assert {lift for lifts in exact_lifts(document) for lift in lifts} == {1}
