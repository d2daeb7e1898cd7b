"""What a promise for the population cost, which secrets are too rare for it, and what would keep more: by real designs.

A secret is *too rare* where its margin for chance leaves less than the floor does, the promise about X itself, which needs no
record of it. An output of the floor has g = P(y|x) / P(y) between 0 and t, the largest lift of s that the promise allows, so
rho^2 = E (g - 1)^2 is at most t - 1 and tau = max g at most t. Even if by the records it tells nothing about s, l_s = 1, the
margin asks for 1 + b_s (t - 1) + c_s (t - 1)^(1/2) <= t, and refuses it where c_s (t - 1)^(-1/2) + b_s > 1 ("Margins" in
docs/population.md has c_s and b_s).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from alphalift.clock import Clock
from alphalift.joint import Joint
from alphalift.population.robust import Robust, solve_robust
from alphalift.regions import AlphaLift, Intersection, Region, Renyi
from alphalift.regions.margin import standard_errors, unseen_shares
from alphalift.solution import Solution, Status
from alphalift.solvers import Optimal

# Standard errors that are taken for a design that has none to spare, since it is the floor.
_USUAL_ERRORS = 2.8
# Boxes that a bound of an alternative may take, which tells how good it is at most, and that is not asked.
_FEW_NODES = 200
# Orders to try in place of larger ones.
_ORDERS = (10.0, 3.0, 1.5)
_MORE_RECORDS = 10
# No secret needs more records than this: its promise has no budget.
_MOST_RECORDS = 10**15


@dataclass(frozen=True)
class Alternative:
    """Another wish, in words, what to know of it, and the share of X's information that its design keeps; none if that was late."""

    wish: str
    remark: str
    kept: float | None


@dataclass(frozen=True)
class Advice:
    """Shares of X's information that designs keep, for the records alone and for the population; what other wishes would keep.

    `rare` has the secrets that are too rare and how many records of each would do; none where no record of a secret is relied on.
    """

    plain: float
    robust: float
    rare: dict[str, int] | None
    alternatives: tuple[Alternative, ...]


def advise(solution: Solution, *, solver: Optimal | None = None, clock: Clock | None = None) -> Advice:
    """Advice on a design for the population, or on one for the records alone, for which that is designed first.

    Every alternative is a design of its own, in what is left of the clock, with hardly a bound; what is late is left out.
    """
    solver = solver or Optimal()
    clock = clock or Clock(solver.time_limit)
    solver = replace(solver, clock=clock, keep_certificate=False, progress=None)
    if solution.population is None:
        solution = solve_robust(solution.joint, Robust(solution.region), solution.utility_function, solver)
    stated = solution.population
    assert stated is not None  # a robust design states it
    everything = solution.utility_function.of_publishing_all(solution.joint.p_x)
    errors = _USUAL_ERRORS if stated.errors is None else stated.errors
    rare = None if stated.confidence == 1 else too_rare(solution.region, solution.joint, errors)
    solver = replace(solver, node_limit=min(solver.node_limit or _FEW_NODES, _FEW_NODES))
    alternatives = []
    for wish, remark, joint, robust in _wishes(solution, stated.confidence, tuple(rare or ())):
        kept = None if clock.over else _kept(joint, robust, solution, solver)
        alternatives.append(Alternative(wish, remark, kept))
    plain = stated.plain / everything if everything > 0 else 1.0
    return Advice(plain, solution.normalized_utility, rare, tuple(alternatives))


def _kept(joint: Joint, robust: Robust, solution: Solution, solver: Optimal) -> float | None:
    try:
        found = solve_robust(joint, robust, solution.utility_function, solver)
    except KeyboardInterrupt:
        return None
    late = solver.clock is not None and solver.clock.over
    return None if late or found.status is Status.INTERRUPTED else found.normalized_utility


def too_rare(promise: Region, joint: Joint, errors: float) -> dict[str, int] | None:
    """Secrets for which so many standard errors leave less than the floor does, and how many records of each would not.

    None for a promise about X itself: P(y|x) is known without records.
    """
    if type(promise.components[0]).about is not Region.about:
        return None
    found = {}
    for s, label in enumerate(joint.s_labels):
        most = promise.group_limit(np.arange(len(joint.p_s)) == s, joint.p_s)
        others = 1 - float(joint.p_s[s])
        if not _leaves_more(joint.s_weights[s], most, others, errors):
            found[label] = _needed(most, others, errors)
    return found


def _leaves_more(records: int, most: float, others: float, errors: float) -> bool:
    """Whether a margin for this many records of a secret allows what the floor does."""
    if not errors:
        return True
    room, seen = most - 1, np.array(float(records))
    own, unseen = standard_errors(seen, np.array(others), errors), unseen_shares(seen, errors)
    return bool(own * math.sqrt(room) + unseen * room <= room)


def _needed(most: float, others: float, errors: float) -> int:
    few, enough = 0, 1
    while enough < _MOST_RECORDS and not _leaves_more(enough, most, others, errors):
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if _leaves_more(middle, most, others, errors) else (middle, enough)
    return enough


def _wishes(solution: Solution, confidence: float, rare: tuple[str, ...]) -> Iterator[tuple[str, str, Joint, Robust]]:
    """Other wishes that keep more: words, a remark, and what is designed."""
    joint, promise = solution.joint, solution.region
    if confidence == 1:
        yield "95% confidence", "no number of records gives certainty", joint, Robust(promise)
        return
    weaker = _smaller_order(promise)
    if weaker is not None:
        order, other = weaker
        yield f"alpha = {order:g}", "a weaker promise, for rare groups above all", joint, Robust(other, confidence)
    if (merged := merging(joint, rare)) is not None and type(promise.components[0]).about is Region.about:
        names, fewer = merged
        remark = "nothing is promised about each of them then"
        yield f"{' and '.join(names)} as one secret", remark, fewer, Robust(promise, confidence)
    more = [[_MORE_RECORDS * count for count in row] for row in joint.weights]
    tenfold = Joint(more, joint.s_labels, joint.x_labels, counts=True)
    yield "ten times the records", "a forecast, for records like these", tenfold, Robust(promise, confidence)


def _smaller_order(promise: Region) -> tuple[float, Region] | None:
    """The promise with the next smaller order in all parts that have one, and that order; nothing for others."""
    orders = [order for part in promise.components if (order := _order(part)) is not None]
    smaller = [order for order in _ORDERS if orders and order < max(orders)]
    if not smaller:
        return None
    parts = [_with_order(part, smaller[0]) for part in promise.components]
    return smaller[0], parts[0] if len(parts) == 1 else Intersection(*parts)


def _order(part: Region) -> float | None:
    if type(part).about is not Region.about:
        return None
    return part.alpha if isinstance(part, AlphaLift) else part.order if isinstance(part, Renyi) else None


def _with_order(part: Region, order: float) -> Region:
    own = _order(part)
    if own is None or own <= order:
        return part
    return AlphaLift(order, part.epsilon) if isinstance(part, AlphaLift) else Renyi(order, part.epsilon)  # type: ignore[attr-defined]


def merging(joint: Joint, rare: tuple[str, ...]) -> tuple[tuple[str, ...], Joint] | None:
    """The joint with these secrets as one, and with the next rarest if they are fewer than two; nothing if that leaves one secret."""
    order = np.argsort(joint.s_weights, kind="stable")
    chosen = rare if len(rare) > 1 else tuple(dict.fromkeys([*rare, *(joint.s_labels[s] for s in order)]))[:2]
    names = tuple(label for label in joint.s_labels if label in chosen)
    if len(joint.s_labels) - len(names) < 1 or len(names) < 2:
        return None
    rows = {label: row for label, row in zip(joint.s_labels, joint.weights, strict=True) if label not in names}
    together = [row for label, row in zip(joint.s_labels, joint.weights, strict=True) if label in names]
    counts = [*rows.values(), [sum(column) for column in zip(*together, strict=True)]]
    return names, Joint(counts, [*rows, " or ".join(names)], joint.x_labels, counts=True)
