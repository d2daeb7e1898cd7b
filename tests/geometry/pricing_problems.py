"""Pricing problems of every kind of constraint, their feasible points by the regions' own values, and kernels one at a time."""

from dataclasses import dataclass

import numpy as np

from alphalift import KL, LDP, AlphaLift, ChiSquare, Joint, MaxLift, MutualInformation, Region, TotalVariation
from alphalift.arrays import Array
from alphalift.convex import CALLED, ENTROPY
from alphalift.geometry.concave import ConcaveProgram
from alphalift.geometry.tree import Tree, compiled_bound_nodes, compiled_replay, compiled_split
from alphalift.measures import entropy
from alphalift.regions.after import After
from alphalift.solvers.search import concave_program


@dataclass(frozen=True)
class Called(ChiSquare):
    """Chi-square as a user's own promise would be: its support function is called back."""

    constraint = Region.constraint


# Half-spaces, with slacks, a norm ball, entropy, called back, several at once.
REGIONS = {
    "half-spaces": MaxLift(0.2),
    "one slack": LDP(0.4),
    "slacks": TotalVariation(0.1),
    "norm": AlphaLift(3, 0.1),
    "entropy": KL(0.05),
    "called": Called(0.3),
    "several": AlphaLift(2, 0.1) & TotalVariation(0.15),
}
CONES = {f"cones of {name}": REGIONS[name] for name in ("half-spaces", "slacks", "norm", "entropy", "several")}
KINDS = [*REGIONS, *CONES]


@dataclass(frozen=True)
class Problem:
    joint: Joint
    region: Region
    program: ConcaveProgram

    def feasible(self, generator, count: int) -> Array:
        """Random V in the set, half of them as far from P_X as it goes, (count, |X|)."""
        size = len(self.joint.p_x)
        ends = generator.dirichlet(np.full(size, 0.5), size=count)
        near, far = np.zeros(count), np.ones(count)
        for _ in range(40):
            middle = (near + far) / 2
            allowed = self.region.allows(self._mixed(ends, middle) @ self.joint.lift.T, self.joint.p_s)
            near, far = np.where(allowed, middle, near), np.where(allowed, far, middle)
        # A little inside: what regions allow exceeds the budget by roundings.
        shares = np.where(np.arange(count) % 2, 1.0, generator.random(count)) * (1 - 1e-9)
        return self._mixed(ends, near * shares)

    def _mixed(self, ends: Array, shares: Array) -> Array:
        return shares[:, None] * ends + (1 - shares[:, None]) * self.joint.p_x


def problem(name: str, seed: int = 0, shape: tuple[int, int] = (4, 6)) -> Problem:
    generator = np.random.default_rng(seed)
    if name in CONES:
        blocks = generator.integers(5, 30, (2, *shape))
        blocks[1] += 2 * blocks[0] // 3  # the blocks have nearly one posterior: neither breaks the promise by itself
        base = Joint(blocks.sum(axis=0), counts=True)
        counts = tuple(tuple(tuple(map(int, row)) for row in block) for block in blocks)
        region = After(CONES[name], base, counts)
        joint = region.known
    else:
        region, joint = REGIONS[name], Joint(generator.integers(1, 30, shape), counts=True)
    return Problem(joint, region, concave_program(joint, region, MutualInformation()))


def random_dual(of: Problem, generator) -> Array:
    """(w, nu) that is allowed: w >= 0 but where it may have any sign."""
    size = of.program.moments.shape[1]
    w = generator.exponential(size=size) * 10 ** generator.uniform(-2, 2) * (generator.random(size) < 0.7)
    constraints = of.program.body.constraints
    for p, (first, last) in enumerate(zip(constraints.first, constraints.last, strict=True)):
        if constraints.kind[p] == CALLED:
            w[first:last] *= generator.choice([-1.0, 1.0], size=last - first)
        if constraints.kind[p] == ENTROPY:
            w[last - 1] = w[first : last - 1].max() * generator.uniform(0.7, 2.0) + 1e-9
    return np.append(w, generator.normal())


def random_box(around: Array, generator) -> tuple[Array, Array]:
    """A box that holds this point, with sides between nearly nothing and all."""
    share = 10 ** generator.uniform(-9, 0, size=(2, len(around)))
    return around * (1 - share[0]), around + (1 - around) * share[1]


def objective(points: Array, prices: Array) -> Array:
    return np.asarray(entropy(points, axis=-1) - points @ prices)


def _root(box: tuple[Array, Array], dual: Array, nodes: int) -> Tree:
    tree = Tree.unit_box(nodes, len(box[0]), len(dual))
    tree.low[0], tree.high[0] = box
    tree.dual[0] = dual
    return tree


def bound_at(program: ConcaveProgram, prices: Array, box: tuple[Array, Array], dual: Array) -> tuple[float, Array]:
    """`exact_bound` and the dual with its nu: what a tree of one node is bounded by when it is replayed."""
    tree = _root(box, dual, 1)
    compiled_replay()(*program.at(prices), np.inf, 0, 1, tree, np.ones(1, np.bool_), np.zeros(1, np.bool_))
    return float(tree.bound[0]), tree.dual[0]


def trimmed(program, prices, box, dual, threshold) -> tuple[Array, Array]:
    """`trim`: the box of a first child, if the split leaves it whole."""
    tree = _root(box, dual, 3)
    tree.split_at[0] = box[1][0]
    compiled_split()(*program.at(prices), np.array([0]), 1, threshold, tree)
    return tree.low[1], tree.high[1]


def relaxed(program, prices, box, threshold: float = np.inf, dual: Array | None = None) -> tuple[float, Array, Array]:
    """`relax`: the bound, the minimiser and the dual, found from a dual of ones unless told."""
    tree = _root(box, np.ones(program.moments.shape[1] + 1) if dual is None else dual, 1)
    compiled_bound_nodes()(*program.at(prices), np.array([0]), threshold, tree)
    return float(tree.bound[0]), tree.point[0], tree.dual[0]
