"""sweep: many joints and regions, in this process or in a pool."""

import math

import pytest

from alphalift import Algorithm1, AlphaLift, InputError, MaxLift, SettingError, grid, sweep
from alphalift.baselines import SubsetMerging
from strategies import random_joint

REGIONS = grid(AlphaLift, alpha=[math.inf, 3], epsilon=[0.1, 0.2])


def test_one_joint():
    tradeoff = sweep(random_joint(0, (3, 4)), REGIONS, solver=Algorithm1())
    frame = tradeoff.to_frame()
    assert list(frame["alpha"]) == [math.inf, math.inf, 3, 3]
    assert list(frame["epsilon"]) == [0.1, 0.2, 0.1, 0.2]
    cell = tradeoff.at(AlphaLift(3, 0.1))
    assert cell.normalized_utility == frame["normalized_utility"][2]
    assert frame["value"][2] == pytest.approx(math.exp(cell.mechanism.leakage(3)))
    assert tradeoff.at(MaxLift(0.2)) is tradeoff.solutions[0][1]


def test_a_pool_gives_the_same_numbers_in_the_same_order():
    joints = [random_joint(seed, (3, 4)) for seed in range(5)]
    here = sweep(joints, REGIONS, solver=SubsetMerging(), workers=1)
    there = sweep(joints, REGIONS, solver=SubsetMerging(), workers=2)
    assert here.to_frame().equals(there.to_frame())
    assert there.at(MaxLift(0.1), joint=3).joint == joints[3]


def test_what_was_not_swept_is_refused():
    tradeoff = sweep(random_joint(0, (2, 3)), [MaxLift(0.1)])
    with pytest.raises(InputError, match="not part of this sweep"):
        tradeoff.at(MaxLift(0.2))


def test_empty_sweeps_and_bad_workers_are_refused():
    with pytest.raises(InputError, match="at least one"):
        sweep([], REGIONS)
    with pytest.raises(InputError, match="at least one"):
        sweep(random_joint(0), [])
    with pytest.raises(SettingError, match="workers"):
        sweep(random_joint(0), REGIONS, workers=0)
