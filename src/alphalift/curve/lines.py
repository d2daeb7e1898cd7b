"""Curves of promises about every output whose sets grow along a line: mechanisms at budgets, one tree for all that is between two.

Columns and prices of two budgets are interpolated; a tree proves what the prices claim for all budgets between ("Between two budgets"
in docs/theory.md). No budget has a tree of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.convex import ConvexSet
from alphalift.curve.envelope import Envelope, Point, Stretch
from alphalift.curve.setting import Setting, middle
from alphalift.curve.steps import in_steps
from alphalift.geometry.between import SearchBetween, compile_both
from alphalift.geometry.concave import ConcaveProgram
from alphalift.geometry.tree import Tree
from alphalift.mechanism import Mechanism
from alphalift.regions import averages_of
from alphalift.regions.between import Line, line_between
from alphalift.solvers.between import LinePrices, LocalRun, Moving, distinct
from alphalift.solvers.optimal import Optimal, kind_of_run, merges
from alphalift.presolve import Merged
from alphalift.solvers.run import MARGIN, Settings, curve_of
from alphalift.solvers.search import PROGRAM_MARGIN, SearchRun, concave_program

# Shares of the accuracy: what a tree may leave open, what one step of the lower envelope may rise, what local columns may miss.
_OPEN, _STEP, _MISSED = 0.35, 0.08, 0.1
_MOST_STEPS = 400
# Mixtures of a stretch's columns that are looked for at most, and what share of the accuracy the lower envelope may lie below a line.
_MIXTURES, _LOST = 10, 0.2
# Curves are known to this first, so that little time leaves no part of them unknown.
_COARSE = 0.05
# Prices of budgets that are farther apart suit nothing between.
_MOST_RISE = 0.012
# By how much of the accuracy a curve may rise to the first budget beside 0, and the least that this is.
_FOOT_RISE, _LEAST_BUDGET = 0.5, 1e-12
# Rounds of prices for a stretch, starts for new columns in each, nodes of its tree.
_ROUNDS, _MOST_STARTS, _MOST_NODES, _FURTHER_NODES = 6, 16, 12_000, 500
# A tree is handed on unless it has so many times the nodes of one that was begun afresh.
_OVERGROWN = 1.6


@dataclass(eq=False)
class Spot(Point):
    """A budget with the run that finds columns there."""

    run: LocalRun

    def improve(self, starts: Array) -> None:
        """Look for columns near these, too."""
        if self.run.from_columns(starts):
            self.renew()

    def renew(self) -> None:
        self.mechanism = self.run.mechanism()
        self.lower = max(self.lower, self.run.share)


@dataclass(eq=False)
class Between(Stretch):
    """Two budgets, the columns that go from one to the other, and the line above all mechanisms that a tree proves."""

    curve: _Lines
    left: Spot
    right: Spot
    tree: Tree | None = None
    cap: float = 1.0
    ends: tuple[float, float] | None = None
    prices: tuple[Array, Array] | None = field(default=None, repr=False)

    @cached_property
    def line(self) -> Line | None:
        return line_between(self.left.run.region, self.right.run.region, self.curve.joint.p_s)

    def place(self, epsilon: float) -> float:
        return 0.0 if self.line is None else self.line.place(self.curve.setting.family.at(epsilon))

    def bound(self, epsilon: float) -> float:
        if self.ends is None:
            return 1.0
        return self._along(self.ends, epsilon)

    def _along(self, ends: tuple[float, float], epsilon: float) -> float:
        theta = self.place(epsilon)
        # A line that falls is not used: envelopes rise.
        return (1 - theta) * ends[0] + theta * max(ends)

    @cached_property
    def moving(self) -> Moving:
        return Moving.of(self.curve.joint, self.curve.utility, self.left.run.kept, self.right.run.kept)

    @cached_property
    def middle(self) -> float:
        """The epsilon halfway along the line."""
        low, high = self.left.epsilon, self.right.epsilon
        for _ in range(40):
            epsilon = 0.5 * (low + high)
            low, high = (epsilon, high) if self.place(epsilon) < 0.5 else (low, epsilon)
        return 0.5 * (low + high)

    @cached_property
    def _mixtures(self) -> tuple[Array, Array, list[tuple[Array, Array]]]:
        """Epsilons, what mixtures of moving columns keep, and these: all for evenly spaced places on the way.

        The best mixture at some place says which columns; at the others these have other weights. Where that leaves least, the best
        mixture there is next.
        """
        accuracy, first, last = self.curve.setting.accuracy, self.left.lower, self.right.lower
        count = min(max(math.ceil(max(last - first, 0.0) / (_STEP * accuracy)), 4), _MOST_STEPS)
        thetas, best = np.linspace(0.0, 1.0, count + 1), np.full(count + 1, -math.inf)
        parts, place = list[tuple[Array, Array, list[tuple[Array, Array]]]](), count // 2
        for _ in range(_MIXTURES):
            part, kept = self._mixed(self.moving.used_at(thetas[place]), thetas)
            parts.append(part)
            best = np.maximum(best, kept)
            lost = (1 - thetas) * first + thetas * last - best
            place = _amid(lost >= 0.9 * lost.max())
            if lost[place] < _LOST * accuracy:
                break
        epsilons, worth, mixtures = zip(*parts, strict=True)
        return np.concatenate(epsilons), np.concatenate(worth), [own for some in mixtures for own in some]

    def _mixed(
        self, rows: Array, thetas: Array
    ) -> tuple[tuple[Array, Array, list[tuple[Array, Array]]], Array]:
        """The mixtures of these columns: their epsilons, what they keep, and themselves; and what is kept at every place."""
        curve, joint, region = self.curve, self.curve.joint, self.right.run.region
        good, points, weights = self.moving.mixed(rows, thetas)
        kept = np.full(len(thetas), -math.inf)
        if not good.any():
            return (np.empty(0), np.empty(0), []), kept
        costs = curve.utility.uncertainty(points.reshape(-1, points.shape[-1])).reshape(weights.shape)
        values = region.value(points.reshape(-1, points.shape[-1]) @ joint.lift.T, joint.p_s).reshape(weights.shape)
        largest = np.where(weights > 0, values, -math.inf).max(axis=1)
        epsilons = np.array([max(region.as_epsilon(value), 0.0) + MARGIN for value in largest])
        worth = np.asarray(curve.share(curve.before - (weights * costs).sum(axis=1)))
        kept[good] = worth
        return (epsilons, worth, [(p[w > 0], w[w > 0]) for p, w in zip(points, weights, strict=True)]), kept

    def steps(self) -> tuple[Array, Array]:
        epsilons, worth, _ = self._mixtures
        return epsilons, worth

    def step(self, number: int) -> Mechanism:
        points, weights = self._mixtures[2][number]
        return self.curve.mechanism(Mechanism.mixing(self.curve.joint, points, weights / weights.sum()))

    def forget(self) -> None:
        """What rests on the ends' columns is computed anew."""
        for name in ("moving", "_mixtures"):
            self.__dict__.pop(name, None)

    def apart(self, prices: tuple[Array, Array], threshold: float) -> float:
        """How far apart envelopes would be, were the line at these prices proven."""
        before, kept = self.ends, self.cap
        self.ends, self.cap = self.curve.bounds(prices, -threshold), 1.0
        try:
            return self.distance
        finally:
            self.ends, self.cap = before, kept


def _amid(chosen: NDArray[np.bool_]) -> int:
    """The middle of the longest run of chosen places."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]])))
    runs = ends.reshape(-1, 2)
    longest = runs[np.argmax(runs[:, 1] - runs[:, 0])]
    return int(longest.sum() // 2)


class _Lines:
    """A curve in the making."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.clock = setting, setting.clock
        merged = Merged.of(setting.joint)
        region = setting.family.at(1.0)
        self.merged = merged if merges(merged, region, setting.utility) else None
        self.joint = setting.joint if self.merged is None else merged.joint
        self.gain = 0.0 if self.merged is None else merged.gain
        self.utility = setting.utility.on(self.joint)
        self.before = float(self.utility.uncertainty(self.joint.p_x[None])[0])
        self.threshold = _OPEN * setting.accuracy * setting.everything
        self.fresh: int = 0

    def share(self, utility: Array | float) -> Array | float:
        return (utility + self.gain) / self.setting.everything

    def mechanism(self, own: Mechanism) -> Mechanism:
        """The same for the joint that was asked about."""
        if self.merged is None:
            return own
        from scipy.sparse import csr_array

        columns, masses = self.merged.split(csr_array(own.posteriors), own.p_y)
        return Mechanism.mixing(self.merged.original, columns, masses)

    def bounds(self, prices: tuple[Array, Array], lowest: float) -> tuple[float, float]:
        """What no mechanism exceeds at either end, if no column there has a reduced cost below `lowest`."""
        p_x, size = self.joint.p_x, len(self.joint.p_x)
        found = []
        for own in prices:
            rounding = 1e-12 * (size + 1) * (1 + float(np.abs(own) @ p_x))
            found.append(float(self.share(self.before - float(own @ p_x) - lowest + rounding)))
        return found[0], found[1]

    def spot(self, epsilon: float, starts: Array) -> Spot:
        region = self.setting.family.at(epsilon)
        gap = min(_MISSED * self.setting.accuracy * self.setting.everything / self.utility.of_publishing_all(self.joint.p_x), 0.5)
        settings = Settings(relative_gap=gap, clock=self.clock, threads=1)
        run = _Run(settings, self.joint, region, self.utility, np.empty((0, len(self.joint.p_x))))
        run.curve = self
        if region.kept_by(self.joint.p_x, self.joint.lift.T, self.joint.p_s):
            run.mixture = run.mix(np.eye(len(self.joint.p_x)))
        else:
            run.from_columns(starts)
        return Spot(epsilon, self.mechanism(run.mechanism()), run.share, 1.0, run)

    def spot_of(self, point: Point) -> Spot:
        """A solved budget, and a run from its columns."""
        points = point.mechanism.p_x_given_y.T
        found = self.spot(point.epsilon, points if self.merged is None else self.merged.posteriors(points))
        if found.lower < point.lower:
            found.mechanism, found.lower = point.mechanism, point.lower
        found.upper = point.upper
        return found

    def foot(self, first: Spot, second: Spot) -> Between | None:
        """From 0, where sets have no interior, to a budget so small that its bound serves both; none if there is no such."""
        accuracy, epsilon = self.setting.accuracy, second.epsilon
        upper = second.upper
        while upper - first.lower > accuracy:
            # Where it rises as its root at most, as curved sets grow.
            epsilon *= min((_FOOT_RISE * accuracy / (upper - first.lower)) ** 2, 0.25)
            if self.clock.over or epsilon < _LEAST_BUDGET:
                return None
            solver = Optimal(relative_gap=min(_MISSED * accuracy, 0.5), clock=self.clock, threads=1)
            (found,) = solver.solve(self.setting.joint, [self.setting.family.at(epsilon)], self.setting.utility)
            upper = min(1.0, self.setting.share(found.upper_bound))
        if epsilon == second.epsilon:
            return None
        right = self.spot_of(Point(epsilon, found.mechanism, found.normalized_utility, upper))
        return Between(self, first, right, cap=upper, ends=(upper, upper))

    def program(self, epsilon: float) -> ConcaveProgram:
        return concave_program(self.joint, self.setting.family.at(epsilon).tightened(PROGRAM_MARGIN), self.utility)

    def settle(self, own: Between, accuracy: float) -> bool:
        """Prove a line above the stretch; whether envelopes are near enough then. If prices say beforehand that not, nothing is proven."""
        if own.line is None:
            return False
        threshold = _OPEN * accuracy * self.setting.everything
        lines = LinePrices(self.joint.p_x, self.utility)
        for points, theta in ((own.left.run.kept, 0.0), (own.right.run.kept, 1.0), (own.moving.at(0.5), 0.5)):
            lines.offer(points, theta)
        prices = lines.solve()
        if own.apart(prices, threshold) > accuracy:
            return False
        scales, vectors, least = self.utility.scales(self.joint.p_x), self.joint.p_s_given_x.T, float(self.joint.p_s.min())
        ends = [
            ConcaveProgram(ConvexSet.intersecting([one]), curve_of(self.utility), scales, vectors, least)
            for one in (own.line.left, own.line.right)
        ]
        with self.clock.stopped():
            compile_both(len(self.joint.p_x) + len(own.line.right.widths))
        tree = None if own.line.right.centred else self.handed_on(own.tree, 2 * (ends[0].moments.shape[1] + 1))
        search, rounds, most = SearchBetween((ends[0], ends[1]), prices, -threshold, tree), 0, _MOST_NODES
        while not search.finished and search.nodes < most and not self.clock.over:
            search.grow(thorough=rounds >= _ROUNDS)
            if not search.stuck or search.finished:
                continue
            rounds += 1
            found = self._columns(own, prices, distinct(search.left())[:_MOST_STARTS], threshold, lines)
            prices = lines.solve()
            if found and own.apart(prices, threshold) > accuracy:
                own.tree = search.tree()
                return False
            search.change_prices(prices)
            if not found or rounds >= _ROUNDS:  # what looks like a column is none
                rounds, most = _ROUNDS, min(most, search.nodes + _FURTHER_NODES)
        own.ends = self.bounds(prices, search.lower_bound)
        own.tree = search.tree()
        if tree is None:
            self.fresh = len(own.tree.bound)
        return own.distance <= accuracy

    def handed_on(self, tree: Tree | None, duals: int) -> Tree | None:
        """A neighbour's tree to begin with, if it is of the same kind and has not grown on its way."""
        if tree is None or tree.dual.shape[1] != duals or len(tree.bound) > _OVERGROWN * self.fresh:
            return None
        return tree

    def _columns(
        self, own: Between, prices: tuple[Array, Array], starts: Array, threshold: float, lines: LinePrices
    ) -> bool:
        """Columns for which the prices are too high, offered at their places; ends look near them for their own. Whether there are any."""
        found = []
        programs = (own.left.run.inner_program, self.program(own.middle), own.right.run.inner_program)
        for theta, program in zip((0.0, 0.5, 1.0), programs, strict=True):
            points, values = program.local_minima((1 - theta) * prices[0] + theta * prices[1], starts, clock=self.clock)
            points = distinct(points[values < -0.1 * threshold])
            if len(points):
                lines.offer(points, theta)
                found.append(points)
        if not found:
            return False
        starts = distinct(np.concatenate([*found, starts]))
        own.left.improve(starts)
        own.right.improve(starts)
        own.forget()
        return True


class _Run(LocalRun):
    """A run that knows what its mixture is worth on the whole curve's scale."""

    curve: _Lines

    @property
    def share(self) -> float:
        return float(self.curve.share(self.before - self.mixture.value))


def has_lines(setting: Setting) -> bool:
    """Whether trees bound what lies between two budgets of this kind."""
    region, utility, joint = setting.family.at(0.5), setting.utility, setting.joint
    if averages_of(region) or utility.compiled_curve() is None or setting.everything <= 0 or setting.end <= 0:
        return False
    merged = Merged.of(joint)
    solved = merged.joint if merges(merged, region, utility) else joint
    if kind_of_run(solved, region, utility) is not SearchRun:
        return False
    return line_between(setting.family.at(0.25), region, solved.p_s) is not None


def in_lines(setting: Setting) -> Envelope:
    """First in steps, so that all is known to some accuracy; then from left to right, where stretches are split until a line serves."""
    curve, clock = _Lines(setting), setting.clock
    coarse = in_steps(replace(setting, accuracy=max(_COARSE, setting.accuracy)))
    if coarse.interrupted or clock.over or coarse.accuracy <= setting.accuracy:
        return coarse
    spots = [curve.spot_of(point) for point in coarse.points]
    waiting = [
        Between(curve, left, right, cap=right.upper, ends=(right.upper, right.upper)) for left, right in pairwise(spots)
    ][::-1]
    done, interrupted, own = list[Between](), False, waiting[-1]
    try:
        if setting.end > 0:
            foot = curve.foot(spots[0], own.right)
            if foot is not None:
                waiting[-1:] = [Between(curve, foot.right, own.right, cap=own.cap, ends=own.ends), foot]
        while waiting:
            own = waiting.pop()
            if clock.over or own.distance <= setting.accuracy:
                done.append(own)
                continue
            if done and own.tree is None:
                own.tree = done[-1].tree
            if own.right.lower - own.left.lower <= _MOST_RISE and curve.settle(own, setting.accuracy):
                done.append(own)
                continue
            epsilon = middle(own.left.epsilon, own.right.epsilon)
            if epsilon is None or clock.over:
                done.append(own)
                continue
            starts = distinct(np.concatenate([own.left.run.kept, own.moving.at(0.5), own.right.run.kept]))
            point = curve.spot(epsilon, starts)
            waiting += [
                Between(curve, point, own.right, cap=own.cap, ends=own.ends),
                Between(curve, own.left, point, own.tree, own.cap, own.ends and (own.ends[0], own.upper(epsilon))),
            ]
    except KeyboardInterrupt:
        interrupted, done = True, [*done, *([] if own in done else [own]), *waiting[::-1]]
    points = [own.left for own in done] + [done[-1].right]
    return Envelope(
        setting.family, setting.joint, setting.utility, setting.largest, tuple(points), tuple(done), interrupted
    )
