"""Promises as text, and back."""

import math

import pytest
from every import REGIONS

from alphalift import LIP, AlphaLift, MaxLift, PromiseError, Renyi
from alphalift.regions import parse


@pytest.mark.parametrize("region", REGIONS.values(), ids=REGIONS)
def test_repr_is_read_back(region):
    assert parse(repr(region)) == region


def test_numbers_are_read_as_they_are_typed():
    assert parse(" AlphaLift(10, .3) & MaxLift(1)") == AlphaLift(10, 0.3) & MaxLift(1)
    assert parse("LIP(lower=0.5, upper=2e-1)") == LIP(lower=0.5, upper=0.2)
    assert parse("Renyi(inf, 0.1)") == Renyi(math.inf, 0.1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("OnAvrage(KL(0.1))", "there is no promise 'OnAvrage', perhaps OnAverage: "),
        ("kl(0.1)", "there is no promise 'kl', perhaps KL: "),
        ("OnAverage(KL(0.1)) & maxlift(1)", "there is no promise 'maxlift', perhaps MaxLift: "),
        ("KL(0.1) & MaxLift", "MaxLift is a kind of promise, without its numbers: "),
        ("Zzz(3)", "there is no promise 'Zzz': "),
    ],
)
def test_what_was_meant_is_told(text, words):
    with pytest.raises(PromiseError) as error:
        parse(text)
    assert str(error.value).startswith(words)
    assert str(error.value).endswith("Renyi, OnAverage")


@pytest.mark.parametrize(
    "text",
    ["", "3", "AlphaLift", "AlphaLift(3", "Other(3)", "MaxLift(-1)", "MaxLift(1) | MaxLift(2)", "MaxLift(epsilon=a)",
     "__import__('os')", "MaxLift(1, 2)", "MaxLift(*[1])", "MaxLift(1)(2)", "LIP()", "LIP(1, lower=1)", "KL(0.1j)",
     "MaxLift(1) & " * 9 + "MaxLift(1)", "(" * 300 + "1", "PML(1) & MaxLift(1)"],
)  # fmt: skip
def test_what_is_no_promise_is_refused(text):
    with pytest.raises(PromiseError):
        parse(text)
