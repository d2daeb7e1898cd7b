"""alphalift: design the random release of a useful column that keeps a promise about a secret one."""

from importlib.metadata import version

from alphalift import baselines, measures
from alphalift.compare import Comparison, compare
from alphalift.design import design, prove
from alphalift.document import Stored, load, save, to_document, to_json, withhold_joint
from alphalift.errors import (
    AlphaliftError,
    InputError,
    JointError,
    PromiseError,
    ProofError,
    SettingError,
    SolverError,
    TableError,
    WorkerError,
)
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import (
    KL,
    LDP,
    LIP,
    PML,
    AlphaLift,
    ChiSquare,
    Custom,
    Implication,
    Intersection,
    MaxLift,
    Region,
    Renyi,
    TotalVariation,
    grid,
    implications,
)
from alphalift.sharing import for_sharing
from alphalift.show import describe, plot_comparison, plot_mechanism, plot_tradeoff
from alphalift.solution import Solution, Status
from alphalift.solvers import Algorithm1, Optimal, Progress, Vertices
from alphalift.sweep import Tradeoff, sweep
from alphalift.tables import read_joint
from alphalift.together import Together, columns_before, told_together
from alphalift.utilities import MutualInformation, Utility

__version__ = version("alphalift")

__all__ = [
    "KL",
    "LDP",
    "LIP",
    "PML",
    "Algorithm1",
    "AlphaLift",
    "AlphaliftError",
    "ChiSquare",
    "Comparison",
    "Custom",
    "Implication",
    "InputError",
    "Intersection",
    "Joint",
    "JointError",
    "MaxLift",
    "Mechanism",
    "MutualInformation",
    "Optimal",
    "Progress",
    "PromiseError",
    "ProofError",
    "Region",
    "Renyi",
    "SettingError",
    "Solution",
    "SolverError",
    "Status",
    "Stored",
    "TableError",
    "Together",
    "TotalVariation",
    "Tradeoff",
    "Utility",
    "Vertices",
    "WorkerError",
    "baselines",
    "columns_before",
    "compare",
    "describe",
    "design",
    "for_sharing",
    "grid",
    "implications",
    "load",
    "measures",
    "plot_comparison",
    "plot_mechanism",
    "plot_tradeoff",
    "prove",
    "read_joint",
    "save",
    "sweep",
    "to_document",
    "to_json",
    "told_together",
    "withhold_joint",
]
