"""Releases of tables: the same output for the same record whatever the engine, order or chunks; and what is refused."""

import gzip
import itertools
import os
import signal
import subprocess
import sys
import time

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from alphalift import AlphaLift, InputError, MaxLift, TableError, design, read_joint
from alphalift.baselines import CompleteMerging
from alphalift.release import Ledger, release
from alphalift.release.draw import outputs_of_words
from alphalift.solution import Status

KEY = bytes(range(32))
ROWS = 3000


def people(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    job = rng.choice(["cook", "clerk, senior", 'smith "x"', "driver"], rows, p=[0.4, 0.3, 0.2, 0.1])
    ill = np.where(rng.random(rows) < np.where(job == "cook", 0.6, 0.2), "yes", "no")
    return pd.DataFrame({"id": rng.permutation(rows) + 10**9, "job": job, "ill": ill})


TABLE = people()
SOLUTION = design(read_joint(TABLE, sensitive="ill", useful="job"), AlphaLift(3, 0.05))


def by_id(released):
    table = released if isinstance(released, pa.Table) else released.table
    return dict(zip(map(str, table.column("id").to_pylist()), table.column("released job").to_pylist(), strict=True))


def run(table, **options):
    return release(SOLUTION, table, **({"useful": "job", "record_id": "id", "key": KEY} | options))


EXPECTED = by_id(run(TABLE))


def kinds(folder):
    arrow = pa.Table.from_pandas(TABLE, preserve_index=False)
    TABLE.to_csv(folder / "t.csv", index=False)
    TABLE.to_csv(folder / "t.tsv", index=False, sep="\t")
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    pq.write_table(arrow, folder / "t.parquet")
    (folder / "parts").mkdir()
    for part in range(3):
        pq.write_table(arrow.slice(part * 1000, 1000), folder / "parts" / f"{part}.parquet")
    return {
        "csv": folder / "t.csv",
        "tsv": folder / "t.tsv",
        "csv.gz": folder / "t.csv.gz",
        "parquet": folder / "t.parquet",
        "folder": folder / "parts",
        "arrow": arrow,
        "dictionary": arrow.set_column(1, "job", arrow.column("job").dictionary_encode()),
        "dataset": pyarrow.dataset.dataset(folder / "t.parquet"),
        "polars": pl.from_arrow(arrow),
        "lazy": pl.from_arrow(arrow).lazy(),
        "duckdb": duckdb.from_arrow(arrow),
        "text ids": TABLE.assign(id=TABLE["id"].astype(str)),
    }


def test_every_kind_of_table_gives_every_record_the_same_output(tmp_path):
    for name, table in kinds(tmp_path).items():
        assert by_id(run(table)) == EXPECTED, name


def test_order_and_chunks_do_not_matter():
    arrow = pa.Table.from_pandas(TABLE, preserve_index=False)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        shuffled = arrow.take(pa.array(rng.permutation(ROWS)))
        found, edges = {}, np.linspace(0, ROWS, 1 + int(rng.integers(1, 17))).astype(int)
        for start, end in itertools.pairwise(edges):
            part = shuffled.slice(start, end - start)
            engine = [lambda table: table, lambda table: table.to_pandas(), pl.from_arrow][seed % 3]
            found |= by_id(run(engine(part), ids="unique"))
        assert found == EXPECTED


def test_the_outputs_follow_the_integers():
    """What is drawn has the law of its column: each output's share is within 5 standard deviations."""
    weights, labels = np.array(SOLUTION.integers.weights) / 2.0**SOLUTION.integers.bits, SOLUTION.integers.labels
    ids = pa.array(np.arange(200_000))
    for x, job in enumerate(labels["x"]):
        table = pa.table({"id": ids, "job": pa.array([job] * len(ids))})
        drawn = pd.Series(by_id(run(table, ids="unique")).values()).value_counts(normalize=True)
        for y, label in enumerate(labels["y"]):
            share = weights[y, x]
            assert abs(drawn.get(label, 0.0) - share) <= 5 * np.sqrt(share * (1 - share) / len(ids))


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
def test_files_are_written_and_read_back(tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    done = run(TABLE, out=out)
    assert (done.rows, done.table) == (ROWS, None)
    if ending == "parquet":
        table = pq.read_table(out)
    else:
        parsing = pyarrow.csv.ParseOptions(delimiter="\t" if ending == "tsv" else ",")
        table = pyarrow.csv.read_csv(out, parse_options=parsing)
    assert table.column_names == ["id", "released job"]
    assert by_id(table) == EXPECTED
    assert os.listdir(tmp_path) == [out.name]


def test_what_leaves_is_what_was_asked_for():
    assert run(TABLE, with_ids=False).table.column_names == ["released job"]
    assert run(TABLE, keep=["ill"]).table.column_names == ["id", "released job", "ill"]
    with pytest.raises(InputError, match="rename it"):
        run(TABLE.assign(**{"released job": 1}), keep=["released job"])


class TestRefusals:
    def test_no_ids(self):
        for options in ({"record_id": None}, {"key": None}):
            with pytest.raises(InputError, match="never answered twice"):
                run(TABLE, **options)

    def test_an_id_with_two_values(self):
        twice = pd.concat([TABLE, TABLE.head(3).assign(job=TABLE["job"].tail(3).to_numpy()[::-1])])
        changed = (twice.groupby("id")["job"].nunique() > 1).sum()
        with pytest.raises(TableError, match=f"{changed} ids in column 'id' occur with two or more values"):
            run(twice)
        assert run(twice, ids="unique").rows == ROWS + 3, "as the caller says"
        assert run(pd.concat([TABLE, TABLE.head(3)])).rows == ROWS + 3, "the same value gets the same answer"

    def test_unseen_and_missing_values(self):
        odd = pd.concat([TABLE, pd.DataFrame({"id": [5, 6], "job": ["pilot", None], "ill": ["no", "no"]})])
        with pytest.raises(TableError, match=f"row {ROWS + 1} ") as error:
            run(odd)
        assert "pilot" not in str(error.value)
        done = run(odd, unseen="answer")
        assert done.unseen == 2
        assert None not in by_id(done).values()

    def test_bad_ids(self):
        for ids in ([1.5] * ROWS, [None] * ROWS, [b"x"] * ROWS):
            with pytest.raises(TableError):
                run(TABLE.assign(id=ids))

    def test_labels_that_a_spreadsheet_would_run(self, tmp_path):
        table = TABLE.assign(job=TABLE["job"].replace({"cook": "=HYPERLINK(1)", "driver": "-5"}))
        solution = design(read_joint(table, sensitive="ill", useful="job"), MaxLift(3))
        options = {"useful": "job", "record_id": "id", "key": KEY}
        with pytest.raises(InputError, match="1 of the mechanism's labels begin like a formula"):
            release(solution, table, out=tmp_path / "out.csv", **options)
        assert not list(tmp_path.iterdir())
        release(solution, table, out=tmp_path / "out.parquet", **options)

    def test_unproven_mechanisms_and_empty_tables(self):
        floats = CompleteMerging().solve(SOLUTION.joint, [MaxLift(0.1)], SOLUTION.objective)[0]
        assert floats.status is Status.FEASIBLE
        with pytest.raises(InputError, match="only a proven mechanism"):
            release(floats, TABLE, useful="job", record_id="id", key=KEY)
        with pytest.raises(TableError, match="no rows"):
            run(TABLE.head(0))
        with pytest.raises(InputError, match="ends in"):
            run(TABLE, out="x.xlsx")


def test_one_shot_draws_anew():
    first, second = (run(TABLE, record_id=None, key=None, one_shot=True).table for _ in range(2))
    assert first.column_names == ["released job"]
    assert first != second


def test_bins_are_applied_as_they_were_counted():
    ages = TABLE.assign(age=np.random.default_rng(1).integers(0, 90, ROWS))
    bins = {"age": [18, 65]}
    joint = read_joint(ages, sensitive="ill", useful=["job", "age"], bins=bins)
    solution = design(joint, MaxLift(0.05))
    done = release(solution, ages, useful=["job", "age"], record_id="id", key=KEY, bins=bins)
    assert done.unseen == 0
    with pytest.raises(TableError, match="does not know"):
        release(solution, ages, useful=["job", "age"], record_id="id", key=KEY)


def test_the_ledger_is_asked_before_anything_is_written(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    run(TABLE, ledger=ledger)
    other = design(SOLUTION.joint, MaxLift(0.3))
    with pytest.raises(InputError, match="another mechanism"):
        release(other, TABLE, useful="job", record_id="id", key=KEY, ledger=ledger, out=tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["ledger"]
    done = release(other, TABLE, useful="job", record_id="id", key=KEY, ledger=ledger, new_release=True)
    assert done.composition.max_lift_leakage > 0.05


SLOW = """
import sys, pyarrow as pa, numpy as np
from alphalift import AlphaLift, Joint, design
from alphalift.release import release
joint = Joint([[5, 2], [1, 4]], ["yes", "no"], ["a", "b"], counts=True)
table = pa.table({"id": np.arange(3_000_000), "x": pa.array(["a", "b"] * 1_500_000)})
release(design(joint, AlphaLift(3, .05)), table, useful="x", record_id="id", key=bytes(32), ids="unique", out=sys.argv[1])
"""


def test_kill_at_any_time_leaves_the_old_file_or_the_whole_new_one(tmp_path):
    """A few moments here; benchmarks/release.py has two hundred."""
    out = tmp_path / "out.parquet"
    out.write_text("old")
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", SLOW, out], check=True)
    seconds, size = time.perf_counter() - begin, pq.ParquetFile(out).metadata.num_rows
    for moment in np.linspace(0.5, 1.0, 4) * seconds:
        out.write_text("old")
        process = subprocess.Popen([sys.executable, "-c", SLOW, out])
        time.sleep(float(moment))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert out.read_bytes() == b"old" or pq.ParquetFile(out).metadata.num_rows == size


def test_draw_and_integers_agree_on_unseen_values():
    assert outputs_of_words(SOLUTION.integers, None, [0])[0] == next(
        y for y, w in enumerate(SOLUTION.integers.unseen) if w
    )
