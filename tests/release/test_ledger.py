"""Keys, whole files and the ledger."""

import itertools
import math
import os
import stat

import numpy as np
import pytest

from alphalift import AlphaLift, InputError, Joint, MaxLift, design
from alphalift.release.keys import new_key, read_key
from alphalift.release.ledger import Ledger, composed
from alphalift.whole import whole_file

JOINT = Joint([[8, 3, 1, 2], [1, 3, 6, 2], [2, 2, 2, 5]], counts=True)
ONE, OTHER = (design(JOINT, region).integers for region in (AlphaLift(3, 0.1), MaxLift(0.2)))


def test_a_key_is_new_private_and_never_replaced(tmp_path):
    for name in "ab":
        new_key(tmp_path / name)
    assert len(read_key(tmp_path / "a")) == 32
    assert read_key(tmp_path / "a") != read_key(tmp_path / "b")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    with pytest.raises(InputError, match="never replaced"):
        new_key(tmp_path / "a")
    (tmp_path / "a").chmod(0o644)
    with pytest.raises(InputError, match="read by others"):
        read_key(tmp_path / "a")
    (tmp_path / "b").write_text("alphalift-key-1 zz\n")
    for name in ("b", "c"):
        with pytest.raises(InputError):
            read_key(tmp_path / name)


def test_a_second_mechanism_is_refused_unless_it_is_asked_for(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    assert ledger.admit("people", ONE, JOINT) is None
    assert ledger.admit("people", ONE, JOINT) is None, "a retry is no second release"
    assert ledger.admit("others", OTHER, JOINT) is None
    with pytest.raises(InputError, match="another mechanism has answered"):
        Ledger(tmp_path / "ledger").admit("people", OTHER, JOINT)
    both = ledger.admit("people", OTHER, JOINT, new_release=True)
    assert both.mechanisms == 2
    assert both.exact
    assert "e^" in str(both)
    assert ledger.admit("people", ONE, JOINT) == both, "from now on both count"


def test_composition_is_what_brute_force_finds():
    expected = 0.0
    laws = [np.array(law.weights) / 2.0**law.bits for law in (ONE, OTHER)]
    for y, z in itertools.product(*(range(len(law)) for law in laws)):
        p_sxyz = JOINT.p_sx * laws[0][y] * laws[1][z]
        if p_sxyz.sum() > 0:
            lifts = p_sxyz.sum(axis=1) / p_sxyz.sum() / JOINT.p_s
            expected = max(expected, math.log(lifts.max()))
    found = composed([ONE, OTHER], JOINT)
    assert found.max_lift_leakage == pytest.approx(expected, abs=1e-12)
    assert expected > 0.2, "more than either promise"


def test_what_cannot_be_enumerated_is_bounded_by_publishing_x():
    found = composed([ONE] * 12, JOINT)
    assert not found.exact
    assert found.max_lift_leakage == pytest.approx(float(np.log(JOINT.lift.max())))


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail():
        with whole_file(path) as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert os.listdir(tmp_path) == ["out.csv"]
    assert path.read_text() == "old"
    with whole_file(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["out.csv"]
