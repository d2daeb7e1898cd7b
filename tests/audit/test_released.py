"""A released table is drawn again: whatever was changed is found, and nothing is remembered of the audit."""

import numpy as np
import pandas as pd
import pytest

from alphalift import AlphaLift, InputError, MaxLift, audit_release, design, read_joint
from alphalift.audit.released import ReleaseAudit
from alphalift.audit.words import of_release
from alphalift.release import Key, Ledger, Plan, new_key, read_key, release

COLUMN, ROWS = "released job", 3000
RNG = np.random.default_rng(0)
JOB = RNG.choice(["cook", "clerk, senior", 'smith "x"', "driver"], ROWS, p=[0.4, 0.3, 0.2, 0.1])
ILL = np.where(RNG.random(ROWS) < np.where(JOB == "cook", 0.6, 0.2), "yes", "no")
TABLE = pd.DataFrame({"id": RNG.permutation(ROWS) + 10**9, "job": JOB, "ill": ILL})
JOINT = read_joint(TABLE, sensitive="ill", useful="job")
SOLUTION = design(JOINT, AlphaLift(3, 0.05))


def plan(**options):
    """As a test wants it; without a ledger, since this key has no file, and with real ids."""
    usual = {"mechanism": SOLUTION, "key": Key.of_bytes(bytes(range(32))), "record_id": "id", "ledger": "none"}
    return Plan(**(usual | {"show_ids": "real"} | options))


def released(**options):
    return release(plan(**options), TABLE).table.astype({COLUMN: str})


def audited(table, **options):
    return audit_release(plan(**options), table, TABLE)


@pytest.mark.parametrize("ids", ["real", "pseudonym", "none"])
def test_a_release_as_it_was_made_is_one(ids):
    assert audited(released(show_ids=ids), show_ids=ids) == ReleaseAudit(ROWS)


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet"])
def test_in_every_format(ending, tmp_path):
    out = tmp_path / f"y.{ending}"
    release(plan(), TABLE, out=out)
    assert audit_release(plan(), out, TABLE).kept
    source = tmp_path / "t.csv"
    TABLE.to_csv(source, index=False)
    assert audit_release(plan(), out, source).kept


@pytest.mark.parametrize("ids", ["real", "pseudonym", "none"])
def test_one_changed_row_is_found(ids):
    table = released(show_ids=ids)
    other = next(label for label in table[COLUMN].unique() if label != table[COLUMN][1234])
    table.loc[1234, COLUMN] = other
    assert audited(table, show_ids=ids) == ReleaseAudit(ROWS, changed=1, first_changed=(1235,))


@pytest.mark.parametrize("ids", ["real", "pseudonym", "none"])
def test_a_permuted_column_is_found(ids):
    table = released(show_ids=ids)
    before = table[COLUMN].copy()
    table[COLUMN] = before.sample(frac=1, random_state=0).to_numpy()
    wrong = np.flatnonzero(before != table[COLUMN])
    found = audited(table, show_ids=ids)
    assert (found.changed, found.missing, found.extra) == (len(wrong), 0, 0)
    assert found.first_changed == tuple((wrong[:5] + 1).tolist())


def test_a_permuted_kept_column_is_found():
    numbered = TABLE.assign(score=np.random.default_rng(0).normal(size=ROWS))
    table = release(plan(keep=["score"]), numbered).table
    assert audit_release(plan(keep=["score"]), table, numbered).kept
    table["score"] = table["score"].to_numpy()[::-1]
    assert audit_release(plan(keep=["score"]), table, numbered).changed == ROWS


def test_a_kept_column_of_numbers_is_the_same_in_a_file(tmp_path):
    scores = np.append(np.random.default_rng(0).normal(size=ROWS - 3), [1e30, np.nan, -0.0])
    numbered = TABLE.assign(score=scores)
    release(plan(keep=["score"]), numbered, out=tmp_path / "y.csv")
    assert audit_release(plan(keep=["score"]), tmp_path / "y.csv", numbered).kept


def test_ids_that_were_permuted_are_found():
    table = released()
    table["id"] = table["id"].to_numpy()[::-1]
    expected = dict(zip(released()["id"], released()[COLUMN], strict=True))
    assert audited(table).changed == sum(expected[i] != y for i, y in zip(table["id"], table[COLUMN], strict=True))


@pytest.mark.parametrize("ids", ["real", "pseudonym"])
def test_missing_extra_and_duplicated_rows_are_counted(ids):
    table = released(show_ids=ids)
    assert audited(table.drop(index=[5, 9]), show_ids=ids) == ReleaseAudit(ROWS - 2, missing=2)
    twice = pd.concat([table[:10], table[9:10], table[10:]])
    assert audited(twice, show_ids=ids) == ReleaseAudit(ROWS + 1, extra=1, first_extra=(11,))
    foreign = table[:1].assign(id="nobody" if ids == "pseudonym" else 1)
    assert audited(pd.concat([table, foreign]), show_ids=ids) == ReleaseAudit(
        ROWS + 1, extra=1, first_extra=(ROWS + 1,)
    )
    assert audited(table[:0], show_ids=ids) == ReleaseAudit(0, missing=ROWS)


def test_without_ids_rows_are_compared_in_their_order():
    table = released(show_ids="none")
    assert audited(table[:-7], show_ids="none") == ReleaseAudit(ROWS - 7, missing=7)
    longer = pd.concat([table, table[:2]])
    assert audited(longer, show_ids="none") == ReleaseAudit(ROWS + 2, extra=2, first_extra=(ROWS + 1, ROWS + 2))


def test_another_order_is_no_difference_where_ids_are_shown():
    found = audited(released().sample(frac=1, random_state=0))
    assert found == ReleaseAudit(ROWS, reordered=True)
    assert "their order is not that of the input" in of_release(found)


def test_an_id_that_occurs_again_has_its_row_again():
    repeated = pd.concat([TABLE, TABLE[:3]])
    assert audit_release(plan(), release(plan(), repeated).table, repeated).kept
    assert audit_release(plan(), release(plan(), repeated).table, TABLE).extra == 3


@pytest.mark.parametrize(
    "other", [{"key": Key.of_bytes(bytes(32))}, {"namespace": "others"}, {"mechanism": design(JOINT, MaxLift(0.01))}]
)
def test_another_key_namespace_or_mechanism_is_found(other):
    table = released()
    found = audited(table, **other)
    assert not found.kept
    assert found.changed > ROWS / 20 or "released job" not in table
    pseudonyms = audited(released(show_ids="pseudonym"), show_ids="pseudonym", key=Key.of_bytes(bytes(32)))
    assert (pseudonyms.extra, pseudonyms.missing) == (ROWS, ROWS)
    assert "another key, namespace or id column" in of_release(pseudonyms)


def test_a_column_that_the_release_would_not_have_is_told():
    found = audited(released().assign(ill=TABLE["ill"]))
    assert (found.kept, found.columns) == (False, ("ill",))


def test_several_columns_are_compared_by_texts_and_code(tmp_path):
    table = TABLE.assign(town=np.where(np.arange(ROWS) % 3, "A", "B"))
    joint = read_joint(table, sensitive="ill", useful=["job", "town"])
    own = plan(mechanism=design(joint, MaxLift(0.1)))
    release(own, table, out=tmp_path / "y.csv")
    assert audit_release(own, tmp_path / "y.csv", table).kept
    changed = pd.read_csv(tmp_path / "y.csv", dtype=str)
    code = changed.columns[-1]
    changed.loc[7, code] = next(own for own in changed[code] if own != changed.loc[7, code])
    assert audit_release(own, changed, table) == ReleaseAudit(ROWS, changed=1, first_changed=(8,))


def test_the_ledger_does_not_know_of_an_audit(tmp_path):
    new_key(tmp_path / "k")
    key = read_key(tmp_path / "k")
    table = release(plan(key=key, ledger="beside"), TABLE).table
    before = (tmp_path / "k.ledger").read_bytes()
    assert audit_release(plan(key=key), table, TABLE).kept
    assert not audit_release(plan(key=key, namespace="others"), table, TABLE).kept
    assert (tmp_path / "k.ledger").read_bytes() == before
    assert len(Ledger.beside(key).entries(key, "default")) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"k", "k.ledger"}


def test_what_cannot_be_drawn_again_is_refused():
    with pytest.raises(InputError, match="has no key"):
        audit_release(plan(one_shot=True, key=None, record_id=None), TABLE, TABLE)
    with pytest.raises(InputError, match="no column 'released job'"):
        audited(TABLE)


def test_words_tell_rows_and_no_cells():
    table = released()
    table.loc[[3, 8], COLUMN] = "zzz"
    told = of_release(audited(pd.concat([table, table[:1].assign(id=77)])))
    assert told.splitlines() == [
        f"Not as released: of {ROWS + 1} rows",
        "  2 do not have the output of their record, first in rows 4, 9 of the data",
        f"  1 belong to no record, or to one that has its row already, first in row {ROWS + 1} of the data",
    ]
    assert of_release(ReleaseAudit(10)) == "As released: all 10 rows are what mechanism and key make of the input."
