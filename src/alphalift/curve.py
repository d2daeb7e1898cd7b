"""Curves: what every budget keeps, between two certified envelopes, from few solves.

Between two budgets the lower envelope mixes their mechanisms: outputs are paired, and the posteriors of a pair are interpolated with
one weight, or columns go from one to the other and are mixed anew. The upper one is monotone, the line through the bounds of one tree
at both budgets, or of promises on average what their prices say ("Between two budgets" in docs/theory.md).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from alphalift.arrays import Array, dense
from alphalift.clock import Clock
from alphalift.convex import ConvexSet
from alphalift.errors import PromiseError, SettingError
from alphalift.geometry.between import SearchBetween, compile_both, tree_of
from alphalift.geometry.concave import Certificate, ConcaveProgram, MergedCertificate, PiecesCertificate
from alphalift.geometry.tree import CLOSED_FROM
from alphalift.joint import Joint, require_joint
from alphalift.mechanism import Mechanism
from alphalift.presolve import Merged
from alphalift.proof.prove import prove
from alphalift.regions import Region, averages_of
from alphalift.regions.between import line_between
from alphalift.solution import Solution, Status
from alphalift.solvers import Optimal
from alphalift.solvers.between import Track, moved, prices_on_a_line
from alphalift.solvers.run import MARGIN, curve_of
from alphalift.solvers.search import PROGRAM_MARGIN, concave_program
from alphalift.utilities import Utility, as_utility

if TYPE_CHECKING:
    import pandas as pd

Numbers = NDArray[np.int64]

# The share of the accuracy that a solve may leave open.
_GAP_SHARE = 0.3
# Where publishing X is never allowed, curves end here unless told.
_FARTHEST = 10.0
# Steps of the weight along a pairing, at which its promise and utility are computed.
_STEPS = 65
_HALVINGS = 40
# Outputs up to which they are paired by a linear program.
_MOST_PAIRED = 60
# A piece is bounded by one tree if its mixtures leave this share of the accuracy, with so many further nodes.
_WORTH_A_TREE, _FURTHER_NODES = 0.6, 250
# The share of a tree's threshold by which prices on a line may be too high for some column.
_NEAR = 0.2
# Columns are moved in pieces that rise by so many accuracies, in steps of this share of it; lines are looked for up to the last.
_LEAST_RISE, _MOST_RISE, _STEP, _MOST_LINED = 0.5, 6.0, 0.15, 3.0
# A piece is split where its lower end is at most so much smaller than its upper one, in the middle; else by ratio.
_RATIO = 8.0
# Budgets nearer to each other, as a share of the larger one, are not told apart.
_NARROWEST = 1e-9
# The least budget beside 0 that is solved for.
_LEAST_BUDGET = 1e-9


@dataclass(frozen=True)
class Family:
    """Promises of one kind that differ in epsilon alone: `Family(AlphaLift, {"alpha": 10})`."""

    promise: Callable[..., Region]
    parameters: dict[str, Any] = field(default_factory=dict)

    def at(self, epsilon: float) -> Region:
        return self.promise(**self.parameters, epsilon=epsilon)

    def require_one_budget(self, joint: Joint) -> None:
        """Raise unless epsilon is the bound on a value that does not depend on it: curves compare promises by that."""
        try:
            less, more = self.at(0.25), self.at(0.5)
        except TypeError:
            raise PromiseError(
                "expected a kind of promise with a budget named epsilon, and a value for each of its other parameters, as in "
                f"(joint, AlphaLift, alpha=10); given {self._named}"
            ) from None
        about = more.about(joint)
        values = [region.value(about.lift.T, about.p_s) for region in (less, more)]
        scaled = [abs(region.as_epsilon(region.budget) - own) for region, own in ((less, 0.25), (more, 0.5))]
        if len(more.components) > 1 or not np.array_equal(values[0], values[1]) or max(scaled) > 1e-9:
            raise PromiseError(f"a curve needs a promise with one budget, epsilon; {more} has none, or more than that")

    @property
    def _named(self) -> str:
        kind = self.promise.__name__ if isinstance(self.promise, type) else repr(self.promise)
        return f"{kind} with {', '.join(self.parameters) or 'nothing else'}"

    def epsilon_of(self, p_y: Array, lifts: Array, p_s: Array) -> float:
        """The least epsilon whose promise outputs with these lifts keep."""
        region = self.at(1.0)
        return max(0.0, region.as_epsilon(region.value_of_outputs(p_y, lifts, p_s)))

    def largest(self, joint: Joint) -> float:
        """The least epsilon at which X may be published; infinite if none allows that."""
        about = self.at(1.0).about(joint)
        outputs = about.p_x, about.lift.T, about.p_s
        epsilon = self.epsilon_of(*outputs)
        if not math.isfinite(epsilon):
            return math.inf
        while not self.at(epsilon).kept_by(*outputs):  # a logarithm's rounding
            epsilon = max(np.nextafter(epsilon, math.inf), epsilon * (1 + 1e-15))
        return epsilon


@dataclass(frozen=True, eq=False)
class Point:
    """A budget that was solved for; shares are of what publishing X is worth, and no mechanism exceeds `upper`.

    `proven` is what the solution's own certificate says; neighbours may say more.
    """

    epsilon: float
    solution: Solution
    lower: float
    upper: float
    proven: float


@dataclass(frozen=True)
class Bracket:
    """At one epsilon: the useful share of X is at least `lower`, which `design_at` keeps, and no mechanism exceeds `upper`.

    `below` and `above` are the budgets that were solved for whose designs and bounds it comes from.
    """

    lower: float
    upper: float
    below: float
    above: float


@dataclass(frozen=True, eq=False)
class Pairing:
    """Outputs of two mechanisms in pairs: at theta each is one output, (1 - theta) left + theta right, with such a weight.

    Of promises about every output the weights of a pair are equal; of promises on average its posteriors are: each output of
    both mechanisms stays what it is, and theta is how often the right one is drawn.
    """

    family: Family
    joint: Joint
    utility: Utility
    left: Array
    right: Array
    weights: tuple[Array, Array]

    @classmethod
    def of(cls, family: Family, left: Solution, right: Solution) -> Pairing:
        """The pairs that tell the least apart: mixing them loses the least."""
        first, second = (dense(own.mechanism.posteriors) for own in (left, right))
        utility = right.utility_function
        p, q = (own.mechanism.p_y / own.mechanism.p_y.sum() for own in (left, right))
        if averages_of(right.region):
            both = np.concatenate([first, second])
            drawn = np.append(p, np.zeros_like(q)), np.append(np.zeros_like(p), q)
            return cls(family, right.joint, utility, both, both, drawn)
        pairs, weights = _coupling(first, second, p, q, utility)
        return cls(family, right.joint, utility, first[pairs[0]], second[pairs[1]], (weights, weights))

    def outputs(self, theta: float) -> tuple[Array, Array]:
        """Their weights and posteriors."""
        (p, q), rest = self.weights, 1 - theta
        return rest * p + theta * q, rest * self.left + theta * self.right

    def mechanism(self, theta: float) -> Mechanism:
        weights, points = self.outputs(theta)
        return Mechanism.mixing(self.joint, points, weights)

    def _told(self, theta: float) -> tuple[Array, Array, Array]:
        weights, points = self.outputs(theta)
        return weights, points @ self.joint.lift.T, self.joint.p_s

    def allowed(self, theta: float, region: Region) -> bool:
        return region.kept_by(*self._told(theta))

    def kept(self, theta: float) -> float:
        """The share of X that the mixture keeps."""
        (before, everything), (weights, points) = self.scale, self.outputs(theta)
        return _share(before - float(weights @ self.utility.uncertainty(points)), everything)

    @cached_property
    def scale(self) -> tuple[float, float]:
        p_x = self.joint.p_x
        return float(self.utility.uncertainty(p_x[None])[0]), self.utility.of_publishing_all(p_x)

    @cached_property
    def steps(self) -> tuple[Array, Array]:
        """Budgets that mixtures keep, and what these are worth, both for evenly spaced weights."""
        thetas = np.linspace(0.0, 1.0, _STEPS)
        worth = np.array([self.kept(theta) for theta in thetas])
        return np.array([self.family.epsilon_of(*self._told(theta)) for theta in thetas]), worth

    def farthest(self, region: Region) -> float:
        """A theta whose mixture keeps the promise, as large as halving finds it; the promise of the left end is kept at 0."""
        low, high = 0.0, 1.0
        if self.allowed(1.0, region):
            return 1.0
        region = region.tightened(MARGIN)  # as columns are, or rounding to integers would cost utility
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.allowed(middle, region) else (low, middle)
        return low


def _coupling(
    first: Array, second: Array, p: Array, q: Array, utility: Utility
) -> tuple[tuple[Numbers, Numbers], Array]:
    """Pairs of rows and their weights, whose marginals are p and q: cheapest by what a mixture of both halves loses."""
    rows, columns = len(p), len(q)
    if max(rows, columns) <= _MOST_PAIRED:
        middles = ((first[:, None] + second[None]) / 2).reshape(-1, first.shape[1])
        own = (utility.uncertainty(first)[:, None] + utility.uncertainty(second)[None]) / 2
        loss = utility.uncertainty(middles).reshape(rows, columns) - own
        i, j = np.divmod(np.arange(rows * columns), columns)
        sums = coo_array((np.ones(2 * len(i)), (np.append(i, rows + j), np.tile(np.arange(len(i)), 2)))).tocsr()
        found = linprog(np.maximum(loss, 0.0).ravel(), A_eq=sums[:-1], b_eq=np.append(p, q)[:-1], method="highs-ds")
        if found.status == 0:
            plan = _exact(np.maximum(found.x, 0.0).reshape(rows, columns), p, q)
            rows_used, columns_used = np.nonzero(plan)
            return (rows_used, columns_used), plan[rows_used, columns_used]
    # In the order of their main symbols, one after the other.
    orders = np.argsort(first.argmax(axis=1), kind="stable"), np.argsort(second.argmax(axis=1), kind="stable")
    ends = np.cumsum(p[orders[0]]), np.cumsum(q[orders[1]])
    cuts = np.unique(np.concatenate([*ends, [0.0]]).clip(0.0, 1.0))
    middle, weights = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
    places = [np.minimum(np.searchsorted(end, middle), len(end) - 1) for end in ends]
    return (orders[0][places[0]], orders[1][places[1]]), weights


def _exact(plan: Array, p: Array, q: Array) -> Array:
    """The plan with its row sums made p exactly, but for rounding, and its column sums nearly q."""
    for _ in range(3):
        plan = plan * np.divide(q, plan.sum(axis=0), out=np.zeros_like(q), where=plan.sum(axis=0) > 0)
        sums = plan.sum(axis=1)
        plan = plan * np.divide(p, sums, out=np.zeros_like(p), where=sums > 0)[:, None]
    return plan


def _share(utility: float, everything: float) -> float:
    return utility / everything if everything > 0 else 1.0


def _tangent(point: Point, region: Region) -> float:
    """What the point's bound says of another budget for the same mean: it costs the price there. Of other promises, 1."""
    proof = point.solution.certificate
    if isinstance(proof, MergedCertificate):
        proof = proof.proof
    if not isinstance(proof, Certificate | PiecesCertificate) or len(proof.average_prices) != 1:
        return 1.0
    utility, p_x = point.solution.utility_function, point.solution.joint.p_x
    (there,), (here,) = averages_of(region), averages_of(point.solution.region)
    # Those of pieces are in units of what publishing X is worth.
    scale = 1.0 if isinstance(proof, PiecesCertificate) else utility.of_publishing_all(p_x)
    price = float(proof.average_prices[0]) / scale
    return point.proven + price * (there.room - here.room)


@dataclass(eq=False)
class _Piece:
    """Between two neighbouring points: the pairing, and the lines that bound all mechanisms."""

    left: Point
    right: Point
    pairing: Pairing
    track: Track | None = None
    ends: tuple[float, float] | None = None  # of the line that one tree proves
    place: Callable[[Region], float] | None = None

    def upper(self, epsilon: float) -> float:
        if epsilon <= self.left.epsilon:
            return self.left.upper
        region = self.pairing.family.at(epsilon)
        most = min([self.right.upper, *(_tangent(point, region) for point in (self.left, self.right))])
        if self.ends is None or self.place is None:
            return most
        theta = self.place(region)
        # A line that falls is not used: envelopes rise.
        return min(most, (1 - theta) * self.ends[0] + theta * max(self.ends))

    @cached_property
    def stairs(self) -> tuple[Array, Array]:
        """Rising budgets from the left end on, and the most that mixtures keep whose promise is kept there."""
        budgets, worth = self.pairing.steps
        budgets = np.append(budgets, [self.left.epsilon, self.right.epsilon])
        worth = np.append(worth, [self.left.lower, self.right.lower])
        for _, epsilon, kept in self._tracked:
            budgets, worth = np.append(budgets, epsilon), np.append(worth, kept)
        within = budgets <= self.right.epsilon
        budgets, worth = np.maximum(budgets[within], self.left.epsilon), worth[within]
        order = np.argsort(budgets, kind="stable")
        return budgets[order], np.maximum.accumulate(worth[order])

    @cached_property
    def _tracked(self) -> list[tuple[Mechanism, float, float]]:
        """The track's mechanisms, the epsilon at which each is allowed, and the share of X that it keeps."""
        if self.track is None:
            return []
        utility, regions = self.track.utility, self.track.regions
        return [
            (mechanism, region.parameters["epsilon"], mechanism.normalized_utility(utility))
            for mechanism, region in zip(self.track.mechanisms, regions, strict=True)
            if mechanism.check(region)
        ]

    def tracked(self, epsilon: float) -> tuple[Mechanism | None, float]:
        """The best mechanism of the tracks that is allowed there, and what it keeps."""
        allowed = [(mechanism, kept) for mechanism, own, kept in self._tracked if own <= epsilon]
        return max(allowed, key=lambda own: own[1], default=(None, 0.0))

    @cached_property
    def distance(self) -> float:
        """No epsilon of the piece has envelopes farther apart: both rise, so the ends of every step tell."""
        budgets, worth = self.stairs
        uppers = np.array([self.upper(epsilon) for epsilon in budgets])
        return float(np.max(np.maximum(uppers[1:] - worth[:-1], 0.0), initial=max(uppers[-1] - worth[-1], 0.0)))

    @property
    def lost(self) -> float:
        """How far the lower envelope lies below the line through both ends, in steps of its budgets."""
        budgets, worth = self.stairs
        if self.place is None:
            return math.inf
        theta = np.array([self.place(self.pairing.family.at(epsilon)) for epsilon in budgets])
        line = self.left.lower + theta * (self.right.lower - self.left.lower)
        return float(np.max(line[1:] - worth[:-1], initial=0.0))


@dataclass(frozen=True, eq=False)
class Envelope:
    """One promise's curve: certified envelopes of the useful share of X from epsilon 0 to `largest`."""

    family: Family
    joint: Joint
    utility: Utility
    largest: float
    points: tuple[Point, ...] = field(repr=False)
    pieces: tuple[_Piece, ...] = field(repr=False)
    interrupted: bool = False

    @property
    def accuracy(self) -> float:
        """No epsilon has envelopes that are farther apart."""
        return max(max(point.upper - point.lower for point in self.points), *(p.distance for p in self.pieces), 0.0)

    @property
    def stairs(self) -> tuple[Array, Array, Array]:
        """Rising epsilons, the lower envelope from each of them on, and the upper one up to each of them."""
        last = self.points[-1]
        parts = [(*piece.stairs, [piece.upper(epsilon) for epsilon in piece.stairs[0]]) for piece in self.pieces]
        parts.append((np.array([last.epsilon]), np.array([last.lower]), [last.upper]))
        epsilons, lower, upper = (np.concatenate(own) for own in zip(*parts, strict=True))
        return epsilons, np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]

    def _piece(self, epsilon: float) -> _Piece | None:
        if not epsilon >= 0:
            raise SettingError(f"epsilon is {epsilon:g}, expected a number of 0 or more")
        return next((piece for piece in self.pieces if epsilon < piece.right.epsilon), None)

    def at(self, epsilon: float) -> Bracket:
        """Both envelopes at one epsilon."""
        piece = self._piece(epsilon)
        if piece is None:  # from the last point on
            last = self.points[-1]
            upper = last.upper if epsilon <= last.epsilon else 1.0
            return Bracket(last.lower, max(upper, last.lower), last.epsilon, last.epsilon)
        theta = piece.pairing.farthest(self.family.at(epsilon))
        budgets, worth = piece.stairs
        stair = worth[np.searchsorted(budgets, epsilon, side="right") - 1]
        lower = max(float(stair), piece.pairing.kept(theta), piece.left.lower)
        return Bracket(lower, max(piece.upper(epsilon), lower), piece.left.epsilon, piece.right.epsilon)

    def design_at(self, epsilon: float) -> Solution:
        """A mechanism that keeps the promise at this epsilon and the lower envelope's utility, in integers, proven."""
        piece, region, bound = self._piece(epsilon), self.family.at(epsilon), self.at(epsilon).upper
        if piece is None:
            mechanism = self.points[-1].solution.mechanism
        else:
            budgets, worth = self.pieces[self.pieces.index(piece)].pairing.steps
            allowed = [
                (kept, theta)
                for kept, theta, own in zip(worth, np.linspace(0, 1, _STEPS), budgets, strict=True)
                if own <= epsilon and piece.pairing.allowed(theta, region)
            ]
            theta = piece.pairing.farthest(region)
            kept, theta = max([*allowed, (piece.pairing.kept(theta), theta)])
            mechanism = piece.pairing.mechanism(theta) if kept > piece.left.lower else piece.left.solution.mechanism
            tracked, better = piece.tracked(epsilon)
            if tracked is not None and better > max(kept, piece.left.lower):
                mechanism = tracked
        everything = self.utility.of_publishing_all(self.joint.p_x)
        found = Solution(mechanism, region, self.utility, Status.FEASIBLE, bound * everything)
        return prove(found)

    def to_frame(self, epsilons: Sequence[float] | None = None) -> pd.DataFrame:
        """One row an epsilon: the envelopes; where they were refined, unless epsilons are given."""
        import pandas as pd

        given = self._grid() if epsilons is None else epsilons
        rows = [self.family.parameters | {"epsilon": epsilon} | _row(self.at(epsilon)) for epsilon in given]
        return pd.DataFrame.from_records(rows)

    def _grid(self) -> list[float]:
        """The points, and some epsilons between them, evenly."""
        most = self.points[-1].epsilon
        return sorted({point.epsilon for point in self.points} | set(np.linspace(0, most, _STEPS).tolist()))


def _row(bracket: Bracket) -> dict[str, float]:
    return {"lower": bracket.lower, "upper": bracket.upper, "below": bracket.below, "above": bracket.above}


@dataclass(frozen=True, eq=False)
class Curve:
    """Envelopes, one for each value of the promise's other parameters, in the order in which these were given."""

    envelopes: tuple[Envelope, ...]

    def __iter__(self) -> Iterator[Envelope]:
        return iter(self.envelopes)

    def __len__(self) -> int:
        return len(self.envelopes)

    @property
    def accuracy(self) -> float:
        """How far the envelopes are apart at most, anywhere: what was reached, whatever was asked for."""
        return max(envelope.accuracy for envelope in self.envelopes)

    @property
    def within(self) -> str:
        """The accuracy in three digits, rounded up."""
        digits = 2 - math.floor(math.log10(self.accuracy)) if self.accuracy > 0 else 0
        return f"{math.ceil(self.accuracy * 10.0**digits) / 10.0**digits:.3g}"

    @property
    def solves(self) -> int:
        return sum(len(envelope.points) for envelope in self.envelopes)

    def of(self, **parameters: float) -> Envelope:
        """The envelope with these parameters: `of(alpha=10)`; without any, the only one."""
        found = [own for own in self.envelopes if parameters.items() <= own.family.parameters.items()]
        if len(found) != 1:
            values = [", ".join(f"{name}={value:g}" for name, value in own.family.parameters.items()) for own in self]
            raise SettingError(
                f"expected the parameters of one curve, and {parameters or 'nothing'} fits {len(found)}; there are {'; '.join(values)}"
            )
        return found[0]

    def at(self, epsilon: float) -> tuple[Bracket, ...]:
        """The envelopes' values at one epsilon, one each."""
        return tuple(envelope.at(epsilon) for envelope in self.envelopes)

    def design_at(self, epsilon: float, **parameters: float) -> Solution:
        """As `Envelope.design_at`, of the curve with these parameters."""
        return self.of(**parameters).design_at(epsilon)

    def to_frame(self, epsilons: Sequence[float] | None = None) -> pd.DataFrame:
        """Every envelope's rows, one after the other."""
        import pandas as pd

        return pd.concat([envelope.to_frame(epsilons) for envelope in self.envelopes], ignore_index=True)


def curve(
    joint: Joint,
    promise: Callable[..., Region],
    *,
    accuracy: float = 1e-3,
    utility: Utility | str | None = None,
    time_limit: float = 60.0,
    up_to: float | None = None,
    **parameters: float | Sequence[float],
) -> Curve:
    """What every epsilon keeps, between envelopes that are at most `accuracy` apart: `curve(joint, AlphaLift, alpha=[inf, 10, 3])`.

    `promise` is a kind of promise with one epsilon, or a function of it, such as `lambda epsilon: OnAverage(KL(epsilon))`; `parameters` are
    its others, each a number or several. Epsilon goes from 0 to where
    X may be published, or to `up_to`. When the seconds of `time_limit` are over, or at Ctrl-C, envelopes are as far apart as they are
    then, which `accuracy` of the result says.
    """
    if not 0 < accuracy < 1:
        raise SettingError(f"accuracy is {accuracy:g}, expected a number between 0 and 1")
    if not time_limit > 0:
        raise SettingError(f"time_limit is {time_limit:g}, expected seconds above 0")
    joint, worth = require_joint(joint), as_utility(utility)
    values = {name: list(np.atleast_1d(value)) for name, value in parameters.items()}
    families = [
        Family(promise, dict(zip(values, map(float, own), strict=True))) for own in itertools.product(*values.values())
    ]
    if not families:
        raise SettingError("a parameter has no value; expected one or more")
    clock, found = Clock(time_limit), list[Envelope]()
    for left, family in zip(range(len(families), 0, -1), families, strict=True):
        own = clock.reserving(clock.left * (1 - 1 / left)) if not (found and found[-1].interrupted) else Clock(0.0)
        found.append(_Refinement(joint, family, worth, accuracy, own, up_to).envelope())
    return Curve(tuple(found))


class _Refinement:
    """Pieces are split where envelopes are farthest apart."""

    def __init__(
        self, joint: Joint, family: Family, utility: Utility, accuracy: float, clock: Clock, up_to: float | None
    ) -> None:
        self.joint, self.family, self.accuracy, self.clock = joint, family, accuracy, clock
        family.require_one_budget(joint)
        self.about = family.at(1.0).about(joint)
        self.utility = utility = utility.on(self.about)
        self.everything = utility.of_publishing_all(self.about.p_x)
        largest = family.largest(joint)
        self.largest = largest
        self.end = min(largest, _FARTHEST if up_to is None else up_to)
        if not self.end >= 0:
            raise SettingError(f"up_to is {up_to}, expected a number of 0 or more")

    def envelope(self) -> Envelope:
        interrupted = False
        first = self._point(0.0)
        points, pieces, done = [first], list[_Piece](), list[_Piece]()
        if self.end > 0:
            last = self._point(self.end, first)
            points.append(last)
            pieces.append(self._piece(first, last))
            self._bound(pieces[0])
        try:
            while pieces:
                worst = max(range(len(pieces)), key=lambda i: pieces[i].distance)
                piece = pieces[worst]
                if piece.distance <= self.accuracy or self.clock.over:
                    break
                middle = self._middle(piece)
                if middle is None:
                    done.append(pieces.pop(worst))
                    continue
                point = self._point(middle, piece.left, piece)
                halves = [self._piece(piece.left, point), self._piece(point, piece.right)]
                points.append(point)
                pieces[worst : worst + 1] = halves
                for half in halves:
                    self._bound(half)
                interrupted = point.solution.status is Status.INTERRUPTED
                if interrupted:
                    break
        except KeyboardInterrupt:
            interrupted = True
        points.sort(key=lambda point: point.epsilon)
        pieces = sorted([*pieces, *done], key=lambda piece: piece.left.epsilon)
        for i in range(len(pieces) - 1, -1, -1):  # what bounds a larger budget bounds a smaller one
            piece, first = pieces[i], points[i]
            most = min(first.upper, piece.upper(np.nextafter(first.epsilon, math.inf)))
            points[i] = replace(first, upper=max(most, first.lower))
            pieces[i] = replace(piece, left=points[i], right=points[i + 1])
        return Envelope(self.family, self.about, self.utility, self.largest, tuple(points), tuple(pieces), interrupted)

    def _point(self, epsilon: float, before: Point | None = None, piece: _Piece | None = None) -> Point:
        """Solve at one epsilon, from the columns of its neighbours, mixed."""
        region = self.family.at(epsilon)
        after = [] if before is None else [before.solution]
        if piece is not None:
            mixed = piece.pairing.mechanism(piece.pairing.farthest(region))
            after.append(Solution(mixed, region, self.utility, Status.FEASIBLE))
        gap = max(min(_GAP_SHARE * self.accuracy, 0.5), 1e-9)
        # Trees are small where budgets are many: threads would only wait for each other.
        threads = 1 if len(self.about.p_x) < CLOSED_FROM else None
        solver = Optimal(relative_gap=gap, clock=self.clock, threads=threads)
        (found,) = solver.solve(self.about, [region], self.utility, after=after)
        proven = 1.0 if self.everything <= 0 else min(1.0, found.upper_bound / self.everything)
        if before is not None and found.normalized_utility < before.lower:  # in too little time
            found = replace(before.solution, region=region, status=found.status, certificate=None)
        upper = proven
        if piece is not None:
            upper = min(upper, piece.upper(epsilon))
        return Point(epsilon, found, found.normalized_utility, max(upper, found.normalized_utility), proven)

    def _middle(self, piece: _Piece) -> float | None:
        low, high = piece.left.epsilon, piece.right.epsilon
        if high - low <= _NARROWEST * high or high <= _LEAST_BUDGET:
            return None
        if low * _RATIO < high:
            return max(math.sqrt(low * high), high / _RATIO)
        return (low + high) / 2

    def _piece(self, left: Point, right: Point) -> _Piece:
        pairing = Pairing.of(self.family, left.solution, right.solution)
        return _Piece(left, right, pairing, self._track(left, right))

    def _track(self, left: Point, right: Point) -> Track | None:
        """Columns of either end that move with the budget, where prices are known there and all promises are about every output."""
        rise = right.upper - left.lower
        ends = [_prices(point.solution) for point in (left, right)]
        if ends[0] is None or ends[1] is None or not _LEAST_RISE * self.accuracy < rise < _MOST_RISE * self.accuracy:
            return None
        regions = [point.solution.region for point in (left, right)]
        if not regions[0].parameters.keys() >= {"epsilon"} or averages_of(regions[1]) or regions[0].perfect:
            return None
        count = min(max(math.ceil(rise / (_STEP * self.accuracy)), 2), _STEPS)
        inner = [self.family.at(epsilon) for epsilon in np.linspace(left.epsilon, right.epsilon, count + 1)[1:-1]]
        here, there = (concave_program(self.about, own.tightened(PROGRAM_MARGIN), self.utility) for own in regions)
        first, last = (dense(point.solution.mechanism.posteriors) for point in (left, right))
        # Those of the left end also as they are.
        begin = np.concatenate([first, first, moved(here, ends[0], last, self.clock)])
        end = np.concatenate([first, moved(there, ends[1], first, self.clock), last])
        allowed = regions[0].allows(begin @ self.about.lift.T, self.about.p_s)
        return Track(self.about, self.utility, begin[allowed], end[allowed], inner)

    def _bound(self, piece: _Piece) -> None:
        """Put a line above the piece's upper envelope, if one tree proves it in little time."""
        rise = piece.right.upper - piece.left.lower
        if piece.distance <= self.accuracy or rise > _MOST_LINED * self.accuracy or self.clock.over:
            return
        if self.utility.compiled_curve() is None:
            return
        left, right = (_tree(point.solution) for point in (piece.left, piece.right))
        merged = Merged.of(self.about)
        types = any(isinstance(point.solution.certificate, MergedCertificate) for point in (piece.left, piece.right))
        joint = merged.joint if types else self.about
        gain = merged.gain if types else 0.0
        size = len(joint.p_x)
        tree = right if right is not None else left
        if tree is None or len(tree.prices) != size:
            return
        line = line_between(piece.left.solution.region, piece.right.solution.region, joint.p_s)
        if line is None or tree.dual.shape[1] != len(line.right.directions) + 1:
            return
        piece.place = line.place
        room = self.accuracy - piece.lost
        if room < (1 - _WORTH_A_TREE) * self.accuracy:
            return
        prices = []
        for point, own in ((piece.left, left), (piece.right, right)):
            if own is not None and len(own.prices) == size:
                prices.append(own.prices)
            elif point.solution.status is Status.TRIVIAL and not types:
                prices.append(self.utility.uncertainty(np.eye(size)))  # publishing X: h is concave
            else:
                return
        vectors, least, scales = joint.p_s_given_x.T, float(joint.p_s.min()), self.utility.scales(joint.p_x)
        programs = [
            ConcaveProgram(ConvexSet.intersecting([own]), curve_of(self.utility), scales, vectors, least)
            for own in (line.left, line.right)
        ]
        threshold = -0.95 * room * self.everything
        if not types:
            middle = self.family.at((piece.left.epsilon + piece.right.epsilon) / 2)
            regions = piece.left.solution.region, middle, piece.right.solution.region
            columns = tuple(dense(point.solution.mechanism.posteriors) for point in (piece.left, piece.right))
            prices = list(
                prices_on_a_line(
                    [concave_program(joint, region, self.utility) for region in regions],
                    [0.0, line.place(middle), 1.0],
                    columns,  # type: ignore[arg-type]
                    joint.p_x,
                    self.utility,
                    -_NEAR * threshold,
                    self.clock,
                )
            )
        with self.clock.stopped():
            compile_both(size + len(line.right.widths))
        search = SearchBetween((programs[0], programs[1]), (prices[0], prices[1]), threshold, tree_of(tree))
        most = search.nodes + _FURTHER_NODES
        while not search.finished and search.nodes < most and not self.clock.over:
            search.grow()
        before = float(self.utility.uncertainty(joint.p_x[None])[0])
        bounds = [
            before
            - float(own @ joint.p_x)
            - search.lower_bound
            + gain
            + 1e-12 * (size + 1) * (1 + float(np.abs(own) @ joint.p_x))
            for own in prices
        ]
        piece.ends = bounds[0] / self.everything, bounds[1] / self.everything
        del piece.distance  # computed anew


def _prices(solution: Solution) -> Array | None:
    """The prices of its bound, by symbol."""
    if isinstance(solution.certificate, Certificate) and not len(solution.certificate.average_prices):
        return solution.certificate.prices
    if solution.status is Status.TRIVIAL:  # publishing X: h is concave
        return solution.utility_function.uncertainty(np.eye(len(solution.joint.p_x)))
    return None


def _tree(solution: Solution) -> Certificate | None:
    proof = solution.certificate
    if isinstance(proof, MergedCertificate):
        proof = proof.proof
    return proof if isinstance(proof, Certificate) else None
