"""A user's own promise: the same optimum as a built-in one, and refused where it is not what it says."""

import numpy as np
import pytest

from alphalift import ChiSquare, Custom, MaxLift, PromiseError, Status, design
from strategies import random_joint


def spread(epsilon, **changes):
    functions = {
        "row_value": lambda lifts, p_s: np.sqrt((lifts - 1) ** 2 @ p_s),
        "row_support": ChiSquare(epsilon).support,
    }
    return Custom("spread", epsilon, **(functions | changes))


@pytest.mark.parametrize("shape", [(2, 5), (3, 4)])
def test_a_users_region_reaches_the_same_optimum(shape):
    joint = random_joint(3, shape)
    own, known = design(joint, spread(0.2)), design(joint, ChiSquare(0.2))
    assert own.status is Status.UNPROVEN
    assert own.utility == pytest.approx(known.utility, abs=2e-4)
    assert own.relative_gap <= 1e-4
    assert own.mechanism.check(ChiSquare(0.2))


def test_with_another_promise():
    joint = random_joint(3, (3, 4))
    own, known = (design(joint, region & MaxLift(0.2)) for region in (spread(0.2), ChiSquare(0.2)))
    assert own.utility == pytest.approx(known.utility, abs=2e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row_value": lambda lifts, p_s: np.sqrt(np.abs(lifts - 1)) @ p_s}, "not convex"),
        ({"row_value": lambda lifts, p_s: 1 + lifts.max(axis=1)}, "forbids revealing nothing"),
        ({"row_value": lambda lifts, p_s: lifts.max(axis=1) * np.nan}, "NaN|nothing"),
        ({"row_support": ChiSquare(0.1).support}, "row_support does not fit"),
    ],
)
def test_what_is_not_a_convex_promise_is_refused(changes, message):
    with pytest.raises(PromiseError, match=message):
        design(random_joint(3, (3, 4)), spread(0.2, **changes))
