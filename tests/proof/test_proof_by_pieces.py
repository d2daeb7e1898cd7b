"""Proofs by pieces: both checkers agree; no action and no cell may be missing, and what is stated decides what is proven."""

import json

import mutations
import pytest
import second_checker

from alphalift.proof import checker

FIRST = mutations.FILES - len(mutations.MARGINS) - len(mutations.PIECES)
ACTIONS, SQUARES = FIRST, FIRST + 3


def document(number):
    return json.loads(mutations.base(number))


def unproven(changed):
    first = {verdict.claim for verdict in checker.check(changed) if not verdict.proven}
    assert first == {claim for claim, good in second_checker.verdicts(changed).items() if not good}
    return first


@pytest.mark.parametrize("number", range(FIRST, FIRST + len(mutations.PIECES)))
def test_both_checkers_prove_everything(number):
    assert document(number)["certificate"] is not None
    assert unproven(document(number)) == set()


def test_every_action_needs_its_dual():
    for change in (list.pop, list.clear, lambda duals: duals.append(duals[0])):
        changed = document(ACTIONS)
        change(changed["certificate"]["duals"])
        assert unproven(changed) == {"optimum"}


def test_duals_that_prove_nothing_prove_nothing():
    changed = document(ACTIONS)
    for dual in changed["certificate"]["duals"]:
        dual[:] = [0] * len(dual)
    assert unproven(changed) == {"optimum"}


def test_the_cells_cover_all_means():
    for change in (list.pop, list.clear, lambda tree: tree.append([0])):
        changed = document(SQUARES)
        change(changed["certificate"]["tree"])
        assert unproven(changed) == {"optimum"}
    changed = document(SQUARES)
    changed["certificate"]["tree"] = [[0]]  # one cell for all means, with a dual that was for a smaller one
    assert unproven(changed) == {"optimum"}


def test_a_place_beyond_its_cell_is_refused():
    changed = document(SQUARES)
    one = 2 ** changed["certificate"]["bits"]
    for place in (one + 1, one):
        changed["certificate"]["tree"][0] = [0, place]
        assert unproven(changed) == {"optimum"}


@pytest.mark.parametrize(("number", "row", "column", "text"), [(FIRST + 1, 0, 2, "2.9"), (SQUARES, 2, 0, "3")])
def test_other_gains_or_values_make_the_claims_false(number, row, column, text):
    changed = document(number)
    stated = changed["utility"]
    stated.get("gains", stated.get("values"))[row][column] = text
    assert unproven(changed) & {"utility", "optimum"}


def test_a_certificate_is_about_its_own_kind_of_utility():
    for number, name in ((ACTIONS, "squares"), (SQUARES, "actions"), (SQUARES, "tree")):
        changed = document(number)
        changed["certificate"]["kind"] = name
        assert unproven(changed) == {"optimum"}
