"""A solver's certificate in the form that the checker reads: integers over 2^bits, boxes as trees of splits, trims and leaves."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import ComponentDual
from alphalift.geometry.concave import (
    AnyCertificate,
    Certificate,
    LocalCertificate,
    MergedCertificate,
    PairCertificate,
    PiecesCertificate,
)
from alphalift.geometry.separable_tree import Node
from alphalift.geometry.tree import CLOSED_FROM
from alphalift.joint import Joint
from alphalift.presolve import Merged
from alphalift.proof import checker
from alphalift.proof.ends import outer_ends
from alphalift.proof.statement import checkable
from alphalift.regions import Margin, Region, priced_inequality, simplest
from alphalift.utilities import MutualInformation, Utility

# Places are rounded to a grid of 2^-bits; what that costs the bound is the grid times the largest dual.
_FEWEST_BITS, _MOST_BITS, _BITS_BELOW_DUAL = 28, 64, 24
# Lifts need more: those of rare symbols are large.
_LIFT_BITS = 40


def exported(
    certificate: AnyCertificate | None, joint: Joint, region: Region, utility: Utility | None = None
) -> dict[str, Any] | None:
    """What a file stores for the region's solution; its rounding costs the bound about 1e-8."""
    if certificate is None:
        return None
    if isinstance(certificate, LocalCertificate):
        return _local(certificate)
    joint = region.about(joint)
    if isinstance(certificate, PairCertificate):
        one = 1 << _FEWEST_BITS
        found, ends = _integers(certificate.prices, one), _outer_ends(joint, region, one)
        return {"kind": "pairs", "bits": _FEWEST_BITS, "prices": found, "ends": ends}
    if isinstance(certificate, MergedCertificate):
        return {"kind": "merged", "proof": exported(certificate.proof, Merged.of(joint).joint, region)}
    if isinstance(certificate, PiecesCertificate):
        return _pieces(certificate, joint, region)
    duals, of_averages = [*certificate.dual, *(dual for _, dual in certificate.caps)], certificate.average_prices
    boxes = Boxes(joint, region, duals, (utility or MutualInformation()).on(joint), of_averages)
    boxes.write_capped(certificate)
    prices = _integers(certificate.prices, boxes.one)
    stored = {"kind": "tree", "bits": boxes.bits, "prices": prices, "duals": boxes.duals, "tree": boxes.nodes}
    return stored | _of_averages(of_averages, boxes.one)


def _of_averages(prices: Array, one: int) -> dict[str, Any]:
    """The prices of promises on average, where there are any: rounded up, so that no w is beyond them that was not before."""
    return {"average_prices": [math.ceil(price * one) for price in prices.tolist()]} if len(prices) else {}


def tree_of(certificate: AnyCertificate | None) -> Certificate | None:
    """The tree of boxes that a certificate is, or has for types; none where it is of another kind."""
    own = certificate.proof if isinstance(certificate, MergedCertificate) else certificate
    return own if isinstance(own, Certificate) else None


def shortened(certificate: AnyCertificate, leaves: int) -> AnyCertificate:
    """The same with at most so many leaves, and a bound that is worse for it; as it is where it is no tree of boxes."""
    if isinstance(certificate, MergedCertificate):
        return MergedCertificate(shortened(certificate.proof, leaves))
    return _with_leaves(certificate, leaves) if isinstance(certificate, Certificate) else certificate


def _with_leaves(certificate: Certificate, leaves: int) -> Certificate:
    """The certificate, or a coarser one that is small enough; else nodes with the least bounds are split first.

    Any node may be a leaf, since its dual is its own.
    """
    while certificate.leaves > leaves and certificate.coarser is not None:
        certificate = certificate.coarser
    if certificate.leaves <= leaves:
        return certificate
    child, bound = certificate.child, certificate.bound
    todo, kept, split = [(float(bound[0]), 0)], [0], np.zeros(len(child), np.int64)
    # Nothing is gained by splitting others when the worst is a leaf.
    while len(todo) < leaves and child[todo[0][1]]:
        node = heapq.heappop(todo)[1]
        split[node] = len(kept)
        for own in (int(child[node]), int(child[node]) + 1):
            kept.append(own)
            heapq.heappush(todo, (float(bound[own]), own))
    names = ("low", "high", "symbol", "split_at", "dual", "trimmed_at", "bound")
    return replace(certificate, child=split[kept], **{name: getattr(certificate, name)[kept] for name in names})


def _integers(numbers: Iterable[float], one: int) -> list[int]:
    return [round(float(number) * one) for number in numbers]


def _local(certificate: LocalCertificate) -> dict[str, Any]:
    """The tree over lifts in preorder, with the groups that it counts."""
    one = 1 << _LIFT_BITS
    tree, duals, todo = list[list[int]](), list[list[int]](), [certificate.root]
    constraints = len(certificate.root.y) - 1
    counted: dict[int, int] = {}  # the groups that occur, in order
    while todo:
        node: Node = todo.pop()
        if node.split is None:
            tree.append([len(duals)])
            nu, *others = _integers(node.y, one)
            duals.append([nu, *(max(mu, 0) for mu in others[:constraints]), *others[constraints:]])
            continue
        split, place = node.split, round(node.split.place * one)
        if split.symbol is not None:
            tree.append([split.symbol, place])
        elif split.group is not None:
            tree.append([counted.setdefault(split.group, len(counted)), place, split.most])
        todo += reversed(node.parts)
    groups = [[int(x) for x in certificate.groups[group]] for group in counted]
    stored: dict[str, Any] = {"kind": "local", "bits": _LIFT_BITS, "prices": _integers(certificate.prices, one)}
    return stored | {"groups": groups, "duals": duals, "tree": tree}


def _pieces(certificate: PiecesCertificate, joint: Joint, region: Region) -> dict[str, Any]:
    """A dual for every piece and, where pieces are for cells, the tree of splits that has these as its leaves."""
    inverses = _Duals(region, joint)
    found = [inverses.inverted(dual) for dual in certificate.duals]
    largest = max(1.0, *certificate.average_prices, *(dual.largest for dual in found))
    # What a place is rounded by is multiplied with the range, which may be far more than a standard deviation.
    fewest = _FEWEST_BITS if certificate.splits is None else _LIFT_BITS
    bits = min(max(fewest, math.ceil(math.log2(largest)) + _BITS_BELOW_DUAL), _MOST_BITS)
    one = 1 << bits
    stored: dict[str, Any] = {"kind": "actions", "bits": bits, "prices": _integers(certificate.prices, one)}
    stored["duals"] = [dual.integers(one) for dual in found]
    if certificate.splits is not None:
        stored |= {
            "kind": "squares",
            "tree": [[own[0]] if len(own) == 1 else [own[0], round(own[1] * one)] for own in certificate.splits],
        }
    return stored | _of_averages(certificate.average_prices, one)


@dataclass(frozen=True)
class _Dual:
    """A dual as a file has it: of every component w and what its support function takes beside it, then nu."""

    components: Sequence[ComponentDual]
    nu: float

    @property
    def largest(self) -> float:
        return float(
            np.abs([self.nu, *chain.from_iterable((*own.w, *own.extra, *own.free) for own in self.components)]).max()
        )

    def integers(self, one: int) -> list[int]:
        """All entries over `one`, rounded; those beside w must stay above 0."""
        entries = list[int]()
        for own in self.components:
            entries += [*_integers(own.w, one), *(max(entry, 1) for entry in _integers(own.extra, one))]
            entries += _integers(own.free, one)
        return [*entries, *_integers([self.nu], one)]


class _Duals:
    """The solver's duals, numbers for the moments of its constraints and nu, as duals of the promise."""

    def __init__(self, region: Region, joint: Joint) -> None:
        self._reduction = simplest(region)
        self._constraints = self._reduction.region.constraints(joint)
        ends = accumulate((len(constraint.directions) for constraint in self._constraints), initial=0)
        self._slices = [slice(*pair) for pair in pairwise(ends)]

    def inverted(self, dual: Array) -> _Dual:
        pairs, nu = zip(self._constraints, self._slices, strict=True), float(dual[-1])
        components = self._reduction.invert([constraint.invert(dual[own]) for constraint, own in pairs])
        for component in components:
            nu -= component.shift
        return _Dual(components, nu)


class Boxes:
    """Writes trees of boxes in preorder, and the duals that they use: `nodes` and `duals` of a file, over 2^bits."""

    def __init__(
        self,
        joint: Joint,
        region: Region,
        duals: Iterable[Array],
        utility: Utility,
        average_prices: Array | tuple[()] = (),
    ) -> None:
        """`duals` are all that will be written: the largest of them, or of prices on average, decides the bits."""
        self._joint, self._region, self._inverses = joint, region, _Duals(region, joint)
        self._utility, self._average_prices = utility, average_prices
        self._margin = checkable(region) if isinstance(region, Margin) else None
        largest = max(1.0, *average_prices, *(self._inverses.inverted(dual).largest for dual in duals))
        # Where the search closes its boxes, more ends are rounded.
        finer = max(0, math.ceil(math.log2(len(joint.x_labels) / CLOSED_FROM)))
        self.bits = min(max(_FEWEST_BITS, math.ceil(math.log2(largest)) + _BITS_BELOW_DUAL) + finer, _MOST_BITS)
        self.one = 1 << self.bits
        self.duals: list[list[int]] = []
        self.nodes: list[list[int]] = []

    @property
    def unit_box(self) -> tuple[list[int], list[int]]:
        size = len(self._joint.x_labels)
        return [0] * size, [self.one] * size

    def write_capped(self, tree: Certificate) -> None:
        """Append a tree whose root lies below its caps: splits of the unit box, each with a leaf above."""
        (low, high), above = self.unit_box, []
        for x, dual in tree.caps:
            high[x] = math.ceil(float(tree.high[0, x]) * self.one)
            self.nodes.append([x, high[x]])
            above.append([self._dual(dual)])
        self.write(tree, low, high)
        self.nodes += reversed(above)

    def write(self, tree: Certificate, low: list[int], high: list[int]) -> None:
        """Append the nodes of a tree whose root has this box, which holds a distribution."""
        todo = [(0, low, high, tree.dual[0, :-1])]  # nodes with their boxes and their parents' w, the next one last
        while todo:
            todo += reversed(self._node(tree, *todo.pop()))

    def trim(self, dual: Array, slabs: Sequence[tuple[int, int, bool]]) -> list[int]:
        """The node that cuts off slabs (symbol, place over 2^bits, whether the slab is above) by a dual, which is added."""
        node = [self._dual(dual)]
        for x, place, above in slabs:
            node += [2 * x + above, place]
        return node

    def _node(self, tree: Certificate, node: int, low: list[int], high: list[int], w: Array) -> list[Any]:
        """Write a node; returns its children, in order."""
        low, high = list(low), checker.closed(low, high, self.one)
        slabs = [] if self._closes(tree, node, low, high) else self._slabs(tree, node, low, high)
        if slabs:
            self.nodes.append(self.trim(np.append(w, tree.trimmed_at[node]), slabs))
        for x, place, above in slabs:
            (high if above else low)[x] = place
        child, x = int(tree.child[node]), int(tree.symbol[node])
        if not child:
            self.nodes.append([self._dual(tree.dual[node])])
            return []
        own, place = tree.dual[node, :-1], round(float(tree.split_at[node]) * self.one)
        # A split outside of the box leaves one child empty: the other is the node itself.
        if tree.split_at[node] <= tree.low[node, x]:
            return [(child + 1, low, high, own)]
        if tree.split_at[node] >= tree.high[node, x]:
            return [(child, low, high, own)]
        self.nodes.append([x, place])
        below, above_box = list(high), list(low)
        below[x], above_box[x] = min(place, high[x]), max(place, low[x])
        return [(child, low, below, own), (child + 1, above_box, high, own)]

    def _closes(self, tree: Certificate, node: int, low: list[int], high: list[int]) -> bool:
        """Whether the node is a leaf whose own dual closes the box without trimming it."""
        if tree.child[node]:
            return False
        ends = np.array([low, high]) / self.one
        dual = self._inverses.inverted(tree.dual[node])
        w, sigma = self._inequality(dual)
        c = tree.prices + dual.nu - w @ self._joint.p_s_given_x
        q = self._utility.terms(ends, self._joint.p_x) - c * ends
        bound = dual.nu - sigma + q.min(axis=0).sum()
        return bool(bound >= tree.threshold)

    def _inequality(self, dual: _Dual) -> tuple[Array, float]:
        """(w, sigma) in floats, of a margin by the checker's own arithmetic."""
        if self._margin is None:
            return priced_inequality(self._region, dual.components, self._joint.p_s, self._average_prices)
        [component], prior = self._margin.components, list(self._joint.s_weights)
        entries = [Fraction(entry, self.one) for entry in dual.integers(self.one)[:-1]]
        return dual.components[0].w, float(component.support(entries, prior).upper())

    def _slabs(self, tree: Certificate, node: int, low: list[int], high: list[int]) -> list[tuple[int, int, bool]]:
        """The slabs cut off the node's box, rounded to be smaller: symbol, place, whether the slab is above."""
        # What closing a box leaves of 1 is rounded for each of its ends: so thin a slab was not cut off by a dual.
        floors = np.floor(tree.low[node] * self.one).astype(object)
        ceilings = np.ceil(tree.high[node] * self.one).astype(object)
        thin = len(low) + 4 if len(low) > CLOSED_FROM else 0
        above = [(x, int(place), True) for x, place in enumerate(ceilings) if place < high[x] - thin]
        return above + [(x, int(place), False) for x, place in enumerate(floors) if place > low[x]]

    def _dual(self, dual: Array) -> int:
        self.duals.append(self._inverses.inverted(dual).integers(self.one))
        return len(self.duals) - 1


def _outer_ends(joint: Joint, region: Region, one: int) -> list[int]:
    """Proven ends of the first secret's lift minus one, rounded outwards to the grid; two steps more, as files have had."""
    low, high = outer_ends(joint, region)
    return [math.floor(low * one) - 2, math.ceil(high * one) + 2]
