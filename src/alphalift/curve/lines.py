"""Curves of promises about every output whose sets grow along a line: mechanisms at budgets, one tree for all that is between two.

Columns and prices of two budgets are interpolated; a tree proves what the prices claim for all budgets between ("Between two budgets"
in docs/theory.md). No budget has a tree of its own.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

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
_ROUNDS, _MOST_STARTS, _MOST_NODES, _FURTHER_NODES = 6, 16, 12_000, 500
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
    """First in steps, so that all is known to some accuracy; then from left to right, where stretches are split until a line serves."""
    proofs, clock = _Proofs(setting), setting.clock
    spots = proofs.spots
    coarse = in_steps(replace(setting, accuracy=max(_COARSE, setting.accuracy)))
    if coarse.interrupted or clock.over or coarse.accuracy <= setting.accuracy:
        return coarse
    ends = [spots.spot_of(point) for point in coarse.points]
    waiting = [Between(spots, left, right, cap=right.upper) for left, right in pairwise(ends)][::-1]
    done, interrupted, own = list[Between](), False, waiting[-1]
    try:
        if setting.end > 0:
            foot = proofs.foot(ends[0], own.right)
            if foot is not None:
                waiting[-1:] = [Between(spots, foot.right, own.right, cap=own.cap), foot]
        while waiting:
            own = waiting.pop()
            if clock.over or own.distance <= setting.accuracy:
                done.append(own)
                continue
            if done and own.tree is None:
                own.tree = done[-1].tree
            if own.right.lower - own.left.lower <= _MOST_RISE and proofs.settle(own, setting.accuracy):
                done.append(own)
                continue
            epsilon = middle(own.left.epsilon, own.right.epsilon)
            if epsilon is None or clock.over:
                done.append(own)
                continue
            starts = distinct(np.concatenate([own.left.run.kept, own.moving.at(0.5), own.right.run.kept]))
            point = spots.spot(epsilon, starts)
            waiting += [
                Between(spots, point, own.right, cap=own.upper(own.right.epsilon)),
                Between(spots, own.left, point, own.tree, cap=own.upper(epsilon)),
            ]
    except KeyboardInterrupt:
        interrupted, done = True, [*done, *([] if own in done else [own]), *waiting[::-1]]
    points = [own.left for own in done] + [done[-1].right]
    return Envelope(
        setting.family, setting.joint, setting.utility, setting.largest, tuple(points), tuple(done), interrupted
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
        if own.line is None:
            return False
        threshold = _OPEN * accuracy * self.setting.everything
        lines = LinePrices(self.joint.p_x, self.utility)
        for points, theta in ((own.left.run.kept, 0.0), (own.right.run.kept, 1.0), (own.moving.at(0.5), 0.5)):
            lines.offer(points, theta)
        prices = lines.solve()
        if own.apart(prices, threshold) > accuracy:
            return False
        scales, vectors, least = (
            self.utility.scales(self.joint.p_x),
            self.joint.p_s_given_x.T,
            float(self.joint.p_s.min()),
        )
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
        own.ends, own.tree = self.spots.bounds(prices, search.lower_bound), search.tree()
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
        programs = (own.left.run.inner_program, self.spots.program(own.middle), own.right.run.inner_program)
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
