"""Every promise of the field on the certified solver: writes docs/field.md.

    python benchmarks/field.py         # about half an hour
    python benchmarks/field.py 2       # two random joints, nothing larger, nothing written

6 x 10: random joints under three budgets each, solved to 1e-4, proven, and the file checked. Larger: one joint each, 60 s.
"""

from __future__ import annotations

import inspect
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from alphalift import Joint, Mechanism, MutualInformation, Optimal, Region, Solution, design, implications, to_document
from alphalift.proof import checker
from alphalift.regions import averages_of, parse
from where import where

# Budgets from strict to loose for each kind, on a scale on which 6 x 10 is neither mute nor free.
PROMISES = {
    "AlphaLift": ["AlphaLift(10, 0.02)", "AlphaLift(3, 0.05)", "AlphaLift(3, 0.2)"],
    "MaxLift": ["MaxLift(0.05)", "MaxLift(0.2)", "MaxLift(0.5)"],
    "PML": ["PML(0.5)", "PML(1)", "PML(1.5)"],
    "LIP": ["LIP(0.05)", "LIP(0.3)", "LIP(lower=0.5, upper=0.2)"],
    "LDP": ["LDP(0.1)", "LDP(0.5)", "LDP(1)"],
    "TotalVariation": ["TotalVariation(0.01)", "TotalVariation(0.05)", "TotalVariation(0.15)"],
    "ChiSquare": ["ChiSquare(0.05)", "ChiSquare(0.2)", "ChiSquare(0.5)"],
    "KL": ["KL(0.001)", "KL(0.01)", "KL(0.05)"],
    "Renyi": ["Renyi(1.5, 0.02)", "Renyi(2, 0.05)", "Renyi(inf, 0.3)"],
    "OnAverage": ["OnAverage(KL(0.01))", "OnAverage(KL(0.05))", "OnAverage(MaxLift(0.1))"],
    "Intersection": [
        "AlphaLift(3, 0.1) & MaxLift(0.3)",
        "KL(0.01) & LIP(0.3)",
        "TotalVariation(0.05) & ChiSquare(0.2)",
    ],
}
SEEDS = 10
CHECKED = 2
LARGER = [(6, 20), (6, 40), (3, 100), (6, 100)]
SECONDS = 60.0
TABLE = Path(__file__).parent.parent / "docs" / "field.md"


def main() -> None:
    head = where("python-flint")
    print(head, flush=True)
    seeds, whole = (int(sys.argv[1]), False) if len(sys.argv) > 1 else (SEEDS, True)
    design(_joint(0, 3, 4), parse("KL(0.01) & MaxLift(0.2)"))  # compiles
    rows = []
    for name, texts in PROMISES.items():
        small = _six_by_ten([parse(text) for text in texts], seeds)
        rows.append(f"| {name} | {small} | {_larger(parse(texts[1])) if whole else 'not tried | | '} |")
        print(rows[-1], flush=True)
    if whole:
        TABLE.write_text(_page(head, rows), encoding="utf-8")


def _joint(seed: int, secrets: int, values: int) -> Joint:
    weights = np.random.default_rng(seed).random((secrets, values))
    return Joint(weights / weights.sum())


def _six_by_ten(regions: list[Region], seeds: int) -> str:
    gaps, seconds, checks = [], [], []
    for seed in range(seeds):
        for region in regions:
            begin = time.perf_counter()
            solution = design(_joint(seed, 6, 10), region)
            seconds.append(time.perf_counter() - begin)
            gaps.append(solution.relative_gap)
            if seed < CHECKED:
                checks.append(_checked(solution))
    listed = "" if averages_of(regions[0]) else "; a finite list for two secrets"
    return (
        f"certified{listed} | {max(gaps):.0e} | {statistics.median(seconds):.2f} / {max(seconds):.1f} s | "
        f"yes, checked in {max(checks):.1f} s"
    )


def _checked(solution: Solution) -> float:
    """Seconds that the checker takes for the file; every claim must be proven."""
    document = to_document(solution)
    begin = time.perf_counter()
    verdicts = checker.check(document)
    assert all(verdict.proven for verdict in verdicts), verdicts
    return time.perf_counter() - begin


def _larger(region: Region) -> str:
    """The largest of the sizes that closes to 1e-3 within the time, its gap and its time."""
    found = "none"
    for secrets, values in LARGER:
        if Mechanism.publishing_all(_joint(0, secrets, values)).check(region):
            continue
        begin = time.perf_counter()
        solver = Optimal(relative_gap=1e-3, time_limit=SECONDS, keep_certificate=False)
        solution = solver.solve(region.about(_joint(0, secrets, values)), [region], MutualInformation())[0]
        if solution.relative_gap <= 1e-3:
            found = f"{secrets} x {values} | {solution.relative_gap:.0e} | {time.perf_counter() - begin:.1f} s"
    return found if found != "none" else "none within 60 s | | "


def _page(head: str, rows: list[str]) -> str:
    kinds = [type(parse(texts[0])) for texts in PROMISES.values()]
    meanings = [f"- **{kind.__name__}**: {_first_paragraphs(kind)}" for kind in kinds]
    implied = []
    for text in ("LDP(1)", "LIP(1)", "MaxLift(1)", "AlphaLift(3, 1)", "Renyi(3, 1)", "ChiSquare(1)", "KL(1)"):
        implied += [
            f"| {text} | {found.region} | {found.reason.replace('|', chr(92) + '|')} |"
            for found in implications(parse(text))
        ]
    return "\n".join(
        [
            "# The promises of the field",
            "",
            "Made by `python benchmarks/field.py`; every row is measured. The utility is mutual information.",
            "",
            f"6 x 10: {SEEDS} random joints under three budgets each. *Certified* means a mechanism within the gap of a bound that",
            "no mechanism exceeds, rounding included ([theory.md](theory.md#floats)); the gap is the worst over the cells, in shares of",
            "H(X). For two secrets pricing goes over a finite list, and the file is the proof. *Proof*: the mechanism file proves the",
            f"promise and the bound, and the checker does so again ({CHECKED} joints). Larger: the largest of",
            f"{', '.join(f'{a} x {b}' for a, b in LARGER)} (one random joint each, the second budget) that closes to 1e-3 within {SECONDS:.0f} s;",
            "for PML, S is X. Measured with",
            "",
            *(f"    {line}" for line in head.splitlines()),
            "",
            "| promise | at 6 x 10 | worst gap | time: median / worst | proof | largest size tried that closed | gap | time |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
            "`Custom`, a user's own support function, is solved through calls back to Python and carries no proof: its designs",
            "have the status `unproven`.",
            "",
            "## What each says",
            "",
            *meanings,
            "",
            "## What implies what",
            "",
            "One step each, at budget 1, whatever the prior; `alphalift.implications(region)` gives them for any budget. Between the",
            "others tests/regions/test_implications.py has counterexamples. PML is MaxLift about X.",
            "",
            "| promise | implies | because |",
            "|---|---|---|",
            *implied,
            "",
        ]
    )


def _first_paragraphs(kind: type[Region]) -> str:
    return " ".join((inspect.getdoc(kind) or "").split())


if __name__ == "__main__":
    main()
