"""Mechanisms in integers with proofs that anybody can check: rounding, certificates and the checker, which stands alone."""

from alphalift.proof.checker import Integers, Promise, Verdict
from alphalift.proof.export import exported
from alphalift.proof.rounding import as_floats, checkable, proven_integers, region_of, statement

__all__ = [
    "Integers",
    "Promise",
    "Verdict",
    "as_floats",
    "checkable",
    "exported",
    "proven_integers",
    "region_of",
    "statement",
]
