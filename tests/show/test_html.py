"""What notebooks show: nothing runs, nothing is cut in two, nothing is told that the objects do not tell themselves."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from alphalift import LDP, AlphaLift, Joint, MaxLift, Mechanism, compare, curve, design, grid, read_joint, sweep
from alphalift.joint import Origin

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\u202eb&amp;\x1b"]
TABLE = [[401, 12, 8], [10, 307, 20], [5, 9, 661]]
TAGS = {"div", "table", "thead", "tbody", "tr", "th", "td", "sup", "svg", "path", "polyline", "circle", "text"}
ATTRIBUTES = {
    "style",
    "scope",
    "role",
    "aria-label",
    "width",
    "height",
    "viewbox",
    "d",
    "fill",
    "stroke",
    "stroke-opacity",
    "stroke-width",
    "points",
    "cx",
    "cy",
    "r",
    "x",
    "y",
    "font-size",
    "text-anchor",
}
EMPTY = {"path", "polyline", "circle"}


class Reader(HTMLParser):
    """Reads strictly: known tags and attributes, closed in order; keeps the text and the cells of every row."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.rows, self.tags = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS, tag
        assert {name for name, _ in attributes} <= ATTRIBUTES
        assert not any("url" in (value or "") or "expression" in (value or "") for _, value in attributes)
        self.tags.append(tag)
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def said(self):
        return " ".join(" ".join(self.text).split())


def objects(joint):
    solution = design(joint, AlphaLift(10, 0.3))
    return {
        "joint": joint,
        "mechanism": solution.mechanism,
        "solution": solution,
        "tradeoff": sweep(joint, grid(AlphaLift, alpha=[np.inf, 3], epsilon=[0.1, 0.2, 0.3])),
        "comparison": compare(joint, MaxLift(0.3)),
        "curve": curve(joint, AlphaLift, alpha=[np.inf, 3], accuracy=0.1),
    }


PLAIN = objects(Joint(TABLE, ["ill", "cold", "well"], ["red", "green", "blue"], counts=True))
BAD = objects(Joint(TABLE, HOSTILE, HOSTILE, counts=True, origin=Origin((HOSTILE[0],), (HOSTILE[1],))))


@pytest.mark.parametrize("name", PLAIN)
def test_labels_of_data_are_text_and_nothing_else(name):
    reader = Reader(BAD[name]._repr_html_())
    assert reader.tags == Reader(PLAIN[name]._repr_html_()).tags, "no label made an element"
    raw = BAD[name]._repr_html_()
    assert "<script" not in raw
    assert "<img" not in raw
    assert not set("\u202e\x1b") & set(raw)
    if name in ("joint", "mechanism", "solution"):
        assert "<script>alert(1)</script>" in reader.said()
        assert "&amp;" in reader.said(), "escaped once, and not twice or never"


@pytest.mark.parametrize("name", PLAIN)
def test_colours_suit_dark_and_light(name):
    raw = PLAIN[name]._repr_html_()
    assert not re.search(r"(?<![-\w])color:|background:(?!transparent|rgba)|<style|class=|id=", raw)
    assert len(raw) < 12_000


def test_a_joint_tells_no_count_but_their_sum():
    said = Reader(PLAIN["joint"]._repr_html_()).said()
    assert f"{sum(map(sum, TABLE))} records" in said
    for label in ("ill", "cold", "well", "red", "green", "blue"):
        assert label in said
    table = np.array(TABLE)
    told = set(re.findall(r"\d+", said)) - {"3", str(table.sum())}
    assert not told, "no cell, no marginal, no share"
    assert "probabilities" in Reader(Joint([["1/3", "2/3"]])._repr_html_()).said()


def test_a_mechanism_shows_two_digits_of_its_law():
    mechanism = PLAIN["mechanism"]
    rows = Reader(mechanism._repr_html_()).rows
    assert rows[0][1:] == list(mechanism.joint.x_labels)
    assert [row[0] for row in rows[1:]] == list(mechanism.y_labels)
    for row, told in zip(mechanism.p_y_given_x, rows[1:], strict=True):
        assert told[1:] == [f"{p:.2f}" if p >= 0.005 else "<.01" if p else "" for p in row]


def test_a_curve_shows_what_holds():
    """Of every row the envelopes, rounded outwards."""
    found = PLAIN["curve"]
    rows = Reader(found._repr_html_()).rows[1:]
    assert len(rows) == 16
    for name, least, most in rows:
        order, epsilon = map(float, re.findall(r"=([\d.]+|inf)", name))
        bracket = found.of(alpha=order).at(epsilon)
        assert 0 <= bracket.lower - float(least.rstrip("%")) / 100 < 0.001
        assert 0 <= float(most.rstrip("%")) / 100 - bracket.upper < 0.001


def test_the_band_that_is_drawn_has_the_true_one_inside():
    found = PLAIN["curve"]
    bands = re.findall(r'<path d="M([^"]+)Z"', found._repr_html_())
    places = [np.array([place.split(",") for place in band.split()], float) for band in bands]
    assert len(places) == len(found)
    longest = max(own.points[-1].epsilon for own in found)
    left, right = min(own[:, 0].min() for own in places), max(own[:, 0].max() for own in places)
    for own, place in zip(found, places, strict=True):
        below, above = np.split(place, 2)
        along = np.interp(np.linspace(0, own.points[-1].epsilon, 100)[1:-1], [0, longest], [left, right])
        for epsilon, x in zip(np.linspace(0, own.points[-1].epsilon, 100)[1:-1], along, strict=True):
            bracket, near = own.at(float(epsilon)), 0.2
            low = below[(below[:, 0] >= x - near).argmax(), 1]
            high = above[::-1][(above[::-1][:, 0] >= x - near).argmax(), 1]
            share = 1 - (np.array([low, high]) - 14) / 126
            assert share[0] <= bracket.lower + 1e-3
            assert share[1] >= bracket.upper - 1e-3


def test_what_is_large_is_cut_with_a_word():
    joint = Joint(np.random.default_rng(0).integers(1, 9, (30, 3000)), counts=True)
    said = {shown: Reader(shown._repr_html_()) for shown in (joint, Mechanism.publishing_all(joint))}
    assert all(len(shown._repr_html_()) < 60_000 for shown in said)
    assert "and 2976 more" in said[joint].said()
    assert "and 6 more" in said[joint].said()
    mechanism = said[list(said)[1]]
    assert "Not shown: 2984 of 3000 outputs and 2984 of 3000 values." in mechanism.said()
    assert len(mechanism.rows) == 17


def test_a_solution_says_what_was_promised_and_what_is_kept():
    solution = PLAIN["solution"]
    told = {row[0]: row[1] for row in Reader(solution._repr_html_()).rows if len(row) == 2}
    assert told["promise"] == "about S: alpha-lift is at most e^0.3 for alpha = 10"
    assert told["kept"] == f"{solution.normalized_utility:.2%} of X"
    assert float(told["gap"].split("%")[0]) / 100 >= solution.relative_gap
    assert told["status"] == solution.status.value
    assert told["proven"] == "for integers over 252"
    floats = sweep(solution.joint, [MaxLift(0.2)]).solutions[0][0]
    assert "no: floats" in Reader(floats._repr_html_()).said()


def test_a_comparison_lists_every_row():
    comparison = PLAIN["comparison"]
    rows = Reader(comparison._repr_html_()).rows[1:]
    assert [row[0] for row in rows] == [row.name for row in comparison.rows]
    for told, row in zip(rows, comparison.rows, strict=True):
        if row.applies:
            assert told[1] == f"{row.normalized_utility:.1%}"
            assert told[4] == ("yes" if row.kept else "NO")
    assert any(row[4] == "NO" for row in rows)


def test_a_tradeoff_is_a_table_and_curves():
    tradeoff = PLAIN["tradeoff"]
    raw = tradeoff._repr_html_()
    rows = Reader(raw).rows[1:]
    assert [row[1] for row in rows] == [f"{s.normalized_utility:.1%}" for s in tradeoff.solutions[0]]
    lines = [
        [tuple(map(float, point.split(","))) for point in line.split()]
        for line in re.findall(r'polyline points="([^"]+)"', raw)
    ]
    assert [len(line) for line in lines] == [3, 3]
    shares = np.reshape([s.normalized_utility for s in tradeoff.solutions[0]], (2, 3))
    heights = np.array(lines)[:, :, 1]
    scale = np.polyfit(shares.ravel(), heights.ravel(), 1)
    np.testing.assert_allclose(np.polyval(scale, shares), heights, atol=0.11)
    assert scale[0] < 0
    others = sweep(tradeoff.joints[0], [LDP(0.1), LDP(0.2)])
    assert "<svg" not in others._repr_html_(), "no alpha, no curve"
    assert "Tradeoff: 2 joints" in Reader(sweep([TWO, TWO], [MaxLift(0.1)])._repr_html_()).said()


TWO = Joint([[1, 2], [2, 1]], counts=True)


def test_a_table_from_columns_is_called_by_them():
    table = pd.DataFrame([("a", "b"), ("c", "d"), ("a", "d")] * 20, columns=["sick", "job"])
    joint = read_joint(table, sensitive="sick", useful="job")
    assert "secret, sick" in Reader(joint._repr_html_()).said()
    assert "Release of job" in Reader(design(joint, MaxLift(0.1))._repr_html_()).said()


def test_nothing_that_draws_is_loaded_before_somebody_looks():
    code = "import sys, alphalift.compare, alphalift.sweep; print('matplotlib' in sys.modules); "
    code += "print(alphalift.Joint([[1, 2]], counts=True)._repr_html_()[:4], 'matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert run.stdout.split() == ["False", "<div", "True"], run.stderr
