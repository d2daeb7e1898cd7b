"""What the command line chooses, cautions about and says beside: in this process, so that many wrong calls are cheap."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from math import exp, inf
from pathlib import Path

import numpy as np
import pytest
import typer
import xlsxwriter

from alphalift import PML, AlphaLift, Joint, MaxLift
from alphalift.cli import app, main
from alphalift.given import USUAL_MOST, Asked, asked_kind, chosen_words, most_gained, region_of
from alphalift.show.caution import FEW_OF_GROUP, FEW_RECORDS, SMALL_CELL, cautions
from alphalift.show.rarest import gains_table, rarest_gain, with_gains

ROWS = [("red", "yes", 1)] * 60 + [("red", "no", 1)] * 40 + [("green", "yes", 2)] * 45 + [("green", "no", 2)] * 60
ROWS += [("blue", "yes", 3)] * 25 + [("blue", "no", 3)] * 90


@pytest.fixture
def alphalift(tmp_path, monkeypatch, capsys):
    """Runs a command line in a folder with tables; its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{i},{colour},{ill},{place}" for i, (colour, ill, place) in enumerate(ROWS)]
    (tmp_path / "table.csv").write_text("\n".join(["who,colour,ill,place", *lines]) + "\n")
    (tmp_path / "semi.txt").write_text("\n".join(["who,colour,ill,place", *lines]).replace(",", "~") + "\n")
    (tmp_path / "bad.json").write_text('{"format": "alphalift-mechanism", "joint": 1}')
    (tmp_path / "half.json").write_text("{")
    (tmp_path / "order.txt").write_text("red\ngreen\nblue\n")
    (tmp_path / "levels.csv").write_text("red,warm\ngreen,cold\nblue,cold\n")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["alphalift", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


COLUMNS = ("table.csv", "-s", "ill", "-u", "colour")
QUICK = ("--population", "--no-advice")


def test_without_a_promise_no_group_gains_more_than_half_and_it_is_said_why(alphalift):
    code, out, _ = alphalift("design", *COLUMNS, "--no-advice", "--out", "m.json")
    assert code == 0
    assert out.startswith(f"Chosen, since no promise was named: --at-most {USUAL_MOST}.")
    assert "holds for every group, however rare" in out
    with open("m.json") as file:
        promise = json.load(file)["promise"]
    assert promise == {"region": "AlphaLift", "alpha": "inf", "epsilon": most_gained(USUAL_MOST)} or promise[
        "epsilon"
    ] == most_gained(USUAL_MOST)
    assert region_of(None, None, None, None) == MaxLift(most_gained("1.5"))
    assert exp(float(most_gained("1.5"))) <= 1.5
    code, out, err = alphalift("compare", *COLUMNS, "--json", "--out", "c")
    assert code == 0
    assert json.loads(out)
    assert "Chosen, since no promise was named" in err


def test_what_was_chosen_is_said_only_where_something_was():
    assert chosen_words(MaxLift(0.3), None, "MaxLift(0.3)", None) == ""
    assert chosen_words(AlphaLift(10, 0.3), None, None, "10") == ""
    said = chosen_words(region_of(None, None, None, "2"), "2", None, None)
    assert said.startswith("No group may become more than 2 times as likely: alpha = inf, epsilon = 0.6931")


def test_similar_values_first_by_order_by_numbers_and_by_levels(alphalift):
    asked = ("design", *COLUMNS, "--at-most", "1.2", *QUICK, "--give-up", "5%")
    for order in (
        ("--ordered", "colour", "--alphabet", "colour=order.txt"),
        ("--ordered", "colour=place"),
        ("--hierarchy", "colour=levels.csv"),
    ):
        code, out, err = alphalift(*asked, *order, "--out", "m.json")
        assert (code, err) == (0, "")
        assert "Similar values first: two people with the same output have values of colour that are " in out
        assert alphalift("verify", "m.json")[0] == 0


def test_chosen_bins_disclose_that_they_are(alphalift):
    code, out, _ = alphalift(
        "design",
        "table.csv",
        "-s",
        "ill",
        "-u",
        "who",
        "--bins",
        "who=quantiles:3",
        "--at-most",
        "1.5",
        *QUICK,
        "--out",
        "m.json",
    )
    assert code == 0
    assert "The bin edges of who are computed from the table: they tell something about its records" in out
    with open("m.json") as file:
        assert "bins with edges computed from the table for who" in json.load(file)["provenance"]["solver"]
    code, out, _ = alphalift(
        "design",
        "table.csv",
        "-s",
        "ill",
        "-u",
        "who",
        "--bins",
        "who=100,200",
        "--at-most",
        "1.5",
        *QUICK,
        "--out",
        "m.json",
    )
    assert "computed from the table" not in out


def test_excel_and_a_separator_that_is_told(alphalift, tmp_path):
    book = xlsxwriter.Workbook(tmp_path / "t.xlsx")
    for name in ("empty", "people"):
        sheet = book.add_worksheet(name)
    sheet.write_row(0, 0, ("who", "colour", "ill", "place"))
    for row, (colour, ill, place) in enumerate(ROWS, 1):
        sheet.write_row(row, 0, (row, colour, ill, place))
    book.close()
    rest = (*COLUMNS[1:], "--at-most", "1.2", *QUICK)
    plain = alphalift("design", "table.csv", *rest)
    assert plain[0] == 0
    assert alphalift("design", "semi.txt", "--separator", "~", *rest) == plain
    assert alphalift("design", "t.xlsx", "--sheet", "people", *rest) == plain
    assert "name the one to read with --sheet" in alphalift("design", "t.xlsx", *rest)[2]


def test_a_released_table_and_a_key_in_json(alphalift):
    assert alphalift("design", *COLUMNS, "--at-most", "1.2", *QUICK, "--out", "m.json")[0] == 0
    key = json.loads(alphalift("key", "new", "k", "--json")[1])
    assert key["written"] == ["k", "k.ledger"]
    released = alphalift(
        "apply", "m.json", "semi.txt", "--separator", "tab", "--id", "who", "--key", "k", "--out", "r.csv", "--json"
    )
    assert released[0] == 1  # the header has no tab
    code, out, _ = alphalift(
        "apply", "m.json", "semi.txt", "--separator", "~", "--id", "who", "--key", "k", "--out", "r.csv", "--json"
    )
    assert code == 0
    assert json.loads(out)["records"] == len(ROWS)
    assert json.loads(out)["written"][0] == "r.csv"
    code, out, _ = alphalift("report", "m.json", "--out", "r.html", "--curve-seconds", 0, "--json")
    assert (code, json.loads(out)) == (0, {"written": ["r.html"], "private": True})
    code, out, _ = alphalift(
        "audit",
        "release",
        "r.csv",
        "--mechanism",
        "m.json",
        "--table",
        "semi.txt",
        "--separator",
        "~",
        "--key",
        "k",
        "--id",
        "who",
        "--json",
    )
    assert (code, json.loads(out)["kept"]) == (0, True)


def test_the_curve_shows_what_the_rarest_group_may_gain(alphalift):
    code, out, _ = alphalift(
        "curve", *COLUMNS, "--alpha", "inf", "--alpha", "3", "--accuracy", "0.1", "--out", "c", "--json"
    )
    assert code == 0
    rows = json.loads(out)
    with open("c/curve.csv") as file:
        assert [float(row["rarest_group_at_most"]) for row in csv.DictReader(file)] == pytest.approx(
            [row["rarest_group_at_most"] for row in rows]
        )
    share = sum(ill == "yes" for _, ill, _ in ROWS) / len(ROWS)
    for row in rows:
        alpha = inf if row["alpha"] is None else row["alpha"]
        most = min(exp(row["epsilon"]) * share ** (-1 / alpha), 1 / share)
        assert 1 <= row["rarest_group_at_most"] <= most * (1 + 1e-9)
        if alpha == inf:
            assert row["rarest_group_at_most"] == pytest.approx(most, rel=1e-6)


def test_what_the_rarest_group_gains_is_what_some_release_gives_it():
    """Over posteriors of two groups: the largest lift that alpha-lift allows, by brute force."""
    joint = Joint([[1, 2, 2], [30, 20, 45]], counts=True)
    p = joint.p_s.min()
    lifts = np.linspace(0, 1 / p, 200_001)
    both = np.stack([lifts, (1 - p * lifts) / (1 - p)], axis=1)
    for region in (AlphaLift(10, 0.3), AlphaLift(2, 0.5), MaxLift(0.4), AlphaLift(3, 9)):
        allowed = lifts[region.allows(both, np.array([p, 1 - p]))].max()
        assert rarest_gain(region, joint) == pytest.approx(allowed, rel=1e-3)
    assert rarest_gain(MaxLift(0), joint) == 1.0


def test_a_curve_about_x_is_told_of_its_rarest_value():
    joint = Joint([[1, 20, 30], [4, 20, 25]], ["s", "t"], ["few", "some", "many"], counts=True)
    asked = asked_kind("PML", ())
    assert asked == Asked(PML, {})
    import pandas as pd

    frame = with_gains(pd.DataFrame({"epsilon": [0.1, 0.5], "lower": [0.1, 0.2], "upper": [0.1, 0.3]}), joint, PML)
    assert frame["rarest_group_at_most"].tolist() == pytest.approx([exp(0.1), exp(0.5)])
    said = gains_table(frame, asked.about(joint), **asked.called("illness", "colour"))
    assert "rarest value of colour gain, few (5.0%)" in said
    assert "20.0% to 30.0% kept; up to 1.65 times" in said


def test_cautions_are_those_of_the_counts_and_tell_no_count():
    counts = np.array([[3, 50, 40], [60, 2, 0], [20, 2, 30]])
    joint = Joint(counts, ["a", "b", "c"], ["x", "y", "z"], counts=True)
    lines = cautions(joint, secret="s", useful="u")
    small = int(((counts > 0) & (counts < SMALL_CELL)).sum())
    assert f"{small} of the {counts.size} combinations of s and u" in "\n".join(lines)
    assert (counts.sum() < FEW_RECORDS) == any("few records" in line for line in lines)
    rare = [name for name, row in zip("abc", counts, strict=True) if row.sum() < FEW_OF_GROUP]
    assert not rare
    assert not any("rare groups" in line for line in lines)
    assert cautions(Joint(counts * 100, counts=True), secret="s", useful="u") == []
    assert cautions(Joint([[0.5, 0.2], [0.1, 0.2]]), secret="s", useful="u") == []
    few = cautions(Joint([[300, 200], [20, 3]], ["many", "few"], ["x", "y"], counts=True), secret="s", useful="u")
    assert ["rare groups: few of s has" in line for line in few].count(True) == 1
    thin = cautions(Joint([[300, 2], [200, 2]], counts=True), secret="s", useful="u")
    assert any("rare values: 1 of the 2 values of u" in line for line in thin)


WRONG = {
    ("design", *COLUMNS, "--alpha", "10"): "--alpha 10 needs --epsilon beside it",
    ("design", *COLUMNS, "--epsilon", "0.1"): "--epsilon 0.1 needs --alpha beside it",
    ("design", *COLUMNS, "--epsilon", "0.1", "--promise", "KL(1)"): "in one of these ways only",
    ("design", *COLUMNS, "--ordered", "place"): "'place', which is no useful column",
    ("design", *COLUMNS, "--ordered", "colour"): "declare its values in their order with --alphabet",
    ("design", *COLUMNS, "--ordered", "colour=who"): "no single number beside each value",
    ("design", *COLUMNS, "--ordered", "colour=size"): "no column 'size'",
    ("design", *COLUMNS, "--ordered", "colour", "--hierarchy", "colour=levels.csv"): "name it once",
    ("design", *COLUMNS, "--hierarchy", "colour=none.csv"): "with a file that exists",
    ("design", *COLUMNS, "--hierarchy", "colour=order.txt", "--give-up", "120%"): "--give-up is '120%'",
    ("design", *COLUMNS, "--give-up", "1%"): "give --ordered or --hierarchy as well",
    ("design", *COLUMNS, "--bins", "colour=quantiles:x"): "'column=18,30,65'",
    ("design", *COLUMNS, "--bins", "colour=quantiles:200"): "2 to 100 bins",
    ("design", *COLUMNS, "--separator", "ab"): "a separator is one sign",
    ("design", *COLUMNS, "--separator", ";"): "is its first row a header?",
    ("design", *COLUMNS, "--sheet", "people"): "has no sheets",
    ("design", *COLUMNS, "--keep", "90%", "--population", "--alpha", "3", "--promise", "KL"): "not both",
    ("curve", *COLUMNS, "--alpha", "0.5"): "alpha",
    ("curve", *COLUMNS, "--alpha", "x"): "alpha",
    ("curve", *COLUMNS, "--alpha", "3", "--promise", "KL"): "not both",
    ("curve", *COLUMNS, "--points", "3", "--promise", "KL"): "are for --alpha",
    ("compare", *COLUMNS, "--alphabet", "colour=levels.csv"): "outside of its alphabet",
    ("apply", "table.csv", "table.csv", "--out", "o.csv"): "--one-shot",
    ("estimate", "table.csv", "none.json"): "there is no such file",
    ("audit", "channel", "none.csv", "--promise", "KL(1)"): "there is no such file",
    (
        "audit",
        "samples",
        "table.csv",
        "-s",
        "ill",
        "--released",
        "color",
        "--promise",
        "KL(1)",
    ): "did you mean 'colour'",
    ("report", "none.json", "--out", "r.html"): "there is no such file",
    ("key", "new", "table.csv"): "exists already",
    ("design", "bad.json", *COLUMNS[1:]): "is a mechanism, not a table",
    ("audit", "channel", "bad.json"): "is no mechanism that could be audited",
    ("audit", "channel", "half.json"): "is no mechanism that could be audited",
    ("apply", "bad.json", "table.csv", "--id", "who", "--key", "table.csv", "--out", "o.csv"): "is not a key",
    ("design", *COLUMNS, "--hierarchy", "colour=table.csv"): "3 of the 3 values: not in the hierarchy",
}


@pytest.mark.parametrize(("call", "words"), WRONG.items(), ids=[" ".join(call) for call in WRONG])
def test_what_is_wrong_is_one_line_that_says_what_to_do(alphalift, call, words):
    code, out, err = alphalift(*call)
    assert code in (1, 2)
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("alphalift: ")
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["bad.json", "half.json"])
def test_a_file_that_is_no_mechanism_is_no_answer_of_an_audit(alphalift, name):
    """Exit code 1 would say that a promise is not kept."""
    assert alphalift("audit", "channel", name)[0] == 2


def commands(group, names=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*names, name))
        else:
            yield " ".join((*names, name)), command


def test_every_command_answers_in_json_and_one_idea_has_one_name():
    """An option that several commands have means the same, is said alike, and has the same letters."""
    found = {}
    for name, command in commands(typer.main.get_command(app)):
        options = {option for parameter in command.params for option in parameter.opts}
        assert "--json" in options or name == "serve", name
        if "--sensitive" in options and name != "audit channel":
            assert {"-s", "--separator", "--sheet", "--bins", "--drop-missing"} <= options, name
        for parameter in command.params:
            for option in parameter.opts:
                found.setdefault(option, set()).add(parameter.name)
    assert {option: names for option, names in found.items() if len(names) > 1 and option.startswith("--")} == {
        "--opening": {"opening", "openings"}
    }


def test_every_command_of_the_page_about_the_command_line_runs(alphalift, tmp_path):
    page = (Path(__file__).parent.parent / "docs" / "commands.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    assert len(lines) == 4
    rows = [(i % 2, i % 3, i * i % 3) for i in range(300)]
    names = (("low", "high"), ("first", "second", "third"), ("baker", "smith", "miller"))
    (tmp_path / "people.csv").write_text(
        "income,education,years,job\n"
        + "".join(f"{names[0][s]},{names[1][e]},{e + 1},{names[2][j]}\n" for s, e, j in rows)
    )
    (tmp_path / "order.txt").write_text("first\nsecond\nthird\n")
    (tmp_path / "levels.csv").write_text("baker,food\nmiller,food\nsmith,metal\n")
    for line in lines:
        command, *arguments = shlex.split(line)
        assert command == "alphalift"
        code, out, err = alphalift(*arguments, "--no-advice")
        assert (code, err) == (0, "")
        assert "Designed: " in out


def test_completion_knows_commands_and_options():
    environment = {
        **os.environ,
        "_ALPHALIFT_COMPLETE": "complete_bash",
        "COMP_WORDS": "alphalift design --sep",
        "COMP_CWORD": "2",
    }
    code = "import sys; sys.argv = ['alphalift']; from alphalift.__main__ import main; main()"
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100)
    assert run.stdout.split() == ["--separator"]
