"""Counting tables: files and frames, combinations, missing values, and errors that tell no cell."""

import gzip
from collections import Counter

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphalift import IdentifierError, TableError, read_joint
from alphalift.data import adult
from alphalift.joint import Beside, Origin, Variable
from alphalift.tables import MISSING

ROWS = "id,colour,size,ill\n1,red,7,yes\n2,red,007,no\n3,blue,7,no\n4,,7,yes\n5,red,7,yes\n"


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(ROWS)
    return path


def test_a_csv_file_is_counted(csv):
    joint = read_joint(csv, sensitive="ill", useful="colour")
    assert joint.s_labels == ("no", "yes")
    assert joint.x_labels == ("blue", "red", MISSING)
    assert joint.weights == ((1, 1, 0), (0, 2, 1))
    assert joint.n == 5


def test_missing_rows_can_be_left_out(csv):
    joint = read_joint(str(csv), sensitive="ill", useful="colour", missing="drop")
    assert joint.x_labels == ("blue", "red")
    assert joint.n == 4


def test_cells_of_a_csv_file_are_never_sniffed(csv):
    assert set(read_joint(csv, sensitive="ill", useful="size").x_labels) == {"7", "007"}


def test_gzip(tmp_path, csv):
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress(ROWS.encode()))
    assert read_joint(packed, sensitive="ill", useful="colour") == read_joint(csv, sensitive="ill", useful="colour")


def test_several_columns_are_a_product(csv):
    joint = read_joint(csv, sensitive="ill", useful=["colour", "size"])
    assert "red, 007" in joint.x_labels
    assert joint.n == 5


def test_combinations_never_collide():
    frame = pd.DataFrame({"a": ["x, y", "x"], "b": ["z", "y, z"], "s": [1, 2]})
    assert len(read_joint(frame, sensitive="s", useful=["a", "b"]).x_labels) == 2


@pytest.mark.parametrize(
    "engine", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table], ids=["pandas", "polars", "lazy", "arrow"]
)
def test_every_frame_gives_the_same_joint(engine):
    columns = {"s": ["a", "b", "a", None, "b"], "x": [3, 20, 3, 20, 20]}
    joint = read_joint(engine(columns), sensitive="s", useful="x")
    assert joint.s_labels == ("a", "b", MISSING)
    assert joint.x_labels == ("3", "20"), "numbers are sorted as numbers"
    assert joint.weights == ((2, 0), (0, 2), (0, 1))


def test_nan_is_missing_too():
    for frame in (
        pd.DataFrame({"s": ["a", "b"], "x": [1.5, float("nan")]}),
        pl.DataFrame({"s": ["a", "b"], "x": [1.5, float("nan")]}),
    ):
        assert read_joint(frame, sensitive="s", useful="x").x_labels == ("1.5", MISSING)


def test_row_order_does_not_matter(csv):
    frame = pd.read_csv(csv, dtype=str)
    assert read_joint(frame, sensitive="ill", useful="size") == read_joint(frame[::-1], sensitive="ill", useful="size")


def test_the_census():
    joint = read_joint(adult(), sensitive="race", useful="education")
    assert (len(joint.s_labels), len(joint.x_labels), joint.n) == (5, 16, 32561)
    assert joint.p_s.min() == pytest.approx(0.0083, abs=1e-4)


def test_a_column_may_be_both_secret_and_useful(csv):
    joint = read_joint(csv, sensitive="ill", useful="ill")
    assert joint.weights == ((2, 0), (0, 3))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (ROWS, {"sensitive": "height"}, "no column 'height' among the table's 4; is its first row a header"),
        (ROWS, {"useful": []}, "useful needs one or more"),
        (ROWS, {"useful": ["size", "size"]}, "different columns"),
        (ROWS, {"missing": "guess"}, "expected 'symbol' or 'drop'"),
        ("", {}, "is empty"),
        ("id,colour,ill\n", {}, "no rows"),
        ("id,colour,ill\n1,red,yes\n2,hidden\n", {}, "another number of cells"),
        ("ill,colour,ill\n1,red,yes\n", {}, "'ill' occurs more than once"),
        ("1,hidden,yes\n2,red,no\n", {}, "is its first row a header"),
        ("id, colour,Ill,hidden\n1,red,yes,no\n", {}, "'ill', 'colour' .*; did you mean 'Ill', ' colour'"),
        ("id,colour,ill\n1,(missing),yes\n2,,no\n", {}, "stands for a missing value"),
    ],
)
def test_bad_tables_are_a_clear_error_without_a_cell(tmp_path, text, options, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=message) as caught:
        read_joint(path, **{"sensitive": "ill", "useful": "colour", **options})
    assert "hidden" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match="no such file"):
        read_joint(tmp_path / "nothing.csv", sensitive="a", useful="b")


def test_what_is_no_table():
    with pytest.raises(TableError, match="not int"):
        read_joint(3, sensitive="a", useful="b")


AGES = "age,ill\n17,yes\n18,no\n29.5,no\n3e1,yes\n 50 ,no\n,yes\n+64.,no\n"


@pytest.mark.parametrize(
    "engine", [None, pd.DataFrame, pl.LazyFrame, pa.table], ids=["csv", "pandas", "polars", "arrow"]
)
def test_bins_are_half_open(tmp_path, engine):
    if engine is None:
        table = tmp_path / "ages.csv"
        table.write_text(AGES)
    else:
        ages = [17.0, 18.0, 29.5, 30.0, 50.0, None, 64.0]
        table = engine({"age": ages, "ill": ["yes", "no", "no", "yes", "no", "yes", "no"]})
    joint = read_joint(table, sensitive="ill", useful="age", bins={"age": [18, 30, 50, 1000.5]})
    assert joint.x_labels == ("<18", "18 to <30", "30 to <50", "50 to <1000.5", MISSING)
    assert joint.x_without_mass == (">=1000.5",)
    assert joint.weights == ((0, 2, 0, 2, 0), (1, 0, 1, 0, 1))


def test_bins_of_many_different_numbers():
    numbers = [i / 7 for i in range(100_000)]
    joint = read_joint(pa.table({"x": numbers, "s": ["a"] * 100_000}), sensitive="s", useful="x", bins={"x": [1000]})
    assert joint.weights == ((7000, 93000),)


@pytest.mark.parametrize("cell", ["hidden", "nan", "inf", "0x1F", "1_000", "1,5", "--1", "1e", ".", "٣", "2020-01-01"])
def test_what_is_no_number_has_no_bin(tmp_path, cell):
    path = tmp_path / "ages.csv"
    path.write_text(f'age,ill\n"{cell}",yes\n18,no\n"{cell}",no\n')
    with pytest.raises(TableError, match=f"{path}: column 'age' has bins, but 2 of its cells are no numbers") as caught:
        read_joint(path, sensitive="ill", useful="age", bins={"age": [18]})
    assert cell not in str(caught.value).removeprefix(str(path)) or cell == "."


def test_an_alphabet_declares_values_and_their_order(csv):
    colours = ["red", "green", "blue", "black"]
    joint = read_joint(csv, sensitive="ill", useful="colour", alphabet={"colour": colours, "ill": ["yes", "no"]})
    assert joint.x_labels == ("red", "blue", MISSING)
    assert joint.x_without_mass == ("green", "black")
    assert joint.s_labels == ("yes", "no")
    assert joint.weights == ((2, 0, 1), (1, 1, 0))
    first = read_joint(csv, sensitive="ill", useful="colour", alphabet={"colour": [None, *colours]})
    assert first.x_labels == (MISSING, "red", "blue")


def test_an_alphabet_of_numbers():
    table = pa.table({"x": [3, 1, 3], "s": [True, False, True]})
    joint = read_joint(table, sensitive="s", useful="x", alphabet={"x": [3, 2, 1], "s": [True, False]})
    assert (joint.s_labels, joint.x_labels, joint.x_without_mass) == (("True", "False"), ("3", "1"), ("2",))


def test_declared_columns_make_a_product(csv):
    joint = read_joint(
        csv, sensitive="ill", useful=["size", "colour"], missing="drop", alphabet={"size": [8, 7, "007"]}
    )
    assert joint.x_labels == ("7, blue", "7, red", "007, red")
    assert joint.x_without_mass == ("8, blue", "8, red", "007, blue")


def test_values_outside_of_an_alphabet(csv):
    message = "column 'colour' has values outside of its alphabet in 3 rows; add them to alphabet="
    with pytest.raises(TableError, match=message) as caught:
        read_joint(csv, sensitive="ill", useful="colour", alphabet={"colour": ["blue", "green"]})
    assert "red" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": {"size": []}}, "'size' must be one or more finite numbers that rise"),
        ({"bins": {"size": [2, 1]}}, "that rise"),
        ({"bins": {"size": [1, 1]}}, "that rise"),
        ({"bins": {"size": [1, float("inf")]}}, "finite"),
        ({"bins": {"size": [float("nan")]}}, "finite"),
        ({"bins": {"size": ["small"]}}, "'size' are not numbers"),
        ({"bins": {"id": [1]}}, "'id', which is not counted"),
        ({"alphabet": {"id": [1]}}, "'id', which is not counted"),
        ({"alphabet": {"size": []}}, "one or more different values"),
        ({"alphabet": {"size": ["7", 7]}}, "one or more different values"),
        ({"alphabet": {"size": ["7"]}, "bins": {"size": [7]}}, "has bins and an alphabet"),
    ],
)
def test_declarations_that_make_no_sense(csv, options, message):
    with pytest.raises(TableError, match=message):
        read_joint(csv, sensitive="ill", useful="size", **options)


def test_a_joint_that_is_too_large_is_refused():
    table = pa.table({"s": range(3000), "x": range(3000)})
    with pytest.raises(TableError, match="3000 x 3000 symbols are too many"):
        read_joint(table, sensitive="s", useful="x", anyway=True)
    domain = {"s": list(range(3000)), "x": list(range(3000))}
    with pytest.raises(TableError, match="too many declared combinations"):
        read_joint(table, sensitive="s", useful=["s", "x"], alphabet=domain, anyway=True)


def test_parquet_and_csv_with_the_same_content_have_the_same_joint(tmp_path):
    frame = pd.read_csv(adult(), dtype=str)
    frame.to_parquet(tmp_path / "adult.parquet")
    for useful in ("education", ["sex", "workclass"], "age"):
        columns = {"sensitive": "race", "useful": useful, "bins": {"age": [30, 50]} if useful == "age" else None}
        assert read_joint(tmp_path / "adult.parquet", **columns) == read_joint(adult(), **columns)


def test_only_missing_values():
    with pytest.raises(TableError, match="without a missing value"):
        read_joint(pa.table({"s": ["a", None], "x": [None, "b"]}), sensitive="s", useful="x", missing="drop")


def test_a_joint_knows_its_columns(csv):
    joint = read_joint(
        csv, sensitive="ill", useful=["size", "colour"], bins={"size": [7]}, alphabet={"ill": ["yes", "no"]}
    )
    assert joint.origin == Origin(("ill",), ("size", "colour"), (("size", (7.0,)),), ("ill", "size"))
    assert joint.beside is None
    assert read_joint(csv, sensitive="ill", useful="size").origin == Origin(("ill",), ("size",))


def test_declared_combinations_without_mass_have_their_labels():
    table = pa.table({"s": ["p", "q"], "a": ["x, y", "z"], "b": [1, 40]})
    joint = read_joint(table, sensitive="s", useful=["a", "b"], alphabet={"a": ["x, y", "z", "\\"]}, bins={"b": [10]})
    assert joint.x_labels == ("x\\, y, <10", "z, >=10")
    assert joint.x_without_mass == ("x\\, y, >=10", "z, <10", "\\\\, <10", "\\\\, >=10")


def test_variables_beside():
    table = pa.table(
        {
            "s": ["p", "q", "p", "q", "p", "p"],
            "x": ["u", "u", "v", "v", "v", "v"],
            "age": [10, 20, 30, 40, None, 30],
            "z": ["a", "b", "c", "a", "a", "c"],
        }
    )
    ages = Variable(("age",), ("<25", ">=25"), (("age", (25.0,)),))
    pairs = Variable(("z", "x"), ("a, u", "c, v"))
    joint = read_joint(table, sensitive="s", useful="x", beside=[ages, pairs])
    assert joint.beside == Beside(
        (ages, pairs), ((0, 0, 0, 0, 1), (0, 1, 1, 1, 2), (0, 1, 2, 2, 1), (1, 0, 0, 2, 1), (1, 1, 1, 2, 1))
    )
    assert joint == read_joint(table, sensitive="s", useful="x")
    assert joint.origin == Origin(("s",), ("x",)), "bins beside are not the joint's own"


def test_one_column_may_be_read_with_several_bins():
    table = pa.table({"s": ["p", "q", "p"], "age": [10, 20, 30]})
    two = Variable(("age",), ("<15", ">=15"), (("age", (15.0,)),))
    raw = Variable(("age",), ("10", "30"))
    joint = read_joint(table, sensitive="s", useful="age", bins={"age": [25]}, beside=[two, raw])
    assert joint.x_labels == ("<25", ">=25")
    assert joint.beside.cells == ((0, 0, 0, 0, 1), (0, 1, 1, 1, 1), (1, 0, 1, 2, 1))


CELLS = st.sampled_from([None, "a", "b", "c"])


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS, st.integers(0, 5) | st.none()), min_size=1, max_size=12),
    missing=st.sampled_from(["symbol", "drop"]),
    engine=st.sampled_from([pa.table, pl.LazyFrame]),
)
def test_variables_beside_by_brute_force(rows, missing, engine):
    table = engine({name: [row[i] for row in rows] for i, name in enumerate("sxzn")})
    first, second = Variable(("z",), ("b", MISSING)), Variable(("n", "z"), ("<2, a", ">=2, b"), (("n", (2.0,)),))

    def numbers(s, x, z, n):
        low = MISSING if n is None else "<2" if n < 2 else ">=2"
        pair = f"{low}, {z or MISSING}"
        return (
            joint.s_labels.index(s or MISSING),
            joint.x_labels.index(x or MISSING),
            first.labels.index(z or MISSING) if (z or MISSING) in first.labels else 2,
            second.labels.index(pair) if pair in second.labels else 2,
        )

    kept = [row for row in rows if missing == "symbol" or None not in row[:2]]
    if not kept:
        return
    joint = read_joint(
        table,
        sensitive="s",
        useful="x",
        missing=missing,
        alphabet={"x": ["c", "nowhere", "a", "b"]},
        beside=[first, second],
    )
    counted = Counter(numbers(*row) for row in kept)
    assert joint.beside.cells == tuple((*numbers, size) for numbers, size in sorted(counted.items()))


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        (Variable((), ("a",)), "a variable beside needs one or more"),
        (Variable(("nothing",), ("a",)), "no column 'nothing'"),
        (Variable(("colour",), ("<1", ">=1"), (("colour", (1.0,)),)), "'colour' has bins, but 4 of its cells"),
    ],
)
def test_variables_beside_that_make_no_sense(csv, variable, message):
    with pytest.raises(TableError, match=message):
        read_joint(csv, sensitive="ill", useful="size", beside=[variable])


def people(values, records):
    numbers = [i % values for i in range(records)]
    return pd.DataFrame({"who": [f"hidden-{i}" for i in numbers], "ill": [i % 3 == 0 for i in range(records)]})


@pytest.mark.parametrize(
    ("values", "records", "refused"), [(101, 201, True), (101, 202, False), (100, 100, False), (7214, 7214, True)]
)
def test_more_values_than_half_of_the_records_are_an_identifier(values, records, refused):
    table = people(values, records)
    for role in ({"sensitive": "ill", "useful": "who"}, {"sensitive": "who", "useful": "ill"}):
        if refused:
            with pytest.raises(IdentifierError, match=f"'who' has {values:,} values in {records:,} records") as caught:
                read_joint(table, **role)
            assert "hidden" not in str(caught.value)
        assert read_joint(table, **role, anyway=True).n == records
        assert refused or read_joint(table, **role).n == records


def test_columns_together_may_be_an_identifier():
    table = people(300, 300)
    table["place"] = [i % 20 for i in range(300)]
    table["who"] = [i // 20 for i in range(300)]
    with pytest.raises(IdentifierError, match="'who' and 'place' have together 300 values in 300 records"):
        read_joint(table, sensitive="ill", useful=["who", "place"])
