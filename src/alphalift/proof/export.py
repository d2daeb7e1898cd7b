"""A solver's certificate in the form that the checker reads: integers over 2^bits, nothing but splits and leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from alphalift.convex import ENTROPY
from alphalift.exact import Array
from alphalift.geometry.concave import Certificate, PairCertificate
from alphalift.joint import Joint
from alphalift.measures.information import entropy
from alphalift.regions import KL, After, Region, lift_interval, simplest
from alphalift.regions.kl import STEEPNESS

# Places are rounded to a grid of 2^-bits; what that costs the bound is the grid times the largest dual.
_FEWEST_BITS, _MOST_BITS, _BITS_BELOW_DUAL = 28, 64, 24


def exported(certificate: Certificate | PairCertificate | None, joint: Joint, region: Region) -> dict[str, Any] | None:
    """What a file stores for the region's solution; its rounding costs the bound about 1e-8."""
    if certificate is None:
        return None
    if isinstance(region, After):
        joint = region.known
    if isinstance(certificate, PairCertificate):
        prices, ends = certificate.prices, _outer_ends(joint, region, 1 << _FEWEST_BITS)
        return {"kind": "pairs", "bits": _FEWEST_BITS, "prices": _integers(prices, 1 << _FEWEST_BITS), "ends": ends}
    layout = _AfterLayout(region) if isinstance(region, After) else _Layout(joint.p_s, region)
    largest = max(1.0, *(float(np.abs(layout.entries(dual)).max()) for dual in certificate.dual))
    bits = min(max(_FEWEST_BITS, math.ceil(math.log2(largest)) + _BITS_BELOW_DUAL), _MOST_BITS)
    stored = {"kind": "tree", "bits": bits, "prices": _integers(certificate.prices, 1 << bits)}
    return stored | _Tree(certificate, joint, layout, 1 << bits).stored()


def _integers(numbers: Array, one: int) -> list[int]:
    return [round(float(number) * one) for number in numbers]


class _Layout:
    """From the kernels' duals, a number for each moment of each part, to a file's: a w for every secret, perhaps a b."""

    def __init__(self, p_s: Array, region: Region) -> None:
        self.p_s, self.region = p_s, region
        self.parts = [component.part(p_s) for component in simplest(region).components]

    def entries(self, dual: Array) -> Array:
        """The components' entries one after the other, then nu."""
        found, nu = self._by_component(dual)
        return np.concatenate([*(np.append(w, b) for w, b in found), [nu]])

    def _by_component(self, dual: Array) -> tuple[list[tuple[Array, list[float]]], float]:
        """w and perhaps b of every component, and nu.

        A capped half-space says q_s <= 1 - sum of what the others must have. Where sum q = 1 that is a bound on the others
        from below: its weight k moves from w_s to all others as -k, and from nu. An idle part has no say but for E w,
        what it takes from nu at l = 1.
        """
        first, found, nu = 0, list[tuple[Array, list[float]]](), float(dual[-1])
        for part in self.parts:
            own = dual[first : first + len(part.directions)]
            first += len(own)
            w = part.directions.T @ own
            shift = float(w @ self.p_s) if part.idle else float(own[part.capped].sum()) if len(part.capped) else 0.0
            w, nu = np.zeros_like(w) if part.idle else w - shift, nu - shift
            found.append((w, [own[-1] / STEEPNESS if not part.idle else 0.0] if part.kind == ENTROPY else []))
        if self.region.perfect:  # which was solved as another region: one w for all, and a b that is not used
            rest = [(np.zeros_like(self.p_s), list[float]()) for _ in self.region.components[1:]]
            return [(w, [1.0] * b) for (w, _), b in zip([found[0], *rest], self.with_b, strict=True)], nu
        return found, nu

    @property
    def with_b(self) -> list[bool]:
        """Which components' entries have a b after their w."""
        return [isinstance(component, KL) for component in self.region.components]

    def _support(self, found: list[tuple[Array, list[float]]]) -> float:
        """The sum of the components' sigma as the checker computes it, in floats."""
        if self.region.perfect:
            return float(sum(w for w, _ in found) @ self.p_s)
        total = 0.0
        for component, (w, b) in zip(self.region.components, found, strict=True):
            if isinstance(component, KL):
                total += float(component.support_at(w[None], self.p_s, np.maximum(b, 1e-300))[0])
            else:
                total += float(component.support(w[None], self.p_s)[0])
        return total

    def terms(self, dual: Array) -> tuple[Array, float]:
        """The sum of the components' w, and nu - sigma as the checker computes it, in floats."""
        found, nu = self._by_component(dual)
        return np.asarray(sum(w for w, _ in found)), nu - self._support(found)


class _AfterLayout(_Layout):
    """The same after other releases: a w for every secret of every earlier output, whose sigma it is less, and no shift."""

    def __init__(self, region: After) -> None:
        self.after, self.p_s, self.region = region, region.p_s, region.region
        self.parts = [part.part(self.p_s) for part in simplest(region.region).components] * len(region.counts)

    @property
    def with_b(self) -> list[bool]:
        return super().with_b * len(self.after.counts)

    def _by_component(self, dual: Array) -> tuple[list[tuple[Array, list[float]]], float]:
        """A capped half-space says P(s, y1|y) <= P(y1|y), which the others have: its weight moves to them, as it is."""
        first, found = 0, list[tuple[Array, list[float]]]()
        for part in self.parts:
            own = dual[first : first + len(part.directions)]
            first += len(own)
            w = part.directions.T @ own - (own[part.capped].sum() if len(part.capped) else 0.0)
            w = np.zeros_like(w) if part.idle else w
            found.append((w, [own[-1] / STEEPNESS if not part.idle else 0.0] if part.kind == ENTROPY else []))
        if not self.region.perfect:
            return found, float(dual[-1])
        nothing = np.zeros_like(self.p_s)
        each = [[(w, []), *((nothing, list[float]()) for _ in self.region.components[1:])] for w, _ in found]
        flat = [w for own in each for w, _ in own]
        return [(w, [1.0] * b) for w, b in zip(flat, self.with_b, strict=True)], float(dual[-1])

    def terms(self, dual: Array) -> tuple[Array, float]:
        found, nu = self._by_component(dual)
        size, pairs = len(self.region.components), self.after.pairs
        sums = []
        for y in range(len(self.after.counts)):
            own = found[y * size : (y + 1) * size]
            sums.append(np.asarray(sum(w for w, _ in own)) - self._support(own))
        return np.array(sums)[pairs[:, 1], pairs[:, 0]], nu


class _Tree:
    """Writes the tree in preorder. A slab that was trimmed away becomes a split with a leaf, as any other."""

    def __init__(self, certificate: Certificate, joint: Joint, layout: _Layout, one: int) -> None:
        self.certificate, self.joint, self.layout, self.one = certificate, joint, layout, one
        self.duals: list[list[int]] = []
        self.nodes: list[list[int]] = []

    def stored(self) -> dict[str, Any]:
        size = len(self.certificate.prices)
        # What is still to be written, last first: a finished leaf, or a node with its box and its parent's w.
        todo: list[Any] = [(0, [0] * size, [self.one] * size, self.certificate.dual[0, :-1])]
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
        own, place = tree.dual[node, :-1], round(float(tree.place[node]) * self.one)
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
        ends = np.array([low, high]) / self.one
        w, constant = self.layout.terms(tree.dual[node])
        c = tree.prices + self.layout.entries(tree.dual[node])[-1] - w @ self.joint.p_s_given_x
        q = entropy(ends[..., None]) - c * ends
        bound = constant + q.min(axis=0).sum()
        return bool(bound >= tree.threshold)

    def _trims(self, node: int, low: list[int], high: list[int]) -> list[tuple[int, int, bool]]:
        """The slabs cut off the node's box, rounded to be smaller: symbol, place, whether the slab is above."""
        tree, result = self.certificate, []
        for x, (a, b) in enumerate(zip(tree.low[node], tree.high[node], strict=True)):
            floor, ceiling = math.floor(float(a) * self.one), math.ceil(float(b) * self.one)
            if ceiling < high[x]:
                result.append((x, ceiling, True))
            if floor > low[x]:
                result.append((x, floor, False))
        return result

    def _dual(self, dual: Array) -> int:
        self.duals.append(self._rounded(dual))
        return len(self.duals) - 1

    def _rounded(self, dual: Array) -> list[int]:
        numbers = _integers(self.layout.entries(dual), self.one)
        place = 0
        for with_b in self.layout.with_b:
            place += len(self.layout.p_s)
            if with_b:
                numbers[place] = max(numbers[place], 1)  # b must stay above 0
                place += 1
        return numbers


def _outer_ends(joint: Joint, region: Region, one: int) -> list[int]:
    """The ends of the first secret's lift minus one, a few steps of the grid outside, where it can be proven."""
    low, high = lift_interval(region, joint.p_s)
    return [math.floor(low * one) - 2, math.ceil(high * one) + 2]
