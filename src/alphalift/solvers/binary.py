"""Two secrets: the extreme posteriors are a finite list, for every region."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.sparse import csr_array, vstack

from alphalift.arrays import Array
from alphalift.geometry.concave import PairCertificate
from alphalift.geometry.mixture import Mixture, MixtureProgram
from alphalift.joint import Joint
from alphalift.proof.ends import inner_ends, outer_ends
from alphalift.regions import Region
from alphalift.solvers.pairs import BinaryPosteriors, Clusters
from alphalift.solvers.run import Run, Settings, curve_of
from alphalift.utilities import Utility

# Columns kept for each symbol of X.
_MOST_KEPT = 6
# A reduced cost above this is none: floats end here.
_NO_COST = -1e-13
# As a share: what the bound's ends lie further out, since the symbols' deviations are rounded.
_DEVIATION_ROUNDING = 2e-15
# For each unit of the largest price: what rounding can add to the least reduced cost.
_PRICE_ROUNDING = 2e-15
# Clusters of symbols at first, if there are more symbols than the second number; how many times more the next time.
_FIRST_CLUSTERS, _NO_CLUSTERS, _FINER = 1000, 1500, 3
# Less weight of the mean than this is rounding.
_NO_WEIGHT = 1e-12


class BinaryRun(Run):
    """Two secrets: every extreme posterior is on a finite list, and pricing over it is exact but for rounding.

    Columns come from the list of the tightened region, bounds from that of a region a little too large. Many symbols are
    clustered first: the roles that an optimum for clusters gives them are their symbols' roles, which are coupled anew, and
    the clusters' prices are interpolated and made feasible; so mixture and bound are the symbols' own at every step.
    Clusters become finer while the gap is open.
    """

    def __init__(self, settings: Settings, joint: Joint, region: Region, utility: Utility, warm: Array) -> None:
        curve_of(utility)  # an h that depends on which symbols are mixed would need other lists
        super().__init__(settings, joint, region, utility, warm)

    def start(self) -> None:
        deviation = self.joint.lift_deviation[0]
        low, high = outer_ends(self.joint, self.region)
        wide = (low * (1 + _DEVIATION_ROUNDING), high * (1 + _DEVIATION_ROUNDING))
        self.outside = BinaryPosteriors(deviation, wide, self.utility)
        ends = inner_ends(self.joint, self.region, self.inner)
        self.inside = BinaryPosteriors(deviation, ends, self.utility)
        size = len(deviation)
        self.level = self._level(size if size <= _NO_CLUSTERS else _FIRST_CLUSTERS)
        self._follow(self.level.mix(self.level.posteriors.first_mixture(self.level.clusters.masses)))

    def price(self) -> bool:
        prices = self.level.clusters.interpolated(self.level.mixture.prices)
        self._bound_near(prices)
        if not self.level.price():  # all lack little, and are best lowered alike
            self._bound_near(prices + min(0.0, self.outside.cheapest(prices)[0]))
        return self.level.hopeful or not self.level.clusters.finest

    def _bound_near(self, prices: Array) -> None:
        feasible = self.outside.feasible(prices, self.joint.p_x)
        least = -_PRICE_ROUNDING * float(np.abs(feasible).max())
        self.use_bound(feasible, least, partial(PairCertificate, feasible))

    def improve(self) -> None:
        if self.level.hopeful:
            self._follow(self.level.improve())
        else:
            finer = self._level(_FINER * self.level.clusters.count)
            points, _ = finer.posteriors.coupled(finer.clusters.sums(self.roles))
            self.level = finer
            self._follow(self.level.mix(points))

    def _level(self, most: int) -> _Level:
        """The linear program over at most so many clusters."""
        p_x = self.joint.p_x
        if most >= len(p_x):
            return _Level(Clusters.none(self.inside, p_x), self.inside, self.mixtures)
        clusters = Clusters.of(self.inside, p_x, most)
        posteriors = BinaryPosteriors(clusters.deviation, self.inside.ends, self.utility)
        program = MixtureProgram(clusters.masses, self.before)
        program.deadline = self.mixtures.deadline
        return _Level(clusters, posteriors, program)

    def _follow(self, mixture: Mixture) -> None:
        """Make a mixture of clusters one of symbols, and use it if it is better than the last."""
        clusters = self.level.clusters
        if clusters.trivial:
            self.mixture = mixture
            return
        exact = mixture.exact_weights(clusters.masses)
        self.roles = clusters.shared(self.level.posteriors.roles(mixture.stored_points, exact))
        points, weights = self.inside.coupled(self.roles)
        costs = self.inside.costs(points)
        left = max(0.0, 1.0 - float(weights.sum()))  # of the mean, which is all that has no role
        if left > _NO_WEIGHT:
            points = csr_array(vstack([points, csr_array(self.joint.p_x[None])]))
            costs, weights = np.append(costs, self.before), np.append(weights, left)
        if weights @ costs < self.mixture.value:
            self.mixture = Mixture(points, costs, weights, mixture.prices)


class _Level:
    """Clusters of symbols, the list of their posteriors, and the linear program over columns of it."""

    def __init__(self, clusters: Clusters, posteriors: BinaryPosteriors, program: MixtureProgram) -> None:
        self.clusters, self.posteriors, self._program = clusters, posteriors, program
        self._prices = np.empty(0)

    def mix(self, points: csr_array) -> Mixture:
        """The best mixture of these."""
        self._kept, self._costs = points, self.posteriors.costs(points)
        self.mixture = self._program.solve(self._kept, self._costs)
        return self.mixture

    def price(self) -> bool:
        """Find columns that help, if there may be any: then it is hopeful to `improve`."""
        before, self._prices = self._prices, self.mixture.prices
        lowest, self._found, self._found_costs = self.posteriors.cheapest(self._prices)
        # The linear program has tolerances of its own: prices that it left as they were stay so.
        self.hopeful = lowest <= _NO_COST and not np.array_equal(self._prices, before)
        return self.hopeful

    def improve(self) -> Mixture:
        """The best mixture of what was found and the newest columns before."""
        most = _MOST_KEPT * self.clusters.count
        self._kept = csr_array(vstack([self._kept[-most:], self._found]))
        self._costs = np.concatenate([self._costs[-most:], self._found_costs])
        self.mixture = self._program.solve(self._kept, self._costs)
        return self.mixture
