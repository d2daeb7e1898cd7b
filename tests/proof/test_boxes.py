"""Certificates by boxes and by types: both checkers prove the same bounds, which no allowed posterior lies below."""

import copy
import json
from fractions import Fraction

import examples
import numpy as np
import pytest
import second_checker
from mpmath import iv
from test_bound import entropies, simplex_grid
from test_second_checker import file, verdicts_of

from alphalift import AlphaLift, Optimal, design
from alphalift.document import to_document
from alphalift.presolve import Merged
from alphalift.proof import checker
from alphalift.proof.export import exported
from alphalift.utilities import MutualInformation

COUNTS = [[9, 2, 3, 6], [1, 5, 4, 6], [2, 2, 7, 6]]
PROMISE = {"region": "AlphaLift", "alpha": "inf", "epsilon": "0.3"}
BITS = 28
ONE = 2**BITS


def random_tree(rng, box, duals, depth):
    """A tree of splits, trims and leaves for a box, in preorder."""
    kind = rng.random() if depth else 1
    if kind < 0.4:
        x, place = int(rng.integers(len(box))), int(rng.integers(ONE))
        (a, b), halves = box[x], (list(box), list(box))
        halves[0][x], halves[1][x] = (a, min(b, place)), (max(a, place), b)
        return [[x, place], *(node for half in halves for node in random_tree(rng, half, duals, depth - 1))]
    if kind < 0.8:
        node, rest = random_trim(rng, box, duals)
        return [node, *random_tree(rng, rest, duals, depth - 1)]
    return [[int(rng.integers(duals))]]


def random_trim(rng, box, duals):
    """A trim, and what it leaves; sometimes of nothing, of everything, or of both sides of a symbol."""
    node, rest = [int(rng.integers(duals))], list(box)
    for code in rng.choice(2 * len(box), int(rng.integers(1, 4)), replace=False).tolist():
        x, above = divmod(code, 2)
        place = int(rng.choice([0, ONE, rng.integers(ONE), ONE * (0.8 if above else 0.05)]))
        a, b = rest[x]
        rest[x] = (a, min(b, place)) if above else (max(a, place), b)
        node += [code, place]
    return node, rest


def random_certificate(rng):
    numbers = lambda size: [round(own * ONE) for own in rng.normal(0, 0.3, size)]  # noqa: E731
    certificate = {"kind": "tree", "bits": BITS, "prices": numbers(4), "duals": [numbers(4) for _ in range(5)]}
    return certificate | {"tree": random_tree(rng, [(0, ONE)] * 4, 5, 4)}


def bounds(certificate, counts=COUNTS):
    """What both checkers prove, in floats; none where a checker refuses."""
    document, found = file(PROMISE, counts, certificate=certificate), []
    iv.prec = second_checker.PRECISIONS[0]
    try:
        found.append(float(checker.optimum_bound([counts], checker.promise_of(PROMISE), certificate).mid()))
    except checker.RefusedError:
        found.append(None)
    try:
        problem = second_checker.Problem(document, None)
        found.append(float(problem.bound_by(certificate, [*second_checker.CERTIFICATES, "merged"]).mid.a))
    except (ValueError, IndexError):
        found.append(None)
    return found


def allowed():
    joint = np.array(COUNTS) / np.sum(COUNTS)
    p_s, p_x = joint.sum(axis=1), joint.sum(axis=0)
    points = simplex_grid(4, 40)
    return points[(points @ (joint / p_x / p_s[:, None]).T).max(axis=1) <= np.exp(0.3)], p_x


@pytest.mark.parametrize("seed", range(40))
def test_both_checkers_prove_the_same_bound_and_no_posterior_is_below_it(seed):
    certificate = random_certificate(np.random.default_rng(seed))
    first, second = bounds(certificate)
    assert first is not None
    assert first == pytest.approx(second, abs=1e-6)
    points, p_x = allowed()
    prices = np.array(certificate["prices"]) / ONE
    assert (entropies(points) - points @ prices).min() >= entropies(p_x[None])[0] - prices @ p_x - first - 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_what_does_not_cover_is_refused(seed):
    certificate = random_certificate(np.random.default_rng(seed))
    tree = certificate["tree"]
    leaf = next(place for place, node in enumerate(tree) if len(node) == 1)
    changes = {
        "less": [node for place, node in enumerate(tree) if place != leaf],
        "more": [*tree, [0]],
        "no dual": [*tree[:leaf], [5], *tree[leaf + 1 :]],
        "even": [[0, 1, 2, 3], *tree],
        "twice": [[0, 1, 2, 1, 3], *tree],
        "no symbol": [[0, 8, 2], *tree],
        "no place": [[0, 1, ONE + 1], *tree],
        "negative": [[0, 1, -1], *tree],
        "nothing": [[], *tree],
        "a number": [0, *tree],
    }
    for change, other in changes.items():
        assert bounds(certificate | {"tree": other}) == [None, None], change


def test_one_slab_proves_no_more_than_a_split_and_a_leaf():
    certificate = random_certificate(np.random.default_rng(1))
    for code, place in [(3, ONE // 3), (2, ONE // 5), (3, ONE), (2, 0)]:
        x, above = divmod(code, 2)
        leaves = [[1], [0]] if above else [[0], [1]]
        split = bounds(certificate | {"tree": [[x, place], *leaves]})
        cut = bounds(certificate | {"tree": [[0, code, place], [1]]})
        # The leaf of a split is closed by itself, a slab is bounded as a part of its box: never better.
        assert all(own >= other - 1e-12 for own, other in zip(cut, split, strict=True))


def repeated():
    """Counts with equal columns and proportional rows, their certificate, and that of what they are merged to."""
    rng = np.random.default_rng(5)
    shapes = rng.integers(1, 9, (3, 4))
    counts = np.vstack([shapes, 2 * shapes[:1]])[:, [0, 1, 1, 2, 3, 0, 1]] * [1, 2, 3, 1, 1, 4, 1]
    joint, region = examples.counted(counts), AlphaLift("inf", "0.3")
    merged = Merged.of(joint)
    solved = Optimal(relative_gap=1e-3, threads=1).solve(merged.joint, [region], MutualInformation())[0]
    return joint, merged, exported(solved.certificate, merged.joint, region)


def test_a_proof_of_types_is_one_of_symbols():
    joint, merged, proof = repeated()
    counts = [list(row) for row in joint.weights]
    assert (len(merged.joint.s_labels), len(merged.joint.x_labels)) == (3, 4)
    first, second = bounds({"kind": "merged", "proof": proof}, counts)
    assert first == pytest.approx(second, abs=1e-6)
    types = bounds(proof, [list(row) for row in merged.joint.weights])[0]
    assert first == pytest.approx(types + merged.gain, abs=1e-9)
    solution = design(joint, AlphaLift("inf", "0.3"), solver=Optimal(relative_gap=1e-3, threads=1))
    assert float(to_document(solution)["claims"]["utility_at_least"]) <= first
    assert first <= float(to_document(solution)["claims"]["optimum_at_most"]) + 2e-3 * solution.utility


def test_forged_types_are_refused():
    joint, _, proof = repeated()
    counts = [list(row) for row in joint.weights]
    nearly = copy.deepcopy(counts)
    nearly[0][0] += 1  # no multiple any more: one type more than the proof has
    wrapped = {"kind": "merged", "proof": proof}
    assert None not in bounds(wrapped, counts)
    for certificate, own in [
        (wrapped, nearly),
        (proof, counts),
        ({"kind": "merged", "proof": wrapped}, counts),
        ({"kind": "merged", "proof": None}, counts),
        ({"kind": "merged"}, counts),
        (wrapped | {"bits": 28}, counts),
        ({"kind": "merged", "proof": proof | {"prices": [*proof["prices"], 0]}}, counts),
    ]:
        assert bounds(certificate, own) == [None, None]


def test_the_work_of_a_file_is_bounded(monkeypatch):
    certificate = random_certificate(np.random.default_rng(2))
    assert bounds(certificate)[0] is not None
    monkeypatch.setattr(checker, "_MOST_BOUNDED", 3)
    assert bounds(certificate)[0] is None


def test_a_merged_file_is_proven():
    joint, merged, proof = repeated()
    bound = bounds({"kind": "merged", "proof": proof}, [list(row) for row in joint.weights])[0]
    counts = [list(row) for row in joint.weights]
    for change, proven in [(1e-6, True), (-1e-6, False)]:
        document = file(
            PROMISE, counts, certificate={"kind": "merged", "proof": proof}, optimum=f"{bound + change:.9f}"
        )
        assert verdicts_of(document)["optimum"] is proven
        assert json.loads(json.dumps(document)) == document
    assert Fraction(merged.joint.total) == sum(map(sum, counts))
