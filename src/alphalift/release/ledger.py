"""The ledger: which mechanisms have answered for which records, so that no second one does so unnoticed.

A record answered by two mechanisms has leaked what both outputs tell together. Records that are the same people have
the same namespace; a second mechanism for it is refused unless it is asked for, and then what both leak is computed.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphalift.errors import InputError
from alphalift.exact import Array
from alphalift.joint import Joint
from alphalift.measures import epsilon_max
from alphalift.proof import Integers, as_floats

# Combinations of outputs that are looked at one by one; beyond it the bound is what publishing X itself would tell.
_MOST_COMBINATIONS = 2_000_000


@dataclass(frozen=True)
class Composition:
    """What the outputs of several mechanisms for one record tell together: the largest log-lift, in nats."""

    mechanisms: int
    max_lift_leakage: float
    exact: bool

    def __str__(self) -> str:
        how = "up to" if self.exact else "by a bound at most"
        return (
            f"{self.mechanisms} mechanisms have now answered for these records: together their outputs make a secret "
            f"{how} e^{self.max_lift_leakage:.4f} = {math.exp(self.max_lift_leakage):.3f} times as likely; no single promise covers that"
        )


class Ledger:
    """An SQLite file, as private as the key that it lies beside: it holds the mechanisms themselves."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def admit(
        self, namespace: str, mechanism: Integers, joint: Joint, *, new_release: bool = False
    ) -> Composition | None:
        """Write down that this mechanism answers for the namespace, before it does; refuse a second one unless told.

        Returns what all of them leak together, where there are several.
        """
        # Made here, so that nobody else can read it.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(sqlite3.connect(self.path, timeout=60, isolation_level=None)) as base:
            base.execute("PRAGMA synchronous = FULL")
            base.execute("BEGIN IMMEDIATE")
            base.execute(
                "CREATE TABLE IF NOT EXISTS release (namespace TEXT, identity TEXT, mechanism TEXT, "
                "PRIMARY KEY (namespace, identity))"
            )
            rows = base.execute("SELECT identity, mechanism FROM release WHERE namespace = ?", (namespace,)).fetchall()
            known = {identity: _load(text) for identity, text in rows}
            if mechanism.identity not in known:
                if known and not new_release:
                    base.execute("ROLLBACK")
                    raise InputError(
                        f"another mechanism has answered for the namespace {namespace!r}; a second one for the same "
                        "records leaks more than its promise says. Use the old mechanism, another namespace if these "
                        "are other people, or --new-release to do it and be told what both leak"
                    )
                text = json.dumps([mechanism.labels, mechanism.bits, mechanism.weights, mechanism.unseen])
                base.execute("INSERT INTO release VALUES (?, ?, ?)", (namespace, mechanism.identity, text))
                known[mechanism.identity] = mechanism
            base.execute("COMMIT")
        return composed(list(known.values()), joint) if len(known) > 1 else None


def _load(text: str) -> Integers:
    return Integers(*json.loads(text))


def composed(mechanisms: list[Integers], joint: Joint) -> Composition:
    """The largest log-lift of all outputs together, drawn independently given x; or a bound where that is too many."""
    combinations = math.prod(len(mechanism.weights) for mechanism in mechanisms)
    same = all(tuple(mechanism.labels["x"]) == joint.x_labels for mechanism in mechanisms)
    if combinations > _MOST_COMBINATIONS or not same:
        return Composition(len(mechanisms), epsilon_max(joint, math.inf), exact=False)
    together: Array = joint.p_x[None]
    for mechanism in mechanisms:
        law = as_floats(mechanism.weights, mechanism.bits)
        together = (together[:, None, :] * law[None]).reshape(-1, len(joint.p_x))
    together = together[together.sum(axis=1) > 0]
    lifts = (together / together.sum(axis=1, keepdims=True)) @ joint.lift.T
    return Composition(len(mechanisms), max(0.0, float(np.log(lifts.max()))), exact=True)
