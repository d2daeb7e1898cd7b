"""Files that need a word more: separators that are told, sheets of workbooks, and bins that are chosen."""

import zipfile

import numpy as np
import pytest
import xlsxwriter

from alphalift import Quantiles, TableError, TableFile, read_joint
from alphalift.tables import workbook
from alphalift.tables.quantiles import _rounded


def book(path, *sheets):
    made = xlsxwriter.Workbook(path)
    for name, rows in sheets:
        sheet = made.add_worksheet(name)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    made.close()
    return path


ROWS = [["ill", "age"], ["yes", 18], ["no", 18.5], ["yes", 40], ["no", 18]]


def counts(joint):
    return {
        (s, x): count
        for s, row in zip(joint.s_labels, joint.weights, strict=True)
        for x, count in zip(joint.x_labels, row, strict=True)
        if count
    }


def test_a_sheet_says_what_the_same_csv_file_says(tmp_path):
    (tmp_path / "t.csv").write_text("".join(f"{s},{x}\n" for s, x in ROWS))
    sheet = read_joint(book(tmp_path / "t.xlsx", ("people", ROWS)), sensitive="ill", useful="age")
    assert sheet == read_joint(tmp_path / "t.csv", sensitive="ill", useful="age")
    assert counts(sheet) == {("yes", "18"): 1, ("no", "18"): 1, ("no", "18.5"): 1, ("yes", "40"): 1}


def test_of_several_sheets_one_is_named(tmp_path):
    path = book(tmp_path / "t.xlsx", ("first", [["a"], [1]]), ("people", ROWS))
    with pytest.raises(TableError, match="has 2 sheets; name the one to read with sheet="):
        read_joint(path, sensitive="ill", useful="age")
    with pytest.raises(TableError, match="there is no sheet 'other' among its 2"):
        read_joint(TableFile(path, sheet="other"), sensitive="ill", useful="age")
    assert read_joint(TableFile(path, sheet="people"), sensitive="ill", useful="age").n == 4
    (tmp_path / "t.csv").write_text("ill,age\nyes,1\n")
    with pytest.raises(TableError, match="has no sheets"):
        read_joint(TableFile(tmp_path / "t.csv", sheet="people"), sensitive="ill", useful="age")


def test_a_column_that_is_there_twice_in_a_sheet(tmp_path):
    path = book(tmp_path / "t.xlsx", ("people", [["ill", "age", "age"], ["yes", 1, 2], ["no", 3, 4]]))
    with pytest.raises(TableError, match="more than once"):
        read_joint(path, sensitive="ill", useful="age")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"not a workbook", "really a workbook"), (b"PK\x03\x04broken", "really a workbook"), (b"", "really a workbook")],
)
def test_what_is_no_workbook_is_told_so(tmp_path, content, words):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(TableError, match=words):
        read_joint(tmp_path / "t.xlsx", sensitive="ill", useful="age")


def test_a_workbook_that_unpacks_to_too_much_is_not_opened(tmp_path, monkeypatch):
    path = book(tmp_path / "t.xlsx", ("people", ROWS))
    with zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    monkeypatch.setattr(workbook, "MAX_UNPACKED_BYTES", size - 1)
    with pytest.raises(TableError, match="unpacks to more than"):
        read_joint(path, sensitive="ill", useful="age")


def test_without_the_extra_the_way_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "find_spec", lambda name: None)
    with pytest.raises(TableError, match=r"alphalift\[excel\]"):
        read_joint(book(tmp_path / "t.xlsx", ("people", ROWS)), sensitive="ill", useful="age")


@pytest.mark.parametrize(("told", "sign"), [(";", ";"), ("tab", "\t"), ("pipe", "|"), ("~", "~")])
def test_a_separator_is_told_by_its_sign_or_its_name(tmp_path, told, sign):
    rows = [["ill", "age; years"], ["yes", "18"], ["no", "19"]] if sign != ";" else ROWS
    (tmp_path / "t.txt").write_text("".join(f"{s}{sign}{x}\n" for s, x in rows))
    table = TableFile(tmp_path / "t.txt", separator=told)
    assert read_joint(table, sensitive="ill", useful=rows[0][1]).n == len(rows) - 1


@pytest.mark.parametrize("wrong", ["", ";;", '"', "a", "7", "\n", "é"])
def test_what_is_no_separator_is_refused(wrong):
    with pytest.raises(TableError, match="a separator is one sign"):
        TableFile("t.csv", separator=wrong)


def test_quantiles_have_about_as_many_records_each(tmp_path):
    ages = np.random.default_rng(0).integers(17, 90, 2000)
    (tmp_path / "t.csv").write_text("s,age\n" + "".join(f"{own % 3},{own}\n" for own in ages))
    joint = read_joint(tmp_path / "t.csv", sensitive="s", useful="age", bins={"age": Quantiles(4)})
    assert len(joint.x_labels) == 4
    assert 0.2 < joint.p_x.min() <= joint.p_x.max() < 0.3
    (edges,) = [edges for column, edges in joint.origin.bins if column == "age"]
    assert all(edge == round(edge) for edge in edges)
    by_hand = [
        int(((ages >= low) & (ages < high)).sum())
        for low, high in zip([-np.inf, *edges], [*edges, np.inf], strict=True)
    ]
    assert [sum(column) for column in zip(*joint.weights, strict=True)] == by_hand


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ([23.0, 37.0, 51.0], [25.0, 35.0, 50.0]),
        ([1234.0], [1000.0]),
        ([0.123, 0.456], [0.1, 0.5]),
        ([10.0, 11.0], [10.0, 11.0]),
    ],
)
def test_edges_are_round_and_stay_apart(edges, found):
    assert _rounded(np.array(edges)) == found


def test_quantiles_that_are_none(tmp_path):
    (tmp_path / "t.csv").write_text("s,age,name\n1,5,a\n2,5,b\n")
    for count in (1, 101, 2.5, "5"):
        with pytest.raises(TableError, match="quantiles are 2 to 100 bins"):
            Quantiles(count)
    with pytest.raises(TableError, match="too few different numbers"):
        read_joint(tmp_path / "t.csv", sensitive="s", useful="age", bins={"age": Quantiles(3)})
    with pytest.raises(TableError, match="2 of its cells are no numbers"):
        read_joint(tmp_path / "t.csv", sensitive="s", useful="name", bins={"name": Quantiles(3)})
