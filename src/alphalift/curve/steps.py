"""Curves of any promise and utility: budgets solved for one by one, with steps between them.

Of promises on average a mixture of two mechanisms keeps the mixed budget, and the prices of one budget bound all others ("Between
two budgets" in docs/theory.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from alphalift.arrays import Array, dense
from alphalift.curve.envelope import Envelope, Point, Stretch
from alphalift.curve.setting import Setting, between
from alphalift.geometry.concave import Certificate, MergedCertificate, PiecesCertificate
from alphalift.geometry.tree import CLOSED_FROM
from alphalift.mechanism import Mechanism
from alphalift.regions import Region, averages_of
from alphalift.solution import Solution, Status
from alphalift.solvers import Optimal

# The share of the accuracy that a solve may leave open, and the least that it may be asked for.
_GAP_SHARE, _LEAST_GAP = 0.12, 1e-9
# How high a stretch is to be, as a share of the accuracy: curves bend, so that not all parts of one are equally high.
_HIGHEST = 0.95
# Mixtures of two mechanisms on average, evenly.
_MIXTURES = 65


@dataclass(eq=False)
class Solved(Point):
    """A budget with its solution; `proven` is what its own certificate says, where larger budgets may say more."""

    solution: Solution
    proven: float


@dataclass(eq=False)
class Step(Stretch):
    """Between two solutions: the left one's mechanism, the right one's bound, and of promises on average what is between."""

    setting: Setting
    left: Solved
    right: Solved
    cap: float = 1.0

    def bound(self, epsilon: float) -> float:
        region = self.setting.family.at(epsilon)
        return min([self.right.upper, *(_tangent(point, region) for point in (self.left, self.right))])

    @cached_property
    def _both(self) -> tuple[Array, Array, Array]:
        """All posteriors of both mechanisms, and their weights at either end."""
        own, other = self.left.mechanism, self.right.mechanism
        p, q = own.p_y / own.p_y.sum(), other.p_y / other.p_y.sum()
        points = np.concatenate([dense(own.posteriors), dense(other.posteriors)])
        return points, np.append(p, np.zeros_like(q)), np.append(np.zeros_like(p), q)

    @cached_property
    def _mixtures(self) -> tuple[Array, Array]:
        setting, p_x = self.setting, self.setting.joint.p_x
        if not averages_of(self.right.solution.region):
            return np.empty(0), np.empty(0)
        points, first, last = self._both
        lifts, costs = points @ setting.joint.lift.T, setting.utility.uncertainty(points)
        before, epsilons, worth = float(setting.utility.uncertainty(p_x[None])[0]), [], []
        for theta in np.linspace(0.0, 1.0, _MIXTURES):
            weights = (1 - theta) * first + theta * last
            epsilons.append(setting.family.epsilon_of(weights, lifts, setting.joint.p_s))
            worth.append(setting.share(before - float(weights @ costs)))
        return np.array(epsilons), np.array(worth)

    def steps(self) -> tuple[Array, Array]:
        return self._mixtures

    @property
    def parts(self) -> int:
        """How many stretches as high as they may be are needed in its place, 2 or more; 2 where mixtures lie above steps."""
        if len(self.steps()[0]):
            return 2
        accuracy, open_ = self.setting.accuracy, self.right.upper - self.right.lower
        return max(2, math.ceil((self.distance - open_) / max(_HIGHEST * accuracy - open_, _LEAST_GAP)))

    def step(self, number: int) -> Mechanism:
        theta, (points, first, last) = np.linspace(0.0, 1.0, _MIXTURES)[number], self._both
        return Mechanism.mixing(self.setting.joint, points, (1 - theta) * first + theta * last)


def _tangent(point: Solved, region: Region) -> float:
    """What the point's bound says of another budget for the same mean: it costs the price there. Of other promises, 1."""
    proof = point.solution.certificate
    if isinstance(proof, MergedCertificate):
        proof = proof.proof
    if not isinstance(proof, Certificate | PiecesCertificate) or len(proof.average_prices) != 1:
        return 1.0
    utility, p_x = point.solution.utility_function, point.solution.joint.p_x
    (there,), (here,) = averages_of(region), averages_of(point.solution.region)
    # Those of pieces are in units of what publishing X is worth.
    scale = 1.0 if isinstance(proof, PiecesCertificate) else utility.of_publishing_all(p_x)
    price = float(proof.average_prices[0]) / scale
    return point.proven + price * (there.room - here.room)


def in_steps(setting: Setting) -> Envelope:
    """Stretches are split where envelopes are farthest apart."""
    clock, interrupted = setting.clock, False
    points, stretches, done = [_solved(setting, 0.0)], list[Step](), list[Step]()
    if setting.end > 0:
        points.append(_solved(setting, setting.end, points[0]))
        stretches.append(Step(setting, points[0], points[1]))
    try:
        while stretches and not interrupted:
            worst = max(range(len(stretches)), key=lambda i: stretches[i].distance)
            own = stretches[worst]
            if own.distance <= setting.accuracy or clock.over:
                break
            epsilon = between(own.left.epsilon, own.right.epsilon, own.parts)
            if epsilon is None:
                done.append(stretches.pop(worst))
                continue
            point = _solved(setting, epsilon, own.left, own)
            points.append(point)
            stretches[worst : worst + 1] = [Step(setting, own.left, point), Step(setting, point, own.right)]
            interrupted = point.solution.status is Status.INTERRUPTED
    except KeyboardInterrupt:
        interrupted = True
    points.sort(key=lambda point: point.epsilon)
    parts = sorted([*stretches, *done], key=lambda own: own.left.epsilon)
    return Envelope(
        setting.family, setting.joint, setting.utility, setting.largest, tuple(points), tuple(parts), interrupted
    )


def _solved(setting: Setting, epsilon: float, before: Solved | None = None, stretch: Step | None = None) -> Solved:
    """Solve at one epsilon, from the columns of its neighbour."""
    region = setting.family.at(epsilon)
    gap = max(min(_GAP_SHARE * setting.accuracy, 0.5), _LEAST_GAP)
    # Trees are small where budgets are many: threads would only wait for each other.
    threads = 1 if len(setting.joint.p_x) < CLOSED_FROM else None
    solver = Optimal(relative_gap=gap, clock=setting.clock, threads=threads)
    after = [] if before is None else [before.solution]
    (found,) = solver.solve(setting.joint, [region], setting.utility, after=after)
    proven = min(1.0, setting.share(found.upper_bound))
    if before is not None and found.normalized_utility < before.lower:  # in too little time
        found = replace(before.solution, region=region, status=found.status, certificate=None)
    lower = found.normalized_utility
    upper = proven if stretch is None else min(proven, stretch.upper(epsilon))
    return Solved(epsilon, found.mechanism, lower, max(upper, lower), found, proven)
