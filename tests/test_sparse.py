"""Large mechanisms are sparse: the same numbers as dense ones have, and proofs and files without |Y| x |X| of anything."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from alphalift import PML, AlphaLift, Joint, MaxLift, Mechanism, Status, load, to_document
from alphalift.arrays import compact
from alphalift.document import save
from alphalift.labels import output_labels
from alphalift.measures.information import entropy
from alphalift.proof import checker
from alphalift.proof.prove import prove
from alphalift.proof.rounding import rounded
from alphalift.solution import Solution
from alphalift.utilities import MutualInformation, Utility

SIZE = 300  # of X and of Y: large enough to be kept sparse


def problem(seed=0, each=4):
    """A joint, and a law with so many outputs for every symbol, (SIZE, SIZE)."""
    rng = np.random.default_rng(seed)
    joint = Joint(rng.integers(1, 40, (4, SIZE)).tolist(), counts=True)
    law = np.zeros((SIZE, SIZE))
    for x in range(SIZE):
        law[rng.choice(SIZE, each, replace=False), x] += rng.random(each) + 0.05
    law[np.arange(SIZE), np.arange(SIZE)] += 0.5
    return joint, law / law.sum(axis=0)


def test_the_form_follows_size_and_content():
    _, law = problem()
    assert issparse(compact(law))
    assert issparse(compact(csr_array(law)))
    assert isinstance(compact(law[:, :50]), np.ndarray), "small"
    assert isinstance(compact(np.ones((SIZE, SIZE))), np.ndarray), "full"
    assert isinstance(compact(csr_array(np.ones((SIZE, SIZE)))), np.ndarray)


@pytest.mark.parametrize("given", [np.array, csr_array])
def test_a_sparse_mechanism_has_the_numbers_of_a_dense_one(given):
    joint, law = problem()
    mechanism = Mechanism(joint, given(law))
    assert issparse(mechanism.law)
    assert issparse(mechanism.posteriors)
    p_xy = law * joint.p_x
    posteriors = p_xy / p_xy.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mechanism.p_y_given_x, law, rtol=1e-14)
    np.testing.assert_allclose(mechanism.p_y, p_xy.sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(mechanism.p_x_given_y, posteriors.T, rtol=1e-13)
    np.testing.assert_allclose(mechanism.lift, joint.lift @ posteriors.T, rtol=1e-12)
    np.testing.assert_allclose(mechanism.p_s_given_y, joint.p_s_given_x @ posteriors.T, rtol=1e-12)
    kept = entropy(joint.p_x) - p_xy.sum(axis=1) @ entropy(posteriors)
    assert mechanism.utility() == pytest.approx(kept, rel=1e-12)
    assert mechanism.y_labels == output_labels(posteriors, joint.x_labels)
    assert mechanism.leakage(3) == pytest.approx(float(mechanism.leakage_by_output(3).max()))
    again = pickle.loads(pickle.dumps(mechanism))
    assert (again.law != mechanism.law).nnz == 0
    for form in (mechanism.law.data, mechanism.p_y_given_x, mechanism.p_x_given_y):
        with pytest.raises(ValueError, match="read-only"):
            form[0] = 0


def test_a_promise_about_x_is_checked():
    joint, law = problem()
    mechanism = Mechanism(joint, law)
    worst = (mechanism.p_x_given_y / joint.p_x[:, None]).max()
    assert mechanism.check(PML(float(np.log(worst)) + 1e-9))
    assert not mechanism.check(PML(float(np.log(worst)) - 1e-3))


def test_mixing_is_the_same_for_sparse_points():
    joint, law = problem()
    p_xy = law * joint.p_x
    masses = p_xy.sum(axis=1)
    points = p_xy / masses[:, None]
    dense, sparse = (Mechanism.mixing(joint, form(points), masses) for form in (np.array, csr_array))
    np.testing.assert_allclose(dense.p_y_given_x, sparse.p_y_given_x, rtol=1e-14)


def test_publishing_everything_is_sparse():
    joint, _ = problem()
    mechanism = Mechanism.publishing_all(joint)
    assert mechanism.law.nnz == SIZE
    assert mechanism.normalized_utility() == pytest.approx(1)


@dataclass(frozen=True)
class Squares(Utility):
    """1 - sum V^2, by a user who knows arrays alone."""

    def uncertainty(self, points):
        return 1 - np.square(points).sum(axis=1)


def test_a_users_utility_sees_arrays(monkeypatch):
    monkeypatch.setattr("alphalift.utilities.base._AT_ONCE", 7 * SIZE)
    joint, law = problem()
    mechanism = Mechanism(joint, law)
    expected = Squares().of(mechanism.p_y, mechanism.p_x_given_y.T, joint.p_x)
    assert mechanism.utility(Squares()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("bits", [8, 52, 100])
def test_rounding_is_the_same_in_both_forms(bits):
    _, law = problem()
    assert rounded(csr_array(law), bits) == rounded(law, bits)


def unproven(mechanism, region):
    return Solution(mechanism, region, MutualInformation(), Status.FEASIBLE)


def test_a_sparse_mechanism_is_proven_written_and_read(tmp_path):
    joint, law = problem()
    mechanism = Mechanism(joint, law)
    region = AlphaLift(10, mechanism.leakage(10) + 1e-6)
    proven = prove(unproven(mechanism, region))
    assert proven.status is Status.FEASIBLE
    assert sum(map(len, proven.integers.weights)) == np.count_nonzero(law)
    assert proven.utility == pytest.approx(mechanism.utility(), abs=1e-9)
    document = to_document(proven)
    assert [len(row) // 2 for row in document["weights"]] == np.count_nonzero(law, axis=1).tolist()
    save(document, tmp_path / "m.json")
    stored = load(tmp_path / "m.json")
    assert stored.integers == proven.integers
    assert not stored.integers.dense


@pytest.mark.parametrize("share", [0.999, 0.9, 0.3])
def test_what_breaks_a_promise_is_merged_and_stays_sparse(share):
    """Floats that exceed the promise by far more than rounding does: as many outputs as must are merged, and no more."""
    joint, law = problem()
    mechanism = Mechanism(joint, law)
    region = MaxLift(float(np.quantile(np.log(mechanism.lift.max(axis=0)), share)))
    proven = prove(unproven(mechanism, region))
    counts, promise = [list(row) for row in joint.weights], checker.promise_of(to_document(proven)["promise"])
    assert checker.broken_outputs([counts], proven.integers.weights, promise) == []
    columns = np.zeros(SIZE)
    for row in proven.integers.weights:
        for x, weight in row.items():
            columns[x] += weight
    assert (columns == 2.0**52).all()
    assert SIZE * share / 2 <= len(proven.integers.weights) < SIZE
    assert proven.utility > 0.5 * share * mechanism.utility()
    assert sum(map(len, proven.integers.weights)) <= np.count_nonzero(law)


def test_outputs_that_share_nothing_are_merged_too():
    """Everything is broken: publishing X under a promise that allows nearly nothing ends with outputs that keep it."""
    joint, _ = problem()
    proven = prove(unproven(Mechanism.publishing_all(joint), MaxLift(0.01)))
    counts, promise = [list(row) for row in joint.weights], checker.promise_of(to_document(proven)["promise"])
    assert checker.broken_outputs([counts], proven.integers.weights, promise) == []


def test_sums_of_few_and_of_many_weights_are_the_same():
    rng = np.random.default_rng(0)
    block = rng.integers(0, 9, (20, 50)).tolist()
    few, many = {3: 5, 40: 2**60}, {x: int(rng.integers(1, 2**52)) for x in range(50)}
    sums = checker._Sums(block)
    for row in (few, many):
        expected = [sum(weight * counts[x] for x, weight in row.items()) for counts in block]
        assert [int(own) for own in sums.of(row)] == expected
    assert type(sums.of(few)[0]) is int
    assert type(sums.of(many)[0]) is not int, "which FLINT does"
