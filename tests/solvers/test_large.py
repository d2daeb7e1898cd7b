"""Many symbols: the run for large alphabets beside the search that small ones have, types merged and split, files proven."""

import itertools
import math

import numpy as np
import pytest

from alphalift import KL, LIP, AlphaLift, Joint, MaxLift, MutualInformation, Optimal, Status, design, to_document
from alphalift.clock import Clock
from alphalift.geometry.concave import MergedCertificate
from alphalift.presolve import Merged
from alphalift.proof import checker
from alphalift.show.words import what_a_file_proves
from alphalift.solvers.large import LargeRun
from alphalift.solvers.run import Settings
from alphalift.solvers.search import SearchRun
from strategies import random_joint

GAP = 5e-3
REGIONS = [AlphaLift(10, 0.2), AlphaLift(1.5, 0.02), MaxLift(0.2), LIP(0.3), KL(0.02)]


def solved(kind, joint, region, gap=GAP, **settings):
    warm = np.empty((0, len(joint.p_x)))
    return kind(Settings(gap, 60, **settings), joint, region, MutualInformation(), warm).solve()


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_both_runs_agree_within_their_gaps(region):
    joint = random_joint(3, (3, 12))
    large, small = solved(LargeRun, joint, region), solved(SearchRun, joint, region, 1e-4)
    assert large.status is Status.OPTIMAL
    assert large.relative_gap <= GAP
    assert large.mechanism.check(region)
    assert large.utility <= small.upper_bound
    assert small.utility <= large.upper_bound


@pytest.mark.parametrize("region", [AlphaLift(10, 0.3), MaxLift(0.3)], ids=str)
def test_many_symbols_are_closed_and_proven(region):
    joint = random_joint(5, (3, 70))
    solution = design(joint, region, solver=Optimal(relative_gap=0.02))
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.caps, "the search starts below caps"
    document = to_document(solution)
    assert all(verdict.proven for verdict in checker.check(document))
    assert float(document["claims"]["optimum_at_most"]) <= solution.upper_bound + 1e-6


def test_a_time_limit_leaves_a_mechanism_and_a_bound():
    joint = random_joint(6, (6, 90))
    solution = design(joint, AlphaLift(10, 0.1), solver=Optimal(relative_gap=1e-6, time_limit=1))
    assert solution.status is Status.TIME_LIMIT
    assert solution.mechanism.check(AlphaLift(10, 0.1))
    assert solution.normalized_utility > 0.2
    assert solution.relative_gap < 0.5


@pytest.mark.parametrize("joint", [random_joint(6, (6, 70)), random_joint(7, (4, 150))], ids=["6x70", "4x150"])
def test_no_time_at_all_still_leaves_more_than_the_mean(joint):
    solution = solved(LargeRun, joint, AlphaLift(10, 0.3), clock=Clock(1e-9))
    assert solution.status is Status.TIME_LIMIT
    assert solution.mechanism.check(AlphaLift(10, 0.3))
    assert solution.normalized_utility > 0.05


def test_a_tree_ends_where_its_memory_does(monkeypatch):
    monkeypatch.setattr("alphalift.effort.MOST_TREE_BYTES", 100_000)
    solution = solved(LargeRun, random_joint(4, (6, 12)), AlphaLift(3, 0.1), 1e-7)
    assert solution.status is Status.NODE_LIMIT
    assert solution.mechanism.check(AlphaLift(3, 0.1))


def test_thresholds_fall_step_by_step():
    """A coarse bound first, then finer ones, down to what was asked for: every one an objective below 0."""
    thresholds = []

    class Told(LargeRun):
        def new_search(self, prices, costs):
            thresholds.append(self.threshold / self.everything)
            return super().new_search(prices, costs)

    solution = solved(Told, random_joint(5, (4, 14)), MaxLift(0.1), 1e-3)
    assert solution.status is Status.OPTIMAL
    assert thresholds[0] == pytest.approx(-0.02)
    assert thresholds[-1] == pytest.approx(-0.9e-3)
    falls = np.array(thresholds[1:-1]) / np.array(thresholds[:-2])
    assert len(falls) >= 1
    assert falls == pytest.approx(0.45)


def test_a_file_has_the_coarser_tree_where_the_finer_is_too_large(monkeypatch):
    joint, region = random_joint(5, (3, 70)), AlphaLift(10, 0.2)
    solution = design(joint, region, solver=Optimal(relative_gap=2e-3))
    finest = solution.certificate
    coarser = finest.coarser
    assert coarser.leaves < finest.leaves
    assert coarser.threshold < finest.threshold
    whole = to_document(solution)
    assert what_a_file_proves(solution, whole["claims"]) == ""
    monkeypatch.setattr("alphalift.document._MOST_NUMBERS", 70 * coarser.leaves)
    small = to_document(solution)
    assert len(small["certificate"]["tree"]) < len(whole["certificate"]["tree"])
    assert float(small["claims"]["optimum_at_most"]) > float(whole["claims"]["optimum_at_most"])
    assert all(verdict.proven for verdict in checker.check(small))
    everything = MutualInformation().of_publishing_all(joint.p_x)
    gap = (float(small["claims"]["optimum_at_most"]) - float(small["claims"]["utility_at_least"])) / everything
    told = what_a_file_proves(solution, small["claims"])
    stated = float(told.removeprefix("The file proves a gap of at most ").partition("%")[0])
    assert gap <= stated / 100 < gap + 1e-3


@pytest.mark.parametrize("region", [AlphaLift(3, 0.1), MaxLift(0.1), KL(0.01), AlphaLift(2, 0)], ids=str)
def test_equal_columns_and_rows_cost_nothing(region):
    generator = np.random.default_rng(7)
    table = generator.integers(1, 30, (3, 5))
    wide = np.concatenate([table * k for k in (1, 2, 5)], axis=1)
    wide = np.vstack([2 * wide[1:], wide[:1], wide[:1]])  # and a secret in two halves
    joint, types = Joint(wide.tolist(), counts=True), Joint((8 * table).tolist(), counts=True)
    solution, smaller = design(joint, region), design(types, region)
    assert isinstance(solution.certificate, MergedCertificate)
    gain = Merged.of(joint).gain
    assert solution.utility == pytest.approx(smaller.utility + gain, abs=2e-4 * math.log(5))
    assert solution.upper_bound == pytest.approx(smaller.upper_bound + gain, abs=2e-4 * math.log(5))
    assert solution.mechanism.check(region)
    assert len(solution.mechanism.p_y) <= len(joint.p_x)
    assert all(verdict.proven for verdict in checker.check(to_document(solution)))


def test_the_file_of_types_ends_with_its_clock():
    """A clock that runs on with every look leaves time for a few leaves: the bound is weaker, and proven."""
    table = np.random.default_rng(3).integers(1, 30, (5, 8))
    joint = Joint(np.concatenate([table, 2 * table], axis=1).tolist(), counts=True)
    solution = design(joint, AlphaLift(10, 0.05))
    whole = to_document(solution)
    ticks = itertools.count()
    short = to_document(solution, clock=Clock(3, now=lambda: next(ticks)))
    assert len(short["certificate"]["proof"]["tree"]) < len(whole["certificate"]["proof"]["tree"])
    assert float(short["claims"]["optimum_at_most"]) > float(whole["claims"]["optimum_at_most"])
    assert all(verdict.proven for verdict in checker.check(short))
