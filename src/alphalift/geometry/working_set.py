"""Programs with many variables, solved over a few of them at a time.

A program of `interior_point` has an optimum with hardly more variables off their lower ends than it has moments. So the ones
that look cheapest at a first dual are solved for alone; those of the others that are too cheap at the dual that was found
join them, until none is left. Whatever the set, (w, nu) proves a lower bound of the whole program.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from alphalift.compiled import compile_once, copy_row, spliced
from alphalift.geometry.interior_point import PROGRAM_AND_RESULT, ConvexProgram, compiled_interior_point
from alphalift.geometry.support import supports

# From how many variables on: fewer are solved for at once as quickly.
MANY = 96
# How many at first, and at most at a time later: so many for each entry of the dual, and some more.
_FOR_EACH_DUAL, _MORE = 5, 10
# How much of the mass the first ones can have at least, so that there is an interior.
_ROOM = 1.5
# Two or three are usual; then all variables are taken.
_MOST_ROUNDS = 6


# How other kernels take `minimise_all` or `minimise_few`, and these the interior point: behind pointers, so that they are not
# compiled again as a part of each kernel, and the second not at all where alphabets are small.
_INTERIOR_POINT = types.FunctionType(types.void(*PROGRAM_AND_RESULT))
_SIGNATURE = types.void(_INTERIOR_POINT, *PROGRAM_AND_RESULT)
_POINTERS = types.FunctionType(_SIGNATURE), _INTERIOR_POINT


def compile_minimiser(variables: int) -> tuple[Any, Any]:
    """What kernels take first, for programs of up to so many variables."""
    return _compiled_minimiser(variables > MANY), compiled_interior_point()


@cache
def _compiled_minimiser(many: bool) -> Any:
    return compile_once(minimise_few if many else minimise_all, _SIGNATURE)


def compile_with_minimiser(function: Callable[..., None], *arguments: Any) -> Callable[..., None]:
    """A kernel that takes a minimiser, its interior point, a Feasible and more, as a function of the Feasible and the rest."""
    compiled = compile_once(function, types.void(*_POINTERS, *arguments))

    def call(feasible: Any, *others: Any) -> None:
        compiled(*compile_minimiser(len(feasible.moments) + len(feasible.widths)), feasible, *others)

    return call


def minimise_all(minimise, program, dual, point, accuracy, enough):
    minimise(program, dual, point, accuracy, enough)


def minimise_few(minimise, program, dual, point, accuracy, enough):
    """As `interior_point`, from the dual that is given: the minimiser into `point`, the (w, nu) that was found into `dual`."""
    count, size = program.moments.shape
    if count <= MANY:
        minimise(program, dual, point, accuracy, enough)
        return
    costs = np.empty(count)
    _reduced_costs(program, dual, costs)
    chosen = np.zeros(count, np.bool_)
    for x in range(count):
        chosen[x] = program.counted[x] == 0.0
    batch = _FOR_EACH_DUAL * (size + 1) + _MORE
    _choose(program, costs, chosen, batch)
    best, own_dual = -np.inf, dual.copy()
    for turn in range(_MOST_ROUNDS):
        if turn == _MOST_ROUNDS - 1:
            chosen[:] = True
        few = np.flatnonzero(chosen)
        found = np.empty(len(few))
        minimise(_part(program, few), own_dual, found, accuracy, enough)
        lower, missed = _lower_bound(program, own_dual, costs, chosen)
        if lower > best or turn == 0:
            best = lower
            for i in range(size + 1):
                dual[i] = own_dual[i]
            point[:] = 0.0
            for k in range(len(few)):
                point[few[k]] = found[k]
        if lower >= enough or missed >= -accuracy:
            break
        _choose_negative(costs, chosen, batch)


@spliced
def _reduced_costs(program, dual, costs):
    moments, capacities, counted, rates = program.moments, program.capacities, program.counted, program.rates
    count, size = moments.shape
    sigmas = np.empty(len(program.base_capacity))
    supports(program.constraints, dual[:size], sigmas)
    for x in range(count):
        cost = rates[x] - dual[size] * counted[x]
        for i in range(size):
            cost += moments[x, i] * dual[i]
        for p in range(capacities.shape[1]):
            cost -= capacities[x, p] * sigmas[p]
        costs[x] = cost
    return sigmas


@spliced
def _lower_bound(program, dual, costs, chosen):
    """The bound that (w, nu) proves for all variables, and what those that are not chosen contribute to it; costs are set."""
    width, base_moments, base_capacity = program.width, program.base_moments, program.base_capacity
    size = len(base_moments)
    sigmas = _reduced_costs(program, dual, costs)
    lower, missed = dual[size] * program.mass, 0.0
    for i in range(size):
        lower += base_moments[i] * dual[i]
    for p in range(len(sigmas)):
        lower -= base_capacity[p] * sigmas[p]
    for x in range(len(costs)):
        share = width[x] * min(0.0, costs[x])
        lower += share
        if not chosen[x]:
            missed += share
    return lower, missed


@spliced
def _choose(program, costs, chosen, batch):
    """Choose the cheapest variables, and so many that they can have the mass."""
    width, counted = program.width, program.counted
    ordered = np.argsort(costs)
    room, taken = 0.0, 0
    for x in ordered:
        if taken >= batch and room >= _ROOM * program.mass:
            break
        if not chosen[x]:
            chosen[x] = True
            room += width[x] * counted[x]
            taken += 1


@spliced
def _choose_negative(costs, chosen, batch):
    """Choose the variables with the most negative costs among the others."""
    negative = np.flatnonzero((costs < 0.0) & ~chosen)
    if len(negative) > batch:
        level = np.partition(costs[negative], batch)[batch]
        negative = negative[costs[negative] < level]
    for x in negative:
        chosen[x] = True


@spliced
def _part(program, few):
    """The program over these variables alone; all others are at their lower ends."""
    count, size = len(few), program.moments.shape[1]
    moments, capacities = np.empty((count, size)), np.empty((count, program.capacities.shape[1]))
    counted, rates, width = np.empty(count), np.empty(count), np.empty(count)
    for k in range(count):
        x = few[k]
        copy_row(program.moments, x, moments, k)
        copy_row(program.capacities, x, capacities, k)
        counted[k], rates[k], width[k] = program.counted[x], program.rates[x], program.width[x]
    return ConvexProgram(
        program.constraints,
        moments,
        capacities,
        counted,
        rates,
        width,
        program.base_moments,
        program.base_capacity,
        program.held,
        program.mass,
    )
