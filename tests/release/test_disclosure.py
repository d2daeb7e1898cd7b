"""What leaves does not determine the private counts; the same attack does determine them from what left before.

benchmarks/disclosure.py has the attack. Tables that differ by the names of the secrets count as one.
"""

import numpy as np
import pytest

from alphalift import Joint, to_document, withhold_joint
from alphalift.joint import Variable
from alphalift.release.outputs import Outputs
from alphalift.release.public import codebook as public_codebook
from alphalift.sharing import bits_for_sharing
from disclosure import CODEBOOK, FIRST, WITHHELD, View, around, at_bits, attack, codebook, solved

SMALL = [[[5, 4, 1], [1, 3, 6]], [[3, 1, 1], [1, 3, 1], [0, 1, 3]]]
TABLES = [[[14, 9, 3], [4, 10, 20]], [[9, 4, 3], [4, 9, 4], [2, 5, 20]]]


@pytest.mark.parametrize("table", SMALL)
@pytest.mark.parametrize("view", [FIRST, at_bits(52), at_bits(16)], ids=lambda view: view.name)
def test_the_attack_determines_the_table_from_fine_figures(table, view):
    """Its power: of all tables with so many rows one is left, and it is the truth."""
    found = attack(view, table)
    assert found.tried == found.candidates
    assert [sorted(one) for one in found.consistent.tolist()] == [sorted(table)]


def undetermined(view, table, bits, designs=400):
    """That many tables near the truth agree with the view and with the released rows; every cell has several values."""
    counts = released(table, solved(table, bits))
    found = [one for one in around(view, table, designs=designs) if plausible(one, solved(one, bits), counts)]
    assert len(found) >= 7
    assert min(len(set(cell)) for cell in np.reshape(found, (len(found), -1)).T.tolist()) >= 2


def released(table, solution, seed=0):
    """How often every output occurs among the records of this table, drawn."""
    rng, law = np.random.default_rng(seed), solution.mechanism.p_y_given_x
    return sum(rng.multinomial(n, p) for n, p in zip(np.sum(table, axis=0), law.T, strict=True))


def plausible(table, solution, counts):
    """Whether these released rows may come from this table: no output is five standard errors away."""
    n_x, law = np.sum(table, axis=0), solution.mechanism.p_y_given_x
    return (np.abs(law @ n_x - counts) <= 5 * np.sqrt((law * (1 - law)) @ n_x) + 1e-6).all()


@pytest.mark.parametrize("table", TABLES)
def test_public_files_of_a_release_leave_many_tables(table):
    undetermined(CODEBOOK, table, bits=52)


def test_the_view_is_the_codebook():
    """What the attack compares is all that the codebook has of the mechanism; the rest follows from released rows."""
    table = TABLES[0]
    solution = solved(table)
    outputs = Outputs.of(solution.integers, Variable(("x",), solution.joint.x_labels))
    content = public_codebook(solution.integers, outputs, name="n", counts=[20, 20, 20], designed_from=60)
    labels, law, _ = codebook(solution)
    assert labels == [output["label"] for output in content["outputs"]]
    x_labels = content["values"]
    assert law == [[output["p_y_given_x"].get(x, 0) for x in x_labels] for output in content["outputs"]]
    # Two tables with the same view have the same codebook, whatever their counts are.
    for other in around(CODEBOOK, table, designs=20)[1:3]:
        same = solved(other)
        outputs = Outputs.of(same.integers, Variable(("x",), same.joint.x_labels))
        assert public_codebook(same.integers, outputs, name="n", counts=[20, 20, 20], designed_from=60) == content


@pytest.mark.parametrize("table", TABLES)
def test_a_withheld_file_beside_them_leaves_many_tables(table):
    """The file, the codebook of a release with it, and the released rows."""
    both = View("both", lambda solution: (WITHHELD.of(solution), codebook(solution)), WITHHELD.bounds, bits_for_sharing)
    undetermined(both, table, bits_for_sharing(60, np.size(table)))


def test_a_withheld_file_claims_no_more_than_it_did():
    for table in TABLES:
        document = to_document(solved(table))
        shared = withhold_joint(document, "salt")[0]
        before, after = ({name: float(claim) for name, claim in one["claims"].items()} for one in (document, shared))
        assert before["utility_at_least"] - 0.1 < after["utility_at_least"] <= before["utility_at_least"]
        assert before["optimum_at_most"] <= after["optimum_at_most"] < before["optimum_at_most"] + 0.1
        assert all(len(claim) == len("0.1") for claim in shared["claims"].values())


def test_larger_tables_support_more_digits_of_a_claim():
    joint = Joint((np.array(TABLES[0]) * 1000 + 1).tolist(), counts=True)
    shared = withhold_joint(to_document(solved(joint.weights)), "salt")[0]
    assert all(len(claim) == len("0.12") for claim in shared["claims"].values())
