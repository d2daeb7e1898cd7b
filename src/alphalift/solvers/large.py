"""Large alphabets: first columns from what each symbol can have at most, steadied prices, and a threshold that falls.

Where a search of a small alphabet tries every neighbour of every column, here prices are confined to a box while columns are
generated (`geometry.boxed`), the search starts below caps (`geometry.caps`), and it first proves a coarse bound, then finer
ones, so that there is something to show whenever it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from alphalift.arrays import Array
from alphalift.clock import Clock
from alphalift.geometry.boxed import BoxedMixture
from alphalift.geometry.caps import Caps, compile_caps
from alphalift.geometry.concave import AnyCertificate, Certificate, Search
from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.solvers.candidates import first_points, neighbours, pull_inside
from alphalift.solvers.edges import Edges
from alphalift.solvers.merging import Merger
from alphalift.solvers.run import Settings
from alphalift.solvers.search import SEARCH_SHARE, SearchRun
from alphalift.utilities import Utility

# From how many symbols on: below, trying all neighbours finds better columns, and the search is quick enough.
MANY_SYMBOLS = 64
# How far prices may be from the best so far, in nats: about as much as they differ from the first ones in the end.
_BOX = 0.5
# By how much the box grows where nothing pays inside of it and it still binds.
_WIDER = 4.0
# What the slacks of a box may supply and still count as nothing.
_NO_SLACK = 1e-9
# The reduced cost from which on a column is worth its while, as a share of what the search may leave in the end.
_PAYING = 0.1
# Up to so many, columns in use are mixed with every symbol where nothing else pays: some seconds of descents.
_FEW_NEIGHBOURS = 12_000
# By less than this, in nats, prices do not move: floats end here, and slacks that are left are theirs.
_NO_MOVE = 1e-9
# The share of a symbol beside the seed's in starts: slopes of phi there are what the symbol would cost in a small mixture.
_BESIDE = 0.5
# Seconds that a mixture gets, though time is over: without it, columns are no mechanism.
_LEAST_SECONDS = 1.0
# The first threshold as a share of what publishing X is worth, and by how much it falls from one to the next.
_FIRST_GAP, _FALL = 0.02, 0.45


class LargeRun(SearchRun):
    """A search for many symbols; what it finds is as certain, and coarser where time ends."""

    def __init__(self, settings: Settings, joint: Joint, region: Region, utility: Utility, warm: Array) -> None:
        with (settings.clock or Clock()).stopped():
            compile_caps()
        super().__init__(settings, joint, region, utility, warm)
        self.final, self.pays = self.threshold, _PAYING * self.threshold
        self.threshold = min(self.final, -_FIRST_GAP * self.everything)
        self.coarser: Certificate | None = None  # what the last search that was closed has proven

    def start(self) -> None:
        self.caps = Caps.of(self.program.feasible)
        high = self.caps.high
        self.seeds = np.tile(np.minimum(high, _BESIDE), (len(high), 1))
        np.fill_diagonal(self.seeds, 1.0)
        self.boxed = BoxedMixture(self.joint.p_x, self.before)
        self._offer(self.mixture.points)
        self._offer(pull_inside(self.caps.points, self.joint, self.inner, self.clock))
        if self.inner.perfect:  # else these are dense, and of no use beside edges
            self._offer(first_points(self.joint, self.inner, self.clock))
        self._offer_merged()
        self.edges = Edges.of(self.joint, self.inner, self.utility, self.threads, self.clock)
        # On the box below the caps, phi(v) >= -v log high: these prices need no search.
        self.center = -np.log(high)
        self._bound_at(self.center)
        self.best = float(self.center @ self.joint.p_x)
        self._generate(np.empty((0, len(high))), self.clock.reserving(SEARCH_SHARE * self.clock.left))

    def use_bound(
        self, prices: Array, lowest: float, certificate: Callable[[], AnyCertificate], paid: float = 0.0
    ) -> None:
        """A tree knows the last one that was closed, which is coarser."""

        def linked() -> AnyCertificate:
            own = certificate()
            return replace(own, coarser=self.coarser) if isinstance(own, Certificate) else own

        super().use_bound(prices, lowest, linked, paid)

    def _bound_at(self, prices: Array) -> None:
        search = Search(self.program, prices, self.threshold, 1, self.caps)
        self.use_bound(prices, search.lower_bound, search.certificate)

    def _offer_merged(self) -> None:
        """Symbols merged greedily: a mechanism whatever happens later, and columns that reach every symbol."""
        subsets = Merger(self.joint, self.inner).subsets()
        points = np.zeros((len(subsets), len(self.joint.p_x)))
        for y, subset in enumerate(subsets):
            points[y, subset] = self.joint.p_x[subset] / self.joint.p_x[subset].sum()
        self._offer(points)
        self.mixture = self.mix(points)

    def _offer(self, points: Array) -> None:
        self.boxed.add(points, self.utility.uncertainty(points))

    def price(self) -> bool:
        self.starts = self._search()
        if self.search is not None and self.search.finished:
            self.threshold = min(self.final, _FALL * self.threshold)
            self.coarser = self.certificate if isinstance(self.certificate, Certificate) else None
            self.search = None  # splits that were enough for a coarse bound are in the way of a finer one
        return True

    def improve(self) -> None:
        self.center = self.mixture.prices
        self.best = -np.inf
        improved = self._generate(self.starts, self.clock)
        self.exhausted = len(self.starts) > 0 and not improved  # where a search has closed, a finer one may find starts

    def _generate(self, starts: Array, clock: Clock) -> bool:
        """Columns at boxed prices until none is found that pays, then the mixture of all; whether there was any."""
        improved, first_width = False, _BOX / self.caps.high
        width = first_width
        while not clock.over and self.limit is None:
            boxed = self.boxed.solve(self.center, width, clock.left)
            if boxed is None:
                break
            points = self.edges.cheapest(boxed.prices, self.pays)
            if not len(points):
                used = self.boxed.points[boxed.weights > 0].toarray()
                points = self._columns(boxed.prices, np.concatenate([self.seeds, used, starts]))
                if not len(points) and len(used) * len(self.center) <= _FEW_NEIGHBOURS:
                    points = self._columns(boxed.prices, neighbours(used))
                costs = self.utility.uncertainty(points) - points @ boxed.prices
                value = float(boxed.prices @ self.joint.p_x + costs.min(initial=0.0))
                moved = float(np.abs(boxed.prices - self.center).max())
                if value > self.best or not len(points):
                    self.center, self.best = boxed.prices, value
                if not len(points) and (boxed.slack < _NO_SLACK or moved < _NO_MOVE):
                    break
                width = first_width if len(points) else _WIDER * width
            improved |= len(points) > 0
            self._offer(points)
        mixture = self.boxed.mix(self.center, max(self.clock.left, _LEAST_SECONDS))
        if mixture is not None and mixture.value < self.mixture.value:
            self.mixture = mixture
        return improved

    def _columns(self, prices: Array, starts: Array) -> Array:
        """Local minima near the starts that pay at these prices, each once."""
        points, values = self.inner_program.local_minima(prices, starts, self.threads, self.clock)
        points = pull_inside(points[values < self.pays], self.joint, self.inner, self.clock)
        points = points[self.utility.uncertainty(points) - points @ prices < self.pays]
        return points[np.unique(points.round(7), axis=0, return_index=True)[1]]

    def new_search(self, prices: Array, costs: Array) -> Search:
        return Search(self.program, prices, self.threshold, self.threads, self.caps)
