"""What figures show is what the numbers say: their artists' data against brute force, at sizes from 1 x 1 to 10 x 200."""

import csv
import io
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import alphalift
from alphalift import (
    KL,
    LIP,
    PML,
    AlphaLift,
    ChiSquare,
    InputError,
    Joint,
    MaxLift,
    Mechanism,
    MutualInformation,
    Solution,
    Status,
    columns_before,
    compare,
    design,
    plot_kept,
    plot_lifts,
    plot_mechanism,
    plot_simplex,
    read_joint,
    save_figure,
)
from alphalift.joint import Origin
from alphalift.show.heat import _farthest, _largest
from alphalift.show.kept import spread
from alphalift.show.pictures import pictures_of
from alphalift.show.simplex import can_plot_simplex
from alphalift.show.text import shortened
from alphalift.solvers.base import max_lift_paths
from regions.every import FAMILIES
from regions.programs import largest_lift
from strategies import random_joint

HOSTILE = ["<script>alert(1)</script>", r"_under $x^2$ \input{/etc/passwd} {%", "a\n\x1b[31m\u202eb"]
TRIANGLE = Joint([[40, 12, 8], [10, 30, 20], [5, 9, 66]], ["low", "mid", "high"], ["no", "some", "much"], counts=True)
SOLVED = design(TRIANGLE, AlphaLift(3, 0.15))


def some_solution(joint, region, outputs=None, seed=1):
    """Not the best one: any mechanism, mixed with noise until it keeps the promise."""
    matrix = np.random.default_rng(seed).dirichlet(np.full(outputs or len(joint.x_labels), 0.2), len(joint.x_labels)).T
    mechanism = Mechanism(joint, matrix)
    while not mechanism.check(region):
        mechanism = mechanism.with_noise(0.1)
    return Solution(mechanism, region, MutualInformation(), Status.FEASIBLE)


def texts(ticks):
    return [tick.get_text() for tick in ticks]


def p_s_given_y(mechanism):
    """From the joint's counts and the law alone, by definition."""
    p_sy = np.array(mechanism.joint.weights) / mechanism.joint.total @ mechanism.p_y_given_x.T
    return p_sy / p_sy.sum(axis=0)


# --- labels ---


def test_different_labels_stay_different_when_they_are_cut():
    labels = [f"{'the same beginning of a label ' * 2}{i:03d}{' and the same end' * 3}" for i in range(64)]
    short = shortened(labels)
    assert len(set(short)) == 64
    assert max(map(len, short)) <= 34
    assert shortened(["a", "b $x$"]) == ["a", r"b \$x\$"]
    assert shortened(["a\x1b", "a\x00"]) == ["a\ufffd", "a\ufffd (2)"], "also what only control characters told apart"


# --- the mechanism ---


@pytest.mark.parametrize(("shape", "every"), [((3, 3), 1), ((5, 16), 1), ((4, 64), 1), ((10, 200), 3)])
def test_the_heat_map_names_what_there_is_space_for(shape, every):
    joint = Joint(
        np.random.default_rng(0).integers(1, 60, shape),
        x_labels=[f"occupation and workclass of the person, number {i}, in words" for i in range(shape[1])],
        counts=True,
    )
    mechanism = Mechanism.publishing_all(joint)
    figure = plot_mechanism(mechanism)
    left, right = figure.axes[:2]
    assert left.get_xticks().tolist() == list(range(0, shape[1], every))
    assert left.get_yticks().tolist() == list(range(0, shape[1], every))
    for names in (texts(left.get_xticklabels()), texts(left.get_yticklabels())):
        assert len(set(names)) == len(range(0, shape[1], every))
    assert texts(right.get_xticklabels()) == list(joint.s_labels)
    assert ("1 in 3 of 200 is named" in left.get_xlabel()) == (every > 1)
    assert bool(left.texts) == (shape[1] < 60)
    assert max(figure.get_size_inches()) < 22
    np.testing.assert_array_equal(left.images[0].get_array(), mechanism.p_y_given_x)
    np.testing.assert_allclose(right.images[0].get_array(), (p_s_given_y(mechanism).T / joint.p_s), atol=1e-12)


def test_blocks_show_their_largest_and_farthest():
    rng = np.random.default_rng(2)
    matrix, lifts = rng.random((7, 11)), rng.random((7, 11)) * 2
    blocks = [(y, x, slice(3 * y, 3 * y + 3), slice(4 * x, 4 * x + 4)) for y in range(3) for x in range(3)]
    for y, x, rows, columns in blocks:
        assert _largest(matrix, 3, 4)[y, x] == matrix[rows, columns].max()
        own = lifts[rows, columns].ravel()
        assert _farthest(lifts, 3, 4)[y, x] == pytest.approx(own[np.abs(own - 1).argmax()], abs=1e-15)


def test_many_symbols_are_drawn_in_groups():
    size = 1200
    joint = Joint(np.random.default_rng(0).integers(1, 9, (2, size)), counts=True)
    figure = plot_mechanism(Mechanism.publishing_all(joint))
    (cells,) = figure.panels[0].series
    assert list(zip(cells.x, cells.y, cells.value, strict=True)) == [(i, i, 1.0) for i in range(size)], "and no zeros"
    left = figure.axes[0]
    assert left.images[0].get_array().shape == (400, 400)
    assert left.get_xlim() == (-0.5, size - 0.5)
    assert "3 in a cell" in left.get_xlabel()
    assert left.images[0].get_array().trace() == 400


# --- lifts against the promise ---


def marks(axes):
    """Offsets of every scatter that was drawn with points."""
    return [np.asarray(own.get_offsets()) for own in axes.collections if len(own.get_offsets())]


def lines(axes, style):
    return [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == style]


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"PML"}))
def test_lifts_stand_beside_what_the_promise_allows(name):
    joint, region = random_joint(5, (3, 4)), FAMILIES[name](0.3)
    solution = some_solution(joint, region)
    left, right = plot_lifts(solution).axes
    lifts = (p_s_given_y(solution.mechanism).T / joint.p_s).T
    (values,) = marks(left)
    np.testing.assert_allclose(values[:, 0], region.value(lifts.T, joint.p_s), atol=1e-9)
    assert values[:, 1].tolist() == list(range(len(solution.mechanism.p_y)))
    assert region.budget in [line.get_xdata()[0] for line in left.lines]
    assert [len(own) for own in marks(right)] == [4, 4, 4]
    for s, own in enumerate(marks(right)):
        np.testing.assert_allclose(own[:, 0], lifts[s], atol=1e-12)
    most = [largest_lift(region, np.arange(3) == s, joint.p_s) for s in range(3)]
    np.testing.assert_allclose(lines(right, "--"), most, atol=1e-5)
    # What the others cannot gain, a group cannot lose: the least lift, by the convex program on the complement.
    others = [largest_lift(region, np.arange(3) != s, joint.p_s) for s in range(3)]
    least = [(1 - (1 - p) * most_of_others) / p for p, most_of_others in zip(joint.p_s, others, strict=True)]
    np.testing.assert_allclose(lines(right, ":"), [value for value in least if value > 1e-5], atol=1e-4)
    assert all(lift.max() <= allowed + 1e-5 for lift, allowed in zip(lifts, most, strict=True))


def test_lifts_after_a_release_are_of_both_together():
    rows = [
        (s, x, z) for s in "ab" for x in "cd" for z in "ef" for _ in range(3 + 5 * (s + x == "ac") + 2 * (z == "e"))
    ]
    table = pd.DataFrame(rows, columns=["s", "x", "z"])
    first = design(read_joint(table, sensitive="s", useful="z"), MaxLift(0.1))
    joint = read_joint(table, sensitive="s", useful="x", beside=columns_before([first]))
    second = design(joint, LIP(0.2), after=[first])
    right = plot_lifts(second).axes[1]
    y1, y2 = first.mechanism.p_y_given_x, second.mechanism.p_y_given_x
    names = [first.joint.x_labels, joint.x_labels, joint.s_labels]
    both = np.zeros((2, len(y1), len(y2)))
    for s, x, z in rows:
        both[names[2].index(s)] += np.outer(y1[:, names[0].index(z)], y2[:, names[1].index(x)])
    lifts = both / both.sum(axis=0) / (both.sum(axis=(1, 2)) / both.sum())[:, None, None]
    for s, own in enumerate(marks(right)):
        np.testing.assert_allclose(np.sort(own[:, 0]), np.sort(lifts[s].ravel()), atol=1e-9)
    assert not can_plot_simplex(Solution(second.mechanism, second.region, MutualInformation(), Status.FEASIBLE))


def test_of_many_groups_those_that_stand_out_have_a_colour():
    table = np.random.default_rng(1).integers(1, 30, (40, 8))
    table[7] *= 50
    table[9] = 0
    table[9, 3] = 1
    solution = some_solution(Joint(table, counts=True), AlphaLift(2, 0.5))
    figure = plot_lifts(solution)
    told = texts(figure.legends[0].get_texts())
    assert len(told) == 7
    assert told[-1] == "the other 34"
    assert {"s7", "s9"} <= {text.partition(":")[0] for text in told}
    shown = sum(len(own) for own in marks(figure.axes[1]))
    assert shown == 40 * len(solution.mechanism.p_y)


def test_a_budget_that_is_far_off_is_told_and_not_drawn():
    left, right = plot_lifts(design(TRIANGLE, MaxLift(400))).axes
    assert left.get_xlim()[1] < 10
    assert "far to the right" in left.get_xlabel().replace("\n", " ")
    assert right.get_xlim()[1] < 20


# --- before and after ---


def bar_with(bars, begin, end):
    """The number of the bar in which this stretch lies."""
    inside = [bar.get_y() - 1e-9 <= begin and end <= bar.get_y() + bar.get_height() + 1e-9 for bar in bars]
    assert sum(inside) == 1
    return inside.index(True)


@pytest.mark.parametrize("shape", [(3, 3), (2, 9), (10, 200)])
def test_bands_are_as_wide_as_what_goes_through_them(shape):
    joint = random_joint(3, shape)
    mechanism = some_solution(joint, MaxLift(0.4), 4).mechanism
    figure = plot_kept(mechanism)
    axes = figure.axes[0]
    left, right = axes.containers
    np.testing.assert_allclose([bar.get_height() for bar in left], joint.p_x)
    np.testing.assert_allclose([bar.get_height() for bar in right], mechanism.p_y)
    (bands,) = axes.collections
    joint_shares = mechanism.p_y_given_x * joint.p_x
    found = np.zeros_like(joint_shares)
    ends = {}
    for path in bands.get_paths():
        (_, a), (_, b), (_, low_b), (_, low_a) = path.vertices[[0, 3, 4, 7]]
        assert low_a - a == pytest.approx(low_b - b)
        x, y = bar_with(left, a, low_a), bar_with(right, b, low_b)
        found[y, x] += low_a - a
        ends.setdefault(("x", x), []).append((a, low_a))
        ends.setdefault(("y", y), []).append((b, low_b))
    for (side, place), own in ends.items():  # bands fill their bars, and none lies on another
        bar, own = (left if side == "x" else right)[place], sorted(own)
        begins, stops = (
            [bar.get_y(), *(end for _, end in own)],
            [*(begin for begin, _ in own), bar.get_y() + bar.get_height()],
        )
        np.testing.assert_allclose(begins, stops, atol=1e-9)
    np.testing.assert_allclose(found, joint_shares, atol=1e-9)
    assert f"{mechanism.normalized_utility():.1%}" in figure.get_suptitle()
    named = [text for text in axes.texts if text.get_text().endswith("%")]
    fit = min(shape[1], len(named) - len(mechanism.p_y))
    assert len(named) == fit + len(mechanism.p_y)
    left_out = f"{shape[1] - fit} of {shape[1]} values are not named" if fit < shape[1] else ""
    assert (left_out in figure.get_supxlabel()) if left_out else not figure.get_supxlabel()


def test_names_are_moved_apart_and_no_farther_than_needed():
    rng = np.random.default_rng(4)
    for _ in range(50):
        wanted = np.sort(rng.random(rng.integers(1, 12)))
        places = spread(wanted, 0.05, 0.0, 1.0)
        assert (np.diff(places) >= 0.05 - 1e-12).all()
        assert places.min() >= -1e-12
        assert places.max() <= 1 + 1e-12
    np.testing.assert_allclose(spread(np.array([0.2, 0.5, 0.9]), 0.1, 0, 1), [0.2, 0.5, 0.9])
    np.testing.assert_allclose(spread(np.array([0.5, 0.5]), 0.1, 0, 1), [0.45, 0.55])


# --- the triangle ---

CORNERS = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])


def on_paper(points):
    """Shares of three symbols from a place in the triangle, by solving for them."""
    points = np.atleast_2d(points)
    return np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), np.vstack([points.T, np.ones(len(points))])).T


def series_of(figure):
    (panel,) = figure.panels
    return {own.name: on_paper(np.column_stack([own.x, own.y])) for own in panel.series}


REGIONS = {name: family(0.2) for name, family in FAMILIES.items()} | {"both": AlphaLift(2, 0.1) & MaxLift(0.2)}


@pytest.mark.parametrize("name", sorted(REGIONS))
def test_the_region_in_the_triangle_is_what_is_allowed(name):
    region = REGIONS[name]
    solution = design(TRIANGLE, region)
    figure = plot_simplex(solution)
    about = region.about(TRIANGLE)
    ring, p_x = series_of(figure)["allowed"], about.p_x
    lift = np.array(about.weights) / np.array(about.x_weights) * about.total / np.array(about.s_weights)[:, None]

    def allowed(points):
        return (points > -1e-12).all(axis=1) & (
            region.value(np.maximum(points, 0) @ lift.T, about.p_s) <= region.budget * (1 + 1e-9)
        )

    assert allowed(p_x + (1 - 1e-6) * (ring - p_x)).all()
    assert not allowed(p_x + (1 + 1e-6) * (ring - p_x)).any()
    drawn = figure.axes[0].patches[0].get_xy()
    np.testing.assert_allclose(on_paper(drawn[:-1]), ring[:-1], atol=1e-9)


def test_the_outputs_in_the_triangle_have_the_prior_for_their_mean():
    found = series_of(plot_simplex(SOLVED))
    weights = np.array(next(own.value for own in plot_simplex(SOLVED).panels[0].series if own.name == "outputs"))
    np.testing.assert_allclose(found["outputs"], SOLVED.mechanism.p_x_given_y.T, atol=1e-9)
    np.testing.assert_allclose(weights @ found["outputs"], found["prior"][0], atol=1e-9)
    np.testing.assert_allclose(found["prior"][0], TRIANGLE.p_x, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_corners_are_the_vertices_of_the_polytope(seed):
    joint = Joint(np.random.default_rng(seed).integers(1, 40, (4, 3)), counts=True)
    region = MaxLift(0.15)
    found = series_of(plot_simplex(design(joint, region)))["extreme"]
    vertices = max_lift_paths(joint).at(region.budget - 1.0)
    distance = np.abs(found[:, None] - vertices[None]).max(axis=2)
    assert distance.min(axis=1).max() < 1e-6, "every corner is a vertex"
    assert distance.min(axis=0).max() < 1e-6, "every vertex is a corner"


def test_curves_have_no_corners_but_where_they_meet_a_side():
    assert "extreme" not in series_of(plot_simplex(design(TRIANGLE, ChiSquare(0.05))))
    labels = plot_simplex(design(TRIANGLE, KL(0.1))).axes[0].get_legend_handles_labels()[1]
    assert "corners of it (on its curves every point is extreme)" in labels


def test_perfect_privacy_is_a_point_or_a_line():
    point = series_of(plot_simplex(design(TRIANGLE, MaxLift(0))))["allowed"]
    assert np.ptp(point, axis=0).max() < 1e-9
    flat = Joint([[1, 2, 3], [3, 2, 1]], counts=True)
    solution = design(flat, MaxLift(0))
    assert solution.normalized_utility > 0.1
    found = series_of(plot_simplex(solution))
    assert np.ptp(found["allowed"], axis=0).max() > 0.5
    np.testing.assert_allclose(found["extreme"], [[0, 1, 0], [0.5, 0, 0.5]], atol=1e-9)


def test_three_secrets_have_a_triangle_of_their_own():
    joint = Joint(np.random.default_rng(3).integers(1, 40, (3, 9)), counts=True)
    solution = design(joint, AlphaLift(3, 0.1))
    found = series_of(plot_simplex(solution))
    np.testing.assert_allclose(found["outputs"], p_s_given_y(solution.mechanism).T, atol=1e-9)
    np.testing.assert_allclose(found["P(s|x)"], (np.array(joint.weights) / joint.x_weights).T, atol=1e-9)
    ring = found["allowed"]
    values = solution.region.value(ring / joint.p_s, joint.p_s)
    on_side = ring.min(axis=1) < 1e-9
    np.testing.assert_allclose(values[~on_side], solution.region.budget, rtol=1e-9)
    with pytest.raises(InputError, match="the joint is 2 x 4"):
        plot_simplex(design(random_joint(0, (2, 4)), MaxLift(0.1)))


# --- all of them ---


LONG = [f"a label that is long enough to need space, of symbol {i}" for i in range(200)]


@pytest.mark.parametrize("shape", [(2, 1), (3, 3), (2, 5), (5, 16), (40, 3), (10, 200)])
def test_nothing_is_drawn_beside_the_page(shape):
    table = np.random.default_rng(0).integers(1, 60, shape)
    joint = Joint(table, LONG[: shape[0]], LONG[: shape[1]], counts=True, origin=Origin((LONG[0],), (LONG[1],)))
    for name, picture in pictures_of(some_solution(joint, AlphaLift(3, 0.2) & MaxLift(0.5))).items():
        FigureCanvasAgg(picture).draw()
        box = picture.get_tightbbox()
        wide, tall = picture.get_size_inches()
        assert box.x0 >= 0, name
        assert box.y0 >= 0, name
        assert box.x1 <= wide, name
        assert box.y1 <= tall, name


@pytest.mark.parametrize(
    "table", [[[1, 2, 4], [1, 2, 4]], [[1], [2]], [[1, 2]], [[5]], [[1, 0, 0], [0, 1, 0], [0, 0, 5]]]
)
def test_degenerate_designs_have_all_pictures(table, tmp_path):
    for region in (MaxLift(0.1), PML(0.1)):
        for name, picture in pictures_of(design(Joint(table, counts=True), region)).items():
            for ending in ("png", "csv", "tex"):
                assert save_figure(picture, tmp_path / f"{name}.{ending}").stat().st_size > 50


@pytest.mark.parametrize("ending", ["pdf", "svg", "png", "csv", "tex"])
def test_hostile_labels_are_only_shown(ending, tmp_path):
    joint = Joint(TRIANGLE.weights, HOSTILE, HOSTILE, counts=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, picture in pictures_of(design(joint, LIP(0.4))).items():
            text = save_figure(picture, tmp_path / f"{name}.{ending}").read_bytes()
            assert b"<script" not in text or ending in ("csv", "tex")
            assert b"\x1b" not in text or ending in ("png", "pdf", "csv")
            assert b"\\input" not in text or ending != "tex"


def test_a_legend_tells_of_labels_that_begin_with_an_underscore():
    joint = Joint(TRIANGLE.weights, HOSTILE, counts=True)
    assert len(plot_lifts(design(joint, LIP(0.4))).legends[0].get_texts()) == 3


def test_names_come_from_the_columns_unless_they_are_told():
    table = pd.DataFrame([("a", "b"), ("c", "d"), ("a", "d")] * 20, columns=["sick", "job"])
    solution = design(read_joint(table, sensitive="sick", useful="job"), MaxLift(0.1))
    assert "Releasing job; the promise about sick" in solution.plot().get_suptitle()
    assert solution.mechanism.plot().axes[1].get_xlabel() == "sick (the secret)"
    assert solution.mechanism.plot(secret="diagnosis").axes[1].get_xlabel() == "diagnosis (the secret)"
    local = design(read_joint(table, sensitive="sick", useful="job"), PML(0.1))
    assert "the promise about job itself" in local.plot().get_suptitle().replace("\n", " ")


def test_objects_draw_themselves():
    comparison = compare(TRIANGLE, MaxLift(0.2))
    for drawn in (SOLVED.plot(), SOLVED.mechanism.plot(), comparison.plot()):
        assert isinstance(drawn, Figure)
    kept = [row.normalized_utility for row in comparison.rows if row.kept]
    assert comparison.plot().panels[0].series[0].x == kept


# --- files ---


def test_numbers_of_a_picture_are_a_table(tmp_path):
    path = save_figure(plot_mechanism(SOLVED.mechanism), tmp_path / "m.csv")
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    found = [float(row["value"]) for row in rows if row["panel"] == "P(y|x)"]
    np.testing.assert_array_equal(np.reshape(found, SOLVED.mechanism.p_y_given_x.shape), SOLVED.mechanism.p_y_given_x)
    assert {row["x"] for row in rows if row["panel"] == "P(y|x)"} == set(TRIANGLE.x_labels)


def test_pgfplots_have_the_same_numbers_and_no_commands_from_labels(tmp_path):
    joint = Joint(TRIANGLE.weights, ["100% \\def", "#{_^~", "c & $d$"], counts=True)
    text = save_figure(plot_lifts(some_solution(joint, MaxLift(0.2))), tmp_path / "l.tex").read_text()
    assert text.count(r"\begin{tikzpicture}") == text.count(r"\end{tikzpicture}") == 2
    assert r"\addlegendentry{100\% \textbackslash{}def}" in text
    assert r"\#\{\_\textasciicircum{}\textasciitilde{}" in text
    assert re.sub(r"\\[{}]", "", text).count("{") == re.sub(r"\\[{}]", "", text).count("}")
    mechanism = save_figure(plot_mechanism(SOLVED.mechanism), tmp_path / "m.tex").read_text()
    assert "mesh/cols=3" in mechanism
    numbers = [list(map(float, line.split())) for line in mechanism.splitlines() if re.fullmatch(r"  [\d. e-]+", line)]
    np.testing.assert_array_equal(
        [row[2] for row in numbers[: 3 * len(SOLVED.mechanism.p_y)]], SOLVED.mechanism.p_y_given_x.ravel()
    )


def test_a_spreadsheet_runs_no_label(tmp_path):
    joint = Joint(TRIANGLE.weights, x_labels=["=1+1", "b", "c"], counts=True)
    with pytest.raises(InputError, match="begin like a formula"):
        save_figure(plot_mechanism(Mechanism.publishing_all(joint)), tmp_path / "m.csv")
    assert not list(tmp_path.iterdir())


def test_other_endings_are_refused(tmp_path):
    for name in ("m.jpeg", "m"):
        with pytest.raises(InputError, match=r"figures are saved as \.pdf, \.png, \.svg, \.csv, \.tex"):
            save_figure(plot_mechanism(SOLVED.mechanism), tmp_path / name)
    with pytest.raises(InputError, match="has no numbers of its own"):
        save_figure(Figure(), tmp_path / "m.csv")


@pytest.mark.parametrize("ending", ["svg", "pdf", "csv", "tex"])
def test_equal_pictures_are_equal_files(ending, tmp_path):
    for name, picture in pictures_of(SOLVED).items():
        one = save_figure(picture, tmp_path / f"1.{ending}").read_bytes()
        assert one == save_figure(pictures_of(SOLVED)[name], tmp_path / f"2.{ending}").read_bytes()


def test_the_page_about_pictures_runs(tmp_path, monkeypatch):
    page = (Path(__file__).parent.parent.parent / "docs" / "pictures.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "pictures.md", "exec"), {})
    assert {path.name for path in tmp_path.iterdir()} == set(re.findall(r'"(\w+\.(?:pdf|svg|png|tex|csv))"', code))
    for name in re.findall(r"`(plot_\w+)`", page):
        assert hasattr(alphalift, name)
