"""What a mean of X may be, if all that is known is between which ends the probability of every output lies."""

from __future__ import annotations

import highspy
import numpy as np
from scipy.sparse import csc_array

from alphalift.arrays import Array


class LeftOpen:
    """The distributions P_X with low <= P(Y|X) P_X <= high: a polytope, whose extreme means are linear programs that differ in costs."""

    def __init__(self, law: Array, low: Array, high: Array) -> None:
        outputs, values = law.shape
        scale = np.append(1 / np.maximum(high, 1e-9), 1.0)  # tolerances of the program are absolute, rare outputs count
        columns = csc_array(np.vstack([law, np.ones(values)]) * scale[:, None])
        self._solver = highspy.Highs()  # type: ignore[no-untyped-call]
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("threads", 1)
        sides = np.append(low, 1.0) * scale, np.append(high, 1.0) * scale
        nothing = np.empty(0, np.int32)
        self._solver.addRows(outputs + 1, *sides, 0, nothing, nothing, np.empty(0))
        starts, rows = columns.indptr[:-1].astype(np.int32), columns.indices.astype(np.int32)
        zeros = np.zeros(values)
        self._solver.addCols(values, zeros, zeros, np.ones(values), columns.nnz, starts, rows, columns.data)
        self._columns = np.arange(values, dtype=np.int32)

    def ends(self, score: Array) -> tuple[float, float]:
        """The least and the largest mean of the score; those of all P_X where no P_X is known to be possible."""
        least, most = self._least(score), self._least(-score)
        return (float(score.min()) if least is None else least), (float(score.max()) if most is None else -most)

    def _least(self, score: Array) -> float | None:
        self._solver.changeColsCost(len(score), self._columns, score)
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return float(self._solver.getInfo().objective_function_value)
