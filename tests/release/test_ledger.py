"""The ledger: what was released, to whom it belongs, and what becomes of runs that fail or are killed."""

import os
import secrets
import shutil
import sqlite3
import stat
from dataclasses import replace

import pytest

from alphalift import AlphaLift, InputError, Joint, MaxLift, design
from alphalift.joint import Beside, Origin, Variable
from alphalift.release import Ledger, new_key, read_key
from alphalift.release.entry import Entry
from alphalift.release.history import History, told
from alphalift.whole import whole_file

JOINT = Joint(
    [[8, 3, 1, 2], [1, 3, 6, 2], [2, 2, 2, 5]], counts=True, origin=Origin(("ill",), ("job",), (("job", (1, 2)),))
)
ONE, OTHER = (design(JOINT, region).integers for region in (AlphaLift(3, 0.1), MaxLift(0.2)))
ENTRY = Entry("people", JOINT.useful, "id", ONE, JOINT)
SECOND = replace(ENTRY, integers=OTHER)


def admit_all(_):
    pass


@pytest.fixture
def key(tmp_path):
    (tmp_path / "home").mkdir()
    return new_key(tmp_path / "home" / "k")


def written(ledger, key, entry=ENTRY):
    ledger.finish(ledger.begin(entry, key, None, admit_all), key)


def test_an_entry_comes_back_as_it_was_and_a_retry_is_no_second_one(key):
    ledger = Ledger.beside(key)
    beside = Beside((Variable(("age",), ("old", "young")),), ((0, 0, 1, 8), (1, 2, 0, 6)))
    rich = replace(ENTRY, joint=Joint(JOINT.weights, counts=True, origin=JOINT.origin, beside=beside))
    for _ in range(3):
        written(ledger, key, rich)
    [back] = ledger.entries(key, "people")
    assert back == rich
    assert (back.joint.origin, back.joint.beside) == (rich.joint.origin, beside)
    assert back.differences(rich) == []
    assert ledger.entries(key, "others") == []


def test_only_the_key_opens_what_was_sealed(key):
    written(Ledger.beside(key), key)
    content = Ledger.beside(key).path.read_bytes()
    assert b"weights" not in content
    with sqlite3.connect(Ledger.beside(key).path) as base:
        base.execute("UPDATE release SET facts = replace(facts, 'job', 'pay')")
    with pytest.raises(InputError, match="was changed"):
        Ledger.beside(key).entries(key, "people")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"integers": OTHER}, "another mechanism"),
        ({"variable": replace(JOINT.useful, columns=("pay",))}, "another useful column"),
        ({"variable": replace(JOINT.useful, bins=(("job", (1, 3)),))}, "other bins"),
        ({"record_id": "number"}, "another id column"),
        (
            {"joint": Joint(JOINT.weights, counts=True, origin=replace(JOINT.origin, sensitive=("race",)))},
            "another secret",
        ),
        (
            {"variable": replace(JOINT.useful, columns=("pay",)), "record_id": "n"},
            "useful column and another id column",
        ),
    ],
)
def test_anything_else_is_another_release(change, words):
    history = History((ENTRY,))
    history.require_admitted(ENTRY, new_release=False)
    other = replace(ENTRY, **change)
    with pytest.raises(InputError, match=words):
        history.require_admitted(other, new_release=False)
    history.require_admitted(other, new_release=True)
    History((ENTRY, other)).require_admitted(other, new_release=False)


def test_the_same_release_under_another_key_is_another_one():
    with pytest.raises(InputError, match="another key"):
        History((), (ENTRY,)).require_admitted(ENTRY, new_release=False)


def test_what_was_designed_after_all_others_is_admitted(key):
    """Its promise covers them: the same secret and ids, each mechanism as often as it has answered, a counted column."""
    first = (ONE.identity, JOINT.useful)
    after = replace(SECOND, after=(first,))
    History((ENTRY,)).require_admitted(after, new_release=False)
    assert told([ENTRY, after]).promised
    assert "together they keep the promise of the release of job" in str(told([after, ENTRY]))
    written(Ledger.beside(key), key, after)
    assert Ledger.beside(key).entries(key, "people") == [after]
    renamed = replace(ENTRY, variable=replace(JOINT.useful, columns=("pay",)))
    race = replace(ENTRY, joint=Joint(JOINT.weights, counts=True, origin=replace(JOINT.origin, sensitive=("race",))))
    for others in ((ENTRY, ENTRY), (ENTRY, replace(ENTRY, record_id="n")), (renamed,), (SECOND,), (race,)):
        with pytest.raises(InputError, match="released before"):
            History((), others).require_admitted(after, new_release=False)
        assert not told([*others, after]).promised


def test_what_nobody_has_counted_together_may_tell_everything():
    assert told([ENTRY]) is None
    assert told([ENTRY, SECOND]).known.max_lift > 1
    unknown = told([ENTRY, replace(SECOND, variable=Variable(("pay",), JOINT.x_labels))])
    assert unknown.known is None
    assert "may tell the secret entirely" in str(unknown)
    assert not any(sign.isdigit() for sign in str(unknown).removeprefix("2"))


class TestWhoseLedger:
    def test_a_key_copied_or_linked_elsewhere_has_none(self, key, tmp_path):
        shutil.copy(key.path, tmp_path / "copy")
        os.link(key.path, tmp_path / "link")
        for name in ("copy", "link"):
            other = read_key(tmp_path / name)
            with pytest.raises(InputError, match="copied or linked"):
                Ledger.beside(other).entries(other, "people")
        (tmp_path / "symbolic").symlink_to(key.path)
        other = read_key(tmp_path / "symbolic")
        assert Ledger.beside(other).entries(other, "people") == [], "the same file, so the same ledger"

    def test_another_keys_ledger(self, key, tmp_path):
        other = new_key(tmp_path / "other")
        shutil.copy(Ledger.beside(key).path, tmp_path / "other.ledger")
        with pytest.raises(InputError, match="belongs to another key"):
            Ledger.beside(other).entries(other, "people")

    def test_both_moved_together(self, key, tmp_path):
        written(Ledger.beside(key), key)
        assert Ledger.beside(key).moved(key) == []
        (tmp_path / "home").rename(tmp_path / "away")
        moved = read_key(tmp_path / "away" / "k")
        assert Ledger.beside(moved).entries(moved, "people") == [ENTRY]
        assert "not known here" in Ledger.beside(moved).moved(moved)[0]

    def test_loose_permissions_links_and_damage(self, key, tmp_path):
        path = Ledger.beside(key).path
        written(Ledger.beside(key), key)
        for mode in (0o640, 0o604, 0o620):
            path.chmod(mode)
            with pytest.raises(InputError, match="chmod 600"):
                Ledger.beside(key).entries(key, "people")
        path.chmod(0o600)
        content = path.read_bytes()
        for damaged in (b"", b"hello" * 1000, content[:4000], content[:100] + bytes(3996) + content[4096:]):
            path.write_bytes(damaged)
            with pytest.raises(InputError, match=r"damaged|not a ledger|cannot be used"):
                Ledger.beside(key).entries(key, "people")
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(InputError, match="is a link"):
            Ledger.beside(key).entries(key, "people")

    def test_it_is_private_as_long_as_it_lives(self, key):
        ledger = Ledger.beside(key)
        written(ledger, key)
        modes = {stat.S_IMODE(path.stat().st_mode) for path in ledger.path.parent.iterdir()}
        assert modes == {0o600}


class TestRunsThatEndEarly:
    def test_a_withdrawn_entry_was_no_release(self, key, tmp_path):
        ledger = Ledger.beside(key)
        with whole_file(tmp_path / "out.csv") as part:
            number = ledger.begin(ENTRY, key, part, admit_all)
            assert ledger.entries(key, "people") == [ENTRY], "while it runs it counts"
            ledger.withdraw(number, key)
        assert ledger.entries(key, "people") == []

    def test_a_withdrawn_retry_leaves_the_first_one(self, key, tmp_path):
        ledger = Ledger.beside(key)
        written(ledger, key)
        ledger.withdraw(ledger.begin(ENTRY, key, tmp_path / "gone", admit_all), key)
        assert ledger.entries(key, "people") == [ENTRY]

    def test_a_part_that_a_kill_left_never_appeared(self, key, tmp_path):
        ledger, part = Ledger.beside(key), tmp_path / f".{secrets.token_hex(8)}.part-out.csv"
        part.write_text("half")
        ledger.begin(ENTRY, key, part, admit_all)
        assert ledger.entries(key, "people") == []
        assert not part.exists()

    def test_a_part_that_is_gone_may_have_appeared(self, key, tmp_path):
        ledger, part = Ledger.beside(key), tmp_path / f".{secrets.token_hex(8)}.part-out.csv"
        part.write_text("all")
        ledger.begin(ENTRY, key, part, admit_all)
        part.rename(tmp_path / "out.csv")
        assert ledger.entries(key, "people") == [ENTRY]
        assert (tmp_path / "out.csv").exists()

    def test_nothing_but_a_part_is_ever_removed(self, key, tmp_path):
        ledger, precious = Ledger.beside(key), tmp_path / "thesis.txt"
        precious.write_text("years")
        ledger.begin(ENTRY, key, precious, admit_all)
        assert ledger.entries(key, "people") == [ENTRY], "what cannot be decided counts"
        assert precious.exists()

    def test_what_is_refused_is_not_written(self, key):
        def refuse(_):
            raise InputError("no")

        with pytest.raises(InputError, match="no"):
            Ledger.beside(key).begin(ENTRY, key, None, refuse)
        assert Ledger.beside(key).entries(key, "people") == []
