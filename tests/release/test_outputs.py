"""Outputs as they are written: separate columns that say as much as the code, and true labels."""

import numpy as np
import pyarrow as pa
import pytest

from alphalift.joint import Variable
from alphalift.proof.checker import Integers, rows_of
from alphalift.release.outputs import Outputs
from alphalift.tables.symbols import key_of

PAIRS = ["a, 1", "a, 2", "b, 1", "b, 2"]


def integers(weights, x_labels, y_labels, bits=2):
    return Integers({"s": ["s"], "x": list(x_labels), "y": list(y_labels)}, bits, rows_of(weights, dense=True), None)


def two(weights, y_labels, x_labels=PAIRS, columns=("u", "v")):
    return Outputs.of(integers(weights, x_labels, y_labels), Variable(columns, tuple(x_labels)))


def test_several_columns_are_written_apart_with_the_code():
    outputs = two([[4, 0, 0, 0], [0, 4, 1, 1], [0, 0, 3, 3]], ["a, 1", "mostly a, 2", "b, 1 | b, 2"])
    assert outputs.columns() == ["released u", "released v", "released code"]
    arrays = outputs.arrays(np.array([2, 0, 1, 1]))
    assert {name: array.to_pylist() for name, array in arrays.items()} == {
        "released u": ["b", "a", "mostly a", "mostly a"],
        "released v": ["1 | 2", "1", "mostly 2", "mostly 2"],
        "released code": [3, 1, 2, 2],
    }
    assert pa.types.is_dictionary(arrays["released u"].type)


def test_a_column_that_cannot_have_other_values_is_plain():
    outputs = two([[4, 1, 0, 0], [0, 3, 4, 4]], ["mostly a, 1", "mostly b, 1 | b, 2"])
    assert outputs.texts == (("a", "mostly b"), ("mostly 1", "1 | 2"))


def test_texts_that_two_outputs_share_give_way_to_the_label():
    outputs = two([[2, 0, 0, 2], [0, 2, 2, 0], [2, 2, 2, 2]], ["a, 1 | b, 2", "a, 2 | b, 1", "all"])
    assert outputs.texts == ()
    assert outputs.columns() == ["released u and v", "released code"]
    assert outputs.arrays(np.array([1]))["released u and v"].to_pylist() == ["a, 2 | b, 1"]


def test_one_column_has_its_label_alone():
    outputs = two([[4, 4], [0, 0]], ["x", "y"], ["x", "y"], ("u",))
    assert outputs.columns() == ["released u"]


def test_labels_of_version_1_get_their_word():
    outputs = two([[4, 1], [0, 3]], ["Low", "High"], ["Low", "High"], ("u",))
    assert outputs.labels == ("mostly Low", "High")


def test_labels_of_ones_own_stay():
    assert two([[4, 1], [0, 3]], ["yes", "no"], ["Low", "High"], ("u",)).labels == ("yes", "no")


def test_a_column_called_code_does_not_hide_the_code():
    outputs = two([[4, 0, 0, 0], [0, 4, 4, 4]], ["a, 1", "mostly a, 2"], columns=("code", "v"))
    assert len(set(outputs.columns())) == 3


def test_a_text_is_never_a_value_that_the_output_need_not_have():
    x_labels = ["mostly a, 1", "mainly a, 1", "chiefly a, 1", "a, 1", "c, 2"]
    outputs = two([[0, 0, 0, 4, 1], [4, 4, 4, 0, 3]], ["sometimes a, 1", "rest"], x_labels)
    assert outputs.texts is not None
    for texts, place in zip(outputs.texts, range(2), strict=True):
        values = [key_of(x, 2)[place] for x in x_labels]
        possible = [{values[x] for x, weight in enumerate(row) if weight} for row in ([0, 0, 0, 4, 1], [4, 4, 4, 0, 3])]
        for text, own in zip(texts, possible, strict=True):
            assert text not in values or own == {text}


@pytest.mark.parametrize("numbers", [np.array([], np.int32), np.array([0], np.int64)])
def test_any_integers_will_do(numbers):
    assert len(two([[4, 4]], ["x | y"], ["x", "y"], ("u",)).arrays(numbers)["released u"]) == len(numbers)
