"""Privacy promises: each is a convex set of lift vectors, one file a promise."""

from alphalift.regions.after import After
from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import Intersection, Region, grid
from alphalift.regions.chi_square import ChiSquare
from alphalift.regions.custom import Custom
from alphalift.regions.implications import Implication, implications
from alphalift.regions.inner import legible
from alphalift.regions.kl import KL
from alphalift.regions.ldp import LDP
from alphalift.regions.lip import LIP
from alphalift.regions.margin import Margin
from alphalift.regions.max_lift import MaxLift
from alphalift.regions.on_average import OnAverage, averages_of, of_every_output, priced_inequality, refuse_averages
from alphalift.regions.parse import as_region, parse
from alphalift.regions.pml import PML
from alphalift.regions.renyi import Renyi
from alphalift.regions.simplest import perfect_privacy, perfect_privacy_beside, simplest
from alphalift.regions.total_variation import TotalVariation

__all__ = [
    "KL",
    "LDP",
    "LIP",
    "PML",
    "After",
    "AlphaLift",
    "ChiSquare",
    "Custom",
    "Implication",
    "Intersection",
    "Margin",
    "MaxLift",
    "OnAverage",
    "Region",
    "Renyi",
    "TotalVariation",
    "as_region",
    "averages_of",
    "grid",
    "implications",
    "legible",
    "of_every_output",
    "parse",
    "perfect_privacy",
    "perfect_privacy_beside",
    "priced_inequality",
    "refuse_averages",
    "simplest",
]
