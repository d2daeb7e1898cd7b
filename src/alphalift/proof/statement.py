"""Promises and utilities as files state them: by name, decimals and texts, and what the checker makes of that."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from alphalift.exact import decimal, to_float
from alphalift.proof import checker
from alphalift.proof.checker import Promise
from alphalift.regions import After, Intersection, Margin, OnAverage, Region
from alphalift.regions.parse import PROMISES
from alphalift.utilities import UTILITIES, Utility

# What the checker knows, by the names that both sides have.
_REGIONS: dict[str, type[Region]] = {name: PROMISES[name] for name in checker.REGIONS}


def checkable(region: Region) -> Promise | None:
    """The region as the checker knows it, in the decimals that its floats are shown as; none if it does not."""
    if isinstance(region, Margin):
        promise, counts = checkable(region.promise), [list(row) for row in region.base.weights]
        return promise and checker.with_margin(promise, Fraction(decimal(region.errors)), [counts])[0]
    stated = statement(region)
    return None if stated is None else checker.promise_of(stated)


def statement(region: Region) -> dict[str, Any] | None:
    """The promise as a file states it; none for a region that the checker does not know.

    What a promise comes after is not part of it: a file has that beside it.
    """
    if isinstance(region, After):
        return statement(region.region)
    if isinstance(region, Intersection):
        parts = [statement(component) for component in region.components]
        return None if None in parts else {"region": "Intersection", "parts": parts}
    if isinstance(region, OnAverage):
        return {"region": "OnAverage", "of": statement(region.of)}
    for name, known in _REGIONS.items():  # MaxLift and PML are AlphaLift at infinity
        if isinstance(region, known):
            return {"region": name} | {key: decimal(value) for key, value in region.parameters.items()}
    return None


def region_of(stated: dict[str, Any]) -> Region:
    """The region that a file states; where floats cannot hold its decimals, the weaker one: it is proven as well."""
    if stated["region"] == "Intersection":
        return Intersection(*map(region_of, stated["parts"]))
    if stated["region"] == "OnAverage":
        return OnAverage(region_of(stated["of"]))
    numbers = {
        name: to_float(text, upwards=name not in ("alpha", "order"))
        for name, text in stated.items()
        if name != "region"
    }
    return _REGIONS[stated["region"]](**numbers)


def utility_statement(utility: Utility) -> dict[str, Any] | None:
    """The resolved utility as a file states it; none for one that the checker does not know."""
    for name in checker.UTILITIES:
        if type(utility) is UTILITIES[name] and (parameters := utility.parameters) is not None:
            return {"name": name} | parameters
    return None


def utility_of(stated: dict[str, Any]) -> Utility:
    """The utility that a file states."""
    return UTILITIES[stated["name"]].stated(**{name: value for name, value in stated.items() if name != "name"})
