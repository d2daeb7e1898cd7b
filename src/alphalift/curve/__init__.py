"""Curves: what every budget keeps, between two certified envelopes, from budgets solved for one by one (`steps`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from alphalift.clock import Clock
from alphalift.curve.envelope import Bracket, Curve, Envelope
from alphalift.curve.family import Family
from alphalift.curve.setting import Setting
from alphalift.curve.steps import in_steps
from alphalift.errors import SettingError
from alphalift.joint import Joint, require_joint
from alphalift.regions import Region
from alphalift.utilities import Utility, as_utility

__all__ = ["Bracket", "Curve", "Envelope", "Family", "curve"]


def curve(
    joint: Joint,
    promise: Callable[..., Region],
    *,
    accuracy: float = 1e-3,
    utility: Utility | str | None = None,
    time_limit: float = 60.0,
    up_to: float | None = None,
    **parameters: float | Sequence[float],
) -> Curve:
    """What every epsilon keeps, between envelopes that are at most `accuracy` apart: `curve(joint, AlphaLift, alpha=[inf, 10, 3])`.

    `promise` is a kind of promise with one epsilon, or a function of it, such as `lambda epsilon: OnAverage(KL(epsilon))`; `parameters` are
    its others, each a number or several. Epsilon goes from 0 to where
    X may be published, or to `up_to`. When the seconds of `time_limit` are over, or at Ctrl-C, envelopes are as far apart as they are
    then, which `accuracy` of the result says.
    """
    if not 0 < accuracy < 1:
        raise SettingError(f"accuracy is {accuracy:g}, expected a number between 0 and 1")
    if not time_limit > 0:
        raise SettingError(f"time_limit is {time_limit:g}, expected seconds above 0")
    joint, worth = require_joint(joint), as_utility(utility)
    values = {name: list(np.atleast_1d(value)) for name, value in parameters.items()}
    families = [
        Family(promise, dict(zip(values, map(float, own), strict=True))) for own in itertools.product(*values.values())
    ]
    if not families:
        raise SettingError("a parameter has no value; expected one or more")
    clock = Clock(time_limit)
    settings = [Setting.of(family, joint, worth, accuracy, clock, up_to) for family in families]
    return Curve((in_steps(settings[0]),) if len(settings) == 1 else _side_by_side(settings, clock))


def _side_by_side(settings: list[Setting], clock: Clock) -> tuple[Envelope, ...]:
    """An envelope each, all at once, so that they share the time evenly: what takes long lets other threads run. Ctrl-C ends them all."""
    with ThreadPoolExecutor(len(settings)) as pool:
        under_way = [pool.submit(in_steps, setting) for setting in settings]
        try:
            return tuple(own.result() for own in under_way)
        except KeyboardInterrupt:
            clock.end()
            return tuple(replace(own.result(), interrupted=True) for own in under_way)
