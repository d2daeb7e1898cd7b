"""What each budget, or each method, keeps: `curve` and `compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from alphalift.cli.options import (
    Alpha,
    Anyway,
    AsJson,
    AtMost,
    Bins,
    Dask,
    DropMissing,
    Epsilon,
    Folder,
    Promise,
    Resume,
    Sensitive,
    Table,
    TimeLimit,
    Useful,
    UtilityText,
    WorkerCount,
)
from alphalift.errors import InputError

_RECORDS_ALONE = "All figures are for the records as they are; `alphalift design` also keeps the promise for the people behind a sample."


def compare_command(
    table: Table,
    sensitive: Sensitive,
    useful: Useful,
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    promise: Promise = None,
    at_most: AtMost = None,
    utility: UtilityText = None,
    out: Folder = Path("."),
    drop_missing: DropMissing = False,
    bins: Bins = None,
    time_limit: TimeLimit = 60.0,
    anyway: Anyway = False,
    as_json: AsJson = False,
) -> None:
    """Put the optimum beside what others do under one promise: a table, compare.csv, compare.png and compare.pdf."""
    from alphalift.compare import compare
    from alphalift.given import Declared, check_folder, read_bins, region_of, utility_of, write_text
    from alphalift.show import comparison_json, comparison_table, plot_comparison
    from alphalift.show.live import LiveLine
    from alphalift.show.style import save_figure
    from alphalift.show.words import gained_words
    from alphalift.solvers import Optimal

    region, worth = region_of(promise, alpha, epsilon, at_most), utility_of(utility)
    check_folder(out)
    joint = Declared(drop_missing, read_bins(bins), anyway=anyway).read(table, sensitive, useful)
    said = [gained_words(region, at_most)] if at_most is not None else []
    print("\n".join([*said, _RECORDS_ALONE]), file=sys.stderr if as_json else sys.stdout)
    with LiveLine(worth.unit) as live:
        comparison = compare(joint, region, utility=worth, solver=Optimal(time_limit=time_limit, progress=live.show))
    print(comparison_json(comparison) if as_json else comparison_table(comparison))
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "compare.csv", comparison.to_frame().to_csv(index=False))
    figure = plot_comparison(comparison, secret=" and ".join(sensitive), useful=" and ".join(useful))
    for path in (
        out / "compare.csv",
        save_figure(figure, out / "compare.png"),
        save_figure(figure, out / "compare.pdf"),
    ):
        print(f"Written: {path}", file=sys.stderr if as_json else sys.stdout)


def curve_command(
    table: Table,
    sensitive: Sensitive,
    useful: Useful,
    alpha: Annotated[list[float] | None, typer.Option(help="Above 1, or 'inf'; repeat for several curves.")] = None,
    promise: Annotated[
        str | None, typer.Option(help="Instead of alpha a kind of promise by its name: LIP, LDP, KL, ...")
    ] = None,
    utility: UtilityText = None,
    out: Folder = Path("."),
    accuracy: Annotated[
        float, typer.Option(min=1e-6, max=0.5, help="How far apart the envelopes of a curve may be, as a share.")
    ] = 0.001,
    time_limit: TimeLimit = 60.0,
    points: Annotated[
        int | None,
        typer.Option(
            min=2, help="Instead of envelopes the optimum at so many epsilons, up to where X may be published."
        ),
    ] = None,
    drop_missing: DropMissing = False,
    bins: Bins = None,
    anyway: Anyway = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    resume: Resume = None,
) -> None:
    """Draw how much of the useful column each privacy budget keeps: curve.csv, curve.png and curve.pdf.

    The optimum lies in the band between two certified envelopes, at every epsilon. With --points, and --workers, --dask or --resume,
    it is computed at some epsilons instead.
    """
    from alphalift.given import (
        Declared,
        certified_curves,
        check_folder,
        chosen_workers,
        read_bins,
        sweep_curves,
        utility_of,
        write_text,
    )
    from alphalift.show import plot_curve, plot_tradeoff
    from alphalift.show.style import save_figure

    worth = utility_of(utility)
    check_folder(out)
    swept = not all(option is None for option in (points, workers, dask, resume))
    if swept and (not alpha or promise is not None):
        raise InputError("--points, --workers, --dask and --resume are for --alpha; give that, and no --promise")
    joint = Declared(drop_missing, read_bins(bins), anyway=anyway).read(table, sensitive, useful)
    if swept:
        with chosen_workers(workers, dask) as chosen:
            tradeoff = sweep_curves(joint, alpha or [], points or 24, chosen, resume, worth)
        if tradeoff.resumed:
            print(f"Resumed: {tradeoff.resumed} of {len(tradeoff.records)} cells were in {resume}")
        frame, figure = tradeoff.to_frame(), plot_tradeoff(tradeoff)
    else:
        found = certified_curves(joint, alpha, promise, accuracy, worth, time_limit)
        late = f", not {accuracy:g}: allow more time" if found.accuracy > accuracy else ""
        print(f"At every epsilon the optimum is known to within {found.within} of X{late} ({found.solves} solves).")
        frame, figure = found.to_frame(), plot_curve(found, secret=" and ".join(sensitive), useful=" and ".join(useful))
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "curve.csv", frame.to_csv(index=False))
    print(_RECORDS_ALONE)
    for path in (out / "curve.csv", save_figure(figure, out / "curve.png"), save_figure(figure, out / "curve.pdf")):
        print(f"Written: {path}")
