"""Every kind of table behind one interface: the same rows in batches and in counts, and clear refusals."""

import gzip
from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import dataset, parquet

from alphalift import TableError, TableFile
from alphalift.tables import canonical_texts, count_batches, open_table
from alphalift.tables import counting as module
from alphalift.tables.columns import require
from alphalift.tables.quotes import Quotes

ROWS = [("a", "1"), ("b", "2"), ("a", "1"), (None, "2"), ("b", None), ("a", "1")]
TABLE = pa.table({"s": [s for s, _ in ROWS], "other": range(6), "x": [x for _, x in ROWS]})
TEXT = "s,other,x\n" + "".join(f"{s or ''},{i},{x or ''}\n" for i, (s, x) in enumerate(ROWS))


def csv_file(folder):
    (folder / "t.csv").write_text(TEXT)
    return folder / "t.csv"


def tsv_file(folder):
    (folder / "t.tsv").write_text(TEXT.replace(",", "\t"))
    return str(folder / "t.tsv")


def gzipped(folder):
    (folder / "T.CSV.GZ").write_bytes(gzip.compress(TEXT.encode()))
    return folder / "T.CSV.GZ"


def workbook(folder):
    book = xlsxwriter.Workbook(folder / "t.xlsx", {"strings_to_numbers": True})
    sheet = book.add_worksheet("people")
    for row, cells in enumerate([TABLE.schema.names, *zip(*TABLE.to_pydict().values(), strict=True)]):
        for column, cell in enumerate(cells):
            if cell is not None:
                sheet.write(row, column, cell)
    book.close()
    return folder / "t.xlsx"


def semicolons(folder):
    (folder / "s.csv").write_text(TEXT.replace(",", "~"))
    return TableFile(folder / "s.csv", separator="~")


def parquet_file(folder):
    parquet.write_table(TABLE, folder / "t.parquet")
    return folder / "t.parquet"


def parquet_folder(folder):
    (folder / "b").mkdir()
    (folder / "_logs").mkdir()
    parquet.write_table(TABLE.slice(0, 2), folder / "a.parquet")
    parquet.write_table(TABLE.slice(2), folder / "b" / "a.parquet")
    parquet.write_table(TABLE, folder / "_logs" / "a.parquet")
    (folder / "_SUCCESS").write_text("")
    return folder


KINDS = {
    "CSV file": csv_file,
    "TSV file": tsv_file,
    "CSV file, gzipped": gzipped,
    "CSV file, its separator told": semicolons,
    "workbook": workbook,
    "Parquet file": parquet_file,
    "Parquet folder": parquet_folder,
    "Arrow table": lambda _: TABLE,
    "Arrow table, dictionaries": lambda _: TABLE.set_column(0, "s", TABLE["s"].dictionary_encode()),
    "Arrow dataset": lambda folder: dataset.dataset(parquet_file(folder)),
    "Arrow reader": lambda _: TABLE.to_reader(max_chunksize=2),
    "pandas frame": lambda _: TABLE.to_pandas(),
    "pandas frame, categories": lambda _: TABLE.to_pandas().astype({"s": "category"}),
    "polars frame": lambda _: pl.from_arrow(TABLE),
    "polars query": lambda _: pl.from_arrow(TABLE).lazy(),
    "DuckDB relation": lambda _: duckdb.connect().from_arrow(TABLE),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def table(kind, tmp_path):
    return KINDS[kind](tmp_path)


def rows_of(batches):
    return [row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]


def test_batches_have_the_rows_in_order(table, kind):
    source = open_table(table, columns=["s", "x"])
    assert source.description == kind.partition(",")[0]
    assert source.schema.names == ["s", "x"]
    assert source.first_row == 1, "a header is no row"
    batches = list(source.batches(["x", "s"], rows=2))
    assert max(map(len, batches)) <= 2
    assert all(batch.schema.names == ["x", "s"] for batch in batches)
    assert rows_of(batches) == [(x, s) for s, x in ROWS]


def test_counts_have_every_combination_once(table):
    counted = open_table(table, columns=["s", "x"]).count(["s", "x"])
    assert counted.schema.types[-1] == pa.int64()
    assert counted.schema.names[:-1] == ["s", "x"]
    *keys, sizes = (column.to_pylist() for column in counted.columns)
    assert dict(zip(zip(*keys, strict=True), sizes, strict=True)) == Counter(ROWS)
    assert len(sizes) == len(set(ROWS))


def test_a_table_can_be_read_again_and_left_early(table, kind):
    source = open_table(table, columns=["s", "x"])
    early = source.batches(["s"], rows=1)
    next(early)
    early.close()
    if kind == "Arrow reader":
        with pytest.raises(TableError, match="was read before"):
            source.count(["s"])
    else:
        assert sum(source.count(["s"]).columns[-1].to_pylist()) == len(ROWS)
        assert len(rows_of(source.batches(["s"]))) == len(ROWS)


def test_a_column_that_is_not_there(table):
    with pytest.raises(TableError, match=r"no column 'height' among the table's 3") as caught:
        open_table(table, columns=["s", "height"])
    assert "other" not in str(caught.value)


def test_a_name_that_differs_in_case_or_blanks_is_suggested(table, kind):
    """What was typed, but for case, blanks and one slip, tells no name that was not known; nothing else is told."""
    with pytest.raises(TableError, match=r"no column ' OTHER', 'S' .*did you mean 'other', 's'\?$") as caught:
        open_table(table, columns=["x", " OTHER", "S"])
    assert "header" not in str(caught.value)
    with pytest.raises(TableError, match=r"no column 'S', 'mothers' .*did you mean 's'\?") as caught:
        open_table(table, columns=["S", "mothers"])
    assert "'other'" not in str(caught.value)


@pytest.mark.parametrize("typed", ["otehr", "othr", "othher", "othes", "Other "])
def test_a_name_with_one_slip_is_suggested(typed):
    with pytest.raises(TableError, match=r"did you mean 'other'\?$"):
        require("t.csv", [typed], ["s", "x", "other"], header=True)


@pytest.mark.parametrize(
    ("typed", "present"),
    [
        ("ohter", "others"),
        ("otr", "other"),
        ("x", "y"),
        ("xy", "x"),
        ("id1", "id2"),
        ("id", "id3"),
        ("born 1970", "born 1971"),
        ("rehto", "other"),
    ],
)
def test_more_than_a_slip_and_digits_are_not_told(typed, present):
    with pytest.raises(TableError) as caught:
        require("t.csv", [typed], ["s", present], header=True)
    assert repr(present) not in str(caught.value)


def test_only_a_file_of_text_is_asked_for_its_header(table, kind):
    with pytest.raises(TableError, match="no column 'height'") as caught:
        open_table(table, columns=["height"])
    assert ("is its first row a header?" in str(caught.value)) == kind.startswith(("CSV", "TSV", "workbook"))


@pytest.mark.parametrize(
    "table",
    [
        pa.table([["a"], ["b"]], names=["s", "s"]),
        pa.table([["a"], ["b"]], names=["s", "s"]).to_reader(),
        dataset.dataset(pa.table([["a"], ["b"]], names=["s", "s"])),
        pd.DataFrame([["a", "b"]], columns=["s", "s"]),
    ],
    ids=["table", "reader", "dataset", "pandas"],
)
def test_a_column_that_is_there_twice(table):
    with pytest.raises(TableError, match="more than once"):
        open_table(table, columns=["s"])


def test_names_that_differ_in_case_are_different_columns(tmp_path):
    table = pa.table({"Age": ["x", "y"], "age": ["p", "q"], "AGE": [1, 2]})
    parquet.write_table(table, tmp_path / "t.parquet")
    relation = duckdb.connect().sql(
        """SELECT unnest(['x', 'y']) "Age", unnest(['p', 'q']) "age", unnest([1, 2]) "AGE" """
    )
    for kind in (table, tmp_path / "t.parquet", relation, dataset.dataset(table)):
        source = open_table(kind, columns=["age", "AGE"])
        counted = rows_of(source.count(["AGE", "age"]).to_batches())
        assert sorted(counted) == [(1, "p", 1), (2, "q", 1)]
        assert rows_of(source.batches(["age"])) == [("p",), ("q",)]


@pytest.mark.parametrize("name", ["rows", "count_all", "c1", "n", "n_sum", "len", "#1", 'a"b', "a.b", "count(*)"])
def test_any_name_of_a_column_will_do(tmp_path, name):
    table = pa.table({name: ["p", "q", "p"], "c0": ["u", "v", "u"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text(f'"{name.replace(chr(34), chr(34) * 2)}",c0\np,u\nq,v\np,u\n')
    relation = duckdb.connect().from_arrow(table)
    for kind in (
        table,
        tmp_path / "t.parquet",
        tmp_path / "t.csv",
        table.to_reader(),
        pl.from_arrow(table).lazy(),
        relation,
    ):
        counted = open_table(kind, columns=[name, "c0"]).count([name, "c0"])
        assert sorted(rows_of(counted.to_batches())) == [("p", "u", 2), ("q", "v", 1)]


def test_files_of_a_folder_must_agree(tmp_path):
    parquet.write_table(pa.table({"s": ["a"]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"s": [1]}), tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"'2.parquet' has other types"):
        open_table(tmp_path, columns=["s"])
    parquet.write_table(pa.table({"t": [1]}), tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"'2.parquet': no column 's'"):
        open_table(tmp_path, columns=["s"])


def test_a_frame_with_mixed_values():
    frame = pd.DataFrame({"s": pd.Series(["hidden", 1], dtype=object), "x": ["a", "b"]})
    with pytest.raises(TableError, match="'s' has values of several types") as caught:
        open_table(frame, columns=["s", "x"])
    assert "hidden" not in str(caught.value)
    assert open_table(frame, columns=["x"]).count(["x"]).num_rows == 2


@pytest.mark.parametrize(
    "query",
    [
        lambda: duckdb.connect().sql(
            "SELECT (CASE WHEN i < 5 THEN '1' ELSE 'hidden' END)::INT AS s FROM range(9) t(i)"
        ),
        lambda: pl.LazyFrame({"s": ["1", "hidden"]}).select(pl.col("s").cast(pl.Int64)),
    ],
    ids=["DuckDB", "polars"],
)
def test_an_engine_that_fails_tells_no_cell(query):
    source = open_table(query(), columns=["s"])
    for read in (source.count, lambda columns: list(source.batches(columns))):
        with pytest.raises(TableError, match="its engine failed with") as caught:
            read(["s"])
        assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "table", [TABLE.slice(0, 0), pl.from_arrow(TABLE.slice(0, 0)).lazy(), TABLE.schema.empty_table().to_reader()]
)
def test_no_rows(table):
    source = open_table(table, columns=["s"])
    with pytest.raises(TableError, match="no rows to count"):
        source.count(["s"])


def test_too_many_combinations_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "MAX_COMBINATIONS", 100)
    monkeypatch.setattr(module, "BATCH_ROWS", 10)
    table = pa.table({"id": range(1000)})
    (tmp_path / "t.csv").write_text("id\n" + "\n".join(map(str, range(1000))))
    for kind in (table, table.to_reader(max_chunksize=50), tmp_path / "t.csv", pl.from_arrow(table).lazy()):
        with pytest.raises(TableError, match="more than 100 combinations"):
            open_table(kind, columns=["id"]).count(["id"])


def test_counting_in_parts_is_counting():
    generator = np.random.default_rng(0)
    table = pa.table({"a": generator.integers(0, 300, 200_000), "b": generator.integers(0, 300, 200_000).astype(str)})
    counted = count_batches(table.to_batches(max_chunksize=1000), "it")
    whole = table.group_by(["a", "b"]).aggregate([([], "count_all")])
    order = [("a", "ascending"), ("b", "ascending")]
    assert counted.sort_by(order).equals(whole.sort_by(order))


CELLS = st.text(st.sampled_from('ab", \n\r\té'), max_size=4)


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8), ending=st.sampled_from(["\n", "\r\n", "\r"]))
def test_what_a_csv_writer_writes_is_what_is_read(tmp_path_factory, rows, ending):
    path = tmp_path_factory.mktemp("written") / "t.csv"
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [("s", "x"), *rows]]
    path.write_bytes(ending.join(quoted).encode())
    source = open_table(path, columns=["s", "x"])
    assert rows_of(source.batches(["s", "x"])) == [(s or None, x or None) for s, x in rows]


@given(
    data=st.binary(max_size=30).map(
        lambda tail: b"s,x\n" + tail.translate(bytes(b'ab,"\n\r'[i % 6] for i in range(256)))
    )
)
def test_any_text_is_counted_as_it_is_streamed_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_bytes(data)
    try:
        source = open_table(path, columns=["s", "x"])
        streamed = Counter(rows_of(source.batches(["s", "x"])))
        *keys, sizes = (column.to_pylist() for column in source.count(["s", "x"]).columns)
    except TableError:
        return
    assert dict(zip(zip(*keys, strict=True), sizes, strict=True)) == streamed


@pytest.mark.parametrize("cut", range(1, 24))
def test_quotes_are_judged_alike_wherever_a_block_ends(cut):
    class Raw:
        def __init__(self, data):
            self.blocks = [data[:cut], data[cut:], b""]

        def read(self, size):
            return self.blocks.pop(0)

    def judged(data):
        quotes = Quotes(Raw(data), "it", ",")
        try:
            while quotes.read(1):
                pass
        except TableError as error:
            return str(error)
        return "good"

    assert judged(b's,x\n"a""b","\nc"\n"",""\n"d",e\n') == "good"
    assert "not doubled, near line 3" in judged(b's,x\n"a""b",c\nd,"e"f\n"g",h\n')
    assert "not doubled, near line 3" in judged(b's,x\n"a""b",c\nd,e"f"\n"g",h\n')
    assert "never closed, near line 3" in judged(b's,x\n"a""b",c\nd,"ef\n\n\ng,h\n')


def test_the_texts_of_symbols():
    values = [None, float("nan"), True, 7, 7.0, -0.0, "7", "NaN", np.datetime64("2020-01-31").item()]
    texts = ["(missing)", "(missing)", "True", "7", "7.0", "0.0", "7", "NaN", "2020-01-31"]
    assert canonical_texts(values, "x") == texts
    assert canonical_texts(pa.array(["b", None]).dictionary_encode(), "x") == ["b", "(missing)"]
    with pytest.raises(TableError, match="'x' contains the text"):
        canonical_texts(pa.array(["(missing)"]), "x")
    with pytest.raises(TableError, match="'x' has dates out of range"):
        canonical_texts(pa.array([2**31 - 1], pa.date32()), "x")
    with pytest.raises(TableError, match="'x' is not of text"):
        canonical_texts(pa.array([["b"]]), "x")
