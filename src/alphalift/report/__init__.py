"""A mechanism file for people: one page of HTML, for its owner or for the public."""

from alphalift.report.filed import Filed
from alphalift.report.internal import internal_report
from alphalift.report.public import Shared, public_report
from alphalift.report.rows import ReleasedRows

__all__ = ["Filed", "ReleasedRows", "Shared", "internal_report", "public_report"]
