"""Local minima of the pricing problem: candidates for columns, of which nothing has to be proven.

"The algorithm", step 1, in docs/theory.md: phi is replaced by its tangent on the symbols in use, the linear program
that is left is solved by the interior point, and so on. A concave function lies below its tangents, so every step descends.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from alphalift.compiled import MATRIX, VECTOR, full, spliced
from alphalift.geometry.pricing import PRICING, Pricing, linear_program, phi, phi_slope
from alphalift.geometry.working_set import compile_with_minimiser

# Descents end after three or four tangents, or swap symbols for ever smaller gains.
_MOST_TANGENTS = 20
# Lighter symbols leave a candidate: the interior point never reaches 0 exactly, but its _ACCURACY is far below this.
_LIGHT = 1e-8
# What the complementary products of a tangent's program may sum to: far below any gain that counts.
_ACCURACY = 1e-11
# A tangent that gains less than this gains nothing: as much as its program may be off.
_LEAST_GAIN = 1e-11
# Within a margin, whose set is curved everywhere, descents go on for long: there the last tangent is the first that gains less than
# this share of what the point is worth. Columns in use are starts again.
_LEAST_SHARE = 0.01
# An upper end of V that never binds, since V <= 1: the interior point works on boxes.
_NO_UPPER_END = 1.5
# By how much the mass may miss 1 after light symbols have left: more than the _LIGHT ones' together; beyond it the program
# was not solved.
_MASS_TOLERANCE = 1e-6


@cache
def compiled_descend() -> Any:
    return compile_with_minimiser(descend, *PRICING, MATRIX, VECTOR)


def descend(minimise, interior_point, feasible, curve, scales, prices, costs, points, values):
    """Replace every row of points by a local minimum near it, and write its objective into values.

    The objective is infinite where the first step already failed.
    """
    problem = Pricing(feasible, curve, scales, prices, costs)
    trial, dual = full(points.shape[1], 0.0), full(feasible.moments.shape[1] + 1, 0.0)
    for i in range(len(points)):
        values[i] = np.inf
        for _ in range(_MOST_TANGENTS):
            program, symbols = _tangent_program(problem, points[i])
            found = full(len(program.rates), 0.0)
            minimise(interior_point, program, dual, found, _ACCURACY, np.inf)
            value = _tidied(problem, symbols, found, trial)
            if not value < values[i] - _LEAST_GAIN:
                break
            least = _LEAST_SHARE * abs(value) if feasible.lid and values[i] < np.inf else 0.0
            ended = values[i] - value < least
            values[i] = value
            for x in range(len(trial)):
                points[i, x] = trial[x]
            if ended:
                break


@spliced
def _tangent_program(problem, point):
    """phi replaced by its tangent at the point, on the symbols that are in use there: the program and its symbols."""
    feasible, prices = problem.feasible, problem.prices
    symbols, count = np.empty(len(point), np.int64), 0
    for x in range(len(point)):
        if point[x] > _LIGHT:
            symbols[count] = x
            count += 1
    program = linear_program(
        feasible, symbols[:count], 1.0, full(feasible.moments.shape[1], 0.0), feasible.base_capacity
    )
    width, rates = program.width, program.rates
    for k in range(count):
        width[k] = _NO_UPPER_END
        rates[k] = phi_slope(problem, symbols[k], point[symbols[k]]) - prices[symbols[k]]
    for k in range(count, len(rates)):
        rates[k] = problem.costs[k - count]
    return program, symbols[:count]


@spliced
def _tidied(problem, symbols, found, trial):
    """A program's minimiser without light symbols into trial, and its objective; infinite if it is no distribution."""
    prices = problem.prices
    mass, value = 0.0, 0.0
    for x in range(len(trial)):
        trial[x] = 0.0
    for k in range(len(symbols)):
        if found[k] > _LIGHT:
            trial[symbols[k]] = found[k]
            mass += found[k]
    if not abs(mass - 1.0) < _MASS_TOLERANCE:
        return np.inf
    for k in range(len(symbols)):
        x = symbols[k]
        trial[x] /= mass
        value += phi(problem, x, trial[x]) - prices[x] * trial[x]
    for k in range(len(symbols), len(found)):
        value += problem.costs[k - len(symbols)] * found[k]
    return value
