"""One of each promise, tight and loose, for tests that run over all of them."""

import math

from alphalift import KL, LDP, LIP, PML, AlphaLift, ChiSquare, MaxLift, OnAverage, Renyi, TotalVariation

# A function of the budget for every kind, and budgets where a small joint is neither free nor mute.
FAMILIES = {
    "AlphaLift": lambda e: AlphaLift(3, e),
    "MaxLift": MaxLift,
    "PML": lambda e: PML(4 * e),
    "LIP": LIP,
    "LIP asymmetric": lambda e: LIP(lower=3 * e, upper=e),
    "LIP, loose upwards": lambda e: LIP(lower=e, upper=3 * e),
    "LDP": LDP,
    "TotalVariation": lambda e: TotalVariation(e / 3),
    "ChiSquare": lambda e: ChiSquare(e),
    "KL": lambda e: KL(e / 10),
    "Renyi": lambda e: Renyi(2.5, e),
    "Renyi of infinite order": lambda e: Renyi(math.inf, e),
    "AlphaLift & MaxLift": lambda e: AlphaLift(3, e / 2) & MaxLift(e),
    "KL & TotalVariation & LIP": lambda e: KL(e / 10) & TotalVariation(e / 4) & LIP(3 * e),
}
# Promises on average, of which most of what is true of single outputs is not.
AVERAGES = {
    "OnAverage(MaxLift)": lambda e: OnAverage(MaxLift(e)),
    "OnAverage(AlphaLift)": lambda e: OnAverage(AlphaLift(3, e)),
    "OnAverage(KL)": lambda e: OnAverage(KL(e / 10)),
    "OnAverage(TotalVariation)": lambda e: OnAverage(TotalVariation(e / 3)),
    "OnAverage(ChiSquare)": lambda e: OnAverage(ChiSquare(e)),
    "OnAverage(KL) & OnAverage(MaxLift)": lambda e: OnAverage(KL(e / 10)) & OnAverage(MaxLift(e)),
    "OnAverage(KL) & LIP": lambda e: OnAverage(KL(e / 20)) & LIP(2 * e),
}
BUDGETS = [0.02, 0.1, 0.3]
REGIONS = {f"{name} {budget}": family(budget) for name, family in FAMILIES.items() for budget in BUDGETS}
