"""The experiment of the paper's section V with its parameters, and the certified optimum beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from alphalift.arrays import Array
from alphalift.baselines import SubsetMerging
from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.measures import entropy, epsilon_max
from alphalift.regions import AlphaLift, grid
from alphalift.solvers import Algorithm1, Optimal, Solver
from alphalift.solvers.algorithm1 import PAPER_ALPHAS, PAPER_EPSILONS
from alphalift.sweep import Tradeoff, sweep
from alphalift.workers import Workers

SECRETS, USEFUL = 6, 10

# The optimum costs a hundred times more a cell than Algorithm 1, so it is computed at a few of the paper's epsilons.
OPTIMUM_EPSILONS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.95)
# Nodes and not seconds limit the work, so that a slower machine finds the same numbers; a process a core is enough.
OPTIMUM = Optimal(node_limit=100_000, time_limit=math.inf, keep_certificate=False, threads=1)


@dataclass(frozen=True, eq=False)
class Curves:
    """One method's figures, each (joints, alphas, epsilons): shares of H(X) and leakages in nats.

    `upper_bound` is what the method proves that no mechanism exceeds: 1, all of H(X), where it proves nothing.
    """

    epsilons: tuple[float, ...]
    utility: Array
    upper_bound: Array
    alpha_leakage: Array
    max_lift_leakage: Array

    @classmethod
    def of(cls, tradeoff: Tradeoff, epsilons: tuple[float, ...]) -> Curves:
        """The figures of a sweep over the paper's alphas (outer) and these epsilons (inner)."""
        frame = tradeoff.to_frame()
        everything = np.array([entropy(joint.p_x) for joint in tradeoff.joints])[:, None, None]

        def cells(column: str) -> Array:
            return frame[column].to_numpy().reshape(len(tradeoff.joints), len(PAPER_ALPHAS), len(epsilons))

        return cls(
            epsilons,
            cells("normalized_utility"),
            cells("upper_bound") / everything,
            np.log(cells("value")),
            cells("max_lift_leakage"),
        )

    def at(self, epsilons: Sequence[float]) -> Curves:
        """The same curves at some of their epsilons."""
        columns = [self.epsilons.index(epsilon) for epsilon in epsilons]
        return replace(
            self,
            epsilons=tuple(epsilons),
            utility=self.utility[..., columns],
            upper_bound=self.upper_bound[..., columns],
            alpha_leakage=self.alpha_leakage[..., columns],
            max_lift_leakage=self.max_lift_leakage[..., columns],
        )


@dataclass(frozen=True, eq=False)
class Experiment:
    """What section V plots, for every joint before averaging; `epsilon_max` is (joints, alphas).

    `optimum` is certified, and may be on fewer epsilons than the paper's two methods. `resumed` cells were finished before.
    """

    seed: int
    algorithm1: Curves
    subset_merging: Curves
    optimum: Curves
    epsilon_max: Array
    resumed: int = 0

    @property
    def distributions(self) -> int:
        return len(self.epsilon_max)

    @property
    def gap(self) -> float:
        """The largest certified gap of the optimum, as a share of H(X): its true value is at most this much higher."""
        return float((self.optimum.upper_bound - self.optimum.utility).max())

    @property
    def distance(self) -> Array:
        """Optimum minus Algorithm 1 as a share of H(X), (joints, alphas, epsilons of the optimum).

        The true distance is larger by at most the gap. Where Algorithm 1 is the optimum, this may lie below zero
        by as much.
        """
        return self.optimum.utility - self.algorithm1.at(self.optimum.epsilons).utility


def random_joints(count: int, seed: int, shape: tuple[int, int] = (SECRETS, USEFUL)) -> tuple[Joint, ...]:
    """Joints with independent uniform(0, 1) entries, normalised.

    Departure: the paper does not say how its distributions were drawn. Of the usual choices this one
    comes close to its figure; Dirichlet(1) does not.
    """
    if count < 1:
        raise SettingError(f"{count} distributions were asked for, expected 1 or more")
    if seed < 0:
        raise SettingError(f"the seed is {seed}, expected 0 or more")
    generator = np.random.default_rng(seed)
    weights = (generator.random(shape) for _ in range(count))
    return tuple(Joint(w / w.sum()) for w in weights)


def run_experiment(
    distributions: int = 100,
    seed: int = 0,
    *,
    optimum_epsilons: Sequence[float] = OPTIMUM_EPSILONS,
    workers: Workers = None,
    resume: str | Path | None = None,
) -> Experiment:
    """Algorithm 1 and subset merging on the paper's grid, the optimum on a part of it; averaged over nothing yet.

    `workers` and `resume` are those of `sweep`.
    """
    joints = random_joints(distributions, seed)
    if not optimum_epsilons or not set(optimum_epsilons) <= set(PAPER_EPSILONS):
        raise SettingError("optimum_epsilons has to be some of the paper's epsilons: 0.005, 0.01, ..., 0.95")

    def swept(solver: Solver, epsilons: Sequence[float]) -> Tradeoff:
        regions = grid(AlphaLift, alpha=PAPER_ALPHAS, epsilon=epsilons)
        return sweep(joints, regions, solver=solver, workers=workers, resume=resume)

    paper = tuple(PAPER_EPSILONS)
    algorithm1, merging = swept(Algorithm1(), paper), swept(SubsetMerging(), paper)
    optimum = swept(OPTIMUM, optimum_epsilons)
    return Experiment(
        seed,
        Curves.of(algorithm1, paper),
        Curves.of(merging, paper),
        Curves.of(optimum, tuple(optimum_epsilons)),
        np.array([[epsilon_max(joint, alpha) for alpha in PAPER_ALPHAS] for joint in joints]),
        algorithm1.resumed + merging.resumed + optimum.resumed,
    )
