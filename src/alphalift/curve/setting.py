"""What all budgets of a curve have in common, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from alphalift.clock import Clock
from alphalift.curve.family import Family
from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.utilities import Utility

# Where publishing X is never allowed, curves end here unless told.
_FARTHEST = 10.0
# Budgets nearer to each other, as a share of the larger one, are not told apart; the least that is looked at beside 0.
_NARROWEST, _LEAST_BUDGET = 1e-9, 1e-9
# A stretch is split where its lower end is at most so much smaller than its upper one, in the middle; else by ratio.
_RATIO = 8.0


@dataclass(frozen=True, eq=False)
class Setting:
    """A family of promises about a joint, the utility, how near envelopes have to be, and the time for that."""

    family: Family
    joint: Joint
    utility: Utility
    accuracy: float
    clock: Clock
    largest: float
    end: float

    @classmethod
    def of(
        cls, family: Family, joint: Joint, utility: Utility, accuracy: float, clock: Clock, up_to: float | None
    ) -> Setting:
        family.require_one_budget(joint)
        about, largest = family.at(1.0).about(joint), family.largest(joint)
        end = min(largest, _FARTHEST if up_to is None else up_to)
        if not end >= 0:
            raise SettingError(f"up_to is {up_to}, expected a number of 0 or more")
        return cls(family, about, utility.on(about), accuracy, clock, largest, end)

    @cached_property
    def everything(self) -> float:
        """What publishing X is worth."""
        return self.utility.of_publishing_all(self.joint.p_x)

    def share(self, utility: float) -> float:
        return utility / self.everything if self.everything > 0 else 1.0


def between(low: float, high: float, steps: int) -> float | None:
    """Where to look between two budgets that should be so many steps apart; nowhere if they are as good as one."""
    if high - low <= _NARROWEST * high or high <= _LEAST_BUDGET:
        return None
    if low * _RATIO < high:
        return max((low * high) ** 0.5, high / _RATIO)
    return low + (high - low) * (steps // 2) / steps
