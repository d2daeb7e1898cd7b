"""Tables for notebooks: small, without scripts, styles or ids of their own, readable on dark and on light.

Every text goes through `as_text`, since labels come from data. Nothing is shown that the objects' texts do not say or that one
would not print oneself: of a joint its size and labels and no count or share of any; of a mechanism P(y|x) with two digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import singledispatch

import numpy as np

from alphalift.arrays import Array
from alphalift.compare import Comparison
from alphalift.curve import Curve, Envelope
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import AlphaLift, Region
from alphalift.show.style import COLOURS, alpha_text, curve_label
from alphalift.show.text import as_text, names_of, shortened, up
from alphalift.show.words import bound_remark, is_about_x, promise
from alphalift.solution import Solution
from alphalift.sweep import Tradeoff

_MOST_ROWS, _MOST_COLUMNS, _MOST_LABELS, _LONGEST = 16, 16, 24, 28
# The text's own colour stands for lines; blue with an alpha can be read below it on any ground.
_BLUE, _LINE = "68,119,170", "1px solid rgba(128,128,128,.35)"
_WIDTH, _HEIGHT, _MARGIN = 420, 180, 34
_WIDE, _TALL, _TOP = _WIDTH - 2 * _MARGIN - 50, _HEIGHT - 2 * _MARGIN + 14, 14
# Steps that a curve's band is drawn with: enough for its shape, few enough for a notebook's file.
_STEPS = 24


@singledispatch
def as_html(shown: object) -> str:
    """The object as HTML."""
    raise TypeError(f"{type(shown).__name__} has no table for notebooks")


@as_html.register
def _joint(joint: Joint) -> str:
    secret, useful = names_of(joint, None, None)
    source = "probabilities" if joint.n is None else f"{joint.n} records"
    rows = [
        [
            as_text(f"secret, {secret}" if secret != "S" else "secret S"),
            str(len(joint.s_labels)),
            _listed(joint.s_labels),
        ],
        [
            as_text(f"useful, {useful}" if useful != "X" else "useful X"),
            str(len(joint.x_labels)),
            _listed(joint.x_labels),
        ],
    ]
    empty = [
        f"{len(labels)} {what} without mass left out"
        for labels, what in ((joint.s_without_mass, "secrets"), (joint.x_without_mass, "values"))
        if labels
    ]
    title = f"Joint of {len(joint.s_labels)} x {len(joint.x_labels)}, from {source}"
    return _boxed(title, _table(["", "symbols", "labels"], rows, left={0, 2}), "; ".join(empty))


@as_html.register
def _mechanism(mechanism: Mechanism) -> str:
    _, useful = names_of(mechanism.joint, None, None)
    outputs, values = mechanism.law.shape
    title = f"Mechanism: {useful} is released as one of {outputs} outputs; P(y|x)"
    return _boxed(
        title, _channel(mechanism), _left_out((outputs, _MOST_ROWS, "outputs"), (values, _MOST_COLUMNS, "values"))
    )


@as_html.register
def _solution(solution: Solution) -> str:
    secret, useful = names_of(solution.joint, None, None)
    about = f"{useful} itself" if is_about_x(solution.region) else secret
    bits = solution.integers
    rows = [
        ["promise", as_text(f"about {about}: {promise(solution.region)}")],
        ["kept", as_text(f"{solution.normalized_utility:.2%} of {useful}") + _bar(solution.normalized_utility, 160)],
        ["gap", as_text(f"{_percent_up(solution.relative_gap)} at most{bound_remark(solution)}")],
        ["status", as_text(solution.status.value)],
        ["proven", f"for integers over 2<sup>{bits.bits}</sup>" if bits else "no: floats"],
    ]
    told = _table([], rows, left={0, 1})
    outputs, values = solution.mechanism.law.shape
    left_out = _left_out((outputs, _MOST_ROWS, "outputs"), (values, _MOST_COLUMNS, "values"))
    return _boxed(f"Release of {useful}", told + _channel(solution.mechanism), left_out)


@as_html.register
def _comparison(comparison: Comparison) -> str:
    rows = []
    for row in comparison.rows:
        if row.applies:
            kept = "yes" if row.kept else "NO"
            share = f"{row.normalized_utility:.1%}"
            rows.append(
                [
                    as_text(row.name),
                    share,
                    _bar(row.normalized_utility, 120),
                    f"{row.worst_value:#.4g}",
                    kept,
                    str(row.outputs),
                ]
            )
        else:
            rows.append([as_text(row.name), "-", "", "-", "-", "-"])
    head = ["mechanism", "useful", "", "value", "promise kept", "outputs"]
    note = f"At most {comparison.region.budget:#.4g} is promised; no mechanism that keeps it is more useful than {_percent_up(comparison.normalized_bound)}{bound_remark(comparison.solution)}"
    return _boxed(f"Under one promise: {promise(comparison.region)}", _table(head, rows, left={0, 2}), note)


@as_html.register
def _tradeoff(tradeoff: Tradeoff) -> str:
    head = ["joint", "promise", "useful", "gap", "status"]
    many = len(tradeoff.joints) > 1
    cells = [
        (place, region, cell.figures)
        for place, cells in enumerate(tradeoff.cells)
        for region, cell in zip(tradeoff.regions, cells, strict=True)
    ]
    rows = []
    for place, region, figures in cells[:_MOST_ROWS]:
        everything = tradeoff.utility_function.of_publishing_all(region.about(tradeoff.joints[place]).p_x)
        gap = max(0.0, figures["upper_bound"] - figures["utility"]) / everything if everything > 0 else 0.0
        share = f"{figures['normalized_utility']:.1%}"
        rows.append(
            [str(place), as_text(repr(region)), share, _percent_up(gap), as_text(str(figures["status"]).lower())]
        )
    left = {1, 4}
    if not many:
        head, rows, left = head[1:], [row[1:] for row in rows], {0, 3}
    title = f"Tradeoff: {len(tradeoff.joints)} joint{'s' * many} under {len(tradeoff.regions)} promise{'s' * (len(tradeoff.regions) != 1)}"
    drawn = "" if many else _curves(tradeoff.regions, [figures["normalized_utility"] for _, _, figures in cells])
    return _boxed(title, drawn + _table(head, rows, left=left), _left_out((len(cells), _MOST_ROWS, "cells")))


@as_html.register
def _curve(curve: Curve) -> str:
    secret, useful = names_of(curve.envelopes[0].joint, None, None)
    each = max(2, _MOST_ROWS // len(curve))
    rows = [
        [
            as_text(repr(envelope.family.at(float(f"{epsilon:.3g}")))),
            _percent_down(bracket.lower),
            f"{up(100 * bracket.upper, 1)}%",
        ]
        for envelope in curve.envelopes[:_MOST_ROWS]
        for epsilon in np.linspace(0, envelope.points[-1].epsilon, each + 1)[1:]
        for bracket in [envelope.at(float(f"{epsilon:.3g}"))]
    ]
    head = ["promise", f"{useful} kept, at least", "at most"]
    note = f"The optimum lies in the band, which is drawn in {_STEPS} steps; bounds are at most {curve.within} apart."
    most = max(envelope.points[-1].epsilon for envelope in curve)
    drawn = (
        _framed([part for place, own in enumerate(curve) for part in _band(own, place, most)], most) if most > 0 else ""
    )
    return _boxed(
        f"What each budget keeps of {useful}, protecting {secret}", drawn + _table(head, rows, left={0}), note
    )


# --- parts ---


def _boxed(title: str, body: str, note: str) -> str:
    below = f'<div style="opacity:.75;margin-top:.4em">{as_text(note)}</div>' if note else ""
    return f'<div style="font-size:90%;max-width:100%;overflow-x:auto"><div style="font-weight:600;margin-bottom:.4em">{as_text(title)}</div>{body}{below}</div>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: set[int]) -> str:
    """Of cells that are HTML already; columns are aligned to the right but for those in `left`."""

    def style(place: int) -> str:
        return f"text-align:{'left' if place in left else 'right'};padding:.15em .6em;border-bottom:{_LINE};vertical-align:top"

    top = "".join(f'<th scope="col" style="{style(place)}">{as_text(cell)}</th>' for place, cell in enumerate(head))
    body = "".join(
        "<tr>" + "".join(f'<td style="{style(place)}">{cell}</td>' for place, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    heading = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f'<table style="border-collapse:collapse;background:transparent;margin:0">{heading}<tbody>{body}</tbody></table>'


def _channel(mechanism: Mechanism) -> str:
    """The first rows and columns of P(y|x), the darker the larger; cells that are 0 are empty."""
    shown = mechanism.law[:_MOST_ROWS, :_MOST_COLUMNS]
    matrix = shown.toarray() if hasattr(shown, "toarray") else shown
    x_labels, y_labels = (_short(labels) for labels in (mechanism.joint.x_labels, mechanism.y_labels))
    edge = "padding:.15em .5em;font-weight:normal;background:transparent"
    top = "".join(
        f'<th scope="col" style="{edge};text-align:center">{label}</th>' for label in x_labels[:_MOST_COLUMNS]
    )
    body = ""
    for label, row in zip(y_labels[:_MOST_ROWS], matrix.tolist(), strict=True):
        cells = "".join(
            f'<td style="text-align:center;padding:.15em .5em;background:rgba({_BLUE},{0.65 * value:.2f})">{_digits(value)}</td>'
            for value in row
        )
        body += f'<tr style="background:transparent"><th scope="row" style="{edge};text-align:left">{label}</th>{cells}</tr>'
    return (
        '<table style="border-collapse:collapse;background:transparent;margin:.5em 0 0 0">'
        f'<thead><tr><th style="{edge};text-align:left">y \\ x</th>{top}</tr></thead><tbody>{body}</tbody></table>'
    )


def _short(labels: Sequence[str]) -> list[str]:
    """As figures shorten them, without what only matplotlib needs."""
    return [as_text(label.replace(r"\$", "$")) for label in shortened(labels, _LONGEST)]


def _digits(value: float) -> str:
    return "" if value <= 0 else f"{value:.2f}" if value >= 0.005 else "&lt;.01"


def _listed(labels: Sequence[str]) -> str:
    text = ", ".join(_short(labels[:_MOST_LABELS]))
    return text + (f" and {len(labels) - _MOST_LABELS} more" if len(labels) > _MOST_LABELS else "")


def _left_out(*parts: tuple[int, int, str]) -> str:
    told = [f"{count - most} of {count} {what}" for count, most, what in parts if count > most]
    return f"Not shown: {' and '.join(told)}." if told else ""


def _bar(share: float, width: int) -> str:
    filled = max(0.0, min(1.0, share))
    return (
        f'<div style="width:{width}px;height:.7em;border:{_LINE};display:inline-block;margin-left:.6em">'
        f'<div style="width:{100 * filled:.1f}%;height:100%;background:rgba({_BLUE},.8)"></div></div>'
    )


def _percent_up(share: float) -> str:
    """Rounded up: a bound must not look smaller than it is."""
    return f"{up(100 * min(max(share, 0.0), 1.0), 3)}%"


def _percent_down(share: float) -> str:
    return f"{math.floor(1000 * share) / 10:.1f}%"


def _curves(regions: Sequence[Region], useful: Sequence[float]) -> str:
    """What is kept against epsilon, a line for each alpha; nothing of promises without these."""
    lines: dict[float, list[tuple[float, float]]] = {}
    for region, share in zip(regions, useful, strict=True):
        if not isinstance(region, AlphaLift):
            return ""
        lines.setdefault(region.alpha, []).append((region.epsilon, share))
    most = max(epsilon for points in lines.values() for epsilon, _ in points)
    if len(regions) < 2 or most <= 0:
        return ""
    parts = []
    for place, alpha in enumerate(sorted(lines, reverse=True)):
        points = [_place(epsilon / most, share) for epsilon, share in sorted(lines[alpha])]
        colour = COLOURS[place % len(COLOURS)]
        parts.append(f'<polyline points="{_path(points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>' for x, y in points]
        parts.append(_named(points[-1][0], place, f"α = {alpha_text(alpha)}"))
    return _framed(parts, most)


def _band(envelope: Envelope, place: int, most: float) -> list[str]:
    """Both envelopes, in few steps: both rise, so on a step the lower one's left value and the upper one's right value hold."""
    epsilons, lower, upper = envelope.stairs
    steps = np.linspace(0, epsilons[-1], _STEPS + 1)
    low = lower[np.searchsorted(epsilons, steps[:-1], side="right") - 1]
    high = upper[np.searchsorted(epsilons, steps[1:])]
    ends: Array = np.repeat(steps, 2)[1:-1] / most
    below = [_place(*point) for point in zip(ends, np.repeat(low, 2), strict=True)]
    above = [_place(*point) for point in zip(ends, np.repeat(high, 2), strict=True)]
    colour = COLOURS[place % len(COLOURS)]
    return [
        f'<path d="M{_path(below)} {_path(above[::-1])}Z" fill="{colour}" style="fill-opacity:.35"/>',
        f'<polyline points="{_path(below)}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
        _named(below[-1][0], place, curve_label(envelope.family)),
    ]


def _place(along: float, share: float) -> tuple[float, float]:
    return _MARGIN + _WIDE * along, _TOP + _TALL * (1 - share)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _named(x: float, place: int, text: str) -> str:
    return _svg_text(x + 5, _TOP + 10 + 14 * place, text, COLOURS[place % len(COLOURS)], "start")


def _framed(parts: Sequence[str], most: float) -> str:
    """Lines in their axes."""
    axes = f'<path d="M{_MARGIN} {_TOP}V{_TOP + _TALL}H{_MARGIN + _WIDE}" fill="none" stroke="currentColor" stroke-opacity=".6"/>'
    texts = [
        _svg_text(_MARGIN - 4, _TOP + 4, "100%", "currentColor", "end"),
        _svg_text(_MARGIN - 4, _TOP + _TALL, "0%", "currentColor", "end"),
        _svg_text(_MARGIN + _WIDE, _HEIGHT - 22, f"ε = {most:.4g}", "currentColor", "end"),
        _svg_text(_MARGIN, _HEIGHT - 22, "0: private", "currentColor", "start"),
    ]
    return (
        f'<svg role="img" aria-label="share of the information kept against epsilon" width="{_WIDTH}" height="{_HEIGHT - 14}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT - 14}" style="max-width:100%">{"".join([axes, *parts, *texts])}</svg>'
    )


def _svg_text(x: float, y: float, text: str, colour: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" fill="{colour}" text-anchor="{anchor}">{as_text(text)}</text>'
