"""A solver's certificate in the form that the checker reads: integers over 2^bits, nothing but splits and leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from alphalift.exact import Array
from alphalift.geometry.concave import Certificate, PairCertificate
from alphalift.joint import Joint
from alphalift.measures.information import entropy
from alphalift.regions import Region, lift_interval

_BITS = 28
_ONE = 1 << _BITS


def exported(certificate: Certificate | PairCertificate | None, joint: Joint, region: Region) -> dict[str, Any] | None:
    """What a file stores; its rounding costs the bound about 1e-9."""
    if certificate is None:
        return None
    stored: dict[str, Any] = {"kind": "tree", "bits": _BITS, "prices": _integers(certificate.prices)}
    if isinstance(certificate, PairCertificate):
        return stored | {"kind": "pairs", "ends": _outer_ends(joint, region)}
    return stored | _Tree(certificate, joint, region).stored()


def _integers(numbers: Array) -> list[int]:
    return [round(float(number) * _ONE) for number in numbers]


class _Tree:
    """Writes the tree in preorder. A slab that was trimmed away becomes a split with a leaf, as any other."""

    def __init__(self, certificate: Certificate, joint: Joint, region: Region) -> None:
        self.certificate, self.joint, self.region = certificate, joint, region
        self.duals: list[list[int]] = []
        self.nodes: list[list[int]] = []

    def stored(self) -> dict[str, Any]:
        size = len(self.certificate.prices)
        # What is still to be written, last first: a finished leaf, or a node with its box and its parent's w.
        todo: list[Any] = [(0, [0] * size, [_ONE] * size, self.certificate.dual[0, :-1])]
        while todo:
            item = todo.pop()
            if isinstance(item, int):
                self.nodes.append([item])
            else:
                todo += reversed(self._node(*item))
        return {"duals": self.duals, "tree": self.nodes}

    def _node(self, node: int, low: list[int], high: list[int], w: Array) -> list[Any]:
        """Write what comes before the children; returns the rest, in order."""
        tree = self.certificate
        low, high, after = list(low), list(high), []
        slab_dual = None
        trims = [] if self._closes(node, low, high) else self._trims(node, low, high)
        for x, place, above in trims:
            if slab_dual is None:
                slab_dual = self._dual(np.append(w, tree.trimmed_at[node]))
            self.nodes.append([x, place])
            if above:
                high[x] = place
                after.append(slab_dual)
            else:
                low[x] = place
                self.nodes.append([slab_dual])
        # Slabs above come after the node itself, the last one cut first.
        after.reverse()
        child, x = int(tree.child[node]), int(tree.symbol[node])
        if not child:
            self.nodes.append([self._dual(tree.dual[node])])
            return after
        own, place = tree.dual[node, :-1], round(float(tree.place[node]) * _ONE)
        # A split outside of the box leaves one child empty: the other is the node itself.
        if tree.place[node] <= tree.low[node, x]:
            return [(child + 1, low, high, own), *after]
        if tree.place[node] >= tree.high[node, x]:
            return [(child, low, high, own), *after]
        self.nodes.append([x, place])
        below, above_box = list(high), list(low)
        below[x], above_box[x] = min(place, high[x]), max(place, low[x])
        return [(child, low, below, own), (child + 1, above_box, high, own), *after]

    def _closes(self, node: int, low: list[int], high: list[int]) -> bool:
        """Whether the node is a leaf whose own dual closes the box without trimming it."""
        tree = self.certificate
        if tree.child[node]:
            return False
        w, nu = tree.dual[node, :-1], tree.dual[node, -1]
        ends = np.array([low, high]) / _ONE
        c = tree.prices + nu - w @ self.joint.p_s_given_x
        q = entropy(ends[..., None]) - c * ends
        bound = nu - self.region.support(w[None], self.joint.p_s)[0] + q.min(axis=0).sum()
        return bool(bound >= tree.threshold)

    def _trims(self, node: int, low: list[int], high: list[int]) -> list[tuple[int, int, bool]]:
        """The slabs cut off the node's box, rounded to be smaller: symbol, place, whether the slab is above."""
        tree, result = self.certificate, []
        for x, (a, b) in enumerate(zip(tree.low[node], tree.high[node], strict=True)):
            floor, ceiling = math.floor(float(a) * _ONE), math.ceil(float(b) * _ONE)
            if ceiling < high[x]:
                result.append((x, ceiling, True))
            if floor > low[x]:
                result.append((x, floor, False))
        return result

    def _dual(self, dual: Array) -> int:
        self.duals.append(_integers(dual))
        return len(self.duals) - 1


def _outer_ends(joint: Joint, region: Region) -> list[int]:
    """The ends of the first secret's lift minus one, a few steps of the grid outside, where it can be proven."""
    low, high = lift_interval(region, joint.p_s)
    return [math.floor(low * _ONE) - 2, math.ceil(high * _ONE) + 2]
