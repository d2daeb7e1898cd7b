"""Hostile tables: each is counted right, and streamed the same, or refused in one line that names it and no cell."""

import datetime
import decimal
import gzip
import os
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pytest
from pyarrow import parquet

from alphalift import MaxLift, TableError, design, read_joint
from alphalift.audit import audit_release
from alphalift.release import Plan, new_key, release
from alphalift.tables import MISSING, canonical_texts, open_table
from alphalift.tables.text import MAX_ROW_BYTES

SECRET = "s3cr3t"


def refused(path, message):
    """Neither counting nor streaming gives an answer, and no message tells a cell or an engine's words."""

    def stream():
        for _ in open_table(path, columns=["s", "x"]).batches(["s", "x"]):
            pass

    def count():
        read_joint(path, sensitive="s", useful="x")

    for read in (count, stream) if message not in ONLY_COUNTING else (count,):
        with pytest.raises(TableError, match=message) as caught:
            read()
        told = str(caught.value)
        assert SECRET not in told
        assert str(path) in told
        assert "\n" not in told


def accepted(path, expected):
    """Counting gives these counts, and streaming the same ones."""
    joint = read_joint(path, sensitive="s", useful="x")
    counted = {
        (s, x): w
        for s, row in zip(joint.s_labels, joint.weights, strict=True)
        for x, w in zip(joint.x_labels, row, strict=True)
        if w
    }
    streamed = Counter()
    for batch in open_table(path, columns=["s", "x"]).batches(["s", "x"], rows=1000):
        texts = [canonical_texts(column, "s") for column in batch.columns]
        streamed.update(zip(*texts, strict=True))
    assert counted == expected
    assert streamed == expected


# --- text: "|" stands for the delimiter ---

ONE = {("a", SECRET): 1}
MANY = 100
CELL = "c" * 3_000_000
HUGE = "c" * 10_000_000

GOOD = {
    "formula =": ("s|x\na|=1+1\n", {("a", "=1+1"): 1}),
    "formula +": ("s|x\na|+1+1\n", {("a", "+1+1"): 1}),
    "formula -": ("s|x\n-1|-2\n", {("-1", "-2"): 1}),
    "formula @": ("s|x\na|@SUM(A1:A9)\n", {("a", "@SUM(A1:A9)"): 1}),
    "formula in the header": ("=1+1|s|x\n1|a|b\n", {("a", "b"): 1}),
    "windows line ends": (f"s|x\r\na|{SECRET}\r\n", ONE),
    "old line ends": (f"s|x\ra|{SECRET}\r", ONE),
    "mixed line ends": (f"s|x\r\na|{SECRET}\rb|2\nc|3\r\n", {**ONE, ("b", "2"): 1, ("c", "3"): 1}),
    "no last line end": (f"s|x\na|{SECRET}", ONE),
    "blank lines": (f"\n\ns|x\n\n\na|{SECRET}\n\n\n", ONE),
    "byte order mark": (f"\ufeffs|x\na|{SECRET}\n", ONE),
    "byte order mark and quotes": (f'\ufeff"s"|x\na|{SECRET}\n', ONE),
    "a mark inside": ("s|x\na|\ufeffb\n", {("a", "\ufeffb"): 1}),
    "quoted line ends": ('s|x\na|"b\nc"\na|"b\r\nc"\n', {("a", "b\nc"): 1, ("a", "b\r\nc"): 1}),
    "quoted delimiters": ('s|x\n"a|b"|"|"\n', "delimiters"),
    "doubled quotes": ('s|x\n"a""b"|""""\n', {('a"b', '"'): 1}),
    "quoted and empty": ('s|x\n""|\n', {(MISSING, MISSING): 1}),
    "all quoted": (f'"s"|"x"\n"a"|"{SECRET}"\n', ONE),
    "null byte": ("s|x\na|b\0c\n", {("a", "b\0c"): 1}),
    "null bytes only": ("s|x\na|\0\0\n", {("a", "\0\0"): 1}),
    "null byte in the header": ("s|x|\0\na|b|c\n", {("a", "b"): 1}),
    "end of file byte": ("s|x\na|b\x1a\nc|d\n", {("a", "b\x1a"): 1, ("c", "d"): 1}),
    "duplicate rows": ("s|x\n" + "a|b\n" * MANY, {("a", "b"): MANY}),
    "scientific notation": ("s|x\n1e3|1000\n1E3|1000.0\n", {("1e3", "1000"): 1, ("1E3", "1000.0"): 1}),
    "numbers stay text": ("s|x\n007|NaN\n7|null\n", {("007", "NaN"): 1, ("7", "null"): 1}),
    "dates stay text": ("s|x\n2020-01-01|true\n", {("2020-01-01", "true"): 1}),
    "blanks are kept": ("s|x\n a | b \n", {(" a ", " b "): 1}),
    "other scripts": ("s|x\nя|日本\n𝔞|é\n", {("я", "日本"): 1, ("𝔞", "é"): 1}),
    "comments are rows": ("s|x\n#a|b\n", {("#a", "b"): 1}),
    "apostrophes": ("s|x\n'a|b'\n", {("'a", "b'"): 1}),
    "backslashes": ("s|x\na\\|b\\n\n", {("a\\", "b\\n"): 1}),
    "duplicate headers elsewhere": ("s|y|y|x\na|1|2|b\n", {("a", "b"): 1}),
    "empty header names": ("s|||x\na|1|2|b\n", {("a", "b"): 1}),
    "names that differ in case": ("S|s|X|x\n1|a|2|b\n", {("a", "b"): 1}),
    "a cell of 3 MB": (f"s|x\na|{CELL}\nb|c\n", {("a", CELL): 1, ("b", "c"): 1}),
    "a cell of 3 MB elsewhere": (f's|y|x\na|"{CELL}"|b\n', {("a", "b"): 1}),
    "10,000 columns": ("s|x|" + "|".join(map(str, range(9998))) + "\na|b" + "|1" * 9998 + "\n", {("a", "b"): 1}),
    "10,000 empty columns": ("s|x" + "|" * 9998 + "\na|b" + "|" * 9998 + "\n", {("a", "b"): 1}),
    "no value": ("s|x\n|\n", {(MISSING, MISSING): 1}),
}
CELLS, QUOTE, UTF8, EMPTY, COLUMN = "another number of cells", "quote", "not UTF-8", "is empty", "no column"
NO_ROWS, MISSING_TEXT = "no rows to count", "stands for a missing value"
ONLY_COUNTING = (NO_ROWS, MISSING_TEXT, "not of text")

BAD = {
    "short first row": (f"s|x\n{SECRET}\na|b\n", CELLS),
    "short row": (f"s|x\na|b\n{SECRET}\na|b\n", f"row 2 of the data has {CELLS}"),
    "short last row": ("s|x\n" + "a|b\n" * MANY + SECRET, f"row 101 of the data has {CELLS}"),
    "long first row": (f"s|x\na|b|{SECRET}\n", CELLS),
    "long row": (f"s|x\na|b\na|b|{SECRET}\na|b\n", f"row 2 of the data has {CELLS}"),
    "long last row": ("s|x\n" + "a|b\n" * MANY + f"a|b|{SECRET}", f"row 101 of the data has {CELLS}"),
    "a row that sounds like an error": (
        f"s|x\n{SECRET}|Row #7: UTF8|Empty CSV straddles\n",
        f"row 1 of the data has {CELLS}",
    ),
    "a delimiter at the end": (f"s|x\na|{SECRET}|\n", CELLS),
    "no delimiter": (f"{SECRET}\n{SECRET}\n", COLUMN),
    "short row after blank lines": (f"s|x\na|b\n\n\na|b\n{SECRET}\n", f"row 3 of the data has {CELLS}"),
    "short row after a cell of two lines": (f's|x\na|"b\n\nb"\n{SECRET}\n', f"row 2 of the data has {CELLS}"),
    "a quote never closed": (f's|x\na|"{SECRET}\nb|c\n', QUOTE),
    "a quote never closed in the header": (f's|"x\na|{SECRET}\n', f"{QUOTE}|{EMPTY}"),
    "a quote never closed at the end": ("s|x\n" + "a|b\n" * MANY + f'a|"{SECRET}', f"{QUOTE} that.*line 102"),
    "a quote never closed, then one in a cell": (f's|x\na|"{SECRET}\nb|5" wide\n', QUOTE),
    "text after a quote": (f's|x\na|"{SECRET}"b\n', QUOTE),
    "text before a quote": (f's|x\na|b"{SECRET}"\n', QUOTE),
    "a blank before a quote": (f's|x\na| "{SECRET}"\n', QUOTE),
    "a lonely quote": (f's|x\n{SECRET}|5" wide\n', QUOTE),
    "backslash quotes": (f's|x\na|"{SECRET}\\"b"\n', QUOTE),
    "latin-1": (f"s|x\n{SECRET}|caf\xe9\n".encode("latin-1"), f"{UTF8} text in row 1 of the data"),
    "latin-1 header": (f"s|x|caf\xe9\n{SECRET}|b|c\n".encode("latin-1"), UTF8),
    "a broken sequence": (f"s|x\n{SECRET}|".encode() + b"\xe2\x82\n", UTF8),
    "a surrogate": (f"s|x\n{SECRET}|".encode() + b"\xed\xa0\x80\n", UTF8),
    "an overlong sequence": (f"s|x\n{SECRET}|".encode() + b"\xc0\xaf\n", UTF8),
    "UTF-16": (f"s|x\na|{SECRET}\n".encode("utf-16"), f"{UTF8}|{COLUMN}|{CELLS}"),
    "UTF-16 little": (f"s|x\na|{SECRET}\n".encode("utf-16-le"), f"{UTF8}|{COLUMN}|{CELLS}"),
    "UTF-16 big": (f"s|x\na|{SECRET}\n".encode("utf-16-be"), f"{UTF8}|{COLUMN}|{CELLS}"),
    "UTF-32": (f"s|x\na|{SECRET}\n".encode("utf-32"), f"{UTF8}|{COLUMN}|{CELLS}"),
    "duplicate headers": (f"s|x|x\na|b|{SECRET}\n", "'x' occurs more than once"),
    "quoted duplicate headers": (f's|x|"x"\na|b|{SECRET}\n', "'x' occurs more than once"),
    "no header": (f"{SECRET}|a\n{SECRET}|b\n", "is its first row a header"),
    "header with blanks": (f" s| x\n{SECRET}|b\n", COLUMN),
    "header in capitals": (f"S|X\n{SECRET}|b\n", COLUMN),
    "header only": ("s|x\n", NO_ROWS),
    "header and blank lines": ("s|x\n\n\n", NO_ROWS),
    "header without its line end": ("s|x", EMPTY),
    "empty": ("", EMPTY),
    "line ends only": ("\n\n\n", EMPTY),
    "byte order mark only": ("\ufeff", EMPTY),
    "null bytes": ("\0" * 1000, f"{COLUMN}|{EMPTY}"),
    "the missing symbol": (f"s|x\n{SECRET}|{MISSING}\n", MISSING_TEXT),
    "a cell of 10 MB": (f"s|x\n{SECRET}|{HUGE}\n", "row of more than 4 MB"),
    "a cell of 10 MB elsewhere": (f's|y|x\n{SECRET}|"{HUGE}"|b\n', "row of more than 4 MB"),
    "no line ends at all": (SECRET * (MAX_ROW_BYTES // 2), "first row of more than 4 MB"),
    "a header of a million columns": (
        "s|x|" + "|".join(map(str, range(1_000_000))) + f"\na|{SECRET}" + "|1" * 1_000_000 + "\n",
        r"first row of more than 4 MB, with \d{3},\d{3} or more columns",
    ),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), f"{COLUMN}|{UTF8}|{QUOTE}|{CELLS}"),
}
TEXT = [".csv", ".csv.gz", ".tsv", ".tsv.gz"]


def written(folder, ending, text):
    delimiter = "\t" if ".tsv" in ending else ","
    data = (text if isinstance(text, bytes) else text.encode()).replace(b"|", delimiter.encode())
    path = folder / f"table{ending}"
    path.write_bytes(gzip.compress(data, 1) if ending.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("ending", TEXT)
@pytest.mark.parametrize("case", GOOD)
def test_strange_text_is_read_right(tmp_path, case, ending):
    text, expected = GOOD[case]
    delimiter = "\t" if ".tsv" in ending else ","
    accepted(
        written(tmp_path, ending, text),
        {(f"a{delimiter}b", delimiter): 1} if expected == "delimiters" else expected,
    )


@pytest.mark.parametrize("ending", TEXT)
@pytest.mark.parametrize("case", BAD)
def test_broken_text_is_refused(tmp_path, case, ending):
    text, message = BAD[case]
    refused(written(tmp_path, ending, text), message)


@pytest.mark.parametrize(
    ("ending", "sign"), [(".csv", ";"), (".csv", "\t"), (".tsv", ","), (".csv.gz", "|"), (".tsv.gz", ";")]
)
def test_another_separator_is_found(tmp_path, ending, sign):
    path = tmp_path / f"table{ending}"
    data = f's{sign}y{sign}x\na{sign}"1{sign}5"{sign}b\na{sign}{sign}"c;,\t|"\n'.encode()
    path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
    accepted(path, {("a", "b"): 1, ("a", "c;,\t|"): 1})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"s;x\ty\n{SECRET};b\tc\n", "of which one seems to be the separator"),
        (f'"s;x"\n{SECRET}\n', "no column 's', 'x' among the table's 1"),
        (f"s;z\n{SECRET};b\n", "no column 'x' among the table's 2"),
        (f"s;x\n{SECRET}\n", "row 1 of the data has another number of cells"),
    ],
)
def test_a_separator_that_is_not_certain_is_refused(tmp_path, text, words):
    path = tmp_path / "table.csv"
    path.write_text(text)
    refused(path, words)


def test_a_release_reads_what_was_counted(tmp_path):
    rows = [(f"i{i}", "ab"[i % 2], "pqr"[i % 3]) for i in range(60)]
    for name, sign in (("commas.csv", ","), ("semicolons.csv", ";"), ("tabs.csv", "\t")):
        (tmp_path / name).write_text("".join(sign.join(row) + "\n" for row in [("id", "s", "x"), *rows]))
    key = new_key(tmp_path / "key")
    joint = read_joint(tmp_path / "semicolons.csv", sensitive="s", useful="x")
    assert joint == read_joint(tmp_path / "commas.csv", sensitive="s", useful="x")
    plan = Plan(mechanism=design(joint, MaxLift(0.1)), key=key, record_id="id")
    outs = []
    for name in ("commas.csv", "semicolons.csv", "tabs.csv"):
        release(plan, tmp_path / name, out=tmp_path / f"out-{name}")
        outs.append((tmp_path / f"out-{name}").read_text())
        assert audit_release(plan, tmp_path / f"out-{name}", tmp_path / name).kept
    assert outs[0] == outs[1] == outs[2]


def test_a_header_in_quotes_has_its_separator_outside_of_them(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('\n"s";"x";"a, b"\n"a";"b,c";1\n')
    accepted(path, {("a", "b,c"): 1})
    path.write_text('"a long;\nname",s,x\n1,a,b\n')
    accepted(path, {("a", "b"): 1})


def test_one_column_with_a_strange_name_is_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1\n2\n")
    assert read_joint(path, sensitive="a;b", useful="a;b").n == 2


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_rows_are_numbered_right_far_into_a_file(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    rows = MAX_ROW_BYTES // 2
    data = b"s,x\n" + b"a,b\n" * rows + f"{SECRET}\n".encode()
    path.write_bytes(gzip.compress(data, 1) if ending.endswith(".gz") else data)
    refused(path, f"row {rows + 1} of the data has {CELLS}")


def test_text_that_is_not_asked_for_may_be_anything(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("s,x,y\na,b,caf\xe9\n".encode("latin-1"))
    accepted(path, {("a", "b"): 1})


# --- gzip ---

ROWS = f"s,x\na,{SECRET}\n".encode()
PACKED = gzip.compress(b"s,x\n" + f"a,{SECRET}\n".encode() * 5000)


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.8, 0.95])
def test_a_truncated_gzip_file_is_refused(tmp_path, share):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(PACKED[: int(len(PACKED) * share) + 1])
    refused(path, "whole and really gzipped")


@pytest.mark.parametrize(
    "data", [ROWS, PACKED[:-4], PACKED + b"more", PACKED[:20] + b"\0\0\0\0" + PACKED[24:]], ids=range(4)
)
def test_what_is_no_gzip_file_is_refused(tmp_path, data):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(data)
    refused(path, "whole and really gzipped")


def test_a_gzip_file_without_its_ending_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(PACKED)
    refused(path, f"{UTF8}|{COLUMN}|{CELLS}|{QUOTE}|{EMPTY}")


# --- Parquet ---

NESTED = {
    "list": pa.array([[SECRET]]),
    "large list": pa.array([[SECRET]], pa.large_list(pa.string())),
    "struct": pa.array([{"a": SECRET}]),
    "list of structs": pa.array([[{"a": SECRET}]]),
    "map": pa.array([[(SECRET, 1)]], pa.map_(pa.string(), pa.int64())),
    "binary": pa.array([SECRET.encode()]),
    "large binary": pa.array([SECRET.encode()], pa.large_binary()),
    "fixed binary": pa.array([SECRET.encode()], pa.binary(len(SECRET))),
    "time": pa.array([datetime.time(1, 2, 3)]),
    "duration": pa.array([datetime.timedelta(1)]),
}
PLAIN = {
    "text": (pa.array(["=1+1"]), "=1+1"),
    "empty text": (pa.array([""]), ""),
    "text with a null byte": (pa.array(["a\0b"]), "a\0b"),
    "large text": (pa.array(["a"], pa.large_string()), "a"),
    "dictionary": (pa.array(["a"]).dictionary_encode(), "a"),
    "truth": (pa.array([True]), "True"),
    "small integer": (pa.array([-128], pa.int8()), "-128"),
    "large integer": (pa.array([2**64 - 1], pa.uint64()), str(2**64 - 1)),
    "float": (pa.array([1e300]), "1e+300"),
    "negative zero": (pa.array([-0.0]), "0.0"),
    "infinity": (pa.array([float("inf")]), "inf"),
    "not a number": (pa.array([float("nan")]), MISSING),
    "single": (pa.array([0.5], pa.float32()), "0.5"),
    "half": (pa.array([0.5], pa.float16()), "0.5"),
    "decimal": (pa.array([decimal.Decimal("1.50")]), "1.50"),
    "long decimal": (pa.array([decimal.Decimal("1.50")], pa.decimal256(60, 2)), "1.50"),
    "date": (pa.array([datetime.date(2020, 1, 31)]), "2020-01-31"),
    "old date": (pa.array([datetime.date(1, 1, 1)]), "0001-01-01"),
    "moment": (pa.array([datetime.datetime(2020, 1, 31, 12)]), "2020-01-31 12:00:00"),
    "moment in a zone": (pa.array([0], pa.timestamp("us", "Europe/Berlin")), "1970-01-01 01:00:00+01:00"),
    "nanosecond in a zone": (pa.array([1], pa.timestamp("ns", "UTC")), "1970-01-01 00:00:00.000000001+00:00"),
    "null": (pa.array([None], pa.string()), MISSING),
    "only nulls": (pa.nulls(1), MISSING),
    "10 MB": (pa.array([HUGE]), HUGE),
}


def stored(folder, kind, column, **columns):
    table = pa.table({"s": ["a"], "x": column, **columns})
    path = folder / ("table.parquet" if kind == "file" else "parts.csv")
    if kind == "folder":
        path.mkdir()
    parquet.write_table(table, path if kind == "file" else path / "part.parquet")
    return path


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("case", NESTED)
def test_parquet_values_that_are_no_symbols_are_refused(tmp_path, case, kind):
    refused(stored(tmp_path, kind, NESTED[case]), "not of text")


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("case", NESTED)
def test_such_values_elsewhere_do_no_harm(tmp_path, case, kind):
    accepted(stored(tmp_path, kind, pa.array(["b"]), y=NESTED[case]), {("a", "b"): 1})


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("case", PLAIN)
def test_parquet_values_are_read_right(tmp_path, case, kind):
    column, text = PLAIN[case]
    accepted(stored(tmp_path, kind, column), {("a", text): 1})


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_truncated_parquet_is_refused(tmp_path, kind, share):
    path = stored(tmp_path, kind, pa.array([SECRET]))
    file = path if kind == "file" else path / "part.parquet"
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    refused(path, "really a Parquet file")


@pytest.mark.parametrize("change", [lambda d: d[:-4] + b"PAR9", lambda d: d[:-8] + b"\xff" * 4 + d[-4:], lambda d: b""])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_parquet_with_another_end_is_refused(tmp_path, kind, change):
    path = stored(tmp_path, kind, pa.array([SECRET]))
    file = path if kind == "file" else path / "part.parquet"
    file.write_bytes(change(file.read_bytes()))
    refused(path, "really a Parquet file")


@pytest.mark.parametrize("at", range(4, 120, 4))
def test_a_changed_byte_never_tells_a_cell(tmp_path, at):
    path = stored(tmp_path, "file", pa.array([SECRET]))
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0xFF
    path.write_bytes(bytes(data))
    told = str(path)
    try:
        read_joint(path, sensitive="s", useful="x")
    except TableError as error:
        told = str(error)
    assert SECRET not in told
    assert str(path) in told


def test_text_in_parquet_that_is_not_utf8_is_refused(tmp_path):
    bad = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\x02\0\0\0"), pa.py_buffer(b"\xff\xfe"))
    path = tmp_path / "table.parquet"
    parquet.write_table(pa.table({"s": [SECRET], "x": bad}), path)
    with pytest.raises(TableError) as caught:
        read_joint(path, sensitive="s", useful="x")
    assert SECRET not in str(caught.value)


def test_a_parquet_bomb_is_counted_in_little_memory(tmp_path):
    path = tmp_path / "bomb.parquet"
    group = pa.table({c: pa.array(["v" * 100]).dictionary_encode().take(pa.array([0] * 1_000_000)) for c in "sx"})
    with parquet.ParquetWriter(path, group.schema) as writer:
        for _ in range(50):
            writer.write_table(group)
    assert path.stat().st_size * 5000 < 50_000_000 * 2 * 100
    assert read_joint(path, sensitive="s", useful="x").n == 50_000_000


# --- names, folders, permissions ---


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.tsv.gz", "x"])
def test_a_folder_without_parquet_files_is_refused(tmp_path, name):
    path = tmp_path / name
    path.mkdir()
    (path / "rows.csv").write_text(f"s,x\na,{SECRET}\n")
    refused(path, "is a folder without Parquet files")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet"])
def test_a_file_that_may_not_be_read_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text(f"s,x\na,{SECRET}\n")
    path.chmod(0)
    refused(path, "cannot be read")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    refused(tmp_path / "x.csv", "is not a file")


def test_a_name_with_a_line_end_stays_on_one_line(tmp_path):
    path = tmp_path / "two\nlines.csv"
    path.write_text("")
    with pytest.raises(TableError, match="is empty") as caught:
        read_joint(path, sensitive="s", useful="x")
    assert "\n" not in str(caught.value)


def test_a_name_that_is_not_utf8_is_called_that(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
    try:
        with open(path, "w") as file:
            file.write("s,x\na,b\n")
    except OSError:
        pytest.skip("no such names here")
    with pytest.raises(TableError, match="a name that is not UTF-8") as caught:
        read_joint(path, sensitive="s", useful="x")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_name_is_no_pattern(tmp_path, kind):
    for folder in ("a[1]", "a1", "y=2"):
        (tmp_path / folder).mkdir()
        parquet.write_table(pa.table({"s": ["a"], "x": [folder]}), tmp_path / folder / "[p]*=?.parquet")
    end = "[p]*=?.parquet" if kind == "file" else ""
    for folder in ("a[1]", "y=2"):
        accepted(tmp_path / folder / end, {("a", folder): 1})


HEAVY = """
import gzip, resource, sys
from pathlib import Path
import pyarrow as pa
from pyarrow import parquet
from alphalift import MaxLift, TableError, design, read_joint
from alphalift.audit import audit_release
from alphalift.release import Plan, new_key, release
from alphalift.tables import open_table

def peak():
    # Of this program alone, in kilobytes: getrusage would begin with what the process that started it had.
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(status.read_text().partition("VmHWM:")[2].split()[0])

folder = Path(sys.argv[1])
with gzip.open(folder / "bomb.csv.gz", "wb", 6) as file:
    file.write(b"s,x\\n")
    for _ in range(250):
        file.write(b"a,b\\n" * 100_000)
assert (folder / "bomb.csv.gz").stat().st_size * 900 < 100_000_000
with gzip.open(folder / "line.csv.gz", "wb", 6) as file:
    file.write(b"s,x\\na,")
    for _ in range(500):
        file.write(b"c" * 1_000_000)
(folder / "cells.csv").write_text("s,x\\n" + ("a," + "c" * 10_000_000 + "\\n") * 10)
group = pa.table({c: pa.array(["v" * 100]).dictionary_encode().take(pa.array([0] * 1_000_000)) for c in "sx"})
with parquet.ParquetWriter(folder / "bomb.parquet", group.schema) as writer:
    for _ in range(20):
        writer.write_table(group)
del group
for name in ("bomb.csv.gz", "line.csv.gz", "cells.csv", "bomb.parquet"):
    try:
        print(name, read_joint(folder / name, sensitive="s", useful="x").n)
        print(sum(len(b) for b in open_table(folder / name, columns=["s", "x"]).batches(["s", "x"])))
    except TableError as error:
        print(error)
    print(name, peak() // 1024, "MB", file=sys.stderr)
print(peak())
"""


def test_bombs_need_less_than_a_gigabyte(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", HEAVY, str(tmp_path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
    *_, kilobytes = run.stdout.split()
    assert "bomb.csv.gz 25000000\n25000000" in run.stdout
    assert "bomb.parquet 20000000\n20000000" in run.stdout
    assert "row of more than 4 MB" in run.stdout
    assert int(kilobytes) < 1_000_000, run.stderr
