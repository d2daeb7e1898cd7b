"""One look for every figure: colours that colour-blind readers can tell apart, quiet axes, one way to save."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from alphalift.curve import Family
from alphalift.errors import InputError
from alphalift.show.numbers import Panel, as_csv, as_pgfplots, texts_of
from alphalift.tables.formulas import refuse_formulas
from alphalift.whole import whole_file

# Paul Tol's "bright" scheme, in the order in which alphas are listed.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#AA3377", "#66CCEE", "#BBBBBB")


# Inches between two labels below each other, at least; what a letter takes of its size; points in an inch.
LABEL_PITCH, _LETTER_WIDTH, POINTS = 0.13, 0.55, 72
_IMAGES, _DATA = (".pdf", ".png", ".svg"), (".csv", ".tex")


class Picture(Figure):
    """A figure that knows its numbers: `panels` is what `save` writes to files of data."""

    panels: tuple[Panel, ...] = ()


def new_figure(width: float, height: float) -> Picture:
    """A figure without global state."""
    return Picture(figsize=(width, height), layout="constrained", dpi=150)


def width_of(text: str, size: float) -> float:
    """About how many inches a line of text takes in this size of letters."""
    return len(text) * _LETTER_WIDTH * size / POINTS


def wrapped(text: str, inches: float, size: float) -> str:
    """The text in lines that are about so wide at most."""
    return textwrap.fill(text, max(12, int(inches * POINTS / (_LETTER_WIDTH * size))))


def every(count: int, inches: float) -> int:
    """Of so many labels along so many inches one in this many can be read."""
    return max(1, math.ceil(LABEL_PITCH * count / inches))


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


def curve_label(family: Family) -> str:
    """What tells a curve from others beside it: its promise's parameters, or its kind if it has none."""
    names = [f"{'α' if name == 'alpha' else name} = {alpha_text(value)}" for name, value in family.parameters.items()]
    return ", ".join(names) or type(family.at(1.0)).__name__


def save_figure(figure: Figure, path: Path | str, *, private: bool = False) -> Path:
    """Write a figure: .png, .svg and .pdf are the picture, .csv its numbers, .tex the same for pgfplots (`\\input` it).

    No file has a time stamp, so equal figures are equal files. With `private` its owner alone can read it.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending in _DATA:
        return _save_numbers(figure, path, ending, private)
    if ending not in _IMAGES:
        raise InputError(
            f"{path}: figures are saved as {', '.join(_IMAGES + _DATA)}, not as {ending or 'a file without ending'}"
        )
    stamp = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(ending, {})
    # Ids in SVG files are random otherwise.
    with rc_context({"svg.hashsalt": "alphalift"}), whole_file(path, private=private) as part:
        figure.savefig(part, metadata=stamp)
    return path


def _save_numbers(figure: Figure, path: Path, ending: str, private: bool) -> Path:
    panels = getattr(figure, "panels", ())
    if not panels:
        raise InputError(f"{path}: this figure has no numbers of its own; save it as {', '.join(_IMAGES)}")
    if ending == ".csv":
        refuse_formulas(path.name, texts_of(panels), "of the figure's labels")
    with whole_file(path, private=private) as part:
        part.write_text(as_csv(panels) if ending == ".csv" else as_pgfplots(panels), encoding="utf-8", newline="")
    return path
