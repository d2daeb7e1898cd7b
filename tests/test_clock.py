"""The clock, and what a design leaves out when its time is up or somebody presses Ctrl-C: never the promise."""

import math
import sys

import numpy as np
import pytest

from alphalift import AlphaLift, Joint, MaxLift, Optimal, Status, design, to_document
from alphalift.clock import Clock
from alphalift.proof import checker, rounding
from alphalift.proof.export import shortened
from alphalift.proof.prove import prove
from alphalift.proof.statement import checkable
from alphalift.regions import perfect_privacy
from alphalift.solvers.candidates import neighbours, pull_inside
from alphalift.utilities import MutualInformation
from strategies import random_joint


def test_a_clock_that_is_ended_ends_all_that_share_it():
    for whole in (Clock(10.0), Clock()):
        phase = whole.reserving(1.0)
        assert not phase.over
        whole.end()
        assert whole.over
        assert phase.over
        assert whole.left == phase.left == 0.0


class Hand:
    """A clock's hand that is moved by hand, or by every look at it."""

    def __init__(self, step=0.0):
        self.time, self.step = 100.0, step

    def __call__(self):
        self.time += self.step
        return self.time


def test_a_clock_runs_stands_still_and_ends():
    hand = Hand()
    clock = Clock(10, hand)
    early = clock.reserving(4)
    hand.time += 5
    assert (clock.elapsed, clock.left, clock.over) == (5, 5, False)
    assert (early.left, early.over) == (1, False)
    with early.stopped():
        hand.time += 100
    assert (clock.left, early.left) == (5, 1), "both stood still"
    hand.time += 3
    assert (clock.left, early.left, early.over) == (2, 0, True)
    hand.time += 3
    assert (clock.left, clock.over) == (0, True)
    assert Clock(0, hand).over
    assert Clock().left == Clock().reserving(3).left == Clock().reserving(math.inf).left == math.inf


def equal_columns(secrets=6, symbols=248, kinds=9):
    """Many symbols of few kinds: the null space has hundreds of dimensions."""
    generator = np.random.default_rng(7)
    counts = generator.integers(1, 40, (secrets, kinds))
    counts[0] = counts[1]  # and two secrets that are one
    return Joint(counts[:, generator.integers(0, kinds, symbols)], counts=True)


def test_a_point_with_hundreds_of_symbols_is_taken_apart_in_as_many_pieces():
    joint, region = equal_columns(), perfect_privacy()
    pieces = pull_inside(joint.p_x[None], joint, region)
    assert 0 < len(pieces) <= len(joint.p_x)
    np.testing.assert_allclose(pieces.sum(axis=1), 1, atol=1e-12)
    assert (pieces >= 0).all()
    assert np.abs(pieces @ joint.lift_deviation.T).max() < 1e-12
    system = np.vstack([joint.lift_deviation, np.ones(len(joint.p_x))])
    for piece in pieces:
        support = piece > 0
        assert np.linalg.matrix_rank(system[:, support], tol=1e-9) == support.sum(), "it is extreme"
    weights, *_ = np.linalg.lstsq(pieces.T, joint.p_x)
    np.testing.assert_allclose(pieces.T @ weights, joint.p_x, atol=1e-9, err_msg="nothing of the point is lost")


def test_perfect_privacy_keeps_much_of_many_equal_columns_from_the_start():
    """Column generation stalled where all starts were P_X: its first columns cannot mix to it."""
    joint = equal_columns()
    solution = design(
        joint, perfect_privacy(), solver=Optimal(node_limit=1, time_limit=math.inf, clock=Clock(1, Hand()))
    )
    assert solution.normalized_utility > 0.5
    assert solution.mechanism.check(perfect_privacy())


@pytest.mark.parametrize("region", [perfect_privacy(), MaxLift(0.01)])
def test_repairs_end_with_the_clock(region):
    joint = equal_columns(symbols=60)
    outside = np.tile(joint.p_x, (50, 1))
    if not region.perfect:
        outside = 0.5 * outside + 0.5 * np.eye(60)[:50]
    hand = Hand(step=1.0)
    pull_inside(outside, joint, region, Clock(20, hand))
    assert hand.time < 100 + 30
    assert not len(pull_inside(outside, joint, region, Clock(0)))


def test_neighbours_fit_into_memory():
    points = np.full((700, 400), 1 / 400)
    found = neighbours(points)
    assert found.nbytes <= 1 << 27
    assert len(found) % 400 == 0
    assert len(neighbours(points[:3])) == 3 * 400
    assert neighbours(points[:0]).shape == (0, 400)


def broken_at_first(monkeypatch, wanted):
    """Rounding that the checker refuses so many times."""
    shares = []

    def refuse(blocks, weights, promise):
        shares.append(len(weights))
        return list(range(len(weights))) if len(shares) <= wanted else []

    monkeypatch.setattr(rounding.checker, "broken_outputs", refuse)
    return shares


@pytest.mark.parametrize(("clock", "most"), [(Clock(0), 6), (Clock(), 60)])
def test_rounding_tries_fewer_times_when_time_is_up(monkeypatch, clock, most):
    (solution,) = Optimal(node_limit=10).solve(random_joint(0, (3, 5)), [MaxLift(0.1)], MutualInformation())
    tries = broken_at_first(monkeypatch, math.inf)
    proven = prove(solution, clock=clock)
    assert len(proven.integers.weights) == 1, "one output for everything is the last resort"
    assert most / 2 < len(tries) <= most


JOINT, REGION = random_joint(0, (4, 8)), AlphaLift(10, 0.01)


def interrupt_once(monkeypatch, module, name):
    """Ctrl-C at the first call of a function."""
    original, calls = getattr(module, name), []

    def interrupted(*arguments, **named):
        calls.append(name)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return original(*arguments, **named)

    monkeypatch.setattr(module, name, interrupted)
    return calls


def test_interrupting_the_proof_returns_the_best_so_far_proven(monkeypatch):
    calls = interrupt_once(monkeypatch, rounding.checker, "broken_outputs")
    solution = design(JOINT, REGION, solver=Optimal(relative_gap=0.1))
    assert len(calls) > 1
    assert solution.status is Status.INTERRUPTED
    assert solution.utility > 0
    assert not checker.broken_outputs(REGION.blocks(JOINT), solution.integers.weights, checkable(REGION))


DESIGN = sys.modules["alphalift.design"]  # whose name in the package is the function's
POOR = Optimal(node_limit=1, relative_gap=1e-9)  # its gap makes perfect privacy worth a look


def watched_fallback(monkeypatch, ends_with=None):
    """The time limits of the solvers that look for perfect privacy."""
    original, limits = DESIGN._PERFECT_SOLVER, []

    class Watched(Optimal):
        def solve(self, joint, regions, utility, **named):
            limits.append(self.time_limit)
            if ends_with is not None:
                raise ends_with
            return super().solve(joint, regions, utility, **named)

    monkeypatch.setattr(DESIGN, "_PERFECT_SOLVER", Watched(relative_gap=original.relative_gap))
    return limits


def test_interrupting_the_fallback_returns_the_best_so_far(monkeypatch):
    limits = watched_fallback(monkeypatch, KeyboardInterrupt)
    solution = design(JOINT, REGION, solver=POOR)
    assert len(limits) == 1
    assert solution.status is Status.INTERRUPTED
    assert solution.integers is not None
    assert solution.utility > 0


def test_after_ctrl_c_nothing_else_is_started(monkeypatch):
    def interrupt(progress):
        raise KeyboardInterrupt

    limits = watched_fallback(monkeypatch)
    solution = design(JOINT, REGION, solver=Optimal(node_limit=1, relative_gap=1e-9, progress=interrupt))
    assert solution.status is Status.INTERRUPTED
    assert solution.relative_gap > DESIGN._LARGE_GAP
    assert limits == []


@pytest.mark.parametrize(("seconds", "given"), [(1e-6, 1.0), (5.0, 5.0), (1000.0, 10.0)])
def test_the_fallback_gets_what_is_left_of_the_time(monkeypatch, seconds, given):
    limits = watched_fallback(monkeypatch)
    solver = Optimal(node_limit=1, relative_gap=1e-9, time_limit=seconds, clock=Clock(seconds, Hand()))
    assert design(JOINT, REGION, solver=solver).relative_gap > DESIGN._LARGE_GAP
    assert limits == [given]


def test_the_search_leaves_time_for_the_proof(monkeypatch):
    ends = []
    monkeypatch.setattr(DESIGN, "proof_seconds", lambda joint: 7.0)
    monkeypatch.setattr(DESIGN, "_solved", lambda joint, promise, solver, utility: ends.append(solver.clock.seconds))
    for seconds in (30.0, 8.0, math.inf):
        with pytest.raises(TypeError):  # there is no solution to go on with
            design(JOINT, REGION, solver=Optimal(time_limit=seconds, clock=Clock(seconds, Hand())))
    assert ends == [23.0, 4.0, math.inf]


def test_a_certificate_is_shortened_to_what_there_is_time_for():
    solution = design(random_joint(0), AlphaLift(10, 0.01), solver=Optimal(relative_gap=1e-3))
    whole = to_document(solution)
    assert solution.certificate.leaves > 200
    for clock, fewer in ((Clock(1e9), False), (Clock(0), True), (Clock(400, Hand(step=1.0)), False)):
        document = to_document(solution, clock=clock)
        assert (len(document["certificate"]["tree"]) < len(whole["certificate"]["tree"])) is fewer
        assert all(verdict.proven for verdict in checker.check(document))
        assert document["claims"]["utility_at_least"] == whole["claims"]["utility_at_least"]
        worse = float(document["claims"]["optimum_at_most"]) > float(whole["claims"]["optimum_at_most"])
        assert worse is fewer


@pytest.mark.parametrize("leaves", [1, 2, 17, 10_000])
def test_a_shortened_tree_is_a_tree_with_the_worst_nodes_split_first(leaves):
    whole = design(random_joint(0), AlphaLift(10, 0.01), solver=Optimal(relative_gap=1e-3)).certificate
    short = shortened(whole, leaves)
    assert short.leaves <= max(leaves, 1)
    inner = np.flatnonzero(short.child)
    assert sorted([*short.child[inner], *short.child[inner] + 1]) == list(range(1, len(short.child)))
    bounds = [shortened(whole, n).bound[shortened(whole, n).child == 0].min() for n in (1, leaves, 10_000)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == whole.bound[whole.child == 0].min()
