"""prove: a solver's answer in integers, with the checker's own arithmetic behind it."""

from __future__ import annotations

from dataclasses import replace

from alphalift.clock import Clock
from alphalift.errors import SettingError
from alphalift.mechanism import Mechanism
from alphalift.proof.checker import Integers
from alphalift.proof.rounding import as_floats, proven_integers
from alphalift.proof.statement import checkable, utility_statement
from alphalift.solution import Solution, Status

USUAL_BITS, _MOST_BITS = 52, 512
# A share of X's information that a status of "optimal" may lose by rounding.
_NOTABLE_LOSS = 1e-6


def prove(solution: Solution, *, bits: int = USUAL_BITS, clock: Clock | None = None) -> Solution:
    """The same solution with its mechanism rounded to integers over 2^bits and proven to keep the promise, with its margin if it has one.

    What costs utility is the rounding, by less than 1e-9 at 52 bits in ordinary cases. Where the checker does not
    know the region, the mechanism stays as it is and its status says that it is unproven; where it does not know the
    utility, the promise is proven and no more; where few bits lose more than a millionth of X, the status says so too. When the clock is over, the first rounding that can be proven is taken.
    """
    if not 1 <= bits <= _MOST_BITS:
        raise SettingError(f"bits is {bits}, expected 1 to {_MOST_BITS}")
    promise = checkable(solution.region)
    if promise is None:
        return replace(solution, status=Status.UNPROVEN)
    asked = [(promise, solution.region.blocks(solution.joint))]
    harder = solution.margin
    if harder is not None and (with_margin := checkable(harder.region)) is not None:
        asked.append((with_margin, harder.region.blocks(harder.joint)))
    integers = proven_integers(solution.mechanism, asked, bits, clock or Clock())
    return in_integers(solution, integers)


def in_integers(solution: Solution, integers: Integers) -> Solution:
    """The solution with this proven mechanism in place of its own; the status says whether that loses much."""
    mechanism = Mechanism(solution.joint, as_floats(integers.weights, integers.bits, len(solution.joint.x_labels)))
    proven = replace(solution, mechanism=mechanism, integers=integers)
    lost = solution.normalized_utility - proven.normalized_utility
    if lost > _NOTABLE_LOSS:
        return replace(proven, status=Status.ROUNDED)
    unknown = proven.status is Status.OPTIMAL and utility_statement(proven.utility_function) is None
    return replace(proven, status=Status.UNPROVEN_UTILITY) if unknown else proven
