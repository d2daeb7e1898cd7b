"""What every promise owes: designs that keep it, with a proof, between the baselines and the bound."""

import itertools
import math

import numpy as np
import pytest
from every import AVERAGES, BUDGETS
from every import FAMILIES as OF_EVERY_OUTPUT

from alphalift import Joint, Optimal, Status, design, load, to_document, to_json
from alphalift.compare import compare
from alphalift.proof import checker
from alphalift.regions import averages_of
from strategies import random_joint

FAMILIES = OF_EVERY_OUTPUT | AVERAGES
REGIONS = {f"{name} {budget}": family(budget) for name, family in FAMILIES.items() for budget in BUDGETS}
JOINTS = {
    "3 x 5": random_joint(7, (3, 5)),
    "zero cells": Joint([[5, 0, 1, 0], [0, 3, 0, 2], [1, 1, 1, 1]], counts=True),
    "two secrets": random_joint(3, (2, 6)),
    "equal columns": Joint([[1, 1, 2], [3, 3, 1], [2, 2, 2]], counts=True),
}
CELLS = [pytest.param(joint, region, id=f"{a}-{b}") for a, joint in JOINTS.items() for b, region in REGIONS.items()]


@pytest.mark.parametrize(("joint", "region"), CELLS)
def test_kept_proven_and_certified(joint, region, tmp_path):
    solution = design(joint, region)
    mechanism, about = solution.mechanism, region.about(joint)
    assert mechanism.check(region)
    np.testing.assert_allclose(mechanism.p_x_given_y @ mechanism.p_y, about.p_x, atol=1e-12)
    assert solution.status in (Status.OPTIMAL, Status.TRIVIAL)
    assert solution.relative_gap <= 1e-4
    document = to_document(solution)
    assert all(verdict.proven for verdict in checker.check(document)), checker.check(document)
    worth, most = (float(document["claims"][name]) for name in ("utility_at_least", "optimum_at_most"))
    assert worth <= most
    assert most <= solution.upper_bound + 1e-6, "the file proves what the solver found"
    path = tmp_path / "m.json"
    path.write_text(to_json(document))
    assert load(path).region.budget == pytest.approx(region.budget, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
def test_monotone_in_the_budget_down_to_perfect_privacy(joint, family):
    found = [design(joint, family(budget)) for budget in (0, *BUDGETS)]
    for smaller, larger in itertools.pairwise(found):
        assert smaller.utility <= larger.upper_bound + 1e-9
    about = found[0].joint
    assert found[0].utility == pytest.approx(design(about, FAMILIES["MaxLift"](0)).utility, abs=1e-6)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_at_least_as_good_as_every_baseline(family, budget):
    comparison = compare(JOINTS["3 x 5"], family(budget))  # raises if one exceeds the bound
    assert comparison.optimum.normalized_utility >= comparison.best_baseline.normalized_utility - 1e-4
    assert sum(bool(row.kept) for row in comparison.rows) >= (5 if averages_of(family(budget)) else 8)


@pytest.mark.parametrize("region", [REGIONS[f"{name} 0.1"] for name in FAMILIES], ids=FAMILIES)
def test_symmetries(region):
    table = np.random.default_rng(5).integers(1, 30, size=(3, 5))
    usual = design(Joint(table.tolist(), counts=True), region).utility
    generator = np.random.default_rng(3)
    shuffled = table[generator.permutation(3)][:, generator.permutation(5)]
    assert design(Joint(shuffled.tolist(), counts=True), region).utility == pytest.approx(usual, abs=3e-4)
    if "PML" not in repr(region):  # which is about X: halves of S mean nothing to it
        halves = np.vstack([2 * table[1:], table[:1], table[:1]])
        assert design(Joint(halves.tolist(), counts=True), region).utility == pytest.approx(usual, abs=3e-4)


def test_an_intersection_is_stricter_than_its_parts_and_can_be_stricter_than_both():
    joint, parts = random_joint(0), (FAMILIES["AlphaLift"](0.1), FAMILIES["MaxLift"](0.3))
    both = design(joint, parts[0] & parts[1])
    alone = [design(joint, part) for part in parts]
    assert all(both.mechanism.check(part) for part in parts)
    assert both.upper_bound < min(solution.utility for solution in alone)
    assert not any(solution.mechanism.check(parts[0] & parts[1]) for solution in alone)


def test_limits_and_interruptions_keep_the_promise():
    joint = random_joint(1)
    for name in FAMILIES:
        solution = design(joint, REGIONS[f"{name} 0.02"], solver=Optimal(node_limit=1, relative_gap=1e-9))
        assert solution.mechanism.check(solution.region)
        assert solution.integers is not None
        assert solution.utility <= solution.upper_bound < math.inf
