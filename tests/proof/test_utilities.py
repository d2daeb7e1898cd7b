"""Files of utilities other than mutual information: proven to both checkers, tight, and by trees alone."""

import json

import numpy as np
import pytest
import second_checker

from alphalift import KL, AlphaLift, FInformation, Joint, MaxLift, design, load, save, to_document
from alphalift.proof import checker
from alphalift.utilities.f_information import CURVES

REGIONS = [MaxLift(0.15), AlphaLift(3, 0.1), KL(0.03)]
named = pytest.mark.parametrize("name", CURVES)


def random_joint(seed, shape):
    return Joint(np.random.default_rng(seed).integers(1, 30, shape).tolist(), counts=True)


@named
@pytest.mark.parametrize("region", [*REGIONS, MaxLift(0), AlphaLift(3, 9)], ids=repr)
def test_its_file_proves_it_to_both_checkers(name, region, tmp_path):
    joint, utility = random_joint(7, (3, 5)), FInformation(name)
    solution = design(joint, region, utility=utility)
    document = json.loads(json.dumps(to_document(solution)))
    assert document["utility"] == {"name": "FInformation", "f": name}
    verdicts = {verdict.claim: verdict.proven for verdict in checker.check(document)}
    assert verdicts == second_checker.verdicts(document)
    assert all(verdicts.values())
    assert len(verdicts) == 5
    worth, most = (float(document["claims"][claim]) for claim in ("utility_at_least", "optimum_at_most"))
    everything = utility.on(joint).of_publishing_all(joint.p_x)
    assert worth == pytest.approx(solution.utility, abs=1e-12)
    assert most <= solution.upper_bound + 1e-6 * everything
    for claim, change in (("utility_at_least", 1e-13), ("optimum_at_most", -2e-4 * everything)):
        text = f"{float(document['claims'][claim]) + change:.15f}"
        false = document | {"claims": document["claims"] | {claim: text}}
        assert [verdict.proven for verdict in checker.check(false)].count(False) == 1
        assert list(second_checker.verdicts(false).values()).count(False) == 1
    save(document, tmp_path / "m.json")
    assert load(tmp_path / "m.json").utility == utility


@pytest.mark.parametrize("name", ["hellinger", "chi_square", "kl"])
def test_rare_symbols_cost_a_file_nothing(name):
    joint = Joint([[10**7, 1, 2, 500], [10**7, 3, 1, 20], [7, 1, 1, 900]], counts=True)
    solution = design(joint, AlphaLift(10, 0.2), utility=FInformation(name))
    everything = solution.utility_function.of_publishing_all(joint.p_x)
    claims = to_document(solution)["claims"]
    assert solution.relative_gap <= 1.1e-4
    assert float(claims["optimum_at_most"]) <= solution.upper_bound + 1e-5 * everything


def test_other_kinds_of_certificates_are_refused():
    joint = random_joint(8, (2, 4))
    document = to_document(design(joint, MaxLift(0.1), utility=FInformation("kl")))
    pairs = to_document(design(joint, MaxLift(0.1)))
    assert pairs["certificate"]["kind"] == "pairs"
    merged = {"kind": "merged", "proof": document["certificate"]}
    for certificate in (pairs["certificate"], merged):
        found = checker.check(document | {"certificate": certificate})
        assert [verdict.claim for verdict in found if not verdict.proven] == ["optimum"]
        assert "must be tree" in found[-1].text
