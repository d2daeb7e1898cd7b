"""Curves of promises about every output whose sets grow along a line: mechanisms at budgets, one tree for all that is between two.

Columns and prices of two budgets are interpolated; a tree proves what the prices claim for all budgets between ("Between two budgets"
in docs/theory.md). No budget has a tree of its own.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import math

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import ConvexSet
from alphalift.curve.between import Between
from alphalift.curve.envelope import Envelope, Point
from alphalift.curve.setting import Setting, middle
from alphalift.curve.spots import MISSED, Spot, Spots
from alphalift.curve.steps import in_steps
from alphalift.geometry.between import SearchBetween, compile_both
from alphalift.geometry.concave import ConcaveProgram
from alphalift.geometry.tree import Tree
from alphalift.presolve import Merged
from alphalift.regions import averages_of
from alphalift.regions.between import line_between
from alphalift.solvers.between import LinePrices, distinct
from alphalift.solvers.optimal import Optimal, kind_of_run, merges
from alphalift.solvers.run import curve_of
from alphalift.solvers.search import SearchRun

# The share of the accuracy that a tree may leave open.
_OPEN = 0.35
# Curves are known to this first, so that little time leaves no part of them unknown.
_COARSE = 0.05
# Prices of budgets that are farther apart, in what is kept, suit nothing between.
_MOST_RISE = 0.012
# By how much of the accuracy a curve may rise to the first budget beside 0, and the least that this is.
_FOOT_RISE, _LEAST_BUDGET = 0.5, 1e-12
# Rounds of prices for a stretch, starts for new columns in each, nodes of its tree, and after the last round.
_AIM, _NARROWEST, _BEFORE = 0.8, 1e-6, 2
_LEAST_LOST, _SHORTEST, _SHORTER, _LONGER = 0.01, 0.25, 0.7, 3.0
_ROUNDS, _MOST_STARTS, _MOST_NODES, _FURTHER_NODES = 12, 16, 12_000, 500
# A tree is handed on unless it has so many times the nodes of one that was begun afresh.
_OVERGROWN = 1.6


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
    """First in steps, so that all is known to some accuracy; then from left to right, each line as long as it serves."""
    proofs, clock = _Proofs(setting), setting.clock
    coarse = in_steps(replace(setting, accuracy=max(_COARSE, setting.accuracy)))
    if coarse.interrupted or clock.over or coarse.accuracy <= setting.accuracy:
        return coarse
    march = _March(proofs, coarse)
    try:
        march.go()
    except KeyboardInterrupt:
        march.interrupted = True
    return march.envelope()


class _March:
    """From left to right: stretches that are settled, and the budgets ahead that were looked at already."""

    def __init__(self, proofs: _Proofs, coarse: Envelope) -> None:
        self.proofs, self.setting, self.interrupted = proofs, proofs.setting, False
        self.ahead = list(coarse.points[::-1])
        self.done = list[Between]()
        self.left = proofs.spots.spot_of(self.ahead.pop())

    def go(self) -> None:
        setting, clock, spots = self.setting, self.setting.clock, self.proofs.spots
        foot = self.proofs.foot(self.left, self.ahead[-1])
        if foot is not None:
            self._take(foot)
        step = self.left.epsilon
        while self.ahead and not clock.over:
            own = self._next(step)
            width = own.right.epsilon - own.left.epsilon
            settled = own.distance <= setting.accuracy or self.proofs.settle(own, setting.accuracy)
            lost = max(self.proofs.predicted / setting.accuracy - _OPEN, _LEAST_LOST)
            factor = math.sqrt((_AIM - _OPEN) / lost)
            if settled:
                self._take(own)
                step = width * min(max(factor, _SHORTER), _LONGER)
            elif width <= _NARROWEST * own.right.epsilon:
                self._take(own)
            else:
                self._put(own.right)
                # A line above a curve that bends touches it there: two lines are enough for both sides.
                bend = own.nearest - own.left.epsilon
                step = bend if 0.1 * width < bend < 0.9 * width else width * min(max(factor, _SHORTEST), _SHORTER)

    def _next(self, step: float) -> Between:
        """From the left end over about one step: to a budget that was looked at, if there is one there."""
        spots, left = self.proofs.spots, self.left
        point = min(self.ahead, key=lambda own: abs(own.epsilon - left.epsilon - step))
        if not 0.7 * step < point.epsilon - left.epsilon < 1.2 * step and self.ahead[0].epsilon - left.epsilon > step:
            point = spots.spot(left.epsilon + step, left.run.kept)
        elif not isinstance(point, Spot):
            before, point = point, spots.spot_of(point)
            self.ahead[self.ahead.index(before)] = point
        cap = min(own.upper for own in self.ahead if own.epsilon >= point.epsilon)
        return Between(spots, left, point, cap=cap)

    def _put(self, point: Spot) -> None:
        if point not in self.ahead:
            self.ahead.append(point)
            self.ahead.sort(key=lambda own: -own.epsilon)

    def _take(self, own: Between) -> None:
        self.done.append(own)
        self.left = own.right
        self.ahead = [point for point in self.ahead if point.epsilon > self.left.epsilon]

    def envelope(self) -> Envelope:
        """What is not settled is known as coarsely as before."""
        setting, spots = self.setting, self.proofs.spots
        points = [self.left, *(p if isinstance(p, Spot) else spots.spot_of(p) for p in self.ahead[::-1])]
        rest = [Between(spots, left, right, cap=right.upper) for left, right in pairwise(points)]
        return Envelope(
            setting.family,
            setting.joint,
            setting.utility,
            setting.largest,
            tuple([own.left for own in self.done] + points),
            tuple([*self.done, *rest]),
            self.interrupted,
        )


class _Proofs:
    """Proves lines above stretches, with trees that are handed on."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.clock, self.spots = setting, setting.clock, Spots(setting)
        self.joint, self.utility = self.spots.joint, self.spots.utility
        self.fresh = 0

    def foot(self, first: Spot, second: Spot) -> Between | None:
        """From 0, where sets have no interior, to a budget so small that its bound serves both; none if there is no such."""
        accuracy, epsilon = self.setting.accuracy, second.epsilon
        upper = second.upper
        while upper - first.lower > accuracy:
            # Where it rises as its root at most, as curved sets grow.
            epsilon *= min((_FOOT_RISE * accuracy / (upper - first.lower)) ** 2, 0.25)
            if self.clock.over or epsilon < _LEAST_BUDGET:
                return None
            solver = Optimal(relative_gap=min(MISSED * accuracy, 0.5), clock=self.clock, threads=1)
            (found,) = solver.solve(self.setting.joint, [self.setting.family.at(epsilon)], self.setting.utility)
            upper = min(1.0, self.setting.share(found.upper_bound))
        if epsilon == second.epsilon:
            return None
        right = self.spots.spot_of(Point(epsilon, found.mechanism, found.normalized_utility, upper))
        return Between(self.spots, first, right, cap=upper)

    def settle(self, own: Between, accuracy: float) -> bool:
        """Prove a line above the stretch; whether envelopes are near enough then. If prices say beforehand that not, nothing is proven."""
        self.predicted = math.inf
        if own.line is None:
            return False
        threshold = _OPEN * accuracy * self.setting.everything
        lines = LinePrices(self.joint.p_x, self.utility)
        for points, theta in ((own.left.run.kept, 0.0), (own.right.run.kept, 1.0), (own.moving.at(0.5), 0.5)):
            lines.offer(points, theta)
        prices = lines.solve()
        for _ in range(_BEFORE):
            self.predicted = own.apart(prices, threshold)
            if self.predicted > 1.5 * accuracy:
                return False
            starts = own.left.run.mixture.points, own.moving.at(0.5), own.right.run.mixture.points
            if not self._columns(own, prices, starts, threshold, lines):
                break
            prices = lines.solve()
        self.predicted = own.apart(prices, threshold)
        if self.predicted > accuracy:
            return False
        ends = [
            ConcaveProgram(
                ConvexSet.intersecting([one]),
                curve_of(self.utility),
                self.utility.scales(self.joint.p_x),
                self.joint.p_s_given_x.T,
                float(self.joint.p_s.min()),
            )
            for one in (own.line.left, own.line.right)
        ]
        with self.clock.stopped():
            compile_both(len(self.joint.p_x) + len(own.line.right.widths))
        search, rounds, most, paying = SearchBetween((ends[0], ends[1]), prices, -threshold), 0, _MOST_NODES, True
        while not search.finished and search.nodes < most and not self.clock.over:
            search.grow(thorough=rounds >= _ROUNDS)
            # A column that is missing spoils the prices, so it is looked for at once; where none was found, when nothing else is left.
            if search.finished or not (search.stuck or (paying and len(search.left()))):
                continue
            rounds, stuck = rounds + 1, search.stuck
            found = self._columns(own, prices, 3 * (distinct(search.left())[:_MOST_STARTS],), threshold, lines)
            prices = lines.solve()
            self.predicted = own.apart(prices, threshold)
            if found and self.predicted > accuracy:
                return False
            search.change_prices(prices)
            paying = found
            if (stuck and not found) or rounds >= _ROUNDS:  # what looks like a column is none
                rounds, most = _ROUNDS, min(most, search.nodes + _FURTHER_NODES)
        own.ends = self.spots.bounds(prices, search.lower_bound)
        self.predicted = own.distance
        return own.distance <= accuracy

    def _columns(
        self, own: Between, prices: tuple[Array, Array], starts: tuple[Array, ...], threshold: float, lines: LinePrices
    ) -> bool:
        """Columns for which the prices are too high, offered at their places; ends mix theirs. Whether there are any."""
        found = False
        programs = (own.left.run.inner_program, self.spots.program(own.middle), own.right.run.inner_program)
        for theta, program, near in zip((0.0, 0.5, 1.0), programs, starts, strict=True):
            points, values = program.local_minima((1 - theta) * prices[0] + theta * prices[1], near, clock=self.clock)
            points = distinct(points[values < -0.1 * threshold])
            if len(points):
                found = True
                lines.offer(points, theta)
                if theta != 0.5:
                    (own.right if theta else own.left).offer(points)
        if found:
            own.forget()
        return found
