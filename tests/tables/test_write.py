"""Writers: the format that a name says, what a format cannot hold refused before it is written, and the way back."""

import gzip

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from alphalift import InputError
from alphalift.tables import like, open_table, open_writer, refuse_formulas, require_writable
from alphalift.tables.formulas import count_formulas

SECRET = "s3cr3t"
TABLE = pa.table({"id": ["p", "q"], "y": pa.array(["u", "v"]).dictionary_encode(), "n": [1, -2]})


def write(folder, name, table):
    writer = open_writer(folder / f".part-{name}", name, table.schema)
    for batch in table.to_batches():
        writer.write_batch(batch)
    writer.close()
    return folder / f".part-{name}"


@pytest.mark.parametrize(
    ("name", "delimiter", "packed"),
    [
        ("x.csv", ",", False),
        ("x.tsv", "\t", False),
        ("x.tsv.csv", ",", False),
        ("x.csv.tsv", "\t", False),
        ("x.TSV.gz", "\t", True),
        ("x.tsv.csv.gz", ",", True),
        ("x.parquet.csv", ",", False),
        ("x.gz.csv", ",", False),
    ],
)
def test_the_last_ending_says_the_format(tmp_path, name, delimiter, packed):
    data = write(tmp_path, name, TABLE).read_bytes()
    text = (gzip.decompress(data) if packed else data).decode()
    rows = [["id", "y", "n"], ["p", "u", "1"], ["q", "v", "-2"]]
    assert text.replace('"', "").splitlines() == [delimiter.join(row) for row in rows]
    (tmp_path / name).write_bytes(data)
    assert open_table(tmp_path / name, columns=["id", "y", "n"]).count(["id"]).num_rows == 2, "read as it was written"


def test_parquet_by_its_ending(tmp_path):
    assert parquet.read_table(write(tmp_path, "x.csv.parquet", TABLE)).to_pydict() == TABLE.to_pydict()


@pytest.mark.parametrize("name", ["x", "x.txt", "x.gz", "x.parquet.gz", "x.csv.zip", "csv", ".csv"])
def test_names_that_say_no_format(tmp_path, name):
    with pytest.raises(InputError, match=r"expected a name that ends in \.csv"):
        open_writer(tmp_path / "part", name, TABLE.schema)
    assert list(tmp_path.iterdir()) == []


NO_CSV = {
    "list": pa.array([[SECRET]]),
    "list view": pa.array([[SECRET]], pa.list_view(pa.string())),
    "struct": pa.array([{"a": SECRET}]),
    "map": pa.array([[(SECRET, 1)]], pa.map_(pa.string(), pa.int64())),
    "union": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([SECRET])]),
    "dictionary of lists": pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array([[SECRET]])),
    "bytes": pa.array([b"\xff"]),
    "views of bytes": pa.array([b"\xff"], pa.binary_view()),
    "fixed bytes": pa.array([b"\xff"], pa.binary(1)),
}


@pytest.mark.parametrize("name", ["x.csv", "x.tsv.gz"])
@pytest.mark.parametrize("form", NO_CSV)
def test_what_has_no_form_in_csv_is_refused_before_anything_is_written(tmp_path, form, name):
    table = pa.table({"id": ["p"], "kept": NO_CSV[form]})
    for refuse in (lambda: require_writable(name, table.schema), lambda: write(tmp_path, name, table)):
        with pytest.raises(InputError, match=r"column 'kept' .* write a \.parquet file"):
            refuse()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", sorted(set(NO_CSV) - {"union"}))
def test_parquet_holds_it(tmp_path, form):
    table = pa.table({"id": ["p"], "kept": NO_CSV[form]})
    assert parquet.read_table(write(tmp_path, "x.parquet", table)).to_pydict() == table.to_pydict()


def test_what_parquet_cannot_hold(tmp_path):
    table = pa.table({"id": ["p"], "kept": NO_CSV["union"]})
    with pytest.raises(InputError, match="column 'kept' has a type that a Parquet file cannot hold"):
        write(tmp_path, "x.parquet", table)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_run_ends_and_views_are_written_as_text(tmp_path, name):
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["u"]))
    place = write(tmp_path, name, pa.table({"a": runs, "b": pa.array(["u", "v"], pa.string_view())}))
    place = place.rename(tmp_path / name)
    rows = [batch.to_pylist() for batch in open_table(place, columns=["a", "b"]).batches(["a", "b"])]
    assert rows == [[{"a": "u", "b": "u"}, {"a": "u", "b": "v"}]]


FORMULAS = ["=1+1", "+cmd", "-a", "@sum", "\tx", "\rx", "\nx", "＝1+1", "+", "-", "+49 170", "-1-2", "--1", "=", "-٣"]
HARMLESS = ["-1", "+1.5", "-.5e-7", "1=1", "a-b", " x", "", None, "é", "ｆull", "7", "\ufeffx"]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), "dictionary"])
def test_cells_that_begin_like_a_formula_are_refused_in_csv(tmp_path, formula, kind):
    cells = pa.array(["p", formula, None, formula], pa.string() if kind == "dictionary" else kind)
    table = pa.table({"id": cells.dictionary_encode() if kind == "dictionary" else cells})
    with pytest.raises(
        InputError, match=r"^x.csv: [12] or more cells of column 'id' begin like a formula.*parquet"
    ) as e:
        write(tmp_path, "x.csv", table)
    assert len(formula) == 1 or formula not in str(e.value)
    assert parquet.read_table(write(tmp_path, "x.parquet", table)).to_pydict() == table.to_pydict()


def test_numbers_and_other_cells_are_no_formulas(tmp_path):
    table = pa.table({"id": HARMLESS, "n": [-1] * len(HARMLESS), "f": [-1.5] * len(HARMLESS)})
    assert write(tmp_path, "x.csv", table).read_bytes().count(b"\n") == len(HARMLESS) + 1


@given(
    cells=st.lists(st.none() | st.sampled_from(FORMULAS + HARMLESS), max_size=8),
    start=st.integers(0, 3),
    kind=st.sampled_from([pa.string(), pa.large_string()]),
)
def test_formulas_are_counted(cells, start, kind):
    assert count_formulas(pa.array(cells, kind).slice(start)) == sum(cell in FORMULAS for cell in cells[start:])


def test_names_of_columns_and_labels_that_begin_like_a_formula():
    with pytest.raises(InputError, match="1 of the columns' names begin like a formula"):
        require_writable("x.csv", pa.schema([("=id", pa.string())]))
    require_writable("x.parquet", pa.schema([("=id", pa.string())]))
    for name in ("x.csv", "x.parquet.csv", "x.tsv.gz"):
        with pytest.raises(InputError, match="2 of the mechanism's labels"):
            refuse_formulas(name, ["=a", "-1", "+b"])
    refuse_formulas("x.csv.parquet", ["=a"])


def test_pandas_in_pandas_out():
    frame = pd.DataFrame(
        {
            "id": pd.Series([2**62 + 1, None], dtype="Int64"),
            "kind": pd.Categorical(["p", "q"]),
            "text": ["a", None],
            "small": pd.Series([1, 2], dtype="int8"),
            "when": pd.to_datetime(["2020-01-01", None]),
        },
        index=["Ann", "Bob"],
    )
    answer = open_table(frame, columns=list(frame.columns)).batches(list(frame.columns))
    table = pa.Table.from_batches(answer).append_column("y", pa.array(["u", "v"]).dictionary_encode())
    back = like(frame, table)
    assert isinstance(back, pd.DataFrame)
    pd.testing.assert_frame_equal(back.drop(columns="y"), frame.reset_index(drop=True))
    assert back["y"].tolist() == ["u", "v"]
    assert isinstance(back["y"].dtype, pd.CategoricalDtype)
    assert "Ann" not in back.index, "an index may name people"


def test_polars_in_polars_out():
    frame = pl.DataFrame({"id": [2**62 + 1, None], "text": ["a", None]})
    table = pa.Table.from_batches(open_table(frame, columns=["id", "text"]).batches(["id", "text"]))
    assert like(frame, table).equals(frame)
    lazy = like(frame.lazy(), table)
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(frame)


@pytest.mark.parametrize("table", [TABLE, "x.csv", TABLE.to_reader(), None])
def test_what_is_no_frame_gets_arrow(table):
    assert like(table, TABLE) is TABLE
