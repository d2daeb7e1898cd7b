"""The numbers behind a picture, as CSV and for pgfplots."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from alphalift.show.text import printable

# What TeX would obey, as what it prints.
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{letter: f"\\{letter}" for letter in "{}$&#_%"},
}
# In pgfplots' words; `cells` are a whole grid, row by row.
_KINDS = {
    "line": "no markers",
    "points": "only marks",
    "bars": "xbar",
    "cells": "matrix plot*, point meta=explicit, mesh/cols={columns}",
}
_COLUMNS = ("panel", "series", "x", "y", "value")


@dataclass(frozen=True)
class Series:
    """Points that belong together: where they are, and a third number (a cell's colour, a weight) if they have one."""

    name: str
    kind: Literal["line", "points", "bars", "cells"]
    x: Sequence[float]
    y: Sequence[float]
    value: Sequence[float] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes. With `x_names` or `y_names` an axis has names at 0, 1, 2, ... and no numbers."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    x_names: tuple[str, ...] = ()
    y_names: tuple[str, ...] = ()


def as_csv(panels: Sequence[Panel]) -> str:
    """A row for every point: panel, series, x and y (names where the axis has names), value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for panel in panels:
        for own in panel.series:
            values = [""] * len(own.x) if own.value is None else map(_number, own.value)
            for x, y, value in zip(own.x, own.y, values, strict=True):
                writer.writerow([panel.title, own.name, _at(x, panel.x_names), _at(y, panel.y_names), value])
    return text.getvalue()


def texts_of(panels: Sequence[Panel]) -> list[str]:
    """All texts that the CSV file has, but for numbers."""
    return [
        text
        for panel in panels
        for text in (panel.title, *panel.x_names, *panel.y_names, *(own.name for own in panel.series))
    ]


def as_pgfplots(panels: Sequence[Panel]) -> str:
    """LaTeX with a tikzpicture for every panel, to be `\\input` in a document that loads pgfplots."""
    return "".join(line + "\n" for panel in panels for line in _axis(panel))


def _axis(panel: Panel) -> Iterator[str]:
    r"""A tikzpicture. `\usepackage{pgfplots}` is left to the document."""
    yield r"\begin{tikzpicture}"
    yield rf"\begin{{axis}}[title={{{_tex(panel.title)}}}, xlabel={{{_tex(panel.x)}}}, ylabel={{{_tex(panel.y)}}},"
    for letter, names in (("x", panel.x_names), ("y", panel.y_names)):
        if names:
            listed = ",".join(f"{{{_tex(name)}}}" for name in names)
            yield f"  {letter}tick={{0,...,{len(names) - 1}}}, {letter}ticklabels={{{listed}}},"
    if panel.x_names:
        yield "  x tick label style={rotate=60, anchor=east},"
    if panel.y_names:
        yield "  y dir=reverse,"
    yield "  legend pos=outer north east, legend cell align=left]"
    for own in panel.series:
        yield from _plot(own)
    yield r"\end{axis}"
    yield r"\end{tikzpicture}"


def _plot(own: Series) -> Iterator[str]:
    head, meta = ("x y", "") if own.value is None else ("x y value", ", meta=value")
    kind = _KINDS[own.kind].format(columns=len(set(own.x)))
    yield rf"\addplot+[{kind}] table[x=x, y=y{meta}, row sep=newline] {{"
    yield f"  {head}"
    columns = [own.x, own.y] + ([] if own.value is None else [own.value])
    for point in zip(*columns, strict=True):
        yield "  " + " ".join(map(_number, point))
    yield "};"
    if own.kind != "cells":
        yield rf"\addlegendentry{{{_tex(own.name)}}}"


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in printable(text))


def _at(place: float, names: tuple[str, ...]) -> str:
    return names[int(place)] if names else _number(place)


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")
