"""What one would do without alphalift, beside it: the convex-concave procedure, and a global solver for the bound.

python benchmarks/alternatives.py        # about ten minutes; prints two tables
python benchmarks/alternatives.py 10     # at most 10 seconds for each instance of either

The convex-concave procedure (cvxpy with Clarabel) works on P_XY itself: mutual information is convex in it, so each
step maximises its tangent over all mechanisms that keep the promise. It ends in a local optimum and proves nothing.
A global solver (SCIP) gets the pricing problem at the prices where our search ended, and has to reach the same bound.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pyscipopt as scip

from alphalift import AlphaLift, Joint, Mechanism, MutualInformation, Optimal, Solution, design, read_joint
from alphalift.arrays import Array
from alphalift.data import adult
from alphalift.geometry.concave import Certificate, Search
from alphalift.paper import random_joints
from alphalift.solvers.search import concave_program
from where import where

MOST_STARTS = 50
LEAST_STEP = 1e-6
CCP_SECONDS = 30.0
SCIP_SECONDS = 45.0
# The tangent of p log p has no slope at zero, and an interior-point solver leaves about this much there.
FLOOR = 1e-9
RAREST_OUTPUT = 1e-6


@dataclass(frozen=True)
class Instance:
    """A joint by its name, and a promise."""

    name: str
    joint: Joint
    region: AlphaLift

    def __str__(self) -> str:
        return f"{self.name:24} {self.region.alpha:5g} {self.region.epsilon:7g}"

    @property
    def entropy(self) -> float:
        return MutualInformation().of_publishing_all(self.joint.p_x)


def uniform(seed: int, shape: tuple[int, int], region: AlphaLift) -> Instance:
    return Instance(f"{shape[0]}x{shape[1]} seed {seed}", random_joints(1, seed, shape)[0], region)


def small(epsilons: tuple[float, ...]) -> Iterator[Instance]:
    for seed in range(3):
        for alpha in (3, math.inf):
            for epsilon in epsilons:
                yield uniform(seed, (6, 10), AlphaLift(alpha, epsilon))


def large() -> Iterator[Instance]:
    for alpha in (3, math.inf):
        yield uniform(0, (6, 40), AlphaLift(alpha, 0.1))


def census() -> Iterator[Instance]:
    joint = read_joint(adult(), sensitive="race", useful="education")
    for alpha in (3, math.inf):
        yield Instance("census race x education", joint, AlphaLift(alpha, 0.1))


def timed_optimum(instance: Instance) -> tuple[Solution, float]:
    begin = time.perf_counter()
    solution = design(instance.joint, instance.region, solver=Optimal(threads=1))
    return solution, time.perf_counter() - begin


class ConvexConcave:
    """The convex-concave procedure with |Y| = |X|; `p_yx` is P_XY, one row an output."""

    def __init__(self, joint: Joint, region: AlphaLift) -> None:
        size = len(joint.p_x)
        self.joint, self.failures = joint, 0
        self.p_yx = cp.Variable((size, size), nonneg=True)
        self.slope = cp.Parameter((size, size))
        # P_Y(y) times the lift, and the promise as a norm that is at most P_Y(y) e^epsilon: a cone for every output.
        scaled_lifts = self.p_yx @ joint.lift.T
        weights = joint.p_s ** (1 / region.alpha)
        constraints = [cp.sum(self.p_yx, axis=0) == joint.p_x]
        for y in range(size):
            norm = _norm(cp.multiply(weights, scaled_lifts[y]), region.alpha)
            constraints.append(norm <= region.budget * cp.sum(self.p_yx[y]))
        self.problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(self.slope, self.p_yx))), constraints)

    def climb(self, p_yx: Array, deadline: float) -> Mechanism | None:
        """Steps from a start, which need not keep the promise, until they stop paying or the solver fails."""
        mechanism, utility, gain = None, 0.0, math.inf
        while gain > LEAST_STEP and time.perf_counter() < deadline:
            positive = np.maximum(p_yx, FLOOR)
            # The gradient of I(X;Y), up to a constant for each x, which the marginal makes irrelevant.
            self.slope.value = np.log(positive / positive.sum(axis=1, keepdims=True))
            try:
                self.problem.solve(solver=cp.CLARABEL)
            except cp.error.SolverError:
                self.failures += 1
                break
            p_yx = np.asarray(self.p_yx.value)
            mechanism = _tidied(self.joint, p_yx)
            gain = mechanism.normalized_utility() - utility
            utility += gain
        return mechanism

    def restart(self, seconds: float) -> list[Mechanism]:
        """A local optimum from each of several random mechanisms, as many as the seconds allow."""
        generator, deadline = np.random.default_rng(0), time.perf_counter() + seconds
        size, found = len(self.joint.p_x), list[Mechanism]()
        while len(found) < MOST_STARTS and time.perf_counter() < deadline:
            start = generator.dirichlet(np.ones(size), size).T * self.joint.p_x
            mechanism = self.climb(start, deadline)
            if mechanism is not None:
                found.append(mechanism)
        return found


def _norm(vector: cp.Expression, alpha: float) -> cp.Expression:
    """The alpha-norm; with power cones where it is finite, which is exact."""
    return cp.max(vector) if math.isinf(alpha) else cp.pnorm(vector, alpha, approx=False)


def _tidied(joint: Joint, p_yx: Array) -> Mechanism:
    """Without negative entries and without outputs so rare that they are only the solver's noise."""
    p_yx = np.maximum(p_yx, 0.0)
    p_yx = p_yx[p_yx.sum(axis=1) > RAREST_OUTPUT]
    return Mechanism(joint, p_yx / p_yx.sum(axis=0))


def compare_designs(instance: Instance, most_seconds: float) -> None:
    """One row: what the convex-concave procedure reaches, and what the certified optimum is."""
    solution, seconds = timed_optimum(instance)
    begin = time.perf_counter()
    procedure = ConvexConcave(instance.joint, instance.region)
    found = procedure.restart(most_seconds)
    ccp_seconds = time.perf_counter() - begin
    best = max(found, key=Mechanism.utility)
    excess = max(best.worst_value(instance.region) / instance.region.budget - 1, 0.0)
    utilities = [mechanism.normalized_utility() for mechanism in found]
    print(
        f"{instance}  {min(utilities):.5f} {max(utilities):.5f} {len(found):4} {procedure.failures:6} "
        f"{ccp_seconds:7.2f} {excess:8.0e}  "
        f"{solution.normalized_utility:.5f} {solution.upper_bound / instance.entropy:.5f} {seconds:7.2f}",
        flush=True,
    )


def pricing_model(instance: Instance, prices: Array) -> scip.Model:
    """min over allowed posteriors V of h(V) - u.V; V_x is kept off 0, where SCIP 10 crashes on the logarithm."""
    joint, region = instance.joint, instance.region
    model = scip.Model()
    model.hideOutput()
    v = [model.addVar(lb=1e-9, ub=1.0) for _ in joint.p_x]
    model.addCons(scip.quicksum(v) == 1)
    lifts = [model.addVar(lb=0.0) for _ in joint.p_s]
    for lift, row in zip(lifts, joint.lift.tolist(), strict=True):
        model.addCons(lift == scip.quicksum(a * b for a, b in zip(row, v, strict=True)))
    if math.isinf(region.alpha):
        for lift in lifts:
            model.addCons(lift <= region.budget)
    else:
        moments = (p * lift**region.alpha for p, lift in zip(joint.p_s.tolist(), lifts, strict=True))
        model.addCons(scip.quicksum(moments) <= region.budget**region.alpha)
    value = model.addVar(lb=None)
    model.addCons(scip.quicksum(-b * scip.log(b) - u * b for u, b in zip(prices.tolist(), v, strict=True)) <= value)
    model.setObjective(value, "minimize")
    return model


def compare_bounds(instance: Instance, most_seconds: float) -> None:
    """One row: the bound of the pricing problem by our search and by SCIP, which both stop at our threshold."""
    certificate = timed_optimum(instance)[0].certificate
    assert isinstance(certificate, Certificate)
    program = concave_program(instance.joint, instance.region, MutualInformation())
    begin = time.perf_counter()
    search = Search(program, certificate.prices, certificate.threshold)
    while not search.finished:
        search.grow(64)
    seconds = time.perf_counter() - begin

    model = pricing_model(instance, certificate.prices)
    model.setParam("limits/time", most_seconds)
    model.setParam("limits/dual", certificate.threshold)
    begin = time.perf_counter()
    model.optimize()
    scip_seconds = time.perf_counter() - begin
    print(
        f"{instance} {certificate.threshold / instance.entropy:9.6f}  {search.nodes:7} {seconds:7.3f}  "
        f"{model.getDualbound() / instance.entropy:9.6f} {model.getPrimalbound() / instance.entropy:9.6f} "
        f"{model.getNTotalNodes():7} {scip_seconds:7.2f}",
        flush=True,
    )


def main() -> None:
    print(where("cvxpy", "clarabel", "pyscipopt"))
    ccp_seconds, scip_seconds = [float(sys.argv[1])] * 2 if len(sys.argv) > 1 else (CCP_SECONDS, SCIP_SECONDS)
    # Compile or load the kernels outside of the clock, as any second call finds them.
    for alpha in (3, math.inf):
        timed_optimum(uniform(99, (3, 4), AlphaLift(alpha, 0.1)))

    print(
        f"\nUtility / H(X): convex-concave procedure, up to {MOST_STARTS} random starts in {ccp_seconds:g} s; Optimal; each on one core"
    )
    print(
        f"{'':24} {'':5} {'':7}  {'convex-concave procedure':^45}  {'Optimal':^23}\n"
        f"{'joint':24} {'alpha':>5} {'epsilon':>7}  {'worst':>7} {'best':>7} {'runs':>4} {'failed':>6} {'seconds':>7} {'promise+':>8}  "
        f"{'utility':>7} {'bound':>7} {'seconds':>7}"
    )
    for instance in (*small((0.1, 0.3)), *census(), *large()):
        compare_designs(instance, ccp_seconds)
    print(
        f"promise+: how far the best run exceeds e^epsilon, relative, without its outputs rarer than {RAREST_OUTPUT:g};"
    )
    print("Optimal keeps it to 1e-12; failed: runs that Clarabel ended with an error, before they converged")

    print(
        f"\nBound of the pricing problem / H(X), to reach `asked`: our search, which does; SCIP within {scip_seconds:g} s"
    )
    print(
        f"{'':24} {'':5} {'':7} {'':9}  {'alphalift':^15}  {'SCIP':^35}\n"
        f"{'joint':24} {'alpha':>5} {'epsilon':>7} {'asked':>9}  {'nodes':>7} {'seconds':>7}  "
        f"{'bound':>9} {'value':>9} {'nodes':>7} {'seconds':>7}"
    )
    for instance in (*small((0.1,)), *large()):
        compare_bounds(instance, scip_seconds)
    print("value: the objective of SCIP's best point; the minimum lies between it and the bound")


if __name__ == "__main__":
    main()
