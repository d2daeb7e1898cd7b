"""Whom a promise is for, on the command line: a sample unless it is said to be everybody; what files state; impossible wishes."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from alphalift import Joint, MaxLift, Mechanism, Robust, describe, design, leakage_bound, load, save, to_document
from alphalift.population import restated, said
from alphalift.population.robust import MOST_VALUES
from alphalift.proof.said import EVERYBODY, line_about, statement_in, with_statement
from alphalift.sharing import for_sharing
from test_cli_files import run

COUNTS = np.array([[60, 20, 30], [25, 70, 35]])
WISH = ("-s", "s", "-u", "x", "--promise", "MaxLift(0.3)")


def written(path, counts):
    rows = [f"s{s},x{x}\n" for s, row in enumerate(counts) for x, count in enumerate(row) for _ in range(count)]
    path.write_text("s,x\n" + "".join(rows))


@pytest.fixture
def alphalift(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "t.csv", COUNTS)
    return lambda *arguments: run(monkeypatch, capsys, *arguments)


def provenance(path="m.json"):
    return json.loads(Path(path).read_text(encoding="utf-8"))["provenance"]["solver"]


def test_a_table_is_a_sample_unless_told(alphalift):
    code, told, _ = alphalift("design", "t.csv", *WISH, "--out", "m.json", "--no-advice")
    assert code == 0
    assert "with 95% confidence (calibrated on the records, not proven)" in told
    assert "What it cost" not in told
    by_hand = design(Joint(COUNTS, counts=True), Robust(MaxLift(0.3)))
    assert statement_in(provenance()) == said(by_hand.population)
    assert f"It keeps {by_hand.normalized_utility:.1%}" in told
    code, told, _ = alphalift("verify", "m.json")
    assert code == 0
    assert told.splitlines()[-1] == f"    stated  population: {said(by_hand.population)}"
    assert "calibrated on the records, not proven" in told
    assert load("m.json").said == said(by_hand.population)


@pytest.mark.parametrize(
    ("more", "left"), [((), 60), (("--no-advice",), 100), (("--out", "m.json"), 30), (("--population",), 100)]
)
def test_a_design_leaves_time_for_what_follows_it(alphalift, monkeypatch, more, left):
    """Two fifths for advice, if any is to come, and three tenths for a file: a bound may take all that it gets."""
    given = []

    def designing(*arguments, **settings):
        given.append(settings["solver"].clock.seconds)
        return design(*arguments, **settings)

    monkeypatch.setattr(sys.modules["alphalift.design"], "design", designing)
    code, told, _ = alphalift("design", "t.csv", *WISH, "--time-limit", "100", *more)
    assert code == 0
    assert given == [pytest.approx(left)]
    assert ("not computed in time" in told) is False


def test_everybody_is_said_and_nothing_more(alphalift):
    code, told, _ = alphalift("design", "t.csv", *WISH, "--out", "m.json", "--population")
    assert code == 0
    assert f"The population: {EVERYBODY}." in told
    assert "and people who are not in the table." in told
    assert "NOT known" not in told
    plain = design(Joint(COUNTS, counts=True), MaxLift(0.3))
    assert f"It keeps {plain.normalized_utility:.1%}" in told
    assert f"stated  population: {EVERYBODY}" in alphalift("verify", "m.json")[1]


def test_both_at_once_are_wrong_usage(alphalift):
    code, _, told = alphalift("design", "t.csv", *WISH, "--population", "--confidence", "95%")
    assert code == 2
    assert "--confidence" in told


@pytest.mark.parametrize("confidence", ["0", "101%", "-5%", "sure"])
def test_a_confidence_that_is_none_is_refused_before_the_table_is_read(alphalift, confidence):
    code, _, told = alphalift("design", "gone.csv", *WISH, f"--confidence={confidence}")
    assert code == 1
    assert "--confidence is" in told


@pytest.mark.parametrize("promise", ["MaxLift(0)", "PML(1) & PML(1.2)"])
def test_without_a_margin_the_default_says_why_and_a_wish_is_refused(alphalift, promise):
    code, told, _ = alphalift("design", "t.csv", *WISH[:4], "--promise", promise, "--out", "m.json")
    assert code == 0
    assert "The population: not covered, since no " in told
    assert "A robust design keeps it" not in told
    assert statement_in(provenance()).startswith("not covered, since no ")
    code, _, told = alphalift("design", "t.csv", *WISH[:4], "--promise", promise, "--confidence", "95%")
    assert code == 1
    assert len(told.strip().splitlines()) == 1


def test_after_a_release_the_default_says_why_and_a_wish_is_refused(alphalift):
    assert (
        alphalift("design", "t.csv", *WISH[:4], "--promise", "MaxLift(0.1)", "--population", "--out", "a.json")[0] == 0
    )
    after = ("design", "t.csv", *WISH, "--after", "a.json")
    code, told, _ = alphalift(*after, "--out", "b.json")
    assert code == 0
    assert "not covered, since nothing bounds what several releases together tell about it" in told
    code, _, told = alphalift(*after, "--confidence", "95%")
    assert code == 1
    assert "after other releases" in told


def test_a_file_without_a_statement_is_about_its_counts(alphalift):
    save(to_document(design(Joint(COUNTS, counts=True), MaxLift(0.3))), "m.json")
    told = alphalift("verify", "m.json")[1]
    assert told.splitlines()[-1].endswith("nothing is said of it; what is proven is about the counts in the file")
    text = Path("m.json").read_text(encoding="utf-8")
    Path("bad.json").write_text(text.replace('"epsilon":"0.3"', '"epsilon":"0.2"'), encoding="utf-8")
    code, told, _ = alphalift("verify", "bad.json")
    assert code == 1
    assert "stated" not in told, "of a file that is not proven nothing is repeated"


def test_statements_are_first_and_columns_cannot_make_them():
    settings = with_statement("Optimal(); domain read from the table for a; population: all is well", "")
    assert statement_in(settings) == ""
    said_first = with_statement(settings, "one; two")
    assert statement_in(said_first) == "one, two"
    assert with_statement(said_first, "other") == with_statement(settings, "other")
    assert with_statement("", "alone") == "population: alone"
    document = {"provenance": {"solver": "population: \x1b[2Jgone\nproven  promise"}}
    assert "\x1b" not in line_about(document)
    assert "\n" not in line_about(document)


@pytest.mark.parametrize(
    ("counts", "options", "said"),
    [
        (np.array([[4, 2, 1], [3, 6, 4]]), (), "if the 20 records are a random sample"),
        (np.array([[300, 200, 100], [100, 200, 300], [0, 1, 0]]), (), "Too rare: s2."),
        (COUNTS, ("--confidence", "100%"), "the promise is kept whatever it is, since no record of it was relied on"),
    ],
    ids=["n = 20", "a secret seen once", "certainty"],
)
def test_impossible_wishes_are_explained(alphalift, tmp_path, counts, options, said):
    """Little is kept, the promise is, and the words say how; three lines of advice with numbers."""
    written(tmp_path / "few.csv", counts)
    code, told, _ = alphalift("design", "few.csv", *WISH, *options, "--out", "m.json")
    assert code == 0
    assert said in told
    lines = told.splitlines()[-3:]
    assert [line.split(":")[0] for line in lines] == ["What it cost", "Too rare", "What other wishes would keep of x"]
    assert "at least" in lines[2]
    assert alphalift("verify", "m.json")[0] == 0


def test_few_bits_are_asked_again_for_the_population(alphalift):
    """What is shared keeps the promise for the population as it is, and says so without the number of records."""
    solution = design(Joint(COUNTS, counts=True), Robust(MaxLift(0.3)))
    shared = for_sharing(solution)
    assert shared.population.kept
    bound = leakage_bound(shared.mechanism, shared.joint, MaxLift(0.3))
    assert bound.value <= bound.budget
    assert shared.population.epsilon == bound.epsilon
    statement = statement_in(shared.settings)
    assert "kept with 95% confidence if the records are" in statement
    assert str(COUNTS.sum()) not in shared.settings
    certain = for_sharing(design(Joint(COUNTS, counts=True), Robust(MaxLift(0.3), confidence=1.0)), bits=3)
    law = certain.mechanism.p_y_given_x
    assert certain.population.kept
    assert law.min() > 0
    assert np.log(law.max(axis=1) / law.min(axis=1)).max() < 0.6, "e^0.3 about every secret at most"
    for p_sx in np.random.default_rng(0).dirichlet(np.ones(6), 50).reshape(50, 2, 3):
        lifts = (law @ (p_sx / p_sx.sum(axis=1, keepdims=True)).T) / (law @ p_sx.sum(axis=0))[:, None]
        assert lifts.max() <= np.exp(0.3) * (1 + 1e-9)


def test_noise_alone_is_called_what_it_is():
    words = describe(design(Joint([[3, 1], [1, 3]], counts=True), MaxLift(0)))
    assert "nothing is told about anybody, since no answer depends on who is asked." in words
    assert "A robust design keeps it" not in words
    joint = Joint([[3, 1], [1, 3]], counts=True)
    noise = Mechanism(joint, [[0.5, 0.5], [0.5, 0.5]])
    robust = replace(design(joint, Robust(MaxLift(0.3))), mechanism=noise)
    assert robust.population.errors != 0
    assert "nothing is told about anybody" in describe(robust)


def test_what_few_bits_lose_is_said():
    """A mechanism that was changed after its calibration: the words are about what it is now."""
    joint = Joint(COUNTS, counts=True)
    solution = design(joint, Robust(MaxLift(0.3)))
    changed = restated(replace(solution, mechanism=design(joint, MaxLift(0.3)).mechanism))
    assert not changed.population.kept
    assert "NOT known to be kept there" in describe(changed)
    assert "NOT known to be kept there" in statement_in(changed.settings)


@pytest.mark.parametrize(
    "counts", [[[5, 9, 4]], [[5], [9]], [[4, 8], [4, 8]]], ids=["one secret", "one value", "independent"]
)
def test_degenerate_tables_are_designed_and_advised_on(alphalift, tmp_path, counts):
    written(tmp_path / "few.csv", counts)
    code, told, complaint = alphalift("design", "few.csv", *WISH)
    assert code == 0, complaint
    assert ("needs no margin" in told or "Nothing to protect" in told) != (
        "What it cost: this design keeps " in told
    ), "advice only where there is a cost"


def test_many_values_are_designed_for_the_records_alone_unless_a_confidence_is_asked_for(alphalift):
    """A margin would take too long; noise in its place may leave nothing, so it is not the default."""
    written(Path("many.csv"), np.random.default_rng(0).integers(20, 60, (3, MOST_VALUES + 1)))
    options = ("design", "many.csv", "-s", "s", "-u", "x", "--promise", "MaxLift(0.2)", "--time-limit", "5")
    code, told, _ = alphalift(*options)
    assert code == 0
    assert "not covered, since a margin for chance takes too long" in told
    code, told, _ = alphalift(*options, "--confidence", "95%", "--no-advice")
    assert code == 0
    assert "The population: if the" in told
    assert "the promise is kept there, too" in told
