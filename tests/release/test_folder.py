"""A folder of Parquet files released in parallel: the same outputs as from one table, whole or not at all."""

import itertools
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from people import ROWS, TABLE, by_id, run

from alphalift import InputError, TableError
from alphalift.whole import whole_folder

SCHEMA = pa.schema([("id", pa.int64()), ("job", pa.string()), ("ill", pa.string())])
EXPECTED = by_id(run(TABLE))
SORTED = TABLE.sort_values("id", ignore_index=True)


def folder_of(place, frames):
    """A folder with a file for every frame, each in a folder named like a value of a column."""
    for number, frame in enumerate(frames):
        (place / f"ill={number}").mkdir(parents=True)
        table = pa.Table.from_pandas(frame, SCHEMA, preserve_index=False)
        pq.write_table(table, place / f"ill={number}" / f"secret-{number}.parquet")
    return place


@pytest.fixture
def parts(tmp_path):
    """Seven files, one of them without rows."""
    cuts = [0, 10, 500, 500, 1200, 2000, 2999, ROWS]
    return folder_of(tmp_path / "in", [SORTED[low:high] for low, high in itertools.pairwise(cuts)])


@pytest.mark.parametrize("workers", [1, 2, "threads"])
def test_the_same_outputs_whoever_writes_them(parts, tmp_path, workers):
    with ThreadPoolExecutor(3) as threads:
        done = run(parts, out=tmp_path / "out", workers=threads if workers == "threads" else workers)
    assert (done.rows, done.unseen, done.table) == (ROWS, 0, None)
    names = sorted(os.listdir(tmp_path / "out"))
    assert names == [f"part-{number:05d}.parquet" for number in (0, 1, 3, 4, 5, 6)], "no name of a file or folder"
    assert by_id(pq.read_table(tmp_path / "out")) == EXPECTED
    assert sorted(os.listdir(tmp_path)) == ["in", "out", "out.codebook.json", "out.manifest.json"]


def test_ids_are_compared_across_files(tmp_path):
    first, last = SORTED[:1500], SORTED[1500:]
    same = folder_of(tmp_path / "same", [first, last, SORTED[:3]])
    assert run(same, out=tmp_path / "a", workers=1).rows == ROWS + 3
    job = SORTED["job"][0]
    changed = SORTED[:1].assign(job=next(other for other in TABLE["job"] if other != job))
    twice = folder_of(tmp_path / "twice", [first, last, changed])
    with pytest.raises(
        TableError, match=r"1 id in column 'id' occurs with two or more values of job;.* clean the table"
    ):
        run(twice, out=tmp_path / "b", workers=1)
    assert not (tmp_path / "b").exists()
    assert run(twice, out=tmp_path / "c", workers=1, ids="unique").rows == ROWS + 1, "as the caller says"


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_refused_leaves_nothing(parts, tmp_path, workers):
    odd = pa.table({"id": [1, 2], "job": ["cook", "pilot"], "ill": ["no", "no"]})
    pq.write_table(odd, parts / "zzz.parquet")
    with pytest.raises(TableError, match=r"zzz.parquet': row 2 of the data .* does not know") as error:
        run(parts, out=tmp_path / "out", workers=workers)
    assert "pilot" not in str(error.value)
    assert os.listdir(tmp_path) == ["in"]
    (tmp_path / "out").mkdir()
    for place in (tmp_path / "out", tmp_path / "no" / "out"):
        with pytest.raises(InputError, match="a new folder"):
            run(parts, out=place, workers=workers)
    with pytest.raises(InputError, match="inside the table's own folder"):
        run(parts, out=parts / "out", workers=workers)


def test_workers_that_stand_elsewhere_read_the_same_files(parts, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    folder_of(elsewhere / "in", [SORTED[:3]])
    monkeypatch.chdir(tmp_path)
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=os.chdir, initargs=(elsewhere,))
    with pool as workers:
        assert run("in", out="out", workers=workers).rows == ROWS
    assert by_id(pq.read_table(tmp_path / "out")) == EXPECTED


def test_a_killed_writer_leaves_nothing_in_the_folder(tmp_path):
    with whole_folder(tmp_path / "out") as part:
        (part / ".half").write_text("x")
        (part / "whole").write_text("y")
    assert os.listdir(tmp_path / "out") == ["whole"]


def test_workers_without_a_folder_are_refused(parts, tmp_path):
    for table, out in ((TABLE, tmp_path / "o.csv"), (parts, tmp_path / "o.parquet"), (TABLE, None)):
        with pytest.raises(InputError, match="no such work here"):
            run(table, out=out, workers=2)


def test_folders_without_rows_and_files_that_are_damaged(tmp_path):
    empty = folder_of(tmp_path / "empty", [SORTED[:0], SORTED[:0]])
    with pytest.raises(TableError, match="empty has no rows to release"):
        run(empty, out=tmp_path / "out", workers=1)
    damaged = folder_of(tmp_path / "damaged", [SORTED])
    file = damaged / "ill=0" / "secret-0.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:50] + bytes(len(content) // 2) + content[50 + len(content) // 2 :])
    with pytest.raises(TableError):
        run(damaged, out=tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


def test_one_shot_draws_every_file_with_a_key_of_its_own(tmp_path):
    cooks = pd.DataFrame({"id": range(2000), "job": "cook", "ill": "no"})
    done = run(
        folder_of(tmp_path / "in", [cooks, cooks]),
        out=tmp_path / "out",
        workers=1,
        record_id=None,
        key=None,
        one_shot=True,
    )
    assert done.rows == 4000
    one, two = (pq.read_table(tmp_path / "out" / f"part-0000{number}.parquet") for number in (0, 1))
    assert one.column_names == ["released job"]
    assert one != two, "records with the same number would share their randomness"


def test_one_file_of_the_whole_folder_is_still_one_file(parts, tmp_path):
    run(parts, out=tmp_path / "out.parquet")
    assert by_id(pq.read_table(tmp_path / "out.parquet")) == EXPECTED
