"""What is run again: the experiment of the paper and a demonstration on the census."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from alphalift.cli.options import AsJson, Dask, Folder, Resume, WorkerCount


def reproduce_command(
    distributions: Annotated[int, typer.Option(min=1, help="How many random joints; the paper has 100.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random joints.")] = 0,
    out: Folder = Path("reproduction"),
    every_cell: Annotated[
        bool, typer.Option("--every-cell", help="The certified optimum at all 190 epsilons instead of 15: hours.")
    ] = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    resume: Resume = None,
    as_json: AsJson = False,
) -> None:
    """Run the paper's section V beside the certified optimum: Figure 1, the data and a verdict on every claim."""
    from alphalift.given import check_folder, check_workers

    check_folder(out)
    check_workers(workers, dask)

    from alphalift.paper import OPTIMUM_EPSILONS, run_experiment, write_experiment
    from alphalift.solvers.algorithm1 import PAPER_EPSILONS
    from alphalift.tasks import chosen_workers

    epsilons = PAPER_EPSILONS if every_cell else OPTIMUM_EPSILONS
    with chosen_workers(workers, dask) as chosen:
        experiment = run_experiment(distributions, seed, optimum_epsilons=epsilons, workers=chosen, resume=resume)
    written = write_experiment(experiment, out)
    if as_json:
        print(json.dumps({"resumed": experiment.resumed, "written": list(map(str, written))}, indent=1))
        return
    if experiment.resumed:
        print(f"Resumed: {experiment.resumed} cells were in {resume}")
    for path in written:
        print(f"Written: {path}")


def demo_command(out: Folder = Path("demo"), as_json: AsJson = False) -> None:
    """Design a release of education that protects race in the 1994 US census, and draw it."""
    from alphalift.given import check_folder, write_text

    check_folder(out)

    from alphalift.data import adult
    from alphalift.design import design
    from alphalift.document import to_document, to_json
    from alphalift.regions import AlphaLift
    from alphalift.show import describe, plot_tradeoff
    from alphalift.show.pictures import pictures_of
    from alphalift.show.style import save_figure
    from alphalift.tables import read_joint
    from alphalift.tasks import sweep_curves

    joint = read_joint(adult(), sensitive="race", useful="education")
    solution = design(joint, AlphaLift(alpha=10, epsilon=0.3))
    told = sys.stderr if as_json else sys.stdout
    print(f"The 1994 US census, {joint.n} people. Sensitive: race. Useful: education.", file=told)
    print(describe(solution, secret="race", useful="education"), file=told)
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "mechanism.json", to_json(to_document(solution)))  # of a table that is public
    tradeoff = sweep_curves(joint, [float("inf"), 10.0, 3.0], 24)
    written = [
        out / "mechanism.json",
        save_figure(plot_tradeoff(tradeoff, mark=solution), out / "curve.png"),
        *(save_figure(picture, out / f"{name}.png") for name, picture in pictures_of(solution).items()),
    ]
    if as_json:
        print(json.dumps({"written": list(map(str, written))}, indent=1))
        return
    for path in written:
        print(f"Written: {path}")
