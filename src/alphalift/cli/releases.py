"""What is done with a table that leaves: `apply`, `estimate` and `key new`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from alphalift.choices import ONE_NAMESPACE, ShownIds
from alphalift.cli.options import (
    AsJson,
    Bins,
    Confidence,
    Dask,
    Opening,
    RecordId,
    Separator,
    Sheet,
    Table,
    WorkerCount,
)
from alphalift.errors import InputError
from alphalift.terminal import in_options, require_kind, require_table
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
    record_id: RecordId = None,
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
    separator: Separator = None,
    sheet: Sheet = None,
    workers: WorkerCount = None,
    dask: Dask = None,
    as_json: AsJson = False,
) -> None:
    """Release a table: every record's value is replaced by its random output, the same at every run."""
    for path in (mechanism, opening, *(after or [])):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: there is no such file; expected a mechanism as `design --out` writes it")
        if path is not None:
            require_kind(path, "opening" if path is opening else "mechanism")
    require_table(table)
    if {record_id is None, key is None} != {one_shot}:
        raise InputError(
            "a release needs the column that identifies a record (--id) and a key (--key), so that a record is never answered twice "
            "with fresh randomness; without ids it can be done once and never again: --one-shot"
        )
    from alphalift.release import read_key

    secret = None if key is None else read_key(key)
    from alphalift.given import check_workers, public_bins, table_of

    check_workers(workers, dask)
    opened = table_of(table, separator, sheet)
    declared = public_bins(bins) if bins else None

    from alphalift.document import load
    from alphalift.release import Plan, release, written_beside
    from alphalift.show.live import LiveLine
    from alphalift.tasks import chosen_workers

    stored = load(mechanism, opening)
    plan = Plan(
        mechanism=stored,
        key=secret,
        record_id=record_id,
        useful=useful or None,
        bins=declared,
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
    with chosen_workers(workers, dask) as chosen, LiveLine(what="releasing"):
        done = release(plan, opened, out=out, workers=chosen)
    if as_json:
        notes = [in_options(notice) for notice in done.notices]
        files = [str(place) for place in (out, *written_beside(out))]
        print(json.dumps({"records": done.rows, "manifest": done.manifest, "notes": notes, "written": files}, indent=1))
        return
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
    confidence: Confidence = "95%",
    separator: Separator = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the distribution of the useful column from a release, with intervals that know the noise."""
    require_table(released)
    from alphalift.given import confidence_of, table_of

    sure, opened = confidence_of(confidence), table_of(released, separator, sheet)
    if not file.is_file():
        raise InputError(f"{file}: there is no such file; expected the mechanism, or the codebook beside the release")

    from alphalift.release.received import estimate_release
    from alphalift.tasks import readable_of

    found = estimate_release(opened, readable_of(file), confidence=sure)
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


def new_key_command(file: Annotated[Path, typer.Argument(help="Where to write it.")], as_json: AsJson = False) -> None:
    """Make a new secret key and its ledger, readable by you alone; one key for all releases about the same people."""
    from alphalift.release import new_key

    key = new_key(file)
    if as_json:
        print(json.dumps({"fingerprint": key.fingerprint, "written": [str(file), f"{file}.ledger"]}, indent=1))
        return
    print(f"Written: {file} (fingerprint {key.fingerprint}) and its ledger {file}.ledger, readable by you alone.")
    print("Use this one key for all releases about the same people: the ledger beside it remembers them, and refuses")
    print("what would tell more than was promised. A new key for each release would defeat that. Keep both, secret and")
    print("together: only with the key do records get the outputs again that they had, only the ledger knows of them.")
