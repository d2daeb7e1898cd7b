"""The command line as a person meets it: real processes, wrong input included."""

import json
import subprocess
import sys

import pytest

TABLE = "who,colour,ill\n" + "".join(
    f"{i},{colour},{ill}\n"
    for i, (colour, ill) in enumerate(
        [("red", "yes")] * 6 + [("red", "no")] * 3 + [("blue", "yes")] * 2 + [("blue", "no")] * 9
    )
)


def alphalift(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-m", "alphalift", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=400,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("colour,ill\n")
    return tmp_path


def test_design_in_words_and_in_a_file(folder):
    run = alphalift(
        "design",
        "table.csv",
        "-s",
        "ill",
        "-u",
        "colour",
        "--alpha",
        10,
        "--epsilon",
        0.1,
        "--out",
        "m.json",
        folder=folder,
    )
    assert run.returncode == 0, run.stderr
    assert "keeps" in run.stdout
    assert "group, yes (40.0%), becomes at most" in run.stdout
    document = json.loads((folder / "m.json").read_text())
    assert document["region"] == {"name": "AlphaLift", "alpha": 10.0, "epsilon": 0.1}
    assert document["leakage"] <= 0.1 + 1e-12
    assert document["x_labels"] == ["blue", "red"]
    for column in zip(*document["p_y_given_x"], strict=True):
        assert sum(column) == pytest.approx(1)


def test_design_as_json_for_other_programs(folder):
    run = alphalift(
        "design", "table.csv", "-s", "ill", "-u", "colour", "--alpha", "inf", "--epsilon", 0.1, "--json", folder=folder
    )
    assert json.loads(run.stdout)["region"]["alpha"] == "inf"


def test_curve(folder):
    run = alphalift(
        "curve",
        "table.csv",
        "-s",
        "ill",
        "-u",
        "colour",
        "--alpha",
        "inf",
        "--alpha",
        3,
        "--points",
        5,
        "--out",
        "c",
        folder=folder,
    )
    assert run.returncode == 0, run.stderr
    assert (folder / "c" / "curve.csv").read_text().startswith("joint,region,alpha,epsilon,utility")
    assert (folder / "c" / "curve.png").stat().st_size > 5000


def test_reproduce_writes_everything(folder):
    run = alphalift("reproduce", "--distributions", 1, "--seed", 4, "--out", "r", folder=folder)
    assert run.returncode == 0, run.stderr
    names = {path.name for path in (folder / "r").iterdir()}
    assert names == {"figure1.png", "figure1.pdf", "figure1.csv", "epsilon_max.csv", "claims.md", "run.json"}
    assert len((folder / "r" / "figure1.csv").read_text().splitlines()) == 951


GOOD = ["design", "table.csv", "-s", "ill", "-u", "colour", "--alpha", "3", "--epsilon", "0.1"]


def but(old, new):
    return [new if argument == old else argument for argument in GOOD]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (but("3", "1"), 1, "alpha is 1, expected a number above 1"),
        (but("3", "nan"), 1, "alpha is nan"),
        (but("0.1", "-1"), 1, "epsilon is -1"),
        (but("0.1", "nan"), 1, "epsilon is nan"),
        (but("0.1", "inf"), 1, "epsilon is inf"),
        (but("0.1", "much"), 2, "Error"),
        (but("ill", "sick"), 1, "no column 'sick' among the table's 3"),
        (but("table.csv", "gone.csv"), 1, "no such file"),
        (but("table.csv", "."), 1, "is a folder"),
        (but("table.csv", "empty.csv"), 1, "is empty"),
        (but("table.csv", "header.csv"), 1, "no rows"),
        ([*GOOD, "--out", "no/such/folder/m.json"], 1, "in a folder that exists"),
        ([*GOOD, "--out", "table.csv"], 1, "is the table itself"),
        (but("0.1", "1e308"), 0, ""),
        (GOOD[:-2], 2, "Missing option '--epsilon'"),
        (["reproduce", "--distributions", "0"], 2, "distributions"),
        (["fly"], 2, "No such command"),
    ],
)
def test_wrong_input_is_one_line_and_never_a_traceback(folder, arguments, code, message):
    run = alphalift(*arguments, folder=folder)
    assert run.returncode == code
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    if code == 1:
        assert len(run.stderr.strip().splitlines()) == 1
