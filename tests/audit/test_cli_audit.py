"""`alphalift audit`, as a person or a build runs it: what it prints, and the code that it ends with."""

import json

import numpy as np
import pandas as pd
import pytest

from alphalift.release import new_key
from test_cli_files import run

PEOPLE = 4000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of a secret s, a useful x, and releases of x: fair, telling, and peeking at s."""
    folder, rng = tmp_path_factory.mktemp("audit"), np.random.default_rng(0)
    s = rng.integers(0, 2, PEOPLE)
    x = np.where(rng.random(PEOPLE) < 0.6, s, rng.integers(0, 3, PEOPLE))
    table = pd.DataFrame(
        {
            "id": [f"{i:05d}" for i in range(PEOPLE)],
            "s": np.array(["ill", "well"])[s],
            "x": np.array(["cook", "clerk", "smith"])[x],
            "fair": (rng.random(PEOPLE) < 0.45 + 0.05 * x).astype(int),
            "told": x,
            "peeked": (rng.random(PEOPLE) < 0.3 + 0.05 * x + 0.2 * s).astype(int),
        }
    )
    table.to_csv(folder / "t.csv", index=False)
    (folder / "p.csv").write_text("y,clerk,cook,smith\nlow,0.6,0.5,1/2\nhigh,0.4,0.5,1/2\n")
    (folder / "j.csv").write_text("s,clerk,cook,smith\nill,10,20,5\nwell,20,10,5\n")
    return folder


@pytest.fixture
def audit(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    return lambda *arguments: run(monkeypatch, capsys, "audit", *arguments)


@pytest.fixture
def alphalift(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    return lambda *arguments: run(monkeypatch, capsys, *arguments)


def test_a_channel_is_kept_or_not(audit):
    code, told, _ = audit("channel", "p.csv", "--joint", "j.csv", "--promise", "MaxLift(0.1)")
    assert code == 0
    assert told.startswith(
        "Read: a row for each output.\nPromise about the secret: max-lift is at most e^0.1.\nKept: proven"
    )
    assert "Sibson information, alpha=3" in told
    code, told, _ = audit("channel", "p.csv", "--joint", "j.csv", "--promise", "MaxLift(0.01)")
    assert code == 1
    assert "Not kept: it is not proven for 2 outputs: 'low', 'high'." in told
    code, told, _ = audit("channel", "p.csv", "--joint", "j.csv", "--promise", "LDP(0.1) & KL(1)", "--json")
    content = json.loads(told)
    assert (code, content["kept"], len(content["measures"])) == (0, True, 36)
    least = float(content["least_epsilon"]["MaxLift"])
    low = (20 * 0.6 + 10 * 0.5 + 5 * 0.5) / 35 / ((30 * 0.6 + 30 * 0.5 + 10 * 0.5) / 70)
    high = (10 * 0.4 + 20 * 0.5 + 5 * 0.5) / 35 / ((30 * 0.4 + 30 * 0.5 + 10 * 0.5) / 70)
    assert least == pytest.approx(np.log(max(low, high)), abs=1.1e-6)


def test_a_mean_that_is_too_large_is_no_matter_of_single_outputs(audit):
    arguments = ("channel", "p.csv", "--joint", "j.csv", "--promise")
    code, told, _ = audit(*arguments, "OnAverage(KL(0.0001))")
    assert code == 1
    assert "Not kept: it is not proven of the mean over outputs, which has epsilon = 0.00" in told
    assert "for 2 outputs" not in told
    assert json.loads(audit(*arguments, "OnAverage(KL(0.0001))", "--json")[1])["mean_not_proven"]
    code, told, _ = audit(*arguments, "OnAverage(KL(1)) & MaxLift(0.01)")
    assert code == 1
    assert "Not kept: it is not proven for 2 outputs: 'low', 'high'." in told
    assert not json.loads(audit(*arguments, "OnAverage(KL(1)) & MaxLift(0.01)", "--json")[1])["mean_not_proven"]


def test_a_channel_with_a_table_or_a_mechanism(audit, alphalift, folder):
    code, told, _ = audit("channel", "p.csv", "--table", "t.csv", "-s", "s", "-u", "x", "--promise", "LIP(0.2)")
    assert code == 0
    assert "Promise about s: every lift is from e^-0.2 to e^0.2." in told
    designed = alphalift(
        "design", "t.csv", "-s", "s", "-u", "x", "--promise", "LIP(0.1)", "--population", "--out", "m.json"
    )
    assert designed[0] == 0
    assert audit("channel", "m.json")[0] == 0, "its own promise"
    assert audit("channel", "m.json", "--promise", "LIP(0.09)")[0] == 1
    assert audit("channel", "m.json", "--promise", "LIP(0.2)", "--table", "t.csv", "-s", "s", "-u", "x")[0] == 0
    document = json.loads((folder / "m.json").read_text())
    document["promise"]["upper"] = document["promise"]["lower"] = "0.01"
    (folder / "forged.json").write_text(json.dumps(document))
    assert audit("channel", "forged.json")[0] == 1, "a mechanism that does not keep what it promises"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["channel", "p.csv", "--promise", "MaxLift(1)"], "what is known of S and X is missing"),
        (["channel", "p.csv", "--joint", "j.csv"], "give --promise"),
        (["channel", "p.csv", "--joint", "j.csv", "--promise", "Max(1)"], "there is no promise 'Max', perhaps MaxLift"),
        (["channel", "p.csv", "--table", "t.csv", "--promise", "MaxLift(1)"], "--table needs --sensitive"),
        (["channel", "nothing.csv", "--joint", "j.csv", "--promise", "MaxLift(1)"], "there is no such file"),
        (["channel", "nothing.json"], "there is no such file"),
        (["channel", "j.csv", "--joint", "j.csv", "--promise", "MaxLift(1)"], "must be distributions"),
        (["samples", "t.csv", "-s", "s", "--released", "nothing", "--promise", "MaxLift(1)"], "no column 'nothing'"),
        (["samples", "t.csv", "-s", "s", "--released", "fair", "--promise", "PML(1)"], "--useful"),
        (
            ["samples", "t.csv", "-s", "s", "--released", "fair", "--promise", "KL(1)", "--confidence", "2"],
            "--confidence",
        ),
        (["samples", "t.csv", "-s", "s", "--released", "fair"], "Missing option"),
        (["release", "t.csv"], "Missing option"),
        ([], "Usage"),
    ],
)
def test_what_cannot_be_audited_is_no_answer(audit, arguments, complaint):
    code, told, complained = audit(*arguments)
    assert code == 2
    assert complaint in complained + told
    assert "Traceback" not in complained


def test_samples_are_answered_by_a_code(audit):
    usual = ("samples", "t.csv", "-s", "s", "--promise", "MaxLift(0.3)")
    code, told, _ = audit(*usual, "--released", "fair", "--useful", "x")
    assert (code, told.splitlines()[1][:26]) == (0, "Kept: with 95% confidence,")
    assert "Given x, nothing shows that the output depends on s." in told
    code, told, _ = audit(*usual, "--released", "told")
    assert code == 1
    assert "Not kept: output '" in told
    code, told, _ = audit("samples", "t.csv", "-s", "s", "--promise", "MaxLift(0.05)", "--released", "fair")
    assert code == 3
    assert "Cannot tell: 4000 records" in told
    code, told, _ = audit(*usual, "--released", "peeked", "-u", "x", "--json")
    content = json.loads(told)
    assert (code, content["answer"], content["looked_at_the_secret"]) == (1, "no", True)
    assert len(content["lifts"]) == 4


def test_a_release_is_audited(audit, alphalift, folder):
    assert (
        alphalift("design", "t.csv", "-s", "s", "-u", "x", "--promise", "LIP(0.1)", "--population", "--out", "m.json")[
            0
        ]
        == 0
    )
    for key in ("k", "k2"):
        new_key(folder / key)
    assert alphalift("apply", "m.json", "t.csv", "--id", "id", "--key", "k", "--out", "y.csv")[0] == 0
    usual = ("--mechanism", "m.json", "--input", "t.csv", "--id", "id")
    ledger = (folder / "k.ledger").read_bytes()
    code, told, _ = audit("release", "y.csv", *usual, "--key", "k")
    assert (code, told) == (0, "As released: all 4000 rows are what mechanism and key make of the input.\n")
    assert audit("release", "y.csv", *usual, "--key", "k2")[0] == 1
    lines = (folder / "y.csv").read_text().splitlines()
    outputs = sorted({line.partition(",")[2] for line in lines[1:]})
    name, _, output = lines[42].partition(",")
    lines[42] = f"{name},{outputs[outputs[0] == output]}"
    (folder / "z.csv").write_text("\n".join(lines) + "\n")
    code, told, _ = audit("release", "z.csv", *usual, "--key", "k")
    assert code == 1
    assert "1 do not have the output of their record, first in row 42 of the data" in told
    assert output not in told
    code, told, _ = audit("release", "z.csv", *usual, "--key", "k", "--json")
    assert (code, json.loads(told)["changed"]) == (1, 1)
    assert (folder / "k.ledger").read_bytes() == ledger


def test_withheld_counts_are_no_broken_promise(audit, alphalift, folder):
    """Without its opening nothing is audited, which is another code than "not kept"."""
    wish = ("-s", "s", "-u", "x", "--promise", "LIP(0.1)", "--population")
    assert alphalift("design", "t.csv", *wish, "--out", "w.json", "--withhold", "o.json")[0] == 0
    code, _, error = audit("channel", "w.json", "--promise", "LIP(0.2)")
    assert code == 2
    assert "withholds its counts" in error
    code, told, _ = audit("channel", "w.json", "--promise", "LIP(0.2)", "--opening", "o.json")
    assert code == 0
    assert "That is about the joint as it is given" in told
