"""Curves hold every optimum that others find, and wishes are granted at the least epsilon."""

import math

import numpy as np
import pytest

from alphalift import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    ChiSquare,
    FInformation,
    GuessingAccuracy,
    InputError,
    Joint,
    MaxLift,
    MutualInformation,
    OnAverage,
    Optimal,
    PromiseError,
    Renyi,
    SettingError,
    TotalVariation,
    Vertices,
    alpha_for,
    curve,
    epsilon_for,
    plot_curve,
)
from alphalift.curve.steps import _GAP_SHARE
from alphalift.paper import random_joints

INFORMATION = MutualInformation()
(JOINT,) = random_joints(1, 3, (3, 4))
KINDS = {
    "AlphaLift": (AlphaLift, {"alpha": 3}),
    "MaxLift": (MaxLift, {}),
    "PML": (PML, {}),
    "LIP": (LIP, {}),
    "LDP": (LDP, {}),
    "KL": (KL, {}),
    "TotalVariation": (TotalVariation, {}),
    "ChiSquare": (ChiSquare, {}),
    "Renyi": (Renyi, {"order": 2.5}),
}


def optimum(joint, region, utility=INFORMATION):
    """The utility and the bound of a fresh solve, as shares of X."""
    (found,) = Optimal().solve(joint, [region], utility)
    return found.normalized_utility, found.upper_bound / utility.on(joint).of_publishing_all(joint.p_x)


@pytest.mark.parametrize("kind", KINDS)
def test_envelopes_hold_every_optimum(kind):
    promise, others = KINDS[kind]
    found = curve(JOINT, promise, accuracy=0.05, **others)
    (own,) = found
    assert found.accuracy <= 0.05
    end = min(own.largest, 10.0)
    before = (0.0, 0.0)
    for epsilon in np.sort(np.random.default_rng(7).uniform(0, 1.02 * end, 8)):
        region, bracket = promise(epsilon=epsilon, **others), own.at(epsilon)
        kept, most = optimum(own.joint, region)
        assert bracket.lower <= most + 1e-9
        assert kept <= bracket.upper + 1e-9
        assert bracket.lower <= bracket.upper <= bracket.lower + found.accuracy + 1e-12
        assert bracket.lower >= before[0] - 1e-12
        assert bracket.upper >= before[1] - 1e-12
        before = bracket.lower, bracket.upper
        design = own.design_at(epsilon)
        assert design.integers is not None
        assert design.mechanism.check(region).kept
        assert design.normalized_utility >= bracket.lower - 1e-9
    nothing, _ = optimum(own.joint, promise(epsilon=0, **others))
    assert own.at(0.0).lower == pytest.approx(nothing, abs=1e-9)
    assert own.at(end).lower == pytest.approx(1.0, abs=1e-9)
    assert own.at(end + 1).upper == 1.0


AVERAGES = {
    "MaxLift": lambda epsilon: OnAverage(MaxLift(epsilon)),
    "AlphaLift": lambda epsilon: OnAverage(AlphaLift(3, epsilon)),
    "KL": lambda epsilon: OnAverage(KL(epsilon)),
    "TotalVariation": lambda epsilon: OnAverage(TotalVariation(epsilon)),
    "ChiSquare": lambda epsilon: OnAverage(ChiSquare(epsilon)),
}


@pytest.mark.parametrize("kind", AVERAGES)
def test_curves_of_promises_on_average(kind):
    """Chords in the budget are kept by drawing one of two mechanisms, and prices bound all budgets: few solves are enough."""
    promise = AVERAGES[kind]
    (own,) = curve(JOINT, promise, accuracy=0.01)
    assert own.accuracy <= 0.01
    assert len(own.points) <= 40
    for epsilon in np.random.default_rng(5).uniform(0, own.largest, 6):
        region, bracket = promise(epsilon), own.at(epsilon)
        kept, most = optimum(JOINT, region)
        assert bracket.lower <= most + 1e-9
        assert kept <= bracket.upper + 1e-9
        assert bracket.upper <= bracket.lower + own.accuracy + 1e-12
        design = own.design_at(epsilon)
        assert design.integers is not None
        assert design.mechanism.check(region).kept
        assert design.normalized_utility >= bracket.lower - 1e-9


@pytest.mark.parametrize(
    "utility", [FInformation("chi_square"), FInformation("hellinger"), GuessingAccuracy()], ids=repr
)
@pytest.mark.parametrize("promise", [lambda epsilon: AlphaLift(3, epsilon), AVERAGES["KL"]], ids=["every", "average"])
def test_curves_of_other_utilities(promise, utility):
    (own,) = curve(JOINT, promise, accuracy=0.03, utility=utility)
    assert own.accuracy <= 0.03
    for epsilon in np.random.default_rng(9).uniform(0, own.largest, 4):
        kept, most = optimum(JOINT, promise(epsilon), utility)
        assert own.at(epsilon).lower <= most + 1e-9
        assert kept <= own.at(epsilon).upper + 1e-9


@pytest.mark.parametrize("shape", [(2, 5), (3, 4), (4, 3)])
def test_max_lift_against_the_exact_vertices(shape):
    (joint,) = random_joints(1, 11, shape)
    (own,) = curve(joint, MaxLift, accuracy=0.02)
    epsilons = np.linspace(1e-3, 0.999 * own.largest, 12)
    exact = Vertices().solve(joint, [MaxLift(epsilon) for epsilon in epsilons], INFORMATION)
    for epsilon, solution in zip(epsilons, exact, strict=True):
        bracket = own.at(epsilon)
        assert bracket.lower - 1e-9 <= solution.normalized_utility <= bracket.upper + 1e-9


def test_stairs_hold_between_their_steps():
    (own,) = curve(JOINT, AlphaLift, alpha=10, accuracy=0.05)
    epsilons, lower, upper = own.stairs
    assert (np.diff(epsilons) >= 0).all()
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) >= 0).all()
    assert (upper[1:] - lower[:-1]).max() <= own.accuracy + 1e-12
    for i in range(0, len(epsilons) - 1, 40):
        kept, most = optimum(JOINT, AlphaLift(10, (epsilons[i] + epsilons[i + 1]) / 2))
        assert lower[i] <= most + 1e-9
        assert kept <= upper[i + 1] + 1e-9


def test_a_curve_that_ends_early_says_so_and_is_true():
    found = curve(JOINT, AlphaLift, alpha=[math.inf, 3], accuracy=1e-4, time_limit=0.5)
    assert found.accuracy > 1e-4
    assert len(found) == 2
    for own, bracket in zip(found, found.at(0.1), strict=True):
        kept, most = optimum(JOINT, own.family.at(0.1))
        assert bracket.lower <= most + 1e-9
        assert kept <= bracket.upper + 1e-9


def test_curves_side_by_side_are_those_alone():
    together = curve(JOINT, AlphaLift, alpha=[math.inf, 10, 3], accuracy=0.03)
    assert [own.family.parameters["alpha"] for own in together] == [math.inf, 10, 3]
    for own in together:
        (alone,) = curve(JOINT, AlphaLift, alpha=own.family.parameters["alpha"], accuracy=0.03)
        assert [point.epsilon for point in own.points] == [point.epsilon for point in alone.points]
        assert [point.lower for point in own.points] == [point.lower for point in alone.points]
        assert [point.upper for point in own.points] == [point.upper for point in alone.points]


def test_no_more_budgets_than_the_accuracy_needs():
    """A stretch may rise by the accuracy less what a solve leaves open; most do by nearly that; halving would take 1.47 times as many."""
    (own,) = curve(JOINT, AlphaLift, alpha=10, accuracy=0.003)
    needed = (1.0 - own.at(0.0).lower) / (0.003 * (1 - _GAP_SHARE))
    assert needed <= len(own.points) <= 1.35 * needed


def test_control_c_ends_all_curves_and_keeps_what_is_known(monkeypatch):
    from concurrent.futures import Future

    usual = Future.result

    def interrupted(self, timeout=None):
        monkeypatch.setattr(Future, "result", usual)
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupted)
    found = curve(JOINT, AlphaLift, alpha=[10, 3], accuracy=1e-4, time_limit=20)
    for own in found:
        assert own.interrupted
        assert len(own.points) < 50  # thousands are needed, and time would be left for them
        bracket = own.at(0.1)
        kept, most = optimum(JOINT, own.family.at(0.1))
        assert bracket.lower <= most + 1e-9
        assert kept <= bracket.upper + 1e-9


def test_equal_symbols_and_secrets_that_tell_nothing():
    merged = Joint(
        [[4, 8, 1, 3], [2, 4, 5, 1], [2, 4, 2, 7]], counts=True
    )  # the second symbol says what the first says
    (own,) = curve(merged, AlphaLift, alpha=10, accuracy=0.05)
    for epsilon in (0.02, 0.1, 0.3):
        kept, most = optimum(merged, AlphaLift(10, epsilon))
        assert own.at(epsilon).lower <= most + 1e-9
        assert kept <= own.at(epsilon).upper + 1e-9
    (free,) = curve(Joint([[1, 2], [2, 4]], counts=True), MaxLift)
    assert free.at(0.0).lower == 1.0
    assert free.largest < 1e-12


def test_frames_and_figures():
    found = curve(JOINT, AlphaLift, alpha=[math.inf, 3], accuracy=0.1)
    frame = found.to_frame([0.1, 0.2])
    assert list(frame.columns) == ["alpha", "epsilon", "lower", "upper", "below", "above"]
    assert frame["lower"].tolist() == [bracket.lower for own in found for bracket in (own.at(0.1), own.at(0.2))]
    assert (found.to_frame()["upper"] >= found.to_frame()["lower"]).all()
    axes = plot_curve(found, secret="race", useful="education").axes[0]
    assert "education" in axes.get_title(loc="left")
    assert found.accuracy <= float(found.within) <= 1.01 * found.accuracy
    assert found.within in axes.get_legend().get_title().get_text()
    assert found.of(alpha=3).family.parameters == {"alpha": 3.0}
    with pytest.raises(SettingError, match="there are alpha=inf; alpha=3"):
        found.of()


@pytest.mark.parametrize(
    ("promise", "others", "error", "words"),
    [
        (AlphaLift, {"alpha": 0.5}, PromiseError, "above 1"),
        (AlphaLift, {}, PromiseError, "a budget named epsilon"),
        (lambda epsilon: AlphaLift(3, epsilon) & MaxLift(1), {}, PromiseError, "one budget"),
        (AlphaLift, {"alpha": []}, SettingError, "no value"),
        (MaxLift, {"accuracy": 0.0}, SettingError, "accuracy is 0"),
        (MaxLift, {"time_limit": 0.0}, SettingError, "time_limit is 0"),
    ],
)
def test_what_is_no_curve_is_refused(promise, others, error, words):
    with pytest.raises(error, match=words):
        curve(JOINT, promise, **others)


@pytest.mark.parametrize("kind", ["AlphaLift", "MaxLift", "LDP", "KL", "PML"])
@pytest.mark.parametrize("wanted", [0.6, 0.9, 1.0])
def test_the_least_epsilon_is_that_of_halving_by_hand(kind, wanted):
    promise, others = KINDS[kind]
    found = epsilon_for(JOINT, promise, normalized_utility=wanted, **others)
    assert found.closed
    assert 0 < found.keeps - found.fails <= 1e-3 + 1e-9
    assert found.design.integers is not None
    assert found.design.region == promise(epsilon=found.keeps, **others)
    assert found.design.mechanism.check(found.design.region).kept
    assert found.design.normalized_utility >= wanted - 1e-12
    low, high = 0.0, 10.0
    solver = Optimal(relative_gap=1e-6)
    for _ in range(16):
        middle = (low + high) / 2
        (own,) = solver.solve(found.design.joint, [promise(epsilon=middle, **others)], INFORMATION)
        low, high = (low, middle) if own.normalized_utility >= wanted else (middle, high)
    assert found.fails - 2e-4 <= high
    assert low <= found.keeps + 2e-4


def test_the_strictest_alpha():
    found = alpha_for(JOINT, epsilon=0.1, normalized_utility=0.7)
    assert found.closed
    assert found.keeps < found.fails <= 1 + (found.keeps - 1) * 1.0012
    assert found.design.normalized_utility >= 0.7
    assert optimum(JOINT, AlphaLift(found.fails, 0.1))[0] < 0.7
    everything = alpha_for(JOINT, epsilon=0.79, normalized_utility=0.99)
    assert (everything.keeps, everything.fails) == (math.inf, None)


def test_wishes_that_nothing_or_no_promise_grants():
    nothing = epsilon_for(JOINT, MaxLift, normalized_utility=0.1)
    assert (nothing.keeps, nothing.fails, nothing.closed) == (0.0, None, True)
    for wanted in (0.0, 1.5, math.nan):
        with pytest.raises(InputError, match="at most 1"):
            epsilon_for(JOINT, MaxLift, normalized_utility=wanted)
    with pytest.raises(InputError, match=r"at most 0\.\d+: ask for less"):
        alpha_for(JOINT, epsilon=1e-4, normalized_utility=0.999)
    never = Joint([[1, 0, 2], [0, 3, 1], [2, 1, 0]], counts=True)  # LDP never lets such an X out
    with pytest.raises(InputError, match="never allows"):
        epsilon_for(never, LDP, normalized_utility=1.0)
