"""All pictures of one design, by the names of their files."""

from __future__ import annotations

from pathlib import Path

from alphalift.show.heat import plot_mechanism
from alphalift.show.kept import plot_kept
from alphalift.show.lifts import plot_lifts
from alphalift.show.simplex import can_plot_simplex, plot_simplex
from alphalift.show.style import Picture, save_figure
from alphalift.solution import Solution


def pictures_of(solution: Solution, *, secret: str | None = None, useful: str | None = None) -> dict[str, Picture]:
    """mechanism, lifts, kept and, where something has three symbols, simplex."""
    pictures = {
        "mechanism": plot_mechanism(solution.mechanism, secret=secret, useful=useful),
        "lifts": plot_lifts(solution, secret=secret, useful=useful),
        "kept": plot_kept(solution.mechanism, useful=useful),
    }
    if can_plot_simplex(solution):
        pictures["simplex"] = plot_simplex(solution, secret=secret, useful=useful)
    return pictures


def save_pictures(
    solution: Solution, folder: Path, *, secret: str | None = None, useful: str | None = None
) -> list[Path]:
    """Every picture as PNG and PDF; the files' names. They show shares of the table, so their owner alone can read them."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        save_figure(picture, folder / f"{name}{ending}", private=True)
        for name, picture in pictures_of(solution, secret=secret, useful=useful).items()
        for ending in (".png", ".pdf")
    ]
