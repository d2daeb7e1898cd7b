"""The law for unseen values: whatever their share and their secrets, the promise holds over all records."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import examples
import mpmath
import pytest

from alphalift.proof import checker

NAMES = ["16 bits", "52 bits", "random 0", "random 7", "zero cells, max-lift", "two secrets, coarse", "perfect"]


def shares_and_lifts(document, law, q, p_s_unseen):
    """P(s) and, for every y, the lifts over seen and unseen records together: exact fractions."""
    counts, whole = document["joint"]["counts"], 2 ** document["bits"]
    total = sum(map(sum, counts))
    p_s = [(1 - q) * Fraction(sum(row), total) + q * unseen for row, unseen in zip(counts, p_s_unseen, strict=True)]
    lifts = []
    for weights, answer in zip(examples.all_weights(document), law, strict=True):
        p_sy = [
            (1 - q) * Fraction(sum(n * w for n, w in zip(row, weights, strict=True)), total * whole)
            + q * unseen * Fraction(answer, whole)
            for row, unseen in zip(counts, p_s_unseen, strict=True)
        ]
        lifts.append([own / (share * sum(p_sy)) for own, share in zip(p_sy, p_s, strict=True) if share and sum(p_sy)])
    return [share for share in p_s if share], lifts


def excess(document, law, q, p_s_unseen):
    """The largest log alpha-lift minus epsilon, to 60 digits."""
    alpha, epsilon = document["promise"]["alpha"], Fraction(document["promise"]["epsilon"])
    shares, lifts = shares_and_lifts(document, law, q, p_s_unseen)
    if epsilon == 0:
        return 0 if all(lift == 1 for own in lifts for lift in own) else 1
    with mpmath.workdps(60):
        number = lambda value: mpmath.mpf(value.numerator) / value.denominator  # noqa: E731
        if alpha == "inf":
            return mpmath.log(number(max(map(max, lifts)))) - number(epsilon)
        power = number(Fraction(alpha))
        worst = max(
            sum(number(p) * number(lift) ** power for p, lift in zip(shares, own, strict=True) if lift) for own in lifts
        )
        return mpmath.log(worst) / power - number(epsilon)


def mixtures(secrets, rng, count):
    """Shares of unseen records from none to all, with secrets of every sort, extreme ones too."""
    for number in range(count):
        q = rng.choice([Fraction(rng.randrange(1001), 1000), Fraction(1, 10 ** rng.randrange(1, 12)), Fraction(1)])
        if number % 2:
            certain = rng.randrange(secrets)
            yield q, [Fraction(int(s == certain)) for s in range(secrets)]
        else:
            parts = [rng.choice([0, 1, rng.randrange(1000)]) for _ in range(secrets)]
            parts[rng.randrange(secrets)] += 1
            yield q, [Fraction(part, sum(parts)) for part in parts]


@pytest.mark.parametrize("name", NAMES)
def test_no_mixture_of_seen_and_unseen_breaks_the_promise(name):
    document, rng = examples.document(name), random.Random(1)
    for q, p_s_unseen in mixtures(len(document["labels"]["s"]), rng, 60):
        assert excess(document, document["unseen"], q, p_s_unseen) <= 0


def _accepted(document, law):
    promise = checker.promise_of(document["promise"])
    integers = replace(checker.integers_of(document), unseen=law)
    return not list(checker.broken_unseen(document["joint"]["counts"], integers, promise))


def _nearby_laws(law, rng, count):
    """The law with some of one output's mass moved to another, from hardly any to all."""
    for _ in range(count):
        changed, (giver, taker) = list(law), rng.sample(range(len(law)), 2)
        moved = math.ceil(changed[giver] * 10 ** (-2 * rng.random()))
        changed[giver] -= moved
        changed[taker] += moved
        yield changed


@pytest.mark.parametrize(
    "name", ["random 1", "random 15", "two secrets, coarse", "zero cells", "S = X", "rare symbols"]
)
def test_every_law_that_the_checker_accepts_keeps_the_promise(name):
    document, rng = examples.document(name), random.Random(2)
    accepted = refused = broken = 0
    for law in _nearby_laws(document["unseen"], rng, 30):
        worst = max(excess(document, law, *mixture) for mixture in mixtures(len(document["labels"]["s"]), rng, 12))
        if _accepted(document, law):
            accepted += 1
            assert worst <= 0
        else:
            refused += 1
            broken += worst > 0
    # The test has power: both sides occur, and some refused laws are seen to break the promise.
    assert accepted > 3
    assert refused > 1
    assert broken > 0


def test_a_uniform_law_breaks_a_promise_and_is_refused():
    document = examples.document("S = X")
    outputs, whole = len(document["labels"]["y"]), 2 ** document["bits"]
    law = [whole // outputs] * outputs
    law[0] += whole - sum(law)
    rng = random.Random(3)
    worst = max(excess(document, law, *mixture) for mixture in mixtures(len(document["labels"]["s"]), rng, 60))
    assert worst > 0
    assert not _accepted(document, law)
