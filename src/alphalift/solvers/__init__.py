"""Solvers: each proposes candidate posteriors; one linear program picks how often to use each."""

from alphalift.solvers.algorithm1 import Algorithm1
from alphalift.solvers.base import ChainedSolver, Solver
from alphalift.solvers.optimal import Optimal
from alphalift.solvers.run import Progress
from alphalift.solvers.vertices import Vertices

__all__ = ["Algorithm1", "ChainedSolver", "Optimal", "Progress", "Solver", "Vertices"]
