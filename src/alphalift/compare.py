"""compare: what is the optimum worth? All baselines beside it, under one promise."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from alphalift.baselines import (
    BinaryMechanism,
    CompleteMerging,
    GreedyMerging,
    PublishNothing,
    RandomisedResponse,
    Staircase,
    SubsetMerging,
    UniformMixing,
    XInvariant,
)
from alphalift.baselines.base import largest
from alphalift.design import design
from alphalift.errors import SettingError, SolverError
from alphalift.joint import Joint, require_joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.shown import Shown, show
from alphalift.solution import Solution
from alphalift.solvers import Solver
from alphalift.utilities import Utility, as_utility

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

OPTIMUM, PUBLISH_ALL = "optimum", "publish X as it is"
_BASELINES: dict[str, Solver] = {
    "subset merging": SubsetMerging(),
    "greedy merging": GreedyMerging(),
    "complete merging": CompleteMerging(),
    "X-invariant randomisation": XInvariant(),
    "randomised response": RandomisedResponse(),
    "staircase mechanism": Staircase(),
    "binary mechanism": BinaryMechanism(),
    "uniform mixing": UniformMixing(),
    "publish nothing": PublishNothing(),
}
# Rows that differ by less are equally useful: the optimum's integers and its margin cost less than that.
_DIGITS = 6
# A share of X's utility by which floats may exceed a bound: both sides are sums of rounded terms.
_BOUND_SLACK = 1e-9


@dataclass(frozen=True)
class Row:
    """One mechanism's figures; one that does not apply to the problem has none (NaN, None and 0 outputs).

    `normalized_utility` is a share of publishing X, `worst_value` the region's value at the worst output, to be read
    beside its budget, `seconds` the time to find it, compiling on first use included.
    """

    name: str
    normalized_utility: float
    share_of_optimum: float
    worst_value: float
    kept: bool | None
    outputs: int
    seconds: float
    note: str

    @property
    def applies(self) -> bool:
        return self.outputs > 0


@dataclass(frozen=True, eq=False)
class Comparison(Shown):
    """The optimum and every baseline under one promise, the most useful first; `solution` is the optimum's."""

    solution: Solution
    rows: tuple[Row, ...]

    @property
    def region(self) -> Region:
        return self.solution.region

    @property
    def normalized_bound(self) -> float:
        """What no mechanism that keeps the promise exceeds, as a share of publishing X."""
        everything = self.solution.utility_function.of_publishing_all(self.solution.joint.p_x)
        return self.solution.upper_bound / everything if everything > 0 else 1.0

    @property
    def optimum(self) -> Row:
        return next(row for row in self.rows if row.name == OPTIMUM)

    @property
    def best(self) -> Row:
        """The most useful mechanism that keeps the promise; the optimum, unless its search ended early."""
        return next(row for row in self.rows if row.kept)

    @property
    def best_baseline(self) -> Row:
        """The most useful mechanism that keeps the promise, the optimum aside."""
        return next(row for row in self.rows if row.kept and row.name != OPTIMUM)

    def plot(self, *, secret: str | None = None, useful: str | None = None) -> Figure:
        """A bar for each mechanism, with the bound as a line: `plot_comparison`. The columns' names come from the joint unless told."""
        figure: Figure = show().plot_comparison(self, secret=secret, useful=useful)
        return figure

    def to_frame(self) -> pd.DataFrame:
        """One row a mechanism, the columns of `Row`."""
        import pandas as pd

        return pd.DataFrame.from_records([asdict(row) for row in self.rows])


def compare(
    joint: Joint, region: Region | str, *, utility: Utility | str | None = None, solver: Solver | None = None
) -> Comparison:
    """The certified optimum (`design`, in proven integers) and every baseline (in floats) under one promise.

    Each baseline stands at the largest setting that keeps the promise. Publishing X is listed whether it keeps the
    promise or not, so that its row says by how much it breaks it. A baseline above the optimum's bound would refute
    the proof, and raises `SolverError`.
    """
    utility = as_utility(utility).on(require_joint(joint))
    begin = time.perf_counter()
    # Its joint is the one that the promise is about, where that is not S.
    solution = design(joint, region, utility=utility, solver=solver)
    seconds = time.perf_counter() - begin
    comparing = _Comparing(solution)
    rows = [
        comparing.row(OPTIMUM, solution.mechanism, seconds, solution.status.value.partition(":")[0]),
        comparing.row(PUBLISH_ALL, Mechanism.publishing_all(solution.joint), 0.0, ""),
        *(comparing.baseline(name, baseline) for name, baseline in _BASELINES.items()),
    ]
    # Sorting keeps the order of equals; what does not apply comes last.
    return Comparison(solution, tuple(sorted(rows, key=_usefulness, reverse=True)))


def _usefulness(row: Row) -> float:
    return round(row.normalized_utility, _DIGITS) if row.applies else -1.0


class _Comparing:
    """Rows beside one optimum."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self.everything = solution.utility_function.of_publishing_all(solution.joint.p_x)

    def baseline(self, name: str, baseline: Solver) -> Row:
        begin = time.perf_counter()
        try:
            found = baseline.solve(self.solution.joint, [self.solution.region], self.solution.utility_function)[0]
        except SettingError as error:
            return Row(name, math.nan, math.nan, math.nan, None, 0, math.nan, f"not applicable: {error}")
        row = self.row(name, found.mechanism, time.perf_counter() - begin, found.settings)
        self._refuse_above_bound(name, found)
        return row

    def _refuse_above_bound(self, name: str, found: Solution) -> None:
        limit = self.solution.upper_bound + _BOUND_SLACK * self.everything
        # Where the slack that floats are granted explains it, the bound stands.
        if found.utility > limit and _without_slack(found).utility(found.utility_function) > limit:
            raise SolverError(
                f"{name} keeps the promise with utility {found.utility:.12g}, above the bound "
                f"{self.solution.upper_bound:.12g} on every mechanism: the bound is wrong; please report this"
            )

    def row(self, name: str, mechanism: Mechanism, seconds: float, note: str) -> Row:
        region, utility = self.solution.region, mechanism.utility(self.solution.utility_function)
        check = mechanism.check(region)
        return Row(
            name,
            mechanism.normalized_utility(self.solution.utility_function),
            utility / self.solution.utility if self.solution.utility > 0 else math.nan,
            check.worst_value,
            check.kept,
            len(mechanism.p_y),
            seconds,
            note if check else "breaks the promise",
        )


def _without_slack(solution: Solution) -> Mechanism:
    """The mechanism with as much of its own output law mixed in as its values need to be within the budget exactly."""
    joint, region, given = solution.joint, solution.region, solution.mechanism

    def mixed(share: float) -> Mechanism:
        return Mechanism(joint, share * given.p_y_given_x + (1 - share) * given.p_y[:, None])

    return mixed(largest(lambda share: mixed(share).worst_value(region) <= region.budget))
