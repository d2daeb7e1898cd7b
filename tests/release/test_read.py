"""Counting tables: files and frames, combinations, missing values, and errors that tell no cell."""

import gzip

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from alphalift import TableError, read_joint
from alphalift.data import adult
from alphalift.release import MISSING

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
