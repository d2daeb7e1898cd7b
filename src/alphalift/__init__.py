"""alphalift: design the random release of a useful column that keeps a promise about a secret one.

Names are imported when they are first used, since what is behind them (numba, pandas, matplotlib, ...) takes seconds to load.
"""

from __future__ import annotations

import sys
from importlib import import_module

from alphalift.shown import showing_with

TYPE_CHECKING = False  # as checkers know it; importing it would be most of the work of this file
if TYPE_CHECKING:
    from alphalift import baselines, measures
    from alphalift.audit import (
        Answer,
        Channel,
        ChannelAudit,
        ReleaseAudit,
        Samples,
        SamplesAudit,
        audit_channel,
        audit_release,
        audit_samples,
        read_samples,
    )
    from alphalift.backwards import Wanted, alpha_for, epsilon_for
    from alphalift.compare import Comparison, compare
    from alphalift.curve import Bracket, Curve, Envelope, curve
    from alphalift.design import design
    from alphalift.distance import Distance, Hierarchy, Places
    from alphalift.document import Stored, load, save, to_document, to_json, withhold_joint
    from alphalift.errors import (
        AlphaliftError,
        IdentifierError,
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
    from alphalift.nearby import Nearby, nearby
    from alphalift.population import Estimate, LeakageBound, Robust, estimate, leakage_bound
    from alphalift.proof.prove import prove
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
        OnAverage,
        Region,
        Renyi,
        TotalVariation,
        grid,
        implications,
    )
    from alphalift.sharing import for_sharing
    from alphalift.show import (
        describe,
        plot_comparison,
        plot_curve,
        plot_kept,
        plot_lifts,
        plot_mechanism,
        plot_simplex,
        plot_tradeoff,
        save_figure,
    )
    from alphalift.solution import Solution, Status
    from alphalift.solvers import Algorithm1, Optimal, Progress, Vertices
    from alphalift.sweep import Tradeoff, sweep
    from alphalift.tables import Quantiles, TableFile, read_joint
    from alphalift.together import Together, columns_before, told_together
    from alphalift.utilities import (
        Concave,
        Decision,
        FInformation,
        GuessingAccuracy,
        MutualInformation,
        SquaredError,
        Utility,
    )

__all__ = [
    "KL",
    "LDP",
    "LIP",
    "PML",
    "Algorithm1",
    "AlphaLift",
    "AlphaliftError",
    "Answer",
    "Bracket",
    "Channel",
    "ChannelAudit",
    "ChiSquare",
    "Comparison",
    "Concave",
    "Curve",
    "Custom",
    "Decision",
    "Distance",
    "Envelope",
    "Estimate",
    "FInformation",
    "GuessingAccuracy",
    "Hierarchy",
    "IdentifierError",
    "Implication",
    "InputError",
    "Intersection",
    "Joint",
    "JointError",
    "LeakageBound",
    "MaxLift",
    "Mechanism",
    "MutualInformation",
    "Nearby",
    "OnAverage",
    "Optimal",
    "Places",
    "Progress",
    "PromiseError",
    "ProofError",
    "Quantiles",
    "Region",
    "ReleaseAudit",
    "Renyi",
    "Robust",
    "Samples",
    "SamplesAudit",
    "SettingError",
    "Solution",
    "SolverError",
    "SquaredError",
    "Status",
    "Stored",
    "TableError",
    "TableFile",
    "Together",
    "TotalVariation",
    "Tradeoff",
    "Utility",
    "Vertices",
    "Wanted",
    "WorkerError",
    "alpha_for",
    "audit_channel",
    "audit_release",
    "audit_samples",
    "baselines",
    "columns_before",
    "compare",
    "curve",
    "describe",
    "design",
    "epsilon_for",
    "estimate",
    "for_sharing",
    "grid",
    "implications",
    "leakage_bound",
    "load",
    "measures",
    "nearby",
    "plot_comparison",
    "plot_curve",
    "plot_kept",
    "plot_lifts",
    "plot_mechanism",
    "plot_simplex",
    "plot_tradeoff",
    "prove",
    "read_joint",
    "read_samples",
    "save",
    "save_figure",
    "sweep",
    "to_document",
    "to_json",
    "told_together",
    "withhold_joint",
]

# Objects that show themselves find here what draws them.
showing_with(lambda: import_module("alphalift.show"))

# Where the public names come from; `baselines` and `measures` are modules themselves.
_NAMES = {
    "alphalift.audit": "Answer Channel ChannelAudit ReleaseAudit Samples SamplesAudit audit_channel audit_release audit_samples read_samples",
    "alphalift.backwards": "Wanted alpha_for epsilon_for",
    "alphalift.compare": "Comparison compare",
    "alphalift.curve": "Bracket Curve Envelope curve",
    "alphalift.design": "design",
    "alphalift.distance": "Distance Hierarchy Places",
    "alphalift.document": "Stored load save to_document to_json withhold_joint",
    "alphalift.errors": "AlphaliftError IdentifierError InputError JointError PromiseError ProofError SettingError SolverError TableError WorkerError",
    "alphalift.joint": "Joint",
    "alphalift.mechanism": "Mechanism",
    "alphalift.nearby": "Nearby nearby",
    "alphalift.population": "Estimate LeakageBound Robust estimate leakage_bound",
    "alphalift.proof.prove": "prove",
    "alphalift.regions": "KL LDP LIP PML AlphaLift ChiSquare Custom Implication Intersection MaxLift OnAverage Region Renyi TotalVariation grid implications",
    "alphalift.sharing": "for_sharing",
    "alphalift.show": "describe plot_comparison plot_curve plot_kept plot_lifts plot_mechanism plot_simplex plot_tradeoff save_figure",
    "alphalift.solution": "Solution Status",
    "alphalift.solvers": "Algorithm1 Optimal Progress Vertices",
    "alphalift.sweep": "Tradeoff sweep",
    "alphalift.tables": "Quantiles TableFile read_joint",
    "alphalift.together": "Together columns_before told_together",
    "alphalift.utilities": "Concave Decision FInformation GuessingAccuracy MutualInformation SquaredError Utility",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


if not TYPE_CHECKING:  # checkers would take every misspelt name for one that exists

    def __getattr__(name):
        """A public name, or a module of the package, imported now."""
        if name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
        elif name == "__version__":
            value = import_module("importlib.metadata").version(__name__)
        else:
            value = _module(name)
        globals()[name] = value
        return value


def _module(name: str) -> object:
    """The package's module of this name; without one it is an attribute that does not exist."""
    full = f"{__name__}.{name}"
    try:
        if not name.startswith("_"):
            return import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


class _Package(type(sys)):  # type: ignore[misc]
    """A package in which a public name is never hidden by the module of that name: `design` is the function."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
