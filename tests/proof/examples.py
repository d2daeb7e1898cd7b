"""Problems of every sort, small enough to design in a moment, and their files."""

import json
import math
from functools import cache

import numpy as np

from alphalift import AlphaLift, Joint, Optimal, design
from alphalift.document import to_document, to_json

QUICK = Optimal(relative_gap=1e-2, node_limit=60, threads=1)


def uniform(seed, secrets, useful):
    table = np.random.default_rng(seed).random((secrets, useful))
    return Joint(table / table.sum())


def counted(table):
    return Joint(np.asarray(table).tolist(), counts=True)


def _special():
    rng = np.random.default_rng(1)
    zeros = rng.integers(1, 20, (4, 6)) * (rng.random((4, 6)) < 0.6)
    zeros[np.arange(4), np.arange(4)] += 1
    zeros[0, 4:] += 1
    columns = rng.integers(1, 20, (3, 3))[:, [0, 1, 1, 2, 0]]
    inf = math.inf
    return {
        "two secrets": (uniform(2, 2, 8), AlphaLift(3, 0.1), 52),
        "two secrets, max-lift": (uniform(3, 2, 10), AlphaLift(inf, 0.05), 52),
        "two secrets, coarse": (uniform(3, 2, 10), AlphaLift(10, 0.05), 16),
        "zero cells": (counted(zeros), AlphaLift(5, 0.3), 52),
        "zero cells, max-lift": (counted(zeros), AlphaLift(inf, 0.3), 52),
        "zero cells, perfect": (counted(zeros), AlphaLift(2, 0), 52),
        "equal columns": (counted(columns), AlphaLift(2, 0.05), 52),
        "equal columns, perfect": (counted(columns), AlphaLift(2, 0), 52),
        "S = X": (counted(np.diag([5, 3, 2, 1])), AlphaLift(4, 0.2), 52),
        "S = X, max-lift": (counted(np.diag([5, 3, 2, 1])), AlphaLift(inf, 0.2), 52),
        "S = X, perfect": (counted(np.diag([5, 3, 2, 1])), AlphaLift(inf, 0), 52),
        "independent": (counted(np.outer([3, 1, 2], [4, 1, 5, 9])), AlphaLift(2, 0.1), 52),
        "independent, perfect": (counted(np.outer([3, 1, 2], [4, 1, 5, 9])), AlphaLift(2, 0), 52),
        "perfect": (counted(rng.integers(1, 9, (3, 6))), AlphaLift(3, 0), 52),
        "perfect, two secrets": (counted(rng.integers(1, 9, (2, 5))), AlphaLift(3, 0), 52),
        "above epsilon_max": (uniform(4, 4, 5), AlphaLift(3, 5), 52),
        "one secret": (uniform(5, 1, 4), AlphaLift(3, 0.1), 52),
        "one symbol": (uniform(6, 4, 1), AlphaLift(3, 0.1), 52),
        "one bit": (uniform(7, 3, 4), AlphaLift(2, 0.3), 1),
        "rare symbols": (counted([[10**9, 1, 2], [10**9, 3, 1], [7, 1, 1]]), AlphaLift(10, 0.2), 52),
        **{f"{bits} bits": (uniform(8, 4, 7), AlphaLift(3, 0.1), bits) for bits in (16, 24, 52, 100)},
    }


def _random(number):
    rng = np.random.default_rng((5, number))
    joint = uniform(number, int(rng.integers(2, 7)), int(rng.integers(2, 11)))
    alpha = [1.1, 1.5, 2, 5, 10, 30, 100, math.inf][number % 8]
    return (
        joint,
        AlphaLift(alpha, float(np.exp(rng.uniform(math.log(0.001), math.log(2))))),
        [52, 52, 24, 100, 16][number % 5],
    )


PROBLEMS = _special() | {f"random {number}": _random(number) for number in range(24)}


@cache
def solved(name):
    joint, region, bits = PROBLEMS[name]
    return design(joint, region, solver=QUICK, bits=bits)


@cache
def text(name):
    return to_json(to_document(solved(name)))


def document(name):
    """A fresh copy that a test may change."""
    return json.loads(text(name))


def all_weights(document):
    """The weights of a file of version 3, zeros included."""
    rows = [dict(zip(row[::2], row[1::2], strict=True)) for row in document["weights"]]
    return [[row.get(x, 0) for x in range(len(document["labels"]["x"]))] for row in rows]
