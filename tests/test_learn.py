"""The scikit-learn transformer."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from alphalift import InputError, MaxLift
from alphalift.learn import Release
from alphalift.release import Key, Ledger, new_key

# The steward is told of it, which is tested below.
pytestmark = pytest.mark.filterwarnings("ignore:no ledger remembers", "ignore:this is the first release")


def people(rows=2000):
    rng = np.random.default_rng(0)
    job = rng.choice(["cook", "clerk", "driver"], rows)
    return pd.DataFrame(
        {"id": np.arange(rows), "job": job, "ill": rng.random(rows) < np.where(job == "cook", 0.6, 0.2)}
    )


def transformer(**options):
    usual = {"useful": "job", "record_id": "id", "key": Key.of_bytes(b"S3CR3T" + bytes(26)), "ledger": "none"}
    return Release(MaxLift(0.1), **(usual | options))


def test_fit_and_transform_keep_the_promise_and_the_draws():
    table = people()
    fitted = transformer(sensitive="ill").fit(table)
    assert fitted.solution_.mechanism.check(MaxLift(0.1))
    drawn = fitted.transform(table)
    assert drawn.shape == (2000, 1)
    np.testing.assert_array_equal(fitted.transform(table.iloc[::-1])[::-1], drawn)
    by_y = transformer().fit(table[["id", "job"]], table["ill"])
    np.testing.assert_array_equal(by_y.transform(table), drawn)
    np.testing.assert_array_equal(fitted.transform(pl.from_pandas(table)), drawn)
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


def test_the_key_is_never_shown():
    fitted = transformer(sensitive="ill").fit(people())
    shown = [
        repr(fitted),
        str(fitted.get_params()),
        repr(make_pipeline(fitted)),
        fitted._repr_html_(),
        repr(vars(fitted)),
    ]
    assert not [text for text in shown if "S3CR3T" in text]


def test_a_refit_on_other_rows_is_another_release(tmp_path):
    """Without 7 of 4,000 rows it changed 24% of the outputs, and nobody was told."""
    key, table = new_key(tmp_path / "k"), people(4000)
    options = {"sensitive": "ill", "key": key, "ledger": "beside"}
    fitted = transformer(**options).fit(table)
    first = fitted.transform(table)
    np.testing.assert_array_equal(transformer(**options).fit(table).transform(table), first)
    refitted = transformer(**options).fit(table.iloc[7:])
    with pytest.raises(InputError, match="another mechanism"):
        refitted.transform(table)
    assert len(Ledger.beside(key).entries(key, "default")) == 1
    with pytest.warns(UserWarning, match="2 releases have now answered"):
        transformer(new_release=True, **options).fit(table.iloc[7:]).transform(table)
    assert len(Ledger.beside(key).entries(key, "default")) == 2


def test_a_ledger_is_the_default():
    with pytest.raises(InputError, match="no ledger beside it"):
        Release(MaxLift(0.1), useful="job", record_id="id", key=Key.of_bytes(bytes(32)), sensitive="ill").fit(people())
    with pytest.raises(InputError, match="a key is a Key"):
        transformer(key=bytes(32), sensitive="ill").fit(people())


def test_several_columns_become_several(tmp_path):
    table = people().assign(town=lambda frame: np.where(frame["id"] % 3 == 0, "north", "south"))
    fitted = transformer(useful=["job", "town"], sensitive="ill").fit(table)
    assert fitted.transform(table).shape == (2000, len(fitted.get_feature_names_out()))


def test_what_a_steward_should_know_is_a_warning(tmp_path):
    """Two columns that tell the secret together went without a word."""
    key, table = new_key(tmp_path / "k"), people().assign(town=lambda frame: np.where(frame["ill"], "north", "south"))
    options = {"sensitive": "ill", "key": key, "ledger": "beside", "new_release": True}
    transformer(**options).fit(table).transform(table)
    with pytest.warns(UserWarning, match="may tell the secret entirely"):
        transformer(useful="town", **options).fit(table).transform(table)
    with pytest.warns(UserWarning, match="no ledger remembers"):
        transformer(sensitive="ill").fit(table).transform(table)


def test_further_records_are_released_with_a_warning(tmp_path):
    table = people()
    fitted = transformer(sensitive="ill", key=new_key(tmp_path / "k"), ledger="beside").fit(table[:1000])
    fitted.transform(table[:1000])
    with pytest.warns(UserWarning, match="ids have been released that were not before"):
        fitted.transform(table[1000:])


def test_a_pickle_has_no_key(tmp_path):
    key, table = new_key(tmp_path / "k"), people()
    fitted = transformer(sensitive="ill", key=key, ledger="beside").fit(table)
    content = pickle.dumps(fitted)
    assert key.secret not in content
    np.testing.assert_array_equal(pickle.loads(content).transform(table), fitted.transform(table))
    with pytest.raises(InputError, match="cannot be pickled"):
        pickle.dumps(transformer(sensitive="ill").fit(table))
