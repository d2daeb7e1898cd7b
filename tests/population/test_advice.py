"""Advice on robust designs: every number is that of a design that anybody can repeat, within the clock."""

import math
import re

import numpy as np
import pytest

from alphalift import KL, PML, AlphaLift, Joint, MaxLift, Optimal, Renyi, Robust, design
from alphalift.clock import Clock
from alphalift.population import advise
from alphalift.population.advice import _smaller_order, merging, too_rare
from alphalift.regions.margin import Margin
from alphalift.show.advice import advice_lines

COUNTS = np.array([[300, 80, 120], [90, 310, 150], [2, 1, 4], [3, 2, 1]])
JOINT = Joint(COUNTS, ["a", "b", "few", "fewer"], counts=True)


@pytest.fixture(scope="module")
def solution():
    return design(JOINT, Robust(MaxLift(0.3)))


def test_numbers_are_those_of_designs_done_by_hand(solution):
    promise, advice = MaxLift(0.3), advise(solution)
    assert advice.robust == solution.normalized_utility
    assert advice.plain == pytest.approx(design(JOINT, promise).normalized_utility, abs=1e-3)
    merged = Joint(np.vstack([COUNTS[:2], COUNTS[2:].sum(axis=0)]), counts=True)
    by_hand = {
        "alpha = 10": design(JOINT, Robust(AlphaLift(10, 0.3))),
        "few and fewer as one secret": design(merged, Robust(promise)),
        "ten times the records": design(Joint(10 * COUNTS, counts=True), Robust(promise)),
    }
    assert {own.wish: own.kept for own in advice.alternatives} == {
        wish: pytest.approx(own.normalized_utility, abs=1e-6) for wish, own in by_hand.items()
    }
    cost, rare, other = advice_lines(advice, secret="group", useful="letter")
    assert f"this design keeps {solution.normalized_utility:.1%}" in cost
    assert "few, fewer" in rare
    shown = [float(number) / 100 for number in re.findall(r"at least (\d+\.\d)%", other)]
    for number, own in zip(shown, by_hand.values(), strict=True):
        assert own.normalized_utility - 1e-3 <= number <= own.normalized_utility


def test_what_is_late_is_said_to_be(solution):
    advice = advise(solution, clock=Clock(0))
    assert [own.kept for own in advice.alternatives] == [None] * 3
    lines = advice_lines(advice, secret="s", useful="x")
    assert lines[2].count("not computed in time") == 3


def test_a_design_that_is_over_when_its_clock_is_does_not_count(solution):
    """Time that runs out during the first alternative: its number would be that of a search cut short."""
    seconds = iter(np.repeat([0.0, 0.01, 1e9], [3, 1, 10**6]))
    clock = Clock(60, now=lambda: float(next(seconds)))
    advice = advise(solution, clock=clock)
    assert all(own.kept is None for own in advice.alternatives)


def test_a_plain_design_is_advised_on_as_well(solution, monkeypatch):
    monkeypatch.setattr("alphalift.population.advice._kept", lambda *_: None)
    plain = design(JOINT, MaxLift(0.3))
    advice = advise(plain)
    assert advice.plain == pytest.approx(plain.normalized_utility, abs=1e-3)
    assert advice.robust < advice.plain
    assert advice.robust == pytest.approx(solution.normalized_utility, abs=1e-6)


def test_certainty_is_advised_to_do_with_less(solution):
    advice = advise(design(JOINT, Robust(MaxLift(0.3), confidence=1.0)))
    assert advice.rare is None
    (own,) = advice.alternatives
    assert own.wish == "95% confidence"
    assert own.kept == pytest.approx(solution.normalized_utility, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.8])
@pytest.mark.parametrize("records", [1, 5, 20, 60, 200, 1000])
@pytest.mark.parametrize("alpha", [math.inf, 4.0])
def test_a_secret_is_too_rare_where_its_margin_refuses_what_the_floor_allows(epsilon, records, alpha):
    """The margin's own value of an output with g in {0, t} that tells nothing about S by the records, S being independent of X."""
    promise = AlphaLift(alpha, epsilon)
    common = 40_000
    share = records / (records + common)
    most = promise.group_limit(np.array([True, False]), np.array([share, 1 - share]))
    base = Joint([[records, 0], [0, common]], counts=True)  # margins know of the records how many each secret has
    errors, margin = 2.8, Margin(promise, base, 2.8)
    g, p_x = np.array([most, 0.0]), np.array([1 / most, 1 - 1 / most])
    rho, tau = math.sqrt((g - 1) ** 2 @ p_x), g.max()
    assert g @ p_x == pytest.approx(1)
    asked = (1 - margin.unseen[0]) + margin.unseen[0] * tau + margin.own[0] * rho
    if abs(asked - most) > 1e-9:
        rare = too_rare(promise, base, errors)
        assert ("s0" in rare) == (asked > most)
        assert rare.get("s0", math.inf) > records


def test_the_records_that_are_needed_are_the_fewest():
    few = Joint([[3, 2], [500, 700]], counts=True)
    (needed,) = too_rare(MaxLift(0.2), few, 2.8).values()
    room, others = math.expm1(0.2), 1205 / 1205 * (1 - 5 / 1205)

    def refused(n):
        further = 2.8**2 / 6
        return 2.8 * math.sqrt(others / (n + 1) * room) + further / (n + further) * room > room

    assert refused(needed - 1)
    assert not refused(needed)
    assert too_rare(MaxLift(0.2), few, 0.0) == {}
    assert too_rare(PML(0.2), few, 2.8) is None


def test_smaller_orders_and_merged_secrets():
    assert _smaller_order(MaxLift(0.2)) == (10, AlphaLift(10, 0.2))
    assert _smaller_order(AlphaLift(10, 0.2)) == (3, AlphaLift(3, 0.2))
    assert _smaller_order(Renyi(3, 0.2)) == (1.5, Renyi(1.5, 0.2))
    assert _smaller_order(MaxLift(0.2) & KL(0.1)) == (10, AlphaLift(10, 0.2) & KL(0.1))
    for promise in (AlphaLift(1.5, 0.2), KL(0.1), PML(0.5)):
        assert _smaller_order(promise) is None
    names, joint = merging(JOINT, ())
    assert names == ("few", "fewer")
    assert joint.weights == ((300, 80, 120), (90, 310, 150), (5, 3, 5))
    assert merging(JOINT, ("b",))[0] == ("b", "fewer")
    assert merging(Joint([[1, 2], [3, 4]], counts=True), ()) is None
    assert merging(JOINT, JOINT.s_labels) is None


def test_optimal_is_asked_with_the_settings_that_were_given():
    advice = advise(design(JOINT, Robust(KL(0.05))), solver=Optimal(relative_gap=1e-2))
    assert [own.wish for own in advice.alternatives] == ["few and fewer as one secret", "ten times the records"]
    assert all(0 < own.kept <= 1 for own in advice.alternatives)
