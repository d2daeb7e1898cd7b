"""What is done with a mechanism file: `verify` and `report`."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from alphalift.cli.options import AsJson, Opening
from alphalift.errors import InputError
from alphalift.terminal import require_kind


def verify_command(
    file: Annotated[Path, typer.Argument(help="A mechanism, as `design --out` writes it.")],
    opening: Opening = None,
    as_json: AsJson = False,
    program: Annotated[
        Path | None,
        typer.Option("--with", help="A second checker, which must accept FILE too: verified/build/alphalift-verified."),
    ] = None,
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
    if program is not None and (code := _checked_by(program, file, alone=opening is None and not as_json)):
        sys.exit(code)
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


def _checked_by(program: Path, file: Path, *, alone: bool) -> int:
    """The exit code of another checker, which prints its own verdicts."""
    import subprocess

    if not alone:
        raise InputError("--with reads neither openings nor writes JSON; give the file alone")
    if not program.is_file():
        raise InputError(
            f"{program}: there is no such program; `make verified` builds verified/build/alphalift-verified"
        )
    print(f"{program.name}:", flush=True)
    return 1 if subprocess.run([str(program.resolve()), str(file)], check=False).returncode else 0


def report_command(
    mechanism: Annotated[Path, typer.Argument(help="A mechanism, as `design --out` writes it; it is proven again.")],
    out: Annotated[Path, typer.Option(help="Write the page to this file, which ends in .html.")],
    opening: Opening = None,
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
    as_json: AsJson = False,
) -> None:
    """Write one self-contained, printable page about a mechanism that is proven: no script, nothing from outside.

    The internal one has shares of the table and is readable by you alone.
    """
    from alphalift.given import check_report, date_of, write_text

    for path in (mechanism, opening):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: there is no such file; expected what `alphalift design` wrote")
        if path is not None:
            require_kind(path, "opening" if path is opening else "mechanism")
    check_report(out, [path for path in (mechanism, opening, released) if path is not None])
    day = None if date is None else date_of(date)
    if released is not None and not released.exists():
        raise InputError(f"{released}: there is no such file; expected what `alphalift apply` wrote")

    from alphalift.report import Filed, ReleasedRows, Shared, internal_report, public_report

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
    if as_json:
        print(json.dumps({"written": [str(out)], "private": not public}, indent=1))
        return
    print(f"Written: {out}")
    if not public:
        print(f"{out} has shares of the table: it is as private as the table. For everybody else: --public.")
