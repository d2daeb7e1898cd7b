"""mechanism.measures(): one row a measure, each number what its own function says."""

import math

import numpy as np
import pandas as pd
import pytest

from alphalift import Joint, Mechanism, measures
from alphalift.measures import catalogue

JOINT = Joint([[6, 1, 3], [2, 5, 1], [0, 2, 4]], ["a", "b", "c"], counts=True)
MECHANISM = Mechanism(JOINT, np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.3], [0.1, 0.1, 0.6]]))
P_Y_GIVEN_S = MECHANISM.p_y_given_x @ (JOINT.p_sx / JOINT.p_s[:, None]).T
LIFTS = MECHANISM.lift.T


def test_every_row_about_s_is_what_its_function_says():
    table = MECHANISM.measures((0.5, 1, 3, math.inf)).loc["S"]
    p_s, p_y = JOINT.p_s, MECHANISM.p_y
    by_output = {
        "max-lift": measures.max_lift_leakage(LIFTS),
        "min-lift": measures.min_lift_leakage(LIFTS),
        "local information privacy": measures.local_information_privacy(LIFTS),
        "local differential privacy": measures.local_differential_privacy(LIFTS),
        "total variation": measures.total_variation(LIFTS, p_s),
        "chi-square": measures.chi_square(LIFTS, p_s),
        "Kullback-Leibler": measures.kullback_leibler(LIFTS, p_s),
        "posterior Bayes vulnerability": measures.best_guess(LIFTS, p_s),
        "guessing advantage (additive Bayes)": measures.guessing_advantage(LIFTS, p_s),
    }
    overall = {
        "mutual information": measures.mutual_information(P_Y_GIVEN_S * p_s),
        "maximal leakage": measures.maximal_leakage(P_Y_GIVEN_S),
        "prior Bayes vulnerability": measures.prior_vulnerability(p_s),
        "posterior Bayes vulnerability": measures.posterior_vulnerability(P_Y_GIVEN_S, p_s),
        "guessing advantage (additive Bayes)": measures.additive_bayes_leakage(P_Y_GIVEN_S, p_s),
        "multiplicative Bayes leakage": measures.multiplicative_bayes_leakage(P_Y_GIVEN_S, p_s),
        "min-entropy leakage": measures.min_entropy_leakage(P_Y_GIVEN_S, p_s),
        "Bayes capacity": measures.bayes_capacity(P_Y_GIVEN_S),
        "channel capacity": measures.channel_capacity(P_Y_GIVEN_S),
    }
    for alpha in (0.5, 1, 3, math.inf):
        order = f"alpha={alpha:g}"
        by_output[f"Renyi divergence, {order}"] = measures.renyi_divergences(LIFTS, p_s, alpha)
        overall[f"Sibson information, {order}"] = measures.sibson_information(P_Y_GIVEN_S, p_s, alpha)
        overall[f"alpha-leakage, {order}"] = measures.alpha_leakage(P_Y_GIVEN_S, p_s, alpha)
        if alpha >= 1:
            overall[f"maximal alpha-leakage, {order}"] = measures.maximal_alpha_leakage(P_Y_GIVEN_S, p_s, alpha)
        if alpha > 1:
            by_output[f"log alpha-lift, {order}"] = MECHANISM.leakage_by_output(alpha)

    assert set(table.index) == set(by_output) | set(overall)
    for name, row in table.iterrows():
        values = by_output.get(name)
        if values is None:
            assert math.isnan(row["worst"]), name
            assert math.isnan(row["mean"]), name
        else:
            worst = values.min() if name == "min-lift" else values.max()
            assert row["worst"] == pytest.approx(worst, rel=1e-12, abs=1e-14), name
            assert row["mean"] == pytest.approx(p_y @ values, rel=1e-12, abs=1e-14), name
        expected = overall.get(name, row["worst"])
        assert row["overall"] == pytest.approx(expected, rel=1e-12, abs=1e-13), name


def test_rows_about_x():
    about_x = MECHANISM.measures().loc["X"]
    assert about_x["overall"]["mutual information"] == pytest.approx(MECHANISM.utility())
    assert about_x["overall"]["maximal leakage"] == pytest.approx(math.log(MECHANISM.p_y_given_x.max(axis=1).sum()))
    assert about_x["overall"]["prior Bayes vulnerability"] == JOINT.p_x.max()
    assert about_x["overall"]["posterior Bayes vulnerability"] == pytest.approx(
        (MECHANISM.p_y_given_x * JOINT.p_x).max(axis=1).sum()
    )
    assert about_x["formula"]["maximal leakage"] == "log sum_y max_x P(y|x)"
    assert about_x["formula"]["mutual information"].startswith("I(X;Y)")


def test_every_row_has_a_formula_a_source_with_its_year_and_a_name_of_its_own():
    table = MECHANISM.measures()
    assert list(table.columns) == ["worst", "mean", "overall", "formula", "citation"]
    assert table.index.names == ["about", "measure"]
    assert table.index.is_unique
    assert table["overall"].notna().all()
    assert table["citation"].str.contains(r"(?:19|20)\d\d$").all()
    assert (table["formula"].str.len() > 3).all()
    assert not table["formula"].str.contains("[{}]").any()


def test_the_default_orders_lie_between_shannon_and_the_maximum():
    assert all(1 < alpha < math.inf for alpha in catalogue.ALPHAS)
    names = MECHANISM.measures().loc["S"].index
    for alpha in catalogue.ALPHAS:
        assert f"maximal alpha-leakage, alpha={alpha:g}" in names


@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_it_prints_whole_within_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    silent = Mechanism(JOINT, np.ones((1, 3)))
    for mechanism in (MECHANISM, silent):
        printed = str(mechanism.measures())
        assert "..." not in printed
        assert "NaN" not in printed
        assert "-0.000000" not in printed
        for _, name in mechanism.measures().index:
            assert name in printed
    assert max(map(len, str(MECHANISM.measures()).splitlines())) <= max(int(columns), 92)
    # What is cut from it is an ordinary data frame again.
    assert type(MECHANISM.measures().loc["S"]) is pd.DataFrame


def test_by_output_has_one_row_an_output_and_the_same_worst_and_mean():
    table, whole = MECHANISM.measures_by_output((2.0,)), MECHANISM.measures((2.0,)).loc["S"]
    assert tuple(table.index) == MECHANISM.y_labels
    np.testing.assert_array_equal(table["P(y)"], MECHANISM.p_y)
    names = [name for name in whole.index if not math.isnan(whole["worst"][name])]
    assert list(table.columns) == ["P(y)", *names]
    for name in names:
        assert whole["mean"][name] == pytest.approx(float(table["P(y)"] @ table[name]), abs=1e-15)
        assert whole["worst"][name] == (table[name].min() if name == "min-lift" else table[name].max())
    assert all(label in str(table) for label in MECHANISM.y_labels)


def test_a_single_secret_has_nothing_to_leak():
    mechanism = Mechanism(Joint([[1, 2, 3]], counts=True), np.eye(3))
    about_s = mechanism.measures().loc["S"]["overall"]
    certain = about_s.index.isin(
        ["prior Bayes vulnerability", "posterior Bayes vulnerability", "multiplicative Bayes leakage", "Bayes capacity"]
    )
    np.testing.assert_allclose(about_s[certain], 1)
    np.testing.assert_allclose(about_s[~certain], 0, atol=1e-12)
