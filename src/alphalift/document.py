"""A design as JSON: labels, promise, P_{Y|X} and figures, for other programs."""

from __future__ import annotations

import json
import math
from typing import Any

from alphalift.measures import epsilon_max
from alphalift.regions import AlphaLift
from alphalift.solution import Solution


def to_document(solution: Solution) -> dict[str, Any]:
    """The solution as plain lists, numbers and texts; infinity is the text "inf"."""
    mechanism, region = solution.mechanism, solution.region
    document: dict[str, Any] = {
        "format": "alphalift-design",
        "version": 1,
        "region": {"name": type(region).__name__, **_json_numbers(region.parameters)},
        "status": solution.status.name.lower(),
        "utility": solution.utility,
        "normalized_utility": solution.normalized_utility,
        "upper_bound": solution.upper_bound,
        "relative_gap": solution.relative_gap,
        "max_lift_leakage": mechanism.leakage(math.inf),
        "s_labels": list(solution.joint.s_labels),
        "x_labels": list(solution.joint.x_labels),
        "y_labels": list(mechanism.y_labels),
        "p_y": mechanism.p_y.tolist(),
        "p_y_given_x": mechanism.p_y_given_x.tolist(),
    }
    if isinstance(region, AlphaLift):
        document["leakage"] = mechanism.leakage(region.alpha)
        document["epsilon_max"] = epsilon_max(solution.joint, region.alpha)
    return document


def to_json(solution: Solution) -> str:
    """The document as text that every JSON reader accepts."""
    return json.dumps(to_document(solution), indent=1, allow_nan=False) + "\n"


def _json_numbers(parameters: dict[str, float]) -> dict[str, float | str]:
    return {name: "inf" if math.isinf(value) else value for name, value in parameters.items()}
