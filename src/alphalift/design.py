"""design: from a joint and a promise to a mechanism that is proven to keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.proof import as_floats, checkable, proven_integers
from alphalift.regions import After, Region, perfect_privacy
from alphalift.solution import Solution, Status
from alphalift.solvers import Optimal, Solver
from alphalift.together import Proven, earlier_of
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
    after: Sequence[Proven] = (),
) -> Solution:
    """The mechanism that keeps as much of X as the solver can find within the region, in integers, proven.

    Unless named, the utility is mutual information and the solver is `Optimal()`, which returns the optimum
    to within 1e-4 and a bound on what any mechanism could reach. Probabilities are integers over 2^bits. `source` says
    where the joint and its domain come from; the file's provenance repeats it.

    `after` are mechanisms that have released this column, or others of the same people: the promise is then about all of
    their outputs and this one's together. The joint must have their columns (`read_joint(..., beside=...)`).
    """
    solver = solver or Optimal()
    about = region.about(joint)
    earlier = earlier_of(about, after) if after else None
    promise = region if earlier is None else earlier.promise(region, about)
    found = _solved(about, promise, solver, utility or MutualInformation())
    found = replace(found, settings="; ".join(filter(None, [repr(solver), source])), after=earlier)
    proven = prove(found, bits=bits)
    if isinstance(solver, Optimal) and (proven.status is Status.ROUNDED or proven.relative_gap > _LARGE_GAP):
        return _at_least_perfect(proven, bits)
    return proven


def _solved(joint: Joint, promise: Region, solver: Solver, utility: Utility) -> Solution:
    """The solver's answer, with the joint itself also where another one was solved for."""
    if not isinstance(promise, After):
        return solver.solve(joint, [promise], utility)[0]
    found = solver.solve(promise.known, [promise], utility)[0]
    return replace(found, mechanism=Mechanism(joint, found.mechanism.p_y_given_x))


def _at_least_perfect(proven: Solution, bits: int) -> Solution:
    """The solution, or what perfect privacy keeps where that is more: it keeps every promise.

    With `After`, S and the earlier outputs together are the secret that it leaves as it is.

    Budgets so tiny that floats or bits can hardly use them would otherwise do worse than a budget of 0.
    """
    if proven.region.perfect or proven.integers is None:
        return proven
    after = proven.region if isinstance(proven.region, After) else None
    found = _PERFECT_SOLVER.solve(after.known if after else proven.joint, [perfect_privacy()], proven.objective)[0]
    perfect = prove(found, bits=bits)
    if perfect.utility <= proven.utility or perfect.integers is None:
        return proven
    mechanism, integers = Mechanism(proven.joint, perfect.mechanism.p_y_given_x), perfect.integers
    if after is not None:
        integers = replace(integers, labels=integers.labels | {"s": list(proven.joint.s_labels)}, unseen=None)
    return replace(proven, mechanism=mechanism, integers=integers)


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
    integers = proven_integers(solution.mechanism, promise, bits, solution.region.blocks(solution.joint))
    floats = Mechanism(solution.joint, as_floats(integers.weights, integers.bits))
    proven = replace(solution, mechanism=floats, integers=integers)
    lost = solution.normalized_utility - proven.normalized_utility
    return replace(proven, status=Status.ROUNDED) if lost > _NOTABLE_LOSS else proven
