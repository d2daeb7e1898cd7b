"""Files that the first version wrote are still proven, read and released.

golden/version1*.json were written by the last commit before files of version 2: a design of AlphaLift(3, 0.1) in 24 bits
for three secrets, and one of LIP(0.2) for two with its counts withheld.
"""

import json
from pathlib import Path

import pytest

from alphalift import InputError, load
from alphalift.proof import checker
from alphalift.release import Key, Plan, release

GOLDEN = Path(__file__).parent / "golden"


def test_every_claim_is_proven_as_before():
    document = checker.read(GOLDEN / "version1.json")
    assert document["version"] == 1
    assert [verdict.proven for verdict in checker.check(document)] == [True] * 5
    hidden, opening = (checker.read(GOLDEN / f"version1_{name}.json") for name in ("withheld", "opening"))
    assert [verdict.proven for verdict in checker.check(hidden, opening)] == [True] * 4
    assert [verdict.proven for verdict in checker.check(hidden)] == [True] + [False] * 3


@pytest.mark.parametrize("key", ["table", "after"])
def test_a_file_of_version_1_has_no_key_of_version_2(key):
    document = json.loads((GOLDEN / "version1.json").read_text()) | {key: None}
    assert [verdict.claim for verdict in checker.check(document) if not verdict.proven] == ["form"]


def test_it_is_released_if_the_column_is_named():
    pandas = pytest.importorskip("pandas")
    stored = load(GOLDEN / "version1.json")
    assert stored.joint.origin is None
    key, table = Key.of_bytes(bytes(32)), pandas.DataFrame({"id": range(40), "v": list("wxyz") * 10})
    with pytest.raises(InputError, match="name them with useful="):
        Plan(mechanism=stored, key=key, record_id="id", ledger="none")
    done = release(Plan(mechanism=stored, key=key, record_id="id", ledger="none", useful="v"), table)
    assert done.rows == 40
