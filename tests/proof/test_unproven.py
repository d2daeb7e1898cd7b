"""A promise that the checker does not know is designed for, and called unproven wherever it is shown."""

from dataclasses import dataclass

import numpy as np
import pytest

from alphalift import InputError, Joint, Region, Status, describe, design, to_document
from alphalift.baselines import CompleteMerging


@dataclass(frozen=True)
class LargestLift(Region):
    """A user's own promise, without anything for the checker."""

    most: float

    @property
    def budget(self):
        return self.most

    def value(self, lifts, p_s):
        return lifts.max(axis=-1)

    def support(self, directions, p_s):
        return self.most * np.maximum(directions, 0.0) @ p_s


def test_a_users_own_region_is_unproven_and_no_file_carries_it():
    joint = Joint([[4, 3, 1], [1, 3, 4]], counts=True)
    solution = design(joint, LargestLift(1.3), solver=CompleteMerging())
    assert solution.status is Status.UNPROVEN
    assert solution.integers is None
    assert "unproven" in describe(solution)
    assert "Not proven" in describe(solution)
    with pytest.raises(InputError, match="only a proven mechanism"):
        to_document(solution)
