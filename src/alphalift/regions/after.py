"""A promise about everything that is released about the same people, earlier outputs included.

Earlier mechanisms have released y1. With a further output y whose posterior is V = P(X|y), both together tell
P(s, y1 | y) = sum_x V_x P(s, y1 | x) =: a_s about the secret, P(y1 | y) = sum_s a_s =: m of it by y1, so the lifts are
a_s / (m P(s)). A promise about them is a cone of V for every y1, since it does not change with the length of (a, m): the
support function says sum_s w_s a_s <= sigma(w) m. Y1 and y are independent given all columns that they were drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array, read_only
from alphalift.convex import HALF_SPACES, ComponentDual, Constraint
from alphalift.errors import PromiseError
from alphalift.joint import Joint
from alphalift.regions.base import Region
from alphalift.regions.on_average import refuse_averages

Blocks = list[list[list[int]]]


@dataclass(frozen=True, eq=False)
class After(Region):
    """`region` for y and all earlier outputs together.

    `base` is the joint of S and X; `counts` has a block for every earlier output y1 (or several with one posterior): integers
    proportional to P(s, x, y1), as rows of s. What is solved has the pairs (s, y1) for its secret: `known`.
    """

    region: Region
    base: Joint
    counts: tuple[tuple[tuple[int, ...], ...], ...]

    def __post_init__(self) -> None:
        refuse_averages(self.region, "what several releases tell together")
        if not self.allows(np.ones((1, len(self.known.p_s))), self.known.p_s)[0]:
            raise PromiseError(
                f"what was released before breaks {self.region} by itself; a further release cannot mend that: allow a "
                "larger budget for all releases together"
            )

    @cached_property
    def pairs(self) -> NDArray[np.intp]:
        """Number of s and of y1 for every secret of `known`, (count, 2): the pairs that occur."""
        return np.array([(s, y) for y, block in enumerate(self.counts) for s, row in enumerate(block) if any(row)])

    @cached_property
    def known(self) -> Joint:
        """The joint of (s, y1) and X."""
        rows = [self.counts[y][s] for s, y in self.pairs.tolist()]
        labels = [f"{self.base.s_labels[s]} ({y})" for s, y in self.pairs.tolist()]
        return Joint(rows, labels, self.base.x_labels, counts=True)

    @cached_property
    def p_s(self) -> Array:
        """The prior of the secret itself, (|S|,)."""
        return read_only(np.array(self.base.p_s))

    def __repr__(self) -> str:
        return f"After({self.region}, {len(self.counts)} earlier outputs)"

    @property
    def budget(self) -> float:
        return self.region.budget

    @property
    def perfect(self) -> bool:
        return self.region.perfect

    @property
    def parameters(self) -> dict[str, float]:
        return self.region.parameters

    def about(self, joint: Joint) -> Joint:
        """`known`, in which S and what was released before are the secret."""
        return self.known

    def answers(self, joint: Joint) -> bool:
        return joint in (self.base, self.known)

    def blocks(self, joint: Joint) -> Blocks:
        return [[list(row) for row in block] for block in self.counts]

    @property
    def symmetric(self) -> bool:
        return self.region.symmetric

    def group_limit(self, group: NDArray[np.bool_], p_s: Array) -> float:
        """Of the secret itself, all releases together: what the promise is about."""
        return self.region.group_limit(group, p_s)

    def validate(self, p_s: Array) -> None:
        self.region.validate(self.p_s)

    def value(self, lifts: Array, p_s: Array) -> Array:
        """The largest value over the earlier outputs y1 that are possible with y."""
        values = self.region.value(self.together(lifts), self.p_s)
        return np.asarray(values.reshape(len(lifts), len(self.counts)).max(axis=1))

    def allows(self, lifts: Array, p_s: Array) -> NDArray[np.bool_]:
        kept = self.region.allows(self.together(lifts), self.p_s)
        return np.asarray(kept.reshape(len(lifts), len(self.counts)).all(axis=1))

    def together(self, lifts: Array) -> Array:
        """Of lifts of the pairs by y, those of the secret by y1 and y, (count |Y1|, |S|); 1 where y1 never comes with y."""
        blocks = np.zeros((len(lifts), len(self.counts), len(self.p_s)))
        blocks[:, self.pairs[:, 1], self.pairs[:, 0]] = lifts * self.known.p_s
        found = blocks.reshape(-1, len(self.p_s))
        total = found.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, found / np.where(total > 0, total, 1.0) / self.p_s, 1.0))

    def support(self, directions: Array, p_s: Array) -> Array:
        """The largest over y1 of sigma(w) for the pairs with it: all of m may lie on one y1."""
        lowest = directions.min(axis=-1)
        blocks = np.repeat(lowest[:, None, None], len(self.counts), axis=1) * np.ones(len(self.p_s))
        blocks[:, self.pairs[:, 1], self.pairs[:, 0]] = directions
        found = self.region.support(blocks.reshape(-1, len(self.p_s)), self.p_s)
        return np.asarray(found.reshape(len(directions), len(self.counts)).max(axis=1))

    def inequality(self, duals: Sequence[ComponentDual], p_s: Array) -> tuple[Array, float]:
        """Of every y1, sum_s w_s a_s <= sigma m, and m = sum_s a_s: sigma is taken from each w, and leaves 0."""
        size = len(self.region.components)
        found = [self.region.inequality(duals[i : i + size], self.p_s) for i in range(0, len(duals), size)]
        return np.array([w - sigma for w, sigma in found])[self.pairs[:, 1], self.pairs[:, 0]], 0.0

    @property
    def components(self) -> tuple[Region, ...]:
        return tuple(Given(part, self, y) for y in range(len(self.counts)) for part in self.region.components)

    def tightened(self, nats: float) -> Region:
        """Tightened, unless earlier outputs have used up even what that would leave."""
        try:
            return replace(self, region=self.region.tightened(nats))
        except PromiseError:
            return self

    def null_rows(self, joint: Joint) -> Array:
        """(P(s, y1 | x) - P(s) P(y1 | x)) / (P(s) P(y1)) for every s and y1: what V must not change at a budget of 0."""
        rows, total = [], self.known.total
        for block in self.counts:
            columns = [sum(column) for column in zip(*block, strict=True)]
            for own, share in zip(block, self.base.s_weights, strict=True):
                rows.append(
                    [
                        (w * self.base.total - share * m) * total / (share * n * sum(columns)) if n else 0.0
                        for w, m, n in zip(own, columns, self.known.x_weights, strict=True)
                    ]
                )
        return np.array(rows)


@dataclass(frozen=True, eq=False)
class Given(Region):
    """One promise at one earlier output: a part of what `After` asks for."""

    region: Region
    after: After
    output: int

    @property
    def budget(self) -> float:
        return self.region.budget

    def value(self, lifts: Array, p_s: Array) -> Array:
        raise PromiseError("a part of a joint promise has no value of its own")

    def support(self, directions: Array, p_s: Array) -> Array:
        raise PromiseError("a part of a joint promise has no support function of its own")

    def constraint(self, p_s: Array) -> Constraint:
        """The promise's own part with a moment for each pair (s, y1) of this y1, and P(y1|y) for its capacity.

        The sides of half-spaces are multiplied by the capacity, which makes others of them, with sides of 0. A dual shifts
        nothing from nu, the multiplier of sum V = 1: here sum_s a_s = m, whose multiplier is sigma.
        """
        block = np.array(self.after.counts[self.output], dtype=np.float64)
        seen = block[:, block.any(axis=0)]
        plain = self.region.constraint(self.after.p_s).widened((seen / seen.sum(axis=0)).T)
        pairs = self.after.pairs
        here = (pairs[:, 1] == self.output).astype(np.float64)
        directions, parameters = plain.directions[:, pairs[:, 0]] * here, plain.parameters
        if plain.kind == HALF_SPACES:
            directions, parameters = directions - parameters[:, None] * here, np.zeros_like(parameters)

        def inverse(multipliers: Array) -> ComponentDual:
            return replace(plain.invert(multipliers), shift=0.0)

        return replace(
            plain, parameters=parameters, directions=directions, capacity=here, inverse=inverse, centred=False
        )
