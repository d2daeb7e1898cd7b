"""What a start costs in processor time: the import, the help, the first design on a fresh machine, and the next one.

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
_HELP, _COMMAND_HELP = ("-m", "alphalift", "--help"), ("-m", "alphalift", "design", "--help")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print(where("typer"))
    print(f"python itself                  {_least(runs, '-c', 'pass'):7.2f} s")
    print(f"import alphalift               {_least(runs, '-c', 'import alphalift'):7.2f} s, at most 0.5")
    print(f"import all that it offers      {_least(runs, '-c', 'from alphalift import *'):7.2f} s")
    print(f"alphalift --help               {_least(runs, *_HELP):7.2f} s, at most 0.3")
    print(f"alphalift design --help        {_least(runs, *_COMMAND_HELP):7.2f} s, at most 0.3")
    with TemporaryDirectory() as cache:
        print(f"first design 6x10, compiling   {_least(1, '-c', _DESIGN, cache=cache):7.2f} s, at most 25")
        print(f"a design 6x10 in a new process {_least(runs, '-c', _DESIGN, cache=cache):7.2f} s")


def _least(runs: int, *arguments: str, cache: str | None = None) -> float:
    """Seconds of processor time that Python takes with these arguments, the least of the runs."""
    source = str(Path(__file__).parent.parent / "src")
    environment = {**os.environ, "PYTHONPATH": source, **({} if cache is None else {"NUMBA_CACHE_DIR": cache})}
    times = []
    for _ in range(runs):
        before = _children()
        subprocess.run([sys.executable, *arguments], env=environment, check=True, capture_output=True)
        times.append(_children() - before)
    return min(times)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
