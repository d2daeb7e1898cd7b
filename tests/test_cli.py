"""The command line as a person meets it: real processes, wrong input included."""

import json
import subprocess
import sys
from math import log

import pandas as pd
import pytest

from alphalift.paper.experiment import OPTIMUM, OPTIMUM_EPSILONS

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
    (tmp_path / "ids.csv").write_text("who,ill\n" + "".join(f"p{i},{i % 2}\n" for i in range(120)))
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("colour,ill\n")
    return tmp_path


DESIGN = ("design", "table.csv", "-s", "ill", "-u", "colour", "--alpha", 10, "--epsilon", 0.1, "--population")


def test_design_in_words_and_in_a_file(folder):
    run = alphalift(*DESIGN, "--out", "m.json", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "keeps" in run.stdout
    assert "group, yes (40.0%), becomes at most" in run.stdout
    document = json.loads((folder / "m.json").read_text())
    assert document["promise"] == {"region": "AlphaLift", "alpha": "10", "epsilon": "0.1"}
    assert document["labels"]["x"] == ["blue", "red"]
    assert sum(weight for row in document["weights"] for weight in row[1::2]) == 2 * 2**52
    assert "proven: the promise holds" in run.stdout.lower()


def test_another_utility_is_designed_for_compared_and_drawn(folder):
    worth = ("--utility", "FInformation('hellinger')")
    run = alphalift(*DESIGN, *worth, "--out", "m.json", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "% of the squared Hellinger information in colour (0." in run.stdout
    assert "nats)" not in run.stdout.split("Whatever")[0]
    assert json.loads((folder / "m.json").read_text())["utility"] == {"name": "FInformation", "f": "hellinger"}
    run = alphalift("verify", "m.json", folder=folder)
    assert run.returncode == 0
    assert "utility: E_Y of the squared Hellinger distance of P(X|Y) and P(X) is at least 0." in run.stdout
    columns = ("table.csv", "-s", "ill", "-u", "colour", "--alpha", 10)
    assert alphalift("compare", *columns, "--epsilon", 0.1, *worth, folder=folder).returncode == 0
    assert alphalift("curve", *columns, *worth, "--points", 3, folder=folder).returncode == 0
    kept = {row["epsilon"]: row["normalized_utility"] for row in pd.read_csv(folder / "curve.csv").to_dict("records")}
    assert min(kept.values()) < 0.1
    assert max(kept.values()) == pytest.approx(1)


def test_a_utility_that_is_none_is_one_line(folder):
    run = alphalift(*DESIGN, "--utility", "FInformation('helinger')", folder=folder)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "no f-divergence 'helinger', perhaps 'hellinger'" in run.stderr


def test_what_a_group_may_gain_at_most_is_a_promise(folder):
    run = alphalift(*DESIGN[:6], "--at-most", "1.2", "--population", "--out", "m.json", folder=folder)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(
        "No group may become more than 1.2 times as likely: alpha = inf, epsilon = 0.182321, its"
    )
    assert "the promise alone allows 1.20" in run.stdout
    assert json.loads((folder / "m.json").read_text())["promise"] == {
        "region": "AlphaLift",
        "alpha": "inf",
        "epsilon": "0.182321",
    }
    run = alphalift(*DESIGN[:6], "--at-most", 1.2, "--population", "--json", folder=folder)
    assert json.loads(run.stdout)["promise"]["epsilon"] == "0.182321"
    assert "epsilon = 0.182321" in run.stderr
    run = alphalift("compare", *DESIGN[1:6], "--at-most", "1.2", folder=folder)
    assert "epsilon = 0.182321" in run.stdout
    assert "max-lift is at most e^0.182321" in run.stdout
    for wrong in (["--at-most", "1.2", "--alpha", 10], ["--at-most", "1.2", "--keep", "90%"]):
        run = alphalift(*DESIGN[:6], *wrong, "--population", folder=folder)
        assert run.returncode == 1
        assert "--at-most" in run.stderr


def test_a_promise_on_average_says_of_whom_it_is(folder):
    promise = ("--promise", "OnAverage(KL(0.001)) & MaxLift(1)")
    run = alphalift(*DESIGN[:6], *promise, "--population", folder=folder)
    assert "The population: the table is everybody" in run.stdout
    assert "nobody else" in run.stdout
    assert "they are a sample" not in run.stdout
    # I(S;X) as a share of the budget, by hand from the table's counts.
    told = sum(
        n / 20 * log(20 * n / (row * column)) for n, row, column in ((6, 8, 9), (3, 12, 9), (2, 8, 11), (9, 12, 11))
    )
    assert f"Publishing colour unchanged would be {told / 0.001:.0f} times what is promised." in run.stdout
    run = alphalift(*DESIGN[:6], *promise, folder=folder)
    assert "The population: not covered, since no margin for chance is known for OnAverage" in run.stdout
    run = alphalift(*DESIGN[:6], *promise, "--confidence", "95%", folder=folder)
    assert run.returncode == 1
    assert "no promise on average has one; without a confidence it is about the records alone" in run.stderr


def test_an_identifier_is_designed_for_if_one_insists(folder):
    run = alphalift("design", "ids.csv", "-s", "ill", "-u", "who", *GOOD[-5:], "--anyway", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "keeps" in run.stdout


def test_verify_proves_every_claim_or_exits_with_1(folder):
    alphalift(*DESIGN, "--out", "m.json", folder=folder)
    good = alphalift("verify", "m.json", folder=folder)
    assert good.returncode == 0, good.stdout
    assert [line.split()[:2] for line in good.stdout.splitlines()] == [
        *(["proven", name] for name in ("form:", "promise:", "unseen", "utility:", "optimum:")),
        ["stated", "population:"],
    ]
    text = (folder / "m.json").read_text()
    (folder / "bad.json").write_text(text.replace('"epsilon":"0.1"', '"epsilon":"0.09"'))
    bad = alphalift("verify", "bad.json", folder=folder)
    assert bad.returncode == 1
    assert "NOT PROVEN  promise" in bad.stdout
    assert alphalift("verify", "table.csv", folder=folder).returncode == 1
    assert alphalift("verify", "nothing.json", folder=folder).returncode == 1


def test_verdicts_and_comparisons_as_json_for_other_programs(folder):
    alphalift(*DESIGN, "--out", "m.json", folder=folder)
    run = alphalift("verify", "m.json", "--json", folder=folder)
    assert run.returncode == 0
    told = json.loads(run.stdout)
    words = alphalift("verify", "m.json", folder=folder).stdout
    assert told["proven"] is True
    assert [claim["claim"] for claim in told["claims"]] == ["form", "promise", "unseen values", "utility", "optimum"]
    assert all(claim["proven"] and f"proven  {claim['claim']}: {claim['text']}\n" in words for claim in told["claims"])
    assert f"stated  {told['stated']}\n" in words
    document = json.loads((folder / "m.json").read_text())
    document["promise"]["epsilon"] = "0.0001"
    (folder / "forged.json").write_text(json.dumps(document))
    (folder / "torn.json").write_text("{")
    for name in ("forged.json", "torn.json"):
        run = alphalift("verify", name, "--json", folder=folder)
        assert run.returncode == 1
        assert json.loads(run.stdout)["proven"] is False
        assert not all(claim["proven"] for claim in json.loads(run.stdout)["claims"])
        assert json.loads(run.stdout)["stated"] is None
    run = alphalift("compare", *DESIGN[1:-1], "--json", "--out", "c", folder=folder)
    assert run.returncode == 0
    found = json.loads(run.stdout)
    rows = pd.read_csv(folder / "c" / "compare.csv")
    assert [row["name"] for row in found["mechanisms"]] == rows["name"].tolist()
    assert [row["normalized_utility"] for row in found["mechanisms"] if row["outputs"]] == pytest.approx(
        rows["normalized_utility"].dropna().tolist()
    )
    best = next(row for row in found["mechanisms"] if row["name"] == "optimum")
    assert best["normalized_utility"] <= found["bound"] <= best["normalized_utility"] + 1e-3
    assert found["promise"] == "AlphaLift(alpha=10.0, epsilon=0.1)"
    assert "Written: " in run.stderr


def test_a_withheld_joint_is_verified_only_with_its_opening(folder):
    alphalift(*DESIGN, "--out", "m.json", "--withhold", "opening.json", folder=folder)
    assert "counts" not in json.loads((folder / "m.json").read_text())["joint"]
    assert alphalift("verify", "m.json", folder=folder).returncode == 1
    assert alphalift("verify", "m.json", "--opening", "opening.json", folder=folder).returncode == 0


def test_design_as_json_for_other_programs(folder):
    run = alphalift(
        "design",
        "table.csv",
        "-s",
        "ill",
        "-u",
        "colour",
        "--alpha",
        "inf",
        "--epsilon",
        0.1,
        "--json",
        "--population",
        folder=folder,
    )
    assert json.loads(run.stdout)["promise"]["alpha"] == "inf"


CURVE = ("curve", "table.csv", "-s", "ill", "-u", "colour", "--alpha", "inf", "--alpha", 3, "--points", 5)


def test_curve(folder):
    run = alphalift(*CURVE, "--out", "c", folder=folder)
    assert run.returncode == 0, run.stderr
    assert (folder / "c" / "curve.csv").read_text().startswith("joint,region,alpha,epsilon,utility")
    assert (folder / "c" / "curve.png").stat().st_size > 5000


def test_a_certified_curve(folder):
    run = alphalift(*CURVE[:6], "--alpha", 3, "--alpha", "inf", "--accuracy", 0.02, "--out", "c", folder=folder)
    assert run.returncode == 0, run.stderr
    assert "At every epsilon the optimum is known to within" in run.stdout
    assert "not 0.02" not in run.stdout
    frame = pd.read_csv(folder / "c" / "curve.csv")
    assert list(frame.columns) == ["alpha", "epsilon", "lower", "upper", "below", "above", "rarest_group_at_most"]
    assert frame["alpha"].unique().tolist() == [float("inf"), 3.0]
    assert (frame["upper"] - frame["lower"]).between(0, 0.02).all()
    assert (folder / "c" / "curve.pdf").stat().st_size > 5000


def test_the_epsilon_for_a_wish_is_found_and_proven(folder):
    run = alphalift(*DESIGN[:8], "--population", "--keep", "90%", "--out", "m.json", folder=folder)
    assert run.returncode == 0, run.stderr
    epsilon = json.loads((folder / "m.json").read_text())["promise"]["epsilon"]
    (said,) = [line for line in run.stdout.splitlines() if line.startswith("epsilon = ")]
    assert said.startswith(f"epsilon = {epsilon} keeps 90%, at epsilon = {float(epsilon) - 0.0005:g} no mechanism does")
    assert "as floats estimate" in said, "two secrets have no certified float bound"
    assert alphalift("verify", "m.json", folder=folder).returncode == 0
    again = alphalift(*DESIGN[:8], "--population", "--epsilon", epsilon, folder=folder)
    assert "It keeps 90." in again.stdout


def test_a_curve_is_resumed_and_shared_with_the_same_bytes(folder):
    first = alphalift(*CURVE, "--out", "a", "--workers", 2, "--resume", "cells", folder=folder)
    assert first.returncode == 0, first.stderr
    assert "Resumed" not in first.stdout
    again = alphalift(*CURVE, "--out", "b", "--resume", "cells", folder=folder)
    assert "Resumed: 12 of 12 cells were in cells" in again.stdout
    assert (folder / "a" / "curve.csv").read_bytes() == (folder / "b" / "curve.csv").read_bytes()


def test_reproduce_writes_everything(folder):
    run = alphalift("reproduce", "--distributions", 1, "--seed", 4, "--out", "r", folder=folder)
    assert run.returncode == 0, run.stderr
    names = {path.name for path in (folder / "r").iterdir()}
    assert names == {
        "figure1.png",
        "figure1.pdf",
        "figure1.csv",
        "optimum.csv",
        "epsilon_max.csv",
        "claims.md",
        "run.json",
    }
    assert len((folder / "r" / "figure1.csv").read_text().splitlines()) == 951
    optimum = pd.read_csv(folder / "r" / "optimum.csv")
    assert len(optimum) == 5 * len(OPTIMUM_EPSILONS)
    gap = optimum["upper_bound_mean"] - optimum["optimum_mean"]
    assert gap.between(0, 1.001 * OPTIMUM.relative_gap).all()
    assert (optimum["distance_mean"] == optimum["distance_max"]).all()  # of a single joint
    assert (optimum["distance_mean"] >= -OPTIMUM.relative_gap).all()
    settings = json.loads((folder / "r" / "run.json").read_text())["optimum"]
    assert settings["epsilons"] == list(OPTIMUM_EPSILONS)
    assert settings["largest_gap"] == pytest.approx(gap.max(), abs=1e-8)


GOOD = ["design", "table.csv", "-s", "ill", "-u", "colour", "--population", "--alpha", "3", "--epsilon", "0.1"]


def but(old, new):
    return [new if argument == old else argument for argument in GOOD]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (but("3", "1"), 1, "alpha is 1, expected a number above 1"),
        (but("3", "nan"), 1, "alpha is not a finite number; expected a number above 1, or inf"),
        (but("3", "ten"), 1, "alpha is not a finite number; expected a number above 1, or inf"),
        (but("0.1", "-1"), 1, "epsilon is -1"),
        (but("0.1", "nan"), 1, "epsilon is not a finite number"),
        (but("0.1", "inf"), 1, "epsilon is inf"),
        (but("0.1", "much"), 1, "epsilon is not a finite number; expected a number from 0 to 1000"),
        (but("ill", "sick"), 1, "no column 'sick' among the table's 3"),
        (but("table.csv", "gone.csv"), 1, "no such file"),
        (but("table.csv", "."), 1, "is a folder"),
        (but("table.csv", "empty.csv"), 1, "is empty"),
        (but("table.csv", "header.csv"), 1, "no rows"),
        ([*GOOD, "--out", "no/such/folder/m.json"], 1, "in a folder that exists"),
        ([*GOOD, "--out", "table.csv"], 1, "table.csv is one of the files that are read or written already"),
        (["design", "ids.csv", "-s", "ill", "-u", "who", *GOOD[-4:]], 1, "or go on with --anyway"),
        (but("0.1", "1e308"), 1, "expected a number from 0 to 1000"),
        (GOOD[:-2], 1, "--alpha 3 needs --epsilon beside it"),
        (["reproduce", "--distributions", "0"], 2, "distributions"),
        ([*CURVE, "--workers", "0"], 2, "workers"),
        ([*CURVE, "--workers", "2", "--dask", "tcp://127.0.0.1:9"], 1, "not both"),
        ([*CURVE, "--dask", "nowhere"], 1, "no Dask scheduler at 'nowhere'"),
        ([*CURVE, "--resume", "table.csv"], 1, "table.csv is a file"),
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
