"""The scikit-learn transformer."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from alphalift import MaxLift
from alphalift.learn import Release


def people(rows=2000):
    rng = np.random.default_rng(0)
    job = rng.choice(["cook", "clerk", "driver"], rows)
    return pd.DataFrame(
        {"id": np.arange(rows), "job": job, "ill": rng.random(rows) < np.where(job == "cook", 0.6, 0.2)}
    )


def transformer(**options):
    return Release(MaxLift(0.1), useful="job", record_id="id", key=bytes(32), **options)


def test_fit_and_transform_keep_the_promise_and_the_draws():
    table = people()
    fitted = transformer(sensitive="ill").fit(table)
    assert fitted.solution_.mechanism.check(MaxLift(0.1))
    drawn = fitted.transform(table)
    assert drawn.shape == (2000, 1)
    np.testing.assert_array_equal(fitted.transform(table.iloc[::-1])[::-1], drawn)
    by_y = transformer().fit(table[["id", "job"]], table["ill"])
    np.testing.assert_array_equal(by_y.transform(table), drawn)
    assert clone(fitted).get_params()["region"] == MaxLift(0.1)


def test_set_output_and_pipelines():
    table = people()
    frame = transformer(sensitive="ill").set_output(transform="pandas").fit(table).transform(table)
    assert list(frame.columns) == ["released job"]
    pipeline = make_pipeline(transformer(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    assert 0.5 < pipeline.fit(table[["id", "job"]], table["ill"]).score(table[["id", "job"]], table["ill"]) < 0.9


def test_the_secret_is_given_once():
    for options, y in (({}, None), ({"sensitive": "ill"}, people()["ill"])):
        with pytest.raises(ValueError, match="either as y or"):
            transformer(**options).fit(people(), y)
