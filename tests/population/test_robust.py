"""Robust designs: margins as kernels know them, the promise kept for the population, the floor, impossible wishes."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from alphalift import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    ChiSquare,
    Custom,
    Joint,
    MaxLift,
    Mechanism,
    MutualInformation,
    Optimal,
    Renyi,
    Robust,
    Status,
    TotalVariation,
    describe,
    design,
    to_document,
)
from alphalift.clock import Clock
from alphalift.errors import InputError, PromiseError, SettingError
from alphalift.population import prior_free
from alphalift.population.robust import _stated
from alphalift.proof import checker
from alphalift.regions.margin import Margin
from alphalift.show.words import what_a_file_proves
from alphalift.solvers import Algorithm1
from alphalift.solvers.search import concave_program

PROMISES = {
    "MaxLift": MaxLift(0.2),
    "AlphaLift": AlphaLift(3, 0.1),
    "Renyi": Renyi(3, 0.1),
    "ChiSquare": ChiSquare(0.3),
    "KL": KL(0.02),
    "LDP": LDP(0.4),
    "LIP": LIP(0.3),
    "LIP asymmetric": LIP(lower=0.5, upper=0.2),
    "TotalVariation": TotalVariation(0.1),
    "both": AlphaLift(3, 0.1) & MaxLift(0.3),
}
TRUTH = np.random.default_rng(4).dirichlet(np.full(18, 2.0)).reshape(3, 6)


def counted(n, seed, truth=TRUTH):
    return Joint(np.random.default_rng(seed).multinomial(n, truth.ravel()).reshape(truth.shape), counts=True)


JOINT = counted(4000, 0)


@pytest.mark.parametrize("name", PROMISES)
def test_kernels_find_what_the_value_allows_and_no_more(name):
    """Local minima of the kernels' set lie at the end of the margin's own value, within it."""
    region = Margin(PROMISES[name], JOINT, 2.0)
    joint = region.about(JOINT)
    program = concave_program(joint, region, MutualInformation())
    generator = np.random.default_rng(1)
    found = []
    for _ in range(5):
        points, values = program.local_minima(generator.normal(size=6), np.eye(6) * 0.8 + 0.2 / 6)
        found.append(region.value(points[np.isfinite(values)] @ joint.lift.T, joint.p_s))
    values = np.concatenate(found)
    assert values.max() <= 1 + 1e-5
    assert values.max() >= 1 - 1e-4


@pytest.mark.parametrize("name", PROMISES)
def test_a_margin_is_inside_of_the_promise_and_shrinks(name):
    """Random posteriors: convex on chords, what is allowed keeps the promise, and more errors allow less."""
    promise, generator = PROMISES[name], np.random.default_rng(2)
    share = generator.random((500, 1))
    points = (1 - share) * JOINT.p_x + share * generator.dirichlet(np.ones(6), 500)
    lifts = points / JOINT.p_x
    values = [Margin(promise, JOINT, errors).value(lifts, JOINT.p_x) for errors in (0.0, 1.0, 3.0)]
    for fewer, more in itertools.pairwise(values):
        assert (more >= fewer - 1e-12).all()
    kept = promise.allows(points @ JOINT.lift.T, JOINT.p_s)
    assert (kept[values[1] <= 1]).all()
    assert 0 < (values[1] <= 1).sum() < 500
    middle = Margin(promise, JOINT, 1.0).value((lifts[:250] + lifts[250:]) / 2, JOINT.p_x)
    chord = (values[1][:250] + values[1][250:]) / 2
    assert (middle <= chord + 1e-9).all()


@pytest.mark.parametrize("name", ["MaxLift", "AlphaLift", "KL", "LDP", "TotalVariation", "both"])
def test_the_promise_is_kept_for_the_population(name):
    """12 draws at 95%: three that fail would be wrong (probability 2% if it held); the plain design fails nearly always."""
    promise, failed, plain_failed = PROMISES[name], 0, 0
    for seed in range(12):
        joint = counted(4000, seed)
        solution = design(joint, Robust(promise), solver=Optimal(keep_certificate=False))
        assert solution.status is Status.ROBUST
        assert solution.mechanism.check(promise)
        assert solution.population.kept
        assert solution.utility <= solution.population.within + 1e-9 or solution.population.errors is None
        failed += Mechanism(Joint(TRUTH), solution.mechanism.p_y_given_x).worst_value(promise) > promise.budget
        plain = design(joint, promise, solver=Optimal(relative_gap=5e-3, keep_certificate=False))
        plain_failed += Mechanism(Joint(TRUTH), plain.mechanism.p_y_given_x).worst_value(promise) > promise.budget
        assert solution.utility <= plain.upper_bound + 1e-9
    assert failed <= 2
    assert plain_failed >= 8


def test_its_file_is_proven_and_says_what_was_asked():
    solution = design(JOINT, Robust(AlphaLift(3, 0.1), confidence=0.9))
    document = to_document(solution)
    assert all(verdict.proven for verdict in checker.check(document))
    assert "confidence=0.9" in document["provenance"]["solver"]
    assert "standard errors to spare" in document["provenance"]["solver"]
    assert float(document["claims"]["optimum_at_most"]) == pytest.approx(
        design(JOINT, AlphaLift(3, 0.1)).upper_bound, abs=1e-4
    )
    words = describe(solution, secret="income", useful="job")
    assert "with 90% confidence" in words
    margin, most = document["margin"], float(document["claims"]["optimum_with_margin_at_most"])
    assert float(margin["errors"]) == solution.population.errors
    assert solution.utility <= most == pytest.approx(solution.population.within, abs=1e-5)
    everything = solution.utility / solution.normalized_utility
    (share,) = re.findall(
        rf"leaves {margin['errors']} standard errors to spare, and no mechanism that does keeps more than ([\d.]+)% of job",
        words,
    )
    assert most / everything - 1e-5 <= float(share) / 100 <= most / everything + 2e-4
    assert what_a_file_proves(solution, document["claims"]) == ""
    less = what_a_file_proves(solution, document["claims"] | {"optimum_with_margin_at_most": f"{0.999 * everything}"})
    assert "A design for the records alone would keep" in words
    assert less.startswith("The file proves that no mechanism with its margin keeps more than 99.900%: ")


def test_a_file_in_no_time_proves_less_of_its_margin():
    solution = design(JOINT, Robust(MaxLift(0.2)))
    whole, short = (to_document(solution, clock=clock) for clock in (Clock(), Clock(0.0)))
    assert all(verdict.proven for verdict in checker.check(short))
    bounds = [float(document["claims"]["optimum_with_margin_at_most"]) for document in (short, whole)]
    assert bounds[0] > bounds[1] + 1e-3


def test_a_plain_design_says_that_it_does_not_hold_for_the_population():
    words = describe(design(JOINT, MaxLift(0.2)))
    assert "NOT known to be kept there: max-lift is at most e^" in words
    assert "The population" not in describe(design(Joint(TRUTH), MaxLift(0.2)))


def test_more_records_keep_more_and_more_confidence_keeps_less():
    kept = [design(counted(n, 3), Robust(MaxLift(0.2))).normalized_utility for n in (300, 3000, 10**6)]
    assert kept[0] < kept[1] < kept[2]
    assert kept[2] > 0.95 * design(Joint(TRUTH), MaxLift(0.2)).normalized_utility
    sure = [design(JOINT, Robust(MaxLift(0.2), c)).normalized_utility for c in (0.5, 0.95, 0.999, 1.0)]
    assert all(more > less for more, less in itertools.pairwise(sure))


@pytest.mark.parametrize("name", PROMISES)
def test_the_prior_free_floor_holds_for_any_population(name):
    """Mechanisms at the end of LDP about X, and random joints: no promise is broken, and some value comes near its budget."""
    promise, generator, nearest = PROMISES[name], np.random.default_rng(5), 0.0
    epsilon = prior_free(promise).epsilon
    for _ in range(300):
        high = generator.random((4, 6)) < 0.5
        rows = np.where(high, np.exp(epsilon), 1.0)
        skewed = generator.dirichlet(np.full(18, 10 ** generator.uniform(-2, 1))).reshape(3, 6) + 1e-6
        if generator.random() < 0.5:  # S tells X, or nearly so
            skewed = np.kron(np.eye(3), np.ones(2)) * generator.dirichlet(np.ones(6)) + 1e-6
            high = np.repeat(generator.random((4, 3)) < 0.5, 2, axis=1)
            rows = np.where(high, np.exp(epsilon), 1.0)
        p_sx = skewed / skewed.sum()
        p_s, p_x = p_sx.sum(axis=1), p_sx.sum(axis=0)
        lifts = (rows @ (p_sx / p_s[:, None]).T) / (rows @ p_x)[:, None]
        values = promise.value(lifts, p_s)
        assert (values <= promise.budget * (1 + 1e-9) + 1e-12).all()
        nothing = promise.value_of_nothing(p_s)
        nearest = max(nearest, ((values - nothing) / (promise.budget - nothing)).max())
    assert nearest > 0.9


def test_impossible_wishes_get_the_floor():
    """20 records, a secret that was seen once, certainty: little is kept, and the words say why."""
    few = counted(20, 1)
    solution = design(few, Robust(MaxLift(0.2)))
    assert solution.mechanism.check(MaxLift(0.2))
    assert solution.normalized_utility < 0.1
    once = Joint([[500, 400, 300], [300, 400, 500], [0, 1, 0]], counts=True)
    found = design(once, Robust(MaxLift(0.2)))
    assert found.population.kept
    assert found.normalized_utility < 0.3 * design(once, MaxLift(0.2)).normalized_utility + 0.1
    certain = design(JOINT, Robust(MaxLift(0.2), confidence=1.0))
    assert "whatever it is" in describe(certain)
    for other in (np.ones((2, 6)), np.eye(6)):
        assert Mechanism(Joint(other / other.sum()), certain.mechanism.p_y_given_x).check(MaxLift(0.2))


def test_pml_has_room_for_its_own_chance():
    solution = design(JOINT, Robust(PML(0.5)))
    assert solution.population.kept
    assert solution.population.epsilon <= 0.5
    assert solution.normalized_utility > 0.9 * design(JOINT, PML(0.5)).normalized_utility


def test_what_has_no_margin_is_refused():
    spread = Custom(
        "spread", 0.2, lambda lifts, p: np.abs(lifts - 1) @ p / 2, lambda w, p: w @ p + 0.2 * np.ptp(w, axis=-1)
    )
    with pytest.raises(PromiseError, match="no margin for chance"):
        design(JOINT, Robust(spread))
    with pytest.raises(PromiseError, match="budget above 0"):
        design(JOINT, Robust(MaxLift(0)))
    with pytest.raises(PromiseError, match="budget above 0"):
        design(JOINT, Robust(PML(0)))
    with pytest.raises((PromiseError, InputError), match="probabilities"):
        design(Joint(TRUTH), Robust(MaxLift(0.2)))
    with pytest.raises(SettingError, match="at most 1"):
        Robust(MaxLift(0.2), confidence=1.5)
    with pytest.raises(SettingError, match="designed by Optimal"):
        design(JOINT, Robust(MaxLift(0.2)), solver=Algorithm1())
    with pytest.raises(InputError, match="after other releases"):
        design(JOINT, Robust(MaxLift(0.2)), after=[design(JOINT, MaxLift(0.1))])


def test_a_design_that_needs_no_margin_says_so():
    """A million records and a promise that is far from what X tells."""
    solution = design(counted(10**6, 0), Robust(MaxLift(3)))
    assert solution.population.errors == 0
    assert "needs no margin" in describe(solution)


@pytest.mark.parametrize(("shape", "seconds"), [((4, 60), 6.0), ((6, 10), 0.5)])
def test_without_the_time_for_a_margin_noise_keeps_it(shape, seconds):
    """Many values, or hardly any time: the promise is kept, and the words say by what, never that no margin was needed."""
    joint = Joint(np.random.default_rng(0).integers(1, 50, shape), counts=True)
    solution = design(joint, Robust(MaxLift(0.1)), solver=Optimal(time_limit=seconds))
    assert solution.population.kept
    assert solution.mechanism.check(MaxLift(0.1))
    words = describe(solution)
    assert "needs no margin" not in words
    assert not solution.population.noise or "of the answers are noise" in words


def test_a_wish_interrupted_is_kept_too(monkeypatch):
    """Ctrl-C in a design within a margin: no further one is begun, and what is returned keeps the promise."""
    calls, usual = [], Optimal.solve

    def solve(self, joint, regions, utility, **others):
        calls.append(regions)
        found = usual(self, joint, regions, utility, **others)
        return tuple(replace(own, status=Status.INTERRUPTED) for own in found) if len(calls) == 2 else found

    monkeypatch.setattr(Optimal, "solve", solve)
    solution = design(JOINT, Robust(MaxLift(0.2)))
    assert len(calls) == 2
    assert solution.status is Status.INTERRUPTED
    assert solution.population.kept


@pytest.mark.parametrize("promise", [MaxLift(0.1), AlphaLift(3, 0.1), KL(0.1), LDP(0.2)], ids=str)
def test_a_table_of_one_secret_has_nothing_to_protect(promise):
    solution = design(Joint([[5, 9, 4]], counts=True), Robust(promise))
    assert solution.status is Status.TRIVIAL
    assert solution.normalized_utility == pytest.approx(1)
    assert (solution.population.kept, solution.population.errors) == (True, 0.0)
    words = describe(solution, secret="race", useful="job")
    assert "Nothing to protect: all records have the same race" in words
    assert "robust" not in words
    assert "publishing job unchanged" in words


@pytest.mark.parametrize("name", PROMISES)
def test_rho_and_tau_are_at_most_what_kernels_are_told(name):
    """Of posteriors as far from P_X as the margin allows, in all directions."""
    region, generator = Margin(PROMISES[name], JOINT, 2.0), np.random.default_rng(5)
    rays = np.concatenate([np.eye(6), generator.dirichlet(np.full(6, 0.3), 3000)]) - JOINT.p_x
    rays *= (JOINT.p_x / np.maximum(-rays, 1e-9)).min(axis=1, keepdims=True)
    inside, outside = np.zeros((len(rays), 1)), np.ones((len(rays), 1))
    for _ in range(40):
        middle = (inside + outside) / 2
        kept = region.value(1 + middle * rays / JOINT.p_x, JOINT.p_x)[:, None] <= 1
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    g = 1 + inside * rays / JOINT.p_x
    rho, tau = np.sqrt((g - 1) ** 2 @ JOINT.p_x).max(), g.max()
    most_rho, most_tau = region.convex_set(region.about(JOINT)).widths[-2:]
    assert rho <= most_rho <= math.sqrt(1 / JOINT.p_x.min() - 1)
    assert tau <= most_tau <= 1 / JOINT.p_x.min()


def test_numbers_of_errors_that_are_stated_stay_what_they_are():
    """A bound for the number of a design before it is one for that design: 2.039 must not become 2.04, as 2039.0000000000002 would."""
    assert [_stated(k / 1000) for k in range(12_000)] == [k / 1000 for k in range(12_000)]
    assert _stated(2.0391) == 2.04
    assert _stated(2.03900001) == 2.04
