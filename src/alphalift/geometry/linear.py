"""Linear pricing: minimise (loss - u).V + costs.slacks over the distributions V in a convex set, one loss after another.

What is left of the pricing problem where the uncertainty is the least of linear functions, its pieces ("Pieces" in
docs/theory.md): a convex program for each, whose dual is the whole proof of its bound. Nothing branches here.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import types

from alphalift.arrays import Array
from alphalift.clock import Clock
from alphalift.compiled import CURVE, MATRIX, VECTOR, compile_once, spliced
from alphalift.geometry.bound import BOUND_BOX, UNIT_ROUNDOFF, compile_with_bound
from alphalift.geometry.concave import ConcaveProgram
from alphalift.geometry.pricing import PRICING, Box, Feasible, Pricing, linear_program
from alphalift.geometry.working_set import compile_minimiser, compile_with_minimiser

# What the complementary products of a program may sum to: far below any gain that counts.
_ACCURACY = 1e-11
# How far above what is enough a program goes before it stops: more than what the bound loses for rounding.
_CLEARANCE = 1e-9
# Lighter symbols leave a minimiser, whose mass may miss 1 by no more than this afterwards.
_LIGHT, _MASS_TOLERANCE = 1e-8, 1e-6
# An upper end of V that never binds, since V <= 1: the interior point works on boxes.
_NO_UPPER_END = 1.5
# Pieces times symbols in a call, between two looks at the clock, and times threads, from which on they are worth their while.
_NUMBERS_A_CALL, _WORTH_THREADS = 20_000, 2_000
# How many unit roundoffs of its largest terms a loss may be off by: see "Floats" in docs/theory.md.
_LOSS_ROUNDINGS = 16


@dataclass(frozen=True, eq=False)
class Priced:
    """Of every piece: a lower bound, the (w, nu) that proves it, and its minimiser, which is 0 where none was needed or found."""

    bounds: Array
    duals: Array
    points: Array


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """The set for which bounds hold, and one inside of it for minimisers, with the vectors of the symbols, (|X|, n)."""

    outer: ConcaveProgram
    inner: ConcaveProgram

    @classmethod
    def of(cls, outer: Any, inner: Any, vectors: Array, least: float) -> LinearProgram:
        """Of two `convex.ConvexSet`; `least` as in `ConcaveProgram`."""
        curve, scales = compile_once(_no_curve, CURVE), np.ones(len(vectors))
        return cls(*(ConcaveProgram(body, curve, scales, vectors, least) for body in (outer, inner)))

    def of_points(self, points: Array) -> LinearProgram:
        """The same for virtual symbols, mixtures of the symbols, (count, |X|)."""
        bodies = self.outer.body, self.inner.body
        return self.of(*bodies, points @ self.outer.vectors, self.outer.least)

    @cached_property
    def _sets(self) -> list[Feasible]:
        """One set if a dual of the inner set is one of the outer set, too; then both are done in one pass."""
        outer, inner = self.outer.feasible, self.inner.feasible
        alike = outer.moments.shape == inner.moments.shape and outer.capacities.shape == inner.capacities.shape
        alike = alike and np.array_equal(outer.constraints.kind, inner.constraints.kind)
        return [inner] if alike else [outer, inner]

    @property
    def dual_size(self) -> int:
        return self.outer.moments.shape[1] + 1

    def compile(self) -> None:
        """Compile the kernel, or load it from numba's cache; later calls cost nothing."""
        _compiled_price()
        compile_minimiser(len(self.outer.moments) + len(self.outer.body.widths))

    def price(
        self,
        losses: Array,
        prices: Array,
        *,
        duals: Array,
        enough: float,
        size: float,
        threads: int = 1,
        clock: Clock | None = None,
        costs: Array | None = None,
    ) -> Priced:
        """Bounds of (loss - prices).V for every loss, (count, |X|), from these duals, (count, k + 1).

        `enough` is a bound beyond which no better one is looked for. Losses are exact but for a few roundings of numbers up
        to `size`. What the clock leaves no time for is bounded by its dual alone.
        """
        problem = self.outer.at(prices, costs)
        found = duals.copy()
        bounds, points = np.full(len(losses), -np.inf), np.zeros(losses.shape)

        def work(own: slice) -> None:
            late = -np.inf if clock is not None and clock.over else enough
            for inner in self._sets:
                _compiled_price()(*problem, inner, losses[own], late, found[own], points[own], bounds[own])

        step = max(1, _NUMBERS_A_CALL // losses.shape[1])
        if losses.size < _WORTH_THREADS:
            threads = 1
        step = max(1, min(step, -(-len(losses) // threads)))
        _in_threads(threads, work, [slice(first, first + step) for first in range(0, len(losses), step)])
        return Priced(bounds - _LOSS_ROUNDINGS * UNIT_ROUNDOFF * size, found, points)


def _in_threads(threads: int, work: Callable[[slice], None], shares: list[slice]) -> None:
    if threads == 1 or len(shares) == 1:
        for share in shares:
            work(share)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, shares))  # a list, so that an error in a thread is raised here


def _no_curve(v: float, order: int) -> float:
    return 0.0


def _compiled_price() -> Any:
    arguments = PRICING[0], MATRIX, types.float64, MATRIX, MATRIX, VECTOR, BOUND_BOX
    return compile_with_bound(compile_with_minimiser(price_pieces, *PRICING, *arguments))


def price_pieces(
    minimise,
    interior_point,
    feasible,
    curve,
    scales,
    prices,
    costs,
    inner,
    losses,
    enough,
    duals,
    points,
    bounds,
    bound_box,
):
    """Minimise (losses[i] - prices).V over the inner set; the bound over `feasible` at the dual, if it is the best so far."""
    size = len(prices)
    box = Box(np.zeros(size), np.ones(size))
    symbols = np.arange(size)
    found = np.empty(size + len(inner.widths))
    for i in range(len(losses)):
        problem = Pricing(feasible, curve, scales, prices - losses[i], costs)
        dual = duals[i].copy()
        if enough > -np.inf:
            program = linear_program(inner, symbols, 1.0, np.zeros(inner.moments.shape[1]), inner.base_capacity)
            rates, width = program.rates, program.width
            for x in range(size):
                rates[x], width[x] = -problem.prices[x], _NO_UPPER_END
            for k in range(size, len(rates)):
                rates[k] = costs[k - size]
            minimise(interior_point, program, dual, found, _ACCURACY, enough + _CLEARANCE)
            _tidied(found, points, i)
        bound = bound_box(problem, box, dual, -np.inf)
        if bound > bounds[i]:
            bounds[i] = bound
            for k in range(len(dual)):
                duals[i, k] = dual[k]


@spliced
def _tidied(found, points, i):
    """A program's minimiser without light symbols into points[i]; 0 if it is no distribution."""
    mass = 0.0
    for x in range(points.shape[1]):
        points[i, x] = found[x] if found[x] > _LIGHT else 0.0
        mass += points[i, x]
    good = abs(mass - 1.0) < _MASS_TOLERANCE
    for x in range(points.shape[1]):
        points[i, x] = points[i, x] / mass if good else 0.0
