"""Audits of samples: errors are bounded, power exists, and every number is what it says."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from alphalift import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    Answer,
    ChiSquare,
    Custom,
    InputError,
    Joint,
    MaxLift,
    PromiseError,
    Renyi,
    Samples,
    SettingError,
    TotalVariation,
    audit_samples,
    design,
    read_samples,
)
from alphalift.audit.comfort import values_seen
from alphalift.audit.dependence import p_value_of_dependence
from alphalift.audit.intervals import lift_intervals
from alphalift.audit.suspicion import named, suspected
from alphalift.audit.words import of_samples, samples_content
from audit import mixed, samples_of, times

PROMISES = [
    MaxLift(0.4),
    AlphaLift(3, 0.2),
    LIP(0.4),
    LDP(0.6),
    TotalVariation(0.15),
    ChiSquare(0.4),
    KL(0.08),
    Renyi(2, 0.15),
    MaxLift(0.5) & AlphaLift(2, 0.1),
]


def truths(promise, factor, count=5):
    generators = [np.random.default_rng(seed) for seed in range(count)]
    return [mixed(own.dirichlet(np.ones(12)).reshape(3, 4), times(promise, factor)) for own in generators]


def answers(promise, factor, records, cases, count=5):
    tables, generator, found = truths(promise, factor, count), np.random.default_rng(1), []
    for case in range(cases):
        truth = tables[case % count]
        counts = generator.multinomial(records, truth.ravel()).reshape(truth.shape)
        found.append(audit_samples(samples_of(counts, promise), promise, seed=case).answer)
    return found


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_a_violation_of_a_fifth_of_the_budget_is_found(promise):
    found = answers(promise, 1.2, 200_000, 10)
    assert found.count(Answer.NO) >= 8
    assert Answer.YES not in found


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_a_promise_kept_well_is_seen_to_be_kept(promise):
    found = answers(promise, 0.5, 60_000, 2, count=2)
    assert found == [Answer.YES] * 2


def test_false_alarms_are_bounded_where_every_output_uses_up_the_budget():
    """The worst case for "no": 120 samples of designs at their budgets. 4%, of which are 5, are expected at most; 11 would be three
    standard errors more. benchmarks/audit.txt has thousands."""
    alarms, cases, generator = 0, 0, np.random.default_rng(0)
    for seed in range(2):
        table = np.random.default_rng(seed).random((4, 6))
        for promise in (MaxLift(0.15), AlphaLift(3, 0.05), TotalVariation(0.05), LIP(0.15)):
            joint = Joint(table / table.sum())
            truth = joint.p_sx @ design(joint, promise).mechanism.p_y_given_x.T
            for _ in range(15):
                counts = generator.multinomial(30_000, truth.ravel()).reshape(truth.shape)
                alarms += suspected(counts, promise, 0.04, generator)[1]
                cases += 1
    assert cases == 120
    assert alarms <= 11


def test_false_alarms_are_bounded_for_secrets_that_are_seen_a_few_times():
    """A tenth of a percent of the people, some seven records an output: skew counts, of which normal tests say "no" too often."""
    p_s, lifts = np.array([0.001, 0.299, 0.7]), np.array([[1.3, 0.7], [1.0, 1.0], [1.0, 1.0]])
    truth = p_s[:, None] * 0.5 * lifts
    truth[1:] += ((0.5 - truth.sum(axis=0)) / 2)[None]
    generator, alarms = np.random.default_rng(0), 0
    seen = truth / np.outer(truth.sum(axis=1), truth.sum(axis=0))
    promise = MaxLift(np.log(seen.max()))
    for _ in range(100):
        counts = generator.multinomial(7000, truth.ravel()).reshape(truth.shape)
        alarms += suspected(counts, promise, 0.04, generator)[1]
    assert alarms <= 9


def test_false_comfort_is_bounded_where_one_output_is_at_its_budget():
    """Any larger value would break it: "yes" in 5% at most, 2 of 40; 7 would be more than three standard errors above."""
    found = answers(MaxLift(0.4), 1.0, 20_000, 40)
    assert found.count(Answer.YES) <= 6
    assert found.count(Answer.NO) <= 6


def test_pml_is_about_x():
    joint = Joint(np.diag([0.5, 0.3, 0.2]))
    law = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    counts = np.random.default_rng(0).multinomial(50_000, (joint.p_sx @ law.T).ravel()).reshape(3, 3)
    samples = Samples(counts[None], ("all",), ("u", "v", "w"), ("1", "2", "3"))
    largest = float(np.log((law / (law @ joint.p_x)[:, None]).max()))
    assert audit_samples(samples, PML(largest * 1.2)).answer is Answer.YES
    assert audit_samples(samples, PML(largest / 1.2)).answer is Answer.NO
    with pytest.raises(InputError, match="PML is about X itself"):
        audit_samples(Samples(counts[:, None], ("u", "v", "w"), None, ("1", "2", "3")), PML(1))


@pytest.mark.parametrize("promise", [MaxLift(0), KL(0), LIP(lower=0, upper=1)], ids=str)
def test_perfect_privacy_can_be_refuted_and_not_shown(promise):
    generator = np.random.default_rng(0)
    alone, told = np.full((2, 3), 1 / 6), np.array([[0.2, 0.15, 0.15], [0.1, 0.2, 0.2]])
    found = [
        audit_samples(samples_of(generator.multinomial(5000, truth.ravel()).reshape(2, 3), promise), promise).answer
        for truth in (alone, told)
    ]
    assert found == [Answer.CANNOT_TELL, Answer.NO]


def test_a_suspicion_is_a_half_space_that_holds_the_promise_and_not_the_truth():
    """E[w l] <= sigma(w) for lifts that keep it, in exact numbers of the region's own; and the truth is beyond."""
    rng = np.random.default_rng(0)
    for promise in PROMISES:
        truth = truths(promise, 1.5, 1)[0]
        p_s = truth.sum(axis=1)
        lifts = (truth / np.outer(p_s, truth.sum(axis=0))).T
        found = named(np.round(truth * 1e8).astype(np.int64), promise)
        worst = found[0]
        sigma = worst.component.support(worst.w[None], p_s)[0]
        assert worst.w @ (p_s * lifts[worst.output]) > sigma
        posteriors = rng.dirichlet(np.ones(len(p_s)), 2000) * 0.5 + 0.5 * p_s
        inside = posteriors[worst.component.allows(posteriors / p_s, p_s)]
        assert len(inside) > 10
        assert (inside @ worst.w <= sigma + 1e-9).all()


def test_intervals_of_lifts_hold_all_at_once():
    generator, held = np.random.default_rng(0), 0
    truth = truths(MaxLift(0.4), 1.0, 1)[0]
    lifts = truth / np.outer(truth.sum(axis=1), truth.sum(axis=0))
    for _ in range(200):
        counts = generator.multinomial(300, truth.ravel()).reshape(truth.shape)
        low, high = lift_intervals(counts, 0.2)
        assert (low <= high).all()
        held += bool(((low <= lifts) & (lifts <= high)).all())
    assert held >= 160


def test_an_end_of_an_interval_is_clopper_and_pearsons():
    """Of 2 x 2 counts: at the ends of P(y|s) as many or as few records have the probability of their level."""
    counts, level = np.array([[30, 70], [400, 500]]), 0.05
    low, high = lift_intervals(counts, level)
    each = level / 10
    for end, tail in ((0, lambda a: binom.sf(29, 100, a)), (1, lambda a: binom.cdf(30, 100, a))):
        ends = [own[0, 0] for own in (low, high)]
        a = np.linspace(0.01, 0.99, 99_999)
        at = a[np.argmin(np.abs(tail(a) - each / 2))]
        others = np.linspace(0.3, 0.6, 4001)
        other_tail = binom.cdf(400, 900, others) if end == 0 else binom.sf(399, 900, others)
        b = others[np.argmin(np.abs(other_tail - each / 2))]
        shares = np.linspace(0.05, 0.2, 4001)
        p = [
            shares[np.argmin(np.abs(own - each / 2))]
            for own in (binom.sf(99, 1000, shares), binom.cdf(100, 1000, shares))
        ]
        corners = [at / (share * at + (1 - share) * b) for share in p]
        assert ends[end] == pytest.approx((min, max)[end](corners), rel=1e-3)


def with_x(peeks, records=4000, seed=0):
    """Samples of s, x and y; y follows x, and with `peeks` also s."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, records)
    x = np.where(rng.random(records) < 0.7, s, rng.integers(0, 3, records))
    y = (rng.random(records) < 0.3 + 0.1 * x + (0.2 * s if peeks else 0)).astype(int)
    counts = np.zeros((2, 3, 2), np.int64)
    np.add.at(counts, (s, x, y), 1)
    return Samples(counts, ("0", "1"), ("0", "1", "2"), ("n", "y"))


def test_a_release_that_looked_at_the_secret_is_found():
    looked = audit_samples(with_x(peeks=True), MaxLift(2))
    assert (looked.answer, looked.looked, looked.broken) == (Answer.NO, True, False)
    assert looked.dependence == pytest.approx(0.001)
    fair = audit_samples(with_x(peeks=False), MaxLift(2))
    assert (fair.answer, fair.looked) == (Answer.YES, False)


def test_dependence_has_the_level_that_it_says():
    generator = np.random.default_rng(0)
    found = [p_value_of_dependence(with_x(peeks=False, records=60, seed=seed).counts, generator) for seed in range(100)]
    assert sum(own <= 0.05 for own in found) <= 11
    assert sum(own <= 0.5 for own in found) >= 30


def test_a_table_is_counted():
    rows = [("a", "u", 1)] * 3 + [("a", "v", 2)] + [("b", "v", 1)] * 2
    table = {name: [row[i] for row in rows] for i, name in enumerate(("s", "x", "y"))}
    samples = read_samples(pd.DataFrame(table), sensitive="s", released="y", useful="x")
    assert (samples.s_labels, samples.x_labels, samples.y_labels) == (("a", "b"), ("u", "v"), ("1", "2"))
    assert samples.counts.tolist() == [[[3, 0], [0, 1]], [[0, 0], [2, 0]]]
    without = read_samples(pd.DataFrame(table), sensitive="s", released="y")
    assert without.x_labels is None
    assert without.counts.tolist() == [[[3, 1]], [[2, 0]]]
    with pytest.raises(InputError, match="column 's' is named twice"):
        read_samples(pd.DataFrame(table), sensitive="s", released="y", useful="s")


def test_what_never_occurs_is_left_out():
    counts = np.array([[[5, 0, 3]], [[0, 0, 0]], [[2, 0, 4]]])
    samples = Samples(counts, ("a", "b", "c"), None, ("1", "2", "3"))
    assert (samples.s_labels, samples.y_labels, samples.counts.tolist()) == (
        ("a", "c"),
        ("1", "3"),
        [[[5, 3]], [[2, 4]]],
    )
    with pytest.raises(InputError, match="there are no records"):
        Samples(0 * counts, ("a", "b", "c"), None, ("1", "2", "3"))
    for wrong in (counts[:2], counts - 1, counts / 2):
        with pytest.raises(InputError, match="expected 3 x 1 x 3 of them"):
            Samples(wrong, ("a", "b", "c"), None, ("1", "2", "3"))


def test_wrong_wishes_are_refused():
    samples = with_x(peeks=False)
    custom = Custom("mine", 1.0, lambda lifts, p_s: lifts.max(axis=-1), lambda w, p_s: w.max(axis=-1))
    with pytest.raises(PromiseError, match="samples are not tested for mine"):
        audit_samples(samples, custom)
    with pytest.raises(SettingError, match="between 0 and 1"):
        audit_samples(samples, MaxLift(1), confidence=1)


@pytest.mark.parametrize("counts", [[[3]], [[1, 1], [1, 1]], [[5, 0], [0, 5]], [[0, 7], [2, 0], [1, 0]]])
def test_few_records_are_no_reason_to_be_sure(counts):
    found = audit_samples(samples_of(np.array(counts), MaxLift(0.3)), MaxLift(0.3))
    assert found.answer is (Answer.CANNOT_TELL if len(counts) > 1 else Answer.YES)


def test_words_say_what_the_numbers_are():
    promise = MaxLift(0.4)
    said = {}
    for factor in (0.5, 1.0, 1.5):
        truth = truths(promise, factor, 1)[0]
        counts = np.round(truth * 60_000).astype(np.int64)
        audit = audit_samples(samples_of(counts, promise), promise)
        said[audit.answer] = of_samples(audit, "race", None)
        worst = np.log(values_seen(counts, promise).max())
        shown = float(re.search(r"has epsilon = (\d+\.\d+)", said[audit.answer])[1])
        assert worst - 1e-9 <= shown <= worst + 1.01e-4
        content = samples_content(audit)
        assert content["answer"] == audit.answer.value
        assert len(content["lifts"]) == 12
        for own in content["lifts"]:
            assert own["low"] <= own["lift"] <= own["high"]
    assert said[Answer.YES].splitlines()[1].startswith("Kept: with 95% confidence")
    assert "output '" in said[Answer.NO].splitlines()[1]
    assert said[Answer.CANNOT_TELL].splitlines()[1].startswith("Cannot tell: ")
    both = of_samples(audit_samples(with_x(peeks=True), MaxLift(2)), "race", "job")
    assert "the mechanism has looked at race, and is no release of job" in both
    assert "nothing shows that the output depends on race" in of_samples(
        audit_samples(with_x(peeks=False), MaxLift(2)), "race", "job"
    )


@pytest.mark.parametrize("promise", [*PROMISES, MaxLift(0)], ids=str)
def test_of_one_secret_nothing_can_be_told(promise):
    """Its lift is 1 at every output: the bound says so, the interval, and the words."""
    audit = audit_samples(Samples(np.array([[[5, 9, 1]]]), ("a",), None, ("1", "2", "3")), promise)
    assert audit.answer is Answer.YES
    np.testing.assert_allclose(audit.at_most, audit.seen)
    assert (audit.lifts[["low", "high"]] == 1).all(axis=None)
    told = of_samples(audit, "race", None)
    assert "Kept: race has one value among the 15 records, about which nothing can be told." in told
    assert "at most" not in told.splitlines()[1]


def test_the_lift_of_the_worst_output_is_among_those_that_stand_out():
    """A rare secret makes one output the worst, by a lift whose interval is wide; others, more certain, must not hide it."""
    certain = [[900, 100, 500, 500, 300, 700, 450, 550, 0], [100, 900, 500, 500, 700, 300, 550, 450, 0]]
    counts = np.array([*certain, [0, 0, 0, 0, 0, 0, 0, 0, 1]])
    audit = audit_samples(samples_of(counts, MaxLift(0.3)), MaxLift(0.3))
    assert audit.seen.argmax() == 8
    listed = of_samples(audit, "race", None).partition("stand out most")[2].splitlines()[1:]
    secret, output = audit.lifts["lift"].idxmax()
    assert any(line.startswith(f"  {secret!r} given {output!r}: ") for line in listed), listed
    assert len(listed) <= 7
    if audit.broken:
        named = audit.y_labels[audit.suspicions[0].output]
        assert any(f"given {named!r}: " in line for line in listed)


def test_looking_at_the_secret_is_no_statement_about_lifts():
    looked = of_samples(audit_samples(with_x(peeks=True), MaxLift(2)), "race", "job").splitlines()
    assert looked[1].startswith("Not a release of job alone: given job, the output depends on race")
    assert looked[2].startswith("The promise by itself, which is about lifts alone: Kept: with 95% confidence")
    assert "Not kept" not in "\n".join(looked)
