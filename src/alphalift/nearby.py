"""nearby: among mechanisms that are as useful but for a stated share, one whose outputs hold values that are near to each other.

Two people with the same output have values that are D = E_Y sum_xx' V_x V_x' d(x, x') apart on average, which is linear in how often
each posterior V is used. So the mixture program takes it for its objective, and a row keeps the utility: sum Q_i h(V_i) is at
most what the design had, and the share that may be given up. Columns are those of the design and what the second prices ask
for: c(V) = sum V_x V_x' d is concave where d is of negative type, as distances on a line are, so a step from V minimises
lambda h(W) + 2 (d V).W - u.W, which is the pricing problem at other prices. Nothing says that the answer is the nearest one; that it keeps the promise
and what it is worth are proven as of any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from alphalift.arrays import Array, dense
from alphalift.clock import Clock
from alphalift.distance import Distance
from alphalift.errors import SettingError
from alphalift.geometry.mixture import Mixture, MixtureProgram
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.population import in_region, restated
from alphalift.presolve import Merged
from alphalift.proof.prove import prove
from alphalift.regions import After, Region, averages_of, legible, of_every_output
from alphalift.solution import Solution, Status
from alphalift.solvers.candidates import first_points, neighbours, pull_inside
from alphalift.solvers.run import MARGIN
from alphalift.solvers.search import concave_program

# The share of X that may be given up unless told: what a design leaves open by itself.
USUAL_SHARE = 1e-4
# What is looked at beside that, to say what it would bring.
NOTABLE_SHARE = 0.01
# Rounds of new columns, those that may pass without one that pays, the share of the distance that pays, and what a gain is at all.
_ROUNDS, _IDLE, _PAYS, _GAIN = 20, 3, 1e-3, 1e-6
# The mixture's first column is P_X itself, which nothing is worth: it costs so many times the largest distance.
_NEVER = 1e4
# What all of X is worth at least, in units of the largest distance, where columns are looked for.
_LEAST_WORTH = 1e-3
# With more symbols new columns are not looked for: descents take too long; nor are more combinations of equal symbols tried.
_MOST_SYMBOLS, _MOST_COMBINATIONS = 64, 2000
# A share more than this beyond what designs usually leave open is no optimum any more.
_STILL_OPTIMAL = 1e-3
_TINY = 1e-12
# Times the standard errors that a robust design has to spare: what is tried until the promise is known to be kept for the population.
_MORE_ROOM = (1.0, 1.1, 1.3)
# Between two symbols: places that are looked at, and halvings of what lies between them.
_PLACES, _HALVINGS = 33, 45


@dataclass(frozen=True, eq=False)
class Nearby:
    """The solution, proven, the mean distance of two people with the same output before and after, and the share of X given up.

    It was not `looked` for designs after others, unproven ones, and those for a population that rely on noise or on no record.
    """

    solution: Solution
    distance: Distance
    before: float
    after: float
    given_up: float
    looked: bool = True

    @property
    def changed(self) -> bool:
        return self.after < self.before

    def told(self, order: str) -> Solution:
        """The solution, whose settings say so."""
        if not self.changed:
            return self.solution
        said = f"similar values mixed first ({order}), for at most {math.ceil(1e6 * self.given_up) / 1e4:.4f}% of what publishing X is worth"
        return replace(self.solution, settings="; ".join(filter(None, [self.solution.settings, said])))


def mean_distance(mechanism: Mechanism, distance: Distance) -> float:
    """How far apart the values of two people with the same output are on average."""
    return float(mechanism.p_y @ distance.within(dense(mechanism.posteriors)))


def nearby(solution: Solution, distance: Distance, *, share: float = USUAL_SHARE, time_limit: float = 20.0) -> Nearby:
    """The solution, or one that is worth less by at most this share of X and whose outputs hold nearer values."""
    if not 0 <= share < 1:
        raise SettingError(f"the share of X to give up is {share:g}, expected 0 or more, and less than 1")
    if distance.matrix.shape != 2 * (len(solution.joint.x_labels),):
        raise SettingError(f"distances are of {len(distance.matrix)} values, and X has {len(solution.joint.x_labels)}")
    before = mean_distance(solution.mechanism, distance)
    same = Nearby(solution, distance, before, before, 0.0)
    regions = _asked(solution)
    if not regions:
        return replace(same, looked=False)
    better, clock = None, Clock(time_limit)
    try:
        for region in regions if before > _TINY else ():
            found = _Program(solution, region, distance, share, clock).best()
            if mean_distance(found, distance) < before * (1 - _GAIN):
                better = _accepted(solution, found, share)
            if better is not None or clock.over:
                break
    except KeyboardInterrupt:
        return same
    if better is None or (after := mean_distance(better.mechanism, distance)) >= before:
        return same
    everything = solution.utility_function.of_publishing_all(solution.joint.p_x)
    lost = max(0.0, solution.utility - better.utility) / everything
    return Nearby(better, distance, before, after, lost)


def would_be_nearer(found: Nearby, solution: Solution) -> Nearby:
    """What giving up `NOTABLE_SHARE` of X would bring."""
    return nearby(solution, found.distance, share=NOTABLE_SHARE)


def _asked(solution: Solution) -> list[Region]:
    """What new outputs have to keep, with room for chance where the design left some, and more of it next; none where that is not known."""
    if isinstance(solution.region, After) or solution.integers is None:
        return []
    stated = solution.population
    if stated is None:
        return [solution.region]
    if stated.errors is None or stated.noise or not stated.kept:
        return []
    return [in_region(solution, times * stated.errors) for times in _MORE_ROOM]


def _accepted(solution: Solution, found: Mechanism, share: float) -> Solution | None:
    """The mechanism in place of the solution's own, proven; none if it keeps less, or is not known to keep the promise."""
    assert solution.integers is not None
    everything = solution.utility_function.of_publishing_all(solution.joint.p_x)
    made = restated(
        prove(replace(solution, mechanism=Mechanism(solution.joint, found.law)), bits=solution.integers.bits)
    )
    if made.integers is None or made.utility < solution.utility - share * everything * (1 + _GAIN) - _TINY:
        return None
    if made.population is not None and not made.population.kept:
        return None
    status = solution.status
    if status is Status.OPTIMAL and made.relative_gap > _STILL_OPTIMAL:
        status = Status.FEASIBLE
    return replace(made, status=status)


class _Program:
    """The mixture program with the distance for its objective and a row that keeps the utility."""

    def __init__(self, solution: Solution, region: Region, distance: Distance, share: float, clock: Clock) -> None:
        self.joint, self.utility, self.distance, self.clock = solution.joint, solution.utility_function, distance, clock
        self.region, self.about = region, region.about(solution.joint)
        inner = legible(region, self.about.p_s).tightened(MARGIN)
        self.inner, self.averages = of_every_output(inner), averages_of(inner)
        p_x, everything = self.joint.p_x, self.utility.of_publishing_all(self.joint.p_x)
        before = float(self.utility.uncertainty(p_x[None])[0])
        # The most that E h(V) may be.
        self.most = before - solution.utility + share * everything
        self.points = dense(solution.mechanism.posteriors)
        self.program = MixtureProgram(p_x, _NEVER * float(distance.matrix.max()), 1 + len(self.averages))
        self.original = solution.mechanism

    def best(self) -> Mechanism:
        """The nearest mixture that was found."""
        mixture = self._mix(np.concatenate([self._recombined(), self._of_two()]))
        idle, rounds = 0, 0
        while idle < _IDLE and rounds < _ROUNDS and len(self.joint.p_x) <= _MOST_SYMBOLS and not self.clock.over:
            before, rounds = mixture.value, rounds + 1
            new = self._new_columns(mixture)
            if not len(new):
                break
            mixture = self._mix(new)
            # New prices may lead to better columns though the first ones have not paid.
            idle = idle + 1 if before - mixture.value < _PAYS * mixture.value else 0
        weights = mixture.exact_weights(self.joint.p_x)
        if abs(weights.sum() - 1) > _GAIN:  # P_X itself was needed
            return self.original
        return Mechanism.mixing(self.joint, mixture.stored_points, weights)

    def _mix(self, points: Array) -> Mixture:
        self.points = np.concatenate([self.points, points])
        kept = self.utility.uncertainty(self.points) / max(self.most, _TINY)
        return self.program.solve(
            self.points, self.distance.within(self.points), np.column_stack([kept, self._used(self.points)])
        )

    def _used(self, points: Array) -> Array:
        """The shares of budgets on average that posteriors use up, (count, averages)."""
        lifts, p_s = points @ self.about.lift.T, self.about.p_s
        return np.array([own.above_least(lifts, p_s) / own.room for own in self.averages]).reshape(-1, len(points)).T

    def _recombined(self) -> Array:
        """The design's columns with other symbols of the same types, where a symbol may stand for another one freely."""
        return _recombined(self.points, Merged.of(self.joint), self.distance.matrix)

    def _of_two(self) -> Array:
        """The ends of what is allowed between every two symbols: few values that share an output are near where two are."""
        size = len(self.joint.p_x)
        if size > _MOST_SYMBOLS:
            return np.empty((0, size))
        one, two = np.triu_indices(size, 1)
        eye = np.eye(size)
        shares = np.linspace(0, 1, _PLACES)
        allowed = np.array([self._allowed(share * eye[two] + (1 - share) * eye[one]) for share in shares])
        found = [_kept(eye, self.about, self.inner)]
        for ends in (allowed, allowed[::-1]):
            some = np.flatnonzero(ends.any(axis=0))
            inside = ends.argmax(axis=0)[some]
            low, high = (
                shares[np.maximum(inside - 1, 0)],
                shares[inside],
            )  # outside, unless the end itself is allowed; inside
            first, second = (one, two) if ends is allowed else (two, one)
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                kept = self._allowed(middle[:, None] * eye[second[some]] + (1 - middle[:, None]) * eye[first[some]])
                low, high = np.where(kept, low, middle), np.where(kept, middle, high)
            found.append(high[:, None] * eye[second[some]] + (1 - high[:, None]) * eye[first[some]])
        return _kept(np.concatenate(found), self.about, self.inner)

    def _allowed(self, points: Array) -> Array:
        return np.asarray(self.inner.allows(points @ self.about.lift.T, self.about.p_s))

    def _new_columns(self, mixture: Mixture) -> Array:
        """Columns whose second reduced cost is below 0: from steps at the columns in use, and from around every symbol."""
        if self.utility.compiled_curve() is None:
            return np.empty((0, len(self.joint.p_x)))
        program = concave_program(
            self.about, self.inner if self.averages == () else legible(self.region, self.about.p_s), self.utility
        )
        program.compile()
        # A utility that costs nothing here still decides among columns that are as near.
        largest, everything = float(self.distance.matrix.max()), self.utility.of_publishing_all(self.joint.p_x)
        of_utility = max(float(mixture.budget_prices[0]) / max(self.most, _TINY), _LEAST_WORTH * largest / everything)
        rooms = np.array([own.room for own in self.averages])
        costs = (mixture.budget_prices[1:] / rooms / of_utility) @ program.body.used if self.averages else None
        found = []
        starts = np.concatenate([mixture.points, first_points(self.about, self.inner, self.clock)])
        around = np.concatenate([starts, neighbours(mixture.points)])
        for column in np.concatenate([mixture.points, np.eye(len(self.joint.p_x))]):
            if self.clock.over:
                break
            prices = (mixture.prices - 2 * self.distance.matrix @ column) / of_utility
            near = around[np.argsort(self._between(around, column))[: 4 * len(self.joint.p_x)]]
            points, values = program.local_minima(prices, near, 1, self.clock, costs)
            found.append(points[np.isfinite(values)])
        new = (
            pull_inside(np.concatenate(found), self.about, self.inner, self.clock)
            if found
            else np.empty((0, len(self.joint.p_x)))
        )
        new = _kept(new, self.about, self.inner)
        new = np.concatenate([new, _recombined(new, Merged.of(self.joint), self.distance.matrix)])
        if not len(new):
            return new
        _, first = np.unique(new.round(7), axis=0, return_index=True)
        new = new[first]
        reduced = self.distance.within(new) - new @ mixture.prices
        reduced += (
            np.column_stack([self.utility.uncertainty(new) / max(self.most, _TINY), self._used(new)])
            @ mixture.budget_prices
        )
        return np.asarray(new[reduced < -_GAIN * float(self.distance.matrix.max())])

    def _between(self, points: Array, column: Array) -> Array:
        return np.asarray(points @ self.distance.matrix @ column)


def _kept(points: Array, about: Joint, inner: Region) -> Array:
    """Those of the points that every output may be, up to rounding."""
    return np.asarray(points[inner.allows(points @ about.lift.T, about.p_s)])


def _recombined(points: Array, merged: Merged, matrix: Array) -> Array:
    """The points with the mass of every type on one symbol of it: each combination if they are few, else the nearest to every symbol."""
    if len(merged.joint.x_labels) == len(merged.types) or not len(points):
        return np.empty((0, len(merged.types)))
    found = []
    of_types = np.unique(np.round(merged.posteriors(points), 12), axis=0)
    members = [np.flatnonzero(merged.types == kind) for kind in range(len(merged.joint.x_labels))]
    for row in of_types:
        kinds = np.flatnonzero(row > 0)
        for chosen in _choices([members[kind] for kind in kinds], matrix):
            point = np.zeros(len(merged.types))
            point[chosen] = row[kinds]
            found.append(point / point.sum())
    return np.array(found)


def _choices(members: list[np.ndarray], matrix: Array) -> list[np.ndarray]:
    count = math.prod(map(len, members))
    if count <= _MOST_COMBINATIONS // max(len(members), 1):
        grids = np.meshgrid(*members, indexing="ij")
        return list(np.stack([grid.ravel() for grid in grids], axis=1))
    anchors = np.concatenate(members)
    return [np.array([own[matrix[anchor, own].argmin()] for own in members]) for anchor in anchors]
