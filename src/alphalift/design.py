"""design: from a joint and a promise to a mechanism that is proven to keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from alphalift.clock import Clock
from alphalift.effort import proof_seconds
from alphalift.errors import InputError, SettingError
from alphalift.joint import Joint, require_joint
from alphalift.mechanism import Mechanism
from alphalift.population import Robust, said, solve_robust
from alphalift.proof.prove import USUAL_BITS, prove
from alphalift.proof.said import with_statement
from alphalift.regions import After, Region, as_region, perfect_privacy
from alphalift.solution import Solution, Status
from alphalift.solvers import Optimal, Solver
from alphalift.together import Proven, earlier_of
from alphalift.utilities import Utility, as_utility

# Beyond this gap, what perfect privacy keeps is worth a look; it is found quickly, and gets so many seconds.
_LARGE_GAP = 0.02
_LEAST_SECONDS, _MOST_SECONDS = 1.0, 10.0
_PERFECT_SOLVER = Optimal(relative_gap=1e-3, keep_certificate=False)
# The share of its time that a request keeps at most for the proof of what it has found.
_PROOF_SHARE = 0.5


def design(
    joint: Joint,
    region: Region | Robust | str,
    *,
    utility: Utility | str | None = None,
    solver: Solver | None = None,
    bits: int = USUAL_BITS,
    source: str = "",
    after: Sequence[Proven] = (),
) -> Solution:
    """The mechanism that keeps as much of X as the solver can find within the region, in integers, proven.

    A promise, and a utility, may be given as its text: "KL(0.1) & MaxLift(1)". Unless named, the utility is mutual information and the solver is `Optimal()`, which returns the optimum
    to within 1e-4 and a bound on what any mechanism could reach. Probabilities are integers over 2^bits. `source` says
    where the joint and its domain come from; the file's provenance repeats it.

    `Robust(promise, confidence=.95)` in place of a promise asks for it to hold for the population of which the joint's records are a
    random sample, not only for the records (docs/population.md): `population` in the solution says what that takes and costs.

    `after` are mechanisms that have released this column, or others of the same people: the promise is then about all of
    their outputs and this one's together. The joint must have their columns (`read_joint(..., beside=...)`).

    The time limit of `Optimal` is for all of it, proof included: what would be late is left out, which may cost utility and
    never the promise. Ctrl-C returns the best so far, proven.
    """
    joint, utility, solver = require_joint(joint), as_utility(utility), solver or Optimal()
    if not isinstance(solver, Solver):
        raise SettingError(f"expected a solver like Optimal(time_limit=60), not {type(solver).__name__}")
    if isinstance(region, Robust):
        return _robust(joint, region, utility.on(joint), solver, bits, source, after)
    region = as_region(region)
    about = region.about(joint)
    earlier = earlier_of(about, after) if after else None
    promise = region if earlier is None else earlier.promise(region, about)
    timed, clock = _timed(solver, about)
    found = _solved(about, promise, timed, utility.on(about))
    found = replace(found, settings="; ".join(filter(None, [repr(solver), source])), after=earlier)
    proven = _proven(found, bits, clock)
    poor = proven.status is Status.ROUNDED or proven.relative_gap > _LARGE_GAP
    if not isinstance(solver, Optimal) or not poor or proven.status is Status.INTERRUPTED:
        return proven
    try:
        return _at_least_perfect(proven, bits, clock)
    except KeyboardInterrupt:
        return replace(proven, status=Status.INTERRUPTED)


def _robust(
    joint: Joint, robust: Robust, utility: Utility, solver: Solver, bits: int, source: str, after: Sequence[Proven]
) -> Solution:
    if after:
        raise InputError(
            "a promise for a population after other releases is not designed: nothing bounds what they tell together"
        )
    if not isinstance(solver, Optimal):
        raise SettingError(f"a promise for a population is designed by Optimal, not by {solver}")
    timed, clock = _timed(solver, joint)
    found = solve_robust(joint, robust, utility, timed if isinstance(timed, Optimal) else solver)
    settings = "; ".join(filter(None, [repr(solver), repr(robust), source]))
    statement = "" if found.population is None else said(found.population)
    return _proven(replace(found, settings=with_statement(settings, statement)), bits, clock)


def _timed(solver: Solver, joint: Joint) -> tuple[Solver, Clock]:
    """The solver as part of a request, which keeps time for the proof, and the request's clock."""
    if not isinstance(solver, Optimal):
        return solver, Clock()
    clock = solver.clock or Clock(solver.time_limit)
    proof = min(proof_seconds(joint), _PROOF_SHARE * clock.left)
    return replace(solver, clock=clock.reserving(proof)), clock


def _solved(joint: Joint, promise: Region, solver: Solver, utility: Utility) -> Solution:
    """The solver's answer, with the joint itself also where another one was solved for."""
    if not isinstance(promise, After):
        return solver.solve(joint, [promise], utility)[0]
    found = solver.solve(promise.known, [promise], utility)[0]
    return replace(found, mechanism=Mechanism(joint, found.mechanism.law))


def _proven(found: Solution, bits: int, clock: Clock) -> Solution:
    """The solution in integers; a proof has a second also when time is up, and another after Ctrl-C."""
    try:
        return prove(found, bits=bits, clock=Clock(max(clock.left, _LEAST_SECONDS)))
    except KeyboardInterrupt:
        return replace(prove(found, bits=bits, clock=Clock(_LEAST_SECONDS)), status=Status.INTERRUPTED)


def _at_least_perfect(proven: Solution, bits: int, clock: Clock) -> Solution:
    """The solution, or what perfect privacy keeps where that is more: it keeps every promise.

    With `After`, S and the earlier outputs together are the secret that it leaves as it is.

    Budgets so tiny that floats or bits can hardly use them would otherwise do worse than a budget of 0. It is left out where
    there is no time to prove it.
    """
    seconds = max(_LEAST_SECONDS, min(clock.left, _MOST_SECONDS))
    if proven.region.perfect or proven.integers is None or proof_seconds(proven.joint) > seconds:
        return proven
    after = proven.region if isinstance(proven.region, After) else None
    solver, joint = replace(_PERFECT_SOLVER, time_limit=seconds), after.known if after else proven.joint
    found = solver.solve(joint, [perfect_privacy()], proven.utility_function)[0]
    perfect = _proven(found, bits, clock)
    if Status.INTERRUPTED in (found.status, perfect.status):
        proven = replace(proven, status=Status.INTERRUPTED)
    if perfect.utility <= proven.utility or perfect.integers is None:
        return proven
    mechanism, integers = Mechanism(proven.joint, perfect.mechanism.law), perfect.integers
    if after is not None:
        integers = replace(integers, labels=integers.labels | {"s": list(proven.joint.s_labels)}, unseen=None)
    return replace(proven, mechanism=mechanism, integers=integers)
