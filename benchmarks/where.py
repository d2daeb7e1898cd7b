"""The head of every result: the command, the sources, the machine and the packages that it was measured with."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
USUAL = ("alphalift", "numpy", "numba", "highspy")


def where(*packages: str) -> str:
    """Three lines of text; `packages` are those that matter beside the usual ones."""
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    versions = ", ".join(f"{name} {version(name)}" for name in (*USUAL, *packages))
    return (
        f"$ python benchmarks/{command}\n"
        f"{sources(ROOT)}, {datetime.now(UTC):%Y-%m-%d}; {machine()}\n"
        f"python {platform.python_version()}, {versions}"
    )


def sources(root: Path) -> str:
    """The commit, and whether what is measured differs from it; results may: they are often being written."""
    try:
        commit = _git(root, "rev-parse", "--short", "HEAD")
        changed = _git(root, "status", "--porcelain", "--", "src", "benchmarks/*.py", "tests/proof/*.py")
    except (OSError, subprocess.CalledProcessError):
        return "no commit known"
    return f"commit {commit}" + (" with changes" if changed else "")


def machine() -> str:
    """Cores, processor, memory, and how many processes wanted to run before: seconds depend on them too."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{os.cpu_count()} cores, {_processor()}, {gigabytes:.0f} GB, load {os.getloadavg()[0]:.1f} before"


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout.strip()
