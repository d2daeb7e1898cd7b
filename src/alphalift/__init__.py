"""alphalift: design the random release of a useful column that keeps a promise about a secret one."""

from importlib.metadata import version

from alphalift import baselines, measures
from alphalift.design import design
from alphalift.errors import AlphaliftError, InputError, JointError, PromiseError, SettingError, SolverError, TableError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import AlphaLift, MaxLift, Region, grid
from alphalift.release import read_joint
from alphalift.show import describe, plot_mechanism, plot_tradeoff
from alphalift.solution import Solution, Status
from alphalift.solvers import Algorithm1, Optimal, Progress, Vertices
from alphalift.sweep import Tradeoff, sweep
from alphalift.utilities import MutualInformation, Utility

__version__ = version("alphalift")

__all__ = [
    "Algorithm1",
    "AlphaLift",
    "AlphaliftError",
    "InputError",
    "Joint",
    "JointError",
    "MaxLift",
    "Mechanism",
    "MutualInformation",
    "Optimal",
    "Progress",
    "PromiseError",
    "Region",
    "SettingError",
    "Solution",
    "SolverError",
    "Status",
    "TableError",
    "Tradeoff",
    "Utility",
    "Vertices",
    "baselines",
    "describe",
    "design",
    "grid",
    "measures",
    "plot_mechanism",
    "plot_tradeoff",
    "read_joint",
    "sweep",
]
