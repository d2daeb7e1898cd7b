"""Keys: private, new, never shown."""

import copy
import os
import stat

import pytest

from alphalift import InputError
from alphalift.release import Key, Ledger, new_key, read_key
from alphalift.release.keys import derived


def test_a_key_is_new_private_and_never_replaced(tmp_path):
    keys = [new_key(tmp_path / name) for name in "ab"]
    assert [read_key(tmp_path / name) for name in "ab"] == keys
    assert keys[0].secret != keys[1].secret
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "a.ledger", "b.ledger"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    with pytest.raises(InputError, match="one key serves all releases"):
        new_key(tmp_path / "a")
    (tmp_path / "a").unlink()
    with pytest.raises(InputError, match="never replaced"):
        new_key(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    with pytest.raises(InputError, match="in a folder that exists"):
        new_key(tmp_path / "no" / "k")


def test_what_is_no_key_is_refused(tmp_path):
    new_key(tmp_path / "a")
    (tmp_path / "a").chmod(0o644)
    with pytest.raises(InputError, match="read by others"):
        read_key(tmp_path / "a")
    (tmp_path / "a").chmod(0o600)
    (tmp_path / "a").write_text("alphalift-key-2 zz\n")
    for name in ("a", "c"):
        with pytest.raises(InputError):
            read_key(tmp_path / name)
    (tmp_path / "a").write_text("alphalift-key-1 " + "0" * 64 + "\n")
    with pytest.raises(InputError, match="drawn anew, which is a second release"):
        read_key(tmp_path / "a")
    for wrong in (b"short", "x" * 32, None):
        with pytest.raises(InputError, match="32 bytes"):
            Key.of_bytes(wrong)


def test_a_key_is_shown_by_its_fingerprint_alone(tmp_path):
    secret = b"S3CR3T" + bytes(26)
    key = Key(secret, tmp_path / "k")
    for shown in (repr(key), str(key), f"{key}", repr([key])):
        assert "S3CR3T" not in shown
        assert secret.hex() not in shown
        assert key.fingerprint in shown
    assert copy.deepcopy(key) == key
    assert len(key.fingerprint) == 16
    assert key.fingerprint != Key.of_bytes(bytes(32)).fingerprint


def test_what_is_derived_is_told_apart():
    """A separator inside a name must not make two lists of names one."""
    parts = [("a", "b"), ("ab",), ("a,b",), (["a", "b"],), ('a","b',), ("a", None), ("a\0b",)]
    assert len({derived(bytes(32), "draw", *names) for names in parts}) == len(parts)


def test_a_key_without_a_file_has_no_ledger_beside_it():
    with pytest.raises(InputError, match="no ledger beside it"):
        Ledger.beside(Key.of_bytes(bytes(32)))


def test_a_key_whose_ledger_cannot_be_made_is_not_left_behind(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError

    monkeypatch.setattr(Ledger, "create", fail)
    with pytest.raises(OSError):  # noqa: PT011
        new_key(tmp_path / "k")
    assert os.listdir(tmp_path) == []
