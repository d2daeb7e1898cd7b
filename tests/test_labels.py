"""Labels say what an output is: plainly only where it is nothing else."""

import numpy as np
import pytest
from hypothesis import given

from alphalift import Joint, Mechanism
from alphalift.labels import Words, output_labels
from strategies import mechanisms


def named(posteriors, x_labels):
    """Labels of outputs with these posteriors, a row each."""
    return output_labels(np.array(posteriors, float), x_labels)


def test_plain_is_only_what_is_certain():
    posteriors = [[1, 0, 0], [0.88, 0.12, 0], [0.5, 0.5, 0], [0.4, 0.4, 0.2]]
    assert named(posteriors, "ABC") == ("A", "mostly A", "A | B", "mostly A | B")


def test_two_thirds_are_most_and_less_is_not():
    twenty = [f"x{i}" for i in range(20)]
    (label,) = named([[0.05] * 20], twenty)
    assert label == "often x0 | x1 | x2 | x3 | x4 | x5"


@given(mechanisms(useful=(2, 6)))
def test_a_label_is_true_of_its_output(mechanism):
    x_labels = mechanism.joint.x_labels
    assert len(set(mechanism.y_labels)) == len(mechanism.p_y)
    for label, posterior in zip(mechanism.y_labels, mechanism.p_x_given_y.T, strict=True):
        names, how = Words.beside(x_labels).read(label, {x: number for number, x in enumerate(x_labels)})
        held = posterior[list(names)].sum()
        if how == "only":
            assert {x for x, p in enumerate(posterior) if p > 0} == names
        else:
            assert (held >= 2 / 3 - 1e-8) == (how == "mostly")
        assert (label in x_labels) == (how == "only" and len(names) == 1 and not label.endswith(")"))


@pytest.mark.parametrize(
    "x_labels",
    [
        ("A", "mostly A", "often B"),
        ("A", "mostly A", "mainly A"),
        ("mostly A", "mainly A", "chiefly A"),
        ("A", "A (2)", "A (3)"),
        ("A | B", "A", "B"),
        ("A | B", "A + B & A || B ++ A", "B"),
    ],
)
def test_no_output_is_called_like_a_value_that_it_is_not(x_labels):
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.dirichlet(np.full(3, 0.3), size=8)
        p[rng.random(p.shape) < 0.4] = 0
        p = np.vstack([p[p.any(axis=1)], np.eye(3)])
        p /= p.sum(axis=1, keepdims=True)
        labels = output_labels(p, x_labels)
        assert len(set(labels)) == len(p)
        for label, posterior in zip(labels, p, strict=True):
            if label in x_labels:
                assert posterior[x_labels.index(label)] == 1


def test_a_value_of_another_begins_with_the_word():
    joint = Joint([[5, 1], [1, 5]], x_labels=["Low", "mostly Low"], counts=True)
    assert Mechanism(joint, np.array([[0.9, 0.1], [0.1, 0.9]])).y_labels == ("mainly Low", "mainly mostly Low")
