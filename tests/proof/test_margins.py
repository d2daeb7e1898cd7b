"""Margins in files: what is proven of them against their definition, random posteriors, grids of posteriors, and forgeries."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import second_checker
from flint import ctx, fmpq
from scipy.optimize import linprog
from test_mutations import shifted, unproven

from alphalift import KL, LDP, LIP, AlphaLift, ChiSquare, Joint, MaxLift, Optimal, Robust, TotalVariation, design
from alphalift.document import load, save, to_document, to_json, withhold_joint
from alphalift.proof import checker
from alphalift.regions import Intersection, Renyi

QUICK = Optimal(relative_gap=1e-2, node_limit=100, threads=1)
PROMISES = {
    "max-lift": MaxLift(0.1),
    "alpha-lift": AlphaLift(3, 0.05),
    "Renyi": Renyi(2.5, 0.1),
    "LIP": LIP(lower=0.3, upper=0.2),
    "LDP": LDP(0.3),
    "total variation": TotalVariation(0.05),
    "chi-square": ChiSquare(0.1),
    "KL": KL(0.02),
    "three": Intersection(KL(0.02), LIP(0.3), AlphaLift(2, 0.03)),
}
COUNTS = np.random.default_rng(8).integers(100, 3000, (3, 4))


def excess(promise, counts, c, v):
    """By how much rows V exceed a budget with c standard errors to spare, at most 0 where they do not: docs/format.md, "Margins"."""
    n, total = counts.sum(axis=1), counts.sum()
    p_s, g = n / total, v / (counts.sum(axis=0) / total)
    lifts = g @ (counts / n[:, None]).T
    rho = np.sqrt((v * g).sum(axis=1) - 1)[:, None]
    b, errors = c * c / (6 * n + c * c), c * np.sqrt((1 - p_s) / (n + 1))
    low, high = (1 - b) * lifts, (1 - b) * lifts + b * g.max(axis=1, keepdims=True)
    above, below = (high + errors * rho).max(axis=1), (low - errors * rho).min(axis=1)
    rho, found = rho[:, 0] * c / math.sqrt(total), []
    for part in promise.components:
        name = type(part).__name__
        if name in ("MaxLift", "AlphaLift", "Renyi"):
            alpha = part.order if name == "Renyi" else part.alpha
            epsilon = part.epsilon * (1 - 1 / alpha) if name == "Renyi" else part.epsilon
            limit = math.exp(epsilon)
            found.append(
                (high + errors * rho[:, None] * math.sqrt(total) / c - limit * p_s ** (-1 / alpha)).max(axis=1)
            )
            if math.isfinite(alpha):
                norm = (high**alpha @ p_s) ** (1 / alpha)
                found.append(norm + rho * math.sqrt(2 * epsilon * (alpha - 1)) - limit)
        elif name == "LIP":
            found += [above - math.exp(part.upper), math.exp(-part.lower) - below]
        elif name == "LDP":
            found.append(above - math.exp(part.epsilon) * below)
        elif name == "TotalVariation":
            found.append(np.maximum(high - 1, 0) @ p_s + rho / 2 - part.epsilon)
        elif name == "ChiSquare":
            found.append(np.sqrt((lifts - 1) ** 2 @ p_s) + rho - part.epsilon)
        else:
            terms = np.where(lifts > 0, lifts * np.log(np.maximum(lifts, 1e-300)), 0)
            found.append(terms @ p_s + rho * math.sqrt(2 * part.epsilon) - part.epsilon)
    return np.max(found, axis=0)


def margin_of(promise, counts, c):
    stated = json.loads(to_json(to_document(design(Joint([[1, 1], [1, 1]], counts=True), promise, solver=QUICK))))
    promise, blocks = checker.with_margin(checker.promise_of(stated["promise"]), Fraction(c), [counts.tolist()])
    return promise.components[0], checker.prior_of(blocks)


def posteriors_at_the_limit(promise, counts, c, count):
    """On rays from P_X, where the margin is just left or a posterior ends."""
    rng, p_x = np.random.default_rng(3), counts.sum(axis=0) / counts.sum()
    rays = rng.dirichlet(np.full(len(p_x), 0.4), count) - p_x
    ends = p_x + rays * (p_x / np.maximum(-rays, 1e-9)).min(axis=1, keepdims=True)
    ends = np.concatenate([np.eye(len(p_x)), np.maximum(ends, 0.0)])
    inside, outside = np.zeros((len(ends), 1)), np.ones((len(ends), 1))
    for _ in range(50):
        middle = (inside + outside) / 2
        kept = excess(promise, counts, c, p_x + middle * (ends - p_x))[:, None] <= 0
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    return p_x + inside * (ends - p_x)


@pytest.mark.parametrize("name", PROMISES)
def test_an_output_is_judged_by_the_definition(name):
    """Just inside of the limit it is proven, just outside it is not."""
    promise, c = PROMISES[name], "2.25"
    margin, prior = margin_of(promise, COUNTS, c)
    p_x = COUNTS.sum(axis=0) / COUNTS.sum()
    limit = posteriors_at_the_limit(promise, COUNTS, float(c), 40)
    for share, kept in ((1 - 1e-6, True), (1 + 1e-6, False)):
        moved = p_x + share * (limit - p_x)
        moved = moved[(moved >= 0).all(axis=1)]
        assert len(moved) > 20
        for v in moved:
            masses = [Fraction(float(own)) for own in v]
            ratios = [own / sum(masses) / Fraction(n, sum(prior)) for own, n in zip(masses, prior, strict=True)]
            ratios = [fmpq(own.numerator, own.denominator) for own in ratios]
            assert checker.Promise((margin,)).keeps(ratios, prior) == kept


def duals(margin, rng, counts):
    """Random ones: rows and y of all sizes, and a w that they bound, give or take something."""
    secrets, size = counts.shape
    rows = sum(len(part.rows) for part in margin.parts)
    for _ in range(60):
        scale = 10.0 ** rng.uniform(-2, 1, 4)
        extra = scale[0] * (0.1 + rng.random(sum(part.extra for part in margin.parts)))
        v = scale[1] * rng.normal(size=(rows, secrets)) * (rng.random((rows, secrets)) < 0.7)
        y = scale[2] * rng.normal(size=size) * rng.choice([0, 0.01, 1])
        signs = [sign for part in margin.parts for sign in part.rows]
        form = sum((sign * np.maximum(own, 0) if sign else own) for sign, own in zip(signs, v, strict=True))
        w = form @ (counts / counts.sum(axis=0)) + y + scale[3] * rng.normal(size=size) * rng.choice([0, 1e-3, 1])
        yield [Fraction(float(entry)) for entry in [*w, *extra, *v.ravel(), *y]]


@pytest.mark.parametrize("name", PROMISES)
def test_a_linear_inequality_holds_for_every_posterior_that_leaves_the_margin(name):
    """Duals of all kinds, also such as ask more of rho and tau than is left: no w.V exceeds what is proven of it."""
    promise, c, rng = PROMISES[name], "2.25", np.random.default_rng(11)
    margin, prior = margin_of(promise, COUNTS, c)
    points, slacks = posteriors_at_the_limit(promise, COUNTS, float(c), 4000), []
    spare = second_checker.Spare(second_checker.promises(stated(promise)), COUNTS.tolist(), Fraction(c))
    p_x = [Fraction(n, sum(prior)) for n in prior]
    for entries in duals(margin, rng, COUNTS):
        with ctx.workprec(128):
            bound = margin.support(entries, prior)
        other = spare.support(p_x, entries[:4], *entries[4:])
        assert float(bound) == pytest.approx(float(other.mid), rel=1e-12, abs=1e-12)
        w = np.array([float(own) for own in entries[:4]])
        most = (points @ w).max()
        assert most <= float(bound) + 1e-9 * np.abs(w).max()
        slacks.append((float(bound) - most) / (1e-9 + np.ptp(w)))
    assert min(slacks) < 0.05  # some are nearly reached


def stated(promise):
    joint = Joint([[1, 1], [1, 1]], counts=True)
    return to_document(design(joint, promise, solver=QUICK))["promise"]


@pytest.mark.parametrize("name", PROMISES)
def test_the_bound_is_what_a_grid_of_posteriors_reaches(name):
    """Every mixture of posteriors on a grid that leave the margin stays below it, and the best one comes near."""
    counts = np.array([[900, 1500, 400], [700, 300, 1200]])
    document = to_document(design(Joint(counts.tolist(), counts=True), Robust(PROMISES[name]), solver=QUICK))
    assert unproven(document) == set()
    c, bound = float(document["margin"]["errors"]), float(document["claims"]["optimum_with_margin_at_most"])
    steps = 160
    grid = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    p_x = counts.sum(axis=0) / counts.sum()
    grid = np.concatenate([grid, posteriors_at_the_limit(PROMISES[name], counts, c, 1500)])
    grid = grid[excess(PROMISES[name], counts, c, grid) <= 0]
    uncertainty = -np.where(grid > 0, grid * np.log(np.maximum(grid, 1e-300)), 0).sum(axis=1)
    best = -(p_x * np.log(p_x)).sum() - linprog(uncertainty, A_eq=grid.T, b_eq=p_x).fun
    assert best <= bound
    assert bound <= best + 0.03 * -(p_x * np.log(p_x)).sum()


@pytest.fixture(scope="module", params=["max-lift", "three"])
def document(request):
    joint = Joint(COUNTS.tolist(), counts=True)
    return to_json(to_document(design(joint, Robust(PROMISES[request.param]), solver=QUICK)))


def both(document):
    """What neither checker proves; they agree."""
    second = second_checker.verdicts(document)
    assert {claim for claim, proven in second.items() if not proven} == unproven(document)
    return unproven(document)


def test_claims_about_the_margin_are_tight(document):
    document = json.loads(document)
    assert both(document) == set()
    claims, name = document["claims"], "optimum_with_margin_at_most"
    assert both(document | {"claims": claims | {name: shifted(claims[name], -2)}}) == {"optimum with margin"}
    errors = Fraction(document["margin"]["errors"])
    more, fewer = (f"{float(errors * factor):.9f}" for factor in (Fraction(101, 100), Fraction(99, 100)))
    assert "margin" in both(document | {"margin": document["margin"] | {"errors": more}})
    # A smaller margin is left as well; but what no mechanism with the larger one exceeds is not its bound.
    assert both(document | {"margin": document["margin"] | {"errors": fewer}}) == {"optimum with margin"}


def test_an_output_without_the_margin_is_refused(document):
    """The design for the records keeps the promise and nothing to spare."""
    document = json.loads(document)
    plain = to_document(design(Joint(COUNTS.tolist(), counts=True), regions(document), solver=QUICK))
    own = {name: plain[name] for name in ("identity", "labels", "bits", "unseen", "weights")}
    assert "margin" in both(document | own)
    assert "promise" not in both(document | own)


def regions(document):
    return next(own for own in PROMISES.values() if stated(own) == document["promise"])


def test_fewer_records_leave_less_of_a_margin(document):
    document = json.loads(document)
    fewer = [[max(n // 4, 1) for n in row] for row in document["joint"]["counts"]]
    assert "margin" in both(document | {"joint": {"counts": fewer}})


def test_the_form_of_a_margin(document):
    document = json.loads(document)
    margin, claims = document["margin"], dict(document["claims"])
    del claims["optimum_with_margin_at_most"]
    assert both(document | {"margin": None, "claims": claims}) == set()
    wrong = [
        {"margin": None},
        {"claims": claims},
        {"version": 4},
        {"margin": margin | {"form": "lifts"}},
        {"margin": {"errors": margin["errors"]}},
        {"margin": margin | {"errors": 2}},
        {"margin": margin | {"errors": "-1"}},
        {"margin": []},
    ]
    for change in wrong:
        assert both(document | change) == {"form"}
    assert both({name: value for name, value in document.items() if name != "margin"}) == {"form"}
    for errors in ("0", "1000.1"):
        assert both(document | {"margin": margin | {"errors": errors}}) == {"margin", "optimum with margin"}
    without = document | {"margin": margin | {"certificate": None}}
    assert both(without) == {"optimum with margin"}
    for kind in ({"kind": "merged", "proof": margin["certificate"]}, margin["certificate"] | {"kind": "local"}):
        assert both(document | {"margin": margin | {"certificate": kind}}) == {"optimum with margin"}
    nothing = document | {"utility": None, "claims": {}, "certificate": None}
    assert both(nothing) == {"form"}
    assert both(nothing | {"margin": margin | {"certificate": None}}) == set()


def test_promises_without_a_margin_are_refused(document):
    document = json.loads(document)
    part = document["promise"].get("parts", [document["promise"]])[0]
    for promise in ({"region": "OnAverage", "of": part}, part | {"epsilon": "0"}):
        assert {"margin", "optimum with margin"} <= both(document | {"promise": promise})


def test_a_withheld_file_has_no_margin(document):
    document = json.loads(document)
    hidden, opening = withhold_joint(document, "5a17" * 8)
    assert hidden["margin"] is None
    assert "optimum_with_margin_at_most" not in hidden["claims"]
    assert unproven(hidden, opening) == set()
    assert all(second_checker.verdicts(hidden, opening).values())
    shown = hidden | {"margin": document["margin"], "claims": document["claims"]}
    assert unproven(shown, opening) == {"form"}
    assert second_checker.verdicts(shown, opening) == {"form": False}


def test_it_is_loaded_and_says_so_in_plain_words(document, tmp_path):
    document = json.loads(document)
    save(document, tmp_path / "m.json")
    texts = {verdict.claim: verdict.text for verdict in load(tmp_path / "m.json").verdicts}
    errors, most = document["margin"]["errors"], document["claims"]["optimum_with_margin_at_most"]
    assert texts["margin"] == f"{texts['promise']} with {errors} standard errors of {COUNTS.sum()} records to spare"
    assert texts["optimum with margin"] == f"no mechanism that leaves this margin has more than {most} nats"


def test_few_bits_keep_the_margin():
    """Rounding moves outputs; they are mixed towards P_X until the margin is left again."""
    solution = design(Joint(COUNTS.tolist(), counts=True), Robust(MaxLift(0.1)), solver=QUICK, bits=6)
    document = to_document(solution)
    assert document["bits"] == 6
    assert both(json.loads(to_json(document))) == set()
    assert document["margin"] is not None
