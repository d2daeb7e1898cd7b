"""A plan is valid or refused, before anything is read."""

import dataclasses
import pickle

import pytest
from people import JOINT, KEY, SOLUTION, plan

from alphalift import InputError, Joint, MaxLift, TableError, design
from alphalift.joint import Origin
from alphalift.release import Key, Ledger, Plan


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": "chek"}, "ids is 'chek', expected 'check' or 'unique'"),
        ({"show_ids": "pseudo"}, "show_ids is 'pseudo', expected 'pseudonym' or 'real' or 'none'"),
        ({"unseen": True}, "unseen is True"),
        ({"new_release": "yes"}, "new_release is 'yes', expected False or True"),
        ({"one_shot": 1}, "one_shot is 1"),
        ({"redefine": None}, "redefine is None"),
        ({"ledger": "beisde"}, "ledger is 'beisde'"),
        ({"ledger": None}, "ledger is None"),
        ({"key": bytes(32)}, "a key is a Key"),
        ({"also": [bytes(32)]}, "a key is a Key"),
        ({"record_id": 7}, "record_id is of type int"),
        ({"namespace": "\ud800"}, "no valid Unicode"),
        ({"namespace": ""}, "0 characters"),
        ({"namespace": "x" * 1001}, "1001 characters"),
        ({"keep": ["a", "a"]}, "keep needs different names"),
        ({"keep": [3]}, "keep needs different names"),
        ({"record_id": None}, "needs the column that identifies a record"),
        ({"key": None}, "needs the column that identifies a record"),
        ({"record_id": None, "key": None, "one_shot": True, "new_release": True}, "has no key"),
        ({"ledger": "beside"}, "this key has no file"),
        ({"record_id": "job"}, "'job' is released by the mechanism: it cannot also be the id"),
        ({"record_id": "ill"}, "'ill' is the secret: it cannot also be the id"),
        ({"keep": ["ill"]}, "'ill' is the secret: keeping it publishes it"),
        ({"keep": ["job"]}, "'job' is released by the mechanism: keeping it publishes it"),
        ({"keep": ["id"]}, "'id' is the id"),
        ({"keep": ["age"], "publish": ["ill"]}, "'ill', which is not kept"),
        ({"keep": ["released job"]}, "rename it"),
        ({"record_id": "released job"}, "rename it"),
        ({"useful": "pay"}, "was designed for job, not for pay"),
        ({"useful": ["job", "pay"]}, "was designed for job, not for job, pay"),
        ({"bins": {"job": [1]}}, "other bins of job, and knows them"),
        ({"bins": {"pay": [1]}}, "'pay', which is not released"),
        ({"mechanism": JOINT}, "only a proven mechanism"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        plan(**options)


def test_options_are_named_and_a_plan_stays_as_it_is():
    with pytest.raises(TypeError):
        Plan(SOLUTION)
    with pytest.raises(TypeError):
        plan(idz="check")
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan().ids = "unique"


def test_the_columns_come_with_the_mechanism():
    assert plan().variable == JOINT.useful
    assert plan(useful="job").variable == JOINT.useful
    renamed = plan(useful="work", redefine=True)
    assert renamed.variable.columns == ("work",)
    assert renamed.entry.differences(plan().entry) == ["another useful column"]


def test_a_joint_that_came_from_no_table_needs_them():
    bare = design(Joint(JOINT.weights, JOINT.s_labels, JOINT.x_labels, counts=True), MaxLift(0.1))
    with pytest.raises(InputError, match="name them with useful="):
        plan(mechanism=bare)
    own = plan(mechanism=bare, useful="job", bins={"job": [1, 2]})
    assert own.variable.bins == (("job", (1.0, 2.0)),)
    assert own.entry.joint.useful == own.variable
    with pytest.raises(TableError, match="finite numbers that rise"):
        plan(mechanism=bare, useful="job", bins={"job": [2, 1]})


def test_bins_of_the_design_travel():
    origin = Origin(("ill",), ("age",), (("ill", (3.0,)), ("age", (18.0, 65.0))))
    joint = Joint([[3, 1, 1], [1, 1, 2]], ["<3", ">=3"], ["<18", "18 to <65", ">=65"], counts=True, origin=origin)
    solution = design(joint, MaxLift(0.2))
    assert plan(mechanism=solution).variable.bins == (("age", (18.0, 65.0)),)
    assert plan(mechanism=solution, bins={"age": [18, 65]}).variable.bins == (("age", (18.0, 65.0)),)
    with pytest.raises(InputError, match="other bins of age"):
        plan(mechanism=solution, bins={"age": [18]})
    with pytest.raises(InputError, match="other bins of age"):
        plan(mechanism=solution, bins={})


def test_what_workers_get_has_no_joint_and_shows_no_key():
    work = plan(key=Key.of_bytes(b"S3CR3T" + bytes(26))).work()
    assert "S3CR3T" not in repr(work)
    assert "S3CR3T" not in repr(plan(key=Key.of_bytes(b"S3CR3T" + bytes(26))))
    assert b"Joint" not in pickle.dumps(work)


def test_a_ledger_of_its_own_place(tmp_path):
    ledger = Ledger.create(tmp_path / "l", KEY)
    assert plan(ledger=ledger).ledger is ledger
