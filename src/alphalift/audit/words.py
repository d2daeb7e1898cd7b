"""Audits in plain words: the answer first, then what it rests on. No cell of a table is shown, but labels of secrets and outputs are."""

from __future__ import annotations

import json
import math

from alphalift.audit.channel import ChannelAudit
from alphalift.audit.released import ReleaseAudit
from alphalift.audit.samples import SamplesAudit
from alphalift.measures.table import Printable
from alphalift.proof.statement import checkable
from alphalift.regions import PML, Intersection, Region, averages_of
from alphalift.show.text import printable

_FEW = 5


def _promised(promise: Region, secret: str) -> str:
    stated = checkable(promise)
    about = "the useful column itself" if isinstance(promise.components[0], PML) else secret
    return f"Promise about {about}: {str(promise) if stated is None else stated.text}."


def _amount(promise: Region, value: float) -> str:
    """A value as the promise's parameter has it, rounded up; of several promises the share of the way to the nearest budget."""
    if not math.isfinite(value):
        return "without a limit"
    if isinstance(promise, Intersection):
        return f"{math.ceil(value * 1000) / 10:.1f}% of what is promised"
    return f"epsilon = {math.ceil(promise.as_epsilon(value) * 1e4 - 1e-6) / 1e4 + 0.0:.4f}"


def _named(outputs: tuple[str, ...]) -> str:
    shown = ", ".join(repr(printable(label)) for label in outputs[:_FEW])
    return shown + (f" and {len(outputs) - _FEW} more" if len(outputs) > _FEW else "")


def of_channel(audit: ChannelAudit, secret: str) -> str:
    """Whether the promise is kept, the least promise of every kind, and every measure."""
    lines = [_promised(audit.promise, secret)]
    if audit.kept:
        lines.append(
            f"Kept: proven for every output with exact fractions. The worst has {_amount(audit.promise, audit.value)}."
            if not averages_of(audit.promise)
            else f"Kept: proven with exact fractions, with {_amount(audit.promise, audit.value)}."
        )
    elif audit.on_average:
        lines.append(
            f"Not kept: it is not proven of the mean over outputs, which has {_amount(audit.promise, audit.value)}."
        )
    else:
        many = f"{len(audit.broken)} output{'' if len(audit.broken) == 1 else 's'}"
        lines.append(
            f"Not kept: it is not proven for {many}: {_named(audit.broken)}. The worst has {_amount(audit.promise, audit.value)}."
        )
    lines.append("That is about the joint as it is given; a population behind counted records may differ from them.")
    lines.append(
        "The least epsilon of every kind of promise that is kept, to six digits, proven; one unit less is not:"
    )
    width = max(map(len, audit.least))
    lines += [f"  {name:{width}}  {epsilon}" for name, epsilon in audit.least.items()]
    return "\n".join([*lines, "Every measure:", repr(Printable(audit.measures[["worst", "mean", "overall"]]))])


def of_samples(audit: SamplesAudit, secret: str, useful: str | None) -> str:
    """The answer, and the lifts that stand out most."""
    share = f"{audit.confidence:.10g}" if audit.confidence > 0.999 else f"{100 * audit.confidence:.10g}%"
    lines, answer = [_promised(audit.promise, secret)], _answer(audit, secret, share)
    if audit.looked:
        lines.append(
            f"Not a release of {useful} alone: given {useful}, the output depends on {secret} (chance alone shows as much in "
            f"{audit.dependence:.1%} of samples at most): the mechanism has looked at {secret}, and is no release of {useful}."
        )
        answer = f"The promise by itself, which is about lifts alone: {answer}"
    lines.append(answer)
    if audit.dependence is not None and not audit.looked:
        lines.append(f"Given {useful}, nothing shows that the output depends on {secret}.")
    lines.append(f"Lifts that stand out most, with intervals that hold for all lifts at once ({share} confidence):")
    return "\n".join([*lines, *_standing_out(audit)])


def _answer(audit: SamplesAudit, secret: str, share: str) -> str:
    """What the samples say of the promise, whether or not the mechanism has looked at the secret."""
    seen = _amount(audit.promise, float(audit.seen.max()))
    sample = f"if the {audit.records} records are a random sample"
    if audit.broken:
        worst, tests = audit.suspicions[0], len(audit.suspicions)
        chance = min(worst.p_value * tests, 1.0)
        return (
            f"Not kept: output {printable(audit.y_labels[worst.output])!r} tells more than is promised, {sample}: a mechanism that keeps the "
            f"promise shows as much in {chance:.2%} of samples at most (of {tests} tested). Among the records the worst output has {seen}."
        )
    if len(audit.lifts) == len(audit.y_labels):
        return f"Kept: {secret} has one value among the {audit.records} records, about which nothing can be told."
    bound = float(audit.at_most.max())
    most = f", and {_amount(audit.promise, bound)} at most" if math.isfinite(bound) else ""
    if bound <= audit.promise.budget:
        return f"Kept: with {share} confidence, {sample}. The worst output has {seen} among them{most}."
    return (
        f"Cannot tell: {audit.records} records show neither that it is broken nor that it is kept. The worst output has {seen} among "
        f"them{most}."
    )


def _standing_out(audit: SamplesAudit) -> list[str]:
    """Lifts whose intervals are farthest from 1, and those that the worst outputs owe most to: one such may be uncertain."""
    ends = zip(audit.lifts.index, *(audit.lifts[name].tolist() for name in ("lift", "low", "high")), strict=True)
    ranked = sorted(ends, key=lambda row: -_distance(*row[2:]))
    shown = ranked[:_FEW] + [row for row in ranked[_FEW:] if row[0] in audit.named]
    return [
        f"  {printable(s)!r} given {printable(y)!r}: {lift:.3f}, from {_down(low)} to {_up(high)}"
        for (s, y), lift, low, high in shown
    ]


def _distance(low: float, high: float) -> float:
    """How far the interval of a lift lies from 1, on the scale of logarithms; negative if 1 is in it."""
    return max(math.log(low) if low > 0 else -math.inf, -math.log(high) if high > 0 else math.inf)


def _down(value: float) -> str:
    return f"{math.floor(value * 1000) / 1000:.3f}"


def _up(value: float) -> str:
    return f"{math.ceil(value * 1000) / 1000:.3f}"


def of_release(audit: ReleaseAudit) -> str:
    """Whether every row is what the mechanism makes of it; else how many are not, by their numbers."""
    if audit.kept:
        order = "; their order is not that of the input" if audit.reordered else ""
        return f"As released: all {audit.rows} rows are what mechanism and key make of the input{order}."
    lines = [f"Not as released: of {audit.rows} rows"]
    if audit.changed:
        lines.append(f"  {audit.changed} do not have the output of their record, {_rows(audit.first_changed)}")
    if audit.extra:
        lines.append(
            f"  {audit.extra} belong to no record, or to one that has its row already, {_rows(audit.first_extra)}"
        )
    if audit.missing:
        lines.append(f"  {audit.missing} records of the input have no row")
    if audit.columns:
        lines.append(
            f"  there are columns that the release would not have: {', '.join(map(repr, audit.columns[:_FEW]))}"
        )
    if audit.rows and audit.extra == audit.rows:
        lines.append(
            "  No row belongs to a record of the input: is it another key, namespace or id column, or are ids shown otherwise?"
        )
    return "\n".join(lines)


def _rows(numbers: tuple[int, ...]) -> str:
    return f"first in row{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))} of the data"


def channel_content(audit: ChannelAudit) -> dict[str, object]:
    """The audit as JSON has it."""
    return {
        "kept": audit.kept,
        "promise": str(audit.promise),
        "epsilon": _finite(audit.epsilon),
        "not_proven_for": list(audit.broken),
        "mean_not_proven": audit.on_average,
        "least_epsilon": audit.least,
        "measures": json.loads(audit.measures.reset_index().to_json(orient="records")),
    }


def samples_content(audit: SamplesAudit) -> dict[str, object]:
    """The audit as JSON has it; what has no limit is null."""
    scale = audit.promise.as_epsilon
    outputs = [
        {"output": label, "seen": _finite(scale(float(seen))), "at_most": _finite(scale(float(most)))}
        for label, seen, most in zip(audit.y_labels, audit.seen, audit.at_most, strict=True)
    ]
    lifts = [
        {"secret": s, "output": y, "lift": lift, "low": low, "high": high}
        for (s, y), lift, low, high in zip(
            audit.lifts.index, *(audit.lifts[name] for name in ("lift", "low", "high")), strict=True
        )
    ]
    return {
        "answer": audit.answer.value,
        "promise": str(audit.promise),
        "confidence": audit.confidence,
        "records": audit.records,
        "broken": audit.broken,
        "looked_at_the_secret": audit.looked if audit.dependence is not None else None,
        "outputs": outputs,
        "lifts": lifts,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
