"""The second checker beside linear and convex programs and definitions in floats; both checkers on files by hand."""

import copy
import json
import math
from fractions import Fraction

import mutations
import numpy as np
import pytest
import second_checker
from mpmath import iv
from scipy.optimize import linprog, minimize, minimize_scalar
from scipy.special import logsumexp, xlogy

from alphalift.proof import checker

PROMISES = {
    "alpha-lift": {"region": "AlphaLift", "alpha": "2.5", "epsilon": "0.3"},
    "alpha-lift near 1": {"region": "AlphaLift", "alpha": "1.3", "epsilon": "0.05"},
    "max-lift": {"region": "AlphaLift", "alpha": "inf", "epsilon": "0.3"},
    "Renyi": {"region": "Renyi", "order": "3", "epsilon": "0.2"},
    "Renyi, inf": {"region": "Renyi", "order": "inf", "epsilon": "0.4"},
    "LIP": {"region": "LIP", "lower": "0.2", "upper": "0.5"},
    "LIP, wide below": {"region": "LIP", "lower": "2", "upper": "0.1"},
    "LDP": {"region": "LDP", "epsilon": "0.4"},
    "LDP, wide": {"region": "LDP", "epsilon": "3"},
    "total variation": {"region": "TotalVariation", "epsilon": "0.1"},
    "chi-square": {"region": "ChiSquare", "epsilon": "0.3"},
    "KL": {"region": "KL", "epsilon": "0.05"},
}
PERFECT = [
    {"region": "AlphaLift", "alpha": "2", "epsilon": "0"},
    {"region": "Renyi", "order": "inf", "epsilon": "0.000"},
    {"region": "LIP", "lower": "0", "upper": "1"},
    {"region": "LIP", "lower": "1", "upper": "0"},
    {"region": "LDP", "epsilon": "0"},
    {"region": "TotalVariation", "epsilon": "0"},
    {"region": "ChiSquare", "epsilon": "0"},
    {"region": "KL", "epsilon": "0"},
]
everywhere = pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)


@pytest.fixture(autouse=True)
def _precise():
    iv.prec = second_checker.PRECISIONS[0]


def part_of(promise):
    (part,) = second_checker.promises(promise)
    return part


def fractions(values):
    return [Fraction(float(value)) for value in values]


def middle(value):
    return float(value) if isinstance(value, Fraction) else float(value.mid.a)


def excess(promise, p_s, lifts):
    """By how much the promise is broken, from its definition; 0 or less if it is kept."""
    number = {name: float(value) for name, value in promise.items() if name != "region"}
    epsilon, region = number.get("epsilon"), promise["region"]
    power = number.get("alpha", number.get("order"))
    if power == math.inf:
        return lifts.max() - math.exp(epsilon)
    return {
        "AlphaLift": lambda: (p_s @ lifts**power) ** (1 / power) - math.exp(epsilon),
        "Renyi": lambda: math.log(p_s @ lifts**power) / (power - 1) - epsilon,
        "LIP": lambda: max(lifts.max() - math.exp(number["upper"]), math.exp(-number["lower"]) - lifts.min()),
        "LDP": lambda: lifts.max() - math.exp(epsilon) * lifts.min(),
        "TotalVariation": lambda: p_s @ abs(lifts - 1) / 2 - epsilon,
        "ChiSquare": lambda: p_s @ (lifts - 1) ** 2 - epsilon**2,
        "KL": lambda: p_s @ xlogy(lifts, lifts) - epsilon,
    }[region]()


def random_problem(rng, size):
    """P_S, and w of any signs: sometimes all of one sign, with ties, or with zeros."""
    p_s = rng.dirichlet(np.ones(size)) + 0.02
    w = rng.normal(rng.choice([-2, 0, 0, 2]), 1, size)
    if rng.random() < 0.3:
        w[0] = rng.choice([0, w[1]])
    return p_s / p_s.sum(), w


def largest(promise, p_s, w, *, lifts_only):
    """The most of E[w l] over the set that the support function is stated for, or over the allowed lifts alone."""
    epsilon = float(promise.get("epsilon", 0))
    size, region = len(p_s), promise["region"]
    linear = {"c": -p_s * w, "A_eq": p_s[None], "b_eq": [1]}
    if "inf" in promise.values():
        box = {"c": -p_s * w, "bounds": (0, math.exp(epsilon))}
        return -linprog(**(box | linear if lifts_only else box)).fun
    if region == "LIP":
        box = {"c": -p_s * w, "bounds": (math.exp(-float(promise["lower"])), math.exp(float(promise["upper"])))}
        return -linprog(**(box | linear if lifts_only else box)).fun
    if region == "LDP":
        rows = [np.eye(size)[s] - math.exp(epsilon) * np.eye(size)[t] for s in range(size) for t in range(size)]
        return -linprog(**linear, A_ub=rows, b_ub=np.zeros(len(rows)), bounds=(0, None)).fun
    if region == "TotalVariation":  # l = 1 + more - less
        both = np.concatenate([p_s, -p_s])
        limit = [None, 1 if lifts_only else None]
        bounds = [(0, limit[0])] * size + [(0, limit[1])] * size
        cost, rows = -np.concatenate([p_s * w, -p_s * w]), np.concatenate([p_s, p_s])
        return (
            p_s @ w - linprog(cost, A_ub=rows[None], b_ub=[2 * epsilon], A_eq=both[None], b_eq=[0], bounds=bounds).fun
        )
    constraints = [{"type": "ineq", "fun": lambda lifts: -excess(promise, p_s, lifts)}]
    bounds = [(None, None)] if region == "ChiSquare" and not lifts_only else [(1e-12, None)]
    if lifts_only or region in ("ChiSquare", "KL"):
        constraints.append({"type": "eq", "fun": lambda lifts: p_s @ lifts - 1})
    for shrunk in (
        1.0,
        0.9,
        0.5,
        0.1,
    ):  # from some starts SLSQP diverges, on some machines, and may call that a success
        found = minimize(
            lambda lifts: -p_s @ (w * lifts),
            shrunk * np.ones(size)
            if len(constraints) == 1
            else np.ones(size) + (1 - shrunk) * (np.eye(size)[0] - p_s[0]),
            jac=lambda lifts: -p_s * w,
            bounds=bounds * size,
            constraints=constraints,
            options={"ftol": 1e-13, "maxiter": 500},
        )
        if (
            found.success
            and excess(promise, p_s, found.x) < 1e-9
            and (len(constraints) == 1 or abs(p_s @ found.x - 1) < 1e-9)
        ):
            return -found.fun
    raise AssertionError("no start has led to a maximum")


@everywhere
def test_the_support_is_that_of_a_program(promise):
    rng, part = np.random.default_rng(1), part_of(promise)
    for _ in range(40):
        p_s, w = random_problem(rng, int(rng.integers(2, 6)))
        exact = [fractions(p_s), fractions(w)]
        if promise["region"] == "KL":
            sigma = lambda log_b: middle(part.support(*exact, Fraction(math.exp(log_b))))  # noqa: E731, B023
            for log_b in rng.uniform(-3, 3, 4):
                scale = math.exp(log_b)
                expected = scale * (float(promise["epsilon"]) + logsumexp(w / scale, b=p_s))
                assert sigma(log_b) == pytest.approx(expected, abs=1e-9)
            value = minimize_scalar(sigma, bounds=(-8, 8), method="bounded", options={"xatol": 1e-9}).fun
        else:
            value = middle(part.support(*exact))
        assert value == pytest.approx(largest(promise, p_s, w, lifts_only=False), abs=2e-5)
        assert value >= largest(promise, p_s, w, lifts_only=True) - 1e-7


@pytest.mark.parametrize("promise", PERFECT, ids=str)
def test_a_promise_with_a_zero_allows_no_lift_but_one(promise):
    part, p_s, w = part_of(promise), [Fraction(1, 3), Fraction(2, 3)], [Fraction(5), Fraction(-1)]
    assert part.support(p_s, w, *[Fraction(1)] * part.extra) == 1
    assert part.extra == (promise["region"] == "KL")
    tiny = Fraction(1, 10**50)
    for lifts, rho, kept in [([1, 1], 1, True), ([1 - 2 * tiny, 1 + tiny], 1 + tiny, False)]:
        assert all(second_checker.at_least_zero(slack) for slack in part.slacks(p_s, lifts)) is kept
        assert all(second_checker.at_least_zero(slack) for slack in part.slacks_unseen(rho, lifts)) is kept


def at_the_limit(promise, p_s, rng):
    """Lifts in a random direction from 1, as far as the promise allows."""
    direction = rng.normal(size=len(p_s)) * rng.choice([0.1, 1, 5], len(p_s))
    direction -= p_s @ direction
    near, far = 0.0, 1 / max(-direction.min(), 1e-9)
    if excess(promise, p_s, 1 + far * direction) <= 0:
        return 1 + far * direction
    for _ in range(60):
        half = (near + far) / 2
        near, far = (half, far) if excess(promise, p_s, 1 + half * direction) <= 0 else (near, half)
    return 1 + near * direction


@everywhere
def test_slacks_have_the_sign_of_the_definition(promise):
    rng, part, kept, broken = np.random.default_rng(2), part_of(promise), 0, 0
    for _ in range(100):
        p_s, _ = random_problem(rng, 4)
        edge = at_the_limit(promise, p_s, rng)
        for factor in (0.5, 0.9999, 1.0001, 1.5):
            lifts = 1 + factor * (edge - 1)
            if lifts.min() < 0:
                continue
            slacks = part.slacks(fractions(p_s), fractions(lifts))
            expected = excess(promise, p_s, lifts) <= 0
            kept, broken = kept + expected, broken + (not expected)
            assert all(second_checker.at_least_zero(slack) for slack in slacks) == expected
            assert lifts.min() == 0 or part.stops(fractions(p_s), fractions(lifts)) != expected
    assert kept > 100
    assert broken > 50


def test_a_lift_of_zero_is_decided():
    p_s, lifts = [Fraction(1, 2)] * 2, [Fraction(0), Fraction(2)]
    for promise, kept in [
        ({"region": "LIP", "lower": "1000", "upper": "1"}, False),
        ({"region": "LDP", "epsilon": "1000"}, False),
        ({"region": "KL", "epsilon": "0.69"}, False),  # log 2 = 0.6931
        ({"region": "KL", "epsilon": "0.7"}, True),
        ({"region": "AlphaLift", "alpha": "2", "epsilon": "0.34"}, False),
        ({"region": "AlphaLift", "alpha": "2", "epsilon": "0.35"}, True),
        ({"region": "TotalVariation", "epsilon": "0.5"}, True),
        ({"region": "ChiSquare", "epsilon": "1"}, True),
    ]:
        part = part_of(promise)
        assert all(second_checker.at_least_zero(slack) for slack in part.slacks(p_s, lifts)) is kept
        identity = [[2**BITS, 0], [0, 2**BITS]]
        assert verdicts_of(file(promise, [[1, 0], [0, 1]], identity))["promise"] is kept
        if promise["region"] in ("LIP", "LDP"):
            assert not all(second_checker.at_least_zero(slack) for slack in part.slacks_unseen(Fraction(1), lifts))


@everywhere
def test_unseen_values_keep_the_promise_in_every_mixture(promise):
    rng, part, accepted, refused, seen = np.random.default_rng(3), part_of(promise), 0, 0, 0
    for _ in range(300):
        p_s, _ = random_problem(rng, 4)
        lifts = 1 + rng.choice([1, 0.8, 0.2]) * (at_the_limit(promise, p_s, rng) - 1)
        if excess(promise, p_s, lifts) > 0:
            continue
        rho = math.exp(rng.normal() * rng.choice([0.02, 0.2, 1]))
        slacks = part.slacks_unseen(Fraction(rho), fractions(lifts))
        worst = -math.inf
        for number in range(15):
            q = rng.choice([rng.random(), 10 ** rng.uniform(-6, 0), 1 - 10 ** rng.uniform(-6, 0)])
            r = np.eye(4)[number % 4] if number < 10 else rng.dirichlet(np.full(4, 0.3))
            everyone = (1 - q) * p_s + q * r
            mixed = ((1 - q) * p_s * lifts + q * r * rho) / (everyone * (1 - q + q * rho))
            worst = max(worst, excess(promise, everyone, mixed))
        if all(second_checker.at_least_zero(slack) for slack in slacks):
            accepted += 1
            assert worst <= 1e-9
        else:
            refused += 1
            seen += worst > 1e-9
    assert accepted > 20
    assert refused > 10
    assert seen > 5


@everywhere
def test_both_checkers_draw_the_same_limit_for_unseen_values(promise):
    half = 2 ** (BITS - 1)
    seen = []
    for step in range(150):  # two outputs that tell nothing, answered to unseen values with shares (1 +- d) / 2
        moved = half * step // 150
        document = file(promise, weights=[[half] * 3] * 2, unseen=[half - moved, half + moved])
        seen.append(verdicts_of(document)["unseen values"])
    assert seen == sorted(seen, reverse=True)
    assert 1 < sum(seen) < 150


COUNTS = [[9, 2, 3], [1, 5, 4], [2, 2, 7]]
BITS = 20


def file(promise, counts=COUNTS, weights=None, certificate=None, optimum="1.2", unseen=None):
    """A mechanism file; without weights it always answers the same."""
    weights = [[2**BITS] * len(counts[0])] if weights is None else weights
    document = {
        "format": "alphalift-mechanism",
        "version": 1,
        "labels": {
            name: [f"{name}{i}" for i in range(len(rows))]
            for name, rows in (("s", counts), ("x", counts[0]), ("y", weights))
        },
        "promise": promise,
        "claims": {"utility_at_least": "0", "optimum_at_most": optimum},
        "provenance": {"package": "", "solver": "", "status": ""},
        "bits": BITS,
        "unseen": unseen,
        "weights": weights,
        "joint": {"counts": counts},
        "certificate": certificate,
    }
    return document | {"identity": second_checker.identity(document)}


def verdicts_of(document):
    """Claim -> proven, by both checkers."""
    second = second_checker.verdicts(document)
    assert {verdict.claim: verdict.proven for verdict in checker.check(document)} == second
    return second


def limits(counts, weights):
    """P_S, and the lifts of every output, in floats."""
    joint = np.array(counts) / np.sum(counts)
    p_sy = joint @ (np.array(weights).T / 2**BITS)
    return joint.sum(axis=1), (p_sy / joint.sum(axis=1)[:, None] / p_sy.sum(axis=0)).T


@pytest.mark.parametrize("name", [name for name in PROMISES if name != "LIP, wide below"])
def test_the_least_epsilon_of_a_mechanism_is_found(name):
    whole = 2**BITS
    weights = [[whole // 2, whole // 3, whole // 4], [whole - whole // 2, whole - whole // 3, whole - whole // 4]]
    p_s, outputs = limits(COUNTS, weights)

    def with_epsilon(epsilon):
        text = f"{epsilon:.12f}"
        return {key: text if key in ("epsilon", "lower", "upper") else value for key, value in PROMISES[name].items()}

    low, high = 1e-6, 5.0
    for _ in range(60):
        half = (low + high) / 2
        broken = max(excess(with_epsilon(half), p_s, lifts) for lifts in outputs) > 0
        low, high = (half, high) if broken else (low, half)
    law = [round(whole * float(p_y)) for p_y in np.array(weights) / whole @ (np.sum(COUNTS, axis=0) / 35)]
    for epsilon, kept in [(high + 1e-6, True), (low - 1e-6, False), (1000, True)]:
        promise = with_epsilon(epsilon)
        # Unseen values have the law of Y to 20 bits, which is not enough exactly at the limit.
        document = file(promise, weights=weights, unseen=law)
        expected = {"form": True, "promise": kept, "utility": True, "optimum": True}
        verdicts = verdicts_of(document)
        assert verdicts.pop("unseen values") is kept or epsilon != 1000
        assert verdicts == expected
        for parts in ([promise, PROMISES["LDP, wide"]], [PROMISES["LDP, wide"], promise]):
            document = file({"region": "Intersection", "parts": parts}, weights=weights)
            assert verdicts_of(document) == expected


def leaf(dual, parts, prices, box):
    """nu - sigma(w) + sum_x min over the ends, in floats; sigma is a program's."""
    joint = np.array(COUNTS) / np.sum(COUNTS)
    p_s, given = joint.sum(axis=1), joint / joint.sum(axis=0)
    nu, value, rates = dual[-1], dual[-1], prices + dual[-1]
    perfect = any(float(promise.get(name, 1)) == 0 for promise in parts for name in ("epsilon", "lower", "upper"))
    for promise in parts:
        w, dual = dual[:3], dual[3:]
        if perfect:
            value, dual = value - p_s @ w, dual[promise["region"] == "KL" :]
        elif promise["region"] == "KL":
            b, dual = dual[0], dual[1:]
            value -= b * (float(promise["epsilon"]) + logsumexp(w / b, b=p_s))
        else:
            value -= largest(promise, p_s, w, lifts_only=False)
        rates = rates - w @ given
    assert list(dual) == [nu]
    return value + sum(min(-xlogy(v, v) - c * v for v in ends) for ends, c in zip(box, rates, strict=True))


UNIT = 2**28
SETS = {name: [promise] for name, promise in PROMISES.items()}
SETS |= {str(promise): [promise] for promise in PERFECT}
SETS |= {f"{name} and {next_to}": [PROMISES[name], PROMISES[next_to]] for name in PROMISES for next_to in ("KL", "LDP")}
SETS["all of them"] = [PROMISES[name] for name in PROMISES if "," not in name and "near" not in name][:8]
SETS["one perfect"] = [PROMISES["LIP"], PERFECT[-2], PROMISES["KL"], PROMISES["LDP"]]
SETS["two perfect"] = [PERFECT[-1], PERFECT[0]]


def written(parts, rng):
    """The file of a tree with a split and random duals, and the bound that it proves, in floats."""
    sizes = [3 + (promise["region"] == "KL") for promise in parts]
    duals = []
    for _ in range(2):
        w = [rng.normal(0, 0.3, size) for size in sizes]
        for own, size in zip(w, sizes, strict=True):
            own[3:] = abs(own[3:]) + 0.2
            assert len(own) == size
        duals.append(np.concatenate([*w, rng.normal(0, 0.3, 1)]))
    prices, cut = rng.normal(0, 0.3, 3), 0.4
    boxes = [[(0, 1), (0, cut), (0, 1)], [(0, 1 - cut), (cut, 1), (0, 1 - cut)]]  # the second is closed: V sums to 1
    least = min(leaf(dual, parts, prices, box) for dual, box in zip(duals, boxes, strict=True))
    p_x = np.sum(COUNTS, axis=0) / np.sum(COUNTS)
    bound = -xlogy(p_x, p_x).sum() - prices @ p_x - least
    integers = lambda values: [round(float(value) * UNIT) for value in values]  # noqa: E731
    certificate = {
        "kind": "tree",
        "bits": 28,
        "prices": integers(prices),
        "duals": [integers(dual) for dual in duals],
        "tree": [[1, round(cut * UNIT)], [0], [1]],
    }
    promise = parts[0] if len(parts) == 1 else {"region": "Intersection", "parts": parts}
    return file(promise, certificate=certificate), bound


def proves(document, optimum):
    document = document | {"claims": document["claims"] | {"optimum_at_most": f"{optimum:.9f}"}}
    verdicts = verdicts_of(document)
    assert verdicts["form"]
    assert verdicts["promise"]
    return verdicts["optimum"]


@pytest.mark.parametrize("parts", SETS.values(), ids=SETS)
def test_a_tree_proves_its_bound_and_no_more(parts):
    rng, tried = np.random.default_rng(4), 0
    while tried < 4:
        document, bound = written(parts, rng)
        if bound < 1e-3:
            continue
        tried += 1
        assert proves(document, bound + 1e-4)
        assert not proves(document, bound - 1e-4)
        for change in (lambda dual: dual.pop(0), lambda dual: dual.insert(-1, 0), lambda dual: dual.append(0)):
            changed = copy.deepcopy(document)
            change(changed["certificate"]["duals"][0])
            assert not proves(changed, 1000)


def test_a_dual_of_kl_needs_a_positive_scale():
    document, bound = written([PROMISES["LDP"], PROMISES["KL"]], np.random.default_rng(5))
    assert proves(document, bound + 1e-4)
    scale = document["certificate"]["duals"][0][6]
    for b, proven in [(0, False), (-scale, False), (1, True), (scale * 2**40, True), (10**1200, False)]:
        document["certificate"]["duals"][0][6] = b
        assert proves(document, 10.0**15) is proven


@pytest.mark.parametrize(
    "promise",
    [
        {"region": "LIP", "epsilon": "0.1"},
        {"region": "LIP", "lower": "0.1", "upper": "0.1", "epsilon": "0.1"},
        {"region": "LIP", "lower": "0.1"},
        {"region": "LIP", "lower": "inf", "upper": "1"},
        {"region": "LDP", "epsilon": "0.1", "alpha": "2"},
        {"region": "LDP", "epsilon": "1000.1"},
        {"region": "LDP", "epsilon": "-0.1"},
        {"region": "KL", "epsilon": "inf"},
        {"region": "KL", "epsilon": 1},
        {"region": "Renyi", "alpha": "2", "epsilon": "0.1"},
        {"region": "Renyi", "order": "1", "epsilon": "0.1"},
        {"region": "Renyi", "order": "1000000001", "epsilon": "0.1"},
        {"region": "AlphaLift", "order": "2", "epsilon": "0.1"},
        {"region": "MaxLift", "epsilon": "0.1"},
        {"region": "", "epsilon": "0.1"},
        {"region": None},
        {"region": []},
        {"region": "Intersection", "parts": []},
        {"region": "Intersection", "parts": [PROMISES["LDP"]]},
        {"region": "Intersection", "parts": [PROMISES["LDP"]] * 9},
        {"region": "Intersection", "parts": [PROMISES["LDP"]] * 2, "epsilon": "1"},
        {"region": "Intersection", "parts": {"a": PROMISES["LDP"], "b": PROMISES["KL"]}},
        {"region": "Intersection", "parts": [PROMISES["LDP"], "KL"]},
        {"region": "Intersection", "parts": [PROMISES["LDP"], None]},
        {
            "region": "Intersection",
            "parts": [PROMISES["LDP"], {"region": "Intersection", "parts": [PROMISES["LDP"], PROMISES["KL"]]}],
        },
    ],
    ids=str,
)
def test_a_promise_of_another_form_is_refused(promise):
    assert verdicts_of(file(promise)) == {"form": False}
    assert verdicts_of(file({"region": "Intersection", "parts": [PROMISES["LDP"]] * 8}))["form"]


PAIRS = [[7, 2, 3, 5], [1, 4, 4, 2]]


@everywhere
def test_ends_must_lie_at_the_limit_or_beyond(promise):
    p_s = np.sum(PAIRS, axis=1) / np.sum(PAIRS)
    ends = []
    for sign in (-1, 1):
        near, far = 0.0, 1.0 if sign < 0 else p_s[1] / p_s[0]
        if excess(promise, p_s, np.maximum(1 + sign * far * np.array([1, -p_s[0] / p_s[1]]), 0)) > 0:
            for _ in range(60):
                half = (near + far) / 2
                lifts = 1 + sign * half * np.array([1, -p_s[0] / p_s[1]])
                near, far = (half, far) if excess(promise, p_s, lifts) <= 0 else (near, half)
        ends.append(sign * far)

    def proven(factors, parts):
        scaled = [round(end * factor * UNIT) for end, factor in zip(ends, factors, strict=True)]
        certificate = {"kind": "pairs", "bits": 28, "prices": [0] * 4, "ends": scaled}
        whole = promise if not parts else {"region": "Intersection", "parts": parts}
        return verdicts_of(file(whole, PAIRS, certificate=certificate, optimum="2"))["optimum"]

    for parts in ([], [promise, {"region": "LDP", "epsilon": "1000"}], [{"region": "KL", "epsilon": "9"}, promise]):
        assert proven((1 + 1e-6, 1 + 1e-6), parts)
        assert not proven((1 - 1e-6, 1 + 1e-6), parts)
        assert not proven((1 + 1e-6, 1 - 1e-6), parts)
    # Where l = 1 alone is allowed, any two ends are beyond it.
    assert proven((0.1, 0.2), [promise, PERFECT[0]])


def test_exact_limits_are_kept_and_stop():
    p_s, lifts = [Fraction(1, 2)] * 2, [Fraction(11, 10), Fraction(9, 10)]
    for promise in ({"region": "TotalVariation", "epsilon": "0.05"}, {"region": "ChiSquare", "epsilon": "0.1"}):
        part = part_of(promise)
        assert part.slacks(p_s, lifts) == [0]
        assert part.stops(p_s, lifts)
    assert part_of({"region": "TotalVariation", "epsilon": "0.2"}).slacks_unseen(Fraction(5, 4), lifts) == [0]


@pytest.mark.parametrize("number", range(mutations.FILES))
def test_both_checkers_prove_a_design_and_nothing_better(number):
    document = json.loads(mutations.base(number))
    assert all(verdicts_of(document).values())
    for name, change in (("utility_at_least", 1e-12), ("optimum_at_most", -1e-6)):  # the first checker rounds its duals
        claims = document["claims"] | {name: f"{float(document['claims'][name]) + change:.15f}"}
        claim = name.split("_")[0]
        assert [claim] == [other for other, proven in verdicts_of(document | {"claims": claims}).items() if not proven]
