"""Audit of samples: what records of a secret and a released value say about a promise that somebody else's mechanism should keep."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from alphalift.arrays import Array
from alphalift.audit.comfort import most_telling, values_at_most, values_seen
from alphalift.audit.counted import Counts, Samples, is_about_x
from alphalift.audit.dependence import p_value_of_dependence
from alphalift.audit.intervals import lift_intervals
from alphalift.audit.suspicion import Suspicion, suspected
from alphalift.errors import PromiseError, SettingError
from alphalift.regions import KL, LDP, LIP, PML, AlphaLift, ChiSquare, MaxLift, Region, Renyi, TotalVariation

if TYPE_CHECKING:
    import pandas as pd

_KNOWN = (AlphaLift, Renyi, LIP, LDP, TotalVariation, ChiSquare, KL)
# How the probability of a false alarm is shared between the promise and S - X - Y, whether x is known or not.
_OF_PROMISE, _OF_DEPENDENCE = 0.8, 0.2


class Answer(Enum):
    """Whether the promise is kept, as far as samples tell."""

    YES = "yes"
    NO = "no"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, eq=False)
class SamplesAudit:
    """The answer, and what it rests on.

    By output: `seen` is the promise's value among the records, `at_most` a bound on it, each with this confidence (not computed, and
    infinite, where more than the budget was seen). `lifts` has an interval for every lift, all at once with this confidence.
    `dependence` is how likely y would seem to depend on s given x if it does not; None if x is not known. `suspicions` are those that
    were tested. `named` has the secret and output of the lift that the worst output, among the records or of the suspicions, owes most to.
    """

    answer: Answer
    promise: Region
    confidence: float
    records: int
    y_labels: tuple[str, ...]
    seen: Array
    at_most: Array
    suspicions: tuple[Suspicion, ...]
    lifts: pd.DataFrame
    broken: bool
    dependence: float | None
    looked: bool
    named: tuple[tuple[str, str], ...] = ()


def audit_samples(samples: Samples, promise: Region, *, confidence: float = 0.95, seed: int = 0) -> SamplesAudit:
    """Whether the mechanism behind the samples keeps the promise: yes, no, or that the samples cannot tell.

    "No" although it is kept, and "yes" although it is broken, each have the probability 1 - confidence at most, if the records are
    a random sample. Where x is known, "no" also says that y depends on s given x: the release has looked at the secret.
    """
    promise = _testable(promise)
    if not 0 < confidence < 1:
        raise SettingError(f"confidence is {confidence:g}, expected a number between 0 and 1")
    counts, rows = samples.about(promise)
    generator, level = np.random.default_rng(seed), 1 - confidence
    dependence = None if samples.x_labels is None else p_value_of_dependence(samples.counts, generator)
    looked = dependence is not None and dependence <= _OF_DEPENDENCE * level
    tested, broken = suspected(counts, promise, _OF_PROMISE * level, generator)
    seen = values_seen(counts, promise)
    at_most = np.full(len(seen), np.inf)
    if not broken and (seen <= promise.budget).all():
        at_most = values_at_most(counts, promise, level, generator)
    kept = bool((at_most <= promise.budget).all())
    answer = Answer.NO if broken or looked else Answer.YES if kept else Answer.CANNOT_TELL
    worst = [tested[0].output, int(seen.argmax())] if broken else [int(seen.argmax())]
    return SamplesAudit(
        answer=answer,
        promise=promise,
        confidence=confidence,
        records=int(counts.sum()),
        y_labels=samples.y_labels,
        seen=seen,
        at_most=at_most,
        suspicions=tuple(tested),
        lifts=_lifts(counts, (rows, samples.y_labels), level),
        broken=broken,
        dependence=dependence,
        looked=looked,
        named=tuple((rows[most_telling(counts, promise, y)], samples.y_labels[y]) for y in worst),
    )


def _testable(promise: Region) -> Region:
    """The promise as it is tested; perfect privacy, of whatever kind, as its one set of lifts."""
    if not all(isinstance(component, _KNOWN) for component in promise.components):
        raise PromiseError(
            f"samples are not tested for {promise}: expected {', '.join(own.__name__ for own in (MaxLift, PML, *_KNOWN))}, or "
            "several of them"
        )
    if not promise.perfect:
        return promise
    return PML(0) if is_about_x(promise) else MaxLift(0)


def _lifts(counts: Counts, labels: tuple[tuple[str, ...], tuple[str, ...]], level: float) -> pd.DataFrame:
    """One row for every secret and output: how often both occurred, the lift among the records, and its interval."""
    import pandas as pd

    low, high = lift_intervals(counts, level)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    index = pd.MultiIndex.from_product(labels, names=["secret", "output"])
    columns = {"records": counts, "lift": counts / expected, "low": low, "high": high}
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()}, index=index)
