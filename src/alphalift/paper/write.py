"""Write an experiment to a folder: figure, data, claims and how it was run."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from alphalift.arrays import Array
from alphalift.paper.claims import as_markdown
from alphalift.paper.experiment import OPTIMUM, Experiment
from alphalift.paper.figure import figure1
from alphalift.show.style import save_figure
from alphalift.solvers.algorithm1 import PAPER_ALPHAS, PAPER_EPSILONS
from alphalift.whole import whole_file


def write_experiment(experiment: Experiment, folder: Path) -> list[Path]:
    """figure1 (png, pdf, csv), optimum.csv, epsilon_max.csv, claims.md and run.json; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = figure1(experiment)
    written = [save_figure(figure, folder / "figure1.png"), save_figure(figure, folder / "figure1.pdf")]
    tables = {
        "figure1.csv": _means(experiment),
        "optimum.csv": _optimum(experiment),
        "epsilon_max.csv": _epsilon_max(experiment),
    }
    texts = {name: frame.to_csv(index=False, float_format="%.9g") for name, frame in tables.items()}
    texts |= {"claims.md": as_markdown(experiment), "run.json": _run(experiment)}
    for name, text in texts.items():
        with whole_file(folder / name) as part:
            part.write_text(text, encoding="utf-8", newline="")
        written.append(folder / name)
    return written


def _means(experiment: Experiment) -> pd.DataFrame:
    """The paper's curves of Figure 1: means over the joints, one row a cell."""
    columns = _cells(PAPER_EPSILONS)
    for name, curves in (("algorithm1", experiment.algorithm1), ("subset_merging", experiment.subset_merging)):
        for field in ("utility", "alpha_leakage", "max_lift_leakage"):
            columns[f"{name}_{field}"] = getattr(curves, field).mean(axis=0).ravel()
    return pd.DataFrame(columns)


def _optimum(experiment: Experiment) -> pd.DataFrame:
    """The certified optimum and Algorithm 1's distance from it, as shares of H(X) over the joints, one row a cell."""
    optimum = experiment.optimum
    columns = {
        "optimum_mean": optimum.utility.mean(axis=0),
        "upper_bound_mean": optimum.upper_bound.mean(axis=0),
        "algorithm1_mean": experiment.algorithm1.at(optimum.epsilons).utility.mean(axis=0),
        "distance_mean": experiment.distance.mean(axis=0),
        "distance_max": experiment.distance.max(axis=0),
    }
    return pd.DataFrame(_cells(optimum.epsilons) | {name: values.ravel() for name, values in columns.items()})


def _cells(epsilons: tuple[float, ...]) -> dict[str, Array]:
    """alpha and epsilon of every cell, in the order of the curves."""
    return {
        "alpha": np.repeat(PAPER_ALPHAS, len(epsilons)),
        "epsilon": np.tile(epsilons, len(PAPER_ALPHAS)),
    }


def _epsilon_max(experiment: Experiment) -> pd.DataFrame:
    frame = pd.DataFrame(experiment.epsilon_max, columns=[f"alpha_{alpha:g}" for alpha in PAPER_ALPHAS])
    frame.insert(0, "joint", range(experiment.distributions))
    return frame


def _run(experiment: Experiment) -> str:
    packages = ("alphalift", "numpy", "numba", "highspy")
    settings = {
        "distributions": experiment.distributions,
        "seed": experiment.seed,
        "optimum": {
            "relative_gap": OPTIMUM.relative_gap,
            "node_limit": OPTIMUM.node_limit,
            "epsilons": experiment.optimum.epsilons,
            "largest_gap": experiment.gap,
        },
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
    }
    return json.dumps(settings, indent=2) + "\n"
