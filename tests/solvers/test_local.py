"""S = X: the local model's own solver against the general one, brute force, closed forms and symmetry."""

import itertools
import json
import math

import numpy as np
import pytest

from alphalift import KL, LDP, LIP, PML, AlphaLift, ChiSquare, Joint, MaxLift, Optimal, Renyi, TotalVariation, design
from alphalift.baselines import BinaryMechanism, RandomisedResponse, Staircase
from alphalift.document import to_document, to_json
from alphalift.measures import entropy
from alphalift.proof import checker
from alphalift.solvers.local import LocalRun, is_local
from alphalift.solvers.search import SearchRun
from alphalift.utilities import MutualInformation

PROMISES = [
    *(MaxLift(0.5), LIP(0.5), LIP(lower=0.3, upper=0.7), LDP(1), LDP(4), AlphaLift(1.5, 0.3), AlphaLift(2, 0.3)),
    *(
        AlphaLift(10, 0.3),
        Renyi(3, 0.5),
        ChiSquare(0.5),
        KL(0.3),
        TotalVariation(0.2),
        AlphaLift(2, 0.3) & MaxLift(0.5),
    ),
]
MASSES = [(5, 3, 2, 1), (1, 1, 1, 1, 1), (4, 4, 2, 2, 1)]
GAP = 1e-3


def local(masses):
    """X as its own secret."""
    return Joint([list(map(int, masses))], counts=True).about_x


def solved(joint, region, gap=GAP, seconds=20.0):
    return Optimal(relative_gap=gap, time_limit=seconds, threads=1).solve(joint, [region], MutualInformation())[0]


@pytest.mark.parametrize("region", PROMISES, ids=repr)
@pytest.mark.parametrize("masses", MASSES, ids=str)
def test_it_agrees_with_the_general_search(masses, region):
    joint = local(masses)
    assert is_local(joint, region, MutualInformation())
    own = solved(joint, region)
    settings = Optimal(relative_gap=GAP, time_limit=3, threads=1)
    other = SearchRun(settings, joint, region, MutualInformation(), np.empty((0, len(masses)))).solve()
    slack = 1e-9
    assert own.utility <= other.upper_bound + slack
    assert other.utility <= own.upper_bound + slack
    assert own.mechanism.check(region)
    assert own.relative_gap <= 2 * GAP


@pytest.mark.parametrize("masses", MASSES, ids=str)
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_prices_bound_every_extreme_point_of_a_box(masses, epsilon):
    """All but one lift of an extreme posterior are at an end: none of them is below what the search says."""
    joint, region = local(masses), MaxLift(epsilon)
    settings = Optimal(relative_gap=GAP, time_limit=20, threads=1)
    run = LocalRun(settings, joint, region, MutualInformation(), np.empty((0, len(masses))))
    solution = run.solve()
    prices, p = solution.certificate.prices, joint.p_x
    top = np.minimum(math.exp(epsilon), 1 / p)
    values = []
    for ends in itertools.product([0, 1], repeat=len(p)):
        for odd in range(len(p)):
            lifts = np.where(ends, top, 0.0)
            lifts[odd] = 0.0
            lifts[odd] = (1 - lifts @ p) / p[odd]
            if 0 <= lifts[odd] <= top[odd]:
                values.append(float(entropy(p * lifts)) - float(prices @ (p * lifts)))
    bound = float(entropy(p)) - float(prices @ p) - min(values)
    assert bound <= solution.upper_bound + 1e-9
    assert solution.upper_bound <= bound + GAP * float(entropy(p))


@pytest.mark.parametrize("size", [6, 20, 50])
@pytest.mark.parametrize("epsilon", [0.5, 1.3])
def test_pml_of_a_uniform_x_fills_as_many_symbols_as_fit(size, epsilon):
    """Grosse, Saeidian and Oechtering 2024: floor(n / t) symbols at the cap t / n, one with the rest."""
    cap = math.exp(epsilon) / size
    full = int(1 / cap)
    rest = 1 - full * cap
    least = -full * cap * math.log(cap) - rest * math.log(rest)
    found = solved(local([1] * size), PML(epsilon), gap=1e-4)
    assert found.utility == pytest.approx(math.log(size) - least, abs=1e-6)
    assert found.relative_gap <= 1e-4


@pytest.mark.parametrize("size", [6, 20, 50])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_ldp_of_a_uniform_x_is_the_best_subset(size, epsilon):
    """Kairouz, Oh and Viswanath 2016: k symbols with t times the others' probability, for the best k."""
    t = math.exp(epsilon)
    counts = np.arange(1, size)
    masses = 1 + (t - 1) * counts / size
    best = float((counts / size * t * epsilon / masses - np.log(masses)).max())
    found = solved(local([1] * size), LDP(epsilon), gap=1e-4)
    assert found.utility == pytest.approx(best, abs=1e-6)
    assert found.relative_gap <= 1e-4


@pytest.mark.parametrize("region", [MaxLift(0.5), LDP(1), AlphaLift(2, 0.3), KL(0.3), TotalVariation(0.2)], ids=repr)
def test_many_symbols_of_different_masses_close(region):
    masses = np.random.default_rng(0).integers(1, 10**6, 30).tolist()
    found = solved(local(masses), region)
    assert found.relative_gap <= GAP
    assert found.mechanism.check(region)


def test_more_masses_than_the_program_takes_are_mixed_by_windows():
    masses = np.random.default_rng(0).permutation(np.arange(1000, 1450)).tolist()
    for region in (PML(0.5), LDP(1)):
        found = solved(local(masses), region)
        assert found.relative_gap <= GAP
        assert found.mechanism.check(region)


@pytest.mark.parametrize("region", PROMISES[:6], ids=repr)
def test_relabelling_changes_nothing(region):
    masses, order = np.array([7, 5, 5, 3, 2, 1]), [3, 0, 5, 1, 4, 2]
    one, two = solved(local(masses), region), solved(local(masses[order]), region)
    assert one.utility <= two.upper_bound + 1e-9
    assert two.utility <= one.upper_bound + 1e-9


def test_secrets_in_another_order_are_local_too():
    table = np.diag([5, 3, 2, 1])[[2, 0, 3, 1]]
    joint, region = Joint(table.tolist(), counts=True), AlphaLift(2, 0.3)
    assert is_local(joint, region, MutualInformation())
    found, same = design(joint, region), solved(local([5, 3, 2, 1]), region)
    assert found.utility == pytest.approx(same.utility, abs=2 * GAP)
    assert all(verdict.proven for verdict in checker.check(json.loads(to_json(to_document(found)))))


def test_joints_with_a_shared_secret_are_not_local():
    table = np.diag([5, 3, 2, 1])
    table[0, 1] = 1
    assert not is_local(Joint(table.tolist(), counts=True), MaxLift(0.5), MutualInformation())


@pytest.mark.parametrize("region", [LDP(0.5), LDP(3), PML(0.5), LIP(0.5)], ids=repr)
def test_no_baseline_keeps_more(region):
    joint = local([9, 7, 4, 4, 3, 2, 1, 1])
    found = solved(joint, region)
    for baseline in (RandomisedResponse(), BinaryMechanism(), Staircase()):
        kept = baseline.solve(joint, [region], MutualInformation())[0].utility
        assert kept <= found.utility + GAP * float(entropy(joint.p_x))
        assert kept <= found.upper_bound + 1e-9


@pytest.mark.parametrize("region", PROMISES, ids=repr)
@pytest.mark.parametrize("masses", [(5, 3, 2, 1, 1), (1,) * 7], ids=str)
def test_files_prove_the_bound_that_was_found(masses, region):
    found = design(local(masses), region, solver=Optimal(relative_gap=GAP, time_limit=10, threads=1))
    document = json.loads(to_json(to_document(found)))
    assert document["certificate"]["kind"] == "local"
    assert all(verdict.proven for verdict in checker.check(document))
    assert float(document["claims"]["optimum_at_most"]) == pytest.approx(found.upper_bound, abs=1e-7)


def test_a_time_limit_ends_the_search_with_a_bound():
    masses = np.random.default_rng(1).integers(1, 10**6, 40).tolist()
    found = solved(local(masses), ChiSquare(0.4), gap=1e-9, seconds=0.5)
    assert 0 < found.utility <= found.upper_bound < float(entropy(local(masses).p_x))
