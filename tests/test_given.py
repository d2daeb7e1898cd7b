"""What functions are given: promises and utilities as text, and one line of advice for what is neither, or no joint."""

from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest

from alphalift import (
    KL,
    LDP,
    AlphaLift,
    GuessingAccuracy,
    InputError,
    MaxLift,
    OnAverage,
    Optimal,
    Robust,
    alpha_for,
    compare,
    curve,
    design,
    epsilon_for,
    sweep,
)
from alphalift.errors import JointError, PromiseError, SettingError
from alphalift.given import most_gained, region_of
from strategies import random_joint

JOINT = random_joint(3, (2, 3))
QUICK = Optimal(node_limit=500)
FRAME = pd.DataFrame({"secret": ["a", "b"], "useful": ["p", "q"]})
ASK = {
    "design": lambda joint: design(joint, MaxLift(0.3)),
    "compare": lambda joint: compare(joint, MaxLift(0.3)),
    "curve": lambda joint: curve(joint, AlphaLift, alpha=10),
    "epsilon_for": lambda joint: epsilon_for(joint, AlphaLift, alpha=10, normalized_utility=0.5),
    "alpha_for": lambda joint: alpha_for(joint, epsilon=0.2, normalized_utility=0.5),
    "sweep": lambda joint: sweep(joint, [MaxLift(0.3)]),
}


def test_promises_and_utilities_may_be_given_as_text():
    found = design(JOINT, "LDP(0.5) & MaxLift(1)", utility="GuessingAccuracy()", solver=QUICK)
    assert found.region == LDP(0.5) & MaxLift(1)
    assert found.utility_function == GuessingAccuracy()
    assert found.mechanism.check("LDP(0.5)").kept
    assert compare(JOINT, "MaxLift(0.3)", utility="GuessingAccuracy()", solver=QUICK).region == MaxLift(0.3)
    assert sweep(JOINT, ["MaxLift(0.3)", KL(0.1)], solver=QUICK, workers=1).regions == (MaxLift(0.3), KL(0.1))
    assert sweep(JOINT, "MaxLift(0.3)", solver=QUICK, workers=1).regions == (MaxLift(0.3),)
    assert Robust("MaxLift(0.3)").promise == MaxLift(0.3)  # type: ignore[arg-type]


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
@pytest.mark.parametrize(
    "given", [FRAME, np.eye(2) / 2, "people.csv", None, MaxLift(1)], ids=lambda own: type(own).__name__
)
def test_a_table_or_numbers_in_place_of_a_joint_are_told_how_to_become_one(ask, given):
    with pytest.raises(JointError, match=r"expected a Joint, not .* read_joint"):
        ask(given)


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        (MaxLift, "MaxLift is a kind of promise, without its numbers"),
        (None, "expected a promise like MaxLift(0.3), or its text, not NoneType"),
        (0.3, "or its text, not float"),
        ("MaxLft(1)", "perhaps MaxLift"),
        (JOINT, "not Joint"),
    ],
)
def test_what_is_no_promise_is_told_so(promise, words):
    for ask in (design, compare, lambda joint, own: sweep(joint, [own]), lambda _, own: Robust(own)):
        with pytest.raises(PromiseError) as error:
            ask(JOINT, promise)
        assert words in str(error.value)


@pytest.mark.parametrize(
    ("utility", "words"),
    [(GuessingAccuracy, "with its brackets"), (3, "not int"), ("Guessing()", "perhaps GuessingAccuracy")],
)
def test_what_is_no_utility_is_told_so(utility, words):
    asks = [
        lambda: design(JOINT, MaxLift(1), utility=utility),
        lambda: sweep(JOINT, [MaxLift(1)], utility=utility),
        lambda: curve(JOINT, AlphaLift, alpha=10, utility=utility),
        lambda: epsilon_for(JOINT, AlphaLift, alpha=10, normalized_utility=0.5, utility=utility),
    ]
    for ask in asks:
        with pytest.raises(SettingError, match=words):
            ask()


def test_a_solver_is_one():
    with pytest.raises(SettingError, match="expected a solver like"):
        design(JOINT, MaxLift(1), solver="optimal")


@pytest.mark.parametrize(
    ("promise", "others"),
    [
        (AlphaLift, {}),
        (AlphaLift(10, 0.3), {}),
        ("AlphaLift", {"alpha": 10}),
        (OnAverage, {}),
        (MaxLift, {"alpha": 10}),
    ],
)
def test_a_kind_of_promise_is_asked_for_with_an_example(promise, others):
    for ask in (curve, lambda *given, **named: epsilon_for(*given, normalized_utility=0.5, **named)):
        with pytest.raises(PromiseError, match=r"expected a kind of promise .* AlphaLift, alpha=10\); given .* with "):
            ask(JOINT, promise, **others)


def test_a_share_is_a_number():
    with pytest.raises(InputError, match="normalized_utility is '90%'"):
        epsilon_for(JOINT, AlphaLift, alpha=10, normalized_utility="90%")


def test_a_curve_shows_itself_in_a_few_words_and_names_its_parts():
    found = curve(JOINT, AlphaLift, alpha=[10, 3], accuracy=0.3)
    assert len(repr(found)) < 1000
    with pytest.raises(
        SettingError, match=r"expected the parameters of one curve, and nothing fits 2; there are alpha=10; alpha=3"
    ):
        found.design_at(0.1)


@pytest.mark.parametrize("times", ["1", "1.000001", "1.5", "2", "2.718281828459045", " 7 ", "1e3", "1e100"])
def test_the_most_that_a_group_gains_is_never_more_than_was_said(times):
    epsilon = most_gained(times)
    with localcontext(prec=200):
        assert Decimal(epsilon).exp() <= Decimal(times.strip()) < (Decimal(epsilon) + Decimal("0.000001")).exp()
    assert region_of(None, None, None, times) == MaxLift(epsilon)


@pytest.mark.parametrize("times", ["0.9", "-1", "0", "", "abc", "nan", "inf", "150%", "1e101"])
def test_what_no_group_can_gain_is_refused(times):
    with pytest.raises(InputError, match=r"--at-most is .* a number of 1 or more, like 1.5"):
        most_gained(times)


def test_a_promise_is_given_in_one_way():
    for given in (("KL(1)", None, None, "1.5"), (None, "10", None, "1.5"), ("KL(1)", "10", "1", None)):
        with pytest.raises(InputError, match=r"--alpha and --epsilon, as --at-most, or as --promise"):
            region_of(*given)
