"""A scikit-learn transformer that releases a column; needs scikit-learn, which nothing else here does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from alphalift.design import design
from alphalift.regions import Region
from alphalift.release import ONE_NAMESPACE, release
from alphalift.tables import read_joint


class Release(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replaces the useful columns of a data frame by their random release under a promise about the secret.

    `fit(X, y)` counts and designs: y is the secret, or None if `sensitive` names a column of X. `transform(X)` draws every
    record's output by its id (`record_id`, a column of X) and the key: the same record has the same output for ever, in
    training and afterwards. Values that were not in the fitted table are answered by the mechanism's law for them.
    """

    def __init__(
        self,
        region: Region,
        *,
        useful: str | Sequence[str],
        record_id: str,
        key: bytes,
        sensitive: str | Sequence[str] | None = None,
        namespace: str = ONE_NAMESPACE,
    ) -> None:
        self.region, self.useful, self.record_id, self.key = region, useful, record_id, key
        self.sensitive, self.namespace = sensitive, namespace

    def fit(self, X: Any, y: Any = None) -> Release:  # noqa: N803
        """Design the mechanism for the joint of the secret and the useful columns."""
        if (y is None) == (self.sensitive is None):
            raise ValueError("give the secret either as y or as the name of a column, sensitive")
        table, secret = X, self.sensitive
        if y is not None:
            secret = "alphalift secret"
            table = (
                X.assign(**{secret: np.asarray(y)})
                if hasattr(X, "assign")
                else X.with_columns(**{secret: np.asarray(y)})
            )
        self.solution_ = design(read_joint(table, sensitive=secret or "", useful=self.useful), self.region)
        self.n_features_in_ = len(X.columns)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """The released labels, (rows, 1)."""
        check_is_fitted(self, "solution_")
        unseen = "answer" if self.solution_.integers and self.solution_.integers.unseen else "refuse"
        done = release(
            self.solution_,
            X,
            useful=self.useful,
            record_id=self.record_id,
            key=self.key,
            namespace=self.namespace,
            unseen=unseen,  # type: ignore[arg-type]
            with_ids=False,
        )
        if done.table is None:
            raise ValueError("nothing was released")
        return np.asarray(done.table.column(0).to_pylist(), dtype=object)[:, None]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        names = [self.useful] if isinstance(self.useful, str) else list(self.useful)
        return np.array(["released " + " and ".join(names)], dtype=object)
