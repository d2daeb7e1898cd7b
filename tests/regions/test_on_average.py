"""Promises on average by themselves: means, what they refuse, what is left of them at a price, unseen values, words."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from alphalift import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    Channel,
    ChiSquare,
    Joint,
    MaxLift,
    Mechanism,
    OnAverage,
    Optimal,
    PromiseError,
    Renyi,
    Robust,
    TotalVariation,
    audit_channel,
    describe,
    design,
    for_sharing,
    leakage_bound,
    load,
    save,
    to_document,
)
from alphalift.proof import checker
from alphalift.proof.statement import checkable
from alphalift.regions import After, averages_of, of_every_output, parse
from strategies import mechanisms, random_joint

OF = [MaxLift(0.1), AlphaLift(3, 0.1), AlphaLift(1.2, 0.01), KL(0.05), TotalVariation(0.06), ChiSquare(0.2)]
QUICK = Optimal(relative_gap=1e-2, node_limit=200)


def values(of, lifts, p_s):
    """psi of every row."""
    if isinstance(of, AlphaLift):
        return lifts.max(axis=1) if math.isinf(of.alpha) else (lifts**of.alpha @ p_s) ** (1 / of.alpha)
    if isinstance(of, KL):
        return np.where(lifts > 0, lifts * np.log(np.where(lifts > 0, lifts, 1)), 0) @ p_s
    return abs(lifts - 1) @ p_s / 2 if isinstance(of, TotalVariation) else (lifts - 1) ** 2 @ p_s


def random_lifts(rng, p_s, count):
    q = np.concatenate([rng.dirichlet(np.full(len(p_s), a), size=count) for a in (0.2, 1, 20)])
    near = p_s + (q - p_s) * rng.random((len(q), 1)) ** 4
    return np.concatenate([q, near, np.eye(len(p_s)), p_s[None]]) / p_s


@given(mechanisms(), st.sampled_from(OF))
def test_the_value_of_a_mechanism_is_the_mean_over_its_outputs(mechanism, of):
    region = OnAverage(of)
    lifts, p_s = mechanism.lift.T, mechanism.joint.p_s
    mean = float(mechanism.p_y @ values(of, lifts, p_s))
    check = mechanism.check(region)
    assert check.worst_value == pytest.approx(mean, abs=1e-12)
    assert bool(check) == (mean <= region.budget * (1 + 1e-12) + 1e-15) or abs(mean - region.budget) < 1e-9
    assert region.above_least(lifts, p_s) == pytest.approx(
        values(of, lifts, p_s) - values(of, np.ones((1, len(p_s))), p_s), abs=1e-9
    )
    if mechanism.check(of):
        assert check
    for other in (region & LIP(0.5), LIP(0.5) & region):
        assert bool(mechanism.check(other)) == (bool(check) and bool(mechanism.check(LIP(0.5))))


def test_what_an_intersection_asks_of_every_output():
    both = OnAverage(KL(0.1)) & LIP(0.5) & OnAverage(MaxLift(0.2))
    assert averages_of(both) == (OnAverage(KL(0.1)), OnAverage(MaxLift(0.2)))
    assert of_every_output(both) == LIP(0.5)
    assert of_every_output(LIP(0.5) & LDP(1)) == LIP(0.5) & LDP(1)
    nothing = of_every_output(OnAverage(KL(0.1)))
    assert nothing.allows(np.array([[1e12, 0.0]]), np.array([1e-12, 1 - 1e-12])).all()


@pytest.mark.parametrize("of", OF, ids=repr)
def test_what_is_left_at_a_price_is_above_all_lifts_and_reached_by_one(of):
    """By the checker's balls and the export's floats; prices of 0, w of any sign, far too large and tiny."""
    rng, region = np.random.default_rng(1), OnAverage(of)
    component = checkable(region).components[0]
    for _ in range(60):
        counts = rng.integers(1, 10 ** int(rng.integers(1, 4)), int(rng.integers(2, 5))).tolist()
        p_s = np.array(counts) / sum(counts)
        w = rng.normal(size=len(p_s)) * 10 ** rng.uniform(-1, 2)
        price = float(rng.choice([0.0, rng.exponential(), np.ptp(w), 100 * np.ptp(w)]))
        lifts = random_lifts(rng, p_s, 400)
        psi = values(of, lifts, p_s)
        most = float(np.max(lifts @ (w * p_s) - price * psi))
        least = 1.0 if isinstance(of, AlphaLift) else 0.0
        with ctx.workprec(128):
            exact = component.priced_support([Fraction(own) for own in w.tolist()], counts, Fraction(price))
        found = region.priced_support(w, p_s, price)
        assert float(exact.upper()) >= most - 1e-9 * (1 + abs(most))
        assert found - price * least == pytest.approx(float(exact), abs=1e-7 * (1 + price + np.abs(w).max()))
        if isinstance(of, TotalVariation):  # exactly what it is: mass moves from s to the largest w, or stays
            best = np.where(w < w.max() - price, 0.0, 1.0)
            best[w.argmax()] += (p_s * (1 - best)).sum() / p_s[w.argmax()]
            assert found == pytest.approx(best @ (w * p_s) - price * values(of, best[None], p_s)[0], abs=1e-9)
        if isinstance(of, KL) and price > 0.1:
            tilted = np.exp((w - w.max()) / price)
            tilted /= tilted @ p_s
            reached = tilted @ (w * p_s) - price * values(of, tilted[None], p_s)[0]
            assert found == pytest.approx(reached, abs=1e-8 * (1 + np.abs(w).max()))


@pytest.mark.parametrize("of", OF, ids=repr)
def test_unseen_values_keep_the_mean(of):
    """For many shares and secrets of unseen records, answered by the law of the file; and by a worse one that is refused."""
    rng, joint = np.random.default_rng(2), random_joint(4, (3, 5))
    solution = design(joint, OnAverage(of), solver=QUICK)
    integers = solution.integers
    assert integers.unseen is not None
    document = to_document(solution)
    law = np.array(integers.unseen) / 2.0**integers.bits
    p_sy = solution.mechanism.p_s_given_y * solution.mechanism.p_y
    budget = OnAverage(of).budget
    for _ in range(300):
        share, r = rng.random() ** 3, rng.dirichlet(np.full(4, 0.5))  # one secret that the table does not have
        told = (1 - share) * np.vstack([p_sy, np.zeros(p_sy.shape[1])]) + share * np.outer(r, law)
        p_s, p_y = told.sum(axis=1), told.sum(axis=0)
        mean = p_y @ values(of, (told / p_s[:, None] / p_y).T, p_s)
        assert mean <= budget * (1 + 1e-9)
    moved = integers.unseen[0] // 2
    document["unseen"] = [integers.unseen[0] - moved, integers.unseen[1] + moved, *integers.unseen[2:]]
    document["identity"] = checker.Integers(
        integers.labels, integers.bits, integers.weights, document["unseen"]
    ).identity
    proven = {verdict.claim: verdict.proven for verdict in checker.check(document)}
    assert proven["promise"]
    assert not proven["unseen values"]


@pytest.mark.parametrize("of", OF, ids=repr)
def test_files_say_and_prove_it_and_one_mean_above_the_budget_is_refused(of, tmp_path):
    joint = random_joint(6, (3, 4))
    solution = design(joint, OnAverage(of), solver=QUICK)
    document = to_document(solution)
    save(document, tmp_path / "m.json")
    assert load(tmp_path / "m.json").region == OnAverage(of)
    assert parse(repr(OnAverage(of))) == OnAverage(of)
    schema = re.findall(
        r"```json\n(.*?)```", (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8"), re.DOTALL
    )
    jsonschema.validate(
        json.loads(json.dumps(document)), json.loads(next(text for text in schema if "$schema" in text))
    )
    document["promise"]["of"]["epsilon"] = f"{of.epsilon * 0.9999:.12f}"
    assert not {verdict.claim: verdict.proven for verdict in checker.check(document)}["promise"]
    assert any("may tell everything" in verdict.text for verdict in checker.check(document))


def test_few_bits_keep_the_mean():
    for region in (OnAverage(KL(0.05)), OnAverage(MaxLift(0.1)) & LIP(1)):
        shared = for_sharing(design(random_joint(3, (3, 5)), region, solver=QUICK), 7)
        assert shared.integers.bits == 7
        assert shared.mechanism.check(region)


def test_an_output_may_tell_everything_and_words_say_so():
    """Perfect but for one answer in a thousand, which is X = S itself."""
    joint = Joint(np.diag([3, 2, 1]).tolist(), counts=True)
    rare = np.vstack([0.001 * np.eye(3), np.full((1, 3), 0.999)])
    mechanism = Mechanism(joint, rare)
    assert mechanism.check(OnAverage(KL(0.01)))
    assert mechanism.leakage(math.inf) == pytest.approx(math.log(6))
    alone = describe(design(random_joint(1, (3, 4)), OnAverage(KL(0.02)), solver=QUICK), secret="group")
    assert "may tell everything about group" in alone
    assert "the promise alone allows" in alone
    beside = describe(design(random_joint(1, (3, 4)), OnAverage(KL(0.02)) & MaxLift(0.3), solver=QUICK), secret="group")
    assert "bounded by the others alone" in beside
    assert "everything" not in beside
    assert "Only on average" not in describe(design(random_joint(1, (3, 4)), MaxLift(0.3), solver=QUICK))


def test_the_largest_lift_that_an_average_alone_allows_is_certainty():
    group = np.array([True, False, False])
    p_s = np.array([0.25, 0.25, 0.5])
    assert OnAverage(KL(1e-6)).group_limit(group, p_s) == pytest.approx(4)
    assert (OnAverage(KL(1e-6)) & MaxLift(0.5)).group_limit(group, p_s) == MaxLift(0.5).group_limit(group, p_s)


def test_a_channel_is_audited_exactly():
    joint = random_joint(3, (3, 5))
    solution = design(joint, OnAverage(KL(0.05)), solver=QUICK)
    channel = Channel.of_integers(solution.integers)
    value = solution.mechanism.check(OnAverage(KL(0.05))).worst_value
    assert audit_channel(channel, joint, OnAverage(KL(0.05)))
    assert not audit_channel(channel, joint, OnAverage(KL(value * (1 - 1e-9))))
    assert not audit_channel(channel, joint, OnAverage(KL(0.05)) & MaxLift(0.01))


def test_equal_sides_are_decided_exactly():
    """A mean total variation of exactly 1/4, and one of 1/4 less the smallest step."""
    counts, outputs = [[1, 1], [1, 1]], [(1, [fmpq(2), fmpq(0)]), (1, [fmpq(1), fmpq(1)])]
    prior = list(map(sum, counts))
    for epsilon, kept in (("0.25", True), ("0.2499999999999999999999999999", False)):
        promise = checker.promise_of({"region": "OnAverage", "of": {"region": "TotalVariation", "epsilon": epsilon}})
        assert promise.averages[0].kept(outputs, prior) is kept
    assert isinstance(promise.averages[0].priced_support([Fraction(1), Fraction(0)], prior, Fraction(0)), arb)


@pytest.mark.parametrize("of", [LIP(1), LDP(1), PML(1), Renyi(2, 1), KL(1) & MaxLift(1), OnAverage(KL(1))], ids=repr)
def test_what_has_no_mean_is_refused(of):
    with pytest.raises(PromiseError, match="on average"):
        OnAverage(of)


def test_what_is_not_known_of_averages_is_refused():
    joint = Joint([[3, 1], [1, 3]], counts=True)
    region = OnAverage(KL(0.1))
    solution = design(joint, MaxLift(0.1))
    with pytest.raises(PromiseError):
        design(joint, Robust(region))
    with pytest.raises(PromiseError, match="on average"):
        design(joint, region, after=[solution])
    with pytest.raises(PromiseError, match="on average"):
        leakage_bound(solution.mechanism, joint, region)
    with pytest.raises(PromiseError, match="on average"):
        After(region, joint, (((3, 1), (1, 3)),))
    for text in (
        "OnAverage()",
        "OnAverage(1)",
        "OnAverage(KL(1), KL(2))",
        "OnAverage(KL(1), of=KL(2))",
        "OnAverage(x=KL(1))",
    ):
        with pytest.raises(PromiseError):
            parse(text)
    assert parse("OnAverage(of=KL(1))") == OnAverage(KL(1))


def test_of_a_population_nothing_is_said_but_that():
    joint = Joint(np.random.default_rng(1).integers(5, 60, (3, 4)).tolist(), counts=True)
    text = describe(design(joint, OnAverage(KL(0.02)), solver=QUICK))
    assert "what holds for people of whom they are a sample is not bounded" in text
