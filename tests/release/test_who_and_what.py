"""What the ledger knows of a release: which secret, which people, which table. Each attack was seen to work once."""

import copy
import pickle
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from alphalift import InputError, MaxLift, design, read_joint
from alphalift.release import Key, Ledger, Plan, new_key, read_key, release
from alphalift.release.history import History
from alphalift.release.trace import Trace, all_of

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
    other = read_key(tmp_path / "copy" / "k")
    run(other, A)
    with pytest.raises(InputError, match="another useful column"):
        run(key, B, also=[other])
    done = run(key, A, also=[other, other, key])
    assert done.together is None, "a retry, wherever the first was written down"
    assert ENTIRELY in str(run(key, B, also=[other], new_release=True).together)


class TestPeople:
    @pytest.mark.parametrize("form", ["memory", "file", "folder"])
    @pytest.mark.parametrize(
        "written", [lambda ids: ids.astype(int), lambda ids: ids.str.zfill(7), lambda ids: ids + " "]
    )
    def test_ids_written_otherwise_are_no_retry(self, key, tmp_path, form, written):
        """Thirty of them recovered the value of 99% of all people, without a word."""
        rewritten = TABLE.assign(id=written(TABLE["id"]))
        out = None if form == "memory" else tmp_path / ("out.csv" if form == "file" else "out")
        tables = [TABLE, rewritten]
        if form == "folder":
            for number, table in enumerate(tables):
                (tmp_path / f"t{number}").mkdir()
                for part in range(2):
                    table.iloc[part::2].to_parquet(tmp_path / f"t{number}" / f"{part}.parquet")
            tables = [tmp_path / "t0", tmp_path / "t1"]
        run(key, A, tables[0])
        with pytest.raises(InputError, match="have not been released before"):
            run(key, A, tables[1], out=out)
        assert out is None or not out.exists()
        done = run(key, A, tables[1], out=out, new_release=True)
        assert [n for n in done.notices if "answered twice" in n]
        run(key, A, tables[0])
        assert run(key, A, tables[1]).notices == [], "both are known now"

    def test_a_retry_in_parts_and_in_any_order(self, key):
        run(key, A)
        assert run(key, A, TABLE.iloc[::-1]).notices == []
        for part in (TABLE.iloc[:40], TABLE.iloc[100:300]):
            assert [n for n in run(key, A, part).notices if "another table" in n]

    def test_changed_values_are_told(self, key, tmp_path):
        run(key, A, out=tmp_path / "one.csv")
        changed = TABLE.assign(a=["1", *TABLE["a"][1:]])
        done = run(key, A, changed, out=tmp_path / "two.csv")
        assert [n for n in done.notices if "answered for both values" in n]

    def test_few_of_many_are_not_known(self):
        """Only hashes below the largest that is kept can be compared."""
        many = Trace(tuple(range(256)), ("t",))
        assert many.shared(Trace((1000,), ("u",))) is None
        assert many.shared(Trace((7, 1000), ("u",))) == 1
        assert Trace((7,), ("u",)).shared(Trace((8, 9), ("v",))) == 0
        entry = replace(Plan(mechanism=A, key=Key.of_bytes(bytes(32)), record_id="id", ledger="none").entry, trace=many)
        [words] = History((entry,)).require_same_people(replace(entry, trace=Trace((1000,), ("u",))), new_people=False)
        assert "is not known" in words

    def test_traces_of_several_runs(self):
        joined = Trace(tuple(range(256)), ("t",)).joined(Trace((3, 1000), ("u",)))
        assert joined == Trace(tuple(range(256)), ("u", "t"))
        assert all_of([None, joined, None]) == joined

    def test_further_people_can_come(self, key):
        run(key, A, TABLE.iloc[:200])
        with pytest.raises(InputError, match="belong to another namespace"):
            run(key, A, TABLE.iloc[200:])
        run(key, A, TABLE.iloc[200:], new_people=True)
        run(key, A)

    def test_a_refused_run_is_forgotten(self, key, tmp_path):
        run(key, A)
        for _ in range(2):
            with pytest.raises(InputError, match="have not been released before"):
                run(key, A, TABLE.assign(id=TABLE["id"] + " "), out=tmp_path / "out.csv")
        assert len(Ledger.beside(key).entries(key, "default")) == 1


class TestNotices:
    FIRST = "first release under this key"

    def words(self, done):
        return " | ".join(done.notices)

    def test_other_namespaces_are_named_once(self, key):
        assert self.FIRST in self.words(run(key, A, namespace="people"))
        run(key, A, namespace="folk")
        words = self.words(run(key, A))
        assert "releases in the namespaces 'folk', 'people' are not counted" in words
        assert self.FIRST not in words
        assert "namespaces" not in self.words(run(key, A))

    def test_a_key_that_counts_nothing(self, key, tmp_path):
        other = new_key(tmp_path / "other")
        run(other, A, namespace="people")
        words = self.words(run(key, B, also=[other]))
        assert "'people'" in words
        assert "has counted nothing" in words
        assert self.FIRST in words

    def test_a_ledger_elsewhere(self, key, tmp_path):
        run(key, A)
        own = Ledger.create(tmp_path / "l2", key)
        words = self.words(run(key, B, ledger=own))
        assert "the ledger beside the key, are not counted" in words
        assert self.FIRST not in words
        with pytest.raises(InputError, match="another useful column"):
            run(key, B, ledger=Ledger.create(tmp_path / "l3", key), also=[key])

    def test_a_ledger_that_was_moved(self, key, tmp_path):
        (tmp_path / "away").mkdir()
        for name in ("k", "k.ledger"):
            (tmp_path / name).rename(tmp_path / "away" / name)
        words = self.words(run(read_key(tmp_path / "away" / "k"), A))
        assert "not known here" in words
        assert self.FIRST not in words


class TestPlaces:
    @pytest.mark.parametrize("what", ["codebook", "manifest"])
    def test_nothing_is_written_over_a_key_or_the_table(self, tmp_path, what):
        name = f"q.csv.{what}.json"
        key = new_key(tmp_path / name)
        with pytest.raises(InputError, match=r"read or written already|never written over"):
            run(key, A, out=tmp_path / "q.csv")
        assert read_key(tmp_path / name) == key
        own = Ledger.create(tmp_path / f"r.csv.{what}.json", key)
        with pytest.raises(InputError, match=r"read or written already|never written over"):
            run(key, A, out=tmp_path / "r.csv", ledger=own)

    def test_the_output_appears_first(self, key, tmp_path, monkeypatch):
        """Counts of outputs were public after a kill in between, and the ledger knew of no release."""
        appeared, rename = [], type(tmp_path).replace

        def watched(self, target):
            appeared.append(target.name)
            return rename(self, target)

        monkeypatch.setattr(type(tmp_path), "replace", watched)
        run(key, A, out=tmp_path / "out.csv")
        assert appeared == ["out.csv", "out.csv.codebook.json", "out.csv.manifest.json"]


class TestKept:
    def test_an_earlier_column_is_as_good_as_released(self, key):
        second = TestPromises.second
        with pytest.raises(InputError, match="'a' is released by an earlier mechanism"):
            Plan(mechanism=second, key=key, record_id="id", keep=["a"])
        with pytest.raises(InputError, match="'a' is released by an earlier mechanism"):
            Plan(mechanism=B, key=key, record_id="id", keep=["a"], after=[A])
        Plan(mechanism=second, key=key, record_id="id", keep=["a"], publish=["a"])

    def test_a_published_secret_is_said_to_be_one(self, key):
        done = run(key, A, keep=["s"], publish=["s"])
        assert "s is published as it is: nothing is promised about it any more" in done.notices


class TestPickles:
    def test_a_key_is_named_and_not_told(self, key, tmp_path):
        content = pickle.dumps(Plan(mechanism=A, key=key, record_id="id"))
        assert key.secret not in content
        assert pickle.loads(content).key.secret == key.secret
        assert copy.deepcopy(key) is key
        key.path.unlink()
        Ledger.beside(key).path.unlink()
        new_key(key.path)
        with pytest.raises(InputError, match="another key"):
            pickle.loads(content)

    def test_a_key_without_a_file_stays(self):
        own = Key.of_bytes(bytes(range(32)))
        with pytest.raises(InputError, match="cannot be pickled"):
            pickle.dumps(own)
        assert copy.deepcopy(own) is own
        work = Plan(mechanism=A, key=own, record_id="id", ledger="none").work()
        assert pickle.loads(pickle.dumps(work)) == work


def test_a_key_that_is_there_is_to_be_used(key):
    with pytest.raises(InputError, match="k exists already; use it, one key serves all releases"):
        new_key(key.path)
