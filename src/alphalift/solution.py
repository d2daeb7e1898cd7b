"""Solution: a designed mechanism with the problem that it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from alphalift.errors import SettingError
from alphalift.geometry.concave import AnyCertificate
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.proof.checker import Integers
from alphalift.regions import Region
from alphalift.shown import Shown, show
from alphalift.together import Earlier
from alphalift.utilities import Utility

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Status(Enum):
    """How good the mechanism is known to be; the value says it in words."""

    OPTIMAL = "optimal: no mechanism that keeps the promise is more useful, within the gap"
    TRIVIAL = "trivial: the promise allows publishing X as it is"
    TIME_LIMIT = "time limit: the promise is kept; allow more time to close the gap to the bound"
    NODE_LIMIT = "node limit: the promise is kept; allow more nodes to close the gap to the bound"
    INTERRUPTED = "interrupted: the promise is kept; the gap to the bound was not closed"
    FEASIBLE = "feasible: the promise is kept, but a more useful mechanism may exist"
    ROBUST = (
        "robust: the promise is kept, with room for chance, which costs what the gap to the promise's own optimum is"
    )
    ROUNDED = "rounded: the promise is kept; allow more bits to come closer to the bound"
    UNPROVEN = "unproven: floats say that the promise is kept, and nothing proves it"
    UNPROVEN_UTILITY = "unproven utility: the promise is kept; what the mechanism is worth, and that no other is worth more, floats say, and nothing proves it"


@dataclass(frozen=True)
class Population:
    """What is said of the people of which the records are a random sample: statistics, which no file proves.

    With this confidence the promise's value is at most what `epsilon` says on the scale of its parameter; `kept` if that keeps
    it. The design leaves `errors` standard errors to spare, and no design that does exceeds the utility `within`; without
    errors it is the floor, which holds for every secret. `noise` is the share of answers that were replaced by noise. `plain` is the utility of a design for the records alone.
    """

    confidence: float
    records: int
    epsilon: float
    kept: bool
    errors: float | None
    within: float
    plain: float
    noise: float = 0.0


@dataclass(frozen=True, eq=False)
class Solution(Shown):
    """The mechanism found for a region and a utility, its status, and what no mechanism can exceed.

    `upper_bound` is a float in the units of `utility`, with a margin for its rounding ("Floats" in docs/theory.md); for two
    secrets, S = X and a user's own region it is an estimate. A solver that proves none leaves the utility of publishing X;
    `certificate` is why a better one holds, for solvers that keep it, and becomes the proof in a file. `integers` is the
    mechanism as it is sampled and proven, where it has been (`design`); `mechanism` then holds the same law in floats.
    `settings` says how it was found. `population` is there for designs that were asked to hold for it (`Robust`), and `margin` where they leave room
    for chance: the problem with that margin for its region, and why no mechanism that leaves it does better. `after` is what was released before, where the promise is about all of it together.
    """

    mechanism: Mechanism
    region: Region
    utility_function: Utility
    status: Status
    upper_bound: float = math.inf
    certificate: AnyCertificate | None = None
    integers: Integers | None = None
    settings: str = ""
    after: Earlier | None = None
    population: Population | None = None
    margin: Solution | None = None

    def __post_init__(self) -> None:
        if not self.region.answers(self.joint):
            raise SettingError(
                f"{self.region} is about another secret than this joint's: solve it for region.about(joint)"
            )
        object.__setattr__(self, "utility_function", self.utility_function.on(self.joint))
        everything = self.utility_function.of_publishing_all(self.joint.p_x)
        object.__setattr__(self, "upper_bound", min(self.upper_bound, everything))

    @property
    def joint(self) -> Joint:
        return self.mechanism.joint

    @cached_property
    def utility(self) -> float:
        """The mechanism's utility, in the unit of `utility_function`: nats for mutual information."""
        return self.mechanism.utility(self.utility_function)

    @cached_property
    def normalized_utility(self) -> float:
        """The utility divided by that of publishing X."""
        return self.mechanism.normalized_utility(self.utility_function)

    @property
    def relative_gap(self) -> float:
        """(upper_bound - utility) / utility of publishing X; 0 where that is 0."""
        everything = self.utility_function.of_publishing_all(self.joint.p_x)
        return max(0.0, self.upper_bound - self.utility) / everything if everything > 0 else 0.0

    def plot(self, *, secret: str | None = None, useful: str | None = None) -> Figure:
        """What every output tells against what the promise allows: `plot_lifts`. The columns' names come from the joint unless told."""
        figure: Figure = show().plot_lifts(self, secret=secret, useful=useful)
        return figure

    def __repr__(self) -> str:
        return f"Solution({self.region}, {self.normalized_utility:.2%} of X kept, {self.status.name.lower()})"
