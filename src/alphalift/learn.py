"""A scikit-learn transformer that releases a column; needs scikit-learn, which nothing else here does."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from alphalift.design import design
from alphalift.regions import Region
from alphalift.release import ONE_NAMESPACE, Key, Ledger, Plan, release
from alphalift.tables import read_joint

# What the secret is called that comes as y.
_Y = "alphalift secret"


__all__ = ["Release"]


class Release(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replaces the useful columns of a data frame by their random release under a promise about the secret.

    `fit(X, y)` counts and designs: y is the secret, or None if `sensitive` names a column of X. `transform(X)` draws every
    record's output by its id (`record_id`, a column of X) and the key: the same record has the same output at every call,
    in training and afterwards. Values that were not in the fitted table are answered by the mechanism's law for them.

    Fitting again on other rows designs another mechanism, whose outputs are another release about the same people. The
    ledger beside the key refuses it (cross-validation included) unless `new_release` says that it is meant; fit once and
    keep what was fitted. The key is never shown, nor pickled (a pickle names its file); `transform` is a release like any other, and is remembered,
    and what a steward should know of it is a warning.
    """

    def __init__(
        self,
        region: Region,
        *,
        useful: str | Sequence[str],
        record_id: str,
        key: Key,
        sensitive: str | Sequence[str] | None = None,
        namespace: str = ONE_NAMESPACE,
        ledger: Ledger | Literal["beside", "none"] = "beside",
        new_release: bool = False,
    ) -> None:
        self.region, self.useful, self.record_id, self.key = region, useful, record_id, key
        self.sensitive, self.namespace = sensitive, namespace
        self.ledger, self.new_release = ledger, new_release

    def fit(self, X: Any, y: Any = None) -> Release:  # noqa: N803
        """Design the mechanism for the joint of the secret and the useful columns."""
        if (y is None) == (self.sensitive is None):
            raise ValueError("give the secret either as y or as the name of a column, sensitive")
        table, secret = X, self.sensitive
        if y is not None:
            secret, column = _Y, {_Y: np.asarray(y)}
            table = X.assign(**column) if hasattr(X, "assign") else X.with_columns(**column)
        self.solution_ = design(read_joint(table, sensitive=secret or "", useful=self.useful), self.region)
        self.plan_ = self._plan()
        self.n_features_in_ = len(X.columns)
        return self

    def _plan(self) -> Plan:
        law = self.solution_.integers and self.solution_.integers.unseen
        return Plan(
            mechanism=self.solution_,
            key=self.key,
            record_id=self.record_id,
            namespace=self.namespace,
            show_ids="none",
            unseen="answer" if law else "refuse",
            ledger=self.ledger,
            new_release=self.new_release,
            new_people=True,  # what was fitted is there for further records; a warning tells of them
        )

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The released labels, (rows, 1); of several columns, one column for each and the code (`get_feature_names_out`)."""
        check_is_fitted(self, "solution_")
        released = release(self.plan_, X)
        for notice in released.notices:
            warnings.warn(notice, UserWarning, stacklevel=2)
        table = released.table
        return np.column_stack([np.asarray(table[name], dtype=object) for name in self.plan_.outputs.columns()])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the released columns."""
        check_is_fitted(self, "solution_")
        return np.array(self.plan_.outputs.columns(), dtype=object)
