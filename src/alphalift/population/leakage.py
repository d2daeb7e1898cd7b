"""How much a mechanism leaks about the people that a table was drawn from, with a stated confidence.

A promise is about a known P_SX. Counted from n records, P_SX is known up to chance, and a mechanism designed for it leaks more
than was promised about the population: the design has used up the budget at every output whose lift chance made small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betaincinv

from alphalift.arrays import Array, dense
from alphalift.errors import InputError, SettingError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.population.betting import lower_mean, upper_mean
from alphalift.population.posterior import drawn
from alphalift.population.worst import worst_of_draws, worst_values
from alphalift.regions import After, Region, refuse_averages

Method = Literal["calibrated", "rigorous"]
# Enough for a quantile at 95% that moves by a quarter of a percent of coverage, about.
_DRAWS = 6000
# Fewer draws of large mechanisms, whose work is bounded as long as that leaves enough of them; below the other bound it takes a second.
_MOST_WORK, _FEWEST_DRAWS, _QUICK = 3e8, 400, 1e8


@dataclass(frozen=True)
class LeakageBound:
    """The promise's value for the population is at most `value`, with this confidence; a promise kept has `kept`.

    `epsilon` is the same as the promise's parameter has it. `seen` is the value for the records as they are. `fresh` tells whether
    the records are others than those that the mechanism was designed for.
    """

    value: float
    epsilon: float
    seen: float
    budget: float
    confidence: float
    method: Method
    records: int
    fresh: bool
    output: str

    @property
    def kept(self) -> bool:
        return self.value <= self.budget

    def __bool__(self) -> bool:
        return self.kept


def leakage_bound(
    mechanism: Mechanism,
    joint: Joint,
    promise: Region,
    *,
    confidence: float = 0.95,
    method: Method = "calibrated",
    seed: int = 0,
) -> LeakageBound:
    """What the mechanism's worst output leaks about the population that the joint's records were drawn from, at most.

    "calibrated" draws joints that the records may have come from, with one record more for every secret; its coverage is
    measured (docs/population.md), not proven. Of the records that the mechanism was designed for, the worst output of each draw
    counts, since the design has chosen among outputs by them; of fresh records every output by itself is enough.
    "rigorous" holds for any n and any population, and needs fresh records.

    Only secrets and values that occur in the records are covered, and a population from which the records are a fair draw.
    """
    _check(joint, promise, confidence, method)
    records, designed = (Records.of(own, mechanism, promise) for own in (joint, mechanism.joint))
    fresh = not np.array_equal(records.counts, designed.counts)
    if method == "rigorous" and not fresh:
        raise InputError(
            "a rigorous bound needs records that the design has not seen: design on some of the records, and bound with the others"
        )
    unknown = records.law @ records.p_x == 0
    if (
        unknown.any()
    ):  # outputs that only values have which do not occur in these records: nothing bounds what they tell
        value, worst = math.inf, int(unknown.argmax())
    elif method == "rigorous":
        values = _rigorous(records, designed, promise, 1 - confidence)
        value, worst = float(values.max()), int(values.argmax())
    else:
        value, worst = _calibrated(records, promise, confidence, fresh, np.random.default_rng(seed))
    seen = float(promise.value(records.lifts[~unknown], records.p_s).max())
    value = max(value, seen)
    return LeakageBound(
        value=value,
        epsilon=promise.as_epsilon(value),
        seen=seen,
        budget=promise.budget,
        confidence=confidence,
        method=method,
        records=joint.n or 0,
        fresh=fresh,
        output=mechanism.y_labels[worst],
    )


def _check(joint: Joint, promise: Region, confidence: float, method: str) -> None:
    if joint.n is None:
        raise InputError(
            "the joint is given as probabilities: how many records it came from is not known, so nothing is bounded"
        )
    if isinstance(promise, After):
        raise InputError("what several releases together leak about a population is not bounded; bound each by itself")
    refuse_averages(promise, "a bound for a population")
    if not 0 < confidence < 1:
        raise SettingError(
            f"confidence is {confidence:g}, expected a number between 0 and 1; certainty would need everybody"
        )
    if method not in ("calibrated", "rigorous"):
        raise SettingError(f"method is {method!r}, expected 'calibrated' or 'rigorous'")


@dataclass(frozen=True, eq=False)
class Records:
    """Counts of s and x, (|S|, |X|), all values of the mechanism among them, and its P(y|x), (|Y|, |X|).

    `itself` where the secret is X, whose P(y|s) is P(y|x) whatever the records are.
    """

    counts: Array
    law: Array
    secrets: tuple[str, ...]
    itself: bool

    @classmethod
    def of(cls, joint: Joint, mechanism: Mechanism, promise: Region) -> Records:
        labels, about = mechanism.joint.x_labels, promise.about(joint)
        place = {label: x for x, label in enumerate(labels)}
        if unknown := [label for label in about.x_labels if label not in place]:
            raise InputError(f"{len(unknown)} of the records' values of X are not values of the mechanism")
        counts = np.zeros((len(about.s_labels), len(labels)))
        counts[:, [place[label] for label in about.x_labels]] = about.weights
        return cls(counts, dense(mechanism.law), about.s_labels, about.is_about_x)

    @property
    def p_s(self) -> Array:
        return np.asarray(self.counts.sum(axis=1) / self.counts.sum())

    @property
    def p_x(self) -> Array:
        return np.asarray(self.counts.sum(axis=0) / self.counts.sum())

    @property
    def lifts(self) -> Array:
        """P(y|s) / P(y) among the records, (|Y|, |S|)."""
        given = self.law @ (self.counts / self.counts.sum(axis=1, keepdims=True)).T
        p_y = (self.law @ self.p_x)[:, None]
        return np.asarray(np.divide(given, p_y, out=np.ones_like(given), where=p_y > 0))

    def variances(self, secret: str | None) -> Array:
        """Of P(y|x) over the values of X, given a secret that occurs, or none, (|Y|,)."""
        p_x = self.p_x
        if secret in self.secrets:
            row = self.counts[self.secrets.index(secret)]
            p_x = row / row.sum()
        return np.asarray(self.law**2 @ p_x - (self.law @ p_x) ** 2)


def is_quick(mechanism: Mechanism, promise: Region) -> bool:
    """Whether a calibrated bound takes about a second at most."""
    secrets = len(promise.about(mechanism.joint).s_labels)
    return _FEWEST_DRAWS * _work(len(mechanism.p_y), len(mechanism.joint.x_labels), secrets) < _QUICK


def _work(outputs: int, values: int, secrets: int) -> float:
    """Of one draw: P(y|s), and values of rows of lifts, each entry of which costs some ten multiplications."""
    return outputs * secrets * (values + 10.0 * (secrets + 3))


def _calibrated(
    records: Records, promise: Region, confidence: float, fresh: bool, generator: np.random.Generator
) -> tuple[float, int]:
    draws = int(
        max(
            _FEWEST_DRAWS, min(_DRAWS, _MOST_WORK / _work(len(records.law), records.law.shape[1], len(records.secrets)))
        )
    )
    values = np.concatenate(
        [
            worst_of_draws(promise, *((own.exact, own.exact) if records.itself else (own.low, own.high)), own.p_s)
            for own in drawn(records.counts, records.law, draws, generator)
        ]
    )
    by_output = np.quantile(values, confidence, axis=0, method="higher")
    # Every output by itself (intersection-union): to claim that all are below a number wrongly, one must be above it.
    value = by_output.max() if fresh else np.quantile(np.max(values, axis=1), confidence, method="higher")
    return float(value), int(by_output.argmax())


def _rigorous(records: Records, designed: Records, promise: Region, delta: float) -> Array:
    """For every output a bound at level delta, by bets on P(y|s), P(y) and an exact bound on P_S: (|Y|,)."""
    law, counts, secrets = records.law, records.counts, records.secrets
    # One lift at a time is enough for the largest one: of P(y|s) and P(y) one side each. Else all ends at once.
    alone = promise.largest_lift is not None
    each = delta / 2 if alone else delta / (3 * len(secrets) + 2)
    expected, all_records = designed.variances(None), counts.sum(axis=0)
    mean_low = lower_mean(law, all_records, each, expected)[:, None]
    mean_high = upper_mean(law, all_records, each, expected)[:, None]
    if records.itself:
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = law / mean_high, law / mean_low
    else:
        low, high = np.empty((len(law), len(secrets))), np.empty((len(law), len(secrets)))
        for s, (row, secret) in enumerate(zip(counts, secrets, strict=True)):
            own = designed.variances(secret)
            low[:, s], high[:, s] = lower_mean(law, row, each, own), upper_mean(law, row, each, own)
        with np.errstate(divide="ignore"):  # what may have no lower end has an infinite lift
            low, high = low / mean_high, high / mean_low
    if alone:
        return worst_values(promise, high, high, records.p_s)
    n_s = counts.sum(axis=1)
    most = np.nan_to_num(betaincinv(n_s + 1, n_s.sum() - n_s, 1 - each), nan=1.0)
    return np.array([_over_priors(promise, *ends, most) for ends in zip(low, high, strict=True)])


def _over_priors(promise: Region, low: Array, high: Array, most: Array) -> float:
    """The worst value of one output if P(s) is at most `most`: priors fill up the secrets with the largest values first.

    A promise is an extreme over secrets or a mean of a function of each lift: as a function of P_S a mean is linear, and one
    secret alone tells its own function.
    """
    size = len(most)
    alone = [worst_values(promise, low[None], high[None], np.eye(size)[s])[0] for s in range(size)]
    p_s, left = np.zeros(size), 1.0
    for s in np.argsort(alone)[::-1]:
        p_s[s] = min(float(most[s]), left)
        left -= p_s[s]
    return float(worst_values(promise, low[None], high[None], p_s)[0])
