"""Files that older versions wrote are still proven, read and released.

golden/version1*.json to version4*.json were written by the last commits before files of the next version: a design of
AlphaLift(3, 0.1) in 24 bits for three secrets, one of LIP(0.2) for two with its counts withheld, and one that comes after
another release.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import second_checker

from alphalift import InputError, MaxLift, design, load, read_joint
from alphalift.document import save, to_document
from alphalift.proof import checker
from alphalift.release import Key, Plan, release

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_every_claim_is_proven_as_before(version):
    document = checker.read(GOLDEN / f"version{version}.json")
    assert document["version"] == version
    assert [verdict.proven for verdict in checker.check(document)] == [True] * 5
    hidden, opening = (checker.read(GOLDEN / f"version{version}_{name}.json") for name in ("withheld", "opening"))
    assert [verdict.proven for verdict in checker.check(hidden, opening)] == [True] * 4
    assert [verdict.proven for verdict in checker.check(hidden)] == [True] + [False] * 3


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_file_after_another_release_is_proven_as_before(version):
    document = checker.read(GOLDEN / f"version{version}_after.json")
    assert [verdict.proven for verdict in checker.check(document)] == [True] * 4
    stored = load(GOLDEN / f"version{version}_after.json")
    assert [own.dense for own in (stored.integers, *stored.after.integers)] == [version == 2] * 2
    assert stored.after.integers[0].identity == document["after"]["mechanisms"][0]["identity"]


def test_an_old_mechanism_keeps_its_identity_in_a_file_of_today(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"s": list("aabbbcca"), "x": list("uvuvwwvu")})
    first = design(read_joint(table, sensitive="s", useful="x"), MaxLift(0.2))
    old = replace(first, integers=replace(first.integers, dense=True))
    assert old.integers.identity != first.integers.identity
    for before in (old, first):
        after = design(first.joint, MaxLift(0.4), after=[before])
        save(to_document(after), tmp_path / "m.json")
        assert load(tmp_path / "m.json").after.integers == (before.integers,)


def test_a_file_of_version_2_lists_all_weights():
    old, new = (json.loads((GOLDEN / f"version2{name}.json").read_text()) for name in ("", "_after"))
    for document in (old, new):
        unlisted = [[n for x, weight in enumerate(row) if weight for n in (x, weight)] for row in document["weights"]]
        for change in ({"version": 3}, {"weights": unlisted}):
            other = document | change
            other |= {"identity": second_checker.identity(other)}
            assert [verdict.claim for verdict in checker.check(other) if not verdict.proven] == ["form"]
            assert second_checker.verdicts(other) == {"form": False}


def test_files_state_their_utility_from_version_4_on():
    document = json.loads((GOLDEN / "version3.json").read_text())
    stated = document | {"utility": {"name": "MutualInformation"}}
    for wrong in (stated, document | {"version": 4}, stated | {"version": 4, "utility": {"name": "Information"}}):
        assert [verdict.claim for verdict in checker.check(wrong) if not verdict.proven] == ["form"]
        assert second_checker.verdicts(wrong) == {"form": False}
    newer = stated | {"version": 4}
    assert [(verdict.proven, verdict.text) for verdict in checker.check(newer)] == [
        (True, verdict.text) for verdict in checker.check(document)
    ]
    assert all(second_checker.verdicts(newer).values())


def test_a_file_without_a_utility_claims_its_promise_alone():
    document = json.loads((GOLDEN / "version3.json").read_text()) | {"version": 4, "utility": None}
    assert [verdict.claim for verdict in checker.check(document) if not verdict.proven] == ["form"]
    for wrong in (document | {"claims": {}}, document | {"certificate": None}):
        assert [verdict.claim for verdict in checker.check(wrong) if not verdict.proven] == ["form"]
        assert second_checker.verdicts(wrong) == {"form": False}
    good = document | {"claims": {}, "certificate": None}
    assert {verdict.claim: verdict.proven for verdict in checker.check(good)} == second_checker.verdicts(good)
    assert second_checker.verdicts(good) == {"form": True, "promise": True, "unseen values": True}


def test_files_state_a_margin_from_version_5_on():
    document = json.loads((GOLDEN / "version4.json").read_text())
    for wrong in (document | {"margin": None}, document | {"version": 5}):
        assert [verdict.claim for verdict in checker.check(wrong) if not verdict.proven] == ["form"]
        assert second_checker.verdicts(wrong) == {"form": False}
    newer = document | {"version": 5, "margin": None}
    assert checker.check(newer) == checker.check(document)
    assert all(second_checker.verdicts(newer).values())


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
