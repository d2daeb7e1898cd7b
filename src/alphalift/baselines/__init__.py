"""What others do: baselines that share the solvers' interface, each kept within the promise."""

from alphalift.baselines.merging import CompleteMerging, SubsetMerging

__all__ = ["CompleteMerging", "SubsetMerging"]
