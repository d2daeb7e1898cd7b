"""Corners where a promise was once misjudged, each by what it must do."""

import math
import warnings

import numpy as np
import pytest

from alphalift import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    Custom,
    Joint,
    MaxLift,
    Optimal,
    PromiseError,
    Renyi,
    SettingError,
    TotalVariation,
    describe,
    design,
    implications,
    sweep,
    to_document,
)
from alphalift.baselines import SubsetMerging
from alphalift.exact import exact
from alphalift.proof import checker
from alphalift.regions import parse
from alphalift.utilities import MutualInformation

JOINT = Joint([[10, 20, 5], [7, 1, 30], [3, 9, 9]], counts=True)
ZEROS = Joint([[3, 0, 2], [0, 5, 1], [2, 1, 4]], counts=True)


def test_a_promise_about_x_is_kept_in_sweeps_too():
    tradeoff = sweep(JOINT, [MaxLift(0.2), PML(0.2), KL(0.1)], workers=1)
    pointwise = tradeoff.at(PML(0.2))
    assert pointwise.mechanism.check(PML(0.2))
    assert pointwise.utility == pytest.approx(design(JOINT, PML(0.2)).utility, abs=1e-4)
    assert PML(0.2) != MaxLift(0.2)
    assert tradeoff.at(MaxLift(0.2)).region == MaxLift(0.2)


@pytest.mark.parametrize("solver", [Optimal(), SubsetMerging()])
def test_no_solver_answers_for_the_wrong_secret(solver):
    with pytest.raises(SettingError, match="another secret"):
        solver.solve(JOINT, [PML(0.2)], MutualInformation())


def test_a_promise_about_x_is_described_as_one():
    told = describe(design(JOINT, PML(0.3)), secret="race", useful="education")
    assert "Promise about education itself" in told
    assert "race" not in told


@pytest.mark.parametrize(
    ("tight", "loose"),
    [
        (LIP(lower=0.2, upper=3), LIP(lower=0.2, upper=30)),
        (KL(0.05), KL(0.05) & MaxLift(30)),
        (KL(0.05), KL(0.05) & TotalVariation(900)),
        (KL(0.05), AlphaLift(3, 300) & KL(0.05)),
        (KL(0.05), KL(0.05) & LDP(800)),
        (LDP(0.4), LDP(0.4) & MaxLift(5)),
        (TotalVariation(0.05), Renyi(3, 900) & TotalVariation(0.05)),
        (TotalVariation(0.05), KL(900) & TotalVariation(0.05)),
    ],
    ids=str,
)
def test_a_part_that_does_not_bind_costs_nothing(tight, loose):
    joint = JOINT if "LDP" in repr(loose) and "LDP" not in repr(tight) else ZEROS
    one, other = (design(joint, region, solver=Optimal(time_limit=5)) for region in (tight, loose))
    assert other.utility == pytest.approx(one.utility, abs=3e-4)
    assert other.relative_gap <= 1e-4
    document = to_document(other)
    assert all(verdict.proven for verdict in checker.check(document))
    assert float(document["claims"]["optimum_at_most"]) <= other.upper_bound + 1e-5


def test_a_users_value_may_depend_on_the_prior():
    most = 0.45

    def support(w, p_s):
        shares = np.clip(1 - most * np.arange(w.shape[-1]), 0, most)
        return (np.sort(w, axis=-1)[..., ::-1] * shares).sum(axis=-1)

    guess = Custom("guess", most, lambda lifts, p_s: (lifts * p_s).max(axis=-1), support)
    joint = Joint([[8, 1, 1, 2], [1, 8, 2, 1], [2, 1, 8, 1], [1, 2, 1, 8]], counts=True)
    solver = Optimal(time_limit=5)
    alone, both = (design(joint, region, solver=solver) for region in (guess, guess & KL(900)))
    assert alone.mechanism.check(guess & KL(900))
    assert both.upper_bound >= alone.utility - 1e-9


def test_implications_are_never_too_strong():
    lifts, p_s = np.array([[math.exp(20), math.exp(-20)]]), np.array([0.0, 1.0])
    p_s[0] = (1 - lifts[0, 1]) / (lifts[0, 0] - lifts[0, 1])
    p_s[1] = 1 - p_s[0]
    assert LIP(20.001).allows(lifts, p_s).all()
    assert all(found.region.allows(lifts, p_s).all() for found in implications(LIP(20.001)))
    assert not any(isinstance(found.region, LDP) for found in implications(LIP(600)))
    assert implications(AlphaLift(1.001, 10)) == ()
    assert all(not found.region.perfect for found in implications(KL(1e-300)))


@pytest.mark.parametrize(
    "text", ["AlphaLift(1e12, 0.1)", "Renyi(1e12, 0.1)", "-" * 50_000 + "1", "KL(1e99999999)", "AlphaLift(inferno, 1)"]
)
def test_what_cannot_be_is_refused_at_once(text):
    with pytest.raises(PromiseError):
        parse(text)


def test_exponents_of_millions_are_no_numbers():
    for text in ("1e99999999", "1e-99999999"):
        with pytest.raises(ValueError, match="not a finite number"):
            exact(text)


@pytest.mark.parametrize("region", [LIP(lower=1, upper=800), LIP(lower=999, upper=0.2), LDP(700)], ids=str)
def test_huge_budgets_and_lifts_of_zero_have_a_value(region):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = region.value(ZEROS.lift.T, ZEROS.p_s)
    assert not np.isnan(values).any()
    assert design(ZEROS, region, solver=Optimal(time_limit=2)).mechanism.check(region)


@pytest.mark.parametrize("region", [LDP(1e-9), LDP(1e-12), MaxLift(1e-15), KL(1e-16)], ids=str)
def test_a_tiny_budget_does_no_worse_than_none(region):
    joint = Joint([[3, 0, 5], [0, 4, 1]], counts=True)
    assert design(joint, region).utility >= design(joint, MaxLift(0)).utility - 1e-6
