"""Duals on their way back: what the solver's constraints say of posteriors, the promise's own support functions say as well."""

import numba.experimental.function_type  # noqa: F401  how a pointer is typed; kernels called from Python need it
import numpy as np
import pytest
from every import FAMILIES

from alphalift import KL, LDP, LIP, AlphaLift, Joint, MaxLift, TotalVariation
from alphalift.baselines.base import allowed
from alphalift.convex import CALLED, ENTROPY, ConvexSet
from alphalift.geometry.concave import Certificate
from alphalift.geometry.support import supports
from alphalift.measures.information import entropy
from alphalift.proof import checker
from alphalift.proof.export import exported
from alphalift.proof.statement import checkable
from alphalift.regions import After, Custom, simplest

GENERATOR = np.random.default_rng(2)
TABLE = GENERATOR.integers(1, 40, (4, 6)) * np.array([[5], [3], [2], [1]])
JOINT = Joint(TABLE.tolist(), counts=True)
# From perfect privacy to budgets beyond what certainty about a secret takes, where constraints are capped or idle.
BUDGETS = [0, 0.1, 1, 2.5, 40]


def after(region, *, missing=False):
    """The promise after two outputs that tell nothing of S alone, but something with X; or one that excludes a secret."""
    first, second = ([GENERATOR.permutation(row).tolist() for row in TABLE] for _ in range(2))
    if missing:
        second[3] = [0] * 6
    base = Joint(np.add(first, second).tolist(), counts=True)
    return After(region, base, tuple(tuple(map(tuple, block)) for block in (first, second)))


ALONE = {f"{name} {e}": family(e) for name, family in FAMILIES.items() for e in BUDGETS} | {
    "a user's own": Custom(
        "spread",
        0.2,
        lambda lifts, p_s: np.abs(lifts - 1) @ p_s / 2,
        lambda w, p_s: w @ p_s + 0.2 * np.ptp(w, axis=-1),
    ),
    "all idle": KL(9) & AlphaLift(2, 9) & TotalVariation(1),
    "idle and capped": TotalVariation(1.5) & MaxLift(9) & LIP(lower=0.2, upper=9),
    "perfect with others": MaxLift(0.2) & KL(0.1) & TotalVariation(0),
}
TOGETHER = {f"after, {name}": after(region) for name, region in ALONE.items() if "PML" not in name} | {
    f"after an output that excludes a secret, {region}": after(region, missing=True)
    for region in (AlphaLift(3, 1), MaxLift(1), TotalVariation(0.5), KL(1), AlphaLift(2, 9) & MaxLift(2))
}
REGIONS = ALONE | TOGETHER
DUALS, POINTS = 30, 400


class Solved:
    """A promise as the solver has it, with random multipliers of its constraints' moments and random posteriors of X."""

    def __init__(self, region):
        self.region, self.joint, generator = region, region.about(JOINT), np.random.default_rng(7)
        self.reduction = simplest(region)
        self.constraints = self.reduction.region.constraints(self.joint)
        self.body = ConvexSet.intersecting(self.constraints)
        sizes = [len(constraint.directions) for constraint in self.constraints]
        self.multipliers = [np.split(row, np.cumsum(sizes)[:-1]) for row in self._random(sum(sizes), generator)]
        for multipliers in self.multipliers:
            for constraint, own in zip(self.constraints, multipliers, strict=True):
                if constraint.kind == CALLED:  # of any sign, and not 0 where differences see a kink
                    own[:] = generator.normal(size=len(own))
                if constraint.kind == ENTROPY:  # elsewhere its sigma is infinite, or far from the least
                    own[:-1] = (own[-1] + 0.1) * (1 + generator.uniform(0, 0.1) * generator.normal(size=len(own) - 1))
                    own[-1] += 0.1
        far = generator.dirichlet(np.full(len(self.joint.p_x), 0.3), POINTS)
        share = generator.random((POINTS, 1)) ** 3
        self.points = np.concatenate([(1 - share) * self.joint.p_x + share * far, far, np.eye(len(self.joint.p_x))])
        self.posteriors = self.points @ self.joint.p_s_given_x.T

    @staticmethod
    def _random(size, generator):
        sparse = generator.exponential(size=(DUALS, size)) * (generator.random((DUALS, size)) < 0.6)
        return sparse * 10 ** generator.uniform(-2, 2, (DUALS, 1))

    @property
    def allowed(self):
        return allowed(self.posteriors / self.joint.p_s, self.region, self.joint.p_s)

    def of_kernels(self, multipliers):
        """w.m - sigma(w) M of every posterior: what a bound adds to the objective there; slacks at their best."""
        body, w = self.body, np.concatenate(multipliers)
        supports(body.constraints, w, sigma := np.empty(len(body.base_capacity)))
        slacks = np.minimum(0.0, body.slacks @ w) @ body.widths if len(body.widths) else 0.0
        moving = self.posteriors @ (body.capacities.T @ sigma) if len(body.capacities) else 0.0
        return self.posteriors @ (body.directions.T @ w) - body.base_capacity @ sigma - moving + slacks

    def inverted(self, multipliers):
        pairs = zip(self.constraints, multipliers, strict=True)
        return self.reduction.invert([constraint.invert(own) for constraint, own in pairs])


@pytest.mark.parametrize("region", REGIONS.values(), ids=REGIONS)
def test_an_inverted_dual_is_valid_and_at_least_as_good(region):
    solved = Solved(region)
    for multipliers in solved.multipliers:
        duals = solved.inverted(multipliers)
        w, sigma = region.inequality(duals, solved.joint.p_s)
        says = solved.posteriors @ w - sigma
        rounding = 1e-9 * max(1.0, *(np.abs(own).max() for own in multipliers))
        assert (says[solved.allowed] <= rounding).all()
        assert (says >= solved.of_kernels(multipliers) - rounding).all()


@pytest.mark.parametrize("name", [name for name in REGIONS if name.endswith("0.1")])
def test_some_of_these_duals_exclude_posteriors(name):
    """Or the test above would compare nothing."""
    solved = Solved(REGIONS[name])
    assert max(solved.of_kernels(multipliers).max() for multipliers in solved.multipliers) > 1e-3


@pytest.mark.parametrize("region", ALONE.values(), ids=ALONE)
def test_what_w_loses_at_the_prior_nu_loses(region):
    """nu - E w is what a bound has at the mean posterior, before sigma: no way back changes it."""
    solved = Solved(region)
    for multipliers in solved.multipliers:
        pairs = zip(solved.constraints, multipliers, strict=True)
        before = sum(own @ (constraint.directions @ solved.joint.p_s) for constraint, own in pairs)
        duals = solved.inverted(multipliers)
        now = sum(dual.w @ solved.joint.p_s + dual.shift for dual in duals)
        assert now == pytest.approx(before, abs=1e-12 * max(1.0, *(np.abs(dual.w).max() for dual in duals)))


@pytest.mark.parametrize("region", TOGETHER.values(), ids=TOGETHER)
def test_a_cone_takes_nothing_from_nu(region):
    solved = Solved(region)
    assert not any(dual.shift for multipliers in solved.multipliers for dual in solved.inverted(multipliers))


@pytest.mark.parametrize("region", REGIONS.values(), ids=REGIONS)
def test_every_component_has_the_entries_that_it_needs(region):
    solved = Solved(region)
    promise, outputs = (region.region, len(region.counts)) if isinstance(region, After) else (region, 1)
    found = [len(dual.extra) for dual in solved.inverted(solved.multipliers[0])]
    assert found == [component.extra for component in promise.components] * outputs


def test_kl_at_its_best_b_is_its_support_function():
    p_s, w = JOINT.p_s, np.array([[0.3, -1.0, 0.2, 0.9]])
    b = np.geomspace(1e-3, 1e3, 20_000)[:, None]
    bounds = KL(0.05).support_at(np.repeat(w, len(b), axis=0), p_s, b)
    assert bounds.min() == pytest.approx(KL(0.05).support(w, p_s)[0], rel=1e-6)
    assert LDP(0.3).support_at(w, p_s, np.empty((1, 0))) == LDP(0.3).support(w, p_s)


@pytest.mark.parametrize("name", [name for name in REGIONS if "own" not in name])
def test_the_checker_derives_the_same_bound_from_the_file(name):
    """Of a tree with one leaf, the unit box: its bound is nu - sigma + sum_x min(0, -c_x), c = u + nu - w P(S|X)."""
    region = REGIONS[name]
    solved, generator = Solved(region), np.random.default_rng(3)
    size, promise, blocks = len(solved.joint.p_x), checkable(region), region.blocks(solved.joint)
    p_x = solved.joint.p_x
    for multipliers in solved.multipliers[::3]:
        prices, nu = generator.normal(size=size), float(generator.normal())
        scale = max(1.0, *(np.abs(own).max() for own in multipliers))
        duals = solved.inverted(multipliers)
        w, sigma = region.inequality(duals, solved.joint.p_s)
        shifted = nu - sum(dual.shift for dual in duals)
        c = prices + shifted - w @ solved.joint.p_s_given_x
        expected = shifted - sigma + np.minimum(0.0, -c).sum()
        tree = one_leaf(prices, np.append(np.concatenate(multipliers), nu))
        proven = checker.optimum_bound(blocks, promise, exported(tree, region.about(JOINT), region))
        least = float(entropy(p_x) - prices @ p_x - float(proven.mid()))
        assert least == pytest.approx(expected, abs=1e-5 * scale)


def one_leaf(prices, dual):
    """A certificate whose only node is the unit box, with this dual."""
    none, box = np.zeros(1), np.zeros((1, len(prices)))
    whole = {"low": box, "high": box + 1, "symbol": none.astype(int), "split_at": none, "child": none.astype(int)}
    return Certificate(prices, -np.inf, **whole, dual=dual[None], trimmed_at=none, bound=none)
