"""What a release is worth: each utility is a concave uncertainty h of the posterior, one file a utility."""

from alphalift.utilities.base import Utility
from alphalift.utilities.concave import Concave
from alphalift.utilities.decision import Decision
from alphalift.utilities.f_information import FInformation
from alphalift.utilities.guessing import GuessingAccuracy
from alphalift.utilities.mutual_information import MutualInformation
from alphalift.utilities.parse import UTILITIES, as_utility, parse
from alphalift.utilities.squared_error import SquaredError

__all__ = [
    "UTILITIES",
    "Concave",
    "Decision",
    "FInformation",
    "GuessingAccuracy",
    "MutualInformation",
    "SquaredError",
    "Utility",
    "as_utility",
    "parse",
]
