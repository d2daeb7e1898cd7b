"""Codebook and manifest: what a receiver needs, computed from what the receiver may see, and nothing else."""

import json
from dataclasses import fields
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphalift import InputError, Joint, MaxLift, design
from alphalift.arrays import dense
from alphalift.joint import Variable
from alphalift.population.receiver import estimated_p_x
from alphalift.proof.checker import Integers, rows_of
from alphalift.proof.rounding import as_floats
from alphalift.release.outputs import Outputs
from alphalift.release.public import Facts, codebook, manifest, public_name
from alphalift.release.told import rounding, told

JOINT = Joint([[400, 300, 100], [100, 300, 800]], x_labels=["low", "mid", "high"], counts=True)
INTEGERS = design(JOINT, MaxLift(0.2)).integers
OUTPUTS = Outputs.of(INTEGERS, Variable(("income",), JOINT.x_labels))
COUNTS = [700, 600, 700]
FACTS = {
    "mechanism": "name",
    "promise": "max-lift of illness is at most e^0.2",
    "columns": ("income",),
    "bins": (("income", (0.0, 10.0)),),
    "written_as": ("released income",),
    "rows": 2000,
    "ids": "pseudonym",
    "id_column": "id",
    "ids_checked": True,
    "namespace": "default",
}


def book(**changes):
    return codebook(INTEGERS, OUTPUTS, **({"name": "name", "counts": COUNTS, "designed_from": 2000} | changes))


def columns():
    """Columns of integers that sum to 2^bits, from 1 to 4096 bits."""
    cuts = st.lists(st.integers(0, 2**4096), min_size=0, max_size=8)
    return st.tuples(st.sampled_from([1, 8, 52, 4096]), cuts).map(
        lambda drawn: (
            drawn[0],
            np.diff([0, *sorted(cut >> (4096 - drawn[0]) for cut in drawn[1]), 2 ** drawn[0]]).tolist(),
        )
    )


@given(columns(), st.integers(1, 10**12))
def test_what_is_told_sums_to_one_and_is_right_to_a_standard_error(column, records):
    bits, weights = column
    integers = Integers(
        {"s": ["s"], "x": ["x"], "y": list(map(str, range(len(weights))))},
        bits,
        rows_of([[w] for w in weights], dense=True),
        None,
    )
    shares, law = as_floats(integers.weights, bits, 1).toarray()[:, 0], told(integers, records)[:, 0]
    assert sum(Decimal(repr(p)) for p in law.tolist()) == 1
    assert [p > 0 for p in law] == [w > 0 for w in weights]
    errors = np.sqrt(shares * (1 - shares) / records) + 2e-12
    largest = int(shares.argmax())
    others = np.arange(len(law)) != largest
    assert (np.abs(law - shares) <= errors)[others].all()
    assert abs(law - shares)[largest] <= errors[others].sum() + 1e-15


def test_more_records_support_more_digits():
    digits = [len(str(told(INTEGERS, records).tolist())) for records in (20, 2_000, 200_000, 10**9)]
    assert all(fewer < more for fewer, more in pairwise(digits))


def test_few_records_of_either_table_mean_few_digits():
    """A mechanism for a small table does not become public by releasing a large one with it."""
    many = [700_000, 600_000, 700_000]
    small = book(counts=many, designed_from=40)["outputs"]
    assert [output["p_y_given_x"] for output in small] == [
        output["p_y_given_x"] for output in book(counts=[14, 12, 14], designed_from=2000)["outputs"]
    ]


def test_digits_are_those_of_the_released_rows_or_hide_the_size_of_a_smaller_table():
    assert [book(designed_from=size)["digits_of_records"] for size in (5000, 2000, 1999, 40)] == [2000, 2000, 1024, 32]
    assert book(counts=None)["digits_of_records"] == 1024


@pytest.mark.parametrize("records", [30, 2_000, 10**6])
def test_rounding_is_counted_as_half_a_step_of_all_but_the_largest(records):
    """Nothing that is told is farther from the mechanism than a step, which is twice what is counted."""
    law, exact = dense(told(INTEGERS, records)), dense(as_floats(INTEGERS.weights, INTEGERS.bits, 3))
    half, largest = np.sqrt(rounding(law, records)), law.argmax(axis=0)
    assert (half[largest, range(3)] == 0).all()
    others = np.arange(len(law))[:, None] != largest
    assert (np.abs(law - exact) <= 2 * half + 1e-12)[others].all()
    assert (half[others] <= np.sqrt(law * (1 - law) / (records // 3))[others] * 0.5 + 1e-9).all()


def test_p_x_is_estimated_from_the_released_rows_alone():
    law = told(INTEGERS, 2000)
    p_x = np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(estimated_p_x(law, law @ p_x * 2000), p_x, atol=1e-4)
    assert sum(book()["p_x_estimated"].values()) == pytest.approx(1, abs=1e-3)
    # Rows that none of the outputs explains as the table would: the estimate follows the rows.
    assert book(counts=[0, 2000, 0])["p_x_estimated"] == {"mid": 1.0}


def test_posteriors_follow_from_what_is_told():
    content = book()
    p_x = content["p_x_estimated"]
    for output in content["outputs"]:
        mass = {x: p * p_x[x] for x, p in output["p_y_given_x"].items()}
        for x, p in output["p_x_given_y_estimated"].items():
            assert p == pytest.approx(mass[x] / sum(mass.values()), abs=1e-3)


def test_without_counts_nothing_is_estimated():
    content = book(counts=None)
    assert content["rows"] is content["p_x_estimated"] is content["outputs"][0]["p_x_given_y_estimated"] is None


def test_codebooks_are_json_and_name_no_identity():
    text = json.dumps([book(), manifest(Facts(**FACTS))], allow_nan=False)
    assert INTEGERS.identity not in text
    assert INTEGERS.identity.removeprefix("sha256:")[:16] not in text


def test_notes_say_how_labels_are_read():
    notes = book()["notes"]
    assert "'A | B': one of them" in notes["label"]
    assert "'mostly A': two thirds or more of its rows are A" in notes["label"]
    assert not {"(missing)", "texts", "combinations", "released code"} & set(notes), "nothing that does not occur"


def test_notes_use_the_words_of_the_labels():
    labels = ["mostly a", "b | c"]
    integers = Integers({"s": ["s"], "x": labels, "y": labels}, 1, [{0: 2}, {1: 2}], None)
    outputs = Outputs.of(integers, Variable(("u",), tuple(labels)))
    notes = codebook(integers, outputs, name=None, counts=None, designed_from=10)["notes"]
    assert "'A + B': one of them" in notes["label"]
    assert "'mainly A': two thirds" in notes["label"]


def test_combinations_are_told_together():
    """By column alone 'a | b' and '1 | 2' could be four combinations; the output names two."""
    labels = ["a, 1", "b, 2", "a, (missing)", r"b\, c, 1"]
    y_labels = ["a, 1 | b, 2", r"a, (missing) | b\, c, 1"]
    integers = Integers({"s": ["s"], "x": labels, "y": y_labels}, 1, [{0: 2, 1: 2}, {2: 2, 3: 2}], None)
    content = codebook(
        integers, Outputs.of(integers, Variable(("u", "v"), tuple(labels))), name=None, counts=None, designed_from=10
    )
    assert content["outputs"][0]["texts"] == ["a | b", "1 | 2"]
    assert [output["combinations"] for output in content["outputs"]] == [
        [["a", "1"], ["b", "2"]],
        [["a", "(missing)"], ["b, c", "1"]],
    ]
    notes = content["notes"]
    assert "empty cell" in notes["(missing)"]
    assert "`code`" in notes["released code"]
    assert "do not say which of them belong together" in notes["texts"]
    assert "in the order of `columns`" in notes["combinations"]
    for column in ("code", "v"):
        outputs = Outputs.of(integers, Variable(("u", column), tuple(labels)))
        told_of = codebook(integers, outputs, name=None, counts=None, designed_from=10)
        assert told_of["written_as"][-1] in told_of["notes"], "under the name that is written"


def test_the_manifest_says_how_many_earlier_releases_a_promise_counts_in():
    assert "together with" not in manifest(Facts(**FACTS))["covers"]
    assert "together with 1 earlier release " in manifest(Facts(**FACTS, earlier=1))["covers"]
    assert "together with 2 earlier releases " in manifest(Facts(**FACTS, earlier=2))["covers"]
    with pytest.raises(InputError, match="earlier releases are -1"):
        Facts(**FACTS, earlier=-1)


def test_a_name_needs_the_key():
    names = {public_name(key, identity) for key in (b"k" * 32, b"l" * 32) for identity in ("sha256:a", "sha256:b")}
    assert len(names) == 4
    assert public_name(b"k" * 32, "sha256:a") in names


def test_4096_bits_can_be_told():
    whole = 1 << 4096
    integers = Integers({"s": ["s"], "x": ["a", "b"], "y": ["y", "z"]}, 4096, [{0: whole - 1}, {0: 1, 1: whole}], None)
    outputs = Outputs.of(integers, Variable(("u",), ("a", "b")))
    content = codebook(integers, outputs, name=None, counts=[5, 5], designed_from=10)
    assert content["outputs"][0]["p_y_given_x"]["a"] == pytest.approx(1)


def test_every_fact_is_in_the_manifest():
    one = json.dumps(manifest(Facts(**FACTS)))
    changes = {"ids": "real", "ids_checked": False, "rows": 7, "bins": (), "id_column": "ssn", "earlier": 1}
    for field in fields(Facts):
        default = FACTS.get(field.name, getattr(Facts, field.name, None))
        change = changes.get(field.name, (*default, "other") if isinstance(default, tuple) else "other")
        assert json.dumps(manifest(Facts(**(FACTS | {field.name: change})))) != one, field.name


def test_the_manifest_says_how_ids_are_shown():
    assert "pseudonyms" in manifest(Facts(**FACTS))["ids"]
    assert "the table's own" in manifest(Facts(**(FACTS | {"ids": "real"})))["ids"]
    assert manifest(Facts(**(FACTS | {"ids": "none"})))["ids"] == "left out"
    fresh = manifest(Facts(**(FACTS | {"ids": "none", "id_column": None})))
    assert "fresh randomness" in fresh["ids"]
    assert fresh["repeated_ids"] is None
    with pytest.raises(InputError, match="expected one of pseudonym, real, none"):
        Facts(**(FACTS | {"ids": "pseudonyms"}))
