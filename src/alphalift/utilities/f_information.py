"""f-information: how far, on average, a release moves the distribution of X, by an f-divergence.

I. Csiszár, "A class of measures of informativity of observation channels", 1972. Divergences as in Y. Polyanskiy, Y. Wu, "Information theory:
from coding to learning", 2025, chapter 7; but Jensen-Shannon is that of J. Lin, "Divergence measures based on the Shannon entropy", 1991,
with weights of 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from alphalift.arrays import Array
from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.utilities.base import Utility
from alphalift.utilities.mutual_information import minus_v_log_v

# A user's f may miss f(1) = 0 by this, and convexity by this share of its values: what roundings do.
_SLACK = 1e-9
# Where convexity is looked at: ratios t = P(x|y) / P(x) from next to 0 to the largest one, as many for each.
_LOOKED_AT, _LEAST_RATIO, _USUAL_RATIO = 400, 1e-6, 1e3


@dataclass(frozen=True)
class FInformation(Utility):
    """E_Y D_f(P_{X|Y} || P_X) = E_Y sum_x P(x) f(P(x|Y) / P(x)), f convex with f(1) = 0 and f(0) finite.

    `f` is a name: kl (mutual information, t log t), chi_square ((t - 1)^2), total_variation (|t - 1| / 2), hellinger
    ((1 - sqrt t)^2), jensen_shannon ((t log(2t / (1 + t)) + log(2 / (1 + t))) / 2) or le_cam ((t - 1)^2 / (2 (t + 1))). Or it is a
    convex function of one float, for which designs are found, with a bound in floats, and no file claims what they are worth.

    h(V) = sum_x P(x) g(V_x / P(x)), where g(t) is f(0) - f(t) and, perhaps, a multiple of t, which changes nothing.
    """

    f: str | Callable[[float], float]
    p_x: Array | None = field(default=None, repr=False, compare=False, kw_only=True)
    unit: str = field(init=False, default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.f, str):
            if self.f not in CURVES:
                near = get_close_matches(self.f, CURVES, n=1, cutoff=0.4)
                meant = f", perhaps {near[0]!r}" if near else ""
                raise SettingError(f"there is no f-divergence {self.f[:40]!r}{meant}; there are {', '.join(CURVES)}")
            object.__setattr__(self, "unit", CURVES[self.f].unit)
        elif not callable(self.f):
            raise SettingError(
                f"f is a name ({', '.join(CURVES)}) or a convex function of one float, not {self.f!r:.40}"
            )
        else:
            _require_convex(self.f, _USUAL_RATIO)

    def on(self, joint: Joint) -> Utility:
        if not isinstance(self.f, str):
            _require_convex(self.f, max(_USUAL_RATIO, 1 / float(joint.p_x.min())))
        return replace(self, p_x=joint.p_x)

    @property
    def parameters(self) -> dict[str, Any] | None:
        return {"f": self.f} if isinstance(self.f, str) else None

    def kept(self, useful: str) -> str:
        named = CURVES[self.f].words if isinstance(self.f, str) else "f-information"
        return f"{named} in {useful}"

    def compiled_curve(self) -> Any:
        from alphalift.utilities.compiled_curves import curve_of, named_curve

        return named_curve(CURVES[self.f].g) if isinstance(self.f, str) else curve_of(self.f)

    def scales(self, p_x: Array) -> Array:
        return np.array(p_x)  # kernels take what may be written to

    def uncertainty(self, points: Array) -> Array:
        if self.p_x is None:
            raise SettingError(f"{self} depends on P_X: ask {self}.on(joint)")
        return np.asarray(self.terms(points, self.p_x).sum(axis=1))

    def of_publishing_all(self, p_x: Array) -> float:
        certain = self.terms(np.ones((1, len(p_x))), p_x)[0]  # h of "certainly x", for every x
        return max(0.0, float(self.uncertainty(p_x[None])[0] - p_x @ certain))


class Curve(NamedTuple):
    """g by its compiled form: g(t, 0) = f(0) - f(t) + c t for some c, g(t, 1) = g'(t), g(0, 2) the place of a kink; and words."""

    g: Callable[[float, int], float]
    words: str
    unit: str = ""


# Each loses no digits: it is one term, or terms of one sign.


def _chi_square(t: float, order: int) -> float:
    return -2.0 * t if order == 1 else -t * t


def _total_variation(t: float, order: int) -> float:
    if order == 1:
        return 1.0 if t < 1.0 else 0.0
    return 1.0 if order == 2 else min(t, 1.0)


def _hellinger(t: float, order: int) -> float:
    return 1.0 / math.sqrt(t) if order == 1 else 2.0 * math.sqrt(t)


def _jensen_shannon(t: float, order: int) -> float:
    if t <= 0.0:
        return math.inf if order == 1 else 0.0
    rise = math.log1p(1.0 / t) if t >= 1.0 else math.log1p(t) - math.log(t)
    return 0.5 * rise if order == 1 else 0.5 * (t * rise + math.log1p(t))


def _le_cam(t: float, order: int) -> float:
    return 2.0 / (1.0 + t) ** 2 if order == 1 else 2.0 * t / (1.0 + t)


CURVES = {
    "kl": Curve(minus_v_log_v, "information", "nats"),
    "chi_square": Curve(_chi_square, "chi-square information"),
    "total_variation": Curve(_total_variation, "total-variation information"),
    "hellinger": Curve(_hellinger, "squared Hellinger information"),
    "jensen_shannon": Curve(_jensen_shannon, "Jensen-Shannon information", "nats"),
    "le_cam": Curve(_le_cam, "Le Cam information"),
}


# --- a user's own f ---


def _require_convex(f: Callable[[float], float], largest: float) -> None:
    """Refuses what is no such f, as far as values at many ratios up to the largest one show."""
    ratios = np.concatenate([np.linspace(0, 3, _LOOKED_AT), np.geomspace(_LEAST_RATIO, largest, _LOOKED_AT), [1.0]])
    ratios = np.unique(ratios)
    try:
        values = np.array([float(f(float(t))) for t in ratios])
        at_one = float(f(1.0))
    except Exception as error:
        raise SettingError(f"f must be defined for every t from 0 on, f(0) included: {type(error).__name__}") from None
    if not math.isfinite(values[0]):
        raise SettingError("f(0) must be finite: what a release rules out would be worth more than any number")
    if not np.isfinite(values).all():
        raise SettingError(f"f must be finite, and is not at t = {ratios[~np.isfinite(values)][0]:.4g}")
    if abs(at_one) > _SLACK:
        raise SettingError(f"f(1) must be 0, and is {at_one:.4g}: subtract it")
    share = (ratios[1:-1] - ratios[:-2]) / (ratios[2:] - ratios[:-2])
    above = values[1:-1] - (1 - share) * values[:-2] - share * values[2:]
    size = np.abs(values[:-2]) + np.abs(values[1:-1]) + np.abs(values[2:])
    if (bent := above > _SLACK * (1 + size)).any():
        t = ratios[1:-1][bent][0]
        raise SettingError(f"f must be convex, and is not near t = {t:.4g}: publishing less could be worth more")
