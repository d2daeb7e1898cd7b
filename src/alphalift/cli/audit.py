"""`alphalift audit`: reads options, calls the library, prints the answer, and ends with a code that machines understand."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from alphalift.choices import ONE_NAMESPACE, ShownIds
from alphalift.cli.options import AsJson, Bins, Confidence, DropMissing, Opening, Sensitive, Separator, Sheet
from alphalift.errors import AlphaliftError, InputError, ProofError
from alphalift.terminal import complain, in_words, require_kind, require_table

if TYPE_CHECKING:
    from alphalift.document import Stored
    from alphalift.joint import Joint
    from alphalift.tables import TableFile

# What a run ends with. Whatever kept an audit from being made is wrong usage: it is no answer.
KEPT, NOT_KEPT, NOT_AUDITED, CANNOT_TELL = 0, 1, 2, 3
_NO_JOINT = "what is known of S and X is missing: give --table with --sensitive and --useful, or --joint"


@contextmanager
def _audited() -> Iterator[None]:
    """An error is one line, and never taken for an answer; a mechanism file with a claim that is not proven is one: not kept."""
    try:
        yield
    except (AlphaliftError, OSError) as error:
        complain(in_words(error))
        raise typer.Exit(NOT_KEPT if isinstance(error, ProofError) else NOT_AUDITED) from None


def _print(as_json: bool, content: dict[str, Any], words: str) -> None:
    print(json.dumps(content, indent=1, ensure_ascii=False) if as_json else words)


def channel_command(
    file: Annotated[Path, typer.Argument(help="A mechanism of ours, or P(Y|X) as a CSV file with labels.")],
    promise: Annotated[
        str | None, typer.Option(help="As for `design`; a mechanism of ours has one of its own.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="The table that has the joint: with --sensitive and --useful.")
    ] = None,
    sensitive: Annotated[list[str] | None, typer.Option("--sensitive", "-s", help="The table's secret column.")] = None,
    useful: Annotated[
        list[str] | None, typer.Option("--useful", "-u", help="The useful column; repeat for a combination.")
    ] = None,
    joint: Annotated[
        Path | None, typer.Option(help="Or P(S,X) as a CSV file with labels, a row for each secret.")
    ] = None,
    rows: Annotated[
        Literal["y", "x"] | None, typer.Option(help="What the rows of P(Y|X) are, if labels and sums do not tell.")
    ] = None,
    opening: Opening = None,
    bins: Bins = None,
    drop_missing: DropMissing = False,
    separator: Separator = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Decide exactly whether a channel keeps a promise about a joint, and print every measure of it."""
    with _audited():
        if table is not None:
            require_table(table)
        from alphalift.regions import parse

        asked = None if promise is None else parse(promise)
        if not file.is_file():
            raise InputError(f"{file}: there is no such file; expected a mechanism, or P(Y|X) as a CSV file")
        known = None
        if table or joint:
            from alphalift.given import table_of

            opened = None if table is None else table_of(table, separator, sheet)
            known = _table_joint(opened, (sensitive, useful), joint, (bins, drop_missing))
        elif file.suffix != ".json":
            raise InputError(_NO_JOINT)

        from alphalift.audit import Channel, audit_channel, read_channel
        from alphalift.audit.words import channel_content, of_channel

        stored = _stored(file, opening) if file.suffix == ".json" else None
        own = known or (stored.joint if stored is not None else None)
        if own is None:
            raise InputError(_NO_JOINT)
        if asked is None and (stored is None or stored.after is not None):
            together = (
                "; what several mechanisms promise together `alphalift verify` proves" if stored is not None else ""
            )
            raise InputError(f"give --promise{together}")
        region = asked if asked is not None else stored.region  # type: ignore[union-attr]  # which there is then
        notes = []
        if stored is not None:
            channel = Channel.of_integers(stored.integers)
        else:
            channel, way = read_channel(file, own.x_labels, rows=rows)
            notes.append(f"Read: a row for each {'output' if way == 'y' else 'value of X'}.")
        if channel.normalised:
            notes.append("The columns of P(Y|X) sum to one only within 1e-9, and were divided by their sums.")
        audit = audit_channel(channel, own, region)
        secret = " and ".join(own.origin.sensitive) if own.origin is not None else "the secret"
        _print(as_json, channel_content(audit) | {"notes": notes}, "\n".join([*notes, of_channel(audit, secret)]))
    raise typer.Exit(KEPT if audit.kept else NOT_KEPT)


def _stored(file: Path, opening: Path | None) -> "Stored":
    """A mechanism of ours, proven again."""
    from alphalift.document import load
    from alphalift.proof import checker

    require_kind(file, "mechanism")
    try:
        withheld = "counts" not in checker.read(file)["joint"]
    except (checker.RefusedError, KeyError, TypeError) as error:
        why = error if isinstance(error, checker.RefusedError) else "it has no joint"
        raise InputError(f"{file} is no mechanism that could be audited: {why}") from None
    if opening is None and withheld:
        raise InputError(f"{file} withholds its counts: give what opens it, --opening")
    return load(file, opening)


def _table_joint(
    table: "Path | TableFile | None",
    columns: tuple[list[str] | None, list[str] | None],
    joint: Path | None,
    declared: tuple[list[str] | None, bool],
) -> "Joint":
    """What is known of S and X, counted from a table's sensitive and useful columns, or as a matrix."""
    if table is None and joint is not None:
        from alphalift.audit import read_joint_matrix

        return read_joint_matrix(joint)
    sensitive, useful = columns
    if table is None or not sensitive or not useful or joint is not None:
        raise InputError("--table needs --sensitive and --useful, and no --joint beside it")
    from alphalift.given import Declared, read_bins

    return Declared(declared[1], read_bins(declared[0]), anyway=True).read(table, sensitive, useful)


def samples_command(
    table: Annotated[Path, typer.Argument(help="A table with the secret and the released column (CSV, TSV, Parquet).")],
    sensitive: Sensitive,
    released: Annotated[list[str], typer.Option(help="The released column; repeat for a combination.")],
    promise: Annotated[str, typer.Option(help="'MaxLift(0.3)', 'KL(0.1) & MaxLift(1)', ... (docs/field.md).")],
    useful: Annotated[
        list[str] | None,
        typer.Option(
            "--useful", "-u", help="The useful column, if it is known: also tests that the secret was not looked at."
        ),
    ] = None,
    confidence: Confidence = "95%",
    bins: Bins = None,
    drop_missing: DropMissing = False,
    separator: Separator = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Tell from samples whether a mechanism keeps a promise: yes (0), no (1), or that they cannot tell (3)."""
    with _audited():
        require_table(table)
        from alphalift.given import confidence_of, public_bins, table_of
        from alphalift.regions import parse

        region, share, edges = parse(promise), confidence_of(confidence), public_bins(bins)
        opened = table_of(table, separator, sheet)
        from alphalift.audit import read_samples

        missing = "drop" if drop_missing else "symbol"
        found = read_samples(
            opened, sensitive=sensitive, released=released, useful=useful or None, missing=missing, bins=edges
        )
        from alphalift.audit import Answer, audit_samples
        from alphalift.audit.words import of_samples, samples_content

        audit = audit_samples(found, region, confidence=share)
        words = of_samples(audit, " and ".join(sensitive), " and ".join(useful) if useful else None)
        _print(as_json, samples_content(audit), words)
    raise typer.Exit({Answer.YES: KEPT, Answer.NO: NOT_KEPT, Answer.CANNOT_TELL: CANNOT_TELL}[audit.answer])


def release_command(
    released: Annotated[Path, typer.Argument(help="A released table, as `apply` wrote it.")],
    mechanism: Annotated[Path, typer.Option(help="The mechanism that it was released with.")],
    table: Annotated[Path, typer.Option("--table", "--input", help="The table that was released.")],
    key: Annotated[Path, typer.Option(help="The key that it was released under.")],
    record_id: Annotated[str, typer.Option("--id", help="The column that identifies a record.")],
    opening: Opening = None,
    namespace: Annotated[str, typer.Option(help="As for `apply`.")] = ONE_NAMESPACE,
    ids: Annotated[ShownIds, typer.Option(help="How ids left, as for `apply`.")] = "pseudonym",
    answer_unseen: Annotated[bool, typer.Option("--answer-unseen", help="As for `apply`.")] = False,
    keep: Annotated[list[str] | None, typer.Option(help="A column that was copied; repeat for several.")] = None,
    separator: Separator = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Draw a release again and compare every row; the ledger is neither read nor written."""
    with _audited():
        from dataclasses import asdict

        for path in (released, table):
            require_table(path)
        from alphalift.given import table_of
        from alphalift.release import read_key

        require_kind(mechanism, "mechanism")
        opened, secret = table_of(table, separator, sheet), read_key(key)

        from alphalift.audit import audit_release
        from alphalift.audit.words import of_release
        from alphalift.document import load
        from alphalift.release import Plan

        plan = Plan(
            mechanism=load(mechanism, opening),
            key=secret,
            record_id=record_id,
            namespace=namespace,
            show_ids=ids,
            unseen="answer" if answer_unseen else "refuse",
            keep=keep or (),
            publish=keep or (),
            ledger="none",
        )
        audit = audit_release(plan, released, opened)
        _print(as_json, {"kept": audit.kept, **asdict(audit)}, of_release(audit))
    raise typer.Exit(KEPT if audit.kept else NOT_KEPT)
