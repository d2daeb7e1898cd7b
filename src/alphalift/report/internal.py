"""The report for whoever holds the table: everything, with shares of the table in it."""

from __future__ import annotations

import shlex
from fractions import Fraction
from importlib.metadata import version

import numpy as np

from alphalift.curve import curve
from alphalift.errors import PromiseError, SettingError, SolverError
from alphalift.proof.said import line_about
from alphalift.regions import After, AlphaLift
from alphalift.release.likeness import is_unlike
from alphalift.report.filed import Filed
from alphalift.report.page import Html, Section, code, facts, figures, page, paragraph, picture, sentences, table
from alphalift.report.pictures import as_svg
from alphalift.report.rows import ReleasedRows
from alphalift.show.caution import cautions
from alphalift.show.heat import plot_mechanism
from alphalift.show.kept import plot_kept
from alphalift.show.lifts import plot_lifts
from alphalift.show.plots import plot_curve
from alphalift.show.text import printable, up
from alphalift.show.words import Description, description, largest_lifts
from alphalift.solution import Solution

# A curve that is not known so well in its time is left out: what is drawn must not depend on the machine.
_CURVE_WITHIN = 0.05
_PRIVATE = "Internal: this report has shares of the table and is as private as the table."


def internal_report(
    filed: Filed,
    *,
    file: str,
    opening: str | None = None,
    released: ReleasedRows | None = None,
    date: str | None = None,
    curve_seconds: float = 20.0,
) -> str:
    """The page; `file` and `opening` are the names of what was read, as a reader types them to verify it."""
    solution, secret, useful = filed.solution, filed.secret, filed.useful
    told = description(solution, secret=secret, useful=useful, filed=True)
    sections = [
        Section("promise", "What is promised", _promise(told, solution, secret, useful)),
        Section("open", "What is not covered", _open(told, filed)),
        Section("kept", "What is kept", _kept(told, solution, useful)),
        Section("curve", "What another budget would keep", _curve(solution, secret, useful, curve_seconds)),
        Section("mechanism", "The mechanism", _mechanism(solution, secret, useful)),
        Section("several", "Several releases", [paragraph(several(filed)), *_together(solution, secret)]),
        *([] if released is None else [Section("released", "The released file", _released(filed, released))]),
        Section("proof", "What is proven", _proof(filed, file, opening)),
        Section("made", "How it was made", [facts(_made(filed, file))]),
    ]
    title = f"Release of {useful}, protecting {secret}"
    return page(title, f"{f'{date}. ' if date else ''}{_PRIVATE}", [_glance(filed)], sections, _foot())


def _foot() -> str:
    return f"Written by alphalift {version('alphalift')}. The same files give the same report."


def _glance(filed: Filed) -> Html:
    """The four numbers that are asked for first, as the sentences below have them."""
    solution = filed.solution
    worst = largest_lifts(solution)
    kept = solution.utility_function.kept(filed.useful)
    proven = [verdict.proven for verdict in filed.stored.verdicts]
    return figures(
        [
            (f"{solution.normalized_utility:.1%}", f"of the {kept} is kept"),
            (
                f"≤ {up(100 * solution.relative_gap, 3)}%",
                "of it lies between this design and what no mechanism exceeds",
            ),
            (
                f"{up(float(worst.max()), 2)} ×",
                f"as likely is the most that a group becomes here: {printable(solution.joint.s_labels[int(worst.argmax())])}",
            ),
            (f"{sum(proven)} of {len(proven)}", "claims of the file are proven"),
        ]
    )


def _promise(told: Description, solution: Solution, secret: str, useful: str) -> list[Html]:
    drawn = plot_lifts(solution, secret=secret, useful=useful)
    caption = (
        "Every released value against the promise. Left: what is bounded, with the budget. Right: how many times as likely each "
        f"group of {secret} becomes; dashed is the most that the promise alone allows it."
    )
    return [
        paragraph(told.promise, kind="lead"),
        sentences([*told.on_average, *told.groups]),
        sentences(told.meaning),
        picture(as_svg(drawn, "lifts", f"{caption} {' '.join(line.strip() for line in told.groups)}"), caption),
    ]


def _open(told: Description, filed: Filed) -> list[Html]:
    """What nobody promises; what is stated of the population and not proven."""
    stated = line_about(dict(filed.document))
    population = told.population or [f"The p{stated[1:]}."]
    few = cautions(filed.solution.joint, secret=filed.secret, useful=filed.useful)
    return [sentences([told.not_covered, *population, *told.assumed, *few])]


def _kept(told: Description, solution: Solution, useful: str) -> list[Html]:
    caption = (
        f"{useful} as it is, at the left, and as it is released. A band is as wide as value and output are frequent together; an "
        "output with one band tells its value."
    )
    drawn = plot_kept(solution.mechanism, useful=useful)
    return [
        sentences([told.designed, told.status]),
        picture(as_svg(drawn, "kept", f"{caption} {told.designed}"), caption),
    ]


def _mechanism(solution: Solution, secret: str, useful: str) -> list[Html]:
    outputs, values = solution.mechanism.law.shape
    caption = (
        f"Left: P(y|x), how often each of {values} values of {useful} is released as each of {outputs} outputs. Right: how many times as "
        f"likely each value of {secret} becomes, P(s|y)/P(s); white is 1."
    )
    drawn = plot_mechanism(solution.mechanism, secret=secret, useful=useful)
    return [picture(as_svg(drawn, "mechanism", caption), caption)]


def _curve(solution: Solution, secret: str, useful: str, seconds: float) -> list[Html]:
    """The band of every budget with this design in it, or why there is none."""
    region = solution.region
    parameters = dict(region.parameters)
    if seconds <= 0:
        return [paragraph("Left out, as asked for: `alphalift curve` draws it.")]
    if isinstance(region, After) or "epsilon" not in parameters:
        return [paragraph("Left out: this promise is not one of a single budget for one release.")]
    epsilon = parameters.pop("epsilon")
    kind = AlphaLift if isinstance(region, AlphaLift) and "alpha" in parameters else type(region)
    try:
        found = curve(
            solution.joint,
            kind,
            accuracy=_CURVE_WITHIN,
            utility=solution.utility_function,
            time_limit=seconds,
            **parameters,
        )
    except (PromiseError, SettingError, SolverError) as error:
        return [paragraph(f"Left out: {error}.")]
    if found.accuracy > _CURVE_WITHIN:
        return [
            paragraph(
                f"Left out: in {seconds:g} s it was not known to within {_CURVE_WITHIN:.0%} at every budget. `alphalift curve` takes longer."
            )
        ]
    caption = (
        f"What each budget keeps of {useful}, for the records alone: the optimum lies in the band, and the star is this design. A "
        "design that leaves room for chance, or of few bits, lies below the band. Below: what each budget lets the rarest group gain at most, "
        "whatever the mechanism."
    )
    drawn = plot_curve(found, secret=secret, useful=useful, mark=(epsilon, solution.normalized_utility))
    return [picture(as_svg(drawn, "curve", caption), caption)]


def several(filed: Filed) -> str:
    """What it comes after, and what that means."""
    earlier = filed.stored.after
    if earlier is None:
        return (
            "This design counts in no other release about the same people. Two columns that tell nothing each may tell everything "
            "together: a further one is designed after this (`alphalift design --after`), or the promise is not known to hold for both."
        )
    names = [" and ".join(own.columns) or "a column without a name" for own in earlier.variables]
    return (
        f"It comes after {len(names)} other release{'s' * (len(names) != 1)} about the same people, of {', '.join(names)}. The promise is "
        "about the outputs of all of them seen together with this one's, and so are the figures above. Releases that are not named "
        "here are not counted in."
    )


def _together(solution: Solution, secret: str) -> list[Html]:
    """Of every group what the releases before tell alone, beside what all tell together."""
    region = solution.region
    if not isinstance(region, After):
        return []
    before = region.together(np.ones((1, len(region.known.p_s)))).max(axis=0)
    rows = [
        (printable(label), f"{share:.1%}", f"{up(float(alone), 2)} ×", f"{up(float(both), 2)} ×")
        for label, share, alone, both in zip(
            solution.joint.s_labels, solution.joint.p_s, before, largest_lifts(solution), strict=True
        )
    ]
    title = f"How many times as likely each value of {printable(secret)} becomes at most"
    return [table(title, [secret, "share", "by the releases before", "by all together"], rows, left=(0,))]


def _released(filed: Filed, released: ReleasedRows) -> list[Html]:
    solution, integers = filed.solution, filed.stored.integers
    masses = solution.joint.x_weights
    whole = solution.joint.total << integers.bits
    p_y = [float(Fraction(sum(masses[x] * own for x, own in row.items()), whole)) for row in integers.weights]
    unlike = is_unlike(released.counts, integers, filed.stored.joint)
    verdict = (
        "These outputs do not look like the table that was designed for: for other people the promise is not known to hold."
        if unlike
        else "The outputs are as frequent as chance and the table that was designed for explain."
    )
    checked = (
        "`alphalift audit release` draws every row again, with the key; here nothing more than this was looked at."
    )
    return [
        paragraph(f"{released.name} has {released.rows} rows. {verdict} {checked}"),
        *released.frequencies(p_y),
        *released.told(),
    ]


def _proof(filed: Filed, file: str, opening: str | None) -> list[Html]:
    command = shlex.join(["alphalift", "verify", file, *(["--opening", opening] if opening else [])])
    verdicts = [(own.claim, "proven" if own.proven else "NOT PROVEN", own.text) for own in filed.stored.verdicts]
    figures_too = (
        ""
        if filed.document["claims"]
        else "The file claims nothing about what the mechanism is worth: figures of that are floats."
    )
    return [
        paragraph(Html(f"{code(command).code} proves every line again, without trusting any solver:")),
        table(
            "Every claim of the file, and the checker's verdict", ["claim", "verdict", "what"], verdicts, left=(0, 1, 2)
        ),
        paragraph(
            "Claims are about the counts in the file. Nothing is signed: compare them with the table. " + figures_too
        ),
    ]


def _made(filed: Filed, file: str) -> dict[str, str | Html]:
    provenance, table_of = filed.document["provenance"], filed.solution.joint.origin
    joint = filed.solution.joint
    told: dict[str, str | Html] = {
        "file": file,
        "SHA-256 of the file": code(filed.sha256),
        "identity": code(filed.stored.integers.identity),
        "made with": provenance["package"],
        "how, as the file states": provenance["solver"] or "not stated",
        "status, as the file states": provenance["status"].replace("_", " "),
        "sizes": f"{len(joint.s_labels)} values of {filed.secret}, {len(joint.x_labels)} of {filed.useful}, {len(filed.stored.integers.weights)} outputs",
    }
    if joint.n is not None:
        told["records"] = str(joint.n)
    if table_of is not None and table_of.bins:
        told["bins"] = "; ".join(
            f"{column}: {', '.join(f'{edge:g}' for edge in edges)}" for column, edges in table_of.bins
        )
    if filed.withheld:
        told["counts"] = "withheld from the file, behind a commitment that the opening reveals"
    return told
