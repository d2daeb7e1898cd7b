"""How much of each symbol any feasible V can have, and the proof: the box from which the search starts in large alphabets.

For every x the largest V_x over the feasible set is a convex program, whose minimiser is also a first column for the linear
program. Its dual (w, nu), added often enough to any other dual, proves that the slab above a little more than that largest
V_x has a bound beyond the threshold ("Caps" in docs/theory.md).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from alphalift.arrays import Array
from alphalift.compiled import MATRIX, VECTOR, compile_once, full
from alphalift.geometry.bound import BOUND_BOX, compile_with_bound
from alphalift.geometry.pricing import PRICING, Box, Feasible, Pricing, linear_program
from alphalift.geometry.working_set import compile_with_minimiser

# By which share a cap lies above the largest V_x: the nearer, the larger the duals that prove it.
_ROOM = 0.01
# How often a cap's dual is added, at most 10^this; each try ten times as often as the one before.
_MOST_POWER = 7
# What the complementary products of a program may sum to; its dual is as far from the best.
_ACCURACY = 1e-9
# Smaller entries of a minimiser are 0: the interior point never reaches it.
_LIGHT = 1e-7
# An upper end of V that never binds, since V <= 1: the interior point works on boxes.
_NO_UPPER_END = 1.5


@dataclass(frozen=True, eq=False)
class Caps:
    """For every symbol x the V that has most of it, (|X|, |X|), the dual that shows it, (|X|, k + 1), and a cap above it."""

    points: Array
    duals: Array
    high: Array

    @classmethod
    def of(cls, feasible: Feasible) -> Caps:
        count, width = feasible.moments.shape
        points, duals = np.zeros((count, count)), np.zeros((count, width + 1))
        _compiled_farthest()(feasible, points, duals)
        most = np.diag(points)
        return cls(points, duals, np.minimum(1.0, (1 + _ROOM) * most))

    def proven(self, problem: Pricing, threshold: float, base: Array) -> tuple[Array, Array]:
        """The caps that are proven at these prices, 1 where none is, (|X|,), and the duals that prove them, (|X|, k + 1)."""
        high, duals = self.high.copy(), self.duals.copy()
        _compiled_prove()(*problem, threshold, base, high, duals)
        return high, duals


def compile_caps() -> None:
    """Compile the kernels, or load them from numba's cache; later calls cost nothing."""
    _compiled_farthest()
    _compiled_prove()


def _compiled_farthest() -> Any:
    return compile_with_minimiser(farthest, PRICING[0], MATRIX, MATRIX)


def _compiled_prove() -> Any:
    return compile_with_bound(
        compile_once(prove_caps, types.void(*PRICING, types.float64, VECTOR, VECTOR, MATRIX, BOUND_BOX))
    )


def farthest(minimise, interior_point, feasible, points, duals):
    """For every x the feasible V with the largest V_x into points, and the dual of that program into duals."""
    count, width = feasible.moments.shape
    found = np.empty(count + len(feasible.widths))
    for x in range(count):
        program = linear_program(feasible, np.arange(count), 1.0, np.zeros(width), feasible.base_capacity)
        program.width[:count] = _NO_UPPER_END
        program.rates[x] = -1.0
        minimise(interior_point, program, duals[x], found, _ACCURACY, np.inf)
        mass = 0.0
        for z in range(count):
            if found[z] > _LIGHT:
                mass += found[z]
        for z in range(count):
            points[x, z] = found[z] / mass if found[z] > _LIGHT else 0.0


def prove_caps(feasible, curve, scales, prices, costs, threshold, base, high, duals, bound_box):
    """Add each cap's dual to the base until the slab above the cap has a bound that reaches the threshold; else no cap."""
    problem = Pricing(feasible, curve, scales, prices, costs)
    count = len(high)
    low, top, own = full(count, 0.0), full(count, 0.0), full(len(base), 0.0)
    for x in range(count):
        proven = False
        if high[x] < 1.0:
            top[:] = 1.0 - high[x]
            low[x], top[x] = high[x], 1.0
            times = 1.0
            for _ in range(_MOST_POWER):
                for i in range(len(own)):
                    own[i] = base[i] + times * duals[x, i]
                proven = bound_box(problem, Box(low, top), own, -np.inf) >= threshold
                if proven:
                    break
                times *= 10.0
            low[x] = 0.0
        if proven:
            for i in range(len(own)):
                duals[x, i] = own[i]
        else:
            high[x] = 1.0
