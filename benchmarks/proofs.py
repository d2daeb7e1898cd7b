"""Proofs put to the test: many problems, many broken files, and how long a check takes.

python benchmarks/proofs.py problems --count 10000 --second 1000
    Random problems are designed, written, read back and checked; the first ones by the second checker of
    tests/proof too. None may be unproven. About 20 minutes on two cores.
python benchmarks/proofs.py mutations --count 10000
    Files with one thing changed. What the checker accepts, the second checker must prove; nothing but its own refusal
    may come out of it, within 10 seconds and 1 GB. About 5 minutes.
python benchmarks/proofs.py timing
    Seconds and bytes for each size, with and without a certificate. Wants a quiet machine.

--seed changes the problems and the mutants, --processes how many run at once. The exit code is 1 if anything is violated.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from loky import ProcessPoolExecutor

from alphalift import AlphaLift, Joint, Mechanism, Optimal, design
from alphalift.document import to_document, to_json
from alphalift.proof import checker
from alphalift.proof.prove import prove
from alphalift.solution import Solution, Status
from alphalift.utilities import MutualInformation
from optimal import uniform
from where import where

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "proof"))
import mutations  # type: ignore[import-not-found]
import second_checker  # type: ignore[import-not-found]

ALPHAS = [1.1, 1.5, 2, 3, 5, 10, 30, 100, math.inf]
# The usual bits, and now and then others.
BITS = [52] * 7 + [16, 24, 100]
QUICK = Optimal(relative_gap=2e-2, node_limit=100, time_limit=600, threads=1)
# What may be lost and exceeded, in nats: by rounding to 52 bits in ordinary cases, and by the bound in the file.
CLOSE, EXCESS = 1e-9, 1e-6
GIGABYTE = 10**6  # ru_maxrss is in kilobytes


def random_problem(seed: int, number: int) -> tuple[Joint, AlphaLift, int]:
    """A joint of 2-10 secrets and 2-30 symbols, a promise, and the bits to round to."""
    rng = np.random.default_rng((seed, number))
    shape = int(rng.integers(2, 11)), int(rng.integers(2, 31))
    alpha, epsilon = float(rng.choice(ALPHAS)), float(np.exp(rng.uniform(np.log(0.001), np.log(2))))
    bits = int(rng.choice(BITS))
    kind = ["uniform", "sparse", "zero cells", "counts"][number % 4]
    while True:
        table = _random_table(kind, shape, rng)
        if table.any(axis=0).all() and table.any(axis=1).all():
            break
    joint = Joint(table.astype(int).tolist(), counts=True) if kind == "counts" else Joint(table / table.sum())
    return joint, AlphaLift(alpha, epsilon), bits


def _random_table(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    if kind == "uniform":
        return rng.random(shape)
    if kind == "sparse":
        return rng.dirichlet(np.full(math.prod(shape), 0.3)).reshape(shape)
    if kind == "zero cells":
        return rng.random(shape) * (rng.random(shape) < 0.75)
    return rng.integers(0, 100, shape)


@dataclass(frozen=True)
class Outcome:
    """One problem: what was violated, and the figures that are summarised."""

    number: int
    what: str
    bits: int = 52
    status: str = ""
    lost: float = 0.0
    excess: float = 0.0
    seconds: float = 0.0
    size: int = 0
    complaints: list[str] = field(default_factory=list)


def run_problem(number: int, *, seed: int, second: int) -> Outcome:
    joint, region, bits = random_problem(seed, number)
    what = f"problem {number}: {len(joint.s_labels)}x{len(joint.x_labels)}, {region}, {bits} bits"
    try:
        return _run_problem(number, what, joint, region, bits, second=number < second)
    except Exception as error:  # every crash is a finding; the others go on
        return Outcome(number, what, complaints=[f"{type(error).__name__}: {error}"])


def _run_problem(number: int, what: str, joint: Joint, region: AlphaLift, bits: int, *, second: bool) -> Outcome:
    found = QUICK.solve(joint, [region], MutualInformation())[0]
    solution = prove(replace(found, settings=repr(QUICK)), bits=bits)
    text = to_json(to_document(solution))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "mechanism.json"
        path.write_text(text, encoding="utf-8")
        begin = time.perf_counter()
        document = checker.read(path)
        verdicts = checker.check(document)
        seconds = time.perf_counter() - begin
    complaints = [f"{verdict.claim} is not proven: {verdict.text}" for verdict in verdicts if not verdict.proven]
    if len(verdicts) != 5 - (document["unseen"] is None):
        complaints.append("a claim has no verdict")
    if second:
        proven = second_checker.verdicts(second_checker.parse(text.encode()))
        complaints += [f"{claim} is not proven by the second checker" for claim, good in proven.items() if not good]
    worth, best = (float(Fraction(document["claims"][name])) for name in ("utility_at_least", "optimum_at_most"))
    if abs(worth - solution.utility) > CLOSE:
        complaints.append(f"the file's utility differs from the solution's by {worth - solution.utility:.2e}")
    excess = best - found.upper_bound
    if excess > EXCESS:
        complaints.append(f"the file's bound is {excess:.2e} above the solver's")
    lost = found.utility - solution.utility
    return Outcome(number, what, bits, found.status.name, lost, excess, seconds, len(text), complaints)


def problems(arguments: argparse.Namespace) -> bool:
    begin = time.perf_counter()
    work = partial(run_problem, seed=arguments.seed, second=arguments.second)
    outcomes = list(_parallel(work, range(arguments.count), arguments.processes))
    second = min(arguments.second, arguments.count)
    bad = _complain(outcomes)
    print(f"problems {arguments.count}, of these {second} with the second checker too: {bad} with a violation")
    print("status " + ", ".join(f"{name.lower()} {n}" for name, n in Counter(o.status for o in outcomes).most_common()))
    for bits in sorted({outcome.bits for outcome in outcomes}):
        lost = sorted((outcome.lost, outcome.what) for outcome in outcomes if outcome.bits == bits)
        above = sum(own > CLOSE for own, _ in lost)
        print(f"{bits} bits: {len(lost)} files, lost by rounding at most {lost[-1][0]:.1e} nats ({lost[-1][1]});")
        print(f"    median {lost[len(lost) // 2][0]:.1e}, above 1e-9 in {above}")
    worst = max(outcomes, key=lambda outcome: outcome.excess)
    print(f"the file's bound exceeds the solver's by at most {worst.excess:.1e} nats ({worst.what})")
    seconds = [outcome.seconds for outcome in outcomes]
    print(f"a check takes {np.median(seconds):.4f} s (median), {max(seconds):.3f} s (longest)")
    print(f"largest file {max(outcome.size for outcome in outcomes)} bytes; {time.perf_counter() - begin:.0f} s in all")
    return not bad


def _complain(outcomes: Iterable[Outcome]) -> int:
    bad = [outcome for outcome in outcomes if outcome.complaints]
    for outcome in bad:
        print(f"VIOLATION {outcome.what}: {'; '.join(outcome.complaints)}")
    return len(bad)


def _parallel(work: Callable[[int], Any], items: range, processes: int) -> Iterator[Any]:
    with ProcessPoolExecutor(processes, env={"OMP_NUM_THREADS": "1"}) as pool:
        for done, result in enumerate(pool.map(work, items, chunksize=8), 1):
            if done % 500 == 0:
                print(f"{done} done", file=sys.stderr, flush=True)
            yield result


def run_mutant(number: int, *, seed: int) -> tuple[Any, int]:
    """The judgement, and the process's peak memory so far in kilobytes."""
    with tempfile.TemporaryDirectory() as directory:
        judgement = mutations.judge(mutations.mutant(seed + number), directory)
    return judgement, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def mutants(arguments: argparse.Namespace) -> bool:
    begin = time.perf_counter()
    work = partial(run_mutant, seed=arguments.seed * 10**9)
    judged = list(_parallel(work, range(arguments.count), arguments.processes))
    outcomes = ["not read", "refused", "proven", "escaped"]
    table = Counter((judgement.kind, judgement.outcome) for judgement, _ in judged)
    print(f"{'changed':28}" + "".join(f"{outcome:>10}" for outcome in outcomes))
    for kind in sorted({kind for kind, _ in table}):
        print(f"{kind:28}" + "".join(f"{table[kind, outcome]:10}" for outcome in outcomes))
    violations = [
        f"mutant {number}, {judgement.kind}: {'; '.join(judgement.complaints)}"
        for number, (judgement, _) in enumerate(judged)
        if judgement.complaints
    ]
    memory = max(memory for _, memory in judged)
    if memory > GIGABYTE:
        violations.append(f"a process took {memory / GIGABYTE:.2f} GB")
    violations += _bombs()
    for violation in violations:
        print(f"VIOLATION {violation}")
    print(f"mutants {arguments.count}: {len(violations)} violations; 'proven' are harmless, as the second checker says")
    print(f"peak memory {memory / GIGABYTE:.2f} GB with solver and second checker; {time.perf_counter() - begin:.0f} s")
    return not violations


def _bombs() -> Iterator[str]:
    """Files of 100 MB, and as large as are read at all, each for the checker alone in a process of its own."""
    full = checker.LARGEST_FILE - 1000
    bombs = {
        "100 MB of digits": b'{"bits": ' + b"9" * 10**8 + b"}",
        "100 MB of [": b"[" * 10**8,
        "digits": b'{"bits": ' + b"9" * full + b"}",
        "digits in quotes": b'{"epsilon": "' + b"9" * full + b'"}',
        "digits after a point": b'{"bits": 1.' + b"0" * full + b"}",
        "[": b"[" * full,
        "[ and ]": b"[" * (full // 2) + b"]" * (full // 2),
        "nested objects": b'{"a":' * (full // 5),
        "empty lists": b"[" + b"[]," * (full // 3) + b"[]]",
        "small integers": b"[" + b"[7]," * (full // 4) + b"[7]]",
        "spaces": b" " * full,
    }
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "bomb.json"
        for name, content in bombs.items():
            path.write_bytes(content)
            begin = time.perf_counter()
            run, memory = _alone(path)
            seconds = time.perf_counter() - begin
            print(f"{name}: exit code {run.returncode}, {seconds:.1f} s, {memory / GIGABYTE:.2f} GB")
            if run.returncode != 1 or b"NOT PROVEN  form" not in run.stdout or run.stderr:
                yield f"{name}: exit code {run.returncode}, {run.stderr[-200:]!r}"
            if seconds > mutations.SECONDS or memory > GIGABYTE:
                yield f"{name}: {seconds:.1f} s, {memory / GIGABYTE:.2f} GB"


# Runs the checker and adds its peak memory as the last line, in kilobytes. ru_maxrss would count the process it was
# started from too.
_MEASURED = """
import runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def _alone(path: Path) -> tuple[subprocess.CompletedProcess[bytes], int]:
    command = [sys.executable, "-I", "-c", _MEASURED, str(checker.__file__), str(path)]
    run = subprocess.run(command, capture_output=True, timeout=600, check=False)
    return run, int(run.stdout.split()[-1])


def _without_certificate(document: dict[str, Any]) -> dict[str, Any]:
    """The same mechanism with H(X) as the bound, which needs no certificate."""
    p_x = np.array(document["joint"]["counts"], dtype=float).sum(axis=0)
    p_x /= p_x.sum()
    claims = document["claims"] | {"optimum_at_most": f"{-(p_x * np.log(p_x)).sum() + 1e-9:.15f}"}
    return document | {"claims": claims, "certificate": None}


def _seconds_to_check(text: str) -> tuple[float, bool]:
    """From the file's bytes to the verdicts, the least of three; and whether all is proven."""
    seconds, good = [], True
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "mechanism.json"
        path.write_text(text, encoding="utf-8")
        for _ in range(3):
            begin = time.perf_counter()
            verdicts = checker.check(checker.read(path))
            seconds.append(time.perf_counter() - begin)
            good = good and all(verdict.proven for verdict in verdicts)
    return min(seconds), good


def _dense(alpha: float) -> Solution:
    """100 secrets, 1000 symbols, 1000 outputs, no certificate."""
    size = 1000
    joint = Joint(np.random.default_rng(0).integers(1, 100, (100, size)).tolist(), counts=True)
    mechanism = Mechanism(joint, np.full((size, size), 0.9 / size) + 0.1 * np.eye(size))
    return prove(Solution(mechanism, AlphaLift(alpha, 1.5), MutualInformation(), Status.FEASIBLE))


def _timed_files(rows: set[str]) -> Iterator[tuple[str, str, str]]:
    """Row, what it is, and the file."""

    def want(row: str) -> bool:
        return not rows or row in rows

    for seed in range(3) if want("6x10") else ():
        for alpha in (1.5, 3, 10, 100, math.inf):
            for epsilon in (0.005, 0.01, 0.03, 0.1, 0.3, 0.6):
                document = to_document(design(uniform(seed, 6, 10), AlphaLift(alpha, epsilon)))
                what = f"alpha {alpha:g}, epsilon {epsilon:g}, seed {seed}"
                yield "6x10 without certificate", what, to_json(_without_certificate(document))
                yield "6x10", what, to_json(document)
    for alpha in (3, 10, math.inf) if want("6x40") else ():
        for epsilon in (0.05, 0.1, 0.3):
            document = to_document(design(uniform(0, 6, 40), AlphaLift(alpha, epsilon)))
            yield "6x40", f"alpha {alpha:g}, epsilon {epsilon:g}", to_json(document)
    for alpha in (math.inf, 10) if want("100x1000x1000") else ():
        yield "100x1000x1000", f"alpha {alpha:g}", to_json(to_document(_dense(alpha)))


def timing(arguments: argparse.Namespace) -> bool:
    good = True
    records: dict[str, list[tuple[float, int]]] = {}
    for row, what, text in _timed_files(set(arguments.rows)):
        seconds, proven = _seconds_to_check(text)
        records.setdefault(row, []).append((seconds, len(text)))
        print(f"{row:26} {what:40} {seconds:9.4f} s {len(text):10} bytes {'' if proven else 'NOT PROVEN'}", flush=True)
        good = good and proven
    print(f"\n{'row':26} {'files':>5} {'median s':>9} {'worst s':>9} {'largest bytes':>13}")
    for row, measured in records.items():
        times = [seconds for seconds, _ in measured]
        largest = max(size for _, size in measured)
        print(f"{row:26} {len(times):5} {np.median(times):9.4f} {max(times):9.4f} {largest:13}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run, count in (("problems", problems, 10_000), ("mutations", mutants, 10_000)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("--count", type=int, default=count)
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--processes", type=int, default=2)
    commands.choices["problems"].add_argument("--second", type=int, default=1000)
    command = commands.add_parser("timing")
    command.set_defaults(run=timing)
    command.add_argument("rows", nargs="*", help="6x10, 6x40, 100x1000x1000; all unless named")
    arguments = parser.parse_args()
    print(where("python-flint", "mpmath"), flush=True)
    return 0 if arguments.run(arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
