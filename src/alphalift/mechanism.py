"""Mechanism: the answer. A randomised release P_{Y|X} of a joint's useful column, and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import eye_array

from alphalift.arrays import Array, Rows, compact, dense, entries, is_sparse, locked, read_only, scaled
from alphalift.errors import InputError
from alphalift.joint import Joint
from alphalift.labels import output_labels
from alphalift.measures import log_alpha_lifts
from alphalift.measures.catalogue import ALPHAS, View
from alphalift.regions import Region, as_region
from alphalift.shown import Shown, show
from alphalift.utilities import MutualInformation, Utility

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# How far from 1 a given column may sum; it is divided by its sum.
_SUM_SLACK = 1e-6


@dataclass(frozen=True)
class Check:
    """Whether a mechanism keeps a promise: true or false, with its worst value, or the mean of one on average, and the budget."""

    kept: bool
    worst_value: float
    budget: float
    worst_output: str

    def __bool__(self) -> bool:
        return self.kept


@dataclass(frozen=True, eq=False, init=False)
class Mechanism(Shown):
    """P_{Y|X} for a joint, (|Y|, |X|); every other number is computed from these two.

    Columns are normalised at construction and outputs that never occur are dropped, so P_{Y|X} P_X is
    P_Y and the posteriors mix back to P_X whatever a solver's tolerance was. `law` is P_{Y|X} as it is kept: an array, or
    sparse where it is large and mostly 0 (`arrays.compact`); nothing of its size is made unless it is asked for.
    """

    joint: Joint
    law: Rows

    def __init__(self, joint: Joint, p_y_given_x: Rows) -> None:
        size = len(joint.x_labels)
        matrix = p_y_given_x if is_sparse(p_y_given_x) else np.array(p_y_given_x, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != size:
            raise InputError(
                f"p_y_given_x has shape {matrix.shape}, expected one column for each of the {size} values of X"
            )
        matrix = compact(matrix)
        sums = np.asarray(matrix.sum(axis=0))
        if not (np.all(entries(matrix) >= 0) and np.all(np.abs(sums - 1) < _SUM_SLACK)):
            raise InputError("the columns of p_y_given_x must be distributions: entries of 0 or more that sum to 1")
        # Sums that are off by a few roundings stay, so that a mechanism made of another's matrix is the same.
        settled = np.abs(sums - 1) <= matrix.shape[0] * np.finfo(np.float64).eps
        occurs = np.asarray(matrix.sum(axis=1)) > 0 if is_sparse(matrix) else matrix.any(axis=1)
        object.__setattr__(self, "joint", joint)
        object.__setattr__(self, "law", locked(scaled(matrix[occurs], 1.0, np.where(settled, 1.0, sums))))

    @classmethod
    def mixing(cls, joint: Joint, points: Rows, weights: Array) -> Mechanism:
        """The mechanism with P_Y = weights and posteriors P_{X|Y=y} = points[y], sorted by their main x.

        Paper: step 3, P_Y(y) = Q_i and P_{X|Y=y} = V_i for the Q_i > 0.
        """
        order = np.lexsort((-weights, np.asarray(points.argmax(axis=1)).ravel()))
        return cls(joint, scaled(points[order], weights[order], joint.p_x))

    @classmethod
    def publishing_all(cls, joint: Joint) -> Mechanism:
        """Y = X."""
        return cls(joint, eye_array(len(joint.x_labels), format="csr"))

    def with_noise(self, noise: float) -> Mechanism:
        """The mechanism with this share of its answers drawn from P_Y instead, which keeps P_Y."""
        return Mechanism(self.joint, (1 - noise) * self.p_y_given_x + noise * self.p_y[:, None])

    @cached_property
    def p_y_given_x(self) -> Array:
        """P_{Y|X}, (|Y|, |X|), columns sum to one."""
        return dense(self.law)

    @cached_property
    def p_y(self) -> Array:
        """P_Y, (|Y|,)."""
        return read_only(self.law @ self.joint.p_x)

    @cached_property
    def posteriors(self) -> Rows:
        """P_{X|Y=y} in rows, (|Y|, |X|), sparse where `law` is."""
        if is_sparse(self.law):
            return locked(scaled(self.law, 1.0 / self.p_y, 1.0 / self.joint.p_x))
        p_xy = (self.law * self.joint.p_x).T
        return read_only(p_xy / p_xy.sum(axis=0)).T

    @cached_property
    def p_x_given_y(self) -> Array:
        """P_{X|Y}, (|X|, |Y|), columns sum to one."""
        return dense(self.posteriors).T

    @cached_property
    def p_s_given_y(self) -> Array:
        """P_{S|Y} = P_{S|X} P_{X|Y}, (|S|, |Y|): what an observer of y believes about the secret."""
        return read_only(self.joint.p_s_given_x @ self.posteriors.T)

    @cached_property
    def lift(self) -> Array:
        """l(s, y), (|S|, |Y|)."""
        return read_only(self.joint.lift @ self.posteriors.T)

    @cached_property
    def y_labels(self) -> tuple[str, ...]:
        """A readable, unique name for every output: "mostly" the x's that dominate its posterior."""
        return output_labels(self.posteriors, self.joint.x_labels)

    def leakage_by_output(self, alpha: float) -> Array:
        """log alpha-lift of every output, in nats, (|Y|,)."""
        return np.maximum(log_alpha_lifts(self.lift.T, self.joint.p_s, alpha), 0.0)

    def leakage(self, alpha: float) -> float:
        """The largest log alpha-lift over the outputs, in nats; alpha = inf gives the max-lift leakage."""
        return float(self.leakage_by_output(alpha).max())

    def utility(self, utility: Utility | None = None) -> float:
        """How much of X is kept; mutual information I(X;Y) in nats unless told otherwise."""
        return (utility or MutualInformation()).on(self.joint).of(self.p_y, self.posteriors, self.joint.p_x)

    def normalized_utility(self, utility: Utility | None = None) -> float:
        """Utility divided by that of publishing X; 1 where X itself is worth nothing (a single value)."""
        everything = (utility or MutualInformation()).on(self.joint).of_publishing_all(self.joint.p_x)
        return self.utility(utility) / everything if everything > 0 else 1.0

    def worst_value(self, region: Region) -> float:
        """The region's value at the output where it is largest."""
        return self.check(region).worst_value

    def check(self, region: Region | str) -> Check:
        """Whether every output keeps the promise, or all do on average, from the joint and P_{Y|X} alone (relative slack 1e-12)."""
        region = as_region(region)
        if (joint := region.about(self.joint)) is not self.joint and joint != self.joint:
            return Mechanism(joint, self.law).check(region)
        outputs = self.p_y, self.lift.T, self.joint.p_s
        worst = self.y_labels[int(region.value(*outputs[1:]).argmax())]
        return Check(region.kept_by(*outputs), region.value_of_outputs(*outputs), region.budget, worst)

    def measures(self, alphas: Sequence[float] = ALPHAS) -> pd.DataFrame:
        """Every leakage measure of the field about S, and the main ones about X, one row each with its source.

        By (about, measure); columns worst and mean over outputs, overall, formula, citation. In nats where a logarithm is.
        """
        from alphalift.measures.table import measures_table

        x = View("X", self.joint.p_x, self.p_y, (self.p_x_given_y / self.joint.p_x[:, None]).T)
        return measures_table(self._view_of_s, x, alphas)

    def measures_by_output(self, alphas: Sequence[float] = ALPHAS) -> pd.DataFrame:
        """One row an output: its probability and every measure about S that a single output has."""
        from alphalift.measures.table import measures_by_output_table

        return measures_by_output_table(self._view_of_s, self.y_labels, alphas)

    @property
    def _view_of_s(self) -> View:
        return View("S", self.joint.p_s, self.p_y, self.lift.T)

    def __getstate__(self) -> dict[str, object]:
        # Between processes only what defines the mechanism travels, not what was computed from it.
        return {"joint": self.joint, "law": self.law}

    def plot(self, *, secret: str | None = None, useful: str | None = None) -> Figure:
        """P(y|x) as a heat map, and beside it the lifts: `plot_mechanism`. The columns' names come from the joint unless told."""
        figure: Figure = show().plot_mechanism(self, secret=secret, useful=useful)
        return figure

    def to_frame(self) -> pd.DataFrame:
        """P_{Y|X} as a labelled table: one row an output, one column a value of X."""
        import pandas as pd

        return pd.DataFrame(self.p_y_given_x, index=list(self.y_labels), columns=list(self.joint.x_labels))
