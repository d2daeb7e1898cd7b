"""The command line: reads options, calls the library, prints. No mathematics here."""

from __future__ import annotations

import io
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from alphalift.compare import compare
from alphalift.data import adult
from alphalift.design import design, prove
from alphalift.document import Stored, load, save, to_document, to_json, withhold_joint
from alphalift.errors import AlphaliftError, InputError, ProofError
from alphalift.joint import Joint
from alphalift.measures import epsilon_max
from alphalift.paper import OPTIMUM_EPSILONS, run_experiment, write_experiment
from alphalift.proof import checker
from alphalift.regions import AlphaLift, Region, grid, parse
from alphalift.release import ONE_NAMESPACE, Plan, new_key, read_key, release, written_beside
from alphalift.release.public import ShownIds
from alphalift.sharing import for_sharing
from alphalift.show import comparison_table, describe, plot_comparison, plot_mechanism, plot_tradeoff
from alphalift.show.live import LiveLine
from alphalift.show.style import save as save_figure
from alphalift.solvers import Optimal
from alphalift.solvers.algorithm1 import PAPER_EPSILONS
from alphalift.sweep import Tradeoff, sweep
from alphalift.tables import read_joint
from alphalift.terminal import in_options, in_words, require_kind
from alphalift.together import columns_before
from alphalift.whole import require_file_place, require_not, require_outside, whole_file
from alphalift.workers import Workers
from alphalift.workers import dask as dask_executor

app = typer.Typer(
    help="Release a useful column without raising the likelihood of a secret one beyond a promise.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Table = Annotated[Path, typer.Argument(help="A CSV or TSV file, also gzipped, or a Parquet file or folder.")]
Sensitive = Annotated[list[str], typer.Option("--sensitive", "-s", help="The secret column; repeat for a combination.")]
Useful = Annotated[list[str], typer.Option("--useful", "-u", help="The column to release; repeat for a combination.")]
Alpha = Annotated[str | None, typer.Option(help="Above 1; 'inf' for max-lift, the strictest.")]
Epsilon = Annotated[str | None, typer.Option(help="Privacy budget in nats, 0 or more.")]
Promise = Annotated[
    str | None,
    typer.Option(help="Instead of alpha and epsilon: 'LIP(0.3)', 'KL(0.1) & MaxLift(1)', ... (docs/field.md)."),
]
TimeLimit = Annotated[float, typer.Option(min=0.001, help="Seconds; Ctrl-C also returns the best so far.")]
Bins = Annotated[
    list[str] | None, typer.Option(help="Bins of a numeric column, 'age=18,30,65'; repeat for several columns.")
]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")]
Alphabet = Annotated[
    list[str] | None,
    typer.Option(
        help="The declared values of a column, 'education=FILE' with one a line, instead of those in the table."
    ),
]
WorkerCount = Annotated[int | None, typer.Option("--workers", min=1, help="Processes on this machine.")]
Dask = Annotated[
    str | None, typer.Option(help="Compute on the Dask cluster whose scheduler is there: 'tcp://host:8786'.")
]
Resume = Annotated[
    Path | None,
    typer.Option(help="Keep finished cells in this folder, as private as the table; go on from those that are there."),
]
Folder = Annotated[Path, typer.Option("--out", help="Folder to write to.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"alphalift {version('alphalift')}")
        raise typer.Exit


@app.callback()
def common(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command("design")
def design_command(
    table: Table,
    sensitive: Sensitive,
    useful: Useful,
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    promise: Promise = None,
    out: Annotated[Path | None, typer.Option(help="Write the mechanism to this JSON file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the mechanism as JSON instead of words.")] = False,
    drop_missing: DropMissing = False,
    bins: Bins = None,
    alphabet: Alphabet = None,
    time_limit: TimeLimit = 60.0,
    after: Annotated[
        list[Path] | None,
        typer.Option(
            help="A mechanism that has released a column of these people before; repeat for several. The promise is then about all of them together."
        ),
    ] = None,
    openings: Annotated[
        list[Path] | None,
        typer.Option("--opening", help="What opens a mechanism given with --after that withholds its counts."),
    ] = None,
    withhold: Annotated[
        Path | None,
        typer.Option(
            help="Leave the counts out of the mechanism, behind a commitment, and make its weights coarse, so that it can be shared; what opens it goes to this file."
        ),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(min=1, max=52, help="Probabilities are multiples of 1/2^bits: 52, or few with --withhold."),
    ] = None,
) -> None:
    """Design a mechanism for one table, secret, useful column and promise, with its proof."""
    region = _region(promise, alpha, epsilon)
    if withhold is not None and out is None:
        raise InputError("--withhold needs --out as well: one has the mechanism, the other what opens it")
    given = [table, *(after or []), *_alphabet_files(alphabet).values()]
    for path in (out, withhold):
        if path is not None:
            _check_output(path, given)
            given.append(path)
    earlier = [_load(path, openings or []) for path in after or []]
    declared = Declared(drop_missing, _bins(bins), _alphabet(alphabet))
    joint = declared.read(table, sensitive, useful, earlier)
    with LiveLine() as live:
        solver = Optimal(time_limit=time_limit, progress=live.show)
        source = declared.source([*sensitive, *useful])
        solution = design(joint, region, solver=solver, source=source, after=earlier)
    if withhold is not None or bits is not None:
        solution = for_sharing(solution, bits) if withhold is not None else prove(solution, bits=bits or 52)
    document = to_document(solution) if out or withhold or as_json else {}
    if withhold is not None:
        document, opening = withhold_joint(document, secrets.token_hex(32))
        save(opening, withhold)
    if out is not None:
        save(document, out)
    if as_json:
        print(to_json(document), end="")
        return
    kept = " and ".join(f"{name} (in bins)" if name in declared.bins else name for name in useful)
    print(describe(solution, secret=" and ".join(sensitive), useful=kept))
    for path in (out, withhold):
        if path is not None:
            print(f"Written: {path}")
    if out is not None:
        private = withhold or out
        print(f"{private} contains the table's counts: it is as private as they are.")


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A mechanism, as `design --out` writes it.")],
    opening: Annotated[Path | None, typer.Option(help="What opens the commitment of a withheld joint.")] = None,
) -> None:
    """Prove every claim of a mechanism file again, without trusting any solver; exit code 1 if one is not proven."""
    files = [path for path in (file, opening) if path is not None]
    for path in files:
        if path.is_dir() or not path.exists():
            wrong = "is a folder" if path.is_dir() else "there is no such file"
            raise InputError(f"{path}: {wrong}; expected what `alphalift design` wrote")
        require_kind(path, "mechanism" if path is file else "opening")
    sys.exit(checker.main([str(path) for path in files]))


@app.command("apply")
def apply_command(
    mechanism: Annotated[Path, typer.Argument(help="A mechanism, as `design --out` writes it; it is proven again.")],
    table: Table,
    out: Annotated[
        Path,
        typer.Option(
            help="Released records: .csv, .tsv (also .gz), .parquet; of a folder, a new folder without ending."
        ),
    ],
    record_id: Annotated[str | None, typer.Option("--id", help="The column that identifies a record.")] = None,
    key: Annotated[Path | None, typer.Option(help="A key, as `key new` makes it: one for all releases.")] = None,
    opening: Annotated[Path | None, typer.Option(help="What opens the commitment of a withheld joint.")] = None,
    namespace: Annotated[str, typer.Option(help="Names these people; other people have another one.")] = ONE_NAMESPACE,
    ids: Annotated[
        ShownIds, typer.Option(help="How ids leave: as pseudonyms under the key, as they are, or not at all.")
    ] = "pseudonym",
    ids_unique: Annotated[bool, typer.Option("--ids-unique", help="Trust that no id has two values.")] = False,
    answer_unseen: Annotated[
        bool,
        typer.Option("--answer-unseen", help="Answer values that the mechanism does not know, by its law for them."),
    ] = False,
    keep: Annotated[list[str] | None, typer.Option(help="Copy this column, too: no promise covers it.")] = None,
    yes_publish: Annotated[
        list[str] | None,
        typer.Option(help="Yes, publish this kept column as it is, although it is the secret or a useful one."),
    ] = None,
    useful: Annotated[
        list[str] | None,
        typer.Option("--useful", "-u", help="The released columns, if the mechanism does not know them."),
    ] = None,
    bins: Bins = None,
    other_columns: Annotated[
        bool, typer.Option("--other-columns", help="--useful and --bins mean what the designed ones meant.")
    ] = False,
    new_release: Annotated[
        bool, typer.Option("--new-release", help="Make another release about the same people.")
    ] = False,
    also: Annotated[
        list[Path] | None, typer.Option(help="Another key: releases under it about these people count as well.")
    ] = None,
    after: Annotated[
        list[Path] | None,
        typer.Option(
            help="A mechanism that has answered for these people: what all tell together is counted from the table."
        ),
    ] = None,
    one_shot: Annotated[bool, typer.Option("--one-shot", help="No ids and no key: fresh randomness, once.")] = False,
    workers: WorkerCount = None,
    dask: Dask = None,
) -> None:
    """Release a table: every record's value is replaced by its random output, the same at every run."""
    for path in (mechanism, opening, *(after or [])):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: there is no such file; expected a mechanism as `design --out` writes it")
        if path is not None:
            require_kind(path, "opening" if path is opening else "mechanism")
    stored = load(mechanism, opening)
    plan = Plan(
        mechanism=stored,
        key=None if key is None else read_key(key),
        record_id=record_id,
        useful=useful or None,
        bins=_bins(bins) if bins else None,
        redefine=other_columns,
        namespace=namespace,
        ids="unique" if ids_unique else "check",
        show_ids=ids,
        unseen="answer" if answer_unseen else "refuse",
        keep=keep or (),
        publish=yes_publish or (),
        new_release=new_release,
        one_shot=one_shot,
        also=[read_key(path) for path in also or []],
        after=[load(path) for path in after or []],
    )
    for place in (out, *written_beside(out)):
        require_not(place, [path for path in (mechanism, opening, *(after or [])) if path is not None])
    with _workers(workers, dask) as chosen:
        done = release(plan, table, out=out, workers=chosen)
    print(f"Released {done.rows} records, each with one output; promise {done.manifest['promise']}.")
    if not one_shot:
        print(f"Ids: {done.manifest['ids']}.")
    print(
        "Rows keep the table's order: who knows it knows whose rows they are; sort by something that tells nothing first."
    )
    for notice in done.notices:
        print(f"Note: {in_options(notice)}.")
    print(f"Written: {out}, and its codebook and manifest beside it")


key_app = typer.Typer(help="Keys of releases.", no_args_is_help=True)
app.add_typer(key_app, name="key")


@key_app.command("new")
def new_key_command(file: Annotated[Path, typer.Argument(help="Where to write it.")]) -> None:
    """Make a new secret key and its ledger, readable by you alone; one key for all releases about the same people."""
    key = new_key(file)
    print(f"Written: {file} (fingerprint {key.fingerprint}) and its ledger {file}.ledger, readable by you alone.")
    print("Use this one key for all releases about the same people: the ledger beside it remembers them, and refuses")
    print("what would tell more than was promised. A new key for each release would defeat that. Keep both, secret and")
    print("together: only with the key do records get the outputs again that they had, only the ledger knows of them.")


@app.command("compare")
def compare_command(
    table: Table,
    sensitive: Sensitive,
    useful: Useful,
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    promise: Promise = None,
    out: Folder = Path("."),
    drop_missing: DropMissing = False,
    bins: Bins = None,
    time_limit: TimeLimit = 60.0,
) -> None:
    """Put the optimum beside what others do under one promise: a table, compare.csv, compare.png and compare.pdf."""
    region = _region(promise, alpha, epsilon)
    _check_folder(out)
    joint = Declared(drop_missing, _bins(bins)).read(table, sensitive, useful)
    with LiveLine() as live:
        comparison = compare(joint, region, solver=Optimal(time_limit=time_limit, progress=live.show))
    print(comparison_table(comparison))
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "compare.csv", comparison.to_frame().to_csv(index=False))
    figure = plot_comparison(comparison, secret=" and ".join(sensitive), useful=" and ".join(useful))
    for path in (
        out / "compare.csv",
        save_figure(figure, out / "compare.png"),
        save_figure(figure, out / "compare.pdf"),
    ):
        print(f"Written: {path}")


@app.command()
def curve(
    table: Table,
    sensitive: Sensitive,
    useful: Useful,
    alpha: Annotated[list[float], typer.Option(help="Above 1, or 'inf'; repeat for several curves.")],
    out: Folder = Path("."),
    points: Annotated[int, typer.Option(min=2, help="How many epsilons up to where X may be published.")] = 24,
    drop_missing: DropMissing = False,
    bins: Bins = None,
    workers: WorkerCount = None,
    dask: Dask = None,
    resume: Resume = None,
) -> None:
    """Draw how much of the useful column each privacy budget keeps: curve.csv, curve.png and curve.pdf."""
    _check_folder(out)
    joint = Declared(drop_missing, _bins(bins)).read(table, sensitive, useful)
    with _workers(workers, dask) as chosen:
        tradeoff = _curve(joint, alpha, points, chosen, resume)
    if tradeoff.resumed:
        print(f"Resumed: {tradeoff.resumed} of {len(tradeoff.records)} cells were in {resume}")
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "curve.csv", tradeoff.to_frame().to_csv(index=False))
    figure = plot_tradeoff(tradeoff)
    for path in (out / "curve.csv", save_figure(figure, out / "curve.png"), save_figure(figure, out / "curve.pdf")):
        print(f"Written: {path}")


@app.command()
def reproduce(
    distributions: Annotated[int, typer.Option(min=1, help="How many random joints; the paper has 100.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random joints.")] = 0,
    out: Folder = Path("reproduction"),
    every_cell: Annotated[
        bool, typer.Option("--every-cell", help="The certified optimum at all 190 epsilons instead of 15: hours.")
    ] = False,
    workers: WorkerCount = None,
    dask: Dask = None,
    resume: Resume = None,
) -> None:
    """Run the paper's section V beside the certified optimum: Figure 1, the data and a verdict on every claim."""
    _check_folder(out)
    epsilons = PAPER_EPSILONS if every_cell else OPTIMUM_EPSILONS
    with _workers(workers, dask) as chosen:
        experiment = run_experiment(distributions, seed, optimum_epsilons=epsilons, workers=chosen, resume=resume)
    if experiment.resumed:
        print(f"Resumed: {experiment.resumed} cells were in {resume}")
    for path in write_experiment(experiment, out):
        print(f"Written: {path}")


@app.command()
def demo(out: Folder = Path("demo")) -> None:
    """Design a release of education that protects race in the 1994 US census, and draw it."""
    _check_folder(out)
    joint = read_joint(adult(), sensitive="race", useful="education")
    solution = design(joint, AlphaLift(alpha=10, epsilon=0.3))
    print(f"The 1994 US census, {joint.n} people. Sensitive: race. Useful: education.")
    print(describe(solution, secret="race", useful="education"))
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "mechanism.json", to_json(to_document(solution)))  # of a table that is public
    tradeoff = _curve(joint, [float("inf"), 10.0, 3.0], 24)
    written = [
        out / "mechanism.json",
        save_figure(plot_tradeoff(tradeoff, mark=solution), out / "curve.png"),
        save_figure(plot_mechanism(solution.mechanism, secret="race", useful="education"), out / "mechanism.png"),
    ]
    for path in written:
        print(f"Written: {path}")


def _region(promise: str | None, alpha: str | None, epsilon: str | None) -> Region:
    """The promise, which is given as one text or as alpha and epsilon."""
    if promise is not None and alpha is None and epsilon is None:
        return parse(promise)
    if promise is None and alpha is not None and epsilon is not None:
        return AlphaLift(alpha, epsilon)  # type: ignore[arg-type]  # texts keep the digits that were typed
    raise InputError("give the promise as --alpha and --epsilon, or as --promise")


def _check_folder(out: Path) -> None:
    """Fail before the work, not after it."""
    if any(place.exists() and not place.is_dir() for place in (out, *out.parents)):
        raise InputError(f"{out} is a file, or lies in one; expected a folder to write to")


def _load(path: Path, openings: Sequence[Path]) -> Stored:
    """The mechanism, opened by that of the openings which fits if it withholds its counts."""
    for opening in openings:
        with suppress(ProofError):
            return load(path, opening)
    return load(path)


def _check_output(out: Path, given: Sequence[Path]) -> None:
    """Fail before the work, not after it, and never write over the table, which is the first, or what else is given."""
    require_not(out, given)
    require_outside(out, given[0])
    require_file_place(out)


def _write(path: Path, text: str) -> None:
    """The text as a file that appears whole."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="")


@dataclass(frozen=True)
class Declared:
    """What was declared about a table's columns."""

    drop_missing: bool
    bins: dict[str, list[float]]
    alphabet: dict[str, list[str]] = field(default_factory=dict)

    def read(self, table: Path, sensitive: list[str], useful: list[str], after: Sequence[Stored] = ()) -> Joint:
        """The joint, with the columns beside it that were released before."""
        beside = columns_before(after)
        if not all(variable.columns for variable in beside):
            raise InputError("a mechanism given with --after does not say which columns it releases; design it again")
        return read_joint(
            table,
            sensitive=sensitive,
            useful=useful,
            missing="drop" if self.drop_missing else "symbol",
            bins=self.bins,
            alphabet=self.alphabet,
            beside=beside,
        )

    def source(self, columns: list[str]) -> str:
        """Where the domain came from, for the file's provenance."""
        declared = [*self.bins, *self.alphabet]
        read = [column for column in columns if column not in declared]
        parts = [
            f"{'declared' if names is declared else 'read from the table'} for {', '.join(names)}"
            for names in (declared, read)
            if names
        ]
        return f"domain {' and '.join(parts)}"


def _alphabet(texts: list[str] | None) -> dict[str, list[str]]:
    """Declared values by column, read from files with one value a line."""
    declared = {}
    for column, file in _alphabet_files(texts).items():
        try:
            declared[column] = file.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            raise InputError(f"{file} is not a text in UTF-8; expected one value a line") from None
    return declared


def _alphabet_files(texts: list[str] | None) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in texts or []:
        column, sign, file = text.partition("=")
        if not sign or not Path(file).is_file():
            raise InputError(f"an alphabet is written as 'column=FILE' with a file that exists, not {text!r}")
        if column in files:
            raise InputError(f"--alphabet is given twice for the column {column!r}; put all its values into one file")
        files[column] = Path(file)
    return files


def _bins(texts: list[str] | None) -> dict[str, list[float]]:
    """Declared bins by column: 'age=18,30' are <18, 18 to <30 and >=30."""
    bins: dict[str, list[float]] = {}
    for text in texts or []:
        column, sign, edges = text.rpartition("=")
        if column in bins:
            raise InputError(f"--bins is given twice for the column {column!r}; put all its edges into one")
        try:
            bins[column] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            sign = ""
        if not sign:
            raise InputError(f"bins are written as 'column=18,30,65', not {text!r}")
    return bins


@contextmanager
def _workers(count: int | None, dask: str | None) -> Iterator[Workers]:
    """Who computes: processes here, or a Dask cluster."""
    if count is not None and dask is not None:
        raise InputError("give --workers, for processes on this machine, or --dask, for a cluster, not both")
    if dask is None:
        yield count
    else:
        with dask_executor(dask) as executor:
            yield executor


def _curve(
    joint: Joint, alphas: list[float], points: int, workers: Workers = None, resume: Path | None = None
) -> Tradeoff:
    """Evenly spaced epsilons up to the largest eps_max, shared by all alphas; a single one if S tells nothing."""
    ends = [epsilon_max(joint, alpha) for alpha in alphas]
    # Rounded up to six digits, so that each curve reaches the point from which X itself may be published.
    epsilons = np.unique(np.ceil(np.append(np.linspace(0, max(ends), points), ends) * 1e6 - 1e-6) / 1e6 + 0.0)
    regions = grid(AlphaLift, alpha=alphas, epsilon=epsilons.tolist())
    return sweep(joint, regions, workers=workers, resume=resume)


def main() -> None:
    """Run the command line; an error of ours is one line on standard error and exit code 1."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that the terminal cannot show is no reason to fail
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C, of which typer makes this
            Console(stderr=True).print("alphalift: interrupted", style="red")
        raise
    except (AlphaliftError, OSError) as error:
        Console(stderr=True).print(
            f"alphalift: {in_words(error)}", style="red", highlight=False, markup=False, soft_wrap=True
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
