"""What the ledger knows of a release: which secret, which people, which table. Each attack was seen to work once."""

import shutil

import numpy as np
import pandas as pd
import pytest

from alphalift import InputError, MaxLift, design, read_joint
from alphalift.release import Ledger, Plan, new_key, read_key, release

ENTIRELY = "may tell the secret entirely"


def xor(rows=400):
    """s = a xor b; each of them alone tells nothing about s."""
    numbers = np.arange(rows)
    a, b = numbers % 2, numbers // 2 % 2
    columns = {"s": a ^ b, "a": a, "b": b, "n": np.random.default_rng(0).integers(0, 2, rows)}
    ids = [f"{number:05d}" for number in numbers]
    return pd.DataFrame({"id": ids} | {name: column.astype(str) for name, column in columns.items()})


TABLE = xor()


def mechanism(useful, epsilon=0.0, **options):
    return design(read_joint(TABLE, sensitive="s", useful=useful), MaxLift(epsilon), **options)


A, B = mechanism("a"), mechanism("b")


@pytest.fixture
def key(tmp_path):
    return new_key(tmp_path / "k")


def run(key, mechanism, table=TABLE, *, out=None, **options):
    return release(Plan(mechanism=mechanism, key=key, record_id="id", **options), table, out=out)


class TestSecrets:
    """Whether somebody is 65 and whether somebody is 18 are two secrets of one column."""

    rng = np.random.default_rng(0)
    age, coin = rng.integers(0, 90, 4000), rng.integers(0, 2, 4000)
    table = pd.DataFrame(
        {"id": range(4000), "age": age, "a": coin.astype(str), "b": (coin ^ (age >= 65)).astype(int).astype(str)}
    )
    first = design(read_joint(table, sensitive="age", useful="a", bins={"age": [65]}), MaxLift(0.3))

    def second(self, edge, **options):
        joint = read_joint(
            self.table, sensitive="age", useful="b", bins={"age": [edge]}, beside=[self.first.joint.useful]
        )
        return design(joint, MaxLift(0.3), **options)

    def test_a_promise_covers_no_other_binning(self, key):
        run(key, self.first, self.table)
        second = self.second(18, after=[self.first])
        with pytest.raises(InputError, match="other bins or values of the secret"):
            run(key, second, self.table)
        told = run(key, second, self.table, new_release=True).together
        assert told.promised is None
        assert ENTIRELY in str(told)

    def test_a_count_for_one_binning_says_nothing_about_another(self, key):
        run(key, self.first, self.table)
        second = self.second(18)
        assert ENTIRELY in str(run(key, second, self.table, after=[self.first], new_release=True).together)

    def test_the_same_binning_is_covered(self, key):
        run(key, self.first, self.table)
        assert run(key, self.second(65, after=[self.first]), self.table).together.promised


class TestCounts:
    def test_a_batch_is_not_what_was_designed_for(self, key):
        """All with s = 0, then all with s = 1: in neither batch is there anything left to tell."""
        run(key, A)
        for value in "01":
            batch = TABLE[TABLE["s"] == value]
            assert ENTIRELY in str(run(key, B, batch, after=[A], new_release=True).together)
        other = mechanism("b", bits=20)
        assert ENTIRELY in str(run(key, other, new_release=True).together), "no batch's joint was kept"

    def test_the_designed_table_in_any_order_is_counted(self, key):
        done = run(key, B, TABLE.sample(frac=1, random_state=0), after=[A], new_release=True)
        assert done.together.known.max_lift == 2

    def test_the_same_integers_for_two_columns_are_two_releases(self, key):
        assert A.integers.identity == B.integers.identity
        for _ in range(2):
            assert run(key, B, after=[A], new_release=True).together.known.max_lift == 2


class TestPromises:
    first = mechanism("a", 0.1)
    joint = read_joint(TABLE, sensitive="s", useful="n", beside=[first.joint.useful])
    second = design(joint, MaxLift(0.3), after=[first])

    def test_other_columns_are_not_covered(self, key):
        run(key, self.first)
        with pytest.raises(InputError, match="released before"):
            run(key, self.second, useful="b", redefine=True)
        done = run(key, self.second, useful="b", redefine=True, new_release=True)
        assert ENTIRELY in str(done.together)

    def test_other_columns_are_not_covered_if_they_are_counted(self, key):
        run(key, self.first)
        with pytest.raises(InputError, match="released before"):
            run(key, self.second, TABLE.assign(c=TABLE["n"]), useful="c", redefine=True, after=[self.first])

    def test_the_promise_about_all_is_named(self, key):
        """Beside the first one's own promise, "the promise" was taken for that."""
        run(key, self.first)
        for each in (self.second, self.first):
            text = str(run(key, each).together)
            assert "together they keep the promise of the release of n" in text
            assert "0.3" in text
            assert "0.1" not in text


def test_a_copy_of_the_ledger_that_went_its_own_way_counts(key, tmp_path):
    (tmp_path / "copy").mkdir()
    for name in ("k", "k.ledger"):
        shutil.copy2(tmp_path / name, tmp_path / "copy" / name)
    copy = read_key(tmp_path / "copy" / "k")
    run(copy, A)
    with pytest.raises(InputError, match="another useful column"):
        run(key, B, also=[copy])
    done = run(key, A, also=[copy, copy, key])
    assert done.together is None, "a retry, wherever the first was written down"
    assert ENTIRELY in str(run(key, B, also=[copy], new_release=True).together)
