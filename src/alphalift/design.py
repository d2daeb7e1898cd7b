"""design: from a joint and a promise to a mechanism that is proven to keep it."""

from __future__ import annotations

from dataclasses import replace

from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.proof import as_floats, checkable, proven_integers
from alphalift.regions import Region
from alphalift.regions.base import perfect_privacy
from alphalift.solution import Solution, Status
from alphalift.solvers import Optimal, Solver
from alphalift.utilities import MutualInformation, Utility

_USUAL_BITS, _MOST_BITS = 52, 512
# A share of X's information that a status of "optimal" may lose by rounding.
_NOTABLE_LOSS = 1e-6
# Beyond this gap, what perfect privacy keeps is worth a look; it is found quickly.
_LARGE_GAP = 0.02
_PERFECT_SOLVER = Optimal(relative_gap=1e-3, time_limit=10, keep_certificate=False)


def design(
    joint: Joint,
    region: Region,
    *,
    utility: Utility | None = None,
    solver: Solver | None = None,
    bits: int = _USUAL_BITS,
    source: str = "",
) -> Solution:
    """The mechanism that keeps as much of X as the solver can find within the region, in integers, proven.

    Unless named, the utility is mutual information and the solver is `Optimal()`, which returns the optimum
    to within 1e-4 and a bound on what any mechanism could reach. Probabilities are integers over 2^bits. `source` says
    where the joint and its domain come from; the file's provenance repeats it.
    """
    solver = solver or Optimal()
    found = solver.solve(region.about(joint), [region], utility or MutualInformation())[0]
    proven = prove(replace(found, settings="; ".join(filter(None, [repr(solver), source]))), bits=bits)
    if isinstance(solver, Optimal) and (proven.status is Status.ROUNDED or proven.relative_gap > _LARGE_GAP):
        return _at_least_perfect(proven, bits)
    return proven


def _at_least_perfect(proven: Solution, bits: int) -> Solution:
    """The solution, or what perfect privacy keeps where that is more: it keeps every promise.

    Budgets so tiny that floats or bits can hardly use them would otherwise do worse than a budget of 0.
    """
    if proven.region.perfect or proven.integers is None:
        return proven
    found = _PERFECT_SOLVER.solve(proven.joint, [perfect_privacy()], proven.objective)[0]
    perfect = prove(found, bits=bits)
    if perfect.utility <= proven.utility:
        return proven
    return replace(proven, mechanism=perfect.mechanism, integers=perfect.integers)


def prove(solution: Solution, *, bits: int = _USUAL_BITS) -> Solution:
    """The same solution with its mechanism rounded to integers over 2^bits and proven to keep the promise.

    What costs utility is the rounding, by less than 1e-9 at 52 bits in ordinary cases. Where the checker does not
    know the region, the mechanism stays as it is and its status says that it is unproven; where few bits lose more
    than a millionth of X, the status says so too.
    """
    if not 1 <= bits <= _MOST_BITS:
        raise SettingError(f"bits is {bits}, expected 1 to {_MOST_BITS}")
    promise = checkable(solution.region)
    if promise is None:
        return replace(solution, status=Status.UNPROVEN)
    integers = proven_integers(solution.mechanism, promise, bits)
    floats = Mechanism(solution.joint, as_floats(integers.weights, integers.bits))
    proven = replace(solution, mechanism=floats, integers=integers)
    lost = solution.normalized_utility - proven.normalized_utility
    return replace(proven, status=Status.ROUNDED) if lost > _NOTABLE_LOSS else proven
