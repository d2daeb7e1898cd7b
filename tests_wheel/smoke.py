"""What an installed alphalift must do: design, verify, apply, report and draw, in an environment that has nothing else.

`python smoke.py` runs where only the wheel and what it declares are installed, away from the repository. It compares what the program says
with fractions that are computed here.
"""

import csv
import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from fractions import Fraction
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

COUNTS = {
    ("ill", "cook"): 12,
    ("ill", "clerk"): 3,
    ("ill", "driver"): 5,
    ("well", "cook"): 20,
    ("well", "clerk"): 40,
    ("well", "driver"): 20,
}
PROMISED = Fraction(5, 4)
COMMANDS = """\
design people.csv --sensitive diagnosis --useful occupation --at-most 1.25 --population --out m.json --pictures pictures
verify m.json
key new k
apply m.json people.csv --id id --key k --out released.csv
report m.json --released released.csv --curve-seconds 0 --out report.html
estimate released.csv released.csv.codebook.json
audit channel m.json --promise MaxLift(0.3)
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [pair for pair, count in COUNTS.items() for _ in range(count)]
        with open(Path(folder, "people.csv"), "w", newline="") as file:
            csv.writer(file).writerows([("id", "diagnosis", "occupation"), *((n, *row) for n, row in enumerate(rows))])
        for line in COMMANDS.splitlines():
            run(folder, *line.split())
        check_lifts(json.loads(Path(folder, "m.json").read_text(encoding="utf-8")))
        check_files(Path(folder), rows)
        check_page(folder)
    check_python()
    print(f"alphalift {version('alphalift')} works with numpy {version('numpy')}, pandas {version('pandas')}")


def run(folder: str, *arguments: str) -> None:
    """The command as a user has it: its exit code must be 0, and no dependency may complain."""
    program = Path(sys.executable).with_name("alphalift")
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    complaints = [line for line in done.stderr.splitlines() if "Warning" in line or "Traceback" in line]
    if done.returncode or complaints:
        raise SystemExit(f"alphalift {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def check_lifts(document: dict) -> None:
    """The file's integers, and the counts above, give every lift: none may exceed the promise, and one must come near it."""
    unit, people = 2 ** document["bits"], sum(COUNTS.values())
    ill = Fraction(sum(count for (s, _), count in COUNTS.items() if s == "ill"), people)
    lifts = []
    for row in document["weights"]:
        weight = {document["labels"]["x"][x]: w for x, w in zip(row[::2], row[1::2], strict=True)}
        mass = {
            s: sum(Fraction(n * weight.get(x, 0), people * unit) for (of, x), n in COUNTS.items() if of == s)
            for s in ("ill", "well")
        }
        share = mass["ill"] / sum(mass.values())
        lifts += [share / ill, (1 - share) / (1 - ill)]
    assert len(lifts) >= 4
    assert Fraction(124, 100) < max(lifts) <= PROMISED, max(lifts)


def check_files(folder: Path, rows: list) -> None:
    with open(folder / "released.csv", newline="") as file:
        released = list(csv.DictReader(file))
    assert len(released) == len(rows)
    assert set(released[0]) == {"id", "released occupation"}, set(released[0])
    codebook = json.loads((folder / "released.csv.codebook.json").read_text(encoding="utf-8"))
    assert sum(Counter(row["released occupation"] for row in released).values()) == len(rows)
    assert codebook["outputs"]
    assert "1.25 times" in (folder / "report.html").read_text(encoding="utf-8")
    drawn = {path.name: path.read_bytes()[:8] for path in (folder / "pictures").iterdir()}
    assert drawn["lifts.png"] == b"\x89PNG\r\n\x1a\n", sorted(drawn)


def check_page(folder: str) -> None:
    """Without its extra the page says what it needs; with it, its files are there."""
    program = Path(sys.executable).with_name("alphalift")
    done = subprocess.run([program, "serve", "--no-browser"], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, "pip install 'alphalift[web]'" in done.stderr) == (1, True), done.stderr
    static = files("alphalift.web").joinpath("static")
    assert {"page.html", "page.css", "page.js", "icon.svg"} <= {own.name for own in static.iterdir()}


def check_python() -> None:
    """The same from Python, with a data frame; warnings are errors."""
    warnings.simplefilter("error")
    import pandas as pd

    import alphalift

    joint = alphalift.Joint(
        pd.DataFrame([[12, 3, 5], [20, 40, 20]], index=["ill", "well"], columns=["cook", "clerk", "driver"]),
        counts=True,
    )
    solution = alphalift.design(joint, alphalift.AlphaLift(alpha=10, epsilon=0.1))
    assert 0 < solution.normalized_utility < 1
    assert solution.mechanism.leakage(10) <= 0.1
    assert len(alphalift.compare(joint, "LDP(0.5)").to_frame()) > 3
    people = pd.DataFrame({"s": ["a", "b", "a"], "x": ["u", "v", "v"]})
    assert alphalift.read_joint(people, sensitive="s", useful="x").n == len(people)
    check_engines(solution)


def check_engines(solution: object) -> None:
    """Tables whose kinds older engines do not know: a relation that is streamed, views of text."""
    import duckdb
    import pyarrow as pa

    from alphalift.release import Plan, release

    plan = Plan(mechanism=solution, useful="job", one_shot=True)
    relation = duckdb.sql("SELECT * FROM (VALUES ('cook'), ('clerk'), ('cook')) AS people(job)")
    views = pa.table({"job": pa.array(["cook", "clerk", "cook"], pa.string_view())})
    for table in (relation, views):
        assert release(plan, table).rows == 3


if __name__ == "__main__":
    main()
