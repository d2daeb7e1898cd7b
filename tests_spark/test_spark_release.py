"""Releasing a Spark frame gives every id what the embedded engine gives it; and what is refused."""

import base64
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

from alphalift import AlphaLift, InputError, MaxLift, TableError, design, read_joint
from alphalift.release import Key, Ledger, Plan, new_key, release

KEY = Key.of_bytes(bytes(range(100, 132)))
ROWS = 60_000
CANARY = "s3cr3t"


def people():
    rng = np.random.default_rng(0)
    job = rng.choice(["cook", "clerk, senior", "é", "driver"], ROWS, p=[0.4, 0.3, 0.2, 0.1])
    ill = np.where(rng.random(ROWS) < np.where(job == "cook", 0.6, 0.2), "yes", "no")
    return pa.table({"id": np.arange(ROWS) - 1000, "job": job, "ill": ill, "age": rng.integers(0, 90, ROWS)})


TABLE = people()
SOLUTION = design(read_joint(TABLE, sensitive="ill", useful="job"), AlphaLift(3, 0.05))
OPTIONS = {"mechanism": SOLUTION, "record_id": "id", "key": KEY, "ledger": "none", "show_ids": "real"}


def run(table, *, out=None, **options):
    return release(Plan(**(OPTIONS | options)), table, out=out)


def in_order(table):
    """As one table of plain text, by id."""
    table = table if isinstance(table, pa.Table) else table.toArrow()
    return pa.table([column.cast(pa.string()) for column in table.columns], table.column_names).sort_by("id")


@pytest.fixture(scope="session")
def frame(spark, tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    pq.write_table(TABLE, path)
    return spark.read.parquet(str(path))


@pytest.fixture(scope="session")
def expected():
    return in_order(run(TABLE).table)


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_partitions_order_and_a_second_action_do_not_matter(frame, expected, partitions):
    shuffled = frame.repartition(partitions)
    assert shuffled.rdd.getNumPartitions() == partitions
    done = run(shuffled)
    assert (done.rows, done.unseen) == (ROWS, 0)
    assert in_order(done.table) == expected
    assert in_order(done.table.repartition(3)) == expected, "the second action"


@pytest.mark.parametrize("kind", ["tinyint", "smallint", "int", "bigint", "string"])
def test_types_of_ids(frame, expected, kind):
    few = frame.where("id BETWEEN -100 AND 100").selectExpr(f"CAST(id AS {kind}) AS id", "job")
    texts = expected.column("id").to_pylist()
    rows = [i for i, text in enumerate(texts) if -100 <= int(text) <= 100]
    assert in_order(run(few).table) == expected.take(rows)


def test_long_ids_of_text(spark):
    table = pa.table({"id": [f"{i % 7 * 'person'} {i}" for i in range(500)], "job": ["cook", "é"] * 250})
    assert in_order(run(spark.createDataFrame(table)).table) == in_order(run(table).table)


def test_pseudonyms(frame):
    few = frame.where("id BETWEEN -100 AND 100")
    assert in_order(run(few, show_ids="pseudonym").table) == in_order(run(few.toArrow(), show_ids="pseudonym").table)


def test_kept_columns_and_names_that_spark_would_misread(spark):
    table = TABLE.slice(0, 500).rename_columns(["i.d", "a`b", "ILL", "ill"])
    names = {"useful": "a`b", "redefine": True, "record_id": "i.d", "keep": ["ill", "ILL"], "publish": ["ill"]}
    found, plain = (run(data, **names).table for data in (spark.createDataFrame(table), table))
    found = found.toArrow()
    assert found.column_names == plain.column_names == ["i.d", "released a`b", "ill", "ILL"]
    assert sorted(found.to_pylist(), key=str) == sorted(plain.to_pylist(), key=str)
    assert run(spark.createDataFrame(table), **names | {"show_ids": "none"}).table.columns[0] == "released a`b"


def test_combinations_and_bins(frame):
    joint = read_joint(frame, sensitive="ill", useful=["job", "age"], bins={"age": [18, 65]})
    solution = design(joint, MaxLift(0.05))
    results = [run(table, mechanism=solution) for table in (frame, TABLE)]
    assert in_order(results[0].table) == in_order(results[1].table)
    assert results[0].codebook == results[1].codebook
    assert results[0].manifest == results[1].manifest, "the same records, counts and hash of the input"
    with pytest.raises(TableError, match=r"'job' has bins, but \d+ of its cells are no numbers"):
        run(frame.coalesce(1), mechanism=solution, useful=["job", "age"], bins={"job": [1]}, redefine=True)


def test_moments_do_not_depend_on_the_zone_of_the_session(spark):
    moments = pa.array([1_600_000_000_000_000, 1_500_000_000_000_000] * 50, pa.timestamp("us", "UTC"))
    table = pa.table({"id": range(100), "t": moments, "s": ["a", "b", "b", "a"] * 25})
    solution = design(read_joint(table, sensitive="s", useful="t"), MaxLift(0.1))
    found = run(spark.createDataFrame(table), mechanism=solution, keep=["t"], publish=["t"]).table
    for zone in ("Asia/Tokyo", "America/New_York"):
        spark.conf.set("spark.sql.session.timeZone", zone)
        again = found.select("*").toArrow()
        assert again.column(2).cast(pa.timestamp("us", "UTC")).sort() == table.column("t").sort()
        assert in_order(again.drop("t")) == in_order(run(table, mechanism=solution).table)


def test_a_new_folder_of_files(frame, expected, tmp_path):
    for ids in ("check", "unique"):
        done = run(frame.repartition(5), out=tmp_path / ids, ids=ids)
        assert (done.rows, done.unseen, done.table) == (ROWS, 0, None)
        assert in_order(pq.read_table(tmp_path / ids)) == expected
    assert run(frame, ids="unique").rows is None, "nothing was counted"
    for place in (tmp_path / "check", tmp_path / "no" / "out"):
        with pytest.raises(InputError, match="a new folder"):
            run(frame, out=place)
    with pytest.raises(InputError, match="a folder of Parquet files"):
        run(frame, out=tmp_path / "out.csv")
    written = [
        "check",
        "unique",
        *(f"{ids}.{what}.json" for ids in ("check", "unique") for what in ("codebook", "manifest")),
    ]
    assert sorted(os.listdir(tmp_path)) == sorted(written)
    assert sorted(os.listdir(tmp_path / "check")) == [f"part-{number:05d}.parquet" for number in range(5)]


def test_a_uri_is_written_by_spark_itself(frame, expected, tmp_path):
    for ids in ("check", "unique"):
        done = run(frame, out=f"file://{tmp_path}/{ids}", ids=ids)
        assert (done.rows, done.unseen, done.table) == (ROWS, 0, None)
        assert in_order(pq.read_table(tmp_path / ids)) == expected
    with pytest.raises(TableError, match="cannot be written to"):
        run(frame, out=f"file://{tmp_path}/check")


class TestRefusals:
    def test_an_id_with_two_values(self, frame):
        changed = frame.where("id IN (3, 4, 5)").selectExpr(
            "id", "CASE job WHEN 'cook' THEN 'é' ELSE 'cook' END AS job"
        )
        twice = frame.select("id", "job").union(changed)
        for table in (twice, twice.repartition(7), twice.selectExpr("CAST(id AS string) AS id", "job")):
            with pytest.raises(TableError, match=r"^3 ids in column 'id' occur with two or more values of job"):
                run(table)
        same = frame.select("id", "job").union(frame.select("id", "job").limit(3))
        assert run(same).rows == ROWS + 3, "the same value gets the same answer"

    def test_ids_that_only_look_the_same(self, spark):
        query = (
            "SELECT id COLLATE UTF8_LCASE AS id, job FROM VALUES ('a', 'cook'), ('A', 'é'), ('b', 'cook') AS t(id, job)"
        )
        assert run(spark.sql(query)).rows == 3

    def test_values_that_are_not_known(self, frame, tmp_path):
        odd = frame.selectExpr(
            "id", f"CASE WHEN id = 7 THEN '{CANARY}' WHEN id < 9 AND id > 6 THEN null ELSE job END AS job"
        )
        with pytest.raises(
            TableError, match=r"^a record \(and perhaps others\) has a value of job that the mechanism does not know"
        ):
            run(odd)
        with pytest.raises(TableError, match=r"^a record \(and perhaps others\) has a value of job") as caught:
            run(odd, ids="unique", out=tmp_path / "out")
        assert CANARY not in str(caught.value)
        assert not (tmp_path / "out").exists()
        done = run(odd, unseen="answer")
        assert done.unseen == 2
        assert in_order(done.table) == in_order(run(odd.toArrow(), unseen="answer").table)

    def test_a_lazy_frame_refuses_what_it_meets_later(self, frame):
        odd = frame.selectExpr("id", f"CASE WHEN id = 7 THEN '{CANARY}' ELSE job END AS job")
        lazy = run(odd, ids="unique").table
        with pytest.raises(
            PySparkException, match=r"TableError: a record \(and perhaps others\) has a value of job"
        ) as caught:
            lazy.toArrow()
        assert CANARY not in str(caught.value)

    def test_bad_ids(self, frame, spark):
        for expression, message in (
            ("nullif(id, 7)", "^1 records have no id"),
            ("CAST(id AS double)", "a record id is text or an integer, not double"),
            (f"raise_error('{CANARY}')", "its engine failed with"),
            (f"CAST(concat('{CANARY}', id) AS bigint)", "its engine failed with"),
        ):
            with pytest.raises(TableError, match=message) as caught:
                run(frame.selectExpr(f"{expression} AS id", "job"))
            assert CANARY not in str(caught.value)

    def test_an_empty_table(self, frame, tmp_path):
        for options in ({}, {"ids": "unique", "out": tmp_path / "out"}):
            with pytest.raises(TableError, match="the Spark frame has no rows to release"):
                run(frame.where("false"), **options)
        assert not os.listdir(tmp_path)

    def test_one_shot(self, frame):
        with pytest.raises(InputError, match="not one_shot=True"):
            run(frame, record_id=None, key=None, one_shot=True)

    def test_a_second_mechanism(self, frame, tmp_path):
        key = new_key(tmp_path / "k")
        run(frame, key=key, ledger="beside")
        other = {"mechanism": design(SOLUTION.joint, MaxLift(0.3)), "key": key, "ledger": "beside"}
        with pytest.raises(InputError, match="another mechanism"):
            run(frame, out=tmp_path / "out", **other)
        assert sorted(os.listdir(tmp_path)) == ["k", "k.ledger"]
        assert run(frame, new_release=True, **other).together.known.max_lift > 1.05

    def test_a_run_that_failed_is_no_release(self, frame, tmp_path):
        key = new_key(tmp_path / "k")
        odd = frame.selectExpr("id", f"CASE WHEN id = 7 THEN '{CANARY}' ELSE job END AS job")
        for out in (None, tmp_path / "out", f"file://{tmp_path}/uri"):
            with pytest.raises(TableError, match="does not know"):
                run(odd, key=key, ledger="beside", out=out)
            assert Ledger.beside(key).entries(key, "default") == []
        assert sorted(os.listdir(tmp_path)) == ["k", "k.ledger"]
        run(frame, key=key, ledger="beside", out=tmp_path / "out")
        assert len(Ledger.beside(key).entries(key, "default")) == 1


def test_the_key_stays_in_the_closure(frame, home, capsys):
    """Neither plans nor what Spark writes down show it."""
    lazy = run(frame).table
    lazy.count()
    lazy.explain(True)
    written = [
        path.read_bytes() for folder in ("events", "work") for path in (home / folder).rglob("*") if path.is_file()
    ]
    shown = capsys.readouterr().out.encode()
    assert b"MapInArrow" in shown
    assert any(b"MapInArrow" in text for text in written)
    secret = KEY.secret
    for form in (
        secret,
        secret.hex().encode(),
        base64.b64encode(secret),
        repr(secret)[2:-1].encode(),
        str(list(secret))[1:-1].encode(),
    ):
        assert not any(form in text for text in [*written, shown])
