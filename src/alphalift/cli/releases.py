"""What is done with a table that leaves: `apply`, `estimate` and `key new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from alphalift.choices import ONE_NAMESPACE, ShownIds
from alphalift.cli.options import Bins, Dask, Opening, Table, WorkerCount
from alphalift.errors import InputError
from alphalift.terminal import in_options, require_kind
from alphalift.whole import require_not


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
    opening: Opening = None,
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
    print(
        f"{int(found.counts.sum())} released records; shares of the values, intervals at {confidence}, each by itself:"
    )
    width = max(map(len, found.values))
    apart = {value for group in found.not_told_apart for value in group}
    for value, share, low, high, told in frame.itertuples(index=False):
        why = "the outputs do not tell it" if value in apart else "hardly told by so few records"
        remark = "" if told else f"  ({why}: at least {confidence} sure to be in this range)"
        print(f"  {value:{width}}  {share:7.2%}  {low:7.2%} to {high:7.2%}{remark}")
    for group in found.not_told_apart:
        print(f"Not told apart: {'; '.join(group)}.")
    print(
        "They are about the population that the records are a random sample of. Errors of values come together: where one is missed, "
        "others often are."
    )


def new_key_command(file: Annotated[Path, typer.Argument(help="Where to write it.")]) -> None:
    """Make a new secret key and its ledger, readable by you alone; one key for all releases about the same people."""
    from alphalift.release import new_key

    key = new_key(file)
    print(f"Written: {file} (fingerprint {key.fingerprint}) and its ledger {file}.ledger, readable by you alone.")
    print("Use this one key for all releases about the same people: the ledger beside it remembers them, and refuses")
    print("what would tell more than was promised. A new key for each release would defeat that. Keep both, secret and")
    print("together: only with the key do records get the outputs again that they had, only the ledger knows of them.")
