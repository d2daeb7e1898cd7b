"""What is said of the population, in one sentence for words and files: kept there, or why that is not known."""

from __future__ import annotations

import math
from dataclasses import replace

from alphalift.errors import PromiseError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.population.leakage import leakage_bound
from alphalift.population.robust import MOST_VALUES, prior_free
from alphalift.proof.said import with_statement
from alphalift.regions import LDP, PML, After, Margin, Region
from alphalift.solution import Population, Solution

HOW = "calibrated on the records, not proven"
_DIGITS = 4
# What rounding may add to the epsilon that holds for every population, which has a thousandth to spare.
_ROUNDED = 1 + 1e-6


def uncovered(promise: Region, joint: Joint, *, after: bool = False) -> str:
    """Why no design keeps the promise for the population with a confidence; nothing where one does."""
    if after or isinstance(promise, After):
        return "nothing bounds what several releases together tell about it"
    if promise.perfect:
        return "no number of records shows that nothing at all is told"
    if len(joint.x_labels) > MOST_VALUES:
        return f"a margin for chance takes too long with more than {MOST_VALUES} values (--confidence 95% mixes in noise instead)"
    try:
        if not isinstance(promise, PML):
            Margin(promise, joint, 0.0)
    except PromiseError:
        return f"no margin for chance is known for {promise}"
    return ""


def not_covered(reason: str) -> str:
    """The statement of a design for the records alone that was asked for nothing else."""
    return f"not covered, since {reason}: the promise is about the records alone"


def percent(confidence: float) -> str:
    """95%, 99.9%: with the digits that it has, so that no confidence looks like certainty."""
    return f"{100 * confidence:.10g}%"


def said(stated: Population, *, told: bool = True) -> str:
    """The statement about the population of a robust design; with its numbers unless the records are to be kept back."""
    if stated.confidence == 1 and stated.kept:
        return "the promise is kept whatever it is, by local differential privacy about X (an argument, not proven by this file)"
    number = f"{stated.records} " if told else ""
    sure = f"with {percent(stated.confidence)} confidence if the {number}records are a random sample of it"
    if not stated.kept:
        return f"the promise is NOT known to be kept there {sure} ({HOW})"
    if not told:
        return f"the promise is kept {sure} ({HOW})"
    spared = "the promise about X itself" if stated.errors is None else f"{stated.errors:g} standard errors to spare"
    spared += f" and {stated.noise:.0%} noise" if stated.noise else ""
    most = math.ceil(stated.epsilon * 10**_DIGITS) / 10**_DIGITS
    return f"the promise is kept {sure}, at most {most:.{_DIGITS}f} on its own scale, with {spared} ({HOW})"


def restated(solution: Solution, *, told: bool = True) -> Solution:
    """The solution with what its mechanism, as it is now, is known to keep for the population: for one that was changed."""
    stated = solution.population
    if stated is None:
        return solution
    if stated.confidence == 1:
        free = prior_free(solution.region).epsilon
        about_x = Mechanism(solution.joint.about_x, solution.mechanism.law)
        stated = replace(stated, kept=bool(about_x.check(LDP(_ROUNDED * free))))
    else:
        bound = leakage_bound(solution.mechanism, solution.joint, solution.region, confidence=stated.confidence)
        stated = replace(stated, epsilon=bound.epsilon, kept=bound.kept)
    return replace(solution, population=stated, settings=with_statement(solution.settings, said(stated, told=told)))
