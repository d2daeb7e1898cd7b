"""Solution: a designed mechanism with the problem that it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.utilities import Utility


class Status(Enum):
    """How good the mechanism is known to be; the value says it in words."""

    OPTIMAL = "optimal: no mechanism that keeps the promise is more useful"
    TRIVIAL = "trivial: the promise allows publishing X as it is"
    FEASIBLE = "feasible: the promise is kept, but a more useful mechanism may exist"


@dataclass(frozen=True, eq=False)
class Solution:
    """The mechanism found for a region and a utility, and its status."""

    mechanism: Mechanism
    region: Region
    objective: Utility
    status: Status

    @property
    def joint(self) -> Joint:
        return self.mechanism.joint

    @cached_property
    def utility(self) -> float:
        """The mechanism's utility; nats for mutual information."""
        return self.mechanism.utility(self.objective)

    @cached_property
    def normalized_utility(self) -> float:
        """The utility divided by that of publishing X."""
        return self.mechanism.normalized_utility(self.objective)

    def __repr__(self) -> str:
        return f"Solution({self.region}, {self.normalized_utility:.2%} of X kept, {self.status.name.lower()})"
