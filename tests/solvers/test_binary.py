"""Two secrets: the float bound is above the exact dual value at the same prices, and a run ends where floats do."""

import math
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from alphalift import LDP, PML, AlphaLift, Joint, MaxLift, MutualInformation, Optimal, Status, TotalVariation
from alphalift.geometry import mixture
from alphalift.geometry.concave import MergedCertificate
from alphalift.presolve import Merged
from alphalift.proof.ends import inner_ends
from alphalift.solvers import binary
from alphalift.solvers.binary import BinaryRun
from alphalift.solvers.run import Settings
from regions.every import FAMILIES


def exact_bound(joint, prices, ends):
    """H(X) - u.P_X - min of H(V) - u.V over all extreme V between the ends (theory.md, step 9), with 60 digits."""
    with mpmath.workdps(60):
        first = joint.s_weights[0]
        d = [Fraction(a * joint.total, first * (a + b)) - 1 for a, b in zip(*joint.weights, strict=True)]
        u = [mpmath.mpf(float(price)) for price in prices]
        p_x = [mpmath.mpf(weight) / joint.total for weight in joint.x_weights]
        low, high = map(Fraction, ends)
        values = [-u[x] for x in range(len(d)) if low <= d[x] <= high]
        for end in (low, high):
            for x in (x for x in range(len(d)) if d[x] < end):
                for y in (y for y in range(len(d)) if d[y] > end):
                    exact = (end - d[x]) / (d[y] - d[x])
                    share = mpmath.mpf(exact.numerator) / exact.denominator
                    rest = 1 - share
                    values.append(-share * (mpmath.log(share) + u[y]) - rest * (mpmath.log(rest) + u[x]))
        return sum(-p * (mpmath.log(p) + own) for p, own in zip(p_x, u, strict=True)) - min(values)


def solved(joint, region):
    return Optimal(threads=1).solve(joint, [region], MutualInformation())[0]


def assert_bounded(joint, region):
    """The lifts between the inner ends are allowed, so that the bound must be one for all of them; and it is near."""
    solution = solved(joint, region)
    if solution.certificate is None:
        return False
    certificate, gain = solution.certificate, 0.0
    if isinstance(certificate, MergedCertificate):
        merged, certificate = Merged.of(joint), certificate.proof
        joint, gain = merged.joint, merged.gain
    prices, size = certificate.prices, np.abs(certificate.prices)
    above = solution.upper_bound - gain - exact_bound(joint, prices, inner_ends(joint, region, region))
    assert 0 < above < 1e-11 * (1 + size @ joint.p_x) + 1e-14 * size.max()
    return True


COUNTS = {
    "plain": lambda rng, size: rng.integers(0, 60, (2, size)),
    "nearly independent": lambda rng, size: 10**5 + rng.integers(0, 9, (2, size)),
    "rare secret": lambda rng, size: rng.integers(0, 9, (2, size)) * np.array([[1], [10**8]]),
}


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_bound_holds_for_every_allowed_posterior(family, counts):
    bounded = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table = COUNTS[counts](rng, int(rng.integers(3, 7)))
        table[:, 0] += 1
        table[0, table.sum(axis=0) == 0] += 1
        largest = -6 if counts == "nearly independent" else 0
        region = FAMILIES[family](10 ** rng.uniform(-15, largest))
        region = MaxLift(region.epsilon) if isinstance(region, PML) else region
        bounded += assert_bounded(Joint(table[:: rng.choice([1, -1])].tolist(), counts=True), region)
    assert bounded >= 1


def test_the_bound_holds_where_prices_are_huge():
    """A price of 1e8, whose rounding is 1e-8: more than the bound's other margins."""
    joint, region = Joint([[1, 4 * 10**9, 10**9], [2, 4, 8]], counts=True), LDP(1.8775027474612275e-07)
    assert np.abs(solved(joint, region).certificate.prices).max() > 1e7
    assert assert_bounded(joint, region)


def test_a_run_ends_where_the_linear_program_takes_no_more_columns():
    """Its tolerances are wider than what is left to gain: the same prices came back until the time limit."""
    seen = []
    joint, region = Joint([[1, 200000], [1, 2 * 10**9]], counts=True), TotalVariation(4.79889819320617e-13)
    solver = Optimal(1e-15, time_limit=math.inf, progress=lambda now: seen.append(now) if len(seen) < 9 else 1 / 0)
    (solution,) = solver.solve(joint, [region], MutualInformation())
    assert solution.status is Status.FEASIBLE


def large(size, seed=0):
    counts = np.random.default_rng(seed).integers(1, 10**6, (2, size))
    return Joint(counts.tolist(), counts=True)


def closed(joint, region, **settings):
    """A run that has come to its end, and its status."""
    run = BinaryRun(Settings(**settings), joint, region, MutualInformation(), np.empty((0, len(joint.p_x))))
    return run, run._close_gap()


def assert_mixes(run):
    """The weights are a mechanism's: they mix the points back to P_X, and no point leaves the allowed interval."""
    weights, points = run.mixture.exact_weights(run.joint.p_x), run.mixture.stored_points
    np.testing.assert_allclose(points.T @ weights, run.joint.p_x, rtol=1e-9)
    low, high = run.inside.ends
    lifts = points @ run.joint.lift_deviation[0]
    assert low - 1e-14 <= lifts.min() <= lifts.max() <= high + 1e-14


@pytest.mark.parametrize("region", [MaxLift(0.1), AlphaLift(10, 0.3)])
def test_clusters_end_at_the_optimum_of_all_symbols(region, monkeypatch):
    joint = large(400)
    whole, _ = closed(joint, region, relative_gap=1e-9)
    monkeypatch.setattr(binary, "_NO_CLUSTERS", 10)
    monkeypatch.setattr(binary, "_FIRST_CLUSTERS", 20)
    run, status = closed(joint, region, relative_gap=1e-9)
    assert status is Status.OPTIMAL
    assert run.mixture.value == pytest.approx(whole.mixture.value, abs=1e-8)
    assert_mixes(run)
    coarse, status = closed(joint, region, relative_gap=3e-3)
    assert status is Status.OPTIMAL
    assert coarse.level.clusters.count < 100
    assert_mixes(coarse)
    assert coarse.upper_bound >= whole.before - whole.mixture.value


def test_equal_deviations_are_one_symbol(monkeypatch):
    """Copies of symbols with any mass: the value is that of the symbols, and few outputs are added."""
    counts, copies = np.random.default_rng(1).integers(1, 50, (2, 12)), np.random.default_rng(2).integers(1, 9, 12)
    many = np.concatenate([np.outer(counts[:, x], np.arange(1, copies[x] + 1)) for x in range(12)], axis=1)
    merged = counts * (copies * (copies + 1) // 2)
    few, _ = closed(Joint(merged.tolist(), counts=True), MaxLift(0.05), relative_gap=1e-9)
    monkeypatch.setattr(binary, "_NO_CLUSTERS", 10)
    run, status = closed(Joint(many.tolist(), counts=True), MaxLift(0.05), relative_gap=1e-9)
    assert status is Status.OPTIMAL
    assert run.level.clusters.finest
    assert run.mixture.value == pytest.approx(few.mixture.value, abs=1e-8)
    assert len(run.mixture.weights) <= many.shape[1] + 12
    assert_mixes(run)


def test_nothing_is_as_large_as_all_pairs():
    """20,000 symbols have 1e8 pairs at each end; what is allocated stays below one number for each hundredth of them."""
    joint, region = large(20_000), MaxLift(0.1)
    joint.lift_deviation, joint.p_x, joint.lift  # noqa: B018 - cached, and not the run's
    closed(large(50), region)  # compiles
    tracemalloc.start()
    try:
        run, status = closed(joint, region, relative_gap=1e-5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert status is Status.OPTIMAL
    assert peak < 8 * 20_000**2 / 10
    assert_mixes(run)


@pytest.mark.parametrize("size", [40, 2000])
def test_a_linear_program_that_always_fails_ends_a_run_and_not_the_answer(size, monkeypatch):
    monkeypatch.setattr(mixture.highspy.Highs, "getModelStatus", lambda _: mixture.highspy.HighsModelStatus.kUnknown)
    run, status = closed(large(size), MaxLift(0.1), time_limit=3)
    assert status in (Status.FEASIBLE, Status.TIME_LIMIT)
    assert run.upper_bound >= run.before - run.mixture.value
    assert_mixes(run)
