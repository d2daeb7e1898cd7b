"""What released records say about X: intervals that cover, and what cannot be told is said."""

import numpy as np
import pytest

from alphalift import AlphaLift, Joint, MaxLift, Mechanism, design
from alphalift.errors import InputError, SettingError
from alphalift.population import estimate

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
    """1,000 releases of 3,000 records: within two points of 95% for a mean, a group and a rare value; without the noise, hardly ever."""
    own, generator = mechanism(), np.random.default_rng(0)
    p_y = own.p_y_given_x @ P_X
    scores = {"mean": SCORES, "group": np.array([0.0, 0, 1, 1, 0]), "rare": np.array([1.0, 0, 0, 0, 0])}
    covered, naive = dict.fromkeys(scores, 0), 0
    for _ in range(1000):
        counts = generator.multinomial(3000, p_y)
        found = estimate(counts, own)
        for name, score in scores.items():
            interval = found.of(score)
            covered[name] += interval.low <= score @ P_X <= interval.high
        shares = counts[:5] / counts[:5].sum()  # who takes outputs for values
        error = 1.96 * np.sqrt((SCORES**2 @ shares - (SCORES @ shares) ** 2) / counts[:5].sum())
        naive += abs(SCORES @ shares - SCORES @ P_X) <= error
    assert all(abs(count / 1000 - 0.95) <= 0.02 for count in covered.values()), covered
    assert naive < 300


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
    assert one.high == pytest.approx(both.estimate, abs=1e-6)
    frame = apart.to_frame()
    assert frame["told"].tolist() == [False, False, True, True, True]
    assert frame["share"].sum() == pytest.approx(1)


@pytest.mark.parametrize("promise", [MaxLift(0.2), AlphaLift(3, 0.1)])
def test_of_a_designed_release(promise):
    """Every value's interval or range has the truth, in all of 20 releases but a few."""
    own, generator, missed = design(JOINT, promise).mechanism, np.random.default_rng(1), 0
    for _ in range(20):
        counts = generator.multinomial(5000, own.p_y_given_x @ P_X)
        frame = estimate(dict(zip(own.y_labels, counts.tolist(), strict=True)), own).to_frame()
        missed += int(((frame["low"] > P_X + 0.03) | (frame["high"] < P_X - 0.03)).sum())
    assert missed <= 5


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
