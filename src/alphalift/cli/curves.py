"""What each budget, or each method, keeps: `curve` and `compare`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from alphalift.cli.options import (
    Alpha,
    Alphabet,
    Alphas,
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
    Separator,
    Sheet,
    Table,
    TimeLimit,
    Useful,
    UtilityText,
    WorkerCount,
)
from alphalift.errors import InputError
from alphalift.terminal import require_table

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
    alphabet: Alphabet = None,
    separator: Separator = None,
    sheet: Sheet = None,
    time_limit: TimeLimit = 60.0,
    anyway: Anyway = False,
    as_json: AsJson = False,
) -> None:
    """Put the optimum beside what others do under one promise: a table, compare.csv, compare.png and compare.pdf.

    Without a promise it is --at-most 1.5, as for `design`.
    """
    require_table(table)
    from alphalift.given import (
        Declared,
        check_folder,
        chosen_words,
        read_alphabet,
        read_bins,
        region_of,
        table_of,
        utility_of,
        write_text,
    )

    region, typed = region_of(promise, alpha, epsilon, at_most), utility_of(utility)
    check_folder(out)
    declared = Declared(drop_missing, read_bins(bins), read_alphabet(alphabet), anyway)
    joint = declared.read(table_of(table, separator, sheet), sensitive, useful)

    from alphalift.compare import compare
    from alphalift.show import comparison_json, comparison_table, plot_comparison, save_figure
    from alphalift.show.caution import cautions
    from alphalift.show.live import LiveLine
    from alphalift.solvers import Optimal
    from alphalift.utilities import as_utility

    worth = as_utility(typed)
    chosen = chosen_words(region, at_most, promise, alpha)
    told = sys.stderr if as_json else sys.stdout
    names = {"secret": " and ".join(sensitive), "useful": " and ".join(useful)}
    before = [*([chosen] if chosen else []), *declared.said, *cautions(joint, **names), _RECORDS_ALONE]
    print("\n".join(before), file=told)
    with LiveLine(worth.unit, limit=time_limit) as live:
        comparison = compare(joint, region, utility=worth, solver=Optimal(time_limit=time_limit, progress=live.show))
    print(comparison_json(comparison) if as_json else comparison_table(comparison))
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "compare.csv", comparison.to_frame().to_csv(index=False))
    figure = plot_comparison(comparison, **names)
    for path in (
        out / "compare.csv",
        save_figure(figure, out / "compare.png"),
        save_figure(figure, out / "compare.pdf"),
    ):
        print(f"Written: {path}", file=told)


def curve_command(
    table: Table,
    sensitive: Sensitive,
    useful: Useful,
    alpha: Alphas = None,
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
    alphabet: Alphabet = None,
    separator: Separator = None,
    sheet: Sheet = None,
    anyway: Anyway = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    resume: Resume = None,
    as_json: AsJson = False,
) -> None:
    """Draw how much of the useful column each privacy budget keeps: curve.csv, curve.png and curve.pdf.

    The optimum lies in the band between two certified envelopes, at every epsilon. With --points, and --workers, --dask or --resume,
    it is computed at some epsilons instead. Beside it stands what the rarest group may gain, which a small alpha leaves large.
    """
    require_table(table)
    from alphalift.given import (
        USUAL_ALPHAS,
        Declared,
        asked_kind,
        check_folder,
        check_workers,
        read_alphabet,
        read_bins,
        table_of,
        utility_of,
        write_text,
    )

    typed = utility_of(utility)
    asked = asked_kind(promise, alpha or (USUAL_ALPHAS if promise is None else ()))
    check_folder(out)
    check_workers(workers, dask)
    swept = not all(option is None for option in (points, workers, dask, resume))
    if swept and promise is not None:
        raise InputError("--points, --workers, --dask and --resume are for --alpha; give that, and no --promise")
    declared = Declared(drop_missing, read_bins(bins), read_alphabet(alphabet), anyway)
    joint = declared.read(table_of(table, separator, sheet), sensitive, useful)

    from alphalift.show import plot_curve, plot_tradeoff, save_figure
    from alphalift.show.caution import cautions
    from alphalift.show.live import LiveLine
    from alphalift.show.rarest import gains_table, with_gains
    from alphalift.tasks import certified_curves, chosen_workers, sweep_curves
    from alphalift.utilities import as_utility

    worth = as_utility(typed)
    told = sys.stderr if as_json else sys.stdout
    names = {"secret": " and ".join(sensitive), "useful": " and ".join(useful)}
    for line in (*declared.said, *cautions(joint, **names)):
        print(line, file=told)
    if swept:
        with chosen_workers(workers, dask) as chosen:
            tradeoff = sweep_curves(joint, asked.parameters["alpha"], points or 24, chosen, resume, worth)
        if tradeoff.resumed:
            print(f"Resumed: {tradeoff.resumed} of {len(tradeoff.records)} cells were in {resume}", file=told)
        frame, figure = tradeoff.to_frame(), plot_tradeoff(tradeoff)
    else:
        with LiveLine(what="drawing the curve", limit=time_limit):
            found = certified_curves(asked, accuracy, joint, worth, time_limit)
        late = f", not {accuracy:g}: allow more time" if found.accuracy > accuracy else ""
        print(
            f"At every epsilon the optimum is known to within {found.within} of X{late} ({found.solves} solves).",
            file=told,
        )
        frame, figure = found.to_frame(), plot_curve(found, secret=names["secret"], useful=names["useful"])
    frame = with_gains(frame, joint, asked.kind)
    print(
        frame.to_json(orient="records") if as_json else gains_table(frame, asked.about(joint), **asked.called(**names))
    )
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "curve.csv", frame.to_csv(index=False))
    print(_RECORDS_ALONE, file=told)
    for path in (out / "curve.csv", save_figure(figure, out / "curve.png"), save_figure(figure, out / "curve.pdf")):
        print(f"Written: {path}", file=told)
