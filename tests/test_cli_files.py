"""What the command line leaves on disk, and what it says when it cannot."""

import gzip
import json
import os
import stat

import pytest
from matplotlib.figure import Figure

from alphalift.cli import main
from alphalift.release import new_key
from alphalift.show.style import save_figure
from alphalift.terminal import OPTIONS, in_words
from test_cli import DESIGN, TABLE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    old = os.umask(0o022)
    yield tmp_path
    os.umask(old)


def run(monkeypatch, capsys, *arguments):
    """The command line in this process: exit code, standard output, standard error."""
    monkeypatch.setattr("sys.argv", ["alphalift", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    told = capsys.readouterr()
    return end.value.code or 0, told.out, told.err


@pytest.fixture
def alphalift(monkeypatch, capsys):
    return lambda *arguments: run(monkeypatch, capsys, *arguments)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_what_has_counts_is_its_owners_alone(folder, alphalift):
    assert alphalift(*DESIGN, "--out", "m.json")[0] == 0
    assert mode(folder / "m.json") == 0o600
    (folder / "m.json").chmod(0o644)
    assert alphalift(*DESIGN, "--out", "m.json")[0] == 0
    assert mode(folder / "m.json") == 0o600, "also where a readable file was"
    (folder / "o.json").write_text("old")
    assert alphalift(*DESIGN, "--out", "shared.json", "--withhold", "o.json")[0] == 0
    assert mode(folder / "o.json") == 0o600
    assert mode(folder / "shared.json") == 0o644, "it is there to be shared"
    assert sorted(os.listdir(folder)) == ["m.json", "o.json", "shared.json", "table.csv"]


def full(path, *_, **__):
    """What a write meets on a disk that is full: half of it is there."""
    with path.open("w") as file:
        file.write("half")
    raise OSError(28, "No space left on device", str(path))


def test_a_design_that_cannot_be_written_leaves_the_old_one(folder, alphalift, monkeypatch):
    (folder / "m.json").write_text("old")
    (folder / "o.json").write_text("old")
    monkeypatch.setattr("pathlib.Path.write_text", full)
    code, _, told = alphalift(*DESIGN, "--out", "m.json", "--withhold", "o.json")
    assert code == 1
    assert "o.json: the disk is full" in told
    assert (folder / "m.json").read_text() == (folder / "o.json").read_text() == "old"
    assert sorted(os.listdir(folder)) == ["m.json", "o.json", "table.csv"]


def test_pictures_of_a_design_are_its_owners_alone(folder, alphalift):
    code, told, _ = alphalift(*DESIGN, "--pictures", "drawn")
    assert code == 0
    shown = ["mechanism", "lifts", "kept", *(["simplex"] if (folder / "drawn" / "simplex.png").exists() else [])]
    names = sorted(f"{name}.{ending}" for name in shown for ending in ("png", "pdf"))
    assert sorted(os.listdir(folder / "drawn")) == names
    for name in names:
        assert f"Written: drawn/{name}" in told
        assert mode(folder / "drawn" / name) == 0o600, "they show shares of the table"
    assert "they are as private as it is" in told


def test_pictures_are_not_drawn_over_a_file_or_into_the_table(folder, alphalift):
    (folder / "parts").mkdir()
    assert "expected a folder" in alphalift(*DESIGN, "--pictures", "table.csv")[2]
    code, _, told = alphalift("design", "parts", *DESIGN[2:], "--pictures", "parts/drawn")
    assert code == 1
    assert "inside the table's own folder" in told
    assert sorted(os.listdir(folder)) == ["parts", "table.csv"]
    assert not os.listdir(folder / "parts")


def test_a_design_never_replaces_a_key_a_ledger_or_what_it_reads(folder, alphalift):
    new_key(folder / "key")
    (folder / "key.ledger").write_bytes(b"SQLite format 3\0" + bytes(84))
    (folder / "colours").write_text("red\nblue\n")
    os.link("table.csv", "same.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    declared = ("--alphabet", "colour=colours")
    for name in ("key", "key.ledger", "table.csv", "same.csv", "colours"):
        for options in (("--out", name), ("--out", "m.json", "--withhold", name)):
            code, _, told = alphalift(*DESIGN, *declared, *options)
            assert code == 1
            assert "choose another name" in told
    for options in (("--out", "m.json", "--withhold", "./m.json"), ("--out", ".", "--withhold", "m.json")):
        assert alphalift(*DESIGN, *options)[0] == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_nothing_is_written_into_a_table_that_is_a_folder(folder, alphalift):
    (folder / "parts").mkdir()
    code, _, told = alphalift("design", "parts", *DESIGN[2:], "--out", "parts/part-0.parquet")
    assert code == 1
    assert "inside the table's own folder" in told


@pytest.mark.parametrize("command", ["curve", "compare"])
def test_a_table_of_figures_that_cannot_be_written_leaves_the_old_one(folder, alphalift, monkeypatch, command):
    options = {"curve": ("--alpha", "inf", "--points", 2), "compare": DESIGN[6:-1]}[command]
    (folder / f"{command}.csv").write_text("old")
    monkeypatch.setattr("pathlib.Path.write_text", full)
    assert alphalift(command, *DESIGN[1:6], *options)[0] == 1
    assert sorted(os.listdir(folder)) == [f"{command}.csv", "table.csv"]
    assert (folder / f"{command}.csv").read_text() == "old"


def test_a_figure_that_cannot_be_drawn_leaves_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_text("old")
    monkeypatch.setattr(Figure, "savefig", lambda _, path, **__: full(path))
    with pytest.raises(OSError, match="No space"):
        save_figure(Figure(), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.png"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "gone.json"), "gone.json: there is no such file"),
        (("verify", "no/such/x.json"), "no/such/x.json: there is no such file"),
        (("verify", "."), "is a folder"),
        (("verify", "table.csv", "--opening", "gone.json"), "gone.json: there is no such file"),
        ((*DESIGN, "--out", "no/such/x.json"), "in a folder that exists"),
        ((*DESIGN, "--out", "table.csv/x.json"), "in a folder that exists"),
        ((*DESIGN, "--bins", "who=3", "--bins", "who=5"), "--bins is given twice for the column 'who'"),
        ((*DESIGN, "--alphabet", "colour=table.csv", "--alphabet", "colour=table.csv"), "--alphabet is given twice"),
        ((*DESIGN, "--alphabet", "colour=latin"), "is not a text in UTF-8"),
        ((*DESIGN, "--alphabet", "colour=short"), "add them to --alphabet"),
        ((*DESIGN, "--bins", "who=three"), "bins are written as"),
        (("design", "table.csv", "-s", "ill", "-u", "who", "--promise", "PML(1) & LIP(1)"), "as --sensitive as well"),
        ((*DESIGN, "-s", "ill"), "--sensitive needs one or more different columns"),
        ((*DESIGN, "--out", "/dev/null"), "a device or pipe"),
        (("curve", *DESIGN[1:6], "--alpha", "3", "--out", "table.csv/x"), "expected a folder"),
        (("curve", *DESIGN[1:6], "--promise", "LIP(1)"), "is 'LIP(1)', expected one of MaxLift"),
        (("curve", *DESIGN[1:6], "--promise", "KL", "--points", 3), "are for --alpha"),
        ((*DESIGN, "--keep", "90%"), "give --keep, --epsilon or --at-most, and no two of them"),
        ((*DESIGN[:-3], "--keep", "90%"), "give --population"),
        ((*DESIGN[:-3], "--population", "--keep", "190%"), "is '190%', expected a share above 0% and at most 100%"),
        ((*DESIGN[:-3], "--population", "--keep", "much"), "is 'much', expected a share"),
        ((*DESIGN[:6], "--population", "--promise", "KL(1)", "--keep", "90%"), "is 'KL(1)', expected one of"),
        (("compare", *DESIGN[1:-1], "--out", "table.csv"), "expected a folder"),
        (("demo", "--out", "table.csv"), "expected a folder"),
        (("reproduce", "--distributions", 1, "--out", "table.csv"), "expected a folder"),
    ],
)
def test_what_is_wrong_is_said_in_our_words(folder, alphalift, arguments, words):
    (folder / "latin").write_bytes(b"caf\xe9\n")
    (folder / "short").write_text("red\n")
    code, out, told = alphalift(*arguments)
    assert code == 1
    assert words in told
    assert "Errno" not in out + told
    assert len(told.strip().splitlines()) == 1


def test_a_file_of_ours_that_is_no_mechanism_is_called_what_it_is(folder, alphalift):
    """From a release of our own, so that the words follow what is really written."""
    assert alphalift(*DESIGN, "--out", "m.json", "--withhold", "o.json")[0] == 0
    assert alphalift("key", "new", "k")[0] == 0
    release = ("--id", "who", "--key", "k", "--out", "y.csv")
    assert alphalift("apply", "m.json", "table.csv", "--opening", "o.json", *release)[0] == 0
    for name, words in (
        ("y.csv.manifest.json", "y.csv.manifest.json is a manifest of a release, not a mechanism"),
        ("y.csv.codebook.json", "is a codebook of a release, not a mechanism"),
        ("o.json", "is the opening of a withheld mechanism, not a mechanism"),
        ("k", "is a key, not a mechanism"),
        ("k.ledger", "is a ledger, not a mechanism"),
    ):
        again = ("--id", "who", "--key", "k", "--out", "z.csv")
        for arguments in (
            ("verify", name),
            ("apply", name, "table.csv", *again),
            ("apply", "m.json", "table.csv", "--opening", "o.json", "--after", name, *again),
        ):
            code, out, told = alphalift(*arguments)
            assert (code, out) == (1, "")
            assert words in told
    for arguments in (("verify", "m.json"), ("apply", "m.json", "table.csv", *release)):
        code, _, told = alphalift(*arguments, "--opening", "m.json")
        assert code == 1
        assert "m.json is a mechanism, not the opening of a withheld mechanism" in told
    assert not (folder / "z.csv").exists()


def test_a_name_that_is_no_text_does_not_stop_the_last_line(folder, alphalift):
    """The file is written by then; a terminal of another encoding must not make that a failure."""
    code, out, told = alphalift(*DESIGN, "--out", os.fsdecode(b"m\xff.json"))
    assert code == 0, told
    assert json.loads((folder / os.fsdecode(b"m\xff.json")).read_text())["format"] == "alphalift-mechanism"
    assert "Written: m" in out


def test_options_of_python_become_those_of_the_command_line_outside_of_quotes():
    assert in_words(ValueError("add them to alphabet=")) == "add them to --alphabet"
    assert in_words(ValueError("done once: one_shot")) == "done once: --one-shot"
    assert in_words(ValueError("no column 'one_shot', 'alphabet='")) == "no column 'one_shot', 'alphabet='"
    assert in_words(ValueError("give new_release=True")) == "give --new-release"
    assert in_words(ValueError('pass missing="drop" here')) == "pass --drop-missing here"
    assert in_words(FileNotFoundError(2, "No such file or directory", "a")) == "a: there is no such file or folder"
    assert in_words(OSError(5, "Input/output error", "a")) == "a: input/output error"
    assert in_words(OSError("something")) == "something"
    assert all(option.startswith(("--", "(")) for option in OPTIONS.values())


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("a.csv", gzip.compress(b"a,b\n1,2\n"), "name it .csv.gz"),
        ("a.tsv", b"PK\x03\x04" + bytes(50), "name it .xlsx"),
        ("a.txt", b"\x89PNG\r\n\x1a\n", "a picture"),
        ("a.csv", b"PAR1" + bytes(20), "name it .parquet"),
    ],
)
def test_what_is_called_a_text_and_is_none(monkeypatch, capsys, tmp_path, name, content, word):
    (tmp_path / name).write_bytes(content)
    code, _, complaint = run(monkeypatch, capsys, "design", str(tmp_path / name), "-s", "a", "-u", "b")
    assert code == 1
    assert word in complaint
