"""A start that does not wait: what is loaded when, what is said while kernels are compiled, and Ctrl-C on the way."""

import os
import shlex
import subprocess
import sys

import pytest
import typer

import alphalift
from alphalift.cli import app

HEAVY = {
    "duckdb",
    "highspy",
    "matplotlib",
    "numba",
    "numpy",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
    "starlette",
    "uvicorn",
}
NOTICE = "Compiling the solver's kernels, once on this machine"
COMPILE = "from alphalift import MutualInformation; MutualInformation().compiled_curve()"


def python(*arguments, **settings):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=400, env={**os.environ, **settings}
    )


def loaded(*arguments):
    """The packages that Python imports on the way, by its own account."""
    lines = python("-X", "importtime", *arguments).stderr.splitlines()
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines if line.startswith("import time:")}


@pytest.mark.parametrize(
    "arguments",
    [
        ("-c", "import alphalift"),
        ("-c", "import alphalift; dir(alphalift); alphalift.InputError"),
        ("-m", "alphalift"),
        ("-m", "alphalift", "--help"),
        ("-m", "alphalift", "--version"),
        ("-m", "alphalift", "design", "--help"),
        ("-m", "alphalift", "apply", "--help"),
        ("-m", "alphalift", "serve", "--help"),
        ("-m", "alphalift", "audit", "samples", "--help"),
        ("-m", "alphalift", "design", "table.csv"),
        ("-m", "alphalift", "nothing"),
    ],
)
def test_neither_the_import_nor_help_loads_a_library_of_numbers(arguments):
    packages = loaded(*arguments)
    assert "alphalift" in packages
    assert not packages & HEAVY


# What a wrong call may load: numpy for promises, Arrow for tables, and nothing that computes, draws or counts.
NOT_FOR_ERRORS = HEAVY - {"numpy", "pyarrow"}
COLUMNS = ("table.csv", "-s", "ill", "-u", "colour")
WRONG_CALLS = {
    "design a file that is not there": ("design", "none.csv", *COLUMNS[1:]),
    "design a misspelt column": ("design", "table.csv", "-s", "il", "-u", "colour"),
    "design a misspelt promise": ("design", *COLUMNS, "--promise", "MaxLft(1)"),
    "design a negative epsilon": ("design", *COLUMNS, "--alpha", "10", "--epsilon", "-1"),
    "design an alpha alone": ("design", *COLUMNS, "--alpha", "10"),
    "design a utility that is none": ("design", *COLUMNS, "--utility", "Information"),
    "design with a share above 100%": ("design", *COLUMNS, "--keep", "120%", "--population"),
    "design into a folder that is not there": ("design", *COLUMNS, "--out", "none/m.json"),
    "design one column for both": ("design", "table.csv", "-s", "ill", "-u", "ill "),
    "compare less than once as likely": ("compare", *COLUMNS, "--at-most", "0.5"),
    "curve of an alpha of 1": ("curve", *COLUMNS, "--alpha", "1"),
    "curve of a kind that is none": ("curve", *COLUMNS, "--promise", "MaxLift(1)"),
    "curve by both kinds of workers": ("curve", *COLUMNS, "--workers", "2", "--dask", "tcp://x:1"),
    "verify nothing": ("verify", "none.json"),
    "report into no page": ("report", "table.csv", "--out", "r.pdf"),
    "apply nothing": ("apply", "none.json", "table.csv", "--id", "who", "--key", "k", "--out", "o.csv"),
    "apply without a key": ("apply", "table.csv", "table.csv", "--id", "who", "--out", "o.csv"),
    "apply with a key that is none": (
        "apply",
        "table.csv",
        "table.csv",
        "--id",
        "who",
        "--key",
        "table.csv",
        "--out",
        "o.csv",
    ),
    "estimate nothing": ("estimate", "table.csv", "none.json"),
    "estimate too sure": ("estimate", "table.csv", "table.csv", "--confidence", "200%"),
    "audit a misspelt column": (
        "audit",
        "samples",
        "table.csv",
        "-s",
        "il",
        "--released",
        "colour",
        "--promise",
        "MaxLift(1)",
    ),
    "audit a misspelt promise": (
        "audit",
        "samples",
        "table.csv",
        "-s",
        "ill",
        "--released",
        "colour",
        "--promise",
        "Max(1)",
    ),
    "audit a channel without a joint": ("audit", "channel", "table.csv", "--promise", "MaxLift(1)"),
    "audit a release with no key": (
        "audit",
        "release",
        "table.csv",
        "--mechanism",
        "table.csv",
        "--table",
        "table.csv",
        "--key",
        "none",
        "--id",
        "who",
    ),
    "write a key over a file": ("key", "new", "table.csv"),
    "serve a file that is not there": ("serve", "none.csv", "--no-browser"),
    "reproduce by both kinds of workers": ("reproduce", "--workers", "2", "--dask", "tcp://x:1"),
    "demo into a file": ("demo", "--out", "table.csv"),
}


@pytest.mark.parametrize("call", WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_what_is_wrong_is_said_in_a_line_before_what_computes_is_loaded(call, tmp_path, monkeypatch):
    (tmp_path / "table.csv").write_text("who,colour,ill\n1,red,yes\n2,blue,no\n")
    monkeypatch.chdir(tmp_path)
    run = python("-X", "importtime", "-m", "alphalift", *call)
    told = [line for line in run.stderr.splitlines() if not line.startswith("import time:")]
    assert run.returncode in (1, 2)
    assert len(told) == 1, told
    assert told[0].startswith("alphalift: ")
    packages = {line.rpartition("|")[2].strip().partition(".")[0] for line in run.stderr.splitlines()}
    assert "alphalift" in packages
    assert not packages & NOT_FOR_ERRORS


def test_what_is_used_is_loaded():
    assert loaded("-c", "import alphalift; alphalift.design") >= {"highspy", "numba", "numpy", "scipy"}


@pytest.mark.parametrize("name", alphalift.__all__)
def test_a_public_name_is_what_its_home_has(name):
    value = getattr(alphalift, name)
    assert name in dir(alphalift)
    home = alphalift._HOMES.get(name)
    assert value is (sys.modules[f"alphalift.{name}"] if home is None else getattr(sys.modules[home], name))


def test_a_module_does_not_hide_the_function_of_its_name():
    """Whoever imports which of them first, and however."""
    code = "import alphalift.design, alphalift.sweep.run, alphalift.compare as compare, alphalift\n"
    code += "from alphalift import design, sweep\n"
    code += (
        "print(*(f.__name__ for f in (design, sweep, compare, alphalift.design, alphalift.sweep, alphalift.compare)))"
    )
    assert python("-c", code).stdout.split() == 2 * ["design", "sweep", "compare"]


def test_all_names_are_there_for_a_star():
    code = "from alphalift import *; import alphalift; print(set(alphalift.__all__) <= set(globals()))"
    assert python("-c", code).stdout == "True\n"


def test_modules_are_attributes_and_other_names_are_not():
    assert python("-c", "import alphalift; print(alphalift.regions.__name__)").stdout == "alphalift.regions\n"
    assert alphalift.__version__
    for name in ("nothing", "_nothing", "__nothing__"):
        with pytest.raises(AttributeError, match=f"module 'alphalift' has no attribute '{name}'"):
            getattr(alphalift, name)


@pytest.mark.parametrize("package", ["typer", "numpy", "numba", "flint"])
def test_ctrl_c_while_a_package_is_loaded_is_one_line(package, tmp_path):
    code = f"""
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {package!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
sys.argv = ["alphalift", "demo", "--out", {str(tmp_path)!r}]
from alphalift.__main__ import main
main()
"""
    run = python("-c", code)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "alphalift: interrupted\n")


def test_compiling_is_said_once_and_only_where_it_happens(tmp_path):
    first = python("-c", COMPILE, NUMBA_CACHE_DIR=str(tmp_path))
    assert first.stderr.count(NOTICE) == len(first.stderr.splitlines()) == 1
    second = python("-c", COMPILE, NUMBA_CACHE_DIR=str(tmp_path))
    assert (second.returncode, second.stderr) == (0, "")


def test_ctrl_c_ends_compiling(tmp_path):
    """Wherever numba is: the signal comes with the notice, and what was begun is not finished."""
    code = f"""
import logging, os, signal
class Interrupt(logging.Handler):
    def emit(self, record):
        os.kill(os.getpid(), signal.SIGINT)
logging.getLogger("alphalift").addHandler(Interrupt())
try:
    {COMPILE}
except KeyboardInterrupt:
    print("ended", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
    run = python("-c", code, NUMBA_CACHE_DIR=str(tmp_path))
    assert (run.stdout, run.stderr) == ("ended True\n", "")
    assert not list(tmp_path.rglob("*.nbc"))


def commands(group, names=()):
    """Every command with what is typed for it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*names, name))
        else:
            yield (*names, name), command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_help_ends_with_an_example_that_can_be_typed(names):
    command = COMMANDS[names]
    *_, title, line = command.get_help(command.make_context(" ".join(names), [], resilient_parsing=True)).splitlines()
    assert title.strip() == "Example:"
    typed = shlex.split(line)
    assert typed[: 1 + len(names)] == ["alphalift", *names]
    command.make_context(
        " ".join(names), typed[1 + len(names) :]
    )  # an unknown option or a missing argument would raise
