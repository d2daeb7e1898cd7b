"""Spots: budgets with the columns that are known there, of a joint's types where these say all about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from alphalift.arrays import Array
from alphalift.curve.envelope import Point
from alphalift.curve.setting import Setting
from alphalift.geometry.concave import ConcaveProgram
from alphalift.mechanism import Mechanism
from alphalift.presolve import Merged
from alphalift.solvers.between import LocalRun
from alphalift.solvers.candidates import pull_inside
from alphalift.solvers.optimal import merges
from alphalift.solvers.run import Settings
from alphalift.solvers.search import PROGRAM_MARGIN, concave_program

# What local columns may miss, as a share of the accuracy.
MISSED = 0.1


class Spots:
    """The problem at every budget, and what a result for types says of symbols."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.clock = setting, setting.clock
        merged = Merged.of(setting.joint)
        region = setting.family.at(1.0)
        self.merged = merged if merges(merged, region, setting.utility) else None
        self.joint = setting.joint if self.merged is None else merged.joint
        self.gain = 0.0 if self.merged is None else merged.gain
        self.utility = setting.utility.on(self.joint)
        self.before = float(self.utility.uncertainty(self.joint.p_x[None])[0])

    def share(self, utility: Array | float) -> Array | float:
        return (utility + self.gain) / self.setting.everything

    def mechanism(self, own: Mechanism) -> Mechanism:
        """The same for the joint that was asked about."""
        if self.merged is None:
            return own
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

    def worth(self, run: LocalRun) -> float:
        """The share of X that the run's mixture keeps."""
        return float(self.share(run.before - run.mixture.value))

    def spot(self, epsilon: float, starts: Array) -> Spot:
        region = self.setting.family.at(epsilon)
        gap = min(
            MISSED * self.setting.accuracy * self.setting.everything / self.utility.of_publishing_all(self.joint.p_x),
            0.5,
        )
        settings = Settings(relative_gap=gap, clock=self.clock, threads=1)
        run = LocalRun(settings, self.joint, region, self.utility, np.empty((0, len(self.joint.p_x))))
        if region.kept_by(self.joint.p_x, self.joint.lift.T, self.joint.p_s):
            run.mixture = run.mix(np.eye(len(self.joint.p_x)))
        else:
            run.from_columns(starts)
        return Spot(epsilon, self.mechanism(run.mechanism()), self.worth(run), 1.0, run, self)

    def spot_of(self, point: Point) -> Spot:
        """A solved budget, and a run from its columns."""
        points = point.mechanism.p_x_given_y.T
        found = self.spot(point.epsilon, points if self.merged is None else self.merged.posteriors(points))
        if found.lower < point.lower:
            found.mechanism, found.lower = point.mechanism, point.lower
        found.upper = point.upper
        return found

    def program(self, epsilon: float) -> ConcaveProgram:
        return concave_program(self.joint, self.setting.family.at(epsilon).tightened(PROGRAM_MARGIN), self.utility)


@dataclass(eq=False)
class Spot(Point):
    """A budget with the run that finds columns there."""

    run: LocalRun
    spots: Spots

    def improve(self, starts: Array) -> None:
        """Look for columns near these, too."""
        if self.run.from_columns(starts):
            self.mechanism = self.spots.mechanism(self.run.mechanism())
            self.lower = max(self.lower, self.spots.worth(self.run))

    def offer(self, points: Array) -> None:
        """Mix these posteriors, too, which are allowed but for rounding."""
        run = self.run
        points = pull_inside(points, run.joint, run.inner, run.clock)
        if len(points):
            run.mixture = run.mix(points)
            self.mechanism = self.spots.mechanism(run.mechanism())
            self.lower = max(self.lower, self.spots.worth(run))
