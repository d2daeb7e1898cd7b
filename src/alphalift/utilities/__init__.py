"""What a release is worth: each utility is a concave uncertainty h of the posterior, one file a utility."""

from alphalift.utilities.base import Utility
from alphalift.utilities.f_information import FInformation
from alphalift.utilities.mutual_information import MutualInformation
from alphalift.utilities.parse import UTILITIES, parse

__all__ = ["UTILITIES", "FInformation", "MutualInformation", "Utility", "parse"]
