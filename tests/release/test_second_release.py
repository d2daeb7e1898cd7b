"""Releases that an audit broke: other columns, other ids, other keys, failed and killed runs. Each was seen to work once."""

import os
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from people import JOINT, SOLUTION, TABLE, plan

from alphalift import InputError, Joint, MaxLift, TableError, design, read_joint
from alphalift.joint import Origin
from alphalift.release import Key, Ledger, new_key, read_key, release
from alphalift.release.engines import Here


@pytest.fixture
def key(tmp_path):
    (tmp_path / "home").mkdir()
    return new_key(tmp_path / "home" / "k")


def known(key, namespace="default"):
    return len(Ledger.beside(key).entries(key, namespace))


def with_ledger(key, table=TABLE, *, out=None, **options):
    return release(plan(key=key, ledger="beside", **options), table, out=out)


class TestTwoColumns:
    """s = a xor b, each of them independent of s: at epsilon 0 both are published as they are, by the same integers."""

    rng = np.random.default_rng(0)
    a, s = rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
    table = pd.DataFrame({"id": range(4000), "a": a.astype(str), "b": (a ^ s).astype(str), "s": s.astype(str)})

    def mechanism(self, column):
        origin = Origin(("s",), (column,))
        return design(Joint([[1, 1], [1, 1]], ["0", "1"], ["0", "1"], counts=True, origin=origin), MaxLift(0))

    def test_the_second_one_is_refused_and_then_said_to_tell_everything(self, key):
        first, second = self.mechanism("a"), self.mechanism("b")
        assert first.integers.identity == second.integers.identity
        with_ledger(key, self.table, mechanism=first)
        with pytest.raises(InputError, match="another useful column"):
            with_ledger(key, self.table, mechanism=second)
        done = with_ledger(key, self.table, mechanism=second, new_release=True)
        assert done.together.known is None
        assert "may tell the secret entirely" in str(done.together)

    def test_two_columns_share_no_randomness(self, key):
        """A law that says nothing about its value: outputs of two columns must not be the same function of the id."""
        weights = [{0: 1 << 51, 1: 1 << 51}] * 2
        drawn = []
        for column in "ab":
            solution = self.mechanism(column)
            law = type(solution.integers)(solution.integers.labels, 52, weights, None)

            class Coin:
                integers, joint, region, after = law, solution.joint, solution.region, None

            same = self.table.assign(a="0", b="0")
            done = with_ledger(key, same, mechanism=Coin, new_release=True)
            drawn.append(done.table.iloc[:, -1].to_numpy(dtype=str))
        assert 0.4 < (drawn[0] == drawn[1]).mean() < 0.6


def test_another_id_column_is_no_retry(key):
    """Six of them drew six times: a lift of 2.0 against a promise of 1.65."""
    table = TABLE.assign(**{f"id{i}": TABLE["id"] + i for i in range(6)})
    with_ledger(key, table, record_id="id0")
    with_ledger(key, table, record_id="id0")
    for i in range(1, 6):
        with pytest.raises(InputError, match="another id column"):
            with_ledger(key, table, record_id=f"id{i}")
    assert known(key) == 1


def test_another_mechanism_for_the_same_column_is_counted_exactly(key):
    with_ledger(key)
    other = design(JOINT, MaxLift(0.3))
    with pytest.raises(InputError, match="another mechanism"):
        with_ledger(key, mechanism=other)
    done = with_ledger(key, mechanism=other, new_release=True)
    assert 1.05 < done.together.known.max_lift < 2.7
    assert str(done.together) in done.notices
    assert with_ledger(key).together == done.together, "from now on both count, in whatever order"
    with_ledger(key, mechanism=other, namespace="other people")


def test_releases_under_other_keys_count_if_they_are_named(key, tmp_path):
    second = new_key(tmp_path / "second")
    assert [n for n in with_ledger(key).notices if "first release under this key" in n]
    assert not [n for n in with_ledger(key).notices if "first release under this key" in n]
    with pytest.raises(InputError, match="another key"):
        with_ledger(second, also=[key])
    done = with_ledger(second, also=[key], new_release=True)
    assert done.together.releases == 2
    assert done.together.known.max_lift > 1, "the same law, drawn twice"
    assert not [n for n in done.notices if "first release under this key" in n]


def test_a_key_that_was_copied_does_not_forget(key, tmp_path):
    with_ledger(key)
    shutil.copy(key.path, tmp_path / "copy")
    with pytest.raises(InputError, match="ledger is missing"):
        with_ledger(read_key(tmp_path / "copy"), mechanism=design(JOINT, MaxLift(0.3)))
    shutil.copy(Ledger.beside(key).path, tmp_path / "copy.ledger")
    done = with_ledger(read_key(tmp_path / "copy"))
    assert [n for n in done.notices if "not known here" in n]


def test_what_was_released_before_is_counted_from_the_table(key, tmp_path):
    """Without a ledger that knows: `after` names the mechanisms, and the table has all their columns."""
    rng = np.random.default_rng(3)
    table = TABLE.assign(town=np.where(rng.random(len(TABLE)) < 0.7, TABLE["ill"], "no"))
    first = design(read_joint(table, sensitive="ill", useful="town"), MaxLift(0.1))
    done = with_ledger(key, table, after=[first], new_release=True)
    assert done.together.releases == 2
    with pytest.raises(InputError, match="another key"):
        with_ledger(new_key(tmp_path / "n"), table, after=[first])


class TestRunsThatEndEarly:
    def test_a_run_that_failed_is_no_release(self, key, tmp_path):
        odd = TABLE.assign(job=["pilot", *TABLE["job"][1:]])
        for out in (tmp_path / "out.csv", None):
            with pytest.raises(TableError, match="does not know"):
                with_ledger(key, odd, out=out)
            assert known(key) == 0
        with_ledger(key, mechanism=design(JOINT, MaxLift(0.3)))
        assert sorted(os.listdir(tmp_path)) == ["home"]

    def test_what_cannot_be_renamed_is_no_release(self, key, tmp_path, monkeypatch):
        """An interrupt right before the output appears, and one right after."""
        out, rename = tmp_path / "out.csv", type(tmp_path).replace

        def interrupted(before):
            def replace(self, target):
                if target == out and before:
                    raise KeyboardInterrupt
                rename(self, target)
                if target == out:
                    raise KeyboardInterrupt

            return replace

        for before, count in ((True, 0), (False, 1)):
            with monkeypatch.context() as patch:
                patch.setattr(type(tmp_path), "replace", interrupted(before))
                with pytest.raises(KeyboardInterrupt):
                    with_ledger(key, out=out)
            assert (known(key), out.exists()) == (count, count == 1)

    def test_the_ledger_knows_before_anybody_can_see(self, key, tmp_path, monkeypatch):
        out, whole = tmp_path / "out.csv", Here.release

        def watched(self, work, part, *, check):
            assert known(key) == 1
            assert not out.exists()
            assert stat.S_IMODE(part.stat().st_mode) == 0o600
            return whole(self, work, part, check=check)

        monkeypatch.setattr(Here, "release", watched)
        with_ledger(key, out=out)
        assert out.exists()

    @pytest.mark.parametrize("ended", ["before", "after"])
    def test_kill(self, key, tmp_path, ended):
        """Killed before the output appears: no release, and nothing is left by the next run; after it: one."""
        code = KILLED.format(ended=ended)
        done = subprocess.run([sys.executable, "-c", code, key.path, tmp_path / "out.csv"], check=False)
        assert done.returncode == -signal.SIGKILL
        assert (tmp_path / "out.csv").exists() == (ended == "after")
        assert known(key) == (ended == "after")
        assert not [name for name in os.listdir(tmp_path) if "part-out.csv" in name and name.endswith("out.csv")]


KILLED = """
import os, signal, sys, pathlib
import pyarrow as pa
from alphalift import Joint, MaxLift, design
from alphalift.release import Plan, read_key, release
rename = pathlib.Path.replace
def replace(self, target):
    if "{ended}" == "after" or not str(target).endswith("out.csv"):
        rename(self, target)
    if str(target).endswith("out.csv"):
        os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.replace = replace
mechanism = design(Joint([[5, 2], [1, 4]], ["yes", "no"], ["a", "b"], counts=True), MaxLift(0.1))
plan = Plan(mechanism=mechanism, useful="x", record_id="id", key=read_key(sys.argv[1]))
release(plan, pa.table({{"id": [1, 2], "x": ["a", "b"]}}), out=sys.argv[2])
"""
SPILLING = """
import sys, time, pathlib
import numpy as np, pyarrow as pa
from alphalift import Joint, MaxLift, design
from alphalift.release import Plan, read_key, release
from alphalift.release.engines import twice
def pairs(self, batch):
    pathlib.Path(sys.argv[3]).touch()
    time.sleep(600)
if sys.argv[3] != "no":
    twice.Answers.pairs = pairs
mechanism = design(Joint([[5, 2], [1, 4]], ["yes", "no"], ["a", "b"], counts=True), MaxLift(0.1))
plan = Plan(mechanism=mechanism, useful="x", record_id="id", key=read_key(sys.argv[1]))
release(plan, pa.table({"id": [2, 1], "x": ["a", "b"]}), out=sys.argv[2])
"""


def test_ids_that_a_kill_leaves_are_private_and_removed_by_the_next_run(key, tmp_path):
    """They were left in the temporary folder of all users; a quote in its name broke the query."""
    (tmp_path / "it's").mkdir()
    (tmp_path / "out").mkdir()
    environment = os.environ | {"TMPDIR": str(tmp_path / "it's")}
    command = [sys.executable, "-c", SPILLING, key.path, tmp_path / "out" / "it's.csv"]
    process = subprocess.Popen([*command, tmp_path / "there"], env=environment)
    until = time.monotonic() + 120
    while not (tmp_path / "there").exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.wait()
    left = list((tmp_path / "out").iterdir())
    assert [path for path in left if ".part-" in path.name]
    assert [path for path in left if ".spill-" in path.name]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in left} == {0}
    assert not list((tmp_path / "it's").iterdir())
    subprocess.run([*command, "no"], env=environment, check=True)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "it's.csv",
        "it's.csv.codebook.json",
        "it's.csv.manifest.json",
    }
    assert known(key) == 1


def test_shuffled_ids_spill_into_a_private_folder_beside_the_output(key, tmp_path, monkeypatch):
    seen = []
    connect = __import__("duckdb").connect

    def watched(*arguments, config, **options):
        folder = config["temp_directory"]
        seen.append((os.path.dirname(folder), stat.S_IMODE(os.stat(folder).st_mode)))
        return connect(*arguments, config=config, **options)

    monkeypatch.setattr("alphalift.release.engines.twice.duckdb.connect", watched)
    with_ledger(key, out=tmp_path / "out.csv")
    with_ledger(key)
    own = Key.of_bytes(secrets.token_bytes(32))
    release(plan(key=own), TABLE)
    assert [mode for _, mode in seen] == [0o700] * 3
    assert [place for place, _ in seen][:2] == [str(tmp_path), str(tmp_path / "home")]


def test_messages_name_no_value(key):
    with_ledger(key)
    with pytest.raises(InputError) as error:
        with_ledger(key, mechanism=design(JOINT, MaxLift(0.3)))
    assert not any(label in str(error.value) for label in SOLUTION.integers.labels["x"])


def test_what_was_designed_for_what_is_left_needs_no_new_release(key):
    """Its promise is about both columns together, so the ledger lets it pass; the first one alone would not."""
    rng = np.random.default_rng(3)
    table = TABLE.assign(town=np.where(rng.random(len(TABLE)) < 0.5, TABLE["ill"], "no"))
    first = design(read_joint(table, sensitive="ill", useful="town"), MaxLift(0.1))
    with_ledger(key, table, mechanism=first)
    joint = read_joint(table, sensitive="ill", useful="job", beside=[first.joint.useful])
    with pytest.raises(InputError, match="another mechanism and another useful column"):
        with_ledger(key, table, mechanism=design(joint, MaxLift(0.3)))
    done = with_ledger(key, table, mechanism=design(joint, MaxLift(0.3), after=[first]))
    assert done.together.promised
    assert done.together.known.max_lift <= np.exp(0.3)
    assert "together with those that it was designed after" in done.manifest["promise"]
    assert with_ledger(key, table, mechanism=first).together == done.together, "a retry of the first, afterwards"
