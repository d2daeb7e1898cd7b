"""Build a wheel and try it where nothing else is: `python run.py oldest newest`.

Each name is an environment of its own with the wheel and what it declares: at the lower bounds of pyproject.toml, or as new as there is.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = ("pyproject.toml", "README.md", "LICENSE", "src")


def main(kinds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = built(folder)
        for kind in kinds:
            print(f"{kind}: {wheel.name}", flush=True)
            python = installed(wheel, folder / kind, lower_bounds() if kind == "oldest" else [])
            run(python, ROOT / "tests_wheel" / "smoke.py", cwd=folder)


def built(folder: Path) -> Path:
    """The wheel of a copy, so that nothing of an earlier build gets into it."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(
                ROOT / part, folder / "source" / part, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        else:
            (folder / "source").mkdir(exist_ok=True)
            shutil.copy(ROOT / part, folder / "source" / part)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, folder / "source")
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed(wheel: Path, place: Path, pins: list[str]) -> Path:
    """The Python of a new environment with the wheel; nothing is compiled on the way."""
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    options = "--quiet --no-compile --disable-pip-version-check --only-binary :all:"
    run(python, "-m", "pip", "install", *options.split(), wheel, *pins)
    return python


def lower_bounds() -> list[str]:
    """Every dependency at the least version that is declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.fullmatch(r"([\w-]+)>=([\w.]+)", need).expand(r"\1==\2") for need in project["dependencies"]]


def run(*command: object, **options: object) -> None:
    """Where nothing of the caller's Python is seen."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([str(part) for part in command], check=True, env=environment, **options)


if __name__ == "__main__":
    main(sys.argv[1:] or ["oldest", "newest"])
