"""Two secrets: the least value over pairs, found without looking at all of them, is that of looking at all."""

import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from alphalift.proof import checker

BITS = 28
ONE = 1 << BITS


def least_of_all(counts, prices, ends):
    """Every extreme posterior of theory.md's step 9, with 50 digits."""
    with mpmath.workdps(50):
        n, first = sum(map(sum, counts)), sum(counts[0])
        d = [Fraction(a * n, first * (a + b)) - 1 for a, b in zip(*counts, strict=True)]
        u = [mpmath.mpf(price) / ONE for price in prices]
        low, high = (Fraction(end, ONE) for end in ends)
        values = [-u[x] for x in range(len(d)) if low <= d[x] <= high]
        for end in (low, high):
            for x in (x for x in range(len(d)) if d[x] < end):
                for y in (y for y in range(len(d)) if d[y] > end):
                    exact = (end - d[x]) / (d[y] - d[x])
                    share = mpmath.mpf(exact.numerator) / exact.denominator
                    rest = 1 - share
                    values.append(-share * (mpmath.log(share) + u[y]) - rest * (mpmath.log(rest) + u[x]))
        return min(values)


def least(counts, prices, ends):
    promise = checker.promise_of({"region": "AlphaLift", "alpha": "3", "epsilon": "0"})  # any ends will do
    certificate = {"kind": "pairs", "bits": BITS, "prices": prices, "ends": ends}
    with checker.ctx.workprec(128):
        return checker._least_over_pairs([counts], promise, certificate, prices)


def far(ball, expected):
    """How far the farthest point of the ball is from the number."""
    with mpmath.workdps(50):
        mantissa, exponent = ball.mid().man_exp()
        middle = mpmath.mpf(int(mantissa)) * mpmath.mpf(2) ** int(exponent)
        return abs(middle - expected) + float(ball.rad())


def smooth(d, rng):
    return [int(ONE * np.sqrt(abs(own) + 0.01)) + int(rng.integers(0, 5)) for own in d]


PRICES = {
    "none": lambda d, rng: [0] * len(d),
    "rough": lambda d, rng: rng.integers(-ONE, ONE, len(d)).tolist(),
    "smooth": smooth,
    "steep": lambda d, rng: [int(40 * ONE * own) for own in d],
    "huge": lambda d, rng: [int(number) << 60 for number in rng.integers(-9, 9, len(d))],
}
COUNTS = {
    "few": lambda rng: rng.integers(1, 4, (2, 30)),  # many symbols of one deviation
    "many": lambda rng: rng.integers(1, 1000, (2, 60)),
    "nearly equal": lambda rng: 10**13 + rng.integers(0, 9, (2, 40)),  # values that floats cannot tell apart
    "rare": lambda rng: rng.integers(1, 9, (2, 30)) * np.array([[1], [10**12]]),
    "zeros": lambda rng: np.concatenate([rng.integers(0, 3, (2, 20)), [[1], [1]]], axis=1),
}


@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("counts", COUNTS)
def test_the_least_is_that_of_all_pairs(counts, prices):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        table = [[int(n) for n in row] for row in COUNTS[counts](rng)]
        table = [list(row) for row in zip(*(column for column in zip(*table, strict=True) if any(column)), strict=True)]
        n, first = sum(map(sum, table)), sum(table[0])
        d = [float(Fraction(a * n, first * (a + b)) - 1) for a, b in zip(*table, strict=True)]
        priced = PRICES[prices](d, rng)
        for inner in (0.2, 0.6):
            ends = [min(int(inner * min(d) * ONE), -1), max(int(inner * max(d) * ONE), 1)]
            found, expected = least(table, priced, ends), least_of_all(table, priced, ends)
            scale = 1 + max(map(abs, priced)) / ONE
            assert far(found, expected) < 1e-30 * scale


def test_ties_that_floats_cannot_tell_are_all_looked_at():
    """All pairs are equal to 1e-13, in random order: whichever is least must be found, not one that is near."""
    rng = np.random.default_rng(0)
    base = 10**17
    table = [[base + int(k) for k in rng.integers(0, 10**4, 24)], [base + int(k) for k in rng.integers(0, 10**4, 24)]]
    for place in range(12):
        table[0][place] += base // 2
    ends = [-ONE // 20, ONE // 20]
    values = {least_of_all(table, [0] * 24, ends), least_of_all([table[0], [*table[1][:-1], base]], [0] * 24, ends)}
    assert max(values) - min(values) < 1e-12
    assert far(least(table, [0] * 24, ends), least_of_all(table, [0] * 24, ends)) < 1e-30


def lines_run(function, *arguments):
    """How many lines of Python it runs: what it takes, whatever the machine."""
    count = 0

    def see(*_):
        nonlocal count
        count += 1
        return see

    before = sys.gettrace()
    sys.settrace(see)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return count


def test_most_pairs_are_never_looked_at():
    rng, size = np.random.default_rng(0), 800
    table = [[int(n) for n in row] for row in rng.integers(1, 10**6, (2, size))]
    n, first = sum(map(sum, table)), sum(table[0])
    d = [a * n / (first * (a + b)) - 1 for a, b in zip(*table, strict=True)]
    # There are about size^2 / 2 pairs at both ends together, with four lines for each one that is looked at.
    assert lines_run(least, table, smooth(d, rng), [-ONE // 10, ONE // 10]) < 2 * size * size


def test_a_file_that_would_take_too_long_is_refused():
    """Every pair is the least to rounding error; so is every one of many with rough prices."""
    base = 10**40
    table = [[3 * base + k for k in range(700)] + [base + k for k in range(700)], [2 * base] * 1400]
    with pytest.raises(checker.RefusedError, match="too many pairs"):
        least(table, [0] * 1400, [-ONE // 20, ONE // 20])


@pytest.mark.parametrize("prices", [[10**400, 0, 0], [10**130, 0, 0]])
def test_prices_beyond_floats_are_refused_and_not_rounded(prices):
    with pytest.raises((checker.RefusedError, OverflowError)):
        least([[1, 2, 3], [3, 2, 1]], prices, [-ONE // 10, ONE // 10])


def test_a_symbol_within_1e_150_of_an_end_is_refused():
    n = 10**170
    table = [[n + 1, 3 * n - 1], [3 * n - 1, n + 1]]  # the first deviation is -1/2 + 1/(2n)
    with pytest.raises(checker.RefusedError, match="too near"):
        least(table, [0, 0], [-ONE // 2, ONE // 3])
