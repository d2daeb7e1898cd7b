"""Types: what is merged is worth H(X) - H(T) less, and splitting a mechanism of types over symbols gives that back."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from alphalift import AlphaLift, InputError, Joint, Optimal
from alphalift.measures.information import entropy
from alphalift.presolve import Merged
from alphalift.proof.checker import merged_blocks
from alphalift.utilities import MutualInformation


def repeated(rng, secrets, types, symbols, *, same_secrets=0):
    """Counts with so many columns that are no multiples of each other, and multiples of them; and secrets the same way."""
    shapes = rng.integers(1, 30, (secrets, types)) * (rng.random((secrets, types)) < 0.8)
    shapes[rng.integers(secrets, size=types), np.arange(types)] += 1
    shapes[:, 0] += 1
    chosen = np.concatenate([np.arange(types), rng.integers(types, size=symbols - types)])
    counts = shapes[:, rng.permutation(chosen)] * rng.integers(1, 50, symbols)
    return Joint(np.vstack([counts, *(counts[:1] * (k + 2) for k in range(same_secrets))]).tolist(), counts=True)


def of_mean(joint, rng):
    """Columns over a joint's symbols whose mean is its P_X: a random P(Y|X) with few outputs each."""
    size = len(joint.x_labels)
    law = rng.random((max(2, size), size)) * (rng.random((max(2, size), size)) < 3 / size) + np.eye(max(2, size), size)
    p_xy = law / law.sum(axis=0) * joint.p_x
    masses = p_xy.sum(axis=1)
    return csr_array(p_xy[masses > 0] / masses[masses > 0, None]), masses[masses > 0]


@pytest.mark.parametrize("seed", range(30))
def test_pieces_have_the_same_lifts_and_the_right_mean(seed):
    rng = np.random.default_rng(seed)
    types = int(rng.integers(1, 12))
    joint = repeated(rng, int(rng.integers(2, 5)), types, types + int(rng.integers(0, 60)), same_secrets=seed % 3)
    merged = Merged.of(joint)
    columns, masses = of_mean(merged.joint, rng)
    points, shares = merged.split(columns, masses)
    dense, size = points.toarray(), len(joint.x_labels)
    assert shares @ dense == pytest.approx(joint.p_x, rel=1e-9)
    assert len(shares) <= len(masses) + size - len(merged.joint.x_labels)
    assert dense.sum(axis=1) == pytest.approx(np.ones(len(shares)))
    # One symbol of each type, so that a piece is as uncertain as its column and has its lifts.
    indicator = np.eye(len(merged.joint.x_labels))[merged.types]
    assert ((dense > 0) @ indicator).max() == 1
    by_type = dense @ indicator
    assert by_type @ merged.joint.lift.T @ np.eye(len(merged.joint.s_labels))[merged.groups].T == pytest.approx(
        dense @ joint.lift.T
    )
    expected = masses @ entropy(columns.toarray())
    assert shares @ entropy(dense) == pytest.approx(expected)
    gained = entropy(joint.p_x) - entropy(merged.joint.p_x)
    assert merged.gain == pytest.approx(gained, abs=1e-12)


def test_nothing_to_merge_is_the_identity():
    joint = Joint([[4, 3, 1], [1, 3, 4]], counts=True)
    merged = Merged.of(joint)
    assert merged.joint is joint
    assert merged.gain == 0
    columns, masses = of_mean(joint, np.random.default_rng(1))
    points, shares = merged.split(columns, masses)
    assert np.array_equal(points.toarray(), columns.toarray())
    assert np.array_equal(shares, masses)


def test_equal_columns_are_told_apart_for_nothing():
    joint = Joint([[2, 4, 1, 1], [2, 4, 3, 3]], counts=True)
    merged = Merged.of(joint)
    assert merged.types.tolist() == [0, 0, 1, 1]
    _, shares = merged.split(csr_array(np.array([[0.6, 0.4]])), np.array([1.0]))  # 1/3, 1/2: where symbols change
    assert shares == pytest.approx([1 / 3, 1 / 6, 1 / 2])


@pytest.mark.parametrize("seed", range(10))
def test_the_checker_merges_the_same(seed):
    joint = repeated(np.random.default_rng(seed), 3, 5, 12, same_secrets=1)
    (block,) = merged_blocks([[list(row) for row in joint.weights]])
    assert block == [list(row) for row in Merged.of(joint).joint.weights]


def test_a_rare_symbol_is_kept():
    joint = Joint([[10**18, 1, 5], [10**18, 1, 9]], counts=True)
    merged = Merged.of(joint)
    points, shares = merged.split(csr_array(np.array([[1.0, 0.0], [0.0, 1.0]])), merged.joint.p_x)
    assert (shares @ points.toarray() > 0).all()


def test_columns_without_a_type_are_refused():
    merged = Merged.of(Joint([[1, 1, 1], [1, 1, 2]], counts=True))
    with pytest.raises(InputError, match="mix"):
        merged.split(csr_array(np.array([[1.0, 0.0]])), np.array([1.0]))


def test_the_optimum_is_that_of_types():
    joint, region = repeated(np.random.default_rng(3), 3, 4, 7), AlphaLift(3, 0.1)
    merged, solver = Merged.of(joint), Optimal(relative_gap=1e-4, threads=1)
    whole, types = (solver.solve(own, [region], MutualInformation())[0] for own in (joint, merged.joint))
    slack = 1e-4 * entropy(joint.p_x)
    assert whole.utility <= types.upper_bound + merged.gain + 1e-9
    assert types.utility + merged.gain <= whole.upper_bound + 1e-9
    assert whole.utility == pytest.approx(types.utility + merged.gain, abs=2 * slack)
