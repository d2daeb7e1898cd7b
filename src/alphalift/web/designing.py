"""Curves and designs of a choice, as the page draws them; the mechanism goes to a file of the page's private folder."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from alphalift.arrays import dense
from alphalift.clock import Clock
from alphalift.curve import Envelope, curve
from alphalift.design import design
from alphalift.document import save, to_json
from alphalift.joint import Joint
from alphalift.proof import checker
from alphalift.regions import AlphaLift
from alphalift.show.rarest import rarest_gain
from alphalift.show.text import printable, up
from alphalift.show.words import description, largest_lifts, what_a_file_proves
from alphalift.solution import Solution
from alphalift.solvers import Optimal, Progress
from alphalift.tasks import Wish, document_of
from alphalift.web.choice import Choice, Columns
from alphalift.web.looking import joint_of
from alphalift.web.same import MECHANISM

# As `alphalift design` has them, so that the command makes the same file.
_TIME_LIMIT, _FILE_SHARE = 60.0, 0.3
# A curve is drawn coarsely, then finer: how near its envelopes are to be, and for how many seconds.
_STAGES = ((0.1, 15.0), (0.03, 30.0), (0.01, 60.0))
_DRAWN = 161  # points of it that are drawn
# Outputs, values and groups that are drawn, the most frequent ones.
_MOST_SHOWN = 40


def draw_curve(given: dict[str, Any], tell: Callable[..., None], hurried: Callable[[], bool]) -> dict[str, Any]:
    """The certified curve for the records alone, the finest that there was time for; every finer one is told at once."""
    columns, joint, begun = Columns.of(given), joint_of(given), time.monotonic()
    alpha, best = float(given["alpha"]), dict[str, Any]()
    for number, (accuracy, seconds) in enumerate(_STAGES):
        tell(best | {"stage": number + 1, "stages": len(_STAGES), "wanted": accuracy, "useful": columns.useful_name})
        (found,) = curve(joint, AlphaLift, accuracy=accuracy, time_limit=seconds, alpha=alpha)
        if not best or found.accuracy < best["accuracy"]:
            best = _drawn(found, alpha)
        if found.accuracy > accuracy:  # a finer one takes longer still
            break
    return best | {"took": round(time.monotonic() - begun, 1)}


def _drawn(found: Envelope, alpha: float) -> dict[str, Any]:
    epsilons, lower, upper = (own.tolist() for own in found.stairs)
    end = epsilons[-1]
    drawn = np.unique(np.append(np.linspace(0.0, end, _DRAWN), end)).tolist()
    ends = [found.at(epsilon) for epsilon in drawn]
    return {
        "accuracy": found.accuracy,
        "epsilons": epsilons,
        "lower": lower,
        "upper": upper,
        "drawn": {
            "epsilon": drawn,
            "lower": [own.lower for own in ends],
            "upper": [own.upper for own in ends],
            "gain": [rarest_gain(AlphaLift(alpha, epsilon), found.joint) for epsilon in drawn],
        },
    }


def design_one(given: dict[str, Any], tell: Callable[..., None], hurried: Callable[[], bool]) -> dict[str, Any]:
    """The exact design, proven, and its file."""
    choice, joint = Choice.of(given), joint_of(given)
    columns, clock, begun = choice.columns, Clock(_TIME_LIMIT), time.monotonic()

    def show(progress: Progress) -> None:
        tell({"gap": progress.relative_gap})

    wish = Wish.of(choice.region, joint, confidence=None, everybody=choice.everybody, after=False)
    solver = Optimal(time_limit=_TIME_LIMIT, progress=show, clock=clock.reserving(_FILE_SHARE * _TIME_LIMIT))
    source = columns.declared.source([*columns.sensitive, *columns.useful])
    solution = wish.told(design(joint, wish.asked, solver=solver, source=source))
    document = document_of(solution, clock)
    folder = Path(given["folder"])
    folder.mkdir(mode=0o700, exist_ok=True)
    save(document, folder / MECHANISM)
    verdicts = checker.check(json.loads(to_json(document)))
    lesser = what_a_file_proves(solution, document["claims"])
    return shown(solution, choice) | {
        "verdicts": [{"claim": own.claim, "proven": own.proven, "text": printable(own.text)} for own in verdicts],
        "file": lesser,
        "took": round(time.monotonic() - begun, 2),
    }


def shown(solution: Solution, choice: Choice) -> dict[str, Any]:
    """What is drawn of a design, and the library's sentences about it."""
    columns, joint, mechanism = choice.columns, solution.joint, solution.mechanism
    told = description(solution, secret=columns.secret_name, useful=columns.useful_name)
    worst = largest_lifts(solution)
    outputs, values, secrets = (_most(own) for own in (mechanism.p_y, joint.p_x, joint.p_s))
    law = dense(mechanism.law[outputs])[:, values]
    region = choice.region
    spent = [region.as_epsilon(float(own)) for own in region.value(mechanism.lift.T[outputs], joint.p_s)]
    return {
        "alpha": choice.alpha,
        "epsilon": choice.epsilon,
        "everybody": choice.everybody,
        "secret": printable(columns.secret_name),
        "useful": printable(columns.useful_name),
        "kept": solution.normalized_utility,
        "kept_words": f"{solution.normalized_utility:.1%}",
        "gap_words": f"{up(100 * solution.relative_gap, 3)}%",
        "most": f"{up(float(worst.max()), 2)}",
        "most_group": printable(joint.s_labels[int(worst.argmax())]),
        "status": solution.status.value,
        "sizes": [len(mechanism.p_y), len(joint.x_labels), len(joint.s_labels)],
        "x_labels": [printable(joint.x_labels[x]) for x in values],
        "y_labels": [printable(mechanism.y_labels[y]) for y in outputs],
        "s_labels": [printable(joint.s_labels[s]) for s in secrets],
        "law": np.round(law, 4).tolist(),
        "lifts": np.round(mechanism.lift.T[outputs][:, secrets], 3).tolist(),
        "p_y": [float(mechanism.p_y[y]) for y in outputs],
        "spent": [max(0.0, own) for own in spent],
        "groups": [_group(solution, worst, s) for s in secrets],
        "words": {
            "promise": told.promise,
            "designed": told.designed,
            "groups": told.groups,
            "meaning": told.meaning,
            "status": told.status,
            "proof": told.proof,
            "population": told.population,
            "open": told.not_covered,
        },
    }


def _group(solution: Solution, worst: Any, s: int) -> dict[str, Any]:
    joint = solution.joint
    region = solution.region
    allowed = 1.0 if region.perfect else region.group_limit(np.arange(len(joint.p_s)) == s, joint.p_s)
    return {
        "label": printable(joint.s_labels[s]),
        "share": f"{joint.p_s[s]:.1%}",
        "here": float(worst[s]),
        "here_words": up(float(worst[s]), 2),
        "allowed": float(allowed),
        "allowed_words": up(float(allowed), 2),
    }


def _most(shares: Any) -> list[int]:
    """The numbers of the largest shares, in their own order."""
    return sorted(np.argsort(-np.asarray(shares), kind="stable")[:_MOST_SHOWN].tolist())


def warm() -> None:
    """Load what designs and curves need, kernels included."""
    joint = Joint([[5, 3, 2], [2, 4, 5], [3, 3, 4]], counts=True)
    design(joint, AlphaLift(3, 0.01))
    curve(joint, AlphaLift, accuracy=0.3, time_limit=1.0, alpha=3)


ACTS = {"curve": draw_curve, "design": design_one}
