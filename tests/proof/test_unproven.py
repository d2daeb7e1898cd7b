"""A promise or a utility that the checker does not know is designed for, and called unproven wherever it is shown."""

import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from alphalift import (
    Algorithm1,
    AlphaLift,
    InputError,
    Joint,
    MaxLift,
    Mechanism,
    Region,
    Robust,
    Status,
    Utility,
    Vertices,
    compare,
    describe,
    design,
    load,
    save,
    sweep,
    to_document,
)
from alphalift.baselines import BinaryMechanism, CompleteMerging, GreedyMerging, Staircase
from alphalift.compiled import CURVE, compile_once


@dataclass(frozen=True)
class LargestLift(Region):
    """A user's own promise, without anything for the checker."""

    most: float

    @property
    def budget(self):
        return self.most

    def value(self, lifts, p_s):
        return lifts.max(axis=-1)

    def support(self, directions, p_s):
        return self.most * np.maximum(directions, 0.0) @ p_s


def test_a_users_own_region_is_unproven_and_no_file_carries_it():
    joint = Joint([[4, 3, 1], [1, 3, 4]], counts=True)
    solution = design(joint, LargestLift(1.3), solver=CompleteMerging())
    assert solution.status is Status.UNPROVEN
    assert solution.integers is None
    assert "unproven" in describe(solution)
    assert "Not proven" in describe(solution)
    with pytest.raises(InputError, match="only a proven mechanism"):
        to_document(solution)


@dataclass(frozen=True)
class Gini(Utility):
    """A user's own utility, the mean sum of squares of the posterior's deviations: h(V) = sum v (1 - v)."""

    p_x: tuple[float, ...] = field(default=(), repr=False, compare=False)

    def on(self, joint):
        return replace(self, p_x=tuple(joint.p_x))

    def uncertainty(self, points):
        assert len(self.p_x) == points.shape[-1]  # whoever uses it has resolved it for the joint
        return (points * (1 - points)).sum(axis=-1)

    def compiled_curve(self):
        return compile_once(_gini, CURVE)


def _gini(v, order):
    return 1.0 - 2.0 * v if order == 1 else v * (1.0 - v)


@pytest.mark.parametrize("shape", [(3, 5), (2, 5)])
def test_a_users_own_utility_leaves_the_promise_proven_and_claims_no_more(shape, tmp_path):
    joint = Joint(np.random.default_rng(1).integers(1, 30, shape).tolist(), counts=True)
    solution = design(joint, AlphaLift(3, 0.05), utility=Gini())
    assert solution.status is Status.UNPROVEN_UTILITY
    assert solution.relative_gap < 2e-4
    assert solution.integers is not None
    told = describe(solution)
    assert "Status: unproven utility" in told
    assert "nats" not in told.split("Designed")[1].split("Whatever")[0]
    assert "(an estimate)" in told
    assert "Not proven: what the mechanism is worth" in told
    save(to_document(solution), tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["claims"] == {}
    stored = load(tmp_path / "m.json")
    assert [verdict.claim for verdict in stored.verdicts] == ["form", "promise", "unseen values"]
    assert stored.utility is None
    assert Mechanism(joint, solution.mechanism.p_y_given_x).utility(Gini()) == pytest.approx(solution.utility)


def test_what_may_be_published_is_trivial_whatever_it_is_worth():
    solution = design(Joint([[4, 3, 1], [1, 3, 4]], counts=True), AlphaLift(3, 5), utility=Gini())
    assert solution.status is Status.TRIVIAL
    assert to_document(solution)["utility"] is None


def test_every_baseline_and_solver_resolves_the_utility():
    joint, region = Joint(np.random.default_rng(2).integers(1, 30, (3, 4)).tolist(), counts=True), MaxLift(0.1)
    compared = compare(joint, region, utility=Gini())
    assert all(row.applies for row in compared.rows)
    assert compared.best.name == "optimum"
    assert compared.best.normalized_utility <= compared.normalized_bound
    for solver in (Vertices(), Algorithm1(), Staircase(), GreedyMerging(), BinaryMechanism()):
        (found,) = solver.solve(joint, [region], Gini())
        assert found.utility <= compared.solution.upper_bound + 1e-9
    (best,) = Vertices().solve(joint, [region], Gini())
    assert best.utility == pytest.approx(compared.solution.utility, abs=1e-4)


def test_designs_after_others_for_the_population_and_in_sweeps_know_it():
    joint = Joint(np.random.default_rng(3).integers(20, 90, (3, 4)).tolist(), counts=True)
    first = design(joint, MaxLift(0.1), utility=Gini())
    after = design(joint, MaxLift(0.2), utility=Gini(), after=[first])
    assert after.status is Status.UNPROVEN_UTILITY
    robust = design(joint, Robust(MaxLift(0.6)), utility=Gini())
    assert robust.status is Status.ROBUST
    assert 0 < robust.utility <= robust.upper_bound
    curve = sweep(joint, [MaxLift(0.05), MaxLift(0.1)], utility=Gini())
    assert curve.at(MaxLift(0.1)).utility == pytest.approx(first.utility, abs=1e-4)
