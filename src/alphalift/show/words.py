"""A design in plain words: what was asked, what is kept, what it means for the rarest and the largest group."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from alphalift.arrays import Array, is_sparse
from alphalift.effort import MOST_TREE_BYTES
from alphalift.joint import Joint
from alphalift.measures import epsilon_max
from alphalift.mechanism import Mechanism
from alphalift.population import is_quick, leakage_bound, percent, said, uncovered
from alphalift.population.cover import HOW
from alphalift.proof.said import EVERYBODY, statement_in
from alphalift.proof.statement import checkable, utility_statement
from alphalift.regions import After, AlphaLift, Region, averages_of
from alphalift.show.meaning import what_it_means
from alphalift.show.text import printable, up
from alphalift.solution import Population, Solution, Status
from alphalift.solvers.optimal import bound_is_estimated, searched_symbols
from alphalift.utilities import Utility

if TYPE_CHECKING:
    from alphalift.backwards import Wanted

# By how much of X's information a file's gap must exceed the run's to be told: rounding to integers costs less.
_NOTABLE = 1e-6
_AVERAGE_OF_RECORDS = "The population: a promise on average is proven of the records; what holds for people of whom they are a sample is not bounded."
_ASSUMED = "Assumed: {} of the records were answered before by a law for unseen values; records that were left out before are not covered."
_BESIDE = ("other columns released beside it", "other columns or releases than those that it was designed after")


@dataclass(frozen=True)
class Description:
    """A design in sentences, by what they are about; lists begin with a line that introduces them."""

    promise: str
    designed: str
    on_average: list[str]
    groups: list[str]
    meaning: list[str]
    status: str
    assumed: list[str]
    proof: str
    population: list[str]
    not_covered: str

    def __str__(self) -> str:
        told = [self.promise, self.designed, *self.on_average, *self.groups, *self.meaning, self.status, *self.assumed]
        return "\n".join([*told, self.proof, *self.population, self.not_covered])


def describe(solution: Solution, *, secret: str = "the secret", useful: str = "X") -> str:
    """Sentences for a reader who knows the table but not the mathematics."""
    return str(description(solution, secret=secret, useful=useful))


def description(
    solution: Solution, *, secret: str = "the secret", useful: str = "X", filed: bool = False
) -> Description:
    """The sentences of `describe`; of a solution that was `filed` the bound is that which its file proves.

    A file has a promise about X as one about the joint of X with itself.
    """
    itself = is_about_x(solution.region) or (filed and solution.joint.is_about_x)
    secret, about = (useful, f"{useful} itself") if itself else (secret, secret)
    unknown = 0 if solution.after is None else solution.after.unknown
    return Description(
        promise=f"Promise about {about}: {promise(solution.region)}.",
        designed=_designed(solution, useful),
        on_average=only_on_average(solution.region, secret),
        groups=_groups(solution, secret),
        meaning=what_it_means(solution, secret=secret, shown=[printable(label) for label in solution.joint.s_labels]),
        status=_status(solution, useful, "" if filed else bound_remark(solution)),
        assumed=[_ASSUMED.format(unknown)] if unknown else [],
        proof=_proof(solution),
        population=_population(solution, secret, useful),
        not_covered=_not_covered(solution),
    )


def _promised(region: Region) -> Region:
    """The promise itself, whatever it comes after."""
    return region.region if isinstance(region, After) else region


def is_about_x(region: Region) -> bool:
    """Whether the promise has X for its secret; an intersection's parts are all about the same one."""
    return any(type(part).about is not Region.about for part in _promised(region).components)


def _designed(solution: Solution, useful: str) -> str:
    mechanism = solution.mechanism
    everything = _everything(solution)
    return (
        f"Designed: a random release of {useful} with {_count(len(mechanism.p_y), 'possible output')} for "
        f"{_count(len(solution.joint.x_labels), 'value')}. It keeps {solution.normalized_utility:.1%} of the {_kept(solution, useful)} "
        f"({solution.utility:.3f} of {amount(everything, 3, solution.utility_function)})."
    )


def amount(value: float, digits: int, utility: Utility) -> str:
    """A number of the utility, with its unit."""
    return f"{value:.{digits}f} {utility.unit}".rstrip()


def _kept(solution: Solution, useful: str) -> str:
    """What the mechanism keeps a share of: "information in education"."""
    return solution.utility_function.kept(useful)


def only_on_average(region: Region, secret: str) -> list[str]:
    """What a promise on average does not give, in a sentence; nothing where there is none."""
    if not averages_of(region) or region.perfect:
        return []
    alone = len(averages_of(region)) == len(region.components)
    return [
        f"Only on average: a promise of that kind bounds a mean over what is released, and not what one released value tells: "
        f"a value that is released rarely may tell everything about {secret}."
        if alone
        else f"Only on average: the promises of that kind bound means over what is released; what one released value tells about {secret} is "
        "bounded by the others alone."
    ]


def _everything(solution: Solution) -> float:
    """What publishing X is worth."""
    return solution.utility_function.of_publishing_all(solution.joint.p_x)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def promise(region: Region) -> str:
    """The region in a phrase; the checker's own where it knows the region."""
    known = checkable(region)
    together = ", together with the releases before it" if isinstance(region, After) else ""
    return (str(_promised(region)) if known is None else known.text) + together


def _groups(solution: Solution, secret: str) -> list[str]:
    """What promise and mechanism mean for the rarest, the largest and the most affected group."""
    region, joint = solution.region, solution.joint
    after = isinstance(region, After)
    what, who = ("is released, now and before,", " and those before it") if after else ("value is released,", "")
    lines = [f"Whatever {what} for someone who knew only how common each value of {secret} is:"]
    worst, at_most = largest_lifts(solution), "" if region.symmetric else "at most "
    ranks: dict[int, list[str]] = {}
    for rank, i in (("rarest", joint.p_s.argmin()), ("largest", joint.p_s.argmax()), ("most affected", worst.argmax())):
        ranks.setdefault(int(i), []).append(rank)
    for s, names in ranks.items():
        share = float(joint.p_s[s])
        limit = up(region.group_limit(np.arange(len(joint.p_s)) == s, joint.p_s), 2)
        lines.append(
            f"  - the {' and '.join(names)} group, {printable(joint.s_labels[s])} ({share:.1%}), becomes at most "
            f"{up(float(worst[s]), 2)} times as likely with this mechanism{who}; the promise alone allows {at_most}{limit}."
        )
    return lines


def largest_lifts(solution: Solution) -> Array:
    """Of every secret, over all outputs, with those before where there are any, (|S|,)."""
    region, mechanism = solution.region, solution.mechanism
    if not isinstance(region, After):
        return np.asarray(mechanism.lift.max(axis=1))
    return np.asarray(region.together(mechanism.posteriors @ region.known.lift.T).max(axis=0))


def _status(solution: Solution, useful: str, remark: str) -> str:
    region = solution.region
    text = f"Status: {solution.status.value}.".replace("publishing X as it is", f"publishing {useful} unchanged")
    known = solution.status is Status.ROBUST and solution.upper_bound < _everything(solution)
    if solution.relative_gap < 0.5 or known:
        gap = _percent_up(solution.relative_gap)
        text += f" The gap is at most {gap} of the {_kept(solution, useful)}{remark}."
    else:
        text += " How far it is from the optimum is hardly known."
    if solution.status is not Status.TRIVIAL:
        if isinstance(region, After):
            worst = float(region.value(region.known.lift.T, region.known.p_s).max())
            used = region.value_of_nothing(region.known.p_s)
            text += (
                f" The releases before have the value {used:.4g} already, publishing {useful} unchanged would make it {worst:.4g}, and "
                f"{region.budget:.4g} is allowed."
            )
        elif isinstance(region, AlphaLift):
            needed = up(epsilon_max(solution.joint, region.alpha), 4)
            text += f" Publishing {useful} unchanged would need epsilon = {needed}."
        else:
            worst = Mechanism.publishing_all(solution.joint).worst_value(region)
            if (
                len(region.components) > 1
            ):  # the value is a share of what is promised, where anything may be told at all
                text += f" Publishing {useful} unchanged would {_share_of_promised(worst)}."
            else:
                text += f" Publishing {useful} unchanged has the value {worst:.4g}, and {region.budget:.4g} is allowed."
    return text


def _share_of_promised(share: float) -> str:
    if not math.isfinite(share):
        return "break it"
    return f"take {100 * share:.4g}% of what is promised" if share < 10 else f"be {share:,.0f} times what is promised"


def bound_remark(solution: Solution) -> str:
    """What to add to a bound in floats whose rounding is not proven to be harmless ("Floats" in docs/theory.md)."""
    if solution.upper_bound >= _everything(solution):
        return ""
    if checkable(solution.region) is None or utility_statement(solution.utility_function) is None:
        return " (an estimate)"
    region = solution.region
    joint = region.known if isinstance(region, After) else region.about(solution.joint)
    estimated = bound_is_estimated(joint, region, solution.utility_function)
    return " (an estimate; the file is the proof)" if estimated else ""


def _proof(solution: Solution) -> str:
    integers = solution.integers
    if integers is None:
        return "Not proven: the figures are floats, which cannot tell a promise that is just kept from one just broken."
    unseen = "; values outside the table are answered too" if integers.unseen is not None else ""
    proven = f"Proven: the promise holds for the integers over 2^{integers.bits} that are sampled, exactly{unseen}."
    if utility_statement(solution.utility_function) is None:
        proven += " Not proven: what the mechanism is worth, and how far from the optimum it is; a file claims neither."
    return proven


def _population(solution: Solution, secret: str, useful: str) -> list[str]:
    """What holds for the people of which the records are a sample, where the joint was counted."""
    if solution.joint.n is None:
        return []
    if solution.population is not None:
        return [_robust(solution, solution.population, secret, useful)]
    statement = statement_in(solution.settings)
    lines = [f"The population: {statement}."] if statement else []
    if statement or isinstance(solution.region, After):
        return lines
    return [_AVERAGE_OF_RECORDS] if averages_of(solution.region) else [_bounded(solution)]


def _bounded(solution: Solution) -> str:
    """What a design for the records alone tells about the population."""
    joint, region = solution.joint, solution.region
    if _is_noise(solution.mechanism):
        return "The population: nothing is told about anybody, since no answer depends on who is asked."
    if not is_quick(solution.mechanism, region):
        return "The population: what is told about it was not bounded, which takes a while for so many values (`leakage_bound`)."
    bound = leakage_bound(solution.mechanism, joint, region)
    sample = f"The population: if the {joint.n} records are a random sample of it,"
    sure = f"with {percent(bound.confidence)} confidence ({HOW})"
    if bound.kept:
        return f"{sample} the promise is kept there, too, {sure}."
    remedy = "" if uncovered(region, joint) else " A robust design keeps it."
    return f"{sample} the promise is NOT known to be kept there: {_at(region, bound.value)} {sure}.{remedy}"


def _is_noise(mechanism: Mechanism) -> bool:
    """Whether outputs do not depend on X at all."""
    law = mechanism.law
    return law.shape[0] == 1 or (not is_sparse(law) and bool((law == law[:, :1]).all()))


def _not_covered(solution: Solution) -> str:
    stated = solution.population
    after, statement = isinstance(solution.region, After), statement_in(solution.settings)
    if stated is None or statement == EVERYBODY:
        return not_covered(statement, after=after)
    return _left_open("a population of which the records are no random sample" if stated.confidence < 1 else "", after)


def not_covered(statement: str, *, after: bool) -> str:
    """What a promise about the records, with this statement about the population, leaves open."""
    return _left_open(
        "people who are not in the table" if statement == EVERYBODY else "a population that differs from the table",
        after,
    )


def _left_open(others: str, after: bool) -> str:
    again = "a second release of the same records with fresh randomness"
    return f"Not covered: {_BESIDE[after]}{',' if others else ' and'} {again}{f', and {others}' if others else ''}."


def _robust(solution: Solution, stated: Population, secret: str, useful: str) -> str:
    if len(solution.joint.s_labels) == 1 and stated.confidence < 1:
        return (
            f"Nothing to protect: all records have the same {secret}, about which no release tells anything, and {useful} may be published. "
            f"Were there people with another {secret}, nothing is promised about that."
        )
    everything = _everything(solution)
    plain = stated.plain / everything if everything > 0 else 1.0
    cost = f"A design for the records alone would keep {plain:.1%} of {useful}, and is not known to keep it."
    if not stated.kept:
        return f"The population: {said(stated)}. {cost}"
    if _is_noise(solution.mechanism) and stated.errors != 0:
        return f"The population: nothing is told about anybody, since no answer depends on who is asked: nothing more was found to keep the promise there. {cost}"
    if stated.confidence == 1:
        return f"The population: the promise is kept whatever it is, since no record of it was relied on. {cost}"
    if stated.noise:
        floor = (
            "it is kept about every secret whatever, since the records are too few for this one, and "
            if stated.errors is None
            else ""
        )
        how = f"{floor}{stated.noise:.0%} of the answers are noise, with the outputs' own distribution. {cost}"
    elif stated.errors is None:
        how = f"it is kept about every secret whatever, since the records are too few for this one. {cost}"
    elif stated.errors == 0:
        how = "the design for the records needs no margin for it."
    else:
        how = f"every output leaves {stated.errors:g} standard errors to spare{_within(solution, useful)}. {cost}"
    return (
        f"The population: if the {stated.records} records are a random sample of it, the promise is kept there, too, with "
        f"{percent(stated.confidence)} confidence ({HOW}): {how}"
    )


def _within(solution: Solution, useful: str) -> str:
    """What no mechanism with the same margin exceeds, where that is less than all of X; the file proves it again."""
    everything = _everything(solution)
    if solution.margin is None or solution.margin.upper_bound >= everything:
        return ""
    return f", and no mechanism that does keeps more than {up(100 * solution.margin.upper_bound / everything, 2)}% of {useful}"


def _at(region: Region, value: float) -> str:
    """A value in the promise's own words."""
    if hasattr(region, "epsilon"):
        epsilon = math.ceil(region.as_epsilon(value) * 1e4) / 1e4
        larger = copy(region)
        object.__setattr__(larger, "epsilon", epsilon)
        return promise(larger) if math.isfinite(epsilon) else "nothing is known of it"
    return f"its value is at most {up(value, 3)}, and {region.budget:.4g} is allowed"


def what_a_file_proves(solution: Solution, claims: dict[str, str]) -> str:
    """What a file with these claims proves about the optimum, where that is notably less than the run has found; or nothing."""
    if not claims:
        return ""
    everything = _everything(solution)
    gap = (float(claims["optimum_at_most"]) - float(claims["utility_at_least"])) / everything if everything > 0 else 0.0
    reason, told = "a proof of more would be too large, or would have come too late", []
    if gap > solution.relative_gap + _NOTABLE:
        told.append(f"The file proves a gap of at most {_percent_up(gap)} of that: {reason}.")
    if solution.margin is not None and "optimum_with_margin_at_most" in claims:
        most = float(claims["optimum_with_margin_at_most"])
        if most > solution.margin.upper_bound + _NOTABLE * everything:
            share = _percent_up(most / everything)
            told.append(f"The file proves that no mechanism with its margin keeps more than {share}: {reason}.")
    return " ".join(told)


def what_it_may_take(joint: Joint, region: Region, utility: Utility, time_limit: float) -> str:
    """Said before a design that takes more than a few seconds: time and memory at most; nothing of a short one."""
    symbols = searched_symbols(region.about(joint), region, utility)
    if not symbols:
        return ""
    # A certificate is a copy of most of the tree.
    memory = 2 * MOST_TREE_BYTES / 1e9
    return (
        f"{symbols} values of X that differ in what they tell: the search may take all of its {time_limit:g} s, and up to "
        f"{memory:.0f} GB of memory. Ctrl-C returns the best mechanism so far, proven."
    )


def _percent_up(share: float) -> str:
    return f"{up(100 * share, 3)}%"


def wanted_words(found: Wanted, keep: str) -> str:
    """Which epsilon keeps the wanted share, and what is known of smaller ones."""
    kept = f"epsilon = {found.keeps:g} keeps {keep}"
    if found.fails is None:
        less = "it is the least there is" if found.closed else "smaller ones were not decided in time"
    else:
        less = f"at epsilon = {found.fails:g} no mechanism does"
    between = "" if found.closed or found.fails is None else "; what lies between was not decided in time"
    design = found.design
    if found.fails is not None and bound_is_estimated(design.joint, design.region, design.utility_function):
        less += ", as floats estimate"
    return f"{kept}, {less}{between}. This is about the records as they are."
