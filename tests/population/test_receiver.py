"""What released records say about X: intervals that cover, and what cannot be told is said."""

import numpy as np
import pytest
from scipy.stats import binom

from alphalift import Joint, MaxLift, Mechanism, design
from alphalift.errors import InputError, SettingError
from alphalift.population import Estimate, estimate
from alphalift.population.bounded import Found, intervals

P_X = np.array([0.05, 0.4, 0.3, 0.15, 0.1])
TABLE = np.array([[5, 40, 10, 30, 15], [10, 20, 40, 20, 10], [3, 30, 30, 7, 30]])
JOINT = Joint(TABLE, counts=True)
SCORES = np.array([1.0, 2.0, 3.0, 5.0, 9.0])


def mechanism():
    """Randomised response with a further output: all values are told apart, by six outputs."""
    law = 0.4 * np.eye(5) + 0.08
    law = np.vstack([0.8 * law, np.array([0.1, 0.2, 0.2, 0.2, 0.3])])
    return Mechanism(JOINT, law / law.sum(axis=0))


def test_intervals_cover_as_often_as_they_say():
    """250 releases of 3,000 records: 95% for a mean, a group and a rare value; without the noise, hardly ever."""
    own, generator = mechanism(), np.random.default_rng(0)
    scores = np.array([SCORES, [0, 0, 1, 1, 0], [1, 0, 0, 0, 0]])
    covered, naive = np.zeros(3), 0
    for _ in range(250):
        counts = generator.multinomial(3000, own.p_y_given_x @ P_X)
        for i, interval in enumerate(estimate(counts, own).of_all(scores)):
            covered[i] += interval.low <= scores[i] @ P_X <= interval.high
        shares = counts[:5] / counts[:5].sum()  # who takes outputs for values
        error = 1.96 * np.sqrt((SCORES**2 @ shares - (SCORES @ shares) ** 2) / counts[:5].sum())
        naive += abs(SCORES @ shares - SCORES @ P_X) <= error
    assert (abs(covered / 250 - 0.95) <= 0.03).all(), covered
    assert naive < 75


def test_values_with_the_same_answers_are_not_told_apart():
    law = np.array([[0.9, 0.9, 0.1, 0.2, 0.5], [0.1, 0.1, 0.9, 0.8, 0.5]])
    found = estimate([600, 400], Mechanism(JOINT, law))
    assert not found.of(np.eye(5)[0]).told
    together = Mechanism(
        JOINT,
        np.vstack(
            [0.5 * np.eye(5)[[0]] + 0.5 * np.eye(5)[[1]], np.eye(5)[2:], 0.5 * np.eye(5)[[0]] + 0.5 * np.eye(5)[[1]]]
        ),
    )
    counts = np.random.default_rng(0).multinomial(10_000, together.p_y_given_x @ P_X)
    apart = estimate(counts, together)
    assert apart.not_told_apart == (("x0", "x1"),)
    both = apart.of([1, 1, 0, 0, 0])
    assert both.told
    assert both.low <= 0.45 <= both.high
    one = apart.of([1, 0, 0, 0, 0])
    assert not one.told
    assert one.low == pytest.approx(0, abs=1e-9)
    assert both.estimate < one.high == pytest.approx(both.high, abs=0.01), "the range has room for chance, too"
    frame = apart.to_frame()
    assert frame["told"].tolist() == [False, False, True, True, True]
    assert frame["share"].sum() == pytest.approx(1)


def nearly_singular():
    """Two pairs of values with nearly the same answers; the last is told apart from the others."""
    law = np.array([[0.7, 0.6997, 0.25, 0.2503, 0.15], [0.2, 0.2003, 0.65, 0.6497, 0.15], [0.1, 0.1, 0.1, 0.1, 0.7]])
    law = np.vstack([law[:2] / 2, law[:2] / 2, law[2:]])
    law[[2, 3], [1, 3]] += 1e-4
    law[4, [1, 3]] -= 1e-4
    return Mechanism(JOINT, law)


def misses(own, law, releases, rounding=None):
    """How often intervals, and ranges, of every value miss; and how many of them are ranges."""
    generator, p_y = np.random.default_rng(2), own.p_y_given_x @ P_X
    missed, ranges = np.zeros((releases, 5), dtype=bool), np.zeros(5)
    for i in range(releases):
        found = Estimate(JOINT.x_labels, law, generator.multinomial(4000, p_y).astype(float), 0.95, rounding)
        missed[i] = [not one.low <= p <= one.high for one, p in zip(found.shares, P_X, strict=True)]
        ranges += [not one.told for one in found.shares]
    return missed, ranges


def test_what_the_outputs_hardly_tell_apart_has_a_range_that_holds():
    """Intervals of the inverse would miss for several values at once, cut off to nothing; ranges hold, and say something."""
    own = nearly_singular()
    missed, ranges = misses(own, own.p_y_given_x, 30)
    assert (ranges[:4] == 30).all(), ranges
    assert ranges[4] == 0
    assert missed[:, :4].any(axis=1).sum() <= 2, "95% for all of them together"
    assert missed[:, 4].sum() <= 4
    found = estimate(4000 * own.p_y_given_x @ P_X, own)
    assert found.not_told_apart == (), "more records would tell them apart"
    assert found.shares[0].high < 0.6, "no more than the records with one of their outputs"


def test_digits_of_a_codebook_are_counted_as_chance():
    """P(y|x) in two digits has equal columns where the mechanism has not: what is then left open holds the truth."""
    own = nearly_singular()
    law = np.round(own.p_y_given_x, 2)
    law[-1] += 1 - law.sum(axis=0)
    missed, _ = misses(own, law, 30, np.full(law.shape, 0.01**2 / 4))
    assert (missed.sum(axis=0) <= 4).all()


def test_digits_of_a_codebook_make_intervals_longer():
    """By what errors of half a step, up or down, add to the variance: simulated."""
    own, generator, half = mechanism(), np.random.default_rng(4), 0.02
    counts, law = 4000 * own.p_y_given_x @ P_X, own.p_y_given_x
    plain, wider = (
        Estimate(JOINT.x_labels, law, counts, 0.95, rounding).shares[1]
        for rounding in (None, half**2 * (np.arange(6)[:, None] != law.argmax(axis=0)))
    )
    found = []
    for _ in range(300):
        told = law + half * generator.choice([-1, 1], law.shape)
        told[law.argmax(axis=0), range(5)] += 1 - told.sum(axis=0)
        drawn = generator.multinomial(4000, counts / 4000)
        found.append(Estimate(JOINT.x_labels, told, drawn.astype(float), 0.95).shares[1].estimate)
    assert plain.told
    assert wider.high - wider.low == pytest.approx(2 * 1.96 * np.std(found), rel=0.15)
    assert wider.high - wider.low > 1.3 * (plain.high - plain.low)


@pytest.mark.parametrize("mean", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("deviation", [0.02, 0.3])
def test_intervals_between_ends_have_their_coverage_and_are_never_empty(mean, deviation):
    drawn = mean + deviation * np.random.default_rng(3).standard_normal(4000)
    ends = np.zeros(4000), np.ones(4000)
    low, high = intervals(Found(drawn, np.full(4000, deviation**2), np.zeros(4000), *ends), 0.95)
    assert abs(((low <= mean) & (mean <= high)).mean() - 0.95) <= 0.012
    assert (low < high).all()
    assert low.min() >= 0
    assert high.max() <= 1


@pytest.mark.parametrize("expected", [2, 20])
def test_intervals_of_rare_values_have_their_coverage(expected):
    """Counts of a value that is released as it is, exactly: the binomial distribution over all counts, no draws."""
    p, counts = expected / 4000, np.arange(50)
    chance = binom.pmf(counts, 4000, p)
    law = np.eye(2)
    joint = Joint([[30, 10], [10, 30]], counts=True)
    held = [
        own.low <= p <= own.high
        for own in (estimate([count, 4000 - count], Mechanism(joint, law)).shares[0] for count in counts)
    ]
    assert abs(chance @ held - 0.95) <= 0.035, "counts are whole numbers, so that coverage moves in steps"


def test_of_a_designed_release():
    """An output for every value hardly moves: all intervals and ranges have the truth, in nearly all of 20 releases."""
    own, generator, missed = design(JOINT, MaxLift(0.2)).mechanism, np.random.default_rng(1), 0
    for _ in range(20):
        counts = generator.multinomial(5000, own.p_y_given_x @ P_X)
        frame = estimate(dict(zip(own.y_labels, counts.tolist(), strict=True)), own).to_frame()
        missed += int(((frame["low"] > P_X) | (frame["high"] < P_X)).sum())
        assert ((frame["low"] <= frame["share"] + 0.05) & (frame["share"] - 0.05 <= frame["high"])).all()
    assert missed <= 10


def test_wrong_input_is_refused():
    own = mechanism()
    with pytest.raises(InputError, match="1 of the released outputs"):
        estimate({"nonsense": 3}, own)
    with pytest.raises(InputError, match="expected counts of 6 outputs"):
        estimate([1, 2], own)
    with pytest.raises(InputError, match="none below 0"):
        estimate([0] * 6, own)
    with pytest.raises(SettingError, match="between 0 and 1"):
        estimate([1] * 6, own, confidence=1)
    with pytest.raises(InputError, match="5 finite scores"):
        estimate([1] * 6, own).of([1, 2])
