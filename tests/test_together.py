"""Several releases about the same people: what they tell together, and what is left for a further one."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from alphalift import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    ChiSquare,
    InputError,
    Joint,
    MaxLift,
    Optimal,
    PromiseError,
    ProofError,
    Renyi,
    TotalVariation,
    design,
    load,
    to_document,
    to_json,
    withhold_joint,
)
from alphalift.joint import Beside, Origin, Variable
from alphalift.proof import checker
from alphalift.together import columns_before, told_together

A, B, C = Variable(("a",), ("a0", "a1", "a2")), Variable(("b",), ("b0", "b1", "b2")), Variable(("c",), ("c0", "c1"))
QUICK = Optimal(time_limit=20)


def table(seed, shape=(2, 3, 3, 2), people=400):
    """Counts of (s, a, b, c), all of them correlated."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(int(np.prod(shape)), 0.4)).reshape(shape)
    return rng.multinomial(people, weights.ravel()).reshape(shape) + 1


def counted(counts, own, *others):
    """The joint of s and one column, with others beside it, as `read_joint` counts it."""
    axes = {A: 1, B: 2, C: 3}
    kept = [0, axes[own], *(axes[other] for other in others)]
    summed = counts.sum(axis=tuple(axis for axis in range(4) if axis not in kept))
    summed = np.transpose(summed, np.argsort(np.argsort(kept)))
    cells = tuple((*map(int, key), int(n)) for key, n in np.ndenumerate(summed) if n)
    pairs = summed.reshape(*summed.shape[:2], -1).sum(axis=2)
    labels = [f"s{i}" for i in range(len(pairs))]
    origin = Origin(("secret",), own.columns)
    return Joint(pairs.tolist(), labels, own.labels, counts=True, origin=origin, beside=Beside(others, cells))


def brute_force(counts, releases):
    """The largest lift of s over all outputs together, in fractions: releases are (axis of the column, integers)."""
    prior = [Fraction(int(n), int(counts.sum())) for n in counts.sum(axis=(1, 2, 3))]
    worst = Fraction(0)
    for outputs in itertools.product(*(range(len(own.weights)) for _, own in releases)):
        mass = [Fraction(0)] * len(prior)
        for key, n in np.ndenumerate(counts):
            share = Fraction(int(n))
            for (axis, own), y in zip(releases, outputs, strict=True):
                share *= own.weights[y].get(key[axis], 0)
            mass[key[0]] += share
        if sum(mass):
            worst = max(worst, *(own / sum(mass) / p for own, p in zip(mass, prior, strict=True)))
    return worst


def test_xor_of_two_harmless_columns_tells_the_secret():
    """Stated as 1.000 times by the old bound from one column's joint; the truth is 2."""
    counts = np.zeros((2, 2, 2, 1), int)
    for a, b in itertools.product(range(2), repeat=2):
        counts[a ^ b, a, b, 0] = 25
    a, b = Variable(("a",), ("0", "1")), Variable(("b",), ("0", "1"))
    axes = {a: 1, b: 2}
    joints = {
        own: Joint(counts.sum(axis=(3 - axes[own], 3)).tolist(), counts=True, x_labels=own.labels, origin=Origin(("s",), own.columns))
        for own in (a, b)
    }  # fmt: skip
    first, second = (design(joints[own], MaxLift(0)) for own in (a, b))
    assert min(first.normalized_utility, second.normalized_utility) > 1 - 1e-9
    assert told_together(joints[a], [first.integers, second.integers], [a, b]) is None, (
        "one column's joint says nothing"
    )
    cells = tuple((*map(int, key[:3]), int(n)) for key, n in np.ndenumerate(counts) if n)
    beside = Joint(joints[a].weights, None, a.labels, counts=True, origin=joints[a].origin, beside=Beside((b,), cells))
    both = told_together(beside, [first.integers, second.integers], [a, b])
    assert both.exact
    assert float(both.max_lift) == pytest.approx(2)
    assert "2.000 times" in str(both)
    nothing = design(beside, MaxLift(0), after=[second])
    assert nothing.utility == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(100))
def test_two_and_three_releases_against_brute_force(seed):
    """Pairs and triples, of one column and of several: exact, and never rounded below the truth."""
    counts = table(seed)
    rng = np.random.default_rng(seed)
    regions = [MaxLift(0.05), AlphaLift(3, 0.05), LIP(0.1), KL(0.02), MaxLift(0.4)]
    releases = [(A, design(counted(counts, A), regions[rng.integers(5)], solver=QUICK))]
    releases.append((own := [A, B][seed % 2], design(counted(counts, own), regions[rng.integers(5)], solver=QUICK)))
    if seed % 3 == 0:
        releases.append((C, design(counted(counts, C), regions[rng.integers(5)], solver=QUICK)))
    joint = counted(counts, A, B, C)
    found = told_together(joint, [m.integers for _, m in releases], [own for own, _ in releases])
    truth = brute_force(counts, [({A: 1, B: 2, C: 3}[own], m.integers) for own, m in releases])
    assert found.exact
    assert found.max_lift == truth
    stated = float(str(found).split(" times")[0].split()[-1])
    assert Fraction(str(stated)) >= truth
    assert stated - truth < Fraction(1, 1000)


def test_what_cannot_be_enumerated_is_bounded_by_publishing_all():
    counts = table(3)
    joint = counted(counts, A, B)
    solution = design(counted(counts, A), MaxLift(0.05))
    found = told_together(joint, [solution.integers] * 17, [A] * 17)
    assert not found.exact
    assert found.max_lift == brute_force(counts, [(1, PUBLISHED)])


PUBLISHED = checker.Integers({"x": ["0", "1", "2"]}, 1, [{0: 2}, {1: 2}, {2: 2}], None)

FAMILIES = [
    lambda e: MaxLift(e),
    lambda e: AlphaLift(3, e / 2),
    lambda e: LIP(e),
    lambda e: LDP(2 * e),
    lambda e: TotalVariation(e / 2),
    lambda e: ChiSquare(e),
    lambda e: KL(e**2 / 2),
    lambda e: Renyi(2, e / 3),
    lambda e: AlphaLift(5, e / 2) & MaxLift(e),
    lambda e: KL(e**2 / 2) & LIP(lower=2 * e, upper=e),
]


def lifts_together(counts, first, second):
    """P(s | y1, y2) / P(s) for all outputs, and the prior, in floats: columns a and b."""
    laws = [m.mechanism.p_y_given_x for m in (first, second)]
    p = np.einsum("sabc,ya,zb->yzs", counts / counts.sum(), *laws).reshape(-1, len(counts))
    prior = counts.sum(axis=(1, 2, 3)) / counts.sum()
    p = p[p.sum(axis=1) > 0]
    return p / p.sum(axis=1, keepdims=True) / prior, prior


@pytest.mark.parametrize("family", range(len(FAMILIES)))
@pytest.mark.parametrize("seed", range(10))
def test_a_design_after_another_keeps_the_promise_together_and_beats_every_split(family, seed):
    """100 pairs of mechanisms of two columns: proven, certified, and at least as useful as the best budget found by splitting."""
    counts = table(seed, shape=(2 + seed % 2, 3, 3, 1))
    promise = FAMILIES[family]
    first = design(counted(counts, A), promise(0.1), solver=QUICK)
    joint = counted(counts, B, A)
    second = design(joint, promise(0.3), after=[first], solver=QUICK)
    assert second.relative_gap <= 1.1e-4
    lifts, prior = lifts_together(counts, first, second)
    assert (promise(0.3).value(lifts, prior) <= promise(0.3).budget * (1 + 1e-12)).all()
    document = json.loads(to_json(to_document(second)))
    assert all(verdict.proven for verdict in checker.check(document))
    for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
        split = design(counted(counts, B), promise(share), solver=QUICK)
        lifts, prior = lifts_together(counts, first, split)
        if promise(0.3).allows(lifts, prior).all():
            assert second.utility >= split.utility - 1e-4 * second.utility_function.of_publishing_all(joint.p_x) - 1e-9


def test_the_same_column_again_and_a_triple():
    counts = table(5, shape=(3, 3, 3, 1))
    joint = counted(counts, A)
    first = design(joint, MaxLift(0.1))
    second = design(joint, MaxLift(0.25), after=[first])
    third = design(counted(counts, B, A), MaxLift(0.5), after=[first, second])
    assert 0 < third.normalized_utility < design(counted(counts, B), MaxLift(0.5)).normalized_utility
    told = told_together(counted(counts, B, A), [m.integers for m in (first, second, third)], [A, A, B])
    assert float(told.max_lift) <= np.exp(0.5)
    assert all(verdict.proven for verdict in checker.check(json.loads(to_json(to_document(third)))))


def test_pml_after_a_release_of_the_same_column():
    counts = table(6)
    joint = counted(counts, A)
    first = design(joint, PML(0.2))
    second = design(joint, PML(0.5), after=[first])
    laws = [m.mechanism.p_y_given_x for m in (first, second)]
    p = np.einsum("a,ya,za->yza", joint.p_x, *laws).reshape(-1, 3)
    p = p[p.sum(axis=1) > 0]
    assert (p / p.sum(axis=1, keepdims=True) / joint.p_x).max() <= np.exp(0.5) * (1 + 1e-12)
    assert all(verdict.proven for verdict in checker.check(json.loads(to_json(to_document(second)))))


@pytest.mark.parametrize("seed", range(5))
def test_a_budget_that_is_used_up_leaves_what_tells_nothing_more(seed):
    counts = table(seed)
    joint = counted(counts, B, A)
    first = design(counted(counts, A), MaxLift(0.1), solver=QUICK)
    second = design(joint, MaxLift(0.1), after=[first], solver=Optimal(time_limit=2))
    lifts, _ = lifts_together(counts, first, second)
    assert lifts.max() <= np.exp(0.1) * (1 + 1e-12)
    assert all(verdict.proven for verdict in checker.check(json.loads(to_json(to_document(second)))))
    with pytest.raises(PromiseError, match=r"breaks .* by itself"):
        design(joint, MaxLift(0.01), after=[first])


def test_perfect_privacy_together_is_exact():
    """S independent of each column and of both: what is kept has lifts of exactly 1 together."""
    rng = np.random.default_rng(1)
    pairs = rng.integers(1, 9, (3, 3))
    counts = np.stack([pairs, 2 * pairs])[..., None]  # (s, a, b): S tells nothing of a and b
    counts = np.concatenate([counts, counts * 0], axis=3)
    first = design(counted(counts, A), MaxLift(0))
    second = design(counted(counts, B, A), MaxLift(0), after=[first])
    assert min(first.normalized_utility, second.normalized_utility) > 1 - 1e-9
    assert brute_force(counts, [(1, first.integers), (2, second.integers)]) == 1
    assert all(verdict.proven for verdict in checker.check(json.loads(to_json(to_document(second)))))


def test_the_joint_must_have_all_columns():
    counts = table(0)
    first = design(counted(counts, A), MaxLift(0.1))
    with pytest.raises(InputError, match="count them together"):
        design(counted(counts, B), MaxLift(0.3), after=[first])


@pytest.mark.parametrize("withheld", [False, True])
def test_files_name_what_they_come_after(tmp_path, withheld):
    counts = table(2)
    first = design(counted(counts, A), AlphaLift(3, 0.05))
    second = design(counted(counts, B, A), AlphaLift(3, 0.2), after=[first])
    document, opening = to_document(second), None
    if withheld:
        document, opened = withhold_joint(document, "salt")
        assert first.integers.identity not in to_json(document), "which would confirm a guess of the table before"
        assert len(document["after"]["sealed"]) == 1
        opening = tmp_path / "opening.json"
        opening.write_text(to_json(opened))
    (tmp_path / "m.json").write_text(to_json(document))
    stored = load(tmp_path / "m.json", opening)
    assert [own.identity for own in stored.after.integers] == [first.integers.identity]
    assert stored.joint.origin == Origin(("secret",), ("b",))
    assert any("the 1 mechanism that it comes after" in verdict.text for verdict in stored.verdicts)
    if opening is not None:  # whose columns are sealed, too
        opened["after"]["mechanisms"][0]["table"]["useful"] = ["c"]
        opening.write_text(to_json(opened))
        with pytest.raises(ProofError, match="comes after other mechanisms"):
            load(tmp_path / "m.json", opening)


def test_joints_without_names_are_the_same_column_only_if_they_are_one_joint():
    """S = A xor B: both joints have the same numbers, and a design after the other would publish B whole."""
    a, b = (Joint([[100, 100], [100, 100]], counts=True) for _ in range(2))
    with pytest.raises(InputError, match="does not name its columns"):
        design(b, MaxLift(0.1), after=[design(a, MaxLift(0.1))])
    counts = table(1)
    plain = Joint(counted(counts, A).weights, counts=True)
    again = design(plain, MaxLift(0.3), after=[design(plain, MaxLift(0.1))])
    assert 0 < again.normalized_utility < 1


def test_what_an_earlier_release_came_after_counts_as_well():
    counts = table(7, shape=(3, 3, 3, 2))
    first = design(counted(counts, A), MaxLift(0.1))
    second = design(counted(counts, B, A), MaxLift(0.25), after=[first])
    joint = counted(counts, C, *columns_before([second]))
    third = design(joint, MaxLift(0.4), after=[second])
    assert len(third.after.integers) == 2
    told = told_together(joint, [m.integers for m in (first, second, third)], [A, B, C])
    assert float(told.max_lift) <= np.exp(0.4)
    named = design(joint, MaxLift(0.4), after=[first, second])
    assert len(named.after.integers) == 2, "named as well, it counts once"
    with pytest.raises(InputError, match="count them together"):
        design(counted(counts, C, B), MaxLift(0.4), after=[second])


def test_declared_values_that_nobody_has_are_not_told_to_others():
    joint = Joint([[3, 2, 0], [1, 4, 0]], x_labels=["a", "b", "hiv"], counts=True, origin=Origin(("s",), ("x",)))
    document = to_document(design(joint, MaxLift(0.2)))
    assert document["table"]["without_mass"] == ["hiv"]
    assert "hiv" not in to_json(withhold_joint(document, "salt")[0])


def test_a_small_file_cannot_ask_for_millions_of_combinations():
    counts = table(2)
    good = json.loads(to_json(to_document(design(counted(counts, A), MaxLift(0.1), solver=QUICK))))
    law = {"identity": None, "labels": good["labels"], "bits": 4, "weights": None, "unseen": None, "table": None}
    labels = law["labels"] | {"y": [f"y{i}" for i in range(6)]}
    weights = [[1 + y % 2 * 2, 1 + y % 3, 6 - y] for y in range(6)]
    weights[0] = [16 - sum(row[x] for row in weights[1:]) for x in range(3)]
    integers = checker.Integers(labels, 4, checker.rows_of(weights, dense=True), None, dense=True)
    law |= {"labels": labels, "weights": weights, "identity": integers.identity, "version": 2}
    cells = [[s, x, *[x] * 8, n] for s, row in enumerate(good["joint"]["counts"]) for x, n in enumerate(row)]
    bomb = good | {"unseen": None, "after": {"mechanisms": [law] * 8, "cells": cells}}
    bomb["identity"] = replace(checker.integers_of(good), unseen=None).identity
    assert [(v.claim, "too many" in v.text) for v in checker.check(bomb)] == [("form", True)]


def test_false_claims_about_several_releases_are_refused():
    counts = table(4)
    first = design(counted(counts, A), MaxLift(0.1))
    second = design(counted(counts, B, A), MaxLift(0.25), after=[first])
    good = json.loads(to_json(to_document(second)))

    def verdicts(change):
        document = json.loads(json.dumps(good))
        change(document)
        return {verdict.claim: verdict.proven for verdict in checker.check(document)}

    assert all(verdicts(lambda document: None).values())
    assert not verdicts(lambda d: d["promise"].update(epsilon="0.2"))["promise"]
    alone = design(counted(counts, B), MaxLift(0.25))

    def swap(document):
        integers = replace(alone.integers, unseen=None)
        document.update(weights=integers.listed, labels=integers.labels, identity=integers.identity)

    assert not verdicts(swap)["promise"], "a mechanism that keeps the promise alone, but not together"

    def move(document):  # a person from one value of x to another, so that cells and counts differ
        cells = document["after"]["cells"]
        other = next(cell for cell in cells if cell[1] != cells[0][1])
        cells[0][-1] -= 1
        other[-1] += 1

    assert verdicts(move) == {"form": False}
    assert verdicts(lambda d: d["after"]["mechanisms"].pop()) == {"form": False}
    assert verdicts(lambda d: d["after"]["mechanisms"][0]["weights"].reverse()) == {"form": False}
    assert verdicts(lambda d: d.update(version=1)) == {"form": False}
    assert verdicts(lambda d: d.update(unseen=d["weights"][0])) == {"form": False}
    tighter = f"{float(good['claims']['optimum_at_most']) - 0.01:.6f}"
    assert not verdicts(lambda d: d["claims"].update(optimum_at_most=tighter))["optimum"]
