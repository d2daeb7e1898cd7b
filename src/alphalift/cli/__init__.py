"""The command line: reads options, calls the library, prints. No mathematics here.

Below is every command with the line that lists it and the example that ends its help. Commands import what they run when they run,
so that `--help` and an error of usage load no library of numbers.
"""

import io
import sys
from typing import Annotated

import typer

from alphalift.cli.audit import channel_command, release_command, samples_command
from alphalift.cli.curves import compare_command, curve_command
from alphalift.cli.design import design_command
from alphalift.cli.experiments import demo_command, reproduce_command
from alphalift.cli.files import report_command, verify_command
from alphalift.cli.page import serve_command
from alphalift.cli.releases import apply_command, estimate_command, new_key_command
from alphalift.errors import AlphaliftError
from alphalift.terminal import complain, example, in_words

app = typer.Typer(
    help="Release a useful column without raising the likelihood of a secret one beyond a promise.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help starts in half the time, and screen readers read no boxes
)
key_app = typer.Typer(help="Keys of releases.", no_args_is_help=True)
audit_app = typer.Typer(
    help="Check what is given, ours or not. Exit code 0: kept; 1: not kept; 2: not audited, wrong usage; 3: samples cannot tell.",
    no_args_is_help=True,
)


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


app.command(
    "design",
    short_help="Design a mechanism for a table, with its proof.",
    epilog=example("design people.csv -s diagnosis -u occupation --alpha 10 --epsilon 0.3 --out m.json"),
)(design_command)
app.command("verify", short_help="Prove every claim of a mechanism file again.", epilog=example("verify m.json"))(
    verify_command
)
app.command(
    "report",
    short_help="A mechanism as one page for people, internal or public.",
    epilog=example("report m.json --out report.html"),
)(report_command)
app.command(
    "apply",
    short_help="Release a table with a mechanism and a key.",
    epilog=example("apply m.json people.csv --id id --key people.key --out released.csv"),
)(apply_command)
app.command(
    "estimate",
    short_help="What a release says about the useful column.",
    epilog=example("estimate released.csv released.csv.codebook.json"),
)(estimate_command)
app.command(
    "serve",
    short_help="A local page: columns, sliders, curve, design, release.",
    epilog=example("serve people.csv"),
)(serve_command)
app.command(
    "compare",
    short_help="The optimum beside what others do.",
    epilog=example("compare people.csv -s diagnosis -u occupation --promise 'LIP(0.3)' --out pictures"),
)(compare_command)
app.command(
    "curve",
    short_help="Draw what each privacy budget keeps.",
    epilog=example("curve people.csv -s diagnosis -u occupation --alpha inf --alpha 10 --accuracy 0.01 --out pictures"),
)(curve_command)
app.command(
    "reproduce",
    short_help="Run the experiment of the paper again.",
    epilog=example("reproduce --distributions 10 --resume cells --out reproduction"),
)(reproduce_command)
app.command("demo", short_help="Education and race in the 1994 US census.", epilog=example("demo --out demo"))(
    demo_command
)

app.add_typer(key_app, name="key")
key_app.command("new", epilog=example("key new people.key"))(new_key_command)

app.add_typer(audit_app, name="audit")
audit_app.command(
    "channel", short_help="Any P(Y|X), exactly.", epilog=example("audit channel m.json --promise 'MaxLift(0.8)'")
)(channel_command)
audit_app.command(
    "samples",
    short_help="Records of the secret and what was released.",
    epilog=example("audit samples people.csv -s diagnosis --released occupation --promise 'MaxLift(2)'"),
)(samples_command)
audit_app.command(
    "release",
    short_help="A released file, drawn again row by row.",
    epilog=example("audit release released.csv --mechanism m.json --input people.csv --key people.key --id id"),
)(release_command)


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
