"""The experiment of the paper's section V with its parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alphalift.baselines import SubsetMerging
from alphalift.errors import SettingError
from alphalift.exact import Array
from alphalift.joint import Joint
from alphalift.measures import epsilon_max
from alphalift.regions import AlphaLift, grid
from alphalift.solvers import Algorithm1, Solver
from alphalift.solvers.algorithm1 import PAPER_ALPHAS, PAPER_EPSILONS
from alphalift.sweep import Tradeoff, sweep

SECRETS, USEFUL = 6, 10


@dataclass(frozen=True, eq=False)
class Curves:
    """One method's figures, each (joints, alphas, epsilons): normalised utility and leakages in nats."""

    utility: Array
    alpha_leakage: Array
    max_lift_leakage: Array

    @classmethod
    def of(cls, tradeoff: Tradeoff) -> Curves:
        frame = tradeoff.to_frame()
        shape = (len(tradeoff.joints), len(PAPER_ALPHAS), len(PAPER_EPSILONS))
        return cls(
            frame["normalized_utility"].to_numpy().reshape(shape),
            np.log(frame["value"].to_numpy()).reshape(shape),
            frame["max_lift_leakage"].to_numpy().reshape(shape),
        )


@dataclass(frozen=True, eq=False)
class Experiment:
    """What section V plots, for every joint before averaging; `epsilon_max` is (joints, alphas)."""

    seed: int
    algorithm1: Curves
    subset_merging: Curves
    epsilon_max: Array

    @property
    def distributions(self) -> int:
        return len(self.epsilon_max)


def random_joints(count: int, seed: int, shape: tuple[int, int] = (SECRETS, USEFUL)) -> tuple[Joint, ...]:
    """Joints with independent uniform(0, 1) entries, normalised.

    Departure: the paper does not say how its distributions were drawn. Of the usual choices this one
    comes close to its figure (THEORY section 9); Dirichlet(1) does not.
    """
    if count < 1:
        raise SettingError(f"{count} distributions were asked for, expected 1 or more")
    if seed < 0:
        raise SettingError(f"the seed is {seed}, expected 0 or more")
    generator = np.random.default_rng(seed)
    weights = (generator.random(shape) for _ in range(count))
    return tuple(Joint(w / w.sum()) for w in weights)


def run_experiment(distributions: int = 100, seed: int = 0, *, workers: int | None = None) -> Experiment:
    """Algorithm 1 and subset merging on the paper's grid, averaged over nothing yet."""
    joints = random_joints(distributions, seed)
    regions = grid(AlphaLift, alpha=PAPER_ALPHAS, epsilon=PAPER_EPSILONS)

    def curves(solver: Solver) -> Curves:
        return Curves.of(sweep(joints, regions, solver=solver, workers=workers))

    return Experiment(
        seed,
        curves(Algorithm1()),
        curves(SubsetMerging()),
        np.array([[epsilon_max(joint, alpha) for alpha in PAPER_ALPHAS] for joint in joints]),
    )
