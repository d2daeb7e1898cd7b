"""What a start costs in processor time: the import, the help, wrong calls, a first design on a fresh machine, and the next ones.

    python benchmarks/start.py [runs]

Every row is a process of its own, and the least of its runs counts (3 unless said; the fresh machine, an empty folder as numba's
cache, has one). The children's times are those that the operating system keeps, threads included.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from where import where

_DESIGN = (
    "import numpy as np, alphalift as al; "
    "al.design(al.Joint(np.random.default_rng(0).integers(1, 200, (6, 10)), counts=True), al.AlphaLift(10, 0.3))"
)
_COLUMNS = ("-s", "race", "-u", "education")
# What somebody gets wrong, by what finds it: typer, a promise, a path, the table's header.
_WRONG = {
    "an option that is missing": ("design", "{census}"),
    "an epsilon below 0": ("design", "{census}", *_COLUMNS, "--alpha", "10", "--epsilon", "-1"),
    "a misspelt promise": ("design", "{census}", *_COLUMNS, "--promise", "MaxLft(1)"),
    "a utility that is none": ("design", "{census}", *_COLUMNS, "--utility", "Information"),
    "a file that is not there": ("design", "none.csv", *_COLUMNS),
    "a misspelt column": ("design", "{census}", "-s", "rce", "-u", "education"),
    "a misspelt column, audit": (
        "audit",
        "samples",
        "{census}",
        "-s",
        "rce",
        "--released",
        "education",
        "--promise",
        "KL(1)",
    ),
    "a mechanism that is none": ("apply", "{census}", "none.csv", "--id", "person_id", "--out", "o.csv"),
    "a key that is none": ("apply", "{census}", "{census}", "--id", "person_id", "--key", "{census}", "--out", "o.csv"),
}
_CENSUS = ("{census}", *_COLUMNS, "--alpha", "10", "--epsilon", "0.3", "--no-advice", "--out", "m.json")
_HELP, _COMMAND_HELP = ("-m", "alphalift", "--help"), ("-m", "alphalift", "design", "--help")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print(where("typer"))
    print(f"python itself                  {_least(runs, '-c', 'pass'):7.2f} s")
    print(f"import alphalift               {_least(runs, '-c', 'import alphalift'):7.2f} s, at most 0.5")
    print(f"import all that it offers      {_least(runs, '-c', 'from alphalift import *'):7.2f} s")
    print(f"alphalift --help               {_least(runs, *_HELP):7.2f} s, at most 0.3")
    print(f"alphalift design --help        {_least(runs, *_COMMAND_HELP):7.2f} s, at most 0.3")
    for name, call in _WRONG.items():
        print(f"{name:30} {_least(runs, '-m', 'alphalift', *call, wrong=True):7.2f} s, at most 0.3")
    with TemporaryDirectory() as cache:
        print(f"first design 6x10, compiling   {_least(1, '-c', _DESIGN, cache=cache):7.2f} s, at most 25")
        print(f"a design 6x10 in a new process {_least(runs, '-c', _DESIGN, cache=cache):7.2f} s")
    for name, asked in (("its records alone", ("--population",)), ("the people behind it", ())):
        _least(1, "-m", "alphalift", "design", *_CENSUS, *asked)  # what is not compiled yet
        print(f"the census, {name:20} {_least(runs, '-m', 'alphalift', 'design', *_CENSUS, *asked):5.2f} s, at most 3")


def _least(runs: int, *arguments: str, cache: str | None = None, wrong: bool = False) -> float:
    """Seconds of processor time that Python takes with these arguments, the least of the runs; `wrong` calls must fail."""
    source = str(Path(__file__).parent.parent / "src")
    given = [
        argument.format(census=f"{source}/alphalift/data/adult.csv.gz") if "{census}" in argument else argument
        for argument in arguments
    ]
    environment = {**os.environ, "PYTHONPATH": source, **({} if cache is None else {"NUMBA_CACHE_DIR": cache})}
    times = []
    for _ in range(runs):
        before = _children()
        with TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, *given], env=environment, cwd=folder, capture_output=True)
        if (run.returncode != 0) != wrong:
            raise SystemExit(f"{' '.join(arguments)}: {run.stderr.decode()}")
        times.append(_children() - before)
    return min(times)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
