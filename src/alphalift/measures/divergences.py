"""How far one output moves the belief about the secret: divergences of P_{S|Y=y} from P_S, from its lifts.

Lifts are (count, |S|), one row an output, with E_S[l] = 1; every function returns one number a row. P_S is one for all rows,
(|S|,), or one for each, (count, |S|).
"""

from __future__ import annotations

import numpy as np

from alphalift.arrays import Array, row_means

# Where (l - 1)^2 of a difference of numbers near 1 has lost more digits than the series leaves out.
_NEAR = 1e-4


def total_variation(lifts: Array, p_s: Array) -> Array:
    """The largest change that an output makes to the probability of any event about S: (1/2) E_S|l - 1|.

    B. Rassouli, D. Gunduz, "Optimal utility-privacy trade-off with total variation distance as a privacy
    measure", 2020. Twice this is the l1-norm of A. Zamani, T. Oechtering, M. Skoglund, "Data disclosure with
    non-zero leakage and non-invertible leakage matrix", 2022.
    """
    return np.asarray(row_means(np.abs(lifts - 1), p_s) / 2)


def chi_square(lifts: Array, p_s: Array) -> Array:
    """The root of Pearson's chi-square divergence: sqrt(E_S[(l - 1)^2]); strong chi-square privacy bounds it by epsilon.

    A. Zamani, T. Oechtering, M. Skoglund, "A design framework for strongly chi-square-private data disclosure", 2021.
    """
    return np.asarray(np.sqrt(row_means((lifts - 1) ** 2, p_s)))


def kullback_leibler(lifts: Array, p_s: Array) -> Array:
    """D(P_{S|Y=y} || P_S) = E_S[l log l] = E_S[l log l - l + 1]; its mean over the outputs is I(S;Y).

    The second form has no negative terms, so that nothing cancels between secrets where all lifts are near 1; within a
    term its series replaces it there. S. Kullback, R. Leibler, "On information and sufficiency", 1951.
    """
    deviation = lifts - 1
    logs = np.log(np.where(lifts > 0, lifts, 1.0))
    terms = np.where(lifts > 0, lifts * logs - deviation, 1.0)
    series = deviation**2 * (0.5 - deviation * (1 / 6 - deviation / 12))
    return row_means(np.where(np.abs(deviation) < _NEAR, series, terms), p_s)
