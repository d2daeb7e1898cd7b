"""A channel is decided exactly: as brute force with fractions does, and not as floats would."""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from alphalift import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    Channel,
    ChiSquare,
    Custom,
    InputError,
    Joint,
    MaxLift,
    Mechanism,
    PromiseError,
    Renyi,
    TotalVariation,
    audit_channel,
    design,
)
from alphalift.audit import Labelled, read_channel, read_joint_matrix, read_labelled

getcontext().prec = 60
JOINT = Joint([[30, 10, 20], [5, 25, 10]], ["a", "b"], ["u", "v", "w"], counts=True)
CHANNEL = Channel.of([["0.5", "0.25", "1/3"], ["0.5", "0.75", "2/3"]], ["lo", "hi"], ["u", "v", "w"])


def brute_lifts(channel, weights):
    """P(s|y) / P(s) as fractions, one row an output."""
    total = sum(map(sum, weights))
    rows = []
    for row in channel.p_y_given_x:
        masses = [sum(p * n for p, n in zip(row, own, strict=True)) for own in weights]
        rows.append([Fraction(mass * total, sum(masses) * sum(own)) for mass, own in zip(masses, weights, strict=True)])
    return rows, [Fraction(sum(own), total) for own in weights]


def log(number):
    return (Decimal(number.numerator) / Decimal(number.denominator)).ln()


def mean(values, prior):
    return sum((Decimal(p.numerator) / p.denominator) * v for p, v in zip(prior, values, strict=True))


def as_decimal(number):
    return Decimal(number.numerator) / Decimal(number.denominator)


def brute_epsilons(lifts, p):
    """The epsilon of every kind of promise for one output, by its definition, with 60 digits."""
    found = {
        "MaxLift": log(max(lifts)),
        "LIP": max(abs(log(own)) for own in lifts),
        "LDP": log(max(lifts) / min(lifts)),
        "TotalVariation": mean([abs(as_decimal(own) - 1) for own in lifts], p) / 2,
        "ChiSquare": mean([(as_decimal(own) - 1) ** 2 for own in lifts], p).sqrt(),
        "KL": mean([as_decimal(own) * log(own) for own in lifts], p),
    }
    for order in ("1.5", "3", "10"):
        a = Decimal(order)
        norm = mean([as_decimal(own) ** a for own in lifts], p).ln()
        found |= {f"AlphaLift {order}": norm / a, f"Renyi {order}": norm / (a - 1)}
    return found


def test_the_least_epsilons_are_those_of_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(10):
        weights = rng.integers(1, 50, (3, 4)).tolist()
        rows = rng.integers(1, 30, (3, 4))
        entries = [
            [Fraction(int(own), int(total)) for own, total in zip(row, rows.sum(axis=0), strict=True)] for row in rows
        ]
        channel, joint = Channel.of(entries), Joint(weights, counts=True)
        audit = audit_channel(channel, joint, MaxLift(5))
        by_output = [brute_epsilons(own, brute_lifts(channel, weights)[1]) for own in brute_lifts(channel, weights)[0]]
        diagonal = [[sum(column) * (i == j) for j, column in enumerate(zip(*weights, strict=True))] for i in range(4)]
        exact = {name: max(own[name] for own in by_output) for name in by_output[0]}
        exact["PML"] = max(log(max(own)) for own in brute_lifts(channel, diagonal)[0])
        assert audit.least.keys() == exact.keys()
        for name, epsilon in exact.items():
            assert Decimal(audit.least[name]) >= epsilon > Decimal(audit.least[name]) - Decimal("1e-6"), name


@pytest.mark.parametrize(
    "kind", [MaxLift, PML, LIP, LDP, TotalVariation, ChiSquare, KL, lambda e: AlphaLift(3, e), lambda e: Renyi(3, e)]
)
def test_a_promise_is_kept_at_its_least_epsilon_and_not_just_below(kind):
    least = audit_channel(CHANNEL, JOINT, MaxLift(1)).least
    name = " ".join([type(kind("1")).__name__] + (["3"] if type(kind("1")) in (AlphaLift, Renyi) else []))
    epsilon = Decimal(least[name])
    assert audit_channel(CHANNEL, JOINT, kind(str(epsilon)))
    below = audit_channel(CHANNEL, JOINT, kind(str(epsilon - Decimal("1e-6"))))
    assert not below
    assert len(below.broken) >= 1


def test_a_decimal_is_decided_where_floats_cannot():
    """Total variation of exactly 1/10, by decimals; 1e-30 more is too much."""
    joint = Joint([[1, 0], [0, 1]], x_labels=["u", "v"], counts=True)
    for digits, kept in (("0.6", True), ("0." + "6" + "0" * 29 + "1", False)):
        other = str(1 - Decimal(digits))
        channel = Channel.of([[digits, other], [other, digits]], x_labels=["u", "v"])
        audit = audit_channel(channel, joint, TotalVariation("0.1"))
        assert audit.kept is kept
        assert audit.broken == (() if kept else ("y0", "y1"))
        assert audit.value == pytest.approx(0.1)


def test_measures_are_those_of_the_catalogue():
    audit = audit_channel(CHANNEL, JOINT, LDP(1) & LIP(1))
    own = Mechanism(JOINT, [[0.5, 0.25, 1 / 3], [0.5, 0.75, 2 / 3]]).measures()
    pd.testing.assert_frame_equal(audit.measures, own, rtol=1e-12)
    assert audit.value == pytest.approx(
        Mechanism(JOINT, [[0.5, 0.25, 1 / 3], [0.5, 0.75, 2 / 3]]).worst_value(LDP(1) & LIP(1))
    )
    assert math.exp(float(audit.least["MaxLift"])) == pytest.approx(
        math.exp(own.loc[("S", "max-lift"), "overall"]), abs=2e-6
    )


def test_a_design_of_ours_keeps_its_promise_and_no_smaller_one():
    solution = design(JOINT, AlphaLift(3, 0.02))
    channel = Channel.of_integers(solution.integers)
    assert audit_channel(channel, JOINT, AlphaLift(3, 0.02))
    assert not audit_channel(channel, JOINT, AlphaLift(3, 0.019))
    assert audit_channel(channel, JOINT, AlphaLift(3, 0.02)).least["AlphaLift 3"] == "0.020000"


def test_values_without_mass_and_outputs_that_never_occur_are_left_out():
    joint = Joint([[30, 10, 0], [5, 25, 0]], x_labels=["u", "v", "w"], counts=True)
    channel = Channel.of([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], x_labels=["u", "v", "w"])
    assert audit_channel(channel, joint, MaxLift(0))


def test_floats_that_sum_nearly_to_one_are_divided_and_others_are_refused():
    tenths = Channel.of([[0.1 + 0.2, 0.5], [0.7, 0.5]])
    assert tenths.normalised
    assert all(sum(column) == 1 for column in zip(*tenths.p_y_given_x, strict=True))
    assert not CHANNEL.normalised
    with pytest.raises(InputError, match=r"one sums to 0\.999999; write all digits, or fractions such as 1/3"):
        Channel.of([["0.333333", "0.5"], ["0.666666", "0.5"]])
    with pytest.raises(InputError, match="must be distributions"):
        Channel.of([[-0.5, 0.5], [1.5, 0.5]])
    with pytest.raises(InputError, match="not a finite number"):
        Channel.of([[float("nan")]])


def test_what_cannot_be_decided_is_refused():
    with pytest.raises(InputError, match="1 of the joint's 3 values of X are not values of the channel"):
        audit_channel(Channel.of([[1, 1]], x_labels=["u", "v"]), JOINT, MaxLift(1))
    custom = Custom("mine", 1.0, lambda lifts, p_s: lifts.max(axis=-1), lambda w, p_s: w.max(axis=-1))
    with pytest.raises(PromiseError, match="not decided for one channel"):
        audit_channel(CHANNEL, JOINT, custom)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_either_way_round(tmp_path):
    across = write(tmp_path / "p.csv", "y,u,v,w\nlo,0.5,0.25,1/3\nhi,0.5,0.75,2/3\n")
    down = write(tmp_path / "q.csv", "x,lo,hi\nu,0.5,0.5\nv,.25,0.75\nw,1/3,2/3\n")
    for path, rows in ((across, "y"), (down, "x")):
        channel, way = read_channel(path, JOINT.x_labels)
        assert way == rows
        assert channel == CHANNEL or channel.p_y_given_x == CHANNEL.p_y_given_x
        assert (channel.y_labels, channel.x_labels) == (("lo", "hi"), ("u", "v", "w"))
    with pytest.raises(InputError, match="are they written alike"):
        read_channel(across, ["U", "V"])
    # Outputs have the names of the values: sums tell the way, and where they do not it has to be told.
    response = write(tmp_path / "r.csv", ",u,v\nu,0.9,0.4\nv,0.1,0.6\n")
    assert read_channel(response, ["u", "v"])[1] == "y"
    assert read_channel(write(tmp_path / "t.csv", ",u,v\nu,0.9,0.1\nv,0.4,0.6\n"), ["u", "v"])[1] == "x"
    assert read_channel(write(tmp_path / "s.csv", ",u,v\nu,0.9,0.1\nv,0.1,0.9\n"), ["u", "v"])[1] == "y"
    both = write(tmp_path / "b.csv", ",u,v,w\nu,0.5,0.3,0.2\nv,0.2,0.5,0.3\nw,0.3,0.2,0.5\n")
    with pytest.raises(InputError, match="say which"):
        read_channel(both, ["u", "v", "w"])
    assert read_channel(both, ["u", "v", "w"], rows="x")[0].p_y_given_x[0] == (
        Fraction(1, 2),
        Fraction(1, 5),
        Fraction(3, 10),
    )


def test_a_joint_is_read_from_a_matrix(tmp_path):
    counts = write(tmp_path / "j.csv", "s,u,v\na,3,1\nb,0,4\n")
    joint = read_joint_matrix(counts)
    assert (joint.n, joint.weights, joint.s_labels) == (8, ((3, 1), (0, 4)), ("a", "b"))
    turned = write(tmp_path / "k.csv", "x,a,b\nu,0.375,0\nv,1/8,0.5\n")
    assert read_joint_matrix(turned, ["u", "v", "w"]).weights == joint.weights


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("y\n", "has no entries"),
        ("y,u,v\nlo,1\n", "does not have 1 x 2 entries"),
        ("y,u,u\nlo,1,1\n", "columns with different labels"),
        ("y,u\nlo,1\nlo,1\n", "rows with different labels"),
        ("y,u\nlo,secret\n", "row 1, column 1 is not a finite number"),
        ("y,u\nlo,-1\n", "is negative"),
    ],
)
def test_a_file_that_is_no_matrix_is_refused_without_its_cells(tmp_path, text, complaint):
    with pytest.raises(InputError, match=complaint) as error:
        read_labelled(write(tmp_path / "p.csv", text))
    assert "secret" not in str(error.value)
    with pytest.raises(InputError, match="no such file"):
        read_labelled(tmp_path / "nothing.csv")
    assert Labelled(((Fraction(1),),), ("a",), ("b",)).whole
