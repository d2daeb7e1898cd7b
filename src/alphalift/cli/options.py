"""Arguments and options that several commands have, each said once."""

from pathlib import Path
from typing import Annotated

import typer

Table = Annotated[
    Path, typer.Argument(help="A CSV or TSV file, also gzipped, an Excel file, or a Parquet file or folder.")
]
Separator = Annotated[
    str | None,
    typer.Option(help="What separates the cells of the CSV file, ';' or '|' or tab, where its header does not tell."),
]
Sheet = Annotated[str | None, typer.Option(help="Which sheet of the Excel file, if it has several.")]
Sensitive = Annotated[list[str], typer.Option("--sensitive", "-s", help="The secret column; repeat for a combination.")]
Useful = Annotated[list[str], typer.Option("--useful", "-u", help="The column to release; repeat for a combination.")]
Alpha = Annotated[str | None, typer.Option(help="Above 1; 'inf' for max-lift, the strictest.")]
Epsilon = Annotated[str | None, typer.Option(help="Privacy budget in nats, 0 or more.")]
Promise = Annotated[
    str | None,
    typer.Option(help="Instead of alpha and epsilon: 'LIP(0.3)', 'KL(0.1) & MaxLift(1)', ... (docs/field.md)."),
]
AtMost = Annotated[
    str | None,
    typer.Option(
        help="Instead of alpha and epsilon how many times as likely any group may become at most, '1.5': that is alpha = inf, and epsilon its logarithm."
    ),
]
UtilityText = Annotated[
    str | None,
    typer.Option(
        "--utility",
        help="What a release is worth: 'MutualInformation()' unless told, \"FInformation('hellinger')\", 'GuessingAccuracy()', "
        "\"Decision('gains.csv')\" (a row for every action, a column for every value) or 'SquaredError()'.",
    ),
]
TimeLimit = Annotated[float, typer.Option(min=0.001, help="Seconds; Ctrl-C also returns the best so far.")]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        help="Bins of a numeric column, 'age=18,30,65'; repeat for several columns. 'age=quantiles:5' chooses edges, which tell something about the table."
    ),
]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")]
Alphabet = Annotated[
    list[str] | None,
    typer.Option(
        help="The declared values of a column, 'education=FILE' with one a line, instead of those in the table."
    ),
]
Anyway = Annotated[bool, typer.Option("--anyway", help="Go on with a column that looks like an identifier.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of words.")]
WorkerCount = Annotated[int | None, typer.Option("--workers", min=1, help="Processes on this machine.")]
Dask = Annotated[
    str | None, typer.Option(help="Compute on the Dask cluster whose scheduler is there: 'tcp://host:8786'.")
]
Resume = Annotated[
    Path | None,
    typer.Option(help="Keep finished cells in this folder, as private as the table; go on from those that are there."),
]
Folder = Annotated[Path, typer.Option("--out", help="Folder to write to.")]
Opening = Annotated[Path | None, typer.Option(help="What opens the commitment of a withheld joint.")]
Confidence = Annotated[str, typer.Option(help="Of every statement about chance, '95%'.")]
RecordId = Annotated[str | None, typer.Option("--id", help="The column that identifies a record.")]
Alphas = Annotated[
    list[str] | None,
    typer.Option("--alpha", help="Above 1, or 'inf'; repeat for several curves; inf and 10 unless told."),
]
