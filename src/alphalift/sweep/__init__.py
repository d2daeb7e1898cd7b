"""The tradeoff of joints over a grid of promises: in this process, in many, on a cluster, and again where it stopped."""

from alphalift.sweep.run import Tradeoff, sweep

__all__ = ["Tradeoff", "sweep"]
