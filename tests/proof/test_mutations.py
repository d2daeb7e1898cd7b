"""A changed file is refused wherever a claim has become false; nothing else comes out of the checker."""

import json

import examples
import mutations
import pytest

from alphalift.document import to_json, withhold_joint
from alphalift.proof import checker

BLOCK, BLOCKS = 85, 8


@pytest.mark.parametrize("block", range(BLOCKS))
def test_what_is_accepted_is_proven_by_the_second_checker(block, tmp_path):
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        judgement = mutations.judge(mutations.mutant(seed), tmp_path)
        assert not judgement.complaints, (seed, judgement)


def test_every_kind_of_change_is_tried():
    assert len({mutations.mutant(seed).kind for seed in range(BLOCK)}) == BLOCK


def unproven(document, *opening):
    return {verdict.claim for verdict in checker.check(document, *opening) if not verdict.proven}


def shifted(text, amount):
    """A decimal with `amount` added to its last digit, exactly."""
    whole, _, digits = text.partition(".")
    changed = str(int(whole + digits) + amount).rjust(len(whole + digits), "0")
    return changed[: len(changed) - len(digits)] + "." + changed[len(changed) - len(digits) :]


@pytest.mark.parametrize("name", ["random 3", "random 7", "two secrets", "zero cells"])
def test_claims_are_tight_and_no_digit_more_is_accepted(name):
    document = examples.document(name)
    claims = document["claims"]
    assert unproven(document) == set()
    assert unproven(document | {"claims": claims | {"utility_at_least": shifted(claims["utility_at_least"], 2)}}) == {
        "utility"
    }
    assert unproven(document | {"claims": claims | {"optimum_at_most": shifted(claims["optimum_at_most"], -2)}}) == {
        "optimum"
    }
    assert (
        unproven(document | {"claims": claims | {"utility_at_least": shifted(claims["utility_at_least"], -2)}}) == set()
    )


@pytest.mark.parametrize("name", ["random 3", "random 7", "two secrets", "zero cells"])
def test_a_stronger_promise_is_refused(name):
    document = examples.document(name)
    smaller = float(document["promise"]["epsilon"]) * 0.999
    document["promise"]["epsilon"] = f"{smaller:.12f}"
    assert "promise" in unproven(document)


@pytest.mark.parametrize("name", ["random 3", "random 7"])
@pytest.mark.parametrize("change", ["last leaf", "last dual", "one leaf", "one leaf more"])
def test_a_tree_that_does_not_cover_is_refused(name, change):
    document = examples.document(name)
    certificate = document["certificate"]
    tree = certificate["tree"]
    if change == "last leaf":
        tree.pop()
    elif change == "last dual":
        certificate["duals"].pop()
    elif change == "one leaf":
        tree[:] = [[0]]
    else:
        tree.append([0])
    assert unproven(document) == {"optimum"}


def test_weights_need_their_identity_and_their_sum():
    document = examples.document("random 3")
    document["weights"][0][1] += 1
    assert unproven(document) == {"form"}
    document["weights"][0][1] -= 1
    assert unproven(document) == set()
    document["weights"].reverse()
    assert unproven(document) == {"form"}


@pytest.mark.parametrize("name", ["random 3", "two secrets", "perfect"])
def test_a_withheld_joint_needs_the_right_opening(name):
    document = examples.document(name)
    hidden, opening = withhold_joint(document, "5a17" * 8)
    claims = {"promise", "utility", "optimum"}
    text = to_json(hidden)
    for numbers in (document["joint"]["counts"], document["certificate"]["prices"]):
        assert json.dumps(numbers, separators=(",", ":")) not in text
    assert hidden["unseen"] is None  # it is P_Y, from which P_X could be solved for
    assert unproven(hidden) == claims
    assert unproven(hidden, opening) == set()
    other = [[*opening["counts"][0][:-1], opening["counts"][0][-1] + 1], *opening["counts"][1:]]
    wrong = [
        opening | {"salt": opening["salt"] + "0"},
        opening | {"counts": other},
        opening | {"extra": 0},
        {"salt": opening["salt"], "counts": opening["counts"]},
        opening | {"after": {"mechanisms": [], "cells": []}},
        [],
        7,
    ]
    for changed in wrong:
        assert unproven(hidden, changed) == {"form"}
    assert unproven(document, opening) == {"form"}
    assert unproven(hidden | {"certificate": document["certificate"]}, opening) == {"form"}
    # The certificate is not committed to, since it proves itself: without it the bound is just not proven.
    assert unproven(hidden, opening | {"certificate": None}) == {"optimum"}


@pytest.mark.parametrize(
    "content",
    [
        b"9" * 3_000_000,
        b'{"bits": ' + b"9" * 3_000_000 + b"}",
        b"[" * 3_000_000,
        b'{"a":' * 600_000,
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": [], "b": []}}',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1.0}',
        b'{"a": 1e9}',
        b"\xff{}",
        b"\xef\xbb\xbf{}",
        b"{}{}",
        b"",
    ],
    ids=lambda content: repr(content[:16]),
)
def test_read_refuses(content, tmp_path):
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(checker.RefusedError):
        checker.read(path)


@pytest.mark.parametrize("value", [None, 0, True, "", [], [[]], {}, {"format": 1}, 1.5, float("nan"), b"", object()])
def test_check_survives_any_value_in_any_place(value):
    assert unproven(value) == {"form"}
    good = examples.document("16 bits")
    for key in set(good) - {"provenance"}:
        if key in ("table", "after", "margin") and value is None:
            continue  # which they are
        assert unproven(good | {key: value})
    for key in good["certificate"]:
        assert unproven(good | {"certificate": good["certificate"] | {key: value}}) == {"optimum"}
    for key in good["promise"]:
        assert unproven(good | {"promise": good["promise"] | {key: value}}) == {"form"}
