"""Whether samples show that a promise is broken: some of the records name suspicions, the others test them.

A promise is a convex set C of lifts with the support function sigma: an output y keeps it if and only if E[w(S) | y] <= sigma(w)
for every direction w. A *suspicion* is an output and a direction, found on a quarter of the records, the pilot. The other records
were not looked at in finding it, so a test on them needs no correction for the search, only for how many are tested.

A test draws what its records may have come from, with a further record where that hurts the claim most: for the mean of a bounded
quantity that is Gaffke's bound (2005), for two samples "melding" (Fay, Proschan, Brittain, 2015), for counts the interval of Clopper
and Pearson (1934). sigma is taken to be linear in P_S around the records' own: it is concave or linear there for every promise
but LDP, so that the line lies above it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.audit.counted import Counts
from alphalift.regions import Region

# The share of the records that name suspicions, and how many are tested at most: those that stand out most.
PILOT, MOST_SUSPICIONS = 0.25, 20
# Records that say l = 1, added to every cell of the pilot: few let rare secrets be suspected, many only frequent ones.
_SHRINKING = (1.0, 10.0, 100.0)
# Draws in the tail of a test's level, on average; what exceeds sigma by fewer standard errors is not worth drawing.
_IN_TAIL, _NOT_SUSPICIOUS = 40, 1.0
_STEP, _HALVINGS, _FARTHEST = 1e-6, 60, 1e6
# log(1 + c) for shifts c of a w from 0 to 1, and in how many steps the best one is looked for.
_SHIFTS, _THIRDS = (-7.0, 9.0), 40
# What is added to every cell where a standard error is estimated from few records.
_SMOOTHING = 0.5


@dataclass(frozen=True, eq=False)
class Suspicion:
    """That E[w(S) | y] exceeds sigma(w), for one output, one of the promise's components and w, (|S|,).

    `errors` says by how many standard errors it does among the pilot's records, `p_value` how likely chance shows as much as the others
    do if it does not; 1 if that was not computed, since they show next to nothing.
    """

    output: int
    component: Region
    w: Array
    errors: float
    p_value: float = 1.0


def suspected(
    counts: Counts, promise: Region, level: float, generator: np.random.Generator
) -> tuple[list[Suspicion], bool]:
    """The suspicions, tested, the likeliest first, and whether one of them shows that the promise is broken.

    `counts` are (|S|, |Y|). If the promise is kept, the second is true with probability `level` at most.
    """
    pilot = generator.binomial(counts, PILOT)
    found = named(pilot, promise)
    if not found:
        return [], False
    each = level / len(found)
    tested = [own for group in _by_component(found) for own in _tested(counts - pilot, group, each, generator)]
    tested.sort(key=lambda own: (own.p_value, -own.errors))
    return tested, tested[0].p_value <= each


def named(pilot: Counts, promise: Region) -> list[Suspicion]:
    """Of every output and component the direction that stands out most in the pilot; of those, the ones that stand out most."""
    smooth: Array = pilot.astype(np.float64) + _SMOOTHING
    p_s, found = smooth.sum(axis=1) / smooth.sum(), list[Suspicion]()
    for component in promise.components:
        leaving = [_leaving(component, _shrunk_lifts(pilot, p_s, strength), p_s) for strength in _SHRINKING]
        outputs, w = (np.concatenate(part) for part in zip(*leaving, strict=True))
        errors = _Lines.of(component, w, p_s).errors(smooth, outputs)
        for y in np.unique(outputs):
            best = np.flatnonzero(outputs == y)[errors[outputs == y].argmax()]
            found.append(Suspicion(int(y), component, w[best], float(errors[best])))
    found.sort(key=lambda own: -own.errors)
    return found[:MOST_SUSPICIONS]


def _by_component(found: list[Suspicion]) -> list[list[Suspicion]]:
    components = {id(own.component): own.component for own in found}
    return [[own for own in found if own.component is component] for component in components.values()]


def _shrunk_lifts(counts: Counts, p_s: Array, strength: float) -> Array:
    """Lifts, (|Y|, |S|), with so many records in every cell that say l = 1."""
    expected = np.outer(counts.sum(axis=0) / max(int(counts.sum()), 1), counts.sum(axis=1))
    lifts = (counts.T + strength) / (expected + strength)
    return np.asarray(lifts / (lifts @ p_s)[:, None])


def _leaving(component: Region, lifts: Array, p_s: Array) -> tuple[NDArray[np.int64], Array]:
    """Normals w of C where the ways from 1 to the rows of lifts leave it, and the numbers of the rows whose ways do."""
    away = lifts - 1
    low, high = np.zeros(len(lifts)), 1 / np.maximum(-away.min(axis=1), 1 / _FARTHEST)  # lifts are not negative
    leaves = ~component.allows(1 + high[:, None] * away, p_s)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inside = component.allows(1 + middle[:, None] * away, p_s)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    at, steps = np.maximum(1 + high[:, None] * away, _STEP), np.eye(len(p_s)) * _STEP / 2
    rises = [component.value(at + step, p_s) - component.value(at - step, p_s) for step in steps]
    w = np.stack(rises, axis=1) / _STEP / p_s
    size = np.ptp(w, axis=1)
    rows = np.flatnonzero(leaves & np.isfinite(size) & (size > 0))
    return rows, _shifted(component, w[rows] / size[rows, None], p_s)


def _shifted(component: Region, w: Array, p_s: Array) -> Array:
    """w + c with the least sigma(w + c) - c: as E l = 1, all of them say the same of a lift, but their sigmas may not."""
    w = w - w.min(axis=1, keepdims=True)

    def cost(logs: Array) -> Array:
        shifts = np.exp(logs) - 1
        return np.asarray(component.support(w + shifts[:, None], p_s) - shifts)

    low, high = np.full(len(w), _SHIFTS[0]), np.full(len(w), _SHIFTS[1])
    if not len(w) or np.allclose(cost(low), cost(high)):  # the promise does not mind
        return w
    for _ in range(_THIRDS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        better = cost(left) <= cost(right)
        low, high = np.where(better, low, left), np.where(better, right, high)
    return np.asarray(w + np.exp((low + high) / 2)[:, None] - 1)


@dataclass(frozen=True, eq=False)
class _Lines:
    """Directions w, (count, |S|), and sigma(w) as a function of P_S: `at` where it is p_s, (count,), and its slopes g toward each
    secret, (count, |S|). g.p_s = 0, so that at another p the line is at + g.p."""

    w: Array
    p_s: Array
    at: Array
    slopes: Array

    @classmethod
    def of(cls, component: Region, w: Array, p_s: Array) -> _Lines:
        at = component.support(w, p_s)
        towards = p_s + _STEP * (np.eye(len(p_s)) - p_s)
        slopes = np.stack([(component.support(w, p) - at) / _STEP for p in towards], axis=1)
        return cls(w, p_s, at, slopes - (slopes @ p_s)[:, None])

    def errors(self, counts: Array, outputs: NDArray[np.int64]) -> Array:
        """By how many standard errors E[w | y] exceeds sigma(w) among the counts, whose P_S is p_s, (count,).

        The variance is that of each record's influence: of its own y (w - E[w | y]) / P(y) - g, of others -g.
        """
        total, here = counts.sum(), counts[:, outputs].T
        q, p_y = here / here.sum(axis=1, keepdims=True), here.sum(axis=1) / total
        mean = (q * self.w).sum(axis=1)
        own = (self.w - mean[:, None]) / p_y[:, None] - self.slopes
        rest = counts.sum(axis=1) - here
        variance = (here * own**2 + rest * self.slopes**2).sum(axis=1) / total
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nan_to_num((mean - self.at) / np.sqrt(variance / total), nan=0.0))


def _tested(counts: Counts, found: list[Suspicion], each: float, generator: np.random.Generator) -> list[Suspicion]:
    """The suspicions of one component with their p-values; those about an output that has no records stay as they are."""
    smooth: Array = counts.astype(np.float64) + _SMOOTHING
    outputs, w = np.array([own.output for own in found]), np.array([own.w for own in found])
    errors = _Lines.of(found[0].component, w, smooth.sum(axis=1) / smooth.sum()).errors(smooth, outputs)
    p_s = counts.sum(axis=1) / counts.sum()
    lines, tested = _Lines.of(found[0].component, w, p_s), list[Suspicion]()
    for i, own in enumerate(found):
        here = counts[:, own.output]
        others = counts.sum(axis=1) - here
        if errors[i] > _NOT_SUSPICIOUS and here.any() and others.any():
            excess = _excesses(here, others, (w[i], lines.at[i], lines.slopes[i]), int(_IN_TAIL / each), generator)
            own = replace(own, p_value=float((1 + (excess <= 0).sum()) / (1 + len(excess))))
        tested.append(own)
    return tested


def _excesses(
    here: Counts, others: Counts, line: tuple[Array, float, Array], draws: int, generator: np.random.Generator
) -> Array:
    """E[w | y] - sigma(w) for draws of what the records with y, and those with others, may have come from, (draws,)."""
    w, at, slopes = line
    share = here.sum() / (here.sum() + others.sum())
    q = _drawn(here, int(np.argmin(w - share * slopes)), draws, generator)
    rest = _drawn(others, int(np.argmax(slopes)), draws, generator)
    # P(y) has its further record on the side on which there is less excess.
    larger = bool(slopes @ (here / here.sum() - others / others.sum()) > 0)
    p_y = generator.beta(here.sum() + larger, others.sum() + (not larger), draws)
    return np.asarray(q @ w - at - p_y * (q @ slopes) - (1 - p_y) * (rest @ slopes))


def _drawn(counts: Counts, further: int, draws: int, generator: np.random.Generator) -> Array:
    """Distributions that the counts may have come from, with a further record there, (draws, |S|)."""
    cells = counts.astype(np.float64)
    cells[further] += 1
    gammas = generator.standard_gamma(cells, (draws, len(cells)))
    return np.asarray(gammas / gammas.sum(axis=1, keepdims=True))
