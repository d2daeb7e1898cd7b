"""Mechanisms in integers with proofs that anybody can check: rounding, certificates and the checker, which stands alone."""

from alphalift.proof.checker import Integers, Promise, Verdict
from alphalift.proof.export import exported
from alphalift.proof.rounding import checkable, proven_integers

__all__ = ["Integers", "Promise", "Verdict", "checkable", "exported", "proven_integers"]
