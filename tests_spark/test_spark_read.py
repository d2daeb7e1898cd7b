"""Counting a Spark frame gives what counting the same Parquet file gives."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from alphalift import TableError, read_joint
from alphalift.joint import Variable

ROWS = 2000
CANARY = "s3cr3t"


def some(values, kind=None):
    """The values in random order, with gaps."""
    rng = np.random.default_rng(len(values))
    return pa.array([values[i] if i < len(values) else None for i in rng.integers(0, len(values) + 1, ROWS)], kind)


def day(number, zone=None):
    return datetime.datetime(2020, 3, number, 23, 59, 1, 5, zone)


COLUMNS = {
    "text": some(["a", "b", "B", "", " b ", "é", "b\0", "日本"]),
    "a.b": some(["x, y", "x", "\\"]),
    "A": some([1, 2]),
    "a": some([3, 4]),
    "back`tick": some(["p", "q"]),
    "released text": some([True, False]),
    "int8": some([-128, 127], pa.int8()),
    "int16": some([-5, 300], pa.int16()),
    "int32": some([-70000, 7], pa.int32()),
    "int64": some([2**62, -(2**63)], pa.int64()),
    "uint8": some([200, 3], pa.uint8()),
    "uint64": some([2**64 - 1, 3], pa.uint64()),
    "float": some([0.1, -0.0, 0.0, float("nan"), 1e30], pa.float32()),
    "double": some([0.1, -0.0, 0.0, float("nan"), float("inf"), 1e-300, 100.0]),
    "decimal": some([decimal.Decimal("1.50"), decimal.Decimal("-2.00")], pa.decimal128(10, 2)),
    "date": some([datetime.date(1600, 2, 1), datetime.date(2020, 2, 29)]),
    "zoned": some([day(1, datetime.UTC), day(2, datetime.UTC)], pa.timestamp("us", "UTC")),
    "elsewhere": some([day(1, datetime.UTC), day(2, datetime.UTC)], pa.timestamp("us", "America/New_York")),
    "local": some([day(1), day(2)], pa.timestamp("us")),
    "dictionary": some(["u", "v"]).dictionary_encode(),
    "nothing": pa.nulls(ROWS, pa.string()),
    "s": some(["yes", "no"]),
}


@pytest.fixture(scope="session")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "t.parquet"
    # Without Arrow's own schema, as other writers do; a zone is a matter of display.
    pq.write_table(pa.table(COLUMNS), path, store_schema=False)
    return path


@pytest.fixture(scope="session")
def frame(spark, file):
    spark.conf.set("spark.sql.caseSensitive", "true")  # else Spark reads no file with both A and a
    frame = spark.read.parquet(str(file)).cache()
    frame.count()
    spark.conf.unset("spark.sql.caseSensitive")
    return frame


@pytest.mark.parametrize("column", COLUMNS)
def test_every_type_and_name(frame, file, column):
    names = {"sensitive": "s", "useful": column}
    expected = read_joint(file, **names)
    assert read_joint(frame, **names) == expected
    assert expected.n == ROWS


def test_combinations_missing_values_and_alphabets(frame, file):
    for options in (
        {"useful": ["A", "a", "a.b"]},
        {"useful": ["text", "double"], "missing": "drop"},
        {"useful": "a", "alphabet": {"a": [4, 5, 3]}},
        {"useful": ["double", "zoned"], "bins": {"double": [0, 1.5]}},
        {"useful": "decimal", "bins": {"decimal": [1]}, "alphabet": {"s": ["no", "yes", "perhaps"]}},
    ):
        assert read_joint(frame, sensitive="s", **options) == read_joint(file, sensitive="s", **options)


def test_variables_beside_with_bins_of_their_own(frame, file):
    beside = [
        Variable(("double",), ("<1", ">=1"), (("double", (1.0,)),)),
        Variable(("double", "a"), ("0.1, 3", "100.0, 4")),
        Variable(("zoned",), ("2020-03-01 23:59:01.000005+00:00",)),
    ]
    options = {"sensitive": "s", "useful": "double", "bins": {"double": [0, 50]}, "beside": beside}
    joint, expected = read_joint(frame, **options), read_joint(file, **options)
    assert joint == expected
    assert joint.beside == expected.beside
    assert joint.origin == expected.origin


def test_text_that_is_not_utf8(spark):
    frame = spark.sql(f"SELECT 's' AS s, cast(concat(x'ff', encode('{CANARY}', 'utf-8')) AS string) AS x")
    for bins in (None, {"x": [1]}):
        with pytest.raises(TableError, match=r"UTF-8|its engine failed with") as caught:
            read_joint(frame, sensitive="s", useful="x", bins=bins)
        assert CANARY not in str(caught.value)


def test_a_column_of_no_type(spark):
    frame = spark.sql("SELECT null AS x, s FROM VALUES ('a'), ('b') AS t(s)")
    assert read_joint(frame, sensitive="s", useful="x").x_labels == ("(missing)",)


def test_text_that_spark_takes_for_the_same(spark):
    frame = spark.sql("SELECT x COLLATE UTF8_LCASE AS x, 's' AS s FROM VALUES ('a'), ('A'), ('a') AS t(x)")
    joint = read_joint(frame, sensitive="s", useful="x")
    assert (joint.x_labels, joint.weights) == (("A", "a"), ((1, 2),))


def test_what_is_no_number_has_no_bin(spark):
    frame = spark.createDataFrame(pa.table({"x": ["1", CANARY, None, " 2. ", CANARY], "s": list("abcde")}))
    with pytest.raises(TableError, match="the Spark frame: column 'x' has bins, but 2 of its cells are no numbers"):
        read_joint(frame, sensitive="s", useful="x", bins={"x": [2]})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 1 AS s, 2 AS y", "no column 'x' among the table's 2"),
        ("SELECT 1 AS s, 2 AS x, 3 AS x", "'x' occurs more than once"),
        ("SELECT 1 AS s, array(1) AS x", "not of text, numbers, truth values or dates"),
        ("SELECT 1 AS s, 2 AS x WHERE false", "no rows to count"),
        ("SELECT 1 AS s, '(missing)' AS x", "stands for a missing value"),
        (f"SELECT 1 AS s, CAST(x AS INT) AS x FROM VALUES ('{CANARY}') AS t(x)", "its engine failed with"),
        (f"SELECT 1 AS s, raise_error('{CANARY}') AS x", "its engine failed with"),
    ],
)
def test_refusals_tell_no_cell(spark, query, message):
    with pytest.raises(TableError, match=message) as caught:
        read_joint(spark.sql(query), sensitive="s", useful="x")
    assert CANARY not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_settings_of_the_session_stay(spark, frame):
    own = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1234",
        "spark.sql.execution.arrow.maxBytesPerBatch": "5678901",
    }
    for name, value in own.items():
        spark.conf.set(name, value)
    read_joint(frame, sensitive="s", useful="a")
    assert {name: spark.conf.get(name) for name in own} == own
    for name in own:
        spark.conf.unset(name)
