"""Columns in any of Arrow's forms: read in the few that everything else knows, or refused in words that tell no cell."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import dataset, parquet

from alphalift import TableError, read_joint
from alphalift.tables import Symbols, open_table, plain

SECRET = "s3cr3t"
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 4], pa.int32()), pa.array(["u", "v", None]))
VALUES = ["u", "v", "v", None]
FORMS = {
    "run ends": RUNS,
    "run ends of views": pa.RunEndEncodedArray.from_arrays(
        pa.array([1, 3, 4], pa.int32()), pa.array(["u", "v", None], pa.string_view())
    ),
    "view": pa.array(VALUES, pa.string_view()),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 1, None], pa.int32()), pa.array(["u", "v"], pa.string_view())
    ),
    "dictionary": pa.array(VALUES).dictionary_encode(),
    "large text": pa.array(VALUES, pa.large_string()),
}
NESTED = {
    "list": pa.array([[SECRET]] * 4),
    "list view": pa.array([[SECRET]] * 4, pa.list_view(pa.string())),
    "struct": pa.array([{"a": SECRET}] * 4),
    "map": pa.array([[(SECRET, 1)]] * 4, pa.map_(pa.string(), pa.int64())),
    "union": pa.UnionArray.from_sparse(pa.array([0] * 4, pa.int8()), [pa.array([SECRET] * 4)]),
    "dictionary of lists": pa.DictionaryArray.from_arrays(pa.array([0] * 4, pa.int32()), pa.array([[SECRET]])),
    "runs of lists": pa.RunEndEncodedArray.from_arrays(pa.array([4], pa.int32()), pa.array([[SECRET]])),
    "bytes": pa.array([SECRET.encode()] * 4),
    "views of bytes": pa.array([SECRET.encode()] * 4, pa.binary_view()),
}


def kinds(column):
    """The same column in every kind of table that keeps Arrow's types."""
    table = pa.table({"s": ["a", "b", "a", "b"], "x": column})
    return [table, table.to_reader(max_chunksize=3), dataset.dataset(table)]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_text_is_read_and_counted(form):
    for table in kinds(FORMS[form]):
        source = open_table(table, columns=["s", "x"])
        batches = list(source.batches(["x"], rows=3))
        assert [value for batch in batches for value in batch.column(0).to_pylist()] == VALUES
        assert {batch.schema.field("x").type for batch in batches} == {source.schema.field("x").type}
    for table in kinds(FORMS[form]):
        joint = read_joint(table, sensitive="s", useful="x")
        assert joint.x_labels == ("u", "v", "(missing)")
        assert joint.weights == ((1, 1, 0), (0, 1, 1))


@pytest.mark.parametrize("form", FORMS)
def test_duckdb_takes_every_batch(form):
    """The check that no id has two values is DuckDB's."""
    for table in kinds(FORMS[form]):
        batches = list(open_table(table, columns=["x"]).batches(["x"], rows=1))
        reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
        assert not pa.types.is_string_view(reader.schema.field("x").type)
        with duckdb.connect() as engine:
            engine.register("rows", reader)
            assert engine.execute("SELECT x, count(*) FROM rows GROUP BY x ORDER BY x NULLS LAST").fetchall() == [
                ("u", 1),
                ("v", 2),
                (None, 1),
            ]


@pytest.mark.parametrize("form", FORMS)
def test_symbols_of_every_form(form):
    (batch,) = open_table(kinds(FORMS[form])[0], columns=["x"]).batches(["x"])
    assert Symbols(["v", "u"], ["x"]).numbers(batch).tolist() == [1, 0, 0, 2]
    assert Symbols(["v, v", "u, u"], ["x", "x"]).numbers(batch).tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize("form", NESTED)
@pytest.mark.parametrize("bins", [None, {"x": [2.0]}])
def test_nested_columns_are_no_symbols(form, bins):
    for table in kinds(NESTED[form]):
        (batch, *_) = open_table(table, columns=["x"]).batches(["x"])
        with pytest.raises(TableError, match="column 'x' is not of text, numbers") as caught:
            Symbols(["u"], ["x"], bins).numbers(batch)
        assert SECRET not in str(caught.value)
    for table in kinds(NESTED[form]):
        with pytest.raises(TableError, match="column 'x' is not of text, numbers"):
            read_joint(table, sensitive="s", useful="x", bins=bins)
    for table in kinds(NESTED[form]):
        with pytest.raises(TableError, match="column 'x' is not of text, numbers"):
            read_joint(table, sensitive="x", useful="s", bins=bins)


@pytest.mark.parametrize("form", NESTED)
def test_nested_columns_can_be_read_to_be_kept(form):
    for table in kinds(NESTED[form]):
        source = open_table(table, columns=["x"])
        values = [value for batch in source.batches(["x"]) for value in batch.column(0).to_pylist()]
        assert values == NESTED[form].to_pylist()


TEXT = pa.string()


def not_utf8(kind=TEXT, bad=1):
    data = bytearray(f"a{SECRET}bc".encode())
    data[bad] = 0xFF
    ends = np.array([0, 1, len(data) - 2, len(data) - 1, len(data)], np.int32 if kind == TEXT else np.int64)
    return pa.Array.from_buffers(kind, 4, [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(bytes(data))])


@pytest.mark.parametrize(
    "column",
    [
        not_utf8(),
        not_utf8(bad=0),
        not_utf8(bad=8),
        not_utf8(pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([0, 0, 0, 0], pa.int32()), not_utf8()),
        not_utf8().cast(pa.string_view()),
    ],
    ids=["text", "first", "last", "large", "dictionary", "view"],
)
def test_text_that_is_not_utf8_is_refused_where_it_is_read(column, tmp_path):
    tables = kinds(column)
    if column.type == pa.string():
        parquet.write_table(tables[0], tmp_path / "t.parquet")
        tables.append(tmp_path / "t.parquet")
    for table in tables:
        with pytest.raises(TableError, match=r"'x' has text that is not UTF-8|cannot be read") as caught:
            list(open_table(table, columns=["s", "x"]).batches(["s", "x"]))
        assert SECRET[2:] not in str(caught.value)


def test_only_the_rows_that_are_there_are_judged():
    column = not_utf8()
    (batch,) = open_table(pa.table({"x": column.slice(2)}), columns=["x"]).batches(["x"])
    assert batch.column(0).to_pylist() == ["b", "c"]
    for fine in (["é", "日本", "", None], [], [""], [None]):
        table = pa.table({"x": pa.array(fine, pa.string())})
        read = [value for b in open_table(table, columns=["x"]).batches(["x"]) for value in b.column(0).to_pylist()]
        assert read == fine


@given(values=st.lists(st.none() | st.text(max_size=3), max_size=8), start=st.integers(0, 4))
def test_plain_keeps_every_value(values, start):
    text = pa.array(values, pa.string()).slice(start)
    forms = [text, text.cast(pa.string_view()), text.dictionary_encode(), text.cast(pa.large_string())]
    if len(text):
        runs = pa.RunEndEncodedArray.from_arrays(pa.array(range(1, len(text) + 1), pa.int32()), text)
        forms += [runs, pa.chunked_array([runs, runs]).chunk(1)]
    for form in forms:
        assert plain(form).to_pylist() == text.to_pylist()
        assert plain(pa.chunked_array([form, form])).to_pylist() == text.to_pylist() * 2


@pytest.mark.parametrize(
    "frame",
    [
        lambda: pd.DataFrame({"s": ["a", "b"], "x": pd.Series([SECRET, f"{SECRET}\ud800"], dtype=object)}),
        lambda: pd.DataFrame([["a", "b"]], columns=pd.Index(["s", f"{SECRET}\ud800"], dtype=object)),
    ],
    ids=["cell", "name"],
)
def test_half_a_surrogate_pair_in_a_frame(frame):
    with pytest.raises(TableError, match=r"text that is not Unicode|no column 'x'") as caught:
        read_joint(frame(), sensitive="s", useful="x")
    assert SECRET not in str(caught.value)


def test_half_a_surrogate_pair_in_an_alphabet():
    table = pl.DataFrame({"s": ["a", "b"], "x": ["u", "v"]})
    with pytest.raises(TableError, match="column 'x': a value is not Unicode text"):
        read_joint(table, sensitive="s", useful="x", alphabet={"x": ["u", "v", "\ud800"]})
