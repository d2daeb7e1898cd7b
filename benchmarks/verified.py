"""The checker that is proven in Coq beside the two in Python: it must accept nothing that they refuse for a false claim.

python benchmarks/verified.py designs --count 1000 --second 20
    So many random problems of every promise, or as many as fit in --minutes, are designed, written and
    checked by all. Where the proven checker refuses what the others prove, its reason is counted.
python benchmarks/verified.py forgeries --count 10000
    Files that the proven checker accepts, with one thing changed. What it then accepts, the first checker must prove in
    full, and the second, too.
python benchmarks/verified.py timing
    Seconds of processor time for a file, by the proven checker and by the first one.

Build it first: make verified. The exit code is 1 if anything is violated.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from alphalift import KL, LDP, LIP, AlphaLift, ChiSquare, Joint, MaxLift, Renyi, TotalVariation, design
from alphalift.document import to_document, to_json
from alphalift.proof import checker
from alphalift.regions import Intersection, Region
from optimal import uniform
from proofs import QUICK, random_problem
from where import ROOT, where

sys.path.insert(0, str(ROOT / "tests" / "proof"))
import mutations  # type: ignore[import-not-found]
import second_checker  # type: ignore[import-not-found]

PROGRAM = ROOT / "verified" / "build" / "alphalift-verified"
# What the proven checker does not read, as no claim is about it; the first checker may refuse its form.
NOT_READ = {"table": None, "provenance": {"package": "", "solver": "", "status": ""}}


def proven_checker(path: Path) -> tuple[bool, str]:
    """Whether it accepts the file; else the first line that it does not prove."""
    run = subprocess.run([PROGRAM, path], capture_output=True, text=True, check=False)
    if run.stderr or run.returncode not in (0, 1):
        raise RuntimeError(run.stderr or f"exit code {run.returncode}")
    lines = [line.strip() for line in run.stdout.splitlines() if "NOT PROVEN" in line]
    return run.returncode == 0, lines[0] if lines else ""


def first_checker(path: Path) -> dict[str, str]:
    """What it does not prove, with its text."""
    return {verdict.claim: verdict.text for verdict in checker.check_files([str(path)]) if not verdict.proven}


def proven_but_for_what_is_not_read(content: bytes) -> bool:
    document = json.loads(content)
    return all(verdict.proven for verdict in checker.check({**document, **NOT_READ}))


def second_proves(content: bytes) -> bool:
    try:
        return all(second_checker.verdicts(second_checker.parse(content)).values())
    except ValueError:
        return False


# A promise of each kind, at alpha-lift's order and budget as they are drawn; 0 is a budget of 0.
PROMISES: dict[str, Callable[[float, float], Region]] = {
    "AlphaLift": AlphaLift,
    "MaxLift": lambda _, epsilon: MaxLift(epsilon),
    "Renyi": Renyi,
    "LIP": lambda _, epsilon: LIP(lower=epsilon, upper=epsilon / 2),
    "LDP": lambda _, epsilon: LDP(epsilon),
    "TotalVariation": lambda _, epsilon: TotalVariation(epsilon / 4),
    "ChiSquare": lambda _, epsilon: ChiSquare(epsilon),
    "KL": lambda _, epsilon: KL(epsilon / 4),
    "Intersection": lambda alpha, epsilon: Intersection(AlphaLift(alpha, epsilon), KL(epsilon / 4), LDP(2 * epsilon)),
    "a budget of 0": lambda alpha, _: AlphaLift(alpha, 0),
}


def kind_of(number: int) -> str:
    """In turns; each gets the four kinds of tables that problems have in turns."""
    return list(PROMISES)[number // 4 % len(PROMISES)]


def random_file(seed: int, number: int, largest: int) -> tuple[str, str, str]:
    """The kind of promise, what it is, and the file."""
    joint, drawn, bits = random_problem(seed, number)
    kind = kind_of(number)
    region = PROMISES[kind](drawn.alpha, drawn.epsilon)
    if largest and len(joint.x_labels) > largest:
        joint = Joint(np.asarray(joint.p_sx)[:, :largest] / np.asarray(joint.p_sx)[:, :largest].sum())
    what = f"{len(joint.s_labels)}x{len(joint.x_labels)}, {region}, {bits} bits"
    return kind, what, to_json(to_document(design(joint, region, solver=QUICK, bits=bits)))


def designs(arguments: argparse.Namespace) -> bool:
    refused: Counter[tuple[str, str]] = Counter()
    good: Counter[str] = Counter()
    number, begin = -1, time.monotonic()
    while min(good[kind] for kind in PROMISES) < arguments.count and time.monotonic() < begin + 60 * arguments.minutes:
        number += 1
        if good[kind_of(number)] == arguments.count:
            continue
        try:
            kind, what, text = random_file(arguments.seed, number, arguments.largest)
        except ValueError:  # a secret without mass, once symbols are left out
            continue
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "mechanism.json"
            path.write_text(text, encoding="utf-8")
            accepts, reason = proven_checker(path)
            missing = first_checker(path)
        if missing:
            print(f"VIOLATION {number}, {what}: the first checker does not prove {missing}")
            return False
        if good[kind] < arguments.second and not second_proves(text.encode()):
            print(f"VIOLATION {number}, {what}: the second checker does not prove it")
            return False
        good[kind] += 1
        if not accepts:
            refused[kind, reason.removeprefix("NOT PROVEN").strip()] += 1
    print("of designs that the first checker proves, the proven checker accepts")
    for kind, count in good.items():
        reasons = {reason: n for (own, reason), n in refused.most_common() if own == kind}
        said = "; ".join(f"{n} refused: {reason}" for reason, n in reasons.items())
        print(f"{kind:16} {count - sum(reasons.values()):5} of {count}  {said}", flush=True)
    print(
        f"in all {good.total() - refused.total()} of {good.total()}, in {_processor_minutes():.0f} minutes of processor time"
    )
    for reason in sorted({reason for _, reason in refused}):
        print(f"{sum(n for (_, own), n in refused.items() if own == reason):6}  {reason}")
    return True


def _processor_minutes() -> float:
    """Of this process and what it has waited for."""
    times = os.times()
    return (times.user + times.system + times.children_user + times.children_system) / 60


@cache
def covered(seed: int, count: int) -> list[str]:
    """Files that the proven checker accepts."""
    found: list[str] = []
    number = 0
    while len(found) < count:
        number += 1
        try:
            _, _, text = random_file(seed, number, 5)
        except ValueError:
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if len(text) < 30_000 and proven_checker(Path(file.name))[0]:
                found.append(text)
    return found


def forgeries(arguments: argparse.Namespace) -> bool:
    texts = covered(arguments.seed, 30)
    table: Counter[tuple[str, str]] = Counter()
    violations = 0
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "mechanism.json"
        for number in range(arguments.count):
            changed = mutations.mutant_of(texts, arguments.seed * 10**9 + number)
            path.write_bytes(changed.content)
            accepts, _ = proven_checker(path)
            missing = first_checker(path)
            if not accepts:
                table[changed.kind, "refused by both" if missing else "refused, though proven"] += 1
                continue
            if set(missing) == {"form"} and proven_but_for_what_is_not_read(changed.content):
                table[changed.kind, "accepted, not read"] += 1
            elif not missing and second_proves(changed.content):
                table[changed.kind, "proven by all"] += 1
            else:
                violations += 1
                print(
                    f"VIOLATION forgery {number}, {changed.kind}: accepted, but {missing or 'the second checker refuses'}"
                )
    outcomes = ["refused by both", "refused, though proven", "proven by all", "accepted, not read"]
    print(f"{'changed':28}" + "".join(f"{outcome:>24}" for outcome in outcomes))
    for kind in sorted({kind for kind, _ in table}):
        print(f"{kind:28}" + "".join(f"{table[kind, outcome]:24}" for outcome in outcomes))
    sums = ", ".join(f"{sum(n for (_, own), n in table.items() if own == outcome)} {outcome}" for outcome in outcomes)
    print(f"forgeries {arguments.count} of {len(texts)} files: {violations} violations; {sums}")
    return violations == 0


def _timed() -> Iterator[tuple[str, str]]:
    for alpha in (1.5, 3, 10, math.inf):
        for epsilon in (0.01, 0.1, 0.3):
            yield f"6x10, alpha {alpha:g}, epsilon {epsilon:g}", _file(6, 10, alpha, epsilon)
    for alpha in (3, math.inf):
        yield f"6x40, alpha {alpha:g}, epsilon 0.1", _file(6, 40, alpha, 0.1)


def _file(secrets: int, symbols: int, alpha: float, epsilon: float) -> str:
    return to_json(to_document(design(uniform(0, secrets, symbols), AlphaLift(alpha, epsilon))))


def timing(arguments: argparse.Namespace) -> bool:
    del arguments
    good = True
    for what, text in _timed():
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "mechanism.json"
            path.write_text(text, encoding="utf-8")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            accepts, reason = proven_checker(path)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            begin = time.process_time()
            missing = first_checker(path)
            python = time.process_time() - begin
        own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        nodes = len((json.loads(text)["certificate"] or {}).get("tree", []))
        print(
            f"{what:34} {nodes:6} nodes  proven checker {own:7.2f} s  first checker {python:7.2f} s  {reason}",
            flush=True,
        )
        good = good and not missing and accepts
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run, count in (("designs", designs, 1000), ("forgeries", forgeries, 10_000), ("timing", timing, 0)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("--count", type=int, default=count)
        command.add_argument("--seed", type=int, default=0)
    commands.choices["designs"].add_argument("--second", type=int, default=20)
    commands.choices["designs"].add_argument("--minutes", type=float, default=40)
    commands.choices["designs"].add_argument("--largest", type=int, default=0, help="symbols, at most; 0: as they come")
    arguments = parser.parse_args()
    if not PROGRAM.exists():
        print("make verified builds the program first", file=sys.stderr)
        return 2
    print(where("python-flint", "mpmath"), flush=True)
    return 0 if arguments.run(arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
