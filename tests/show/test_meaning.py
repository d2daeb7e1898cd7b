"""What a mechanism means, against enumeration of every (s, x, y) in fractions of the integers that are sampled."""

import re
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from alphalift import LIP, PML, AlphaLift, Custom, Joint, MaxLift, Optimal, columns_before, describe, design, read_joint
from alphalift.show.meaning import Guesses, _share
from regions.every import FAMILIES

JOINT = Joint([[30, 10, 5], [10, 30, 500], [3, 9, 1]], ["rare", "common", "odd"], ["a", "b", "c"], counts=True)


def enumerated(solution):
    """P(s, y) from counts and weights, one (s, x, y) after the other."""
    joint, integers = solution.joint, solution.integers
    told = {}
    for s, x, y in product(range(len(joint.s_labels)), range(len(joint.x_labels)), range(len(integers.weights))):
        weight = Fraction(integers.weights[y].get(x, 0), 2**integers.bits)
        told[s, y] = told.get((s, y), 0) + Fraction(joint.weights[s][x], joint.total) * weight
    return told


def by_hand(told):
    """(before, after, most, people) of the best guess and of the belief in every group."""
    secrets, outputs = ({key[i] for key in told} for i in (0, 1))
    p_s = {s: sum(told[s, y] for y in outputs) for s in secrets}
    p_y = {y: sum(told[s, y] for s in secrets) for y in outputs}
    belief = {(s, y): told[s, y] / p_y[y] for s in secrets for y in outputs if p_y[y]}

    def guess(before, after, by_output):
        most = max(by_output.values())
        return before, after, most, sum(p_y[y] for y, own in by_output.items() if own > most - Fraction(1, 10**12))

    surest = {y: max(belief[s, y] for s in secrets) for y in outputs if p_y[y]}
    best = guess(max(p_s.values()), sum(p_y[y] * own for y, own in surest.items()), surest)
    groups = {}
    for s in secrets:
        mean = sum(told[s, y] / p_s[s] * belief[s, y] for y in outputs if p_y[y])
        groups[s] = guess(p_s[s], mean, {y: belief[s, y] for y in outputs if p_y[y]})
    return best, groups


def numbers(guess):
    return guess.before, guess.after, guess.most, guess.people


def percentages(text):
    return [Fraction(number) / 100 for number in re.findall(r"(\d+\.\d+)%", text)]


@pytest.mark.parametrize("region", [MaxLift(0.1), AlphaLift(3, 0.3), MaxLift(9), MaxLift(0), PML(1), LIP(0.4)], ids=str)
def test_every_number_is_that_of_enumeration(region):
    solution = design(JOINT, region)
    found, (best, groups) = Guesses.of(solution), by_hand(enumerated(solution))
    assert numbers(found.best) == pytest.approx(tuple(map(float, best)), abs=1e-12)
    for s, own in groups.items():
        assert numbers(found.groups[s]) == pytest.approx(tuple(map(float, own)), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_sentences_are_true_to_the_last_digit(seed):
    """Chances with the release are not understated, those without not overstated, and by less than a unit of what is shown."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 60, (3, 5)) + np.array([[1], [9], [200]]) * (seed % 2)
    solution = design(Joint(counts + 1, counts=True), MaxLift(0.2))
    best, groups = by_hand(enumerated(solution))
    text = describe(solution)
    (line,) = re.findall(r"  - the best guess of the secret is right (.*)\.\n", text)
    shown = percentages(line)
    if best[1] - best[0] > Fraction(1, 10**12):
        assert best[0] - Fraction(1, 1000) <= shown.pop(0) <= best[0]
    slack = Fraction(1, 10**12)
    for number, exact in zip(shown, (best[1], best[2], best[3]), strict=True):
        assert exact - slack <= number <= exact + Fraction(1, 1000)
    for s, (before, after, most, _) in groups.items():
        (line,) = re.findall(
            rf"for a person of group s{s}, the chance that an observer gives to that group is (.*)\.\n", text
        )
        first, second, third = percentages(line)
        assert before - Fraction(1, 1000) <= first <= before + slack
        assert after - slack <= second <= after + Fraction(1, 1000)
        assert most - slack <= third <= most + Fraction(1, 1000)


def test_a_guess_that_does_not_become_better_is_said_to_be_the_same():
    """One group of 90% that no output makes less than likeliest: guessing it stays best, and beliefs move all the same."""
    joint = Joint([[500, 400], [40, 60]], ["most", "few"], counts=True)
    found = Guesses.of(design(joint, MaxLift(9)))
    assert not found.best.helps
    assert found.best.most > found.best.before
    assert "is right for at most 90.0% of the people, with it as without;" in describe(design(joint, MaxLift(9)))


def test_after_other_releases_it_means_what_all_tell_together():
    """Enumerated over (s, x, z) of the table and both outputs."""
    rows = [
        (s, x, z)
        for s, x, z in product("ab", "cd", "ef")
        for _ in range(3 + 5 * (s == "a") * (x == "c") + 2 * (z == "e") + 4 * (s == "b") * (z == "f"))
    ]
    table = pd.DataFrame(rows, columns=["s", "x", "z"])
    first = design(read_joint(table, sensitive="s", useful="z"), MaxLift(0.1))
    joint = read_joint(table, sensitive="s", useful="x", beside=columns_before([first]))
    second = design(joint, MaxLift(0.25), after=[first])
    told = {}
    for s, x, z in rows:
        for (i, own), (j, other) in product(enumerate(first.integers.weights), enumerate(second.integers.weights)):
            weight = own.get("ef".index(z), 0) * other.get("cd".index(x), 0)
            key = "ab".index(s), (i, j)
            told[key] = told.get(key, 0) + Fraction(
                weight, len(rows) * 2 ** (first.integers.bits + second.integers.bits)
            )
    found, (best, groups) = Guesses.of(second), by_hand(told)
    assert numbers(found.best)[:3] == pytest.approx(tuple(map(float, best[:3])), abs=1e-12)
    for s, own in groups.items():
        assert numbers(found.groups[s])[:3] == pytest.approx(tuple(map(float, own[:3])), abs=1e-12)
    assert "with it and those before it" in describe(second)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_promise_has_a_meaning(name):
    text = describe(design(JOINT, FAMILIES[name](0.3)), secret="group", useful="letter")
    assert text.count("for a person of group ") == 3
    assert f"the best guess of {'letter' if name == 'PML' else 'group'} is right" in text


def test_floats_that_nothing_proves_have_one_too():
    own = Custom(
        "spread", 0.2, lambda lifts, p: np.abs(lifts - 1) @ p / 2, lambda w, p: w @ p + 0.2 * np.ptp(w, axis=-1)
    )
    solution = design(JOINT, own, solver=Optimal(time_limit=1))
    assert solution.integers is None
    assert "the best guess of the secret is right" in describe(solution)


def test_of_many_groups_those_are_told_that_stand_out():
    counts = np.random.default_rng(3).integers(5, 50, (9, 4)) * np.array([[1], [9], *([3],) * 7])
    found = Guesses.of(design(Joint(counts, counts=True), MaxLift(0.1)))
    shares = [own.before for own in found.groups]
    rises = [own.most / own.before for own in found.groups]
    assert set(found.told_of) == {np.argmin(shares), np.argmax(shares), np.argmax(rises)}
    assert describe(design(Joint(counts, counts=True), MaxLift(0.1))).count("for a person of group") <= 3


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (0.0, "0.0%", "0.0%"),
        (1.0, "100.0%", "100.0%"),
        (0.4, "40.0%", "40.0%"),
        (0.4 + 1e-6, "40.1%", "40.0%"),
        (0.000123, "0.013%", "0.012%"),
        (0.99999, "100.0%", "99.9%"),
        (0.07, "7.0%", "7.0%"),
        (1 + 1e-16, "100.0%", "100.0%"),
    ],
)
def test_shares_are_rounded_to_the_side_that_tells_more(value, up, down):
    assert (_share(value), _share(value, up=False)) == (up, down)
