"""The command line: reads options, calls the library, prints. No mathematics here.

Commands import what they run when they run, so that `--help` and an error of usage load no library of numbers.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from alphalift.choices import ONE_NAMESPACE, ShownIds
from alphalift.cli_audit import audit_app
from alphalift.errors import AlphaliftError, InputError
from alphalift.terminal import complain, example, in_options, in_words, require_kind
from alphalift.whole import require_not, require_outside

# The share of a time limit that is kept for a file, whose bound is proven once more.
_FILE_SHARE = 0.3
_RECORDS_ALONE = "All figures are for the records as they are; `alphalift design` also keeps the promise for the people behind a sample."

app = typer.Typer(
    help="Release a useful column without raising the likelihood of a secret one beyond a promise.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time, and screen readers read no boxes
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
    list[str] | None, typer.Option(help="Bins of a numeric column, 'age=18,30,65'; repeat for several columns.")
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


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"alphalift {version('alphalift')}")
        raise typer.Exit


@app.callback()
def common(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(
    "design",
    short_help="Design a mechanism for a table, with its proof.",
    epilog=example("design people.csv -s diagnosis -u occupation --alpha 10 --epsilon 0.3 --out m.json"),
)
def design_command(
    table: Table,
    sensitive: Sensitive,
    useful: Useful,
    alpha: Alpha = None,
    epsilon: Epsilon = None,
    promise: Promise = None,
    at_most: AtMost = None,
    utility: UtilityText = None,
    out: Annotated[Path | None, typer.Option(help="Write the mechanism to this JSON file.")] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(
            help="Draw the mechanism, its lifts against the promise and what is kept into this folder, as PNG and PDF."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the mechanism as JSON instead of words.")] = False,
    drop_missing: DropMissing = False,
    bins: Bins = None,
    alphabet: Alphabet = None,
    time_limit: TimeLimit = 60.0,
    anyway: Anyway = False,
    confidence: Annotated[
        str | None,
        typer.Option(
            help="The table is a random sample: keep the promise for the people behind it, with this confidence; 95% unless told."
        ),
    ] = None,
    population: Annotated[
        bool, typer.Option("--population", help="The table is everybody: keep the promise for its records alone.")
    ] = False,
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
    no_advice: Annotated[
        bool,
        typer.Option(
            "--no-advice", help="Do not design for other wishes, in the time that is left, to say what would keep more."
        ),
    ] = False,
    bits: Annotated[
        int | None,
        typer.Option(min=1, max=52, help="Probabilities are multiples of 1/2^bits: 52, or few with --withhold."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            help="Instead of epsilon the share of X to keep, '90%': the least epsilon for it is found, with --population."
        ),
    ] = None,
) -> None:
    """Design a mechanism for one table, secret, useful column and promise, with its proof."""
    import secrets
    from dataclasses import replace

    from alphalift.clock import Clock
    from alphalift.design import design
    from alphalift.document import save, to_json, withhold_joint
    from alphalift.given import (
        Declared,
        Wish,
        alphabet_files,
        check_folder,
        check_output,
        confidence_of,
        document_of,
        least_epsilon,
        open_mechanism,
        read_alphabet,
        read_bins,
        region_of,
        utility_of,
    )
    from alphalift.population import advise, restated
    from alphalift.proof.prove import prove
    from alphalift.sharing import for_sharing
    from alphalift.show.advice import advice_lines
    from alphalift.show.live import LiveLine
    from alphalift.show.pictures import save_pictures
    from alphalift.show.words import describe, gained_words, wanted_words, what_a_file_proves, what_it_may_take
    from alphalift.solution import Status
    from alphalift.solvers import Optimal

    if population and confidence is not None:
        raise typer.BadParameter(
            "--population says that the table is everybody, --confidence that it is a sample: give one"
        )
    worth = utility_of(utility)
    if keep is not None:
        if epsilon is not None or at_most is not None:
            raise InputError("--keep finds the epsilon; give --keep, --epsilon or --at-most, and no two of them")
        if not population or after or withhold is not None or bits is not None:
            raise InputError(
                "--keep is about the records as they are, for one release: give --population, which says that they are everybody, "
                "and no --after, --withhold or --bits; then design with the epsilon that it names"
            )
    region = None if keep is not None else region_of(promise, alpha, epsilon, at_most)
    if at_most is not None and region is not None:
        print(gained_words(region, at_most), file=sys.stderr if as_json else sys.stdout)
    sure = None if confidence is None else confidence_of(confidence)
    if withhold is not None and out is None:
        raise InputError("--withhold needs --out as well: one has the mechanism, the other what opens it")
    given = [table, *(after or []), *alphabet_files(alphabet).values()]
    for path in (out, withhold):
        if path is not None:
            check_output(path, given)
            given.append(path)
    if pictures is not None:
        check_folder(pictures)
        require_outside(pictures / "mechanism.png", table)
    earlier = [open_mechanism(path, openings or []) for path in after or []]
    declared = Declared(drop_missing, read_bins(bins), read_alphabet(alphabet), anyway)
    joint = declared.read(table, sensitive, useful, earlier)
    clock = Clock(time_limit)
    if region is not None and (beforehand := what_it_may_take(joint, region, worth, time_limit)):
        print(beforehand, file=sys.stderr)
    if region is None:
        wanted = least_epsilon(promise, alpha, str(keep), joint, worth, (1 - _FILE_SHARE) * time_limit)
        sourced = f"{wanted.design.settings}; {declared.source([*sensitive, *useful])}"
        wish = Wish.of(wanted.design.region, joint, confidence=None, everybody=True, after=False)
        solution = wish.told(replace(wanted.design, settings=sourced))
        print(wanted_words(wanted, str(keep)), file=sys.stderr if as_json else sys.stdout)
    else:
        with LiveLine(worth.unit) as live:
            search = clock.reserving(_FILE_SHARE * time_limit) if out or as_json else clock
            solver = Optimal(time_limit=time_limit, progress=live.show, clock=search)
            source = declared.source([*sensitive, *useful])
            wish = Wish.of(region, joint, confidence=sure, everybody=population, after=bool(earlier))
            solution = wish.told(design(joint, wish.asked, utility=worth, solver=solver, source=source, after=earlier))
    if withhold is not None or bits is not None:
        solution = for_sharing(solution, bits) if withhold is not None else restated(prove(solution, bits=bits or 52))
    document = document_of(solution, clock) if out or withhold or as_json else {}
    claims = document.get("claims", {})
    if withhold is not None:
        document, opening = withhold_joint(document, secrets.token_hex(32))
        save(opening, withhold)
    if out is not None:
        save(document, out)
    kept = " and ".join(f"{name} (in bins)" if name in declared.bins else name for name in useful)
    drawn: list[Path] = []
    if pictures is not None:
        drawn = save_pictures(solution, pictures, secret=" and ".join(sensitive), useful=kept)
    if as_json:
        print(to_json(document), end="")
        return
    print(describe(solution, secret=" and ".join(sensitive), useful=kept))
    if document and (less := what_a_file_proves(solution, claims)):
        print(less)
    for path in (out, withhold, *drawn):
        if path is not None:
            print(f"Written: {path}")
    if drawn:
        print(f"The pictures in {pictures} show shares of the table: they are as private as it is.")
    if out is not None:
        private = withhold or out
        print(f"{private} contains the table's counts: it is as private as they are.")
    costs = solution.population is not None and solution.population.errors != 0
    if costs and not no_advice and solution.status is not Status.INTERRUPTED:
        found = advise(solution, solver=solver, clock=clock)
        print("\n".join(advice_lines(found, secret=" and ".join(sensitive), useful=kept, utility=worth)))


@app.command(short_help="Prove every claim of a mechanism file again.", epilog=example("verify m.json"))
def verify(
    file: Annotated[Path, typer.Argument(help="A mechanism, as `design --out` writes it.")],
    opening: Annotated[Path | None, typer.Option(help="What opens the commitment of a withheld joint.")] = None,
    as_json: AsJson = False,
) -> None:
    """Prove every claim of a mechanism file again, without trusting any solver; exit code 1 if one is not proven."""
    from dataclasses import asdict

    from alphalift.proof import checker
    from alphalift.proof.said import line_about

    files = [path for path in (file, opening) if path is not None]
    for path in files:
        if path.is_dir() or not path.exists():
            wrong = "is a folder" if path.is_dir() else "there is no such file"
            raise InputError(f"{path}: {wrong}; expected what `alphalift design` wrote")
        require_kind(path, "mechanism" if path is file else "opening")
    paths = [str(path) for path in files]
    if as_json:
        verdicts = checker.check_files(paths)
        proven = all(verdict.proven for verdict in verdicts)
        claims = [asdict(verdict) for verdict in verdicts]
        print(
            json.dumps(
                {"proven": proven, "claims": claims, "stated": line_about(checker.read(file)) if proven else None},
                indent=1,
            )
        )
        sys.exit(0 if proven else 1)
    if code := checker.main(paths):
        sys.exit(code)
    print(f"{'stated':>10}  {line_about(checker.read(file))}")


@app.command(
    "report",
    short_help="A mechanism as one page for people, internal or public.",
    epilog=example("report m.json --out report.html"),
)
def report_command(
    mechanism: Annotated[Path, typer.Argument(help="A mechanism, as `design --out` writes it; it is proven again.")],
    out: Annotated[Path, typer.Option(help="Write the page to this file, which ends in .html.")],
    opening: Annotated[Path | None, typer.Option(help="What opens the commitment of a withheld joint.")] = None,
    released: Annotated[
        Path | None, typer.Option(help="What `apply` wrote with it: counted; the manifest beside it is told of.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Nothing beyond the mechanism and its promise, to be shown to everybody.")
    ] = False,
    date: Annotated[str | None, typer.Option(help="The date to print, '2026-05-31'; none unless told.")] = None,
    curve_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds for the curve, which is left out if they are too few; 0 for none.")
    ] = 20.0,
) -> None:
    """Write one self-contained, printable page about a mechanism that is proven: no script, nothing from outside.

    The internal one has shares of the table and is readable by you alone.
    """
    from alphalift.given import check_report, date_of, write_text
    from alphalift.report import Filed, ReleasedRows, Shared, internal_report, public_report

    for path in (mechanism, opening):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: there is no such file; expected what `alphalift design` wrote")
        if path is not None:
            require_kind(path, "opening" if path is opening else "mechanism")
    check_report(out, [path for path in (mechanism, opening, released) if path is not None])
    day = None if date is None else date_of(date)
    filed = Filed.read(mechanism, opening)
    rows = None if released is None else ReleasedRows.read(released, filed)
    if public:
        text = public_report(Shared.of(filed, rows), released=rows, date=day)
    else:
        text = internal_report(
            filed,
            file=mechanism.name,
            opening=None if opening is None else opening.name,
            released=rows,
            date=day,
            curve_seconds=curve_seconds,
        )
    write_text(out, text, private=not public)
    print(f"Written: {out}")
    if not public:
        print(f"{out} has shares of the table: it is as private as the table. For everybody else: --public.")


@app.command(
    "apply",
    short_help="Release a table with a mechanism and a key.",
    epilog=example("apply m.json people.csv --id id --key people.key --out released.csv"),
)
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
    from alphalift.document import load
    from alphalift.given import chosen_workers, read_bins
    from alphalift.release import Plan, read_key, release, written_beside

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
        bins=read_bins(bins) if bins else None,
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
    with chosen_workers(workers, dask) as chosen:
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


@app.command(
    "estimate",
    short_help="What a release says about the useful column.",
    epilog=example("estimate released.csv released.csv.codebook.json"),
)
def estimate_command(
    released: Annotated[Path, typer.Argument(help="A released table, as `apply` writes it.")],
    file: Annotated[Path, typer.Argument(help="Its mechanism, or the codebook beside it, which is public.")],
    confidence: Annotated[str, typer.Option(help="Of every interval.")] = "95%",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Estimate the distribution of the useful column from a release, with intervals that know the noise."""
    from alphalift.given import confidence_of, readable_of
    from alphalift.release.received import estimate_release

    found = estimate_release(released, readable_of(file), confidence=confidence_of(confidence))
    frame = found.to_frame()
    if as_json:
        print(frame.to_json(orient="records"))
        return
    print(f"{int(found.counts.sum())} released records; shares of the values, intervals at {confidence}:")
    width = max(map(len, found.values))
    for value, share, low, high, told in frame.itertuples(index=False):
        remark = "" if told else "  (not told by the outputs: the range that they leave)"
        print(f"  {value:{width}}  {share:7.2%}  {low:7.2%} to {high:7.2%}{remark}")
    for group in found.not_told_apart:
        print(f"Not told apart: {', '.join(group)}.")


key_app = typer.Typer(help="Keys of releases.", no_args_is_help=True)
app.add_typer(key_app, name="key")
app.add_typer(audit_app, name="audit")


@key_app.command("new", epilog=example("key new people.key"))
def new_key_command(file: Annotated[Path, typer.Argument(help="Where to write it.")]) -> None:
    """Make a new secret key and its ledger, readable by you alone; one key for all releases about the same people."""
    from alphalift.release import new_key

    key = new_key(file)
    print(f"Written: {file} (fingerprint {key.fingerprint}) and its ledger {file}.ledger, readable by you alone.")
    print("Use this one key for all releases about the same people: the ledger beside it remembers them, and refuses")
    print("what would tell more than was promised. A new key for each release would defeat that. Keep both, secret and")
    print("together: only with the key do records get the outputs again that they had, only the ledger knows of them.")


@app.command(
    "compare",
    short_help="The optimum beside what others do.",
    epilog=example("compare people.csv -s diagnosis -u occupation --promise 'LIP(0.3)' --out pictures"),
)
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
    from alphalift.show.style import save as save_figure
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


@app.command(
    "curve",
    short_help="Draw what each privacy budget keeps.",
    epilog=example("curve people.csv -s diagnosis -u occupation --alpha inf --alpha 10 --accuracy 0.01 --out pictures"),
)
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
    from alphalift.show.style import save as save_figure

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


@app.command(
    short_help="Run the experiment of the paper again.",
    epilog=example("reproduce --distributions 10 --resume cells --out reproduction"),
)
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
    from alphalift.given import check_folder, chosen_workers
    from alphalift.paper import OPTIMUM_EPSILONS, run_experiment, write_experiment
    from alphalift.solvers.algorithm1 import PAPER_EPSILONS

    check_folder(out)
    epsilons = PAPER_EPSILONS if every_cell else OPTIMUM_EPSILONS
    with chosen_workers(workers, dask) as chosen:
        experiment = run_experiment(distributions, seed, optimum_epsilons=epsilons, workers=chosen, resume=resume)
    if experiment.resumed:
        print(f"Resumed: {experiment.resumed} cells were in {resume}")
    for path in write_experiment(experiment, out):
        print(f"Written: {path}")


@app.command(short_help="Education and race in the 1994 US census.", epilog=example("demo --out demo"))
def demo(out: Folder = Path("demo")) -> None:
    """Design a release of education that protects race in the 1994 US census, and draw it."""
    from alphalift.data import adult
    from alphalift.design import design
    from alphalift.document import to_document, to_json
    from alphalift.given import check_folder, sweep_curves, write_text
    from alphalift.regions import AlphaLift
    from alphalift.show import describe, plot_tradeoff
    from alphalift.show.pictures import pictures_of
    from alphalift.show.style import save as save_figure
    from alphalift.tables import read_joint

    check_folder(out)
    joint = read_joint(adult(), sensitive="race", useful="education")
    solution = design(joint, AlphaLift(alpha=10, epsilon=0.3))
    print(f"The 1994 US census, {joint.n} people. Sensitive: race. Useful: education.")
    print(describe(solution, secret="race", useful="education"))
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "mechanism.json", to_json(to_document(solution)))  # of a table that is public
    tradeoff = sweep_curves(joint, [float("inf"), 10.0, 3.0], 24)
    written = [
        out / "mechanism.json",
        save_figure(plot_tradeoff(tradeoff, mark=solution), out / "curve.png"),
        *(save_figure(picture, out / f"{name}.png") for name, picture in pictures_of(solution).items()),
    ]
    for path in written:
        print(f"Written: {path}")


def main() -> None:
    """Run the command line; an error of ours is one line on standard error and exit code 1."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that the terminal cannot show is no reason to fail
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C, of which typer makes this
            complain("interrupted")
        raise
    except (AlphaliftError, OSError) as error:
        complain(in_words(error))
        sys.exit(1)
