"""Bounds on what is leaked about a population: coverage by simulation with a known truth, ends by brute force."""

import warnings

import numpy as np
import pytest
from scipy.stats import beta

from alphalift import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    ChiSquare,
    Joint,
    MaxLift,
    Mechanism,
    Optimal,
    TotalVariation,
    design,
)
from alphalift.errors import InputError, SettingError
from alphalift.population import leakage_bound
from alphalift.population.betting import lower_mean, upper_mean
from alphalift.population.posterior import drawn
from alphalift.population.worst import worst_values

PROMISES = {
    "MaxLift": MaxLift(0.3),
    "AlphaLift": AlphaLift(3, 0.1),
    "KL": KL(0.05),
    "LDP": LDP(0.5),
    "LIP": LIP(0.3),
    "TotalVariation": TotalVariation(0.1),
    "ChiSquare": ChiSquare(0.3),
    "both": KL(0.05) & MaxLift(0.5),
}
TRUTH = np.random.default_rng(1).dirichlet(np.full(15, 2.0)).reshape(3, 5)
QUICK = Optimal(relative_gap=5e-3, keep_certificate=False)


def counted(n, seed, truth=TRUTH):
    return Joint(np.random.default_rng(seed).multinomial(n, truth.ravel()).reshape(truth.shape), counts=True)


def leaked(mechanism, promise, truth=TRUTH):
    return Mechanism(Joint(truth), mechanism.p_y_given_x).worst_value(promise)


@pytest.mark.parametrize("method", ["calibrated", "rigorous"])
@pytest.mark.parametrize("name", PROMISES)
def test_fresh_records_bound_what_is_leaked(name, method):
    """40 draws of 2,000 records; a bound at 90% that failed in nine of them would be wrong (probability 1% if it held)."""
    promise, failed = PROMISES[name], 0
    mechanism = design(counted(2000, 0), promise, solver=QUICK).mechanism
    truth = leaked(mechanism, promise)
    for seed in range(1, 41):
        found = leakage_bound(mechanism, counted(2000, seed), promise, confidence=0.9, method=method)
        failed += found.value < truth
    assert failed <= 8
    assert found.fresh


@pytest.mark.parametrize("name", ["MaxLift", "AlphaLift", "LDP", "KL"])
def test_the_records_of_the_design_bound_it_too(name):
    """Where the plain promise fails nearly always, the bound holds nearly always."""
    promise, failed, broken = PROMISES[name], 0, 0
    for seed in range(30):
        joint = counted(1000, seed)
        mechanism = design(joint, promise, solver=QUICK).mechanism
        truth = leaked(mechanism, promise)
        found = leakage_bound(mechanism, joint, promise, confidence=0.9)
        assert not found.fresh
        failed += found.value < truth
        broken += truth > promise.budget
    assert failed <= 7
    assert broken >= 20


def test_more_records_bound_more_tightly():
    """The same shares of 1,000, ten and a thousand times as many records."""
    promise = MaxLift(0.3)
    mechanism = design(counted(2000, 0), promise).mechanism
    records = [Joint((times * np.rint(1000 * TRUTH)).astype(int), counts=True) for times in (1, 10, 1000)]
    for method in ("calibrated", "rigorous"):
        values = [leakage_bound(mechanism, own, promise, method=method).value for own in records]
        assert values[0] > values[1] > values[2]
        assert values[2] == pytest.approx(leaked(mechanism, promise), rel=0.03)


@pytest.mark.parametrize("method", ["calibrated", "rigorous"])
@pytest.mark.parametrize("name", PROMISES)
def test_an_output_that_no_record_can_have_is_not_bounded(name, method):
    """Fresh records without the one value that an output is for tell nothing of what that output tells."""
    known = Joint(np.array([[30, 20, 2], [20, 30, 3], [25, 25, 1]]), counts=True)
    mechanism = Mechanism(known, np.array([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]]))
    fresh = Joint(np.array(known.weights)[:, :2], x_labels=known.x_labels[:2], counts=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = leakage_bound(mechanism, fresh, PROMISES[name], method=method)
    assert found.value == np.inf
    assert not found.kept
    assert found.output == mechanism.y_labels[2]


def test_two_values_are_clopper_and_pearsons_interval():
    """P(y|x) = 1 at one of two values: P(y|s) has the upper end of an exact binomial interval."""
    law, counts = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, 17.0]])
    ends = np.concatenate([own.high[:, 0, 0] for own in drawn(counts, law, 20000, np.random.default_rng(0))])
    exact = np.concatenate([own.exact[:, 0, 0] for own in drawn(counts, law, 20000, np.random.default_rng(0))])
    means = ends / exact
    assert np.quantile(means, 0.95) == pytest.approx(beta.ppf(0.95, 4, 17), rel=0.02)
    assert (ends >= means).all()  # a lift, whose mean is at most 1 here


def test_bets_cover_a_rare_event_exactly_often_enough():
    """Of 30 records with a mean of 2%, where a normal interval fails half of the time."""
    generator, values = np.random.default_rng(0), np.array([[1.0, 0.0]])
    hits = generator.binomial(30, 0.02, 2000)
    counts = np.stack([hits, 30 - hits], axis=1).astype(float)
    variance = np.full(1, 0.02)
    above = np.array([upper_mean(values, row, 0.05, variance)[0] for row in counts])
    below = np.array([lower_mean(values, row, 0.05, variance)[0] for row in counts])
    assert (above < 0.02).mean() <= 0.06
    assert (below > 0.02).mean() <= 0.06
    assert above.max() < 0.6


def test_the_largest_value_between_ends_by_brute_force():
    generator, p_s = np.random.default_rng(3), np.array([0.2, 0.5, 0.3])
    low = generator.uniform(0.3, 0.9, (20, 3))
    high = generator.uniform(0.95, 2.0, (20, 3))
    for promise in PROMISES.values():
        found = worst_values(promise, low, high, p_s)
        by_row = worst_values(promise, low, high, np.tile(p_s, (len(low), 1)))
        np.testing.assert_allclose(by_row, found, rtol=1e-12)
        for _ in range(200):
            lifts = generator.uniform(low, high)
            lifts /= (lifts @ p_s)[:, None]
            inside = ((lifts >= low) & (lifts <= high)).all(axis=1)
            assert (promise.value(lifts, p_s) <= found + 1e-12)[inside].all()


def test_about_x_only_its_distribution_is_uncertain():
    joint = counted(3000, 2)
    mechanism = design(joint, PML(0.5)).mechanism
    found = leakage_bound(Mechanism(joint, mechanism.p_y_given_x), counted(3000, 3), PML(0.5))
    assert 0.5 <= found.epsilon < 0.7


def test_what_cannot_be_bounded_is_refused():
    joint, promise = counted(500, 0), MaxLift(0.3)
    mechanism = design(joint, promise).mechanism
    with pytest.raises(InputError, match="has not seen"):
        leakage_bound(mechanism, joint, promise, method="rigorous")
    with pytest.raises(InputError, match="probabilities"):
        leakage_bound(mechanism, Joint(TRUTH), promise)
    with pytest.raises(SettingError, match="everybody"):
        leakage_bound(mechanism, joint, promise, confidence=1.0)
    with pytest.raises(SettingError, match="expected 'calibrated'"):
        leakage_bound(mechanism, joint, promise, method="exact")
    other = Joint([[1, 2], [3, 4]], x_labels=["x1", "new"], counts=True)
    with pytest.raises(InputError, match="1 of the records' values"):
        leakage_bound(mechanism, other, promise)
