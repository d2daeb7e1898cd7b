"""One look for every figure: colours that colour-blind readers can tell apart, quiet axes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from alphalift.whole import whole_file

# Paul Tol's "bright" scheme, in the order in which alphas are listed.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#AA3377", "#66CCEE", "#BBBBBB")


def new_figure(width: float, height: float) -> Figure:
    """A figure without global state."""
    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def quiet(axes: Axes, x_label: str, y_label: str, title: str = "") -> None:
    """Label the axes and keep the frame out of the way."""
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_title(title, loc="left", fontsize=10)
    axes.grid(True, color="#E5E5E5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def legend(axes: Axes, **options: Any) -> None:
    """A legend at the lower right that covers what lies behind it."""
    axes.legend(loc="lower right", framealpha=0.95, edgecolor="white", **options)


def alpha_text(alpha: float) -> str:
    """alpha as a figure prints it."""
    return "∞" if math.isinf(alpha) else f"{alpha:g}"


def save(figure: Figure, path: Path) -> Path:
    """Write a PNG, PDF or SVG without a time stamp, so that equal figures are equal files."""
    stamp = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix, {})
    with whole_file(path) as part:
        figure.savefig(part, metadata=stamp)
    return path
