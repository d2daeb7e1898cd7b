"""Releases of tables: the same output for the same record whatever the engine, order or chunks; and what is refused."""

import gzip
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from outputs_of_words import outputs_of_words
from people import ROWS, SOLUTION, TABLE, by_id, plan, run

from alphalift import InputError, Joint, MaxLift, TableError, design, read_joint
from alphalift.baselines import CompleteMerging
from alphalift.joint import Origin
from alphalift.release import new_key, release
from alphalift.solution import Status

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
    weights, labels = SOLUTION.mechanism.p_y_given_x, SOLUTION.integers.labels
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
    assert sorted(os.listdir(tmp_path)) == [out.name, f"{out.name}.codebook.json", f"{out.name}.manifest.json"]
    assert json.loads((tmp_path / f"{out.name}.codebook.json").read_text()) == done.codebook
    assert json.loads((tmp_path / f"{out.name}.manifest.json").read_text()) == done.manifest


def test_what_leaves_is_what_was_asked_for():
    table = TABLE.assign(age=1)
    assert list(run(table, show_ids="none").table.columns) == ["released job"]
    assert list(run(table, keep=["age"]).table.columns) == ["id", "released job", "age"]
    assert list(run(table, keep=["ill"], publish=["ill"]).table.columns) == ["id", "released job", "ill"]
    shown = run(table, show_ids="pseudonym").table["id"]
    assert not set(shown.astype(str)) & set(table["id"].astype(str))
    assert shown.nunique() == ROWS
    assert shown.str.fullmatch("[0-9a-f]{32}").all()
    assert list(run(table.iloc[::-1], show_ids="pseudonym").table["id"])[::-1] == list(shown)


def test_a_frame_comes_back_as_the_kind_that_it_was():
    assert isinstance(run(TABLE).table, pd.DataFrame)
    assert isinstance(run(pl.from_pandas(TABLE)).table, pl.DataFrame)
    assert isinstance(run(pa.Table.from_pandas(TABLE)).table, pa.Table)
    assert run(TABLE).table["id"].tolist() == TABLE["id"].tolist()


def test_the_manifest_names_the_input_under_the_key_alone():
    """The same for the same records in any order; another one for one changed value, and under another key."""
    name = run(TABLE).manifest["table"]
    assert run(TABLE.sample(frac=1, random_state=0)).manifest["table"] == name
    changed = TABLE.copy()
    changed.loc[5, "job"] = next(job for job in TABLE["job"] if job != TABLE["job"][5])
    others = [run(changed), run(TABLE.drop(index=5)), run(TABLE, namespace="m")]
    assert len({name, *(other.manifest["table"] for other in others)}) == 4


def test_declared_values_without_mass_are_answered_by_name():
    alphabet = {"job": ["cook", "clerk, senior", 'smith "x"', "driver", "pilot"]}
    solution = design(read_joint(TABLE, sensitive="ill", useful="job", alphabet=alphabet), MaxLift(0.1))
    odd = pd.concat([TABLE, pd.DataFrame({"id": [5], "job": ["pilot"], "ill": ["no"]})])
    done = run(odd, mechanism=solution)
    assert (done.rows, done.unseen) == (ROWS + 1, 0)
    stranger = odd.assign(job=odd["job"].replace({"pilot": "diver"}))
    with pytest.raises(TableError, match="does not know"):
        run(stranger, mechanism=solution)
    without_law = replace(solution.integers, unseen=None)

    class Withheld:
        integers, joint, region, after = without_law, solution.joint, solution.region, None

    with pytest.raises(TableError, match="declared for the design and that no record of its table had"):
        run(odd, mechanism=Withheld)


def test_a_population_unlike_the_table_is_noticed():
    assert not [notice for notice in run(TABLE).notices if "look like" in notice]
    cooks = run(TABLE.assign(job="cook"))
    assert [notice for notice in cooks.notices if "do not look like the table" in notice]


class TestRefusals:
    def test_an_id_with_two_values(self):
        twice = pd.concat([TABLE, TABLE.head(9).assign(job=TABLE["job"].tail(9).to_numpy()[::-1])])
        changed = (twice.groupby("id")["job"].nunique() > 1).sum()
        assert changed > 1
        with pytest.raises(
            TableError, match=f"{changed} ids in column 'id' occur with two or more values of job; .*another id column"
        ):
            run(twice)
        assert run(twice, ids="unique").rows == ROWS + 9, "as the caller says"
        assert run(pd.concat([TABLE, TABLE.head(3)])).rows == ROWS + 3, "the same value gets the same answer"

    def test_unseen_and_missing_values(self):
        odd = pd.concat([TABLE, pd.DataFrame({"id": [5, 6], "job": ["pilot", None], "ill": ["no", "no"]})])
        with pytest.raises(TableError, match=f"row {ROWS + 1} of the data") as error:
            run(odd)
        assert "pilot" not in str(error.value)
        done = run(odd, unseen="answer")
        assert done.unseen == 2
        assert None not in by_id(done).values()
        assert "2 of 3002 records had a value" in " ".join(done.notices)

    @pytest.mark.parametrize("line", [2, 3, 7, 9])
    def test_rows_have_one_number_whatever_is_wrong_with_them(self, tmp_path, line):
        """Line 2 of a file, the first after its header, is row 1 of the data: for a value, and for a cell too many."""
        good = ["id,job,ill", *(f"{number},cook,no" for number in range(8))]
        path = tmp_path / "people.csv"
        for wrong in ("77,pilot,no", "77,cook,no,more", "77,cook"):
            path.write_text("\n".join([*good[: line - 1], wrong, *good[line:]]) + "\n")
            with pytest.raises(TableError, match=f"row {line - 1} of the data"):
                run(path)

    def test_another_column_is_not_called_unseen_values(self):
        """The advice to answer unseen values would make noise of all rows."""
        with pytest.raises(TableError, match="does not look like the column that it was designed for") as error:
            run(TABLE.assign(job=TABLE["job"].str.upper()))
        assert "answer" not in str(error.value)

    def test_bad_ids(self):
        for ids in ([1.5] * ROWS, [None] * ROWS, [b"x"] * ROWS):
            with pytest.raises(TableError):
                run(TABLE.assign(id=ids))

    def test_labels_that_a_spreadsheet_would_run(self, tmp_path):
        table = TABLE.assign(job=TABLE["job"].replace({"cook": "=HYPERLINK(1)", "driver": "-5"}))
        solution = design(read_joint(table, sensitive="ill", useful="job"), MaxLift(3))
        with pytest.raises(InputError, match="1 of the mechanism's labels begin like a formula"):
            run(table, mechanism=solution, out=tmp_path / "out.csv")
        assert not list(tmp_path.iterdir())
        run(table, mechanism=solution, out=tmp_path / "out.parquet")

    def test_unproven_mechanisms_and_empty_tables(self):
        floats = CompleteMerging().solve(SOLUTION.joint, [MaxLift(0.1)], SOLUTION.utility_function)[0]
        assert floats.status is Status.FEASIBLE
        with pytest.raises(InputError, match="only a proven mechanism"):
            plan(mechanism=floats)
        with pytest.raises(TableError, match="the pandas frame has no rows to release"):
            run(TABLE.head(0))
        with pytest.raises(InputError, match="ends in"):
            run(TABLE, out="x.xlsx")
        with pytest.raises(InputError, match="follows a Plan"):
            release(SOLUTION, TABLE)

    def test_the_table_and_keys_are_never_written_over(self, tmp_path):
        key = new_key(tmp_path / "k.csv")
        TABLE.to_csv(tmp_path / "t.csv", index=False)
        (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        for name in ("t.csv", "link.csv", "k.csv"):
            with pytest.raises(InputError, match="choose another name"):
                run(tmp_path / "t.csv", key=key, ledger="beside", out=tmp_path / name)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_one_shot_draws_anew():
    first, second = (run(TABLE, record_id=None, key=None, one_shot=True).table for _ in range(2))
    assert list(first.columns) == ["released job"]
    assert not first.equals(second)


def test_bins_travel_with_the_mechanism():
    ages = TABLE.assign(age=np.random.default_rng(1).integers(0, 90, ROWS))
    joint = read_joint(ages, sensitive="ill", useful=["job", "age"], bins={"age": [18, 65]})
    done = run(ages, mechanism=design(joint, MaxLift(0.05)))
    assert (done.rows, done.unseen) == (ROWS, 0)
    assert set(done.table.columns) > {"id", "released code"}


def test_4096_bits_do_not_break_what_accompanies_the_output(tmp_path):
    """Once the files were computed after the output had appeared, and failed."""
    joint = Joint([[3, 1], [1, 2]], ["yes", "no"], ["a", "b"], counts=True, origin=Origin(("s",), ("x",)))
    solution = design(joint, MaxLift(0.1))
    law, shift = solution.integers, 4096 - solution.integers.bits
    weights = [{x: weight << shift for x, weight in row.items()} for row in law.weights]
    weights[0][0], weights[1][0] = weights[0][0] - 1, weights[1][0] + 1  # numbers that no float holds
    long = replace(law, bits=4096, weights=weights, unseen=[weight << shift for weight in law.unseen])
    table = pd.DataFrame({"id": range(100), "x": ["a", "b"] * 50})
    run(table, mechanism=replace(solution, integers=long), out=tmp_path / "out.csv")
    assert len(list(tmp_path.iterdir())) == 3


SLOW = """
import sys, pyarrow as pa, numpy as np
from alphalift import AlphaLift, Joint, design
from alphalift.release import Key, Plan, release
joint = Joint([[5, 2], [1, 4]], ["yes", "no"], ["a", "b"], counts=True)
table = pa.table({"id": np.arange(3_000_000), "x": pa.array(["a", "b"] * 1_500_000)})
plan = Plan(
    mechanism=design(joint, AlphaLift(3, .05)), useful="x", record_id="id", key=Key.of_bytes(bytes(32)), ledger="none", ids="unique"
)
release(plan, table, out=sys.argv[1])
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
