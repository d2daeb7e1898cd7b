"""What others do: baselines that share the solvers' interface, each kept within the promise."""

from alphalift.baselines.binary_mechanism import BinaryMechanism
from alphalift.baselines.greedy_merging import GreedyMerging
from alphalift.baselines.merging import CompleteMerging, SubsetMerging
from alphalift.baselines.mixing import UniformMixing
from alphalift.baselines.publishing import PublishAll, PublishNothing
from alphalift.baselines.randomised_response import RandomisedResponse
from alphalift.baselines.staircase import Staircase
from alphalift.baselines.x_invariant import XInvariant

__all__ = [
    "BinaryMechanism",
    "CompleteMerging",
    "GreedyMerging",
    "PublishAll",
    "PublishNothing",
    "RandomisedResponse",
    "Staircase",
    "SubsetMerging",
    "UniformMixing",
    "XInvariant",
]
