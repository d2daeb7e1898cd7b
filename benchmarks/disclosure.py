"""How many tables are consistent with what is shared of a mechanism, and what coarser sharing costs.

    python benchmarks/disclosure.py           # about 20 minutes
    python benchmarks/disclosure.py 10        # 10 designs near the truth in place of 150

An observer knows the promise, the number of rows, how alphalift works, and a *view* of the mechanism (its weights at so
many bits, the codebook, a withheld file). A table is consistent with the view if designing for it gives the same view.
The attack: write down every table with that many rows, leave out those that break the promise, or that the outputs are
not on the boundary of (an optimal output with two or more values is), and design for what is left. Tables that differ by
the names of the secrets are one, since no mechanism tells them apart. benchmarks/disclosure.txt keeps a run;
docs/release.md says what follows; tests/release/test_disclosure.py shows the attack's power.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alphalift import (
    AlphaLift,
    Joint,
    MaxLift,
    Mechanism,
    Solution,
    design,
    read_joint,
    to_document,
    withhold_joint,
)
from alphalift.arrays import Array
from alphalift.data import adult
from alphalift.proof.checker import rows_of
from alphalift.proof.rounding import as_floats
from alphalift.release.told import told
from alphalift.sharing import bits_for_sharing, for_sharing
from where import where

Tables = NDArray[np.int16]
EPSILON = 0.2
REGION = MaxLift(EPSILON)
# Designs of one estimate; consistent tables among more candidates are a share of these.
SAMPLE = 600


@dataclass(frozen=True)
class Bounds:
    """What a view says about P(y|x), (|Y|, |X|), as far as the search needs it; counts of X where they are known."""

    low: Array
    high: Array
    x_counts: tuple[int, ...] | None = None


@dataclass(frozen=True)
class View:
    """A way of sharing: what the observer sees of a solution, and what that says about P(y|x)."""

    name: str
    of: Callable[[Solution], Any]
    bounds: Callable[[Any], Bounds]
    bits: Callable[[int, int], int] = lambda rows, cells: 52


def solved(table: Any, bits: int = 52) -> Solution:
    """The design for a table, in fewer bits as `design --withhold` does it."""
    solution = design(Joint(np.asarray(table).tolist(), counts=True), REGION)
    return solution if bits == 52 else for_sharing(solution, bits)


def exact(solution: Solution) -> Any:
    """The weights as they are, as in a file without its counts."""
    integers = solution.integers
    assert integers is not None
    return integers.labels, integers.bits, integers.weights


def exact_bounds(seen: Any) -> Bounds:
    law = as_floats(seen[2], seen[1], len(seen[0]["x"])).toarray()
    # Rounding to few bits mixes and moves weights by so much; the search keeps what may have been there before it.
    slack = np.where(law > 0, (1 << 4 if seen[1] > 20 else 3) * 2.0 ** -seen[1], 0)
    return Bounds(np.maximum(law - slack, 0), law + slack)


def withheld(solution: Solution) -> Any:
    """A withheld file, but for the commitment, which is salted."""
    shared = withhold_joint(to_document(solution), "salt")[0]
    weights = rows_of(shared["weights"], dense=False)
    return shared["labels"], shared["bits"], weights, shared["claims"]


def codebook(solution: Solution) -> Any:
    """What the codebook tells of the mechanism: labels and P(y|x)."""
    integers, rows = solution.integers, solution.joint.n
    assert integers is not None
    assert rows is not None
    return integers.labels["y"], told(integers, rows).tolist(), rows


def codebook_bounds(seen: Any) -> Bounds:
    law, rows = np.array(seen[1]), seen[2]
    # A step is at most a standard error, and the largest of a column has what the others leave.
    slack = np.where(law > 0, np.sqrt(law * (1 - law) * law.shape[1] / rows) + 1e-9, 0)
    largest = law.argmax(axis=0)
    own = slack[largest, range(law.shape[1])]
    slack[largest, range(law.shape[1])] = slack.sum(axis=0) - own
    return Bounds(np.maximum(law - slack, 0), law + slack)


def first_codebook(solution: Solution) -> Any:
    """The codebook of version 1, which had shares of outputs and P(x|y) to six digits; and the manifest's rows."""
    mechanism: Mechanism = solution.mechanism
    shares, posteriors = np.round(mechanism.p_y, 6), np.round(mechanism.p_x_given_y, 6)
    return list(mechanism.y_labels), shares.tolist(), posteriors.tolist(), solution.joint.n


def first_bounds(seen: Any) -> Bounds:
    """P_X times rows are the counts of X, and with them P(y|x) follows."""
    shares, posteriors, rows = np.array(seen[1]), np.array(seen[2]), seen[3]
    p_xy = posteriors * shares
    x_counts = np.rint(p_xy.sum(axis=1) * rows).astype(int)
    law = p_xy.T * rows / x_counts
    return Bounds(law * (1 - 1e-4), law * (1 + 1e-4), tuple(x_counts.tolist()))


FIRST = View("codebook and manifest of version 1", first_codebook, first_bounds)
CODEBOOK = View("codebook", codebook, codebook_bounds)
WITHHELD = View("withheld file, default", withheld, exact_bounds, bits_for_sharing)


def at_bits(bits: int) -> View:
    return View(f"weights, {bits} bits", exact, exact_bounds, lambda rows, cells: bits)


@cache
def _compositions(total: int, parts: int) -> Tables:
    """Every way to write the total as a sum of so many integers of 0 or more."""
    if parts == 1:
        return np.array([[total]], np.int16)
    blocks = []
    for first in range(total + 1):
        rest = _compositions(total - first, parts - 1)
        blocks.append(np.hstack([np.full((len(rest), 1), first, np.int16), rest]))
    return np.vstack(blocks)


def tables(rows: int, shape: tuple[int, int]) -> Iterator[Tables]:
    """All tables of counts with so many rows and mass everywhere, once for each naming of the secrets, in blocks."""
    every = _compositions(rows, shape[0] * shape[1])
    for start in range(0, len(every), 200_000):
        block = every[start : start + 200_000].reshape(-1, *shape)
        mass = (block.sum(axis=1) > 0).all(axis=1) & (block.sum(axis=2) > 0).all(axis=1)
        base = (rows + 1) ** np.arange(shape[1], dtype=np.int64)
        order = np.diff(block.astype(np.int64) @ base, axis=1)
        rising = np.all(order >= 0, axis=1)
        yield block[mass & rising]


def promising(block: Tables, bounds: Bounds) -> Tables:
    """Tables for which a mechanism within the bounds can keep the promise with every mixed output on its boundary."""
    if bounds.x_counts is not None:
        block = block[(block.sum(axis=1) == bounds.x_counts).all(axis=1)]
    counts, budget = block.astype(np.float64), math.exp(EPSILON)
    x, s, rows = counts.sum(axis=1), counts.sum(axis=2), counts.sum(axis=(1, 2))

    def largest_lift(above: Array, below: Array) -> Array:
        joint = np.einsum("tsx,yx->tsy", counts, above) / s[:, :, None]
        return np.asarray((joint / np.maximum(x @ below.T, 1e-12)[:, None, :]).max(axis=1) * rows[:, None])

    mixed = (bounds.high > 0).sum(axis=1) > 1
    kept = (largest_lift(bounds.low, bounds.high) <= budget * (1 + 1e-6)).all(axis=1)
    tight = (largest_lift(bounds.high, bounds.low) >= budget * (1 - 1e-6))[:, mixed].all(axis=1)
    return block[kept & tight]


@dataclass(frozen=True)
class Found:
    """Candidates of the search, how many of them were designed for, and which of those are consistent."""

    candidates: int
    tried: int
    consistent: Tables

    @property
    def estimate(self) -> float:
        return self.candidates * len(self.consistent) / max(self.tried, 1)


def attack(view: View, truth: Any, *, most: int = SAMPLE, seed: int = 0) -> Found:
    """Tables that are consistent with the view of the truth's design; at most so many candidates are designed for."""
    truth = np.asarray(truth)
    rows = int(truth.sum())
    bits = view.bits(rows, truth.size)
    seen = view.of(solved(truth, bits))
    left = np.vstack([promising(block, view.bounds(seen)) for block in tables(rows, truth.shape)])
    chosen = left
    if len(left) > most:
        chosen = left[np.random.default_rng(seed).choice(len(left), most, replace=False)]
    same = [view.of(solved(table, bits)) == seen for table in chosen]
    return Found(len(left), len(chosen), chosen[np.array(same, bool)])


def around(view: View, truth: Any, *, designs: int, seed: int = 0) -> Tables:
    """Consistent tables that are found near the truth, by moving one to three records of one that was found before.

    Who knows the truth finds witnesses quickly, and that there are several proves that the view does not determine it.
    """
    start, rng = np.asarray(truth), np.random.default_rng(seed)
    bits = view.bits(int(start.sum()), start.size)
    seen = view.of(solved(start, bits))
    known, found = {_named(start)}, [start]
    for _ in range(20 * designs):
        near = found[rng.integers(len(found))].copy()
        for _ in range(rng.integers(1, 4)):
            np.subtract.at(near.reshape(-1), rng.integers(near.size), 1)
            np.add.at(near.reshape(-1), rng.integers(near.size), 1)
        if near.min() < 0 or not (near.any(axis=0).all() and near.any(axis=1).all()) or _named(near) in known:
            continue
        known.add(_named(near))
        if view.of(solved(near, bits)) == seen:
            found.append(near)
        if len(known) > designs:
            break
    return np.array(found, np.int16)


def _named(table: NDArray[np.integer]) -> tuple[tuple[int, ...], ...]:
    """The table with its secrets in one order, whatever their names are."""
    return tuple(sorted(tuple(row) for row in table.tolist()))


TABLES = {
    "2 x 3": [[14, 9, 3], [4, 10, 20]],
    "3 x 3": [[9, 4, 3], [4, 9, 4], [2, 5, 20]],
}
SIZES = (60, 600, 6000)
DESIGNS = 150


def report(shape: str, rows: int, designs: int) -> None:
    """A line for each view: tables found near the truth, values of the cell that is known best, utility lost."""
    truth = np.array(TABLES[shape]) * (rows // 60)
    if rows > 60:  # no common divisor, which a mechanism could not tell
        truth = truth + np.array([[1, 0, -1], [-1, 1, 0], [0, 0, 0]])[: len(truth)]
    whole = solved(truth)
    for view in (FIRST, at_bits(52), at_bits(16), at_bits(8), WITHHELD, CODEBOOK):
        bits, begin = view.bits(rows, truth.size), time.perf_counter()
        found = around(view, truth, designs=designs)
        values = min(len(set(cell)) for cell in found.reshape(len(found), -1).T.tolist())
        lost = 1 - solved(truth, bits).utility / whole.utility
        seconds = time.perf_counter() - begin
        print(f"{shape:7}{rows:6}  {view.name:36}{bits:3} bits {len(found):4} of {designs}", end="")
        print(f"{values:5} values{lost:9.2%} lost {seconds:6.1f} s", flush=True)


def search(rows: int = 20) -> None:
    """The whole attack on a small table: every table with so many rows, from what determines it."""
    truth = [[5, 4, 1], [1, 3, 6]]
    every = sum(len(block) for block in tables(rows, (2, 3)))
    for view in (FIRST, at_bits(52), at_bits(16), CODEBOOK):
        found = attack(view, truth, most=SAMPLE)
        print(
            f"2 x 3{rows:8}  {view.name:36}{every} tables, {found.candidates} near the boundary, "
            f"{len(found.consistent)} of {found.tried} of them consistent",
            flush=True,
        )


def census() -> None:
    """What few bits cost for a table of ordinary size: education released, race protected."""
    joint = read_joint(adult(), sensitive="race", useful="education")
    for region in (MaxLift(0.3), AlphaLift(10, 0.3)):
        whole = design(joint, region)
        shared = for_sharing(whole)
        assert shared.integers is not None
        lost = 1 - shared.utility / whole.utility
        print(f"census, {joint.total} rows, {region}: {shared.integers.bits} bits, {lost:.2%} lost", flush=True)


def main() -> None:
    print(where(), flush=True)
    designs = int(sys.argv[1]) if len(sys.argv) > 1 else DESIGNS
    print("Every table searched (max-lift, epsilon 0.2)")
    search()
    print("Tables near the truth: consistent ones, values of the cell that is known best among them, utility lost")
    for name in TABLES:
        for size in SIZES:
            report(name, size, designs)
    print("The census in the bits that a withheld file has")
    census()


if __name__ == "__main__":
    main()
